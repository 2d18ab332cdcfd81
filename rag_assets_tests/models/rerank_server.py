"""A real reranking server on loopback, in the two forms there are: relevant is what shares words with the question."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from rag_assets_tests.models.llm.model_server import Asked, ModelServer, Reply


def relevance(query: str, text: str) -> float:
    """The share of the question's words that the text has."""
    words = set(query.lower().split())
    return len(words & set(text.lower().split())) / len(words)


def documents(asked: Asked) -> list[str]:
    return list(asked.body.get("documents", asked.body.get("texts", ())))


def results(scores: Sequence[float], name: str = "relevance_score") -> list[dict[str, Any]]:
    """Best first, as servers give them."""
    found = [{"index": index, name: score} for index, score in enumerate(scores)]
    return sorted(found, key=lambda item: -float(item[name]))


def cohere(asked: Asked) -> Reply:
    scores = [relevance(asked.body["query"], text) for text in documents(asked)]
    return Reply(json.dumps({"id": "x", "results": results(scores), "meta": {"tokens": 7}}).encode())


def shuffling(asked: Asked) -> Reply:
    """An opinion of its own: every text has a score that nothing else explains."""
    digests = [hashlib.sha256(text.encode()).digest() for text in documents(asked)]
    return Reply(json.dumps({"results": results([digest[0] / 255 for digest in digests])}).encode())


def tei(asked: Asked) -> Reply:
    scores = [relevance(asked.body["query"], text) for text in documents(asked)]
    return Reply(json.dumps(results(scores, "score")).encode())


def settings_of(server: ModelServer, **changes: Any) -> dict[str, Any]:
    """Settings `search.reranker` of a server."""
    made = {"provider": "cohere-compatible", "base_url": server.url, "model": "rerank-m", "timeout_seconds": 5.0}
    return made | changes
