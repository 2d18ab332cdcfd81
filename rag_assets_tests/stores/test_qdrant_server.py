"""Vectors in a Qdrant server: generations beside each other, servers that fail, and what is said then."""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("qdrant_client")

from rag_assets.settings import StoreSettings
from rag_assets.stages.rows import POINTS
from rag_assets.stores.points import PointTarget, StoredPoint, VectorReader, VectorStoreError
from rag_assets.stores.qdrant_client_calls import KEY_VARIABLE, QdrantServer
from rag_assets.stores.qdrant_schema import collection_name
from rag_assets.stores.tables import write_part
from rag_assets.stores.vector_store import (
    URL_VARIABLE,
    declared_hashes,
    delete_stale_points,
    forget_points,
    has_vectors,
    open_vectors,
    open_writer,
)
from rag_assets_tests.stores.qdrant_wire import Call, QdrantWire
from rag_assets_tests.stores.sample_points import DIMENSION, payload, point_id, points, scope, unit_rows

KEY = "qd-very-secret-0123456789"
COLLECTION = collection_name("m", DIMENSION)


@pytest.fixture
def wire(monkeypatch: pytest.MonkeyPatch) -> Iterator[QdrantWire]:
    monkeypatch.setattr("rag_assets.stores.qdrant_client_calls.FIRST_WAIT_SECONDS", 0.005)
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    with QdrantWire() as running:
        yield running


def writer_for(
    wire: QdrantWire,
    folder: Path,
    generation: str = "g1",
    *,
    dimension: int = DIMENSION,
    label: str = "shop@main",
    org: str = "acme",
) -> PointTarget:
    return open_writer(
        StoreSettings(vectors="qdrant", qdrant_url=wire.url),
        folder / generation / "shard",
        dimension,
        embedding_model="m",
        org_id=org,
        project_id="shop",
        index_label=label,
        generation_id=generation,
    )


def written(
    wire: QdrantWire,
    folder: Path,
    made: list[StoredPoint],
    generation: str = "g1",
    label: str = "shop@main",
    org: str = "acme",
) -> VectorReader:
    writer = writer_for(wire, folder, generation, label=label, org=org)
    writer.upsert(made)
    writer.finish()
    return open_vectors(folder / generation / "shard")


def mine(count: int, **changes: str) -> list[StoredPoint]:
    return [
        StoredPoint(point.id, point.dense, point.sparse, payload(0, SemanticId=f"s{n}", ContentHash=f"h{n}") | changes)
        for n, point in enumerate(points(count))
    ]


# what is kept where


def test_a_generation_says_which_server_has_its_points_and_no_secret(
    wire: QdrantWire, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wire.api_key = KEY
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the client's remark that a key goes to a plain-http server: settings decide
        opened = written(wire, tmp_path, points(5))
    assert opened.count() == 5
    assert set(wire.keys) == {KEY}
    note = (tmp_path / "g1" / "shard" / "server.json").read_text(encoding="utf-8")
    assert json.loads(note) == {
        "url": wire.url,
        "collection": COLLECTION,
        "org_id": "acme",
        "project_id": "shop",
        "index_label": "shop@main",
        "generation_id": "g1",
    }
    assert has_vectors(tmp_path / "g1" / "shard") and not has_vectors(tmp_path / "g1")


def test_a_collection_has_the_indexes_of_the_contract_and_keeps_tenants_together(
    wire: QdrantWire, tmp_path: Path
) -> None:
    from rag_assets.contracts.payload import payload_indexes

    written(wire, tmp_path, [])
    indexes = wire.indexes(COLLECTION)
    assert {key: index["type"] for key, index in indexes.items()} == {
        **payload_indexes(),
        "Generation": "keyword",
        "PointId": "keyword",
    }
    assert [key for key, index in indexes.items() if index.get("is_tenant")] == ["OrgId"]
    assert sorted(key for key, index in indexes.items() if index.get("prefix")) == ["Path", "Symbol"]


def test_indexes_that_a_killed_build_did_not_make_are_made(wire: QdrantWire, tmp_path: Path) -> None:
    wire.refuse = lambda call: 400 if call.path.endswith("/index") and call.number == 3 else None
    with pytest.raises(VectorStoreError):
        writer_for(wire, tmp_path)
    assert len(wire.indexes(COLLECTION)) == 3
    wire.refuse = lambda call: None
    writer_for(wire, tmp_path)
    made = wire.count_of("PUT", "/index")
    writer_for(wire, tmp_path)
    assert len(wire.indexes(COLLECTION)) > 3 and wire.count_of("PUT", "/index") == made


@pytest.mark.rule("R22")
def test_every_embedding_space_has_a_collection(wire: QdrantWire) -> None:
    """R22: models, and dimensions of one model, never share a collection."""
    spaces = [("m", 8), ("m", 16), ("n", 8), ("m-8", 8), ("m", 0), ("lexical-only", 0), ("m" * 200, 8), ("m" * 201, 8)]
    names = [collection_name(*space) for space in spaces]
    assert len(set(names)) == len(spaces)
    assert all(len(name) < 100 and name.startswith("rag_assets_") for name in names)


@pytest.mark.rule("R22")
def test_a_collection_of_another_dimension_is_refused(wire: QdrantWire, tmp_path: Path) -> None:
    from qdrant_client import models

    wire.store.create_collection(
        COLLECTION, vectors_config={"dense": models.VectorParams(size=5, distance=models.Distance.DOT)}
    )
    with pytest.raises(VectorStoreError, match=f"{COLLECTION} .* 5 dimensions, the index has {DIMENSION}"):
        writer_for(wire, tmp_path)


@pytest.mark.rule("B02")
def test_every_filter_has_tenant_and_generation(wire: QdrantWire, tmp_path: Path) -> None:
    """B02: whatever is asked for, the request itself is limited to the tenant and to one generation."""
    opened = written(wire, tmp_path, points(20))
    wire.calls.clear()
    opened.dense(unit_rows(1)[0], scope(), 3)
    opened.sparse([5], [1.0], scope(paths=("src/**/*.cs",)), 3)
    opened.retrieve([point_id(0)], scope())
    opened.ids(scope())
    opened.values("Kind", scope())
    opened.count(scope())
    for call in wire.calls:
        told = json.dumps(call.body["filter"])
        assert '"Generation"' in told, call.path
        assert ('"OrgId"' in told and '"ProjectId"' in told) or told.count('"key"') == 1, call.path


# generations


def test_a_build_changes_nothing_for_those_who_read_another_generation(wire: QdrantWire, tmp_path: Path) -> None:
    """Equal ids, other contents: before, while and after the next generation is written."""
    old = written(wire, tmp_path, mine(30))
    before = old.ids()
    writer = writer_for(wire, tmp_path, "g2")
    writer.upsert(mine(20, ContentHash="new"))
    assert old.ids() == before and len(old.dense(unit_rows(1)[0], scope(), 100)) == 30
    writer.finish()
    assert old.ids() == before
    assert set(open_vectors(tmp_path / "g2" / "shard").ids().values()) == {"new"}


def test_labels_with_the_same_generation_id_are_apart(wire: QdrantWire, tmp_path: Path) -> None:
    first = written(wire, tmp_path / "a", mine(3), label="shop@main")
    second = written(wire, tmp_path / "b", mine(5), label="shop@next")
    assert (first.count(), second.count()) == (3, 5)


def test_stale_generations_are_deleted_in_every_space_and_no_others(wire: QdrantWire, tmp_path: Path) -> None:
    kept = written(wire, tmp_path, mine(4), "g3")
    other_label = written(wire, tmp_path / "other", mine(4, IndexLabel="shop@next"), "g1", label="shop@next")
    other_tenant = written(wire, tmp_path / "tenant", mine(4, OrgId="globex"), "g1", org="globex")
    gone = written(wire, tmp_path, mine(7), "g1")
    lexical = writer_for(wire, tmp_path, "g2", dimension=0)
    lexical.upsert(mine(2))
    lexical.finish()
    settings = StoreSettings(vectors="qdrant", qdrant_url=wire.url)
    wanted = {"org_id": "acme", "project_id": "shop", "index_label": "shop@main"}
    assert delete_stale_points(settings, **wanted, keep=["g3"]) == ["g1", "g2"]
    assert (kept.count(), gone.count()) == (4, 0)
    assert (other_label.count(), other_tenant.count()) == (4, 4)
    assert delete_stale_points(settings, **wanted, keep=["g3"]) == []
    assert delete_stale_points(StoreSettings(), **wanted, keep=[]) == []


def test_forgetting_a_generation_leaves_nothing_of_it(wire: QdrantWire, tmp_path: Path) -> None:
    """Finished or killed; the others stay."""
    finished, kept = written(wire, tmp_path, mine(3), "g1"), written(wire, tmp_path, mine(4), "g2")
    writer_for(wire, tmp_path, "g3").upsert(mine(5))
    for generation in ("g1", "g3", "no such generation"):
        forget_points(tmp_path / generation / "shard")
    assert (finished.count(), kept.count()) == (0, 4)
    assert wire.store.count(COLLECTION).count == 4


def test_what_is_declared_otherwise_is_not_a_hit(wire: QdrantWire, tmp_path: Path) -> None:
    """Text is read only if it is that of the generation: a server may have been restored from another day."""
    opened = written(wire, tmp_path, mine(4))
    ids = [point_id(n) for n in range(4)]
    assert declared_hashes(tmp_path / "g1") is None
    assert set(opened.retrieve(ids, scope())) == set(ids)
    declared = {ids[0]: "h0", ids[1]: "another", ids[2]: "h2"}
    columns = {name: [""] * 3 for name in POINTS.names} | {
        "point_id": list(declared),
        "content_hash": list(declared.values()),
        "section_row": [0, 1, 2],
        "payload": [b""] * 3,
    }
    write_part(tmp_path / "g1", "qdrant_points", 0, POINTS, columns)
    assert declared_hashes(tmp_path / "g1") == declared
    again = open_vectors(tmp_path / "g1" / "shard")
    assert set(again.retrieve(ids, scope())) == {ids[0], ids[2]}


# faults


def test_a_build_goes_on_where_the_server_went_away(wire: QdrantWire, tmp_path: Path) -> None:
    """Gone in the middle of an upsert: a clear error; the next run sends only what is not there."""
    made = mine(1_000)
    wire.refuse = lambda call: (
        0 if call.method == "PUT" and call.path.endswith("/points") and call.number >= 3 else None
    )
    writer = writer_for(wire, tmp_path)
    with pytest.raises(VectorStoreError, match=r"cannot be written.*stores\.qdrant_url up\?.*run the same again"):
        writer.upsert(made)
    assert not has_vectors(tmp_path / "g1" / "shard"), "a half generation must not look like one"
    wire.refuse = lambda call: None
    wire.calls.clear()
    opened = written(wire, tmp_path, made)
    assert wire.count_of("PUT", "/points") == 2, "600 of 1,000 were there"
    assert opened.ids() == {point.id: point.payload["ContentHash"] for point in made}


@pytest.mark.parametrize("change", ["payload", "terms", "vector"])
def test_what_differs_in_any_part_is_sent_again(wire: QdrantWire, tmp_path: Path, change: str) -> None:
    writer_for(wire, tmp_path).upsert(mine(3))
    made = mine(3)
    first = made[0]
    dense, sparse, found = first.dense, first.sparse, dict(first.payload)
    if change == "payload":
        found["Title"] = "new"
    elif change == "terms":
        sparse = (sparse[0], sparse[1] * 2)
    else:
        dense = unit_rows(1, seed=7)[0]
    wire.calls.clear()
    written(wire, tmp_path, [StoredPoint(first.id, dense, sparse, found), *made[1:]])
    sent = [call.body["points"] for call in wire.calls if call.method == "PUT" and call.path.endswith("/points")]
    assert [len(batch) for batch in sent] == [1]


@pytest.mark.parametrize("status", [0, 429, 500, 503], ids=["hangs up", "429", "500", "503"])
def test_passing_faults_are_outlasted(wire: QdrantWire, tmp_path: Path, status: int) -> None:
    wire.refuse = lambda call: status if call.number == 0 else None  # the first of everything
    assert written(wire, tmp_path, mine(5)).count() == 5


@pytest.mark.parametrize(
    ("status", "says"),
    [(500, "made to fail with 500; see its log"), (400, "made to fail with 400"), (0, "up?")],
    ids=["500", "400", "hangs up"],
)
def test_a_server_that_fails_for_ever_is_an_error_in_bounded_time(
    wire: QdrantWire, tmp_path: Path, status: int, says: str
) -> None:
    opened = written(wire, tmp_path, mine(5))
    wire.refuse = lambda call: status
    wire.calls.clear()
    with pytest.raises(VectorStoreError) as caught:
        opened.count()
    assert says in str(caught.value) and wire.url in str(caught.value) and "\n" not in str(caught.value)
    assert len(wire.calls) <= 2, "somebody waits"


def test_a_server_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag_assets.stores.qdrant_client_calls.FIRST_WAIT_SECONDS", 0.005)
    with QdrantWire() as wire:
        opened = written(wire, tmp_path, mine(5))
    with pytest.raises(VectorStoreError, match=r"cannot be searched.*is the server of stores\.qdrant_url up\?"):
        opened.dense(unit_rows(1)[0], scope(), 5)


def test_a_wrong_key_is_said_without_being_repeated(
    wire: QdrantWire, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wire.api_key = "another"
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    with pytest.raises(VectorStoreError, match=f"401 .*set {KEY_VARIABLE} in the environment") as caught:
        writer_for(wire, tmp_path)
    assert KEY not in str(caught.value) and "Invalid API key ***" in str(caught.value)
    assert len(wire.calls) == 1, "the same key would be wrong again"


def test_a_collection_that_is_gone_names_the_command(wire: QdrantWire, tmp_path: Path) -> None:
    opened = written(wire, tmp_path, mine(5))
    wire.store.delete_collection(COLLECTION)
    with pytest.raises(VectorStoreError, match="run: rag-assets index --force"):
        opened.count()


def test_a_server_that_is_too_old_is_refused(tmp_path: Path, wire: QdrantWire) -> None:
    wire.version = "1.12.4"
    with pytest.raises(VectorStoreError, match=r"version 1\.12\.4; 1\.19 or newer is needed"):
        writer_for(wire, tmp_path)


def test_the_client_is_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "qdrant_client", None)
    with pytest.raises(VectorStoreError, match=r"pip install 'rag-assets\[qdrant\]'"):
        QdrantServer.connect("http://127.0.0.1:6333", 1, environment={})


def test_a_slow_server_is_not_waited_for(tmp_path: Path, wire: QdrantWire, monkeypatch: pytest.MonkeyPatch) -> None:
    written(wire, tmp_path, mine(5))
    monkeypatch.setattr("rag_assets.stores.vector_store.READ_SECONDS", 1)
    monkeypatch.setattr("rag_assets.stores.vector_store.READ_ATTEMPTS", 1)
    opened = open_vectors(tmp_path / "g1" / "shard")

    def slow(call: Call) -> None:
        time.sleep(2)

    wire.refuse = slow
    started = time.monotonic()
    with pytest.raises(VectorStoreError, match="timed out"):
        opened.count()
    assert time.monotonic() - started < 1.9


# settings


def test_the_environment_says_where_the_server_is_from_here(
    wire: QdrantWire, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(wire, tmp_path, mine(5))
    note = tmp_path / "g1" / "shard" / "server.json"
    note.write_text(note.read_text(encoding="utf-8").replace(wire.url, "http://qdrant:6333"), encoding="utf-8")
    monkeypatch.setenv(URL_VARIABLE, wire.url)
    assert open_vectors(note.parent).count() == 5
    monkeypatch.setenv(URL_VARIABLE, "http://elsewhere:6333")
    with pytest.raises(VectorStoreError, match=f"{URL_VARIABLE} .*elsewhere unencrypted"):
        open_vectors(note.parent)


def test_a_damaged_note_names_the_command(wire: QdrantWire, tmp_path: Path) -> None:
    written(wire, tmp_path, mine(1))
    (tmp_path / "g1" / "shard" / "server.json").write_text("{", encoding="utf-8")
    with pytest.raises(VectorStoreError, match=r"server\.json.*run: rag-assets index --force"):
        open_vectors(tmp_path / "g1" / "shard")
