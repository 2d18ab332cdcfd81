"""The page: search, ask, graph and index for people, rendered here; a small script makes it quicker, nothing needs it.

Whatever it shows comes through `Operations` with the caller of the request, so that roles and tenants hold as they do
for programs. What a hit, an answer or a node is found by is in its address.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Any
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from rag_assets.errors import RagAssetsError
from rag_assets.printable import printable
from rag_assets.serving.http.api import Api, status_of
from rag_assets.serving.http.guards import DEFECT, ID_KEY, TOKEN_COOKIE, FindsCaller
from rag_assets.serving.operations import Operations
from rag_assets.serving.operations.ask import AskReply
from rag_assets.serving.page.ask_view import ask_of, ask_page, footnoted
from rag_assets.serving.page.change_view import compare_page, impact_page
from rag_assets.serving.page.graph_view import graph_page
from rag_assets.serving.page.index_view import eval_page, index_page
from rag_assets.serving.page.rendering import STATIC, rendered
from rag_assets.serving.page.search_view import search_page, source_page
from rag_assets.serving.page.viewing import View, candidates
from rag_assets.serving.requests import too_slow

_log = logging.getLogger("rag_assets.serving.page")
SIGN_IN, SIGN_OUT = "/sign-in", "/sign-out"
_COOKIE_SECONDS = 30 * 24 * 3600
_HEADERS = {"cache-control": "private, no-cache", "referrer-policy": "same-origin"}
"""The origin of a form that is posted is `null` where no referrer is sent, and the guards refuse that."""

_Show = Callable[[View], str]


class _Static(StaticFiles):
    """Files whose address changes with them."""

    def file_response(self, *arguments: Any, **named: Any) -> Response:
        answer = super().file_response(*arguments, **named)
        answer.headers["cache-control"] = "public, max-age=31536000, immutable"
        return answer


class WebPage:
    """The routes for browsers. `find` says whose token somebody signs in with."""

    open_paths: Collection[str] = frozenset({SIGN_IN, SIGN_OUT})

    def __init__(self, operations: Operations, find: FindsCaller) -> None:
        self._operations = operations
        self._find = find

    def routes(self, api: Api) -> Sequence[BaseRoute]:
        shown: dict[str, _Show] = {
            "/": search_page,
            "/source": source_page,
            "/ask": ask_page,
            "/graph": graph_page,
            "/index": index_page,
            "/eval": eval_page,
            "/impact": impact_page,
            "/compare": compare_page,
        }
        return [
            *(Route(path, self._endpoint(api, show), methods=["GET"]) for path, show in shown.items()),
            Route("/ask/stream", self._streamed(api), methods=["GET"]),
            Route(SIGN_IN, self._signed_in, methods=["POST"]),
            Route(SIGN_OUT, self._signed_out, methods=["POST"]),
            Mount("/static", _Static(directory=STATIC)),
        ]

    def sign_in(self, request: Request, problem: str, *, following: str = "") -> Response:
        """Asks for a token, which a browser keeps in a cookie that no script reads. One that follows a link from
        another site does not send it, so it is asked to open the address once more by itself."""
        address = following or f"{request.url.path}?{request.url.query}".rstrip("?")
        again = not problem and request.headers.get("sec-fetch-site") == "cross-site"
        return self._html(rendered("sign_in.html", problem=problem, following=address, again=again), 401)

    def error(self, request: Request, status: int, message: str) -> Response:
        view = View(self._operations, request)
        said, links = candidates(request, message, view.labels)
        title = "Which one?" if links else "Not found" if status == 404 else "This did not work"
        identifier = request.scope.get(ID_KEY, "")
        page = view.rendered("error.html", title=title, status=status, message=said, links=links, request_id=identifier)
        return self._html(page, status)

    def _endpoint(self, api: Api, show: _Show) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            try:
                return self._html(await api.run(show, View(self._operations, request)))
            except TimeoutError:
                return self.error(request, 504, too_slow(api.seconds))
            except (RagAssetsError, OSError) as error:
                status, _, said = status_of(error)
                return self.error(request, status, said)
            except Exception:
                identifier = request.scope.get(ID_KEY)
                _log.exception("%s failed in request %s", request.url.path, identifier)
                return self.error(request, 500, DEFECT)

        return endpoint

    def _streamed(self, api: Api) -> Callable[[Request], Awaitable[Response]]:
        """What a model writes as it comes, then the answer as it stands on the page."""

        async def endpoint(request: Request) -> Response:
            view = View(self._operations, request)
            try:
                asked, session = ask_of(view)
            except RagAssetsError as error:
                return self.error(request, *status_of(error)[::2])

            def ask(hear: Callable[[str], None]) -> AskReply:
                return self._operations.ask(asked, view.caller, lambda text: hear(printable(text)), session=session)

            def as_object(reply: AskReply) -> dict[str, Any]:
                return {"html": view.rendered("answer.html", title="", **footnoted(reply, session))}

            return api.stream(request, ask, as_object)

        return endpoint

    async def _signed_in(self, request: Request) -> Response:
        form = parse_qs((await request.body()).decode("utf-8", "replace"))
        token, following = (form.get(name, [""])[0].strip() for name in ("token", "following"))
        following = following if _is_here(following) else "/"
        if not token.isascii() or await self._find(token) is None:
            return self.sign_in(request, "this token is unknown, revoked or expired", following=following)
        answer = RedirectResponse(following, 303, _HEADERS)
        answer.set_cookie(
            TOKEN_COOKIE,
            token,
            max_age=_COOKIE_SECONDS,
            httponly=True,
            samesite="strict",
            secure=request.url.scheme == "https",
        )
        return answer

    async def _signed_out(self, request: Request) -> Response:
        """Also for a token that is revoked meanwhile."""
        answer = RedirectResponse("/", 303, _HEADERS)
        answer.delete_cookie(TOKEN_COOKIE, httponly=True, samesite="strict", secure=request.url.scheme == "https")
        return answer

    def _html(self, text: str, status: int = 200) -> Response:
        return HTMLResponse(text.encode("utf-8", "replace"), status, _HEADERS)


def _is_here(address: str) -> bool:
    """Whether an address is one of this server, however a browser reads it."""
    return address.startswith("/") and not address.startswith(("//", "/\\")) and address.isprintable()
