"""Declared target state: the points a generation consists of, and what a store must do to hold exactly these."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rag_assets.index.vectors.vector_api import PointTarget, StoredPoint


@dataclass(frozen=True, slots=True)
class DeclaredPoints:
    """Some of the points of a generation: id → digest, and how to load those that are asked for, in batches."""

    digests: Mapping[str, str]
    load: Callable[[Collection[str]], Iterable[Sequence[StoredPoint]]]


@dataclass(frozen=True, slots=True)
class StateDiff:
    """The ids that the last of the stores had to write and to delete; everything else was there."""

    upserts: frozenset[str]
    deletes: tuple[str, ...]

    @property
    def is_empty(self) -> bool:
        return not self.upserts and not self.deletes


def bring_to(targets: Sequence[PointTarget], declared: Iterable[DeclaredPoints]) -> StateDiff:
    """Makes every target hold exactly the declared points, in the order of the targets.

    What is declared comes in portions, while later ones are still being made. Upserts go before deletes, so that a
    store that cannot hide a half-made generation has too much, never too little. Raises VectorStoreError.
    """
    stored = [target.stored() for target in targets]
    known: set[str] = set()
    upserts: set[str] = set()
    deletes: list[str] = []
    for portion in declared:
        known.update(portion.digests)
        for target, before in zip(targets, stored, strict=True):
            changed = {key for key, digest in portion.digests.items() if before.get(key) != digest}
            if target is targets[-1]:
                upserts |= changed
            if changed:
                for batch in portion.load(changed):
                    target.upsert(batch)
    for target, before in zip(targets, stored, strict=True):
        deletes = sorted(before.keys() - known)
        if deletes:
            target.delete(deletes)
        target.finish()
    return StateDiff(frozenset(upserts), tuple(deletes))
