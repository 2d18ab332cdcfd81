"""Lines of source that say something by their form: what is wrong, left to do, failing or needed. Pure.

Conventions of the languages that are indexed, read line by line: a line is quoted as it is, so one that is taken for
more than it means does no harm beyond its own line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rag_assets.answer.artifact.templates import Material
from rag_assets.contracts.evidence import Evidence

LONGEST_LINE = 160
"""Characters of a line that are quoted: what fits two lines of a terminal."""


@dataclass(frozen=True, slots=True)
class MarkedLine:
    """`text` is the line of `evidence` at `line` (of the file), blanks around it dropped; `says` what it is."""

    evidence: Evidence
    line: int
    text: str
    says: str


_OF: Mapping[Material, tuple[tuple[str, re.Pattern[str]], ...]] = {
    Material.DEFECTS: (
        ("Marked as wrong", re.compile(r"\b(?:FIXME|HACK|XXX|BUG|KLUDGE)\b(?=\s*[:(!-]|\s+\w)")),
        ("Obsolete", re.compile(r"^\s*\[(?:\w+\.)*Obsolete\b|@Deprecated\b|@deprecated\b|\bDeprecationWarning\b")),
        ("Not implemented", re.compile(r"\bNotImplemented(?:Exception|Error)\b|\bUnsupportedOperationException\b")),
        (
            "Catches everything",
            re.compile(
                r"\bcatch\s*(?:\(\s*(?:System\.)?(?:Exception|Throwable)\b[^)]*\)\s*)?(?:\{|$)|^\s*except\s*:"
                r"|^\s*except\s+(?:Base)?Exception\b"
            ),
        ),
    ),
    Material.TASKS: (("To do", re.compile(r"\bTODO\b|^\s*[-*]\s+\[ \]\s")),),
    Material.FAILURES: (
        ("Throws", re.compile(r"\bthrow\s+new\s+\w+|^\s*raise\s+\w+|\bpanic\(")),
        ("Catches", re.compile(r"\bcatch\s*(?:\(|\{|$)|^\s*except\b")),
        ("Retries", re.compile(r"\b\w*(?:Retry|CircuitBreaker|Fallback)\w*\(|\bretry\(", re.ASCII)),
    ),
    Material.SETTINGS: (
        ("Package", re.compile(r"<Package(?:Reference|Version)\s+(?:Include|Update)=", re.IGNORECASE)),
        ("Framework", re.compile(r"<TargetFrameworks?>|\brequires-python\b|\"node\"\s*:|^go \d|\"sdk\"\s*:")),
        ("Image", re.compile(r"^\s*FROM\s+\S+|^\s*image:\s*\S+")),
        ("Connection", re.compile(r"\"ConnectionStrings?\"|\w+Connection\"\s*:|_URL=|\"Endpoint\"\s*:")),
    ),
}


def marked_lines(known: Evidence, material: Material) -> Iterator[MarkedLine]:
    """The lines of a piece that say something of this kind, in their order, each once."""
    for at, line in enumerate(known.text.split("\n")):
        text = " ".join(line.split())
        if len(text) < 3:
            continue
        for says, pattern in _OF[material]:
            if pattern.search(line):
                yield MarkedLine(known, known.line_start + at, text[:LONGEST_LINE].rstrip(), says)
                break
