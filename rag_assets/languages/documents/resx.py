"""RESX: entries with key, value and comment, by a tolerant scanner.

No XML parser is involved: an entity is never expanded beyond the five of XML and character references, a file
with errors keeps the entries that can be read, and every entry keeps its exact range.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_assets.contracts.segment import LineIndex, Member, MemberKind, ParseHealth, Segment, SegmentedFile
from rag_assets.languages.path_names import file_stem

_ENTRY_OR_COMMENT = re.compile(r"<!--|<!\[CDATA\[|<data(?=[\s/>])")
_END_OF_ENTRY = re.compile(r"</data\s*>|<!\[CDATA\[|<data(?=[\s/>])")
_TAG_END = re.compile(r"""(?:[^"'>]|"[^"]*+"|'[^']*+')*+>""")
_ATTRIBUTE = re.compile(r"""(?<![\w:.-])([\w:.-]++)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_CHILD = re.compile(r"<(value|comment)(?:\s[^<>]*)?>")
_CDATA = re.compile(r"<!\[CDATA\[(.*?)(?:\]\]>|\Z)", re.DOTALL)
_REFERENCE = re.compile(r"&(?:#(\d{1,7})|#x([0-9a-fA-F]{1,6})|(amp|lt|gt|quot|apos));")
_ENTITIES = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}


def segment_resx(text: str, path: str, language: str) -> SegmentedFile:
    """One segment of kind `resource`; each `<data>` is a PROPERTY: name = key, value = text, doc = comment.

    The value of a file reference or a serialised object (an entry with `type` or `mimetype`) stays empty.
    """
    lines = LineIndex(text)
    members = []
    unclosed = 0
    for start, head, end, closed in _entries(text):
        unclosed += not closed
        members.append(_member(text, lines, start, head, end))
    name = file_stem(path)
    health = ParseHealth.PARTIAL if unclosed or not members else ParseHealth.OK
    segment = Segment(
        name=name,
        symbol=path or name,
        kind="resource",
        span=lines.span(0, len(text)),
        language=language,
        ordinal=0,
        members=tuple(members),
        health=health,
    )
    detail = f"{unclosed} unclosed entries" if unclosed else "" if members else "no <data> entries"
    return SegmentedFile((segment,), health, detail)


def _entries(text: str) -> Iterator[tuple[int, int, int, bool]]:
    """(start, end of the start tag, end, closed) of each entry that is not inside a comment."""
    position = 0
    while found := _ENTRY_OR_COMMENT.search(text, position):
        if found[0] != "<data":
            end = text.find("-->" if found[0] == "<!--" else "]]>", found.end())
            if end == -1:
                return
            position = end
            continue
        head = _TAG_END.match(text, found.end())
        if head is None:
            return
        if text[head.end() - 2] == "/":
            position = head.end()
            yield found.start(), head.end(), position, True
            continue
        position, closed = _entry_end(text, head.end())
        yield found.start(), head.end(), position, closed


def _entry_end(text: str, position: int) -> tuple[int, bool]:
    while found := _END_OF_ENTRY.search(text, position):
        if found[0] == "<data":  # the entry before was never closed
            return found.start(), False
        if found[0] != "<![CDATA[":
            return found.end(), True
        end = text.find("]]>", found.end())
        if end == -1:
            break
        position = end
    return len(text), False


def _member(text: str, lines: LineIndex, start: int, head: int, end: int) -> Member:
    attributes = {name: double or single for name, double, single in _ATTRIBUTE.findall(text[start:head])}
    kind = _plain(attributes.get("type") or attributes.get("mimetype", ""))
    key = _plain(attributes.get("name", ""))
    children = dict(_children(text[head:end]))
    value = "" if kind else children.get("value", "")
    return Member(
        name=key,
        kind=MemberKind.PROPERTY,
        type=kind,
        signature=f"{key} = {' '.join(value.split())}" if value else key,
        span=lines.span(start, end),
        doc=children.get("comment", "").strip(),
        value=value,
    )


def _children(content: str) -> Iterator[tuple[str, str]]:
    position = 0
    while found := _CHILD.search(content, position):
        if found[0].endswith("/>"):
            position = found.end()
            continue
        end = content.find(f"</{found[1]}", found.end())
        if end == -1:
            end = len(content)
        yield found[1], _plain(content[found.end() : end])
        position = end


def _plain(raw: str) -> str:
    """Character data as text: CDATA taken out, the references of XML decoded once."""
    if "<![CDATA[" not in raw:
        return _REFERENCE.sub(_decoded, raw) if "&" in raw else raw
    parts = _CDATA.split(raw)  # outside, inside, outside, …
    return "".join(part if index % 2 else _REFERENCE.sub(_decoded, part) for index, part in enumerate(parts))


def _decoded(found: re.Match[str]) -> str:
    if found[3]:
        return _ENTITIES[found[3]]
    code = int(found[1]) if found[1] else int(found[2], 16)
    is_character = 0 < code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF
    return chr(code) if is_character else found[0]
