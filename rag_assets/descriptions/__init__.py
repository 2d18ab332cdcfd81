"""From segments to descriptions: registry, builders, the processor loop, unique symbols, domains and resources."""

from rag_assets.descriptions.domain_catalog import ConfiguredDomainCatalog, Domain
from rag_assets.descriptions.kinds import default_registry, register_builders
from rag_assets.descriptions.processor import (
    DescribeOutcome,
    FileOutcome,
    SegmentOutcome,
    SourceFileProcessor,
    SymbolCounter,
    describe_file,
    final_symbol,
    final_symbols,
)
from rag_assets.descriptions.registry import (
    DescriptionBuilderRegistry,
    RegistryError,
    ServiceContainer,
    ServiceError,
    SymbolTable,
)
from rag_assets.descriptions.symbol_description import SymbolDescription
from rag_assets.descriptions.text_description import TextDescription
from rag_assets.languages.csharp.facts.type_index import IndexedType, TypeIndex, declared_in
from rag_assets.languages.documents.resx import StaticResourceDictionary

DESCRIPTION_VERSION = 9
"""Raise it when the same segment would give another description."""

__all__ = [
    "DESCRIPTION_VERSION",
    "ConfiguredDomainCatalog",
    "DescribeOutcome",
    "DescriptionBuilderRegistry",
    "Domain",
    "FileOutcome",
    "IndexedType",
    "RegistryError",
    "SegmentOutcome",
    "ServiceContainer",
    "ServiceError",
    "SourceFileProcessor",
    "StaticResourceDictionary",
    "SymbolCounter",
    "SymbolDescription",
    "SymbolTable",
    "TextDescription",
    "TypeIndex",
    "declared_in",
    "default_registry",
    "describe_file",
    "final_symbol",
    "final_symbols",
    "register_builders",
]
