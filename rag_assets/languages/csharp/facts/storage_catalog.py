"""The kinds of storage, and the names of .NET that are evidence of one: base classes, clients, namespaces."""

from __future__ import annotations

from enum import StrEnum


class StorageKind(StrEnum):
    """The kinds of storage of the domain reference (§2), in the order that decides where evidence is equal."""

    DOCUMENT_DB = "DocumentDb"
    TABLE_STORAGE = "TableStorage"
    BLOB = "Blob"
    SQL = "Sql"
    EXTERNAL_API = "ExternalApi"
    IN_MEMORY = "InMemory"
    UNKNOWN = "Unknown"


def _spread(kinds: dict[StorageKind, str]) -> dict[str, StorageKind]:
    return {name: kind for kind, names in kinds.items() for name in names.split()}


BASES = _spread(
    {
        StorageKind.DOCUMENT_DB: "DocumentDBRepoBase DocumentDbRepoBase MongoRepository MongoDbRepository "
        "CosmosRepository CosmosDbRepository",
        StorageKind.TABLE_STORAGE: "TableStorageBase TableStorageRepository",
        StorageKind.BLOB: "CloudFileStorage BlobRepository",
        StorageKind.SQL: "EfRepository EFRepository DapperRepository",
    }
)
"""Base classes that are stores."""

TYPES = _spread(
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
