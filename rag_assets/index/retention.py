"""Which generations of a label are kept, and deleting the others.

Always kept: what is served, what was served before it, what has a tag, and the build in progress. The rest is ranked
by how likely a person wants it back, and the first ones are kept until there are `keep` finished ones.
"""

from __future__ import annotations

from dataclasses import dataclass

from rag_assets.index.disk_usage import discard, size_on_disk
from rag_assets.index.generations import (
    GenerationError,
    finished_generations,
    generation_directory,
    generations_directory,
    pending_build_id,
    read_generation,
    read_pointer,
)
from rag_assets.index.layout import IndexHome
from rag_assets.index.locks import pointer_lock
from rag_assets.index.tags import tags_of
from rag_assets.index.vectors import delete_stale_points
from rag_assets.index.vectors.vector_api import VectorStoreError


@dataclass(frozen=True, slots=True)
class Pruned:
    """A generation that went, or would go in a dry run. `in_use`: an open file has kept it until the next time."""

    label: str
    generation_id: str
    bytes: int
    in_use: bool = False


def prune(home: IndexHome, label: str, keep: int, *, dry_run: bool = False, later: bool = False) -> list[Pruned]:
    """Deletes the generations of `label` that are not worth keeping, oldest first; `later` as in `discard`.

    The caller holds the label, so no build resumes what goes. Who has one open on POSIX goes on reading it. Raises
    GenerationError, and deletes nothing, where pointer or tags are damaged; OSError for a read-only home.
    """
    if dry_run:
        return [_described(home, label, known) for known in superfluous(home, label, keep)]
    found = []
    with pointer_lock(home, label):  # nobody activates or tags what is about to go
        for known in superfluous(home, label, keep):
            gone = _described(home, label, known)
            done = discard(generation_directory(home, label, known), home.trash(label), later=later)
            found.append(gone if done else Pruned(label, known, gone.bytes, in_use=True))
    return found


def prune_servers(home: IndexHome, label: str) -> list[str]:
    """After the pointer has moved, or generations are gone: deletes from vector servers what none of the others needs.

    The caller holds the label. Returns, for people, what could not be deleted: nobody reads it, and an index that is
    served must not fail because it stays.
    """
    try:
        delete_stale_points(generations_directory(home, label))
    except (OSError, VectorStoreError) as error:
        return [f"points of deleted generations of {label} stay in the vector server until the next build: {error}"]
    return []


def superfluous(home: IndexHome, label: str, keep: int) -> list[str]:
    """Ids that `prune` deletes, oldest first. A generation whose manifest cannot be read, or is of a newer version of
    this program, is left alone: whoever cannot read it cannot judge it."""
    pointer = read_pointer(home, label)
    if pointer is None:
        return []
    finished = finished_generations(home, label)
    always = {pointer.generation_id, pointer.previous_generation_id, pending_build_id(home, label)}
    always.update(tags_of(home, label).values())
    wanted = (*pointer.former[:1], *pointer.set_aside, *pointer.former[1:], *reversed(finished))
    ranked = [known for known in dict.fromkeys((pointer.generation_id, *wanted)) if known in finished]
    kept = always.union(ranked[:keep])
    return [known for known in finished if known not in kept and _is_readable(home, label, known)]


def _described(home: IndexHome, label: str, generation_id: str) -> Pruned:
    return Pruned(label, generation_id, size_on_disk(generation_directory(home, label, generation_id)))


def _is_readable(home: IndexHome, label: str, generation_id: str) -> bool:
    try:
        read_generation(home, label, generation_id)
    except GenerationError:
        return False
    return True
