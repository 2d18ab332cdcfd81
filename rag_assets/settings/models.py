"""The models for embeddings and for summaries. Their keys are never settings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator

from rag_assets.settings.base import AllowPlainHttp, ApiVersion, Strict, Tokenizer, server_url
from rag_assets.settings.urls import refuse_unencrypted


class EmbedderSettings(Strict):
    """The embedding model: the one of the package, MiniLM, one behind a server, or none (`lexical-only`). A key is
    never a setting."""

    provider: Literal["static-code", "minilm", "openai-compatible", "lexical-only"] = Field(
        default="static-code",
        description="static-code: the table in the package; minilm: needs the extra minilm; openai-compatible: a "
        "server, key in RAG_ASSETS_EMBEDDINGS_API_KEY; lexical-only: keyword search",
    )
    table: Path | None = Field(
        default=None,
        description="of static-code: a file of `rag-assets train-embedder`, relative to the configuration file; "
        "default: the table in the package",
    )
    precision: Literal["int8", "fp32"] = Field(
        default="int8", description="of minilm; fp32 is exact and about half as fast"
    )
    threads: int = Field(default=0, ge=0, description="of minilm; 0: one per processor core")
    base_url: Annotated[str, server_url("RAG_ASSETS_EMBEDDINGS_API_KEY")] = Field(
        default="", description="what /embeddings is appended to: http://127.0.0.1:11434/v1"
    )
    model: str = Field(default="", description="as the server names it")
    api_version: ApiVersion = ""
    allow_plain_http: AllowPlainHttp = False
    dimension: int | None = Field(
        default=None, ge=1, le=65_536, description="to ask the server for; default: what its model has"
    )
    max_tokens: int = Field(
        default=512, ge=64, description="the longest text sent; longer sections are split (the server's model)"
    )
    tokenizer: Tokenizer = "estimate"
    batch_texts: int = Field(default=64, ge=1, le=2_048, description="texts of one request")
    batch_tokens: int = Field(default=16_000, ge=1, description="tokens of one request")
    max_concurrency: int = Field(default=4, gt=0, le=64, description="requests at a time")
    timeout_seconds: float = Field(default=60.0, gt=0, description="for one request of an index build")
    query_timeout_seconds: float = Field(
        default=5.0, gt=0, description="for embedding a question; after that, keywords answer alone"
    )
    price: float | None = Field(default=None, ge=0, description="per million tokens; for the cost shown")

    @model_validator(mode="after")
    def _can_be_used(self) -> EmbedderSettings:
        if self.provider == "openai-compatible":
            _require_server(self, self.provider)
        if self.table is not None and self.provider != "static-code":
            raise ValueError(f"table is of provider static-code, and this is {self.provider}; delete one of them")
        return self


class LlmSettings(Strict):
    """The model that may write summaries of undocumented code. None by default; its key is never a setting."""

    provider: Literal["none", "openai-compatible"] = Field(
        default="none",
        description="who writes summaries of undocumented code; the key comes from RAG_ASSETS_LLM_API_KEY only",
    )
    base_url: Annotated[str, server_url("RAG_ASSETS_LLM_API_KEY")] = Field(
        default="", description="what /chat/completions is appended to: http://127.0.0.1:11434/v1"
    )
    model: str = Field(default="", description="as the server names it")
    api_version: ApiVersion = ""
    allow_plain_http: AllowPlainHttp = False
    refine: Literal["undocumented", "all"] = Field(
        default="undocumented", description="which symbols; all adds to what their authors wrote"
    )
    max_calls: int = Field(default=1_000, gt=0, description="requests per build; what is left is asked by a later one")
    max_concurrency: int = Field(default=4, gt=0, le=64, description="requests at a time")
    timeout_seconds: float = Field(default=60.0, gt=0, description="for one answer")
    price_in: float | None = Field(default=None, ge=0, description="per million prompt tokens; for the cost shown")
    price_out: float | None = Field(default=None, ge=0, description="per million answer tokens; for the cost shown")

    @model_validator(mode="after")
    def _can_be_used(self) -> LlmSettings:
        if self.provider != "none":
            _require_server(self, self.provider)
        return self


def _require_server(settings: EmbedderSettings | LlmSettings, provider: str) -> None:
    """Raises ValueError if a server provider lacks its URL or model, or would get source code unencrypted."""
    missing = [name for name in ("base_url", "model") if not getattr(settings, name).strip()]
    if missing:
        raise ValueError(f"provider {provider} needs {' and '.join(missing)}")
    refuse_unencrypted(settings.base_url, allowed=settings.allow_plain_http)
