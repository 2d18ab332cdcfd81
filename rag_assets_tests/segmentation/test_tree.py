"""What languages with a grammar share: offsets, parsers per thread, bounds of a parse."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.languages.treesitter.parsing import (
    SourceText,
    UnparseableError,
    error_lines,
    error_share,
    parse,
    parser,
)


@given(st.text())
def test_byte_offsets_map_back_to_characters(text: str) -> None:
    source = SourceText(text)
    position = 0
    for index, character in enumerate(text):
        assert source.char(position) == index
        position += len(character.encode("utf-8", "replace"))
    assert source.char(position) == len(text)


def test_a_lone_surrogate_counts_as_one_byte_and_one_character() -> None:
    source = SourceText("é\ud800x")
    assert source.utf8 == b"\xc3\xa9?x"
    assert source.slice(3, 4) == "x"


@pytest.mark.parametrize("text", ["x = 'é𝄞' # ü\r\ny = 2\r\n", "plain = 1\n"], ids=["non-ascii", "ascii"])
def test_the_text_of_a_node_is_the_slice_of_its_span(text: str) -> None:
    source = SourceText(text)
    for node in parse("python", source).root_node.named_children:
        span = source.span(node.start_byte, node.end_byte)
        assert source.text_of(node) == span.slice(text) == (node.text or b"").decode()


def test_a_text_longer_than_a_chunk_is_read_right() -> None:
    line = "name_é名 = 'ü' # ß\n"
    source = SourceText(line * 12_000)
    names = [node.named_children[0].named_children[0] for node in parse("python", source).root_node.named_children[::2]]
    assert len(names) == 12_000
    assert {source.text_of(name) for name in names} == {"name_é名"}


def test_each_thread_has_its_own_parser() -> None:
    found = []
    thread = threading.Thread(target=lambda: found.append(parser("python")))
    thread.start()
    thread.join()
    assert parser("python") is parser("python")
    assert found[0] is not parser("python")


def test_a_language_without_grammar_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        parse("cobol", SourceText("x"))


@pytest.mark.parametrize(
    ("language", "text", "reason"),
    [
        ("javascript", "lambda x: " * 2_000, "gave up"),  # needs quadratic time
        ("java", "a=>" * 10_000, "not Java"),  # needs quadratic memory: gigabytes
        ("typescript", "a<b," * 50_000, "unclosed `<`"),
        ("csharp", "A<" * 50_000, "unclosed `<`"),
    ],
    ids=["javascript-time", "java-memory", "typescript-memory", "csharp-memory"],
)
def test_a_text_that_would_exhaust_the_machine_is_refused(language: str, text: str, reason: str) -> None:
    with pytest.raises(UnparseableError, match=reason):
        parse(language, SourceText(text))


def test_a_refused_text_leaves_the_parser_usable() -> None:
    with pytest.raises(UnparseableError):
        parse("javascript", SourceText("lambda x: " * 2_000))
    assert not parse("javascript", SourceText("let x = 1")).root_node.has_error


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("java", 'class A { String s = "' + "=>" * 500 + '"; }'),
        ("java", "/*" + "=>" * 500 + "*/ class A {}"),
        ("typescript", "const page = <any>'" + "<" * 900 + "';"),
        ("typescript", "for (let i = 0; i < 9; i++) f(i);\n" * 900),
        ("tsx", "const t = <div>" + "<b>x</b>" * 900 + "</div>;"),
    ],
    ids=["string", "comment", "string-of-angles", "comparisons", "jsx"],
)
def test_what_only_looks_like_a_runaway_is_parsed(language: str, text: str) -> None:
    assert not parse(language, SourceText(text)).root_node.has_error


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [("x = 1\n", 0.0, 0.0), ("x = 1\ny = (((\n", 0.01, 1.0), ("", 0.0, 0.0)],
    ids=["clean", "broken", "empty"],
)
def test_error_share(text: str, low: float, high: float) -> None:
    assert low <= error_share(parse("python", SourceText(text)).root_node) <= high


def test_error_lines_are_distinct_and_bounded() -> None:
    source = SourceText("".join(f"def f{i}(:\n    pass\n" for i in range(20)))
    lines = error_lines(parse("python", source).root_node, source, limit=3)
    assert len(lines) == len(set(lines)) == 3
    assert error_lines(parse("python", SourceText("x = 1")).root_node, source) == []
