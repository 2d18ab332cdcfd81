"""A logged turn is run again: the same comes of it, or it is said what is different."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from rag_assets.contracts.confidentiality import Confidentiality
from rag_assets.history.conversations import Conversations
from rag_assets.history.query_log import ERROR
from rag_assets.index.generations import generation_directory
from rag_assets.index.layout import IndexHome
from rag_assets.qa.definition.loader import PipelineLibrary
from rag_assets.qa.log.replay import Replayer, ReplayError
from rag_assets_tests.generation_history import copy_sparse
from rag_assets_tests.models.llm.model_server import Reply, failing
from rag_assets_tests.qa.conftest import Shop
from rag_assets_tests.qa.http_model import http_model
from rag_assets_tests.qa.log_tools import Logged
from rag_assets_tests.qa.test_history import LONG, keep
from rag_assets_tests.qa.test_logged import FAULTS, OFFLINE, SECRET

PUBLIC = Confidentiality.PUBLIC
MakeReplayer = Callable[..., Replayer]


@pytest.fixture
def replayer(shop_indexes: Shop, history: Conversations, tmp_path: Path) -> MakeReplayer:
    """Of the home of the shop, with the pipelines of the test."""

    def made(home: IndexHome = shop_indexes.home, clearance: Confidentiality = Confidentiality.INTERNAL) -> Replayer:
        library = PipelineLibrary([tmp_path / "pack"])
        return Replayer(home, library, clearance=clearance, history=history)

    return made


@pytest.mark.rule("E23")
@pytest.mark.parametrize("pipeline", [None, OFFLINE, "code_question_answering_assessed"])
def test_recorded_replies_give_the_same_answer_without_a_server(
    logged: Logged, replayer: MakeReplayer, good: str, pipeline: str | None
) -> None:
    logged.asking.script(answer=good, draft="Perhaps.", assess=["[Requesting data on:] weight of a parcel", good])
    asked = logged.ask(logged.asking.pipeline(pipeline) if pipeline else None)
    logged.asking.server.respond = lambda _: failing(500)
    before = len(logged.asking.server.asked)
    replay = replayer().replay(logged.only)
    assert replay.same and replay.lock == () and replay.diff == ()
    assert replay.now.answer == asked.answer and replay.now.way == replay.then.way
    assert len(logged.asking.server.asked) == before, "nobody was asked"


@pytest.mark.parametrize("fault", [FAULTS["server-error"], FAULTS["cut"]], ids=["server-error", "cut"])
def test_faults_are_replayed_as_well(logged: Logged, replayer: MakeReplayer, good: str, fault: Reply) -> None:
    logged.asking.script(router=fault, answer=fault)
    logged.ask()
    logged.asking.script(answer=good)
    assert replayer().replay(logged.only).same


def test_an_error_is_replayed(logged: Logged, replayer: MakeReplayer) -> None:
    logged.asking.script()
    pipeline = logged.asking.pipeline("snapshot_comparison")
    with pytest.raises(Exception, match="compare_index"):
        logged.ask(pipeline)
    replay = replayer().replay(logged.only)
    assert replay.same and replay.now.status == ERROR and "compare_index" in replay.now.error


def test_a_live_model_that_says_something_else_is_told_with_the_difference(
    logged: Logged, replayer: MakeReplayer, good: str
) -> None:
    logged.asking.script(answer=good)
    logged.ask()
    logged.asking.script(answer=f"{good}\nIt is paid `RefundOrder` at once [chunk: 00000000].")
    replay = replayer().replay(logged.only, http_model(logged.asking.server))
    assert not replay.same and replay.lock == ()
    assert any(line.startswith("+It is paid") for line in replay.diff)
    logged.asking.script(answer=good)
    assert replayer().replay(logged.only, http_model(logged.asking.server)).same


def test_the_history_is_that_of_then_and_stays_as_it_is(
    logged: Logged, replayer: MakeReplayer, history: Conversations, good: str
) -> None:
    keep(history, "first thing")
    logged.asking.script(answer=good)
    logged.ask(user="ann", session="s1")
    keep(history, "a later thing")
    replay = replayer().replay(logged.only)
    assert replay.same, replay.now.error
    assert history.load("ann", "s1").count == 3 and logged.count == 1


def test_a_summary_that_was_made_then_is_made_again(
    logged: Logged, replayer: MakeReplayer, history: Conversations, good: str
) -> None:
    keep(history, f"one {LONG}", f"two {LONG}", f"three {LONG}")
    logged.asking.script(history_summary="They talked about `RefundOrder`.", answer=good)
    pipeline = logged.asking.pipeline(max_history_tokens=200)
    first = logged.ask(pipeline, user="ann", session="s1")
    second = logged.ask(pipeline, user="ann", session="s1")
    saved = history.load("ann", "s1").summary
    for turn_id in (first.turn_id, second.turn_id):
        replay = replayer().replay(logged.record(turn_id))
        assert replay.same, replay.now.error
        assert replay.then.way == replay.now.way
    assert history.load("ann", "s1").summary == saved


def test_what_the_caller_said_instead_of_settings_is_said_again(
    logged: Logged, replayer: MakeReplayer, good: str
) -> None:
    logged.asking.script(answer=good)
    found = logged.asking.pipeline()
    logged.ask(replace(found, settings=msgspec.structs.replace(found.settings, retrieval_top_k=1)))
    replay = replayer().replay(logged.only)
    assert replay.same and replay.lock == ()


def test_a_changed_pipeline_is_told_with_what_differs(logged: Logged, replayer: MakeReplayer, good: str) -> None:
    logged.asking.script(answer=good)
    logged.ask(logged.asking.pipeline(retrieval_top_k=5))
    fewer = "  steps:\n    - {id: fetch, action: fetch_more_context, top_k: 1, on_ok: budget, on_other: no_answer}\n"
    logged.asking.pipeline(steps=fewer)
    replay = replayer().replay(logged.only)
    assert [change.partition(":")[0] for change in replay.lock] == ["pipeline"]
    assert not replay.same
    assert "no reply to this question of the prompt 'answer'" in replay.now.error
    assert "message 2 (user):" in replay.now.error


def test_the_build_that_answered_is_asked_and_not_the_served_one(
    logged: Logged, replayer: MakeReplayer, shop_indexes: Shop, good: str, tmp_path: Path
) -> None:
    """A copy of the home in which another commit is served by the label."""
    logged.asking.script(answer=good)
    logged.ask()
    home = IndexHome(tmp_path / "copy")
    shutil.copytree(shop_indexes.home.root, home.root, copy_function=copy_sparse)
    (home.label(shop_indexes.label) / "active.json").unlink()
    assert replayer(home).replay(logged.only).same


def test_a_build_that_is_gone_names_the_setting(
    logged: Logged, replayer: MakeReplayer, shop_indexes: Shop, good: str, tmp_path: Path
) -> None:
    logged.asking.script(answer=good)
    lock = logged.ask().lock
    home = IndexHome(tmp_path / "copy")
    shutil.copytree(shop_indexes.home.root, home.root, copy_function=copy_sparse)
    generation = lock.generations[shop_indexes.label]
    shutil.rmtree(generation_directory(home, shop_indexes.label, generation))
    with pytest.raises(ReplayError, match=rf"{generation} of {shop_indexes.label}.*retention\.keep.*generations tag"):
        replayer(home).replay(logged.only)


def test_nobody_replays_what_others_may_read(logged: Logged, replayer: MakeReplayer, good: str) -> None:
    logged.asking.script(answer=good)
    logged.ask()
    with pytest.raises(ReplayError, match=r"internal.*--role"):
        replayer(clearance=PUBLIC).replay(logged.only)


def test_without_kept_replies_a_model_is_needed(logged: Logged, replayer: MakeReplayer, good: str) -> None:
    logged.asking.script(answer=good)
    logged.options = {"keeps_replies": False}
    logged.ask(log=logged.through(lambda: logged.store))
    with pytest.raises(ReplayError, match=r"answer\.log_replies.*--live"):
        replayer().replay(logged.only)
    assert replayer().replay(logged.only, http_model(logged.asking.server)).same


def test_a_turn_that_ended_before_it_began_is_not_run_again(logged: Logged, replayer: MakeReplayer) -> None:
    with pytest.raises(Exception, match="which index"):
        logged.ask(label="")
    with pytest.raises(ReplayError, match=r"ended before it began.*which index"):
        replayer().replay(logged.only)


def test_a_masked_question_is_said(logged: Logged, replayer: MakeReplayer, good: str) -> None:
    logged.asking.script(answer=good)
    logged.ask(logged.asking.pipeline(OFFLINE), question=f"how are refunds paid back with {SECRET}")
    replay = replayer().replay(logged.only)
    assert "masked" in replay.warnings[0]
