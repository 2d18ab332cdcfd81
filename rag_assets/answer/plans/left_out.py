"""Files that a question names and an index left out: it can say so, and what other files say of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rag_assets.answer.graph_facts import Facts, GraphFacts
from rag_assets.answer.passages import PROSE
from rag_assets.answer.plans.code_lines import facts_naming, points_with
from rag_assets.index.parquet_parts import TableDamaged, read_all
from rag_assets.search.line_references import meant

if TYPE_CHECKING:
    from rag_assets.search.index import LabelIndex

_MOST_TOLD = 3
_MOST_NAMING, _MOST_READ = 8, 60


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


def files_naming(index: LabelIndex, written: str) -> Facts:
    """The lines that name such a file, those of documents first, with the points that show them."""
    name = written.replace("\\", "/").rpartition("/")[2]
    payloads = index.parts.shard().retrieve(points_with(name, index, _MOST_READ), index.scope())
    named = re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", re.IGNORECASE)
    found = facts_naming(named, payloads, index, ("", "", True), (), each_line=True)
    prose = {fact for fact, point in found.items() if payloads[point].get("CodeLanguage", "") in PROSE}
    order = sorted(found, key=lambda fact: (fact not in prose, fact.path, fact.line))[:_MOST_NAMING]
    return GraphFacts(tuple(order), len(found)), {fact: found[fact] for fact in order}
