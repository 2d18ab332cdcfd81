"""Wiring only: what `dagster dev`, `dg` and the command line load. No I/O at import."""

from __future__ import annotations

from dagster import AssetSelection, Definitions, define_asset_job, in_process_executor, load_assets_from_package_module

from rag_assets.defs import assets
from rag_assets.defs.resources import Workspace
from rag_assets.stages.progress import Silent
from rag_assets.stages.versions import STAGES

index_job = define_asset_job(
    "index",
    selection=AssetSelection.assets(*STAGES),
    description="Indexes labels from their repositories to the active index.",
)

defs = Definitions(
    assets=load_assets_from_package_module(assets),
    jobs=[index_job],
    resources={"workspace": Workspace(), "progress": Silent()},
    # A step is milliseconds to minutes of work, a process per step costs two seconds: parallelism is inside
    # the steps and across runs.
    executor=in_process_executor,
)
