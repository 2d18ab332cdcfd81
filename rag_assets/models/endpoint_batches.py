"""Which texts share a request. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows of one request. `whole` is false for a part of one that failed."""

    rows: tuple[int, ...]
    whole: bool = True

    def halves(self) -> tuple[Batch, Batch]:
        middle = len(self.rows) // 2
        return Batch(self.rows[:middle], whole=False), Batch(self.rows[middle:], whole=False)


def batches_of(tokens: Sequence[int], max_texts: int, max_tokens: int) -> Iterator[Batch]:
    """Rows 0..n-1, of these token counts, in order: at most `max_texts` and `max_tokens` a batch. A text that is
    longer than `max_tokens` is alone."""
    rows: list[int] = []
    size = 0
    for row, count in enumerate(tokens):
        if rows and (len(rows) == max_texts or size + count > max_tokens):
            yield Batch(tuple(rows))
            rows, size = [], 0
        rows.append(row)
        size += count
    if rows:
        yield Batch(tuple(rows))
