"""Patterns whose repetitions once shared characters: a text that does not fit took as long as two to its length."""

from __future__ import annotations

import re

import pytest

from rag_assets.answer import citations, passages
from rag_assets.answer.plans import settings
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
        (re.compile(settings._KEY.format("port")), "_" * 29),
        (several_questions._LEADING, "and " * 25 + "!"),
        (urls._VERSION, "name-1.0" + "a" * 28 + "!"),
    ],
    ids=["citations", "documents", "entropy", "passages", "settings", "questions", "urls"],
)
def test_a_text_that_does_not_fit_takes_no_time(pattern: re.Pattern[str], text: str) -> None:
    with ends_within(2):
        pattern.search(text)
        assert pattern.fullmatch(text) is None
