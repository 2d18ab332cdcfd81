"""How the configuration wants indexes to be searched."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rag_assets.config_file import config_of, is_configured
from rag_assets.contracts.retrieval import DEFAULT_POLICY, SearchPolicy
from rag_assets.stores.home import Home

if TYPE_CHECKING:
    from rag_assets.settings import SearchSettings

_SECTION = "search"


def load_policy(home: Home, config: Path | None) -> SearchPolicy:
    """The `search` settings of `config`, or of the file that is found from here or from the home; those of the
    environment too. Raises ConfigError."""
    path = config_of(home.root, config)
    if not is_configured(_SECTION, path):
        return DEFAULT_POLICY
    from rag_assets.settings import load_settings

    return opened_policy(load_settings(path).search)


def opened_policy(search: SearchSettings) -> SearchPolicy:
    """What settings say, with the reranker opened that they name. Raises ConfigError."""
    from rag_assets.models.reranker import HttpReranker

    return replace(search.policy(), reranker=HttpReranker.of(search.reranker))
