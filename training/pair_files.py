"""Questions and texts of the repositories of the list, a file each."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from rag_assets.training.extraction import ChangedCode, changes, file_units, source_files
from rag_assets.training.units import CodeUnit
from training.repositories import TRAIN, Banned, Repository


def extract(repository: Repository, mirrors: Path, banned: Banned, folder: Path) -> dict[str, int]:
    """Writes `{owner}+{name}.units.jsonl` and `.changes.jsonl`; of a repository that is not trained on, the changes
    come after the snapshot. Returns counts."""
    mirror = repository.mirror(mirrors)
    files = [(p, text) for p, text in source_files(mirror, repository.revision) if not banned.is_copy(p, text)]
    found = [u for path, text in files for u in file_units(path, text) if not banned.asks(u.doc)]
    span = repository.revision if repository.role == TRAIN else f"{repository.revision}..HEAD"
    changed = [c for c in changes(mirror, span) if not banned.asks(c.question)]
    _write(folder / f"{repository.stem}.units.jsonl", found)
    _write(folder / f"{repository.stem}.changes.jsonl", changed)
    return {"units": len(found), "documented": sum(bool(u.doc) for u in found), "changes": len(changed)}


def _write(path: Path, rows: list[CodeUnit] | list[ChangedCode]) -> None:
    path.write_text("".join(json.dumps(asdict(row)) + "\n" for row in rows), encoding="utf-8")


def read_units(folder: Path, stem: str) -> Iterator[CodeUnit]:
    with (folder / f"{stem}.units.jsonl").open(encoding="utf-8") as file:
        yield from (CodeUnit(**json.loads(line)) for line in file)


def read_changes(folder: Path, stem: str) -> Iterator[ChangedCode]:
    with (folder / f"{stem}.changes.jsonl").open(encoding="utf-8") as file:
        yield from (ChangedCode(**json.loads(line)) for line in file)
