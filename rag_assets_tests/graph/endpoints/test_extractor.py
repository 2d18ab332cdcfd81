"""Routes as nodes and what exposes them: endpoint → handler."""

from __future__ import annotations

from collections.abc import Mapping
from time import process_time

import pytest

from rag_assets.contracts.graph import GraphEdge
from rag_assets.graph.extract.endpoints import endpoints
from rag_assets.graph.extract.registry import graph_of
from rag_assets.languages.csharp.web.mapped_actions import routes_of_actions
from rag_assets_tests.graph.chains import edges_by, files_of, nodes_by, symbols_of, told

CONTROLLER = """
    namespace Shop;
    [ApiController, Route("api/[controller]")]
    public class OrdersController : ControllerBase
    {
        [HttpGet("{id:int}")] public Order Get(int id) => null;
        [HttpPost] public void Add(Order order) { }
    }
"""
CONVENTIONAL = "namespace Shop; public class HomeController : Controller { public IActionResult About() => View(); }"
MINIMAL = """
    var app = WebApplication.Create();
    app.MapGet("/ping", Ping);
    app.MapGroup("/api").MapPost("/orders", (Order o) => o);
    static string Ping() => "pong";
"""
METHOD_GROUPS = """
    namespace Shop;
    public static class Api
    {
        public static void Map(IEndpointRouteBuilder app) { app.MapGet("/a", Own); app.MapGet("/b", Other.Do); }
        static int Own() => 1;
    }
    public static class Other { public static int Do() => 2; }
"""
FAST = """
    namespace Shop;
    public class GetOrder : Endpoint<Req, Res>
    {
        public override void Configure() { Get("/orders/{id}"); AllowAnonymous(); }
        public override Task HandleAsync(Req r, CancellationToken c) => null;
    }
"""
ARDALIS = """
    namespace Shop;
    public class List : EndpointBaseAsync.WithoutRequest.WithActionResult<int>
    {
        [HttpGet("/lists")] public override Task<ActionResult<int>> HandleAsync(CancellationToken c) => null;
    }
"""
PAGE = (
    "namespace Shop; public class IndexModel : PageModel { public void OnGet() { } public void OnPostSave(int a) { } }"
)
WEB_API_2 = """
    using System.Web.Http;
    namespace Shop;
    [RoutePrefix("v1")] public class OldController : ApiController { [Route("x")] public int GetX() => 1; }
"""
WEB_API_2_BY_NAME = """
    using System.Web.Http;
    namespace Shop;
    public class TrashController : ApiController
    {
        public int Get() => 1;
        public int GetByName(string name) => 1;
        [HttpPut] public int Purge(Item item) => 1;
        [HttpPut] public int Restore(Item item) => 1;
        [HttpPost] public int Empty() => 1;
    }
"""
NESTED = """
    namespace Shop;
    public class F { [ApiController] public class C : ControllerBase { [HttpGet("/f")] public int G() => 1; } }
"""


@pytest.mark.parametrize(
    ("path", "text", "found"),
    [
        ("a.cs", CONTROLLER,
         ["Shop.OrdersController.Add(Order)|METHOD Exposes http:POST /api/Orders|ENDPOINT resolved",
          "Shop.OrdersController.Get(int)|METHOD Exposes http:GET /api/Orders/{id}|ENDPOINT resolved"]),
        ("a.cs", CONVENTIONAL, ["Shop.HomeController.About()|METHOD Exposes http:ANY /Home/About|ENDPOINT probable"]),
        ("a.cs", WEB_API_2_BY_NAME,
         ["Shop.TrashController.Empty()|METHOD Exposes http:POST /api/Trash|ENDPOINT probable",
          "Shop.TrashController.Get()|METHOD Exposes http:GET /api/Trash|ENDPOINT probable",
          "Shop.TrashController.GetByName(string)|METHOD Exposes http:GET /api/Trash|ENDPOINT probable",
          "Shop.TrashController.Purge(Item)|METHOD Exposes http:PUT /api/Trash/Purge|ENDPOINT probable",
          "Shop.TrashController.Restore(Item)|METHOD Exposes http:PUT /api/Trash/Restore|ENDPOINT probable"]),
        ("Program.cs", MINIMAL, ["Program.Ping()|METHOD Exposes http:GET /ping|ENDPOINT resolved",
                                 "file:Program.cs|FILE Exposes http:POST /api/orders|ENDPOINT resolved"]),
        ("a.cs", METHOD_GROUPS, ["Shop.Api.Own()|METHOD Exposes http:GET /a|ENDPOINT resolved",
                                 "Shop.Other.Do()|METHOD Exposes http:GET /b|ENDPOINT resolved"]),
        ("a.cs", FAST,
         ["Shop.GetOrder.HandleAsync(Req,CancellationToken)|METHOD Exposes http:GET /orders/{id}|ENDPOINT resolved"]),
        ("a.cs", ARDALIS,
         ["Shop.List.HandleAsync(CancellationToken)|METHOD Exposes http:GET /lists|ENDPOINT resolved"]),
        ("Pages/Cart/Index.cshtml.cs", PAGE,
         ["Shop.IndexModel.OnGet()|METHOD Exposes http:GET /Cart|ENDPOINT probable",
          "Shop.IndexModel.OnPostSave(int)|METHOD Exposes http:POST /Cart?handler=Save|ENDPOINT probable"]),
        ("a.cs", WEB_API_2, ["Shop.OldController.GetX()|METHOD Exposes http:GET /v1/x|ENDPOINT probable"]),
        ("a.cs", NESTED, ["Shop.F.C.G()|METHOD Exposes http:GET /f|ENDPOINT resolved"]),
        ("a.cs", "class A { void GetThings() { list.Map(x => x); } }", []),
        ("a.cs", "[ApiController] class C : ControllerBase { [HttpGet(", []),
    ],
    ids=["api-controller", "conventional", "web-api-2-by-name", "minimal-api", "method-groups", "fast-endpoints",
         "ardalis", "razor-page", "web-api-2", "nested", "no-endpoint", "broken"],
)  # fmt: skip
def test_who_exposes_what(path: str, text: str, found: list[str]) -> None:
    assert edges_by(endpoints, {path: text}, "Exposes") == found


BASE = """
    namespace Shop.Common;
    public abstract class Crud<T> : ControllerBase
    {
        [HttpGet("{id}")] public virtual T Read(int id) => default;
        [HttpDelete("{id}")] public void Drop(int id) { }
    }
"""
DERIVED = """
    using Shop.Common;
    namespace Shop;
    [ApiController, Route("api/things")]
    public class ThingsController : Crud<Thing> { [HttpGet("one")] public override Thing Read(int id) => null; }
"""


def test_inherited_actions_answer_on_the_routes_of_the_derived_controller() -> None:
    texts = {"Common/CrudController.cs": BASE.replace("Crud<T>", "CrudController<T>"),
             "ThingsController.cs": DERIVED.replace("Crud<Thing>", "CrudController<Thing>")}  # fmt: skip
    assert edges_by(endpoints, texts, "Exposes") == [
        "Shop.Common.CrudController`1.Drop(int)|METHOD Exposes http:DELETE /api/things/{id}|ENDPOINT resolved",
        "Shop.ThingsController.Read(int)|METHOD Exposes http:GET /api/things/one|ENDPOINT resolved",
    ]


ROUTE_ATTRIBUTES = """
    namespace Shop;
    public class VersionedAttribute : Attribute, IRouteTemplateProvider { public string Template => Prefix + Version; }
    public class ApiV1Attribute : VersionedAttribute { }
"""


def test_a_route_by_an_attribute_of_the_label_is_not_known() -> None:
    texts = {"a.cs": CONTROLLER.replace('[ApiController, Route("api/[controller]")]', "[ApiV1]"),
             "b.cs": ROUTE_ATTRIBUTES}  # fmt: skip
    assert edges_by(endpoints, texts, "Exposes") == [
        "Shop.OrdersController.Add(Order)|METHOD Exposes http:POST /<ApiV1>|ENDPOINT probable",
        "Shop.OrdersController.Get(int)|METHOD Exposes http:GET /<ApiV1>/{id}|ENDPOINT probable",
    ]


def test_the_verb_of_an_attribute_of_the_label_is_that_of_the_one_that_it_derives_from() -> None:
    verbs = (
        "namespace Shop;\npublic class RestGetAttribute : HttpGetAttribute { }\n"
        "public abstract class Adding : HttpPostAttribute { }\npublic class RestAddAttribute : Adding { }\n"
    )
    texts = {"a.cs": CONTROLLER.replace("[HttpGet", "[RestGet").replace("[HttpPost", "[RestAdd"), "b.cs": verbs}
    assert edges_by(endpoints, texts, "Exposes") == edges_by(endpoints, {"a.cs": CONTROLLER}, "Exposes")


def test_a_template_that_such_an_attribute_is_given_is_below_what_it_says() -> None:
    texts = {"a.cs": CONTROLLER.replace('[ApiController, Route("api/[controller]")]', '[ApiV1("[controller]")]'),
             "b.cs": ROUTE_ATTRIBUTES}  # fmt: skip
    assert edges_by(endpoints, texts, "Exposes") == [
        "Shop.OrdersController.Add(Order)|METHOD Exposes http:POST /<ApiV1>/Orders|ENDPOINT probable",
        "Shop.OrdersController.Get(int)|METHOD Exposes http:GET /<ApiV1>/Orders/{id}|ENDPOINT probable",
    ]


def test_that_a_base_moves_in_its_file_changes_no_answer() -> None:
    moved = {"a.cs": BASE.replace("Crud<T>", "CrudController<T>")}
    there = {"a.cs": "\n\n\n" + moved["a.cs"]}
    symbol = "Shop.Common.CrudController`1"
    answers = [symbols_of(files_of(texts)).endpoints.actions(symbol) for texts in (moved, there)]
    assert answers[0] == answers[1] != ()


LAMBDAS = """
    namespace Shop;
    public class ShopContext : DbContext { public DbSet<Order> Orders { get; set; } }
    public class Order { }
    public class Service { public void Run() { } }
    public static class Api
    {
        public static void Map(IEndpointRouteBuilder app)
        {
            app.MapGet("/a", (ShopContext db) => db.Orders.ToList());
            app.MapGet("/b", (Service s) =>
            {
                s.Run();
            });
        }
    }
"""


def _all(texts: Mapping[str, str]) -> list[str]:
    files = files_of(texts)
    symbols = symbols_of(files)
    return sorted({told(part) for file in files for part in graph_of(file, symbols) if isinstance(part, GraphEdge)})


def test_what_a_lambda_does_its_endpoint_does() -> None:
    found = [edge for edge in _all({"a.cs": LAMBDAS}) if edge.startswith("http:")]
    assert "http:GET /a|ENDPOINT ReadsFrom Shop.ShopContext.Orders|DBSET resolved" in found
    assert "http:GET /b|ENDPOINT Calls Shop.Service.Run()|METHOD resolved" in found
    assert not [edge for edge in found if edge.startswith("http:GET /b|ENDPOINT ReadsFrom")]


def test_a_method_that_answers_keeps_its_edges() -> None:
    assert not [edge for edge in _all({"a.cs": CONTROLLER}) if edge.startswith("http:")]


def test_a_method_that_maps_what_its_callers_give_it_has_no_route_of_its_own() -> None:
    wrapper = """
        namespace Shop;
        public static class Extensions
        {
            public static void MapGet(this IEndpointRouteBuilder builder, Delegate handler, string pattern)
            {
                builder.MapGet(pattern, handler).WithName(handler.Method.Name);
            }
            public static void MapHealth(this IEndpointRouteBuilder builder, Delegate handler)
            {
                builder.MapGet("/health", handler);
            }
        }
    """
    (only,) = edges_by(endpoints, {"a.cs": wrapper})
    assert "http:GET /health|ENDPOINT" in only


MAPPED = """
    namespace Shop;
    public class Routes
    {
        public void Map(IEndpointRouteBuilder endpoints)
        {
            // endpoints.MapControllerRoute("old", "old/about", new { controller = "Home", action = "About" });
            endpoints.MapControllerRoute(
                name: Names.Upload,
                pattern: "api/v2/package/{id}/{version:regex(^[a-z]{{1}}$)}",
                defaults: new { controller = "Package", action = "Upload" },
                constraints: new { httpMethod = new HttpMethodRouteConstraint("PUT") });
            endpoints.MapControllerRoute("default", "{controller=Home}/{action=Index}/{id?}");
            routes.MapRoute("about", "info", new { controller = "Home", action = "About" });
            routes.MapRoute("blog", url: "blog/{action}", defaults: new { controller = "Blog", action = "Index" });
            endpoints.MapAreaControllerRoute("a", "Admin", "admin/info", new { controller = "Home", action = "About" });
        }
    }
"""


@pytest.mark.parametrize(
    ("controller", "route"),
    [
        ("class PackageController : Controller { public Task UploadAsync() => null; }",
         "PUT /api/v2/package/{id}/{version}"),
        ("class PackageController : Controller { [HttpPost] public Task Upload() => null; }",
         "POST /api/v2/package/{id}/{version}"),
        ("class PackageController : Controller { public Task Other() => null; }", "ANY /Package/Other"),
        ("class PackageController : Controller { [HttpGet(\"p\")] public Task Upload() => null; }", "GET /p"),
        ("class HomeController : Controller { public IActionResult About() => null; }", "ANY /info"),
        ("[Area(\"Admin\")] class HomeController : Controller { public IActionResult About() => null; }",
         "ANY /admin/info"),
        ("class BlogController : Controller { public IActionResult Archive() => null; }", "ANY /blog/Archive"),
    ],
    ids=["constraint", "own-method", "another-action", "attribute", "positional", "area", "all-actions"],
)  # fmt: skip
def test_a_call_gives_an_action_its_route(controller: str, route: str) -> None:
    texts = {"Routes.cs": MAPPED, "Controllers.cs": f"namespace Shop; public {controller}".replace("public [", "[")}
    (only,) = edges_by(endpoints, texts, "Exposes")
    assert f"|METHOD Exposes http:{route}|ENDPOINT " in only


OF_AREAS = """
    namespace Shop;
    [Area("Admin")] public class HomeController : Controller { public IActionResult Index() => View(); }
"""
OF_SALES = OF_AREAS.replace("Shop", "Crm").replace("Admin", "sales")
IN_NONE = OF_AREAS.replace("Shop", "Web").replace('[Area("Admin")]', "")


@pytest.mark.parametrize(
    ("call", "routes"),
    [
        ('app.MapAreaControllerRoute("a", "Admin", "adm/{action}", new { controller = "Home" });', ["Shop", "adm"]),
        ('app.MapAreaControllerRoute("s", "Sales", "sal/{action}", new { controller = "Home" });', ["Crm", "sal"]),
        ('app.MapAreaControllerRoute(name: "s", areaName: "Sales", pattern: "sal/{action}", '
         'defaults: new { controller = "Home" });', ["Crm", "sal"]),
        ('app.MapControllerRoute("s", "sal/{action}", new { area = "Sales", controller = "Home" });', ["Crm", "sal"]),
        ('app.MapAreaControllerRoute("o", "Other", "oth/{action}", new { controller = "Home" });', []),
        ('app.MapControllerRoute("w", "web/{action}", new { controller = "Home" });', ["Web", "web"]),
        ('var at = "http://x"; app.MapControllerRoute("w", "web/{action}", new { controller = "Home" });',
         ["Web", "web"]),
        ('/* app.MapControllerRoute("w", "web/{action}", new { controller = "Home" }); */', []),
        ('var said = "app.MapControllerRoute(\'w\', \'web/{action}\', new { controller = Home })";', []),
    ],
    ids=["positional", "other-area", "named", "of-defaults", "unknown", "no-area", "behind-a-url", "comment", "string"],
)  # fmt: skip
def test_a_route_of_an_area_is_that_of_its_controllers(call: str, routes: list[str]) -> None:
    program = f"namespace Own; class Routes {{ void Map(IApplicationBuilder app) {{ {call} }} }}"
    texts = {"A.cs": OF_AREAS, "B.cs": OF_SALES, "C.cs": IN_NONE, "Routes.cs": program}
    mapped = [one.split(".")[0] + " " + one for one in edges_by(endpoints, texts, "Exposes") if "/Home/" not in one]
    assert [(one.split()[0], one.partition("ANY /")[2].partition("/")[0]) for one in mapped] == (
        [tuple(routes)] if routes else []
    )


def test_many_calls_on_one_line_are_read_once() -> None:
    """Twice the text takes about twice the time: what stands before a call is not read again for each."""
    call = '.MapRoute("a","b",new{controller="C",action="A"});'

    def seconds(count: int) -> float:
        started = process_time()
        assert len(list(routes_of_actions(call * count))) == count
        return process_time() - started

    assert min(seconds(8_000) for _ in range(2)) < 6 * min(seconds(2_000) for _ in range(3))


ROUTES = """
    namespace Shop;
    public static class ApiRoutes
    {
        public const string Root = "api";
        public const string Base = Root + "/v1";
        public static class Posts
        {
            public const string All = Base + "/posts";
            public const string One = Base + "/posts/{id}";
        }
    }
    """


def test_a_route_is_a_constant_of_another_file() -> None:
    texts = {
        "ApiRoutes.cs": ROUTES,
        "Posts.cs": "public class PostsController : Controller {\n[HttpGet(ApiRoutes.Posts.One)] public int A() => 1;\n"
        '[HttpGet(ApiRoutes.Posts.All + "/new")] public int New() => 1;\n[HttpGet(Unknown.One)] public int B() => 1; }',
        "Program.cs": "var app = builder.Build();\napp.MapPost(ApiRoutes.Posts.All, () => 1);\n",
        "Other.cs": 'class Other { public const string One = "a b"; }',
    }
    assert [key for key in nodes_by(endpoints, texts) if key.startswith("http:")] == [
        "http:GET /<Unknown.One>|ENDPOINT",
        "http:GET /api/v1/posts/new|ENDPOINT",
        "http:GET /api/v1/posts/{id}|ENDPOINT",
        "http:POST /api/v1/posts|ENDPOINT",
    ]
    other = texts | {"Twice.cs": 'public static class Posts { public const string One = "/else"; }'}
    assert "http:GET /<ApiRoutes.Posts.One>|ENDPOINT" in nodes_by(endpoints, other), "two constants have that name"


PROGRAM = """
    var app = WebApplication.Create();
    var shows = app.MapGroup("/shows").WithTags("Shows");
    shows.MapShowsApi().RequireAuthorization();
    app.MapGroup($"/{Settings.Root}").MapUnknown();
    app.MapFree();
    var module = new ShopModule();
    module.MapEndpoints(app);
"""
SHOWS = """
    namespace Shop;
    public static class ShowsApi
    {
        public static RouteGroupBuilder MapShowsApi(this RouteGroupBuilder group)
        {
            group.MapGet("/", All);
            group.MapGroup("{id}/episodes").MapEpisodesApi();
            return group;
        }
        static int All() => 1;
    }
"""
EPISODES = """
    namespace Shop;
    public static class EpisodesApi
    {
        public static void MapEpisodesApi(this IEndpointRouteBuilder routes) => routes.MapGet("latest", () => 1);
    }
"""
MODULE = """
    namespace Shop;
    public class ShopModule
    {
        public void MapEndpoints(IEndpointRouteBuilder endpoints)
        {
            var group = endpoints.MapGroup("api/tenants");
            GetTenants.Map(group);
            GetThemes.Map(group.MapGroup("themes"));
        }
    }
"""
FEATURES = """
    namespace Shop;
    public static class GetTenants
    {
        public static RouteHandlerBuilder Map(IEndpointRouteBuilder endpoints) => endpoints.MapGet("/", () => 1);
    }
    public static class GetThemes
    {
        public static RouteHandlerBuilder Map(IEndpointRouteBuilder endpoints) => endpoints.MapGet("/dark", () => 1);
    }
    public static class Free
    {
        public static void MapFree(this WebApplication app) => app.MapGet("/free", () => 1);
        public static void MapUnknown(this RouteGroupBuilder group) => group.MapGet("/unknown", () => 1);
    }
"""


def test_routes_are_below_the_groups_that_other_files_give() -> None:
    texts = {"Program.cs": PROGRAM, "Shows.cs": SHOWS, "Episodes.cs": EPISODES, "M.cs": MODULE, "F.cs": FEATURES}
    found = [one.partition(" Exposes http:")[2] for one in edges_by(endpoints, texts, "Exposes")]
    assert sorted(found) == [
        "GET /api/tenants/themes/dark|ENDPOINT resolved",
        "GET /api/tenants|ENDPOINT resolved",
        "GET /free|ENDPOINT resolved",
        "GET /shows/{id}/episodes/latest|ENDPOINT resolved",
        "GET /shows|ENDPOINT resolved",
        "GET /unknown|ENDPOINT probable",
    ]


def test_groups_of_tests_and_of_methods_of_one_name_are_not_taken() -> None:
    test = 'class T { void M() { app.MapGroup("/testing").MapShowsApi(); } }'
    texts = {"Shows.cs": SHOWS, "tests/T.cs": test, "Other.cs": SHOWS.replace("ShowsApi\\n", "OtherApi")}
    texts["Program.cs"] = PROGRAM
    found = [one.partition(" Exposes http:")[2] for one in edges_by(endpoints, texts, "Exposes")]
    assert set(found) == {"GET /|ENDPOINT probable"}
