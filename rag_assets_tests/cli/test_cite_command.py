"""`rag-assets cite check`: whether the places that documents cite hold what these say of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rag_assets.index.layout import IndexHome
from rag_assets_tests.cli.conftest import CommandLine, Indexed, index_without_dagster, new_repository

OLD = """\
namespace Shop.Orders;

/// <summary>Cancels and refunds orders.</summary>
public class OrderService
{
    /// <summary>Pays back what a customer returned, once.</summary>
    public decimal RefundOrder(int orderId)
    {
        return orderId < 0 ? 0m : 1m;
    }
}
"""
SERVICE = "src/Orders/OrderService.cs"
NEW = OLD.replace("public class", "// one more line\npublic class")
CLOCK = "namespace Shop;\n\npublic class Clock { public int Now() => 1; }\n"


ROUTES = {
    "app/(pay)/[orderId]/page.tsx": "export default function Pay() {\n  return null;\n}\n",
    "app/api/[...path].ts": "export const path = 1;\n",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> tuple[Indexed, str]:
    """An index of the second commit, and the first one."""
    base = tmp_path_factory.mktemp("cite")
    repository = new_repository(base / "shop", {SERVICE: OLD, "docs/guide.md": "# Guide\n\nOrders.\n"})
    first = repository.git("rev-parse", "HEAD")
    repository.git("remote", "add", "origin", "https://example.org/acme/shop.git")
    repository.commit({SERVICE: NEW, "src/Clock.cs": CLOCK, "docs/How to pay.md": "# Pay\n\nAs it is said.\n"} | ROUTES)
    cli = CommandLine(IndexHome(base / "home"), base)
    return Indexed(cli, repository, index_without_dagster(cli.home, repository, "shop")), first


def checked(shop: tuple[Indexed, str], text: str) -> list[tuple[str, str | None, str | None]]:
    """(what was written, problem, where it is now) of each place; the exit code says whether there is a problem."""
    done = shop[0].cli.run("cite", "check", "--json", spoken=text.replace("FIRST", shop[1]))
    found = done.json
    assert done.code == (1 if found["wrong"] else 0)
    assert found["wrong"] == sum(place["problem"] is not None for place in found["places"])
    return [(place["path"], place["problem"], place["now"]) for place in found["places"]]


@pytest.mark.parametrize(
    "text",
    [
        f"It pays back ({SERVICE}:7-11).",
        f"The `RefundOrder` in {SERVICE}:8 does it.",
        f"`OrderService.RefundOrder` ({SERVICE}:8-11)",
        f"`RefundOrder` ({SERVICE}:10) is around that line.",
        f"{SERVICE}:7: “Pays back what a customer returned, once.”",
        f'He wrote "Pays back what a customer … once." in {SERVICE}:7.',
        f"{SERVICE}:10: `return orderId < 0 ? 0m : 1m;`",
        f"It is there, see {SERVICE}:8-11:\n\n```csharp\npublic decimal RefundOrder(int orderId)\n{{\n```\n",
        f"> Cancels and refunds\n> orders.\n\n— {SERVICE}:3",
        f"```csharp {SERVICE}:10\nreturn orderId < 0 ? 0m : 1m;\n```\n",
        f"```10:10:{SERVICE}\n        return orderId < 0 ? 0m : 1m;\n```\n",
        f"It was “Pays back what a customer returned, once.” at {SERVICE}:6@FIRST before.",
        f"[`RefundOrder`]({SERVICE}#L8-L11)",
        f"[the refund](https://example.org/acme/shop/blob/FIRST/{SERVICE}#L7-L10)",
        f"https://example.org/acme/shop/blob/main/{SERVICE}#L8",
        f"Two places have it: {SERVICE}:3 and {SERVICE}:7, “Pays back what a customer returned, once.”",
        f"Run it (see {SERVICE}:3):\n\n```sh\nmake everything\n```\n",
        "It is said in docs/How to pay.md:3: “As it is said.”",
        "OrderService.cs:8 is enough where one file is called so.",
        "`Pay` in app/(pay)/[orderId]/page.tsx:1",
        "- **path** in app/api/[...path].ts:1: `export const path = 1;`",
    ],
)
def test_what_holds(shop: tuple[Indexed, str], text: str) -> None:
    found = checked(shop, text)
    assert found and {problem for _, problem, _ in found} == {None}


@pytest.mark.parametrize(
    "text",
    [
        "The server is at localhost:8080 or example.org:443, since 10:30 of 2024-05-06T10:00:00.",
        "https://example.org:8443/a/b.html#L3 and https://example.org/other/shop/blob/main/a.cs#L3",
        "The image python:3.11 and a@b.example:22 are no files.",
        f"```console\n$ rag-assets search refund\n{SERVICE}:900  OrderService\n```\n",
        "Nothing is cited.",
    ],
)
def test_what_is_no_citation(shop: tuple[Indexed, str], text: str) -> None:
    assert checked(shop, text) == []


@pytest.mark.parametrize(
    ("text", "problem", "now"),
    [
        ("src/Orders/Gone.cs:3 has it.", "no such file", None),
        ("src/Gone.cs:3: “Pays back what a customer returned, once.”", "no such file", f"{SERVICE}:7"),
        (f"{SERVICE}:7-90 is long.", "lines out of range", None),
        (f"`RefundOrder` ({SERVICE}:90)", "lines out of range", f"{SERVICE}:7-11"),
        (f"{SERVICE}:9-3 is none.", "lines out of range", None),
        (f"{SERVICE}:6: “Pays back what a customer returned, once.”", "quote is not on these lines", f"{SERVICE}:7"),
        (f"{SERVICE}:7: “Pays back what a customer returned, twice.”", "altered quote", None),
        ("src/Clock.cs:3: `return orderId < 0 ? 0m : 1m;`", "quote is not on these lines", f"{SERVICE}:10"),
        (
            f"See {SERVICE}:1:\n\n```csharp\npublic class OrderService\n```\n",
            "quote is not on these lines",
            f"{SERVICE}:5",
        ),
        (f"`Clock.Now` ({SERVICE}:8)", "symbol is not at these lines", "src/Clock.cs:3"),
        (f"**RefundOrder** in {SERVICE}:4", "symbol is not at these lines", f"{SERVICE}:7-11"),
        (f"RefundOrder in {SERVICE}:4", "symbol is not at these lines", f"{SERVICE}:7-11"),
        (f"[`RefundOrder`]({SERVICE}#L1-L3)", "symbol is not at these lines", f"{SERVICE}:7-11"),
        (f"{SERVICE}:3@abcdef123456", "no such commit", None),
        ("src/Clock.cs:3@FIRST", "no such file", None),
    ],
)
def test_what_is_wrong_is_told_with_where_it_is_now(
    shop: tuple[Indexed, str], text: str, problem: str, now: str | None
) -> None:
    ((_, found, where),) = checked(shop, text)
    assert found == problem
    assert (where or "").partition("@")[0] == (now or "")


@pytest.mark.parametrize(
    "said",
    [
        "src/Clock.cs:3 is one, and {0}:7 has “Pays back what a customer returned, twice.”",
        "src/Clock.cs:3, {0}:7: “Pays back what a customer returned, twice.”",
        'src/Clock.cs:3 and (`{0}:7`): "Pays back what a customer returned, twice."',
    ],
)
def test_a_wrong_quote_is_told_of_the_place_before_it(shop: tuple[Indexed, str], said: str) -> None:
    assert [(path, problem) for path, problem, _ in checked(shop, said.format(SERVICE))] == [
        ("src/Clock.cs", None),
        (SERVICE, "altered quote"),
    ]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "windows-1252"])
def test_a_document_is_read_in_its_encoding(shop: tuple[Indexed, str], tmp_path: Path, encoding: str) -> None:
    (tmp_path / "a.md").write_text(f"{SERVICE}:90 – “Größe”", encoding=encoding)
    assert "1 place, 1 wrong" in shop[0].cli.run("cite", "check", tmp_path / "a.md").out


def test_a_document_of_the_repository_links_from_its_folder(shop: tuple[Indexed, str]) -> None:
    indexed, _ = shop
    document = indexed.repository.path / "docs" / "guide.md"
    document.write_text(f"[`RefundOrder`](../{SERVICE}#L8) and [nothing](../src/Gone.cs#L1)\n")
    (indexed.repository.path / "notes.md").write_text(
        f"{indexed.repository.path}/{SERVICE}:8 and `Now` (src/Clock.cs:3)\n"
    )
    inside = CommandLine(indexed.cli.home, indexed.repository.path)
    done = inside.run("cite", "check", "docs/guide.md", "notes.md")
    assert done.code == 1
    assert done.out.splitlines()[0] == "docs/guide.md:1  [nothing](../src/Gone.cs#L1)  no such file"
    assert done.out.splitlines()[-1].startswith("4 places, 1 wrong  shop@main  commit ")


def test_an_answer_of_ask_holds(shop: tuple[Indexed, str]) -> None:
    answer = shop[0].cli.run("ask", "what does OrderService do?")
    assert answer.code == 0
    done = shop[0].cli.run("cite", "check", spoken=answer.out)
    assert (done.code, " 0 wrong  " in done.out) == (0, True), done.out


def test_nothing_is_cited_and_what_is_no_document(shop: tuple[Indexed, str], tmp_path: Path) -> None:
    cli = shop[0].cli
    assert cli.run("cite", "check", "-", spoken="Nothing.").out.startswith("no place is cited")
    assert "is a folder" in cli.run("cite", "check", tmp_path).err
    assert cli.run("cite", "check", tmp_path / "absent.md").code == 1
    (tmp_path / "a.pdf").write_bytes(b"%PDF\0\1")
    done = cli.run("cite", "check", tmp_path / "a.pdf")
    assert (done.code, done.out) == (1, "") and "a.pdf is no text: NUL byte" in done.err
    assert json.loads(cli.run("cite", "check", "--json", spoken="").out)["places"] == []
