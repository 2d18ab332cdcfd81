"""An index that was opened for a part of itself: nothing outside is found, whatever a search asks for."""

from __future__ import annotations

import pytest

from rag_assets import QueryError, open_index, open_indexes
from rag_assets.index.vectors.filters import SearchFilters
from rag_assets_tests.qa.conftest import Shop, shop_indexes

__all__ = ["shop_indexes"]


def paths(
    label: str, shop: Shop, view: SearchFilters, query: str = "orders refunds invoices", **options: object
) -> set[str]:
    with open_index(label, home=shop.home.root, view=view) as index:
        return {hit.path for hit in index.search(query, limit=50, **options)}  # type: ignore[arg-type]


@pytest.mark.rule("R17")
@pytest.mark.parametrize(
    ("view", "seen"),
    [
        (SearchFilters(paths=("db/",)), {"db/tables.sql"}),
        (SearchFilters(source_types=("document",)), {"README.md"}),
        (SearchFilters(languages=("C#",), paths=("src/Shipping/",)), {"src/Shipping/Parcel.cs"}),
    ],
)
def test_nothing_outside_of_the_view_is_found(shop_indexes: Shop, view: SearchFilters, seen: set[str]) -> None:
    assert paths(shop_indexes.label, shop_indexes, view) <= seen
    for mode in ("bm25", "semantic", "hybrid"):
        assert paths(shop_indexes.label, shop_indexes, view, mode=mode) <= seen
    with open_index(shop_indexes.label, home=shop_indexes.home.root, view=view) as index:
        assert {hit.path for hit in index.search("path:**", limit=50)} == seen


def test_a_search_cannot_widen_the_view(shop_indexes: Shop) -> None:
    view = SearchFilters(paths=("db/",))
    assert paths(shop_indexes.label, shop_indexes, view, "path:src/ orders") == set()
    assert paths(shop_indexes.label, shop_indexes, view, filters=SearchFilters(paths=("src/",))) == set()


def test_a_point_outside_of_the_view_cannot_be_opened(shop_indexes: Shop) -> None:
    with open_index(shop_indexes.label, home=shop_indexes.home.root) as index:
        hit = index.search("RefundOrder", limit=1)[0]
    view = SearchFilters(paths=("db/",))
    with open_index(shop_indexes.label, home=shop_indexes.home.root, view=view) as index, pytest.raises(QueryError):
        index.get(hit.point_id)


def test_an_answer_keeps_to_the_view(shop_indexes: Shop) -> None:
    view = SearchFilters(source_types=("document",))
    with open_index(shop_indexes.label, home=shop_indexes.home.root, view=view) as index:
        found = index.ask("what does OrderService do")
    assert {piece.path for piece in found.evidence} <= {"README.md"}


def test_several_labels_have_one_view(shop_indexes: Shop) -> None:
    labels = [shop_indexes.label, shop_indexes.later]
    with open_indexes(labels, home=shop_indexes.home.root, view=SearchFilters(paths=("db/",))) as group:
        assert {hit.path for hit in group.search("orders refunds invoices", limit=50)} <= {"db/tables.sql"}


def test_a_kind_that_nobody_knows(shop_indexes: Shop) -> None:
    opened = open_index(shop_indexes.label, home=shop_indexes.home.root, view=SearchFilters(kinds=("Servce",)))
    with opened as index, pytest.raises(QueryError, match="did you mean Service"):
        index.search("orders")
