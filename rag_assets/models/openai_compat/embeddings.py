"""An embedding model behind an OpenAI-compatible server.

Vectors are yielded as they come, so that what was paid for is kept whatever happens next. A batch that fails is halved
down to single texts; a text the server refuses is named when all others are done. A server that is at fault itself
ends the work: whether it is shows in a request with one harmless word.
"""

from __future__ import annotations

import threading
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rag_assets.contracts.embedder import EmbeddingWindow, gathered
from rag_assets.models.minilm.tokenizer import SPECIAL_TOKENS
from rag_assets.models.model_files import ModelError
from rag_assets.models.openai_compat.client import ModelClient
from rag_assets.models.openai_compat.endpoint import ServerEndpoint
from rag_assets.models.openai_compat.faults import Fault, FaultCode, Retries
from rag_assets.models.openai_compat.responses import Reply, ReplyLimits, read_vectors
from rag_assets.models.openai_compat.token_counting import TokenCounter, token_counter, well_formed
from rag_assets.models.openai_compat.usage import EmbeddingUsage, UsageMeter
from rag_assets.models.pooling import parts_of, pooled

if TYPE_CHECKING:
    import numpy as np
    import openai
    from numpy.typing import NDArray

    from rag_assets.settings import EmbedderSettings

    Vectors = NDArray[np.float32]

SECTION = "embedder"
KEY_VARIABLE = "RAG_ASSETS_EMBEDDINGS_API_KEY"
PROVIDER = "openai-compatible"

_BYTES_PER_NUMBER = 40
"""Seventeen digits with sign, exponent and the blanks of an indented list."""

_USUAL_DIMENSION = 8_192
"""No known model has more. Where a server has fewer or more than was asked for, the message should say how many."""

_BYTES_PER_REPLY = 1 << 16
"""Of what is no number: names, indexes, usage, or an error text."""

_MAX_REPLY_BYTES = 64 << 20
"""2,048 texts of 1,024 dimensions, or 512 of 4,096, at about 25 bytes a number."""

_LONGEST_WAIT_SECONDS = 120.0
"""Limits per minute end within it; a server that asks for more is out of quota, and a build does not wait for that."""

ATTEMPTS = 6
"""Of a batch, with 31 s of waiting between them at least."""

ATTEMPTS_OF_A_PART = 2
"""Of a half, a single text or the test word: the batch they are from has been tried long enough."""

_ATTEMPTS_IN_TIME = 2
"""Of a request that runs out of time: it will take as long again, and a smaller one may not."""

_ABOUT_THE_TEXTS = frozenset(
    {FaultCode.REJECTED, FaultCode.TOO_LARGE, FaultCode.MALFORMED, FaultCode.SERVER_ERROR, FaultCode.TIMEOUT}
)
"""Faults that fewer or other texts may not have: too long, refused, or more than the server can do in time."""

_PERHAPS_THE_SERVER = frozenset({FaultCode.SERVER_ERROR, FaultCode.TIMEOUT})
_TEST_WORD = "word"
_SHOWN_REFUSALS = 5
_SHOWN_CHARACTERS = 160


class EndpointError(ModelError):
    """The embedding server gives no vectors; the text says why and what to do."""


@dataclass(frozen=True, slots=True)
class RefusedText:
    """A text that has no vector, by its row, and the server's reason."""

    row: int
    reason: str


class TextsRefused(EndpointError):
    """The server refuses some texts; all others have been yielded. `refused` has them in order of their rows."""

    def __init__(self, refused: Sequence[RefusedText], texts: Sequence[str]) -> None:
        self.refused = tuple(refused)
        shown = "; ".join(
            f"{' '.join(texts[item.row].split())[:_SHOWN_CHARACTERS]!r}: {item.reason}"
            for item in self.refused[:_SHOWN_REFUSALS]
        )
        super().__init__(
            f"the embedding server refuses {len(self.refused)} of {len(texts)} texts ({shown}); if they are too long "
            f"for its model, lower {SECTION}.max_tokens, else exclude their files; the vectors of all others are kept"
        )


def endpoint_model_id(settings: EmbedderSettings) -> str:
    """`openai-compatible/text-embedding-3-small@1536`: what vectors are kept by. Where the server is does not matter.

    Without a configured dimension it is that of the server's model, and the id ends with the model's name.
    """
    dimension = "" if settings.dimension is None else f"@{settings.dimension}"
    return f"{PROVIDER}/{settings.model}{dimension}"


def endpoint_window(settings: EmbedderSettings) -> EmbeddingWindow:
    """The window of the settings; asks nobody. Raises TokenizerMissing."""
    return EmbeddingWindow(endpoint_model_id(settings), settings.max_tokens, token_counter(settings.tokenizer))


class EndpointEmbedder:
    """Texts → unit vectors. Safe to use from several threads."""

    is_instant = False
    may_be_zero = False

    def __init__(
        self, client: ModelClient, settings: EmbedderSettings, count: TokenCounter, *, dimension: int | None
    ) -> None:
        self._client = client
        self._settings = settings
        self._count = count
        self._dimension = dimension
        self._meter = UsageMeter(settings.price)
        self._retries = Retries(_LONGEST_WAIT_SECONDS)

    @classmethod
    def open(cls, settings: EmbedderSettings, environment: Mapping[str, str] | None = None) -> EndpointEmbedder:
        """For building an index: patient. Makes no request. Raises ConfigError for a key that cannot be sent, and
        TokenizerMissing."""
        return cls._open(settings, environment, "timeout_seconds", settings.dimension)

    @classmethod
    def for_questions(
        cls, settings: EmbedderSettings, dimension: int, environment: Mapping[str, str] | None = None
    ) -> EndpointEmbedder:
        """For `embed_question` on an index of that dimension: somebody waits. Raises as `open`."""
        return cls._open(settings, environment, "query_timeout_seconds", dimension)

    @classmethod
    def _open(
        cls, settings: EmbedderSettings, environment: Mapping[str, str] | None, seconds_key: str, dimension: int | None
    ) -> EndpointEmbedder:
        endpoint = ServerEndpoint.of(settings, SECTION, KEY_VARIABLE, environment, seconds_key)
        return cls(ModelClient(endpoint), settings, token_counter(settings.tokenizer), dimension=dimension)

    @property
    def model_id(self) -> str:
        return endpoint_model_id(self._settings)

    @property
    def dimension(self) -> int:
        """The configured one; else the server's, asked for with one word when it is first needed. Raises
        EndpointError."""
        if self._dimension is None:
            answer = self._ask([_TEST_WORD], ATTEMPTS, threading.Event())
            if isinstance(answer, Fault):
                raise _error(answer)
            self._dimension = int(answer.shape[1])
        return self._dimension

    def usage(self) -> EmbeddingUsage:
        return self._meter.of_embeddings()

    def embed_question(self, text: str) -> Vectors:
        """(dimension,) float32 of unit length from one request. Raises EndpointError at the first fault."""
        answer = self._ask([text], 1, threading.Event())
        checked = answer if isinstance(answer, Fault) else self._of_this_dimension(answer)
        if isinstance(checked, Fault):
            raise _error(checked)
        vector: Vectors = checked[0]
        return vector

    def embed(self, texts: Sequence[str]) -> Vectors:
        """(n, dimension) float32, unit length, in the order of `texts`. Raises EndpointError."""
        return gathered(self, texts)

    def embed_batches(self, texts: Sequence[str]) -> Iterator[tuple[list[int], Vectors]]:
        """Yields (row numbers in `texts`, their vectors) as replies arrive, every row once, in any order. The vector of
        a text above the window is that of its parts.

        Raises EndpointError when the server is of no use, after the replies that are on their way; TextsRefused at
        the end where it is single texts. Closing the iterator early stops the work.
        """
        room = self._settings.max_tokens - SPECIAL_TOKENS
        parts = [parts_of(text, room, self._count) for text in texts]
        owners = [row for row, found in enumerate(parts) for _ in found]
        made: dict[int, Vectors] = {}
        try:
            for rows, vectors in self._embed_parts([part for found in parts for part in found]):
                made |= zip(rows, vectors, strict=True)
                yield from _whole(made, {owners[row] for row in rows}, owners)
        except TextsRefused as error:
            raise TextsRefused([RefusedText(owners[item.row], item.reason) for item in error.refused], texts) from None

    def _embed_parts(self, texts: Sequence[str]) -> Iterator[tuple[list[int], Vectors]]:
        if not texts:
            return
        settings, _ = self._settings, self.dimension  # known before threads compare with it
        waiting = deque(batches_of(self._count(texts), settings.batch_texts, settings.batch_tokens))
        running: dict[Future[Vectors | _Failure], TextBatch] = {}
        refused: list[RefusedText] = []
        fault: Fault | None = None
        stop = threading.Event()
        pool = ThreadPoolExecutor(settings.max_concurrency, thread_name_prefix="embed-remote")
        try:
            while waiting or running:
                while waiting and len(running) < settings.max_concurrency:
                    batch = waiting.popleft()
                    running[pool.submit(self._attempt, [texts[row] for row in batch.rows], batch.whole, stop)] = batch
                for done in wait(running, return_when=FIRST_COMPLETED).done:
                    batch, outcome = running.pop(done), done.result()
                    if not isinstance(outcome, _Failure):
                        yield list(batch.rows), outcome
                    elif outcome.of_server:
                        fault = fault or outcome.fault
                        waiting.clear()
                        stop.set()
                    elif len(batch.rows) == 1:
                        refused.append(RefusedText(batch.rows[0], outcome.fault.text))
                    elif fault is None:
                        waiting.extendleft(reversed(batch.halves()))
        finally:
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)  # a reply nobody waits for any more is not waited for
        if fault is not None:
            raise _error(fault)
        if refused:
            raise TextsRefused(sorted(refused, key=lambda item: item.row), texts)

    def _attempt(self, texts: list[str], whole: bool, stop: threading.Event) -> Vectors | _Failure:
        """The vectors of one batch, or whose fault it is that there are none."""
        answer = self._ask(texts, ATTEMPTS if whole else ATTEMPTS_OF_A_PART, stop)
        if not isinstance(answer, Fault):
            checked = self._of_this_dimension(answer)
            return _Failure(checked, of_server=True) if isinstance(checked, Fault) else checked
        if answer.code not in _ABOUT_THE_TEXTS:
            return _Failure(answer, of_server=True)
        if whole or answer.code in _PERHAPS_THE_SERVER:
            test = self._ask([_TEST_WORD], ATTEMPTS_OF_A_PART, stop)
            if isinstance(test, Fault):  # what was said of the texts says more than what was said of the word
                return _Failure(answer, of_server=True)
        return _Failure(answer, of_server=False)

    def _ask(self, texts: Sequence[str], attempts: int, stop: threading.Event) -> Vectors | Fault:
        """One vector per text, or why not after at most `attempts` requests; `stop` ends waiting early."""
        request: dict[str, Any] = {"model": self._settings.model, "input": [well_formed(text) for text in texts]}
        if self._settings.dimension is not None:
            request["dimensions"] = self._settings.dimension

        def send(attempt: int) -> Vectors | Fault:
            if stop.is_set():
                return Fault(FaultCode.STOPPED, "stopped before it was asked")
            outcome = self._send(request, len(texts), retry=attempt > 0)
            if isinstance(outcome, Fault):
                return outcome
            vectors, tokens = outcome
            self._meter.add(prompt=sum(self._count(texts)) if tokens is None else tokens, texts=len(texts))
            return vectors

        return self._retries.run(send, attempts, timeouts=_ATTEMPTS_IN_TIME, wait=stop.wait)

    def _send(self, request: dict[str, Any], texts: int, *, retry: bool) -> tuple[Vectors, int | None] | Fault:
        endpoint = self._client.endpoint

        def exchange(api: openai.OpenAI) -> tuple[Vectors, int | None] | Fault:
            raw = api.embeddings.with_raw_response.create(**request, encoding_format="float")
            reply = Reply(raw.headers.get("content-type", ""), raw.content)
            return read_vectors(reply, texts, endpoint.section, endpoint.key)

        numbers = texts * max(self._settings.dimension or 0, _USUAL_DIMENSION)
        most = min(_BYTES_PER_REPLY + numbers * _BYTES_PER_NUMBER, _MAX_REPLY_BYTES)
        self._meter.take_call(retry=retry)
        return self._client.ask(exchange, ReplyLimits(most), self._meter)

    def _of_this_dimension(self, vectors: Vectors) -> Vectors | Fault:
        found, wanted = int(vectors.shape[1]), self.dimension
        if found == wanted:
            return vectors
        return Fault(
            FaultCode.MALFORMED,
            f"{self.model_id} returned {found} dimensions instead of {wanted}: another model answers, or the server "
            f"does not take `dimensions`; set {SECTION}.model or {SECTION}.dimension, then run: rag-assets index",
        )


def _whole(
    made: dict[int, Vectors], among: Collection[int], owners: Sequence[int]
) -> Iterator[tuple[list[int], Vectors]]:
    """The texts `among` whose parts are all there, with their vectors; takes these parts out of `made`. `owners` are
    the texts of the parts, in order."""
    import numpy as np

    rows, vectors = [], []
    for text in sorted(among):
        parts = range(bisect_left(owners, text), bisect_right(owners, text))
        if all(part in made for part in parts):
            rows.append(text)
            vectors.append(pooled(np.stack([made.pop(part) for part in parts])))
    if rows:
        yield rows, np.stack(vectors)


@dataclass(frozen=True, slots=True)
class TextBatch:
    """Rows of one request. `whole` is false for a part of one that failed."""

    rows: tuple[int, ...]
    whole: bool = True

    def halves(self) -> tuple[TextBatch, TextBatch]:
        middle = len(self.rows) // 2
        return TextBatch(self.rows[:middle], whole=False), TextBatch(self.rows[middle:], whole=False)


def batches_of(tokens: Sequence[int], max_texts: int, max_tokens: int) -> Iterator[TextBatch]:
    """Rows 0..n-1, of these token counts, in order: at most `max_texts` and `max_tokens` a batch. A text that is
    longer than `max_tokens` is alone. Pure."""
    rows: list[int] = []
    size = 0
    for row, count in enumerate(tokens):
        if rows and (len(rows) == max_texts or size + count > max_tokens):
            yield TextBatch(tuple(rows))
            rows, size = [], 0
        rows.append(row)
        size += count
    if rows:
        yield TextBatch(tuple(rows))


@dataclass(frozen=True, slots=True)
class _Failure:
    fault: Fault
    of_server: bool


def _error(fault: Fault) -> EndpointError:
    return EndpointError(f"embedding server: {fault.text}")
