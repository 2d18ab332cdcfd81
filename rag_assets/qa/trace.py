"""What a turn leaves behind while it runs, so that one that an error ends can be told, too."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rag_assets.contracts.result import InvokeResult
    from rag_assets.qa.log.provenance import TurnFingerprint
    from rag_assets.qa.services import Generated, ModelCall
    from rag_assets.qa.state import StepRecord, Turn


@dataclass(slots=True)
class Journal:
    """Of one turn; the engine writes it. `turn` is the state after the last step that ended, `records` has the one that
    failed as well. `calls` are the questions to models with their outcome and its seconds."""

    lock: TurnFingerprint | None = None
    turn: Turn | None = None
    records: list[StepRecord] = field(default_factory=list)
    calls: list[tuple[ModelCall, InvokeResult[Generated], float]] = field(default_factory=list)
