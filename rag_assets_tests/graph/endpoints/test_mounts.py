"""Routes that one file registers and another one mounts below a prefix: gin, chi, Express, NestJS, FastAPI, Django."""

from __future__ import annotations

import pytest

from rag_assets.contracts.graph import GraphNode
from rag_assets.graph.extract.endpoints import other_endpoints
from rag_assets.languages.route_mounts import mounts_in
from rag_assets_tests.effort import ends_within, lines_run
from rag_assets_tests.graph.chains import found_by

GIN = {
    "hello.go": """\
        package main

        func main() {
            r := gin.Default()
            v1 := r.Group("/api")
            users.Register(v1.Group("/users"))
            feed := v1.Group("/feed")
            articles.Register(feed, v1)
            r.Mount("/admin", admin.Routes())
        }
        """,
    "users/routers.go": """\
        package users

        func Register(router *gin.RouterGroup) {
            router.POST("/", Create)
            Follow(router.Group("/:name"))
        }

        func Follow(r *gin.RouterGroup) {
            r.DELETE("/follow", Unfollow)
        }
        """,
    "articles/routers.go": """\
        package articles

        func Register(feed, all *gin.RouterGroup) {
            feed.GET("/", List)
            one := all.Group("/articles")
            one.GET("/:slug", Get)
        }
        """,
    "admin/routers.go": """\
        package admin

        func Routes() chi.Router {
            r := chi.NewRouter()
            r.Get("/stats", stats)
            return r
        }
        """,
    "users/unit_test.go": """\
        package users

        func TestAll(t *testing.T) {
            r := gin.New()
            Register(r.Group("/tested"))
        }
        """,
}
EXPRESS = {
    "src/app.js": """\
        const routes = require('./routes');
        app.use('/api', limiter, routes);
        app.use('/static', express.static('public'));
        """,
    "src/routes/index.js": """\
        import users from './users.route.js';
        const articles = require('./articles');
        const router = Router();
        router.use('/users', auth, users);
        [{ path: '/articles', route: articles }].forEach((route) => router.use(route.path, route.route));
        router.get('/health', check);
        """,
    "src/routes/users.route.js": "const router = Router();\nrouter.get('/:id', one);\n",
    "src/routes/articles.js": "const router = Router();\nrouter.post('/', create);\n",
}
CHAINED = {
    "src/main.ts": "import routes from './app/routes';\nconst app = express();\napp.use(routes);\n",
    "src/app/routes.ts": """\
        import tags from './tags';
        import users from './users';
        const api = Router()
          .use(tags)
          .use('/users', users);
        export default Router().use('/api', api);
        """,
    "src/app/tags.ts": "const router = Router();\nrouter.get('/tags', all);\n",
    "src/app/users.ts": "const router = Router();\nrouter.get('/:id', one);\n",
}
OZZO = {
    "cmd/main.go": """\
        package main

        func build(router *routing.Router) {
            rg := router.Group("/v1")
            album.RegisterHandlers(rg.Group(""),
                album.NewService(db), logger)
            h := handler.New(db)
            h.Register(rg, logger)
        }
        """,
    "internal/album/api.go": """\
        package album

        func RegisterHandlers(r *routing.RouteGroup, service Service) {
            r.Get("/albums/<id>", res.get)
        }
        """,
    "internal/handler/routes.go": """\
        package other

        func (h *Handler) Register(v1 *echo.Group, logger Logger) {
            users := v1.Group("/users")
            users.POST("", h.SignUp)
        }
        """,
}
GIN_FIELDS = {
    "boot/router.go": """\
        package boot

        func (app *App) routes() *gin.Engine {
            engine := gin.New()
            api := engine.Group("/api")
            orders := controller.NewOrders(controller.OrdersConfig{
                Title: fmt.Sprintf("a, (%s)", app.title), // (api,
            }, api, app.service)
            orders.SetupRoutes()
            controller.NewHealth(controller.HealthConfig{}, &engine.RouterGroup).SetupRoutes()
            return engine
        }
        """,
    "controller/orders.go": """\
        package controller

        type Orders struct {
            router *gin.RouterGroup
        }

        func NewOrders(config OrdersConfig, router *gin.RouterGroup, service *Service) *Orders {
            return &Orders{
                router: router,
            }
        }

        func (orders *Orders) SetupRoutes() {
            group := orders.router.Group("/orders")
            group.GET("/:id", orders.one)
            orders.router.POST("/refunds", orders.refund)
        }
        """,
    "controller/health.go": """\
        package controller

        func NewHealth(config HealthConfig, router *gin.RouterGroup) *Health {
            health := &Health{}
            health.router = router
            return health
        }

        func (health *Health) SetupRoutes() {
            health.router.GET("/healthz", health.check)
        }
        """,
}
FLASK = {
    "app/__init__.py": """\
        def create_app():
            from .auth import auth as auth_blueprint
            app.register_blueprint(auth_blueprint, url_prefix='/auth')
        """,
    "app/auth/__init__.py": "from flask import Blueprint\nauth = Blueprint('auth', __name__)\nfrom . import views\n",
    "app/auth/views.py": "from . import auth\nfrom .. import db\n@auth.route('/login')\ndef login(): ...\n",
}
FLASK_PREFIXED = {
    "app/__init__.py": """\
        from app.api.base import api_bp
        from app.oauth.base import oauth_bp
        def create_app():
            app.register_blueprint(api_bp)
            app.register_blueprint(oauth_bp, url_prefix="/oauth2")
        """,
    "app/api/base.py": 'api_bp = Blueprint(name="api", import_name=__name__, url_prefix="/api")\n',
    "app/api/views.py": "from app.api.base import api_bp\n@api_bp.route('/orders')\ndef orders(): ...\n",
    "app/oauth/base.py": 'oauth_bp = Blueprint(\n    "oauth", __name__, url_prefix="/oauth"\n)\n',
    "app/oauth/views.py": "from .base import oauth_bp\n@oauth_bp.route('/token')\ndef token(): ...\n",
}
NEST = {
    "apps/shop/src/main.ts": "const app = await NestFactory.create(Shop);\napp.setGlobalPrefix('api');\n",
    "apps/shop/src/tag/tag.controller.ts": "@Controller('tags')\nexport class Tags {\n  @Get()\n  all() { }\n}\n",
    "apps/other/src/tag.controller.ts": "@Controller('tags')\nexport class Tags {\n  @Get()\n  all() { }\n}\n",
}
FASTAPI = {
    "app/main.py": """\
        from app.api.api import api_router
        app.include_router(api_router, prefix=settings.API_V1_STR)
        # app.include_router(api_router, prefix="/v0")
        """,
    "app/config.py": """\
        class Settings(BaseSettings):
            API_V1_STR: str = "/v1"
        """,
    "app/api/api.py": """\
        from fastapi import APIRouter
        from .routes import users, login as signin
        from app.api.routes.items import router as items_router
        api_router = APIRouter()
        api_router.include_router(users.router, prefix="/users", tags=["users"])
        api_router.include_router(signin.router)
        api_router.include_router(items_router, prefix="/items")
        """,
    "app/api/routes/users.py": '@router.get("/{id}")\ndef one(id): ...\n',
    "app/api/routes/login.py": '@router.post("/login")\ndef login(): ...\n',
    "app/api/routes/items.py": 'router = APIRouter(prefix="/all")\n@router.get("")\ndef items(): ...\n',
}
NESTED_FASTAPI = {
    "shop/app.py": "from shop.routes import router\napp = FastAPI()\napp.include_router(router)\n",
    "shop/routes/__init__.py": 'from . import about, recipe\n\nrouter = APIRouter(prefix="/api")\n'
    "router.include_router(about.router)\nrouter.include_router(recipe.router)\n",
    "shop/routes/about/__init__.py": 'from . import page\nrouter = OpenAPIRouter(prefix="/app")\n'
    "router.include_router(page.router)\n",
    "shop/routes/about/page.py": 'router = APIRouter(prefix="/about")\n@router.get("")\ndef about(): ...\n',
    "shop/routes/recipe/__init__.py": 'from . import all_of, events\nprefix = "/recipes"\nrouter = APIRouter()\n'
    "router.include_router(all_of.router, prefix=prefix)\nrouter.include_router(events.router, prefix=prefix)\n",
    "shop/routes/recipe/all_of.py": 'router = UserAPIRouter()\n@router.post("")\ndef add(): ...\n',
    "shop/routes/recipe/events.py": 'router = UserAPIRouter(prefix="/events")\n@router.get("")\ndef all(): ...\n',
    "shop/other.py": 'prefix = "/other"\n',
}

DJANGO = {
    "shop/urls.py": """\
        from django.urls import include, path
        from shop.apps import profiles
        urlpatterns = [
            path("api/", include("shop.apps.articles.urls")),
            path("api/", include((profiles.urls, "profiles"))),
        ]
        """,
    "shop/apps/articles/urls.py": """\
        from django.conf.urls import url
        urlpatterns = [url(r"^articles/feed/?$", feed.as_view())]
        """,
    "shop/apps/profiles/urls.py": """\
        from django.urls import path
        urlpatterns = [path("profiles/<name>/", one)]
        """,
}
DJANGO_LISTS = {
    "shop/urls.py": """\
        from django.urls import include, path
        from shop import profiles
        # path("gone/", include("shop.articles.urls"))
        v1 = [path("articles/", include("shop.articles.urls")), path("", include(profiles.urls))]
        urlpatterns = [
            path("api/", include([path("v1/", include(v1))])),
            path("old/", include(v1)),
        ]
        """,
    "shop/articles/urls.py": 'from django.urls import path\nurlpatterns = [path("feed/", feed)]\n',
    "shop/profiles/urls.py": 'from django.urls import path\nurlpatterns = [path("me/", me)]\n',
}
DJANGO_REST = {
    "shop/urls.py": """\
        from django.urls import include, path
        from shop.api import routes as api
        urlpatterns = [
            path("api/", include(api.main.urls)),
            path("api/orders/<int:order>/items/", include(api.items.urls)),
        ]
        """,
    "shop/api/routes.py": """\
        main = SimpleRouter()
        main.register("orders", Orders)
        items = SimpleRouter()
        items.register("", Items)
        from rest_framework import viewsets
        """,
}
NESTED_ROUTERS = {
    "shop/urls.py": """\
        from rest_framework_nested import routers
        router = routers.SimpleRouter()
        router.register("orders", Orders)
        orders = routers.NestedSimpleRouter(router, r"orders", lookup="order")
        orders.register("lines", Lines)
        lines = routers.NestedSimpleRouter(orders, "lines", lookup="line")
        lines.register("notes", Notes)
        urlpatterns = [path("api/", include(router.urls)), path("api/", include(lines.urls))]
        """,
}
RAILS_API = {
    "api/config/application.rb": "class A < Rails::Application\n  config.api_only = true\nend\n",
    "api/config/routes.rb": "A.routes.draw do\n  resources :a, only: [:new, :show]\n  get 'a/new', to: 'a#new'\nend\n",
    "web/config/application.rb": "class W < Rails::Application\n  # config.api_only = true\nend\n",
    "web/config/routes.rb": "W.routes.draw do\n  resource :w, only: [:edit]\nend\n",
}


def routes(texts: dict[str, str]) -> list[str]:
    return [part.name for part in found_by(other_endpoints, texts) if isinstance(part, GraphNode)]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        pytest.param(
            GIN,
            [
                "DELETE /api/users/{name}/follow",
                "GET /admin/stats",
                "GET /api/articles/{slug}",
                "GET /api/feed",
                "POST /api/users",
            ],
            id="gin and chi",
        ),
        pytest.param(EXPRESS, ["GET /api/health", "GET /api/users/{id}", "POST /api/articles"], id="express"),
        pytest.param(CHAINED, ["GET /api/tags", "GET /api/users/{id}"], id="express in a chain"),
        pytest.param(OZZO, ["GET /v1/albums/{id}", "POST /v1/users"], id="ozzo and echo"),
        pytest.param(
            GIN_FIELDS, ["GET /api/orders/{id}", "GET /healthz", "POST /api/refunds"], id="gin with routers in fields"
        ),
        pytest.param(FLASK, ["GET /auth/login"], id="flask"),
        pytest.param(FLASK_PREFIXED, ["GET /api/orders", "GET /oauth2/token"], id="flask with prefixes of blueprints"),
        pytest.param(NEST, ["GET /api/tags", "GET /tags"], id="nest"),
        pytest.param(FASTAPI, ["GET /v1/items/all", "GET /v1/users/{id}", "POST /v1/login"], id="fastapi"),
        pytest.param(
            NESTED_FASTAPI, ["GET /api/app/about", "GET /api/recipes/events", "POST /api/recipes"], id="nested fastapi"
        ),
        pytest.param(DJANGO, ["ANY /api/articles/feed", "ANY /api/profiles/{name}"], id="django"),
        pytest.param(
            DJANGO_LISTS,
            ["ANY /api/v1/articles/feed", "ANY /api/v1/me", "ANY /old/articles/feed", "ANY /old/me"],
            id="django lists",
        ),
        pytest.param(
            NESTED_ROUTERS,
            ["ANY /api/orders", "ANY /api/orders/{order_pk}/lines/{line_pk}/notes", "ANY /orders/{order_pk}/lines"],
            id="nested routers",
        ),
        pytest.param(RAILS_API, ["GET /a/new", "GET /a/{id}", "GET /w/edit"], id="rails without forms"),
        pytest.param(DJANGO_REST, ["ANY /api/orders", "ANY /api/orders/{order}/items"], id="django rest"),
    ],
)
def test_a_route_is_below_the_prefix_that_another_file_mounts_it_at(texts: dict[str, str], expected: list[str]) -> None:
    assert sorted(routes(texts)) == expected


def test_a_router_that_two_files_mount_has_both_prefixes_and_one_that_mounts_itself_has_none() -> None:
    twice = {
        "a.py": 'from users import router\napp.include_router(router, prefix="/a")\n',
        "b.py": 'from users import router\napp.include_router(router, prefix="/b")\n',
        "users.py": '@router.get("/x")\ndef x(): ...\n',
    }
    assert sorted(routes(twice)) == ["GET /a/x", "GET /b/x"]
    circle = {
        "a.js": "const b = require('./b');\nrouter.use('/b', b);\nrouter.get('/x', x);\n",
        "b.js": "const a = require('./a');\nrouter.use('/a', a);\n",
    }
    assert routes(circle) == ["GET /x"]


def test_an_included_module_is_the_nearest_one_of_its_name() -> None:
    services = {
        f"{service}/{name}.py": text.format(service)
        for service in ("one", "two")
        for name, text in {
            "main": 'from api import users\napp.include_router(users.router, prefix="/{0}")\n',
            "api/users": '@router.get("/x")\ndef x(): ...\n',
        }.items()
    }
    assert sorted(routes(services)) == ["GET /one/x", "GET /two/x"]


@pytest.mark.parametrize(
    ("language", "before", "repeated"),
    [
        ("go", "r.Group(\n", 'func a(b *gin.RouterGroup, c string) {\nd(b.Group("/x"), c)\n}\n'),
        ("go", "r.Group(\nfunc a() {\n", 'a := a.Group("/x")\nb(a, '),
        ("go", "r.Group(\n", "func ("),
        ("go", "func a(b *gin.RouterGroup) {\n", "d{b: b, e("),
        ("go", "func a(b *gin.RouterGroup) {\nd(b.Group", '("x\\'),
        ("go", "r.Group(\n", "a := b.c.d.e."),
        ("go", 'func a(b *gin.RouterGroup) {\nd("', '\\"'),
        ("go", "func a(b *gin.RouterGroup) {\nd('", "\\'"),
        ("python", "django.urls\n", "from a import (b as c, "),
        ("python", "django.urls\n", 'path("a", include(('),
        ("python", "APIRouter\n", ".include_router(a, (b"),
        ("typescript", ".use(\n", "import a "),
        ("typescript", ".use(\n", "const { a, "),
        ("typescript", ".use(\n", '.use("/a", b('),
        ("typescript", ".use(\n", ".use(\n"),
        ("typescript", ".use(\n", ".use(a)"),
        ("typescript", ".use(\nconst b = a", ".use(b)\n"),
        ("typescript", ".use(\n", "const a = b"),
        ("python", "APIRouter\n", "from . import a\n@a.get("),
        ("python", "APIRouter\n", "api" * 3),
        ("python", "APIRouter\n", "prefix = '/a"),
    ],
)
def test_a_text_of_twice_the_length_takes_twice_the_work(language: str, before: str, repeated: str) -> None:
    def work(times: int) -> int:
        return lines_run(lambda: mounts_in("a/b", before + repeated * times, language))

    empty, one, eight = work(0), work(50), work(400)
    assert eight - empty <= 10 * (one - empty) + 100
    with ends_within(10):
        mounts_in("a/b", before + repeated * (190_000 // len(repeated)), language)
