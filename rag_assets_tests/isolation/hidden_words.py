"""The same request twice: with words that are only above the clearance of the asker, and with words that are nowhere.

Whoever gets two answers that differ in more than these words knows that a word is in a text that is not for them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from random import Random

from rag_assets_tests.isolation.public_entries import COMMANDS, LIBRARY, Entry, Request, typed
from rag_assets_tests.isolation.walled_shops import Asker, World

_OF_THE_RUN = re.compile(
    r'timings=\{[^}]*\}|"timings": \{[^}]*\}|"?seconds"?[=:] ?[\d.e-]+|\b\d+(?:\.\d+)? ?m?s\b'  # how long it took
    r"|chat-[0-9a-f]{12}|\b[0-9a-f]{16}\b|at 0x[0-9a-f]+",  # session, turn, address
)


def _words(*words: str, spoken: str | None = None) -> Entry:
    """A command with texts of every kind that a hidden word may be in; `{}` is the question."""

    def entry(world: World, asker: Asker, chance: Random) -> Request:
        shop = chance.choice([one for one in world.shops if one.org == asker.shop.org])
        level = chance.choice(sorted(shop.made_up or asker.above))
        known = shop.canary(level)
        word = chance.choice([known.name, known.secret, known.name.capitalize(), known.secret.upper()])
        asked = chance.choice(_ASKED).replace("{}", word)
        said = [word if part == "{word}" else asked if part == "{}" else part for part in words]
        line = None if spoken is None else spoken.format(asked)
        return typed(world, asker, chance, (*said[:1], "--label", asker.shop.label, *said[1:]), spoken=line)

    return entry


_ASKED = (
    "{}",
    "what is {}",
    "how does {} work",
    "how are {}s refunded",
    "who calls {}",
    "who implements I{}",
    "show me {}",
    "when was {} last changed?",
    "who wrote {}?",
    "does it use {}?",
    "where are {}z refunded?",
    "where is Order.{} set?",
    "which exceptions does {} throw?",
    "what is the default of Refunds:{}?",
    "which tables have {}",
    "refund money {} for returned orders",
    "Orders{} refunds",
    '"refunds {}"',
    "{} {}ing Ledger",
    "{}.Post(int)",
    "symbol:{} refunds",
    "-symbol:{} refunds",
    "path:src/{} refunds",
)

WITH_SECRETS: Mapping[str, Entry] = {
    f"words {name}": entry
    for name, entry in {
        "search": _words("search", "--", "{}"),
        "search --explain": _words("search", "--explain", "--", "{}"),
        "search --explain --json": _words("search", "--explain", "--json", "--limit", "50", "--", "{}"),
        "ask": _words("ask", "--", "{}"),
        "ask --json": _words("ask", "--json", "--", "{}"),
        "chat": _words("chat", spoken="{}\n/sources\n/graph\n/why\nwho calls it\n/why\n/quit\n"),
        "artifact": _words("artifact", "--json", "blueprint", "--", "{}"),
        "show": _words("show", "--", "{word}"),
        "explain": _words("explain", "--json", "--", "{word}"),
        "graph around": _words("graph", "around", "--", "{word}"),
        "graph callers": _words("graph", "callers", "--", "{word}"),
        "graph uses": _words("graph", "uses", "--json", "--", "{word}"),
        "graph impact": _words("graph", "impact", "--", "{word}"),
        "graph path": _words("graph", "path", "--json", "--", "{word}", "Ledger"),
    }.items()
}
"""Beside those of `ENTRIES`: these say words that stand in hidden texts only."""

WITHOUT_WORDS = (
    "status",
    "graph overview",
    "graph list",
    "generations compare",
    "eval run",
    "eval compare",
    "eval report",
    "eval mine",
)
"""Commands that are given none."""

PAIRED: Mapping[str, Entry] = {
    **{f"library {name}": entry for name, entry in LIBRARY.items()},
    **{f"command {name}": entry for name, entry in COMMANDS.items() if name not in WITHOUT_WORDS},
    **WITH_SECRETS,
}


def told_apart(world: World, asker: Asker, name: str, seed: str) -> str:
    """'' where the answers to a request are equal but for the words themselves; else both."""
    imagined, same = world.imagined_by(asker)
    real, made_up = (PAIRED[name](place, who, Random(seed)) for place, who in ((world, asker), (imagined, same)))
    above = asker.above
    one = _settled(real.shown, [word for shop in world.shops for word in shop.words_of(above)])
    other = _settled(made_up.shown, [word for shop in imagined.shops for word in shop.words_of(above)])
    return "" if one == other else f"{real.said!r}\n{real.shown}\n--- and ---\n{made_up.said!r}\n{made_up.shown}"


def _settled(text: str, words: list[str]) -> str:
    plain = " ".join(_OF_THE_RUN.sub("", text).lower().split())
    for word in words:
        plain = plain.replace(word, "§").replace(word[:-1], "§")  # `…XXXing` is read as `…XX` and `Xing`
    return plain
