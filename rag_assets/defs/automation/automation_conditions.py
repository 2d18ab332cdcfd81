"""When an asset is due without a schedule: its input has other content, and nobody has taken that up yet."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dagster import AssetsDefinition, AssetSelection, AutomationCondition, AutomationConditionSensorDefinition

from rag_assets.pipeline.versions import STAGES

# `eager()` asks again after every run of the input, also one that changed nothing. Data versions say what changed.
# Kept until handled: a change that arrives while the asset is being made is not lost, and one that the same run has
# carried on to this asset does not ask for it a second time.
INPUT_HAS_CHANGED: AutomationCondition[Any] = (
    AutomationCondition.any_deps_match(AutomationCondition.data_version_changed()).since_last_handled()
    & ~AutomationCondition.in_progress()
)

# In place of one that Dagster would make, whose name says nothing. Stopped until somebody starts it.
changed_inputs = AutomationConditionSensorDefinition(
    "changed_inputs",
    target=AssetSelection.all(),
    description="Materializes an asset whose input has other content, for whoever works with single assets.",
)


def with_conditions(assets: Iterable[Any]) -> list[AssetsDefinition]:
    """Every asset but the first one, whose input is the world outside: schedules and the commit sensor watch that."""
    return [
        made.map_asset_specs(
            lambda spec: (
                spec
                if spec.key.path[-1] == STAGES[0]
                else spec.replace_attributes(automation_condition=INPUT_HAS_CHANGED)
            )
        )
        for made in assets
    ]
