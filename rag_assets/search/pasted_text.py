"""Questions with pasted code, and long ones: the part that asks, and the names of the code. Pure."""

from __future__ import annotations

import re
from dataclasses import replace

from rag_assets.search import Question, QuestionKind
from rag_assets.search.query_parser import plain_question, understand

LONG = 600
"""Characters of a text of which only the sentences with a question mark are what is asked."""
_FENCED = re.compile(
    r"(?:^|(?<=\n))[ \t]*(?P<fence>```|~~~)[^\n]*\n.*?(?:\n[ \t]*(?P=fence)[ \t]*(?=\n|$)|\Z)", re.DOTALL
)
_CODE_LINE = re.compile(
    r"[;{}]\s*(?://.*)?$|^\s*[})\]]|=>|^(?: {4}|\t)\s*\S"
    r"|^\s*(?://|#include|import |using |def |@\w+|(?:public|private) )"
)
_FEWEST_CODE_LINES = 2
_DECLARED = re.compile(
    r"\b(?:class|interface|struct|record|enum|trait|def|func|function|void|Task(?:<[^>\n]*>)?)\s+(?P<name>[A-Za-z_]\w+)"
)
_CALLED = re.compile(r"(?<!new )\b(?P<name>[A-Za-z_]\w{2,})\s*(?:<[^<>()\n]*>)?\(")
_TYPE = re.compile(r"\b(?P<name>[A-Z][a-z0-9]\w+)\b")
_MOST_NAMES = 30
_QUESTION = re.compile(r"(?:\A|(?<=[.!?\n]))[^.!?\n]*+\?+")
_FEWEST_WORDS = 4  # of a question that stands by itself


def with_paste(typed: str) -> Question | None:
    """The question in a text with code or many sentences around it; None where all of the text is the question. Nothing
    in code is a filter. Raises WrongQuestion as `understand` does."""
    sentence, code = _split(typed)
    if code:
        whole = plain_question(typed)
        if not any(map(str.isalpha, sentence)):
            return replace(whole, pasted=_names(code))
        asked = understand(sentence)
        return replace(asked, typed=whole.typed, asks=asked.typed, pasted=_names(code))
    if len(typed) <= LONG:
        return None
    asking = " ".join(found.group().strip() for found in _QUESTION.finditer(typed))
    if len(asking) > LONG or len(asking.split()) < _FEWEST_WORDS:
        return None
    asked = understand(asking)
    return (
        None
        if asked.kind is QuestionKind.ERROR
        else replace(asked, typed=plain_question(typed).typed, asks=asked.typed)
    )


def _split(typed: str) -> tuple[str, str]:
    """(the sentences, the code) of a text; no code where none is in it."""
    code = [found.group() for found in _FENCED.finditer(typed)]
    if code:
        return " ".join(_FENCED.sub("\n", typed).split()), "\n".join(code)
    lines = [line for line in typed.split("\n") if line.strip()]
    pasted = [line for line in lines if _CODE_LINE.search(line)]
    if len(pasted) < _FEWEST_CODE_LINES:
        return typed, ""
    return " ".join(" ".join(line for line in lines if line not in pasted).split()), "\n".join(pasted)


def _names(code: str) -> tuple[str, ...]:
    """What code declares, what it calls, and its types, in this order."""
    found = [match["name"] for pattern in (_DECLARED, _CALLED, _TYPE) for match in pattern.finditer(code)]
    return tuple(dict.fromkeys(found))[:_MOST_NAMES]
