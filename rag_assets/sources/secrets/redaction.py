"""Redaction: replaces credentials with `*` of the same length before anything else sees the text.

Length and line ends stay, so every offset and line of the redacted text fits the original. Findings name the rule and
the line, never the secret. The time is linear in the text; the time limit is checked between rules and matches.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

import re2

from rag_assets.contracts.segment import LineIndex
from rag_assets.sources.default_ignores import extension_of
from rag_assets.sources.secrets.assignments import COMPANION, HARMLESS_STRING, MESSAGE_PREFIX, NAMED_RULES, context_of
from rag_assets.sources.secrets.entropy import AssignmentContext
from rag_assets.sources.secrets.rules import SecretRule
from rag_assets.sources.secrets.tokens import TOKEN_RULES

_PRIVATE_KEY = re.compile(rb"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_LONGEST_PRIVATE_KEY = 64 * 1024  # an 8,192-bit RSA key has 6.5 kB; as a string literal with line ends, twice that
_BASE64_RUN = re.compile(rb"(?:\\[nrt])|([A-Za-z0-9+/=]{4,})")
_MIN_KEY_LINE = 40  # characters of base64 in a row that make it a key and not a text about keys
_VISIBLE = re.compile(r"[^\r\n]")
_KEYWORD_OPTIONS = re2.Options()
_KEYWORD_OPTIONS.case_sensitive = False
_KEYWORD_OPTIONS.literal = True


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


@dataclass(frozen=True, slots=True, order=True)
class _Span:
    """A range to mask. `rule` is empty for another piece of a finding that is already reported."""

    start: int
    end: int
    rule: str


def redact(text: str, path: str) -> Redaction:
    """Masks the credentials in `text`. `path` tells settings and data from code and prose; empty where there is none.
    Every expression takes linear time."""
    spans = sorted(_spans(text, path))
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


def rules_description() -> str:
    """Everything but code that decides what is masked, as one text for a fingerprint."""
    names = (MESSAGE_PREFIX.pattern, COMPANION.pattern, HARMLESS_STRING.pattern)
    return "\n".join((*map(str, TOKEN_RULES), *map(str, NAMED_RULES), *map(repr, names)))


class _RuleSet:
    """Rules behind one search for all their keywords, which takes 2 ms a megabyte."""

    def __init__(self, rules: Iterable[SecretRule]) -> None:
        self._keywords = re2.Set.SearchSet(_KEYWORD_OPTIONS)
        self._rules = tuple(rules)
        named = defaultdict(list)
        for number, rule in enumerate(self._rules):
            for keyword in rule.keywords:
                named[keyword].append(number)
        self._by_keyword = list(named.values())
        for keyword in named:
            self._keywords.Add(keyword.encode())
        self._keywords.Compile()

    def possible(self, text: bytes, context: AssignmentContext) -> Iterator[SecretRule]:
        """The rules with a keyword in the text, in their order."""
        present = self._keywords.Match(text) or ()
        for number in sorted({number for keyword in present for number in self._by_keyword[keyword]}):
            if context in self._rules[number].contexts:
                yield self._rules[number]


@cache
def _rule_set() -> _RuleSet:
    return _RuleSet((*TOKEN_RULES, *NAMED_RULES))


def _spans(text: str, path: str) -> Iterator[_Span]:
    searched = text.encode("ascii", "replace")  # one byte a character
    context, extension = AssignmentContext.PROSE, ""
    if path:
        context, extension = context_of(path), extension_of(path.rpartition("/")[2])
    if b"PRIVATE KEY" in searched:
        yield from _private_keys(searched)
    for escape in (rb"\n", rb"\r", rb"\t"):  # in a string literal; what follows begins a word
        searched = searched.replace(escape, b"  ")
    for rule in _rule_set().possible(searched, context):
        done = 0
        for found in rule.secrets(searched, context, extension):
            if found.start >= done:
                done = found.end
                yield _Span(found.start, found.end, rule.name)


def _private_keys(searched: bytes) -> Iterator[_Span]:
    """The base64 of private keys, also within string literals; marks, quotes and line ends stay."""
    for begin in _PRIVATE_KEY.finditer(searched):
        limit = begin.end() + _LONGEST_PRIVATE_KEY
        end = searched.find(b"-----", begin.end(), limit)
        body_end = end if end != -1 else min(limit, len(searched))
        runs = [run.span(1) for run in _BASE64_RUN.finditer(searched, begin.end(), body_end) if run.group(1)]
        if any(stop - start >= _MIN_KEY_LINE for start, stop in runs):
            yield from (_Span(*run, "private-key" if number == 0 else "") for number, run in enumerate(runs))
