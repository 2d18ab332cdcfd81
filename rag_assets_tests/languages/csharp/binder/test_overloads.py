"""Which of several methods of one name a call means, by the rules of the language."""

from __future__ import annotations

import pytest

from rag_assets.contracts.graph import Confidence
from rag_assets.graph.extract.csharp import extract_csharp
from rag_assets_tests.effort import lines_run
from rag_assets_tests.languages.csharp.binder.labels import edges_in, edges_of, file_of, short, symbols_of, targets

CALL = """class Base {} class Mid : Base {} class C : Mid { int x; Expression<Func<int, string>> made;
  Task G(int a) => null; Task<string> H() => null; void V(int a) {} int I(int a) => 1;
  async void M(T t, long? n) { t.%s; } }"""
T = """class T {
  public void Group(Action<int> a) {} public void Group(Func<int, int> f) {}
  public void Tasks(Func<int, Task> f) {} public void Tasks(Func<int, int, Task> f) {}
  public void Run(Func<ValueTask> f) {} public void Run<R>(Func<ValueTask<R>> f) {}
  public void Wait(Func<int, Task> f) {} public void Wait<R>(Func<int, Task<R>> f) {}
  public void Do(Action<int> f) {} public void Do<R>(Func<int, R> f) {}
  public void Event(Func<Order> f) {} public void Event<R>(Func<Order<R>> f) {}
  public void Of(int a) {} public void Of<R>(int b) {}
  public void Num(string s) {} public void Num(decimal d) {} public void Num(DateTime d) {} public void Num(int i) {}
  public void Visit(Base a) {} public void Visit(Mid a) {}
  public void Made<A>(Expression<Func<A>> f) {} public void Made<A, B>(Expression<Func<A, B>> f) {}
  public void List(string[] a) {} public void List<R>(R[] a) {} public void List<R>(long? b, R c) {}
  public void List(long? b, int c) {}
  public void Text(string a) {} public void Text(Exception b) {}
}
class Order { public static Order Plain; public static Order<int> Other; } class Order<R> {}"""


@pytest.mark.rule("D19")
@pytest.mark.parametrize(
    ("call", "called"),
    [
        pytest.param("Group(V)", "T.Group(Action<int>)", id="method group without result"),
        pytest.param("Group(I)", "T.Group(Func<int,int>)", id="method group with result"),
        pytest.param("Group(this.I)", "T.Group(Func<int,int>)", id="method group of this"),
        pytest.param("Tasks(G)", "T.Tasks(Func<int,Task>)", id="method group by the number of parameters"),
        pytest.param("Run(() => new ValueTask<string>(s))", "T.Run(Func<ValueTask<R>>)", id="lambda with a task of"),
        pytest.param("Run(() => new ValueTask(s))", "T.Run(Func<ValueTask>)", id="lambda with a task"),
        pytest.param("Wait(x => H())", "T.Wait(Func<int,Task<R>>)", id="lambda with a call"),
        pytest.param("Wait(x => G(x))", "T.Wait(Func<int,Task>)", id="lambda with a call of a plain task"),
        pytest.param("Wait(async x => await H())", "T.Wait(Func<int,Task<R>>)", id="async lambda with a value"),
        pytest.param("Wait(async x => await G(x))", "T.Wait(Func<int,Task>)", id="async lambda without one"),
        pytest.param("Do(x => I(x))", "T.Do(Func<int,R>)", id="the overload that takes the value is better"),
        pytest.param("Do(x => V(x))", "T.Do(Action<int>)", id="no value"),
        pytest.param("Event(() => Order.Plain)", "T.Event(Func<Order>)", id="lambda with a property"),
        pytest.param("Event(() => Order.Other)", "T.Event(Func<Order<R>>)", id="lambda with a generic one"),
        pytest.param("Of(1)", "T.Of(int)", id="a type parameter that nothing tells"),
        pytest.param("Num(decimal.MaxValue)", "T.Num(decimal)", id="constant of a value type"),
        pytest.param("Num(default(DateTime))", "T.Num(DateTime)", id="default of a type"),
        pytest.param("Num(Convert.ToDateTime(n))", "T.Num(DateTime)", id="result in the name of a method"),
        pytest.param("Num(Unknown.GetString())", "T.Num(string)", id="result in the name of an unknown method"),
        pytest.param('List("a".Split(x))', "T.List(string[])", id="a plain overload is better than a generic one"),
        pytest.param("List(n, x)", "T.List(long?,int)", id="a generic one that fits as well"),
        pytest.param("Visit(this)", "T.Visit(Mid)", id="the more special of two bases"),
        pytest.param("Made(made)", "T.Made(Expression<Func<A,B>>)", id="arguments of arguments"),
        pytest.param('Text("a")', "T.Text(string)", id="text is no exception"),
    ],
)
def test_an_overload_is_proven_by_its_arguments(call: str, called: str) -> None:
    code = {"a.cs": f"namespace N;\n{CALL % call}", "t.cs": f"namespace N;\n{T}"}
    calls = {(short(edge.target), edge.confidence) for edge in edges_in(code, "Calls")}
    told = {call for call in calls if call[0].startswith("N.T.")}
    assert told == {(f"N.{called}", Confidence.RESOLVED)}


def test_a_lambda_that_was_read_to_decide_is_read_once_and_tells_type_parameters() -> None:
    code = """class C { void M(T t) { t.Do(x => x.Make()).Ship(); } }
    class T { public void Do(Action<A> f) {} public R Do<R>(Func<A, R> f) => default; }
    class A { public B Make() => null; } class B { public void Ship() {} }"""
    assert targets(code) == {"T.Do(Func<A,R>)", "A.Make()", "B.Ship()"}


@pytest.mark.parametrize(
    ("code", "called"),
    [
        pytest.param(
            "class C : B { void M() { F(1); } } class B { private void F(int a) {} internal void F(long a) {} }",
            {"B.F(long)"},
            id="private method of the base",
        ),
        pytest.param(
            "class B { private void F(int a) {} internal void F(long a) {} class C { void M(B b) { b.F(1); } } }",
            {"B.F(int)"},
            id="private method of the type around",
        ),
        pytest.param(
            "class C { void M(Order o) { o.F(); } } class Order {} static class E { static void F(this Order o) {} }",
            set(),
            id="private extension method",
        ),
        pytest.param(
            "class C { void M(ValueTask t) { t.Use(); } } "
            "static class E { public static void Use(this CancellationToken c) {} }",
            set(),
            id="extension method of a sealed value",
        ),
        pytest.param(
            "class C { void M(Order[] o) { o.Pick(x => 1); } } class Order {} "
            "static class E { public static void Pick<A>(this Task<A> t, Func<A, int> f) {} }",
            set(),
            id="an array is no task",
        ),
        pytest.param(
            "class C { void M(I i) { i.Use(); } } class A {} class A<X> : A {} class P<X> {} class I : P<A> {} "
            "static class E { public static void Use<X>(this P<A<X>> p) {} public static void Use<X>(this P<X> p) {} }",
            {"E.Use(P<X>)"},
            id="arguments that do not tell the type parameter",
        ),
        pytest.param(
            "class C { void M(object o, T t) { switch (o) { case int a: Out(out string s); break; "
            "case long b: t.F(s); break; } } void Out(out string s) { s = null; } } "
            "class T { public void F(int i) {} public void F(string s) {} }",
            {"C.Out(string)", "T.F(string)"},
            id="sections of a switch share their names",
        ),
        pytest.param(
            "class C { void M(C a, C b) { Equals(a, b); } public bool Equals(C other) => true; }",
            set(),
            id="method of object",
        ),
        pytest.param(
            "class C { void M(List<Tuple<int, Order>> a) { a.ForEach(x => x.Item2.F()); } } "
            "class Order { public bool F() => true; }",
            {"Order.F()"},
            id="element of a tuple class",
        ),
        pytest.param(
            "class C { void M(List<Order> a, List<Line> b) { a.Zip(b).All(p => p.First.F() && p.Second.G()); } } "
            "class Order { public bool F() => true; } class Line { public bool G() => true; }",
            {"Order.F()", "Line.G()"},
            id="zipped sequences",
        ),
    ],
)
def test_what_cannot_be_meant_is_no_candidate(code: str, called: set[str]) -> None:
    edges = edges_of({"a.cs": f"namespace N;\n{code}"}, "Calls")
    assert {target.replace("N.", "") for source, _, target in edges if "C.M(" in source} == called


def test_an_internal_extension_method_is_not_seen_from_projects_that_do_not_refer_to_its_own() -> None:
    files = {
        "a/a.csproj": '<Project Sdk="Microsoft.NET.Sdk"/>',
        "a/e.cs": "namespace N; static class E { internal static void Use(this Stream s) {} }",
        "a/own.cs": "namespace N; class Own { void M(Stream s) { s.Use(); } }",
        "b/b.csproj": '<Project Sdk="Microsoft.NET.Sdk"/>',
        "b/c.cs": "namespace N; class C { void M(Stream s) { s.Use(); } }",
    }
    assert edges_of(files, "Calls") == {("N.Own.M(Stream)", "Calls", "N.E.Use(Stream)")}


def test_a_telling_name_is_not_enough_for_a_type_that_the_project_does_not_see() -> None:
    files = {
        "a/a.csproj": '<Project Sdk="Microsoft.NET.Sdk"/>',
        "a/e.cs": "namespace N; class Order { public void ReleaseHeldLines() {} }",
        "b/b.csproj": '<Project><ItemGroup><ProjectReference Include="../a/a.csproj"/></ItemGroup></Project>',
        "b/c.cs": "namespace N; class C { void M() { Library.Make().ReleaseHeldLines(); } }",
    }
    assert edges_of(files, "Calls") == {("N.C.M()", "Calls", "N.Order.ReleaseHeldLines()")}
    assert edges_of({**files, "b/b.csproj": "<Project/>"}, "Calls") == set()


@pytest.mark.parametrize("receiver", ["Url", "User"], ids=["no type of the name", "a type of the name"])
def test_a_property_that_a_library_base_may_have_receives_extension_methods(receiver: str) -> None:
    code = f"class C : Controller {{ void M() {{ {receiver}.OrderPageLink(1); }} }} class User {{}} "
    code += "static class E { public static string OrderPageLink(this IUrlHelper u, int id) => null; }"
    assert targets(code) == {"E.OrderPageLink(IUrlHelper,int)"}
    assert targets(code.replace(" : Controller", "")) == set()


@pytest.mark.parametrize(
    ("name", "receives", "is_called"),
    [
        pytest.param("StartsWith", "Order", False, id="usual name, type of the label"),
        pytest.param("ReleaseHeldOrders", "Order", True, id="telling name, type of the label"),
        pytest.param("GetHarness", "IServiceProvider", True, id="type of a library"),
        pytest.param("PostAsync", "TestServer", False, id="usual name, type of a library"),
        pytest.param("Count", "IEnumerable<int>", False, id="usual name, usual type"),
    ],
)
def test_an_unknown_receiver_needs_a_name_or_type_that_tells(name: str, receives: str, is_called: bool) -> None:
    code = f"class C {{ void M() {{ var x = Library.Make(); x.{name}(); }} }} class Order {{}} "
    code += f"static class E {{ public static void {name}(this {receives} o) {{}} }}"
    assert (targets(code) != set()) is is_called


@pytest.mark.parametrize(
    "argument", ["new T{}()", "Unknown.X", '"a"'], ids=["of the very type", "unknown", "of another type"]
)
def test_the_work_for_many_overloads_grows_with_overloads_times_calls(argument: str) -> None:
    def work(count: int) -> int:
        numbers = range(count)
        types = "".join(f"class T{number} {{}} " for number in numbers)
        methods = "".join(f"void F(T{number} a) {{}} " for number in numbers)
        calls = "".join(f"F({argument.format(number)}); " for number in numbers)
        files = {"a.cs": f"namespace N; {types} class C {{ {methods} void M() {{ {calls} }} }}"}
        file, symbols = file_of("a.cs", files["a.cs"]), symbols_of(files)
        return lines_run(lambda: list(extract_csharp(file, symbols)))

    assert work(60) < 5 * work(30)  # four times; with overloads compared pairwise it is seven


def test_the_overload_with_the_very_types_of_the_arguments_is_resolved() -> None:
    code = "class T { public void F(T a, object b) {} public void F(T a, C b) {} public void F<A>(T a, A b) {} }"
    assert targets(f"class C {{ void M(T t) {{ t.F(t, this); }} }} {code}") == {"T.F(T,C)"}
