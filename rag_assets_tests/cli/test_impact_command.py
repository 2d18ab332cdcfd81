"""`rag-assets impact`: from the diff of two commits to routes, tables, documents and the tests worth running."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import pytest

from rag_assets import Touched, WrongQuestion, open_index
from rag_assets.graph.artifact import GRAPH_FOLDER, HEADER
from rag_assets.index.generations import active_generation
from rag_assets.index.layout import IndexHome
from rag_assets.pipeline.run_stages import run_stages
from rag_assets.settings import EmbedderSettings, RepositorySettings, Settings
from rag_assets_tests.cli.conftest import CommandLine, Indexed, index_without_dagster, new_repository
from rag_assets_tests.git_repository import Repository

MANAGER = "src/Shop/RefundManager.cs"
CONTROLLER = "src/Shop/RefundsController.cs"
TESTS = "tests/Shop.Tests/RefundManagerTests.cs"

FILES: Mapping[str, str | bytes] = {
    MANAGER: """\
using System;

namespace Shop;

/// <summary>Pays back.</summary>
public class RefundManager
{
    private readonly Ledger ledger = new Ledger();

    public decimal Refund(int order)
    {
        ledger.Book(order);
        return 1m;
    }

    public int Unused() => 0;

    public bool Allowed(int order) => order > 0;
}
""",
    "src/Shop/Ledger.cs": """\
namespace Shop;

public class Ledger
{
    public void Book(int order)
    {
        using var command = new SqlCommand("INSERT INTO dbo.Refunds (OrderId) VALUES (@order)");
    }
}
""",
    CONTROLLER: """\
using Microsoft.AspNetCore.Mvc;

namespace Shop;

[ApiController]
[Route("api/refunds")]
public class RefundsController : ControllerBase
{
    private readonly RefundManager manager;

    public RefundsController(RefundManager manager) { this.manager = manager; }

    [HttpPost("{order}")]
    public decimal Post(int order)
    {
        return manager.Refund(order);
    }
}
""",
    TESTS: """\
using Xunit;

namespace Shop.Tests;

public class RefundManagerTests
{
    [Fact]
    public void Pays_back()
    {
        var manager = new RefundManager();
        Assert.Equal(1m, manager.Refund(3));
    }

    [Fact]
    public void Allows()
    {
        var manager = new RefundManager();
        Assert.True(manager.Allowed(3));
    }
}
""",
    "db/tables.sql": "CREATE TABLE dbo.Refunds (OrderId int NOT NULL);\nGO\n",
    "docs/refunds.md": "# Refunds\n\nA `RefundManager` pays back: `RefundManager.Refund()`.\n\n# Other\n\nNothing.\n",
    "build/logo.png": b"\x89PNG\x00\x01",
}


def replaced(path: str, old: str, new: str) -> dict[str, str | bytes]:
    text = FILES[path]
    assert isinstance(text, str) and old in text
    return {path: text.replace(old, new)}


def shop_with(
    folder: Path,
    change: Mapping[str, str | bytes],
    *,
    without: tuple[str, ...] = (),
    before: Mapping[str, str | bytes] = FILES,
) -> Indexed:
    """The shop, indexed at a commit that changes it; the one before is `HEAD~1`."""
    folder.mkdir(parents=True, exist_ok=True)
    repository = new_repository(folder / "shop", dict(before))
    for path in without:
        (repository.path / path).unlink()
    repository.commit(change)
    cli = CommandLine(IndexHome(folder / "home"), folder)
    return Indexed(cli, repository, index_without_dagster(cli.home, repository, "shop"))


@pytest.fixture(scope="module")
def refund_changed(tmp_path_factory: pytest.TempPathFactory) -> Indexed:
    """Another body of one method, a comment of another file, a picture, a file that nothing indexes."""
    change = {
        **replaced(MANAGER, "return 1m;", "return 2m;"),
        **replaced(CONTROLLER, "using Microsoft", "// a comment\nusing Microsoft"),
        "build/logo.png": b"\x89PNG\x00\x02",
    }
    return shop_with(tmp_path_factory.mktemp("refund"), change)


def keys(found: dict[str, object], what: str) -> list[str]:
    touched = found["touched"]
    assert isinstance(touched, list)
    return [node["key"] for node in touched if node["what"] == what]


def asked(shop: Indexed, *words: str) -> dict[str, object]:
    done = shop.cli.run("impact", "--since", "HEAD~1", *words, "--json")
    assert done.code == 0, done.err
    return done.json  # type: ignore[no-any-return]


def test_a_change_of_a_method_touches_its_route_its_test_and_its_document(refund_changed: Indexed) -> None:
    found = asked(refund_changed)
    assert keys(found, "endpoint") == ["http:POST /api/refunds/{order}|ENDPOINT"]
    assert keys(found, "document") == ["doc:docs/refunds.md#refunds|SECTION"]
    first = next(node for node in found["touched"] if node["what"] == "test")  # type: ignore[attr-defined]
    assert first["tests"] == ["Shop.Tests.RefundManagerTests.Pays_back"]
    assert (first["path"], first["line"], first["is_suite"]) == (TESTS, 7, False)
    assert (first["distance"], first["confidence"]) == (1, "resolved")
    assert first["because"] == "csharp:Shop.RefundManager.Refund(int)|METHOD"
    (step,) = first["steps"]
    assert (step["source"], step["path"], step["line"]) == (first["key"], TESTS, 11)


def test_the_way_to_a_route_is_told_edge_by_edge(refund_changed: Indexed) -> None:
    (route,) = (node for node in asked(refund_changed)["touched"] if node["what"] == "endpoint")  # type: ignore[attr-defined]
    assert [(step["relation"], step["path"], step["line"], step["forward"]) for step in route["steps"]] == [
        ("Calls", CONTROLLER, 17, False),
        ("Exposes", CONTROLLER, 14, True),
    ]
    said = refund_changed.cli.run("impact", "--since", "HEAD~1").out
    assert "RefundManager.Refund ← Calls RefundsController.Post (RefundsController.cs:17) → Exposes POST /api/" in said


def test_comments_are_no_changes_and_files_outside_the_graph_are_named(refund_changed: Indexed) -> None:
    files = {file["path"]: file for file in asked(refund_changed)["files"]}  # type: ignore[attr-defined]
    assert files[CONTROLLER]["declarations"] == []
    assert files[MANAGER]["declarations"] == ["csharp:Shop.RefundManager.Refund(int)|METHOD"]
    assert files["build/logo.png"]["outside"].startswith("skipped as ")
    said = refund_changed.cli.run("impact", "--since", "HEAD~1").out
    assert "build/logo.png  not in the graph: skipped as " in said


@pytest.mark.parametrize("written", ["test,endpoint", "tests"])
def test_only(refund_changed: Indexed, written: str) -> None:
    found = asked(refund_changed, "--only", written)
    wanted = {part.removesuffix("s") for part in written.split(",")}
    assert set(found["totals"]) == wanted == {node["what"] for node in found["touched"]}  # type: ignore[call-overload, attr-defined]


def test_names_for_a_runner_are_alone_on_their_lines(refund_changed: Indexed) -> None:
    done = refund_changed.cli.run("impact", "--since", "HEAD~1", "--tests")
    assert done.out.splitlines()[0] == "Shop.Tests.RefundManagerTests.Pays_back"
    assert all(line.startswith("Shop.Tests.") for line in done.out.splitlines())


def test_from_python(refund_changed: Indexed) -> None:
    with open_index(refund_changed.label, home=refund_changed.cli.home.root) as index:
        found = index.impact("HEAD~1", only=["test"])
        assert json.loads(json.dumps(asdict(found))) == asked(refund_changed, "--only", "test")
        assert found.of(Touched.TEST)[0].name == "Pays_back"
        with pytest.raises(WrongQuestion, match="'routes' is nothing that a change touches; valid: test, endpoint"):
            index.impact("HEAD~1", only=["routes"])


def test_a_table_touches_who_writes_it(tmp_path: Path) -> None:
    shop = shop_with(tmp_path, replaced("db/tables.sql", "OrderId int", "OrderId bigint"))
    found = asked(shop)
    assert keys(found, "table") == ["dbo.Refunds|TABLE"]
    assert keys(found, "endpoint") == ["http:POST /api/refunds/{order}|ENDPOINT"]
    assert "csharp:Shop.Tests.RefundManagerTests.Pays_back()|METHOD" in keys(found, "test")


def test_a_text_of_a_table_that_is_gone_touches_what_the_table_did(tmp_path: Path) -> None:
    columns = {"db/tables.sql": "CREATE TABLE dbo.Refunds (\n  OrderId int NOT NULL,\n  Note text\n);\nGO\n"}
    change = {"db/tables.sql": "CREATE TABLE dbo.Refunds (\n  OrderId int NOT NULL\n);\nGO\n"}
    found = asked(shop_with(tmp_path, change, before={**FILES, **columns}))
    (file,) = found["files"]  # type: ignore[misc]
    assert file["declarations"] == ["dbo.Refunds|TABLE"]
    assert keys(found, "endpoint") == ["http:POST /api/refunds/{order}|ENDPOINT"]


def test_a_new_member_is_run_by_those_who_name_it_and_not_by_all_who_make_its_type(tmp_path: Path) -> None:
    new = "    public int Unused() => 0;\n\n    public int Added() => 0;\n"
    change = replaced(MANAGER, "    public int Unused() => 0;\n", new)
    shop = shop_with(tmp_path, change)
    done = shop.cli.run("impact", "--since", "HEAD~1", "--json")
    assert done.json["files"][0]["declarations"] == ["csharp:Shop.RefundManager.Added()|METHOD"]
    assert (done.code, done.json["totals"]["test"]) == (4, 0)
    changed = shop_with(tmp_path / "changed", replaced(MANAGER, "Unused() => 0", "Unused() => 1"))
    found = asked(changed)
    assert found["totals"]["test"] == 1  # type: ignore[index]
    assert {(node["confidence"], node["is_suite"]) for node in found["touched"]} == {("probable", True)}  # type: ignore[attr-defined]


def test_a_changed_document_is_touched_itself(tmp_path: Path) -> None:
    shop = shop_with(tmp_path, replaced("docs/refunds.md", "Nothing.", "Nothing more."))
    found = asked(shop)
    assert keys(found, "document") == ["doc:docs/refunds.md#other|SECTION"]
    assert found["totals"] == {"test": 0, "endpoint": 0, "table": 0, "document": 1}


def test_who_calls_what_is_gone_is_affected_by_name(tmp_path: Path) -> None:
    """An override is gone; its callers reach the method of the base class now."""
    rules = "namespace Shop;\n\npublic class Rules\n{\n    public virtual bool Allowed(int order) => order > 1;\n}\n"
    line = "    public override bool Allowed(int order) => order > 0;\n"
    manager = str(replaced(MANAGER, "public bool Allowed", "public override bool Allowed")[MANAGER])
    manager = manager.replace("class RefundManager", "class RefundManager : Rules")
    before = {**FILES, MANAGER: manager, "src/Shop/Rules.cs": rules}
    shop = shop_with(tmp_path, {MANAGER: manager.replace(line, "")}, before=before)
    (file,) = asked(shop)["files"]  # type: ignore[misc]
    assert (file["declarations"], file["removed"]) == ([], ["csharp:Shop.RefundManager.Allowed(int)|METHOD"])
    (test,) = asked(shop)["touched"]  # type: ignore[misc]
    assert test["key"] == "csharp:Shop.Tests.RefundManagerTests.Allows()|METHOD"
    assert (test["confidence"], test["because"]) == ("name-only", file["removed"][0])
    said = shop.cli.run("impact", "--since", "HEAD~1").out
    assert "RefundManager.Allowed is gone; Rules.Allowed ← Calls RefundManagerTests.Allows" in said


def test_a_deleted_file_names_what_is_gone_and_who_uses_its_namesake(tmp_path: Path) -> None:
    journal = "namespace Shop.Books;\n\npublic class Ledger\n{\n    public void Book(int number, int year = 0) { }\n}\n"
    manager = replaced(MANAGER, "using System;", "using System;\nusing Shop.Books;")
    shop = shop_with(tmp_path, {"src/Books/Journal.cs": journal, **manager}, without=("src/Shop/Ledger.cs",))
    found = asked(shop)
    (deleted,) = (file for file in found["files"] if file["change"] == "deleted")  # type: ignore[attr-defined]
    assert deleted["path"] == "src/Shop/Ledger.cs"
    assert deleted["removed"] == ["csharp:Shop.Ledger|TYPE", "csharp:Shop.Ledger.Book(int)|METHOD"]
    assert "csharp:Shop.Tests.RefundManagerTests.Pays_back()|METHOD" in keys(found, "test")
    said = shop.cli.run("impact", "--since", "HEAD~1").out
    assert "deleted   src/Shop/Ledger.cs  Ledger (gone), Ledger.Book (gone)" in said


def test_a_renamed_file_without_changed_lines_touches_nothing(tmp_path: Path) -> None:
    shop = shop_with(tmp_path, {"src/Shop/Money/RefundManager.cs": FILES[MANAGER]}, without=(MANAGER,))
    done = shop.cli.run("impact", "--since", "HEAD~1")
    assert done.code == 4
    assert "the changes touch none of: tests, endpoints, tables, documents" in done.err
    assert f"renamed   src/Shop/Money/RefundManager.cs (was {MANAGER})" in done.out


def test_what_runs_before_all_cases_of_a_class_selects_the_class(tmp_path: Path) -> None:
    text = FILES[TESTS]
    assert isinstance(text, str)
    made = "    private readonly RefundManager made = new RefundManager();\n\n    [Fact]\n    public void Pays"
    text = text.replace("new RefundManager()", "made").replace("    [Fact]\n    public void Pays", made)
    shop = shop_with(tmp_path, replaced(MANAGER, "Unused() => 0", "Unused() => 1"), before={**FILES, TESTS: text})
    (found,) = asked(shop, "--only", "test")["touched"]  # type: ignore[misc]
    assert (found["tests"], found["is_suite"]) == (["Shop.Tests.RefundManagerTests"], True)
    assert found["confidence"] == "probable"


def test_cases_of_an_abstract_class_run_in_the_classes_that_inherit_them(tmp_path: Path) -> None:
    text = FILES[TESTS]
    assert isinstance(text, str)
    text = text.replace("class RefundManagerTests", "abstract class RefundRules")
    text += "public class CardRefunds : RefundRules { }\npublic class CashRefunds : RefundRules { }\n"
    shop = shop_with(tmp_path, replaced(MANAGER, "return 1m;", "return 2m;"), before={**FILES, TESTS: text})
    found = asked(shop, "--only", "test")["touched"][0]  # type: ignore[index]
    assert found["tests"] == ["Shop.Tests.CardRefunds.Pays_back", "Shop.Tests.CashRefunds.Pays_back"]


def test_a_branch_that_has_gone_on_is_compared_with_where_it_was_left(refund_changed: Indexed) -> None:
    git = refund_changed.repository.git
    git("branch", "--force", "other", "HEAD~1")
    start = git("rev-parse", "HEAD~1")
    later = git("commit-tree", f"{start}^{{tree}}", "-p", start, "-m", "later")
    git("update-ref", "refs/heads/other", later)
    found = refund_changed.cli.run("impact", "--since", "other", "--json").json
    assert found["base_commit"] == start
    assert found["notes"] == [f"other has gone on since {start[:10]}; the changes are those after that commit"]
    assert keys(found, "endpoint")


def test_another_last_commit_than_the_indexed_one(refund_changed: Indexed) -> None:
    """Lines of a text that is not indexed are looked up in its own declarations."""
    git = refund_changed.repository.git
    path = refund_changed.repository.path / MANAGER
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("order > 0", "order > 7").replace("using System;", "using System;\n\n\n\n"), "utf-8")
    git("stash")
    stashed = git("rev-parse", "stash@{0}")
    git("update-ref", "refs/heads/newer", stashed)
    git("stash", "drop")
    found = refund_changed.cli.run("impact", "--since", "main", "--until", "newer", "--json").json
    assert [key for file in found["files"] for key in file["declarations"]] == [
        "csharp:Shop.RefundManager.Allowed(int)|METHOD"
    ]
    assert found["notes"][0].startswith("the graph is that of commit ")
    assert keys(found, "test")[0] == "csharp:Shop.Tests.RefundManagerTests.Allows()|METHOD"


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        pytest.param(["--since", "mian"], 1, "no branch or tag 'mian'; near names: main", id="ref"),
        pytest.param(
            ["--since", "main~99"],
            1,
            "'main~99' goes back further than the history of main, which has 2 commits",
            id="steps",
        ),
        pytest.param(["--since", ":/change"], 1, "no branch or tag ':/change'", id="search in messages"),
        pytest.param(["--since", "deadbeef"], 1, "no commit deadbeef", id="commit"),
        pytest.param(["--since", "main", "--until", "main~1"], 1, "main~1 is older than main", id="the wrong way"),
        pytest.param(["--since", "main", "--only", "routes"], 2, "valid: test, endpoint, table, document", id="only"),
        pytest.param(["--since", "main", "--only", ","], 2, "it names nothing", id="only nothing"),
        pytest.param(["--since", "main", "--tests", "--json"], 2, "leave out --json", id="two forms"),
        pytest.param([], 2, "Missing option", id="since what"),
        pytest.param(["--since", "main"], 4, "is commit", id="the indexed commit itself"),
    ],
)
def test_wrong_requests_say_what_would_be_right(
    refund_changed: Indexed, words: list[str], code: int, said: str
) -> None:
    done = refund_changed.cli.run("impact", *words)
    assert done.code == code
    assert said in " ".join((done.err + done.out).replace("│", " ").split())


def test_an_index_that_is_older_than_the_changes_says_so(tmp_path: Path) -> None:
    shop = shop_with(tmp_path, replaced(MANAGER, "return 1m;", "return 2m;"))
    shop.repository.commit({"new.md": "# New\n\nText.\n"})
    done = shop.cli.run("impact", "--since", "main")
    assert done.code == 1
    assert "the index of shop@main is older than main" in done.err
    assert done.err.endswith("run: rag-assets index shop@main\n")


def test_without_its_repository_it_says_where_to_get_one(tmp_path: Path) -> None:
    shop = shop_with(tmp_path, replaced(MANAGER, "return 1m;", "return 2m;"))
    shutil.move(shop.repository.path, tmp_path / "away")
    done = shop.cli.run("impact", "--since", "main~1")
    assert done.code == 1
    assert "which is not at hand" in done.err
    assert "rag-assets index PATH --id shop" in done.err


def test_a_repository_of_a_server_is_read_from_its_mirror_without_the_network(tmp_path: Path) -> None:
    shop = shop_with(tmp_path, replaced(MANAGER, "return 1m;", "return 2m;"))
    settings = Settings(home=shop.cli.home.root, embedder=EmbedderSettings(provider="lexical-only"))
    remote = RepositorySettings(id="far", location=shop.repository.path.as_uri(), ref="main")
    run_stages(settings, "far@main", remote)
    shutil.move(shop.repository.path, tmp_path / "away")
    found = shop.cli.run("impact", "--label", "far@main", "--since", "main~1", "--json").json
    assert keys(found, "endpoint") == ["http:POST /api/refunds/{order}|ENDPOINT"]
    shutil.rmtree(shop.cli.home.mirrors)
    done = shop.cli.run("impact", "--label", "far@main", "--since", "main~1")
    assert done.code == 1
    assert "has no clone below" in done.err


def test_a_folder_without_commits_has_no_changes(tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    (folder / "a.md").write_text("# A\n\nText.\n", encoding="utf-8")
    cli = CommandLine(IndexHome(tmp_path / "home"), tmp_path)
    index_without_dagster(cli.home, Repository(folder), "plain")
    done = cli.run("impact", "--since", "main")
    assert done.code == 1
    assert "is a directory, which has no commits" in done.err


def test_without_a_graph_it_says_what_to_run(tmp_path: Path) -> None:
    shop = shop_with(tmp_path, replaced(MANAGER, "return 1m;", "return 2m;"))
    (active_generation(shop.cli.home, shop.label).directory / GRAPH_FOLDER / HEADER).unlink()
    done = shop.cli.run("impact", "--since", "main~1")
    assert done.code == 1
    assert f"the index of {shop.label} has no graph" in done.err


def test_what_is_above_the_clearance_is_neither_named_nor_counted(tmp_path: Path) -> None:
    """E12: the changed file is hidden, or the test that runs it is."""
    change = replaced(MANAGER, "return 1m;", "return 2m;")
    shop = shop_with(tmp_path, change | {"src/secret/Plan.cs": "namespace Shop; public class Plan { }\n"})
    config = tmp_path / "rag_assets.yaml"
    config.write_text(
        f"home: {shop.cli.home.root}\nroles: {{guest: public, boss: restricted}}\nrepositories:\n"
        f"  - {{id: shop, location: {shop.repository.path}, ref: main,\n"
        "     confidential_paths: {'src/secret/**': restricted, 'tests/**': restricted, 'src/**': public,\n"
        "                          'docs/**': public}}\n"
        "embedder: {provider: lexical-only}\n",
        encoding="utf-8",
    )
    options = ("--config", str(config))
    shop.cli.build("shop", options=options, force=True)
    seen = {
        role: shop.cli.run("impact", "--since", "main~1", "--json", options=(*options, "--role", role)).json
        for role in ("guest", "boss")
    }
    assert [file["path"] for file in seen["guest"]["files"]] == [MANAGER]
    assert [file["path"] for file in seen["boss"]["files"]] == [MANAGER, "src/secret/Plan.cs"]
    assert (seen["guest"]["totals"]["test"], keys(seen["guest"], "test")) == (0, [])
    assert keys(seen["boss"], "test")
    assert keys(seen["guest"], "endpoint") == keys(seen["boss"], "endpoint")


OTHER_LANGUAGES = {
    "python class": (
        ("cart.py", "class Cart:\n    def total(self):\n        return 1\n"),
        (
            "tests/test_cart.py",
            "from cart import Cart\n\n\nclass TestCart:\n    def test_total(self):\n        Cart().total()\n",
        ),
        "tests/test_cart.py::TestCart::test_total",
    ),
    "python function": (
        ("cart.py", "def total(lines):\n    return 1\n"),
        ("test_cart.py", "from cart import total\n\n\ndef test_sum():\n    total([1])\n\n\ndef test_b():\n    pass\n"),
        "test_cart.py::test_sum",
    ),
    "go": (
        ("cart.go", "package cart\n\nfunc Total(n int) int {\n\treturn 1\n}\n"),
        ("cart_test.go", "package cart\n\nfunc TestSum(t *testing.T) {\n\tTotal(1)\n}\n"),
        "TestSum",
    ),
    "typescript": (
        ("src/cart.ts", "export function total(n: number): number {\n  return 1;\n}\n"),
        ("src/cart.test.ts", "import { total } from './cart';\n\nit('sums', () => {\n  total(1);\n});\n"),
        "src/cart.test.ts",
    ),
    "java": (
        ("src/main/java/shop/Cart.java", "package shop;\n\nclass Cart {\n  int total() { return 1; }\n}\n"),
        (
            "src/test/java/shop/CartTest.java",
            "package shop;\n\nclass CartTest {\n  @Test\n  void sums() { new Cart().total(); }\n}\n",
        ),
        "shop.CartTest.sums",
    ),
}


@pytest.mark.parametrize(("code", "tests", "runner"), OTHER_LANGUAGES.values(), ids=OTHER_LANGUAGES)
def test_tests_of_other_languages_are_those_that_call_what_changed(
    tmp_path: Path, code: tuple[str, str], tests: tuple[str, str], runner: str
) -> None:
    repository = new_repository(tmp_path / "shop", {code[0]: code[1], tests[0]: tests[1], "a.md": "# A\n\nText.\n"})
    repository.commit({code[0]: code[1].replace("return 1", "return 2")})
    cli = CommandLine(IndexHome(tmp_path / "home"), tmp_path)
    index_without_dagster(cli.home, repository, "shop")
    first, *others = cli.run("impact", "--since", "HEAD~1", "--tests").out.split()
    assert first == runner
    assert others in ([], [first.removesuffix(".sums").removesuffix("::test_total")])  # the class that tests the type
    found = cli.run("impact", "--since", "HEAD~1", "--only", "test", "--json").json["touched"][0]
    assert (found["confidence"], found["distance"]) == ("resolved", 1)
    assert found["steps"][0]["path"] == tests[0]


def test_a_test_that_names_what_changed_is_selected_where_nothing_tells_whom_it_calls(tmp_path: Path) -> None:
    code = "class Cart:\n    def total(self):\n        return 1\n"
    tests = "from shop import Cart\n\n\ndef test_total(thing):\n    assert thing.total() and Cart\n"
    repository = new_repository(tmp_path / "shop", {"shop.py": code, "tests/test_cart.py": tests})
    repository.commit({"shop.py": code.replace("return 1", "return 2")})
    cli = CommandLine(IndexHome(tmp_path / "home"), tmp_path)
    index_without_dagster(cli.home, repository, "shop")
    (found,) = cli.run("impact", "--since", "HEAD~1", "--only", "test", "--json").json["touched"]
    assert (found["key"], found["confidence"]) == ("python:tests.test_cart.test_total|METHOD", "name-only")


def test_compare_tells_routes_tables_and_edges_that_came_and_went(tmp_path: Path) -> None:
    shop = shop_with(tmp_path, {})
    archived = replaced("src/Shop/Ledger.cs", "INSERT INTO dbo.Refunds", "INSERT INTO dbo.Archive")
    posted = replaced(CONTROLLER, '[HttpPost("{order}")]', '[HttpPut("{order}")]')
    tables = {"db/archive.sql": "CREATE TABLE dbo.Archive (OrderId int NOT NULL);\nGO\n"}
    shop.repository.commit({**archived, **posted, **tables})
    index_without_dagster(shop.cli.home, shop.repository, "shop")
    said = shop.cli.run("generations", "compare", "previous", "active", "--graph", "--limit", "0").out
    assert "  + http:PUT /api/refunds/{order}|ENDPOINT\n" in said
    assert "  + dbo.Archive|TABLE\n" in said
    assert "  - http:POST /api/refunds/{order}|ENDPOINT\n" in said
    assert "  - csharp:Shop.Ledger.Book(int)|METHOD WritesTo dbo.Refunds|TABLE  src/Shop/Ledger.cs:7\n" in said
    told = shop.cli.run("generations", "compare", "previous", "active", "--graph", "--json").json["graph"]
    assert told["added"]["named"] == ["dbo.Archive|TABLE", "http:PUT /api/refunds/{order}|ENDPOINT"]
    assert told["removed"]["edges"]["WritesTo"] == 1
    assert "graph" not in shop.cli.run("generations", "compare", "previous", "active", "--json").json
