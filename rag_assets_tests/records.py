"""Records of a home (`index.layout.write_record`) as another version, or somebody with bad intent, may have written
them: changed, and sealed again."""

from __future__ import annotations

from pathlib import Path

from rag_assets.index.generation_files import LISTING, list_files
from rag_assets.index.layout import require_whole_record, sealed_record


def edit_record(path: Path, old: str, new: str) -> None:
    """Replaces a text that the record has."""
    data = require_whole_record(path.read_bytes()).decode()
    assert old in data, old
    path.write_bytes(sealed_record(data.replace(old, new).encode()))
    generation = next((folder for folder in path.parents if (folder / LISTING).is_file()), None)
    if generation is not None and path.parent != generation:
        list_files(generation, again=(path.relative_to(generation).as_posix(),))
