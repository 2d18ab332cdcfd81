"""Partial types: what a type declares in several places, put together for its description. Each part keeps its slice.

Declarations that are marked `partial` and carry one symbol belong together, also from several project folders, as
projects link files of each other. Only where projects repeat a member, which no type may, are they copies: then each
project has a type of its own. A declaration without the modifier is none of the parts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import islice

import msgspec

from rag_assets.contracts.kinds import Classification
from rag_assets.contracts.segment import MemberKind, OtherPart, Segment, SymbolText
from rag_assets.dependency_trace import tracked

NEAR_PARTS = 50
"""How many other parts a part says the members of. Types with more are bags of interop declarations (one known has
2,000 parts), where every part naming all others would be quadratic."""

_LANGUAGE = "csharp"
_UNNAMED = (MemberKind.STATEMENTS, MemberKind.WINDOW)


@dataclass(frozen=True, slots=True)
class _Part:
    path: str
    segment: Segment

    @property
    def place(self) -> tuple[str, int]:
        return self.path, self.segment.ordinal


@dataclass(frozen=True, slots=True)
class _Type:
    """The parts of a type in order of their places, and what they declare together."""

    parts: tuple[_Part, ...]
    together: Segment


class PartialTypes:
    """The partial types of a label. Picklable; parts added in any order give the same answers."""

    __slots__ = ("_fingerprints", "_read", "_skipped", "_types", "_versions")

    def __init__(
        self,
        parts: Iterable[tuple[str, Segment]] = (),
        skipped: Mapping[str, str] | None = None,
        projects: Iterable[str] = (),
        read: Callable[[str], str] | None = None,
        versions: Mapping[str, str] | None = None,
    ) -> None:
        """`parts` are (path, segment) of partial declarations, others are passed over; `skipped` are paths of files
        that are not indexed, with the reason; `projects` are the paths of project files; `read` gives the
        decoded text of an indexed file, `versions` its hash."""
        self._read = read
        self._versions = versions or {}
        self._fingerprints: dict[tuple[str, int], str] = {}
        found: dict[tuple[str, str], list[_Part]] = {}
        for path, segment in parts:
            if may_have_parts(segment):
                found.setdefault((segment.kind, segment.symbol), []).append(_Part(path, segment))
        folders = frozenset(project.rpartition("/")[0] for project in projects)
        self._types = {
            part.place: made
            for declarations in found.values()
            for group in _types_of(declarations, folders)
            if len(group) > 1
            for made in (_type_of(group),)
            for part in made.parts
        }
        self._skipped: dict[tuple[str, str], list[OtherPart]] = {}
        for path, reason in sorted((skipped or {}).items()):
            self._skipped.setdefault(_file_stem(path), []).append(OtherPart(path, skipped=reason))

    def __len__(self) -> int:
        """How many types have several indexed parts."""
        return len({made.parts[0].place for made in self._types.values()})

    def symbol_text(self, path: str, segment: Segment, text: str) -> SymbolText:
        """What a builder gets for one segment: its own text; of a partial type the declaration of all its parts.

        The base list, attributes, modifiers, primary constructor and usings are those of all parts, its own first; the
        documentation is its own, or that of the first part that has one. Members stay its own.
        """
        if not may_have_parts(segment):
            return SymbolText(text, segment)
        self.fingerprint(path, segment.ordinal, segment.name)
        unseen = self._unseen(path, segment.name)
        known = self._types.get((path, segment.ordinal))
        if known is None:
            return SymbolText(text, segment, other_parts=tuple(unseen))
        near = islice((part for part in known.parts if part.place != (path, segment.ordinal)), NEAR_PARTS)
        others = list(near)
        declaration = _merged(segment, known.together)
        elsewhere = [(member, part.path) for part in others for member in part.segment.members]
        members = (*segment.members, *(member for member, _ in elsewhere))
        listed = (*map(_listed, others), *unseen)
        return SymbolText(
            text,
            declaration,
            whole=replace(declaration, members=members),
            other_parts=listed,
            member_paths=tuple(part_path for _, part_path in elsewhere),
            read_others=lambda: self._texts_of(others),
        )

    def _texts_of(self, parts: list[_Part]) -> tuple[tuple[str, SymbolText], ...]:
        if self._read is None:
            return ()
        read = self._read
        return tuple((part.path, SymbolText(part.segment.span.slice(read(part.path)), part.segment)) for part in parts)

    @tracked("partial.fingerprint")
    def fingerprint(self, path: str, ordinal: int, name: str) -> str:
        """A digest of all that is known of the other parts of a declaration."""
        known = self._types.get((path, ordinal))
        own = msgspec.json.encode(self._unseen(path, name)).decode()
        return own if known is None else own + self._fingerprint_of(known)

    def _fingerprint_of(self, known: _Type) -> str:
        place = known.parts[0].place
        if place not in self._fingerprints:
            parts = [(part.path, self._versions.get(part.path, ""), part.segment) for part in known.parts]
            self._fingerprints[place] = hashlib.sha256(msgspec.json.encode(parts, order="sorted")).hexdigest()
        return self._fingerprints[place]

    def _unseen(self, path: str, name: str) -> list[OtherPart]:
        """The generated files beside this one that by their names hold other parts: `Form1.Designer.cs`."""
        folder, stem = _file_stem(path)
        return self._skipped.get((folder, stem), []) if stem == name.lower() else []


def may_have_parts(segment: Segment) -> bool:
    return segment.is_partial and segment.language == _LANGUAGE


def explained(found: Classification, symbol_text: SymbolText) -> Classification:
    """`found`, with the places of the other parts that the evidence may come from."""
    paths = dict.fromkeys(part.path for part in symbol_text.other_parts if not part.skipped)
    if not paths:
        return found
    return replace(found, evidence=(*found.evidence, f"partial, with {', '.join(paths)}"))


def _types_of(parts: list[_Part], project_folders: frozenset[str]) -> Iterable[list[_Part]]:
    """The types that declarations of one symbol make: one, or one per project where projects repeat members."""
    by_project: dict[str, list[_Part]] = {}
    for part in parts:
        by_project.setdefault(_project_of(part.path, project_folders), []).append(part)
    seen: set[tuple[MemberKind, str]] = set()
    for group in by_project.values():
        declared = {
            (member.kind, member.signature)
            for part in group
            for member in part.segment.members
            if member.kind not in _UNNAMED and "partial" not in member.modifiers
        }
        if seen & declared:
            return by_project.values()
        seen |= declared
    return [parts]


def _project_of(path: str, project_folders: frozenset[str]) -> str:
    """The nearest folder above a file that holds a project, '' for none."""
    folder = path.rpartition("/")[0]
    while folder and folder not in project_folders:
        folder = folder.rpartition("/")[0]
    return folder


def _type_of(group: list[_Part]) -> _Type:
    parts = tuple(sorted(group, key=lambda part: part.place))
    first, *rest = (part.segment for part in parts)
    together = replace(
        first,
        doc=next((segment.doc for segment in (first, *rest) if segment.doc), ""),
        parameters=next((segment.parameters for segment in (first, *rest) if segment.parameters), ()),
        modifiers=_union([first, *rest], lambda segment: segment.modifiers),
        attributes=_union([first, *rest], lambda segment: segment.attributes),
        base_list=_union([first, *rest], lambda segment: segment.base_list),
        usings=_union([first, *rest], lambda segment: segment.usings),
    )
    return _Type(parts, together)


def _merged(own: Segment, together: Segment) -> Segment:
    both = [own, together]
    return replace(
        own,
        doc=own.doc or together.doc,
        parameters=own.parameters or together.parameters,
        modifiers=_union(both, lambda segment: segment.modifiers),
        attributes=_union(both, lambda segment: segment.attributes),
        base_list=_union(both, lambda segment: segment.base_list),
        usings=_union(both, lambda segment: segment.usings),
    )


def _union(parts: list[Segment], values: Callable[[Segment], Iterable[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(value for part in parts for value in values(part)))


def _listed(part: _Part) -> OtherPart:
    span = part.segment.span
    declared = (member.signature or member.name for member in part.segment.members if member.kind not in _UNNAMED)
    return OtherPart(part.path, span.line_start, span.line_end, tuple(filter(None, dict.fromkeys(declared))))


def _file_stem(path: str) -> tuple[str, str]:
    """(folder, file name up to its first dot, lower-cased)."""
    folder, _, name = path.rpartition("/")
    return folder, name.partition(".")[0].lower()
