"""How an index can be searched: the modes, what each of them needs, and what is done where that is missing."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, Protocol

from rag_assets.errors import RagAssetsError

DEFAULT_PRIORITY = 3
PRIORITIES = range(1, 6)
"""1 is the highest (B08)."""


class Mode(StrEnum):
    """How a search finds and orders candidates."""

    HYBRID = "hybrid"  # embeddings and keywords, as one ranking
    SEMANTIC = "semantic"  # nearest embeddings
    SEMANTIC_RERANK = "semantic_rerank"  # nearest embeddings, put in order with keyword scores of their texts
    BM25 = "bm25"  # keyword weights


@dataclass(frozen=True, slots=True)
class RetrievalPlan:
    """What to retrieve, and how (D11); `mode` None is DIRECT: without retrieval (D12). `query` may then be empty."""

    mode: Mode | None
    query: str


class Capability(StrEnum):
    """A part that a generation was built with; its manifest lists them (D17)."""

    DENSE = "dense"  # vectors of an embedding model
    KEYWORD = "keyword"  # keyword weights and their vocabulary
    GRAPH = "graph"
    HISTORY = "history"  # what past commits say of files


_NEEDED = {
    Mode.HYBRID: {Capability.DENSE, Capability.KEYWORD},
    Mode.SEMANTIC: {Capability.DENSE},
    Mode.SEMANTIC_RERANK: {Capability.DENSE},  # scores the texts of its candidates: no index of words (D14)
    Mode.BM25: {Capability.KEYWORD},
}


def missing_for(mode: Mode, built: Collection[str]) -> tuple[Capability, ...]:
    """The capabilities that a mode needs and that were not built, in the order of `Capability`."""
    return tuple(part for part in Capability if part in _NEEDED[mode] and part not in built)


def retrieval_modes(built: Collection[str]) -> tuple[Mode, ...]:
    """The modes that these capabilities can serve, in the order of `Mode` (D17)."""
    return tuple(mode for mode in Mode if not missing_for(mode, built))


def fallback(built: Collection[str]) -> Mode | None:
    """The mode that replaces one that cannot be served: keywords, else embeddings, else None (D15)."""
    return next((mode for mode in (Mode.BM25, Mode.SEMANTIC) if not missing_for(mode, built)), None)


class RerankError(RagAssetsError):
    """A reranking model that gives no scores; the text says why and what to do."""


class Reranker(Protocol):
    """A model that scores texts for a question (E11, E18). Safe to use from several threads."""

    candidates: int
    """Number of the best candidates that it scores."""

    model_id: str
    """Name under which runs of question sets record it."""

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """One finite score per text, higher is better. Raises RerankError."""


Fusion = Literal["blend", "rrf"]
OnMissing = Literal["fall_back", "fail"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPolicy:
    """Defaults of a search that a caller may override (E14); `settings.SearchSettings` explains the fields."""

    mode: Mode = Mode.HYBRID
    limit: int = 10
    fusion: Fusion = "blend"
    dense_candidates: int = 100
    keyword_candidates: int = 200
    """nDCG@10 as in `search.ranking`: 100 keyword candidates lose .002 of the mean, 40 dense ones .006;
    200 dense ones gain nothing."""
    alpha: float = 1.0
    beta: float = 0.3
    """nDCG@10 of semantic_rerank (commit subjects that name no file / doc summaries / identifiers / annotators), 180
    candidates: alpha 1 with beta 0 .344 .636 .652 .687, .1 .359 .688 .795 .793, .3 .371 .663 .877 .805, 1 .354 .616
    .899 .820. With 50 candidates identifiers lose .03. Reading the source of every candidate too: commits .406, the
    others alike, for ten times the work."""
    on_missing: OnMissing = "fall_back"
    reranker: Reranker | None = None


DEFAULT_POLICY = SearchPolicy()
