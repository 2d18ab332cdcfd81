"""An answer as a model writes it, for somebody who watches: without the prefix of the protocol (D10)."""

from __future__ import annotations

from collections.abc import Callable

from rag_assets.contracts.protocol_markers import ANSWER_WORDS

_ANSWER, _REQUEST = (f"[{word}:]".casefold() for word in ANSWER_WORDS)
_THINKS, _THOUGHT = "<think>", "</think>"
"""What local reasoning models put around their thoughts, which come before the reply."""

_AGAIN = "\n"
"""What a chat service says before it asks again: what follows begins anew."""


class AnswerStream:
    """Hands on what follows `[Answer:]`, and nothing of thoughts before it, of a request for more evidence, or of what
    begins with neither: that is no answer, and the model is asked once more for the same words with a prefix."""

    def __init__(self, on_text: Callable[[str], None]) -> None:
        self._on_text = on_text
        self._head: str | None = ""  # None: it was decided
        self._is_shown = False

    def begin_again(self) -> None:
        """What follows is another reply, on a line of its own."""
        if self._is_shown:
            self._on_text(_AGAIN)
        self._head, self._is_shown = "", False

    def __call__(self, text: str) -> None:
        if text == _AGAIN:
            self.begin_again()
        elif self._head is None:
            if self._is_shown:
                self._on_text(text)
        else:
            self._decide(self._head + text)

    def _decide(self, head: str) -> None:
        begun = head.lstrip().casefold()
        if begun.startswith(_THINKS) and _THOUGHT in begun:
            head = head.lstrip()[begun.index(_THOUGHT) + len(_THOUGHT) :]
            begun = head.lstrip().casefold()
        if begun.startswith(_THINKS) or any(mark.startswith(begun) for mark in (_ANSWER, _REQUEST, _THINKS)):
            self._head = head
            return
        self._head, self._is_shown = None, begun.startswith(_ANSWER)
        if self._is_shown:
            self._on_text(head.lstrip()[len(_ANSWER) :].lstrip())
