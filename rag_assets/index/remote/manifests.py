"""What is published: the objects behind each generation, and which one of a label is served."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from rag_assets.index.generation_files import MANIFEST
from rag_assets.index.generations import Manifest, decode_manifest
from rag_assets.index.layout import IndexHome, require_format
from rag_assets.index.remote.objects import ObjectMissing, ObjectStore, PackedFile, RemoteError
from rag_assets.serialization import from_json

T = TypeVar("T")

FORMAT = 1
"""Raise it when an older version could misread what this one publishes."""

GARBAGE = "garbage.json"


class PublishedGeneration(msgspec.Struct, frozen=True):
    """`documents` are lists of text addresses, one object per bucket of paths; each text is an object too.
    `repository` is what the label remembers of it, for whoever has no configuration."""

    label: str
    generation_id: str
    files: tuple[PackedFile, ...]
    documents: tuple[str, ...]
    repository: dict[str, Any]
    format: int = FORMAT


class PublishedPointer(msgspec.Struct, frozen=True):
    generation_id: str
    run_id: str = ""


class Garbage(msgspec.Struct, frozen=True):
    """`since`: when each object was first found without a reference, in seconds since 1970."""

    swept_at: float = 0.0
    since: dict[str, float] = {}


def folder_of(label: str) -> str:
    """Raises ValueError for a name that could leave the labels folder."""
    IndexHome(Path()).label(label)
    return f"labels/{label}"


def manifest_path(label: str, generation_id: str) -> str:
    return f"{folder_of(label)}/generations/{generation_id}.json"


def pointer_path(label: str) -> str:
    return f"{folder_of(label)}/active.json"


def read_published(store: ObjectStore, label: str, generation_id: str) -> PublishedGeneration:
    """Raises ObjectMissing, or RemoteError for one that this version cannot read."""
    path = manifest_path(label, generation_id)
    found = _decoded(store, path, PublishedGeneration)
    require_format(
        f"{store.url}: {path}",
        found.format,
        FORMAT,
        "use the version that published it, or publish again with this one",
        error=RemoteError,
    )
    return found


def read_published_pointer(store: ObjectStore, label: str) -> PublishedPointer | None:
    """What is served, or None where nothing of the label was published."""
    try:
        return _decoded(store, pointer_path(label), PublishedPointer)
    except ObjectMissing:
        return None


def read_garbage(store: ObjectStore) -> Garbage:
    """What an earlier sweep noted; a damaged note only means that it takes one more day."""
    try:
        return from_json(store.read(GARBAGE), Garbage)
    except (ObjectMissing, msgspec.DecodeError):
        return Garbage()


def published_ids(store: ObjectStore, label: str) -> list[str]:
    """Ids of the published generations of a label, sorted."""
    folder = f"{folder_of(label)}/generations"
    return [path.rsplit("/", 1)[-1].removesuffix(".json") for path in store.listed(folder) if path.endswith(".json")]


def published_labels(store: ObjectStore) -> list[str]:
    return sorted({path.split("/")[1] for path in store.listed("labels")})


def published_manifest(store: ObjectStore, found: PublishedGeneration) -> Manifest:
    """The manifest of a published generation. Raises RemoteError."""
    for file in found.files:
        if file.path == MANIFEST:
            try:
                return decode_manifest(b"".join(store.get(block.name) for block in file.blocks), error=RemoteError)
            except msgspec.DecodeError:
                break
    raise RemoteError(
        f"{store.url}: the manifest of {found.generation_id} is damaged; publish {found.label} again where it was "
        "built: rag-assets publish LABEL --force"
    )


def referenced(store: ObjectStore, found: PublishedGeneration) -> Iterator[str]:
    """The names of all objects of a generation, some of them more than once."""
    for file in found.files:
        for block in file.blocks:
            yield block.name
    for listing in found.documents:
        yield listing
        yield from documents_in(store, listing)


def documents_in(store: ObjectStore, listing: str) -> list[str]:
    """The text addresses in one list."""
    return from_json(store.get(listing), list[str])


def _decoded(store: ObjectStore, path: str, kind: type[T]) -> T:
    data = store.read(path)
    try:
        return from_json(data, kind)
    except msgspec.DecodeError as error:
        raise RemoteError(
            f"{store.url}: {path} is damaged ({error}); publish the label again where it was built: "
            "rag-assets publish LABEL --force"
        ) from error
