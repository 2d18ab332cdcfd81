"""HTTP endpoints of C# code: found by attributes, by convention, by calls. Pure functions over segments and text."""

from rag_assets.languages.csharp.web.class_endpoints import ClassEndpoints, endpoints_of_class
from rag_assets.languages.csharp.web.minimal_api import mapped_endpoints

__all__ = ["ClassEndpoints", "endpoints_of_class", "mapped_endpoints"]
