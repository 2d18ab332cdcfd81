"""Buckets on a Dask cluster: the bytes of local processes, and a clear error for every cluster that cannot do it."""

from __future__ import annotations

import os
import pickle
import re
import shutil
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import dask
import pytest
import yaml
from distributed import Client, LocalCluster

import rag_assets
from rag_assets.defs import retries, stage_asset
from rag_assets.errors import ClusterError, ClusterLost
from rag_assets.index.cache import Cache, keep_entries
from rag_assets.index.generations import active_generation
from rag_assets.index.layout import IndexHome
from rag_assets.index.vectors import open_vectors
from rag_assets.pipeline.build import BuildError, IndexBuild
from rag_assets.pipeline.qdrant_points import SHARD
from rag_assets.pipeline.workers import dask_pool
from rag_assets.pipeline.workers.dask_pool import _Admission, installed, machine, run_task
from rag_assets.pipeline.workers.process_pool import ProcessPool
from rag_assets.pipeline.workers.worker_pool import as_completed, broadcast, cluster_of, map_buckets, rest_workers
from rag_assets.settings import ExecutionSettings
from rag_assets.settings.config_file import ConfigError
from rag_assets_tests.cli.conftest import CommandLine
from rag_assets_tests.git_repository import Repository
from rag_assets_tests.pipeline.bucket_work import (
    bucket_and_process,
    build_of_buckets,
    dying_in_a_worker,
    failing_on_two,
    size_and_process,
)
from rag_assets_tests.pipeline.conftest import SHOP
from rag_assets_tests.pipeline.dask_clusters import copied_workers, local_cluster, on, worker
from rag_assets_tests.processes import until

__all__ = ["copied_workers"]  # fixtures are found by their names

LABEL = "shop@main"
NOTES = 220  # with a part of the shop four buckets, and more texts than are embedded by one process
INCLUDED = ("docs/*", "db/*", "src/Fernhill.Shop.Domain/**")


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    with local_cluster(2) as made:
        yield made


@pytest.fixture(autouse=True)
def left_clusters() -> Iterator[None]:
    yield
    rest_workers()


def build_on(cluster: LocalCluster | ExecutionSettings, home: Path, buckets: int = 6) -> IndexBuild:
    build = build_of_buckets(home, buckets)
    execution = cluster if isinstance(cluster, ExecutionSettings) else on(cluster)
    return replace(build, settings=build.settings.model_copy(update={"execution": execution}))


# a whole build, by the command line


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    path = tmp_path_factory.mktemp("source") / "shop"
    shutil.copytree(SHOP, path)
    return Repository.new(path, {f"docs/note{number}.md": f"Note {number} about orders.\n" for number in range(NOTES)})


def configured(
    folder: Path,
    source: Repository,
    embedder: str = "lexical-only",
    include: tuple[str, ...] = INCLUDED,
    **execution: str,
) -> CommandLine:
    """A command line with a configuration file of its own."""
    repository = {"id": "shop", "location": str(source.path), "ref": "main", "include": list(include)}
    told = {"home": "home", "workers": 2, "execution": execution, "repositories": [repository]}
    told["embedder"] = {"provider": embedder}
    (folder / "rag_assets.yaml").write_text(yaml.safe_dump(told), encoding="utf-8")
    return CommandLine(IndexHome(folder / "home"), folder)


def indexed(folder: Path, source: Repository, **options: Any) -> dict[str, bytes]:
    done = configured(folder, source, **options).run("index", options=())
    assert done.code == 0, done.err
    return contents(folder)


def contents(folder: Path) -> dict[str, bytes]:
    """Tables and points of the active index."""
    directory = active_generation(IndexHome(folder / "home"), LABEL).directory
    reader = open_vectors(directory / SHARD)
    try:
        points = repr(sorted(reader.digests().items())).encode()
    finally:
        reader.close()
    found = {path.relative_to(directory).as_posix(): path.read_bytes() for path in directory.rglob("*.parquet")}
    return found | {"points": points}


@pytest.fixture(scope="module")
def expected(source: Repository, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What local processes make, without embeddings."""
    return indexed(tmp_path_factory.mktemp("processes"), source, workers="processes")


def test_a_cluster_of_this_machine_needs_no_scheduler(
    source: Repository, expected: dict[str, bytes], tmp_path: Path
) -> None:
    assert indexed(tmp_path, source, workers="dask") == expected


def kills_when_there_is_one(parts: Path, process: int) -> None:
    until(lambda: list(parts.glob("??/*")), "a part is finished")
    os.kill(process, signal.SIGKILL)


@pytest.mark.skipif(os.name == "nt", reason="a signal that cannot be caught")
def test_a_cluster_makes_the_bytes_of_local_processes_although_a_worker_is_killed(
    source: Repository, tmp_path: Path
) -> None:
    (tmp_path / "processes").mkdir()
    short: dict[str, Any] = {"embedder": "minilm", "include": INCLUDED[:2]}
    expected = indexed(tmp_path / "processes", source, workers="processes", **short)
    with local_cluster(2) as own, Client(own, set_as_default=False) as client:
        before = client.run(os.getpid)
        parts = tmp_path / "home" / "cache" / "parts" / "segments"
        killer = threading.Thread(target=kills_when_there_is_one, args=[parts, next(iter(before.values()))])
        killer.start()
        found = indexed(tmp_path, source, workers="dask", dask_scheduler=own.scheduler_address, **short)
        killer.join()
        assert set(client.run(os.getpid).values()) != set(before.values())
        rest_workers()  # as a command does when it ends
        assert not list((tmp_path / "home").rglob("workers.token")), "nothing is left of the cluster"
    assert len([name for name in found if name.startswith("embeddings/")]) > 3
    assert found == expected


def test_a_scheduler_that_is_not_there_loses_nothing(
    source: Repository, expected: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (retries, stage_asset):
        monkeypatch.setattr(module, "DELAYS_SECONDS", (0.1,))
    monkeypatch.setattr(dask_pool, "CONNECT_SECONDS", 1.0)
    with socket.socket() as taken:  # bound, and nobody listens
        taken.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{taken.getsockname()[1]}"
        done = configured(tmp_path, source, workers="dask", dask_scheduler=address).run("index", options=())
    assert done.code == 1
    said = " ".join(done.err.split())
    assert f"the Dask scheduler {address} (execution.dask_scheduler) does not answer" in said
    assert "execution.workers: processes" in said and "Traceback" not in done.err
    assert indexed(tmp_path, source, workers="processes") == expected


# the pool


def test_results_come_in_bucket_order_from_the_workers(cluster: LocalCluster, tmp_path: Path) -> None:
    found = list(map_buckets(bucket_and_process, build_on(cluster, tmp_path), "now"))
    assert [bucket for bucket, _, _ in found] == list(range(6))
    with Client(cluster, set_as_default=False) as client:
        assert {process for _, process, _ in found} <= set(client.run(os.getpid).values())


def test_one_bucket_stays_here(tmp_path: Path) -> None:
    nobody = ExecutionSettings(workers="dask", dask_scheduler="tcp://127.0.0.1:1")
    found = list(map_buckets(bucket_and_process, build_on(nobody, tmp_path, 1), ""))
    assert [process for _, process, _ in found] == [os.getpid()], "and nobody is connected"


def test_a_plan_stays_on_this_machine(cluster: LocalCluster, tmp_path: Path) -> None:
    assert cluster_of(replace(build_on(cluster, tmp_path), folder=tmp_path)) is None


def has_cluster(build: IndexBuild) -> bool:
    return cluster_of(build) is not None


def test_a_local_process_of_another_build_starts_no_cluster(tmp_path: Path) -> None:
    """What a check does beside its stage is done in a copy, where one is left of a build with local processes."""
    build = build_on(ExecutionSettings(workers="dask"), tmp_path)
    (begun,) = ProcessPool(1).submit([partial(has_cluster, build)])
    assert begun.result() is False


def test_what_a_worker_raises_is_raised_here(cluster: LocalCluster, tmp_path: Path) -> None:
    found = map_buckets(failing_on_two, build_on(cluster, tmp_path))
    assert [next(found), next(found)] == [0, 1]
    with pytest.raises(BuildError, match="bucket 2 cannot be read"):
        next(found)


def test_a_value_for_all_buckets_is_read_from_the_home(cluster: LocalCluster, tmp_path: Path) -> None:
    build = build_on(cluster, tmp_path)
    build.directory.mkdir(parents=True)
    with broadcast(build, bytes(1_000)) as shared:
        assert {length for length, _ in map_buckets(size_and_process, build, shared)} == {1_000}
    assert list(build.directory.iterdir()) == []


def waits_and_says(folder: Path, number: int) -> int:
    (folder / f"{number}.begun").touch()
    time.sleep(0.05)
    return number


def test_tasks_are_made_when_it_is_their_turn(cluster: LocalCluster, tmp_path: Path) -> None:
    pool = cluster_of(build_on(cluster, tmp_path))
    assert pool is not None and pool.size == 2
    made: list[int] = []

    def each() -> Iterator[partial[int]]:
        for number in range(10):
            made.append(number)
            yield partial(waits_and_says, tmp_path, number)

    found: list[tuple[int, int]] = []
    for pair in as_completed(pool, each(), at_once=3):
        found.append(pair)
        assert len(made) - len(found) <= 3
    assert sorted(found) == [(number, number) for number in range(10)]


def test_workers_that_died_with_a_bucket_are_named(tmp_path: Path) -> None:
    with dask.config.set({"distributed.scheduler.allowed-failures": 0}), local_cluster(1) as own:
        build = build_on(own, tmp_path, 2)
        with pytest.raises(ClusterError, match=r"one bucket ended 1 Dask workers of tcp://\S+ .*want of memory"):
            list(map_buckets(dying_in_a_worker, build, os.getpid()))


def test_a_scheduler_without_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_pool, "CONNECT_SECONDS", 1.0)
    with local_cluster(0) as own, pytest.raises(ClusterLost, match=r"has no workers; .*dask worker tcp"):
        list(map_buckets(bucket_and_process, build_on(own, tmp_path), ""))


def sleeping(build: IndexBuild, bucket: int) -> int:
    (build.home.root / "begun").touch()
    time.sleep(60)
    return bucket


def wait_for(path: Path) -> None:
    while not path.exists():
        time.sleep(0.05)


def test_the_last_worker_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_pool, "LONELY_SECONDS", 1.0)
    with local_cluster(0) as own, worker(own) as process:
        pool = cluster_of(build_on(own, tmp_path))
        assert pool is not None
        futures = pool.submit([partial(sleeping, build_on(own, tmp_path), bucket) for bucket in range(2)])
        wait_for(tmp_path / "begun")
        process.kill()
        for future in futures:
            with pytest.raises(ClusterLost, match="has no workers; finished buckets are kept"):
                future.result(60)


def test_the_scheduler_goes(tmp_path: Path) -> None:
    with local_cluster(1) as own:
        pool = cluster_of(build_on(own, tmp_path))
        assert pool is not None
        (future,) = pool.submit([partial(sleeping, build_on(own, tmp_path), 0)])
        wait_for(tmp_path / "begun")
        own.close()
        with pytest.raises(ClusterLost, match="was lost during the work; finished buckets are kept"):
            future.result(60)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a path that is another one for each process")
def test_a_worker_that_does_not_see_the_home(
    cluster: LocalCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    build = build_on(cluster, Path("/proc/self/cwd/home"))
    with pytest.raises(ClusterError) as found:
        list(map_buckets(bucket_and_process, build, ""))
    assert len(re.findall(r"Dask worker tcp://\S+ \(on \S+\) does not see the same home: /proc/self", str(found.value)))
    assert "mount the home there" in str(found.value)
    assert not list(tmp_path.rglob("workers.token"))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("other", r"Dask worker tcp://\S+ has rag-assets \S+ \(sources \w+\) instead of \S+ \(sources \w+\); install"),
        ("none", r"Dask worker tcp://\S+ cannot load rag_assets: .*; install there"),
    ],
    ids=["other-sources", "without-the-package"],
)
def test_a_worker_with_another_version(tmp_path: Path, change: str, said: str) -> None:
    package = tmp_path / "other" / "rag_assets"
    if change == "other":
        shutil.copytree(Path(rag_assets.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
        with (package / "text.py").open("a", encoding="utf-8") as file:
            file.write("# edited\n")
    else:
        package.mkdir(parents=True)
        (package / "__init__.py").touch()
    shadow = {"PYTHONPATH": str(tmp_path / "other"), "PYTHONSAFEPATH": "1"}
    with local_cluster(0) as own, worker(own, **shadow), pytest.raises(ClusterError, match=said):
        list(map_buckets(bucket_and_process, build_on(own, tmp_path / "home"), ""))


def test_without_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "rag_assets.pipeline.workers.dask_pool", raising=False)
    monkeypatch.setitem(sys.modules, "distributed", None)
    build = build_on(ExecutionSettings(workers="dask"), tmp_path)
    with pytest.raises(ConfigError, match=r"needs distributed; run: pip install 'rag-assets\[dask\]'"):
        list(map_buckets(bucket_and_process, build, ""))


# a worker


def admission(folder: Path, **changed: str) -> _Admission:
    (folder / "workers.token").write_text("token", encoding="utf-8")
    made = _Admission(str(folder / "workers.token"), "token", tuple(sorted(installed().items())), machine())
    return replace(made, **changed)


def task(folder: Path) -> bytes:
    return pickle.dumps(partial(cached, folder))


def cached(folder: Path) -> list[bytes]:
    with Cache(folder / "cache", "things") as cache:
        cache.put_many([(b"new", b"1")])
        return sorted(cache.get_many([b"old", b"new"]))


def test_a_worker_that_joins_later_is_asked_with_its_first_task(tmp_path: Path) -> None:
    with pytest.raises(ClusterError, match="does not see the same home"):
        run_task(admission(tmp_path, token="another build"), task(tmp_path))
    assert not (tmp_path / "cache").exists(), "it has done nothing"


def test_a_worker_of_this_machine_uses_the_caches(tmp_path: Path) -> None:
    with Cache(tmp_path / "cache", "things") as cache:
        cache.put_many([(b"old", b"0")])
    outcome = run_task(admission(tmp_path), task(tmp_path))
    assert (outcome.result, outcome.entries) == ([b"new", b"old"], {})


def test_a_worker_of_another_machine_opens_no_cache(tmp_path: Path) -> None:
    outcome = run_task(admission(tmp_path, machine="elsewhere"), task(tmp_path))
    assert outcome.result == [b"new"]
    assert not (tmp_path / "cache").exists()
    keep_entries(outcome.entries)
    with Cache(tmp_path / "cache", "things") as cache:
        assert cache.get_many([b"new"]) == {b"new": b"1"}


def test_what_is_installed_names_what_decides_the_bytes() -> None:
    found = installed()
    assert {"python", "rag-assets", "pyarrow", "numpy", "tree-sitter-c-sharp"} <= found.keys()
    assert "pytest" not in found
