"""What the names of code call what people say is done."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

from rag_assets.answer.question_analysis import name_roots, root, root_set

_SAME = (
    "add create insert make save",
    "calculate compute get",
    "check validate verify",
    "create place submit",
    "change edit modify set update",
    "clear delete erase purge remove",
    "fetch find get list load query read return select show",
    "create register",
    "build create generate make",
    "dispatch emit publish raise",
    "register registration signup",
    "login signin logon authenticate",
    "logout signout logoff",
    "abort cancel revoke void",
    "deliver dispatch send",
    "capture charge pay",
    "accept approve confirm",
    "decline deny refuse reject",
    "close complete finalize finish",
    "buy checkout purchase",
)
MEANS = {
    root(word): root_set(*(words for words in _SAME if word in words.split()))
    for word in dict.fromkeys(" ".join(_SAME).split())
}
"""The root of a word → those of what code may call the same."""
_PARTICLES = frozenset({"back", "down", "in", "off", "on", "out", "up"})
_PHRASAL = re.compile(
    r"\b(?P<verb>check|log|opt|roll|set|shut|sign|start)(?:s|ed|ing|ged|ging|ting|ped|led|ling)?"
    r" (?P<particle>back|down|in|off|on|out|up)\b",
    re.IGNORECASE,
)


def with_phrasal_verbs(text: str) -> str:
    """A text with its verbs of two words as names have them: `logs in` as `login`, `checked out` as `checkout`."""
    return _PHRASAL.sub(lambda found: f"{found['verb']}{found['particle']}".lower(), text)


@lru_cache(maxsize=4096)  # types have many methods
def name_said(name: str) -> frozenset[str]:
    """The roots of the words of a name, a verb of two words also as one: `SignIn` as `sign`, `in` and `signin`."""
    words = name_roots(name)
    both = (verb + particle for verb, particle in pairwise(words) if particle in _PARTICLES)
    return frozenset((*words, *both))
