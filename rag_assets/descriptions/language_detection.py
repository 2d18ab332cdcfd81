"""Whether a short text is written in the language that was asked for: by its script and its function words. Pure.

A model answers in the wrong language as a whole, so this needs no library: a handful of the commonest words tells
the languages that such texts come in apart, and where they tell nothing, the text is accepted.
"""

from __future__ import annotations

import re
import unicodedata

_FUNCTION_WORDS = {
    language: frozenset(words.split())
    for language, words in {
        "en": "a an and are as at by for from in into is it its of on or that the this to which with",
        "de": "auf aus das dem den der des die ein eine für im ist mit nach oder und von werden wird zu zum zur",
        "fr": "au aux avec ce cette dans de des du elle est et la le les ou par pour qui sur un une",
        "es": "al como con de del el en es esta la las los para por que se su un una y",
        "it": "al che con da dei del della di e gli i il in la le lo per sono un una è",
        "pt": "ao as com da das de do dos e em o os para pela pelo por que um uma é",
        "nl": "aan dat de die een en het in is met of op te van voor wordt zijn",
    }.items()
}
_SCRIPTS = {
    "ru": ("CYRILLIC",), "uk": ("CYRILLIC",), "bg": ("CYRILLIC",), "el": ("GREEK",), "ar": ("ARABIC",),
    "he": ("HEBREW",), "ko": ("HANGUL",), "ja": ("CJK", "HIRAGANA", "KATAKANA"), "zh": ("CJK",),
}  # fmt: skip
_LATIN = ("LATIN",)

_LATIN_SHARE = 0.8
"""Of the letters of a text in a Latin script; the rest may be quoted."""
_OTHER_SHARE = 0.2
"""Of the letters in other scripts: identifiers, which stay Latin, can make up most of a short text."""
_CLEARLY_OTHER = 3
"""Function words of another language beyond those of the wanted one; shared ones (`in`, `is`) count for both."""

_WORD = re.compile(r"[^\W\d_]+")


def seems_written_in(text: str, language: str) -> bool:
    """False for a text in another script or clearly in another language; `language` is a tag like `en-US`."""
    primary = language.partition("-")[0].lower()
    scripts = _SCRIPTS.get(primary, _LATIN)
    letters = [char for char in text if char.isalpha()]
    own = sum(unicodedata.name(char, "").startswith(scripts) for char in letters)
    if own < len(letters) * (_LATIN_SHARE if scripts == _LATIN else _OTHER_SHARE):
        return False
    if primary not in _FUNCTION_WORDS:
        return True
    words = [word.lower() for word in _WORD.findall(text)]
    counts = {name: sum(word in known for word in words) for name, known in _FUNCTION_WORDS.items()}
    return max(counts.values()) < counts[primary] + _CLEARLY_OTHER
