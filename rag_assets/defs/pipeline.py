"""The assets and the job that indexes a label: what every way of running them shares, without schedules."""

from __future__ import annotations

from dagster import (
    AssetCheckKey,
    AssetKey,
    AssetSelection,
    Definitions,
    define_asset_job,
    in_process_executor,
    load_assets_from_package_module,
)

from rag_assets.defs import assets
from rag_assets.defs.conditions import with_conditions
from rag_assets.defs.resources import Workspace
from rag_assets.settings import ExecutionSettings
from rag_assets.stages.checks import CHECKS
from rag_assets.stages.progress import Silent
from rag_assets.stages.versions import STAGES

index_job = define_asset_job(
    "index",
    # The checks of what was built; that of freshness looks at all labels and has a job of its own.
    selection=AssetSelection.assets(*STAGES).without_checks()
    | AssetSelection.checks(*(AssetCheckKey(AssetKey(owner), name) for name, (owner, _, _) in CHECKS.items())),
    description="Indexes labels from their repositories to the active index.",
)

pipeline = Definitions(
    assets=with_conditions(load_assets_from_package_module(assets)),
    jobs=[index_job],
    resources={"workspace": Workspace(), "progress": Silent()},
    # A step is milliseconds to minutes of work, a process per step costs two seconds: parallelism is inside
    # the steps and across runs.
    executor=in_process_executor,
)


def pipeline_for(execution: ExecutionSettings, *, refining: bool = False) -> Definitions:
    """The pipeline on the configured executor, with the steps that it spreads; `refining`: a language model is asked.
    Raises ConfigError where an extra of that executor is not installed."""
    if execution.executor == "in_process":
        return pipeline
    from rag_assets.defs.execution import executor_for
    from rag_assets.defs.fan_out import fanned_out
    from rag_assets.defs.shared_embeddings import EMBEDDINGS

    spread = [fanned_out(EMBEDDINGS, execution)]
    if refining:
        from rag_assets.defs.shared_descriptions import DESCRIPTIONS  # the client of the model is wanted only here

        spread.append(fanned_out(DESCRIPTIONS, execution))
    keys = {made.key for made in spread}
    kept = [made for made in load_assets_from_package_module(assets) if made.key not in keys]  # type: ignore[union-attr]
    return Definitions(
        assets=with_conditions([*kept, *spread]),
        jobs=[index_job],
        resources=pipeline.resources,
        executor=executor_for(execution),
    )
