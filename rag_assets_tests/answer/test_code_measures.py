"""What stands out in code as a whole: what is longest, needs and is called most, what nothing names, which folders use
each other, and which files change most often."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_assets import Index, open_index
from rag_assets.answer.structure.listed_questions import listed_of_whole
from rag_assets.index.layout import IndexHome
from rag_assets_tests.cli.conftest import index_without_dagster, new_repository, opened_index

FILES: dict[str, str | bytes] = {
    "src/Orders/Order.cs": """\
namespace Shop.Orders;

using Shop.Bills;

public class Order
{
    public Bill? Bill { get; set; }

    public decimal Total(decimal rate)
    {
        var total = 0m;
        total += rate;
        total += 1;
        return Rounded(total);
    }

    private decimal Rounded(decimal value) => decimal.Round(value);

    private void Forgotten()
    {
    }
}

public class Lost
{
    public Lost(int number) => Number = number;

    public int Number { get; }
}

public static class OrderExtensions
{
    public static Order Doubled(this Order order) => order;
}

public class OrdersController : ControllerBase
{
    public void FoundByRoute()
    {
    }
}

[Serializable]
public class Marked
{
}
""",
    "src/Bills/Bill.cs": """\
namespace Shop.Bills;

using Shop.Orders;

public class Bill
{
    public Order Order { get; set; } = null!;

    public decimal Due() => Order.Total(2) + Order.Total(3);

    public decimal Overdue() => Order.Total(4);
}
""",
    "src/Page.cshtml": "@{ var twice = Model.Doubled(); }\n",
    "tests/OrderTests.cs": "public class OrderTests\n{\n    public void Adds() => new Order().Total(1);\n}\n",
}
DUE = ("Bill.Due", "Bill.Overdue")


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    base = tmp_path_factory.mktemp("measures")
    repository = new_repository(base / "measured", FILES)
    for number in range(2):
        repository.commit({"src/Bills/Bill.cs": str(FILES["src/Bills/Bill.cs"]) + f"// {number}\n"})
    home = IndexHome(base / "home")
    label = index_without_dagster(home, repository, "measured")
    with open_index(label, home=home.root) as index:
        yield index


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("What are the biggest classes?", ["Most lines of classes", "**Order** has **18 lines**"]),
        ("which method is the most complex?", ["Most lines of methods", "**Order.Total** has **7 lines**"]),
        ("which files are the longest?", ["**Order.cs** has **47 lines**"]),
        ("Which methods are called most often?", ["**Order.Total** is called by **2 members**"]),
        (
            "which classes have the most dependencies?",
            ["Most dependencies of classes", "**Bill** has **1 dependency**"],
        ),
        (
            "are there circular dependencies?",
            ["src/Bills and src/Orders use each other", "**Bill.Order** uses **Order**"],
        ),
        ("what are the hot spots?", ["of the last 3 commits", "**Bill.cs** was changed by **3 commits**"]),
        ("which classes are used most?", ["**Order** in src/Orders/Order.cs:5"]),
    ],
)
def test_what_stands_out_is_told_with_its_number(shop: Index, question: str, told: list[str]) -> None:
    answer = shop.ask(question)

    assert not answer.abstained and not answer.unsure
    assert [one for one in told if one not in answer.text] == []
    assert "OrderTests" not in answer.text


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Which code is never used?", {"Lost", "Order.Forgotten", *DUE}),
        ("which classes are not used anywhere?", {"Lost"}),
        ("is there dead code?", {"Lost", "Order.Forgotten", *DUE}),
        ("which methods are never called?", {"Order.Forgotten", *DUE}),
    ],
)
def test_what_nothing_names_is_unused_but_what_a_framework_may_find(
    shop: Index, question: str, names: set[str]
) -> None:
    told = shop.ask(question).text

    assert {line.split("**")[1] for line in told.split("\n") if line.startswith("- **")} == names


def test_what_is_found_without_its_name_is_not_unused(tmp_path: Path) -> None:
    files = {
        "src/Export.php": """\
<?php
class Export
{
    public function run($format) { return $this->{'produce' . $format}(); }

    private function producePdf() { return 'pdf'; }

    public function getTitle() { return 'Shop'; }

    private function forgotten() { return 1; }
}
""",
        "src/index.php": "<?php\n$pdf = (new Export())->run('Pdf');\n",
        "src/text.rs": """\
struct Text(String);

impl<T> Reader for Text
where
    T: Clone,
{
    type Item = String;

    fn read_all(&self) -> String { self.0.clone() }
}

impl Text {
    fn dropped(&self) {}
}
""",
        "src/ambient.d.ts": "interface Ambient {\n  one: string;\n}\n",
        "app/helpers/lamps_helper.rb": "module LampsHelper\n  def lamp_name\n    1\n  end\nend\n",
    }
    with opened_index(tmp_path, files, "found") as index:
        told = index.ask("which methods are never called?").text + index.ask("which types are never used?").text

    assert "forgotten" in told and "dropped" in told
    for found in ("producePdf", "getTitle", "Item", "read_all", "Ambient", "LampsHelper", "lamp_name"):
        assert f"{found}**" not in told, told


@pytest.mark.parametrize(
    "question",
    [
        "which indexes are never used?",
        "which settings are used most?",
        "what is the longest name of a street?",
        "which classes are used to send mail?",
        "what is the biggest order?",
        "why is the method never called when the order is closed?",
        "how are circular dependencies of services resolved?",
        "which files are changed by the migration?",
    ],
)
def test_a_question_about_one_thing_is_no_measure_of_the_whole(question: str) -> None:
    assert listed_of_whole(question) is None


def test_the_lines_of_each_language_are_counted_where_they_are_asked_for(shop: Index) -> None:
    told = shop.ask("how many lines of code are there?").text
    assert told.startswith("**4 files with 63 lines are indexed:**"), told
    assert " lines" not in shop.ask("how many files are there?").text
