"""Redaction: replaces credentials with `*` of the same length before anything else sees the text.

Length and line ends stay, so every offset and line of the redacted text fits the original. Findings name the rule and
the line, never the secret. Every expression runs on a bounded window around a literal it needs, so the time is linear
in the text. The time limit is checked between windows.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass

from rag_assets.contracts.segment import LineIndex
from rag_assets.sources.secrets.assignments import assigned_secrets, lower
from rag_assets.sources.secrets.entropy import is_placeholder
from rag_assets.sources.secrets.rules import (
    MIN_WORD,
    PRIVATE_KEY_BEGIN,
    PRIVATE_KEY_LITERAL,
    WORD_BYTES,
    Anchor,
    TokenRule,
    literals_of,
    rules_for,
)

_BEFORE, _AFTER = 400, 4_000
"""The window around a literal, cut at line ends: the longest tokens (JWTs with claims) have 4,000 characters."""
_LONGEST_PRIVATE_KEY = 64 * 1024  # an 8,192-bit RSA key has 6.5 kB; as a string literal with line ends, twice that
_BASE64_RUN = re.compile(r"(?:\\[nrt])|([A-Za-z0-9+/=]{4,})")
_MIN_KEY_BODY = 40  # characters of base64 that make it a key and not a text about keys
_VISIBLE = re.compile(r"[^\r\n]")


@dataclass(frozen=True, slots=True)
class SecretFinding:
    """The place of a masked secret: the rule and the 1-based line. The secret itself is not stored."""

    rule: str
    line: int


@dataclass(frozen=True, slots=True)
class Redaction:
    """`text` has the length of the original, character for character."""

    text: str
    findings: tuple[SecretFinding, ...] = ()


class RedactionTimeout(Exception):
    """The time limit of one file was reached; nothing of its text may be used."""


@dataclass(frozen=True, slots=True, order=True)
class _Span:
    """A range to mask. `rule` is empty for another piece of a finding that is already reported."""

    start: int
    end: int
    rule: str


def redact(text: str, path: str, *, deadline: float | None = None) -> Redaction:
    """Masks the credentials in `text`. `path` tells settings and data from code.

    `deadline` is a `time.monotonic()` value. Raises RedactionTimeout when it has passed.
    """
    spans = sorted(_spans(text, path, deadline))
    if not spans:
        return Redaction(text)
    lines = LineIndex(text)
    pieces: list[str] = []
    findings: list[SecretFinding] = []
    end = 0
    for span in spans:
        if span.rule and span.start >= end:
            findings.append(SecretFinding(span.rule, lines.line_of(span.start)))
        start = max(span.start, end)
        if span.end > start:
            pieces += (text[end:start], _VISIBLE.sub("*", text[start : span.end]))
            end = span.end
    return Redaction("".join((*pieces, text[end:])), tuple(findings))


def _spans(text: str, path: str, deadline: float | None) -> Iterator[_Span]:
    _check(deadline)
    low = lower(text)
    probed = {Anchor.WORDS: _long_words(text), Anchor.TEXT: text, Anchor.LOWER: low}
    for probe, searched in probed.items():
        present = {literal for literal in literals_of(probe) if literal in searched}
        for rule in rules_for(probe, present) if present else ():
            literals = [literal for literal in rule.literals if literal in present]
            yield from _tokens(text, low if probe is Anchor.LOWER else text, literals, rule, deadline)
    if PRIVATE_KEY_LITERAL in text:
        yield from _private_keys(text)
    for name, start, end in assigned_secrets(text, low, path):
        _check(deadline)
        yield _Span(start, end, name)
    _check(deadline)


def _long_words(text: str) -> str:
    """The words of a text that could be tokens, one per line: long ones that are not mere names."""
    words = text.encode("utf-8", "replace").translate(WORD_BYTES).split()
    found = [word for word in words if len(word) >= MIN_WORD and (not word.isalpha() or word.isupper())]
    return b"\n".join(found).decode("ascii")


def _tokens(text: str, searched: str, literals: list[str], rule: TokenRule, deadline: float | None) -> Iterator[_Span]:
    for start, end in _windows(searched, literals):
        _check(deadline)
        for match in rule.pattern.finditer(text, start, end):
            value = match.group(rule.group)
            if not value or _is_part_of_word(text, match) or is_placeholder(value):
                continue
            if rule.check is None or rule.check(value):
                yield _Span(match.start(rule.group), match.end(rule.group), rule.name)


def _windows(text: str, literals: list[str]) -> Iterator[tuple[int, int]]:
    """Disjoint ranges around the literals, each within one line."""
    hits: list[int] = []
    for literal in literals:
        position = text.find(literal)
        while position != -1:
            hits.append(position)
            position = text.find(literal, position + 1)
    done = 0
    for hit in sorted(hits):
        if hit < done:
            continue
        start = max(done, hit - _BEFORE, text.rfind("\n", max(0, hit - _BEFORE), hit) + 1)
        line_end = text.find("\n", hit, hit + _AFTER)
        done = min(len(text), hit + _AFTER) if line_end == -1 else line_end
        yield start, done


def _is_part_of_word(text: str, match: re.Match[str]) -> bool:
    """True inside a longer word, such as a base64 text that happens to contain `AKIA…`."""
    start, end = match.span()
    before, after = text[start - 1 : start], text[end : end + 1]
    return (before.isalnum() and text[start].isalnum()) or (after.isalnum() and text[end - 1].isalnum())


def _private_keys(text: str) -> Iterator[_Span]:
    """The base64 of private keys, also within string literals; marks, quotes and line ends stay."""
    for begin in PRIVATE_KEY_BEGIN.finditer(text):
        limit = begin.end() + _LONGEST_PRIVATE_KEY
        end = text.find("-----", begin.end(), limit)
        body_end = end if end != -1 else min(limit, len(text))
        runs = [run.span(1) for run in _BASE64_RUN.finditer(text, begin.end(), body_end) if run.group(1)]
        if sum(stop - start for start, stop in runs) >= _MIN_KEY_BODY:
            yield from (_Span(*run, "private-key" if number == 0 else "") for number, run in enumerate(runs))


def _check(deadline: float | None) -> None:
    if deadline is not None and time.monotonic() > deadline:
        raise RedactionTimeout
