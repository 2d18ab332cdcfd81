"""What past commits say of the files of candidates, over one label or several."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_assets.index.keyword.commit_subjects import CommitSubjects, write_past
from rag_assets.index.vectors.vector_api import FileRef
from rag_assets.search.ranking.signals import past_shares


@pytest.fixture
def pasts(tmp_path: Path) -> dict[str, CommitSubjects]:
    """Two labels with a file of one path and different histories."""
    made = {}
    for label, subjects in (("shop@main", ["Round totals"]), ("shop@next", ["Round totals", "Print labels", "Other"])):
        (tmp_path / label).mkdir()
        write_past(tmp_path / label, {"Order.cs": subjects, "Cart.cs": ["Empty the cart"]})
        made[label] = CommitSubjects(tmp_path / label)
    return made


def test_the_best_file_has_all_and_silent_ones_nothing(pasts: dict[str, CommitSubjects]) -> None:
    places = [FileRef("shop@main", "Order.cs"), FileRef("shop@main", "Cart.cs"), FileRef("shop@next", "Order.cs")]
    found = past_shares(pasts.get, places, {"round": 1.0})
    assert found[places[0]] == 1.0
    assert 0 < found[places[2]] < 1
    assert places[1] not in found


def test_only_candidates_count(pasts: dict[str, CommitSubjects]) -> None:
    """A file that was not found, because it may not be seen, changes no score."""
    alone = FileRef("shop@next", "Order.cs")
    assert past_shares(pasts.get, [alone], {"round": 1.0}) == {alone: 1.0}


@pytest.mark.parametrize("label", ["shop@gone", ""], ids=["unknown label", "no label"])
def test_a_label_without_past_says_nothing(pasts: dict[str, CommitSubjects], label: str) -> None:
    assert past_shares(pasts.get, [FileRef(label, "Order.cs")], {"round": 1.0}) == {}
