"""Notes the commit in the wheel and the sdist, for `rag-assets --version`."""

from __future__ import annotations

import os
import runpy
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_COMMIT = "RAG_ASSETS_COMMIT"  # says it where the build sees no .git, as in an image


class CommitHook(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":  # asks git itself
            return
        own = runpy.run_path(str(Path(self.root) / "rag_assets" / "version.py"))
        self._folder = tempfile.TemporaryDirectory()
        noted = Path(self._folder.name) / own["COMMIT_FILE"].name
        noted.write_text(f"{os.environ.get(_COMMIT) or own['own_commit']()}\n", encoding="ascii", newline="\n")
        build_data["force_include"][str(noted)] = f"rag_assets/{noted.name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if version != "editable":
            self._folder.cleanup()
