"""What a pipeline consists of once it is read: steps, the transitions between them, prompts, settings. Pure nouns."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import msgspec

from rag_assets.settings.yaml_loader import Mark

if TYPE_CHECKING:
    from rag_assets.graph.relations import WalkStep as Walk
    from rag_assets.qa.definition.pipeline_settings import PipelineSettings
    from rag_assets.qa.prompts import Prompt


class Transition(StrEnum):
    """What a step may end with, as transitions name it (D36)."""

    OK = "on_ok"
    OVER_LIMIT = "on_over_limit"
    SEMANTIC = "on_semantic"
    SEMANTIC_RERANK = "on_semantic_rerank"
    BM25 = "on_bm25"
    HYBRID = "on_hybrid"
    DIRECT = "on_direct"
    ANSWER = "on_answer"
    FOLLOWUP = "on_followup"
    OTHER = "on_other"  # also takes every outcome that a step does not name
    ALLOW = "on_allow"
    DENY = "on_deny"


@dataclass(frozen=True, slots=True)
class Step:
    """One node of the execution graph (D27): `next` for every outcome, or a target for each."""

    id: str
    action: str
    parameters: msgspec.Struct
    next: str
    transitions: Mapping[Transition, str]
    mark: Mark

    def target(self, outcome: Transition) -> str:
        """The step that follows; '' where the pipeline ends. Depends on the outcome and nothing else."""
        return self.transitions.get(outcome) or self.transitions.get(Transition.OTHER) or self.next

    @property
    def targets(self) -> tuple[tuple[str, str], ...]:
        """(name of the transition, step id), in the order of `On`, `next` last."""
        named = tuple((on.value, self.transitions[on]) for on in Transition if on in self.transitions)
        return (*named, ("next", self.next)) if self.next else named


@dataclass(frozen=True, slots=True)
class Pipeline:
    """A checked pipeline. `lineage` are the names from the root to itself, `files` theirs; `warnings` name the steps of
    its own that are never reached, `unused` the inherited ones. `digest` covers settings and steps after the merge, not
    the files they came from."""

    name: str
    lineage: tuple[str, ...]
    files: tuple[str, ...]
    settings: PipelineSettings
    walk: tuple[Walk, ...]
    steps: Mapping[str, Step]
    prompts: Mapping[str, Prompt]
    warnings: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    agent: str = ""  # the one that it was applied to (`agent.applying`)

    @property
    def entry(self) -> Step:
        return self.steps[self.settings.entry_step_id]

    @property
    def digest(self) -> str:
        """16 hex digits; the same for equal settings and steps, whatever their order in the files."""
        return digest_of(as_object(self) | {"name": self.name})


def reached(entry: str, steps: Mapping[str, Step]) -> set[str]:
    """The ids of the steps that a run can come to."""
    found, waiting = {entry}, [entry]
    while waiting:
        for _, target in steps[waiting.pop()].targets:
            if target not in found:
                found.add(target)
                waiting.append(target)
    return found


def as_object(pipeline: Pipeline) -> dict[str, object]:
    """Settings and steps after the merge as JSON, every default written out."""
    steps = [pipeline.steps[name] for name in sorted(pipeline.steps)]
    return {
        "settings": msgspec.to_builtins(pipeline.settings),
        "steps": [
            {"id": step.id, "action": step.action} | msgspec.to_builtins(step.parameters) | dict(step.targets)
            for step in steps
        ],
    }


def digest_of(value: object) -> str:
    """16 hex digits of the JSON of a value."""
    return hashlib.sha256(msgspec.json.encode(value, order="sorted")).hexdigest()[:16]
