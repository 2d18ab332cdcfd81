"""Finder snippets (domain reference §3, C09): fixed order, dense lines."""

from __future__ import annotations

import pytest

from rag_assets.contracts.outline import compact_signature
from rag_assets.contracts.segment import Member, MemberKind, Span, first_paragraph
from rag_assets.sections.snippet import finder_header, member_line, path_words, shortened_sentences


def test_the_order_of_lines_is_fixed() -> None:
    lines = finder_header(
        domain="Ordering",
        domain_summary="From basket to invoice.",
        kind="Service",
        artifact="Shop.OrderService",
        primary_entity="Order",
        facts=[("Implements", "IOrderService"), ("Attributes", "")],
        purpose="Creates orders.",
    )
    assert "\n".join(lines) == (
        "Domain: Ordering\nDomainSummary: From basket to invoice.\n\n"
        "Kind: Service\n\n"
        "Artifact: Shop.OrderService\nPrimaryEntity: Order\nImplements: IOrderService\n\n"
        "Purpose: Creates orders."
    )


def test_without_domain_it_is_general_and_empty_lines_are_left_out() -> None:
    assert finder_header(kind="Enum", artifact="A.B") == ["Domain: General", "", "Kind: Enum", "", "Artifact: A.B"]


def test_values_are_one_line_and_bounded() -> None:
    lines = finder_header(kind="K", artifact="A", facts=[("Inherits", "a\n  b " * 500)], purpose="x. " * 500)
    assert all("\n" not in line and len(line) < 420 for line in lines)


@pytest.mark.parametrize(
    ("doc", "summary"),
    [
        ("", ""),
        ("One line.", "One line."),
        ("Two\n lines.", "Two lines."),
        ("Summary.\n\nMore text.", "Summary."),
        ("Summary.\nparam order: the order\nreturns: it", "Summary."),
        ("param order: the order", ""),
        ("Summary.\nreturn: none", "Summary."),
        ("It returns: nothing special", "It returns: nothing special"),
    ],
)
def test_the_summary_is_the_first_paragraph(doc: str, summary: str) -> None:
    assert first_paragraph(doc) == summary


@pytest.mark.parametrize(
    ("path", "artifact", "expected"),
    [
        ("src/Shop/Orders/OrderService.cs", "Shop.Orders.OrderService", ""),
        ("src/Shop.Api/Endpoints/Orders.cs", "Shop.OrderService", "Shop.Api/Endpoints/Orders"),
        ("tests/perf/Runner.cs", "Runner", "tests/perf"),
        ("Program.cs", "Program", ""),
    ],
)
def test_the_path_says_only_what_the_name_does_not(path: str, artifact: str, expected: str) -> None:
    assert path_words(path, artifact) == expected


@pytest.mark.parametrize(
    ("signature", "expected"),
    [
        ("public static async Task<int> Run(int a)", "Task<int> Run(int a)"),
        ("int this[int i]", "int this[int i]"),
        ("static", "static"),
        ("", ""),
    ],
)
def test_signatures_lose_their_modifiers(signature: str, expected: str) -> None:
    assert compact_signature(signature) == expected


def member(signature: str, kind: MemberKind = MemberKind.METHOD, **facts: object) -> Member:
    return Member(name="M", kind=kind, signature=signature, span=Span(1, 1, 0, 1), **facts)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (member("public void M(int a)", doc="Does it.\n\nAt length."), "void M(int a) — Does it."),
        (member("private int M", MemberKind.FIELD, modifiers=("private",)), "M"),
        (member("private int M", MemberKind.FIELD, modifiers=("private",), doc="Count."), "int M — Count."),
        (member("public int M", MemberKind.FIELD, modifiers=("public",)), "int M"),
        (member("", MemberKind.ENUM_VALUE, value="3"), "M = 3"),
        (member("", MemberKind.ENUM_VALUE), "M"),
    ],
    ids=["documented", "private-field", "documented-private-field", "public-field", "enum-value", "bare"],
)
def test_a_member_is_one_line(made: Member, expected: str) -> None:
    assert member_line(made) == expected


def test_a_nested_member_names_its_type() -> None:
    assert member_line(member("public void M()"), "Outer.Inner") == "Outer.Inner: void M()"


def test_a_member_line_is_bounded() -> None:
    made = member("void M(" + "int a, " * 2_000 + ")", doc="word " * 1_000)
    assert len(member_line(made)) < 600


@pytest.mark.parametrize(
    ("text", "length", "expected"),
    [
        ("Short.", 20, "Short."),
        ("First one. Second one. Third one.", 24, "First one. Second one."),
        ("A. " + "long " * 20, 30, "A. long long long long long…"),
        ("Version 1.2 of it is used here always", 20, "Version 1.2 of it is…"),
    ],
)
def test_long_texts_end_after_a_sentence(text: str, length: int, expected: str) -> None:
    assert shortened_sentences(text, length) == expected
