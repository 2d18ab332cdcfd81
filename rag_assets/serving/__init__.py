"""The index where people work: tools for agents (MCP), routes for programs (HTTP), a page for people.

All three hand the same requests (`requests`) to the same operations (`operations`), which see what the caller may see
(`access`) of indexes that are opened once and shared (`index_pool`).
"""

from __future__ import annotations


def own_version() -> str:
    """Of the installed package; '' where it runs from its source."""
    from importlib.metadata import PackageNotFoundError, version  # takes longer than the rest of an agent's process

    try:
        return version("rag-assets")
    except PackageNotFoundError:
        return ""
