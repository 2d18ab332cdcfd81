"""Markdown: sections by heading, as CommonMark sees headings."""

from __future__ import annotations

import pytest

from rag_assets.languages.documents.text import plain_title
from rag_assets.segmentation import segment_file
from rag_assets_tests.segmentation.outline import check_covers_text, check_invariants, texts


def headings(text: str) -> list[tuple[str, str]]:
    """(level, title) of each section."""
    (segment,) = segment_file(text, "docs/guide.md", "markdown").segments
    return [(member.type, member.name) for member in segment.members]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# A\n## B\n", [("h1", "A"), ("h2", "B")]),
        ("###### six\n####### seven\n", [("h6", "six")]),
        ("# closed ##\n", [("h1", "closed")]),
        ("#no space\n", []),
        ("   # three blanks\n", [("h1", "three blanks")]),
        ("    # four blanks are code\n", []),
        ("\\# escaped\n", []),
        ("A\n===\nB\n---\n", [("h1", "A"), ("h2", "B")]),
        ("two\nlines\n---\n", [("h2", "two lines")]),
        ("\n---\n", []),
        ("- item\n---\n", []),
        ("> quote\n---\n", []),
        ("text\n***\n", []),
        ("```sh\n# comment\n```\n# A\n", [("preamble", "A"), ("h1", "A")]),
        ("~~~\n```\n# no\n~~~\n# A\n", [("preamble", "A"), ("h1", "A")]),
        ("````\n```\n# no\n````\n# A\n", [("preamble", "A"), ("h1", "A")]),
        ("```\n# an unclosed fence runs to the end\n", []),
        ("``` `inline` ```\n# A\n", [("preamble", "A"), ("h1", "A")]),
        ("<!-- # no\n\n# no\n-->\n# A\n", [("preamble", "A"), ("h1", "A")]),
        ("<!-- one line -->\n# A\n", [("preamble", "A"), ("h1", "A")]),
        ("<pre>\n\n# no\n</pre>\n# A\n", [("preamble", "A"), ("h1", "A")]),
        ("<div>\n# no\n\n# A\n", [("preamble", "A"), ("h1", "A")]),
        ("- item\n\n  # of the item\n\n# A\n", [("preamble", "A"), ("h1", "A")]),
        ("1. step\n   ```\n   # no\n   ```\n# A\n", [("preamble", "A"), ("h1", "A")]),
        ("# \n", [("h1", "guide")]),
        ("- item\n  # of the item\n# A\n", [("preamble", "A"), ("h1", "A")]),
        ("[x]: http://y\n===\n", []),
        ("| a | b |\n|---|---|\n| c | d |\n---\n", []),
    ],
    ids=lambda value: repr(value)[:40] if isinstance(value, str) else "",
)
def test_what_is_a_heading(text: str, expected: list[tuple[str, str]]) -> None:
    assert [found for found in headings(text) if found[0] != ""] == expected


@pytest.mark.rule("A08", "E02")
def test_sections_tile_the_document_and_carry_their_heading_path() -> None:
    """A08, E02"""
    text = "intro é\r\n\r\n# Guide\r\ntext\r\n## Install\r\n```\r\n# no\r\n```\r\n### Linux\r\n## Use 𝄞\r\nlast"
    file = segment_file(text, "docs/guide.md", "markdown")
    check_invariants(text, file)
    check_covers_text(text, file)
    (segment,) = file.segments
    assert "".join(texts(text, segment)) == text
    assert [member.signature for member in segment.members] == [
        "Guide",
        "Guide",
        "Guide > Install",
        "Guide > Install > Linux",
        "Guide > Use 𝄞",
    ]
    assert (segment.name, segment.symbol, segment.kind) == ("Guide", "docs/guide.md", "document")


def test_blank_lines_above_the_first_heading_belong_to_it() -> None:
    (segment,) = segment_file("\n\n# A\ntext", "a.md", "markdown").segments
    assert texts("\n\n# A\ntext", segment) == ["\n\n# A\ntext"]


def test_a_document_without_headings_has_windows() -> None:
    (segment,) = segment_file("just text\n", "docs/note.md", "markdown").segments
    assert [(member.kind, member.signature) for member in segment.members] == [("window", "just text")]
    assert segment.name == "note"


@pytest.mark.parametrize(
    ("text", "name", "doc"),
    [
        ("---\ntitle: The Title\ndescription: 'What it is'\n---\n# A\n", "The Title", "What it is"),
        ('+++\ntitle = "The Title"\n+++\n# A\n', "The Title", ""),
        ("---\nlayout: x\n---\n# A\n", "A", ""),
        ("---\ntitle: |\n  block\n---\n# A\n", "A", ""),
        ("---\nnever closed\n# A\n", "A", ""),
        ("## low\n# top\n", "top", ""),
    ],
    ids=["yaml", "toml", "no-title", "block-scalar", "unclosed", "highest-level"],
)
def test_the_title_is_that_of_front_matter_then_of_the_highest_heading(text: str, name: str, doc: str) -> None:
    (segment,) = segment_file(text, "a.md", "markdown").segments
    assert (segment.name, segment.doc, segment.heading_path) == (name, doc, (name,))


def test_front_matter_is_no_heading() -> None:
    assert headings("---\na: b\n---\ntext\n") == [("", "lines 1-4")]


@pytest.mark.parametrize(
    ("raw", "title"),
    [
        ("**Bold** and _it_ `code`", "Bold and it code"),
        ("snake_case_name", "snake_case_name"),
        ("[link](http://x/y_z)", "link"),
        ("[![badge](a.svg)](b) Title", "badge Title"),
        ("Title {#anchor}", "Title"),
        ("a <br> b <!-- c -->", "a b"),
        ("IList<T> \\* \\_a\\_", "IList<T> * _a_"),
        ("`__init__` and __bold__ MY__NAME", "init and bold MY__NAME"),
        ("[" * 200_000, "[" * 300),
    ],
    ids=["emphasis", "snake", "link", "badge", "attributes", "html", "escape", "dunder", "hostile"],
)
def test_titles_are_plain(raw: str, title: str) -> None:
    assert plain_title(raw) == title
