"""Small documents as programs write them: PDF, Word, recordings."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from xml.sax.saxutils import escape

_NAMESPACE = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def pdf(*pages: str, title: str = "", outline: Sequence[tuple[str, int]] = ()) -> bytes:
    """A PDF with these pages, a line of text for each line; lines that begin with `^` are set in 20 points instead of
    12. `outline` has titles and page numbers from 1."""
    kids = " ".join(f"{4 + 2 * at} 0 R" for at in range(len(pages)))
    root, info = 4 + 2 * len(pages), 5 + 2 * len(pages) + len(outline)
    objects = [
        f"<< /Type /Catalog /Pages 2 0 R{f' /Outlines {root} 0 R' if outline else ''} >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for at, page in enumerate(pages):
        shown = " ".join(
            f"/F1 20 Tf ({line[1:]}) Tj 0 -28 Td /F1 12 Tf" if line.startswith("^") else f"({line}) Tj T*"
            for line in page.split("\n")
            if line
        )
        stream = f"BT /F1 12 Tf 50 750 Td 14 TL {shown} ET"
        objects.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> "
            f"/Contents {5 + 2 * at} 0 R >>"
        )
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    first = root + 1
    objects.append(
        f"<< /Type /Outlines /First {first} 0 R /Last {first + len(outline) - 1} 0 R /Count {len(outline)} >>"
    )
    for at, (said, page_number) in enumerate(outline):
        beside = f"/Prev {first + at - 1} 0 R " if at else ""
        beside += f"/Next {first + at + 1} 0 R " if at + 1 < len(outline) else ""
        to = f"[{2 + 2 * page_number} 0 R /Fit]"
        objects.append(f"<< /Title ({said}) /Parent {root} 0 R {beside}/Dest {to} >>")
    objects.append(f"<< /Title ({title}) >>" if title else "<< >>")
    made = b"%PDF-1.4\n"
    offsets = []
    for number, content in enumerate(objects, 1):
        offsets.append(len(made))
        made += f"{number} 0 obj\n{content}\nendobj\n".encode("latin-1")
    table = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    head = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
    trailer = f"trailer << /Size {len(objects) + 1} /Root 1 0 R /Info {info} 0 R >>"
    return made + f"{head}{trailer}\nstartxref\n{len(made)}\n%%EOF".encode()


def docx(*paragraphs: str, document: str = "word/document.xml") -> bytes:
    """A Word document of these paragraphs (`paragraph`, `table`)."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as package:
        body = "".join(paragraphs)
        package.writestr(document, f"<w:document {_NAMESPACE}><w:body>{body}</w:body></w:document>")
    return packed.getvalue()


def paragraph(text: str, style: str = "", *, is_item: bool = False) -> str:
    named = f'<w:pStyle w:val="{style}"/>' if style else ""
    item = "<w:numPr/>" if is_item else ""
    return f"<w:p><w:pPr>{named}{item}</w:pPr><w:r><w:t>{escape(text)}</w:t></w:r></w:p>"


def table(*rows: tuple[str, ...]) -> str:
    cells = ("".join(f"<w:tc>{paragraph(cell)}</w:tc>" for cell in row) for row in rows)
    return f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in cells)}</w:tbl>"


def vtt(*cues: tuple[str, str], title: str = "") -> str:
    """A WebVTT file; each cue is (when it begins as mm:ss, what is said) and takes nine seconds."""
    head = f"WEBVTT - {title}" if title else "WEBVTT"
    blocks = [f"00:{at}.000 --> 00:{at[:3]}{int(at[3:]) + 9:02d}.000\n{said}" for at, said in cues]
    return "\n\n".join([head, *blocks]) + "\n"
