"""Word documents (.docx) as Markdown: headings by style, lists, tables row by row, without deleted text.

ECMA-376 part 1: a zip whose `word/document.xml` has paragraphs (`w:p`) of runs of text (`w:t`). Nothing else of the
package is read, and no entity of a document type is expanded.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Iterator
from itertools import pairwise
from xml.etree import ElementTree

from rag_assets.contracts.source_file import SkipReason
from rag_assets.sources.extraction.refusal import ExtractionRefused

MAX_XML_BYTES = 64 << 20
"""Limit of the unpacked document; a book has 5 MB. A zip of a few kilobytes can unpack to gigabytes."""

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_DOCUMENT = "word/document.xml"
_HEADING = re.compile(r"heading\s*([1-6])$", re.IGNORECASE)
_TITLE = "title"
_LOOKS_LIKE_MARKUP = re.compile(r"^(?=[ ]{0,3}(?:#{1,6}\s|```|~~~|---+\s*$|===+\s*$|>))")


def docx_text(data: bytes) -> str | ExtractionRefused:
    """The paragraphs as Markdown blocks."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as package:
            if package.getinfo(_DOCUMENT).file_size > MAX_XML_BYTES:
                return ExtractionRefused(
                    SkipReason.TOO_LARGE, f"the text of the document unpacks to over {MAX_XML_BYTES:,} bytes"
                )
            with package.open(_DOCUMENT) as file:
                xml = file.read(MAX_XML_BYTES + 1)
        if len(xml) > MAX_XML_BYTES or b"<!DOCTYPE" in xml[:4096]:
            return ExtractionRefused(SkipReason.UNREADABLE, "not a document that Word writes")
        root = ElementTree.fromstring(xml)
    except KeyError:
        return ExtractionRefused(SkipReason.UNREADABLE, f"no Word document: {_DOCUMENT} is missing")
    except (
        zipfile.BadZipFile,
        zlib.error,
        ElementTree.ParseError,
        NotImplementedError,
        RuntimeError,
        OSError,
    ) as error:
        return ExtractionRefused(SkipReason.UNREADABLE, f"the document cannot be read: {error}")
    body = root.find(f"{_W}body")
    blocks = list(_blocks(body)) if body is not None else []
    return _joined(blocks) if blocks else ExtractionRefused(SkipReason.EMPTY, "a document without text")


def _blocks(body: ElementTree.Element) -> Iterator[tuple[str, bool]]:
    """(Markdown, whether it is a list item or a table row) of everything with text, in order."""
    for child in body:
        if child.tag == f"{_W}p":
            text = _text(child)
            if text.strip():
                yield _paragraph(child, text)
        elif child.tag == f"{_W}tbl":
            for row in child.iter(f"{_W}tr"):
                cells = [" ".join(_text(cell).split()) for cell in row.iter(f"{_W}tc")]
                if any(cells):
                    yield f"| {' | '.join(cells)} |", True
        elif child.tag in (f"{_W}sdt", f"{_W}sdtContent"):  # content controls: tables of contents, forms
            yield from _blocks(child)


def _paragraph(paragraph: ElementTree.Element, text: str) -> tuple[str, bool]:
    style = paragraph.find(f"{_W}pPr/{_W}pStyle")
    name = style.get(f"{_W}val", "") if style is not None else ""
    heading = _HEADING.match(name)
    flat = " ".join(text.split())
    if heading is not None or name.lower() == _TITLE:
        return f"{'#' * (int(heading[1]) if heading else 1)} {flat}", False
    if paragraph.find(f"{_W}pPr/{_W}numPr") is not None:
        return f"- {flat}", True
    return _LOOKS_LIKE_MARKUP.sub(r"\\", text.strip()), False


def _text(element: ElementTree.Element) -> str:
    """The text of the runs of an element, without deleted text (`w:delText`)."""
    made = []
    for part in element.iter():
        if part.tag == f"{_W}t":
            made.append(part.text or "")
        elif part.tag in (f"{_W}tab", f"{_W}br", f"{_W}cr"):
            made.append(" " if part.tag == f"{_W}tab" else "\n")
    return "".join(made)


def _joined(blocks: list[tuple[str, bool]]) -> str:
    """Joins the blocks: items of one list on consecutive lines, others with an empty line between."""
    made = blocks[0][0]
    for (_, was_item), (text, is_item) in pairwise(blocks):
        made += ("\n" if was_item and is_item else "\n\n") + text
    return f"{made}\n"
