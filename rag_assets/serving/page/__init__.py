"""The page: search, ask, graph and index for people."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.routing import BaseRoute

from rag_assets.serving.operations import Operations


def pages(operations: Operations) -> Sequence[BaseRoute]:
    """The routes of the page."""
    return []
