"""What a model wrote about a symbol is only taken when nothing in it gives it away as wrong. Pure.

Each check may refuse a good text now and then, which costs a refinement; none may let a bad one pass for style. The
original stays in both cases.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from rag_assets.contracts.result import Message
from rag_assets.descriptions.language_detection import seems_written_in

SUMMARY_CHARS = 300
"""One sentence; the finder snippet has room for some 400 characters of purpose."""
DETAILS_CHARS = 1_500
"""A few paragraphs; what is longer retells the members, which the description lists anyway."""
FEWEST_WORDS = 3
"""`Order service.` says no more than the name."""

_TERMS = (
    "asp.net ado.net ml.net node.js vue.js next.js d3.js javascript typescript github gitlab postgresql mysql sqlite "
    "mongodb cosmosdb rabbitmq nosql graphql openapi oauth oauth2 websocket websockets devops macos ios iphone youtube "
    "linkedin paypal powershell wpf xaml webassembly signalr restful"
)
KNOWN_TERMS = frozenset(_TERMS.split())
"""Names of products and techniques that look like identifiers; people use them as words."""

_WORDS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\s\u3040-\u30ff\u3400-\u9fff]+")
"""Between blanks; in Chinese and Japanese, which write none, each character."""
_TOKEN = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_HUMPS = re.compile(r"[^\W\d_A-Z][A-Z]|[A-Z]{2,}[a-z]{2,}|_")
"""Inside a word: `orderId`, `IOrder`, `HTTPClient`, `order_id`. Not `IDs`."""
_CODE_SPAN = re.compile(r"`([^`\n]+)`")
_PLAIN_WORD = re.compile(r"[^\W\d_A-Z]+")

_MARKDOWN = re.compile(r"^\s{0,3}#{1,6}\s|```|~~~|!\[|\]\(|^\s*\|.*\|\s*$|^\s*(?:={3,}|-{3,})\s*$", re.MULTILINE)
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufffd\ufff9-\ufffb]")
_LINK = re.compile(
    r"(?:https?|ftps?|file)://\S+|\bwww\.\S+|[\w.+-]+@[\w-]+\.[\w.]+|\b(?:javascript|mailto|data):\S+", re.I
)
_ECHO = re.compile(
    r"</?(?:facts|think|script|style|iframe|img|svg)\b|<\|"
    r"|\b(?:ignore|disregard|forget)\s+(?:\w+\s+){0,3}(?:instructions|prompts?|rules)\b"
    r"|^\s*\[[A-Z][\w ]{0,40}:",
    re.IGNORECASE | re.MULTILINE,
)
"""Markup and phrases of an attack, and the bracketed prefixes that later steps read as commands."""
_REFUSAL = re.compile(
    r"\bI(?:'m| am)\s+(?:sorry|unable|an AI|not able)\b|\bI\s+(?:can(?:'t|not| not)|do not|don't|apologi[sz]e)\b"
    r"|\bas an AI\b|\bas a (?:large )?language model\b|\bmy (?:training|instructions)\b"
    r"|\b(?:insufficient|not enough) (?:information|context|details?)\b"
    r"|\bcannot be (?:determined|inferred)\b|^\s*(?:sure|certainly|of course|here(?:'s| is| are)|okay)\b[ ,!:]",
    re.IGNORECASE,
)


def why_refused(summary: str, details: str, facts: str, language: str) -> Message | None:
    """The first rule that a text breaks, with its `REFINE.` code; None for a text that can be used.

    `facts` is all the model was told, `language` the tag of the language it was asked for (`en-US`).
    """
    text = f"{summary}\n\n{details}"
    if len(_WORDS.findall(summary)) < FEWEST_WORDS:
        return Message("REFINE.empty", "the summary says nothing")
    if len(summary) > SUMMARY_CHARS or len(details) > DETAILS_CHARS:
        sizes = f"{len(summary)} and {len(details)} characters, allowed are {SUMMARY_CHARS} and {DETAILS_CHARS}"
        return Message("REFINE.too-long", f"summary and details have {sizes}")
    for code, reason, pattern in _FORBIDDEN:
        if pattern.search(text.replace("\u2019", "'")):
            return Message(code, reason)
    if any(not _is_given(link, facts) for link in _LINK.findall(text)):
        return Message("REFINE.link", "the text has a link or an address that the facts do not have")
    if not all(seems_written_in(part, language) for part in (summary, details)):
        return Message("REFINE.language", f"the text is not written in {language}")
    if invented_names(text, facts):
        return Message("REFINE.invented-name", "the text has a name that the facts do not have")
    return None


def invented_names(text: str, facts: str) -> list[str]:
    """Identifiers in `text` that neither `facts` nor the world knows, in order: words with humps or underscores,
    dotted names, code spans. Case does not count, nor the plural."""
    known = {part.casefold() for part in re.findall(r"\w+", facts)}
    looked_at = _LINK.sub(" ", text)  # judged by their own rule
    spans = " ".join(_CODE_SPAN.findall(looked_at))
    in_code: Callable[[str], bool] = lambda token: not _PLAIN_WORD.fullmatch(token)  # noqa: E731
    suspects = [token for token in _TOKEN.findall(spans) if in_code(token)]
    suspects += [
        token for token in _TOKEN.findall(_CODE_SPAN.sub(" ", looked_at)) if "." in token or _HUMPS.search(token)
    ]
    return [token for token in dict.fromkeys(suspects) if not _is_known(token, known)]


def _is_known(token: str, known: set[str]) -> bool:
    folded = token.casefold()
    return folded in KNOWN_TERMS or all(
        len(part) == 1 or part in known or part.removesuffix("s") in known for part in folded.split(".")
    )


def _is_given(link: str, facts: str) -> bool:
    return link.rstrip(".,;:!?)>]'\"`") in facts


_FORBIDDEN = (
    ("REFINE.control-characters", "the text has invisible characters", _CONTROL),
    ("REFINE.markdown", "the text has headings, fences, tables or links; plain text was asked for", _MARKDOWN),
    ("REFINE.injection", "the text repeats markup or phrases of an attack", _ECHO),
    ("REFINE.refusal", "the model talks about itself instead of the symbol", _REFUSAL),
)
