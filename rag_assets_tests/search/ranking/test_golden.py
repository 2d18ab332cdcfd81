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

VERSION = 4
TASK = "fix how an order is cancelled by the repository"
DESCRIPTION = "holds the orders of a customer with everything that was bought, paid, refunded, cancelled, sent by mail"
GOLDEN: dict[tuple[str, str], list[str]] = {
    ("hybrid", TASK): ["IOrderRepository 0.912", "OrderService 0.472", "Order 0.459", "Orders 0.453"],
    ("hybrid", DESCRIPTION): ["RefundPolicy 0.944", "SmtpClientFactory 0.681", "Sending mail 0.630", "Orders 0.571"],
    ("bm25", TASK): ["IOrderRepository 1.199", "OrderService 0.679", "Order 0.476", "Orders 0.386"],
    ("hybrid", "how much money does a customer get back"): [
        "RefundPolicy 1.034",
        "IOrderRepository 0.344",
        "Sending mail 0.234",
        "SmtpClientFactory 0.196",
    ],
    ("hybrid", "order repository"): ["IOrderRepository 1.214", "OrderService 0.614", "Orders 0.589", "Order 0.570"],
    ("hybrid", "OrderService"): [
        "OrderService 1.100",
        "OrderServiceTests 0.226",
        "Order 0.178",
        "IOrderRepository 0.173",
    ],
    ("hybrid", "cancel an order twice test"): [
        "OrderServiceTests 0.622",
        "Order 0.609",
        "Orders 0.492",
        "OrderService 0.304",
    ],
    ("bm25", "how much money does a customer get back"): [
        "RefundPolicy 1.049",
        "IOrderRepository 0.238",
        "Sending mail 0.200",
    ],
    ("bm25", "order repository"): ["IOrderRepository 1.549", "OrderService 0.684", "Order 0.645", "Orders 0.627"],
    ("bm25", "OrderService"): [
        "OrderService 1.100",
        "OrderServiceTests 0.226",
        "Order 0.178",
        "IOrderRepository 0.173",
    ],
    ("bm25", "cancel an order twice test"): [
        "OrderServiceTests 0.674",
        "Order 0.575",
        "Orders 0.529",
        "OrderService 0.294",
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
