"""The routes for programs: every operation with the arguments of its tool, as query parameters or as a JSON body."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from functools import partial
from typing import Any

import anyio
import anyio.from_thread
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from rag_assets.errors import (
    FileSkipped,
    MissingCommit,
    MissingRef,
    NoWorkTree,
    PlaceError,
    QueryError,
    RagAssetsError,
    WrongUsage,
)
from rag_assets.evaluation.report import NothingMeasured
from rag_assets.graph.lookup import NotFound
from rag_assets.index.artifacts import NotIndexed
from rag_assets.index.generations import GenerationError
from rag_assets.index.layout import LabelError
from rag_assets.serving.access import SCOPE_KEY, Caller
from rag_assets.serving.budget import shown
from rag_assets.serving.http.guards import DEFECT, ID_KEY, STILL_KEY, BodyTooLarge, refused
from rag_assets.serving.local_paths import unreadable
from rag_assets.serving.operations import OperationReply, Operations
from rag_assets.serving.operations.ask import AskReply
from rag_assets.serving.operations.status import TOKENS
from rag_assets.serving.requests import (
    OPERATIONS,
    AskRequest,
    Operation,
    Request,
    StatusRequest,
    WrongArguments,
    parsed,
    too_slow,
)

PREFIX = "/api/v1"
_log = logging.getLogger("rag_assets.serving.http")
_NOT_FOUND = (
    LabelError,
    PlaceError,
    NotFound,
    NotIndexed,
    GenerationError,
    NothingMeasured,
    FileSkipped,
    MissingCommit,
    MissingRef,
    NoWorkTree,
)
_LISTS = frozenset({"paths", "kinds", "only", "label"})
_STREAM = "text/event-stream"

Ask = Callable[[Callable[[str], None]], AskReply]


ROUTES = (*OPERATIONS, Operation("labels", StatusRequest, "The names of the indexes that the caller may see."))


def caller_of(request: HttpRequest) -> Caller:
    """Who asks, as the guards have found out."""
    found: Caller = request.scope[SCOPE_KEY].caller
    return found


class Api:
    """The routes on some operations. `seconds` is how long a request may take, `at_once` how many may work at the same
    time; others wait for their turn."""

    def __init__(self, operations: Operations, *, seconds: float, at_once: int) -> None:
        self._operations = operations
        self.seconds = seconds
        self._limiter = anyio.CapacityLimiter(at_once)

    def routes(self) -> list[Route]:
        return [Route(f"{PREFIX}/{one.name}", self._endpoint(one), methods=["GET", "POST"]) for one in ROUTES]

    def _endpoint(self, operation: Operation) -> Callable[[HttpRequest], Awaitable[Response]]:
        async def endpoint(request: HttpRequest) -> Response:
            try:
                asked = parsed(operation.request, await arguments_of(request))
                if isinstance(asked, AskRequest) and _STREAM in request.headers.get("accept", ""):
                    ask = partial(self._operations.ask, asked, caller_of(request))
                    return self.stream(request, ask, AskReply.as_object)
                if operation.name == "labels":
                    labels = await self.run(self._labels, caller_of(request))
                    return JSONResponse({"labels": labels})
                is_text = "text/plain" in request.headers.get("accept", "")
                response: Response = await self.run(self._answer, operation, asked, caller_of(request), is_text)
                return response
            except TimeoutError:
                return refused(request.scope, 504, "too_slow", too_slow(self.seconds))
            except (RagAssetsError, OSError) as error:
                return refused(request.scope, *status_of(error))
            except BodyTooLarge:
                raise
            except Exception:
                _log.exception("%s failed in request %s", operation.name, request.scope.get(ID_KEY))
                return refused(request.scope, 500, "defect", DEFECT)

        return endpoint

    def _answer(self, operation: Operation, asked: Request, caller: Caller, is_text: bool) -> Response:
        reply: OperationReply = getattr(self._operations, operation.name)(asked, caller)
        if is_text:
            budget = getattr(asked, "max_tokens", TOKENS)
            return PlainTextResponse(shown(reply.text(budget), budget))
        return JSONResponse(reply.as_object())

    def _labels(self, caller: Caller) -> list[str]:
        return list(self._operations.pool.manifests(caller))

    async def run(self, work: Callable[..., Any], *arguments: Any) -> Any:
        """Raises TimeoutError; the thread ends by itself then."""
        with anyio.fail_after(self.seconds):
            return await anyio.to_thread.run_sync(work, *arguments, abandon_on_cancel=True, limiter=self._limiter)

    def stream(
        self, request: HttpRequest, ask: Ask, as_object: Callable[[AskReply], Mapping[str, Any]]
    ) -> EventSourceResponse:
        """Events `text` with what a model writes, which nobody has checked yet; then `answer` with the reply as an
        object, or `error`, also where the token of the request is revoked meanwhile. `ask` is told who listens."""
        return EventSourceResponse(_while_allowed(self._events(ask, as_object), request))

    async def _events(
        self, ask: Ask, as_object: Callable[[AskReply], Mapping[str, Any]]
    ) -> AsyncIterator[ServerSentEvent]:
        send, receive = anyio.create_memory_object_stream[ServerSentEvent](100)
        is_left = threading.Event()

        def hear(text: str) -> None:
            if is_left.is_set():
                raise _Left
            anyio.from_thread.run(send.send, ServerSentEvent(json.dumps({"text": text}), event="text"))

        async def work() -> None:
            async with send:
                try:
                    reply: AskReply = await self.run(ask, hear)
                    body = json.dumps(await self.run(as_object, reply), ensure_ascii=False)
                    await send.send(ServerSentEvent(body, event="answer"))
                except TimeoutError:
                    await send.send(_problem(too_slow(self.seconds)))
                except (RagAssetsError, OSError) as error:
                    await send.send(_problem(status_of(error)[2]))
                except Exception:  # its text may hold what the caller may not see
                    if not is_left.is_set():
                        _log.exception("an answer failed")
                        await send.send(_problem("the server failed; its log says where"))

        try:
            async with anyio.create_task_group() as group:
                group.start_soon(work)
                async with receive:
                    async for event in receive:
                        yield event
        finally:
            is_left.set()


async def _while_allowed(
    events: AsyncIterator[ServerSentEvent], request: HttpRequest
) -> AsyncIterator[ServerSentEvent]:
    is_allowed: Callable[[], Awaitable[bool]] | None = request.scope.get(STILL_KEY)
    is_over = False
    async for event in events:  # to their end: what makes them must not be left in the middle by another task
        if is_over:
            continue
        if is_allowed is not None and not await is_allowed():
            event = _problem("this token is revoked or expired")
            is_over = True
        yield event


def _problem(message: str) -> ServerSentEvent:
    return ServerSentEvent(json.dumps({"message": message}), event="error")


class _Left(Exception):
    """The client has gone; what a model goes on writing is for nobody."""


async def arguments_of(request: HttpRequest) -> Mapping[str, Any]:
    """The arguments in the query or in the JSON body. Raises WrongArguments."""
    if request.method != "POST":
        found: dict[str, Any] = {}
        for name in request.query_params:
            values = request.query_params.getlist(name)
            found[name] = values if len(values) > 1 or (name in _LISTS and name != "label") else values[0]
        return found
    kind = request.headers.get("content-type", "").partition(";")[0].strip()
    if kind != "application/json":
        raise WrongArguments(f"the body must be application/json, not {kind or 'of no type'}")
    try:
        body = json.loads(await request.body() or b"{}")
    except (ValueError, RecursionError) as error:
        raise WrongArguments(f"the body is not JSON: {error}") from None
    if not isinstance(body, dict):
        raise WrongArguments("the body must be a JSON object with the arguments")
    return body


def status_of(error: RagAssetsError | OSError) -> tuple[int, str, str]:
    """The status, the type and the text of what is wrong, as the caller can repair it."""
    if isinstance(error, WrongUsage):
        return 400, "wrong_arguments", str(error)
    if isinstance(error, _NOT_FOUND) or type(error) is QueryError:
        return 404, "not_found", str(error)
    if isinstance(error, OSError):
        return 503, "unavailable", unreadable(error)
    return 500, "failed", str(error)
