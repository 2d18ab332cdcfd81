"""The asset `embeddings` as three kinds of steps, for executors that spread steps over processes or machines.

plan_embeddings ─► embed_group, one per group (dynamic mapping) ─► gather_embeddings

To everything but the executor it is the same asset: key, versions, checks, metadata and tables are those of the plain
one, whose function the last step runs. The steps hand each other names, never values: what they exchange is in the
home that they all see, so no IO manager has to be shared. A group that fails leaves its work to the last step, which
also is the one place where a label fails. No `from __future__ import annotations`: see `defs.assets`.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, replace

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
from rag_assets.defs.assets.embeddings import embeddings
from rag_assets.defs.execution import concurrent_steps
from rag_assets.defs.resources import Workspace
from rag_assets.defs.retries import DELAYS_SECONDS, fail_or_retry, is_transient
from rag_assets.defs.several_labels import failed_so_far
from rag_assets.defs.stage_asset import LOCK_WAIT_SECONDS, candidate, check_specs, materialize_labels
from rag_assets.models import model_id, open_embedder
from rag_assets.models.cores import usable_cores
from rag_assets.settings import ExecutionSettings, Settings
from rag_assets.stages.build import IndexBuild, StageReport, label_lock
from rag_assets.stages.embeddings import STAGE, embed_sections
from rag_assets.stages.fan_out import (
    Group,
    GroupWork,
    embed_group,
    exchange_folder,
    forget_exchange,
    gather,
    leave_group,
    plan_groups,
)
from rag_assets.stages.progress import Progress

_POOL = "embedding_api"
_ON_THIS_MACHINE = ("multiprocess", "dask")
_NOT_IN_KEYS = re.compile(r"[^A-Za-z0-9]+")


def fanned_out(execution: ExecutionSettings) -> AssetsDefinition:
    """The asset `embeddings`, shared out as `execution` says."""
    plan, group, gathering = _plan_op(execution), _group_op(execution), _gather_op()
    (spec,) = embeddings.specs

    outputs = list(gathering.output_dict)

    @graph(name=STAGE, out={name: GraphOut() for name in outputs})
    def shared_out(summary_sections):  # type: ignore[no-untyped-def]  # what a graph passes on is Dagster's own
        made = gathering(plan(summary_sections).map(group).collect())
        return dict(zip(outputs, made, strict=True)) if len(outputs) > 1 else made

    return AssetsDefinition.from_graph(
        shared_out,
        keys_by_input_name={"summary_sections": AssetKey("summary_sections")},
        keys_by_output_name={"result": spec.key},
        partitions_def=spec.partitions_def,
        backfill_policy=embeddings.backfill_policy,
        check_specs=check_specs(STAGE),
        group_name=spec.group_name,
        descriptions_by_output_name={"result": spec.description or ""},
        tags_by_output_name={"result": spec.tags},
        code_versions_by_output_name={"result": spec.code_version},
    )


def _plan_op(execution: ExecutionSettings) -> OpDefinition:
    @op(
        name="plan_embeddings",
        description="Which groups of buckets are embedded by a step of their own; none where that takes longer.",
        ins={"summary_sections": In(Nothing)},
        out=DynamicOut(Nothing),
    )
    def plan_embeddings(context: AssetExecutionContext, workspace: Workspace) -> Iterator[DynamicOutput[None]]:
        settings, out = workspace.settings(), {failure.label for failure in failed_so_far(context)}
        if settings.embedder.provider == "lexical-only":
            return
        for label in context.partition_keys:
            if label in out:
                continue
            try:
                with label_lock(workspace.index_home(), label, wait_seconds=LOCK_WAIT_SECONDS):
                    build = candidate(context, workspace, label)
                    groups = plan_groups(
                        build, model_id(settings.embedder), most=execution.fan_out, least=execution.fan_out_texts
                    )
            except ExpectedError as error:  # the last step meets it again, and says so of this label
                context.log.warning(f"{label} is not shared out: {error}")
                continue
            for group in groups:
                yield DynamicOutput(None, mapping_key=f"{_key_of(label)}_{group.first:03d}_{group.last:03d}")

    return plan_embeddings


def _group_op(execution: ExecutionSettings) -> OpDefinition:
    @op(
        name="embed_group",
        description="Embeds one group of buckets, for the step that gathers them.",
        ins={"group": In(Nothing)},
        out=Out(Nothing),
        pool=_POOL,
    )
    def embed_one_group(context: AssetExecutionContext, workspace: Workspace) -> None:
        label, name = _group_named(context)
        settings = _own_share(workspace.settings(), execution)
        generation = candidate(context, workspace, label).spec.generation_id
        folder = exchange_folder(workspace.index_home(), label, generation)
        try:
            embed_group(folder, name, open_embedder(settings.embedder, workspace.index_home().cache))
        except Exception as error:
            if is_transient(error) and context.retry_number < len(DELAYS_SECONDS):
                fail_or_retry(error, context.retry_number)
            context.log.exception(f"{label}: {name} is left to the step that gathers: {error}")
            leave_group(folder, name, f"{type(error).__name__}: {error}")

    return embed_one_group


def _gather_op() -> OpDefinition:
    checks = {spec.get_python_identifier(): Out(Nothing) for spec in check_specs(STAGE)}

    @op(
        name="gather_embeddings",
        description="Takes what the groups made, embeds what they did not, and writes the vectors of every section.",
        ins={"groups": In(Nothing)},
        out={"result": Out(Nothing)} | checks,
        pool=_POOL,
    )
    def gather_embeddings(
        context: AssetExecutionContext, workspace: Workspace, progress: ResourceParam[Progress]
    ) -> Iterator[MaterializeResult[None]]:
        def work(label: str) -> tuple[IndexBuild, StageReport]:
            build = candidate(context, workspace, label)
            embedder = open_embedder(workspace.settings().embedder, build.home.cache)
            groups = gather(build, embedder.model_id)
            report = embed_sections(build, embedder, progress)
            forget_exchange(build)
            return build, _with_groups(report, groups)

        yield from materialize_labels(context, workspace, work)

    return gather_embeddings


def _with_groups(report: StageReport, groups: list[GroupWork]) -> StageReport:
    """What the run did and spent in all, and who did it. The record of the stage stays what it is without groups."""
    if not groups:
        return report
    spent = Counter(report.work)
    for group in groups:
        spent.update({"embedded": group.texts, "from_cache": -group.texts} | group.spent)
    rows = [asdict(group) for group in groups]
    for row in rows:
        del row["spent"]
    return replace(
        report,
        work=dict(spent),
        tables=report.tables | {"groups": rows},
        problems=[*report.problems, *(f"{group.group}: {group.error}" for group in groups if group.error)],
    )


def _own_share(settings: Settings, execution: ExecutionSettings) -> Settings:
    """With the cores that are left for one of several steps on this machine; elsewhere the settings say how many."""
    if execution.executor not in _ON_THIS_MACHINE or execution.dask_scheduler or settings.embedder.threads:
        return settings
    threads = max(1, usable_cores() // concurrent_steps(execution))
    return settings.model_copy(update={"embedder": settings.embedder.model_copy(update={"threads": threads})})


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
