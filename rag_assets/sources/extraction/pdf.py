"""PDF: the text of each page, separated by form feeds as in the output of `pdftotext`.

The title of the information dictionary comes first, as front matter. Entries of the outline, else lines in larger type,
are Markdown headings; lines of the document that only look like headings are escaped.
"""

from __future__ import annotations

import io
import logging
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rag_assets.contracts.source_file import SkipReason
from rag_assets.contracts.time_codes import PAGE_BREAK
from rag_assets.sources.extraction.refusal import ExtractionRefused

if TYPE_CHECKING:
    from pypdf import PdfReader

_TRAILING = re.compile(r"[ \t]+$", re.MULTILINE)
_LINE_END = re.compile(r"\r\n?|[\v\x85\u2028\u2029]")
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0e-\x1f\ud800-\udfff]")


def pdf_text(data: bytes) -> str | ExtractionRefused:
    """All pages in order, empty ones too, so that the form feeds before a character give its page number."""
    try:
        from pypdf import PdfReader
        from pypdf.errors import PyPdfError
    except ImportError:
        return ExtractionRefused(
            SkipReason.UNSUPPORTED, "PDF needs: pip install 'rag-assets[documents]'; then index again with --force"
        )
    logging.getLogger("pypdf").addHandler(logging.NullHandler())  # nobody needs to know what it repairs
    try:
        reader = PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            return ExtractionRefused(SkipReason.UNREADABLE, "encrypted PDF; save it without a password")
        pages = [_page(page) for page in reader.pages]
        title = _title(reader)
        headings = list(_outline(reader)) or list(_larger_lines(pages))
    except (PyPdfError, ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError, OSError) as error:
        # A broken file makes the library fail anywhere, rarely with one of its own errors.
        return ExtractionRefused(SkipReason.UNREADABLE, f"PDF cannot be read: {type(error).__name__}: {error}")
    if not any(page.lines for page in pages):
        return ExtractionRefused(
            SkipReason.UNREADABLE, f"PDF of {len(pages)} pages without text; scanned pages need OCR first"
        )
    head = f'---\ntitle: "{title}"\n---\n' if title else ""
    return head + PAGE_BREAK.join(
        _with_headings(page.lines, [found for found in headings if found.page == number])
        for number, page in enumerate(pages)
    )


@dataclass(frozen=True, slots=True)
class _Page:
    """The lines of a page, and how many characters of which lines are in which size of type."""

    lines: list[str]
    sizes: list[tuple[str, float]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _PdfHeading:
    page: int
    level: int
    title: str


def _page(page: Any) -> _Page:
    sizes: list[tuple[str, float]] = []

    def note(text: str, matrix: list[float], text_matrix: list[float], _: object, size: float) -> None:
        scale = abs((text_matrix[3] or text_matrix[1]) * (matrix[3] or matrix[1]))
        sizes.extend((line.strip(), round(size * scale, 1)) for line in _clean(text).split("\n") if line.strip())

    text = _clean(page.extract_text(visitor_text=note))
    return _Page(text.split("\n") if text.strip() else [], sizes)


_PROGRAM = re.compile(r"^Microsoft \w+ - |\.(?:docx?|pptx?|xlsx?|indd|dvi|tex|pdf)$", re.IGNORECASE)
_NO_TITLE = frozenset({"untitled", "unknown", "document", "title", "none"})
_MOST_TITLE_CHARS = 300


def _title(reader: PdfReader) -> str:
    """The title of the information dictionary without what programs add; '' where there is none."""
    found = reader.metadata.title if reader.metadata is not None else None
    text = _PROGRAM.sub("", " ".join(_clean(str(found or "")).split())).replace('"', "'")[:_MOST_TITLE_CHARS].strip()
    return "" if text.lower() in _NO_TITLE else text


_LEVELS = 6


def _outline(reader: PdfReader) -> Iterator[_PdfHeading]:
    """The entries of the outline that lead to a page, by page."""
    pending: list[tuple[Any, int]] = [(entry, 1) for entry in reversed(reader.outline)]
    found: list[_PdfHeading] = []
    while pending:
        entry, level = pending.pop()
        if isinstance(entry, list):
            pending += [(inner, level + 1) for inner in reversed(entry)]
            continue
        page = reader.get_destination_page_number(entry)
        title = " ".join(_clean(str(entry.title or "")).split())[:_MOST_TITLE_CHARS]
        if title and page is not None and page >= 0:
            found.append(_PdfHeading(page, min(level, _LEVELS), title))
    yield from sorted(found, key=lambda heading: heading.page)


_LARGER = 1.15
"""Headings are set at least this much larger than the text: 11 points to 13 is the smallest usual step."""
_MOST_HEADING_CHARS = 120
_MOST_HEADINGS = 0.25
"""Of all lines. Slides and posters have no text that headings stand above."""


def _larger_lines(pages: list[_Page]) -> Iterator[_PdfHeading]:
    """The lines that are set larger than the text; each size is a level."""
    usual = Counter[float]()
    for page in pages:
        for line, size in page.sizes:
            usual[size] += len(line)
    if not usual:
        return
    text_size = usual.most_common(1)[0][0]
    found = []
    for number, page in enumerate(pages):
        of_line = dict(page.sizes)
        for line in map(str.strip, page.lines):
            is_short = 0 < len(line) <= _MOST_HEADING_CHARS and any(map(str.isalpha, line))
            if is_short and of_line.get(line, 0) >= text_size * _LARGER:
                found.append((number, of_line[line], line))
    levels = {size: at for at, size in enumerate(sorted({size for _, size, _ in found}, reverse=True), 1)}
    if len(levels) <= _LEVELS and len(found) <= _MOST_HEADINGS * sum(len(page.lines) for page in pages):
        for number, size, line in found:
            yield _PdfHeading(number, levels[size], line)


_LOOKS_LIKE_HEADING = re.compile(r"(?=#{1,6}\s|---\s*$)")
_NUMBER = re.compile(
    r"^(?:(?:\d+\.)*\d+[.)]?|[IVX]+[.)]|(?:chapter|section|part|appendix)\s+\w+[:.]?)\s+", re.IGNORECASE
)


def _with_headings(lines: list[str], headings: list[_PdfHeading]) -> str:
    """The page with its headings marked: the lines that say them, else lines of their own."""
    if not lines:
        return "\n"
    made = [[_LOOKS_LIKE_HEADING.sub(r"\\", line, count=1)] for line in lines]
    said = [_said(line) for line in lines]
    begin = 0
    for heading in headings:
        mark, wanted = "#" * heading.level, _said(heading.title)
        at = next((n for n in range(begin, len(lines)) if said[n] & wanted), None)
        if at is None:
            made[begin].insert(-1, f"{mark} {heading.title}")
        else:
            made[at][-1] = f"{mark} {lines[at].strip()}"
            begin = min(at + 1, len(lines) - 1)
    return "\n".join(line for group in made for line in group)


def _said(text: str) -> set[str]:
    """The words of a title, with and without its number."""
    return {" ".join(re.findall(r"\w+", part.lower())) for part in (text, _NUMBER.sub("", text))} - {""}


def _clean(text: str) -> str:
    text = _LINE_END.sub("\n", text).replace(PAGE_BREAK, "\n")
    return f"{_TRAILING.sub('', _UNPRINTABLE.sub('', text)).strip()}\n"
