"""What speaks for or against a file by its path."""

from __future__ import annotations

import pytest

from rag_assets.query.ranking.file_names import is_named
from rag_assets.query.ranking.side_code import DEMOTION, Side, asked_for, demotion, is_test_path, side_of


@pytest.mark.parametrize(
    ("path", "side"),
    [
        ("src/Orders/OrderService.cs", None),
        ("tests/Shop/OrderFactory.cs", Side.TEST),
        ("test/Shop.UnitTests/OrderFactory.cs", Side.TEST),
        ("src/ShopTests/OrderFactory.cs", Side.TEST),
        ("src/Orders/OrderServiceTests.cs", Side.TEST),
        ("src/Orders/OrderServiceTest.java", Side.TEST),
        ("pkg/orders/order_test.go", Side.TEST),
        ("web/order.spec.ts", Side.TEST),
        ("web/__tests__/order.ts", Side.TEST),
        ("shop/test_orders.py", Side.TEST),
        ("shop/conftest.py", Side.TEST),
        ("src/Contests/Contest.cs", None),
        ("src/Latest/TestRun.cs", None),
        ("src/Inspections/Test.cs", None),
        ("samples/Console/Program.cs", Side.SAMPLE),
        ("docs/examples/shop.cs", Side.SAMPLE),
        ("src/Shop.Benchmarks/Parsing.cs", Side.BENCHMARK),
        ("test/Shop.Benchmarks/Parsing.cs", Side.BENCHMARK),
        ("Program.cs", None),
        ("", None),
    ],
)
def test_a_path_says_what_a_file_is(path: str, side: Side | None) -> None:
    assert side_of(path) is side
    assert is_test_path(path) is (side is Side.TEST)


@pytest.mark.parametrize(
    ("text", "sides"),
    [
        ("tests of the basket", {Side.TEST}),
        ("which tests cover partial refunds of a parcel", {Side.TEST}),
        ("refund policy unit tests", {Side.TEST}),
        ("OrderServiceTests", {Side.TEST}),
        ("round totals up and add tests for it", set()),
        ("samples and benchmarks", {Side.SAMPLE, Side.BENCHMARK}),
        ("how is the latest contest decided", set()),
        ("", set()),
    ],
)
def test_a_question_says_what_it_is_for_at_its_beginning(text: str, sides: set[Side]) -> None:
    assert asked_for(text) == sides


@pytest.mark.parametrize(
    ("path", "asked", "factor"),
    [
        ("tests/OrderTests.cs", set(), DEMOTION),
        ("tests/OrderTests.cs", {Side.TEST}, 1.0),
        ("tests/OrderTests.cs", {Side.SAMPLE}, DEMOTION),
        ("samples/Shop.cs", {Side.SAMPLE}, 1.0),
        ("src/Order.cs", {Side.TEST}, 1.0),
    ],
    ids=["not asked for", "asked for", "asked for something else", "a sample", "the product"],
)
def test_code_beside_the_product_counts_less_unless_it_is_asked_for(path: str, asked: set[Side], factor: float) -> None:
    assert demotion(path, asked) == factor


@pytest.mark.parametrize(
    ("path", "asked", "named"),
    [
        ("src/JsonReader.cs", {"how", "json", "reader", "read"}, True),
        ("src/JsonReaders.cs", {"json", "reader"}, True),
        ("src/JsonTextReader.cs", {"json", "reader"}, False),
        ("src/Mapper.Async.cs", {"async", "mapper"}, True),
        ("README.md", {"readme"}, True),
        ("Makefile", {"makefile"}, False),
        ("src/_.cs", {"json"}, False),
        ("", {"json"}, False),
    ],
    ids=["all words", "a plural", "a word more", "two parts", "no code", "no ending", "no words", "no path"],
)
def test_a_file_is_named_by_all_words_of_its_name(path: str, asked: set[str], named: bool) -> None:
    assert is_named(path, asked) is named
