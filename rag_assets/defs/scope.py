"""Which labels a set of assets builds, and what its definitions are called."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dagster import (
    AssetExecutionContext,
    AssetKey,
    BackfillPolicy,
    BetaWarning,
    DynamicPartitionsDefinition,
    PreviewWarning,
)

from rag_assets.defs.partitions import index_labels, one_run_for_all_labels
from rag_assets.pipeline.progress import Progress, Silent

if TYPE_CHECKING:
    from rag_assets.defs.resources import SettingsSource
    from rag_assets.settings import Settings

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

    def op(self, stage: str) -> str:
        """What the step of an asset is called, which the configuration of a run names: without the prefix, except where
        several components have one of the same stage."""
        return self.key(stage).to_python_identifier() if self.component else stage

    def named(self, name: str) -> str:
        """What a job, a schedule or a sensor is called here."""
        return f"{name}_{_NO_NAME.sub('_', self.component)}" if self.component else name

    def given(self, context: AssetExecutionContext) -> tuple[SettingsSource, Progress]:
        """What the assets need from outside."""
        if self.workspace is not None:
            return self.workspace, Silent()
        return context.resources.workspace, context.resources.progress


def scope_of(settings: Settings) -> AssetScope:
    """That of all labels of a configuration."""
    return AssetScope(tuple(filter(None, settings.dagster.key_prefix.split("/"))))


REPOSITORY = "repository"
"""The observable asset before the first stage: what a ref names now."""


def key_beside(context: AssetExecutionContext, name: str) -> AssetKey:
    """The key of another asset of the scope that this step belongs to."""
    return AssetKey([*context.asset_key.path[:-1], name])


def op_beside(context: AssetExecutionContext, name: str) -> str:
    """The step of another asset of the scope that this step belongs to."""
    return context.op_execution_context.op_def.name.removesuffix(context.asset_key.path[-1]) + name


@contextmanager
def accepted_warnings() -> Iterator[None]:
    """Around the definition of assets and checks. What is used although it is not final warns there, once per asset,
    which would hide real warnings: backfill policies, observable assets and references to code are beta; the partitions
    of a check are a preview, and without them a check shows what the last run of any label said."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=BetaWarning, message=_BETA)
        warnings.filterwarnings("ignore", category=PreviewWarning, message=_PREVIEW)
        yield


_BETA = (
    r"Parameter `backfill_policy`"
    r"|.*(`multi_observable_source_asset`|`link_code_references_to_git`|CodeReference|FilePathMapping)"
)
_PREVIEW = "Specifying a partitions_def on an AssetCheckSpec"


def stage_of(step: str | None) -> str:
    """The stage of a step."""
    return (step or "").rpartition("__")[2]
