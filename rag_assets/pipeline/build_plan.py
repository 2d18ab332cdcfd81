"""`rag-assets plan`: what indexing a commit would do and cost, found out without asking a model or touching the label.

Discovery to sections run in a scratch folder, which is local and free, and what they make is kept in the caches: the
build that follows finds it there. What would be embedded, and asked of a language model, is only counted. The tables
are compared with those of the served generation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from rag_assets.contracts.llm import LlmUsage
from rag_assets.descriptions.refinement import DETAILS_CHARS, SUMMARY_CHARS
from rag_assets.index.gc import generation_directories
from rag_assets.index.generations import Generation, GenerationError, active_generation, read_generation
from rag_assets.index.layout import IndexHome
from rag_assets.index.locks import scratch_folder
from rag_assets.index.parquet_parts import read_part, read_rows
from rag_assets.index.promotion import GenerationStatus, standing_of
from rag_assets.models import embedding_window, known_dimension, model_id, told_dimension
from rag_assets.models.openai_compat.dry_run import WOULD_ASK, dry_run_llm
from rag_assets.pipeline.bm25_artifacts import build_keyword_weights
from rag_assets.pipeline.build import BuildError, IndexBuild, StageReport, read_report, read_spec
from rag_assets.pipeline.descriptions import describe_files
from rag_assets.pipeline.discovered_files import discover_in, open_repository, planned_generation
from rag_assets.pipeline.embeddings import (
    BUCKETS,
    STAGE,
    VECTORS,
    EmbeddedBucket,
    embedding_key,
    embedding_part_keys,
    write_vectors,
)
from rag_assets.pipeline.memo import AnswerCache, CachedBucket, Items, recorded
from rag_assets.pipeline.progress import Progress
from rag_assets.pipeline.qdrant_points import base_of, point_parts
from rag_assets.pipeline.segments import segment_files
from rag_assets.pipeline.summary_sections import build_sections
from rag_assets.settings import RepositorySettings, Settings
from rag_assets.sources.git.git_diff import Rename, TreeDiff, changes_of
from rag_assets.sources.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class PlanTables:
    """The tables of a generation, or of a plan."""

    directory: Path
    buckets: int

    @classmethod
    def of(cls, generation: Generation) -> PlanTables:
        return cls(generation.directory, generation.manifest.bucket_count)


@dataclass(frozen=True, slots=True)
class PlannedPoints:
    """By semantic id against the generation that is served; `changed` have another text. `upserted` is what the store
    is sent: also what only moved in its file, weighs differently, or goes into a new embedding space."""

    total: int = 0
    added: int = 0
    changed: int = 0
    deleted: int = 0
    upserted: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedFiles:
    """Indexed files against the generation that is served. `skipped` counts all that are left out, `newly_skipped`
    those that were not left out for that reason before, by reason. `read` is what no earlier build has read."""

    total: int = 0
    skipped: int = 0
    newly_skipped: dict[str, int] = field(default_factory=dict)
    read: int = 0
    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    renamed: tuple[Rename, ...] = ()
    deleted: tuple[str, ...] = ()


def compare_points(new: PlanTables, old: PlanTables | None, *, same_store: bool) -> PlannedPoints:
    """`same_store`: what is stored of `old` is what the new points are compared with, digest by digest."""
    before: dict[str, tuple[str, str]] = {}
    if old is not None:
        before = {known: (content, digest) for known, content, digest in _points(old)}
    counts: Counter[str] = Counter()
    for known, content, digest in _points(new):
        was = before.pop(known, None)
        counts["total"] += 1
        counts["added"] += was is None
        counts["changed"] += was is not None and was[0] != content
        counts["upserted"] += not same_store or was is None or was[1] != digest
    return PlannedPoints(**counts, deleted=len(before))


def compare_files(new: PlanTables, old: PlanTables | None, git: TreeDiff | None, read: int) -> PlannedFiles:
    """`git` is what differs between the commits, where git can say: it knows renames with edits."""
    indexed, skipped = _files(new)
    was_indexed, was_skipped = _files(old) if old is not None else ({}, {})
    found = changes_of(was_indexed, indexed, git)
    newly = Counter(reason for path, reason in skipped.items() if was_skipped.get(path) != reason)
    return PlannedFiles(
        total=len(indexed),
        skipped=len(skipped),
        newly_skipped=dict(newly.most_common()),
        read=read,
        added=found.added,
        changed=found.modified,
        renamed=found.renamed,
        deleted=found.deleted,
    )


def _points(tables: PlanTables) -> Iterator[tuple[str, str, str]]:
    """(semantic id, content hash, digest) of every point."""
    columns = ["semantic_id", "text_hash", "digest"]
    for bucket in range(tables.buckets):
        part = read_part(tables.directory, "qdrant_points", bucket, columns)
        yield from zip(*(part.column(name).to_pylist() for name in columns), strict=True)


def _files(tables: PlanTables) -> tuple[dict[str, str], dict[str, str]]:
    """Path → blob id of the indexed files, path → reason of the others."""
    indexed, skipped = dict[str, str](), dict[str, str]()
    columns = ["path", "outcome", "reason", "blob_id"]
    for bucket in range(tables.buckets):
        part = read_part(tables.directory, "discovered_files", bucket, columns)
        for path, outcome, reason, blob_id in zip(*(part.column(name).to_pylist() for name in columns), strict=True):
            if outcome == "indexed":
                indexed[path] = blob_id
            else:
                skipped[path] = reason
    return indexed, skipped


_FEWEST_TEXTS = 20
"""Of fewer the rate says more about the first request, or the busy machine, than about the model."""


@dataclass(frozen=True, slots=True)
class PlannedTexts:
    """How many different texts have no vector yet, and their tokens as the model of the settings counts them;
    `incomplete` are the buckets that have such texts."""

    texts: int
    tokens: int
    incomplete: frozenset[int]


def plan_texts(build: IndexBuild, dimension: int | None, *, for_points: bool) -> PlannedTexts:
    """The texts of all sections whose vectors neither a part nor the cache has, as `embed_sections` would find.

    Texts that a language model would be asked about count too: what it says is not known, and so not embedded.
    `dimension` is None where only a server knows it. `for_points` leaves a part of vectors for each bucket, with one
    that no text has where it is not known, so that points can be compared; parts without gaps are kept for the build.
    """
    model = build.spec.embedding_model
    count = embedding_window(build.settings.embedder, build.home.cache).count
    unsettled = [_unsettled(build, bucket) for bucket in build.buckets]
    keys: list[str | None] = [None] * len(build.buckets)
    if dimension is not None:
        keys = list(embedding_part_keys(build, model, dimension))
    parts = BUCKETS.cached(build, [None if unsettled[at] else key for at, key in enumerate(keys)])
    counted: set[bytes] = set()
    incomplete: set[int] = set()
    tokens = 0
    with VECTORS.open(build.home) as memo:
        for bucket in build.buckets:
            if bucket in parts:
                continue
            texts = _texts(build, bucket, memo, dimension, unsettled[bucket])
            new = {text.key: text.text for text in texts if text.vector is None and text.key not in counted}
            tokens += sum(count(list(new.values())))
            counted |= new.keys()
            if any(text.vector is None for text in texts):
                incomplete.add(bucket)
            if for_points:
                parts[bucket] = _part(build, bucket, texts, dimension, keys[bucket])
    if for_points:
        in_order = [parts[bucket] for bucket in build.buckets]
        build.finish(StageReport(**recorded(STAGE, in_order)))
    return PlannedTexts(len(counted), tokens, frozenset(incomplete))


@dataclass(frozen=True, slots=True)
class _Text:
    """The text of a section and the vector that the cache has of it."""

    key: bytes
    text: str
    vector: bytes | None


def _texts(
    build: IndexBuild, bucket: int, memo: Items[bytes], dimension: int | None, unsettled: frozenset[int]
) -> list[_Text]:
    sections = read_part(build.directory, "summary_sections", bucket, ["finder_snippet", "description_row"])
    texts, rows = (sections.column(name).to_pylist() for name in ("finder_snippet", "description_row"))
    keys = [embedding_key(build.spec.embedding_model, text) for text in texts]
    found = _of_dimension(memo.known(list(dict.fromkeys(keys))), dimension)
    return [
        _Text(key, text, None if row in unsettled else found.get(key))
        for key, text, row in zip(keys, texts, rows, strict=True)
    ]


def _part(
    build: IndexBuild, bucket: int, texts: list[_Text], dimension: int | None, key: str | None
) -> CachedBucket[EmbeddedBucket]:
    """Writes the vectors of a bucket; kept where all are known. Without a dimension all are gaps."""
    vectors = np.zeros((len(texts), dimension or 1), np.float32)
    vectors[:, 0] = 1.0  # of unit length, as a point needs it
    for row, text in enumerate(texts):
        if text.vector is not None and dimension is not None:
            vectors[row] = np.frombuffer(text.vector, np.float32)
    write_vectors(build, bucket, vectors)
    made = EmbeddedBucket(len(texts), 0)
    if key is None or any(text.vector is None for text in texts):
        return BUCKETS.unkept(build, bucket, made)
    return BUCKETS.keep(build, bucket, key, made)


def _unsettled(build: IndexBuild, bucket: int) -> frozenset[int]:
    """The rows of descriptions that an answer of a language model may change."""
    if build.settings.llm.provider == "none":
        return frozenset()
    rows = read_rows(build.directory, "descriptions", bucket, ["messages"])
    return frozenset(
        number for number, row in enumerate(rows) if any(text.startswith(f"{WOULD_ASK}:") for text in row["messages"])
    )


def _of_dimension(found: dict[bytes, bytes], dimension: int | None) -> dict[bytes, bytes]:
    """Vectors of another dimension of the same model are no use."""
    return {key: value for key, value in found.items() if dimension is None or len(value) == dimension * 4}


def texts_per_second(home: IndexHome, model: str) -> float | None:
    """How fast the last build of any label embedded with `model`; None where none is known."""
    latest: tuple[float, float] | None = None
    for directory in generation_directories(home):
        try:
            spec, report = read_spec(directory), read_report(directory, STAGE)
            at = (directory / "stages" / f"{STAGE}.json").stat().st_mtime
        except (FileNotFoundError, BuildError):
            continue
        work = report.work if report is not None else {}
        embedded, milliseconds = work.get("embedded", 0), work.get("milliseconds", 0)
        if spec.embedding_model == model and embedded >= _FEWEST_TEXTS and milliseconds > 0:
            latest = max(latest or (at, 0.0), (at, embedded / milliseconds * 1_000))
    return latest[1] if latest else None


_PRICED_TOKENS = 1_000_000  # prices are per million tokens, as providers list them

ANSWER_TOKENS = (SUMMARY_CHARS + DETAILS_CHARS) // 4
"""Of the longest wanted answer in English: most are shorter, so the price of a plan is rather too high."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildPlan:
    """What indexing would do. `parsed`, `described` and `sections_built` are what this plan had to make, so that the
    build has not; all else is what the build will do.

    `embedding_seconds` is at the rate of the last build with the same model, None where none is known. Costs are in the
    currency of the configured prices, None without them. `llm` is what a language model would be asked, None without
    one; its answers' tokens are estimated from above. `new_space`: another embedding model or dimension than what is
    served, so every vector is another one.
    """

    label: str
    ref: str
    commit: str
    generation: str
    standing: GenerationStatus
    lost: tuple[str, ...] = ()
    base_generation: str = ""
    base_commit: str = ""
    embedding_model: str = ""
    new_space: bool = False
    files: PlannedFiles = field(default_factory=PlannedFiles)
    parsed: int = 0
    described: int = 0
    sections: int = 0
    sections_built: int = 0
    texts_to_embed: int = 0
    tokens_to_embed: int = 0
    embedding_seconds: float | None = None
    embedding_cost: float | None = None
    llm: LlmUsage | None = None
    points: PlannedPoints = field(default_factory=PlannedPoints)

    @property
    def nothing_to_do(self) -> bool:
        return self.standing in (GenerationStatus.UP_TO_DATE, GenerationStatus.SET_ASIDE)

    @property
    def cost(self) -> float | None:
        """Of embedding and language model together."""
        known = [cost for cost in (self.embedding_cost, self.llm.cost if self.llm else None) if cost is not None]
        return sum(known) if known else None


def plan_build(
    home: IndexHome,
    settings: Settings,
    label: str,
    repository: RepositorySettings,
    progress: Progress,
    *,
    commit: str | None = None,
) -> BuildPlan:
    """Plans to index `commit`, default the head of the label's ref. Takes no lock of the label.

    Raises the errors of `rag_assets.sources`, ModelError where the tokenizer is missing, HomeBusy.
    """
    with open_repository(home, settings, repository, commit) as snapshot:
        planned = planned_generation(home, settings, label, repository, snapshot)
        standing, lost = standing_of(home, label, planned)
        if standing is GenerationStatus.DAMAGED:
            planned = planned_generation(home, settings, label, repository, snapshot, force=True)
        plan = _Planning(home, settings, label, repository, snapshot, planned, standing, tuple(lost))
        if standing in (GenerationStatus.UP_TO_DATE, GenerationStatus.SET_ASIDE):
            return plan.nothing()
        if standing is GenerationStatus.FINISHED:
            return plan.served_again()
        with scratch_folder(home) as folder:
            return plan.built(folder, progress)


class _Planning:
    """One plan while it is made."""

    def __init__(
        self,
        home: IndexHome,
        settings: Settings,
        label: str,
        repository: RepositorySettings,
        snapshot: Snapshot,
        planned: str,
        standing: GenerationStatus,
        lost: tuple[str, ...],
    ) -> None:
        self._home = home
        self._label = label
        self._repository = repository.model_copy(update={"ref": repository.ref or snapshot.ref})
        # The label may not be registered; and one prompt after the other makes the budget fall on the same ones.
        llm = settings.llm.model_copy(update={"max_concurrency": 1})
        self._settings = settings.model_copy(update={"repositories": (self._repository,), "llm": llm})
        self._snapshot = snapshot
        self._base = _served(home, label)
        self._about = BuildPlan(
            label=label,
            ref=self._repository.ref or "",
            commit=snapshot.info.commit_sha,
            generation=planned,
            standing=standing,
            lost=lost,
            base_generation=self._base.manifest.generation_id if self._base else "",
            base_commit=self._base.manifest.commit_sha if self._base else "",
            embedding_model=model_id(settings.embedder),
        )

    def nothing(self) -> BuildPlan:
        return self._about

    def served_again(self) -> BuildPlan:
        """The generation is there: nothing is computed, but what is served changes."""
        made = read_generation(self._home, self._label, self._about.generation)
        old, new = self._old, PlanTables.of(made)
        points = compare_points(new, old, same_store=True)
        return replace(
            self._about,
            files=compare_files(new, old, self._git(), read=0),
            sections=made.manifest.counts["sections"],
            points=replace(points, upserted=0),
            new_space=self._is_new_space(made.manifest.dimension),
        )

    def built(self, folder: Path, progress: Progress) -> BuildPlan:
        build, discovered = discover_in(
            folder, self._home, self._settings, self._label, self._repository, self._snapshot, progress
        )
        segments = segment_files(build, progress)
        described, asked = self._described(build, progress)
        sections = build_sections(build, progress)
        dimension = self._dimension()
        texts = plan_texts(build, dimension, for_points=self._base is not None)
        rate = texts_per_second(self._home, build.spec.embedding_model) if texts.texts else None
        embedder = self._settings.embedder
        priced = embedder.provider == "openai-compatible" and embedder.price is not None
        new = PlanTables(build.directory, len(build.buckets))
        return replace(
            self._about,
            new_space=self._is_new_space(dimension),
            files=compare_files(new, self._old, self._git(), read=int(discovered.work["read"])),
            parsed=int(segments.work["parsed"]),
            described=int(described.work["described"]),
            sections=sections.counts["sections"],
            sections_built=int(sections.work["built"]),
            texts_to_embed=texts.texts,
            tokens_to_embed=texts.tokens,
            embedding_seconds=texts.texts / rate if rate else None,
            embedding_cost=texts.tokens * (embedder.price or 0.0) / _PRICED_TOKENS if priced else None,
            llm=asked,
            points=self._points(build, new, dimension, texts.incomplete, progress),
        )

    def _described(self, build: IndexBuild, progress: Progress) -> tuple[StageReport, LlmUsage | None]:
        if self._settings.llm.provider == "none":
            return describe_files(build, progress), None
        with dry_run_llm(self._settings.llm, AnswerCache(self._home.cache), ANSWER_TOKENS) as service:
            return describe_files(build, progress, service), service.usage()

    def _points(
        self, build: IndexBuild, new: PlanTables, dimension: int | None, incomplete: frozenset[int], progress: Progress
    ) -> PlannedPoints:
        if self._base is None:  # all are new; which of them validation refuses shows in the build
            sections = build.required("summary_sections").counts["sections"]
            return PlannedPoints(total=sections, added=sections, upserted=sections)
        build_keyword_weights(build, progress)
        passing = incomplete if dimension is not None else frozenset(build.buckets)
        for _ in point_parts(build, passing):
            pass
        told = None if dimension is None else told_dimension(build.spec.embedding_model, dimension)
        same_store = told is not None and base_of(build, told) is not None
        return compare_points(new, self._old, same_store=same_store)

    def _dimension(self) -> int | None:
        """That of the settings, else of what is served with the same model: nobody is asked."""
        known = known_dimension(self._settings.embedder)
        if known is None and self._base and self._base.manifest.embedding_model == self._about.embedding_model:
            return self._base.manifest.dimension
        return known

    def _is_new_space(self, dimension: int | None) -> bool:
        if self._base is None:
            return False
        served = self._base.manifest
        model = self._about.embedding_model
        asked = None if dimension is None else told_dimension(model, dimension)
        return (served.embedding_model, served.dimension) != (model, asked)

    def _git(self) -> TreeDiff | None:
        return self._snapshot.changes_since(self._base.manifest.commit_sha) if self._base else None

    @property
    def _old(self) -> PlanTables | None:
        return PlanTables.of(self._base) if self._base else None


def _served(home: IndexHome, label: str) -> Generation | None:
    try:
        return active_generation(home, label)
    except GenerationError:
        return None
