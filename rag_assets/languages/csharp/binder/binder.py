"""The state of a walk through one file: whose code is read, what names mean there, which edges were found.

A position leads to the type and member that segmentation found there. `#if` branches that the view of the file leaves
out are read once more, with the other choice.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rag_assets.contracts.graph import Confidence, GraphEdge, Relation
from rag_assets.languages.csharp.binder.declarations import DeclaredMember, PlacedType, TypeDeclaration
from rag_assets.languages.csharp.binder.type_syntax import TypeRef
from rag_assets.languages.csharp.syntax.error_recovery import SourceView, parse_csharp
from rag_assets.languages.csharp.syntax.lexer import scan
from rag_assets.languages.csharp.syntax.masks import Mask, in_order, masked_text
from rag_assets.languages.csharp.syntax.preprocessor import choose, find_groups
from rag_assets.languages.treesitter.parsing import UnparseableError

if TYPE_CHECKING:
    from tree_sitter import Node

    from rag_assets.languages.csharp.binder.label_symbols import Names
    from rag_assets.languages.csharp.binder.symbols import MemberSymbol
    from rag_assets.languages.csharp.syntax.declaration_heads import NodeText


Ranges = Sequence[tuple[int, int]]
"""Character ranges."""


def left_out(view: SourceView) -> Ranges:
    """The dropped branches of a view that hold text."""
    text = view.source.text
    return [(start, end) for start, end, _ in view.dropped if not text[start:end].isspace()]


def other_view(text: str, view: SourceView) -> SourceView | None:
    """The file as it reads with the other branches; None where that does not show them either. Offsets stay."""
    found = scan(text)
    groups = find_groups(found)
    wanted = left_out(view)
    for defined in (False, True):
        choice = choose(groups, defined)
        hidden = [(start, end) for start, end, _ in choice.dropped]
        if any(start < last and first < end for start, end in wanted for first, last in hidden):
            continue
        ranges = [*choice.directives, *hidden]
        masked = masked_text(text, in_order([Mask(start, end) for start, end in ranges]))
        try:
            return parse_csharp(masked).view
        except UnparseableError:
            return None
    return None


def is_within(ranges: Ranges, char: int) -> bool:
    return any(start <= char < end for start, end in ranges)


class EnclosingMembers:
    """The types and members of one file by character offset. So keys are those of the points, also for what the
    grammar misreads and segmentation puts right."""

    __slots__ = ("_member_ends", "_member_starts", "_members", "_type_ends", "_type_starts", "_types")

    def __init__(self, placed: Iterable[PlacedType]) -> None:
        types: list[tuple[int, int, int, TypeDeclaration]] = []
        members: list[tuple[int, int, int, DeclaredMember]] = []
        for entry in placed:
            span = entry.source.span
            types.append((span.char_start, -span.char_end, len(types), entry.declared))
            for declared, source in zip(entry.declared.members, entry.members, strict=True):
                members.append((source.span.char_start, source.span.char_end, len(members), declared))
        types.sort(key=lambda found: found[:3])
        members.sort(key=lambda found: found[:3])
        self._type_starts = [start for start, _, _, _ in types]
        self._type_ends = [-end for _, end, _, _ in types]
        self._types = [declared for _, _, _, declared in types]
        self._member_starts = [start for start, _, _, _ in members]
        self._member_ends = [end for _, end, _, _ in members]
        self._members = [declared for _, _, _, declared in members]

    def type_at(self, char: int) -> TypeDeclaration | None:
        """The innermost type around a character."""
        at = bisect_right(self._type_starts, char) - 1
        while at >= 0 and self._type_ends[at] <= char:
            at -= 1
        return self._types[at] if at >= 0 else None

    def member_at(self, char: int) -> DeclaredMember | None:
        """The member that a character belongs to; members do not overlap."""
        at = bisect_right(self._member_starts, char) - 1
        return self._members[at] if at >= 0 and self._member_ends[at] > char else None


MAX_DEPTH = 80
"""How deep nodes are followed; deeper ones are read on their own afterwards, with what is known of names by then. Real
code stays below 50 (jellyfin, LagoVista). Seven frames a level, as lambdas in lambdas take, stay below the recursion
limit."""

CALLS, CONSTRUCTS, USES_TYPE, REFERENCES = (
    relation.value for relation in (Relation.CALLS, Relation.CONSTRUCTS, Relation.USES_TYPE, Relation.REFERENCES)
)
INHERITS, IMPLEMENTS, INJECTS = (
    relation.value for relation in (Relation.INHERITS, Relation.IMPLEMENTS, Relation.INJECTS)
)
RESOLVED, PROBABLE, NAME_ONLY = (
    confidence.value for confidence in (Confidence.RESOLVED, Confidence.PROBABLE, Confidence.NAME_ONLY)
)
"""Plain texts: they are hashed for every name of the code."""

_RANK = {RESOLVED: 0, PROBABLE: 1, NAME_ONLY: 2}
LocalFunction = tuple[TypeRef, str, tuple[TypeRef, ...]]
"""(what it returns, its node where it has one, the types of its parameters)."""
Value = TypeRef | None
"""What is known of the type of an expression."""
Access = tuple["Node", "Node", Value]
"""The receiver before a dot, the name behind it, and the type of the receiver where it is a value of a known one."""
Handler = Callable[["Binder", "Node", Value], Value]
"""Reads a node, given the type that its surroundings want of it, and gives the type that it has."""


class Edges:
    """The edges of one file, each once: with its lowest place and its best confidence."""

    __slots__ = ("_found",)

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, str], tuple[str, int]] = {}

    def add(self, source: str, relation: str, target: str, at: int, confidence: str = RESOLVED) -> None:
        """`at`: byte offset of the reference."""
        known = self._found.get((source, relation, target))
        if known is None:
            self._found[source, relation, target] = (confidence, at)
        elif known[1] > at or known[0] != confidence:
            best = min(known[0], confidence, key=_RANK.__getitem__)
            self._found[source, relation, target] = (best, min(known[1], at))

    def of(self, path: str, reader: NodeText, within: Ranges | None = None) -> Iterator[GraphEdge]:
        """The edges in order of discovery; only those seen in some ranges where these are given."""
        for (source, relation, target), (confidence, at) in self._found.items():
            char = reader.char(at)
            if within is None or is_within(within, char):
                line = reader.line_of(char)
                yield GraphEdge(source, _RELATIONS[relation], target, _CONFIDENCES[confidence], path, line)


_RELATIONS = {relation.value: relation for relation in Relation}
_CONFIDENCES = {confidence.value: confidence for confidence in Confidence}


@dataclass(slots=True)
class Counts:
    """What became of the call sites of a file (constructor calls included)."""

    resolved: int = 0
    probable: int = 0
    external: int = 0
    unresolved: int = 0
    missed: list[tuple[int, str, str]] | None = None
    """(byte offset, name, why) of the sites without an edge, where somebody wants to know."""

    def miss(self, at: int, name: str, why: str) -> None:
        if self.missed is not None:
            self.missed.append((at, name, why))


@dataclass(slots=True)
class TypeContext:
    """The type whose body is read. `around`: ids of the types around a place, the innermost first. `given`: what
    initialisers see of a primary constructor; `captured`: the part that no member hides, which its members see."""

    symbol: str = ""
    key: str = ""
    around: tuple[str, ...] = ()
    own_parameters: tuple[str, ...] = ()
    type_parameters: tuple[str, ...] = ()
    constraints: Mapping[str, tuple[TypeRef, ...]] = field(default_factory=dict)
    members: dict[str, tuple[MemberSymbol, ...]] = field(default_factory=dict)
    accessible: dict[tuple[MemberSymbol, ...], tuple[MemberSymbol, ...]] = field(default_factory=dict)
    given: Mapping[str, Value] = field(default_factory=dict)
    captured: Mapping[str, Value] = field(default_factory=dict)

    @property
    def this(self) -> Value:
        if not self.around:
            return None
        return TypeRef(self.around[0], tuple(TypeRef(name, parameter=True) for name in self.own_parameters), True)


def _slicer(reader: NodeText) -> Callable[[Node], str]:
    """The text of a node; without detours where bytes are characters."""
    text = reader.text
    if not text.isascii():
        return reader.text_of

    def sliced(node: Node) -> str:
        return text[node.start_byte : node.end_byte]

    return sliced


class Binder:
    """Reads the code of one file. Handlers are functions by kind of node; `ev` calls the one for a node."""

    __slots__ = (
        "_deferred", "_depth", "_handlers", "_log", "accesses", "arguments", "calls", "constraints", "counts", "edges",
        "functions", "group", "locals", "names", "owners", "parameters", "reader", "returned", "source", "text", "type",
        "wanted",
    )  # fmt: skip

    def __init__(
        self,
        reader: NodeText,
        names: Names,
        edges: Edges,
        handlers: list[Handler],
        source: str,
        owners: EnclosingMembers,
    ) -> None:
        self.reader = reader
        self.names = names
        self.edges = edges
        self.owners = owners
        self.text = _slicer(reader)
        self.counts = Counts()
        self._handlers = handlers
        self._depth = 0
        self._log: list[tuple[str, Value, bool]] = []
        self._deferred: list[tuple[Node, Value, dict[str, Value]]] = []
        self.locals: dict[str, Value] = {}
        self.functions: dict[str, LocalFunction] = {}  # by name
        self.source = source  # the node that the code counts to
        self.type = TypeContext()
        self.parameters: tuple[str, ...] = ()  # type parameters in scope
        self.constraints: Mapping[str, tuple[TypeRef, ...]] = {}
        self.wanted: Value = None  # what `return` gives
        self.returned: list[Value] | None = None  # collects what a lambda returns
        self.group: tuple[MemberSymbol, ...] = ()  # the methods that the last method group named
        self.accesses: dict[int, Access] = {}  # by the byte where the receiver ends
        self.calls: list[
            tuple[Node, Node]
        ] = []  # (function, name) of calls without a receiver, `this` and `base` apart
        self.arguments: dict[int, TypeRef] = {}  # types of first arguments, by the byte where their list begins

    def ev(self, node: Node, wanted: Value = None) -> Value:
        """Reads a node and gives its type, None for unknown. `wanted`: the type that its surroundings give it."""
        depth = self._depth
        if depth >= MAX_DEPTH:
            self.defer(node, wanted)
            return None
        self._depth = depth + 1
        found = self._handlers[node.kind_id](self, node, wanted)
        self._depth = depth
        return found

    def access(self, receiver: Node, name: Node, found: Value) -> None:
        """Keeps `receiver.name`, with what is known of the type of the receiver; some code is read twice."""
        if found is not None or receiver.end_byte not in self.accesses:
            self.accesses[receiver.end_byte] = (receiver, name, found)

    def defer(self, node: Node, wanted: Value = None) -> None:
        """Leaves a node for later."""
        self._deferred.append((node, wanted, dict(self.locals)))

    def descend(self) -> bool:
        """Whether one level more may be read without `ev`; `ascend` must follow."""
        self._depth += 1
        return self._depth < MAX_DEPTH

    def ascend(self) -> None:
        self._depth -= 1

    def each(self, node: Node) -> None:
        """Reads what is in a node and says nothing of it."""
        for child in node.named_children:
            self.ev(child)

    def finish(self) -> None:
        """Reads what was too deep to be read in its place; then only what all members of the type see is in scope."""
        while self._deferred:
            node, wanted, names = self._deferred.pop()
            self.locals = names
            self._depth = 0
            self.ev(node, wanted)
        self._depth = 0
        self.begin(self.type.captured)

    def begin(self, known: Mapping[str, Value]) -> None:
        """Starts with these names in scope and no others."""
        self.locals = dict(known)
        self._log = []

    # names in scope

    def declare(self, name: str, found: Value) -> None:
        self._log.append((name, self.locals.get(name), name in self.locals))
        self.locals[name] = found

    def mark(self) -> int:
        return len(self._log)

    def leave(self, mark: int) -> None:
        """Forgets the names declared since `mark`, and brings back what they hid."""
        while len(self._log) > mark:
            name, hidden, was_there = self._log.pop()
            if was_there:
                self.locals[name] = hidden
            else:
                self.locals.pop(name, None)

    def members_around(self, name: str) -> tuple[MemberSymbol, ...]:
        """The members that a simple name means: of the innermost type around that has such."""
        known = self.type.members.get(name)
        if known is None:
            candidates = (self.names.find(type_id, name) for type_id in self.type.around)
            known = self.type.members[name] = next((found for found in candidates if found), ())
        return known

    # edges

    def edge(self, relation: str, target: str, node: Node, confidence: str = RESOLVED) -> None:
        if target and self.source and (target != self.source or relation == CALLS):
            self.edges.add(self.source, relation, target, node.start_byte, confidence)

    def use(self, node: Node) -> TypeRef:
        """The type that a type node names, with a UsesType edge to each type of the label in it."""
        found, keys = self.names.bind(self.text(node), self.type.symbol, self.parameters)
        for key in keys:
            self.edge(USES_TYPE, key, node)
        return found


def each_part(walk: Binder, node: Node, wanted: Value) -> Value:
    """What is wanted of a collection is wanted of each element; the parts of a pattern match the same value."""
    for child in node.named_children:
        walk.ev(child, wanted)
    return None


def behind_name(walk: Binder, node: Node, wanted: Value) -> Value:
    """What follows a label, or the name of an enum value."""
    for child in node.named_children[1:]:
        walk.ev(child)
    return None
