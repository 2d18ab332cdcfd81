"""Generations of a label as versions of points: each is read as it was declared, and what nobody reads goes."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("qdrant_client")

from rag_assets.index.vectors import delete_stale_points, forget_points
from rag_assets.index.vectors.qdrant_server import server_registry
from rag_assets.index.vectors.vector_api import VectorStoreError
from rag_assets_tests.index.qdrant_wire import QdrantWire
from rag_assets_tests.index.server_label import Label, contents, mine
from rag_assets_tests.records import edit_record

A, B, C = mine(10), [*mine(4, ContentHash="b"), *mine(8)[4:]], [*mine(4), *mine(9, ContentHash="c")[4:]]


# what stays and what goes


def test_what_no_kept_generation_sees_goes(label: Label) -> None:
    """Between kept ones, before the first, after the last; the rest reads as before."""
    for generation, made in (("g1", A), ("g2", B), ("g3", C), ("g4", B)):
        label.build(made, generation)
    label.drop("g2")
    assert delete_stale_points(label.folder) == 4, "g2 alone had four points in the version it wrote"
    assert label.reader("g1").ids() == contents(A)
    label.drop("g4")
    assert delete_stale_points(label.folder) == 8
    label.drop("g1")
    delete_stale_points(label.folder)
    assert label.reader("g3").ids() == contents(C)
    assert label.stored() == len(C)
    assert delete_stale_points(label.folder) == 0


def test_a_build_after_a_rollback_begins_with_the_newest(label: Label) -> None:
    """Whatever is served: g1 is, g3 differs from g2 in nothing."""
    first = label.built(A)
    label.build(B, "g2")
    assert label.build(B, "g3").is_empty
    assert (first.ids(), label.reader("g3").ids()) == (contents(A), contents(B))


def test_a_build_after_the_newest_was_pruned_is_right(label: Label) -> None:
    label.build(A)
    label.build(B, "g2")
    label.drop("g2")
    delete_stale_points(label.folder)
    assert label.stored() == len(A)
    assert label.built(B, "g3").ids() == contents(B)
    assert label.reader().ids() == contents(A)


def test_a_label_that_lost_its_home_goes_on_with_what_the_server_has(wire: QdrantWire, label: Label) -> None:
    label.build(A)
    moved = Label(wire, label.folder / "elsewhere")
    assert moved.build(A, "g2").is_empty
    assert moved.reader("g2").ids() == contents(A)
    assert moved.note("g2")["sequence"] > label.note("g1")["sequence"]


def test_other_labels_tenants_and_spaces_are_left_alone(wire: QdrantWire, label: Label) -> None:
    others = [
        Label(wire, label.folder / "label", name="shop@next"),
        Label(wire, label.folder / "tenant", org="globex"),
    ]
    readers = [other.built(mine(4, ContentHash=str(n))) for n, other in enumerate(others)]
    label.build(mine(7))
    label.build(mine(2), "g2", dimension=0)
    kept = label.built(mine(4), "g3")
    label.drop("g1")
    label.drop("g2")
    assert delete_stale_points(label.folder) == 3 + 2
    assert kept.ids() == contents(mine(4))
    assert [reader.ids() for reader in readers] == [contents(mine(4, ContentHash=str(n))) for n in range(2)]


@pytest.mark.parametrize("killed", [False, True], ids=["finished", "with a killed build"])
def test_a_label_that_is_forgotten_leaves_nothing(wire: QdrantWire, label: Label, killed: bool) -> None:
    kept = Label(wire, label.folder / "other", name="shop@next").built(mine(4))
    label.build(A)
    label.build(mine(2), "g2", dimension=0)
    if killed:
        label.writer("g3").upsert(B)
    forget_points(label.folder)
    assert kept.count() == 4 and label.stored() == 4


def test_a_killed_build_keeps_what_it_wrote_until_it_is_abandoned(label: Label) -> None:
    label.build(A)
    label.writer("g2").upsert(mine(6, ContentHash="b"))
    assert delete_stale_points(label.folder) == 0
    label.drop("g2")
    assert delete_stale_points(label.folder) == 6
    assert label.reader().ids() == contents(A)


def test_a_generation_that_is_written_again_is_read_as_it_was_until_it_is_complete(label: Label) -> None:
    """As a rebuild from the catalog does, of the generation that is served."""
    label.build(A)
    target = label.writer("g1")
    target.upsert(mine(4, ContentHash="b"))
    assert delete_stale_points(label.folder) == 0
    assert label.reader("g1").ids() == contents(A)
    target.finish()
    assert label.reader("g1").ids() == contents([*mine(4, ContentHash="b"), *A[4:]])
    assert delete_stale_points(label.folder) == 4
    assert not list(label.folder.glob("*/*/server.begun.json"))


# notes


def test_points_of_deleted_generations_go_although_vectors_are_embedded_now(label: Label) -> None:
    """The label remembers its servers, not the settings; and only until nothing of it is there."""
    label.build(A)
    label.drop("g1")
    assert delete_stale_points(label.folder) == len(A)
    assert label.stored() == 0
    assert server_registry.labels_in_servers(label.folder) == []
    assert delete_stale_points(label.folder) == 0


def test_a_server_of_two_names_keeps_what_is_read_under_the_other(wire: QdrantWire, label: Label) -> None:
    """`localhost` and `127.0.0.1`: the generations of one name are not stale under the other."""
    label.build(A)
    note = label.folder / "g1" / "shard" / "server.json"
    renamed = wire.url.replace("127.0.0.1", "localhost")
    edit_record(note, wire.url, renamed)
    assert delete_stale_points(label.folder) == 0
    edit_record(note, renamed, wire.url)
    assert label.reader().ids() == contents(A)


def test_nothing_is_deleted_where_a_note_cannot_be_read(label: Label) -> None:
    """Who does not know what is needed must not delete."""
    label.build(A)
    label.build(B, "g2")
    (label.folder / "g1" / "shard" / "server.json").write_text("{", encoding="utf-8")
    with pytest.raises(VectorStoreError, match=r"g1.*server\.json cannot be read"):
        delete_stale_points(label.folder)
    assert label.stored() == len(A) + 4
    assert label.built(C, "g3").ids() == contents(C), "builds go on"


def test_the_servers_are_all_tried(wire: QdrantWire, label: Label) -> None:
    label.build(A)
    with QdrantWire() as other:
        Label(other, label.folder).build(A, "g2")
    shutil.rmtree(label.folder / "g1")
    shutil.rmtree(label.folder / "g2")
    with pytest.raises(VectorStoreError, match=other.url):
        delete_stale_points(label.folder)
    assert label.stored() == 0
    assert [found.url for found in server_registry.labels_in_servers(label.folder)] == [other.url]


def test_what_the_server_knows_is_older_than_a_new_build(label: Label, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the clock was set back, and nothing but a mark is left of the build that had the later time."""
    label.build(A)
    ahead = label.note()["sequence"] / 1000 + 3600
    with monkeypatch.context() as clock:
        registry = "rag_assets.index.vectors.qdrant_server.server_registry"
        clock.setattr(f"{registry}.time", SimpleNamespace(time=lambda: ahead))
        label.build(A[:5], "g2")
    label.drop("g2")
    assert label.built(A, "g3").ids() == contents(A)


def test_sequences_grow_whatever_the_clock_says(label: Label) -> None:
    label.build(A)
    first = label.note()["sequence"]
    assert server_registry.next_sequence(label.folder, now=0.0) == first + 1
    later = first / 1000 + 60
    assert server_registry.next_sequence(label.folder, now=later) == int(later * 1000)
    assert server_registry.next_sequence(Path("nowhere"), now=2.5) == 2500
