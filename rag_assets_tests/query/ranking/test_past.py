"""What past commits say of the files of candidates, over one label or several."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_assets.query.ranking.past import past_shares
from rag_assets.stores.keyword.past import Past, write_past
from rag_assets.stores.points import Place


@pytest.fixture
def pasts(tmp_path: Path) -> dict[str, Past]:
    """Two labels with a file of one path and different histories."""
    made = {}
    for label, subjects in (("shop@main", ["Round totals"]), ("shop@next", ["Round totals", "Print labels", "Other"])):
        (tmp_path / label).mkdir()
        write_past(tmp_path / label, {"Order.cs": subjects, "Cart.cs": ["Empty the cart"]})
        made[label] = Past(tmp_path / label)
    return made


def test_the_best_file_has_all_and_silent_ones_nothing(pasts: dict[str, Past]) -> None:
    places = [Place("shop@main", "Order.cs"), Place("shop@main", "Cart.cs"), Place("shop@next", "Order.cs")]
    found = past_shares(pasts.get, places, {"round": 1.0})
    assert found[places[0]] == 1.0
    assert 0 < found[places[2]] < 1
    assert places[1] not in found


def test_only_candidates_count(pasts: dict[str, Past]) -> None:
    """A file that was not found, because it may not be seen, changes no score."""
    alone = Place("shop@next", "Order.cs")
    assert past_shares(pasts.get, [alone], {"round": 1.0}) == {alone: 1.0}


@pytest.mark.parametrize("label", ["shop@gone", ""], ids=["unknown label", "no label"])
def test_a_label_without_past_says_nothing(pasts: dict[str, Past], label: str) -> None:
    assert past_shares(pasts.get, [Place(label, "Order.cs")], {"round": 1.0}) == {}
