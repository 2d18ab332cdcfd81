"""What people decide about a label: to serve this generation, or the one before; and how a generation stands that is
planned.

A choice lasts: the generation that is left is set aside, and builds serve it no more. A generation that is built
later, of a new commit, another configuration or with `--force`, is served as usual.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from rag_assets.index.generations import (
    ActivePointer,
    Generation,
    GenerationError,
    active_pointer,
    is_finished,
    read_generation,
    read_pointer,
    usable_generation,
    write_pointer,
)
from rag_assets.index.integrity import damage, unservable
from rag_assets.index.layout import IndexHome
from rag_assets.index.locks import pointer_lock


@dataclass(frozen=True, slots=True)
class Moved:
    """What a label serves now, and what it served before (empty for nothing)."""

    label: str
    generation: Generation
    left: str

    @property
    def changed(self) -> bool:
        return self.left != self.generation.manifest.generation_id


def activate(home: IndexHome, label: str, generation_id: str) -> Moved:
    """Serves a generation that somebody chose. A damaged pointer is replaced.

    Raises GenerationError, with the next command, for a generation that is unfinished, was deleted or is damaged.
    """
    with pointer_lock(home, label):
        generation = _whole(home, label, generation_id)
        current = active_pointer(home, label)
        if current is None:
            write_pointer(home, label, generation_id)
            return Moved(label, generation, "")
        if current.generation_id == generation_id:
            return Moved(label, generation, generation_id)
        write_pointer(
            home,
            label,
            generation_id,
            former=(current.generation_id, *current.former),
            set_aside=(current.generation_id, *current.set_aside),
        )
    return Moved(label, generation, current.generation_id)


def roll_back(home: IndexHome, label: str) -> Moved:
    """Serves what was served before; each further rollback goes one further back.

    Generations that were deleted since are passed over. Raises GenerationError where there is nothing to go back to,
    or where it is damaged.
    """
    with pointer_lock(home, label):
        current = read_pointer(home, label)
        if current is None:
            raise GenerationError(f"{label} serves nothing yet; run: rag-assets index")
        former = [known for known in current.former if is_finished(home, label, known)]
        if not former:
            raise GenerationError(
                f"{label} has no earlier generation to go back to; see: rag-assets generations list {label}"
            )
        generation = _whole(home, label, former[0])
        write_pointer(
            home,
            label,
            former[0],
            former=tuple(former[1:]),
            set_aside=(current.generation_id, *current.set_aside),
        )
    return Moved(label, generation, current.generation_id)


def is_set_aside(pointer: ActivePointer | None, generation_id: str) -> bool:
    """True where a person has moved the label away from this generation."""
    return pointer is not None and generation_id in pointer.set_aside


def _whole(home: IndexHome, label: str, generation_id: str) -> Generation:
    generation = read_generation(home, label, generation_id)
    lost = unservable(home, generation)
    if lost:
        raise GenerationError(
            f"generation {generation_id} of {label} is damaged ({'; '.join(lost)}) and cannot be served; "
            f"choose another one (rag-assets generations list {label}), or build it again: "
            f"rag-assets index {label} --commit {generation.manifest.commit_sha} --force"
        )
    return generation


class GenerationStatus(StrEnum):
    TO_BUILD = "to-build"
    DAMAGED = "damaged"  # finished, but some of it is gone or damaged: it is built again
    FINISHED = "finished"  # built earlier: it only has to be served again
    UP_TO_DATE = "up-to-date"  # it is served
    SET_ASIDE = "set-aside"  # a person moved the label away from it: nothing is done


def standing_of(home: IndexHome, label: str, generation_id: str) -> tuple[GenerationStatus, list[str]]:
    """How the generation stands that indexing leads to (`planned_generation`), and what a damaged one lacks. Raises
    OtherGenerationFormat."""
    pointer = active_pointer(home, label)
    if is_set_aside(pointer, generation_id):
        return GenerationStatus.SET_ASIDE, []
    generation = usable_generation(home, label, generation_id)
    if generation is None:
        return GenerationStatus.TO_BUILD, []
    lost = damage(home, generation)
    if lost:
        return GenerationStatus.DAMAGED, lost
    is_served = pointer is not None and pointer.generation_id == generation_id
    return (GenerationStatus.UP_TO_DATE if is_served else GenerationStatus.FINISHED), []
