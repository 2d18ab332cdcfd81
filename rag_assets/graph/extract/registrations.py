"""Services given to a container: service type MapsTo implementation type."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rag_assets.contracts.graph import Confidence, GraphEdge, Relation
from rag_assets.contracts.segment import SymbolText
from rag_assets.languages.csharp.binder.scopes import without_arity
from rag_assets.languages.csharp.facts.composition_root import registrations_in
from rag_assets.languages.csharp.facts.masked_body import masked_body_of

if TYPE_CHECKING:
    from rag_assets.languages.csharp.binder.name_lookup import Names
    from rag_assets.languages.parsed_file import ParsedFile

_REGISTERS = re.compile(
    r"\.\s*(?:(?:Try)?Add(?:Keyed)?(?:Scoped|Singleton|Transient|HttpClient)|Register(?:Type)?)\s*[<(]"
)
_ANY_CALL = frozenset({"Register", "RegisterType"})
"""Names of calls that others than containers have as well: messengers, routers, metadata of user interfaces."""


def registrations_of(file: ParsedFile, names: Names) -> Iterator[GraphEdge]:
    """The registrations of a file whose service and implementation are both types of the label."""
    if not _REGISTERS.search(file.text):
        return
    for segment in file.segments:
        text = segment.span.slice(file.text)
        if not _REGISTERS.search(text):
            continue
        scope = segment.namespace if segment.kind == "program" else segment.symbol
        for found in registrations_in(masked_body_of(SymbolText(text, segment))).registrations:
            if not found.implementation:
                continue
            service, services = names.bind(found.service, scope, ())
            implementation, implementations = names.bind(found.implementation, scope, ())
            if not (service.declared and implementation.declared) or service.name == implementation.name:
                continue
            confidence = _confidence(names, service.name, implementation.name, found.lifetime)
            if confidence is not None:
                yield GraphEdge(services[0], Relation.MAPS_TO, implementations[0], confidence, file.path, found.line)


def _confidence(names: Names, service: str, implementation: str, lifetime: str) -> Confidence | None:
    """How sure it is that the one type is given for the other; None where it is no registration, or gives something
    that is made of the second type: a container takes only what is of the first. A base in code that is not indexed may
    be of it; where others than containers have such a call, that is too little. `new Service<T>()` in a factory is read
    as `Service`: that one is not meant."""
    if service in names.above(implementation):
        return Confidence.RESOLVED
    if lifetime in _ANY_CALL or without_arity(service) == without_arity(implementation):
        return None
    return Confidence.PROBABLE if names.symbols.has_foreign_base(implementation) else None
