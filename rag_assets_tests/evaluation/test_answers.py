"""Asking a real generation for answers: offline, with a model behind HTTP that invents, and with one that fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from rag_assets import Index, open_index
from rag_assets.answer.abstention import THRESHOLD, Thresholds, calibrated_thresholds
from rag_assets.evaluation.answers import sample, with_answers
from rag_assets.evaluation.persist import keep_run_of_finished
from rag_assets.evaluation.questions import EvalQuestion, QuestionSet
from rag_assets.evaluation.risk_coverage import FEWEST
from rag_assets.evaluation.runs import EvalError, run_questions
from rag_assets.history.schema import FILE_NAME
from rag_assets.index.answer_results import (
    AnswerResult,
    Calibration,
    CalibrationDamaged,
    Outcome,
    read_calibration,
    write_calibration,
)
from rag_assets.index.eval_records import EvalRun, read_history, read_run
from rag_assets.qa.answering import QuestionAnswerer
from rag_assets.qa.ask_options import AskOptions
from rag_assets.qa.errors import UnknownPipeline
from rag_assets_tests.evaluation.graded import TOPICS, new_graded
from rag_assets_tests.generation_history import History
from rag_assets_tests.models.llm.model_server import Asked, ModelServer, failing
from rag_assets_tests.qa.http_model import Script, http_model

pytestmark = pytest.mark.rule("E24")
OFFLINE = AskOptions()
REFUND = EvalQuestion(id="refund", question=TOPICS["Refund"], relevant=("src/RefundService.cs",))
LOGIN = EvalQuestion(id="login", question="What does LoginService do?", relevant=("symbol:Shop.LoginService",))
PASTA = EvalQuestion(id="pasta", question="How long should pasta boil?", relevant=())


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> History:
    made = new_graded(tmp_path_factory.mktemp("graded"))
    made.index()
    return made


@pytest.fixture
def index(original: History, tmp_path: Path) -> Iterator[Index]:
    history = original.copy(tmp_path)
    with open_index(history.label, home=history.home.root) as opened:
        yield opened


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running


def run_of(index: Index, *questions: EvalQuestion, options: AskOptions = OFFLINE, limit: int | None = None) -> EvalRun:
    asked = QuestionSet("set", questions)
    run = run_questions(index, asked, 3)
    return with_answers(run, index, asked, options, answered_share=0.85, limit=limit)


def one(index: Index, question: EvalQuestion, options: AskOptions = OFFLINE) -> AnswerResult:
    run = run_of(index, *dict.fromkeys((question, REFUND)), options=options)
    return next(result for result in run.answers if result.id == question.id)


def test_quotes_are_measured(index: Index) -> None:
    found = one(index, REFUND)
    assert (found.outcome, found.recall, found.precision, found.error) == (Outcome.ANSWERED, 1.0, 1.0, "")
    assert found.cited == ("src/RefundService.cs",)
    assert found.checks == {"supported": sum(found.checks.values())} and found.checks
    assert found.confidence > THRESHOLD and found.seconds > 0 and found.cost is None


@pytest.mark.rule("E22")
def test_a_refusal_is_right_where_there_is_no_answer(index: Index) -> None:
    found = one(index, PASTA)
    assert (found.outcome, found.answerable, found.is_wrong) == (Outcome.REFUSED, False, False)
    assert (found.precision, found.recall, found.cited) == (None, None, ())


@pytest.mark.parametrize(
    ("target", "recall"),
    [
        ("symbol:Shop.LoginService", 1.0),
        ("symbol:shop.loginservice", 1.0),
        ("section:src/LoginService.cs#methods", 1.0),
        ("section:Shop.LoginService#methods", 1.0),
        ("src/RefundService.cs", 0.0),
        ("point:00000000-0000-0000-0000-000000000000", 0.0),
    ],
)
def test_targets_of_every_kind(index: Index, target: str, recall: float) -> None:
    found = one(index, replace(LOGIN, relevant=(target,)))
    assert (found.recall, found.is_wrong) == (recall, not recall)


def test_a_point_is_a_target(index: Index) -> None:
    point = index.ask(LOGIN.question, options=OFFLINE).evidence[0].point_ids[0]
    assert one(index, replace(LOGIN, relevant=(f"point:{point.upper()}",))).recall == 1.0


def test_filters_hold_for_answers(index: Index) -> None:
    found = one(index, replace(LOGIN, paths=("src/Refund*",)))
    assert "src/LoginService.cs" not in found.cited


def test_half_of_what_was_expected(index: Index) -> None:
    assert one(index, replace(LOGIN, relevant=(*LOGIN.relevant, "src/BackupService.cs"))).recall == 0.5


def test_without_answerable_questions_nothing_is_measured(index: Index) -> None:
    with pytest.raises(EvalError, match="set: no question has an answer in shop@main"):
        run_of(index, PASTA)


def test_unanswerable_questions_are_no_part_of_the_search_metrics(index: Index) -> None:
    run = run_of(index, REFUND, PASTA)
    assert [result.id for result in run.results] == ["refund"]
    assert [result.id for result in run.answers] == ["refund", "pasta"]


def test_a_sample_is_always_the_same(index: Index) -> None:
    questions = [replace(REFUND, id=f"q{number}") for number in range(40)]
    first = sample(questions, 10)
    assert len(first) == 10 and first == sample(questions[::-1], 10)[::-1]
    assert sample([*questions, PASTA], 41) == (*questions, PASTA)
    run = run_of(index, REFUND, LOGIN, PASTA, limit=1)
    assert (len(run.answers), len(run.results)) == (1, 2)


# with a model


def evidence_of(asked: Asked) -> str:
    """The id of the login service, as the prompt offers it."""
    user = str(asked.body["messages"][-1]["content"])
    head = next(part for part in user.split("<evidence ")[1:] if "src/LoginService.cs" in part.partition("\n")[0])
    return head.partition('id="')[2].partition('"')[0]


def model(server: ModelServer, says: Callable[[Asked], str]) -> AskOptions:
    Script(server, router="[HYBRID:] login service", answer=lambda asked: f"[Answer:] {says(asked)}")
    return AskOptions(model=http_model(server))


def test_an_invented_citation_lowers_the_precision(index: Index, server: ModelServer) -> None:
    right = "It “Verifies passwords and opens sessions.” [chunk: {}]"
    honest = one(index, LOGIN, model(server, lambda asked: right.format(evidence_of(asked))))
    assert (honest.precision, honest.recall, honest.unknown_citations) == (1.0, 1.0, 0)
    wrong = "It brews the coffee of the visitors. [chunk: deadbeef]"
    invented = one(index, LOGIN, model(server, lambda asked: f"{right.format(evidence_of(asked))}\n{wrong}"))
    assert (invented.precision, invented.recall, invented.unknown_citations) == (0.5, 1.0, 1)
    assert invented.checks == {"fabricated": 1, "supported": 1}
    assert invented.prompt_tokens and invented.completion_tokens


def test_a_server_that_fails_is_an_error_of_the_question(index: Index, server: ModelServer) -> None:
    server.script(failing(500, "out of order"))
    run = run_of(index, LOGIN, REFUND, PASTA, options=AskOptions(model=http_model(server)))
    assert [bool(result.error) for result in run.answers] == [True, True, False], "nobody asks a model about pasta"
    assert run.answers[0].outcome is Outcome.ANSWERED, "the quotes answer"
    assert "500" in run.answers[0].error
    assert run.answering is not None and run.answering.model == "extractive"


def test_a_question_that_cannot_be_asked_fails_alone(index: Index) -> None:
    run = run_questions(index, QuestionSet("set", (REFUND,)), 3)
    long = replace(LOGIN, question="login " * 10_000)
    made = with_answers(run, index, QuestionSet("set", (long, REFUND)), OFFLINE, answered_share=0.85)
    assert [result.outcome for result in made.answers] == [Outcome.FAILED, Outcome.ANSWERED]
    assert "20,000 at most" in made.answers[0].error


def test_what_fails_for_every_question_fails_the_run(index: Index) -> None:
    with pytest.raises(UnknownPipeline):
        run_of(index, REFUND, options=AskOptions(pipeline="nope"))


@pytest.mark.rule("E23")
def test_questions_of_an_evaluation_are_not_logged(index: Index) -> None:
    log = index.parts.configuration[0].root / FILE_NAME
    log.unlink(missing_ok=True)
    run_of(index, REFUND)
    assert not log.exists()
    index.ask(REFUND.question, options=OFFLINE)
    assert log.exists(), "those of people are"


@pytest.mark.rule("E22")
def test_names_that_nothing_declares_are_refused_as_they_are_for_people(index: Index) -> None:
    """However well their words fit: a question of a set is read as one that somebody types."""
    found = one(index, replace(PASTA, question="What does LoginServiceVerifier do?"))
    assert (found.outcome, found.confidence) == (Outcome.REFUSED, 0.0)


# what is kept


def many(count: int = FEWEST) -> tuple[EvalQuestion, ...]:
    yes = tuple(replace(LOGIN, id=f"yes-{number}") for number in range(count))
    return yes + tuple(replace(PASTA, id=f"no-{number}") for number in range(count))


def test_answers_are_kept_beside_the_search(index: Index) -> None:
    home, generation = index.parts.configuration[0], index.generation
    run = run_of(index, REFUND, PASTA)
    keep_run_of_finished(home, generation, run)
    assert read_run(generation.directory, "set") == run
    table = pq.read_table(generation.directory / "eval" / "set.answers.parquet")
    rows = table.to_pylist()
    assert [(row["question_id"], row["outcome"], row["answerable"]) for row in rows] == [
        ("refund", "answered", True),
        ("pasta", "refused", False),
    ]
    assert rows[0]["cited"] == ["src/RefundService.cs"] and rows[0]["sentences_supported"] > 0
    assert rows[1]["recall"] != rows[1]["recall"], "NaN: missing"
    (record,) = (known for known in read_history(home, index.label) if known.set == "set")
    assert record.answers is not None and (record.answers.answerable, record.answers.unanswerable) == (1, 1)


def test_a_search_alone_does_not_lose_the_answers(index: Index) -> None:
    home, generation = index.parts.configuration[0], index.generation
    run = run_of(index, REFUND, PASTA)
    keep_run_of_finished(home, generation, run)
    bare = run_questions(index, QuestionSet("set", (REFUND, PASTA)), 3)
    keep_run_of_finished(home, generation, bare)
    kept = read_run(generation.directory, "set")
    assert kept is not None and kept.answers == run.answers
    keep_run_of_finished(home, generation, run_questions(index, QuestionSet("set", (REFUND,)), 3))
    other = read_run(generation.directory, "set")
    assert other is not None and other.answers == (), "other questions are another matter"
    assert not (generation.directory / "eval" / "set.answers.parquet").exists()


@pytest.mark.rule("E22")
def test_enough_questions_set_the_threshold_of_the_generation(index: Index) -> None:
    home, generation = index.parts.configuration[0], index.generation
    keep_run_of_finished(home, generation, run_of(index, *many(FEWEST - 1)))
    assert read_calibration(generation.directory) is None
    run = run_of(index, *many())
    keep_run_of_finished(home, generation, run)
    assert run.calibration is not None and read_calibration(generation.directory) == run.calibration
    assert (run.calibration.answered, run.calibration.refused) == (1.0, 1.0)


@pytest.mark.rule("E12")
def test_a_role_that_sees_less_sets_no_threshold(original: History, tmp_path: Path) -> None:
    history = original.copy(tmp_path)
    with open_index(history.label, home=history.home.root, clearance="public") as index:
        conditions = replace(run_questions(index, QuestionSet("set", (LOGIN,)), 3).conditions, clearance="nothing")
    with open_index(history.label, home=history.home.root) as index:
        run = replace(run_of(index, *many()), conditions=conditions)
        keep_run_of_finished(history.home, index.generation, run)
        assert run.calibration is not None and read_calibration(index.generation.directory) is None


def stored(index: Index, threshold: float) -> Calibration:
    run = run_of(index, *many())
    assert run.calibration is not None
    made = replace(run.calibration, threshold=threshold)
    write_calibration(index.generation.directory, made)
    return made


@pytest.mark.rule("E22")
def test_ask_uses_the_threshold_of_the_generation(index: Index) -> None:
    assert not index.ask(TOPICS["Refund"], options=OFFLINE).abstained
    stored(index, 0.9999)
    assert index.ask(TOPICS["Refund"], options=OFFLINE).abstained
    assert not index.ask(TOPICS["Refund"], options=AskOptions(threshold=0.3)).abstained, (
        "what the user says is stronger"
    )
    (index.generation.directory / "threshold.json").write_text("{", encoding="utf-8")
    with pytest.raises(CalibrationDamaged, match=r"threshold\.json is damaged.*rag-assets eval run --answers"):
        index.ask(TOPICS["Refund"], options=OFFLINE)


@pytest.mark.rule("E22")
def test_a_threshold_for_something_else_is_not_used(index: Index) -> None:
    made = stored(index, 0.9)
    generations = [index.generation]
    assert calibrated_thresholds(generations, made.mode) == Thresholds(0.9, made.sure)
    assert calibrated_thresholds(generations * 2, made.mode) is None, "several generations"
    assert calibrated_thresholds(generations, "other") is None, "another mode of search"
    write_calibration(index.generation.directory, replace(made, scale="older"))
    assert calibrated_thresholds(generations, made.mode) is None, "confidences of other weights"


@pytest.mark.rule("E22")
def test_a_pipeline_that_says_its_threshold_keeps_it(index: Index, tmp_path: Path) -> None:
    stored(index, 0.9999)
    file = tmp_path / "eager.yaml"
    text = "pipeline: {name: eager, extends: code_question_answering_offline, settings: {weak_below: 0.1}}"
    file.write_text(text, encoding="utf-8")
    with QuestionAnswerer(index, AskOptions(pipeline=str(file))) as asker:
        assert asker.pipeline().settings.weak_below == 0.1
