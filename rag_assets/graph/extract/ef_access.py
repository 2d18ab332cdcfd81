"""Who reads and writes entities: methods that use sets of contexts, repositories, specifications."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from rag_assets.contracts.graph import Confidence, GraphEdge, Relation
from rag_assets.contracts.segment import MemberKind, Segment
from rag_assets.graph.extract.ef_model import set_key
from rag_assets.languages.csharp.declaration_ranges import LANGUAGE, classes_of, entity_key, own_symbol, type_key
from rag_assets.languages.csharp.ef import entity_stores
from rag_assets.languages.csharp.ef.entity_stores import IDENTITY, EntityStores
from rag_assets.languages.csharp.ef.mappings import SET_TYPES
from rag_assets.languages.csharp.facts.method_verbs import MethodKind, method_kind
from rag_assets.languages.csharp.facts.type_names import element_type, parse_type
from rag_assets.languages.csharp.member_accesses import MemberAccess, member_accesses, plain_calls
from rag_assets.languages.label_declarations import LabelDeclarations
from rag_assets.languages.parsed_file import ParsedFile

_HINTS_TEXT = "Repo repo DbSet< .Set< Specification< Manager< ontext. ontext!. ontext( db. Db."
_HINTS = tuple(_HINTS_TEXT.split())
"""One of these, or the name of a context, stands in every file that reaches an entity in a way that is seen here."""

_CONTEXT_NAME = re.compile(r"_?(?:[dD]b(?:Ctx)?|ctx|\w*[cC]ontext)\Z")
"""Names of variables that may be a context where their declaration is not seen."""

_KEEPER_NAME = re.compile(r"Repo|Context|Manager|Store|Unit|Db|Set\Z|s\Z")
"""Properties and fields in upper case that may hold a context, a repository or a set."""

_SPECIFICATION = re.compile(r"\w*Spec(?:ification)?\Z")
_SPECIFICATION_QUERY = re.compile(r"(?<![\w.])Query(?=\s*\.)")
_NAVIGATION = re.compile(r"(?<=[\w!?)])\s*\.\s*([A-Z]\w*)")
_BRACKET = re.compile(r"[()\[\]{};]")
_MAX_STATEMENT_CHARS = 8_000
"""The longest query that is read; longer statements are data."""
_FIND, _SET, _ENTRY = "Find", "Set", "Entry"


def ef_usage(file: ParsedFile, symbols: LabelDeclarations) -> Iterable[GraphEdge]:
    """ReadsFrom and WritesTo from members to sets and entities; References from a specification to its entity.

    A set of a known context proves an edge; a repository, a navigation in a query, and a variable that is only named
    like a context make it probable.
    """
    if file.language != LANGUAGE or symbols.ef.is_empty():
        return
    text = file.text
    if any(hint in text for hint in (*_HINTS, *symbols.ef.context_names())):
        yield from _Usage(file, symbols).edges()


@dataclass(slots=True)
class _Touched:
    """What one member does with sets: (target → entity) it reads, whether it writes, the offset where it saves."""

    read: dict[str, str] = field(default_factory=dict)
    wrote: bool = False
    saves: int = -1


@dataclass(frozen=True, slots=True)
class _Use:
    """A use of a set: its node, the entity in it ('' for one of a library), and the offset after it."""

    target: str
    entity: str
    end: int
    confidence: Confidence = Confidence.RESOLVED


class _Usage:
    """The reading of one file."""

    def __init__(self, file: ParsedFile, symbols: LabelDeclarations) -> None:
        self._file = file
        self._ef = symbols.ef
        self._csharp = symbols.csharp
        self._keepers = EntityStores(file, symbols)
        self._symbols = symbols
        self._lines = file.lines
        self._touched: dict[str, _Touched] = {}
        self._seen = -1  # where the last set that was used stands
        self._members = frozenset(symbols.ef.set_names()) | {_SET, _ENTRY}

    def edges(self) -> Iterator[GraphEdge]:
        for segment in classes_of(self._file.segments):
            yield from self._specification(segment)
        for access in member_accesses(self._file, self._symbols, self._may_move, self._may_keep):
            yield from self._access(access)
        yield from self._inherited_calls()
        for key, touched in sorted(self._touched.items()):
            if touched.saves >= 0 and not touched.wrote and len(touched.read) == 1:  # what was read was changed
                ((target, entity),) = touched.read.items()
                yield from self._writes(key, target, entity, Confidence.PROBABLE, touched.saves)

    def _may_move(self, member: str) -> bool:
        """Whether a member may be a set, or do something with rows, by its name alone."""
        return member in self._members or entity_stores.may_move_rows(member)

    def _may_keep(self, receiver: str) -> bool:
        """Whether a receiver may keep entities: what is in upper case is a type, or a property of something else."""
        return not receiver[0].isupper() or receiver in self._members or bool(_KEEPER_NAME.search(receiver))

    def _access(self, access: MemberAccess) -> Iterator[GraphEdge]:
        if access.start == self._seen:  # `Orders.Add` of `_context.Orders.Add(…)`: told with the set
            return
        if access.type is None:
            yield from self._unknown(access)
            return
        context = self._keepers.context(access.type, access.segment)
        if context:
            yield from self._context_member(access, context)
            return
        entity = self._keepers.kept_by(access.type, access.segment)
        if not entity:
            return
        if access.type.name in IDENTITY:
            yield from self._moved(access, entity, entity_stores.of_identity(access.member))
        elif access.type.name in SET_TYPES:
            own = self._ef.set_of(access.segment.symbol, access.receiver)  # in the context itself
            target = set_key(own.symbol) if own is not None else entity_key(entity)
            use = _Use(target, entity, access.end)
            yield from self._set_used(access, use, entity_stores.of_set((access.member, *access.chain())))
        else:
            yield from self._repository_call(access, entity)

    def _context_member(self, access: MemberAccess, context: str) -> Iterator[GraphEdge]:
        """`_context.Orders.Where(…)`, `.Set<Order>()`, `.Add(order)`, `.SaveChanges()`."""
        if entity_stores.SAVES.match(access.member):
            self._touched.setdefault(access.key, _Touched()).saves = access.start
            return
        chain = access.chain()
        found = self._ef.set_of(context, access.member)
        if found is not None:
            use = _Use(set_key(found.symbol), found.entity, access.end)
            yield from self._set_used(access, use, entity_stores.of_set(chain))
            return
        is_set = access.member in (_SET, _ENTRY)
        if not (is_set or access.member.startswith(_FIND) or entity_stores.WRITING.match(access.member)):
            return
        entity = self._entity_given(access)
        if not entity:
            return
        held = self._ef.set_holding(context, entity)
        use = _Use(set_key(held) if held else entity_key(entity), entity, access.end)
        if access.member == _ENTRY:
            yield from self._set_used(access, use, entity_stores.of_entry(chain))
        else:
            yield from self._set_used(access, use, entity_stores.of_set(chain if is_set else (access.member, *chain)))

    def _entity_given(self, access: MemberAccess) -> str:
        """The entity of the type argument of a call on a context, else of its first argument."""
        written = access.type_arguments()
        if written:
            return self._keepers.entity(parse_type(written[0]), access.segment)
        typed = access.first_argument_type()
        return self._keepers.entity(element_type(typed), access.segment) if typed is not None else ""

    def _unknown(self, access: MemberAccess) -> Iterator[GraphEdge]:
        """A receiver whose declaration is not seen, but named like a context: the sets of that name have to agree."""
        if not _CONTEXT_NAME.match(access.receiver):
            return
        found = self._ef.sets_named(access.member)
        if len({entry.entity for entry in found}) != 1:
            return
        entity = found[0].entity
        if len(found) > 1 and not entity:
            return
        target = set_key(found[0].symbol) if len(found) == 1 else entity_key(entity)
        use = _Use(target, entity, access.end, Confidence.PROBABLE)
        yield from self._set_used(access, use, entity_stores.of_set(access.chain()))

    def _set_used(self, access: MemberAccess, use: _Use, relation: Relation) -> Iterator[GraphEdge]:
        self._seen = access.start
        touched = self._touched.setdefault(access.key, _Touched())
        if relation is Relation.WRITES_TO:
            touched.wrote = True
            yield from self._writes(access.key, use.target, use.entity, use.confidence, access.start)
            return
        touched.read.setdefault(use.target, use.entity)
        yield self._edge(access.key, relation, use.target, use.confidence, access.start)
        yield from self._navigations(access.key, use.entity, use.end)

    def _repository_call(self, access: MemberAccess, entity: str) -> Iterator[GraphEdge]:
        """`_orders.AddAsync(order)`: what it does its verb says."""
        yield from self._moved(access, entity, entity_stores.of_repository(access.member, access.chain()))

    def _moved(self, access: MemberAccess, entity: str, relation: Relation | None) -> Iterator[GraphEdge]:
        if relation is Relation.WRITES_TO:
            yield from self._writes(access.key, entity_key(entity), entity, Confidence.PROBABLE, access.start)
        elif relation is not None:
            yield self._edge(access.key, relation, entity_key(entity), Confidence.PROBABLE, access.start)
            yield from self._navigations(access.key, entity, access.end)

    def _writes(self, source: str, target: str, entity: str, confidence: Confidence, at: int) -> Iterator[GraphEdge]:
        """The write, and those of what is stored together with the entity."""
        yield self._edge(source, Relation.WRITES_TO, target, confidence, at)
        for part in self._ef.parts(entity) if entity else ():
            yield self._edge(source, Relation.WRITES_TO, entity_key(part), Confidence.PROBABLE, at)

    def _navigations(self, source: str, entity: str, start: int) -> Iterator[GraphEdge]:
        """The entities that a query reaches by navigations: `.Include(o => o.Items)`, `.SelectMany(o => o.Items)`."""
        code = self._file.masked
        places: dict[str, int] = {}
        for found in _NAVIGATION.finditer(code, start, _statement_end(code, start)):
            places.setdefault(found[1], found.start(1))
        reached = {entity}
        waiting = [entity] if entity and places else []
        while waiting:
            for link in self._ef.links(waiting.pop()):
                if link.property in places and link.target not in reached:
                    reached.add(link.target)
                    waiting.append(link.target)
                    at, target = places[link.property], entity_key(link.target)
                    yield self._edge(source, Relation.READS_FROM, target, Confidence.PROBABLE, at)

    def _specification(self, segment: Segment) -> Iterator[GraphEdge]:
        """`class OrdersByBuyer : Specification<Order>`: its entity, and what its query takes in beside it."""
        for base in segment.base_list:
            found = parse_type(base)
            known = _SPECIFICATION.match(found.name) and found.arguments
            entity = self._keepers.entity(found.arguments[0], segment) if known else ""
            if not entity:
                continue
            at = segment.span.char_start
            target = entity_key(entity)
            yield self._edge(type_key(own_symbol(segment)), Relation.REFERENCES, target, Confidence.RESOLVED, at)
            start, stop = segment.span.char_start, segment.span.char_end
            for query in _SPECIFICATION_QUERY.finditer(self._file.masked, start, stop):
                yield from self._navigations(self._file.places.key_at(query.start()), entity, query.start())

    def _inherited_calls(self) -> Iterator[GraphEdge]:
        """Calls without receiver in a class whose base keeps an entity: `CreateDocumentAsync(order)`."""
        kept = {segment.symbol: self._keepers.kept_by_base(segment) for segment in classes_of(self._file.segments)}
        for call in plain_calls(self._file, self._symbols) if any(kept.values()) else ():
            entity, holder = kept.get(call.segment.symbol, ""), call.holder
            if not entity or holder is None or holder.kind not in (MemberKind.METHOD, MemberKind.PROPERTY):
                continue
            if any(member.name == call.member for member in call.segment.members):
                continue
            if method_kind(call.member) in (*entity_stores.CHANGES, MethodKind.QUERY) and self._is_inherited(call):
                yield from self._repository_call(call, entity)

    def _is_inherited(self, call: MemberAccess) -> bool:
        """Whether a plain call may be one of the base: nothing else of that name is known in the type."""
        symbol = self._csharp.declared_at(call.segment.symbol, self._file.path)
        if symbol is None:
            return False
        return bool(self._csharp.find_members(symbol.id, call.member)) or self._csharp.has_foreign_base(symbol.id)

    def _edge(self, source: str, relation: Relation, target: str, confidence: Confidence, at: int) -> GraphEdge:
        return GraphEdge(source, relation, target, confidence, self._file.path, self._lines.line_of(at))


def _statement_end(code: str, at: int) -> int:
    """The offset of the `;` that ends the expression at `at`, or of the bracket that closes around it."""
    depth, limit = 0, min(len(code), at + _MAX_STATEMENT_CHARS)
    for found in _BRACKET.finditer(code, at, limit):
        if found[0] in "([{":
            depth += 1
        elif depth == 0:
            return found.start()
        elif found[0] != ";":
            depth -= 1
    return limit
