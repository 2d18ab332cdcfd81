"""What a subject consists of, of which is asked how it works, on a real index."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_assets import Index
from rag_assets.answer.question_kinds import feature_asked
from rag_assets.qa.ask_options import AskOptions
from rag_assets_tests.cli.conftest import opened_index

FILES = {
    "src/Web/CheckoutController.cs": """\
namespace Shop.Web;

[ApiController]
[Route("checkout")]
public class CheckoutController(CheckoutService service) : ControllerBase
{
    [HttpPost]
    public int Start() => service.Begin();
}
""",
    "src/Sales/CheckoutService.cs": """\
namespace Shop.Sales;

public class CheckoutService
{
    public int Begin() { Lock(); return Price(); }

    public int Price() => Rounded(7);

    private void Lock() => Rounded(1);

    private int Rounded(int value) => value;
}
""",
    "src/Sales/CheckoutDto.cs": "namespace Shop.Sales;\n\npublic class CheckoutDto { public int Total() => 1; }\n",
    "src/Ledger/Posting.cs": """\
namespace Shop.Ledger;

public class Posting
{
    public int Post() => Check() + Sum();

    public int Check() => Sum();

    public int Sum() => Kept();

    private int Kept() => 1;
}
""",
    "db/tables.sql": "CREATE TABLE dbo.Checkouts (Id int PRIMARY KEY);\n",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("feature"), FILES, "shop") as index:
        yield index


def places(answer: str) -> list[str]:
    return re.findall(r"^- \S.*? in (\S+:\d+): ", answer, re.MULTILINE)


@pytest.mark.parametrize(
    "question",
    [
        "how does checkout work?",
        "How does the checkout flow work here?",
        "explain the checkout",
        "walk me through checkout",
    ],
)
def test_a_feature_is_its_endpoints_what_its_types_do_and_its_tables(shop: Index, question: str) -> None:
    answer = shop.ask(question, options=AskOptions()).text
    assert answer.startswith("**What is called checkout:**\n\n**Endpoints:**\n- **POST /checkout** in src/Web")
    assert places(answer)[:5] == [
        "src/Web/CheckoutController.cs:8",
        "src/Sales/CheckoutService.cs:5",
        "src/Sales/CheckoutService.cs:7",
        "src/Sales/CheckoutService.cs:9",
        "db/tables.sql:1",
    ]
    assert "CheckoutDto.Total" not in answer.partition("**Tables:**")[0]


def test_what_no_type_is_called_is_looked_for_among_folders(shop: Index) -> None:
    answer = shop.ask("how does the ledger work?", options=AskOptions()).text
    assert answer.startswith("**What is called ledger, of folders:**\n\n**Posting:**\n")
    assert places(answer)[:3] == [f"src/Ledger/Posting.cs:{line}" for line in (5, 7, 9)]


@pytest.mark.parametrize("question", ["how does the auction work?", "how does CheckoutService work?"])
def test_what_nothing_is_called_and_what_is_one_name_is_no_feature(shop: Index, question: str) -> None:
    assert "**What is called" not in shop.ask(question, options=AskOptions()).text


def test_what_most_of_a_repository_is_called_is_no_feature(tmp_path: Path) -> None:
    body = "{ public int Run() => Stop(); public int Stop() => Run(); }"
    types = {f"src/Core/Part{number}.cs": f"public class Part{number} {body}\n" for number in range(30)}
    with opened_index(tmp_path, types, "parts") as index:
        for question in ("how does the core work?", "how do parts work?"):
            assert "**What is called" not in index.ask(question, options=AskOptions()).text


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("how is the order history implemented?", "order history"),
        ("tell me about the import process", "import"),
        ("how does the checkout decide which carrier to use?", ""),
        ("how does it handle errors that work?", ""),
    ],
)
def test_only_a_question_of_a_subject_alone_is_one_of_a_feature(question: str, said: str) -> None:
    assert feature_asked(question) == said
