"""Sections of code (A24, A25, R18, R19): one overview where everything fits, else overview and numbered members."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.contracts.section import SummarySection
from rag_assets.contracts.segment import Span
from rag_assets.sections.code import Outline, code_sections, kebab_case
from rag_assets.sections.snippet import Block, SectionSubject
from rag_assets_tests.sections.windows import COUNTERS, window

SUBJECT = SectionSubject("Shop.Orders~1a2b3c4d", "class", "EfDataContext", "ordering")


def block(number: int, text: str = "") -> Block:
    """The member of line `number`: ten characters, one name, one key, one list entry."""
    span = Span(number, number, number * 10, number * 10 + 9)
    name = f"M{number}"
    return Block(text or f"void {name}(int a)", span, (name,), (f"key:{name}",), f"- `{name}`")


def outline(members: int, header: str = "Purpose: orders") -> Outline:
    return Outline(
        prefix="ef-data-context",
        header=["Kind: EfDataContext", header],
        short_header=["Kind: EfDataContext"],
        self_block=Block("", Span(1, 1, 0, 9), ("Orders",), ("key:Orders",), "# Orders\n"),
        blocks=[block(number) for number in range(1, members + 1)],
    )


def test_a_small_type_is_one_section() -> None:
    (section,) = code_sections(SUBJECT, outline(3), window())
    assert section.section_key == "ef-data-context-overview"
    assert (section.part_index, section.part_total) == (1, 1)
    assert section.span == Span(1, 3, 0, 39)
    assert section.names == ("Orders", "M1", "M2", "M3")
    assert section.graph_node_keys == ("key:Orders", "key:M1", "key:M2", "key:M3")
    assert section.finder_snippet.endswith("void M1(int a)\nvoid M2(int a)\nvoid M3(int a)")
    assert section.backing_artifact == "# Orders\n\n## Members\n\n- `M1`\n- `M2`\n- `M3`"
    assert section.snippet_tokens is not None and section.snippet_tokens > 20


@pytest.mark.rule("A25")
def test_every_section_carries_the_subject() -> None:
    """A25: symbol, symbol type, kind and domain are those of the description."""
    for section in code_sections(SUBJECT, outline(200), window(64)):
        assert (section.symbol, section.symbol_type) == ("Shop.Orders~1a2b3c4d", "class")
        assert (section.kind, section.domain_key) == ("EfDataContext", "ordering")


@pytest.mark.rule("R18", "R19")
def test_a_large_type_is_an_overview_and_numbered_members() -> None:
    """R18, R19: 300 methods; the overview lists names, each part holds consecutive members under a header."""
    sections = code_sections(SUBJECT, outline(300), window(128))
    overview, *parts = sections
    assert overview.section_key == "ef-data-context-overview"
    assert overview.finder_snippet.startswith("Kind: EfDataContext\nPurpose: orders\nMembers: M1, M2, M3,")
    assert overview.span == Span(1, 1, 0, 9)
    assert overview.backing_artifact.count("- `M") == 300
    assert {part.section_key for part in parts} == {"ef-data-context-members"}
    assert [part.part_index for part in parts] == list(range(1, len(parts) + 1))
    assert {part.part_total for part in parts} == {len(parts)}
    assert [name for part in parts for name in part.names] == [f"M{number}" for number in range(1, 301)]
    for part in parts:
        first, last = int(part.names[0][1:]), int(part.names[-1][1:])
        assert part.span == Span(first, last, first * 10, last * 10 + 9)
        assert part.finder_snippet.startswith("Kind: EfDataContext\n")
        assert part.backing_artifact.count("- `M") == len(part.names)


@pytest.mark.rule("C04")
def test_nothing_before_the_first_member_gives_the_overview_its_slice() -> None:
    """C04: a slice is never empty; a module begins with its first function."""
    made = outline(100)
    empty = Outline(made.prefix, made.header, made.short_header, Block("", Span(1, 1, 10, 10), ("M",)), made.blocks)
    assert code_sections(SUBJECT, empty, window(64))[0].span == made.blocks[0].span


def test_a_long_header_without_members_is_shortened() -> None:
    (section,) = code_sections(SUBJECT, outline(0, "Purpose: " + "word " * 500), window(64))
    assert (section.snippet_tokens or 0) <= 62
    assert section.finder_snippet.startswith("Kind: EfDataContext\nPurpose: word")


@pytest.mark.rule("A26", "R18")
@given(members=st.integers(0, 60), tokens=st.integers(20, 100), counter=st.sampled_from(sorted(COUNTERS)))
def test_sections_fit_and_cover(members: int, tokens: int, counter: str) -> None:
    """R18 for every size and tokenizer: within the window, all members in order, deterministic (A26)."""
    found = window(tokens, COUNTERS[counter])

    def build() -> list[SummarySection]:
        return code_sections(SUBJECT, outline(members), found)

    sections = build()
    assert all(found.count([section.finder_snippet])[0] <= tokens - 2 for section in sections)
    named = [name for section in sections for name in section.names if name != "Orders"]
    assert named == [f"M{number}" for number in range(1, members + 1)]
    assert build() == sections


@pytest.mark.parametrize(
    ("kind", "key"), [("EfDataContext", "ef-data-context"), ("Test", "test"), ("SqlObject", "sql-object"), ("", "body")]
)
def test_kinds_in_section_keys(kind: str, key: str) -> None:
    assert kebab_case(kind) == key
