"""What a description must know of the whole label, gathered from the segments of all files before the first one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from rag_assets.classification import Classifier
from rag_assets.contracts.segment import Segment
from rag_assets.contracts.source_file import SkipReason
from rag_assets.descriptions import (
    DeclaredType,
    DeclaredTypes,
    LabelKnowledge,
    SourceFileProcessor,
    SymbolCensus,
    declared_in,
    default_registry,
)
from rag_assets.descriptions.domain_catalog import ConfiguredDomainCatalog, Domain
from rag_assets.descriptions.domain_survey import DomainSurvey
from rag_assets.descriptions.partial_types import PartialTypes, may_have_parts
from rag_assets.descriptions.refinement import DescriptionRefiner, RefiningBuilder
from rag_assets.descriptions.resource_dictionary import StaticResourceDictionary
from rag_assets.descriptions.resource_usages import ResourceUsages, UsageScanner
from rag_assets.stages.build import IndexBuild
from rag_assets.stages.segments import indexed_files, read_segments
from rag_assets.stores.blobs import BlobStore
from rag_assets.stores.tables import read_rows

_RESOURCES = "resx"
_CSHARP = "csharp"
_PROJECT_FILE = ".csproj"
_USING_RESOURCES = frozenset({_CSHARP, "razor"})


@dataclass(frozen=True, slots=True)
class LabelSurvey:
    """A label as a whole: which names occur twice, what belongs together, resource texts, domains, declared types."""

    census: SymbolCensus
    partial_types: PartialTypes
    resources: StaticResourceDictionary
    catalog: ConfiguredDomainCatalog
    knowledge: LabelKnowledge

    def processor(self, build: IndexBuild, refiner: DescriptionRefiner | None = None) -> SourceFileProcessor:
        """The parts that every file of the label is described with; with a refiner its builders ask a model.

        Raises RegistryError or PackError.
        """
        classifier = Classifier(build.repository.rule_packs, kinds=build.repository.kinds)
        services = self.knowledge.services()
        if refiner is not None:
            services.decorate(partial(RefiningBuilder, refiner=refiner))
        registry = default_registry(services)
        return SourceFileProcessor(classifier, registry, self.catalog, self.resources, self.partial_types)

    @property
    def services(self) -> tuple[object, ...]:
        """Everything that answers questions about the label (`descriptions.questions`)."""
        known = self.knowledge
        return (
            self.census,
            self.partial_types,
            self.resources,
            self.catalog,
            known.declared_types,
            known.declared_domains,
            known.resource_usages,
        )

    @property
    def problems(self) -> list[str]:
        """What of the label contradicts itself."""
        resources = (
            f"{found.path}: resource {found.resource_class}.{found.key} ({found.culture or 'neutral'}) has two values"
            for found in self.resources.collisions
        )
        return [*resources, *map(str, self.catalog.problems)]


def survey_label(build: IndexBuild) -> LabelSurvey:
    """Reads all segments once, and the texts of code once more where resource files ask for their usages."""
    census, domains = SymbolCensus(), DomainSurvey()
    declared: list[DeclaredType] = []
    parts: list[tuple[str, Segment]] = []
    part_texts: dict[str, str] = {}
    resource_files: dict[str, list[Segment]] = {}
    blobs = BlobStore(build.home.blobs)
    for bucket in build.buckets:
        texts = {row["path"]: row["text_sha256"] for row in indexed_files(build, bucket)}
        for path, segments in read_segments(build, bucket).items():
            census.add(segments)
            declared.extend(declared_in(path, segments))
            partial_segments = [segment for segment in segments if may_have_parts(segment)]
            parts.extend((path, segment) for segment in partial_segments)
            if partial_segments:
                part_texts[path] = texts[path]
            if segments[0].language == _CSHARP:
                domains.add(path, segments, partial(blobs.get, texts[path]))
            elif segments[0].language == _RESOURCES:
                resource_files[path] = segments
    resources = _resources(resource_files)
    declared_domains = domains.declared()
    configured = [Domain(**domain.model_dump()) for domain in build.repository.domains]
    return LabelSurvey(
        census=census,
        partial_types=PartialTypes(
            parts, _skipped_generated(build), _project_files(build), partial(_text_of, blobs, part_texts), part_texts
        ),
        resources=resources,
        catalog=ConfiguredDomainCatalog(configured, declared_domains),
        knowledge=LabelKnowledge(
            declared_types=DeclaredTypes(declared),
            declared_domains=declared_domains,
            resource_usages=_usages(build, blobs, resources),
        ),
    )


def _text_of(blobs: BlobStore, hashes: dict[str, str], path: str) -> str:
    return blobs.get(hashes[path])


def _resources(files: dict[str, list[Segment]]) -> StaticResourceDictionary:
    resources = StaticResourceDictionary()
    for path in sorted(files):
        resources.add_file(path, files[path])
    return resources


def _usages(build: IndexBuild, blobs: BlobStore, resources: StaticResourceDictionary) -> ResourceUsages:
    usages = ResourceUsages()
    if not resources.families:
        return usages
    scanner = UsageScanner(resources)
    for bucket in build.buckets:
        for row in indexed_files(build, bucket):
            if row["language"] in _USING_RESOURCES:
                usages.merge(scanner.scan(row["path"], blobs.get(row["text_sha256"])))
    return usages


def _skipped_generated(build: IndexBuild) -> dict[str, str]:
    """Path → reason of the generated files that may hold parts of indexed types."""
    return {
        row["path"]: row["reason"]
        for row in _discovered(build)
        if row["reason"] == SkipReason.GENERATED and row["path"].endswith(".cs")
    }


def _project_files(build: IndexBuild) -> list[str]:
    return [row["path"] for row in _discovered(build) if row["path"].endswith(_PROJECT_FILE)]


def _discovered(build: IndexBuild) -> Iterator[dict[str, str]]:
    for bucket in build.buckets:
        yield from read_rows(build.directory, "discovered_files", bucket, ["path", "reason"])
