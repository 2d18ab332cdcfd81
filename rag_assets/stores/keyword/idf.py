"""How much a term tells: apart from the weights, because a query needs it and must not load numpy for it."""

from __future__ import annotations

import math


def inverse_document_frequency(sections: int, containing: int) -> float:
    """Lucene's idf, positive for every term: `containing` of `sections` hold it."""
    return math.log(1.0 + (sections - containing + 0.5) / (containing + 0.5))
