"""What code is like that of a place: the sections nearest to the one that is there. Their vectors are those of the
index, so no model is loaded, and none is asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag_assets.contracts.retrieval import Capability
from rag_assets.search.fusion import Ranked, as_found
from rag_assets.search.line_references import sections_at

if TYPE_CHECKING:
    from rag_assets.index.vectors.filters import SearchScope
    from rag_assets.index.vectors.vector_api import Dense
    from rag_assets.search import CodePlace
    from rag_assets.search.retrieve import SearchResources


@dataclass(frozen=True, slots=True)
class SectionVector:
    """The section at a place, by the id of its point."""

    id: str
    vector: Dense


def section_vector(place: CodePlace, parts: SearchResources, tenant: SearchScope) -> SectionVector | str:
    """Of the smallest section around a line, wherever in the tenant's scope; else why there is none."""
    lacking = parts.lacking().get(Capability.DENSE)
    if lacking is not None:
        return lacking
    found = list(sections_at([place], parts.shard(), tenant))
    if len(found) > 1:
        return f"{place} is in {len(found)} files; write more of its path"
    vector = parts.shard().vector(found[0]) if found else None
    if vector is None:
        return f"the section at {place} has no vector" if found else f"no section has {place}"
    return SectionVector(found[0], vector)


def nearest(section: SectionVector, parts: SearchResources, scope: SearchScope, limit: int) -> list[Ranked]:
    """The best `limit` of the scope by cosine, without the section itself."""
    found = parts.shard().dense(section.vector, scope, limit + 1)
    return as_found([one for one in found if one.id != section.id][:limit])
