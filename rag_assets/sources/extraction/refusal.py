"""The reason why a file gives no text."""

from __future__ import annotations

from dataclasses import dataclass

from rag_assets.contracts.source_file import SkipReason


@dataclass(frozen=True, slots=True)
class ExtractionRefused:
    """The reason why a file gives no text, and the advice."""

    reason: SkipReason
    detail: str
