"""Every route and tool of a server, each with requests that try to get across the walls of `walled_shops`: with the
token of somebody, for things of somebody else."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random
from typing import Any

import anyio
from starlette.testclient import TestClient

from rag_assets.serving.access import Caller
from rag_assets.serving.http.app import Reception, application
from rag_assets.serving.index_pool import IndexPool
from rag_assets.serving.mcp_server import mcp_server
from rag_assets.serving.operations import Operations
from rag_assets.serving.page import WebPage
from rag_assets.serving.requests import GraphQuery
from rag_assets.serving.tokens import TokenStore
from rag_assets_tests.isolation import public_entries as words
from rag_assets_tests.isolation.public_entries import Request
from rag_assets_tests.isolation.walled_shops import CONFIG, ROLES, Asker, World

_TYPED = {"content-type": "application/json", "accept": "application/json, text/event-stream"}


@dataclass(frozen=True)
class ServedWorld:
    """A world behind a server, and the token of each of its askers by organisation and role."""

    world: World
    client: TestClient
    tokens: Mapping[tuple[str, str | None], str]

    def labels(self, asker: Asker) -> tuple[str, ...]:
        """What the token of an asker reaches: the labels of its organisation."""
        return tuple(shop.label for shop in self.world.shops if shop.org == asker.shop.org)

    def headers(self, asker: Asker) -> dict[str, str]:
        return {"authorization": f"Bearer {self.tokens[asker.shop.org, asker.role]}", "host": "localhost"}


@contextmanager
def served(world: World) -> Iterator[ServedWorld]:
    """The world behind the application that `rag-assets serve` runs, with tokens that `rag-assets token` makes."""
    store = TokenStore(world.home, {role: level for role, level in ROLES.items() if role is not None})
    tokens = {
        (org, role): store.create(f"{org}-{role}", role=role, org_id=org)
        for org in {shop.org for shop in world.shops}
        for role in ROLES
    }

    async def find(token: str) -> Caller | None:
        return await anyio.to_thread.run_sync(store.caller_of, token)

    operations = Operations(IndexPool(world.home, world.folder / CONFIG))
    app = application(
        operations, mcp_server(operations), Reception(find=find, everybody=None), page=WebPage(operations, find)
    )
    with TestClient(app, base_url="http://localhost", raise_server_exceptions=False) as client:
        yield ServedWorld(world, client, tokens)


ServedEntry = Callable[[ServedWorld, Asker, Random], Request]
Arguments = Callable[[World, Asker, Random], dict[str, Any]]


def _label(world: World, asker: Asker, chance: Random) -> dict[str, Any]:
    """Its own label, that of somebody else, several, or none."""
    other = chance.choice(world.shops).label
    return chance.choice([{"label": asker.shop.label}, {"label": asker.shop.label}, {"label": other}, {}])


def _search(world: World, asker: Asker, chance: Random) -> dict[str, Any]:
    found: dict[str, Any] = {"query": words._query(world, asker, chance)}
    if chance.random() < 0.3:
        found["detail"] = chance.choice(["source", "snippet", "outline", "places"])
    if chance.random() < 0.2:
        found["paths"] = [words._place(world, asker, chance).partition(":")[0]]
    if chance.random() < 0.2:
        found["cursor"] = chance.choice(["5:0000", "1:abcd", "99:1234"])
    if chance.random() < 0.2:
        return found | {"label": [shop.label for shop in world.shops]}
    return found | _label(world, asker, chance)


def _read(world: World, asker: Asker, chance: Random) -> dict[str, Any]:
    commits = ["", "", "worktree", *asker.shop.repository.git("rev-list", "--all").split()]
    found = {"place": words._read_place(world, asker, chance), "commit": chance.choice(commits)}
    return found | {"context": chance.choice([0, 0, 50])} | _label(world, asker, chance)


def _symbol(world: World, asker: Asker, chance: Random) -> dict[str, Any]:
    return {"name": words._node(world, asker, chance)} | _label(world, asker, chance)


def _graph(world: World, asker: Asker, chance: Random) -> dict[str, Any]:
    relation = chance.choice(list(GraphQuery))
    found = {"start": words._node(world, asker, chance), "relation": relation.value, "depth": chance.randint(1, 6)}
    end = {"to": words._node(world, asker, chance)} if relation is GraphQuery.PATH else {}
    return found | end | {"limit": 200} | _label(world, asker, chance)


def _ask(world: World, asker: Asker, chance: Random) -> dict[str, Any]:
    return {"question": words._query(world, asker, chance)} | _label(world, asker, chance)


def _status(world: World, asker: Asker, chance: Random) -> dict[str, Any]:
    others = [generation for shop in world.shops for generation in shop.generations]
    compared = {"compare": chance.choice(["previous", *others])} if chance.random() < 0.3 else {}
    return compared | _label(world, asker, chance)


def _since(world: World, asker: Asker, chance: Random) -> dict[str, Any]:
    only = chance.choice([[], ["code"], ["test", "document"]])
    return {"since": words._since(world, asker, chance), "only": only, "limit": 200} | _label(world, asker, chance)


def _two(world: World, asker: Asker, chance: Random) -> dict[str, Any]:
    old, new = chance.choice(world.shops).generations, chance.choice(world.shops).generations
    return {"old": chance.choice(old), "new": chance.choice(new)} | _label(world, asker, chance)


TOOLS: Mapping[str, Arguments] = {
    "search": _search,
    "read": _read,
    "symbol": _symbol,
    "graph": _graph,
    "ask": _ask,
    "status": _status,
}


def _said(arguments: Mapping[str, Any]) -> str:
    return json.dumps(arguments)


def _route(name: str, arguments: Arguments, accept: str) -> ServedEntry:
    def entry(served: ServedWorld, asker: Asker, chance: Random) -> Request:
        asked = arguments(served.world, asker, chance)
        headers = served.headers(asker) | {"accept": accept}
        answer = served.client.post(f"/api/v1/{name}", json=asked, headers=headers)
        return Request(_said(asked), answer.text, served.labels(asker))

    return entry


def _tool(name: str, arguments: Arguments) -> ServedEntry:
    def entry(served: ServedWorld, asker: Asker, chance: Random) -> Request:
        asked = arguments(served.world, asker, chance)
        return Request(
            _said(asked),
            _call(served, asker, "tools/call", {"name": name, "arguments": asked}),
            served.labels(asker),
        )

    return entry


def _resource(served: ServedWorld, asker: Asker, chance: Random) -> Request:
    shop = chance.choice([asker.shop, *served.world.shops])
    commit = chance.choice(shop.repository.git("rev-list", "--all").split())
    place = words._place(served.world, asker, chance).partition(":")[0]
    uri = chance.choice(
        ["rag://labels", f"rag://{shop.label}/overview", *[f"rag://{shop.label}/{commit}/{place}?lines=1-40"] * 3]
    )
    return Request(uri, _call(served, asker, "resources/read", {"uri": uri}), served.labels(asker))


def _page(path: str, name: str, arguments: Arguments) -> ServedEntry:
    """A view of the page; `name` is the field that holds what is asked."""

    def entry(served: ServedWorld, asker: Asker, chance: Random) -> Request:
        asked = arguments(served.world, asker, chance)
        kind = next((key for key in ("query", "question", "place", "start") if key in asked), "")
        fields = {name if key == kind else key: value for key, value in asked.items() if value not in ("", None)}
        if path == "/eval" and chance.random() < 0.5:
            fields["generation"] = chance.choice(chance.choice(served.world.shops).generations)
        headers = served.headers(asker) | {"accept": "text/html"}
        answer = served.client.get(path, params=fields, headers=headers)
        return Request(_said(fields), answer.text, served.labels(asker))

    return entry


def _listing(method: str) -> ServedEntry:
    def entry(served: ServedWorld, asker: Asker, chance: Random) -> Request:
        return Request("", _call(served, asker, method, {}), served.labels(asker))

    return entry


def _call(served: ServedWorld, asker: Asker, method: str, params: dict[str, Any]) -> str:
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    headers = served.headers(asker) | _TYPED | {"mcp-protocol-version": "2025-06-18"}
    answer = served.client.post("/mcp", json=body, headers=headers)
    assert answer.status_code == 200 and ("result" in answer.text or "error" in answer.text), answer.text
    return json.dumps(answer.json(), ensure_ascii=False)


def _plain(path: str) -> ServedEntry:
    def entry(served: ServedWorld, asker: Asker, chance: Random) -> Request:
        return Request("", served.client.get(path, headers=served.headers(asker)).text, served.labels(asker))

    return entry


SERVED: Mapping[str, ServedEntry] = {
    **{f"route {name}": _route(name, arguments, "application/json") for name, arguments in TOOLS.items()},
    **{f"text of {name}": _route(name, arguments, "text/plain") for name, arguments in TOOLS.items()},
    "route graph since": _route("graph", _since, "application/json"),
    "tool graph since": _tool("graph", _since),
    "stream of ask": _route("ask", _ask, "text/event-stream"),
    "route labels": _route("labels", lambda *_: {}, "application/json"),
    **{f"tool {name}": _tool(name, arguments) for name, arguments in TOOLS.items()},
    "resources read": _resource,
    "resources list": _listing("resources/list"),
    "page search": _page("/", "q", _search),
    "page source": _page("/source", "place", _read),
    "page ask": _page("/ask", "q", _ask),
    "page graph": _page("/graph", "start", _graph),
    "page index": _page("/index", "", _status),
    "page eval": _page("/eval", "", _status),
    "page impact": _page("/impact", "", lambda *asked: _since(*asked) | {"limit": ""}),
    "page compare": _page("/compare", "", _two),
    "stream of the page": _page("/ask/stream", "q", _ask),
    "metrics": _plain("/metrics"),
    "openapi": _plain("/openapi.json"),
}
