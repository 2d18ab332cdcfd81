"""The routes of texts that are made to be slow, or to multiply: work grows as the text does."""

from __future__ import annotations

import pytest

from rag_assets.languages.route_mounts import joined
from rag_assets.languages.routes import registered_routes, routes_of_member
from rag_assets.languages.ruby_routes import ruby_routes
from rag_assets.languages.rust_mounts import rust_mounts, rust_units, unit_at
from rag_assets_tests.effort import ends_within, lines_run

GO = 'r.Get("/a", h)\n'
PYTHON = 'from django.urls import path\n@app.get("/x")\ndef f(): pass\n'
PHP = "Route::get('/a', 'b');\n"
UNCALLED = "from django.urls import path\n"
TS = 'app.get("/a", h)\n'
JAVA = 'RouterFunction a = route(GET("/a"), b);\n'
RUST = '#[get("/a")]\nfn a() {}\n'
REPEATED = [
    ("go", GO, 'r.HandleFunc("/a", x\n'),
    ("go", GO, 'r.Route("/a", func(r) {\n'),
    ("go", GO, 'a = a.Group("/x")\n'),
    ("go", 'r.Group("/a"', ').Get("/b", h)'),
    ("go", GO, "r.Match([]string{"),
    ("go", GO, "/* "),
    ("go", GO + "`", '\\"'),
    ("go", GO + '"', "\\'"),
    ("python", PYTHON, '@a.get("/x"\n'),
    ("python", UNCALLED, '@a.get("/x")\n'),
    ("python", PYTHON, "a = [\n"),
    ("python", PYTHON, 'a = [path("x", v),\n'),
    ("python", PYTHON, 'a = [path("x", v)]\n'),
    ("python", PYTHON, 'path("x", include([\n'),
    ("python", PYTHON, 'path("x", include([path("y", v), \n'),
    ("python", PYTHON, 'a = [path("x", include(a)),\n'),
    ("python", PYTHON, 'x.include_router(a, prefix="/b")\n'),
    ("python", PYTHON, "a = APIRouter(\n"),
    ("python", PYTHON, 'a.register("x", b.c.d.'),
    ("python", PYTHON, 'path("x", include([*a.urls, '),
    ("python", PYTHON, "'''a\"\"\""),
    ("python", PYTHON, "\"\"\"a\n''' "),
    ("python", PYTHON, '@a.route("/x", methods=\n'),
    ("php", PHP, "Route::get("),
    ("php", PHP, "Route::a()->"),
    ("php", PHP, "Route::group(['prefix' => 'a'], function () {\n"),
    ("php", PHP, "Route::prefix('a')->"),
    ("php", PHP, "$app->group(["),
    ("php", PHP, ")->"),
    ("typescript", TS, 'app.route("/a").get('),
    ("typescript", TS, 'app.route("/a").get(h)'),
    ("typescript", TS, '.use("/a",'),
    ("typescript", TS + '.use("/a",', "a"),
    ("typescript", TS + "app", '.get("/a", h)'),
    ("typescript", TS + "app", ".use(a)"),
    ("typescript", TS, "const a = express("),
    ("java", JAVA, 'nest(path("/a"), '),
    ("java", JAVA, 'route("/a") {'),
    ("rust", RUST, '.nest("/a", '),
    ("rust", RUST, 'web::scope("/a").service('),
    ("rust", RUST + 'web::scope("/a")', ".service(b)"),
    ("rust", RUST, '#[get("/a")]'),
    ("typescript", TS, "router"),
    ("typescript", TS, "`a\\` ${"),
    ("typescript", TS, "/* '"),
]


@pytest.mark.parametrize(("language", "before", "repeated"), REPEATED)
def test_a_text_of_twice_the_length_takes_twice_the_work(language: str, before: str, repeated: str) -> None:
    def work(times: int) -> int:
        return lines_run(lambda: list(registered_routes(before + repeated * times, language)))

    empty, one, eight = work(0), work(50), work(400)
    assert eight - empty <= 10 * (one - empty) + 100
    with ends_within(10):  # quadratic: minutes
        for _ in registered_routes(before + repeated * (200_000 // len(repeated)), language):
            pass


@pytest.mark.parametrize(
    ("language", "before", "repeated"),
    [
        ("java", "GetMapping(", "path={"),
        ("java", "RequestMapping(", "method={"),
        ("java", "GetMapping({", '"/a", '),
        ("php", "Route(", "path: 'a', "),
        ("php", "Route('/a', ", "methods: ["),
        ("typescript", "Get(", "path:["),
        ("typescript", "Get(path:[", "'a', "),
    ],
)
def test_annotations_take_linear_time_and_do_not_multiply(language: str, before: str, repeated: str) -> None:
    around = ["RequestMapping({" + '"/b", ' * 100_000 + "})", "Controller(" + "path:[" * 100_000 + ")"]
    with ends_within(10):
        for times in (100, 100_000):
            attribute = before + repeated * times + ")"
            assert len(list(routes_of_member([attribute], [attribute, *around], language))) < 100


@pytest.mark.parametrize(
    "path", ["{" + "a" * 200_000, "{a" * 100_000, "<a:" * 70_000, "(?P<a>" * 30_000, "(?P<a>" + "(" * 200_000]
)
def test_a_long_path_takes_linear_time_and_is_cut(path: str) -> None:
    with ends_within(10):
        assert len(joined("api", path)) <= 500


RAILS = "routes.draw do\n"


@pytest.mark.parametrize(
    ("before", "repeated"),
    [
        (RAILS, "get '/a', to: [\n"),
        (RAILS, "scope 'a' do\n"),
        (RAILS, "resources :a do resources :b end\n"),
        (RAILS, "a(lambda do\n"),
        (RAILS, "member {"),
        (RAILS, "get 'a',\n"),
        (RAILS, "# get 'a',\n"),
        (RAILS + "get ", "'a', "),
        (RAILS + "get '", "(/:a"),
        (RAILS, "get '/a' => /b"),
        (RAILS, "x = %r{{"),
        (RAILS, "if a\n"),
        (RAILS + "concern :a do\n", "concerns :a, :a\n"),
        (RAILS + "a", ".a"),
        ("class A < B\n", "get '/a' do\n"),
        ("class A < B\n", "namespace '/a' do\n"),
    ],
)
def test_statements_of_ruby_take_linear_time(before: str, repeated: str) -> None:
    def work(times: int) -> int:
        return lines_run(lambda: list(ruby_routes("config/routes.rb", before + repeated * times)))

    work(1)  # patterns are made once
    empty, one, eight = work(0), work(50), work(400)
    assert eight - empty <= 10 * (one - empty) + 100
    with ends_within(10):
        assert len(list(ruby_routes("config/routes.rb", before + repeated * (190_000 // len(repeated))))) <= 100_000


@pytest.mark.parametrize(
    ("before", "repeated"),
    [
        ("Router\n", "fn a() {\n"),
        ("Router\n", "fn a<"),
        ("Router fn a() {\n", "let a = b("),
        ("Router fn a() {\n", "let a = b(c);\n"),
        ("Router fn a() {\n", '.nest("/a", b('),
        ("Router fn a() {\n", ".merge(a::b::c())"),
        ("Router fn a() {\n", 'web::scope("/a")'),
        ("Router fn a() {\n", "routes![a, "),
        ("Router impl ", "a<"),
        ("Router\n", "use a::{b, "),
        ("Router use ", "a::"),
        ("Router\n", "impl A {\nfn a() {}\n"),
    ],
)
def test_mounts_of_rust_take_linear_time(before: str, repeated: str) -> None:
    def work(times: int) -> int:
        return lines_run(lambda: rust_mounts("src/a.rs", before + repeated * times))

    work(1)
    empty, one, eight = work(0), work(50), work(400)
    assert eight - empty <= 10 * (one - empty) + 100
    with ends_within(10):
        text = before + repeated * (190_000 // len(repeated))
        rust_mounts("src/a.rs", text)
        units = rust_units("src/a.rs", text)
        assert all(unit_at(units, unit.start) >= 0 for unit in units)


def test_concerns_that_name_concerns_do_not_multiply() -> None:
    concerns = "".join(f"concern :c{n} do\n" + f"concerns :c{n + 1}\n" * 9 + "get :x\nend\n" for n in range(9))
    with ends_within(10):
        assert len(list(ruby_routes("config/routes.rb", f"{RAILS}{concerns}concerns :c0\n"))) < 20_000


def paths(text: str) -> list[str]:
    return [route.path for route in registered_routes(UNCALLED + text, "python")]


def test_a_list_that_includes_itself_gives_each_route_once() -> None:
    own = 'path("y/", include(a)),\n' * 40
    assert paths(f'a = [path("x/", v),\n{own}]\n') == ["/x"]
    assert paths(f'a = [path("x/", v),\n{own}]\nurlpatterns = [path("z/", include(a))]\n') == ["/z/x"]
    both = 'a = [path("x/", v), path("b/", include(b))]\nb = [path("y/", v), path("a/", include(a))]\n'
    assert len(paths(both)) == 2


def test_lists_that_include_lists_do_not_multiply() -> None:
    lists = "".join(
        f"l{depth} = [\n" + "".join(f'path("{depth}-{n}/", include(l{depth + 1})),\n' for n in range(17)) + "]\n"
        for depth in range(4)
    )
    found = paths(f'{lists}l4 = [path("x/", v), path("y/", v)]\n')
    assert len(found) == len(set(found)) == 2 * 50
    assert found[0] == "/0-0/1-0/2-0/3-0/x"


def test_a_file_gives_at_most_so_many_routes() -> None:
    many = "urlpatterns = [" + "".join(f'path("{n}/", include(a)),\n' for n in range(100)) + "]\n"
    view = 'path("x/", v),\n'
    assert len(paths(f"a = [{view * 300}]\n{many}")) == 400 + 10_000
    assert len(paths(f"a = [{view * 100}]\n{many}")) == 50 * 100


def test_brackets_in_comments_and_strings_close_nothing() -> None:
    text = 'a = [  # ]\n    path("x/", v, ")]"),\n    """ ] """\n    path("y/", v),\n]\nb = [path("z/", include(a))]\n'
    assert paths(text) == ["/z/x", "/z/y"]


def test_what_opens_without_an_end_hides_nothing() -> None:
    assert [route.path for route in registered_routes('x = /[/*]/;\napp.get("/a", h)\n', "typescript")] == ["/a"]
    assert [route.path for route in registered_routes('x = /`/; y = /"/\napp.get("/a", h)\n', "typescript")] == ["/a"]
    assert paths('"""\npath("x/", v)\n') == ["/x"]
