"""How a question is to be answered, besides what the pipeline says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rag_assets.answer.citation_check import Policy
from rag_assets.answer.token_budget import TokenCounter

if TYPE_CHECKING:
    from rag_assets.contracts.result import InvokeResult
    from rag_assets.qa.agents.agent import Agent
    from rag_assets.qa.services import Generated, ModelCall

    Generate = Callable[[ModelCall], InvokeResult[Generated]]


@dataclass(frozen=True, slots=True, kw_only=True)
class AskOptions:
    """What is None is as the pipeline says: `limit` hits are looked at, evidence takes `budget` tokens, below
    `threshold` of confidence the answer is a refusal, and `policy` is what becomes of unsupported sentences.

    `count` counts tokens (None: the estimate for byte-pair models). `model` writes; None: quotes. `offline`: one is
    configured, and whoever asks leaves it out. `pipeline` is a name
    or a file; '' the shipped one, with a model or without. `packs` are folders of pipelines, looked through before
    those of the configuration. `agent` is who answers, within its limits; how far it sees is a matter of opening the
    indexes (`agent.applying.view_of`).
    """

    limit: int | None = None
    budget: int | None = None
    count: TokenCounter | None = None
    threshold: float | None = None
    policy: Policy | None = None
    model: Generate | None = None
    offline: bool = False
    pipeline: str = ""
    packs: tuple[Path, ...] = ()
    agent: Agent | None = None
