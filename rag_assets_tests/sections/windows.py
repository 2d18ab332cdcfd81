"""Embedding windows with deterministic counters that differ in what the real ones differ in."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from rag_assets.contracts.embedder import EmbeddingWindow

_WORDS = re.compile(r"\w+|[^\w\s]")


def words(texts: Sequence[str]) -> list[int]:
    """Words and signs; line breaks are free, as for WordPiece."""
    return [len(_WORDS.findall(text)) for text in texts]


def utf8_bytes(texts: Sequence[str]) -> list[int]:
    """The worst case of a byte-level tokenizer: every byte a token, line breaks included."""
    return [len(text.encode("utf-8", "replace")) for text in texts]


def joined(texts: Sequence[str]) -> list[int]:
    """Not additive: a text costs more than the sum of its lines."""
    return [len(_WORDS.findall(text)) * (10 + text.count("\n")) // 10 for text in texts]


COUNTERS: dict[str, Callable[[Sequence[str]], list[int]]] = {"words": words, "bytes": utf8_bytes, "joined": joined}


def window(tokens: int = 256, count: Callable[[Sequence[str]], list[int]] = words) -> EmbeddingWindow:
    return EmbeddingWindow("test-model", tokens, count)


class CallCounter:
    """Counts how often a window is asked, and with how many texts."""

    def __init__(self) -> None:
        self.calls: list[int] = []

    def __call__(self, texts: Sequence[str]) -> list[int]:
        self.calls.append(len(texts))
        return words(texts)
