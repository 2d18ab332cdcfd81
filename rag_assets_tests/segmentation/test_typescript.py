"""TypeScript, TSX and JavaScript: types as segments, functions and statements as the module."""

from __future__ import annotations

import pytest

from rag_assets.contracts.segment import Parameter
from rag_assets.segmentation import segment_file
from rag_assets_tests.segmentation.outline import check_invariants, member, named, outline

SHOP = """import { Base } from './base';
export * from "./lines";
/**
 * An order.
 * @deprecated use Cart
 */
@Entity({ name: 'orders' })
export default class Order<T extends Base> extends Model<T> implements Named, Dated {
  @Input() private readonly total: number = 1;
  static #count = 2;
  constructor(private store: Store, @Inject(CLOCK) readonly clock?: Clock) { super(); }
  get open(): boolean { return true; }
  // Loads it.
  @Get('x')
  async load<K>(key: K, ...rest: any[]): Promise<void> {}
  label = (prefix = 'é') => prefix + this.total;
  [key: string]: any;
}
export interface Named extends A, B { name?: string; rename(to: string): void; (x: number): string; new (): Named }
export type Price = { amount: number };

export enum Color { Red = 1, Green, 'light-blue' }
declare module "lib" { export class Plugin {} }
namespace Tools { export interface Saw { teeth: number } function cut() {} }
export const add = async (a: number, b = 2): Promise<number> => a + b;
const Mixin = class {}, helper = function () {}, limit = 3;
export function find(id: string): Order;
declare function log(text: string): void;
export default () => 1;
console.log(limit);
"""


def test_a_module() -> None:
    """A04, A05"""
    file = segment_file(SHOP, "web/src/order.ts", "typescript")
    check_invariants(SHOP, file)
    assert [line.replace("web/src/order", "~") for line in outline(file)] == [
        "module ~",
        "  statements lines 2-2",
        "  function add",
        "  function helper",
        "  statements lines 26-26",
        "  function find",
        "  function log",
        "  function default",
        "  statements lines 30-30",
        "class ~.Order",
        "  field total",
        "  field #count",
        "  constructor constructor",
        "  property open",
        "  method load",
        "  method label",
        "  indexer []",
        "interface ~.Named",
        "  property name",
        "  method rename",
        "  method ()",
        "  method new",
        "type ~.Price",
        "  property amount",
        "enum ~.Color",
        "  enum-value Red",
        "  enum-value Green",
        "  enum-value light-blue",
        "namespace ~.lib",
        "  type Plugin",
        "namespace ~.Tools",
        "  type Saw",
        "    property teeth",
        "  function cut",
        "class ~.Mixin",
    ]


def test_facts_of_a_class() -> None:
    order = named(segment_file(SHOP, "web/src/order.ts", "typescript"), "Order")
    assert order.signature == ("export default class Order<T extends Base> extends Model<T> implements Named, Dated")
    assert order.base_list == ("Model<T>", "Named", "Dated")
    assert order.attributes == ("Entity({ name: 'orders' })",)
    assert order.modifiers == ("export", "default")
    assert order.type_parameters == ("T extends Base",)
    assert order.doc == "An order.\ndeprecated: use Cart"
    assert order.usings == ("./base", "./lines")
    assert order.span.slice(SHOP).startswith("/**")


def test_facts_of_members() -> None:
    order = named(segment_file(SHOP, "web/src/order.ts", "typescript"), "Order")
    total, init, load, label = (member(order, name) for name in ("total", "constructor", "load", "label"))
    assert (total.type, total.value, total.modifiers, total.attributes) == (
        *("number", "1", ("private", "readonly"), ("Input()",)),
    )
    assert init.parameters == (
        Parameter("store", "Store", modifiers=("private",)),
        Parameter("clock", "Clock", modifiers=("readonly", "?"), attributes=("Inject(CLOCK)",)),
    )
    assert load.signature == "async load<K>(key: K, ...rest: any[]): Promise<void>"
    assert (load.doc, load.attributes, load.type) == ("Loads it.", ("Get('x')",), "Promise<void>")
    assert load.span.slice(SHOP).startswith("// Loads it.\n  @Get('x')")
    assert label.parameters == (Parameter("prefix", default="'é'"),)
    assert label.signature == "label = (prefix = 'é')"
    assert member(order, "open").accessors == ("get",)


def test_facts_of_functions_and_enums() -> None:
    file = segment_file(SHOP, "web/src/order.ts", "typescript")
    add = member(named(file, "order"), "add")
    assert add.signature == "export const add = async (a: number, b = 2): Promise<number>"
    assert (add.type, add.modifiers) == ("Promise<number>", ("export", "async"))
    assert [(value.name, value.value) for value in named(file, "Color").members] == [
        *(("Red", "1"), ("Green", ""), ("light-blue", "")),
    ]


SCRIPT = """#!/usr/bin/env node
'use strict';
const fs = require('fs');
class Shop extends mixin(Base) { #x = 1; static *ids() {} set name(value) {} }
function sell(a, { b }, [c], d = 1, ...e) {}
exports.load = function () {};
module.exports = class Cart {};
Shop.prototype.close = function (now) {};
module.exports = { sell };
"""


def test_a_javascript_module() -> None:
    file = segment_file(SCRIPT, "shop.js", "javascript")
    check_invariants(SCRIPT, file)
    assert outline(file) == [
        "module shop",
        "  statements lines 2-3",
        "  function sell",
        "  function load",
        "  function Shop.prototype.close",
        "  statements lines 9-9",
        "class shop.Shop",
        "  field #x",
        "  method ids",
        "  property name",
        "class shop.Cart",
    ]
    assert named(file, "Shop").base_list == ("mixin(Base)",)
    sell = member(named(file, "shop"), "sell")
    assert [parameter.name for parameter in sell.parameters] == ["a", "{ b }", "[c]", "d", "e"]


def test_a_component() -> None:
    text = "export const Cart: FC<Props> = ({ items }) => <ul>{items.map((i) => <li>{i}</li>)}</ul>;\n"
    file = segment_file(text, "Cart.tsx", "tsx")
    check_invariants(text, file)
    assert outline(file) == ["module Cart", "  function Cart"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("export default class { m() {} }", ["class m.default", "  method m"]),
        ("export default function () {}", ["module m", "  function default"]),
        ("export { a } from './a';", ["module m", "  statements lines 1-1"]),
        ("import './a';", ["module m", "  window line 1"]),
        ("// words", ["module m", "  window line 1"]),
        ("(function () { class Inner {} })();", ["module m", "  statements lines 1-1"]),
        ("declare global { interface Window {} }", ["module m", "  statements lines 1-1"]),
        ("namespace A.B { export class C {} }", ["namespace m.A.B", "  type C"]),
        ("abstract class A { abstract run(): void }", ["class m.A", "  method run"]),
    ],
    ids=[
        *("anonymous-class", "anonymous-function", "re-export", "imports", "comment", "closure", "global"),
        *("dotted-namespace", "abstract"),
    ],
)
def test_forms_of_declarations(text: str, expected: list[str]) -> None:
    assert outline(segment_file(text, "m.ts", "typescript")) == expected
