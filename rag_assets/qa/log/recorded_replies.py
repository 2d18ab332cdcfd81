"""A model that says again what was recorded, and nothing else."""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rag_assets.errors import RagAssetsError
from rag_assets.qa.log.model_calls import RecordedCall, call_digest, differences, nearest, result_of

if TYPE_CHECKING:
    from rag_assets.contracts.result import InvokeResult
    from rag_assets.qa.services import Generated, ModelCall


class NotRecorded(RagAssetsError, LookupError):
    """A question that no reply was recorded for; the text says what differs from the nearest one that was."""


class RecordedReplies:
    """Answers a call with the reply to exactly this call, and with its fault where it had one. A call that was recorded
    several times gets its replies in their order, the last one for ever. Safe to use from several threads."""

    def __init__(self, exchanges: Sequence[RecordedCall], origin: str) -> None:
        """`origin` is what messages call the recording."""
        self._exchanges = tuple(exchanges)
        self._origin = origin
        self._lock = threading.Lock()
        self._used: Counter[str] = Counter()
        self._by_digest: defaultdict[str, list[RecordedCall]] = defaultdict(list)
        for exchange in exchanges:
            self._by_digest[exchange.digest].append(exchange)

    def __call__(self, call: ModelCall) -> InvokeResult[Generated]:
        """Who listens is given the reply at once. Raises NotRecorded."""
        digest = call_digest(call)
        with self._lock:
            number = self._used[digest]
            self._used[digest] += 1
        replies = self._by_digest.get(digest)
        if not replies:
            raise NotRecorded(self._missing(call))
        result = result_of(replies[min(number, len(replies) - 1)])
        if result.value is not None:
            call.on_text(result.value.text)
        return result

    def _missing(self, call: ModelCall) -> str:
        known = nearest(self._exchanges, call)
        if known is None:
            purposes = ", ".join(dict.fromkeys(exchange.purpose for exchange in self._exchanges)) or "nothing"
            return f"{self._origin} has no reply to the prompt {call.purpose!r}; it has replies to: {purposes}"
        return (
            f"{self._origin} has no reply to this question of the prompt {call.purpose!r}; "
            f"different from the recorded one: {'; '.join(differences(known, call))}"
        )
