"""Small graphs for tests of walks: a shop by hand, random ones by hypothesis, and what is reachable the slow way."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hypothesis import strategies as st

from rag_assets.contracts.graph import Confidence, GraphEdge, GraphNode, NodeType, Relation
from rag_assets.graph.build import assemble
from rag_assets.graph.csr_graph import Graph
from rag_assets.graph.relations import ALL_STEPS, Direction, WalkStep

KIND_OF = {kind.value: kind for kind in NodeType}


def node(
    key: str,
    path: str = "src/A.cs",
    lines: tuple[int, int] = (1, 9),
    *,
    name: str = "",
    language: str = "csharp",
    signature: str = "",
) -> GraphNode:
    name = name or key.rpartition("|")[0].rpartition(".")[2]
    return GraphNode(key, KIND_OF[key.rpartition("|")[2]], name, path, *lines, language, signature)


def edge(
    source: str,
    relation: Relation,
    target: str,
    confidence: Confidence = Confidence.RESOLVED,
    path: str = "src/A.cs",
    line: int = 1,
) -> GraphEdge:
    return GraphEdge(source, relation, target, confidence, path, line)


def graph_of(nodes: Iterable[GraphNode], edges: Iterable[GraphEdge]) -> Graph:
    return Graph(assemble(nodes, edges).arrays)


def of_edges(edges: Sequence[GraphEdge]) -> Graph:
    """A graph with every end declared."""
    return graph_of([node(key) for key in sorted({end for e in edges for end in (e.source, e.target)})], edges)


def method(name: str) -> str:
    return f"csharp:N.T.{name}()|METHOD"


ROUTE = "http:GET /api/orders/{id}|ENDPOINT"
ACTION = "csharp:Shop.OrdersController.Get(int)|METHOD"
PORT = "csharp:Shop.IOrders.Find(int)|METHOD"
SERVICE = "csharp:Shop.Orders|TYPE"
FIND = "csharp:Shop.Orders.Find(int)|METHOD"
OTHER_FIND = "csharp:Shop.CachedOrders.Find(int)|METHOD"
ENTITY = "csharp:Shop.Order|ENTITY"
ORDER = "csharp:Shop.Order|TYPE"
TABLE = "dbo.Orders|TABLE"
TEST = "csharp:Shop.Tests.OrdersTests.Finds()|METHOD"
MESSAGE = "csharp:Shop.OrderPlaced|TYPE"
HANDLER = "csharp:Shop.OnOrderPlaced.Handle(OrderPlaced)|METHOD"
SENDER = "csharp:Shop.Checkout.Place()|METHOD"
SECTION = "doc:docs/orders.md#orders|SECTION"
FOREIGN = "dbo.Lines|TABLE"

SHOP_NODES = [
    *(node(key) for key in (ROUTE, ACTION, PORT, FIND, OTHER_FIND, ENTITY, ORDER, TEST, MESSAGE, HANDLER, SENDER)),
    *(node(key) for key in (SECTION, FOREIGN, TABLE)),
    node(SERVICE, "src/Orders.cs", (3, 40)),
]
SHOP_EDGES = [
    edge(ACTION, Relation.EXPOSES, ROUTE),
    edge(ACTION, Relation.CALLS, PORT),
    edge(FIND, Relation.IMPLEMENTS, PORT),
    edge(OTHER_FIND, Relation.IMPLEMENTS, PORT),
    edge(SERVICE, Relation.CONTAINS, FIND),
    edge(FIND, Relation.READS_FROM, ENTITY, Confidence.PROBABLE),
    edge(ENTITY, Relation.MAPS_TO, TABLE),
    edge(ENTITY, Relation.MAPS_TO, ORDER),
    edge(FOREIGN, Relation.FOREIGN_KEY, TABLE),
    edge(TEST, Relation.TESTS, FIND),
    edge(SECTION, Relation.MENTIONS, SERVICE),
    edge(HANDLER, Relation.HANDLES, MESSAGE),
    edge(SENDER, Relation.REFERENCES, MESSAGE),
]


def shop() -> Graph:
    return graph_of(SHOP_NODES, SHOP_EDGES)


_names = st.sampled_from([method(f"M{number}") for number in range(12)])
random_edges = st.lists(
    st.builds(edge, _names, st.sampled_from(Relation), _names, st.sampled_from(Confidence), line=st.integers(1, 9)),
    max_size=60,
)
random_steps = st.one_of(
    st.just(ALL_STEPS),
    st.lists(
        st.builds(WalkStep, st.sampled_from(Relation), st.sampled_from(Direction)), min_size=1, max_size=8, unique=True
    ).map(tuple),
)


def reachable(
    edges: Iterable[GraphEdge], starts: Iterable[str], steps: Iterable[WalkStep], depth: int
) -> dict[str, int]:
    """Distance of everything within `depth` steps: breadth first over all edges, as plainly as it can be said."""
    ways = {(step.relation, step.direction) for step in steps}
    distances = dict.fromkeys(starts, 0)
    for distance in range(1, depth + 1):
        for e in edges:
            for start, end, way in ((e.source, e.target, Direction.OUT), (e.target, e.source, Direction.IN)):
                allowed = {(e.relation, way), (e.relation, Direction.BOTH)} & ways
                if allowed and distances.get(start) == distance - 1:
                    distances.setdefault(end, distance)
    return distances
