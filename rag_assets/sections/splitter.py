"""Token-aware splitting: a header and a list of blocks become parts that fit an embedding window.

Texts are cut where they break: blank lines first, then line ends, sentence ends, blanks, any character. Tokens are
counted as they will be embedded.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from rag_assets.contracts.embedder import EmbeddingWindow

SPECIAL_TOKENS = 2
"""Tokens that a BERT-like encoder adds around a text ([CLS], [SEP]); `EmbeddingWindow.count` leaves them out."""

MIN_BUDGET = 16
"""Below this many tokens not even a header line and a name fit, so a smaller window is a configuration error."""

HEADER_SHARE = 0.5
"""The header takes at most half of a part if blocks need the rest, because it repeats and they are new."""

MAX_CHARS_PER_TOKEN = 12
"""Texts with more characters per token of the budget are not tried whole: real text has 3 to 6. Saves counting."""

ELLIPSIS = "…"
_CUTS = (1.0, 0.9, 0.8, 0.65, 0.5)  # of the length that the average token suggests; counted in one batch


@dataclass(frozen=True, slots=True)
class SectionPart:
    """One snippet: header and blocks `first` to `stop` (exclusive), and its tokens."""

    text: str
    first: int
    stop: int
    tokens: int


def budget_of(window: EmbeddingWindow) -> int:
    """The most tokens of a text in `window`. Raises ValueError for a window that is too small for anything."""
    budget = window.max_tokens - SPECIAL_TOKENS
    if budget < MIN_BUDGET:
        raise ValueError(
            f"embedding model {window.model_id}: a window of {window.max_tokens} tokens is too small; "
            f"sections need at least {MIN_BUDGET + SPECIAL_TOKENS}"
        )
    return budget


def most_tokens(text: str) -> int:
    """A cheap upper bound: a token has at least one UTF-8 byte (a character may have more: accents, Hangul)."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


def join(header: Sequence[str], blocks: Sequence[str]) -> str:
    return "\n".join((*header, *blocks))


def whole(header: Sequence[str], blocks: Sequence[str], window: EmbeddingWindow) -> SectionPart | None:
    """Everything as one part, or None if it does not fit."""
    budget = budget_of(window)
    text = join(header, blocks)
    if len(text) > budget * MAX_CHARS_PER_TOKEN:
        return None
    tokens = window.count([text])[0]
    return SectionPart(text, 0, len(blocks), tokens) if tokens <= budget else None


def split(header: Sequence[str], blocks: Sequence[str], window: EmbeddingWindow) -> list[SectionPart]:
    """As few parts as a greedy packing gives, each at most `window.max_tokens` - SPECIAL_TOKENS tokens.

    Every part repeats the header. The parts cover `blocks` completely and in order; without blocks there is one
    part. Raises ValueError for a window too small for anything.
    """
    single = whole(header, blocks, window)
    return [single] if single is not None else split_many(header, blocks, window)


def split_many(header: Sequence[str], blocks: Sequence[str], window: EmbeddingWindow) -> list[SectionPart]:
    """`split` for blocks that do not fit as a whole. Three to five calls of `window.count`, however many blocks."""
    budget = budget_of(window)
    counts = count_lines([*header, *blocks], window)
    sizes = counts[len(header) :]
    share = max(math.floor(budget * HEADER_SHARE), budget - sum(sizes))
    lines, used = fit_lines(header, counts[: len(header)], share, window)
    room = budget - used
    texts, sizes = fit_each(blocks, sizes, room, window)
    return _verified(lines, texts, pack(sizes, room), budget, window)


def count_lines(lines: Sequence[str], window: EmbeddingWindow) -> list[int]:
    """The tokens each line adds to a text, its line break included, for tokenizers that count that."""
    return window.count([f"\n{line}" for line in lines]) if lines else []


def pack(sizes: Sequence[int], room: int) -> list[tuple[int, int]]:
    """Consecutive ranges whose sizes sum to at most `room`; one range for no sizes at all."""
    ranges: list[tuple[int, int]] = []
    first, used = 0, 0
    for index, size in enumerate(sizes):
        if used + size > room and index > first:
            ranges.append((first, index))
            first, used = index, 0
        used += size
    ranges.append((first, len(sizes)))
    return ranges


def fit_lines(lines: Sequence[str], sizes: Sequence[int], limit: int, window: EmbeddingWindow) -> tuple[list[str], int]:
    """The lines, the longest shortened first, so that their tokens sum to at most `limit`, and that sum."""
    total = sum(sizes)
    if total <= limit:
        return list(lines), total
    fitted, counts = fit_each(lines, sizes, _level(sizes, limit), window)
    return fitted, sum(counts)


def _level(sizes: Sequence[int], limit: int) -> int:
    """The highest cap with sum(min(size, cap)) ≤ limit."""
    low, high = 0, max(sizes)
    while low < high:
        middle = (low + high + 1) // 2
        if sum(min(size, middle) for size in sizes) <= limit:
            low = middle
        else:
            high = middle - 1
    return low


def fit_each(
    texts: Sequence[str], sizes: Sequence[int], limit: int, window: EmbeddingWindow
) -> tuple[list[str], list[int]]:
    """Each text shortened to at most `limit` tokens, and its tokens. Calls `window.count` once."""
    fitted, counts = list(texts), list(sizes)
    candidates: list[tuple[int, str]] = []
    for index, size in enumerate(sizes):
        if size > limit:
            candidates.extend((index, cut) for cut in _cuts(texts[index], size, limit))
            fitted[index], counts[index] = "", 0  # what remains of a text that has no room at all
    if candidates:
        found = count_lines([cut for _, cut in candidates], window)
        for (index, cut), tokens in zip(candidates, found, strict=True):
            if tokens <= limit and tokens > counts[index]:
                fitted[index], counts[index] = cut, tokens
    return fitted, counts


def _cuts(text: str, tokens: int, limit: int) -> list[str]:
    """Prefixes of `text`, ever shorter; the last one certainly has at most `limit` tokens."""
    likely = len(text) * limit // max(tokens, 1)
    certain = max(limit - most_tokens(ELLIPSIS) - 1, 0)
    while certain and most_tokens(text[:certain]) > limit - most_tokens(ELLIPSIS) - 1:
        certain //= 2
    lengths = dict.fromkeys([*(int(likely * share) for share in _CUTS), certain])
    return [shortened(text, length) for length in lengths if 0 < length < len(text)]


def shortened(text: str, length: int) -> str:
    """At most `length` characters of `text` and `…`, cut at a blank where one is near. Short texts as they are."""
    if len(text) <= length:
        return text
    cut = text[:length]
    blank = length if text[length] == " " else cut.rfind(" ", length * 3 // 4)
    return (cut[:blank] if blank > 0 else cut).rstrip(" ,;:([{<-—") + ELLIPSIS


def _verified(
    header: list[str], blocks: list[str], ranges: list[tuple[int, int]], budget: int, window: EmbeddingWindow
) -> list[SectionPart]:
    """The parts of `ranges`, counted as they will be embedded. The few that a non-additive tokenizer makes too long are
    halved; single blocks are shortened."""
    done: list[SectionPart] = []
    pending = ranges
    while pending:
        texts = [join(header, blocks[first:stop]) for first, stop in pending]
        too_long: list[tuple[int, int]] = []
        for (first, stop), text, tokens in zip(pending, texts, window.count(texts), strict=True):
            if tokens <= budget:
                done.append(SectionPart(text, first, stop, tokens))
            elif stop - first > 1:
                middle = (first + stop) // 2
                too_long.extend([(first, middle), (middle, stop)])
            else:
                cut, counts = fit_each([text], [tokens], budget, window)
                done.append(SectionPart(cut[0], first, stop, counts[0]))
        pending = too_long
    return sorted(done, key=lambda part: part.first)


Piece = tuple[int, int]
"""A range of characters of a text."""

_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
SENTENCE_END = re.compile(r"[.!?;。！？][\"')\]]*\s+")


def paragraphs(text: str, start: int, end: int) -> list[Piece]:
    """Ranges of `text[start:end]` between blank lines; a fenced block is one paragraph. No range is blank."""
    found: list[Piece] = []
    first: int | None = None
    last = position = start
    fence = ""
    while position < end:
        stop = min(_LINE.match(text, position).end(), end)  # type: ignore[union-attr] # matches the empty string
        line = text[position:stop]
        mark = _FENCE.match(line)
        if mark and not fence:
            fence = mark.group(1)
        elif mark and mark.group(1).startswith(fence) and not line[mark.end() :].strip():
            fence = ""
        if line.strip():
            first = position if first is None else first
            last = position + len(line.rstrip())
        elif first is not None and not fence:
            found.append((first, last))
            first = None
        position = stop
    if first is not None:
        found.append((first, last))
    return found


def cut_to(text: str, piece: Piece, length: int) -> list[Piece]:
    """Cuts `piece` into non-blank pieces of at most `length` characters."""
    start, end = piece
    found = []
    while end - start > length:
        stop = _break_before(text, start, start + length)
        found.append((start, stop))
        start = stop
    found.append((start, end))
    return [(a, b) for a, b in found if not text[a:b].isspace()]


def _break_before(text: str, start: int, limit: int) -> int:
    """The best place to cut in the second half of `text[start:limit]`: line end, sentence end, blank, else `limit`."""
    middle = (start + limit + 1) // 2
    line = max(text.rfind("\n", middle, limit), text.rfind("\r", middle, limit))
    if line >= 0:
        return line + 1
    sentence = 0
    for found in SENTENCE_END.finditer(text, middle, limit):
        sentence = found.end()
    if sentence:
        return sentence
    blank = max(text.rfind(" ", middle, limit), text.rfind("\t", middle, limit))
    return blank + 1 if blank >= 0 else limit
