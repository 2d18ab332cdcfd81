"""The settings of a pipeline (D02), typed and bounded. Every one of them is read by an action or by the engine."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from rag_assets.answer.abstention import THRESHOLD
from rag_assets.answer.artifact.output import OutputType
from rag_assets.contracts.retrieval import Mode

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

    output_type: OutputType = OutputType.ANSWER
    """What is written (E15): an answer, or the artifact with this template."""

    persona: str = ""
    """Who writes: goes into the system message of prompts that name it, before their rules (E16)."""
