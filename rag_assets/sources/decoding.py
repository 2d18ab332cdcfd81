"""Decodes bytes without losing any: BOMs, UTF-8, UTF-16 and UTF-32, and single bytes of Windows-1252.

Offsets of every later stage count characters of this text. Line ends stay as they are; a BOM at the start is removed.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

SNIFFED_BYTES = 8_000
"""git calls a file binary if these bytes hold a NUL. A later NUL stays as a character."""
_MAX_CONTROL_SHARE = 0.1  # text has tabs and line ends; a tenth of other control bytes is a binary format
_UTF16_ZERO_SHARE = 0.4  # of the high bytes, in text that is at least half ASCII
_UTF16_STRAY_ZEROS = 0.05  # of the low bytes: a NUL character now and then

_CONTROL_BYTES = bytes(byte for byte in range(32) if byte not in b"\t\n\r\f\b\x1b\0")
_SURROGATES = re.compile(r"[\ud800-\udfff]")
_REPLACEMENT = "\ufffd"
_MIXED = "rag_assets.mixed_windows_1252"

# The five bytes that Windows-1252 leaves undefined become the control characters of the same number, as in
# browsers. So the fallback decodes every byte.
_WINDOWS_1252 = tuple(bytes([byte]).decode("cp1252", "ignore") or chr(byte) for byte in range(256))

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig", "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le", "utf-32-le"),  # before UTF-16: its BOM begins with the one of UTF-16
    (codecs.BOM_UTF32_BE, "utf-32-be", "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le", "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be", "utf-16-be"),
)


@dataclass(frozen=True, slots=True)
class Decoded:
    """`replaced` counts the characters that are U+FFFD because their bytes encode no character."""

    text: str
    encoding: str
    replaced: int = 0


@dataclass(frozen=True, slots=True)
class Binary:
    """The bytes are not text; `detail` names the sign."""

    detail: str


def decode(data: bytes) -> Decoded | Binary:
    """The text of a file and its encoding.

    Order: a BOM; UTF-16 without BOM, if nearly every second byte is zero; binary, if the first 8,000 bytes hold a NUL;
    UTF-8; last UTF-8 with invalid bytes read as Windows-1252 one by one, which also decodes plain Windows-1252.
    """
    for bom, name, codec in _BOMS:
        if data.startswith(bom):
            return _utf8(data[len(bom) :], name) if codec == "utf-8" else _wide(data[len(bom) :], codec)
    head = data[:SNIFFED_BYTES]
    if b"\0" in head:
        codec_without_bom = _utf16_without_bom(head)
        if codec_without_bom is None:
            return Binary("NUL byte in the first 8,000")
        return _wide(data, codec_without_bom)
    if len(head) - len(head.translate(None, _CONTROL_BYTES)) > len(head) * _MAX_CONTROL_SHARE:
        return Binary("more than a tenth of the first 8,000 bytes are control characters")
    return _utf8(data, "utf-8")


def _utf8(data: bytes, name: str) -> Decoded:
    text = _attempt(data, "strict")
    if text is not None:
        return Decoded(text, name)
    with_surrogates = _attempt(data, "surrogatepass")
    if with_surrogates is not None:
        return _without_surrogates(with_surrogates, name)
    is_mixed = not data.decode("utf-8", "ignore").isascii()
    return Decoded(data.decode("utf-8", _MIXED), "utf-8+windows-1252" if is_mixed else "windows-1252")


def _attempt(data: bytes, errors: str) -> str | None:
    try:
        return data.decode("utf-8", errors)
    except UnicodeDecodeError:
        return None


def _wide(data: bytes, codec: str) -> Decoded:
    """Decodes UTF-16 or UTF-32. Each truncated or impossible code unit becomes U+FFFD."""
    width = 4 if codec.startswith("utf-32") else 2
    whole, rest = data[: len(data) // width * width], data[len(data) // width * width :]
    try:
        text = whole.decode(codec, "surrogatepass")
    except UnicodeDecodeError:
        text = whole.decode(codec, "replace")
        lost = text.count(_REPLACEMENT) - whole.count(_REPLACEMENT.encode(codec))
        return Decoded(text + _REPLACEMENT * bool(rest), codec, lost + bool(rest))
    decoded = _without_surrogates(text, codec)
    return Decoded(decoded.text + _REPLACEMENT * bool(rest), codec, decoded.replaced + bool(rest))


def _without_surrogates(text: str, encoding: str) -> Decoded:
    """Joins pairs of surrogates to their character and replaces each lone one."""
    joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    clean, replaced = _SURROGATES.subn(_REPLACEMENT, joined)
    return Decoded(clean, encoding, replaced)


def _utf16_without_bom(head: bytes) -> str | None:
    """The codec of evident UTF-16: many zeros among the high bytes, hardly any among the low ones."""
    even, odd = head[0::2], head[1::2]
    if not even or not odd:
        return None
    even_zeros, odd_zeros = even.count(0) / len(even), odd.count(0) / len(odd)
    if odd_zeros >= _UTF16_ZERO_SHARE and even_zeros <= _UTF16_STRAY_ZEROS:
        low, codec = even, "utf-16-le"
    elif even_zeros >= _UTF16_ZERO_SHARE and odd_zeros <= _UTF16_STRAY_ZEROS:
        low, codec = odd, "utf-16-be"
    else:
        return None
    is_text = len(low) - len(low.translate(None, _CONTROL_BYTES)) <= len(low) * _MAX_CONTROL_SHARE
    return codec if is_text else None


def _as_windows_1252(error: UnicodeError) -> tuple[str, int]:
    """The codec error handler that reads one invalid byte as Windows-1252 and continues after it."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return _WINDOWS_1252[error.object[error.start]], error.start + 1


codecs.register_error(_MIXED, _as_windows_1252)
