"""How a stage tells whoever runs it what it is doing."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """`begin` names a stage and its fixed total; `advance` moves it. `waiting` says that the stage has failed, why, and
    how many seconds later it is tried again. Called from one thread."""

    def begin(self, stage: str, total: int, unit: str) -> None: ...

    def advance(self, amount: int, current: str = "") -> None: ...

    def end(self, summary: str = "") -> None: ...

    def waiting(self, reason: str, wait: float) -> None: ...


class Silent:
    """Progress for callers that do not show any."""

    def begin(self, stage: str, total: int, unit: str) -> None: ...

    def advance(self, amount: int, current: str = "") -> None: ...

    def end(self, summary: str = "") -> None: ...

    def waiting(self, reason: str, wait: float) -> None: ...
