"""`rag-assets search FILE:LINE`: code like that of a place, by the vectors of the index alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_assets import WrongQuestion, open_index
from rag_assets.index.layout import IndexHome
from rag_assets_tests.cli.conftest import CommandLine, new_repository


def parser(name: str, of: str) -> str:
    return (
        f"namespace Shop;\n\n/// <summary>Parses {of} of a JSON document.</summary>\npublic class {name}\n{{\n"
        f"    public object Parse{name}(string json) {{ return json.Split(','); }}\n}}\n"
    )


FILES: dict[str, str | bytes] = {
    "src/OrderReader.cs": parser("OrderReader", "orders"),
    "src/InvoiceReader.cs": parser("InvoiceReader", "invoices"),
    "tests/RefundReader.cs": parser("RefundReader", "refunds"),
    "src/Window.cs": "namespace Shop;\n\n/// <summary>Draws borders on a screen.</summary>\npublic class Window\n{\n"
    "    public void Paint(int width, int height) { Canvas.Line(width, height); }\n}\n",
    "secret/Payroll.cs": parser("Payroll", "salaries"),
    "lib/OrderReader.cs": parser("OldReader", "old things"),
}
CONFIGURED = """\
home: home
roles: {support: internal, payroll: restricted}
repositories: [{id: shop, location: shop, confidential_paths: {"secret/**": restricted}}]
"""
PLACE = "src/InvoiceReader.cs:6"


@pytest.fixture(scope="module")
def cli(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CommandLine]:
    base = tmp_path_factory.mktemp("similar")
    new_repository(base / "shop", FILES)
    (base / "rag_assets.yaml").write_text(CONFIGURED, encoding="utf-8")
    made = CommandLine(IndexHome(base / "home"), base)
    made.build(options=())
    yield made


def paths(cli: CommandLine, *words: str) -> list[str]:
    return [hit["path"] for hit in cli.run("search", *words, "--json", "--full", options=()).json["hits"]]


def test_what_is_like_it_comes_first_and_it_is_not_found_itself(cli: CommandLine) -> None:
    found = cli.run("search", PLACE, "--json", "--full", options=()).json
    assert (found["mode"], found["warnings"]) == ("semantic", [])
    origin, hits = found["similar_to"], found["hits"]
    assert (origin["path"], origin["symbol"], origin["rank"]) == ("src/InvoiceReader.cs", "Shop.InvoiceReader", 0)
    assert origin["point_id"] not in {hit["point_id"] for hit in hits}
    assert {hit["path"] for hit in hits[:3]} == {"src/OrderReader.cs", "tests/RefundReader.cs", "lib/OrderReader.cs"}
    assert [hit["score"] for hit in hits] == sorted((hit["score"] for hit in hits), reverse=True)
    shown = cli.run("search", PLACE, options=()).out.splitlines()
    assert shown[0].startswith("similar to src/InvoiceReader.cs:") and shown[1].startswith(" 1  ")


def test_filters_hold_for_what_is_found_and_not_for_the_place(cli: CommandLine) -> None:
    assert paths(cli, f"{PLACE} path:tests/") == ["tests/RefundReader.cs"]
    assert paths(cli, PLACE, "--path", "src/Window.cs") == ["src/Window.cs"]
    assert len(paths(cli, PLACE, "--limit", "2")) == 2


def test_python_finds_the_same(cli: CommandLine) -> None:
    with open_index("shop@main", home=cli.home.root) as index:
        result = index.similar(PLACE, limit=3)
        assert [hit.path for hit in result] == paths(cli, PLACE, "--limit", "3")
        assert result.similar_to is not None and result.similar_to.path == "src/InvoiceReader.cs"
        with pytest.raises(WrongQuestion, match=r"Write one file and line, as src/Orders\.cs:42"):
            index.similar("how are invoices parsed")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("OrderReader.cs:6",), "OrderReader.cs:6 is in 2 files; write more of its path"),
        (("src/Window.cs:600",), "no section has src/Window.cs:600"),
        (("secret/Payroll.cs:6",), "no section has secret/Payroll.cs:6"),
        (("nowhere/Payments.cs:6",), "no section has nowhere/Payments.cs:6"),
    ],
    ids=["two files", "no line", "hidden", "no file"],
)
def test_a_place_that_is_none_is_searched_as_words(cli: CommandLine, words: tuple[str, ...], says: str) -> None:
    """A hidden file is told as one that is not there."""
    found = cli.run("search", *words, "--json", "--full", options=()).json
    assert found["warnings"][0] == f"nothing similar can be found: {says}; its words were searched"
    assert found["similar_to"] is None and found["mode"] == "hybrid"
    assert "secret/Payroll.cs" not in {hit["path"] for hit in found["hits"]}


def test_keywords_and_other_words_name_the_line_as_before(cli: CommandLine) -> None:
    for words in ((PLACE, "--mode", "bm25"), (f"why does {PLACE} fail",)):
        assert paths(cli, *words)[0] == "src/InvoiceReader.cs"


def test_an_index_without_vectors_says_so(tmp_path: Path) -> None:
    new_repository(tmp_path / "shop", FILES)
    cli = CommandLine(IndexHome(tmp_path / "home"), tmp_path)
    cli.build(tmp_path / "shop", lexical_only=True)
    found = cli.run("search", PLACE, "--json", "--full").json
    assert "nothing similar can be found: this index was built without an embedding model" in found["warnings"][0]
    assert found["hits"][0]["path"] == "src/InvoiceReader.cs"
    (tmp_path / "rag_assets.yaml").write_text("search: {on_missing: fail}\n", encoding="utf-8")
    refused = cli.run("search", PLACE)
    assert refused.code == 1 and "nothing similar can be found" in refused.err
