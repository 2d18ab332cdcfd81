"""Makes a generation again from the catalog alone, without repository and model (E07, F09, R8): vectors, keyword
weights, payloads, documents, keyword files, graph, descriptions and the other tables that readers read, manifest and
pointer. `NOT_KEPT` says what does not come back.
"""

from __future__ import annotations

import hashlib
import shutil
import uuid
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rag_assets.errors import RagAssetsError
from rag_assets.index.blobs import BlobStore
from rag_assets.index.catalog import open_catalog
from rag_assets.index.disk_files import sha256_of
from rag_assets.index.generation_files import list_files
from rag_assets.index.generations import (
    Generation,
    Manifest,
    active_pointer,
    generation_directory,
    is_finished,
    promote,
    write_manifest,
)
from rag_assets.index.integrity import damage
from rag_assets.index.inventory import prune_servers
from rag_assets.index.layout import IndexHome, write_atomically
from rag_assets.index.vectors import open_vectors, open_writer
from rag_assets.index.vectors.vector_api import DeclaredPoints, StoredPoint, bring_to
from rag_assets.pipeline.build import label_lock

if TYPE_CHECKING:
    from rag_assets.index.catalog.history import Tenant
    from rag_assets.index.catalog.reader import GenerationReader
    from rag_assets.pipeline.progress import Progress
    from rag_assets.settings import Settings

STAGE = "rebuild"
_SHOWN = 3

NOT_KEPT = (
    "the answers to single questions of question sets (their totals are in the catalog)",
    "vectors and weights as tables, which only the next build reads and makes again",
)
"""What of a generation the catalog never has, in words."""


class RebuildError(RagAssetsError):
    """An index that cannot be made from the catalog; what was there before is still there."""


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What came back. `documents` and `files` were missing; `still_missing` says, in words, what the catalog does not
    have."""

    manifest: Manifest
    points: int
    documents: int
    files: tuple[str, ...]
    served: bool
    still_missing: tuple[str, ...]


def rebuild(settings: Settings, tenant: Tenant, progress: Progress, generation_id: str | None = None) -> Rebuilt:
    """Rebuilds a generation of a label; without an id the one that is served, by the pointer of the home or else by
    that of the catalog.

    The new shard lies beside the old one until it is complete and checked; then it takes its place. Points of a server
    are brought to what the catalog declares. Raises CatalogError, RebuildError, VectorStoreError or LabelBusy.
    """
    from rag_assets.index.catalog.reader import open_generation

    home = IndexHome(settings.home)
    label = tenant.index_label
    with open_catalog(settings) as database, label_lock(home, label):
        pointer = active_pointer(home, label)
        wanted = generation_id or (pointer.generation_id if pointer else None)
        reader = open_generation(database, tenant, wanted)
        manifest = reader.known.manifest
        directory = generation_directory(home, label, manifest.generation_id)
        documents = _restore_documents(home, reader)
        files = _restore_files(directory, reader)
        points = _rebuild_vectors(settings, home, directory, reader, progress)
        list_files(directory, again=("shard/", *reader.known.files))
        if not is_finished(home, label, manifest.generation_id):
            write_manifest(directory, manifest)
            files = (*files, "manifest.json")
        if pointer is None and reader.known.active:
            pointer = promote(home, label, manifest.generation_id, manifest.run_id)
        return Rebuilt(
            manifest=manifest,
            points=points,
            documents=documents,
            files=files,
            served=pointer is not None and pointer.generation_id == manifest.generation_id,
            still_missing=(*damage(home, Generation(directory, manifest)), *prune_servers(home, label)),
        )


def _restore_documents(home: IndexHome, reader: GenerationReader) -> int:
    """Puts back the documents that the blob store has lost. Raises CatalogError for one that the catalog lost too."""
    blobs = BlobStore(home.blobs)
    lost = [address for address in reader.addresses() if not blobs.is_whole(address)]
    for address in lost:
        blobs.path(address).unlink(missing_ok=True)
        if blobs.put(reader.content(address).decode()) != address:
            raise RebuildError(f"document {address} of the catalog is damaged; run: rag-assets index --force")
    return len(lost)


def _restore_files(directory: Path, reader: GenerationReader) -> tuple[str, ...]:
    lost = [name for name, digest in sorted(reader.known.files.items()) if _sha256(directory / name) != digest]
    for name in lost:
        content = reader.content(reader.known.files[name])
        if hashlib.sha256(content).hexdigest() != reader.known.files[name]:
            raise RebuildError(f"{name} of the catalog is damaged; run: rag-assets index --force")
        write_atomically(directory / name, content)
    return tuple(lost)


def _sha256(path: Path) -> str:
    return sha256_of(path) if path.is_file() else ""


def _rebuild_vectors(
    settings: Settings, home: IndexHome, directory: Path, reader: GenerationReader, progress: Progress
) -> int:
    declared = reader.declared()
    made = directory / "shard"
    beside = settings.stores.vectors != "qdrant"
    if beside:
        made = directory / f"shard.{uuid.uuid4().hex}.tmp"  # what a kill leaves is removed by `gc`
    directory.mkdir(parents=True, exist_ok=True)
    progress.begin(STAGE, len(declared), "points")
    try:
        _write(settings, made, reader, declared, progress)
        if not beside:
            list_files(directory, again=("shard/",))
        _require_equal(made, declared)
        if beside:
            _swap(made, directory / "shard", home.trash(reader.known.tenant.index_label))
    finally:
        if beside and made.exists():
            shutil.rmtree(made)
    progress.end(f"{len(declared)} points from the catalog")
    return len(declared)


def _write(
    settings: Settings,
    place: Path,
    reader: GenerationReader,
    declared: dict[str, tuple[str, str]],
    progress: Progress,
) -> None:
    manifest = reader.known.manifest
    writer = open_writer(
        settings.stores,
        place,
        manifest.dimension,
        embedding_model=manifest.embedding_model,
        org_id=manifest.org_id,
        project_id=manifest.project_id,
        index_label=manifest.index_label,
        generation_id=manifest.generation_id,
    )

    def points(wanted: Collection[str]) -> Iterator[Sequence[StoredPoint]]:
        for batch in reader.points(frozenset(wanted)):
            yield batch
            progress.advance(len(batch))

    digests = {known: digest for known, (digest, _) in declared.items()}
    bring_to([writer], [DeclaredPoints(digests, points)])


def _require_equal(place: Path, declared: dict[str, tuple[str, str]]) -> None:
    """The store holds exactly the points that are declared, with their digests and texts."""
    with open_vectors(place) as vectors:
        digests, hashes = vectors.digests(), vectors.ids()
    stored = {known: (digests.get(known, ""), content_hash) for known, content_hash in hashes.items()}
    if stored != declared:
        different = sorted(key for key in stored.keys() | declared.keys() if stored.get(key) != declared.get(key))
        raise RebuildError(
            f"{place} was made from the catalog and holds {len(stored)} points, the catalog {len(declared)}; "
            f"{len(different)} differ, for example {', '.join(different[:_SHOWN])}; run: rag-assets index --force"
        )


def _swap(made: Path, place: Path, trash: Path) -> None:
    """Readers of the old shard go on; who opens it between the two renames is told that there is none."""
    old = trash / f"{place.name}.{uuid.uuid4().hex}"
    if place.exists():
        trash.mkdir(parents=True, exist_ok=True)
        try:
            place.replace(old)
        except PermissionError as error:
            raise RebuildError(f"{place} is open in another process ({error}); end it, then run again") from error
    made.replace(place)
    if old.exists():
        shutil.rmtree(old)
