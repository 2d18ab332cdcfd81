"""The query log of turns: one record for every question, whatever came of it, and never an answer lost for it."""

from __future__ import annotations

import re
import threading
from datetime import timedelta
from pathlib import Path

import pytest

from rag_assets.history.conversations import Conversations
from rag_assets.history.query_log import ERROR, LogFilter, open_query_log
from rag_assets.index.database import URL_VARIABLE
from rag_assets.index.layout import IndexHome
from rag_assets.qa.definition.action_registry import Action, ActionRegistry, StepOutcome
from rag_assets.qa.definition.loader import default_registry
from rag_assets.qa.errors import TurnError
from rag_assets.qa.log.query_log_record import read_replies
from rag_assets.qa.log.turn_logger import open_turn_log
from rag_assets.qa.turn import Status, TurnRequest
from rag_assets.settings.config_file import ConfigError
from rag_assets_tests.models.llm.model_server import Reply, completion, failing
from rag_assets_tests.qa.conftest import REFUND, Shop
from rag_assets_tests.qa.http_model import prompt_text
from rag_assets_tests.qa.log_tools import NOON, Logged, detail

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9" * 2  # the form of a token, and nobody's
OFFLINE = "code_question_answering_offline"
FAULTS = {
    "server-error": failing(500),
    "too-many": failing(429, Retry_After="1"),
    "invalid-json": Reply(b'{"choices": ['),
    "empty": completion(""),
    "cut": Reply(b'{"choices": [', headers={"Content-Length": "4000"}),
    "slow": Reply(b"{}", delay=9.0),
}


@pytest.mark.rule("E23")
def test_a_record_has_what_was_asked_and_all_it_took(logged: Logged, shop_indexes: Shop, good: str) -> None:
    logged.asking.script(answer=good)
    result = logged.ask(user="ann", agent="reviewer")
    found = logged.only
    assert found.turn_id == result.turn_id and len(found.turn_id) == 16
    assert (found.question, found.user_name, found.agent, found.session) == (REFUND, "ann", "reviewer", "")
    assert (found.label, found.pipeline, found.status) == (shop_indexes.label, "code_question_answering", "answered")
    assert found.asked_utc == "2026-01-02T12:30:00.000Z"
    assert (found.org, found.project) == ("local", "shop")
    assert found.models == ("cheap: cheap", "balanced: balanced")
    assert (found.calls, found.prompt_tokens, found.completion_tokens, found.cost) == (2, 200, 40, None)
    assert 0 < found.retrieval_seconds < found.seconds and 0 < found.generation_seconds < found.seconds
    assert found.cited_ids and set(found.cited_ids) < set(found.chunk_ids)
    assert found.error == ""


@pytest.mark.rule("E23")
def test_every_answer_is_traceable_to_commit_file_lines_section_and_run(
    logged: Logged, shop_indexes: Shop, good: str
) -> None:
    logged.asking.script(answer=good)
    result = logged.ask()
    told = detail(logged.only)
    (index,) = told.indexes
    assert (index.label, index.run_id) == (shop_indexes.label, "made-by-a-test")
    assert index.generation == result.lock.generations[index.label] and len(index.commit) == 40
    (cited,) = [piece for piece in told.pieces if piece.cites]
    assert cited.path == "src/Orders/OrderService.cs" and cited.section == "Shop.Orders.OrderService"
    assert cited.rendered == f"{cited.path}:{cited.line_start}-{cited.line_end}@{index.commit[:10]}"
    assert told.lock == result.lock and told.steps == result.records
    assert told.answer == result.answer


def test_a_turn_of_a_session_has_one_id(logged: Logged, history: Conversations, good: str) -> None:
    logged.asking.script(answer=good)
    result = logged.ask(session="s1", user="ann", request_id="r1")
    kept = history.find_request("ann", "s1", "r1")
    assert kept is not None and kept.turn_id == result.turn_id
    assert logged.only.turn_id == result.turn_id and logged.only.session == "s1"


def test_the_same_request_is_logged_once(logged: Logged, good: str) -> None:
    logged.asking.script(answer=good)
    first = logged.ask(session="s1", request_id="r")
    again = logged.ask(session="s1", request_id="r")
    assert again.repeated and again.turn_id == first.turn_id
    assert logged.count == 1


@pytest.mark.rule("E23")
@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
def test_a_model_that_fails_is_in_the_record(logged: Logged, fault: Reply) -> None:
    logged.asking.script(answer=fault)
    logged.ask()
    found = logged.only
    assert found.status == "answered", "with quotes"
    assert found.error.startswith("LLM.")
    assert "balanced: none" in found.models
    (errors,) = {reply.errors for reply in read_replies(found.replies) if reply.purpose == "answer"}
    assert errors and errors[0][0].startswith("LLM.")


@pytest.mark.rule("E23")
def test_a_turn_that_an_error_ends_is_logged_and_raised(logged: Logged) -> None:
    logged.asking.script()
    with pytest.raises(TurnError, match="compare_index"):
        logged.ask(logged.asking.pipeline("snapshot_comparison"))
    found = logged.only
    assert found.status == ERROR and "compare_index" in found.error
    last = detail(found).steps[-1]
    assert (last.step, last.outcome, last.target) == ("fetch_compared", "error", "")
    assert detail(found).steps[0].step == "translate_in", "what was done before is there"
    assert found.chunk_ids, "and what was found"


@pytest.mark.parametrize("error", [RuntimeError("a defect"), KeyboardInterrupt()], ids=["defect", "interrupted"])
def test_what_nobody_expects_is_logged_too(logged: Logged, error: BaseException, tmp_path: Path) -> None:
    def broken(*_: object) -> StepOutcome:
        raise error

    registry = ActionRegistry([default_registry()[name] for name in default_registry().names])
    registry.add(Action("broken", broken, 1))
    file = tmp_path / "broken.yaml"
    file.write_text(
        "pipeline:\n  name: broken\n  settings: {entry_step_id: a}\n  steps:\n"
        "    - {id: a, action: broken, next: b}\n    - {id: b, action: finalize}\n",
        encoding="utf-8",
    )
    from rag_assets.qa.definition.loader import PipelineLibrary

    pipeline = PipelineLibrary(registry=registry).load(file)
    request = TurnRequest(question=REFUND, label=logged.asking.label)
    with pytest.raises(type(error)):
        logged.log.run(pipeline, request, logged.asking.services, registry)
    assert logged.only.status == ERROR
    assert logged.only.error in ("a defect", "KeyboardInterrupt")


def test_a_question_without_an_index_is_logged(logged: Logged) -> None:
    with pytest.raises(TurnError, match="which index"):
        logged.ask(label="")
    assert (logged.only.status, logged.only.label, detail(logged.only).lock) == (ERROR, "", None)


def test_a_refusal_is_a_record_without_citations(logged: Logged) -> None:
    result = logged.ask(logged.asking.pipeline(OFFLINE), "Which kubernetes ingress is used?")
    assert result.status is Status.ABSTAINED
    assert logged.only.status == "abstained" and logged.only.cited_ids == () and logged.only.calls == 0


def test_secrets_of_a_question_are_masked_at_the_same_length(logged: Logged) -> None:
    logged.ask(logged.asking.pipeline(OFFLINE), question=f"Does {SECRET} refund an order?")
    found = logged.only
    assert SECRET not in repr(found)
    assert found.question == f"Does {'*' * len(SECRET)} refund an order?"
    assert detail(found).is_masked and detail(found).request["question"] == found.question


def test_secrets_of_replies_are_masked_at_the_same_length(logged: Logged, good: str) -> None:
    logged.asking.script(router=f"[HYBRID:] refund {SECRET}", answer=f"{good} Your token is {SECRET}.")
    logged.ask()
    found = logged.only
    assert SECRET not in repr(found)
    assert "*" * len(SECRET) in detail(found).answer
    assert "*" * len(SECRET) in read_replies(found.replies)[0].text


def test_replies_are_kept_or_not_as_the_setting_says(logged: Logged, good: str) -> None:
    logged.asking.script(answer=good)
    logged.options = {"keeps_replies": False}
    silent = logged.through(lambda: logged.store)
    assert logged.record(logged.ask(log=silent).turn_id).replies == ""
    kept = read_replies(logged.record(logged.ask().turn_id).replies)
    assert [reply.purpose for reply in kept] == ["router", "answer"]
    assert all(said.text == "" and said.chars for reply in kept for said in reply.messages), "prompts are not kept"


def test_old_records_go_when_a_new_one_comes(logged: Logged, good: str) -> None:
    logged.asking.script(answer=good)
    logged.options = {"days": 7}
    log = logged.through(lambda: logged.store)
    old = logged.ask(log=log)
    logged.clock = NOON + timedelta(days=7)
    logged.ask(log=log)
    assert logged.count == 2
    logged.clock = NOON + timedelta(days=7, seconds=1)
    logged.ask(log=log)
    assert logged.count == 2 and logged.store.find(old.turn_id) is None


def test_a_log_that_cannot_be_written_is_a_warning(logged: Logged, tmp_path: Path, good: str) -> None:
    logged.asking.script(answer=good)
    (tmp_path / "full").write_text("no folder")
    log = logged.through(lambda: open_query_log(IndexHome(tmp_path / "full")))
    result = logged.ask(log=log)
    assert result.status is Status.ANSWERED and result.turn_id
    assert result.response is not None
    warning = result.response.warnings[-1]
    assert "not in the log" in warning and "--home" in warning and str(tmp_path / "full") in warning


def test_an_error_keeps_its_own_words_when_the_log_fails_too(logged: Logged, tmp_path: Path) -> None:
    (tmp_path / "full").write_text("no folder")
    log = logged.through(lambda: open_query_log(IndexHome(tmp_path / "full")))
    with pytest.raises(TurnError, match="which index") as raised:
        logged.ask(label="", log=log)
    assert any("not in the log" in note for note in raised.value.__notes__)


def test_a_postgres_that_nobody_named_is_a_warning(
    logged: Logged, good: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv(URL_VARIABLE, raising=False)
    logged.asking.script(answer=good)
    log = logged.through(lambda: open_query_log(IndexHome(tmp_path), "postgres"))
    result = logged.ask(log=log)
    assert result.status is Status.ANSWERED and result.response is not None
    assert URL_VARIABLE in result.response.warnings[-1]


def test_deleting_a_session_or_a_user_deletes_their_records(logged: Logged, history: Conversations, good: str) -> None:
    logged.asking.script(answer=good)
    for user, session in (("ann", "s1"), ("ann", "s2"), ("ann", ""), ("bob", "s1")):
        logged.ask(user=user, session=session)
    history.delete_session("ann", "s1")
    assert logged.count == 3
    history.delete_user("ann")
    assert logged.only.user_name == "bob"


@pytest.mark.parametrize(
    ("written", "days", "replies"),
    [("", 90, True), ("answer: {log_days: 7, log_replies: false}", 7, False), ("stores: {catalog: sqlite}", 90, True)],
    ids=["default", "own", "stores-only"],
)
def test_settings_of_the_log_are_read(tmp_path: Path, written: str, days: int, replies: bool) -> None:
    config = tmp_path / "rag_assets.yaml"
    config.write_text(written, encoding="utf-8")
    log = open_turn_log(IndexHome(tmp_path), config)
    assert log is not None
    assert (log.days, log.keeps_replies) == (days, replies)


def test_without_a_log_nothing_is_kept(tmp_path: Path, logged: Logged, good: str) -> None:
    config = tmp_path / "rag_assets.yaml"
    config.write_text("answer: {log: false}", encoding="utf-8")
    assert open_turn_log(IndexHome(tmp_path), config) is None
    config.write_text("answer: {log: perhaps}", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"answer\.log"):
        open_turn_log(IndexHome(tmp_path), config)


def test_turns_at_the_same_time_have_records_of_their_own(logged: Logged, good: str) -> None:
    """Router and answer say the number of the question: a record with the replies of another turn would have two."""
    logged.asking.script(
        router=lambda asked: f"[BM25:] refund order {numbers(prompt_text(asked))[0]}",
        answer=lambda asked: f"{good} {numbers(prompt_text(asked))[0]}",
    )

    pipeline = logged.asking.pipeline(weak_below=0)

    def ask(number: int) -> None:
        for at in range(3):
            logged.ask(pipeline, question=f"{REFUND} ({number}{at})", session=f"s{number}")

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    records = [logged.record(one.turn_id) for one in logged.store.asked(LogFilter())]
    assert len(records) == 18
    for record in records:
        (own,) = set(numbers(record.question))
        replies = read_replies(record.replies)
        assert len(replies) == 2
        assert {number for reply in replies for number in numbers(reply.text)} == {own}
        assert own in numbers(detail(record).answer)


def numbers(text: str) -> list[str]:
    """The last question's first: earlier turns are above it in a prompt."""
    return re.findall(r"\(\d\d\)", text)[::-1]
