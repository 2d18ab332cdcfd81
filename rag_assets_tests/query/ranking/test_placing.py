"""Files of candidates are read once."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_assets.query import Index
from rag_assets.query.ranking.placing import Placing
from rag_assets.stores.filters import SearchFilter
from rag_assets.stores.generations import active_generation
from rag_assets.stores.home import Home
from rag_assets.stores.points import Place
from rag_assets_tests.query.small_index import LABEL, SHOP, build


@pytest.fixture
def index(tmp_path: Path) -> Index:
    home = Home(tmp_path)
    build(home)
    return Index(home, active_generation(home, LABEL))


def test_a_section_is_looked_up_once(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    shard, placing = index.parts.shard(), Placing()
    asked: list[list[str]] = []
    places = shard.places

    def noted(ids: list[str], scope: SearchFilter) -> dict[str, Place]:
        asked.append(list(ids))
        return places(ids, scope)

    monkeypatch.setattr(shard, "places", noted)
    ids = [section.point_id for section in SHOP]
    first = placing.of(ids[:3], shard, index.scope())
    both = placing.of(ids[:4], shard, index.scope())
    assert asked == [ids[:3], [ids[3]]]
    assert first == {section.point_id: Place(LABEL, section.path) for section in SHOP[:3]}
    assert set(both) == set(ids[:4])


def test_what_the_store_does_not_give_out_has_no_place(index: Index) -> None:
    unknown = "00000000-0000-0000-0000-000000000000"
    assert Placing().of([unknown], index.parts.shard(), index.scope()) == {}
