"""reStructuredText: titles by adornment."""

from __future__ import annotations

import pytest

from rag_assets.segmentation import segment_file
from rag_assets_tests.segmentation.outline import check_covers_text, check_invariants, texts


def headings(text: str) -> list[tuple[str, str]]:
    (segment,) = segment_file(text, "docs/guide.rst", "rst").segments
    return [(member.type, member.signature) for member in segment.members if member.kind == "section"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Title\n=====\ntext\n", [("h1", "Title")]),
        ("=====\nTitle\n=====\n", [("h1", "Title")]),
        ("=======\n Title\n=======\n", [("h1", "Title")]),
        ("A\n=\n\nB\n-\n\nC\n=\n", [("h1", "A"), ("h2", "A > B"), ("h1", "C")]),
        ("=\nA\n=\n\nB\n=\n", [("h1", "A"), ("h2", "A > B")]),
        ("A longer title\n----\n", [("h1", "A longer title")]),
        ("Title\n==\n", []),
        ("text\n\n----\n\ntext\n", []),
        ("text\nTitle\n=====\n", []),
        ("::\n\n  Title\n  =====\n", []),
        ("Title :ref:`the link <target>`\n==============================\n", [("h1", "Title the link")]),
        ("==== ====\na    b\n==== ====\n", []),
        ("日本\n====\n", [("h1", "日本")]),
    ],
    ids=[
        *("underline", "overline", "indented", "levels", "overline-is-another-level", "short-underline"),
        *("too-short", "transition", "inside-paragraph", "literal", "role", "table", "wide"),
    ],
)
def test_what_is_a_title(text: str, expected: list[tuple[str, str]]) -> None:
    assert headings(text) == expected


def test_sections_tile_the_document() -> None:
    """A08"""
    text = ".. comment\r\n\r\nTitle\r\n=====\r\n\r\né\r\n\r\nPart\r\n----\r\nlast"
    file = segment_file(text, "a.rst", "rst")
    check_invariants(text, file)
    check_covers_text(text, file)
    assert "".join(texts(text, file.segments[0])) == text
    assert [member.type for member in file.segments[0].members] == ["preamble", "h1", "h2"]
