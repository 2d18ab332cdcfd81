"""What models may say, parsed strictly (D09, D10, D24, R13)."""

from __future__ import annotations

import pytest

from rag_assets.contracts.retrieval import Mode
from rag_assets.qa.protocols import (
    MAX_QUERY_CHARS,
    Answered,
    Broken,
    Requested,
    RetrievalPlan,
    parse_answer,
    parse_route,
)


@pytest.mark.rule("D09", "D11")
@pytest.mark.parametrize(
    ("reply", "mode", "query"),
    [
        ("[SEMANTIC:] how orders are refunded", Mode.SEMANTIC, "how orders are refunded"),
        ("[SEMANTIC_RERANK:] refunds", Mode.SEMANTIC_RERANK, "refunds"),
        ("[BM25:] RefundOrder", Mode.BM25, "RefundOrder"),
        ("[HYBRID:] refund [0] of items[i]", Mode.HYBRID, "refund [0] of items[i]"),
        ("  [BM25:]RefundOrder \n", Mode.BM25, "RefundOrder"),
        ("[DIRECT:]", None, ""),
        ("[DIRECT:] what is a monad", None, "what is a monad"),
        (f"[BM25:] {'x' * MAX_QUERY_CHARS}", Mode.BM25, "x" * MAX_QUERY_CHARS),
    ],
)
def test_a_route(reply: str, mode: Mode | None, query: str) -> None:
    assert parse_route(reply) == RetrievalPlan(mode, query)


@pytest.mark.rule("D09", "D10")
@pytest.mark.parametrize(
    ("reply", "how"),
    [
        ("", Broken.EMPTY),
        (" \n ", Broken.EMPTY),
        ("refund", Broken.NO_PREFIX),
        ("[bm25:] x", Broken.NO_PREFIX),
        ("[BM25] x", Broken.NO_PREFIX),
        ("[BM25 :] x", Broken.NO_PREFIX),
        ("BM25: x", Broken.NO_PREFIX),
        ("- [BM25:] x", Broken.NO_PREFIX),
        ("[Answer:] x", Broken.NO_PREFIX),
        ("[BM25:]", Broken.NO_QUERY),
        ("[BM25:] a\nb", Broken.SEVERAL_LINES),
        ("[BM25:] a\rb", Broken.SEVERAL_LINES),
        ("[BM25:] a\u2028b", Broken.SEVERAL_LINES),
        ("[BM25:] a [SEMANTIC:] b", Broken.SEVERAL_PREFIXES),
        ("[BM25:] a [answer:] b", Broken.SEVERAL_PREFIXES),
        ("[BM25:] a\x00", Broken.CONTROL),
        (f"[BM25:] {'x' * (MAX_QUERY_CHARS + 1)}", Broken.TOO_LONG),
    ],
)
def test_what_is_no_route(reply: str, how: Broken) -> None:
    assert parse_route(reply) is how


@pytest.mark.rule("D24")
@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("[Answer:] yes", Answered("yes")),
        ("[Answer:]\nline one\n\nline two", Answered("line one\n\nline two")),
        ("[Requesting data on:] the parcel", Requested("the parcel")),
        ("", Broken.EMPTY),
        ("yes", Broken.NO_PREFIX),
        ("Well. [Answer:] yes", Broken.NO_PREFIX),
        ("[Answer:]", Broken.NO_QUERY),
        ("[Requesting data on:]  ", Broken.NO_QUERY),
        ("[Requesting data on:] a\nb", Broken.SEVERAL_LINES),
        ("[Answer:] a [Requesting data on:] b", Broken.SEVERAL_PREFIXES),
        ("[Requesting data on:] a [Answer:] b", Broken.SEVERAL_PREFIXES),
        ("[Answer:] a\n[DIRECT:] b", Broken.SEVERAL_PREFIXES),
        ("[Answer:] a\x07", Broken.CONTROL),
        (f"[Requesting data on:] {'x' * (MAX_QUERY_CHARS + 1)}", Broken.TOO_LONG),
    ],
)
def test_an_answer(reply: str, said: object) -> None:
    assert parse_answer(reply) == said


@pytest.mark.rule("R13")
@pytest.mark.parametrize("reply", ["[ANSWER:] yes", "[answer:] yes"])
def test_the_case_of_answer_prefixes_matters_where_it_is_strict(reply: str) -> None:
    assert parse_answer(reply) is Broken.NO_PREFIX
    assert parse_answer(reply, strict=False) == Answered("yes")
    assert parse_answer("[REQUESTING DATA ON:] x", strict=False) == Requested("x")
