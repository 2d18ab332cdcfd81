"""`extends`: the exact merge of a pipeline with the one that it extends (D30–D32, R10). Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from rag_assets.settings.yaml_loader import Node


@dataclass(frozen=True, slots=True)
class RawPipeline:
    """One pipeline as its file has it; `steps` by id."""

    name: str
    extends: str
    settings: Mapping[str, Node]
    steps: Mapping[str, Node]
    root: Node


def merged(lineage: Iterable[RawPipeline]) -> tuple[dict[str, Node], dict[str, Node]]:
    """(settings, steps) of pipelines from the root to the child: settings deep-merged, steps of one id replaced."""
    settings: dict[str, Node] = {}
    steps: dict[str, Node] = {}
    for written in lineage:
        settings = merged_settings(settings, written.settings)
        steps = steps | dict(written.steps)
    return settings, steps


def merged_settings(parent: Mapping[str, Node], child: Mapping[str, Node]) -> dict[str, Node]:
    """Keys of both; where both have one, mappings are merged and everything else is the child's (D30)."""
    made = dict(parent)
    for key, entry in child.items():
        before = made.get(key)
        if before is not None and before.is_mapping and entry.is_mapping:
            entry = Node(merged_settings(before.value, entry.value), entry.mark)
        made[key] = entry
    return made
