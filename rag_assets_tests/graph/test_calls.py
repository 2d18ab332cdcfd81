"""What code of languages without a resolver calls: each language as people write it, and what is no call of ours."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest

from rag_assets.graph.extract.registry import calls
from rag_assets.languages.call_syntax import calls_in, code_of, syntax_of
from rag_assets.languages.detection import LANGUAGES, SourceType
from rag_assets_tests.effort import ends_within
from rag_assets_tests.graph.chains import edges_by, files_of, symbols_of

PYTHON = {
    "shop/stats.py": """
        from collections import Counter

        class Entry:
            def total(self): return self.count()
            def count(self): return 1

        class Named(Entry):
            def total(self): return super().total()

        def sort_entries(entries): return sorted(entries)
        """,
    "shop/store.py": """
        from shop.stats import Entry, sort_entries
        from elsewhere import total
        from . import stats

        class Store:
            entries: Entry
            def __init__(self): self.last = Entry()
            def report(self, entry: Entry, other):
                '''Calls entry.count() too.'''
                total()
                other.count()
                return entry.total(), sort_entries([]), stats.sort_entries([])
            def later(self, pool):
                pool.submit(self.report)
                pool.submit(sort_entries, sort=stats)
        """,
    "shop/main.py": """
        from shop.store import Store

        def store(): return Store()

        def run(sort_entries):
            store = Store()
            store.report(None, 1)
            keep = sort_entries
        """,
}

SAME_IN_OTHER_LANGUAGES: Mapping[str, dict[str, str]] = {
    "go": {
        "tools/hook.go": "package tools\n\ntype Hook struct{ on bool }\n\nfunc (h *Hook) Fire() { h.reset() }\n\n"
        "func (h *Hook) reset() {}\n\nfunc NewHook() (*Hook, error) { return &Hook{}, nil }\n",
        "app/app.go": 'package app\n\nimport (\n\t"strings"\n\t"shop/tools"\n)\n\n'
        "func Run() {\n\thook, _ := tools.NewHook()\n\thook.Fire()\n\tstrings.NewHook()\n}\n",
    },
    "java": {
        "tools/Hook.java": "package tools;\n\npublic class Hook {\n  public void fire() { reset(); }\n"
        "  void reset() {}\n  void reset(int times) {}\n  static Hook newHook() { return new Hook(); }\n}\n",
        "app/App.java": "package app;\n\nimport tools.Hook;\n\nclass App {\n  void run(String text) {\n"
        "    Hook hook = Hook.newHook();\n    hook.fire();\n    text.reset();\n    hook.reset(1);\n  }\n}\n",
    },
    "typescript": {
        "tools/hook.ts": "export class Hook {\n  fire(): void { this.reset(); }\n  reset(): void {}\n}\n\n"
        "export function newHook(): Hook { return new Hook(); }\n",
        "app/app.ts": "import { newHook } from '../tools/hook';\nimport { fire } from 'fires';\n\n"
        "export function run(): void {\n  const hook = newHook();\n  hook.fire();\n  fire();\n"
        "  on('end', newHook);\n}\n",
    },
    "kotlin": {
        "tools/Hook.kt": "package tools\n\nclass Hook {\n    fun fire() { reset() }\n    fun reset() {}\n}\n\n"
        "fun newHook(): Hook = Hook()\n",
        "app/App.kt": "package app\n\nimport tools.newHook\n\nfun run() {\n    val hook: Hook = newHook()\n"
        "    hook.fire()\n}\n",
    },
    "rust": {
        "src/hook.rs": "pub struct Hook {}\n\nimpl Hook {\n    pub fn new() -> Hook { Hook {} }\n"
        "    pub fn fire(&self) { self.reset() }\n    fn reset(&self) {}\n}\n",
        "src/app.rs": "use crate::hook::Hook;\n\npub fn run() {\n    let hook = Hook::new();\n    hook.fire();\n}\n",
    },
    "cpp": {
        "hook.h": "class Hook {\n public:\n  void fire();\n  void reset();\n};\n",
        "hook.cc": '#include "hook.h"\n\nvoid Hook::fire() { reset(); }\nvoid Hook::reset() {}\n',
        "app.cc": '#include "hook.h"\n\nvoid run(Hook* hook) {\n  hook->fire();\n}\n',
    },
    "php": {
        "src/Hook.php": "<?php\nnamespace Tools;\n\nclass Hook\n{\n    public function fire(): void\n    {\n"
        "        $this->reset();\n    }\n\n    private function reset(): void\n    {\n    }\n}\n",
        "src/App.php": "<?php\nuse Tools\\Hook;\n\nfunction run(Hook $hook): void\n{\n    $hook->fire();\n}\n",
    },
    "ruby": {
        "lib/hook.rb": "class Hook\n  def fire\n    reset_all\n  end\n\n  def reset_all\n  end\nend\n",
        "lib/app.rb": "def run_hook\n  hook = Hook.new\n  hook.fire\nend\n",
    },
}  # fmt: skip


def without_language(edges: list[str]) -> list[str]:
    return [" ".join(re.sub(r"^[a-z]+:(?!:)", "", part) for part in edge.split(" ")) for edge in edges]


def calls_of(texts: Mapping[str, str], *relations: str) -> list[str]:
    return without_language(edges_by(calls, texts, *relations or ("Calls", "Constructs", "References")))


def test_a_call_means_what_its_file_its_imports_and_types_say() -> None:
    """No call of a docstring, of a name imported from elsewhere, and of a name that a parameter has."""
    assert calls_of(PYTHON) == [
        "shop.main.run|METHOD Calls shop.store.Store.report|METHOD resolved",
        "shop.main.run|METHOD Constructs shop.store.Store|TYPE resolved",
        "shop.main.store|METHOD Constructs shop.store.Store|TYPE resolved",
        "shop.stats.Entry.total|METHOD Calls shop.stats.Entry.count|METHOD resolved",
        "shop.stats.Named.total|METHOD Calls shop.stats.Entry.total|METHOD resolved",
        "shop.store.Store.__init__|METHOD Constructs shop.stats.Entry|TYPE resolved",
        "shop.store.Store.later|METHOD References shop.stats.sort_entries|METHOD probable",
        "shop.store.Store.later|METHOD References shop.store.Store.report|METHOD probable",
        "shop.store.Store.report|METHOD Calls shop.stats.Entry.total|METHOD resolved",
        "shop.store.Store.report|METHOD Calls shop.stats.sort_entries|METHOD resolved",
    ]


EXPECTED = {
    "go": ("tools.Hook.Fire", "tools.Hook.reset", "app.Run"),
    "java": ("tools.Hook.fire()", "tools.Hook.reset()", "app.App.run(String)"),
    "typescript": ("tools/hook.Hook.fire", "tools/hook.Hook.reset", "app/app.run"),
    "kotlin": ("tools.Hook.fire", "tools.Hook.reset", "app/App.run"),
    "rust": ("src/hook.Hook.fire", "src/hook.Hook.reset", "src/app.run"),
    "cpp": ("Hook.fire", "hook.Hook::reset", "app.run"),
    "php": ("Tools.Hook.fire", "Tools.Hook.reset", "src/App.run"),
    "ruby": ("Hook.fire", "Hook.reset_all", "lib/app.run_hook"),
}
"""`fire` calls `reset` of its own type, and `run` calls `fire` of what it has made or was given."""


@pytest.mark.parametrize("language", EXPECTED)
def test_each_language_calls_by_its_own_rules(language: str) -> None:
    found = calls_of(SAME_IN_OTHER_LANGUAGES[language])
    fire, reset, run = EXPECTED[language]
    inside = "hook.Hook::fire" if language == "cpp" else fire
    assert f"{run}|METHOD Calls {fire}|METHOD resolved" in found
    assert any(one.startswith(f"{inside}|METHOD Calls {reset}|METHOD ") for one in found)
    assert not any(one.split(" ")[0] == one.split(" ")[2] for one in found), "what is declared is not called there"


def test_overloads_are_told_apart_by_their_arguments_as_far_as_they_can() -> None:
    found = calls_of(SAME_IN_OTHER_LANGUAGES["java"])
    assert "app.App.run(String)|METHOD Calls tools.Hook.reset(int)|METHOD resolved" in found
    assert not any("run" in edge and "reset()" in edge for edge in found), "of a String"


def test_what_another_library_has_is_no_call_of_ours() -> None:
    found = calls_of(SAME_IN_OTHER_LANGUAGES["go"])
    assert [edge for edge in found if "NewHook" in edge] == ["app.Run|METHOD Calls tools.NewHook|METHOD resolved"]
    found = calls_of(SAME_IN_OTHER_LANGUAGES["typescript"])
    assert "app/app.run|METHOD Calls tools/hook.Hook.fire|METHOD resolved" in found
    assert "app/app.run|METHOD Calls tools/hook.newHook|METHOD resolved" in found, "before it is given away"


def test_two_declarations_that_are_as_near_are_not_guessed() -> None:
    twins = {f"{name}/job.py": "class Job:\n    def cancel_it(self): ...\n" for name in ("a", "b")}
    assert calls_of({**twins, "main.py": "def run(thing):\n    thing.cancel_it()\n"}) == []
    one = {"a/job.py": twins["a/job.py"], "main.py": "def run(thing):\n    thing.cancel_it()\n"}
    assert calls_of(one) == ["main.run|METHOD Calls a.job.Job.cancel_it|METHOD probable"]


NOTHING: Mapping[str, dict[str, str]] = {
    "a parameter": {
        "m.py": "def run(): ...\n\ndef main(run):\n    run()\n",
        "m.swift": "func refresh() {}\nfunc go(then refresh: () -> Void) {\n    refresh()\n}\n",
        "m.cc": "void cb(int) {}\nvoid run(std::function<void(int)> cb) { cb(1); }\n",
        "m.go": "package m\n\nfunc do() {}\n\nfunc Run(do func()) { do() }\n",
    },
    "a variable": {"m.ts": "function load() {}\nexport function run() {\n  const load = () => {};\n  load();\n}\n"},
    "a package of others": {
        "src/utils.py": "def parse(x): ...\n",
        "src/react.ts": "export function useState() {}\n",
        "m.py": "from werkzeug.utils import parse\n\ndef run():\n    parse(1)\n",
        "m.ts": "import { useState } from 'react';\nexport function run() { useState(); }\n",
    },
    "a type of others": {
        "a.py": "class Client:\n    def send(self): ...\n\nclass View:\n    def render(self): ...\n",
        "m.py": "from httpx import Client\nfrom django.views import View\n\ndef run(c: Client):\n    c.send()\n\n"
        "class Mine(View):\n    def get(self):\n        self.render()\n",
        "a/List.java": "package a;\npublic class List { public void add(int x) {} }\n",
        "c/M.java": "package c;\nimport java.util.List;\nclass M { void r(List<String> l) { l.add(1); } }\n",
        "a/client.go": "package a\n\ntype Client struct{}\n\nfunc (c *Client) Do() {}\n",
        "m/m.go": 'package m\n\nimport "net/http"\n\nfunc Run(c *http.Client) { c.Do() }\n',
    },
    "what another function of that name returns": {
        "a.py": "class Foo:\n    def close(self): ...\n\ndef connect() -> 'Foo': ...\n\nclass Holder:\n    conn: Foo\n",
        "m.py": "import sqlite3\n\ndef run():\n    conn = sqlite3.connect('x')\n    conn.close()\n\n"
        "def other(conn):\n    conn.close()\n",
    },
    "keys, prototypes and arguments": {
        "a.rb": "class A\n  def name\n  end\n  def go\n    foo(name: 1)\n    name = 1\n  end\nend\n",
        "a.c": "int add(int a, int b);\nint one(void) { return 1; }\n",
        "b.sh": "build() { echo; }\nrun() { make build; }\n",
    },
}


@pytest.mark.parametrize("texts", NOTHING.values(), ids=NOTHING)
def test_what_only_looks_like_a_call_is_none(texts: dict[str, str]) -> None:
    assert calls_of(texts) == []


def test_what_is_imported_under_another_name_is_known_by_it() -> None:
    texts = {
        "a.py": "def load(): ...\ndef dump(): ...\n",
        "m.py": "from a import load as dump\nimport a as b\n\ndef run():\n    dump()\n\ndef other():\n    b.dump()\n",
        "w.ts": "export function show() {}\nexport function hide() {}\n",
        "v.ts": "import { show as hide } from './w';\nexport function go() { hide(); }\n",
    }
    assert calls_of(texts) == [
        "m.other|METHOD Calls a.dump|METHOD resolved",
        "m.run|METHOD Calls a.load|METHOD resolved",
        "v.go|METHOD Calls w.show|METHOD resolved",
    ]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("m.py", "def f():\n    g()\n    " + "@" * 60_000),
        ("m.py", "def f():\n    g(h)\n    " + "a" * 60_000),
        ("m.py", "import " + ",".join(f"a{number}" for number in range(20_000))),
        ("m.py", "".join(f"def a{n}():\n    x = Foo()\n\ndef b{n}():\n    x.go_it()\n\n" for n in range(1_500))),
        ("m.ts", "".join(f"class A{n} {{ run() {{ this.run(); x.run(); }} }}\n" for n in range(2_000))),
        ("M.java", "class M {" + "".join(f"void m(T{n} a) {{ m(a); }}\n" for n in range(2_000)) + "}"),
        ("m.rs", "fn f() {\n    g(a" + "::b" * 20_000 + "\n" + "(a<b" * 20_000),
    ],
    ids=["marks", "a long word", "imports", "variables", "namesakes", "overloads", "paths"],
)
def test_no_text_takes_long(path: str, text: str) -> None:
    """Each took seconds to hours where it was read quadratically."""
    files = files_of({path: text})
    symbols = symbols_of(files)
    with ends_within(10):
        assert list(calls(files[0], symbols)) is not None


def test_handlers_and_elements_are_references() -> None:
    found = calls_of(
        {
            "web/Row.tsx": "export function Row() { return null; }\nexport const onClick = () => {};\n",
            "web/Table.tsx": "import { Row, onClick } from './Row';\n\n"
            "export function Table() {\n  return <Row onClick={onClick} />;\n}\n",
        }
    )
    assert [edge.split(" ")[2] for edge in found] == ["web/Row.Row|METHOD", "web/Row.onClick|METHOD"]


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        (
            "shop/Orders.java",
            "class Order { void cancel() {} }\nclass Orders {\n"
            "  void drop() { update(Order::cancel).map(this::drop); }\n"
            "  void all() { update(this::drop); }\n  void update(Object o) {}\n}\n",
            {"Orders.drop() References Order.cancel()", "Orders.all() References Orders.drop()"},
        ),
        (
            "src/Orders.kt",
            "class Order {\n    fun cancel() {}\n}\n\nfun save(o: Order) {}\n\n"
            "fun all(some: List<Order>) {\n    some.map(Order::cancel)\n    some.forEach(::save)\n}\n",
            {"Orders.all References Order.cancel", "Orders.all References Orders.save"},
        ),
        (
            "src/orders.rs",
            "pub struct Order {}\n\nimpl Order {\n    pub fn cancel(&self) {}\n"
            "    pub fn all(o: &[Order]) { o.iter().map(Self::cancel); o.iter().map(Order::cancel) }\n}\n",
            {"Order.all References Order.cancel"},
        ),
    ],
)
def test_a_method_that_is_named_and_not_called_is_referenced(path: str, text: str, expected: set[str]) -> None:
    found = [
        re.sub(r"\S*?(\w+(?:\.\w+)?(?:\(\))?)\|METHOD", r"\1", edge) for edge in calls_of({path: text}, "References")
    ]
    assert {" ".join(edge.split(" ")[:3]).replace("orders.Order.", "Order.") for edge in found} == expected


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (
            "src/auth.ts",
            "class Users {\n  find() {}\n}\nclass Other {\n  find() {}\n}\nclass Auth {\n"
            "  constructor(\n    @Inject(USERS) private readonly all: Users,\n  ) {}\n\n"
            "  login() {\n    this.all.find();\n  }\n}\n",
        ),
        (
            "src/auth.py",
            "class Users:\n    def find(self): ...\nclass Other:\n    def find(self): ...\nclass Auth:\n"
            "    def __init__(self, users: Annotated[Users, Depends(get)]):\n        self._all = users\n\n"
            "    def login(self):\n        self._all.find()\n",
        ),
        (
            "src/auth.php",
            "<?php\nclass Users {\n    public function find(): void {\n    }\n}\nclass Other {\n"
            "    public function find(): void {\n    }\n}\nclass Auth {\n"
            "    public function __construct(private Users $all) {}\n"
            "    public function login(): void {\n        $this->all->find();\n    }\n}\n",
        ),
        (
            "src/auth.rs",
            "struct Users {}\nimpl Users {\n    fn find(&self) {}\n}\nstruct Other {}\nimpl Other {\n"
            "    fn find(&self) {}\n}\nstruct Auth {\n    all: Arc<Users>,\n}\nimpl Auth {\n"
            "    fn login(&self) {\n        self.all.find();\n    }\n}\n",
        ),
    ],
)
def test_a_field_has_the_type_of_the_parameter_that_it_is_or_is_given(path: str, text: str) -> None:
    (edge,) = calls_of({path: text}, "Calls")
    assert re.search(r"Auth\.login\|METHOD Calls \S*Users\.find\|METHOD resolved$", edge)


@pytest.mark.parametrize("call", ["Order.objects.oldest()", "order.objects.oldest()"])
def test_a_call_of_a_field_means_the_field_of_the_type_before_it(call: str) -> None:
    texts = {
        "shop/models.py": """
            class Orders:
                def oldest(self): ...

            class Carts:
                def oldest(self): ...

            class Base:
                objects = Orders()

            class Order(Base):
                pass

            class Cart:
                objects = Carts.as_manager()
            """,
        "shop/views.py": f"from shop.models import Cart, Order\n\ndef show(order: Order, cart: Cart):\n    {call}\n",
    }
    assert calls_of(texts, "Calls") == ["shop.views.show|METHOD Calls shop.models.Orders.oldest|METHOD resolved"]
    texts["shop/views.py"] = texts["shop/views.py"].replace(call, "Cart.objects.oldest()")
    assert calls_of(texts, "Calls") == ["shop.views.show|METHOD Calls shop.models.Carts.oldest|METHOD resolved"]


def test_a_type_of_go_implements_the_interfaces_whose_methods_it_has() -> None:
    texts = {
        "model/store.go": "package model\n\ntype Store interface {\n\tGet(id int) int\n\tPut(id int)\n}\n\n"
        "type Getter interface {\n\tGet(id int) int\n}\n",
        "sql/store.go": "package sql\n\ntype SqlStore struct{}\n\nfunc (s *SqlStore) Get(id int) int { return id }\n",
        "sql/put.go": "package sql\n\nfunc (s *SqlStore) Put(id int) {}\n",
        "file/store.go": "package file\n\ntype Half struct{}\n\nfunc (h Half) Get(id int) int { return id }\n",
    }
    assert calls_of(texts, "Implements") == [
        "sql.SqlStore.Get|METHOD Implements model.Store.Get|METHOD probable",
        "sql.SqlStore.Put|METHOD Implements model.Store.Put|METHOD probable",
        "sql.SqlStore|TYPE Implements model.Store|TYPE probable",
    ]


def test_a_method_of_go_fits_an_interface_that_takes_the_same() -> None:
    text = (
        "package proxy\n\ntype Pool struct{}\n\ntype Selector interface {\n\tSelect(*Pool, int) *Pool\n}\n\n"
        "type First struct{}\n\nfunc (First) Select(pool *Pool, at int) *Pool { return pool }\n\n"
        "type Query struct{}\n\nfunc (q Query) Select(pool *Pool, columns string) *Pool { return pool }\n"
    )
    assert calls_of({"proxy/pool.go": text}, "Implements") == [
        "proxy.First.Select|METHOD Implements proxy.Selector.Select|METHOD probable",
        "proxy.First|TYPE Implements proxy.Selector|TYPE probable",
    ]


@pytest.mark.parametrize("path", ["example.org/acme/shop/v2", "example.org/acme/go-shop"])
def test_code_of_go_calls_a_package_without_the_version_of_its_path(path: str) -> None:
    texts = {
        "parse.go": "package shop\n\ntype Order struct{}\n\nfunc Parse() Order { return Order{} }\n\n"
        "func (o Order) Pay() {}\n",
        "web/web.go": f'package web\n\nimport "{path}"\n\nfunc Run() {{\n\torder := shop.Parse()\n\torder.Pay()\n}}\n',
    }
    assert calls_of(texts) == [
        "web.Run|METHOD Calls shop.Order.Pay|METHOD resolved",
        "web.Run|METHOD Calls shop.Parse|METHOD resolved",
    ]


def test_methods_of_rust_are_of_a_type_of_another_file_of_the_crate() -> None:
    texts = {
        "core/src/config.rs": "pub struct Remote {}\n",
        "core/src/remote/mod.rs": "use crate::config::Remote;\n\nimpl Remote {\n    pub fn client(&self) {}\n}\n",
        "core/src/github.rs": "use crate::config::Remote;\n\npub fn connect(remote: Remote) { remote.client(); }\n",
        "other/src/lib.rs": "impl Remote {\n    pub fn client(&self) {}\n}\n",
    }
    assert [edge.split(" ")[2] for edge in calls_of(texts)] == ["core/src/remote/mod.Remote.client|METHOD"]


@pytest.mark.parametrize(
    "language", sorted(name for name, one in LANGUAGES.items() if one.source_type is SourceType.CODE)
)
def test_any_text_is_read(language: str) -> None:
    text = "x(\"'`/* <<EOS\n" * 50 + "é a.b(c)\x00\n"
    syntax = syntax_of(language)
    code = code_of(text, language)
    assert (syntax is None) == (code == "")
    assert syntax is None or (len(code) == len(text) and list(calls_in(code, syntax)) is not None)


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        (
            PYTHON,
            ["shop.stats.Named.total|METHOD Overrides shop.stats.Entry.total|METHOD resolved"],
        ),
        (
            {
                "a/Parser.java": "package a;\npublic interface Parser {\n  void parse(String text);\n"
                "  void parse(int[] codes);\n}\n",
                "b/Json.java": "package b;\nimport a.Parser;\npublic class Json implements Parser {\n"
                "  public Json(String text) { }\n  public void parse(String text) { }\n"
                "  public void parse(byte[] other) { }\n  public void parse(int a, int b) { }\n}\n",
            },
            [
                "b.Json.parse(String)|METHOD Implements a.Parser.parse(String)|METHOD resolved",
                "b.Json.parse(byte[])|METHOD Implements a.Parser.parse(String)|METHOD probable",
                "b.Json.parse(byte[])|METHOD Implements a.Parser.parse(int[])|METHOD probable",
            ],
        ),
        (
            {
                "src/sink.ts": "export interface Sink { write(text: string): void }\n"
                "export abstract class Base implements Sink { constructor() {} abstract write(text: string): void }\n",
                "src/file.ts": "import { Base } from './sink';\nexport class File extends Base {\n"
                "  constructor() { super(); }\n  write(text: string) { }\n  other() { }\n}\n",
            },
            [
                "src/file.File.write|METHOD Overrides src/sink.Base.write|METHOD resolved",
                "src/sink.Base.write|METHOD Implements src/sink.Sink.write|METHOD resolved",
            ],
        ),
        (
            {
                "src/a.rs": "pub trait Sink {\n    fn put(&self);\n}\npub struct A;\nimpl Sink for A {\n"
                "    fn put(&self) {}\n}\n"
            },
            ["src/a.A.put|METHOD Implements src/a.Sink.put|METHOD resolved"],
        ),
    ],
    ids=["python", "java", "typescript", "rust"],
)
def test_methods_override_those_of_the_nearest_base(texts: dict[str, str], found: list[str]) -> None:
    assert calls_of(texts, "Overrides", "Implements") == found
