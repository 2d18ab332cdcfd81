"""What a noun of a question lists: nodes of the graph, else what lines, files or documents have of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rag_assets.answer.asked import (
    Asked,
    Planned,
    answered,
    at_declarations,
    first_of,
    from_graphs,
    together,
)
from rag_assets.answer.graph_facts import Facts, declares
from rag_assets.answer.question_analysis import (
    HOW_OFTEN,
    SHOWN,
    WHAT_TESTED,
    Intent,
    QueryTerm,
    name_roots,
    root,
    root_set,
    roots_of,
)
from rag_assets.answer.question_kinds import (
    APPS,
    is_subject,
    things_done,
)
from rag_assets.identifiers import singular, word_set
from rag_assets.index.keyword.terms import FUNCTION_WORDS
from rag_assets.search import CodePlace
from rag_assets.search.ranking.penalties import is_test_path, non_product_code

if TYPE_CHECKING:
    from rag_assets.graph.csr_graph import Graph
    from rag_assets.search.index import LabelIndex


_OF_SCHEMAS = re.compile(r"\b(?:database|db|materiali[sz]ed|schemas?|sql)\b", re.IGNORECASE)
_IN_DATABASES = frozenset({"view", "procedure", "function", "trigger", "sequence", "synonym"})
_OF_SCRIPTS = root_set("exist database schema sql define declare create")
"""What a question says of any object of a database."""
_RELATED = re.compile(r"^\s*(?:have|has) \w|^\s*(?:do|does)\b.*\bbelongs?\b", re.IGNORECASE)
"""What a question asks of how entities belong together, which their names do not say."""
_OF_ALL = word_set("bundled built exists included provided shipped supplied supported")
"""What is said of all that a folder holds."""
_OF_LIBRARIES = {
    "analyzer": ("DiagnosticAnalyzer",),
    "code fix": ("CodeFixProvider",),
    "database context": ("DbContext",),
    "incremental generator": ("IIncrementalGenerator",),
    "source generator": ("IIncrementalGenerator", "ISourceGenerator"),
}
"""What the compiler of .NET and EF Core call so, and what these derive from."""
_SAID_OF_EF = root_set("database db ef core entity framework")
_OF_EF = re.compile(r"\b(?:database|db|ef(?: core)?|entity framework(?: core)?)[- ]?contexts?\b", re.IGNORECASE)
"""How people call what derives from `DbContext`, which the names of other contexts would be taken for."""
_AND_MORE = re.compile(r"(?<!\W)\W+and (?:in )?(?:how|what|when|where|which|who)\b.*$", re.IGNORECASE | re.DOTALL)
_OF_SCREENS = re.compile(
    r"\b(?:angular|client|dashboard|front[- ]?end|react|spa|svelte|ui|vue|web ?app)\b", re.IGNORECASE
)
_OF_PROSE = (".adoc", ".md", ".mdx", ".rst", ".txt")
"""Documents are pages too, but none that a front end shows."""
_MOST_BESIDE = 3  # words of an interface beside a noun, with its `I`
_FEWEST_OF_A_NAME = 2  # words: one is what many things are called


def list_of(asked: Asked, noun: str, rest: str) -> Planned | None:
    """What a noun lists, about the subject that the rest of a question says."""
    wish, called = asked.wish, noun
    if noun == "test" and (tested := tests_of_type_plan(asked, rest)):
        return tested
    about = roots_of(_AND_MORE.sub("", rest)) - (_OF_SCRIPTS if noun in _IN_DATABASES else {root("exist")})
    of_tests = noun == "test"  # of anything, also of settings
    subject = [word for word in asked.words if word.root in about and (is_subject(word) or of_tests)]
    subject = subject or [QueryTerm(one, root(one), 1.0, known=True) for one in things_done(rest)]
    if noun in ("entity", "model", "table") and _RELATED.search(rest):
        return None
    from rag_assets.answer.plans.code_lines import FEWEST_LISTED
    from rag_assets.answer.plans.listing import CREATED_TABLE, DATABASE_MODEL, HAVING, is_run_by_itself

    listing = replace(wish, intent=Intent.LIST, names=())
    if noun.endswith("context") and _OF_EF.search(asked.question.text):
        noun, subject = "database context", [word for word in subject if word.root not in _SAID_OF_EF]
        if not subject and (contexts := _derived_from_contract(asked, noun)):
            return contexts
    known = from_graphs(asked, listing, noun, subject, rest)
    if noun == "page" and _OF_SCREENS.search(rest) and all(one.path.endswith(_OF_PROSE) for one in known.at):
        from rag_assets.answer.plans.marked import Marked, marked_facts

        routes = (marked_facts(index, Marked.PAGE_ROUTES, rest) for index in asked.target.members.values())
        known = answered(asked, Intent.LIST, first_of(routes)) or replace(known, at={})
    sort, _, last = noun.rpartition(" ")
    if not known.at and sort not in ("", "base") and last in ("class", "type"):  # `which exception types are there?`
        noun, known = sort, from_graphs(asked, listing, sort, subject, rest)
    others = {"table": (CREATED_TABLE, DATABASE_MODEL), **dict.fromkeys(("entity", "model"), (DATABASE_MODEL,))}
    if noun == "model" or not known.at:
        found = [from_graphs(asked, listing, other, subject, rest) for other in others.get(noun, ())]
        known = max((one for one in found if one.at), key=lambda one: one.facts.total, default=known)
    if not known.at and noun in others and not subject:
        from rag_assets.answer.model_lines import models_of_scripts
        from rag_assets.answer.plans.code_lines import facts_listed

        scripts = (facts_listed(models_of_scripts(index), "database model", index) for index, _ in asked.graphs)
        known = answered(asked, Intent.LIST, together(scripts)) or known
    if of_tests and known.at and WHAT_TESTED.match(asked.question.text.strip()):
        from rag_assets.answer.plans.marked import cases_in

        cases = together(cases_in(index, known.facts.facts, subject) for index, _ in asked.graphs)
        return answered(asked, Intent.LIST, cases) or known
    if noun.rpartition(" ")[2] in SHOWN:
        from rag_assets.answer.plans.interface import web_pages, window_facts

        windows = (window_facts(index, graph, noun, subject) for index, graph in asked.graphs)
        known = answered(asked, Intent.LIST, together(windows)) or known
        is_other = known.at or (noun == "view" and _OF_SCHEMAS.search(asked.question.text))
        files = () if is_other else (web_pages(index, noun, subject) for index in asked.target.members.values())
        known = answered(asked, Intent.LIST, together(files)) or known
    from rag_assets.answer.plans.interface import marked_members

    of_it = [word for word in subject if word.root not in HAVING]
    marked = (marked_members(index, graph, noun, of_it, rest, known.facts.facts) for index, graph in asked.graphs)
    known = answered(asked, Intent.LIST, together(marked)) or known
    if is_run_by_itself(noun) and (not known.at or _may_run_otherwise(asked, noun)):
        ran = run_plan(asked, noun, subject, rest)
        return ran if ran is not None and (not known.at or ran.facts.total >= FEWEST_LISTED) else known
    if not known.at and noun == "middleware":  # functions that no type is called as
        from rag_assets.answer.plans.marked import Marked, marked_facts

        used = (marked_facts(index, Marked.MIDDLEWARES, rest) for index in asked.target.members.values())
        return answered(asked, Intent.LIST, first_of(used)) or known
    if not known.at and not subject and (derived := _derived_from_contract(asked, noun)):
        return derived
    if not known.at and noun == "page":  # of an app that no folder is called as
        everywhere = from_graphs(asked, listing, noun)
        if everywhere.at:
            return everywhere if all(word.root in APPS for word in subject) else known
    if not known.at and not subject and (choice := _choice_called(asked, noun)):
        return choice
    if not known.at and of_tests:
        wanted = {word.root for word in subject}
        is_told = not wanted or any(is_test_path(hit.path) and wanted <= roots_of(hit.text) for hit in asked.hits)
        said = " ".join(word.word for word in subject)
        return None if is_told else Planned(asked.wish, absent=f"no test is known whose name says {said}")
    if not known.at:
        from rag_assets.answer.plans.documents import documents_listed

        told = [documents_listed(index, noun, subject) for index, _ in asked.graphs]
        lacks = next((facts.heading for facts, at in told if not at and facts.heading), "")
        none = Planned(asked.wish, absent=lacks) if lacks else known
        says_more = [word for word in of_it if word.word not in _OF_ALL]
        if not lacks and not any(at for _, at in told):
            from rag_assets.answer.constant_families import family_listed
            from rag_assets.answer.folder_modules import modules_listed

            about = frozenset(word.root for word in says_more)
            of_folders = [modules_listed(index, graph, noun, about) for index, graph in asked.graphs]
            told = [
                *of_folders,
                *(family_listed(index, called) for index, _ in asked.graphs if not says_more or " " in called),
            ]
        return answered(asked, Intent.LIST, first_of(told)) or none
    return known


def _derived_from_contract(asked: Asked, noun: str) -> Planned | None:
    """What derives from a contract, or a base, that a noun means: `IPipelineBehavior`, `AggregateRoot`."""
    from rag_assets.answer.plans.code_lines import facts_listed
    from rag_assets.answer.plans.listing import derived_by_text

    called = "".join(map(str.capitalize, noun.split()))
    bases = [f"{before}{called}{after}" for after in ("", "Root", "Base") for before in ("I", "")]
    bases += _OF_LIBRARIES.get(noun, ())

    def derived(index: LabelIndex, graph: Graph) -> Facts:
        facts = derived_by_text(index, graph, bases).facts
        of_product = (one for one in facts if non_product_code(one.path) is None and one.source not in bases)
        own = dict.fromkeys(replace(one, verb="", target="") for one in of_product)
        return facts_listed([*own], noun, index)

    known = answered(asked, Intent.LIST, together(derived(index, graph) for index, graph in asked.graphs))
    return known or answered(asked, Intent.LIST, first_of(_implementing(*one, noun) for one in asked.graphs))


def _implementing(index: LabelIndex, graph: Graph, noun: str) -> Facts:
    """What implements the one interface whose name says all words of a noun, and one or two others:
    `IReconnectRetryPolicy` of reconnect policies."""
    from rag_assets.answer.plans.code_lines import FEWEST_LISTED, facts_listed
    from rag_assets.answer.plans.listing import nodes_listed, types_implementing

    wanted = name_roots(noun)

    def says(name: str) -> bool:
        own = name_roots(name)
        is_so = own[:1] == ["i"] and own[-1:] == wanted[-1:] and {*wanted} < {*own[1:]}
        return is_so and len(own) <= len(wanted) + _MOST_BESIDE

    contracts = [one for one in nodes_listed(graph, "interface") if says(one.name)] if len(wanted) > 1 else []
    found = types_implementing(graph, contracts[0].key) if len(contracts) == 1 else []
    facts = sorted((one.fact for one in found), key=lambda one: (one.path, one.line))
    return facts_listed(facts if len(facts) >= FEWEST_LISTED else (), noun, index)


def _choice_called(asked: Asked, noun: str) -> Planned | None:
    """The one enumeration that is called as a noun: `Grade` for the grades that exist."""
    from rag_assets.answer.listed_values import enumerations

    known = (one for _, graph in asked.graphs for one, _ in enumerations(graph))
    places = [CodePlace(one.path, one.line) for one in known if one.name.casefold() == noun.replace(" ", "")]
    return at_declarations(asked, places) if len(places) == 1 else None


def _may_run_otherwise(asked: Asked, noun: str) -> bool:
    """Whether what is scheduled is asked for, and no type says that a schedule runs it."""
    from rag_assets.answer.plans.listing import is_scheduled, says_scheduled

    return is_scheduled(noun) and not any(says_scheduled(graph) for _, graph in asked.graphs)


def run_plan(asked: Asked, noun: str, subject: Sequence[QueryTerm], rest: str) -> Planned | None:
    """What is run by a schedule, as code or else configuration says it, and where it is not asked how often by
    workers; of Celery that alone."""
    from rag_assets.answer.plans.code_lines import list_heading
    from rag_assets.answer.plans.listing import QUEUE, is_scheduled
    from rag_assets.answer.plans.schedules import configured_schedules, queued_members, scheduled_members

    of_queue, often = noun.startswith(QUEUE), HOW_OFTEN in rest
    tasks = [queued_members(asked.target, subject)] if of_queue or not (often or is_scheduled(noun)) else []
    members = [scheduled_members(asked.target, subject)] if often or not of_queue else []
    in_code = any(at for _, at in members)
    of_integration = not in_code and not of_queue and not noun.startswith("background")
    indexes = () if (in_code and not often) or not members else asked.target.members.values()
    configured = [configured_schedules(index, subject, of_integration=of_integration) for index in indexes]
    facts, at = together([*tasks, *members, *configured])
    others = "background job" if any(at for _, at in tasks) else "scheduled job"
    called = noun.replace("cron", "scheduled") if is_scheduled(noun) else others
    heading = list_heading(called, facts.total)
    return answered(asked, Intent.LIST, (replace(facts, heading=heading), at))


def tests_of_type_plan(asked: Asked, rest: str) -> Planned | None:
    """The tests of the type that is called as people say it: `the job scheduler` may be `JobScheduler`."""
    said = [word for word in re.findall(r"[A-Za-z]\w*", rest) if word.lower() not in FUNCTION_WORDS]
    if len(said) < _FEWEST_OF_A_NAME:
        return None
    for last in dict.fromkeys((said[-1], singular(said[-1]))):
        name = "".join(f"{word[:1].upper()}{word[1:]}" for word in (*said[:-1], last))
        if any(declares(graph, name, only_types=True) for _, graph in asked.graphs):
            known = from_graphs(asked, replace(asked.wish, intent=Intent.TESTS, names=(name,)))
            return known if known.at else None
    return None
