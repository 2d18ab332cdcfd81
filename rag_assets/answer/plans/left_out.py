"""Files that a question names and an index left out: it can say so, and nothing of what they hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rag_assets.index.parquet_parts import TableDamaged, read_all
from rag_assets.search.line_references import meant

if TYPE_CHECKING:
    from rag_assets.search.index import LabelIndex

_MOST_TOLD = 3


def files_left_out(index: LabelIndex, written: str) -> list[str]:
    """Why each file is left out that a written path means, of those that the clearance may see; of an index that is
    looked at in part none."""
    manifest, directory = index.manifest, index.generation.directory
    reasons: dict[str, str] = {}
    try:
        for table in read_all(directory, "discovered_files", manifest.bucket_count, ["path", "reason", "detail"]):
            for row in table.to_pylist():
                if row["reason"] and not index.is_narrowed and manifest.levels.visible(row["path"], index.clearance):
                    detail = f": {row['detail']}" if row["detail"] else ""
                    reasons[row["path"]] = f"{row['path']} is left out as {row['reason']}{detail}"
    except (FileNotFoundError, TableDamaged):  # a pulled index has no such table, and `doctor` tells of damage
        return []
    return [reasons[path] for path in meant(written, reasons)][:_MOST_TOLD]
