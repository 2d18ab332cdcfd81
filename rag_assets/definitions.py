"""Wiring only: what `dagster dev` and `dg` load. No I/O at import; the configuration is read when they ask."""

from __future__ import annotations

import atexit
import gc
from collections.abc import Iterator
from contextlib import contextmanager

from dagster import Definitions, definitions


@definitions
def defs() -> Definitions:
    """Everything of this code location. Raises ConfigError, which the UI shows, for a configuration it cannot use."""
    with _cycles_left():
        from rag_assets.defs.automation.definitions import automation
        from rag_assets.defs.pipeline import executor_for, pipeline_for
        from rag_assets.index.layout import keep_for_owner
        from rag_assets.settings import load_settings

        keep_for_owner()
        settings = load_settings()
        return Definitions.merge(pipeline_for(settings, executor_for(settings.execution)), automation(settings))


@contextmanager
def _cycles_left() -> Iterator[None]:
    """Python looks for cycles a hundred times while modules are loaded, finds next to none, and looks among all of them
    again, several times, when the process ends: a third of the time of a process that runs one step."""
    was_enabled = gc.isenabled()
    gc.disable()
    atexit.register(gc.freeze)
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
