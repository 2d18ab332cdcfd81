"""One vector for a text that is longer than the window of its model: the mean of the vectors of its parts (R32)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

HEADER_SHARE = 0.25
"""A first paragraph of up to this share of the window, such as title and heading path, begins every part."""


def parts_of(text: str, room: int, count: Callable[[Sequence[str]], list[int]]) -> list[str]:
    """The text itself if it has at most `room` tokens, else parts of about equal length that have, cut at blanks. Each
    begins with the first paragraph if that is short."""
    if count([text])[0] <= room:
        return [text]
    header, gap, body = text.partition("\n\n")
    header = f"{header}{gap}"
    (used,) = count([header])
    if used > room * HEADER_SHARE or not body:
        header, body, used = "", text, 0
    number = math.ceil(count([body])[0] / (room - used))
    while True:
        parts = [header + part for part in _cut(body, number)]
        if number >= len(body) or max(count(parts)) <= room:
            return parts
        number += 1


def _cut(text: str, number: int) -> list[str]:
    """At most `number` parts; none is blank."""
    places = [0]
    for part in range(1, number):
        wanted = len(text) * part // number
        blank = max(text.rfind(" ", places[-1] + 1, wanted), text.rfind("\n", places[-1] + 1, wanted))
        near = blank > wanted - len(text) // (4 * number)
        places.append(blank if near else max(wanted, places[-1]))
    found = [text[start:end].strip() for start, end in zip(places, [*places[1:], len(text)], strict=True)]
    return [part for part in found if part] or [text]


def pooled(vectors: Vectors) -> Vectors:
    """(n, dimension) unit vectors → their mean of unit length; the first where they cancel out."""
    import numpy as np

    if len(vectors) == 1:
        first: Vectors = vectors[0]
        return first
    mean = vectors.mean(axis=0, dtype=np.float32)
    norm = float(np.linalg.norm(mean))
    made: Vectors = (mean / norm).astype(np.float32) if norm > 0 else vectors[0]
    return made
