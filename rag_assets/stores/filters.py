"""Who may see what of an index: the filter every search carries into the engine (B02, R17).

Pure data; each store compiles it to its own query language, so that nothing is filtered after the top k.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import lru_cache

from rag_assets.contracts.confidentiality import DEFAULT_LEVEL, Confidentiality
from rag_assets.contracts.errors import WrongUsage
from rag_assets.stores.periods import ALWAYS, Period

_WILDCARDS = re.compile(r"[*?\[]")


class ScopeError(WrongUsage, ValueError):
    """A search without a tenant or project, or with an empty condition. It is refused, never widened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrowing:
    """Conditions on what a section is. The values of one field are alternatives.

    `paths` are exact paths, folders or globs (`src/**/*Service.cs`; `*` stays within a folder; a glob without `/`
    matches file names anywhere). `symbols` are names of types and members that a section declares, in any letter case,
    plain (`CancelOrder`), qualified (`OrderService.CancelOrder`) or with `*`; documents declare none.
    """

    paths: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    source_types: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Raises ScopeError where a condition is an empty string."""
        for field in fields(Narrowing):
            values = getattr(self, field.name)
            if any(not isinstance(value, str) or not value.strip() for value in values):
                raise _empty(field.name)
        object.__setattr__(self, "paths", tuple(_normalised(path) for path in self.paths))


UNNARROWED = Narrowing()


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchFilter(Narrowing):
    """The isolation boundary (organisation and project, both required), how confidential a section may be, and optional
    narrowing. The fields must all hold, those of `within` too, and no value of `excluded` may. `view` is what the
    reader was opened to look at: every search of it has it, beside its own narrowing.

    `names` are as `symbols`, and headings and files too: what a section is about by its name. `ids` are the only points
    that may be found where it is not None. `symbol_prefix` is the beginning of a symbol, a
    namespace. `changed` is when the file was changed last; a point without that date is in no period. Raises ScopeError
    where org_id or project_id is blank, or any condition is an empty string.
    """

    org_id: str
    project_id: str
    label: str = ""
    clearance: Confidentiality = DEFAULT_LEVEL
    symbol_prefix: str = ""
    names: tuple[str, ...] = ()
    view: Narrowing = UNNARROWED
    within: Narrowing = UNNARROWED
    excluded: Narrowing = UNNARROWED
    ids: frozenset[str] | None = None
    changed: Period = ALWAYS

    def __post_init__(self) -> None:
        for name in ("org_id", "project_id"):
            value = getattr(self, name)
            if not isinstance(value, str) or not value.strip():
                raise ScopeError(f"a search needs a non-empty {name}; got {value!r}")
        if not isinstance(self.clearance, Confidentiality):
            raise ScopeError(f"clearance is a Confidentiality; got {self.clearance!r}")
        Narrowing.__post_init__(self)


def _normalised(path: str) -> str:
    """A path as users type it (`./src`, `src\\Api` on Windows) in the form of the repository."""
    made = path.strip().replace("\\", "/").removeprefix("./").lstrip("/")
    if not made:
        raise _empty("paths")
    return made


def _empty(field: str) -> ScopeError:
    return ScopeError(f"an empty value in {field} lets nothing through: name what it should, or leave it out")


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
