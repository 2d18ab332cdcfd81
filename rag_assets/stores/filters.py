"""Who may see what of an index: the filter every search carries into the engine (B02, R17).

Pure data; each store compiles it to its own query language, so that nothing is filtered after the top k.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import lru_cache

from rag_assets.contracts.errors import ExpectedError

_WILDCARDS = re.compile(r"[*?\[]")


class ScopeError(ExpectedError, ValueError):
    """A search without a tenant or project, or with an empty condition. It is refused, never widened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchFilter:
    """The isolation boundary (organisation and project, both required) and optional narrowing.

    The values of one field are alternatives, the fields must all hold. `paths` are exact paths, folders or globs
    (`src/**/*Service.cs`; `*` stays within a folder; a glob without `/` matches file names anywhere).

    Raises ScopeError where org_id or project_id is blank, or any condition is an empty string.
    """

    org_id: str
    project_id: str
    label: str = ""
    paths: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    source_types: tuple[str, ...] = ()
    symbol_prefix: str = ""

    def __post_init__(self) -> None:
        for name in ("org_id", "project_id"):
            value = getattr(self, name)
            if not isinstance(value, str) or not value.strip():
                raise ScopeError(f"a search needs a non-empty {name}; got {value!r}")
        for field in fields(self):
            values = getattr(self, field.name)
            if isinstance(values, tuple) and any(not isinstance(value, str) or not value.strip() for value in values):
                raise ScopeError(f"empty condition in {field.name}: {values!r}")
        object.__setattr__(self, "paths", tuple(_normalised(path) for path in self.paths))


def _normalised(path: str) -> str:
    """A path as users type it (`./src`, `src\\Api` on Windows) in the form of the repository."""
    made = path.strip().replace("\\", "/").removeprefix("./").lstrip("/")
    if not made:
        raise ScopeError(f"empty condition in paths: {path!r}")
    return made


def has_wildcard(pattern: str) -> bool:
    return _WILDCARDS.search(pattern) is not None


@lru_cache(maxsize=64)  # one search asks several times, a user asks again
def matching_paths(pattern: str, paths: tuple[str, ...]) -> tuple[str, ...]:
    """The paths a glob matches, in their order."""
    matches = glob_matcher(pattern)
    return tuple(path for path in paths if matches(path))


def glob_matcher(pattern: str) -> Callable[[str], bool]:
    """A glob over repository paths: `**` as a whole segment crosses folders, `*`, `?` and `[ab]` stay within one, a
    trailing `/` means everything below, a glob without `/` is matched against the file name in any folder.

    O(segments of the pattern x segments of the path): no pattern is slow, whatever a user types.
    """
    anchored = f"{pattern}**" if pattern.endswith("/") else pattern
    if "/" not in anchored:
        anchored = f"**/{anchored}"
    segments = [None if part == "**" else re.compile(fnmatch.translate(part)) for part in anchored.split("/")]

    def matches(path: str) -> bool:
        parts = path.split("/")
        part = segment = 0
        resume: tuple[int, int] | None = None  # where to go on when the last `**` has to take one more part
        while part < len(parts):
            wanted = segments[segment] if segment < len(segments) else _NOTHING
            if wanted is None:
                resume = (part, segment + 1)
                segment += 1
            elif wanted.match(parts[part]):
                part, segment = part + 1, segment + 1
            elif resume is not None:
                resume = (resume[0] + 1, resume[1])
                part, segment = resume
            else:
                return False
        return all(rest is None for rest in segments[segment:])

    return matches


_NOTHING = re.compile(r"(?!)")
