"""Stage `descriptions`: the kind of every segment, and the facts that its builders read from it."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import msgspec

from rag_assets.classification.classifier import Classifier
from rag_assets.contracts.description import SummaryFacts
from rag_assets.contracts.identity import document_uri
from rag_assets.contracts.kinds import SubtypeKind
from rag_assets.contracts.llm import StructuredTextLlmService
from rag_assets.contracts.segment import ParseHealth, Segment, SegmentedFile
from rag_assets.contracts.source_file import GitRepoInfo, IndexFileContext
from rag_assets.dependency_trace import (
    digest_of,
    encoded_questions,
    in_scope,
    replayed,
    trace,
)
from rag_assets.descriptions.kinds import default_registry
from rag_assets.descriptions.processor import (
    CSHARP,
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
from rag_assets.index.parquet_parts import read_part, write_part
from rag_assets.languages.detection import DETECTS_LANGUAGES
from rag_assets.models import open_llm
from rag_assets.pipeline.build import IndexBuild, StageReport
from rag_assets.pipeline.memo import (
    AnswerCache,
    BucketMemo,
    CachedBucket,
    ItemMemo,
    Lookups,
    bucket_inputs,
    recorded,
    stage_memo,
)
from rag_assets.pipeline.progress import Progress
from rag_assets.pipeline.schemas import DESCRIPTIONS
from rag_assets.pipeline.segments import (
    decoded_segments,
    encoded_segments,
    file_key,
    indexed_files,
    read_segments,
    used_file_keys,
)
from rag_assets.pipeline.symbol_tables import PerClearanceTables, walled_surveys
from rag_assets.pipeline.workers.file_guard import REFUSED_BEFORE, FileGuard, Refusal
from rag_assets.pipeline.workers.worker_pool import Broadcast, broadcast, part_sizes
from rag_assets.serialization import from_json

STAGE = "descriptions"
_SHOWN_PROBLEMS = 200


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
            described = 0 if part.reused else made.described
            work.update(described=described, from_cache=made.files - described)
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
    """What describing one bucket gave, and how many of its files had to be described. `kinds` and `csharp` count
    segments, each once however many builders it has."""

    files: int
    described: int
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
    with broadcast(build, Describer(build, surveys, configuration=_configuration(build, surveys))) as shared:
        parts = _BUCKETS.map(build, keys, _describe_recorded, shared, services=surveys.services, sizes=sizes)
        if refiner is None:
            yield from parts
            return
        plain = list(parts)  # a file may end the process that describes it: not this one
    describer = Describer(build, surveys, refiner)
    for bucket, part in enumerate(plain):
        made = _refined_bucket(build, bucket, describer, {file.path for file in part.refused})
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
    configuration: str = ""

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


def _describe_recorded(
    build: IndexBuild, bucket: int, guard: FileGuard, shared: Broadcast[Describer]
) -> tuple[_Bucket, Lookups]:
    """Describes the files of one bucket that are new, or about which the rest of the label now says something else;
    with all lookups in the rest of the label. Runs in a worker process."""
    describer, rows = shared.value, indexed_files(build, bucket)
    services, context_of = describer.surveys.services, context_maker(build)
    segments, lookups = encoded_segments(build, bucket), Lookups()
    inputs = [_digest(describer.configuration.encode(), *segments.get(row["path"], ())) for row in rows]

    def describe(number: int) -> DescribedFile | Refusal:
        context = context_of(rows[number])
        of_file = decoded_segments(segments.get(context.relative_path, ()))
        with trace(lookups) as asked:
            made = guarded(describer, guard, context, of_file)
            if isinstance(made, Refusal):
                return made
            found = _file_of(describer, made, of_file)
        lookups.update(asked)
        found.inputs, found.lookups, found.answers = inputs[number], encoded_questions(asked), digest_of(asked)
        return found

    def holds(number: int, known: DescribedFile) -> bool:
        if known.inputs != inputs[number]:
            return False
        now = replayed(services, known.lookups, lookups)
        if now is None or now[1] != known.answers:
            return False
        lookups.update(now[0])
        return True

    with _FILES.open(build.home, fresh=build.spec.fresh) as memo:
        found = list(memo.each([file_key(STAGE, row) for row in rows], describe, holds=holds))
    return _write_bucket(build, bucket, rows, [file for file, _ in found], sum(is_new for _, is_new in found)), lookups


def _digest(*parts: bytes) -> str:
    """Over JSON, which has no NUL."""
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def guarded(
    describer: Describer, guard: FileGuard, context: IndexFileContext, segments: Sequence[Segment]
) -> FileOutcome | Refusal:
    """One file, by a process that may die of it."""
    return guard.run(context.relative_path, context.source_sha256, partial(describer.describe, context, segments))


def _refined_bucket(build: IndexBuild, bucket: int, describer: Describer, refused: set[str]) -> _Bucket:
    """Describes files that were described before without a model."""
    rows, segments = indexed_files(build, bucket), read_segments(build, bucket)

    def describe(context: IndexFileContext) -> DescribedFile | Refusal:
        path = context.relative_path
        of_file = segments.get(path, [])
        return REFUSED_BEFORE if path in refused else _file_of(describer, describer.describe(context, of_file), of_file)

    with ThreadPoolExecutor(describer.threads, thread_name_prefix="describe") as pool:  # they wait for the model
        found = list(pool.map(describe, map(context_maker(build), rows)))
    return _write_bucket(build, bucket, rows, found, len(rows))


class DescribedFile(msgspec.Struct, array_like=True):
    """An entry of the cache: columns of the table for one file, and how often builders warned of what. `inputs` is a
    digest of its segments and of the configuration, `lookups` what was asked about the rest of the label, `answers` a
    digest of what was told."""

    columns: dict[str, list[Any]]
    warnings: dict[str, int]
    inputs: str = ""
    lookups: bytes = b""
    answers: str = ""


_FILES = ItemMemo("described_files", DescribedFile, partial(used_file_keys, STAGE), compressed=True)


def _file_of(describer: Describer, made: FileOutcome, segments: Sequence[Segment]) -> DescribedFile:
    with in_scope(describer.surveys.wall(made.path)):
        named = final_symbols(segments, made.path, describer.surveys.of(made.path).census)
    symbols = dict(zip([segment.ordinal for segment in segments], named, strict=True))
    rows = [_row(made.path, outcome, symbols[outcome.segment.ordinal]) for outcome in made.outcomes]
    warnings = Counter(message.code for outcome in made.outcomes for message in outcome.warnings)
    return DescribedFile({name: [row[name] for row in rows] for name in DESCRIPTIONS.names}, warnings)


def _write_bucket(
    build: IndexBuild,
    bucket: int,
    rows: Sequence[Mapping[str, Any]],
    found: Sequence[DescribedFile | Refusal],
    described: int,
) -> _Bucket:
    """Writes the part of a bucket, file by file."""
    columns: dict[str, list[Any]] = {name: [] for name in DESCRIPTIONS.names}
    kinds: Counter[str] = Counter()
    csharp: Counter[str] = Counter()
    warnings: Counter[str] = Counter()
    problems: list[str] = []
    for row, file in zip(rows, found, strict=True):
        if isinstance(file, Refusal):
            continue
        own = file.columns
        for name, values in own.items():
            columns[name] += values
        of_segments = dict(zip(own["ordinal"], own["kind"], strict=True)).values()
        kinds.update(of_segments)
        csharp.update(of_segments if row["language"] == CSHARP else ())
        warnings.update(file.warnings)
        problems += [
            f"{row['path']} {symbol}: {message}"
            for outcome, symbol, messages in zip(own["outcome"], own["symbol"], own["messages"], strict=True)
            if outcome == DescribeOutcome.FAILED
            for message in messages
        ]
    write_part(build.directory, STAGE, bucket, DESCRIPTIONS, columns)
    outcomes = Counter(columns["outcome"])
    return _Bucket(len(rows), described, outcomes, kinds, csharp, warnings, problems[:_SHOWN_PROBLEMS])


_BUCKETS = BucketMemo(STAGE, _Bucket, (STAGE,), files=True, after="segments")


def file_contexts(build: IndexBuild, bucket: int) -> dict[str, IndexFileContext]:
    """Path → all that later code may know of a file, in path order."""
    made = map(context_maker(build), indexed_files(build, bucket))
    return {context.relative_path: context for context in made}


def context_maker(build: IndexBuild) -> Callable[[Mapping[str, Any]], IndexFileContext]:
    """What makes the context of a row of the discovered files. Texts come from the blob store (A03)."""
    blobs = BlobStore(build.home.blobs)
    location = repository_of(build.home, build.settings, build.spec.index_label).location
    repository = build.repository

    def made(row: Mapping[str, Any]) -> IndexFileContext:
        text, git = blobs.get(row["text_sha256"]), _git_of(build, row)
        label, language = build.spec.index_label, row["language"]
        context = file_context(repository, label, git, row["path"], text, row["text_sha256"], language, location)
        return replace(context, blob_id=row["blob_id"])

    return made


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


@dataclass(frozen=True, slots=True)
class EncodedDescription:
    """A described segment as it is stored: its row in the part, its ordinal in the file, and what it is."""

    row: int
    ordinal: int
    type_name: str
    data: bytes


def encoded_descriptions(build: IndexBuild, bucket: int) -> dict[str, list[EncodedDescription]]:
    """Path → what of the file is described, in table order."""
    columns = ["path", "ordinal", "description_type", "description"]
    table = read_part(build.directory, STAGE, bucket, columns)
    found: dict[str, list[EncodedDescription]] = {}
    for number, (path, *stored) in enumerate(zip(*(column.to_pylist() for column in table.columns), strict=True)):
        if stored[1]:
            found.setdefault(path, []).append(EncodedDescription(number, *stored))
    return found


def description_decoder(build: IndexBuild, bucket: int) -> Callable[[EncodedDescription], SummaryFacts]:
    """What reads the descriptions of a bucket, as they are in this generation."""
    import_installed_builders()  # this process may not have described anything itself
    label, levels = build.spec.index_label, build.levels
    origins = {row["path"]: _git_of(build, row) for row in indexed_files(build, bucket)}

    def decoded(stored: EncodedDescription) -> SummaryFacts:
        found = from_json(stored.data, SummaryFacts.type_named(stored.type_name))
        level, uri = levels.of(found.path).value, document_uri(label, found.path)
        return found.enter_generation(origins[found.path], label, uri, level)

    return decoded


def read_descriptions(build: IndexBuild, bucket: int) -> Iterator[tuple[int, int, SummaryFacts]]:
    """(row, segment ordinal, description) of every described segment of a bucket, in table order."""
    decoded = description_decoder(build, bucket)
    for of_file in encoded_descriptions(build, bucket).values():
        for stored in of_file:
            yield stored.row, stored.ordinal, decoded(stored)
