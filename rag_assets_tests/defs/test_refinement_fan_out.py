"""The language model asked from several processes: same tables, one budget, each call counted once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from dagster import AssetKey, DagsterInstance, execute_job, reconstructable

from rag_assets.defs.pipeline import pipeline_for
from rag_assets.settings import ExecutionSettings
from rag_assets.stages.build import IndexBuild
from rag_assets.stages.descriptions import describe_files
from rag_assets.stages.fan_out.exchange import exchange_folder
from rag_assets.stages.progress import Silent
from rag_assets_tests.defs.spread_jobs import spread_index_job
from rag_assets_tests.defs.test_fan_out import groups, metadata
from rag_assets_tests.git_repository import Repository
from rag_assets_tests.llm.model_server import ModelServer, Reply
from rag_assets_tests.stages.fan_out.conftest import (
    QUESTIONS,
    asking,
    of_that_class,
    tables,
    undocumented,
    with_segments,
)

LABELS = ("more@main", "shop@main")


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as made:
        made.respond = of_that_class
        yield made


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    return undocumented(tmp_path_factory.mktemp("undocumented") / "source")


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[DagsterInstance]:
    (tmp_path / "dagster").mkdir()
    with DagsterInstance.local_temp(str(tmp_path / "dagster"), {"telemetry": {"enabled": False}}) as made:
        made.add_dynamic_partitions("index_label", list(LABELS))
        yield made


@dataclass(frozen=True)
class Spread:
    """A home, the server that is asked, and the instance that runs are in."""

    folder: Path
    source: Repository
    server: ModelServer
    instance: DagsterInstance

    def configured(self, **llm: Any) -> ExecutionSettings:
        """For this process, and for those of the steps, which read the file."""
        values = {"executor": "multiprocess", "fan_out": 2, "max_concurrent": 2}
        model = asking(self.server, **llm).model_dump(mode="json")
        told = {"home": "home", "workers": 1, "execution": values, "llm": model}
        (self.folder / "rag_assets.yaml").write_text(yaml.safe_dump(told), encoding="utf-8")
        return ExecutionSettings.model_validate(values)

    def build(self, name: str = "shop", home: str = "home") -> IndexBuild:
        return with_segments(self.source, self.folder / home, asking(self.server), name)

    def alone(self) -> dict[str, bytes]:
        """The tables of one process."""
        build = self.build(home="alone")
        describe_files(build, Silent())
        self.server.asked.clear()
        return tables(build)

    def elsewhere(self) -> list[Any]:
        """The events of a run whose steps are executed by the configured executor."""
        result = execute_job(
            reconstructable(spread_index_job),
            instance=self.instance,
            asset_selection=[AssetKey("descriptions")],
            tags={"dagster/partition": "shop@main"},
            raise_on_error=False,
        )
        assert result.success, [event.message for event in result.all_events if event.is_failure]
        return result.all_events

    def here(self, execution: ExecutionSettings, label: str = "shop@main") -> list[Any]:
        """The same, one step after the other in this process."""
        result = (
            pipeline_for(execution, refining=True)
            .resolve_job_def("index")
            .execute_in_process(
                instance=self.instance,
                partition_key=label,
                asset_selection=[AssetKey("descriptions")],
                raise_on_error=False,
            )
        )
        assert result.success, [event.message for event in result.all_events if event.is_failure]
        return result.all_events


@pytest.fixture
def spread(
    tmp_path: Path,
    source: Repository,
    server: ModelServer,
    instance: DagsterInstance,
    monkeypatch: pytest.MonkeyPatch,
) -> Spread:
    monkeypatch.chdir(tmp_path)
    return Spread(tmp_path, source, server, instance)


@pytest.mark.rule("A17")
def test_two_processes_share_the_calls_and_the_tables_are_the_same(spread: Spread) -> None:
    expected, build = spread.alone(), spread.build()
    spread.configured()
    # Long enough for the second worker to start before the first has asked everything.
    spread.server.respond = lambda asked: Reply(of_that_class(asked).body, delay=0.02)
    events = spread.elsewhere()
    shared, told = groups(events), metadata(events)
    assert len({row["process"] for row in shared}) == 2
    assert sorted(int(row["llm_calls"]) for row in shared) == [QUESTIONS / 2] * 2
    assert len(spread.server.asked) == QUESTIONS == told["llm_calls"]
    assert (told["llm_prompt_tokens"], told["llm_completion_tokens"]) == (100 * QUESTIONS, 20 * QUESTIONS)
    assert told["llm_cost"] == pytest.approx((100 * 1.0 + 20 * 2.0) * QUESTIONS / 1_000_000)
    assert (told["llm_cached"], told["llm_failures"]) == (0, 0)
    assert tables(build) == expected, "and nobody can tell from the result"
    assert not exchange_folder(build.home, "shop@main", "descriptions", build.spec.generation_id).exists()


@pytest.mark.rule("A17")
def test_the_budget_is_of_the_run(spread: Spread) -> None:
    spread.build()
    events = spread.here(spread.configured(max_calls=50))
    assert len(spread.server.asked) == 50 == metadata(events)["llm_calls"]
    assert [row["llm_calls"] for row in groups(events)] == ["25", "25"]


def test_the_second_run_asks_nothing(spread: Spread) -> None:
    spread.build()
    spread.build("more")
    execution = spread.configured()
    spread.here(execution)
    again = metadata(spread.here(execution))
    assert again["unchanged"] is True and again["llm_calls"] == 0 and "groups" not in again
    other = metadata(spread.here(execution, "more@main"))
    assert (other["llm_calls"], other["llm_cached"]) == (0, QUESTIONS), "another label asks the same questions"
    assert len(spread.server.asked) == QUESTIONS


def test_a_group_that_fails_is_asked_by_the_last_step(spread: Spread, monkeypatch: pytest.MonkeyPatch) -> None:
    from rag_assets.defs import shared_descriptions

    real, last = shared_descriptions.refine_group, f"part-{QUESTIONS // 2:06d}-{QUESTIONS - 1:06d}"

    def breaks_once(folder: Path, name: str, llm: Any) -> Any:
        if name == last:
            raise KeyError("a defect")
        return real(folder, name, llm)

    monkeypatch.setattr(shared_descriptions, "refine_group", breaks_once)
    expected, build = spread.alone(), spread.build()
    told = metadata(spread.here(spread.configured()))
    assert f"{last}: KeyError: 'a defect'" in told["problems"]
    assert told["llm_calls"] == QUESTIONS == len(spread.server.asked) and tables(build) == expected


def test_fan_out_questions_is_the_least_of_a_part(spread: Spread) -> None:
    spread.build()
    execution = spread.configured().model_copy(update={"fan_out_questions": QUESTIONS // 2 + 1})
    assert "groups" not in metadata(spread.here(execution)), "one part would only be a detour"


def test_without_a_model_nothing_is_planned(spread: Spread) -> None:
    build = spread.build()
    told = metadata(spread.here(spread.configured(provider="none")))
    assert "groups" not in told and "llm_calls" not in told and not spread.server.asked
    assert build.required("descriptions").counts["descriptions"] > 0
