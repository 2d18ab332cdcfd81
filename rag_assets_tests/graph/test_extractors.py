"""All extractors together: what they know of other files they have asked, and order changes nothing."""

from __future__ import annotations

import pickle
from dataclasses import fields

import pytest

from rag_assets.contracts.graph import GraphEdge, GraphNode, file_key
from rag_assets.dependency_trace import decoded_questions, encoded_questions, replay_lookups, trace
from rag_assets.graph.extract.registry import graph_of
from rag_assets.languages.label_declarations import LabelDeclarations
from rag_assets.languages.parsed_file import ParsedFile
from rag_assets_tests.graph.chains import files_of, symbols_of


def services(symbols: LabelDeclarations) -> list[object]:
    return [getattr(symbols, entry.name) for entry in fields(LabelDeclarations)]


def found(files: list[ParsedFile], symbols: LabelDeclarations) -> list[GraphNode | GraphEdge]:
    return [part for file in files for part in graph_of(file, symbols)]


@pytest.mark.rule("D19")
def test_every_question_of_an_extractor_can_be_asked_again(shop_texts: dict[str, str]) -> None:
    files = files_of(shop_texts)
    symbols = symbols_of(files)
    with trace() as asked:
        found(files, symbols)
    assert {name.partition(".")[0] for name, _ in asked} >= {"csharp", "ef", "resources", "sql", "types"}
    again = replay_lookups(services(symbols_of(files[::-1], buckets=3)), decoded_questions(encoded_questions(asked)))
    assert again == asked


def test_the_graph_of_a_file_does_not_depend_on_the_order_of_files(shop_texts: dict[str, str]) -> None:
    files = files_of(shop_texts)
    one, other = symbols_of(files), symbols_of(files[::-1], buckets=3)
    assert found(files, one) == found(files, other) == found(files, pickle.loads(pickle.dumps(one)))


def test_equal_answers_mean_equal_edges(shop_texts: dict[str, str]) -> None:
    """A change in one file changes the edges of another only together with an answer that it asked for."""
    files = files_of(shop_texts)
    before = symbols_of(files)
    changed = shop_texts | {
        path: text.replace("DbSet<Order> Orders", "DbSet<Order> AllOrders") for path, text in shop_texts.items()
    }
    after = symbols_of(files_of(changed))
    seen = 0
    for file in files:
        with trace() as asked:
            old = list(graph_of(file, before))
        if replay_lookups(services(after), asked) == asked:
            assert list(graph_of(file, after)) == old
        else:
            seen += 1
    assert 0 < seen < len(files)


@pytest.mark.rule("D18")
@pytest.mark.parametrize(
    "path", ["a.cs", "a.csproj", "a.sql", "a.md", "a.txt", "a.resx", "a.json", "a.py", "a.sh", "a.cshtml", "LICENSE"]
)
def test_every_file_is_one_node(path: str) -> None:
    files = files_of({path: "{}\n"})
    nodes = [part for part in found(files, symbols_of(files)) if isinstance(part, GraphNode)]
    assert [node.key for node in nodes].count(file_key(path)) == 1


@pytest.mark.parametrize(
    "text", ["", "}", "class", "class A { void M( { x.y.z(", "\ud800", "#if X\nclass A {\n#else\n"]
)
@pytest.mark.parametrize("path", ["a.cs", "a.sql", "a.md", "a.resx", "a.csproj", "a.py", "a.cshtml"])
def test_no_text_is_too_bad(path: str, text: str) -> None:
    files = files_of({path: text})
    found(files, symbols_of(files))
