"""Comments and docstrings as plain text."""

from __future__ import annotations

import pytest

from rag_assets.languages.doc_comments import MAX_DOC_CHARS, plain_comments, plain_docstring


@pytest.mark.parametrize(
    ("raws", "plain"),
    [
        (["// one", "// two"], "one\ntwo"),
        (["# one", "#", "# two"], "one\n\ntwo"),
        (["-- =====", "-- Author: x", "-- ====="], "Author: x"),
        (["/* a\n * b\n */"], "a\nb"),
        (["/**\n * Adds.\n *\n * @param {int} [a=1] - The A\n * @returns {int} sum\n */"],
         "Adds.\n\nparam a: The A\nreturns: sum"),
        (["/** See {@link Foo} and <code>x</code>.\n * @throws IOException when\n */"],
         "See Foo and x.\nthrows: IOException when"),
        (["/** List<String> stays */"], "List<String> stays"),
        (["#!/usr/bin/env python", "# real"], "real"),
        (["//go:build linux", "// eslint-disable-next-line", "# noqa: E501", "# type: ignore"], ""),
        (["/* eslint-disable */"], ""),
        (["/*unclosed"], "unclosed"),
        ([], ""),
    ],
    ids=[
        *("lines", "paragraphs", "ascii-art", "block", "jsdoc", "javadoc", "generics", "shebang", "pragmas"),
        *("block-pragma", "unclosed", "none"),
    ],
)  # fmt: skip
def test_comments(raws: list[str], plain: str) -> None:
    assert plain_comments(raws) == plain


@pytest.mark.parametrize(
    ("literal", "plain"),
    [
        ('"""One.\n\n    Two.\n      deeper\n    """', "One.\n\nTwo.\n  deeper"),
        ("'x'", "x"),
        ('r"raw"', "raw"),
        ('"""unclosed', "unclosed"),
        ("not a string", ""),
    ],
    ids=["dedented", "single", "prefix", "unclosed", "no-string"],
)
def test_docstrings(literal: str, plain: str) -> None:
    assert plain_docstring(literal) == plain


def test_documentation_is_bounded() -> None:
    assert len(plain_comments(["/*" + "word " * 100_000 + "*/"])) <= MAX_DOC_CHARS
    assert len(plain_docstring('"""' + "word " * 100_000 + '"""')) <= MAX_DOC_CHARS
