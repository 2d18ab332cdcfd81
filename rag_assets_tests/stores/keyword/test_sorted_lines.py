"""Files of sorted lines: what is found by a whole key, and by its beginning."""

from __future__ import annotations

import pytest

from rag_assets.stores.keyword.sorted_lines import find_line, keys_starting

KEYS = ["a", "ab", "abc", "b", "bé", "b\x01", "order", "orders", "z"]
LINES = "".join(f"{key}\t{key}-1\t2\n" for key in sorted(KEYS, key=str.encode)).encode()


@pytest.mark.parametrize("key", KEYS)
def test_every_key_is_found_with_its_fields(key: str) -> None:
    assert find_line(LINES, key) == [f"{key}-1".encode(), b"2"]


@pytest.mark.parametrize("key", ["", "aa", "orde", "orderx", "zz", "order\t", "\ud800"])
def test_other_keys_are_not_found(key: str) -> None:
    assert find_line(LINES, key) is None
    assert find_line(b"", key) is None


@pytest.mark.parametrize("beginning", ["", "a", "ab", "abc", "abcd", "b", "o", "orders", "y", "z", "zz", "\ud800"])
def test_keys_with_a_beginning_are_those_of_a_full_scan(beginning: str) -> None:
    expected = [key for key in sorted(KEYS, key=str.encode) if key.startswith(beginning)]
    assert list(keys_starting(LINES, beginning)) == expected
    assert list(keys_starting(b"", beginning)) == []
