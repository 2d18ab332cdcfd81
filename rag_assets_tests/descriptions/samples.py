"""Tiny factories: file contexts, and descriptions by the real path from text to facts."""

from __future__ import annotations

from rag_assets.classification.classifier import Classifier
from rag_assets.contracts.description import SummaryFacts
from rag_assets.contracts.identity import DocumentIdentity, content_hash, document_uri
from rag_assets.contracts.segment import SegmentedFile
from rag_assets.contracts.source_file import GitRepoInfo, IndexFileContext
from rag_assets.descriptions.domain_catalog import ConfiguredDomainCatalog, Domain
from rag_assets.descriptions.kinds import GeneralDescriptionBuilder, register_builders
from rag_assets.descriptions.processor import FileOutcome, SourceFileProcessor
from rag_assets.descriptions.registry import DescriptionBuilderRegistry, SymbolTable
from rag_assets.descriptions.symbol_description import SymbolDescription
from rag_assets.descriptions.text_description import TextDescription
from rag_assets.languages.csharp.facts.type_index import TypeIndex, declared_in
from rag_assets.languages.detection import detect_language
from rag_assets.languages.documents.resx import StaticResourceDictionary
from rag_assets.segmentation import segment_file

DOMAINS = (Domain("ordering", "Ordering", "From basket to invoice.", paths=("src/Shop/**",), namespaces=("Shop.*",)),)


def file_context(text: str, path: str = "src/Shop/Code.cs") -> IndexFileContext:
    return IndexFileContext(
        full_path=f"/checkout/{path}",
        relative_path=path,
        contents=text,
        git=GitRepoInfo("https://example.com/shop.git", "main", "c" * 40, "2026-01-02T03:04:05Z"),
        identity=DocumentIdentity("acme", "acme", "shop", "shop", f"shop/{path}"),
        index_label="shop@main",
        blob_uri=document_uri("shop@main", path),
        source_sha256=content_hash(text),
        language_hint=detect_language(path),
    )


def segmented(text: str, path: str = "src/Shop/Code.cs") -> SegmentedFile:
    return segment_file(text, path, detect_language(path))


def processor(
    registry: DescriptionBuilderRegistry | None = None,
    domains: tuple[Domain, ...] = (),
    knowledge: SymbolTable | None = None,
) -> SourceFileProcessor:
    if registry is None:
        registry = DescriptionBuilderRegistry((knowledge or SymbolTable()).services())
        register_builders(registry)
    return SourceFileProcessor(Classifier(), registry, ConfiguredDomainCatalog(domains), StaticResourceDictionary())


def knowledge_of(*files: tuple[str, str]) -> SymbolTable:
    """What builders know of a label of these (path, text) files."""
    declared = (found for path, text in files for found in declared_in(path, segmented(text, path).segments))
    return SymbolTable(declared_types=TypeIndex(declared))


def described_file(
    text: str,
    path: str = "src/Shop/Code.cs",
    domains: tuple[Domain, ...] = (),
    knowledge: SymbolTable | None = None,
) -> FileOutcome:
    """What the built-in builders make of a file; without `knowledge` it is the only one of its label."""
    made = processor(domains=domains, knowledge=knowledge or knowledge_of((path, text)))
    return made.describe_file(file_context(text, path), segmented(text, path))


def general_registry() -> DescriptionBuilderRegistry:
    """Nothing but the general builder."""
    made = DescriptionBuilderRegistry(SymbolTable().services())
    made.register_fallback(GeneralDescriptionBuilder)
    return made


def general_description(text: str, path: str, domains: tuple[Domain, ...] = ()) -> SummaryFacts:
    """What the general builder makes of the first segment of a text."""
    made = processor(general_registry(), domains).describe_file(file_context(text, path), segmented(text, path))
    return made.descriptions[0]


def described(text: str, path: str = "src/Shop/Code.cs", domains: tuple[Domain, ...] = ()) -> SymbolDescription:
    """The general description of the first segment of a text of code."""
    found = general_description(text, path, domains)
    assert isinstance(found, SymbolDescription)
    return found


def described_text(text: str, path: str) -> TextDescription:
    """The general description of a text that is not code."""
    found = general_description(text, path)
    assert isinstance(found, TextDescription)
    return found
