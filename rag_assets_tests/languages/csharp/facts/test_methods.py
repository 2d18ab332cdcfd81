"""What methods are for, by the verb of their name."""

from __future__ import annotations

import pytest

from rag_assets.contracts.segment import Member, MemberKind, Span
from rag_assets.languages.csharp.facts.method_verbs import MethodFact, MethodKind, method_facts, method_kind


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("PlaceAsync", MethodKind.CREATE),
        ("AddOrderAsync", MethodKind.CREATE),
        ("create_order", MethodKind.CREATE),
        ("ChangeDeliveryDaysAsync", MethodKind.UPDATE),
        ("AddOrUpdate", MethodKind.UPDATE),
        ("SaveAsync", MethodKind.UPDATE),
        ("DeleteAbandonedDraftsAsync", MethodKind.DELETE),
        ("GetByNumberAsync", MethodKind.QUERY),
        ("TryGetValue", MethodKind.QUERY),
        ("ListAsync", MethodKind.QUERY),
        ("IsEmpty", MethodKind.QUERY),
        ("IsValid", MethodKind.VALIDATION),
        ("ValidateAsync", MethodKind.VALIDATION),
        ("CanShip", MethodKind.VALIDATION),
        ("Total", MethodKind.OTHER),
        ("Address", MethodKind.OTHER),
        ("GetawayCar", MethodKind.OTHER),
        ("Try", MethodKind.OTHER),
        ("", MethodKind.OTHER),
        ("___", MethodKind.OTHER),
    ],
)
def test_the_verb_of_a_name_gives_its_kind(name: str, kind: MethodKind) -> None:
    assert method_kind(name) is kind


def method(name: str, type_name: str, *modifiers: str) -> Member:
    return Member(name, MemberKind.METHOD, f"{type_name} {name}()", Span(3, 7, 10, 90), "Says why.", type_name,
                  modifiers=modifiers)  # fmt: skip


def test_the_facts_of_a_method() -> None:
    assert method_facts(method("GetAsync", "Task<Order>", "public", "async")) == MethodFact(
        "GetAsync", "Task<Order> GetAsync()", MethodKind.QUERY, "Says why.", "Task<Order>", 3, 7, True, True
    )


@pytest.mark.parametrize(
    ("made", "declaration", "is_async", "is_public"),
    [
        (method("Get", "Order"), "class", False, False),
        (method("Get", "Order"), "interface", False, True),
        (method("Get", "Order", "private"), "interface", False, False),
        (method("Get", "IAsyncEnumerable<Order>", "public"), "class", True, True),
        (method("Get", "void", "internal", "async"), "class", True, False),
    ],
)
def test_who_may_call_and_who_must_wait(made: Member, declaration: str, is_async: bool, is_public: bool) -> None:
    found = method_facts(made, declaration)
    assert (found.is_async, found.is_public) == (is_async, is_public)
