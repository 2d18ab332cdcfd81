"""Assets that wait for their input: by what it contains, not by how often it was made."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from dagster import (
    AssetKey,
    DagsterInstance,
    evaluate_automation_conditions,
    materialize,
)

from rag_assets.definitions import defs
from rag_assets.defs.assets import assets_of
from rag_assets.defs.automation.automation_conditions import INPUT_HAS_CHANGED
from rag_assets.defs.pipeline import pipeline
from rag_assets.defs.scope import ALL_LABELS
from rag_assets.pipeline.progress import Silent
from rag_assets.pipeline.versions import STAGES
from rag_assets_tests.defs.conftest import Automated
from rag_assets_tests.git_repository import Repository

LABEL = "shop@main"


class Ticks:
    def __init__(self, automated: Automated, repository: Repository) -> None:
        self.automated, self.repository = automated, repository
        self._cursor = None

    @property
    def instance(self) -> DagsterInstance:
        return self.automated.instance

    def tick(self) -> set[str]:
        """The assets that are asked for."""
        found = evaluate_automation_conditions(defs=defs(), instance=self.instance, cursor=self._cursor)
        self._cursor = found.cursor  # type: ignore[assignment]
        return {key.path[-1] for key in map(AssetKey, STAGES) if found.get_num_requested(key)}

    def discover(self) -> None:
        result = materialize(
            assets_of(ALL_LABELS),
            selection=["discovered_files"],
            instance=self.instance,
            partition_key=LABEL,
            resources={"workspace": self.automated.workspace, "progress": Silent()},
        )
        assert result.success


@pytest.fixture
def ticks(automated: Automated) -> Iterator[Ticks]:
    repository = automated.repository("shop")
    automated.register("shop")
    made = Ticks(automated, repository)
    automated.run(LABEL)
    made.tick()
    yield made


def test_every_asset_but_the_first_waits_for_its_input() -> None:
    found = {spec.key.path[-1]: spec.automation_condition for spec in pipeline.resolve_all_asset_specs()}
    assert found == {stage: None if stage == STAGES[0] else INPUT_HAS_CHANGED for stage in STAGES}


def test_an_input_that_was_made_again_and_is_the_same_asks_for_nothing(ticks: Ticks) -> None:
    ticks.discover()
    assert ticks.tick() == set()


def test_an_input_with_other_content_asks_for_the_next_asset_once(ticks: Ticks) -> None:
    ticks.repository.commit({"new.md": "# New\n"})
    ticks.discover()
    assert ticks.tick() == {"segments"}
    assert ticks.tick() == set()


def test_a_whole_run_leaves_nothing_to_ask_for(ticks: Ticks) -> None:
    ticks.repository.commit({"new.md": "# New\n"})
    assert ticks.automated.run(LABEL).success
    assert ticks.tick() == set()
    assert ticks.tick() == set()
