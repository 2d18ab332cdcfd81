"""Stage `descriptions`: the kind of every segment, and the facts that its builders read from it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, TypeVar

import msgspec

from rag_assets.classification.classifier import Classifier
from rag_assets.contracts.description import SummaryFacts
from rag_assets.contracts.identity import document_uri
from rag_assets.contracts.kinds import SubtypeKind
from rag_assets.contracts.llm import StructuredTextLlmService
from rag_assets.contracts.segment import ParseHealth, Segment, SegmentedFile
from rag_assets.contracts.source_file import GitRepoInfo, IndexFileContext
from rag_assets.dependency_trace import in_scope, trace
from rag_assets.descriptions.kinds import default_registry
from rag_assets.descriptions.processor import (
    DescribeOutcome,
    FileOutcome,
    SegmentOutcome,
    SourceFileProcessor,
    file_context,
    final_symbols,
)
from rag_assets.descriptions.refinement import DescriptionRefiner
from rag_assets.descriptions.registry import import_installed_builders
from rag_assets.graph.csr_graph import by_count
from rag_assets.index.blobs import BlobStore
from rag_assets.index.labels import repository_of
from rag_assets.index.parquet_parts import read_rows, write_part
from rag_assets.languages.detection import DETECTS_LANGUAGES
from rag_assets.models import open_llm
from rag_assets.pipeline.build import IndexBuild, StageReport
from rag_assets.pipeline.memo import (
    AnswerCache,
    BucketMemo,
    CachedBucket,
    Lookups,
    bucket_inputs,
    recorded,
    stage_memo,
)
from rag_assets.pipeline.progress import Progress
from rag_assets.pipeline.schemas import DESCRIPTIONS
from rag_assets.pipeline.segments import indexed_files, read_segments
from rag_assets.pipeline.symbol_tables import PerClearanceTables, walled_surveys
from rag_assets.pipeline.workers.file_guard import REFUSED_BEFORE, FileGuard, Refusal
from rag_assets.pipeline.workers.worker_pool import Broadcast, broadcast, part_sizes
from rag_assets.serialization import from_json

STAGE = "descriptions"
_SHOWN_PROBLEMS = 200

T = TypeVar("T")
R = TypeVar("R")


@stage_memo(STAGE, "segments")
def describe_files(
    build: IndexBuild, progress: Progress, service: StructuredTextLlmService | None = None
) -> StageReport:
    """Classifies and describes every segment. A builder's failure is a row with its reason, not an exception.

    `service` stands in for the language model of the settings.
    """
    progress.begin(STAGE, build.required("discovered_files").counts["indexed"], "files")
    surveys = walled_surveys(build)
    survey, keys = surveys.whole, _keys(build, surveys)
    outcomes: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    csharp: Counter[str] = Counter()
    warnings: Counter[str] = Counter()
    work: Counter[str] = Counter(described=0, from_cache=0)
    problems = survey.problems
    parts: list[CachedBucket[_Bucket]] = []
    open_answers = partial(AnswerCache, build.home.cache)
    model = open_llm(build.settings.llm, open_answers) if service is None else nullcontext(service)
    with model as llm:
        refiner = DescriptionRefiner(llm, build.settings.llm.refine) if llm.enabled else None
        for part in _described(build, surveys, keys, refiner):
            made = part.result
            outcomes.update(made.outcomes)
            kinds.update(made.kinds)
            csharp.update(made.csharp)
            warnings.update(made.warnings)
            work["from_cache" if part.reused else "described"] += made.files
            problems += made.problems
            parts.append(part)
            progress.advance(made.files)
        spent = llm.usage().numbers() if llm.enabled else {}
    progress.end(f"{outcomes['described']} descriptions; {work['described']} files described")
    report = StageReport(
        **recorded(STAGE, parts, first=surveys.steps, traces=keys),
        counts={
            "descriptions": outcomes["described"],
            "not_applicable": outcomes["not-applicable"],
            "no_builder": outcomes["no-builder"],
            "failed": outcomes["failed"],
            "kind_other": kinds[SubtypeKind.OTHER.value],
            "csharp_segments": csharp.total(),
            "csharp_kind_other": csharp[SubtypeKind.OTHER.value],
            "symbols_with_several_parts": len(survey.census.repeated()),
            "partial_types": len(survey.partial_types),
            "warnings": warnings.total(),
        },
        work={**work, **spent},
        tables={
            "kinds": [{"kind": kind, "segments": count} for kind, count in by_count(kinds)],
            "warnings by rule": [{"rule": rule, "warnings": count} for rule, count in sorted(warnings.items())],
        },
        problems=problems[:_SHOWN_PROBLEMS],
    )
    if spent and refiner is not None:
        report.tables["refinement"] = [{"outcome": name, "symbols": n} for name, n in refiner.counts().items()]
    return report


@dataclass(frozen=True, slots=True)
class _Bucket:
    """What describing one bucket gave. `kinds` and `csharp` count segments, each once however many builders it has."""

    files: int
    outcomes: dict[str, int]
    kinds: dict[str, int]
    csharp: dict[str, int]
    warnings: dict[str, int]
    problems: list[str]


def _described(
    build: IndexBuild, surveys: PerClearanceTables, keys: list[str], refiner: DescriptionRefiner | None
) -> Iterator[CachedBucket[_Bucket]]:
    """The buckets in order. With a model in this process, which keeps its limits, and which is what is waited for; what
    is left over for a later build to ask must not be kept as finished."""
    sizes = part_sizes(build, "segments")
    with broadcast(build, Describer(build, surveys)) as shared:
        parts = _BUCKETS.map(build, keys, _describe_recorded, shared, services=surveys.services, sizes=sizes)
        if refiner is None:
            yield from parts
            return
        plain = list(parts)  # a file may end the process that describes it: not this one
    describer = Describer(build, surveys, refiner)
    for bucket, part in enumerate(plain):
        made = _describe_bucket(build, bucket, describer, partial(_refined, describer, {f.path for f in part.refused}))
        yield _BUCKETS.unkept(build, bucket, made, part.refused)


def _keys(build: IndexBuild, surveys: PerClearanceTables) -> list[str]:
    """By bucket, of everything but what a description asks about the rest of the label."""
    configuration = _configuration(build, surveys)
    return [_BUCKETS.key(*made, configuration) for made in bucket_inputs(build, "discovered_files", "segments")]


def _configuration(build: IndexBuild, surveys: PerClearanceTables) -> str:
    """What of the configuration descriptions read, and whose they are. Levels count where they are walls: another level
    of a file lets its description tell of others."""
    repository = build.repository
    walls = {"levels": [repository.confidentiality, repository.confidential_paths]} if surveys.behind else {}
    parts = {
        "repository": repository.model_dump(
            mode="json", include={"id", "org", "org_namespace", "project", "domains", "kinds", "metadata"}
        ),
        "url": build.spec.git.remote_url,
        "rules": Classifier(repository.rule_packs, repository.kinds).fingerprint,
        "builders": default_registry().fingerprint,
        "languages": DETECTS_LANGUAGES,
        **walls,
    }
    return json.dumps(parts, sort_keys=True)


@dataclass(frozen=True)
class Describer:
    """What describing a bucket needs of the whole label; processors are made where they are used, once per process."""

    build: IndexBuild
    surveys: PerClearanceTables
    refiner: DescriptionRefiner | None = None

    def describe(self, context: IndexFileContext, segments: Sequence[Segment]) -> FileOutcome:
        """One file, with what may be told of others in it."""
        path = context.relative_path
        wall = self.surveys.wall(path)
        if wall not in self._processors:
            self._processors[wall] = self.surveys.of(path).processor(self.build.repository, self.refiner)
        with in_scope(wall):
            return self._processors[wall].describe_file(context, SegmentedFile(tuple(segments), ParseHealth.OK))

    @cached_property
    def _processors(self) -> dict[str, SourceFileProcessor]:
        return {}

    @property
    def threads(self) -> int:
        """More than one only to wait for a model."""
        return 1 if self.refiner is None else self.build.settings.llm.max_concurrency


Describe = Callable[[IndexFileContext, Sequence[Segment]], FileOutcome | Refusal]


def _describe_recorded(
    build: IndexBuild, bucket: int, guard: FileGuard, shared: Broadcast[Describer]
) -> tuple[_Bucket, Lookups]:
    """Describes one bucket, with its lookups in the rest of the label. Runs in a worker process."""
    describer = shared.value
    with trace() as lookups:
        return _describe_bucket(build, bucket, describer, partial(guarded, describer, guard)), lookups


def guarded(
    describer: Describer, guard: FileGuard, context: IndexFileContext, segments: Sequence[Segment]
) -> FileOutcome | Refusal:
    """One file, by a process that may die of it."""
    return guard.run(context.relative_path, context.source_sha256, partial(describer.describe, context, segments))


def _refined(
    describer: Describer, refused: set[str], context: IndexFileContext, segments: Sequence[Segment]
) -> FileOutcome | Refusal:
    """One file that was described before without a model."""
    return REFUSED_BEFORE if context.relative_path in refused else describer.describe(context, segments)


def _describe_bucket(build: IndexBuild, bucket: int, describer: Describer, describe: Describe) -> _Bucket:
    """Describes the files of one bucket and writes its part."""
    segments = read_segments(build, bucket)
    everything: list[SegmentOutcome] = []
    kinds: Counter[str] = Counter()
    csharp: Counter[str] = Counter()
    rows: list[dict[str, Any]] = []
    problems: list[str] = []
    contexts = file_contexts(build, bucket)

    def described_file(context: IndexFileContext) -> FileOutcome | Refusal:
        return describe(context, segments.get(context.relative_path, []))

    for path, made in zip(contexts, _each(described_file, contexts.values(), describer.threads), strict=True):
        context, found = contexts[path], segments.get(path, [])
        described = () if isinstance(made, Refusal) else made.outcomes
        with in_scope(describer.surveys.wall(path)):
            named = final_symbols(found, path, describer.surveys.of(path).census)
        symbols = dict(zip([segment.ordinal for segment in found], named, strict=True))
        kinds_of = {outcome.segment.ordinal: str(outcome.classification.kind) for outcome in described}
        kinds.update(kinds_of.values())
        if context.language_hint == "csharp":
            csharp.update(kinds_of.values())
        rows += [_row(path, outcome, symbols[outcome.segment.ordinal]) for outcome in described]
        problems += [
            f"{path} {outcome.segment.symbol}: {message}"
            for outcome in described
            if outcome.outcome is DescribeOutcome.FAILED
            for message in outcome.messages
        ]
        everything += described
    columns = {name: [row[name] for row in rows] for name in DESCRIPTIONS.names}
    write_part(build.directory, STAGE, bucket, DESCRIPTIONS, columns)
    return _Bucket(
        files=len(contexts),
        outcomes=Counter(outcome.outcome.value for outcome in everything),
        kinds=kinds,
        csharp=csharp,
        warnings=Counter(message.code for outcome in everything for message in outcome.warnings),
        problems=problems[:_SHOWN_PROBLEMS],
    )


_BUCKETS = BucketMemo(STAGE, _Bucket, (STAGE,), files=True, after="segments")


def _each(work: Callable[[T], R], items: Iterable[T], threads: int) -> Iterator[R]:
    """`work` of each item, in order; in several threads where it waits for a model."""
    if threads == 1:
        yield from map(work, items)
        return
    with ThreadPoolExecutor(threads, thread_name_prefix="describe") as pool:
        yield from pool.map(work, items)


def file_contexts(build: IndexBuild, bucket: int) -> dict[str, IndexFileContext]:
    """Path → all that later code may know of a file, in path order. Texts come from the blob store (A03)."""
    blobs = BlobStore(build.home.blobs)
    location = repository_of(build.home, build.settings, build.spec.index_label).location
    repository = build.repository
    found: dict[str, IndexFileContext] = {}
    for row in indexed_files(build, bucket):
        text = blobs.get(row["text_sha256"])
        made = file_context(
            repository,
            build.spec.index_label,
            _git_of(build, row),
            row["path"],
            text,
            row["text_sha256"],
            row["language"],
            location,
        )
        found[row["path"]] = replace(made, blob_id=row["blob_id"])
    return found


def _git_of(build: IndexBuild, row: Mapping[str, Any]) -> GitRepoInfo:
    """Of a row of the discovered files."""
    return replace(build.spec.git, commit_sha=row["commit_sha"], commit_date=row["commit_date"], is_dated=row["dated"])


def _row(path: str, outcome: SegmentOutcome, symbol: str) -> dict[str, Any]:
    description = outcome.description
    if description is not None:
        description.symbol = symbol
        description.leave_generation()
    return {
        "path": path,
        "ordinal": outcome.segment.ordinal,
        "symbol": symbol,
        "kind": str(outcome.classification.kind),
        "reason": outcome.classification.reason,
        "evidence": list(outcome.classification.evidence),
        "rule": outcome.classification.rule,
        "pack": outcome.classification.pack,
        "outcome": outcome.outcome.value,
        "messages": [str(message) for message in outcome.messages],
        "builder": outcome.builder,
        "description_type": type(description).__name__ if description is not None else "",
        "description": msgspec.json.encode(description) if description is not None else b"",
    }


def read_descriptions(build: IndexBuild, bucket: int) -> Iterator[tuple[int, int, SummaryFacts]]:
    """(row, segment ordinal, description) of every described segment of a bucket, in table order."""
    import_installed_builders()  # this process may not have described anything itself
    label = build.spec.index_label
    origins = {row["path"]: _git_of(build, row) for row in indexed_files(build, bucket)}
    levels = build.levels
    rows = read_rows(build.directory, STAGE, bucket, ["ordinal", "description_type", "description"])
    for number, row in enumerate(rows):
        if row["description_type"]:
            kind = SummaryFacts.type_named(row["description_type"])
            found = from_json(row["description"], kind)
            level = levels.of(found.path).value
            yield (
                number,
                row["ordinal"],
                found.enter_generation(origins[found.path], label, document_uri(label, found.path), level),
            )
