"""The one typed configuration: `rag_assets.yaml` plus `RAG_ASSETS__…` environment variables.

Unknown keys are refused with the nearest valid name. Secrets are never settings: they come from the
environment only, where something needs them.
"""

from rag_assets.config_file import ENV_PREFIX
from rag_assets.settings.answering import AnswerSettings
from rag_assets.settings.automation import DEFAULT_CRON, DEFAULT_TIMEZONE, AutomationSettings
from rag_assets.settings.evaluation import EvaluationSettings
from rag_assets.settings.execution import ExecutionSettings
from rag_assets.settings.graph import GraphImportSettings
from rag_assets.settings.loading import load_settings
from rag_assets.settings.models import EmbedderSettings, LlmSettings
from rag_assets.settings.repositories import DomainSettings, RepositorySettings, SourceLimits
from rag_assets.settings.root import Settings
from rag_assets.settings.search import RerankerSettings, SearchSettings
from rag_assets.settings.stores import RetentionSettings, StoreSettings

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
