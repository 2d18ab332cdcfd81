"""The keyword index: BM25F over fields, baked into sparse vectors at build time.

`bm25f` counts terms (first pass, per bucket), merges the statistics of the label and then weighs: the `bm25` vector of
each point. A query needs `vocabulary` alone. Beside it `commit_subjects` indexes what past commits say of each file.
Imports stay in the submodules: a query must not load what only a build uses.

The tuned constants were measured with the sections of six public C# repositories (nDCG@10 over files, tests left out;
questions from commit subjects / doc summaries / identifiers / annotators). Body alone: .483 .589 .779 .577. All four
fields with weight 1 and k1 1.2: .486 .599 .917 .811. These constants: .500 .603 .940 .853. All were tuned on these sets
together, and steps of ±50% move the mean by less than .01: nothing finer is meant by them.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from rag_assets.identifiers import SPLIT_VERSION

K1 = 2.0
"""Saturation of term frequency. Above the usual 1.2, because field weights make a pseudo-frequency of 6 out of one
name; with 1.2 every declared name is saturated at once (doc .594 → .604)."""


@dataclass(frozen=True, slots=True)
class Field:
    """A part of a section with its own weight and its own length normalisation.

    `b` says how much a long field is discounted: 0 not at all, 1 in proportion to its length. A field that
    `declares` holds names, which are also indexed as wholes.
    """

    name: str
    weight: float
    b: float
    declares: bool = False


FIELDS = (
    Field("names", 6.0, 0.5, declares=True),  # without it: identifiers .805, annotated .637
    Field("path", 2.0, 0.5),  # folders name features; few terms, so weights between 1 and 4 are alike
    Field("snippet", 0.25, 0.75),  # repeats what names and body hold; weight 1 costs .005, weight 0 .003
    Field("body", 1.0, 0.5),  # b between .3 (best for commit subjects) and .75 (for doc summaries)
)
"""Fields of every section, in column order. Append, never reorder: the order is that of stored counts."""

_METHOD = 8  # raise it when terms, counting or the formula change

KEYWORD_VERSION = f"{_METHOD}.{SPLIT_VERSION}.{hashlib.blake2b(f'{K1} {FIELDS}'.encode(), digest_size=4).hexdigest()}"
"""Part of every cache key of keyword weights: the method, how identifiers split, and every tuned constant."""
