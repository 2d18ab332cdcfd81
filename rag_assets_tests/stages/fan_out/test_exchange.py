"""What groups of buckets are made, where they exchange files, and what they say of themselves."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.stages.build import StageReport
from rag_assets.stages.fan_out.exchange import (
    Group,
    GroupWork,
    exchange_folder,
    free_work_file,
    leave_group,
    note_work,
    shared_out,
    with_groups,
    work_of,
)
from rag_assets.stores.home import Home


@pytest.mark.parametrize(
    ("texts", "most", "least", "found"),
    [
        ([10, 10, 10, 10], 2, 1, [(0, 1, 20), (2, 3, 20)]),
        ([10, 10, 10, 10], 4, 20, [(0, 1, 20), (2, 3, 20)]),
        ([40, 1, 1, 1], 2, 1, [(0, 0, 40), (1, 3, 3)]),
        ([0, 0, 10, 0, 10, 0], 8, 1, [(2, 2, 10), (4, 4, 10)]),
        ([10, 10], 8, 21, []),
        ([10, 10], 1, 1, []),
        ([0, 0], 8, 1, []),
        ([5], 8, 1, []),
    ],
    ids=["halves", "least", "one-large", "empty-ones", "too-few", "one-group", "nothing", "one-bucket"],
)
def test_groups(texts: list[int], most: int, least: int, found: list[tuple[int, int, int]]) -> None:
    assert shared_out(texts, most=most, least=least) == [Group(*group) for group in found]


@given(st.lists(st.integers(0, 500), min_size=1, max_size=80), st.integers(2, 20), st.integers(1, 50))
def test_every_text_is_in_one_group_and_there_are_not_too_many(texts: list[int], most: int, least: int) -> None:
    groups = shared_out(texts, most=most, least=least)
    assert len(groups) <= most
    assert all(group.texts == sum(texts[bucket] for bucket in group.members) > 0 for group in groups)
    covered = [bucket for group in groups for bucket in group.members]
    assert covered == sorted(set(covered))
    if groups:
        assert sum(group.texts for group in groups) == sum(texts)
        largest = max(group.texts for group in groups)
        assert largest <= sum(texts) / min(most, sum(texts) // least) + max(texts)


@pytest.mark.parametrize("name", ["../other", "a/b"])
def test_an_exchange_stays_inside_its_label(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="not a generation id"):
        exchange_folder(Home(tmp_path), "shop@main", "embeddings", name)


def test_every_attempt_at_a_group_is_told(tmp_path: Path) -> None:
    first, other = GroupWork("part-000000-000003", 7, 0), GroupWork("part-000004-000007", 5, 0)
    for work in (first, other):
        note_work(free_work_file(tmp_path, work.group), work)
    leave_group(tmp_path, first.group, "KeyError: 1")
    assert [(work.group, work.error) for work in work_of(tmp_path)] == [
        (first.group, ""),
        (first.group, "KeyError: 1"),
        (other.group, ""),
    ]
    assert work_of(tmp_path, other.group) == [other]


def test_a_report_says_what_all_groups_did_and_the_stage_itself() -> None:
    report = StageReport(stage="s", version="1", inputs="i", output="o", work={"calls": 2, "cached": 9}, problems=["p"])
    groups = [GroupWork("a", 4, 0, spent={"calls": 5}), GroupWork("b", 3, 0, error="KeyError: 1")]
    found = with_groups(report, groups, {"calls": 5, "cached": -7})
    assert found.work == {"calls": 7, "cached": 2}
    assert [(row["group"], row["calls"]) for row in found.tables["groups"]] == [("a", 5), ("b", 0)]
    assert found.problems == ["p", "b: KeyError: 1"]
    assert with_groups(report, [], {}) is report
