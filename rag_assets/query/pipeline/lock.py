"""What decided a turn besides the question and the model: kept with it, so that it can be run again and compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from rag_assets.query.answer.abstention import SCALE
from rag_assets.query.pipeline.steps import Pipeline, digest_of

if TYPE_CHECKING:
    from rag_assets.query.pipeline.registry import ActionRegistry

ENGINE_VERSION = 1
"""Raise it when the engine itself comes to other results: merging, transitions, protocols, markers."""


class TurnLock(msgspec.Struct, frozen=True, kw_only=True):
    """Equal locks: the same question to the same model takes the same way. `pipeline` is the digest of settings and
    steps after the merge and with the `agent` applied, `actions` are versions, `prompts` digests,
    `generations` those of the labels, `confidence` is the scale that the threshold was on; empty in a lock from before
    that was kept."""

    name: str
    pipeline: str
    actions: dict[str, int]
    prompts: dict[str, str]
    generations: dict[str, str]
    engine: int = ENGINE_VERSION
    agent: str = ""
    confidence: str = ""

    @property
    def digest(self) -> str:
        """16 hex digits over all of it."""
        return digest_of(self)


def lock_of(pipeline: Pipeline, registry: ActionRegistry, generations: dict[str, str]) -> TurnLock:
    """The lock of a turn of this pipeline on these generations (label → id)."""
    used = sorted({step.action for step in pipeline.steps.values()})
    return TurnLock(
        name=pipeline.name,
        pipeline=pipeline.digest,
        actions={name: registry[name].version for name in used},
        prompts={name: pipeline.prompts[name].digest for name in sorted(pipeline.prompts)},
        generations=dict(sorted(generations.items())),
        agent=pipeline.agent,
        confidence=SCALE,
    )


def differences(before: TurnLock, now: TurnLock) -> tuple[str, ...]:
    """What has changed between two locks, in words; nothing where a turn can be run again as it was."""
    told = []
    for field in ("name", "agent", "pipeline", "engine", "confidence"):
        old, new = getattr(before, field), getattr(now, field)
        if old != new:
            told.append(f"{field}: {old or 'none'} → {new or 'none'}")
    for field in ("actions", "prompts", "generations"):
        old, new = getattr(before, field), getattr(now, field)
        told += [
            f"{field} {key}: {old.get(key, 'none')} → {new.get(key, 'none')}"
            for key in sorted({*old, *new})
            if old.get(key) != new.get(key)
        ]
    return tuple(told)
