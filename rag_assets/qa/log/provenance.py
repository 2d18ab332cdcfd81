"""What decided a turn besides the question and the model: kept with it, so that it can be run again and compared."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from rag_assets.answer.abstention import SCALE
from rag_assets.qa.definition.steps import Pipeline, digest_of

ENGINE_VERSION = 1
"""Raise it when the engine itself comes to other results: merging, transitions, protocols, markers."""


class TurnFingerprint(msgspec.Struct, frozen=True, kw_only=True):
    """Equal locks: the same question to the same model takes the same way. `pipeline` is the digest of settings and
    steps after the merge and with the `agent` applied, `actions` are versions, `prompts` digests,
    `generations` those of the labels, `confidence` is the scale that the threshold was on."""

    name: str
    pipeline: str
    actions: dict[str, int]
    prompts: dict[str, str]
    generations: dict[str, str]
    engine: int
    agent: str
    confidence: str

    @property
    def digest(self) -> str:
        """16 hex digits over all of it."""
        return digest_of(self)


def lock_of(pipeline: Pipeline, versions: Mapping[str, int], generations: dict[str, str]) -> TurnFingerprint:
    """The lock of a turn of this pipeline, with `versions` of its actions, on these generations (label → id)."""
    return TurnFingerprint(
        name=pipeline.name,
        pipeline=pipeline.digest,
        actions=dict(sorted(versions.items())),
        prompts={name: pipeline.prompts[name].digest for name in sorted(pipeline.prompts)},
        generations=dict(sorted(generations.items())),
        engine=ENGINE_VERSION,
        agent=pipeline.agent,
        confidence=SCALE,
    )


def differences(before: TurnFingerprint, now: TurnFingerprint) -> tuple[str, ...]:
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
