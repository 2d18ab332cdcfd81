"""What builders know about code beyond one declaration: types, methods, entities. Pure functions over segments."""

from rag_assets.descriptions.facts.entities import name_stems, primary_entity
from rag_assets.descriptions.facts.methods import METHODS, MethodFact, MethodKind, is_public, method_facts, method_kind
from rag_assets.descriptions.facts.types import (
    TypeName,
    element_type,
    is_collection,
    is_scalar,
    named_types,
    parse_type,
    unwrapped,
)

__all__ = [
    "METHODS",
    "MethodFact",
    "MethodKind",
    "TypeName",
    "element_type",
    "is_collection",
    "is_public",
    "is_scalar",
    "method_facts",
    "method_kind",
    "name_stems",
    "named_types",
    "parse_type",
    "primary_entity",
    "unwrapped",
]
