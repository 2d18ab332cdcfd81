"""What was found for a question that nobody could translate. Pure.

Its names find code in any language; its other words are in no section because they are in another language, and say
nothing about whether the index has an answer.
"""

from __future__ import annotations

from dataclasses import replace

from rag_assets.answer.abstention import signals_of
from rag_assets.answer.context_pack import AnswerInputs
from rag_assets.answer.intent import Intent
from rag_assets.answer.terms import roots_of


def as_it_is(found: AnswerInputs) -> AnswerInputs:
    """The reading by the words that the index knows; where nothing is unknown of its names, by these alone: a word of
    another language that some section happens to have would count as the rarest of all. Then what declares them is what
    is told first. A name that nothing declares is missing in any language."""
    if found.unknown:
        return found
    known = tuple(word for word in found.words if word.known)
    of_names = roots_of(" ".join(found.wish.names))
    telling = tuple(word for word in known if word.root in of_names) or known
    wish = found.wish
    if wish.names and wish.intent is Intent.EXPLANATION:
        wish = replace(wish, intent=Intent.DEFINITION)
    signals = signals_of(telling, wish.names, found.unknown, found.evidence, len(found.at))
    return replace(found, wish=wish, words=known, signals=signals)
