"""ENDPOINT nodes of Go, Java, Python and TypeScript: what frameworks write, below the prefixes that the file says."""

from __future__ import annotations

import pytest

from rag_assets.contracts.graph import GraphNode
from rag_assets.graph.extract.endpoints import other_endpoints
from rag_assets_tests.graph.chains import edges_by, files_of, symbols_of

GIN = """\
package web

func Create(g *gin.Engine) {
	g.GET("version", func(c *gin.Context) { c.JSON(200, nil) })
	g.Match([]string{"GET", "HEAD"}, "/health", health.Check)
	api := g.Group("/api")
	{
		users := api.Group("/users/")
		users.POST("", user.Create)
		users.DELETE("/:id", user.Delete)
	}
	g.Group("/auth").Use(limit).POST("/login", session.Login)
	// g.GET("/old", old.Get)
	log.Print("g.GET(\\"/text\\", x)")
	client.Get("/elsewhere")
	cache.Get("key", nil)
}
"""
MUX = """\
package web

func Serve(mux *http.ServeMux, r *mux.Router) {
	mux.HandleFunc("GET /v1/feeds/{id}", h.feed)
	http.HandleFunc("/ping", ping)
	sub := r.PathPrefix("/admin").Subrouter()
	sub.HandleFunc("/users", users).Methods(http.MethodPost, "PUT")
}
"""
CHI = """\
package web

func Serve(r chi.Router) {
	r.Get("/", home)
	r.Route("/articles", func(r chi.Router) {
		r.Post("/", create)
		r.Route("/{id:[0-9]+}", func(r chi.Router) {
			r.Get("/", get)
		})
	})
	r.Post("/last", last)
}
"""
SPRING = """\
package shop;

@RestController
@RequestMapping(path = "/articles/{slug}")
class ArticleApi {
  @GetMapping
  Article one() { return null; }

  @Override
  @PutMapping(value = {"/a", "b"}, produces = "application/json")
  Article change() { return null; }

  @RequestMapping(path = "old", method = RequestMethod.DELETE)
  void drop() { }
}

class Client {
  @Value("/nothing")
  String url;
}
"""
JAX = '@Path("orders")\nclass Orders {\n  @GET @Path("{id}")\n  Order one() { return null; }\n}\n'
NEST = """\
@Controller('auth')
export class AuthController {
  @Post('login')
  @UseGuards(Guard)
  public async login(@Body() body: Login) { }

  @Get(['me', 'self'])
  me() { }
}

export class Service { @Get('no') no() { } }
"""
EXPRESS = """\
const router = express.Router();
router.get('/', auth('read'), users.list);
router
  .route('/:userId')
  .patch(auth('write'), users.update)
  .delete(users.remove);
axios.get('/elsewhere', config);
app.use('/v1/users', limit, router);
fastify.route({ method: 'PUT', url: '/status', handler });
"""
FASTAPI = '''\
"""Use it with @app.get("/text")."""
router = APIRouter(prefix="/items", tags=["items"])

@router.get("/{item_id:int}", response_model=Item)
async def read(item_id): ...

@router.api_route(
    "/",
    methods=["PUT", "POST"],
)
def write(): ...

def create_app():
    @app.route("/hello/<name>")
    def hello(name): ...

@mock.patch("shop.clock")
def test(): ...

app.include_router(router, prefix="/api")
'''
KOTLIN_SPRING = """\
@RestController
@RequestMapping("/articles")
class Articles(val all: Repository) {
    @GetMapping("/{slug}")
    fun one(@PathVariable slug: String) = all.find(slug)

    @RequestMapping(value = ["/a", "/b"], method = [RequestMethod.PUT])
    fun change() {
    }
}
"""
EXPRESS_CHAINS = """\
export default async function serve(api: express.Router) {
  const server = express();
  server.set('env', 'production')
    .use(helmet())
    .get('/', index)
    .get('/themes/:name*?', (req, res) => res.send(theme.get('/none', x)));
  api.get<Params>(['/a', '/b'], one);
  request(server)
    .get('/tested', check);
}
const v1 = new Hono<Env>()
  .get('/c', (c) => c.text('d'))
  .post('/e', save);
"""
NEXT = "export async function GET() {}\nexport const POST = handle;\nexport const dynamic = 'auto';\n"
DRF = """\
from rest_framework import routers
router = routers.DefaultRouter()
router.register(r"users", UserViewSet, basename="user")
admin.site.register("Model", Admin)
urlpatterns = [path("api/", include(router.urls))]
app.add_api_route("/added", read, methods=["POST"])
"""
AIOHTTP = """\
from aiohttp import web
app.add_routes([web.get("/jobs/{id}", one)])
app.router.add_post("/jobs", make)
"""
FLASK_RESTFUL = """\
bp = Blueprint("api", __name__, url_prefix="/api")
rest = Api(bp)
rest.add_resource(Bills, "/bills")
rest.add_resource(
    Bill, "/bills/<int:bill_id>"
)
Api(app, prefix="/v2").add_resource(Old, "/old")
plain = Api(app, prefix="/v3")
plain.add_resource(Plain, "/plain")
"""
WEBFLUX = """\
class Routes {
  RouterFunction<ServerResponse> all(Handler h) {
    return nest(path("/api"), route(GET("/orders/{id}"), h::one).andRoute(POST("/orders"), h::make));
  }
}
"""
KTOR = """\
import io.ktor.server.routing.*
fun Application.module() = routing {
    route("/articles") {
        get("/{slug}") { call.respond(1) }
    }
    post("/login") { client.get("/elsewhere") { } }
}
"""
AXUM = """\
fn app() -> Router {
    Router::new()
        .route("/", get(home))
        .nest("/api", Router::new().route("/jobs/:id", get(|| async { map.get("x") }).delete(drop)))
        .route("/last", post(last))
}
"""
ACTIX = """\
#[get("/jobs/{id}")]
#[instrument]
async fn one<'a>(id: Path<&'a str>) -> impl Responder {}

fn config(cfg: &mut ServiceConfig) {
    cfg.service(web::scope("/api").route("/a", web::put().to(a)).service(
        web::resource("/b").route(web::get().to(b)).route(web::post().to(c)),
    ));
    cfg.route("/out", web::get().to(out));
}
"""
LARAVEL = """\
<?php
Route::get('/', [Home::class, 'index']);
Route::prefix('admin')->middleware('auth')->group(function () {
    Route::middleware('log')->post('users/{id?}', 'Users@store');
    Route::group(['namespace' => 'Api', 'prefix' => 'api'], function () {
        Route::match(['get', 'put'], 'rates', 'Rates@all');
        // Route::get('gone', 'Gone@one');
    });
});
Route::apiResource('orders', Orders::class);
Route::any('ping', fn () => Http::get('https://example.com/x', []));
"""
SLIM = """\
<?php
$app->group('/users', function (RouteCollectorProxy $group) {
    $group->get('/{id:[0-9]+}', Show::class);
    $group->map(['POST', 'PUT'], '', Save::class);
});
$app->delete('/all', Drop::class);
$client->get('/not/this', []);
"""
SYMFONY = """\
<?php
namespace App;

#[Route('/blog', name: 'blog_')]
class BlogController extends AbstractController
{
    #[Route('/{slug}', name: 'show', methods: ['GET', 'HEAD'])]
    public function show(string $slug): Response
    {
    }

    #[Route(path: '/new')]
    public function make(): Response
    {
    }
}
"""
DJANGO = """\
from django.urls import include, path, re_path

api_urls = [
    path("checks/<uuid:code>", views.one),
    path(
        "checks/",
        views.all,
    ),
]
urlpatterns = [
    path("v1/", include(api_urls)),
    path("v2/", include(api_urls)),
    path("shop/", include([path("cart/", views.cart)])),
    re_path(r"^old/(?P<year>[0-9]{4})/$", views.old),
    path("other/", include("shop.other.urls")),
]
"""
RAILS = """\
Rails.application.routes.draw do
  resources :posts, only: :show, shallow: true do
    resources :comments, only: [:index, :show] # not edit
  end
  scope "(:locale)", locale: /en|de/ do
    resource :profile, only: %w[show], controller: "people"
  end
  namespace "api/v1", path: "" do
    post "/orders/:id/pay", to: "orders#pay"
    get :mine, :yours, controller: "orders"
  end
  constraints(lambda do |r| r.ssl? end) do
    get("/secure", to: ->(env) { [200, {}, ["get '/text'"]] }) if Rails.env.production?
  end
  authenticate(:user) { get "/me" => :me }
  resources(:lines, except: OTHERS) { collection do get "all" end }
  get path, to: "x#y"
  direct(:home) do get "/direct" end
end
"""
PADRINO = """\
class App < Base
  delete '/jobs/*' do |rest|
    client.post '/elsewhere'
  end
  get('/jobs', provides: :json) { all }
  get '/without_a_block'
end
"""
RSWAG = "require 'swagger_helper'\nclass A < B\n  get '/a' do\n  end\nend\n"


def found(path: str, text: str) -> list[tuple[str, int]]:
    files = files_of({path: text})
    parts = other_endpoints(files[0], symbols_of(files))
    return [(part.name, part.line_start) for part in parts if isinstance(part, GraphNode)]


PROTO = """\
import "google/api/annotations.proto";
service Orders {
  // get: "/v0/orders"
  rpc GetLine(GetLineRequest) returns (Line) {
    option (google.api.http) = {
      get: "/v1/{line.name=orders/*/lines/*}" additional_bindings { put: "/v1/{parent=shops/*}/orders" }
    };
  }
  rpc Delete(DeleteRequest) returns (Empty) {
    option (google.api.http) = {delete: "/v1/{name=orders/*}"};
  }
  rpc Search(SearchRequest) returns (Found) { option (google.api.http) = { post: "/v1/orders:search" body: "*" }; }
  rpc Stream(Request) returns (stream Order);
}
"""


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        pytest.param(
            "web/router.go",
            GIN,
            [
                ("GET /version", 4),
                ("GET /health", 5),
                ("HEAD /health", 5),
                ("POST /api/users", 9),
                ("DELETE /api/users/{id}", 10),
                ("POST /auth/login", 12),
            ],
            id="gin",
        ),
        pytest.param(
            "web/mux.go",
            MUX,
            [("GET /v1/feeds/{id}", 4), ("ANY /ping", 5), ("POST /admin/users", 7), ("PUT /admin/users", 7)],
            id="net/http and gorilla",
        ),
        pytest.param(
            "web/chi.go",
            CHI,
            [("GET /", 4), ("POST /articles", 6), ("GET /articles/{id}", 8), ("POST /last", 11)],
            id="chi",
        ),
        pytest.param(
            "src/ArticleApi.java",
            SPRING,
            [
                ("GET /articles/{slug}", 7),
                ("PUT /articles/{slug}/a", 11),
                ("PUT /articles/{slug}/b", 11),
                ("DELETE /articles/{slug}/old", 14),
            ],
            id="spring",
        ),
        pytest.param(
            "src/Articles.kt",
            KOTLIN_SPRING,
            [("GET /articles/{slug}", 5), ("PUT /articles/a", 8), ("PUT /articles/b", 8)],
            id="spring of kotlin",
        ),
        pytest.param(
            "routes/web.php",
            LARAVEL,
            [
                ("GET /", 2),
                ("POST /admin/users/{id}", 4),
                ("GET /admin/api/rates", 6),
                ("PUT /admin/api/rates", 6),
                ("ANY /orders", 10),
                ("ANY /orders/{id}", 10),
                ("ANY /ping", 11),
            ],
            id="laravel",
        ),
        pytest.param(
            "app/routes.php",
            SLIM,
            [("GET /users/{id}", 3), ("POST /users", 4), ("PUT /users", 4), ("DELETE /all", 6)],
            id="slim",
        ),
        pytest.param(
            "src/BlogController.php",
            SYMFONY,
            [("GET /blog/{slug}", 8), ("HEAD /blog/{slug}", 8), ("ANY /blog/new", 13)],
            id="symfony",
        ),
        pytest.param("src/Orders.java", JAX, [("GET /orders/{id}", 4)], id="jax-rs"),
        pytest.param(
            "src/auth.ts", NEST, [("POST /auth/login", 5), ("GET /auth/me", 8), ("GET /auth/self", 8)], id="nest"
        ),
        pytest.param(
            "src/users.js",
            EXPRESS,
            [
                ("GET /v1/users", 2),
                ("PATCH /v1/users/{userId}", 5),
                ("DELETE /v1/users/{userId}", 6),
                ("PUT /status", 9),
            ],
            id="express and fastify",
        ),
        pytest.param(
            "api/items.py",
            FASTAPI,
            [
                ("GET /api/items/{item_id}", 5),
                ("PUT /api/items", 11),
                ("POST /api/items", 11),
                ("GET /hello/{name}", 15),
            ],
            id="fastapi and flask",
        ),
        pytest.param(
            "shop/urls.py",
            DJANGO,
            [
                ("ANY /v1/checks/{code}", 4),
                ("ANY /v2/checks/{code}", 4),
                ("ANY /v1/checks", 6),
                ("ANY /v2/checks", 6),
                ("ANY /shop/cart", 13),
                ("ANY /old/{year}", 14),
            ],
            id="django",
        ),
        pytest.param(
            "src/serve.ts",
            EXPRESS_CHAINS,
            [("GET /", 5), ("GET /themes/{name}", 6), ("GET /a", 7), ("GET /b", 7), ("GET /c", 12), ("POST /e", 13)],
            id="chains and routers of any name",
        ),
        pytest.param(
            "src/app/(shop)/orders/[id]/route.ts", NEXT, [("GET /orders/{id}", 1), ("POST /orders/{id}", 2)], id="next"
        ),
        pytest.param(
            "pages/api/users/[...all].js", "export default handle;", [("ANY /api/users/{all}", 1)], id="pages"
        ),
        pytest.param("api/urls.py", DRF, [("ANY /api/users", 3), ("POST /added", 6)], id="django rest"),
        pytest.param(
            "shop/api.py",
            FLASK_RESTFUL,
            [("ANY /api/bills", 3), ("ANY /api/bills/{bill_id}", 5), ("ANY /old", 7), ("ANY /v3/plain", 9)],
            id="flask-restful",
        ),
        pytest.param("jobs/main.py", AIOHTTP, [("GET /jobs/{id}", 2), ("POST /jobs", 3)], id="aiohttp"),
        pytest.param("src/Routes.java", WEBFLUX, [("GET /api/orders/{id}", 3), ("POST /api/orders", 3)], id="webflux"),
        pytest.param("src/App.kt", KTOR, [("GET /articles/{slug}", 4), ("POST /login", 6)], id="ktor"),
        pytest.param(
            "src/app.rs",
            AXUM,
            [("GET /", 3), ("GET /api/jobs/{id}", 4), ("DELETE /api/jobs/{id}", 4), ("POST /last", 5)],
            id="axum",
        ),
        pytest.param(
            "src/jobs.rs",
            ACTIX,
            [("GET /jobs/{id}", 3), ("PUT /api/a", 6), ("GET /api/b", 7), ("POST /api/b", 7), ("GET /out", 9)],
            id="actix",
        ),
        pytest.param(
            "config/routes.rb",
            RAILS,
            [
                ("GET /posts/{id}", 2),
                ("GET /posts/{post_id}/comments", 3),
                ("GET /comments/{id}", 3),
                ("GET /profile", 6),
                ("POST /orders/{id}/pay", 9),
                ("GET /mine", 10),
                ("GET /yours", 10),
                ("GET /secure", 13),
                ("GET /me", 15),
                ("GET /lines/all", 16),
            ],
            id="rails",
        ),
        pytest.param("lib/routes.rb", RAILS.replace("routes.draw", "draw"), [], id="no rails"),
        pytest.param("app.rb", PADRINO, [("DELETE /jobs/*", 2), ("GET /jobs", 5)], id="sinatra and padrino"),
        pytest.param("lib/a.rb", RSWAG, [], id="no sinatra"),
        pytest.param("test/a.rb", PADRINO, [], id="a client of ruby"),
        pytest.param(
            "api/orders.proto",
            PROTO,
            [
                ("GET /v1/orders/{name}/lines/{name}", 4),
                ("PUT /v1/shops/{parent}/orders", 4),
                ("DELETE /v1/orders/{name}", 9),
                ("POST /v1/orders:search", 12),
            ],
            id="grpc",
        ),
        pytest.param("docs/api.md", GIN, [], id="no code"),
    ],
)
def test_the_routes_of_a_file(path: str, text: str, expected: list[tuple[str, int]]) -> None:
    assert found(path, text) == expected


def test_a_route_is_of_the_member_that_declares_or_registers_it() -> None:
    assert edges_by(other_endpoints, {"src/auth.ts": NEST})[0] == (
        "typescript:src/auth.AuthController.login|METHOD Exposes http:POST /auth/login|ENDPOINT resolved"
    )
    assert edges_by(other_endpoints, {"web/mux.go": MUX})[0] == (
        "go:web.Serve|METHOD Exposes http:ANY /ping|ENDPOINT probable"
    )
    assert edges_by(other_endpoints, {"shop/urls.py": DJANGO})[0].startswith("file:shop/urls.py|FILE Exposes")


@pytest.mark.parametrize("text", [GIN, CHI, EXPRESS_CHAINS, FASTAPI, DJANGO, WEBFLUX, LARAVEL, ACTIX, RAILS, PADRINO])
@pytest.mark.parametrize("path", ["a.go", "a.py", "a.ts", "A.java", "a.php", "a.rs", "config/routes/a.rb", "a.rb"])
def test_a_file_that_ends_anywhere_and_one_of_another_language_raise_nothing(path: str, text: str) -> None:
    for end in range(0, len(text), 37):
        found(path, text[:end])
