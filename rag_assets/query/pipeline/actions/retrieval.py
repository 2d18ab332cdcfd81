"""Evidence: search, the graph around what was found, and the texts of nodes (D11–D21, D34)."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

import msgspec

from rag_assets.contracts.retrieval import Mode
from rag_assets.query.pipeline.errors import TurnError
from rag_assets.query.pipeline.protocols import RetrievalPlan
from rag_assets.query.pipeline.registry import Action, Outcome
from rag_assets.query.pipeline.repeating import comparable
from rag_assets.query.pipeline.run import Run
from rag_assets.query.pipeline.services import Retrieved
from rag_assets.query.pipeline.state import Found, Turn
from rag_assets.query.pipeline.steps import On

Which = Literal["active", "compared"]
Count = Annotated[int, msgspec.Meta(ge=1, le=100)]


class OfIndex(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which of the two indexes of a comparison."""

    index: Which = "active"


class Fetch(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`mode` and `top_k` are used instead of those of the plan and the settings."""

    index: Which = "active"
    mode: Mode | None = None
    top_k: Count | None = None


def fetch_more_context(turn: Turn, parameters: Fetch, run: Run) -> Outcome:
    """Runs the plan and adds what is new to the evidence. Ends with on_other after `max_weak_attempts` retrievals that
    brought nothing (D34), else with on_ok."""
    label = _label(turn, parameters.index)
    plan = turn.plan if turn.plan is not None and turn.plan.query else RetrievalPlan(None, turn.question_en)
    mode = parameters.mode or plan.mode or run.settings.default_mode
    limit = parameters.top_k or run.settings.retrieval_top_k
    retrieved = run.services.search(label, plan.query, mode, limit)
    before = turn.found_in(label)
    known = {identifier for piece in before.all for identifier in piece.ids}
    new = tuple(piece for piece in retrieved.evidence if not known.issuperset(piece.ids))
    weak = turn.weak + 1 if _is_weak(retrieved, new != (), run) else turn.weak
    turn = replace(
        turn,
        queries=tuple(dict.fromkeys((*turn.queries, comparable(plan.query)))),
        found={**turn.found, label: replace(before, evidence=(*before.evidence, *new))},
        weak=weak,
    )
    notes = (f"{retrieved.mode.value} on {label}: {len(retrieved.evidence)} found, {len(new)} new", *retrieved.warnings)
    if weak >= run.settings.max_weak_attempts:
        return Outcome(turn, On.OTHER, (*notes, f"nothing new or nothing strong {weak} times (D34)"))
    return Outcome(turn, On.OK, notes)


def expand_dependency_tree(turn: Turn, parameters: OfIndex, run: Run) -> Outcome:
    """What is around everything that was found so far, within the bounds of the settings (D19, D20)."""
    label = _label(turn, parameters.index)
    found = turn.found_in(label)
    entries = _entries(found)
    if not entries:
        return Outcome(turn, notes=("no graph nodes behind the evidence",))
    settings = run.settings
    around = run.services.expand(
        label, entries, steps=run.pipeline.walk, depth=settings.graph_max_depth, nodes=settings.graph_max_nodes
    )
    notes = (f"{len(entries)} entries, {len(around.nodes)} nodes, {len(around.edges)} edges", *around.warnings)
    return Outcome(_with(turn, label, replace(found, neighbourhood=around)), notes=notes)


def fetch_node_texts(turn: Turn, parameters: OfIndex, run: Run) -> Outcome:
    """The texts of the most relevant nodes that no piece of evidence shows, by identity and not by a search (D21)."""
    label = _label(turn, parameters.index)
    found, limit = turn.found_in(label), run.settings.node_text_fetch_top_n
    if found.neighbourhood is None or limit == 0:
        return Outcome(turn)
    shown = {key for piece in found.evidence for key in piece.node_keys}
    keys = [node.key for node in found.neighbourhood.nodes if node.key not in shown]
    texts = run.services.node_texts(label, keys, limit)
    return Outcome(_with(turn, label, replace(found, texts=tuple(texts))), notes=(f"{len(texts)} node texts",))


def _is_weak(retrieved: Retrieved, brought: bool, run: Run) -> bool:
    strength = retrieved.strength
    return not brought or (strength is not None and strength < run.settings.weak_below)


def _entries(found: Found) -> dict[str, float]:
    """Node keys with the score of the best piece that shows them."""
    entries: dict[str, float] = {}
    for piece in found.evidence:
        for key in piece.node_keys:
            entries[key] = max(piece.score, entries.get(key, 0.0))
    return {key: score for key, score in entries.items() if score > 0}


def _label(turn: Turn, index: Which) -> str:
    if index == "active":
        return turn.label
    if not turn.compared_label:
        raise TurnError("there is nothing to compare with; set compare_index in the pipeline")
    return turn.compared_label


def _with(turn: Turn, label: str, found: Found) -> Turn:
    return replace(turn, found={**turn.found, label: found})


ACTIONS = (
    Action("fetch_more_context", fetch_more_context, 1, Fetch, outcomes=lambda _: (On.OK, On.OTHER)),
    Action("expand_dependency_tree", expand_dependency_tree, 1, OfIndex),
    Action("fetch_node_texts", fetch_node_texts, 1, OfIndex),
)
