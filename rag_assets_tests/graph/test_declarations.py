"""Declarations of languages without a resolver: the keys of the points, contained in one another."""

from __future__ import annotations

import pytest

from rag_assets.contracts.graph import GraphNode
from rag_assets.graph.extract.registry import bases, declarations
from rag_assets_tests.descriptions.label import label_of
from rag_assets_tests.graph.chains import edges_by, found_by, nodes_by
from rag_assets_tests.sections.windows import window

TEXTS = {
    "pkg/mod.py": "def top(): ...\n\nclass Outer:\n    size: int = 1\n    class Inner:\n        def run(self): ...\n",
    "src/App.java": "package shop;\nclass App { int size; void run(int times) { } void run(String name) { } }\n",
    "web/cart.ts": "export class Cart { total = 1; add(item: string) { } }\nexport function empty() { }\n",
    "main.go": "package shop\n\ntype Cart struct { Total int }\n\nfunc (c Cart) Add(item string) {}\n",
}


@pytest.mark.rule("D18")
@pytest.mark.parametrize("path", TEXTS)
def test_every_key_that_a_point_carries_is_a_node(path: str) -> None:
    carried = {
        key
        for descriptions in label_of({path: TEXTS[path]}).descriptions.values()
        for description in descriptions
        for section in description.use_window(window()).build_summary_sections()
        for key in section.graph_node_keys
    } - {f"file:{path}|FILE"}
    assert carried
    assert carried <= set(nodes_by(declarations, TEXTS))


def test_what_contains_what() -> None:
    assert edges_by(declarations, {"pkg/mod.py": TEXTS["pkg/mod.py"]}) == [
        "file:pkg/mod.py|FILE Contains python:pkg.mod.Outer|TYPE resolved",
        "file:pkg/mod.py|FILE Contains python:pkg.mod.top|METHOD resolved",
        "python:pkg.mod.Outer.Inner|TYPE Contains python:pkg.mod.Outer.Inner.run|METHOD resolved",
        "python:pkg.mod.Outer|TYPE Contains python:pkg.mod.Outer.Inner|TYPE resolved",
        "python:pkg.mod.Outer|TYPE Contains python:pkg.mod.Outer.size|PROPERTY resolved",
    ]


@pytest.mark.parametrize("path", ["a.cs", "a.sql", "a.json", "a.md", "a.resx"])
def test_others_have_an_extractor_of_their_own_or_nothing_to_declare(path: str) -> None:
    assert edges_by(declarations, {path: "class A { }\n"}) == []


def test_what_types_say_they_derive_from() -> None:
    texts = {
        "pkg/base.py": "class Store:\n    class Inner(Plain): ...\nclass Plain: ...\nclass Store2(Exception): ...\n",
        "pkg/sql.py": "class SqlStore(base.Store[int], metaclass=M): ...\nclass Plain(Plain): ...\n",
        "a/Node.java": "package a;\npublic interface Node {}\n",
        "a/Element.java": "package a;\nclass Element extends Base<Node> implements Node {}\nclass Base<T> {}\n",
        "web/cart.ts": "export interface Cart {}\nexport interface More extends Cart {}\n",
        "web/own/cart.ts": "export interface Cart {}\nexport class Big implements Cart { }\n",
        "shop.go": "package shop\ntype Base struct{}\ntype Cart struct { Base\n Total int }\n",
        "main.go": "package main\ntype Other struct { shop.Unknown }\n",
    }
    assert edges_by(bases, texts) == [
        "go:shop.Cart|TYPE Inherits go:shop.Base|TYPE probable",
        "java:a.Element|TYPE Implements java:a.Node|TYPE probable",
        "java:a.Element|TYPE Inherits java:a.Base|TYPE probable",
        "python:pkg.base.Store.Inner|TYPE Inherits python:pkg.base.Plain|TYPE probable",
        "python:pkg.sql.Plain|TYPE Inherits python:pkg.base.Plain|TYPE probable",
        "python:pkg.sql.SqlStore|TYPE Inherits python:pkg.base.Store|TYPE probable",
        "typescript:web/cart.More|TYPE Inherits typescript:web/cart.Cart|TYPE probable",
        "typescript:web/own/cart.Big|TYPE Implements typescript:web/own/cart.Cart|TYPE probable",
    ]


def test_of_bases_that_are_equally_near_none_is_meant() -> None:
    texts = {"a/x.py": "class Base: ...\n", "b/x.py": "class Base: ...\n", "c/y.py": "class Own(Base): ...\n"}
    assert edges_by(bases, texts) == []


@pytest.mark.parametrize(
    "texts",
    [
        {"shop/migrations/a1.py": "from django.db import migrations\nclass Migration(migrations.Migration): ...\n",
         "shop/migrations/a2.py": "from django.db import migrations\nclass Migration(migrations.Migration): ...\n",
         "crm/migrations/a1.py": "class Migration(migrations.Migration): ...\n"},
        {"src/Foo.ts": "import React from 'react';\nexport class Foo extends React.Component {}\n",
         "src/game/Component.ts": "export class Component {}\n"},
        {"shop/cart.go": "package shop\ntype Cart struct { sync.Mutex }\n",
         "locks/mutex.go": "package locks\ntype Mutex struct { A int }\n"},
        {"a/A.java": "package a;\nclass A extends org.lib.Base {}\n", "b/Base.java": "package b;\nclass Base {}\n"},
    ],
    ids=["python", "typescript", "go", "java"],
)  # fmt: skip
def test_a_base_of_another_module_is_none_of_the_same_name_here(texts: dict[str, str]) -> None:
    assert edges_by(bases, texts) == []


@pytest.mark.parametrize("count", [10, 60])
def test_of_many_types_of_one_name_only_those_beside_it_are_looked_at(count: int) -> None:
    texts = {f"app{number}/m.py": "class Base: ...\n" for number in range(count)}
    texts["app3/m.py"] += "class Own(Base): ...\n"
    texts["app4/sub/m.py"] = "class Far(Base): ...\n"
    near = "python:app3.m.Own|TYPE Inherits python:app3.m.Base|TYPE probable"
    far = "python:app4.sub.m.Far|TYPE Inherits python:app4.m.Base|TYPE probable"
    assert edges_by(bases, texts) == ([near, far] if count < 50 else [near])


CONSTANTS = {
    "pkg/defaults.py": (
        'import os\n\nTTL: int = 500\n"""How long."""\n\nSIZES = [\n    1,\n    2,\n]\nname = 1\n'
        "if TTL == 3:\n    INNER = 1\nclass A:\n    LIMIT = 1\n"
    ),
    "pkg/none.py": "run()\n",
    "web/limits.ts": (
        "export const MAX_ITEMS = compute();\nconst pageSize: number = 20;\nconst load = () => 1;\n"
        "const fs = require('fs');\nlet other = load;\n"
    ),
    "conf/conf.go": (
        "package conf\n\nconst (\n\tdefaultPort = 8080\n\tnext\n)\n\nvar Retries int = 3\n\nfunc F() {\n\tx = 1\n}\n"
    ),
}


def test_constants_outside_of_types_are_properties_of_their_module() -> None:
    found = [one for one in found_by(declarations, CONSTANTS) if isinstance(one, GraphNode)]
    assert {one.name: (one.key, one.line_start, one.line_end, one.signature) for one in found} == {
        "TTL": ("python:pkg.defaults.TTL|PROPERTY", 3, 4, "TTL: int = 500"),
        "SIZES": ("python:pkg.defaults.SIZES|PROPERTY", 6, 9, "SIZES = ["),
        "A": ("python:pkg.defaults.A|TYPE", 13, 14, "class A"),
        "LIMIT": ("python:pkg.defaults.A.LIMIT|PROPERTY", 14, 14, "LIMIT = 1"),
        "MAX_ITEMS": ("typescript:web/limits.MAX_ITEMS|PROPERTY", 1, 1, "export const MAX_ITEMS = compute();"),
        "pageSize": ("typescript:web/limits.pageSize|PROPERTY", 2, 2, "const pageSize: number = 20;"),
        "load": ("typescript:web/limits.load|METHOD", 3, 3, "const load = ()"),
        "defaultPort": ("go:conf.defaultPort|PROPERTY", 4, 4, "defaultPort = 8080"),
        "next": ("go:conf.next|PROPERTY", 5, 5, "next"),
        "Retries": ("go:conf.Retries|PROPERTY", 8, 8, "var Retries int = 3"),
        "F": ("go:conf.F|METHOD", 10, 12, "func F()"),
    }


def test_a_constant_is_contained_in_its_file() -> None:
    edges = edges_by(declarations, {"pkg/defaults.py": "TTL = 1\n"})
    assert edges == ["file:pkg/defaults.py|FILE Contains python:pkg.defaults.TTL|PROPERTY resolved"]


@pytest.mark.parametrize(
    ("path", "text", "found"),
    [
        ("a.py", 'DOC = """\nBAD = 1\n\nOTHER = 2\n"""\nTTL = 3\n', {"DOC": (1, 5), "TTL": (6, 6)}),
        ("a.py", "# \u00e4\nSIZES = {\n  'a': 1,\n\n  'b': 2,\n}  # all\n\n# more\n", {"SIZES": (2, 6)}),
        ("a.py", "ABC, (DEF, *GHI) = x\nJKL = MNO = 1; PQR = 2\nSTU: int\nVWX += 1\nYZA.b = 1\n", {
            "ABC": (1, 1), "DEF": (1, 1), "GHI": (1, 1), "JKL": (2, 2), "MNO": (2, 2), "PQR": (2, 2)
        }),
        ("a.py", 'DOC = """' + "x" * 20_000 + "\nBAD = 1\n" + "y" * 20_000 + '"""\n', {"DOC": (1, 3)}),
        ("a.ts", "const text = `\nconst FAKE = 1;\n`;\nexport const api = { a: 1,\n\n b: 2 };\nlet { C } = x;\n", {
            "text": (1, 3), "api": (4, 6)
        }),
        ("a.js", "export const first = 1,\n  second = 2, third = f();\n", {"first": (1, 1), "second": (2, 2)}),
        ("a.go", "package a\n\nconst (\n\tA = iota\n\tB\n)\nvar a, b = 1, 2\nvar c int\nvar _ = 1\n", {
            "A": (4, 4), "B": (5, 5), "a": (7, 7), "b": (7, 7)
        }),
        ("a.go", "package a\n\nvar text = `\n\tbad = 1\n`\n", {"text": (3, 5)}),
        ("a.go", "package a\r\n\r\nvar t = []int{\r\n\t1,\r\n}\r\n", {"t": (3, 5)}),
    ],
)  # fmt: skip
def test_constants_are_those_of_the_syntax_tree(path: str, text: str, found: dict[str, tuple[int, int]]) -> None:
    """No text inside a string is one, and a value ends where its brackets close."""
    nodes = [one for one in found_by(declarations, {path: text}) if isinstance(one, GraphNode)]
    assert {one.name: (one.line_start, one.line_end) for one in nodes} == found


def test_of_a_long_line_with_many_constants_each_tells_a_little() -> None:
    text = f"const {','.join(f'a{number}=1' for number in range(20_000))};\n"
    nodes = [one for one in found_by(declarations, {"a.js": text}) if isinstance(one, GraphNode)]
    assert len(nodes) == 20_000 and sum(len(one.signature) for one in nodes) < 400 * 20_000 + 1
