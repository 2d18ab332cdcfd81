"""Keeps data from acting as protocol: markers in a text lose their bracket, and fences enclose the text with marks that
it cannot contain.

A marker in a source comment, a README, an earlier answer or a question must never look like one of the protocol,
whatever letters it uses: a model may repeat it, and the parsers of `protocols` would believe it. Only the
opening bracket changes, so the text stays readable and keeps its length.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

ROUTER_WORDS = ("SEMANTIC", "SEMANTIC_RERANK", "BM25", "HYBRID", "DIRECT")
ANSWER_WORDS = ("Answer", "Requesting data on")

ANY_MARKER = re.compile(
    rf"\[(?:{'|'.join(map(re.escape, sorted((*ROUTER_WORDS, *ANSWER_WORDS), key=len, reverse=True)))}):\]",
    re.IGNORECASE,
)
"""A prefix of either protocol, in any case: a reply has one, and none of it is shown."""

_CITING = ("chunk", "source")
_CHAT = (r"/?inst", r"/?sys")
"""`[INST]`, `[/INST]`: some models read these as the end of their instructions. `[sys].[columns]` is a table."""

_SQUARE = "[［【〔❲﹝"
_ANGLE = "<＜﹤"
_OPENING = re.compile(f"[{re.escape(_SQUARE + _ANGLE)}]")

_PREFIX_WORDS = "|".join(
    word.casefold().replace(" ", r"\s*").replace("_", r"[_\s-]*") for word in (*ROUTER_WORDS, *ANSWER_WORDS)
)
_WORDS = "|".join((_PREFIX_WORDS, *_CITING))
_MARKER = re.compile(rf"\[\s*(?:(?:{_WORDS})\s*[:;=]|(?:{'|'.join(_CHAT)})\s*\](?!\.\[))")
_PREFIX = re.compile(rf"\[\s*(?:{_PREFIX_WORDS})\s*[:;=]")
_TAG = re.compile(
    r"<(?:\s*\|\s*(?:im_start|im_end|im_sep|system|user|assistant|end|endoftext|eot_id|start_header_id|end_header_id|"
    r"begin_of_text|return|call|channel|message)\s*\||\s*/?\s*data-|<\s*/?sys\s*>>)"
)
"""Template tokens of chat models, and our own fence."""

_OBEYED = re.compile(
    r"<\s*/?\s*(?:system|assistant|instructions?|tool_call|function_call|s|bos|eos|(?:start|end)_of_turn)\s*>"
)
"""Tags that models are trained to obey. After a name they are type arguments (`IReader<Instruction>`)."""

_TURN = re.compile(
    r"(\n[^\w\n]*(?:(?:human|assistant)|#\s*(?:system|user|instructions?|input|response))\s*):", re.IGNORECASE
)
"""The end of a line, and one that begins the turn of a speaker in chat templates without tags, also behind the mark of
a comment. A pattern that began with `^` would be tried at every character."""

_NO_COLON = "∶"

_LOOK_ALIKE = {
    **dict(zip("авсԁеɡһіјкӏмнорѕтуѵԝх", "abcdeghijklmhopstyvwx", strict=True)),  # Cyrillic, IPA
    **dict(zip("αβεζηικμνορτυχı", "abezhikmnoptyxi", strict=True)),  # Greek, as its capitals look; Turkish
    **dict.fromkeys("：﹕ː∶꞉׃", ":"),
}

_WINDOW = 256
"""Characters examined after a bracket. The longest marker has 20. Neither people nor models read a word that hundreds
of invisible characters pull apart."""

_FOLDED_WINDOW = 40
_PREFIX_MARK = re.compile(r".[^:：﹕ː∶꞉׃;=\]\n]{1,40}[:：﹕ː∶꞉׃;=](?:\s*[\]］】〕❳﹞])?")
_MARK = re.compile(r".[^\]］】〕❳﹞>＞﹥\n]{1,200}(?:[\]］】〕❳﹞]|[>＞﹥]+)")
"""The extent of a mark in the original text."""

_INVISIBLE = re.compile(r"[^\s -~]")
FENCE_DIGITS = 12


def neutral(text: str) -> str:
    """The text with the first character of everything that reads as a protocol marker, a citation or a chat template
    replaced: `[SEMANTIC:]` → `⟦SEMANTIC:]`, `Human:` → `Human∶`. As long as before; a second time changes nothing."""
    made: list[str] = []
    after = 0
    for at, _ in _marks(text):
        made += (text[after:at], "⟦" if text[at] in _SQUARE else "‹")
        after = at + 1
    return _TURN.sub(rf"\1{_NO_COLON}", "".join(("\n", *made, text[after:])))[1:]


def without_markers(text: str) -> str:
    """The text without the markers that `neutral` defuses: whole citations and tags, and the bare prefixes."""
    made: list[str] = []
    after = 0
    for at, window in _marks(text):
        mark = (_PREFIX_MARK if _PREFIX.match(window) else _MARK).match(text, at)
        if mark is not None and at >= after:
            made.append(text[after:at].rstrip(" \t"))
            after = mark.end()
            if text[after : after + 1].isalnum():
                made.append(" ")
    return "".join((*made, text[after:])).strip(" \t") if made else text


def _marks(text: str) -> Iterator[tuple[int, str]]:
    """(position of a mark, its folded text)."""
    for found in _OPENING.finditer(text):
        at = found.start()
        window = _folded(text[at : at + _WINDOW])
        if _MARKER.match(window) or _TAG.match(window) or _is_obeyed(window, text[at - 1 : at]):
            yield at, window


def fenced(name: str, text: str) -> str:
    """The neutral text between marks with its name. The marks hold a hash of the text, so no text can contain its own
    closing mark."""
    inside = neutral(text)
    mark = f"data-{name}-{hashlib.sha256(inside.encode('utf-8', 'surrogatepass')).hexdigest()[:FENCE_DIGITS]}"
    return f"<{mark}>\n{inside}\n</{mark}>"


def _is_obeyed(window: str, before: str) -> bool:
    return _OBEYED.match(window) is not None and (not before.isalnum() or window.lstrip("< ").startswith("/"))


def _folded(text: str) -> str:
    """The beginning of a text as a reader sees it: no invisible characters, no accents, one case, Latin letters."""
    begun = text[:_FOLDED_WINDOW]
    if begun.isascii() and not _INVISIBLE.search(begun):  # nearly all source: nothing to fold but the case
        return begun.lower()
    made: list[str] = []
    for char in text:
        made += fold_char(char)
        if len(made) >= _FOLDED_WINDOW:
            break
    return "".join(made)


@lru_cache(maxsize=4_096)
def fold_char(char: str) -> str:
    if char in _SQUARE:
        return "["
    if char in _ANGLE:
        return "<"
    if unicodedata.category(char) in ("Cf", "Mn", "Me", "Cc") and not char.isspace():
        return ""
    bare = "".join(one for one in unicodedata.normalize("NFKD", char) if not unicodedata.combining(one)).casefold()
    return "".join(_LOOK_ALIKE.get(one, one) for one in bare)


EVIDENCE_TAG = "evidence"
_DELIMITER = re.compile(rf"<(?=\s*/?\s*(?:{EVIDENCE_TAG}|question)\b)", re.IGNORECASE)


@lru_cache(maxsize=2_048)  # a context, its quotes and their check look at the same slices, and so does the next turn
def defused(text: str) -> str:
    """A text of the index in which nothing is a marker or a delimiter of evidence either, and which people read as it
    was: a quote of it can be compared if both are neutral."""
    return _DELIMITER.sub("‹", neutral(text))
