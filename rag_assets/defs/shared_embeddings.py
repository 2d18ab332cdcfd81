"""The asset `embeddings`, as it is shared out."""

from __future__ import annotations

from pathlib import Path

from rag_assets.defs.assets.embeddings import embeddings
from rag_assets.defs.execution import concurrent_steps
from rag_assets.defs.fan_out import SharedStage
from rag_assets.models import model_id, open_embedder
from rag_assets.models.cores import usable_cores
from rag_assets.settings import EmbedderSettings, ExecutionSettings, Settings
from rag_assets.stages.build import IndexBuild, StageReport
from rag_assets.stages.fan_out.embeddings import embed_gathered, embed_group, plan_groups
from rag_assets.stages.fan_out.exchange import Group
from rag_assets.stages.progress import Progress
from rag_assets.stores.home import Home

_ON_THIS_MACHINE = ("multiprocess", "dask")


def _plan(build: IndexBuild, execution: ExecutionSettings) -> list[Group]:
    embedder = build.settings.embedder
    if embedder.provider == "lexical-only":
        return []
    return plan_groups(build, model_id(embedder), most=execution.fan_out, least=execution.fan_out_texts)


def _work(folder: Path, name: str, settings: Settings, execution: ExecutionSettings) -> object:
    embedder = _own_share(settings.embedder, execution)
    return embed_group(folder, name, open_embedder(embedder, Home(settings.home).cache))


def _gather(build: IndexBuild, progress: Progress) -> StageReport:
    return embed_gathered(build, open_embedder(build.settings.embedder, build.home.cache), progress)


def _own_share(embedder: EmbedderSettings, execution: ExecutionSettings) -> EmbedderSettings:
    """With the cores that are left for one of several steps on this machine; elsewhere the settings say how many."""
    if execution.executor not in _ON_THIS_MACHINE or execution.dask_scheduler or embedder.threads:
        return embedder
    return embedder.model_copy(update={"threads": max(1, usable_cores() // concurrent_steps(execution))})


EMBEDDINGS = SharedStage(
    asset=embeddings,
    upstream="summary_sections",
    pool="embedding_api",
    group_step="embed_group",
    plan=_plan,
    work=_work,
    gather=_gather,
    group_description="Embeds one group of buckets, for the step that gathers them.",
    gather_description="Takes what the groups made, embeds what they did not, and writes the vectors of every section.",
)
