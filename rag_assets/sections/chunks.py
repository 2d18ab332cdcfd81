"""Packs the pieces of a text into chunks with overlap, and counts tokens as they will be embedded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rag_assets.contracts.section import EmbeddingWindow
from rag_assets.sections.paragraphs import Piece
from rag_assets.sections.splitter import fit_each, join, pack


@dataclass(frozen=True, slots=True)
class BlockRun:
    """Pieces that share one header; `sizes` are their tokens, each at most `room`."""

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
    """A chunk of a run: pieces `first` to `stop` are new, the `back` pieces before them are repeated."""

    run: int
    first: int
    stop: int
    back: int = 0


def chunk_runs(
    text: str,
    runs: Sequence[BlockRun],
    *,
    target: int,
    room: int,
    overlap: int,
    window: EmbeddingWindow,
    readable: Callable[[str], str] = str,
) -> list[list[Chunk]]:
    """The chunks of each run in order, each of at most `target` tokens. `room` is the rest of `target` under a header;
    `readable` gives the part of a slice that is embedded.

    The new pieces of the chunks cover the run. If a tokenizer counts more for the whole than for its pieces, the
    overlap is dropped first, then the chunk is halved.
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
    """(first, stop, back) of each chunk: its new pieces, and how many before them it repeats within `overlap`."""
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
