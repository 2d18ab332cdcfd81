"""Lists of the documents that a noun means, with their titles, and of the numbered headings of one; and what comments
and documents say of the threads that may use something."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from rag_assets.answer.graph_facts import MOST_FACTS, GraphFact, GraphFacts, facts_at
from rag_assets.answer.plans.code_lines import MOST_LISTED, lines_of, list_heading, points_with, says
from rag_assets.answer.question_analysis import QueryTerm, root
from rag_assets.search.ranking.penalties import non_product_code

if TYPE_CHECKING:
    from rag_assets.search.index import LabelIndex

    Facts = tuple[GraphFacts, dict[GraphFact, str]]

_DOCUMENT = re.compile(r"\.(?:md|mdx|markdown|rst|adoc|asciidoc|txt|docx|pdf)$", re.IGNORECASE)
_CALLED_DOCUMENTS = tuple(
    (re.compile(names), re.compile(paths, re.IGNORECASE))
    for names, paths in (
        (r"adr|(?:architectur\w+ )?decision(?: record)?", r"(?:^|[/_-])(?:adrs?|decisions?)[/_-].*\d"),
        (r"(?:\w+ )?(?:article|document|doc|page)|documentation", r"\.(?!txt)\w+$"),
        (r"(?:\w+ )?(?:guide|how-?to|tutorial)", r"guide|how-?to|tutorial"),
        (r"(?:\w+ )?(?:playbook|runbook)", r"playbook|runbook"),
        (r"(?:\w+ )?(?:proposal|rfc)", r"(?:^|[/_-])(?:proposals?|rfcs?)[/_-]"),
        (r"(?:cheat )?sheet", r"cheat[_-]?sheet"),
    )
)
"""What a question calls documents, and what their paths say of them."""
_PAST = re.compile(r"(?:^|/)(?:change|history|news|release)[^/]*$", re.IGNORECASE)
"""What tells how something was."""
_ACRONYMS = frozenset({"adr", "rfc"})
_FEWEST_DOCUMENTS, _FEWEST_NUMBERED, _MOST_NUMBERED = 2, 3, 40
_WORD = re.compile(r"\w")


_OF_THREADS = re.compile(
    r"\bthread[- ]?(?:un)?safe\w*|\bsafe for concurrent\b|\bconcurrent(?:ly)? (?:us\w+|access\w*|call\w*)"
    r"|\b(?:multiple|several|different) (?:threads|goroutines)\b|\bsynchroni[sz]ed\b",
    re.IGNORECASE,
)


def said_of_threads(index: LabelIndex, names: Collection[str], paths: Collection[str]) -> Facts:
    """The lines of the files that declare some names, and of documents that say one of these, that tell whether several
    threads may use it."""
    likely = points_with(" ".join(("thread safe concurrent", *names)), index, _MOST_NUMBERED)
    known = index.parts.shard().retrieve(likely, index.scope())
    documents = {path for one in known.values() if _DOCUMENT.search(path := one["Path"]) and not _PAST.search(path)}
    named = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, names))})(?!\w)")
    found = [
        GraphFact(path.rpartition("/")[2], "", "", path, at, certain=True, is_comment=True)
        for path, lines in lines_of(index, {*paths, *documents}).items()
        for at, line in lines.items()
        if _OF_THREADS.search(line) and (path in paths or named.search(line))
    ]
    at = facts_at(sorted(found, key=lambda one: (one.path not in paths, one.path, one.line))[:MOST_FACTS], index)
    return GraphFacts(tuple(at), len(found), "**What is said of threads:**"), at


def documents_listed(index: LabelIndex, noun: str, subject: Sequence[QueryTerm]) -> Facts:
    """The documents that a noun lists (`ADRs`, `guides`, `documents`), each with its title, that are about a subject;
    else the numbered headings that begin with the noun, of the document that has the most: `Rule 1`."""
    shard, scope = index.parts.shard(), index.scope()
    paths = [path for path in shard.values("Path", scope) if _DOCUMENT.search(path) and non_product_code(path) is None]
    called = next((words for names, words in _CALLED_DOCUMENTS if names.fullmatch(noun)), None)
    if called is None:
        return _numbered(index, noun, subject, paths)
    found = list[GraphFact]()
    for path, lines in sorted(lines_of(index, filter(called.search, paths)).items()):
        number = min((at for at, line in lines.items() if _WORD.search(line)), default=0)
        if number and says(subject, f"{path} {lines[number]}".lower()):
            found.append(GraphFact(path.rpartition("/")[2], "", "", path, number, certain=True, is_comment=True))
    return _as_list(index, noun, found, 1 if subject else _FEWEST_DOCUMENTS)


def _numbered(index: LabelIndex, noun: str, subject: Sequence[QueryTerm], paths: Collection[str]) -> Facts:
    last = noun.rpartition(" ")[2]
    heading = re.compile(rf"\s*(?:#+ *|\*\*)\W*{re.escape(last)}\W*(?:\d|[IVX]+\b)", re.IGNORECASE)
    likely = index.parts.shard().retrieve(points_with(noun, index, _MOST_NUMBERED), index.scope())
    found = list[GraphFact]()
    for path, lines in lines_of(index, {one["Path"] for one in likely.values()} & {*paths}).items():
        told = [
            GraphFact(path.rpartition("/")[2], "", "", path, at, certain=True, is_comment=True)
            for at, line in lines.items()
            if heading.match(line)
        ]
        if len(told) > len(found) and says([one for one in subject if one.root != root(last)], path):
            found = told
    return _as_list(index, last, found, _FEWEST_NUMBERED)


def _as_list(index: LabelIndex, noun: str, found: Sequence[GraphFact], fewest: int) -> Facts:
    noun = noun.upper() if noun in _ACRONYMS else noun
    at = facts_at(found[:MOST_LISTED], index) if len(found) >= fewest else {}
    heading = list_heading(noun, len(found))
    if len(found) > MOST_LISTED:
        heading = heading.replace(":", f", the first {MOST_LISTED}:")
    return GraphFacts(tuple(at), len(found), heading), at
