"""`rag-assets search`: filters in the query and as options, several labels, comparison, roles, `--explain`."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_assets import open_index
from rag_assets.index.artifacts import ArtifactError
from rag_assets.index.layout import IndexHome
from rag_assets.pipeline.run_stages import run_stages
from rag_assets.qa.services import PipelineServices
from rag_assets.search.graph_context import bodies, graph_of
from rag_assets.settings import EmbedderSettings, RepositorySettings, Settings
from rag_assets_tests.cli.conftest import (
    FILES,
    CommandLine,
    Indexed,
    Outcome,
    index_without_dagster,
    new_repository,
)

SERVICE, MODEL, ARCHIVE = "src/Orders/OrderService.cs", "src/Orders/Order.cs", "src/Orders/Archive.cs"
READ_ME, TABLES = "README.md", "db/tables.sql"


def paths(done: Outcome) -> set[str]:
    return {hit["path"] for hit in done.json["hits"]}


@pytest.mark.rule("E08")
@pytest.mark.parametrize(
    ("query", "options"),
    [
        ("order kind:service", ["--kind", "service"]),
        ("order path:src/**", ["--path", "src/**"]),
        ("order lang:markdown", ["--language", "markdown"]),
        ("order lang:c#", ["--lang", "cs"]),
        ("order source_type:document", ["--source-type", "document"]),
        ("order symbol:OrderService", ["--symbol", "OrderService"]),
        ("order kind:Service since:2020 before:2030", ["--kind", "Service", "--since", "2020", "--before", "2030"]),
    ],
)
def test_a_filter_in_the_query_is_the_same_as_an_option(indexed: Indexed, query: str, options: list[str]) -> None:
    as_json = ("--json", "--full")
    typed, option = indexed.cli.run("search", query, *as_json), indexed.cli.run("search", "order", *as_json, *options)
    assert [hit["point_id"] for hit in typed.json["hits"]] == [hit["point_id"] for hit in option.json["hits"]]
    assert typed.json["filters"] == option.json["filters"]
    assert 0 < len(paths(typed)) < 3


def test_an_option_and_a_filter_must_both_hold(indexed: Indexed) -> None:
    done = indexed.cli.run("search", "order kind:Markdown", "--kind", "Service")
    assert done.code == 4
    assert "no section fulfils all filters" in done.err


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("order -path:src/", {READ_ME}),
        ("order -kind:Service -lang:markdown", {MODEL}),
        ("symbol:orderservice.refundorder", {SERVICE}),
        ("symbol:Order*", {SERVICE, MODEL}),
        ('"refunds orders" order', {SERVICE}),
        ("kind:Service", {SERVICE}),
        (f"what fails in OrderService.cs:7 path:{MODEL}", {MODEL}),
    ],
)
def test_filters_of_the_query(indexed: Indexed, query: str, expected: set[str]) -> None:
    assert paths(indexed.cli.run("search", query, "--json", "--full")) == expected


RETRIES: dict[str, str | bytes] = {
    "src/RetryPolicy.cs": "namespace Shop;\n\npublic class RetryPolicy { public int RetryCount; }\n",
    "src/Codes.cs": "namespace Shop;\n\npublic enum Codes { RetryLater }\n",
    "db/retries.sql": "CREATE TABLE dbo.RetryLog (Id int NOT NULL);\nGO\n",
    "tools/retry.py": "def retry_once():\n    return 1\n",
    "res/Texts.resx": '<root><data name="Retry_Title"><value>Again</value></data></root>\n',
    "docs/retries.md": "# RetryPolicy\n\n## Retry\n\nRetryPolicy is asked again.\n",
    "docs/giving-up.md": "# GiveUpRules\n\nAfter three times nothing is asked any more.\n",
    "docs/RetryNotes.txt": "Retry\n=====\n\nRetryPolicy waits.\n",
    "docs/retry.vtt": "WEBVTT\n\n00:00.000 --> 00:02.000\n<v Retry>RetryPolicy waits.\n",
    "retry.json": '{"Retry": {"RetryCount": 3}}\n',
}


@pytest.mark.rule("E08")
def test_documents_and_settings_declare_no_type_or_member(cli: CommandLine, tmp_path: Path) -> None:
    label = index_without_dagster(cli.home, new_repository(tmp_path / "retries", RETRIES), "retries")

    def found(query: str) -> set[str]:
        return paths(cli.run("search", query, "--json", "--full", "--limit", "50"))

    declaring = {path for path in RETRIES if path.startswith(("src/", "db/", "tools/", "res/"))}
    assert found("symbol:Retry*") == found("retry symbol:retry*") == declaring
    assert found("symbol:RetryPolicy") == {"src/RetryPolicy.cs"}
    assert found("symbol:*Count") == found("symbol:RetryPolicy.RetryCount") == {"src/RetryPolicy.cs"}
    left = found("path:** -symbol:Retry*") - {"res/Texts.resx"}  # which has a section without an entry, too
    assert left == set(RETRIES) - declaring, "nothing that a document says excludes it"
    asked = cli.run("ask", "What is GiveUpRules?", "--json").json
    assert [cited["path"] for cited in asked["citations"]] == ["docs/giving-up.md"], "a heading still answers"
    with open_index(label, home=cli.home.root) as index:
        services = PipelineServices(lambda _: index, opened={label: index})
        assert services.known_names(label, "Tell me of GiveUpRules and Nothing") == ("GiveUpRules",)


def test_a_phrase_that_is_nowhere_is_said_and_searched_as_words(indexed: Indexed) -> None:
    done = indexed.cli.run("search", '"orders refunds"', "--json", "--full")
    assert paths(done)
    assert 'no section has "orders refunds" as it is written' in done.err


def test_a_literal_query_has_no_filters(indexed: Indexed) -> None:
    done = indexed.cli.run("search", "kind:Service order", "--literal", "--json", "--full")
    assert MODEL in paths(done)
    assert done.json["understood"]["text"] == "kind:Service order"


@pytest.mark.parametrize(
    ("query", "says"),
    [("knd:Service order", "did you mean kind:"), ("order source_type:codes", "unknown source type 'codes'; valid:")],
)
def test_a_slip_in_a_filter_is_an_error_that_helps(indexed: Indexed, query: str, says: str) -> None:
    done = indexed.cli.run("search", query)
    assert (done.code, done.out) == (2, "")
    assert says in done.err


def test_the_line_of_a_stack_trace_comes_first(indexed: Indexed) -> None:
    trace = "System.Exception: no refund\n   at Shop.Orders.Order.Total() in D:\\ci\\src\\Orders\\Order.cs:line 3\n"
    found = indexed.cli.run("search", trace, "--json", "--full", "--explain").json
    assert found["understood"]["kind"] == "error"
    assert found["understood"]["places"] == [{"path": "ci/src/Orders/Order.cs", "line": 3}]
    assert found["hits"][0]["path"] == MODEL
    assert found["hits"][0]["scores"]["place"] == 1.0


def test_a_search_without_words_is_a_listing(indexed: Indexed) -> None:
    """The mode that is configured had no part in it, and an index without a model has none to miss."""
    found = indexed.cli.run("search", "symbol:Order*", "--json", "--full").json
    assert found["hits"] and (found["mode"], found["warnings"]) == ("listing", [])
    assert indexed.cli.run("search", "symbol:Order* refund", "--json", "--full").json["mode"] == "bm25"
    assert "listing: " in indexed.cli.run("search", "symbol:Order*", "--explain").out


def test_explain_says_how_the_query_was_understood(indexed: Indexed) -> None:
    said = indexed.cli.run("search", 'OrderService -kind:Test "refunds orders"', "--explain").out
    first, second, *_ = said.splitlines()
    assert first == "understood as symbol question; looks for: OrderService refunds orders; names: OrderService"
    assert "label: shop@main" in second and "confidentiality: public | internal" in second
    assert "-kind: Test" in second and "phrase: refunds orders" in second


# several labels


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    """Two versions of one repository, as two labels."""
    folder = tmp_path_factory.mktemp("two")
    repository, cli = new_repository(folder / "shop"), CommandLine(IndexHome(folder / "home"), folder)
    index_without_dagster(cli.home, repository, "v1")
    repository.commit({MODEL: str(FILES[MODEL]).replace("Id", "Number")})
    repository.commit({ARCHIVE: "namespace Shop.Orders;\n\n/// <summary>Old orders.</summary>\nclass Archive { }\n"})
    index_without_dagster(cli.home, repository, "v2")
    return cli


def test_several_labels_are_searched_as_one(two: CommandLine) -> None:
    named = two.run("search", "order", "--label", "v1", "--label", "v2", "--json", "--full").json
    everything = two.run("search", "order", "--all", "--json", "--full").json
    assert [hit["point_id"] for hit in named["hits"]] == [hit["point_id"] for hit in everything["hits"]]
    assert {hit["label"] for hit in named["hits"]} == {"v1@main", "v2@main"}
    assert (named["label"], named["generation"], named["stale"]) == (None, None, None)
    assert [source["label"] for source in named["sources"]] == ["v1@main", "v2@main"]
    said = two.run("search", "order", "--all").out
    assert "v1@main  src/" in said and "v2@main  fresh: indexed" in said


def test_two_labels_are_compared(two: CommandLine) -> None:
    found = two.run("search", "order orders", "--compare", "-l", "v1", "-l", "v2", "--json", "--full").json
    changes = {(hit["new"] or hit["old"])["path"]: hit["change"] for hit in found["hits"]}
    assert changes[MODEL] == "changed"
    assert changes[ARCHIVE] == "added"
    assert changes[READ_ME] == "same"
    assert (found["old"]["label"], found["new"]["label"]) == ("v1@main", "v2@main")
    said = two.run("search", "order orders", "--compare", "-l", "v1", "-l", "v2").out
    assert any(line.startswith("added ") and "Archive.cs" in line for line in said.splitlines())


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--all", "--label", "v1"], "contradict"),
        (["--org", "local"], "--org goes with --all"),
        (["--compare", "--label", "v1"], "--compare needs two labels, got 1"),
    ],
)
def test_options_that_contradict_each_other(two: CommandLine, options: list[str], says: str) -> None:
    done = two.run("search", "order", *options)
    assert done.code == 2
    assert says in done.err


@pytest.mark.rule("B02")
def test_all_never_means_two_organisations(cli: CommandLine, tmp_path: Path) -> None:
    for org in ("acme", "globex"):
        repository = new_repository(tmp_path / org)
        _build(cli.home, RepositorySettings(id=org, location=str(repository.path), ref="main", org=org))
    undecided = cli.run("search", "order", "--all")
    assert undecided.code == 1
    assert "choose one with --org: acme, globex" in undecided.err
    found = cli.run("search", "order", "--all", "--org", "acme", "--json", "--full").json
    assert {hit["label"] for hit in found["hits"]} == {"acme@main"}
    assert "no label of organisation 'acm'" in cli.run("search", "order", "--all", "--org", "acm").err


def _build(home: IndexHome, repository: RepositorySettings, **settings: object) -> None:
    lexical = EmbedderSettings(provider="lexical-only")
    made = Settings(home=home.root, embedder=lexical, repositories=(repository,))
    run_stages(made, f"{repository.id}@main", repository, run_id="made-by-a-test")


# confidentiality


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    """The service is confidential, the model restricted, everything else internal; two roles."""
    base = tmp_path_factory.mktemp("guarded")
    repository = new_repository(base / "shop")
    home = IndexHome(base / "home")
    config = base / "rag_assets.yaml"
    config.write_text(
        f"home: home\nroles: {{support: public, payroll: restricted}}\nembedder: {{provider: lexical-only}}\n"
        f"repositories:\n  - id: shop\n    location: {repository.path}\n    ref: main\n"
        f"    confidential_paths:\n      'src/orders/*Service.cs': confidential\n      {MODEL}: restricted\n"
        "      src/Orders: confidential\n",
        encoding="utf-8",
    )
    cli = CommandLine(home, base)
    cli.build(options=())
    return cli


@pytest.mark.rule("E12", "R17")
@pytest.mark.parametrize(
    ("clearance", "expected"),
    [
        ("public", set()),
        ("internal", {READ_ME}),
        ("confidential", {READ_ME, SERVICE}),
        ("restricted", {READ_ME, SERVICE, MODEL}),
    ],
)
def test_the_settings_decide_who_finds_what(guarded: CommandLine, clearance: str, expected: set[str]) -> None:
    with open_index("shop@main", home=guarded.home.root, clearance=clearance) as index:
        assert {hit.path for hit in index.search("order orders refunds", mode="bm25", limit=50)} == expected
        graph = graph_of(index)
        keys = [graph.keys[number] for number in range(len(graph))]
        assert {place.path for number in range(len(graph)) for place in graph.places(number)} <= expected | {TABLES}
        assert any("OrderService" in key for key in keys) == (SERVICE in expected)
        assert {body.place.path for body in bodies(index, graph, keys)} <= expected | {TABLES}
        for path in (READ_ME, SERVICE, MODEL):
            if path in expected:
                assert index.resolve(f"rag://shop@main/{path}")
            else:
                with pytest.raises(ArtifactError, match="not for a reader"):
                    index.resolve(f"rag://shop@main/{path}")


@pytest.mark.rule("E12")
def test_files_above_a_role_are_not_among_those_that_differ_from_head(guarded: CommandLine) -> None:
    model = guarded.folder / "shop" / MODEL
    before = model.read_bytes()
    model.write_text("class Edited { }\n", encoding="utf-8")
    try:
        for words in (("search", "orders", "--full"), ("ask", "what are orders?"), ("status",)):
            counts = {}
            for role in ("support", "payroll"):
                found = guarded.run("--role", role, *words, "--json", options=()).json
                (source,) = found["sources"] if "sources" in found else found["labels"]
                counts[role] = source["changed_files"]
            assert counts == {"support": 0, "payroll": 1}, words
    finally:
        model.write_bytes(before)


@pytest.mark.rule("E12")
def test_a_role_decides_what_a_command_shows(guarded: CommandLine) -> None:
    def found(*options: str) -> set[str]:
        done = guarded.run("search", "order orders refunds", "--json", "--full", options=options)
        return {hit["path"] for hit in done.json["hits"]}

    assert found() == {READ_ME}
    assert found("--role", "support") == set()
    assert found("--role", "payroll") == {READ_ME, SERVICE, MODEL}
    assert "there are: support, payroll" in guarded.run("search", "order", options=("--role", "boss")).err
    uri = f"rag://shop@main/{MODEL}"
    assert guarded.run("show", uri, options=()).code == 1
    assert guarded.run("show", uri, options=("--role", "payroll")).code == 0


@pytest.mark.rule("E12")
def test_words_of_what_is_hidden_are_not_counted(guarded: CommandLine) -> None:
    """The vocabulary is that of all sections; `--explain` tells of those that the reader sees."""

    def terms(*options: str) -> dict[str, int]:
        done = guarded.run("search", "refund order", "--explain", "--json", "--full", options=options)
        return {term["term"]: term["sections"] for term in done.json["terms"]}

    everything, own = terms("--role", "payroll"), terms()
    assert everything["refund"] > 0 and everything["refundorder"] > 0
    assert own["refund"] == 0 and "refundorder" not in own


@pytest.mark.rule("E12")
def test_the_graph_is_counted_as_far_as_the_role_sees(guarded: CommandLine) -> None:
    whole = guarded.run("graph", "overview", "--json", options=("--role", "payroll")).json
    part = guarded.run("graph", "overview", "--json", options=()).json
    assert part["unresolved_share"] == 0, "of the calls that the role may see"
    assert part["nodes"] < whole["nodes"] and sum(part["kinds"].values()) == part["nodes"]
    assert not any("OrderService" in hub["key"] for hub in part["hubs"])
    assert "OrderService" not in guarded.run("graph", "overview", options=()).out


@pytest.mark.rule("E12")
@pytest.mark.parametrize("place", [SERVICE, f"{SERVICE}:OrderService", "OrderService", f"{SERVICE}:7"])
def test_a_file_is_explained_to_those_who_may_see_it(guarded: CommandLine, place: str) -> None:
    hidden = guarded.run("explain", place, options=())
    assert (hidden.code, hidden.out) == (1, "") and "is neither a file nor a symbol of shop@main" in hidden.err
    assert guarded.run("explain", place, options=("--role", "payroll")).code == 0


@pytest.mark.rule("E08")
@pytest.mark.parametrize(("option", "found"), [("--since", False), ("--before", True)])
def test_files_are_found_by_when_they_were_changed(indexed: Indexed, option: str, found: bool) -> None:
    done = indexed.cli.run("search", "order", option, "2025-01-01", "--json", "--full")
    assert bool(done.json["hits"]) is found
    assert done.json["filters"][option[2:]] == ["2025-01-01T00:00:00Z"]


@pytest.mark.parametrize(
    ("option", "field"),
    [
        ("--path", "paths"),
        ("--kind", "kinds"),
        ("--lang", "languages"),
        ("--source-type", "source"),
        ("--symbol", "sym"),
    ],
)
def test_an_empty_option_is_explained(indexed: Indexed, option: str, field: str) -> None:
    done = indexed.cli.run("search", "order", option, " ")
    assert (done.code, done.out) == (2, "")
    assert f"an empty value in {field}" in done.err and "leave it out" in done.err and "('" not in done.err


def test_an_option_that_is_no_date_is_explained(indexed: Indexed) -> None:
    done = indexed.cli.run("search", "order", "--since", "last week")
    assert (done.code, done.out) == (2, "")
    assert "'last week' is not a date; write 2026" in done.err


def test_a_phrase_is_found_in_all_sections_where_documents_outnumber_code(cli: CommandLine, tmp_path: Path) -> None:
    """The vocabulary then counts fewer sections for a word than have it, so that documents do not make it common."""
    files: dict[str, str | bytes] = {
        f"docs/{number}.md": f"# Chapter {number}\n\nThe refund manager {number} pays back.\n" for number in range(12)
    }
    files["src/Refunds.cs"] = "public class Refunds { /* the refund manager */ public void Pay() { } }\n"
    index_without_dagster(cli.home, new_repository(tmp_path / "book", files), "book")
    found = cli.run("search", '"refund manager"', "--limit", "20", "--json", "--explain").json
    assert {hit["path"] for hit in found["hits"]} == files.keys()
    assert {term["sections"] for term in found["terms"] if term["term"] in ("refund", "manager")} == {13}
