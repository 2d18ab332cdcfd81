"""What a description must know of the whole label, gathered from the segments of all files before the first one.

It is gathered bucket by bucket, in worker processes, and what a bucket adds is kept like every other part.

Where files of a label have several levels of confidentiality, each level has a survey of its own, of the files that
all may see who may see the level (E12): no description tells of other parts, users or implementers behind a wall.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial

import msgspec

from rag_assets.classification.classifier import Classifier
from rag_assets.contracts.confidentiality import Confidentiality, may_see
from rag_assets.contracts.segment import Segment
from rag_assets.contracts.source_file import SkipReason
from rag_assets.dependency_trace import ScopedServices
from rag_assets.descriptions.domain_catalog import ConfiguredDomainCatalog, Domain, DomainCollector, DomainFacts
from rag_assets.descriptions.kinds import default_registry
from rag_assets.descriptions.processor import SourceFileProcessor, SymbolCounter
from rag_assets.descriptions.refinement import DescriptionRefiner, RefiningBuilder
from rag_assets.descriptions.registry import SymbolTable
from rag_assets.index.blobs import BlobStore
from rag_assets.index.parquet_parts import read_rows
from rag_assets.index.vectors.filters import PathClearance
from rag_assets.languages.csharp.ef.stored_entities import PersistedTypes, StoreClaim, store_claims
from rag_assets.languages.csharp.facts.partial_types import PartialTypes, may_have_parts
from rag_assets.languages.csharp.facts.type_index import IndexedType, TypeIndex, declared_in
from rag_assets.languages.csharp.resource_usages import ResourceUsages, ResourceUse, UsageScanner
from rag_assets.languages.documents.resx import StaticResourceDictionary
from rag_assets.pipeline.build import IndexBuild
from rag_assets.pipeline.memo import BucketMemo, CachedBucket, FirstSteps, bucket_inputs
from rag_assets.pipeline.segments import indexed_files, read_segments
from rag_assets.pipeline.workers.file_guard import FileGuard, Refusal
from rag_assets.pipeline.workers.worker_pool import Broadcast, broadcast

SURVEY_VERSION = "3"
"""Raise it when the survey finds something else in the same segments."""

_RESOURCES = "resx"
_CSHARP = "csharp"
_PROJECT_FILE = ".csproj"
_USING_RESOURCES = frozenset({_CSHARP, "razor"})


@dataclass(frozen=True, slots=True)
class LabelSymbolTable:
    """A label as a whole: which names occur twice, what belongs together, resource texts, domains, declared types."""

    census: SymbolCounter
    partial_types: PartialTypes
    resources: StaticResourceDictionary
    catalog: ConfiguredDomainCatalog
    knowledge: SymbolTable
    steps: FirstSteps = field(default_factory=FirstSteps)  # what it was put together from

    def processor(self, build: IndexBuild, refiner: DescriptionRefiner | None = None) -> SourceFileProcessor:
        """The parts that every file of the label is described with; with a refiner its builders ask a model.

        Raises RegistryError or PackError.
        """
        classifier = Classifier(build.repository.rule_packs, kinds=build.repository.kinds)
        services = self.knowledge.services()
        if refiner is not None:
            services.decorate(partial(RefiningBuilder, refiner=refiner))
        registry = default_registry(services)
        return SourceFileProcessor(
            classifier,
            registry,
            self.catalog,
            self.resources,
            self.partial_types,
            self.knowledge.persisted_types,
            build.repository.metadata,
        )

    @property
    def services(self) -> tuple[object, ...]:
        """Everything that answers questions about the label (`dependency_trace`)."""
        known = self.knowledge
        return (
            self.census,
            self.partial_types,
            self.resources,
            self.catalog,
            self.catalog.inherited,
            known.declared_types,
            known.declared_domains,
            known.resource_usages,
            known.persisted_types,
        )

    @property
    def problems(self) -> list[str]:
        """What of the label contradicts itself."""
        resources = (
            f"{found.path}: resource {found.resource_class}.{found.key} ({found.culture or 'neutral'}) has two values"
            for found in self.resources.collisions
        )
        return [*resources, *map(str, self.catalog.problems)]


@dataclass(frozen=True, slots=True)
class SurveyedBucket:
    """What the files of one bucket add to the survey of their label."""

    by_level: list[tuple[Confidentiality, list[tuple[str, str, int]], DomainFacts]]  # symbols: (kind, symbol, places)
    declared: list[IndexedType]
    partial_types: list[tuple[str, str, Segment]]  # (path, sha256 of its text, segment)
    resources: list[tuple[str, list[Segment]]]  # (path of a resource file, its segments)
    stored: list[tuple[str, list[StoreClaim]]]  # by path


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
    surveyed = list(_SURVEYED.map(build, inputs, _survey_bucket))
    files = {path: segments for part in surveyed for path, segments in part.result.resources}
    usages = _usages(build, files, _resources(files))
    steps = FirstSteps().add(_SURVEYED, surveyed).add(_USAGES, usages)
    buckets = [part.result for part in surveyed]
    used = [usage for part in usages for usage in part.result.usages]
    put_together = partial(_put_together, build, buckets, used, list(_discovered(build)), steps)
    *lower, highest = levels.all
    whole = put_together(highest)
    behind = {**{level: put_together(level) for level in lower}, highest: whole} if lower else {}
    return PerClearanceTables(whole, levels, behind)


def _put_together(
    build: IndexBuild,
    buckets: Sequence[SurveyedBucket],
    usages: Sequence[ResourceUse],
    listed: Sequence[dict[str, str]],
    steps: FirstSteps,
    clearance: Confidentiality,
) -> LabelSymbolTable:
    """The survey of the files that a clearance reaches; `listed` are the rows of all."""
    sees = cache(partial(build.levels.visible, clearance=clearance))
    census, domains = SymbolCounter(), DomainCollector()
    for level, symbols, facts in (of_level for bucket in buckets for of_level in bucket.by_level):
        if may_see(clearance, level):
            census.merge(symbols)
            domains.merge(facts)
    parts = [found for bucket in buckets for found in bucket.partial_types if sees(found[0])]
    part_texts = {path: text_sha256 for path, text_sha256, _ in parts}
    skipped = {path: reason for path, reason in _skipped_generated(listed).items() if sees(path)}
    declared_domains = domains.declared()
    declared_types = TypeIndex(known for found in buckets for known in found.declared if sees(known.path))
    stored = (claim for found in buckets for path, claims in found.stored if sees(path) for claim in claims)
    configured = [Domain(**domain.model_dump()) for domain in build.repository.domains]
    return LabelSymbolTable(
        census=census,
        partial_types=PartialTypes(
            [(path, segment) for path, _, segment in parts],
            skipped,
            [row["path"] for row in listed if row["path"].endswith(_PROJECT_FILE) and sees(row["path"])],
            partial(_text_of, BlobStore(build.home.blobs), part_texts),
            part_texts,
        ),
        resources=_resources({path: own for found in buckets for path, own in found.resources if sees(path)}),
        catalog=ConfiguredDomainCatalog(configured, declared_domains, declared_types),
        knowledge=SymbolTable(
            declared_types=declared_types,
            declared_domains=declared_domains,
            resource_usages=ResourceUsages(usage for usage in usages if sees(usage.path)),
            persisted_types=PersistedTypes(stored, declared_types),
        ),
        steps=steps,
    )


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
        found = guard.run(path, texts[path], partial(_surveyed_file, path, segments, partial(blobs.get, texts[path])))
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
        resources=[(path, segments) for path, segments in files.items() if segments[0].language == _RESOURCES],
        stored=stored,
    )


@dataclass(frozen=True, slots=True)
class _SurveyedFile:
    declared: list[IndexedType]
    domains: DomainFacts
    claims: list[StoreClaim]


def _surveyed_file(path: str, segments: list[Segment], text: Callable[[], str]) -> _SurveyedFile:
    domains, claims = DomainCollector(), list[StoreClaim]()
    if segments[0].language == _CSHARP:
        domains.add(path, segments, text)
        claims += store_claims(segments, text)
    return _SurveyedFile(list(declared_in(path, segments)), domains.facts(), claims)


def _text_of(blobs: BlobStore, hashes: dict[str, str], path: str) -> str:
    return blobs.get(hashes[path])


def _resources(files: dict[str, list[Segment]]) -> StaticResourceDictionary:
    resources = StaticResourceDictionary()
    for path in sorted(files):
        resources.add_file(path, files[path])
    return resources


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
        if row["language"] in _USING_RESOURCES:
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
