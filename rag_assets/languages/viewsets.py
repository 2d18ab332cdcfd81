"""What classes of Django REST say of the routes that a router makes of them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_assets.contracts.graph import NodeType, symbol_key
from rag_assets.contracts.segment import Member, MemberKind
from rag_assets.languages.parsed_file import ParsedFile
from rag_assets.languages.route_mounts import ViewSet

_VERBS = re.compile(r"\b(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)\b", re.IGNORECASE)
_ACTION = re.compile(r"(?:\w+\.)?(?P<made>action|list_route|detail_route)\((?P<said>.*)\)\s*\Z", re.DOTALL)
_MAPPED = re.compile(rf"(?P<action>\w+)\.mapping\.(?P<verb>{_VERBS.pattern})\b", re.IGNORECASE)
_DETAIL = re.compile(r"\bdetail\s*=\s*(True|False)\b")
_METHODS = re.compile(r"\bmethods\s*=\s*[\[({]([^\])}]*)")
_URL_PATH = re.compile(r"\burl_path\s*=\s*(?:[rR]?[\"'](?P<path>[^\"'\n]*)[\"']|(?P<other>\S))")
_TEXT = re.compile(r"[\"'](\w+)[\"']")
_LONGEST = 5_000
"""In characters, of a decorator."""


def viewsets_in(file: ParsedFile) -> Iterator[ViewSet]:
    """The classes of a file that say something of their routes: actions of their own, how one is looked up, verbs."""
    for segment in file.segments:
        fields = {one.name: one.value for one in segment.members if one.kind is not MemberKind.METHOD}
        lookup = _TEXT.match(fields.get("lookup_url_kwarg", "") or fields.get("lookup_field", ""))
        verbs = tuple(verb.upper() for verb in _VERBS.findall(fields.get("http_method_names", "")[:_LONGEST]))
        actions = tuple(action for member in segment.members for action in _actions(member))
        if lookup or verbs or actions:
            key = symbol_key(file.language, segment.symbol, NodeType.TYPE)
            yield ViewSet(key, lookup[1] if lookup else "", verbs, actions)


def _actions(member: Member) -> Iterator[tuple[str, str, str, str]]:
    """(method, `detail` or not, verb, path) of a method that decorators make an action; the path of one that another
    action maps is `=` and its name."""
    for attribute in member.attributes:
        if mapped := _MAPPED.match(attribute):
            yield member.name, "", mapped["verb"].upper(), f"={mapped['action']}"
        elif len(attribute) <= _LONGEST and (found := _ACTION.match(attribute)):
            said = found["said"]
            detail, methods, path = _DETAIL.search(said), _METHODS.search(said), _URL_PATH.search(said)
            if (path and path["other"]) or (found["made"] == "action" and not detail):
                continue  # only a running program knows where it is
            on_one = "True" in detail[1] if detail else found["made"] == "detail_route"
            for verb in dict.fromkeys(_VERBS.findall(methods[1]) if methods else ["GET"]):
                yield member.name, "detail" if on_one else "", verb.upper(), path["path"] if path else member.name
