"""Embedding shared out: the exchange loses nothing and mixes up nothing."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from rag_assets.models import open_embedder
from rag_assets.models.embedder import BatchEmbedder
from rag_assets.settings import Settings
from rag_assets.stages.build import BuildError, IndexBuild
from rag_assets.stages.embeddings import embed_sections
from rag_assets.stages.fan_out import embeddings as sharing
from rag_assets.stages.fan_out.embeddings import embed_group, gather, plan_groups
from rag_assets.stages.fan_out.exchange import exchange_folder, forget_exchange, leave_group
from rag_assets.stages.progress import Silent
from rag_assets_tests.git_repository import Repository
from rag_assets_tests.stages.conftest import Built, built

FILES = {f"docs/note{number}.md": f"Note {number} about orders.\n" for number in range(100)}  # two buckets


@pytest.fixture
def ready(tmp_path: Path) -> Built:
    """A finished build of two buckets whose vectors, and all that keeps them, are forgotten."""
    source = Repository(tmp_path / "source")
    source.path.mkdir()
    source.git("init", "--quiet", "--initial-branch=main")
    source.commit(FILES)
    made = built(source, Settings(home=tmp_path / "home", workers=1))
    forget_vectors(made.build)
    return made


def forget_vectors(build: IndexBuild) -> None:
    build.record_path("embeddings").unlink()
    shutil.rmtree(build.home.parts / "embeddings")
    for path in [*(build.directory / "embeddings").iterdir(), *build.home.cache.glob("embeddings.*")]:
        path.unlink()


@pytest.fixture
def embedder(ready: Built) -> BatchEmbedder:
    return open_embedder(ready.settings.embedder, ready.build.home.cache)


def folder_of(build: IndexBuild) -> Path:
    return exchange_folder(build.home, build.spec.index_label, "embeddings", build.spec.generation_id)


def test_what_groups_made_is_found_by_the_stage(ready: Built, embedder: BatchEmbedder) -> None:
    build, version = ready.build, ready.reports["embeddings"].output
    groups = plan_groups(build, embedder.model_id, most=2, least=10)
    assert [group.texts for group in groups] == [group.texts for group in groups if group.texts > 10] and sum(
        group.texts for group in groups
    ) == len(FILES)
    for group in groups:
        embed_group(folder_of(build), group.name, embedder)
    assert [work.texts for work in gather(build, embedder.model_id)] == [group.texts for group in groups]
    report = embed_sections(build, embedder, Silent())
    assert (report.work["embedded"], report.work["from_cache"]) == (0, len(FILES))
    assert report.output == version
    forget_exchange(build, "embeddings")
    assert not folder_of(build).exists()
    assert plan_groups(build, embedder.model_id, most=2, least=10) == [], "it is finished"


def test_a_second_attempt_goes_on_where_the_first_was_cut_off(
    ready: Built, embedder: BatchEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sharing, "CHUNK_TEXTS", 20)
    build = ready.build
    first, _ = plan_groups(build, embedder.model_id, most=2, least=10)
    done = embed_group(folder_of(build), first.name, embedder)
    assert (done.texts, done.found) == (first.texts, 0)
    chunks = sorted(folder_of(build).glob("*.npy"))
    chunks[0].unlink()
    again = embed_group(folder_of(build), first.name, embedder)
    assert again.texts + again.found == first.texts and 0 < again.texts <= 20


@pytest.mark.parametrize("damage", ["cut", "empty", "other-shape"])
def test_a_damaged_file_costs_time_and_nothing_else(ready: Built, embedder: BatchEmbedder, damage: str) -> None:
    build, version = ready.build, ready.reports["embeddings"].output
    for group in plan_groups(build, embedder.model_id, most=2, least=10):
        embed_group(folder_of(build), group.name, embedder)
    path = sorted(folder_of(build).glob("*.npy"))[0]
    if damage == "other-shape":
        np.save(path, np.ones((3, 384), np.float32))
    else:
        path.write_bytes(path.read_bytes()[: 1_000 if damage == "cut" else 0])
    gather(build, embedder.model_id)
    report = embed_sections(build, embedder, Silent())
    assert report.work["embedded"] > 0 and report.output == version


def test_a_new_plan_takes_what_a_dead_run_has_made(ready: Built, embedder: BatchEmbedder) -> None:
    build = ready.build
    first, _ = plan_groups(build, embedder.model_id, most=2, least=10)
    embed_group(folder_of(build), first.name, embedder)
    assert plan_groups(build, embedder.model_id, most=2, least=10) == [], "one bucket is left"
    report = embed_sections(build, embedder, Silent())
    assert (report.work["embedded"], report.work["from_cache"]) == (len(FILES) - first.texts, first.texts)


def test_exchanges_of_other_builds_of_the_label_go(ready: Built, embedder: BatchEmbedder) -> None:
    build = ready.build
    other = exchange_folder(build.home, build.spec.index_label, "embeddings", "20240101_main_deadbeef_000000")
    other.mkdir(parents=True)
    plan_groups(build, embedder.model_id, most=2, least=10)
    assert folder_of(build).is_dir() and not other.exists()


def test_why_a_group_was_left_is_told(ready: Built, embedder: BatchEmbedder) -> None:
    build = ready.build
    first, second = plan_groups(build, embedder.model_id, most=2, least=10)
    embed_group(folder_of(build), first.name, embedder)
    leave_group(folder_of(build), second.name, "ModelMissing: not on this machine")
    assert [work.error for work in gather(build, embedder.model_id)] == ["", "ModelMissing: not on this machine"]


def test_a_worker_whose_build_is_gone_writes_nothing(ready: Built, embedder: BatchEmbedder) -> None:
    build = ready.build
    first, _ = plan_groups(build, embedder.model_id, most=2, least=10)
    forget_exchange(build, "embeddings")
    with pytest.raises(FileNotFoundError):
        embed_group(folder_of(build), first.name, embedder)
    leave_group(folder_of(build), first.name, "gone")
    assert not folder_of(build).exists()


def test_vectors_that_cannot_be_are_not_exchanged(ready: Built, embedder: BatchEmbedder) -> None:
    class Wrong:
        model_id, dimension = embedder.model_id, 384

        def embed_batches(self, texts: list[str]) -> object:
            yield list(range(len(texts))), np.full((len(texts), 384), np.nan, np.float32)

    build = ready.build
    first, _ = plan_groups(build, embedder.model_id, most=2, least=10)
    with pytest.raises(BuildError, match="NaN"):
        embed_group(folder_of(build), first.name, Wrong())  # type: ignore[arg-type]
    assert not list(folder_of(build).glob("*.npy"))


@pytest.mark.skipif(os.name == "nt", reason="a signal that cannot be caught")
def test_a_worker_that_is_killed_leaves_whole_files_or_none(
    ready: Built, embedder: BatchEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sharing, "CHUNK_TEXTS", 5)
    build, version = ready.build, ready.reports["embeddings"].output
    first, _ = plan_groups(build, embedder.model_id, most=2, least=10)
    script = (
        "import sys, pathlib; from rag_assets.stages.fan_out import embeddings;"
        "from rag_assets.models import open_embedder;"
        "from rag_assets.settings import EmbedderSettings; embeddings.CHUNK_TEXTS = 5; print('ready', flush=True);"
        "embeddings.embed_group(pathlib.Path(sys.argv[1]), sys.argv[2], "
        "open_embedder(EmbedderSettings(), pathlib.Path(sys.argv[3])))"
    )
    arguments = [str(folder_of(build)), first.name, str(build.home.cache)]
    with subprocess.Popen([sys.executable, "-c", script, *arguments], stdout=subprocess.PIPE) as worker:
        assert worker.stdout is not None
        worker.stdout.readline()
        while not list(folder_of(build).glob("*.npy")) and worker.poll() is None:
            pass
        worker.send_signal(signal.SIGKILL)
    gather(build, embedder.model_id)
    report = embed_sections(build, embedder, Silent())
    assert report.output == version and report.work["from_cache"] > 0
