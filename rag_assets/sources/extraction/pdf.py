"""PDF: the text of each page, separated by form feeds as in the output of `pdftotext`."""

from __future__ import annotations

import io
import logging
import re
import time

from rag_assets.contracts.source_file import SkipReason
from rag_assets.contracts.time_codes import PAGE_BREAK
from rag_assets.sources.extraction.refusal import ExtractionRefused

_TRAILING = re.compile(r"[ \t]+$", re.MULTILINE)
_LINE_END = re.compile(r"\r\n?|[\v\x85\u2028\u2029]")
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0e-\x1f\ud800-\udfff]")


def pdf_text(data: bytes, deadline: float) -> str | ExtractionRefused:
    """All pages in order, empty ones too, so that the form feeds before a character give its page number."""
    try:
        from pypdf import PdfReader
        from pypdf.errors import PyPdfError
    except ImportError:
        return ExtractionRefused(
            SkipReason.UNSUPPORTED, "PDF needs: pip install 'rag-assets[documents]'; then index again with --force"
        )
    logging.getLogger("pypdf").addHandler(logging.NullHandler())  # nobody needs to know what it repairs
    pages: list[str] = []
    try:
        reader = PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            return ExtractionRefused(SkipReason.UNREADABLE, "encrypted PDF; save it without a password")
        for page in reader.pages:
            if time.monotonic() > deadline:
                return ExtractionRefused(
                    SkipReason.TIMED_OUT, f"PDF: {len(pages)} of {len(reader.pages)} pages read in time"
                )
            pages.append(_clean(page.extract_text()))
    except (PyPdfError, ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError, OSError) as error:
        # A broken file makes the library fail anywhere, rarely with one of its own errors.
        return ExtractionRefused(SkipReason.UNREADABLE, f"PDF cannot be read: {type(error).__name__}: {error}")
    if not any(map(str.strip, pages)):
        return ExtractionRefused(
            SkipReason.UNREADABLE, f"PDF of {len(pages)} pages without text; scanned pages need OCR first"
        )
    return PAGE_BREAK.join(pages)


def _clean(text: str) -> str:
    text = _LINE_END.sub("\n", text).replace(PAGE_BREAK, "\n")
    return f"{_TRAILING.sub('', _UNPRINTABLE.sub('', text)).strip()}\n"
