"""Symbol: what a name declares: signature, documentation, members with their lines, all parts, and its relatives."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from rag_assets.contracts.evidence import lines_of
from rag_assets.contracts.graph import Relation
from rag_assets.contracts.outline import compact_signature, line_range
from rag_assets.contracts.segment import MemberKind, leaves_of
from rag_assets.errors import PlaceError, QueryError
from rag_assets.graph.artifact import GraphError
from rag_assets.graph.lookup import named, short_name
from rag_assets.graph.neighbourhood import neighbourhood
from rag_assets.graph.relations import Direction, WalkStep
from rag_assets.printable import abridged
from rag_assets.search.graph_context import graph_of
from rag_assets.search.index import LabelIndex
from rag_assets.search.source_lines import DeclaredLines, FileText, SourceReader, meant_by
from rag_assets.serving.budget import cost_of, joined_within
from rag_assets.serving.index_age import IndexAge
from rag_assets.serving.requests import SymbolRequest

_MOST_PARTS = 100
_MOST_RELATIVES = 60
_LISTED = 12
_DOC_CHARS = 600
_SHOWN_PLACES = 3
_FIELDS = frozenset({MemberKind.FIELD.value, MemberKind.EVENT.value})
_RELATIVES = {
    (Relation.INHERITS, True): "inherits",
    (Relation.IMPLEMENTS, True): "implements",
    (Relation.OVERRIDES, True): "overrides",
    (Relation.INHERITS, False): "inherited by",
    (Relation.IMPLEMENTS, False): "implemented by",
    (Relation.OVERRIDES, False): "overridden by",
}
"""Of an edge, by whether it begins at the symbol."""
_STEPS = tuple(WalkStep(relation, Direction.BOTH) for relation in {relation for relation, _ in _RELATIVES})


@dataclass(frozen=True, slots=True)
class SymbolPart:
    """One declaration: a part of a partial type, an overload, or the only one. `members` are what it contains."""

    path: str
    declared: DeclaredLines
    doc: str
    members: tuple[DeclaredLines, ...]

    @property
    def place(self) -> str:
        return lines_of(self.path, self.declared.start_line, self.declared.end_line)


@dataclass(frozen=True, slots=True)
class SymbolFound:
    """A symbol with all its declarations. `relatives` are the names at the other end of inheritance, by how; None
    where the index has no graph. `note` names what else is called so."""

    symbol: str
    kind: str
    parts: tuple[SymbolPart, ...]
    relatives: dict[str, list[str]] | None = field(default_factory=dict)
    note: str = ""


@dataclass(frozen=True, slots=True)
class SymbolReply:
    """A symbol, and how old it is."""

    label: str
    found: SymbolFound
    age: IndexAge

    def as_object(self) -> dict[str, Any]:
        return {
            "label": self.label,
            "commit": self.age.freshness.indexed,
            "symbol": self.found.symbol,
            "kind": self.found.kind,
            "parts": [
                {
                    "path": part.path,
                    "start_line": part.declared.start_line,
                    "end_line": part.declared.end_line,
                    "signature": part.declared.signature,
                    "doc": part.doc,
                    "members": [asdict(member) for member in part.members],
                }
                for part in self.found.parts
            ],
            "relatives": self.found.relatives,
            "note": self.found.note or None,
        }

    def text(self, max_tokens: int) -> str:
        found = self.found
        head = [self.age.line(self.label), f"{found.kind} {found.symbol}"]
        head += [f"{how}: {', '.join(names)}" for how, names in (found.relatives or {}).items()]
        head += [found.note] if found.note else []
        lines, foot = list(self._lines()), list[str]()
        if cost_of("\n".join([*head, *lines])) > max_tokens:  # private fields are the first to go
            kept = list(self._lines(_is_private_field))
            foot = [f"without {len(lines) - len(kept)} private fields"] if len(kept) < len(lines) else []
            lines = kept
        return joined_within(head, lines, foot, max_tokens, "… {} more lines; read a part for the rest")

    def _lines(self, left_out: Callable[[DeclaredLines], bool] = lambda member: False) -> Iterator[str]:
        for part in self.found.parts:
            yield f"{part.place}  {part.declared.signature}".rstrip()
            if part.doc:
                yield f"    {part.doc}"
            for member in part.members:
                if left_out(member):
                    continue
                place = line_range(member.start_line, member.end_line)
                yield f"    {place}  {compact_signature(member.signature) or member.name}"


def _is_private_field(member: DeclaredLines) -> bool:
    return member.kind in _FIELDS and (member.signature.startswith("private ") or member.name.startswith("_"))


def symbol(index: LabelIndex, request: SymbolRequest) -> SymbolFound:
    """The one symbol of a name, in any letter case, qualified or not; a type rather than a member of its name. Raises
    PlaceError for one that nothing declares, and QueryError with the candidates for several."""
    reader = SourceReader(index)
    found = reader.declaring(request.name)
    if not found:
        reader.read(request.name)  # says what is near
        raise PlaceError(f"{request.name} is a place, not a symbol; read it instead")
    declared, note = meant_by(request.name, found)
    by_symbol: dict[str, list[tuple[FileText, DeclaredLines]]] = {}
    for file, one in declared:
        by_symbol.setdefault(one.symbol, []).append((file, one))
    exact = [name for name in by_symbol if name == request.name]
    if len(by_symbol) > 1 and not exact:
        listed = [f"{name}  {_place(by_symbol[name][0])}" for name in list(by_symbol)[:_LISTED]]
        more = [f"… {len(by_symbol) - _LISTED} more"] if len(by_symbol) > _LISTED else []
        said = f"{request.name} is declared as {len(by_symbol)} symbols; name one of"
        raise QueryError("\n".join([said, *listed, *more]))
    name = exact[0] if exact else next(iter(by_symbol))
    notes = [_other_case(reader, request.name.rpartition(".")[2], declared[0][1].name), note]
    note = "; ".join(filter(None, notes))
    parts = tuple(_part(file, one) for file, one in by_symbol[name][:_MOST_PARTS])
    return SymbolFound(name, parts[0].declared.kind, parts, _relatives(index, name, parts), note)


def _other_case(reader: SourceReader, wanted: str, name: str) -> str:
    """That `HttpClient` is declared nowhere, where only `httpClient` is: a type of a library, which code names."""
    if wanted.islower() or wanted == name or wanted.casefold() != name.casefold():
        return ""
    places = reader.lines_naming(wanted)
    return (
        f"{wanted} in these letters is not declared; it is written in {abridged(places, _SHOWN_PLACES)}"
        if places
        else ""
    )


def _part(file: FileText, declared: DeclaredLines) -> SymbolPart:
    """With its members, those behind it too, as Go has them, where the file has no other part of it."""
    alone = sum(one.symbol == declared.symbol for one in file.declared) == 1
    inside = [
        one
        for one in file.declared
        if one != declared and one.symbol.startswith(f"{declared.symbol}.") and (alone or _is_within(one, declared))
    ]
    return SymbolPart(file.path, declared, _doc(file, declared), tuple(inside))


def _is_within(one: DeclaredLines, other: DeclaredLines) -> bool:
    return other.start_line <= one.start_line and one.end_line <= other.end_line


def _doc(file: FileText, declared: DeclaredLines) -> str:
    """What the documentation of a declaration says, on one line."""
    at = (declared.start_line, declared.end_line)
    for segment in file.segments or ():
        inner = ((leaf.member.span, leaf.member.doc) for leaf in leaves_of(segment.members))
        for span, doc in ((segment.span, segment.doc), *inner):
            if (span.line_start, span.line_end) == at and doc:
                said = " ".join(doc.split())
                return said if len(said) <= _DOC_CHARS else f"{said[: _DOC_CHARS - 1]}…"
    return ""


def _relatives(index: LabelIndex, name: str, parts: Sequence[SymbolPart]) -> dict[str, list[str]] | None:
    try:
        graph = graph_of(index)
    except GraphError:
        return None
    match = named(graph, name)
    nodes = (*match.nodes, *match.candidates)
    places = {part.path for part in parts}
    own = [graph.keys[node] for node in nodes if any(place.path in places for place in graph.places(node))]
    if not own:
        return {}
    around = neighbourhood(graph, own, steps=_STEPS, depth=1, nodes=len(own) + _MOST_RELATIVES)
    found: dict[str, list[str]] = {}
    for edge in around.edges:
        for end, other, is_source in ((edge.source, edge.target, True), (edge.target, edge.source, False)):
            how = _RELATIVES.get((edge.relation, is_source))
            if end in own and how is not None:
                names = found.setdefault(how, [])
                said = short_name(other)
                if said not in names:
                    names.append(said)
    return found


def _place(found: tuple[FileText, DeclaredLines]) -> str:
    file, one = found
    return lines_of(file.path, one.start_line, one.end_line)
