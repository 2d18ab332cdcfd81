"""The assets, the job that indexes a label, and the executor that the settings name: shared by every way of running
them.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any, cast

from dagster import (
    AssetCheckKey,
    AssetsDefinition,
    AssetSelection,
    AssetSpec,
    Definitions,
    ExecutorDefinition,
    define_asset_job,
    in_process_executor,
    multiprocess_executor,
)

from rag_assets.defs.assets import assets_of
from rag_assets.defs.automation.automation_conditions import CONDITIONS
from rag_assets.defs.resources import Workspace
from rag_assets.defs.scope import AssetScope, scope_of
from rag_assets.pipeline.checks.generation_checks import CHECKS
from rag_assets.pipeline.progress import Silent
from rag_assets.pipeline.versions import STAGES
from rag_assets.settings import ExecutionSettings, Settings
from rag_assets.settings.config_file import ConfigError

STAGE_TAG = "rag_assets/stage"
BROKER_VARIABLE = "RAG_ASSETS_CELERY_BROKER"
BACKEND_VARIABLE = "RAG_ASSETS_CELERY_BACKEND"


def executor_for(settings: ExecutionSettings) -> ExecutorDefinition:
    """The configured executor. Connects to nothing yet. Docker and Kubernetes take image and namespace from the run
    launcher of the instance (deploy/).

    Raises ConfigError with the pip line for an executor whose extra is not installed, or with what else it lacks.
    """
    if settings.executor == "multiprocess":
        return multiprocess_executor
    if settings.executor == "docker":
        return cast(ExecutorDefinition, _extra("docker", "dagster_docker").docker_executor)
    if settings.executor == "k8s":
        return cast(ExecutorDefinition, _extra("k8s", "dagster_k8s").k8s_job_executor)
    if settings.executor == "celery":
        return _celery()
    # A step is milliseconds to minutes of work, a process per step costs two seconds: parallelism is inside the steps
    # and across runs.
    return in_process_executor


def _celery() -> ExecutorDefinition:
    """Workers: `dagster-celery worker start -A dagster_celery.app -y deploy/celery.yaml`. Only the names of the
    variables are in the configuration, which Dagster stores."""
    module = _extra("celery", "dagster_celery")
    missing = [name for name in (BROKER_VARIABLE, BACKEND_VARIABLE) if not os.environ.get(name)]
    if missing:
        raise ConfigError(
            f"execution.executor celery needs {' and '.join(missing)} in the environment, "
            f"for example {missing[0]}=redis://localhost:6379/0"
        )
    urls = {"broker": {"env": BROKER_VARIABLE}, "backend": {"env": BACKEND_VARIABLE}}
    return cast(ExecutorDefinition, module.celery_executor.configured(urls))


def _extra(name: str, module: str) -> Any:
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"execution.executor {name} needs {error.name}; run: pip install 'rag-assets[{name}]', "
            "or set execution.executor: in_process"
        ) from None


def index_job(scope: AssetScope, execution: ExecutionSettings | None = None) -> Any:
    """The job `index`, on the executor of the definitions or on its own. Dagster exports no name for its type."""
    keys = [scope.key(stage) for stage in STAGES]
    checks = [AssetCheckKey(scope.key(owner), name) for name, (owner, _, _) in CHECKS.items()]
    return define_asset_job(
        scope.named("index"),
        # The checks of what was built; that of freshness looks at all labels and has a job of its own.
        selection=AssetSelection.assets(*keys).without_checks() | AssetSelection.checks(*checks),
        description="Indexes labels from their repositories to the active index.",
        executor_def=executor_for(execution) if execution else None,
    )


def pipeline_for(settings: Settings, executor: ExecutorDefinition = in_process_executor) -> Definitions:
    """The pipeline of a configuration; the executor executes one whole stage per step."""
    scope = scope_of(settings)
    return Definitions(
        assets=configured_assets(scope, settings),
        jobs=[index_job(scope)],
        resources={"workspace": Workspace(), "progress": Silent()},
        executor=executor,
    )


def configured_assets(scope: AssetScope, settings: Settings) -> list[AssetsDefinition]:
    """The repository and the stages, each with what the configuration says of it."""

    def told(spec: AssetSpec) -> AssetSpec:
        name = spec.key.path[-1]
        return spec.replace_attributes(
            automation_condition=CONDITIONS.get(name),
            owners=settings.dagster.owners,
            tags={STAGE_TAG: name},
        )

    return [made.map_asset_specs(told) for made in assets_of(scope)]
