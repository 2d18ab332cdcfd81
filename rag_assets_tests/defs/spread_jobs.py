"""The job of the configured executor, by a name that the processes of other executors can import."""

from __future__ import annotations

from dagster import JobDefinition

from rag_assets.defs.pipeline import pipeline_for
from rag_assets.settings import load_settings


def spread_index_job() -> JobDefinition:
    settings = load_settings()
    made = pipeline_for(settings.execution, refining=settings.llm.provider != "none")
    return made.resolve_job_def("index")
