"""The double speaks as Qdrant describes itself: every request that we send, and every reply that it gives."""

from __future__ import annotations

import pytest

pytest.importorskip("qdrant_client")

from qdrant_client import QdrantClient

from rag_assets.index.vectors import delete_stale_points, forget_points, serve_points
from rag_assets.index.vectors.filters import SearchFilters
from rag_assets_tests.index.qdrant_contract import (
    DOCUMENT_VARIABLE,
    OpenApi,
    document,
    operation_of,
    operations,
    problems,
)
from rag_assets_tests.index.qdrant_wire import QdrantWire
from rag_assets_tests.index.sample_points import scope, terms, unit_rows
from rag_assets_tests.index.server_label import Label, mine


def live(label: Label) -> None:
    """All that is ever sent: builds, searches with every kind of filter, serving, pruning, forgetting."""
    label.build(mine(12))
    serve_points(label.folder, "g1")
    label.build([*mine(3, ContentHash="b"), *mine(12)[4:]], "g2")
    serve_points(label.folder, "g2")
    reader = label.reader("g2")
    known = list(reader.ids())
    for filters in (
        SearchFilters(),
        SearchFilters(paths=("src/**/*.cs",), kinds=("Service",), languages=("csharp",)),
        SearchFilters(symbols=("Shop.*",), source_types=("code",)),
        SearchFilters(since="2020", before="2030"),
    ):
        asked = scope().narrowed(filters)
        reader.dense(unit_rows(1)[0], asked, 5)
        reader.sparse(*terms(1), asked, 5)
        reader.retrieve(known, asked)
        reader.count(asked)
    reader.values("Kind", scope())
    reader.digests()
    outside = QdrantClient(url=label.wire.url, check_compatibility=False)
    outside.scroll("acme~shop~shop@main", with_vectors=True)
    label.build(mine(4), "g3", dimension=0)
    serve_points(label.folder, "g3")
    label.drop("g1")
    delete_stale_points(label.folder)
    forget_points(label.folder)


def test_the_description_knows_what_is_sent() -> None:
    assert len(operations()) > 30
    assert operation_of("PUT", "/collections/x/points").body is not None
    assert operation_of("POST", "/collections/aliases").url == "/collections/aliases"
    with pytest.raises(LookupError):
        operation_of("GET", "/nowhere")


def test_an_unknown_or_wrong_key_is_found() -> None:
    good = {"time": 0.1, "status": "ok", "result": {"count": 3}}
    path = "/collections/x/points/count"
    assert list(problems("POST", path, {"exact": True}, good)) == []
    assert list(problems("POST", path, {"exactly": True}, good))
    assert list(problems("POST", path, {"exact": True}, good | {"result": {"count": "three"}}))
    assert list(problems("POST", path, {"exact": True}, good | {"result": {"count": 3, "more": 1}}))


def test_requests_and_replies_are_those_of_the_client(wire: QdrantWire, label: Label) -> None:
    live(label)
    assert len({(call.method, call.path.rpartition("/")[2]) for call, _ in wire.replies}) > 12
    found = {text for call, reply in wire.replies for text in problems(call.method, call.path, call.body, reply)}
    assert found == set()


def test_requests_and_replies_are_those_of_the_document(wire: QdrantWire, label: Label) -> None:
    described = document()
    if described is None:
        pytest.skip(f"needs Qdrant's OpenAPI document: set {DOCUMENT_VARIABLE} to docs/redoc/master/openapi.json")
    pytest.importorskip("jsonschema")
    assert isinstance(described, OpenApi)
    live(label)
    found = {
        text for call, reply in wire.replies for text in described.problems(call.method, call.path, call.body, reply)
    }
    assert found == set()
