"""Answers that cost no more tokens than a caller wants to pay: by leaving whole lines out, and saying so."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from rag_assets.models.openai_compat.token_counting import estimate_tokens
from rag_assets.printable import printable

_MARGIN = 1.2
"""Of the estimate: a twentieth of pieces of C# and Markdown has more tokens than that."""
_FOREIGN_MARGIN = 1.5
"""The same of a text in another language, whose words are in more pieces than the English ones that models know whole:
one of 1,620 answers about jellyfin, a translation, was above its budget with the margin of the others."""
_FOREIGN_SHARE = 0.005
"""Of letters beyond ASCII, from which on a text is one; names and dashes in English ones are fewer."""
_OTHER_SCRIPT = 0.4
"""Tokens more of a character beyond ASCII, of which byte-pair models make several."""
_APART = re.compile(r"\n| (?=\d)|(?<=\n) ")
"""Tokens of their own that the estimate does not count, and that answers are full of: ends of lines, indentation, and
the space before a number."""


def cost_of(text: str) -> int:
    """Tokens of a text, seldom fewer than a model counts: none of 2,000 answers had more (`benchmarks/serving.py`)."""
    others = [] if text.isascii() else [char for char in text if not char.isascii()]
    is_foreign = sum(map(str.isalpha, others)) > _FOREIGN_SHARE * len(text)
    margin = _FOREIGN_MARGIN if is_foreign else _MARGIN
    return int(estimate_tokens([text])[0] * margin + len(others) * _OTHER_SCRIPT) + len(_APART.findall(text)) + 1


def estimated(tokens: int, text: str) -> int:
    """How many tokens by the estimate alone cost that much in a text like this one."""
    return tokens * estimate_tokens([text])[0] // cost_of(text)


def joined_within(head: Sequence[str], body: Sequence[str], foot: Sequence[str], max_tokens: int, more: str) -> str:
    """The lines of `head`, as many of `body` as fit, and those of `foot`; `more` says what was left out, with `{}` for
    the number of lines."""
    whole = "\n".join([*head, *body, *foot])
    if cost_of(whole) <= max_tokens:
        return whole

    def first(count: int) -> str:
        left = len(body) - count
        return "\n".join([*head, *body[:count], more.format(left), *foot])

    fits = bisect_right(range(1, len(body)), max_tokens, key=lambda count: cost_of(first(count)))
    return clipped(first(fits), max_tokens)


def shown(text: str, max_tokens: int) -> str:
    """An answer as an agent and its terminal may have it: what would hide, reorder or command is made visible, which
    takes room."""
    visible = printable(text)
    return text if visible == text else clipped(visible, max_tokens)


def clipped(text: str, max_tokens: int) -> str:
    """A text that costs no more than that; where it would, its beginning. The last resort, for texts whose first line
    alone is too long."""
    if cost_of(text) <= max_tokens:
        return text
    said = "\n… cut; ask for less, or with a larger max_tokens"
    fits = bisect_right(range(1, len(text) + 1), max_tokens, key=lambda length: cost_of(text[:length] + said))
    return text[:fits] + said
