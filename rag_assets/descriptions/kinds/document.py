"""Design records, markdown and other documents: id, title, status and the tree of headings."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rag_assets.contracts.kinds import SubtypeKind
from rag_assets.contracts.payload import RagVectorPayload
from rag_assets.contracts.segment import MemberKind
from rag_assets.descriptions.kind_builder import Facts, KindBuilder, Subject
from rag_assets.descriptions.text_description import TextDescription
from rag_assets.languages.detection import SourceType
from rag_assets.languages.documents.header import document_header
from rag_assets.languages.documents.text import PATH_SEPARATOR

MAX_STATUS_CHARS = 40
"""The longest status in the title line, which every chunk repeats: a word or two. Sentences stay with the text."""

MAX_LISTED_LEVEL = 2
"""Headings that the artifact lists as the contents of the document: its chapters."""

_RECORD_FOLDERS = re.compile(r"(?:^|/)(?:adrs?|decisions|decision-records)/", re.IGNORECASE)
_FLAVORS = {"readme": "Readme", "changelog": "Changelog", "contributing": "Contributing", "license": "License"}


@dataclass(frozen=True, slots=True)
class DocumentHeading:
    """A heading: level from 1, title, the titles above it, and its line in the file."""

    level: int
    title: str
    above: tuple[str, ...]
    line: int


@dataclass(kw_only=True)
class DocumentDescription(TextDescription):
    """`title` is without the id. `record_type` and `fields` (owner, version, date …) are as the header writes them."""

    document_id: str = ""
    title: str = ""
    status: str = ""
    record_type: str = ""
    fields: tuple[tuple[str, str], ...] = ()

    @property
    def headings(self) -> tuple[DocumentHeading, ...]:
        """The tree of headings in text order."""
        found = []
        for member in self.members:
            if member.kind is MemberKind.SECTION and member.type != "preamble":
                *above, _ = member.signature.split(PATH_SEPARATOR)
                level = int(member.type.removeprefix("h") or 1)
                found.append(DocumentHeading(level, member.name, tuple(above), member.span.line_start))
        return tuple(found)

    @property
    def subtype_flavor(self) -> str:
        """The type that a design record names, `Adr` for a decision record, `Readme` and the like by file name."""
        if self.kind == SubtypeKind.DDR:
            return self.record_type if self.record_type.isalpha() else ""
        if self.status and _RECORD_FOLDERS.search(self.path):
            return "Adr"
        return _FLAVORS.get(self.path.rsplit("/", 1)[-1].partition(".")[0].lower(), "")

    def listed_facts(self) -> list[tuple[str, tuple[str, ...]]]:
        facts = [("ID", self.document_id), ("Title", self.title), ("Status", self.status), ("Type", self.record_type)]
        contents = tuple(heading.title for heading in self.headings if heading.level <= MAX_LISTED_LEVEL)
        return [
            *((label, (value,)) for label, value in (*facts, *self.fields) if value),
            ("Contents", contents if len(contents) > 1 else ()),
        ]

    def title_line(self) -> str:
        """`Ddr: docs/design/SHP-001-stock-reservation.md (SHP-001, Approved)`: what path and heading do not tell."""
        above = [member.signature for member in self.members[:1] if member.type != "preamble"]
        known = " ".join((self.fqn, *above)).lower()
        status = self.status if len(self.status) <= MAX_STATUS_CHARS else ""
        told = [text for text in (self.document_id, self.title) if text and text.lower() not in known]
        facts = ", ".join(text for text in (*told, status) if text)
        return f"{self.kind}: {self.fqn} ({facts})" if facts else f"{self.kind}: {self.fqn}"

    def populate_additional_rag_properties(self, payload: RagVectorPayload) -> None:
        """The id under which people cite the document (B12 SourceObjectId)."""
        payload.source_object_id = self.document_id


class DocumentDescriptionBuilder(KindBuilder):
    """Describes text documents of any format; markup, tables of texts and the like are left to the general builder."""

    name = "document"
    description = (
        "Design records, markdown and text documents: id, title, status and further fields of the header (front "
        "matter, header lines or table, a Status section) and the tree of headings; sections by heading path."
    )
    describes = DocumentDescription
    applies = staticmethod(lambda subject: subject.source_type is SourceType.DOCUMENT)

    def facts(self, subject: Subject) -> Facts:
        segment = subject.segment
        header = document_header(subject.text, segment.members, segment.span.char_start, subject.path, segment.name)
        return {
            "document_id": header.id,
            "title": header.title,
            "status": header.status,
            "record_type": header.type,
            "fields": header.fields,
        }
