"""`TextDescription`: running text (documents, SQL, configuration, what no parser could read) and its sections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from rag_assets.contracts.description import SummaryFacts
from rag_assets.contracts.graph import declaration_key, section_key
from rag_assets.contracts.identity import DEFAULT_SECTION
from rag_assets.contracts.kinds import RagContentType, SubtypeKind
from rag_assets.contracts.section import SummarySection
from rag_assets.contracts.segment import Member, MemberKind, Span
from rag_assets.contracts.time_codes import PAGE_BREAK, TRANSCRIPTS, spoken_by
from rag_assets.descriptions.symbol_description import NOWHERE, TEXT_MEMBERS, facts_markdown
from rag_assets.languages.configuration_keys import configuration_keys
from rag_assets.languages.detection import SourceType
from rag_assets.sections.chunks import Break, Unit
from rag_assets.sections.code import OVERVIEW, kebab_case
from rag_assets.sections.documents import TextMember, TextOutline, TextRange, TextSection, text_sections
from rag_assets.sections.snippet import SectionSubject


@dataclass(kw_only=True)
class TextDescription(SummaryFacts):
    """A text under its headings. `span` is the segment, `text` its source, `members` its sections or declarations."""

    name: str = ""
    fqn: str = ""
    declaration: str = ""
    members: tuple[Member, ...] = ()
    span: Span = NOWHERE
    text: str = ""

    @property
    def subtype(self) -> str:
        return self.kind

    @property
    def content_type(self) -> RagContentType:
        if self.kind == SubtypeKind.DDR:
            return RagContentType.SPEC
        from rag_assets.classification.content_types import content_type_of  # start-up budget: most files are code

        return content_type_of(self.path, self.code_language, self.text) or RagContentType.SOURCE_CODE

    @property
    def section_prefix(self) -> str:
        """What the key of a text without headings starts with (domain reference §3)."""
        return kebab_case(self.kind)

    def build_summary_sections(self) -> list[SummarySection]:
        """By heading path and size. Needs `use_window`."""
        subject = SectionSubject(self.symbol, self.symbol_type, self.kind, self.domain_key)
        return text_sections(subject, self.outline(), self.window)

    def outline(self) -> TextOutline:
        """The text with its headings, ready for splitting."""
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
        stretches = [stretch_of(member, offset) for member in self.members if member.kind in _PLACED]
        sections = sections or _sections_of(self.text, stretches)
        declared = [
            (member.span.char_start - offset, member.name)
            for member in self.members
            if member.kind not in TEXT_MEMBERS and member.name
        ]
        is_document = SourceType(self.source_type) in (SourceType.DOCUMENT, SourceType.TRANSCRIPT)
        own_key = declaration_key(self.code_language, self.fqn, self.declaration, self.path)
        return TextOutline(
            title=self.title_line(),
            text=self.text,
            origin=self.span,
            sections=sections or [TextSection("", 0, len(self.text))],
            default_key=DEFAULT_SECTION if is_document else f"{self.section_prefix}-{OVERVIEW}",
            node_keys=lambda key: (section_key(self.path, key) if headed else own_key,),
            names=(self.name,),
            declared=declared,
            members=self.listed_members(),
            facts=facts_markdown(self.listed_facts()),
            stretches=stretches,
            source_title=self.name if stretches else "",
            readable=spoken_by if self.code_language in TRANSCRIPTS else _unbroken,
        )

    def listed_members(self) -> list[TextMember]:
        """The lines of the outline: headings, declarations, keys of a configuration, in text order."""
        offset = self.span.char_start
        found = [
            TextMember(member.span.char_start - offset, member.span.char_end - offset, member.name, member.signature)
            for member in self.members
            if member.kind not in _UNLISTED and member.type != "preamble"
        ]
        if SourceType(self.source_type) is SourceType.CONFIG:
            found += (TextMember(key.start, key.end, key.name, key.line) for key in configuration_keys(self.text))
        return found

    def listed_facts(self) -> list[tuple[str, tuple[str, ...]]]:
        """The facts that every description artifact lists below its title: label and code values."""
        return []

    def title_line(self) -> str:
        """`Markdown: docs/guide.md (Guide)`: kind, artifact, and the title where nothing else tells it."""
        known = (self.fqn.lower(), *(member.signature.lower() for member in self.members[:1]))
        title = "" if any(self.name.lower() in text for text in known) else f" ({self.name})"
        return f"{self.kind}: {self.fqn}{title}"


_UNLISTED = frozenset({MemberKind.PAGE, MemberKind.CUE, MemberKind.WINDOW})
"""Members that say no more than the lines they stand on."""
_PLACED = (MemberKind.PAGE, MemberKind.CUE)
_SENTENCE_ENDS = (".", "!", "?", "。", "！", "？", '."', '!"', '?"')


def stretch_of(member: Member, offset: int) -> TextRange:
    """A page or a cue as a stretch of the text that begins at `offset`."""
    start, end = member.span.char_start - offset, member.span.char_end - offset
    if member.kind is MemberKind.PAGE:
        return TextRange(start, end, page=int(member.value))
    begins, _, ends = member.value.partition("-")
    return TextRange(start, end, begins=float(begins), ends=float(ends), speaker=member.name)


def _sections_of(text: str, stretches: Sequence[TextRange]) -> list[TextSection]:
    """A section for each page; all of a recording as one, to be cut between turns of speakers, then cues (E01)."""
    if not stretches or stretches[0].page:
        return [TextSection(f"page {page.page}", page.start, page.end) for page in stretches]
    units = [Unit(cue.start, cue.end) for cue in stretches[:1]]
    for before, cue in pairwise(stretches):
        is_turn = cue.speaker != before.speaker
        ended = spoken_by(text[before.start : before.end]).rstrip().endswith(_SENTENCE_ENDS)
        units.append(Unit(cue.start, cue.end, Break.PARAGRAPH if is_turn else Break.SENTENCE if ended else Break.LINE))
    return [TextSection("", stretches[0].start, stretches[-1].end, tuple(units))]


def _unbroken(text: str) -> str:
    """Without the form feeds between pages."""
    return text.replace(PAGE_BREAK, "\n")
