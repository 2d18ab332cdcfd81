"""Exact phrases, and the files and lines that a question names."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from rag_assets import Index, open_index
from rag_assets.index.layout import IndexHome
from rag_assets.search.line_references import meant
from rag_assets.search.phrases import occurs
from rag_assets.search.search import _is_fragment
from rag_assets_tests.search.small_index import LABEL, SHOP, Section, build

KNOWN = ("src/Orders/Order.cs", "src/Mail/Order.cs", "src/Program.cs", *(f"tools/t{n}/Program.cs" for n in range(5)))


@pytest.mark.parametrize(
    ("phrase", "text", "expected"),
    [
        ("limit exceeded", "The LIMIT  exceeded\nhere", True),
        ("limit exceeded", "limit\nexceeded", True),
        ("limit exceed", "limit exceeded", False),
        ("imit", "limit", False),
        ("limit exceeded", "exceeded limit", False),
        ("=> x", "a => x", True),
        ("a.b", "axb", False),
        ("(x)", "f(x)", True),
    ],
)
def test_a_phrase_is_whole_words_in_a_row(phrase: str, text: str, expected: bool) -> None:
    assert occurs(phrase, text) is expected


@pytest.mark.rule("R17")
def test_a_phrase_is_applied_before_the_top_k(tmp_path: Path) -> None:
    """R17: forty sections fit the words better; the two that have the phrase are both found."""
    crowd = [Section(f"a/C{n}.cs", f"A.C{n}", "Model", "old order order; order old.") for n in range(40)]
    having = [Section(f"b/H{n}.cs", f"B.H{n}", "Model", "One very old order, many other things.") for n in range(2)]
    build(IndexHome(tmp_path), [*crowd, *having])
    with open_index(LABEL, home=tmp_path) as index:
        assert {hit.symbol for hit in index.search('"very old order"', mode="bm25", limit=2)} == {"B.H0", "B.H1"}
        assert {hit.symbol for hit in index.search('"old order" "many other"', mode="bm25")} == {"B.H0", "B.H1"}
        elsewhere = index.search('"very old order" path:a', mode="bm25")
    assert 'no section has "very old order" as it is written' in elsewhere.warnings[0]


MESSAGES = [
    *(
        Section(f"a/Limit{n}.cs", f"A.Limit{n}", "Model", "// the limit is limit limit exceeded limit")
        for n in range(8)
    ),
    Section(
        "b/Cash.cs", "B.Cash", "Model", 'throw new Error("E7: the limit is exceeded", "LIMIT_CODE"); // other words'
    ),
    Section("tests/CashTests.cs", "B.CashTests", "Test", 'Assert("the limit is exceeded")'),
    Section("c/Codes.cs", "C.Codes", "Model", "int limitCode; limit code limit code LIMIT_CODE"),
]


@pytest.mark.parametrize(
    "query", ["the limit is exceeded", "The limit is exceeded.", "LIMIT_CODE", "E7: the limit was 12"]
)
def test_code_of_the_product_that_has_a_message_in_quotes_comes_first(tmp_path: Path, query: str) -> None:
    build(IndexHome(tmp_path), MESSAGES)
    with open_index(LABEL, home=tmp_path) as index:
        assert index.search(query, mode="bm25").hits[0].symbol == "B.Cash"
        assert index.search(f"is {query} told?", mode="bm25").hits[0].symbol != "B.Cash"


WRITTEN = [
    *(Section(f"a/Socket{n}.cs", f"A.Socket{n}", "Model", "socket meta socket meta request save") for n in range(8)),
    Section("tests/MetaTests.cs", "B.MetaTests", "Test", "request.Socket._meta = 1; item.Save(meta, 2);"),
    Section("b/Route.cs", "B.Route", "Model", "if (request.Socket._meta == null) { item.Save(meta, 2); } other words"),
]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("socket._meta", "B.Route"),
        ("item.Save(meta", "B.Route"),
        ("Socket._meta = 1", "B.MetaTests"),
    ],
)
def test_a_piece_of_code_is_found_as_it_is_written(tmp_path: Path, query: str, first: str) -> None:
    build(IndexHome(tmp_path), WRITTEN)
    with open_index(LABEL, home=tmp_path) as index:
        assert index.search(query, mode="bm25").hits[0].symbol == first


@pytest.mark.parametrize("text", ["a.b(" * 25_000, "a b c " * 20_000, "a = " * 30_000])
def test_a_long_text_is_no_piece_of_code(text: str) -> None:
    began = time.perf_counter()
    assert not _is_fragment(text) and time.perf_counter() - began < 1


@pytest.mark.parametrize("typed", ["RefundServise", "refund_servise", "RefudnService"])
def test_a_name_with_a_slip_finds_the_declared_name_and_says_so(tmp_path: Path, typed: str) -> None:
    crowd = [Section(f"a/Service{n}.cs", f"A.Service{n}", "Model", "a service of refunds") for n in range(3)]
    build(IndexHome(tmp_path), [*crowd, Section("b/Pay.cs", "B.RefundService", "Service", "pays back")])
    with open_index(LABEL, home=tmp_path) as index:
        found = index.search(typed, mode="bm25")
        assert found.hits[0].symbol == "B.RefundService"
        assert f"no word is like one in {typed}; refundservice was searched" in found.warnings
        assert not index.search("RefundService", mode="bm25").warnings


def test_a_phrase_of_unknown_words_is_searched_as_words(lexical: Index) -> None:
    result = lexical.search('"order zzzqqq"', mode="bm25")
    assert result.hits
    assert 'no section has "order zzzqqq" as it is written' in " ".join(result.warnings)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("src/Orders/Order.cs", ("src/Orders/Order.cs",)),
        ("/build/agent/7/src/Orders/Order.cs", ("src/Orders/Order.cs",)),
        ("orders/order.cs", ("src/Orders/Order.cs",)),
        ("./Mail/Order.cs", ("src/Mail/Order.cs",)),
        ("Order.cs", ("src/Mail/Order.cs", "src/Orders/Order.cs")),
        ("elsewhere/src/Program.cs", ("src/Program.cs",)),
        ("Program.cs", ()),
        ("Nothing.cs", ()),
        ("", ()),
    ],
    ids=["exact", "of another machine", "case", "relative", "ambiguous", "one of many", "too many", "none", "empty"],
)
def test_which_files_a_written_path_means(written: str, expected: tuple[str, ...]) -> None:
    assert meant(written, KNOWN) == expected


def test_the_named_line_comes_first_and_the_filters_hold(lexical: Index) -> None:
    policy = SHOP[0]
    result = lexical.search(f"orders fail in {policy.path}:5", mode="bm25")
    assert (result[0].path, result[0].scores["place"]) == (policy.path, 1.0)
    assert [hit.score for hit in result] == sorted((hit.score for hit in result), reverse=True)
    elsewhere = lexical.search(f"orders fail in {policy.path}:5 path:src/Orders", mode="bm25")
    assert policy.path not in [hit.path for hit in elsewhere]
    beyond = lexical.search(f"orders fail in {policy.path}:5000", mode="bm25")
    assert all("place" not in hit.scores for hit in beyond)
