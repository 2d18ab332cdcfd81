"""Messages: which method handles which message type, and who sends it. Sender → message ← handler."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from rag_assets.contracts.graph import Confidence, GraphEdge, Relation, member_keys
from rag_assets.contracts.segment import Member, MemberKind, Segment
from rag_assets.languages.csharp.binder.label_symbols import NamePosition
from rag_assets.languages.csharp.binder.symbols import TypeSymbol
from rag_assets.languages.csharp.binder.type_syntax import TypeRef, simple_name, substituted
from rag_assets.languages.csharp.declaration_ranges import LANGUAGE, classes_of, inside, own_symbol, type_key, whole
from rag_assets.languages.csharp.facts.type_names import TypeName, parse_type
from rag_assets.languages.csharp.handled_messages import (
    HANDLER_INTERFACES,
    HANDLER_METHODS,
    MessageFlavor,
    handled_messages,
)
from rag_assets.languages.csharp.member_accesses import MemberAccess, member_accesses, plain_calls
from rag_assets.languages.csharp.syntax.lexer import scan
from rag_assets.languages.label_declarations import LabelDeclarations
from rag_assets.languages.parsed_file import ParsedFile

_BY_CONVENTION = re.compile(r"(?:Handlers?|Consumers?|Saga|Subscriber)\Z")
"""Names of classes, or of what they derive from, whose `Handle` methods handle though no known interface says so."""

_SENDING = re.compile(
    r"(?:Send|SendLocal|SendCommand|SendQuery|Publish|PublishAll|Request|GetResponse|Schedule(?:Send|Publish)|Dispatch|"
    r"Enqueue|Invoke|Raise|Respond|Reply|Query|Execute|AddDomainEvent|RegisterDomainEvent|CreateRequest|"
    r"AddAndSaveEvent|RequestAsync|Defer)(?:Async)?\Z"
)
_SENDER_TYPES = re.compile(
    r"(?:I?\w*(?:Mediator|Sender|Publisher|Bus|PublishEndpoint|SendEndpoint|SendEndpointProvider|MessageSession|"
    r"HandlerContext|MessageDispatcher|CommandDispatcher|QueryDispatcher|EventDispatcher|EventService|RequestClient|"
    r"MessageScheduler|ServiceBus))\Z|ConsumeContext\Z|BehaviorContext\Z"
)
"""Types that take messages: MediatR, MassTransit, NServiceBus, Rebus, Wolverine, and what projects call theirs."""

_SENDER_NAMES = re.compile(
    r"_?(?:\w*(?:[mM]ediator|[mM]ediatr|[sS]ender|[pP]ublisher|[bB]us|[pP]ublishEndpoint|[sS]endEndpoint|[eE]ndpoint|"
    r"[mM]essageSession))\Z"
)
_OWN_EVENTS = re.compile(r"(?:Add|Raise|Register|Publish|Queue)(?:Domain)?Events?(?:Async)?\Z")
"""Calls of an entity on itself that keep an event until it is saved …"""
_EVENT = "Event"
"""… and a part of all their names."""

_CLIENT = re.compile(r"I?RequestClient\Z")
_ENVELOPES = frozenset({"Batch", "CloudEvent", "Fault"})
_SUBSCRIBES = re.compile(
    r"(?:\w+\.)*(?:(?:Cap|Event)?Subscribe|Topic|(?:EventHub|Kafka|Queue|RabbitMQ|ServiceBus)Trigger)\b"
)
"""Attributes of methods, or of what they are given, that take a message: Dapr, CAP, Azure Functions."""
_STATE_EVENT = "Event"
_STATE_MACHINE = re.compile(r"\w*StateMachine\Z")
_MACHINE_SENDS = re.compile(
    r"\.\s*(?:Publish|Send|Request|Schedule|Respond)(?:Async)?\s*(?:<[^;(){}]{0,200}>)?\s*\(\s*(?:\w+\s*,\s*)?"
    r"(?:\w+|\([\w\s,]{0,100}\))\s*=>\s*(?:new\s+|\w+\s*\.\s*Init\s*<\s*)((?:\w+\s*\.\s*){0,8}\w+)"
)
"""What the activities of a state machine send: `.Publish(context => new OrderAccepted(…))`."""

_MARKERS = frozenset(
    {"IRequest", "IBaseRequest", "IStreamRequest", "INotification", "ICommand", "IQuery", "IEvent", "IMessage",
     "IDomainEvent", "IIntegrationEvent", "CorrelatedBy"}
)  # fmt: skip
"""What messages implement: MediatR, NServiceBus, MassTransit, and what projects call theirs."""

_NAMED_MESSAGE = re.compile(r"(?:Command|Query|Request|Event|Notification|Message)\Z")

_HINT = re.compile(rf"\.\s*(?:{_SENDING.pattern.removesuffix(chr(92) + 'Z')})\s*[<(]|DomainEvent|RaiseEvent|AddEvent")
_HIDDEN = frozenset({"object", "string", "dynamic"})


def messages(file: ParsedFile, symbols: LabelDeclarations) -> Iterable[GraphEdge]:
    """`METHOD Handles TYPE` of the message, and `METHOD References TYPE` where one is sent or published."""
    yield from handlers(file, symbols)
    yield from sent_messages(file, symbols)


def handlers(file: ParsedFile, symbols: LabelDeclarations) -> Iterable[GraphEdge]:
    """Handlers by their interfaces (resolved), by their bases (resolved), by the names of methods (probable). One that
    takes some cases of a generic message (`Identified<Ship>`) is probable: the message is one node for all of them."""
    if file.language != LANGUAGE:
        return
    for segment in classes_of(file.segments):
        if segment.kind != "interface":
            yield from _handled(file, whole(segment, symbols.declared_types), symbols)


def _handled(file: ParsedFile, segment: Segment, symbols: LabelDeclarations) -> Iterator[GraphEdge]:
    by_interface = False
    for message in handled_messages(segment):
        if message.flavor is MessageFlavor.MIDDLEWARE:
            continue
        names = (segment.name, *map(simple_name, segment.base_list))
        if message.by_convention and not any(map(_BY_CONVENTION.search, names)):
            continue
        by_interface = by_interface or not message.by_convention
        confidence = Confidence.PROBABLE if message.by_convention else Confidence.RESOLVED
        yield from _handles(file, segment, _content(parse_type(message.request)), confidence, symbols)
    is_machine = _is_machine(segment)
    for member in segment.members:
        yield from _subscribed(file, segment, member, symbols)
        found = parse_type(member.type) if member.kind is MemberKind.PROPERTY else None
        if is_machine and found is not None and found.name == _STATE_EVENT and found.arguments:
            target = _declared(found.arguments[0], segment, file, symbols)
            if target:
                source, line = type_key(own_symbol(segment)), _line_of_name(file, member)
                yield GraphEdge(source, Relation.HANDLES, target, Confidence.RESOLVED, file.path, line)
    if not by_interface and segment.base_list:
        yield from _by_bases(file, segment, symbols)


def _subscribed(file: ParsedFile, segment: Segment, member: Member, symbols: LabelDeclarations) -> Iterator[GraphEdge]:
    """A method that an attribute has called for a message: `[Topic("pubsub", "paid")] Task Paid(OrderPaid paid)`."""
    attributes = (*member.attributes, *(one for parameter in member.parameters for one in parameter.attributes))
    if not any(map(_SUBSCRIBES.match, attributes)):
        return
    types = (_content(parse_type(parameter.type)) for parameter in member.parameters)
    target = next(filter(None, (_declared(one, segment, file, symbols) for one in types)), "")
    for source in member_keys(LANGUAGE, own_symbol(segment), member)[:1] if target else ():
        line = _line_of_name(file, member)
        yield GraphEdge(source, Relation.HANDLES, target, Confidence.RESOLVED, file.path, line)


def _is_machine(segment: Segment) -> bool:
    return any(_STATE_MACHINE.match(simple_name(base)) for base in segment.base_list)


def _handles(
    file: ParsedFile, segment: Segment, message: TypeName, confidence: Confidence, symbols: LabelDeclarations
) -> Iterator[GraphEdge]:
    target = _declared(message, segment, file, symbols)
    if target:
        source, line = _handling_method(file, segment, message.name)
        if any(argument.name not in segment.type_parameters for argument in message.arguments):
            confidence = Confidence.PROBABLE  # of `Identified<Ship>`: the node is that of every `Identified<T>`
        yield GraphEdge(source, Relation.HANDLES, target, confidence, file.path, line)


def _handling_method(file: ParsedFile, segment: Segment, message: str) -> tuple[str, int]:
    """(node, line) of the method that takes the message, the type where none is seen (a base may have it)."""
    named = [member for member in segment.members if member.name in HANDLER_METHODS]
    exact = [m for m in named if any(message in _names(parse_type(p.type)) for p in m.parameters)]
    for member in exact or named[:1]:
        keys = member_keys(LANGUAGE, own_symbol(segment), member)
        if keys:
            return keys[0], _line_of_name(file, member)
    return type_key(own_symbol(segment)), _line_of_name(file, segment)


def _line_of_name(file: ParsedFile, declared: Member | Segment) -> int:
    """The line where a declaration is named, below its documentation and attributes."""
    code = scan(declared.span.slice(file.text)).code
    named = re.search(rf"(?<!\w){re.escape(declared.name)}\s*[<({{;=:]", code)
    return declared.span.line_start + (code.count("\n", 0, named.start()) if named is not None else 0)


def _names(found: TypeName) -> set[str]:
    return {found.name, *(argument.name for argument in found.arguments)}


def _content(found: TypeName) -> TypeName:
    """The message in `IConsumer<Batch<Order>>`."""
    return found.arguments[0] if found.name in _ENVELOPES and found.arguments else found


def _by_bases(file: ParsedFile, segment: Segment, symbols: LabelDeclarations) -> Iterator[GraphEdge]:
    """A handler whose base class is declared here and implements the interface: `class A : HandlerBase<Order>`."""
    csharp = symbols.csharp
    own = csharp.declared_at(segment.symbol, file.path)
    if own is None or "abstract" in segment.modifiers:
        return
    for base in (*csharp.base_classes(own.id), *csharp.interfaces(own.id)):
        declared = csharp.declared(base.name)
        if declared is None:
            continue
        for found in csharp.bases(base.name):
            if found.declared or found.name not in HANDLER_INTERFACES or not found.arguments:
                continue
            message = _in_terms_of(found, base, declared).arguments[0]
            target = csharp.declared(message.name) if message.declared else None
            if target is not None:
                source, line = _handling_method(file, segment, target.name)
                is_one_of_many = any(not argument.parameter for argument in message.arguments)
                confidence = Confidence.PROBABLE if is_one_of_many else Confidence.RESOLVED
                yield GraphEdge(source, Relation.HANDLES, target.key, confidence, file.path, line)


def _in_terms_of(found: TypeRef, base: TypeRef, declared: TypeSymbol) -> TypeRef:
    return substituted(found, dict(zip(declared.type_parameters, base.arguments, strict=False)))


def sent_messages(file: ParsedFile, symbols: LabelDeclarations) -> Iterable[GraphEdge]:
    """`METHOD References TYPE` of each message that is sent; proven where the receiver is declared as a sender."""
    if file.language != LANGUAGE or not _HINT.search(file.text):
        return
    lines = file.lines
    for access in member_accesses(file, symbols, lambda member: _SENDING.match(member) is not None):
        confidence = _certainty(access)
        if confidence is not None:
            sent = _message(access, file, symbols)
            yield from _sent(sent, access, confidence, lines.line_of(access.start), file, symbols)
    for segment in classes_of(file.segments):
        if _is_machine(segment):
            for found in _MACHINE_SENDS.finditer(file.masked, segment.span.char_start, segment.span.char_end):
                message = _declared(parse_type(found[1]), segment, file, symbols)
                source, at = file.places.key_at(found.start()), lines.line_of(found.start())
                if message:
                    yield GraphEdge(source, Relation.REFERENCES, message, Confidence.RESOLVED, file.path, at)
    for call in plain_calls(file, symbols) if _EVENT in file.masked else ():
        if _OWN_EVENTS.match(call.member):
            sent = _message(call, file, symbols)
            yield from _sent(sent, call, Confidence.PROBABLE, lines.line_of(call.start), file, symbols)


def _certainty(access: MemberAccess) -> Confidence | None:
    """None for what is no sender."""
    if access.type is not None and access.type.name:
        return Confidence.RESOLVED if _SENDER_TYPES.match(access.type.name) else None
    return Confidence.PROBABLE if _SENDER_NAMES.match(access.receiver) else None


def _message(access: MemberAccess, file: ParsedFile, symbols: LabelDeclarations) -> TypeName:
    """The type that is sent; without a name for one that is not of this label."""
    if access.type is not None and _CLIENT.match(access.type.name) and access.type.arguments:
        return access.type.arguments[0]
    found = access.first_argument_type()
    if found is not None and _declared(found, access.segment, file, symbols):
        return found
    return parse_type(next(iter(access.type_arguments()), ""))


def _sent(
    found: TypeName,
    access: MemberAccess,
    confidence: Confidence,
    line: int,
    file: ParsedFile,
    symbols: LabelDeclarations,
) -> Iterator[GraphEdge]:
    """The message, and what it wraps as far as that is a message: a handler of `Identified<Ship>` sends the ship on."""
    message = _declared(found, access.segment, file, symbols)
    if not message:
        return
    yield GraphEdge(access.key, Relation.REFERENCES, message, confidence, file.path, line)
    for argument in found.arguments:
        wrapped = _symbol(argument, access.segment, file, symbols)
        if wrapped is not None and _is_message(wrapped, symbols):
            yield GraphEdge(access.key, Relation.REFERENCES, wrapped.key, Confidence.PROBABLE, file.path, line)


def _is_message(symbol: TypeSymbol, symbols: LabelDeclarations) -> bool:
    """By its name, or what it or a base of it implements."""
    if _NAMED_MESSAGE.search(symbol.name):
        return True
    csharp = symbols.csharp
    above = (symbol.id, *(base.name for base in (*csharp.base_classes(symbol.id), *csharp.interfaces(symbol.id))))
    return any(base.name in _MARKERS for each in above for base in csharp.bases(each))


def _declared(found: TypeName, segment: Segment, file: ParsedFile, symbols: LabelDeclarations) -> str:
    """The node of a type that may be a message, '' for one that is not of this label or has no instances."""
    symbol = _symbol(found, segment, file, symbols)
    return symbol.key if symbol is not None else ""


def _symbol(found: TypeName, segment: Segment, file: ParsedFile, symbols: LabelDeclarations) -> TypeSymbol | None:
    if not found.name or found.name in _HIDDEN:
        return None
    place = NamePosition(file.path, inside(segment), segment.type_parameters)
    symbol = symbols.csharp.resolve_type(str(found).rstrip("?"), place)
    return None if symbol is None or symbol.is_static else symbol
