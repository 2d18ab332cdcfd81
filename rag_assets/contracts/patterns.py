"""The two small pattern languages of rule packs and settings: names with one `*`, and path globs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache

from rag_assets.errors import RagAssetsError


class PatternError(RagAssetsError, ValueError):
    """A pattern nobody can mean; the text quotes it."""


NameTest = Callable[[str], bool]


def name_test(patterns: Iterable[str]) -> NameTest:
    """Whether a name matches any of `Exact`, `*Suffix`, `Prefix*`, `I*Manager`: case-sensitive, at most one `*`.

    Raises PatternError for an empty pattern or more than one `*`.
    """
    found = tuple(patterns)
    for pattern in found:
        if not pattern or pattern.count("*") > 1:
            raise PatternError(f"name pattern {pattern!r}: expected a name with at most one '*'")
    exact = frozenset(pattern for pattern in found if "*" not in pattern)
    wild = [pattern.split("*") for pattern in found if "*" in pattern]
    suffixes = tuple(suffix for prefix, suffix in wild if not prefix)
    affixes = tuple((prefix, suffix, len(prefix) + len(suffix)) for prefix, suffix in wild if prefix)
    # Every segment runs through dozens of these tests, so the two common shapes need no loop.
    if not wild:
        return exact.__contains__
    if not affixes and not exact:
        return lambda name: name.endswith(suffixes)

    def test(name: str) -> bool:
        if name in exact or name.endswith(suffixes):
            return True
        for prefix, suffix, shortest in affixes:
            if name.startswith(prefix) and name.endswith(suffix) and len(name) >= shortest:
                return True
        return False

    return test


@lru_cache(maxsize=1024)
def glob_pattern(glob: str) -> re.Pattern[str]:
    """A path glob as a compiled pattern for `fullmatch`, case-insensitive as repository paths are on most desktops.

    `*` and `?` stay inside one folder, `**` spans folders, a trailing `/` means everything below. A glob
    without `/` matches the file name in any folder, as in `.gitignore`. Raises PatternError when empty.
    """
    if not glob.strip("/"):
        raise PatternError(f"path glob {glob!r}: expected a path or a file name")
    anchored = glob.lstrip("/")
    if anchored.endswith("/"):
        anchored += "**"
    if "/" not in glob:
        anchored = f"**/{anchored}"
    parts: list[str] = []
    position = 0
    while position < len(anchored):
        if anchored.startswith("**/", position):
            parts.append("(?:.*/)?")
            position += 3
        elif anchored.startswith("**", position):
            parts.append(".*")
            position += 2
        else:
            parts.append({"*": "[^/]*", "?": "[^/]"}.get(anchored[position]) or re.escape(anchored[position]))
            position += 1
    return re.compile("".join(parts), re.IGNORECASE | re.DOTALL)


def path_matches(glob: str, path: str) -> bool:
    """Whether a '/'-separated repository path matches a glob (see `glob_pattern`)."""
    return glob_pattern(glob).fullmatch(path) is not None
