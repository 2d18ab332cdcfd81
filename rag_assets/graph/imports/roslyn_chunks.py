"""`chunks.json` of RoslynIndexer: a member of a type per entry, found again among the members of the label."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import msgspec

from rag_assets.contracts.graph import NodeType, method_key, symbol_key
from rag_assets.graph.imports.artifact_files import ArtifactFile
from rag_assets.graph.imports.csv_reader import UNREADABLE, json_entries
from rag_assets.graph.imports.imported_graph import Problems
from rag_assets.graph.imports.key_parser import displayed_owner, displayed_parameters, key_parts, split_top_level
from rag_assets.graph.imports.label_symbols import KnownSymbol, LabelSymbols, overload
from rag_assets.serialization import from_json

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
