"""No line of code and no question takes long to be looked through, whatever its shape."""

from __future__ import annotations

import re
import time

import pytest

from rag_assets.answer import message_texts, model_lines, policies
from rag_assets.answer.front_end import components
from rag_assets.answer.structure import questions


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (message_texts._TEXTS, '\\"' * 20_000),
        (components._PROPERTY, "a" * 40_000),
        (components._PROPERTY, "a<" * 5_000),
        (model_lines._CHOICES, "a=" * 20_000),
        (policies._ASKED, f"who can see {'a ' * 4_000}?!x"),
        (questions._FOLDER, f"what is the {'a.' * 10_000}?!x"),
    ],
    ids=lambda value: value[:24] if isinstance(value, str) else "",
)
def test_a_line_of_one_shape_is_looked_through_at_once(pattern: re.Pattern[str], text: str) -> None:
    begun = time.thread_time()
    for _ in pattern.finditer(text):
        pass
    assert time.thread_time() - begun < 1.0
