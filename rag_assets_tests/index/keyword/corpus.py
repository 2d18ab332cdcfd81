"""Random small corpora of sections, the same for the same seed."""

from __future__ import annotations

import random

from rag_assets.index.keyword import FIELDS, Field
from rag_assets.index.keyword.terms import runs

WORDS = runs(
    "order service getOrders Customer customer_id HTTPClient retry cache Größe 注文 is valid IsValid parse parses "
    "json JsonReader reader readers 42 utf8 naïve to string ToString"
)


def sections(count: int, seed: int = 7, fields: tuple[Field, ...] = FIELDS) -> list[dict[str, str]]:
    """Sections with some empty and some absent fields, and a skewed choice of words."""
    dice = random.Random(seed)
    return [
        {
            field.name: " ".join(dice.choices(WORDS, weights=range(len(WORDS), 0, -1), k=dice.randrange(0, 30)))
            for field in fields
            if dice.random() < 0.9
        }
        for _ in range(count)
    ]
