"""Who may see what of an index: the filter every search carries into the engine (B02, R17).

Pure data; each store compiles it to its own query language, so that nothing is filtered after the top k.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields

_WILDCARDS = re.compile(r"[*?\[]")


class ScopeError(ValueError):
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


def glob_matcher(pattern: str) -> re.Pattern[str]:
    """A glob over repository paths: `**` crosses folders, `*` and `?` do not, `[ab]` is a set, a trailing `/` means
    everything below, a glob without `/` is matched against the file name in any folder."""
    anchored = pattern + "**" if pattern.endswith("/") else pattern
    if "/" not in anchored:
        anchored = f"**/{anchored}"
    made: list[str] = []
    position = 0
    while position < len(anchored):
        if anchored.startswith("**/", position):
            made.append("(?:[^/]+/)*")
            position += 3
        elif anchored.startswith("**", position):
            made.append(".*")
            position += 2
        else:
            position = _translate_one(anchored, position, made)
    return re.compile("".join(made) + r"\Z", re.DOTALL)


def _translate_one(pattern: str, position: int, made: list[str]) -> int:
    """Appends the expression of the character or set at `position`; returns where the next one starts."""
    char = pattern[position]
    if char == "*":
        made.append("[^/]*")
    elif char == "?":
        made.append("[^/]")
    elif char == "[" and (end := pattern.find("]", position + 2)) != -1:
        members = pattern[position + 1 : end]
        negated = members[0] in "!^" and len(members) > 1
        escaped = re.sub(r"([\\\[\]^&~|])", r"\\\1", members[1:] if negated else members)
        made.append(f"[{'^/' if negated else ''}{escaped}]")
        return end + 1
    else:
        made.append(re.escape(char))
    return position + 1
