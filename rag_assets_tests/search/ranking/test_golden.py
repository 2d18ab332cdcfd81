"""The order of a small index, written down for one version of the ranking: a change shows as a difference here.

Where it is wanted, raise `RANKING_VERSION` and write down what the failing test shows: runs of question sets that were
made before are then asked again instead of being compared with new ones.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rag_assets import Index
from rag_assets.index.generations import active_generation
from rag_assets.index.layout import IndexHome
from rag_assets.search.ranking import RANKING_VERSION
from rag_assets_tests.search.small_index import LABEL, SHOP, build
from rag_assets_tests.search.tenants import HashedWords

VERSION = 12
TASK = "fix how an order is cancelled by the repository"
DESCRIPTION = "holds the orders of a customer with everything that was bought, paid, refunded, cancelled, sent by mail"
GOLDEN: dict[tuple[str, str], list[str]] = {
    ("hybrid", TASK): ["IOrderRepository 0.878", "OrderService 0.438", "Order 0.425", "Orders 0.419"],
    ("hybrid", DESCRIPTION): ["RefundPolicy 0.910", "SmtpClientFactory 0.647", "Sending mail 0.609", "Orders 0.537"],
    ("bm25", TASK): ["IOrderRepository 1.150", "OrderService 0.630", "Order 0.427", "Orders 0.337"],
    ("hybrid", "how much money does a customer get back"): [
        "RefundPolicy 1.000",
        "Sending mail 0.302",
        "IOrderRepository 0.186",
        "SmtpClientFactory 0.162",
    ],
    ("hybrid", "order repository"): ["IOrderRepository 1.180", "OrderService 0.580", "Orders 0.555", "Order 0.536"],
    ("hybrid", "OrderService"): [
        "OrderService 1.100",
        "OrderServiceTests 0.226",
        "Order 0.178",
        "IOrderRepository 0.173",
    ],
    ("hybrid", "cancel an order twice test"): [
        "OrderServiceTests 0.605",
        "Order 0.575",
        "Orders 0.458",
        "OrderService 0.270",
    ],
    ("bm25", "how much money does a customer get back"): [
        "RefundPolicy 1.000",
        "Sending mail 0.242",
        "IOrderRepository 0.114",
    ],
    ("bm25", "order repository"): ["IOrderRepository 1.500", "OrderService 0.635", "Order 0.596", "Orders 0.579"],
    ("bm25", "OrderService"): [
        "OrderService 1.100",
        "OrderServiceTests 0.226",
        "Order 0.178",
        "IOrderRepository 0.173",
    ],
    ("bm25", "cancel an order twice test"): [
        "OrderServiceTests 0.650",
        "Order 0.527",
        "Orders 0.480",
        "OrderService 0.245",
    ],
    ("semantic_rerank", "how much money does a customer get back"): [
        "RefundPolicy 1.051",
        "IOrderRepository 0.530",
        "Sending mail 0.496",
        "SmtpClientFactory 0.448",
    ],
    ("semantic_rerank", "order repository"): [
        "OrderServiceTests 0.516",
        "IOrderRepository 0.496",
        "RefundPolicy 0.395",
        "Orders 0.302",
    ],
    ("semantic_rerank", "OrderService"): [
        "OrderService 0.589",
        "OrderServiceTests 0.454",
        "Orders 0.376",
        "Order 0.312",
    ],
    ("semantic_rerank", "cancel an order twice test"): [
        "OrderServiceTests 1.008",
        "Order 0.609",
        "OrderService 0.522",
        "Orders 0.473",
    ],
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    home = IndexHome(tmp_path_factory.mktemp("golden"))
    build(home, SHOP, embedder=HashedWords())
    with Index(home, active_generation(home, LABEL), embedder=HashedWords()) as opened:
        yield opened


@pytest.mark.rule("R9")
@pytest.mark.parametrize(("mode", "question"), GOLDEN, ids=" ".join)
def test_the_order_is_that_of_the_version(index: Index, mode: str, question: str) -> None:
    found = index.search(question, mode=mode, limit=4).hits
    assert [f"{hit.symbol.rpartition('.')[2]} {hit.score:.3f}" for hit in found] == GOLDEN[mode, question]


def test_the_version_is_the_one_that_was_written_down() -> None:
    assert RANKING_VERSION == VERSION, "write the order down again for the new version"
