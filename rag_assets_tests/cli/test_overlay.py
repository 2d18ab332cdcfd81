"""`search` and `read` in a checkout that differs from the indexed commit: files are found as they are now."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from rag_assets import open_index
from rag_assets.errors import NoWorkTree, WorkTreeError
from rag_assets.index.layout import IndexHome
from rag_assets.index.vectors.filters import SearchFilters
from rag_assets.search.federated import FederatedIndex
from rag_assets.search.index import LabelIndex
from rag_assets_tests.cli.conftest import CommandLine, Indexed, index_without_dagster, new_repository
from rag_assets_tests.git_repository import Repository
from rag_assets_tests.section_payloads import section_payloads

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
ORDERS = """\
namespace Shop.Orders;

/// <summary>Cancels and refunds orders.</summary>
public class OrderService
{
    /// <summary>Pays back what a customer returned.</summary>
    public decimal RefundOrder(int orderId) => 0m;

    public void CancelOrder(int orderId) { }
}
"""
BASKET = "namespace Shop.Baskets;\n\npublic class BasketCleaner { public void Sweep(int days) { } }\n"
FILES: dict[str, str | bytes] = {
    "src/OrderService.cs": ORDERS,
    "src/BasketCleaner.cs": BASKET,
    "app/[id]/page.ts": "export function renderTicket(id: string) { return id }\n",
    "docs/guide.md": "# Guide\n\n## Returns\n\nHow a parcel comes back.\n",
    "pay/ledger.py": 'class Ledger:\n    """Books payments."""\n\n    def book(self, amount):\n        return amount\n',
    "db/tables.sql": "CREATE TABLE dbo.Invoices (Id int NOT NULL, Total money NOT NULL);\nGO\n",
    "secret/plan.md": "# Plan\n\nThe merger with Contoso.\n",
    ".gitignore": "local/\n",
}


@pytest.fixture
def shop(tmp_path: Path) -> Indexed:
    return indexed_at(tmp_path)


def indexed_at(base: Path) -> Indexed:
    home = IndexHome(base / "home")
    repository = new_repository(base / "shop", FILES)
    label = index_without_dagster(home, repository, "shop")
    return Indexed(CommandLine(home, repository.path), repository, label)


def write(repository: Repository, path: str, content: str | bytes) -> None:
    file = repository.path / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content.encode() if isinstance(content, str) else content)


def hits(shop: Indexed, *words: str) -> list[dict[str, Any]]:
    done = shop.cli.run("search", *words, "--json", "--full")
    assert done.code in (0, 4), done.err
    found: list[dict[str, Any]] = done.json["hits"]
    return found


def test_a_clean_checkout_is_searched_as_it_is_indexed(shop: Indexed) -> None:
    (found,) = hits(shop, "RefundOrder")
    assert not found["work_tree"] and found["commit"]
    with open_index(shop.label, home=shop.cli.home.root) as index:
        assert index.with_work_tree() is index


def test_an_edited_file_is_found_and_read_as_it_is_now(shop: Indexed) -> None:
    edited = ORDERS.replace("    public void CancelOrder(int orderId) { }\n", "    public void ReconcileLedger() { }\n")
    write(shop.repository, "src/OrderService.cs", "// moved down\n" + edited)
    done = shop.cli.run("search", "ReconcileLedger")
    assert done.out.startswith(" 1  src/OrderService.cs:10  Shop.Orders.OrderService  Service  work tree\n"), done.out
    assert "1 file of the work tree searched as it is" in done.out
    assert "10      public void ReconcileLedger() { }" in shop.cli.run("read", "OrderService.ReconcileLedger").out
    assert shop.cli.run("read", "src/OrderService.cs:1").out.endswith("in the work tree\n1  // moved down\n")
    assert hits(shop, "RefundOrder")[0]["lines"] == [7, 8], "not those of the commit"
    assert not hits(shop, "symbol:CancelOrder"), "the old section is masked"
    (old,) = hits(shop, "CancelOrder", "--no-overlay")
    assert not old["work_tree"] and old["lines"] == [9, 9]
    assert "CancelOrder" in shop.cli.run("read", "src/OrderService.cs", "--no-overlay").out


def test_deleted_new_and_staged_files_count_and_ignored_ones_do_not(shop: Indexed) -> None:
    (shop.repository.path / "src/BasketCleaner.cs").unlink()
    write(shop.repository, "src/Voucher.cs", "public class VoucherPrinter { }\n")
    write(shop.repository, "local/notes.cs", "public class VoucherOfThisMachine { }\n")
    write(shop.repository, "docs/guide.md", "# Guide\n\nA pigeon brings the parcel.\n")
    shop.repository.git("add", "docs/guide.md")
    found = shop.cli.run("search", "pigeon voucher basket sweep", "--json", "--mode", "bm25").json
    assert {hit["path"] for hit in found["hits"]} == {"src/Voucher.cs", "docs/guide.md"}
    assert found["sources"][0]["overlaid_files"] == 3
    gone = shop.cli.run("read", "src/BasketCleaner.cs")
    assert gone.code == 4 and "is not there in the work tree; read it as it is indexed with" in gone.err
    assert "Sweep" in shop.cli.run("read", *gone.err.strip().split("rag-assets read ")[1].split()).out


def test_an_index_behind_the_head_is_laid_over_from_its_own_commit(shop: Indexed) -> None:
    shop.repository.commit({"src/Voucher.cs": "public class VoucherPrinter { }\n"})
    write(shop.repository, "src/OrderService.cs", ORDERS.replace("RefundOrder", "GiveBack"))
    assert [hit["path"] for hit in hits(shop, "VoucherPrinter")] == ["src/Voucher.cs"]
    assert hits(shop, "GiveBack")[0]["work_tree"]
    assert hits(shop, "Ledger")[0]["commit"], "what is as it was indexed has its commit"


def test_filters_hold_before_the_best_are_taken(shop: Indexed) -> None:
    for number in range(30):
        write(shop.repository, f"new/Thing{number}.cs", f"public class Thing{number} {{ public int Ledger; }}\n")
    write(shop.repository, "app/[id]/page.ts", "export function renderLedger(id: string) { return id }\n")
    assert [hit["path"] for hit in hits(shop, "ledger", "--language", "python", "-n", "1")] == ["pay/ledger.py"]
    assert [hit["path"] for hit in hits(shop, "ledger", "--path", "app/", "-n", "1")] == ["app/[id]/page.ts"]
    assert [hit["path"] for hit in hits(shop, "ledger -path:new lang:typescript")] == ["app/[id]/page.ts"]
    assert len(hits(shop, "ledger", "--path", "new/*7.cs")) == 3
    assert [hit["path"] for hit in hits(shop, "symbol:renderLedger")] == ["app/[id]/page.ts"]
    assert not hits(shop, "symbol:renderTicket")
    assert [hit["path"] for hit in hits(shop, '"return id" ledger')] == ["app/[id]/page.ts"]
    assert len(hits(shop, "lang:csharp path:new", "-n", "50")) == 30
    assert hits(shop, "ledger", "--since", "2025-01-01", "-n", "50"), "changed now"


def test_what_an_index_would_leave_out_or_mask_is_left_out_and_masked(shop: Indexed) -> None:
    write(shop.repository, "src/keys.cs", f'public class Keys {{ public string Token = "{SECRET}"; }}\n')
    write(shop.repository, "package-lock.json", '{"name": "locksmith"}\n')
    write(shop.repository, "src/BasketCleaner.cs", b"\0\1binary")
    write(shop.repository, "node_modules/a/index.js", "function locksmith() {}\n")
    (shop.repository.path / "linked.cs").symlink_to("/etc/hostname")
    assert not hits(shop, "locksmith", "--mode", "bm25") and not hits(shop, "BasketCleaner", "--mode", "bm25")
    done = shop.cli.run("search", "Keys Token", "--json", "--full", "--detail", "source").out
    assert "src/keys.cs" in done and SECRET not in done
    assert SECRET not in shop.cli.run("read", "src/keys.cs").out
    assert "is skipped as binary in the work tree" in shop.cli.run("read", "src/BasketCleaner.cs").err


def test_an_ignore_file_of_the_work_tree_takes_files_out(shop: Indexed) -> None:
    write(shop.repository, ".rag_assets_ignore", "pay/\n")
    assert not hits(shop, "Ledger", "--mode", "bm25")


def test_an_ignore_file_takes_generated_code_in_committed_or_not(shop: Indexed) -> None:
    code = "// Code generated by mockgen. DO NOT EDIT.\npackage mocks\n\nfunc NewMockCourier() {}\n"
    shop.repository.commit({"mocks/courier_mock.go": code})
    shop.cli.build(shop.repository.path)
    assert not hits(shop, "NewMockCourier", "--mode", "bm25")
    write(shop.repository, ".rag_assets_ignore", "!*_mock.go\n")
    write(shop.repository, "mocks/courier_mock.go", code + "func Extra() {}\n")
    assert [hit["path"] for hit in hits(shop, "NewMockCourier", "--mode", "bm25")] == ["mocks/courier_mock.go"]
    shop.repository.git("checkout", "--quiet", "--", "mocks")
    shop.repository.commit({".rag_assets_ignore": "!*_mock.go\n"})
    shop.cli.build(shop.repository.path)
    assert [hit["path"] for hit in hits(shop, "NewMockCourier", "--mode", "bm25")] == ["mocks/courier_mock.go"]
    shop.repository.commit({".rag_assets_ignore": "# nothing\n"})
    shop.cli.build(shop.repository.path)
    assert not hits(shop, "NewMockCourier", "--mode", "bm25")


def test_levels_hold_for_files_of_the_work_tree(tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "shop", FILES)
    home = IndexHome(tmp_path / "home")
    config = {
        "home": str(home.root),
        "embedder": {"provider": "lexical-only"},
        "repositories": [
            {
                "id": "shop",
                "location": str(repository.path),
                "ref": "main",
                "confidential_paths": {"secret/**": "restricted"},
            }
        ],
        "roles": {"board": "restricted"},
    }
    (tmp_path / "rag_assets.yaml").write_text(yaml.safe_dump(config))
    cli = CommandLine(home, repository.path)
    options = ("--config", str(tmp_path / "rag_assets.yaml"))
    cli.build("shop", options=options)
    write(repository, "secret/plan.md", "# Plan\n\nThe zeppelin is bought.\n")
    write(repository, "secret/other.md", "# Other\n\nThe zeppelin too.\n")
    assert cli.run("search", "zeppelin", "--mode", "bm25", options=options).code == 4
    assert cli.run("read", "secret/other.md", options=options).code == 4
    seen = cli.run("search", "zeppelin", "--mode", "bm25", options=(*options, "--role", "board"))
    assert seen.code == 0 and "2 files of the work tree" in seen.out
    plain = cli.run("search", "zeppelin orders", "--json", options=options).json
    assert (
        plain["sources"] == []
        if "sources" in plain and not plain["sources"]
        else 'overlaid_files": 2' not in str(plain)
    )


def test_where_the_default_is_on(shop: Indexed, tmp_path: Path) -> None:
    write(shop.repository, "src/Voucher.cs", "public class VoucherPrinter { }\n")
    elsewhere = CommandLine(shop.cli.home, tmp_path)
    assert elsewhere.run("search", "VoucherPrinter").code == 4
    found = elsewhere.run("search", "VoucherPrinter", "--overlay")
    assert "work tree" in found.out and found.out.endswith("read src/Voucher.cs:1 --overlay\n"), found.out
    assert "VoucherPrinter" in elsewhere.run("read", "src/Voucher.cs", "--overlay").out
    inside = CommandLine(shop.cli.home, shop.repository.path / "src")
    assert "work tree" in inside.run("search", "VoucherPrinter").out
    other = new_repository(tmp_path / "other", {"a.txt": "a\n"})
    assert CommandLine(shop.cli.home, other.path).run("search", "VoucherPrinter").code == 4
    assert inside.run("search", "VoucherPrinter", "--label", shop.label).code == 0
    shop.repository.git("checkout", "--quiet", "-b", "feature")
    assert inside.run("search", "VoucherPrinter", "--label", shop.label).code == 4, "a label of another branch, by name"
    assert inside.run("search", "VoucherPrinter").code == 0


def test_a_linked_work_tree_and_a_clone_are_checkouts_of_the_label(shop: Indexed, tmp_path: Path) -> None:
    shop.repository.git("worktree", "add", "--quiet", str(tmp_path / "linked"))
    shop.repository.git("clone", "--quiet", str(shop.repository.path), str(tmp_path / "clone"))
    for name in ("linked", "clone"):
        folder = tmp_path / name
        (folder / "src/Voucher.cs").write_text(f"public class Voucher{name.title()} {{ }}\n")
        assert "work tree" in CommandLine(shop.cli.home, folder).run("search", f"Voucher{name.title()}").out
    assert not hits(shop, "VoucherLinked", "--mode", "bm25"), "the other checkout is as it was"


def test_only_files_of_an_indexed_folder_are_laid_over(tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "shop", FILES)
    home = IndexHome(tmp_path / "home")
    label = index_without_dagster(home, Repository(repository.path / "src"), "part")
    write(repository, "src/Voucher.cs", "public class VoucherPrinter { }\n")
    write(repository, "pay/voucher.py", "class VoucherPayer: pass\n")
    cli = CommandLine(home, repository.path / "src")
    shop = Indexed(cli, repository, label)
    assert [hit["path"] for hit in hits(shop, "VoucherPrinter VoucherPayer", "--mode", "bm25")] == ["src/Voucher.cs"]


def test_too_many_changes_are_left_out_with_a_reason(shop: Indexed) -> None:
    for number in range(301):
        write(shop.repository, f"many/f{number}.txt", f"word{number}\n")
    done = shop.cli.run("search", "RefundOrder")
    assert done.code == 0 and "the work tree is left out: 301 files" in done.err
    refused = shop.cli.run("search", "RefundOrder", "--overlay")
    assert refused.code == 1 and "run: rag-assets index shop@main" in refused.err


def test_files_outside_of_a_sparse_checkout_are_not_deleted_ones(shop: Indexed) -> None:
    shop.repository.git("sparse-checkout", "set", "--no-cone", "/src/")
    assert not (shop.repository.path / "pay").exists()
    assert hits(shop, "Ledger")[0]["commit"]


def test_meaning_alone_finds_nothing_of_the_work_tree_and_says_so(tmp_path: Path) -> None:
    repository, home = new_repository(tmp_path / "shop", FILES), IndexHome(tmp_path / "home")
    cli = CommandLine(home, repository.path)
    cli.build(repository.path)
    write(repository, "src/BasketCleaner.cs", BASKET.replace("Sweep", "VacuumBaskets"))
    meant = cli.run("search", "cleaning of baskets", "--mode", "semantic", "--json").json
    assert "src/BasketCleaner.cs" not in [hit["path"] for hit in meant["hits"]]
    assert "1 file of the work tree has no vectors" in meant["warnings"][0]
    for mode in ("hybrid", "bm25"):
        found = cli.run("search", "VacuumBaskets cleaning", "--mode", mode, "--json").json["hits"]
        assert found[0]["path"] == "src/BasketCleaner.cs" and found[0]["work_tree"]
    (tmp_path / "rag_assets.yaml").write_text(yaml.safe_dump({"home": str(home.root), "search": {"fusion": "rrf"}}))
    by_ranks = cli.run("search", "VacuumBaskets", "--json", options=("--config", str(tmp_path / "rag_assets.yaml")))
    assert by_ranks.json["hits"][0]["path"] == "src/BasketCleaner.cs"
    similar = cli.run("search", "src/BasketCleaner.cs:3", "--json").json
    assert any("has no vector" in warning for warning in similar["warnings"])


# --- for servers ------------------------------------------------------------------------------------------------------


def test_the_tree_is_looked_at_again_and_sections_are_made_only_after_a_change(shop: Indexed) -> None:
    write(shop.repository, "src/Voucher.cs", "public class VoucherPrinter { }\n")
    with open_index(shop.label, home=shop.cli.home.root) as index:
        first = index.with_work_tree()
        assert index.with_work_tree() is first
        write(shop.repository, "src/Voucher.cs", "public class CouponPrinter { public int Colour; }\n")
        second = index.with_work_tree()
        assert not first.search("Colour", mode="bm25").hits, "a request goes on with what it began with"
        assert second.search("Colour", mode="bm25").hits[0].work_tree
        assert second.overlay is not None and second.overlay.count == 1
        with second:
            pass
        assert index.search("RefundOrder").hits, "closing it leaves the index open"
        (shop.repository.path / "src/Voucher.cs").unlink()
        assert index.with_work_tree() is index


def test_threads_share_one_work_tree(shop: Indexed) -> None:
    write(shop.repository, "src/Voucher.cs", "public class VoucherPrinter { }\n")
    found: list[LabelIndex] = []
    with open_index(shop.label, home=shop.cli.home.root) as index:

        def ask() -> None:
            view = index.with_work_tree()
            assert view.search("VoucherPrinter").hits[0].path == "src/Voucher.cs"
            found.append(view)

        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(found) == 8 and len(set(map(id, found))) == 1


def test_several_labels_are_searched_as_one_with_their_work_trees(shop: Indexed, tmp_path: Path) -> None:
    other = new_repository(tmp_path / "other", {"tool.py": "def voucher_printer(): pass\n"})
    label = index_without_dagster(shop.cli.home, other, "other")
    write(shop.repository, "src/Voucher.cs", "public class VoucherPrinter { }\n")
    with open_index(shop.label, home=shop.cli.home.root) as one, open_index(label, home=shop.cli.home.root) as two:
        group = FederatedIndex([one.with_work_tree(), two.with_work_tree()])
        result = group.search("voucher printer", mode="bm25")
        assert {hit.path for hit in result} == {"src/Voucher.cs", "tool.py"} and result.overlaid == {shop.label: 1}
        assert all(hit.source for hit in result)
    found = shop.cli.run("search", "voucher printer", "--all", "--json").json
    assert {hit["path"] for hit in found["hits"]} == {"src/Voucher.cs", "tool.py"}


def test_without_a_checkout_there_is_no_work_tree(shop: Indexed, tmp_path: Path) -> None:
    with open_index(shop.label, home=shop.cli.home.root) as index, pytest.raises(NoWorkTree):
        index.with_work_tree(tmp_path)
    shop.repository.path.rename(tmp_path / "gone")
    with open_index(shop.label, home=shop.cli.home.root) as index, pytest.raises(WorkTreeError, match="--no-overlay"):
        index.with_work_tree()


def test_a_search_in_a_clean_checkout_loads_nothing_of_it(shop: Indexed) -> None:
    script = (
        "import sys; from rag_assets.cli import main\ntry:\n    main()\nfinally:\n"
        "    print([n for n in sys.modules if 'overlay' in n or n == 'pyarrow'], file=sys.stderr)\n"
    )
    command = [sys.executable, "-c", script, "--home", str(shop.cli.home.root), "search", "RefundOrder"]
    done = subprocess.run(
        command,
        cwd=shop.repository.path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0 and done.stderr.splitlines()[-1] == "[]", done.stderr


# --- what an index of the edited tree would say ----------------------------------------------------------------------

MANY: dict[str, str | bytes] = {
    **FILES,
    "src/Parts.cs": "namespace Shop;\n\npublic partial class Parts { public int One; }\n",
    "src/Parts.More.cs": "namespace Shop;\n\npublic partial class Parts { public int Two; }\n",
    "src/IStore.cs": "namespace Shop;\n\npublic interface IOrderStore { void Save(int id); }\n",
    "src/Store.cs": "namespace Shop;\n\npublic class OrderStore : IOrderStore { public void Save(int id) { } }\n",
    "src/Texts.resx": '<root><data name="Hello"><value>Good day</value></data></root>\n',
    "web/cart.tsx": "export function Cart() { return <p>cart</p> }\n",
    "go/main.go": "package main\n\n// Run runs.\nfunc Run(id int) int { return id }\n",
    "java/A.java": "package a;\n\n/** Sums. */\nclass Summer { int sum(int one) { return one; } }\n",
    "docs/long.md": "# Long\n\n" + "\n\n".join(f"## Part {n}\n\nWords of part {n}, {n * 'many '}." for n in range(30)),
}


def edits(repository: Repository, chosen: random.Random) -> list[str]:
    """Edits some files at random; the paths of all that is touched."""
    touched = []
    for path in chosen.sample([name for name in MANY if name != ".gitignore"], 8):
        file = repository.path / path
        lines = file.read_text().splitlines(keepends=True)
        at = chosen.randrange(len(lines) + 1)
        word = chosen.choice(("Zebra", "Yak", "Lama"))
        touched.append(path)
        match chosen.choice(("insert", "remove", "rename", "delete", "move", "swap")):
            case "insert":
                file.write_text("".join([*lines[:at], f"{word} {word}Counter {at}\n", *lines[at:]]))
            case "remove":
                file.write_text("".join([*lines[:at], *lines[at + 2 :]]))
            case "rename":
                file.write_text("".join(lines).replace(chosen.choice(("Order", "Shop", "id", "part")), word))
            case "delete":
                file.unlink()
            case "move":
                touched.append(f"moved/{word}{len(touched)}{file.suffix}")
                (repository.path / "moved").mkdir(exist_ok=True)
                file.rename(repository.path / touched[-1])
            case "swap":
                file.write_text("".join(lines[at:] + lines[:at]))
    return touched


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[IndexHome, Repository, LabelIndex]]:
    base = tmp_path_factory.mktemp("many")
    home, repository = IndexHome(base / "home"), new_repository(base / "shop", MANY)
    repository.git("branch", "base")
    with open_index(index_without_dagster(home, repository, "shop"), home=home.root) as index:
        yield home, repository, index


@pytest.mark.parametrize("seed", range(3))
def test_the_sections_are_those_of_an_index_of_the_edited_tree(
    many: tuple[IndexHome, Repository, LabelIndex], seed: int
) -> None:
    home, repository, index = many
    repository.git("checkout", "--quiet", "--force", "base")
    touched = edits(repository, random.Random(seed))
    over = index.with_work_tree()
    repository.git("checkout", "--quiet", "-B", "main")
    repository.git("add", "--all")
    repository.git("commit", "--quiet", "--allow-empty", "-m", ".")
    label = index_without_dagster(home, repository, "edited")
    with open_index(label, home=home.root) as built:
        mine, theirs = section_payloads(over, touched), section_payloads(built, touched)
        renamed = {key.replace(":edited:", ":shop:"): value for key, value in theirs.items()}
        of_label = {"RepoId", "DocId", "SemanticId", "ProjectId"}
        for known in (mine, renamed):
            for payload in known.values():
                for name in of_label:
                    payload.pop(name, None)
        assert mine.keys() == {key.replace(":edited:", ":shop:") for key in renamed}
        for asked in ("Zebra", "order store", "how is a parcel returned", "part many words", "save id", "Yak Lama"):
            filters = SearchFilters(paths=tuple(touched))
            found = [
                {(hit.path, hit.start_line, hit.end_line, hit.symbol, hit.kind, hit.members) for hit in searched}
                for searched in (one.search(asked, mode="bm25", filters=filters, limit=100) for one in (over, built))
            ]
            places = [{(path, start, end, symbol, kind) for path, start, end, symbol, kind, _ in one} for one in found]
            assert places[0] == places[1], asked


def test_many_files_are_laid_over_in_no_time(shop: Indexed) -> None:
    for number in range(50):
        write(shop.repository, f"new/Thing{number}.cs", ORDERS.replace("OrderService", f"Thing{number}"))
    with open_index(shop.label, home=shop.cli.home.root) as index:
        index.with_work_tree().search("order")  # modules are loaded
        write(shop.repository, "new/One.cs", ORDERS)
        started = time.perf_counter()
        assert index.with_work_tree().search("order").hits
        assert time.perf_counter() - started < 5.0, "a second on an idle machine (benchmarks/overlay.py)"
