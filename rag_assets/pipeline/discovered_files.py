"""Stage `discovered_files`: the files of one commit, read once, decoded, redacted; every other one with its reason."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa

from rag_assets.contracts.identity import cache_key
from rag_assets.contracts.source_file import DiscoveredFile, RefusedFile, SkippedFile, SkipReason
from rag_assets.errors import SourceError
from rag_assets.index.blobs import BlobStore, BlobWriter
from rag_assets.index.generations import (
    OtherGenerationFormat,
    active_pointer,
    generation_to_build,
    is_finished,
    set_pending_build,
    usable_generation,
)
from rag_assets.index.integrity import damage_of_files, lost_documents
from rag_assets.index.layout import IndexHome, path_slug
from rag_assets.index.parquet_parts import bucket_count, bucket_of, read_file, write_part
from rag_assets.index.promotion import is_set_aside
from rag_assets.languages.detection import detect_language
from rag_assets.models import model_id
from rag_assets.pipeline.build import BuildSpec, IndexBuild, StageReport, forget_build, read_spec, start_build
from rag_assets.pipeline.commit_subjects import FilesPast, past_of_files
from rag_assets.pipeline.memo import BucketMemo, CachedBucket, ItemMemo, Items, recorded
from rag_assets.pipeline.progress import Progress
from rag_assets.pipeline.schemas import DISCOVERED_FILES
from rag_assets.pipeline.versions import config_hash, stage_version
from rag_assets.pipeline.workers.file_guard import Attempts, Refusal, guard_files
from rag_assets.pipeline.workers.worker_pool import WORTH_WORKERS, GuardedTasks, guarded_pool, start_workers
from rag_assets.settings import RepositorySettings, Settings
from rag_assets.sources.discovery import Content, DiscoveredText, discover, examined, is_lasting
from rag_assets.sources.fingerprint import POLICY_FINGERPRINT
from rag_assets.sources.ignore import IgnorePolicy, ignore_policy
from rag_assets.sources.open import open_snapshot
from rag_assets.sources.secrets import masked
from rag_assets.sources.snapshot import Snapshot, TreeEntry

STAGE = "discovered_files"
_SHOWN_SKIPS = 200  # rows of the skip table in a report; the Parquet table has them all
_SHOWN_ALIKE = 5
_PORTION_FILES = 256
_PORTION_BYTES = 8 << 20  # together what a process is started for, and what is looked at again when one dies
_SHALLOW = (
    "the clone is shallow: dates and past commits of {undated:,} files are not known; run `git fetch --unshallow` in "
    "it, then index with --force"
)
_ABSENT = "files of this commit are not in the clone (partial or damaged): run `git fetch --refetch --no-filter` in it"


def discover_files(
    home: IndexHome,
    settings: Settings,
    label: str,
    repository: RepositorySettings,
    progress: Progress,
    *,
    commit: str | None = None,
    run_id: str = "",
    force: bool = False,
) -> tuple[IndexBuild, StageReport]:
    """Starts (or resumes) the generation of a commit, default the head of the label's ref.

    Raises the errors of `rag_assets.sources` for a repository, ref or commit that cannot be read.
    """
    with open_repository(home, settings, repository, commit) as snapshot:
        entries = list(snapshot.entries())
        spec = _spec(settings, label, repository, snapshot, len(entries))
        damaged = _damaged_build(home, label, spec.generation_id)
        chosen = generation_to_build(home, label, spec.generation_id, force=force or bool(damaged))
        spec = replace(spec, generation_id=chosen, fresh=force, replaces=damaged)
        if force or damaged:
            forget_build(IndexBuild(home, settings, spec))
        build = start_build(home, settings, spec)
        set_pending_build(home, label, spec.generation_id, run_id)
        inputs = cache_key(STAGE, stage_version(STAGE), spec.config_hash, spec.git.commit_sha).hex()
        done = build.finished(STAGE, inputs)
        if done is not None:
            return build, done
        return build, _discover(build, snapshot, ignore_policy(settings, repository), inputs, progress)


def _damaged_build(home: IndexHome, label: str, planned: str) -> str:
    """The newest finished build of a plan, if it is damaged; else ''. Documents that are damaged are removed, so that
    this build writes them again."""
    newest = generation_to_build(home, label, planned)
    if not is_finished(home, label, newest) or is_set_aside(active_pointer(home, label), newest):
        return ""
    try:
        generation = usable_generation(home, label, newest)
    except OtherGenerationFormat:  # whole as far as we know
        return ""
    if generation is None:
        return newest
    lost = lost_documents(home, generation)
    for address in lost:
        BlobStore(home.blobs).path(address).unlink(missing_ok=True)
    return newest if lost or any(damage_of_files(generation)) else ""


def discover_in(
    folder: Path,
    home: IndexHome,
    settings: Settings,
    label: str,
    repository: RepositorySettings,
    snapshot: Snapshot,
    progress: Progress,
) -> tuple[IndexBuild, StageReport]:
    """The files of a snapshot for a build that works in `folder` and leaves the label alone: for a plan."""
    spec = _spec(settings, label, repository, snapshot, len(list(snapshot.entries())))
    build = IndexBuild(home, settings, spec, folder)
    return build, _discover(build, snapshot, ignore_policy(settings, repository), "", progress)


def open_repository(
    home: IndexHome, settings: Settings, repository: RepositorySettings, commit: str | None
) -> Snapshot:
    """The snapshot of `commit`, default the head of the ref. Raises SourceError or ConfigError."""
    return open_snapshot(
        repository.location,
        ref=repository.ref,
        commit=commit,
        mirrors=home.mirrors,
        timeout=settings.sources.network_timeout_seconds,
        policy=ignore_policy(settings, repository),
    )


def generation_id(spec_ref: str, commit_sha: str, commit_date: str, configuration: str) -> str:
    """`{commit date}_{ref}_{sha8}_{config hash 6}`: sorts by time, says what it is of."""
    compact = commit_date.replace("-", "").replace(":", "").partition(".")[0].removesuffix("Z")
    return f"{compact}Z_{path_slug(spec_ref)}_{commit_sha[:8]}_{configuration[:6]}"


def planned_generation(
    home: IndexHome,
    settings: Settings,
    label: str,
    repository: RepositorySettings,
    snapshot: Snapshot,
    *,
    force: bool = False,
) -> str:
    """The id of the generation that indexing `snapshot` leads to: when it is active already, there is nothing to do."""
    planned = _spec(settings, label, repository, snapshot, 0).generation_id
    return generation_to_build(home, label, planned, force=force)


def _spec(
    settings: Settings, label: str, repository: RepositorySettings, snapshot: Snapshot, entries: int
) -> BuildSpec:
    info = snapshot.info
    model = model_id(settings.embedder)
    configuration = config_hash(settings, repository, model)
    ref = repository.ref or snapshot.ref
    return BuildSpec(
        index_label=label,
        generation_id=generation_id(ref, info.commit_sha, info.commit_date, configuration),
        ref=ref,
        git=info,
        bucket_count=bucket_count(entries),
        config_hash=configuration,
        embedding_model=model,
        max_line_length=settings.sources.max_line_length,
        # Where this machine keeps the repository does not belong into a generation.
        repository=repository.model_dump(mode="json") | {"location": info.remote_url or repository.id},
    )


def _discover(
    build: IndexBuild, snapshot: Snapshot, policy: IgnorePolicy, inputs: str, progress: Progress
) -> StageReport:
    progress.begin(STAGE, len(list(snapshot.entries())), "files")
    report = _write(build, snapshot, policy, inputs, progress)
    progress.end(f"{report.counts['indexed']} indexed, {report.counts['skipped']} skipped")
    return build.finish(report)


def _write(build: IndexBuild, snapshot: Snapshot, policy: IgnorePolicy, inputs: str, progress: Progress) -> StageReport:
    rows: list[list[dict[str, Any]]] = [[] for _ in build.buckets]
    reasons: Counter[str] = Counter()
    languages: Counter[str] = Counter()
    totals: Counter[str] = Counter()
    skips: list[dict[str, Any]] = []
    with (
        ThreadPoolExecutor(1) as beside,  # git tells of the past while files are read
        _DISCOVERIES.open(build.home, fresh=build.spec.fresh) as memo,
        BlobWriter(BlobStore(build.home.blobs)) as blobs,
    ):
        known = _KnownFiles(build, policy, memo)
        # Once only, and after a process for the files was started: one without other threads is copied.
        past_begun = cache(partial(beside.submit, past_of_files, build, snapshot))
        examiner = _Examiner(build, policy, past_begun)
        found_files = discover(snapshot, policy, language_of=detect_language, known=known.among, examine=examiner.each)
        for found in found_files:
            if isinstance(found, DiscoveredText):
                blobs.put_as(found.file.text_sha256, found.text)
                known.add(found.file)
                found = found.file
                totals["read"] += 1
            if isinstance(found, DiscoveredFile):
                languages[found.language] += 1
                totals["redacted_secrets"] += found.redacted_secrets
                totals["bytes"] += found.size_bytes
            else:
                known.add(found)
                reasons[found.reason.value] += 1
                if len(skips) < _SHOWN_SKIPS:
                    skips.append({"path": found.path, "reason": found.reason.value, "detail": found.detail})
            rows[bucket_of(found.path, len(rows))].append(_row(found))
            progress.advance(1, found.path)
        past = past_begun()
    if reasons[SkipReason.MISSING_BLOB] and not languages:
        raise SourceError(f"{build.spec.index_label}: all {reasons[SkipReason.MISSING_BLOB]:,} {_ABSENT}")
    undated = _note_past(rows, past.result())
    parts = _written(build, rows)
    return StageReport(
        inputs=inputs,
        **recorded(STAGE, parts)
        | {"parts": [_content_of(bucket_rows) for bucket_rows in rows], "refused": examiner.refused},
        counts={
            "indexed": sum(languages.values()),
            "skipped": sum(reasons.values()),
            "bytes": totals["bytes"],
            "redacted_secrets": totals["redacted_secrets"],
        },
        work={"read": totals["read"]},
        tables={
            "languages": [{"language": name, "files": count} for name, count in languages.most_common()],
            "skipped by reason": [{"reason": name, "files": count} for name, count in reasons.most_common()],
            "skipped files": skips,
        },
        problems=[
            *_problems(reasons[SkipReason.MISSING_BLOB], undated if past.result().shallow else 0),
            *_of_one_spelling(row["path"] for row in chain.from_iterable(rows)),
        ],
    )


def _problems(absent: int, undated: int) -> Iterator[str]:
    """What a clone does not have, and another one of the same commit may have."""
    if absent:
        yield f"{absent:,} {_ABSENT}, then index with --force"
    if undated:
        yield _SHALLOW.format(undated=undated)


def _of_one_spelling(paths: Iterable[str]) -> Iterator[str]:
    """The paths that are one to a file system that does not tell upper from lower case. All of them are indexed."""
    spellings: defaultdict[str, list[str]] = defaultdict(list)
    for path in paths:
        spellings[path.casefold()].append(path)
    alike = sorted(sorted(found) for found in spellings.values() if len(found) > 1)
    for found in alike[:_SHOWN_ALIKE]:
        yield f"{' and '.join(found)} differ in case only: a work tree on Windows or macOS has only one of them"
    if len(alike) > _SHOWN_ALIKE:
        yield f"{len(alike) - _SHOWN_ALIKE:,} more such names"


def _note_past(rows: list[list[dict[str, Any]]], past: FilesPast) -> int:
    """How many of the indexed files have no date."""
    undated = 0
    for row in chain.from_iterable(rows):
        if row["outcome"] == "indexed":
            row["subjects"] = list(past.subjects.get(row["path"], ()))
            origin = past.origins[row["path"]]
            row["commit_sha"], row["commit_date"], row["dated"] = origin.commit_sha, origin.commit_date, origin.dated
            undated += not origin.dated
    return undated


class _Outcome(msgspec.Struct, omit_defaults=True):
    """What reading a file came to: one of the two."""

    indexed: DiscoveredFile | None = None
    skipped: SkippedFile | None = None


class _Examiner:
    """Has the contents of files looked at in processes that may die of one, some files at a time. Calls `meanwhile` as
    soon as there is one."""

    def __init__(self, build: IndexBuild, policy: IgnorePolicy, meanwhile: Callable[[], object]) -> None:
        self.refused: list[RefusedFile] = []
        self._build = build
        self._policy = policy
        self._meanwhile = meanwhile
        self._attempts = Attempts(build.directory, STAGE)

    def each(self, contents: Iterable[Content]) -> Iterator[DiscoveredText | SkippedFile]:
        """What is found in each, in order. Contents are read while those before them are looked at."""
        waiting: deque[int] = deque()
        pool = guarded_pool(self._build, 1)
        if pool is not None:
            with suppress(BrokenProcessPool):  # the first task tries it again, and says so
                pool.start()
        self._meanwhile()
        at_once = pool.size if pool is not None else 1
        with GuardedTasks[_Examined](pool, self._attempts) as tasks:
            for number, some in enumerate(_portions(contents)):
                tasks.begin(number, partial(_examine, self._build, self._policy, number, some))
                waiting.append(number)
                if len(waiting) > at_once:
                    yield from self._examined(tasks.result(waiting.popleft()))
            for number in waiting:
                yield from self._examined(tasks.result(number))

    def _examined(self, made: _Examined) -> list[DiscoveredText | SkippedFile]:
        self.refused += made.refused
        return made.found


@dataclass(frozen=True, slots=True)
class _Examined:
    """What was found in some contents, in their order."""

    found: list[DiscoveredText | SkippedFile]
    refused: list[RefusedFile]


def _portions(contents: Iterable[Content]) -> Iterator[list[Content]]:
    """Contents for one task each."""
    some: list[Content] = []
    size = 0
    for entry, content in contents:
        some.append((entry, content))
        size += len(content) if isinstance(content, bytes) else 0
        if len(some) >= _PORTION_FILES or size >= _PORTION_BYTES:
            yield some
            some, size = [], 0
    if some:
        yield some


def _examine(build: IndexBuild, policy: IgnorePolicy, number: int, contents: list[Content]) -> _Examined:
    """Runs in a worker process."""
    found: list[DiscoveredText | SkippedFile] = []
    with guard_files(build, Attempts(build.directory, STAGE), number, stage_version(STAGE)) as guard:
        for entry, content in contents:
            if isinstance(content, SkippedFile):
                found.append(content)
                continue
            made = guard.run(entry.path, entry.blob_id, partial(_look_at, entry, content, policy))
            found.append(entry.skipped(made.reason, made.detail) if isinstance(made, Refusal) else made)
    return _Examined(found, guard.refused)


def _look_at(entry: TreeEntry, content: bytes, policy: IgnorePolicy) -> DiscoveredText | SkippedFile:
    try:
        return examined(entry, content, policy, detect_language)
    except OSError as error:  # of an extractor: nothing else of it reads files
        return entry.skipped(SkipReason.UNREADABLE, masked(f"{type(error).__name__}: {error}"))


class _KnownFiles:
    """What earlier builds found in files of the same path and content, so that a build reads only what is new."""

    def __init__(self, build: IndexBuild, policy: IgnorePolicy, memo: Items[_Outcome]) -> None:
        self._build = build
        self._limit = policy.max_line_length
        self._memo = memo
        self._keys: dict[str, bytes] = {}

    def among(self, entries: list[TreeEntry]) -> dict[TreeEntry, DiscoveredFile | SkippedFile]:
        """What is known of these entries. A text that is gone from the store is not known."""
        keys = {entry: _discovery_key(entry.path, entry.blob_id, self._limit, entry.taken) for entry in entries}
        known = self._memo.known(list(keys.values()))
        blobs = BlobStore(self._build.home.blobs)
        found: dict[TreeEntry, DiscoveredFile | SkippedFile] = {}
        for entry, key in keys.items():
            outcome = known.get(key, _Outcome())
            if outcome.skipped is not None:
                found[entry] = outcome.skipped
            elif outcome.indexed is not None and blobs.has(outcome.indexed.text_sha256):
                found[entry] = outcome.indexed
        self._keys = {entry.path: key for entry, key in keys.items() if entry not in found}
        if len(self._keys) >= WORTH_WORKERS:
            start_workers(self._build)
        return found

    def add(self, found: DiscoveredFile | SkippedFile) -> None:
        """Remembers what was found in an entry that was not known."""
        key = self._keys.get(found.path)
        if key is not None and is_lasting(found):
            outcome = _Outcome(indexed=found) if isinstance(found, DiscoveredFile) else _Outcome(skipped=found)
            self._memo.keep([(key, outcome)])


def _discovery_key(path: str, blob_id: str, max_line_length: int, taken: bool) -> bytes:
    return cache_key(STAGE, POLICY_FINGERPRINT, str(max_line_length), path, blob_id, *["taken"] * taken)


def _used_discoveries(directory: Path) -> Iterator[bytes]:
    limit = read_spec(directory).max_line_length
    for row in rows_of_files(directory, ["path", "blob_id"]):
        yield from (_discovery_key(row["path"], row["blob_id"], limit, taken) for taken in (False, True))


def rows_of_files(directory: Path, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Columns of all files of the generation in a folder, as far as they have been discovered. Raises TableDamaged."""
    for part in sorted(directory.glob(f"{STAGE}/part-*.parquet")):
        yield from read_file(part, columns).to_pylist()


_DISCOVERIES = ItemMemo(STAGE, _Outcome, _used_discoveries, batch=256)


def _written(build: IndexBuild, rows: list[list[dict[str, Any]]]) -> list[CachedBucket[None]]:
    """Each bucket: that of an earlier generation with equal rows, or a new one."""
    for bucket_rows in rows:
        bucket_rows.sort(key=lambda row: row["path"])
    keys = [_FILES.key(msgspec.json.encode(bucket_rows).decode()) for bucket_rows in rows]
    known = _FILES.cached(build, keys)
    for bucket in build.buckets:
        if bucket not in known:
            columns = {name: [row[name] for row in rows[bucket]] for name in DISCOVERED_FILES.names}
            write_part(build.directory, STAGE, bucket, DISCOVERED_FILES, columns)
            known[bucket] = _FILES.keep(build, bucket, keys[bucket], None)
    return [known[bucket] for bucket in build.buckets]


_FILES = BucketMemo(STAGE, type(None), (STAGE,))


def _content_of(rows: list[dict[str, Any]]) -> str:
    """What the files of a bucket are to later stages: path, language and text of the indexed ones."""
    indexed = (row for row in rows if row["outcome"] == "indexed")
    return cache_key(STAGE, *(row[name] for row in indexed for name in ("path", "language", "text_sha256"))).hex()


_EMPTY = {pa.string(): "", pa.int64(): 0, pa.bool_(): False}
_NOTHING_KNOWN: dict[str, Any] = {field.name: _EMPTY.get(field.type, []) for field in DISCOVERED_FILES}


def _row(file: DiscoveredFile | SkippedFile) -> dict[str, Any]:
    outcome = "indexed" if isinstance(file, DiscoveredFile) else "skipped"
    known: dict[str, Any] = msgspec.to_builtins(file)
    return _NOTHING_KNOWN | known | {"outcome": outcome}
