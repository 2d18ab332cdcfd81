"""The generations of a label in the catalog: begun, finished, undone, named as the served one, forgotten.

All of it inside the caller's transaction, and with the row of the label locked: builds, pruning and readers of one
label do not see each other half-way.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

import msgspec
from sqlalchemy import ColumnElement, Connection, and_, delete, except_, func, select, update

from rag_assets.index.catalog.database import ALIVE, batched, chunks, documents, generations, labels
from rag_assets.index.catalog.errors import CatalogError
from rag_assets.index.catalog.rows import absent, put
from rag_assets.index.generations import Manifest

WRITING = "writing"
COMPLETE = "complete"

_FILES_AT_A_TIME = 8  # in memory
_BEFORE_ALL = 0  # sequence numbers start at 1


@dataclass(frozen=True, slots=True)
class Tenant:
    """One label of one project of one organisation: nothing is read or written without all three (B02)."""

    org_id: str
    project_id: str
    index_label: str

    def __post_init__(self) -> None:
        for name in ("org_id", "project_id", "index_label"):
            if not getattr(self, name).strip():
                raise CatalogError(f"a catalog is asked for one label of one tenant; {name} is empty")

    @classmethod
    def of(cls, manifest: Manifest) -> Self:
        return cls(manifest.org_id, manifest.project_id, manifest.index_label)

    @property
    def is_row(self) -> ColumnElement[bool]:
        """The condition of its row in `labels`."""
        return and_(*(labels.c[name] == value for name, value in asdict(self).items()))


@dataclass(frozen=True, slots=True)
class BegunGeneration:
    """A generation that may be written: its rows have `sequence`."""

    label_id: int
    sequence: int
    state: str


def begin(connection: Connection, tenant: Tenant, generation_id: str, writer: str) -> BegunGeneration:
    """Takes a label over for writing. An unfinished build of the same generation goes on, one of another generation is
    undone. A complete generation is only written again while nothing has come after it."""
    label = _locked(connection, tenant) or _made(connection, tenant)
    connection.execute(update(labels).where(labels.c.label_id == label.label_id).values(writer=writer))
    known = _generations(connection, label.label_id)
    for found in known:
        if found.state == WRITING and found.generation_id != generation_id:
            _undo(connection, label.label_id, found.sequence)
    for found in known:
        newest = found.sequence == label.last_sequence
        if found.generation_id == generation_id and (found.state == WRITING or newest):
            return BegunGeneration(label.label_id, found.sequence, found.state)
    sequence = label.last_sequence + 1
    connection.execute(update(labels).where(labels.c.label_id == label.label_id).values(last_sequence=sequence))
    row = {
        "label_id": label.label_id,
        "sequence": sequence,
        "generation_id": generation_id,
        "state": WRITING,
        **dict.fromkeys(("points", "dimension"), 0),
        **dict.fromkeys(("commit_sha", "config_hash", "embedding_model", "run_id", "manifest"), ""),
        "files": "{}",
    }
    connection.execute(generations.insert(), [row])
    return BegunGeneration(label.label_id, sequence, WRITING)


def require_writer(connection: Connection, label_id: int, writer: str) -> None:
    """Locks the label. Raises CatalogError where another build has taken it over since."""
    query = select(labels.c.writer).where(labels.c.label_id == label_id).with_for_update()
    if connection.execute(query).scalar() != writer:
        raise CatalogError(
            "another build has begun to write this label, or somebody has removed it; let it finish, then run again"
        )


def mark_writing(connection: Connection, begun: BegunGeneration) -> None:
    connection.execute(update(generations).where(_is(begun.label_id, begun.sequence)).values(state=WRITING))


def complete(connection: Connection, begun: BegunGeneration, generation_id: str, files: Mapping[str, str]) -> int:
    """Makes the written generation readable, in place of an earlier one with its id; returns the number of points."""
    label_id, sequence = begun.label_id, begun.sequence
    alive = and_(chunks.c.label_id == label_id, chunks.c.died == ALIVE)
    points = int(connection.execute(select(func.count()).select_from(chunks).where(alive)).scalar_one())
    named = msgspec.json.encode(files, order="sorted").decode()
    values = {"state": COMPLETE, "points": points, "files": named}
    connection.execute(update(generations).where(_is(label_id, sequence)).values(values))
    same = and_(generations.c.label_id == label_id, generations.c.generation_id == generation_id)
    gone = connection.execute(delete(generations).where(same, generations.c.sequence != sequence)).rowcount
    if gone:
        purge(connection, label_id)
    return points


def publish(
    connection: Connection, tenant: Tenant, manifest: Manifest, served: str, files: Mapping[str, Path]
) -> list[str]:
    """Keeps the manifest and the `files` (by name) of a finished generation and names the one that is served. Returns
    what is wrong, in words: a generation that was finished before there was a catalog is not in it."""
    label = _locked(connection, tenant)
    known = {} if label is None else {row.generation_id: row for row in _generations(connection, label.label_id)}
    found = known.get(manifest.generation_id)
    if label is None or found is None or found.state != COMPLETE:
        return [
            f"generation {manifest.generation_id} is not in the catalog; put it there with: "
            f"rag-assets index {tenant.index_label} --force"
        ]
    if not found.manifest:
        values = {
            "commit_sha": manifest.commit_sha,
            "config_hash": manifest.config_hash,
            "embedding_model": manifest.embedding_model,
            "dimension": manifest.dimension,
            "run_id": manifest.run_id,
            "manifest": msgspec.json.encode(manifest, order="sorted").decode(),
            "files": _with_files(connection, label.label_id, found.files, files),
        }
        connection.execute(update(generations).where(_is(label.label_id, found.sequence)).values(values))
    if label.active_generation != served:
        is_label = labels.c.label_id == label.label_id
        connection.execute(update(labels).where(is_label).values(active_generation=served))
    return []


def _with_files(connection: Connection, label_id: int, known: str, files: Mapping[str, Path]) -> str:
    """Stores the contents that are not there yet, and returns the column `files` with them. Equal files of several
    generations are there once."""
    named: dict[str, str] = msgspec.json.decode(known)
    for batch in batched(sorted(files), _FILES_AT_A_TIME):
        contents = {}
        for name in batch:
            content = files[name].read_bytes()
            named[name] = hashlib.sha256(content).hexdigest()
            contents[named[name]] = content
        put(connection, label_id, {address: contents[address] for address in absent(connection, label_id, contents)})
    return msgspec.json.encode(named, order="sorted").decode()


def forget_generations(connection: Connection, tenant: Tenant, keep: Collection[str]) -> list[str]:
    """Deletes the generations outside `keep` with all that only they needed, and returns their ids."""
    label = _locked(connection, tenant)
    if label is None:
        return []
    gone = [row for row in _generations(connection, label.label_id) if row.generation_id not in keep]
    for row in gone:
        if row.state == WRITING:
            _undo(connection, label.label_id, row.sequence)
            connection.execute(update(labels).where(labels.c.label_id == label.label_id).values(writer=""))
        else:
            _delete(connection, label.label_id, row.sequence)
    if gone:
        purge(connection, label.label_id)
    return sorted(row.generation_id for row in gone)


def forget_label(connection: Connection, tenant: Tenant) -> bool:
    """Deletes everything of a label; False where there is nothing."""
    label = _locked(connection, tenant)
    if label is None:
        return False
    for table in (chunks, documents, generations, labels):
        connection.execute(delete(table).where(table.c.label_id == label.label_id))
    return True


def purge(connection: Connection, label_id: int) -> None:
    """Deletes the rows that no generation of a label consists of, and documents that no row needs."""
    kept = sorted(row.sequence for row in _generations(connection, label_id))
    for before, after in zip((_BEFORE_ALL, *kept), (*kept, ALIVE), strict=True):
        between = and_(chunks.c.born > before, chunks.c.died <= after)
        connection.execute(delete(chunks).where(chunks.c.label_id == label_id, between))
    unneeded = except_(
        select(documents.c.sha256).where(documents.c.label_id == label_id),
        select(chunks.c.document_sha256).where(chunks.c.label_id == label_id),
    )
    files = {name for row in _generations(connection, label_id) for name in msgspec.json.decode(row.files).values()}
    candidates = set(connection.execute(unneeded).scalars()) - files
    for batch in batched(sorted(candidates)):
        one = and_(documents.c.label_id == label_id, documents.c.sha256.in_(batch))
        connection.execute(delete(documents).where(one))


def _is(label_id: int, sequence: int) -> ColumnElement[bool]:
    return and_(generations.c.label_id == label_id, generations.c.sequence == sequence)


def _locked(connection: Connection, tenant: Tenant) -> Any:
    """The row of a label, until the end of the transaction for the caller alone; None where there is none."""
    columns = (labels.c.label_id, labels.c.last_sequence, labels.c.active_generation)
    return connection.execute(select(*columns).where(tenant.is_row).with_for_update()).one_or_none()


def _made(connection: Connection, tenant: Tenant) -> Any:
    row = {"last_sequence": _BEFORE_ALL, "writer": "", "active_generation": ""}
    connection.execute(labels.insert(), [asdict(tenant) | row])
    made = _locked(connection, tenant)
    assert made is not None
    return made


def _generations(connection: Connection, label_id: int) -> Sequence[Any]:
    query = select(generations).where(generations.c.label_id == label_id).order_by(generations.c.sequence)
    return connection.execute(query).all()


def _undo(connection: Connection, label_id: int, sequence: int) -> None:
    """As if a build had never begun: what it wrote goes, what it replaced is alive again."""
    of_label = chunks.c.label_id == label_id
    connection.execute(delete(chunks).where(of_label, chunks.c.born == sequence))
    connection.execute(update(chunks).where(of_label, chunks.c.died == sequence).values(died=ALIVE))
    _delete(connection, label_id, sequence)


def _delete(connection: Connection, label_id: int, sequence: int) -> None:
    connection.execute(delete(generations).where(_is(label_id, sequence)))
