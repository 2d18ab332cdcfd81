"""The responses of an endpoint: what it declares, what its return type and its statements give away."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from rag_assets.languages.csharp.binder.type_syntax import attribute_name
from rag_assets.languages.csharp.facts.expressions import arguments_of, literal
from rag_assets.languages.csharp.facts.type_names import TypeName, parse_type
from rag_assets.languages.csharp.web.endpoint_model import EndpointEvidence, EndpointResponse

_RESULT_CODES: dict[int, str] = {
    200: "Ok View PartialView ViewComponent Json Content File PhysicalFile Page Partial Text Bytes Stream FileStream "
    "FileContent VirtualFile PhysicalFileHttp Utf8Content ContentHttp JsonHttp RazorComponent ServerSentEvents",
    201: "Created CreatedAtAction CreatedAtRoute",
    202: "Accepted AcceptedAtAction AcceptedAtRoute",
    204: "NoContent",
    301: "RedirectPermanent RedirectToActionPermanent RedirectToPagePermanent",
    302: "Redirect LocalRedirect RedirectToAction RedirectToRoute RedirectToPage",
    304: "NotModified",
    400: "BadRequest ValidationProblem BadRequestErrorMessage InvalidModelState",
    401: "Unauthorized Challenge",
    403: "Forbid",
    404: "NotFound",
    409: "Conflict",
    422: "UnprocessableEntity",
    500: "InternalServerError",
}
_CODE_OF = {name: code for code, names in _RESULT_CODES.items() for name in names.split()}
_PROBLEM = "Problem"  # 500 unless the call says otherwise

_NAMES = "|".join([*_CODE_OF, _PROBLEM])
_RESULT_CALL = re.compile(
    rf"(?:(?<![\w.])(?<!new )|\b(?:Typed)?Results\s*\.\s*|\b(?:this|base)\s*\.\s*)({_NAMES})"
    r"\s*(?:<[^<>()]*+(?:<[^<>()]*+>[^<>()]*+)*+>)?\s*\("
)
_RESULT_NAME = re.compile(rf"(?:{_NAMES})\s*[<(]")
"""A part of each `_RESULT_CALL` that begins with letters, which is fast to look for."""
_STATUS = "tatusCode"
"""A part of each `_STATUS_CODE`."""
_STATUS_CODE = re.compile(
    r"\bStatusCodes\s*\.\s*Status(\d{3})|\bstatusCode\s*:\s*(\d{3})\b|\bStatusCode\s*\(\s*(\d{3})\b"
    r"|\bHttpStatusCode\s*\.\s*(\w+)"
)
_HTTP_STATUS_NAMES = {
    "OK": 200,
    "Created": 201,
    "Accepted": 202,
    "NoContent": 204,
    "Redirect": 302,
    "NotModified": 304,
    "BadRequest": 400,
    "Unauthorized": 401,
    "PaymentRequired": 402,
    "Forbidden": 403,
    "NotFound": 404,
    "Conflict": 409,
    "Gone": 410,
    "PreconditionFailed": 412,
    "UnsupportedMediaType": 415,
    "UnprocessableEntity": 422,
    "TooManyRequests": 429,
    "InternalServerError": 500,
    "NotImplemented": 501,
    "BadGateway": 502,
    "ServiceUnavailable": 503,
}
_UNTYPED_NAMES = (
    "IActionResult ActionResult IResult HttpResponseMessage IHttpActionResult void object Task ValueTask var "
    "EmptyResult EmptyHttpResult StatusCodeResult StatusCodeHttpResult ObjectResult"
)
_UNTYPED = frozenset(_UNTYPED_NAMES.split())
"""Return types that tell neither a status nor a body."""

_PLAIN_RESULT_NAMES = (
    "Ok Created CreatedAtRoute Accepted AcceptedAtRoute NoContent BadRequest ValidationProblem NotFound Conflict "
    "UnprocessableEntity InternalServerError"
)
_PLAIN_RESULT_TYPES = frozenset(_PLAIN_RESULT_NAMES.split())
"""Types of `Microsoft.AspNetCore.Http.HttpResults` that are not named `…Result`."""

_EMPTY = frozenset({"void", "Task", "ValueTask"})
_ASYNC = frozenset({"Task", "ValueTask", "ActionResult"})
_ATTRIBUTES = frozenset({"ProducesResponseType", "SwaggerResponse", "ProducesDefaultResponseType", "Produces"})


def declared_by_attributes(attributes: Iterable[str]) -> tuple[EndpointResponse, ...]:
    """`[ProducesResponseType<T>(200)]`, `[SwaggerResponse(404, "…", typeof(T))]` and their like, in order."""
    found: list[EndpointResponse] = []
    for attribute in attributes:
        name = attribute_name(attribute)
        if name not in _ATTRIBUTES:
            continue
        arguments = arguments_of(attribute)
        values = (*arguments.positional, *arguments.named.values())
        type_name = _type_argument(attribute) or next(filter(None, map(_type_of, values)), "")
        statuses = [status for value in values if (status := status_of(value))]
        if name == "Produces":
            found += [EndpointResponse(200, type_name)] if type_name else []
        elif name == "ProducesDefaultResponseType":
            found.append(EndpointResponse(0, type_name))
        elif statuses:
            doc = next((text for value in values if (text := literal(value))), "")
            found.append(EndpointResponse(statuses[0], type_name, doc if name == "SwaggerResponse" else ""))
    return tuple(found)


def content_types(attributes: Iterable[str], wanted: str) -> tuple[str, ...]:
    """The media types of `[Produces("…")]` or `[Consumes("…")]`."""
    texts = (
        literal(value)
        for attribute in attributes
        if attribute_name(attribute) == wanted
        for value in arguments_of(attribute).positional
    )
    return tuple(dict.fromkeys(text for text in texts if text))


def status_of(expression: str) -> int:
    """404 of `404` and `StatusCodes.Status404NotFound`; 0 for anything else."""
    if expression.isdigit() and len(expression) == 3:
        return int(expression)
    found = _STATUS_CODE.search(expression)
    return _status(found) if found else 0


def by_return_type(text: str, status: int = 200, empty_status: int = 200) -> tuple[EndpointResponse, ...]:
    """What a return type says: `Results<Ok<T>, NotFound>`, `ActionResult<T>`, `T`; nothing for `IActionResult`.

    `status` is that of a value, `empty_status` that of nothing (`void`, `Task`).
    """
    if text in _EMPTY:
        return (EndpointResponse(empty_status, evidence=EndpointEvidence.RETURN_TYPE),)
    found = parse_type(text)
    while found.name in _ASYNC and found.arguments:
        found = found.arguments[0]
    if found.name == "Results" and found.arguments:
        return tuple(response for argument in found.arguments if (response := _typed_result(argument)))
    typed = _typed_result(found)
    if typed:
        return (typed,)
    if found.name in _UNTYPED or not found.name:
        return ()
    return (EndpointResponse(status, str(found), evidence=EndpointEvidence.RETURN_TYPE),)


def success_status(declared: Sequence[EndpointResponse]) -> int:
    """Which status the return type belongs to: the only declared success (so does the framework's API explorer)."""
    successes = [response.status for response in declared if 200 <= response.status < 300]
    return successes[0] if len(successes) == 1 else 200


def by_statements(code: str) -> tuple[EndpointResponse, ...]:
    """The status codes of the results that a body makes; `code` without strings and comments. In ascending order."""
    explicit = {_status(found) for found in _STATUS_CODE.finditer(code)} - {0} if _STATUS in code else set()
    names = {found[1] for found in _RESULT_CALL.finditer(code)} if _RESULT_NAME.search(code) else set()
    statuses = explicit | {_CODE_OF[name] for name in names if name != _PROBLEM}
    if _PROBLEM in names and not explicit:
        statuses.add(500)
    return tuple(EndpointResponse(status, evidence=EndpointEvidence.STATEMENT) for status in sorted(statuses))


def merged(sources: Iterable[Iterable[EndpointResponse]], docs: Mapping[int, str]) -> tuple[EndpointResponse, ...]:
    """One response per status, the firmest source first; a later one only adds what is missing. By status."""
    found: dict[int, EndpointResponse] = {}
    for responses in sources:
        for response in responses:
            known = found.get(response.status)
            if known is None:
                found[response.status] = response
            elif not known.type and response.type:
                found[response.status] = EndpointResponse(known.status, response.type, known.doc, known.evidence)
    for status, doc in docs.items():
        known = found.get(status)
        if known is None:
            found[status] = EndpointResponse(status, "", doc, EndpointEvidence.DOCUMENTED)
        elif doc:
            found[status] = EndpointResponse(status, known.type, doc, known.evidence)
    return tuple(found[status] for status in sorted(found, key=lambda status: status or 1_000))


def _typed_result(found: TypeName) -> EndpointResponse | None:
    """`Ok<T>`, `NotFound`, `FileStreamHttpResult`, `ViewResult`: a result type that names its status."""
    name = found.name
    if name in _UNTYPED or not (name in _PLAIN_RESULT_TYPES or name.endswith("Result")):
        return None
    name = name.removesuffix("Result").removesuffix("Http").removesuffix("Object")
    code = 500 if name == _PROBLEM else _CODE_OF.get(name, 0)
    return EndpointResponse(code, str(found.arguments[0]) if found.arguments else "") if code else None


def _type_argument(attribute: str) -> str:
    head = attribute.partition("(")[0].strip()
    _, bracket, rest = head.partition("<")
    return rest.rstrip().removesuffix(">") if bracket else ""


def _type_of(value: str) -> str:
    text = value.strip()
    if not text.startswith("typeof"):
        return ""
    type_name = text.removeprefix("typeof").strip().removeprefix("(").removesuffix(")").strip()
    return "" if type_name == "void" else type_name


def _status(found: re.Match[str]) -> int:
    name = found[4]
    if name:
        return _HTTP_STATUS_NAMES.get(name, 0)
    return int(found[1] or found[2] or found[3])
