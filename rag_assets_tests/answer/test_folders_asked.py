"""Questions for what a folder, a project or a namespace holds."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rag_assets import Index
from rag_assets.answer.structure.questions import folder_asked
from rag_assets_tests.cli.conftest import opened_index

FILES = {
    "src/Shop.Core/Orders/Order.cs": "namespace Shop.Core.Orders;\n\npublic class Order\n{\n}\n",
    "src/Shop.Core/Orders/Rules/OrderRule.cs": """\
namespace Shop.Core.Orders.Rules;

using Shop.Core.Bills;

public class OrderRule
{
    public bool Allows(Order order, Bill bill) => true;
}
""",
    "src/Shop.Core/Orders/README.md": "# Orders\n\nWhat customers buy.\n",
    "src/Shop.Core/Bills/Bill.cs": """\
namespace Shop.Core.Bills;

using Shop.Core.Orders;

public class Bill
{
    public Order? Order { get; set; }
}
""",
    "src/Shop.Core/Shop.Core.csproj": '<Project Sdk="Microsoft.NET.Sdk" />\n',
    "web/Views/index.html": "<p>Hello</p>\n",
    "admin/Views/index.html": "<p>Hello</p>\n",
    "css/invoices/invoices.css": "p {\n  color: red;\n}\n",
    "src/Shop.Api/Clients/Mail/Client.cs": "namespace Shop.Api.Clients.Mail;\n\npublic class Client\n{\n}\n",
    "src/Shop.Mail/Sender.cs": "namespace Shop.Mail;\n\npublic class Sender\n{\n}\n",
    "docs/setup.md": "# Setup\n\nFirst get the keys.\n",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("folders"), FILES, "folders") as index:
        yield index


@pytest.mark.parametrize(
    "question",
    [
        "what is in the folder src/Shop.Core/Orders?",
        "summarize the Orders folder",
        "Explain the orders directory",
        "what does the Orders module do?",
        "what is the Shop.Core.Orders namespace for?",
        "how is src/Shop.Core/Orders structured?",
        "what is the purpose of the Orders package?",
        "what is in the orders crate?",
    ],
)
def test_a_folder_is_told_by_its_parts_its_types_and_who_uses_them(shop: Index, question: str) -> None:
    answer = shop.ask(question)

    assert not answer.abstained and not answer.unsure
    assert answer.text.startswith("**`src/Shop.Core/Orders` has 3 files:**")
    for told in (
        "**Told by:**\n- **README.md**",
        "**Rules** has **OrderRule**",
        "- **Order** in src/Shop.Core/Orders/Order.cs:3",
        "**OrderRule.Allows** uses **Bill**",
        "**Bill.Order** uses **Order**",
    ):
        assert told in answer.text


def test_the_files_of_a_folder_are_listed_where_they_are_asked_for_or_nothing_is_declared(shop: Index) -> None:
    listed = shop.ask("which files are in the Orders folder?").text
    assert [line.split("**")[1] for line in listed.split("\n") if line.startswith("- ")] == [
        "Order.cs",
        "README.md",
        "OrderRule.cs",
    ]
    assert "**setup.md** in docs/setup.md" in shop.ask("what is in the docs folder?").text


def test_a_project_is_its_folder_and_one_name_of_two_folders_is_none(shop: Index) -> None:
    assert "`src/Shop.Core` has 5 files" in shop.ask("what does the Shop.Core project do?").text
    assert "`src/Shop.Mail` has one file" in shop.ask("what is in the mail project?").text
    assert "has one file" not in shop.ask("what is in the Views folder?").text


def test_a_folder_without_declarations_is_no_module(shop: Index) -> None:
    assert "has one file" in shop.ask("what is in the invoices folder?").text
    assert "has one file" not in shop.ask("explain the invoices module").text


@pytest.mark.parametrize(
    "question",
    [
        "where is the folder of uploads set?",
        "what is the default folder for uploads?",
        "which module calls the Orders module?",
        "how do I add a project to the solution?",
        "what does Order.Cancel return?",
        "why is the Orders folder split in two?",
    ],
)
def test_what_is_asked_of_something_else_is_no_question_for_a_folder(shop: Index, question: str) -> None:
    assert folder_asked(question) is None or "has 3 files" not in shop.ask(question).text
