"""From what people type to nodes: short symbols, tables, routes, paths, places; candidates and near names."""

from __future__ import annotations

import pytest

from rag_assets.contracts.graph import GraphNode, NodeType, Relation
from rag_assets.graph.csr_graph import Graph
from rag_assets.graph.lookup import Match, NotFound, find, named, nodes_named, short_name
from rag_assets_tests.graph.small_graphs import edge, graph_of, node

SERVICE = "csharp:Shop.Orders.OrderService|TYPE"
CONSTRUCTOR = "csharp:Shop.Orders.OrderService.OrderService(IClock)|METHOD"
CANCEL = "csharp:Shop.Orders.OrderService.Cancel(int)|METHOD"
CANCEL_ALL = "csharp:Shop.Orders.OrderService.Cancel(Dictionary<string,System.Int32>,(int,int))|METHOD"
OTHER = "csharp:Legacy.OrderService|TYPE"
REPOSITORY = "csharp:Shop.Repository`1|TYPE"
PLAIN = "csharp:Shop.Repository|TYPE"
GET = "csharp:Shop.Repository`1.Get(T)|METHOD"
ORDER, ORDER_ENTITY = "csharp:Shop.Order|TYPE", "csharp:Shop.Order|ENTITY"
TABLE, SPACED, REFERRED = "dbo.Orders|TABLE", "dbo.Order Lines|TABLE", "dbo.orders|TABLE_OR_VIEW"
SET, SET_PROPERTY = "csharp:Shop.Context.Orders|DBSET", "csharp:Shop.Context.Orders|PROPERTY"
ROUTE, POST = "http:GET /api/orders/{id}|ENDPOINT", "http:POST /api/orders/{id}|ENDPOINT"
FILE = "file:src/Orders/OrderService.cs|FILE"
SECTION = "doc:docs/guide.md#cancelling-orders|SECTION"
PACKAGE = "nuget:Newtonsoft.Json|PACKAGE"
PIPE = "dbo.a|b|TABLE"
POOL, POOL_CONSTRUCTOR = "csharp:Shop.Pool`1|TYPE", "csharp:Shop.Pool`1.Pool(int)|METHOD"
CACHE, CACHE_PROPERTY = "csharp:Shop.Cache`2|TYPE", "csharp:Shop.Context.Cache|PROPERTY"
BASKET, BASKET_ENTITY, BASKET_VIEW = "csharp:Shop.Basket|TYPE", "csharp:Shop.Basket|ENTITY", "csharp:Web.Basket|TYPE"
LEDGER, LEDGER_REFERRED = "dbo.Ledger|TABLE", "dbo.Ledger|TABLE_OR_VIEW"


@pytest.fixture(scope="module")
def graph() -> Graph:
    path = "src/Orders/OrderService.cs"
    nodes = [
        node(SERVICE, path, (3, 40)),
        node(SERVICE, "src/Orders/OrderService.Cancel.cs", (1, 9)),
        node(CONSTRUCTOR, path, (5, 6), name="OrderService"),
        node(CANCEL, path, (7, 9), name="Cancel"),
        node(CANCEL_ALL, path, (10, 12), name="Cancel"),
        node(OTHER, "old/OrderService.cs"),
        node(SECTION, "docs/guide.md", name="Cancelling orders", language="markdown"),
        node(FILE, path, (1, 50), name="OrderService.cs"),
        *map(
            node,
            (REPOSITORY, PLAIN, GET, ORDER, ORDER_ENTITY, TABLE, SPACED, SET, SET_PROPERTY, ROUTE, POST, PIPE, LEDGER),
        ),
        *map(node, (POOL, POOL_CONSTRUCTOR, CACHE, CACHE_PROPERTY, BASKET, BASKET_ENTITY, BASKET_VIEW)),
    ]
    reads = [edge(CANCEL, Relation.READS_FROM, target) for target in (REFERRED, LEDGER_REFERRED)]
    return graph_of(nodes, [*reads, edge(FILE, Relation.USES_TYPE, PACKAGE)])


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        pytest.param(SERVICE, [SERVICE], id="key"),
        pytest.param(f"  {CANCEL_ALL} ", [CANCEL_ALL], id="key with blanks around"),
        pytest.param(PIPE, [PIPE], id="key with a pipe"),
        pytest.param("Orders.OrderService", [SERVICE], id="end of a symbol"),
        pytest.param("orders.orderservice", [SERVICE], id="another case"),
        pytest.param("Shop.Orders.OrderService", [SERVICE], id="whole symbol"),
        pytest.param("csharp:Shop.Orders.OrderService", [SERVICE], id="key without its kind"),
        pytest.param("Legacy.OrderService|TYPE", [OTHER], id="with its kind"),
        pytest.param("Cancel(int)", [CANCEL], id="overload"),
        pytest.param("OrderService::Cancel( int )", [CANCEL], id="overload as C++ writes it"),
        pytest.param("Cancel(Dictionary<string, Int32>, (int, int))", [CANCEL_ALL], id="parameters without namespaces"),
        pytest.param("OrderService.OrderService", [CONSTRUCTOR], id="constructor"),
        pytest.param("Repository", [PLAIN], id="exact beats generic"),
        pytest.param("Pool", [POOL], id="a generic type before its constructor"),
        pytest.param("Pool.Pool", [POOL_CONSTRUCTOR], id="the constructor of a generic type"),
        pytest.param("Cache", [CACHE], id="a generic type before a property of the same name"),
        pytest.param("cache", [CACHE], id="the same without case"),
        pytest.param("Repository`1", [REPOSITORY], id="arity"),
        pytest.param("Repository.Get", [GET], id="generic without arity"),
        pytest.param("Repository<T>.Get", [GET], id="generic as it is written"),
        pytest.param("Order", [ORDER_ENTITY, ORDER], id="one class in two roles"),
        pytest.param("Order|entity", [ORDER_ENTITY], id="one of the roles"),
        pytest.param("Orders", [TABLE], id="a table before a property of the same name"),
        pytest.param("Context.Orders", [SET, SET_PROPERTY], id="one set in two roles"),
        pytest.param("Ledger", [LEDGER], id="a table before a reference to it"),
        pytest.param("Orders|TABLE", [TABLE], id="table without schema"),
        pytest.param("[dbo].[Orders]", [TABLE], id="brackets"),
        pytest.param('"dbo"."Order Lines"', [SPACED], id="quotes"),
        pytest.param("GET /api/orders/{id}", [ROUTE], id="route"),
        pytest.param("post /api/orders/{orderId}", [POST], id="route with another parameter name"),
        pytest.param("GET /api/orders/:id", [ROUTE], id="route as Express writes it"),
        pytest.param("GET /api/orders/<int:id>", [ROUTE], id="route as Flask writes it"),
        pytest.param("GET /api/orders/17?full=1", [ROUTE], id="a request as a log has it"),
        pytest.param("src/Orders/OrderService.cs", [FILE], id="path"),
        pytest.param("Orders\\OrderService.cs", [FILE], id="end of a path with backslashes"),
        pytest.param("./src/Orders/OrderService.cs:8", [CANCEL], id="place"),
        pytest.param("OrderService.cs:11-12", [CANCEL_ALL], id="place in the only file of that name"),
        pytest.param("src/Orders/OrderService.cs:20", [SERVICE], id="place between members"),
        pytest.param("docs/guide.md#cancelling-orders", [SECTION], id="section"),
        pytest.param("Cancel", [CANCEL, CANCEL_ALL], id="overloads"),
        pytest.param("OrderService.cancel", [CANCEL, CANCEL_ALL], id="overloads in another case"),
        pytest.param("Cancelling orders", [SECTION], id="display name"),
        pytest.param("newtonsoft.json", [PACKAGE], id="package"),
    ],
)
def test_found(graph: Graph, text: str, keys: list[str]) -> None:
    assert sorted(graph.keys[found] for found in nodes_named(graph, text)) == sorted(keys)


@pytest.mark.parametrize(
    ("text", "listed"),
    [
        pytest.param("OrderService", [f"{SERVICE}  src/Orders/OrderService.Cancel.cs:1 and 1 more", OTHER], id="types"),
        pytest.param("/api/orders/{id}", [ROUTE, POST], id="verbs"),
        pytest.param("/api/orders/17", [ROUTE, POST], id="verbs of a request"),
        pytest.param("Basket", [BASKET, BASKET_VIEW], id="a class that is an entity once"),
    ],
)
def test_several_candidates_are_listed_with_kind_and_place(graph: Graph, text: str, listed: list[str]) -> None:
    with pytest.raises(NotFound, match=f"may be {len(listed)} nodes; choose one by its key") as caught:
        nodes_named(graph, text)
    assert [candidate for candidate in listed if candidate not in str(caught.value)] == []
    assert "OrderService(IClock)" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "near"),
    [
        pytest.param("OrderServise", SERVICE, id="misspelled"),
        pytest.param("Reposittory", PLAIN, id="a letter too many"),
        pytest.param("delete /api/orders/{id}", ROUTE, id="unknown verb"),
        pytest.param("GET /api/orders/17/lines", ROUTE, id="a request with more segments"),
        pytest.param("src/Orders/OrderServce.cs:7", FILE, id="place in a misspelled file"),
    ],
)
def test_a_miss_names_the_nearest(graph: Graph, text: str, near: str) -> None:
    with pytest.raises(NotFound, match="nothing in the graph is called") as caught:
        nodes_named(graph, text)
    assert near in str(caught.value)


def test_the_nearest_is_the_declaration_before_its_constructor(graph: Graph) -> None:
    near = find(graph, "OrderServise").near
    assert near[0] in (SERVICE, OTHER)
    assert CONSTRUCTOR not in near


RECORD = "csharp:Shop.Line|TYPE"


@pytest.mark.parametrize(
    ("text", "key"),
    [
        pytest.param("src/Line.cs:3", RECORD, id="a type and its properties on one line"),
        pytest.param("Line", RECORD, id="a type before a route of the same name"),
        pytest.param("/Line", "http:GET /Line|ENDPOINT", id="a route with its slash"),
    ],
)
def test_what_is_meant(text: str, key: str) -> None:
    members = [node(f"csharp:Shop.Line.{name}|PROPERTY", "src/Line.cs", (3, 3)) for name in ("Id", "Total")]
    page = node("http:GET /Line|ENDPOINT", "src/Page.cs", (1, 1))
    graph = graph_of([*members, node(RECORD, "src/Line.cs", (3, 3)), page], [])
    assert [graph.keys[found] for found in nodes_named(graph, text)] == [key]


@pytest.mark.parametrize(
    "text",
    ["", "   ", "|", "|TYPE", "()", ".", "/", "(((", "<<<>", "日本", "x" * 100_000, ":1", "a.cs:9999999999999999999"],
)
def test_nonsense_finds_nothing(graph: Graph, text: str) -> None:
    assert find(graph, text).nodes == ()


def test_more_candidates_than_fit_are_counted() -> None:
    many = graph_of([node(f"csharp:N{number}.Same|TYPE") for number in range(30)], [])
    with pytest.raises(NotFound, match=r"(?s)may be 30 nodes.*and 20 more; name more of it") as caught:
        nodes_named(many, "Same")
    assert str(caught.value).count("\n") == 11


def test_an_empty_graph_has_nothing() -> None:
    assert find(graph_of([], []), "Anything").nodes == ()


def test_what_is_only_like_it_is_not_looked_for_by_who_needs_none(graph: Graph) -> None:
    assert find(graph, "OrderServise").near
    assert named(graph, "OrderServise") == Match()
    assert named(graph, SERVICE) == find(graph, SERVICE)


@pytest.fixture(scope="module")
def related() -> Graph:
    """A service with a base, an interface, and methods that extend them."""
    service, base, contract = "csharp:Shop.Service|TYPE", "csharp:Shop.ServiceBase`1|TYPE", "csharp:Shop.IService|TYPE"
    extends = "public static void {0}(this {1} service)"
    nodes = [
        *map(node, (service, base, contract, SAVE, "csharp:Shop.Other.Save()|METHOD")),
        *(
            GraphNode(key, NodeType.METHOD, name, "a.cs", 1, 1, "csharp", extends.format(name, of))
            for key, name, of in ((RUN, "Run", "IService"), (STOP, "Stop", "Other"))
        ),
    ]
    edges = [edge(service, Relation.INHERITS, base), edge(service, Relation.IMPLEMENTS, contract)]
    return graph_of(nodes, edges)


SAVE = "csharp:Shop.ServiceBase`1.Save(T)|METHOD"
RUN, STOP = "csharp:Shop.Extensions.Run(IService?,int)|METHOD", "csharp:Shop.Extensions.Stop(Other)|METHOD"


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        pytest.param("Service.Save", [SAVE], id="inherited"),
        pytest.param("Service.Run", [RUN], id="extension of an interface"),
        pytest.param("shop.service.run", [RUN], id="in another case"),
        pytest.param("Service.Stop", [], id="extension of another type"),
        pytest.param("Nobody.Save", [], id="no such type"),
    ],
)
def test_what_a_type_has_and_does_not_declare(related: Graph, text: str, keys: list[str]) -> None:
    assert [related.keys[found] for found in named(related, text).nodes] == keys


@pytest.fixture(scope="module")
def namesakes() -> Graph:
    """Two services of one name, each with a base, and an extension of a third one."""
    own, base, other, root = (f"csharp:{name}|TYPE" for name in ("A.Service", "A.Base", "B.Service", "B.Root"))
    run = "public static void Run(this C.Service service, int times)"
    walk = "public static void Walk(this Service service)"
    nodes = [
        *map(node, (own, base, other, root, BASE_SAVE, ROOT_SAVE, "python:a.Base.load|METHOD")),
        GraphNode(EXTENSION, NodeType.METHOD, "Run", "a.cs", 1, 1, "csharp", run),
        GraphNode(OF_OTHER, NodeType.METHOD, "Walk", "a.cs", 1, 1, "csharp", walk),
    ]
    edges = [
        edge(own, Relation.INHERITS, base),
        edge(other, Relation.INHERITS, root),
        edge(OF_OTHER, Relation.USES_TYPE, other),
    ]
    return graph_of(nodes, edges)


BASE_SAVE, ROOT_SAVE = "csharp:A.Base.Save(int)|METHOD", "csharp:B.Root.Save(string)|METHOD"
EXTENSION, OF_OTHER = "csharp:E.Extensions.Run(C.Service,int)|METHOD", "csharp:E.Extensions.Walk(Service)|METHOD"


@pytest.mark.parametrize(
    ("text", "nodes", "candidates"),
    [
        pytest.param("Service.Save", [], [BASE_SAVE, ROOT_SAVE], id="of two types that have nothing in common"),
        pytest.param("A.Service.Save", [BASE_SAVE], [], id="of the one that is named"),
        pytest.param("A.Service.Save(int)", [BASE_SAVE], [], id="with its parameters"),
        pytest.param("A.Service.Save(string,string)", [], [], id="other parameters"),
        pytest.param("Service.Save(string)", [ROOT_SAVE], [], id="the one of these parameters"),
        pytest.param("A.Service.Save|PROPERTY", [], [], id="of another kind"),
        pytest.param("csharp:A.Service.Save|METHOD", [BASE_SAVE], [], id="of the kind and language"),
        pytest.param("python:A.Service.Save", [], [], id="of another language"),
        pytest.param("A.Service.Run", [], [], id="an extension of another namespace"),
        pytest.param("A.Service.Walk", [], [], id="an extension that is bound to another type"),
        pytest.param("B.Service.Walk()", [OF_OTHER], [], id="an extension that is bound to it"),
    ],
)
def test_what_a_type_has_is_that_of_the_type_and_the_parameters(
    namesakes: Graph, text: str, nodes: list[str], candidates: list[str]
) -> None:
    found = named(namesakes, text)
    assert [namesakes.keys[one] for one in found.nodes] == nodes
    assert [namesakes.keys[one] for one in found.candidates] == candidates


def test_a_base_class_is_asked_before_an_interface() -> None:
    own, base, contract = "csharp:S.Own|TYPE", "csharp:S.Base|TYPE", "csharp:S.IOwn|TYPE"
    nodes = [*map(node, (own, base, contract, "csharp:S.Base.Go()|METHOD", "csharp:S.IOwn.Go()|METHOD"))]
    graph = graph_of(nodes, [edge(own, Relation.IMPLEMENTS, contract), edge(own, Relation.INHERITS, base)])
    assert [graph.keys[found] for found in named(graph, "Own.Go").nodes] == ["csharp:S.Base.Go()|METHOD"]


def test_a_name_of_many_segments_is_looked_up_once() -> None:
    keys = ["csharp:A.S|TYPE", *(f"csharp:A.S.Save(T{number})|METHOD" for number in range(300))]
    graph = graph_of(map(node, keys), [])
    assert find(graph, ".".join(["Save"] * 2_000)).nodes == ()


@pytest.mark.parametrize(
    ("text", "key"),
    [("junit:junit", "maven:junit:junit|PACKAGE"), ("Zope_Interface", "pypi:zope-interface|PACKAGE")],
)
def test_a_package_is_found_by_the_whole_of_its_name(text: str, key: str) -> None:
    graph = graph_of([node("maven:junit:junit|PACKAGE"), node("pypi:zope-interface|PACKAGE")], [])
    assert [graph.keys[found] for found in named(graph, text).nodes] == [key]


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("typescript:web/src/cart.Cart.add|METHOD", "Cart.add"),
        ("typescript:web/src/cart.add|METHOD", "cart.add"),
        ("rust:src/walk.Batch|TYPE", "Batch"),
        ("csharp:Shop.Money.operator /(Money,Money)|METHOD", "Money.operator /"),
        ("ruby:Money./|METHOD", "Money./"),
    ],
)
def test_a_short_name_has_no_folders_but_the_operator_that_is_a_slash(key: str, name: str) -> None:
    assert short_name(key) == name


def test_a_member_of_cpp_is_found_where_its_type_declares_it_and_where_it_is_defined() -> None:
    declared, defined = "c:log.logger.flush_on|METHOD", "c:include/logger-inl.logger::flush_on|METHOD"
    other = "c:log.registry.flush_on|METHOD"
    graph = graph_of([node(declared, "logger.h"), node(defined, "logger-inl.h"), node(other, "registry.h")], [])
    for text in ("logger::flush_on", "logger.flush_on"):
        assert sorted(graph.keys[found] for found in named(graph, text).nodes) == sorted((declared, defined))
    assert len(named(graph, "flush_on").candidates) == 3
    assert short_name(defined) == "logger.flush_on"
