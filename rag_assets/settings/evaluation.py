"""Settings of evaluation: how well a build must answer before it is served."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from rag_assets.contracts.llm import Profile
from rag_assets.settings.base import Strict

Metric = Literal["recall", "hit", "mrr", "ndcg"]
Share = Annotated[float, Field(ge=0, le=1)]


class EvaluationSettings(Strict):
    """What to measure for a repository with an `eval_set`, and how the promotion gate decides."""

    k: int = Field(default=10, ge=1, le=100, description="how many ranked files recall and hit rate look at")
    tolerance: float = Field(
        default=0.05, ge=0, lt=1, description="share of a metric of the served build that a new one may lose"
    )
    metrics: tuple[Metric, ...] = Field(
        default=("recall",), min_length=1, description="what is compared: recall, hit, mrr, ndcg"
    )
    minimum: dict[Metric, Share] = Field(
        default={}, description="metric → value between 0 and 1 that every new build must reach, also the first"
    )
    answers: bool = Field(
        default=False, description="also ask every question for an answer, and measure that; never decides the gate"
    )
    answer_limit: int | None = Field(
        default=None, ge=1, description="how many questions at most are asked for an answer; default: all"
    )
    answered_share: float = Field(
        default=0.85, gt=0, le=1, description="share of the answerable that a calibrated threshold must answer"
    )
    judge: Profile | None = Field(
        default=None, description="which model of answer marks the answers: cheap, balanced, premium; default: none"
    )
    judge_rubric: Path | None = Field(
        default=None, description="prompt of the judge in place of the shipped one; relative to the configuration file"
    )
    gate: bool = Field(default=True, description="false: measure and show, but serve in any case")
