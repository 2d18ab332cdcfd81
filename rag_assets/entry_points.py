"""What installed packages offer through entry points: the metadata of all of them is read once, which takes 30 ms."""

from __future__ import annotations

import sys
from functools import cache
from importlib.metadata import EntryPoint, entry_points


def offered(group: str) -> tuple[EntryPoint, ...]:
    """The entry points of a group, of the packages that can be imported now."""
    return _offered(group, tuple(sys.path))


@cache
def _offered(group: str, _: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    return tuple(entry_points(group=group))
