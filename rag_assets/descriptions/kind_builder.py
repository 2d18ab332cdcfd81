"""`KindBuilder`: what the built-in builders share. A kind declares its name, its description type and its facts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from rag_assets.contracts.description import DomainCatalog, ResourceDictionary, SummaryFacts
from rag_assets.contracts.result import InvokeResult, Message
from rag_assets.contracts.segment import MemberKind, Segment, SymbolText
from rag_assets.contracts.source_file import IndexFileContext
from rag_assets.descriptions.factory import describe_symbol, describe_text
from rag_assets.descriptions.symbol_description import SymbolDescription
from rag_assets.descriptions.text_description import TextDescription
from rag_assets.languages.csharp.facts.localized_attributes import LocalizedAttributes
from rag_assets.languages.csharp.facts.type_index import TypeIndex
from rag_assets.languages.detection import SourceType, source_type

Facts: TypeAlias = dict[str, Any]
"""The fields that a kind adds to the common facts of a description, or knows better."""

TYPES = frozenset({"class", "struct", "record", "record class", "record struct"})
"""Declarations with behaviour; interfaces, enums, delegates, functions and modules have builders of their own."""

_TEXT_TYPES = frozenset(
    {SourceType.DOCUMENT, SourceType.TRANSCRIPT, SourceType.SQL, SourceType.CONFIG, SourceType.MARKUP}
)


@dataclass(frozen=True, slots=True)
class Subject:
    """What a builder reads: one symbol of one file. `texts` resolves its attributes and collects the warnings."""

    file: IndexFileContext
    text: SymbolText
    texts: LocalizedAttributes

    @property
    def segment(self) -> Segment:
        """The declaration with the members of this file."""
        return self.text.segment

    @property
    def whole(self) -> Segment:
        """The declaration with the members of all parts of a partial type."""
        return self.text.whole

    @property
    def path(self) -> str:
        return self.file.relative_path

    @property
    def language(self) -> str:
        return self.file.language_hint or self.segment.language

    @property
    def source_type(self) -> SourceType:
        return source_type(self.language)

    def warn(self, message: Message) -> None:
        self.texts.warnings.append(message)


def is_text(subject: Subject, segment: Segment) -> bool:
    """Running text: everything but code, and code that no parser could read."""
    if subject.source_type in _TEXT_TYPES:
        return True
    runs = (MemberKind.WINDOW, MemberKind.SECTION)
    return bool(segment.members) and all(member.kind in runs for member in segment.members)


def is_code(subject: Subject) -> bool:
    """Whether the segment has a syntax tree behind it."""
    return not is_text(subject, subject.segment)


def is_type(subject: Subject) -> bool:
    """Whether the segment is a type whose members were read."""
    return subject.segment.kind in TYPES and is_code(subject)


def is_whole_type(subject: Subject) -> bool:
    """Whether the segment is a type of which some part was read."""
    return subject.whole.kind in TYPES and not is_text(subject, subject.whole)


def is_csharp(subject: Subject) -> bool:
    return subject.language == "csharp"


class KindBuilder(ABC):
    """An `IDescriptionBuilder` (A11). `applies` decides before any work, `facts` may still refuse."""

    name: str
    description: str
    describes: type[SymbolDescription] | type[TextDescription]
    applies: Callable[[Subject], bool] = staticmethod(is_type)
    version = 1
    """Raise it when a builder gives other facts for the same segment; it is a part of the registry's fingerprint."""

    def description_type(self, subject: Subject) -> type[SymbolDescription] | type[TextDescription]:
        return self.describes

    @abstractmethod
    def facts(self, subject: Subject) -> Facts | None:
        """The fields of `describes` that this kind adds; None where it is not applicable (A14)."""

    def build(
        self,
        file_context: IndexFileContext,
        symbol_text: SymbolText,
        domain_catalog: DomainCatalog,
        resource_dictionary: ResourceDictionary,
    ) -> InvokeResult[SummaryFacts]:
        """A description with warnings for texts that no resource has, or not applicable."""
        texts = LocalizedAttributes(resource_dictionary, file_context.relative_path)
        subject = Subject(file_context, symbol_text, texts)
        facts = self.facts(subject) if self.applies(subject) else None
        if facts is None:
            return InvokeResult.not_applicable(texts.warnings)
        made: SummaryFacts
        wanted = self.description_type(subject)
        if issubclass(wanted, TextDescription):
            made = describe_text(wanted, file_context, symbol_text, domain_catalog, **facts)
        else:
            made = describe_symbol(wanted, file_context, symbol_text, domain_catalog, **facts)
        return InvokeResult.create(made, texts.warnings)


class TypeAwareBuilder(KindBuilder):
    """A builder that resolves names to the types that the label declares."""

    def __init__(self, declared_types: TypeIndex) -> None:
        self.declared_types = declared_types
