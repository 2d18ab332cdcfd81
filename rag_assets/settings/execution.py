"""Who executes the steps of a Dagster run, and how the stages that take long are shared out."""

from __future__ import annotations

from typing import Literal
from urllib.parse import urlsplit

from pydantic import Field, field_validator

from rag_assets.settings.base import Strict

_SCHEDULER_SCHEMES = ("tcp", "tls", "ucx", "ws", "wss")


class ExecutionSettings(Strict):
    """Who executes the steps of a Dagster run; see docs/scaling.md. `rag-assets index` always is one process.

    The broker of Celery may hold a password: RAG_ASSETS_CELERY_BROKER and RAG_ASSETS_CELERY_BACKEND only.
    """

    executor: Literal["in_process", "multiprocess", "dask", "celery", "k8s"] = Field(
        default="in_process",
        description="all but the first two need their extra: pip install 'rag-assets[dask]'",
    )
    max_concurrent: int = Field(
        default=0,
        ge=0,
        le=1_024,
        description="steps of one run at a time; 0: one per processor core, no limit with dask_scheduler, celery, k8s",
    )
    fan_out: int = Field(
        default=16, ge=1, le=512, description="parts that a stage is shared out in, at most (not in_process)"
    )
    fan_out_texts: int = Field(
        default=500, ge=1, description="texts of one part to embed, at least: fewer take less time than a step does"
    )
    fan_out_questions: int = Field(
        default=20, ge=1, description="questions of one part to the language model, at least: likewise"
    )
    dask_scheduler: str = Field(default="", description="tcp://host:8786; empty: workers of its own on this machine")
    k8s_image: str = Field(default="", description="of the steps' pods; empty: that of the run launcher")
    k8s_namespace: str = Field(default="", description="of the steps' pods; empty: that of the run launcher")

    @field_validator("dask_scheduler")
    @classmethod
    def _is_a_scheduler(cls, value: str) -> str:
        parts = urlsplit(value.strip())
        if value.strip() and (parts.scheme not in _SCHEDULER_SCHEMES or not parts.hostname or parts.password):
            raise ValueError(f"{value!r} is not the address of a Dask scheduler, for example tcp://scheduler:8786")
        return value.strip()
