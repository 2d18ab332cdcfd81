"""Python: classes as segments, functions and statements as the module."""

from __future__ import annotations

import pytest

from rag_assets.contracts.segment import Parameter
from rag_assets.segmentation import segment_file
from rag_assets_tests.segmentation.outline import check_invariants, member, named, outline, texts

SHOP = '''#!/usr/bin/env python
"""Orders of the shop."""
from __future__ import annotations
import os, sys as system
from .base import Model

LIMIT = 3  # at most

# What a customer wants.
@dataclass(frozen=True)
class Order(Model, Generic[T], metaclass=Meta):
    """An order.

    With lines.
    """

    number: int = 3
    """Counted per year."""
    # in euro
    total = rate = 2.5

    def __init__(self, number: int, *lines: Line, note="none", **extra) -> None:
        self.number = number

    @property
    def open(self) -> bool: return True

    @staticmethod
    async def load(
        path: str,  # where
    ) -> Order: ...

    class Line:
        """One line."""
        def price(self): pass

def find(é: str, /, *, limit: int = LIMIT) -> list[Order]:
    """Finds orders."""
    return []

if system.argv:
    class Late: pass
else:
    def fallback(): pass

try:
    import json
except ImportError:
    json = None

for each in ():
    print(each)
print("done")
'''


def test_a_module() -> None:
    """A04, A05: one segment per top-level class; nested ones inside."""
    file = segment_file(SHOP, "src/shop/order.py", "python")
    check_invariants(SHOP, file)
    assert outline(file) == [
        "module shop.order",
        "  statements lines 7-7",
        "  function find",
        "  function fallback",
        "  statements lines 49-53",
        "class shop.order.Order",
        "  field number",
        "  field total",
        "  constructor __init__",
        "  property open",
        "  method load",
        "  type Line",
        "    method price",
        "class shop.order.Late",
    ]


def test_facts_of_a_class() -> None:
    order = named(segment_file(SHOP, "src/shop/order.py", "python"), "Order")
    assert order.signature == "class Order(Model, Generic[T], metaclass=Meta)"
    assert order.base_list == ("Model", "Generic[T]")
    assert order.attributes == ("dataclass(frozen=True)",)
    assert order.doc == "An order.\n\nWith lines."
    assert order.namespace == "shop.order"
    assert order.usings == ("os", "sys", ".base", "json")
    assert order.span.slice(SHOP).startswith("# What a customer wants.\n@dataclass")
    assert member(order, "Line").symbol == "shop.order.Order.Line"


def test_facts_of_members() -> None:
    order = named(segment_file(SHOP, "src/shop/order.py", "python"), "Order")
    number, total, init, load = (member(order, name) for name in ("number", "total", "__init__", "load"))
    assert (number.type, number.value, number.doc) == ("int", "3", "Counted per year.")
    assert number.span.slice(SHOP).endswith('"""Counted per year."""')
    assert total.doc == "in euro"
    assert init.parameters == (
        Parameter("number", "int"),
        Parameter("lines", "Line", modifiers=("*",)),
        Parameter("note", default='"none"'),
        Parameter("extra", modifiers=("**",)),
    )
    assert load.signature == "async def load( path: str, ) -> Order"
    assert (load.modifiers, load.attributes, load.type) == (("async",), ("staticmethod",), "Order")


def test_facts_of_the_module() -> None:
    module = named(segment_file(SHOP, "src/shop/order.py", "python"), "order")
    assert module.doc == "Orders of the shop."
    assert (module.symbol, module.namespace) == ("shop.order", "shop")
    find = member(module, "find")
    assert find.signature == "def find(é: str, /, *, limit: int = LIMIT) -> list[Order]"
    assert find.parameters == (Parameter("é", "str"), Parameter("limit", "int", "LIMIT"))
    assert texts(SHOP, module)[1].startswith("def find")


@pytest.mark.parametrize(
    ("path", "symbol"),
    [
        ("src/shop/cart.py", "shop.cart"),
        ("shop/__init__.py", "shop"),
        ("src/__init__.py", "__init__"),
        ("setup.py", "setup"),
        ("tools/my-tool.py", "tools.my-tool"),
        ("", "file"),
    ],
)
def test_the_module_is_named_by_its_path(path: str, symbol: str) -> None:
    assert segment_file("x = 1", path, "python").segments[0].symbol == symbol


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"""Only words."""\n', ["module m"]),
        ("import a\n", ["module m", "  window line 1"]),
        ("# a comment\n", ["module m", "  window line 1"]),
        ("import a\nclass A: pass\n", ["class m.A"]),
        ('"""Words."""\nclass A: pass\n', ["module m", "class m.A"]),
        ("@d\ndef f(): pass\n@e\nclass A: pass\n", ["module m", "  function f", "class m.A"]),
        ("if x:\n    y()\n", ["module m", "  statements lines 1-2"]),
        ("class A:\n    if x:\n        def f(self): pass\n", ["class m.A", "  method f"]),
    ],
    ids=["docstring", "imports", "comment", "class", "documented", "decorated", "statement", "conditional-member"],
)
def test_no_file_is_absent_and_imports_alone_make_no_module(text: str, expected: list[str]) -> None:
    assert outline(segment_file(text, "m.py", "python")) == expected


def test_a_comment_belongs_to_what_it_touches() -> None:
    text = "x = 1  # trails\ndef f(): pass\n\n# apart\n\n# above\ndef g(): pass\n"
    module = segment_file(text, "m.py", "python").segments[0]
    assert [(found.name, found.doc) for found in module.members[1:]] == [("f", ""), ("g", "above")]
    assert module.members[2].span.slice(text) == "# above\ndef g(): pass"


def test_nesting_is_cut_off_not_followed_into_a_recursion_error() -> None:
    text = "".join(f"{' ' * depth}class A{depth}:\n" for depth in range(300)) + " " * 300 + "pass\n"
    lines = outline(segment_file(text, "m.py", "python"))
    assert 10 < len(lines) < 30
