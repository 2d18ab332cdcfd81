"""What extractors may ask about the whole label; every answer is a question of `descriptions.questions`."""

from __future__ import annotations

from dataclasses import dataclass

from rag_assets.descriptions.declared_types import DeclaredTypes
from rag_assets.graph.csharp.symbols import CSharpSymbols
from rag_assets.graph.ef.symbols import EfSymbols
from rag_assets.graph.endpoints.symbols import EndpointSymbols
from rag_assets.graph.resources import ResourceSymbols
from rag_assets.graph.sql.symbols import SqlSymbols


@dataclass(frozen=True, slots=True)
class Symbols:
    """The declarations of a label by name."""

    csharp: CSharpSymbols
    sql: SqlSymbols
    ef: EfSymbols
    endpoints: EndpointSymbols
    resource_texts: ResourceSymbols
    declared_types: DeclaredTypes
