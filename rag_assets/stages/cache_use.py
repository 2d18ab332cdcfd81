"""Which cache entries the generations of a home would use if they were built again by this version."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from pathlib import Path

import msgspec

from rag_assets.stages import embeddings, segments
from rag_assets.stages.embeddings import embedding_key
from rag_assets.stages.segments import segment_key
from rag_assets.stores.home import Home
from rag_assets.stores.sweep import SweepError, generation_directories, table_of

UsedKeys = Callable[[Home, Collection[Path]], Iterator[bytes]]


class _Embedded(msgspec.Struct):
    embedding_model: str


def used_segments(home: Home, without: Collection[Path] = ()) -> Iterator[bytes]:
    """Keys of the files of every generation but those in `without`. Raises SweepError for an unreadable table."""
    columns = ["path", "language", "text_sha256"]
    for directory in generation_directories(home, without):
        for part in sorted(directory.glob("discovered_files/part-*.parquet")):
            for row in table_of(part, columns).to_pylist():
                if row["text_sha256"]:
                    yield segment_key(row["language"], row["path"], row["text_sha256"])


def used_embeddings(home: Home, without: Collection[Path] = ()) -> Iterator[bytes]:
    """Keys of the sections of every generation, under its own model. Raises SweepError."""
    for directory in generation_directories(home, without):
        parts = sorted(directory.glob("summary_sections/part-*.parquet"))
        model = _model(directory) if parts else ""
        for part in parts:
            for text in table_of(part, ["finder_snippet"]).column(0).to_pylist():
                yield embedding_key(model, text)


SWEPT_CACHES: dict[str, UsedKeys] = {segments.STAGE: used_segments, embeddings.STAGE: used_embeddings}
"""Caches whose keys follow from the tables. Answers of a language model do not, and cost money: they stay."""


def _model(directory: Path) -> str:
    for name in ("manifest.json", "build.json"):
        try:
            return msgspec.json.decode((directory / name).read_bytes(), type=_Embedded).embedding_model
        except FileNotFoundError:
            continue
        except msgspec.DecodeError as error:
            raise SweepError(
                f"{directory / name} is damaged ({error}), so nobody knows which vectors it needs; build it again "
                f"with: rag-assets index {directory.parent.parent.name} --force, and delete {directory}"
            ) from error
    raise SweepError(f"{directory} has neither manifest.json nor build.json; delete it")
