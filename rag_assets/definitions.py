"""Wiring only: what `dagster dev` and `dg` load. No I/O at import; the configuration is read when they ask."""

from __future__ import annotations

from dagster import Definitions, definitions

from rag_assets.defs.automation.definitions import automation
from rag_assets.defs.pipeline import executor_for, pipeline_for
from rag_assets.index.layout import keep_for_owner
from rag_assets.settings import load_settings


@definitions
def defs() -> Definitions:
    """Everything of this code location. Raises ConfigError, which the UI shows, for a configuration it cannot use."""
    keep_for_owner()
    settings = load_settings()
    return Definitions.merge(pipeline_for(settings, executor_for(settings.execution)), automation(settings))
