"""Routes that frameworks complete from several files, as a user meets them: listed, asked for, and followed to what
answers them, with broken files beside good ones."""

from __future__ import annotations

import pytest

from rag_assets.index.layout import IndexHome
from rag_assets_tests.cli.conftest import CommandLine, index_without_dagster, new_repository

RAILS: dict[str, str | bytes] = {
    "config/routes.rb": """\
Rails.application.routes.draw do
  root "pages#home"
  # get "/gone", to: "pages#gone"
  concern(:likeable) { member { post :like } }
  namespace :api, defaults: { format: :json } do
    resources :articles, param: :slug, except: %i[new edit], concerns: :likeable do
      resource :favorite, only: [:create, :destroy]
      resources :comments, :only => :index, path: "remarks"
      get :feed, on: :collection
    end
  end
  get "/top(/:length)" => "pages#top", :constraints => { length: /[^)\\/]+/ }
  get "/old", to: redirect("/top")
  match "/search", to: "pages#search", via: [:get, :post]
  resources :tags, only: KNOWN
  get "#{PREFIX}/made", to: "pages#made"
  draw :admin
end
""",
    "config/routes/admin.rb": "scope :admin, module: :admin do\n  get 'stats', to: 'reports#stats'\nend\n",
    "config/routes/bad.rb": b"scope :caf\xe9 do\n  get '/never_closed', to: [\n" + b"scope 'a' do\n" * 3_000,
    "app/controllers/api/articles_controller.rb": "module Api\n  class ArticlesController < ApplicationController\n"
    "    def show\n      render json: Article.find_by(slug: params[:slug])\n    end\n  end\nend\n",
    "app/controllers/articles_controller.rb": "class ArticlesController\n  def show\n  end\nend\n",
    "app/controllers/admin/reports_controller.rb": "class Admin::ReportsController\n  def stats\n  end\nend\n",
    "spec/requests/articles_spec.rb": "RSpec.describe 'it' do\n  get '/tested' do\n  end\nend\n",
}
SINATRA: dict[str, str | bytes] = {
    "app.rb": """\
require "sinatra/base"
class Shop < Sinatra::Base
  get "/orders/:id?" do
    "get '/text' do"
  end
  namespace "/api" do
    post("/orders") { create }
  end
  def helper
    client.get "/elsewhere"
  end
end
""",
    "open.rb": "require 'sinatra'\nput '/never_closed' do\n",
}

DJANGO_REST: dict[str, str | bytes] = {
    "shop/urls.py": """\
from django.urls import include, path
from rest_framework.routers import DefaultRouter
from shop.reports import views as reports
router = DefaultRouter()
router.register("reports", reports.ReportViewSet)
router.register(prefix="gone", viewset=gone.GoneViewSet)
urlpatterns = [
    path("api/", include([*router.urls, path("orders/", include("shop.orders.urls"))])),
]
""",
    "shop/orders/urls.py": """\
from . import views
from rest_framework.routers import SimpleRouter
orders = SimpleRouter()
orders.register(r"", views.OrderViewSet, basename="order")
urlpatterns = orders.urls
""",
    "shop/orders/views.py": """\
from rest_framework import mixins, viewsets
from rest_framework.decorators import action
from shop.base import Archived

class OrderViewSet(Archived, mixins.ListModelMixin, mixins.UpdateModelMixin, viewsets.GenericViewSet[Order]):
    lookup_field = "number"
    http_method_names = ["get", "post", "patch", "delete"]

    def retrieve(self, request, number): ...

    @action(detail=True, methods=["post"], url_path="refund/(?P<line>[0-9]+)")
    def refund(self, request, number, line): ...

    @refund.mapping.delete
    def keep(self, request, number, line): ...

    @action(detail=False, methods=("get", "put"))
    def open_ones(self, request): ...

    @action(detail=True, url_path=MADE)
    def made(self, request): ...
""",
    "shop/base.py": "class Archived:\n    @action(detail=True)\n    def archive(self, request): ...\n",
    "shop/reports/views.py": "class ReportViewSet(viewsets.ReadOnlyModelViewSet):\n    queryset = Report.objects\n",
    "other/views.py": "class ReportViewSet(viewsets.ModelViewSet):\n    queryset = Report.objects\n",
    "bad/urls.py": b"from rest_framework import routers\nr.register('caf\xe9', Never, \nr.register('a', views.",
    "bad/views.py": b"class Never(ModelViewSet):\n    @action(detail=True, methods=[\n    def \xe9(",
}

RUST: dict[str, str | bytes] = {
    "web/src/main.rs": """\
use crate::http::{app, articles as news};
mod http;

#[tokio::main]
async fn main() {
    let admin = Router::new().route("/stats", get(stats));
    let health = Router::new().route("/health", get(|| async { "ok" }));
    let app = Router::new()
        .nest("/v1", app(pool).merge(health))
        .nest("/v1/news", news::router())
        .nest("/admin", admin);
    axum::serve(listener, app).await;
}
""",
    "web/src/http/mod.rs": """\
pub mod articles;

pub fn app(pool: Pool) -> Router {
    Router::new().nest("/api", Router::new().merge(articles::router()).merge(Tags::routes()).route("/", get(root)))
}
""",
    "web/src/http/articles/mod.rs": """\
mod comments;
pub fn router() -> Router {
    Router::new().route("/articles/:slug", get(one).delete(drop)).merge(comments::router())
}
""",
    "web/src/http/articles/comments.rs": """\
pub(crate) fn router<S: Clone>() -> Router<S> {
    Router::new().route("/articles/:slug/comments", post(add))
}
#[cfg(test)]
mod tests {
    fn tested() { Router::new().nest("/tested", super::router()); }
}
""",
    "web/src/http/tags.rs": """\
struct Tags;
impl Tags {
    pub fn routes() -> Router { Router::new().merge(Self::inner()) }
    fn inner() -> Router { Router::new().route("/tags", get(tags)) }
}
""",
    "rocket/src/main.rs": """\
mod orders;
#[get("/")]
fn index() -> &'static str { "routes![index]" }

#[launch]
fn rocket() -> _ {
    rocket::build().mount("/", routes![index]).mount("/orders", routes![orders::one, orders::make])
        .mount("/late", orders::late())
}
""",
    "rocket/src/orders.rs": """\
#[get("/<id>?<page>")]
pub fn one(id: u32, page: u32) -> String { String::new() }
#[post("/", data = "<order>")]
pub fn make(order: Json<Order>) {}
#[put("/slow")]
fn slow() {}
pub fn late() -> Vec<Route> { routes![slow] }
#[delete("/nowhere")]
fn nowhere() {}
""",
    "actix/src/main.rs": """\
fn main() {
    App::new().service(web::scope("/api").service(ping).configure(jobs::config));
}
#[get("/ping")]
async fn ping() -> impl Responder {}
""",
    "actix/src/jobs.rs": """\
pub fn config(cfg: &mut web::ServiceConfig) {
    cfg.service(web::resource("/jobs").route(web::post().to(make)));
}
""",
    "bad/src/lib.rs": b'fn caf\xe9() { let a = Router::new().nest("/b", a(\n'
    b'fn a() -> Router { Router::new().nest("/c", a()',
}


def routes_of(cli: CommandLine) -> list[str]:
    listed = cli.run("graph", "list", "endpoint", "--json").json["nodes"]
    return [f"{one['name']} {one['path']}:{one['line']}" for one in listed]


def around(cli: CommandLine, name: str) -> set[str]:
    return {one["key"] for one in cli.run("graph", name, "--depth", "1", "--json").json["nodes"]}


@pytest.fixture
def cli(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> CommandLine:
    folder = tmp_path_factory.mktemp("routes")
    home = IndexHome(folder / "home")
    index_without_dagster(home, new_repository(folder / "shop", request.param), "shop")
    return CommandLine(home, folder)


@pytest.mark.parametrize("cli", [RAILS], indirect=True)
def test_routes_of_rails_are_those_that_its_statements_make(cli: CommandLine) -> None:
    assert set(routes_of(cli)) == {
        f"{route} config/routes{place}"
        for route, place in {
            "GET /": ".rb:2",
            "POST /api/articles/{slug}/like": ".rb:4",
            "GET /api/articles": ".rb:6",
            "POST /api/articles": ".rb:6",
            "GET /api/articles/{slug}": ".rb:6",
            "PATCH /api/articles/{slug}": ".rb:6",
            "PUT /api/articles/{slug}": ".rb:6",
            "DELETE /api/articles/{slug}": ".rb:6",
            "POST /api/articles/{article_slug}/favorite": ".rb:7",
            "DELETE /api/articles/{article_slug}/favorite": ".rb:7",
            "GET /api/articles/{article_slug}/remarks": ".rb:8",
            "GET /api/articles/feed": ".rb:9",
            "GET /top": ".rb:12",
            "GET /top/{length}": ".rb:12",
            "GET /old": ".rb:13",
            "GET /search": ".rb:14",
            "POST /search": ".rb:14",
            "GET /admin/stats": "/admin.rb:2",
            "GET /café/never_closed": "/bad.rb:2",
        }.items()
    }
    shown = around(cli, "GET /api/articles/{slug}")
    assert "ruby:Api.ArticlesController.show|METHOD" in shown and "ruby:ArticlesController.show|METHOD" not in shown
    assert "ruby:Admin::ReportsController.stats|METHOD" in around(cli, "GET /admin/stats")
    assert "ruby:Api.ArticlesController|TYPE" in around(cli, "GET /api/articles")  # which declares no `index`
    assert "GET /api/articles/{slug}" in cli.run("ask", "what endpoints does the API have?").out


@pytest.mark.parametrize("cli", [SINATRA], indirect=True)
def test_routes_of_sinatra_are_its_blocks(cli: CommandLine) -> None:
    assert set(routes_of(cli)) == {
        "GET /orders/{id} app.rb:3",
        "POST /api/orders app.rb:7",
        "PUT /never_closed open.rb:2",
    }


@pytest.mark.parametrize("cli", [DJANGO_REST], indirect=True)
def test_routes_of_django_rest_are_the_actions_that_a_viewset_offers(cli: CommandLine) -> None:
    assert {route for route in routes_of(cli) if " bad/" not in route} == {
        "GET /api/reports shop/urls.py:5",
        "GET /api/reports/{pk} shop/urls.py:5",
        "ANY /api/gone shop/urls.py:6",  # whose class is not here
        *(
            f"{route} shop/orders/urls.py:4"
            for route in (
                "GET /api/orders",
                "GET /api/orders/{number}",
                "PATCH /api/orders/{number}",
                "POST /api/orders/{number}/refund/{line}",
                "DELETE /api/orders/{number}/refund/{line}",
                "GET /api/orders/open_ones",
                "GET /api/orders/{number}/archive",
            )
        ),
    }
    assert "python:shop.orders.views.OrderViewSet.retrieve|METHOD" in around(cli, "GET /api/orders/{number}")
    assert "python:shop.orders.views.OrderViewSet.keep|METHOD" in around(
        cli, "DELETE /api/orders/{number}/refund/{line}"
    )
    assert "python:shop.base.Archived.archive|METHOD" in around(cli, "GET /api/orders/{number}/archive")
    assert "python:shop.reports.views.ReportViewSet|TYPE" in around(cli, "GET /api/reports")


@pytest.mark.parametrize("cli", [RUST], indirect=True)
def test_routes_of_rust_are_below_what_other_functions_serve_them_at(cli: CommandLine) -> None:
    assert set(routes_of(cli)) == {
        "GET /admin/stats web/src/main.rs:6",
        "GET /v1/health web/src/main.rs:7",
        "GET /v1/api web/src/http/mod.rs:4",
        *(
            f"{route} web/src/http/articles/{place}"
            for below in ("/v1/api", "/v1/news")
            for route, place in {
                f"GET {below}/articles/{{slug}}": "mod.rs:3",
                f"DELETE {below}/articles/{{slug}}": "mod.rs:3",
                f"POST {below}/articles/{{slug}}/comments": "comments.rs:2",
            }.items()
        ),
        "GET /v1/api/tags web/src/http/tags.rs:4",
        "GET / rocket/src/main.rs:3",
        "GET /orders/{id} rocket/src/orders.rs:2",
        "POST /orders rocket/src/orders.rs:4",
        "PUT /late/slow rocket/src/orders.rs:6",
        "DELETE /nowhere rocket/src/orders.rs:9",
        "GET /api/ping actix/src/main.rs:5",
        "POST /api/jobs actix/src/jobs.rs:2",
    }
