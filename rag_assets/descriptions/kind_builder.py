"""`KindBuilder`: what the built-in builders share. A kind declares its name, its description type and its facts."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from rag_assets.contracts.description import DomainCatalog, ResourceDictionary, SummaryFacts
from rag_assets.contracts.result import InvokeResult, Message
from rag_assets.contracts.segment import MemberKind, Parameter, Segment, SymbolText, first_paragraph, leaves_of
from rag_assets.contracts.source_file import IndexFileContext
from rag_assets.descriptions.domain_catalog import entity_domain_expression
from rag_assets.descriptions.symbol_description import TEXT_MEMBERS, SymbolDescription
from rag_assets.descriptions.text_description import TextDescription
from rag_assets.identifiers import identifier_words
from rag_assets.languages.csharp.binder.type_syntax import is_interface_name, simple_name
from rag_assets.languages.csharp.facts.expressions import LocalizedAttributes
from rag_assets.languages.csharp.facts.primary_entity import name_stems
from rag_assets.languages.csharp.facts.type_index import TypeIndex
from rag_assets.languages.detection import SourceType, source_type
from rag_assets.printable import abridged
from rag_assets.sections.code import tile

S = TypeVar("S", bound=SymbolDescription)
T = TypeVar("T", bound=TextDescription)
D = TypeVar("D", bound=SummaryFacts)

NAMED_MEMBERS = 8
"""How many members a generated summary names: what fits one sentence."""

_FILE_PARTS = frozenset({"module", "program"})
"""Declarations whose members have other segments of the file between them."""

_VALUE_TYPE_NAMES = (
    "bool byte char decimal double dynamic float int long nint nuint object sbyte short string uint ulong ushort var "
    "boolean number any str bytes Boolean Byte Char DateTime DateTimeOffset Decimal Double Guid Int16 Int32 Int64 "
    "Object Single String TimeSpan Type Uri UInt16 UInt32 UInt64 CancellationToken"
)
_VALUE_TYPES = frozenset(_VALUE_TYPE_NAMES.split())
"""Constructor parameters of these types are data, not dependencies."""


def describe_symbol(
    description_type: type[S],
    file_context: IndexFileContext,
    symbol_text: SymbolText,
    domain_catalog: DomainCatalog,
    **facts: Any,
) -> S:
    """A description of code with all common facts; `facts` are the fields that a kind adds or knows better."""
    segment = symbol_text.segment
    language = file_context.language_hint or segment.language
    leaves = leaves_of(segment.members)
    header, tiles = tile(segment.span, leaves, symbol_text, fill_gaps=segment.kind not in _FILE_PARTS)
    bases, interfaces = split_bases(segment, language)
    summary = first_paragraph(segment.doc)
    common: dict[str, Any] = {
        "name": segment.name,
        "fqn": segment.symbol,
        "declaration": segment.kind,
        "namespace": segment.namespace,
        "summary": summary or generated_summary(segment),
        "documented": bool(summary),
        "doc": segment.doc,
        "signature": segment.signature,
        "modifiers": segment.modifiers,
        "base_types": bases,
        "interfaces": interfaces,
        "attributes": segment.attributes,
        "dependencies": dependencies_of(symbol_text.whole),
        "type_parameters": segment.type_parameters,
        "parameters": segment.parameters,
        "members": segment.members,
        "other_parts": symbol_text.other_parts,
        "span": segment.span,
        "header": header,
        "tiles": tuple(tiles),
        "excerpts": tuple(symbol_text.part(leaf.member.span) for leaf in leaves if leaf.member.kind in TEXT_MEMBERS),
    }
    return _identified(description_type(**{**common, **facts}), file_context, segment, domain_catalog)


def describe_text(
    description_type: type[T],
    file_context: IndexFileContext,
    symbol_text: SymbolText,
    domain_catalog: DomainCatalog,
    **facts: Any,
) -> T:
    """A description of running text with all common facts; `facts` as in `describe_symbol`."""
    segment = symbol_text.segment
    common: dict[str, Any] = {
        "name": segment.name,
        "fqn": segment.symbol,
        "declaration": segment.kind,
        "members": segment.members,
        "span": segment.span,
        "text": str(symbol_text),
    }
    return _identified(description_type(**{**common, **facts}), file_context, segment, domain_catalog)


def _identified(description: D, file_context: IndexFileContext, segment: Segment, domain_catalog: DomainCatalog) -> D:
    """`description` with its symbol, its domain and the common properties (A19)."""
    description.set_common_properties(file_context)
    language = file_context.language_hint or segment.language
    path = file_context.relative_path
    said = file_context.metadata.business_domain_key if file_context.metadata is not None else ""
    own = said or domain_catalog.domain_of_segment(path, segment) or file_context.domain_key
    domain_key = own
    if not own and domain_catalog.has_domains and not entity_domain_expression(segment):  # it names another
        entities, related = entities_of(description, segment), related_types(description, segment)
        domain_key = domain_catalog.domain_about(path, entities, related)
    description.symbol = segment.symbol
    description.symbol_type = segment.kind
    description.code_language = language
    description.source_type = source_type(language).value
    description.domain_key = domain_key
    description.domain_title = domain_catalog.title(domain_key)
    # One sentence in the snippets of a whole label would make them all alike; entities and configured places have it.
    description.domain_tagline = domain_catalog.tagline(own)
    return description


def entities_of(description: SummaryFacts, segment: Segment) -> tuple[str, ...]:
    """The names of what a description is about, the best first: what its kind found, then what its name says
    (`CreateInvoiceCommand`, `dbo.Invoices`, `docs/invoices.md`)."""
    found = description.subjects() if isinstance(description, SymbolDescription) else ()
    name = segment.name if segment.name.isidentifier() else _pascal_case(segment.name)
    return tuple(dict.fromkeys(stem for one in (*found, name) for stem in (one, *name_stems(one))))


def related_types(description: SummaryFacts, segment: Segment) -> tuple[str, ...]:
    """The names that a declaration uses as types, or that stand in a text like names of types; sorted."""
    if isinstance(description, TextDescription):
        counted = Counter(_TYPE_NAME.findall(description.text))
        return tuple(sorted(name for name, _ in counted.most_common(MOST_NAMES)))
    texts = [*segment.base_list, *(parameter.type for parameter in segment.parameters)]
    for member in segment.members:
        texts += [member.type, *(parameter.type for parameter in member.parameters)]
    return tuple(sorted({name for text in texts for name in _TYPE_NAME.findall(text)} - {segment.name}))


MOST_NAMES = 100
"""Names of a text that are looked at: the frequent ones say what it is about."""

_TYPE_NAME = re.compile(r"\b[A-Z]\w+")


def _pascal_case(text: str) -> str:
    """`order-invoices` → `OrderInvoices`."""
    return "".join(f"{word[:1].upper()}{word[1:]}" for word in identifier_words(text))


def dependencies_of(segment: Segment) -> tuple[str, ...]:
    """The types that constructors ask for, in order; the parameters of a record are its data."""
    asked: list[Parameter] = []
    if segment.kind in ("class", "struct"):
        asked += segment.parameters
    for member in segment.members:
        if member.kind is MemberKind.CONSTRUCTOR and "static" not in member.modifiers:
            asked += member.parameters
    types = (parameter.type.strip().rstrip("?") for parameter in asked)
    return tuple(dict.fromkeys(t for t in types if t and simple_name(t) not in _VALUE_TYPES))


def generated_summary(segment: Segment) -> str:
    """What can be said without documentation: `Class OrderService: members Create, Cancel.`"""
    noun = "sections" if any(member.kind is MemberKind.SECTION for member in segment.members) else "members"
    unnamed = (MemberKind.WINDOW, MemberKind.STATEMENTS, MemberKind.PAGE, MemberKind.CUE)
    names = list(dict.fromkeys(m.name for m in segment.members if m.kind not in unnamed and m.name != segment.name))
    subject = f"{segment.kind[:1].upper()}{segment.kind[1:]} {segment.name}"
    if not names:
        return f"{subject}."
    return f"{subject}: {noun} {abridged(names, NAMED_MEMBERS)}."


def split_bases(segment: Segment, language: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(base types, interfaces); C# base lists do not say which is which, names do."""
    if language != "csharp":
        return segment.base_list, ()
    return _where(segment.base_list, False), _where(segment.base_list, True)


def _where(bases: Iterable[str], interface: bool) -> tuple[str, ...]:
    return tuple(base for base in bases if is_interface_name(simple_name(base)) is interface)


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
    domains: DomainCatalog

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
    """Whether the segment is a type, and some part of it was read."""
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
        subject = Subject(file_context, symbol_text, texts, domain_catalog)
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
