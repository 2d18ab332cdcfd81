"""What models may say, parsed strictly (D09, D10, D24, R13)."""

from __future__ import annotations

import pytest

from rag_assets.contracts.retrieval import Mode, RetrievalPlan
from rag_assets.qa.reply_parser import (
    MAX_QUERY_CHARS,
    Answered,
    InvalidReply,
    Requested,
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
        ("", InvalidReply.EMPTY),
        (" \n ", InvalidReply.EMPTY),
        ("refund", InvalidReply.NO_PREFIX),
        ("[bm25:] x", InvalidReply.NO_PREFIX),
        ("[BM25] x", InvalidReply.NO_PREFIX),
        ("[BM25 :] x", InvalidReply.NO_PREFIX),
        ("BM25: x", InvalidReply.NO_PREFIX),
        ("- [BM25:] x", InvalidReply.NO_PREFIX),
        ("[Answer:] x", InvalidReply.NO_PREFIX),
        ("[BM25:]", InvalidReply.NO_QUERY),
        ("[BM25:] a\nb", InvalidReply.SEVERAL_LINES),
        ("[BM25:] a\rb", InvalidReply.SEVERAL_LINES),
        ("[BM25:] a\u2028b", InvalidReply.SEVERAL_LINES),
        ("[BM25:] a [SEMANTIC:] b", InvalidReply.SEVERAL_PREFIXES),
        ("[BM25:] a [answer:] b", InvalidReply.SEVERAL_PREFIXES),
        ("[BM25:] a\x00", InvalidReply.CONTROL),
        (f"[BM25:] {'x' * (MAX_QUERY_CHARS + 1)}", InvalidReply.TOO_LONG),
    ],
)
def test_what_is_no_route(reply: str, how: InvalidReply) -> None:
    assert parse_route(reply) is how


@pytest.mark.rule("D24")
@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("[Answer:] yes", Answered("yes")),
        ("[Answer:]\nline one\n\nline two", Answered("line one\n\nline two")),
        ("[Requesting data on:] the parcel", Requested("the parcel")),
        ("", InvalidReply.EMPTY),
        ("yes", InvalidReply.NO_PREFIX),
        ("Well. [Answer:] yes", InvalidReply.NO_PREFIX),
        ("[Answer:]", InvalidReply.NO_QUERY),
        ("[Requesting data on:]  ", InvalidReply.NO_QUERY),
        ("[Requesting data on:] a\nb", InvalidReply.SEVERAL_LINES),
        ("[Answer:] a [Requesting data on:] b", InvalidReply.SEVERAL_PREFIXES),
        ("[Requesting data on:] a [Answer:] b", InvalidReply.SEVERAL_PREFIXES),
        ("[Answer:] a\n[DIRECT:] b", InvalidReply.SEVERAL_PREFIXES),
        ("[Answer:] a\x07", InvalidReply.CONTROL),
        (f"[Requesting data on:] {'x' * (MAX_QUERY_CHARS + 1)}", InvalidReply.TOO_LONG),
    ],
)
def test_an_answer(reply: str, said: object) -> None:
    assert parse_answer(reply) == said


@pytest.mark.rule("R13")
@pytest.mark.parametrize("reply", ["[ANSWER:] yes", "[answer:] yes"])
def test_the_case_of_answer_prefixes_matters_where_it_is_strict(reply: str) -> None:
    assert parse_answer(reply) is InvalidReply.NO_PREFIX
    assert parse_answer(reply, strict=False) == Answered("yes")
    assert parse_answer("[REQUESTING DATA ON:] x", strict=False) == Requested("x")
