"""Makes the screenshots of docs/images: `rag-assets dev` on an example shop that has a history, seen in Chromium.

    python docs/screenshots.py [--folder FOLDER]

FOLDER (default: a temporary one) gets repositories and a home; what a run before has built there is used again. It
needs Chromium (`make browser`, or CHROMIUM) and takes some minutes. Look at every picture before you commit it.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import FloatRect, Page

IMAGES = Path(__file__).parent / "images"
SHOP = Path(__file__).parents[1] / "examples" / "shop"
WIDTH = 1400
_WAIT_SECONDS = 600

QUESTIONS = {
    "refunds": ("how much of the price is paid back for a returned item?", "Domain/Orders/OrderManager.Refunds.cs"),
    "cancel": ("which class cancels an order?", "Domain/Orders/OrderManager.cs"),
    "carrier": ("client that asks the carrier for a price", "Infrastructure/Shipping/CarrierClient.cs"),
    "rates": ("where are prices of parcels kept for a day?", "Infrastructure/Shipping/ParcelRateProxy.cs"),
    "invoice": ("who creates invoices?", "Domain/Invoicing/InvoiceManager.cs"),
    "loyalty": ("how are loyalty points counted?", "Domain/Customers/LoyaltyService.cs"),
    "outbox": ("which worker sends the messages of the outbox?", "Worker/OutboxDispatcher.cs"),
    "cart": ("repository of carts", "Infrastructure/Repositories/CartRepo.cs"),
    "wishes": ("repository of wish lists", "Infrastructure/Repositories/WishListRepository.cs"),
    "receipts": ("archive of receipts in a blob storage", "Infrastructure/Storage/ReceiptArchive.cs"),
    "catalog": ("endpoints of the catalog", "Api/Endpoints/CatalogEndpoints.cs"),
    "payments": ("consumer of received payments", "Domain/Payments/PaymentReceivedConsumer.cs"),
    "filters": ("builder of filters for orders", "Domain/Orders/OrderFilterBuilder.cs"),
    "money": ("rounding of amounts of money", "Domain/Common/Money.cs"),
    "labels": ("label of a parcel", "Domain/Shipping/ShippingLabel.cs"),
    "suppliers": ("suppliers of the back office", "BackOffice/Suppliers.cs"),
}
"""Name → a question and the file under src/Fernhill.Shop.* that answers it."""

HISTORY: list[tuple[str, str]] = [
    ("Begin", "-refunds -carrier -rates -cart -wishes -receipts"),
    ("Carts are stored", "+cart"),
    ("Wish lists are stored", "+wishes"),
    ("Ask the carrier for prices", "+carrier"),
    ("Receipts go to the archive", "+receipts"),
    ("Wish lists are a table of carts", "-wishes"),
    ("Keep prices of parcels for a day", "+rates"),
    ("Refunds", "+refunds"),
    ("Wish lists are back", "+wishes"),
    ("Words of the terms", ""),
]
"""Ten commits: their subject, and which files of `QUESTIONS` they add and remove."""

_MAIN = "shop%40main"
_LABELS = ("shop@main", "shop@release-2", "billing@main")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--folder", type=Path, help="where repositories and home are; they are used again")
    chosen = parser.parse_args().folder
    folder = (chosen or Path(tempfile.mkdtemp(prefix="rag-assets-pictures-"))).resolve()
    stage = Stage(folder)
    try:
        stage.build()
        with stage.dagster() as address, camera(address) as seen:
            seen.plots()
            stage.build_others()
            seen.lineage()
            seen.tables()
            seen.backfill(stage.backfill(address))
            stage.build_refused()
            seen.refused()
    finally:
        if chosen is None:
            shutil.rmtree(folder)


class Stage:
    """Two repositories, and a home with three labels of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.shop, self.billing = folder / "shop", folder / "billing"
        self._config = folder / "rag_assets.yaml"
        self._done = folder / "done"

    def build(self) -> None:
        """Ten generations of shop@main."""
        if self._done.exists():
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        rows = [
            {"id": name, "question": question, "relevant": [_source(path)]}
            for name, (question, path) in QUESTIONS.items()
        ]
        (self.folder / "questions.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
        entries = [
            {"id": "shop", "location": str(self.shop), "ref": "main", "eval_set": str(self.folder / "questions.jsonl")},
            {"id": "billing", "location": str(self.billing), "ref": "main"},
        ]
        settings = {"home": str(self.folder / "home"), "repositories": entries, "evaluation": {"tolerance": 0.1}}
        self._config.write_text(json.dumps(settings, indent=2), "utf-8")  # JSON is YAML
        for at, (subject, changes) in enumerate(HISTORY):
            self._commit(self.shop, subject, changes, day=at + 1)
            self._rag_assets("index", "shop@main" if at else "shop")
        self._done.touch()

    def build_others(self) -> None:
        """Two more labels."""
        if (self.folder / "moved").exists():
            return
        self._git(self.shop, "branch", "release-2")
        self._rag_assets("index", "shop", "--ref", "release-2")
        self._commit(self.billing, "Begin", " ".join(f"-{name}" for name in QUESTIONS if name != "invoice"), day=1)
        self._rag_assets("index", "billing")

    def backfill(self, address: str) -> str:
        """All labels after a commit, and after the repository of one of them has gone; its id, when it has ended."""
        self._commit(self.shop, "The back office has terms of its own", "", day=len(HISTORY) + 1)
        if self.billing.exists():
            self.billing.rename(self.folder / "moved")
        assets = _ask(address, "{ assetNodes { assetKey { path } isPartitioned } }")["assetNodes"]
        parameters = {
            "title": "After the terms changed",
            "assetSelection": [one["assetKey"] for one in assets if one["assetKey"]["path"][-1] != "repository"],
            "partitionNames": list(_LABELS),
        }
        launched = _ask(address, _LAUNCH, {"parameters": parameters})["launchPartitionBackfill"]
        found = str(launched["backfillId"])
        _until(lambda: _ask(address, _STATUS, {"id": found})["partitionBackfillOrError"]["status"] not in _UNFINISHED)
        return found

    def build_refused(self) -> None:
        """A commit that loses what questions ask for."""
        self._commit(self.shop, "Refunds and prices of parcels move to a service", "-refunds -rates -carrier", day=12)
        self._rag_assets("index", "shop@main", code=3)
        self._commit(self.shop, "Take that back", "+refunds +rates +carrier", day=13)

    @contextmanager
    def dagster(self) -> Iterator[str]:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        process = subprocess.Popen(self._command("dev", "--port", str(port)), cwd=self.folder, env=_environment())
        try:
            address = f"http://127.0.0.1:{port}"
            _until(lambda: bool(_ask(address, "{ assetNodes { id } }")["assetNodes"]))
            yield address
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(timeout=60)

    def _commit(self, repository: Path, subject: str, changes: str, *, day: int) -> None:
        if not repository.exists():
            shutil.copytree(SHOP, repository)
            self._git(repository, "init", "--quiet", "--initial-branch=main")
        for change in changes.split():
            path = _source(QUESTIONS[change[1:]][1])
            if change[0] == "-":
                (repository / path).unlink(missing_ok=True)
            else:
                shutil.copyfile(SHOP / path, repository / path)
        (repository / "docs" / "terms.md").write_text(f"# Terms\n\nVersion {day} of the terms: {subject}.\n", "utf-8")
        self._git(repository, "add", "--all", "--force")
        self._git(repository, "commit", "--quiet", "--message", subject, date=f"2026-11-{day:02d}T09:00:00Z")

    def _git(self, repository: Path, *words: str, date: str = "") -> None:
        identity = ["-c", "user.name=Fernhill", "-c", "user.email=shop@example.invalid"]
        dates = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date} if date else {}
        subprocess.run(["git", "-C", str(repository), *identity, *words], env=os.environ | dates, check=True)

    def _rag_assets(self, *words: str, code: int = 0) -> None:
        done = subprocess.run(self._command(*words), cwd=self.folder, env=_environment(), check=False)
        if done.returncode != code:
            sys.exit(f"{' '.join(words)} ended with {done.returncode}")

    def _command(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "rag_assets", "--config", str(self._config), *words]


_LAUNCH = """mutation launch($parameters: LaunchBackfillParams!) {
  launchPartitionBackfill(backfillParams: $parameters) {
    ... on LaunchBackfillSuccess { backfillId } ... on Error { message } } }"""
_STATUS = "query($id: String!) { partitionBackfillOrError(backfillId: $id) { ... on PartitionBackfill { status } } }"
_UNFINISHED = ("REQUESTED", "CANCELING", "FAILING")


def _source(path: str) -> str:
    return f"src/Fernhill.Shop.{path}"


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "DAGSTER_HOME" and "RAG_ASSETS" not in name}


def _ask(address: str, query: str, variables: dict[str, Any] | None = None) -> Any:
    body = json.dumps({"query": query, "variables": variables or {}}).encode()
    request = urllib.request.Request(f"{address}/graphql", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        found = json.load(answer)
    if "errors" in found:
        sys.exit(json.dumps(found["errors"], indent=2))
    return found["data"]


def _until(holds: Any) -> None:
    end = time.monotonic() + _WAIT_SECONDS
    while time.monotonic() < end:
        try:
            if holds():
                return
        except OSError:
            pass
        time.sleep(1)
    sys.exit(f"not within {_WAIT_SECONDS} s")


# --- the pictures -----------------------------------------------------------------------------------------------------


@contextmanager
def camera(address: str) -> Iterator[Camera]:
    from playwright.sync_api import sync_playwright

    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": 900})
        page.set_default_timeout(60_000)
        yield Camera(page, address)
        browser.close()


class Camera:
    def __init__(self, page: Page, address: str) -> None:
        self._page = page
        self._address = address
        assets = _ask(address, "{ assetNodes { assetKey { path } } }")["assetNodes"]
        self._paths = {one["assetKey"]["path"][-1]: "/".join(one["assetKey"]["path"]) for one in assets}

    def lineage(self) -> None:
        """With both groups unfolded, in what remains beside their list."""
        self._page.set_viewport_size({"width": 1990, "height": 640})
        for _ in range(3):
            self._page.goto(f"{self._address}/asset-groups/")  # each time the whole graph is in view
            self._page.get_by_text("Materialize all").wait_for()
            self._page.wait_for_timeout(4_000)
            if self._page.locator('[aria-label="unfold_more"]').count():
                self._page.locator('[aria-label="unfold_more"]').first.click()
                self._page.wait_for_timeout(2_000)
        self._page.get_by_text("active_index").first.wait_for()
        self._keep("asset-graph", {"x": 572, "y": 170, "width": 1374, "height": 360})

    def plots(self) -> None:
        self._open(f"/assets/{self._paths['eval_runs']}", "Plots")
        self._page.get_by_text("Plots", exact=True).click()
        self._page.get_by_text("Events", exact=True).last.click()
        self._page.set_viewport_size({"width": WIDTH, "height": 1900})
        self._keep("eval-plots", {"x": 242, "y": 320, "width": 808, "height": 1110})

    def tables(self) -> None:
        self._open(f"/assets/{self._paths['discovered_files']}?view=partitions&partition={_MAIN}", "Metadata")
        self._page.set_viewport_size({"width": WIDTH, "height": 1500})
        self._keep("asset-tables")

    def backfill(self, identifier: str) -> None:
        self._open(f"/runs/b/{identifier}", "Partition selection")
        self._page.set_viewport_size({"width": WIDTH, "height": 920})
        self._keep("backfill")

    def refused(self) -> None:
        self._open(f"/assets/{self._paths['eval_runs']}?view=partitions&partition={_MAIN}", "Metadata")
        self._page.set_viewport_size({"width": WIDTH, "height": 1960})
        self._keep("refused-build", {"x": 532, "y": 150, "width": 868, "height": 1742})

    def _open(self, path: str, text: str) -> None:
        self._page.set_viewport_size({"width": WIDTH, "height": 900})
        self._page.goto(self._address + path)
        self._page.get_by_text(text).first.wait_for()
        self._page.wait_for_timeout(4_000)  # what is drawn after the words

    def _keep(self, name: str, part: FloatRect | None = None) -> None:
        self._page.wait_for_timeout(3_000)
        path = IMAGES / f"{name}.png"
        self._page.screenshot(path=path, clip=part)
        print(path, f"{path.stat().st_size:,} bytes", flush=True)


if __name__ == "__main__":
    main()
