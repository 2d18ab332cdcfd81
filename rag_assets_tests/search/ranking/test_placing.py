"""Files of candidates are read once."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_assets import Index
from rag_assets.index.generations import active_generation
from rag_assets.index.layout import IndexHome
from rag_assets.index.vectors.filters import SearchScope
from rag_assets.index.vectors.vector_api import FileRef
from rag_assets.search.retrieve import PathCache
from rag_assets_tests.search.small_index import LABEL, SHOP, build


@pytest.fixture
def index(tmp_path: Path) -> Index:
    home = IndexHome(tmp_path)
    build(home)
    return Index(home, active_generation(home, LABEL))


def test_a_section_is_looked_up_once(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    shard, placing = index.parts.shard(), PathCache()
    asked: list[list[str]] = []
    places = shard.places

    def noted(ids: list[str], scope: SearchScope) -> dict[str, FileRef]:
        asked.append(list(ids))
        return places(ids, scope)

    monkeypatch.setattr(shard, "places", noted)
    ids = [section.point_id for section in SHOP]
    first = placing.of(ids[:3], shard, index.scope())
    both = placing.of(ids[:4], shard, index.scope())
    assert asked == [ids[:3], [ids[3]]]
    assert first == {section.point_id: FileRef(LABEL, section.path) for section in SHOP[:3]}
    assert set(both) == set(ids[:4])


def test_what_the_store_does_not_give_out_has_no_place(index: Index) -> None:
    unknown = "00000000-0000-0000-0000-000000000000"
    assert PathCache().of([unknown], index.parts.shard(), index.scope()) == {}
