"""Chunks of a text: pieces packed with overlap, counted as they will be embedded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rag_assets.contracts.section import EmbeddingWindow
from rag_assets.sections.paragraphs import Piece
from rag_assets.sections.splitting import fit_each, join, pack


@dataclass(frozen=True, slots=True)
class Run:
    """Pieces that are chunked together under one header; `sizes` are their tokens, each at most the room."""

    header: tuple[str, ...]
    pieces: tuple[Piece, ...]
    sizes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Chunk:
    """`text[start:end]` under its header, as embedded."""

    start: int
    end: int
    snippet: str
    tokens: int


@dataclass(frozen=True, slots=True)
class _Range:
    """Pieces `first` to `stop` of a run are new in this chunk, the `back` pieces before them repeated."""

    run: int
    first: int
    stop: int
    back: int = 0


def chunk_runs(
    text: str,
    runs: Sequence[Run],
    *,
    target: int,
    room: int,
    overlap: int,
    window: EmbeddingWindow,
    readable: Callable[[str], str] = str,
) -> list[list[Chunk]]:
    """Per run its chunks in order, each of at most `target` tokens. `room` is what a header leaves of `target`,
    `readable` what of a slice is embedded.

    The new pieces of the chunks cover the run; where a tokenizer counts more for the whole than for its pieces,
    the overlap goes first, then the chunk is halved.
    """
    pending = [_Range(i, *found) for i, run in enumerate(runs) for found in with_overlap(run.sizes, room, overlap)]
    made: list[list[Chunk]] = [[] for _ in runs]
    while pending:
        places = [(runs[r.run].pieces[r.first - r.back][0], runs[r.run].pieces[r.stop - 1][1]) for r in pending]
        snippets = [
            join(runs[r.run].header, [readable(text[start:end]).rstrip()])
            for r, (start, end) in zip(pending, places, strict=True)
        ]
        again: list[_Range] = []
        for r, (start, end), snippet, tokens in zip(pending, places, snippets, window.count(snippets), strict=True):
            if tokens <= target:
                made[r.run].append(Chunk(start, end, snippet, tokens))
            elif r.back:
                again.append(_Range(r.run, r.first, r.stop))
            elif r.stop - r.first > 1:
                middle = (r.first + r.stop) // 2
                again += [_Range(r.run, r.first, middle), _Range(r.run, middle, r.stop)]
            else:
                cut, counts = fit_each([snippet], [tokens], target, window)
                made[r.run].append(Chunk(start, end, cut[0], counts[0]))
        pending = again
    return [sorted(chunks, key=lambda chunk: (chunk.end, chunk.start)) for chunks in made]


def with_overlap(sizes: Sequence[int], room: int, overlap: int) -> list[tuple[int, int, int]]:
    """(first, stop, back) of each chunk: the new pieces, and how many before them are repeated within `overlap`."""
    if sum(sizes) <= room:
        return [(0, len(sizes), 0)]
    made: list[tuple[int, int, int]] = []
    for first, stop in pack(sizes, room - overlap):
        spare = min(overlap, room - sum(sizes[first:stop]))
        back = used = 0
        while back < first and used + sizes[first - back - 1] <= spare:
            back += 1
            used += sizes[first - back]
        made.append((first, stop, back))
    return made
