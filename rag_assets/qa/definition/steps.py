"""What a pipeline consists of once it is read: steps, transitions, prompts, typed settings (D02). Pure nouns."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec

from rag_assets.answer.abstention import SURE, THRESHOLD
from rag_assets.answer.artifact.templates import OutputType
from rag_assets.contracts.retrieval import Mode
from rag_assets.settings.yaml_loader import Mark

if TYPE_CHECKING:
    from rag_assets.graph.relations import WalkStep as Walk
    from rag_assets.qa.prompts import Prompt


MOST_CHUNKS = 15
"""maxChunksForContext of E13; what the confidence is calibrated on (`benchmarks/abstention.py`)."""

Tokens = Annotated[int, msgspec.Meta(ge=64)]
"""A budget below this holds no single declaration."""


class PipelineSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Defaults are those of the shipped pipelines where a pipeline says nothing."""

    entry_step_id: Annotated[str, msgspec.Meta(min_length=1)]
    """Where execution starts, after the merge (D32)."""

    repository: str = ""
    """With an `active_index` that is a branch or tag: the repository it is of. Prompts name it, too."""

    active_index: str = ""
    """The index label that is asked, or its ref; empty: the one that the caller names."""

    compare_index: str = ""
    """The second label of a snapshot comparison, or its ref."""

    model_language: Annotated[str, msgspec.Meta(min_length=2)] = "en"
    """The language of the prompts: what questions are translated into, and answers out of."""

    max_context_tokens: Tokens = 6_000
    """For the evidence in an answer prompt: 15 sections of 300 tokens and as many signatures."""

    max_history_tokens: Tokens = 1_500
    max_turn_loops: Annotated[int, msgspec.Meta(ge=0, le=20)] = 4
    """How often the model may ask for more in one turn (R21); 3 to 5 are typical."""

    graph_max_depth: Annotated[int, msgspec.Meta(ge=0, le=10)] = 2
    graph_max_nodes: Annotated[int, msgspec.Meta(ge=1, le=2_000)] = 120
    graph_edge_allowlist: tuple[str, ...] = ()
    """Names of relations or aliases of them (R27); none: all relations."""

    node_text_fetch_top_n: Annotated[int, msgspec.Meta(ge=0, le=200)] = 12
    retrieval_modes: Annotated[tuple[Mode, ...], msgspec.Meta(min_length=1)] = tuple(Mode)
    """What the router may choose (D17)."""

    default_mode: Mode = Mode.HYBRID
    """What is done where the router says nothing usable (R11)."""

    retrieval_top_k: Annotated[int, msgspec.Meta(ge=1, le=100)] = MOST_CHUNKS

    history_summarization_policy: Literal["incremental_resummarize", "newest_turns"] = "incremental_resummarize"
    """Over the budget: a rolling summary by the model (D07), or the newest turns that fit."""

    direct_policy: Literal["abstain", "allow_labelled"] = "abstain"
    """What DIRECT means: no answer, or one of general knowledge that is labelled as such (R12)."""

    answer_prefix_strict: bool = True
    """False takes answer prefixes in any letter case (R13)."""

    citation_policy: Literal["flag", "drop", "keep"] = "flag"
    """What becomes of a sentence that its citation does not support (E21)."""

    max_weak_attempts: Annotated[int, msgspec.Meta(ge=1, le=10)] = 2
    """Retrievals that bring nothing new or nothing strong, after which the turn ends and says so (D34)."""

    weak_below: Annotated[float, msgspec.Meta(ge=0, le=1)] = THRESHOLD
    """Confidence below which a retrieval is weak, and quotes are no answer (E22): the calibrated threshold. 0: only a
    retrieval that brings nothing is weak."""

    sure_from: Annotated[float, msgspec.Meta(ge=0, le=1)] = SURE
    """Confidence from which quotes are an answer (E22); below it they are what is closest, and called so."""

    output_type: OutputType = OutputType.ANSWER
    """What is written (E15): an answer, or the artifact with this template."""

    persona: str = ""
    """Who writes: goes into the system message of prompts that name it, before their rules (E16)."""


class SettingLayer(StrEnum):
    """Who says the value of a setting, the strongest first."""

    CALL = "call"
    AGENT = "agent"
    CONFIGURATION = "configuration"
    PIPELINE = "pipeline"
    INDEX = "index"  # calibrated on its questions
    DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class SettingOrigin:
    """`at` is the line of a pipeline file, the name of a configured setting, or that of the agent."""

    layer: SettingLayer = SettingLayer.DEFAULT
    at: str = ""

    def __str__(self) -> str:
        return f"{self.layer}, {self.at}" if self.at else self.layer.value


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
    the files they came from. `origins` has every setting that is not the default."""

    name: str
    lineage: tuple[str, ...]
    files: tuple[str, ...]
    settings: PipelineSettings
    walk: tuple[Walk, ...]
    steps: Mapping[str, Step]
    prompts: Mapping[str, Prompt]
    warnings: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    agent: str = ""  # the one that it was applied to (`agents.overrides`)
    origins: Mapping[str, SettingOrigin] = field(default_factory=dict)

    def with_settings(self, said: Mapping[str, Any], origins: Mapping[str, SettingOrigin]) -> Pipeline:
        """The pipeline with the settings that somebody stronger has said, each with its origin."""
        settings = msgspec.structs.replace(self.settings, **said)
        return replace(self, settings=settings, origins={**self.origins, **{name: origins[name] for name in said}})

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
