"""The plan of what a collection holds that code writes out: `KeyExchangeAlgorithms = new Dictionary<…> { … }`; or that
YAML does, `metrics:` with `- name: revenue`."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from rag_assets.answer.graph_facts import Facts, GraphFact, GraphFacts
from rag_assets.answer.plans.code_lines import (
    FEWEST_LISTED,
    facts_listed,
    lines_of,
    list_heading,
    points_naming,
    points_with,
    product_of,
)
from rag_assets.answer.plans.listing import places_of
from rag_assets.answer.question_analysis import name_roots, root, root_set, roots_of
from rag_assets.contracts.graph import NodeType
from rag_assets.graph.csr_graph import Graph
from rag_assets.graph.declared_types import held_by, of_kind
from rag_assets.identifiers import identifier_words, singular
from rag_assets.search.index import LabelIndex
from rag_assets.search.ranking.penalties import has_shown_texts, is_tooling, product_or_samples

_OF_ALL = root_set("accepted all allowed available default known permitted supported valid")
"""What a collection may be called beside what it holds: `AllowedExtensions`."""
_FILLED = r"(?<!\w){0}[ \t]*(?:\{{\s*get\b[^}}]*\}}\s*|:[^=\n;]+)?(?:=>|=(?!=))"
_TOKEN = re.compile(
    r"(?P<text>\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`[^`]*`)|(?P<comment>//[^\n]*|/\*.*?\*/|(?<!\w)#[^\n]*)"
    r"|(?P<open>[\[({])|(?P<close>[\])}])|(?P<comma>,)|(?P<end>;)|(?P<line>\n)",
    re.DOTALL,
)
_LONGEST = 20_000  # characters of a collection
_MOST_NAMES, _MOST_SECTIONS = 5, 40
_MAKES = re.compile(r"(?:^|\b(?:as_?list|create|frozenset|list|listof|map|of|set|setof|tuple))\s*$", re.IGNORECASE)
"""What stands before the round brackets around items; between others are arguments."""
_OF_PRODUCT = re.compile(r"(?:[^/.][^/]*/)*[^/.][^/]*\.ya?ml")  # what a dot hides is of tools
_YAML_KEY = re.compile(r"\s*(?:- )?[\"']?(?P<key>[\w -]+?)[\"']?\s*:\s*(?:&\S+\s*)?(?:#.*)?")
_DASH = re.compile(r"-(?:\s+|$)")
_YAML_PAIR = re.compile(
    r"(?P<key>[\"']?[^\s:\"'{\[<-][^:\"']*[\"']?)\s*:(?:\s+(?P<value>\"[^\"]*\"|'[^']*'|(?!#)[^#]*[^#\s])|\s*(?:#|$))"
)
_TEXT = re.compile(r"([\"'])(?P<quoted>.*?)\1\s*(?:#.*)?|(?P<plain>.*?)(?:\s#.*)?")
_ELSEWHERE = ("", "|", ">", "&", "*", "!")
_LONGEST_LINE = 300  # characters
_NAMES = frozenset({"alert", "id", "key", "name", "record", "slug", "title"})
"""Keys that say what an item is called."""
_LABEL = re.compile(
    r"[\s{(\[]*(?:\.?@(?=\"))?(?:(?:(?:new\s+)?[\w.]+\s*[:=(]\s*)(?=[\"'`]))?"
    r"(?:(?P<quote>[\"'`])(?P<text>.+?)(?P=quote)|(?:new\s+)?(?P<name>[\w.]+))"
)
_FIRST_VALUE = re.compile(r"(?P<quote>[\"'`])(?P<text>[^\n]+?)(?P=quote)|=\s*(?P<name>[A-Z][\w.]+)")
"""What tells objects of one type apart."""


_MACHINE = re.compile(r"\b\w*StateMachine<(?:[\w.]+\.)?(?P<of>\w+)>")
_OF_MACHINES = {"state": r"\bState(?:<\w+>)? \w+", "event": r"\b(?:Event|Request|Schedule)(?:<.*>)? \w+"}
_OF_SAGAS = re.compile(r"(?:State|Machine|Saga|Instance|Process|Workflow)+$")
"""What a saga, and what it keeps, is called beside what it is of."""


def parts_of_machine(index: LabelIndex, graph: Graph, noun: str, owner: str) -> Facts:
    """The states, or the events, that the state machine of MassTransit declares that is called as an owner, or keeps
    what is."""
    if noun not in _OF_MACHINES:
        return GraphFacts(), {}
    wanted = _OF_SAGAS.sub("", owner).casefold()
    machines = [
        node
        for node in of_kind(graph, NodeType.TYPE)
        if (keeps := _MACHINE.search(graph.signature(node))) is not None
        and wanted in (_OF_SAGAS.sub("", one).casefold() for one in (graph.names[node], keeps["of"]))
    ]
    declares = re.compile(_OF_MACHINES[noun])
    held = [node for node in held_by(graph, machines) if declares.search(graph.signature(node))]
    places = sorted(places_of(graph, np.array(held, np.int64)), key=lambda one: (one.path, one.line))
    own = product_or_samples(one.path for one in places)
    return facts_listed([one.fact for one in places if one.path in own], noun, index)


def items_held(index: LabelIndex, graph: Graph, noun: str, rest: str = "") -> Facts:
    """The items of the collection of the product that is called as a noun says, each at its line; of several such
    collections those of the longest, and first of those that say some of the `rest` of the question too. Nothing where
    no code writes its items out."""
    best: list[tuple[str, str, int]] = []
    named = _named(graph, [root(word) for word in noun.split()], roots_of(rest))
    for name, nodes in [*named.items()][:_MOST_NAMES]:
        points = points_naming(name, index, _MOST_SECTIONS).ids
        paths = {one["Path"] for one in product_of(points, index).values()}
        declared = {one.path for one in places_of(graph, np.array(nodes, np.int64))}  # many sections may say its name
        paths |= product_or_samples(declared)
        for path, lines in sorted(lines_of(index, sorted(paths)).items()):
            text = "\n".join(lines.get(at, "") for at in range(1, max(lines) + 1))
            found = [(label, path, text.count("\n", 0, at) + 1) for label, at in longest_of(name, text)]
            best = max(best, found, key=len)
    if len(best) < FEWEST_LISTED:
        return GraphFacts(), {}
    of_line: dict[tuple[str, int], dict[str, None]] = {}
    for label, path, line in best:
        of_line.setdefault((path, line), {})[label] = None
    facts = [GraphFact(", ".join(labels), "", "", *at, True, is_comment=True) for at, labels in of_line.items()]
    known, at_points = facts_listed(facts, singular(noun), index)
    return replace(known, heading=list_heading(singular(noun), sum(map(len, of_line.values())))), at_points


def items_configured(index: LabelIndex, noun: str) -> Facts:
    """The items below the keys of YAML that are called as a noun says, in all files of the product that have one; none
    of texts that users see."""
    points = points_with(noun, index, _MOST_SECTIONS)
    wanted = [root(singular(word)) for word in noun.split()]
    paths = {one["Path"] for one in product_of(points, index).values() if _OF_PRODUCT.fullmatch(one["Path"])}
    paths = {path for path in paths if not (is_tooling(path) or has_shown_texts(path))}
    found = [
        (is_named, GraphFact(label, "", "", path, line, True, is_comment=True))
        for path, lines in sorted(lines_of(index, sorted(paths)).items())
        for label, line, is_named in items_below_keys(sorted(lines.items()), wanted)
    ]
    has_names = any(is_named for is_named, _ in found)  # the others refer to these
    facts = [fact for is_named, fact in found if fact.source and (is_named or not has_names)]
    return facts_listed(facts, singular(noun), index) if len(facts) >= FEWEST_LISTED else (GraphFacts(), {})


def items_below_keys(lines: Sequence[tuple[int, str]], wanted: Sequence[str]) -> Iterator[tuple[str, int, bool]]:
    """(label, line, whether it is a name) of the items of each key that has some words: of a list their names, or what
    they are; of a mapping its keys."""
    outer, first, inner, is_list, has_label = -1, -1, -1, False, True  # the columns of a key, its items, their parts
    for number, written in lines:
        line = written[:_LONGEST_LINE]
        bare = line.strip()
        indent = len(line) - len(line.lstrip(" "))
        if not bare or bare.startswith("#"):
            continue
        dash = _DASH.match(bare)
        if indent < outer or (indent == outer and not (dash and first in (-1, outer))):
            outer = -1
        if outer < 0:
            key = _YAML_KEY.fullmatch(line)
            words = [word.lower() for word in identifier_words(key["key"])] if key is not None else []
            is_plural = bool(words) and words[-1] != singular(words[-1])  # `seed:` is one thing
            if key is not None and is_plural and [root(singular(word)) for word in words] == wanted:
                outer, first, has_label = key.start("key"), -1, True
            continue
        if first < 0:
            first, is_list = indent, dash is not None
        if is_list and indent == first and dash is not None:
            bare, inner, has_label = bare[dash.end() :], indent + max(2, dash.end()), False
        pair = _YAML_PAIR.match(bare)
        if is_list and bare and not has_label and indent in (first, inner):
            if pair is None or pair["key"].lower() in _NAMES:
                has_label = True
                yield _told(pair["value"] or "" if pair is not None else bare), number, pair is not None
        elif not is_list and indent == first and pair is not None:
            yield pair["key"].strip("\"'"), number, True


def _told(value: str) -> str:
    """A value of YAML without its quotes, and without the comment behind it; '' of one that stands elsewhere."""
    found = _TEXT.fullmatch(value) if value[:1] not in _ELSEWHERE else None
    return (found["quoted"] or found["plain"] or "").strip() if found is not None else ""


def _named(graph: Graph, words: Sequence[str], about: frozenset[str]) -> dict[str, list[int]]:
    """What fields, properties and constants are called that have these words, or one of those for all before them; or,
    where some have, one of those about it: `VideoFileExtensions`; with their nodes."""
    found, of_it = defaultdict[str, list[int]](list), defaultdict[str, list[int]](list)
    for node in of_kind(graph, NodeType.PROPERTY):
        name = graph.names[node].rpartition(".")[2]
        if len(name) >= len(words):  # cheaper than its words
            called = name_roots(name)
            if called == list(words) or (called[1:] == list(words) and called[0] in _OF_ALL):
                found[name].append(node)
            elif called[1:] == list(words) and called[0] in about:
                of_it[name].append(node)
    return of_it or found


def longest_of(name: str, text: str) -> list[tuple[str, int]]:
    """(label, offset) of the items of the longest collection that is given to a name."""
    filled = re.compile(_FILLED.format(re.escape(name)))
    return max(([*_items(text, one.end())] for one in filled.finditer(text)), key=len, default=[])


def _items(text: str, start: int) -> Iterator[tuple[str, int]]:
    """The items of the last pair of brackets of an expression that holds any: of `new(comparer) { 1, 2 }` two."""
    depth, begins, items, best, is_made = 0, list[int](), list[tuple[int, int]](), list[tuple[int, int]](), False
    for token in _TOKEN.finditer(text, start, min(len(text), start + _LONGEST)):
        if token["open"]:
            depth += 1
            begins.append(token.end())
            if depth == 1:
                items, is_made = [], token[0] != "(" or _MAKES.search(text[start : token.start()].strip()) is not None
        elif token["close"]:
            depth -= 1
            if depth < 0:
                break
            inside = begins.pop()
            if depth == 0 and is_made:
                items.append((inside, token.start()))
                best = [one for one in items if text[one[0] : one[1]].strip()] or best
        elif token["comma"] and depth == 1:
            items.append((begins[-1], token.start()))
            begins[-1] = token.end()
        elif depth == 0 and not token["comment"]:
            is_told = best or (token["line"] and text[start : token.start()].strip())  # a scalar ends with its line
            if token["end"] or (is_told and not _goes_on(text, token)):
                break
    if len(best) == 1 and (inner := re.match(r"\s*[\w.]*\s*(?=[\[({])", text[best[0][0] : best[0][1]])):
        yield from _items(text, best[0][0] + inner.end())  # `frozenset({1, 2})`
        return
    found = [(first, _LABEL.match(_without_comments(text[first:last]))) for first, last in best]
    labels = [(first, one) for first, one in found if one is not None]
    of_one_type = len({one["text"] or one["name"] for _, one in labels}) == 1  # `new() { Code = "en" }` each
    for first, one in labels:
        label = (_FIRST_VALUE.search(one.string) if of_one_type else None) or one
        yield label["text"] or label["name"], first + (label.start("text") if label["text"] else label.start("name"))


def _goes_on(text: str, line_end: re.Match[str]) -> bool:
    return text[line_end.end() :].lstrip()[:1] in ("{", "[", "(", ".")


def _without_comments(text: str) -> str:
    """With blanks in their place, so that offsets stay."""
    return _TOKEN.sub(lambda one: re.sub(r"\S", " ", one[0]) if one["comment"] else one[0], text)
