"""The assets, the job that indexes a label, and the executor that the settings name: shared by every way of running
them.
"""

from __future__ import annotations

import os
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from dagster import (
    AnchorBasedFilePathMapping,
    AssetCheckKey,
    AssetsDefinition,
    AssetSelection,
    AssetSpec,
    CodeReferencesMetadataValue,
    Definitions,
    ExecutorDefinition,
    FreshnessPolicy,
    LocalFileCodeReference,
    UrlCodeReference,
    define_asset_job,
    in_process_executor,
    link_code_references_to_git,
    multiprocess_executor,
)

from rag_assets.defs import assets
from rag_assets.defs.assets import assets_of
from rag_assets.defs.automation.automation_conditions import CONDITIONS
from rag_assets.defs.resources import Workspace
from rag_assets.defs.scope import AssetScope, accepted_warnings, scope_of
from rag_assets.pipeline.checks.generation_checks import CHECKS
from rag_assets.pipeline.progress import Silent
from rag_assets.pipeline.versions import STAGES
from rag_assets.settings import DagsterSettings, ExecutionSettings, Settings
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
    runs, fresh = _kinds(settings), _freshness(settings)

    def told(spec: AssetSpec) -> AssetSpec:
        name = spec.key.path[-1]
        return spec.replace_attributes(
            automation_condition=CONDITIONS.get(name),
            owners=settings.dagster.owners,
            tags={STAGE_TAG: name},
            kinds=spec.kinds | runs.get(name, set()),
            freshness_policy=fresh if name == STAGES[-1] else None,
            metadata={**spec.metadata, **_code(name)},
        )

    with accepted_warnings():
        made = [one.map_asset_specs(told) for one in assets_of(scope)]
        return _linked(made, settings.dagster) if settings.dagster.code_url else made


def _kinds(settings: Settings) -> dict[str, set[str]]:
    """What a configuration makes run in a stage, beside what always does."""
    stores, evaluation, catalog = settings.stores, settings.evaluation, settings.stores.catalog
    models = {"minilm": {"onnx"}, "static-code": {"numpy"}, "openai-compatible": {"openai"}}
    asks = settings.answer.base_url and (evaluation.answers or evaluation.judge)
    return {
        "descriptions": {"openai"} if settings.llm.provider != "none" else set(),
        "embeddings": models.get(settings.embedder.provider, set()),
        "qdrant_points": {"faiss" if stores.vectors == "faiss" else "qdrant"} | ({catalog} - {"none"}),
        "eval_runs": {"openai"} if asks else set(),
        "active_index": {"s3"} if stores.remote.startswith("s3:") else set(),
    }


def _freshness(settings: Settings) -> FreshnessPolicy | None:
    """Where there is one label. A policy is for the asset, whatever its partition, and one fresh label would hide
    others that are not: these have the check `index_is_fresh`."""
    if len(settings.repositories) != 1:
        return None
    window = timedelta(hours=settings.automation.stale_after_hours)
    return FreshnessPolicy.time_window(fail_window=max(window, _SHORTEST_WINDOW))


_SHORTEST_WINDOW = timedelta(minutes=1)  # of Dagster
_PACKAGE = Path(assets.__file__).parents[1]


def _code(name: str) -> dict[str, Any]:
    """Where the asset is defined, and the module of its stage."""
    lines = {"asset": (assets.__file__, assets.line_of(name))}
    if name in STAGES:
        lines["stage"] = str(_PACKAGE / "pipeline" / f"{name}.py"), 1
    places: list[LocalFileCodeReference | UrlCodeReference] = [
        LocalFileCodeReference(file_path=file, line_number=line, label=label) for label, (file, line) in lines.items()
    ]
    return {"dagster/code_references": CodeReferencesMetadataValue(code_references=places)}


def _linked(made: list[AssetsDefinition], settings: DagsterSettings) -> list[AssetsDefinition]:
    """With the places of the code in a forge, for people who do not have the files of this machine."""
    mapping = AnchorBasedFilePathMapping(_PACKAGE / "__init__.py", "rag_assets/__init__.py")
    linked = link_code_references_to_git(made, settings.code_url, settings.code_ref, mapping)
    return [one for one in linked if isinstance(one, AssetsDefinition)]
