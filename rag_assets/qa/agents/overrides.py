"""An agent applied: the pipeline as this agent runs it, and how far it sees.

The persona is configuration, so prompts have it as it is written; but it comes before the rules, its protocol markers
are neutral like everybody's, and nothing else of an agent reaches a prompt.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import msgspec

from rag_assets.answer.artifact.templates import OutputType
from rag_assets.contracts.confidentiality import Confidentiality, may_see
from rag_assets.errors import RagAssetsError
from rag_assets.index.vectors.filters import SearchFilters
from rag_assets.qa.actions import default_registry
from rag_assets.qa.agents.library import Agent
from rag_assets.qa.definition.action_registry import ActionRegistry
from rag_assets.qa.definition.steps import Pipeline, SettingLayer, SettingOrigin, Step, reached
from rag_assets.suggestions import nearest

PERSONA = "persona"
"""The name in braces of a prompt that is spoken by the agent: its step is asked with the agent's model."""

_LOWERED = ("max_context_tokens", "max_turn_loops", "retrieval_top_k")


class AgentRefused(RagAssetsError, ValueError):
    """An agent and a pipeline that do not go together."""


@dataclass(frozen=True, slots=True)
class AgentScope:
    """How far an agent sees: `clearance` is never above that of the caller."""

    clearance: Confidentiality
    filters: SearchFilters


def with_agent(pipeline: Pipeline, agent: Agent, registry: ActionRegistry | None = None) -> Pipeline:
    """The pipeline as this agent runs it: persona, output type and limits in its settings, its profile in every step
    that speaks as the agent. All of that is in the digest of the pipeline, so a lock covers it.

    Raises AgentRefused where a step that can be reached does what the agent may not, a model is asked and no prompt has
    a place for the persona, or the agent writes what the pipeline does not.
    """
    known = default_registry() if registry is None else registry
    _check_actions(pipeline, agent, known)
    _check_output(pipeline, agent, known)
    spoken = {name for name, prompt in pipeline.prompts.items() if PERSONA in prompt.names}
    speaking = {step.id for step in _reachable(pipeline) if _prompts(step, known) & spoken}
    if not speaking and any(_writes(step) for step in _reachable(pipeline)):
        raise AgentRefused(
            f"agent {agent.name!r}: no prompt of the pipeline {pipeline.name!r} has a place for the persona; "
            f"write {{{PERSONA}}} into the system part of the prompt that writes the answer"
        )
    steps = {name: _as_agent(step, agent) if name in speaking else step for name, step in pipeline.steps.items()}
    said = _said(pipeline, agent)
    told = pipeline.with_settings(said, dict.fromkeys(said, SettingOrigin(SettingLayer.AGENT, agent.name)))
    return replace(told, steps=steps, agent=agent.name)


def scope_of(agent: Agent, clearance: Confidentiality) -> AgentScope:
    """What a caller of this clearance sees through the agent."""
    filters = agent.filters
    wanted = filters.confidentiality
    return AgentScope(
        wanted if wanted is not None and may_see(clearance, wanted) else clearance,
        SearchFilters(
            paths=filters.paths,
            kinds=filters.kinds,
            languages=filters.languages,
            source_types=tuple(map(str, filters.source_types)),
        ),
    )


def _said(pipeline: Pipeline, agent: Agent) -> dict[str, Any]:
    """The settings that the agent decides: its limits only where they are lower."""
    limits = {name: getattr(agent.limits, name) for name in _LOWERED}
    lowered = {
        name: most for name, most in limits.items() if most is not None and most < getattr(pipeline.settings, name)
    }
    return {"persona": agent.persona.strip(), "output_type": agent.output_type, **lowered}


def _as_agent(step: Step, agent: Agent) -> Step:
    """The step with the agent's model, and not more tokens than it may take."""
    fields = {field.name for field in msgspec.structs.fields(type(step.parameters))}
    changed: dict[str, object] = {"profile": agent.model_profile} if "profile" in fields else {}
    most = agent.limits.max_tokens
    if most is not None and "max_tokens" in fields:
        now = getattr(step.parameters, "max_tokens")  # noqa: B009 # parameters are of any type
        changed["max_tokens"] = most if now is None else min(most, now)
    return replace(step, parameters=msgspec.structs.replace(step.parameters, **changed))


def _check_actions(pipeline: Pipeline, agent: Agent, registry: ActionRegistry) -> None:
    unknown = [name for name in agent.actions if registry.get(name) is None]
    if unknown:
        near = nearest(unknown[0], registry.names)
        raise AgentRefused(f"agent {agent.name!r} ({agent.file}): unknown action {unknown[0]!r}{near}")
    for step in _reachable(pipeline) if agent.actions else ():
        if step.action not in agent.actions:
            raise AgentRefused(
                f"agent {agent.name!r} may not do what step {step.id!r} of the pipeline {pipeline.name!r} does: "
                f"add {step.action} to its actions, or give it a pipeline without that step"
            )


def _check_output(pipeline: Pipeline, agent: Agent, registry: ActionRegistry) -> None:
    is_artifact = pipeline.settings.output_type is not OutputType.ANSWER
    if is_artifact is not (agent.output_type is not OutputType.ANSWER):
        made = "artifacts" if is_artifact else "answers"
        raise AgentRefused(
            f"agent {agent.name!r} writes output_type {agent.output_type}, and the pipeline {pipeline.name!r} makes "
            f"{made}; change one of them"
        )


def _reachable(pipeline: Pipeline) -> list[Step]:
    found = reached(pipeline.settings.entry_step_id, pipeline.steps)
    return [step for step in pipeline.steps.values() if step.id in found]


def _writes(step: Step) -> bool:
    """Whether a step asks a model for a text of some length: what only translates or sums up has none of its own."""
    return any(field.name == "max_tokens" for field in msgspec.structs.fields(type(step.parameters)))


def _prompts(step: Step, registry: ActionRegistry) -> set[str]:
    return {name for _, name in registry[step.action].prompts(step.parameters)}
