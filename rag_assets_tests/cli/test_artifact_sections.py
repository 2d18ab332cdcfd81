"""`rag-assets artifact` without a model: every section says what the index knows, or is left out and named once."""

from __future__ import annotations

import json
import re
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from rag_assets.graph.artifact import GRAPH_FOLDER, HEADER
from rag_assets.index.generations import active_generation
from rag_assets.index.layout import IndexHome
from rag_assets_tests.cli.conftest import CommandLine, Repository, index_without_dagster, new_repository

SHOP = Path(__file__).parents[2] / "examples" / "shop"
TYPES = ("blueprint", "pdr", "workflow", "build_plan")


def indexed_as(folder: Path, identifier: str, files: dict[str, str | bytes]) -> CommandLine:
    """A command line of its own folder with one lexical index."""
    cli = CommandLine(IndexHome(folder / "home"), folder)
    index_without_dagster(cli.home, new_repository(folder / identifier, files), identifier)
    return cli


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    """The example shop in a repository of its own, and a line that is left to do."""
    base = tmp_path_factory.mktemp("example")
    shutil.copytree(SHOP, base / "shop")
    manager = base / "shop/src/Fernhill.Shop.Domain/Orders/OrderManager.cs"
    text = manager.read_text(encoding="utf-8").replace("{\n    ", "{\n    // FIXME: split this file\n    ", 1)
    manager.write_text(text, encoding="utf-8")
    repository = Repository.new(base / "shop")
    repository.git("add", "--force", ".")
    repository.git("commit", "--quiet", "--message=all")
    cli = CommandLine(IndexHome(base / "home"), base)
    index_without_dagster(cli.home, repository, "shop")
    return cli


def made(cli: CommandLine, *arguments: str, options: tuple[str, ...] | None = None) -> dict[str, Any]:
    """Made once for all tests that read the same."""
    return _made(cli.home, cli.folder, arguments, options)


@cache
def _made(home: IndexHome, folder: Path, arguments: tuple[str, ...], options: tuple[str, ...] | None) -> dict[str, Any]:
    words = ("artifact", *arguments, "--offline", "--json")
    found: dict[str, Any] = CommandLine(home, folder).run(*words, options=options).json
    return found


def sections(found: dict[str, Any]) -> dict[str, str]:
    return {one["heading"].lstrip("# "): one["text"] for one in found["sections"]}


def with_chunks(text: str) -> str:
    """The text of a file whose notes name the chunks, with the chunks in their places."""
    body, _, notes = text.partition("\n\n[^1]: ")
    chunks = re.findall(r"\(chunk (\w+)\)$", notes, re.MULTILINE)
    return re.sub(r"\[\^(\d+)\]", lambda note: f"[chunk: {chunks[int(note[1]) - 1]}]", body)


def controller_of(name: str, **actions: str) -> str:
    """The source of a controller with an action for each route."""
    members = "\n".join(
        f'    [HttpGet("{route}")]\n    public int {route.title()}() => {value};\n' for route, value in actions.items()
    )
    head = f'namespace Shop;\n\n[Route("api/{name.lower()}")]\npublic class {name}Controller : ControllerBase\n'
    return f"{head}{{\n{members}}}\n"


def picture_of(text: str) -> list[str]:
    """The lines of the Mermaid block, without its fences."""
    return text.partition("```mermaid\n")[2].partition("```")[0].splitlines()


@pytest.mark.rule("E17", "E19")
@pytest.mark.parametrize(
    ("title", "said"),
    [
        ("Overview", "> The web shop of *Fernhill Garden Supply*, a company that does not exist."),
        (
            "Overview",
            "- Project **Fernhill.Shop.Worker** in src/Fernhill.Shop.Worker/Fernhill.Shop.Worker.csproj:1: `<P",
        ),
        ("Overview", "- Entry point **src/Fernhill.Shop.Api/Program.cs** in src/Fernhill.Shop.Api/Program.cs:"),
        ("Overview", "of kind Controller: **IndexModel**, **CatalogEndpoints**, **InvoicesController** and others"),
        ("Architecture", "- **src/Fernhill.Shop.Api** uses **src/Fernhill.Shop.Domain** in "),
        ("Architecture", "“A customer's order: what was bought, at which price, and how far it has come.” [chunk: "),
        ("Features", "- **DELETE /api/orders/{number}** is exposed by **OrdersController.CancelAsync** in src/Fernh"),
        ("Features", "- **GET /health** is exposed by **src/Fernhill.Shop.Api/Program.cs** in src/Fernhill.Shop.Ap"),
        ("Features", "- **PlaceOrderHandler.HandleAsync** handles **PlaceOrderCommand** in src/Fernhill.Shop.Domain"),
        ("Data", "- **Order** is kept in **sales.Orders** in src/Fernhill.Shop.Infrastructure/Data/EntityConfigur"),
        ("Data", "- **sales.CancelOrder** writes to **sales.Orders** in db/sqlserver/003-routines.sql:76: `UPDATE"),
        ("Data", "- **sales.OpenOrders** reads from **sales.Orders** in db/sqlserver/002-views.sql:5: `FROM sal"),
        ("Data", "- **billing.Invoices** refers to **sales.Orders** in db/sqlserver/001-tables.sql:77: `OrderId"),
        ("Risks", "declarations depend on **OrderFilterBuilder.Where** (all certain), and no known test reaches it"),
        ("Next Steps", "- Marked as wrong in src/Fernhill.Shop.Domain/Orders/OrderManager.cs:"),
        (
            "Next Steps",
            "- No known test reaches **GET /api/orders/{number}**, which **OrdersController.GetAsync** expo",
        ),
    ],
)
def test_a_blueprint_says_what_the_index_knows(shop: CommandLine, title: str, said: str) -> None:
    assert said in sections(made(shop, "blueprint"))[title]


def test_the_picture_has_the_projects_and_what_they_use(shop: CommandLine) -> None:
    lines = picture_of(sections(made(shop, "blueprint"))["Architecture"])
    names = dict(re.fullmatch(r'  (n\d+)\["(.+)"\]', line).groups() for line in lines[1:] if "[" in line)  # type: ignore[union-attr]
    arrows = [re.fullmatch(r'  (n\d+) -->\|"([\d]+)"\| (n\d+)', line).groups() for line in lines if "-->" in line]  # type: ignore[union-attr]
    assert lines[0] == "flowchart LR" and len(lines) == 1 + len(names) + len(arrows)
    drawn = {(names[one], names[other]): int(count) for one, count, other in arrows}
    assert drawn["src/Fernhill.Shop.Worker", "src/Fernhill.Shop.Infrastructure"] > 1
    assert ("src/Fernhill.Shop.Domain", "src/Fernhill.Shop.Api") not in drawn
    assert not any("tests" in name for name in names.values()) and len(names) <= 12


@pytest.mark.rule("E19", "R26")
@pytest.mark.parametrize(
    ("kind", "subject"),
    [*((kind, ()) for kind in TYPES), ("blueprint", ("refund of an order",)), ("workflow", ("refund of an order",))],
    ids=lambda value: value if isinstance(value, str) else "refund" if value else "everything",
)
def test_every_statement_is_cited_and_every_citation_holds(
    shop: CommandLine, tmp_path: Path, kind: str, subject: tuple[str, ...]
) -> None:
    found = made(shop, kind, *subject)
    assert found["sections"] and {one["support"] for one in found["checks"]} == {"supported"}
    for body in sections(found).values():
        assert all("[chunk: " in line for line in body.splitlines() if line.startswith("- "))
    target = tmp_path / "made.md"
    assert shop.run("artifact", kind, *subject, "--offline", "-o", target).code == 0
    checked = shop.run("cite", "check", target, "-l", "shop@main", "--json")
    assert checked.code == 0, checked.out
    assert with_chunks(target.read_text(encoding="utf-8")) == found["text"], "made again, it says the same"


def test_a_subject_has_what_it_touches_and_nothing_else(shop: CommandLine) -> None:
    told = sections(made(shop, "blueprint", "reminders of overdue invoices"))
    features = told["Features"].partition("**Endpoints**")[2].partition("**In the sources**")[0]
    assert "**POST /api/Invoices/Remind**" in features and "/api/catalog" not in features
    assert "/health" not in features and "/api/newsletter" not in features, "mapped in the same file, and nothing else"
    loyal = sections(made(shop, "blueprint", "discount of loyal customers"))["Features"]
    endpoints = re.findall(r"^- \*\*([A-Z]+ /\S+)\*\*", loyal, re.MULTILINE)
    assert endpoints == ["GET /api/customers/{id}/discount"]
    assert "**billing.Invoices**" in told["Data"] and "**Supplier**" not in told["Data"]
    assert "- **IInvoiceManager** in src/Fernhill.Shop.Domain/Invoicing/InvoiceManager.cs:" in told["Overview"]
    assert "**Projects**" not in told["Overview"]


@pytest.mark.parametrize("kind", TYPES)
def test_sections_that_nothing_fills_are_named_once_at_the_top(shop: CommandLine, kind: str) -> None:
    found = made(shop, kind, "reminders of overdue invoices")
    there = {one["heading"].lstrip("# ") for one in found["sections"]}
    assert not there & set(found["left_out"]) and all(one["text"] for one in found["sections"])
    shown = shop.run("artifact", kind, "reminders of overdue invoices", "--offline").out
    if found["left_out"]:
        assert shown.startswith(f"Left out, as nothing in the index fills them: {', '.join(found['left_out'])}.\n\n#")
    assert shown.count("Left out") == bool(found["left_out"]) and "Nothing in the index" not in shown


def test_what_an_endpoint_is_called_in_a_test_counts_as_a_test(tmp_path: Path) -> None:
    """Tests over HTTP name a route in a text, which is no edge of the graph."""
    test = """\
namespace Shop.Tests;

public class OverHttp
{
    [Fact]
    public void Sent()
    {
        var found = new HttpClient().GetAsync("/API/parcels/sent");
    }
}
"""
    controller = controller_of("Parcels", sent="1", lost="2")
    cli = indexed_as(
        tmp_path, "parcels", {"src/ParcelsController.cs": controller, "tests/Shop.Tests/OverHttp.cs": test}
    )
    steps = sections(made(cli, "blueprint"))["Next Steps"]
    assert "**GET /api/parcels/lost**" in steps and "/sent" not in steps


def test_languages_without_a_resolver_make_no_claim_of_tests(tmp_path: Path) -> None:
    """E20: the graph has not all calls of Python, so nothing follows from an edge that is not there."""
    cli = indexed_as(
        tmp_path,
        "arrows",
        {
            "README.md": "# Arrows\n\nArrows shows how far it is to a town.\n",
            "pyproject.toml": '[project]\nname = "arrows"\n',
            "arrows/way.py": "class Way:\n    def length(self):\n        return 1  # TODO: count hills\n\n"
            "    def towns(self):\n        return []\n",
            "arrows/__main__.py": 'from arrows.way import Way\n\nif __name__ == "__main__":\n    Way().length()\n',
        },
    )
    found = made(cli, "blueprint")
    told = sections(found)
    assert found["left_out"] == ["Goals", "Data", "Risks"]
    assert "> Arrows shows how far it is to a town." in told["Overview"]
    assert (
        '- Entry point **arrows/__main__.py** in arrows/__main__.py:3: `if __name__ == "__main__":`' in told["Overview"]
    )
    assert "**Way**, used by one other file," in told["Architecture"] and "mermaid" not in told["Architecture"]
    assert "- **Way.length** in arrows/way.py:2: `def length(self):`" in told["Features"]
    assert "`return 1 # TODO: count hills`" in told["Next Steps"] and "known test" not in found["text"]


def test_without_a_graph_the_quotes_are_left_and_a_warning_says_so(tmp_path: Path, shop: CommandLine) -> None:
    shutil.copytree(shop.home.root, tmp_path / "home")
    cli = CommandLine(IndexHome(tmp_path / "home"), tmp_path)
    (active_generation(cli.home, "shop@main").directory / GRAPH_FOLDER / HEADER).unlink()
    found = made(cli, "blueprint")
    assert any("has no graph" in warning for warning in found["warnings"])
    assert "> The web shop of *Fernhill Garden Supply*" in sections(found)["Overview"]
    assert "Data" in found["left_out"] and "mermaid" not in found["text"]


PROJECT = '<Project Sdk="Microsoft.NET.Sdk">\n</Project>\n'
GUARDED: dict[str, str | bytes] = {
    "src/Web/Web.csproj": PROJECT,
    "src/Web/TillController.cs": controller_of("Till", sum="new Core.Till().Count()"),
    "src/Core/Core.csproj": PROJECT,
    "src/Core/Till.cs": "namespace Core;\n\npublic class Till\n{\n    public int Count() => 1;\n}\n",
    "src/Vault/Vault.csproj": PROJECT,
    "src/Vault/VaultController.cs": controller_of("Vault", gold="new Core.Till().Count();  // TODO: hide it"),
}


def test_a_role_reads_and_counts_nothing_of_hidden_files(tmp_path: Path) -> None:
    """E12: neither names, nor arrows, nor numbers that only the hidden project makes."""
    repository = new_repository(tmp_path / "guarded", dict(GUARDED))
    config = tmp_path / "rag_assets.yaml"
    known: dict[str, Any] = {"id": "guarded", "location": str(repository.path), "ref": "main"}
    known["confidential_paths"] = {"src/Vault/**": "restricted"}
    settings = {"home": str(tmp_path / "home"), "roles": {"boss": "restricted"}, "repositories": [known]}
    config.write_text(json.dumps(settings | {"embedder": {"provider": "lexical-only"}}), encoding="utf-8")
    cli = CommandLine(IndexHome(tmp_path / "home"), tmp_path)
    cli.build(options=("--config", str(config)))
    for kind in TYPES:
        clerk = made(cli, kind, options=("--config", str(config)))
        assert "vault" not in json.dumps(clerk).lower() and "gold" not in json.dumps(clerk).lower()
    boss = made(cli, "blueprint", options=("--config", str(config), "--role", "boss"))
    assert "src/Vault" in "\n".join(picture_of(sections(boss)["Architecture"]))
    assert "**Till**, used by 2 other files," in sections(boss)["Architecture"]
    assert (
        "**Till**, used by one other file,"
        in sections(made(cli, "blueprint", options=("--config", str(config))))["Architecture"]
    )


def test_an_agent_that_looks_at_one_folder_has_no_other_in_its_picture(shop: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(
        "agent: {name: mine, persona: Me., output_type: blueprint, "
        "filters: {paths: [src/Fernhill.Shop.Domain/, src/Fernhill.Shop.Infrastructure/]}}",
        encoding="utf-8",
    )
    found = made(shop, "blueprint", "--agent", str(file))
    told = sections(found)
    assert "src/Fernhill.Shop.Infrastructure" in told["Architecture"]
    assert "Fernhill.Shop.Api" not in "\n".join(picture_of(told["Architecture"]))
    assert "Features" not in told or "/api/" not in told["Features"]
    assert all(one["path"].startswith("src/Fernhill.Shop.") for one in found["citations"])


def test_several_indexes_have_groups_and_a_picture_of_their_own(tmp_path: Path) -> None:
    cli = indexed_as(tmp_path, "one", dict(GUARDED))
    index_without_dagster(cli.home, new_repository(tmp_path / "two", dict(GUARDED)), "two")
    told = sections(made(cli, "blueprint", "-l", "one@main", "-l", "two@main"))
    for label in ("one@main", "two@main"):
        assert f"**{label}**\n\n```mermaid\nflowchart LR\n" in told["Architecture"]
        assert f"**{label}: Endpoints**\n\n- **GET /api/" in told["Features"]


def test_an_index_without_tests_says_so_once(shop: CommandLine, tmp_path: Path) -> None:
    """Nothing follows from a test that nobody indexed."""
    found = made(indexed_as(tmp_path, "untested", dict(GUARDED)), "blueprint")
    risks = sections(found)["Risks"]
    assert risks.startswith("**Much depends on it, and the index has no tests**\n\n- ")
    assert "known test" not in found["text"] and "depend on **Till.Count** (all certain) in src/Core/Till.cs:5" in risks
    assert "and no known test reaches it" in sections(made(shop, "blueprint"))["Risks"]


ROAD = """\
namespace Roads;

public class Road
{
    /// <summary>How far it is to the end.</summary>
    public int Length() => Hidden();

    private int Hidden() => 1;

    public int Towns() => Hidden();
}
"""


def test_a_library_without_routes_shows_its_public_methods(tmp_path: Path) -> None:
    features = sections(made(indexed_as(tmp_path, "roads", {"src/Road.cs": ROAD}), "blueprint"))["Features"]
    assert features.startswith("**Operations**\n\n- **Road.Length** in src/Road.cs:5-6: “How far it is to the end.” [")
    assert "- **Road.Towns** in src/Road.cs:10: `public int Towns() => Hidden();` [" in features
    assert "Road.Hidden" not in features


def test_a_database_project_is_a_part(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "src/Shop.Api/Shop.Api.csproj": "<Project />\n",
        "src/Shop.Api/Store.cs": "namespace Shop;\n\npublic class Store\n{\n"
        '    public void Clear() => db.Execute("DELETE FROM dbo.Orders");\n}\n',
        "src/Shop.Database/Shop.Database.sqlproj": '<Project Sdk="Microsoft.Build.Sql" />\n',
        "src/Shop.Database/Orders.sql": "CREATE TABLE dbo.Orders (Id int);\n",
    }
    told = sections(made(indexed_as(tmp_path, "shop", files), "blueprint"))
    assert "- Project **Shop.Database** in src/Shop.Database/Shop.Database.sqlproj:1" in told["Overview"]
    assert "- **src/Shop.Api** uses **src/Shop.Database** in one place" in told["Architecture"]


def test_hostile_names_are_neither_a_picture_nor_markdown(tmp_path: Path) -> None:
    evil = 'src/a"]; click n0 "javascript:alert(1)" [x](http:evil) `b` [chunk: deadbeef] <img src=x>'
    cli = indexed_as(
        tmp_path,
        "hostile",
        {
            f"{evil}/Evil.csproj": PROJECT,
            f"{evil}/Door.cs": controller_of("Door", open="new Good.Room().Size()"),
            "src/Good/Good.csproj": PROJECT,
            "src/Good/Room.cs": "namespace Good;\n\npublic class Room\n{\n    public int Size() => 1;\n}\n",
        },
    )
    found = made(cli, "blueprint")
    told = sections(found)["Architecture"]
    lines = picture_of(told)
    assert len(lines) == 4 and all(
        re.fullmatch(r'  n\d(?:\["[\w ./:#;=,-]+"\]| -->\|"\d+"\| n\d)', one) for one in lines[1:]
    )
    assert "javascript" in lines[1] + lines[2] and 'click n0 "' not in told
    outside = told.partition("```mermaid")[0] + told.rpartition("```")[2]
    assert "[x](" not in re.sub(r"\\.", "", outside) and "<img" not in re.sub(r"\\.", "", outside)
    assert {one["support"] for one in found["checks"]} == {"supported"}
    assert "deadbeef" not in {one["id"] for one in found["citations"]}


def test_many_endpoints_stay_one_complete_list(tmp_path: Path) -> None:
    """41 routes of two controllers are two lines, not forty of them."""
    files: dict[str, str | bytes] = {
        f"src/{name}Controller.cs": controller_of(name, **{f"number{n}": f"{n}" for n in range(count)})
        for name, count in (("Apples", 31), ("Pears", 10))
    }
    told = sections(made(indexed_as(tmp_path, "fruit", files), "blueprint"))["Features"]
    assert told.startswith(
        "**Endpoints (41) by what exposes them**\n\n- **ApplesController** exposes **GET /api/apples/"
    )
    assert " and 19 more [chunk: " in told and "- **PearsController** exposes **GET /api/pears/number0**" in told


def test_an_agent_s_tokens_bound_the_document(shop: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "short.yaml"
    file.write_text(
        "agent: {name: short, persona: Me., output_type: blueprint, limits: {max_context_tokens: 600}}",
        encoding="utf-8",
    )
    whole, short = made(shop, "blueprint"), made(shop, "blueprint", "--agent", str(file))
    assert len(short["text"]) < 4_000 < len(whole["text"])
    assert {one["support"] for one in short["checks"]} == {"supported"}
