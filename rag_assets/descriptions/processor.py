"""`SourceFileProcessor`: the loop of IDX-069 §8.4 over the segments of one file, without a branch on flavors (A45).

Unique symbols (R1): one fully qualified name with several source parts gets a suffix per part.

Two phases, so that a label can be worked through in buckets and in any order: count the symbols of all files
into a `SymbolCounter`, merge the censuses, then ask for the final symbols of each file.

What a description must know of the whole label (`LabelSymbolTable`) is put together from what each of its files adds.
Who has the segments of all files gathers it: a build, or a search that knows the work tree.
"""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rag_assets.classification.classifier import Classifier, FileFacts
from rag_assets.contracts.description import DescriptionBuilder, DomainCatalog, ResourceDictionary, SummaryFacts
from rag_assets.contracts.identity import DocumentIdentity, disambiguated_symbol, document_uri
from rag_assets.contracts.kinds import Classification
from rag_assets.contracts.result import InvokeResult, Message
from rag_assets.contracts.segment import Segment, SegmentedFile, SymbolText
from rag_assets.contracts.source_file import GitRepoInfo, IndexFileContext
from rag_assets.dependency_trace import tracked
from rag_assets.descriptions.domain_catalog import ConfiguredDomainCatalog, Domain, DomainCollector, DomainFacts
from rag_assets.descriptions.kind_builder import TYPES
from rag_assets.descriptions.kinds import default_registry
from rag_assets.descriptions.refinement import DescriptionRefiner, RefiningBuilder
from rag_assets.descriptions.registry import DescriptionBuilderRegistry, SymbolTable
from rag_assets.languages.csharp.declaration_ranges import LANGUAGE
from rag_assets.languages.csharp.ef.stored_entities import PersistedTypes, StoreClaim, store_claims
from rag_assets.languages.csharp.facts.partial_types import PartialTypes, explained
from rag_assets.languages.csharp.facts.type_index import IndexedType, TypeIndex, declared_in
from rag_assets.languages.csharp.resource_usages import ResourceUsages, ResourceUse
from rag_assets.languages.csharp.web.controller_actions import EndpointDeclarations, EndpointSymbols
from rag_assets.languages.detection import DOCUMENTS, source_type
from rag_assets.languages.documents.resx import StaticResourceDictionary
from rag_assets.sources.secrets import masked

if TYPE_CHECKING:
    from rag_assets.settings import RepositorySettings
    from rag_assets.settings.repositories import MetadataSettings


class SymbolCounter:
    """How often each (symbol type, lower-cased symbol) occurs in a label. Mergeable; order does not matter.

    Lower-cased, because semantic ids and blob URIs are (A32, A34): `Foo` and `foo` would be one point.
    """

    __slots__ = ("_counts",)

    def __init__(self, segments: Iterable[Segment] = ()) -> None:
        self._counts: Counter[tuple[str, str]] = Counter()
        self.add(segments)

    def add(self, segments: Iterable[Segment]) -> None:
        self._counts.update((segment.kind.lower(), segment.symbol.lower()) for segment in segments)

    def counts(self) -> list[tuple[str, str, int]]:
        """(symbol type, symbol, places), sorted; both in lower case."""
        return [(kind, symbol, count) for (kind, symbol), count in sorted(self._counts.items())]

    def merge(self, counts: Iterable[tuple[str, str, int]]) -> None:
        self._counts.update({(kind, symbol): count for kind, symbol, count in counts})

    @tracked("census.is_repeated")
    def is_repeated(self, kind: str, symbol: str) -> bool:
        """Whether the label declares a symbol in several places."""
        return self._counts[(kind.lower(), symbol.lower())] > 1

    def repeated(self) -> dict[tuple[str, str], int]:
        """The symbols with several parts, sorted: what a reader of the build may want to see."""
        return {key: count for key, count in sorted(self._counts.items()) if count > 1}


def final_symbol(segment: Segment, path: str, census: SymbolCounter, ordinal_in_file: int = 0) -> str:
    """The symbol of one segment: its own, or with the suffix of its path where the census knows several parts.

    `ordinal_in_file` tells the parts within one file apart (see `final_symbols`).
    """
    if ordinal_in_file == 0 and not census.is_repeated(segment.kind, segment.symbol):
        return segment.symbol
    return disambiguated_symbol(segment.symbol, path, ordinal_in_file)


def final_symbols(segments: Sequence[Segment], path: str, census: SymbolCounter) -> list[str]:
    """The final symbols of all segments of one file, in order; no two are equal, whatever their symbol types.

    Blob URIs carry the symbol without its type, so within a file equal names of different types are parts too.
    """
    seen: Counter[str] = Counter()
    found = []
    for segment in segments:
        key = segment.symbol.lower()
        found.append(final_symbol(segment, path, census, seen[key]))
        seen[key] += 1
    return found


class DescribeOutcome(StrEnum):
    """What became of one segment in the hands of one builder."""

    DESCRIBED = "described"
    NOT_APPLICABLE = "not-applicable"  # success without a value (A14, R15)
    NO_BUILDER = "no-builder"  # the kind is not indexed (A44)
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class SegmentOutcome:
    """One segment as it stands in the file, its kind, and what one builder made of it."""

    segment: Segment
    classification: Classification
    outcome: DescribeOutcome
    builder: str = ""
    description: SummaryFacts | None = None
    errors: tuple[Message, ...] = ()
    warnings: tuple[Message, ...] = ()

    @property
    def messages(self) -> tuple[Message, ...]:
        """Errors first, then warnings."""
        return (*self.errors, *self.warnings)


@dataclass(frozen=True, slots=True)
class FileOutcome:
    """What became of a file: one entry per segment and builder, in order."""

    path: str
    outcomes: tuple[SegmentOutcome, ...]

    @property
    def descriptions(self) -> list[SummaryFacts]:
        return [found.description for found in self.outcomes if found.description is not None]

    @property
    def not_applicable(self) -> int:
        return sum(found.outcome is DescribeOutcome.NOT_APPLICABLE for found in self.outcomes)

    @property
    def failures(self) -> list[SegmentOutcome]:
        return [found for found in self.outcomes if found.outcome is DescribeOutcome.FAILED]


@dataclass(frozen=True, slots=True)
class SourceFileProcessor:
    """The parts every file of a repository is described with."""

    classifier: Classifier
    registry: DescriptionBuilderRegistry
    domain_catalog: DomainCatalog
    resource_dictionary: ResourceDictionary
    partial_types: PartialTypes = field(default_factory=PartialTypes)
    persisted_types: PersistedTypes = field(default_factory=PersistedTypes)
    metadata_rules: tuple[MetadataSettings, ...] = ()

    def describe_file(self, context: IndexFileContext, segmented: SegmentedFile) -> FileOutcome:
        """Detect → get_builders → build for each segment (A09, A45). Failures are data, a builder that raises too."""
        file = FileFacts(context.relative_path, context.language_hint or "", context.contents)
        if self.metadata_rules or source_type(file.language) in DOCUMENTS:
            from rag_assets.descriptions.file_metadata import file_metadata  # start-up budget: most files are code

            said = file_metadata(self.metadata_rules, file.path, file.language, file.contents)
            context = replace(context, metadata=said)
        outcomes = (found for segment in segmented.segments for found in self._describe(context, segment, file))
        return FileOutcome(context.relative_path, tuple(outcomes))

    def _describe(self, context: IndexFileContext, segment: Segment, file: FileFacts) -> Iterator[SegmentOutcome]:
        text = segment.span.slice(context.contents)
        symbol_text = self.partial_types.symbol_text(context.relative_path, segment, text)
        may_be_stored = segment.language == LANGUAGE and segment.kind in TYPES
        stored = self.persisted_types.evidence(segment.symbol) if may_be_stored else ""
        classification = explained(self.classifier.classify(symbol_text.whole, file, stored), symbol_text)
        described = tried = False
        for builder in self.registry.get_builders(classification.kind):
            found = self._build(builder, context, symbol_text, classification, segment)
            described, tried = described or found.outcome is DescribeOutcome.DESCRIBED, True
            yield found
        if described:
            return
        for builder in self.registry.fallbacks:
            yield self._build(builder, context, symbol_text, classification, segment)
            tried = True
        if not tried:
            yield SegmentOutcome(segment, classification, DescribeOutcome.NO_BUILDER)

    def _build(
        self,
        builder: DescriptionBuilder,
        context: IndexFileContext,
        symbol_text: SymbolText,
        classification: Classification,
        segment: Segment,
    ) -> SegmentOutcome:
        try:
            result = builder.build(context, symbol_text, self.domain_catalog, self.resource_dictionary)
        except Exception as error:  # a defect that A13 forbids must not cost the other symbols of a label
            text = masked(f"{_place(error)}: {type(error).__name__}: {error}")
            result = InvokeResult.failure([Message("BUILDER.raised", text)])
        description = result.value if result.successful else None
        if description is not None:
            description.kind = str(classification.kind)
        outcome = DescribeOutcome.DESCRIBED if description is not None else DescribeOutcome.NOT_APPLICABLE
        if not result.successful:
            outcome = DescribeOutcome.FAILED
        return SegmentOutcome(
            segment, classification, outcome, builder.name, description, result.errors, result.warnings
        )


def _place(error: Exception) -> str:
    """Where a builder raised: the innermost line of its traceback."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "builder"


# --- the label as a whole ---------------------------------------------------------------------------------------------

CSHARP = "csharp"
RESOURCES = "resx"
USING_RESOURCES = frozenset({CSHARP, "razor"})
"""Languages of the files that use the texts of resource files."""
_PROJECT_FILE = ".csproj"


@dataclass(frozen=True, slots=True)
class LabelSymbolTable:
    """A label as a whole: which names occur twice, what belongs together, resource texts, domains, declared types."""

    census: SymbolCounter
    partial_types: PartialTypes
    resources: StaticResourceDictionary
    catalog: ConfiguredDomainCatalog
    knowledge: SymbolTable

    def processor(
        self, repository: RepositorySettings, refiner: DescriptionRefiner | None = None
    ) -> SourceFileProcessor:
        """The parts that every file of the label is described with; with a refiner its builders ask a model.

        Raises RegistryError or PackError.
        """
        classifier = Classifier(repository.rule_packs, kinds=repository.kinds)
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
            repository.metadata,
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
            known.endpoints,
        )

    @property
    def problems(self) -> list[str]:
        """What of the label contradicts itself."""
        resources = (
            f"{found.path}: resource {found.resource_class}.{found.key} ({found.culture or 'neutral'}) has two values"
            for found in self.resources.collisions
        )
        return [*resources, *map(str, self.catalog.problems)]


@dataclass(frozen=True, slots=True, kw_only=True)
class GatheredFiles:
    """What the files of a label add, of those that some readers may see. `parts` are (path, sha256 of its text,
    segment) of types that may have other parts, `resources` the segments of resource files by path, `generated` the
    reasons of generated files by path, `project_files` their paths, `route_constants` names with their values."""

    census: SymbolCounter
    domains: DomainCollector
    declared: Iterable[IndexedType] = ()
    claims: Iterable[StoreClaim] = ()
    parts: Sequence[tuple[str, str, Segment]] = ()
    resources: Mapping[str, Sequence[Segment]]
    usages: Iterable[ResourceUse] = ()
    route_constants: tuple[tuple[str, str], ...] = ()
    generated: Mapping[str, str]
    project_files: Collection[str] = ()


def put_together(
    found: GatheredFiles, repository: RepositorySettings, text_of: Callable[[str], str]
) -> LabelSymbolTable:
    """The symbol table of these files; `text_of` gives the text of one by its sha256."""
    part_texts = {path: text_sha256 for path, text_sha256, _ in found.parts}
    declared_domains, declared_types = found.domains.declared(), TypeIndex(found.declared)
    configured = [Domain(**domain.model_dump()) for domain in repository.domains]
    return LabelSymbolTable(
        census=found.census,
        partial_types=PartialTypes(
            [(path, segment) for path, _, segment in found.parts],
            dict(found.generated),
            list(found.project_files),
            partial(_text_of, text_of, part_texts),
            part_texts,
        ),
        resources=resource_dictionary(found.resources),
        catalog=ConfiguredDomainCatalog(configured, declared_domains, declared_types),
        knowledge=SymbolTable(
            declared_types=declared_types,
            declared_domains=declared_domains,
            resource_usages=ResourceUsages(found.usages),
            persisted_types=PersistedTypes(found.claims, declared_types),
            endpoints=EndpointSymbols([EndpointDeclarations(constants=found.route_constants)]),
        ),
    )


def _text_of(text_of: Callable[[str], str], hashes: dict[str, str], path: str) -> str:
    return text_of(hashes[path])


def resource_dictionary(files: Mapping[str, Sequence[Segment]]) -> StaticResourceDictionary:
    """The texts of resource files, whose segments these are by path."""
    resources = StaticResourceDictionary()
    for path in sorted(files):
        resources.add_file(path, list(files[path]))
    return resources


def is_project_file(path: str) -> bool:
    return path.endswith(_PROJECT_FILE)


@dataclass(frozen=True, slots=True)
class SurveyedFile:
    """What the code of one file declares."""

    declared: list[IndexedType]
    domains: DomainFacts
    claims: list[StoreClaim]


def surveyed_file(path: str, segments: Sequence[Segment], text: Callable[[], str]) -> SurveyedFile:
    """`text` gives the file, and is asked for only where the segments do not say enough."""
    domains, claims = DomainCollector(), list[StoreClaim]()
    if segments[0].language == CSHARP:
        domains.add(path, segments, text)
        claims += store_claims(segments, text)
    return SurveyedFile(list(declared_in(path, segments)), domains.facts(), claims)


def file_context(
    repository: RepositorySettings,
    label: str,
    git: GitRepoInfo,
    path: str,
    text: str,
    text_sha256: str,
    language: str,
    location: str = "",
) -> IndexFileContext:
    """The context of one file of a repository, with its redacted text; `git` says where the text is from."""
    identity = DocumentIdentity(
        org_id=repository.org,
        org_namespace=repository.organisation_namespace,
        project_id=repository.project_id,
        repo_id=repository.id,
        doc_id=f"{repository.id}/{path}",
    )
    return IndexFileContext(
        full_path=f"{location or repository.location}/{path}",
        relative_path=path,
        contents=text,
        git=git,
        identity=identity,
        index_label=label,
        blob_uri=document_uri(label, path),
        source_sha256=text_sha256,
        language_hint=language,
    )
