"""Generations: complete, immutable builds of one label, and the pointer to the one that is served.

A generation is readable once its `manifest.json` exists; the manifest is written last. Promotion moves
`active.json` in one atomic replace, so a reader sees the old generation or the new one. Builds promote here; what
people choose is in `index.promotion`.
"""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import msgspec

from rag_assets.contracts.confidentiality import DEFAULT_LEVEL, Confidentiality
from rag_assets.contracts.retrieval import Mode, retrieval_modes
from rag_assets.errors import RagAssetsError
from rag_assets.index.generation_files import LISTING, MANIFEST, list_files
from rag_assets.index.layout import IndexHome, read_record, require_format, require_whole_record, write_record
from rag_assets.index.vectors import VECTORS
from rag_assets.index.vectors.filters import PathClearance
from rag_assets.serialization import from_json

MANIFEST_VERSION = 4
"""Raise it when a reader of this version could misread an older generation."""

_PENDING = "candidate.json"  # of a label: what its last build began
_HISTORY = 20  # former generations a pointer remembers: more rollbacks in a row than anybody makes
_REBUILD = re.compile(r"(?P<plan>.+)~(?P<number>[1-9][0-9]*)")  # the slug hash of a ref is followed by `_`


class GenerationError(RagAssetsError):
    """A label without a usable generation; the text says what to do."""


class OtherGenerationFormat(GenerationError):
    """A generation that another version has built (`index.layout.require_format`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalSummary:
    """What the promotion gate made of a generation; all of it is in `index.eval_records`."""

    set: str
    fingerprint: str
    questions: int
    metrics: dict[str, float]
    verdict: str
    active_generation_id: str = ""


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
    confidentiality: Confidentiality = DEFAULT_LEVEL
    confidential_paths: dict[str, Confidentiality] = field(default_factory=dict)
    evaluation: EvalSummary | None = None
    built_at: str = ""
    """When the build ended, by the clock of its machine (ISO 8601 UTC); nothing else of a generation has a time that is
    not of a commit."""
    capabilities: tuple[str, ...]
    """Names of `Capability`: what it was built with (D17)."""
    manifest_version: int = MANIFEST_VERSION

    @property
    def levels(self) -> PathClearance:
        """How confidential each of its files is."""
        return PathClearance(self.confidentiality, self.confidential_paths)


@dataclass(frozen=True, slots=True)
class _ManifestHeader:
    """What every format of a manifest has."""

    generation_id: str
    index_label: str
    manifest_version: int


@dataclass(frozen=True, slots=True)
class ActivePointer:
    """What a label serves, and what a rollback needs.

    `earlier` was served before the previous generation, newest first. `set_aside` are those that a person moved the
    label away from, latest first: no build brings them back (docs/decisions/0011-generations.md). `run_id` is empty
    where a person chose.
    """

    generation_id: str
    run_id: str = ""
    previous_generation_id: str = ""
    earlier: tuple[str, ...] = ()
    set_aside: tuple[str, ...] = ()

    @property
    def former(self) -> tuple[str, ...]:
        """What was served before, newest first."""
        return tuple(filter(None, (self.previous_generation_id, *self.earlier)))


@dataclass(frozen=True, slots=True)
class PendingBuild:
    """The generation that a build began last, and the run that began it."""

    generation_id: str
    run_id: str


@dataclass(frozen=True, slots=True)
class Generation:
    """One finished generation, open for reading."""

    directory: Path
    manifest: Manifest

    @property
    def vectors(self) -> Path:
        return self.directory / VECTORS

    @property
    def keyword(self) -> Path:
        return self.directory / "keyword"

    @property
    def graph(self) -> Path:
        return self.directory / "graph"

    def seen_by(self, clearance: Confidentiality, part: Path) -> Path | None:
        """The folder of a `part` (`keyword`, `graph`) for a reader. Who sees all files reads the part itself; each
        level below the highest has a folder in it. None for one who sees no file."""
        levels = self.manifest.levels
        level = levels.reached(clearance)
        return None if level is None else level_folder(part, level, levels)

    @property
    def retrieval_modes(self) -> tuple[Mode, ...]:
        """How it can be searched (D17)."""
        return retrieval_modes(self.manifest.capabilities)


def level_folder(part: Path, level: Confidentiality, levels: PathClearance) -> Path:
    """Where a part of a generation lies for the readers of a level: as `Generation.seen_by` says."""
    return part if level is levels.all[-1] else part / level


def generations_directory(home: IndexHome, label: str) -> Path:
    return home.label(label) / "generations"


@lru_cache(maxsize=64)  # a build asks for it thousands of times
def generation_directory(home: IndexHome, label: str, generation_id: str) -> Path:
    return generations_directory(home, label) / generation_id


def write_manifest(directory: Path, manifest: Manifest, *, like: Path | None = None) -> None:
    """Finishes a generation, which may have files of another one, `like`; or notes something else about a finished one.
    Raises OSError."""
    if not (directory / LISTING).is_file():
        list_files(directory, like=like)
    write_record(directory / MANIFEST, manifest, order="sorted")


def read_generation(home: IndexHome, label: str, generation_id: str) -> Generation:
    """A finished generation. Raises GenerationError where it is absent, unfinished or of another format."""
    directory = generation_directory(home, label, generation_id)
    try:
        data = (directory / MANIFEST).read_bytes()
        manifest = decode_manifest(data)
        require_whole_record(data)
    except FileNotFoundError:
        raise GenerationError(
            f"generation {generation_id} of {label} is not finished or was deleted; run: rag-assets index"
        ) from None
    except msgspec.DecodeError as error:
        raise GenerationError(
            f"the manifest of {label} {generation_id} cannot be read: {error}; run: rag-assets index {label}"
        ) from error
    return Generation(directory, manifest)


def usable_generation(home: IndexHome, label: str, generation_id: str) -> Generation | None:
    """A finished generation that a build need not make again; None where it is absent, unfinished or damaged. Raises
    OtherGenerationFormat: builds never mix formats in one generation."""
    try:
        return read_generation(home, label, generation_id)
    except OtherGenerationFormat:
        raise
    except GenerationError:
        return None


def decode_manifest(data: bytes | str, *, error: type[RagAssetsError] = OtherGenerationFormat) -> Manifest:
    """Raises `error` for a manifest of another format, msgspec.DecodeError for a damaged one."""
    header = from_json(data, _ManifestHeader)
    require_format(
        f"generation {header.generation_id} of {header.index_label}",
        header.manifest_version,
        MANIFEST_VERSION,
        f"run: rag-assets index {header.index_label} --force",
        error=error,
    )
    return from_json(data, Manifest)


def read_pointer(home: IndexHome, label: str) -> ActivePointer | None:
    """What is served, or None: nothing yet. Raises GenerationError for a damaged pointer."""
    path = home.label(label) / "active.json"
    try:
        return read_record(path, ActivePointer)
    except FileNotFoundError:
        return None
    except msgspec.DecodeError as error:
        newest = (finished_generations(home, label) or ["ID"])[-1]
        raise GenerationError(
            f"{path} is damaged: {error}, so nobody knows what {label} serves; choose it with: "
            f"rag-assets generations activate {newest}, or run: rag-assets index {label}"
        ) from error


def has_pointer(home: IndexHome, label: str) -> bool:
    """Whether a label serves something, though nobody may be able to read what."""
    return (home.label(label) / "active.json").is_file()


def served_labels(home: IndexHome) -> list[str]:
    """Labels with an active generation, sorted; also those whose pointer is damaged, which says so when one is
    opened."""
    return [label for label in home.known_labels() if has_pointer(home, label)]


def active_pointer(home: IndexHome, label: str) -> ActivePointer | None:
    """What is served, or None: nothing yet, or a damaged pointer, which the next promotion replaces."""
    try:
        return read_pointer(home, label)
    except GenerationError:
        return None


def write_pointer(
    home: IndexHome,
    label: str,
    generation_id: str,
    *,
    run_id: str = "",
    former: tuple[str, ...] = (),
    set_aside: tuple[str, ...] = (),
) -> ActivePointer:
    """Moves the pointer; a generation is never in its own history. The caller holds `pointer_lock`."""
    before = [known for known in dict.fromkeys(former) if known != generation_id][:_HISTORY]
    aside = [known for known in dict.fromkeys(set_aside) if known != generation_id][:_HISTORY]
    pointer = ActivePointer(generation_id, run_id, before[0] if before else "", tuple(before[1:]), tuple(aside))
    write_record(home.label(label) / "active.json", pointer)
    return pointer


def active_generation(home: IndexHome, label: str) -> Generation:
    """The generation that is served. Raises GenerationError where the pointer is damaged and, naming the labels there
    are, where there is none."""
    pointer = read_pointer(home, label)
    if pointer is None:
        served = [known for known in home.known_labels() if active_pointer(home, known) is not None]
        hint = f"labels with an index: {', '.join(served)}" if served else f"nothing is indexed in {home.root} yet"
        raise GenerationError(f"no active index for label {label!r}; {hint}; run: rag-assets index")
    return read_generation(home, label, pointer.generation_id)


def promote(home: IndexHome, label: str, generation_id: str, run_id: str) -> ActivePointer:
    """Serves a generation that a build has finished, and returns what is served now.

    Promoting the active one again changes nothing, and neither does a generation that a person has moved the label
    away from: only a person brings that back.
    """
    from rag_assets.index.locks import pointer_lock  # start-up budget: a search moves no pointer

    with pointer_lock(home, label):
        read_generation(home, label, generation_id)
        current = active_pointer(home, label)
        if current is None:
            return write_pointer(home, label, generation_id, run_id=run_id)
        if generation_id in (current.generation_id, *current.set_aside):
            return current
        former = (current.generation_id, *current.former)
        return write_pointer(home, label, generation_id, run_id=run_id, former=former, set_aside=current.set_aside)


def all_generations(home: IndexHome, label: str) -> list[str]:
    """Ids of all generations of a label, unfinished ones too, oldest first (ids start with the commit date)."""
    directory = generations_directory(home, label)
    if not directory.is_dir():
        return []
    return sorted((entry.name for entry in directory.iterdir() if entry.is_dir()), key=build_order)


def finished_generations(home: IndexHome, label: str) -> list[str]:
    """Ids of all finished generations of a label, oldest first."""
    return [known for known in all_generations(home, label) if is_finished(home, label, known)]


def is_finished(home: IndexHome, label: str, generation_id: str) -> bool:
    return (generation_directory(home, label, generation_id) / MANIFEST).is_file()


def rebuild_of(planned: str, rebuild: int) -> str:
    """The id of the n-th build of one plan: the plan's own id, then `…~2`, `…~3`."""
    return planned if rebuild == 1 else f"{planned}~{rebuild}"


def build_order(generation_id: str) -> tuple[str, int]:
    """(plan, number of the build): sorts ids by commit date, and the tenth build of a plan after its second."""
    found = _REBUILD.fullmatch(generation_id)
    return (found["plan"], int(found["number"])) if found else (generation_id, 1)


def generation_to_build(home: IndexHome, label: str, planned: str, *, force: bool = False) -> str:
    """Which generation a build of `planned` works on: the newest finished one, where there is nothing to do, else the
    plan's own. With `force` one after all that are finished or were set aside: what is served stays untouched, and
    what a person moved away from stays away.
    """
    finished = [known for known in finished_generations(home, label) if build_order(known)[0] == planned]
    newest = max((build_order(known)[1] for known in finished), default=0)
    if not force:
        return rebuild_of(planned, max(1, newest))
    pointer = active_pointer(home, label)
    aside = [build_order(known) for known in (pointer.set_aside if pointer else ())]
    return rebuild_of(planned, max([newest, *(number for plan, number in aside if plan == planned)]) + 1)


def set_pending_build(home: IndexHome, label: str, generation_id: str, run_id: str) -> None:
    """Names the generation that the later stages of this run work on."""
    write_record(home.label(label) / _PENDING, PendingBuild(generation_id, run_id))


def read_pending_build(home: IndexHome, label: str) -> PendingBuild | None:
    """What a build began last, finished or not; None where there was none or its note is damaged: the next build writes
    it again."""
    try:
        return read_record(home.label(label) / _PENDING, PendingBuild)
    except (FileNotFoundError, msgspec.DecodeError):
        return None


def pending_build_id(home: IndexHome, label: str) -> str | None:
    """The generation of `read_pending_build`."""
    candidate = read_pending_build(home, label)
    return candidate.generation_id if candidate is not None else None


def delete_label(home: IndexHome, label: str) -> None:
    """Removes every generation of a label and its pointer. The pointer goes first, so that no reader is misled."""
    directory = home.label(label)
    (directory / "active.json").unlink(missing_ok=True)
    shutil.rmtree(directory, ignore_errors=False)
