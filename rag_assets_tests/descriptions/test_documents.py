"""Documents: id, title, status and fields of the header, the tree of headings, sections by heading path."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.contracts.description import SummaryFacts
from rag_assets.contracts.kinds import RagContentType
from rag_assets.descriptions.kinds.document import DocumentDescription
from rag_assets.descriptions.text_description import TextDescription
from rag_assets_tests.descriptions.label import expected, shop
from rag_assets_tests.descriptions.samples import described_file, general_description
from rag_assets_tests.sections.windows import window


def document(text: str, path: str = "docs/guide.md") -> DocumentDescription:
    found = described_file(text, path).descriptions[0]
    assert isinstance(found, DocumentDescription)
    return found


HEADERS = [
    (
        "header-lines",
        "ddrs/a.md",
        "# SYS-001 — Rules\n\n**ID:** SYS-001\n**Title:** The rules\n**Status:** Draft\n",
        ("SYS-001", "The rules", "Draft"),
    ),
    (
        "colon-outside",
        "ddrs/a.md",
        "# SYS-001 - Rules\n\n**ID**: SYS-001  \n**Status**: Approved  \n",
        ("SYS-001", "Rules", "Approved"),
    ),
    ("list", "ddrs/a.md", "# Rules\n\n- **ID:** SYS-002\n* Status: Accepted\n", ("SYS-002", "Rules", "Accepted")),
    (
        "table",
        "ddrs/a.md",
        "# Rules\n\n| Field | Value |\n|---|---|\n| **ID** | SYS-003 |\n| Status | Proposed |\n",
        ("SYS-003", "Rules", "Proposed"),
    ),
    (
        "front-matter",
        "docs/a.md",
        '---\nid: RFC-12\ntitle: "Caching"\nstatus: draft\n---\n# Else\n',
        ("RFC-12", "Caching", "draft"),
    ),
    (
        "id-of-the-heading",
        "ddrs/a.md",
        "# **AGN-003**\n**Title:** Requests\n**Status:** Proposed\n\n---\n## Objective\n",
        ("AGN-003", "Requests", "Proposed"),
    ),
    ("id-of-the-file", "ddrs/AGN-012 - Prompts.md", "# Prompts\n\ntext\n", ("AGN-012", "Prompts", "")),
    ("field-wins-over-file", "ddrs/AGN-019.md", "# AGN-018 — Load\n\n**ID:** AGN-018\n", ("AGN-018", "Load", "")),
    (
        "lines-above-a-rule",
        "ddrs/a.md",
        "# AAA-001 — Snapshot\n\n**ID:** AAA-001\n**Status:** Draft\n---\n\n## Purpose\n",
        ("AAA-001", "Snapshot", "Draft"),
    ),
    ("bare-number", "ddrs/IDX-063 - X.md", "# X\n\n**Index:** 063\n", ("IDX-063", "X", "")),
    (
        "status-section",
        "docs/adr/0007-cache.md",
        "# 7. Use a cache\n\nDate: 2025-01-10\n\n## Status\n\nAccepted\n\n## Context\n",
        ("0007", "7. Use a cache", "Accepted"),
    ),
    (
        "linked-status",
        "docs/adr/0008-x.md",
        "# X\n\n## Status\n\nSuperseded by [9](0009-y.md)\n",
        ("0008", "X", "Superseded by 9"),
    ),
    ("number-is-no-id-elsewhere", "docs/2025-notes.md", "# Notes\n", ("", "Notes", "")),
    (
        "none",
        "docs/guide.md",
        "# Guide\n\nThis is what matters: text.\n\n## Usage\n\nStatus: the field `status`.\n",
        ("", "Guide", ""),
    ),
    ("fenced-example", "docs/guide.md", "# Guide\n\n```\nID: ABC-001\nStatus: Draft\n```\n", ("", "Guide", "")),
    ("windows-lines", "ddrs/a.md", "# R\r\n\r\n**ID:** SYS-004\r\n**Status:** Draft\r\n", ("SYS-004", "R", "Draft")),
]


@pytest.mark.rule("A19")
@pytest.mark.parametrize(("path", "text", "facts"), [row[1:] for row in HEADERS], ids=[row[0] for row in HEADERS])
def test_id_title_and_status(path: str, text: str, facts: tuple[str, str, str]) -> None:
    found = document(text, path)
    assert (found.document_id, found.title, found.status) == facts


def test_further_fields_are_kept_as_written() -> None:
    found = document("# G\n\n**Owner:** Kevin & co  \nVersion: 1.2\nNote: prose\n**Tags:** `a`, b\n")
    assert found.fields == (("Owner", "Kevin & co"), ("Version", "1.2"), ("Tags", "a, b"))


def test_the_tree_of_headings() -> None:
    found = document("intro\n\n# One\n\n## Two\n\ntext\n\n# Three\n")
    assert [(h.level, h.title, h.above, h.line) for h in found.headings] == [
        (1, "One", (), 3),
        (2, "Two", ("One",), 5),
        (1, "Three", (), 9),
    ]


DDR = """\
# SHP-001 — Stock

**ID:** SHP-001
**Title:** Stock
**Status:** Approved
**Type:** Referential

## Rules

x
"""

TITLES = [
    ("id-in-the-path", DDR, "ddrs/SHP-001-stock.md", "Ddr: ddrs/SHP-001-stock.md (Approved)"),
    ("id-in-the-heading", DDR, "ddrs/stock.md", "Ddr: ddrs/stock.md (Approved)"),
    ("title-of-the-front-matter", "---\ntitle: Caching\n---\n# Intro\n", "docs/a.md", "Markdown: docs/a.md (Caching)"),
    ("nothing-to-add", "# Guide\n", "docs/guide.md", "Markdown: docs/guide.md"),
    ("a-sentence-is-no-status", f"# G\n\nStatus: {'long ' * 20}\n", "docs/g.md", "Markdown: docs/g.md"),
    ("no-heading", "plain\n", "docs/note.txt", "Document: docs/note.txt"),
]


@pytest.mark.parametrize(("text", "path", "line"), [row[1:] for row in TITLES], ids=[row[0] for row in TITLES])
def test_the_title_line_says_what_nothing_else_does(text: str, path: str, line: str) -> None:
    section = document(text, path).use_window(window()).build_summary_sections()[0]
    assert section.finder_snippet.splitlines()[0] == line


FLAVORS = [
    ("record-type", DDR, "ddrs/a.md", "Referential"),
    ("decision-record", "# X\n\n## Status\n\nAccepted\n", "docs/adr/0001-x.md", "Adr"),
    ("template-without-status", "# X\n", "docs/adr/template.md", ""),
    ("readme", "# X\n", "src/README.md", "Readme"),
    ("other", "# X\n", "docs/x.md", ""),
]


@pytest.mark.rule("A10")
@pytest.mark.parametrize(("text", "path", "flavor"), [row[1:] for row in FLAVORS], ids=[row[0] for row in FLAVORS])
def test_flavors(text: str, path: str, flavor: str) -> None:
    assert document(text, path).subtype_flavor == flavor


def test_sections_are_those_of_any_text() -> None:
    """E02: heading paths as keys and the same chunks as without the facts; only the title line may say more."""
    for path, text in (("ddrs/a.md", DDR), ("docs/g.md", "intro\n\n# One\n\ntext\n\n## Two\n\nmore\n")):
        found = document(text, path).use_window(window())
        plain = general_description(text, path)
        assert isinstance(plain, TextDescription)
        mine = found.build_summary_sections()
        theirs = plain.use_window(window()).build_summary_sections()
        assert [(s.section_key, s.span, s.graph_node_keys) for s in mine] == [
            (s.section_key, s.span, s.graph_node_keys) for s in theirs
        ]


@pytest.mark.rule("A35", "C07")
def test_facts_go_to_the_payload_and_the_artifact() -> None:
    found = document(DDR, "ddrs/a.md").use_window(window())
    sections = found.build_summary_sections()
    assert (
        "- ID: `SHP-001`\n- Title: `Stock`\n- Status: `Approved`\n- Type: `Referential`" in sections[0].backing_artifact
    )
    for section in sections:
        section.vectors = [1.0]
    payloads = [result.value.payload for result in found.use_sections(sections).build_rag_points() if result.value]
    assert {payload.source_object_id for payload in payloads} == {"SHP-001"}
    assert {payload.content_type_id for payload in payloads} == {RagContentType.SPEC}
    assert {payload.subtype_flavor for payload in payloads} == {"Referential"}


@pytest.mark.rule("A11")
def test_it_survives_storage() -> None:
    found = document(DDR, "ddrs/a.md")
    again = msgspec.json.decode(msgspec.json.encode(found), type=SummaryFacts.type_named(type(found).__name__))
    assert again == found


@given(st.text(alphabet="#-*:| ID\nStatus`[]()", max_size=120))
def test_any_text_is_described(text: str) -> None:
    """A13."""
    for found in described_file(text, "ddrs/a.md").descriptions:
        found.use_window(window()).build_summary_sections()


@pytest.mark.parametrize("entry", expected()["documents"], ids=lambda entry: entry["path"])
def test_the_shop_has_the_promised_documents(entry: dict[str, object]) -> None:
    """EXPECTED.yaml."""
    found = shop().first(str(entry["path"]))
    assert isinstance(found, DocumentDescription)
    assert found.title == entry["title"]
    assert found.document_id == entry.get("id", found.document_id)
    assert found.status == entry.get("status", found.status)
    for heading in entry.get("headings", []):  # type: ignore[attr-defined]
        below_title = [*(h.above[1:] for h in found.headings), ()]
        assert any([*h.above, h.title][-len(heading) :] == heading for h in found.headings), (heading, below_title)
    for text in entry.get("not_headings", []):  # type: ignore[attr-defined]
        assert text not in [heading.title for heading in found.headings]
