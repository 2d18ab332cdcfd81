"""Settings of storage: where an index is kept, and for how long."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator, model_validator

from rag_assets.settings.base import Strict, object_store_url, plain_server_url, refuse_unencrypted


class StoreSettings(Strict):
    """The vector store (beside the index, or a Qdrant server), the catalog and the remote store."""

    vectors: Literal["embedded", "qdrant", "faiss"] = Field(
        default="embedded",
        description="qdrant: a server, key in QDRANT_API_KEY; faiss: beside the index, searched "
        "exactly, pip install 'rag-assets[faiss]'",
    )
    qdrant_url: str = Field(default="", description="of the server: http://127.0.0.1:6333")
    allow_plain_http: bool = Field(
        default=False, description="send source and key unencrypted to a qdrant_url that is not this machine"
    )
    qdrant_timeout_seconds: int = Field(default=30, gt=0, description="for one request to the server")
    catalog: Literal["none", "sqlite", "postgres"] = Field(
        default="none",
        description="durable copy of all chunks, to rebuild vectors from; postgres: URL in RAG_ASSETS_CATALOG_URL",
    )
    hnsw_from_points: int = Field(
        default=20_000,
        ge=0,
        description="smaller embedded generations are scanned exactly, which is as fast and needs no build",
    )

    remote: str = Field(
        default="",
        description="where indexes are published to and pulled from: s3://bucket/prefix, with the credentials of AWS "
        "clients and pip install 'rag-assets[s3]', or file:///folder",
    )

    @field_validator("remote")
    @classmethod
    def _is_an_object_store(cls, value: str) -> str:
        return object_store_url(value)

    @field_validator("qdrant_url")
    @classmethod
    def _is_a_plain_url(cls, value: str) -> str:
        return plain_server_url(value, "QDRANT_API_KEY")

    @model_validator(mode="after")
    def _can_be_used(self) -> StoreSettings:
        if self.vectors == "qdrant":
            if not self.qdrant_url:
                raise ValueError("vectors qdrant needs qdrant_url")
            refuse_unencrypted(self.qdrant_url, allowed=self.allow_plain_http)
        return self


class RetentionSettings(Strict):
    """How many old generations stay on disk. `rag-assets gc` removes documents and cache entries that nothing needs."""

    keep: int = Field(
        default=3, ge=1, description="generations per label; the previous one and tagged ones stay in any case"
    )
