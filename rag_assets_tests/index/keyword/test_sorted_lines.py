"""Files of sorted lines: what is found by a whole key, and by its beginning."""

from __future__ import annotations

import pytest

from rag_assets.index.keyword import vocabulary
from rag_assets.index.keyword.vocabulary import SortedStringTable

KEYS = ["a", "ab", "abc", "b", "bé", "b\x01", "order", "orders", "z"]
LINES = "".join(f"{key}\t{key}-1\t2\n" for key in sorted(KEYS, key=str.encode)).encode()
NONE = SortedStringTable(b"")


@pytest.fixture(params=[1, 8, 25, 4096], ids=["line by line", "two lines", "some lines", "one block"])
def lines(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> SortedStringTable:
    monkeypatch.setattr(vocabulary, "_BLOCK", request.param)
    return SortedStringTable(LINES)


@pytest.mark.parametrize("key", KEYS)
def test_every_key_is_found_with_its_fields(lines: SortedStringTable, key: str) -> None:
    assert lines.find(key) == [f"{key}-1".encode(), b"2"]


@pytest.mark.parametrize("key", ["", "aa", "orde", "orderx", "zz", "order\t", "\ud800", "\n"])
def test_other_keys_are_not_found(lines: SortedStringTable, key: str) -> None:
    assert lines.find(key) is None
    assert NONE.find(key) is None


@pytest.mark.parametrize(
    "beginning", ["", "0", "a", "ab", "abc", "abcd", "b", "bz", "o", "orders", "y", "z", "zz", "\ud800"]
)
def test_keys_with_a_beginning_are_those_of_a_full_scan(lines: SortedStringTable, beginning: str) -> None:
    assert lines.starting(beginning) == [key for key in sorted(KEYS, key=str.encode) if key.startswith(beginning)]
    assert NONE.starting(beginning) == []


def test_what_is_no_such_line_is_refused() -> None:
    with pytest.raises(ValueError, match="not found"):
        SortedStringTable(b"no tab\n")
