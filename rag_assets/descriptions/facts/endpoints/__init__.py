"""HTTP endpoints of C# code: found by attributes, by convention, by calls. Pure functions over segments and text."""

from rag_assets.descriptions.facts.endpoints.classes import FoundEndpoints, endpoints_of_class
from rag_assets.descriptions.facts.endpoints.mapped import mapped_endpoints

__all__ = ["FoundEndpoints", "endpoints_of_class", "mapped_endpoints"]
