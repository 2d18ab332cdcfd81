"""The keys, kinds and relations of RoslynIndexer in ours.

Its C# keys are simple or have no parameters, its SQL keys imply `dbo`. A member of `chunks.json` is found again among
the members of the label.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

import msgspec

from rag_assets.contracts.graph import NodeType, Relation, method_key, sql_key, symbol_key
from rag_assets.graph.imports.artifact_files import UNREADABLE, ArtifactFile, json_entries
from rag_assets.graph.imports.imported_graph import Problems
from rag_assets.graph.imports.key_parser import (
    KnownSymbol,
    LabelSymbols,
    displayed_owner,
    displayed_parameters,
    key_parts,
    overload,
    split_top_level,
)
from rag_assets.graph.relations import UnknownRelation, named_relation
from rag_assets.serialization import from_json

_CACHED_WORDS = 256  # a file has a few; of one that is damaged each may be another

DATABASE_KINDS = frozenset(
    {
        NodeType.TABLE,
        NodeType.VIEW,
        NodeType.TABLE_OR_VIEW,
        NodeType.PROC,
        NodeType.FUNC,
        NodeType.SEQUENCE,
        NodeType.TRIGGER,
        NodeType.SYNONYM,
        NodeType.SQL_TYPE,
    }
)
ROUTINES = frozenset({NodeType.PROC, NodeType.FUNC, NodeType.TRIGGER})
STORED_ROWS = frozenset({NodeType.TABLE, NodeType.VIEW, NodeType.TABLE_OR_VIEW, NodeType.SYNONYM})


def _plain(word: str) -> str:
    return "".join(filter(str.isalnum, word.lower()))


_KINDS = {_plain(kind.value): kind for kind in NodeType} | {
    "procedure": NodeType.PROC,
    "storedprocedure": NodeType.PROC,
    "function": NodeType.FUNC,
    "tabletype": NodeType.SQL_TYPE,
    "inlinesql": NodeType.METHOD,  # of sql_bodies.jsonl: the method that holds the statement
    "constructor": NodeType.METHOD,
    "operator": NodeType.METHOD,
    "class": NodeType.TYPE,
    "interface": NodeType.TYPE,
    "struct": NodeType.TYPE,
    "record": NodeType.TYPE,
    "enum": NodeType.TYPE,
}
DEPENDENCY = "cs_dep"
"""The word for an entry of `dependencies.json` where such graphs are stored."""

_BY_TARGET = frozenset({"calls", "uses", "dependson", _plain(DEPENDENCY)})
"""Words that say no more than that one thing needs another; between database objects its kind says how."""


def node_kind(word: str) -> NodeType | None:
    """`Procedure`, `PROC`, `stored_procedure` → PROC; None for a word that names no kind."""
    return _KINDS.get(_plain(word))


def relation_of(word: str, target: NodeType) -> tuple[Relation, bool] | None:
    """Our relation, and whether the word reads it backwards (`CalledBy`); None for a word that means none (R27).

    The general words of the producers (`calls`, `uses`, `cs_dep`) become what one can do with `target`: a table is
    read, a procedure executed, a type used, a method called.
    """
    return (_use_of(target), False) if _plain(word) in _BY_TARGET else _named(word)


@lru_cache(maxsize=_CACHED_WORDS)
def _named(word: str) -> tuple[Relation, bool] | None:
    try:
        return named_relation(word)
    except UnknownRelation:
        return None


def _use_of(target: NodeType) -> Relation:
    if target in STORED_ROWS or target in (NodeType.DBSET, NodeType.ENTITY):
        return Relation.READS_FROM
    if target in ROUTINES or target is NodeType.SEQUENCE:
        return Relation.EXECUTES
    if target is NodeType.TYPE:
        return Relation.USES_TYPE
    return Relation.CALLS if target is NodeType.METHOD else Relation.REFERENCES


CSHARP = "csharp"
_NO_NAMESPACE = "NoNamespace"
"""What RoslynIndexer writes for the global namespace, and for every file-scoped one."""
_NO_CLASS = "NoClass"
"""… and for members of structs, records and interfaces."""
_OPERATOR = "Operator"
_PROPERTY = "Property"


class RoslynChunk(msgspec.Struct, frozen=True):
    """The fields we read. `Text`, which repeats the code, is passed over undecoded."""

    id: int | str | None = msgspec.field(name="Id", default=None)
    file: str | None = msgspec.field(name="File", default=None)
    owner: str | None = msgspec.field(name="Class", default=None)
    member: str | None = msgspec.field(name="Member", default=None)
    type: str | None = msgspec.field(name="Type", default=None)
    signature: str | None = msgspec.field(name="Signature", default=None)
    base_type: str | None = msgspec.field(name="BaseType", default=None)
    interfaces: list[str | None] | None = msgspec.field(name="ImplementedInterfaces", default=None)
    head: str | None = msgspec.field(name="HeadSha", default=None)
    path: str | None = msgspec.field(name="RepoRelativePath", default=None)


@dataclass(frozen=True, slots=True)
class ChunkNode:
    """What a chunk became: its key, whether that is sure, the repository path ('' if it is none of ours)."""

    key: str
    is_sure: bool
    path: str
    chunk: RoslynChunk


def read_chunks(file: ArtifactFile, problems: Problems) -> Iterator[tuple[int, RoslynChunk]]:
    """(position from 1, chunk) of every entry that names a member."""
    for position, raw in enumerate(json_entries(file, problems), start=1):
        try:
            chunk = from_json(raw, RoslynChunk)
        except UNREADABLE as error:
            problems.add(file.name, "not a chunk", row=position, detail=str(error))
            continue
        if chunk.id in (None, "") or not chunk.member:
            problems.add(file.name, "a chunk without Id or Member", row=position)
            continue
        yield position, chunk


def chunk_nodes(file: ArtifactFile, known: LabelSymbols, root: str, problems: Problems) -> Mapping[str, ChunkNode]:
    """The nodes of the chunks by chunk id. An id that comes again (a file of several projects) counts once."""
    found: dict[str, ChunkNode] = {}
    for position, chunk in read_chunks(file, problems):
        node = _node(chunk, known, root)
        before = found.setdefault(str(chunk.id), node)
        if before.key != node.key:
            problems.add(
                file.name, "an Id of two members, the first counts", row=position, detail=f"{chunk.id}: {node.key}"
            )
        if not node.path:
            written = chunk.path or chunk.file or ""
            problems.add(file.name, "a file that the label does not have", row=position, detail=written)
    return found


def _node(chunk: RoslynChunk, known: LabelSymbols, root: str) -> ChunkNode:
    path = known.path_of(chunk.path or chunk.file or "", root) or ""
    kind = NodeType.PROPERTY if chunk.type == _PROPERTY else NodeType.METHOD
    name = f"operator {chunk.member}" if chunk.type == _OPERATOR else (chunk.member or "")
    display = _display(chunk)
    parameters = None if kind is NodeType.PROPERTY else displayed_parameters(display)
    here = known.named_in_file(path, kind, name)
    owner = displayed_owner(display) or _class(chunk)
    symbol = ".".join(filter(None, (_namespace(chunk), owner)))
    answer = (
        overload(here, parameters, owner)
        or overload(here, parameters)
        or (overload(known.symbols(kind, name), parameters, symbol) if symbol else None)
    )
    if answer is not None:
        return ChunkNode(answer[0].node.key, answer[1], path or answer[0].node.path, chunk)
    if kind is NodeType.PROPERTY:
        return ChunkNode(symbol_key(CSHARP, f"{symbol}.{name}".lstrip("."), kind), True, path, chunk)
    types = tuple("".join(each.split()) for each in parameters or ())
    return ChunkNode(method_key(CSHARP, symbol, name, types).replace(":.", ":", 1), True, path, chunk)


def _class(chunk: RoslynChunk) -> str:
    return "" if chunk.owner in (None, _NO_CLASS) else (chunk.owner or "")


def _namespace(chunk: RoslynChunk) -> str:
    """As far as the signature tells it."""
    namespace = (chunk.signature or "").partition(f".{chunk.owner or _NO_CLASS}.")[0]
    is_name = all(map(str.isidentifier, namespace.split(".")))
    return namespace if is_name and namespace != _NO_NAMESPACE else ""


def _display(chunk: RoslynChunk) -> str:
    """What Roslyn displays of the member: the signature behind `Namespace.Class.`."""
    return (chunk.signature or "").partition(f".{chunk.owner or _NO_CLASS}.")[2]


def base_types(node: ChunkNode, known: LabelSymbols) -> Iterator[tuple[str, str, bool]]:
    """(type, base type or interface, is it the base type) of a member's class, where each name is of one type only.

    RoslynIndexer writes simple names, and all interfaces, inherited ones too.
    """
    parts = key_parts(node.key)
    if parts is None or not parts.owner or not node.chunk.owner or node.chunk.owner == _NO_CLASS:
        return
    own = symbol_key(CSHARP, parts.owner, NodeType.TYPE)
    if not known.places(own):
        return
    written = [(node.chunk.base_type, True), *((name, False) for name in node.chunk.interfaces or ())]
    for name, is_base in written:
        target = _only_type(name or "", known)
        if target is not None and target != own:
            yield own, target, is_base


def _only_type(written: str, known: LabelSymbols) -> str | None:
    """The one type of the label with that simple name and number of type arguments."""
    name, _, arguments = written.strip().rstrip("?").partition("<")
    arity = len(split_top_level(arguments.removesuffix(">"))) if arguments else 0
    keys = {each.node.key for each in known.symbols(NodeType.TYPE, name.rpartition(".")[2]) if _arity(each) == arity}
    return keys.pop() if len(keys) == 1 else None


def _arity(declared: KnownSymbol) -> int:
    digits = declared.node.key.rpartition("|")[0].rpartition(".")[2].partition("`")[2]
    return int(digits) if digits.isdecimal() and len(digits) <= 3 else 0


_CSHARP_PREFIX = "csharp:"
_SQL_PREFIX = "sql:"
_UNKNOWN = "unknown"
"""How a reference is marked whose target no script declares (`SYNONYM … FOR`, `TRIGGER … ON`)."""


@dataclass(frozen=True, slots=True)
class Translated:
    """`is_sure`: the key is that of a declaration, ours or the import's. `kind` is the one that `key` ends with."""

    key: str
    kind: NodeType
    is_sure: bool


@dataclass(frozen=True, slots=True)
class Hint:
    """What `sql_bodies.jsonl` adds to a key: the qualified type, and where a method with inline SQL stands."""

    kind: str = ""
    name: str = ""
    type_name: str = ""
    path: str = ""
    line: int = 0
    row: int = 0


def inline_sql_key(key: str, kind: str) -> str:
    """The key in the graph of a body: inline SQL has the bare name of its method there, `csharp:…|METHOD` here."""
    is_bare = kind.lower() == "inlinesql" and not _suffix(key)
    return f"{_CSHARP_PREFIX}{key}|{NodeType.METHOD.value}" if is_bare else key


class Keys:
    """Translates keys; each once."""

    def __init__(self, known: LabelSymbols, hints: Mapping[str, Hint], declared: Mapping[str, str]) -> None:
        """`declared`: written key → kind as `nodes.csv` has them."""
        self._known = known
        self._hints = hints
        self._declared = declared
        self._kinds: dict[str, NodeType] = {}  # database objects that the import declares, by name in small letters
        for key, word in declared.items():
            kind = node_kind(word)
            if kind in DATABASE_KINDS and kind is not NodeType.TABLE_OR_VIEW:
                self._kinds.setdefault(_bare(key).lower(), kind)
        self._done: dict[tuple[str, str], Translated | None] = {}

    def declares(self, written: str) -> bool:
        return written in self._declared

    def translate(self, written: str, kind_word: str = "") -> Translated | None:
        """None for a key whose kind nothing tells, or that is empty but for its kind."""
        if (written, kind_word) not in self._done:
            self._done[(written, kind_word)] = self._translate(written, kind_word)
        return self._done[(written, kind_word)]

    def _translate(self, written: str, kind_word: str) -> Translated | None:
        hint = self._hints.get(written, Hint())
        bare, word = _bare(written), _suffix(written) or kind_word or self._declared.get(written, "") or hint.kind
        kind = node_kind(word)
        if not bare.strip(". "):
            return None
        if self._known.places(written) and kind is not None:
            return Translated(written, kind, True)
        if written.startswith(_CSHARP_PREFIX) or (kind is NodeType.METHOD and hint.kind):
            return self._program(bare, kind, hint) if kind is not None else None
        if kind is None and word.lower() != _UNKNOWN:
            return None
        return self._database(written, bare, kind)

    def _program(self, bare: str, kind: NodeType, hint: Hint) -> Translated:
        qualified = hint.type_name if kind is NodeType.ENTITY and hint.type_name else bare
        if kind is NodeType.METHOD and hint.path and hint.line:
            placed = self._known.at(hint.path, hint.line, bare.rpartition(".")[2], kind)
            if placed is not None:
                return Translated(placed, kind, True)
        owner, _, name = qualified.rpartition(".")
        found = overload(self._known.symbols(kind, name), None, owner)
        if found is not None:  # the only one of that name
            return Translated(found[0].node.key, kind, True)
        return Translated(symbol_key(CSHARP, qualified, kind), kind, True)

    def _database(self, written: str, bare: str, kind: NodeType | None) -> Translated | None:
        if kind is None or kind is NodeType.TABLE_OR_VIEW:
            kind = self._kinds.get(bare.lower(), kind)
        if kind is not None and kind not in DATABASE_KINDS:
            return None
        schema, _, name = bare.rpartition(".")
        key = self._known.database_object(schema, name, kind)
        if key is not None:
            return Translated(key, NodeType(key.rpartition("|")[2]), True)
        kind = kind or NodeType.TABLE_OR_VIEW
        return Translated(
            sql_key(schema, name, kind), kind, written in self._declared and kind is not NodeType.TABLE_OR_VIEW
        )


def _suffix(written: str) -> str:
    """The word for a kind that a key ends with, '' without one."""
    word = written.rpartition("|")[2] if "|" in written else ""
    return word if node_kind(word) is not None or word.lower() == _UNKNOWN else ""


def _bare(written: str) -> str:
    """The name without prefix and kind."""
    body = written.rpartition("|")[0] if _suffix(written) else written
    for prefix in (_CSHARP_PREFIX, _SQL_PREFIX):
        if body[: len(prefix)].lower() == prefix:
            return body[len(prefix) :]
    return body
