"""Settings of the dependency graph: imports beside the files of a repository."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from rag_assets.settings.base import Strict

ImportFormat = Literal["roslyn", "scip"]
ImportMode = Literal["merge", "replace"]


class GraphImportSettings(Strict):
    """A graph of the same repository that another tool made."""

    path: Path = Field(description="folder or archive of RoslynIndexer artifacts, or SCIP index")
    format: ImportFormat = Field(default="roslyn", description="what wrote it: roslyn or scip")
    mode: ImportMode = Field(
        default="merge",
        description="merge: what either finds; replace: only the import where it covers a file and a relation",
    )
