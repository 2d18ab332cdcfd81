"""Minimal APIs: endpoints that calls map, in programs and in classes, below their groups (A18, A19)."""

from __future__ import annotations

import pytest

from rag_assets.descriptions.kinds.controller import ControllerDescription, MappedEndpointsDescription
from rag_assets.languages.csharp.web.endpoint_model import Endpoint, RouteOrigin
from rag_assets_tests.descriptions.behaving import only, sections_of
from rag_assets_tests.descriptions.samples import described_file, knowledge_of


def program(text: str) -> tuple[Endpoint, ...]:
    """The endpoints of top-level statements."""
    start = "var app = WebApplication.CreateBuilder(args).Build();\n"
    return only(MappedEndpointsDescription, start + text, "src/Api/Program.cs").endpoints


def endpoints_class(body: str, head: str = "public static class Endpoints") -> tuple[Endpoint, ...]:
    return only(ControllerDescription, f"namespace Shop;\n{head}\n{{\n{body}\n}}", "src/Api/Endpoints.cs").endpoints


def routes_of(endpoints: tuple[Endpoint, ...]) -> list[str]:
    return [f"{route.method} {route.template}" for endpoint in endpoints for route in endpoint.routes]


@pytest.mark.parametrize(
    ("text", "routes"),
    [
        ('app.MapGet("/a", () => 1);', ["GET /a"]),
        ('app.MapPost("a/", () => 1); app.MapPatch("b", () => 1);', ["POST /a", "PATCH /b"]),
        ('app.MapMethods("/m", new[] { "GET", "HEAD" }, () => 1);', ["GET /m", "HEAD /m"]),
        ('app.MapMethods("/m", methods, () => 1);', ["ANY /m"]),
        ('var g = app.MapGroup("/g"); g.MapDelete("/{id}", (int id) => 1);', ["DELETE /g/{id}"]),
        ('app.MapGroup("/g").MapGroup("h").WithTags("x").MapGet("/", () => 1);', ["GET /g/h"]),
        ('var v = app.NewVersionedApi("O"); var g = v.MapGroup("api").HasApiVersion(1, 0); g.MapGet("x", F);',
         ["GET /api/x"]),
        ('RouteGroupBuilder g = app.MapGroup("/a").MapGroup("/b"); var h = g; h.MapPut("c", () => 1);', ["PUT /a/b/c"]),
        ('RouteGroupBuilder g; g = app.MapGroup("/late"); g.MapGet("x", () => 1);', ["GET /late/x"]),
        ('const string Base = "/base"; app.MapGet(Base, () => 1);', ["GET /base"]),
        ('app.MapGet(pattern: "/n", handler: () => 1);', ["GET /n"]),
        ('app?.MapGet("/q", () => 1);', ["GET /q"]),
        ('app.MapGet("/text", () => "app.MapGet(\\"/no\\", x)"); // app.MapGet("/comment", () => 1)', ["GET /text"]),
        ('app.Map("/any", () => 1);', ["ANY /any"]),
        ('app.Map("/raw", async context => await context.Response.WriteAsync("x"));', ["ANY /raw"]),
        ('app.MapGet(Names.Route + "/x", () => 1);\nclass Names { const string A = "/n", Route = A; }',
         ["GET /n/x"]),
        ('if (dev) { app.MapGet("/dev", () => 1); }', ["GET /dev"]),
    ],
)  # fmt: skip
def test_routes_of_map_calls(text: str, routes: list[str]) -> None:
    assert routes_of(program(text)) == routes


def test_a_group_that_a_function_of_the_same_text_gets() -> None:
    """As an argument and as the receiver of an extension method."""
    found = program(
        'MapOrders(app.MapGroup("/orders").RequireAuthorization());\n'
        'void MapOrders(RouteGroupBuilder group) { group.MapGet("/{id}", (int id) => 1); }\n'
    )
    assert routes_of(found) == ["GET /orders/{id}"]
    assert found[0].authorization.text == "required"
    found = endpoints_class(
        'public static void MapAll(this WebApplication app) { app.MapGroup("/all").MapOne(); }\n'
        'static void MapOne(this RouteGroupBuilder group) { group.MapGet("one", () => 1); }'
    )
    assert routes_of(found) == ["GET /all/one"]


def test_a_group_from_elsewhere_leaves_the_route_incomplete() -> None:
    found = endpoints_class('public static void Map(RouteGroupBuilder group) { group.MapGet("one", () => 1); }')
    assert routes_of(found) == ["GET /one"]
    assert not found[0].routes[0].is_complete
    whole = endpoints_class('public static void Map(IEndpointRouteBuilder app) { app.MapGet("one", () => 1); }')
    assert whole[0].routes[0].is_complete
    assert whole[0].routes[0].origin is RouteOrigin.MAPPED


def test_a_library_that_takes_the_handler_first() -> None:
    found = endpoints_class(
        "public void Map(WebApplication app) {\n"
        '  app.MapGroup(this).MapGet(List).MapPut(Update, "{id}"); }\n'
        "/// <summary>Lists.</summary>\npublic Task<Order[]> List(ISender s) => null;\n"
        "public Task<NoContent> Update(int id, Order o) => null;",
        "public class Orders : EndpointGroupBase",
    )
    assert routes_of(found) == ["GET /<Orders>", "PUT /<Orders>/{id}"]
    assert not any(endpoint.routes[0].is_complete for endpoint in found)
    assert [endpoint.handler for endpoint in found] == ["Shop.Orders.List", "Shop.Orders.Update"]


def test_a_method_group_gives_its_facts_and_is_the_slice() -> None:
    text = (
        "namespace Shop;\npublic static class Endpoints\n{\n"
        '  public static void Map(WebApplication app) => app.MapGet("/o/{id}", GetAsync).WithName("GetOrder");\n'
        "  /// <summary>One order.</summary>\n"
        "  static async Task<Results<Ok<Order>, NotFound>> GetAsync(int id, IOrders orders) => null;\n}\n"
    )
    (endpoint,) = only(ControllerDescription, text).endpoints
    assert endpoint.symbol_suffix == "GetAsync(int,IOrders)"
    assert endpoint.handler_key == "csharp:Shop.Endpoints.GetAsync(int,IOrders)|METHOD"
    assert (endpoint.action, endpoint.name, endpoint.summary) == ("Get", "GetOrder", "One order.")
    assert [(r.status, r.type) for r in endpoint.responses] == [(200, "Order"), (404, "")]
    assert endpoint.span.slice(text).startswith("/// <summary>One order.")


def test_a_handler_of_another_type_is_found_through_the_declared_types() -> None:
    text = 'var app = Make();\napp.MapGet("/o", OrderHandlers.List);\napp.MapGet("/p", Unknown.List);\n'
    knowledge = knowledge_of(("src/H.cs", "namespace Shop; public static class OrderHandlers { }"))
    made = only(MappedEndpointsDescription, text, "src/Program.cs", knowledge)
    assert [endpoint.handler for endpoint in made.endpoints] == ["Shop.OrderHandlers.List", "Unknown.List"]


def test_one_handler_behind_two_routes_is_one_endpoint() -> None:
    found = endpoints_class(
        'static void Map(WebApplication app) { app.MapGet("/v1", List); app.MapGet("/v2", List); }\n'
        "static int[] List() => [];"
    )
    assert routes_of(found) == ["GET /v1", "GET /v2"]
    assert len(found) == 1


def test_a_lambda_that_hands_on_to_a_method_has_its_documentation_and_results() -> None:
    """MinimalApi.Endpoint: the lambda in AddRoute calls HandleAsync."""
    (endpoint,) = endpoints_class(
        "public void AddRoute(IEndpointRouteBuilder app) {\n"
        '  app.MapPost("api/items", [Authorize(Roles = "Admin")] async (CreateItem request, IRepo<Item> repo) =>\n'
        '    await HandleAsync(request, repo)).Produces<CreateItemResult>().WithTags("Items"); }\n'
        "/// <summary>Creates an item.</summary>\n"
        'public async Task<IResult> HandleAsync(CreateItem request, IRepo<Item> repo) => Results.Created("x", 1);',
        "public class CreateItemEndpoint : IEndpoint<IResult>",
    )
    assert endpoint.summary == "Creates an item."
    assert endpoint.authorization.text == "roles Admin"
    assert [(r.status, r.type) for r in endpoint.responses] == [(200, "CreateItemResult"), (201, "")]
    assert endpoint.tags == ("Items",)
    assert endpoint.symbol_suffix == "MapPost(/api/items)"


def test_the_only_endpoint_of_a_class_is_what_its_documentation_is_about() -> None:
    (endpoint,) = endpoints_class(
        'public void Map(WebApplication app) => app.MapGet("/t", () => 1);',
        "/// <summary>Tells the time.</summary>\npublic class TimeEndpoint",
    )
    assert (endpoint.summary, endpoint.action) == ("Tells the time.", "TimeEndpoint")


@pytest.mark.parametrize(
    ("parameters", "verb", "expected"),
    [
        ("int id", "Get", ["Route id"]),
        ("string q, int? page", "Get", ["Query q", "Query page?"]),
        ("IOrders orders, OrderService s, ILogger<X> log", "Get", ["Services orders", "Services s", "Services log"]),
        ("Order order", "Post", ["Body order"]),
        ("Order order", "Get", ["Services order"]),
        ("Order order, Clock clock", "Put", ["Body order", "Services clock"]),
        ('[FromHeader(Name = "X")] string x', "Get", ["Header X"]),
        ("string[] tags", "Get", ["Query tags?"]),
        ("[AsParameters] Paging p, [AsParameters] AllServices s", "Get", ["AsParameters p?", "AsParameters s?"]),
        ("HttpContext c, ClaimsPrincipal p", "Get", []),
        ("IFormFile file", "Post", ["Form file"]),
    ],
)
def test_parameters_of_minimal_apis(parameters: str, verb: str, expected: list[str]) -> None:
    (endpoint,) = program(f'app.Map{verb}("/a/{{id}}", ({parameters}) => 1);')
    found = [f"{p.source.value} {p.name}{'' if p.required else '?'}" for p in endpoint.parameters]
    assert found == expected


@pytest.mark.parametrize(
    "declared",
    [
        'record Paging(int Size = 10, string? Sort, int Id, IClock Clock, [FromHeader(Name = "X")] string Key);',
        "class Paging { public int Size { get; set; } = 10; public string? Sort { get; init; }\n"
        "  public int Id { get; set; } public IClock Clock { get; set; }\n"
        '  [FromHeader(Name = "X")] public string Key { get; set; }\n'
        "  public int Twice => 2; private int Own { get; set; } }",
    ],
    ids=["record", "class"],
)
def test_a_parameter_object_of_the_same_file_is_its_members(declared: str) -> None:
    (endpoint,) = program(f'app.MapGet("/a/{{id}}", ([AsParameters] Paging p, string q) => 1);\n{declared}\n')
    found = [f"{p.source.value} {p.name}{'' if p.required else '?'}" for p in endpoint.parameters]
    assert found == ["Query Size?", "Query Sort?", "Route Id", "Services Clock", "Header X", "Query q"]


def test_a_generic_parameter_object_stays_whole() -> None:
    (endpoint,) = program('app.MapGet("/a", ([AsParameters] Paging<int> p) => 1);\nrecord Paging<T>(T Size);\n')
    assert [(p.name, p.source.value, p.required) for p in endpoint.parameters] == [("p", "AsParameters", False)]


@pytest.mark.parametrize(
    "text",
    [
        'app.Map("/branch", branch => { branch.UseRouting(); });',
        'app.Map("/branch", (IApplicationBuilder b) => { });',
        'app.Map("/branch", Branch); void Branch(IApplicationBuilder b) { }',
        'app.Map("/branch", Unknown);',
        "mapper.Map<Order>(x); mapper.Map(source, () => 1); result.Map(x => x + 1);",
    ],
)
def test_other_calls_named_map_are_no_endpoints(text: str) -> None:
    found = described_file(f"var app = Make();\n{text}\n", "src/Program.cs")
    assert not [d for d in found.descriptions if isinstance(d, MappedEndpointsDescription)]


LOCAL = "Task<Order> LocalAsync(int id, string? q) => null;"
MAP_LOCAL = 'app.MapGet("/local/{id}", LocalAsync);'


@pytest.mark.parametrize(
    "text",
    [
        f"{MAP_LOCAL}\n{LOCAL}",
        f"{LOCAL}\n{MAP_LOCAL}",
        f"{MAP_LOCAL}\napp.Run();\nstatic {LOCAL}",
        f"if (dev) {{ {MAP_LOCAL} static {LOCAL} }}",
        f"void Map() {{ {MAP_LOCAL} {LOCAL} }}",
    ],
    ids=["below", "above", "static", "in-block", "in-function"],
)
def test_a_local_function_gives_its_facts(text: str) -> None:
    (endpoint,) = program(text)
    assert endpoint.action == "Local"
    assert endpoint.handler.removeprefix("Program.") == "LocalAsync"
    assert [f"{p.source.value} {p.name} {p.required}" for p in endpoint.parameters] == [
        "Route id True",
        "Query q False",
    ]
    assert [(r.status, r.type) for r in endpoint.responses] == [(200, "Order")]
    assert "Task<Order> LocalAsync(" in endpoint.signature


def test_a_local_function_of_a_method_gives_its_facts() -> None:
    (endpoint,) = endpoints_class(f"public static void Map(WebApplication app) {{ {MAP_LOCAL} {LOCAL} }}")
    assert (endpoint.handler, [p.name for p in endpoint.parameters]) == ("LocalAsync", ["id", "q"])
    assert [r.type for r in endpoint.responses] == ["Order"]


def test_metadata_of_endpoint_and_group() -> None:
    (endpoint,) = program(
        'var g = app.MapGroup("/g").WithTags("G");\n'
        "g.RequireAuthorization();\n"
        'g.MapPost("/x", (Order o) => 1).RequireAuthorization("Staff").WithName("X").WithSummary("Does  x.")\n'
        '  .Produces<Order>(StatusCodes.Status201Created).ProducesProblem(409).Accepts<Order>("application/json");\n'
    )
    assert (endpoint.tags, endpoint.name, endpoint.summary) == (("G",), "X", "Does x.")
    assert endpoint.authorization.text == "policy Staff"
    assert [(r.status, r.type) for r in endpoint.responses] == [(201, "Order"), (409, "ProblemDetails")]
    assert endpoint.consumes == ("application/json",)
    (public,) = program('app.MapGroup("/g").RequireAuthorization().MapGet("/x", () => 1).AllowAnonymous();')
    assert public.authorization.text == "anonymous"


@pytest.mark.rule("A18")
def test_a_program_has_two_descriptions_with_different_sections() -> None:
    """A18: the program itself, and its endpoints."""
    text = 'var app = Make();\napp.MapGet("/a", () => 1);\n'
    found = described_file(text, "src/Program.cs").descriptions
    keys = [{(s.symbol, s.section_key) for s in sections_of(description)} for description in found]
    assert len(found) == 2
    assert not keys[0] & keys[1]
    assert all(key.startswith("endpoint-") for _, key in keys[1])
    plain = described_file("var a = 1;\n", "src/Program.cs")
    assert [type(d).__name__ for d in plain.descriptions].count("MappedEndpointsDescription") == 0


def test_the_slice_of_a_lambda_is_its_statement_also_below_other_text() -> None:
    text = '// größer 😀\nvar app = Make();\n\napp.MapGet("/ä", () => 1)\n   .WithName("A");\n'
    made = only(MappedEndpointsDescription, text, "src/Program.cs")
    span = made.endpoints[0].span
    assert span.slice(text) == 'app.MapGet("/ä", () => 1)\n   .WithName("A");'
    assert (span.line_start, span.line_end) == (4, 5)


@pytest.mark.rule("A13")
@pytest.mark.parametrize(
    "text",
    [
        'app.MapGet("/a"',
        'app.MapGet("/a");',
        'app.MapGet("/a", "b");',
        "app.MapGet(() => 1);",
        "app.MapGet();",
        'var g = g.MapGroup("/x"); g.MapGet("y", () => 1);',
        'var a = b.MapGroup("1"); var b = a.MapGroup("2"); a.MapGet("y", () => 1);',
        'app.MapGet($"/{x}/{{id}}", () => 1);',
        '#if DEBUG\napp.MapGet("/a", () => {\n#else\napp.MapGet("/b", () => {\n#endif\nreturn 1; });',
    ],
    ids=[
        "cut",
        "no-handler",
        "text-handler",
        "no-pattern",
        "nothing",
        "own-group",
        "cycle",
        "interpolated",
        "if-split",
    ],
)
def test_bad_input_never_raises(text: str) -> None:
    """A13."""
    found = described_file(f"var app = Make();\n{text}\n", "src/Program.cs")
    assert not found.failures
    assert found.descriptions


def test_three_hundred_endpoints_stay_apart() -> None:
    found = program("\n".join(f'app.MapGet("/a/{i}", (int id) => {i});' for i in range(300)))
    assert len({endpoint.symbol_suffix for endpoint in found}) == 300


def test_equal_lambdas_have_symbols_of_their_own() -> None:
    found = program('if (x) app.MapGet("/a", () => 1); else app.MapGet("/A", () => 2);\napp.MapGet("/a", () => 3);')
    assert len({endpoint.symbol_suffix.lower() for endpoint in found}) == 3
