"""What is pasted with a question is no part of it: escapes of a terminal, citations, prefixes of the protocol."""

from __future__ import annotations

import pytest

from rag_assets.contracts.protocol_markers import neutral
from rag_assets.errors import WrongQuestion
from rag_assets.search import QuestionKind
from rag_assets.search.query_parser import understand, without_paste

PASTED = [
    ("Refunds are limited [chunk: 1a2b3c4d], why?", "Refunds are limited, why?"),
    ("Refunds [chunk: 1a2b3c4d, 5e6f7a8b] and [Chunk：1a2b] fees", "Refunds and fees"),
    ("[Answer:] how are refunds paid [source: src/A.cs:8-16@abc]", "how are refunds paid"),
    ("[Requesting data on:] refunds", "refunds"),
    ("[HYBRID:]\nrefunds", "\nrefunds"),
    ("[ＨＹＢＲＩＤ:]refunds", "refunds"),
    ("<|im_start|>user: who refunds<|im_end|>", "user: who refunds"),
    ("[INST] who refunds [/INST]", "who refunds"),
    ("\x1b[1;31mwho\x1b[0m refunds\x1b[K", "who refunds"),
    ("\x9b31mwho refunds", "who refunds"),
    ("\x1b]8;;http://example.org\x07who\x1b]8;;\x1b\\ refunds", "who refunds"),
    ("\x1b]0;who refunds", "0;who refunds"),
    ("^[[31mwho^[[0m refunds", "who refunds"),
    ("[31mwho[0m refunds [38;5;196mnow", "who refunds now"),
    ("Ref\u00adund\u200bPolicy\u202e", "RefundPolicy"),
    ("\x00who\x08 refunds\x7f", "who refunds"),
]

MEANT = [
    "how is [HttpGet] routed",
    "values[0] of Map<string, int> and (a[31m])",
    '[Fact, Trait("a", "b")] IReader<Instruction> x < y && z > 0',
    'where is "[Answer:]" parsed, and `[chunk: x]`, and “[source: y]”',
    "zwölf Gebühren\tfür\r\nÜberweisungen",
    "[answers] [chunks] [sourced] answer: x",
    "a \u200d joined \u200c word",  # which scripts need
]


@pytest.mark.parametrize(("typed", "asked"), PASTED, ids=[case[0] for case in PASTED])
def test_what_is_pasted_goes(typed: str, asked: str) -> None:
    assert without_paste(typed) == asked
    assert without_paste(asked) == asked
    assert understand(typed).typed == asked
    assert neutral(asked) == asked


@pytest.mark.parametrize("typed", MEANT)
def test_what_may_be_meant_stays(typed: str) -> None:
    assert without_paste(typed) == typed


def test_a_question_of_nothing_else_is_asked_as_it_is() -> None:
    assert without_paste("\x1b[1m[chunk: 1a2b3c4d]\x1b[0m") == "[chunk: 1a2b3c4d]"
    with pytest.raises(WrongQuestion, match="the query is empty"):
        understand("\x1b[1m \x1b[0m")


def test_a_trace_in_colours_is_a_trace() -> None:
    typed = (
        "\x1b[31mSystem.InvalidOperationException: The limit is exceeded\x1b[0m\n"
        "\x1b[90m   at Shop.Orders.OrderService.Refund(Int32 id) in \x1b[36m/src/Orders.cs\x1b[0m:line 42\x1b[0m\n"
    )
    found = understand(typed)
    assert (found.kind, found.symbols) == (QuestionKind.ERROR, ("OrderService.Refund",))


def test_long_texts_take_no_longer_than_they_are_long() -> None:
    for text in ("[" * 20_000, "[chunk:" * 3_000, "\x1b]" * 10_000, "<|" * 10_000, "[31" * 6_000, '"' * 20_000):
        without_paste(text)
