"""A reranking model behind a server: `POST {base_url}/rerank` (E11, E18).

Cohere, Jina, vLLM, Infinity and LiteLLM take `{model, query, documents}` and give `results` with `relevance_score`;
Text Embeddings Inference takes `{query, texts}` and gives a list with `score`. Either reply is understood from either.
"""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from rag_assets.contracts.retrieval import RerankError
from rag_assets.models.openai_compat.client import ModelClient
from rag_assets.models.openai_compat.endpoint import ApiKey, ServerEndpoint
from rag_assets.models.openai_compat.faults import Fault
from rag_assets.models.openai_compat.responses import Reply, ReplyLimits, decoded
from rag_assets.models.openai_compat.token_counting import well_formed

if TYPE_CHECKING:
    import openai

    from rag_assets.settings import RerankerSettings

RERANK = "/rerank"
KEY_VARIABLE = "RAG_ASSETS_RERANK_API_KEY"
SECTION = "search.reranker"

REST_SECONDS = 30.0
"""After a failed request: searches that come meanwhile are answered without it at once, not after a time-out each."""

_MAX_REPLY_BYTES = 16 << 20
"""1,000 documents of 16 KB, which some servers send back."""

_BYTES_PER_RESULT = 1 << 10
"""Index, score, and the names of both, indented or not."""

_BYTES_PER_REPLY = 1 << 16
"""Of what is no result: usage, ids, warnings, the question."""

_ESCAPED = 6
"""Bytes of a character that is sent back as JSON writes it at its longest."""


class _Item(msgspec.Struct):
    index: int
    relevance_score: float | None = None
    score: float | None = None


class _Results(msgspec.Struct):
    results: list[_Item]


_SCORES: Any = list[_Item] | _Results


class HttpReranker:
    """Scores texts for a question. Safe to use from several threads."""

    def __init__(self, settings: RerankerSettings, key: ApiKey) -> None:
        self.candidates = settings.candidates
        self.model_id = f"{settings.provider}:{settings.model}/{settings.candidates}"
        self._model = settings.model
        self._names_texts = settings.provider == "tei"
        self._client = ModelClient(ServerEndpoint(settings.base_url, key, settings.timeout_seconds, section=SECTION))
        self._lock = threading.Lock()
        self._failed: tuple[float, str] | None = None

    @classmethod
    def of(cls, settings: RerankerSettings, environment: Mapping[str, str] = os.environ) -> HttpReranker | None:
        """The configured one, None where none is. Raises ConfigError for a key that no header can carry."""
        return None if settings.provider == "none" else cls(settings, ApiKey.of(environment, KEY_VARIABLE))

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """One score per text, higher is better. Raises RerankError, for `REST_SECONDS` after a failure without asking;
        one request, since somebody waits."""
        with self._lock:
            failed = self._failed
        if failed is not None and time.monotonic() - failed[0] < REST_SECONDS:
            raise RerankError(failed[1])
        try:
            return self._asked(query, texts)
        except RerankError as error:
            with self._lock:
                self._failed = time.monotonic(), str(error)
            raise

    def _asked(self, query: str, texts: Sequence[str]) -> list[float]:
        documents = [well_formed(text) for text in texts]
        asked: dict[str, Any] = {"query": well_formed(query)}
        if self._names_texts:
            asked |= {"texts": documents, "truncate": True}
        else:
            asked |= {"model": self._model, "documents": documents, "top_n": len(documents)}
        most = _BYTES_PER_REPLY + sum(_BYTES_PER_RESULT + _ESCAPED * len(text.encode()) for text in documents)
        limits = ReplyLimits(min(most, _MAX_REPLY_BYTES))
        found: list[_Item] | _Results | Fault
        found = self._client.ask(lambda api: self._exchange(api, asked), limits)
        if isinstance(found, Fault):
            raise RerankError(found.text)
        return _scores(found, len(texts))

    def _exchange(self, api: openai.OpenAI, asked: dict[str, Any]) -> list[_Item] | _Results | Fault:
        import httpx2  # loaded: `api` asks by it

        raw = api.post(RERANK, body=asked, cast_to=httpx2.Response)
        reply = Reply(raw.headers.get("content-type", ""), raw.content)
        return decoded(reply, _SCORES, "list of scores", SECTION, self._client.endpoint.key)


def _scores(found: list[_Item] | _Results, texts: int) -> list[float]:
    """The scores in the order of the texts. Raises RerankError unless every text has exactly one, and a finite one."""
    scores: list[float | None] = [None] * texts
    for item in found if isinstance(found, list) else found.results:
        score = item.score if item.relevance_score is None else item.relevance_score
        if score is None or not math.isfinite(score):
            raise RerankError(f"document {item.index} has no score")
        if not 0 <= item.index < texts or scores[item.index] is not None:
            raise RerankError(f"document {item.index} of {texts} came back twice, or was never sent")
        scores[item.index] = score
    complete = [score for score in scores if score is not None]
    if len(complete) < texts:
        raise RerankError(f"{len(complete)} of {texts} documents came back with a score")
    return complete
