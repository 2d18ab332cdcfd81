"""Stage `active_index`: writes the manifest, which makes the generation readable, moves the label's pointer, and
deletes the generations that are not worth keeping any more."""

from __future__ import annotations

from rag_assets.contracts.identity import cache_key
from rag_assets.index.catalog import publish
from rag_assets.index.generations import active_pointer, all_generations, promote, read_generation
from rag_assets.index.inventory import serve_in_servers
from rag_assets.pipeline.build import IndexBuild, StageReport
from rag_assets.pipeline.checks.generation_checks import GATE_CHECK, run_blocking_checks
from rag_assets.pipeline.collect_garbage import prune_old
from rag_assets.pipeline.eval_runs import evaluate, finish_build, require_quality
from rag_assets.pipeline.publish import publish_served
from rag_assets.pipeline.versions import BUILD_STAGES, stage_version
from rag_assets.pipeline.workers.process_pool import ProcessPool

STAGE = "active_index"


def activate(build: IndexBuild, run_id: str = "") -> StageReport:
    """Promotes the generation of `build`, unless a person has moved the label away from it; the report says so then.

    The blocking checks and the gate (E25) run here too, whatever ran before: no path leads to an active generation
    around them. Raises BuildError naming the check that failed, QualityRefused for the gate.
    """
    inputs = build.inputs_of(STAGE, *BUILD_STAGES)
    previous = active_pointer(build.home, build.spec.index_label)
    current = build.spec.generation_id
    unchanged = build.is_finished and previous is not None and previous.generation_id == current
    served, pruned = current, list[str]()
    problems: list[str] = []
    if not unchanged:
        run_blocking_checks(build, without=[GATE_CHECK])
        evaluate(build, run_id=run_id)
        finish_build(build, require_quality(build), run_id)
        served = promote(build.home, build.spec.index_label, current, run_id).generation_id
        pruned, problems = prune_old(build)
    else:
        problems += serve_in_servers(build.home, build.spec.index_label)  # it may have been out of reach the last time
    problems += _publish(build, served)
    if served == current:
        problems += publish_served(build, run_id)
    if served != current:
        problems.insert(0, f"{current} is not served: a person chose {served}; {how_to_serve(current)}")
    if ProcessPool.given_up:
        problems.append(
            "one process did what several should have, without the limits of time and memory for each file, so a file "
            f"could have ended the build: {ProcessPool.given_up}"
        )
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


def _publish(build: IndexBuild, served: str) -> list[str]:
    """Tells the catalog, also of an unchanged generation: it may have been out of reach the last time."""
    label = build.spec.index_label
    manifest = read_generation(build.home, label, build.spec.generation_id).manifest
    return publish(build.settings, manifest, served, all_generations(build.home, label))


def how_to_serve(generation_id: str) -> str:
    """What a person types who wants the generation back that the label was moved away from."""
    return f"serve it with: rag-assets generations activate {generation_id}, or build it again with --force"
