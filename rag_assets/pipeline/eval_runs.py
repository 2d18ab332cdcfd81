"""Stage `eval_runs`: asks a build the questions of its repository before anybody can read it, and decides whether it
answers as well as the generation that is served. A build that does not is finished and kept, and not served.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec

from rag_assets.contracts.confidentiality import Confidentiality
from rag_assets.contracts.embedder import Embedder
from rag_assets.contracts.identity import cache_key
from rag_assets.errors import RagAssetsError
from rag_assets.evaluation.comparison import difference
from rag_assets.evaluation.gate import GateRules, decide
from rag_assets.evaluation.metrics import METRICS_VERSION
from rag_assets.evaluation.persist import keep_run
from rag_assets.evaluation.questions import QuestionSet, load_questions
from rag_assets.evaluation.runs import EvalError, conditions_of, run_questions
from rag_assets.evaluation.selection import about, marked
from rag_assets.evaluation.summary import summarise
from rag_assets.evaluation.tables import category_rows, format_rank, move_rows
from rag_assets.index.eval_records import (
    Decision,
    EvalRun,
    forget_decision,
    read_decision,
    read_run,
    write_decision,
    write_run,
)
from rag_assets.index.generations import (
    Generation,
    GenerationError,
    active_pointer,
    generation_directory,
    read_generation,
    write_manifest,
)
from rag_assets.index.integrity import unservable
from rag_assets.index.promotion import is_set_aside
from rag_assets.models import model_id, open_embedder
from rag_assets.pipeline.build import BuildError, IndexBuild, StageReport, manifest_of, remove_leftovers
from rag_assets.pipeline.checks.generation_checks import (
    GATE_CHECK,
    NO_EVAL_SET,
    question_file_of,
    refusal,
    run_blocking_checks,
)
from rag_assets.pipeline.collect_garbage import prune_old
from rag_assets.pipeline.commit_subjects import known_commits
from rag_assets.pipeline.progress import Progress, Silent
from rag_assets.pipeline.versions import stage_version
from rag_assets.search.index import LabelIndex, opened_policy
from rag_assets.search.ranking import RANKING_VERSION
from rag_assets.settings import Settings

_SHOWN_WORST = 20


def eval_tables(decision: Decision, candidate: EvalRun) -> dict[str, list[dict[str, Any]]]:
    """Name of a table → its rows; one without rows is not shown."""
    metrics = [
        {
            "metric": change.metric,
            "candidate": f"{change.candidate:.3f}",
            "active": "" if change.active is None else f"{change.active:.3f}",
            "delta": "" if change.delta is None else f"{change.delta:+.3f}",
            "at least": "" if change.floor is None else f"{change.floor:.3f}",
            "holds": "yes" if change.holds else "no",
        }
        for change in decision.changes
    ]
    worse = [
        {
            "question": f"{question.id}: {question.question}",
            "rank before": format_rank(question.active_rank),
            "rank now": format_rank(question.candidate_rank),
        }
        for question in decision.worse
    ]
    lost = sorted(candidate.results, key=lambda result: (result.first_rank or 1 << 31, result.id), reverse=True)
    worst = [
        {"question": f"{result.id}: {result.question}", "rank": format_rank(result.first_rank)}
        for result in lost[:_SHOWN_WORST]
        if result.first_rank != 1
    ]
    gate = {
        "verdict": decision.verdict.value,
        "reason": decision.reason,
        "active": decision.active_generation_id,
        "set": decision.set,
        "fingerprint": decision.fingerprint[:12],
    }
    categories = category_rows(summarise(candidate))
    return {
        "gate": [gate],
        "metrics": metrics,
        "categories": categories if len(categories) > 1 else [],
        "got worse": worse,
        "against the active generation": move_rows(candidate.against),
        "worst questions": worst,
    }


STAGE = "eval_runs"
_READ = ("embeddings", "bm25_artifacts", "qdrant_points")  # what answers a question
_EVERYTHING = Confidentiality.RESTRICTED  # what is measured is the index, not what somebody may see of it

SERVED = "it is served already"
SET_ASIDE = "not judged, because a person had moved the label away from it"


class QualityRefused(BuildError):
    """The promotion gate refused a build; the generation that is served stays. The text has numbers and next steps."""


def evaluate(build: IndexBuild, progress: Progress | None = None, run_id: str = "") -> StageReport:
    """Measures the build and the generation that is served on the same questions, decides, and stores both (E24, E25).

    What was measured before is not measured again: runs are kept with their generation. A build that is refused gets
    its manifest here, so that it can be looked at, compared and served by hand. Raises QuestionSetError, EvalError,
    or BuildError where the served generation cannot be asked the questions.
    """
    shown = progress or Silent()
    path = question_file_of(build)
    if path is None:
        return _without_questions(build)
    questions = about(load_questions(path), manifest_of(build, ""), knows=known_commits(build.directory))
    settled = _settled(build)
    against = _against(build, settled)
    done = build.finished(STAGE, _inputs(build, questions, against))
    known = read_decision(build.directory)
    if done is not None and known is not None and not (known.refused and settled):
        return done
    if settled:  # where a person has decided, also against the gate, it has nothing to say
        against = ""
    bench = _Bench(build, questions, shown)
    candidate = bench.candidate()
    active, alone = bench.served(against)
    candidate = bench.answered(candidate)
    bench.end()
    decision = decide(candidate, active, _rules(build, settled), alone=settled or alone)
    write_decision(build.directory, decision)
    candidate = replace(candidate, against=difference(active, candidate) if active is not None else None)
    write_run(build.directory, candidate)
    problems = [*bench.problems, *(_keep_refused(build, decision, run_id) if decision.refused else ())]
    inputs = _inputs(build, questions, against)
    report = StageReport(
        stage=STAGE,
        version=stage_version(STAGE),
        inputs=inputs,
        output=cache_key(STAGE, inputs, msgspec.json.encode(decision).decode()).hex(),
        counts={
            "questions": decision.questions,
            "worse": len(decision.worse),
            "better": decision.better,
            "refused": int(decision.refused),
        },
        work={"asked": bench.asked},
        measures=candidate.metrics,
        tables=eval_tables(decision, candidate),
        problems=[*(refusal(decision) if decision.refused else ()), *problems],
    )
    return build.finish(report)


def require_quality(build: IndexBuild) -> Decision | None:
    """The decision about the build, None without an eval set. Raises QualityRefused where it is refused."""
    decision = read_decision(build.directory)
    if decision is not None and decision.refused:
        raise QualityRefused(f"{build.spec.index_label}: check {GATE_CHECK} failed: {'; '.join(refusal(decision))}")
    return decision


class _Bench:
    """Runs the questions where no run of theirs is stored, and counts what it asked."""

    def __init__(self, build: IndexBuild, questions: QuestionSet, progress: Progress) -> None:
        self.asked = 0
        self.problems: list[str] = []
        self._build = build
        self._questions = questions
        self._progress = progress
        self._k = build.settings.evaluation.k
        self._policy = opened_policy(build.settings.search)
        self._embedder: Embedder | None = None

    def candidate(self) -> EvalRun:
        """The build itself, opened by its directory: it has no manifest yet that would let others read it."""
        subject = _subject(self._build)
        generation = Generation(self._build.directory, manifest_of(self._build, ""))
        stored = self._stored(generation)
        if stored is not None and (stored.subject == subject or self._build.is_finished):
            return stored
        return self._run(generation, subject)

    def answered(self, run: EvalRun) -> EvalRun:
        """The run of the build with answers, where the settings want them. They decide nothing, so what keeps them from
        being asked is a problem to report (E25)."""
        rules, answer = self._build.settings.evaluation, self._build.settings.answer
        if not rules.answers:
            return run
        from rag_assets.evaluation.answers import settings_digest, with_answers  # loads all that answers
        from rag_assets.evaluation.judge import configured_judge
        from rag_assets.qa.ask_options import options_of

        settings = settings_digest(answer, rules.answer_limit, rules.answered_share)
        try:
            judge = configured_judge(self._build.settings)
        except RagAssetsError as error:
            self.problems.append(f"no answers were measured: {error}")
            return run
        wanted = None if judge is None else judge.how
        if run.answering is not None and run.answering.settings == settings and run.judging == wanted:
            return run
        total = len(self._questions.questions)
        self._progress.begin(STAGE, total if rules.answer_limit is None else min(total, rules.answer_limit), "answers")
        generation = Generation(self._build.directory, manifest_of(self._build, ""))
        try:
            with self._index(generation) as index:
                made = with_answers(
                    run,
                    index,
                    marked(self._questions, known_commits(generation.directory)),
                    options_of(answer),
                    answered_share=rules.answered_share,
                    settings=settings,
                    limit=rules.answer_limit,
                    judge=judge,
                    asked=self._note,
                )
        except RagAssetsError as error:
            self.problems.append(f"no answers were measured: {error}")
            return run
        self._keep(generation, made)
        return made

    def served(self, generation_id: str) -> tuple[EvalRun | None, str]:
        """The run of the served generation, or None and why there is none to compare with."""
        label = self._build.spec.index_label
        if not generation_id:
            return None, f"{label} serves nothing yet"
        try:
            generation = read_generation(self._build.home, label, generation_id)
        except GenerationError as error:
            return None, f"nothing to compare with: {error}"
        stored = self._stored(generation)
        if stored is not None:
            return stored, ""
        lost = unservable(self._build.home, generation)
        if lost:
            return None, f"nothing to compare with: {generation_id} is damaged ({'; '.join(lost)})"
        try:
            return self._run(generation, ""), ""
        except EvalError as error:
            if not self._build.settings.evaluation.gate:
                return None, f"nothing to compare with: {error}"
            raise BuildError(
                f"{label}: {error}; without its numbers the gate cannot compare. Index once with the question set or "
                "the model that it knows, or set evaluation.gate to false for one run"
            ) from error

    def end(self) -> None:
        if self.asked:
            self._progress.end(f"{self.asked} questions asked")

    def _stored(self, generation: Generation) -> EvalRun | None:
        found = read_run(generation.directory, self._questions.name)
        if found is None or not found.measures(self._questions.fingerprint, self._k, METRICS_VERSION):
            return None
        wanted = conditions_of(generation, self._policy, _EVERYTHING)
        same = (wanted, generation.manifest.generation_id)
        return found if (found.conditions, found.generation_id) == same else None

    def _run(self, generation: Generation, subject: str) -> EvalRun:
        self._progress.begin(STAGE, len(self._questions.answerable), "questions")
        questions = marked(self._questions, known_commits(generation.directory))
        with self._index(generation) as index:
            run = run_questions(index, questions, self._k, subject=subject, asked=self._note)
        self._keep(generation, run)
        return run

    def _index(self, generation: Generation) -> LabelIndex:
        embedder = self._embedder_of(generation)
        return LabelIndex(self._build.home, generation, embedder=embedder, clearance=_EVERYTHING, policy=self._policy)

    def _keep(self, generation: Generation, run: EvalRun) -> None:
        record = keep_run(self._build.home, generation, run)
        if self._build.settings.stores.catalog != "none":
            from rag_assets.index.catalog.eval_runs import keep_record  # loads a database library

            self.problems += keep_record(self._build.settings, generation.manifest, record)

    def _note(self, question_id: str) -> None:
        self.asked += 1
        self._progress.advance(1, question_id)

    def _embedder_of(self, generation: Generation) -> Embedder | None:
        """The configured model where it made the vectors; None lets the index find the one that did."""
        settings = self._build.settings.embedder
        if generation.manifest.lexical_only or generation.manifest.embedding_model != model_id(settings):
            return None
        if self._embedder is None:
            self._embedder = open_embedder(settings, self._build.home.cache)
        return self._embedder


def _without_questions(build: IndexBuild) -> StageReport:
    inputs = build.inputs_of(STAGE, *_READ)
    forget_decision(build.directory)
    done = build.finished(STAGE, inputs)
    if done is not None:
        return done
    report = StageReport(
        stage=STAGE,
        version=stage_version(STAGE),
        inputs=inputs,
        output=cache_key(STAGE, inputs).hex(),
        tables={"gate": [{"verdict": "passed", "reason": NO_EVAL_SET}]},
    )
    return build.finish(report)


def _settled(build: IndexBuild) -> str:
    """Why the gate has nothing to decide about a build, or nothing."""
    pointer = active_pointer(build.home, build.spec.index_label)
    if pointer is not None and pointer.generation_id == build.spec.generation_id and build.is_finished:
        return SERVED
    return SET_ASIDE if is_set_aside(pointer, build.spec.generation_id) else ""


def _against(build: IndexBuild, settled: str) -> str:
    """The generation to compare with. A build that is served by now keeps the comparison that it was promoted with."""
    if settled:
        known = read_decision(build.directory)
        return known.active_generation_id if known is not None else ""
    pointer = active_pointer(build.home, build.spec.index_label)
    return pointer.generation_id if pointer is not None else ""


def _inputs(build: IndexBuild, questions: QuestionSet, against: str) -> str:
    rules, search = build.settings.evaluation.model_dump_json(), build.settings.search.model_dump_json()
    answer = _asked_for_answers(build.settings) if build.settings.evaluation.answers else ""
    asked = (questions.name, questions.fingerprint, search, answer, RANKING_VERSION)
    return cache_key(_subject(build), *map(str, asked), rules, against).hex()


def _asked_for_answers(settings: Settings) -> str:
    """What decides the answers and their marks, besides the rules of the evaluation."""
    from rag_assets.evaluation.judge import rubric_stamp

    return f"{settings.answer.model_dump_json()}{rubric_stamp(settings.evaluation)}"


def _subject(build: IndexBuild) -> str:
    return build.inputs_of(STAGE, *_READ)


def _rules(build: IndexBuild, settled: str) -> GateRules:
    chosen = build.settings.evaluation
    if settled:
        return GateRules(chosen.metrics, chosen.tolerance, enabled=False)
    minimum = {str(metric): value for metric, value in chosen.minimum.items()}
    return GateRules(chosen.metrics, chosen.tolerance, minimum, chosen.gate)


def _keep_refused(build: IndexBuild, decision: Decision, run_id: str) -> list[str]:
    """Finishes a build that is refused. Only a sound one: a person may choose to serve it."""
    run_blocking_checks(build, without=[GATE_CHECK])
    finish_build(build, decision, run_id)
    _, problems = prune_old(build)
    return problems


def finish_build(build: IndexBuild, decision: Decision | None, run_id: str) -> None:
    """Writes the manifest, which makes the generation readable. One that was refused and is finished keeps its own,
    with the new decision in it."""
    manifest = manifest_of(build, run_id, decision)
    if build.is_finished:
        known = read_generation(build.home, build.spec.index_label, build.spec.generation_id).manifest
        if known.evaluation == manifest.evaluation:
            return
        manifest = replace(known, evaluation=manifest.evaluation)
    remove_leftovers(build)  # a run that was repeated from the stage that died did not begin the build anew
    label = build.spec.index_label
    served = active_pointer(build.home, label)
    like = generation_directory(build.home, label, served.generation_id) if served is not None else None
    write_manifest(build.directory, manifest, like=like)
