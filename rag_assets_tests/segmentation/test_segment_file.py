"""`segment_file`: what holds for every language and every text (A04–A08)."""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rag_assets.contracts.segment import ParseHealth
from rag_assets.languages.csharp.syntax import SEGMENTER_VERSION as CSHARP_VERSION
from rag_assets.languages.detection import LANGUAGES, SourceType
from rag_assets.segmentation import SEGMENTER_VERSION, segment_file
from rag_assets_tests.segmentation.outline import CHARACTER, check_covers_text, check_invariants

SEGMENTED = ["markdown", "rst", "text", "resx", "sql", "json", "razor", "python", "go", "java", "javascript", "tsx"]
"""One language per segmenter of this package but C#, which has its own tests."""

DOCUMENTS = [name for name, language in LANGUAGES.items() if language.source_type is SourceType.DOCUMENT]

FRAGMENTS = (
    *("# T", "## U #", "===", "---", "```", "~~~", "<!--", "-->", "<pre>", "- a", "> q", "    code", "+++", "title: x"),
    *("CREATE TABLE a (b int, -- c", ");", "GO", "/*", "*/", "'", '"', "[", "]", "$$", "BEGIN", "END", "DELIMITER //"),
    *("CREATE PROC p @a int AS", "ALTER TABLE a ADD b int", "CREATE INDEX i ON a (b)", "USE x", "e'\\"),
    *("<data name='a'>", "<value>é</value>", "</data>", "<![CDATA[", "]]>", "&amp;&#0;", "<data/>"),
    *("class A(B):", "class A {", "}", "def f(x):", "  pass", "@d", "# c", "/** d */", "// e", "function f() {", "=>"),
    *("export default class", "type T struct {", "func (r *T) M() {}", "package p", "import 'x'", "enum E { A, B }"),
    *("", " ", "\t", "é𝄞", "\x00", "\ufeff", "\u2028", "\x0c", "x = 1", "(", ")", "<", ">", ";", ","),
)

SOURCES = st.one_of(
    st.text(max_size=200),
    st.lists(st.sampled_from(FRAGMENTS), max_size=30).flatmap(
        lambda parts: st.sampled_from(["\n", "\r\n", "\r", " ", ""]).map(lambda glue: glue.join(parts))
    ),
)


@pytest.mark.rule("A07")
@pytest.mark.parametrize("language", SEGMENTED)
@example(text="\ufeff\n#")
@given(text=SOURCES)
@settings(max_examples=60)
def test_any_text_gives_valid_segments_and_the_same_again(language: str, text: str) -> None:
    """A07: pure; spans are exact for every character set and line end."""
    file = segment_file(text, "src/some file.x", language)
    check_invariants(text, file)
    assert bool(file.segments) == bool(CHARACTER.search(text))
    assert segment_file(text, "src/some file.x", language) == file


@pytest.mark.rule("A08")
@pytest.mark.parametrize("language", DOCUMENTS)
@given(text=SOURCES.filter(lambda text: CHARACTER.search(text) is not None))
@settings(max_examples=40)
def test_a_document_is_one_segment_whose_members_hold_all_of_its_text(language: str, text: str) -> None:
    """A08"""
    check_covers_text(text, segment_file(text, "docs/a.txt", language))


@pytest.mark.parametrize("language", ["json", "razor", "css", "ini", "batch", "vtt", "csv"])
@given(text=SOURCES.filter(lambda text: CHARACTER.search(text) is not None))
@settings(max_examples=20)
def test_windows_hold_all_of_a_text_without_grammar(language: str, text: str) -> None:
    check_covers_text(text, segment_file(text, "a.txt", language))


@pytest.mark.parametrize("language", [*SEGMENTED, "csharp"])
@pytest.mark.parametrize(
    ("text", "detail"), [("", "empty file"), (" \r\n\t", "only blanks"), ("\ufeff\x00\n", "only blanks")]
)
def test_a_file_without_text_has_no_segments_and_says_so(language: str, text: str, detail: str) -> None:
    file = segment_file(text, "a.txt", language)
    assert (file.segments, file.health, file.detail) == ((), ParseHealth.OK, detail)


@pytest.mark.parametrize(
    ("path", "language", "text", "kind", "health"),
    [
        ("a.cs", "csharp", "class A { }", "class", ParseHealth.OK),
        ("a.py", "python", "class A: pass", "class", ParseHealth.OK),
        ("a.ts", "typescript", "class A { }", "class", ParseHealth.OK),
        ("a.tsx", "tsx", "class A { }", "class", ParseHealth.OK),
        ("a.js", "javascript", "class A { }", "class", ParseHealth.OK),
        ("a.java", "java", "class A { }", "class", ParseHealth.OK),
        ("a.go", "go", "package a\ntype A struct { }\n", "struct", ParseHealth.OK),
        ("a.sql", "sql", "CREATE TABLE a (b int)", "table", ParseHealth.OK),
        ("a.md", "markdown", "# A", "document", ParseHealth.OK),
        ("a.rst", "rst", "A\n=\n", "document", ParseHealth.OK),
        ("a.txt", "text", "A", "document", ParseHealth.OK),
        ("a.adoc", "asciidoc", "= A", "document", ParseHealth.OK),
        ("a.resx", "resx", '<data name="a"><value>b</value></data>', "resource", ParseHealth.OK),
        ("a.json", "json", "{}", "config", ParseHealth.NO_GRAMMAR),
        ("a.csproj", "msbuild", "<Project/>", "config", ParseHealth.NO_GRAMMAR),
        ("a.razor", "razor", "<h1/>", "markup", ParseHealth.NO_GRAMMAR),
        ("a.vtt", "vtt", "WEBVTT", "transcript", ParseHealth.TEXT_FALLBACK),
        ("a.pdf", "pdf", "A\f\fB", "document", ParseHealth.OK),
        ("a.docx", "docx", "# A", "document", ParseHealth.OK),
        ("a.kt", "kotlin", "class A", "class", ParseHealth.BY_PATTERNS),
        ("a.kt", "kotlin", "1 + 1", "file", ParseHealth.NO_GRAMMAR),
        ("a.bat", "batch", "echo", "file", ParseHealth.NO_GRAMMAR),
        ("a.xyz", "no such language", "A", "document", ParseHealth.OK),
    ],
)
def test_each_language_goes_to_its_segmenter(
    path: str, language: str, text: str, kind: str, health: ParseHealth
) -> None:
    file = segment_file(text, path, language)
    assert [(segment.kind, segment.language, segment.health) for segment in file.segments] == [(kind, language, health)]


@pytest.mark.parametrize("language", [*SEGMENTED, "csharp", "typescript"])
@pytest.mark.parametrize(
    "text",
    [
        "(" * 10_000 + ")" * 10_000,
        "{" * 10_000,
        "class A { " * 10_000 + "}" * 10_000,
        "".join(f"{' ' * depth}class A:\n" for depth in range(500)),
        "x = '" + "a" * 100_000,
        "/*" * 50_000,
        "```\n" * 20_000,
        "<data " * 20_000,
        "[" * 50_000,
        "a\x00b\n" * 1_000,
    ],
    ids=["parentheses", "open", "classes", "indented", "string", "comment", "fences", "tags", "brackets", "nul"],
)
def test_hostile_texts_end_in_valid_segments(language: str, text: str) -> None:
    """No crash, no recursion error, no quadratic time."""
    check_invariants(text, segment_file(text, "a.txt", language))


@pytest.mark.parametrize("language", ["markdown", "rst", "text", "resx", "sql", "json"])
def test_one_line_of_two_megabytes_never_becomes_one_giant_member(language: str) -> None:
    text = "lorem ipsum, " * 160_000
    (segment,) = segment_file(text, "a.txt", language).segments
    if language != "resx":  # a resource without entries has no members
        assert max(len(member.span.slice(text)) for member in segment.members) < 10_000


@pytest.mark.rule("A03", "A07")
def test_segmentation_reads_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A03, A07: everything is in the arguments."""
    for language in LANGUAGES:
        segment_file("class A { }", "a.txt", language)  # grammars are imported on first use

    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("segmentation opened a file")

    monkeypatch.setattr(builtins, "open", refuse)
    monkeypatch.setattr(Path, "open", refuse)
    for language in LANGUAGES:
        assert segment_file("class A { }", "does/not/exist.txt", language).segments


def test_the_version_is_that_of_all_segmenters() -> None:
    assert SEGMENTER_VERSION.split(".")[-1] == str(CSHARP_VERSION)
    assert len(SEGMENTER_VERSION.split(".")) == 2


def test_a_byte_order_mark_before_the_first_statement_is_no_statement() -> None:
    (procedure,) = segment_file("\ufeff\nCREATE PROC A", "a.sql", "sql").segments
    assert procedure.symbol == "dbo.A"
