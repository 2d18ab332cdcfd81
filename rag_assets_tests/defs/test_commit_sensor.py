"""The commit sensor on real repositories: every head gets its run, once."""

from __future__ import annotations

import json
import shutil
from typing import Any

import pytest
from dagster import (
    AddDynamicPartitionsRequest,
    DagsterInstance,
    DagsterRunStatus,
    DefaultSensorStatus,
    SensorResult,
    build_sensor_context,
)

from rag_assets.defs.automation.git_heads import LabelHead
from rag_assets.defs.automation.sensors import NewestRun, commit_sensor, react, read_cursor
from rag_assets.defs.pipeline import pipeline_for
from rag_assets.defs.scope import AssetScope
from rag_assets.pipeline.build import label_lock
from rag_assets.settings import RepositorySettings, Settings
from rag_assets_tests.defs.conftest import Automated, failure_text


class Ticks:
    """Evaluates the sensor as the daemon does: cursor and partitions are kept, runs are made for what it requests."""

    def __init__(self, automated: Automated) -> None:
        self.automated = automated
        self.cursor: str | None = None
        self.keys: set[str] = set()
        self.said = ""

    def tick(
        self, *, launch: bool = True, status: DagsterRunStatus = DagsterRunStatus.SUCCESS
    ) -> list[tuple[str, str]]:
        """(label, commit) of the new runs. `launch` False is a daemon that dies before it makes them."""
        instance = self.automated.instance
        with build_sensor_context(
            instance=instance, cursor=self.cursor, resources={"workspace": self.automated.workspace}
        ) as context:
            found = commit_sensor(60, AssetScope(("rag",)))(context)
        assert isinstance(found, SensorResult)
        if not launch:
            return []
        for event in found.asset_events:
            instance.report_runless_asset_event(event)
        for change in found.dynamic_partitions_requests or []:
            if isinstance(change, AddDynamicPartitionsRequest):
                instance.add_dynamic_partitions(change.partitions_def_name, list(change.partition_keys))
            else:
                for key in change.partition_keys:
                    instance.delete_dynamic_partition(change.partitions_def_name, key)
        made = []
        for request in found.run_requests or []:
            assert request.run_key not in self.keys, "the daemon would skip it"
            self.keys.add(request.run_key or "")
            assert request.partition_key in labels(instance)
            job = pipeline_for(Settings()).resolve_job_def("index")
            tags = {**request.tags, "dagster/partition": request.partition_key or ""}
            instance.create_run_for_job(job, tags=tags, run_config=request.run_config, status=status)
            assert request.run_config["ops"]["discovered_files"]["config"]["commit"] == request.tags["rag/commit"]
            made.append((request.tags["rag/label"], request.tags["rag/commit"]))
        self.cursor = found.cursor
        self.said = str(found.skip_reason.skip_message) if found.skip_reason else ""
        return made

    def finish_runs(self) -> None:
        for run in self.automated.instance.get_runs():
            if not run.is_finished:
                self.automated.instance.report_run_failed(run, "ended by the test")


@pytest.fixture
def ticks(automated: Automated) -> Ticks:
    return Ticks(automated)


def labels(instance: DagsterInstance) -> set[str]:
    return set(instance.get_dynamic_partitions("index_label"))


def test_it_is_stopped_until_somebody_starts_it() -> None:
    assert commit_sensor(60, AssetScope(("rag",))).default_status is DefaultSensorStatus.STOPPED
    assert commit_sensor(90, AssetScope(("rag",))).minimum_interval_seconds == 90


def test_the_first_tick_adds_the_partition_and_asks_for_a_run(ticks: Ticks) -> None:
    repository = ticks.automated.repository("shop")
    assert ticks.tick() == [("shop@main", repository.git("rev-parse", "HEAD"))]
    assert labels(ticks.automated.instance) == {"shop@main"}
    assert ticks.tick() == []
    assert ticks.said == "no new commit in 1 labels"
    new = repository.commit({"a.md": "# A\n"})
    assert ticks.tick() == [("shop@main", new)]
    assert ticks.automated.observed("shop@main") == new, "the lineage knows it before the run"
    assert ticks.tick() == []


def test_a_run_that_it_asks_for_works(ticks: Ticks) -> None:
    repository = ticks.automated.repository("shop")
    ((label, commit),) = ticks.tick()
    repository.commit({"later.md": "# Later\n"})
    config = {"ops": {"discovered_files": {"config": {"commit": commit}}}}
    result = ticks.automated.run(label, run_config=config)
    assert result.success, failure_text(result)
    (run,) = ticks.automated.instance.get_runs(limit=1)
    assert (run.tags["rag/label"], run.tags["rag/commit"]) == (label, commit)


def test_a_head_whose_run_was_not_made_is_asked_for_again(ticks: Ticks) -> None:
    """The cursor never moves past a commit without a run."""
    repository = ticks.automated.repository("shop")
    ticks.tick(launch=False)
    assert ticks.tick() == [("shop@main", repository.git("rev-parse", "HEAD"))]


def test_the_cursor_holds_only_heads_that_have_a_run(ticks: Ticks) -> None:
    repository = ticks.automated.repository("shop")
    ticks.tick()
    assert read_cursor(ticks.cursor).heads == {}
    ticks.tick()
    assert read_cursor(ticks.cursor).heads == {"shop@main": repository.git("rev-parse", "HEAD")}


def test_a_cursor_that_is_reset_or_damaged_repeats_nothing(ticks: Ticks) -> None:
    ticks.automated.repository("shop")
    ticks.tick()
    for cursor in (None, "{", "[]", '{"heads": 3}', '{"heads": {}, "silent": null}'):
        ticks.cursor = cursor
        assert ticks.tick() == [], cursor


@pytest.mark.parametrize("ticks_between", [0, 1], ids=["at once", "after a tick"])
def test_a_branch_that_goes_back_is_indexed_again(ticks: Ticks, ticks_between: int) -> None:
    repository = ticks.automated.repository("shop")
    old = repository.git("rev-parse", "HEAD")
    ticks.tick()
    ticks.tick()
    for _ in range(2):
        new = repository.commit({"a.md": "# A\n"})
        assert ticks.tick() == [("shop@main", new)]
        for _ in range(ticks_between):
            assert ticks.tick() == []
        repository.git("reset", "--quiet", "--hard", old)
        assert ticks.tick() == [("shop@main", old)]


def test_while_a_run_is_under_way_the_newest_head_waits(ticks: Ticks) -> None:
    repository = ticks.automated.repository("shop")
    ticks.tick(status=DagsterRunStatus.STARTED)
    for number in range(3):
        newest = repository.commit({f"{number}.md": "# A\n"})
        assert ticks.tick() == []
    ticks.finish_runs()
    assert ticks.tick() == [("shop@main", newest)], "three commits, one run"


def test_a_failed_run_is_not_asked_for_at_every_tick(ticks: Ticks) -> None:
    ticks.automated.repository("shop")
    ticks.tick(status=DagsterRunStatus.FAILURE)
    assert ticks.tick() == []


def test_one_that_cannot_be_reached_is_reported_and_loses_nothing(ticks: Ticks) -> None:
    shop, zoo = ticks.automated.repository("shop"), ticks.automated.repository("zoo", ref="main")
    ticks.tick()
    ticks.tick()
    before = read_cursor(ticks.cursor).heads
    new = shop.commit({"a.md": "# A\n"})
    moved = zoo.path.rename(zoo.path.with_name("away"))
    assert ticks.tick() == [("shop@main", new)]
    found = read_cursor(ticks.cursor)
    assert (found.heads, found.silent) == ({"zoo@main": before["zoo@main"]}, ("zoo",))
    assert labels(ticks.automated.instance) == {"shop@main", "zoo@main"}, "not answering is not deleting"
    assert ticks.tick() == []
    assert "zoo: " in ticks.said and "no such directory" in ticks.said
    moved.rename(zoo.path)
    assert ticks.tick() == []


class TestDeletedBranches:
    @pytest.fixture(autouse=True)
    def deleted(self, ticks: Ticks) -> None:
        repository = ticks.automated.repository("shop")
        repository.git("branch", "dev")
        ticks.automated.register("shop", "dev")
        repository.git("branch", "-D", "dev")

    def test_the_partition_goes_and_the_index_stays(self, ticks: Ticks) -> None:
        ticks.tick()
        assert labels(ticks.automated.instance) == {"shop@main"}
        assert ticks.automated.home.label("shop@dev").is_dir()

    @pytest.mark.parametrize(
        "tags",
        [
            {"rag/label": "shop@dev"},
            {"dagster/partition": "shop@dev"},
            {"dagster/asset_partition_range_start": "a@main", "dagster/asset_partition_range_end": "z@main"},
        ],
        ids=["label", "partition", "range of a backfill"],
    )
    @pytest.mark.parametrize("status", [DagsterRunStatus.NOT_STARTED, DagsterRunStatus.CANCELING])
    def test_not_while_a_run_is_in_flight(self, ticks: Ticks, tags: dict[str, str], status: DagsterRunStatus) -> None:
        ticks.automated.instance.add_dynamic_partitions("index_label", ["a@main", "z@main"])
        job = pipeline_for(Settings()).resolve_job_def("index")
        ticks.automated.instance.create_run_for_job(job, tags=tags, status=status)
        ticks.tick()
        assert "shop@dev" in labels(ticks.automated.instance)
        ticks.finish_runs()
        ticks.tick()
        assert "shop@dev" not in labels(ticks.automated.instance)

    def test_not_while_a_command_builds_it(self, ticks: Ticks) -> None:
        with label_lock(ticks.automated.home, "shop@dev"):
            ticks.tick()
            assert "shop@dev" in labels(ticks.automated.instance)
        ticks.tick()
        assert "shop@dev" not in labels(ticks.automated.instance)

    def test_a_branch_that_comes_back_is_indexed(self, ticks: Ticks) -> None:
        ticks.tick()
        repository = ticks.automated.folder / "shop"
        shutil.copy(repository / ".git/refs/heads/main", repository / ".git/refs/heads/dev")
        assert [label for label, _ in ticks.tick()] == ["shop@dev"]
        assert "shop@dev" in labels(ticks.automated.instance)


def test_react_is_a_function_of_what_it_is_told() -> None:
    repository = RepositorySettings(id="a", location=".")
    head = (LabelHead("a@main", repository, "2" * 40),)
    runs: dict[str, Any] = {"a@main": NewestRun("0123456789", "1" * 40, False)}
    due, verified = react(head, {}, runs.get)
    assert [run.run_key for run in due] == [f"a@main:{'2' * 40}:after-01234567"]
    assert verified == {}
    assert react(head, {"a@main": "2" * 40}, runs.get) == ([], {"a@main": "2" * 40})
    assert json.loads(read_cursor('{"heads": {"a": "b"}}').text()) == {"heads": {"a": "b"}, "silent": []}
