"""What lies beside the generations of a label to say where in which server their points are. No secrets.

A generation has `server.json` once its points are complete, and `server.begun.json` before: whoever cleans up knows
then what nobody completed. The label has `servers.json`, so that points can still be deleted when the generation that
wrote them is gone.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from rag_assets.index.layout import RecordDamaged, read_record, write_record
from rag_assets.index.vectors.vector_api import PLACE_FILE, SERVERS_FILE, VectorStoreError

BEGUN_FILE = "server.begun.json"

_Note = TypeVar("_Note")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerLabel:
    """A label of a tenant in a server."""

    url: str
    org_id: str
    project_id: str
    index_label: str

    @property
    def key(self) -> str:
        """The value of `LabelKey` in the points: the same label occurs in several tenants."""
        return "\n".join((self.org_id, self.project_id, self.index_label))

    @property
    def label(self) -> ServerLabel:
        return ServerLabel(url=self.url, org_id=self.org_id, project_id=self.project_id, index_label=self.index_label)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerPlace(ServerLabel):
    """Where the points of one generation are: what its label holds in `collection` at `sequence`."""

    collection: str
    generation_id: str
    sequence: int


@dataclass(frozen=True, slots=True)
class _Labels:
    labels: list[ServerLabel]


def next_sequence(generations: Path, now: float | None = None) -> int:
    """A sequence number that no generation of this folder ever had, those that are deleted included: milliseconds
    since 1970, or one more than the highest here where the clock was set back. `now` (seconds): default, the clock."""
    known = [0]
    for path in _place_files(generations):
        try:
            known.append(read_place(path).sequence)
        except VectorStoreError:
            continue  # a damaged note must not stop every build: the clock and the server's own numbers are above it
    return max(int((time.time() if now is None else now) * 1000), max(known) + 1)


def begin_place(directory: Path, place: ServerPlace) -> None:
    """Notes in a vector folder that its points are being written. A generation that is written again is read as it
    was until it is complete."""
    write_record(directory / BEGUN_FILE, place)


def finish_place(directory: Path) -> None:
    """Notes that the points are complete."""
    (directory / BEGUN_FILE).replace(directory / PLACE_FILE)


def read_place(path: Path) -> ServerPlace:
    """Raises VectorStoreError naming the file."""
    return _read(path, ServerPlace, "run: rag-assets index --force")


def places(generations: Path) -> list[ServerPlace]:
    """Of all generations in a folder, complete or begun. Raises VectorStoreError where one cannot be read: who does
    not know what is needed must not delete."""
    return [read_place(path) for path in _place_files(generations)]


def labels_in_servers(generations: Path) -> list[ServerLabel]:
    """Where points of the generations of this folder, or of deleted ones, may be. Raises VectorStoreError."""
    path = generations / SERVERS_FILE
    if not path.is_file():
        return []
    return _read(path, _Labels, "delete it, then run: rag-assets index").labels


def remember_label(generations: Path, label: ServerLabel) -> None:
    """Notes that there will be points of the label, before the first is written. Raises VectorStoreError."""
    known = labels_in_servers(generations)
    if label not in known:
        _write_labels(generations, [*known, label])


def forget_label(generations: Path, label: ServerLabel) -> None:
    """Notes that there are no points of the label any more. Raises VectorStoreError."""
    _write_labels(generations, [known for known in labels_in_servers(generations) if known != label])


def _write_labels(generations: Path, labels: list[ServerLabel]) -> None:
    write_record(generations / SERVERS_FILE, _Labels(labels))


def _place_files(generations: Path) -> Iterator[Path]:
    for name in (PLACE_FILE, BEGUN_FILE):
        yield from sorted(generations.glob(f"*/*/{name}"))


def _read(path: Path, kind: type[_Note], repair: str) -> _Note:
    try:
        return read_record(path, kind)
    except (OSError, RecordDamaged) as error:
        raise VectorStoreError(f"{path} cannot be read: {error}; {repair}") from error
