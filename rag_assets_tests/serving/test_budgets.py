"""No answer costs more tokens than its caller wants to pay, counted as a model counts them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import suppress

import pytest

from rag_assets.answer.abstention import SEE_ALSO
from rag_assets.errors import RagAssetsError
from rag_assets.serving.access import Caller
from rag_assets.serving.budget import clipped, cost_of, joined_within
from rag_assets.serving.index_pool import IndexPool
from rag_assets.serving.operations import OperationReply, Operations
from rag_assets.serving.operations.ask import as_tools
from rag_assets.serving.requests import (
    AskRequest,
    GraphQuery,
    GraphRequest,
    ReadRequest,
    SearchRequest,
    SymbolRequest,
)
from rag_assets_tests.cli.conftest import index_without_dagster, new_repository
from rag_assets_tests.serving.agents import tokens
from rag_assets_tests.serving.conftest import SHOP, make_home

CALLS = 120
"""`benchmarks/serving.py` makes 2,000 on a repository of one's own."""
_WORDS = [
    "refund",
    "order",
    "Invoices",
    "OrderService.RefundOrder",
    "订单 退款",
    "été",
    "src/Orders/Invoices.cs:4",
    "{}[]",
]


@pytest.fixture(scope="module")
def operations(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Operations]:
    home = make_home(tmp_path_factory.mktemp("budgets"))
    long = "".join(f"    public void 退款{at}_{'Very' * 8}Long(int id, string naïve) {{ }}\n" for at in range(300))
    wide = {
        "src/Wide.cs": f"namespace Shop;\n\npublic class Wide\n{{\n{long}}}\n",
        "src/Crowded.cs": "namespace Shop;\n\npublic class Crowded\n{\n"
        + "".join(f"    private int _field{at};\n" for at in range(40))
        + "    public void Work() { }\n}\n",
        "docs/long.md": "# 退款\n\n" + "退款订单 " * 20_000,
    }
    many = new_repository(home.cli.folder / "many", SHOP | wide)
    index_without_dagster(home.cli.home, many, "many")
    with Operations(IndexPool(home.cli.home, None)) as made:
        yield made


def test_random_calls_stay_within_their_budget(operations: Operations) -> None:
    chance, caller = random.Random(7), Caller()
    answered = 0
    for number in range(CALLS):
        reply, most = random_call(operations, caller, chance, _WORDS, "many@main")
        if reply is not None:
            answered += 1
            cost = tokens(reply.text(most))
            assert cost <= most, f"{number}: {cost} of {most} tokens"
    assert answered > CALLS / 3


def random_call(
    operations: Operations, caller: Caller, chance: random.Random, words: list[str], label: str
) -> tuple[OperationReply | None, int]:
    """A reply of any operation to a few of the words, and its budget; None where it is refused."""
    most = chance.choice([200, 220, 300, 500, 1000, 1500, 4000, 8000])
    said = " ".join(chance.sample(words, chance.randint(1, 2)))
    one = chance.choice(words)
    detail = chance.choice(["source", "snippet", "outline", "places"])
    asked = {"label": label, "max_tokens": most}
    with suppress(RagAssetsError):
        match chance.choice(["search", "read", "symbol", "graph", "ask"]):
            case "search":
                limit = chance.randint(1, 20)
                search = SearchRequest.model_validate(asked | {"query": said, "limit": limit, "detail": detail})
                return operations.search(search, caller), most
            case "read":
                read = ReadRequest.model_validate(asked | {"place": one, "context": chance.choice([0, 50])})
                return operations.read(read, caller), most
            case "symbol":
                return operations.symbol(SymbolRequest.model_validate(asked | {"name": one}), caller), most
            case "graph":
                relation = chance.choice([known for known in GraphQuery if known is not GraphQuery.PATH])
                walk = {"start": one, "relation": relation, "depth": chance.randint(1, 6), "limit": 200}
                return operations.graph(GraphRequest.model_validate(asked | walk), caller), most
            case "ask":
                return operations.ask(AskRequest.model_validate(asked | {"question": said}), caller), most
    return None, most


@pytest.mark.parametrize("text", ["word " * 5000, "退款订单" * 3000, "{}();" * 4000, "é" * 9000, "x" * 50_000])
def test_a_text_that_is_too_long_is_cut_and_says_so(text: str) -> None:
    made = clipped(text, 300)
    assert tokens(made) <= 300 and made.endswith("larger max_tokens") and cost_of(made) > 150


def test_what_is_left_out_is_counted() -> None:
    made = joined_within(["head"], [f"row {at} of many" for at in range(500)], ["foot"], 200, "… {} more rows")
    shown = made.count("row ")
    assert f"… {500 - shown} more rows" in made and made.startswith("head\n") and made.endswith("\nfoot")
    assert 0 < shown < 500 and tokens(made) <= 200


def test_of_an_answer_that_is_too_long_the_first_lines_are_told(operations: Operations) -> None:
    """Not its headings alone; fenced code that is cut is closed."""
    asked = AskRequest(question="What does OrderService do?", label="shop@main", max_tokens=200)
    reply = operations.ask(asked, Caller())
    whole, cut = reply.text(8_000), reply.text(200)
    body = cut.partition("\n… ")[0]
    assert "more line" in cut and 100 < tokens(cut) <= 200 and body.count("```") == 2
    assert whole.startswith(body.removesuffix("```").rstrip())
    assert reply.text(cost_of(whole)) == whole, "what fits is told whole"


def test_what_only_fits_beside_an_answer_is_told_without_its_code(operations: Operations) -> None:
    reply = operations.ask(AskRequest(question="how are orders and invoices paid back?", label="shop@main"), Caller())
    said, _, beside = reply.answer.text.partition(SEE_ALSO)
    assert "```" in said and ("```" in beside or "\n> " in beside), "else it shows nothing"
    told, _, beside = reply.text(8_000).partition(SEE_ALSO)
    assert "```" in told and "```" not in beside and "\n> " not in beside and "src/" in beside


@pytest.mark.parametrize(
    ("command", "tool"),
    [
        (
            """rag-assets search '"has perm"' --label a@b""",
            r"""search {"query": "\"has perm\"", "limit": 20, "label": "a@b"}""",
        ),
        ("rag-assets graph impact 'A.B' --depth 1 --nodes 9", 'graph {"start": "A.B", "relation": "impact"}'),
        ("rag-assets graph A and rag-assets graph B", 'graph {"start": "A"} and graph {"start": "B"}'),
        ("rag-assets status --skipped", "status"),
        ("rag-assets graph callers A.B --label a", 'graph {"start": "A.B", "relation": "callers", "label": "a"}'),
        ("rag-assets index --force", "rag-assets index --force"),
        ("rag-assets graph list endpoint --about orders", "rag-assets graph list endpoint --about orders"),
        ('rag-assets search "cut', 'rag-assets search "cut'),
    ],
)
def test_notes_tell_the_tools_of_the_protocol_and_no_commands(command: str, tool: str) -> None:
    assert as_tools(f"9 more; list them with: {command}") == f"9 more; list them with: {tool}"


def test_of_several_questions_each_has_its_share_of_the_answer(operations: Operations) -> None:
    both = "What does OrderService do? And what does the class Invoices do?"
    reply = operations.ask(AskRequest(question=both, label="shop@main", max_tokens=260), Caller())
    cut = reply.text(260)
    assert tokens(cut) <= 260 and cut.count("more line") and cut.count("```") % 2 == 0
    first, second = (part.partition("…")[0] for part in cut.split("?**")[1:])
    assert "OrderService.cs" in first and "Invoices" in second


def test_places_are_told_as_many_as_fit_and_methods_before_private_fields(operations: Operations) -> None:
    asked = SearchRequest(query="orders invoices refund", label="shop@main", max_tokens=200)
    told = operations.search(asked, Caller()).text(200)
    assert tokens(told) <= 200 and told.count(".cs:") >= 2, told
    reply = operations.symbol(SymbolRequest(name="Crowded", label="many@main"), Caller())
    assert "_field1" in reply.text(4_000) and "private fields" not in reply.text(4_000)
    cut = reply.text(300)
    assert "void Work()" in cut and "_field1" not in cut and "without 40 private fields" in cut


def test_lines_that_are_too_long_end_with_where_to_read_on(operations: Operations) -> None:
    request = ReadRequest(place="src/Wide.cs", label="many@main", max_tokens=320)
    told = operations.read(request, Caller()).text(320)
    assert tokens(told) <= 320 and "read on at src/Wide.cs:" in told.splitlines()[-1]
