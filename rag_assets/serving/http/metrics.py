"""What a server counts of itself, in the text format of Prometheus."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

CONTENT_TYPE = CONTENT_TYPE_LATEST
_OPERATIONS = ("search", "read", "symbol", "graph", "impact", "ask", "labels", "status")
_PATHS = frozenset({"/healthz", "/metrics", "/mcp", *(f"/api/v1/{name}" for name in _OPERATIONS)})
_BELOW = ("/api/", "/static/")
_BUCKETS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30)


class ServerMetrics:
    """Requests by route and status, how long they took, how many are in flight, how many indexes are open."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter("rag_assets_requests", "Requests.", ("route", "status"), registry=self._registry)
        self._seconds = Histogram(
            "rag_assets_request_seconds", "Seconds of requests.", ("route",), buckets=_BUCKETS, registry=self._registry
        )
        self._active = Gauge("rag_assets_requests_in_flight", "Requests in flight.", registry=self._registry)
        self._open = Gauge("rag_assets_open_indexes", "Indexes that are open.", registry=self._registry)

    def watch(self, open_indexes: Callable[[], int]) -> None:
        """Says where the number of open indexes is known."""
        self._open.set_function(open_indexes)

    @contextmanager
    def in_flight(self) -> Iterator[None]:
        self._active.inc()
        try:
            yield
        finally:
            self._active.dec()

    def answered(self, path: str, status: int, seconds: float) -> None:
        route = _route(path)
        self._requests.labels(route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def text(self) -> bytes:
        return generate_latest(self._registry)


def _route(path: str) -> str:
    """One of few, whatever is asked for: each makes a series of its own."""
    if path in _PATHS:
        return path
    return next((start for start in _BELOW if path.startswith(start)), "page")
