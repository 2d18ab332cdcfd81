"""Reading an index: from a question to hits with evidence. Never imports the orchestrator, and loads numpy, the
vector engine and the model only when a search needs them."""

from __future__ import annotations

from rag_assets.query.index import Index, open_index
from rag_assets.query.results import Hit, Mode, QueryError, SearchResult, TermEvidence

__all__ = [
    "Hit",
    "Index",
    "Mode",
    "QueryError",
    "SearchResult",
    "TermEvidence",
    "open_index",
]
