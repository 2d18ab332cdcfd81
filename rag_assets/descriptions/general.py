"""`GeneralDescription`: the plain facts of any segment, and how they become sections.

It holds no service and no text but what the sections need, so it survives storage as JSON unchanged.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Literal

from rag_assets.classification.facts import is_interface_name
from rag_assets.contracts.description import SummaryFacts
from rag_assets.contracts.identity import DEFAULT_SECTION
from rag_assets.contracts.kinds import RagContentType, SubtypeKind
from rag_assets.contracts.section import SummarySection
from rag_assets.contracts.segment import LineIndex, Member, MemberKind, Parameter, Span
from rag_assets.descriptions.markdown import declaration_markdown, fenced_code, member_markdown
from rag_assets.descriptions.node_keys import declaration_key, document_section_keys, member_keys
from rag_assets.languages import SourceType
from rag_assets.sections import (
    Block,
    Outline,
    SectionSubject,
    TextOutline,
    TextSection,
    code_sections,
    kebab_case,
    text_sections,
)
from rag_assets.sections.blocks import moved
from rag_assets.sections.code import OVERVIEW
from rag_assets.sections.paragraphs import cut_to, paragraphs
from rag_assets.sections.snippet import finder_header, member_line, path_words, shortened_sentences
from rag_assets.sections.tiling import Leaf, leaves_of
from rag_assets.text import identifier_words

Layout = Literal["code", "text"]

STATEMENT_CHARS = 600
"""The longest piece of top-level statements in one line of a snippet: about 170 tokens, so it never hides others."""

REPEATED_PURPOSE_CHARS = 120
"""How much of the purpose each part of the members repeats: a sentence; the members need the room."""

_PARAMETER_TYPES = ("record", "delegate")
"""Declarations whose parameters are what they are; those of a class are its dependencies."""

_NOWHERE = Span(1, 1, 0, 0)

_CONTENT_TYPES = {
    SourceType.DOCUMENT: RagContentType.REFERENCE,
    SourceType.TRANSCRIPT: RagContentType.REFERENCE,
    SourceType.SQL: RagContentType.SCHEMA,
    SourceType.CONFIG: RagContentType.CONFIGURATION,
}


@dataclass(kw_only=True)
class GeneralDescription(SummaryFacts):
    """What a segment declares: names, documentation, bases, dependencies, members with signatures and docs.

    `span` is the segment, `header` its part before the first member and `tiles` the slices of its members (nested
    ones included, in text order). `layout` says whether it reads as declarations or as running text; `text` is
    that text, `excerpts` the runs of statements between declarations. `documented` tells a written summary from
    a generated one.
    """

    name: str = ""
    fqn: str = ""
    declaration: str = ""
    namespace: str = ""
    layout: Layout = "code"
    summary: str = ""
    documented: bool = False
    doc: str = ""
    signature: str = ""
    modifiers: tuple[str, ...] = ()
    base_types: tuple[str, ...] = ()
    interfaces: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    dependencies: tuple[str, ...] = ()
    type_parameters: tuple[str, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    members: tuple[Member, ...] = ()
    span: Span = _NOWHERE
    header: Span = _NOWHERE
    tiles: tuple[Span, ...] = ()
    excerpts: tuple[str, ...] = ()
    text: str = ""

    @property
    def subtype(self) -> str:
        return self.kind

    @property
    def content_type(self) -> RagContentType:
        if self.kind == SubtypeKind.DDR:
            return RagContentType.SPEC
        return _CONTENT_TYPES.get(SourceType(self.source_type), RagContentType.SOURCE_CODE)

    def build_summary_sections(self) -> list[SummarySection]:
        """Texts by heading path and size, code by overview and members. Needs `use_window`."""
        subject = SectionSubject(self.symbol, self.symbol_type, self.kind, self.domain_key)
        if self.layout == "text":
            return text_sections(subject, self._text_outline(), self.window)
        return code_sections(subject, self._outline(), self.window)

    # code

    def _outline(self) -> Outline:
        finder = partial(
            finder_header,
            domain=self.domain_title,
            domain_summary=self.domain_tagline,
            kind=self.kind,
            artifact=self.fqn,
        )
        purpose = self.summary if self.documented else self._short_purpose()
        own_key = declaration_key(self.code_language, self.fqn, self.declaration, self.path)
        # A program has no name of its own: every part needs its path to be told from others.
        place = [("Path", path_words(self.path, self.fqn))] if self.declaration == "program" else []
        return Outline(
            header=finder(facts=self._facts(), purpose=purpose),
            short_header=[*finder(facts=place, purpose=shortened_sentences(purpose, REPEATED_PURPOSE_CHARS)), ""],
            self_block=Block("", self.header, (self.name,), (own_key,), declaration_markdown(self)),
            blocks=self._member_blocks(own_key),
        )

    def _facts(self) -> list[tuple[str, str]]:
        """The kind-specific lines of the overview; empty ones are left out by the snippet."""
        is_data = self.declaration.startswith(_PARAMETER_TYPES)
        parameters = ", ".join(f"{p.type} {p.name}".strip() for p in self.parameters) if is_data else ""
        return [
            ("Inherits", ", ".join(self.base_types)),
            ("Implements", ", ".join(self.interfaces)),
            ("Parameters", parameters),
            ("DependsOn", ", ".join(self.dependencies)),
            ("Attributes", ", ".join(self.attributes)),
            ("Path", path_words(self.path, self.fqn)),
        ]

    def _short_purpose(self) -> str:
        """Undocumented: what the name says, in words. The members follow in the same snippet."""
        words = list(identifier_words(self.name))
        if self.declaration == "interface" and is_interface_name(self.name):
            words = words[1:]
        text = " ".join(words).lower()
        return text if text == self.declaration else f"{text} {self.declaration}".strip()

    def _member_blocks(self, own_key: str) -> list[Block]:
        blocks: list[Block] = []
        excerpts = iter(self.excerpts)
        for leaf, tile in zip(leaves_of(self.members), self.tiles, strict=True):
            if leaf.member.kind in TEXT_MEMBERS:
                blocks += self._statement_blocks(leaf.member, tile, next(excerpts), own_key)
            else:
                blocks.append(self._member_block(leaf, tile))
        return blocks

    def _member_block(self, leaf: Leaf, tile: Span) -> Block:
        member, owner = leaf.member, leaf.owner
        fqn = f"{self.fqn}.{owner}" if owner else self.fqn
        keys = member_keys(self.code_language, fqn, member)
        return Block(member_line(member, owner), tile, (member.name,), keys, member_markdown(member, owner))

    def _statement_blocks(self, member: Member, tile: Span, excerpt: str, own_key: str) -> list[Block]:
        """Statements have no name to list: their text is what can be found, their node the
        declaration's. The pieces share out the tile."""
        pieces = [
            piece
            for paragraph in paragraphs(excerpt, 0, len(excerpt))
            for piece in cut_to(excerpt, paragraph, STATEMENT_CHARS)
        ]
        blocks: list[Block] = []
        lines = LineIndex(excerpt)
        for number, (start, end) in enumerate(pieces):
            text = excerpt[start:end].strip()
            inner = moved(lines.span(start, end), member.span)
            first = tile if number == 0 else inner
            last = tile if number == len(pieces) - 1 else inner
            span = Span(first.line_start, last.line_end, first.char_start, last.char_end)
            blocks.append(Block(text, span, (), (own_key,), fenced_code(text, self.code_language)))
        return blocks or [Block(member.signature, tile, (), (own_key,))]

    # running text

    def _text_outline(self) -> TextOutline:
        offset = self.span.char_start
        headed = [member for member in self.members if member.kind is MemberKind.SECTION]
        sections = [
            TextSection(
                "" if member.type == "preamble" else member.signature,
                member.span.char_start - offset,
                member.span.char_end - offset,
            )
            for member in headed
        ]
        declared = [
            (member.span.char_start - offset, member.name)
            for member in self.members
            if member.kind not in TEXT_MEMBERS and member.name
        ]
        is_document = SourceType(self.source_type) in (SourceType.DOCUMENT, SourceType.TRANSCRIPT)
        own_key = declaration_key(self.code_language, self.fqn, self.declaration, self.path)
        return TextOutline(
            title=self._text_title(),
            text=self.text,
            origin=self.span,
            sections=sections or [TextSection("", 0, len(self.text))],
            default_key=DEFAULT_SECTION if is_document else f"{kebab_case(self.kind)}-{OVERVIEW}",
            node_keys=partial(document_section_keys, self.path) if headed else lambda _: (own_key,),
            names=(self.name,),
            declared=declared,
        )

    def _text_title(self) -> str:
        """`Markdown: docs/guide.md (Guide)`: kind, artifact, and the title where nothing else tells it."""
        known = (self.fqn.lower(), *(member.signature.lower() for member in self.members[:1]))
        title = "" if any(self.name.lower() in text for text in known) else f" ({self.name})"
        return f"{self.kind}: {self.fqn}{title}"


TEXT_MEMBERS = frozenset({MemberKind.SECTION, MemberKind.WINDOW, MemberKind.STATEMENTS})
"""Members that are runs of text, without a declaration of their own."""

__all__ = ["TEXT_MEMBERS", "GeneralDescription", "Layout"]
