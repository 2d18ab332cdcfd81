"""What is asked of a product as one thing: where its code is and how old, what has no comment, which errors nobody
catches, which patterns it has, which systems it talks to, what its endpoints take and give, what tests alone use."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rag_assets import Index
from rag_assets.answer.structure.declaration_questions import in_tests_asked
from rag_assets.answer.structure.exchanges import ExchangeAsked, exchange_asked
from rag_assets.answer.structure.hosts import asks_hosts
from rag_assets.answer.structure.listed_questions import listed_of_whole
from rag_assets.answer.structure.patterns import pattern_asked
from rag_assets.answer.structure.questions import indexed_asked
from rag_assets_tests.cli.conftest import opened_index

FILES = {
    "src/Shop.Api/Shop.Api.csproj": '<Project Sdk="Microsoft.NET.Sdk.Web">\n</Project>\n',
    "src/Shop.Core/Shop.Core.csproj": '<Project Sdk="Microsoft.NET.Sdk">\n</Project>\n',
    "src/Shop.Api/OrdersController.cs": """\
namespace Shop.Api;

[ApiController]
[Route("api/orders")]
public class OrdersController(OrderRepository orders) : ControllerBase
{
    [HttpPost]
    public async Task<IActionResult> Create([FromBody] NewOrder order, CancellationToken cancellationToken)
    {
        if (order.Lines == 0)
            return BadRequest();
        return Ok(Shown(await orders.Add(order)));
    }

    [HttpGet("{id}")]
    public async Task<ActionResult<OrderShown>> Get(int id) => Shown(await orders.Find(id));

    private OrderShown Shown(Order order) => new() { Id = order.Id };
}

public class NewOrder
{
    public int Lines { get; set; }
}

public class OrderShown : Shown
{
    public int Id { get; set; }
}

public class Shown
{
    public string Language { get; set; } = "en";
}

public class ErrorHandler
{
    public int StatusOf(Exception error) => error switch
    {
        TooLateException => 409,
        _ => 500,
    };
}
""",
    "src/Shop.Core/Orders.cs": """\
using System;

namespace Shop.Core;

/// <summary>One order.</summary>
public class Order
{
    public int Id { get; set; }

    /// <summary>Ships it.</summary>
    [Obsolete("Use the queue.")]
    public void Ship()
    {
        if (Id == 1)
            throw new TooLateException();
        if (Id == 2)
            throw new LostException();
        throw new ArgumentOutOfRangeException();
    }

    public void Cancel() => throw NewLostException();

    private static LostException NewLostException() => new();

    internal void Hidden()
    {
    }
}

/// <summary>Too late.</summary>
public class TooLateException : Exception;

/// <summary>Gone.</summary>
public class LostException : Exception;

public class OrderRepository
{
    public static readonly OrderRepository Instance = new();

    private const string Parcels = "https://api.parcels.example-post.com/v1";  // see https://comment.only.com/docs

    public Task<Order> Add(object order) => throw new LostException();

    public Task<Order> Find(int id) => Task.FromResult(new Order());
}

public class StubClock
{
    public int Now() => 1;
}
""",
    "src/Shop.Api/appsettings.json": '{"Mail": {"Url": "https://mail.provider.net/send"}, "Own": "http://localhost:5000"}\n',
    "tests/OrderTests.cs": "public class OrderTests\n{\n    public int Adds() => new StubClock().Now();\n}\n",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("inventory"), FILES, "inventory") as index:
        yield index


@pytest.mark.parametrize(
    ("question", "told", "untold"),
    [
        (
            "Which project has the most code?",
            ["**src/Shop.Core** has **51 lines in 1 file**", "src/Shop.Api"],
            ["tests"],
        ),
        ("what are the largest folders?", ["**src/Shop.Core** has", "With all that is below:", "**src** has"], []),
        ("where is most of the code?", ["**src/Shop.Core** has"], []),
        ("what are the oldest files?", ["**Orders.cs** was last changed on"], ["OrderTests"]),
        ("Which files have not changed for two years?", ["**Orders.cs** was last changed on"], []),
        (
            "which exceptions are never caught?",
            ["throws **LostException (2 places do)**"],
            ["TooLateException**", "ArgumentOutOfRange", "NewLostException"],
        ),
        (
            "Which public methods have no documentation?",
            ["1 of 8 public methods have a comment", "**Order.Cancel**", "**StubClock.Now**"],
            ["Order.Ship", "Order.Hidden", "OrdersController.Shown"],
        ),
        ("how much of the public API is documented?", ["4 of 18 public types and methods have a comment"], []),
        ("list all undocumented classes", ["3 of 10 public types", "**StubClock**"], ["**Order**", "Order.Cancel"]),
        ("Which design patterns are used?", ["Repository, by 1 type", "Singleton, by 1 type"], []),
        ("which classes use the repository pattern?", ["**OrderRepository**"], ["**Order** in"]),
        ("is the singleton pattern used?", ["**OrderRepository.Instance**"], []),
        (
            "Which third-party services does it talk to?",
            ["**2 hosts", "api.parcels.example-post.com", "mail.provider.net"],
            ["localhost:5000**", "names **comment.only.com"],
        ),
        ("which commit is indexed?", ["Indexed is commit"], []),
        (
            "What are the fields of the response of GET /api/orders/{id}?",
            ["Answers with OrderShown", "**OrderShown.Id**", "**Shown.Language**"],
            ["NewOrder.Lines**"],
        ),
        ("what does POST /api/orders return?", ["Answers with OrderShown", "return Ok(Shown("], []),
        ("which body does POST /api/orders expect?", ["Takes NewOrder", "**NewOrder.Lines**"], ["OrderShown.Id**"]),
        ("Is OrderRepository used outside of tests?", ["OrderRepository is used outside of tests"], []),
    ],
)
def test_what_is_asked_of_a_product_as_one_thing_is_told(
    shop: Index, question: str, told: list[str], untold: list[str]
) -> None:
    answer = shop.ask(question)

    assert not answer.abstained and not answer.unsure, answer.reason
    assert [one for one in told if one not in answer.text] == [], answer.text
    assert [one for one in untold if one in answer.text] == []


@pytest.mark.parametrize(
    ("question", "absent"),
    [
        ("is StubClock only used in tests?", "no code of the product but its own uses StubClock"),
        ("Is the visitor pattern used?", "no name of a type tells the pattern Visitor"),
    ],
)
def test_that_there_is_none_is_said(shop: Index, question: str, absent: str) -> None:
    answer = shop.ask(question)
    assert absent in f"{answer.notes} {answer.reason}"


def test_comments_are_found_as_each_language_has_them(tmp_path_factory: pytest.TempPathFactory) -> None:
    files = {
        "a.py": 'def told(\n    one: int,\n) -> int:\n    """Tells."""\n    return one\n\n\ndef untold():\n    pass\n',
        "b.go": "package b\n\n// Told tells.\nfunc Told() {}\n\nfunc Untold() {}\n\nfunc hidden() {}\n",
        "c.rs": "/// Tells.\n#[inline]\npub fn told_too() {}\n\npub fn untold_too() {}\n\nfn hidden_too() {}\n",
    }
    with opened_index(tmp_path_factory.mktemp("comments"), files, "comments") as index:
        text = index.ask("which functions are undocumented?").text

    named = {line.split("**")[1].rpartition(".")[2] for line in text.split("\n") if line.startswith("- **")}
    assert named == {"untold", "Untold", "untold_too"}, text


@pytest.mark.parametrize(
    "question",
    [
        "which orders are never handled?",
        "what is the oldest order?",
        "which projects have the most customers?",
        "which errors are never shown to the user?",
        "which documents have no comments?",
        "how much of the order is paid?",
        "which pattern does the file name have?",
        "which external login providers are there?",
        "what does the order service return?",
        "which orders were indexed?",
        "is the basket used in the order?",
    ],
)
def test_questions_that_only_sound_so_are_none(question: str) -> None:
    assert listed_of_whole(question) is None
    assert pattern_asked(question) is None
    assert not asks_hosts(question)
    assert exchange_asked(question) is None
    assert not indexed_asked(question)
    assert not in_tests_asked(question)


@pytest.mark.parametrize(
    ("question", "route", "is_given"),
    [
        ("what does GET /api/orders return?", "GET /api/orders", True),
        ("which fields does /api/orders/{id} respond with?", "/api/orders/{id}", True),
        ("what is the response body of the endpoint GET /api/orders?", "GET /api/orders", True),
        ("what do I have to send to POST /api/orders?", "POST /api/orders", False),
        ("what are the query parameters of GET /api/orders?", "GET /api/orders", False),
        ("which parameters does the /api/orders endpoint accept?", "/api/orders", False),
    ],
)
def test_what_an_endpoint_takes_and_gives_is_asked_in_many_words(question: str, route: str, is_given: bool) -> None:
    assert exchange_asked(question) == ExchangeAsked(route, is_given)
