"""The built-in description builders: those of each kind, and the general one for everything they leave."""

from __future__ import annotations

from rag_assets.contracts.kinds import Kind, SubtypeKind
from rag_assets.descriptions.kind_builder import Facts, KindBuilder, Subject, is_text
from rag_assets.descriptions.kinds.composition_root import ExtensionMethodsBuilder, StartupBuilder
from rag_assets.descriptions.kinds.controller import ControllerBuilder, MappedEndpointsBuilder
from rag_assets.descriptions.kinds.data_type import (
    CodeAttributeBuilder,
    ConfigurationBuilder,
    ContractBuilder,
    ExceptionBuilder,
    SummaryListModelBuilder,
)
from rag_assets.descriptions.kinds.document import DocumentDescriptionBuilder
from rag_assets.descriptions.kinds.domain_description import DomainDescriptionBuilder
from rag_assets.descriptions.kinds.ef_context import (
    MIGRATION,
    EfContextBuilder,
    EntityConfigurationBuilder,
    MigrationBuilder,
)
from rag_assets.descriptions.kinds.enum import EnumBuilder
from rag_assets.descriptions.kinds.interface import InterfaceBuilder
from rag_assets.descriptions.kinds.model import ModelMetadataBuilder, ModelStructureBuilder
from rag_assets.descriptions.kinds.resource_file import ResourceFileBuilder
from rag_assets.descriptions.kinds.service_like import (
    ClientBuilder,
    HandlerBuilder,
    ManagerBuilder,
    ProxyBuilder,
    RepositoryBuilder,
    ServiceBuilder,
)
from rag_assets.descriptions.kinds.sql_object import SqlObjectBuilder
from rag_assets.descriptions.kinds.test_class import TestBuilder
from rag_assets.descriptions.registry import DescriptionBuilderRegistry, ServiceContainer, SymbolTable
from rag_assets.descriptions.symbol_description import SymbolDescription
from rag_assets.descriptions.text_description import TextDescription


class GeneralDescriptionBuilder(KindBuilder):
    """Describes what a segment declares by the facts of segmentation; applies to every symbol of every kind."""

    name = "general"
    description = (
        "Any kind: names, documentation, base types, dependencies and members with signatures of code; "
        "headings and text of documents. Takes the declaration as it is and infers nothing."
    )
    applies = staticmethod(lambda subject: True)

    def description_type(self, subject: Subject) -> type[SymbolDescription] | type[TextDescription]:
        return TextDescription if is_text(subject, subject.segment) else SymbolDescription

    def facts(self, subject: Subject) -> Facts:
        return {}


BUILDERS: tuple[tuple[type, tuple[Kind, ...]], ...] = (
    (ModelStructureBuilder, (SubtypeKind.MODEL,)),
    (SummaryListModelBuilder, (SubtypeKind.SUMMARY_LIST_MODEL,)),
    (ModelMetadataBuilder, (SubtypeKind.MODEL, SubtypeKind.SUMMARY_LIST_MODEL)),
    (ContractBuilder, (SubtypeKind.REQUEST, SubtypeKind.RESPONSE, SubtypeKind.RESULT, SubtypeKind.MESSAGE)),
    (ConfigurationBuilder, (SubtypeKind.CONFIGURATION,)),
    (EnumBuilder, (SubtypeKind.ENUM,)),
    (ExceptionBuilder, (SubtypeKind.EXCEPTION,)),
    (CodeAttributeBuilder, (SubtypeKind.CODE_ATTRIBUTE,)),
    (ResourceFileBuilder, (SubtypeKind.RESOURCE_FILE,)),
    (DomainDescriptionBuilder, (SubtypeKind.DOMAIN_DESCRIPTION,)),
    (ManagerBuilder, (SubtypeKind.MANAGER,)),
    (ServiceBuilder, (SubtypeKind.SERVICE,)),
    (RepositoryBuilder, (SubtypeKind.REPOSITORY,)),
    (ClientBuilder, (SubtypeKind.CLIENT,)),
    (ProxyBuilder, (SubtypeKind.PROXY_SERVICES,)),
    (HandlerBuilder, (SubtypeKind.HANDLER,)),
    (InterfaceBuilder, (SubtypeKind.INTERFACE,)),
    (EfContextBuilder, (SubtypeKind.EF_DATA_CONTEXT,)),
    (EntityConfigurationBuilder, (SubtypeKind.CONFIGURATION,)),
    (MigrationBuilder, (MIGRATION,)),
    (TestBuilder, (SubtypeKind.TEST,)),
    (StartupBuilder, (SubtypeKind.STARTUP, SubtypeKind.PROGRAM)),
    (ExtensionMethodsBuilder, (SubtypeKind.EXTENSION_METHODS,)),
    (ControllerBuilder, (SubtypeKind.CONTROLLER, SubtypeKind.OTHER)),
    (MappedEndpointsBuilder, (SubtypeKind.STARTUP, SubtypeKind.PROGRAM)),
    (DocumentDescriptionBuilder, (SubtypeKind.DDR, SubtypeKind.MARKDOWN, SubtypeKind.DOCUMENT)),
    (SqlObjectBuilder, (SubtypeKind.SQL_OBJECT,)),
)
"""Builder types and the kinds they describe, in order of use."""


def register_builders(registry: DescriptionBuilderRegistry) -> None:
    """Registers the built-in builders. Several may describe one kind; each decides what it applies to (A18)."""
    for builder_type, kinds in BUILDERS:
        for kind in kinds:
            registry.register(builder_type, kind)
    registry.register_fallback(GeneralDescriptionBuilder)


def default_registry(services: ServiceContainer | None = None) -> DescriptionBuilderRegistry:
    """Built-in builders and those of installed packages, checked: start-up fails here, not at the first file.

    Without `services` builders know of no file but their own. Raises RegistryError.
    """
    registry = DescriptionBuilderRegistry(services or SymbolTable().services())
    register_builders(registry)
    registry.load_entry_points()
    registry.validate()
    return registry
