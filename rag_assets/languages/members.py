"""The members of a segment and of its nested types as flat lists, and the summary of a doc comment."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rag_assets.contracts.segment import Member


def walk_members(members: tuple[Member, ...]) -> list[Member]:
    """Members and the members of nested types, level by level, without recursion."""
    found = list(members)
    for member in found:
        if member.members:
            found.extend(member.members)
    return found


@dataclass(frozen=True, slots=True)
class MemberRange:
    """A member and the dotted names of the nested types around it. A nested type is a leaf too (its header)."""

    member: Member
    owner: str = ""


def leaves_of(members: tuple[Member, ...]) -> list[MemberRange]:
    """All members in text order, those of nested types after their type. Without recursion: nesting has no limit."""
    found: list[MemberRange] = []
    stack = [MemberRange(member) for member in sorted(members, key=_start, reverse=True)]
    while stack:
        leaf = stack.pop()
        found.append(leaf)
        if leaf.member.members:
            owner = f"{leaf.owner}.{leaf.member.name}" if leaf.owner else leaf.member.name
            stack.extend(MemberRange(member, owner) for member in sorted(leaf.member.members, key=_start, reverse=True))
    return found


def _start(member: Member) -> int:
    return member.span.char_start


_TAG_LINE = re.compile(
    r"^(?:(?:param|typeparam|exception|seealso)\b[^\n:]*|returns?|remarks|value|example|inheritdoc)\s*:", re.MULTILINE
)
_BLANK_LINE = re.compile(r"\n[ \t]*\n")


def one_line(text: str) -> str:
    return " ".join(text.split())


def first_paragraph(doc: str) -> str:
    """The summary of a documentation text on one line: up to a blank line or the first `param x:`-like line."""
    if not doc:
        return ""
    head = _BLANK_LINE.split(doc.strip(), maxsplit=1)[0]
    tag = _TAG_LINE.search(head)
    return one_line(head[: tag.start()] if tag else head)
