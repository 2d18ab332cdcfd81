"""Vectors in a Qdrant server: what is kept where, what is sent, and how it is reached."""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path

import pytest

pytest.importorskip("qdrant_client")

from rag_assets.index.parquet_parts import write_part
from rag_assets.index.vectors import URL_VARIABLE, declared_digests, has_vectors, open_vectors
from rag_assets.index.vectors.qdrant_server.client_calls import KEY_VARIABLE, QdrantServer
from rag_assets.index.vectors.qdrant_server.schema import collection_name
from rag_assets.index.vectors.vector_api import StoredPoint, VectorStoreError
from rag_assets.pipeline.schemas import POINTS
from rag_assets_tests.index.qdrant_wire import QdrantWire
from rag_assets_tests.index.sample_points import DIMENSION, point_id, points, scope, unit_rows
from rag_assets_tests.index.server_label import COLLECTION, Label, is_mark, is_upsert, mine
from rag_assets_tests.records import edit_record

KEY = "qd-very-secret-0123456789"


# what is kept where


def test_a_generation_says_which_server_has_its_points_and_no_secret(
    wire: QdrantWire, label: Label, monkeypatch: pytest.MonkeyPatch
) -> None:
    wire.api_key = KEY
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the client's remark that a key goes to a plain-http server: settings decide
        opened = label.built(points(5))
    assert opened.count() == 5
    assert set(wire.keys) == {KEY}
    of_label = {"url": wire.url, "org_id": "acme", "project_id": "shop", "index_label": "shop@main"}
    note = label.note()
    assert note.pop("sequence") > 0
    assert note == {**of_label, "collection": COLLECTION, "generation_id": "g1"}
    assert json.loads((label.folder / "servers.json").read_bytes())["labels"] == [of_label]
    assert has_vectors(label.folder / "g1" / "shard") and not has_vectors(label.folder / "g1")


def test_a_collection_has_the_indexes_of_the_contract_and_keeps_tenants_together(
    wire: QdrantWire, label: Label
) -> None:
    from rag_assets.contracts.payload import payload_indexes

    label.build([])
    indexes = wire.indexes(COLLECTION)
    assert {key: index["type"] for key, index in indexes.items()} == {
        **payload_indexes(),
        "LabelKey": "keyword",
        "PointId": "keyword",
        "Born": "integer",
        "Died": "integer",
    }
    assert [key for key, index in indexes.items() if index.get("is_tenant")] == ["OrgId"]
    assert sorted(key for key, index in indexes.items() if index.get("prefix")) == ["DeclaredNames", "Path", "Symbol"]
    assert all(indexes[key]["range"] for key in ("Born", "Died"))


def test_indexes_that_a_killed_build_did_not_make_are_made(wire: QdrantWire, label: Label) -> None:
    wire.refuse = lambda call: 400 if call.path.endswith("/index") and call.number == 3 else None
    with pytest.raises(VectorStoreError):
        label.writer()
    assert len(wire.indexes(COLLECTION)) == 3
    wire.refuse = lambda call: None
    label.writer()
    made = wire.count_of("PUT", "/index")
    label.writer()
    assert len(wire.indexes(COLLECTION)) > 3 and wire.count_of("PUT", "/index") == made


@pytest.mark.rule("R22")
def test_every_embedding_space_has_a_collection() -> None:
    """R22: models, and dimensions of one model, never share a collection."""
    spaces = [("m", 8), ("m", 16), ("n", 8), ("m-8", 8), ("m", 0), ("lexical-only", 0), ("m" * 200, 8), ("m" * 201, 8)]
    names = [collection_name(*space) for space in spaces]
    assert len(set(names)) == len(spaces)
    assert all(len(name) < 100 and name.startswith("rag_assets_") for name in names)


@pytest.mark.rule("R22")
def test_a_collection_of_another_dimension_is_refused(wire: QdrantWire, label: Label) -> None:
    from qdrant_client import models

    wire.store.create_collection(
        COLLECTION, vectors_config={"dense": models.VectorParams(size=5, distance=models.Distance.DOT)}
    )
    with pytest.raises(VectorStoreError, match=f"{COLLECTION} .* 5 dimensions, the index has {DIMENSION}"):
        label.writer()


# what is sent


@pytest.mark.rule("B02")
def test_every_filter_has_tenant_and_generation(wire: QdrantWire, label: Label) -> None:
    """B02: whatever is asked for, the request itself is limited to the tenant and to one generation."""
    opened = label.built(points(20))
    sequence = label.note()["sequence"]
    wire.calls.clear()
    opened.dense(unit_rows(1)[0], scope(), 3)
    opened.sparse([5], [1.0], scope(paths=("src/**/*.cs",)), 3)
    opened.retrieve([point_id(0)], scope())
    opened.ids(scope())
    opened.values("Kind", scope())
    opened.count(scope())
    assert len({call.path for call in wire.calls}) > 3
    for call in wire.calls:
        told = call.body["filter"]
        assert {"key": "LabelKey", "match": {"value": "acme\nshop\nshop@main"}} in told["must"], call.path
        assert {"key": "Born", "range": {"lte": sequence}} in told["must"], call.path
        assert told["must_not"] == [{"key": "Died", "range": {"lte": sequence}}], call.path
        text = json.dumps(told)
        assert ('"OrgId"' in text and '"ProjectId"' in text) or text.count('"key"') == 3, call.path


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("nothing", {"settle": 1, "scroll": 1, "count": 1, "collection": 2, "version": 1}),
        ("a point", {"settle": 1, "scroll": 1, "count": 1, "collection": 2, "version": 1, "upsert": 1, "mark": 1}),
        ("a deletion", {"settle": 1, "scroll": 1, "count": 1, "collection": 2, "version": 1, "mark": 1}),
    ],
    ids=lambda found: found if isinstance(found, str) else "",
)
def test_a_build_sends_what_changed(wire: QdrantWire, label: Label, change: str, expected: dict[str, int]) -> None:
    """However many points there are; the other requests are one each, or one for each 10,000 points."""
    made = mine(300)
    label.build(made)
    wire.calls.clear()
    if change == "a point":
        label.build([*made[1:], StoredPoint(made[0].id, made[1].dense, made[0].sparse, made[0].payload)], "g2")
    else:
        label.build(made[change == "a deletion" :], "g2")
    kinds: dict[str, int] = {}
    for call in wire.calls:
        if call.path == "/":
            kind = "version"
        elif is_mark(call):
            kind = "mark"
            assert len(call.body["points"]) == 1
        elif is_upsert(call):
            kind = "upsert"
            assert len(call.body["points"]) == 1
        elif call.path.endswith("/points/delete"):
            kind = "settle"
        elif "/points/" in call.path:
            kind = call.path.rpartition("/")[2]
        else:
            kind = "collection"
        kinds[kind] = kinds.get(kind, 0) + 1
    assert kinds == expected


def test_what_is_declared_otherwise_is_not_a_hit(label: Label) -> None:
    """Text is read only if it is that of the generation: a server may have been restored from another day."""
    opened = label.built(mine(4))
    ids = [point_id(n) for n in range(4)]
    stored = opened.digests()
    assert declared_digests(label.folder / "g1") is None
    assert set(opened.retrieve(ids, scope())) == set(ids)
    declared = {ids[0]: stored[ids[0]], ids[1]: "another", ids[2]: stored[ids[2]]}
    columns = {name: [""] * 3 for name in POINTS.names} | {
        "point_id": list(declared),
        "digest": list(declared.values()),
        "section_row": [0, 1, 2],
        "payload": [b""] * 3,
    }
    write_part(label.folder / "g1", "qdrant_points", 0, POINTS, columns)
    assert declared_digests(label.folder / "g1") == declared
    again = label.reader()
    assert set(again.retrieve(ids, scope())) == {ids[0], ids[2]}


# how it is reached


def test_the_client_is_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "qdrant_client", None)
    with pytest.raises(VectorStoreError, match=r"pip install qdrant-client"):
        QdrantServer.connect("http://127.0.0.1:6333", 1, environment={})


def test_the_environment_says_where_the_server_is_from_here(
    wire: QdrantWire, label: Label, monkeypatch: pytest.MonkeyPatch
) -> None:
    label.build(mine(5))
    note = label.folder / "g1" / "shard" / "server.json"
    edit_record(note, wire.url, "http://qdrant:6333")
    monkeypatch.setenv(URL_VARIABLE, wire.url)
    assert open_vectors(note.parent).count() == 5
    monkeypatch.setenv(URL_VARIABLE, "http://elsewhere:6333")
    with pytest.raises(VectorStoreError, match=f"{URL_VARIABLE} .*elsewhere unencrypted"):
        open_vectors(note.parent)


@pytest.mark.parametrize(
    "damage",
    [lambda note: "{", lambda note: note.replace('"sequence"', '"another"')],
    ids=["cut off", "without a sequence"],
)
def test_a_damaged_note_names_the_command(label: Label, damage: object) -> None:
    label.build(mine(1))
    note: Path = label.folder / "g1" / "shard" / "server.json"
    note.write_text(damage(note.read_text(encoding="utf-8")), encoding="utf-8")  # type: ignore[operator]
    with pytest.raises(VectorStoreError, match=r"server\.json.*run: rag-assets index --force"):
        label.reader()
