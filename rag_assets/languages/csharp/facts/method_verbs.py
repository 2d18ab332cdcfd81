"""What a method is for, by the verb of its name, its facts in the words of the domain reference (§2), and the calls
that the methods of a client make to another system, by the names of the usual HTTP clients."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import pairwise

from rag_assets.contracts.segment import Member, MemberKind, SymbolText
from rag_assets.identifiers import identifier_words
from rag_assets.languages.csharp.facts.masked_body import MaskedBody


class MethodKind(StrEnum):
    """The five things managers and repositories do, and the rest."""

    CREATE = "Create"
    UPDATE = "Update"
    DELETE = "Delete"
    QUERY = "Query"
    VALIDATION = "Validation"
    OTHER = "Other"


@dataclass(frozen=True, slots=True)
class MethodFact:
    """A method as facts. `kind` is by the convention of its name; lines are 1-based and hold its documentation.
    `path` is that of another part of a partial type, '' for the file of the description."""

    name: str
    signature: str
    kind: MethodKind
    doc: str
    return_type: str
    line_start: int
    line_end: int
    is_async: bool
    is_public: bool
    path: str = ""


METHODS = frozenset({MemberKind.METHOD, MemberKind.FUNCTION})
"""Members that are called by name."""


def all_method_facts(symbol_text: SymbolText, declaration: str = "class") -> tuple[MethodFact, ...]:
    """The methods of a type, of all its parts where it is partial: its own first."""
    placed = symbol_text.placed_members()
    return tuple(method_facts(member, declaration, path) for member, path in placed if member.kind in METHODS)


def method_facts(member: Member, declaration: str = "class", path: str = "") -> MethodFact:
    """The facts of a method of a `declaration` (the members of an interface are public without saying so)."""
    return MethodFact(
        name=member.name,
        signature=member.signature,
        kind=method_kind(member.name),
        doc=member.doc,
        return_type=member.type,
        line_start=member.span.line_start,
        line_end=member.span.line_end,
        is_async="async" in member.modifiers or _is_awaitable(member.type),
        is_public=is_public(member, declaration),
        path=path,
    )


def is_public(member: Member, declaration: str = "class") -> bool:
    """Whether callers of the type can see the member."""
    if "public" in member.modifiers:
        return True
    hidden = ("private", "protected", "internal")
    return declaration == "interface" and not any(modifier in member.modifiers for modifier in hidden)


@lru_cache(maxsize=16_384)
def method_kind(name: str) -> MethodKind:
    """The kind by the verb a name starts with: `TryGetByNumberAsync` → Query, `AddOrUpdate` → Update."""
    words = [word.lower() for word in identifier_words(name)]
    if words and words[0] in _PREFIXES and len(words) > 1:
        words = words[1:]
    if not words:
        return MethodKind.OTHER
    verb = words[0]
    if any(pair in _UPSERTS for pair in pairwise(words)):
        return MethodKind.UPDATE
    if verb in _QUESTIONS and any(word in _VALIDITY for word in words[1:]):
        return MethodKind.VALIDATION
    return _VERBS.get(verb, MethodKind.OTHER)


def _is_awaitable(return_type: str) -> bool:
    return return_type.startswith(("Task", "ValueTask", "IAsyncEnumerable", "System.Threading.Tasks."))


_PREFIXES = frozenset({"try", "async", "begin", "on", "do", "bulk", "batch", "internal"})
"""Words before the verb that say how, not what."""

_UPSERTS = frozenset({("or", "update"), ("or", "replace"), ("or", "add"), ("or", "insert")})
"""`AddOrUpdate`: whatever comes first, the outcome is that of an update."""

_QUESTIONS = frozenset({"is", "has", "are", "get"})
_VALIDITY = frozenset({"valid", "invalid", "allowed", "permitted", "authorized"})

_VERB_NAMES: dict[MethodKind, str] = {
    MethodKind.CREATE: (
        "create add insert new register place append post submit make generate build clone copy import enqueue issue "
        "initialize init seed invite subscribe open publish upload attach"
    ),
    MethodKind.UPDATE: (
        "update save set change edit modify upsert put patch replace rename move merge assign apply adjust mark "
        "enable disable activate deactivate cancel close complete approve reject confirm ship pay refund increment "
        "decrement reset restore archive lock unlock store write persist sync refresh transfer link"
    ),
    MethodKind.DELETE: (
        "delete remove purge clear drop erase destroy unregister uninstall detach unsubscribe revoke prune expire "
        "cleanup truncate discard unlink"
    ),
    MethodKind.QUERY: (
        "get find list query search load read fetch count exists exist has is lookup select retrieve enumerate peek "
        "browse all any contains resolve single first last filter locate show view download export by are "
        "max min sum index"
    ),
    MethodKind.VALIDATION: "validate verify check ensure can assert authorize may require guard sanitize",
}
_VERBS = {verb: kind for kind, verbs in _VERB_NAMES.items() for verb in verbs.split()}


@dataclass(frozen=True, slots=True)
class RemoteCall:
    """A call: its verb, the address as written ('' where it is no literal), the method it stands in, its line."""

    verb: str
    address: str
    member: str
    line: int


def remote_calls(body: MaskedBody) -> tuple[RemoteCall, ...]:
    """The HTTP calls of the direct methods of a class, in text order."""
    found = []
    for member in body.segment.members:
        if member.kind not in METHODS:
            continue
        start, stop = body.part(member.span)
        for match in _CALL.finditer(body.code, start, stop):
            verb = (match.group("verb") or match.group("method")).upper()
            address = body.string_at(match.end())
            if match.group("form") or match.group("method") or address:  # `.PostAsync(command)` may be anybody's method
                found.append(RemoteCall(verb, address, member.name, body.line_at(match.start())))
    return tuple(found)


_CALL = re.compile(
    r"\.\s*(?P<verb>Get|Post|Put|Patch|Delete)(?P<form>FromJson|AsJson|String|Stream|ByteArray)?Async\s*(?:<[^;(){}]{0,200}>\s*)?\("
    r"|\bHttpRequestMessage\s*\(\s*HttpMethod\.(?P<method>Get|Post|Put|Patch|Delete|Head|Options)\s*,"
)
