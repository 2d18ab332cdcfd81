"""What the calls chained to a mapped endpoint or a group say: names, tags, responses, authorization."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rag_assets.languages.csharp.facts.expressions import literal
from rag_assets.languages.csharp.web.authorization import authorization_of, required_by_call
from rag_assets.languages.csharp.web.call_syntax import Call, CodeTree
from rag_assets.languages.csharp.web.endpoint_model import Authorization, EndpointResponse
from rag_assets.languages.csharp.web.responses import status_of

_METADATA_CALL_NAMES = (
    "WithName WithTags WithSummary WithDescription WithOpenApi WithMetadata WithDisplayName WithGroupName "
    "Produces ProducesProblem ProducesValidationProblem Accepts RequireAuthorization AllowAnonymous RequireCors "
    "RequireHost AddEndpointFilter AddEndpointFilterFactory RequireRateLimiting DisableAntiforgery CacheOutput "
    "HasApiVersion ExcludeFromDescription MapToApiVersion WithApiVersionSet"
)
METADATA_CALLS = frozenset(_METADATA_CALL_NAMES.split())
"""Calls that say something of endpoints and return what they are called on."""


@dataclass(frozen=True, slots=True)
class Metadata:
    """What is known so far; a group hands it on to its endpoints."""

    name: str = ""
    summary: str = ""
    description: str = ""
    tags: tuple[str, ...] = ()
    consumes: tuple[str, ...] = ()
    produces: tuple[str, ...] = ()
    responses: tuple[EndpointResponse, ...] = ()
    authorizations: tuple[Authorization, ...] = ()


def with_call(known: Metadata, tree: CodeTree, call: Call) -> Metadata:
    """`known` and what `call` adds to it; calls that say nothing leave it as it is."""
    if call.name not in METADATA_CALLS:
        return known
    texts = tuple(tree.text(argument) for argument in (*call.arguments, *call.named.values()))
    strings = tuple(value for text in texts if (value := literal(text)) is not None)
    first = strings[0] if strings else ""
    statuses = [status for text in texts if (status := status_of(text))]
    match call.name:
        case "WithName":
            return replace(known, name=first)
        case "WithSummary":
            return replace(known, summary=" ".join(first.split()))
        case "WithDescription":
            return replace(known, description=first)
        case "WithTags":
            return replace(known, tags=tuple(dict.fromkeys((*known.tags, *strings))))
        case "Accepts":
            return replace(known, consumes=(*known.consumes, *strings))
        case "Produces" | "ProducesProblem" | "ProducesValidationProblem":
            default = 400 if call.name == "ProducesValidationProblem" else 200
            type_name = call.type_argument or ("ProblemDetails" if call.name != "Produces" else "")
            response = EndpointResponse(statuses[0] if statuses else default, type_name)
            return replace(known, responses=(*known.responses, response), produces=(*known.produces, *strings))
        case "AllowAnonymous":
            return replace(known, authorizations=(*known.authorizations, authorization_of(["AllowAnonymous"])))
        case "RequireAuthorization":
            return replace(known, authorizations=(*known.authorizations, required_by_call(texts)))
        case _:
            return known
