"""What is refused before a pipeline runs: settings, actions, transitions, prompts, circles (D27, D33, D36)."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_assets.qa.definition.loader import PipelineLibrary
from rag_assets.qa.definition.steps import Pipeline, Transition
from rag_assets.qa.errors import PipelineError

END = "- {id: end, action: persist_turn_and_finalize}"


def load(folder: Path, steps: str, settings: str = "{entry_step_id: a}") -> Pipeline:
    indented = "\n".join(f"    {line}" for line in steps.strip().splitlines())
    file = folder / "p.yaml"
    file.write_text(f"pipeline:\n  name: p\n  settings: {settings}\n  steps:\n{indented}\n", encoding="utf-8")
    return PipelineLibrary().load(file)


def said(folder: Path, steps: str, settings: str = "{entry_step_id: a}") -> str:
    with pytest.raises(PipelineError) as raised:
        load(folder, steps, settings)
    return str(raised.value).replace(f"{folder}/", "")


@pytest.mark.rule("D36")
def test_the_names_of_transitions() -> None:
    assert [on.value for on in Transition] == [
        "on_ok", "on_over_limit", "on_semantic", "on_semantic_rerank", "on_bm25", "on_hybrid", "on_direct", "on_answer",
        "on_followup", "on_other", "on_allow", "on_deny",
    ]  # fmt: skip


@pytest.mark.rule("D27", "D33", "D36")
@pytest.mark.parametrize(
    ("steps", "problem"),
    [
        ("- {id: a, next: end}\n" + END, "p.yaml:5: step 'a': 'action' is missing"),
        (
            "- {id: a, action: finalise, next: end}\n" + END,
            "p.yaml:5: step 'a': unknown action 'finalise'; did you mean 'finalize'?",
        ),
        ("- {id: a, action: [x], next: end}\n" + END, "p.yaml:5: step 'a': unknown action"),
        (
            "- {id: a, action: finalize, next: ende}\n" + END,
            "p.yaml:5: step 'a': next: no step 'ende'; did you mean 'end'?",
        ),
        ("- {id: a, action: finalize, next: [end]}\n" + END, "p.yaml:5: step 'a': next must be the id of a step"),
        (
            "- id: a\n  action: finalize\n  profil: cheap\n  next: end\n" + END,
            "p.yaml:7: step 'a' (finalize): unknown key 'profil'; did you mean 'profile'?",
        ),
        (
            "- {id: a, action: finalize, profile: rich, next: end}\n" + END,
            "p.yaml:5: step 'a' (finalize): profile: no 'rich'; valid: cheap, balanced, premium",
        ),
        (
            "- {id: a, action: handle_prefix, on_other: end}\n" + END,
            "p.yaml:5: step 'a' (handle_prefix): 'protocol' is missing",
        ),
        (
            "- {id: a, action: call_model, prompt: 5, next: end}\n" + END,
            "p.yaml:5: step 'a' (call_model): prompt: expected `str`, got 5; put it in quotes",
        ),
        (
            "- {id: a, action: call_model, prompt: routr, next: end}\n" + END,
            "p.yaml:5: step 'a': no prompt 'routr'; did you mean 'router'?",
        ),
        (
            "- id: a\n  action: loop_guard\n  on_alow: end\n  on_deny: end\n" + END,
            "p.yaml:7: step 'a': unknown transition 'on_alow'; did you mean 'on_allow'?",
        ),
        (
            "- id: a\n  action: loop_guard\n  on_allow: end\n  on_deny: end\n  on_bm25: end\n" + END,
            "p.yaml:9: step 'a': loop_guard never ends with on_bm25; it can: on_allow, on_deny",
        ),
        ("- {id: a, action: loop_guard, on_allow: end}\n" + END, "p.yaml:5: step 'a' leads nowhere; add on_deny"),
        (
            "- {id: a, action: loop_guard, next: end}\n" + END,
            "p.yaml:5: step 'a': loop_guard can end with on_allow, on_deny; name a step for each",
        ),
        ("- {id: a, action: compact_context, on_ok: [end], on_other: end}\n" + END, "on_ok must be the id of a step"),
        (
            "- {id: a, action: finalize, next: end, on_ok: end}\n" + END,
            "p.yaml:5: step 'a' has both `next` and conditional transitions",
        ),
        ("- {id: a, action: explain_no_answer}\n" + END, "p.yaml:5: step 'a' leads nowhere; add `next`"),
        ("- {id: b, action: finalize}", "p.yaml:3: settings: no step 'a'; valid: b"),
    ],
)
def test_steps_that_cannot_run(tmp_path: Path, steps: str, problem: str) -> None:
    assert problem in said(tmp_path, steps)


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ("{}", "'entry_step_id' is missing"),
        ("{entry_step_id: a, max_turn_loops: many}", "settings: max_turn_loops: expected `int`, got 'many'"),
        ("{entry_step_id: a, max_turn_loops: -1}", "expected `int` >= 0, got -1"),
        ("{entry_step_id: a, max_context_tokens: 5}", "expected `int` >= 64"),
        (
            "{entry_step_id: a, retrieval_modes: [bm26]}",
            "p.yaml:3: settings: retrieval_modes: no 'bm26'; did you mean 'bm25'?",
        ),
        ("{entry_step_id: a, retrieval_modes: []}", "expected `array` of length >= 1"),
        ("{entry_step_id: a, retrieval_modes: [bm25]}", "default_mode hybrid is not one of retrieval_modes: bm25"),
        ("{entry_step_id: a, direct_policy: maybe}", "direct_policy: no 'maybe'; valid: abstain, allow_labelled"),
        (
            "{entry_step_id: a, graph_edge_allowlist: [Cals]}",
            "graph_edge_allowlist: 'Cals' is no relation; did you mean",
        ),
        ("{entry_step_id: a, graph_edge_allowlist: Calls}", "graph_edge_allowlist: expected `array`"),
        ("{entry_step_id: a, active_index: main}", "active_index 'main' is no index label (repository@ref); name the"),
        ("{entry_step_id: a, active_index: 2025-12-14}", "put it in quotes to make it text"),
    ],
)
def test_settings_that_mean_nothing(tmp_path: Path, settings: str, problem: str) -> None:
    assert problem in said(tmp_path, "- {id: a, action: finalize}", settings)


@pytest.mark.rule("R27", "D33")
def test_each_wrong_relation_has_its_line(tmp_path: Path) -> None:
    settings = "\n    entry_step_id: a\n    graph_edge_allowlist:\n      - Calls\n      - FK\n      - Nonsens"
    assert said(tmp_path, "- {id: a, action: finalize}", settings).startswith("p.yaml:8: ")


@pytest.mark.rule("D33")
def test_steps_that_are_never_reached_are_reported(tmp_path: Path) -> None:
    pipeline = load(tmp_path, "- {id: a, action: finalize, next: end}\n- {id: lost, action: finalize}\n" + END)
    assert [warning.replace(f"{tmp_path}/", "") for warning in pipeline.warnings] == [
        "p.yaml:6: step 'lost' is never reached"
    ]


def test_inherited_steps_that_are_not_used_are_no_warning() -> None:
    pipeline = PipelineLibrary().load("document_question_answering")
    assert pipeline.warnings == () and pipeline.unused == ("expand", "node_texts")


@pytest.mark.rule("D25", "D33")
@pytest.mark.parametrize(
    "steps",
    [
        "- {id: a, action: explain_no_answer, next: a}",
        "- {id: a, action: loop_guard, on_allow: end, on_deny: a}\n" + END,
        "- {id: a, action: finalize, next: b}\n- {id: b, action: compact_context, on_ok: end, on_other: a}\n" + END,
    ],
    ids=["itself", "back-on-deny", "two"],
)
def test_a_way_back_without_a_guard_is_refused(tmp_path: Path, steps: str) -> None:
    assert "steps in a circle without loop_guard: a → " in said(tmp_path, steps)


def test_a_way_back_through_the_guard_is_taken(tmp_path: Path) -> None:
    steps = "- {id: a, action: explain_no_answer, next: b}\n- {id: b, action: loop_guard, on_allow: a, on_deny: end}\n"
    assert load(tmp_path, steps + END).warnings == ()


def test_on_other_takes_every_outcome_without_a_step(tmp_path: Path) -> None:
    step = load(tmp_path, "- {id: a, action: handle_prefix, protocol: router, on_bm25: end, on_other: b}\n"
                "- {id: b, action: finalize}\n" + END).steps["a"]  # fmt: skip
    assert (step.target(Transition.BM25), step.target(Transition.DIRECT), step.target(Transition.OTHER)) == (
        "end",
        "b",
        "b",
    )
