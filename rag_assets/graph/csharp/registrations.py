"""Services given to a container: service type MapsTo implementation type."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rag_assets.contracts.graph import GraphEdge, Relation
from rag_assets.contracts.segment import SymbolText
from rag_assets.descriptions.facts.bodies import body_of
from rag_assets.descriptions.facts.registrations import wiring_of

if TYPE_CHECKING:
    from rag_assets.graph.csharp.names import Names
    from rag_assets.graph.extraction import GraphFile

_REGISTERS = re.compile(
    r"\.\s*(?:(?:Try)?Add(?:Keyed)?(?:Scoped|Singleton|Transient|HttpClient)|Register(?:Type)?)\s*[<(]"
)


def registrations_of(file: GraphFile, names: Names) -> Iterator[GraphEdge]:
    """The registrations of a file whose service and implementation are both types of the label."""
    if not _REGISTERS.search(file.text):
        return
    for segment in file.segments:
        text = segment.span.slice(file.text)
        if not _REGISTERS.search(text):
            continue
        scope = segment.namespace if segment.kind == "program" else segment.symbol
        for found in wiring_of(body_of(SymbolText(text, segment))).registrations:
            if not found.implementation:
                continue
            _, services = names.bind(found.service, scope, ())
            _, implementations = names.bind(found.implementation, scope, ())
            if services and implementations and services[0] != implementations[0]:
                yield GraphEdge(services[0], Relation.MAPS_TO, implementations[0], path=file.path, line=found.line)
