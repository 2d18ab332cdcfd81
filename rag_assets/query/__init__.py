"""Reading an index: from a question to hits with evidence. Never imports the orchestrator, and loads numpy, the
vector engine and the model only when a search needs them."""

from __future__ import annotations

from rag_assets.query.comparing import ComparedHit, ComparedSearch, compare_search
from rag_assets.query.errors import QueryError
from rag_assets.query.index import Index, open_index
from rag_assets.query.question import Question, QuestionKind, understand
from rag_assets.query.results import Hit, Mode, SearchResult, Source, TermEvidence
from rag_assets.query.several import IndexGroup, open_indexes

__all__ = [
    "ComparedHit",
    "ComparedSearch",
    "Hit",
    "Index",
    "IndexGroup",
    "Mode",
    "QueryError",
    "Question",
    "QuestionKind",
    "SearchResult",
    "Source",
    "TermEvidence",
    "compare_search",
    "open_index",
    "open_indexes",
    "understand",
]
