"""A real index, a real model server, a real history, and pipelines that are run over them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from rag_assets import open_index
from rag_assets.history.conversations import Conversations, open_conversations
from rag_assets.index.layout import IndexHome
from rag_assets.qa.definition.loader import PipelineLibrary
from rag_assets.qa.definition.steps import Pipeline
from rag_assets.qa.engine import TurnResult, run_turn
from rag_assets.qa.services import PipelineServices
from rag_assets.qa.turn import TurnRequest
from rag_assets_tests.cli.conftest import index_without_dagster, new_repository
from rag_assets_tests.kept_shards import kept
from rag_assets_tests.models.llm.model_server import ModelServer
from rag_assets_tests.qa.http_model import Script, http_model

if TYPE_CHECKING:
    from rag_assets_tests.qa.log_tools import Logged

FILES: dict[str, str | bytes] = {
    "src/Orders/OrderService.cs": """\
namespace Shop.Orders;

/// <summary>Cancels and refunds orders.</summary>
public class OrderService
{
    private readonly InvoiceWriter _invoices = new InvoiceWriter();

    /// <summary>Pays back what a customer returned.</summary>
    public decimal RefundOrder(int orderId)
    {
        _invoices.WriteCreditNote(orderId);
        return 0m;
    }

    /// <summary>Stops an order before it is shipped.</summary>
    public void CancelOrder(int orderId) => _invoices.Annul(orderId);
}
""",
    "src/Orders/InvoiceWriter.cs": """\
namespace Shop.Orders;

/// <summary>Writes invoices and credit notes.</summary>
public class InvoiceWriter
{
    /// <summary>A credit note for returned goods.</summary>
    public void WriteCreditNote(int orderId) { var note = "credit " + orderId; }

    /// <summary>Takes an invoice back.</summary>
    public void Annul(int orderId) { }
}
""",
    "src/Shipping/Parcel.cs": "namespace Shop.Shipping;\n\n/// <summary>What is sent.</summary>\n"
    "public class Parcel { public int Weight { get; set; } }\n",
    "db/tables.sql": "CREATE TABLE dbo.Invoices (Id int NOT NULL, Total money NOT NULL);\nGO\n",
    "README.md": "# Shop\n\nA shop that takes orders and sends invoices and parcels.\n\n## Refunds\n\n"
    "Refunds are paid back in five days.\n",
}
CHANGED = {
    "src/Orders/OrderService.cs": str(FILES["src/Orders/OrderService.cs"]).replace("return 0m;", "return 12.5m;"),
}

REFUND = "How are refunds of an order paid back?"


def notes_of(result: TurnResult) -> list[str]:
    """What the steps of a turn note, as the log keeps it."""
    return [note for record in result.records for note in record.notes]


@dataclass(frozen=True)
class Shop:
    """Two indexes of one home: `label` and, after a change, `later`."""

    home: IndexHome
    label: str
    later: str


@pytest.fixture(autouse=True, scope="module")
def closed_shards_are_kept() -> Iterator[None]:
    with kept():
        yield


@pytest.fixture(scope="session")
def shop_indexes(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    base = tmp_path_factory.mktemp("pipelines")
    home = IndexHome(base / "home")
    repository = new_repository(base / "shop", FILES)
    label = index_without_dagster(home, repository, "shop")
    repository.commit(CHANGED)
    return Shop(home, label, index_without_dagster(home, repository, "later"))


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running


@pytest.fixture
def history(tmp_path: Path) -> Iterator[Conversations]:
    with open_conversations(IndexHome(tmp_path / "home")) as opened:
        yield opened


@pytest.fixture
def services(shop_indexes: Shop, server: ModelServer, history: Conversations) -> Iterator[PipelineServices]:
    made = PipelineServices(
        lambda label: open_index(label, home=shop_indexes.home.root), history=history, generate=http_model(server)
    )
    yield made
    made.close()


@dataclass
class Asking:
    """Asks a shipped pipeline, or one that extends it by `settings`, `steps` and files of its own."""

    services: PipelineServices
    server: ModelServer
    folder: Path
    label: str

    def pipeline(self, base: str = "code_question_answering", steps: str = "", **settings: Any) -> Pipeline:
        if not steps and not settings:
            return PipelineLibrary().load(base)
        self.folder.mkdir(exist_ok=True)
        file = self.folder / "extended.yaml"
        lines = ["pipeline:", "  name: extended", f"  extends: {base}", f"  settings: {settings!r}"]
        file.write_text("\n".join(lines) + "\n" + steps, encoding="utf-8")
        return PipelineLibrary().load(file)

    def script(self, **said: Any) -> Script:
        return Script(self.server, **({"router": "[HYBRID:] refund order"} | said))

    def ask(
        self, pipeline: Pipeline | None = None, question: str = REFUND, label: str | None = None, **request: Any
    ) -> TurnResult:
        asked = TurnRequest(question=question, label=self.label if label is None else label, **request)
        return run_turn(self.pipeline() if pipeline is None else pipeline, asked, self.services)


@pytest.fixture
def asking(services: PipelineServices, server: ModelServer, tmp_path: Path, shop_indexes: Shop) -> Asking:
    return Asking(services, server, tmp_path / "pack", shop_indexes.label)


@pytest.fixture
def refund_id(services: PipelineServices, shop_indexes: Shop) -> str:
    """What a citation of the order service names."""
    from rag_assets.contracts.retrieval import Mode

    found = services.search(shop_indexes.label, "refund order", Mode.BM25, 5)
    return next(piece.id for piece in found.evidence if "RefundOrder" in piece.text)


CitedAnswer = Callable[[str], str]


@pytest.fixture
def good(refund_id: str) -> str:
    """A supported answer with its prefix."""
    return f"[Answer:] `RefundOrder` calls `WriteCreditNote` of the invoices [chunk: {refund_id}]."


@pytest.fixture
def logged(asking: Asking, shop_indexes: Shop, tmp_path: Path) -> Iterator[Logged]:
    """Beside `history`, in the same file."""
    from rag_assets_tests.qa.log_tools import Logged

    made = Logged(asking, shop_indexes.home, IndexHome(tmp_path / "home"))
    yield made
    made.log.close()
