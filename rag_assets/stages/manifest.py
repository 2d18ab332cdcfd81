"""The manifest of a build, made of the records of its stages. Written, it makes the generation readable; in memory,
it lets the build be asked questions before anybody else can."""

from __future__ import annotations

from rag_assets.contracts.retrieval import Capability
from rag_assets.stages.build import IndexBuild
from rag_assets.stages.versions import BUILD_STAGES
from rag_assets.stores.eval_records import Decision
from rag_assets.stores.generations import EvalSummary, Manifest


def manifest_of(build: IndexBuild, run_id: str, decision: Decision | None = None) -> Manifest:
    """Raises BuildError naming the stage that has not run."""
    spec = build.spec
    repository = build.repository
    records = {stage: build.required(stage) for stage in BUILD_STAGES}
    segments = records["segments"].counts
    return Manifest(
        generation_id=spec.generation_id,
        index_label=spec.index_label,
        repository_id=repository.id,
        org_id=repository.org,
        project_id=repository.project_id,
        remote_url=spec.git.remote_url,
        ref=spec.ref,
        commit_sha=spec.git.commit_sha,
        commit_date=spec.git.commit_date,
        is_git=spec.git.is_git,
        config_hash=spec.config_hash,
        embedding_model=spec.embedding_model,
        dimension=records["embeddings"].counts["dimension"],
        lexical_only=build.settings.embedder.provider == "lexical-only",
        stage_versions={stage: record.version for stage, record in records.items()},
        counts={
            "files": records["discovered_files"].counts["indexed"],
            "skipped_files": records["discovered_files"].counts["skipped"],
            "segments": segments["segments"],
            "descriptions": records["descriptions"].counts["descriptions"],
            "sections": records["summary_sections"].counts["sections"],
            "points": records["qdrant_points"].counts["points"],
            "blocked_points": records["qdrant_points"].counts["blocked"],
            "warnings": records["qdrant_points"].counts["warnings"],
            "graph_nodes": records["code_graph"].counts["nodes"],
            "graph_edges": records["code_graph"].counts["edges"],
        },
        parse_health={
            name.removeprefix("health_"): count for name, count in segments.items() if name.startswith("health_")
        },
        bucket_count=spec.bucket_count,
        run_id=run_id,
        confidentiality=repository.confidentiality,
        confidential_paths=dict(sorted(repository.confidential_paths.items())),
        evaluation=_summary(decision) if decision is not None else None,
        capabilities=_capabilities(build),
    )


def _capabilities(build: IndexBuild) -> tuple[str, ...]:
    """What the records of the stages say was built (D17)."""
    built = {
        Capability.DENSE: build.settings.embedder.provider != "lexical-only",
        Capability.KEYWORD: True,
        Capability.GRAPH: build.required("code_graph").counts["nodes"] > 0,
        Capability.HISTORY: build.required("bm25_artifacts").counts["files_with_past"] > 0,
    }
    return tuple(part.value for part, there in built.items() if there)


def _summary(decision: Decision) -> EvalSummary:
    return EvalSummary(
        set=decision.set,
        fingerprint=decision.fingerprint,
        questions=decision.questions,
        metrics={change.metric: change.candidate for change in decision.changes},
        verdict=decision.verdict.value,
        active_generation_id=decision.active_generation_id,
    )
