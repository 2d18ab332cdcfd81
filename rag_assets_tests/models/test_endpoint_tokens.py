"""The estimate of tokens: one pass of a pattern against the rule that it stands for, counted part by part."""

from __future__ import annotations

import random
import re
import string

import pytest

from rag_assets.models.openai_compat.token_counting import estimate_tokens

PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d{1,3}|_+|[!-/:-^`{-~]+|[^\s!-~]")
SIGNS = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^`{|}~")


def part_by_part(text: str) -> int:
    """A token for seven letters of a word, two signs, three digits, a run of `_`, any other character."""

    def tokens(part: str) -> int:
        if part[0] in SIGNS:
            return -(-len(part) // 2)
        return -(-len(part) // 7) if part[0].isalpha() else 1

    return sum(map(tokens, PARTS.findall(text)))


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        pytest.param("", 0, id="nothing"),
        pytest.param("refund", 1, id="a word"),
        pytest.param("Internationalisation", 3, id="a long word"),
        pytest.param("HTTPServerError", 3, id="an identifier"),
        pytest.param("ABCDEFGHIJKLMNOP", 3, id="capitals"),
        pytest.param("ABCDEFGHi", 2, id="capitals before a word"),
        pytest.param("=> (x);", 4, id="signs"),
        pytest.param("((((", 2, id="a run of signs"),
        pytest.param("((Get", 3, id="a run of signs before a capital"),
        pytest.param("__1234567__", 5, id="underscores and digits"),
        pytest.param("日本語 ü", 4, id="other scripts"),
    ],
)
def test_the_estimate_of_a_text(text: str, tokens: int) -> None:
    assert estimate_tokens([text]) == [tokens] == [part_by_part(text)]


@pytest.mark.parametrize("alphabet", [string.printable, "aAbB._(", "AaZz", "([{<A1é_ \n", "日本ÄßЖ aA."])
def test_the_estimate_is_that_of_its_parts(alphabet: str) -> None:
    chance = random.Random(alphabet)
    texts = ["".join(chance.choices(alphabet, k=chance.randint(0, 40))) for _ in range(500)]
    assert estimate_tokens(texts) == [part_by_part(text) for text in texts]
