"""Assets that wait for their input: by what it contains, not by how often it was made. The first one waits for git."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from dagster import (
    AssetObservation,
    DagsterInstance,
    SensorResult,
    build_sensor_context,
    evaluate_automation_conditions,
)

from rag_assets.definitions import defs
from rag_assets.defs.automation.sensors import head_sensor
from rag_assets.defs.observed_heads import last_observation
from rag_assets.defs.scope import REPOSITORY, AssetScope
from rag_assets.index.generations import active_generation
from rag_assets.pipeline.versions import STAGES
from rag_assets_tests.defs.conftest import Automated, failure_text
from rag_assets_tests.git_repository import Repository

RAG = AssetScope(("rag",))
LABEL = "shop@main"


class Ticks:
    """The ticks of the sensor `changed_inputs`, on an instance with one label."""

    def __init__(self, automated: Automated, repository: Repository) -> None:
        self.automated, self.repository = automated, repository
        self._cursor = None
        self._observed = ""

    @property
    def instance(self) -> DagsterInstance:
        return self.automated.instance

    def tick(self) -> set[str]:
        """The assets that are asked for."""
        found = evaluate_automation_conditions(defs=defs(), instance=self.instance, cursor=self._cursor)
        self._cursor = found.cursor  # type: ignore[assignment]
        return {stage for stage in (REPOSITORY, *STAGES) if found.get_num_requested(RAG.key(stage))}

    def materialize(self, *stages: str) -> None:
        result = self.automated.run_alone(LABEL, *stages)
        assert result.success, failure_text(result)

    def observe(self) -> None:
        """As the button of the UI does it."""
        self.materialize(REPOSITORY)

    def watch(self) -> list[AssetObservation]:
        """One tick of the sensor `heads`, as the daemon carries it out."""
        workspace = self.automated.workspace
        with build_sensor_context(self.instance, self._observed, resources={"workspace": workspace}) as context:
            found = head_sensor(60, RAG)(context)
        assert isinstance(found, SensorResult) and not found.run_requests
        for event in found.asset_events:
            self.instance.report_runless_asset_event(event)
        self._observed = found.cursor or ""
        return list(found.asset_events)  # type: ignore[arg-type]  # it observes, and nothing else


@pytest.fixture
def ticks(automated: Automated) -> Iterator[Ticks]:
    repository = automated.repository("shop")
    automated.register("shop")
    made = Ticks(automated, repository)
    automated.run(LABEL)
    made.tick()
    yield made


@pytest.mark.parametrize("sees", [Ticks.observe, Ticks.watch], ids=["button", "sensor"])
def test_a_commit_runs_through_to_the_active_index(ticks: Ticks, sees: Callable[[Ticks], object]) -> None:
    head = ticks.repository.commit({"src/Refund.cs": "namespace Shop;\n\npublic class Refund { }\n"})
    sees(ticks)
    due = ticks.tick()
    assert due == set(STAGES)
    ticks.materialize(*due)
    assert active_generation(ticks.automated.home, LABEL).manifest.commit_sha == head
    assert ticks.tick() == ticks.tick() == set()


def test_a_label_that_was_never_indexed_is_indexed_when_its_head_is_seen(ticks: Ticks) -> None:
    ticks.automated.repository("zoo")
    ticks.automated.register("zoo")
    assert [event.partition for event in ticks.watch()] == ["zoo@main"]
    assert ticks.tick() == set(STAGES)


def test_a_head_that_was_seen_before_asks_for_nothing(ticks: Ticks) -> None:
    ticks.observe()
    assert ticks.tick() == set()
    assert ticks.watch() == [], "the run has observed it"
    ticks.repository.commit({"new.md": "# New\n"})
    assert [event.partition for event in ticks.watch()] == [LABEL]
    assert ticks.watch() == []


def test_a_run_notes_the_head_that_it_asked_for_and_what_it_was_made_of(ticks: Ticks) -> None:
    head = ticks.repository.git("rev-parse", "HEAD")
    seen = last_observation(ticks.instance, RAG.key(REPOSITORY), LABEL)
    assert seen is not None and seen.asset_observation is not None
    assert seen.asset_observation.tags["dagster/data_version"] == head
    tags = ticks.automated.tags("discovered_files", LABEL)
    assert tags["dagster/input_data_version/rag/repository"] == head
    assert tags["dagster/input_event_pointer/rag/repository"] == str(seen.storage_id)


def test_a_run_at_a_chosen_commit_says_nothing_of_the_head(ticks: Ticks) -> None:
    old = ticks.repository.git("rev-parse", "HEAD")
    head = ticks.repository.commit({"new.md": "# New\n"})
    ticks.observe()
    config = {"ops": {"discovered_files": {"config": {"commit": old}}}}
    assert ticks.automated.run(LABEL, run_config=config).success
    seen = last_observation(ticks.instance, RAG.key(REPOSITORY), LABEL)
    assert seen is not None and seen.asset_observation is not None
    assert seen.asset_observation.tags["dagster/data_version"] == head
    assert ticks.automated.tags("discovered_files", LABEL)["dagster/input_data_version/rag/repository"] == old


def test_an_input_that_was_made_again_and_is_the_same_asks_for_nothing(ticks: Ticks) -> None:
    ticks.materialize("discovered_files")
    assert ticks.tick() == set()


def test_an_input_with_other_content_asks_once_for_all_that_it_leads_to(ticks: Ticks) -> None:
    ticks.repository.commit({"new.md": "# New\n"})
    ticks.materialize("discovered_files")
    assert ticks.tick() == set(STAGES[1:])
    assert ticks.tick() == set()


def test_a_whole_run_leaves_nothing_to_ask_for(ticks: Ticks) -> None:
    ticks.repository.commit({"new.md": "# New\n"})
    assert ticks.automated.run(LABEL).success
    assert ticks.tick() == set()
    assert ticks.tick() == set()
