"""Go: types are segments; functions and methods are members of the module."""

from __future__ import annotations

import pytest

from rag_assets.contracts.segment import Parameter
from rag_assets.segmentation import segment_file
from rag_assets_tests.segmentation.outline import check_invariants, member, named, outline

SHOP = """// Package shop sells.
package shop

import (
\t"fmt"
\tlog "example.com/log"
)

// Order is what a customer wants.
type Order[T any] struct {
\t// In euro.
\tTotal, Tax int `json:"total"`
\tModel
\t*base.Entity
}

type (
\t// Named has a name.
\tNamed interface { Rename(to string) (string, error); fmt.Stringer }
\tAlias = string
\tHandler func(int) error
)

// Load reads é.
func (o *Order[T]) Load(ctx context.Context, a, b int, rest ...string) (n int, err error) { return }
func (Order[T]) Close(bool) {}
func Find[T any](id T) T { return id }

var x, y = 1, 2
const limit = 3
"""


def test_a_file() -> None:
    """A04"""
    file = segment_file(SHOP, "internal/shop/order.go", "go")
    check_invariants(SHOP, file)
    assert [line.replace("internal/shop", "~") for line in outline(file)] == [
        "module ~",
        "  method Order.Load",
        "  method Order.Close",
        "  function Find",
        "  statements lines 29-30",
        "struct ~.Order",
        "  field Total, Tax",
        "interface ~.Named",
        "  method Rename",
        "type ~.Alias",
        "type ~.Handler",
    ]


def test_facts() -> None:
    file = segment_file(SHOP, "internal/shop/order.go", "go")
    module, order, interface = named(file, "order"), named(file, "Order"), named(file, "Named")
    assert (module.doc, module.namespace, module.usings) == (
        *("Package shop sells.", "shop", ("fmt", "example.com/log")),
    )
    load = member(module, "Order.Load")
    assert load.doc == "Load reads é."
    assert load.signature.startswith("func (o *Order[T]) Load(ctx context.Context, a, b int, rest ...string)")
    assert load.type == "(n int, err error)"
    assert load.parameters == (
        Parameter("ctx", "context.Context"),
        Parameter("a", "int"),
        Parameter("b", "int"),
        Parameter("rest", "...string"),
    )
    assert order.signature == "type Order[T any] struct"
    assert order.doc == "Order is what a customer wants."
    assert order.base_list == ("Model", "base.Entity")
    assert order.type_parameters == ("T any",)
    assert member(order, "Total, Tax").attributes == ('json:"total"',)
    assert interface.doc == "Named has a name."
    assert interface.base_list == ("fmt.Stringer",)
    assert named(file, "Handler").signature == "type Handler func(int) error"


@pytest.mark.parametrize(
    ("path", "symbol"),
    [("internal/shop/order.go", "internal/shop"), ("order.go", "shop")],
    ids=["directory", "root"],
)
def test_the_files_of_a_package_share_its_symbol(path: str, symbol: str) -> None:
    file = segment_file("package shop\nfunc F() {}\n", path, "go")
    assert [segment.symbol for segment in file.segments] == [symbol]
