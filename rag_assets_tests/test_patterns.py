"""Patterns whose repetitions once shared characters: a text that does not fit took as long as two to its length."""

from __future__ import annotations

import re

import pytest

from rag_assets.answer import citations, passages
from rag_assets.answer.plans import errors, settings
from rag_assets.answer.structure import comments, patterns
from rag_assets.graph.extract import documents
from rag_assets.qa import several_questions
from rag_assets.sources import urls
from rag_assets.sources.secrets import entropy
from rag_assets_tests.effort import ends_within


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (citations._IDENTIFIER, "Ab" * 29 + "_"),
        (documents._CAMEL, "Ab" * 29 + "/"),
        (entropy._NAME_LIKE, "a" + "_" * 27 + "!"),
        (passages._CLOSES, "end " * 36 + "!"),
        (patterns._ONE, "what " + "apply " * 30 + "!"),
        (re.compile(settings._KEY.format("port")), "_" * 29),
        (several_questions._LEADING, "and " * 25 + "!"),
        (urls._VERSION, "name-1.0" + "a" * 28 + "!"),
    ],
    ids=["citations", "documents", "entropy", "passages", "patterns", "settings", "questions", "urls"],
)
def test_a_text_that_does_not_fit_takes_no_time(pattern: re.Pattern[str], text: str) -> None:
    with ends_within(2):
        pattern.search(text)
        assert pattern.fullmatch(text) is None


@pytest.mark.parametrize(
    ("pattern", "line"),
    [(comments._COMMENT, " " * 100_000 + "x"), (errors._THROWN_TYPE, "return throw_if( " * 10_000)],
    ids=["comments", "errors"],
)
def test_a_long_line_takes_time_as_it_is_long(pattern: re.Pattern[str], line: str) -> None:
    with ends_within(2):
        assert pattern.match(line) is None
        assert pattern is comments._COMMENT or pattern.search(line) is None
