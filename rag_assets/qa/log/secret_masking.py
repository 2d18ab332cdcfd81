"""Secrets in what is kept of a turn: masked as in the index, at the same length."""

from __future__ import annotations


def masked(text: str) -> str:
    """The text with every credential that the rules know as `*` (the rules of the index)."""
    from rag_assets.sources.secrets.redaction import redact

    return redact(text, "").text
