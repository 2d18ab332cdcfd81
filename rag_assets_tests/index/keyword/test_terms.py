"""Keyword terms: what a text, a name and a question are split into."""

from __future__ import annotations

import pytest

from rag_assets.index.keyword.terms import FUNCTION_WORD_WEIGHT, name_terms, query_terms, runs, stem, word_terms


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("  \n\t ", []),
        ("services.AddScoped<IOrders>();", ["services", "AddScoped", "IOrders"]),
        ("snake_case, kebab-case", ["snake_case", "kebab", "case"]),
        ("naïve Größe 注文", ["naïve", "Größe", "注文"]),
        ("cafe\u0301", ["caf\u00e9"]),  # decomposed and composed accents are one spelling
        ("a\ud800b \0 c", ["a", "b", "c"]),  # lone surrogates and NUL separate
    ],
    ids=["empty", "blank", "code", "cases", "unicode", "combining accent", "surrogate and nul"],
)
def test_runs(text: str, expected: list[str]) -> None:
    assert runs(text) == expected


@pytest.mark.parametrize(
    ("run", "words", "name"),
    [
        ("order", ("order",), ("order",)),
        ("GetOrders", ("get", "order"), ("get", "order", "getorders")),
        ("GetHTTPResponse2", ("get", "http", "response", "2"), ("get", "http", "response", "2", "gethttpresponse2")),
        ("max_retry_count", ("max", "retry", "count"), ("max", "retry", "count", "maxretrycount")),
        ("_", (), ()),
        ("x" * 97, (), ()),
    ],
    ids=["one word", "pascal case", "acronym and digit", "snake case", "only underscore", "too long to be a name"],
)
def test_mentions_are_words_and_names_are_also_wholes(run: str, words: tuple[str, ...], name: tuple[str, ...]) -> None:
    assert word_terms(run) == words
    assert name_terms(run) == name


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("orders", "order"),
        ("queries", "query"),
        ("cookies", "cookie"),
        ("classes", "class"),
        ("boxes", "box"),
        ("matches", "match"),
        ("class", "class"),
        ("status", "status"),
        ("analysis", "analysis"),
        ("ids", "ids"),
        ("caching", "caching"),
        ("", ""),
    ],
)
def test_stem_takes_only_the_plural(word: str, expected: str) -> None:
    assert stem(word) == expected


def test_a_question_has_each_term_once_and_function_words_weigh_little() -> None:
    found = query_terms("How is the OrderService order cached?")
    assert found == {
        "how": FUNCTION_WORD_WEIGHT,
        "is": FUNCTION_WORD_WEIGHT,
        "the": FUNCTION_WORD_WEIGHT,
        "order": 1.0,
        "service": 1.0,
        "orderservice": 1.0,
        "cached": 1.0,
    }


def test_a_question_of_function_words_still_asks() -> None:
    assert set(query_terms("is not").values()) == {FUNCTION_WORD_WEIGHT}
