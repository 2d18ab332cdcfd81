"""Git repositories as a traceable retrieval index.

>>> import rag_assets
>>> index = rag_assets.open_index("shop@main")
>>> for hit in index.search("how are refunds limited", limit=5):
...     print(hit.path, hit.start_line, hit.symbol)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rag_assets.answer.results import Answer
    from rag_assets.api import Index, IndexGroup, open_index, open_indexes
    from rag_assets.contracts.confidentiality import Confidentiality
    from rag_assets.contracts.retrieval import Mode
    from rag_assets.defs.rag_index import RagIndexResource
    from rag_assets.defs.repository_index import RepositoryIndex
    from rag_assets.errors import (
        NoWorkTree,
        PlaceError,
        QueryError,
        RagAssetsError,
        WorkTreeError,
        WrongQuestion,
        WrongUsage,
    )
    from rag_assets.graph.artifact import GraphError
    from rag_assets.index.artifacts import ArtifactError
    from rag_assets.index.generations import GenerationError
    from rag_assets.index.keyword.vocabulary import KeywordIndexError
    from rag_assets.index.vectors.filters import NO_FILTERS, PeriodError, ScopeError, SearchFilters
    from rag_assets.index.vectors.vector_api import VectorStoreError
    from rag_assets.qa.ask_options import AskOptions
    from rag_assets.search import Hit, MemberHit, Question, QuestionKind, SearchResult, Source, TermEvidence
    from rag_assets.search.compare_labels import ComparedHit, ComparedSearch, compare_search
    from rag_assets.search.query_parser import understand
    from rag_assets.search.source_lines import DeclaredLines, SourceLines, TextVersion
    from rag_assets.search.touched_nodes import ChangeImpact, EffectStep, Touched, TouchedNode, TouchingFile
    from rag_assets.settings.config_file import ConfigError

_MODULES = {
    "answer.results": ("Answer",),
    "api": ("Index", "IndexGroup", "open_index", "open_indexes"),
    "contracts.confidentiality": ("Confidentiality",),
    "contracts.retrieval": ("Mode",),
    "defs.rag_index": ("RagIndexResource",),
    "defs.repository_index": ("RepositoryIndex",),
    "errors": (
        "NoWorkTree",
        "PlaceError",
        "QueryError",
        "RagAssetsError",
        "WorkTreeError",
        "WrongQuestion",
        "WrongUsage",
    ),
    "graph.artifact": ("GraphError",),
    "index.artifacts": ("ArtifactError",),
    "index.generations": ("GenerationError",),
    "index.keyword.vocabulary": ("KeywordIndexError",),
    "index.vectors.filters": ("NO_FILTERS", "PeriodError", "ScopeError", "SearchFilters"),
    "index.vectors.vector_api": ("VectorStoreError",),
    "qa.ask_options": ("AskOptions",),
    "search.touched_nodes": ("ChangeImpact", "EffectStep", "Touched", "TouchedNode", "TouchingFile"),
    "search.compare_labels": ("ComparedHit", "ComparedSearch", "compare_search"),
    "search.query_parser": ("understand",),
    "search.source_lines": ("DeclaredLines", "SourceLines", "TextVersion"),
    "search": ("Hit", "MemberHit", "Question", "QuestionKind", "SearchResult", "Source", "TermEvidence"),
    "settings.config_file": ("ConfigError",),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "NO_FILTERS",
    "Answer",
    "ArtifactError",
    "AskOptions",
    "ChangeImpact",
    "ComparedHit",
    "ComparedSearch",
    "Confidentiality",
    "ConfigError",
    "DeclaredLines",
    "EffectStep",
    "GenerationError",
    "GraphError",
    "Hit",
    "Index",
    "IndexGroup",
    "KeywordIndexError",
    "MemberHit",
    "Mode",
    "NoWorkTree",
    "PeriodError",
    "PlaceError",
    "QueryError",
    "Question",
    "QuestionKind",
    "RagAssetsError",
    "RagIndexResource",
    "RepositoryIndex",
    "ScopeError",
    "SearchFilters",
    "SearchResult",
    "Source",
    "SourceLines",
    "TermEvidence",
    "TextVersion",
    "Touched",
    "TouchedNode",
    "TouchingFile",
    "VectorStoreError",
    "WorkTreeError",
    "WrongQuestion",
    "WrongUsage",
    "__version__",
    "compare_search",
    "open_index",
    "open_indexes",
    "understand",
]


def __getattr__(name: str) -> Any:
    """The public names, imported on first use: `import rag_assets` itself costs nothing."""
    if name == "__version__":
        from importlib.metadata import version

        return version("rag-assets")
    if name in _MODULE_OF:
        return getattr(import_module(f"rag_assets.{_MODULE_OF[name]}"), name)
    raise AttributeError(f"module 'rag_assets' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
