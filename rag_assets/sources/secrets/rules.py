"""What a rule for credentials is.

The expressions are of RE2, which takes linear time whatever the text. A text is searched as ASCII with one byte a
character, so that offsets are those of the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import re2

from rag_assets.sources.secrets.entropy import AssignmentContext

ANYWHERE = frozenset(AssignmentContext)
_OPTIONS = re2.Options()
_OPTIONS.log_errors = False


@dataclass(frozen=True, slots=True)
class SecretCandidate:
    """What a rule found in `text`: `value`, from `start` to `end`, would be masked. `match_start` is where the match
    begins, which may be the name of the value."""

    text: bytes
    value: str
    match_start: int
    start: int
    end: int
    context: AssignmentContext
    extension: str


_REST_OF_TOKEN = re.compile(rb"[\w+/=-]*(?:\.[\w=-]{2,})*")


@dataclass(frozen=True)
class SecretRule:
    """A form of credential. Every match of `pattern` has one of the `keywords`, in whatever case. What is masked is the
    group numbered `group`, else the first that took part, else the whole match, where it `is_secret`. The match of a
    token (`is_token`) begins a word, and its rest is masked too. `contexts` are the files that a rule holds for."""

    name: str
    keywords: tuple[str, ...]
    pattern: str
    is_secret: Callable[[SecretCandidate], bool]
    contexts: frozenset[AssignmentContext] = ANYWHERE
    is_token: bool = False
    group: int = 0

    @cached_property
    def _compiled(self) -> Any:
        return re2.compile(self.pattern.encode(), _OPTIONS)

    def secrets(self, text: bytes, context: AssignmentContext, extension: str) -> Iterator[SecretCandidate]:
        """In text order. Their ends may overlap."""
        groups = (self.group,) if self.group else range(1, self._compiled.groups + 1)
        done = 0
        for match in self._compiled.finditer(text):
            begin = match.start()
            if begin < done or (self.is_token and _is_in_word(text, begin)):
                continue
            start, end = next((span for span in map(match.span, groups) if span[0] != -1), match.span())
            found = SecretCandidate(text, text[start:end].decode(), begin, start, end, context, extension)
            if not self.is_secret(found):
                continue
            if self.is_token:
                rest = _REST_OF_TOKEN.match(text, end)
                done = rest.end() if rest else end
                found = replace(found, end=done)
            yield found

    def __str__(self) -> str:
        """Everything that decides what it finds, but for code."""
        contexts = sorted(context.value for context in self.contexts)
        return f"{self.name} {self.keywords} {self.pattern} {contexts} {self.is_token} {self.group}"


def _is_in_word(text: bytes, start: int) -> bool:
    """True inside a longer word, such as a base64 text that happens to contain `AKIA…`."""
    return text[start : start + 1].isalnum() and text[start - 1 : start].isalnum()
