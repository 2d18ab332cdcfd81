"""What building a generation means for its label: everything, nothing, or only to serve what is there."""

from __future__ import annotations

from enum import StrEnum

from rag_assets.index.generations import Generation, active_pointer, usable_generation
from rag_assets.index.integrity import missing_parts
from rag_assets.index.layout import IndexHome
from rag_assets.index.promotion import is_set_aside
from rag_assets.pipeline.build import BuildError, read_report
from rag_assets.pipeline.versions import STAGES


class GenerationStatus(StrEnum):
    TO_BUILD = "to-build"
    DAMAGED = "damaged"  # finished, but parts of it are gone: it is built again from the sources
    FINISHED = "finished"  # built earlier: it only has to be served again
    UP_TO_DATE = "up-to-date"  # it is served
    SET_ASIDE = "set-aside"  # a person moved the label away from it: nothing is done


_SUMMED_UP = "discovered_files"  # the stage whose record no summary of a generation can do without


def unreadable_records(generation: Generation) -> list[str]:
    """The records of stages that are damaged, in words, and that of `_SUMMED_UP` where it is gone. A search needs none
    of them; `status`, `index` and the next build do."""
    found = []
    for stage in STAGES:
        try:
            lost = read_report(generation.directory, stage) is None and stage == _SUMMED_UP
        except BuildError:
            lost = True
        if lost:
            found.append(f"the record of stage {stage}")
    return found


def standing_of(home: IndexHome, label: str, generation_id: str) -> tuple[GenerationStatus, list[str]]:
    """How the generation stands that indexing leads to (`planned_generation`), and what a damaged one lacks. Raises
    OtherGenerationFormat."""
    pointer = active_pointer(home, label)
    if is_set_aside(pointer, generation_id):
        return GenerationStatus.SET_ASIDE, []
    generation = usable_generation(home, label, generation_id)
    if generation is None:
        return GenerationStatus.TO_BUILD, []
    lost = [*missing_parts(home, generation), *unreadable_records(generation)]
    if lost:
        return GenerationStatus.DAMAGED, lost
    is_served = pointer is not None and pointer.generation_id == generation_id
    return (GenerationStatus.UP_TO_DATE if is_served else GenerationStatus.FINISHED), []
