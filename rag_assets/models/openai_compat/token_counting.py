"""How many tokens a text is for a model behind a server: estimated, or counted with a vocabulary of OpenAI."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from rag_assets.errors import RagAssetsError

ESTIMATE = "estimate"

_LETTERS_PER_TOKEN = 7
_SIGNS_PER_TOKEN = 2
"""Chosen on pieces of 1,200 characters of three repositories: 5 to 10 % more than cl100k_base and o200k_base on C# and
Markdown (a twentieth of the pieces has 1/.93 of the estimate or more), 16 % less than cl100k_base on other scripts."""

_MOST = _LETTERS_PER_TOKEN
_PARTS = re.compile(
    rf"[A-Z][a-z]{{1,{_MOST - 1}}}|[a-z]{{1,{_MOST}}}|[A-Z]{{1,{_MOST}}}(?![a-z])"
    r"|\d{1,3}|_+|([!-/:-^`{-~]{3,})|[!-/:-^`{-~]{1,2}|[^\s!-~]"
)
"""One token each, but for the longer runs of signs, which are the group: words as identifiers are made of them, cut
where a token is full, numbers, runs of ASCII signs; other characters one by one. A run of signs may hold capitals
behind its first."""

_PIECE_CHARACTERS = 50_000
"""bpe-openai refuses more than 200,000 tokens at once, and a character is at most 4."""

TokenCounter = Callable[[Sequence[str]], list[int]]


class TokenizerMissing(RagAssetsError):
    """The tokenizer of the settings is not installed; the text has the command."""


def token_counter(tokenizer: str) -> TokenCounter:
    """Tokens of each text by `estimate`, `cl100k_base` or `o200k_base`; pure. Raises TokenizerMissing.

    Which one is a setting and never a matter of what is installed: sections depend on it.
    """
    if tokenizer == ESTIMATE:
        return estimate_tokens
    try:
        import bpe_openai
    except ImportError:
        raise TokenizerMissing(
            f"tokenizer: {tokenizer} needs bpe-openai; run: pip install 'rag-assets[tokenizers-openai]', "
            f"or set tokenizer: {ESTIMATE}"
        ) from None
    encoding = bpe_openai.get_encoding(tokenizer)

    def count(texts: Sequence[str]) -> list[int]:
        return [
            sum(
                len(encoding.encode_ordinary(text[start : start + _PIECE_CHARACTERS]))
                for start in range(0, len(text), _PIECE_CHARACTERS)
            )
            for text in map(well_formed, texts)
        ]

    return count


def estimate_tokens(texts: Sequence[str]) -> list[int]:
    """Tokens of each text, about, for a model with a byte-pair vocabulary."""
    return [_estimate(_PARTS.findall(text)) for text in texts]


def _estimate(runs: Sequence[str]) -> int:
    """Of the matches of a text, each '' but for the longer runs of signs: a budget counts some hundred texts a turn, so
    no loop in Python looks at every word."""
    return len(runs) + sum((len(run) - 1) // _SIGNS_PER_TOKEN for run in filter(None, runs))


def well_formed(text: str) -> str:
    """Half of a surrogate pair, which no UTF-8 can carry, becomes a question mark."""
    return text.encode("utf-8", "replace").decode("utf-8")
