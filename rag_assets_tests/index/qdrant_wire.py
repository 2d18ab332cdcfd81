"""A Qdrant server on loopback: the REST protocol in front of the client library's own in-memory store.

It is what tests can break at will: refuse keys, answer with errors, or hang up in the middle. Where QDRANT_URL names a
real server, requests that are not to fail go there, and every test of this double is one of that server too: it must
have no other user, for its collections are deleted before and after each test.
"""

from __future__ import annotations

import json
import os
import re
import threading
import urllib.error
import urllib.request
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import unquote

from qdrant_client import QdrantClient, models
from qdrant_client.embed import embed_inspector, type_inspector
from qdrant_client.embed.schema_parser import ModelSchemaParser
from qdrant_client.local import payload_value_extractor

# The in-memory store parses the key of each condition for each point: a quarter of its time.
payload_value_extractor.parse_json_path = cache(payload_value_extractor.parse_json_path)
# Each client copies the schema of all requests twice: as much as reading the certificates of all authorities.
embed_inspector.ModelSchemaParser = type_inspector.ModelSchemaParser = cache(ModelSchemaParser)

_COLLECTION = re.compile(r"/collections/(?P<name>[^/?]+)(?P<rest>/[^?]*)?(\?.*)?")


@dataclass(frozen=True)
class Call:
    """One request as it arrived; `number` counts those with the same method and path."""

    method: str
    path: str
    number: int
    body: Any = None


@dataclass
class QdrantWire:
    """Answers as `:memory:` does, unless `refuse` gives a status, or 0 to hang up without an answer; where `lose` says
    so, it does what was asked and then hangs up."""

    api_key: str = ""
    version: str = "1.20.0"
    refuse: Callable[[Call], int | None] = lambda call: None
    lose: Callable[[Call], bool] = lambda call: False
    retry_after: str = ""  # the header that comes with a 429
    calls: list[Call] = field(default_factory=list)
    replies: list[tuple[Call, Any]] = field(default_factory=list)  # of what was done, for `qdrant_contract`
    keys: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._real = os.environ.get("QDRANT_URL", "")
        self.store = QdrantClient(url=self._real, timeout=60) if self._real else QdrantClient(":memory:")
        self._indexes: dict[str, dict[str, Any]] = {}
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def count_of(self, method: str, ending: str) -> int:
        """Requests of that method whose path ends so, without their query."""
        return sum(call.method == method and call.path.endswith(ending) for call in self.calls)

    def indexes(self, collection: str) -> dict[str, Any]:
        """Payload field → parameters of its index, as they were asked for."""
        return self._indexes.get(collection, {})

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        length = int(handler.headers.get("Content-Length") or 0)
        body = json.loads(handler.rfile.read(length)) if length else None
        path = unquote(handler.path.partition("?")[0])
        key = handler.headers.get("api-key", "")
        with self._lock:
            number = sum((call.method, call.path) == (handler.command, path) for call in self.calls)
            call = Call(handler.command, path, number, body)
            self.calls.append(call)
            self.keys.append(key)
            status = self.refuse(call)
            if status == 0:
                _hang_up(handler)
                return
            if key != self.api_key:
                status, result = 401, f"Invalid API key {key}"
            elif status:
                result = f"made to fail with {status}"
            else:
                status, result = self._result(call, handler.path)
                if self.lose(call):
                    _hang_up(handler)
                    return
        told = self._send(handler, status, result)
        if status == 200:
            self.replies.append((call, told))

    def _result(self, call: Call, target: str) -> tuple[int, Any]:
        if self._real and call.path != "/":
            if call.method == "PUT" and call.path.endswith("/index"):
                name = call.path.split("/")[2]
                self._indexes.setdefault(name, {})[call.body["field_name"]] = call.body["field_schema"]
            return _asked(self._real, call, target)
        try:
            return 200, self._do(call)
        except ValueError as error:
            return (404 if "not found" in str(error) else 400), str(error)

    def _do(self, call: Call) -> Any:
        if call.path == "/":
            return {"title": "qdrant", "version": self.version}
        if call.path == "/collections":
            return self.store.get_collections().model_dump(mode="json")
        if call.path == "/aliases":
            return self.store.get_aliases().model_dump(mode="json")
        if call.path == "/collections/aliases":
            return self.store.update_collection_aliases(models.ChangeAliasesOperation(**call.body).actions)
        found = _COLLECTION.fullmatch(call.path)
        assert found is not None, call.path
        name = found["name"]
        match call.method, found["rest"]:
            case "GET", "/exists":
                return {"exists": self.store.collection_exists(name)}
            case "GET", None:
                made = self.store.get_collection(name).model_dump(mode="json", exclude_none=True)
                schema = {key: {"data_type": index["type"], "points": 0} for key, index in self.indexes(name).items()}
                return made | {"payload_schema": schema}
            case "PUT", None:
                wanted = models.CreateCollection(**call.body)
                self._indexes[name] = {}
                return self.store.create_collection(
                    name,
                    vectors_config=wanted.vectors or {},
                    sparse_vectors_config=wanted.sparse_vectors,
                    metadata=wanted.metadata,
                )
            case "PATCH", None:
                return self.store.update_collection(name, metadata=models.UpdateCollection(**call.body).metadata)
            case "DELETE", None:
                return self.store.delete_collection(name)
            case "PUT", "/index":
                self._indexes[name][call.body["field_name"]] = call.body["field_schema"]
                return _DONE
            case "PUT", "/points":
                self.store.upsert(name, points=models.PointsList(**call.body).points)
                return _DONE
            case "POST", "/points/payload":
                self.store.set_payload(name, payload=call.body["payload"], points=call.body["points"])
                return _DONE
            case "POST", "/points/delete":
                selected = call.body["filter"] if "filter" in call.body else call.body["points"]
                self.store.delete(name, models.Filter(**selected) if isinstance(selected, dict) else selected)
                return _DONE
        return self._read(name, found["rest"], call.body)

    def _read(self, name: str, what: str, body: Any) -> Any:
        if what == "/points/scroll":
            wanted = models.ScrollRequest(**body)
            self._require_vectors(name, wanted.with_vector)
            records, offset = self.store.scroll(
                name,
                scroll_filter=wanted.filter,
                limit=wanted.limit or 10,
                offset=wanted.offset,
                with_payload=wanted.with_payload or False,
                with_vectors=wanted.with_vector or False,
            )
            return {
                "points": [record.model_dump(mode="json", exclude_none=True) for record in records],
                "next_page_offset": offset,
            }
        if what == "/points/count":
            counted = models.CountRequest(**body)
            return self.store.count(name, count_filter=counted.filter, exact=True).model_dump(mode="json")
        if what == "/points/query":
            asked = models.QueryRequest(**body)
            return self.store.query_points(
                name,
                query=asked.query,
                using=asked.using,
                query_filter=asked.filter,
                limit=asked.limit or 10,
                with_payload=asked.with_payload or False,
            ).model_dump(mode="json", exclude_none=True)
        assert what == "/facet", what
        facet = models.FacetRequest(**body)
        return self.store.facet(
            name, key=facet.key, facet_filter=facet.filter, limit=facet.limit or 10, exact=True
        ).model_dump(mode="json")

    def _require_vectors(self, name: str, wanted: Any) -> None:
        """The engine of the double leaves out what it does not have; the server refuses."""
        made = self.store.get_collection(name).config.params
        known = {**(made.vectors if isinstance(made.vectors, dict) else {}), **(made.sparse_vectors or {})}
        for vector in wanted if isinstance(wanted, list) else []:
            if vector not in known:
                raise ValueError(f"Wrong input: Not existing vector name error: {vector}")

    def _send(self, handler: BaseHTTPRequestHandler, status: int, result: Any) -> dict[str, Any]:
        if status == 200:
            is_version = isinstance(result, dict) and "version" in result  # the one reply without a frame
            told = result if is_version else {"time": 0.0, "status": "ok", "result": result}
        else:
            told = {"time": 0.0, "status": {"error": result}}
        body = json.dumps(told).encode()
        handler.send_response(status)
        handler.send_header("Content-Type", "application/json")
        if status == 429 and self.retry_after:
            handler.send_header("Retry-After", self.retry_after)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)
        return told

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        wire = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"  # as the server: a connection is for many requests
            disable_nagle_algorithm = True

            def do_GET(self) -> None:
                wire.answer(self)

            do_PUT = do_POST = do_PATCH = do_DELETE = do_GET  # noqa: N815  (names of the standard library)

            def log_message(self, *arguments: object) -> None:
                """Says nothing: what arrived is in `calls`."""

        return Handler

    def _empty(self) -> None:
        """Deletes what a test or one before it left in a real server."""
        for found in self.store.get_collections().collections if self._real else ():
            self.store.delete_collection(found.name)

    def __enter__(self) -> Self:
        self._empty()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        self._empty()


def _asked(url: str, call: Call, target: str) -> tuple[int, Any]:
    """What a real server says."""
    body = None if call.body is None else json.dumps(call.body).encode()
    request = urllib.request.Request(f"{url}{target}", body, {"Content-Type": "application/json"}, method=call.method)
    try:
        with urllib.request.urlopen(request, timeout=60) as reply:
            return 200, json.loads(reply.read())["result"]
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())["status"]["error"]


def _hang_up(handler: BaseHTTPRequestHandler) -> None:
    handler.close_connection = True
    handler.connection.close()


_DONE = {"operation_id": 0, "status": "completed"}


def memory_client() -> QdrantClient:
    """The in-memory store, without its remark that it needs no payload indexes."""
    warnings.filterwarnings("ignore", message="Payload indexes have no effect")
    return QdrantClient(":memory:")
