"""Error messages and .NET stack traces as people paste them: the message, the code's own frames, files and lines. Pure.

Compilers rename what people wrote (`<RefundAsync>d__5.MoveNext`, `<>c__DisplayClass3_0.<Run>b__0`); names are given as
they were written.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from rag_assets.search import CodePlace

_MOST_FRAMES = 8
"""Of the code's own frames, the innermost first: what failed is among them, and more of them name only callers."""


@dataclass(frozen=True, slots=True)
class Trace:
    """`text` is what to search for: messages, then names. `symbols` are `Type.Method`, innermost frame first."""

    text: str
    symbols: tuple[str, ...]
    places: tuple[CodePlace, ...]


_FRAME = re.compile(
    r"^[^\S\n]*(?:at|bei|à|en|в|位置|場所)\s+(?P<method>[^\s(][^(\n]*)\((?P<arguments>[^\n]*?)\)"
    r"(?:\s+(?:in|dans|en|в|位置|場所)\s+(?P<file>.+?):\D{0,12}(?P<line>\d{1,9}))?[ \t]*$",
    re.MULTILINE,
)
"""`   at Shop.Orders.Refund(Int32 id) in C:\\src\\Orders.cs:line 42`; the words are in the language of the system."""

_COMPILER = re.compile(
    r"^(?P<file>[^\s(][^(\n]*)\((?P<line>\d{1,9})(?:,\d+){0,3}\)\s*:\s*(?:error|warning)\s+(?P<code>[A-Z]{2,}\d+)\s*:\s*"
    r"(?P<message>[^\n]*?)(?:\s+\[[^\]\n]*\])?\s*$",
    re.MULTILINE,
)
"""`src/A.cs(12,5): error CS0246: The type or namespace name 'B' could not be found [src/A.csproj]`."""

_EXCEPTION = re.compile(
    r"(?:^|(?<=\n)|--->\s*+|\bexception[.:]\s++)[^\S\n]*+(?P<type>(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Exception|Error))"
    r"(?:\s*\([^)\n]*\))?\s*:\s*(?P<message>[^\n]*)",
)
"""`System.InvalidOperationException: The limit is exceeded`, at the beginning of a line or as an inner exception."""

_FOREIGN = ("System.", "Microsoft.", "lambda_method", "InvokeStub_", "Xunit.", "NUnit.")
_GENERATED = re.compile(r"<+(\w+)>(?:\$>?)?(?:[a-z]__|$)")
_ARITY = re.compile(r"`\d+|\[[^\]]*\]|<[^<>]*>")
_DRIVE = re.compile(r"^[A-Za-z]:/")
_NO_NAMES = frozenset({"MoveNext", "MoveNextAsync", "ctor", "cctor", ""})


def read_trace(text: str) -> Trace | None:
    """The trace or error message that a question is; None where it is neither."""
    frames = list(_FRAME.finditer(text))
    compiled = list(_COMPILER.finditer(text))
    thrown = list(_EXCEPTION.finditer(text))
    if not (frames or compiled or (thrown and not text[: thrown[0].start()].strip())):
        return None
    if frames and not thrown and not compiled and not any(_looks_like_code(frame) for frame in frames):
        return None
    own = [frame for frame in frames if frame["file"] or not frame["method"].startswith(_FOREIGN)] or frames
    own.sort(key=lambda frame: not frame["file"])  # of libraries a trace has no files
    symbols = tuple(dict.fromkeys(filter(None, (written_name(frame["method"]) for frame in own[:_MOST_FRAMES]))))
    places = dict.fromkeys(
        CodePlace(_plain_path(found["file"]), int(found["line"]))
        for found in (*compiled, *own[:_MOST_FRAMES])
        if found["file"]
    )
    messages = [_said(found) for found in thrown] + [f"{found['message']} {found['code']}" for found in compiled]
    if not messages:
        messages = [text[: frames[0].start()].strip()] if frames else []
    return Trace(" ".join(dict.fromkeys(filter(None, (*messages, *symbols)))), symbols, tuple(places))


def written_name(method: str) -> str:
    """`Type.Method` of a frame's method as its author wrote it; the type alone for a constructor."""
    parts: list[str] = []
    for part in _split(method.strip()):
        generated = _GENERATED.search(part)
        if generated is not None:
            parts.append(generated[1])
        elif "<>" not in part:
            parts.append(_ARITY.sub("", part))
    named = [part for part in parts if part not in _NO_NAMES]
    return ".".join(named[-2:]) if named[-1:] == parts[-1:] or _was_generated(method) else ".".join(named[-1:])


def _was_generated(method: str) -> bool:
    return _GENERATED.search(method) is not None


def _split(method: str) -> list[str]:
    """At the dots and `+` outside of brackets."""
    parts, depth, start = [], 0, 0
    for at, character in enumerate(method):
        if character in "[<":
            depth += 1
        elif character in "]>":
            depth -= 1
        elif character in ".+" and depth == 0:
            parts.append(method[start:at])
            start = at + 1
    return [*parts, method[start:]]


def _said(found: re.Match[str]) -> str:
    return f"{found['type'].rpartition('.')[2]} {found['message']}".strip()


def _looks_like_code(frame: re.Match[str]) -> bool:
    """`at the end (see below)` is prose."""
    return frame["file"] is not None or ("." in frame["method"].strip(". ") and " " not in frame["method"].strip())


def _plain_path(written: str) -> str:
    return _DRIVE.sub("", written.strip().replace("\\", "/"))
