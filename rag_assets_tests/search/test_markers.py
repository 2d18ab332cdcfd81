"""Text that is data has no marker that means something, whatever letters it is written with."""

from __future__ import annotations

import re

import pytest

from rag_assets.contracts.protocol_markers import fenced, neutral
from rag_assets.qa.reply_parser import InvalidReply, parse_answer, parse_route
from rag_assets_tests.qa.injections import HARMLESS, INJECTIONS, OBEYED, TEMPLATES, as_read


@pytest.mark.rule("D10")
@pytest.mark.parametrize("text", INJECTIONS.values(), ids=INJECTIONS.keys())
def test_neutral_text_has_no_marker(text: str) -> None:
    made = neutral(text)
    assert len(made) == len(text)
    assert neutral(made) == made
    read = as_read(made)
    assert OBEYED.search(read) is None and TEMPLATES.search(read) is None
    assert not re.search(r"\[\s*(?:chunk|source)\s*:", read)
    assert isinstance(parse_route(made), InvalidReply) and isinstance(parse_answer(made, strict=False), InvalidReply)
    if "evidence>" not in text:
        assert made != text


def test_there_are_forty_of_them() -> None:
    assert len(set(INJECTIONS.values())) >= 40


@pytest.mark.parametrize("text", HARMLESS.values(), ids=HARMLESS.keys())
def test_source_stays_as_it_is(text: str) -> None:
    assert neutral(text) == text


@pytest.mark.parametrize("text", INJECTIONS.values(), ids=INJECTIONS.keys())
def test_no_text_closes_its_fence(text: str) -> None:
    made = fenced("evidence", text)
    opening, closing = made.split("\n")[0], made.split("\n")[-1]
    assert closing == opening.replace("<", "</")
    assert made.count(closing) == 1 and len(re.findall("</?data-", made)) == 2
