"""Controllers: which endpoints a class has, with which route, parameters, responses and authorization (A10, A18, A19).

The rules are those of ASP.NET Core; what only a convention implies is marked.
"""

from __future__ import annotations

import pytest

from rag_assets.descriptions.kinds.controller import ControllerDescription
from rag_assets.languages.csharp.web.endpoint_model import ControllerFlavor, Endpoint, RouteOrigin
from rag_assets_tests.descriptions.behaving import EXPECTED, only, sections_of, shop, stored_and_read
from rag_assets_tests.descriptions.samples import described_file, knowledge_of

PREAMBLE = "using Microsoft.AspNetCore.Mvc;\nnamespace Shop.Api;\n"


def controller(text: str, path: str = "src/Shop/Api.cs") -> ControllerDescription:
    return only(ControllerDescription, PREAMBLE + text, path)


def routes_of(endpoints: tuple[Endpoint, ...]) -> list[str]:
    return [f"{route.method} {route.template}" for endpoint in endpoints for route in endpoint.routes]


def action(
    attributes: str, signature: str = "public IActionResult Act(int id) => Ok();", on_class: str = ""
) -> Endpoint:
    made = controller(
        f'[ApiController, Route("api/[controller]")] {on_class}\n'
        f"public class OrdersController : ControllerBase {{ {attributes} {signature} }}"
    )
    assert len(made.endpoints) == 1
    return made.endpoints[0]


# the example shop


@pytest.mark.rule("A19")
def test_the_endpoints_of_the_shop() -> None:
    """The `endpoints` table of EXPECTED.yaml: routes, handlers, authorization, parameters, bodies, responses."""
    found = {
        (route.method, route.template): endpoint
        for description in shop()
        for endpoint in getattr(description, "endpoints", ())
        for route in endpoint.routes
    }
    for row in EXPECTED["endpoints"]:
        endpoint = found[row["method"], row["route"]]
        assert endpoint.handler.endswith(row.get("handler", ""))
        assert _authorization(endpoint) == row.get("authorization", ""), row["route"]
        sources = {parameter.name: parameter.source.value.lower() for parameter in endpoint.parameters}
        assert sources.items() >= row.get("parameters", {}).items()
        if "body" in row:
            assert endpoint.body is not None and endpoint.body.type == row["body"]
        if "responses" in row:
            assert [response.status for response in endpoint.responses] == row["responses"]
    pages = {("GET", "/Catalog"), ("POST", "/Catalog?handler=Search")}
    assert set(found) == {(row["method"], row["route"]) for row in EXPECTED["endpoints"]} | pages


def _authorization(endpoint: Endpoint) -> str:
    said = endpoint.authorization
    return ",".join((*said.policies, *said.roles)) or said.text


# routes


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ('[HttpGet("{id:int}")]', ["GET /api/Orders/{id:int}"]),
        ("[HttpPost]", ["POST /api/Orders"]),
        ('[HttpGet("/health")]', ["GET /health"]),
        ('[HttpGet("~/health")]', ["GET /health"]),
        ('[HttpGet("[action]/{id}")]', ["GET /api/Orders/Act/{id}"]),
        ('[HttpGet("a"), HttpHead("a")]', ["GET /api/Orders/a", "HEAD /api/Orders/a"]),
        ('[HttpGet("a")][HttpPost("b")]', ["GET /api/Orders/a", "POST /api/Orders/b"]),
        ('[HttpGet][HttpPost("b")]', ["POST /api/Orders/b", "GET /api/Orders"]),
        ('[HttpGet, HttpPut][Route("x")]', ["GET /api/Orders/x", "PUT /api/Orders/x"]),
        ('[HttpPost][Route("x")][Route("y")]', ["POST /api/Orders/x", "POST /api/Orders/y"]),
        ('[Route("x")]', ["ANY /api/Orders/x"]),
        ("", ["ANY /api/Orders"]),
        ('[AcceptVerbs("GET", "POST", Route = "v")]', ["GET /api/Orders/v", "POST /api/Orders/v"]),
        ('[HttpGet(template: "named")]', ["GET /api/Orders/named"]),
        ('[HttpGet("a", Name = "GetIt")]', ["GET /api/Orders/a"]),
    ],
)
def test_attribute_routes(attributes: str, expected: list[str]) -> None:
    assert routes_of((action(attributes),)) == expected


def test_several_routes_of_a_class_give_one_endpoint_with_all_of_them() -> None:
    found = action('[HttpGet("{id}")]', on_class='[Route("v2/orders")]')
    assert routes_of((found,)) == ["GET /api/Orders/{id}", "GET /v2/orders/{id}"]


def test_async_is_no_part_of_an_action_name_and_an_action_may_have_another() -> None:
    assert routes_of((action('[HttpGet("[action]")]', "public Task ListAsync() => null;"),)) == ["GET /api/Orders/List"]
    renamed = action('[HttpGet("[action]"), ActionName("all")]')
    assert (renamed.action, routes_of((renamed,))) == ("all", ["GET /api/Orders/all"])


def test_a_constant_of_the_class_is_resolved_and_one_of_elsewhere_is_said_to_be_unknown() -> None:
    made = controller(
        "[ApiController] public class C : ControllerBase {\n"
        '  private const string Base = "api/c";\n'
        '  [HttpGet(Base + "/known")] public int A() => 1;\n'
        "  [HttpGet(Routes.List)] public int B() => 1;\n"
        "}"
    )
    assert routes_of(made.endpoints) == ["GET /api/c/known", "GET /<Routes.List>"]
    assert [endpoint.routes[0].is_complete for endpoint in made.endpoints] == [True, False]


BASE = """\
using Microsoft.AspNetCore.Mvc;
namespace Shop.Api;
[ApiController]
[Route("base/[controller]")]
[Authorize]
public abstract class ApiBase : ControllerBase { }
"""


def test_routes_and_authorization_of_a_base_class() -> None:
    """The nearest class with a route decides; inheritance is followed through declared types only, and said."""
    plain = PREAMBLE + 'public class OrdersController : ApiBase { [HttpGet("{id}")] public int A(Dto d) => 1; }'
    own = PREAMBLE + '[Route("own")] public class OrdersController : ApiBase { [HttpGet("{id}")] public int A() => 1; }'
    for text, route, origin in (
        (plain, "GET /base/Orders/{id}", RouteOrigin.INHERITED),
        (own, "GET /own/{id}", RouteOrigin.ATTRIBUTE),
    ):
        knowledge = knowledge_of(("src/Base.cs", BASE), ("src/Shop/Api.cs", text))
        made = only(ControllerDescription, text, "src/Shop/Api.cs", knowledge)
        (endpoint,) = made.endpoints
        assert routes_of(made.endpoints) == [route]
        assert endpoint.routes[0].origin is origin
        assert (endpoint.authorization.text, endpoint.authorization.inherited) == ("required", True)
        assert made.flavor is ControllerFlavor.API
    alone = only(ControllerDescription, plain, "src/Shop/Api.cs", knowledge_of(("src/Shop/Api.cs", plain)))
    assert routes_of(alone.endpoints) == ["GET /{id}"]
    assert alone.endpoints[0].authorization.text == ""


def test_actions_of_an_abstract_class_keep_the_token_of_the_derived_ones() -> None:
    made = controller(
        '[Route("[controller]")] public abstract class CrudController : ControllerBase {\n'
        '  [HttpGet("{id}")] public int Get(int id) => 1; public int Helper() => 1; }'
    )
    assert routes_of(made.endpoints) == ["GET /[controller]/{id}"]


@pytest.mark.parametrize("head", ["abstract class ApiBase", "class ApiBase<T>"])
def test_endpoints_of_a_class_without_instances_are_for_derived_ones(head: str) -> None:
    """No request reaches them by this class: they are not complete, and no node of the graph."""
    made = controller(
        f'[ApiController][Route("api/[controller]")] public {head} : ControllerBase '
        '{ [HttpGet("ping")] public string Ping() => ""; }'
    )
    assert routes_of(made.endpoints) == ["GET /api/[controller]/ping"]
    assert made.endpoints[0].for_derived and not made.endpoints[0].routes[0].is_complete
    sections = [section for section in sections_of(made) if section.section_key.startswith("endpoint-")]
    assert sections
    assert not [key for section in sections for key in section.graph_node_keys if key.endswith("|ENDPOINT")]
    assert "for derived controllers" in sections[0].finder_snippet


def test_a_derived_controller_says_that_inherited_actions_are_not_listed() -> None:
    text = PREAMBLE + "public class OrdersController : ApiBase { [HttpGet] public int A() => 1; }"
    knowledge = knowledge_of(("src/Base.cs", BASE), ("src/Shop/Api.cs", text))
    made = only(ControllerDescription, text, "src/Shop/Api.cs", knowledge)
    assert ("Base classes, whose actions are not listed here", ("Shop.Api.ApiBase",)) in made.listed_facts()
    assert not made.endpoints[0].for_derived


def test_a_constant_of_another_class_of_the_file_is_resolved() -> None:
    made = controller(
        '[ApiController, Route(Names.Route)] public class C : ControllerBase { [HttpGet("a")] public int A() => 1; }\n'
        'public static class Names { private const string Root = "api"; public const string Route = Root + "/c"; }'
    )
    assert routes_of(made.endpoints) == ["GET /api/c/a"]
    assert made.endpoints[0].routes[0].is_complete


@pytest.mark.rule("A10")
def test_conventional_routes_of_mvc_are_marked() -> None:
    made = controller(
        '[Area("Admin")] public class HomeController : Controller {\n'
        "  public IActionResult Index(int id) => View();\n"
        "  [HttpPost] public IActionResult Save(Form form) => RedirectToAction(nameof(Index));\n"
        "  private int Hidden() => 1; public static int Shared() => 1; [NonAction] public int Not() => 1;\n"
        "  public override string ToString() => null; public T Generic<T>() => default; }"
    )
    assert routes_of(made.endpoints) == ["ANY /Admin/Home/Index/{id?}", "POST /Admin/Home/Save"]
    assert {route.origin for endpoint in made.endpoints for route in endpoint.routes} == {RouteOrigin.CONVENTION}
    assert (made.flavor, made.area) == (ControllerFlavor.MVC, "Admin")


def test_beside_actions_with_routes_a_method_without_is_a_helper() -> None:
    """[L] controllers write full routes: `[HttpGet("/api/agent/{id}")]`."""
    made = controller(
        "public class AgentController : LagoVistaBaseController {\n"
        '  [HttpGet("/api/agent/{id}")] public Task<DetailResponse<Agent>> GetAsync(string id) => null;\n'
        "  public void Helper() { } }"
    )
    assert routes_of(made.endpoints) == ["GET /api/agent/{id}"]


def test_web_api_2() -> None:
    """Prefixes, `~/`, verbs by the name of the action, which is a convention and marked."""
    made = only(
        ControllerDescription,
        "using System.Web.Http;\nnamespace Shop;\n"
        '[RoutePrefix("api/orders")] public class OrdersController : ApiController {\n'
        '  [Route("{id:int}")] public Order GetOrder(int id, [FromUri] Page page) => null;\n'
        '  [HttpPost, Route("~/api/x")] public void Add(Order order) { }\n'
        "  public IHttpActionResult DeleteIt(int id) { return NotFound(); } }",
    )
    assert made.flavor is ControllerFlavor.WEB_API_2
    assert routes_of(made.endpoints) == ["GET /api/orders/{id:int}", "POST /api/x", "DELETE /api/Orders/{id?}"]
    assert [e.routes[0].origin for e in made.endpoints] == [
        RouteOrigin.CONVENTION, RouteOrigin.ATTRIBUTE, RouteOrigin.CONVENTION,
    ]  # fmt: skip
    assert made.endpoints[1].body is not None
    assert [response.status for response in made.endpoints[1].responses] == [204]


def test_a_class_that_is_only_named_like_a_controller_has_no_endpoints() -> None:
    found = described_file(PREAMBLE + "public class PlayerController : IMotorController { public void Jump() { } }")
    assert [type(d).__name__ for d in found.descriptions] == ["SymbolDescription"]


# parameters


@pytest.mark.parametrize(
    ("parameter", "expected"),
    [
        ("int id", "Route id"),
        ('[FromQuery(Name = "q")] string text', "Query q"),
        ('[FromHeader(Name = "X-Key")] string? key', "Header X-Key?"),
        ("[FromForm] string name", "Form name"),
        ("[FromServices] IClock clock", "Services clock"),
        ("[FromBody] Order order", "Body order"),
        ("Order order", "Body order~"),
        ("List<int> ids", "Body ids~"),
        ("int page = 1", "Query page?~"),
        ("DateTime? since", "Query since?~"),
        ("IClock clock", "Services clock~"),
        ("IFormFile file", "Form file~"),
        ("Color color", "Query color~"),
        ("CancellationToken token", ""),
        ("HttpContext context", ""),
        ("[FromQuery] string[] tags", "Query tags?"),
        ("[FromQuery, Required] string? must", "Query must"),
    ],
)
def test_parameters_of_api_controllers(parameter: str, expected: str) -> None:
    """Source and name on the wire; `?` optional, `~` inferred by the rules of [ApiController]."""
    made = controller(
        '[ApiController, Route("a")] public class C : ControllerBase {\n'
        f'  [HttpPost("{{ID:int}}")] public void A({parameter}) {{ }} }}\npublic enum Color {{ Red }}'
    )
    found = [
        f"{p.source.value} {p.name}{'' if p.required else '?'}{'~' if p.inferred else ''}"
        for p in made.endpoints[0].parameters
    ]
    expected = expected.replace("Route id", "Route id~")
    assert found == ([expected] if expected else [])


def test_an_optional_route_parameter_is_not_required() -> None:
    assert not action('[HttpGet("{id?}")]').parameters[0].required
    assert action('[HttpGet("{id}")]').parameters[0].required


def test_parameters_and_responses_have_their_documentation() -> None:
    endpoint = next(
        e for d in shop() if isinstance(d, ControllerDescription) for e in d.endpoints if e.name == "GetOrder"
    )
    assert endpoint.summary == "Shows one order."
    assert endpoint.parameters[0].doc == "Number of the order, as on the confirmation."
    assert [(r.status, r.type, r.doc) for r in endpoint.responses] == [
        (200, "OrderResponse", "The order."),
        (404, "", "There is no such order."),
    ]


# libraries


def test_an_endpoint_class_with_one_attributed_method() -> None:
    """Ardalis.ApiEndpoints: no controller in the name or the bases."""
    made = controller(
        "/// <summary>Authenticates a user.</summary>\n"
        "public class Login : EndpointBaseAsync.WithRequest<LoginRequest>.WithActionResult<Token> {\n"
        "  private readonly IClock _clock;\n"
        '  [HttpPost("api/login")]\n'
        "  public override async Task<ActionResult<Token>> HandleAsync(LoginRequest r, CancellationToken c) => null; }"
    )
    assert made.flavor is ControllerFlavor.ENDPOINT_CLASS
    (endpoint,) = made.endpoints
    assert routes_of(made.endpoints) == ["POST /api/login"]
    assert endpoint.summary == "Authenticates a user."
    assert endpoint.body is not None and endpoint.body.type == "LoginRequest"
    assert [(r.status, r.type) for r in endpoint.responses] == [(200, "Token")]


@pytest.mark.parametrize(
    ("configure", "routes", "authorization", "complete"),
    [
        ('Post("/login"); AllowAnonymous();', ["POST /login"], "anonymous", True),
        ('Get("/a/{id}", "/b/{id}");', ["GET /a/{id}", "GET /b/{id}"], "required", True),
        ('Verbs(Http.PUT); Routes("c"); Roles("Admin");', ["PUT /c"], "roles Admin", True),
        ('Get("x"); Group<Admin>(); Policies("P");', ["GET /x"], "policy P", False),
    ],
)
def test_fast_endpoints(configure: str, routes: list[str], authorization: str, complete: bool) -> None:
    made = controller(
        "public class Login(IClock clock) : Endpoint<LoginRequest, Token> {\n"
        f"  public override void Configure() {{ {configure} }}\n"
        "  public override async Task HandleAsync(LoginRequest r, CancellationToken c) { } }"
    )
    (endpoint,) = made.endpoints
    assert made.flavor is ControllerFlavor.ENDPOINT_CLASS
    assert routes_of(made.endpoints) == routes
    assert endpoint.authorization.text == authorization
    assert all(route.is_complete is complete for route in endpoint.routes)
    assert ("r", "LoginRequest") in {(p.name, p.type) for p in endpoint.parameters}
    assert endpoint.responses[0].type == "Token"


def test_a_fast_endpoint_with_typed_results_and_a_summary() -> None:
    made = controller(
        "public class Create : Endpoint<CreateItem, Results<Created<Item>, ProblemHttpResult>> {\n"
        '  public override void Configure() { Post(CreateItem.Route); Summary(s => { s.Summary = "Adds  it."; }); }\n'
        "  public override async Task<Results<Created<Item>, ProblemHttpResult>> ExecuteAsync(CreateItem r) => null; }"
    )
    (endpoint,) = made.endpoints
    assert endpoint.summary == "Adds it."
    assert [(r.status, r.type) for r in endpoint.responses] == [(201, "Item"), (500, "")]
    assert (routes_of(made.endpoints), endpoint.routes[0].is_complete) == (["POST /<CreateItem.Route>"], False)


# Razor pages

PAGE = """\
[Authorize]
public class EditModel : PageModel
{
    [BindProperty] public Form Input { get; set; }
    [BindProperty(SupportsGet = true, Name = "q")] public string Query { get; set; }
    public void OnGet(int id) { }
    public async Task<IActionResult> OnPostSaveAsync() { return RedirectToPage("/Index"); }
    [NonHandler] public void OnPost() { }
    public void OnGetter() { }
    private void OnPut() { }
}
"""


def test_razor_pages() -> None:
    """The route is that of the path, by convention: an @page template in the markup may say another."""
    made = controller(PAGE, "src/Web/Pages/Orders/Edit.cshtml.cs")
    assert made.flavor is ControllerFlavor.RAZOR_PAGE
    assert routes_of(made.endpoints) == ["GET /Orders/Edit", "POST /Orders/Edit?handler=Save"]
    assert {(r.origin, r.is_complete) for e in made.endpoints for r in e.routes} == {(RouteOrigin.CONVENTION, False)}
    assert [[f"{p.source.value} {p.name}" for p in e.parameters] for e in made.endpoints] == [
        ["Query id", "Query q"],
        ["Form Input", "Form q"],
    ]
    assert [[r.status for r in e.responses] for e in made.endpoints] == [[200], [302]]
    assert {e.authorization.text for e in made.endpoints} == {"required"}


# bad input


@pytest.mark.rule("A13")
@pytest.mark.parametrize(
    "text",
    [
        "[ApiController] public class C : ControllerBase { }",
        '[ApiController, Route("a" public class C : ControllerBase { [HttpGet(] public int A( => 1; }',
        '[Route(] public class C : Controller { [HttpGet("{id")] public void A(int) { } }',
        "[Route] public class C<T> : Controller { [HttpGet(null)] public T A(T t) => t; }",
        'public class C : C { public void A() { } }\n[Route("x")] public class D : C { }',
        '[Route("x")] public class C { public class N : Controller { [HttpGet] public void A() { } } }',
    ],
    ids=["empty", "broken-attribute", "broken-route", "generic", "own-base", "nested"],
)
def test_bad_input_never_raises(text: str) -> None:
    """A13: whatever the text, the builders return results."""
    found = described_file(PREAMBLE + text)
    assert not found.failures
    assert found.descriptions


@pytest.mark.rule("A14")
def test_other_languages_are_left_to_others() -> None:
    """A14: not applicable is success without a value."""
    found = described_file("@RestController public class OrdersController { }", "src/OrdersController.java")
    assert [type(d).__name__ for d in found.descriptions] == ["SymbolDescription"]
    assert not found.failures


def test_facts_survive_storage() -> None:
    made = controller(PAGE, "src/Web/Pages/Orders/Edit.cshtml.cs")
    assert stored_and_read(made) == made
