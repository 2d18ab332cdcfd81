"""Languages without a grammar, as a user meets them: indexed, searched, asked for and walked from the command line."""

from __future__ import annotations

import json

import pytest

from rag_assets.index.layout import IndexHome
from rag_assets_tests.cli.conftest import CommandLine, index_without_dagster, new_repository

PRINTER = """\
use std::io;

/// Takes lines one after the other.
pub trait Sink {
    fn matched(&mut self, line: &str) -> io::Result<bool>;
}

/// Prints lines with their numbers.
pub struct Printer {
    buffer: String,
}

impl Printer {
    /// Clears the buffer after it holds more than the limit.
    pub fn flush_when_full(&mut self) {
        if self.buffer.len() > 4096 {
            self.buffer.clear();
        }
    }
}

impl Sink for Printer {
    fn matched(&mut self, line: &str) -> io::Result<bool> {
        self.buffer.push_str(line);
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn an_empty_printer_is_not_full() {
        Printer::new().flush_when_full();
    }
}
"""
STOCK = """\
class Stock
  # Takes goods off the shelf.
  def reserve(amount)
    before = @left

    @left -= amount
    before
  end

  def refill
    @left = 100
  end
end
"""
COUNTER = """\
@page "/counter/{start:int}"
<h1>Counter</h1>
<p/>

@code {
    void IncrementCount() { count++; }
}
"""
FILES: dict[str, str | bytes] = {
    "src/printer.rs": PRINTER,
    "src/run.rs": 'use crate::printer::Sink;\n\npub fn run_all(sink: &mut dyn Sink) {\n    sink.matched("x");\n}\n',
    "src/Basket.kt": "package shop\n\n/** Holds what is wanted. */\nclass Basket {\n    fun total(): Int = 0\n}\n",
    "src/Tax.fs": "module Shop.Tax\n\n/// Rounds to cents.\nlet roundToCents (amount: decimal) =\n    round amount\n",
    "include/queue.h": "#pragma once\nnamespace shop {\nclass Queue {\npublic:\n    void push_back(int value);\n};\n}",
    "Pages/Counter.razor": COUNTER,
    "web/plain.html": "<h1>Shipping</h1>\n"
    + "<p>Parcels leave on the next day.</p>\n" * 200
    + "<p>Returns are free.</p>\n",
    "lib/stock.rb": STOCK,
    "posh/Shelf.psm1": "function Get-FreeShelf {\n    $shelves | Where-Object { -not $_.Taken }\n}\n\n"
    "function Set-Goods {\n    # Get the free shelf: Get-FreeShelf gets any shelf that is free, free shelf first\n"
    "    $shelf = Get-FreeShelf\n    $shelf.Taken = $true\n}\n",
    "posh/Shelf.Tests.ps1": "Describe 'Shelf' {\n    It 'is free' {\n        Get-FreeShelf | Should -Be 1\n    }\n}\n",
    "vb/Constants.vb": "Public Class Constants\n    Public Const GOODS_PER_SHELF As Integer = 12\nEnd Class\n",
    "lib/ring.cc": "namespace shop {\nclass Ring : public Queue {\npublic:\n    Ring(int size) {}\n};\n}\n",
    "lib/queue_test.cc": "TEST(QueueTest, Empty) {\n    Queue queue;\n    EXPECT_TRUE(queue.empty());\n}\n",
    "test/tax.fs": "module Shop.TaxFacts\n\n[<Fact>]\nlet ``rounds to cents`` () =\n    roundToCents 1m |> equals 1m\n",
    # Bad ones: read as far as they go.
    "bad/open.rs": "pub struct Open {\n    a: u32,\nimpl Open {\n    fn never_closed(&self) {\n",
    "bad/latin.rb": "class Caf\xe9\n  def serve\n    1\n  end\nend\n".encode("latin-1"),
    "bad/binary.kt": b"\x00\x01\x02" * 100,
    "bad/deep.swift": "class A {\n" * 3_000,
    "bad/line.c": "int a(int b) { return b; } " * 4_000,  # is left out for its length
    "bad/empty.lua": "",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    folder = tmp_path_factory.mktemp("other-languages")
    home = IndexHome(folder / "home")
    index_without_dagster(home, new_repository(folder / "shop", FILES), "shop")
    return CommandLine(home, folder)


@pytest.mark.parametrize(
    ("name", "path", "first", "last"),
    [
        ("Printer", "src/printer.rs", 8, 11),
        ("flush_when_full", "src/printer.rs", 14, 19),
        ("Basket", "src/Basket.kt", 3, 6),
        ("roundToCents", "src/Tax.fs", 3, 5),
        ("push_back", "include/queue.h", 5, 5),
        ("never_closed", "bad/open.rs", 4, 5),
        ("IncrementCount", "Pages/Counter.razor", 6, 6),
        ("Get-FreeShelf", "posh/Shelf.psm1", 1, 3),
    ],
)
def test_a_name_is_found_at_the_lines_that_declare_it(
    shop: CommandLine, name: str, path: str, first: int, last: int
) -> None:
    found = json.loads(shop.run("search", name, "--limit", "1", "--json").out)["hits"][0]
    assert found["path"] == path
    assert first <= found["lines"][0] <= found["lines"][1] <= last


def test_what_implements_a_trait_is_a_list(shop: CommandLine) -> None:
    told = shop.run("ask", "which types implement Sink?")
    assert told.code == 0
    assert "Printer probably implements Sink in src/printer.rs:22" in told.out
    assert "Ring probably inherits Queue in lib/ring.cc:2" in shop.run("ask", "what derives from Queue?").out
    walked = shop.run("graph", "Sink", "--json").out
    assert "rust:src/printer.Printer|TYPE" in walked


def test_a_change_of_what_implements_a_trait_reaches_who_calls_the_trait(shop: CommandLine) -> None:
    reached = {
        one["key"]: one["group"] for one in shop.run("graph", "impact", "Printer.matched", "--json").json["nodes"]
    }
    assert reached["rust:src/run.run_all|METHOD"] == "code"


def test_tests_are_known_by_what_their_language_writes(shop: CommandLine) -> None:
    found = shop.run("search", "kind:Test", "--json").json["hits"]
    assert {hit["path"] for hit in found} == {
        "src/printer.rs",
        "test/tax.fs",
        "lib/queue_test.cc",
        "posh/Shelf.Tests.ps1",
    }
    covering = shop.run("ask", "which tests cover flush_when_full?").out
    assert "tests.an_empty_printer_is_not_full calls Printer.flush_when_full in src/printer.rs:33" in covering
    without = shop.run("ask", "which classes have no tests?").out
    assert "Stock in lib/stock.rb" in without and "Printer" not in without


def test_the_pages_of_components_are_endpoints(shop: CommandLine) -> None:
    listed = shop.run("graph", "list", "endpoint")
    assert (listed.code, listed.out.splitlines()[0]) == (0, "GET /counter/{start:int}  Pages/Counter.razor:1")
    assert "/counter/{start:int}" in shop.run("ask", "what pages does it have?").out


def test_a_question_is_answered_with_the_lines_that_do_it(shop: CommandLine) -> None:
    told = shop.run("ask", "when is the buffer cleared?")
    assert told.code == 0
    assert "if self.buffer.len() > 4096 {" in told.out


def test_a_function_of_a_language_without_braces_is_quoted_as_a_whole(shop: CommandLine) -> None:
    """At a blank line inside of it nothing ends."""
    told = shop.run("ask", "how does Stock reserve an amount?").out
    assert "Stock.reserve in lib/stock.rb" in told
    assert "before = @left" in told and "@left -= amount" in told and "Stock.end" not in told


def test_a_constant_is_told_with_its_value(shop: CommandLine) -> None:
    told = shop.run("ask", "how many goods per shelf are there by default?").out
    assert "Default:" in told and "Public Const GOODS_PER_SHELF As Integer = 12" in told


def test_a_name_with_hyphens_is_one_name(shop: CommandLine) -> None:
    told = shop.run("ask", "where is Get-FreeShelf defined?").out
    assert "Get-FreeShelf in posh/Shelf.psm1:1-3 [1]" in told.partition("\n")[0]


def test_who_calls_something_is_not_said_to_be_nobody(shop: CommandLine) -> None:
    """The graph has not all calls of these languages."""
    told = shop.run("ask", "who calls flush_when_full?").out
    assert "nothing calls" not in told.lower()
    told = shop.run("graph", "impact", "flush_when_full").out
    assert "of rust the graph has only the calls that names and declared types tell; where else" in told


def test_a_part_of_a_text_without_members_is_told_by_its_line_that_says_the_most(shop: CommandLine) -> None:
    (hit,) = shop.run("search", "parcels and free returns", "--path", "web/", "--limit", "1", "--json").json["hits"]
    assert {said for _, _, said in hit["members"]} >= {"<p>Returns are free.</p>"}


def test_status_and_explain_say_how_such_a_file_was_read(shop: CommandLine) -> None:
    (entry,) = json.loads(shop.run("status", "--json").out)["labels"]
    assert entry["parse_health"]["by_patterns"] == 14
    assert "parse by-patterns" in shop.run("explain", "src/printer.rs").out


def test_every_point_of_them_keeps_the_contract(shop: CommandLine) -> None:
    assert shop.run("validate").code == 0
