"""What a text of the longest length costs before anything is searched: no pattern looks through it from each of its
characters."""

import pytest

from rag_assets import open_index
from rag_assets.qa.turn import MAX_QUESTION_CHARS
from rag_assets_tests.effort import ends_within
from rag_assets_tests.qa.conftest import Shop


@pytest.mark.parametrize("before", ["what", "what is the "])
@pytest.mark.parametrize(
    "repeated",
    [*"aA1_é.@/\\`\"'(<[{:-|\n\t", "a ", "a.", "a; ", "@ ", "A(", "a: ", "what is ", "at A.B(\n", "-> "],
)
def test_a_text_of_one_thing_again_and_again_is_answered_soon(shop_indexes: Shop, before: str, repeated: str) -> None:
    _answered_soon(shop_indexes, before, repeated)


@pytest.mark.parametrize(("before", "repeated"), [("where is the ", "A_a"), ("is there a test for ", "A b ")])
def test_a_text_of_one_name_or_many_that_may_be_technologies_is_answered_soon(
    shop_indexes: Shop, before: str, repeated: str
) -> None:
    _answered_soon(shop_indexes, before, repeated)


def _answered_soon(shop_indexes: Shop, before: str, repeated: str) -> None:
    question = before + repeated * ((MAX_QUESTION_CHARS - len(before)) // len(repeated))
    with open_index(shop_indexes.label, home=shop_indexes.home.root) as index, ends_within(2):
        assert index.ask(question).text
