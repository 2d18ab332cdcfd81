"""What somebody meant who made a slip: the known name, or the known paths, that are most like a wrong one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

_NEAR = 0.8  # of equal characters: a slip in one name, not another file of the folder


def nearest(name: str, known: Iterable[str], title: str = "valid") -> str:
    """`; did you mean 'next'?`, else all that are known, after a title: `; valid: first, next`."""
    there = list(known)
    near = difflib.get_close_matches(name, there, n=1)
    if near:
        return f"; did you mean {near[0]!r}?"
    return f"; {title}: {', '.join(there)}" if there else "; there are none"


def near_paths(wanted: str, known: Sequence[str], most: int) -> list[str]:
    """At most `most` of the `known` paths: those with the same file name in any case, in their order; without any the
    most alike, the best first; else those with the most alike file names."""
    name = _name(wanted)
    same = [path for path in known if _name(path) == name]
    alike = same or difflib.get_close_matches(wanted, known, n=most, cutoff=_NEAR)
    if alike:
        return alike[:most]
    by_name: dict[str, list[str]] = {}
    for path in known:
        by_name.setdefault(_name(path), []).append(path)
    names = difflib.get_close_matches(name, by_name, n=most, cutoff=_NEAR)
    return [path for found in names for path in by_name[found]][:most]


def _name(path: str) -> str:
    return path.rpartition("/")[2].lower()
