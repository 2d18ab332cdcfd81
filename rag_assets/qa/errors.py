"""What is wrong with a pipeline or with running one, in words for people."""

from __future__ import annotations

from rag_assets.errors import RagAssetsError
from rag_assets.settings.yaml_loader import InvalidFileError


class PipelineError(InvalidFileError):
    """A pipeline that cannot be used."""


class UnknownPipeline(RagAssetsError, LookupError):
    """No pipeline of this name; the text names near ones."""


class TurnError(RagAssetsError):
    """A turn that could not be brought to an end; the text names the step and the cause."""
