"""Garbage collection: what nothing needs goes, what anything needs stays, whoever runs or dies meanwhile."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rag_assets.index.cache import Cache
from rag_assets.index.gc import LEFTOVER_GRACE_SECONDS, UNFINISHED_GRACE_SECONDS, referenced_blobs
from rag_assets.index.generations import active_generation, finished_generations, generation_directory, read_generation
from rag_assets.index.integrity import damage
from rag_assets.index.inventory import prune
from rag_assets.index.labels import register_label
from rag_assets.index.layout import IndexHome
from rag_assets.index.locks import HomeBusy, collection_lock
from rag_assets.pipeline.build import label_lock
from rag_assets.pipeline.collect_garbage import GarbageCollection, collect_garbage
from rag_assets.pipeline.memo import ITEM_MEMOS
from rag_assets.settings import RepositorySettings, RetentionSettings
from rag_assets.sources.git.mirror import mirror_path
from rag_assets_tests.generation_history import History, new_history

LATER = 30 * 24 * 3600.0
TIME_LIMIT = 120.0


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> History:
    return new_history(tmp_path_factory.mktemp("history"))


@pytest.fixture
def history(original: History, tmp_path: Path) -> History:
    return original.copy(tmp_path)


def blobs(home: IndexHome) -> set[str]:
    return {path.name for path in home.blobs.glob("??/*")}


def entries(home: IndexHome, name: str) -> int:
    with Cache(home.cache, name) as cache:
        return cache.count()


def counts(found: GarbageCollection) -> dict[str, int]:
    return {swept.kind: swept.count for swept in found.swept if swept.count}


def collect(history: History, **options: float | bool) -> GarbageCollection:
    return collect_garbage(history.home, history.settings, **options)  # type: ignore[arg-type]


def assert_whole(home: IndexHome, label: str) -> None:
    """Nothing that a finished generation refers to is gone."""
    for known in finished_generations(home, label):
        assert damage(home, read_generation(home, label, known)) == [], known


@contextmanager
def held(home: IndexHome, label: str) -> Iterator[int]:
    """The label, held by another process."""
    program = (
        "import sys\nfrom pathlib import Path\nfrom rag_assets.pipeline.build import label_lock\n"
        "from rag_assets.index.layout import IndexHome as Home\n"
        "with label_lock(Home(Path(sys.argv[1])), sys.argv[2]):\n    print('held', flush=True)\n    input()\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(home.root), label],
        cwd=Path(__file__).parents[2],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None and process.stdout.readline() == "held\n"
        yield process.pid
    finally:
        process.communicate("\n")  # worker processes may be copies that hold its input open


def test_nothing_of_what_is_kept_goes(history: History) -> None:
    found = collect(history, now=time.time() + LATER)
    assert (counts(found), found.kept, found.bytes) == ({}, [], 0)
    assert_whole(history.home, history.label)


def test_every_cache_of_a_build_is_a_memo_that_says_what_is_used(history: History) -> None:
    used = {path.stem for path in history.home.cache.glob("*.sqlite")}
    assert used == set(ITEM_MEMOS) - {"refused_files"}, "which only a build with refused files has"


def test_a_deleted_generation_takes_its_documents_and_entries(history: History) -> None:
    (gone,) = prune(history.home, history.label, 1)
    assert gone.generation_id == history.ids[0]
    before = blobs(history.home)
    would = collect(history, dry_run=True)
    assert blobs(history.home) == before, "a dry run removes nothing"
    found = collect(history)
    assert would == found
    assert counts(found) == {
        "documents": 1,
        "cached parts": 11,
        "cache entries of discovered_files": 1,
        "cache entries of segments": 1,
        "cache entries of questions": 2,
        "cache entries of embeddings": 2,
        "cache entries of checks": 1,
        "cache entries of graph_files": 1,
        "cache entries of described_files": 1,
        "cache entries of sectioned_files": 1,
    }
    assert found.bytes > 0
    assert blobs(history.home) == referenced_blobs(history.home) < before
    assert_whole(history.home, history.label)
    assert counts(collect(history)) == {}, "once is enough"


def test_what_stays_in_the_caches_is_found_again(history: History) -> None:
    prune(history.home, history.label, 1)
    collect(history)
    _, reports = history.index(force=True)
    assert reports["segments"].work == {"parsed": 0, "from_cache": 4}
    assert reports["embeddings"].work["embedded"] == 0


def test_what_was_collected_is_made_again(history: History) -> None:
    """Going back to a commit whose documents and entries are gone."""
    prune(history.home, history.label, 1)
    collect(history)
    build, reports = history.index(commit=history.commits[0])
    assert reports["segments"].work["parsed"] == 1
    assert build.spec.generation_id == history.ids[0]
    assert_whole(history.home, history.label)


def test_leftovers_go_when_nobody_can_be_writing_them(history: History) -> None:
    home, label = history.home, history.label
    made = [
        home.label(label) / "active.json.1f.tmp",
        generation_directory(home, label, history.ids[0]) / "segments" / "part-000.parquet.1f.tmp",
        home.blobs / "ab" / "abcd.1f.tmp",
        home.cache / "segments.damaged",
        home.trash(label) / "old.1f" / "manifest.json",
    ]
    for path in made:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * 5000)
    at_once = collect(history)
    assert counts(at_once)["leftovers"] == 1, "the trash: only who holds the label writes there"
    found = collect(history, now=time.time() + LEFTOVER_GRACE_SECONDS + 1)
    assert counts(found)["leftovers"] == 3, "the blob went with the documents"
    assert not any(path.exists() for path in made)
    assert_whole(home, label)


def unfinished(history: History) -> Path:
    """The build of a new commit, killed before its manifest."""
    build, _ = history.index()
    (build.directory / "manifest.json").unlink()
    return build.directory


def test_an_unfinished_build_goes_on_within_a_week(original: History, tmp_path: Path) -> None:
    history = original.copy(tmp_path, retention=RetentionSettings(keep=9))
    history.source.commit({"src/Late.cs": "namespace Shop;\npublic class Late { public int Id { get; set; } }\n"})
    directory = unfinished(history)
    assert counts(collect(history)) == {}
    assert directory.is_dir() and referenced_blobs(history.home) == blobs(history.home)
    would = collect(history, now=time.time() + UNFINISHED_GRACE_SECONDS + 60, dry_run=True)
    found = collect(history, now=time.time() + UNFINISHED_GRACE_SECONDS + 60)
    assert counts(found) == counts(would)
    assert counts(found) == {
        "abandoned builds": 1,
        "documents": 1,
        "cached parts": 11,
        "cache entries of discovered_files": 1,
        "cache entries of segments": 1,
        "cache entries of questions": 2,
        "cache entries of embeddings": 2,
        "cache entries of checks": 1,
        "cache entries of graph_files": 1,
        "cache entries of described_files": 1,
        "cache entries of sectioned_files": 1,
        "cache entries of past_commits": 1,
    }
    assert not directory.exists()


def test_a_build_that_another_one_followed_goes_at_once(history: History) -> None:
    history.source.commit({"src/Late.cs": "namespace Shop;\npublic class Late { public int Id { get; set; } }\n"})
    directory = unfinished(history)
    history.commit({"src/Later.cs": "namespace Shop;\npublic class Later { public int Id { get; set; } }\n"})
    assert counts(collect(history))["abandoned builds"] == 1
    assert not directory.exists()
    assert_whole(history.home, history.label)


def test_mirrors_of_repositories_that_are_no_label(history: History) -> None:
    home = history.home
    urls = {name: f"https://example.invalid/{name}.git" for name in ("label", "configured", "forgotten", "new")}
    for url in urls.values():
        (mirror_path(home.mirrors, url) / "refs").mkdir(parents=True)
    (home.mirrors / "killed-0123456789ab.git.1f.tmp").mkdir()
    register_label(home, "label@main", RepositorySettings(id="label", location=urls["label"]), "main")
    configured = RepositorySettings(id="configured", location=urls["configured"])
    settings = history.settings.model_copy(update={"repositories": (configured,)})
    assert counts(collect_garbage(home, settings)) == {}, "one that was just fetched may be about to become a label"
    found = collect_garbage(home, settings, now=time.time() + LEFTOVER_GRACE_SECONDS + 1)
    assert counts(found) == {"mirrors": 3}
    left = {path.name for path in home.mirrors.glob("*.git")}
    assert left == {mirror_path(home.mirrors, urls[name]).name for name in ("label", "configured")}


def test_a_label_that_does_not_say_what_it_is_keeps_the_mirrors(history: History) -> None:
    (history.home.mirrors / "old-0123456789ab.git").mkdir(parents=True)
    (history.home.label(history.label) / "label.json").write_text("{", encoding="utf-8")
    found = collect(history, now=time.time() + LATER)
    assert counts(found) == {}
    assert "mirrors: " in found.kept[0] and "label.json is damaged" in found.kept[0]


@pytest.mark.parametrize("dry_run", [False, True], ids=["real", "dry run"])
def test_an_unreadable_table_keeps_everything_it_may_refer_to(history: History, dry_run: bool) -> None:
    prune(history.home, history.label, 1)
    before, kept = blobs(history.home), entries(history.home, "segments")
    part = generation_directory(history.home, history.label, history.ids[1]) / "discovered_files/part-000.parquet"
    part.write_bytes(part.read_bytes()[:-20])
    found = collect(history, dry_run=dry_run)
    assert counts(found) == {} and "cannot be read" in found.kept[0]
    assert (blobs(history.home), entries(history.home, "segments")) == (before, kept)


@pytest.mark.parametrize("dry_run", [False, True], ids=["real", "dry run"])
def test_while_a_label_is_built_what_all_share_stays(history: History, dry_run: bool) -> None:
    prune(history.home, history.label, 1)
    before = blobs(history.home)
    with held(history.home, history.label) as pid:
        found = collect(history, dry_run=dry_run)
    assert f"{history.label} is being indexed by process {pid}" in found.kept[0]
    assert "documents and cache entries: a build may need them" in found.kept[1]
    assert blobs(history.home) == before


def test_a_build_waits_for_a_collection(history: History) -> None:
    """Also one of a label that nobody has heard of when the collection begins."""
    order: list[str] = []

    def build() -> None:
        with label_lock(history.home, "new@main"):
            order.append("build")

    with collection_lock(history.home):
        builder = threading.Thread(target=build)
        builder.start()
        time.sleep(0.3)
        order.append("collection")
    builder.join()
    assert order == ["collection", "build"]


def test_two_collections_do_not_meet(history: History) -> None:
    waiting: list[BaseException] = []

    def second() -> None:
        try:
            with collection_lock(history.home, wait_seconds=0.1):
                pass
        except HomeBusy as busy:
            waiting.append(busy)

    with collection_lock(history.home):
        other = threading.Thread(target=second)
        other.start()
        other.join()
    assert "is being collected by another process" in str(waiting[0])


COLLECTOR = """
import sys
import time
from pathlib import Path
from rag_assets.settings import EmbedderSettings, Settings
from rag_assets.pipeline.collect_garbage import collect_garbage
from rag_assets.index.layout import IndexHome as Home
from rag_assets.index.locks import HomeBusy
settings = Settings(home=Path(sys.argv[1]), embedder=EmbedderSettings(provider="lexical-only"))
print("ready", flush=True)
rounds = 0
while rounds < int(sys.argv[2]):
    try:
        collect_garbage(Home(settings.home), settings)
    except HomeBusy:
        pass
    rounds += 1
    print(rounds, flush=True)
    time.sleep(0.05)  # a build meets several all the same
"""


def collector(home: IndexHome, rounds: int) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", COLLECTOR, str(home.root), str(rounds)],
        cwd=Path(__file__).parents[2],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    return process


def test_builds_and_collections_at_once_lose_nothing(history: History) -> None:
    """Builds go back and forth between commits, so each re-uses documents that nothing refers to at that moment."""
    process = collector(history.home, 10_000)
    try:
        for turn in range(4):
            for known in history.ids[:2]:
                shutil.rmtree(generation_directory(history.home, history.label, known), ignore_errors=True)
            build, _ = history.index(commit=history.commits[turn % 2])
            assert build.is_finished
            assert_whole(history.home, history.label)
    finally:
        process.kill()
        process.communicate()
    assert_whole(history.home, history.label)


@pytest.mark.skipif(sys.platform == "win32", reason="kill -9")
@pytest.mark.parametrize("delay", [0.0, 0.005, 0.02, 0.06])
def test_a_killed_collection_leaves_a_whole_home(history: History, delay: float) -> None:
    for number in range(400):  # enough that a kill falls between two deletions
        history.home.blobs.joinpath("aa").mkdir(exist_ok=True)
        (history.home.blobs / "aa" / f"aa{number:062d}").write_bytes(os.urandom(64))
    prune(history.home, history.label, 1)
    process = collector(history.home, 1)
    time.sleep(delay)
    process.kill()
    process.communicate(timeout=TIME_LIMIT)
    assert_whole(history.home, history.label)
    collect(history)
    assert blobs(history.home) == referenced_blobs(history.home)
    assert history.index()[1]["active_index"].unchanged
    assert active_generation(history.home, history.label).manifest.generation_id == history.ids[2]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everything")
def test_a_read_only_home_can_be_looked_at(history: History) -> None:
    folders = [path for path in (history.home.root, *history.home.root.rglob("*")) if path.is_dir()]
    for folder in folders:
        folder.chmod(0o500)
    try:
        assert counts(collect(history, dry_run=True)) == {}
        with pytest.raises(PermissionError):
            collect(history)
    finally:
        for folder in folders:
            folder.chmod(0o700)
