"""What building a generation means for its label: everything, nothing, or only to serve what is there."""

from __future__ import annotations

from enum import StrEnum

from rag_assets.index.generations import active_pointer, usable_generation
from rag_assets.index.integrity import damage
from rag_assets.index.layout import IndexHome
from rag_assets.index.promotion import is_set_aside


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
