"""Stack traces and error messages as people paste them."""

from __future__ import annotations

import pytest

from rag_assets.search import CodePlace, QuestionKind
from rag_assets.search.query_parser import understand
from rag_assets.search.stack_traces import read_trace, written_name

TRACE = """Unhandled exception. System.InvalidOperationException: Limit exceeded: "kind:x"
 ---> Shop.Errors.OrderException: inner one
   at Shop.Orders.OrderService.<RefundAsync>d__5.MoveNext() in C:\\src\\Orders\\OrderService.cs:line 42
--- End of stack trace from previous location ---
   at System.Runtime.ExceptionServices.ExceptionDispatchInfo.Throw()
   at Shop.Repo`1.<>c__DisplayClass3_0.<Run>b__0(String x) in /build/src/Repo.cs:line 7
   at Shop.Program.Main(String[] args)
"""


def test_a_trace_is_its_messages_its_own_frames_and_their_places() -> None:
    found = understand(TRACE)
    assert found.kind is QuestionKind.ERROR
    assert found.symbols == ("OrderService.RefundAsync", "Repo.Run", "Program.Main")
    assert found.places == (CodePlace("src/Orders/OrderService.cs", 42), CodePlace("/build/src/Repo.cs", 7))
    assert found.text.startswith('InvalidOperationException Limit exceeded: "kind:x" OrderException inner one')
    assert "ExceptionDispatchInfo" not in found.text


def test_nothing_in_a_trace_is_a_filter_or_a_phrase() -> None:
    found = understand(TRACE)
    assert not found.phrases
    assert not found.wanted.kinds


def test_frames_of_libraries_are_used_where_there_are_no_others() -> None:
    found = read_trace("   at System.Linq.Enumerable.First[T](IEnumerable`1 source)")
    assert found is not None
    assert found.symbols == ("Enumerable.First",)


@pytest.mark.parametrize(
    ("method", "name"),
    [
        ("Shop.Orders.OrderService.Cancel", "OrderService.Cancel"),
        ("Shop.Outer+Inner.Run", "Inner.Run"),
        ("Shop.Util.Map[T]", "Util.Map"),
        ("Shop.Repo`1.Save", "Repo.Save"),
        ("Shop.Program..ctor", "Program"),
        ("Shop.Jobs.<RunAsync>d__7.MoveNext", "Jobs.RunAsync"),
        ("Shop.Jobs.<RunAsync>d__7`1.MoveNext", "Jobs.RunAsync"),
        ("Shop.Jobs.<>c.<Run>b__1_0", "Jobs.Run"),
        ("Shop.Jobs.<Run>g__Local|3_0", "Jobs.Run"),
        ("Program.<Main>$", "Program.Main"),
        ("Program.<<Main>$>g__Local|0_1", "Program.Main"),
    ],
)
def test_names_are_those_the_author_wrote(method: str, name: str) -> None:
    assert written_name(method) == name


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("src/A.cs(12,5): error CS0246: no 'B' [src/A.csproj]", (CodePlace("src/A.cs", 12),)),
        ("C:\\w\\A.cs(3): warning CA1822: mark it static", (CodePlace("w/A.cs", 3),)),
        ("   bei Shop.A.B() in D:\\a\\A.cs:Zeile 9.\n", ()),
        ("   bei Shop.A.B() in D:\\a\\A.cs:Zeile 9\n", (CodePlace("a/A.cs", 9),)),
        ("   à Shop.A.B() dans D:\\a\\A.cs:ligne 9\n", (CodePlace("a/A.cs", 9),)),
    ],
    ids=["compiler", "warning", "no frame", "German", "French"],
)
def test_places_are_read_in_the_forms_of_the_tools(text: str, places: tuple[CodePlace, ...]) -> None:
    found = read_trace(text)
    assert (found.places if found else ()) == places


PYTHON = """Traceback (most recent call last):
  File "/opt/shop/web/views.py", line 7, in post
    order.pay()
  File "/opt/shop/orders/models.py", line 42, in pay
    raise self.DoesNotExist("no order")
  File "/usr/lib/python3.12/site-packages/django/db/models.py", line 9, in get
    raise error
orders.models.DoesNotExist: no order "12"
"""
SCRIPT = """TypeError: order is undefined
    at async OrderService.pay (file:///app/src/orders/order.service.ts:42:13)
    at /app/src/main.ts:7:3
    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)
"""
JVM = """java.lang.IllegalStateException: no order
\tat java.base/java.util.List.get(List.java:3)
\tat com.acme.OrderService.pay(OrderService.java:42) ~[shop.jar:?]
"""


@pytest.mark.parametrize(
    ("text", "said", "places"),
    [
        (PYTHON, 'DoesNotExist no order "12" pay post', ("/opt/shop/orders/models.py:42", "/opt/shop/web/views.py:7")),
        (PYTHON.split("\n")[3], "pay", ("/opt/shop/orders/models.py:42",)),
        (
            SCRIPT,
            "TypeError order is undefined OrderService.pay",
            ("app/src/orders/order.service.ts:42", "/app/src/main.ts:7"),
        ),
        (JVM, "IllegalStateException no order OrderService.pay", ("com/acme/OrderService.java:42",)),
    ],
    ids=["Python", "one line", "JavaScript", "JVM"],
)
def test_traces_of_other_languages_are_read_innermost_first(text: str, said: str, places: tuple[str, ...]) -> None:
    found = understand(text)
    assert (found.kind, found.text) == (QuestionKind.ERROR, said)
    assert tuple(f"{place.path}:{place.line}" for place in found.places) == places


@pytest.mark.parametrize(
    "text",
    ["at the end (see below)", "how is OrderException thrown: where", "look at Foo (it is odd)", "", "at ()"],
)
def test_prose_is_no_trace(text: str) -> None:
    assert read_trace(text) is None


def test_a_huge_paste_is_read_in_linear_time() -> None:
    """A trace of thousands of frames, and hostile runs of brackets, cost what their length costs."""
    frames = "   at Shop.A.B(Int32 x) in C:\\a\\A.cs:line 1\n" * 5_000
    found = read_trace(f"Shop.XException: deep\n{frames}")
    assert found is not None and len(found.places) == 1
    for hostile in ("(" * 50_000, "at " * 20_000, "a." * 50_000, '"\\' * 50_000, "<" * 50_000):
        understand(hostile)
