"""The judge that the settings name (E25)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rag_assets.config_file import ConfigError
from rag_assets.contracts.llm import PROFILES
from rag_assets.evaluation.rubric import read_rubric
from rag_assets.query.pipeline.errors import PipelineError
from rag_assets.stores.eval_answers import Judging

if TYPE_CHECKING:
    from rag_assets.contracts.llm import Profile
    from rag_assets.evaluation.judge import Judge
    from rag_assets.settings import Settings
    from rag_assets.settings.evaluation import EvaluationSettings

_UNUSABLE = "unusable"


def configured_judge(settings: Settings, profile: str | None = None) -> Judge | None:
    """The judge of `evaluation.judge`, or the model of `profile` in its place; None where neither says one. Makes no
    request. Raises ConfigError for a profile that there is not, or that has no model, and PipelineError for a rubric
    that cannot be used."""
    rules, answer = settings.evaluation, settings.answer
    chosen = rules.judge if profile is None else _profile(profile)
    if chosen is None:
        return None
    named = answer.model_of(chosen).model
    if answer.replies != "replay" and not (answer.base_url and named):
        raise ConfigError(f"no model judges as {chosen!r}: set answer.base_url and answer.{chosen}.model")
    from rag_assets.evaluation.judge import Judge
    from rag_assets.models.endpoint_tokens import token_counter
    from rag_assets.query.pipeline.chat_model import configured_model

    rubric, ask = read_rubric(rules.judge_rubric), configured_model(answer, chosen)
    assert ask is not None  # there is a server, or a recording
    return Judge(
        ask,
        rubric,
        Judging(profile=chosen, model=named, rubric=rubric.digest),
        budget=answer.max_context_tokens,
        count=token_counter(answer.tokenizer),
    )


def _profile(named: str) -> Profile:
    for known in PROFILES:
        if known == named:
            return known
    raise ConfigError(f"unknown profile {named!r} for the judge; valid: {', '.join(PROFILES)}")


def rubric_stamp(rules: EvaluationSettings) -> str:
    """What the rubric of the judge says, where there is a judge: answers are marked again by another one."""
    if rules.judge is None:
        return ""
    try:
        return read_rubric(rules.judge_rubric).digest
    except PipelineError:
        return _UNUSABLE  # who opens the judge says why
