"""Git repositories as a traceable retrieval index.

>>> import rag_assets
>>> index = rag_assets.open_index("shop@main")
>>> for hit in index.search("how are refunds limited", limit=5):
...     print(hit.path, hit.start_line, hit.symbol)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rag_assets.query import Hit, Index, SearchResult, open_index

__all__ = ["Hit", "Index", "SearchResult", "open_index"]


def __getattr__(name: str) -> Any:
    """The public names, imported on first use: `import rag_assets` itself costs nothing."""
    if name in __all__:
        return getattr(import_module("rag_assets.query"), name)
    raise AttributeError(f"module 'rag_assets' has no attribute {name!r}")
