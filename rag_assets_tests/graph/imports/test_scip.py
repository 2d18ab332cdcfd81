"""SCIP indexes: symbols, definitions, uses and implementations."""

from __future__ import annotations

import pytest

from rag_assets.contracts.graph import Confidence, Relation
from rag_assets.graph.imports.artifact_files import ArtifactFile, Artifacts
from rag_assets.graph.imports.imported_graph import UnusableImport
from rag_assets.graph.imports.key_parser import LabelSymbols
from rag_assets.graph.imports.scip import FORWARD_DEFINITION, IMPORT, documented_key, parse_symbol, scip_graph
from rag_assets_tests.graph.imports.bundles import (
    definition,
    document,
    index,
    information,
    known,
    known_node,
    metadata,
    occurrence,
)

NET = "scip-dotnet nuget . . "
CART, ADD, ADD_1, LOG, WRITE = (
    NET + end for end in ("Shop/Cart#", "Shop/Cart#Add().", "Shop/Cart#Add(+1).", "Shop/Log#", "Shop/Log#Write().")
)
PATH = "src/Cart.cs"


def said(artifacts: Artifacts, known: LabelSymbols | None = None) -> list[tuple[str, str, str, int]]:
    return [(edge.source, edge.relation.value, edge.target, edge.line) for edge in scip_graph(artifacts, known).edges]


@pytest.mark.parametrize(
    ("symbol", "language", "key"),
    [
        (NET + "Orders/OrderService#", "csharp", "csharp:Orders.OrderService|TYPE"),
        (NET + "A/B/Order#Line#Total.", "csharp", "csharp:A.B.Order.Line.Total|PROPERTY"),
        (NET + "A/Order#Find(+1).", "csharp", "csharp:A.Order.Find(+1)|METHOD"),
        (NET + "A/Order#`.ctor`().", "csharp", "csharp:A.Order.Order()|METHOD"),
        (NET + "A/Order#`A.IShape.Draw`().", "csharp", "csharp:A.Order.Draw()|METHOD"),
        ("scip-python python shop 1.0 `shop.cart`/Cart#total().", "python", "python:shop.cart.Cart.total|METHOD"),
        ("scip-python python shop 1.0 `shop.cart`/f().", "python", "python:shop.cart.f|METHOD"),
        ("scip-typescript npm web 1.0.0 src/`cart.ts`/Cart#total().", "typescript",
         "typescript:src/cart.Cart.total|METHOD"),
        ("scip-typescript npm web 1.0.0 src/`cart.ts`/Cart#`<constructor>`().", "typescript",
         "typescript:src/cart.Cart.<constructor>|METHOD"),
        ("semanticdb maven a/b 1 a/b/Cart#total(+2).", "java", "java:a.b.Cart.total(+2)|METHOD"),
        (NET + "A/`we``ird, | name`#", "csharp", "csharp:A.we`ird, | name|TYPE"),
        ("s m name  with  blank v A/B#", "csharp", "csharp:A.B|TYPE"),
        (NET + "A/", "csharp", None),
        (NET + "A/B#M().(parameter)", "csharp", None),
        (NET + "A/B#[T]", "csharp", None),
        ("scip-python python shop 1.0 `shop.cart`/__init__:", "python", None),
    ],
)  # fmt: skip
def test_the_documented_form_of_a_symbol(symbol: str, language: str, key: str | None) -> None:
    parsed = parse_symbol(symbol)
    assert parsed is not None
    assert documented_key(parsed, language) == key


@pytest.mark.parametrize(
    "text",
    ["", "local 1", "a", "a b c d", "a b c d ", NET + "A", NET + "A#`open", NET + "A#M(", NET + "A#M(+1", NET + "[T",
     NET + "A/#", NET + "?", NET + "A#M(a b)."],
)  # fmt: skip
def test_what_is_no_symbol(text: str) -> None:
    assert parse_symbol(text) is None


OURS = known(
    [
        known_node("csharp:My.Shop.Cart`1|TYPE", PATH, (1, 20)),
        known_node("csharp:My.Shop.Cart`1.Add(int)|METHOD", PATH, (3, 6)),
        known_node("csharp:My.Shop.Cart`1.Add(string,List<T>)|METHOD", PATH, (8, 12)),
        known_node("csharp:My.Shop.Log|TYPE", "src/Log.cs", (1, 9)),
        known_node("csharp:My.Shop.Log.Write(string)|METHOD", "src/Log.cs", (3, 5)),
    ]
)
CART_DOCUMENT = document(
    PATH,
    [
        definition(CART, 1, 13),
        definition(ADD, 4),
        definition(ADD_1, 9),
        occurrence(WRITE, 5, 8),
        occurrence(ADD, 11, 8),
    ],
)
LOG_DOCUMENT = document("src/Log.cs", [definition(LOG, 1, 13), definition(WRITE, 3)])


def test_definitions_are_ours_by_their_place() -> None:
    """scip-dotnet writes the last part of a namespace, no arity and no parameter types, and no enclosing ranges."""
    found = scip_graph(index(metadata("file:///build/"), CART_DOCUMENT, LOG_DOCUMENT), OURS)
    assert [node.key for node in found.nodes] == sorted(node.key for key in OURS_KEYS for node in OURS.places(key))
    assert [(edge.source, edge.relation.value, edge.target, edge.path, edge.line) for edge in found.edges] == [
        ("csharp:My.Shop.Cart`1.Add(int)|METHOD", "Calls", "csharp:My.Shop.Log.Write(string)|METHOD", PATH, 5),
        (
            "csharp:My.Shop.Cart`1.Add(string,List<T>)|METHOD",
            "Calls",
            "csharp:My.Shop.Cart`1.Add(int)|METHOD",
            PATH,
            11,
        ),
    ]
    assert {edge.confidence for edge in found.edges} == {Confidence.RESOLVED}
    (coverage,) = found.coverage
    assert coverage.relations == {Relation.CALLS}
    assert coverage.paths == {PATH, "src/Log.cs"}


OURS_KEYS = [
    "csharp:My.Shop.Cart`1|TYPE",
    "csharp:My.Shop.Cart`1.Add(int)|METHOD",
    "csharp:My.Shop.Cart`1.Add(string,List<T>)|METHOD",
    "csharp:My.Shop.Log|TYPE",
    "csharp:My.Shop.Log.Write(string)|METHOD",
]


@pytest.mark.parametrize(
    ("display", "target", "confidence"),
    [
        ("void Cart<T>.Add(string name, List<T> all)", "Add(string,List<T>)", Confidence.RESOLVED),
        ("void Cart<T>.Add(int count)", "Add(int)", Confidence.RESOLVED),
        ("", "Add(string,List<T>)", Confidence.PROBABLE),  # the second overload in the file
    ],
    ids=["displayed", "displayed against the number", "by number"],
)
def test_a_definition_that_has_moved_is_found_by_name(display: str, target: str, confidence: Confidence) -> None:
    moved = document(PATH, [definition(ADD_1, 900)], [information(ADD_1, display)])
    caller = document("src/Log.cs", [definition(WRITE, 3), occurrence(ADD_1, 4)])
    (edge,) = scip_graph(index(moved, caller), OURS).edges
    assert (edge.target, edge.confidence) == (f"csharp:My.Shop.Cart`1.{target}|METHOD", confidence)


def test_without_a_label_the_enclosing_ranges_say_who_calls() -> None:
    artifacts = index(
        document(
            PATH,
            [
                definition(CART, 1, around=(0, 0, 20, 1)),
                definition(ADD, 4, around=(3, 4, 5, 5)),
                definition(ADD_1, 9, around=(8, 4, 8, 60)),
                occurrence(WRITE, 5, 8),
                occurrence(WRITE, 9, 50),
                occurrence(WRITE, 9, 60),
                occurrence(WRITE, 30),
            ],
            [information(ADD, "void Cart.Add(int count)"), information(ADD_1, "void Cart.Add(string? name)")],
        ),
        LOG_DOCUMENT,
    )
    write = "csharp:Shop.Log.Write()|METHOD"
    assert said(artifacts) == [
        ("csharp:Shop.Cart.Add(int)|METHOD", "Calls", write, 5),
        ("csharp:Shop.Cart.Add(string?)|METHOD", "Calls", write, 9),
        ("csharp:Shop.Cart|TYPE", "Calls", write, 9),
        (f"file:{PATH}|FILE", "Calls", write, 30),
    ]
    places = {node.key: (node.line_start, node.line_end) for node in scip_graph(artifacts).nodes}
    assert places["csharp:Shop.Cart.Add(int)|METHOD"] == (4, 6)
    assert places["csharp:Shop.Cart|TYPE"] == (1, 21)


def test_what_is_used_decides_the_relation() -> None:
    field, made = NET + "Shop/Log#level.", NET + "Shop/Log#`.ctor`()."
    uses = [occurrence(LOG, 2), occurrence(field, 3), occurrence(made, 4), occurrence(WRITE, 5), occurrence(CART, 6)]
    artifacts = index(
        document(PATH, [definition(CART, 1, around=(0, 0, 9, 0)), *uses]),
        document("src/Log.cs", [definition(symbol, 1 + at) for at, symbol in enumerate((LOG, field, made, WRITE))]),
    )
    assert {(relation, target.removeprefix("csharp:Shop."), line) for _, relation, target, line in said(artifacts)} == {
        ("UsesType", "Log|TYPE", 2),
        ("References", "Log.level|PROPERTY", 3),
        ("Constructs", "Log.Log()|METHOD", 4),
        ("Constructs", "Log|TYPE", 4),
        ("Calls", "Log.Write()|METHOD", 5),
    }


@pytest.mark.parametrize(
    "use",
    [
        occurrence(WRITE, 5, roles=IMPORT),
        occurrence(WRITE, 5, roles=FORWARD_DEFINITION | 1),
        occurrence("local 3", 5),
        occurrence(NET + "System/Console#WriteLine(+9).", 5),
        occurrence("", 5),
    ],
    ids=["import", "forward definition", "local", "of another project", "no symbol"],
)
def test_what_is_no_use_of_ours(use: object) -> None:
    found = said(index(document(PATH, [definition(ADD, 1, around=(0, 0, 9, 0)), use]), LOG_DOCUMENT))
    assert [edge for edge in found if edge[0].startswith("csharp:")] == []


def test_types_inherit_and_members_override() -> None:
    base, animal, sound, root_sound, own_sound = (
        NET + end
        for end in ("Zoo/Base#", "Zoo/IAnimal#", "Zoo/IAnimal#Sound().", "Zoo/Base#Sound().", "Zoo/Cat#Sound().")
    )
    cat, loud = NET + "Zoo/Cat#", NET + "Zoo/ILoud#"
    symbols = [cat, base, animal, loud, sound, root_sound, own_sound]
    infos = [
        information(cat, "class Cat", [base, animal, loud]),  # all interfaces, as scip-dotnet lists them
        information(base, "class Base"),
        information(animal, "interface IAnimal", [loud]),
        information(loud, "interface ILoud"),
        information(own_sound, "string Cat.Sound()", [sound, root_sound, own_sound, "nonsense"]),
    ]
    artifacts = index(document("Zoo.cs", [definition(each, at + 1) for at, each in enumerate(symbols)], infos))
    assert [edge[:3] for edge in said(artifacts)] == [
        ("csharp:Zoo.Cat.Sound()|METHOD", "Implements", "csharp:Zoo.IAnimal.Sound()|METHOD"),
        ("csharp:Zoo.Cat.Sound()|METHOD", "Overrides", "csharp:Zoo.Base.Sound()|METHOD"),
        ("csharp:Zoo.Cat|TYPE", "Implements", "csharp:Zoo.IAnimal|TYPE"),
        ("csharp:Zoo.Cat|TYPE", "Inherits", "csharp:Zoo.Base|TYPE"),
        ("csharp:Zoo.IAnimal|TYPE", "Inherits", "csharp:Zoo.ILoud|TYPE"),
    ]


def test_types_that_inherit_in_a_circle() -> None:
    artifacts = index(
        document(
            PATH,
            [definition(CART, 1), definition(LOG, 2)],
            [information(CART, implements=[LOG, CART]), information(LOG, implements=[CART])],
        )
    )
    assert [edge[:3] for edge in said(artifacts)] == [
        ("csharp:Shop.Cart|TYPE", "Inherits", "csharp:Shop.Log|TYPE"),
        ("csharp:Shop.Log|TYPE", "Inherits", "csharp:Shop.Cart|TYPE"),
    ]


def test_an_enum_value_is_its_enum() -> None:
    """Values are no nodes; an event is one, though scip-dotnet calls it a type."""
    ours = known(
        [
            known_node("csharp:N.Color|TYPE", "Color.cs", (1, 4), "public enum Color"),
            known_node("csharp:N.Bus|TYPE", "Bus.cs", (1, 9), "class Bus"),
            known_node("csharp:N.Bus.Sent|PROPERTY", "Bus.cs", (3, 3)),
        ]
    )
    red, sent = NET + "N/Color#Red.", NET + "N/Bus#Sent#"
    artifacts = index(
        document("Color.cs", [definition(NET + "N/Color#", 1), definition(red, 2)]),
        document(
            "Bus.cs", [definition(NET + "N/Bus#", 1), definition(sent, 3), occurrence(red, 5), occurrence(sent, 6)]
        ),
    )
    assert said(artifacts, ours) == [
        ("csharp:N.Bus|TYPE", "References", "csharp:N.Bus.Sent|PROPERTY", 6),
        ("csharp:N.Bus|TYPE", "UsesType", "csharp:N.Color|TYPE", 5),
    ]


@pytest.mark.parametrize("root", ["", "file:///home/ci/work", "file:///C:/agent/_work/1/s", "file:///home/ci/work/src"])
def test_paths_below_any_root(root: str) -> None:
    relative = "Cart.cs" if root.endswith("src") else "src\\Cart.cs"
    found = scip_graph(index(metadata(root), document(relative, [definition(CART, 1)])), OURS)
    assert [node.path for node in found.nodes] == [PATH]


def test_a_file_of_the_index_only_is_told() -> None:
    found = scip_graph(index(CART_DOCUMENT, document("obj/Made.cs", [definition(LOG, 1)])), OURS)
    assert found.problems == ("index.scip: a file that the label does not have (obj/Made.cs)",)


def test_a_damaged_index_is_not_used_and_told() -> None:
    damaged = ArtifactFile("web/index.scip", LOG_DOCUMENT[:-3])
    found = scip_graph(Artifacts("graphs", (ArtifactFile("index.scip", CART_DOCUMENT), damaged)), OURS)
    assert {node.path for node in found.nodes} == {PATH}
    assert [problem.partition(" (")[0] for problem in found.problems] == [
        "web/index.scip: not used, it is cut or damaged"
    ]


@pytest.mark.parametrize("unknown", [b"\x4a\x05bytes", b"\x48\x05", b"\x4d1234", b"\x49" + b"1" * 8], ids=repr)
def test_fields_that_we_do_not_know_are_passed_over(unknown: bytes) -> None:
    assert scip_graph(index(unknown, CART_DOCUMENT), OURS) == scip_graph(index(CART_DOCUMENT), OURS)


@pytest.mark.parametrize("data", [b"", b"\xff" * 40, b"not an index", b"\x00\x00", b"PK\x03\x04"], ids=repr)
def test_what_is_no_index(data: bytes) -> None:
    with pytest.raises(UnusableImport, match=r"index\.scip: nothing of it can be used: "):
        scip_graph(index(data))


@pytest.mark.parametrize("numbers", [(), (1,), (1, 2), (-1, 0, 3), (5, 9, 3), (1, 2, 3, 4, 5)], ids=str)
def test_impossible_ranges_are_left_out(numbers: tuple[int, ...]) -> None:
    bad = occurrence(WRITE, 5)
    bad.range[:] = numbers
    assert said(index(document(PATH, [definition(ADD, 1, around=numbers), bad]), LOG_DOCUMENT)) == []


def test_a_file_of_two_projects_counts_once() -> None:
    once = scip_graph(index(CART_DOCUMENT, LOG_DOCUMENT), OURS)
    assert scip_graph(index(CART_DOCUMENT, LOG_DOCUMENT, CART_DOCUMENT), OURS) == once


def test_the_order_of_documents_does_not_matter() -> None:
    one, other = (
        scip_graph(index(*parts), OURS) for parts in ((CART_DOCUMENT, LOG_DOCUMENT), (LOG_DOCUMENT, CART_DOCUMENT))
    )
    assert one == other
