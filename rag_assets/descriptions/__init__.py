"""From segments to descriptions: registry, builders, the processor loop, unique symbols, domains and resources."""

from rag_assets.descriptions.builders import default_registry, register_builders
from rag_assets.descriptions.declared_types import DeclaredType, DeclaredTypes, declared_in
from rag_assets.descriptions.domain_catalog import ConfiguredDomainCatalog, Domain
from rag_assets.descriptions.identity import SymbolCensus, final_symbol, final_symbols
from rag_assets.descriptions.label_knowledge import LabelKnowledge
from rag_assets.descriptions.processor import FileOutcome, Outcome, SegmentOutcome, SourceFileProcessor, describe_file
from rag_assets.descriptions.registry import DescriptionBuilderRegistry, RegistryError
from rag_assets.descriptions.resource_dictionary import StaticResourceDictionary
from rag_assets.descriptions.services import ServiceError, Services
from rag_assets.descriptions.symbol import SymbolDescription
from rag_assets.descriptions.text import TextDescription

DESCRIPTION_VERSION = 6
"""Raise it when the same segment would give another description."""

__all__ = [
    "DESCRIPTION_VERSION",
    "ConfiguredDomainCatalog",
    "DeclaredType",
    "DeclaredTypes",
    "DescriptionBuilderRegistry",
    "Domain",
    "FileOutcome",
    "LabelKnowledge",
    "Outcome",
    "RegistryError",
    "SegmentOutcome",
    "ServiceError",
    "Services",
    "SourceFileProcessor",
    "StaticResourceDictionary",
    "SymbolCensus",
    "SymbolDescription",
    "TextDescription",
    "declared_in",
    "default_registry",
    "describe_file",
    "final_symbol",
    "final_symbols",
    "register_builders",
]
