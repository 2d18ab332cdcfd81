"""What worker processes do for the tests of the pools, apart from the tests: each worker imports this, and no more."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from dataclasses import replace
from functools import partial
from multiprocessing import current_process
from pathlib import Path

from rag_assets.contracts.source_file import GitRepoInfo
from rag_assets.index.layout import IndexHome
from rag_assets.pipeline.build import BuildError, BuildSpec, IndexBuild
from rag_assets.pipeline.memo import Lookups
from rag_assets.pipeline.workers.file_guard import Attempts, FileGuard, guard_files
from rag_assets.pipeline.workers.worker_pool import Broadcast, beside, broadcast, map_buckets
from rag_assets.settings import EmbedderSettings, Settings


def build_of_buckets(home: Path, buckets: int, processes: int = 2) -> IndexBuild:
    spec = BuildSpec(
        index_label="shop@main",
        generation_id="g",
        ref="main",
        git=GitRepoInfo("", "main", "c" * 40, "2026-01-02T03:04:05Z"),
        bucket_count=buckets,
        config_hash="",
        embedding_model="lexical-only",
        repository={},
    )
    return IndexBuild(
        IndexHome(home),
        Settings(home=home, embedder=EmbedderSettings(provider="lexical-only"), workers=processes),
        spec,
    )


def bucket_and_process(build: IndexBuild, bucket: int, started: str) -> tuple[int, int, str]:
    time.sleep(0.05 * (bucket % 2))  # so that they do not finish in order
    return bucket, os.getpid(), started


def failing_on_two(build: IndexBuild, bucket: int) -> int:
    if bucket == 2:
        raise BuildError("bucket 2 cannot be read")
    return bucket


def dying_in_a_worker(build: IndexBuild, bucket: int, parent: int) -> int:
    if os.getpid() != parent and bucket >= 1:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(60)
    return bucket


def hanging_in_a_worker(build: IndexBuild, bucket: int, parent: int) -> None:
    if bucket == 0:
        (build.home.root / "begun").touch()
    time.sleep(0 if os.getpid() == parent else 600)


def stopped_while_it_sends(stopped: Path) -> bytes:
    """This process stops when it has sent how long the result is, and not the result."""
    sender, size = threading.get_ident(), 64 << 20

    def stop() -> None:
        while True:
            frame = sys._current_frames()[sender]
            if frame.f_code.co_name == "_send" and len(frame.f_locals["buf"]) >= size:
                break
            time.sleep(0)
        stopped.touch()
        os.kill(os.getpid(), signal.SIGSTOP)

    threading.Thread(target=stop, daemon=True).start()
    return bytes(size)


def working_process(home: Path, workers: str, hang: bool) -> None:
    """What the process of a Dagster run is: made by `multiprocessing`, and told to end by an exception."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(3))
    build = build_of_buckets(home, 6)
    execution = build.settings.execution.model_copy(update={"workers": workers})
    build = replace(build, settings=build.settings.model_copy(update={"execution": execution}))
    assert len(list(map_buckets(bucket_and_process, build, ""))) == 6
    if hang:
        list(map_buckets(hanging_in_a_worker, build, os.getpid()))


def guarded_bucket(build: IndexBuild, bucket: int) -> int:
    return os.getpid()


def daemonic_process(home: Path, answer: Path) -> None:
    build = build_of_buckets(home, 1)
    (worker,) = map_buckets(guarded_bucket, build, attempts=Attempts(build.directory, "any"))
    answer.write_text(f"{worker != os.getpid()} {current_process().daemon}", encoding="utf-8")


def size_and_process(build: IndexBuild, bucket: int, shared: Broadcast[bytes]) -> tuple[int, int]:
    time.sleep(0.05)
    return len(shared.value), os.getpid()


def told_bucket(build: IndexBuild, bucket: int, _: FileGuard, answers: dict[str, int]) -> tuple[int, Lookups]:
    return answers[str(bucket)], {("told", (str(bucket),)): answers[str(bucket)]}


class Unpicklable:
    def __reduce__(self) -> tuple[type[Unpicklable], tuple[()]]:
        raise OSError(28, "No space left on device")


def dying_once(build: IndexBuild, bucket: int, shared: Broadcast[object], attempts: Attempts) -> tuple[str, int]:
    with guard_files(build, attempts, bucket, "1") as guard:
        guard.run("a.py", "", partial(_die_once, build.home.root / "died"))
    return type(shared.value).__name__, os.getpid()


def _die_once(dead: Path) -> None:
    if not dead.exists():
        dead.touch()
        os.kill(os.getpid(), signal.SIGKILL)


def workers_with_a_large_value(home: Path, answer: Path, buckets: int, beside: bool) -> None:
    """What workers have of a large value, and the next after a death; `beside` a thread has begun meanwhile."""
    build, value = build_of_buckets(home, buckets), {"of": "a label"} if beside else Unpicklable()
    attempts, slept = Attempts(build.directory, "any"), threading.Event()
    thread = threading.Thread(target=slept.wait, daemon=True)
    first = list(map_buckets(guarded_bucket, build, attempts=attempts))
    with broadcast(build, value, large=True) as shared:
        work = partial(map_buckets, dying_once, build, shared, attempts, attempts=attempts)
        made = work()
        if beside:
            thread.start()
        found = list(made)
    workers = {*first, *(worker for _, worker in found)}
    answer.write_text(f"{[name for name, _ in found]} {os.getpid() in workers} {len(workers) == 2}", encoding="utf-8")
    slept.set()


def task_beside(home: Path, answer: Path, dies: bool) -> None:
    """Where a task is done that is begun beside this process, which begins another one meanwhile, and one in it."""
    build = build_of_buckets(home, 1)
    list(map_buckets(guarded_bucket, build, attempts=Attempts(build.directory, "any")))
    begun = beside(partial(_beside, os.getpid(), dies))
    is_idle = beside(os.getpid)() != os.getpid() or dies
    process, within = begun()
    answer.write_text(f"{process != os.getpid()} {within == process} {is_idle}", encoding="utf-8")


def _beside(parent: int, dies: bool) -> tuple[int, int]:
    if dies and os.getpid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)
    return os.getpid(), beside(os.getpid)()
