"""All stages in order, without an orchestrator: what tests and notebooks call. The Dagster assets call the same
functions one by one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from rag_assets.index.labels import register_label
from rag_assets.index.layout import IndexHome
from rag_assets.models import open_embedder
from rag_assets.pipeline.active_index import activate
from rag_assets.pipeline.bm25_artifacts import build_keyword_weights
from rag_assets.pipeline.build import IndexBuild, StageReport, label_lock
from rag_assets.pipeline.code_graph import build_graph
from rag_assets.pipeline.discovered_files import discover_files
from rag_assets.pipeline.embeddings import embed_sections
from rag_assets.pipeline.eval_runs import evaluate
from rag_assets.pipeline.progress import Progress, Silent
from rag_assets.pipeline.qdrant_points import build_points
from rag_assets.pipeline.refinement import refine_and_describe
from rag_assets.pipeline.segments import segment_files
from rag_assets.pipeline.summary_sections import build_sections
from rag_assets.pipeline.workers.process_pool import collecting_seldom, release_memory
from rag_assets.settings import RepositorySettings, Settings


def run_stages(
    settings: Settings,
    label: str,
    repository: RepositorySettings,
    *,
    commit: str | None = None,
    force: bool = False,
    run_id: str = "",
    progress: Progress | None = None,
) -> tuple[IndexBuild, list[StageReport]]:
    """Builds and activates one label. Raises BuildError (QualityRefused where the promotion gate does not let the build
    through) or the errors of `rag_assets.sources`."""
    others = (known for known in settings.repositories if known.id != repository.id)
    settings = settings.model_copy(update={"repositories": (*others, repository)})
    home = IndexHome(settings.home)
    shown = progress or Silent()
    with label_lock(home, label), collecting_seldom():
        register_label(home, label, repository, repository.ref or "")
        build, discovered = discover_files(
            home, settings, label, repository, shown, commit=commit, run_id=run_id, force=force
        )
        embedder = open_embedder(settings.embedder, home.cache)
        stages: list[Callable[[], StageReport]] = [
            partial(segment_files, build, shown),
            partial(refine_and_describe, build, shown),
            partial(build_sections, build, shown),
            partial(embed_sections, build, embedder, shown),
            partial(build_keyword_weights, build, shown),
            partial(build_points, build, shown),
            partial(build_graph, build, shown),
            partial(evaluate, build, shown, run_id),
            partial(activate, build, run_id),
        ]
        reports = [discovered]
        for stage in stages:
            release_memory()
            reports.append(stage())
    return build, reports
