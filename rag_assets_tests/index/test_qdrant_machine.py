"""Any order of builds, killed builds, rollbacks, prunings and clean-ups, against a dictionary."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("qdrant_client")

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test
from qdrant_client.http.exceptions import ResponseHandlingException

from rag_assets.index.vectors.qdrant_server import server_registry
from rag_assets.index.vectors.qdrant_server.client_calls import QdrantServer
from rag_assets.index.vectors.qdrant_server.reader import ServerReader
from rag_assets.index.vectors.qdrant_server.schema import collection_name, delete_unseen, visible
from rag_assets.index.vectors.qdrant_server.server_registry import ServerPlace
from rag_assets.index.vectors.qdrant_server.writer import ServerWriter
from rag_assets.index.vectors.vector_api import StoredPoint, VectorStoreError
from rag_assets_tests.index.qdrant_wire import memory_client
from rag_assets_tests.index.sample_points import payload, point_id, scope, terms
from rag_assets_tests.index.store_kinds import bring

COLLECTION = collection_name("m", 0)

Contents = dict[int, str]
declarations = st.dictionaries(st.integers(0, 5), st.sampled_from("abc"), max_size=6)
failures = st.none() | st.tuples(st.integers(1, 14), st.booleans())
"""(which request fails, counted from 1; whether the server has done it nevertheless)."""


COUNTED = ("scroll", "upsert", "set_payload", "delete", "count")
"""Requests that may fail. Those that make a collection come again whenever one is opened, and do the same."""


class Unreliable:
    """A client whose n-th request fails, and all after it."""

    def __init__(self) -> None:
        self.store = memory_client()
        self.fail(None)

    def fail(self, failure: tuple[int, bool] | None) -> None:
        self._left, self._done = failure or (0, False)
        self.failed = False

    def __getattr__(self, method: str) -> Any:
        made = getattr(self.store, method)
        if method not in COUNTED:
            return made

        def call(**arguments: Any) -> Any:
            if self._left > 1:
                self._left -= 1
            elif self._left == 1:
                self.failed = True
                if self._done:
                    made(**arguments)
                    self._done = False
                raise ResponseHandlingException(ConnectionError("gone"))
            return made(**arguments)

        return call


class Generations(RuleBasedStateMachine):
    """`complete` is the model: generation → what it declared. `killed` have a folder and perhaps a note."""

    def __init__(self) -> None:
        super().__init__()
        self.client = Unreliable()
        self.server = QdrantServer(self.client, ":memory:", attempts=1)  # type: ignore[arg-type]
        self.root = Path(tempfile.mkdtemp())
        self.folder = self.root / "label"
        self.folder.mkdir()
        self.complete: dict[str, Contents] = {}
        self.killed: set[str] = set()
        self.active = ""
        self.built = 0
        self.other = dict.fromkeys(range(6), "other")
        self._write("other", "g", self.other, now=0)

    def teardown(self) -> None:
        shutil.rmtree(self.root)

    @rule(declared=declarations, now=st.integers(0, 9), failure=failures)
    def build(self, declared: Contents, now: int, failure: tuple[int, bool] | None) -> None:
        self.built += 1
        self._build(f"g{self.built}", declared, now, failure)

    @precondition(lambda self: self.killed)
    @rule(data=st.data(), declared=declarations, now=st.integers(0, 9), failure=failures)
    def build_again(self, data: st.DataObject, declared: Contents, now: int, failure: tuple[int, bool] | None) -> None:
        self._build(data.draw(st.sampled_from(sorted(self.killed))), declared, now, failure)

    @precondition(lambda self: self.complete)
    @rule(data=st.data())
    def activate(self, data: st.DataObject) -> None:
        self.active = data.draw(st.sampled_from(sorted(self.complete)))

    @rule(data=st.data())
    def prune(self, data: st.DataObject) -> None:
        """Any but what is served; killed builds too, as the garbage collection does."""
        candidates = sorted({*self.complete, *self.killed} - {self.active})
        for gone in data.draw(st.sets(st.sampled_from(candidates))) if candidates else ():
            shutil.rmtree(self.folder / gone, ignore_errors=True)  # killed before it wrote its note
            self.complete.pop(gone, None)
            self.killed.discard(gone)

    @rule(failure=failures)
    def delete_stale(self, failure: tuple[int, bool] | None) -> None:
        places = server_registry.places(self.folder)
        kept = {place.sequence for place in places}
        self.client.fail(failure)
        try:
            delete_unseen(self.server, self._place("label", "", 0).key, {COLLECTION: kept})
        except VectorStoreError:
            assert self.client.failed
            return
        finally:
            self.client.fail(None)
        assert self._versions() == self._versions_seen_by(places), "nothing stays that nobody sees"

    @rule()
    def reset(self) -> None:
        delete_unseen(self.server, self._place("label", "", 0).key, {})
        shutil.rmtree(self.folder)
        self.folder.mkdir()
        self.complete, self.killed, self.active = {}, set(), ""
        assert not self._versions()

    @invariant()
    def every_generation_is_what_it_declared(self) -> None:
        for generation, declared in self.complete.items():
            self._require(self.folder / generation, declared)
        self._require(self.root / "other" / "g", self.other)

    def _build(self, generation: str, declared: Contents, now: int, failure: tuple[int, bool] | None) -> None:
        self.client.fail(failure)
        self.killed.add(generation)
        try:
            self._write("label", generation, declared, now)
        except VectorStoreError:
            assert self.client.failed, "only a server that fails stops a build"
            return
        finally:
            self.client.fail(None)
        self.killed.discard(generation)
        self.complete[generation] = declared

    def _write(self, label: str, generation: str, declared: Contents, now: int) -> None:
        folder = self.root / label
        place = self._place(label, generation, server_registry.next_sequence(folder, now / 1000))
        bring(
            ServerWriter(self.server, place, 0, folder / generation / "shard"),
            [
                StoredPoint(point_id(number), None, terms(number), payload(0, ContentHash=content))
                for number, content in declared.items()
            ],
        )

    def _place(self, label: str, generation: str, sequence: int) -> ServerPlace:
        return ServerPlace(
            url="memory",
            org_id="acme",
            project_id="shop",
            index_label=label,
            collection=COLLECTION,
            generation_id=generation,
            sequence=sequence,
        )

    def _require(self, folder: Path, declared: Contents) -> None:
        expected = {point_id(number): content for number, content in declared.items()}
        reader = ServerReader(self.server, server_registry.read_place(folder / "shard" / "server.json"))
        assert reader.ids() == expected
        assert reader.count() == len(expected)
        found = reader.retrieve([point_id(number) for number in range(6)], scope())
        assert {known: kept["ContentHash"] for known, kept in found.items()} == expected

    def _versions(self) -> set[str]:
        key = self._place("label", "", 0).key
        records, _ = self.client.store.scroll(COLLECTION, limit=10_000, with_payload=["LabelKey"])
        return {str(record.id) for record in records if (record.payload or {})["LabelKey"] == key}

    def _versions_seen_by(self, places: list[ServerPlace]) -> set[str]:
        seen: set[str] = set()
        for place in places:
            records, _ = self.client.store.scroll(
                COLLECTION, scroll_filter=visible(place.key, place.sequence), limit=10_000
            )
            seen.update(str(record.id) for record in records)
        return seen


def test_every_kept_generation_reads_as_declared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag_assets.index.vectors.qdrant_server.writer._UPSERT_BATCH", 2)  # so that there is a middle
    monkeypatch.setattr("rag_assets.index.vectors.qdrant_server.writer._MARK_BATCH", 2)
    monkeypatch.setattr("rag_assets.index.vectors.qdrant_server.schema._SCROLL_BATCH", 3)
    run_state_machine_as_test(
        Generations,
        settings=settings(
            max_examples=25,
            stateful_step_count=20,
            deadline=None,
            derandomize=True,
            suppress_health_check=[HealthCheck.too_slow],
        ),
    )
