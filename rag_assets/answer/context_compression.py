"""Less of a text without losing a name: signatures instead of bodies, first sentences instead of paragraphs. Pure.

It is what happens before anything is left out of a context and before a model is asked for a summary (D23).
"""

from __future__ import annotations

import re
from functools import lru_cache

from rag_assets.answer.outline import PROSE, OutlinePart, outline

_SHORT_BODY = 48
"""Characters. `{ get; init; } = 3;` and `=> _inner.Count;` say what a signature should, for a word or two."""

_SENTENCE_END = re.compile(r"(?<=[.!?:])\s+(?=[A-Z0-9`*\[])")
_ELIDED = "…"


@lru_cache(maxsize=1_024)  # a budget tries what the next turn packs again
def signatures(text: str, language: str) -> str:
    """The declarations of a text without their bodies, comments included; of prose the headings and the first sentence
    of every paragraph. Never longer than the text."""
    parts = outline(text, language)
    made = "\n".join(_first_sentence(text, part) if language in PROSE else _signature(text, part) for part in parts)
    return made if len(made) < len(text) else text


def _signature(text: str, part: OutlinePart) -> str:
    whole = text[part.start : part.end]
    if part.body >= part.end or part.end - part.body <= _SHORT_BODY:
        return whole
    mark = "=> " if text.startswith("=>", part.body) else ""
    head = text[part.start : part.body].rstrip()
    return f"{head} {mark}{_ELIDED}" if mark else f"{head} {{ {_ELIDED} }}"


def _first_sentence(text: str, part: OutlinePart) -> str:
    whole = text[part.start : part.end]
    if whole.lstrip().startswith(("#", "|", "-", "*", "```")):
        return whole
    first = _SENTENCE_END.split(whole, maxsplit=1)[0]
    return first if len(first) == len(whole) else f"{first} {_ELIDED}"
