"""Text out of PDF, Word and transcripts as JSON; and what is said of files that give none."""

from __future__ import annotations

import json
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rag_assets.contracts.source_file import SkippedFile, SkipReason
from rag_assets.languages.detection import detect_language
from rag_assets.sources.discovery import DiscoveredText, discover, is_lasting
from rag_assets.sources.extraction import extraction_of
from rag_assets.sources.extraction.refusal import ExtractionRefused
from rag_assets.sources.ignore import IgnorePolicy
from rag_assets.sources.open import open_snapshot
from rag_assets_tests.documents import docx, paragraph, pdf, table
from rag_assets_tests.git_repository import Repository


def taken(name: str, data: bytes) -> str | ExtractionRefused:
    extract = extraction_of(name)
    assert extract is not None
    return extract(data)


@pytest.mark.parametrize("name", ["a.md", "a.json", "pdf", "a.pdf.txt", "transcript.json"])
def test_other_files_are_text(name: str) -> None:
    assert extraction_of(name) is None


@pytest.mark.rule("E02")
def test_a_word_document_is_markdown() -> None:
    made = docx(
        paragraph("The guide", "Title"),
        paragraph("Refunds & more", "Heading1"),
        paragraph("Money goes back."),
        paragraph(""),
        paragraph("in nine days", is_item=True),
        paragraph("or never", is_item=True),
        paragraph("# no heading"),
        table(("Country", "Days"), ("DE", "14")),
        paragraph("Details", "heading 2"),
    )
    assert taken("A.DOCX", made) == (
        "# The guide\n\n# Refunds & more\n\nMoney goes back.\n\n- in nine days\n- or never\n\n\\# no heading\n\n"
        "| Country | Days |\n| DE | 14 |\n\n## Details\n"
    )


def test_what_was_deleted_is_no_text() -> None:
    deleted = "<w:p><w:r><w:t>stays</w:t></w:r><w:del><w:r><w:delText>gone</w:delText></w:r></w:del></w:p>"
    assert taken("a.docx", docx(deleted)) == "stays\n"


@pytest.mark.parametrize(
    ("data", "reason", "said"),
    [
        (b"no zip", SkipReason.UNREADABLE, "cannot be read"),
        (docx(document="other.xml"), SkipReason.UNREADABLE, "no Word document"),
        (docx("<w:p>"), SkipReason.UNREADABLE, "cannot be read"),
        (docx(), SkipReason.EMPTY, "without text"),
        (docx(paragraph("x"))[:-30], SkipReason.UNREADABLE, "cannot be read"),
    ],
)
def test_a_word_document_that_gives_nothing(data: bytes, reason: SkipReason, said: str) -> None:
    found = taken("a.docx", data)
    assert isinstance(found, ExtractionRefused) and found.reason is reason and said in found.detail


def test_entities_of_a_document_type_are_not_expanded(tmp_path: Path) -> None:
    bomb = '<!DOCTYPE d [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><d>&b;</d>'
    with zipfile.ZipFile(tmp_path / "a.docx", "w") as package:
        package.writestr("word/document.xml", bomb)
    found = taken("a.docx", (tmp_path / "a.docx").read_bytes())
    assert isinstance(found, ExtractionRefused) and found.reason is SkipReason.UNREADABLE


ENTRIES: list[dict[str, Any]] = [
    {"text": "Hello\nall", "start": 0.5, "duration": 2},
    {"text": "a --> <b>", "start": "63.25", "end": 65, "speaker": "Anna"},
    {"text": "", "start": 70},
    {"text": "no time"},
    {"text": "below zero", "start": -1},
    "no entry",  # type: ignore[list-item]
]
CUES = "00:00:00.500 --> 00:00:02.500\nHello all\n\n00:01:03.250 --> 00:01:05.000\n<v Anna>a → ‹b›\n"


@pytest.mark.rule("E03")
@pytest.mark.parametrize(
    ("found", "head"),
    [
        (ENTRIES, "WEBVTT"),
        ({"segments": ENTRIES, "title": "The talk"}, "WEBVTT - The talk"),
        ({"transcript": ENTRIES, "videoTitle": "The talk"}, "WEBVTT - The talk"),
    ],
)
def test_a_transcript_as_json_is_webvtt(found: Any, head: str) -> None:
    assert taken("talk.transcript.json", json.dumps(found).encode()) == f"{head}\n\n{CUES}"


@pytest.mark.rule("E03")
def test_the_form_of_youtube() -> None:
    events = {"events": [{"tStartMs": 61500, "dDurationMs": 1500, "segs": [{"utf8": "Good "}, {"utf8": "day"}]}, {}, 1]}
    assert taken("t.transcript.json", json.dumps(events).encode()) == (
        "WEBVTT\n\n00:01:01.500 --> 00:01:03.000\nGood day\n"
    )


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", "1", '[{"text": "x"}]', '{"events": []}', "[" * 9_000])
def test_json_that_is_no_transcript(text: str) -> None:
    found = taken("t.transcript.json", text.encode())
    assert isinstance(found, ExtractionRefused) and "no transcript" in found.detail


@pytest.mark.rule("E02")
def test_the_pages_of_a_pdf_are_between_form_feeds() -> None:
    pytest.importorskip("pypdf")
    assert taken("a.pdf", pdf("Page one\nmore", "", "Page three")) == "Page one\nmore\n\f\n\fPage three\n"


@pytest.mark.rule("F03", "E02")
def test_a_pdf_has_the_headings_of_its_outline_and_the_title_of_its_information() -> None:
    """An entry marks the line that says it, with or without a number; what no line says is a line of its own."""
    pytest.importorskip("pypdf")
    data = pdf(
        "1. Opening hours\nAt six.\n# not a heading",
        "Something else\nRefunds\nNever.",
        title='The "handbook".pdf',
        outline=[("Opening hours", 1), ("Unseen", 2), ("Refunds", 2)],
    )
    assert taken("a.pdf", data) == (
        "---\ntitle: \"The 'handbook'\"\n---\n"
        "# 1. Opening hours\nAt six.\n\\# not a heading\n\f"
        "# Unseen\nSomething else\n# Refunds\nNever.\n"
    )


@pytest.mark.rule("F03", "E02")
def test_without_an_outline_the_lines_of_larger_type_are_the_headings_of_a_pdf() -> None:
    pytest.importorskip("pypdf")
    body = "\n".join(f"Line {number} of the text." for number in range(6))
    found = taken("a.pdf", pdf(f"^Opening hours\n{body}", f"^Refunds\n{body}"))
    assert found == f"# Opening hours\n{body}\n\f# Refunds\n{body}\n"
    slides = taken("a.pdf", pdf("^Opening hours\n^Refunds\nshort"))
    assert slides == "Opening hours\nRefunds\nshort\n"


@pytest.mark.parametrize(
    ("data", "said"),
    [(b"%PDF-1.4 broken", "cannot be read"), (b"", "cannot be read"), (pdf("", ""), "2 pages without text; scanned")],
)
def test_a_pdf_that_gives_nothing(data: bytes, said: str) -> None:
    pytest.importorskip("pypdf")
    found = taken("a.pdf", data)
    assert isinstance(found, ExtractionRefused) and found.reason is SkipReason.UNREADABLE and said in found.detail


def test_without_the_package_a_pdf_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pypdf", None)
    found = taken("a.pdf", pdf("x"))
    assert isinstance(found, ExtractionRefused) and "pip install 'rag-assets[documents]'" in found.detail
    skipped = SkippedFile("a.pdf", found.reason, found.detail)
    assert not is_lasting(skipped), "it may be installed before the next run"


@pytest.mark.rule("E02", "E03")
def test_discovery_yields_the_text(make_repository: Callable[..., Repository]) -> None:
    repository = make_repository(
        {
            "policy.docx": docx(paragraph("Policy", "Heading1"), paragraph('password = "Pass@word1"')),
            "talk.transcript.json": json.dumps(ENTRIES),
            "broken.docx": b"x",
        }
    )
    snapshot = open_snapshot(str(repository.path), mirrors=Path("unused-mirrors"))
    found = {
        one.file.path if isinstance(one, DiscoveredText) else one.path: one
        for one in discover(snapshot, IgnorePolicy(), language_of=detect_language)
    }
    policy, talk, broken = found["policy.docx"], found["talk.transcript.json"], found["broken.docx"]
    assert isinstance(policy, DiscoveredText) and policy.text.startswith("# Policy\n\n")
    assert (policy.file.language, policy.file.encoding, policy.file.line_count) == ("docx", "text of .docx", 3)
    assert "Pass@word1" not in policy.text and policy.file.redacted_secrets == 1
    assert isinstance(talk, DiscoveredText) and talk.file.language == "vtt" and talk.text.endswith(CUES)
    assert isinstance(broken, SkippedFile) and broken.reason is SkipReason.UNREADABLE
