"""What a generation left out, and why."""

from __future__ import annotations

from typing import Any

from rag_assets.contracts.confidentiality import Confidentiality
from rag_assets.index.generations import Generation
from rag_assets.index.parquet_parts import TableDamaged, read_all
from rag_assets.pipeline.build import refused_later


def skipped_files(generation: Generation, clearance: Confidentiality) -> list[dict[str, Any]]:
    """Every file that was left out, or that a stage could not work on, and that `clearance` may see (E12), by path,
    with the reason and the rule that matched. Raises TableDamaged for a missing or damaged table, BuildError."""
    columns = ["path", "outcome", "reason", "detail", "size_bytes"]
    rows: list[dict[str, Any]] = []
    refused = refused_later(generation.directory)
    try:
        for table in read_all(generation.directory, "discovered_files", generation.manifest.bucket_count, columns):
            for row in table.to_pylist():
                if row.pop("outcome") == "skipped":
                    rows.append(row)
                elif row["path"] in refused:
                    stage, file = refused[row["path"]]
                    rows.append(row | {"reason": file.reason.value, "detail": f"{stage}: {file.detail}"})
    except FileNotFoundError as error:
        label = generation.manifest.index_label
        again = f"run: rag-assets index {label}"
        table = generation.directory / "discovered_files"
        raise TableDamaged(f"{label}: {table}: a part is gone; {again}") from error
    levels = generation.manifest.levels
    return sorted((row for row in rows if levels.visible(row["path"], clearance)), key=lambda row: str(row["path"]))
