"""Descriptions, and the fixed steps from a description to its points (IDX-069 §6–7, A21–A39).

`SummaryFacts` is pure: no services, no I/O, no model (A16, A26, A39). Builders fill it; the stages add
the embedding window, the slices and the vectors.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol, Self

from rag_assets.contracts.embedder import Embedder, EmbeddingWindow
from rag_assets.contracts.identity import point_id, source_system, symbol_semantic_id
from rag_assets.contracts.kinds import RagContentType
from rag_assets.contracts.payload import RagVectorPayload, parse_round_trip
from rag_assets.contracts.result import InvokeResult, Message, aggregate
from rag_assets.contracts.retrieval import DEFAULT_PRIORITY
from rag_assets.contracts.section import SummarySection
from rag_assets.contracts.segment import Segment, SymbolText
from rag_assets.contracts.source_file import FileMetadata, GitRepoInfo, IndexFileContext

INDEX_VERSION = 7
"""Version of the payload schema (B12). Raise it when the meaning of a stored field changes."""

DEFAULT_LANGUAGE = "en-US"  # IDX-069 §7.4; overridable per document (R25)


@dataclass(frozen=True, slots=True)
class RagPoint:
    """One point: id, payload, dense vector, and the UTF-8 text that was embedded (A36)."""

    point_id: str
    payload: RagVectorPayload
    vector: Sequence[float]
    contents: bytes


class RagDescription(Protocol):
    """`IRagDescription` (A21)."""

    def build_summary_sections(self) -> list[SummarySection]: ...

    def build_rag_points(self) -> list[InvokeResult[RagPoint]]: ...


class DomainCatalog(Protocol):
    """`IDomainCatalogService`: business domains by exact key, and the domain of a place or of a declaration."""

    def title(self, domain_key: str) -> str: ...

    def tagline(self, domain_key: str) -> str: ...

    def domain_of(self, path: str, namespace: str) -> str: ...

    def domain_of_segment(self, path: str, segment: Segment) -> str: ...

    @property
    def has_domains(self) -> bool: ...

    def domain_about(self, path: str, entities: Sequence[str], related: Sequence[str] = ()) -> str: ...


class ResourceDictionary(Protocol):
    """`IResourceDictionary`: texts of RESX files by (resource class, key, culture).

    `text` gives exactly what is asked for, or None. `resolve` always has a value: the text, or the key itself with a
    warning; `near` is the path of the file that asks, for resource classes that share a name. A family is the path of a
    resource file without culture and extension.
    """

    def text(self, resource_class: str, key: str, culture: str = "") -> str | None: ...

    def resolve(self, resource_class: str, key: str, culture: str = "", near: str = "") -> InvokeResult[str]: ...

    def cultures_of(self, family: str) -> tuple[str, ...]: ...

    def keys_of(self, family: str, culture: str | None = None) -> frozenset[str]: ...


class DescriptionBuilder(Protocol):
    """`IDescriptionBuilder` (A11–A20): one segment in, one description or "not applicable" out; never throws."""

    @property
    def name(self) -> str: ...

    @property
    def description(self) -> str: ...

    def build(
        self,
        file_context: IndexFileContext,
        symbol_text: SymbolText,
        domain_catalog: DomainCatalog,
        resource_dictionary: ResourceDictionary,
    ) -> InvokeResult[SummaryFacts]: ...


@dataclass(kw_only=True)
class SummaryFacts(ABC):
    """Shared identity of a description, and point construction for all subtypes (A22, A27–A39).

    Subclasses are dataclasses of plain facts. Stages store them as JSON and find the class again by
    its name.
    """

    # common properties (A27), copied from the file context
    doc_id: str = ""
    org_id: str = ""
    org_namespace: str = ""
    project_id: str = ""
    repo: str = ""
    branch: str = ""
    commit_sha: str = ""
    commit_date: str = ""
    is_dated: bool = False
    repo_id: str = ""
    path: str = ""
    blob_uri: str = ""
    index_label: str = ""
    document_sha256: str = ""
    code_language: str = ""
    source_type: str = "code"
    confidentiality: str = ""
    # the symbol
    symbol: str = ""
    symbol_type: str = ""
    kind: str = ""
    domain_key: str = ""
    domain_title: str = ""
    domain_tagline: str = ""
    language: str = DEFAULT_LANGUAGE
    metadata: FileMetadata | None = None

    _types: ClassVar[dict[str, type[SummaryFacts]]] = {}

    def __init_subclass__(cls, **arguments: object) -> None:
        super().__init_subclass__(**arguments)
        known = SummaryFacts._types.setdefault(cls.__name__, cls)
        if known.__module__ != cls.__module__:
            raise TypeError(
                f"description type {cls.__name__} of {cls.__module__} is already one of {known.__module__}; stored "
                "descriptions are found again by this name: give it another"
            )
        SummaryFacts._types[cls.__name__] = cls  # decorators may make a class anew

    def __post_init__(self) -> None:
        self._window: EmbeddingWindow | None = None
        self._sections: list[SummarySection] = []
        self._content_type: RagContentType | None = None
        self._requires_domain = False

    @staticmethod
    def type_named(name: str) -> type[SummaryFacts]:
        """The description class of that name. Raises KeyError naming the known classes."""
        try:
            return SummaryFacts._types[name]
        except KeyError:
            raise KeyError(f"no description type {name!r}; known: {', '.join(sorted(SummaryFacts._types))}") from None

    # for subtypes to override

    @property
    @abstractmethod
    def subtype(self) -> str: ...

    @property
    def subtype_flavor(self) -> str:
        return ""

    @property
    def content_type(self) -> RagContentType:
        return RagContentType.SOURCE_CODE

    @abstractmethod
    def build_summary_sections(self) -> list[SummarySection]: ...

    def populate_additional_rag_properties(self, payload: RagVectorPayload) -> None:  # noqa: B027 - a hook
        """The only extension point for subtype-specific payload (A35)."""

    # the same for every subtype

    def set_common_properties(self, context: IndexFileContext) -> Self:
        """Copies identity and location from the file context (A27)."""
        self.doc_id = context.identity.doc_id
        self.org_id = context.identity.org_id
        self.org_namespace = context.identity.org_namespace
        self.project_id = context.identity.project_id
        self.repo_id = context.identity.repo_id
        self.repo = context.git.remote_url or context.identity.repo_id  # B13: URL or logical name
        self.branch = context.git.branch
        self.commit_sha = context.git.commit_sha
        self.commit_date = context.git.commit_date
        self.is_dated = context.git.is_dated
        self.path = context.relative_path
        self.blob_uri = context.blob_uri
        self.index_label = context.index_label
        self.document_sha256 = context.source_sha256
        self.code_language = context.language_hint or ""
        self.metadata = context.metadata
        return self

    def leave_generation(self) -> Self:
        """Clears the fields that differ between labels or commits with the same file, so that it can be cached."""
        self.branch = self.commit_sha = self.commit_date = self.index_label = self.blob_uri = ""
        self.confidentiality, self.is_dated = "", False
        return self

    def enter_generation(self, git: GitRepoInfo, index_label: str, blob_uri: str, confidentiality: str) -> Self:
        """The inverse of `leave_generation`; `git` is that of the file."""
        self.branch, self.commit_sha, self.commit_date = git.branch, git.commit_sha, git.commit_date
        self.is_dated = git.is_dated
        self.index_label, self.blob_uri, self.confidentiality = index_label, blob_uri, confidentiality
        return self

    def use_window(self, window: EmbeddingWindow) -> Self:
        """Sets the window that `build_summary_sections` splits to."""
        self._window = window
        return self

    @property
    def window(self) -> EmbeddingWindow:
        if self._window is None:
            raise RuntimeError(f"{self.symbol}: call use_window before building sections")
        return self._window

    @property
    def sections(self) -> list[SummarySection]:
        """The sections from which points are made; built on first use."""
        if not self._sections:
            self._sections = self.build_summary_sections()
        return self._sections

    def require_domain(self, required: bool) -> Self:
        """Whether points without a business domain are errors (B03)."""
        self._requires_domain = required
        return self

    def use_sections(self, sections: list[SummarySection]) -> Self:
        """Takes the sections of an earlier stage, with their vectors."""
        self._sections = sections
        return self

    def create_embeddings(self, embedder: Embedder) -> InvokeResult[None]:
        """Embeds every section; all errors AND all warnings in one result (A28)."""
        return aggregate([section.create_embeddings(embedder) for section in self.sections])

    def build_rag_points(self) -> list[InvokeResult[RagPoint]]:
        """One result per section, in order (A22, A30–A39). Raises ValueError on duplicate blob URIs (A38, R3)."""
        results = [self._create_point(section) for section in self.sections]
        for name in ("source_slice_blob_uri", "description_blob_uri"):
            uris = Counter(getattr(r.value.payload, name) for r in results if r.value is not None)
            repeated = [uri for uri, count in uris.items() if count > 1]
            if repeated:
                raise ValueError(f"{self.symbol}: {name} used by several sections: {', '.join(repeated)}")
        return results

    def _create_point(self, section: SummarySection) -> InvokeResult[RagPoint]:
        vector = section.vectors
        if vector is None or len(vector) == 0:
            text = f"{self.symbol} {section.section_key} part {section.part_index} has no vector"
            return InvokeResult.failure([Message("VECTOR.missing", text)])
        if not self.commit_date:  # validation would take the wall clock
            text = f"{self.symbol}: the file context has no commit date, which dates its points"
            return InvokeResult.failure([Message("PAYLOAD.indexed-utc", text)])
        payload = self._payload(section)
        try:
            payload.semantic_id = symbol_semantic_id(
                self.org_namespace,
                self.project_id,
                self.repo_id,
                section.symbol_type,
                section.symbol,
                section.section_key,
                section.part_index,
            )
        except ValueError as error:
            return InvokeResult.failure([Message("PAYLOAD.semantic-id", str(error))])
        section.populate_rag_payload(payload)
        payload.full_document_blob_uri = self.blob_uri
        payload.source_slice_blob_uri = section.slice_uri(self.blob_uri)
        payload.description_blob_uri = section.description_uri(self.blob_uri)
        self.populate_additional_rag_properties(payload)
        validation = payload.validate_for_index(requires_domain=self._requires_domain)
        if not validation.successful:
            return InvokeResult.failure(validation.errors, validation.warnings)
        identifier = point_id(self.org_id, self.project_id, self.repo_id, self.index_label, payload.semantic_id)
        point = RagPoint(identifier, payload, vector, payload.finder_snippet.encode())
        return InvokeResult.create(point, validation.warnings)

    def _payload(self, section: SummarySection) -> RagVectorPayload:
        said = self.metadata or FileMetadata()
        if self._content_type is None:  # once for all sections: it may look into the text
            self._content_type = said.content_type or self.content_type
        generated = (
            f"{section.symbol_type}: {section.symbol} - {section.section_key} "
            f"(Chunk {section.part_index} of {section.part_total})"  # A31
        )
        return RagVectorPayload(
            org_id=self.org_id,
            org_namespace=self.org_namespace,
            project_id=self.project_id,
            doc_id=self.doc_id,
            repo_id=self.repo_id,
            repo=self.repo,
            repo_branch=self.branch,
            commit_sha=self.commit_sha,
            path=self.path,
            content_type_id=self._content_type,
            content_type=self._content_type.label,
            subtype=self.subtype,
            subtype_flavor=self.subtype_flavor,
            section_key=section.section_key,
            embedding_model=section.embedding_model,
            business_domain_key=section.domain_key,
            domain=self.domain_title,
            business_domain_area=said.business_domain_area,
            language=said.language or self.language,
            priority=said.priority or DEFAULT_PRIORITY,
            audience=said.audience,
            persona=said.persona,
            stage=said.stage,
            label_slugs=said.label_slugs,
            label_ids=said.label_ids,
            source_system=source_system(self.repo),
            title=generated,
            index_version=INDEX_VERSION,
            indexed_utc=parse_round_trip(self.commit_date),
            updated_utc=parse_round_trip(self.commit_date) if self.is_dated else None,
            blob_version_id=self.document_sha256,
            index_label=self.index_label,
            source_type=self.source_type,
            confidentiality=self.confidentiality,
            code_language=self.code_language,
        )
