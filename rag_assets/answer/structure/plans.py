"""Plans for how code is structured: what a folder holds, how declarations are declared and made, how one of them leads
to another. The planner loads this module for questions that may be about that."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

from rag_assets.answer.asked import (
    Asked,
    Planned,
    answered,
    answered_or_absent,
    at_declarations,
    declaring,
    first_of,
    from_graphs,
    listed_or_absent,
    together,
)
from rag_assets.answer.graph_facts import Facts, GraphFacts, declares
from rag_assets.answer.plans.code_lines import MIGRATION, facts_listed
from rag_assets.answer.question_analysis import Intent
from rag_assets.answer.structure.declaration_questions import (
    SignatureOf,
    declaration_asked,
    example_asked,
    hierarchy_asked,
    in_tests_asked,
    number_asked,
    parameter_asked,
    signature_asked,
    together_asked,
    trait_asked,
    use_asked,
    used_sort_asked,
    users_asked,
)
from rag_assets.answer.structure.questions import (
    constructor_asked,
    contributors_asked,
    created_asked,
    diagram_asked,
    flow_asked,
    folder_asked,
    indexed_asked,
    outdated_asked,
    shape_asked,
)
from rag_assets.contracts.graph import NodeType
from rag_assets.graph.declared_types import of_kind
from rag_assets.search import CodePlace
from rag_assets.search.ranking.penalties import is_test_path, non_product_code

if TYPE_CHECKING:
    from rag_assets.graph.csr_graph import Graph
    from rag_assets.search.index import LabelIndex

_CONTRIBUTORS_ABSENT = "an index does not hold who wrote what; git does: git shortlog -sn HEAD"
_BLUEPRINT = "rag-assets artifact blueprint"
_OUTDATED_ABSENT = (
    "an index does not know which versions are the newest, or which have known holes; these do: "
    "dotnet list package --outdated (or --vulnerable), npm outdated, npm audit, pip-audit, cargo audit"
)


def structure_plan(asked: Asked) -> Planned | None:
    """What the first of these plans knows that is for the question."""
    text = asked.question.asking
    return next((known for plan in _PLANS if (known := plan(asked, text)) is not None), None)


def _folder(asked: Asked, text: str) -> Planned | None:
    """What a folder, a project or a namespace holds."""
    if asked.question.places or asked.wish.intent is Intent.OVERVIEW:
        return None
    wanted = folder_asked(text)
    if wanted is None or (any(asked.declared.values()) and not wanted.is_said):
        return None
    from rag_assets.answer.structure.folders import folder_facts

    return answered(asked, Intent.LIST, first_of(folder_facts(index, graph, wanted) for index, graph in asked.graphs))


def _files(asked: Asked, text: str) -> Planned | None:
    """The files of a kind, or with so many lines."""
    from rag_assets.answer.structure.files import files_asked, files_of

    wanted = files_asked(text)
    if wanted is None or asked.wish.names:
        return None
    told = [files_of(index, wanted) for index in asked.target.members.values()]
    return answered_or_absent(asked, told, together)


def _shaped(asked: Asked, text: str) -> Planned | None:
    """What is declared with a modifier, with so many implementations or so many parameters."""
    if asked.wish.names:
        return None
    wanted = shape_asked(text)
    if wanted is None or (wanted.is_of_all and any(of_kind(graph, NodeType.FUNC) for _, graph in asked.graphs)):
        return None  # functions of a database are meant
    from rag_assets.answer.structure.shapes import shaped

    known = together(shaped(index, graph, wanted) for index, graph in asked.graphs)
    return listed_or_absent(asked, known, f"no {wanted.said} is known")


def _trait(asked: Asked, text: str) -> Planned | None:
    """What is so of one declaration."""
    wanted = trait_asked(text)
    if wanted is None:
        return None
    if wanted.is_lifetime:
        from rag_assets.answer.plans.usage import registrations

        return answered(asked, Intent.LIST, registrations(asked.target, (), [wanted.name]))
    if wanted.part in ("directory", "file", "folder"):
        return _declared(asked, wanted.name)
    from rag_assets.answer.structure.traits import trait_facts

    return answered(asked, Intent.LIST, together(trait_facts(index, graph, wanted) for index, graph in asked.graphs))


def _declaration(asked: Asked, text: str) -> Planned | None:
    """How what a question names is declared."""
    name = declaration_asked(text)
    return _declared(asked, name) if name else None


def _declared(asked: Asked, name: str) -> Planned | None:
    from rag_assets.answer.structure.traits import declared_at

    return at_declarations(asked, [place for index, graph in asked.graphs for place in declared_at(index, graph, name)])


def _signature(asked: Asked, text: str) -> Planned | None:
    """The declarations whose signatures say what a question wants."""
    wanted = signature_asked(text)
    if wanted is None:
        return None
    from rag_assets.answer.structure.signatures import signature_facts

    known = together(signature_facts(index, graph, wanted) for index, graph in asked.graphs)
    of_type = wanted.of in (SignatureOf.TAKES, SignatureOf.RETURNS)
    is_sure = not known[1] and wanted.is_named and (not of_type or bool(declaring(wanted.name, asked.target)))
    heading = f"{wanted.heading[:1].lower()}{wanted.heading[1:]}"
    return listed_or_absent(asked, known, f"there are no {heading} in the product" if is_sure else "")


_CLOSED = re.compile(
    r"^\W*(?i:which|what|who|list|show|find)\b.*\b(?i:implement\w*|handles?|handlers?|inherits?|extends?|deriv\w+)\b.*?"
    r"(?<![\w.])(?P<name>[A-Z]\w*)<(?:[\w.,\[\]? ]*\W)?(?P<argument>(?!T[A-Z])[A-Z]\w*[a-z]\w*)[\w.,\[\]? ]*>\W*$"
)
"""A question for what derives from a base with a type argument, which is no parameter `T`."""


def _closed(asked: Asked, text: str) -> Planned | None:
    """What derives from a base with a type argument."""
    found = _CLOSED.match(text)
    if found is None:
        return None
    from rag_assets.answer.structure.signatures import bases_closed

    known = together(bases_closed(index, *found.groups()) for index in asked.target.members.values())
    return answered(asked, Intent.IMPLEMENTATIONS, known)


def _members(asked: Asked, text: str) -> Planned | None:
    """The members of a type, of a sort and with a modifier."""
    from rag_assets.answer.structure.members import member_facts, members_asked

    wanted = members_asked(text)
    if wanted is None:
        return None
    told = [member_facts(index, graph, wanted) for index, graph in asked.graphs]
    absent = f"{wanted.name} has no {wanted.said}" if wanted.modifier and any(has for _, has in told) else ""
    return listed_or_absent(asked, together(facts for facts, _ in told), absent)


def _parameter(asked: Asked, text: str) -> Planned | None:
    """What a parameter means, by the comments of the methods that have it."""
    name, method = parameter_asked(text)
    if not name:
        return None
    from rag_assets.answer.structure.signatures import parameter_facts

    known = together(parameter_facts(index, graph, name, method) for index, graph in asked.graphs)
    return answered(asked, Intent.LIST, known)


def _use(asked: Asked, text: str) -> Planned | None:
    """Whether one thing uses another, which types of a sort do, and which of a sort it uses."""
    use, users, of_sort = use_asked(text), users_asked(text), used_sort_asked(text)
    if use is None and users is None and of_sort is None:
        return None
    from rag_assets.answer.structure.uses import use_facts, used_sort_facts, users_facts

    if of_sort is not None:
        used = (used_sort_facts(index, graph, of_sort) for index, graph in asked.graphs)
        return answered(asked, Intent.LIST, together(used))
    if users is not None:
        return answered(asked, Intent.LIST, together(users_facts(index, graph, users) for index, graph in asked.graphs))
    told = [use_facts(index, graph, use) for index, graph in asked.graphs if use is not None]
    known = answered_or_absent(asked, told, first_of)
    if known is None or not known.at or use is None or not use.how:
        return known
    wish = replace(asked.wish, intent=Intent.EXPLANATION)  # the quotes tell how
    return replace(known, wish=wish, facts=replace(known.facts, leads=True))


def _lacking(asked: Asked, text: str) -> Planned | None:
    """What nothing handles, tests or uses."""
    from rag_assets.answer.structure.lacking import lack_asked, lacking_facts

    wanted = lack_asked(text)
    if wanted is None:
        return None
    facts, at, absent = lacking_facts(asked.graphs, wanted)
    return listed_or_absent(asked, (facts, at), absent)


_ABLE = re.compile(
    r"^\W*(?:(?:which|what|list|show|are|is|there|any|me|all|the) )*(?:class(?:es)?|types?|structs?|objects?|records?)"
    r" (?:(?:that|which) )?(?:are|is|can be) (?P<able>\w+able)\W*$|^\W*(?:(?:which|what|list|show|are|there|all|the) )+"
    r"(?P<before>\w+able) (?:class(?:es)?|types?|structs?|objects?|records?)\W*$",
    re.IGNORECASE,
)


def _ranked(asked: Asked, text: str) -> Planned | None:
    """The declarations that have the most of something, or too much."""
    from rag_assets.answer.structure.ranked import ranking_asked, ranking_facts

    wanted = ranking_asked(text)
    if wanted is None:
        return None
    return answered(asked, Intent.LIST, first_of(ranking_facts(index, graph, wanted) for index, graph in asked.graphs))


def _able(asked: Asked, text: str) -> Planned | None:
    """The types that say by a base that they are disposable, comparable or the like."""
    found = _ABLE.match(text)
    if found is None:
        return None
    from rag_assets.answer.plans.listing import derived_by_text

    able = (found["able"] or found["before"]).capitalize()
    names = [f"{before}{able}" for before in ("I", "", "IAsync", "Auto")]

    def deriving(index: LabelIndex, graph: Graph) -> Facts:
        facts = derived_by_text(index, graph, names).facts
        own = dict.fromkeys(one for one in facts if non_product_code(one.path) is None)
        return facts_listed([*own], f"{able.lower()} type", index) if own else (GraphFacts(), {})

    return answered(asked, Intent.LIST, together(deriving(index, graph) for index, graph in asked.graphs))


def _pattern(asked: Asked, text: str) -> Planned | None:
    """The design patterns that names of types tell, or the types of one."""
    from rag_assets.answer.structure.patterns import is_asked_in_passing, pattern_asked, pattern_facts

    wanted = pattern_asked(text)
    if wanted is None:
        return None
    known = together(pattern_facts(index, graph, wanted) for index, graph in asked.graphs)
    absent = f"no name of a type tells {'a design pattern' if not wanted else f'the pattern {wanted}'}"
    return listed_or_absent(asked, known, "" if is_asked_in_passing(text) else absent)


def _hosts(asked: Asked, text: str) -> Planned | None:
    """The hosts of other systems that code and settings name."""
    from rag_assets.answer.structure.hosts import asks_hosts, host_facts

    return answered(asked, Intent.LIST, host_facts(asked.target)) if asks_hosts(text) else None


def _newest_migration(asked: Asked, text: str) -> Planned | None:
    """The migration that is run last, or first."""
    found = _NEWEST.match(text)
    if found is None:
        return None
    paths = asked.target.parts.shard().values("Path", asked.target.scope())
    named = ((_NUMBERED.search(path), path) for path in paths if MIGRATION.search(path) and not is_test_path(path))
    run = [([*map(int, re.findall(r"\d+", found[1]))], found[0], path) for found, path in named if found is not None]
    if not run:
        return None
    return at_declarations(asked, [CodePlace((min if found["first"] else max)(run)[2], 0)])


def _migrations(asked: Asked, text: str) -> Planned | None:
    """The migrations that create, change or drop a table or a column."""
    from rag_assets.answer.structure.migrations import migration_facts, migrations_asked

    wanted = migrations_asked(text)
    if wanted is None:
        return None
    known = [migration_facts(index, wanted) for index in asked.target.members.values()]
    return answered_or_absent(asked, known, together)


def _contributors(asked: Asked, text: str) -> Planned | None:
    """That no index holds who wrote what."""
    return Planned(asked.wish, absent=_CONTRIBUTORS_ABSENT) if contributors_asked(text) else None


def _indexed(asked: Asked, text: str) -> Planned | None:
    """Which commits are indexed."""
    if not indexed_asked(text):
        return None
    from rag_assets.answer.plans.history import NO_COMMITS, last_commits

    members = asked.target.members.values()
    known = together(last_commits(index, is_only=len(members) == 1) for index in members)
    return listed_or_absent(asked, known, NO_COMMITS)


def _in_tests(asked: Asked, text: str) -> Planned | None:
    """Whether the product uses something, or its tests alone."""
    name = in_tests_asked(text)
    if not name:
        return None
    from rag_assets.answer.structure.uses import product_use_facts

    return answered_or_absent(asked, [product_use_facts(index, graph, name) for index, graph in asked.graphs], first_of)


def _exchange(asked: Asked, text: str) -> Planned | None:
    """What an endpoint takes or answers with, before the code of its handler."""
    from rag_assets.answer.structure.exchanges import exchange_asked, exchange_facts, places_of_handlers

    wanted = exchange_asked(text)
    if wanted is None:
        return None
    shown = at_declarations(
        asked, [one for _, graph in asked.graphs for one in places_of_handlers(graph, wanted.route)]
    )
    if shown is None:
        return None
    facts, at = together(exchange_facts(index, graph, wanted) for index, graph in asked.graphs)
    return replace(shown, facts=replace(facts, leads=True), at=at) if at else shown


def _example(asked: Asked, text: str) -> Planned | None:
    """The uses of what a question wants an example of, and the first of the product as a quote."""
    name = example_asked(text)
    known = from_graphs(asked, replace(asked.wish, intent=Intent.USAGE, names=(name,))) if name else None
    if known is None or not known.at:
        return None
    return replace(known, decides=True, lead=(next(iter(known.at.values())),))


def _hierarchy(asked: Asked, text: str) -> Planned | None:
    """How a type is declared, with what it derives from, and what derives from it."""
    name = hierarchy_asked(text)
    declared = _declared(asked, name) if name else None
    if declared is None:
        return None
    derived = from_graphs(asked, replace(asked.wish, intent=Intent.IMPLEMENTATIONS, names=(name,)))
    return replace(declared, facts=replace(derived.facts, leads=True), at=derived.at)


def _number(asked: Asked, text: str) -> Planned | None:
    """Where code of the product has a number."""
    digits = number_asked(text)
    if not digits:
        return None
    from rag_assets.answer.structure.constructs import number_facts

    return listed_or_absent(asked, number_facts(digits, asked.target), f"no code of the product has {digits}")


def _together(asked: Asked, text: str) -> Planned | None:
    """Which files change with what a question names."""
    thing = together_asked(text)
    if not thing:
        return None
    from rag_assets.answer.plans.history import NO_COMMITS, changed_together, paths_of

    points = declaring(thing, asked.target)
    paths = [(index, paths_of(index, thing, points)) for index in asked.target.members.values()]
    if not any(known for _, known in paths):
        return None
    known = together(changed_together(index, of_thing) for index, of_thing in paths if of_thing)
    is_git = any(index.manifest.is_git for index, of_thing in paths if of_thing)
    absent = f"of the commits that are known no two changed another file with {thing}" if is_git else NO_COMMITS
    return listed_or_absent(asked, known, absent)


def _constructor(asked: Asked, text: str) -> Planned | None:
    """The constructors of a type, by what a question asks for: what it is given."""
    name = constructor_asked(text)
    if not name:
        return None
    from rag_assets.answer.structure.shapes import constructed

    return at_declarations(asked, [place for index, graph in asked.graphs for place in constructed(index, graph, name)])


def _flow(asked: Asked, text: str) -> Planned | None:
    """How one thing leads to another."""
    wanted = flow_asked(text)
    if wanted is None:
        return None
    from rag_assets.answer.structure.flows import flow_facts

    told = [flow_facts(index, graph, wanted) for index, graph in asked.graphs]
    return answered_or_absent(asked, told, first_of)


def _created(asked: Asked, text: str) -> Planned | None:
    """Where code makes an object of the type of a question."""
    name = created_asked(text)
    is_type = name in asked.wish.names or any(declares(graph, name, only_types=True) for _, graph in asked.graphs)
    if not name or not is_type:
        return None
    from rag_assets.answer.plans.usage import CREATING, senders_of

    return answered(asked, Intent.LIST, senders_of(asked.target, [name], CREATING))


def _outdated(asked: Asked, text: str) -> Planned | None:
    """That no index knows which packages are old."""
    return Planned(asked.wish, absent=_OUTDATED_ABSENT) if outdated_asked(text) else None


_DRAWN = re.compile(r"\b(?:of|for|around) (?:the )?`?([A-Z][\w.]*\w)")


def _diagram(asked: Asked, text: str) -> Planned | None:
    """That an answer is text, and the commands that draw."""
    if not diagram_asked(text) or not all(asked.declared.values()):
        return None
    said = (*asked.wish.names, *_DRAWN.findall(text))
    known = [name for name in said if declaring(name, asked.target)]
    drawing = [f"rag-assets graph around {shlex.quote(name)} --mermaid" for name in known[:1]]
    return Planned(
        asked.wish, absent=f"an answer is text and quotes; this draws: {' or '.join([*drawing, _BLUEPRINT])}"
    )


_NUMBERED = re.compile(r"(?<=/)[vV]?(\d[\d._-]*)(?![^/]*\.(?:[dD]esigner\.|resx$))[^/]*(?:/(?:migration|up)\.\w+)?$")
"""The name of a migration, which may be that of its folder, with its number."""
_NEWEST = re.compile(
    r"^\W*(?:(?:what|which|show|explain|describe|where|does|did|is|was|me|are) )*(?:the )?"
    r"(?:(?P<last>latest|last|newest|most recent)|(?P<first>first|oldest|initial)) (?:\w+ )?migrations?"
    r"(?: (?:do|does|did|change|changes|add|adds|called|for|about))*\W*$",
    re.IGNORECASE,
)


def _held(asked: Asked, text: str) -> Planned | None:
    """Whether one thing may have several of another."""
    from rag_assets.answer.structure.held import held_asked, held_facts

    wanted = held_asked(text)
    if wanted is None:
        return None
    return answered(asked, Intent.LIST, together(held_facts(index, graph, wanted) for index, graph in asked.graphs))


_PLANS = (
    _held,
    _diagram,
    _newest_migration,
    _migrations,
    _contributors,
    _outdated,
    _trait,
    _declaration,
    _closed,
    _members,
    _signature,
    _parameter,
    _use,
    _in_tests,
    _lacking,
    _ranked,
    _able,
    _pattern,
    _hosts,
    _indexed,
    _exchange,
    _example,
    _hierarchy,
    _number,
    _together,
    _folder,
    _files,
    _shaped,
    _constructor,
    _flow,
    _created,
)
