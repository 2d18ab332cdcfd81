"""Which plan answers a question: what the index itself knows for it, beside what a search finds for its words.

The plans are tried in their order, those for the narrowest questions first, and the first that knows something of the
index answers. Their modules are imported where a question asks for them: few do, and a start is short.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from rag_assets.answer.asked import (
    Asked,
    Planned,
    answered,
    asked_of,
    at_declarations,
    declaring,
    first_of,
    from_graphs,
    near_files,
    points_of_places,
    says_contract,
    together,
    with_it,
)
from rag_assets.answer.graph_facts import MOST_FACTS, GraphFacts, declares, facts_at
from rag_assets.answer.list_plans import (
    access_plan,
    choices_plan,
    coded_plan,
    columns_plan,
    command_line_plan,
    component_plan,
    composed_plan,
    constant_plan,
    context_plan,
    declared_plan,
    endpoint_plan,
    error_status_plan,
    extended_plan,
    flags_plan,
    foreign_keys_plan,
    functions_plan,
    granted_plan,
    hub_plan,
    in_scripts_plan,
    items_plan,
    kept_in_plan,
    keys_plan,
    length_plan,
    listed_of_whole_plan,
    listed_plan,
    machine_plan,
    marked_plan,
    members_plan,
    option_plan,
    overloads_plan,
    package_used_plan,
    parameters_plan,
    projects_plan,
    registered_plan,
    request_flow_plan,
    routine_plan,
    scripts_say_plan,
    shown_plan,
    texts_plan,
    threads_plan,
    validated_plan,
    values_plan,
)
from rag_assets.answer.question_analysis import (
    Intent,
    asks_impact,
    asks_purpose,
    roots_of,
    settings_subject,
    words_as_names,
    written_name,
)
from rag_assets.answer.question_kinds import (
    STORED,
    access_asked,
    asks_default,
    asks_endpoints_reaching,
    asks_failed_validation,
    asks_handler,
    asks_sender,
    asks_setting,
    asks_value,
    asks_what_is_thrown,
    asks_what_lacks,
    asks_which_are_thrown,
    asks_who_catches,
    convention_noun,
    data_asked,
    errors_asked,
    feature_asked,
    file_asked,
    is_subject,
    list_asked,
    outside_name_said,
    relation_asked,
    settings_asked,
    thrower_asked,
)
from rag_assets.answer.whole_project import (
    everyday_question,
)
from rag_assets.identifiers import singular
from rag_assets.search import QuestionKind
from rag_assets.search.line_references import meant
from rag_assets.search.ranking.signals import is_question

if TYPE_CHECKING:
    from rag_assets.answer.plans.settings import Setting
    from rag_assets.answer.question_analysis import QueryIntent
    from rag_assets.answer.structure.behaviours import Happening
    from rag_assets.graph.csr_graph import Graph
    from rag_assets.search.index import LabelIndex, Searchable


_OF_ERRORS = frozenset({Intent.EXPLANATION, Intent.DEFINITION, Intent.USAGE})
_OF_CONVENTIONS = frozenset({Intent.EXPLANATION, Intent.ROUTES, Intent.TABLES})
_OF_THE_INDEX_ALONE = frozenset(
    {Intent.LIST, Intent.STEPS, Intent.RELEASE, Intent.USAGE, Intent.IMPLEMENTATIONS, Intent.TABLES}
)
"""What no search tells where a plan does."""
_MOST_OUTSIDE = 3  # files that are named where a filter leaves out all
_HOW_CONFIGURED = re.compile(r"\W*(?:how (?:is|are) .+ (?:configured|set up)|what happens)\b", re.IGNORECASE)
"""Code does that, with several settings."""
_ERROR_SAID = re.compile(r"\w*(?:Exception|Error)")
_ALSO_OF_DEFAULTS = frozenset({Intent.TABLES, Intent.USAGE, Intent.LIST})
"""What a question for a default is read as that says more: `the default table prefix`, `is used by default`."""
_VALIDATION_ERROR = "ValidationException"  # of FluentValidation, .NET and Java, and as projects call theirs
_OF_BASE = re.compile(
    r"^\W*(?i:which|what|list|show)\b(?i: me| all| the| are| our)* (?P<base>[A-Z]\w*[a-z][A-Z]\w*?)"
    r"(?:s|(?i: (?:sub)?(?:class|typ)es))"
    r"(?i: (?:are (?:there|defined|used)|exist|do (?:we|you) have|does (?:it|the \w+) (?:have|define|use)))?\W*$"
)
"""A list of what is called after a class of code, in the plural: `which ScriptableObjects are there?`"""
_NAMES_A_MARK = re.compile(r"@\w|\[\w|\b(?:annotat|attribute|decorat|marked|tagged)", re.IGNORECASE)
_OF_ATTRIBUTES = "Attribute"
"""What C# leaves out of the name of an attribute where it marks something with it."""


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
    if answering in (None, _graph, _uses) and not best.absent and (more := _asked_more(asked, best.wish)):
        best = replace(best, facts=replace(best.facts, leads=True), decides=False, absent=more)
    return best if within is None else _planned_within(asked, within, best, answering)


_OF_RELATIONS = frozenset({Intent.USAGE, Intent.IMPLEMENTATIONS, Intent.TESTS})
_MORE = re.compile(r"(?:\b(?:but|never|not|unless|with(?:out)?)\b|n't\b).*\w", re.IGNORECASE)
_LACKING = re.compile(
    r"^\W*(?:which|what(?! (?:are|can|do|does|happens|if|is|should|was|will)\b)|list|show|are there|how many)\b"
    r"(?: (?:all|any|the|me))*(?: (?!(?:after|because|before|if|unless|when|where|while)\b)[\w.-]+){1,4}?"
    r"(?: (?:are|can|could|did|do|does|has|have|is|still|that|was|were))*"
    r"(?: never\b|(?<! can) not\b(?! (?:accepted|allowed|permitted|possible|supported|valid)\b)|(?<! ca)n't\b)",
    re.IGNORECASE,
)
"""Which of a sort do not do or have something; what is not allowed, or cannot be done, is said where it is."""


_OF_FORMS = re.compile(
    r"^\W*(?:which|what|list|show)\b(?: (?:all|are|me|our|the|spring))*"
    r" (?P<sort>beans|cron jobs|g?rpc (?:calls|methods|procedures|services)"
    r"|graphql (?:mutations|queries|subscriptions)|hub methods)\b",
    re.IGNORECASE,
)
"""Lists of what is written in one way alone: where a plan finds none, a text that only speaks of such is no list."""


def _asked_more(asked: Asked, wish: QueryIntent) -> str:
    """What a question asks beside what an edge of the graph or a quote can tell; '' for one that asks nothing more."""
    text = asked.question.asking
    behind = max((text.rfind(name) + len(name) for name in asked.names), default=0)
    more = _MORE.search(text, behind) if behind and wish.intent in _OF_RELATIONS else None
    if more is not None:
        return f"for which of them “{more.group().rstrip(' ?.')}” holds is not known"
    if access_asked(text, asked.words)[0] in ("what", "who"):
        from rag_assets.answer.plans.access import authenticates_nobody

        if all(map(authenticates_nobody, asked.target.members.values())):
            return "no line of a known form asks who somebody is, or what he may do"
    if forms := _OF_FORMS.match(text):
        return f"no line of a known form declares {forms['sort']}"
    lacks = asks_what_lacks(text) or _LACKING.match(text)
    return "which do not is not known: no passage tells it of all" if lacks else ""


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
    is_told = not known.lead and bool(known.absent or (known.at and (known.decides or known.wish.names)))
    if not known.wish.places or is_told:
        return known
    lead = known.lead or tuple(points_of_places(known.wish.places, target))
    return replace(known, wish=replace(known.wish, intent=Intent.PLACE), lead=lead) if lead else known


_SEEN = re.compile(
    r"\b(?:error|exception|fail(?:s|ed|ing)?|logs?|logged|message|warning)\b"
    r"|^(?!\W*(?:are|can|do|does|how|is|list|which|who)\b).*\b(?:complain\w*|get(?:s|ting)?|got|means?|prints?|reports?|saw"
    r"|say(?:s|ing)?|see(?:s|ing)?|shows?|shown|text|throws?|told)\b",
    re.IGNORECASE | re.DOTALL,
)
"""How a question tells of a text that somebody saw."""
_OF_TEXTS_SEEN = frozenset({Intent.EXPLANATION, Intent.DEFINITION, Intent.USAGE, Intent.LIST})


def _seen(asked: Asked) -> Planned | None:
    """Where a text is written that somebody saw, as errors and logs have it, and what leads to it."""
    question = asked.question
    text = question.asking
    is_told = _SEEN.search(text) is not None or any(" " in phrase for phrase in question.phrases)
    if question.places or asked.wish.intent not in _OF_TEXTS_SEEN or not (is_told or not is_question(text)):
        return None
    from rag_assets.answer.message_texts import written_texts

    found = written_texts(text, question.phrases, asked.target, alone=not is_told)
    if found is None:
        return None
    wish = replace(asked.wish, intent=Intent.PLACE, names=(), places=tuple(found.places))
    return Planned(wish, found.facts, found.at, decides=True, lead=tuple(found.places.values()))


_SUPPORTED = re.compile(
    r"^\W*(?:which|what) (?P<noun>(?!tests\b)\w[\w.#+-]*(?: \w[\w.#+-]*){0,2}) (?:(?:are|is) (?:\w+ )?supported\b"
    r"|(?:does|do|can) .{1,40} support\b|can (?:i|we|you|one) (?:choose|pick|use)\b(?: from)?)\W*$",
    re.IGNORECASE,
)


def _supported(asked: Asked) -> Planned | None:
    """What a document lists as supported, else the code of a folder that is called so."""
    found = _SUPPORTED.match(asked.question.asking)
    if found is None:
        return None
    from rag_assets.answer.plans.documents import documents_listed, supported_listed

    noun = singular(found["noun"].lower())
    known = first_of(supported_listed(index, noun) for index in asked.target.members.values())
    if not known[1] and " " in noun:  # each has a page
        known = first_of(documents_listed(index, noun, ()) for index in asked.target.members.values())
    if not known[1] and not says_contract((graph for _, graph in asked.graphs), noun):  # types tell more than files
        from rag_assets.answer.folder_modules import modules_listed

        known = first_of(modules_listed(index, graph, noun) for index, graph in asked.graphs)
    return answered(asked, Intent.LIST, known)


_VERBS = tuple(
    re.compile(rf"\b(?:{verbs})", re.IGNORECASE)
    for verbs in (
        r"add|introduc|new\b|support|appear|available|possible",
        r"drop|remov|delet|no longer|gone\b",
        r"deprecat|obsolete",
        r"fix|solv|repair|bug",
        r"chang|renam|replac|switch|becam|broke|break",
    )
)
"""What entries of a changelog call what was done, and questions; the first that a question says is meant."""
_DONE = r"(?:add|appear|becam|br[eo]\w*k|chang|deprecat|drop|fix|introduc|remov|renam|replac|solv|support|switch)\w*"
_IN_WHICH = re.compile(
    r"^\W*(?:as of|from|in|since|with) (?:which|what) (?:version|release) (?!of\b)"
    rf"|^\W*(?:which|what) (?:version|release) (?:has |have |that )?{_DONE}\b"
    rf"|^\W*(?:since )?when (?:was|were|did) .+\b{_DONE}",
    re.IGNORECASE,
)
_POSSIBLE_SINCE = re.compile(
    r"^\W*(?:as of|since) (?:which|what) (?:version|release)"
    r" (?P<does>(?:can|could|may) (?:i|it|one|we|you) \w+|do(?:es)? \S+ (?:allow|have|know|offer|provide|support)\b)",
    re.IGNORECASE,
)
"""What can be done since a version was added in it."""
_OF_VERSIONS = roots_of(
    "version release since when which what added appear became broke break changed deprecated dropped fixed introduced"
    " removed renamed replaced solved supported support switched available possible new bug fix first"
)
_RETIRED = re.compile(
    r"^\W*(?:is|are|was|were|has|have|can|may|should)\b.*"
    r"\b(?:deprecated|obsolete|still (?:be )?(?:supported|maintained)|no longer supported|been removed)\b"
    r"|^\W*(?:what|which \w+) (?:(?:should|do|can|must) (?:i|we|one) use|is there)\b.*\binstead of\b"
    r"|^\W*(?:what|which \w+) (?:replaces|has replaced)\b",
    re.IGNORECASE,
)
_OF_RETIREMENT = roots_of(
    "deprecated obsolete instead still supported maintained longer removed replace replaces replaced use pass passing"
    " argument attribute class function feature field method module option package parameter property setting"
)


def _versions(asked: Asked) -> Planned | None:
    """The entries of changelogs that say in which version something came, went or changed."""
    text = asked.question.asking
    if not _IN_WHICH.search(text):
        return None
    can = _POSSIBLE_SINCE.match(text)
    words = frozenset(word.root for word in asked.words) - _OF_VERSIONS
    does = next((verb for verb in _VERBS if verb.search(text)), None if can is None else _VERBS[0])
    if not words or does is None:
        return None
    from rag_assets.answer.plans.documents import changelogs, versions_that

    oldest = does is _VERBS[0]
    members = asked.target.members.values()
    known = together(versions_that(index, does, words, text, oldest=oldest) for index in members)
    things = words - roots_of(can["does"] if can is not None else "")
    if not known[1] and things and things != words:  # an entry adds what somebody can `use`, or `generate`, since then
        known = together(versions_that(index, does, things, text, oldest=oldest) for index in members)
    if known[1] or "version" not in text.lower() or not any(map(changelogs, members)):
        return answered(asked, Intent.LIST, known)
    return Planned(asked.wish, absent="no entry of a changelog says in which version that was")


_HEADED = re.compile(
    r"\b(?:annex|appendix|article|chapter|clause|exercise|lesson|part|phase|principle|section|stage|step)"
    r" \d+(?:\.\d+)*\b",
    re.IGNORECASE,
)


def _headed(asked: Asked) -> Planned | None:
    """What stands below the heading that a question names by its number: `chapter 14`."""
    titles = {one.lower() for one in _HEADED.findall(asked.question.asking)}
    if len(titles) != 1:
        return None
    from rag_assets.answer.plans.documents import headed

    (title,) = titles
    lead = tuple(point for index in asked.target.members.values() for point in headed(index, title))
    return Planned(replace(asked.wish, intent=Intent.RELEASE, action=title), decides=True, lead=lead) if lead else None


def _retired(asked: Asked) -> Planned | None:
    """What is said of something that may be deprecated or gone, and what is used in its place."""
    text = asked.question.asking
    if not _RETIRED.search(text):
        return None
    words = {word.root: word.word for word in asked.words if word.root not in _OF_RETIREMENT}
    if not words:
        return None
    from rag_assets.answer.plans.documents import said_of_retirement

    written = [word for word in re.findall(r"[A-Za-z_][\w.]*\w", text)[1:] if not word.islower()]
    names = {name: name.rpartition(".")[2] for name in dict.fromkeys((*asked.names, *written))}
    points = {point: last for name, last in names.items() for point in declaring(name, asked.target)}
    known = together(said_of_retirement(index, words, points) for index in asked.target.members.values())
    return answered(asked, Intent.EXPLANATION, (replace(known[0], leads=True), known[1]))


def _everyday(asked: Asked) -> Planned | None:
    """What many ask of any project: what it is made with, how it is run, what changed."""
    written = asked.question.asking
    text = with_it(written, asked.target)
    question = everyday_question(text)
    if question is None:
        text, question = written, everyday_question(written)
    if question is None:
        return None
    from rag_assets.answer.plans.everyday import everyday_plan

    return everyday_plan(asked, question, text)


def _file_shown(asked: Asked) -> Planned | None:
    """The file whose content a question asks for."""
    place = file_asked(asked.question)
    if place is None or not (lead := points_of_places((place,), asked.target)):
        return None
    return Planned(replace(asked.wish, places=(place,)), lead=tuple(lead))


def _left_out(asked: Asked) -> Planned | None:
    """Why the files that a question names are in no index."""
    places = asked.question.places if asked.question.kind is not QuestionKind.ERROR else ()
    known = asked.target.parts.shard().values("Path", asked.target.scope()) if places else ()
    if not places or any(meant(place.path, known) or near_files(place, known) for place in places):
        return None
    from rag_assets.answer.plans.left_out import files_left_out, files_naming

    told = [
        one for place in places for index in asked.target.members.values() for one in files_left_out(index, place.path)
    ]
    if not told:
        return None
    members = asked.target.members.values()
    facts, at = together(files_naming(index, place.path) for place in places for index in members)
    heading = f"**{'; '.join(told)}. Other files name it in:**"
    naming = answered(asked, Intent.LIST, (replace(facts, heading=heading), at))
    return naming or Planned(asked.wish, absent="; ".join(told))


def _settings_read(asked: Asked) -> Planned | None:
    """The settings that what the question names reads, where it asks for them."""
    noun, reader, is_about = settings_asked(with_it(asked.question.text, asked.target))
    if not noun:
        return _settings_about(asked)
    from rag_assets.answer.plans.code_lines import settings_of

    about = roots_of(reader)
    subject = [word for word in asked.words if word.root in about and is_subject(word)]
    known = settings_of(asked.target, noun, subject, asked.declaring, by_name=is_about)
    if not known[1] and subject and not asked.declaring:  # what reads them may be called otherwise: `the redis cache`
        maybe = settings_of(asked.target, noun, subject, (), by_name=True)
        known = maybe if len({fact.source.partition(":")[0] for fact in maybe[1]}) == 1 else known
    return answered(asked, Intent.LIST, known)


def _settings_about(asked: Asked) -> Planned | None:
    """The settings that the index declares about one thing."""
    subject = settings_subject(asked.question.asking)
    if not subject:
        return None
    from rag_assets.answer.plans.settings import settings_about

    known = first_of(settings_about(index, graph, subject) for index, graph in asked.graphs)
    if not known[1]:
        from rag_assets.answer.plans.code_lines import settings_of

        about = roots_of(subject)
        words = [word for word in asked.words if word.root in about and is_subject(word)]
        known = settings_of(asked.target, "setting", words, (), by_name=True) if words else known
    return answered(asked, Intent.LIST, known)


def _data(asked: Asked) -> Planned | None:
    """What stores, writes and reads that which a question asks it of."""
    of = data_asked(asked.question.text)
    if of is None:
        return None
    from rag_assets.answer.plans.data import data_facts

    known = first_of(data_facts(index, graph, of) for index, graph in asked.graphs)
    of_any = replace(of, deletes=False)
    if of.deletes and not known[1] and any(data_facts(index, graph, of_any)[1] for index, graph in asked.graphs):
        return Planned(asked.wish, absent=f"of all that is known to write to {of.said} nothing deletes from it")
    if not known[1] and of.words and of.first == STORED:
        from rag_assets.answer.plans.data import keepers

        return at_declarations(asked, [place for _, graph in asked.graphs for place in keepers(graph, of.words)])
    return answered(asked, Intent.TABLES, known)


def _written(asked: Asked) -> Planned | None:
    """Where code assigns what the question asks it of."""
    name = written_name(asked.question.text) if asked.wish.intent is not Intent.TABLES and not asked.wish.places else ""
    if not name:
        return None
    from rag_assets.answer.plans.code_lines import writes_of

    return answered(asked, Intent.LIST, writes_of(asked.target, name))


_OF_AUTHENTICATION = re.compile(r"(?:(?:api|jwt|the|user) )*auth(?:entication)?(?: of \w+)?", re.IGNORECASE)


def _feature(asked: Asked) -> Planned | None:
    """What a subject consists of, of which is asked how it works."""
    said = "" if asked.wish.names else feature_asked(asked.question.asking)
    if not said:
        return None
    from rag_assets.answer.plans.feature import feature_facts

    known = first_of(feature_facts(index, graph, said) for index, graph in asked.graphs)
    if known[1]:
        return answered(asked, Intent.EXPLANATION, known)
    from rag_assets.answer.structure.behaviours import happening_of

    wanted = happening_of(said)
    course = _course(asked, wanted) if wanted is not None else None
    if course is not None or _OF_AUTHENTICATION.fullmatch(said) is None:
        return course
    from rag_assets.answer.plans.marked import checked_at

    return at_declarations(asked, [one for index in asked.target.members.values() for one in checked_at(index)])


_HAPPENS = re.compile(
    r"\b(?:happens?|done|goes on|triggered|walk|flow|process|steps?|workflow)\b|^\W*(?:how|what does)\b", re.IGNORECASE
)
"""A word of a question for what happens: few others need that to be read."""


def _behaviour(asked: Asked) -> Planned | None:
    """What is called as that which happens, and what it comes to."""
    text = asked.question.asking
    if asked.wish.names or asked.wish.places or not _HAPPENS.search(text):
        return None
    from rag_assets.answer.structure.behaviours import happening_asked

    wanted = happening_asked(text)
    return _course(asked, wanted) if wanted is not None else None


def _course(asked: Asked, wanted: Happening) -> Planned | None:
    """The method that is called as what is done, and what it comes to."""
    from rag_assets.answer.structure.behaviours import behaviour_facts

    told = (behaviour_facts(index, graph, wanted) for index, graph in asked.graphs)
    name, (facts, at), point = next((one for one in told if one[0]), ("", (GraphFacts(), {}), ""))
    wish = replace(asked.wish, intent=Intent.EXPLANATION, names=(name,), case=True)
    return Planned(wish, facts, at, decides=True, lead=(point,)) if name else None


def _convention(asked: Asked) -> Planned | None:
    """The form that most things of a sort have."""
    wish = asked.wish
    noun = convention_noun(asked.question.text) if not wish.names and wish.intent in _OF_CONVENTIONS else ""
    if not noun:
        return None
    from rag_assets.answer.plans.convention import convention_facts

    known = first_of(convention_facts(index, graph, noun) for index, graph in asked.graphs)
    return answered(asked, Intent.EXPLANATION, known)


def _annotated(asked: Asked) -> Planned | None:
    """The declarations of the product with an attribute, an annotation or a decorator."""
    text = asked.question.asking
    if _NAMES_A_MARK.search(text) is None:
        return None
    from rag_assets.answer.plans.code_lines import list_heading
    from rag_assets.answer.plans.interface import mark_asked, marked_members

    mark, kinds = mark_asked(text)
    if not mark:
        return None
    found = [marked_members(index, graph, mark, (), "", (), is_mark=True, kinds=kinds) for index, graph in asked.graphs]
    facts, at = together(found)
    return answered(asked, Intent.LIST, (replace(facts, heading=list_heading("declaration", facts.total)), at))


_OF_STRUCTURE = re.compile(
    r"\b(?:assembly|crate|directory|folder|library|module|namespace|package|project)\b|\w[./]\w"
    r"|\b(?:abstract|async\w*|extern|final|generic|inline|internal|partial|private|protected|public|readonly|sealed|static"
    r"|suspend|unsafe|virtual|void|extension|are (?:enums|interfaces|records|structs)|cancellation"
    r"|cqrs|ddd|domain[- ]driven|event sourcing|mvc|mvvm|(?:docker|make|read)\w+|files?|protos|scripts?|solutions?"
    r"|implement\w+|derived|sub-?class(?:es)?|parameters?|arguments?)\b"
    r"|\b(?:injected|constructors?|mock|fake|stub|creat\w+|instantiat\w+|constructs?|constructed|made|makes?)\b"
    r"|\b(?:from|between)\b.+\b(?:to|and)\b|\b(?:reach(?:ed)?|leads?|connected|linked|related|get to|end up|arrive"
    r"|eventually|indirectly|ever)\b|\b(?:outdated|out of date|up to date|vulnerab\w+|cves?)\b"
    r"|\b(?:diagram|flow ?chart|patterns?|picture|erd|migrations?|contributors?|authors?|wrote|developers?|most"
    r"|biggest|coupling|largest|longest|smallest|shortest|fewest|least|too)\b"
    r"|\b(?:third[- ]party|external|outside|hosts|indexed|many|any number)\b"
    r"|\b(?:without|no|never|not|lacks?|missing|un\w+ed|\w+n't|more than|several|multiple)\b|\b\w+able\b"
    r"|\b(?:functions|methods) (?:are (?:here|there)|exist)\b"
    r"|\b\d+ (?:functions|lines|members|methods|properties)\b|\brecursive\b|\b(?:number|value)\b.*\d"
    r"|\bwhen (?:was|were)\b.*\b(?:column|table|field|index)\b"
    r"|\boverrid(?:e|den)s?\b|\b(?:field|property|column|method|function|member) (?:called|named)\b",
    re.IGNORECASE,
)
_OF_DECLARATIONS = re.compile(
    r"^\W*(?i:is|are|was|in|to|what|when|which|who|where|why|how|do|does|can|list|show)\b"
    r"(?=.*\b(?i:access\w*|annotations|arguments|attributes|calls?|chang\w+|class(?:es)?|constants?|constructors"
    r"|declar\w+|decorators|defin\w+|depends?"
    r"|enum|extends?|extension|fields?|file|implements?|inherits?|interface|knows?|lines|logs?|logged|long|members"
    r"|methods?|functions?|needs?|overrid\w*|parameters|propert\w+|record|references?"
    r"|associat\w+|base|begin\w*|called|ending?|ends|example|hierarchy|named?|names|parent|relat\w+|start\w*|superclass"
    r"|returns?|raises?|publish|sends?|checks?|emits?|enforce|scoped|signature|singleton|status\w*|struct|takes?|tests?"
    r"|production|touch\w*|transient|types?|uses?)\b)"
    r"(?:.*\W[\w.`]*(?:[A-Z_]|\w\.\w)|.*\b(?i:called|named) \w)"
)
"""A question with a name of code, and a word of what may be asked of that."""


def _structure(asked: Asked) -> Planned | None:
    """What a folder holds, how declarations are declared and made, how one leads to another."""
    text = asked.question.asking
    if not _OF_STRUCTURE.search(text) and not _OF_DECLARATIONS.search(text):
        return None
    from rag_assets.answer.structure.plans import structure_plan

    return structure_plan(asked)


_ASKS_OF_CODE = re.compile(
    r"\b(?:where|which|any|list|find|show|how many|is|are|do|does|can|code|class(?:es)?|files?|happens|methods?"
    r"|shut ?down|uses?)\b",
    re.IGNORECASE,
)
"""What a question for places has, or one of what a declaration does: the forms of code are not loaded for others."""


def _reviewed(asked: Asked) -> Planned | None:
    """The places with a form of code that reviewers look for."""
    if not _ASKS_OF_CODE.search(asked.question.asking):
        return None
    from rag_assets.answer.structure.constructs import construct_plan

    return construct_plan(asked)


_SETS_UP = re.compile(
    r"\W*(?:(?:how|where|is|are)\b.*\b(?:configured?|enabled?|enforced|initiali[sz]ed|registered|register|registrations?"
    r"|served|set[- ]?up|wired|turned on|bootstrapped)\b|(?:is|are) there\b)",
    re.IGNORECASE,
)


def _set_up(asked: Asked) -> Planned | None:
    """Where a part of an application is set up."""
    if not _SETS_UP.match(asked.question.asking):
        return None
    from rag_assets.answer.structure.set_ups import set_up_plan

    return set_up_plan(asked)


def _handled(asked: Asked) -> Planned | None:
    """What handles the messages of a question, where the graph knows a handler, or code says that it gets them."""
    if not asked.wish.names or not asks_handler(asked.question.text):
        return None
    known = from_graphs(asked, replace(asked.wish, intent=Intent.HANDLERS))
    if known.at:
        return answered(asked, Intent.EXPLANATION, (replace(known.facts, leads=True), {**known.at}))
    from rag_assets.answer.plans.usage import receivers_of

    return answered(asked, Intent.EXPLANATION, receivers_of(asked.target, asked.wish.names))


def _sent(asked: Asked) -> Planned | None:
    """Where code sends the messages of a question, types that are no errors."""
    if not asked.wish.names or not asks_sender(asked.question.text):
        return None
    graphs = [graph for _, graph in asked.graphs]
    names = [one for one in asked.wish.names if any(declares(graph, one, only_types=True) for graph in graphs)]
    if not names:
        return None
    from rag_assets.answer.plans.usage import senders_of

    return answered(asked, Intent.EXPLANATION, senders_of(asked.target, names))


def _reaching(asked: Asked) -> Planned | None:
    """The endpoints that lead to the names of a question, through whatever they call."""
    if not asked.wish.names or not asks_endpoints_reaching(asked.question.text):
        return None
    from rag_assets.answer.plans.usage import endpoints_reaching

    known = together(endpoints_reaching(index, graph, asked.wish.names) for index, graph in asked.graphs)
    return answered(asked, Intent.LIST, known)


_ANY_ERROR = re.compile(r"\b(?:raise|throw) (?:an?|any) (?:error|exception)\b", re.IGNORECASE)


def _errors(asked: Asked) -> Planned | None:
    """Where the errors of a question are thrown and caught, or which errors its names throw."""
    wish, text = asked.wish, asked.question.text
    if wish.intent not in _OF_ERRORS or wish.places:
        return None
    of_named = bool(wish.names) and asks_what_is_thrown(text)
    by, catches = thrower_asked(text)
    if by and by not in wish.names and not any(declares(graph, by) for _, graph in asked.graphs):
        by = ""
    names = wish.names if of_named else errors_asked(text, [name for name in wish.names if name != by])
    if not names and not wish.names:
        said = [one for one in outside_name_said(text) if _ERROR_SAID.fullmatch(one)]
        names = said or ([_VALIDATION_ERROR] if asks_failed_validation(text) else [])
    if by and not (names or catches or of_named) and _ANY_ERROR.search(text):
        from rag_assets.answer.plans.errors import lines_run_by, throws_within

        known = throws_within(asked.target, lines_run_by((graph for _, graph in asked.graphs), by))
        absent = "" if known[1] else f"no line of {by}, or of what it calls, throws"
        return Planned(replace(wish, intent=Intent.EXPLANATION), *known, decides=not absent, absent=absent)
    if not names and not asks_which_are_thrown(text):
        return None
    from rag_assets.answer.plans.errors import error_facts, error_said, errors_derived, lines_run_by, thrown_by

    if not names:
        known = first_of(errors_derived(index, graph, text) for index, graph in asked.graphs)
        names = [] if known[1] else [one for _, graph in asked.graphs for one in error_said(graph, text)]
        if not names:
            return answered(asked, Intent.EXPLANATION, known)

    if of_named:
        thrown = thrown_by(asked.target, asked.declared)
    else:
        run = lines_run_by((graph for _, graph in asked.graphs), by) if by and names and not of_named else None
        thrown = error_facts(asked.target, names, caught_first=asks_who_catches(text), within=run)
        if run is not None and not any((fact.verb == "catches") == catches for fact in thrown):
            does = "catches" if catches else "throws"
            others = error_facts(asked.target, names, caught_first=catches)
            told = GraphFacts(tuple(others), len(others), leads=True)
            absent = f"no line of {by}, or of what it calls, {does} {' or '.join(names)}"
            return Planned(replace(wish, intent=Intent.EXPLANATION), told, others, absent=absent)
    return answered(
        asked, Intent.EXPLANATION, (GraphFacts(tuple(thrown), len(thrown), leads=not (of_named and wish.case)), thrown)
    )


def _graph(asked: Asked) -> Planned:
    """What the graph knows of the names of a question, of its best hits, or of the whole; of what uses something, also
    what the text of code tells, and where a change of it is asked about, what that reaches."""
    if not asked.wish.names and asks_what_lacks(asked.question.text):
        return Planned(replace(asked.wish, intent=Intent.EXPLANATION))
    known = from_graphs(asked, asked.wish)
    if asked.wish.intent is Intent.IMPLEMENTATIONS and _BOTH.search(asked.question.asking):
        return _of_both(asked, known)
    if asked.wish.intent is not Intent.USAGE:
        return known
    known = _with_mentions(asked, known) if known.at else known
    graphs = list(asked.graphs)
    if len(graphs) != 1 or graphs[0][0].is_narrowed or not asks_impact(asked.question.text):
        return known  # each of several has users of its own, and counts are of the whole
    from rag_assets.answer.plans.usage import reached_by_change

    facts, at = reached_by_change(*graphs[0], asked.wish.names or asked.wish.routes, known.facts)
    return replace(known, facts=facts, at=at)


_BOTH = re.compile(
    r"(?<=[\w`]) and (?:also )?(?:(?:are|derive from|extend|implement|inherit|is)s? )*(?:the )?`?[\w.]*[A-Z]"
)


def _of_both(asked: Asked, known: Planned) -> Planned:
    """What of several bases derives from each of them."""
    each = [from_graphs(asked, replace(asked.wish, names=(name,))) for name in asked.wish.names]
    if len(each) < 2 or any(one.at and len(one.at) != one.facts.total for one in each):
        return known
    both = set.intersection(*({fact.source for fact in one.facts.facts} for one in each))
    kept = tuple(fact for fact in known.facts.facts if fact.source in both)
    at = {fact: point for fact, point in known.at.items() if fact in kept}
    if not at:
        absent = f"nothing that is known derives from both {' and '.join(asked.wish.names)}"
        return replace(known, facts=replace(known.facts, leads=True), absent=absent)
    return replace(known, facts=replace(known.facts, facts=kept, total=len(kept)), at=at)


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
    text = asked.question.asking
    listed = _OF_BASE.match(text) if asked.undeclared else None
    maybe = words_as_names(asked.question) if not asked.names else None
    names = asked.undeclared or (maybe.names if maybe is not None else outside_name_said(asked.question.text))
    names = (listed["base"],) if listed is not None else names
    if (asked.wish.intent is not Intent.IMPLEMENTATIONS and listed is None) or not names:
        return None
    from rag_assets.answer.plans.listing import derived_by_text

    derived = ((derived_by_text(index, graph, names), index) for index, graph in asked.graphs)
    known = ((facts, facts_at(facts.facts, index)) for facts, index in derived)
    return answered(asked, Intent.IMPLEMENTATIONS, together(known))


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
        known = from_graphs(asked, replace(wish, intent=Intent.USAGE))
        if known.at:
            return replace(known, wish=wish)
    heading = NAMED_IN if of_purpose else ""
    marks = (one.removesuffix(_OF_ATTRIBUTES) for one in wish.names if one.endswith(_OF_ATTRIBUTES))
    names = (*wish.names, *filter(None, marks))
    mentions = mentions_of(asked.target, names, wish.intent, asked.declaring, heading)
    if not (of_purpose or mentions[1]) and all("." in name and name in asked.undeclared for name in wish.names):
        return Planned(wish, absent=f"nothing here names {' or '.join(wish.names)}")  # its parts may be everywhere
    if not (of_purpose or mentions[1] or asked.undeclared):
        named = " or ".join(wish.names)
        is_test = wish.intent is Intent.TESTS
        if is_test:
            from rag_assets.answer.plans.usage import tests_reaching

            run = together(tests_reaching(index, graph, wish.names) for index, graph in asked.graphs)
            if run[1]:
                return answered(asked, wish.intent, run)
        told = (
            f"no test of {named} is known, and no test" if is_test else f"no use of {named} is known, and nothing else"
        )
        return Planned(wish, absent=f"{told} names it")
    return answered(asked, wish.intent, mentions, decides=False)


def _setting_meant(asked: Asked) -> Planned | None:
    """The settings that a question means by their names, of the index whose settings are nearest to it, where it asks
    for the value of one that it names that alone; of a name that nothing declares where files of configuration set what
    is called so."""
    if not asks_setting(asked.question.text):
        return None
    from rag_assets.answer.plans.settings import (
        constant_facts,
        is_default_of,
        key_facts,
        setting_facts,
        settings_meant,
    )

    if asked.wish.intent in (Intent.EXPLANATION, Intent.DEFINITION):
        known = first_of(key_facts(index, name) for name in asked.undeclared for index, _ in asked.graphs)
        if not known[1] and asks_value(asked.question.text):
            constants = [name for name in asked.names if name.isupper()]
            known = first_of(constant_facts(index, graph, name) for name in constants for index, graph in asked.graphs)
        if known[1]:
            decides = asks_value(asked.question.text) and not asked.wish.does
            return Planned(replace(asked.wish, intent=Intent.EXPLANATION), *known, decides, setting=1.0)
    of_value = asked.wish.intent is Intent.DEFINITION and asks_value(asked.question.text)
    of_default = asked.wish.intent in _ALSO_OF_DEFAULTS and not asked.wish.names and asks_default(asked.question.text)
    if asked.wish.intent is not Intent.EXPLANATION and not (of_value or of_default):
        return None
    owners = {name.rpartition(".")[2] for name in asked.names}
    words, text, model = asked.words, asked.question.text, asked.model
    found: list[tuple[float, LabelIndex, Graph, list[Setting]]] = []
    for index, graph in asked.graphs:
        if of_value:
            settings = settings_meant(index, graph, text, words, model, called=asked.names)
            settings = settings or settings_meant(index, graph, text, words, model, owners)
        else:
            settings = settings_meant(index, graph, text, words, model)
        if of_default:  # what only means about the same is not what `is used`
            settings = [one for one in settings if is_default_of(text, one)]
        if settings:
            found.append((settings[0].said, index, graph, settings))
    if not found:
        return _fallback(asked)
    said, index, graph, settings = max(found, key=lambda one: one[0])
    facts, at = setting_facts(index, settings, graph)
    if (fallback := _fallback(asked)) and not any(fact.group == "Default" for fact in at):
        return fallback
    facts = replace(facts, leads=facts.leads and _HOW_CONFIGURED.match(text) is None)
    wish = replace(asked.wish, intent=Intent.EXPLANATION) if (of_value or of_default) and at else asked.wish
    return Planned(wish, facts, at, setting=said if at else 0.0)


def _fallback(asked: Asked) -> Planned | None:
    """What code takes for that whose default a question asks for, where that is not given."""
    if asked.wish.names or not asks_default(asked.question.text):
        return None
    from rag_assets.answer.structure.fallbacks import fallback_facts

    known = first_of(fallback_facts(index, asked.words) for index in asked.target.members.values())
    return answered(asked, Intent.EXPLANATION, known, decides=False)


def _listed(asked: Asked) -> Planned | None:
    """What a question for a list, or for what is related to a name, knows that is asked in the usual words."""
    text = asked.question.asking
    if related := relation_asked(text):
        known = _in_usual_words(asked, related)
        return known if known is not None and (known.at or known.lead) else None
    known = _in_usual_words(asked, list_asked(text, plainly=True))
    return known if known is not None and known.at and known.decides else None


def _listed_otherwise(asked: Asked) -> Planned | None:
    """The same of a question that may have wanted more, and of one that is but a word: each is told with its place."""
    known = _in_usual_words(asked, list_asked(asked.question.asking))
    return known if known is not None and known.at and known.decides else None


def _in_usual_words(asked: Asked, listing: str) -> Planned | None:
    if not listing or listing == asked.question.asking:
        return None
    question = replace(asked.question, typed=listing, text=listing, asks="")
    return planned(asked_of(question, asked.hits, asked.target, asked.graph_of))


_PLANS: tuple[Callable[[Asked], Planned | None], ...] = (
    _listed,
    _seen,
    _versions,
    _headed,
    _supported,
    _everyday,
    _file_shown,
    _left_out,
    _settings_read,
    context_plan,
    kept_in_plan,
    projects_plan,
    composed_plan,
    error_status_plan,
    declared_plan,
    component_plan,
    shown_plan,
    marked_plan,
    functions_plan,
    access_plan,
    _annotated,
    foreign_keys_plan,
    _structure,
    _reviewed,
    _set_up,
    endpoint_plan,
    validated_plan,
    request_flow_plan,
    hub_plan,
    package_used_plan,
    listed_of_whole_plan,
    coded_plan,
    threads_plan,
    _retired,
    extended_plan,
    _data,
    texts_plan,
    columns_plan,
    members_plan,
    command_line_plan,
    option_plan,
    keys_plan,
    constant_plan,
    parameters_plan,
    routine_plan,
    registered_plan,
    flags_plan,
    machine_plan,
    values_plan,
    overloads_plan,
    scripts_say_plan,
    listed_plan,
    items_plan,
    choices_plan,
    in_scripts_plan,
    granted_plan,
    _written,
    length_plan,
    _listed_otherwise,
    _behaviour,
    _convention,
    _handled,
    _errors,
    _sent,
    _reaching,
    _graph,
    _derived,
    _uses,
    _setting_meant,
    _feature,
)
