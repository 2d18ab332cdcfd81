"""What answers depend on, coarsely: a facet is a part of a label's declarations, and its digest changes with it.

A file asks some hundred questions, a label a hundred thousand; to ask them all again takes seconds. Most commits change
bodies and add members. So the questions of a file are summed up as facets: all types with their bases; the members of
one name; the database objects; what is stored; … A file is extracted again when the digest of one of its facets is
another one. That is more often than an answer changes, and never less: every question stands for all that its answer is
made of.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

import msgspec

from rag_assets.contracts.graph import DeclaredCallable
from rag_assets.contracts.segment import MemberKind
from rag_assets.dependency_trace import Question, tracked
from rag_assets.languages.csharp.binder.declarations import CSharpDeclarations, DeclaredMember, TypeHead

TYPES = "types"
_MEMBER, _NAMES, _NEW, _CALLED = "member ", "names ", "new ", "called "
_CONSTRUCTOR = ".ctor"

_BY_MEMBER = {
    "csharp.members": 1,
    "csharp.find_members": 1,
    "csharp.static_members": 0,
    "csharp.extension_methods": 0,
    "csharp.only_member": 0,
}
"""Questions about members of one name, and which argument is the name."""

OWN_FACETS = ("ef.context_names", "ef.is_empty", "ef.set_names", "resources.classes")
"""Questions without arguments that nearly every file asks: each is a facet itself, made of its answer."""

_BY_SERVICE = {
    "sql": ("sql",),
    "ef": ("ef", TYPES),
    "endpoints": ("endpoints",),
    "mounts": ("mounts",),
    "types": ("declared",),
}
_ELSE = {"csharp": (TYPES,), "resources": ("resources",)}
_BITS = (1 << 128) - 1
_place = attrgetter("path", "line_start", "line_end", "symbol")  # as `csharp.type_table` sorts them


@dataclass(frozen=True, slots=True)
class DeclarationFingerprints:
    """Digests of what one bucket declares: of its C# types, and of members and callables by facet. Sums of 128-bit
    hashes, so that those of several buckets can be added in any order."""

    types: str
    members: dict[str, str] = field(default_factory=dict)


def declaration_fingerprints(
    declared: CSharpDeclarations, callables: Iterable[DeclaredCallable] = ()
) -> DeclarationFingerprints:
    """The facets of some declarations, and of what other languages call by one name. Lines are no part of them: edits
    above a declaration change no answer."""
    usings = dict(declared.usings)
    types: list[Any] = [declared.projects]
    members: dict[str, int] = {}
    named = {known.path for known in declared.types}
    in_order = sorted(declared.types, key=_place)  # answers are in the order of places: of two parts, and of twins
    types += [entry for entry in declared.usings if entry[0] not in named or any("global" in text for text in entry[1])]
    for number, known in enumerate(in_order):
        around = usings.get(known.path, ())
        types.append((_head(known), around if _names_types(known) else ()))
        by_name: dict[str, list[Any]] = {}
        for member in known.members:
            name = _CONSTRUCTOR if member.kind is MemberKind.CONSTRUCTOR else member.name
            by_name.setdefault(name, []).append(_without_line(member))
            if known.kind == "record":
                by_name.setdefault(member.name, [])  # what a record writes itself is not made of its parameters
        place = (number, known.symbol, known.path, known.modifiers, around)
        for name, found in by_name.items():
            _add(members, _MEMBER + name, (place, found))
        if _CONSTRUCTOR in by_name:
            _add(members, _NEW + _symbol(known.symbol), (place, by_name[_CONSTRUCTOR]))
        _add(members, _NAMES + _symbol(known.symbol), (known.path, sorted(by_name)))
    for one in callables:
        _add(members, f"{_CALLED}{one.family} {one.name}", one)
    return DeclarationFingerprints(_hex(_hashed(types)), {name: _hex(value) for name, value in members.items()})


class Fingerprints:
    """The digests of all facets of a label. Picklable."""

    __slots__ = ("_digests",)

    def __init__(self, csharp: Iterable[DeclarationFingerprints], others: Mapping[str, str]) -> None:
        """`others`: facet → digest of everything that is not C#."""
        digests = {TYPES: _hex(0), **others}
        for found in csharp:
            for name, digest in ((TYPES, found.types), *found.members.items()):
                known = digests.get(name)  # most members have a name of their own
                digests[name] = digest if known is None else _hex(int(known, 16) + int(digest, 16) & _BITS)
        self._digests = digests

    @tracked("graph.facets")
    def together(self, names: Sequence[str]) -> str:
        """One digest of several facets. What thousands of answers of a bucket depend on is asked at once."""
        known = self._digests
        return digest_of([known.get(name, "") for name in names])


def fingerprints_of(questions: Collection[Question]) -> list[str]:
    """The facets that the answers to some questions are made of, sorted."""
    found: set[str] = set()
    services: set[str] = set()
    for name, arguments in questions:
        at = _BY_MEMBER.get(name)
        if name == "csharp.members" and arguments[1] == _CONSTRUCTOR:
            found.update((TYPES, _NEW + _symbol(str(arguments[0]))))
        elif at is not None:
            found.add(TYPES)
            found.add(f"{_MEMBER}{arguments[at]}")
        elif name in OWN_FACETS:
            found.add(name)
        elif name == "calls.named":
            found.add(f"{_CALLED}{arguments[1]} {arguments[0]}")
        elif name == "csharp.member_names":
            found.update((TYPES, _NAMES + _symbol(str(arguments[0]))))
        else:
            services.add(name.partition(".")[0])
    for service in services:
        found.update(_BY_SERVICE.get(service) or _ELSE[service])
    return sorted(found)


def digest_of(value: object) -> str:
    """32 hex digits of anything that msgspec encodes."""
    return _hex(_hashed(value))


def _head(known: TypeHead) -> tuple[Any, ...]:
    return (
        known.symbol, known.key, known.name, known.kind, known.path, known.namespace, known.outer,
        known.type_parameters, known.constraints, known.base_list, known.attributes, known.modifiers,
        known.parameters, known.has_parameter_list, known.returns,
    )  # fmt: skip


def _names_types(known: TypeHead) -> bool:
    """Whether what is known of the type itself holds names of types, which the using directives of its file bind."""
    return bool(known.base_list or known.constraints or known.parameters or known.returns)


def _symbol(type_id: str) -> str:
    """The symbol of an id, which may have `@project` behind it; of a verbatim name (`A.@event`) what is before it."""
    return type_id.partition("@")[0]


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
