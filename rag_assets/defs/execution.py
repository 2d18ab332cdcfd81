"""The executor that the settings name. What an executor needs is imported when it is wanted and not before."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import import_module
from typing import Any, cast

from dagster import ExecutorDefinition, in_process_executor, multiprocess_executor

from rag_assets.config_file import ConfigError
from rag_assets.models.cores import usable_cores
from rag_assets.settings import ExecutionSettings

BROKER_VARIABLE = "RAG_ASSETS_CELERY_BROKER"
BACKEND_VARIABLE = "RAG_ASSETS_CELERY_BACKEND"


def executor_for(settings: ExecutionSettings, environment: Mapping[str, str] | None = None) -> ExecutorDefinition:
    """The configured executor. Connects to nothing yet.

    Raises ConfigError with the pip line for an executor whose extra is not installed, or with what else it lacks;
    `environment` defaults to that of the process.
    """
    if settings.executor == "multiprocess":
        return multiprocess_executor.configured({"max_concurrent": concurrent_steps(settings)})
    if settings.executor == "dask":
        steps = _extra("dask", "rag_assets.defs.dask_steps")
        return cast(ExecutorDefinition, steps.dask_steps_executor(settings.dask_scheduler, concurrent_steps(settings)))
    if settings.executor == "celery":
        return _celery(os.environ if environment is None else environment)
    if settings.executor == "k8s":
        return cast(ExecutorDefinition, _extra("k8s", "dagster_k8s").k8s_job_executor.configured(_k8s(settings)))
    return in_process_executor


def concurrent_steps(settings: ExecutionSettings) -> int:
    """Steps of one run at a time on this machine, or on the cluster it asks; 0: no limit of ours."""
    if settings.executor == "in_process":
        return 1
    if settings.max_concurrent or settings.executor in ("celery", "k8s") or settings.dask_scheduler:
        return settings.max_concurrent
    return usable_cores()


def _celery(environment: Mapping[str, str]) -> ExecutorDefinition:
    """Workers: `dagster-celery worker start -A dagster_celery.app -y deploy/celery.yaml`. Only the names of the
    variables are in the configuration, which Dagster stores."""
    module = _extra("celery", "dagster_celery")
    missing = [name for name in (BROKER_VARIABLE, BACKEND_VARIABLE) if not environment.get(name)]
    if missing:
        raise ConfigError(
            f"execution.executor celery needs {' and '.join(missing)} in the environment, "
            f"for example {missing[0]}=redis://localhost:6379/0"
        )
    urls = {"broker": {"env": BROKER_VARIABLE}, "backend": {"env": BACKEND_VARIABLE}}
    return cast(ExecutorDefinition, module.celery_executor.configured(urls))


def _k8s(settings: ExecutionSettings) -> dict[str, Any]:
    """What is left out comes from the run launcher of the instance (deploy/dagster.k8s.yaml)."""
    wanted = {
        "job_image": settings.k8s_image,
        "job_namespace": settings.k8s_namespace,
        "max_concurrent": settings.max_concurrent,
    }
    return {name: value for name, value in wanted.items() if value}


def _extra(name: str, module: str) -> Any:
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"execution.executor {name} needs {error.name}; run: pip install 'rag-assets[{name}]', "
            "or set execution.executor: in_process"
        ) from None
