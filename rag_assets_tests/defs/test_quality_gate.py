"""The promotion gate as an operator meets it in Dagster: a check that stops the run, with the numbers beside it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from dagster import AssetCheckSeverity

from rag_assets.index.eval_records import read_decision
from rag_assets.index.generations import active_pointer, generation_directory, is_finished, pending_build_id
from rag_assets.index.promotion import activate
from rag_assets.settings.config_file import ENV_PREFIX
from rag_assets_tests.defs.conftest import Automated, cells, failure_text
from rag_assets_tests.evaluation.graded import BAD, good, write_questions
from rag_assets_tests.git_repository import Repository
from rag_assets_tests.models.llm.model_server import ModelServer, completion

pytestmark = pytest.mark.rule("E25")
LABEL = "shop@main"


@pytest.fixture
def source(automated: Automated, tmp_path: Path) -> Repository:
    """An indexed label with questions; the newest commit, not indexed yet, answers three of ten no more."""
    write_questions(tmp_path / "questions.jsonl")
    made = automated.repository("shop", ref="main", eval_set="questions.jsonl", include=["src/"])
    made.commit(good())
    automated.register("shop")
    automated.build(LABEL)
    made.commit(BAD)
    return made


def served(automated: Automated) -> str:
    pointer = active_pointer(automated.home, LABEL)
    assert pointer is not None
    return pointer.generation_id


def test_a_refused_build_stops_the_run_and_shows_its_numbers(automated: Automated, source: Repository) -> None:
    old = served(automated)
    result = automated.run(LABEL)
    assert not result.success and served(automated) == old
    (check,) = [c for c in result.get_asset_check_evaluations() if c.check_name == "quality_holds"]
    assert not check.passed and check.blocking and check.severity is AssetCheckSeverity.ERROR
    said = str(check.metadata["examples"].value)
    assert "below the 1.000" in str(check.description) and "rag-assets generations activate " in str(check.description)
    assert check.partition == LABEL
    for part in ("below the 1.000", "q-refund (rank 1 → none)", "rag-assets generations activate "):
        assert part in said
    made = {
        e.materialization.asset_key.path[-1]: e.materialization.metadata
        for e in result.all_events
        if e.is_step_materialization
    }
    assert "active_index" not in made
    shown = made["eval_runs"]
    assert shown["recall@10"].value == pytest.approx(0.7), "a number that the UI plots"
    assert cells(shown["metrics"])[:6] == ["recall@10", "0.700", "1.000", "-0.300", "0.950", "no"]
    assert "q-refund: Pays money back for a returned parcel." in cells(shown["got worse"])
    assert (shown["questions_lost"].value, shown["questions_gained"].value) == (3, 0)
    assert float(str(shown["latency_p95_ms"].value)) >= float(str(shown["latency_p50_ms"].value)) > 0
    moved = cells(shown["against the active generation"])
    assert moved[:2] == ["lost", "q-invoice: Bills a customer at the end of the month."]
    candidate = pending_build_id(automated.home, LABEL)
    assert candidate is not None and is_finished(automated.home, LABEL, candidate)
    decision = read_decision(generation_directory(automated.home, LABEL, candidate))
    assert decision is not None and decision.refused


def test_the_pointer_asset_alone_does_not_get_around_the_gate(automated: Automated, source: Repository) -> None:
    old = served(automated)
    automated.run(LABEL)
    result = automated.run_alone(LABEL, "active_index")
    assert not result.success and served(automated) == old
    assert "check quality_holds failed: recall@10 is 0.700" in failure_text(result)


def test_a_person_decides_otherwise(automated: Automated, source: Repository) -> None:
    automated.run(LABEL)
    candidate = pending_build_id(automated.home, LABEL)
    assert candidate is not None
    activate(automated.home, LABEL, candidate)
    result = automated.run(LABEL)
    assert result.success, failure_text(result)
    assert served(automated) == candidate


def test_in_a_backfill_the_others_go_on(automated: Automated, source: Repository) -> None:
    automated.repository("zoo", ref="main")
    automated.register("zoo")
    old = served(automated)
    result = automated.run(LABEL, "zoo@main")
    assert not result.success and served(automated) == old
    said = failure_text(result)
    assert LABEL in said and "recall@10 is 0.700" in said and "(stage eval_runs)" in said
    assert active_pointer(automated.home, "zoo@main") is not None


def test_a_new_build_changes_the_data_version_that_the_pointer_waits_for(automated: Automated, tmp_path: Path) -> None:
    """Also without questions: else nobody who works with conditions would ever get a new index."""
    made = automated.repository("plain", ref="main")
    label = automated.register("plain")
    automated.run(label)
    before = automated.data_version("eval_runs", label)
    automated.run(label)
    assert automated.data_version("eval_runs", label) == before is not None
    made.commit({"README.md": "# Other\n\nWords.\n"})
    automated.run(label)
    assert automated.data_version("eval_runs", label) != before


def test_marks_of_a_judge_are_plotted(automated: Automated, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_questions(tmp_path / "questions.jsonl")
    made = automated.repository("shop", ref="main", eval_set="questions.jsonl", include=["src/"])
    made.commit(good())
    automated.register("shop")
    with ModelServer() as server:
        marks = {"reason": "So it is.", "faithful": 5, "relevant": 3, "complete": 1}
        server.respond = lambda asked: completion(json.dumps(marks) if asked.number else "well", model="wise")
        for name, value in (
            ("EVALUATION__ANSWERS", "true"),
            ("EVALUATION__JUDGE", "premium"),
            ("ANSWER__BASE_URL", server.url),
            ("ANSWER__PIPELINE", "code_question_answering_offline"),
            ("ANSWER__BALANCED__MODEL", "writer"),
            ("ANSWER__PREMIUM__MODEL", "wise"),
            ("ANSWER__PREMIUM__PRICE_IN", "1000"),
        ):
            monkeypatch.setenv(f"{ENV_PREFIX}{name}", value)
        result = automated.run(LABEL)
        asked = len(server.asked)
    assert result.success, failure_text(result)
    (shown,) = (found.metadata for found in result.asset_materializations_for_node("eval_runs"))
    plotted = {name: shown[f"judge {name}"].value for name in ("score", "faithful", "relevant", "complete", "cost")}
    judged = int(str(shown["judge judged"].value))
    assert plotted == {"score": 0.5, "faithful": 5, "relevant": 3, "complete": 1, "cost": pytest.approx(asked / 10)}
    assert judged + 1 == asked and shown["judge not judged"].value == 0
