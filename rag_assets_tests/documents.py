"""Small documents as programs write them: PDF, Word, recordings."""

from __future__ import annotations

import io
import zipfile
from xml.sax.saxutils import escape

_NAMESPACE = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def pdf(*pages: str) -> bytes:
    """A PDF with these pages, a line of text for each line."""
    kids = " ".join(f"{4 + 2 * at} 0 R" for at in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for at, page in enumerate(pages):
        shown = " ".join(f"({line}) Tj T*" for line in page.split("\n") if line)
        stream = f"BT /F1 12 Tf 50 750 Td 14 TL {shown} ET"
        objects.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> "
            f"/Contents {5 + 2 * at} 0 R >>"
        )
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    made = b"%PDF-1.4\n"
    offsets = []
    for number, content in enumerate(objects, 1):
        offsets.append(len(made))
        made += f"{number} 0 obj\n{content}\nendobj\n".encode("latin-1")
    table = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    head = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
    return made + f"{head}trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(made)}\n%%EOF".encode()


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
