"""`GeneralDescriptionBuilder`: the facts of any segment; no kind is silently without points."""

from __future__ import annotations

from collections.abc import Iterable

from rag_assets.classification.facts import is_interface_name, simple_name
from rag_assets.contracts.description import DomainCatalog, ResourceDictionary, SummaryFacts
from rag_assets.contracts.result import InvokeResult
from rag_assets.contracts.segment import MemberKind, Parameter, Segment, SymbolText
from rag_assets.contracts.source_file import IndexFileContext
from rag_assets.descriptions.general import TEXT_MEMBERS, GeneralDescription, Layout
from rag_assets.languages import SourceType, source_type
from rag_assets.sections.snippet import first_paragraph
from rag_assets.sections.tiling import leaves_of, tile

NAMED_MEMBERS = 8
"""How many members a generated summary names: what fits one sentence."""

_TEXT_TYPES = frozenset(
    {SourceType.DOCUMENT, SourceType.TRANSCRIPT, SourceType.SQL, SourceType.CONFIG, SourceType.MARKUP}
)
_FILE_PARTS = frozenset({"module", "program"})
"""Declarations whose members have other segments of the file between them."""

_VALUE_TYPE_NAMES = (
    "bool byte char decimal double dynamic float int long nint nuint object sbyte short string uint ulong ushort var "
    "boolean number any str bytes Boolean Byte Char DateTime DateTimeOffset Decimal Double Guid Int16 Int32 Int64 "
    "Object Single String TimeSpan Type Uri UInt16 UInt32 UInt64 CancellationToken"
)
_VALUE_TYPES = frozenset(_VALUE_TYPE_NAMES.split())
"""Constructor parameters of these types are data, not dependencies."""


class GeneralDescriptionBuilder:
    """Describes what a segment declares by the facts of segmentation; applies to every symbol of every kind."""

    @property
    def name(self) -> str:
        return "general"

    @property
    def description(self) -> str:
        return (
            "Any kind: names, documentation, base types, dependencies and members with signatures of code; "
            "headings and text of documents. Takes the declaration as it is and infers nothing."
        )

    def build(
        self,
        file_context: IndexFileContext,
        symbol_text: SymbolText,
        domain_catalog: DomainCatalog,
        resource_dictionary: ResourceDictionary,
    ) -> InvokeResult[SummaryFacts]:
        """Always a description. Reads the segment of `symbol_text` and nothing else; resources are not needed here."""
        segment = symbol_text.segment
        path = file_context.relative_path
        language = file_context.language_hint or segment.language
        kind_of_source = source_type(language)
        layout = layout_of(segment, kind_of_source)
        leaves = leaves_of(segment.members) if layout == "code" else []
        header, tiles = tile(segment.span, leaves, symbol_text, fill_gaps=segment.kind not in _FILE_PARTS)
        bases, interfaces = _split_bases(segment, language)
        summary = first_paragraph(segment.doc)
        domain_key = domain_catalog.domain_of(path, segment.namespace) or file_context.domain_key
        description = GeneralDescription(
            symbol=segment.symbol,
            symbol_type=segment.kind,
            source_type=kind_of_source.value,
            domain_key=domain_key,
            domain_title=domain_catalog.title(domain_key),
            domain_tagline=domain_catalog.tagline(domain_key),
            name=segment.name,
            fqn=segment.symbol,
            declaration=segment.kind,
            namespace=segment.namespace,
            layout=layout,
            summary=summary or generated_summary(segment),
            documented=bool(summary),
            doc=segment.doc,
            signature=segment.signature,
            modifiers=segment.modifiers,
            base_types=bases,
            interfaces=interfaces,
            attributes=segment.attributes,
            dependencies=dependencies_of(segment),
            type_parameters=segment.type_parameters,
            parameters=segment.parameters,
            members=segment.members,
            span=segment.span,
            header=header,
            tiles=tuple(tiles),
            excerpts=tuple(
                _excerpt(symbol_text, segment, leaf.member.span.char_start, leaf.member.span.char_end)
                for leaf in leaves
                if leaf.member.kind in TEXT_MEMBERS
            ),
            text=str(symbol_text) if layout == "text" else "",
        )
        description.set_common_properties(file_context)
        description.code_language = language
        return InvokeResult.create(description)


def layout_of(segment: Segment, kind_of_source: SourceType) -> Layout:
    """Running text for everything but code, and for code that no parser could read; declarations for the rest."""
    if kind_of_source in _TEXT_TYPES:
        return "text"
    runs = (MemberKind.WINDOW, MemberKind.SECTION)
    return "text" if segment.members and all(member.kind in runs for member in segment.members) else "code"


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
    unnamed = (MemberKind.WINDOW, MemberKind.STATEMENTS)
    names = list(dict.fromkeys(m.name for m in segment.members if m.kind not in unnamed and m.name != segment.name))
    subject = f"{segment.kind[:1].upper()}{segment.kind[1:]} {segment.name}"
    if not names:
        return f"{subject}."
    more = f" and {len(names) - NAMED_MEMBERS} more" if len(names) > NAMED_MEMBERS else ""
    return f"{subject}: {noun} {', '.join(names[:NAMED_MEMBERS])}{more}."


def _split_bases(segment: Segment, language: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(base types, interfaces); C# base lists do not say which is which, names do."""
    if language != "csharp":
        return segment.base_list, ()
    return _where(segment.base_list, False), _where(segment.base_list, True)


def _where(bases: Iterable[str], interface: bool) -> tuple[str, ...]:
    return tuple(base for base in bases if is_interface_name(simple_name(base)) is interface)


def _excerpt(text: str, segment: Segment, start: int, end: int) -> str:
    return text[start - segment.span.char_start : end - segment.span.char_start]
