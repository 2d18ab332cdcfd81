"""`rag-assets explain`: from a file or a symbol to kind, builders, facts, sections and points; skipped files too."""

from __future__ import annotations

from typing import Any

import pytest

from rag_assets.index.layout import IndexHome
from rag_assets_tests.cli.conftest import CommandLine, Indexed, index_without_dagster, new_repository

SERVICE = "src/Orders/OrderService.cs"
FILES: dict[str, str | bytes] = {
    SERVICE: """\
namespace Shop.Orders;

/// <summary>Cancels and refunds orders.</summary>
public class OrderService
{
    /// <summary>Pays back what a customer returned.</summary>
    public decimal RefundOrder(int orderId) => 0m;

    public class Receipt { }
}

public enum RefundReason { Broken, Late }
""",
    "src/Orders/Form.cs": "namespace Shop;\npublic partial class Form { public void Show() { } }\n",
    "src/Orders/Form.Designer.cs": "namespace Shop;\npublic partial class Form { private int button; }\n",
    "src/Other/Form.cs": "namespace Shop.Other;\npublic class Form { public int Id { get; set; } }\n",
    "src/Empty.cs": "// nothing yet\n",
    "web/logo.png": b"\x89PNG\r\n\x1a\n\x00\x00\x00\x00",
}


@pytest.fixture(scope="module")
def explained(tmp_path_factory: pytest.TempPathFactory) -> Indexed:
    base = tmp_path_factory.mktemp("explained")
    repository = new_repository(base / "shop", FILES)
    cli = CommandLine(IndexHome(base / "home"), base)
    return Indexed(cli, repository, index_without_dagster(cli.home, repository, "shop"))


def explain(explained: Indexed, place: str) -> Any:
    done = explained.cli.run("explain", place, "--json")
    assert done.code == 0, done.err
    return done.json


def test_a_file_with_everything_that_was_decided(explained: Indexed) -> None:
    found = explain(explained, SERVICE)
    assert (found["path"], found["outcome"], found["language"]) == (SERVICE, "indexed", "csharp")
    assert (found["health"], found["described_now"]) == ("ok", False)
    service, reason = found["segments"]
    assert (service["symbol"], service["declaration"], service["kind"]) == (
        "Shop.Orders.OrderService",
        "class",
        "Service",
    )
    assert service["rule"] and service["pack"] == "generic" and service["evidence"]
    assert reason["kind"] == "Enum"
    described = [builder for builder in service["builders"] if builder["outcome"] == "described"]
    assert described
    assert described[0]["facts"]["summary"] == "Cancels and refunds orders."
    assert any("RefundOrder" in member for member in described[0]["facts"]["members"])


@pytest.mark.rule("C10", "C11", "A24")
def test_its_points_are_those_of_the_index(explained: Indexed) -> None:
    service = explain(explained, SERVICE)["segments"][0]
    sections = [section for builder in service["builders"] for section in builder["sections"]]
    assert sections
    for section in sections:
        payload = explained.cli.run("show", section["point_id"], "--json").json["payload"]
        assert payload["SemanticId"] == section["semantic_id"]
        assert payload["FinderSnippet"] == section["snippet"]
        assert payload["SourceSliceBlobUri"] == section["slice_uri"]
        assert payload["DescriptionBlobUri"] == section["description_uri"]
        assert payload["FullDocumentBlobUri"] == section["document_uri"]
        assert section["tokens"] > 0


@pytest.mark.parametrize(
    "place",
    [
        f"{SERVICE}:OrderService",
        f"{SERVICE}:orderservice",
        f"{SERVICE}:Shop.Orders.OrderService",
        f"{SERVICE}:RefundOrder",
        f"{SERVICE}:Receipt",
        f"{SERVICE}:7",
        f"{SERVICE}:7-8",
        f"./{SERVICE}:OrderService",
        SERVICE.replace("/", "\\") + ":OrderService",
        "OrderService",
        "shop.orders.orderservice",
    ],
    ids=[
        *("simple name", "any case", "full name", "member", "nested type", "line", "lines", "with ./", "backslashes"),
        *("symbol without path", "full name without path"),
    ],
)
def test_one_symbol(explained: Indexed, place: str) -> None:
    found = explain(explained, place)
    assert found["path"] == SERVICE
    assert [segment["symbol"] for segment in found["segments"]] == ["Shop.Orders.OrderService"]


def test_a_path_as_it_is_typed_inside_the_checkout(explained: Indexed) -> None:
    inside = CommandLine(explained.cli.home, explained.repository.path / "src")
    assert inside.run("explain", "Orders/OrderService.cs:RefundReason", "--json").json["segments"][0]["kind"] == "Enum"
    whole = str(explained.repository.path / SERVICE)
    assert explained.cli.run("explain", whole, "--json").json["path"] == SERVICE


def test_a_skipped_file_is_described_as_if_it_were_indexed(explained: Indexed) -> None:
    found = explain(explained, "src/Orders/Form.Designer.cs")
    assert (found["outcome"], found["reason"], found["described_now"]) == ("skipped", "generated", True)
    (form,) = found["segments"]
    assert form["symbol"] == "Shop.Form"
    sections = [section for builder in form["builders"] for section in builder["sections"]]
    assert sections and all(section["snippet"] and not section["point_id"] for section in sections)


def test_the_part_beside_it_names_it(explained: Indexed) -> None:
    found = explain(explained, "src/Orders/Form.cs")
    (described,) = [b for b in found["segments"][0]["builders"] if b["outcome"] == "described"]
    assert described["facts"]["other_parts"][0]["path"] == "src/Orders/Form.Designer.cs"
    assert described["facts"]["other_parts"][0]["skipped"] == "generated"


def test_what_is_no_text_has_its_reason(explained: Indexed) -> None:
    found = explain(explained, "web/logo.png")
    assert (found["outcome"], found["reason"], found["segments"]) == ("skipped", "binary", [])
    assert found["note"] == "there is no text to describe"


def test_a_skipped_file_whose_repository_is_gone_keeps_its_reason(tmp_path: Any) -> None:
    repository = new_repository(tmp_path / "shop", FILES)
    cli = CommandLine(IndexHome(tmp_path / "home"), tmp_path)
    index_without_dagster(cli.home, repository, "shop")
    repository.path.rename(tmp_path / "moved")
    done = cli.run("explain", "src/Orders/Form.Designer.cs", "--json")
    assert (done.code, done.json["reason"], done.json["described_now"]) == (0, "generated", False)
    assert done.json["note"].startswith("it cannot be described now: ")


def test_for_people(explained: Indexed) -> None:
    said = explained.cli.run("explain", f"{SERVICE}:OrderService").out
    for text in (f"{SERVICE}  shop@main", "kind     Service", "builder  ", "section  ", "semantic id ", "Purpose: "):
        assert text in said
    assert "RefundReason" not in said
    skipped = explained.cli.run("explain", "src/Orders/Form.Designer.cs").out
    assert "skipped generated" in skipped and "as if it were indexed" in skipped


@pytest.mark.parametrize(
    ("place", "says"),
    [
        pytest.param("src/Orders/OrderServic.cs", f"did you mean {SERVICE}?", id="near path"),
        pytest.param("OrderService.cs", f"did you mean {SERVICE}?", id="name without folder"),
        pytest.param("nothing/like/it.xyz", "neither a file nor a symbol of shop@main", id="unknown"),
        pytest.param(f"{SERVICE}:Nothing", "has no symbol or member 'Nothing'; there are: Shop", id="unknown symbol"),
        pytest.param(f"{SERVICE}:900", "line 900 of src/Orders/OrderService.cs is in no segment", id="line outside"),
        pytest.param("Form", "several files; explain one of\n  src/Orders/Form.cs:Shop.Form", id="ambiguous"),
        pytest.param(":", "neither a file nor a symbol", id="colon"),
    ],
)
def test_what_is_not_there_names_what_is_near(explained: Indexed, place: str, says: str) -> None:
    done = explained.cli.run("explain", place)
    assert (done.code, done.out) == (1, "")
    assert says in done.err


def test_an_unknown_label_and_an_empty_home(explained: Indexed, cli: CommandLine) -> None:
    assert "no label 'other'" in explained.cli.run("explain", SERVICE, "--label", "other").err
    assert "run: rag-assets index" in cli.run("explain", SERVICE).err
