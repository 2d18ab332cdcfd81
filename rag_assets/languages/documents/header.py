"""The facts in the head of a document: id, title, status and further fields, in the forms that teams use.

Read are YAML-like front matter, header lines (`**ID:** X`, `Status: X`, `- **Owner**: X`), header tables
(`| Status | X |`) and the `## Status` section of decision records; ids also from the first heading and the file name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rag_assets.contracts.segment import Member, MemberKind
from rag_assets.languages.documents.text import plain_title

HEAD_CHARS = 6_000
"""How much of a document can be its header: generous, front matter with long lists is common."""
MAX_VALUE_CHARS = 200
"""Longer values are prose behind a colon, and are cut."""

_FIELD = re.compile(
    r"[ \t]*(?:[-*+][ \t]+)?(?:\*\*|__)?([A-Za-z][A-Za-z ./-]{0,40}?)[ \t]*(?:\*\*|__)?[ \t]*"
    r":[ \t]*(?:\*\*|__)?[ \t]*(\S.*)"
)
_ROW = re.compile(r"[ \t]*\|[ \t]*(?:\*\*|__)?([A-Za-z][A-Za-z ./-]{0,40}?):?(?:\*\*|__)?:?[ \t]*\|([^|]+)\|?")
_FENCE = re.compile(r" {0,3}(?:```|~~~)")
_RECORD_ID = re.compile(r"[A-Z]{2,6}-\d{2,5}\b")
_HEADING_ID = re.compile(rf"\W*({_RECORD_ID.pattern})\W*")
_FILE_NUMBER = re.compile(r"(\d{3,5})[-_ ]")
_RECORD_FOLDERS = frozenset({"adr", "adrs", "decisions", "decision-records", "rfc", "rfcs"})
"""Folders whose files are numbered records."""

_NAMES = {
    "id": "id",
    "ddr id": "id",
    "ddr": "id",
    "index": "id",
    "adr": "id",
    "title": "title",
    "name": "title",
    "status": "status",
    "state": "status",
    "type": "type",
    "ddr type": "type",
    "ddrtype": "type",
}
_OTHER_FIELDS = (
    "owner, author, authors, version, date, domain, namespace, tags, deciders, approved by, approver, creator, "
    "approval timestamp, creation date, last updated, last updated date, supersedes, superseded by, related, scope"
)
_OTHER_NAMES = frozenset(_OTHER_FIELDS.split(", "))
"""Fields that are worth keeping under their own name; any other `Word: text` may be prose."""

_STATUS_SECTIONS = frozenset({"status", "state", "decision status"})


@dataclass(frozen=True, slots=True)
class DocumentHeader:
    """What the head of a document says; '' for what it does not. `fields` are (name as written, value)."""

    id: str = ""
    title: str = ""
    status: str = ""
    type: str = ""
    fields: tuple[tuple[str, str], ...] = ()


def document_header(text: str, members: Sequence[Member], offset: int, path: str, name: str) -> DocumentHeader:
    """The header of a document whose segment starts at character `offset` of the file.

    `members` are its sections, `name` the title that segmentation found. Never raises.
    """
    sections = [member for member in members if member.kind is MemberKind.SECTION]
    known: dict[str, str] = {}
    fields: list[tuple[str, str]] = []
    for label, value in _fields(_head(text, sections, offset)):
        meaning = _NAMES.get(label.lower())
        if meaning:
            known.setdefault(meaning, value)
        elif label.lower() in _OTHER_NAMES:
            fields.append((label, value))
    headed = _HEADING_ID.match(name)
    title = known.get("title") or (name[headed.end() :] if headed else name).strip() or name
    return DocumentHeader(
        id=_id(known.get("id", ""), headed[1] if headed else "", path),
        title=title,
        status=known.get("status") or _status_section(text, sections, offset),
        type=known.get("type", ""),
        fields=tuple(dict(fields).items()),
    )


def _head(text: str, sections: Sequence[Member], offset: int) -> str:
    """What stands before the second heading. Header lines above a `---` are a heading to markdown, but not here."""
    headings = [section for section in sections if section.type != "preamble"]
    for heading in headings[1:]:
        start = heading.span.char_start - offset
        if not _FIELD.match(text, start):
            return text[: min(start, HEAD_CHARS)]
    return text[:HEAD_CHARS]


def _fields(head: str) -> Iterator[tuple[str, str]]:
    fenced = False
    for line in head.splitlines():
        if _FENCE.match(line):
            fenced = not fenced
        found = None if fenced else _FIELD.match(line) or _ROW.match(line)
        if found:
            value = plain_title(found[2].strip().strip("\"'")).strip()
            if value:
                yield found[1].strip(), value[:MAX_VALUE_CHARS]


def _id(field: str, heading: str, path: str) -> str:
    """The id: as a field says, as the first heading or the file name begins, or as the file is numbered."""
    *folders, file = path.split("/")
    written, named = _RECORD_ID.search(field), _RECORD_ID.match(file)
    found = (written[0] if written else "") or heading or (named[0] if named else "") or field
    if found:
        return found
    numbered = _FILE_NUMBER.match(file)
    return numbered[1] if numbered and _RECORD_FOLDERS.intersection(map(str.lower, folders)) else ""


def _status_section(text: str, sections: Sequence[Member], offset: int) -> str:
    """The first line below `## Status`."""
    for section in sections:
        if section.name.lower() in _STATUS_SECTIONS:
            body = text[section.span.char_start - offset : section.span.char_end - offset]
            lines = [line.strip() for line in body.splitlines()[1:]]
            for line in lines:
                if line and not set(line) <= set("-=* "):
                    return plain_title(line.lstrip("-*+ "))[:MAX_VALUE_CHARS].rstrip(".")
    return ""
