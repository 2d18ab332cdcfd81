"""Keys as people write them: the symbol in a key, its segments, and the word it is looked up by."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rag_assets.contracts.graph import NodeType

_PREFIX = re.compile(r"([a-z][a-z0-9]*):(?!:)")
_ARITY = re.compile(r"`+\d+")
_ROUTE_PARAMETER = re.compile(r"\{[^{}]*\}")
_VERB = re.compile(r"([A-Za-z]+)[ \t]+(?=/|[^ ]*/)")
_QUOTED = re.compile(r'(?:(?<=\.)|^)(?:\[((?:[^\]]|\]\])*)\]|"([^"]*)"|`([^`\d][^`]*)`)(?=\.|$)')
_KINDS = frozenset(kind.value for kind in NodeType)
_BY_PATH = frozenset({NodeType.FILE.value, NodeType.SECTION.value})
_ENDPOINT, _METHOD = NodeType.ENDPOINT.value, NodeType.METHOD.value  # each node is asked for them
_LONGEST = 512
"""Characters of a word that is looked up: longer names are damaged input, and would bloat the index."""


@dataclass(frozen=True, slots=True)
class KeyName:
    """A key, or what somebody typed for one, in parts. `symbol` is without prefix, kind and parameters; `segments` are
    its parts without type parameters; `parameters` is None where none are written, `verb` is that of a route."""

    prefix: str
    symbol: str
    segments: tuple[str, ...]
    parameters: str | None = None
    kind: str = ""
    verb: str = ""

    @property
    def word(self) -> str:
        """What the name is looked up by: its last segment without case."""
        return self.segments[-1].casefold()[:_LONGEST] if self.segments else ""


def name_of(key: str) -> KeyName:
    """The parts of a key. Never raises: a text of another form is one segment."""
    body, _, kind = key.rpartition("|")
    found = _PREFIX.match(body)
    prefix = found[1] if found else ""
    symbol = body[len(found[0]) :] if found else body
    if kind in _BY_PATH:
        return KeyName(prefix, symbol, path_segments(symbol), kind=kind)
    if kind == _ENDPOINT:
        verb, _, route = symbol.partition(" ")
        return KeyName(prefix, route, route_segments(route), kind=kind, verb=verb.upper())
    symbol, parameters = split_parameters(symbol) if kind == _METHOD else (symbol, None)
    return KeyName(prefix, symbol, symbol_segments(symbol), parameters, kind)


def readings(text: str) -> tuple[KeyName, ...]:
    """What a typed text may be, the likeliest first: a symbol, a path, a route."""
    body, kind = text.strip(), ""
    before, bar, after = body.rpartition("|")
    if bar and after.strip().upper() in _KINDS:
        body, kind = before.strip(), after.strip().upper()
    found = _PREFIX.match(body)
    prefix = found[1] if found else ""
    body = body[len(found[0]) :] if found else body
    symbol, parameters = split_parameters(body.replace("::", "."))
    symbol = unquoted(symbol)
    made = [KeyName(prefix, symbol, symbol_segments(symbol), parameters, kind)]
    path = body.replace("\\", "/").removeprefix("./")
    made.append(KeyName(prefix, path, path_segments(path), kind=kind))
    verb = _VERB.match(body)
    route = body[len(verb[0]) :] if verb else body
    if "/" in route:  # else it is a word that happens to end one
        made.append(KeyName(prefix, route, route_segments(route), kind=kind, verb=verb[1].upper() if verb else ""))
    return tuple(name for name in made if name.segments)


def simple_name(key: str) -> str:
    """What a node is called where nothing else is known: the last segment of a symbol, the whole of a package."""
    name = name_of(key)
    if name.kind == NodeType.PACKAGE.value:
        return name.symbol
    return name.segments[-1] if name.segments else key


def short_name(key: str) -> str:
    """What a key is called among others: a member with its type, a route with its verb, the name of a file."""
    name = name_of(key)
    if name.verb:
        return f"{name.verb} {name.symbol}"
    if name.kind in _BY_PATH or not name.segments:
        return name.segments[-1] if name.segments else key
    if name.kind == NodeType.PACKAGE.value:
        return name.symbol
    if not name.prefix:  # of a database: what stands between angle brackets is part of the name
        return ".".join(name.symbol.split(".")[-2:])
    is_member = name.kind in (NodeType.METHOD.value, NodeType.PROPERTY.value)
    return ".".join(name.segments[-2:] if is_member else name.segments[-1:])


def node_words(key: str, name: str) -> tuple[str, ...]:
    """What a node is looked up by: the last segment of its key and its display name, without case, each once."""
    return tuple(dict.fromkeys(word for word in (_word(key), name.casefold()[:_LONGEST]) if word))


def _word(key: str) -> str:
    """`name_of(key).word`; of symbols, which most keys are of, without the other parts."""
    body, _, kind = key.rpartition("|")
    if kind in _BY_PATH or kind == _ENDPOINT:
        return name_of(key).word
    prefix = _PREFIX.match(body)
    symbol = body[prefix.end() :] if prefix else body
    listed = _list_at(symbol) if kind == _METHOD else -1
    if listed >= 0:
        symbol = symbol[:listed].rstrip()
    last = symbol.rpartition(".")[2].strip()
    if not last or "`" in symbol or "<" in symbol:
        last = next(reversed(symbol_segments(symbol)), "")
    return last.casefold()[:_LONGEST]


def path_segments(path: str) -> tuple[str, ...]:
    return tuple(part for part in re.split(r"[/#]", path) if part)


def route_segments(route: str) -> tuple[str, ...]:
    """The parts of a route; how a parameter is called makes no difference."""
    return tuple(_ROUTE_PARAMETER.sub("{}", part) for part in route.split("/") if part)


def symbol_segments(symbol: str) -> tuple[str, ...]:
    """`Ns.Repository`1.Get` → `Ns`, `Repository`, `Get`; dots between angle brackets do not count."""
    bare = _ARITY.sub("", symbol) if "`" in symbol else symbol
    if "<" in bare:
        bare = _without_type_arguments(bare)
    return tuple(part for part in map(str.strip, bare.split(".")) if part)


def _without_type_arguments(symbol: str) -> str:
    kept, depth = [], 0
    for char in symbol:
        if char == "<":
            depth += 1
        elif char == ">" and depth:
            depth -= 1
        elif not depth:
            kept.append(char)
    return "".join(kept)


def split_parameters(symbol: str) -> tuple[str, str | None]:
    """`Ns.T.M(int, string)` → `Ns.T.M` and `int,string`; None where no list ends the symbol."""
    at = _list_at(symbol)
    if at < 0:
        return symbol, None
    return symbol[:at].rstrip(), "".join(symbol[at + 1 : -1].split())


def _list_at(symbol: str) -> int:
    """Where the list that ends a symbol begins, -1 for none."""
    if not symbol.endswith(")"):
        return -1
    at = symbol.rfind("(")
    if symbol.count(")", at) == 1:
        return at
    depth = 0  # parentheses of tuples inside the list
    for at in range(len(symbol) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(symbol[at], 0)
        if depth == 0:
            return at
    return -1


def unquoted(symbol: str) -> str:
    """`[dbo].[Order Lines]`, `"dbo"."Order Lines"` → `dbo.Order Lines`, as keys have it."""
    return _QUOTED.sub(lambda found: (found[1] or found[2] or found[3] or "").replace("]]", "]"), symbol)
