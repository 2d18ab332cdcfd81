"""Unique symbols (R1): one fully qualified name with several source parts gets a suffix per part.

Two phases, so that a label can be worked through in buckets and in any order: count the symbols of all files
into a `SymbolCensus`, merge the censuses, then ask for the final symbols of each file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from rag_assets.contracts.identity import disambiguated_symbol
from rag_assets.contracts.segment import Segment
from rag_assets.dependency_trace import tracked


class SymbolCounter:
    """How often each (symbol type, lower-cased symbol) occurs in a label. Mergeable; order does not matter.

    Lower-cased, because semantic ids and blob URIs are (A32, A34): `Foo` and `foo` would be one point.
    """

    __slots__ = ("_counts",)

    def __init__(self, segments: Iterable[Segment] = ()) -> None:
        self._counts: Counter[tuple[str, str]] = Counter()
        self.add(segments)

    def add(self, segments: Iterable[Segment]) -> None:
        self._counts.update((segment.kind.lower(), segment.symbol.lower()) for segment in segments)

    def counts(self) -> list[tuple[str, str, int]]:
        """(symbol type, symbol, places), sorted; both in lower case."""
        return [(kind, symbol, count) for (kind, symbol), count in sorted(self._counts.items())]

    def merge(self, counts: Iterable[tuple[str, str, int]]) -> None:
        self._counts.update({(kind, symbol): count for kind, symbol, count in counts})

    @tracked("census.is_repeated")
    def is_repeated(self, kind: str, symbol: str) -> bool:
        """Whether the label declares a symbol in several places."""
        return self._counts[(kind.lower(), symbol.lower())] > 1

    def repeated(self) -> dict[tuple[str, str], int]:
        """The symbols with several parts, sorted: what a reader of the build may want to see."""
        return {key: count for key, count in sorted(self._counts.items()) if count > 1}


def final_symbol(segment: Segment, path: str, census: SymbolCounter, ordinal_in_file: int = 0) -> str:
    """The symbol of one segment: its own, or with the suffix of its path where the census knows several parts.

    `ordinal_in_file` tells the parts within one file apart (see `final_symbols`).
    """
    if ordinal_in_file == 0 and not census.is_repeated(segment.kind, segment.symbol):
        return segment.symbol
    return disambiguated_symbol(segment.symbol, path, ordinal_in_file)


def final_symbols(segments: Sequence[Segment], path: str, census: SymbolCounter) -> list[str]:
    """The final symbols of all segments of one file, in order; no two are equal, whatever their symbol types.

    Blob URIs carry the symbol without its type, so within a file equal names of different types are parts too.
    """
    seen: Counter[str] = Counter()
    found = []
    for segment in segments:
        key = segment.symbol.lower()
        found.append(final_symbol(segment, path, census, seen[key]))
        seen[key] += 1
    return found
