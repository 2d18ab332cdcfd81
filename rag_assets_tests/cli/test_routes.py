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
    path("api/", include([*router.urls])),
    path("api/orders/", include("shop.orders.urls")),
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
