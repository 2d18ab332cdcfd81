"""When an asset is due without a schedule: its input has other content, and nobody has taken that up yet."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from dagster import AssetSelection, AutomationCondition, AutomationConditionSensorDefinition

from rag_assets.pipeline.versions import STAGES

# `eager()` asks again after every run of the input, also one that changed nothing. Data versions say what changed.
# Kept until handled: a change that arrives while the asset is being made is not lost, and one that the same run has
# carried on to this asset does not ask for it a second time. What an asset that is asked for leads to is asked for with
# it: one run takes a commit to the active index, and no asset of several inputs starts with one of them alone.
_INPUT_HAS_CHANGED = (
    AutomationCondition.any_deps_match(
        AutomationCondition.data_version_changed() | AutomationCondition.will_be_requested()
    ).since_last_handled()
    & ~AutomationCondition.any_deps_in_progress()
    & ~AutomationCondition.in_progress()
)

CONDITIONS: Mapping[str, AutomationCondition[Any]] = MappingProxyType(
    dict.fromkeys(STAGES, _INPUT_HAS_CHANGED.with_label("input has other content"))
    | {STAGES[0]: _INPUT_HAS_CHANGED.with_label("new commit")}
)
"""By stage. The repository has none: sensors and people observe it."""

# In place of one that Dagster would make, whose name says nothing. Stopped until somebody starts it.
changed_inputs = AutomationConditionSensorDefinition(
    "changed_inputs",
    target=AssetSelection.all(),
    description="Materializes assets whose input has other content, and what they lead to; the first input is git.",
)
