"""The asset `descriptions`, as it is shared out where a language model completes what builders say."""

from __future__ import annotations

from pathlib import Path

from rag_assets.defs.assets.descriptions import descriptions
from rag_assets.defs.execution import concurrent_steps
from rag_assets.defs.fan_out import SharedStage
from rag_assets.settings import ExecutionSettings, Settings
from rag_assets.stages.build import IndexBuild
from rag_assets.stages.fan_out.exchange import Group
from rag_assets.stages.fan_out.refinement import describe_gathered, plan_groups, refine_group


def _plan(build: IndexBuild, execution: ExecutionSettings) -> list[Group]:
    return plan_groups(
        build, most=execution.fan_out, least=execution.fan_out_questions, concurrent=concurrent_steps(execution)
    )


def _work(folder: Path, name: str, settings: Settings, execution: ExecutionSettings) -> object:
    return refine_group(folder, name, settings.llm)


DESCRIPTIONS = SharedStage(
    asset=descriptions,
    upstream="segments",
    pool="llm",
    group_step="refine_group",
    plan=_plan,
    work=_work,
    gather=describe_gathered,
    group_description="Asks the language model what one group of buckets wants to know, for the step that gathers.",
    gather_description="Takes the answers of the groups, asks what they could not, and describes every segment.",
)
