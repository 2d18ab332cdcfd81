"""The keyword index: BM25F over fields, baked into sparse vectors at build time.

`counts` (first pass, per bucket) → `bm25f` (statistics of the label, then weights) → the `bm25` vector of each
point; `vocabulary` is what a query needs of it. Beside it `past`, an index of what past commits say of each file.
Imports stay in the submodules: a query must not load what only a build uses.
"""

from __future__ import annotations

import hashlib

from rag_assets.stores.keyword.fields import FIELDS, K1
from rag_assets.text import SPLIT_VERSION

_METHOD = 3  # raise it when terms, counting or the formula change

KEYWORD_VERSION = f"{_METHOD}.{SPLIT_VERSION}.{hashlib.blake2b(f'{K1} {FIELDS}'.encode(), digest_size=4).hexdigest()}"
"""Part of every cache key of keyword weights: the method, how identifiers split, and every tuned constant."""
