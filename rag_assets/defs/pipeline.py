"""The assets and the job that indexes a label: what every way of running them shares, without schedules."""

from __future__ import annotations

from dagster import (
    AssetCheckKey,
    AssetKey,
    AssetSelection,
    Definitions,
    define_asset_job,
    load_assets_from_package_module,
)

from rag_assets.defs import assets
from rag_assets.defs.automation.automation_conditions import with_conditions
from rag_assets.defs.execution import executor_for
from rag_assets.defs.resources import Workspace
from rag_assets.pipeline.checks.generation_checks import CHECKS
from rag_assets.pipeline.progress import Silent
from rag_assets.pipeline.versions import STAGES
from rag_assets.settings import ExecutionSettings

index_job = define_asset_job(
    "index",
    # The checks of what was built; that of freshness looks at all labels and has a job of its own.
    selection=AssetSelection.assets(*STAGES).without_checks()
    | AssetSelection.checks(*(AssetCheckKey(AssetKey(owner), name) for name, (owner, _, _) in CHECKS.items())),
    description="Indexes labels from their repositories to the active index.",
)


def pipeline_for(execution: ExecutionSettings) -> Definitions:
    """The pipeline on the configured executor, which executes one whole stage per step. Raises ConfigError where the
    executor lacks something."""
    return Definitions(
        assets=with_conditions(load_assets_from_package_module(assets)),
        jobs=[index_job],
        resources={"workspace": Workspace(), "progress": Silent()},
        executor=executor_for(execution),
    )


pipeline = pipeline_for(ExecutionSettings())
