"""How what other tools write is found again among the declarations of a label."""

from __future__ import annotations

import pytest

from rag_assets.contracts.graph import NodeType
from rag_assets.graph.imports.key_parser import displayed_member, key_parts, type_shape
from rag_assets_tests.graph.imports.bundles import known, known_node

PATHS = ["src/Shop/Cart.cs", "src/Shop.Tests/Cart.cs", "db/Tables/Orders.sql", "README.md"]


@pytest.mark.parametrize(
    ("written", "root", "path"),
    [
        ("src/Shop/Cart.cs", "", "src/Shop/Cart.cs"),
        (r"src\Shop\Cart.cs", "", "src/Shop/Cart.cs"),
        ("./src/x/../Shop/Cart.cs", "", "src/Shop/Cart.cs"),
        (r"D:\Work\Repo\src\Shop\Cart.cs", r"D:\Work\Repo", "src/Shop/Cart.cs"),
        (r"d:\work\repo\src\Shop\Cart.cs", "D:/Work/Repo/", "src/Shop/Cart.cs"),
        ("/home/ci/repo/src/Shop/Cart.cs", "", "src/Shop/Cart.cs"),
        ("file:///home/ci/my%20repo/src/Shop/Cart.cs", "", "src/Shop/Cart.cs"),
        ("file:///C:/ci/src/Shop/Cart.cs", "file:///C:/ci", "src/Shop/Cart.cs"),
        ("SRC/shop/CART.cs", "", "src/Shop/Cart.cs"),
        ("Tables/Orders.sql", "", "db/Tables/Orders.sql"),
        ("../other/Tables/Orders.sql", "", None),
        ("../Tables/Orders.sql", "", "db/Tables/Orders.sql"),
        ("Cart.cs", "", None),  # two files end like that
        ("rders.sql", "", None),
        ("/home/README.md", "", "README.md"),
        ("/etc/passwd", "", None),
        ("", "", None),
        (".", "", None),
    ],
)
def test_paths_of_other_machines(written: str, root: str, path: str | None) -> None:
    assert known(paths=PATHS).path_of(written, root) == path


@pytest.mark.parametrize(
    ("written", "path"), [("a/b.cs", "a/b.cs"), ("../b.cs", None), ("/x/b.cs", None), ("C:/x/b.cs", None)]
)
def test_where_no_path_is_known_relative_ones_are_taken(written: str, path: str | None) -> None:
    assert known().path_of(written) == path


@pytest.mark.parametrize(
    ("schema", "name", "kind", "key"),
    [
        ("sales", "orders", NodeType.TABLE, "Sales.Orders|TABLE"),
        ("dbo", "orders", NodeType.TABLE_OR_VIEW, "Sales.Orders|TABLE"),  # the only one of that name
        ("other", "orders", NodeType.TABLE, None),
        ("dbo", "Open", NodeType.TABLE, "dbo.Open|VIEW"),
        ("dbo", "Twice", NodeType.TABLE, None),
        ("a", "Twice", None, "a.Twice|TABLE"),
        ("dbo", "Orders", NodeType.PROC, None),
    ],
)
def test_database_objects(schema: str, name: str, kind: NodeType | None, key: str | None) -> None:
    keys = ["Sales.Orders|TABLE", "dbo.Open|VIEW", "a.Twice|TABLE", "b.Twice|TABLE"]
    assert known(map(known_node, keys)).database_object(schema, name, kind) == key


def test_the_smallest_declaration_around_a_line() -> None:
    outer, inner = "csharp:N.Cart|TYPE", "csharp:N.Cart.Cart|TYPE"
    found = known([known_node(outer, "a.cs", (1, 9)), known_node(inner, "a.cs", (3, 5))])
    assert [found.at("a.cs", line, "Cart", NodeType.TYPE) for line in (1, 4, 9, 10)] == [outer, inner, outer, None]


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("csharp:N.Cart`1.Add(List<A,B>,int)|METHOD", ("csharp", "N.Cart`1", "Add", ("List<A,B>", "int"), "METHOD")),
        ("csharp:N.Cart`1|TYPE", ("csharp", "N", "Cart", None, "TYPE")),
        ("csharp:M()|METHOD", ("csharp", "", "M", (), "METHOD")),
        ("typescript:src/cart.f|METHOD", ("typescript", "src/cart", "f", None, "METHOD")),
        ("dbo.a|b|TABLE", ("", "dbo", "a|b", None, "TABLE")),
        ("nonsense", None),
        ("x|GADGET", None),
    ],
)
def test_keys_taken_apart(key: str, expected: tuple[object, ...] | None) -> None:
    parts = key_parts(key)
    found = parts and (parts.language, parts.owner, parts.name, parts.parameters, parts.kind.value)
    assert found == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("System.Int32", "int"),
        ("global::System.Collections.Generic.List<System.String?>", "List<string>"),
        ("ref readonly A.B.C", "C"),
        ("(int a,  string b)", "(int a,string b)"),
        ("T[ , ]", "T[,]"),
    ],
)
def test_types_written_in_two_ways(one: str, other: str) -> None:
    assert type_shape(one) == type_shape(other)


@pytest.mark.parametrize(
    ("display", "owner", "parameters"),
    [
        ("void Cart.Clear()", "Cart", ()),
        ("Task<(int a, string b)> Cart<T, U>.Line.Find<V>(Func<int, V> by, [bool all = true]) where V : new()",
         "Cart`2.Line", ("Func<int, V>", "bool")),
        ("Cart<T>.Cart(ref int count, params string[] names)", "Cart`1", ("int", "string[]")),
        ("int Cart.Count", "Cart", None),
        ("Cart Cart.operator +(Cart one, Cart other)", "Cart", ("Cart", "Cart")),
        ("", "", None),
        ("nothing", "", None),
        (")(", "", None),
    ],
    ids=["plain", "generic", "constructor", "property", "operator", "empty", "word", "damage"],
)  # fmt: skip
def test_displayed_signatures(display: str, owner: str, parameters: tuple[str, ...] | None) -> None:
    assert displayed_member(display) == (owner, parameters)
