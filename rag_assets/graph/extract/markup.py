"""Markup and settings that name C#: types by their whole names (`type="Shop.Mailer, Shop"` in `web.config`), the code
behind a page or a window with the handlers of its events, and the types of a namespace that XAML gives a prefix.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_assets.contracts.graph import ANY_METHOD, GraphEdge, GraphNode, NodeType, Relation, endpoint_key, file_key
from rag_assets.contracts.segment import MemberKind
from rag_assets.graph.extract.sql_objects import once
from rag_assets.languages.label_declarations import LabelDeclarations
from rag_assets.languages.parsed_file import ParsedFile

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)|<%--.*?(?:--%>|\Z)", re.DOTALL)
_BEHIND = "x:Class", "Inherits", "Class"
_TYPE = re.compile(
    rf"(?<![\w.])(?:(?P<behind>{'|'.join(_BEHIND)})|[\w:]*?(?:[tT]ype|[cC]lass|Service))\s*=\s*"
    r"[\"']\s*(?P<name>[A-Za-z_]\w*(?P<dotted>(?:\.[A-Za-z_]\w*)*))\s*(?:,[^\"'<>]*)?[\"']"
)
"""Also `type="text"` and `class="wide"`, which are no types of C#."""
_HANDLER = re.compile(r"(?<![\w.])[\w:.]+\s*=\s*[\"'](?P<name>[A-Za-z_]\w*)[\"']")
_NAMESPACE = re.compile(r"\bxmlns:(?P<prefix>\w+)\s*=\s*[\"'](?:clr-namespace|using):(?P<namespace>[\w.]+)")
_HANDLES = re.compile(r"<add\s(?P<attributes>[^<>]*)>")
_ATTRIBUTE = re.compile(r"\b(verb|path|type)\s*=\s*[\"']([^\"'<>]*)[\"']")
_PREFIXED = re.compile(r"(?<![\w:.])(?P<prefix>\w+):(?P<name>[A-Z]\w*)")


def markup_in(file: ParsedFile, symbols: LabelDeclarations) -> Iterator[GraphNode | GraphEdge]:
    """`FILE UsesType` each type of the label that markup or settings name, `FILE Calls` each handler of an event.
    The handlers of `web.config` are endpoints too. Never raises for any text."""
    text = _COMMENT.sub(lambda found: re.sub(r"[^\r\n]", " ", found.group()), file.text)
    yield from once(_uses(file, text, symbols))
    if file.path.rpartition("/")[2].lower() == "web.config":
        yield from _endpoints(file, text, symbols)


def _endpoints(file: ParsedFile, text: str, symbols: LabelDeclarations) -> Iterator[GraphNode | GraphEdge]:
    """`ANY /mail.axd`, exposed by the `ProcessRequest` of the type that handles it; each once, as sections for several
    versions of the server repeat them."""
    told: set[str] = set()
    for found in _HANDLES.finditer(text):
        said = dict(_ATTRIBUTE.findall(found["attributes"]))
        declared = symbols.csharp.declared(said.get("type", "").partition(",")[0].strip())
        members = symbols.csharp.find_members(declared.id, "ProcessRequest") if declared is not None else ()
        handler = next((one.key for one in members if one.key), "")
        for verb in said.get("verb", "").split(",") if handler and said.get("path") else ():
            method = ANY_METHOD if verb.strip() in ("", "*") else verb.strip().upper()
            route = f"/{said['path'].lstrip('/')}"
            key, line = endpoint_key(method, route), file.lines.line_of(found.start())
            if key not in told:
                told.add(key)
                yield GraphNode(key, NodeType.ENDPOINT, f"{method} {route}", file.path, line, line, file.language)
                yield GraphEdge(handler, Relation.EXPOSES, key, path=file.path, line=line)


def _uses(file: ParsedFile, text: str, symbols: LabelDeclarations) -> Iterator[GraphEdge]:
    for relation, key, at in _named(text, symbols):
        yield GraphEdge(file_key(file.path), relation, key, path=file.path, line=file.lines.line_of(at))


def _named(text: str, symbols: LabelDeclarations) -> Iterator[tuple[Relation, str, int]]:
    """(how a text uses a node, the node, where it names it)."""
    for found in _TYPE.finditer(text):
        is_name = found["behind"] or found["dotted"]
        declared = symbols.csharp.declared(found["name"]) if is_name else None
        if declared is None:
            continue
        yield Relation.USES_TYPE, declared.key, found.start("name")
        if found["behind"]:
            names = frozenset(symbols.csharp.member_names(declared.id))
            for handler in _HANDLER.finditer(text):
                if handler["name"] in names:
                    members = symbols.csharp.members(declared.id, handler["name"])
                    methods = (one.key for one in members if one.kind is MemberKind.METHOD and one.key)
                    yield from ((Relation.CALLS, key, handler.start("name")) for key in methods)
    namespaces = {found["prefix"]: found["namespace"] for found in _NAMESPACE.finditer(text)}
    for found in _PREFIXED.finditer(text) if namespaces else ():
        if found["prefix"] in namespaces:
            declared = symbols.csharp.declared(f"{namespaces[found['prefix']]}.{found['name']}")
            if declared is not None:
                yield Relation.USES_TYPE, declared.key, found.start("name")
