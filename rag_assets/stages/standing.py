"""What building a generation means for its label: everything, nothing, or only to serve what is there."""

from __future__ import annotations

from enum import StrEnum

from rag_assets.stages.build import BuildError, read_report
from rag_assets.stages.versions import STAGES
from rag_assets.stores.generations import Generation, GenerationError, active_pointer, read_generation
from rag_assets.stores.home import Home
from rag_assets.stores.integrity import missing_parts
from rag_assets.stores.serving import is_set_aside


class Standing(StrEnum):
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


def standing_of(home: Home, label: str, generation_id: str) -> tuple[Standing, list[str]]:
    """How the generation stands that indexing leads to (`planned_generation`), and what a damaged one lacks."""
    pointer = active_pointer(home, label)
    if is_set_aside(pointer, generation_id):
        return Standing.SET_ASIDE, []
    try:
        generation = read_generation(home, label, generation_id)
    except GenerationError:
        return Standing.TO_BUILD, []
    lost = [*missing_parts(home, generation), *unreadable_records(generation)]
    if lost:
        return Standing.DAMAGED, lost
    is_served = pointer is not None and pointer.generation_id == generation_id
    return (Standing.UP_TO_DATE if is_served else Standing.FINISHED), []
