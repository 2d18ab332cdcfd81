"""A question as the index reads it: what it wants, its words, and which of its names are declared where; and what a
plan knows for it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from rag_assets.answer.graph_facts import (
    Facts,
    FactsOrAbsent,
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
    Intent,
    QueryIntent,
    QueryTerm,
    compared_names,
    intent_of,
    is_relation_or_manner,
    listed_noun,
    member_named,
    members_asked,
    name_roots,
    owner_said,
    root,
    root_set,
    roots_of,
    telling_words,
    words_as_names,
    words_asked_of,
)
from rag_assets.answer.question_kinds import (
    APPS,
    CONTAINERS,
    OF_ENUMERATIONS,
    asks_endpoints_reaching,
    asks_handler,
    asks_options,
    asks_sender,
    asks_values_of,
    asks_what_is_thrown,
    attribute_asked,
    enumeration_named,
    says_something,
    values_asked,
    values_called,
    without_sort,
)
from rag_assets.answer.whole_project import name_of_whole
from rag_assets.contracts.evidence import short_name
from rag_assets.errors import NoEmbedderError
from rag_assets.identifiers import identifier_words, plural, singular
from rag_assets.search import CodePlace, Hit, Question, QuestionKind
from rag_assets.search.line_references import meant, named_at, section_members, sections_at, sections_of
from rag_assets.search.ranking.penalties import non_product_code

if TYPE_CHECKING:
    from rag_assets.graph.csr_graph import Graph
    from rag_assets.models.static_code.embedder import StaticEmbedder
    from rag_assets.search.index import LabelIndex, Searchable


MOST_DECLARING = 6
"""Points that are read for one name of the question: the sections of a type, or of the parts of a partial one."""
_MOST_NAMES = 4
_FEWEST_SAID = 2  # words of an enumeration beside what it is: `Action` alone may be anything
_MOST_ENUMERATIONS = 2
_OF_DATA = frozenset({root("data")})
_SORT = root_set("kind type")
_OF_C = re.compile(r"(?:Enum|[ET])$")  # what names of enumerations of C end with: `log_level_t`
_MOST_OF_CODE = 3  # names of pasted code
_TOKEN = re.compile(r"\w[\w.+-]*\w")


_MOST_PLACES = 8  # that say which columns a table has
_OF_A_TABLE = 30  # lines after its first section
_OF_RELATIONS = re.compile(
    r"\b(?:affect\w*|break\w*|call(?:s|ed|ers?|ing)?|columns|constructor|covers?|creates?|created|depend\w*|deriv\w*|extends?|fields"
    r"|impact\w*|implement\w*|inherits?|inject(?:s|ed)?|invoke\w*|members|mentions?|methods|needs?|opened|overrid\w*|properties|reads?|references?|relies|rely|rendered|shown"
    r"|tests?|tested|usages?|uses?|used|using|writes?|if (?:i|we|you|somebody) \w+)\b",
    re.IGNORECASE,
)
_RELATED = frozenset({Intent.USAGE, Intent.DEPENDENCIES, Intent.TESTS, Intent.IMPLEMENTATIONS, Intent.TABLES})
_OF_ONE = re.compile(
    r"^\W*where (?:is|are|gets?) .+ (?:assigned|changed|declared|defined|implemented|registered|set)\W*$|^\W*show me "
    r"|^\W*(?:who|what|which \w+) (?:assign|change|register|set)s? |^\W*where (?:is|are) (?:the|our) [a-z -]+\W*$"
    r"|^\W*(?:what|which) (?:\w+ )?(?:is|does|contains|has|holds) .+ (?:in|belong to|part of)\W*$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with its `words`, and its `names` with the points that declare each. `of_code`: they are those of
    pasted code, or of an error, where what nothing declares is of a library. `hits` are what its search found in the
    `target`, and `graph_of` gives the graph of an index, or why it has none."""

    question: Question
    hits: tuple[Hit, ...]
    target: Searchable
    graph_of: Callable[[LabelIndex], Graph | str]
    wish: QueryIntent
    words: tuple[QueryTerm, ...]
    names: tuple[str, ...]
    declared: Mapping[str, Sequence[str]]
    of_code: bool

    @property
    def declaring(self) -> list[str]:
        """The points that declare a name of it."""
        return [point for points in self.declared.values() for point in points]

    @property
    def model(self) -> StaticEmbedder | None:
        return question_model(self.target)

    @property
    def undeclared(self) -> list[str]:
        return [name for name in self.names if not self.declared[name]]

    @property
    def graphs(self) -> Iterator[tuple[LabelIndex, Graph]]:
        """The indexes that have a graph, and it."""
        return graphs_of(self.target, self.graph_of)


def asked_of(
    question: Question, hits: tuple[Hit, ...], target: Searchable, graph_of: Callable[[LabelIndex], Graph | str]
) -> Asked:
    wish = intent_of(question)
    whole = name_of_whole(question.asking)
    if whole and len(target.members) == 1 and _is_called(next(iter(target.members.values())), whole):
        wish = replace(wish, intent=Intent.OVERVIEW)
    elif not wish.names and wish.places and wish.intent in _RELATED:
        wish = _with_names_at(wish, target)
    elif not wish.names:
        wish = _with_declared_words(wish, question, target, graph_of)
    if not wish.names:
        wish, question = _with_said_names(wish, question, (graph for _, graph in graphs_of(target, graph_of)))
    if wish.intent is Intent.USAGE and len(wish.names) == 1:
        wish = _with_contract(wish, [graph for _, graph in graphs_of(target, graph_of)])
    if owner := members_asked(question.asking):
        wish = _of_entity(wish, owner, [graph for _, graph in graphs_of(target, graph_of)], question.asking)
    member, owner_of_it = member_named(question.asking)
    qualified = f"{owner_of_it}.{member}"
    if member and any(declares(graph, qualified) for _, graph in graphs_of(target, graph_of)):
        told = (member, owner_of_it) if wish.intent is not Intent.EXPLANATION else (member,)
        wish = replace(wish, names=(qualified, *(one for one in wish.names if one not in told)))
    pair = compared_names(question.asking)
    if pair and all(  # words are those of types, and of no member that is called so
        any(declares(graph, one, only_types=one not in question.asking) for _, graph in graphs_of(target, graph_of))
        for one in pair
    ):
        wish = replace(wish, intent=Intent.DEFINITION, names=pair, compared=True)
    attribute, is_placed = attribute_asked(question.asking)
    of_attribute = attribute and wish.intent in (Intent.EXPLANATION, Intent.DEFINITION)
    if of_attribute and any(declares(graph, attribute, only_types=True) for _, graph in graphs_of(target, graph_of)):
        wish = replace(wish, intent=Intent.DEFINITION if is_placed else wish.intent, names=(attribute,))
    if called := values_asked(question.asking):
        wish = _of_values(wish, called, [graph for _, graph in graphs_of(target, graph_of)])
    pasted = _declared_of(question.pasted, target)
    words = words_asked_of(target.parts, " ".join((question.text, *pasted)), wish.names)
    names = wish.names[:_MOST_NAMES]
    declared = {name: declaring(name, target) for name in names} | pasted
    is_error = question.kind is QuestionKind.ERROR
    if pasted or (is_error and any(declared.values())):  # of a library, a frame or a call is no name to miss
        names = tuple(name for name in declared if declared[name])
        wish = replace(wish, names=names)
        if wish.intent in (Intent.EXPLANATION, Intent.OVERVIEW) and (is_error or not says_something(question.asks)):
            wish = replace(wish, intent=Intent.DEFINITION)
    of_code = is_error or bool(pasted)
    return Asked(question, hits, target, graph_of, wish, words, names, declared, of_code)


def graphs_of(target: Searchable, graph_of: Callable[[LabelIndex], Graph | str]) -> Iterator[tuple[LabelIndex, Graph]]:
    for index in target.members.values():
        if not isinstance(graph := graph_of(index), str):
            yield index, graph


def _is_called(index: LabelIndex, name: str) -> bool:
    """Whether a name is that of the repository, or the title of its README."""
    from rag_assets.answer.plans.code_lines import readme_title

    wanted = _letters(name)
    return bool(wanted) and (
        wanted == _letters(index.label.partition("@")[0]) or wanted == _letters(readme_title(index))
    )


def with_it(text: str, target: Searchable) -> str:
    """A text with `it` for the name of the one repository that is asked: how is `ripgrep` installed?"""
    names = {_letters(label.partition("@")[0]) for label in target.members}
    return _TOKEN.sub(
        lambda found: "it" if len(names) == 1 and _letters(found.group()) in names else found.group(), text
    )


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name)).casefold()


def _with_declared_words(
    wish: QueryIntent, question: Question, target: Searchable, graph_of: Callable[[LabelIndex], Graph | str]
) -> QueryIntent:
    """The question with those of its words as names that the graph declares exactly so, as `Basket` may be."""
    text = question.asking
    maybe, (listed, of_choice) = words_as_names(question), enumeration_named(text)
    if maybe is None and not (listed or asks_values_of(text) or listed_noun(text)[0]):
        return wish
    graphs = [graph for _, graph in graphs_of(target, graph_of)]
    of_it, words = _told_of(text), len(identifier_words(listed))
    is_telling = words > _FEWEST_SAID or (words == _FEWEST_SAID and bool(asks_values_of(text)))
    chosen = tuple(
        one
        for one in (_enumerations(graphs, [listed]) if listed else ())
        if of_choice
        or is_telling
        or one in (listed, f"{listed}s")
        or (of_it and of_it <= roots_of(one))
        or _of_whole(one, listed, graphs)
    )
    chosen = chosen or (_constants_called(graphs, listed) if listed else ())
    bare = without_sort(listed)
    if bare and not chosen:  # `Severity` of severity levels, and no `SortOrder` of orders
        is_type = any(declares(graph, bare, only_types=True) for graph in graphs)
        chosen = tuple(one for one in _enumerations(graphs, [bare]) if one == bare or not is_type)
    if not chosen and (maybe is None or maybe.choice) and not says_contract(graphs, listed_noun(text)[0]):
        chosen = (
            _enumerations_said(graphs, text) or _enumeration_of_app(graphs, text) or _enumeration_held(graphs, text)
        )
    if chosen and not (maybe and maybe.choice):
        return replace(wish, intent=Intent.DEFINITION, names=chosen, choice=True)
    if maybe is None:
        return wish
    of_type = maybe.intent is Intent.DEFINITION and not asks_what_is_thrown(text)
    if maybe.choice:
        values = (*_enumerations(graphs, maybe.names), *chosen)
        if not values and says_contract(graphs, listed_noun(text)[0]):
            return wish  # of a state machine whose states are types
        maybe = replace(maybe, names=(*values, *maybe.names))
    names = tuple(
        one
        for one in maybe.names
        if any(declares(graph, one, only_types=of_type and one.isidentifier()) for graph in graphs)
    )
    if maybe.choice and not names:  # the states of a document may be `Document.Status`
        return next((told for one in maybe.names if (told := _of_values(wish, one, graphs)) is not wish), wish)
    return replace(maybe, names=names[:1] if of_type else names) if names else wish


def _with_said_names(wish: QueryIntent, question: Question, graphs: Iterable[Graph]) -> tuple[QueryIntent, Question]:
    """A question of what uses, needs, tests, implements or is hit by a change of something as if it were written as
    code does: `the order manager` is `OrderManager`, `the orders table` `sales.Orders`."""
    text = question.asking
    is_of_one = asks_handler(text) or asks_sender(text) or _OF_ONE.search(text) is not None
    if not (is_of_one or asks_endpoints_reaching(text) or _OF_RELATIONS.search(text)):
        return wish, question
    from rag_assets.answer.plans.usage import with_names

    known = [*graphs]
    written, names, (said, stands) = with_names(known, text)
    if not names:
        return wish, question
    asks, whole = written if question.asks else "", question.text.replace(said, stands)
    asked = replace(question, typed=written, text=whole, asks=asks, symbols=names)
    named = intent_of(asked)
    is_member = "." in names[0]
    if is_member and named.intent is Intent.TABLES:  # who reads a property uses it
        named = replace(named, intent=Intent.USAGE)
    if named.intent in (Intent.DEFINITION, Intent.DEPENDENCIES):
        named = replace(named, names=names[:1])
    is_wanted = is_of_one or named.intent in _RELATED or asks_endpoints_reaching(text)
    is_wanted |= named.declared and any(declares(graph, names[0], only_types=not is_member) for graph in known)
    return (named, asked) if is_wanted else (wish, question)


def _with_contract(wish: QueryIntent, graphs: Sequence[Graph]) -> QueryIntent:
    """A question of what uses a class as one of its interface too, if that is called so: others are given it."""
    name, contract = wish.names[0], f"I{wish.names[0]}"
    both = (any(declares(graph, one, only_types=True) for graph in graphs) for one in (name, contract))
    return replace(wish, names=(name, contract)) if name.isidentifier() and all(both) else wish


def _told_of(question: str) -> set[str]:
    """The roots of what a question says of the things that it wants a list of."""
    return {root(one) for one, _ in telling_words(listed_noun(question)[1]) if not is_relation_or_manner(one)}


def says_contract(graphs: Iterable[Graph], noun: str) -> bool:
    """Whether what a noun lists derives from a type that is called so."""
    from rag_assets.answer.plans.listing import is_contract

    return bool(noun) and any(is_contract(graph, noun) for graph in graphs)


def _options_of(graphs: Sequence[Graph], owner: Sequence[str]) -> str:
    """The one type of the product that has the options of something: `HtmlParserOptions` of `the HTML parser`."""
    from rag_assets.answer.plans.listing import nodes_listed

    found = {
        one.name
        for graph in graphs
        for noun in ("options", "settings", "configuration")
        for one in nodes_listed(graph, noun)
        if non_product_code(one.path) is None and name_roots(one.name) == [*owner, root(noun)]
    }
    return next(iter(found)) if len(found) == 1 else ""


def _of_entity(wish: QueryIntent, owner: Sequence[str], graphs: Sequence[Graph], question: str) -> QueryIntent:
    """The question for the columns of a table, or of a set of a context, as one about the type that is mapped to it;
    for the options of something as one about the type that has them."""
    from rag_assets.answer.plans.data import entity_called

    if options := _options_of(graphs, owner) if asks_options(question) else "":
        return replace(wish, intent=Intent.DEFINITION, names=(options,), declared=True)
    if any(declares(graph, name, only_types=True) for graph in graphs for name in wish.names):
        return wish
    found = [name for graph in graphs if (name := entity_called(graph, owner))]
    return replace(wish, intent=Intent.DEFINITION, names=(found[0],), declared=True) if found else wish


def _of_values(wish: QueryIntent, called: str, graphs: Sequence[Graph]) -> QueryIntent:
    """The question for the values of an enumeration, or of what holds one of them, as one about the enumeration."""
    from rag_assets.answer.plans.data import types_of_property

    found = _enumerations(graphs, [called])
    held = {name for graph in graphs for name in types_of_property(graph, called)} if not found else ()
    found = found or [name for name in sorted(held) if _enumerations(graphs, [name]) == [name]]
    return replace(wish, intent=Intent.DEFINITION, names=(found[0],), choice=True) if len(found) == 1 else wish


def _enumerations_said(graphs: Iterable[Graph], question: str) -> tuple[str, ...]:
    """The enumerations with the most words of which a question for values says each, what it lists among them:
    `WorkflowActionType` for `which actions can a workflow perform?`, `CircuitBreaker.State` for the states of a circuit
    breaker. What they are by their last word need not be said, and one that says all that is asked may say more."""
    noun = asks_values_of(question)
    if not noun:
        return ()
    from rag_assets.answer.listed_values import enumerations

    said, wanted, about = roots_of(question), values_called(noun), _told_of(question)
    found: dict[str, tuple[int, int]] = {}
    known = [one for graph in graphs for one in enumerations(graph)]
    of_it = [own for own in (roots_of(one.name) for one, _ in known) if root(noun) in own]
    is_only = len(of_it) == 1 and of_it[0] - _SORT == {root(noun)}  # `PermissionKind` of permissions
    for one, owner in known:
        own = roots_of(one.name)
        is_called_so = not wanted.isdisjoint(own & OF_ENUMERATIONS) or (is_only and own == of_it[0])
        for name in filter(None, (one.name, owner and f"{owner}.{one.name}")):
            telling = roots_of(name) - OF_ENUMERATIONS
            telling -= _OF_DATA if len(telling) > _FEWEST_SAID else frozenset()
            is_said = len(telling) >= _FEWEST_SAID - is_called_so and telling <= said and not wanted.isdisjoint(own)
            if is_said or (is_called_so and len(about) >= _FEWEST_SAID and about <= telling):
                found[name] = len(telling & said), -len(telling - said)
    most = max(found.values(), default=(0, 0))
    return tuple(sorted(name for name, count in found.items() if count == most))[:_MOST_ENUMERATIONS]


def _enumeration_of_app(graphs: Sequence[Graph], question: str) -> tuple[str, ...]:
    """The one enumeration whose name says no more than what a question lists and that an app has it: `AppThemes`."""
    noun, rest = listed_noun(question)
    said = (one for one, _ in telling_words(rest) if not is_relation_or_manner(one))
    is_all = asks_values_of(question) or all(root(one) in CONTAINERS | APPS for one in said)
    from rag_assets.answer.listed_values import enumerations
    from rag_assets.answer.plans.listing import LISTED_KINDS, nodes_listed

    if not is_all or not noun.isalpha() or noun in LISTED_KINDS:
        return ()
    known = {one.name for graph in graphs for one, owner in enumerations(graph) if not owner}
    found = [one for one in known if root(noun) in roots_of(one) and roots_of(one) <= {root(noun)} | APPS]
    others = {one.name for graph in graphs for one in nodes_listed(graph, noun)} - known if found else ()
    return tuple(found) if len(found) == 1 and len(others) <= len(found) else ()


def _enumeration_held(graphs: Sequence[Graph], question: str) -> tuple[str, ...]:
    """The enumeration that is called as what a question lists, where a property of what it names has its values:
    `Color` for `which colors can a button have?`, which `MudButton.Color` is of."""
    noun, rest = listed_noun(question)
    owner = name_roots(owner_said("", rest)) if noun.isalpha() else []
    if not owner:
        return ()
    from rag_assets.answer.listed_values import enumerations
    from rag_assets.answer.plans.data import properties_of

    called = {noun, plural(noun)}
    found = {one.name for graph in graphs for one, _ in enumerations(graph) if one.name.casefold() in called}
    signatures = [said for graph in graphs for said in properties_of(graph, owner, root(noun))] if found else []
    return tuple(one for one in sorted(found) if any(re.search(rf"\b{one}\b\S* \w", said) for said in signatures))


def _enumerations(graphs: Iterable[Graph], names: Sequence[str]) -> list[str]:
    """The enumerations of the product that are called by one of some names, or by several of it, or else whose names
    end with it, where that is one: `ShopEventType`."""
    from rag_assets.answer.plans.listing import nodes_listed

    known = {one.name for graph in graphs for one in nodes_listed(graph, "enum") if non_product_code(one.path) is None}
    forms = {_OF_C.sub("", "".join(map(str.capitalize, identifier_words(one)))): one for one in known if "_" in one}
    forms |= {one: one for one in known}  # `level_enum` as `Level`
    endings = ("", "s", "Option", "Options")  # of the whole name, before names that end with it
    exact = ([forms[f"{name}{one}"] for one in endings if name and f"{name}{one}" in forms][:1] for name in names)
    ending = (
        own or [known for form, known in forms.items() if name and form.endswith(name)]
        for name, own in zip(names, exact, strict=True)
    )
    return [found[0] for found in ending if len(found) == 1]


def _of_whole(name: str, listed: str, graphs: Sequence[Graph]) -> bool:
    """Whether an enumeration says beside what it lists only what the whole is called, as `ShopErrorCode` of `Shop`."""
    whole = name.removesuffix(listed)
    keys = [key for graph in graphs for key in named_nodes(graph, (name,))] if whole != name else []
    return any(key.partition(":")[2].startswith(f"{whole}.") for key in keys)


def _constants_called(graphs: Sequence[Graph], name: str) -> tuple[str, ...]:
    """The one class of the product that holds constants and is called by a name, or two: `ShopRoles`, `RoleNames`;
    `Products` in `Permissions` for those of a product. Of two `Roles` the one that is in no type."""
    from rag_assets.answer.listed_values import holders_of_constants

    called = re.compile(rf"(?:.*[a-z\d])?(?:{plural(name)}|{name}(?:Names|Types?|Keys|Constants))")
    holders = {one for graph in graphs for one in holders_of_constants(graph)}
    at = {one: own for one in holders if called.fullmatch(own := one.rpartition(".")[2])}
    found = set(at.values())
    if len(found) == 1 and len(at) > 1:
        outer = [
            one for one in at if not any(declares(graph, one.partition(".")[0], only_types=True) for graph in graphs)
        ]
        found = set(outer) if len(outer) == 1 else found
    inner = [one for one in holders if "".join(map(singular, reversed(one.split(".")))) == name]
    return tuple(sorted(found) or inner) if len(found or inner) <= (_MOST_ENUMERATIONS if found else 1) else ()


def _declared_of(pasted: Sequence[str], target: Searchable) -> dict[str, list[str]]:
    """Of the names of pasted code the first few that the index declares, each with the points that do."""
    found: dict[str, list[str]] = {}
    for name in pasted:
        points = declaring(name, target)
        if points:
            found[name] = points
        if len(found) == _MOST_OF_CODE:
            break
    return found


def declaring(name: str, target: Searchable) -> list[str]:
    """The points that declare a name, those first whose symbol it is."""
    shard, scope = target.parts.shard(), replace(target.scope(), names=(name,))
    payloads = shard.retrieve(sorted(shard.ids(scope)), scope)
    last = name.rpartition(".")[2].casefold()
    sizes = Counter(known.get("Path", "") for known in payloads.values())

    def order(identifier: str) -> tuple[bool, bool, bool, int, str, int, str]:
        known = payloads[identifier]
        own = short_name(str(known.get("Symbol", ""))).casefold() == last
        path = known.get("Path", "")
        # a script of changes has an older one, and many beside it
        other = known.get("CodeLanguage") == "sql" and path.rpartition("/")[2].rpartition(".")[0].casefold() != last
        return not own, known.get("Kind") == "Test", other, -sizes[path], path, known.get("StartLine", 0), identifier

    found = sorted(payloads, key=order)[:MOST_DECLARING]
    split = {payloads[one].get("Path", "") for one in found if order(one)[0] and _holds(payloads[one], last)}
    known = sections_of(split, shard, target.scope()) if split else {}
    rest = sorted((one for one in known if one not in payloads and _holds(known[one], last)), key=_place_in(known))
    return found + rest[:MOST_DECLARING]


def _holds(section: Mapping[str, Any], owner: str) -> bool:
    """Whether a section has members of a nested type: of one that lies in two sections the second declares no name of
    it."""
    names = (one.name.casefold() for one in section_members(section))
    return any(f".{name}".rpartition(".")[0].endswith(f".{owner}") for name in names)


def _place_in(sections: Mapping[str, Mapping[str, Any]]) -> Callable[[str], tuple[str, int]]:
    return lambda one: (sections[one].get("Path", ""), sections[one].get("StartLine", 0))


def question_model(target: Searchable) -> StaticEmbedder | None:
    """The table of the package, whatever has made the vectors of an index: it says which words mean about the same.
    None where it is damaged, which `doctor` tells."""
    from rag_assets.models.static_code.embedder import MODEL_ID, StaticEmbedder
    from rag_assets.search.query_embedding import load_local

    home, _ = next(iter(target.members.values())).parts.configuration
    try:
        model = load_local(MODEL_ID, home.cache)
    except NoEmbedderError:
        return None
    assert isinstance(model, StaticEmbedder)
    return model


_MOST_NEAR = 3  # files of one name
_GRAPH_ENTRIES = 4  # hits whose nodes a question about routes or tables starts from


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


def points_of_places(places: Sequence[CodePlace], target: Searchable) -> list[str]:
    """The points at the lines, or of the files, that a question is."""
    shard, scope = target.parts.shard(), target.scope()
    found = list(sections_at(places, shard, scope))
    known = shard.values("Path", scope)
    named = (
        path for place in places if not place.line for path in meant(place.path, known) or near_files(place, known)
    )
    for path in dict.fromkeys(named):
        payloads = sections_of([path], shard, scope)
        found += sorted(payloads, key=lambda one: (payloads[one].get("StartLine", 0), one))[:MOST_DECLARING]
    return found


def _with_names_at(wish: QueryIntent, target: Searchable) -> QueryIntent:
    """A question of what calls, tests or needs something, as one about what is at the lines that it names."""
    shard, scope = target.parts.shard(), target.scope()
    at = sections_at(wish.places, shard, scope)
    payloads = shard.retrieve(list(at), scope)
    names = dict.fromkeys(named_at(at[point].line, payloads[point]) for point in at if point in payloads)
    return replace(wish, names=tuple(filter(None, names)))


def near_files(place: CodePlace, known: Iterable[str]) -> list[str]:
    """Of too many files of one name those of the product that are nearest to the root."""
    ending = f"/{place.path.casefold()}"
    found = [path for path in known if f"/{path.casefold()}".endswith(ending)]
    return sorted(found, key=lambda one: (non_product_code(one) is not None, one.count("/"), one))[:_MOST_NEAR]


def answered(asked: Asked, intent: Intent, known: Facts, *, decides: bool = True) -> Planned | None:
    facts, at = known
    return Planned(replace(asked.wish, intent=intent), facts, at, decides) if at else None


def answered_or_absent(
    asked: Asked,
    told: Sequence[FactsOrAbsent],
    chosen: Callable[[Iterable[Facts]], Facts],
) -> Planned | None:
    """The list that is chosen of what all indexes know, or what the first says that has looked for it in vain."""
    absent = next((absent for *_, absent in told if absent), "")
    return listed_or_absent(asked, chosen((facts, at) for facts, at, _ in told), absent)


def listed_or_absent(asked: Asked, known: Facts, absent: str) -> Planned | None:
    """The list of what is known, else that there is none, where that is sure."""
    return answered(asked, Intent.LIST, known) or (Planned(asked.wish, absent=absent) if absent else None)


def first_of(known: Iterable[Facts]) -> Facts:
    """What the first index knows that knows something."""
    return next(((facts, at) for facts, at in known if at), (GraphFacts(), {}))


def together(known: Iterable[Facts]) -> Facts:
    """What all indexes know; a heading that counts counts the facts of all."""
    from rag_assets.answer.plans.code_lines import counted_heading

    told, at = GraphFacts(), dict[GraphFact, str]()
    for facts, points in known:
        if points:
            total = told.total + facts.total
            heading = counted_heading(facts.heading, total) if told.facts else facts.heading
            told = replace(facts, facts=(*told.facts, *facts.facts), total=total, heading=heading)
            at |= points
    return told, at


def from_graphs(
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


def at_declarations(asked: Asked, places: Sequence[CodePlace]) -> Planned | None:
    """What is declared at some places, as what an answer begins with."""
    lead = points_of_places(places[:_MOST_PLACES], asked.target) if places else []
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
