"""The texts of resource files by (resource class, key, culture); collisions are reported, never merged silently."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from rag_assets.contracts.segment import MemberKind, Segment

_CULTURE = re.compile(r"[a-z]{2,3}(?:-[A-Za-z]{4})?(?:-(?:[A-Z]{2}|[0-9]{3}))?")
"""`de`, `de-DE`, `zh-Hans-CN`: the forms that .NET uses in file names."""


@dataclass(frozen=True, slots=True)
class Collision:
    """One (class, key, culture) with different values: `kept` was there first, `refused` came from `path`."""

    resource_class: str
    key: str
    culture: str
    kept: str
    refused: str
    path: str


class StaticResourceDictionary:
    """`IResourceDictionary` over resource files that were read before; the caller adds them in path order."""

    def __init__(self) -> None:
        self._texts: dict[tuple[str, str, str], str] = {}
        self.collisions: list[Collision] = []

    def text(self, resource_class: str, key: str, culture: str = "") -> str | None:
        """The text of exactly this culture ('' is the neutral one), or None."""
        return self._texts.get((resource_class, key, culture))

    def add(self, resource_class: str, key: str, value: str, culture: str = "", path: str = "") -> None:
        """The first value of a key stays; a different one later is a Collision."""
        kept = self._texts.setdefault((resource_class, key, culture), value)
        if kept != value:
            self.collisions.append(Collision(resource_class, key, culture, kept, value, path))

    def add_file(self, path: str, segments: Iterable[Segment]) -> None:
        """The entries of a segmented resource file."""
        resource_class, culture = resource_class_of(path)
        for segment in segments:
            for member in segment.members:
                if member.kind is MemberKind.PROPERTY and member.name:
                    self.add(resource_class, member.name, member.value, culture, path)

    def __len__(self) -> int:
        return len(self._texts)


def resource_class_of(path: str) -> tuple[str, str]:
    """(resource class, culture) of a file: `Resources/Orders.de-DE.resx` → (`Orders`, `de-DE`)."""
    stem = path.rsplit("/", 1)[-1].rpartition(".")[0]
    name, dot, culture = stem.rpartition(".")
    return (name, culture) if dot and _CULTURE.fullmatch(culture) else (stem, "")
