"""The calls that a client makes to another system, by the names of the usual HTTP clients' methods."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rag_assets.languages.csharp.facts.masked_body import MaskedBody
from rag_assets.languages.csharp.facts.method_verbs import METHODS


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
