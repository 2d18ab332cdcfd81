"""What builders know about code beyond one declaration: types, methods, entities. Pure functions over segments."""

from rag_assets.languages.csharp.facts.method_verbs import (
    METHODS,
    MethodFact,
    MethodKind,
    is_public,
    method_facts,
    method_kind,
)
from rag_assets.languages.csharp.facts.primary_entity import name_stems, primary_entity
from rag_assets.languages.csharp.facts.type_names import (
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
