"""How confidential each file of a repository is: a pure function of its path, the same for writers and readers.

Points carry the level, so that every query filters on it; what is not a point (documents, graph nodes, slices) is asked
here by its path.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from rag_assets.contracts.confidentiality import DEFAULT_LEVEL, Confidentiality, may_see, most_confidential
from rag_assets.stores.filters import glob_matcher

_CACHED_PATTERNS = 1 << 10


@dataclass(frozen=True, slots=True)
class PathLevels:
    """`paths` maps paths, folders and globs to levels, in any letter case; where several match, the most confidential
    one holds. `default` is the level of everything else."""

    default: Confidentiality = DEFAULT_LEVEL
    paths: Mapping[str, Confidentiality] = field(default_factory=dict)

    def of(self, path: str) -> Confidentiality:
        folded = path.casefold()
        found = [level for pattern, level in self.paths.items() if _covers(pattern, folded)]
        return most_confidential(found) if found else self.default

    def visible(self, path: str, clearance: Confidentiality) -> bool:
        return may_see(clearance, self.of(path))

    def reached(self, clearance: Confidentiality) -> Confidentiality:
        """The highest level here that a clearance reaches: two that reach the same one see the same. The clearance
        itself where it reaches none."""
        found = [level for level in (self.default, *self.paths.values()) if may_see(clearance, level)]
        return most_confidential(found) if found else clearance


def _covers(pattern: str, path: str) -> bool:
    folded = pattern.casefold().removeprefix("./").lstrip("/")
    below = f"{folded.removesuffix('/')}/"
    return path.startswith(below) or _matcher(folded)(path)


_matcher = lru_cache(maxsize=_CACHED_PATTERNS)(glob_matcher)
