"""Many tenants with the very same texts in one store: nobody sees what is not theirs (B02, R17)."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rag_assets import Index, IndexGroup, QueryError, open_index, open_indexes
from rag_assets.index.generations import GenerationError, active_generation
from rag_assets.index.layout import IndexHome
from rag_assets.index.vectors.filters import ScopeError
from rag_assets_tests.search.small_index import LABEL, SHOP, build
from rag_assets_tests.search.tenants import OWNERS, Asker, HashedWords, askers, shown

REQUESTS = {"embedded": 400, "server": 100}
"""`benchmarks/isolation.py` makes 10,000 of them; a double of a server takes ten times as long for each."""


@pytest.fixture(scope="module", params=["embedded", "server"])
def everybody(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Asker]]:
    home = IndexHome(tmp_path_factory.mktemp(f"tenants-{request.param}"))
    with askers(home, on_server=request.param == "server") as found:
        yield found


@pytest.mark.rule("B02", "R17", "E12")
def test_no_request_shows_a_point_of_somebody_else(everybody: list[Asker], request: pytest.FixtureRequest) -> None:
    chance = random.Random(20260101)
    for number in range(REQUESTS[request.node.callspec.params["everybody"]]):
        asked = chance.choice(everybody)
        leaked = shown(asked, everybody, chance) - asked.allowed
        assert not leaked, f"request {number}: {asked.index.manifest.org_id} {asked.index.clearance} saw {leaked}"


@pytest.mark.rule("B02", "E12")
@pytest.mark.parametrize("mode", ["hybrid", "semantic", "bm25"])
def test_everybody_finds_all_that_is_theirs(everybody: list[Asker], mode: str) -> None:
    """The test above could pass with an index that answers nothing."""
    for asked in everybody:
        found = asked.index.search("order service refunds money mail customer", mode=mode, limit=1000)
        assert {hit.point_id for hit in found} == asked.allowed


@pytest.mark.rule("B02")
def test_labels_of_two_organisations_are_never_searched_at_once(everybody: list[Asker]) -> None:
    one, other = everybody[0].index, next(a.index for a in everybody if a.index.manifest.org_id == "globex")
    with pytest.raises(QueryError, match="labels of several organisations"):
        IndexGroup([one, _called(other, "other@main")])


def _called(index: Index, label: str) -> Index:
    index.label = label
    return index


@pytest.mark.parametrize("owner", [{"org_id": "acm"}, {"org_id": "ACME"}, {"project_id": "site"}])
def test_the_label_of_another_tenant_is_as_good_as_none(tmp_path: Path, owner: dict[str, Any]) -> None:
    build(IndexHome(tmp_path), SHOP[:1])
    with pytest.raises(GenerationError, match="no index of this organisation"):
        open_index(LABEL, home=tmp_path, **owner)
    if "org_id" in owner:
        with pytest.raises(GenerationError, match="no index of this organisation"):
            open_indexes([LABEL], home=tmp_path, org_id=owner["org_id"])
    with open_index(LABEL, home=tmp_path, org_id="acme", project_id="shop") as index:
        assert index.search("refund policy", mode="bm25").hits


def test_an_unknown_clearance_opens_nothing(tmp_path: Path) -> None:
    home = IndexHome(tmp_path)
    build(home, SHOP[:1])
    with pytest.raises(ScopeError, match="valid: public, internal, confidential, restricted"):
        Index(home, active_generation(home, LABEL), clearance="top secret")


def test_the_model_of_these_tests_tells_texts_apart() -> None:
    rows = HashedWords().embed(["an order", "an order", "a letter"])
    assert (rows[0] == rows[1]).all()
    assert float(rows[0] @ rows[2]) < 0.9
    assert len(OWNERS) == len(set(OWNERS))
