"""What a search refuses."""

from __future__ import annotations

from rag_assets.contracts.errors import ExpectedError, WrongUsage


class QueryError(ExpectedError, ValueError):
    """A question or a condition that cannot be searched for; the text says what would be valid."""


class WrongQuestion(QueryError, WrongUsage):
    """One that is written wrongly, whatever the index has."""


class EvidenceLost(ExpectedError):
    """The index finds something, and none of it can be read any more: nobody knows whether it has an answer."""
