"""How the configuration wants indexes to be searched."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rag_assets.config_file import config_of, is_configured
from rag_assets.contracts.retrieval import DEFAULT_POLICY, SearchPolicy
from rag_assets.stores.home import Home

_SECTION = "search"


def load_policy(home: Home, config: Path | None) -> SearchPolicy:
    """The `search` settings of `config`, or of the file that is found from here or from the home; those of the
    environment too. Raises ConfigError."""
    path = config_of(home.root, config)
    if not is_configured(_SECTION, path):
        return DEFAULT_POLICY
    from rag_assets.models.reranker import HttpReranker
    from rag_assets.settings import load_settings

    search = load_settings(path).search
    return replace(search.policy(), reranker=HttpReranker.of(search.reranker))
