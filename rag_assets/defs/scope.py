"""Which labels a set of assets builds, and what its definitions are called."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dagster import AssetKey, BackfillPolicy, DynamicPartitionsDefinition

from rag_assets.defs.partitions import index_labels, one_run_for_all_labels
from rag_assets.pipeline.progress import Progress, Silent

if TYPE_CHECKING:
    from dagster import AssetExecutionContext

    from rag_assets.defs.resources import SettingsSource

_NO_NAME = re.compile(r"\W", re.ASCII)


@dataclass(frozen=True, slots=True)
class AssetScope:
    """All labels of the configuration, each of them a partition; or the one label of a `component` in a project, whose
    assets have no partitions: they can be selected with any others.

    `workspace` is that of the component. It is no resource: Dagster stores the configuration of resources, and two
    components would have one of the same name."""

    key_prefix: tuple[str, ...] = ()
    component: str = ""
    workspace: SettingsSource | None = None

    @property
    def partitions(self) -> DynamicPartitionsDefinition | None:
        return None if self.component else index_labels

    @property
    def backfill_policy(self) -> BackfillPolicy | None:
        return None if self.component else one_run_for_all_labels

    @property
    def resource_keys(self) -> set[str]:
        return set() if self.component else {"workspace", "progress"}

    def key(self, stage: str) -> AssetKey:
        return AssetKey([*self.key_prefix, stage])

    def named(self, name: str) -> str:
        """What a job, a schedule or a sensor is called here."""
        return f"{name}_{_NO_NAME.sub('_', self.component)}" if self.component else name

    def given(self, context: AssetExecutionContext) -> tuple[SettingsSource, Progress]:
        """What the assets need from outside."""
        if self.workspace is not None:
            return self.workspace, Silent()
        return context.resources.workspace, context.resources.progress


ALL_LABELS = AssetScope()
