"""A language model asked by the workers of a Dask cluster: same tables, one budget, nothing paid for twice."""

from __future__ import annotations

import os
import signal
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from distributed import Client, LocalCluster
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.contracts.llm import LlmUsage, StructuredPrompt
from rag_assets.pipeline.build import IndexBuild, StageReport
from rag_assets.pipeline.descriptions import describe_files
from rag_assets.pipeline.progress import Silent
from rag_assets.pipeline.refinement import QUESTIONS_OF_A_TASK, Questions, ask, refine_and_describe, shares
from rag_assets.pipeline.workers.worker_pool import rest_workers
from rag_assets.settings import ExecutionSettings
from rag_assets_tests.git_repository import Repository
from rag_assets_tests.models.llm.model_server import Asked, ModelServer, Reply, failing
from rag_assets_tests.pipeline.dask_clusters import copied_workers, local_cluster, on
from rag_assets_tests.pipeline.undocumented import (
    QUESTIONS,
    asked_about,
    asking,
    of_that_class,
    tables,
    undocumented,
    with_segments,
)

__all__ = ["copied_workers"]  # fixtures are found by their names


@dataclass(frozen=True)
class Shop:
    """The repository, a folder for homes to build it in, the server that is asked, and the cluster."""

    source: Repository
    folder: Path
    server: ModelServer
    cluster: LocalCluster

    def build(self, home: str = "home", **options: object) -> IndexBuild:
        return with_segments(self.source, self.folder / home, asking(self.server, **options), on(self.cluster))

    def alone(self, **options: object) -> tuple[IndexBuild, StageReport]:
        """What one process makes; the server is asked for nothing else so far."""
        llm = asking(self.server, **options)
        build = with_segments(self.source, self.folder / "alone", llm, ExecutionSettings())
        report = describe_files(build, Silent())
        self.server.asked.clear()
        return build, report


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    return undocumented(tmp_path_factory.mktemp("undocumented") / "source")


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    with local_cluster(2) as made:
        yield made


@pytest.fixture
def shop(source: Repository, tmp_path: Path, cluster: LocalCluster) -> Iterator[Shop]:
    with ModelServer() as server:
        server.respond = of_that_class
        yield Shop(source, tmp_path, server, cluster)
    rest_workers()


def workers(report: StageReport) -> list[dict[str, Any]]:
    return report.tables["workers"]


@given(st.integers(0, 10_000), st.integers(1, 512))
def test_shares_differ_by_one_at_most_and_sum_to_the_budget(calls: int, groups: int) -> None:
    found = shares(calls, groups)
    assert len(found) == groups and sum(found) == calls and max(found) - min(found) <= 1


@pytest.mark.rule("A17")
def test_the_tables_and_the_price_are_those_of_one_process(shop: Shop) -> None:
    alone, expected = shop.alone()
    build = shop.build()
    shop.server.respond = lambda asked: Reply(of_that_class(asked).body, delay=0.02)
    report = refine_and_describe(build, Silent())
    assert tables(build) == tables(alone), "and nobody can tell from the result"
    assert Counter(map(asked_about, shop.server.asked)) == Counter({f"Bill{n}": 1 for n in range(QUESTIONS)})
    timed = {"llm_seconds", "llm_cost"}
    assert {k: v for k, v in report.work.items() if k not in timed} == {
        k: v for k, v in expected.work.items() if k not in timed
    }
    assert report.work["llm_cost"] == pytest.approx(expected.work["llm_cost"])
    assert report.work["llm_seconds"] > 0
    assert report.tables["refinement"] == expected.tables["refinement"]
    assert report.problems == expected.problems
    assert len(workers(report)) == 2 and os.getpid() not in {row["process"] for row in workers(report)}
    assert sum(row["calls"] for row in workers(report)) == QUESTIONS


def test_a_second_build_asks_nothing(shop: Shop) -> None:
    build = shop.build()
    refine_and_describe(build, Silent())
    again = refine_and_describe(build, Silent())
    assert again.unchanged and again.work["llm_calls"] == 0 and "workers" not in again.tables
    build.record_path("descriptions").unlink()
    report = refine_and_describe(build, Silent())
    assert len(shop.server.asked) == QUESTIONS
    assert (report.work["llm_calls"], report.work["llm_cached"]) == (0, QUESTIONS)


@pytest.mark.rule("A17")
@pytest.mark.parametrize("calls", [21, 50, QUESTIONS - 1], ids=["of-one-bucket", "a-few", "one-too-few"])
def test_the_budget_is_of_all_workers_and_buys_what_it_buys_one_process(shop: Shop, calls: int) -> None:
    alone, _ = shop.alone(max_calls=calls, max_concurrency=1)
    build = shop.build(max_calls=calls, max_concurrency=1)
    report = refine_and_describe(build, Silent())
    assert len(shop.server.asked) == calls == report.work["llm_calls"]
    assert sum(row["calls"] for row in workers(report)) == calls
    assert tables(build) == tables(alone)
    assert report.work["llm_failures"] == QUESTIONS - calls, "what is left for a later build"


@pytest.mark.rule("A17")
def test_retries_are_paid_from_the_budget(shop: Shop) -> None:
    tried: set[str] = set()

    def fails_once(asked: Asked) -> Reply:
        new = asked_about(asked) not in tried
        tried.add(asked_about(asked))
        return failing(503, retry_after="0") if new else of_that_class(asked)

    shop.server.respond = fails_once
    report = refine_and_describe(shop.build(max_calls=60), Silent())
    assert len(shop.server.asked) == 60 == report.work["llm_calls"]


@pytest.mark.rule("A17")
def test_workers_stop_asking_a_server_that_refuses(shop: Shop) -> None:
    shop.server.script(failing(401))
    report = refine_and_describe(shop.build(max_concurrency=1), Silent())
    assert len(shop.server.asked) == 2, "one worker, and the ordinary stage, found out for themselves"
    (said,) = [problem for problem in report.problems if "questions without an answer" in problem]
    assert said.startswith("Dask worker ") and "LLM.stopped" in said
    assert report.work["llm_failures"] == QUESTIONS


def test_what_a_worker_was_not_told_is_asked_again(shop: Shop) -> None:
    refused = range(0, QUESTIONS, 20)
    shop.server.respond = lambda asked: Reply(b"{}") if asked.number in refused else of_that_class(asked)
    report = refine_and_describe(shop.build(), Silent())
    assert report.work["llm_calls"] == len(shop.server.asked) == QUESTIONS + len(refused)
    assert report.tables["refinement"] == [{"outcome": "refined", "symbols": QUESTIONS}]


@pytest.mark.parametrize("limit", [1, 2, 5], ids=["fewer-than-workers", "one-each", "two-each"])
def test_all_workers_share_the_requests_in_flight(shop: Shop, limit: int) -> None:
    shop.server.respond = lambda asked: Reply(of_that_class(asked).body, delay=0.01)
    refine_and_describe(shop.build(max_concurrency=limit, max_calls=60), Silent())
    assert shop.server.peak <= limit


def test_few_questions_are_asked_by_one_process(shop: Shop) -> None:
    report = refine_and_describe(shop.build(max_calls=QUESTIONS_OF_A_TASK), Silent())
    assert "workers" not in report.tables and len(shop.server.asked) == QUESTIONS_OF_A_TASK


def test_without_a_model_nobody_is_asked(shop: Shop) -> None:
    report = refine_and_describe(shop.build(provider="none"), Silent())
    assert not shop.server.asked and "workers" not in report.tables and "llm_calls" not in report.work


@pytest.mark.skipif(os.name == "nt", reason="a signal that cannot be caught")
@pytest.mark.rule("A17")
def test_a_worker_that_is_killed_loses_little_and_its_calls_are_counted(shop: Shop) -> None:
    alone, _ = shop.alone()
    with Client(shop.cluster, set_as_default=False) as client:
        victim = next(iter(client.run(os.getpid).values()))
    killed = threading.Event()

    def kills(asked: Asked) -> Reply:
        if asked.number >= QUESTIONS_OF_A_TASK and not killed.is_set():
            killed.set()
            os.kill(victim, signal.SIGKILL)
        return Reply(of_that_class(asked).body, delay=0.02)

    shop.server.respond = kills
    build = shop.build(max_calls=QUESTIONS)
    report = refine_and_describe(build, Silent())
    assert killed.is_set()
    assert len(shop.server.asked) <= QUESTIONS, "the budget, whoever died"
    assert any("questions: a worker was cut off" in problem for problem in report.problems)
    left = QUESTIONS - Counter(dict.fromkeys(map(asked_about, shop.server.asked), 1)).total()
    assert left <= QUESTIONS_OF_A_TASK
    build.record_path("descriptions").unlink()
    refine_and_describe(build, Silent())
    assert tables(build) == tables(alone), "a later build asks what is left"


def test_a_task_that_somebody_has_begun_asks_nothing(shop: Shop) -> None:
    prompts = [StructuredPrompt("Say what it does.", f"number {number}") for number in range(3)]
    questions = Questions(shop.folder / "begun", 7, 1, prompts)
    questions.begun.touch()
    found = ask(questions, asking(shop.server))
    assert (found.usage, found.answers) == (LlmUsage(calls=7), {})
    assert not shop.server.asked


def test_a_worker_whose_build_is_gone_asks_nothing(shop: Shop) -> None:
    questions = Questions(shop.folder / "gone" / "begun", 7, 1, [StructuredPrompt("Say what it does.", "it")])
    with pytest.raises(FileNotFoundError):
        ask(questions, asking(shop.server))
    assert not shop.server.asked


@pytest.mark.skipif(os.name == "nt", reason="a signal to this process")
def test_a_build_that_is_interrupted_keeps_what_it_paid_for(shop: Shop) -> None:
    def interrupts(asked: Asked) -> Reply:
        if asked.number == 4 * QUESTIONS_OF_A_TASK:
            os.kill(os.getpid(), signal.SIGINT)
        return of_that_class(asked)

    shop.server.respond = interrupts
    build = shop.build()
    with pytest.raises(KeyboardInterrupt):
        refine_and_describe(build, Silent())
    shop.server.respond = of_that_class
    refine_and_describe(build, Silent())
    asked = Counter(map(asked_about, shop.server.asked))
    assert len(asked) == QUESTIONS
    assert sum(asked.values()) <= QUESTIONS + 3 * QUESTIONS_OF_A_TASK, "again only what was under way"
