"""Versions of the stages and the hash of the configuration: together they decide what must be computed again."""

from __future__ import annotations

import hashlib
import json

from rag_assets.classification.classifier import CLASSIFIER_VERSION, Classifier
from rag_assets.contracts.description import INDEX_VERSION
from rag_assets.descriptions import DESCRIPTION_VERSION
from rag_assets.descriptions.kinds import default_registry
from rag_assets.descriptions.refinement import REFINEMENT_VERSION
from rag_assets.evaluation.metrics import METRICS_VERSION
from rag_assets.graph.artifact import GRAPH_VERSION
from rag_assets.graph.extract import EXTRACTION_VERSION
from rag_assets.index.keyword import KEYWORD_VERSION
from rag_assets.models import window_fingerprint
from rag_assets.models.openai_compat.dry_run import SERVICE_VERSION
from rag_assets.sections import SECTION_VERSION
from rag_assets.segmentation import SEGMENTER_VERSION
from rag_assets.settings import LlmSettings, RepositorySettings, Settings
from rag_assets.settings.repositories import GraphImportSettings
from rag_assets.sources.fingerprint import POLICY_FINGERPRINT
from rag_assets.sources.git.git_history import PAST_VERSION

TABLE_VERSION = 7
"""Raise it when the columns of a table change."""

STAGES = (
    "discovered_files",
    "segments",
    "descriptions",
    "summary_sections",
    "embeddings",
    "bm25_artifacts",
    "qdrant_points",
    "code_graph",
    "eval_runs",
    "active_index",
)

BUILD_STAGES = STAGES[: STAGES.index("eval_runs")]
"""The stages that make a generation what it is; how it is measured, and whether it is served, changes nothing in it."""

_PARTS: dict[str, tuple[object, ...]] = {
    "discovered_files": (POLICY_FINGERPRINT, PAST_VERSION),
    "segments": (SEGMENTER_VERSION,),
    "descriptions": (CLASSIFIER_VERSION, DESCRIPTION_VERSION),
    "summary_sections": (SECTION_VERSION,),
    "embeddings": (),
    "bm25_artifacts": (KEYWORD_VERSION,),
    "qdrant_points": (INDEX_VERSION,),
    "code_graph": (SEGMENTER_VERSION, EXTRACTION_VERSION, GRAPH_VERSION),
    "eval_runs": (METRICS_VERSION,),
    "active_index": (),
}


def stage_version(stage: str) -> str:
    """The code version of a stage: equal versions and equal inputs give equal bytes."""
    return "-".join(str(part) for part in (TABLE_VERSION, *_PARTS[stage]))


def descriptions_version() -> str:
    """The code that descriptions, and the sections and points they make, come from: ours and that of other packages."""
    return f"{stage_version('descriptions')} {default_registry().fingerprint}"


def llm_fingerprint(settings: LlmSettings) -> str:
    """What of these settings and this code decides a description: a part of the configuration hash.

    Where the server is, what it costs and how often it may be asked do not.
    """
    if settings.provider == "none":
        return "none"
    versions = f"{SERVICE_VERSION}.{REFINEMENT_VERSION}"
    return json.dumps([settings.provider, settings.model, settings.refine, versions])


def imported_fingerprint(settings: GraphImportSettings | None) -> str:
    """What an import makes of a graph; '' for none. Raises UnusableImport."""
    if settings is None:
        return ""
    from rag_assets.graph.imports import configured_fingerprint  # start-up budget: most repositories import no graph

    return configured_fingerprint(settings)


def config_hash(settings: Settings, repository: RepositorySettings, embedding_model: str) -> str:
    """sha256 hex over everything but the commit that decides what a generation contains.

    Where a repository and its rule packs lie, how many threads work and how long to wait do not change the
    result, so they are left out; what the packs say is in, and what is in an imported graph. Raises UnusableImport.
    """
    relevant = {
        "repository": repository.model_dump(mode="json", exclude={"location", "ref", "rule_packs"}),
        "builders": default_registry().fingerprint,
        "llm": llm_fingerprint(settings.llm),
        "rules": Classifier(repository.rule_packs, repository.kinds).fingerprint,
        "limits": settings.sources.model_dump(mode="json", exclude={"network_timeout_seconds"}),
        "embedding_model": embedding_model,
        "stores": [settings.stores.vectors, settings.stores.catalog],
        "embedding_window": window_fingerprint(settings.embedder),
        "graph_import": imported_fingerprint(settings.graph_import_of(repository.id)),
        "stages": {stage: stage_version(stage) for stage in STAGES if stage != "eval_runs"},
    }
    return hashlib.sha256(json.dumps(relevant, sort_keys=True).encode()).hexdigest()
