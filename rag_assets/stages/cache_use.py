"""Which cache entries the generations of a home would use if they were built again by this version."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from rag_assets.decoders import from_json
from rag_assets.stages import discovered_files, embeddings, segments
from rag_assets.stages.answered_parts import QUESTIONS
from rag_assets.stages.build import BuildSpec, StageReport
from rag_assets.stages.check_records import CHECKED, checked_key
from rag_assets.stages.checks import CHECKED_PARTS
from rag_assets.stages.embeddings import embedding_key
from rag_assets.stages.graph_files import GRAPH_FILES, graph_file_key
from rag_assets.stages.known_files import discovery_key
from rag_assets.stages.past_subjects import PAST_COMMITS, past_keys
from rag_assets.stages.segments import segment_key
from rag_assets.stores.home import Home
from rag_assets.stores.sweep import SweepError, generation_directories, table_of

T = TypeVar("T")

UsedKeys = Callable[[Home, Collection[Path]], Iterator[bytes]]


class _Embedded(msgspec.Struct):
    embedding_model: str


def used_segments(home: Home, without: Collection[Path] = ()) -> Iterator[bytes]:
    """Keys of the files of every generation but those in `without`. Raises SweepError for an unreadable table."""
    return _of_texts(home, without, segment_key)


def used_graph_files(home: Home, without: Collection[Path] = ()) -> Iterator[bytes]:
    """Keys of what the graph has of the files of every generation. Raises SweepError."""
    return _of_texts(home, without, graph_file_key)


def used_embeddings(home: Home, without: Collection[Path] = ()) -> Iterator[bytes]:
    """Keys of the sections of every generation, under its own model. Raises SweepError."""
    for directory in generation_directories(home, without):
        parts = sorted(directory.glob("summary_sections/part-*.parquet"))
        model = _model(directory) if parts else ""
        for part in parts:
            for text in table_of(part, ["finder_snippet"]).column(0).to_pylist():
                yield embedding_key(model, text)


def used_discoveries(home: Home, without: Collection[Path] = ()) -> Iterator[bytes]:
    """Keys of the files that generations read. Raises SweepError."""
    for directory in generation_directories(home, without):
        limit = _begun(directory).max_line_length
        for row in _files(directory, "path", "blob_id"):
            yield discovery_key(row["path"], row["blob_id"], limit)


def used_questions(home: Home, without: Collection[Path] = ()) -> Iterator[bytes]:
    """Keys of what descriptions asked. Raises SweepError."""
    return map(bytes.fromhex, used_parts(home, without).get(QUESTIONS, set()))


def used_checks(home: Home, without: Collection[Path] = ()) -> Iterator[bytes]:
    """Keys of what checks said of the parts of generations. Raises SweepError."""
    for directory in generation_directories(home, without):
        for name, tables in CHECKED_PARTS:
            for bucket in range(_begun(directory).bucket_count):
                try:
                    yield checked_key(name, tables, directory, bucket)
                except FileNotFoundError:  # a build that has not come so far
                    continue


def used_past_commits(home: Home, without: Collection[Path] = ()) -> Iterator[bytes]:
    """Keys of the commits whose subjects generations know."""
    for directory in generation_directories(home, without):
        yield from past_keys(directory)


def used_parts(home: Home, without: Collection[Path] = ()) -> dict[str, set[str]]:
    """Kind of part → keys of those that a generation is made of. Raises SweepError for an unreadable record."""
    found: dict[str, set[str]] = {}
    for directory in generation_directories(home, without):
        for path in sorted(directory.glob("stages/*.json")):
            for kind, keys in _decoded(path, StageReport).part_keys.items():
                found.setdefault(kind, set()).update(keys)
    return found


SWEPT_CACHES: dict[str, UsedKeys] = {
    discovered_files.STAGE: used_discoveries,
    segments.STAGE: used_segments,
    QUESTIONS: used_questions,
    embeddings.STAGE: used_embeddings,
    CHECKED: used_checks,
    GRAPH_FILES: used_graph_files,
    PAST_COMMITS: used_past_commits,
}
"""Caches whose keys follow from the generations. Answers of a language model do not, and cost money: they stay."""


def _of_texts(home: Home, without: Collection[Path], key: Callable[[str, str, str], bytes]) -> Iterator[bytes]:
    """`key(language, path, sha256)` of every file that generations have the text of."""
    for directory in generation_directories(home, without):
        for row in _files(directory, "language", "path", "text_sha256"):
            if row["text_sha256"]:
                yield key(row["language"], row["path"], row["text_sha256"])


def _files(directory: Path, *columns: str) -> Iterator[dict[str, Any]]:
    for part in sorted(directory.glob("discovered_files/part-*.parquet")):
        yield from table_of(part, list(columns)).to_pylist()


def _begun(directory: Path) -> BuildSpec:
    return _decoded(directory / "build.json", BuildSpec)


def _decoded(path: Path, kind: type[T]) -> T:
    """Raises SweepError."""
    try:
        return from_json(path.read_bytes(), kind)
    except (OSError, msgspec.DecodeError) as error:
        generation = path.parent if path.name == "build.json" else path.parent.parent
        raise SweepError(
            f"{path} is damaged ({error}), so nobody knows what it needs; build generation {generation.name} again "
            f"with: rag-assets index {generation.parent.parent.name} --force, and delete {generation}"
        ) from error


def _model(directory: Path) -> str:
    for name in ("manifest.json", "build.json"):
        try:
            return from_json((directory / name).read_bytes(), _Embedded).embedding_model
        except FileNotFoundError:
            continue
        except msgspec.DecodeError as error:
            raise SweepError(
                f"{directory / name} is damaged ({error}), so nobody knows which vectors it needs; build it again "
                f"with: rag-assets index {directory.parent.parent.name} --force, and delete {directory}"
            ) from error
    raise SweepError(f"{directory} has neither manifest.json nor build.json; delete it")
