"""Which plan answers a question: what the index itself knows for it, beside what a search finds for its words.

The plans are tried in their order, those for the narrowest questions first, and the first that knows something of the
index answers. Their modules are imported where a question asks for them: few do, and a start is short.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from rag_assets.answer.asked import MOST_DECLARING, Asked, declaring, says_contract, with_it
from rag_assets.answer.graph_facts import (
    MOST_FACTS,
    GraphFact,
    GraphFacts,
    declares,
    facts_about,
    facts_at,
    named_nodes,
    near_names,
    with_generic_forms,
)
from rag_assets.answer.question_analysis import (
    HOW_OFTEN,
    SHOWN,
    Intent,
    QueryIntent,
    QueryTerm,
    asks_impact,
    asks_purpose,
    asks_what_happens,
    listed_noun,
    members_asked,
    root,
    roots_of,
    settings_subject,
    words_as_names,
    written_name,
)
from rag_assets.answer.question_kinds import (
    APPS,
    access_asked,
    asks_about_threads,
    asks_choice,
    asks_failed_validation,
    asks_handler,
    asks_parameters,
    asks_setting,
    asks_value,
    asks_what_is_registered,
    asks_what_is_thrown,
    asks_which_are_thrown,
    asks_who_catches,
    code_asked,
    command_line_asked,
    constants_asked,
    convention_noun,
    data_asked,
    errors_asked,
    extension_asked,
    feature_asked,
    file_asked,
    foreign_keys_asked,
    granted_asked,
    hub_asked,
    is_subject,
    keys_asked,
    length_asked,
    package_asked,
    registered_where,
    says_something,
    settings_asked,
    things_done,
    validated_asked,
    values_named,
    way_asked,
)
from rag_assets.answer.whole_project import (
    MIGRATE,
    Everyday,
    EverydayQuestion,
    Marked,
    everyday_question,
    listed_of_whole,
    marked_asked,
)
from rag_assets.index.keyword.terms import FUNCTION_WORDS
from rag_assets.search import CodePlace, QuestionKind
from rag_assets.search.line_references import meant, sections_at, sections_of
from rag_assets.search.ranking.penalties import non_product_code

if TYPE_CHECKING:
    from rag_assets.answer.plans.settings import Setting
    from rag_assets.search.index import LabelIndex, Searchable

    Facts = tuple[GraphFacts, Mapping[GraphFact, str]]

_OF_ERRORS = frozenset({Intent.EXPLANATION, Intent.DEFINITION, Intent.USAGE})
_OF_CONVENTIONS = frozenset({Intent.EXPLANATION, Intent.ROUTES, Intent.TABLES})
_OF_LISTS = frozenset({Intent.EXPLANATION, Intent.ROUTES, Intent.TABLES, Intent.DEFINITION})
_OF_THE_INDEX_ALONE = frozenset(
    {Intent.LIST, Intent.STEPS, Intent.RELEASE, Intent.USAGE, Intent.IMPLEMENTATIONS, Intent.TABLES}
)
"""What no search tells where a plan does."""
_OF_COMPOSE = re.compile(r"\bports?\b|\benv(?:ironment)? var(?:iable)?s?\b", re.IGNORECASE)
_STARTING = re.compile(r"\b(?:apphost|aspire|compose|containers?|docker)\b", re.IGNORECASE)
_APP_HOST = re.compile(r"\bapp host\b", re.IGNORECASE)
_MOST_NEAR = 3  # files of one name
_MOST_PLACES = 8  # that say which columns a table has
_OF_A_TABLE = 30  # lines after its first section
_MOST_OUTSIDE = 3  # files that are named where a filter leaves out all
_CALLED = re.compile(r"@?\w+")
_OF_KEYS = re.compile(
    r"(?:short[-_]?cuts?|hot[-_]?keys?|key[-_]?(?:bindings?|map))[^/]*\.(?:adoc|html?|mdx?|rst|txt)$", re.IGNORECASE
)
_SWITCHED = re.compile(
    r" (?:can (?:be|i|we|you) )?(?:are )?(?:(?:switch|turn|toggl|enabl|disabl)\w*|on|off|and|or|/| )+\W*$",
    re.IGNORECASE,
)
"""Of features."""
_VALIDATION_ERROR = "ValidationException"  # of FluentValidation, .NET and Java, and as projects call theirs
_OPTION = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]+\b")
_OF_TABLES = re.compile(r"\bcolumns?\b|\btables?\b", re.IGNORECASE)
_OVERLOADS = re.compile(r"\boverloads?\b|\boverloaded\b", re.IGNORECASE)
_IN_SCRIPTS = re.compile(
    r"\b(?:columns?|fields?|primary keys?|pks?|schemas?|schemata|roles?|extensions?|domains?|enum\w*|types?|partition|"
    r"materiali[sz]ed|index(?:es)?|indices|triggers?|who|grant\w*|permissions?|privileges|rights|users?|logins?)\b",
    re.IGNORECASE,
)
"""What lines of SQL scripts may tell of."""
_EXPLAINED = re.compile(r"\W*(?:why|how (?:come|do|does|did|is|are|was|were|can|should))\b", re.IGNORECASE)
"""Of questions that no line of a script answers by what it declares."""
_OF_DATABASES = re.compile(
    r"\b(?:columns?|tables?|primary keys?|database|sql|postgres(?:ql)?|schemas?|schemata|partition|materiali[sz]ed|"
    r"index(?:es)?|indices|triggers?|stored procedures?|views?|user[- ]defined)\b",
    re.IGNORECASE,
)
_IN_DATABASES = frozenset({"view", "procedure", "function", "trigger", "sequence", "synonym"})
_OF_SCRIPTS = frozenset(map(root, ("exist", "database", "schema", "sql", "define", "declare", "create")))
"""What a question says of any object of a database."""
_PACKAGES = frozenset({"package", "dependency", "library"})
_OWN_PACKAGES = re.compile(r"\b(?:published|released|shipped|produced|built|pushed)\b", re.IGNORECASE)
"""What is said of the packages that a project makes, and not of those that it refers to."""
_OF_PACKAGES = frozenset({Intent.USAGE, Intent.DEPENDENCIES})
"""`Which packages does it depend on?` is for a list."""
_GRAPH_ENTRIES = 4  # hits whose nodes a question about routes or tables starts from
_OF_ATTRIBUTES = "Attribute"
"""What C# leaves out of the name of an attribute where it marks something with it."""
_FEWEST_OF_A_NAME = 2  # words: one is what many things are called


@dataclass(frozen=True, slots=True)
class Planned:
    """What a plan knows: facts with the points that show them, and `wish`, the question as it answers it. `decides`: it
    is the answer, however well a search fits. `lead` are the points that an answer begins with, `near` names that are
    nearly those that nothing declares, `warnings` say why there is no graph, `setting` is the share of the question
    that the name of a setting says, `absent` says what was looked for and is nowhere, `outside` how many facts a filter
    leaves out."""

    wish: QueryIntent
    facts: GraphFacts = field(default_factory=GraphFacts)
    at: Mapping[GraphFact, str] = field(default_factory=dict)
    decides: bool = False
    lead: tuple[str, ...] = ()
    near: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    setting: float = 0.0
    absent: str = ""
    outside: int = 0


def planned(asked: Asked, within: Searchable | None = None) -> Planned:
    """What the index itself knows for a question; `within` what its filters let through, where it has some."""
    best, near, warnings = Planned(asked.wish), dict[str, None](), dict[str, None]()
    answering = None
    for plan in _PLANS:
        known = plan(asked)
        if known is not None:
            best = known
            near |= dict.fromkeys(known.near)
            warnings |= dict.fromkeys(known.warnings)
            if known.at or known.absent or known.lead:
                answering = plan
                break
    best = _led(replace(best, near=tuple(near), warnings=tuple(warnings)), asked.target)
    return best if within is None else _planned_within(asked, within, best, answering)


def _planned_within(
    asked: Asked, within: Searchable, whole: Planned, plan: Callable[[Asked], Planned | None] | None
) -> Planned:
    """What the plan that answers for the `whole` knows within filters, and how much is outside of them; where that is
    all, that it is so. What the search may find there too is left to it."""
    inside = plan(replace(asked, target=within)) if plan is not None else None
    inside = _led(inside or Planned(asked.wish), within)
    if inside.at or inside.lead:
        is_cut = whole.facts.total > len(whole.at)
        outside = whole.facts.total - inside.facts.total if is_cut else len(whole.at.keys() - inside.at.keys())
        return replace(inside, near=whole.near, warnings=whole.warnings, outside=max(0, outside))
    if whole.absent:
        return whole
    if whole.decides and whole.wish.intent in _OF_THE_INDEX_ALONE:
        places = asked.target.parts.shard().places(list(whole.lead), asked.target.scope()).values()
        paths = list(dict.fromkeys([*(fact.path for fact in whole.at), *(place.path for place in places)]))
        more = f" and {len(paths) - _MOST_OUTSIDE:,} more files" if len(paths) > _MOST_OUTSIDE else ""
        told = f"{', '.join(paths[:_MOST_OUTSIDE])}{more}"
        absent = f"nothing that the filter lets through tells it; outside of it {told} does"
        return Planned(asked.wish, absent=absent, outside=len(paths))
    return Planned(asked.wish, near=whole.near, warnings=whole.warnings)


def _led(known: Planned, target: Searchable) -> Planned:
    """With the places that a question names, or the README that an overview begins with."""
    if known.wish.intent is Intent.OVERVIEW:
        from rag_assets.answer.plans.code_lines import readme_points

        return replace(known, lead=tuple(point for index in target.members.values() for point in readme_points(index)))
    lead = list(known.lead) or _points_of_places(known.wish.places, target) if known.wish.places else []
    return replace(known, wish=replace(known.wish, intent=Intent.PLACE), lead=tuple(lead)) if lead else known


def _points_of_places(places: Sequence[CodePlace], target: Searchable) -> list[str]:
    """The points at the lines, or of the files, that a question is."""
    shard, scope = target.parts.shard(), target.scope()
    found = list(sections_at(places, shard, scope))
    known = shard.values("Path", scope)
    named = (path for place in places if not place.line for path in meant(place.path, known) or _near(place, known))
    for path in dict.fromkeys(named):
        payloads = sections_of([path], shard, scope)
        found += sorted(payloads, key=lambda one: (payloads[one].get("StartLine", 0), one))[:MOST_DECLARING]
    return found


def _near(place: CodePlace, known: Iterable[str]) -> list[str]:
    """Of too many files of one name those of the product that are nearest to the root."""
    ending = f"/{place.path.casefold()}"
    found = [path for path in known if f"/{path.casefold()}".endswith(ending)]
    return sorted(found, key=lambda one: (non_product_code(one) is not None, one.count("/"), one))[:_MOST_NEAR]


def _answered(asked: Asked, intent: Intent, known: Facts, *, decides: bool = True) -> Planned | None:
    facts, at = known
    return Planned(replace(asked.wish, intent=intent), facts, at, decides) if at else None


_OF_WHOLES = frozenset({Everyday.LICENCE, Everyday.VERSION, Everyday.TECHNOLOGY, Everyday.SIZE})


def _names_declared(text: str, target: Searchable) -> bool:
    """Whether a word with a capital, as names have them, is declared: `what is Version` asks about that class."""
    words = re.findall(r"\w+", text)[1:]
    return any(declaring(word, target) for word in words if not word.islower() and not word.isdigit())


def _everyday(asked: Asked) -> Planned | None:
    """What many ask of any project: what it is made with, how it is run, what changed."""
    written = asked.question.asks or asked.question.typed
    text = with_it(written, asked.target)
    question = everyday_question(text)
    if question is None:
        text, question = written, everyday_question(written)
    if question is None or (question.about in _OF_WHOLES and _names_declared(text, asked.target)):
        return None
    from rag_assets.answer.plans.everyday import exports, project_facts, release, steps, technology_facts

    if question.about is Everyday.STEPS:
        (action,) = question.words
        told = [steps(index, action) for index in asked.target.members.values()]
        lead = tuple(point for *_, points in told for point in points)
        facts, at = _together((facts, at) for facts, at, _ in told)
        if at or lead:
            wish = replace(asked.wish, intent=Intent.STEPS, action=action)
            return Planned(wish, facts, at, decides=True, lead=lead)
        if asked.wish.intent is Intent.OVERVIEW or action.startswith(MIGRATE):  # code may show how others were made
            return None
        asks = action.replace(" ", " with ")
        return Planned(asked.wish, absent=f"no document, script or workflow says the steps to {asks}")
    if question.about is Everyday.RELEASE:
        (version,) = question.words
        told_of = [release(index, version) for index in asked.target.members.values()]
        if lead := tuple(point for points, _ in told_of for point in points):
            return Planned(replace(asked.wish, intent=Intent.RELEASE, action=version), decides=True, lead=lead)
        is_told = "." in version and any(has_changelog for _, has_changelog in told_of)
        return Planned(asked.wish, absent=f"no changelog has a heading of {version}") if is_told else None
    if question.about in (Everyday.COMMITS, Everyday.CHANGE, Everyday.CHANGES, Everyday.AUTHORS):
        return _changed(asked, question)
    if question.about is Everyday.TECHNOLOGY:
        found = [technology_facts(index, graph, question) for index, graph in asked.graphs]
    elif question.about is Everyday.UNTESTED:
        from rag_assets.answer.plans.history import untested

        found = [untested(index, graph) for index, graph in asked.graphs]
    elif question.about is Everyday.EXPORTS:
        found = [exports(index, graph, *question.words) for index, graph in asked.graphs]
    else:
        found = [project_facts(index, question) for index in asked.target.members.values()]
    known = _answered(asked, Intent.LIST, _together((facts, at) for facts, at, _ in found))
    if known and question.is_beside:
        return None
    absent = "; ".join(dict.fromkeys(absent for *_, absent in found if absent))
    return known or (Planned(asked.wish, absent=absent) if absent else None)


def _changed(asked: Asked, question: EverydayQuestion) -> Planned | None:
    """Which commits were the last, of all files or of those that a question names."""
    from rag_assets.answer.plans.history import (
        NO_COMMITS,
        ONE_COMMIT,
        all_changes,
        authors_absent,
        last_change,
        last_commits,
        paths_of,
    )

    indexes = [index for index in asked.target.members.values() if index.manifest.is_git]
    if not indexes:
        return Planned(asked.wish, absent=NO_COMMITS)
    if question.about is Everyday.COMMITS:
        known = [last_commits(index, is_only=len(indexes) == 1) for index in indexes]
        return _answered(asked, Intent.LIST, _together(known)) or Planned(asked.wish, absent=ONE_COMMIT)
    (thing,) = question.words
    points = declaring(thing, asked.target)
    paths = {index.label: paths_of(index, thing, points) for index in indexes}
    if question.about is Everyday.AUTHORS:
        told = [path for known in paths.values() for path in known]
        return Planned(asked.wish, absent=authors_absent(told)) if told else None
    told_of = all_changes if question.about is Everyday.CHANGES else last_change
    changes = _together(told_of(index, paths[index.label]) for index in indexes if paths[index.label])
    return _answered(asked, Intent.LIST, changes)


def _file_shown(asked: Asked) -> Planned | None:
    """The file whose content a question asks for."""
    place = file_asked(asked.question)
    if place is None or not (lead := _points_of_places((place,), asked.target)):
        return None
    return Planned(replace(asked.wish, places=(place,)), lead=tuple(lead))


def _left_out(asked: Asked) -> Planned | None:
    """Why the files that a question names are in no index."""
    places = asked.question.places if asked.question.kind is not QuestionKind.ERROR else ()
    known = asked.target.parts.shard().values("Path", asked.target.scope()) if places else ()
    if not places or any(meant(place.path, known) or _near(place, known) for place in places):
        return None
    from rag_assets.answer.plans.left_out import files_left_out

    told = [
        one for place in places for index in asked.target.members.values() for one in files_left_out(index, place.path)
    ]
    return Planned(asked.wish, absent="; ".join(told)) if told else None


def _settings_read(asked: Asked) -> Planned | None:
    """The settings that what the question names reads, where it asks for them."""
    noun, reader, is_about = settings_asked(asked.question.text)
    if not noun:
        return _settings_about(asked)
    from rag_assets.answer.plans.code_lines import settings_of

    about = roots_of(reader)
    subject = [word for word in asked.words if word.root in about and is_subject(word)]
    known = settings_of(asked.target, noun, subject, asked.declaring, by_name=is_about)
    return _answered(asked, Intent.LIST, known)


def _settings_about(asked: Asked) -> Planned | None:
    """The settings that the index declares about one thing."""
    subject = settings_subject(asked.question.asks or asked.question.typed)
    if not subject:
        return None
    from rag_assets.answer.plans.settings import settings_about

    known = _first(settings_about(index, graph, subject) for index, graph in asked.graphs)
    return _answered(asked, Intent.LIST, known)


def _composed(asked: Asked) -> Planned | None:
    """What compose files say of the ports and the environment of services, or what they and app hosts start."""
    text = _APP_HOST.sub("apphost", asked.question.text)
    is_of_services = _OF_COMPOSE.search(text) is not None
    if not is_of_services and _STARTING.search(text) is None:
        return None
    from rag_assets.answer.plans.services import compose_facts, started_facts

    facts_of = compose_facts if is_of_services else started_facts
    known = _first(facts_of(index, text) for index in asked.target.members.values())
    return _answered(asked, Intent.LIST, known)


def _marked(asked: Asked) -> Planned | None:
    """What lines of their own tell of: connection strings, endpoints with a limit, resources that scripts create."""
    text = asked.question.asks or asked.question.typed
    marked = marked_asked(text)
    if marked is None:
        return None
    from rag_assets.answer.plans.marked import marked_facts

    facts, at = _first(marked_facts(index, marked, text) for index in asked.target.members.values())
    if marked is Marked.LOGINS:  # what a sentence says, and no line; else what is seeded
        if told := _at_declarations(asked, [CodePlace(fact.path, fact.line) for fact in at][:_MOST_NEAR]):
            return told
        facts, at = _first(marked_facts(index, Marked.USERS, text) for index in asked.target.members.values())
    is_how = marked is Marked.ERROR_HANDLERS  # which code tells
    wish = replace(asked.wish, intent=Intent.EXPLANATION if is_how else Intent.LIST, names=())
    return Planned(wish, replace(facts, leads=is_how), at, decides=True) if at else None


def _access(asked: Asked) -> Planned | None:
    """What attributes and calls say of who may call the endpoints of a question."""
    asks, subject = access_asked(asked.question.text, asked.words)
    if not asks or asked.wish.names:
        return None
    from rag_assets.answer.plans.access import access_facts

    known = _first(access_facts(index, graph, asks, subject) for index, graph in asked.graphs)
    if known[1] or asks != "open" or subject:
        return _answered(asked, Intent.LIST, known)
    from rag_assets.answer.plans.data import open_routes_at

    return _at_declarations(asked, [place for _, graph in asked.graphs for place in open_routes_at(graph)])


def _validated(asked: Asked) -> Planned | None:
    """The rules that validate what a question names."""
    subject = validated_asked(asked.question.text, asked.words)
    if not subject or asked.wish.names:
        return None
    from rag_assets.answer.plans.validation import validation_facts

    known = _first(validation_facts(index, graph, subject, asked.question.text) for index, graph in asked.graphs)
    return _answered(asked, Intent.EXPLANATION if known[0].leads else Intent.LIST, known)


def _way(asked: Asked) -> Planned | None:
    """What the request that a question names comes to."""
    subject = way_asked(asked.question.text, asked.words)
    if not subject or asked.wish.names:
        return None
    from rag_assets.answer.plans.ways import way_of_request

    known = _first(way_of_request(index, graph, subject) for index, graph in asked.graphs)
    return _answered(asked, Intent.EXPLANATION, known)


def _granted(asked: Asked) -> Planned | None:
    """The roles, policies or claims that code names where it says who may do something."""
    noun, subject = granted_asked(asked.question.text, asked.words)
    if not noun or asked.wish.names:
        return None
    from rag_assets.answer.plans.access import granted

    known = _together(granted(index, noun, subject) for index in asked.target.members.values())
    return _answered(asked, Intent.LIST, known)


def _hub(asked: Asked) -> Planned | None:
    """The methods of hubs that a client may call."""
    subject = hub_asked(asked.question.text, asked.words)
    if subject is None:
        return None
    from rag_assets.answer.plans.interface import hub_facts

    said = [QueryTerm(one, root(one), 1.0, known=True) for name in asked.wish.names for one in roots_of(name)]
    known = (hub_facts(index, graph, said or subject) for index, graph in asked.graphs)
    return _answered(asked, Intent.LIST, _together(known))


def _package_used(asked: Asked) -> Planned | None:
    """The projects that use the package that a question names."""
    name, is_package = package_asked(asked.question.text)
    if not name:
        return None
    from rag_assets.answer.plans.usage import users_of_package

    known = (users_of_package(index, graph, name, is_package=is_package) for index, graph in asked.graphs)
    return _answered(asked, Intent.USAGE, _together(known))


def _extended(asked: Asked) -> Planned | None:
    """The contracts that a question wants to implement."""
    text = asked.question.asks or asked.question.typed
    of_how = _EXPLAINED.match(text) is not None
    text = text if of_how else with_it(text, asked.target)
    subject = extension_asked(text, asked.words)
    if subject is None or any(name in text for name in asked.wish.names):
        return None
    from rag_assets.answer.plans.extension import contracts_to_implement

    facts, at = _first(contracts_to_implement(index, graph, *subject, is_made=of_how) for index, graph in asked.graphs)
    return _answered(asked, Intent.EXPLANATION if of_how else Intent.LIST, (replace(facts, leads=True), at))


def _coded(asked: Asked) -> Planned | None:
    """Where code reports the error or the diagnostic whose code a question names, also by a constant that is it."""
    code = code_asked(asked.question.asks or asked.question.typed)
    if not code:
        return None
    from rag_assets.answer.plans.code_lines import mentions_of
    from rag_assets.answer.plans.listing import NAMED_IN

    return _answered(asked, Intent.USAGE, mentions_of(asked.target, (code,), Intent.USAGE, (), NAMED_IN))


def _threads(asked: Asked) -> Planned | None:
    """What is said of the threads that may use what a question names."""
    text = asked.question.asks or asked.question.typed
    if not asks_about_threads(text):
        return None
    from rag_assets.answer.plans.documents import said_of_threads

    written = [word for word in re.findall(r"[A-Za-z_]\w*", text)[1:] if not word.islower()]
    declared = {word: points for word in dict.fromkeys(written) if (points := declaring(word, asked.target))}
    if not declared:
        return None
    points = [point for known in declared.values() for point in known]
    paths = {place.path for place in asked.target.parts.shard().places(points, asked.target.scope()).values()}
    known = _together(said_of_threads(index, declared, paths) for index in asked.target.members.values())
    absent = f"no comment or document says which threads may use {' or '.join(declared)}"
    return _answered(asked, Intent.LIST, known) or Planned(asked.wish, absent=absent)


def _data(asked: Asked) -> Planned | None:
    """What stores, writes and reads that which a question asks it of."""
    of = data_asked(asked.question.text)
    if of is None:
        return None
    from rag_assets.answer.plans.data import data_facts

    return _answered(asked, Intent.TABLES, _first(data_facts(index, graph, of) for index, graph in asked.graphs))


def _foreign_keys(asked: Asked) -> Planned | None:
    """The foreign keys of a table, or those that lead to it."""
    words, leads_to = foreign_keys_asked(asked.question.asks or asked.question.typed)
    if not words:
        return None
    from rag_assets.answer.plans.data import foreign_key_facts

    known = (foreign_key_facts(index, graph, words, leads_to=leads_to) for index, graph in asked.graphs)
    return _answered(asked, Intent.LIST, _first(known))


def _columns(asked: Asked) -> Planned | None:
    """The scripts that create and change the table whose columns a question asks for."""
    text = asked.question.asks or asked.question.typed
    owner = members_asked(text) if _OF_TABLES.search(text) else ()
    if not owner:
        return None
    from rag_assets.answer.plans.data import columns_at

    return _at_declarations(asked, [place for _, graph in asked.graphs for place in columns_at(graph, owner)])


def _parameters(asked: Asked) -> Planned | None:
    """The parameters of a stored procedure, or the default of one."""
    text = asked.question.asks or asked.question.typed
    wants_all = asks_parameters(text)
    if not (wants_all or asks_value(text)):
        return None
    from rag_assets.answer.plans.data import parameter_facts

    names = [word for word in _CALLED.findall(text) if not asks_value(word)]
    known = (parameter_facts(index, graph, names, wants_all=wants_all) for index, graph in asked.graphs)
    return _answered(asked, Intent.LIST, _first(known))


def _overloads(asked: Asked) -> Planned | None:
    """The overloads of a method."""
    if not _OVERLOADS.search(asked.question.text) or not asked.names:
        return None
    from rag_assets.answer.plans.overloads import overload_facts

    return _answered(
        asked, Intent.LIST, _first(overload_facts(index, graph, asked.names) for index, graph in asked.graphs)
    )


def _scripts_say(asked: Asked) -> Planned | None:
    """What lines of SQL scripts say, of a question that speaks of a database."""
    return _in_scripts(asked) if _OF_DATABASES.search(asked.question.text) else None


def _in_scripts(asked: Asked) -> Planned | None:
    """What lines of SQL scripts say of tables, columns, grants and the like."""
    if not _IN_SCRIPTS.search(asked.question.text) or _EXPLAINED.match(asked.question.text):
        return None
    from rag_assets.answer.plans.database import database_facts, tables_with_keys

    text = asked.question.asks or asked.question.typed
    found = _first(database_facts(index, graph, text) for index, graph in asked.graphs)
    if not found[1] and (count := sum(tables_with_keys(graph, text) for _, graph in asked.graphs)):
        absent = f"a table without a primary key was not found among the {count} that scripts create"
        return Planned(asked.wish, absent=absent)
    return _answered(asked, Intent.LIST, found)


def _listed(asked: Asked) -> Planned | None:
    """The list that a question wants: of what, and about which subject."""
    wish = asked.wish
    noun, rest = listed_noun(asked.question.text)
    is_list = wish.intent in _OF_LISTS or (noun in _PACKAGES and wish.intent in _OF_PACKAGES)
    is_list = (
        is_list and registered_where(asked.question.text, asked.words) is None
    )  # no type says what a container has
    if not is_list or (wish.names and not _are_parts(wish.names, asked)):
        return None
    if rest.split()[:1] in (["does"], ["do"]):
        rest = with_it(rest, asked.target)
    if noun in _PACKAGES and _OWN_PACKAGES.search(rest):
        return None
    if noun and asks_choice(rest):
        from rag_assets.answer.plans.listing import LISTED_KINDS

        noun = noun if noun in LISTED_KINDS or says_contract((graph for _, graph in asked.graphs), noun) else ""
    if not noun:
        return None
    if noun == "test" and (tested := _tests_of_type(asked, rest)):
        return tested
    about = roots_of(rest) - (_OF_SCRIPTS if noun in _IN_DATABASES else {root("exist")})
    of_tests = noun == "test"  # of anything, also of settings
    subject = [word for word in asked.words if word.root in about and (is_subject(word) or of_tests)]
    subject = subject or [QueryTerm(one, root(one), 1.0, known=True) for one in things_done(rest)]
    from rag_assets.answer.plans.code_lines import FEWEST_LISTED
    from rag_assets.answer.plans.listing import DATABASE_MODEL, is_run_by_itself

    listing = replace(wish, intent=Intent.LIST, names=())
    known = _from_graphs(asked, listing, noun, subject, rest)
    if noun == "model" or (noun in ("entity", "table") and not known.at):
        models = _from_graphs(asked, listing, DATABASE_MODEL, subject, rest)
        known = models if models.at else known
    if noun.rpartition(" ")[2] in SHOWN:
        from rag_assets.answer.plans.interface import window_facts

        windows = (window_facts(index, graph, noun, subject) for index, graph in asked.graphs)
        known = _answered(asked, Intent.LIST, _together(windows)) or known
    if is_run_by_itself(noun) and (not known.at or _may_run_otherwise(asked, noun)):
        ran = _run(asked, noun, subject, rest)
        return ran if ran is not None and (not known.at or ran.facts.total >= FEWEST_LISTED) else known
    if not known.at and noun == Marked.MIDDLEWARES:  # functions that no type is called as
        from rag_assets.answer.plans.marked import marked_facts

        used = (marked_facts(index, Marked.MIDDLEWARES, rest) for index in asked.target.members.values())
        return _answered(asked, Intent.LIST, _first(used)) or known
    if not known.at and noun == "page":  # of an app that no folder is called as
        everywhere = _from_graphs(asked, listing, noun)
        if everywhere.at:
            return everywhere if all(word.root in APPS for word in subject) else known
    if not known.at:
        from rag_assets.answer.plans.documents import documents_listed

        told = (documents_listed(index, noun, subject) for index, _ in asked.graphs)
        return _answered(asked, Intent.LIST, _first(told)) or known
    return known


def _may_run_otherwise(asked: Asked, noun: str) -> bool:
    """Whether what is scheduled is asked for, and no type says that a schedule runs it."""
    from rag_assets.answer.plans.listing import is_scheduled, says_scheduled

    return is_scheduled(noun) and not any(says_scheduled(graph) for _, graph in asked.graphs)


def _run(asked: Asked, noun: str, subject: Sequence[QueryTerm], rest: str) -> Planned | None:
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
    facts, at = _together([*tasks, *members, *configured])
    others = "background job" if any(at for _, at in tasks) else "scheduled job"
    called = noun.replace("cron", "scheduled") if is_scheduled(noun) else others
    heading = list_heading(called, facts.total)
    return _answered(asked, Intent.LIST, (replace(facts, heading=heading), at))


def _tests_of_type(asked: Asked, rest: str) -> Planned | None:
    """The tests of the type that is called as people say it: `the job scheduler` may be `JobScheduler`."""
    said = [word for word in re.findall(r"[A-Za-z]\w*", rest) if word.lower() not in FUNCTION_WORDS]
    name = "".join(f"{word[:1].upper()}{word[1:]}" for word in said)
    if len(said) < _FEWEST_OF_A_NAME or not any(declares(graph, name, only_types=True) for _, graph in asked.graphs):
        return None
    known = _from_graphs(asked, replace(asked.wish, intent=Intent.TESTS, names=(name,)))
    return known if known.at else None


def _values(asked: Asked) -> Planned | None:
    """The values that a type holds of itself, where a question wants a list of what it is called."""
    (noun, called), names = values_named(asked.question.text), asked.wish.names
    called = names[0] if names and asked.wish.choice else called
    if not called or not (names == () or asked.wish.choice):
        return None
    from rag_assets.answer.plans.listing import values_listed

    known = _first(values_listed(index, graph, noun or "value", called) for index, graph in asked.graphs)
    if known[1] or names:
        return _answered(asked, Intent.LIST, known)
    from rag_assets.answer.plans.data import collection_at

    return _at_declarations(asked, [place for _, graph in asked.graphs for place in collection_at(graph, noun)])


def _constant(asked: Asked) -> Planned | None:
    """The declaration that a question asks for, where that is of a constant outside of types."""
    wish, text = asked.wish, asked.question.asks or asked.question.typed
    names = wish.names if wish.intent is Intent.DEFINITION else constants_asked(text) if not wish.names else ()
    if not names or wish.does or asks_value(text):
        return None
    from rag_assets.answer.plans.data import constants_at

    return _at_declarations(asked, [place for _, graph in asked.graphs for place in constants_at(graph, names)])


def _at_declarations(asked: Asked, places: Sequence[CodePlace]) -> Planned | None:
    lead = _points_of_places(places[:_MOST_PLACES], asked.target) if places else []
    if not lead:
        return None
    lead += _next_sections(lead, asked.target)
    wish = replace(asked.wish, intent=Intent.DEFINITION, names=(), places=tuple(places[:_MOST_PLACES]))
    return Planned(wish, decides=True, lead=tuple(lead))


def _next_sections(points: Sequence[str], target: Searchable) -> list[str]:
    """The sections that go on where some begin: a long table lies in several."""
    shard, scope = target.parts.shard(), target.scope()
    first = shard.retrieve(list(points), scope).values()
    known = sections_of({one["Path"] for one in first}, shard, scope)
    return [
        point
        for point in sorted(known, key=lambda one: (known[one]["Path"], known[one]["StartLine"], one))
        if point not in points
        and any(
            one["Path"] == known[point]["Path"]
            and one["StartLine"] <= known[point]["StartLine"] <= one["EndLine"] + _OF_A_TABLE
            for one in first
        )
    ]


def _command_line(asked: Asked) -> Planned | None:
    """The commands, or the options, of a command line. Where a question only may mean these, as `which commands does it
    have?` does, they are told if it says nothing else, and no more types are called so."""
    noun, rest, is_meant = command_line_asked(asked.question.text)
    rest = with_it(rest, asked.target)
    if not noun or not (is_meant or not says_something(rest)):
        return None
    from rag_assets.answer.plans.interface import command_line_facts

    about = roots_of(rest)
    subject = [word for word in asked.words if word.root in about]
    known = _together(command_line_facts(index, noun, subject) for index in asked.target.members.values())
    if known[0].total == 1 and not is_meant:
        return None
    types = _listed(asked) if known[1] and not is_meant else None
    more = types is not None and types.facts.total > known[0].total
    return types if more else _answered(asked, Intent.LIST, known)


def _option(asked: Asked) -> Planned | None:
    """The options of a command line that a question names, where code declares them or fails for them, before what
    tells more of them."""
    named = sorted(set(_OPTION.findall(asked.question.text)))
    if not named:
        return None
    from rag_assets.answer.plans.interface import option_facts, refusals

    fails = asks_what_happens(asked.question.text)
    declared = (option_facts(index, named) for index in asked.target.members.values())
    known = refusals(asked.target, named) if fails else _together(declared)
    return _answered(asked, Intent.EXPLANATION, (replace(known[0], leads=True), known[1]))


def _flags(asked: Asked) -> Planned | None:
    """The feature flags that files of configuration switch on and off."""
    noun, rest = listed_noun(asked.question.text)
    if noun == "feature" and _SWITCHED.match(rest):
        noun, rest = "flag", ""
    is_declared = bool(asked.wish.names) and not (asked.wish.choice and says_something(rest))  # and no state is asked
    if noun.rpartition(" ")[2] not in ("flag", "toggle") or is_declared:
        return None
    from rag_assets.answer.plans.settings import flag_facts

    known = _first(flag_facts(index, rest) for index in asked.target.members.values())
    return _answered(asked, Intent.LIST, known)


def _keys(asked: Asked) -> Planned | None:
    """What the keys of a program do, all of them or those about a subject; a document of all of them tells more."""
    rest = keys_asked(asked.question.text)
    if rest is None or any(_OF_KEYS.search(hit.path) for hit in asked.hits):
        return None
    from rag_assets.answer.plans.interface import shortcut_facts

    about = roots_of(with_it(rest, asked.target))
    subject = [word for word in asked.words if word.root in about and is_subject(word)]
    known = _together(shortcut_facts(index, subject) for index in asked.target.members.values())
    return _answered(asked, Intent.LIST, known)


def _are_parts(names: Sequence[str], asked: Asked) -> bool:
    """Whether names are those of folders, and of nothing that is declared: `Shop.Web` may be a project."""
    paths = asked.target.parts.shard().values("Path", asked.target.scope())
    folders = {part.casefold() for path in paths for part in path.split("/")[:-1]}
    return all(name.casefold() in folders and not declaring(name, asked.target) for name in names)


def _registered(asked: Asked) -> Planned | None:
    """The services that a container is given, where a question wants a list of them, or what it is given for one."""
    names, text = asked.wish.names, asked.question.text
    subject = registered_where(text, asked.words) if not names else () if asks_what_is_registered(text) else None
    if subject is None:
        return None
    from rag_assets.answer.plans.usage import registrations

    return _answered(asked, Intent.LIST, registrations(asked.target, subject, names))


def _listed_of_whole(asked: Asked) -> Planned | None:
    """What only a whole has: where it starts, its central types, what is left to do."""
    listed = listed_of_whole(asked.question.text)
    if listed is None:
        return None
    from rag_assets.answer.plans.overview import LISTED_NOWHERE, facts_listed

    found = (facts_at(facts_listed(index, graph, listed), index) for index, graph in asked.graphs)
    known = _answered(asked, Intent.LIST, _together((GraphFacts(tuple(at), len(at)), at) for at in found))
    absent = LISTED_NOWHERE[listed] if asked.graphs else ""
    return known or (Planned(asked.wish, absent=absent) if absent else None)


def _written(asked: Asked) -> Planned | None:
    """Where code assigns what the question asks it of."""
    name = written_name(asked.question.text) if asked.wish.intent is not Intent.TABLES and not asked.wish.places else ""
    if not name:
        return None
    from rag_assets.answer.plans.code_lines import writes_of

    return _answered(asked, Intent.LIST, writes_of(asked.target, name))


def _feature(asked: Asked) -> Planned | None:
    """What a subject consists of, of which is asked how it works."""
    said = "" if asked.wish.names else feature_asked(asked.question.asks or asked.question.typed)
    if not said:
        return None
    from rag_assets.answer.plans.feature import feature_facts

    known = _first(feature_facts(index, graph, said) for index, graph in asked.graphs)
    return _answered(asked, Intent.EXPLANATION, known)


def _convention(asked: Asked) -> Planned | None:
    """The form that most things of a sort have."""
    wish = asked.wish
    noun = convention_noun(asked.question.text) if not wish.names and wish.intent in _OF_CONVENTIONS else ""
    if not noun:
        return None
    from rag_assets.answer.plans.convention import convention_facts

    known = _first(convention_facts(index, graph, noun) for index, graph in asked.graphs)
    return _answered(asked, Intent.EXPLANATION, known)


def _handled(asked: Asked) -> Planned | None:
    """What handles the messages of a question, where the graph knows a handler, or code says that it gets them."""
    if not asked.wish.names or not asks_handler(asked.question.text):
        return None
    known = _from_graphs(asked, replace(asked.wish, intent=Intent.HANDLERS))
    if known.at:
        return _answered(asked, Intent.EXPLANATION, (replace(known.facts, leads=True), known.at))
    from rag_assets.answer.plans.usage import receivers_of

    return _answered(asked, Intent.EXPLANATION, receivers_of(asked.target, asked.wish.names))


def _errors(asked: Asked) -> Planned | None:
    """Where the errors of a question are thrown and caught, or which errors its names throw."""
    wish, text = asked.wish, asked.question.text
    if wish.intent not in _OF_ERRORS or wish.places:
        return None
    of_named = bool(wish.names) and asks_what_is_thrown(text)
    names = wish.names if of_named else errors_asked(text, wish.names)
    if not names and not wish.names and asks_failed_validation(text):
        names = [_VALIDATION_ERROR]
    if not names and not asks_which_are_thrown(text):
        return None
    from rag_assets.answer.plans.errors import error_facts, errors_derived, thrown_by

    if not names:
        known = _first(errors_derived(index, graph, text) for index, graph in asked.graphs)
        return _answered(asked, Intent.EXPLANATION, known)

    if of_named:
        thrown = thrown_by(asked.target, asked.declared)
    else:
        thrown = error_facts(asked.target, names, caught_first=asks_who_catches(text))
    return _answered(asked, Intent.EXPLANATION, (GraphFacts(tuple(thrown), len(thrown), leads=True), thrown))


def _graph(asked: Asked) -> Planned:
    """What the graph knows of the names of a question, of its best hits, or of the whole; of what uses something, also
    what the text of code tells, and where a change of it is asked about, what that reaches."""
    known = _from_graphs(asked, asked.wish)
    if asked.wish.intent is not Intent.USAGE:
        return known
    known = _with_mentions(asked, known) if known.at else known
    graphs = list(asked.graphs)
    if len(graphs) != 1 or graphs[0][0].is_narrowed or not asks_impact(asked.question.text):
        return known  # each of several has users of its own, and counts are of the whole
    from rag_assets.answer.plans.usage import reached_by_change

    facts, at = reached_by_change(*graphs[0], asked.wish.names or asked.wish.routes, known.facts)
    return replace(known, facts=facts, at=at)


def _with_mentions(asked: Asked, known: Planned) -> Planned:
    """Of languages without a resolver also what the text of code tells, where a name means one declaration."""
    from rag_assets.answer.plans.code_lines import mentions_of, without_resolver
    from rag_assets.answer.plans.listing import AS_FAR_AS_NAMES_TELL

    meant, others = without_resolver(asked.graphs, asked.wish.names)
    if not meant:
        return replace(known, facts=replace(known.facts, heading=AS_FAR_AS_NAMES_TELL)) if others else known
    mentions, at = mentions_of(asked.target, meant, Intent.USAGE, asked.declaring)
    told = {(fact.path, fact.source.rpartition(".")[2]) for fact in known.facts.facts}
    more = [fact for fact in mentions.facts if (fact.path, fact.source.rpartition(".")[2]) not in told]
    facts = (*known.facts.facts, *more)[:MOST_FACTS]
    total = max(known.facts.total + len(more), mentions.total)
    shown = replace(known.facts, facts=facts, total=total, command=mentions.command or known.facts.command)
    return replace(known, facts=shown, at={fact: point for fact, point in {**known.at, **at}.items() if fact in facts})


def _derived(asked: Asked) -> Planned | None:
    """What derives from the names of a question that nothing here declares."""
    maybe = words_as_names(asked.question) if not asked.names else None
    names = asked.undeclared or (maybe.names if maybe is not None else ())
    if asked.wish.intent is not Intent.IMPLEMENTATIONS or not names:
        return None
    from rag_assets.answer.plans.listing import derived_by_text

    derived = ((derived_by_text(index, graph, names), index) for index, graph in asked.graphs)
    known = ((facts, facts_at(facts.facts, index)) for facts, index in derived)
    return _answered(asked, Intent.IMPLEMENTATIONS, _together(known))


def _uses(asked: Asked) -> Planned | None:
    """Where the names of a question are used, as far as the text of code tells."""
    wish = asked.wish
    of_purpose = wish.intent is Intent.DEFINITION
    if not wish.names or not (
        wish.intent in (Intent.USAGE, Intent.TESTS) or (of_purpose and asks_purpose(asked.question.text))
    ):
        return None
    from rag_assets.answer.plans.code_lines import mentions_of
    from rag_assets.answer.plans.listing import NAMED_IN

    if of_purpose:
        known = _from_graphs(asked, replace(wish, intent=Intent.USAGE))
        if known.at:
            return replace(known, wish=wish)
    heading = NAMED_IN if of_purpose else ""
    marks = (one.removesuffix(_OF_ATTRIBUTES) for one in wish.names if one.endswith(_OF_ATTRIBUTES))
    names = (*wish.names, *filter(None, marks))
    mentions = mentions_of(asked.target, names, wish.intent, asked.declaring, heading)
    if not (of_purpose or mentions[1] or asked.undeclared):
        named = " or ".join(wish.names)
        is_test = wish.intent is Intent.TESTS
        told = (
            f"no test of {named} is known, and no test" if is_test else f"no use of {named} is known, and nothing else"
        )
        return Planned(wish, absent=f"{told} names it")
    return _answered(asked, wish.intent, mentions, decides=False)


def _length(asked: Asked) -> Planned | None:
    """What limits the length of something."""
    words = length_asked(asked.question.text, asked.words)
    if not words:
        return None
    from rag_assets.answer.plans.data import length_facts

    return _answered(asked, Intent.LIST, length_facts(asked.target, words))


def _setting_meant(asked: Asked) -> Planned | None:
    """The settings that a question means by their names, of the index whose settings are nearest to it, where it asks
    for the value of one that it names that alone; of a name that nothing declares where files of configuration set what
    is called so."""
    if not asks_setting(asked.question.text):
        return None
    from rag_assets.answer.plans.settings import constant_facts, key_facts, setting_facts, settings_meant

    if asked.wish.intent in (Intent.EXPLANATION, Intent.DEFINITION):
        known = _first(key_facts(index, name) for name in asked.undeclared for index, _ in asked.graphs)
        if not known[1] and asks_value(asked.question.text):
            constants = [name for name in asked.names if name.isupper()]
            known = _first(constant_facts(index, graph, name) for name in constants for index, graph in asked.graphs)
        if known[1]:
            decides = asks_value(asked.question.text) and not asked.wish.does
            return Planned(replace(asked.wish, intent=Intent.EXPLANATION), *known, decides, setting=1.0)
    of_value = asked.wish.intent is Intent.DEFINITION and asks_value(asked.question.text)
    if asked.wish.intent is not Intent.EXPLANATION and not of_value:
        return None
    named = {name.rpartition(".")[2] for name in asked.names} if of_value else ()
    text = asked.question.text
    found: list[tuple[float, LabelIndex, list[Setting]]] = []
    for index, graph in asked.graphs:
        settings = settings_meant(index, graph, text, asked.words, asked.model)
        if of_value:
            settings = [one for one in settings if one.name in named] or settings_meant(
                index, graph, text, asked.words, asked.model, named
            )
        if settings:
            found.append((settings[0].said, index, settings))
    if not found:
        return None
    said, index, settings = max(found, key=lambda one: one[0])
    facts, at = setting_facts(index, settings)
    wish = replace(asked.wish, intent=Intent.EXPLANATION) if of_value and at else asked.wish
    return Planned(wish, facts, at, setting=said if at else 0.0)


_PLANS: tuple[Callable[[Asked], Planned | None], ...] = (
    _everyday,
    _file_shown,
    _left_out,
    _settings_read,
    _composed,
    _marked,
    _access,
    _validated,
    _way,
    _hub,
    _package_used,
    _listed_of_whole,
    _foreign_keys,
    _coded,
    _threads,
    _extended,
    _data,
    _columns,
    _command_line,
    _option,
    _keys,
    _constant,
    _parameters,
    _registered,
    _flags,
    _values,
    _overloads,
    _scripts_say,
    _listed,
    _in_scripts,
    _granted,
    _written,
    _length,
    _convention,
    _handled,
    _errors,
    _graph,
    _derived,
    _uses,
    _setting_meant,
    _feature,
)


def _first(known: Iterable[Facts]) -> Facts:
    """What the first index knows that knows something."""
    return next(((facts, at) for facts, at in known if at), (GraphFacts(), {}))


def _together(known: Iterable[Facts]) -> Facts:
    """What all indexes know."""
    told, at = GraphFacts(), dict[GraphFact, str]()
    for facts, points in known:
        if points:
            told = replace(facts, facts=(*told.facts, *facts.facts), total=told.total + facts.total)
            at |= points
    return told, at


def _from_graphs(
    asked: Asked, wish: QueryIntent, noun: str = "", subject: Sequence[QueryTerm] = (), said: str = ""
) -> Planned:
    """Facts about the names of a question, or about its best hits, or the list of what a `noun` is that it wants, with
    the words that it has `said` of them; and names like those that nothing declares."""
    from rag_assets.search.graph_context import entries_of

    undeclared = asked.undeclared
    if wish.intent in (Intent.EXPLANATION, Intent.DEFINITION) and not undeclared:
        return Planned(wish)
    found: list[GraphFact] = []
    total, heading, command = 0, "", ""
    points: dict[GraphFact, str] = {}
    near: dict[str, None] = {}
    warnings: list[str] = []
    for index in asked.target.members.values():
        graph = asked.graph_of(index)
        if isinstance(graph, str):
            warnings.append(graph)
            continue
        keys = named_nodes(graph, wish.names or wish.routes)
        if wish.intent is Intent.IMPLEMENTATIONS:
            keys = with_generic_forms(graph, keys)
        near |= dict.fromkeys(other for name in undeclared for other in near_names(graph, name))
        if not keys and not undeclared and wish.intent in (Intent.ROUTES, Intent.TABLES):
            own = [hit for hit in asked.hits if hit.label == index.label][:_GRAPH_ENTRIES]
            keys = tuple(entries_of(index, own))
        if wish.intent is Intent.OVERVIEW:
            from rag_assets.answer.plans.overview import overview_facts

            prefix = f"{index.label}: " if len(asked.target.members) > 1 else ""
            told = tuple(replace(one, group=f"{prefix}{one.group}") for one in overview_facts(index, graph))
            facts = GraphFacts(told, len(told))
        elif wish.intent is Intent.LIST:
            from rag_assets.answer.plans.code_lines import list_heading
            from rag_assets.answer.plans.listing import listed

            facts = listed(index, graph, noun, subject, said)
            command = command or facts.command
            heading = list_heading(noun, total + facts.total) if command and heading else heading or facts.heading
        else:
            facts = facts_about(index, graph, keys, wish.intent)
        points |= facts_at(facts.facts, index)
        found += facts.facts
        total += facts.total
    known = GraphFacts(tuple(found), total, heading, command)
    decides = wish.intent in (Intent.LIST, Intent.OVERVIEW)
    return Planned(wish, known, points, decides, near=tuple(near), warnings=tuple(warnings))
