"""Type expressions as facts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.languages.csharp.facts.type_names import (
    TypeName,
    element_type,
    is_collection,
    is_scalar,
    parse_type,
    unwrapped,
)


def test_a_type_is_its_name_its_arguments_and_what_may_be_null() -> None:
    assert parse_type("IReadOnlyList<Order?>?") == TypeName(
        "IReadOnlyList", (TypeName("Order", nullable=True),), nullable=True
    )
    assert parse_type("System.Collections.Generic.List<int>") == TypeName(
        "List", (TypeName("int"),), qualifier="System.Collections.Generic"
    )
    assert parse_type("int[,]") == TypeName("Array", (TypeName("int"),), array_rank=2)
    assert parse_type("Outer<int>.Inner") == TypeName("Inner", qualifier="Outer")


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("global::System.DateTime ?", "DateTime?"),
        ("Dictionary<string,List<Order[]>>", "Dictionary<string, List<Order[]>>"),
        ("(int a, List<string> names)?", "(int, List<string>)?"),
        ("string?[]?", "string?[]?"),
        ("ref readonly Span<byte>", "Span<byte>"),
        ("Func<in T, out R>", "Func<T, R>"),
        ("Nullable<int>", "int?"),
        ("int*", "int"),
        ("@event", "event"),
        ("list[Order]", "list<Order>"),
        ("Optional[dict[str, Order]]", "dict<str, Order>?"),
        ("Order | null", "Order?"),
        ("Cart | Order", "Cart | Order"),
        ("Promise<Array<Order | undefined>>", "Promise<Array<Order?>>"),
        ("[]Order", "Order[]"),
    ],
)
def test_every_spelling_has_one_form(text: str, written: str) -> None:
    assert str(parse_type(text)) == written


@pytest.mark.parametrize(
    ("text", "collection", "element"),
    [
        ("List<Order>", True, "Order"),
        ("Order[]", True, "Order"),
        ("Order[][]", True, "Order"),
        ("IReadOnlyDictionary<string, List<Order>>", True, "Order"),
        ("Task<ActionResult<IEnumerable<Order>>>", True, "Order"),
        ("IList", True, "IList"),
        ("Order?", False, "Order?"),
        ("Task<Order>", False, "Order"),
        ("Lazy<Order>?", False, "Order?"),
        ("byte[]", False, "byte[]"),
        ("ReadOnlyMemory<byte>?", False, "ReadOnlyMemory<byte>?"),
        ("string", False, "string"),
        ("PagedResult<Order>", False, "PagedResult<Order>"),
        ("(Order, Customer)", False, "(Order, Customer)"),
    ],
)
def test_collections_hold_elements(text: str, collection: bool, element: str) -> None:
    found = parse_type(text)
    assert (is_collection(found), str(element_type(found))) == (collection, element)


@pytest.mark.parametrize(
    ("text", "scalar"),
    [
        ("int?", True),
        ("System.Guid", True),
        ("byte[]", True),
        ("Task<string>", True),
        ("Order", False),
        ("List<int>", False),
        ("", False),
    ],
)
def test_scalars_are_plain_values(text: str, scalar: bool) -> None:
    assert is_scalar(parse_type(text)) is scalar


def test_null_survives_unwrapping() -> None:
    assert unwrapped(parse_type("Task<Order>?")) == TypeName("Order", nullable=True)
    assert unwrapped(parse_type("Task")) == TypeName("Task")


@pytest.mark.parametrize(
    "text",
    ["", "  ", "<<<<", "List<", "List<Order", "((((", "a<b<c<d", " ]]", "{ a: string }[]", "() => void", "&'a str"],
)
def test_broken_types_are_no_error(text: str) -> None:
    assert isinstance(parse_type(text).name, str)


def test_deep_and_long_text_ends() -> None:
    assert parse_type("List<" * 400).name == "List"
    assert parse_type("(" * 1_900).name == "ValueTuple"
    assert parse_type("A" * 3_000).name == ""


@given(st.text("aT<>[](),.?:|*& @$}{\"'", max_size=60))
def test_any_text_has_a_type(text: str) -> None:
    found = parse_type(text)
    assert parse_type(text) == found
    assert isinstance(str(element_type(found)), str)
    assert is_collection(found) in (True, False)
