"""`RepositoryBuilder`: repositories, with the kind of storage that their text gives evidence of."""

from __future__ import annotations

from rag_assets.contracts.description import DomainCatalog, ResourceDictionary, SummaryFacts
from rag_assets.contracts.result import InvokeResult
from rag_assets.contracts.segment import Segment, SymbolText
from rag_assets.contracts.source_file import IndexFileContext
from rag_assets.descriptions.builders.applicability import is_type
from rag_assets.descriptions.builders.behaviour import behaviour_facts
from rag_assets.descriptions.declared_types import DeclaredTypes
from rag_assets.descriptions.describing import describe_symbol
from rag_assets.descriptions.facts.bodies import body_of
from rag_assets.descriptions.facts.storage import storage_of, storage_operations
from rag_assets.descriptions.facts.types import is_scalar, parse_type
from rag_assets.descriptions.kinds.repository import RepositoryDescription


class RepositoryBuilder:
    """Classes of kind Repository."""

    version = 1

    def __init__(self, declared_types: DeclaredTypes) -> None:
        self._declared_types = declared_types

    @property
    def name(self) -> str:
        return "repository"

    @property
    def description(self) -> str:
        return (
            "Repository classes: the facts of a manager, and where they store (documents, tables, SQL, blobs, memory, "
            "another service) with the evidence: base class, what it holds, what it uses, what it imports. Unknown "
            "where nothing tells."
        )

    def build(
        self,
        file_context: IndexFileContext,
        symbol_text: SymbolText,
        domain_catalog: DomainCatalog,
        resource_dictionary: ResourceDictionary,
    ) -> InvokeResult[SummaryFacts]:
        """A RepositoryDescription; not applicable to what is no class."""
        segment = symbol_text.segment
        if not is_type(file_context, segment):
            return InvokeResult.not_applicable()
        body = body_of(symbol_text)
        others = [(path, body_of(text)) for path, text in symbol_text.others]
        storage = storage_of(body, self._declared_types, [other for _, other in others])
        facts = behaviour_facts(symbol_text, self._declared_types)
        facts |= {
            "storage": storage.kind,
            "storage_evidence": storage.evidence,
            "storage_operations": storage_operations(body, storage.kind, self._declared_types, others),
            "entities": stored_entities(segment, facts["primary_entity"]),
        }
        return InvokeResult.create(
            describe_symbol(RepositoryDescription, file_context, symbol_text, domain_catalog, **facts)
        )


def stored_entities(segment: Segment, primary: str) -> tuple[str, ...]:
    """The primary entity and the type arguments of the bases that can be entities."""
    arguments = (argument for base in segment.base_list for argument in parse_type(base).arguments)
    named = [a.name for a in arguments if a.name and not is_scalar(a) and a.name not in segment.type_parameters]
    return tuple(dict.fromkeys([primary, *named] if primary else named))
