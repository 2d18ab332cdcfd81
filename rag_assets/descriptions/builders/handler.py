"""`HandlerBuilder`: handlers of commands, queries, notifications and messages."""

from __future__ import annotations

from rag_assets.contracts.description import DomainCatalog, ResourceDictionary, SummaryFacts
from rag_assets.contracts.result import InvokeResult
from rag_assets.contracts.segment import SymbolText
from rag_assets.contracts.source_file import IndexFileContext
from rag_assets.descriptions.builders.applicability import is_type
from rag_assets.descriptions.builders.behaviour import behaviour_facts
from rag_assets.descriptions.declared_types import DeclaredTypes
from rag_assets.descriptions.describing import describe_symbol
from rag_assets.descriptions.facts.messages import handled_messages
from rag_assets.descriptions.kinds.handler import HandlerDescription


class HandlerBuilder:
    """Classes of kind Handler."""

    version = 1

    def __init__(self, declared_types: DeclaredTypes) -> None:
        self._declared_types = declared_types

    @property
    def name(self) -> str:
        return "handler"

    @property
    def description(self) -> str:
        return (
            "Handlers: message and answer from IRequestHandler<,>, INotificationHandler<>, IConsumer<> and their like, "
            "else by the convention of Handle, Consume and Invoke methods. The flavor is Command, Query, Notification, "
            "Message or Middleware."
        )

    def build(
        self,
        file_context: IndexFileContext,
        symbol_text: SymbolText,
        domain_catalog: DomainCatalog,
        resource_dictionary: ResourceDictionary,
    ) -> InvokeResult[SummaryFacts]:
        """A HandlerDescription, its flavor decided here (A10); not applicable to what is no class."""
        segment = symbol_text.segment
        if not is_type(file_context, segment):
            return InvokeResult.not_applicable()
        facts = behaviour_facts(symbol_text, self._declared_types) | {"handled": handled_messages(symbol_text.whole)}
        return InvokeResult.create(
            describe_symbol(HandlerDescription, file_context, symbol_text, domain_catalog, **facts)
        )
