"""What extractors may ask about the whole label; every answer is a question of `descriptions.questions`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from rag_assets.descriptions.declared_types import DeclaredTypes
from rag_assets.descriptions.questions import answers_of
from rag_assets.descriptions.resource_dictionary import StaticResourceDictionary
from rag_assets.graph.csharp import symbols as csharp
from rag_assets.graph.ef import symbols as ef
from rag_assets.graph.endpoints import symbols as endpoints
from rag_assets.graph.extraction import GraphFile
from rag_assets.graph.facets import OWN_FACETS, CSharpFacets, Facets, csharp_facets, digest_of
from rag_assets.graph.resources import ResourceSymbols
from rag_assets.graph.sql import symbols as sql


@dataclass(frozen=True, slots=True)
class Declarations:
    """What some files add to the symbols of their label, and the digests of it; msgspec can encode it."""

    csharp: csharp.CSharpDeclarations
    facets: CSharpFacets
    sql: sql.SqlDeclarations
    ef: ef.EfDeclarations
    endpoints: endpoints.EndpointDeclarations


def declared_in(files: Sequence[GraphFile]) -> Declarations:
    """What these files declare, read from their segments, and from their texts where segments do not say."""
    types = csharp.declared_in(files)
    return Declarations(
        types, csharp_facets(types), sql.declared_in(files), ef.declared_in(files), endpoints.declared_in(files)
    )


@dataclass(frozen=True, slots=True)
class Symbols:
    """The declarations of a label by name. Picklable."""

    csharp: csharp.CSharpSymbols
    sql: sql.SqlSymbols
    ef: ef.EfSymbols
    endpoints: endpoints.EndpointSymbols
    resource_texts: ResourceSymbols
    declared_types: DeclaredTypes

    @classmethod
    def of(
        cls, declared: Iterable[Declarations], declared_types: DeclaredTypes, resources: StaticResourceDictionary
    ) -> Self:
        """All declarations of a label together, in any order."""
        parts = list(declared)
        types = csharp.CSharpSymbols(part.csharp for part in parts)
        return cls(
            csharp=types,
            sql=sql.SqlSymbols(part.sql for part in parts),
            ef=ef.EfSymbols((part.ef for part in parts), types),
            endpoints=endpoints.EndpointSymbols(part.endpoints for part in parts),
            resource_texts=ResourceSymbols(resources),
            declared_types=declared_types,
        )

    def facets(self, parts: Sequence[Declarations], **others: str) -> Facets:
        """What the answers depend on. `others`: facet → digest of what is in no declarations."""
        digests = {
            "sql": digest_of([part.sql for part in parts]),
            "ef": digest_of([[part.ef for part in parts], self.ef.everything()]),
            "endpoints": digest_of([part.endpoints for part in parts]),
        }
        answers = answers_of((self.ef, self.resource_texts), [(name, ()) for name in OWN_FACETS])
        digests.update((name, digest_of(answer)) for (name, _), answer in answers.items())
        return Facets((part.facets for part in parts), digests | others)
