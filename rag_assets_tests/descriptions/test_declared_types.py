"""The types of a label: found by name, resolved as the compiler does, in any order of files."""

from __future__ import annotations

import pickle
from itertools import permutations

import pytest

from rag_assets.languages.csharp.facts.type_index import IndexedType, TypeIndex, declared_in
from rag_assets_tests.descriptions.samples import segmented

FILES = {
    "src/Domain/Order.cs": "namespace Shop.Domain; public class Order : Entity<int> { public class Line { } }",
    "src/Domain/Entity.cs": "namespace Shop.Domain; public abstract class Entity<T> { }\npublic class Entity { }",
    "src/Web/Order.cs": "namespace Shop.Web; [Table] public record Order(int Id);",
    "src/Data/IRepository.cs": "namespace Shop.Data; interface IRepository<T> { }",
    "src/Data/IOrders.cs": "namespace Shop.Data; interface IOrders : IRepository<int> { }",
    "src/Data/Repository.cs": "namespace Shop.Data; class Repository<T> : Base, global::Shop.Data.IRepository<T> { }",
    "src/Data/A.cs": "namespace Shop.Data; partial class Split : IDisposable { }",
    "src/Data/B.cs": "namespace Shop.Data; partial class Split { }",
    "src/Other/Money.cs": "namespace Foreign.Pay; struct Money { } enum Mode { On } delegate void Done();",
    "web/order.ts": "export interface Order { id: number }",
    "src/Program.cs": 'System.Console.WriteLine("hello"); class Nested { class Deep { } }',
}


def types_of(files: dict[str, str]) -> TypeIndex:
    return TypeIndex(
        found for path, text in files.items() for found in declared_in(path, segmented(text, path).segments)
    )


TYPES = types_of(FILES)


def symbols(found: tuple[IndexedType, ...]) -> list[str]:
    return [entry.symbol for entry in found]


def test_a_declaration_says_what_and_where_it_is() -> None:
    (found,) = [entry for entry in TYPES.named("Order") if entry.path == "src/Web/Order.cs"]
    assert found == IndexedType(
        "Shop.Web.Order", "src/Web/Order.cs", 1, "Order", "record", "Shop.Web", (), ("Table",), "csharp"
    )


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Order", ["Shop.Domain.Order", "Shop.Web.Order"]),
        ("Entity", ["Shop.Domain.Entity", "Shop.Domain.Entity`1"]),
        ("Line", ["Shop.Domain.Order.Line"]),
        ("Deep", ["Nested.Deep"]),
        ("Mode", ["Foreign.Pay.Mode"]),
        ("Done", ["Foreign.Pay.Done"]),
        ("order", []),
        ("Nowhere", []),
        ("", []),
    ],
)
def test_named(name: str, expected: list[str]) -> None:
    assert symbols(TYPES.named(name)) == expected


def test_languages_do_not_mix() -> None:
    assert [entry.path for entry in TYPES.named("Order", "typescript")] == ["web/order.ts"]


@pytest.mark.parametrize(
    ("written", "namespace", "usings", "expected"),
    [
        pytest.param("Order", "Shop.Domain", (), "Shop.Domain.Order", id="same namespace"),
        pytest.param("Order", "Shop.Web.Pages", (), "Shop.Web.Order", id="outer namespace"),
        pytest.param("Order", "Shop.Data", ("Shop.Domain",), "Shop.Domain.Order", id="using"),
        pytest.param("Order", "Shop.Data", ("global Shop.Domain",), "Shop.Domain.Order", id="global using"),
        pytest.param("Order", "Shop.Data", ("Shop.Domain", "Shop.Web"), None, id="two usings: ambiguous"),
        pytest.param("Order", "Shop.Data", (), None, id="two in the label: ambiguous"),
        pytest.param("Shop.Web.Order", "Shop.Data", (), "Shop.Web.Order", id="qualified"),
        pytest.param("Web.Order", "Shop.Data", (), "Shop.Web.Order", id="partly qualified"),
        pytest.param("global::Shop.Web.Order?", "Shop.Domain", (), "Shop.Web.Order", id="global:: and nullable"),
        pytest.param("O", "Shop.Data", ("O = Shop.Web.Order",), "Shop.Web.Order", id="alias of a type"),
        pytest.param("W.Order", "Shop.Data", ("W = Shop.Web",), "Shop.Web.Order", id="alias of a namespace"),
        pytest.param("Entity<Guid>", "Shop.Domain", (), "Shop.Domain.Entity`1", id="arity"),
        pytest.param("Entity", "Shop.Domain", (), "Shop.Domain.Entity", id="no arity"),
        pytest.param("Entity<A, B>", "Shop.Domain", (), None, id="wrong arity"),
        pytest.param("IRepository<Dictionary<int, Order>>", "Shop.Data", (), "Shop.Data.IRepository`1", id="nested <>"),
        pytest.param("IRepository", "Shop.Data", (), "Shop.Data.IRepository`1", id="nameof of a generic type"),
        pytest.param("Line", "Shop.Domain.Order", (), "Shop.Domain.Order.Line", id="nested, from inside"),
        pytest.param("Order.Line", "Shop.Domain", (), "Shop.Domain.Order.Line", id="nested, from outside"),
        pytest.param("Split", "Shop.Data", (), "Shop.Data.Split", id="partial: one type"),
        pytest.param("Repository<int>", "Shop.Web", (), "Shop.Data.Repository`1", id="only one under the root"),
        pytest.param("Money", "Shop.Web", (), None, id="only one, but of another root"),
        pytest.param("Money", "", (), "Foreign.Pay.Money", id="only one, no namespace"),
        pytest.param("Task<Order>", "Shop.Domain", (), None, id="nobody's"),
        pytest.param("", "Shop", (), None, id="empty"),
        pytest.param("<>?[](", "..", ("=", "static ", ""), None, id="garbage"),
    ],
)
def test_resolve(written: str, namespace: str, usings: tuple[str, ...], expected: str | None) -> None:
    found = TYPES.resolve(written, namespace, usings)
    assert (found.symbol if found else None) == expected


def test_implementers_are_types_and_no_interfaces() -> None:
    assert symbols(TYPES.implementers("IRepository")) == ["Shop.Data.Repository`1"]
    assert TYPES.implementers("INobody") == ()


def test_parts_are_in_path_order() -> None:
    assert [entry.path for entry in TYPES.parts("Shop.Data.Split")] == ["src/Data/A.cs", "src/Data/B.cs"]
    assert symbols(TYPES.parts("Shop.Domain.Entity")) == ["Shop.Domain.Entity"]


def test_the_order_of_files_changes_nothing_and_processes_can_share_it() -> None:
    names = list(FILES)[:4]
    answers = {
        repr((made.named("Order"), made.named("Entity"), made.implementers("IRepository"), len(made)))
        for order in permutations(names)
        for made in (types_of({name: FILES[name] for name in order}),)
    }
    assert len(answers) == 1
    copied = pickle.loads(pickle.dumps(TYPES))
    assert copied.named("Order") == TYPES.named("Order")
    assert len(copied) == len(TYPES)


def test_an_empty_label_knows_nothing() -> None:
    nothing = TypeIndex()
    assert (len(nothing), nothing.named("A"), nothing.parts("A"), nothing.resolve("A")) == (0, (), (), None)
