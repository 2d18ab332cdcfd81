"""What was derived, remembered for a while."""

from __future__ import annotations

from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")

MOST = 1 << 13  # entries: more than the files of a bucket ask for, and a few megabytes


class BoundedCache(dict[K, V]):
    """A dictionary that forgets everything when it is full: files are read one after the other, and what one file asks
    is seldom asked by those that come long after it. So a worker takes no more memory for a large label."""

    def __init__(self, most: int = MOST) -> None:
        super().__init__()
        self._most = most

    def __setitem__(self, key: K, value: V) -> None:
        if len(self) >= self._most:
            self.clear()
        super().__setitem__(key, value)
