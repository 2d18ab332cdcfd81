"""`extends`: the exact merge of a pipeline with the one that it extends (D30–D32, R10). Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from rag_assets.query.pipeline.document import Entry


@dataclass(frozen=True, slots=True)
class Written:
    """One pipeline as its file has it; `steps` by id."""

    name: str
    extends: str
    settings: Mapping[str, Entry]
    steps: Mapping[str, Entry]
    root: Entry


def merged(lineage: Iterable[Written]) -> tuple[dict[str, Entry], dict[str, Entry]]:
    """(settings, steps) of pipelines from the root to the child: settings deep-merged, steps of one id replaced."""
    settings: dict[str, Entry] = {}
    steps: dict[str, Entry] = {}
    for written in lineage:
        settings = merged_settings(settings, written.settings)
        steps = steps | dict(written.steps)
    return settings, steps


def merged_settings(parent: Mapping[str, Entry], child: Mapping[str, Entry]) -> dict[str, Entry]:
    """Keys of both; where both have one, mappings are merged and everything else is the child's (D30)."""
    made = dict(parent)
    for key, entry in child.items():
        before = made.get(key)
        if before is not None and before.is_mapping and entry.is_mapping:
            entry = Entry(merged_settings(before.value, entry.value), entry.mark)
        made[key] = entry
    return made
