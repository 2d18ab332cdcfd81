"""What past commits say of the files of the candidates. A commit is a sentence about the files it changed, in the words
of the people who will ask."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from rag_assets.stores.points import Place

if TYPE_CHECKING:
    from rag_assets.stores.keyword.past import Past


def past_shares(
    past_of: Callable[[str], Past | None], places: Iterable[Place], terms: Mapping[str, float]
) -> dict[Place, float]:
    """File → its BM25 score over past subjects as a share of the best of these files; files without any are left out.

    Only files that were found already: whoever may not see a file learns nothing of its past.
    """
    paths: dict[str, set[str]] = {}
    for place in places:
        paths.setdefault(place.label, set()).add(place.path)
    scores: dict[Place, float] = {}
    for label in sorted(paths):
        past = past_of(label)
        if past is not None:
            found = past.scores(terms, sorted(paths[label]))
            scores |= {Place(label, path): score for path, score in found.items() if score > 0}
    best = max(scores.values(), default=0.0)
    return {place: score / best for place, score in scores.items()}
