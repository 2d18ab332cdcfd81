"""Evidence as data: what looks like our delimiters, or like a mark with a meaning, is defused. Pure.

A mark keeps its length and its words, with a look-alike for the bracket that makes it one, so that people read the same
text and a quote of it can still be compared (`neutral` of both sides).
"""

from __future__ import annotations

import re
from functools import lru_cache

from rag_assets.contracts import protocol_markers

EVIDENCE_TAG = "evidence"
QUESTION_TAG = "question"

_DELIMITER = re.compile(rf"<(?=\s*/?\s*(?:{EVIDENCE_TAG}|{QUESTION_TAG})\b)", re.IGNORECASE)


@lru_cache(maxsize=2_048)  # a context, its quotes and their check look at the same slices, and so does the next turn
def neutral(text: str) -> str:
    """`text` in which nothing is a citation, a protocol prefix, a delimiter or a turn of a chat template. Neutral texts
    stay as they are."""
    return _DELIMITER.sub("‹", protocol_markers.neutral(text))
