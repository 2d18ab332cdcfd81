"""Stage `active_index`: writes the manifest, which makes the generation readable, moves the label's pointer, and
deletes the generations that are not worth keeping any more."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from rag_assets.stages.build import BuildError, IndexBuild, StageReport
from rag_assets.stages.checks import CHECKS
from rag_assets.stages.versions import STAGES, stage_version
from rag_assets.stores.cache import cache_key
from rag_assets.stores.generations import (
    GenerationError,
    Manifest,
    active_pointer,
    all_generations,
    promote,
    write_manifest,
)
from rag_assets.stores.locks import HomeBusy
from rag_assets.stores.points import VectorStoreError
from rag_assets.stores.retention import prune
from rag_assets.stores.vector_store import delete_stale_points

STAGE = "active_index"
_CHECKS_AT_A_TIME = 2  # one waits for the workers while another reads the vector store


def activate(build: IndexBuild, run_id: str = "") -> StageReport:
    """Promotes the generation of `build`, unless a person has moved the label away from it; the report says so then.

    The blocking checks run here too, whatever ran before: no path leads to an active generation around them.
    Raises BuildError naming the check that failed.
    """
    upstream = [stage for stage in STAGES if stage != STAGE]
    inputs = build.inputs_of(STAGE, *upstream)
    previous = active_pointer(build.home, build.spec.index_label)
    current = build.spec.generation_id
    unchanged = build.is_finished and previous is not None and previous.generation_id == current
    served, pruned = current, list[str]()
    problems: list[str] = []
    if not unchanged:
        _run_blocking_checks(build)
        if not build.is_finished:
            write_manifest(build.directory, _manifest(build, run_id))
        served = promote(build.home, build.spec.index_label, current, run_id).generation_id
        pruned, problems = _prune(build)
        problems += _delete_stale_points(build)
    if served != current:
        problems.insert(0, f"{current} is not served: a person chose {served}; {how_to_serve(current)}")
    report = StageReport(
        stage=STAGE,
        version=stage_version(STAGE),
        inputs=inputs,
        output=cache_key(STAGE, current, inputs).hex(),
        counts={"points": build.required("qdrant_points").counts["points"]},
        tables={
            "active index": [
                {
                    "label": build.spec.index_label,
                    "generation": served,
                    "built": current,
                    "previous": previous.generation_id if previous else "",
                    "commit": build.spec.git.commit_sha,
                }
            ]
        },
        work={"pruned": len(pruned)},
        problems=problems,
        unchanged=unchanged,
    )
    return report if unchanged else build.finish(report)


def how_to_serve(generation_id: str) -> str:
    """What a person types who wants the generation back that the label was moved away from."""
    return f"serve it with: rag-assets generations activate {generation_id}, or build it again with --force"


def _prune(build: IndexBuild) -> tuple[list[str], list[str]]:
    """What was deleted, and what could not be: an index that is served must not fail because an old one stays."""
    label, keep = build.spec.index_label, build.settings.retention.keep
    try:
        found = prune(build.home, label, keep)
    except (OSError, GenerationError, HomeBusy) as error:
        return [], [f"old generations were not deleted: {error}; try again with: rag-assets generations prune {label}"]
    in_use = [f"{gone.generation_id} is in use and goes another time" for gone in found if gone.in_use]
    return [gone.generation_id for gone in found if not gone.in_use], in_use


def _delete_stale_points(build: IndexBuild) -> list[str]:
    """Deletes from a vector server what belongs to no generation any more; after the pointer has moved. What it
    cannot delete, which nobody reads, is said."""
    spec, repository = build.spec, build.repository
    try:
        delete_stale_points(
            build.settings.stores,
            org_id=repository.org,
            project_id=repository.project_id,
            index_label=spec.index_label,
            keep=all_generations(build.home, spec.index_label),
        )
    except VectorStoreError as error:
        return [f"points of deleted generations stay in the vector server until the next build: {error}"]
    return []


def _run_blocking_checks(build: IndexBuild) -> None:
    blocking = {name: (asset, check) for name, (asset, is_blocking, check) in CHECKS.items() if is_blocking}
    with ThreadPoolExecutor(_CHECKS_AT_A_TIME, thread_name_prefix="check") as pool:
        results = pool.map(lambda found: found[1](build), blocking.values())
        verdicts = list(zip(blocking.items(), results, strict=True))
    for (name, (asset, _)), result in verdicts:
        if not result.passed:
            detail = "; ".join(result.examples[:3]) or str(result.numbers)
            raise BuildError(f"{build.spec.index_label}: check {name} on {asset} failed: {detail}")


def _manifest(build: IndexBuild, run_id: str) -> Manifest:
    spec = build.spec
    repository = build.repository
    records = {stage: build.required(stage) for stage in STAGES if stage != STAGE}
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
        },
        parse_health={
            name.removeprefix("health_"): count for name, count in segments.items() if name.startswith("health_")
        },
        bucket_count=spec.bucket_count,
        run_id=run_id,
    )
