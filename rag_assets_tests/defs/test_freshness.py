"""The freshness check: a label is named when it had no successful run for too long."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from dagster import AssetCheckEvaluation, AssetCheckSeverity

from rag_assets.definitions import defs
from rag_assets.defs.automation.freshness import LabelAge, ages
from rag_assets_tests.defs.conftest import Automated, cells

HOUR = 3600.0


@pytest.mark.parametrize(
    ("last", "configured", "expected"),
    [
        pytest.param({"a@main": 9 * HOUR}, ["a"], [LabelAge("a@main", 1.0)], id="fresh"),
        pytest.param({"a@main": None}, ["a"], [LabelAge("a@main", None)], id="no run yet"),
        pytest.param({}, ["a"], [LabelAge("a", None)], id="configured, never seen"),
        pytest.param({"ab@main": 9 * HOUR}, ["a"], [LabelAge("a", None), LabelAge("ab@main", 1.0)], id="near names"),
        pytest.param({"My~1@x": 9 * HOUR}, [], [LabelAge("My~1@x", 1.0)], id="not configured"),
        pytest.param(
            {"a@dev": 2 * HOUR, "a@main": 9 * HOUR},
            ["a"],
            [LabelAge("a@dev", 8.0), LabelAge("a@main", 1.0)],
            id="the oldest first",
        ),
    ],
)
def test_ages(last: dict[str, float | None], configured: list[str], expected: list[LabelAge]) -> None:
    assert ages(last, configured, 10 * HOUR) == expected


@pytest.mark.parametrize(("hours", "stale"), [(None, False), (25.9, False), (26.0, False), (26.1, True)])
def test_stale_is_older_than_the_limit(hours: float | None, stale: bool) -> None:
    assert LabelAge("a@main", hours).is_stale(26.0) is stale


def evaluate(automated: Automated) -> AssetCheckEvaluation:
    result = (
        defs()
        .resolve_job_def("check_freshness")
        .execute_in_process(instance=automated.instance, resources={"workspace": automated.workspace})
    )
    (found,) = result.get_asset_check_evaluations()
    return found


@pytest.fixture
def two(automated: Automated) -> Iterator[Automated]:
    for name in ("shop", "zoo"):
        automated.repository(name)
        automated.register(name)
    automated.run("shop@main")
    yield automated


def test_the_check_names_the_label_without_a_run_and_does_not_fail_for_it(two: Automated) -> None:
    found = evaluate(two)
    assert (found.passed, found.severity) == (True, AssetCheckSeverity.WARN)
    assert found.description == "1 label is fresh; never indexed: zoo@main"
    assert cells(found.metadata["age"]) == ["zoo@main", None, "never indexed", "shop@main", 0.0, "fresh"]
    two.run("zoo@main")
    assert evaluate(two).passed


def test_a_run_that_fails_or_finds_nothing_new(two: Automated) -> None:
    two.automation = {"stale_after_hours": 0.000_000_1}
    assert evaluate(two).description == "stale: shop@main; never indexed: zoo@main", "the limit is a setting"
    two.automation = {}
    moved = (two.folder / "zoo").rename(two.folder / "away")
    assert not two.run("zoo@main").success
    assert evaluate(two).description.endswith("never indexed: zoo@main"), "a failed run does not count"
    moved.rename(two.folder / "zoo")
    for _ in range(2):
        two.run("zoo@main")
    assert evaluate(two).passed


def test_runs_of_the_job_index_do_not_evaluate_it(two: Automated) -> None:
    names: set[Any] = {check.name for check in defs().resolve_job_def("index").asset_layer.asset_graph.asset_check_keys}
    assert "index_is_fresh" not in names
