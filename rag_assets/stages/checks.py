"""What must hold before a generation may go live. Each check reads what was written, not what was meant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from rag_assets.contracts.payload import RagVectorPayload
from rag_assets.stages.build import BuildError, IndexBuild
from rag_assets.stages.embeddings import check_vectors, read_vectors
from rag_assets.stages.qdrant_points import SHARD
from rag_assets.stores.tables import read_part
from rag_assets.stores.vectors import ShardReader

_SHOWN = 20


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The verdict of one check, with numbers and examples for the person who must act on it."""

    passed: bool
    description: str
    numbers: dict[str, int] = field(default_factory=dict)
    examples: list[str] = field(default_factory=list)


def ids_are_unique(build: IndexBuild) -> CheckResult:
    """PointId, SemanticId and the derived blob URIs occur once in the generation (R1, R3, A38)."""
    columns = ("point_id", "semantic_id", "slice_uri", "description_uri")
    seen: dict[str, Counter[str]] = {column: Counter() for column in columns}
    for bucket in build.buckets:
        table = read_part(build.directory, "qdrant_points", bucket, columns)
        for column in columns:
            seen[column].update(table.column(column).to_pylist())
    repeated = {column: [key for key, count in found.items() if count > 1] for column, found in seen.items()}
    numbers = {f"repeated_{column}": len(keys) for column, keys in repeated.items()}
    examples = [f"{column}: {key}" for column, keys in repeated.items() for key in sorted(keys)[:_SHOWN]]
    return CheckResult(not examples, "ids and artifact URIs occur once", numbers, examples)


def payloads_are_valid(build: IndexBuild) -> CheckResult:
    """Every stored payload passes ValidateForIndex without an error and without a normalisation (B14, B15)."""
    problems: Counter[str] = Counter()
    examples: list[str] = []
    points = 0
    for bucket in build.buckets:
        table = read_part(build.directory, "qdrant_points", bucket, ["semantic_id", "payload"])
        points += table.num_rows
        for semantic_id, raw in zip(
            table.column("semantic_id").to_pylist(), table.column("payload").to_pylist(), strict=True
        ):
            checked = RagVectorPayload.from_dictionary(msgspec.json.decode(raw)).validate_for_index()
            found = [*checked.errors, *(w for w in checked.warnings if w.code != "B15.business-domain-key")]
            problems.update(message.code for message in found)
            examples.extend(f"{semantic_id}: {message}" for message in found[: max(0, _SHOWN - len(examples))])
    blocked = build.required("qdrant_points").counts["blocked"]
    if blocked:
        problems["blocked"] = blocked
        examples.extend(build.required("qdrant_points").problems[:_SHOWN])
    return CheckResult(not problems, "payloads are valid", {"points": points, **problems}, examples)


def vectors_are_sound(build: IndexBuild) -> CheckResult:
    """Every vector has the declared dimension, is finite and of unit length; there is one per section (B22)."""
    dimension = build.required("embeddings").counts["dimension"]
    sections = build.required("summary_sections").counts["sections"]
    vectors = 0
    for bucket in build.buckets:
        found = read_vectors(build, bucket, dimension)
        vectors += len(found)
        try:
            check_vectors(found, dimension, build.spec.embedding_model)
        except BuildError as error:
            return CheckResult(False, "vectors are sound", {"bucket": bucket}, [str(error)])
    numbers = {"vectors": vectors, "sections": sections, "dimension": dimension}
    return CheckResult(vectors == sections, "vectors are sound", numbers)


def store_matches_declaration(build: IndexBuild) -> CheckResult:
    """The vector shard holds exactly the declared points, compared both ways."""
    declared: set[str] = set()
    for bucket in build.buckets:
        declared.update(read_part(build.directory, "qdrant_points", bucket, ["point_id"]).column(0).to_pylist())
    reader = ShardReader(build.directory / SHARD)
    try:
        stored = {str(identifier) for identifier in reader.ids()}
    finally:
        reader.close()
    missing, ghosts = declared - stored, stored - declared
    numbers = {"declared": len(declared), "stored": len(stored), "missing": len(missing), "ghosts": len(ghosts)}
    examples = [f"missing: {key}" for key in sorted(missing)[:_SHOWN]]
    examples += [f"ghost: {key}" for key in sorted(ghosts)[:_SHOWN]]
    return CheckResult(not missing and not ghosts, "the store holds the declared points", numbers, examples)


def every_file_has_an_outcome(build: IndexBuild) -> CheckResult:
    """Every indexed file has at least one section; the others are listed with what happened to them."""
    without: list[str] = []
    files = 0
    for bucket in build.buckets:
        discovered = read_part(build.directory, "discovered_files", bucket, ["path", "outcome"])
        indexed: list[dict[str, Any]] = [row for row in discovered.to_pylist() if row["outcome"] == "indexed"]
        files += len(indexed)
        reached = set(read_part(build.directory, "summary_sections", bucket, ["path"]).column(0).to_pylist())
        without += [row["path"] for row in indexed if row["path"] not in reached]
    numbers = {"files": files, "without_sections": len(without)}
    return CheckResult(not without, "every file has sections", numbers, without[:_SHOWN])


CHECKS: dict[str, tuple[str, bool, Callable[[IndexBuild], CheckResult]]] = {
    # name: (asset it belongs to, blocking, function)
    "vectors_are_sound": ("embeddings", True, vectors_are_sound),
    "every_file_has_an_outcome": ("summary_sections", False, every_file_has_an_outcome),
    "ids_are_unique": ("qdrant_points", True, ids_are_unique),
    "payloads_are_valid": ("qdrant_points", True, payloads_are_valid),
    "store_matches_declaration": ("qdrant_points", True, store_matches_declaration),
}
