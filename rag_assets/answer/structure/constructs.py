"""What reviewers look for in code: waits that block, exceptions that nobody hears of, addresses and SQL in strings, and
what else has a form of its own, whatever a project calls its types. `constructs.yaml` says how code writes each."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import msgspec

from rag_assets.answer.asked import Asked, Planned, answered_or_absent, declaring, first_of
from rag_assets.answer.graph_facts import Facts, FactsOrAbsent, GraphFact
from rag_assets.answer.passages import CONFIGURATION, PROSE
from rag_assets.answer.plans.code_lines import (
    facts_naming,
    lines_listed,
    lines_of,
    list_heading,
    points_with,
    product_of,
)
from rag_assets.contracts.graph import NodeType, Relation
from rag_assets.graph.csr_graph import IN
from rag_assets.graph.declared_types import of_kind
from rag_assets.graph.lookup import short_name
from rag_assets.identifiers import singular
from rag_assets.index.vectors.filters import SearchFilters, SearchScope
from rag_assets.search.line_references import sections_of
from rag_assets.search.ranking.penalties import is_test_path
from rag_assets.settings.yaml_loader import InvalidFileError, Problem, load_struct, read_yaml, under_key

if TYPE_CHECKING:
    from rag_assets.search.index import Searchable

_LEAD = (
    r"(?:(?:where|which|what|how|are|is|do|does|did|list|find|show|how many|me|all|any|the|an?|there|we|it|i|code"
    r"|methods?|class(?:es)?|files?|places?|parts?|types?|functions?|calls?|uses?|usages?|of|to|that|have|has|contains?|with"
    r"|(?:stored\s+)?proc(?:edure)?s?|triggers?|sql|our|this|project|in|still|ever|currently|makes?|gets?|being|app|application|services?|controllers?|actions?|endpoints?|routes?)\s+)"
)
_ENDS = (
    r"(?:\s+(?:is|are|exists?|used|called|made|done|anywhere|somewhere|here|there|left|do we have|does it have))*"
    r"(?:\s+(?:in|inside|within|by)\s+(?:(?:the |our |this )?(?:whole |entire |production )*"
    r"(?:code(?: ?base)?|project|repo(?:sitory)?|solution|app(?:lication)?|system|product)"
    r"|(?:the )?`?(?P<within>[\w.]*\w)`?(?: (?:class|folder|module|namespace|project|type))?))?"
)
_WHERE = re.compile(
    r"\b(?:where|any|list|find|show|how many|which|uses?|usages?|places?|(?:is|are) there|code|methods?|class(?:es)?"
    r"|allowed|builds?|centrally|compatible|enabled|signed|strong(?:ly)?|supports?|treated"
    r"|proc(?:edure)?s?|triggers?|files?|used|happens|stored?|(?:en|de)crypt(?:ed|s)|has|have|contains?|determined|left|cached|deprecated|obsolete"
    r"|what [\w ]+ are (?:configured|declared|defined|registered))\b",
    re.IGNORECASE,
)
"""A question for places, or for a setting of a build, as `what are locks?` is none."""
_OF_SQL = re.compile(r"\b(?:proc(?:edure)?s?|triggers?)\b", re.IGNORECASE)
"""What only SQL has: which of them are deprecated no form of code tells."""
_OF_SQL_TOO = re.compile(r"\b(?:SQL|database)\b")
_OF_NULLS = ("null result", "returned null")
_GO_FUNCTION = re.compile(r"\bfunc\b.*\)\s*(?P<result>\([^()]*\)|[\w.*\[\]]+)?\s*\{\s*$")
_MOST_WITH_WORDS = 5_000  # sections with a word that a form of code always has
_ONE = r"(?:the )?`?(?P<within>[\w.]*\w)`?(?: (?:class|method|action|endpoint|service|type|function))?"


_OF_USER = re.compile(
    r"\W*(?i:(?:how|when|where|why)\s+)?(?i:does|do|can)\s+(?:the\s+)?`?(?P<user>(?=[^\W_]*[A-Z_.]\w)[\w.]*\w)`?\s+"
    r"(?P<does>(?i:acquire|call|contain|do|have|hold|make|perform|run|set|start|take|use)\s+.+?)\W*"
)
"""Whether, where or why one thing of code has a form: as where that is in it."""


class _Written(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    written: tuple[str, ...]
    asked: tuple[str, ...] = ()
    asked_of: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    words: str = ""
    configuration: bool = False
    tests: bool = False
    everywhere: bool = False


@dataclass(frozen=True, slots=True)
class ConstructAsked:
    """A form of code that a question asks for: what one of it is called, how it is written, in which languages if not
    in any, with one of which `words` if any, and the declaration or folder that it is wanted `within`, if not in all of
    the product. `of_one`: what the question tells of that declaration; `everywhere`: also what is beside the product,
    which then comes last. Texts that are `skipped` cannot have it."""

    noun: str
    written: re.Pattern[str]
    languages: tuple[str, ...]
    words: str
    skipped: frozenset[str]
    within: str
    of_one: bool
    of_tests: bool
    everywhere: bool


_OF_SORT = re.compile(
    r"\W*(?:(?:which|what|list|show|find|me|the|all|our|of|are|there|any) )+"
    r"(?P<sort>endpoints?|routes?|actions?|controllers?|(?:stored )?(?:procedures?|procs?))\b",
    re.IGNORECASE,
)


@cache
def _known() -> Mapping[str, _Written]:
    problems: list[Problem] = []
    file = files(__package__) / "constructs.yaml"
    root = under_key(read_yaml(file, "constructs.yaml"), "constructs", problems)
    found = {noun: load_struct(_Written, node, noun, problems) for noun, node in root.value.items()}
    if problems:
        raise InvalidFileError(problems)
    return {noun: one for noun, one in found.items() if one is not None}


def construct_plan(asked: Asked) -> Planned | None:
    """The places with the form of code that a question is for."""
    wanted = construct_asked(asked.question.asking)
    if wanted is None:
        return None
    points = declaring(wanted.within, asked.target) if wanted.within else []
    if wanted.of_one and not points:
        return None
    facts = construct_facts(wanted, points, asked.target, _among(asked))
    return answered_or_absent(asked, [facts], first_of)


def _among(asked: Asked) -> Callable[[GraphFact], bool]:
    """Whether a place is in one of the endpoints or controllers that a question asks of, if it asks of these."""
    found = _OF_SORT.match(asked.question.asking)
    if found is None:
        return lambda _: True
    sort = singular(found["sort"].lower())
    if sort.rpartition(" ")[2] in ("procedure", "proc"):  # a script that declares none may have it too
        routines = {graph.names[node].casefold() for _, graph in asked.graphs for node in of_kind(graph, NodeType.PROC)}
        return lambda fact: not routines or fact.source.rpartition(".")[2].casefold() in routines
    if sort not in ("endpoint", "route", "action"):
        return lambda fact: sort in fact.source.rpartition(".")[0].casefold() or sort in fact.source.casefold()
    exposing = {
        (short_name(edge.source), edge.path)
        for _, graph in asked.graphs
        for node in of_kind(graph, NodeType.ENDPOINT)
        for edge in graph.edges_of(node, IN, Relation.EXPOSES)
    }
    members, paths = {name for name, _ in exposing}, {path for _, path in exposing}
    if not exposing:  # of a framework that the graph does not know
        return lambda _: True
    return lambda fact: fact.source in members or (fact.path in paths and "Controller" not in fact.source)


def construct_asked(question: str) -> ConstructAsked | None:
    """The form of code that a question is for; None for others."""
    user = ""
    if found := _OF_USER.fullmatch(question):
        user = found["user"]
        question = f"where {found['does']} in {user}"
    if _WHERE.search(question) and (found := _for_places().fullmatch(question)):
        noun = next(noun for at, noun in enumerate(_known()) if found.groupdict().get(f"form{at}"))
        if user and found["within"] != user:
            return None  # `Product` may be a type
        if _OF_SQL.search(question) and "sql" not in _known()[noun].languages and not _OF_SQL_TOO.search(noun):
            return None
        return _wanted(noun, found["within"] or "", of_one=False)
    for noun, one in _known().items():
        for form in one.asked_of:
            if found := re.fullmatch(rf"\W*{form.replace('{}', _ONE)}\W*", question, re.IGNORECASE):
                return _wanted(noun, found["within"], of_one=True)
    return None


@cache
def _for_places() -> re.Pattern[str]:
    """How questions ask for places, each form of code in a group with its number."""
    asked = (f"(?P<form{at}>{'|'.join(one.asked)})" for at, one in enumerate(_known().values()) if one.asked)
    return re.compile(rf"\W*{_LEAD}+?(?:{'|'.join(asked)}){_ENDS}\W*", re.IGNORECASE)


def _wanted(noun: str, within: str, *, of_one: bool) -> ConstructAsked:
    one = _known()[noun]
    written = re.compile("|".join(one.written), re.MULTILINE)
    skipped = PROSE if one.configuration else PROSE | CONFIGURATION
    return ConstructAsked(noun, written, one.languages, one.words, skipped, within, of_one, one.tests, one.everywhere)


def construct_facts(
    wanted: ConstructAsked, declaring: Sequence[str], target: Searchable, fits: Callable[[GraphFact], bool]
) -> FactsOrAbsent:
    """Every place of the product that has a form of code and fits, with the points that show it; of what it is wanted
    within its own, be it tests, and of a declaration those of the files of the `declaring` points. That there is
    none, where code could have it and what the question names is known: `in memory` may mean anything."""
    shard, scope = target.parts.shard(), target.scope()
    paths = {place.path for place in shard.places(declaring, scope).values()}
    scope = scope.narrowed(SearchFilters(languages=wanted.languages)) if wanted.languages else scope
    if paths and (wanted.of_one or not wanted.within.islower()):  # `the checkout` may be a folder
        code: Mapping[str, Mapping[str, Any]] = sections_of(paths, shard, scope)
    elif wanted.within or wanted.everywhere:  # maybe the tests
        code = shard.retrieve(sorted(_likely(wanted, target, scope)), scope)
    elif wanted.of_tests:
        all_of_it = shard.retrieve(sorted(_likely(wanted, target, scope)), scope)
        code = {point: one for point, one in all_of_it.items() if is_test_path(str(one.get("Path", "")))}
    else:
        code = product_of(_likely(wanted, target, scope), target)
    everywhere = facts_naming(wanted.written, code, target, ("", "", True), wanted.skipped, each_line=True)
    if wanted.noun in _OF_NULLS:
        everywhere = _without_successes(everywhere, target)
    found = {fact: point for fact, point in everywhere.items() if _is_within(fact, wanted.within) and fits(fact)}
    within = f" in {wanted.within}" if wanted.within else ""
    facts, shown = lines_listed(found, list_heading(wanted.noun, len(found)).replace(":**", f"{within}:**"))
    is_named = not wanted.within or (bool(declaring) and not wanted.within.islower())
    anywhere = "the tests" if wanted.of_tests else "any file" if wanted.everywhere else "the code of the product"
    place = wanted.within or anywhere
    is_absent = bool(code) and is_named and not found and not wanted.of_one and (bool(wanted.within) or not everywhere)
    return facts, shown, f"no {wanted.noun} of a known form is in {place}" if is_absent else ""


def _without_successes(found: Mapping[GraphFact, str], target: Searchable) -> dict[GraphFact, str]:
    """Without the lines of Go that only say that nothing failed: `return nil` where the result is an error."""
    paths = {fact.path for fact in found if fact.path.endswith(".go")}
    lines = {path: of for index in target.members.values() for path, of in lines_of(index, paths).items()}

    def is_success(fact: GraphFact) -> bool:
        known = lines.get(fact.path, {})
        own = known.get(fact.line, "")
        depth = len(own) - len(own.lstrip())
        for at in range(fact.line, 0, -1):
            text = known.get(at, "")
            if (begins := _GO_FUNCTION.search(text)) and len(text) - len(text.lstrip()) < depth:
                return begins["result"] in ("error", "(err error)")
        return False

    return {fact: point for fact, point in found.items() if fact.path not in paths or not is_success(fact)}


def _likely(wanted: ConstructAsked, target: Searchable, scope: SearchScope) -> Collection[str]:
    """The points that may have a form of code: to read all of a large index takes two seconds."""
    with_words = points_with(wanted.words, target, _MOST_WITH_WORDS) if wanted.words else ()
    return with_words or target.parts.shard().ids(scope)


def number_facts(digits: str, target: Searchable) -> Facts:
    """Every line of code of the product that has a number, be it with a mark between its digits."""
    whole, point, fraction = digits.partition(".")
    marked = "[_']?".join(whole) + re.escape(point) + fraction
    written = re.compile(rf"(?<![\w.#-]){marked}(?:[mMfFdDlLuU]{{1,2}})?(?![\w.]|\s*(?:px|%))", re.MULTILINE)
    code = product_of(target.parts.shard().ids(target.scope()), target)
    found = facts_naming(written, code, target, ("", "", True), each_line=True)
    return lines_listed(found, f"**{len(found):,} lines with {digits}:**")


def _is_within(fact: GraphFact, within: str) -> bool:
    """Whether a place is in a declaration, a file or a folder that is called so."""
    if not within:
        return True
    name, source, path = within.casefold(), fact.source.casefold(), fact.path.casefold()
    parts = {*source.split("."), *path.split("/"), path.rpartition("/")[2].partition(".")[0]}
    return name in parts or f".{source}".endswith(f".{name}")
