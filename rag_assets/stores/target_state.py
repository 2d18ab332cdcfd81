"""Declared target state: the points a generation consists of, and what a store must do to hold exactly these."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rag_assets.stores.points import PointTarget, StoredPoint


@dataclass(frozen=True, slots=True)
class Difference:
    """What leads from what a store holds to what is declared. Everything else is there already."""

    upserts: frozenset[str]
    deletes: tuple[str, ...]

    @property
    def is_empty(self) -> bool:
        return not self.upserts and not self.deletes


def difference(declared: Mapping[str, str], stored: Mapping[str, str]) -> Difference:
    """Both map id → digest. A point without a digest in the store is written again."""
    upserts = frozenset(key for key, digest in declared.items() if not digest or stored.get(key) != digest)
    return Difference(upserts, tuple(sorted(stored.keys() - declared.keys())))


def bring_to(
    target: PointTarget,
    declared: Mapping[str, str],
    points: Callable[[frozenset[str]], Iterable[Sequence[StoredPoint]]],
    on_written: Callable[[int], None] = lambda count: None,
) -> Difference:
    """Makes `target` hold exactly the `declared` points. `points` gives those of the asked ids, in batches.

    Upserts go before deletes, so that a store that cannot hide a half-made generation has too much, never too little.
    """
    wanted = difference(declared, target.stored())
    if wanted.upserts:
        for batch in points(wanted.upserts):
            target.upsert(batch)
            on_written(len(batch))
    if wanted.deletes:
        target.delete(wanted.deletes)
    target.finish()
    return wanted
