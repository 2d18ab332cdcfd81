"""The overview plan: the projects or folders of a repository and which of them uses which, where its programs start,
its endpoints and its central types, as far as the graph knows."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, groupby, islice
from typing import TYPE_CHECKING

import numpy as np

from rag_assets.answer.artifact.graph_columns import GraphColumns
from rag_assets.answer.artifact.structure import area_uses, central_types, entry_points, exposed_endpoints
from rag_assets.answer.graph_facts import GraphFact
from rag_assets.answer.passages import Passage, headings_in
from rag_assets.answer.plans.code_lines import MOST_LISTED, part_counted
from rag_assets.answer.plans.steps import build_targets, scripts_listed
from rag_assets.answer.structure.listed_questions import Listed
from rag_assets.answer.whole_project import WHOLES
from rag_assets.contracts.evidence import Evidence
from rag_assets.contracts.graph import Confidence, NodeType
from rag_assets.graph.lookup import short_name

if TYPE_CHECKING:
    from rag_assets.graph.csr_graph import Graph
    from rag_assets.search.index import LabelIndex


_MOST_AREAS, _MOST_USES, _MOST_ENTRY_POINTS, _MOST_ENDPOINTS, _MOST_TYPES = 8, 4, 2, 3, 6
_MOST_CENTRAL = 12
_MOST_PARAGRAPHS, _MOST_OF_INDEX = 2, 3  # of a file, and of all, in an introduction
_MOST_LOOKED_AT = 25  # paragraphs of a file
_FEWEST_WORDS, _MANY_WORDS = 5, 25  # of a paragraph: `Very fast C++ logging library.`
_TELLS = 0.55  # what a paragraph is worth that is told beside a better one
_EACH_LATER = 0.2  # what it loses for each before it
_PROSE_WORD = re.compile(r"(?<![\w./-])[A-Za-z][a-z'-]+(?=[\s,.;:!?)]|$)")
_MARKS = re.compile(r"\*+|`+")
"""Of a name in bold or as code: **Boats** is …"""
_LINK_TEXT = re.compile(r"(?<!!)\[([^\[\]\n]+)\]\([^)\n]*\)")
_MARKUP = re.compile(r"\[?!?\[[^\]\n]*\]\([^)\n]*\)(?:\]\([^)\n]*\))?|<[^>\n]*>")
_ASIDE = re.compile(
    r"\A---\n.*?^---$|^```.*?(?:^```|\Z)|^~~~.*?(?:^~~~|\Z)|<!--.*?(?:-->|\Z)|^\.\. .*(?:\n[ \t]+\S.*)*"
    r"|<(?P<tag>details|table|pre)\b.*?(?:</(?P=tag)>|\Z)",
    re.MULTILINE | re.DOTALL,
)
"""What is no prose of a document: properties of the page, code, comments, directives, what is folded away."""
_NO_PROSE = re.compile(
    r"\s*(?:[|+]|<(?!(?:p|h\d)\b)|\[[^\]]+\]:|:\w+:|(?:[-*_=~] ?){3,}\s*$)|(?!\s*<(?:p|h\d)\b).*</\w"
)
_LIST = re.compile(r"(?:[-*+]|\d+\.)\s")
_ABOUT = re.compile(
    r"\b(?:about|intro(?:duction)?|overview|motivation|description|what|why|purpose|goals?|background|summary)\b",
    re.IGNORECASE,
)
"""Of headings: below them a document says what it is about."""
_BESIDE_IT = re.compile(
    r"contribut|install|licen[cs]|build|develop|test|support|credit|communit|host|thank", re.IGNORECASE
)
"""Of headings: below them it says something else."""
_SAYS_WHAT = re.compile(
    r"\W*(?!(?:we|you|i)\b)(?:[\w.#'+-]+ ){1,4}"
    r"(?:is|are|provides?|offers?|allows?|lets|helps|aims|implements?|demonstrates?|enables?|makes)\b"
    r"|\W*an? (?:[\w.#'/+-]+,? ){1,7}"
    r"(?:for|that|to|which|(?<=collection )of|(?<=set )of|with|in|built|written|based|using)\b",
    re.IGNORECASE,
)
_WHOLE = re.compile(rf"\b(?:{'|'.join(sorted(WHOLES))})s?\b", re.IGNORECASE)
_POINTS_ELSEWHERE = re.compile(
    r"(?:see|for (?:more|further|information|the|a|details)|to (?:build|run|install)|check|visit|looking for|click"
    r"|please|thanks?|permission is|copyright|note|read|follow|if you|you (?:can|may) (?:find|also)|want"
    r"|(?:this|the) (?:branch|version|readme|latest|documentation|docs|full))\b"
    r"|.*\b(?:upgrade guide|sponsor|donat\w+|release notes|changelog|gitter|slack channel|build status|pull requests?"
    r"|PRs|documentation (?:web)?site|rendered version)\b",
    re.IGNORECASE | re.DOTALL,
)
"""A paragraph that sends the reader to something else."""
LISTED_NOWHERE = {
    Listed.ENTRY_POINTS: "nothing of the product starts as a program, as a library does not",
    Listed.CENTRAL_TYPES: "the graph has no types of the product",
    Listed.SCRIPTS: "no package has scripts",
    Listed.TARGETS: "there is no Makefile with targets",
    **dict.fromkeys(
        (
            Listed.LONGEST_FILES,
            Listed.LARGEST_FOLDERS,
            Listed.LARGEST_PROJECTS,
        ),
        "the graph has none of the product",
    ),
    Listed.OLDEST_FILES: "the index knows of no file when it was changed; a clone with its history tells it",
    Listed.DUPLICATED: "no two methods of the product that have some lines are the same",
    Listed.UNCAUGHT: "no exception that code throws by its name is caught nowhere",
    **dict.fromkeys(
        (Listed.UNDOCUMENTED, Listed.UNDOCUMENTED_TYPES, Listed.UNDOCUMENTED_METHODS),
        "each public one of the product that the graph knows has a comment",
    ),
    Listed.MOST_CALLED: "the graph knows no calls",
    **dict.fromkeys(
        (Listed.UNUSED, Listed.UNUSED_TYPES, Listed.UNUSED_METHODS),
        "something names each one of the product that only a name can reach",
    ),
    Listed.CIRCLES: "no two folders of the product use each other, as far as the graph knows",
    Listed.HOT_SPOTS: "no file is known to change often; git has to be on this machine with its history",
}
"""What is said where there is nothing to list."""
_FEWEST = 2  # areas, and uses of one by another: one alone is no structure


def overview_facts(index: LabelIndex, graph: Graph) -> Iterator[GraphFact]:
    """What a newcomer wants to know of the product, tests and samples apart."""
    columns = GraphColumns(index, graph, None)
    yield from _areas(columns)
    areas, uses = area_uses(columns)
    for use in uses[: _MOST_USES * (len(uses) >= _FEWEST)]:
        certain = use.confidence is Confidence.RESOLVED
        source, target = areas[use.source], areas[use.target]
        yield GraphFact(source, "uses", target, use.path, use.line, certain, group="Who uses whom")
    yield from _entry_points(columns, _MOST_ENTRY_POINTS)
    routes = exposed_endpoints(columns)
    group = part_counted("Endpoints", len(routes), _MOST_ENDPOINTS)
    for endpoint, _, path, line in routes[:_MOST_ENDPOINTS]:
        yield GraphFact(short_name(graph.keys[endpoint]), "", "", path, line, certain=True, group=group)
    yield from _central_types(columns, _MOST_TYPES)


def introduction(lead: Sequence[Evidence]) -> Iterator[Passage]:
    """Of each index the paragraphs of its README, and of the first page of its documents, that say what it is."""
    ordered = sorted(lead, key=lambda known: (known.label, "/" in known.path, known.path, known.line_start))
    told = defaultdict[str, set[str]](set)
    for (label, _), sections in groupby(ordered, key=lambda known: (known.label, known.path)):
        found = [*islice(chain.from_iterable(map(_paragraphs, sections)), _MOST_LOOKED_AT)]
        values = [_says_what_it_is(one) - _EACH_LATER * at for at, one in enumerate(found)]
        best = sorted(range(len(found)), key=lambda at: (-values[at], at))[:_MOST_PARAGRAPHS]
        is_first = not told[label]
        for at in sorted(at for at in best if values[at] >= _TELLS or (is_first and at == best[0])):
            if found[at].text not in told[label] and len(told[label]) < _MOST_OF_INDEX:
                told[label].add(found[at].text)
                yield _with_list(found[at], found[at + 1 : at + 2])


def _paragraphs(known: Evidence) -> Iterator[Passage]:
    """The paragraphs of a document that are sentences or lists, each with the heading above it."""
    text = _ASIDE.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), known.text)
    written, lines, title = known.text.split("\n"), text.split("\n"), ""
    headings = {text.count("\n", 0, one.start): one for one in headings_in(text, known.language)}
    start = 0
    for end in range(len(lines) + 1):
        heading = headings.get(end)
        if heading is None and end < len(lines) and lines[end].strip() and not _NO_PROSE.match(lines[end]):
            continue
        if len(_PROSE_WORD.findall(_plain("\n".join(lines[start:end])))) >= _FEWEST_WORDS:
            code, first = "\n".join(written[start:end]), known.line_start + start
            yield Passage(known, code, code, first, first + end - start - 1, heading=title)
        title = heading.title if heading is not None else title
        start = end + 1


def _with_list(passage: Passage, after: Sequence[Passage]) -> Passage:
    """A paragraph that ends with a colon, with the list that follows it."""
    for one in after:
        known = passage.evidence
        if one.evidence is known and passage.text.rstrip().endswith(":") and _LIST.match(one.text.lstrip()):
            lines = known.text.split("\n")
            text = "\n".join(lines[passage.line_start - known.line_start : one.line_end - known.line_start + 1])
            return replace(passage, text=text, code=text, line_end=one.line_end)
    return passage


def _says_what_it_is(passage: Passage) -> float:
    plain = _MARKS.sub("", _plain(passage.text)).strip()
    value = min(len(_PROSE_WORD.findall(plain)) / _MANY_WORDS, 1.0) / 2
    value += 0.6 * (_ABOUT.search(passage.heading) is not None) - 0.6 * (_BESIDE_IT.match(passage.heading) is not None)
    if _LIST.match(plain) or _POINTS_ELSEWHERE.match(plain.lstrip("*_> ")):
        return value - 0.6
    return value + 0.6 * (_SAYS_WHAT.match(plain) is not None) + 0.3 * (_WHOLE.search(plain) is not None)


def _plain(text: str) -> str:
    """Without links, pictures and tags."""
    return _MARKUP.sub("", _LINK_TEXT.sub(r"\1", text))


def facts_listed(index: LabelIndex, graph: Graph, listed: Listed) -> list[GraphFact]:
    if listed is Listed.BUILD_TARGETS:
        return list(build_targets(index))
    if listed in (Listed.SCRIPTS, Listed.TARGETS):
        return list(scripts_listed(index, of_packages=listed is Listed.SCRIPTS))
    columns = GraphColumns(index, graph, None)
    if listed is Listed.ENTRY_POINTS:
        return list(_entry_points(columns, MOST_LISTED))
    if listed is not Listed.CENTRAL_TYPES:
        from rag_assets.answer.structure.measures import measured  # start-up budget: overviews have none

        return list(measured(index, columns, listed))
    return list(_central_types(columns, _MOST_CENTRAL))


def _entry_points(columns: GraphColumns, most: int) -> Iterator[GraphFact]:
    starts = entry_points(columns)
    group = part_counted("Entry points", len(starts), most)
    for path, line in starts[:most]:
        yield GraphFact(path.rpartition("/")[2], "", "", path, line, certain=True, group=group)


def _central_types(columns: GraphColumns, most: int) -> Iterator[GraphFact]:
    graph, told = columns.graph, set[str]()
    for node, place in central_types(columns, 2 * most, fewest=0):
        name = short_name(graph.keys[node])
        if name not in told and len(told) < most:
            told.add(name)
            group = "Types that most of it uses" if columns.users[node] else "Some of its types"
            yield GraphFact(name, "", "", place.path, place.line_start, certain=True, group=group)


def _areas(columns: GraphColumns) -> Iterator[GraphFact]:
    """The projects, else folders, each with the type that most uses, or the function where it has no type."""
    areas, area_of = columns.areas
    best: dict[int, int] = {}
    for kind in (NodeType.TYPE, NodeType.METHOD):
        nodes = columns.nodes(kind)
        for node in columns.by_weight(nodes[~np.isin(area_of[nodes], list(best))].tolist()):
            best.setdefault(int(area_of[node]), node)
    found = [area for area, name in enumerate(areas) if area in best and name != "." and not name.endswith("…")]
    group = "Parts" if len(found) <= _MOST_AREAS else "The largest parts"
    for area in found[: _MOST_AREAS * (len(found) >= _FEWEST)]:
        place = columns.place(best[area])
        if place is not None:
            name = short_name(columns.graph.keys[best[area]])
            yield GraphFact(areas[area], "has", name, place.path, place.line_start, certain=True, group=group)
