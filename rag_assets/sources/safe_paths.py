"""Checks which paths of a source are safe to use."""

from __future__ import annotations

import re

_DRIVE = re.compile(rb"[A-Za-z]:")
_CONTROL = re.compile(rb"[\x00-\x1f\x7f]")


def safe_path(raw: bytes) -> tuple[str, str]:
    """(text of a repository path, why it is unsafe or empty).

    Bytes that are not UTF-8 become `\\xNN`, so that every name has one printable, reversible text. A name with a
    backslash of its own is refused: that keeps the text unique, and Windows would read a separator.
    """
    problem = ""
    if _CONTROL.search(raw):
        problem = "control character in the name"
    elif b"\\" in raw:
        problem = "backslash in the name"
    elif raw.startswith(b"/") or _DRIVE.match(raw):
        problem = "absolute path"
    elif any(part in (b"", b".", b"..") for part in raw.split(b"/")):
        problem = "path traversal" if b".." in raw.split(b"/") else "empty path component"
    text = raw.decode("utf-8", "backslashreplace")
    return (_CONTROL_TEXT.sub(_escaped, text) if problem else text), problem


_CONTROL_TEXT = re.compile(r"[\x00-\x1f\x7f]")


def _escaped(match: re.Match[str]) -> str:
    return f"\\x{ord(match.group()):02x}"  # a name must not control the terminal that lists it


def raw_path(text: str) -> bytes:
    """The bytes of a safe path from its text."""
    raw = text.encode()
    return _ESCAPED_BYTE.sub(lambda match: bytes([int(match[1], 16)]), raw) if b"\\" in raw else raw


_ESCAPED_BYTE = re.compile(rb"\\x([0-9a-f]{2})")
