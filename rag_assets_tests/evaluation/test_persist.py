"""Where runs are kept: the record, the table, the history of the label."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from rag_assets.evaluation.persist import keep_run, keep_run_of_finished
from rag_assets.index.eval_records import (
    EvalRun,
    HistoryDamaged,
    merged,
    note_record,
    read_history,
    read_run,
    read_runs,
)
from rag_assets.index.generations import Generation, generation_directory, write_manifest
from rag_assets.index.layout import IndexHome
from rag_assets_tests.evaluation.made_runs import manifest, result, run

pytestmark = pytest.mark.rule("E24")
LABEL = "shop@main"


def generation(home: IndexHome, name: str, date: str = "2026-01-01T00:00:00Z") -> Generation:
    directory = generation_directory(home, LABEL, name)
    directory.mkdir(parents=True)
    known = manifest(name, commit_date=date)
    write_manifest(directory, known)
    return Generation(directory, known)


@pytest.fixture
def home(tmp_path: Path) -> IndexHome:
    return IndexHome(tmp_path)


def asked(name: str) -> EvalRun:
    return run([result("a", 1, tags=("x",), absent=("gone.cs",)), result("b", 0)], name)


def test_a_run_is_kept_as_a_record_a_table_and_numbers(home: IndexHome) -> None:
    made = generation(home, "one")
    record = keep_run(home, made, asked("one"))
    assert read_run(made.directory, "questions") == asked("one")
    assert [known.set for known in read_runs(made.directory)] == ["questions"], "the table is no record"
    rows = pq.read_table(made.directory / "eval" / "questions.parquet").to_pylist()
    assert [(row["question_id"], row["first_rank"], row["tags"], row["absent"]) for row in rows] == [
        ("a", 1, ["x"], ["gone.cs"]),
        ("b", 0, [], []),
    ]
    assert rows[0]["ndcg@10"] == 1.0 and rows[1]["label"] == LABEL and rows[0]["commit_sha"] == "c" * 40
    assert read_history(home, LABEL) == [record]
    assert (record.total.name, record.total.questions, record.total.metrics["hit@3"].value) == ("all", 2, 0.5)
    assert [found.name for found in record.categories] == ["all", "x"] and record.p50_ms == 10.0


def test_the_table_is_what_pandas_reads(home: IndexHome) -> None:
    pandas = pytest.importorskip("pandas")
    made = generation(home, "one")
    keep_run(home, made, asked("one"))
    frame = pandas.read_parquet(made.directory / "eval" / "questions.parquet")
    assert frame.explode("tags").groupby("tags")["mrr@10"].mean().to_dict() == {"x": 1.0}


def test_the_history_is_in_the_order_of_commits_and_has_each_once(home: IndexHome) -> None:
    late = keep_run(home, generation(home, "late", "2026-03-01T00:00:00Z"), asked("late"))
    early = keep_run(home, generation(home, "early", "2026-02-01T00:00:00Z"), asked("early"))
    assert read_history(home, LABEL) == [early, late]
    again = replace(early, p50_ms=99.0)
    note_record(home, LABEL, again)
    other = replace(early, set="others")
    note_record(home, LABEL, other)
    assert read_history(home, LABEL) == [again, other, late], "those of one date as they came"
    assert merged([early], [again, late]) == [early, late], "one's own numbers win"


def test_numbers_outlive_their_generation(home: IndexHome) -> None:
    """Pruning deletes the folder; the plot goes on."""
    import shutil

    made = generation(home, "one")
    record = keep_run(home, made, asked("one"))
    shutil.rmtree(made.directory)
    assert read_history(home, LABEL) == [record]
    assert keep_run_of_finished(home, made, asked("one")) is None and not made.directory.exists()


def test_a_damaged_history_is_refused_with_what_helps(home: IndexHome) -> None:
    made = generation(home, "one")
    path = home.label(LABEL) / "eval_history.json"
    path.write_text("{", encoding="utf-8")
    with pytest.raises(HistoryDamaged, match=r"eval_history\.json is damaged.*delete it"):
        read_history(home, LABEL)
    path.unlink()
    assert keep_run(home, made, asked("one")) in read_history(home, LABEL)
