"""The one typed configuration: `rag_assets.yaml` plus `RAG_ASSETS__…` environment variables.

Unknown keys are refused with the nearest valid name. Secrets are never settings: they come from the
environment only, where something needs them. The names below are loaded on first use: a search reads where its home is,
and needs no model of all settings for that.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rag_assets.settings.config_file import ENV_PREFIX
    from rag_assets.settings.models import EmbedderSettings, LlmSettings
    from rag_assets.settings.repositories import DomainSettings, GraphImportSettings, RepositorySettings, SourceLimits
    from rag_assets.settings.root import (
        DEFAULT_CRON,
        DEFAULT_TIMEZONE,
        AutomationSettings,
        EvaluationSettings,
        ExecutionSettings,
        RetentionSettings,
        Settings,
        StoreSettings,
        load_settings,
    )
    from rag_assets.settings.search import AnswerSettings, RerankerSettings, SearchSettings

_MODULES = {
    "config_file": ("ENV_PREFIX",),
    "models": ("EmbedderSettings", "LlmSettings"),
    "repositories": ("DomainSettings", "GraphImportSettings", "RepositorySettings", "SourceLimits"),
    "root": (
        "DEFAULT_CRON",
        "DEFAULT_TIMEZONE",
        "AutomationSettings",
        "EvaluationSettings",
        "ExecutionSettings",
        "RetentionSettings",
        "Settings",
        "StoreSettings",
        "load_settings",
    ),
    "search": ("AnswerSettings", "RerankerSettings", "SearchSettings"),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "DEFAULT_CRON",
    "DEFAULT_TIMEZONE",
    "ENV_PREFIX",
    "AnswerSettings",
    "AutomationSettings",
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
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
