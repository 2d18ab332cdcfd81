"""`dagster.yaml`: loaded by Dagster, and meaning what its comments say."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from importlib.resources import files

import pytest
from dagster import DagsterInstance, DagsterRunStatus

from rag_assets.defs.partitions import LABEL_TAG
from rag_assets.defs.pipeline import pipeline_for
from rag_assets.settings import Settings


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DagsterInstance]:
    home = tmp_path_factory.mktemp("dagster")
    shutil.copy(str(files("rag_assets.defs").joinpath("dagster.yaml")), home)
    with DagsterInstance.from_config(str(home)) as loaded:
        yield loaded


def test_dagster_sends_nothing_home(instance: DagsterInstance) -> None:
    assert instance.telemetry_enabled is False and instance.nux_enabled is False


def test_one_run_of_a_label_at_a_time(instance: DagsterInstance) -> None:
    found = instance.get_concurrency_config().run_queue_config
    assert found is not None
    assert found.max_concurrent_runs == 2
    assert found.tag_concurrency_limits == [{"key": LABEL_TAG, "limit": 1, "value": {"applyLimitPerUniqueValue": True}}]


def test_only_crashed_runs_are_started_again(instance: DagsterInstance) -> None:
    assert instance.run_retries_enabled and instance.run_retries_max_retries == 2
    assert instance.run_retries_retry_on_asset_or_op_failure is False


def test_lost_runs_end_and_give_their_slots_back(instance: DagsterInstance) -> None:
    assert instance.run_monitoring_enabled
    assert instance.run_monitoring_start_timeout_seconds == 600
    assert instance.get_settings("run_monitoring")["free_slots_after_run_end_seconds"] == 300


def test_ticks_are_purged(instance: DagsterInstance) -> None:
    sensor = instance.get_settings("retention")["sensor"]["purge_after_days"]
    assert (sensor["skipped"], sensor["failure"]) == (7, 30)


def test_pools_have_a_limit_only_where_somebody_sets_one(instance: DagsterInstance) -> None:
    """A slot that a killed command has left must not stop the next one on a machine without a daemon."""
    storage = instance.event_log_storage
    assert storage.get_pool_config().default_pool_limit is None
    job = pipeline_for(Settings()).resolve_job_def("index")
    pools = {op.pool for op in job.all_node_defs if getattr(op, "pool", None)}
    assert pools == {"embedding_api", "llm", "qdrant"}
    instance.event_log_storage.set_concurrency_slots("embedding_api", 1)
    run = instance.create_run_for_job(job, status=DagsterRunStatus.STARTED)
    assert storage.claim_concurrency_slot("embedding_api", run.run_id, "embeddings").is_claimed
    assert not storage.claim_concurrency_slot("embedding_api", "another", "embeddings").is_claimed
