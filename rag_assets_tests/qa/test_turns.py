"""Turns of the shipped pipelines, over a real index and a real model server: the way a question takes."""

from __future__ import annotations

import re

import pytest

from rag_assets.answer.abstention import SENTENCE
from rag_assets.answer.results import EXTRACTIVE
from rag_assets.contracts.retrieval import Mode
from rag_assets.qa.actions.finish import GENERAL_LABEL
from rag_assets.qa.engine import TurnResult
from rag_assets.qa.errors import TurnError
from rag_assets.qa.turn import MAX_QUESTION_CHARS, RequestError, Status, TurnRequest
from rag_assets_tests.models.llm.model_server import Reply, completion, failing
from rag_assets_tests.qa.conftest import REFUND, Asking, Shop, notes_of
from rag_assets_tests.qa.http_model import prompt_text

GENERAL = "What is a monad?"
EVENTS = {"Content-Type": "text/event-stream"}


def ways(result: TurnResult) -> list[str]:
    return [record.step for record in result.records]


@pytest.mark.rule("D27", "D28", "D35")
def test_a_question_takes_the_way_of_the_reference_graph(asking: Asking, good: str) -> None:
    asking.script(answer=good)
    result = asking.ask()
    way = (
        "translate_in history look router route fetch expand node_texts budget answer read_answer citations finalize "
        "persist"
    )
    assert ways(result) == way.split()
    assert result.status is Status.ANSWERED
    assert result.answer == good.removeprefix("[Answer:] ")
    assert [record.number for record in result.records] == list(range(1, 15))
    calls = [call for record in result.records for call in record.calls]
    assert [call.purpose for call in calls] == ["router", "answer"]
    assert all(call.prompt_tokens == 100 and call.seconds > 0 for call in calls)


def test_the_same_question_takes_the_same_way(asking: Asking, good: str) -> None:
    script = asking.script(answer=good)
    first, second = asking.ask(), asking.ask()
    assert ways(first) == ways(second)
    assert first.turn is not None and second.turn is not None and first.turn.context == second.turn.context
    one, other = script.asked("answer")
    assert one.body == other.body


@pytest.mark.rule("D19", "D21", "D22")
def test_the_graph_is_walked_right_after_retrieval_and_its_texts_are_evidence(asking: Asking, good: str) -> None:
    script = asking.script(answer=good)
    pipeline = asking.pipeline(retrieval_top_k=1, entry_step_id="router")
    result = asking.ask(pipeline)
    found = result.turn.found[asking.label]  # type: ignore[union-attr]
    assert len(found.evidence) == 1 and "RefundOrder" in found.evidence[0].text
    assert any("WriteCreditNote" in piece.text for piece in found.texts), "looked up by identity"
    read = prompt_text(script.asked("answer")[0])
    assert "public void WriteCreditNote(int orderId)" in read
    number = {key: at for at, key in re.findall(r"^(\d+) (\S+\|[A-Z]+)$", read, re.MULTILINE)}
    refund, note = (
        number[f"csharp:Shop.Orders.{name}(int)|METHOD"]
        for name in ("OrderService.RefundOrder", "InvoiceWriter.WriteCreditNote")
    )
    assert re.search(rf"^{refund} Calls (.* )?{note}( |$)", read, re.MULTILINE)


@pytest.mark.rule("D09", "D10", "D11")
@pytest.mark.parametrize("mode", list(Mode))
def test_the_router_chooses_the_mode_and_the_query(asking: Asking, good: str, mode: Mode) -> None:
    asking.script(router=f"[{mode.name}:] refund credit note", answer=good)
    result = asking.ask()
    assert result.turn is not None and result.turn.plan is not None
    assert (result.turn.plan.mode, result.turn.plan.query) == (mode, "refund credit note")
    assert next(record for record in result.records if record.step == "route").outcome == f"on_{mode.value}"
    assert "[" not in result.answer.replace("[chunk:", "")


BROKEN_ROUTES = {
    "no-prefix": "refund order",
    "two-lines": "[BM25:] refund\n[SEMANTIC:] order",
    "prose-before": "Sure! [BM25:] refund",
    "lower-case": "[bm25:] refund",
    "two-prefixes": "[BM25:] refund [SEMANTIC:] order",
    "unknown-prefix": "[KEYWORD:] refund",
    "nothing-to-search": "[BM25:]",
    "huge": "[BM25:] " + "refund " * 1_000,
}


@pytest.mark.rule("D10", "R11")
@pytest.mark.parametrize("wrong", BROKEN_ROUTES.values(), ids=BROKEN_ROUTES.keys())
def test_a_wrong_plan_is_asked_for_once_more(asking: Asking, good: str, wrong: str) -> None:
    script = asking.script(router=[wrong, "[BM25:] refund order"], answer=good)
    result = asking.ask()
    assert len(script.asked("router")) == 2
    assert "Reply with exactly one line" in prompt_text(script.asked("router")[1])
    assert result.turn is not None and result.turn.plan is not None and result.turn.plan.mode is Mode.BM25


@pytest.mark.rule("D10", "R11")
@pytest.mark.parametrize("wrong", BROKEN_ROUTES.values(), ids=BROKEN_ROUTES.keys())
def test_a_plan_that_is_wrong_twice_is_the_default_mode_and_never_an_unretrieved_answer(
    asking: Asking, good: str, wrong: str
) -> None:
    script = asking.script(router=wrong, answer=good)
    result = asking.ask()
    assert len(script.asked("router")) == 2
    assert result.turn is not None and result.turn.plan is not None
    assert (result.turn.plan.mode, result.turn.plan.query) == (Mode.HYBRID, REFUND)
    assert "fetch" in ways(result)
    assert any("no usable plan" in note for note in notes_of(result)), "it is logged"


FAULTS = {
    "server-error": failing(500),
    "too-many": failing(429, Retry_After="1"),
    "not-json": Reply(b"<html>", headers={"Content-Type": "text/html"}),
    "invalid-json": Reply(b'{"choices": ['),
    "no-choices": Reply(b'{"choices": []}'),
    "empty": completion(""),
    "null": completion(None),
    "cut": Reply(b'{"choices": [', headers={"Content-Length": "4000"}),
}


@pytest.mark.rule("R11")
@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
def test_a_router_that_cannot_be_asked_means_the_default_mode(asking: Asking, good: str, fault: Reply) -> None:
    asking.script(router=fault, answer=good)
    result = asking.ask()
    assert result.status is Status.ANSWERED
    assert "fetch" in ways(result)
    assert result.turn is not None and result.turn.plan is not None and result.turn.plan.mode is Mode.HYBRID


ENDLESS = Reply(b'data: {"choices": [{"delta": {"content": "', headers=EVENTS, forever=b"refund and " * 10_000)
"""One event; with others a reply ends as soon, by its characters."""


@pytest.mark.rule("A17", "R11")
def test_a_router_that_does_not_end_is_asked_once_more(asking: Asking, good: str) -> None:
    script = asking.script(router=[ENDLESS, "[BM25:] refund order"], answer=good)
    result = asking.ask()
    assert "The problem: the reply is far too long." in prompt_text(script.asked("router")[1])
    assert result.turn is not None and result.turn.plan is not None and result.turn.plan.mode is Mode.BM25
    assert result.status is Status.ANSWERED
    calls = [call for record in result.records for call in record.calls]
    assert calls[0].error.startswith("LLM.too-large: the reply is larger than ")


@pytest.mark.rule("A17", "R11")
def test_a_router_that_never_ends_means_the_default_mode(asking: Asking, good: str) -> None:
    script = asking.script(router=ENDLESS, answer=good)
    result = asking.ask()
    assert len(script.asked("router")) == 2
    assert result.turn is not None and result.turn.plan is not None and result.turn.plan.mode is Mode.HYBRID
    assert result.status is Status.ANSWERED and result.answer == good.removeprefix("[Answer:] ")


@pytest.mark.rule("A17", "D24", "R13")
def test_an_answer_that_does_not_end_is_asked_for_once_more(asking: Asking, good: str) -> None:
    chatter = completion("[Answer:] " + "It is paid back. " * 5_000)
    script = asking.script(answer=[chatter, good])
    assert asking.ask().answer == good.removeprefix("[Answer:] ")
    assert len(script.asked("answer")) == 2
    asking.script(answer=chatter)
    result = asking.ask()
    assert len(script.asked("answer")) == 4
    assert result.response is not None and result.response.provider == EXTRACTIVE
    (warned,) = (one for one in result.response.warnings if one.startswith("quotes only"))
    assert "the answer has more than 20,000 characters, and 1,500 tokens were asked for" in warned


def test_a_model_that_refuses_when_it_is_asked_again_refuses(asking: Asking) -> None:
    asking.script(answer=["It is paid back.", SENTENCE])
    assert asking.ask().status is Status.ABSTAINED


NO_QUOTES = "  steps:\n    - {id: quote, action: explain_no_answer, next: finalize}\n"


@pytest.mark.rule("D24", "R13")
@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
def test_an_answer_that_does_not_come_is_made_of_quotes_and_says_so(asking: Asking, fault: Reply) -> None:
    asking.script(answer=fault)
    result = asking.ask()
    found = result.response
    assert found is not None and (result.status, found.provider) == (Status.ANSWERED, EXTRACTIVE)
    assert "src/Orders/OrderService.cs" in [citation.path for citation in found.citations]
    assert any(warning.startswith("quotes only, the model did not answer: ") for warning in found.warnings)


def test_where_quotes_are_not_wanted_a_failing_model_is_said(asking: Asking) -> None:
    asking.script(answer=failing(500))
    result = asking.ask(asking.pipeline(steps=NO_QUOTES))
    assert result.status is Status.FAILED
    assert result.answer.startswith(SENTENCE)
    assert "src/Orders/OrderService.cs" in result.answer, "where a person can look"
    assert result.response is not None and result.response.text == SENTENCE


@pytest.mark.rule("D24")
def test_an_answer_without_its_prefix_is_asked_for_once_and_then_not_used(asking: Asking, good: str) -> None:
    script = asking.script(answer="It is paid back.")
    result = asking.ask()
    assert result.response is not None and result.response.provider == EXTRACTIVE
    assert "It is paid back." not in result.answer
    assert len(script.asked("answer")) == 2
    asking.script(answer=["It is paid back.", good])
    assert asking.ask().answer == good.removeprefix("[Answer:] ")


@pytest.mark.parametrize("said", [SENTENCE, "[Answer:] " + SENTENCE.replace("’", "'")], ids=["bare", "with-prefix"])
def test_a_model_that_says_the_sentence_refuses(asking: Asking, said: str) -> None:
    script = asking.script(answer=said)
    result = asking.ask()
    assert result.status is Status.ABSTAINED and "did not find the answer" in result.answer
    assert len(script.asked("answer")) == 1, "a refusal is no slip of the protocol"


@pytest.mark.rule("E22")
def test_what_nothing_is_like_costs_no_call(asking: Asking) -> None:
    script = asking.script()
    result = asking.ask(question="How long should pasta boil?")
    assert result.status is Status.ABSTAINED and script.purposes == []


@pytest.mark.rule("R13")
@pytest.mark.parametrize(("strict", "provider"), [(True, EXTRACTIVE), (False, "balanced")])
def test_other_letter_cases_of_answer_prefixes_are_a_setting(
    asking: Asking, good: str, strict: bool, provider: str
) -> None:
    asking.script(answer=good.replace("[Answer:]", "[ANSWER:]"))
    found = asking.ask(asking.pipeline(answer_prefix_strict=strict)).response
    assert found is not None and found.provider == provider


@pytest.mark.rule("D12", "R12")
def test_direct_is_answered_without_retrieval_only_where_it_is_allowed_and_labelled(asking: Asking) -> None:
    script = asking.script(router="[DIRECT:]", direct_answer="[Answer:] A monoid, they say [chunk: 1a2b3c4d].")
    allowed = asking.ask(asking.pipeline(direct_policy="allow_labelled"), GENERAL)
    assert allowed.status is Status.GENERAL
    assert allowed.answer == f"{GENERAL_LABEL} A monoid, they say."
    assert "fetch" not in ways(allowed)
    denied = asking.ask(question=GENERAL)
    assert denied.status is Status.ABSTAINED and denied.answer.startswith(SENTENCE)
    assert len(script.asked("direct_answer")) == 1


@pytest.mark.rule("R12")
@pytest.mark.parametrize("policy", ["abstain", "allow_labelled"])
@pytest.mark.parametrize(
    "question", ["What does RefundOrder do?", "what is a Parcel?", "explain credit_note of InvoiceWriter"]
)
def test_a_name_of_the_index_vetoes_direct(asking: Asking, good: str, policy: str, question: str) -> None:
    asking.script(router="[DIRECT:]", answer=good)
    result = asking.ask(asking.pipeline(direct_policy=policy, weak_below=0), question)
    assert "fetch" in ways(result)
    assert any("DIRECT refused" in note for note in notes_of(result))


@pytest.mark.rule("D25", "R21")
@pytest.mark.parametrize("most", [0, 1, 3])
def test_exactly_so_many_requests_for_more_are_allowed(asking: Asking, most: int) -> None:
    """counter = 1..max is allowed, max + 1 denied."""
    wanted = [f"[Requesting data on:] topic number {number}" for number in range(9)]
    script = asking.script(answer=wanted)
    result = asking.ask(asking.pipeline(max_turn_loops=most, max_weak_attempts=10))
    assert len(script.asked("answer")) == most + 1
    assert [record.outcome for record in result.records if record.step == "guard"] == ["on_allow"] * most + ["on_deny"]
    assert result.status is Status.GAVE_UP and result.answer.startswith(SENTENCE)
    assert f"topic number {most}" in result.answer


@pytest.mark.rule("D25")
def test_a_request_for_more_goes_through_retrieval_graph_and_budget_again(asking: Asking, good: str) -> None:
    script = asking.script(answer=["[Requesting data on:] src/Shipping/Parcel.cs", good])
    result = asking.ask(asking.pipeline(retrieval_top_k=1, node_text_fetch_top_n=0, weak_below=0))
    again = ways(result)[ways(result).index("guard") :]
    assert again[:6] == ["guard", "fetch", "expand", "node_texts", "budget", "answer"]
    first, second = map(prompt_text, script.asked("answer"))
    assert "class Parcel" not in first and "class Parcel" in second
    assert "RefundOrder" in second, "the first evidence stays"


@pytest.mark.parametrize("again", ["refund order", "Order REFUND!", "  refund   order? "])
def test_the_same_request_again_ends_the_turn(asking: Asking, again: str) -> None:
    script = asking.script(answer=f"[Requesting data on:] {again}")
    result = asking.ask()
    assert result.status is Status.GAVE_UP and "asked for twice" in result.answer
    assert len(script.asked("answer")) == 1


@pytest.mark.rule("D34")
@pytest.mark.parametrize("most", [1, 2])
def test_weak_entry_points_end_the_turn_and_are_said(asking: Asking, most: int) -> None:
    wanted = [f"[Requesting data on:] qqzzx{number}" for number in range(9)]
    asking.script(router="[BM25:] xyzzyq", answer=wanted)
    result = asking.ask(asking.pipeline(max_weak_attempts=most))
    assert ways(result).count("fetch") == most
    assert result.status is Status.GAVE_UP
    assert f"{most} searches found nothing that helps" in result.answer


def test_a_fault_of_the_router_is_not_the_reason_of_a_later_end(asking: Asking) -> None:
    asking.script(router=failing(500), answer="[Requesting data on:] qqzzx")
    result = asking.ask(asking.pipeline(max_weak_attempts=1))
    assert result.status is Status.GAVE_UP and "searches found nothing" in result.answer


@pytest.mark.rule("D34")
def test_what_counts_as_weak_is_a_setting(asking: Asking, good: str) -> None:
    asking.script(router="[BM25:] order of quantum teleportation in elliptic spaces", answer=good)
    assert asking.ask(asking.pipeline(max_weak_attempts=1, weak_below=0)).status is Status.ANSWERED
    assert asking.ask(asking.pipeline(max_weak_attempts=1)).status is Status.GAVE_UP


@pytest.mark.rule("E21", "E19")
def test_an_answer_that_cites_nothing_of_the_evidence_is_no_answer(asking: Asking) -> None:
    asking.script(answer="[Answer:] Refunds take 5 days [chunk: 00000000].")
    result = asking.ask()
    assert result.status is Status.ABSTAINED
    assert "00000000" not in result.answer


def test_an_assessed_answer_is_drafted_judged_and_looked_for_again(asking: Asking, good: str) -> None:
    assess = ["[Requesting data on:] weight of a parcel", good]
    script = asking.script(draft="It may be paid back (missing).", assess=assess)
    result = asking.ask(asking.pipeline("code_question_answering_assessed"))
    assert script.purposes == ["router", "draft", "assess", "draft", "assess"]
    assert "It may be paid back (missing)." in prompt_text(script.asked("assess")[0])
    assert result.status is Status.ANSWERED
    assert script.asked("assess")[0].body["model"] == "premium", "profiles of steps are used"


def test_two_snapshots_are_compared_in_one_prompt(asking: Asking, shop_indexes: Shop, good: str) -> None:
    script = asking.script(compare=good)
    pipeline = asking.pipeline("snapshot_comparison", active_index=shop_indexes.label, compare_index=shop_indexes.later)
    result = asking.ask(pipeline, label="")
    read = prompt_text(script.asked("compare")[0])
    assert "return 0m;" in read and "return 12.5m;" in read
    assert read.index("return 0m;") < read.index(f"After ({shop_indexes.later})") < read.index("return 12.5m;")
    assert set(result.lock.generations) == {shop_indexes.label, shop_indexes.later}


def test_a_comparison_without_a_second_index_says_what_to_set(asking: Asking) -> None:
    asking.script()
    with pytest.raises(TurnError, match=r"step 'fetch_compared'.*compare_index"):
        asking.ask(asking.pipeline("snapshot_comparison"))


def test_documents_are_asked_without_the_graph(asking: Asking) -> None:
    script = asking.script(
        document_router="[BM25:] refunds paid back", document_answer="[Requesting data on:] refunds paid back"
    )
    result = asking.ask(asking.pipeline("document_question_answering"))
    assert "expand" not in ways(result)
    assert "five days" in prompt_text(script.asked("document_answer")[0])


def test_without_a_model_the_offline_pipeline_quotes(asking: Asking) -> None:
    script = asking.script()
    result = asking.ask(asking.pipeline("code_question_answering_offline"))
    assert script.purposes == []
    assert result.status is Status.ANSWERED and "[chunk: " in result.answer
    nothing = asking.ask(asking.pipeline("code_question_answering_offline"), "Which kubernetes ingress is used?")
    assert nothing.status is Status.ABSTAINED and nothing.answer.startswith(SENTENCE)


def test_a_question_needs_an_index(asking: Asking) -> None:
    with pytest.raises(TurnError, match="which index"):
        asking.ask(label="")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"question": " "}, "empty"),
        ({"question": "x" * (MAX_QUESTION_CHARS + 1)}, "at most"),
        ({"question": "x", "request_id": "1"}, "session"),
    ],
    ids=["empty", "huge", "request-without-session"],
)
def test_requests_that_no_turn_can_be_made_of(wrong: dict[str, str], said: str) -> None:
    with pytest.raises(RequestError, match=said):
        TurnRequest(**wrong)  # type: ignore[arg-type]


def test_what_is_not_utf_8_is_asked_all_the_same() -> None:
    raw = b"\xff bad".decode("utf-8", "surrogateescape")
    request = TurnRequest(question=raw, session=raw, user=raw)
    assert (request.question, request.session, request.user) == ("? bad",) * 3
