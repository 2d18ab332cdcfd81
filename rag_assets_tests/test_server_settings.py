"""Settings of the embedding and vector servers: refused where they cannot work or would send source in clear."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rag_assets.pipeline.versions import config_hash
from rag_assets.settings import EmbedderSettings, RepositorySettings, Settings, StoreSettings, load_settings
from rag_assets.settings.config_file import ConfigError

EMBEDDER: dict[str, Any] = {"provider": "openai-compatible", "base_url": "https://api.example.org/v1", "model": "m"}
STORES: dict[str, Any] = {"vectors": "qdrant", "qdrant_url": "https://qdrant.example.org:6333"}


@pytest.mark.parametrize(
    ("section", "change", "message"),
    [
        ("embedder", {"base_url": ""}, "provider openai-compatible needs base_url"),
        ("embedder", {"model": " "}, "needs model"),
        ("embedder", {"base_url": "ftp://api.example.org"}, "must be an http or https URL"),
        ("embedder", {"base_url": "https://me:s3cr3t@example.org/v1"}, "RAG_ASSETS_EMBEDDINGS_API_KEY"),
        ("embedder", {"base_url": "https://example.org/v1?key=s3cr3t"}, "without ? and #"),
        ("embedder", {"base_url": "http://gpu-box:8000/v1"}, "source code would go to gpu-box unencrypted"),
        ("embedder", {"dimension": 0}, "embedder.dimension"),
        ("embedder", {"max_tokens": 0}, "embedder.max_tokens"),
        ("embedder", {"tokenizer": "gpt2"}, "embedder.tokenizer"),
        ("embedder", {"batch_texts": 0}, "embedder.batch_texts"),
        ("embedder", {"price": -1}, "embedder.price"),
        ("embedder", {"api_key": "s3cr3t"}, "unknown key 'embedder.api_key'"),
        ("stores", {"qdrant_url": ""}, "vectors qdrant needs qdrant_url"),
        ("stores", {"qdrant_url": "qdrant:6333"}, "must be an http or https URL"),
        ("stores", {"qdrant_url": "https://:s3cr3t@example.org"}, "QDRANT_API_KEY"),
        ("stores", {"qdrant_url": "http://qdrant:6333"}, "source code would go to qdrant unencrypted"),
        ("stores", {"vectors": "milvus"}, "stores.vectors"),
        ("stores", {"qdrant_timeout_seconds": 0}, "stores.qdrant_timeout_seconds"),
    ],
    ids=lambda value: str(next(iter(value.items()))) if isinstance(value, dict) else "",
)
def test_wrong_settings_are_explained(tmp_path: Path, section: str, change: dict[str, Any], message: str) -> None:
    usable = {"embedder": EMBEDDER, "stores": STORES}[section]
    path = tmp_path / "rag_assets.yaml"
    path.write_text(f"{section}: {usable | change}\n", encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_settings(path)
    assert message in str(caught.value)
    assert "s3cr3t" not in str(caught.value)


def test_plain_http_is_for_this_machine_or_said() -> None:
    assert EmbedderSettings(**EMBEDDER | {"base_url": "http://127.0.0.1:1/v1/"}).base_url == "http://127.0.0.1:1/v1"
    assert EmbedderSettings(**EMBEDDER | {"base_url": "http://gpu-box/v1", "allow_plain_http": True})
    assert StoreSettings(**STORES | {"qdrant_url": "http://localhost:6333"})
    assert StoreSettings(**STORES | {"qdrant_url": "http://qdrant:6333", "allow_plain_http": True})


@pytest.mark.parametrize(
    ("change", "same"),
    [
        ({"embedder": EMBEDDER | {"max_tokens": 100}}, False),
        ({"embedder": EMBEDDER | {"tokenizer": "cl100k_base"}}, False),
        ({"embedder": EMBEDDER, "stores": STORES}, False),
        ({"embedder": EMBEDDER | {"batch_texts": 3, "price": 1.0, "max_concurrency": 1}}, True),
        ({"embedder": EMBEDDER, "stores": {"qdrant_timeout_seconds": 3}}, True),
    ],
    ids=["window", "tokenizer", "store", "speed and price", "patience"],
)
def test_what_changes_the_result_changes_the_configuration_hash(change: dict[str, Any], same: bool) -> None:
    repository = RepositorySettings(id="shop", location=".")
    before = config_hash(Settings(embedder=EmbedderSettings(**EMBEDDER)), repository, "m")
    assert (config_hash(Settings(**change), repository, "m") == before) is same
