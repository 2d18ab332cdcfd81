"""Full-text search of the catalog: words of identifiers, within one tenant, of what is served."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from rag_assets.index.catalog.fulltext import search_text
from rag_assets.index.catalog.history import Tenant
from rag_assets.index.vectors.filters import ScopeError, SearchScope
from rag_assets_tests.index.catalog.conftest import KINDS, LABEL, Catalog, catalog_of, point
from rag_assets_tests.index.sample_points import COUNT, SCOPES, TENANTS, allowed, payload

POINTS = [
    point(1, "Artifact: Shop.RefundOrders\nPurpose: Pays customers back.", Symbol="Shop.RefundOrders"),
    point(2, "Artifact: Shop.Order", Symbol="Shop.Order"),
    point(3, "Purpose: Über größe, naïve 注文 and utf8_text", Symbol="Shop.Ünïcode"),
]


def found(catalog: Catalog, query: str, scope: SearchScope | None = None) -> list[str]:
    with catalog.opened() as database:
        return [hit.symbol for hit in search_text(database, query, scope or catalog.scope(), 10)]


@pytest.mark.rule("E06")
@pytest.mark.parametrize(
    ("query", "symbols"),
    [
        ("refund", ["Shop.RefundOrders"]),
        ("RefundOrder", ["Shop.RefundOrders"]),
        ("refund_orders customers", ["Shop.RefundOrders"]),
        ("order", ["Shop.Order", "Shop.RefundOrders"]),
        ("refund invoices", []),
        ("File1.cs", ["Shop.RefundOrders"]),
        ("GRÖSSE", []),
        ("größe", ["Shop.Ünïcode"]),
        ("注文", ["Shop.Ünïcode"]),
        ("utf8", ["Shop.Ünïcode"]),
        ("'; DROP TABLE rag_chunks; --", []),
        ('" OR * NOT (', []),
        ("& | ! <-> :*", []),
        ("", []),
    ],
    ids=str,
)
def test_words_are_found_in_text_symbol_and_path(filled: Catalog, query: str, symbols: list[str]) -> None:
    assert sorted(found(filled, query)) == symbols


def test_a_hit_says_where_it_is(filled: Catalog) -> None:
    with filled.opened() as database:
        (hit,) = search_text(database, "refund", filled.scope(), 10)
    assert (hit.path, hit.start_line, hit.end_line, hit.kind) == ("src/File1.cs", 1, 2, "Model")
    assert (hit.index_label, hit.generation_id, hit.point_id) == (LABEL, "g1", POINTS[0].id)
    assert hit.text.startswith("Artifact: Shop.RefundOrders") and hit.score > 0


def test_only_what_is_served_is_found(catalog: Catalog) -> None:
    catalog.build("g1", POINTS)
    catalog.build("g2", [point(2, "Artifact: Shop.Basket", Symbol="Shop.Basket")])
    assert (found(catalog, "order"), found(catalog, "basket")) == ([], ["Shop.Basket"])
    catalog.publish("g1")
    assert sorted(found(catalog, "order")) == ["Shop.Order", "Shop.RefundOrders"]
    catalog.bring("g3", [])
    assert found(catalog, "refund") == ["Shop.RefundOrders"]


def test_the_limit_cuts_equal_scores_by_id(catalog: Catalog) -> None:
    same = [point(number, "Purpose: the same words") for number in range(30)]
    catalog.build("g1", [replace(one, payload=one.payload | {"Symbol": "S", "Path": "src/File0.cs"}) for one in same])
    with catalog.opened() as database:
        hits = search_text(database, "same words", catalog.scope(), 7)
    assert [hit.point_id for hit in hits] == sorted(one.id for one in same)[:7]


@pytest.mark.rule("B02", "R17")
@pytest.mark.parametrize("name", SCOPES)
def test_a_scope_finds_what_the_obvious_filter_finds(catalog_of_tenants: Catalog, name: str) -> None:
    scope = SCOPES[name]
    with catalog_of_tenants.opened() as database:
        hits = search_text(database, "shop", scope, COUNT)
    assert sorted(hit.symbol for hit in hits) == sorted(payload(number)["Symbol"] for number in allowed(scope))


@pytest.fixture(scope="module", params=KINDS)
def filled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Catalog]:
    with pytest.MonkeyPatch.context() as patch:
        made = catalog_of(request.param, tmp_path_factory.mktemp("filled"), patch)
        made.build("g1", POINTS)
        yield made


@pytest.fixture(scope="module", params=KINDS)
def catalog_of_tenants(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Catalog]:
    with pytest.MonkeyPatch.context() as patch:
        made = catalog_of(request.param, tmp_path_factory.mktemp("tenants"), patch)
        for org, project in TENANTS:
            tenant = Catalog(made.settings, Tenant(org, project, f"{project}@main"))
            mine = [number for number in range(COUNT) if TENANTS[number % len(TENANTS)] == (org, project)]
            points = [replace(point(number), payload=payload(number)) for number in mine]
            tenant.paths = sorted({one.payload["Path"] for one in points})
            tenant.build("g1", points)
        yield made


def test_without_a_tenant_there_is_no_search() -> None:
    with pytest.raises(ScopeError):
        SearchScope(org_id="", project_id="shop")
