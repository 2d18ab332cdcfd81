"""What lacks something: messages that nothing handles or sends, errors that nothing throws, requests that no validator
is for, endpoints that no test names or that lack an attribute, procedures, views and tables that nothing uses, settings
that no code names, enums and the like that no code uses."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag_assets.answer.artifact.graph_columns import GraphColumns
from rag_assets.answer.graph_facts import FactsOrAbsent, GraphFact, GraphFacts, facts_at
from rag_assets.answer.passages import CONFIGURATION, PROSE
from rag_assets.answer.plans.code_lines import MOST_LISTED, list_heading
from rag_assets.answer.plans.endpoints import handlers_of
from rag_assets.answer.structure.shapes import ERRORS, types_of_sort
from rag_assets.contracts.graph import NodeType, Relation
from rag_assets.graph.csr_graph import IN
from rag_assets.graph.lookup import short_name, split_parameters
from rag_assets.identifiers import identifier_words, singular, word_set
from rag_assets.index.keyword.terms import runs
from rag_assets.search.ranking.penalties import is_test_path, non_product_code

if TYPE_CHECKING:
    from rag_assets.graph.csr_graph import Graph
    from rag_assets.search.index import LabelIndex

_NOUN = (
    r"(?P<noun>(?:api )?endpoints?|routes?|(?:domain |integration )?events?|messages?|commands?|quer(?:y|ies)"
    r"|notifications?"
    r"|(?:stored )?proc(?:edure)?s?|(?:sql |database )?(?:views?|tables?)|(?:app(?:lication)? )?settings?"
    r"|config(?:uration)? (?:keys?|settings?|values?|options?|entries))"
)
_TYPE_NOUN = (
    r"(?P<noun>(?:(?:custom|domain|integration|own) )?(?:events?|messages?|commands?|quer(?:y|ies)|notifications?"
    r"|requests?|exceptions?|errors?|dtos?|view ?models?|models?|enums?|interfaces?|structs?|records?))(?: types?)?"
)
_ASKS = r"^\W*(?:(?:which|what|list|show|find|are|is|there|any|me|all|the|do|we|have|how many) )*"
_THAT = r"(?: (?:that|which))?"
_NO = (
    r"(?:(?:has|have|with) no|without(?: any| an?)?|(?:do|does)(?:n't| not) have(?: any| an?)?|lacks?(?: any| an?)?"
    r"|(?:is|are) missing(?: an?)?)"
)
_NEVER = r"(?:(?:is|are|gets?|have|has)(?:n't| never| not| no longer| nowhere)(?: ever)?(?: been)?|never)"
_FORMS = [
    re.compile(f"{_ASKS}{form}\\W*$", re.IGNORECASE)
    for form in (
        rf"{_NOUN}{_THAT} {_NO} (?P<handled>handlers?|consumers?|subscribers?|listeners?)",
        rf"{_NOUN}{_THAT} {_NO} (?P<tested>tests?|test coverage)",
        rf"{_NOUN}{_THAT} {_NEVER} (?:(?P<handled>handled|consumed|subscribed to|received|listened to)"
        r"|(?P<tested>tested|covered(?: by (?:any )?tests?)?)"
        r"|(?P<used>used|called|executed|invoked|run|read|queried|referenced|accessed|written(?: to)?))"
        r"(?: by (?:any |the )?(?:code|anything|anyone|application|app)| anywhere| in (?:the )?code)?",
        rf"(?:(?P<handled>unhandled)|(?P<tested>untested)|(?P<used>unused|dead)) {_NOUN}",
        rf"(?:sql |database )?(?P<noun>tables?){_THAT} (?:{_NO}|{_NEVER} (?:in|part of)(?: any| an?)?) "
        r"(?P<linked>(?:foreign keys?|relations?(?:hips?)?|references?)(?: (?:at all|to (?:any )?other tables?))?)",
        rf"{_TYPE_NOUN}{_THAT} {_NO} (?P<validated>(?:\w+ )?validat(?:ors?|ions?)(?: rules?)?)",
        rf"{_TYPE_NOUN}{_THAT} {_NEVER} (?:(?P<validated>validated)"
        r"|(?P<made>published|raised|sent|emitted|dispatched|fired|triggered|produced|thrown|created|constructed"
        r"|instantiated)|(?P<used>used|referenced|needed))(?: by (?:any |the )?(?:code|anything|anyone|validators?)"
        r"| (?:at all|any ?more|anywhere)| in (?:the )?code)*",
        rf"(?:(?P<validated>unvalidated)|(?P<made>unpublished|unsent|unraised)|(?P<used>unused|dead)) {_TYPE_NOUN}",
    )
]
_MARK = (
    r"(?:the |an? |any )?(?P<of>attribute |annotation |decorator )?(?P<mark>[\[@]?[A-Za-z]\w+\]?)"
    r"(?P<is>(?: attributes?| annotations?| decorators?)?)"
)
_UNMARKED = re.compile(
    rf"{_ASKS}(?:api |http )?(?P<noun>endpoints?|routes?|(?:controller )?actions?|controllers?){_THAT}"
    rf"(?: (?:is|are))? (?:{_NO}|{_NEVER} (?:marked|annotated|decorated)(?: with| by)?) {_MARK}\W*$",
    re.IGNORECASE,
)
_IS_STATIC = re.compile(r"\bstatic\b")
"""Of a handler that calls map to a route, `app.MapGet`: calls say of it what attributes say of others."""
_MARKS_BEFORE = ("[", "@", "/", "*", "#")
"""How lines begin that stand before a declaration and belong to it."""
_MESSAGES = ("event", "message", "command", "query", "notification")
_OF_SQL: Mapping[str, tuple[NodeType, ...]] = {
    "procedure": (NodeType.PROC,),
    "view": (NodeType.VIEW,),
    "table": (NodeType.TABLE,),
}
_CALLED = {"dto": "DTO", "viewmodel": "view model"}
_SAID = {"made": "made somewhere", "validated": "checked somewhere"}
_SAME = {"route": "endpoint", "proc": "procedure", **dict.fromkeys(("key", "value", "option", "entry"), "setting")}
_NO_USE = (
    Relation.CONTAINS,
    Relation.FOREIGN_KEY,
    Relation.ON,
    Relation.SCHEMA_CHANGE,
    Relation.MENTIONS,
    Relation.SYNONYM_FOR,
)
_SETTINGS = re.compile(
    r"^(?:(?!\.)[^/]+/)*(?:appsettings[\w.-]*\.json|(?:app|web)\.config|local\.settings\.json|[\w.-]*\.env[\w.-]*|application[\w-]*\.properties|[\w.-]*\.ini"
    r"|config(?:uration)?[\w.-]*\.json|settings[\w.-]*\.json)$",
    re.IGNORECASE,
)
_TRANSLATED = re.compile(r"(?:^|/)(?:locales?|i18n|lang|translations)/", re.IGNORECASE)
_KEY = re.compile(
    r"^\s*\"(?P<json>[A-Za-z]\w*)\"\s*:\s*(?![{\[\s])|^\s*(?:export\s+)?(?P<env>[A-Za-z][\w.-]*)\s*=|<add\s+key=\"(?P<xml>[\w:.-]+)\"",
)
_JOINS = re.compile(r"[_-]")
"""What a key has between words, and a field that it is read into has not: `BRAND_NAME`, `BrandName`."""
_OF_FRAMEWORKS = word_set(
    "default allowedhosts urls microsoft system override minimumlevel detailederrors applicationurl commandname"
    " launchbrowser launchurl includescopes environmentvariables outputtemplate rollinginterval iisexpress"
    " dotnetrunmessages"
)
"""What ASP.NET, its logging and its launcher read."""


_RECEIVES = re.compile(
    r"\b(?:[Uu]n)?(?:[Ss]ubscribe|[Ll]isten|[Hh]andle|[Cc]onsume|[Rr]eceive|[Oo]n|[Ww]ait|[Aa]pply|[Ww]hen)\w*\s*[<(]"
    r"|\b(?:is|case|instanceof)\s|\w(?:Handler|Consumer|Listener|Subscriber|Observer|Saga|Projection)\b|\.connect\(|\.on\("
)
"""A line that may take a message; what it names counts as handled."""
_TAKES = re.compile(
    rf"{_RECEIVES.pattern}|Validator\s*[<(]|\bcatch\b|^\s*(?:///?|\*|#|@?param\b)|^\s*(?:using|import|from)\b"
)
"""A line that names a message without making it."""
_BOUND = re.compile(r"\[(?:From\w+|AsParameters)\b|@RequestBody\b")
"""What a framework makes of a request, where a method takes it."""
_DECLARES_ONLY = re.compile(r"^\s*(?:///?|\*|#)|^\s*(?:using|import|from)\b")
_NO_CODE = ("md", "json", "yml", "yaml", "xml", "html", "resx")
_VALIDATES = re.compile(r"Validator\b|\bRuleFor\b|\bvalidat\w*\s*[<(]", re.IGNORECASE)
_CHECKS = re.compile(
    r"[\[,]\s*(?:\w+\.)?(?:Required|StringLength|MaxLength|MinLength|Length|Range|EmailAddress|RegularExpression|Compare|Url"
    r"|Phone|\w*Validat\w*)\b|@(?:NotNull|NotBlank|NotEmpty|Size|Min|Max|Email|Pattern|Valid|Positive|Is[A-Z]\w+)\b"
    r"|\bIValidatableObject\b|\bValidate\s*\("
)
"""Lines of a type that check what it holds."""
_RUN = re.compile(r"[^\s\"'`()<>,;]+")
"""What may be a route, in a text."""
_PARAMETER = re.compile(r"\{[^{}/]*\}|[:*][\w*]+\??|<[^<>/]*>")


@dataclass(frozen=True, slots=True)
class LackAsked:
    """What a question wants those of, a noun in the singular, that nothing does something to: one of `handled`,
    `linked` by foreign keys, `made`, `tested`, `used`, `validated`; or that are not `marked` with an attribute, the
    `mark`."""

    noun: str
    lacked: str
    mark: str = ""


def lack_asked(question: str) -> LackAsked | None:
    """What a question asks to lack something; None for another question."""
    for form in _FORMS:
        if (found := form.match(question)) is not None:
            noun = singular(found["noun"].lower().split()[-1])
            noun = "viewmodel" if found["noun"].lower().startswith("view m") else noun
            lacked = next(group for group, text in found.groupdict().items() if text and group != "noun")
            return LackAsked(_SAME.get(noun, noun), lacked)
    unmarked = _UNMARKED.match(question)
    if unmarked is None:
        return None
    mark = unmarked["mark"].strip("[]@")
    is_attribute = mark != unmarked["mark"] or unmarked["of"] or unmarked["is"] or re.search(r"\w[A-Z]", mark)
    noun = "controller" if unmarked["noun"].lower().startswith("controllers") else "endpoint"
    return LackAsked(noun, "marked", mark.removesuffix("Attribute")) if is_attribute else None


_Search = Callable[[GraphColumns, GraphColumns], tuple[list[GraphFact], int]]
"""Those that lack something, of what the reader asks for and all that may do it, and how many there are with others."""


def lacking_facts(graphs: Iterable[tuple[LabelIndex, Graph]], wanted: LackAsked) -> FactsOrAbsent:
    """Those of all indexes that lack what a question says; that there is none, where there are some that have it."""
    heading, search = _search_of(wanted)
    if search is None:
        return GraphFacts(), {}, ""
    at, total, known = dict[GraphFact, str](), 0, 0
    for index, graph in graphs:
        found, count = search(GraphColumns(index, graph, None), GraphColumns(index.unfiltered, graph, None))
        facts = sorted(dict.fromkeys(found), key=lambda one: (one.path, one.line))
        at |= facts_at(facts[:MOST_LISTED], index)
        total, known = total + len(facts), known + count
    said = list_heading(_CALLED.get(wanted.noun, wanted.noun), total).replace(":**", f" of {known:,} {heading}:**")
    lacked = f"marked with {wanted.mark}" if wanted.mark else _SAID.get(wanted.lacked, wanted.lacked)
    absent = f"each {wanted.noun} of {known:,} is {lacked}, as far as the index knows" if known else ""
    if not known and wanted.noun in _OF_SQL:
        absent = f"no {wanted.noun} of a database is in the index"
    return GraphFacts(tuple(at), total, said), at, "" if at else absent


def _search_of(wanted: LackAsked) -> tuple[str, _Search | None]:
    """What is said of those that lack something, and what finds them."""
    noun = wanted.noun
    if noun in _MESSAGES and wanted.lacked == "handled":
        return "that nothing is known to handle", lambda columns, every: _unhandled(columns, every, noun)
    if wanted.lacked == "made":
        heading = (
            "that nothing of the product is known to throw"
            if noun in ERRORS
            else "that nothing of the product is known to make or send"
        )
        return heading, lambda columns, every: _unmade(columns, every, noun)
    if wanted.lacked == "validated":
        return "that no validator and no attribute is known to check", lambda columns, every: _unvalidated(
            columns, every, noun
        )
    if noun == "endpoint" and wanted.lacked == "tested":
        return "whose handler and route no test names", _untested
    if wanted.lacked == "marked":
        heading = f"without {wanted.mark}, which their types do not have either"
        if noun == "controller":
            heading = f"without {wanted.mark}"
        return heading, lambda columns, every: _unmarked(columns, wanted)
    if wanted.lacked == "linked":
        return "without a foreign key, to others or from them", lambda columns, _: _unlinked(columns)
    if noun in _OF_SQL and wanted.lacked == "used":
        return "that nothing is known to use", lambda columns, every: _unused(columns, every, _OF_SQL[noun])
    if noun == "setting" and wanted.lacked == "used":
        return "that no code names; a framework may read them", _unread
    if wanted.lacked == "used" and noun not in _OF_SQL:
        if noun in (*_MESSAGES, *ERRORS):
            return "that no code makes or takes", lambda columns, every: _unmade(columns, every, noun, or_taken=True)
        return "that no text of the index names elsewhere", lambda columns, _: _unnamed(columns, noun)
    return "", None


def _unmade(
    columns: GraphColumns, every: GraphColumns, noun: str, *, or_taken: bool = False
) -> tuple[list[GraphFact], int]:
    """The types that are called so, and no base of others, that the product names nowhere but where it declares,
    imports, checks or takes them; `or_taken`: not there either. Nothing where that is so of most: then something else
    makes them."""
    graph, types = columns.graph, types_of_sort(columns, noun)
    names = {graph.names[node] for node in types}
    either = "|".join(map(re.escape, sorted(names))) or r"(?!)"
    declared = re.compile(
        rf"\b(?:class|enum|from|import|interface|object|record|struct|type|using)\b[^=;]*?\b({either})\b"
        rf"|\b(?:internal|private|protected|public)\s+({either})\s*\("
    )
    passed = _DECLARES_ONLY if or_taken else _TAKES
    made = set[str]()
    for path in every.files:
        text = every.text(path)
        own = names.intersection(runs(text))
        if not own or path.rpartition(".")[2] in _NO_CODE:
            continue
        for line in text.splitlines():
            said = own.intersection(runs(line)) - made
            if said and (not passed.search(line) or _BOUND.search(line)):
                made |= said - {name for one in declared.finditer(line) for name in one.groups()}
    waiting = [node for node in types if graph.names[node] not in made]
    if 2 * len(waiting) > len(types):
        return [], 0
    return list(_placed(columns, waiting)), len(types)


def _unvalidated(columns: GraphColumns, every: GraphColumns, noun: str) -> tuple[list[GraphFact], int]:
    """The types that are called so, and no base of others, for which there is no validator, and none of whose lines
    checks something; nothing where that is so of all."""
    graph, types = columns.graph, types_of_sort(columns, noun)
    checked = _words_in(every, _VALIDATES)
    names = {graph.names[node] for node in every.nodes(NodeType.TYPE).tolist()}
    waiting = [
        node
        for node in types
        if graph.names[node] not in checked
        and f"{graph.names[node]}Validator" not in names
        and not any(_CHECKS.search(line) for place in columns.places(node) for line in columns.lines_at(place))
    ]
    return (list(_placed(columns, waiting)), len(types)) if len(waiting) < len(types) else ([], 0)


def _unnamed(columns: GraphColumns, noun: str) -> tuple[list[GraphFact], int]:
    """The types of a sort that nothing names but their own declarations."""
    from rag_assets.answer.structure.measures import named_nowhere

    types = set(types_of_sort(columns, noun))
    unused = [node for *_, node in named_nowhere(columns.index, columns) if node in types]
    return list(_placed(columns, unused)), len(types)


def _said_in(columns: GraphColumns, wanted: Callable[[str, str], bool]) -> dict[str, set[str]]:
    """Each word of the files that are wanted, by path and language → the files that have it."""
    shard, scope = columns.index.parts.shard(), columns.index.scope()
    payloads = shard.retrieve(sorted(shard.ids(scope)), scope).values()
    language = {str(one.get("Path", "")): str(one.get("CodeLanguage", "")) for one in payloads}
    files: dict[str, set[str]] = {}
    for path in (path for path, of in language.items() if wanted(path, of)):
        for word in set(runs(columns.text(path))):
            files.setdefault(word.casefold(), set()).add(path)
    return files


def _placed(columns: GraphColumns, nodes: Iterable[int]) -> Iterator[GraphFact]:
    for node in nodes:
        place = columns.place(node)
        if place is not None:
            yield GraphFact(columns.called(node), "", "", place.path, place.line_start, True)


def _unhandled(columns: GraphColumns, every: GraphColumns, noun: str) -> tuple[list[GraphFact], int]:
    """The types that are called so, and no base of others, that no edge says to be handled and no code takes."""
    graph = columns.graph
    types = types_of_sort(every, noun)
    received = _words_in(every, _RECEIVES)
    waiting = [
        node
        for node in types
        if graph.names[node] not in received and not any(graph.edges_of(node, IN, Relation.HANDLES))
    ]
    if 2 * len(waiting) > len(types):
        return [], 0  # that most are not handled says more of what is known than of the code
    return list(_placed(columns, waiting)), sum(columns.place(node) is not None for node in types)


def _words_in(columns: GraphColumns, written: re.Pattern[str]) -> set[str]:
    """The words of the lines of the product's code that have a pattern."""
    paths = {path for path in columns.files if path.rpartition(".")[2] not in _NO_CODE}
    lines = (line for path in sorted(paths) for line in columns.lines(path) if written.search(line))
    return {word for line in lines for word in runs(line)}


def _untested(columns: GraphColumns, every: GraphColumns) -> tuple[list[GraphFact], int]:
    """The endpoints of the product that no test reaches, and whose handler and route no test names."""
    graph = columns.graph
    tests = filter(is_test_path, every.index.parts.shard().values("Path", every.index.scope()))
    texts = [text for text in map(columns.text, tests) if text]
    if not texts:
        return [], 0
    words = [set(runs(one)) for one in texts]
    said_once = "\n".join(
        sorted({run for text in texts for run in _RUN.findall(text)})
    )  # looked through for each route
    everywhere = set[str]().union(*words)

    def named(parts: list[str]) -> bool:
        """Whether a test names a handler, with its type where its own name says as little as `index` does."""
        is_telling = len(identifier_words(parts[-1])) > 1
        return parts[-1] in everywhere and (is_telling or any(said.issuperset(parts) for said in words))

    endpoints, found = columns.nodes(NodeType.ENDPOINT).tolist(), list[int]()
    for node in endpoints:
        handlers = handlers_of(graph, [node])
        reached = any(graph.edges_of(one, IN, Relation.TESTS) for one in (node, *handlers))
        called = [short_name(graph.keys[one]).split(".")[-2:] for one in handlers]
        if (
            not reached
            and not any(map(named, called))
            and not _is_written(graph.names[node].partition(" ")[2], said_once)
        ):
            found.append(node)
    return list(_placed(columns, found)), len(endpoints)


def _unmarked(columns: GraphColumns, wanted: LackAsked) -> tuple[list[GraphFact], int]:
    """The endpoints, or the types of handlers, that have no attribute of a name, neither have their types, without
    those that calls map where attributes say nothing of these; none where nothing has it, which says more of the
    question than of the code."""
    graph = columns.graph
    written = re.compile(rf"[\[,@]\s*(?:\w+\.)*{re.escape(wanted.mark)}(?:Attribute)?\b", re.IGNORECASE)

    def is_marked(node: int) -> bool:
        return any(written.search(line) for place in columns.places(node) for line in _before(columns.lines_at(place)))

    handled = {
        endpoint: [node for node in handlers_of(graph, [endpoint]) if graph.kind(node) is NodeType.METHOD]
        for endpoint in columns.nodes(NodeType.ENDPOINT).tolist()
    }
    mapped = {node for nodes in handled.values() for node in nodes if _IS_STATIC.search(graph.signature(node))}
    left_out = frozenset[int]() if any(map(is_marked, mapped)) else mapped
    marked: dict[int, bool] = {}
    for endpoint, nodes in handled.items():
        handlers = [node for node in nodes if node not in left_out]
        types = {node: _type_of(graph, node) for node in handlers}
        if wanted.noun == "controller":
            marked |= {one: is_marked(one) for one in types.values() if one is not None}
        elif handlers:
            marked[endpoint] = any(
                is_marked(node) or (one is not None and is_marked(one)) for node, one in types.items()
            )
    if not any(marked.values()):
        return [], 0
    return list(_placed(columns, [node for node, has_it in marked.items() if not has_it])), len(marked)


def _before(declaration: Iterable[str]) -> Iterator[str]:
    """The attributes and comments at the beginning of a declaration, also those of several lines."""
    depth = 0
    for line in map(str.strip, declaration):
        if depth <= 0 and line and not line.startswith(_MARKS_BEFORE):
            return
        yield line
        if depth > 0 or line.startswith(("[", "@")):
            depth += sum(map(line.count, "[(")) - sum(map(line.count, "])"))


def _type_of(graph: Graph, member: int) -> int | None:
    symbol = split_parameters(graph.keys[member].rpartition("|")[0])[0]
    return graph.find(f"{symbol.rpartition('.')[0]}|{NodeType.TYPE.value}")


def _is_written(route: str, text: str) -> bool:
    """Whether a text has a route as tests write it, with any value in place of each parameter, of which the last may be
    added to it."""
    fixed = _PARAMETER.split(route.strip("/"))
    if not re.search(r"\w", "".join(fixed)) or not all(one in text for one in fixed):
        return False
    is_open = len(fixed) > 1 and not fixed[-1]
    parts = [re.escape(one) for one in (fixed[:-1] if is_open else fixed)]
    written = r"(?<![\w-])" + r"[^/\s]{1,80}".join(parts) + ("" if is_open else r"(?![\w/-])")
    return re.search(written, text) is not None


def _unused(columns: GraphColumns, every: GraphColumns, kinds: tuple[NodeType, ...]) -> tuple[list[GraphFact], int]:
    """The objects of databases that no edge leads to, and that no other file names."""
    graph = columns.graph
    nodes = columns.nodes(*kinds).tolist()
    waiting = [
        node
        for node in nodes
        if all(edge.relation in _NO_USE for edge in graph.edges_of(node, IN)) and graph.places(node)
    ]
    files = _said_in(every, lambda path, language: language not in PROSE) if waiting else {}
    found = []
    for node in waiting:
        own = {place.path for place in graph.places(node)}
        if files.get(graph.names[node].rpartition(".")[2].strip('[]"`').casefold(), own) <= own:
            found.append(node)
    return list(_placed(columns, found)), len(nodes)


def _unlinked(columns: GraphColumns) -> tuple[list[GraphFact], int]:
    """The tables that have no foreign key, and to which none leads; nothing where none has one."""
    nodes = [node for node in columns.nodes(NodeType.TABLE).tolist() if columns.place(node) is not None]
    wanted = columns.of(Relation.FOREIGN_KEY)
    linked = {*columns.source[wanted].tolist(), *columns.target[wanted].tolist()}
    return (list(_placed(columns, [node for node in nodes if node not in linked])), len(nodes)) if linked else ([], 0)


def _unread(columns: GraphColumns, every: GraphColumns) -> tuple[list[GraphFact], int]:
    """The keys with a value in files of settings that no code names, in one word or as `Section:Key`."""
    shard, scope = columns.index.parts.shard(), columns.index.scope()
    paths = [path for path in shard.values("Path", scope) if _SETTINGS.search(path) and non_product_code(path) is None]
    paths = [path for path in paths if not _TRANSLATED.search(path)]
    said = _said_in(every, lambda path, language: language not in PROSE | CONFIGURATION) if paths else {}
    found, known = list[GraphFact](), 0
    for path in sorted(paths):
        for number, line in enumerate(columns.lines(path), 1):
            key = _KEY.match(line)
            name = next(filter(None, key.groups()), "") if key is not None else ""
            last = re.split(r"__|[:.]", name)[-1].casefold()
            if not last or last in _OF_FRAMEWORKS:
                continue
            known += 1
            if not {last, name.casefold(), _JOINS.sub("", last)} & said.keys():
                found.append(GraphFact(name, "", "", path, number, True, is_comment=True))
    return (found, known) if 2 * len(found) <= known else ([], 0)  # code that reads most of them names few
