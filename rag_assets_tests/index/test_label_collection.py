"""What outside readers of a Qdrant server see: `qdrant-client`, the name of the label's alias, and IDX-025."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

pytest.importorskip("qdrant_client")

from qdrant_client import QdrantClient

from rag_assets.index.layout import read_record, write_record
from rag_assets.index.vectors import delete_stale_points, forget_points, serve_points
from rag_assets.index.vectors.qdrant_server.label_collection import alias_of
from rag_assets.index.vectors.qdrant_server.schema import LABEL_COLLECTION_PREFIX
from rag_assets.index.vectors.qdrant_server.server_registry import ServerLabel
from rag_assets.index.vectors.vector_api import StoredPoint, VectorStoreError
from rag_assets_tests.index.qdrant_wire import Call, QdrantWire
from rag_assets_tests.index.sample_points import unit_rows
from rag_assets_tests.index.server_label import Label, mine

ALIAS = "acme~shop~shop@main"
A, B, C = mine(10), [*mine(4, ContentHash="b"), *mine(8)[4:]], [*mine(4), *mine(9, ContentHash="c")[4:]]


def outside(wire: QdrantWire, name: str = ALIAS) -> dict[str, dict[str, Any]]:
    """id → payload, as a reader with nothing but the client gets them."""
    reader = QdrantClient(url=wire.url, check_compatibility=False)
    records, more = reader.scroll(name, limit=1_000, with_payload=True, with_vectors=True)
    assert more is None and len(records) == len({record.id for record in records})
    return {str(record.id): record.payload or {} for record in records}


def payloads(made: Sequence[StoredPoint]) -> dict[str, dict[str, Any]]:
    return {point.id: point.payload for point in made}


def label_collections(wire: QdrantWire) -> list[str]:
    names = [found.name for found in wire.store.get_collections().collections]
    return [name for name in names if name.startswith(LABEL_COLLECTION_PREFIX)]


@pytest.mark.rule("R30", "F04", "B18")
def test_each_point_is_there_once_under_its_id_whatever_versions_there_are(wire: QdrantWire, label: Label) -> None:
    """Through builds, a rollback and a build that nobody completed: what is served, no more."""
    label.build(A)
    serve_points(label.folder, "g1")
    assert outside(wire) == payloads(A)
    for generation, made in (("g2", B), ("g3", C)):
        label.build(made, generation)
        assert outside(wire) != payloads(made), "not served yet"
        serve_points(label.folder, generation)
        assert outside(wire) == payloads(made)
    serve_points(label.folder, "g2")
    assert outside(wire) == payloads(B), "a rollback"
    label.writer("g4").upsert(mine(6, ContentHash="d"))
    serve_points(label.folder, "g2")
    assert outside(wire) == payloads(B)
    label.drop("g1")
    label.drop("g4")
    delete_stale_points(label.folder)
    serve_points(label.folder, "g3")
    assert outside(wire) == payloads(C)


@pytest.mark.rule("R30", "B18")
def test_the_vector_has_no_name_and_can_be_searched(wire: QdrantWire, label: Label) -> None:
    label.build(A)
    serve_points(label.folder, "g1")
    reader = QdrantClient(url=wire.url, check_compatibility=False)
    for point, row in zip(A, unit_rows(len(A)), strict=True):
        (best,) = reader.query_points(ALIAS, query=row.tolist(), limit=1).points
        assert best.id == point.id


def test_what_did_not_change_is_not_sent_again(wire: QdrantWire, label: Label) -> None:
    label.build(A)
    serve_points(label.folder, "g1")
    label.build([*mine(1, ContentHash="b"), *A[1:9]], "g2")
    wire.calls.clear()
    serve_points(label.folder, "g2")
    sent = [point["id"] for call in wire.calls if call.method == "PUT" for point in call.body["points"]]
    assert sent == [A[0].id]
    wire.calls.clear()
    serve_points(label.folder, "g2")
    assert {call.method for call in wire.calls if not call.path.endswith("/count")} == {"GET"}


@pytest.mark.rule("R30")
@pytest.mark.parametrize(
    ("step", "lost"),
    [
        *[pytest.param(step, False, id=f"{step}-refused") for step in range(20)],
        # What is done and not answered leaves what the refusal of the next one leaves.
        *[pytest.param(step, True, id=f"{step}-done and not answered") for step in (0, 3, 6, 9, 12)],
    ],
)
def test_whoever_is_killed_while_serving_leaves_each_point_once(
    wire: QdrantWire, label: Label, monkeypatch: pytest.MonkeyPatch, step: int, lost: bool
) -> None:
    """At whatever request; the next one ends it, for the same generation or for another one."""
    monkeypatch.setattr("rag_assets.index.vectors.qdrant_server.client_calls.ATTEMPTS", 1)
    monkeypatch.setattr("rag_assets.index.vectors.qdrant_server.label_collection._COPY_BATCH", 3)
    label.build(A)
    serve_points(label.folder, "g1")
    label.build(B, "g2")
    label.build(C, "g3")
    begun = len(wire.calls)

    def now(call: Call) -> bool:
        return len(wire.calls) - begun > step

    wire.refuse, wire.lose = (lambda call: None, now) if lost else (lambda call: 0 if now(call) else None, wire.lose)
    try:
        serve_points(label.folder, "g2")
    except VectorStoreError:
        wire.refuse, wire.lose = (lambda call: None), (lambda call: False)
        seen = outside(wire)
        for known, payload in seen.items():
            assert payload in (payloads(A).get(known), payloads(B).get(known))
        assert seen.keys() >= payloads(B).keys() & payloads(A).keys()
    wire.refuse, wire.lose = (lambda call: None), (lambda call: False)
    serve_points(label.folder, "g3" if step % 2 else "g2")
    assert outside(wire) == payloads(C if step % 2 else B)


def test_the_first_copy_is_seen_when_it_is_whole(wire: QdrantWire, label: Label) -> None:
    label.build(A)
    wire.refuse = lambda call: 500 if call.method == "PUT" and call.path.endswith("/points") else None
    with pytest.raises(VectorStoreError, match="500"):
        serve_points(label.folder, "g1")
    assert wire.store.get_aliases().aliases == []
    wire.refuse = lambda call: None
    serve_points(label.folder, "g1")
    assert outside(wire) == payloads(A)
    assert len(label_collections(wire)) == 1


def test_another_embedding_space_takes_the_place_of_the_first(wire: QdrantWire, label: Label) -> None:
    """The alias moves when the new collection is whole; the old one goes."""
    label.build(A)
    serve_points(label.folder, "g1")
    before = label_collections(wire)
    label.build(mine(3), "g2", dimension=0)
    serve_points(label.folder, "g2")
    assert outside(wire) == payloads(mine(3))
    assert len(label_collections(wire)) == 1 and label_collections(wire) != before
    serve_points(label.folder, "g1")
    assert outside(wire) == payloads(A)


@pytest.mark.parametrize("change", ["lost", "added", "whole collection"])
def test_what_another_program_did_to_it_is_put_right(wire: QdrantWire, label: Label, change: str) -> None:
    label.build(A)
    serve_points(label.folder, "g1")
    (name,) = label_collections(wire)
    records, _ = wire.store.scroll(name, limit=1, with_vectors=True)
    if change == "lost":
        wire.store.delete(name, [records[0].id])
    elif change == "added":
        point = records[0].model_dump() | {"id": "00000000-0000-5000-8000-000000000000"}
        from qdrant_client import models

        wire.store.upsert(name, [models.PointStruct(id=point["id"], vector=point["vector"], payload=point["payload"])])
    else:
        wire.store.delete_collection(name)
    serve_points(label.folder, "g1")
    assert outside(wire) == payloads(A)


def test_a_label_that_is_forgotten_or_embedded_leaves_nothing(wire: QdrantWire, label: Label) -> None:
    other = Label(wire, label.folder / "other", name="shop@next")
    other.build(mine(4))
    serve_points(other.folder, "g1")
    label.build(A)
    serve_points(label.folder, "g1")
    serve_points(label.folder, "a generation whose vectors are embedded")
    assert [alias.alias_name for alias in wire.store.get_aliases().aliases] == ["acme~shop~shop@next"]
    assert len(label_collections(wire)) == 1
    serve_points(label.folder, "g1")
    forget_points(label.folder)
    assert outside(wire, "acme~shop~shop@next") == payloads(mine(4))
    assert label.stored() == 4 and len(label_collections(wire)) == 1


def test_a_server_of_two_names_keeps_what_is_served_under_the_other(wire: QdrantWire, label: Label) -> None:
    label.build(A)
    note = label.folder / "servers.json"
    labels = read_record(note, dict[str, Any])["labels"]
    renamed = [known | {"url": known["url"].replace("127.0.0.1", "localhost")} for known in labels]
    write_record(note, {"labels": [*labels, *renamed]})
    serve_points(label.folder, "g1")
    serve_points(label.folder, "g1")
    assert outside(wire) == payloads(A)


@pytest.mark.parametrize(
    ("parts", "alias"),
    [
        (("acme", "shop", "shop@main"), ALIAS),
        (("acme", "shop", "shop@feature/x"), "acme~shop~shop@feature-x~"),
        (("a~b", "c", "d@main"), "a-b~c~d@main~"),
        (("a", "b", "x" * 300), "a~b~xxx"),
    ],
)
def test_every_label_has_a_name_of_its_own_that_a_server_takes(parts: tuple[str, str, str], alias: str) -> None:
    org, project, name = parts
    found = alias_of(ServerLabel(url="http://x", org_id=org, project_id=project, index_label=name))
    assert found.startswith(alias) and len(found) <= 200
    assert not set(found) & set('<>:"/\\|?*')
    assert found == alias or found != alias_of(
        ServerLabel(url="http://x", org_id=org, project_id=project, index_label=name.replace("/", "-") + "2")
    )
