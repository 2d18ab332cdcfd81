"""What of a conversation the model gets to read: all of it, or a rolling summary and the turns since (D05–D08, D26)."""

from __future__ import annotations

import msgspec
import pytest

from rag_assets.history.conversations import Conversations, NewTurn
from rag_assets.models.openai_compat.token_counting import estimate_tokens
from rag_assets.qa.turn import Status
from rag_assets_tests.models.llm.model_server import Asked, failing
from rag_assets_tests.qa.conftest import Asking, notes_of
from rag_assets_tests.qa.http_model import prompt_text

USER, SESSION = "ann", "s1"
LONG = "refunds are discussed at length " * 20


def keep(history: Conversations, *questions: str, answer: str = "yes", session: str = SESSION) -> None:
    for question in questions:
        history.append(
            USER,
            session,
            NewTurn(
                question=question, question_en=question, answer=answer, answer_en=answer, status="answered", label="l"
            ),
        )


def follow(asking: Asking, **settings: object):  # type: ignore[no-untyped-def]
    return asking.ask(asking.pipeline(**settings) if settings else None, user=USER, session=SESSION)


@pytest.mark.rule("D05", "D08")
def test_past_turns_are_read_in_their_order(asking: Asking, history: Conversations, good: str) -> None:
    keep(history, "first thing", "second thing")
    script = asking.script(answer=good)
    follow(asking)
    for purpose in ("router", "answer"):
        read = prompt_text(script.asked(purpose)[0])
        assert read.index("User: first thing") < read.index("User: second thing") < read.index("How are refunds")
    assert script.asked("history_summary") == []


@pytest.mark.rule("D06", "D07")
def test_over_the_budget_a_summary_for_this_question_takes_their_place(
    asking: Asking, history: Conversations, good: str
) -> None:
    keep(history, f"one {LONG}", f"two {LONG}", f"three {LONG}")
    script = asking.script(history_summary="They talked about `RefundOrder`.", answer=good)
    result = follow(asking, max_history_tokens=200)
    asked = prompt_text(script.asked("history_summary")[0])
    assert "How are refunds of an order paid back?" in asked, "conditioned on the question"
    assert "one refunds" in asked and "three refunds" in asked
    read = prompt_text(script.asked("answer")[0])
    assert "They talked about `RefundOrder`." in read and "at length" not in read
    past = history.load(USER, SESSION)
    assert past.summary is not None and (past.summary.version, past.summary.through) == (1, 3)
    assert [turn.position for turn in past.turns] == [4]
    assert result.turn is not None and result.turn.history.summary_version == 1


@pytest.mark.rule("D07", "D26")
def test_the_summary_rolls(asking: Asking, history: Conversations, good: str) -> None:
    """Later turns get the summary and what came after it; over the budget again, both become the next version."""
    keep(history, f"one {LONG}", f"two {LONG}")
    script = asking.script(history_summary=["Summary number one.", "Summary number two."], answer=good)
    follow(asking, max_history_tokens=120)
    keep(history, "short question")
    follow(asking, max_history_tokens=120)
    read = prompt_text(script.asked("answer")[1])
    assert "Summary number one." in read and "User: short question" in read and "at length" not in read
    assert len(script.asked("history_summary")) == 1
    stored = history.load(USER, SESSION).turns[-1]
    assert stored.position == 5
    keep(history, f"six {LONG}")
    follow(asking, max_history_tokens=120)
    again = prompt_text(script.asked("history_summary")[1])
    assert "Summary number one." in again and "six refunds" in again and "two refunds" not in again
    past = history.load(USER, SESSION)
    assert past.summary is not None and (past.summary.version, past.summary.through) == (2, 6)
    assert "Summary number two." in prompt_text(script.asked("answer")[2])


@pytest.mark.rule("D06")
def test_a_summary_that_is_too_long_is_cut(asking: Asking, history: Conversations, good: str) -> None:
    keep(history, f"one {LONG}", f"two {LONG}")
    asking.script(history_summary=f"Told {LONG * 20}", answer=good)
    result = follow(asking, max_history_tokens=100)
    assert result.turn is not None
    assert 50 < estimate_tokens([result.turn.history.text])[0] <= 100


@pytest.mark.rule("D03", "D02")
def test_the_policy_of_the_history_is_a_setting(asking: Asking, history: Conversations, good: str) -> None:
    keep(history, f"one {LONG}", "the newest one")
    script = asking.script(answer=good)
    follow(asking, max_history_tokens=100, history_summarization_policy="newest_turns")
    read = prompt_text(script.asked("answer")[0])
    assert "the newest one" in read and "at length" not in read
    assert script.asked("history_summary") == [] and history.load(USER, SESSION).summary is None


def test_without_a_summary_the_newest_turns_are_read(asking: Asking, history: Conversations, good: str) -> None:
    keep(history, f"one {LONG}", "the newest one")
    asking.script(history_summary=failing(500), answer=good)
    result = follow(asking, max_history_tokens=100)
    assert result.turn is not None and "the newest one" in result.turn.history.text
    assert any("history not summarised" in note for note in notes_of(result))
    assert history.load(USER, SESSION).summary is None


@pytest.mark.rule("D26")
def test_a_turn_is_kept_with_everything_that_decided_it(asking: Asking, history: Conversations, good: str) -> None:
    asking.script(translate_in="How are refunds paid back?", translate_out=lambda asked: german(asked), answer=good)
    asked = {"question": "Wie wird erstattet?", "is_english": False, "request_id": "r1"}
    result = asking.ask(**asked, user=USER, session=SESSION)
    stored = history.find_request(USER, SESSION, "r1")
    assert stored is not None and stored.turn_id == result.turn_id
    assert (stored.question, stored.question_en) == ("Wie wird erstattet?", "How are refunds paid back?")
    assert stored.answer_en == good.removeprefix("[Answer:] ")
    assert stored.answer == result.answer and stored.answer.startswith("Deutsch:")
    assert (stored.status, stored.label, stored.new_turns) == ("answered", asking.label, 1)
    assert msgspec.json.decode(stored.lock)["name"] == "code_question_answering"
    assert [record["step"] for record in msgspec.json.decode(stored.trace)][:3] == ["translate_in", "history", "look"]


def german(asked: Asked) -> str:
    return "Deutsch: " + prompt_text(asked).rpartition("The answer to translate:")[2].split("\n")[2]


def test_the_same_request_is_answered_once(asking: Asking, history: Conversations, good: str) -> None:
    script = asking.script(answer=good)
    first = asking.ask(user=USER, session=SESSION, request_id="r1")
    again = asking.ask(user=USER, session=SESSION, request_id="r1")
    assert (again.repeated, again.turn_id, again.answer) == (True, first.turn_id, first.answer)
    assert again.lock == first.lock and again.status is Status.ANSWERED
    assert script.purposes == ["router", "answer"]
    assert history.load(USER, SESSION).count == 1


def test_a_turn_that_cannot_be_kept_is_answered_and_says_so(asking: Asking, good: str) -> None:
    asking.script(answer=good)
    result = asking.ask(user="x" * 300, session=SESSION)
    assert result.status is Status.ANSWERED and result.turn_id == ""
    assert any(note.startswith("not kept: ") for note in notes_of(result))


def test_without_a_session_nothing_is_kept(asking: Asking, history: Conversations, good: str) -> None:
    asking.script(answer=good)
    assert asking.ask(user=USER).turn_id == ""
    assert history.sessions(USER) == ()
