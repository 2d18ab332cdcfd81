"""Where a repository keeps its data, with the evidence, and what it does there.

Evidence is weighed by how directly it says so: a base class that is a store before an injected client, that before
a client used in a body, that before an import. Without any the kind is Unknown: nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from rag_assets.contracts.segment import Member, MemberKind, Segment
from rag_assets.identifiers import key_of_word
from rag_assets.languages.csharp.binder.type_syntax import simple_name
from rag_assets.languages.csharp.facts.masked_body import MaskedBody
from rag_assets.languages.csharp.facts.method_verbs import METHODS
from rag_assets.languages.csharp.facts.type_index import TypeIndex


class StorageKind(StrEnum):
    """The kinds of storage of the domain reference (§2), in the order that decides where evidence is equal."""

    DOCUMENT_DB = "DocumentDb"
    TABLE_STORAGE = "TableStorage"
    BLOB = "Blob"
    SQL = "Sql"
    EXTERNAL_API = "ExternalApi"
    IN_MEMORY = "InMemory"
    UNKNOWN = "Unknown"


BASES = key_of_word(
    {
        StorageKind.DOCUMENT_DB: "DocumentDBRepoBase DocumentDbRepoBase MongoRepository MongoDbRepository "
        "CosmosRepository CosmosDbRepository",
        StorageKind.TABLE_STORAGE: "TableStorageBase TableStorageRepository",
        StorageKind.BLOB: "CloudFileStorage BlobRepository",
        StorageKind.SQL: "EfRepository EFRepository DapperRepository",
    }
)
"""Base classes that are stores."""

TYPES = key_of_word(
    {
        StorageKind.DOCUMENT_DB: "CosmosClient IDocumentClient DocumentClient IMongoCollection IMongoDatabase "
        "IMongoClient MongoClient MongoCollection IDocumentStore IDocumentSession IAsyncDocumentSession IQuerySession "
        "LiteDatabase ILiteDatabase ILiteCollection IElasticClient ElasticClient ElasticsearchClient FirestoreDb "
        "IAmazonDynamoDB AmazonDynamoDBClient IDynamoDBContext",
        StorageKind.TABLE_STORAGE: "TableClient TableServiceClient CloudTable CloudTableClient TableEntity "
        "ITableEntity",
        StorageKind.BLOB: "BlobContainerClient BlobServiceClient BlobClient BlockBlobClient CloudBlobContainer "
        "CloudBlobClient CloudBlockBlob IAmazonS3 AmazonS3Client MinioClient IMinioClient ICloudFileStorage "
        "GridFSBucket IGridFSBucket ShareClient DataLakeServiceClient",
        StorageKind.SQL: "DbContext IDbContextFactory DbSet SqlConnection SqlCommand IDbConnection DbConnection "
        "IDbConnectionFactory NpgsqlConnection NpgsqlDataSource NpgsqlCommand MySqlConnection SqliteConnection "
        "SQLiteConnection SQLiteAsyncConnection OracleConnection IDbTransaction DataContext ISessionFactory "
        "ISqlConnectionFactory SqlDataReader",
        StorageKind.EXTERNAL_API: "HttpClient IHttpClientFactory RestClient IRestClient GraphServiceClient GrpcChannel "
        "IFlurlClient GraphQLHttpClient",
    }
)
"""Types that are clients of stores, whoever names them."""

AMBIGUOUS_TYPES = {
    "Container": ("Microsoft.Azure.Cosmos", StorageKind.DOCUMENT_DB),
    "Database": ("Microsoft.Azure.Cosmos", StorageKind.DOCUMENT_DB),
    "ISession": ("NHibernate", StorageKind.SQL),
    "Session": ("NHibernate", StorageKind.SQL),
    "StorageClient": ("Google.Cloud.Storage", StorageKind.BLOB),
}
"""Names with other meanings too: (the import that tells, kind)."""

IMPORTS = (
    ("Microsoft.Azure.Cosmos.Table", StorageKind.TABLE_STORAGE),
    ("Azure.Data.Tables", StorageKind.TABLE_STORAGE),
    ("Microsoft.WindowsAzure.Storage.Table", StorageKind.TABLE_STORAGE),
    ("Microsoft.Azure.Cosmos", StorageKind.DOCUMENT_DB),
    ("Microsoft.Azure.Documents", StorageKind.DOCUMENT_DB),
    ("MongoDB", StorageKind.DOCUMENT_DB),
    ("Raven.Client", StorageKind.DOCUMENT_DB),
    ("Marten", StorageKind.DOCUMENT_DB),
    ("LiteDB", StorageKind.DOCUMENT_DB),
    ("Azure.Storage.Blobs", StorageKind.BLOB),
    ("Microsoft.WindowsAzure.Storage.Blob", StorageKind.BLOB),
    ("Amazon.S3", StorageKind.BLOB),
    ("Microsoft.EntityFrameworkCore", StorageKind.SQL),
    ("System.Data.Entity", StorageKind.SQL),
    ("Ardalis.Specification.EntityFrameworkCore", StorageKind.SQL),
    ("Dapper", StorageKind.SQL),
    ("NHibernate", StorageKind.SQL),
    ("Npgsql", StorageKind.SQL),
    ("Microsoft.Data.SqlClient", StorageKind.SQL),
    ("System.Data.SqlClient", StorageKind.SQL),
    ("Microsoft.Data.Sqlite", StorageKind.SQL),
    ("System.Net.Http", StorageKind.EXTERNAL_API),
    ("RestSharp", StorageKind.EXTERNAL_API),
)
"""Namespaces of store clients; the first that fits decides, so narrower ones stand before wider ones."""

MEMORY_NAMES = ("InMemory", "Memory", "Fake", "Static")
_COLLECTIONS_NAMES = (
    "Dictionary ConcurrentDictionary List ConcurrentBag ConcurrentQueue HashSet SortedDictionary IDictionary "
    "IList IMemoryCache MemoryCache Queue"
)
COLLECTIONS = frozenset(_COLLECTIONS_NAMES.split())


@dataclass(frozen=True, slots=True)
class Storage:
    """A kind of storage and what it was concluded from, strongest first."""

    kind: StorageKind
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StorageOperation:
    """A call to the store: the method it stands in, the name that is called, and the line of that method."""

    member: str
    call: str
    writes: bool
    line: int
    path: str = ""  # of another part of a partial type; '' for the file of the description


@dataclass(frozen=True, slots=True)
class _Evidence:
    kind: StorageKind
    weight: int
    text: str
    holder: str = ""  # the field, property or parameter that holds the store


BASE_WEIGHT = 5  # `class OrderRepo : DocumentDBRepoBase<Order>`: the store is the base class
NAME_WEIGHT = 4  # `InMemoryOrderRepository`
HELD_WEIGHT = 3  # a field, property or constructor parameter
USED_WEIGHT = 2  # created or named in a body
IMPORT_WEIGHT = 1  # a file may import what another of its types needs
STATE_WEIGHT = 1  # a dictionary in a field: a cache as often as a store

MAX_CHAIN = 8
"""How many base classes are followed; a longer chain is a circle."""

MAX_EVIDENCE = 6
"""Listed per description: enough to explain a kind."""


def storage_of(body: MaskedBody, declared_types: TypeIndex, others: Sequence[MaskedBody] = ()) -> Storage:
    """The storage kind of a repository class and its evidence, also from the bodies of its other parts."""
    found = list(dict.fromkeys(_evidence(body, declared_types, others)))
    if not found:
        return Storage(StorageKind.UNKNOWN)
    totals: dict[StorageKind, int] = {}
    for evidence in found:
        totals[evidence.kind] = totals.get(evidence.kind, 0) + evidence.weight
    order = list(StorageKind)
    kind = max(totals, key=lambda kind: (totals[kind], -order.index(kind)))
    own = sorted((e for e in found if e.kind is kind), key=lambda e: -e.weight)
    return Storage(kind, tuple(dict.fromkeys(e.text for e in own))[:MAX_EVIDENCE])


def storage_operations(
    body: MaskedBody, kind: StorageKind, declared_types: TypeIndex, others: Sequence[tuple[str, MaskedBody]] = ()
) -> tuple[StorageOperation, ...]:
    """The calls to the store, by method: those on what holds it, and those whose names belong to such a store.
    `others` are the other parts of the type, with their paths."""
    if kind is StorageKind.UNKNOWN:
        return ()
    held = _held(body.whole, declared_types)
    holders = sorted({e.holder for e in held if e.kind is kind} | _INHERITED.get(kind, frozenset()))
    on_holder = re.compile(rf"(?<![\w.])(?:this\.)?(?:{'|'.join(map(re.escape, holders))}){_CALL_AFTER}")
    known = _KNOWN_CALLS.get(kind)
    found: dict[tuple[str, str], StorageOperation] = {}
    for path, part in (("", body), *others):
        for member in part.segment.members:
            if member.kind not in METHODS:
                continue
            for call in _calls_in(part, member, on_holder, known):
                made = StorageOperation(member.name, call, bool(_WRITES.match(call)), member.span.line_start, path)
                found.setdefault((member.name, call), made)
    return tuple(found.values())


def _calls_in(body: MaskedBody, member: Member, on_holder: re.Pattern[str], known: re.Pattern[str] | None) -> list[str]:
    """The names that a method calls on its store, in text order."""
    start, stop = body.part(member.span)
    patterns = [on_holder] if known is None else [on_holder, known]
    calls = [(m.start(1), m.group(1)) for pattern in patterns for m in pattern.finditer(body.code, start, stop)]
    return [call for _, call in sorted(calls) if call not in _NOT_OPERATIONS]


def _evidence(body: MaskedBody, declared_types: TypeIndex, others: Sequence[MaskedBody]) -> Iterator[_Evidence]:
    segment = body.whole
    yield from _base_evidence(segment, declared_types)
    prefix = next((p for p in MEMORY_NAMES if segment.name.startswith(p)), "")
    if prefix:
        yield _Evidence(StorageKind.IN_MEMORY, NAME_WEIGHT, f"named {segment.name}")
    yield from _held(segment, declared_types)
    for word in dict.fromkeys(word for part in (body, *others) for word in _CREATED.findall(part.code)):
        kind = _type_kind(word, segment, declared_types)
        if kind is not None:
            yield _Evidence(kind, USED_WEIGHT, f"uses {word}")
    for using in segment.usings:
        name = using.removeprefix("global::").removeprefix("static ").strip()
        kind = next((kind for start, kind in IMPORTS if name == start or name.startswith(f"{start}.")), None)
        if kind is not None:
            yield _Evidence(kind, IMPORT_WEIGHT, f"imports {name}")


def _base_evidence(segment: Segment, declared_types: TypeIndex) -> Iterator[_Evidence]:
    """What the base classes are, through those that the label declares."""
    bases, namespace, usings = segment.base_list, segment.namespace, segment.usings
    way = ""
    for _ in range(MAX_CHAIN):
        following = None
        for base in bases:
            name = simple_name(base)
            kind = BASES.get(name)
            if kind is not None:
                yield _Evidence(kind, BASE_WEIGHT, f"derives from {way}{name}")
                return
            if following is None:
                declared = declared_types.resolve(name, namespace, usings, segment.language)
                if declared is not None and declared.declaration != "interface":
                    following = (name, declared)
        if following is None:
            return
        way += f"{following[0]} → "
        bases, namespace, usings = following[1].base_list, following[1].namespace, ()


def _held(segment: Segment, declared_types: TypeIndex) -> list[_Evidence]:
    """Stores in fields, properties and constructor parameters."""
    found = []
    for name, type_text, is_state in _state(segment):
        words = _WORDS.findall(type_text)
        kinds = [_type_kind(word, segment, declared_types) for word in words]
        kind = next((found_kind for found_kind in kinds if found_kind is not None), None)
        if kind is not None:
            found.append(_Evidence(kind, HELD_WEIGHT, f"holds {' '.join(type_text.split())}", name))
        elif is_state and words and words[0] in COLLECTIONS:
            text = f"keeps {' '.join(type_text.split())}"
            found.append(_Evidence(StorageKind.IN_MEMORY, STATE_WEIGHT, text, name))
    return found


def _state(segment: Segment) -> Iterator[tuple[str, str, bool]]:
    """(name, type, whether the object keeps it) of fields, properties and constructor parameters."""
    for parameter in segment.parameters:
        yield parameter.name, parameter.type, False
    for member in segment.members:
        if member.kind in (MemberKind.FIELD, MemberKind.PROPERTY):
            yield member.name, member.type, member.kind is MemberKind.FIELD and "const" not in member.modifiers
        elif member.kind is MemberKind.CONSTRUCTOR:
            for parameter in member.parameters:
                yield parameter.name, parameter.type, False


def _type_kind(word: str, segment: Segment, declared_types: TypeIndex) -> StorageKind | None:
    kind = TYPES.get(word)
    if kind is not None:
        return kind
    needed = AMBIGUOUS_TYPES.get(word)
    if needed is not None:
        imported = any(using.startswith(needed[0]) for using in segment.usings)
        return needed[1] if imported else None
    if word.endswith("DbContext"):
        return StorageKind.SQL
    return StorageKind.SQL if _is_declared_context(word, segment, declared_types) else None


def _is_declared_context(word: str, segment: Segment, declared_types: TypeIndex) -> bool:
    """Whether the label declares a class of that name that some part of it derives from a context."""
    declared = declared_types.resolve(word, segment.namespace, segment.usings, segment.language)
    if declared is None or declared.declaration == "interface":
        return False
    parts = declared_types.parts(declared.symbol, segment.language)
    return any(simple_name(base).endswith("DbContext") for part in parts for base in part.base_list)


_INHERITED = {
    StorageKind.SQL: frozenset(
        {"Context", "DbContext", "Session", "_context", "_db", "_dbContext", "context", "db", "dbContext"}
    ),
    StorageKind.DOCUMENT_DB: frozenset({"Container", "Collection", "_collection", "_container"}),
    StorageKind.TABLE_STORAGE: frozenset({"Table", "_table"}),
    StorageKind.BLOB: frozenset({"_container"}),
    StorageKind.EXTERNAL_API: frozenset({"_http", "_httpClient", "_client"}),
    StorageKind.IN_MEMORY: frozenset({"_items", "_cache"}),
}
"""Names that base repositories commonly give their store, and methods a context they open."""

_GENERICS = r"(?:<[^<>;(){}]{0,120}(?:<[^<>;(){}]{0,120}>[^<>;(){}]{0,40})?>)?"
_CALL_AFTER = rf"(?:\s*[?!]?\.\s*[A-Z]\w*{_GENERICS}(?=\s*[?!]?\.))?\s*[?!]?\.\s*(\w+)\s*{_GENERICS}\s*\("
"""`.Set.Call(` behind what holds the store; the set between is optional."""


def _calls(names: str, only_async: str = "") -> re.Pattern[str]:
    """Calls of `names`, with or without `Async`; those of `only_async` without it are also those of any list."""
    alternatives = [f"{name}(?:Async)?" for name in names.split()] + [f"{name}Async" for name in only_async.split()]
    return re.compile(rf"(?:\.\s*|\bawait\s+|(?<=[\s(]))({'|'.join(alternatives)})\s*{_GENERICS}\s*\(")


_KNOWN_CALLS = {
    StorageKind.SQL: _calls(
        "FromSql FromSqlRaw FromSqlInterpolated ExecuteSql ExecuteSqlRaw ExecuteSqlInterpolated ExecuteReader "
        "ExecuteNonQuery ExecuteScalar ExecuteDelete ExecuteUpdate SaveChanges Query QueryFirst QueryFirstOrDefault "
        "QuerySingle QuerySingleOrDefault QueryMultiple BulkInsert AsAsyncEnumerable BeginTransaction",
        "ToList ToArray ToDictionary First FirstOrDefault Single SingleOrDefault Count Any Load",
    ),
    StorageKind.DOCUMENT_DB: _calls(
        "CreateDocument GetDocument UpsertDocument DeleteDocument ReplaceDocument ReadItem CreateItem UpsertItem "
        "ReplaceItem DeleteItem PatchItem GetItemQueryIterator GetItemLinqQueryable InsertOne InsertMany ReplaceOne "
        "UpdateOne UpdateMany DeleteOne DeleteMany FindOneAndUpdate Aggregate QuerySummary QuerySummaryDescending"
    ),
    StorageKind.TABLE_STORAGE: _calls(
        "AddEntity GetEntity UpsertEntity UpdateEntity DeleteEntity SubmitTransaction ExecuteQuerySegmented "
        "GetPagedResults GetByFilter GetByParitionId GetByPartitionId"
    ),
    StorageKind.BLOB: _calls(
        "Upload UploadBlob DownloadContent DownloadTo DownloadStreaming OpenRead OpenWrite DeleteIfExists "
        "DeleteBlobIfExists GetBlobs GetBlobsByHierarchy AddFile GetFile DeleteFile UpdateFile PutObject GetObject "
        "DeleteObject"
    ),
    StorageKind.EXTERNAL_API: _calls(
        "GetFromJson PostAsJson PutAsJson PatchAsJson DeleteFromJson SendAsync GetString GetStream GetByteArray"
    ),
}
"""Calls that only stores of a kind have, whatever they are called on."""

_WRITES = re.compile(
    r"Add|Insert|Upsert|Create|Update|Save|Replace|Remove|Delete|Set[A-Z]|Put|Patch|Post|Upload|Append|Store|Write|Bulk|"
    r"Attach|TryAdd|TryRemove|Clear|Execute(?!Reader|Scalar|Query)|Open(?=Write)|Submit|FindOneAndUpdate|Enqueue"
)
_NOT_OPERATIONS_NAMES = (
    "Dispose DisposeAsync ConfigureAwait GetAwaiter Entry Set GetType ToString Equals CreateDbContext "
    "CreateDbContextAsync CreateClient GetBlobClient GetBlobContainerClient GetAppendBlobClient GetContainer "
    "GetDatabase GetCollection Open OpenAsync Close CloseAsync ContainsKey AsNoTracking AsQueryable AsSplitQuery "
    "Include ThenInclude Where Select SelectMany OrderBy OrderByDescending Join GroupBy Skip Take Distinct"
)
_NOT_OPERATIONS = frozenset(_NOT_OPERATIONS_NAMES.split())
"""Calls on a store that reach for another part of it, or shape a query, and move no data."""

_WORDS = re.compile(r"\w+")
_CREATED = re.compile(r"(?<![\w.])([A-Z]\w+)(?=\s*[.(<])")  # `new SqlCommand(`, `File.`: what starts an expression
