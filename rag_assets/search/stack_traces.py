"""Error messages and stack traces (.NET, Python, JavaScript, JVM) as people paste them: the message, the code's own
frames, files and lines. Pure.

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

_OTHER_FRAMES = tuple(
    re.compile(rf"^[^\S\n]*{frame}[ \t]*$", re.MULTILINE)
    for frame in (
        r'File "(?P<file>[^"\n]+)", line (?P<line>\d{1,9})(?:, in (?P<method>[^\s(]+))?',
        r"at (?:async )?(?:new )?(?:(?P<method>[^\s(][^(\n]*?) )?\(?(?P<file>[^\s()]+?):(?P<line>\d{1,9}):\d{1,9}\)?",
        r"at (?:[^\s/(]+/)?(?P<method>[\w.$<>]+)\((?P<file>\w+\.(?:groovy|java|kt|scala)):(?P<line>\d{1,9})\)[^\n]*",
    )
)
"""Of Python, which has the innermost last; of JavaScript; of the JVM."""
_RAISED = re.compile(r"^(?P<type>(?:[A-Za-z_]\w*\.)*[A-Z]\w*)(?::[ \t]*(?P<message>[^\n]*))?$", re.MULTILINE)
"""What follows the frames of Python: a type of any name."""

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
_FOREIGN_OF_JVM = (
    "java.",
    "javax.",
    "jdk.",
    "kotlin.",
    "kotlinx.",
    "org.apache.",
    "org.junit.",
    "org.springframework.",
    "sun.",
)
_OF_LIBRARY = re.compile(r"^<|^node:|(?:^|/)(?:(?:dist|site)-packages|node_modules|lib/python[\d.]+)/")
_GENERATED = re.compile(r"<+(\w+)>(?:\$>?)?(?:[a-z]__|$)")
_ARITY = re.compile(r"`\d+|\[[^\]]*\]|<[^<>]*>")
_DRIVE = re.compile(r"^[\w-]+:/+(?:\./)?")  # or the scheme of an address
_NO_NAMES = frozenset(
    {"MoveNext", "MoveNextAsync", "ctor", "cctor", "init", "anonymous", "genexpr", "lambda", "listcomp", "module", ""}
)


def read_trace(text: str) -> Trace | None:
    """The trace or error message that a question is; None where it is neither."""
    frames = _frames(text)
    compiled = list(_COMPILER.finditer(text))
    thrown = list(_EXCEPTION.finditer(text))
    if not (frames or compiled or (thrown and not text[: thrown[0].start()].strip())):
        return None
    if frames and frames[0].re is _OTHER_FRAMES[0]:
        thrown = list(_RAISED.finditer(text, frames[0].end())) or thrown
    if frames and not thrown and not compiled and not any(_looks_like_code(frame) for frame in frames):
        return None
    own = [frame for frame in frames if _is_own(frame)] or frames
    own.sort(key=lambda frame: not frame["file"])  # of libraries a trace has no files
    symbols = tuple(dict.fromkeys(filter(None, (written_name(frame["method"] or "") for frame in own[:_MOST_FRAMES]))))
    places = dict.fromkeys(
        CodePlace(_path_of(found), int(found["line"])) for found in (*compiled, *own[:_MOST_FRAMES]) if found["file"]
    )
    messages = [_said(found) for found in thrown] + [f"{found['message']} {found['code']}" for found in compiled]
    if not messages:
        messages = [text[: min(frame.start() for frame in frames)].strip()] if frames else []
    return Trace(" ".join(dict.fromkeys(filter(None, (*messages, *symbols)))), symbols, tuple(places))


def _frames(text: str) -> list[re.Match[str]]:
    """The innermost first."""
    python, *others = ([*pattern.finditer(text)] for pattern in _OTHER_FRAMES)
    return python[::-1] or next(filter(None, others), []) or list(_FRAME.finditer(text))


def _is_own(frame: re.Match[str]) -> bool:
    method = frame["method"] or ""
    if not frame["file"]:
        return not method.startswith(_FOREIGN)
    return not (method.startswith(_FOREIGN_OF_JVM) or _OF_LIBRARY.search(frame["file"].replace("\\", "/")))


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
    return f"{found['type'].rpartition('.')[2]} {found['message'] or ''}".strip()


def _looks_like_code(frame: re.Match[str]) -> bool:
    """`at the end (see below)` is prose."""
    return frame["file"] is not None or ("." in frame["method"].strip(". ") and " " not in frame["method"].strip())


def _path_of(found: re.Match[str]) -> str:
    """As it is written, without what is before the folders; of the JVM below those of the package."""
    package = found["method"].split(".")[:-2] if found.re is _OTHER_FRAMES[2] else []
    return _DRIVE.sub("", "/".join([*package, found["file"].strip().replace("\\", "/")]))
