"""Lists: all nodes of the graph that a noun of a question means, each with its place, or those alone that are of a part
of the product, or about a subject."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice, pairwise

import numpy as np

from rag_assets.answer.graph_facts import GraphFact, GraphFacts, seen_of
from rag_assets.answer.plans.code_lines import (
    FEWEST_LISTED,
    MIGRATION,
    MOST_LISTED,
    facts_naming,
    lines_of,
    list_heading,
    points_naming,
    product_of,
    says,
)
from rag_assets.answer.question_analysis import HOW_OFTEN, QueryTerm, covered, name_roots, root, root_set, roots_of
from rag_assets.answer.question_kinds import CONTAINERS
from rag_assets.contracts.graph import GraphEdge, NodeType, Relation, key_kind
from rag_assets.graph.csr_graph import IN, KINDS, OUT, Graph, Numbers, ResultReader, steps_over
from rag_assets.graph.declared_types import bases_of, derived_from, head_of, held_by, of_kind
from rag_assets.graph.impact import in_test_module
from rag_assets.graph.lookup import short_name
from rag_assets.identifiers import identifier_words, word_set
from rag_assets.index.keyword.terms import FUNCTION_WORDS
from rag_assets.search import CodePlace
from rag_assets.search.index import LabelIndex
from rag_assets.search.line_references import sections_of
from rag_assets.search.ranking.penalties import is_test_path, non_product_code

HAVING = root_set(
    "available declared defined dispatched emitted executed exposed fired implemented offer offered published queued"
    " raised registered used"
)
"""What a list says of all that it has, and no name does."""
EITHER = re.compile(r"\b(?:and|or)\b|,", re.IGNORECASE)
REMADE = re.compile(r"^_*(?:new|tmp|temp)_+(?=\w)|(?<=\w)_+(?:new|tmp|temp|old)$", re.IGNORECASE)
"""What the name of a table begins or ends with until it has that of another, or when another has its own: SQLite
alters few things of a table."""
_DROPS_TABLE = re.compile(r"\bDROP\s+TABLE\b|\bDelete\.Table\w*\(|\bRename\.Table\(", re.IGNORECASE)
_GOES_BACK = re.compile(r"\bvoid Down\(")
_UNDOES = re.compile(r"\b(?:down|revert|rollback|undo)\b|/U\d", re.IGNORECASE)
_IS_DONE = re.compile(
    r"^\W*(?:are|is|gets?|can be) (?:\w+ly )?"
    r"(?!(?:call|defin|handl|implement|publish|rais|regist|support|us)\w*ed\b)(\w+ed)"
    r"(?: (?:automatically|by default|here))?\W*$",
    re.IGNORECASE,
)
"""What a list is wanted of those to which it is done: `which queries are cached?`"""
_SHORTEST_STEM = 4
_CLAIMED = root_set("audited cached encrypted logged retried validated versioned")
"""What no name of a type says of it, so that all that a noun lists would be a false answer."""
_VALIDATES = re.compile(r"\b(?:I|Abstract)Validator<(?:\w+\.)*(\w+)>")
_SHORTENED = (("configuration", "config"), ("event", "eto"), ("repository", "repo"))  # an event transfer object of ABP
_SHORT = {root(long): root(short) for long, short in _SHORTENED}
_SAME = _SHORT | {short: long for long, short in _SHORT.items()}
"""What the names of types say in full, or short."""
_PART_OF_EVENT = re.compile(r"(?<!ed)(?<!edIn)(?<!edOut)(?<!Paid)(?<!Sent)Eto")
"""What an event of ABP is made of: `OrderItemEto` of `OrderPlacedEto`."""
_ERRORS = frozenset({"error", "exception"})
_IS_ERROR = re.compile(r"\b\w*(?:Exception|Error)\b")
"""Python calls most of its exceptions errors, and both may be called neither."""
_OF_BASE = r"\b(?!\w*(?:Has|With|Without){0})\w*{0}(?:Attribute|Base)?\b"
"""How a type says by a base that no name of it need repeat what it is: `ReceiveActor`, `ActionFilterAttribute`."""
_STRUCTURES = word_set("class collection data dictionary item key list map object record set stream test type value")
"""What bases are called whatever derives from them is."""
_IS_CONTRACT = re.compile(r"I[A-Z]")
_IS_ALIAS = re.compile(r"(?:declare |export )*type \w[^={]*=")
"""Of TypeScript, whose bounds are no bases: `type Payload<T extends SailCommand> = …`."""
_ABSTRACT = re.compile(r"\b(?:interface|abstract|trait|ABC|Protocol)\b")
_FORMS = {
    form: re.compile(rf"(?:[\w@]+[\s.]+)*?{form}\b(?! of\b)|\(def{form}\b")
    for form in ("class", "enum", "interface", "mixin", "protocol", "record", "struct", "trait", "union")
}
"""What stands before the name of a type, or in Go behind it."""
_CALLED_SO = frozenset({"mixin", "protocol", "trait", "union"})
"""Forms that few languages have: elsewhere types are called so."""
_IS_ENUMERATION = re.compile(r"\b(?:\w*Enum|\w+Choices|(?:Int)?Flag)\b")
"""What enumerations of Python derive from, those of Django too."""
_IS_OBJECT = re.compile(r"(?:\w+ )*object \w")
"""A type of Scala or Kotlin that may only hold others: `object PathError { case class Missing(…) }`."""
_BEFORE_A_PART = (["with"], ["without"])
"""What stands before that which a type only has: a `PageWithLayout` is no layout."""
_HELD = frozenset({"claim", "metric", "permission", "scope"})
"""What types that are called in the plural (`OrderMetrics`) have or make, and are not."""
_SCHEDULED = frozenset({"periodic", "recurring", "scheduled"})
_HOSTED = _SCHEDULED | {"background", "hosted"}
QUEUE = "celery"
HOSTED_SERVICE = "hosted service"
"""What is listed where no type says that a schedule runs it: it may have one of its own."""
_RUN = frozenset({"job", "process", "service", "task", "worker"})
_RUN_BY_A_SCHEDULE = re.compile(
    r"\b(?:IJob|IInvocable|\w*(?:Cron|Periodic|Recurring|Scheduled)\w*(?:Job|Service|Task|Worker)(?:Base)?)\b"
)
_RUN_BY_A_HOST = re.compile(
    r"\b(?:BackgroundService|\w*BackgroundWorkerBase|I?(?:Async)?BackgroundJob|IHostedService|ActiveJob::Base|ApplicationJob|ShouldQueue"
    rf"|(?:Coroutine|Listenable|Rx)Worker)\b|{_RUN_BY_A_SCHEDULE.pattern}"
)
"""How a type says that nobody calls it: `which background jobs are there?`"""
_HOW_OFTEN = re.compile(r"\b(?:how often|when|intervals?|schedules?)\b", re.IGNORECASE)
_EVERY = (
    r"<(?:\w+\.)*{0}>\s*\(.*"
    r"(?:\bTimeSpan\b|\bCron|Every|Hourly|Daily|Weekly|Monthly|\"[\d*/,-]+(?: [\w*/,?#-]+){{4,}}\")"
)
"""Where code says how often a type is run."""
_PERIOD = re.compile(
    r"(?<!\w)(?:Timer\.)?(?:Period|CronExpression)\s*=(?!=)|\bnew (?:PeriodicTimer|Timer)\(|\bTask\.Delay\("
    r"|\bThread\.Sleep\(|(?<![\w.])(?:Default)?(?:Interval|TimeOfDay)\w*\s*=(?!=).*(?:\bTimeSpan\b|\d)"
)
_OF_DOUBLES = re.compile(r"\b(?:benchmarks?|doubles?|examples?|fakes?|mocks?|samples?|stubs?|tests?)\b", re.IGNORECASE)
_IS_MIGRATION = re.compile(r"^[^_].*\.(?:[cm]?js|ts|py|rb|php|exs|sql)$")
DATABASE_MODEL, CREATED_TABLE = "database model", "created table"
_TABLES = frozenset({"table", CREATED_TABLE})
_IS_MODEL = re.compile(r"\b(?:db\.Model|models\.Model|DeclarativeBase|SQLModel|ApplicationRecord|ActiveRecord::Base)\b")
"""How a type of Django, SQLAlchemy or Rails says that it is kept in a table."""
_IS_ELOQUENT = re.compile(r"(?<![\w.])(?:Model|Authenticatable|Pivot)\b")
"""The same of Laravel."""
_NAMES_TABLE = f".__tablename__|{NodeType.PROPERTY.value}"
_OF_MODELS = re.compile(r"^(?:Abstract|Base)|(?:Base|Mixin|Model|Record)$")
"""The name of what models have in common."""
_TEST_FUNCTIONS = {"python": "test_", "go": "Test", "rust": ""}
"""What the functions begin with that are tests: in Rust all of a file or a module of tests."""
_TEST_FILES = frozenset({"javascript", "jsx", "svelte", "tsx", "typescript", "vue"})  # cases are calls there
_PAGES = (".razor", ".cshtml", ".vue", ".svelte", ".astro", "page.tsx", "page.jsx", "page.js")
"""The files of pages that routes lead to; elsewhere what lies in a folder `pages` is one."""
_OF_PAGES = frozenset({"javascript", "jsx", "razor", "svelte", "tsx", "typescript", "vue"})
_MAKES_TABLES = (Relation.MAPS_TO, Relation.SCHEMA_CHANGE)
AS_FAR_AS_NAMES_TELL = "**As far as names and declared types tell:**"
NAMED_IN = "**Code names it in:**"
LISTED_KINDS: dict[str, tuple[NodeType, ...]] = {
    "endpoint": (NodeType.ENDPOINT,),
    "route": (NodeType.ENDPOINT,),
    "url": (NodeType.ENDPOINT,),
    "page": (NodeType.ENDPOINT,),
    "table": (NodeType.TABLE,),
    "entity": (NodeType.ENTITY,),
    "view": (NodeType.VIEW,),
    "procedure": (NodeType.PROC,),
    "function": (NodeType.FUNC,),
    "trigger": (NodeType.TRIGGER,),
    "sequence": (NodeType.SEQUENCE,),
    "synonym": (NodeType.SYNONYM,),
    "migration": (NodeType.MIGRATION,),
    "package": (NodeType.PACKAGE,),
    "dependency": (NodeType.PACKAGE,),
    "library": (NodeType.PACKAGE,),
    "gem": (NodeType.PACKAGE,),
}
"""What a noun of a question lists. Other nouns list the types whose name ends with them: DTOs, handlers, exceptions."""
_FORMS_OF_LISP = {"macro": "(defmacro ", "multimethod": "(defmulti "}
"""What lists the functions whose declarations begin so, beside the types."""
_OF_DBT = {"model": (NodeType.VIEW, ""), "macro": (NodeType.FUNC, "macro "), "snapshot": (NodeType.VIEW, "snapshot ")}
"""What templates of dbt make, and how the declaration of each begins: a model has none."""
_OF_NO_TYPES = frozenset({"directory", "file", "folder"})
"""What a question calls files and folders themselves: a `BuildFile` is none."""
_OF_DATABASES = frozenset({NodeType.TABLE, NodeType.VIEW, NodeType.PROC, NodeType.FUNC, NodeType.TRIGGER})


@dataclass(frozen=True, slots=True)
class ListedNode:
    """A node where it is declared; of a package, where it is referred to."""

    key: str
    path: str
    line: int

    @property
    def name(self) -> str:
        return short_name(self.key)

    @property
    def fact(self) -> GraphFact:
        return GraphFact(self.name, "", "", self.path, self.line, True)


def listed(index: LabelIndex, graph: Graph, noun: str, subject: Sequence[QueryTerm], said: str = "") -> GraphFacts:
    """The first nodes that a noun lists, those alone that are about the subject of the question, all of it where some
    are: of the file, the project or the folder that it has `said`, where it names one. Of the product alone, if that
    has several."""
    sort, _, last = noun.partition(" ")
    parts = parts_named(graph, said)
    if noun == "namespace":
        short = _SHORT_NAME.search(_as_words(said))  # which several projects may end with
        spaces = seen_of(_namespaces(graph, parts[0] if parts else f" {short[1]} " if short else "", index), index)
        named = [] if parts or short else [word for word in subject if word.root not in CONTAINERS | HAVING]
        spaces = [one for one in spaces if says(named, one.source)]
        return GraphFacts(tuple(spaces[:MOST_LISTED]), len(spaces), list_heading(noun, len(spaces)))
    if (done := _IS_DONE.match(said)) is not None:
        marked = seen_of(_by_contract(graph, noun, done[1].lower()), index)
        facts = tuple(one.fact for one in marked[:MOST_LISTED])
        if marked or root(done[1].lower()) in _CLAIMED:
            return GraphFacts(facts, len(marked), list_heading(f"{done[1].lower()} {noun}", len(marked)))
    subject = [word for word in subject if word.root not in HAVING]
    with_handlers = noun.rpartition(" ")[2] in MESSAGES and _WITH_HANDLERS.search(said) is not None
    if with_handlers:
        subject = [word for word in subject if not any(does.fullmatch(word.word) for does in _USES)]
    telling = [word for word in subject if word.root not in CONTAINERS]
    found = seen_of(nodes_listed(graph, noun, subject, parts), index)
    if not found and telling:
        subject, found = telling, seen_of(nodes_listed(graph, noun, telling, parts), index)
    found = [one for one in found if not _is_dropped(one, graph, index)] if noun in _TABLES else found
    is_in_part = bool(found) and not _parts_of_path(found[0].path).isdisjoint(parts)
    is_one = index.is_narrowed or is_in_part or (noun == "test" and all(_says_all(subject, one) for one in found))
    if len(telling) > 1 and not EITHER.search(said) and (best := [one for one in found if _says_all(telling, one)]):
        is_one, found = is_one or len(best) < len(found), best
    used = seen_of(_by_use(graph, noun, telling, said, parts), index)
    if happened := seen_of(_happening(graph, noun, said), index):
        used_at = {one.key: one for one in used}
        is_one, found = True, [used_at.get(one.key, one) for one in happened]
    elif used:
        is_one, found = True, used
    is_one = is_one or (noun in (*LISTED_KINDS, CREATED_TABLE, *_FORMS) and not telling)
    is_one = is_one or (noun == "page" and all(_says_all(telling, one) for one in found))
    handled = [one for one in found if with_handlers and _uses(graph, one.key, Relation.HANDLES)]
    if with_handlers and not handled:
        handled = seen_of(_handled_as(graph, noun), index)
        found = handled or found
    fewest = 1 if is_one or handled or (sort in _HOSTED - _SCHEDULED and last in _RUN) else FEWEST_LISTED
    if noun == "model":
        found = _models_in(graph, found, telling, index)
    if not found and (" " in noun or noun == "page"):  # value objects are seldom called so
        found = seen_of(_in_folder(graph, noun, telling), index)
    if len(found) < fewest and all(word.root in CONTAINERS for word in subject):
        subject = ()
        found = seen_of(nodes_listed(graph, noun), index)
        found = [one for one in found if not _is_dropped(one, graph, index)] if noun in _TABLES else found
    if len(found) < fewest:
        return GraphFacts()
    of_product = [one for one in found if non_product_code(one.path) is None]
    if not of_product and not index.is_narrowed and _is_of_product(graph, noun, said):
        return GraphFacts()
    found = of_product if len(of_product) >= FEWEST_LISTED else found
    if sort in _SCHEDULED and last in _RUN and not says_scheduled(graph):
        noun = HOSTED_SERVICE
    about = f" --about {shlex.quote(' '.join(word.word for word in subject))}" if subject else ""
    facts = tuple(one.fact for one in found[:MOST_LISTED])
    if with_handlers:
        found = [*{one.name: one for one in found}.values()]
        is_made = _use_of(noun, _WITH_HANDLERS.sub("", said)) is Relation.CONSTRUCTS
        facts = tuple(_with_handlers(graph, found, index, is_made=is_made)[:MOST_LISTED])
    if any(key_kind(one.key) is NodeType.FILE for one in found[:MOST_LISTED]):
        facts = at_first_sections(facts, index)
    if is_run_by_itself(noun) and _HOW_OFTEN.search(said):
        told = [_at_schedule(one, index) for one in facts]
        if told == [*facts] and said == HOW_OFTEN:
            return GraphFacts()
        facts = tuple(sorted(told, key=lambda one: one in facts))
    return GraphFacts(facts, len(found), list_heading(noun, len(found)), f"graph list {shlex.quote(noun)}{about}")


def _by_contract(graph: Graph, noun: str, done: str) -> list[ListedNode]:
    """What a noun lists of the product that derives from an interface which says what is done to it: of cached queries
    what is an `ICacheableRequest`, of audited entities what is an `IAuditable`, be it by its base."""
    stem, types = root(done), of_kind(graph, NodeType.TYPE)
    if len(stem) < _SHORTEST_STEM:
        return []
    if done == "validated":
        checked = {of[1] for node in types if (of := _VALIDATES.search(graph.signature(node))) is not None}
        return [one for one in nodes_listed(graph, noun) if one.name in checked]
    says_it = re.compile(
        rf"\bI(?:[A-Z][a-z]+)*?{stem.capitalize()}(?!\w*(?:er|or|ion|ing)(?![a-z]))[a-z]*(?:[A-Z]\w*)?\b"
    )
    marked = [node for node in types if says_it.search(bases_of(graph, node))]
    derived = {*marked, *derived_from(graph, marked)[0]} if marked else set[int]()
    named = {graph.keys[node].rpartition("|")[0] for node in derived if not _ABSTRACT.search(graph.signature(node))}
    of_noun = nodes_listed(graph, noun)
    found = [one for one in of_noun if one.key.rpartition("|")[0] in named and non_product_code(one.path) is None]
    return found if len(found) < len(of_noun) or len(named) == len(found) else []


def _models_in(
    graph: Graph, named: Sequence[ListedNode], subject: Sequence[QueryTerm], index: LabelIndex
) -> list[ListedNode]:
    """Of types that are called models those that are no view models, or what folders of models hold, where that is
    more."""
    own = [one for one in named if not one.name.endswith("ViewModel")]
    held = (one for one in seen_of(_in_folder(graph, "model", subject), index) if one.name[:1].isalpha())
    in_folders = [one for one in held if non_product_code(one.path) is None and not one.name.endswith("ViewModel")]
    return [*dict.fromkeys([*own, *in_folders])] if len(in_folders) > len(own) else own or [*named]


def _namespaces(graph: Graph, part: str, index: LabelIndex) -> list[GraphFact]:
    """The namespaces of C# or PHP of the product, or of a part of it, each at its first type; those of Clojure by
    their files."""
    found: dict[str, GraphFact] = {}
    types = places_of(graph, np.array(of_kind(graph, NodeType.TYPE), np.int64))
    for one in sorted(types, key=lambda one: (one.path, one.line)):
        space = one.key.partition("|")[0].rpartition(".")[0]
        is_own = non_product_code(one.path) is None and any(it.endswith(part) for it in _parts_of_path(one.path))
        if (
            is_own
            and one.path.endswith((".cs", ".php"))
            and space
            and graph.find(f"{space}|{NodeType.TYPE.value}") is None
        ):
            found.setdefault(space, replace(one.fact, source=space.partition(":")[2]))
    files = (graph.places(node)[0].path for node in of_kind(graph, NodeType.FILE))
    files = (one for one in files if one.endswith((".clj", ".cljc", ".cljs")))
    own = [
        one for one in files if non_product_code(one) is None and any(it.endswith(part) for it in _parts_of_path(one))
    ]
    named = (
        GraphFact(_NAMESPACE.sub("", one).replace("/", ".").replace("_", "-"), "", "", one, 1, True) for one in own
    )
    found |= {one.source: one for one in at_first_sections([*named], index)}
    return sorted(found.values(), key=lambda one: one.source)


_NAMESPACE = re.compile(r"^(?:.*/)?src/(?:main/)?(?:clj[cs]?/|clojure/)?|\.\w+$")
"""What the path of a file of Clojure has beside the name of its namespace."""


def _is_of_product(graph: Graph, noun: str, said: str) -> bool:
    """Whether the product has what a noun lists, or a type that is called so: doubles of tests are not what there is of
    it."""
    called = noun.replace(" ", "").casefold()
    types = (node for node in of_kind(graph, NodeType.TYPE) if graph.names[node].casefold() == called)
    paths = (place.path for node in types for place in graph.places(node))
    others = () if noun in LISTED_KINDS or _OF_DOUBLES.search(f"{noun} {said}") else nodes_listed(graph, noun)
    return any(non_product_code(path) is None for path in (*paths, *(one.path for one in others)))


def _happening(graph: Graph, noun: str, said: str) -> list[ListedNode]:
    """The messages whose names say all that happens where a list of them is wanted for that: `OrderDeletedEvent` of
    `when an order is deleted`; in other usual words where none does."""
    when = _WHEN.search(said) if noun.rpartition(" ")[2] in MESSAGES else None
    words = re.findall(r"[a-z]\w+", when["happens"].lower()) if when is not None else ()
    wanted = {root(word) for word in words if word not in FUNCTION_WORDS}
    if len(wanted) < 2:
        return []
    from rag_assets.answer.structure.actions import MEANS  # which other questions do not need

    known = [(one, roots_of(one.name)) for one in nodes_listed(graph, noun)]
    found = [one for one, own in known if wanted <= own]
    return found or [one for one, own in known if all(not own.isdisjoint({it, *MEANS.get(it, ())}) for it in wanted)]


def _by_use(graph: Graph, noun: str, telling: Sequence[QueryTerm], said: str, parts: Sequence[str]) -> list[ListedNode]:
    """The messages that some part of the product makes, where it is said to publish them, or handles, each where it
    does; none of other nouns, and of what is done to them otherwise."""
    relation = _use_of(noun, _WITH_HANDLERS.sub("", said))
    if relation is None:
        return []
    subject = {word.root for word in telling if not any(does.fullmatch(word.word) for does in _USES)}
    folders = {*parts, *_folders_of_service(graph, said)}
    found = list[ListedNode]()
    for node in nodes_listed(graph, noun):
        within = (
            edge
            for edge in _uses(graph, node.key, relation)
            if (not _parts_of_path(edge.path).isdisjoint(folders) if folders else subject <= roots_of(edge.path))
        )
        found += [ListedNode(node.key, edge.path, edge.line) for edge in islice(within, 1)]
    return found if folders or subject else []


def _use_of(noun: str, said: str) -> Relation | None:
    """What is done to the messages that a noun lists."""
    uses = (relation for does, relation in _USES.items() if does.search(said))
    return next(uses, None) if noun.rpartition(" ")[2] in MESSAGES else None


def _uses(graph: Graph, key: str, relation: Relation) -> list[GraphEdge]:
    """Where the product does something to a node, by path and line."""
    at = graph.find(key)
    assert at is not None
    edges = graph.edges_of(at, IN, relation)
    return sorted((edge for edge in edges if not is_test_path(edge.path)), key=lambda edge: (edge.path, edge.line))


def _with_handlers(graph: Graph, found: Sequence[ListedNode], index: LabelIndex, *, is_made: bool) -> list[GraphFact]:
    """Some messages, each with what handles it, or a copy of it that another service has, where something does; and
    with what makes it, where that is asked."""
    using: dict[str, list[GraphFact]] = {one.name: [] for one in found}
    for relation, verb in ((Relation.CONSTRUCTS, "makes"), (Relation.HANDLES, "handles"))[not is_made :]:
        for node in of_kind(graph, NodeType.TYPE):
            if (name := short_name(graph.keys[node])) in using:
                edges = seen_of(_uses(graph, graph.keys[node], relation), index)
                using[name] += [
                    GraphFact(short_name(one.source), verb, name, one.path, one.line, True)
                    for one in (edges[:_MOST_MAKERS] if relation is Relation.CONSTRUCTS else edges)
                ]
    return [fact for one in found for fact in using[one.name] or [one.fact]]


def _handled_as(graph: Graph, noun: str) -> list[ListedNode]:
    """The messages whose handlers say by what they derive from that these are such: `IDistributedEventHandler<T>`."""
    found, wanted = list[int](), roots_of(noun)
    for node in of_kind(graph, NodeType.TYPE):
        for edge in _uses(graph, graph.keys[node], Relation.HANDLES):
            handler = edge.source.partition("|")[0].partition("(")[0]
            owners = (graph.find(f"{one}|{NodeType.TYPE.value}") for one in (handler, handler.rpartition(".")[0]))
            if any(wanted <= roots_of(bases_of(graph, owner)) for owner in owners if owner is not None):
                found.append(node)
    return sorted(places_of(graph, np.unique(np.array(found, np.int64))), key=lambda one: (one.path, one.line))


_MOST_MAKERS = 2  # of a message
MESSAGES = frozenset({"command", "event", "message", "notification", "query"})
_WHEN = re.compile(r"\b(?:after|if|once|upon|when(?:ever)?)\b(?P<happens>[^?]*)", re.IGNORECASE)
_USES = {
    re.compile(rf"\b(?:{does})\b", re.IGNORECASE): relation
    for does, relation in (
        (r"(?:publish|rais|emit|send|produc|fir|dispatch)(?:e?s|ed?|ing)?|sent", Relation.CONSTRUCTS),
        (r"(?:handl|consum|subscrib|listen|receiv|process|react)(?:e?s|ed?|ing)?", Relation.HANDLES),
    )
}
_WITH_HANDLERS = re.compile(
    r"\b(?:who|what|which \w+) (?:handles?|consumes?|receives?|processes|(?:listens?|reacts?|subscribes?) to)"
    r" (?:each(?: (?:one|of them))?|it|them|these|those)\b"
    r"|\b(?:their|its) (?:handlers?|consumers?|receivers?|subscribers?)\b",
    re.IGNORECASE,
)
"""Behind a list of messages, of what they are handled by."""


def is_run_by_itself(noun: str) -> bool:
    """Whether a noun is for what a host or a schedule runs: `background job`."""
    *sort, _ = noun.split() or [""]
    return bool(sort) and (_HOSTED | {"cron", QUEUE}).issuperset(sort)


def is_scheduled(noun: str) -> bool:
    return not (_SCHEDULED | {"cron"}).isdisjoint(noun.split())


def says_scheduled(graph: Graph) -> bool:
    """Whether some type says by what it derives from that a schedule runs it."""
    return bool(len(_run_by(_RUN_BY_A_SCHEDULE, graph, of_kind(graph, NodeType.TYPE))))


def at_first_sections(facts: Sequence[GraphFact], index: LabelIndex) -> tuple[GraphFact, ...]:
    """Facts of whole files at the first lines of these that a section has: imports are in none."""
    starts: dict[str, int] = {}
    for section in sections_of({one.path for one in facts}, index.parts.shard(), index.scope()).values():
        path, line = section.get("Path", ""), section.get("StartLine", 1)
        starts[path] = min(line, starts.get(path, line))
    return tuple(replace(one, line=max(one.line, starts.get(one.path, 1))) for one in facts)


def _in_folder(graph: Graph, noun: str, subject: Sequence[QueryTerm]) -> list[ListedNode]:
    """The types, of pages the files, about a subject in folders that are called as several of a noun: in `ValueObjects`
    value objects; else the types that are no bases in folders called so of what else the noun says: in
    `Pen.Backup/Tasks` backup tasks."""
    folder = _as_words(list_heading(noun, 2).strip("*: ").partition(" ")[2])
    nodes = of_kind(graph, NodeType.FILE if noun == "page" else NodeType.TYPE)
    if noun == "page":
        nodes = [node for node in nodes if graph.language(node) in _OF_PAGES]
    places = list(places_of(graph, np.array(nodes, np.int64)))
    *sort, _ = noun.split()
    last, wanted = f" {folder.split()[-1]} ", set(map(root, sort))
    places = [one for one in places if noun != "page" or not one.name.startswith("_")]  # a layout, or a part of pages
    folders = {folder, _as_words(noun)} if noun == "model" else {folder}  # of Go, where a package is called in singular
    found = [
        one
        for one in places
        if not folders.isdisjoint(map(_as_words, one.path.split("/")[:-1])) and says(subject, one.path)
    ]
    found = found or [
        one
        for one in places
        if sort
        and last == _as_words(one.path.split("/")[-2] if "/" in one.path else "")
        and wanted <= _roots_of_folder(one.path.rpartition("/")[0])
        and says(subject, one.path)
        and not one.name.endswith("Base")
    ]
    return sorted(found, key=lambda one: (one.path, one.line))


def _roots_of_folder(path: str) -> set[str]:
    """The roots of its words, and of two of them as one: `msbuild` of `Pen.MsBuild`."""
    words = _as_words(path).split()
    return {root(word) for word in (*words, *map("".join, pairwise(words)))}


def _at_schedule(fact: GraphFact, index: LabelIndex) -> GraphFact:
    """What is run where code of the product says how often, if a line of it does."""
    code = product_of(points_naming(fact.source, index).ids, index)
    says = re.compile(_EVERY.format(re.escape(fact.source)))
    told = sorted(facts_naming(says, code, index, ("", fact.source, True)), key=lambda one: (one.path, one.line))
    if told:
        return replace(fact, path=told[0].path, line=told[0].line, is_comment=True)
    own = sorted(lines_of(index, [fact.path]).get(fact.path, {}).items())
    period = next((line for line, text in own if line > fact.line and _PERIOD.search(text)), 0)
    return replace(fact, line=period, is_comment=True) if period else fact


def parts_named(graph: Graph, said: str) -> list[str]:
    """The files and folders whose whole names of several words a text says, the longest first: not `Shop` where it says
    `Shop.Web`. And `Shop.Web` where it says `the web project`, `Shop.WebUi` where it says `WebUi`, a folder `ordering`
    where it says `the ordering service`."""
    text = _as_words(said)
    if not text.strip():
        return []
    named = {part for path in graph.paths for part in _parts_of_path(path) if part in text and part.count(" ") > 2}
    projects = {path.rpartition("/")[2].rpartition(".")[0] for path in graph.paths if _is_project(path)}
    lasts = Counter(_as_words(one.rpartition(".")[2]) for one in projects)
    for one in projects:
        last = _as_words(one.rpartition(".")[2])
        if lasts[last] == 1 and last.count(" ") > 2 and last in text:
            named.add(_as_words(one))
    if (short := _SHORT_NAME.search(text)) is not None:
        called = [one for one in map(_as_words, projects) if one.endswith(f" {short[1]} ")]
        named.update(called if len(called) == 1 else ())
    if (short := _SERVICE.search(text)) is not None:
        folder = f" {short[1]} "
        named.update({folder} & {_as_words(part) for path in graph.paths for part in path.split("/")[:-1]})
    return sorted(named, key=lambda one: (-len(one), one))


def _folders_of_service(graph: Graph, said: str) -> set[str]:
    """The folders of the projects of a service that a text names: `Shop.Ordering.API` and `Ordering.Domain` of `the
    ordering service`."""
    short = _SERVICE.search(_as_words(said))
    if short is None:
        return set()
    own = re.compile(rf"(?:.* )? ?{short[1]} (?:{_PARTS_OF_SERVICE} )*")
    return {one for path in graph.paths for part in path.split("/")[:-1] if own.fullmatch(one := _as_words(part))}


_SHORT_NAME = re.compile(r" (\w+) project ")
_SERVICE = re.compile(r" (\w+) (?:api|app|module|service) ")
_PARTS_OF_SERVICE = "(?:api|app|application|core|domain|host|infrastructure|server|service|web|worker)"


def _is_project(path: str) -> bool:
    return path.endswith("proj") and non_product_code(path) is None


def _parts_of_path(path: str) -> set[str]:
    *folders, name = path.split("/")
    return {_as_words(part) for part in (*folders, name.rpartition(".")[0] or name)}


@lru_cache(maxsize=1 << 14)  # a list looks at the same folders for each of its nodes
def _as_words(name: str) -> str:
    """` reservations controller ` of `ReservationsController`, so that whole words are compared."""
    return f" {' '.join(identifier_words(name)).lower()} "


def nodes_listed(
    graph: Graph, noun: str, subject: Sequence[QueryTerm] = (), parts: Sequence[str] = ()
) -> list[ListedNode]:
    """All nodes that a noun lists, or of a kind of node, that are about a subject, and in the first of some files and
    folders that has any: the product first, then by path and line. What goes before the noun, as in `integration
    event`, is what they, or their files, are called too."""
    *sort, noun = noun.split()
    if noun in _OF_NO_TYPES:
        return []
    nodes, proven = _nodes_of(graph, noun, sort)
    wanted = root_set(*sort) if not proven else frozenset()
    found: list[ListedNode] = []

    def within(part: str, about: Sequence[QueryTerm]) -> list[ListedNode]:
        return [
            one
            for one in places_of(graph, nodes, about, part)
            if says(about, f"{one.name} {one.path}")
            and (not part or part in _parts_of_path(one.path))
            and (not wanted or wanted <= roots_of(f"{one.name} {one.path}"))
            and (noun in LISTED_KINDS or not MIGRATION.search(one.path))
            and (noun != "test" or is_test_path(one.path) or in_test_module(one.key))
            and (noun != "page" or one.path.endswith(_PAGES))
        ]

    for part in (*parts, ""):
        found = within(part, subject)
        telling = [word for word in subject if word.root not in CONTAINERS | roots_of(part)] if len(found) > 1 else []
        if telling and all(says(telling, one.path) for one in within(part, ())):  # the product is called so too
            found = [one for one in found if says(telling, one.name)] or found
        if found:
            break
    found.sort(key=lambda one: one.path.count("/"), reverse=True)
    unique = {one.name.casefold() if key_kind(one.key) in _OF_DATABASES else one: one for one in found}
    if noun == "table":
        tables = {_bare(one) for one in found}
        unique = {key: one for key, one in unique.items() if REMADE.sub("", _bare(one)) not in tables - {_bare(one)}}
    return sorted(
        unique.values(), key=lambda one: (non_product_code(one.path) is not None, one.path, one.line, one.name)
    )


def _is_dropped(table: ListedNode, graph: Graph, index: LabelIndex) -> bool:
    """Whether the last migration that changes a table after the one that creates it drops it, and calls no other so."""
    node = graph.find(table.key) if MIGRATION.search(table.path) else None
    if node is None:
        return False
    later = graph.edges_of(node, IN, Relation.SCHEMA_CHANGE)
    later = [one for one in later if _in_order(one.path) > _in_order(table.path) and not _UNDOES.search(one.path)]
    if not later:
        return False
    last = max(later, key=lambda one: (_in_order(one.path), one.line))
    lines = lines_of(index, [last.path]).get(last.path, {})
    name, said = re.escape(_bare(table)), _GOES_BACK.split("\n".join(lines.values()))[0]
    return (
        _DROPS_TABLE.search(f"{lines.get(last.line - 1, '')} {lines.get(last.line, '')}") is not None
        and re.search(rf"\b(?:RENAME\s+TO|TO|CREATE\s+TABLE)\W+(?:\w+\W+)?{name}\b", said, re.IGNORECASE) is None
    )


def _in_order(path: str) -> list[tuple[bool, int, str]]:
    """For paths in the order in which migrations are run: `0.5` before `0.10`."""
    return [(not part.isdigit(), int(part) if part.isdigit() else 0, part) for part in re.findall(r"\d+|\D+", path)]


def _bare(table: ListedNode) -> str:
    """The name of a table without its schema."""
    return table.name.rpartition(".")[2].casefold()


def _nodes_of(graph: Graph, noun: str, sort: Sequence[str]) -> tuple[Numbers, bool]:
    """The nodes of a kind, or types whose names end with a noun and what derives from them; of a sort what derives from
    a type that is called so itself, as `IIntegrationEvent` is. Contracts are none where something keeps them. Whether
    these are all of the sort that is meant."""
    if " ".join((*sort, noun)) == CREATED_TABLE:  # in strings of code
        return undeclared_tables(graph, Relation.SCHEMA_CHANGE), True
    kinds = [kind.value for kind in LISTED_KINDS.get(noun, ())] or [noun] * (noun in KINDS)
    if kinds:
        nodes = np.flatnonzero(np.isin(graph.kinds, [KINDS.index(kind) for kind in kinds]))
        nodes = np.union1d(nodes, undeclared_tables(graph, Relation.MAPS_TO)) if noun == "table" else nodes
        if noun == "migration" and not len(nodes):  # of other frameworks than EF Core
            files = (node for node in of_kind(graph, NodeType.FILE) if _IS_MIGRATION.search(graph.names[node]))
            nodes = np.array([node for node in files if MIGRATION.search(graph.places(node)[0].path)], np.int64)
        if noun == "gem":  # of all that manifests name
            nodes = np.array([node for node in nodes.tolist() if graph.keys[node].startswith("gem:")], np.int64)
        if len(nodes) or noun != "entity":  # of other languages than C# an entity is a type that is called so
            return nodes, False
    if noun in _OF_DBT and (made := [node for node in of_kind(graph, _OF_DBT[noun][0]) if _of_dbt(graph, node, noun)]):
        return np.array(made, np.int64), False
    if noun in _FORMS_OF_LISP and not sort:
        begins = _FORMS_OF_LISP[noun]
        made = [node for node in of_kind(graph, NodeType.METHOD) if graph.signature(node).startswith(begins)]
        if made:
            return np.array(made, np.int64), True
    types = of_kind(graph, NodeType.TYPE)
    if " ".join((*sort, noun)) == DATABASE_MODEL:
        return database_models(graph), True
    if noun in _RUN and sort and _HOSTED.issuperset(sort) and not is_contract(graph, " ".join((*sort, noun))):
        is_scheduled_only = _SCHEDULED.issuperset(sort) and says_scheduled(graph)
        return _run_by(_RUN_BY_A_SCHEDULE if is_scheduled_only else _RUN_BY_A_HOST, graph, types), True
    if noun in _FORMS and not sort:
        of_form = [node for node in types if _FORMS[noun].match(head_of(graph, node)) or _derives_so(graph, node, noun)]
        if of_form or noun not in _CALLED_SO:
            return np.array(of_form, np.int64), True
    functions = _test_functions(graph) if noun == "test" else ()
    wanted = [root(word) for word in (*sort, noun)]
    lasts = _ERRORS if noun in _ERRORS else {wanted[-1], _SAME.get(wanted[-1], wanted[-1])}
    called = "".join(map(str.capitalize, (*sort, noun)))
    of_base = _IS_ERROR if noun in _ERRORS else None if noun in _STRUCTURES else re.compile(_OF_BASE.format(called))
    named, contracts, contracts_of_it = list[int](), list[int](), list[int]()
    for node in types:
        if noun == "test" and graph.language(node) in _TEST_FUNCTIONS:
            continue
        if (noun in _HELD and graph.names[node].endswith("s")) or (
            noun in _ERRORS and _IS_ALIAS.match(graph.signature(node))
        ):
            continue
        if noun == "event" and _PART_OF_EVENT.search(graph.names[node]):
            continue
        said = name_roots(graph.names[node])
        if _bare_contract(said) == wanted:
            contracts.append(node)
        elif said and (
            said[-1] in lasts and (said[-2:-1] not in _BEFORE_A_PART or lasts & roots_of(bases_of(graph, node)))
        ):
            named.append(node)
        elif of_base and of_base.search(bases_of(graph, node)) and not _IS_ALIAS.match(graph.signature(node)):
            (contracts_of_it if _ABSTRACT.search(graph.signature(node)) else named).append(node)
    objects = [node for node in (*named, *contracts) if _IS_OBJECT.match(graph.signature(node))]
    held = [node for node in held_by(graph, objects) if key_kind(graph.keys[node]) is NodeType.TYPE] if objects else []
    if held := [node for node in held if not graph.signature(node).startswith("type ")]:
        owners = {graph.keys[node].rpartition("|")[0].rpartition(".")[0] for node in held}
        objects = [node for node in objects if graph.keys[node].rpartition("|")[0] in owners]
        named = [node for node in dict.fromkeys((*named, *held)) if node not in objects]
        contracts = [node for node in contracts if node not in objects]
    one_of_them = [node for node in named if not graph.names[node].endswith("s")]  # not `IHasEvents`
    derived, bases = derived_from(graph, contracts if sort else [*contracts, *one_of_them, *contracts_of_it])
    proven = bool(sort) and not derived.issubset(contracts)
    if sort and not proven:  # no contract, or `PlayoutBuilder` alone implements `IPlayoutBuilder`
        derived, bases = derived_from(graph, [*contracts, *one_of_them])
    found = derived if proven else derived.union(named, contracts)
    if noun in MESSAGES:  # of a sort too: `BaseEvent` is no domain event
        more = derived_from(graph, one_of_them)[1] if sort else set[int]()
        found -= {node for node in bases | more if not _uses(graph, graph.keys[node], Relation.HANDLES)}
    found -= {node for node in bases if _ABSTRACT.search(graph.signature(node)) and not _has_doubles_only(graph, node)}
    others = found.difference(contracts)
    found = others or found if all(_ABSTRACT.search(graph.signature(node)) for node in contracts) else found
    if noun == "test":  # whatever it is called
        found = found.union(_testing(graph, [node for node in types if graph.language(node) not in _TEST_FUNCTIONS]))
    return np.array(sorted(found.union(functions)), np.int64), proven


def _has_doubles_only(graph: Graph, contract: int) -> bool:
    """Whether tests alone derive from a contract of the product, which something makes that no code shows: Room."""
    of_product = [_is_own(graph, node) for node in (contract, *derived_from(graph, [contract])[0])]
    return of_product[0] and not any(of_product[1:])


def _is_own(graph: Graph, node: int) -> bool:
    places = graph.places(node)
    return bool(places) and non_product_code(places[0].path) is None


def _of_dbt(graph: Graph, node: int, noun: str) -> bool:
    begins = _OF_DBT[noun][1]
    return graph.signature(node).startswith(begins) if begins else not graph.signature(node)


def _testing(graph: Graph, types: Sequence[int]) -> list[int]:
    """Those of some types that test another one."""
    nodes = np.array(types, np.int64)
    testing: list[int] = nodes[np.unique(graph.reach(nodes, steps_over(OUT, Relation.TESTS))[0].origin)].tolist()
    return testing


def is_called(name: str, noun: str) -> bool:
    """Whether the name of a type ends with a noun, in full or short."""
    last, wanted = root(identifier_words(name)[-1]), root(noun)
    return last in (wanted, _SAME.get(wanted, wanted))


def _bare_contract(words: list[str]) -> list[str]:
    """The words of a type without what says that others derive from it."""
    return words[words[:1] == ["i"] : len(words) - (words[-1:] == ["base"])]


def is_contract(graph: Graph, noun: str) -> bool:
    """Whether the product has a contract that is called by a noun, and what derives from it: `IBackgroundProcess`."""
    wanted = list(map(root, noun.split()))
    called = [
        node
        for node in of_kind(graph, NodeType.TYPE)
        if _bare_contract(name_roots(graph.names[node])) == wanted and _ABSTRACT.search(graph.signature(node))
    ]
    derived, bases = derived_from(graph, called) if called else (set[int](), set[int]())
    return sum(_is_own(graph, node) for node in derived - bases) >= FEWEST_LISTED


def database_models(graph: Graph) -> Numbers:
    """The types that libraries keep in tables: by what they derive from, by the name of the table in them, and what
    schemas of Prisma call so."""
    types = of_kind(graph, NodeType.TYPE)
    named = {key.rpartition(".")[0] for key in graph.keys if key.endswith(_NAMES_TABLE)}
    models = [
        node
        for node in types
        if _IS_MODEL.search(base := bases_of(graph, node))
        or (graph.language(node) == "php" and _IS_ELOQUENT.search(base))
        or graph.keys[node].rpartition("|")[0] in named
        or (graph.language(node) == "prisma" and graph.signature(node).startswith("model "))
    ]
    derived, bases = derived_from(graph, models)
    shared = {node for node in bases if _OF_MODELS.search(graph.names[node].rpartition(".")[2])}
    of_sqlmodel = [node for node in models if "SQLModel" in bases_of(graph, node)]  # also of what no table keeps
    shared |= {
        node
        for node in derived_from(graph, of_sqlmodel)[0].union(of_sqlmodel)
        if "table=True" not in bases_of(graph, node).replace(" ", "")
    }
    return np.array(sorted(derived.union(models) - shared), np.int64)


def types_implementing(graph: Graph, contract: str) -> list[ListedNode]:
    """Where the types of the product are that derive from a contract and are none themselves."""
    node = graph.find(contract)
    types = derived_from(graph, [node])[0] if node is not None else ()
    own = [one for one in types if not _ABSTRACT.search(graph.signature(one))]
    return [one for one in places_of(graph, np.array(sorted(own), np.int64)) if non_product_code(one.path) is None]


def types_called(graph: Graph, names: Container[str]) -> list[CodePlace]:
    """Where the types of the product are that have one of some names, whatever the case."""
    types = [node for node in of_kind(graph, NodeType.TYPE) if graph.names[node].casefold() in names]
    places = places_of(graph, np.array(types, np.int64))
    return [CodePlace(one.path, one.line) for one in places if non_product_code(one.path) is None]


def _run_by(says: re.Pattern[str], graph: Graph, types: Sequence[int]) -> Numbers:
    """The types that a host or a schedule runs, and what derives from them."""
    found = {node for node in types if says.search(bases_of(graph, node))}
    found |= derived_from(graph, list(found))[0]
    return np.array(sorted(node for node in found if not _ABSTRACT.search(graph.signature(node))), np.int64)


def _test_functions(graph: Graph) -> list[int]:
    """The functions of languages whose tests are functions, and the files of those whose tests are calls. Elsewhere
    types are told, as attributes mark tests."""
    prefixes = ((node, _TEST_FUNCTIONS.get(graph.language(node))) for node in of_kind(graph, NodeType.METHOD))
    found = [node for node, prefix in prefixes if prefix is not None and graph.names[node].startswith(prefix)]
    return found + [node for node in of_kind(graph, NodeType.FILE) if graph.language(node) in _TEST_FILES]


def _derives_so(graph: Graph, node: int, form: str) -> bool:
    """Whether a type of Python is of a form by what it derives from."""
    is_python = form == "enum" and graph.language(node) == "python"
    return is_python and _IS_ENUMERATION.search(bases_of(graph, node)) is not None


def undeclared_tables(graph: Graph, relation: Relation) -> Numbers:
    """The tables that no script creates: those that types are mapped to, or that code changes."""
    tables = np.flatnonzero(graph.kinds == KINDS.index(NodeType.TABLE_OR_VIEW.value))
    return tables[np.unique(graph.reach(tables, steps_over(IN, relation))[0].origin)]


def derived_by_text(index: LabelIndex, graph: Graph, names: Sequence[str]) -> GraphFacts:
    """The types whose declarations say that they derive from something that the index does not declare, as
    `IDisposable` is, or from a form of it of some library, as `IdentityDbContext` is one of `DbContext`; and what
    derives from these."""
    types = of_kind(graph, NodeType.TYPE)
    bases = [bases_of(graph, node) for node in types]
    declared = {graph.names[node] for node in types}
    found: list[GraphFact] = []
    for name in names:
        of_form = "" if _IS_CONTRACT.match(name) else r"(?:(?!I[A-Z])\w*[a-z\d])?"
        says = re.compile(rf"(?<!\w){of_form}{re.escape(name)}\b")
        nodes = [
            node
            for node, said in zip(types, bases, strict=True)
            if any(one == name or one not in declared for one in says.findall(said))
        ]
        places = places_of(graph, np.array(sorted(derived_from(graph, nodes)[0].union(nodes)), np.int64))
        found += [replace(one.fact, verb="derives from", target=name) for one in places]
    found = seen_of(found, index)
    found.sort(key=lambda one: (non_product_code(one.path) is not None, one.path, one.line))
    said = shlex.quote(f'"{names[0]}"')
    return GraphFacts(tuple(found[:MOST_LISTED]), len(found), command=f"search {said}")


def places_of(graph: Graph, nodes: Numbers, subject: Sequence[QueryTerm] = (), part: str = "") -> Iterator[ListedNode]:
    """The nodes that have a place: where they are declared, else where they are referred to, as tables are that no code
    of the product creates; of several places the most telling one. A route once for each member that answers it:
    services of one repository, and groups whose prefix is not known, have the same one."""
    reader = ResultReader(graph)
    exposing, containing, mapping = (
        steps_over(IN, one) for one in (Relation.EXPOSES, Relation.CONTAINS, Relation.MAPS_TO)
    )
    for node, places in zip(nodes.tolist(), reader.places(nodes), strict=True):
        key, here = reader.key(node), np.array([node])
        kind, is_table = key_kind(key), key_kind(key) is NodeType.TABLE
        if len(places) > 1 and kind is NodeType.ENDPOINT:
            edges = reader.edges(graph.reach(here, exposing)[0].edge)
            yield from (ListedNode(key, edge.path, edge.line) for edge in edges)
            continue
        creating = reader.edges(graph.reach(here, containing)[0].edge) if is_table or len(places) > 1 else ()
        created = {(edge.path, edge.line) for edge in creating}  # of a table not what alters it
        found = {(one.path, one.line_start): 2 * ((one.path, one.line_start) in created) for one in places}
        is_created = any(found[place] and non_product_code(place[0]) is None for place in found)
        if not places or (is_table and not is_created):
            edges = reader.edges(graph.reach(here, mapping if places else steps_over(IN))[0].edge)
            found |= {(edge.path, edge.line): 1 for edge in edges if edge.path}
            made = {(edge.path, edge.line): 2 for edge in edges if edge.path and edge.relation in _MAKES_TABLES}
            is_made = any(non_product_code(path) is None for path, _ in made)
            found = made if is_made and not places else found | made  # a query is where no table comes from

        def order(place: tuple[str, int], well: Mapping[tuple[str, int], int] = found) -> tuple[object, ...]:
            path, line = place
            said = covered(tuple(subject), roots_of(path)) if subject else 0.0
            is_outside = bool(part) and part not in _parts_of_path(path)
            least = MIGRATION.search(path) is not None, is_outside, non_product_code(path) is not None
            return *least, -well[place], -said, path.count("/"), path, line

        if found:
            yield ListedNode(key, *min(found, key=order))


def _says_all(subject: Sequence[QueryTerm], node: ListedNode) -> bool:
    return {word.root for word in subject} <= roots_of(f"{node.name} {node.path}")
