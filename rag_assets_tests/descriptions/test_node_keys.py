"""Graph node keys of descriptions (domain reference §5)."""

from __future__ import annotations

import pytest

from rag_assets.contracts.graph import declaration_key, member_keys
from rag_assets.contracts.segment import Member, MemberKind, Parameter, Span


@pytest.mark.parametrize(
    ("language", "symbol", "declaration", "key"),
    [
        ("csharp", "Shop.Repo`1", "class", "csharp:Shop.Repo`1|TYPE"),
        ("csharp", "Shop.Done", "delegate", "csharp:Shop.Done|TYPE"),
        ("csharp", "Program", "program", "file:a/b.cs|FILE"),
        ("python", "shop.cart", "module", "file:a/b.cs|FILE"),
        ("sql", "dbo.Orders", "table", "dbo.Orders|TABLE"),
        ("sql", "dbo.GetOrders", "procedure", "dbo.GetOrders|PROC"),
        ("sql", "db/x.sql", "script", "file:a/b.cs|FILE"),
        ("json", "appsettings.json", "config", "file:a/b.cs|FILE"),
    ],
)
def test_the_node_of_a_segment(language: str, symbol: str, declaration: str, key: str) -> None:
    assert declaration_key(language, symbol, declaration, "a/b.cs") == key


PARAMETERS = (Parameter("a", "Dictionary<string, int>"), Parameter("b", "int?"))


@pytest.mark.parametrize(
    ("language", "kind", "keys"),
    [
        ("csharp", MemberKind.METHOD, ("csharp:A.M(Dictionary<string,int>,int?)|METHOD",)),
        ("csharp", MemberKind.CONSTRUCTOR, ("csharp:A.M(Dictionary<string,int>,int?)|METHOD",)),
        ("python", MemberKind.FUNCTION, ("python:A.M|METHOD",)),
        ("csharp", MemberKind.PROPERTY, ("csharp:A.M|PROPERTY",)),
        ("csharp", MemberKind.FIELD, ("csharp:A.M|PROPERTY",)),
        ("csharp", MemberKind.TYPE, ("csharp:A.M|TYPE",)),
        ("csharp", MemberKind.ENUM_VALUE, ()),
        ("csharp", MemberKind.STATEMENTS, ()),
    ],
)
def test_the_node_of_a_member(language: str, kind: MemberKind, keys: tuple[str, ...]) -> None:
    member = Member(name="M", kind=kind, signature="", span=Span(1, 1, 0, 1), parameters=PARAMETERS)
    assert member_keys(language, "A", member) == keys
