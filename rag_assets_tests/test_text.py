"""Identifiers as words: what the embedding model and the keyword index read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.identifiers import (
    _ASCII_BOUNDARY,
    _split_unicode,
    identifier_words,
    plural,
    singular,
    split_identifiers,
)
from rag_assets_tests.effort import ends_within

IDENTIFIER_CHARACTERS = st.text("abcsxyzABCSXYZ0189_", max_size=24)


@pytest.mark.parametrize(
    ("text", "split"),
    [
        pytest.param("GetHTTPResponse2", "Get HTTP Response 2", id="pascal with acronym and digit"),
        pytest.param("getHttpResponse", "get Http Response", id="camel"),
        pytest.param("max_retry_count", "max retry count", id="snake"),
        pytest.param("MAX_RETRY_COUNT", "MAX RETRY COUNT", id="screaming snake"),
        pytest.param("__init__", " init ", id="dunder"),
        pytest.param("_logger", " logger", id="private field"),
        pytest.param("IOrderRepository", "I Order Repository", id="interface"),
        pytest.param("ParseURLs", "Parse URLs", id="plural acronym"),
        pytest.param("IDsByName", "IDs By Name", id="plural acronym inside"),
        pytest.param("ASet", "A Set", id="s is not always a plural"),
        pytest.param("Int32Converter", "Int 32 Converter", id="digits between words"),
        pytest.param("Point3D", "Point 3D", id="digit and one letter"),
        pytest.param("UTF8Encoding", "UTF 8 Encoding", id="acronym and digit"),
        pytest.param("x509", "x 509", id="letter and digits"),
        pytest.param("class Foo : IBar<TKey> { }", "class Foo : I Bar<T Key> { }", id="code keeps the rest"),
        pytest.param("how are orders cancelled?", "how are orders cancelled?", id="prose is untouched"),
        pytest.param("  two\t lines\r\n", "  two\t lines\r\n", id="blanks are untouched"),
        pytest.param("ПолучитьОтветHTTP", "Получить Ответ HTTP", id="cyrillic"),
        pytest.param("größeÄndern café_au_lait", "größe Ändern café au lait", id="accents"),
        pytest.param("注文Total", "注文Total", id="letters without case"),
        pytest.param("\ud800Foo\x00Bar🚀BazQux", "\ud800Foo\x00Bar🚀Baz Qux", id="surrogate, NUL, emoji"),
        pytest.param("", "", id="empty"),
    ],
)
def test_split_identifiers(text: str, split: str) -> None:
    assert split_identifiers(text) == split


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("GetHTTPResponse2", ("Get", "HTTP", "Response", "2")),
        ("Ns.Sub_Part.TypeName`1", ("Ns", "Sub", "Part", "Type", "Name", "1")),
        ("größeÄndern", ("größe", "Ändern")),
        ("___", ()),
        ("", ()),
    ],
)
def test_identifier_words(name: str, words: tuple[str, ...]) -> None:
    assert identifier_words(name) == words


@given(IDENTIFIER_CHARACTERS)
def test_the_unicode_rules_are_the_ascii_rules(word: str) -> None:
    assert _split_unicode(word) == _ASCII_BOUNDARY.sub(" ", word)


@given(st.text())
def test_splitting_only_adds_blanks_and_replaces_underscores(text: str) -> None:
    assert split_identifiers(text).replace(" ", "") == text.replace(" ", "").replace("_", "")


@pytest.mark.parametrize("text", ["a" * 2_000_000, "aB" * 1_000_000, "_" * 2_000_000, "é" + "aB" * 1_000_000])
def test_a_line_of_2_mb_is_linear(text: str) -> None:
    """Bad input: one 2 MB line. Quadratic behaviour would take minutes."""
    with ends_within(60):
        split_identifiers(text)


@pytest.mark.parametrize(
    ("one", "several"),
    [
        ("query", "queries"),
        ("key", "keys"),
        ("status", "statuses"),
        ("class", "classes"),
        ("index", "indexes"),
        ("branch", "branches"),
        ("cache", "caches"),
        ("database", "databases"),
        ("order event", "order events"),
    ],
)
def test_a_noun_has_a_singular_and_a_plural(one: str, several: str) -> None:
    assert (singular(several), singular(one)) == (one, one)
    assert plural(one) == several


@pytest.mark.parametrize("noun", ["analysis", "process", "bus"])
def test_what_ends_as_a_plural_does_may_be_one_thing(noun: str) -> None:
    assert singular(noun) == noun
