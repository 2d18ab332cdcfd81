"""Searching an index: modes, filters, evidence, fallbacks, isolation."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from rag_assets import Index, QueryError, SearchResult, open_index
from rag_assets.index.layout import IndexHome
from rag_assets.index.vectors.filters import ScopeError, SearchFilters
from rag_assets.models.static_code.embedder import MODEL_ID
from rag_assets_tests.search.small_index import FOREIGN, LABEL, SHOP, Section, build


def symbols(result: SearchResult) -> list[str]:
    return [hit.symbol.rsplit(".", 1)[-1] for hit in result]


@pytest.mark.rule("D13")
@pytest.mark.parametrize(
    ("query", "mode", "first"),
    [
        ("OrderService", "bm25", "OrderService"),
        ("order service", "bm25", "OrderService"),
        ("IOrderRepository", "hybrid", "IOrderRepository"),
        ("smtp client factories", "bm25", "SmtpClientFactory"),
        ("reimbursement limits for goods sent back", "semantic", "RefundPolicy"),
        ("reimbursement limits for goods sent back", "hybrid", "RefundPolicy"),
        ("connect to an e-mail server", "hybrid", "SmtpClientFactory"),
        ("CREATE TABLE dbo.Orders", "hybrid", "Orders"),
    ],
)
def test_the_expected_section_comes_first(shop: Index, query: str, mode: str, first: str) -> None:
    result = shop.search(query, mode=mode)
    assert symbols(result)[0] == first
    assert (result.mode, result.requested_mode, result.warnings) == (mode, mode, ())
    assert [hit.score for hit in result] == sorted((hit.score for hit in result), reverse=True)


def test_a_hit_carries_all_evidence(shop: Index) -> None:
    result = shop.search("OrderService", limit=1)
    hit = result.hits[0]
    expected = SHOP[1]
    assert (hit.path, hit.start_line, hit.end_line) == (expected.path, 3, 30)
    assert (hit.symbol, hit.kind, hit.code_language) == (expected.symbol, "Service", "csharp")
    assert (hit.point_id, hit.semantic_id) == (expected.point_id, expected.semantic_id)
    assert (hit.section_key, hit.part_index, hit.part_total) == ("overview", 1, 1)
    assert hit.text == expected.snippet
    assert hit.title == f"class: {expected.symbol} - overview (Chunk 1 of 1)"
    assert hit.slice_uri.startswith(hit.document_uri)
    assert hit.description_uri.startswith(hit.document_uri)
    assert hit.commit_sha == result.commit_sha == "c" * 40
    assert (hit.label, hit.generation_id, hit.run_id) == (LABEL, result.generation_id, "run-1")
    raw = {"dense", "dense_normalised", "bm25", "bm25_normalised"}
    assert set(hit.scores) == raw | {"sparse_weighted", "dense_weighted", "filename_boost"}
    assert set(result.timings) == {"open", "embed", "dense", "bm25", "rank", "fetch", "members", "total"}


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ({"kinds": ["test"]}, {"OrderServiceTests"}),
        ({"kinds": ["Interface", "MODEL"]}, {"IOrderRepository", "Order"}),
        ({"languages": ["SQL"]}, {"Orders"}),
        ({"paths": "src/Orders"}, {"OrderService", "IOrderRepository", "Order"}),
        ({"paths": "src/**/*Service.cs"}, {"OrderService"}),
        ({"paths": ["tests/", "*.sql"]}, {"OrderServiceTests", "Orders"}),
        ({"paths": ".\\src\\Orders\\Order.cs"}, {"Order"}),
        ({"paths": "src", "kinds": ["Service"]}, {"OrderService", "RefundPolicy"}),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
@pytest.mark.parametrize("mode", ["hybrid", "semantic"])
def test_conditions_hold_for_every_hit(shop: Index, mode: str, conditions: dict[str, Any], expected: set[str]) -> None:
    assert set(symbols(shop.search("orders of a customer", mode=mode, filters=SearchFilters(**conditions)))) == expected


@pytest.mark.rule("R17")
def test_k_stays_k_under_a_condition(shop: Index) -> None:
    """R17: filtered before the top k, so the one test is found although others fit the question better."""
    assert symbols(shop.search("creates an order", limit=1, filters=SearchFilters(kinds=("Test",)))) == [
        "OrderServiceTests"
    ]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"query": ""}, "empty"),
        ({"query": " \n"}, "empty"),
        ({"query": "x", "limit": 0}, "at least 1"),
        ({"query": "x", "mode": "fuzzy"}, "hybrid, semantic, semantic_rerank, bm25"),
        ({"query": "x", "filters": SearchFilters(kinds=("Servce",))}, "did you mean Service"),
        ({"query": "x", "filters": SearchFilters(kinds=("qqqq",))}, "valid: DomainDescription"),
    ],
    ids=["empty", "blank", "limit", "mode", "near kind", "no kind"],
)
def test_a_wrong_argument_is_explained(lexical: Index, arguments: dict[str, Any], says: str) -> None:
    with pytest.raises(QueryError, match=says):
        lexical.search(**arguments)


@pytest.mark.parametrize("path", ["", "./", ["src", " "]], ids=["empty", "root", "blank in a list"])
def test_an_empty_path_is_refused_not_widened(lexical: Index, path: str | list[str]) -> None:
    with pytest.raises(ScopeError):
        lexical.search("order", filters=SearchFilters(paths=path))


@pytest.mark.parametrize("query", ["\ud800\0", "(((", "x" * 100_000, "注文 😀", "the is of"])
def test_odd_questions_do_not_fail(shop: Index, query: str) -> None:
    assert isinstance(shop.search(query), SearchResult)


@pytest.mark.parametrize("mode", ["hybrid", "semantic"])
def test_a_lexical_index_says_so_and_answers_by_keywords(lexical: Index, mode: str) -> None:
    result = lexical.search("OrderService", mode=mode)
    assert result.mode == "bm25"
    assert result.requested_mode == mode
    assert "without an embedding model" in result.warnings[0]
    assert symbols(result)[0] == "OrderService"


@pytest.mark.parametrize(
    ("model", "dimension", "says"),
    [
        ("other-model/fp16", 384, f"embedded with other-model/fp16, this version has {MODEL_ID}"),
        ("static-code-0", 256, f"embedded with static-code-0, this version has {MODEL_ID}"),
        (MODEL_ID, 128, f"vectors of 128 dimensions, {MODEL_ID} makes 256"),
    ],
    ids=["model", "table", "dimension"],
)
def test_vectors_of_another_model_are_not_searched(tmp_path: Path, model: str, dimension: int, says: str) -> None:
    home = IndexHome(tmp_path)
    dense = {"lexical_only": False, "capabilities": ("dense", "keyword")}
    build(home, embedding_model=model, dimension=dimension, **dense)
    with open_index(LABEL, home=tmp_path) as index:
        result = index.search("OrderService")
    assert result.mode == "bm25"
    assert says in result.warnings[0]
    assert "rag-assets index" in result.warnings[0]


@pytest.mark.parametrize(
    ("conditions", "says"),
    [
        ({"languages": ["cobol"]}, "there are: csharp, markdown, sql"),
        ({"kinds": ["Ddr"]}, "no section has kind Ddr"),
        ({"paths": "lib/**"}, "no indexed file matches lib/**"),
    ],
    ids=["language", "kind", "path"],
)
def test_nothing_found_says_which_condition_is_to_blame(lexical: Index, conditions: dict[str, Any], says: str) -> None:
    result = lexical.search("order", mode="bm25", filters=SearchFilters(**conditions))
    assert not result.hits
    assert len(result.warnings) == 1
    assert says in result.warnings[0]


def test_explain_shows_terms_and_candidates(lexical: Index) -> None:
    result = lexical.search("the OrderFlux", mode="bm25", explain=True)
    evidence = {found.term: (found.sections > 0, found.weight) for found in result.terms}
    assert evidence == {"the": (True, 0.2), "order": (True, 1.0), "flux": (False, 1.0), "orderflux": (False, 1.0)}
    assert result.candidates["dense"] == 0
    assert result.candidates["bm25"] >= len(result.hits)
    assert not lexical.search("order", mode="bm25").terms


@pytest.mark.rule("B02", "R17")
@pytest.mark.parametrize("mode", ["hybrid", "semantic", "semantic_rerank", "bm25"])
def test_no_section_of_another_tenant_is_found(shop: Index, mode: str) -> None:
    """B02: the shard holds equal sections of another organisation, another project and another label."""
    found = shop.search("OrderService creates, changes and cancels orders", mode=mode, limit=100)
    ids = [hit.point_id for hit in found]
    assert len(ids) == len(set(ids))
    assert not set(ids) & {section.point_id for section in FOREIGN}
    assert SHOP[1].point_id in ids


@pytest.mark.parametrize("tenant", [{"org_id": ""}, {"project_id": " "}])
def test_a_generation_without_a_tenant_is_not_searched(tmp_path: Path, tenant: dict[str, Any]) -> None:
    build(IndexHome(tmp_path), SHOP[:1], **tenant)
    with open_index(LABEL, home=tmp_path) as index, pytest.raises(ScopeError):
        index.search("order")


def test_two_builds_give_equal_hits(tmp_path: Path) -> None:
    copies = [Section(f"src/Copy{n}.cs", f"Shop.Copy{n}.Order", "Model", "An order.") for n in range(60)]
    found = []
    for name in ("a", "b"):
        build(IndexHome(tmp_path / name), copies)
        with open_index(LABEL, home=tmp_path / name) as index:
            found.append(index.search("order", mode="bm25", limit=7).hits)
    assert found[0] == found[1]
    assert len({hit.score for hit in found[0]}) == 1


def test_threads_share_an_index(shop_home: IndexHome) -> None:
    questions = ["OrderService", "mail server", "refund limits", "table of orders"] * 4
    with open_index(LABEL, home=shop_home.root) as index, ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda question: index.search(question).hits, questions))
        assert together == [index.search(question).hits for question in questions]
