"""From what somebody types to the node that is meant: a key, a symbol in short, a table without its schema, a route
without its verb, a path, a place in a file. Where nothing fits, the most similar names.
"""

from __future__ import annotations

import difflib
import heapq
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from rag_assets.contracts.evidence import as_place
from rag_assets.contracts.graph import ANY_METHOD, NodeType, Relation
from rag_assets.errors import RagAssetsError
from rag_assets.graph.csr_graph import KINDS, Graph, Numbers

COMPARED = 200
"""Words that difflib compares in full: each costs about 30 µs."""


def most_alike(graph: Graph, wanted: str, count: int = COMPARED) -> list[str]:
    """The `count` words of a graph that share the most pairs of neighbouring bytes with a wanted one, for their length
    (Dice's coefficient); of equal ones the first. O(bytes): 30 ms for 33,000 words of 35 letters."""
    content, ends = graph.arrays["word_bytes"], graph.arrays["word_ends"].astype(np.int64)
    asked, sizes = np.unique(_pairs(np.frombuffer(wanted.encode("utf-8", "replace"), np.uint8))), np.diff(ends)
    is_shared = np.isin(_pairs(content), asked, kind="table")
    is_shared[ends[1:-1] - 1] = False  # from one word to the next
    shared = np.bincount(np.repeat(np.arange(len(sizes)), sizes)[:-1][is_shared], minlength=len(sizes))
    alike = 2 * shared / np.maximum(len(asked) + sizes - 1, 1)
    return [graph.words[number] for number in np.argsort(-alike, kind="stable")[:count].tolist()]


def _pairs(content: NDArray[np.uint8]) -> Numbers:
    """One number for each byte and the one behind it."""
    wide = content.astype(np.int64)
    pairs: Numbers = (wide[:-1] << 8) | wide[1:]
    return pairs


_PREFIX = re.compile(r"([a-z][a-z0-9]*):(?!:)")
_ARITY = re.compile(r"`+\d+")
_ROUTE_PARAMETER = re.compile(r"\{[^{}]*\}|<[^<>]*>|^:\w+\??")  # as they are shown, and as Flask and Express write them
_FOLDERS = re.compile(r"^.*/(?=\w)")  # not the operator `/`
_VERB = re.compile(r"([A-Za-z]+)[ \t]+(?=/|[^ ]*/)")
_QUOTED = re.compile(r'(?:(?<=\.)|^)(?:\[((?:[^\]]|\]\])*)\]|"([^"]*)"|`([^`\d][^`]*)`)(?=\.|$)')
_NAMESPACE = re.compile(r"[\w.]+\.")
_KINDS = frozenset(kind.value for kind in NodeType)
_BY_PATH = frozenset({NodeType.FILE.value, NodeType.SECTION.value})
_OF_C = frozenset({"c", "cpp", "objectivec"})
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
    symbol, parameters = split_parameters(_with_dots(prefix, symbol)) if kind == _METHOD else (symbol, None)
    return KeyName(prefix, symbol, symbol_segments(symbol), parameters, kind)


def _with_dots(prefix: str, symbol: str) -> str:
    """The symbol of a member; of C++ one that is defined outside of its type too, `logger::flush`."""
    return symbol.replace("::", ".") if prefix in _OF_C else symbol


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
    if parameters and " " in body:  # `Save(int id)`, as a declaration has it
        types = ",".join(parameter_types(body[body.index("(") + 1 : body.rindex(")")]))
        made.append(KeyName(prefix, symbol, made[0].segments, types, kind))
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
        parts = name.symbol.split(".")
        return ".".join(parts[-2:]) if all(map(str.isidentifier, parts)) else name.symbol
    is_member = name.kind in (NodeType.METHOD.value, NodeType.PROPERTY.value)
    told = name.segments[-2:] if is_member else name.segments[-1:]
    return ".".join(_FOLDERS.sub("", part) for part in told)  # of a file that stands for a namespace no folders


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
    if kind == _METHOD and "::" in symbol:
        symbol = _with_dots(prefix[1] if prefix else "", symbol)
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
    """`Ns.Repository`1.Get` → `Ns`, `Repository`, `Get`; dots between angle brackets do not count, nor does what
    JavaScript has before a method, `Reply.prototype.send`."""
    bare = _ARITY.sub("", symbol) if "`" in symbol else symbol
    if "<" in bare:
        bare = _without_type_arguments(bare)
    if ".prototype." in bare:
        bare = bare.replace(".prototype.", ".")
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


def _outer_commas(parameters: str) -> Iterator[int]:
    """Where the commas between parameters are: not those of `Dictionary<A, B>`."""
    depth = 0
    for at, char in enumerate(parameters):
        depth += (char in "<([{") - (char in ">)]}")
        if char == "," and not depth:
            yield at


def parameter_types(parameters: str) -> list[str]:
    """`int id, Dictionary<A, B> all = null` → `int`, `dictionary<a,b>`: without names, defaults and namespaces, in
    lower case."""
    ends = (-1, *_outer_commas(parameters), len(parameters))
    parts = (parameters[begin + 1 : end] for begin, end in pairwise(ends))
    bare = ("".join(re.split(r"\s*(,)\s*", one.partition("=")[0].strip())) for one in parts)
    return [_NAMESPACE.sub("", one.rpartition(" ")[0] or one).casefold() for one in bare if one]


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


_PLACE = re.compile(r"(?P<path>.+?):(?P<line>\d{1,9})(?:-\d+)?")
_SHOWN = 10
_SHOWN_NEAR = 5
_LEAST_ALIKE = 0.6


_WHOLE, _AS_WRITTEN = 0, 4
"""Ranks: the whole symbol as it is typed, and the last one with its case."""
_MEMBERS = frozenset({NodeType.METHOD, NodeType.PROPERTY, NodeType.DBSET})
_BESIDE_TYPES = _MEMBERS | {NodeType.ENDPOINT}
"""Kinds that a word alone means only where no type, table, file or section is called the same."""
_MOST_NAMESAKES = 200
"""Types of one name whose bases are followed, each 0.2 ms: a name of more says nothing."""


@dataclass(frozen=True, slots=True)
class Match:
    """What a text may mean. `nodes` are those that are meant: one, or one declaration in several roles or overloads;
    none where it is ambiguous, then `candidates` has all, or unknown, then `near` has the keys with the nearest
    names."""

    nodes: tuple[int, ...] = ()
    candidates: tuple[int, ...] = ()
    near: tuple[str, ...] = ()


class NotFound(RagAssetsError):
    """A text that names no node of the graph, or more than one."""


class NothingCalled(NotFound):
    """A text that names no node of the graph."""


def nodes_named(graph: Graph, text: str) -> tuple[int, ...]:
    """The node, or the roles or overloads of the one declaration, that a text names. Raises NotFound, listing the
    candidates with kind and place where there are several and the nearest names where there is none."""
    match = find(graph, text)
    if match.nodes:
        return match.nodes
    if match.candidates:
        shown = [f"\n  {described(graph, node)}" for node in match.candidates[:_SHOWN]]
        more = len(match.candidates) - len(shown)
        shown += [f"\n  … and {more} more; name more of it"] if more > 0 else []
        choose = f"{text!r} may be {len(match.candidates)} nodes; choose one by its key, in quotes:"
        raise NotFound(choose + "".join(shown))
    hint = f"; the nearest are:{''.join(f'{chr(10)}  {key}' for key in match.near)}" if match.near else ""
    raise NothingCalled(f"nothing in the graph is called {text!r}{hint}")


def find(graph: Graph, text: str) -> Match:
    """What a text means, or what is nearest where it means nothing. In this order, and the first that finds anything
    decides:

    its key; a place `path:line`; a whole symbol as it is written, then a symbol that ends with it at a dot or slash,
    then both without regard to type parameters, then without regard to case, then what the type has from types above it
    or from methods that extend it. A path with values means an endpoint with parameters. A word alone means a type or
    a table before members and routes that are called the same, also a generic type. A class that is an entity is one
    candidate.
    """
    match = named(graph, text)
    if match.nodes or match.candidates:
        return match
    place = _PLACE.fullmatch(text.strip())
    return Match(near=_nearest(graph, place["path"] if place else text))


def named(graph: Graph, text: str) -> Match:
    """`find` for those who need nothing that is only like the text: that takes as long as a search."""
    exact = graph.find(text.strip())
    if exact is not None:
        return Match((exact,))
    placed = _at_place(graph, text.strip())
    if placed is not None:
        return Match((placed,))
    ranked: dict[int, int] = {}
    for reading in readings(text):
        for node in with_word(graph, reading.word):
            rank = _rank(reading, name_of(graph.keys[node]), graph.names[node])
            if rank is not None:
                ranked[node] = min(rank, ranked.get(node, rank))
    if not ranked:
        others = (_packages_called(graph, text.strip()), _answering(graph, text))
        return next((one for one in others if one.nodes or one.candidates), None) or _through_its_type(graph, text)
    meant = _meant(graph, sorted(ranked))
    best = min(ranked[node] for node in meant)
    found = tuple(node for node in meant if ranked[node] == best)
    if all(len(reading.segments) == 1 for reading in readings(text)):
        found = _types_first(graph, {node: ranked[node] for node in meant}, best) or found
    if len(found) == 1 or _one_declaration(graph, found):
        return Match(found)
    return Match(candidates=_without_roles(graph, found))


def _answering(graph: Graph, text: str) -> Match:
    """The endpoints that answer a request as a log or a browser writes it, with values for their parameters: those with
    the fewest. `GET /api/v1/orders/7` for `GET /api/v{version}/orders/{id}`."""
    asked = readings(text.strip().partition("?")[0])[-1:]
    if not asked or not (asked[0].verb or text.strip().startswith("/")):
        return Match()
    verb, segments = asked[0].verb, asked[0].segments
    fitting: dict[int, int] = {}
    for node in np.flatnonzero(graph.kinds == KINDS.index(_ENDPOINT)).tolist():
        known = name_of(graph.keys[node])
        if len(known.segments) != len(segments) or not (verb in ("", known.verb) or known.verb == ANY_METHOD):
            continue
        patterns = (re.escape(part).replace(r"\{\}", "[^/]+") for part in known.segments)
        if all(re.fullmatch(one, part, re.IGNORECASE) for one, part in zip(patterns, segments, strict=True)):
            fitting[node] = sum("{}" in part for part in known.segments)
    fewest = min(fitting.values(), default=0)
    nodes = tuple(node for node, count in fitting.items() if count == fewest)
    return Match(nodes) if len(nodes) == 1 else Match(candidates=nodes)


def _packages_called(graph: Graph, text: str) -> Match:
    """The packages of a whole text, as `junit:junit`, whose group is no language; of Python in any spelling."""
    package = NodeType.PACKAGE.value
    python = re.sub(r"[-_.]+", "-", text).lower()
    found: dict[int, None] = {}
    for wanted in (KeyName("", text, (text,), kind=package), KeyName("pypi", python, (python,), kind=package)):
        for node in with_word(graph, wanted.word):
            if _rank(wanted, name_of(graph.keys[node]), graph.names[node]) is not None:
                found[node] = None
    return Match(tuple(found)) if len(found) == 1 else Match(candidates=tuple(found))


def _through_its_type(graph: Graph, text: str) -> Match:
    """`Order.Cancel` where `Order` does not declare it but has it, as code writes it: the member of the nearest types
    above it, else the methods that extend one of these (`Cancel(this Order order)`). Of several types that are called
    so each has its own."""
    name = next(iter(readings(text)), None)
    if name is None or len(name.segments) < 2:
        return Match()
    types = _types_called(graph, name)
    if not 0 < len(types) <= _MOST_NAMESAKES:
        return Match()
    by_owner: dict[str, list[int]] = {}
    extensions: dict[int, KeyName] = {}
    for node in with_word(graph, name.word):
        if graph.kind(node) not in _MEMBERS:
            continue
        one = name_of(graph.keys[node])
        if name.kind not in ("", one.kind) or name.prefix not in ("", one.prefix) or one.word != name.word:
            continue
        if name.parameters is None or _same_parameters(name.parameters, one.parameters):
            by_owner.setdefault(_member_of(graph.keys[node]), []).append(node)
        if "(this " in graph.signature(node) and _may_extend(one, name.parameters):
            extensions[node] = one
    nodes = tuple(dict.fromkeys(node for one in types for node in _had_by(graph, one, by_owner, extensions)))
    return Match(nodes) if len(nodes) == 1 or _one_declaration(graph, nodes) else Match(candidates=nodes)


def _types_called(graph: Graph, name: KeyName) -> list[int]:
    """The types that what stands before the last segment of a name fits best."""
    owner = KeyName(name.prefix, name.symbol.rpartition(".")[0], name.segments[:-1], kind=NodeType.TYPE.value)
    ranked = {
        node: _rank(owner, name_of(graph.keys[node]), graph.names[node])
        for node in with_word(graph, owner.word)
        if graph.kind(node) is NodeType.TYPE
    }
    best = min((rank for rank in ranked.values() if rank is not None), default=None)
    return [node for node, rank in ranked.items() if rank is not None and rank == best]


def _had_by(
    graph: Graph, type_node: int, by_owner: Mapping[str, list[int]], extensions: Mapping[int, KeyName]
) -> list[int]:
    """Those of the members that a type has: of the base classes before interfaces, the nearest before others, else the
    extensions of the type or of one above it."""
    around = {type_node}
    for relations in ((Relation.INHERITS,), (Relation.INHERITS, Relation.IMPLEMENTS)):
        for level in _levels_above(graph, type_node, relations):
            symbols = dict.fromkeys(graph.keys[node].rpartition("|")[0] for node in level)
            found = [node for symbol in symbols for node in by_owner.get(symbol, ())]
            if found:
                return found
            around.update(level)
    names = {node: name_of(graph.keys[node]).segments for node in around}
    return [node for node, one in extensions.items() if _extends(graph, node, one, names)]


def _levels_above(graph: Graph, node: int, relations: Sequence[Relation]) -> Iterator[list[int]]:
    """A type, then what it derives from, then what that does, each once."""
    from rag_assets.graph.edge_weights import permitted  # start-up budget: of few names
    from rag_assets.graph.relations import Direction, WalkStep

    steps = permitted(tuple(WalkStep(one, Direction.OUT) for one in relations))
    seen, level = {node}, [node]
    while level:
        yield level
        above = set(graph.reach(np.array(level, np.int64), steps)[0].node.tolist())
        level = sorted(above - seen)
        seen |= above


def _may_extend(method: KeyName, parameters: str | None) -> bool:
    """Whether the parameters that are typed are those of an extension method, with or without the extended one."""
    if parameters is None:
        return True
    known = method.parameters or ""
    extended = next(_outer_commas(known), None)
    without = not parameters if extended is None else _same_parameters(parameters, known[extended + 1 :])
    return _same_parameters(parameters, known) or without


def _extends(graph: Graph, node: int, method: KeyName, types: Mapping[int, tuple[str, ...]]) -> bool:
    """Whether a method extends one of the types, by the whole name where the method writes it or its edges know it."""
    written = symbol_segments(re.split(r"[<,?]", method.parameters or "")[0])
    fitting = {one for one, segments in types.items() if written and segments[-len(written) :] == written}
    if not fitting or len(written) > 1:
        return bool(fitting)
    bound = _used_by(graph, node, written)
    return not bound or bool(fitting & bound)


def _used_by(graph: Graph, node: int, simple: tuple[str, ...]) -> set[int]:
    """The types of a simple name that a member uses."""
    from rag_assets.graph.edge_weights import permitted  # start-up budget: of few names
    from rag_assets.graph.relations import Direction, WalkStep

    steps = permitted((WalkStep(Relation.USES_TYPE, Direction.OUT),))
    reached = set(graph.reach(np.array([node], np.int64), steps)[0].node.tolist())
    return {one for one in reached if name_of(graph.keys[one]).segments[-1:] == simple}


def _member_of(key: str) -> str:
    return split_parameters(key.rpartition("|")[0])[0].rpartition(".")[0]


def described(graph: Graph, node: int) -> str:
    """`csharp:Shop.Order|TYPE  src/Order.cs:12`: enough to choose by."""
    places = graph.places(node)
    where = f"  {places[0].path}:{places[0].line_start}" if places else ""
    more = f" and {len(places) - 1} more" if len(places) > 1 else ""
    return f"{graph.keys[node]}{where}{more}"


def with_word(graph: Graph, word: str) -> Sequence[int]:
    """The nodes whose name is a word, in lower case, of any owner."""
    number = graph.words.find(word)
    if number < 0:
        return ()
    ends = graph.arrays["word_nodes"]
    found: list[int] = graph.arrays["word_node"][ends[number] : ends[number + 1]].tolist()
    return found


def _rank(wanted: KeyName, name: KeyName, display: str) -> int | None:
    """How well a name fits what was typed, 0 the best; None where it does not."""
    if wanted.kind and wanted.kind != name.kind:
        return None
    if wanted.prefix and wanted.prefix != name.prefix:
        return None
    if wanted.verb and wanted.verb != name.verb:
        return None
    if wanted.parameters is not None and not _same_parameters(wanted.parameters, name.parameters):
        return None
    for rank, (typed, known) in enumerate(
        (
            ((wanted.symbol,), (name.symbol,)),
            (wanted.segments, name.segments),
            (_folded(wanted.segments), _folded(name.segments)),
        )
    ):
        if typed == known:
            return 3 * rank
        if rank == 0 and _ends_with(name.symbol, wanted.symbol):
            return 1
        if rank and known[-len(typed) :] == typed:
            return 3 * rank + 1
    return 8 if wanted.symbol.casefold() == display.casefold() else None


def _ends_with(symbol: str, ending: str) -> bool:
    return symbol.endswith(ending) and symbol[: -len(ending)].endswith((".", "/", "#"))


def _folded(segments: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(segment.casefold() for segment in segments)


def _same_parameters(typed: str, known: str | None) -> bool:
    """Types may be typed without their namespaces."""
    if known is None:
        return False
    return typed.casefold() in (known.casefold(), _NAMESPACE.sub("", known).casefold())


def _meant(graph: Graph, nodes: list[int]) -> tuple[int, ...]:
    """Without what is only there because of another one: constructors beside their type, and what was referred to
    beside the table or view that it turned out to be."""
    segments = {node: name_of(graph.keys[node]).segments for node in nodes}
    kinds = {node: graph.kind(node) for node in nodes}
    types = {segments[node] for node in nodes if kinds[node] is NodeType.TYPE}
    tables = {segments[node] for node in nodes if kinds[node] in (NodeType.TABLE, NodeType.VIEW)}

    def is_beside(node: int) -> bool:
        if kinds[node] is NodeType.METHOD:
            return segments[node][:-1] in types and segments[node][-1:] == segments[node][-2:-1]
        return kinds[node] is NodeType.TABLE_OR_VIEW and segments[node] in tables

    return tuple(node for node in nodes if not is_beside(node)) or tuple(nodes)


def _types_first(graph: Graph, ranked: Mapping[int, int], best: int) -> tuple[int, ...]:
    """The types, tables, files and sections that fit a word as well as the best node; as well is what differs by type
    parameters only, but for a node that has no other name than the word."""
    types = {node: rank for node, rank in ranked.items() if graph.kind(node) not in _BESIDE_TYPES}
    nearest = min(types.values(), default=best)
    if nearest != best and not _WHOLE < best <= nearest <= _AS_WRITTEN:
        return ()
    return tuple(node for node, rank in types.items() if rank == nearest)


def _without_roles(graph: Graph, nodes: tuple[int, ...]) -> tuple[int, ...]:
    """Without the entities that are classes among the nodes."""
    keys = {graph.keys[node] for node in nodes}

    def is_role(node: int) -> bool:
        symbol, _, kind = graph.keys[node].rpartition("|")
        return kind == NodeType.ENTITY and f"{symbol}|{NodeType.TYPE}" in keys

    return tuple(node for node in nodes if not is_role(node))


def _one_declaration(graph: Graph, nodes: tuple[int, ...]) -> bool:
    """A class that is an entity, a property that is a set: one symbol under several kinds. The overloads of a method
    are one too for who writes no parameters: they are changed, called and looked for together."""
    symbols = {graph.keys[node].rpartition("|")[0] for node in nodes}
    if len(symbols) > 1 and all(graph.kind(node) is NodeType.METHOD for node in nodes):
        symbols = {split_parameters(symbol)[0] for symbol in symbols}
        outside = {symbol for symbol in symbols if "::" in symbol and symbol.partition(":")[0] in _OF_C}
        if outside and len(symbols - outside) < 2:  # a member of C++ where its type declares it and where it is defined
            symbols = {".".join(name_of(f"{symbol}|{_METHOD}").segments[-2:]) for symbol in symbols}
    return len(symbols) == 1


def _at_place(graph: Graph, text: str) -> int | None:
    """The smallest declaration around a line, as compilers and `search` print places."""
    found = _PLACE.fullmatch(as_place(text))
    if found is None:
        return None
    path = _path_number(graph, found["path"].replace("\\", "/").removeprefix("./"))
    if path < 0:
        return None
    arrays, line = graph.arrays, int(found["line"])
    start, end = arrays["place_start"].astype(np.int64), arrays["place_end"].astype(np.int64)
    around = np.flatnonzero((arrays["place_path"] == path) & (start <= line) & (line <= end))
    if not len(around):
        return None
    nodes = np.searchsorted(arrays["node_places"], around, side="right") - 1
    sizes = (end - start)[around]

    def order(at: int) -> tuple[int, bool, int]:
        """The smallest; of a type and its members on one line the type."""
        return int(sizes[at]), graph.kind(int(nodes[at])) in _MEMBERS, int(around[at])

    return int(nodes[min(range(len(nodes)), key=order)])


def _path_number(graph: Graph, path: str) -> int:
    """A path, or the only file that its end names; -1 for none."""
    number = graph.paths.find(path)
    if number >= 0:
        return number
    files = [node for node in named(graph, f"{path}|{NodeType.FILE.value}").nodes if graph.places(node)]
    return graph.paths.find(graph.places(files[0])[0].path) if files else -1


def _nearest(graph: Graph, text: str) -> tuple[str, ...]:
    """Keys whose word is most like the typed one, in any way to read it; the declaration that is meant before what
    belongs to it."""
    wanted = dict.fromkeys(reading.word for reading in readings(text))
    alike = {found: likeness for word in wanted for likeness, found in _closest(word, most_alike(graph, word))}
    found: list[int] = []
    for word in heapq.nlargest(_SHOWN_NEAR, alike, key=lambda word: alike[word]):
        meant = _meant(graph, list(with_word(graph, word)))
        found += sorted(meant, key=lambda node: graph.kind(node) in _BESIDE_TYPES)[:_SHOWN_NEAR]
    return tuple(dict.fromkeys(graph.keys[node] for node in found))[:_SHOWN_NEAR]


def _closest(wanted: str, likely: Sequence[str]) -> list[tuple[float, str]]:
    """(likeness, word) of the words most like one."""
    near = difflib.get_close_matches(wanted, likely, n=_SHOWN_NEAR, cutoff=_LEAST_ALIKE)
    return [(difflib.SequenceMatcher(None, word, wanted).ratio(), word) for word in near]
