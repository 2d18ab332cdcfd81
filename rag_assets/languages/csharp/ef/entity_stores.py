"""Which types keep entities (contexts, sets, repositories, the managers of Identity), and what calls on them do with
rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from rag_assets.contracts.graph import Relation
from rag_assets.contracts.segment import Segment
from rag_assets.languages.csharp.binder.label_symbols import CSharpSymbols, NamePosition
from rag_assets.languages.csharp.declaration_ranges import inside
from rag_assets.languages.csharp.ef.mappings import SET_TYPES
from rag_assets.languages.csharp.facts.method_verbs import MethodKind, method_kind
from rag_assets.languages.csharp.facts.type_names import TypeName, parse_type
from rag_assets.languages.label_declarations import LabelDeclarations
from rag_assets.languages.parsed_file import ParsedFile

IDENTITY = frozenset({"UserManager", "RoleManager", "SignInManager"})
"""What ASP.NET Core Identity keeps users and roles with: its verbs are its own."""

_STORE = re.compile(r"I?\w*(?:Repository|Repo|RepositoryBase|RepoBase|DataStore)\Z")
"""Types that keep the entity that is their type argument."""


class EntityStores:
    """What the types that are named in one file keep."""

    __slots__ = ("_context_names", "_kept", "_path", "_symbols")

    def __init__(self, file: ParsedFile, symbols: LabelDeclarations) -> None:
        self._path = file.path
        self._symbols = symbols
        self._context_names = frozenset(symbols.ef.context_names())
        self._kept: dict[tuple[str, str], str] = {}

    def context(self, found: TypeName, segment: Segment) -> str:
        """The symbol of the context that a type is, '' for any other."""
        if found.name not in self._context_names:
            return ""
        symbol = self._resolved(found, segment)
        return symbol if symbol and self._symbols.ef.is_context(symbol) else ""

    def kept_by(self, found: TypeName, segment: Segment) -> str:
        """The entity that a set, a repository or a manager of Identity keeps, '' for other types."""
        if not (found.name in SET_TYPES or found.name in IDENTITY or _STORE.match(found.name)):
            return ""
        if found.arguments:
            entities = (self.entity(argument, segment) for argument in found.arguments)
            return next((entity for entity in entities if entity), "")
        place = (inside(segment), found.name)
        if place not in self._kept:
            self._kept[place] = self._kept_above(found, segment)
        return self._kept[place]

    def kept_by_base(self, segment: Segment) -> str:
        """The entity that the base class of a type keeps: `class OrderRepo : DocumentDBRepoBase<Order>`."""
        for base in segment.base_list if segment.kind != "interface" else ():
            found = parse_type(base)
            if found.arguments and _STORE.match(found.name) and not found.name.startswith("I"):
                return self.entity(found.arguments[0], segment)
        return ""

    def entity(self, found: TypeName, segment: Segment) -> str:
        """The symbol of the entity that a type is or is stored as, '' for any other."""
        symbol = self._resolved(found, segment) if found.name else ""
        return self._symbols.ef.stored_as(symbol) if symbol else ""

    def _kept_above(self, found: TypeName, segment: Segment) -> str:
        """`IOrderRepository : IRepository<Order>`: the entity of the repository that a type is derived from."""
        csharp = self._symbols.csharp
        symbol = csharp.resolve_type(str(found).rstrip("?"), NamePosition(self._path, inside(segment)))
        if symbol is None:
            return ""
        for base in (*csharp.bases(symbol.id), *csharp.interfaces(symbol.id), *csharp.base_classes(symbol.id)):
            name = base.name.rpartition(".")[2].partition("`")[0]
            for argument in base.arguments if _STORE.match(name) else ():
                declared = csharp.declared(argument.name) if argument.declared else None
                entity = self._symbols.ef.stored_as(declared.symbol) if declared is not None else ""
                if entity:
                    return entity
        return ""

    def _resolved(self, found: TypeName, segment: Segment) -> str:
        return resolved_type(str(found).rstrip("?"), segment, self._path, self._symbols.csharp)


def resolved_type(written: str, segment: Segment, path: str, symbols: CSharpSymbols) -> str:
    """The symbol of the declared type that `written` means in `segment`, '' for none or a type parameter."""
    found = symbols.resolve_type(written, NamePosition(path, inside(segment), segment.type_parameters))
    return found.symbol if found is not None else ""


SAVES = re.compile(r"(?:Save(?:Changes|Entities)|Commit)(?:Async)?\Z")
"""Calls that store what was changed before."""

WRITING = re.compile(
    r"(?:Add|Update|Remove|Attach|Delete|Insert|Upsert|Merge|Bulk(?:Insert|Update|Delete|Merge|Save)|"
    r"Execute(?:Update|Delete))(?![a-z])"
)
"""How calls on a set or context begin that change rows: `AddRangeAsync`, `ExecuteDeleteAsync` among them."""

_CHANGED = frozenset({"State", "CurrentValues", "SetValues", "IsModified"})
"""What is set on the entry of an entity to save it; an entry also loads what the entity refers to."""

_SHAPES = frozenset(
    {"Table", "TableNoTracking", "AsQueryable", "Entities", "Queryable", "Include", "ApplySpecification"}
)
"""Members of repositories that hand out what a query goes on with."""

_IDENTITY_READS = re.compile(
    r"Find|Get(?!UserId|UserName|External)|Check|Is(?!SignedIn)|Has|Count|Verify|PasswordSignIn|ExternalLoginSignIn|"
    r"TwoFactor"
)
_IDENTITY_WRITES = re.compile(
    r"Create(?!\w*Principal)|Update|Delete|Set|Add|Remove|Change|Reset|Confirm|AccessFailed|Redeem|GenerateNew"
)

CHANGES = frozenset({MethodKind.CREATE, MethodKind.UPDATE, MethodKind.DELETE})
_READS = frozenset({MethodKind.QUERY, MethodKind.VALIDATION})


def of_set(names: Iterable[str]) -> Relation:
    """What a chain of calls on a set does: it reads unless one of them changes rows."""
    return Relation.WRITES_TO if any(map(WRITING.match, names)) else Relation.READS_FROM


def of_entry(names: Iterable[str]) -> Relation:
    """What is done with `context.Entry(order)`."""
    return Relation.WRITES_TO if _CHANGED.intersection(names) else Relation.READS_FROM


def of_repository(name: str, chain: Iterable[str]) -> Relation | None:
    """`AddAsync` writes, `GetByIdAsync` reads, `UnitOfWork.SaveEntities()` writes; None for what moves no row."""
    kind = method_kind(name)
    if kind in CHANGES or any(map(SAVES.match, (name, *chain))):
        return Relation.WRITES_TO
    return Relation.READS_FROM if kind in _READS or name in _SHAPES else None


def of_identity(name: str) -> Relation | None:
    """What a call on a `UserManager`, `RoleManager` or `SignInManager` does with users and roles."""
    if _IDENTITY_READS.match(name):
        return Relation.READS_FROM
    return Relation.WRITES_TO if _IDENTITY_WRITES.match(name) else None


@lru_cache(maxsize=16_384)  # the names of members that the code of a label uses
def may_move_rows(name: str) -> bool:
    """Whether a name can be one of those above; most names are none."""
    return (
        name in _SHAPES
        or name == "UnitOfWork"
        or method_kind(name) is not MethodKind.OTHER
        or bool(SAVES.match(name) or WRITING.match(name) or _IDENTITY_READS.match(name) or _IDENTITY_WRITES.match(name))
    )
