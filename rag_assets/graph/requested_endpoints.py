"""Which endpoint of a label a request means: code writes `/orders/{}` for what is declared as `GET /api/orders/{id}`.

Both are keys of endpoints; a request knows neither the names of parameters nor always what stands before its path.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from rag_assets.contracts.graph import ANY_METHOD
from rag_assets.languages.http_requests import BASE

_HOLE = ""
"""A segment that stands for any text."""


def meant_endpoints(requested: Iterable[str], declared: Iterable[str]) -> dict[str, str]:
    """Of the keys of endpoints that nothing declares the one that each means: of its verb, with the same segments or
    some more before them. A request that fits several equally well means none, and one of a single word below an
    address that is not known no more than one."""
    known: dict[tuple[int, str], list[tuple[str, str, list[str]]]] = defaultdict(list)
    for key in declared:
        method, segments = _read(key)
        for place in _texts(segments):
            known[place].append((key, method, segments))
    found: dict[str, str] = {}
    for key in requested:
        method, segments = _read(key)
        texts = _texts(segments)
        words = [known.get(place, []) for place in texts if not _may_be_taken(place[1])]  # what fits has all of them
        candidates = min(words, key=len) if words else [one for place in texts for one in known.get(place, ())]
        fits: dict[tuple[tuple[int, int], bool], set[str]] = defaultdict(set)
        for other, other_method, declared_segments in candidates:
            if method == other_method or ANY_METHOD in (method, other_method):
                rank = _rank(segments, declared_segments)
                if rank is not None:
                    fits[rank, other_method != method].add(other)
        is_open = f" {BASE}/" in key and len(texts) == 1  # below which of several?
        best = set().union(*fits.values()) if is_open else fits[min(fits)] if fits else set()
        if len(best) == 1:
            found[key] = best.pop()
    return found


def _texts(segments: Sequence[str]) -> list[tuple[int, str]]:
    """The segments that are no holes, with how many are behind them."""
    return [(behind, segment) for behind, segment in enumerate(reversed(segments)) if segment != _HOLE]


def _may_be_taken(segment: str) -> bool:
    """Whether a text may be a value: a word is rather an endpoint that is not known."""
    return any(map(str.isdigit, segment))


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
        elif other == _HOLE and _may_be_taken(mine):
            taken += 1
        else:
            return None
    return (before, taken) if same else None
