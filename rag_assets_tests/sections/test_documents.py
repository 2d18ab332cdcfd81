"""Sections of texts (A08, E01, E02, R4, R18, R32): heading paths, merging, sizes, overlap."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.contracts.embedder import EmbeddingWindow
from rag_assets.contracts.section import SummarySection
from rag_assets.contracts.segment import LineIndex, MemberKind
from rag_assets.languages.documents.text import PATH_SEPARATOR as SEGMENTED_SEPARATOR
from rag_assets.sections.chunks import CHUNK_TOKENS, LEAST_TOKENS, OVERLAP_TOKENS
from rag_assets.sections.documents import (
    PATH_SEPARATOR,
    TextOutline,
    TextSection,
    html_anchor,
    section_keys,
    text_sections,
)
from rag_assets.sections.snippet import SectionSubject
from rag_assets.sections.splitter import cut_to, paragraphs
from rag_assets.segmentation import segment_file
from rag_assets_tests.sections.windows import COUNTERS, CallCounter, window, words

SUBJECT = SectionSubject("docs/guide.md", "document", "Markdown")
PROSE = "The quick brown fox jumps over the lazy dog again."


def outline_of(text: str) -> TextOutline:
    """The outline of a markdown text, its sections from the real segmenter."""
    segments = segment_file(text, "docs/guide.md", "markdown").segments
    members = [member for member in segments[0].members if member.kind is MemberKind.SECTION] if segments else []
    sections = [
        TextSection("" if m.type == "preamble" else m.signature, m.span.char_start, m.span.char_end) for m in members
    ]
    return TextOutline(
        title="Markdown: docs/guide.md",
        text=text,
        origin=LineIndex(text).span(0, len(text)),
        sections=sections or [TextSection("", 0, len(text))],
        default_key="body",
        node_keys=lambda key: (f"doc:docs/guide.md#{key}|SECTION",),
    )


def sections_of(text: str, found: EmbeddingWindow | None = None) -> list[SummarySection]:
    return text_sections(SUBJECT, outline_of(text), found or window())


@pytest.mark.rule("R4")
def test_the_chunk_under_its_heading_path_is_the_snippet() -> None:
    """R4: what is embedded is the text itself, with the path of headings above it."""
    text = f"# Guide\n\n{PROSE * 95}\n\n## Install\n\n### Linux\n\nRun the script.\n"
    last = sections_of(text)[-1]
    assert last.finder_snippet == (
        "Markdown: docs/guide.md\nGuide > Install\n\n## Install\n\n### Linux\n\nRun the script."
    )
    assert (last.section_key, last.html_anchor) == ("guide-install", "install")
    assert last.names == ("Install", "Linux")
    assert last.graph_node_keys == (
        "doc:docs/guide.md#guide-install|SECTION",
        "doc:docs/guide.md#guide-install-linux|SECTION",
    )
    assert last.backing_artifact.startswith("# Markdown: docs/guide.md: Guide > Install\n\n## Install")


@pytest.mark.rule("E02")
def test_small_neighbours_are_merged_until_the_target() -> None:
    """E02: sections of a few words are one chunk; those of another parent stay apart."""
    text = "# One\n\na\n\n## Two\n\nb\n\n## Three\n\nc\n\n# Four\n\nd\n"
    assert [section.section_key for section in sections_of(text)] == ["one"]
    other = f"# A\n\n{PROSE * 60}\n\n{PROSE * 60}\n\n## B\n\nx\n\n### C\n\ny\n\n# D\n\nz\n"
    assert [section.section_key for section in sections_of(other)] == ["a", "a", "a-b", "d"]


@pytest.mark.rule("E01", "R18", "R19", "R32", "F03")
@pytest.mark.parametrize("tokens", [64, 256, 8_192])
@pytest.mark.parametrize("sentences", [1, 3, 12, 40], ids="{}-sentences-a-paragraph".format)
def test_long_sections_are_chunks_of_700_to_1000_tokens_that_overlap_by_100_to_150(sentences: int, tokens: int) -> None:
    """E01, R18, R19, R32: whatever the window of the embedder is; chunks begin where sentences do."""
    paragraph = " ".join([PROSE] * sentences)
    text = "# Guide\n\n" + "\n\n".join(f"Paragraph {number}. {paragraph}" for number in range(600 // sentences)) + "\n"
    sections = sections_of(text, window(tokens))
    assert len(sections) > 5
    assert [section.part_index for section in sections] == list(range(1, len(sections) + 1))
    assert {section.part_total for section in sections} == {len(sections)}
    assert {section.section_key for section in sections} == {"guide"}
    assert [section.overlap_tokens for section in sections if section.part_index == 1] == [0]
    for before, after in itertools.pairwise(sections):
        assert after.span.char_start < before.span.char_end < after.span.char_end
        assert text[after.span.char_start :].startswith(("Paragraph", "The quick"))
        (shared,) = words([text[after.span.char_start : before.span.char_end]])
        assert OVERLAP_TOKENS[0] <= shared <= OVERLAP_TOKENS[1]
        assert after.overlap_tokens == shared
    assert all(LEAST_TOKENS <= (section.snippet_tokens or 0) <= CHUNK_TOKENS for section in sections[:-1])
    assert (sections[-1].snippet_tokens or 0) <= CHUNK_TOKENS


@pytest.mark.rule("E01")
def test_a_chunk_ends_where_a_paragraph_does_if_one_ends_within_its_size() -> None:
    paragraph = " ".join([PROSE] * 12)
    text = "\n\n".join(f"Paragraph {number}. {paragraph}" for number in range(40)) + "\n"
    for section in sections_of(text):
        assert text[section.span.char_end :].startswith("\n")


@pytest.mark.rule("E01", "R32")
def test_what_is_a_little_too_long_is_cut_into_halves() -> None:
    sizes = [section.snippet_tokens or 0 for section in sections_of("# Guide\n\n" + " ".join([PROSE] * 140) + "\n")]
    assert len(sizes) == 2 and min(sizes) >= LEAST_TOKENS


@pytest.mark.rule("F03")
@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("# Top\n\n## Long\n\n{long}\n", ["top-long"]),
        ("# Top\n\n{long}\n\n## Empty\n\n## Long\n\n{long}\n", ["top", "top-long"]),
        ("# Top\n\n## Long\n\n{long}\n\n## Empty\n", ["top-long"]),
        ("# One\n\n{long}\n\n## Empty\n\n# Two\n\n{long}\n", ["one", "two"]),
        ("Top\n===\n\nLong\n----\n\n{long}\n", ["top-long"]),
    ],
    ids=["above-its-child", "above-a-sibling", "at-the-end", "below-what-it-belongs-to", "underlined"],
)
def test_a_heading_is_never_a_chunk_of_its_own(text: str, keys: list[str]) -> None:
    long = "\n\n".join(PROSE for _ in range(250))
    text = text.replace("{long}", long)
    sections = sections_of(text)
    assert list(dict.fromkeys(section.section_key for section in sections)) == keys
    assert covered(text, sections) == ""
    for section in sections:
        source = text[section.span.char_start : section.span.char_end]
        assert PROSE in source
        assert not source.splitlines()[-1].startswith(("#", "-", "=")) or source.endswith("## Empty")


@pytest.mark.rule("R1")
def test_repeated_headings_get_keys_of_their_own() -> None:
    """R1: ids are unique, also where a heading reads like a numbered repetition."""
    keys = section_keys(["A > Example", "A > Example", "A > Example 2", "A/Example", ""], "body")
    assert len(set(keys)) == 5
    assert keys[4] == "body"
    assert section_keys(["A", "B"], "body") == ["a", "b"]


@pytest.mark.rule("R1")
def test_headings_without_latin_letters_stay_apart() -> None:
    """B21 drops every other letter; the hash of R1 tells them apart."""
    assert len(set(section_keys(["注文", "請求", "body"], "body"))) == 3


def test_long_headings_make_bounded_keys() -> None:
    one, other = section_keys(["word " * 200 + "a", "word " * 200 + "b"], "body")
    assert one != other
    assert len(one) < 150


@pytest.mark.rule("B11")
@pytest.mark.parametrize(
    ("heading", "anchor"),
    [("Guide > Getting Started!", "getting-started"), ("A > What's new?", "whats-new"), ("", ""), ("Größe", "größe")],
)
def test_anchors(heading: str, anchor: str) -> None:
    """B11: the anchor that renderers give the heading."""
    assert html_anchor(heading) == anchor


def test_a_blank_text_is_still_found_by_its_name() -> None:
    (section,) = sections_of(" \n\n ")
    assert section.finder_snippet == "Markdown: docs/guide.md"


def test_a_line_that_is_too_long_is_cut_inside() -> None:
    """A 200,000-character line in a few counting calls; nothing of it is lost."""
    text = "x" * 100_000 + " " + "word " * 20_000
    count = CallCounter()
    sections = sections_of(text, window(256, count))
    assert len(count.calls) <= 12
    assert covered(text, sections) == ""
    assert all((section.snippet_tokens or 0) <= CHUNK_TOKENS for section in sections)


def covered(text: str, sections: list[SummarySection]) -> str:
    """What is not blank and in no section."""
    rest = list(text)
    for section in sections:
        for i in range(section.span.char_start, section.span.char_end):
            rest[i] = " "
    return "".join(rest).strip()


MARKDOWN = st.lists(
    st.sampled_from(
        [
            "# One",
            "## Two",
            "### Three",
            "## Two",
            "```",
            "~~~",
            PROSE,
            PROSE * 12,
            "- item",
            "",
            "",
            "注文 🎉 ö",
            "x" * 700,
        ]
    ),
    max_size=25,
).map("\n".join)


@pytest.mark.rule("A26", "R18")
@given(text=MARKDOWN, tokens=st.sampled_from([40, 128, 256]), counter=st.sampled_from(sorted(COUNTERS)))
def test_any_document_is_covered_by_parts_that_fit(text: str, tokens: int, counter: str) -> None:
    """BM25 bodies cover the whole file; spans and line numbers are exact; (key, part) is unique; same input, same
    sections (A26)."""
    if not text.strip():
        return
    found = window(tokens, COUNTERS[counter])
    sections = sections_of(text, found)
    assert covered(text, sections) == ""
    lines = LineIndex(text)
    for section in sections:
        assert section.span == lines.span(section.span.char_start, section.span.char_end)
        assert found.count([section.finder_snippet])[0] <= CHUNK_TOKENS
        assert section.snippet_tokens is not None
    assert max(Counter((s.section_key, s.part_index) for s in sections).values()) == 1
    for key, total in {(s.section_key, s.part_total) for s in sections}:
        assert [s.part_index for s in sections if s.section_key == key] == list(range(1, total + 1))
    assert sections_of(text, found) == sections


def test_a_tokenizer_that_counts_more_for_the_whole_still_fits() -> None:
    """Chunks are counted as they will be embedded; what turns out too long gives up its overlap, then half."""
    text = "# One\n\n" + "\n\n".join(f"{number} {PROSE}" for number in range(200))
    sections = sections_of(text, window(256, COUNTERS["joined"]))
    assert max(section.snippet_tokens or 0 for section in sections) <= CHUNK_TOKENS
    assert covered(text, sections) == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\n\nb", ["a", "b"]),
        ("a\nb\n\n\n c \n", ["a\nb", " c"]),
        ("```\na\n\nb\n```\n\nc", ["```\na\n\nb\n```", "c"]),
        ("```\na\n\n~~~\n\nb", ["```\na\n\n~~~\n\nb"]),
        ("a\r\n\r\nb", ["a", "b"]),
        ("a\r\rb", ["a", "b"]),
        (" \n\t\n", []),
    ],
    ids=["two", "lines", "fence", "unclosed-fence", "crlf", "cr", "blank"],
)
def test_paragraphs(text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in paragraphs(text, 0, len(text))] == expected


@pytest.mark.parametrize(
    ("text", "length", "expected"),
    [
        ("one two three", 9, ["one two ", "three"]),
        ("line one\nline two", 12, ["line one\n", "line two"]),
        ("One two. Three four", 11, ["One two. ", "Three four"]),
        ("abcdefgh", 3, ["abc", "def", "gh"]),
    ],
    ids=["blank", "line", "sentence", "character"],
)
def test_cuts(text: str, length: int, expected: list[str]) -> None:
    assert [text[start:end] for start, end in cut_to(text, (0, len(text)), length)] == expected


def test_segmentation_and_sections_write_heading_paths_alike() -> None:
    assert PATH_SEPARATOR == SEGMENTED_SEPARATOR


def test_the_word_counter_is_additive() -> None:
    """What the other tests rely on."""
    assert words(["a b\nc"]) == [sum(words(["a b", "c"]))]
