"""Decoding: no text lost, encodings told apart, offsets those of the decoded text."""

from __future__ import annotations

import codecs
import random

import pytest

from rag_assets.sources.decoding import Binary, Decoded, decode

TEXT = '// Größe: 3 €\r\nclass Ångström { string s = "日本語 😀"; }\r\n'
QUOTED = "caf\u00e9 \u201cquoted\u201d \u2013 5 \u20ac"
ASCII = "class Order\r\n{\r\n    int Id;\n}\n" * 20


@pytest.mark.parametrize(
    ("data", "text", "encoding"),
    [
        (TEXT.encode(), TEXT, "utf-8"),
        (codecs.BOM_UTF8 + TEXT.encode(), TEXT, "utf-8-sig"),
        (codecs.BOM_UTF16_LE + TEXT.encode("utf-16-le"), TEXT, "utf-16-le"),
        (codecs.BOM_UTF16_BE + TEXT.encode("utf-16-be"), TEXT, "utf-16-be"),
        (codecs.BOM_UTF32_LE + TEXT.encode("utf-32-le"), TEXT, "utf-32-le"),
        (codecs.BOM_UTF32_BE + TEXT.encode("utf-32-be"), TEXT, "utf-32-be"),
        (ASCII.encode("utf-16-le"), ASCII, "utf-16-le"),
        (ASCII.encode("utf-16-be"), ASCII, "utf-16-be"),
        (b"", "", "utf-8"),
        (codecs.BOM_UTF8, "", "utf-8-sig"),
        (QUOTED.encode("cp1252"), QUOTED, "windows-1252"),
        (b"caf\xe9", "caf\u00e9", "windows-1252"),
        (b"\x81\x8d\x8f\x90\x9d", "\x81\x8d\x8f\x90\x9d", "windows-1252"),
        ("Größe und wir".encode() + b"\x92re", "Größe und wir\u2019re", "utf-8+windows-1252"),
        ("a\ufeffb".encode(), "a\ufeffb", "utf-8"),
    ],
    ids=["utf8", "utf8-bom", "utf16le-bom", "utf16be-bom", "utf32le-bom", "utf32be-bom", "utf16le", "utf16be", "empty",
         "bom-only", "cp1252", "latin1", "undefined-in-cp1252", "utf8-with-a-stray-byte", "bom-inside"],
)  # fmt: skip
def test_encodings_are_told_apart_and_nothing_is_lost(data: bytes, text: str, encoding: str) -> None:
    decoded = decode(data)
    assert isinstance(decoded, Decoded)
    assert (decoded.encoding, decoded.replaced) == (encoding, 0)
    assert decoded.text == text


@pytest.mark.parametrize(
    ("data", "text", "replaced"),
    [
        (b"a\xed\xa0\x80b", "a\ufffdb", 1),  # a lone surrogate in UTF-8
        (b"a\xed\xa0\xbd\xed\xb8\x80b", "a😀b", 0),  # a pair of them is a character
        (codecs.BOM_UTF16_LE + "a".encode("utf-16-le") + b"\x00\xd8" + "b".encode("utf-16-le"), "a\ufffdb", 1),
        (codecs.BOM_UTF16_LE + "ab".encode("utf-16-le") + b"c", "ab\ufffd", 1),
        (codecs.BOM_UTF16_LE + b"c", "\ufffd", 1),
        (codecs.BOM_UTF32_LE + "a".encode("utf-32-le") + b"\x00\x00\x20\x00" + "b".encode("utf-32-le"), "a\ufffdb", 1),
        (codecs.BOM_UTF32_LE + "\ufffda".encode("utf-32-le") + b"x", "\ufffda\ufffd", 1),
        ("\ufffd".encode(), "\ufffd", 0),  # written by the author: not ours
    ],
    ids=["utf8-lone", "utf8-pair", "utf16-lone", "utf16-cut", "utf16-one-byte", "utf32-too-large", "utf32-cut", "fffd"],
)
def test_what_stands_for_no_character_becomes_one_replacement_each(data: bytes, text: str, replaced: int) -> None:
    decoded = decode(data)
    assert isinstance(decoded, Decoded)
    assert (decoded.text, decoded.replaced) == (text, replaced)
    decoded.text.encode()  # no surrogate is left


@pytest.mark.parametrize(
    "data",
    [
        b"MZ\x90\x00\x03\x00\x00\x00\x04" + bytes(range(256)) * 10,
        b"class A {}\0 class B {}",
        random.Random(1).randbytes(5000),
        b"\x01\x02\x03\x04\x05\x06" * 50,
        b"\x7fELF\x02\x01\x01" + b"\0" * 60,
    ],
    ids=["exe-named-cs", "nul-in-code", "random", "control", "elf"],
)
def test_binary_content_is_found_out(data: bytes) -> None:
    found = decode(data)
    assert isinstance(found, Binary)
    assert found.detail


def test_a_nul_far_behind_the_start_is_kept_as_a_character() -> None:
    """git looks at the first 8,000 bytes too; behind them a NUL is a character of the text."""
    text = "x" * 8000 + "\0" + "y"
    assert decode(text.encode()) == Decoded(text, "utf-8")


@pytest.mark.parametrize("seed", range(5))
def test_no_byte_is_lost_whatever_the_bytes(seed: int) -> None:
    """The text holds what each byte means: re-encoding it, character by character, gives the bytes back."""
    drawn = random.Random(seed)
    data = b"text " + bytes(drawn.choice(b"abc \xe9\xe8\x80\x81\xff\xc3\xe2\x82\xac") for _ in range(2000))
    decoded = decode(data)
    assert isinstance(decoded, Decoded)
    position = 0
    for character in decoded.text:
        forms = [character.encode(), character.encode("cp1252", "ignore"), character.encode("latin-1", "ignore")]
        position += len(next(form for form in forms if form and data.startswith(form, position)))
    assert position == len(data)


def test_line_ends_stay_as_they_are() -> None:
    decoded = decode(b"a\r\nb\nc\rd\r\r\n")
    assert isinstance(decoded, Decoded)
    assert decoded.text == "a\r\nb\nc\rd\r\r\n"
