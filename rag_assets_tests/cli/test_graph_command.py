"""`rag-assets graph`: around, path, impact, uses, overview; for people, as JSON, Mermaid and SVG."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from rag_assets.contracts.graph import Confidence, GraphEdge, GraphNode, NodeType, Relation
from rag_assets.graph.artifact import GRAPH_FOLDER, HEADER, write_graph
from rag_assets.graph.build import assemble
from rag_assets.index.generation_files import list_files
from rag_assets.index.generations import active_generation
from rag_assets.index.layout import IndexHome
from rag_assets_tests.cli.conftest import CommandLine, Indexed, index_without_dagster, new_repository
from rag_assets_tests.generation_history import copy_sparse

PATH = "src/Orders/OrderService.cs"
SERVICE = "csharp:Shop.Orders.OrderService|TYPE"
REFUND = "csharp:Shop.Orders.OrderService.RefundOrder(int)|METHOD"
OVERLOAD = "csharp:Shop.Orders.OrderService.RefundOrder(Dictionary<string,int>,Order)|METHOD"
ROUTE = "http:POST /api/refunds/{id}|ENDPOINT"
TABLE = "dbo.Invoices|TABLE"
NAMESAKE = "csharp:Legacy.Refunds.RefundOrder(int)|METHOD"
STRANGE = "dbo.a, \"b\" | 'c' `d` <é>|TABLE"
LONELY = "csharp:Shop.Orders.path|TYPE"

NODES = [
    GraphNode(SERVICE, NodeType.TYPE, "OrderService", PATH, 4, 8, "csharp"),
    GraphNode(REFUND, NodeType.METHOD, "RefundOrder", PATH, 6, 7, "csharp"),
    GraphNode(OVERLOAD, NodeType.METHOD, "RefundOrder", PATH, 8, 8, "csharp"),
    GraphNode(NAMESAKE, NodeType.METHOD, "RefundOrder", PATH, 9, 9, "csharp"),
    GraphNode(ROUTE, NodeType.ENDPOINT, "POST /api/refunds/{id}", PATH, 6, 7, "csharp"),
    GraphNode(TABLE, NodeType.TABLE, "Invoices", "db/tables.sql", 1, 1, "sql"),
    GraphNode(STRANGE, NodeType.TABLE, "a", "db/tables.sql", 1, 1, "sql"),
    GraphNode(LONELY, NodeType.TYPE, "path", "src/Orders/Order.cs", 3, 3, "csharp"),
]
EDGES = [
    GraphEdge(SERVICE, Relation.CONTAINS, REFUND, Confidence.RESOLVED, PATH, 6),
    GraphEdge(SERVICE, Relation.CONTAINS, OVERLOAD, Confidence.RESOLVED, PATH, 8),
    GraphEdge(REFUND, Relation.EXPOSES, ROUTE, Confidence.RESOLVED, PATH, 6),
    GraphEdge(REFUND, Relation.WRITES_TO, TABLE, Confidence.PROBABLE, PATH, 7),
    GraphEdge(OVERLOAD, Relation.READS_FROM, STRANGE, Confidence.RESOLVED, PATH, 8),
]


@pytest.fixture(scope="module")
def graphed(tmp_path_factory: pytest.TempPathFactory) -> Indexed:
    """A command line whose home has one index with a graph."""
    base = tmp_path_factory.mktemp("graphed")
    cli = CommandLine(IndexHome(base / "home"), base)
    repository = new_repository(base / "shop")
    label = index_without_dagster(cli.home, repository, "shop")
    made = assemble(NODES, EDGES)
    directory = active_generation(cli.home, label).directory
    write_graph(directory / GRAPH_FOLDER, made.arrays, made.counts)
    list_files(directory, again=(f"{GRAPH_FOLDER}/",))
    return Indexed(cli, repository, label)


@pytest.fixture
def copied(graphed: Indexed, tmp_path: Path) -> Indexed:
    """The same in a home of its own, which a test may damage."""
    home = shutil.copytree(graphed.cli.home.root, tmp_path / "home", copy_function=copy_sparse)
    return Indexed(CommandLine(IndexHome(home), tmp_path), graphed.repository, graphed.label)


def test_around_a_short_symbol(graphed: Indexed) -> None:
    lines = graphed.cli.run("graph", "OrderService").out.splitlines()
    assert lines[0] == f"{SERVICE}  {PATH}:4-8  1.00"
    assert f"  → Contains  {REFUND}  {PATH}:6-7  0.40" in lines
    assert any(line.startswith(f"    → WritesTo  {TABLE}  db/tables.sql:1-1") for line in lines)
    assert any(line.endswith("probable") for line in lines)
    assert lines[-2] == "6 nodes, 5 edges between them"
    assert lines[-1].startswith(f"{graphed.label}  commit ")


@pytest.mark.parametrize("words", [["graph"], ["graph", "around"]], ids=["short", "long"])
def test_around_as_json(graphed: Indexed, words: list[str]) -> None:
    found = graphed.cli.run(*words, "OrderService", "--json", "--depth", "1").json
    assert set(found) == {
        *("label", "generation", "commit"),
        *("nodes", "edges", "left_out", "cut", "warnings"),
    }
    assert [node["key"] for node in found["nodes"]] == [SERVICE, OVERLOAD, REFUND]
    assert found["nodes"][2] == {
        "key": REFUND,
        "kind": "METHOD",
        "name": "RefundOrder",
        "distance": 1,
        "score": 0.4,
        "signature": "",
        "places": [{"path": PATH, "start_line": 6, "end_line": 7}],
        "via": {
            "source": SERVICE,
            "relation": "Contains",
            "target": REFUND,
            "confidence": "resolved",
            "path": PATH,
            "line": 6,
        },
    }


@pytest.mark.parametrize("key", [node.key for node in NODES])
def test_every_key_can_be_typed(graphed: Indexed, key: str) -> None:
    assert graphed.cli.run("graph", key, "--json").json["nodes"][0]["key"] == key
    assert key in graphed.cli.run("graph", "--nodes", "1", key).out


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        pytest.param(["--relations", "Contains,Writes"], {SERVICE, REFUND, OVERLOAD, TABLE}, id="comma-separated"),
        pytest.param(["-r", "contains", "-r", "FK"], {SERVICE, REFUND, OVERLOAD}, id="repeated, in any case"),
        pytest.param(["--direction", "in"], {SERVICE}, id="inwards"),
        pytest.param(["--kind", "method"], {SERVICE, REFUND, OVERLOAD}, id="kind"),
        pytest.param(["--nodes", "1"], {SERVICE}, id="nodes"),
        pytest.param(["--depth", "1"], {SERVICE, REFUND, OVERLOAD}, id="depth"),
    ],
)
def test_bounds(graphed: Indexed, options: list[str], expected: set[str]) -> None:
    found = graphed.cli.run("graph", "OrderService", "--json", *options).json
    assert {node["key"] for node in found["nodes"]} == expected


@pytest.mark.rule("R27")
def test_an_allow_list_that_matches_nothing_is_a_warning(graphed: Indexed) -> None:
    done = graphed.cli.run("graph", "OrderService", "--relations", "Inherits")
    assert done.code == 0
    assert done.err.startswith("warning: the allowed relations match nothing in this index: Inherits")


@pytest.mark.rule("R27")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param(["OrderService", "-r", "Cals"], "did you mean Calls", id="relation"),
        pytest.param(["OrderService", "-r", "CalledBy", "--direction", "out"], "against direction", id="contradiction"),
        pytest.param(["RefundOrder"], "may be 3 nodes; choose one by its key", id="ambiguous"),
        pytest.param(["OrderServise"], f"the nearest are:\n  {SERVICE}", id="unknown"),
    ],
)
def test_errors_say_what_to_type(graphed: Indexed, words: list[str], said: str) -> None:
    done = graphed.cli.run("graph", *words)
    assert (done.code, done.out) == (1, "")
    assert said in done.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param(["OrderService", "--kind", "thing"], "is not a kind of node", id="kind"),
        pytest.param(["OrderService", "--json", "--mermaid"], "choose one of --json and --mermaid", id="two formats"),
        pytest.param(["OrderService", "--svg", "--mermaid"], "choose one of --mermaid and --svg", id="two pictures"),
        pytest.param(["OrderService", "--depth", "0"], "--depth", id="depth"),
        pytest.param(["path", "OrderService"], "Missing argument", id="path to nothing"),
        pytest.param(["OrderService", "-r", ""], "it names no relation", id="no relation"),
        pytest.param(["path", "A", "B", "-r", " , "], "it names no relation", id="blank relations"),
        pytest.param(["impact"], "Missing argument", id="impact of nothing"),
    ],
)
def test_wrong_usage(graphed: Indexed, words: list[str], said: str) -> None:
    done = graphed.cli.run("graph", *words)
    assert done.code == 2
    assert said in " ".join(done.err.replace("│", " ").split())


def test_path(graphed: Indexed) -> None:
    done = graphed.cli.run("graph", "path", "/api/refunds/{id}", "Invoices")
    assert done.out.splitlines()[:4] == [
        done.out.splitlines()[0],
        f"   {ROUTE}",
        f"   ← Exposes  {REFUND}  {PATH}:6",
        f"   → WritesTo  {TABLE}  {PATH}:7  probable",
    ]
    assert done.out.startswith("1  2 steps, cost ")
    found = graphed.cli.run("graph", "path", ROUTE, TABLE, "--json").json
    assert found["paths"][0]["nodes"] == [ROUTE, REFUND, TABLE]
    assert [edge["forward"] for edge in found["paths"][0]["edges"]] == [False, True]


def test_no_path_is_exit_code_4(graphed: Indexed) -> None:
    done = graphed.cli.run("graph", "path", "Invoices", LONELY)
    assert done.code == 4
    assert "nothing connects Invoices and" in done.err


def test_a_symbol_that_is_called_like_a_command(graphed: Indexed) -> None:
    assert LONELY in graphed.cli.run("graph", "around", "path").out


def test_impact(graphed: Indexed) -> None:
    said = graphed.cli.run("graph", "impact", "OrderService").out
    assert said.startswith(f"{SERVICE} and the 2 declarations in it: 2 affected if it changes\n")
    assert f"endpoints (1)\n  1  {ROUTE}" in said
    assert f"tables (1)\n  1  {TABLE}  db/tables.sql:1-1  → WritesTo OrderService.RefundOrder  probable" in said
    found = graphed.cli.run("graph", "impact", "OrderService", "--json").json
    assert (found["total"], found["groups"]) == (2, {"endpoints": 1, "tables": 1})


def test_callers_are_those_of_the_tool(graphed: Indexed) -> None:
    found = graphed.cli.run("graph", "callers", TABLE, "--json").json
    assert [node["via"]["relation"] for node in found["nodes"] if node["distance"] == 1]
    assert not {"Contains", "Mentions"} & {edge["relation"] for edge in found["edges"]}


def test_from_a_route_to_its_tables_in_one_command(graphed: Indexed) -> None:
    found = graphed.cli.run("graph", "uses", "POST /api/refunds/{id}", "--json").json
    assert [node["key"] for node in found["nodes"] if node["group"] == "tables"] == [TABLE]
    assert "needed by it" in graphed.cli.run("graph", "uses", ROUTE).out


@pytest.mark.parametrize(
    "words",
    [["OrderService"], ["path", ROUTE, TABLE], ["impact", TABLE], ["uses", ROUTE], ["callers", TABLE]],
    ids=lambda words: words[0],
)
def test_every_walk_as_mermaid_and_as_a_picture(graphed: Indexed, words: list[str]) -> None:
    assert graphed.cli.run("graph", *words, "--mermaid").out.startswith("flowchart LR\n")
    drawn = ElementTree.fromstring(graphed.cli.run("graph", *words, "--svg").out)
    assert drawn.tag.endswith("svg") and any("entry" in box.get("class", "") for box in drawn.iter())


def test_an_index_without_a_graph_says_what_to_do(copied: Indexed) -> None:
    (active_generation(copied.cli.home, copied.label).directory / GRAPH_FOLDER / HEADER).unlink()
    done = copied.cli.run("graph", "OrderService")
    assert done.code == 1
    assert f"the index of {copied.label} has no graph" in done.err
    assert done.err.endswith(f"run: rag-assets index {copied.label} --force\n")


@pytest.mark.parametrize("name", ["edge_target", "out_edges", "node_places", "place_path"])
def test_a_damaged_graph_is_named(copied: Indexed, name: str) -> None:
    """Bad input: bytes that changed on disk."""
    path = active_generation(copied.cli.home, copied.label).directory / GRAPH_FOLDER / f"{name}.npy"
    content = path.read_bytes()
    path.write_bytes(content[:-16] + b"\x7f" * 16)
    done = copied.cli.run("graph", "OrderService")
    assert (done.code, done.out) == (1, "")
    assert name in done.err
    assert "is damaged" in done.err
    assert done.err.endswith("run: rag-assets index shop@main\n")


def test_a_walk_loads_no_more_than_it_needs(graphed: Indexed) -> None:
    """A command at a prompt: what reads tables or builds graphs is not imported."""
    program = (
        "import sys; from typer.testing import CliRunner; from rag_assets.cli import app; "
        f"done = CliRunner().invoke(app, ['--home', {str(graphed.cli.home.root)!r}, 'graph', 'OrderService']); "
        "print(done.exit_code, sorted({'pyarrow', 'dagster', 'tree_sitter', 'sqlalchemy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[-2] == "0 []"


def test_help_names_the_short_forms(cli: CommandLine) -> None:
    said = " ".join(cli.run("graph", "--help", options=()).out.replace("│", " ").split())
    assert "`graph SYMBOL` is `graph around SYMBOL`" in said
    assert all(command in said for command in ("around", "path", "impact", "uses", "callers"))
    assert "--relations" in cli.run("graph", "around", "--help", options=()).out


def test_overview_for_people(graphed: Indexed) -> None:
    lines = graphed.cli.run("graph", "overview").out.splitlines()
    assert lines[0].startswith("8 nodes, 5 edges; 0.0% of all edges lead to what is not declared")
    assert "kinds     METHOD 3, TABLE 2, TYPE 2, ENDPOINT 1" in lines
    assert "certainty resolved 4, probable 1" in lines
    assert "src/Orders       6 nodes  → db 2" in lines
    assert f"       4  {REFUND}" in lines or f"       3  {REFUND}" in lines


def test_overview_of_an_empty_index(tmp_path: Path) -> None:
    cli = CommandLine(IndexHome(tmp_path / "home"), tmp_path)
    label = index_without_dagster(cli.home, new_repository(tmp_path / "shop"), "shop")
    made = assemble([], [])
    directory = active_generation(cli.home, label).directory
    write_graph(directory / GRAPH_FOLDER, made.arrays, made.counts)
    list_files(directory, again=(f"{GRAPH_FOLDER}/",))
    lines = cli.run("graph", "overview").out.splitlines()
    assert lines[0] == "0 nodes, 0 edges"
    assert [line.split()[0] for line in lines[1:]] == [label]


def test_overview_as_json(graphed: Indexed) -> None:
    found = graphed.cli.run("graph", "overview", "--json").json
    assert (found["nodes"], found["edges"], found["label"]) == (8, 5, graphed.label)
    assert found["areas"] == [{"path": "src/Orders", "nodes": 6}, {"path": "db", "nodes": 2}]
    assert found["uses"] == [{"source": "src/Orders", "target": "db", "edges": 2}]


@pytest.mark.parametrize(
    ("words", "command"),
    [
        pytest.param(["imapct", "OrderService"], "impact", id="impact"),
        pytest.param(["overvew"], "overview", id="overview"),
        pytest.param(["pth", "OrderService", TABLE], "path", id="path"),
    ],
)
def test_a_misspelled_command_is_not_only_an_unknown_symbol(graphed: Indexed, words: list[str], command: str) -> None:
    done = graphed.cli.run("graph", *words)
    assert done.code == 1
    assert done.err.endswith(f"or did you mean: rag-assets graph {command}?\n")


CONTROLLER = "src/Orders/RefundsController.cs"
SERVER_AND_PAGE: dict[str, str | bytes] = {
    PATH: "namespace Shop.Orders;\n\npublic class OrderService\n{\n    public decimal RefundOrder(int id) => 1m;\n}\n",
    CONTROLLER: "using Microsoft.AspNetCore.Mvc;\n\nnamespace Shop.Orders;\n\n[ApiController]\n"
    '[Route("api/refunds")]\npublic class RefundsController(OrderService orders) : ControllerBase\n{\n'
    '    [HttpPost("{id}")]\n    public decimal Post(int id) => orders.RefundOrder(id);\n}\n',
    "web/src/refunds.ts": "const base = '/api/refunds';\n\nexport async function payBack(id: number) {\n"
    "  return fetch(`${base}/${id}`, { method: 'POST' });\n}\n",
    "web/src/page.ts": "import { payBack } from './refunds';\n\nexport function onClick() {\n  return payBack(3);\n}\n",
    "tests/RefundTests.cs": "public class RefundTests\n{\n    [Fact]\n    public async Task Pays_back()\n    {\n"
    '        await client.PostAsync("/api/refunds/7", null);\n    }\n}\n',
}
PAY_BACK, ON_CLICK = "typescript:web/src/refunds.payBack|METHOD", "typescript:web/src/page.onClick|METHOD"


def test_a_change_reaches_who_sends_requests_to_its_endpoint_until_the_route_is_another_one(tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "shop", SERVER_AND_PAGE)
    cli = CommandLine(IndexHome(tmp_path / "home"), tmp_path)
    label = index_without_dagster(cli.home, repository, "shop")

    def reached() -> dict[str, tuple[str, str]]:
        found = cli.run("graph", "impact", "OrderService.RefundOrder", "--label", label, "--json").json["nodes"]
        return {one["key"]: (one["group"], one["confidence"]) for one in found}

    changed = reached()
    assert changed[PAY_BACK] == changed[ON_CLICK] == ("code", "probable")
    assert changed["csharp:RefundTests.Pays_back()|METHOD"] == ("tests", "probable")
    needed = cli.run("graph", "uses", "onClick", "--label", label, "--json").json["nodes"]
    assert REFUND in {one["key"] for one in needed}
    told = cli.run("ask", "who calls POST /api/refunds/{id}?", "--label", label, "--json").json["answer"]
    assert "**refunds.payBack** probably calls **POST /api/refunds/{id}** in web/src/refunds.ts:4" in told
    other = cli.run("ask", "which page calls POST /api/refunds/{id}?", "--label", label, "--json").json["answer"]
    assert other == told
    told = cli.run("ask", "what breaks if I change OrderService.RefundOrder?", "--label", label, "--json").json[
        "answer"
    ]
    assert (
        "**RefundsController.Post** exposes **POST /api/refunds/{id}**" in told and "**RefundTests.Pays_back**" in told
    )

    text = SERVER_AND_PAGE[CONTROLLER]
    assert isinstance(text, str)
    repository.commit({CONTROLLER: text.replace("api/refunds", "api/money-back")})
    index_without_dagster(cli.home, repository, "shop")
    changed = reached()
    assert "http:POST /api/money-back/{id}|ENDPOINT" in changed
    assert not {PAY_BACK, ON_CLICK, "csharp:RefundTests.Pays_back()|METHOD"} & changed.keys()
