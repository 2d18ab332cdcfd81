"""What a follow-up question means by "it", without a model: the name that the question before was about. Pure.

Only what is certain is carried over: one name, into a question that has none of its own. Everything else is for a
model, which reads the conversation.
"""

from __future__ import annotations

import re

from rag_assets.answer.intent import intent_of
from rag_assets.errors import QueryError
from rag_assets.search.query_parser import understand

_KIND = r"(?:class|type|method|function|interface|enum|struct|record|service|property|field|table|endpoint|controller)"
_EXPLETIVE = r"(?:possible|true|likely|necessary|allowed|safe|better|worth|ok|okay|important|common)\b"
_OWNER = re.compile(r"\b(?:its|their)\b", re.IGNORECASE)
_POINTER = re.compile(
    rf"\b(?:it|them|they)\b(?!\s+(?:is\s+|was\s+)?{_EXPLETIVE})"  # "is it possible to …" is about nothing
    rf"|\b(?:this|that|the same)\s+{_KIND}\b"
    r"|\b(?:this|that)(?=\s*[?.!]?\s*$)",
    re.IGNORECASE,
)


def names_of(question: str) -> tuple[str, ...]:
    """The identifiers that a question writes as code is written; none of one that cannot be read."""
    try:
        return intent_of(understand(question)).names
    except QueryError:
        return ()


def carried_over(question: str, before: str) -> tuple[str, str]:
    """(the question with the name that `before` was about in place of what points at it, that name); the question as it
    is and '' where it has names, points at nothing, or `before` was not about exactly one name."""
    known = names_of(before)
    if len(known) != 1 or names_of(question):
        return question, ""
    name = known[0]
    owned = _OWNER.sub(f"{name}'s", question)
    made = owned if owned != question else _POINTER.sub(name, question)
    return (made, name) if made != question else (question, "")
