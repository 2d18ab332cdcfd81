"""The promotion gate over real builds: three commits, of which the third lost names and comments."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rag_assets.evaluation.questions import QuestionSetError
from rag_assets.index.catalog import open_catalog
from rag_assets.index.catalog.eval_runs import read_records
from rag_assets.index.catalog.history import Tenant
from rag_assets.index.eval_records import RankChange, Verdict, read_decision, read_history, read_run, read_runs
from rag_assets.index.generations import (
    active_generation,
    active_pointer,
    finished_generations,
    generation_directory,
    read_generation,
)
from rag_assets.index.inventory import GenerationState, inventory
from rag_assets.index.promotion import activate, roll_back
from rag_assets.pipeline.active_index import activate as activate_build
from rag_assets.pipeline.build import BuildError, candidate_build
from rag_assets.pipeline.checks.generation_checks import GATE_CHECK, quality_holds
from rag_assets.pipeline.eval_runs import QualityRefused, evaluate
from rag_assets.settings import AnswerSettings
from rag_assets.settings.search import ModelProfile
from rag_assets_tests.evaluation.graded import (
    BAD,
    QUESTIONS,
    TOPICS,
    emptied,
    good,
    new_graded,
    with_rules,
    write_questions,
)
from rag_assets_tests.generation_history import History
from rag_assets_tests.models.llm.model_server import ModelServer, Reply, completion, failing
from rag_assets_tests.records import edit_record

pytestmark = pytest.mark.rule("E25")


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> History:
    """Two good commits, indexed; the second one is served."""
    history = new_graded(tmp_path_factory.mktemp("graded"))
    first = history.index()[0].spec.generation_id
    second = history.commit({"docs/guide.md": "# Guide\n\nHow to order.\n"})
    return replace(history, ids=(first, second))


def with_own_questions(original: History, folder: Path) -> History:
    made = original.copy(folder)
    questions = write_questions(folder / "questions.jsonl")
    return replace(made, repository=made.repository.model_copy(update={"eval_set": questions}))


@pytest.fixture
def history(original: History, tmp_path: Path) -> History:
    """A copy with a question set of its own."""
    return with_own_questions(original, tmp_path)


@pytest.fixture(scope="module")
def refused_once(original: History, tmp_path_factory: pytest.TempPathFactory) -> History:
    """The third commit, refused; `ids` has it."""
    history = with_own_questions(original, tmp_path_factory.mktemp("refused"))
    history.source.commit(BAD)
    with pytest.raises(QualityRefused):
        history.index()
    (made,) = set(finished_generations(history.home, history.label)) - set(history.ids)
    return replace(history, ids=(*history.ids, made))


@pytest.fixture
def refused(refused_once: History, tmp_path: Path) -> History:
    """A copy of it, with a question set of its own."""
    return with_own_questions(refused_once, tmp_path)


def served(history: History) -> str:
    return active_generation(history.home, history.label).manifest.generation_id


def directory(history: History, number: int) -> Path:
    return generation_directory(history.home, history.label, history.ids[number])


def states(history: History) -> dict[str, GenerationState]:
    return {entry.generation_id: entry.state for entry in inventory(history.home, history.label)}


@pytest.mark.rule("E24")
def test_a_good_build_is_served_with_its_numbers(original: History) -> None:
    decision = read_decision(directory(original, 1))
    assert decision is not None and decision.verdict is Verdict.PASSED
    assert decision.active_generation_id == original.ids[0]
    run = read_run(directory(original, 1), "questions")
    assert run is not None and run.metrics["recall@3"] == 1.0
    refund = next(result for result in run.results if result.id == "q-refund")
    assert refund.files[0].path == "src/RefundService.cs" and refund.files[0].point_id and refund.first_rank == 1
    assert len({file.path for file in refund.files}) == len(refund.files)
    summary = active_generation(original.home, original.label).manifest.evaluation
    assert summary is not None and (summary.set, summary.questions, summary.verdict) == ("questions", 10, "passed")
    assert summary.metrics == run.metrics and summary.fingerprint == run.fingerprint


def test_a_worse_build_is_refused_and_kept(refused: History) -> None:
    assert served(refused) == refused.ids[1], "the old one goes on serving"
    decision = read_decision(directory(refused, 2))
    assert decision is not None and decision.refused
    change = decision.changes[0]
    assert (change.metric, change.candidate, change.active) == ("recall@3", 0.7, 1.0)
    assert [question.id for question in decision.worse] == ["q-invoice", "q-refund", "q-voucher"]
    manifest = read_generation(refused.home, refused.label, refused.ids[2]).manifest
    assert manifest.evaluation is not None and manifest.evaluation.verdict == "refused"
    assert states(refused) == {
        refused.ids[0]: GenerationState.PREVIOUS,
        refused.ids[1]: GenerationState.ACTIVE,
        refused.ids[2]: GenerationState.REFUSED,
    }
    (entry,) = (entry for entry in inventory(refused.home, refused.label) if entry.state is GenerationState.REFUSED)
    assert entry.metrics["questions"]["recall@3"] == 0.7 and "30.0% below the 1.000" in entry.problem


@pytest.mark.rule("E24")
def test_a_run_keeps_what_it_answers_differently_than_what_is_served(refused: History) -> None:
    run = read_run(directory(refused, 2), "questions")
    assert run is not None and run.against is not None
    assert (run.against.generation_id, run.against.count(RankChange.LOST), run.against.same) == (refused.ids[1], 3, 7)
    first = read_run(directory(refused, 0), "questions")
    assert first is not None and first.against is None, "there was nothing to compare with"
    build = candidate_build(refused.home, refused.settings, refused.label)
    shown = build.required("eval_runs").tables["against the active generation"]
    assert [(row["move"], row["rank before"], row["rank now"]) for row in shown] == [("lost", "1", "none")] * 3
    assert [known.generation_id for known in read_history(refused.home, refused.label)] == list(refused.ids)


@pytest.mark.rule("E24")
def test_numbers_go_to_the_catalog_where_there_is_one(history: History) -> None:
    stores = history.settings.stores.model_copy(update={"catalog": "sqlite"})
    settings = history.settings.model_copy(update={"stores": stores})
    made = replace(history, settings=settings).commit({"docs/more.md": "# More\n\nHow to pay.\n"})
    manifest = active_generation(history.home, history.label).manifest
    with open_catalog(settings) as database:
        found = read_records(database, Tenant(manifest.org_id, manifest.project_id, history.label))
    assert found == [known for known in read_history(history.home, history.label) if known.generation_id == made]


@pytest.mark.rule("E24")
def test_questions_about_other_repositories_are_not_asked(history: History) -> None:
    asked = [QUESTIONS[0] | {"repository": "acme/shop"}, QUESTIONS[1] | {"repository": "acme/web"}]
    questions = write_questions(Path(str(history.repository.eval_set)), asked)
    made = history.commit({"docs/more.md": "# More\n\nHow to pay.\n"})
    run = read_run(generation_directory(history.home, history.label, made), "questions")
    assert run is not None and [result.id for result in run.results] == ["q-refund"]
    write_questions(questions, asked[1:])
    history.source.commit({"docs/more.md": "# More\n\nHow to pay at once.\n"})
    with pytest.raises(QuestionSetError, match="no question is about shop; it has questions about: acme/web"):
        history.index()


def test_the_refusal_says_what_to_do(history: History) -> None:
    history.source.commit(BAD)
    with pytest.raises(QualityRefused) as caught:
        history.index()
    said = str(caught.value)
    for part in (
        "shop@main",
        f"recall@3 is 0.700, 30.0% below the 1.000 of {history.ids[1]} (tolerance 5%)",
        "q-invoice (rank 1 → none)",
        f"rag-assets generations compare {history.ids[1]} ",
        "rag-assets generations activate ",
        "evaluation.tolerance",
    ):
        assert part in said


def test_the_same_commit_again_says_the_same_without_work(refused: History) -> None:
    gate = (directory(refused, 2) / "gate.json").stat().st_mtime_ns
    runs = (directory(refused, 2) / "eval" / "questions.json").stat().st_mtime_ns
    with pytest.raises(QualityRefused, match=r"30\.0% below"):
        refused.index()
    assert (directory(refused, 2) / "gate.json").stat().st_mtime_ns == gate
    assert (directory(refused, 2) / "eval" / "questions.json").stat().st_mtime_ns == runs
    assert set(finished_generations(refused.home, refused.label)) == set(refused.ids)


def test_the_pointer_stage_alone_asks_the_gate(refused: History) -> None:
    """The Dagster asset can be materialized alone; so can this function be called."""
    settings = refused.settings.model_copy(update={"repositories": (refused.repository,)})
    build = candidate_build(refused.home, settings, refused.label)
    with pytest.raises(QualityRefused):
        activate_build(build)
    (build.directory / "gate.json").unlink()
    build.record_path("eval_runs").unlink()
    with pytest.raises(QualityRefused):
        activate_build(build)
    assert served(refused) == refused.ids[1]


@pytest.mark.parametrize(
    ("rules", "passes"),
    [
        pytest.param({"tolerance": 0.3}, True, id="tolerance"),
        pytest.param({"tolerance": 0.29}, False, id="tolerance just too small"),
        pytest.param({"gate": False}, True, id="gate off"),
        pytest.param({"minimum": {"recall": 0.8}, "tolerance": 0.5}, False, id="minimum"),
        pytest.param({"metrics": ("hit",), "tolerance": 0.1}, False, id="metrics"),
        pytest.param({"k": 1, "tolerance": 0.3}, True, id="k"),
    ],
)
def test_settings_change_the_outcome(refused: History, rules: dict[str, Any], passes: bool) -> None:
    changed = with_rules(refused, **rules)
    if passes:
        assert changed.index()[0].spec.generation_id == refused.ids[2], "nothing is built again"
        assert served(changed) == refused.ids[2]
        manifest = active_generation(changed.home, changed.label).manifest
        assert manifest.evaluation is not None and manifest.evaluation.verdict == "passed"
        assert changed.index()[1]["eval_runs"].unchanged
    else:
        with pytest.raises(QualityRefused):
            changed.index()
        assert served(changed) == refused.ids[1]


def test_a_person_may_serve_what_was_refused(refused: History) -> None:
    activate(refused.home, refused.label, refused.ids[2])
    _, reports = refused.index()
    assert reports["active_index"].unchanged and served(refused) == refused.ids[2]
    assert states(refused)[refused.ids[2]] is GenerationState.ACTIVE
    mended = refused.commit(emptied(("Refund", "Invoice")) | {"src/VoucherService.cs": good()["src/VoucherService.cs"]})
    assert served(refused) == mended, "what is served now is what counts"


def test_what_a_person_serves_has_passed(refused: History) -> None:
    activate(refused.home, refused.label, refused.ids[2])
    build, reports = refused.index()
    assert quality_holds(build).passed
    assert reports["eval_runs"].tables["gate"][0]["reason"] == "it is served already"
    assert reports["eval_runs"].work == {"asked": 0}
    assert refused.index()[1]["eval_runs"].unchanged


def test_what_a_person_moved_away_from_does_not_fail_every_night(refused: History) -> None:
    activate(refused.home, refused.label, refused.ids[2])
    roll_back(refused.home, refused.label)
    _, reports = refused.index()
    assert "a person chose" in reports["active_index"].problems[0]
    assert served(refused) == refused.ids[1]


def test_a_mended_commit_is_served_after_a_refusal(refused: History) -> None:
    assert refused.commit(good()) == served(refused)


def test_refused_builds_do_not_fill_the_disk(refused: History) -> None:
    for number in range(4):
        refused.source.commit({"docs/guide.md": f"# Guide\n\nEdition {number}.\n"})
        with pytest.raises(QualityRefused):
            refused.index()
    left = finished_generations(refused.home, refused.label)
    assert len(left) <= refused.settings.retention.keep + 1
    assert refused.ids[1] in left and served(refused) == refused.ids[1]


def test_changed_questions_are_asked_of_both(history: History) -> None:
    """Only what was measured on the same questions is compared: the served one is asked again."""
    assert history.repository.eval_set is not None
    write_questions(history.repository.eval_set, [q for q in QUESTIONS if q["id"] not in ("q-refund", "q-invoice")])
    history.source.commit(emptied(("Refund", "Invoice")))
    build, reports = history.index()
    assert served(history) == build.spec.generation_id, "what got worse is not asked for any more"
    assert reports["eval_runs"].work == {"asked": 16}
    old = read_run(directory(history, 1), "questions")
    new = read_run(build.directory, "questions")
    assert old is not None and new is not None and old.fingerprint == new.fingerprint


def test_another_question_set_does_not_build_another_index(history: History) -> None:
    assert history.repository.eval_set is not None
    write_questions(history.repository.eval_set, QUESTIONS[:3])
    build, reports = history.index()
    assert build.spec.generation_id == history.ids[1]
    unchanged = {stage for stage, report in reports.items() if report.unchanged}
    assert unchanged == set(reports) - {"eval_runs"}
    assert reports["eval_runs"].measures["recall@3"] == 1.0
    assert history.index()[1]["eval_runs"].unchanged
    assert history.repository.eval_set.name not in (build.directory / "build.json").read_text(), "nor is it part of it"


def test_without_a_question_set_everything_passes(refused: History) -> None:
    plain = replace(refused, repository=refused.repository.model_copy(update={"eval_set": None}))
    build, reports = plain.index()
    assert served(plain) == refused.ids[2]
    assert reports["eval_runs"].tables["gate"] == [{"verdict": "passed", "reason": "no eval set"}]
    assert quality_holds(build).passed and read_decision(build.directory) is None
    assert active_generation(plain.home, plain.label).manifest.evaluation is None


def test_a_label_that_was_never_measured_gets_its_baseline(tmp_path: Path) -> None:
    history = new_graded(tmp_path)
    unmeasured = replace(history, repository=history.repository.model_copy(update={"eval_set": None}))
    first = unmeasured.index()[0]
    assert read_runs(first.directory) == []
    history.source.commit(BAD)
    with pytest.raises(QualityRefused, match=r"30\.0% below the 1\.000"):
        history.index()
    assert read_run(first.directory, "questions") is not None


def test_the_first_build_must_reach_the_minimum(tmp_path: Path) -> None:
    history = new_graded(tmp_path, minimum={"recall": 0.9})
    history.source.commit(BAD)
    with pytest.raises(QualityRefused, match=r"recall@3 is 0.700, below the minimum of 0.900"):
        history.index()
    assert active_pointer(history.home, history.label) is None


def test_a_served_build_that_is_damaged_does_not_stop_its_successor(history: History) -> None:
    assert history.repository.eval_set is not None
    write_questions(history.repository.eval_set, QUESTIONS[:9])  # or else its stored run would do
    for path in (directory(history, 1) / "shard").rglob("*"):
        if path.is_file():
            path.unlink()
    history.source.commit(BAD)
    build, reports = history.index()
    assert served(history) == build.spec.generation_id
    assert "is damaged" in reports["eval_runs"].tables["gate"][0]["reason"]


def lose(path: Path) -> None:
    path.unlink()


def cut(path: Path) -> None:
    path.write_text(path.read_text(encoding="utf-8")[:-20], encoding="utf-8")


@pytest.mark.parametrize(("spoil", "said"), [(lose, "there is no such file"), (cut, ":10: not one JSON object")])
def test_a_set_that_cannot_be_read_serves_nothing_new(
    history: History, spoil: Callable[[Path], None], said: str
) -> None:
    path = history.repository.eval_set
    assert path is not None
    spoil(path)
    history.source.commit({"docs/new.md": "# New\n"})
    with pytest.raises(QuestionSetError, match=said):
        history.index()
    assert served(history) == history.ids[1]
    write_questions(path)
    _, reports = history.index()
    assert reports["qdrant_points"].unchanged, "only the questions were missing"
    assert served(history) not in history.ids


def test_files_that_moved_are_named(history: History) -> None:
    history.source.git("mv", "src/LoginService.cs", "src/SignIn.cs")
    history.source.commit({})
    with pytest.raises(QualityRefused, match=r"not in this commit: src/LoginService.cs"):
        history.index()


def test_a_broken_build_is_not_finished_by_the_gate(history: History) -> None:
    """A person may serve what the gate refused; what failed a check nobody may."""
    history.source.commit(BAD)
    settings = history.settings.model_copy(
        update={"evaluation": history.settings.evaluation.model_copy(update={"gate": False})}
    )
    build, _ = replace(history, settings=settings).index()
    roll_back(history.home, history.label)
    (build.directory / "manifest.json").unlink()
    pointer = history.home.label(history.label) / "active.json"
    edit_record(pointer, f'"{build.spec.generation_id}"', '"gone"')
    record = build.record_path("qdrant_points")
    edit_record(record, '"blocked": 0', '"blocked": 1')
    with pytest.raises(BuildError, match="payloads_are_valid") as caught:
        history.index()
    assert not isinstance(caught.value, QualityRefused)
    assert not build.is_finished


def test_the_check_speaks_of_a_build_that_was_never_asked(history: History) -> None:
    settings = history.settings.model_copy(update={"repositories": (history.repository,)})
    build = candidate_build(history.home, settings, history.label)
    assert quality_holds(build).passed
    (build.directory / "gate.json").unlink()
    found = quality_holds(build)
    assert not found.passed and "materialize eval_runs" in found.examples[0]
    evaluate(build)
    assert quality_holds(build).passed and GATE_CHECK == "quality_holds"


DRIVER = """
import os, sys
from dataclasses import replace
from pathlib import Path
import rag_assets.evaluation.runs as runs
from rag_assets.settings import EmbedderSettings, EvaluationSettings, RepositorySettings, Settings
from rag_assets.pipeline.run_stages import run_stages
home, source, questions, die_at = sys.argv[1:5]
asked = 0
original = runs._search
def search(*positional):
    global asked
    asked += 1
    if asked == int(die_at):
        os.kill(os.getpid(), 9)
    return original(*positional)
runs._search = search
settings = Settings(home=Path(home), embedder=EmbedderSettings(provider="lexical-only"),
                    evaluation=EvaluationSettings(k=3), workers=1)
run_stages(settings, "shop@main", RepositorySettings(id="shop", location=source, ref="main", eval_set=questions))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="kill -9")
def test_after_a_kill_among_the_questions_the_next_run_decides(history: History) -> None:
    history.source.commit(BAD)
    script = [sys.executable, "-c", DRIVER, str(history.home.root), str(history.source.path)]
    killed = subprocess.run([*script, str(history.repository.eval_set), "6"], env=dict(os.environ))
    assert killed.returncode == -9
    assert served(history) == history.ids[1]
    assert set(finished_generations(history.home, history.label)) == set(history.ids), "no manifest without a verdict"
    with pytest.raises(QualityRefused, match=r"30\.0% below"):
        history.index()


def test_with_the_local_model(tmp_path: Path) -> None:
    """Hybrid search finds some files again by what their paths say and by synonyms of it, and not all of them first."""
    history = new_graded(tmp_path, provider="static-code", k=1)
    build = history.index()[0]
    run = read_run(build.directory, "questions")
    assert run is not None and run.mode == "hybrid" and run.metrics["recall@1"] == 1.0
    history.source.commit(emptied(tuple(TOPICS)))
    with pytest.raises(QualityRefused, match=r"recall@1 is 0"):
        history.index()
    keyword_only = history.settings.without_vectors()
    lexical = replace(history, settings=keyword_only)
    with pytest.raises(QualityRefused):
        lexical.index()
    assert served(history) == build.spec.generation_id


@pytest.mark.rule("E22", "E24")
def test_a_build_is_asked_for_answers_where_the_settings_say_so(history: History) -> None:
    asked = [*QUESTIONS, {"id": "pasta", "question": "How long should pasta boil?", "answerable": False}]
    write_questions(Path(str(history.repository.eval_set)), asked)
    made = with_rules(history, answers=True).commit({"docs/more.md": "# More\n\nHow to pay.\n"})
    run = read_run(generation_directory(history.home, history.label, made), "questions")
    assert run is not None and run.answering is not None
    assert [result.is_answered for result in run.answers] == [True] * 10 + [False]
    limited = with_rules(history, answers=True, answer_limit=4)
    made = limited.commit({"docs/more.md": "# More\n\nHow to pay at once.\n"})
    run = read_run(generation_directory(history.home, history.label, made), "questions")
    assert run is not None and (len(run.answers), len(run.results)) == (4, 10)


@pytest.mark.rule("E24")
def test_answers_never_decide_the_gate(history: History) -> None:
    """A pipeline that there is not: nothing is answered, the build is served, and the report says why."""
    settings = history.settings.model_copy(update={"answer": AnswerSettings(pipeline="nope")})
    broken = with_rules(replace(history, settings=settings), answers=True)
    broken.source.commit({"docs/more.md": "# More\n\nHow to pay.\n"})
    build, reports = broken.index()
    assert served(history) == build.spec.generation_id
    assert any("no answers were measured" in problem and "nope" in problem for problem in reports["eval_runs"].problems)


@pytest.mark.rule("E24")
def test_answers_are_asked_again_where_their_settings_changed(history: History) -> None:
    first = with_rules(history, answers=True)
    first.commit({"docs/more.md": "# More\n\nHow to pay.\n"})
    build, reports = first.index()
    assert reports["eval_runs"].work == {"asked": 0}, "nothing is asked twice"
    strict = replace(first, settings=first.settings.model_copy(update={"answer": AnswerSettings(threshold=1.0)}))
    assert strict.index()[1]["eval_runs"].work == {"asked": 10}
    run = read_run(build.directory, "questions")
    assert run is not None and run.answering is not None and run.answering.threshold == 1.0


# the judge: an opinion


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running


def judged(history: History, server: ModelServer, **evaluation: Any) -> History:
    """Quotes answer, and a model marks them."""
    answer = AnswerSettings(
        base_url=server.url,
        balanced=ModelProfile(model="wise", price_in=1_000.0),
        pipeline="code_question_answering_offline",
        retries=0,
    )
    settings = history.settings.model_copy(update={"answer": answer})
    return with_rules(replace(history, settings=settings), answers=True, judge="balanced", **evaluation)


def marks(server: ModelServer, mark: int) -> None:
    said = {"reason": "So it is.", "faithful": mark, "relevant": mark, "complete": mark}
    server.script(completion(json.dumps(said)))


def test_a_bad_judgement_blocks_nothing(history: History, server: ModelServer) -> None:
    """The best marks for what is served, the worst for the new build: it is served all the same, and a build that the
    metrics refuse is refused with the best ones."""
    marks(server, 5)
    well = judged(history, server).commit({"docs/more.md": "# More\n\nHow to pay.\n"})
    marks(server, 1)
    badly = judged(history, server).commit({"docs/more.md": "# More\n\nHow to pay at once.\n"})
    runs = [read_run(generation_directory(history.home, history.label, made), "questions") for made in (well, badly)]
    scores = [{one.judged.score for one in run.answers if one.judged} for run in runs if run is not None]
    assert scores == [{1.0}, {0.0}] and served(history) == badly
    decision = read_decision(generation_directory(history.home, history.label, badly))
    assert (
        decision is not None and not decision.refused and "judge" not in {change.metric for change in decision.changes}
    )
    marks(server, 5)
    history.source.commit(BAD)
    with pytest.raises(QualityRefused):
        judged(history, server).index()
    assert served(history) == badly


@pytest.mark.parametrize("reply", [failing(500), failing(401), completion("no idea")], ids=["500", "401", "prose"])
def test_a_judge_that_fails_blocks_nothing(history: History, server: ModelServer, reply: Reply) -> None:
    server.script(reply)
    made = judged(history, server).commit({"docs/more.md": "# More\n\nHow to pay.\n"})
    run = read_run(generation_directory(history.home, history.label, made), "questions")
    assert served(history) == made and run is not None
    assert {one.judged.score for one in run.answers if one.judged} == {None}
    assert all(one.judged.error for one in run.answers if one.judged)


def test_a_rubric_that_cannot_be_read_is_said_and_blocks_nothing(
    history: History, server: ModelServer, tmp_path: Path
) -> None:
    broken = judged(history, server, judge_rubric=tmp_path / "nope.md")
    broken.source.commit({"docs/more.md": "# More\n\nHow to pay.\n"})
    build, reports = broken.index()
    assert served(history) == build.spec.generation_id
    assert any("nope.md:1: the rubric cannot be read" in problem for problem in reports["eval_runs"].problems)


def test_answers_are_judged_again_by_another_rubric(history: History, server: ModelServer, tmp_path: Path) -> None:
    marks(server, 3)
    rubric = tmp_path / "rubric.md"
    rubric.write_text("# system\nBe strict.\n# user\n{question}\n{evidence}\n{draft}\n", encoding="utf-8")
    strict = judged(history, server, judge_rubric=rubric)
    strict.commit({"docs/more.md": "# More\n\nHow to pay.\n"})
    asked = len(server.asked)
    assert strict.index()[1]["eval_runs"].work == {"asked": 0} and len(server.asked) == asked
    rubric.write_text("# system\nBe mild.\n# user\n{question}\n{evidence}\n{draft}\n", encoding="utf-8")
    strict.index()
    assert len(server.asked) == 2 * asked and server.asked[-1].body["messages"][0]["content"] == "Be mild."
