"""The error plan: where an error is thrown, with its message, and where it is caught or made into an answer."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from rag_assets.answer.graph_facts import Facts, GraphFact, GraphFacts, facts_at, named_nodes
from rag_assets.answer.passage_ranking import RankedPassages
from rag_assets.answer.plans.code_lines import (
    by_place,
    code_of,
    facts_naming,
    lines_of,
    points_naming,
    points_with,
    product_of,
)
from rag_assets.answer.plans.listing import places_of
from rag_assets.answer.question_analysis import root_set, roots_of
from rag_assets.contracts.evidence import Evidence, short_name
from rag_assets.contracts.graph import NodeType, Relation
from rag_assets.graph.csr_graph import IN, OUT, Graph, NodeLocation, steps_over
from rag_assets.graph.declared_types import bases_above, derived_from, of_kind
from rag_assets.graph.lookup import name_of
from rag_assets.index.keyword.terms import FUNCTION_WORDS, runs
from rag_assets.search.index import LabelIndex, Searchable
from rag_assets.search.line_references import section_members
from rag_assets.search.ranking.penalties import BesideProduct, non_product_code

THROWN, _MADE, CAUGHT = "Thrown in", "Made in", "Caught in"
_THROWS = (
    r"\b(?:[Tt]hrow(?:_if|_unless)?|raise|panic|reject|throwError)\b.*(?<!\w){0}(?!\w)"
    r"|(?<!\w){0}\.(?:new|from|of|create)\b|\bThrow{0}\("
)
_RETURNS = r"|(?:\breturn\b|<-|=).*(?<!\w){0}(?!\w)"
"""As Go does, where an error is a value."""
_CATCHES = (
    r"\b(?:[Cc]atch|except|rescue)\b.*(?<!\w){0}(?!\w)|\b(?:instanceof|is(?: not)?|case)\s+\(?(?:\w+\.)*{0}(?!\w)"
    r"|\berrors\.(?:Is|As)\(.*(?<!\w){0}(?!\w)|[!=]=\s*(?:\w+\.)*{0}(?!\w)|\b(?:[Mm]ap|[Hh]andle|[Oo]n|[Cc]atch)\w*<{0}>"
    r"|[Hh]andler\(.*(?<!\w){0}(?!\w)|\bI?Exception\w*<{0}>|^\s*(?:\w+\.)*{0}(?:\s+\w+)?\s*=>"
)
_SURELY = (
    r"\b(?:[Tt]hrow(?:_if|_unless)?|raise|panic|reject|throwError|[Cc]atch|except|rescue)\b.*(?<!\w){0}(?!\w)|\berrors\.(?:Is|As)\(.*(?<!\w){0}(?!\w)"
    r"|(?<!\w){0}\.new\b"
)
"""What is done with errors alone: a type that is only made and compared with is none, whatever else is raised in it."""
_MAKES = r"(?<!\w)[Nn]ew\s+(?:\w+\.)*{0}(?!\w)"
"""Where no line both makes and throws it: a method that makes the error for a status, `orElseThrow(() -> new …)`."""
_THROWING, _MOST_THROWING = "throw throws raise panic reject Err Error Exception", 4_000
_THROWS_ANY = re.compile(
    r"\b(?:[Tt]hrow\w*|raise|panic|reject)\b|\breturn\b.*\bErr[A-Z]|\berrors\.New\(|\bfmt\.Errorf\("
)
_VALUE = re.compile(r"Err[A-Z]")
_ERROR_NAME = re.compile(r"(?:Exception|Error|Fault|Failure|Problem)(?:\W|$)|^Err[A-Z]|_ERR_")
_THROWN_TYPE = re.compile(
    r"\b(?:[Tt]hrow\s+(?:[Nn]ew\s+)?|raise\s+|return\s+.{0,200}?\b(?=Err[A-Z])|orElseThrow\((?:.{0,200}?\bnew\s+)?"
    r"|throw_(?:if|unless)\(.{0,200}?\b(?=[A-Z]\w*(?:Exception|Error)\b)|Throw(?=[A-Z]\w*Exception\())"
    r"((?:\w+\.)*[A-Z]\w+)"
)
_SAYS_THROWN = re.compile(
    r"<exception\s+cref=[\"'](?:\w:)?(?:\w+\.)*(?P<net>\w+)|@(?:throws|exception)\s+\{?(?:\w+\.)*(?P<java>[A-Z]\w+)"
)
"""How the comment of a member says what it throws, itself or what it calls."""
_CATCHING = re.compile(
    r"\b(?:[Cc]atch|except|rescue|instanceof|case)\b|\bis\s+(?:not\s+)?\(?(?:\w+\.)*[A-Z]\w*(?:Exception|Error)\b"
    r"|\berrors\.(?:Is|As)\(|\b(?:[Mm]ap|[Hh]andle|[Oo]n|[Cc]atch)\w*<|\bI?Exception\w*<|[Hh]andler\("
    r"|\btypeof\((?:\w+\.)*\w+(?:Exception|Error)\)|\b\w+(?:Exception|Error)(?:\.|::)class\b"
    r"|^[ \t]*(?:\w+\.)*\w+(?:Exception|Error)(?:\s+\w+)?\s*=>"
    r"|\.\(\*?(?:\w+\.)*Err[A-Z]|[!=]=\s*(?:\w+\.)*Err[A-Z]|\bIsErr\w+\(",
    re.MULTILINE,
)
_CHECKS_ARGUMENT = re.compile(
    r"ArgumentNull|ArgumentOutOfRange|NullPointer|NotImplemented|NotSupported|UnsupportedOperation"
)
_NO_ERROR = re.compile(rf"(?:Build|Create|Get|Make|New|Throw)[A-Z]|{_CHECKS_ARGUMENT.pattern}")
"""What makes an error, and what says that the caller is wrong, which nobody should catch."""
_OF_ALL = frozenset({"Exception", "Throwable", "Error", "BaseException", "StandardError"})
_COMMENT = re.compile(r"\s*(?://|/\*|\*|#|'(?![^'\n]+'\s*(?:[:,)]|=>)))")
_CALLED = roots_of("error exception")
_OF_ANY_ERROR = root_set(*FUNCTION_WORDS, "exist fail failed found invalid missing required unknown")
_MOST_EACH = 4
_MOST_RUN = 2_000  # nodes
_RUNS = steps_over(OUT, Relation.CALLS) | steps_over(IN, Relation.IMPLEMENTS, Relation.OVERRIDES)
_EVERYWHERE = 500  # sections: some 0.2 s to read
_MOST_PASSAGES, _MOST_ERRORS = 25, 2  # of what was found
_FEWEST_SAID, _FEWEST_OF_OTHERS, _SAID_WEIGHT = 0.2, 0.35, 8.0
"""Of a question about what goes wrong, and of one that an error may only answer (`what happens when a song is liked?`)
with more than the thing that it is about."""
_FEWEST_WORDS = 2
_AROUND = 3  # lines: the condition before it, and its message


def lines_run_by(graphs: Iterable[Graph], name: str) -> Callable[[GraphFact], bool]:
    """Whether a fact is on a line of what is called so, or of what that calls, through whatever else."""
    held = defaultdict[str, list[NodeLocation]](list)
    found = set[int]()
    for graph in graphs:
        nodes = [node for key in named_nodes(graph, [name]) if (node := graph.find(key)) is not None]
        found = {*nodes, *(member for node in nodes for member in graph.contained(node))}
        edge = np.array(sorted(found), np.int64)
        while edge.size and len(found) < _MOST_RUN:
            edge = np.setdiff1d(graph.reach(edge, _RUNS)[0].node, np.array(sorted(found), np.int64))
            found |= {*edge.tolist()}
        for place in (place for node in found for place in graph.places(node)):
            held[place.path].append(place)
    is_all = len(found) >= _MOST_RUN  # nothing can be said of what was not followed
    return lambda fact: is_all or any(one.line_start <= fact.line <= one.line_end for one in held[fact.path])


def error_facts(
    target: Searchable,
    names: Iterable[str],
    *,
    caught_first: bool,
    caught_alone: bool = False,
    within: Callable[[GraphFact], bool] | None = None,
) -> dict[GraphFact, str]:
    """Where the product throws and catches some errors, with the points that show it, `within` lines of it alone;
    `caught_alone` beside another answer, which nothing of an error that is everywhere is worth waiting for."""
    found: dict[GraphFact, str] = {}
    for name in (name.rpartition(".")[2] for name in names):
        points = points_naming(name, target).ids
        if caught_alone and len(points) > _EVERYWHERE:
            continue
        payloads = product_of(points, target)
        surely = re.compile(_SURELY.format(re.escape(name)))
        if not _ERROR_NAME.search(name) and not facts_naming(surely, payloads, target, ("", name, True)):
            continue
        throws = _THROWS + (_RETURNS if _VALUE.match(name) else "")
        told: set[tuple[str, int]] = set()
        for group, verb, pattern in (
            (CAUGHT, "catches", _CATCHES),
            (THROWN, "throws", throws),
            (_MADE, "makes", _MAKES),
        )[: 1 if caught_alone else None]:
            if group == _MADE and any(one.target == name and one.group.startswith(THROWN) for one in found):
                continue
            written = re.compile(pattern.format(re.escape(name)))
            facts = facts_naming(written, payloads, target, (verb, name, True), each_line=within is not None)
            kept = (one for one in facts if (one.path, one.line) not in told and (within is None or within(one)))
            shown = sorted(kept, key=lambda one: (one.path, one.line))
            told |= {(one.path, one.line) for one in shown}
            counted = f"{group}, {_MOST_EACH} of {len(shown)}" if len(shown) > _MOST_EACH else group
            found |= {replace(one, group=counted): facts[one] for one in shown[:_MOST_EACH]}
    groups = (CAUGHT, THROWN, _MADE) if caught_first else (THROWN, _MADE, CAUGHT)
    return dict(sorted(found.items(), key=lambda one: groups.index(one[0].group.partition(",")[0])))


def throws_within(target: Searchable, within: Callable[[GraphFact], bool]) -> Facts:
    """The lines of code that throw anything, of some alone."""
    code = target.parts.shard().retrieve(sorted(points_with(_THROWING, target, _MOST_THROWING)), target.scope())
    found = facts_naming(_THROWS_ANY, code, target, ("throws", "", True), each_line=True)
    kept = {replace(one, verb="", is_comment=True): found[one] for one in by_place(found) if within(one)}
    at = dict(list(kept.items())[: 2 * _MOST_EACH])
    return GraphFacts(tuple(at), len(kept), leads=True), at


def thrown_by(target: Searchable, declaring: Mapping[str, Sequence[str]]) -> dict[GraphFact, str]:
    """The errors that the code of some names throws, with the points that show it, and those that comments above it
    say; `declaring` are those of each."""
    found: dict[GraphFact, str] = {}
    told = set[str]()
    for name, points in declaring.items():
        last = name.rpartition(".")[2]
        for point, payload in target.parts.shard().retrieve(list(points), target.scope()).items():
            first, lines = payload.get("StartLine", 1), code_of(payload, target).split("\n")
            members = section_members(payload)
            own = [(one.start_line, one.end_line) for one in members if one.name == last]
            if short_name(str(payload.get("Symbol", ""))) == last:
                own = [(first, first + len(lines))]
            for number, line in enumerate(lines, first):
                if not any(start <= number <= end for start, end in own):
                    continue
                if _COMMENT.match(line):
                    said = _SAYS_THROWN.search(line)
                    error = next(filter(None, said.groups())) if said is not None else ""
                    if error and error not in told and not error.startswith(("ArgumentNull", "NullPointer")):
                        found[GraphFact(name, "throws", error, payload["Path"], number, True, THROWN, True)] = point
                        told.add(error)
                    continue
                for known in _THROWN_TYPE.finditer(line):
                    error = known[1].rpartition(".")[2]
                    found.setdefault(GraphFact(name, "throws", error, payload["Path"], number, True, THROWN), point)
    return found


def thrown_and_uncaught(index: LabelIndex, graph: Graph) -> dict[str, tuple[GraphFact, int]]:
    """The errors that the product throws and that no code catches by their name or by that of a base, but the one of
    all errors: where each is thrown first, and in how many places."""
    scope = index.scope()
    index = index.unfiltered
    payloads = product_of(index.parts.shard().ids(index.scope()), index)
    lines = lines_of(index, {str(one.get("Path", "")) for one in payloads.values()})
    caught = {
        word
        for point in facts_naming(_CATCHING, payloads, index, ("", "", True), each_line=True)
        for word in runs(lines.get(point.path, {}).get(point.line, ""))
    } - _OF_ALL
    types = defaultdict[str, list[int]](list)
    for node in of_kind(graph, NodeType.TYPE):
        types[graph.names[node]].append(node)
    found: dict[str, tuple[GraphFact, int]] = {}
    inside = index.parts.shard().retrieve(sorted(payloads), scope)
    for fact in by_place(facts_naming(_THROWN_TYPE, inside, index, ("throws", "", True), each_line=True)):
        thrown = _THROWN_TYPE.search(lines.get(fact.path, {}).get(fact.line, ""))
        name = thrown[1].rpartition(".")[2] if thrown is not None else ""
        if name in _OF_ALL or not _ERROR_NAME.search(name) or _NO_ERROR.match(name):
            continue
        first, count = found.get(name, (fact, 0))
        found[name] = first, count + 1
    for name in [*found]:
        above = (short_name(name_of(graph.keys[node]).symbol) for node in bases_above(graph, types[name]))
        if not caught.isdisjoint({name, f"Is{name}", *above}):  # `IsErrNotFound(err)` of Go
            del found[name]
    return dict(sorted(found.items(), key=lambda one: (-one[1][1], one[0])))


def _errors_said(graph: Graph, question: str) -> dict[str, list[int]]:
    """The errors whose names say the most of a question, half of themselves at least, with their nodes."""
    asked, said = roots_of(question) - _CALLED, defaultdict[str, list[int]](list)
    for node in of_kind(graph, NodeType.TYPE):
        if graph.names[node].endswith(("Error", "Exception")):
            said[graph.names[node]].append(node)
    words = {name: roots_of(name) - _CALLED for name in said}
    fits = {name: len(asked & own) for name, own in words.items() if len(asked & own) * 2 >= len(own) > 0}
    return {name: said[name] for name, count in fits.items() if count == max(fits.values())}


def error_said(graph: Graph, question: str) -> list[str]:
    """The one error whose name says more of a question than that of any other, two words at least, one of which tells
    of what: `NotFoundException` says nothing of a user."""
    best = [*_errors_said(graph, question)]
    said = roots_of(best[0]) & roots_of(question) - _CALLED if len(best) == 1 else frozenset[str]()
    return best if len(said) >= _FEWEST_WORDS and said - _OF_ANY_ERROR else []


def errors_derived(index: LabelIndex, graph: Graph, question: str) -> Facts:
    """What derives from the one error of all whose name says most of a question, where several do."""
    said = _errors_said(graph, question)
    best = [*said]
    nodes = derived_from(graph, said[best[0]])[0] if len(best) == 1 else set[int]()
    found = [one for one in places_of(graph, np.array(sorted(nodes), np.int64)) if non_product_code(one.path) is None]
    facts = [replace(one.fact, group=f"Derived from {best[0]}") for one in found]
    at = facts_at(sorted(facts, key=lambda one: (one.path, one.line)), index)
    return (GraphFacts(tuple(at), len(at), leads=True), at) if len(at) > 1 else (GraphFacts(), {})


def errors_thrown(found: RankedPassages, *, of_failure: bool) -> dict[GraphFact, Evidence]:
    """The errors that the best passages throw where what stands around it says enough of the question, with the pieces
    that show it."""
    thrown: list[tuple[GraphFact, Evidence, float]] = []
    texts: list[str] = []
    for one, score in zip(found.passages[:_MOST_PASSAGES], found.scores.tolist(), strict=False):
        if non_product_code(one.evidence.path) is BesideProduct.TEST:  # which throws where the product did not
            continue
        lines, first = one.code.split("\n"), one.line_end - one.code.count("\n")
        for at, line in enumerate(lines):
            known = None if one.is_prose or _COMMENT.match(line) else _THROWN_TYPE.search(line)
            if known is not None and not _CHECKS_ARGUMENT.match(name := known[1].rpartition(".")[2]):
                source = ".".join(dict.fromkeys(filter(None, (one.owner, one.name))))
                fact = GraphFact(source, "throws", name, one.evidence.path, first + at, True, THROWN)
                thrown.append((fact, one.evidence, score))
                texts.append("\n".join([source, *lines[max(0, at - _AROUND) : at + _AROUND]]))
    said = found.said_by(texts)
    best = [at for at in range(len(thrown)) if said[at] >= (_FEWEST_SAID if of_failure else _FEWEST_OF_OTHERS)]
    best.sort(key=lambda at: (-thrown[at][2] - _SAID_WEIGHT * said[at], at))
    return {thrown[at][0]: thrown[at][1] for at in best[:_MOST_ERRORS]}
