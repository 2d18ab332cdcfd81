"""How the configuration wants indexes to be searched. A search without such settings never loads the settings model,
which would cost it a third of a second."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rag_assets.config_file import find_config, read_yaml
from rag_assets.contracts.retrieval import DEFAULT_POLICY, SearchPolicy
from rag_assets.stores.home import Home

if TYPE_CHECKING:
    from rag_assets.settings import SearchSettings

_SECTION = "search"
_VARIABLES = "RAG_ASSETS__SEARCH"


def load_policy(home: Home, config: Path | None) -> SearchPolicy:
    """The `search` settings of `config`, or of the file that is found from here or from the home; those of the
    environment too. Raises ConfigError."""
    path = config or find_config() or find_config(home.root)
    in_environment = any(name.upper().startswith(_VARIABLES) for name in os.environ)
    if not in_environment and (path is None or _SECTION not in read_yaml(path)):
        return DEFAULT_POLICY
    from rag_assets.settings import load_settings

    return opened_policy(load_settings(path).search)


def opened_policy(search: SearchSettings) -> SearchPolicy:
    """What settings say, with the reranker opened that they name. Raises ConfigError."""
    from rag_assets.models.reranker import HttpReranker

    return replace(search.policy(), reranker=HttpReranker.of(search.reranker))
