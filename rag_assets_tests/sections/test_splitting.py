"""Token-aware splitting (R18, R19, A25, A26): parts fit, cover everything in order, and repeat the header."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.sections.splitter import (
    ELLIPSIS,
    MIN_BUDGET,
    SPECIAL_TOKENS,
    budget_of,
    fit_each,
    fit_lines,
    pack,
    shortened,
    split,
)
from rag_assets_tests.sections.windows import COUNTERS, CallCounter, window, words

LINES = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=80)
COUNTER = st.sampled_from(sorted(COUNTERS))
WINDOW = st.integers(MIN_BUDGET + SPECIAL_TOKENS, 120)


@pytest.mark.rule("R18")
@given(header=st.lists(LINES, max_size=4), blocks=st.lists(LINES, max_size=30), tokens=WINDOW, counter=COUNTER)
def test_parts_fit_and_cover_all_blocks_in_order(
    header: list[str], blocks: list[str], tokens: int, counter: str
) -> None:
    """R18: no part above the window, whatever the tokenizer; every block in exactly one part."""
    found = window(tokens, COUNTERS[counter])
    parts = split(header, blocks, found)
    assert [part.first for part in parts] == [0, *[part.stop for part in parts[:-1]]]
    assert parts[-1].stop == len(blocks)
    for part in parts:
        assert found.count([part.text])[0] <= tokens - SPECIAL_TOKENS
        assert part.stop > part.first or not blocks
    assert split(header, blocks, found) == parts


@given(blocks=st.lists(st.text("ab ", max_size=30), min_size=1, max_size=20), tokens=WINDOW)
def test_blocks_that_fit_are_not_touched(blocks: list[str], tokens: int) -> None:
    """Only what is too long alone is shortened; a part is the header and its blocks, line by line."""
    short = [" ".join(block.split()[:5]) for block in blocks]
    for part in split(["Kind: Test"], short, window(tokens)):
        assert part.text.split("\n") == ["Kind: Test", *short[part.first : part.stop]]


def test_everything_that_fits_is_one_part_after_one_count() -> None:
    count = CallCounter()
    parts = split(["a b"], ["c d", "e"], window(256, count))
    assert [(part.text, part.tokens) for part in parts] == [("a b\nc d\ne", 5)]
    assert count.calls == [1]


@pytest.mark.rule("R18")
def test_three_hundred_methods() -> None:
    """R18: a class with 300 methods works, in few batched counts, and no part is nearly empty but the last."""
    count = CallCounter()
    blocks = [f"Task<Order> Method{number}(Order order, int count)" for number in range(300)]
    parts = split(["Kind: Service", "Artifact: Shop.Orders"], blocks, window(256, count))
    assert len(count.calls) <= 3
    assert sum(part.stop - part.first for part in parts) == 300
    assert all(part.tokens > 200 for part in parts[:-1])


def test_a_block_that_is_too_long_alone_is_shortened() -> None:
    """A member with a 10,000-character signature: cut with `…`, its neighbours stay whole."""
    long = "void Configure(" + ", ".join(f"int parameter{i}" for i in range(600)) + ")"
    assert len(long) > 10_000
    parts = split(["Kind: Service"], ["void A()", long, "void B()"], window(64))
    text = "\n".join(part.text for part in parts)
    assert "void A()" in text and "void B()" in text
    assert "void Configure(int parameter0, int parameter1" in text
    assert ELLIPSIS in text
    assert all(part.tokens <= 62 for part in parts)


def test_a_long_header_leaves_room_for_blocks() -> None:
    """The header shrinks to its share, the longest line first; short lines stay whole."""
    header = ["Kind: Service", "Purpose: " + "word " * 500]
    parts = split(header, ["void A(int x)"] * 40, window(64))
    assert all(part.text.startswith("Kind: Service\nPurpose: word word") for part in parts)
    assert all(part.stop - part.first >= 3 for part in parts[:-1])


def test_a_long_header_without_blocks_uses_the_whole_window() -> None:
    parts = split(["Purpose: " + "word " * 500], [], window(64))
    assert len(parts) == 1
    assert 55 <= parts[0].tokens <= 62


@pytest.mark.parametrize("tokens", [0, 1, MIN_BUDGET + SPECIAL_TOKENS - 1])
def test_a_window_nothing_fits_into_is_an_error(tokens: int) -> None:
    with pytest.raises(ValueError, match=rf"test-model: a window of {tokens} tokens is too small"):
        budget_of(window(tokens))


@pytest.mark.parametrize(
    ("sizes", "room", "ranges"),
    [
        ([], 5, [(0, 0)]),
        ([5], 5, [(0, 1)]),
        ([3, 3, 3], 6, [(0, 2), (2, 3)]),
        ([9, 1, 9], 5, [(0, 1), (1, 2), (2, 3)]),
        ([0, 0, 0], 0, [(0, 3)]),
    ],
    ids=["nothing", "exact", "greedy", "too-long-alone", "empty-blocks"],
)
def test_packing(sizes: list[int], room: int, ranges: list[tuple[int, int]]) -> None:
    assert pack(sizes, room) == ranges


def test_lines_give_way_by_length() -> None:
    lines = ["a", "b " * 30, "c " * 50]
    fitted, used = fit_lines(lines, words(lines), 41, window())
    assert fitted[0] == "a"
    assert used <= 41
    assert abs(words([fitted[1]])[0] - words([fitted[2]])[0]) <= 4


def test_a_dense_beginning_still_leaves_something() -> None:
    """The average says nothing about the first characters; the bound by UTF-8 bytes does."""
    text = "注" * 100 + "a" * 10_000
    (fitted,), (tokens,) = fit_each([text], [len(text.encode())], 60, window(64, COUNTERS["bytes"]))
    assert fitted.startswith("注注注注注注注注")
    assert tokens <= 60


def test_no_room_at_all_leaves_nothing() -> None:
    assert fit_each(["a b c"], [3], 0, window()) == ([""], [0])


@pytest.mark.parametrize(
    ("text", "length", "expected"),
    [
        ("short", 10, "short"),
        ("one two three", 9, "one two…"),
        ("unbreakable", 5, "unbre…"),
        ("void M(int a, int b)", 13, "void M(int a…"),
    ],
)
def test_shortening_cuts_at_blanks(text: str, length: int, expected: str) -> None:
    assert shortened(text, length) == expected
