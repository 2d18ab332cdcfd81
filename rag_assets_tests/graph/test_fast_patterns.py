"""What is written for speed says the same as the plain form of it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_assets.graph.extract import embedded_sql
from rag_assets.graph.lookup import name_of, node_words
from rag_assets.languages.csharp.web import responses

PLAIN_CALLED = re.compile(r"([^\W\d]\w*)\s*(?:<[^()]*>)?\s*\((?:[^()\"]*,)?\s*(?:\w+\s*:\s*)?\Z")
PLAIN_ASSIGNED = re.compile(r"([^\W\d]\w*)\s*(?:\{[^{}]*\}\s*)?(?:=>?|\+=|\?\?=)\s*\Z")

WORDS = [
    "var", "foreach", "in", "begin", "await", "new", "Order", "order", "_db", "A", "a1B", "9", "List", "Ns", "@event",
    "NotFound", "Ok", "StatusCode", "this", "Results", "name", "é",
]  # fmt: skip
SIGNS = [" ", " ", "  ", "\n", ".", "(", ")", "<", ">", ",", ";", "=", "==", "=>", "+=", "??=", "{", "}", ":", "?", '"']
CODE = st.lists(st.sampled_from([*WORDS, *SIGNS]), max_size=24).map("".join)
KEYS = st.builds(
    "{}{}|{}".format,
    st.sampled_from(["", "csharp:", "x:", "http:", "file:", "A::"]),
    st.text("AbC.`1<>(), {}/#é ", max_size=16),
    st.sampled_from(["TYPE", "METHOD", "PROPERTY", "FILE", "SECTION", "ENDPOINT", "TABLE", "PACKAGE", "what"]),
)


def found_by(pattern: re.Pattern[str], code: str) -> list[tuple[tuple[int, int], tuple[str | None, ...]]]:
    return [(found.span(), found.groups()) for found in pattern.finditer(code)]


@pytest.mark.parametrize(
    ("fast", "plain"),
    [
        pytest.param(embedded_sql._CALLED, PLAIN_CALLED, id="called"),
        pytest.param(embedded_sql._ASSIGNED, PLAIN_ASSIGNED, id="assigned"),
    ],
)
@given(code=CODE)
@settings(max_examples=300)
def test_patterns_match_what_plain_ones_match(fast: re.Pattern[str], plain: re.Pattern[str], code: str) -> None:
    assert found_by(fast, code) == found_by(plain, code)


@given(code=CODE)
@settings(max_examples=300)
def test_the_context_of_a_literal_is_that_of_plain_patterns(code: str) -> None:
    called, assigned = PLAIN_CALLED.search(code), PLAIN_ASSIGNED.search(code)
    assert embedded_sql._context(code, len(code)) == (called[1] if called else "", assigned[1] if assigned else "")


@given(code=CODE)
@settings(max_examples=300)
def test_what_rules_a_body_out_is_a_part_of_what_is_looked_for(code: str) -> None:
    assert responses._RESULT_NAME.search(code) or not responses._RESULT_CALL.search(code)
    assert responses._STATUS in code or not responses._STATUS_CODE.search(code)


@given(key=KEYS)
@settings(max_examples=500)
def test_a_node_is_looked_up_by_the_last_part_of_its_name(key: str) -> None:
    assert node_words(key, "") == tuple(filter(None, [name_of(key).word]))
