"""The routes for programs, asked as `curl` asks them."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import httpx2
import pytest

from rag_assets.index.layout import IndexHome
from rag_assets.serving.http.api import ROUTES
from rag_assets_tests.cli.conftest import CommandLine
from rag_assets_tests.processes import until
from rag_assets_tests.serving.conftest import Home, Server, serving

SHOP = {"label": "shop@main"}


def test_every_operation_answers_as_json_and_as_text(server: Server) -> None:
    asked = {
        "search": {"query": "refund an order"},
        "read": {"place": "src/Orders/OrderService.cs:10-14"},
        "symbol": {"name": "OrderService"},
        "graph": {"start": "Invoices.Post", "relation": "impact"},
        "ask": {"question": "who pays back what a customer returned?"},
        "status": {},
        "labels": {},
    }
    assert set(asked) == {one.name for one in ROUTES}
    for name, arguments in asked.items():
        by_query = server.get(f"/api/v1/{name}", params=arguments | SHOP)
        by_body = server.post(f"/api/v1/{name}", json=arguments | SHOP)
        assert by_query.status_code == by_body.status_code == 200, by_query.text
        if name != "ask":  # each turn has an id of its own
            assert by_query.json() == by_body.json()
        if name != "labels":
            text = server.get(f"/api/v1/{name}", params=arguments | SHOP, headers={"accept": "text/plain"}).text
            assert text.startswith("shop@main @ ") and "(is HEAD)" in text.partition("\n")[0]


def test_a_search_gives_places_members_and_a_cursor(server: Server) -> None:
    first = server.get("/api/v1/search", params=SHOP | {"query": "invoices", "limit": 2}).json()
    assert len(first["hits"]) == 2 and first["commit"] and first["stale"] is False
    after = server.get(
        "/api/v1/search", params=SHOP | {"query": "invoices", "limit": 2, "cursor": first["cursor"]}
    ).json()
    ranks = [hit["rank"] for hit in (*first["hits"], *after["hits"])]
    assert ranks == list(range(1, len(ranks) + 1)) and len(ranks) > 2
    places = [(hit["path"], *hit["lines"]) for hit in (*first["hits"], *after["hits"])]
    assert len(set(places)) == len(places)
    other = server.get("/api/v1/search", params=SHOP | {"query": "orders", "cursor": first["cursor"]})
    assert other.status_code == 400 and "cursor is of another question" in other.json()["error"]["message"]


def test_lines_around_a_place_and_those_of_now(server: Server) -> None:
    place = "src/Orders/OrderService.cs:10"
    found = server.get("/api/v1/read", params=SHOP | {"place": place, "context": 1}).json()
    assert (found["start_line"], found["end_line"]) == (9, 11)
    assert found["around"]["symbol"] == "Shop.Orders.OrderService.RefundOrder"
    now = server.get("/api/v1/read", params=SHOP | {"place": place, "commit": "worktree"}).json()
    assert now["version"] == "work tree"


def test_a_symbol_has_its_parts_its_documentation_and_its_relatives(server: Server) -> None:
    found = server.get("/api/v1/symbol", params=SHOP | {"name": "Shop.Orders.Invoices"}).json()
    assert {part["path"] for part in found["parts"]} == {"src/Orders/Invoices.cs", "src/Orders/Invoices.Print.cs"}
    service = server.get("/api/v1/symbol", params=SHOP | {"name": "orderservice"}).json()
    assert service["parts"][0]["doc"] == "Cancels and refunds orders."
    assert service["relatives"] == {"implements": ["IOrders"]}
    assert [member["signature"] for member in service["parts"][0]["members"]][-1].startswith("public void Cancel")
    several = server.get("/api/v1/symbol", params=SHOP | {"name": "Invoices"})
    assert several.status_code == 404
    assert {"Shop.Orders.Invoices", "Shop.Other.Invoices"} <= set(several.json()["error"]["message"].split())


def test_the_graph_by_relation_and_group(server: Server) -> None:
    def rows(**arguments: object) -> list[tuple[str, str]]:
        found = server.get("/api/v1/graph", params=SHOP | arguments).json()
        return [(row["group"], row["key"].partition("|")[0].rpartition(".")[2]) for row in found["nodes"]]

    assert ("test", "RefundsAnOrder()") in rows(start="Invoices.Post", relation="impact")
    assert rows(start="Invoices.Post", relation="impact", only="test") == [("test", "RefundsAnOrder()")]
    assert ("code", "RefundOrder(int)") in rows(start="Invoices.Post", relation="callers", depth=1)
    assert ("code", "RefundOrder(int)") in rows(start="OrderService.invoices", relation="callers", depth=1)
    way = server.get("/api/v1/graph", params=SHOP | {"start": "OrderService.Cancel", "relation": "path", "to": "Post"})
    assert [row["via"]["relation"] for row in way.json()["paths"][0][1:]] == ["Calls", "Calls"]
    without_end = server.get("/api/v1/graph", params=SHOP | {"start": "Invoices.Post", "relation": "path"})
    assert without_end.status_code == 400 and "`to`" in without_end.json()["error"]["message"]


def test_an_answer_is_streamed(server: Server) -> None:
    asked = SHOP | {"question": "who pays back what a customer returned?"}
    with httpx2.stream(
        "GET", f"{server.address}/api/v1/ask", params=asked, headers={"accept": "text/event-stream"}
    ) as response:
        lines = [line for line in response.iter_lines() if line]
    events = [line.removeprefix("event: ") for line in lines if line.startswith("event: ")]
    data = [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]
    assert events[-1] == "answer" and "RefundOrder" in data[-1]["answer"]
    assert data[-1]["citations"][0]["path"] == "src/Orders/OrderService.cs"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "query is missing"),
        ({"query": " "}, "query is empty"),
        ({"query": "x", "limit": "50"}, "limit is 50; it must be 1 to 20"),
        ({"query": "x", "limit": "many"}, "limit is 'many'; it must be a whole number"),
        ({"query": "x", "limit": "inf"}, "limit is 'inf'; it must be a whole number"),
        ({"query": "x", "detail": "all"}, "detail is 'all'; valid: source, snippet, outline or places"),
        ({"qury": "x"}, "no argument 'qury'; did you mean 'query'?"),
        ({"query": "x", "cursor": "5"}, "'5' is no cursor"),
        ({"query": "x" * 4001}, "query has 4,001 characters; at most 4,000"),
    ],
)
def test_wrong_arguments_are_told_what_is_valid(server: Server, arguments: dict[str, str], said: str) -> None:
    answer = server.get("/api/v1/search", params=SHOP | arguments)
    assert answer.status_code == 400
    assert said in answer.json()["error"]["message"]
    assert answer.json()["error"]["request_id"] == answer.headers["x-request-id"]


def test_a_label_is_never_guessed(server: Server) -> None:
    none = server.get("/api/v1/search", params={"query": "x"})
    assert none.status_code == 404
    assert none.json()["error"]["message"] == "several indexes are here; name one as label: shop@main, site@main"
    unknown = server.get("/api/v1/search", params={"query": "x", "label": "shoop"})
    assert unknown.json()["error"]["message"] == "no label 'shoop'; there are: shop@main, site@main"
    both = server.get("/api/v1/search", params={"query": "invoices", "label": ["shop", "site"]})
    assert both.status_code == 200 and both.json()["label"] is None


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"{", "application/json", 400),
        (b"[" * 100_000, "application/json", 400),
        (b"[]", "application/json", 400),
        (b"query=x", "application/x-www-form-urlencoded", 400),
        (b"\xff\xfe", "application/json", 400),
        (b'{"query": "' + b"x" * 2_000_000 + b'"}', "application/json", 413),
    ],
)
def test_bodies_that_are_no_request(server: Server, body: bytes, kind: str, status: int) -> None:
    answer = server.post("/api/v1/search", content=body, headers={"content-type": kind})
    assert answer.status_code == status and answer.json()["error"]["message"]


def test_a_body_without_its_length_is_limited_too(server: Server) -> None:
    def parts() -> object:
        yield from (b"x" * 65_536 for _ in range(40))

    try:
        answer = server.post("/api/v1/search", content=parts(), headers={"content-type": "application/json"})
        assert answer.status_code == 413
    except httpx2.WriteError:
        pass  # the server has hung up before all was sent
    assert server.get("/healthz").status_code == 200


@pytest.mark.parametrize("place", ["../../etc/passwd", "/etc/passwd", "src/../../x.cs", "..\\..\\x.cs", "%2e%2e/x"])
def test_no_place_leaves_the_repository(server: Server, place: str) -> None:
    for commit in ("", "worktree"):
        answer = server.get("/api/v1/read", params=SHOP | {"place": place, "commit": commit})
        assert answer.status_code in (400, 404) and "root:" not in answer.text


def test_other_names_and_pages_of_other_sites_are_refused(server: Server) -> None:
    assert server.get("/healthz", headers={"host": "evil.example"}).status_code == 421
    assert server.get("/api/v1/labels", headers={"origin": "https://evil.example"}).status_code == 403
    assert server.get("/api/v1/labels", headers={"sec-fetch-site": "cross-site"}).status_code == 403
    assert server.get("/api/v1/labels", headers={"origin": server.address}).status_code == 200


def test_a_server_without_an_index_says_how_to_make_one(server: Server, home: Home, tmp_path: Path) -> None:
    empty = Home(CommandLine(IndexHome(tmp_path / "none"), tmp_path), home.shop, home.site)
    with serving(empty, errors=tmp_path / "errors.txt") as made:
        assert made.get("/healthz").status_code == 200
    said = json.loads((tmp_path / "errors.txt").read_text(encoding="utf-8").splitlines()[0])
    assert said["note"] == f"nothing is indexed yet; run: rag-assets --home {tmp_path / 'none'} index"
    assert '"note"' not in server.errors.read_text(encoding="utf-8").splitlines()[0]


def test_health_metrics_and_the_description(server: Server) -> None:
    assert server.get("/healthz").json() == {"status": "ok"}
    assert 'rag_assets_requests_total{route="/healthz"' in server.get("/metrics").text
    described = server.get("/openapi.json").json()
    assert set(described["paths"]) == {f"/api/v1/{one.name}" for one in ROUTES}
    search = described["paths"]["/api/v1/search"]["get"]
    assert {one["name"] for one in search["parameters"] if one["required"]} == {"query"}
    unknown = server.get("/api/v2/search")
    assert unknown.status_code == 404 and "/openapi.json" in unknown.json()["error"]["message"]


def test_the_log_has_a_line_for_each_request_and_no_question(server: Server) -> None:
    server.get("/api/v1/search", params=SHOP | {"query": "a very private matter"}, headers={"x-request-id": "mine-1"})
    until(lambda: "mine-1" in server.said(), "the request is in the log")
    rows = [json.loads(line) for line in server.said().splitlines() if "mine-1" in line]
    assert rows and rows[0]["status"] == 200 and rows[0]["path"] == "/api/v1/search"
    assert "private" not in server.said()


def test_a_client_that_leaves_in_the_middle_harms_nobody(server: Server) -> None:
    host, port = server.address.removeprefix("http://").split(":")
    for _ in range(5):
        with socket.create_connection((host, int(port))) as gone:
            gone.sendall(
                b"GET /api/v1/ask?label=shop&question=refunds HTTP/1.1\r\nhost: localhost\r\n"
                b"accept: text/event-stream\r\n\r\n"
            )
    assert server.get("/api/v1/search", params=SHOP | {"query": "refund"}).status_code == 200


def test_a_port_in_use_is_told_before_anything_is_opened(server: Server, home: Home) -> None:
    port = server.address.rpartition(":")[2]
    done = home.cli.spawn("serve", "--port", port)
    assert done.code == 1 and f"cannot listen on 127.0.0.1:{port}" in done.err and "--port" in done.err


def test_strangers_are_not_let_in_without_tokens(home: Home) -> None:
    done = home.cli.run("serve", "--host", "0.0.0.0", "--port", "0")
    assert done.code == 1 and "rag-assets token create NAME" in done.err


def test_a_server_of_an_empty_home(tmp_path: Path, home: Home) -> None:
    from rag_assets.index.layout import IndexHome
    from rag_assets_tests.cli.conftest import CommandLine

    empty = Home(CommandLine(IndexHome(tmp_path / "none"), tmp_path), home.shop, home.site)
    with serving(empty, errors=tmp_path / "errors.txt") as server:
        assert server.get("/api/v1/labels").json() == {"labels": []}
        answer = server.get("/api/v1/search", params={"query": "x"})
        assert answer.status_code == 404 and "rag-assets index" in answer.json()["error"]["message"]


def test_a_home_that_may_only_be_read_is_served(home: Home, tmp_path: Path) -> None:
    """As a container has it: no folder of it can be written."""
    shut = [path for path in (home.root, *home.root.rglob("*")) if path.is_dir()]
    for path in shut:
        path.chmod(0o500)
    try:
        with serving(home, errors=tmp_path / "errors.txt") as server:
            assert server.get("/api/v1/search", params=SHOP | {"query": "refund"}).json()["hits"]
            assert server.get("/api/v1/ask", params=SHOP | {"question": "who pays back a customer?"}).status_code == 200
    finally:
        for path in shut:
            path.chmod(0o700)
