"""What the assets need from outside: the configuration, and someone to report progress to."""

from __future__ import annotations

import multiprocessing
from pathlib import Path
from typing import Protocol

from dagster import ConfigurableResource
from pydantic import Field

from rag_assets.errors import MissingRef, SourceError
from rag_assets.index.layout import IndexHome
from rag_assets.settings import ExecutionSettings, Settings, load_settings

_CORRECT_REF = "correct `ref` in rag_assets.yaml, or choose a partition with a ref that is there"


class SettingsSource(Protocol):
    """Where assets, schedules and sensors read their settings, anew each time."""

    def settings(self) -> Settings: ...

    def index_home(self) -> IndexHome: ...

    def explained(self, error: SourceError) -> str:
        """What a run says of a repository that cannot be read: the cause, and what to do."""
        ...


class Workspace(ConfigurableResource):  # type: ignore[type-arg]  # dagster declares the parameter for raw resources only
    """The configuration and home directory that all assets share; what is set here wins over the configuration."""

    config_file: str = Field(default="", description="rag_assets.yaml to use; empty: found as the command line does")
    home: str = Field(default="", description="where indexes are kept; empty: as the configuration says")
    lexical_only: bool = Field(default=False, description="index for keyword search alone, without the embedding model")

    def settings(self) -> Settings:
        """Read anew at each step, so that a long-lived code server sees an edited file."""
        settings = load_settings(Path(self.config_file) if self.config_file else None)
        if self.lexical_only:
            settings = settings.without_vectors()
        settings = of_this_process(settings)
        return settings.model_copy(update={"home": Path(self.home)}) if self.home else settings

    def index_home(self) -> IndexHome:
        return IndexHome(Path(self.home) if self.home else self.settings().home)

    def explained(self, error: SourceError) -> str:
        return f"{error}; {_CORRECT_REF}" if isinstance(error, MissingRef) else str(error)


def of_this_process(settings: Settings) -> Settings:
    """The settings as they can be used here: a worker of Celery may not have processes of its own."""
    if not multiprocessing.current_process().daemon:
        return settings
    return settings.model_copy(update={"workers": 1, "execution": _without_children(settings.execution)})


def _without_children(execution: ExecutionSettings) -> ExecutionSettings:
    """A Dask cluster of one's own is processes of one's own."""
    return execution if execution.dask_scheduler else execution.model_copy(update={"workers": "processes"})
