"""Which sections of a generation have the same text (F11): copies within a repository, by the ContentHash of points."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cache, partial

from rag_assets.contracts.confidentiality import Confidentiality
from rag_assets.index.generations import Generation
from rag_assets.index.parquet_parts import read_part


@dataclass(frozen=True, slots=True, order=True)
class CopyPlace:
    """Where one copy is."""

    path: str
    start_line: int
    end_line: int
    symbol: str


@dataclass(frozen=True, slots=True)
class Duplicate:
    """One text in several places, in their order."""

    content_hash: str
    places: tuple[CopyPlace, ...]

    @property
    def repeated_lines(self) -> int:
        """Lines that would not be there if there were one copy."""
        return sum(place.end_line - place.start_line + 1 for place in self.places[1:])


def duplicates(generation: Generation, clearance: Confidentiality) -> list[Duplicate]:
    """The texts that are in several places that `clearance` reaches for, those with the most repeated lines first.
    Several sections of one symbol with the same source are one place. Raises TableDamaged."""
    sees = cache(partial(generation.manifest.levels.visible, clearance=clearance))
    found: defaultdict[str, dict[tuple[str, int, int], CopyPlace]] = defaultdict(dict)
    for bucket in range(generation.manifest.bucket_count):
        points = read_part(generation.directory, "qdrant_points", bucket, ["content_hash", "path", "section_row"])
        columns = ["symbol", "line_start", "line_end", "char_start", "char_end"]
        sections = read_part(generation.directory, "summary_sections", bucket, columns).to_pylist()
        for point in points.to_pylist():
            if sees(point["path"]):
                section = sections[point["section_row"]]
                place = CopyPlace(point["path"], section["line_start"], section["line_end"], section["symbol"])
                where = place.path, section["char_start"], section["char_end"]
                found[point["content_hash"]].setdefault(where, place)
    several = (Duplicate(known, tuple(sorted(places.values()))) for known, places in found.items() if len(places) > 1)
    return sorted(several, key=lambda duplicate: (-duplicate.repeated_lines, duplicate.places))
