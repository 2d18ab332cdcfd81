"""Settings of search and of `ask`: modes, fusion, fallback; how much `ask` reads, when it refuses, which models may
write. Keys are never settings.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from rag_assets.contracts.llm import Profile
from rag_assets.contracts.retrieval import DEFAULT_POLICY, Fusion, Mode, OnMissing, SearchPolicy
from rag_assets.settings.base import AllowPlainHttp, ApiVersion, Strict, Tokenizer, server_url
from rag_assets.settings.urls import refuse_unencrypted


class RerankerSettings(Strict):
    """The model that may reorder the best candidates (E11). None by default; its key is never a setting."""

    provider: Literal["none", "cohere-compatible", "tei"] = Field(
        default="none",
        description="cohere-compatible: also Jina, vLLM, Infinity, LiteLLM; tei: Text Embeddings Inference; the key "
        "comes from RAG_ASSETS_RERANK_API_KEY only",
    )
    base_url: Annotated[str, server_url("RAG_ASSETS_RERANK_API_KEY")] = Field(
        default="", description="what /rerank is appended to: http://127.0.0.1:8080"
    )
    model: str = Field(default="", description="as the server names it; tei has only one")
    allow_plain_http: AllowPlainHttp = False
    candidates: int = Field(default=50, ge=1, le=1_000, description="how many of the best it is asked about")
    timeout_seconds: float = Field(
        default=5.0, gt=0, le=60, description="for one answer; after that, hits come in the order they had"
    )

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


SEED_CHUNKS = 15
"""maxChunksForContext of the seed profile (E13)."""

_SEED = {"fusion": "rrf", "dense_candidates": 40, "keyword_candidates": 20, "limit": SEED_CHUNKS}
"""Reciprocal ranks (k = 60) of the candidates that E09 names."""


class SearchSettings(Strict):
    """How indexes are searched (E14). An index does not depend on it, so a change takes effect at once."""

    profile: Literal["measured", "seed"] = Field(
        default="measured",
        description="seed: fusion rrf, 40 and 20 candidates, 15 hits, also of an answer, where nothing else is named; "
        "measured: what finds most",
    )
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

    @model_validator(mode="before")
    @classmethod
    def _profile_is_the_default(cls, values: Any) -> Any:
        if not isinstance(values, dict) or values.get("profile") != "seed":
            return values
        return {**_SEED, **{name: value for name, value in values.items() if value is not None}}

    def policy(self) -> SearchPolicy:
        """The policy without the reranker, which must be opened."""
        return SearchPolicy(**(self.model_dump(exclude={"reranker", "profile"}) | {"mode": Mode(self.mode)}))


KEY_VARIABLE = "RAG_ASSETS_ANSWER_API_KEY"


class ModelProfile(Strict):
    """One model that may write answers; none without a name."""

    model: str = Field(default="", description="as the server names it; empty: this profile has no model")
    max_tokens: int = Field(
        default=3_000, ge=16, le=100_000, description="of one answer at most; a step asks for 1500 unless it says more"
    )
    temperature: float = Field(default=0.2, ge=0, le=2, description="low: answers repeat what the evidence says")
    price_in: float | None = Field(default=None, ge=0, description="per million prompt tokens; for the cost shown")
    price_out: float | None = Field(default=None, ge=0, description="per million answer tokens; for the cost shown")


class AnswerSettings(Strict):
    """How `ask` answers questions. Without a model it quotes, offline."""

    base_url: Annotated[str, server_url(KEY_VARIABLE)] = Field(
        default="", description="what /chat/completions is appended to; empty: no model is asked"
    )
    api_version: ApiVersion = ""
    allow_plain_http: AllowPlainHttp = False
    pipeline: str = Field(
        default="",
        description="name or file of the pipeline that ask runs; empty: the shipped one, with a model or not",
    )
    profile: Profile = Field(default="balanced", description="which of the models answers")
    cheap: ModelProfile = Field(default=ModelProfile(), description="for drafts and routing")
    balanced: ModelProfile = Field(default=ModelProfile(), description="for answers")
    premium: ModelProfile = Field(default=ModelProfile(), description="for what is hard")
    timeout_seconds: float = Field(default=120.0, gt=0, description="for one answer, from first byte to last")
    retries: int = Field(default=2, ge=0, le=10, description="after a rate limit, a server error or a cut stream")
    max_chunks: int = Field(
        default=15, ge=1, le=50, description="hits that are looked at (maxChunksForContext); instead of the pipeline's"
    )
    max_context_tokens: int = Field(default=6_000, ge=200, description="of evidence in an answer or a prompt")
    tokenizer: Tokenizer = "estimate"
    threshold: float | None = Field(
        default=None, ge=0, le=1, description="of confidence, below which ask refuses; default: the calibrated one"
    )
    sure: float | None = Field(
        default=None, ge=0, le=1, description="of confidence, below which ask says that it is not sure"
    )
    unsupported: Literal["flag", "drop", "keep"] = Field(
        default="flag", description="what becomes of sentences that their citation does not support"
    )
    log: bool = Field(default=True, description="keep every question with its way; see: rag-assets log")
    log_days: int = Field(default=90, ge=1, le=36_500, description="after which a record of the log is deleted")
    log_replies: bool = Field(default=True, description="keep what models wrote, so that replay needs no model")
    replies: Literal["live", "record", "replay"] = Field(
        default="live", description="record: write down what models say, into replies_file; replay: ask that file only"
    )
    replies_file: str = Field(default="", description="JSON lines; relative to the configuration file")

    @model_validator(mode="after")
    def _can_be_used(self) -> AnswerSettings:
        if self.base_url:
            refuse_unencrypted(self.base_url, allowed=self.allow_plain_http)
            if not self.model_of(self.profile).model:
                raise ValueError(f"base_url needs a model for the profile that answers: {self.profile}.model")
        if self.replies != "live" and not self.replies_file:
            raise ValueError(f"replies {self.replies} needs a file: replies_file")
        if self.replies == "record" and not self.base_url:
            raise ValueError("replies record needs a server that is asked: base_url")
        return self

    def model_of(self, profile: str) -> ModelProfile:
        """The model of one of the PROFILES; it may have no name."""
        return {"cheap": self.cheap, "balanced": self.balanced, "premium": self.premium}[profile]
