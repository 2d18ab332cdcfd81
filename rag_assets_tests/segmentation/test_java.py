"""Java: every top-level type is a segment."""

from __future__ import annotations

from rag_assets.contracts.segment import Parameter
from rag_assets.segmentation import segment_file
from rag_assets_tests.segmentation.outline import check_invariants, member, named, outline

SHOP = """package shop.orders;

import java.util.*;
import static shop.Money.euro;

/** An order, see {@link Line}.
 * @param <T> what is sold
 */
@Entity(name = "orders")
public abstract class Order<T extends Item> extends Model<T> implements Named, Dated {
  /** In euro. */
  @Id private int total = 1, parts[];
  public Order(int total) throws Broken {}
  // Loads it.
  @Override
  public <K> K load(final K key, /* more */ @Nullable String... rest) throws IOException { return null; }
  static { init(); }
  enum Color { /** warm */ RED, BLUE(2) { void mix() {} }; int code; }
}
public interface Named extends A, B { int MAX = 1; default void rename() {} }
public @interface Audited { String value() default "é"; }
record Line<T>(int count, @NotNull String name) implements Named { Line { } static int parse() { return 1; } }
"""


def test_a_file() -> None:
    """A04, A05"""
    file = segment_file(SHOP, "src/main/java/shop/orders/Order.java", "java")
    check_invariants(SHOP, file)
    assert outline(file) == [
        "class shop.orders.Order",
        "  field total",
        "  field parts",
        "  constructor Order",
        "  method load",
        "  type Color",
        "    enum-value RED",
        "    enum-value BLUE",
        "    field code",
        "interface shop.orders.Named",
        "  field MAX",
        "  method rename",
        "annotation shop.orders.Audited",
        "  method value",
        "record shop.orders.Line",
        "  constructor Line",
        "  method parse",
    ]


def test_facts_of_types() -> None:
    file = segment_file(SHOP, "Order.java", "java")
    order, line = named(file, "Order"), named(file, "Line")
    assert order.signature == "public abstract class Order<T extends Item> extends Model<T> implements Named, Dated"
    assert order.base_list == ("Model<T>", "Named", "Dated")
    assert order.attributes == ('Entity(name = "orders")',)
    assert order.modifiers == ("public", "abstract")
    assert order.doc == "An order, see Line.\nparam <T>: what is sold"
    assert order.usings == ("java.util.*", "static shop.Money.euro")
    assert order.namespace == "shop.orders"
    assert line.parameters == (Parameter("count", "int"), Parameter("name", "String", attributes=("NotNull",)))
    assert member(order, "Color").symbol == "shop.orders.Order.Color"
    assert named(file, "Named").base_list == ("A", "B")


def test_facts_of_members() -> None:
    file = segment_file(SHOP, "Order.java", "java")
    order = named(file, "Order")
    total, parts, load = (member(order, name) for name in ("total", "parts", "load"))
    assert (total.type, total.value, total.doc, total.attributes) == ("int", "1", "In euro.", ("Id",))
    assert (parts.type, parts.signature) == ("int[]", "private int parts[]")
    assert load.signature == "public <K> K load(final K key, @Nullable String... rest) throws IOException"
    assert load.parameters == (
        Parameter("key", "K", modifiers=("final",)),
        Parameter("rest", "String...", attributes=("Nullable",)),
    )
    assert load.doc == "Loads it."
    assert load.span.slice(SHOP).startswith("// Loads it.\n  @Override")
    assert member(named(file, "Audited"), "value").value == '"é"'
    assert [value.value for value in member(order, "Color").members[:2]] == ["", "(2)"]


def test_methods_without_a_class_are_the_module() -> None:
    file = segment_file("void main() { run(); }\nclass Helper {}\n", "Main.java", "java")
    assert outline(file) == ["module Main", "  function main", "class Helper"]


def test_a_package_description_is_not_absent() -> None:
    file = segment_file("/** Words. */\npackage a.b;\n", "a/b/package-info.java", "java")
    assert outline(file) == ["module a.b.package-info", "  window lines 1-2"]
