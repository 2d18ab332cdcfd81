"""The entity that a manager, repository, service, handler or controller is about, as far as its text says so."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rag_assets.contracts.segment import Segment
from rag_assets.identifiers import identifier_words
from rag_assets.languages.csharp.facts.method_verbs import METHODS
from rag_assets.languages.csharp.facts.type_names import (
    ARRAY,
    TUPLE,
    UNION,
    TypeName,
    element_type,
    is_scalar,
    parse_type,
)

if TYPE_CHECKING:
    from rag_assets.languages.csharp.facts.type_index import TypeIndex

MINIMUM_USES = 2
"""A type that no name points to is the subject only when several parameters or results are of it."""


def primary_entity(segment: Segment, declared_types: TypeIndex) -> str:
    """The simple name of the entity, '' when nothing points to one.

    Evidence in this order: the type argument of a base or interface (`RepositoryBase<Order, Guid>`); the name
    without its role (`OrderManager`, `InMemoryProductRepository`) where a type of that name is declared or used;
    the type that most parameters and results of its methods have.
    """
    used = _used_types(segment, declared_types)
    return (
        _of_bases(segment, declared_types)
        or _of_name(segment, declared_types, used)
        or _of_signatures(segment, used, declared_types)
    )


def name_stems(name: str) -> tuple[str, ...]:
    """Names of what a role name is about, best first: `InMemoryOrdersRepository` → InMemoryOrders, InMemoryOrder,
    Orders, Order … down to single words; () for a name that is only a role."""
    words = list(identifier_words(name))
    if len(words) > 1 and words[0] == "I":
        words = words[1:]
    while words and words[-1] in _ROLES:
        words.pop()
    spans = [words[start:stop] for start, stop in _shrinking(len(words))]
    found = [form for span in spans for form in _numbers("".join(span))]
    return tuple(dict.fromkeys(found))


def _shrinking(length: int) -> list[tuple[int, int]]:
    """All ranges of `length` words that touch an end: whole, then without first words, then without last ones."""
    tails = [(start, length) for start in range(length)]
    heads = [(0, stop) for stop in range(length - 1, 0, -1)]
    return tails + heads


def _numbers(name: str) -> tuple[str, ...]:
    """A name and its singular."""
    if name.endswith("ies") and len(name) > 4:
        return (name, f"{name[:-3]}y")
    if name.endswith(("sses", "xes", "ches", "shes")):
        return (name, name[:-2])
    if name.endswith("s") and not name.endswith("ss") and len(name) > 2:
        return (name, name[:-1])
    return (name,)


def _of_bases(segment: Segment, declared_types: TypeIndex) -> str:
    candidates: list[str] = []
    for base in segment.base_list:
        found = parse_type(base)
        if found.name in _MESSAGE_ROLES:
            continue
        elements = map(element_type, found.arguments)
        candidates += [element.name for element in elements if _is_candidate(element, segment, declared_types)]
    declared = (name for name in candidates if _is_declared(name, segment, declared_types))
    return next(declared, candidates[0] if candidates else "")


def _of_name(segment: Segment, declared_types: TypeIndex, used: Counter[str]) -> str:
    stems = (stem for stem in name_stems(segment.name) if stem != segment.name)
    return next((stem for stem in stems if stem in used or _is_declared(stem, segment, declared_types)), "")


def _of_signatures(segment: Segment, used: Counter[str], declared_types: TypeIndex) -> str:
    known = [(name, uses) for name, uses in used.items() if _is_declared(name, segment, declared_types)]
    name, uses = max(known or used.items(), key=lambda found: found[1], default=("", 0))
    return name if uses >= MINIMUM_USES else ""


def _used_types(segment: Segment, declared_types: TypeIndex) -> Counter[str]:
    """How many parameters and results have each type that can be an entity, in the order of first use."""
    found: Counter[str] = Counter()
    for member in segment.members:
        if member.kind not in METHODS:
            continue
        texts = [member.type, *(parameter.type for parameter in member.parameters)]
        for text in texts:
            used = element_type(parse_type(text))
            if used.name not in member.type_parameters and _is_candidate(used, segment, declared_types):
                found[used.name] += 1
    return found


def _is_candidate(found: TypeName, segment: Segment, declared_types: TypeIndex) -> bool:
    if found.name in segment.type_parameters or found.name == segment.name or not can_be_entity(found):
        return False
    declared = declared_types.named(found.name, segment.language)
    return not declared or any(entry.declaration in ENTITY_DECLARATIONS for entry in declared)


def can_be_entity(found: TypeName) -> bool:
    """Whether a type can be what others are about, by its name."""
    name = found.name
    if not name or name in (ARRAY, TUPLE, UNION) or is_scalar(found) or found.arguments:
        return False
    if not name[0].isupper() or (len(name) > 1 and name[0] == "I" and name[1].isupper()):
        return False
    words = identifier_words(name)
    return name not in _PLUMBING and words[-1] not in _PLUMBING_ENDS


def _is_declared(name: str, segment: Segment, declared_types: TypeIndex) -> bool:
    return any(entry.declaration in ENTITY_DECLARATIONS for entry in declared_types.named(name, segment.language))


def _words(names: str) -> frozenset[str]:
    return frozenset(names.split())


ENTITY_DECLARATIONS = frozenset({"class", "record", "record class", "record struct", "struct"})

_ROLES = _words(
    "Manager Managers Service Services Repository Repositories Repo Handler Controller Client Store Provider Validator "
    "Consumer Gateway Adapter Facade Factory Mapper Builder Processor Api Base Async Impl Proxy Endpoint Endpoints "
    "Configuration Query Command Event Request Extensions Helper Worker Job Listener Subscriber"
)
"""Words at the end of a name that say what a type does, not what it is about."""

_MESSAGE_ROLES = _words(
    "IRequestHandler INotificationHandler IConsumer IPipelineBehavior ICommandHandler IQueryHandler IEventHandler "
    "IHandleMessages IComparable IEquatable IComparer IEqualityComparer ILogger IOptions IEnumerable "
    "IObserver IObservable IProgress IDictionary IReadOnlyDictionary"
)
"""Bases whose arguments are messages or the type itself, not the entity."""

_PLUMBING = _words(
    "Task ValueTask Action Func Expression Exception CancellationToken HttpClient HttpContext HttpRequest HttpResponse "
    "HttpResponseMessage HttpRequestMessage ActionResult Stream TextWriter TextReader StringBuilder ClaimsPrincipal "
    "EntityHeader InvokeResult ListRequest Assembly Type MethodInfo PropertyInfo IResult Unit Void Self"
)
_PLUMBING_ENDS = _words(
    "Options Settings Configuration Exception Context Logger Args Attribute Result Handler Service Manager "
    "Repository Builder Provider Factory Client Token Writer Reader Type Delegate Callback Parameters"
)
"""Last words of types that carry a call along: never what a manager manages."""
