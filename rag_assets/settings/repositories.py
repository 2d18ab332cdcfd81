"""The indexed repositories: their tenants, domains, imported graphs, and the limits of discovery."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from rag_assets.contracts.confidentiality import DEFAULT_LEVEL, Confidentiality
from rag_assets.contracts.kinds import Kind, RagContentType, checked_kind
from rag_assets.contracts.source_file import FileMetadata
from rag_assets.settings.base import Name, Strict

ImportFormat = Literal["roslyn", "scip"]
ImportMode = Literal["merge", "replace"]


class GraphImportSettings(Strict):
    """A graph of the same repository that another tool made."""

    path: Path = Field(description="folder or archive of RoslynIndexer artifacts, or SCIP index")
    format: ImportFormat = Field(default="roslyn", description="what wrote it: roslyn or scip")
    mode: ImportMode = Field(
        default="merge",
        description="merge: what either finds; replace: only the import where it covers a file and a relation",
    )


DEFAULT_ORG = "local"
MEBIBYTE = 1024 * 1024
GIBIBYTE = 1024 * MEBIBYTE

KindName = Annotated[Kind, AfterValidator(checked_kind)]


def _checked_content_type(name: str) -> str:
    found = RagContentType.named(name)
    if found is None:
        valid = ", ".join(known.label for known in RagContentType if known)
        raise ValueError(f"unknown content type {name!r}; valid: {valid}")
    return found.label


ContentType = Annotated[str, AfterValidator(_checked_content_type)]


class DomainSettings(Strict):
    """A business domain and its parts (BusinessDomainKey, Domain, DomainSummary of the points)."""

    key: Name = Field(description="short identifier, the same in every repository")
    title: Name = Field(description="name for people")
    tagline: str = Field(default="", description="one line, part of what is embedded")
    description: str = Field(default="", description="a paragraph for people and models")
    paths: tuple[str, ...] = Field(default=(), description="globs over repository paths")
    namespaces: tuple[str, ...] = Field(default=(), description="globs over namespaces")


class MetadataSettings(Strict):
    """What points of some files carry, where their front matter does not say it."""

    paths: tuple[Name, ...] = Field(min_length=1, description="path, folder/ or glob; of several rules the first holds")
    content_type: ContentType | None = Field(
        default=None, description="DomainDocument, SourceCode, Policy, Procedure, Reference, Configuration, …"
    )
    business_domain_key: str = Field(default="", description="key of a business domain; stronger than domains")
    business_domain_area: str = Field(default="", description="part of a domain: payments, onboarding")
    language: str = Field(default="", description="human language: de, en-US")
    priority: int | None = Field(default=None, ge=1, le=5, description="in the ranking; 1 is the highest, 3 usual")
    audience: str = Field(default="", description="Developer, Ops …")
    persona: str = Field(default="", description="BackendEngineer, CSROperator …")
    stage: str = Field(default="", description="Discovery, Implementation, Runbook, Incident …")
    label_slugs: tuple[Name, ...] = Field(default=(), description="free tags")
    label_ids: tuple[Name, ...] = Field(default=(), description="ids of labels in another system")

    def metadata(self) -> FileMetadata:
        said = self.model_dump(exclude={"paths", "content_type", "priority"})
        kind = RagContentType.named(self.content_type) if self.content_type else None
        return FileMetadata(**said, content_type=kind or RagContentType.UNKNOWN, priority=self.priority or 0)


class RepositorySettings(Strict):
    """One repository to index: its location, ref, files and tenant."""

    id: Name = Field(description="what the repository is called in labels and commands")
    location: Name = Field(description="git URL, path of a git repository, plain directory, or source archive")
    ref: str | None = Field(default=None, description="branch or tag; default: what HEAD names")
    org: Name = Field(default=DEFAULT_ORG, description="organisation: the outer boundary of every search")
    org_namespace: str = Field(default="", description="organisation part of semantic ids; default: org")
    project: str = Field(default="", description="project within the organisation; default: the repository id")
    include: tuple[str, ...] = Field(default=(), description="globs of files to index; empty: all")
    exclude: tuple[str, ...] = Field(default=(), description="globs of files not to index")
    domains: tuple[DomainSettings, ...] = Field(default=(), description="business domains and what belongs to them")
    rule_packs: tuple[Name, ...] = Field(default=("generic",), description="rules that decide what kind a type is of")
    kinds: dict[str, KindName] = Field(default={}, description="path glob → kind, stronger than every rule")
    metadata: tuple[MetadataSettings, ...] = Field(
        default=(), description="audience, stage, priority, content type and more of files, by path"
    )
    require_business_domain: bool = Field(
        default=False, description="refuse a build in which something has no business domain"
    )
    confidentiality: Confidentiality = Field(
        default=DEFAULT_LEVEL, description="public, internal, confidential or restricted: who may find what is in it"
    )
    confidential_paths: dict[Name, Confidentiality] = Field(
        default={}, description="path, folder or glob → another confidentiality; the highest one that matches holds"
    )
    history: bool = Field(
        default=True, description="let the subjects of past commits say what a file is about; only git has them"
    )
    eval_set: Path | None = Field(
        default=None,
        exclude=True,  # measuring a build changes neither its content nor its name
        description="file of questions (.jsonl, .yaml) that a new build must answer as well as the one that is served",
    )
    graph_import: GraphImportSettings | None = Field(
        default=None,
        exclude=True,  # its place is not part of a generation; its content is, by fingerprint
        description="a dependency graph of another tool (RoslynIndexer, SCIP) to load too",
    )

    @property
    def organisation_namespace(self) -> str:
        return self.org_namespace or self.org

    @property
    def project_id(self) -> str:
        return self.project or self.id


class SourceLimits(Strict):
    """Limits of discovery; each refused file gets the reason."""

    max_file_bytes: int = Field(default=MEBIBYTE, gt=0, description="larger files are skipped, but for documents")
    max_document_bytes: int = Field(
        default=50 * MEBIBYTE, gt=0, description="larger documents (PDF, Word) and transcripts are skipped"
    )
    max_line_length: int = Field(default=20_000, gt=0, description="characters; longer lines are machine-made")
    file_time_limit_seconds: float = Field(
        default=10.0, gt=0, description="of processor time, for what one stage does with one file"
    )
    file_memory_limit_bytes: int = Field(
        default=GIBIBYTE, gt=0, description="memory that one stage may take for one file; counted on Linux"
    )
    network_timeout_seconds: float = Field(default=300.0, gt=0, description="for one clone or fetch")
