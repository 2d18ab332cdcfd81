"""What is wrong with a catalog, in words for people. Imports no database library."""

from __future__ import annotations

from rag_assets.index.vectors.vector_api import VectorStoreError


class CatalogError(VectorStoreError):
    """A catalog that cannot be used; the text names it, the cause and what to do."""


class CatalogEmpty(CatalogError):
    """A place that no build has written to yet."""


class CatalogUnreachable(CatalogError):
    """A catalog that a later attempt may reach with nothing changed: stopped, restarting, or busy."""
