"""What a handler handles and answers: from its interfaces, else from the convention of its methods."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from rag_assets.contracts.segment import Member, Segment
from rag_assets.languages.csharp.facts.method_verbs import METHODS, MethodKind, method_kind
from rag_assets.languages.csharp.facts.type_names import TypeName, parse_type, unwrapped


class MessageFlavor(StrEnum):
    """What kind of message it is; OTHER where neither interface nor name says."""

    COMMAND = "Command"
    QUERY = "Query"
    NOTIFICATION = "Notification"
    MESSAGE = "Message"
    MIDDLEWARE = "Middleware"
    OTHER = ""


@dataclass(frozen=True, slots=True)
class HandledMessage:
    """One message type. `evidence` is the interface, or the method where only convention says so."""

    request: str
    response: str
    flavor: MessageFlavor
    evidence: str
    by_convention: bool = False


def handled_messages(segment: Segment) -> tuple[HandledMessage, ...]:
    """The messages of a handler class, interfaces first; conventions count only where no interface tells."""
    found = [message for base in segment.base_list if (message := _of_base(base, segment)) is not None]
    if not found:
        found = [message for member in segment.members if (message := _of_method(member)) is not None]
    return tuple({(message.request, message.response): message for message in reversed(found)}.values())[::-1]


def _of_base(base: str, segment: Segment) -> HandledMessage | None:
    interface = parse_type(base)
    if interface.name not in _INTERFACES or not interface.arguments:
        return None
    flavor = _INTERFACES[interface.name]
    request = interface.arguments[0]
    if request.name in segment.type_parameters:
        return None
    has_response = len(interface.arguments) > 1 and interface.name not in _WITHOUT_RESPONSE
    response = str(unwrapped(interface.arguments[1])) if has_response else ""
    if flavor is None:
        flavor = _by_name(request.name, has_response)
    return HandledMessage(str(request), response, flavor, " ".join(base.split()))


def _of_method(member: Member) -> HandledMessage | None:
    """`Handle(PlaceOrder command)`: the first parameter that is no plumbing is the message."""
    if member.kind not in METHODS or member.name not in _METHODS or "private" in member.modifiers:
        return None
    types = [parse_type(parameter.type) for parameter in member.parameters]
    if member.name in _INVOKES:
        if not types or types[0].name != "HttpContext":
            return None
        return HandledMessage("HttpContext", "", MessageFlavor.MIDDLEWARE, f"{member.name}(HttpContext)", True)
    request = next((_message_of(found) for found in types if found.name and found.name not in _PLUMBING), None)
    if request is None or not request.name[:1].isupper() or request.name in member.type_parameters:
        return None
    answer = unwrapped(parse_type(member.type))
    response = "" if answer.name in _NO_ANSWER else str(answer)
    flavor = _by_name(request.name, bool(response))
    return HandledMessage(str(request), response, flavor, f"{member.name}({request})", True)


def _message_of(found: TypeName) -> TypeName:
    """The message inside of the envelope that a framework hands it over in."""
    return found.arguments[0] if found.name in _ENVELOPES and found.arguments else found


def _by_name(request: str, has_response: bool) -> MessageFlavor:
    """By the convention of names: suffix first, then the verb, then whether something comes back."""
    for suffix, flavor in _SUFFIXES:
        if request.endswith(suffix):
            return flavor
    kind = method_kind(request)
    if kind is MethodKind.QUERY and has_response:
        return MessageFlavor.QUERY
    if kind in (MethodKind.CREATE, MethodKind.UPDATE, MethodKind.DELETE):
        return MessageFlavor.COMMAND
    return MessageFlavor.OTHER if has_response else MessageFlavor.MESSAGE


_INTERFACES: dict[str, MessageFlavor | None] = {
    "IRequestHandler": None,
    "IStreamRequestHandler": MessageFlavor.QUERY,
    "IAsyncRequestHandler": None,
    "RequestHandler": None,
    "AsyncRequestHandler": None,
    "ICommandHandler": MessageFlavor.COMMAND,
    "IAsyncCommandHandler": MessageFlavor.COMMAND,
    "IQueryHandler": MessageFlavor.QUERY,
    "IAsyncQueryHandler": MessageFlavor.QUERY,
    "INotificationHandler": MessageFlavor.NOTIFICATION,
    "IAsyncNotificationHandler": MessageFlavor.NOTIFICATION,
    "IDomainEventHandler": MessageFlavor.NOTIFICATION,
    "IEventHandler": MessageFlavor.NOTIFICATION,
    "ILocalEventHandler": MessageFlavor.NOTIFICATION,
    "IDistributedEventHandler": MessageFlavor.MESSAGE,
    "IHandleEvents": MessageFlavor.NOTIFICATION,
    "IIntegrationEventHandler": MessageFlavor.MESSAGE,
    "IEventConsumer": MessageFlavor.NOTIFICATION,
    "IConsumer": MessageFlavor.MESSAGE,
    "IMessageHandler": MessageFlavor.MESSAGE,
    "IHandleMessages": MessageFlavor.MESSAGE,
    "IAmStartedByMessages": MessageFlavor.MESSAGE,
    "IHandleTimeouts": MessageFlavor.MESSAGE,
    "IJobConsumer": MessageFlavor.MESSAGE,
    "InitiatedBy": MessageFlavor.MESSAGE,
    "InitiatedByOrOrchestrates": MessageFlavor.MESSAGE,
    "Orchestrates": MessageFlavor.MESSAGE,
    "Observes": MessageFlavor.MESSAGE,
    "IHandler": None,
    "AuthorizationHandler": MessageFlavor.OTHER,  # a requirement is no message of those kinds
}
"""Interfaces and base classes whose first type argument is the message, the second the answer. None: whether it is a
command or a query, only the name of the message tells."""

HANDLER_INTERFACES = frozenset(_INTERFACES)

_WITHOUT_RESPONSE = frozenset({"AuthorizationHandler", "Observes"})
"""Their second argument is the guarded resource, or the saga."""
_SUFFIXES = (
    ("Query", MessageFlavor.QUERY),
    ("Command", MessageFlavor.COMMAND),
    ("DomainEvent", MessageFlavor.NOTIFICATION),
    ("Notification", MessageFlavor.NOTIFICATION),
    ("Event", MessageFlavor.NOTIFICATION),
    ("EventArgs", MessageFlavor.NOTIFICATION),
    ("Message", MessageFlavor.MESSAGE),
)
_INVOKES = frozenset({"Invoke", "InvokeAsync"})
HANDLER_METHODS = frozenset({"Handle", "HandleAsync", "Consume", "ConsumeAsync", "HandleEventAsync", "OnEvent"})
"""Methods that take a message by convention."""
_METHODS = _INVOKES | HANDLER_METHODS
_PLUMBING = frozenset({"CancellationToken", "ILogger", "object", "string", "int"})
_ENVELOPES = frozenset({"ConsumeContext", "Message", "IMessage", "Envelope"})
_NO_ANSWER = frozenset({"", "void", "Task", "ValueTask", "Unit"})
