"""Who executes the steps of a Dagster run, and who works on the buckets of a stage."""

from __future__ import annotations

from typing import Literal
from urllib.parse import urlsplit

from pydantic import Field, field_validator

from rag_assets.settings.base import Strict

_SCHEDULER_SCHEMES = ("tcp", "tls", "ucx", "ws", "wss")


class ExecutionSettings(Strict):
    """Who works on a build; see docs/scaling.md. `executor` is for Dagster runs, `workers` also for `rag-assets index`.

    The broker of Celery may hold a password: RAG_ASSETS_CELERY_BROKER and RAG_ASSETS_CELERY_BACKEND only.
    """

    executor: Literal["in_process", "multiprocess", "docker", "celery", "k8s"] = Field(
        default="in_process",
        description="of the steps of a run; the last three need their extra: pip install 'rag-assets[k8s]'",
    )
    workers: Literal["processes", "dask"] = Field(
        default="processes",
        description="who works on the buckets of a stage; dask needs: pip install 'rag-assets[dask]'",
    )
    dask_scheduler: str = Field(default="", description="tcp://host:8786; empty: a Dask cluster on this machine")

    @field_validator("dask_scheduler")
    @classmethod
    def _is_a_scheduler(cls, value: str) -> str:
        parts = urlsplit(value.strip())
        if value.strip() and (parts.scheme not in _SCHEDULER_SCHEMES or not parts.hostname or parts.password):
            raise ValueError(f"{value!r} is not the address of a Dask scheduler, for example tcp://scheduler:8786")
        return value.strip()
