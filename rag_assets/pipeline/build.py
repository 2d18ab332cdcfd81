"""A generation while it is being built: what it is a build of, what each stage has done, and who holds the label.

The first stage writes `build.json`; every later one reads it, so stages can run in one process or in many. A
stage leaves `stages/{name}.json`, a record of what it read and wrote: with equal inputs and version there is
nothing to do. `manifest.json`, written by the last stage, makes the generation readable.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from filelock import BaseFileLock, FileLock, Timeout

from rag_assets.contracts.identity import cache_key
from rag_assets.contracts.retrieval import Capability
from rag_assets.contracts.source_file import GitRepoInfo, RefusedFile
from rag_assets.errors import RagAssetsError
from rag_assets.index.eval_records import Decision
from rag_assets.index.generation_files import LISTING
from rag_assets.index.generations import (
    EvalSummary,
    Manifest,
    generation_directory,
    read_pending_build,
    usable_generation,
)
from rag_assets.index.layout import IndexHome, RecordDamaged, label_of, read_record, write_record
from rag_assets.index.locks import collection_lock
from rag_assets.index.vectors.filters import PathClearance
from rag_assets.pipeline.versions import BUILD_STAGES, stage_version
from rag_assets.settings import RepositorySettings, Settings
from rag_assets.sources.snapshot import utc_iso

T = TypeVar("T")

_LOCK = "build.lock"
_HOLDER = "build.holder"
_LOCK_POLL_SECONDS = 0.05


class BuildError(RagAssetsError):
    """A build that cannot go on for a reason the user can act on; the text says how."""


class LabelBusy(BuildError):
    """Another process is building the same label."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildSpec:
    """What one generation is a build of. Equal specs give equal generations."""

    index_label: str
    generation_id: str
    ref: str
    git: GitRepoInfo
    bucket_count: int
    config_hash: str
    embedding_model: str
    repository: dict[str, Any]
    max_line_length: int = 0  # what the cache of discoveries was asked with
    fresh: bool = False  # made anew from the sources (`--force`): nothing is taken from the part cache
    replaces: str = ""  # a damaged build of the same plan, which goes when this one is served


@dataclass(frozen=True, slots=True, kw_only=True)
class StageReport:
    """What a stage did. `counts` describe the result and become metadata and manifest numbers, `work` says what
    this run had to do for it (all zero when `unchanged`), `tables` are for people.

    `measures` are numbers that are not counts. `problems` are the expected failures of single rows, listed and never
    swallowed. `parts` are digests of what each bucket holds for the stages after it: the keys of their parts are made
    of them. `part_keys` are the names of caches with the keys under which they have these parts. `refused` are the
    files that the stage cannot work on.
    """

    stage: str
    version: str
    output: str
    inputs: str = ""
    counts: dict[str, int] = field(default_factory=dict)
    work: dict[str, int | float] = field(default_factory=dict)
    measures: dict[str, float] = field(default_factory=dict)
    tables: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    part_keys: dict[str, list[str]] = field(default_factory=dict)
    refused: list[RefusedFile] = field(default_factory=list)
    unchanged: bool = False

    @property
    def all_problems(self) -> list[str]:
        """With the files that were refused."""
        return [*self.problems, *(f"{file.path}: {file.detail}" for file in self.refused)]


@dataclass(frozen=True, slots=True)
class IndexBuild:
    """A build in progress: its directory, its spec and the settings it runs under. With a `folder` it works there and
    the generation is never touched (`pipeline.build_plan`)."""

    home: IndexHome
    settings: Settings
    spec: BuildSpec
    folder: Path | None = None

    @property
    def directory(self) -> Path:
        if self.folder is not None:
            return self.folder
        return generation_directory(self.home, self.spec.index_label, self.spec.generation_id)

    @property
    def buckets(self) -> range:
        return range(self.spec.bucket_count)

    @property
    def repository(self) -> RepositorySettings:
        return RepositorySettings(**self.spec.repository)

    @property
    def levels(self) -> PathClearance:
        """How confidential each file is."""
        repository = self.repository
        return PathClearance(repository.confidentiality, repository.confidential_paths)

    @property
    def is_finished(self) -> bool:
        return (self.directory / "manifest.json").is_file()

    def record_path(self, stage: str) -> Path:
        return self.directory / "stages" / f"{stage}.json"

    def record(self, stage: str) -> StageReport | None:
        """What a stage of this build did, if it finished."""
        try:
            return read_report(self.directory, stage)
        except BuildError:  # the stage runs again, and writes it again
            return None

    def required(self, stage: str) -> StageReport:
        """The record of an upstream stage. Raises BuildError naming the asset to materialize."""
        record = self.record(stage)
        if record is None:
            raise BuildError(
                f"{self.spec.index_label}: asset {stage} has not been materialized for generation "
                f"{self.spec.generation_id}; materialize {stage} first"
            )
        return record

    def inputs_of(self, stage: str, *upstream: str) -> str:
        """The fingerprint of everything a stage reads: upstream outputs, its version, the configuration."""
        outputs = [self.required(name).output for name in upstream]
        return cache_key(stage, stage_version(stage), self.spec.config_hash, *outputs).hex()

    def finished(self, stage: str, inputs: str) -> StageReport | None:
        """The record of `stage` when it already ran on exactly these inputs."""
        record = self.record(stage)
        if record is None or record.inputs != inputs or record.version != stage_version(stage):
            return None
        return replace(record, unchanged=True, work=dict.fromkeys(record.work, 0))

    def finish(self, report: StageReport) -> StageReport:
        write_record(self.record_path(report.stage), report, order="sorted")
        return report


def read_report(directory: Path, stage: str) -> StageReport | None:
    """What a stage recorded in the folder of a generation, None: it did not finish. Raises BuildError where the record
    is damaged."""
    try:
        return _decoded(directory / "stages" / f"{stage}.json", StageReport)
    except FileNotFoundError:
        return None


def read_reports(directory: Path) -> Iterator[StageReport]:
    """What all stages recorded in the folder of a generation. Raises BuildError where a record is damaged."""
    for path in sorted(directory.glob("stages/*.json")):
        yield _decoded(path, StageReport)


def refused_later(directory: Path) -> dict[str, tuple[str, RefusedFile]]:
    """Path → the first stage after discovery that refused the file, and why, in the folder of a generation. One that
    segmentation refused is as if it were skipped; of others something is missing. Raises BuildError."""
    reports = (read_report(directory, stage) for stage in reversed(BUILD_STAGES[1:]))
    return {file.path: (report.stage, file) for report in reports if report is not None for file in report.refused}


def read_spec(directory: Path) -> BuildSpec:
    """What the generation in a folder is a build of. Raises BuildError where that is damaged, FileNotFoundError."""
    return _decoded(directory / "build.json", BuildSpec)


def _decoded(path: Path, kind: type[T]) -> T:
    try:
        return read_record(path, kind)
    except RecordDamaged as error:
        raise BuildError(f"{path} is damaged: {error}; run: rag-assets index {label_of(path)}") from error


def start_build(home: IndexHome, settings: Settings, spec: BuildSpec) -> IndexBuild:
    """Makes (or takes up again) the directory of a generation. Raises OtherGenerationFormat."""
    build = IndexBuild(home, settings, spec)
    usable_generation(home, spec.index_label, spec.generation_id)  # refuses another format
    build.directory.mkdir(parents=True, exist_ok=True)
    remove_leftovers(build)
    if not build.is_finished:
        (build.directory / LISTING).unlink(missing_ok=True)  # of a build that was killed before its manifest
        write_record(build.directory / "build.json", spec, order="sorted")
    return build


_LEFTOVERS = (
    "broadcast-*.pickle",
    "attempt-*.log",
    *("*/part-*.tmp", "stages/*.tmp", "keyword/**/*.tmp", "graph/**/*.tmp"),  # `eval/` others may be writing
)


def remove_leftovers(build: IndexBuild) -> None:
    """Removes what killed processes left: what they sent to their workers, the records of these, and files half
    written. Only while no stage of it works."""
    for pattern in _LEFTOVERS:
        for left in build.directory.glob(pattern):
            left.unlink(missing_ok=True)


def forget_build(build: IndexBuild) -> None:
    """Removes what an earlier, unfinished build of the same generation left. Never a finished one."""
    if build.is_finished:
        raise BuildError(f"generation {build.spec.generation_id} is finished and must not change")
    if build.directory.exists():
        shutil.rmtree(build.directory)


def candidate_build(home: IndexHome, settings: Settings, label: str, *, of_run: str | None = None) -> IndexBuild:
    """The build that the label's stages work on.

    `of_run` is given when the same run has made the candidate: another run that took the label over in
    between is an error, not a silent mix of two commits.
    """
    found = read_pending_build(home, label)
    if found is None:
        raise BuildError(f"{label}: nothing has been discovered yet; materialize discovered_files first")
    if of_run is not None and found.run_id != of_run:
        raise BuildError(f"{label}: run {found.run_id} has taken this label over; run this one again")
    try:
        spec = read_spec(generation_directory(home, label, found.generation_id))
    except FileNotFoundError:
        raise BuildError(f"{label}: generation {found.generation_id} is gone; run: rag-assets index") from None
    return IndexBuild(home, settings, spec)


@contextlib.contextmanager
def label_lock(home: IndexHome, label: str, *, wait_seconds: float = 0.0) -> Iterator[None]:
    """Holds a label for one builder at a time; the holder's own nested calls pass (the lock is re-entrant).

    The operating system releases it when a process dies, so a killed build never blocks the next one. Whoever takes a
    label waits for a running garbage collection first. Raises LabelBusy naming the holder, or HomeBusy.
    """
    folder = home.label(label)
    folder.mkdir(parents=True, exist_ok=True)
    home.keep_out_of_git()
    lock = FileLock(folder / _LOCK, is_singleton=True)
    if lock.is_locked:
        lock.acquire()
    else:
        _take(home, label, lock, time.monotonic() + wait_seconds)
    try:
        if lock.lock_counter == 1:
            (folder / _HOLDER).write_text(f"process {os.getpid()}", encoding="utf-8")
        yield
    finally:
        lock.release()


def _take(home: IndexHome, label: str, lock: BaseFileLock, deadline: float) -> None:
    """Takes the free lock behind the gate of the collector, which is not held while waiting for a label."""
    while True:
        with collection_lock(home):
            try:
                lock.acquire(timeout=0)
                return
            except Timeout:
                if time.monotonic() >= deadline:
                    raise LabelBusy(
                        f"{label} is being indexed by {_holder(home.label(label))}; nothing was changed. "
                        "Wait for it, or stop it and run again"
                    ) from None
        time.sleep(_LOCK_POLL_SECONDS)


def label_holder(home: IndexHome, label: str) -> str | None:
    """Who is building a label now, or None. Changes nothing, but for an instant it holds the free lock itself."""
    folder = home.label(label)
    if not (folder / _LOCK).exists():
        return None
    try:
        with FileLock(folder / _LOCK, timeout=0):
            return None
    except Timeout:
        return _holder(folder)
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            return None  # who may only read cannot ask
        raise


def _holder(folder: Path) -> str:
    path = folder / _HOLDER
    return path.read_text(encoding="utf-8") if path.exists() else "another process"


def manifest_of(build: IndexBuild, run_id: str, decision: Decision | None = None) -> Manifest:
    """The manifest of a build, made of the reports of its stages. Written, it makes the generation readable; in memory,
    it lets the build be searched before anybody else can. Raises BuildError naming the stage that has not run."""
    spec = build.spec
    repository = build.repository
    records = {stage: build.required(stage) for stage in BUILD_STAGES}
    segments = records["segments"].counts
    return Manifest(
        generation_id=spec.generation_id,
        index_label=spec.index_label,
        repository_id=repository.id,
        org_id=repository.org,
        project_id=repository.project_id,
        remote_url=spec.git.remote_url,
        ref=spec.ref,
        commit_sha=spec.git.commit_sha,
        commit_date=spec.git.commit_date,
        is_git=spec.git.is_git,
        config_hash=spec.config_hash,
        embedding_model=spec.embedding_model,
        dimension=records["embeddings"].counts["dimension"],
        lexical_only=build.settings.embedder.provider == "lexical-only",
        stage_versions={stage: record.version for stage, record in records.items()},
        counts={
            "files": records["discovered_files"].counts["indexed"] - len(records["segments"].refused),
            "skipped_files": records["discovered_files"].counts["skipped"] + len(records["segments"].refused),
            "segments": segments["segments"],
            "descriptions": records["descriptions"].counts["descriptions"],
            "sections": records["summary_sections"].counts["sections"],
            "points": records["qdrant_points"].counts["points"],
            "blocked_points": records["qdrant_points"].counts["blocked"],
            "warnings": records["qdrant_points"].counts["warnings"],
            "graph_nodes": records["code_graph"].counts["nodes"],
            "graph_edges": records["code_graph"].counts["edges"],
        },
        parse_health={
            name.removeprefix("health_"): count for name, count in segments.items() if name.startswith("health_")
        },
        bucket_count=spec.bucket_count,
        run_id=run_id,
        confidentiality=repository.confidentiality,
        confidential_paths=dict(sorted(repository.confidential_paths.items())),
        evaluation=_summary(decision) if decision is not None else None,
        built_at=utc_iso(time.time()),
        capabilities=_capabilities(build),
    )


def _capabilities(build: IndexBuild) -> tuple[str, ...]:
    """What the records of the stages say was built (D17)."""
    built = {
        Capability.DENSE: build.settings.embedder.provider != "lexical-only",
        Capability.KEYWORD: True,
        Capability.GRAPH: build.required("code_graph").counts["nodes"] > 0,
        Capability.HISTORY: build.required("bm25_artifacts").counts["files_with_past"] > 0,
    }
    return tuple(part.value for part, there in built.items() if there)


def _summary(decision: Decision) -> EvalSummary:
    return EvalSummary(
        set=decision.set,
        fingerprint=decision.fingerprint,
        questions=decision.questions,
        metrics={change.metric: change.candidate for change in decision.changes},
        verdict=decision.verdict.value,
        active_generation_id=decision.active_generation_id,
    )
