"""What a description must know of the whole label, gathered from the segments of all files before the first one.

It is gathered bucket by bucket, in worker processes, and what a bucket adds is kept like every other part.

Where files of a label have several levels of confidentiality, each level has a survey of its own, of the files that
all may see who may see the level (E12): no description tells of other parts, users or implementers behind a wall.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial

import msgspec

from rag_assets.contracts.confidentiality import Confidentiality, may_see
from rag_assets.contracts.segment import Segment
from rag_assets.contracts.source_file import SkipReason
from rag_assets.dependency_trace import ScopedServices
from rag_assets.descriptions.domain_catalog import DomainCollector, DomainFacts
from rag_assets.descriptions.processor import (
    CSHARP,
    RESOURCES,
    USING_RESOURCES,
    GatheredFiles,
    LabelSymbolTable,
    SymbolCounter,
    is_project_file,
    put_together,
    resource_dictionary,
    surveyed_file,
)
from rag_assets.index.blobs import BlobStore
from rag_assets.index.parquet_parts import read_rows
from rag_assets.index.vectors.filters import PathClearance
from rag_assets.languages.csharp.ef.stored_entities import StoreClaim
from rag_assets.languages.csharp.facts.partial_types import may_have_parts
from rag_assets.languages.csharp.facts.type_index import IndexedType
from rag_assets.languages.csharp.resource_usages import ResourceUse, UsageScanner
from rag_assets.languages.csharp.web.controller_actions import route_constants
from rag_assets.languages.documents.resx import StaticResourceDictionary
from rag_assets.pipeline.build import IndexBuild
from rag_assets.pipeline.memo import BucketMemo, CachedBucket, FirstSteps, bucket_inputs
from rag_assets.pipeline.segments import indexed_files, read_segments
from rag_assets.pipeline.workers.file_guard import FileGuard, Refusal
from rag_assets.pipeline.workers.worker_pool import Broadcast, broadcast

SURVEY_VERSION = "6"
"""Raise it when the survey finds something else in the same segments."""


@dataclass(frozen=True, slots=True)
class SurveyedBucket:
    """What the files of one bucket add to the survey of their label."""

    by_level: list[tuple[Confidentiality, list[tuple[str, str, int]], DomainFacts]]  # symbols: (kind, symbol, places)
    declared: list[IndexedType]
    partial_types: list[tuple[str, str, Segment]]  # (path, sha256 of its text, segment)
    resources: list[tuple[str, list[Segment]]]  # (path of a resource file, its segments)
    stored: list[tuple[str, list[StoreClaim]]]  # by path
    route_constants: list[tuple[str, list[tuple[str, str]]]]  # by path: names and values


@dataclass(frozen=True, slots=True)
class UsedResources:
    """Where the files of one bucket use the texts of resource files."""

    usages: list[ResourceUse]


_SURVEYED = BucketMemo("survey", SurveyedBucket, version=SURVEY_VERSION, files=True, after="segments")
_USAGES = BucketMemo("resource_usages", UsedResources, version=SURVEY_VERSION, files=True, after="segments")


@dataclass(frozen=True, slots=True)
class PerClearanceTables:
    """The survey of a label, and where its files have several levels one for each: `behind` is empty without walls."""

    whole: LabelSymbolTable
    levels: PathClearance
    behind: Mapping[Confidentiality, LabelSymbolTable]
    steps: FirstSteps = field(default_factory=FirstSteps)  # what they were put together from

    def wall(self, path: str) -> str:
        """The name of what a file lies behind, '' without walls (`dependency_trace.in_scope`)."""
        return self.levels.of(path).value if self.behind else ""

    def of(self, path: str) -> LabelSymbolTable:
        """What may be told in the description of a file."""
        return self.behind[self.levels.of(path)] if self.behind else self.whole

    def seen_by(self, level: Confidentiality) -> LabelSymbolTable:
        """What the readers of a level of this label may be told."""
        return self.behind.get(level, self.whole)

    @property
    def services(self) -> tuple[object, ...]:
        """Everything that answers questions about the label (`dependency_trace`)."""
        return (
            *self.whole.services,
            *(ScopedServices(level.value, own.services) for level, own in self.behind.items()),
        )


_latest: dict[tuple[str, ...], PerClearanceTables] = {}
"""The surveys that were made last: descriptions and the graph of a build want the same."""


def walled_surveys(build: IndexBuild) -> PerClearanceTables:
    """The surveys of a label whose segments are there. What an earlier build knows of equal files is not read again."""
    outputs = (build.required(stage).output for stage in ("discovered_files", "segments"))
    subject = (str(build.directory), build.spec.config_hash, *outputs)
    known = _latest.get(subject)
    if known is None:
        known = _surveyed(build)
        _latest.clear()
        _latest[subject] = known
    return known


def forget_surveys() -> None:
    """Lets go of the surveys that were made last, once no later stage wants them."""
    _latest.clear()


def _surveyed(build: IndexBuild) -> PerClearanceTables:
    levels = build.levels
    inputs = [_SURVEYED.key(*made, levels.walls) for made in bucket_inputs(build, "discovered_files", "segments")]
    parts = _SURVEYED.map(build, inputs, _survey_bucket)
    listed = list(_discovered(build))
    surveyed = list(parts)
    files = {path: segments for part in surveyed for path, segments in part.result.resources}
    usages = _usages(build, files, resource_dictionary(files))
    steps = FirstSteps().add(_SURVEYED, surveyed).add(_USAGES, usages)
    buckets = [part.result for part in surveyed]
    used = [usage for part in usages for usage in part.result.usages]
    put_together = partial(_put_together, build, buckets, used, listed)
    *lower, highest = levels.all
    whole = put_together(highest)
    behind = {**{level: put_together(level) for level in lower}, highest: whole} if lower else {}
    return PerClearanceTables(whole, levels, behind, steps)


def _put_together(
    build: IndexBuild,
    buckets: Sequence[SurveyedBucket],
    usages: Sequence[ResourceUse],
    listed: Sequence[dict[str, str]],
    clearance: Confidentiality,
) -> LabelSymbolTable:
    """The survey of the files that a clearance reaches; `listed` are the rows of all."""
    sees = cache(partial(build.levels.visible, clearance=clearance))
    census, domains = SymbolCounter(), DomainCollector()
    for level, symbols, facts in (of_level for bucket in buckets for of_level in bucket.by_level):
        if may_see(clearance, level):
            census.merge(symbols)
            domains.merge(facts)
    gathered = GatheredFiles(
        census=census,
        domains=domains,
        declared=(known for found in buckets for known in found.declared if sees(known.path)),
        claims=(claim for found in buckets for path, claims in found.stored if sees(path) for claim in claims),
        route_constants=tuple(
            one for found in buckets for path, own in found.route_constants if sees(path) for one in own
        ),
        parts=[found for bucket in buckets for found in bucket.partial_types if sees(found[0])],
        resources={path: own for found in buckets for path, own in found.resources if sees(path)},
        usages=(usage for usage in usages if sees(usage.path)),
        generated={path: reason for path, reason in _skipped_generated(listed).items() if sees(path)},
        project_files=[row["path"] for row in listed if is_project_file(row["path"]) and sees(row["path"])],
    )
    return put_together(gathered, build.repository, BlobStore(build.home.blobs).get)


def _survey_bucket(build: IndexBuild, bucket: int, guard: FileGuard) -> SurveyedBucket:
    """Runs in a worker process."""
    blobs = BlobStore(build.home.blobs)
    texts = {row["path"]: row["text_sha256"] for row in indexed_files(build, bucket)}
    files = read_segments(build, bucket)
    levels = build.levels
    known = defaultdict[Confidentiality, tuple[SymbolCounter, DomainCollector]](
        lambda: (SymbolCounter(), DomainCollector())
    )
    declared: list[IndexedType] = []
    stored: list[tuple[str, list[StoreClaim]]] = []
    for path, segments in files.items():
        symbols, domains = known[levels.of(path)]
        symbols.add(segments)
        found = guard.run(path, texts[path], partial(surveyed_file, path, segments, partial(blobs.get, texts[path])))
        if isinstance(found, Refusal):
            continue
        declared += found.declared
        domains.merge(found.domains)
        if found.claims:
            stored.append((path, found.claims))
    return SurveyedBucket(
        by_level=[(level, symbols.counts(), domains.facts()) for level, (symbols, domains) in sorted(known.items())],
        declared=declared,
        partial_types=[
            (path, texts[path], segment)
            for path, segments in files.items()
            for segment in segments
            if may_have_parts(segment)
        ],
        resources=[(path, segments) for path, segments in files.items() if segments[0].language == RESOURCES],
        stored=stored,
        route_constants=[
            (path, constants)
            for path, segments in files.items()
            if segments[0].language == CSHARP and (constants := list(route_constants(segments)))
        ],
    )


def _usages(
    build: IndexBuild, files: dict[str, list[Segment]], resources: StaticResourceDictionary
) -> list[CachedBucket[UsedResources]]:
    if not resources.families:
        return []
    told = hashlib.sha256(msgspec.json.encode(sorted(files.items()), order="deterministic")).hexdigest()
    keys = [_USAGES.key(told, bucket) for bucket in build.required("discovered_files").parts]
    with broadcast(build, resources) as shared:
        return list(_USAGES.map(build, keys, _usages_in_bucket, shared))


def _usages_in_bucket(
    build: IndexBuild, bucket: int, guard: FileGuard, resources: Broadcast[StaticResourceDictionary]
) -> UsedResources:
    """Runs in a worker process."""
    blobs, scanner = BlobStore(build.home.blobs), UsageScanner(resources.value)
    usages: list[ResourceUse] = []
    for row in indexed_files(build, bucket):
        if row["language"] in USING_RESOURCES:
            path, text = row["path"], blobs.get(row["text_sha256"])
            found = guard.run(path, row["text_sha256"], partial(_used_in, scanner, path, text))
            usages += () if isinstance(found, Refusal) else found
    return UsedResources(usages)


def _used_in(scanner: UsageScanner, path: str, text: str) -> list[ResourceUse]:
    return list(scanner.scan(path, text))


def _skipped_generated(listed: Sequence[dict[str, str]]) -> dict[str, str]:
    """Path → reason of the generated files that may hold parts of indexed types."""
    return {
        row["path"]: row["reason"]
        for row in listed
        if row["reason"] == SkipReason.GENERATED and row["path"].endswith(".cs")
    }


def _discovered(build: IndexBuild) -> Iterator[dict[str, str]]:
    for bucket in build.buckets:
        yield from read_rows(build.directory, "discovered_files", bucket, ["path", "reason"])
