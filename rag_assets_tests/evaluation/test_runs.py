"""Asking a real generation: targets of every kind, filters, and what must not be measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rag_assets import Index, open_index
from rag_assets.evaluation.questions import EvalQuestion, QuestionSet
from rag_assets.evaluation.runs import EvalError, run_questions
from rag_assets.index.eval_records import EvalRun, format_metrics, read_run, write_run
from rag_assets.index.generations import Generation, active_generation
from rag_assets_tests.evaluation.graded import new_graded
from rag_assets_tests.generation_history import History

pytestmark = pytest.mark.rule("E24")
REFUND = "Pays money back for a returned parcel."


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> History:
    made = new_graded(tmp_path_factory.mktemp("graded"))
    made.index()
    return made


def asked(history: History, *questions: EvalQuestion, k: int = 3) -> EvalRun:
    with open_index(history.label, home=history.home.root) as index:
        return run_questions(index, QuestionSet("set", questions), k)


def question(*relevant: str, text: str = REFUND, **changes: Any) -> EvalQuestion:
    return EvalQuestion(id="q", question=text, relevant=relevant, **changes)


def first_point(history: History) -> str:
    with open_index(history.label, home=history.home.root) as index:
        return index.search(REFUND).hits[0].point_id


@pytest.mark.parametrize(
    ("relevant", "recall"),
    [
        (("src/RefundService.cs",), 1.0),
        (("src/LoginService.cs",), 0.0),
        (("symbol:Shop.RefundService",), 1.0),
        (("symbol:shop.refundservice",), 1.0),
        (("symbol:RefundService",), 0.0),
        (("src/RefundService.cs", "src/Gone.cs"), 0.5),
        (("src/RefundService.cs", "symbol:Shop.RefundService"), 1.0),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else str(value),
)
def test_targets(history: History, relevant: tuple[str, ...], recall: float) -> None:
    run = asked(history, question(*relevant))
    assert run.metrics["recall@3"] == recall
    assert all(0.0 <= value <= 1.0 for value in run.metrics.values())


def test_a_point_is_a_target(history: History) -> None:
    assert asked(history, question(f"point:{first_point(history).upper()}")).metrics["mrr@10"] == 1.0


def test_files_that_are_not_there_are_told_apart_from_those_not_found(history: History) -> None:
    (result,) = asked(history, question("src/LoginService.cs", "src/Gone.cs")).results
    assert (result.absent, result.first_rank) == (("src/Gone.cs",), 0)


def test_filters_narrow_the_search_as_they_do_for_people(history: History) -> None:
    elsewhere = asked(history, question("src/RefundService.cs", paths=("src/Login*",)))
    assert elsewhere.metrics["recall@3"] == 0.0
    assert asked(history, question("src/RefundService.cs", languages=("csharp",))).metrics["recall@3"] == 1.0


def test_a_question_that_cannot_be_asked_is_named(history: History) -> None:
    with pytest.raises(EvalError, match=r"question 'q' cannot be asked of shop@main.*Nonsense"):
        asked(history, question("a.cs", kinds=("Nonsense",)))


def test_numbers_of_a_fallback_are_not_measured(history: History) -> None:
    """An index with vectors whose model is not here would answer by keywords alone: that says nothing about it."""
    from dataclasses import replace

    generation = active_generation(history.home, history.label)
    strange = replace(generation.manifest, lexical_only=False, embedding_model="unknown-model")
    with Index(history.home, Generation(generation.directory, strange)) as index, pytest.raises(EvalError) as caught:
        run_questions(index, QuestionSet("set", (question("a.cs"),)), 3)
    assert "cannot be measured: keyword search only" in str(caught.value)


def test_a_run_is_what_was_stored(history: History, tmp_path: Path) -> None:
    run = asked(history, question("src/RefundService.cs"), k=2)
    write_run(tmp_path, run)
    assert read_run(tmp_path, "set") == run
    assert read_run(tmp_path, "other") is None
    assert format_metrics(run.metrics) == "recall@2 1.000, hit@2 1.000, mrr@10 1.000, ndcg@10 1.000"
    (tmp_path / "eval" / "set.json").write_text("{", encoding="utf-8")
    assert read_run(tmp_path, "set") is None, "a damaged one is asked again"


def test_the_same_generation_answers_the_same(history: History) -> None:
    def files(run: EvalRun) -> list[object]:
        return [(result.files, result.scores) for result in run.results]

    assert files(asked(history, question("src/RefundService.cs"))) == files(
        asked(history, question("src/RefundService.cs"))
    )
