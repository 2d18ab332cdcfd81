"""A real Qdrant server, where `QDRANT_BINARY` names its program: killed in the middle, restarted, with many points."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("qdrant_client")

from qdrant_client import QdrantClient, models

from rag_assets.index.vectors import delete_stale_points, forget_points, serve_points
from rag_assets.index.vectors.filters import SearchFilters
from rag_assets.index.vectors.vector_api import StoredPoint, VectorStoreError
from rag_assets_tests.index.qdrant_process import QdrantProcess, running_qdrant
from rag_assets_tests.index.sample_points import DIMENSION, payload, point_id, scope
from rag_assets_tests.index.server_label import Label, contents, mine
from rag_assets_tests.index.test_label_collection import ALIAS, outside, payloads
from rag_assets_tests.index.test_qdrant_contract import live

MANY = 100_000
A = mine(400)
B = [*mine(150, ContentHash="b"), *mine(380)[150:]]


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[QdrantProcess]:
    monkeypatch.setattr("rag_assets.index.vectors.qdrant_server.client_calls.FIRST_WAIT_SECONDS", 0.01)
    monkeypatch.setattr("rag_assets.index.vectors.qdrant_server.writer._UPSERT_BATCH", 10)
    monkeypatch.setattr("rag_assets.index.vectors.qdrant_server.label_collection._COPY_BATCH", 10)
    monkeypatch.delenv("QDRANT_API_KEY", raising=False)
    with running_qdrant(tmp_path / "server") as running:
        yield running


@pytest.fixture
def label(server: QdrantProcess, tmp_path: Path) -> Label:
    return Label(server, tmp_path / "label")  # type: ignore[arg-type]  # what a label needs of a double


def test_all_that_is_ever_sent_is_understood(label: Label) -> None:
    live(label)
    assert label.wire.store.get_collections().collections == [
        found for found in label.wire.store.get_collections().collections if "versions" in found.name
    ]
    assert label.wire.store.get_aliases().aliases == []


@pytest.mark.rule("F04", "R30")
def test_a_restart_loses_nothing(server: QdrantProcess, label: Label) -> None:
    label.build(A)
    serve_points(label.folder, "g1")
    server.kill()
    server.start()
    assert label.reader().ids() == contents(A)
    assert outside(label.wire) == payloads(A)


@pytest.mark.rule("F04", "R30")
@pytest.mark.parametrize("seconds", [0.02, 0.1, 0.3])
def test_a_server_that_is_killed_during_a_build_loses_nothing(
    server: QdrantProcess, label: Label, seconds: float
) -> None:
    label.build(A)
    serve_points(label.folder, "g1")
    threading.Timer(seconds, server.kill).start()
    try:
        label.build(B, "g2")
        serve_points(label.folder, "g2")
        killed = False
    except VectorStoreError:
        killed = True
    print(f"after {seconds} s: {'killed in the middle' if killed else 'done before'}")
    time.sleep(seconds)
    server.start()
    assert label.reader().ids() == contents(A)
    if killed:
        seen = outside(label.wire)
        assert all(found in (payloads(A).get(known), payloads(B).get(known)) for known, found in seen.items())
    label.build(B, "g2")
    serve_points(label.folder, "g2")
    assert label.reader("g2").ids() == contents(B)
    assert outside(label.wire) == payloads(B)
    delete_stale_points(label.folder)
    assert label.reader().ids() == contents(A)


def many(count: int, **changes: str) -> list[StoredPoint]:
    vectors = np.random.default_rng(1).normal(size=(count, DIMENSION)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    terms = np.random.default_rng(2).integers(0, 20_000, size=(count, 8), dtype=np.uint32)
    weights = np.ones(8, np.float32)
    return [
        StoredPoint(
            point_id(number),
            vectors[number],
            (np.unique(terms[number]), weights[: len(np.unique(terms[number]))]),
            payload(0, SemanticId=f"s{number}", ContentHash=f"h{number}", Path=f"src/F{number // 10}.cs") | changes,
        )
        for number in range(count)
    ]


@pytest.mark.rule("R30")
def test_a_hundred_thousand_points(
    server: QdrantProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, record_property: object
) -> None:
    """Builds, serving, filters and deletions; what each takes is printed (`-s`)."""
    monkeypatch.setattr("rag_assets.index.vectors.qdrant_server.writer._UPSERT_BATCH", 200)
    monkeypatch.setattr("rag_assets.index.vectors.qdrant_server.label_collection._COPY_BATCH", 200)
    label = Label(server, tmp_path / "many", seconds=120)  # type: ignore[arg-type]
    made = many(MANY)
    took: dict[str, float] = {}

    def timed(name: str, work: object, *arguments: object) -> object:
        begun = time.monotonic()
        result = work(*arguments)  # type: ignore[operator]
        took[name] = round(time.monotonic() - begun, 2)
        return result

    timed("first build", label.build, made)
    timed("first copy", serve_points, label.folder, "g1")
    changed = [*many(20, ContentHash="changed"), *made[20 : MANY - 10]]
    diff = timed("build of 20 changes", label.build, changed, "g2")
    timed("copy of 20 changes", serve_points, label.folder, "g2")
    assert len(diff.upserts) == 20 and len(diff.deletes) == 10  # type: ignore[attr-defined]
    reader = label.reader("g2")
    assert reader.count() == MANY - 10
    asked = scope().narrowed(SearchFilters(paths=("src/F77.cs",)))
    assert reader.count(asked) == 10
    best = timed("filtered search", reader.dense, made[775].dense, asked, 3)
    assert best[0].id == made[775].id  # type: ignore[index]
    outsider = QdrantClient(url=server.url, check_compatibility=False, timeout=60)
    assert outsider.count(ALIAS, exact=True).count == MANY - 10
    one = models.Filter(must=[models.FieldCondition(key="Path", match=models.MatchValue(value="src/F0.cs"))])
    records, _ = outsider.scroll(ALIAS, scroll_filter=one, limit=20)
    assert {record.payload["ContentHash"] for record in records if record.payload} == {"changed"}
    assert len(records) == 10
    label.drop("g1")
    assert timed("deletion of what nobody sees", delete_stale_points, label.folder) == 30
    timed("forgetting the label", forget_points, label.folder)
    assert label.stored() == 0
    print(json.dumps(took))
