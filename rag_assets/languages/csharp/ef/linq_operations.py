"""What calls on sets, repositories and the managers of Identity do with rows, by their names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from rag_assets.contracts.graph import Relation
from rag_assets.languages.csharp.facts.method_verbs import MethodKind, method_kind

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
