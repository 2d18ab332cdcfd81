"""Requests that code sends, and the endpoints of the label that they mean."""

from __future__ import annotations

import pytest

from rag_assets.graph.requested_endpoints import meant_endpoints
from rag_assets.languages.http_requests import requests_in
from rag_assets_tests.effort import ends_within


@pytest.mark.parametrize(
    ("language", "text", "found"),
    [
        ("typescript", "this.http.get<Order[]>(`${environment.api}/orders/${id}?full=1`)", ["GET ~/orders/{}"]),
        ("typescript", "const base = '/api';\nclass A { url = base + '/orders'; f() { http.post(this.url, x) } }",
         ["POST /api/orders"]),
        ("typescript", "const routes = {\n  one: (id: string) => `/api/orders/${id}`,\n};\naxios.put(routes.one(3), x)",
         ["PUT /api/orders/{}"]),
        ("javascript", "await fetch('/api/orders/' + id, { method: 'DELETE' });", ["DELETE /api/orders/{}"]),
        ("javascript", "$.ajax({ type: 'POST', url: '/api/orders', data: x });", ["POST /api/orders"]),
        ("javascript", "$.get('/api/orders', function (data) { show(data); });", ["GET /api/orders"]),
        ("javascript", "request(app).get('/users').expect(200)", ["GET /users"]),
        ("csharp", 'await client.GetFromJsonAsync<Order>($"api/orders/{id}");', ["GET ~/api/orders/{}"]),
        ("csharp", 'private const string Url = "http://catalog-api/api/items";\nclient.PutAsJsonAsync(Url, item);',
         ["PUT /api/items"]),
        ("csharp", 'new HttpRequestMessage(HttpMethod.Delete, $"{_base}/orders/{id}")', ["DELETE ~/orders/{}"]),
        ("csharp", 'new RestRequest("orders/{id}", Method.Post)', ["POST ~/orders/{}"]),
        ("typescript", 'fetch("/orders", options); fetch("/orders/1", { method, body });',
         ["ANY /orders", "ANY /orders/1"]),
        ("typescript", 'this.http.get<{ items: X[]; total: number }>("/orders"); api.get("/orders")',
         ["GET /orders", "GET /orders"]),
        ("typescript", 'apiFetch<X[]>(`/orders?${q}`); apiFetch<string>("/orders", {method: "POST"}); useFetch("/a/b")',
         ["GET /orders", "POST /orders", "GET /a/b"]),
        ("rust", 'client.get(&format!("{base}/orders")).send()', ["GET ~/orders"]),
        ("go", 'c.httpClient.Get("http://127.0.0.1:8080/orders")', ["GET /orders"]),
        ("csharp", 'await _http.PostAsync($"api/orders/{Uri.EscapeDataString(id)}/lines", c)',
         ["POST ~/api/orders/{}/lines"]),
        ("csharp", '[Get("/users/{id}")]\nTask<User> Get(int id);', ["GET /users/{}"]),
        ("razor", '@code { Task A() => Http.GetFromJsonAsync<A[]>("api/orders"); }', ["GET ~/api/orders"]),
        ("python", 'requests.get(f"{HOST}/orders/{id}")\nclient.post("/orders", json={"name": "/x"})',
         ["GET ~/orders/{}", "POST /orders"]),
        ("go", 'http.NewRequest("PUT", "http://localhost:8080/orders/1", nil)\nhttptest.NewRequest("GET", "/a/b", nil)',
         ["PUT /orders/1", "GET /a/b"]),
        ("java", 'mockMvc.perform(get("/owners/new"))\nrest.getForObject("/owners/{id}", Owner.class, 1)',
         ["GET /owners/new", "GET /owners/{}"]),
        ("java", '@GET("users/{id}")\nCall<User> user(@Path("id") int id);', ["GET ~/users/{}"]),
        ("kotlin", '@GET(value = "users")\nsuspend fun users(): List<User>', ["GET ~/users"]),
        ("kotlin", '@POST("users")\nsuspend fun add(): User', ["POST ~/users"]),
        ("kotlin", '@Get("users")\nfun users(): List<User>', []),
        ("php", "$this->json('GET', '/api/orders');\n$this->postJson('/api/orders', []);",
         ["GET /api/orders", "POST /api/orders"]),
    ],
)  # fmt: skip
def test_requests_are_read_as_clients_of_each_language_write_them(language: str, text: str, found: list[str]) -> None:
    assert [f"{one.method} {one.path}" for one in requests_in(text, language)] == found


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("javascript", "app.get('/users', (req, res) => res.send())"),
        ("javascript", "v1.post('/users', async (request, reply) => { })"),
        ("javascript", "fetch('https://api.github.com/users')"),
        ("typescript", "@Get('users') all() {}"),
        ("csharp", '[HttpGet("users/{id}")] public User Get(int id) => x;'),
        ("csharp", 'app.MapGet("/users", () => 1); new Uri($"/posts/{slug}"); Get("/users");'),
        ("csharp", '// client.GetAsync("/orders")\n/* client.GetAsync("/orders/2") */\nredisClient.Get("orders");'),
        ("typescript", 'res.json({ url: "/orders/x" })'),
        ("python", '# client.get("/orders")'),
        ("python", '@app.get("/users")\ndef users(): ...\nvalues.get("name")'),
        ("go", 'r.GET("/users", list)\nhttp.NewRequest("GET", target, nil)'),
        ("java", 'get("/hello", (request, response) -> "x");'),
        ("php", "Route::get('/users', [UserController::class, 'all']);"),
    ],
)
def test_what_registers_a_route_or_asks_the_world_is_no_request(language: str, text: str) -> None:
    assert list(requests_in(text, language)) == []


def test_a_path_may_be_a_constant_of_another_file() -> None:
    text = 'client.GetAsync(ApiRoutes.Posts.All);\nclient.GetAsync($"{Posts.All}/7");\nclient.GetAsync(Posts.Other);'
    found = requests_in(text, "csharp", lambda: {"Posts.All": '@"/api/posts"'})
    assert [f"{one.method} {one.path}" for one in found] == ["GET /api/posts", "GET /api/posts/7"]


DECLARED = [
    "http:GET /api/orders|ENDPOINT",
    "http:GET /api/orders/{id}|ENDPOINT",
    "http:GET /api/v{version}/stock|ENDPOINT",
    "http:GET /shop/orders/{id}/lines|ENDPOINT",
    "http:GET /other/orders/{id}/lines|ENDPOINT",
    "http:ANY /health|ENDPOINT",
    "http:POST /Manage/MyAccount|ENDPOINT",
    "http:GET /files/{name}|ENDPOINT",
    "http:GET /|ENDPOINT",
    "http:POST /login|ENDPOINT",
    "http:POST /api/login|ENDPOINT",
    "http:POST /api/oauth2|ENDPOINT",
]


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("GET /api/orders/{}", "GET /api/orders/{id}"),
        ("GET /api/orders/7", "GET /api/orders/{id}"),
        ("GET /orders", "GET /api/orders"),
        ("GET /api/v1/stock", "GET /api/v{version}/stock"),
        ("POST /health", "ANY /health"),
        ("POST /manage/my-account", "POST /Manage/MyAccount"),
        ("ANY /api/orders", "GET /api/orders"),
        ("GET /orders/{}/lines", ""),  # two fit equally well
        ("POST /api/orders", ""),
        ("GET /files/settings", ""),  # a word may be an endpoint that is not known
        ("GET /{}", ""),
        ("GET ~/orders", "GET /api/orders"),
        ("POST /oauth2", "POST /api/oauth2"),
        ("GET ~/api/orders", "GET /api/orders"),
        ("POST ~/login", ""),  # below which of two?
        ("GET /api/orders/7/parts", ""),
    ],
)
def test_a_request_means_the_endpoint_that_alone_fits_it(asked: str, meant: str) -> None:
    key = f"http:{asked}|ENDPOINT"
    found = meant_endpoints([key], DECLARED)
    assert found == ({key: f"http:{meant}|ENDPOINT"} if meant else {})


@pytest.mark.parametrize(
    "text",
    [
        "client.get(" * 5_000,
        "http.get(`" + "${a" * 60_000,
        "a = '/" + "{a}" * 60 + "'\nhttp.get(a)\n" * 2_000,
        "http.get(a)\n" + "".join(f"a{n} = '/x' + {'+'.join(f'a{m}' for m in range(90))}\n" for n in range(90)),
        "fetch(" + '"' * 100_000,
        "html = '<a>'\n" + "html = html + '</a>'\n" * 3_000 + "http.get(html)",
        "/* " * 50_000 + "http.get('/a')",
        "x =" + " " * 100_000,
        "$" * 100_000 + "(",
        "a:" * 50_000,
    ],
)
def test_no_text_takes_more_than_linear_time(text: str) -> None:
    for language in ("csharp", "typescript", "python"):
        with ends_within(4):
            list(requests_in(text, language))
