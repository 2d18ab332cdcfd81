"""What Dagster itself costs: the job of the pipeline with assets that do nothing."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

from dagster import (
    AssetCheckResult,
    AssetKey,
    DataVersion,
    Definitions,
    MaterializeResult,
    asset,
    in_process_executor,
)

from rag_assets.defs.in_process import open_instance
from rag_assets.defs.partitions import index_labels, one_run_for_all_labels
from rag_assets.defs.pipeline import index_job, pipeline_for
from rag_assets.defs.scope import AssetScope
from rag_assets.defs.stage_asset import check_specs
from rag_assets.index.layout import IndexHome
from rag_assets.pipeline.versions import STAGES
from rag_assets.settings import DagsterSettings, Settings


def idle_run(home: IndexHome, label: str) -> dict[str, Any]:
    """Runs assets with the names, partitions, dependencies, versions, pools and checks of the pipeline once, as the
    command runs its own; `wall` are the seconds from opening the instance of that home to closing it."""
    definitions = Definitions(assets=idle_assets(), jobs=[index_job(AssetScope())], executor=in_process_executor)
    definitions.resolve_job_def("index")
    started = time.perf_counter()
    with open_instance(home) as instance:
        assert index_labels.name is not None
        instance.add_dynamic_partitions(index_labels.name, [label])
        result = definitions.resolve_job_def("index").execute_in_process(
            instance=instance,
            partition_key=label,
            run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
            tags={"rag/label": label, "rag/commit": "none", "rag/command": "true"},
        )
    wall = time.perf_counter() - started
    kinds = Counter(event.event_type_value for event in result.all_events)
    return {"wall": wall, "checks": kinds["ASSET_CHECK_EVALUATION"], "steps": kinds["STEP_SUCCESS"]}


def idle_assets() -> list[Any]:
    """One asset per stage."""
    graph = pipeline_for(Settings(dagster=DagsterSettings(key_prefix=""))).resolve_asset_graph()

    def idle(stage: str) -> Any:
        specs = check_specs(stage, AssetScope())
        real = graph.get(AssetKey(stage))

        @asset(
            name=stage,
            deps=sorted(key.path[-1] for key in real.parent_keys if key.path[-1] in STAGES),
            code_version=real.code_version,
            pool=next(iter(real.pools), None),
            partitions_def=index_labels,
            backfill_policy=one_run_for_all_labels,
            check_specs=specs,
        )
        def nothing() -> Iterator[MaterializeResult[None] | AssetCheckResult]:
            yield MaterializeResult(data_version=DataVersion("0"))
            for spec in specs:
                yield AssetCheckResult(asset_key=AssetKey(stage), check_name=spec.name, passed=True)

        return nothing

    return [idle(stage) for stage in STAGES]
