"""The language model's share of a build, shared out: same tables, one budget, nothing paid for twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.stages.build import IndexBuild, StageReport
from rag_assets.stages.descriptions import describe_files
from rag_assets.stages.fan_out.exchange import Group, exchange_folder, forget_exchange, leave_group, work_of
from rag_assets.stages.fan_out.refinement import (
    ANSWERS_OF_A_FILE,
    Questions,
    describe_gathered,
    plan_groups,
    refine_group,
    shares,
)
from rag_assets.stages.progress import Silent
from rag_assets_tests.llm.model_server import Asked, Reply, failing
from rag_assets_tests.stages.fan_out.conftest import (
    QUESTIONS,
    Shop,
    asked_about,
    of_that_class,
    tables,
)


def folder_of(build: IndexBuild) -> Path:
    return exchange_folder(build.home, build.spec.index_label, "descriptions", build.spec.generation_id)


def planned(build: IndexBuild) -> list[Group]:
    return plan_groups(build, most=2, least=10, concurrent=2)


def shared_out(build: IndexBuild) -> StageReport:
    """The stage by two groups, one after the other, and the step that gathers."""
    for group in planned(build):
        refine_group(folder_of(build), group.name, build.settings.llm)
    return describe_gathered(build, Silent())


def questions_of(build: IndexBuild, group: Group) -> Questions:
    path = folder_of(build) / f"{group.name}.questions.json"
    return msgspec.json.decode(path.read_bytes(), type=Questions)


@given(st.integers(0, 10_000), st.integers(1, 512))
def test_shares_differ_by_one_at_most_and_sum_to_the_budget(calls: int, groups: int) -> None:
    found = shares(calls, groups)
    assert len(found) == groups and sum(found) == calls and max(found) - min(found) <= 1


def test_the_tables_and_the_price_are_those_of_one_process(shop: Shop) -> None:
    alone = shop.build("alone")
    expected = describe_files(alone, Silent())
    assert len(shop.server.asked) == QUESTIONS
    build = shop.build()
    report = shared_out(build)
    assert tables(build) == tables(alone)
    assert Counter(map(asked_about, shop.server.asked)) == Counter({f"Bill{n}": 2 for n in range(QUESTIONS)})
    timed = {"llm_seconds", "llm_cost"}
    assert {k: v for k, v in report.work.items() if k not in timed} == {
        k: v for k, v in expected.work.items() if k not in timed
    }
    assert report.work["llm_cost"] == pytest.approx(expected.work["llm_cost"])
    assert report.work["llm_seconds"] > 0
    assert report.tables["refinement"] == expected.tables["refinement"]
    assert [row["llm_calls"] for row in report.tables["groups"]] == [row["texts"] for row in report.tables["groups"]]
    assert report.problems == expected.problems
    assert not folder_of(build).exists()


def test_a_second_build_asks_nothing(shop: Shop) -> None:
    build = shop.build()
    shared_out(build)
    build.record_path("descriptions").unlink()
    assert planned(build) == [], "all is known"
    report = describe_gathered(build, Silent())
    assert len(shop.server.asked) == QUESTIONS
    assert (report.work["llm_calls"], report.work["llm_cached"]) == (0, QUESTIONS)
    assert planned(build) == [], "it is finished"


@pytest.mark.rule("A17")
@pytest.mark.parametrize("calls", [21, 50, QUESTIONS - 1], ids=["of-one-bucket", "a-few", "one-too-few"])
def test_the_budget_is_of_all_groups_and_buys_what_it_buys_one_process(shop: Shop, calls: int) -> None:
    alone = shop.build("alone", max_calls=calls, max_concurrency=1)
    describe_files(alone, Silent())
    before = len(shop.server.asked)
    build = shop.build(max_calls=calls, max_concurrency=1)
    report = shared_out(build)
    assert [row["texts"] for row in report.tables["groups"]] == shares(calls, 2)
    assert len(shop.server.asked) - before == calls == report.work["llm_calls"]
    assert tables(build) == tables(alone)
    assert report.work["llm_failures"] == QUESTIONS - calls, "what is left for a later build"


@pytest.mark.rule("A17")
def test_retries_are_paid_from_the_budget_of_all(shop: Shop) -> None:
    tried: set[str] = set()

    def fails_once(asked: Asked) -> Reply:
        new = asked_about(asked) not in tried
        tried.add(asked_about(asked))
        return failing(503) if new else of_that_class(asked)

    shop.server.respond = fails_once
    report = shared_out(shop.build(max_calls=60))
    assert [row["llm_calls"] for row in report.tables["groups"]] == [30, 30]
    assert len(shop.server.asked) == 60 == report.work["llm_calls"]


@pytest.mark.rule("A17")
def test_a_group_stops_asking_a_server_that_refuses(shop: Shop) -> None:
    shop.server.script(failing(401))
    build = shop.build(max_concurrency=1)
    report = shared_out(build)
    assert len(shop.server.asked) == 3, "each group, and the step that gathers, found out for itself"
    said = [problem for problem in report.problems if "questions without an answer" in problem]
    assert len(said) == 2 and all("LLM.stopped" in problem for problem in said)
    assert report.work["llm_failures"] == QUESTIONS


def test_what_a_group_was_not_told_is_asked_again(shop: Shop) -> None:
    shop.server.respond = lambda asked: of_that_class(asked) if asked.number % 20 else Reply(b"{}")
    build = shop.build()
    groups = planned(build)
    works = [refine_group(folder_of(build), group.name, build.settings.llm) for group in groups]
    shop.server.respond = of_that_class
    report = describe_gathered(build, Silent())
    assert sum(work.texts for work in works) == QUESTIONS * 19 / 20
    assert report.work["llm_calls"] == len(shop.server.asked) == QUESTIONS + QUESTIONS / 20
    assert report.tables["refinement"] == [{"outcome": "refined", "symbols": QUESTIONS}]


def test_a_group_that_nobody_worked_on_is_asked_by_the_last_step(shop: Shop) -> None:
    alone = shop.build("alone")
    describe_files(alone, Silent())
    build = shop.build()
    first, second = planned(build)
    refine_group(folder_of(build), first.name, build.settings.llm)
    leave_group(folder_of(build), second.name, "MemoryError: no")
    report = describe_gathered(build, Silent())
    assert f"{second.name}: MemoryError: no" in report.problems
    assert report.work["llm_calls"] == QUESTIONS and tables(build) == tables(alone)


@pytest.mark.skipif(os.name == "nt", reason="a signal that cannot be caught")
def test_a_worker_that_is_killed_loses_little_and_its_calls_are_counted(shop: Shop) -> None:
    shop.server.respond = lambda asked: Reply(of_that_class(asked).body, delay=0.02)
    build = shop.build(max_calls=QUESTIONS)
    first, second = planned(build)
    script = (
        "import sys, pathlib, msgspec; from rag_assets.stages.fan_out.refinement import refine_group;"
        "from rag_assets.settings import LlmSettings;"
        "refine_group(pathlib.Path(sys.argv[1]), sys.argv[2], LlmSettings.model_validate_json(sys.argv[3]))"
    )
    arguments = [str(folder_of(build)), first.name, build.settings.llm.model_dump_json()]
    with subprocess.Popen([sys.executable, "-c", script, *arguments]) as worker:
        while not list(folder_of(build).glob("*.answers.msgpack")) and worker.poll() is None:
            pass
        worker.send_signal(signal.SIGKILL)
    noted = (folder_of(build) / f"{first.name}.calls").stat().st_size
    assert len(shop.server.asked) <= noted < first.texts, "also those that were on their way"
    shop.server.respond = of_that_class
    again = refine_group(folder_of(build), first.name, build.settings.llm)
    assert again.found >= ANSWERS_OF_A_FILE and again.texts + noted <= questions_of(build, first).calls
    refine_group(folder_of(build), second.name, build.settings.llm)
    report = describe_gathered(build, Silent())
    assert len(shop.server.asked) <= QUESTIONS == report.work["llm_calls"], "what was lost in flight is not paid again"
    assert any(problem == f"{first.name}: was cut off" for problem in report.problems)


def test_an_attempt_is_known_before_its_first_question(shop: Shop) -> None:
    build = shop.build()
    first, _ = planned(build)
    met: list[str] = []

    def looks(asked: Asked) -> Reply:
        met.extend(work.error for work in work_of(folder_of(build), first.name))
        return of_that_class(asked)

    shop.server.respond = looks
    assert refine_group(folder_of(build), first.name, build.settings.llm).error == ""
    assert met[0] == "was cut off", "until it says otherwise"


def test_a_new_plan_takes_what_a_dead_run_has_paid_for(shop: Shop) -> None:
    build = shop.build()
    first, second = planned(build)
    refine_group(folder_of(build), first.name, build.settings.llm)
    rest = planned(build)
    assert sum(group.texts for group in rest) == second.texts
    for group in rest:
        refine_group(folder_of(build), group.name, build.settings.llm)
    assert describe_gathered(build, Silent()).work["llm_calls"] == second.texts
    assert len(shop.server.asked) == QUESTIONS


@pytest.mark.parametrize("size", [0, 100], ids=["empty", "cut"])
def test_a_damaged_file_costs_its_answers_and_nothing_else(shop: Shop, size: int) -> None:
    alone = shop.build("alone")
    describe_files(alone, Silent())
    build = shop.build()
    for group in planned(build):
        refine_group(folder_of(build), group.name, build.settings.llm)
    path = sorted(folder_of(build).glob("*.answers.msgpack"))[0]
    path.write_bytes(path.read_bytes()[:size])
    asked = len(shop.server.asked)
    describe_gathered(build, Silent())
    assert 0 < len(shop.server.asked) - asked <= ANSWERS_OF_A_FILE + build.settings.llm.max_concurrency
    assert tables(build) == tables(alone)


def test_a_worker_whose_build_is_gone_asks_nothing(shop: Shop) -> None:
    build = shop.build()
    first, _ = planned(build)
    forget_exchange(build, "descriptions")
    with pytest.raises(FileNotFoundError):
        refine_group(folder_of(build), first.name, build.settings.llm)
    assert not shop.server.asked


@pytest.mark.parametrize(
    ("limit", "concurrent", "each"),
    [(4, 2, 2), (5, 2, 2), (4, 0, 2), (4, 1, 4), (1, 2, 1), (8, 16, 4)],
    ids=["half", "rounded-down", "no-limit-of-steps", "one-at-a-time", "at-least-one", "more-steps-than-groups"],
)
def test_groups_that_run_at_a_time_share_the_requests_in_flight(
    shop: Shop, limit: int, concurrent: int, each: int
) -> None:
    build = shop.build(max_concurrency=limit)
    groups = plan_groups(build, most=2, least=10, concurrent=concurrent)
    assert [questions_of(build, group).at_a_time for group in groups] == [each, each]
    refine_group(folder_of(build), groups[0].name, build.settings.llm)
    assert shop.server.peak <= each


@pytest.mark.parametrize(
    ("least", "calls", "groups"),
    [(100, 1_000, 2), (101, 1_000, 0), (10, 19, 0), (10, 20, 2)],
    ids=["enough", "too-few-questions", "too-few-calls", "enough-calls"],
)
def test_few_questions_are_not_shared_out(shop: Shop, least: int, calls: int, groups: int) -> None:
    found = plan_groups(shop.build(max_calls=calls), most=2, least=least, concurrent=2)
    assert len(found) == groups
