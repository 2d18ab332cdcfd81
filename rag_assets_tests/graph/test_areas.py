"""A graph from far away: its folders, in the order of their layers."""

from __future__ import annotations

from random import Random

import pytest

from rag_assets.contracts.graph import GraphEdge, GraphNode, NodeType, Relation
from rag_assets.graph.build import assemble
from rag_assets.graph.csr_graph import Graph
from rag_assets.graph.modules import REST, Area, area_map


def graph_of(nodes: dict[str, int], uses: list[tuple[str, str]], relation: Relation = Relation.CALLS) -> Graph:
    """`nodes`: path of a file → how many it declares, called `{path}#0` …; `uses`: edges between the first of each."""
    made = [
        GraphNode(f"csharp:{path}#{number}|TYPE", NodeType.TYPE, "T", path, 1, 1)
        for path, count in nodes.items()
        for number in range(count)
    ]
    edges = [GraphEdge(f"csharp:{a}#0|TYPE", relation, f"csharp:{b}#0|TYPE", path=a, line=1) for a, b in uses]
    return Graph(assemble(made, edges).arrays)


LAYERS = {"core/a.cs": 5, "web/a.cs": 9, "data/a.cs": 4}
DOWN = [("web/a.cs", "core/a.cs"), ("data/a.cs", "core/a.cs"), ("web/a.cs", "data/a.cs")]


def test_users_stand_above_what_they_use() -> None:
    found = area_map(graph_of(LAYERS, DOWN))
    assert found.areas == (Area("web", 9), Area("data", 4), Area("core", 5))
    assert set(found.uses) == {("web", "core", 1), ("data", "core", 1), ("web", "data", 1)}


def test_a_circle_is_cut_where_it_is_thinnest() -> None:
    more = [("core/a.cs", "web/b.cs"), *((f"web/{n}.cs", "core/a.cs") for n in "bcd")]
    found = area_map(graph_of(LAYERS | {f"web/{n}.cs": 1 for n in "bcd"}, [*DOWN, *more]))
    assert [area.path for area in found.areas] == ["web", "data", "core"]
    assert found.uses[0] == ("web", "core", 4)


@pytest.mark.parametrize("relation", [Relation.CONTAINS, Relation.MENTIONS])
def test_where_something_is_and_who_writes_about_it_is_no_use(relation: Relation) -> None:
    assert area_map(graph_of(LAYERS, DOWN, relation)).uses == ()


@pytest.mark.parametrize(
    ("nodes", "paths"),
    [
        pytest.param({"a.cs": 1, "b.cs": 2}, ["."], id="files of the root"),
        pytest.param({"src/app/web/a.cs": 3}, ["src/app/web"], id="one chain of folders"),
        pytest.param({"src/a/x.cs": 3, "src/b/x.cs": 2, "t.cs": 1}, ["src/a", "src/b", "."], id="the largest is split"),
        pytest.param({"big/x.cs": 500, "one/x.cs": 1, "two/x.cs": 1}, ["big", REST], id="small ones together"),
        pytest.param({f"d{n:02}/x.cs": 1 for n in range(9)}, ["d00", "d01", "d02", REST], id="alike"),
        pytest.param({}, [], id="nothing"),
    ],
)
def test_what_is_an_area(nodes: dict[str, int], paths: list[str]) -> None:
    assert {area.path for area in area_map(graph_of(nodes, []), most=4).areas} == set(paths)


@pytest.mark.parametrize("seed", range(20))
def test_every_node_is_in_one_area_and_there_are_no_more_than_wanted(seed: int) -> None:
    random = Random(seed)
    paths = ["/".join(random.choice("abcd") for _ in range(random.randint(1, 4))) + ".cs" for _ in range(60)]
    nodes = {path: random.randint(1, 30) for path in paths}
    uses = [(random.choice(paths), random.choice(paths)) for _ in range(200)]
    most = random.randint(3, 14)
    found = area_map(graph_of(nodes, uses), most=most)
    assert sum(area.nodes for area in found.areas) == sum(nodes.values())
    assert 1 <= len(found.areas) <= most
    assert len({area.path for area in found.areas}) == len(found.areas)
    assert all(source != target for source, target, _ in found.uses)
    assert found == area_map(graph_of(dict(reversed(nodes.items())), uses[::-1]), most=most)
