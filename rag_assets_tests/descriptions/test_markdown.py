"""The description artifact (C07): markdown that stays markdown whatever the code holds."""

from __future__ import annotations

import pytest

from rag_assets.contracts.segment import Member, MemberKind, Span, leaves_of
from rag_assets.descriptions.symbol_description import declaration_markdown, fenced_code, inline_code, member_markdown
from rag_assets_tests.descriptions.samples import DOMAINS, described


def test_a_description_lists_every_member() -> None:
    text = "/// <summary>Sums.</summary>\nclass Sums { int a; void Run() {} class Inner { void Add() {} } }"
    made = described(text, domains=DOMAINS)
    markdown = declaration_markdown(made)
    assert markdown.startswith("# Other Sums\n\n`Sums` · class · src/Shop/Code.cs:1-2\n\nSums.\n")
    assert "- Domain: Ordering\n" in markdown
    members = [member_markdown(leaf.member, leaf.owner) for leaf in leaves_of(made.members)]
    assert members == ["- `int a`", "- `void Run()`", "- `class Inner`", "- Inner: `void Add()`"]


def test_without_documentation_the_generated_summary_stands_in() -> None:
    assert "Class Sums: members a." in declaration_markdown(described("class Sums { int a; }"))


@pytest.mark.parametrize(
    ("text", "expected"), [("A.B", "`A.B`"), ("A`1", "`` A`1 ``")], ids=["plain", "backtick of an arity"]
)
def test_inline_code(text: str, expected: str) -> None:
    assert inline_code(text) == expected


@pytest.mark.parametrize(
    ("text", "fence"), [("a", "```"), ("a ``` b", "````"), ("`````", "``````")], ids=["none", "three", "five"]
)
def test_a_fence_is_longer_than_what_it_holds(text: str, fence: str) -> None:
    assert fenced_code(text, "csharp") == f"{fence}csharp\n{text}\n{fence}"


def test_an_enum_value_shows_its_number_once() -> None:
    span = Span(1, 1, 0, 1)
    bare = Member(name="A", kind=MemberKind.ENUM_VALUE, signature="A", span=span, value="5")
    full = Member(name="A", kind=MemberKind.ENUM_VALUE, signature="A = 5", span=span, value="5")
    assert member_markdown(bare) == member_markdown(full) == "- `A = 5`"
