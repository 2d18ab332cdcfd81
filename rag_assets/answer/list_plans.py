"""The plans that answer with what the index has of one sort: nodes of the graph, or lines that say something."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from rag_assets.answer.asked import (
    Asked,
    Planned,
    answered,
    answered_or_absent,
    at_declarations,
    declaring,
    first_of,
    from_graphs,
    says_contract,
    together,
    with_it,
)
from rag_assets.answer.graph_facts import GraphFacts, declares, facts_at
from rag_assets.answer.question_analysis import (
    Intent,
    QueryTerm,
    asks_what_happens,
    listed_noun,
    members_asked,
    owner_said,
    root,
    roots_of,
)
from rag_assets.answer.question_kinds import (
    APPS,
    WHOLE,
    access_asked,
    asks_about_threads,
    asks_choice,
    asks_default,
    asks_parameters,
    asks_value,
    asks_values_of,
    asks_what_is_registered,
    code_asked,
    command_line_asked,
    constants_asked,
    end_asked,
    endpoint_asked,
    extension_asked,
    foreign_keys_asked,
    granted_asked,
    hub_asked,
    is_subject,
    items_named,
    keys_asked,
    length_asked,
    package_asked,
    registered_as,
    registered_where,
    request_flow_asked,
    says_something,
    shown_asked,
    validated_asked,
    values_named,
)
from rag_assets.identifiers import singular
from rag_assets.search import CodePlace

_OF_LISTS = frozenset({Intent.EXPLANATION, Intent.ROUTES, Intent.TABLES, Intent.DEFINITION})
_OF_COMPOSE = re.compile(r"\bimages?\b|\bports?\b|\benv(?:ironment)? var(?:iable)?s?\b", re.IGNORECASE)
_STARTS_SERVICES = re.compile(r"\b(?:apphost|aspire|compose|containers?|docker)\b", re.IGNORECASE)
_APP_HOST = re.compile(r"\bapp host\b", re.IGNORECASE)
_CALLED = re.compile(r"@?\w+")
_OF_KEYS = re.compile(
    r"(?:short[-_]?cuts?|hot[-_]?keys?|key[-_]?(?:bindings?|map))[^/]*\.(?:adoc|html?|mdx?|rst|txt)$", re.IGNORECASE
)
_LACKS = re.compile(
    r"\W*(?:(?:that|which) )?(?:(?:are|is|do|does|have|has|was|were|can|could)(?:n't| not| never| no longer)\b"
    r"|(?:have|has|with) no\b|without\b|lacks?\b|never\b|(?:are|is) missing\b)",
    re.IGNORECASE,
)


def _says_lack(asked: Asked) -> bool:
    """Whether a question is for those of a list that lack something, which no name of one says."""
    return _LACKS.match(listed_noun(asked.question.text)[1]) is not None


_SWITCHED = re.compile(
    r" (?:can (?:be|i|we|you) )?(?:are )?(?:(?:switch|turn|toggl|enabl|disabl)\w*|on|off|and|or|/| )+\W*$",
    re.IGNORECASE,
)
"""Of features."""
_OPTION = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]+\b")
_OF_TABLES = re.compile(r"\bcolumns?\b|\btables?\b", re.IGNORECASE)
_OF_ROUTINES = re.compile(
    r"^\W*(?:which|what)\b.*\b(?:tables?|views?|proc(?:edure)?s?|functions?|models?|sources?|snapshots?|seeds?|trigger)\b",
    re.IGNORECASE,
)
_OVERLOADS = re.compile(r"\boverloads?\b|\boverloaded\b", re.IGNORECASE)
_OVERLOADED = re.compile(
    r"\boverloads? (?:are there )?(?:does|do|for|has|have|of) (?:the )?(?:method )?[`'\"]?(?P<of>[a-z_][\w.]*)"
    r"|\b(?!(?:all|any|are|has|have|its|list|many|of|show|the|what|which)\b)(?P<its>[a-z_][\w.]*)[`'\"]?(?:'s)?"
    r"(?: method)? overloads\b|\bis (?P<one>[a-z_][\w.]*) overloaded\b",
    re.IGNORECASE,
)
"""What has overloads, which may be a word like any other: `Write`."""
_IN_SCRIPTS = re.compile(
    r"\b(?:columns?|defaults?|fields?|null(?:able)?|primary keys?|pks?|schemas?|schemata|roles?|extensions?|domains?"
    r"|enum\w*|types?|partition|materiali[sz]ed|index(?:es)?|indices|triggers?|who|grant\w*|permissions?|privileges"
    r"|rights|users?|logins?)\b",
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
_PACKAGES = frozenset({"package", "dependency", "gem", "library"})
_OWN_PACKAGES = re.compile(r"\b(?:published|released|shipped|produced|built|pushed)\b", re.IGNORECASE)
"""What is said of the packages that a project makes, and not of those that it refers to."""
_OF_PACKAGES = frozenset({Intent.USAGE, Intent.DEPENDENCIES})
"""`Which packages does it depend on?` is for a list."""


_TO_CONTEXT = r"(?:db ?sets?|entit(?:y|ies)|entity sets?|sets|(?:database |db )?tables?)"
_OF_CONTEXT = re.compile(
    rf"^\W*(?:which|what|list|show)(?: me| are| all| the)* {_TO_CONTEXT}"
    r" (?:(?:are )?(?:there )?(?:in|of)|does|do|has|have) (?:the )?(?P<context>\w+(?: \w+){0,4}?)"
    r"(?: (?:have|contain|map|define|declare|expose)s?)?\W*$",
    re.IGNORECASE,
)


_THE = re.compile(r"\b(?:an?|our|the)\b ?", re.IGNORECASE)
_KEPT_IN = re.compile(
    r"^\W*(?:which|what) (?P<noun>[a-z]+s) (?:store|keep|save|persist)"
    r"(?: (?:all|data|documents|entities|entries|records|rows|the|their|things))* (?:in|into|to) (?P<where>.+?)\W*$",
    re.IGNORECASE,
)


def kept_in_plan(asked: Asked) -> Planned | None:
    """The types of a sort whose bases say the store that a question names: `repos` that are `TableStorageBase`."""
    found = _KEPT_IN.match(asked.question.text.strip())
    if found is None or not (where := roots_of(_THE.sub("", found["where"]))):
        return None
    from rag_assets.answer.plans.data import keepers_in

    noun = singular(found["noun"].lower())
    return answered(
        asked, Intent.LIST, together(keepers_in(index, graph, noun, where) for index, graph in asked.graphs)
    )


def context_plan(asked: Asked) -> Planned | None:
    """The sets of the one context of a database that a question names, as it is called or in words."""
    found = _OF_CONTEXT.match(asked.question.asking)
    if found is None:
        return None
    from rag_assets.answer.plans.data import sets_of

    known = (sets_of(index, graph, found["context"].replace(" ", "")) for index, graph in asked.graphs)
    return answered(asked, Intent.LIST, together(known))


_OF_PROJECTS = re.compile(
    r"asmdef|assembl|depend|refer|project|layers|app|modules|programs|executables|hosts|services|sample|example|demo",
    re.IGNORECASE,
)


def projects_plan(asked: Asked) -> Planned | None:
    """The projects that a repository is built from, or which of them refers to which."""
    text = asked.question.asking
    if _OF_PROJECTS.search(text) is None:
        return None
    from rag_assets.answer.plans.projects import projects_asked, projects_listed, references_between

    wanted = projects_asked(text)
    if wanted is None or (wanted.maybe and declaring(wanted.source or wanted.target, asked.target)):
        return None
    noun = listed_noun(text)[0].capitalize()
    if noun and any(declares(graph, noun, only_types=True) for _, graph in asked.graphs):  # these may be meant
        return None
    members = asked.target.members.values()
    if wanted.refers:
        return answered_or_absent(asked, [references_between(index, wanted) for index in members], together)
    return answered(asked, Intent.LIST, together(projects_listed(index, wanted) for index in members))


_OF_STATUS = re.compile(
    r"\bhttp (?:(?:error |response |status )?codes?|responses?|status(?:es)?)\b|\b(?:error|response|status) codes?\b"
    r"|\b(?:an?|becomes?|code|http|into|returns?|status|to|with) [45]\d\d\b(?! \w+s\b)",
    re.IGNORECASE,
)
_OF_FAILURE = re.compile(
    r"\b(?:already|conflict\w*|denied|duplicate\w*|errors?|exceptions?|exists?|fail\w*|forbidden|(?:in)?valid\w*|missing"
    r"|not (?:be )?found|unauth\w+|wrong)\b",
    re.IGNORECASE,
)


def error_status_plan(asked: Asked) -> Planned | None:
    """Which errors become which HTTP status."""
    text = asked.question.asking
    is_other = asked.wish.names or asked.wish.routes or asked.wish.places
    if is_other or _OF_STATUS.search(text) is None or _OF_FAILURE.search(text) is None:
        return None
    from rag_assets.answer.plans.statuses import statuses_of_errors

    return answered(
        asked, Intent.LIST, first_of(statuses_of_errors(index, text) for index in asked.target.members.values())
    )


def composed_plan(asked: Asked) -> Planned | None:
    """What compose files say of the ports and the environment of services, or what they and app hosts start."""
    text = _APP_HOST.sub("apphost", asked.question.text)
    is_of_services = _OF_COMPOSE.search(text) is not None
    if not is_of_services and _STARTS_SERVICES.search(text) is None:
        return None
    from rag_assets.answer.plans.services import compose_facts, started_facts

    facts_of = compose_facts if is_of_services else started_facts
    known = first_of(facts_of(index, text) for index in asked.target.members.values())
    return answered(asked, Intent.LIST, known)


_MAY_BE_DECLARED = re.compile(
    r"\b(?:outputs|inputs|variables|param\w*s|resources|services|dapr|infrastructure|values|scripts|secrets?|ingress\w*"
    r"|maps?|deployments|sets|configmaps|statefulsets|daemonsets|cmdlets|export\w*)\b",
    re.IGNORECASE,
)
_OF_WORKFLOWS = re.compile(
    r"\b(?:pipelines?|workflows?|actions?|schedules?|cron\w*)\b|^\W*(?:when|how often|at (?:what|which) time)\b",
    re.IGNORECASE,
)
_OF_INTEGRATION = re.compile(
    r"\b(?:ci|continuous integration|actions?|pipelines?|workflows?|push\w*|commits?|pull requests?|prs?)\b",
    re.IGNORECASE,
)


def declared_plan(asked: Asked) -> Planned | None:
    """What the code of an infrastructure declares, when its workflows run, and what."""
    text = asked.question.asking
    if _OF_WORKFLOWS.search(text) is not None:
        from rag_assets.answer.plans.schedules import triggers

        told = [triggers(index, text) for index in asked.target.members.values()]
        if at := [place for places, _ in told for place in places]:
            return at_declarations(asked, at)
        if absent := next(filter(None, (none for _, none in told)), ""):
            return Planned(asked.wish, absent=absent)
    if _OF_INTEGRATION.search(text) is not None:
        from rag_assets.answer.plans.services import workflow_facts

        run = first_of(workflow_facts(index, text) for index in asked.target.members.values())
        if (planned := answered(asked, Intent.LIST, run)) is not None:
            return planned
    if _MAY_BE_DECLARED.search(text) is None:
        return None
    from rag_assets.answer.plans.services import declared_facts

    declared = [declared_facts(index, text) for index in asked.target.members.values()]
    return answered_or_absent(asked, declared, together)


_OF_MARKED_LINES = re.compile(
    r"account|admin|\bapis?\b|authent|back[- ]?end|bean|behavio|binding|boot|cache|callback|connection|contract"
    r"|credential|data|doubles|error|exception"
    r"|exit|fake|filters|handlers|health|hooks|hubs?\b|initial|java ?script|js\b|jwt|levels?\b|limit|log ?in"
    r"|mail"
    r"|middleware|mock|modules|operation|pages?\b|passw|ports?\b|process|roles?\b|routes?\b|rpc|run|secret|seed"
    r"|serv(?:er|ice)|\bsign|soap|spies|start|stub|throttl|token|user|wcf",
    re.IGNORECASE,
)
"""A word of each question for what lines tell of."""


def marked_plan(asked: Asked) -> Planned | None:
    """What lines of their own tell of: connection strings, endpoints with a limit."""
    text = asked.question.asking
    if _OF_MARKED_LINES.search(text) is None:
        return None
    from rag_assets.answer.plans.marked import marked_lines_plan  # start-up budget

    return marked_lines_plan(asked)


_OF_RAZOR = re.compile(r"component|callback|inject|layout|pages?\b|param|render ?mode|screen", re.IGNORECASE)


def component_plan(asked: Asked) -> Planned | None:
    """What the components of Razor that a question names declare, or all."""
    text = asked.question.asking
    if _OF_RAZOR.search(text) is None:
        return None
    from rag_assets.answer.front_end.components import component_facts

    known = first_of(component_facts(index, text) for index in asked.target.members.values())
    return answered(asked, Intent.LIST, known)


def shown_plan(asked: Asked) -> Planned | None:
    """The part of the user interface that is called as what a question wants to see, and what says more of it."""
    noun, said = shown_asked(asked.question.text)
    if not said or asked.wish.names:
        return None
    from rag_assets.answer.plans.interface import shown_in

    known = first_of(shown_in(index, graph, noun, said) for index, graph in asked.graphs)
    return answered(asked, Intent.EXPLANATION, known)


def access_plan(asked: Asked) -> Planned | None:
    """What attributes and calls say of who may call the endpoints of a question."""
    asks, subject = access_asked(asked.question.text, asked.words)
    if not asks or asked.wish.names:
        return None
    from rag_assets.answer.plans.access import access_facts

    known = first_of(access_facts(index, graph, asks, subject) for index, graph in asked.graphs)
    if not known[1] and asks == "who":
        from rag_assets.answer.policies import policy_places

        places = (policy_places(index, graph, asked.question.text) for index, graph in asked.graphs)
        return at_declarations(asked, [place for found in places for place in found])
    if known[1] or asks not in WHOLE:
        return answered(asked, Intent.LIST, known)
    from rag_assets.answer.plans.data import open_routes_at
    from rag_assets.answer.plans.marked import rules_at

    at = [place for _, graph in asked.graphs for place in open_routes_at(graph)] if asks == "open" else []
    if not (subject or at):
        at = [place for index in asked.target.members.values() for place in rules_at(index)]
    absent = "no line of a known form says who may call the endpoints"
    return at_declarations(asked, at) or Planned(asked.wish, absent=absent)


def endpoint_plan(asked: Asked) -> Planned | None:
    """The endpoints that do what a question says."""
    subject, is_one = endpoint_asked(asked.question.text)
    if not subject or asked.wish.names or asked.wish.routes:
        return None
    from rag_assets.answer.plans.endpoints import endpoint_facts, says_thing

    if not says_thing(subject):
        return None
    known = (endpoint_facts(index, graph, subject, is_one=is_one) for index, graph in asked.graphs)
    return answered(asked, Intent.LIST, together(known))


_OF_RULES = re.compile(r"\b(?:constraint|rule)$")


def validated_plan(asked: Asked) -> Planned | None:
    """The rules that validate what a question names."""
    subject = validated_asked(asked.question.text, asked.words)
    if not subject or asked.wish.names:
        return None
    from rag_assets.answer.plans.validation import validation_facts

    known = first_of(validation_facts(index, graph, subject, asked.question.text) for index, graph in asked.graphs)
    noun, rest = listed_noun(asked.question.text)
    of_rules = known[1] and "valid" not in asked.question.text and _OF_RULES.search(noun)
    if of_rules and from_graphs(asked, replace(asked.wish, intent=Intent.LIST), noun, subject, rest).at:
        return None  # types are called so
    is_how = asked.question.text.lower().startswith("how")
    return answered(asked, Intent.EXPLANATION if is_how and known[0].leads else Intent.LIST, known)


def request_flow_plan(asked: Asked) -> Planned | None:
    """What the request that a question names comes to."""
    subject = request_flow_asked(asked.question.text, asked.words)
    if not subject or asked.wish.names:
        return None
    from rag_assets.answer.plans.request_flow import request_flow

    known = first_of(request_flow(index, graph, subject) for index, graph in asked.graphs)
    return answered(asked, Intent.EXPLANATION, known)


def granted_plan(asked: Asked) -> Planned | None:
    """The roles, policies or claims that code names where it says who may do something."""
    noun, subject = granted_asked(asked.question.text, asked.words)
    if not noun or asked.wish.names or _says_lack(asked):
        return None
    from rag_assets.answer.plans.access import granted

    known = together(granted(index, noun, subject) for index in asked.target.members.values())
    return answered(asked, Intent.LIST, known)


def hub_plan(asked: Asked) -> Planned | None:
    """The methods of hubs that a client may call."""
    subject = hub_asked(asked.question.text, asked.words)
    if subject is None:
        return None
    from rag_assets.answer.plans.interface import hub_facts

    names = [name for name in asked.wish.names if name != "SignalR"]  # which says of what kind all of them are
    said = [QueryTerm(one, root(one), 1.0, known=True) for name in names for one in roots_of(name)]
    known = (hub_facts(index, graph, said or subject) for index, graph in asked.graphs)
    return answered(asked, Intent.LIST, together(known))


def package_used_plan(asked: Asked) -> Planned | None:
    """The projects that use the package that a question names."""
    name, is_package = package_asked(asked.question.text)
    if not name:
        return None
    from rag_assets.answer.plans.usage import users_of_package

    known = (users_of_package(index, graph, name, is_package=is_package) for index, graph in asked.graphs)
    return answered(asked, Intent.USAGE, together(known))


def extended_plan(asked: Asked) -> Planned | None:
    """The contracts that a question wants to implement."""
    text = asked.question.asking
    of_how = _EXPLAINED.match(text) is not None
    text = text if of_how else with_it(text, asked.target)
    subject = extension_asked(text, asked.words)
    if subject is None or any(name in text for name in asked.wish.names):
        return None
    from rag_assets.answer.plans.extension import contracts_to_implement

    facts, at = first_of(
        contracts_to_implement(index, graph, *subject, is_made=of_how) for index, graph in asked.graphs
    )
    known = answered(asked, Intent.EXPLANATION if of_how else Intent.LIST, (replace(facts, leads=True), at))
    if known is None or len(facts.facts) != 1:
        return known
    return replace(known, lead=tuple(declaring(facts.facts[0].source, asked.target)))


def coded_plan(asked: Asked) -> Planned | None:
    """Where code reports the error or the diagnostic whose code a question names, also by a constant that is it."""
    code = code_asked(asked.question.asking)
    if not code:
        return None
    from rag_assets.answer.plans.code_lines import mentions_of
    from rag_assets.answer.plans.listing import NAMED_IN

    return answered(asked, Intent.USAGE, mentions_of(asked.target, (code,), Intent.USAGE, (), NAMED_IN))


def threads_plan(asked: Asked) -> Planned | None:
    """What is said of the threads that may use what a question names."""
    text = asked.question.asking
    if not asks_about_threads(text):
        return None
    from rag_assets.answer.plans.documents import said_of_threads

    written = [word for word in re.findall(r"[A-Za-z_]\w*", text)[1:] if not word.islower()]
    declared = {word: points for word in dict.fromkeys(written) if (points := declaring(word, asked.target))}
    if not declared:
        return None
    points = [point for known in declared.values() for point in known]
    paths = {place.path for place in asked.target.parts.shard().places(points, asked.target.scope()).values()}
    known = together(said_of_threads(index, declared, paths) for index in asked.target.members.values())
    absent = f"no comment or document says which threads may use {' or '.join(declared)}"
    return answered(asked, Intent.LIST, known) or Planned(asked.wish, absent=absent)


_OF_ENTITIES = re.compile(r"\bentit(?:y|ies)\b", re.IGNORECASE)


def foreign_keys_plan(asked: Asked) -> Planned | None:
    """The foreign keys of a table, or those that lead to it."""
    words, leads_to = foreign_keys_asked(asked.question.asking)
    if not words:
        return None
    from rag_assets.answer.plans.data import foreign_key_facts

    known = [foreign_key_facts(index, graph, words, leads_to=leads_to) for index, graph in asked.graphs]
    if _OF_ENTITIES.search(asked.question.asking):  # may refer to each other without a key
        return answered(asked, Intent.LIST, first_of((facts, at) for facts, at, _ in known))
    return answered_or_absent(asked, known, first_of)


def columns_plan(asked: Asked) -> Planned | None:
    """The scripts that create and change the table whose columns a question asks for."""
    text = asked.question.asking
    owner = members_asked(text)
    if not owner:
        return None
    from rag_assets.answer.plans.data import columns_at

    graphs = asked.graphs if _OF_TABLES.search(text) else ()
    places = [place for _, graph in graphs for place in columns_at(graph, owner)]
    if not (places or asked.names):
        from rag_assets.answer.model_lines import models_of_scripts

        models = (one for index in asked.target.members.values() for one in models_of_scripts(index, owner))
        places = [CodePlace(one.path, one.line) for one in models]
    return at_declarations(asked, places)


def parameters_plan(asked: Asked) -> Planned | None:
    """The parameters of a stored procedure, or the default of one, and those of a function or script of PowerShell."""
    text = asked.question.asking
    wants_all = asks_parameters(text)
    if not (wants_all or asks_value(text)):
        return None
    from rag_assets.answer.plans.data import parameter_facts

    if wants_all:
        from rag_assets.answer.plans.interface import script_parameters

        of_scripts = first_of(script_parameters(index, graph, text) for index, graph in asked.graphs)
        if of_scripts[1]:
            return answered(asked, Intent.LIST, of_scripts)
    names = [word for word in _CALLED.findall(text) if not asks_value(word)]
    said = roots_of(text) if not wants_all and asks_default(text) else frozenset[str]()
    known = (parameter_facts(index, graph, names, wants_all=wants_all, said=said) for index, graph in asked.graphs)
    return answered(asked, Intent.LIST, first_of(known))


def routine_plan(asked: Asked) -> Planned | None:
    """What an SQL procedure, function, trigger or view reads, writes, executes or makes; or which procedures do it."""
    text = asked.question.asking
    if not _OF_ROUTINES.search(text):
        return None
    from rag_assets.answer.plans.routines import procedures_called, routine_asked, routine_facts

    of = routine_asked(text)
    if of is not None:
        told = [routine_facts(index, graph, of) for index, graph in asked.graphs]
        return answered_or_absent(asked, told, first_of)
    called = (procedures_called(index, graph, text, asked.words) for index, graph in asked.graphs)
    return answered(asked, Intent.EXPLANATION, first_of(called)) if not asked.wish.names else None


def overloads_plan(asked: Asked) -> Planned | None:
    """The overloads of a method."""
    if not _OVERLOADS.search(asked.question.text):
        return None
    said = [of for found in _OVERLOADED.finditer(asked.question.text) for of in found.groups() if of]
    from rag_assets.answer.structure.shapes import overload_facts

    known = (overload_facts(index, graph, asked.names or said) for index, graph in asked.graphs)
    return answered(asked, Intent.LIST, first_of(known))


def scripts_say_plan(asked: Asked) -> Planned | None:
    """What lines of SQL scripts say, of a question that speaks of a database."""
    return _in_scripts(asked) if _OF_DATABASES.search(asked.question.text) else None


def in_scripts_plan(asked: Asked) -> Planned | None:
    """What lines of SQL scripts say, of a question that does not, of grants and the like."""
    return _in_scripts(asked) if not _OF_DATABASES.search(asked.question.text) else None


def _in_scripts(asked: Asked) -> Planned | None:
    """What lines of SQL scripts say of tables, columns, grants and the like."""
    if not _IN_SCRIPTS.search(asked.question.text) or _EXPLAINED.match(asked.question.text):
        return None
    from rag_assets.answer.plans.database import database_facts, no_trigger, none_on_table, tables_with_keys

    text = asked.question.asking
    found = first_of(database_facts(index, graph, text) for index, graph in asked.graphs)
    graphs = [] if found[1] or any(index.is_narrowed for index, _ in asked.graphs) else [one for _, one in asked.graphs]
    if count := sum(tables_with_keys(graph, text) for graph in graphs):
        absent = f"a table without a primary key was not found among the {count} that scripts create"
        return Planned(asked.wish, absent=absent)
    if absent := next(filter(None, (none_on_table(graph, text) for graph in graphs)), ""):
        return Planned(asked.wish, absent=absent)
    if graphs and all(no_trigger(index, graph, text) for index, graph in asked.graphs):
        return Planned(asked.wish, absent="nothing here creates a trigger of a database")
    return answered(asked, Intent.LIST, found)


def listed_plan(asked: Asked) -> Planned | None:
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
    if (noun in _PACKAGES and _OWN_PACKAGES.search(rest)) or _says_lack(asked):
        return None
    if noun and asks_choice(rest):
        from rag_assets.answer.plans.listing import LISTED_KINDS

        noun = noun if noun in LISTED_KINDS or says_contract((graph for _, graph in asked.graphs), noun) else ""
    if not noun:
        return None
    from rag_assets.answer.listed_nouns import list_of  # start-up budget: few questions want a list

    return list_of(asked, noun, rest)


def values_plan(asked: Asked) -> Planned | None:
    """The values that a type holds of itself, where a question wants a list of what it is called."""
    (noun, called), names = values_named(asked.question.text), asked.wish.names
    called = names[0] if names and asked.wish.choice else called
    if not called or not (names == () or asked.wish.choice) or (not names and _says_lack(asked)):
        return None
    from rag_assets.answer.listed_values import constants_listed, values_listed

    known = first_of(values_listed(index, graph, noun or "value", called) for index, graph in asked.graphs)
    if not known[1] and asked.wish.choice:
        beside = roots_of(called)
        subject = [word for word in asked.words if is_subject(word) and word.root not in beside]
        noun = noun or listed_noun(asked.question.text)[0] or "value"
        known = first_of(constants_listed(index, graph, noun, called, subject) for index, graph in asked.graphs)
    if known[1] or names:
        return answered(asked, Intent.LIST, known)
    from rag_assets.answer.plans.data import collection_at

    return at_declarations(asked, [place for _, graph in asked.graphs for place in collection_at(graph, noun)])


def choices_plan(asked: Asked) -> Planned | None:
    """The fields of models whose choices a question asks for."""
    if asked.wish.names or not asks_values_of(asked.question.text):
        return None
    from rag_assets.answer.model_lines import choices_at

    chosen = (choices_at(index, asked.question.text) for index in asked.target.members.values())
    return at_declarations(asked, [place for found in chosen for place in found])


def machine_plan(asked: Asked) -> Planned | None:
    """The states, or the events, of the state machine that a question names, or names the things of."""
    noun, rest = listed_noun(asked.question.text)
    owner = asked.names[0].rpartition(".")[2] if asked.names else owner_said(noun, rest)
    if noun not in ("state", "event") or not owner:
        return None
    from rag_assets.answer.plans.items import parts_of_machine

    known = (parts_of_machine(index, graph, noun, owner) for index, graph in asked.graphs)
    return answered(asked, Intent.LIST, together(known))


_MAY_BE = re.compile(r"\b(?:can|could|may)\b", re.IGNORECASE)
"""Asks for more than what is configured."""


def items_plan(asked: Asked) -> Planned | None:
    """The items of a collection that code, or else YAML, writes out, where no types are called as a question says:
    tests are those, and not the items of a `LOGGING` for tests."""
    text, rest = asked.question.text, ""
    noun = "" if asked.wish.names else values_named(text)[0]
    if not (noun or asked.wish.names):
        noun, rest = items_named(text)
    if not noun or noun == "file" or _says_lack(asked):  # a `file` of code is seldom a list of all
        return None
    from rag_assets.answer.plans.items import items_configured, items_held

    held = first_of(items_held(index, graph, noun, rest) for index, graph in asked.graphs)
    if (
        not held[1]
        and not _MAY_BE.search(text)
        and not any(is_subject(word) and word.root in roots_of(rest) for word in asked.words)
    ):
        held = together(items_configured(index, noun) for index, _ in asked.graphs)
    return answered(asked, Intent.LIST, held)


def constant_plan(asked: Asked) -> Planned | None:
    """The declaration that a question asks for, where that is of a constant outside of types."""
    wish, text = asked.wish, asked.question.asking
    names = wish.names if wish.intent is Intent.DEFINITION else constants_asked(text) if not wish.names else ()
    if not names or wish.does or asks_value(text):
        return None
    from rag_assets.answer.plans.data import constants_at

    return at_declarations(asked, [place for _, graph in asked.graphs for place in constants_at(graph, names)])


_OF_TEXTS = re.compile(
    r"^\W*(?:where|in which (?:files?|folders?)) (?:is|are|do (?:i|we|you) (?:add|change|edit|find|keep|put))"
    r"(?: (?:all|app|display\w*|language|locali[sz]\w+|our|resource|the|translated|ui"
    r"|user[- ](?:facing|interface|visible)))*"
    r" (?:captions|(?<=language )files|(?<=resource )files|locali[sz]ations?|strings|texts|translations?"
    r"|(?<=ui )(?:labels|messages)|(?<=ed )messages)"
    r"(?: (?:of|for|in) (?:the |our )?(?:\w+ )?(?:app|application|buttons|client|interface|site|ui|users?|windows?))*"
    r"(?: (?:defined|found|held|kept|located|managed|stored))?\W*$"
    r"|^\W*(?:(?:in)?to )?(?:which|what) (?P<languages>(?:languages|locales|cultures) (?:is|are|has|have)"
    r" (?!.*\b(?:docs?|documentation|guides?|manual|readme)\b).*\b(?:locali[sz]ed|translated|translations?)\b"
    r"|(?:translations|locales|cultures|(?:app|display|interface|ui|user interface) languages)"
    r" (?:are|is) (?:there|available|included|offered|provided|shipped|supported)\W*$)",
    re.IGNORECASE,
)


def texts_plan(asked: Asked) -> Planned | None:
    """The files of the texts that users see and of their translations, or the languages that these are in."""
    found = _OF_TEXTS.match(asked.question.asking)
    if found is None:
        return None
    from rag_assets.answer.plans.documents import languages_of_texts, texts_shown

    told = languages_of_texts if found["languages"] else texts_shown
    return answered(asked, Intent.LIST, together(told(index) for index in asked.target.members.values()))


_OF_MEMBERS = re.compile(r"^\W*\w+(?: \w+)*? (?:commands|events|fields|members|properties|values)\b", re.IGNORECASE)


def members_plan(asked: Asked) -> Planned | None:
    """The commands, the events, the properties that tell of their changes, or what is marked as a question says, of the
    type that it names."""
    text = asked.question.asking
    if not _OF_MEMBERS.match(text):
        return None
    from rag_assets.answer.plans.interface import members_marked, sort_of_members

    known = together(sort_of_members(index, graph, text) for index, graph in asked.graphs)
    known = known if known[1] else together(members_marked(index, graph, text) for index, graph in asked.graphs)
    return answered(asked, Intent.LIST, known)


def command_line_plan(asked: Asked) -> Planned | None:
    """The commands, or the options, of a command line. Where a question only may mean these, as `which commands does it
    have?` does, they are told if it says nothing else, and no more types are called so."""
    noun, rest, is_meant = command_line_asked(asked.question.text)
    rest = with_it(rest, asked.target)
    is_of_part = not is_meant and says_something(rest)  # `the seeder` may be a program
    if not noun or (is_of_part and noun != "command"):
        return None
    from rag_assets.answer.plans.interface import command_line_facts

    about = roots_of(rest)
    subject = [word for word in asked.words if word.root in about]
    known = together(command_line_facts(index, noun, subject) for index in asked.target.members.values())
    said = {word.root for word in subject} - APPS
    if is_of_part and not (said and all(said <= roots_of(fact.path.rpartition("/")[0]) for fact in known[1])):
        return None
    if known[0].total == 1 and not is_meant:
        return None
    types = listed_plan(asked) if known[1] and not is_meant else None
    more = types is not None and types.facts.total > known[0].total
    return types if more else answered(asked, Intent.LIST, known)


def option_plan(asked: Asked) -> Planned | None:
    """The options of a command line that a question names, where code declares them or fails for them, before what
    tells more of them."""
    named = sorted(set(_OPTION.findall(asked.question.text)))
    if not named:
        return None
    from rag_assets.answer.plans.interface import option_facts, refusals

    fails = asks_what_happens(asked.question.text)
    declared = (option_facts(index, named) for index in asked.target.members.values())
    known = refusals(asked.target, named) if fails else together(declared)
    return answered(asked, Intent.EXPLANATION, (replace(known[0], leads=True), known[1]))


def flags_plan(asked: Asked) -> Planned | None:
    """The feature flags that files of configuration switch on and off."""
    noun, rest = listed_noun(asked.question.text)
    if noun == "feature" and _SWITCHED.match(rest):
        noun, rest = "flag", ""
    is_declared = bool(asked.wish.names) and not (asked.wish.choice and says_something(rest))  # and no state is asked
    if noun.rpartition(" ")[2] not in ("flag", "toggle") or is_declared:
        return None
    from rag_assets.answer.plans.settings import flag_facts

    known = first_of(flag_facts(index, rest) for index in asked.target.members.values())
    return answered(asked, Intent.LIST, known)


def keys_plan(asked: Asked) -> Planned | None:
    """What the keys of a program do, all of them or those about a subject; a document of all of them tells more."""
    rest = keys_asked(asked.question.text)
    if rest is None or any(_OF_KEYS.search(hit.path) for hit in asked.hits):
        return None
    from rag_assets.answer.plans.interface import shortcut_facts

    about = roots_of(with_it(rest, asked.target))
    said = [word for word in asked.words if word.root in about and word.root not in APPS]
    subject = [word for word in said if is_subject(word)]
    does = [word for word in said if word not in subject]
    known = together(shortcut_facts(index, subject, does, rest) for index in asked.target.members.values())
    return answered(asked, Intent.LIST, known)


_OF_TRIGGERS = re.compile(r"\b(?:functions?|listeners|triggers)\b", re.IGNORECASE)


def functions_plan(asked: Asked) -> Planned | None:
    """The functions of a cloud that something triggers, of the sort that a question says."""
    text = asked.question.asking
    if asked.wish.names or not _OF_TRIGGERS.search(text):
        return None
    from rag_assets.answer.plans.schedules import functions_triggered

    told = [functions_triggered(index, text) for index in asked.target.members.values()]
    return answered_or_absent(asked, told, together)


def _are_parts(names: Sequence[str], asked: Asked) -> bool:
    """Whether names are those of folders, or of their last parts, and of nothing that is declared: `Shop.Web` may be a
    project, and `WebUi` that of `Shop.WebUi`."""
    paths = asked.target.parts.shard().values("Path", asked.target.scope())
    folders = {part.casefold() for path in paths for part in path.split("/")[:-1]}
    folders |= {folder.rpartition(".")[2] for folder in folders}
    graphs = [graph for _, graph in asked.graphs]  # where a script of the same name as its folder is no declaration
    return all(
        name.casefold() in folders
        and not (any(declares(one, name) for one in graphs) if graphs else declaring(name, asked.target))
        for name in names
    )


def registered_plan(asked: Asked) -> Planned | None:
    """The services that a container is given, where a question wants a list of them, or what it is given for one."""
    names, text = asked.wish.names, asked.question.text
    subject = registered_where(text, asked.words) if not names else () if asks_what_is_registered(text) else None
    if subject is None:
        return None
    from rag_assets.answer.plans.usage import registrations

    return answered(asked, Intent.LIST, registrations(asked.target, subject, names, *registered_as(text)))


_OF_WHOLE = re.compile(
    r"n't\b|\b(?:no|without|starts?|begins?|entry ?points?|main|central|important|core|used|called|dead|un\w+"
    r"|circular|cyclic|hot|dependency|hot ?spots?|scripts|targets|recipes|commands|tasks|most|bulk|majority|least"
    r"|big\w*|large\w*|long\w*|complex|complicated|oldest|stalest|not|never|chang\w+|edit\w+|modif\w+|touch\w+|same|twice"
    r"|duplicat\w+|repeated|cop(?:y|ied)\w*|redundant|identical|doc\w*|comment\w*|summar\w+|javadocs?|jsdocs?)\b",
    re.IGNORECASE,
)
"""A word of a list that only a whole has: the forms of all are not loaded for other questions."""


def listed_of_whole_plan(asked: Asked) -> Planned | None:
    """What only a whole has: where it starts, its central types, what of its code stands out."""
    if not _OF_WHOLE.search(asked.question.text):
        return None
    from rag_assets.answer.structure.listed_questions import listed_of_whole  # start-up budget: few want such a list

    listed = listed_of_whole(asked.question.text)
    if listed is None:
        return None
    from rag_assets.answer.plans.overview import LISTED_NOWHERE, facts_listed

    found = (facts_at(facts_listed(index, graph, listed), index) for index, graph in asked.graphs)
    known = answered(asked, Intent.LIST, together((GraphFacts(tuple(at), len(at)), at) for at in found))
    absent = LISTED_NOWHERE.get(listed, "") if asked.graphs else ""
    return known or (Planned(asked.wish, absent=absent) if absent else None)


def length_plan(asked: Asked) -> Planned | None:
    """What limits the length of something."""
    words = length_asked(asked.question.text, asked.words)
    if not words:
        return None
    from rag_assets.answer.plans.data import length_facts
    from rag_assets.answer.plans.settings import constants_given

    facts, at, absent = length_facts(asked.target, words, end_asked(asked.question.text))
    behind = (constants_given(index, graph, at) for index, graph in asked.graphs)
    found = answered(asked, Intent.LIST, together(((facts, at), *behind)), decides=not absent)
    return replace(found, absent=absent) if found is not None else None
