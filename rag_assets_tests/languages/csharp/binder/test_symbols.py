"""What written names mean at a place, and which members a type has."""

from __future__ import annotations

import pickle

import msgspec
import pytest

from rag_assets.dependency_trace import digest_of, replay_lookups, trace
from rag_assets.languages.csharp.binder import type_table
from rag_assets.languages.csharp.binder.declarations import CSharpDeclarations, LabelType, declared_in, types_of
from rag_assets.languages.csharp.binder.label_symbols import NamePosition
from rag_assets_tests.languages.csharp.binder.labels import file_of, symbols_of

FILES = {
    "src/a.cs": "namespace A; public class Order { public class Line {} } "
    "public class Repo<T> { public T Get() => default; }",
    "src/b.cs": "using A; using static A.Order; using R = A.Repo<A.Order>; namespace B.C; class Sub : Repo<Order> {}",
    "src/c.cs": "namespace B { class Order {} } namespace B.D { class X {} }",
}


@pytest.mark.rule("D19")
@pytest.mark.parametrize(
    ("written", "place", "meant"),
    [
        pytest.param("Order", NamePosition("src/b.cs", "A"), "A.Order", id="own namespace"),
        pytest.param("Order", NamePosition("src/c.cs", "B.D.X"), "B.Order", id="namespace around"),
        pytest.param("A.Order", NamePosition("src/c.cs", "B.D.X"), "A.Order", id="qualified"),
        pytest.param("global::A.Order?", NamePosition("src/c.cs", "B.D"), "A.Order", id="global, nullable"),
        pytest.param("Order.Line", NamePosition("src/b.cs", "A"), "A.Order.Line", id="nested"),
        pytest.param("Line", NamePosition("src/b.cs", "B.C.Sub"), "A.Order.Line", id="using static"),
        pytest.param("Line", NamePosition("src/a.cs", "A.Order"), "A.Order.Line", id="inside of the type"),
        pytest.param("Repo<int>", NamePosition("src/b.cs", "B.C.Sub"), "A.Repo`1", id="generic"),
        pytest.param("R", NamePosition("src/b.cs", "B.C.Sub"), "A.Repo`1", id="alias"),
        pytest.param("Repo<,>", NamePosition("src/b.cs", "B.C.Sub"), None, id="another arity"),
        pytest.param("Order[]", NamePosition("src/a.cs", "A"), None, id="array"),
        pytest.param("Order", NamePosition("src/a.cs", "A", ("Order",)), None, id="type parameter"),
        pytest.param("Order", NamePosition("src/b.cs", "B.C.Sub"), "B.Order", id="namespace around before using"),
        pytest.param("Missing", NamePosition("src/a.cs", "A"), None, id="unknown"),
        pytest.param("", NamePosition("src/a.cs", "A"), None, id="nothing"),
        pytest.param("<<<", NamePosition("", ""), None, id="no type"),
    ],
)
def test_names_are_looked_up_as_the_compiler_does(written: str, place: NamePosition, meant: str | None) -> None:
    found = symbols_of(FILES).resolve_type(written, place)
    assert (found.symbol if found else None) == meant


def test_members_of_a_generic_base_have_its_arguments() -> None:
    symbols = symbols_of({**FILES, "src/c.cs": ""})
    (found,) = symbols.find_members("B.C.Sub", "Get")
    assert found.key == "csharp:A.Repo`1.Get()|METHOD"
    assert (found.type.name, found.type.declared) == ("A.Order", True)


def test_the_own_project_is_preferred_then_the_nearest_that_it_refers_to() -> None:
    files = {
        "a/a.csproj": '<Project><ItemGroup><ProjectReference Include="..\\b\\b.csproj"/></ItemGroup></Project>',
        "b/b.csproj": '<Project><ItemGroup><ProjectReference Include="..\\c\\c.csproj"/></ItemGroup></Project>',
        "c/c.csproj": "<Project/>",
        "a/x.cs": "namespace N; class X {}",
        "b/t.cs": "namespace N; class T { public void InB() {} }",
        "c/t.cs": "namespace N; class T { public void InC() {} }",
        "d/d.csproj": "<Project/>",
        "d/t.cs": "namespace N; class T { public void InD() {} }",
    }
    symbols = symbols_of(files)

    def has(path: str) -> str:
        found = symbols.resolve_type("T", NamePosition(path, "N"))
        assert found is not None
        return next(name for name in ("InB", "InC", "InD") if symbols.members(found.id, name))

    assert [has(path) for path in ("a/x.cs", "b/t.cs", "c/t.cs", "d/t.cs")] == ["InB", "InB", "InC", "InD"]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        pytest.param("GlobalUsings.cs", "global using A;", id="a file"),
        pytest.param("p.csproj", '<Project><ItemGroup><Using Include="A" /></ItemGroup></Project>', id="the project"),
        pytest.param(
            "Directory.Build.props",
            '<Project><ItemGroup><Using Include="A"/></ItemGroup></Project>',
            id="shared properties",
        ),
    ],
)
def test_global_usings_come_from(path: str, text: str) -> None:
    files = {"p.csproj": "<Project/>", "a.cs": "namespace A; class T {}", "b.cs": "namespace B; class X {}", path: text}
    assert symbols_of(files).resolve_type("T", NamePosition("b.cs", "B.X")) is not None


def test_a_using_inside_of_a_namespace_may_be_relative_to_it() -> None:
    files = {"a.cs": "namespace M.Tools; class T {}", "b.cs": "namespace M.B { using Tools; class X : T {} }"}
    assert symbols_of(files).resolve_type("T", NamePosition("b.cs", "M.B.X")) is not None


def test_parts_of_a_type_are_one() -> None:
    symbols = symbols_of(
        {"a.cs": "namespace N; partial class T { int A; }", "b.cs": "namespace N; partial class T { int B; }"}
    )
    assert [len(symbols.find_members("N.T", name)) for name in ("A", "B", "C")] == [1, 1, 0]


@pytest.mark.parametrize(
    "code",
    [
        pytest.param("class A : B {} class B : A {}", id="two classes"),
        pytest.param("class A : A {}", id="itself"),
        pytest.param("interface A : B, C {} interface B : A {} interface C : B, A {}", id="interfaces"),
        pytest.param("class A<T> : A<A<T>> { void F() {} }", id="growing arguments"),
        pytest.param("class A : A.B { class B : A {} }", id="nested"),
    ],
)
def test_cyclic_bases_end(code: str) -> None:
    symbols = symbols_of({"a.cs": code})
    assert symbols.find_members("A", "Missing") == ()
    assert isinstance(symbols.interfaces("A"), tuple)


def test_order_of_declarations_does_not_matter_and_symbols_are_picklable() -> None:
    one, other = symbols_of(FILES), symbols_of(dict(reversed(FILES.items())))
    other = pickle.loads(pickle.dumps(other))
    place = NamePosition("src/b.cs", "B.C.Sub")
    assert one.bind("R", place) == other.bind("R", place)
    assert one.find_members("B.C.Sub", "Get") == other.find_members("B.C.Sub", "Get")


def test_declarations_survive_storage() -> None:
    declared = declared_in([file_of(path, text) for path, text in FILES.items()])
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(declared), type=CSharpDeclarations) == declared


def test_members_of_a_label_are_those_of_the_files() -> None:
    for path, text in FILES.items():
        file = file_of(path, text)
        kept = {known.symbol: known for known in declared_in([file]).types}
        for written in types_of(path, file.segments):
            assert kept[written.symbol].members == written.members
            assert kept[written.symbol] == LabelType.of(written)


def test_what_is_forgotten_is_found_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def asked() -> list[object]:
        symbols = symbols_of(FILES)
        place = NamePosition("src/b.cs", "B.C.Sub")
        return [
            (symbols.bind(written, place), symbols.find_members("B.C.Sub", name), symbols.interfaces("B.C.Sub"))
            for _ in range(3)
            for written in ("R", "Repo<Order>", "Order")
            for name in ("Get", "Missing", "Total")
        ]

    before = asked()
    monkeypatch.setattr(type_table, "MOST", 2)
    assert asked() == before


def test_each_object_remembers_its_own_last_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type_table, "MOST", 2)
    asked: list[tuple[int, int]] = []

    class Doubled:
        def __init__(self, factor: int) -> None:
            self.factor = factor

        @type_table.remembered
        def of(self, number: int) -> int:
            asked.append((self.factor, number))
            return self.factor * number

    two, three = Doubled(2), Doubled(3)
    assert [two.of(number) for number in (1, 2, 1, 3, 1, 2)] == [2, 4, 2, 6, 2, 4]
    assert (three.of(1), three.of(1)) == (3, 3)
    assert asked == [(2, 1), (2, 2), (2, 3), (2, 2), (3, 1)]


def test_answers_are_recorded_and_stay_equal_when_something_else_changes() -> None:
    place = NamePosition("src/b.cs", "B.C.Sub")
    with trace() as asked:
        symbols_of(FILES).bind("Repo<Order>", place)
        symbols_of(FILES).find_members("B.C.Sub", "Get")
    before = digest_of(asked)
    moved = FILES | {"src/a.cs": "\n\n" + FILES["src/a.cs"], "new.cs": "namespace Z; class Z {}"}
    assert digest_of(replay_lookups([symbols_of(moved)], asked)) == before
    changed = FILES | {"src/a.cs": FILES["src/a.cs"].replace("public T Get", "public int Get")}
    assert digest_of(replay_lookups([symbols_of(changed)], asked)) != before


def test_only_member_names_what_is_unique() -> None:
    code = "interface I { void F(); } class A : I { public void F() {} void G() {} } class B { void G() {} }"
    symbols = symbols_of({"a.cs": code})
    only = symbols.only_member("F")
    assert only is not None
    assert only.key == "csharp:I.F()|METHOD"
    assert symbols.only_member("G") is None
