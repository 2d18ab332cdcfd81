"""`SymbolDescription`: the plain facts of a declaration, and how they become sections. Kinds extend it.

It holds no service and no text but what the sections need, so it survives storage as JSON unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rag_assets.contracts.description import SummaryFacts
from rag_assets.contracts.graph import declaration_key, member_keys
from rag_assets.contracts.kinds import RagContentType
from rag_assets.contracts.outline import SectionMember
from rag_assets.contracts.section import SummarySection
from rag_assets.contracts.segment import (
    LineIndex,
    Member,
    MemberKind,
    MemberRange,
    OtherPart,
    Parameter,
    Span,
    leaves_of,
    moved,
)
from rag_assets.identifiers import identifier_words
from rag_assets.languages.csharp.binder.type_syntax import is_interface_name
from rag_assets.languages.sliding_window import first_line
from rag_assets.sections.code import Outline, code_sections, kebab_case
from rag_assets.sections.snippet import (
    Block,
    SectionSubject,
    finder_header,
    member_line,
    path_words,
    shortened_sentences,
)
from rag_assets.sections.splitter import cut_to, paragraphs

_BACKTICKS = re.compile(r"`+")


def facts_markdown(facts: Iterable[tuple[str, Sequence[str]]]) -> str:
    """A list of facts and an empty line; '' where there are none. Facts without value are left out."""
    lines = [f"- {label}: {', '.join(map(inline_code, values))}" for label, values in facts if values]
    return "".join(f"{line}\n" for line in [*lines, ""]) if lines else ""


def inline_code(text: str) -> str:
    """A code span that also holds the backtick of an arity, as CommonMark wants it."""
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def fenced_code(text: str, language: str = "") -> str:
    """A code block whose fence is longer than any run of backticks inside."""
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


STATEMENT_CHARS = 600
"""The longest piece of top-level statements in one line of a snippet: about 170 tokens, so it never hides others."""

REPEATED_PURPOSE_CHARS = 120
"""How much of the purpose each part of the members repeats: a sentence; the members need the room."""

TEXT_MEMBERS = frozenset(
    {MemberKind.SECTION, MemberKind.PAGE, MemberKind.CUE, MemberKind.WINDOW, MemberKind.STATEMENTS}
)
"""Members that are runs of text, without a declaration of their own."""

NOWHERE = Span(1, 1, 0, 0)

_PARAMETER_TYPES = ("record", "delegate")
"""Declarations whose parameters are what they are; those of a class are its dependencies."""


_CONTRACTS_AND_PLANS = frozenset({"bicep", "graphql", "prisma", "proto", "terraform"})
"""Languages with declarations that run nothing."""


@dataclass(kw_only=True)
class SymbolDescription(SummaryFacts):
    """What a segment of code declares: names, documentation, bases, dependencies, members with signatures and docs.

    `span` is the segment, `header` its part before the first member and `tiles` the slices of its members (nested
    ones included, in text order). `excerpts` are the runs of statements between declarations. `documented` tells a
    written summary from a generated one. Of a partial type the declaration is that of all parts, `other_parts` says
    where the others are; members are those of this part.

    A kind adds facts as fields and overrides what it says of them: `subtype_flavor`, `section_prefix`,
    `finder_facts`, `listed_facts`, `group_of`, `extra_blocks`.
    """

    name: str = ""
    fqn: str = ""
    declaration: str = ""
    namespace: str = ""
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
    other_parts: tuple[OtherPart, ...] = ()
    primary_entity: str = ""
    span: Span = NOWHERE
    header: Span = NOWHERE
    tiles: tuple[Span, ...] = ()
    excerpts: tuple[str, ...] = ()

    # what a kind decides

    @property
    def subtype(self) -> str:
        return self.kind

    @property
    def section_prefix(self) -> str:
        """What the section keys start with (domain reference §3)."""
        return kebab_case(self.kind)

    def finder_facts(self) -> list[tuple[str, str]]:
        """The kind-specific lines of the finder snippet, in order; empty ones are left out."""
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

    def listed_facts(self) -> list[tuple[str, tuple[str, ...]]]:
        """The facts that the description artifact lists below the signature: label and code values."""
        return [("Inherits", self.base_types), ("Implements", self.interfaces), ("Depends on", self.dependencies)]

    def subjects(self) -> tuple[str, ...]:
        """The types it is about, the best first: their domain is its domain."""
        return (self.primary_entity,) if self.primary_entity else ()

    def group_of(self, leaf: MemberRange) -> str:
        """The section of its kind that a member belongs to (`methods` → `{prefix}-methods`); '' for the overview."""
        return ""

    def extra_blocks(self) -> list[Block]:
        """Blocks beyond the members, each with the `group` it makes a section of."""
        return []

    # sections

    def build_summary_sections(self) -> list[SummarySection]:
        """Overview and the sections of the kind. Needs `use_window`."""
        return code_sections(self.subject(), self.outline(), self.window)

    def subject(self) -> SectionSubject:
        return SectionSubject(self.symbol, self.symbol_type, self.kind, self.domain_key, self.primary_entity)

    @property
    def content_type(self) -> RagContentType:
        if self.code_language not in _CONTRACTS_AND_PLANS:
            return RagContentType.SOURCE_CODE
        from rag_assets.classification.content_types import content_type_of  # start-up budget: most files are code

        return content_type_of(self.path, self.code_language, self.signature) or RagContentType.SOURCE_CODE

    def outline(self) -> Outline:
        """The declaration and its members, ready for splitting."""
        purpose = self.summary if self.documented else self._short_purpose()
        short_purpose = shortened_sentences(purpose, REPEATED_PURPOSE_CHARS)
        # A program has no name of its own: every part needs its path to be told from others.
        place = [("Path", path_words(self.path, self.fqn))] if self.declaration == "program" else []
        own_key = self.node_key()
        return Outline(
            prefix=self.section_prefix,
            header=self.finder_lines(self.finder_facts(), purpose),
            short_header=[*self.finder_lines(place, short_purpose), ""],
            self_block=Block(
                "", self.header, (self.name,), (own_key,), declaration_markdown(self), members=self._declared()
            ),
            blocks=[*self._member_blocks(own_key), *self.extra_blocks()],
        )

    def finder_lines(self, facts: list[tuple[str, str]], purpose: str, artifact: str = "") -> list[str]:
        """The header of a snippet about this symbol, or about an `artifact` of it."""
        return finder_header(
            domain=self.domain_title,
            domain_summary=self.domain_tagline,
            kind=self.kind,
            artifact=artifact or self.fqn,
            primary_entity=self.primary_entity,
            facts=facts,
            purpose=purpose,
        )

    def node_key(self) -> str:
        """The graph node of the declaration."""
        return declaration_key(self.code_language, self.fqn, self.declaration, self.path)

    def _declared(self) -> tuple[SectionMember, ...]:
        """The declaration as a line of the outline; none where no text precedes the first member, as in a module."""
        if self.header.char_start == self.header.char_end:
            return ()
        return (outline_member(self.name, self.signature, self.header),)

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

    def _member_block(self, leaf: MemberRange, tile: Span) -> Block:
        member, owner = leaf.member, leaf.owner
        fqn = f"{self.fqn}.{owner}" if owner else self.fqn
        return Block(
            text=member_line(member, owner),
            span=tile,
            names=(member.name,),
            node_keys=member_keys(self.code_language, fqn, member),
            markdown=member_markdown(member, owner),
            group=self.group_of(leaf),
            members=(listed_member(leaf, tile),),
        )

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
            span = first.to(last)
            members = (outline_member("", first_line(text), span),) if text else ()
            blocks.append(Block(text, span, (), (own_key,), fenced_code(text, self.code_language), members=members))
        return blocks or [Block(member.signature, tile, (), (own_key,))]


def outline_member(name: str, signature: str, span: Span) -> SectionMember:
    """A line of the outline of a section."""
    return SectionMember(name, signature, span.line_start, span.line_end)


def listed_member(leaf: MemberRange, tile: Span) -> SectionMember:
    """A member with its own lines, those of its documentation among them; a nested type with those before its first
    member, which its tile ends with."""
    member = leaf.member
    name = leaf.path
    end = tile.line_end if member.members else member.span.line_end
    return SectionMember(name, member.signature, member.span.line_start, max(end, member.span.line_start))


def declaration_markdown(description: SymbolDescription) -> str:
    """Title, purpose, signature and facts of a description, without its members."""
    d = description
    place = f"{d.path}:{d.span.line_start}-{d.span.line_end}"
    lines = [
        f"# {d.kind} {d.name}",
        "",
        f"{inline_code(d.fqn)} · {d.declaration} · {place}",
        "",
        d.doc or d.summary,
        "",
    ]
    if d.signature:
        attributes = [f"[{attribute}]" for attribute in d.attributes]
        lines += [fenced_code("\n".join([*attributes, d.signature]), d.code_language), ""]
    facts = [f"- Domain: {d.domain_title}"] if d.domain_key else []
    facts += [f"- {label}: {', '.join(map(inline_code, values))}" for label, values in d.listed_facts() if values]
    facts += [f"- Other part: {_other_part(part)}" for part in d.other_parts]
    lines += [*facts, ""] if facts else []
    return "\n".join(lines)


def _other_part(part: OtherPart) -> str:
    """`src/Orders.Audit.cs:1-40` and below it its members with their signatures; of a skipped one the reason."""
    if part.skipped:
        return f"{inline_code(part.path)}, not indexed: {part.skipped}"
    place = inline_code(f"{part.path}:{part.line_start}-{part.line_end}")
    return "\n".join([place, *(f"  - {inline_code(signature)}" for signature in part.members)])


def member_markdown(member: Member, owner: str = "") -> str:
    """One list entry: signature, and below it attributes and the full documentation."""
    prefix = f"{owner}: " if owner else ""
    text = member.signature or member.name
    if member.kind is MemberKind.ENUM_VALUE and member.value and member.value not in text:
        text = f"{text} = {member.value}"
    lines = [f"- {prefix}{inline_code(text)}"]
    if member.attributes:
        lines.append("  " + " ".join(inline_code(f"[{attribute}]") for attribute in member.attributes))
    lines += [f"  {line}".rstrip() for line in member.doc.splitlines()]
    return "\n".join(lines)
