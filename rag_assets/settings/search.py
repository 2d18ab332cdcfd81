"""Settings of search: the mode, the fusion of its two sides, and the fallback if a part is missing."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator, model_validator

from rag_assets.contracts.retrieval import DEFAULT_POLICY, Fusion, Mode, OnMissing, SearchPolicy
from rag_assets.settings.base import Strict
from rag_assets.settings.urls import plain_server_url, refuse_unencrypted


class RerankerSettings(Strict):
    """The model that may reorder the best candidates (E11). None by default; its key is never a setting."""

    provider: Literal["none", "cohere-compatible", "tei"] = Field(
        default="none",
        description="cohere-compatible: also Jina, vLLM, Infinity, LiteLLM; tei: Text Embeddings Inference; the key "
        "comes from RAG_ASSETS_RERANK_API_KEY only",
    )
    base_url: str = Field(default="", description="what /rerank is appended to: http://127.0.0.1:8080")
    model: str = Field(default="", description="as the server names it; tei has only one")
    allow_plain_http: bool = Field(
        default=False, description="send snippets and key unencrypted to a base_url that is not this machine"
    )
    candidates: int = Field(default=50, ge=1, le=1_000, description="how many of the best it is asked about")
    timeout_seconds: float = Field(
        default=5.0, gt=0, le=60, description="for one answer; after that, hits come in the order they had"
    )

    @field_validator("base_url")
    @classmethod
    def _is_a_plain_url(cls, value: str) -> str:
        return plain_server_url(value, "RAG_ASSETS_RERANK_API_KEY")

    @model_validator(mode="after")
    def _can_be_used(self) -> RerankerSettings:
        if self.provider == "none":
            return self
        needed = ("base_url", "model") if self.provider == "cohere-compatible" else ("base_url",)
        missing = [name for name in needed if not getattr(self, name).strip()]
        if missing:
            raise ValueError(f"provider {self.provider} needs {' and '.join(missing)}")
        refuse_unencrypted(self.base_url, allowed=self.allow_plain_http)
        return self


class SearchSettings(Strict):
    """How indexes are searched (E14). An index does not depend on it, so a change takes effect at once."""

    mode: Literal["hybrid", "semantic", "semantic_rerank", "bm25"] = Field(
        default=DEFAULT_POLICY.mode.value, description="unless a search says otherwise"
    )
    limit: int = Field(default=DEFAULT_POLICY.limit, ge=1, le=1_000, description="hits, unless a search says otherwise")
    fusion: Fusion = Field(
        default=DEFAULT_POLICY.fusion,
        description="of hybrid; blend: scores, with what speaks for a file; rrf: reciprocal ranks alone",
    )
    dense_candidates: int = Field(
        default=DEFAULT_POLICY.dense_candidates, ge=1, le=10_000, description="nearest embeddings that are ranked"
    )
    keyword_candidates: int = Field(
        default=DEFAULT_POLICY.keyword_candidates, ge=1, le=10_000, description="best keyword matches that are ranked"
    )
    alpha: float = Field(default=DEFAULT_POLICY.alpha, ge=0, description="of semantic_rerank: weight of the cosine")
    beta: float = Field(
        default=DEFAULT_POLICY.beta, ge=0, description="of semantic_rerank: weight of the keyword score, from 0 to 1"
    )
    on_missing: OnMissing = Field(
        default=DEFAULT_POLICY.on_missing,
        description="where an index lacks what a mode needs; fall_back: answer with what it has, and say so",
    )

    reranker: RerankerSettings = Field(
        default=RerankerSettings(), description="the model that puts the best candidates in order once more"
    )

    def policy(self) -> SearchPolicy:
        """The policy without the reranker, which must be opened."""
        return SearchPolicy(**(self.model_dump(exclude={"reranker"}) | {"mode": Mode(self.mode)}))
