"""Which endpoint of a label a request means: code writes `/orders/{}` for what is declared as `GET /api/orders/{id}`.

Both are keys of endpoints; a request knows neither the names of parameters nor always what stands before its path.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from rag_assets.languages.http_requests import BASE

_ANY = "ANY"
_HOLE = ""
"""A segment that stands for any text."""


def meant_endpoints(requested: Iterable[str], declared: Iterable[str]) -> dict[str, str]:
    """Of the keys of endpoints that nothing declares the one that each means: of its verb, with the same segments or
    some more before them. A request that fits several equally well means none, and one of a single word below an
    address that is not known no more than one."""
    known: dict[str, list[tuple[str, str, list[str]]]] = defaultdict(list)
    for key in declared:
        method, segments = _read(key)
        known[segments[-1] if segments else _HOLE].append((key, method, segments))
    found: dict[str, str] = {}
    for key in requested:
        method, segments = _read(key)
        last = segments[-1] if segments else _HOLE
        candidates = known[_HOLE] if last == _HOLE else [*known.get(last, ()), *known[_HOLE]]
        fits = [
            ((rank, other_method != method), other)
            for other, other_method, declared_segments in candidates
            if (method == other_method or _ANY in (method, other_method))
            and (rank := _rank(segments, declared_segments)) is not None
        ]
        is_open = f" {BASE}/" in key and len(segments) - segments.count(_HOLE) == 1  # below which of several?
        best = [other for fit, other in fits if is_open or fit == min(fits)[0]]
        if len(best) == 1:
            found[key] = best[0]
    return found


def _read(key: str) -> tuple[str, list[str]]:
    """(verb, segments) of a key of an endpoint; what is put in, or taken as a parameter, is a hole."""
    method, _, path = key.removeprefix("http:").rpartition("|")[0].partition(" ")
    segments = [segment for segment in path.removeprefix(BASE).partition("?")[0].split("/") if segment]
    if len(segments) > 1 and segments[-1].lower() == "index":  # of ASP.NET, also without it
        segments.pop()
    return method, [_HOLE if "{" in segment else segment.casefold().replace("-", "") for segment in segments]


def _rank(asked: Sequence[str], declared: Sequence[str]) -> tuple[int, int] | None:
    """How well a request fits, the least best: how many segments are declared before it, and how many of its texts are
    taken as parameters; None where it does not."""
    before = len(declared) - len(asked)
    if before < 0 or not asked:
        return None
    taken = same = 0
    for mine, other in zip(asked, declared[before:], strict=True):
        if mine == other:
            same += mine != _HOLE
        elif other == _HOLE and any(map(str.isdigit, mine)):  # a word is rather an endpoint that is not known
            taken += 1
        else:
            return None
    return (before, taken) if same else None
