"""What can go wrong in a way that the user can put right."""

from __future__ import annotations

from rag_assets.errors import RagAssetsError


class TrainingError(RagAssetsError):
    """The text names the object, the cause and what to do."""
