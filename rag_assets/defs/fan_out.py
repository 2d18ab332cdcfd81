"""An asset as three kinds of steps, for executors that spread steps over processes or machines.

plan_… ─► …_group, one per group (dynamic mapping) ─► gather_…

To everything but the executor it is the same asset: key, versions, checks, metadata and tables are those of the plain
one, whose function the last step runs. The steps hand each other names, never values: what they exchange is in the
home that they all see, so no IO manager has to be shared. A group that fails leaves its work to the last step, which
also is the one place where a label fails. No `from __future__ import annotations`: see `defs.assets`.
"""

import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from dagster import (
    AssetExecutionContext,
    AssetKey,
    AssetsDefinition,
    DynamicOut,
    DynamicOutput,
    GraphOut,
    In,
    MaterializeResult,
    Nothing,
    OpDefinition,
    Out,
    ResourceParam,
    graph,
    op,
)

from rag_assets.contracts.errors import ExpectedError
from rag_assets.defs.resources import Workspace
from rag_assets.defs.retries import DELAYS_SECONDS, fail_or_retry, is_transient
from rag_assets.defs.several_labels import failed_so_far
from rag_assets.defs.stage_asset import LOCK_WAIT_SECONDS, candidate, check_specs, materialize_labels
from rag_assets.settings import ExecutionSettings, Settings
from rag_assets.stages.build import IndexBuild, StageReport, label_lock
from rag_assets.stages.fan_out.exchange import Group, exchange_folder, leave_group
from rag_assets.stages.progress import Progress

_NOT_IN_KEYS = re.compile(r"[^A-Za-z0-9]+")


@dataclass(frozen=True)
class SharedStage:
    """What an asset needs to be shared out. `plan` makes groups and what they start from; `work` does one of them,
    from the exchange folder alone; `gather` is the ordinary stage, after it has taken what the groups made.

    `pool` limits groups and the last step, `group_step` names a group's; the descriptions are for who looks at them.
    """

    asset: AssetsDefinition
    upstream: str
    pool: str
    group_step: str
    plan: Callable[[IndexBuild, ExecutionSettings], list[Group]]
    work: Callable[[Path, str, Settings, ExecutionSettings], object]
    gather: Callable[[IndexBuild, Progress], StageReport]
    group_description: str
    gather_description: str

    @property
    def stage(self) -> str:
        return self.asset.key.path[-1]


def fanned_out(shared: SharedStage, execution: ExecutionSettings) -> AssetsDefinition:
    """The asset, shared out as `execution` says."""
    plan, group, gathering = _plan_op(shared, execution), _group_op(shared, execution), _gather_op(shared)
    (spec,) = shared.asset.specs

    outputs = list(gathering.output_dict)

    @graph(name=shared.stage, out={name: GraphOut() for name in outputs})
    def shared_out(upstream):  # type: ignore[no-untyped-def]  # what a graph passes on is Dagster's own
        made = gathering(plan(upstream).map(group).collect())
        return dict(zip(outputs, made, strict=True)) if len(outputs) > 1 else made

    return AssetsDefinition.from_graph(
        shared_out,
        keys_by_input_name={"upstream": AssetKey(shared.upstream)},
        keys_by_output_name={"result": spec.key},
        partitions_def=spec.partitions_def,
        backfill_policy=shared.asset.backfill_policy,
        check_specs=check_specs(shared.stage),
        group_name=spec.group_name,
        descriptions_by_output_name={"result": spec.description or ""},
        tags_by_output_name={"result": spec.tags},
        code_versions_by_output_name={"result": spec.code_version},
    )


def _plan_op(shared: SharedStage, execution: ExecutionSettings) -> OpDefinition:
    @op(
        name=f"plan_{shared.stage}",
        description="Which groups of buckets are worked on by a step of their own; none where that takes longer.",
        ins={"upstream": In(Nothing)},
        out=DynamicOut(Nothing),
    )
    def plan_groups(context: AssetExecutionContext, workspace: Workspace) -> Iterator[DynamicOutput[None]]:
        out = {failure.label for failure in failed_so_far(context)}
        for label in context.partition_keys:
            if label in out:
                continue
            try:
                with label_lock(workspace.index_home(), label, wait_seconds=LOCK_WAIT_SECONDS):
                    groups = shared.plan(candidate(context, workspace, label), execution)
            except ExpectedError as error:  # the last step meets it again, and says so of this label
                context.log.warning(f"{label} is not shared out: {error}")
                continue
            for group in groups:
                yield DynamicOutput(None, mapping_key=f"{_key_of(label)}_{group.first}_{group.last}")

    return plan_groups


def _group_op(shared: SharedStage, execution: ExecutionSettings) -> OpDefinition:
    @op(
        name=shared.group_step,
        description=shared.group_description,
        ins={"group": In(Nothing)},
        out=Out(Nothing),
        pool=shared.pool,
    )
    def work_on_group(context: AssetExecutionContext, workspace: Workspace) -> None:
        label, name = _group_named(context)
        generation = candidate(context, workspace, label).spec.generation_id
        folder = exchange_folder(workspace.index_home(), label, shared.stage, generation)
        try:
            shared.work(folder, name, workspace.settings(), execution)
        except Exception as error:
            if is_transient(error) and context.retry_number < len(DELAYS_SECONDS):
                fail_or_retry(error, context.retry_number)
            context.log.exception(f"{label}: {name} is left to the step that gathers: {error}")
            leave_group(folder, name, f"{type(error).__name__}: {error}")

    return work_on_group


def _gather_op(shared: SharedStage) -> OpDefinition:
    checks = {spec.get_python_identifier(): Out(Nothing) for spec in check_specs(shared.stage)}

    @op(
        name=f"gather_{shared.stage}",
        description=shared.gather_description,
        ins={"groups": In(Nothing)},
        out={"result": Out(Nothing)} | checks,
        pool=shared.pool,
    )
    def gather_groups(
        context: AssetExecutionContext, workspace: Workspace, progress: ResourceParam[Progress]
    ) -> Iterator[MaterializeResult[None]]:
        def work(label: str) -> tuple[IndexBuild, StageReport]:
            build = candidate(context, workspace, label)
            return build, shared.gather(build, progress)

        yield from materialize_labels(context, workspace, work)

    return gather_groups


def _key_of(label: str) -> str:
    """Part of a mapping key, which takes letters, digits and underscores: readable, and different for every label."""
    return f"{_NOT_IN_KEYS.sub('_', label)}_{hashlib.sha256(label.encode()).hexdigest()[:8]}"


def _group_named(context: AssetExecutionContext) -> tuple[str, str]:
    """(label, name of the group) of the mapping key of this step."""
    key = context.op_execution_context.get_mapping_key()
    assert key is not None, "a step of a dynamic mapping"
    of_label, first, last = key.rsplit("_", 2)
    (label,) = [known for known in context.partition_keys if _key_of(known) == of_label]
    return label, Group(int(first), int(last), 0).name
