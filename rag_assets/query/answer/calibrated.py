"""The threshold of abstention that was calibrated on the questions of a generation (E22)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rag_assets.query.answer.abstention import SCALE
from rag_assets.stores.eval_answers import read_calibration

if TYPE_CHECKING:
    from rag_assets.stores.generations import Generation


def threshold_of(generation: Generation, mode: str) -> float | None:
    """The confidence below which questions to a generation are refused when it is searched in `mode`; None where it was
    not calibrated for that, or for confidences that mean something else."""
    found = read_calibration(generation.directory)
    return found.threshold if found is not None and (found.mode, found.scale) == (mode, SCALE) else None
