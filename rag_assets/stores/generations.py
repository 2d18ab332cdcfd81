"""Generations: complete, immutable builds of one label, and the pointer to the one that is served.

A generation is readable once its `manifest.json` exists; the manifest is written last. Promotion moves
`active.json` in one atomic replace, so a reader sees the old generation or the new one.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from rag_assets.contracts.errors import ExpectedError
from rag_assets.stores.home import Home, write_atomically

MANIFEST_VERSION = 1
"""Raise it when a reader of this version could misread an older generation."""


class GenerationError(ExpectedError):
    """A label without a usable generation; the text says what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What a generation is: enough to read it, to trust it and to trace it back to the run that made it."""

    generation_id: str
    index_label: str
    repository_id: str
    org_id: str
    project_id: str
    remote_url: str
    ref: str
    commit_sha: str
    commit_date: str
    is_git: bool
    config_hash: str
    embedding_model: str
    dimension: int
    lexical_only: bool
    stage_versions: dict[str, str]
    counts: dict[str, int]
    parse_health: dict[str, int] = field(default_factory=dict)
    bucket_count: int = 1
    run_id: str = ""
    manifest_version: int = MANIFEST_VERSION


@dataclass(frozen=True, slots=True)
class ActivePointer:
    generation_id: str
    run_id: str = ""
    previous_generation_id: str = ""


@dataclass(frozen=True, slots=True)
class Generation:
    """One finished generation, open for reading."""

    directory: Path
    manifest: Manifest

    @property
    def vectors(self) -> Path:
        return self.directory / "shard"

    @property
    def keyword(self) -> Path:
        return self.directory / "keyword"


def generations_directory(home: Home, label: str) -> Path:
    return home.label(label) / "generations"


def generation_directory(home: Home, label: str, generation_id: str) -> Path:
    return generations_directory(home, label) / generation_id


def write_manifest(directory: Path, manifest: Manifest) -> None:
    write_atomically(directory / "manifest.json", msgspec.json.format(msgspec.json.encode(manifest, order="sorted")))


def read_generation(home: Home, label: str, generation_id: str) -> Generation:
    """A finished generation. Raises GenerationError where it is absent, unfinished or of another format."""
    directory = generation_directory(home, label, generation_id)
    try:
        manifest = msgspec.json.decode((directory / "manifest.json").read_bytes(), type=Manifest)
    except FileNotFoundError:
        raise GenerationError(
            f"generation {generation_id} of {label} is not finished or was deleted; run: rag-assets index"
        ) from None
    except msgspec.DecodeError as error:
        raise GenerationError(f"the manifest of {label} {generation_id} cannot be read: {error}") from error
    if manifest.manifest_version != MANIFEST_VERSION:
        raise GenerationError(
            f"generation {generation_id} of {label} has format {manifest.manifest_version}, this version reads "
            f"{MANIFEST_VERSION}; run: rag-assets index --force"
        )
    return Generation(directory, manifest)


def active_pointer(home: Home, label: str) -> ActivePointer | None:
    """What is served, or None: nothing yet, or a damaged pointer, which the next promotion replaces."""
    try:
        return msgspec.json.decode((home.label(label) / "active.json").read_bytes(), type=ActivePointer)
    except (FileNotFoundError, msgspec.DecodeError):
        return None


def active_generation(home: Home, label: str) -> Generation:
    """The generation that is served. Raises GenerationError, naming the labels there are, where there is none."""
    pointer = active_pointer(home, label)
    if pointer is None:
        served = [known for known in home.known_labels() if active_pointer(home, known) is not None]
        hint = f"labels with an index: {', '.join(served)}" if served else "nothing is indexed yet"
        raise GenerationError(f"no active index for label {label!r}; {hint}; run: rag-assets index")
    return read_generation(home, label, pointer.generation_id)


def promote(home: Home, label: str, generation_id: str, run_id: str) -> ActivePointer:
    """Serves a finished generation. Promoting the active one again changes nothing."""
    read_generation(home, label, generation_id)
    current = active_pointer(home, label)
    if current is not None and current.generation_id == generation_id:
        return current
    pointer = ActivePointer(generation_id, run_id, current.generation_id if current else "")
    write_atomically(home.label(label) / "active.json", msgspec.json.encode(pointer))
    return pointer


def finished_generations(home: Home, label: str) -> list[str]:
    """Ids of all finished generations of a label, oldest first (ids start with the commit date)."""
    directory = generations_directory(home, label)
    if not directory.is_dir():
        return []
    return sorted(entry.name for entry in directory.iterdir() if (entry / "manifest.json").is_file())


def rebuild_of(planned: str, rebuild: int) -> str:
    """The id of the n-th build of one plan: the plan's own id, then `…~2`, `…~3`."""
    return planned if rebuild == 1 else f"{planned}~{rebuild}"


def generation_to_build(home: Home, label: str, planned: str, *, force: bool = False) -> str:
    """Which generation a build of `planned` works on: the newest finished one, where there is nothing to do, or the
    first unfinished one. With `force` always the next one that is not finished: what is served stays untouched.
    """
    rebuild = 1
    while (generation_directory(home, label, rebuild_of(planned, rebuild)) / "manifest.json").is_file():
        rebuild += 1
    return rebuild_of(planned, rebuild if force else max(1, rebuild - 1))


def delete_label(home: Home, label: str) -> None:
    """Removes every generation of a label and its pointer. The pointer goes first, so that no reader is misled."""
    directory = home.label(label)
    (directory / "active.json").unlink(missing_ok=True)
    shutil.rmtree(directory, ignore_errors=False)
