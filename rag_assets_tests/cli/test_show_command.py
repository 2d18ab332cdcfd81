"""`rag-assets show`: from a point, a place in a file or an address to everything behind it."""

from __future__ import annotations

import pytest

from rag_assets_tests.cli.conftest import FILES, CommandLine, Indexed

SERVICE = "src/Orders/OrderService.cs"


@pytest.fixture(scope="module")
def hit(indexed: Indexed) -> dict[str, str]:
    found: dict[str, str] = indexed.cli.run("search", "refund", "--json", "--full", "--limit", "1").json["hits"][0]
    return found


@pytest.mark.parametrize("digits", [36, 8], ids=["whole point id", "its first digits"])
def test_a_point_by_its_id(indexed: Indexed, hit: dict[str, str], digits: int) -> None:
    found = indexed.cli.run("show", hit["point_id"][:digits], "--json").json
    assert set(found) == {
        *("path", "start_line", "end_line", "line", "symbol", "name", "kind", "commit", "date", "index_commit"),
        *("snippet", "description", "source", "payload"),
    }
    assert (found["path"], found["symbol"]) == (SERVICE, "Shop.Orders.OrderService")
    assert found["payload"]["SemanticId"] == hit["semantic_id"]


def test_a_point_by_its_semantic_id(indexed: Indexed, hit: dict[str, str]) -> None:
    assert indexed.cli.run("show", hit["semantic_id"], "--json").json["path"] == SERVICE


def test_the_source_is_the_exact_slice(indexed: Indexed, hit: dict[str, str]) -> None:
    found = indexed.cli.run("show", hit["point_id"], "--part", "source", "--json").json
    text = FILES[SERVICE]
    assert isinstance(text, str)
    assert found["source"] in text
    assert found["source"].startswith("/// <summary>Pays back") and found["source"].endswith("}")
    assert "description" not in found and "payload" not in found


@pytest.mark.parametrize(
    "place",
    [f"{SERVICE}:7", f"{SERVICE}:3-8", f"./{SERVICE}:7", SERVICE.replace("/", "\\") + ":7"],
    ids=["path:line", "as search prints it", "with ./", "with backslashes"],
)
def test_a_place_in_a_file(indexed: Indexed, place: str) -> None:
    assert indexed.cli.run("show", place, "--json").json["symbol"] == "Shop.Orders.OrderService"


@pytest.mark.parametrize("name", ["OrderService.RefundOrder", "OrderService"])
def test_a_name_of_the_code(indexed: Indexed, name: str) -> None:
    assert indexed.cli.run("show", name, "--json").json["symbol"] == "Shop.Orders.OrderService"
    assert "'OrderService.Nothing' is no point" in indexed.cli.run("show", "OrderService.Nothing").err


def test_the_line_that_was_asked_for_is_marked_among_its_neighbours(indexed: Indexed) -> None:
    said = indexed.cli.run("show", f"{SERVICE}:7", "--part", "source").out.splitlines()
    assert "> 7      public decimal RefundOrder(int orderId) => 0m;" in said
    assert "  6      /// <summary>Pays back what a customer returned.</summary>" in said
    assert "  1  namespace Shop.Orders;" in said
    assert sum(line.startswith(">") for line in said) == 1
    assert indexed.cli.run("show", f"{SERVICE}:7", "--json").json["line"] == 7
    assert indexed.cli.run("show", f"{SERVICE}:2", "--json").json["line"] is None


def test_a_place_as_it_is_typed_inside_the_checkout(indexed: Indexed) -> None:
    inside = CommandLine(indexed.cli.home, indexed.repository.path / "src")
    assert inside.run("show", "Orders/OrderService.cs:7", "--json").json["path"] == SERVICE


@pytest.mark.parametrize("line", [1, 2], ids=["a line of the namespace", "a blank line"])
def test_a_line_between_sections_leads_to_the_nearest(indexed: Indexed, line: int) -> None:
    done = indexed.cli.run("show", f"{SERVICE}:{line}", "--json")
    assert done.json["symbol"] == "Shop.Orders.OrderService"
    assert f"line {line} is in no section; this is the nearest one" in done.err


def test_an_address_of_a_backing_artifact(indexed: Indexed, hit: dict[str, str]) -> None:
    payload = indexed.cli.run("show", hit["point_id"], "--json").json["payload"]
    assert indexed.cli.run("show", payload["FullDocumentBlobUri"]).out == FILES[SERVICE]
    described = indexed.cli.run("show", payload["DescriptionBlobUri"], "--json").json
    assert "OrderService" in described["text"]


@pytest.mark.rule("C08", "C11")
def test_for_people_the_parts_follow_each_other(indexed: Indexed, hit: dict[str, str]) -> None:
    said = indexed.cli.run("show", hit["point_id"]).out
    assert said.startswith(f"{SERVICE}:6-8  Shop.Orders.OrderService  Service  as of commit ")
    places = [said.index(f"--- {part}") for part in ("snippet", "description", "source", "payload")]
    assert places == sorted(places)


@pytest.mark.parametrize(
    ("point", "expected"),
    [
        pytest.param("00000000", "no point", id="unknown prefix"),
        pytest.param("not a point", "not a point", id="nonsense"),
        pytest.param(f"{SERVICE}:4000", "its sections are at lines 3-5, 6-8", id="line outside"),
        pytest.param("src/Nowhere.cs:1", "src/Nowhere.cs has no section", id="unknown file"),
        pytest.param("rag://shop@main/src/Nowhere.cs", "src/Nowhere.cs is not indexed", id="unknown document"),
        pytest.param("rag://", "not a rag:// URI", id="no address"),
        pytest.param("rag://other@main/a.cs", "no label 'other@main'", id="address of another label"),
    ],
)
def test_what_is_not_there(indexed: Indexed, point: str, expected: str) -> None:
    done = indexed.cli.run("show", point)
    assert (done.code, done.out) == (2 if point == "not a point" else 1, "")
    assert expected in done.err


@pytest.mark.parametrize("words", [("show",), ("search",), ("explain",), ("graph", "callers")], ids="-".join)
def test_a_line_of_thousands_of_digits_is_no_line(indexed: Indexed, words: tuple[str, ...]) -> None:
    done = indexed.cli.run(*words, f"{SERVICE}:{'9' * 5_000}")
    assert done.code in (0, 1, 2)
    assert "unexpected" not in done.err
