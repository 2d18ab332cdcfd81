"""Text to token ids of MiniLM, identifiers split into words first.

A token of BERT's WordPiece depends on its word alone, so the ids of every distinct word are kept: 3 to 5 times the
speed of the tokenizer on code (7 to 12 against 2.3 MB per CPU second, splitting included), with the same result,
which a test checks. Lines with control characters, or with others beyond ASCII than a few marks, go through the
tokenizer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from rag_assets.identifiers import split_identifiers

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MAX_TOKENS = 256
"""The length this model was trained for (`max_seq_length`), with the two special tokens. It determines vectors."""

_START, _END = 101, 102  # [CLS], [SEP] of the vocabulary
SPECIAL_TOKENS = 2
# Text behind this never reaches the tokenizer: 254 tokens of code take 600 to 2,000 characters, and a line of
# 2 MB must not cost a second. Only a text that is nearly all blanks could have shown the model more.
MAX_CHARACTERS = 64 * MAX_TOKENS
_MARKS = "\u2013\u2014\u2018\u2019\u201c\u201d\u2022\u2026"
"""Dashes, quotation marks, bullet and ellipsis: a word each, as in ASCII. Snippets of code are cut with an ellipsis and
joined with a dash, which makes these nine tenths of what is beyond ASCII."""
# BERT drops control characters and joins what they separate.
_NOT_PLAIN = re.compile(rf"[^\t\n\r -~{_MARKS}]")
_WORDS = re.compile(r"[A-Za-z0-9_]+|[^\sA-Za-z0-9_]")  # BERT: every other plain character is a word of its own
_CACHED_WORDS = 1 << 17  # about 30 MB when full
_CACHED_LENGTH = 64  # longer words are hashes and data: not worth their memory


class WordPieceTokenizer:
    """Token ids and token counts of texts, as the model sees them. Safe to use from several threads."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        tokenizer.no_padding()
        tokenizer.no_truncation()
        tokenizer.encode_special_tokens = True  # `[SEP]` in a source text is text
        self._tokenizer = tokenizer
        self._ids_of_word = _WordIds(self._tokenize, self._pieces)

    @classmethod
    def load(cls, tokenizer_file: Path) -> WordPieceTokenizer:
        from tokenizers import Tokenizer

        return cls(Tokenizer.from_file(str(tokenizer_file)))

    def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text without special tokens and without truncation."""
        return [
            sum(map(len, map(self._ids_of_word.__getitem__, _WORDS.findall(text))))
            if _is_plain(text)
            else len(self.token_ids(text))
            for text in texts
        ]

    def model_input(self, text: str) -> list[int]:
        """The ids of one run of the model: special tokens around at most MAX_TOKENS - 2 tokens of the text."""
        ids = self.token_ids(text[:MAX_CHARACTERS])
        return [_START, *ids[: MAX_TOKENS - SPECIAL_TOKENS], _END]

    def token_ids(self, text: str) -> list[int]:
        """All tokens of the text. Control characters and lone surrogates have none."""
        if _is_plain(text):
            return self._of_words(text)
        ids: list[int] = []
        for line in text.split("\n"):  # a line end ends a word: one accent in a file costs one line
            ids += self._of_words(line) if _is_plain(line) else self._tokenize(line)
        return ids

    def _of_words(self, text: str) -> list[int]:
        return list(chain.from_iterable(map(self._ids_of_word.__getitem__, _WORDS.findall(text))))

    def _tokenize(self, text: str) -> list[int]:
        """The slow, obvious way: what the fast path must equal."""
        ids: list[int] = self._tokenizer.encode(_well_formed(split_identifiers(text)), add_special_tokens=False).ids
        return ids

    def _pieces(self, word: str) -> tuple[int, ...]:
        return tuple([token.id for token in self._tokenizer.model.tokenize(word)])


class _WordIds(dict[str, tuple[int, ...]]):
    """Word → its token ids, bounded in memory; forgetting changes no result."""

    def __init__(self, tokenize: Callable[[str], list[int]], pieces: Callable[[str], tuple[int, ...]]) -> None:
        """`tokenize` takes any text, `pieces` a word of lower-case ASCII letters and digits, at a third of the cost."""
        super().__init__()
        self._tokenize = tokenize
        self._pieces = pieces

    def __missing__(self, word: str) -> tuple[int, ...]:
        parts = split_identifiers(word).split()  # identifiers are many, the words in them few
        if len(parts) > 1:
            ids = tuple(chain.from_iterable(map(self.__getitem__, parts)))
        elif word.isalnum():
            ids = self._pieces(word.lower())
        else:
            ids = tuple(self._tokenize(word))
        if len(word) <= _CACHED_LENGTH:
            if len(self) >= _CACHED_WORDS:
                self.clear()
            self[word] = ids
        return ids


def _is_plain(text: str) -> bool:
    return _NOT_PLAIN.search(text) is None


def _well_formed(text: str) -> str:
    """Surrogate pairs joined; a lone surrogate becomes U+FFFD, which the model's normaliser drops."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
