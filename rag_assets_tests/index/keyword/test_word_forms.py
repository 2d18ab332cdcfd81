"""Other forms of the words of a question, among the terms of an index."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rag_assets.index.keyword.terms import stem_of, word_forms


def index_of(*terms: str) -> Callable[[str], list[str]]:
    return lambda beginning: [term for term in sorted(terms) if term.startswith(beginning)]


@pytest.mark.parametrize(
    ("word", "term"),
    [
        ("provide", "provider"),
        ("provider", "provide"),
        ("provides", "provid"),
        ("indexing", "index"),
        ("index", "indexers"),
        ("authorization", "authorize"),
        ("normalise", "normalizer"),
        ("serializer", "serialization"),
        ("build", "builders"),
        ("retry", "retries"),
        ("planned", "planner"),
    ],
)
def test_words_that_differ_in_their_endings_are_forms_of_each_other(word: str, term: str) -> None:
    assert word_forms([word], index_of(term, "other")) == {term: word}


@pytest.mark.parametrize(
    ("word", "term"),
    [
        ("order", "ordinal"),
        ("provide", "providerfactory"),
        ("conference", "config"),
        ("use", "user"),
        ("log", "logger"),
        ("utf8", "utf8s"),
        ("größe", "größen"),
    ],
    ids=["another word", "a whole name", "a few letters", "too short", "a stem too short", "digits", "not of English"],
)
def test_other_words_are_none(word: str, term: str) -> None:
    assert word_forms([word], index_of(term)) == {}


def test_a_word_that_is_asked_for_is_no_form_of_another() -> None:
    assert word_forms(["provide", "provider"], index_of("provide", "provider", "providing")) == {"providing": "provide"}


def test_a_form_of_two_words_is_that_of_the_first() -> None:
    assert word_forms(["serializer", "serialize"], index_of("serialization")) == {"serialization": "serializer"}


@pytest.mark.parametrize(
    ("word", "stem"),
    [("serializer", "serial"), ("uses", "uses"), ("builders", "build"), ("king", "king"), ("", "")],
)
def test_a_stem_keeps_four_letters_and_loses_one_ending(word: str, stem: str) -> None:
    assert stem_of(word) == stem
