"""A Qdrant server that fails: what is said, that nothing is lost, and that the same build then ends well."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("qdrant_client")

from rag_assets.index.vectors import delete_stale_points, has_vectors
from rag_assets.index.vectors.qdrant_server.client_calls import KEY_VARIABLE
from rag_assets.index.vectors.vector_api import StoredPoint, VectorStoreError
from rag_assets_tests.index.qdrant_wire import Call, QdrantWire
from rag_assets_tests.index.sample_points import point_id, points, scope, unit_rows
from rag_assets_tests.index.server_label import (
    COLLECTION,
    Label,
    contents,
    is_deletion,
    is_mark,
    is_upsert,
    mine,
)

KEY = "qd-very-secret-0123456789"
OLD = mine(45)
NEW = [*mine(40, ContentHash="new")[:30], *OLD[30:40]]
"""30 points are replaced, which takes two requests, and 5 deleted."""

Is = Callable[[Call], bool]


def nothing(call: Call) -> None:
    """The server is well."""


def failing_from(wire: QdrantWire, kind: Is, status: int, *, first: int = 0) -> None:
    """Requests of that kind fail, from the `first` one of them (counted from 0) on."""
    seen = 0

    def refuse(call: Call) -> int | None:
        nonlocal seen
        if not kind(call):
            return None
        seen += 1
        return status if seen > first else None

    wire.refuse = refuse


@pytest.fixture(autouse=True)
def small_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag_assets.index.vectors.qdrant_server.writer._UPSERT_BATCH", 20)


# a build that is stopped

STEPS: dict[str, tuple[Is, int]] = {
    "opening": (lambda call: True, 0),
    "reading what is there": (lambda call: call.path.endswith("/points/scroll"), 0),
    "upsert": (is_upsert, 0),
    "middle of upserts": (is_upsert, 1),
    "marking": (is_mark, 0),
    "counting": (lambda call: call.path.endswith("/points/count"), 0),
}
FAULTS = {
    "gone": (0, r"stores\.qdrant_url up\? What is written stays; then run the same again"),
    "401": (401, f"401 .*set {KEY_VARIABLE} in the environment"),
    "429": (429, "429 .*see its log"),
    "500": (500, "500 made to fail with 500; see its log"),
}


@pytest.mark.parametrize(("status", "says"), FAULTS.values(), ids=FAULTS.keys())
@pytest.mark.parametrize(("kind", "first"), STEPS.values(), ids=STEPS.keys())
def test_a_build_that_is_stopped_loses_nothing_and_goes_on(
    wire: QdrantWire, label: Label, kind: Is, first: int, status: int, says: str
) -> None:
    served = label.built(OLD)
    failing_from(wire, kind, status, first=first)
    with pytest.raises(VectorStoreError, match=says) as caught:
        label.build(NEW, "g2")
    assert wire.url in str(caught.value) and "\n" not in str(caught.value)
    wire.refuse = nothing
    assert served.ids() == contents(OLD), "the generation that is served"
    assert not has_vectors(label.folder / "g2" / "shard"), "half a generation must not look like one"
    assert label.built(NEW, "g2").ids() == contents(NEW)
    assert served.ids() == contents(OLD)


@pytest.mark.parametrize("kind", [is_upsert, is_mark], ids=["upsert", "marking"])
def test_an_answer_that_is_lost_is_asked_for_again(wire: QdrantWire, label: Label, kind: Is) -> None:
    """The server has done it, and does it twice."""
    served = label.built(OLD)
    lost: list[Call] = []

    def lose_once(call: Call) -> bool:
        if kind(call) and not lost:
            lost.append(call)
            return True
        return False

    wire.lose = lose_once
    assert label.built(NEW, "g2").ids() == contents(NEW)
    assert lost and served.ids() == contents(OLD)


def test_a_build_sends_only_what_is_not_there_yet(wire: QdrantWire, label: Label) -> None:
    """Gone in the middle of an upsert; the next run goes on there."""
    made = mine(100)
    failing_from(wire, is_upsert, 0, first=3)
    with pytest.raises(VectorStoreError, match="cannot be written"):
        label.build(made)
    wire.refuse = nothing
    wire.calls.clear()
    assert len(label.build(made).upserts) == 40, "60 of 100 were there"
    assert wire.count_of("PUT", "/points") == 2
    assert label.reader().ids() == contents(made)


def test_another_commit_goes_on_where_a_build_was_stopped(wire: QdrantWire, label: Label) -> None:
    """Nobody completes g2; g3 takes over what it wrote, and what is in the server is then what g1 and g3 see."""
    served = label.built(OLD)
    failing_from(wire, is_mark, 500)
    with pytest.raises(VectorStoreError):
        label.build(NEW, "g2")
    wire.refuse = nothing
    wanted = [*NEW[:-1], *mine(41, ContentHash="third")[-1:]]
    assert len(label.build(wanted, "g3").upserts) == 1
    label.drop("g2")
    delete_stale_points(label.folder)
    assert (served.ids(), label.reader("g3").ids()) == (contents(OLD), contents(wanted))
    assert label.stored() == len(OLD) + 31, "each version that g3 has and g1 has not, once"


def test_a_server_that_lost_points_is_noticed_before_anybody_reads_them(wire: QdrantWire, label: Label) -> None:
    target = label.writer()
    target.upsert(mine(5))
    records, _ = wire.store.scroll(COLLECTION, limit=1)
    wire.store.delete(COLLECTION, [records[0].id])
    with pytest.raises(
        VectorStoreError, match=r"holds 4 points of shop@main g1, 5 are declared.*run: rag-assets index"
    ):
        target.finish()
    assert not has_vectors(label.folder / "g1" / "shard")
    assert label.built(mine(5)).ids() == contents(mine(5))


# deleting what is stale


@pytest.mark.parametrize(("status", "says"), FAULTS.values(), ids=FAULTS.keys())
def test_a_deletion_that_is_stopped_loses_nothing_and_goes_on(
    wire: QdrantWire, label: Label, status: int, says: str
) -> None:
    label.build(OLD)
    kept = label.built(NEW, "g2")
    label.drop("g1")
    failing_from(wire, is_deletion, status)
    with pytest.raises(VectorStoreError, match=says):
        delete_stale_points(label.folder)
    wire.refuse = nothing
    assert kept.ids() == contents(NEW)
    assert delete_stale_points(label.folder) == 35
    assert kept.ids() == contents(NEW) and label.stored() == len(NEW)


# patience


@pytest.mark.parametrize("status", [0, 429, 500, 503], ids=["hangs up", "429", "500", "503"])
def test_passing_faults_are_outlasted(wire: QdrantWire, label: Label, status: int) -> None:
    wire.refuse = lambda call: status if call.number == 0 else None  # the first of everything
    assert label.built(mine(5)).count() == 5
    assert delete_stale_points(label.folder) == 0


def test_a_server_that_says_when_to_come_back_is_obeyed(wire: QdrantWire, label: Label) -> None:
    wire.retry_after = "1"
    wire.refuse = lambda call: 429 if is_upsert(call) and call.number == 0 else None
    started = time.monotonic()
    assert label.built(mine(5)).count() == 5
    assert time.monotonic() - started >= 1.0


def test_a_server_that_says_to_come_back_tomorrow_is_an_error(wire: QdrantWire, label: Label) -> None:
    wire.retry_after = "86400"
    wire.refuse = lambda call: 429 if is_upsert(call) else None
    with pytest.raises(VectorStoreError, match="cannot be written"):
        label.build(mine(5))
    assert wire.count_of("PUT", "/points") == 1


@pytest.mark.parametrize(
    ("status", "says"),
    [(500, "made to fail with 500; see its log"), (400, "made to fail with 400"), (0, "up?")],
    ids=["500", "400", "hangs up"],
)
def test_a_search_fails_in_bounded_time(wire: QdrantWire, label: Label, status: int, says: str) -> None:
    opened = label.built(mine(5))
    wire.refuse = lambda call: status
    wire.calls.clear()
    with pytest.raises(VectorStoreError) as caught:
        opened.count()
    assert says in str(caught.value) and wire.url in str(caught.value) and "\n" not in str(caught.value)
    assert len(wire.calls) <= 2, "somebody waits"


def test_a_slow_server_is_not_waited_for(wire: QdrantWire, label: Label, monkeypatch: pytest.MonkeyPatch) -> None:
    label.build(mine(5))
    monkeypatch.setattr("rag_assets.index.vectors.READ_SECONDS", 1)
    monkeypatch.setattr("rag_assets.index.vectors.READ_ATTEMPTS", 1)
    opened = label.reader()

    def slow(call: Call) -> None:
        time.sleep(2)

    wire.refuse = slow
    with pytest.raises(VectorStoreError, match="timed out"):  # waited for, it would have answered
        opened.count()


def test_a_slow_write_is_sent_again(wire: QdrantWire, label: Label) -> None:
    """`stores.qdrant_timeout_seconds` bounds one request; what it did is the same when it comes twice."""
    hasty = Label(wire, label.folder, seconds=1)

    def slow_once(call: Call) -> None:
        if is_upsert(call) and call.number == 0:
            time.sleep(1.3)

    wire.refuse = slow_once
    assert hasty.built(mine(5)).ids() == contents(mine(5))
    assert wire.count_of("PUT", "/points") == 2


# what trying again does not help


def test_a_vector_of_another_dimension_is_refused_before_it_is_sent(wire: QdrantWire, label: Label) -> None:
    served = label.built(OLD)
    wire.calls.clear()
    short = StoredPoint(point_id(0), unit_rows(1)[0][:-1], OLD[0].sparse, OLD[0].payload)
    with pytest.raises(VectorStoreError, match=rf"point {point_id(0)}: vector of shape \(15,\)"):
        label.build([short, *OLD[1:]], "g2")
    assert not wire.count_of("PUT", "/points")
    assert served.ids() == contents(OLD)


def test_a_server_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag_assets.index.vectors.qdrant_server.client_calls.FIRST_WAIT_SECONDS", 0.005)
    with QdrantWire() as gone:
        opened = Label(gone, tmp_path).built(points(5))
    with pytest.raises(VectorStoreError, match=r"cannot be searched.*is the server of stores\.qdrant_url up\?"):
        opened.dense(unit_rows(1)[0], scope(), 5)


def test_a_wrong_key_is_said_without_being_repeated(
    wire: QdrantWire, label: Label, monkeypatch: pytest.MonkeyPatch
) -> None:
    wire.api_key = "another"
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    with pytest.raises(VectorStoreError, match=f"401 .*set {KEY_VARIABLE} in the environment") as caught:
        label.writer()
    assert KEY not in str(caught.value) and "Invalid API key ***" in str(caught.value)
    assert len(wire.calls) == 1, "the same key would be wrong again"


def test_a_collection_that_is_gone_names_the_command(wire: QdrantWire, label: Label) -> None:
    opened = label.built(mine(5))
    wire.store.delete_collection(COLLECTION)
    with pytest.raises(VectorStoreError, match="run: rag-assets index --force"):
        opened.count()


def test_a_server_that_is_too_old_is_refused(wire: QdrantWire, label: Label) -> None:
    wire.version = "1.12.4"
    with pytest.raises(VectorStoreError, match=r"version 1\.12\.4; 1\.19 or newer is needed"):
        label.writer()
