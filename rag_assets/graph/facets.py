"""What answers depend on, coarsely: a facet is a part of a label's declarations, and its digest changes with it.

A file asks some hundred questions, a label a hundred thousand; to ask them all again takes seconds. Most commits change
bodies and add members. So the questions of a file are summed up as facets: all types with their bases; the members of
one name; the database objects; what is stored; … A file is extracted again when the digest of one of its facets is
another one. That is more often than an answer changes, and never less: every question stands for all that its answer is
made of.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from rag_assets.descriptions.questions import Question, question

if TYPE_CHECKING:
    from rag_assets.graph.csharp.declarations import CSharpDeclarations, DeclaredMember, DeclaredType

TYPES = "types"
_MEMBER, _NAMES = "member ", "names "

_BY_MEMBER = {
    "csharp.members": 1,
    "csharp.find_members": 1,
    "csharp.static_members": 0,
    "csharp.extension_methods": 0,
    "csharp.only_member": 0,
}
"""Questions about members of one name, and which argument is the name."""

_BY_SERVICE = {"sql": ("sql",), "ef": ("ef", TYPES), "endpoints": ("endpoints",), "types": ("declared",)}
_ELSE = {"csharp": (TYPES,), "resources": ("resources",)}
_BITS = (1 << 128) - 1


@dataclass(frozen=True, slots=True)
class CSharpFacets:
    """Digests of what one bucket declares in C#: of its types, and of its members by facet. Sums of 128-bit hashes, so
    that those of several buckets can be added in any order."""

    types: str
    members: dict[str, str] = field(default_factory=dict)


def csharp_facets(declared: CSharpDeclarations) -> CSharpFacets:
    """The facets of some declarations. Lines are no part of them: edits above a declaration change no answer."""
    usings = dict(declared.usings)
    types: list[Any] = [declared.projects]
    members: dict[str, int] = {}
    named = {known.path for known in declared.types}
    types += [entry for entry in declared.usings if entry[0] not in named or any("global" in text for text in entry[1])]
    for known in declared.types:
        around = usings.get(known.path, ())
        types.append((_head(known), around if known.base_list or known.constraints or known.parameters else ()))
        by_name: dict[str, list[Any]] = {}
        for member in known.members:
            by_name.setdefault(member.name, []).append(_without_line(member))
        place = (known.symbol, known.path, known.modifiers, around)
        for name, found in by_name.items():
            _add(members, _MEMBER + name, (place, found))
        _add(members, _NAMES + known.symbol, (known.path, sorted(by_name)))
    return CSharpFacets(_hex(_hashed(types)), {name: _hex(value) for name, value in members.items()})


class Facets:
    """The digests of all facets of a label. Picklable."""

    __slots__ = ("_digests",)

    def __init__(self, csharp: Iterable[CSharpFacets], others: Mapping[str, str]) -> None:
        """`others`: facet → digest of everything that is not C#."""
        types = 0
        members: dict[str, int] = {}
        for found in csharp:
            types = (types + int(found.types, 16)) & _BITS
            for name, digest in found.members.items():
                members[name] = (members.get(name, 0) + int(digest, 16)) & _BITS
        self._digests: dict[str, str] = {TYPES: _hex(types), **others}
        self._digests.update((name, _hex(value)) for name, value in members.items())

    @question("graph.facet")
    def digest(self, name: str) -> str:
        """The digest of a facet; '' for members of a name that the label does not have."""
        return self._digests.get(name, "")

    def together(self, names: Iterable[str]) -> str:
        """One digest of several facets."""
        return digest_of([self._digests.get(name, "") for name in names])


def facets_of(questions: Collection[Question]) -> list[str]:
    """The facets that the answers to some questions are made of, sorted."""
    found: set[str] = set()
    for name, arguments in questions:
        service = name.partition(".")[0]
        if name in _BY_MEMBER:
            found.update((TYPES, f"{_MEMBER}{arguments[_BY_MEMBER[name]]}"))
        elif name == "csharp.member_names":
            found.update((TYPES, f"{_NAMES}{str(arguments[0]).partition('@')[0]}"))
        else:
            found.update(_BY_SERVICE.get(service) or _ELSE[service])
    return sorted(found)


def digest_of(value: object) -> str:
    """32 hex digits of anything that msgspec encodes."""
    return _hex(_hashed(value))


def _head(known: DeclaredType) -> tuple[Any, ...]:
    return (
        known.symbol, known.key, known.name, known.kind, known.path, known.namespace, known.outer,
        known.type_parameters, known.constraints, known.base_list, known.attributes, known.modifiers,
        known.parameters, known.has_parameter_list, known.returns,
    )  # fmt: skip


def _without_line(member: DeclaredMember) -> tuple[Any, ...]:
    return (
        member.kind, member.key, member.type, member.parameters, member.type_parameters, member.constraints,
        member.modifiers, member.explicit_interface,
    )  # fmt: skip


def _add(digests: dict[str, int], name: str, value: object) -> None:
    digests[name] = (digests.get(name, 0) + _hashed(value)) & _BITS


def _hashed(value: object) -> int:
    return int.from_bytes(hashlib.blake2b(msgspec.json.encode(value, order="deterministic"), digest_size=16).digest())


def _hex(value: int) -> str:
    return f"{value:032x}"
