"""Activate, roll back, keep and delete generations of a real label."""

from __future__ import annotations

import shutil
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from rag_assets import Index
from rag_assets.index import disk_files
from rag_assets.index.generation_refs import tag
from rag_assets.index.generations import (
    MANIFEST_VERSION,
    GenerationError,
    active_generation,
    finished_generations,
    generation_directory,
)
from rag_assets.index.integrity import damage
from rag_assets.index.inventory import prune
from rag_assets.index.locks import HomeBusy, pointer_lock
from rag_assets.index.promotion import activate, roll_back
from rag_assets.pipeline.active_index import activate as activate_build
from rag_assets.pipeline.build import candidate_build
from rag_assets.settings import RetentionSettings
from rag_assets_tests.generation_history import History, new_history
from rag_assets_tests.records import edit_record


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> History:
    return new_history(tmp_path_factory.mktemp("history"))


@pytest.fixture
def history(original: History, tmp_path: Path) -> History:
    return original.copy(tmp_path)


def served(history: History) -> str:
    return active_generation(history.home, history.label).manifest.generation_id


def test_each_rollback_goes_one_further_back(history: History) -> None:
    first, second, third = history.ids
    moved = roll_back(history.home, history.label)
    assert (moved.generation.manifest.generation_id, moved.left) == (second, third)
    assert roll_back(history.home, history.label).generation.manifest.generation_id == first
    with pytest.raises(GenerationError, match="no earlier generation to go back to"):
        roll_back(history.home, history.label)
    assert served(history) == first


def test_an_activation_can_be_rolled_back(history: History) -> None:
    activate(history.home, history.label, history.ids[0])
    assert served(history) == history.ids[0]
    roll_back(history.home, history.label)
    assert served(history) == history.ids[2]
    assert not activate(history.home, history.label, history.ids[2]).changed


def test_a_rollback_passes_over_what_was_deleted(history: History) -> None:
    shutil.rmtree(generation_directory(history.home, history.label, history.ids[1]))
    roll_back(history.home, history.label)
    assert served(history) == history.ids[0]


def test_indexing_the_same_commit_does_not_undo_a_rollback(history: History) -> None:
    roll_back(history.home, history.label)
    build, reports = history.index()
    assert build.spec.generation_id == history.ids[2], "the stages have nothing to do"
    assert served(history) == history.ids[1]
    assert "is not served: a person chose" in reports["active_index"].problems[0]
    assert "rag-assets generations activate" in reports["active_index"].problems[0]


def test_a_new_commit_is_served_after_a_rollback(history: History) -> None:
    roll_back(history.home, history.label)
    made = history.commit({"docs/new.md": "# New\n\nSomething changed.\n"})
    assert served(history) == made
    roll_back(history.home, history.label)
    assert served(history) == history.ids[1], "not to what a person moved away from"


def test_force_is_served_after_a_rollback(history: History) -> None:
    roll_back(history.home, history.label)
    history.index(force=True)
    assert served(history) == f"{history.ids[2]}~2"


def test_force_is_served_when_what_was_set_aside_is_gone(history: History) -> None:
    roll_back(history.home, history.label)
    shutil.rmtree(generation_directory(history.home, history.label, history.ids[2]))
    history.index()
    assert served(history) == history.ids[1]
    shutil.rmtree(generation_directory(history.home, history.label, history.ids[2]))
    history.index(force=True)
    assert served(history) == f"{history.ids[2]}~2"


def test_an_activation_by_hand_ends_the_exile(history: History) -> None:
    roll_back(history.home, history.label)
    activate(history.home, history.label, history.ids[2])
    assert served(history) == history.ids[2]
    assert history.index()[1]["active_index"].unchanged


def test_the_stages_alone_do_not_undo_a_rollback(history: History) -> None:
    """The Dagster asset calls this without the rest of an `index`."""
    roll_back(history.home, history.label)
    report = activate_build(candidate_build(history.home, history.settings, history.label))
    assert report.tables["active index"][0]["generation"] == history.ids[1]


def empty(folder: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_file():
            path.unlink()


DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "deleted": (shutil.rmtree, "not finished or was deleted; run: rag-assets index"),
    "unfinished": (lambda at: (at / "manifest.json").unlink(), "not finished or was deleted; run: rag-assets index"),
    "manifest cut": (lambda at: (at / "manifest.json").write_text("{"), "cannot be read"),
    "no shard": (lambda at: shutil.rmtree(at / "shard"), "shard/edge_config.json is gone"),
    "empty shard": (lambda at: empty(at / "shard" / "segments"), ""),
    "table cut": (
        lambda at: (at / "qdrant_points/part-000.parquet").write_bytes(b"PAR1"),
        "qdrant_points/part-000.parquet is damaged",
    ),
    "documents gone": (lambda at: shutil.rmtree(at.parents[3] / "blobs"), "documents of the blob store"),
}


@pytest.mark.parametrize(("break_it", "message"), DAMAGES.values(), ids=DAMAGES)
def test_what_cannot_be_read_is_not_served(history: History, break_it: Callable[[Path], object], message: str) -> None:
    broken = generation_directory(history.home, history.label, history.ids[1])
    break_it(broken)
    with pytest.raises(GenerationError) as caught:
        activate(history.home, history.label, history.ids[1])
    assert message in str(caught.value)
    assert served(history) == history.ids[2]
    if broken.exists() and message != "not finished or was deleted; run: rag-assets index":
        with pytest.raises(GenerationError):
            roll_back(history.home, history.label)
    assert served(history) == history.ids[2]


def test_a_damaged_pointer_can_only_be_set_anew(history: History) -> None:
    (history.home.label(history.label) / "active.json").write_text('{"generation_id": 7}', encoding="utf-8")
    with pytest.raises(GenerationError, match="rag-assets generations activate"):
        roll_back(history.home, history.label)
    with pytest.raises(GenerationError, match="is damaged"):
        prune(history.home, history.label, 1)
    activate(history.home, history.label, history.ids[0])
    assert served(history) == history.ids[0]


def test_readers_see_one_or_the_other(history: History) -> None:
    found: list[str] = []
    stop = threading.Event()

    def read() -> None:
        while not stop.is_set():
            found.append(served(history))
            time.sleep(0.0002)  # or the other thread never has its turn

    reader = threading.Thread(target=read)
    reader.start()
    for turn in range(12):
        activate(history.home, history.label, history.ids[turn % 2])
    stop.set()
    reader.join()
    assert set(found) <= set(history.ids) and len(set(found)) > 1


def test_a_pointer_that_somebody_holds_is_not_moved(history: History) -> None:
    again = pointer_lock(history.home, history.label, wait_seconds=0.1)
    with pointer_lock(history.home, history.label), pytest.raises(HomeBusy, match="nothing was changed"), again:
        pytest.fail("the pointer was held twice")


def test_old_generations_go_after_an_activation(original: History, tmp_path: Path) -> None:
    history = original.copy(tmp_path, retention=RetentionSettings(keep=1))
    made = history.commit({"docs/new.md": "# New\n\nSomething changed.\n"})
    assert set(finished_generations(history.home, history.label)) == {made, history.ids[2]}, "active and previous"
    assert damage(history.home, active_generation(history.home, history.label)) == []


def test_an_index_does_not_fail_because_an_old_one_stays(original: History, tmp_path: Path) -> None:
    history = original.copy(tmp_path, retention=RetentionSettings(keep=1))
    (history.home.label(history.label) / "tags.json").write_text("[", encoding="utf-8")
    history.source.commit({"docs/new.md": "# New\n\nSomething changed.\n"})
    build, reports = history.index()
    assert served(history) == build.spec.generation_id
    assert "old generations were not deleted" in reports["active_index"].problems[0]
    assert len(finished_generations(history.home, history.label)) == 4


@pytest.mark.parametrize(
    ("keep", "tagged", "left"),
    [
        pytest.param(3, (), (0, 1, 2), id="all of three"),
        pytest.param(2, (), (1, 2), id="active and previous"),
        pytest.param(1, (), (1, 2), id="the previous one in any case"),
        pytest.param(1, (0,), (0, 1, 2), id="tagged"),
        pytest.param(0, (), (1, 2), id="a number of no meaning of its own"),
    ],
)
def test_what_stays(history: History, keep: int, tagged: tuple[int, ...], left: tuple[int, ...]) -> None:
    for number in tagged:
        tag(history.home, history.label, history.ids[number], f"release-{number}")
    gone = {known for number, known in enumerate(history.ids) if number not in left}
    would = prune(history.home, history.label, keep, dry_run=True)
    assert len(finished_generations(history.home, history.label)) == 3, "a dry run deletes nothing"
    assert prune(history.home, history.label, keep) == would
    assert {found.generation_id for found in would} == gone
    assert set(finished_generations(history.home, history.label)) == set(history.ids) - gone
    assert not any(history.home.trash(history.label).iterdir()) if gone else True


@pytest.mark.parametrize(("tagged", "left"), [((), (2,)), ((0,), (0, 2))], ids=["nothing else", "tagged"])
def test_what_stays_where_a_text_must_go(history: History, tagged: tuple[int, ...], left: tuple[int, ...]) -> None:
    for number in tagged:
        tag(history.home, history.label, history.ids[number], f"release-{number}")
    prune(history.home, history.label, 3, served_only=True)
    assert set(finished_generations(history.home, history.label)) == {history.ids[number] for number in left}


def test_after_a_rollback_the_newest_is_kept_for_a_look(history: History) -> None:
    roll_back(history.home, history.label)
    assert prune(history.home, history.label, 3) == []
    assert {found.generation_id for found in prune(history.home, history.label, 1)} <= {history.ids[2]}


def test_a_generation_of_a_newer_program_is_not_deleted(history: History) -> None:
    path = generation_directory(history.home, history.label, history.ids[0]) / "manifest.json"
    edit_record(path, f'"manifest_version": {MANIFEST_VERSION}', '"manifest_version": 99')
    assert prune(history.home, history.label, 1) == []


@pytest.mark.skipif(sys.platform == "win32", reason="an open file holds its folder there")
def test_an_open_index_answers_while_its_generation_is_deleted(history: History) -> None:
    activate(history.home, history.label, history.ids[0])
    with Index(history.home, active_generation(history.home, history.label)) as index:
        before = index.search("count orders")
        activate(history.home, history.label, history.ids[1])
        activate(history.home, history.label, history.ids[2])
        gone = {found.generation_id for found in prune(history.home, history.label, 1)}
        assert history.ids[0] in gone
        after = index.search("count orders")
        assert [hit.point_id for hit in after.hits] == [hit.point_id for hit in before.hits] != []
        assert index.get(after.hits[0].point_id)["Path"] == "src/OrderService.cs"


def test_what_windows_does_not_let_go_of_goes_another_time(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Path, target: Path) -> None:
        raise PermissionError(13, "in use", str(self))

    with monkeypatch.context() as windows:
        windows.setattr(disk_files, "_OPEN_FILES_HOLD_FOLDERS", True)
        windows.setattr(Path, "replace", refuse)
        (found,) = prune(history.home, history.label, 1)
    assert found.in_use and found.generation_id in finished_generations(history.home, history.label)
    (found,) = prune(history.home, history.label, 1)
    assert not found.in_use and found.generation_id not in finished_generations(history.home, history.label)
