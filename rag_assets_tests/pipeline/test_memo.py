"""Memos of items: what is made once, what is made again, and what an interrupted build keeps."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_assets.contracts.identity import cache_key
from rag_assets.dependency_trace import tracked
from rag_assets.index.cache import Cache
from rag_assets.index.layout import IndexHome
from rag_assets.pipeline.build import IndexBuild
from rag_assets.pipeline.memo import ITEM_MEMOS, BucketMemo, ItemMemo
from rag_assets_tests.pipeline.bucket_work import build_of_buckets, told_bucket

KEYS = [cache_key(str(number)) for number in range(5)]


@pytest.fixture
def home(tmp_path: Path) -> IndexHome:
    return IndexHome(tmp_path)


@pytest.fixture
def squares() -> Iterator[ItemMemo[int]]:
    yield ItemMemo("squares", int, lambda directory: KEYS, batch=2)
    del ITEM_MEMOS["squares"]


def square(number: int) -> int:
    return number * number


def test_a_value_is_made_once(home: IndexHome, squares: ItemMemo[int]) -> None:
    with squares.open(home) as memo:
        assert list(memo.each(KEYS[:3], square)) == [(0, True), (1, True), (4, True)]
    with squares.open(home) as memo:
        assert list(memo.each(KEYS, square)) == [(0, False), (1, False), (4, False), (9, True), (16, True)]
        assert memo.known(KEYS[1:2]) == {KEYS[1]: 1}
    with squares.open(home, fresh=True) as memo:
        assert memo.known(KEYS) == {} and list(memo.each(KEYS[:1], square)) == [(0, True)]


def test_a_value_that_does_not_hold_is_made_again_and_replaced(home: IndexHome, squares: ItemMemo[int]) -> None:
    with squares.open(home) as memo:
        memo.keep([(KEYS[3], 10)])
    for is_new in (True, False):
        with squares.open(home) as memo:
            assert list(memo.each(KEYS[3:4], lambda row: 11, holds=lambda row, value: value == 11 - row)) == [
                (11, is_new)
            ]


def test_an_interrupted_build_loses_less_than_a_batch(home: IndexHome, squares: ItemMemo[int]) -> None:
    with pytest.raises(KeyboardInterrupt), squares.open(home) as memo:
        for number, key in enumerate(KEYS):
            memo.keep([(key, number)])
            if number == 2:
                raise KeyboardInterrupt
    with squares.open(home) as memo:
        assert memo.known(KEYS) == {KEYS[0]: 0, KEYS[1]: 1}


def test_bytes_are_kept_as_they_are(home: IndexHome) -> None:
    memo = ItemMemo("vectors", bytes, lambda directory: ())
    try:
        with memo.open(home) as values:
            values.keep([(KEYS[0], b"\x00\xff")])
        with Cache(home.cache, "vectors") as cache:
            assert cache.get_many(KEYS) == {KEYS[0]: b"\x00\xff"}
    finally:
        del ITEM_MEMOS["vectors"]


def text_of(build: IndexBuild, bucket: int) -> str:
    return f"bucket {bucket}"


def test_buckets_of_another_kind_are_made_again_in_their_order(tmp_path: Path) -> None:
    build = build_of_buckets(tmp_path, 4, processes=1)
    keys = [KEYS[number].hex() for number in range(4)]
    numbers, texts = BucketMemo("any", int, version="1"), BucketMemo("any", str, version="1")
    for bucket in (0, 2):
        numbers.keep(build, bucket, keys[bucket], bucket)
    texts.keep(build, 3, keys[3], text_of(build, 3))
    known: list[set[int]] = []
    for reused in ([False, False, False, True], [True] * 4):
        found = list(texts.map(build, keys, text_of, meanwhile=lambda buckets: known.append(set(buckets))))
        assert [(part.result, part.reused) for part in found] == [
            (text_of(build, bucket), was_there) for bucket, was_there in enumerate(reused)
        ]
    assert known == [{3}, {0, 1, 2, 3}]


class Told:
    def __init__(self, answers: dict[str, int]) -> None:
        self._answers = answers

    @tracked("told")
    def told(self, name: str) -> int:
        return self._answers[name]


def test_buckets_come_in_order_whether_new_or_told_something_else_or_known(tmp_path: Path) -> None:
    build, memo = build_of_buckets(tmp_path, 4), BucketMemo("told", int, version="1", files=True)

    def made(keys: list[bytes], *answers: int) -> list[tuple[int, bool]]:
        told = {str(bucket): answer for bucket, answer in enumerate(answers)}
        parts = memo.map(build, [key.hex() for key in keys], told_bucket, told, services=[Told(told)])
        return [(part.result, part.reused) for part in parts]

    assert made(KEYS[:4], 1, 2, 3, 4) == [(1, False), (2, False), (3, False), (4, False)]
    assert made(KEYS[:4], 1, 2, 3, 4) == [(1, True), (2, True), (3, True), (4, True)]
    assert made(KEYS[:4], 1, 5, 3, 6) == [(1, True), (5, False), (3, True), (6, False)]
    assert made([KEYS[0], KEYS[1], KEYS[4], KEYS[3]], 1, 2, 3, 7) == [(1, True), (2, True), (3, False), (7, False)]
