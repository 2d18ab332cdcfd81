"""The one typed configuration: `rag_assets.yaml` plus `RAG_ASSETS__…` environment variables.

Unknown keys are refused with the nearest valid name. Secrets are never settings: they come from the environment only,
where something needs them. The names below are loaded on first use: a search reads where its home is, and
needs no model of all settings for that.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rag_assets.settings.models import EmbedderSettings, LlmSettings
    from rag_assets.settings.repositories import DomainSettings, GraphImportSettings, RepositorySettings, SourceLimits
    from rag_assets.settings.root import (
        AutomationSettings,
        DagsterSettings,
        EvaluationSettings,
        ExecutionSettings,
        RetentionSettings,
        Settings,
        StoreSettings,
        load_settings,
    )
    from rag_assets.settings.search import AnswerSettings, RerankerSettings, SearchSettings

_MODULES = ("root", "repositories", "models", "search")

__all__ = [
    "AnswerSettings",
    "AutomationSettings",
    "DagsterSettings",
    "DomainSettings",
    "EmbedderSettings",
    "EvaluationSettings",
    "ExecutionSettings",
    "GraphImportSettings",
    "LlmSettings",
    "RepositorySettings",
    "RerankerSettings",
    "RetentionSettings",
    "SearchSettings",
    "Settings",
    "SourceLimits",
    "StoreSettings",
    "load_settings",
]


def __getattr__(name: str) -> Any:
    if name in __all__:
        modules = (import_module(f"{__name__}.{module}") for module in _MODULES)
        return next(getattr(module, name) for module in modules if hasattr(module, name))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
