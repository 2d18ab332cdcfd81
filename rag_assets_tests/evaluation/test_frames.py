"""Runs, their history and the query log as frames of pandas, and who may import them."""

from __future__ import annotations

import math
import os
import shlex
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path

import pandas as pd
import pytest

from rag_assets.evaluation.frames import answers, history, query_log, runs
from rag_assets.evaluation.summary import record_of
from rag_assets.history.query_log import LoggedQuestion
from rag_assets.index.answer_results import Judged, Judging
from rag_assets.index.eval_records import RankedFile
from rag_assets_tests.cli.test_private_home import COMMANDS
from rag_assets_tests.evaluation.graded import new_graded
from rag_assets_tests.evaluation.made_answers import HOW, answer
from rag_assets_tests.evaluation.made_runs import manifest, result, run
from rag_assets_tests.generation_history import History

JUDGE = Judging(profile="premium", model="wise", rubric="r")
TURN = LoggedQuestion(
    turn_id="aa",
    asked_utc="2026-01-02T12:00:00.000Z",
    org="acme",
    project="shop",
    label="shop@main",
    user_name="ann",
    clearance="internal",
    session="",
    agent="",
    pipeline="p",
    status="answered",
    question="what is it?",
    models=("cheap: small",),
    chunk_ids=("1a2b3c4d", "5e6f7a8b"),
    cited_ids=(),
    seconds=1.5,
    retrieval_seconds=0.25,
    generation_seconds=1.0,
    calls=2,
    prompt_tokens=1_000,
    completion_tokens=50,
    cost=None,
    error="",
)


def test_runs_have_a_row_per_question_and_a_column_per_metric() -> None:
    file = RankedFile("src/a.cs", "A", "p", 0.5)
    first = run([result("a", 1, tags=("x", "y"), files=(file,)), result("b", 0, absent=("gone.cs",))], "one")
    frame = runs([first, replace(run({"a": 2}, "two"), k=5, metrics={}, results=(result("a", 2, scores={}),))])
    assert frame[["generation_id", "question_id", "first_rank"]].to_numpy().tolist() == [
        ["one", "a", 1],
        ["one", "b", 0],
        ["two", "a", 2],
    ]
    assert (frame["files"][0], frame["tags"][0], frame["absent"][1]) == (("src/a.cs",), ("x", "y"), ("gone.cs",))
    assert frame["ndcg@10"].isna().tolist() == [False, False, True], "a run has not the metrics of another k"
    assert frame[frame["generation_id"] == "one"].explode("tags").groupby("tags")["mrr@10"].mean().to_dict() == {
        "x": 1.0,
        "y": 1.0,
    }


def test_answers_have_metrics_where_these_say_something() -> None:
    made = run(
        {"a": 1},
        answers=(
            answer("a", 0.9, cited=("a.cs",), judged=Judged(marks={"faithful": 5, "relevant": 3})),
            answer("b", 0.9, answerable=False, cost=0.5),
            answer("c", 0.1, answerable=False),
            answer("d", 0.3),
        ),
        answering=HOW,
        judging=JUDGE,
    )
    frame = answers([made]).set_index("question_id")
    assert frame["outcome"].tolist() == ["answered", "answered", "refused", "not sure"]
    assert frame["grade"].tolist() == ["right", "wrong", "refused", "not sure"]
    assert frame.loc["d", ["cites_expected", "answered", "right", "not sure"]].tolist() == [True, 0.0, 0.0, 1.0]
    assert frame.loc["a", ["answered", "wrong", "citation recall", "judge"]].tolist() == [1.0, 0.0, 1.0, 0.75]
    assert frame.loc["b", ["refused", "wrong", "cost"]].tolist() == [0.0, 1.0, 0.5]
    assert frame.isna().sum()[["answered", "refused", "wrong", "cost"]].tolist() == [2, 2, 2, 3]


def test_the_history_has_a_row_per_metric_of_a_category() -> None:
    made = run([result("a", 1, tags=("x",)), result("b", 0)], "one", answers=(answer("a", 0.9),), answering=HOW)
    frame = history([record_of(made, manifest("one"))])
    assert frame["commit_date"].unique().tolist() == [pd.Timestamp("2026-01-01", tz="UTC")]
    value = frame.set_index(["category", "metric"])["value"]
    assert (value["all", "hit@3"], value["x", "hit@3"], value["all", "answered"]) == (0.5, 1.0, 1.0)
    assert math.isnan(value["all", "refused"]), "no question was to be refused"
    assert ("x", "answered") not in value.index and ("all", "judge") not in value.index


def test_the_query_log_has_a_row_per_question() -> None:
    frame = query_log([TURN, replace(TURN, turn_id="bb", cost=0.25)])
    assert list(frame.columns) == [field.name for field in fields(LoggedQuestion)]
    assert frame["asked_utc"].dt.hour.tolist() == [12, 12]
    assert (frame["chunk_ids"].map(len).tolist(), frame["cost"].sum()) == ([2, 2], 0.25)


@pytest.mark.parametrize(
    ("empty", "one"),
    [
        pytest.param(runs([]), runs([run({"a": 1})]), id="runs"),
        pytest.param(answers([run({"a": 1})]), answers([run({}, answers=(answer("a", 1.0),))]), id="answers"),
        pytest.param(history([]), history([record_of(run({"a": 1}), manifest())]), id="history"),
        pytest.param(query_log([]), query_log([TURN]), id="query_log"),
    ],
)
def test_nothing_has_the_columns_and_dtypes_of_something(empty: pd.DataFrame, one: pd.DataFrame) -> None:
    assert empty.empty and len(one) >= 1
    assert empty.dtypes.to_dict() == one.dtypes[empty.columns].to_dict()


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> History:
    return new_graded(tmp_path_factory.mktemp("no pandas"), answers=True)


def test_only_a_comparison_and_a_report_import_pandas(graded: History, tmp_path: Path) -> None:
    """It takes 0.2 s and 76 MB in each process, the worker processes of a build among them."""
    (tmp_path / "pandas.py").write_text("raise AssertionError('pandas was imported')", encoding="utf-8")
    config = tmp_path / "rag_assets.yaml"
    config.write_text(
        "embedder: {provider: lexical-only}\nworkers: 2\nevaluation: {k: 3, answers: true}\nrepositories:\n"
        f"  - {{id: shop, location: {graded.source.path}, eval_set: {graded.repository.eval_set}}}\n",
        encoding="utf-8",
    )

    def process(*commands: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
        options = ("--home", str(graded.home.root), "--config", str(config))
        typed = " ; ".join(shlex.join([*options, *words]) for words in commands)
        return subprocess.run(
            [sys.executable, "-c", COMMANDS, *shlex.split(typed)],
            env=os.environ | {"PYTHONPATH": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )

    done = process(("index",), ("index",), ("search", "refund"), ("ask", "What does RefundService do?"), ("eval",))
    assert done.returncode == 0, done.stderr
    done = process(("eval", "report"))
    assert done.returncode == 1 and "pandas was imported" in done.stderr, "else nothing was proven above"
