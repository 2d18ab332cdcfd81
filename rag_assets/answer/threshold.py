"""The threshold of abstention that was calibrated on the questions of a generation (E22)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rag_assets.answer.abstention import SCALE, THRESHOLD
from rag_assets.index.answer_results import read_calibration

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_assets.index.generations import Generation


def threshold_of(generation: Generation, mode: str) -> float | None:
    """The confidence below which questions to a generation are refused when it is searched in `mode`; None where it was
    not calibrated for that, or for confidences that mean something else."""
    found = read_calibration(generation.directory)
    return found.threshold if found is not None and (found.mode, found.scale) == (mode, SCALE) else None


def threshold_in_use(said: float | None, of_pipeline: float, generations: Sequence[Generation], mode: str) -> float:
    """The confidence below which questions are refused: what the caller or the configuration `said`; else that of the
    pipeline where it has one of its own; else the calibrated one, which cannot hold for several generations at once;
    else the shipped one."""
    if said is not None:
        return said
    if of_pipeline != THRESHOLD or len(generations) != 1:
        return of_pipeline
    known = threshold_of(generations[0], mode)
    return of_pipeline if known is None else known
