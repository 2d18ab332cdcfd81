"""Lines of code that plans look up: those that name something, give it a value or read it, and the calls of a method in
their order. Everything that is told has a place that can be quoted."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from operator import itemgetter
from typing import Any

import numpy as np

from rag_assets.answer.graph_facts import MOST_FACTS, Facts, GraphFact, GraphFacts, facts_at, named_nodes
from rag_assets.answer.passages import CONFIGURATION, PROSE
from rag_assets.answer.question_analysis import Intent, QueryTerm, covered, root_set, roots_of
from rag_assets.contracts.graph import Confidence, GraphEdge, NodeType, Relation, key_kind
from rag_assets.contracts.kinds import SubtypeKind
from rag_assets.contracts.outline import SectionMember
from rag_assets.graph.csr_graph import IN, OUT, Graph, ResultReader, steps_over
from rag_assets.graph.impact import language_without_resolver
from rag_assets.graph.lookup import short_name
from rag_assets.identifiers import plural
from rag_assets.index.blobs import BlobError
from rag_assets.index.keyword.vocabulary import KeywordIndexError
from rag_assets.languages.configuration_keys import (
    VARIABLES_FILE,
    settings_read,
    variables_declared,
    variables_given,
    variables_named,
)
from rag_assets.search.index import LabelIndex, Searchable
from rag_assets.search.line_references import member_at, qualified_name, section_members, sections_of
from rag_assets.search.phrases import PhraseMatches, points_saying
from rag_assets.search.ranking.penalties import (
    UPGRADE,
    BesideProduct,
    is_readme,
    is_test_path,
    non_product_code,
    product_or_samples,
)
from rag_assets.search.section_source import section_source

MOST_READ = 300  # sections with these words, the likeliest
MOST_LISTED = 40
"""Of a list: two screens. Its heading counts them all, and `graph list` lists them."""
FEWEST_LISTED = 2
_MOST_STEPS = 7  # of a walk-through
_FEWEST_STEPS = 2
_MOST_USES = 2
_USING = (Relation.CALLS, Relation.CONSTRUCTS, Relation.REFERENCES)
_SHOWING: dict[BesideProduct | None, int] = {BesideProduct.SAMPLE: 0, BesideProduct.TEST: 1, None: 2}
_READERS = root_set("api app application product server service system")
"""What reads all settings of a project."""
_SIDES = root_set("backend frontend ui")
_README_SECTIONS = 12
_BOUND = re.compile(
    r"(?:\b(?:IOptions(?:Snapshot|Monitor)?|AddOptions(?:WithValidateOnStart)?|Configure)|GetSection\([^()]*\)\s*\.Get)"
    r"<(?:\w+\.)*([A-Z]\w*)>"
)
_SETTABLE = re.compile(r"\{.*\b(?:set|init);")
_READING = (
    "configuration config GetSection GetValue GetConnectionString environment variable environ getenv process env "
    "application properties IOptions AddOptions BindConfiguration"
)
"""The words of code that reads settings."""
_OF_SPRING = re.compile(r"(?:^|/)(?:application|bootstrap)[\w-]*\.(?:ya?ml|properties)$")
_LOOKED_THROUGH = 2_000  # sections with these words, the likeliest
_MOST_FILES_OF_READERS = 20  # about the subject, that are read whole
_MOST_SET = 1_000  # of them, those about the subject
_LEAST_OF_NAME = 0.3
"""Of a subject, what the name of a variable says that is about it: names are short."""
_SHORTEST_NAME = 3  # letters; shorter ones are in every file
MIGRATION = re.compile(rf"(?:migrations?|\bmigrate)(?:/|\.\w+/)|{UPGRADE.pattern}", re.IGNORECASE)
_PAGES = frozenset({"html", "razor"})
_IN_PAGE = r"(?:\{[{%]|<[%?]|@\w|\*ng|\([\w.]+\)=\"|\[[\w.]+\]=\"|\b(?:v-|th:)[\w:-]+=\").{0,200}?"
"""What stands before code in a template of pages."""
_NAMED = "**No graph knows a use; by its text code names it in:**"
_NAMED_AMONG = "**No graph knows a use; by its text code names it in these of the likeliest sections:**"
_TESTS_CALLED = r"(?:^|/)(?:tests?[._-]?)?(?:{0})[._-]?(?:tests?|specs?)\b[^/]*$|(?:^|/)tests?[._-]?(?:{0})\.[^/]*$"
"""A file of tests that is called as what it tests: `OrderTests.sql`, `test_order.py`."""
_TESTS_NAME_IT = "**These tests name it:**"
_NAMED_BY_TESTS = "**No class of tests is called as it; these tests name it:**"
_NAMED_BY_ENDING = "**No line names it; code puts names that end so together in:**"
_NAMED_BY_SETTINGS = "**No code is known to use it; settings name it in:**"
_ASSIGNED_VALUE = r"(?:[^=!<>]=|\breturn\b|:)\s*(?:\w+\.)*{0}\.{1}\b"
"""Of an enumeration, or a constant: who sets something to it."""
_ASSIGNED = (
    r"(?<!\w){0}(?:\[[^\]\n]*\])?\s*(?:[-+*/%|&^]|\*\*|//|<<|>>|\?\?|\|\||&&|:)?=(?![=>~])"
    r"|(?<!\w){0}(?:\+\+|--)|(?:\+\+|--)[\w.]*(?<!\w){0}(?!\w)|(?<!\w)(?i:set_?{0})\("
    r"|(?<!\w){0}(?:[\"']|\))*\)\.CurrentValue\s*="
)
"""What writes something, also through the entry of EF Core: an assignment, a keyword argument, a counter, a setter."""
_CONSTANT = r"(?<!\w)(\w+)\s*(?::\s*[\w.]+\s*)?:?=\s*(?:[\w.]+[(\[]\s*)?[\"']{0}[\"']"
_CODE = re.compile(r"[A-Z]{2,}[-_]?\d{3,}")
SAYS_NO_USE = re.compile(
    r"\s*(?:import|from|using|package|export \*|//|/\*|\*|#|--|\"\"\"|@see)(?!\w)|.*\brequire\(", re.IGNORECASE
)
"""What imports a name, or tells of it."""
_DECLARES = (
    r"\b(?:class|enum|interface|record|struct|trait|type|def|fn|fun|func|function)\s+(?:\([^()]*\)\s*)?{0}(?!\w)"
    r"|(?i:\b(?:(?:CREATE|ALTER|DROP)\s(?:[\w\s]*\s)?(?:PROC(?:EDURE)?|FUNCTION|TABLE|TRIGGER|TYPE|VIEW)\s"
    r"|OBJECT_ID\s*\(|sp_refresh\w+|PRINT\s)).*{0}(?!\w)"
)
"""Where code declares what is called so; of SQL also what replaces it, or asks whether it is there."""
_SCRIPT = re.compile(r"\.p?sql$", re.IGNORECASE)
_TOLD = re.compile(
    r"(?P<block>^[ \t]*/\*.*?\*/)|(?P<doc>^[ \t]*[rRuUbBfF]{0,2}(?P<q>\"\"\"|\'\'\').*?(?P=q))"
    r"|(?P<p>\"\"\"|\'\'\').*?(?P=p)",
    re.DOTALL | re.MULTILINE,
)
"""Comments and strings that begin a line; the last are strings of another kind, to know where they end."""
_COMMENT_END = re.compile(r"\*/(?!\d)")  # and no step of a schedule: `*/5 * * * *`
_FIRST_PAGE = re.compile(r"docs?/(?:readme|index|intro|introduction|overview)\.(?!x?html?$)\w+", re.IGNORECASE)
_MARKUP = re.compile(
    r"<[^>]*>|!\[[^\]]*\]\([^)]*\)|\]\([^)]*\)|https?:\S+|^[ \t]*#+[ \t]*(?:what is\b)?", re.IGNORECASE | re.MULTILINE
)
_TITLE = re.compile(
    r"^[ \t]*(?P<title>\w[\w.+#-]*(?: \w[\w.+#-]*)*?)(?:[ \t]+v?\d[\w.]*)?[ \t]*(?:[-–—:|(,?]|$)", re.MULTILINE
)


def list_heading(noun: str, count: int) -> str:
    return f"**{count} {noun if count == 1 else plural(noun)}:**"


def facts_listed(facts: Sequence[GraphFact], noun: str, index: LabelIndex) -> Facts:
    """Facts as the list of what a noun says, as many as one answer has of them, with the points that show them."""
    at = facts_at(facts[:MOST_LISTED], index)
    return GraphFacts(tuple(at), len(facts), list_heading(noun, len(facts))), at


def part_counted(said: str, total: int, most: int) -> str:
    """What a list is called, and of how many it shows `most`, where that is not all."""
    return f"{said} ({most} of {total:,})" if total > most else said


def counted_heading(heading: str, count: int) -> str:
    """A heading of a list with another count: several of `1 class with a test` are classes, and not tests."""
    one = re.fullmatch(r"\*\*1 (.+?)((?: (?:\w+ing|in|of|that|with|without)\b.*)?):\*\*", heading)
    return (
        list_heading(one[1], count).replace(":**", f"{one[2]}:**")
        if one is not None
        else re.sub(r"^\*\*\d+ ", f"**{count} ", heading)
    )


def says(subject: Sequence[QueryTerm], text: str) -> bool:
    """Whether a text says half of a subject."""
    return not subject or covered(tuple(subject), roots_of(text)) >= 0.5


def readme_points(index: LabelIndex) -> list[str]:
    """The points of the README at the root of a repository, and of the first page of its documents, in the order of
    their lines; none where there is none."""
    shard, scope = index.parts.shard(), index.scope()
    every = shard.values("Path", scope)
    paths = [path for path in every if _FIRST_PAGE.fullmatch(path) or ("/" not in path and is_readme(path))]
    found = sections_of(paths, shard, scope) if paths else {}
    return sorted(found, key=lambda one: (found[one].get("StartLine", 0), one))[:_README_SECTIONS]


def readme_title(index: LabelIndex) -> str:
    """What the first line of the README at the root calls the project, behind its markup, without a version and what
    explains it; '' without one."""
    for payload in index.parts.shard().retrieve(readme_points(index), index.scope()).values():
        if "/" not in payload["Path"] and payload.get("StartLine", 0) <= 1:
            found = _TITLE.search(_MARKUP.sub(" ", code_of(payload, index, ())))
            return found["title"] if found is not None else ""
    return ""


def steps_of(graph: Graph, keys: Iterable[str], lines: tuple[int, int]) -> GraphFacts:
    """What the methods among some nodes call on these lines, in their order, each at what is called; nothing for fewer
    than two calls."""
    entries = [node for key in keys if (node := graph.find(key)) is not None and key_kind(key) is NodeType.METHOD]
    if not entries:
        return GraphFacts()
    calls = steps_over(OUT, Relation.CALLS, Relation.EXECUTES, Relation.WRITES_TO)
    reach, _ = graph.reach(np.array(entries), calls)
    reader = ResultReader(graph)
    edges = zip(reader.edges(reach.edge), reach.node.tolist(), strict=True)
    inside = [(edge, node) for edge, node in edges if edge.path and lines[0] <= edge.line <= lines[1]]
    inside.sort(key=lambda one: (one[0].line, one[0].target))
    made: dict[str, GraphFact] = {}
    for edge, node in inside:
        places = graph.places(node)
        if places and edge.confidence is not Confidence.NAME_ONLY and edge.target not in made:
            certain = edge.confidence is Confidence.RESOLVED
            made[edge.target] = GraphFact(
                short_name(edge.target), "", "", places[0].path, places[0].line_start, certain
            )
    steps = tuple(made.values())[:_MOST_STEPS]
    return GraphFacts(steps, len(made), "**It calls, in this order:**") if len(steps) >= _FEWEST_STEPS else GraphFacts()


def uses_of(graph: Graph, keys: Iterable[str], lines: tuple[int, int]) -> GraphFacts:
    """Where other code uses what is declared on these lines among some nodes, or what only hands on to it under its
    name: in samples first, then in tests, then in the product, of each file once; nothing where none is known."""
    nodes = [node for key in keys if (node := graph.find(key)) is not None]
    declared = [at for at in nodes if any(lines[0] <= one.line_start <= lines[1] for one in graph.places(at))]
    own = {place.path for node in declared for place in graph.places(node)}
    of_file: dict[str, GraphFact] = {}
    for edge in sorted(_edges_using(graph, declared), key=_most_shown_first):
        if edge.path not in own:
            fact = GraphFact(short_name(edge.source), "", "", edge.path, edge.line, True, is_comment=True)
            of_file.setdefault(edge.path, fact)
    uses = tuple(of_file.values())
    return GraphFacts(uses[:_MOST_USES], len(uses), "**Used like this:**") if uses else GraphFacts()


def _edges_using(graph: Graph, nodes: Iterable[int], hops: int = 2) -> Iterator[GraphEdge]:
    for node in nodes:
        handing_on = []
        for edge in graph.edges_of(node, IN, *_USING):
            source = graph.find(edge.source)
            if (
                source is not None
                and short_name(edge.source).rpartition(".")[2] == graph.names[node].rpartition(".")[2]
            ):
                handing_on.append(source)
            elif edge.path and edge.confidence is not Confidence.NAME_ONLY:
                yield edge
        yield from _edges_using(graph, handing_on, hops - 1) if hops > 1 else ()


def _most_shown_first(edge: GraphEdge) -> tuple[int, str, int]:
    return _SHOWING.get(non_product_code(edge.path), len(_SHOWING)), edge.path, edge.line


def settings_of(
    target: Searchable, noun: str, subject: Sequence[QueryTerm], declaring: Sequence[str], *, by_name: bool = False
) -> Facts:
    """The settings, or variables of the environment, that code reads by their names, each where it is read first, with
    the points that show it: of the files of the `declaring` points, else of those about the subject, or `by_name` those
    that are called as the subject where several are; of the product alone, if that reads any."""
    shard, scope = target.parts.shard(), target.scope()
    subject = [word for word in subject if word.root not in _READERS | _SIDES] or subject  # of `the web app`
    likely = points_with(_READING, target, _LOOKED_THROUGH)
    places = shard.places(likely, scope)
    of_options = {} if noun != "setting" or declaring else _options_in(likely[:_MOST_SET], target)
    own = {place.path for place in shard.places(declaring, scope).values()}
    about = [one for one in places if (places[one].path in own if own else says(subject, places[one].path))]
    if len(paths := {places[one].path for one in about}) <= _MOST_FILES_OF_READERS:  # with sections that say less
        about = sorted(sections_of(paths, shard, scope))
    found = _settings_in(about, noun, target)
    is_all = all(word.root in _READERS for word in subject)
    is_of_part = bool(subject) and len(found) >= FEWEST_LISTED  # a folder is called as `the server`
    if len(found) < FEWEST_LISTED or (by_name and subject and not own):
        known = _settings_in(list(places), noun, target)
        named = known if is_all else {fact: at for fact, at in known.items() if says(subject, fact.source)}
        named = named or (_called_as(subject, known) if by_name else {})
        if len(found) < FEWEST_LISTED or (len(named) >= FEWEST_LISTED and not is_all):
            found = named
    found |= {fact: at for fact, at in of_options.items() if says(subject, f"{fact.source} {fact.path}")}
    found |= _options_in(about[:_MOST_SET], target) if of_options else {}  # of what binds them, whatever they say
    kept = {fact: at for fact, at in found.items() if non_product_code(fact.path) is None} or found
    shown, told = set[str](), {fact.source for fact in kept}
    if noun != "setting" and not own:
        for index in target.members.values():
            given = [one for one in _variables_in_files(index) if not is_of_part or says(subject, one.path)]
            given = given if is_all or is_of_part else [one for one in given if says(subject, one.source)]
            kept |= facts_at((one for one in given if one.source not in told), index)
            shown |= {one.source for one in given}
    is_long = bool(shown) and len(kept) > MOST_LISTED  # then those first that somebody is meant to set

    def order(one: GraphFact) -> tuple[bool, bool]:
        is_beside = one.path.startswith(".") and not VARIABLES_FILE.search(one.path)  # scripts of a pipeline
        return is_long and one.source not in shown, is_beside

    kept = {one: kept[one] for one in sorted(kept, key=order)}
    if len(kept) < FEWEST_LISTED:
        return GraphFacts(), {}
    facts = tuple(kept)[:MOST_LISTED]
    return GraphFacts(facts, len(kept), list_heading(noun, len(kept))), {fact: kept[fact] for fact in facts}


def _variables_in_files(index: LabelIndex) -> list[GraphFact]:
    """The variables that files for them give a value, or show with one, each once; those nearest to the root first."""
    paths = index.parts.shard().values("Path", index.scope())
    texts = lines_of(index, [path for path in paths if VARIABLES_FILE.search(path) and not is_test_path(path)])
    found = dict[str, GraphFact]()
    for path, lines in sorted(texts.items(), key=lambda one: from_the_root(one[0])):
        for number, line in lines.items():
            for name, _ in variables_given(line):
                found.setdefault(name, GraphFact(name, "", "", path, number, True, is_comment=True))
    return [*found.values()]


def _called_as(subject: Sequence[QueryTerm], known: Mapping[GraphFact, str]) -> dict[GraphFact, str]:
    """Those whose names say the most of a subject, if that is enough of it: `SIGNING_KEY` of a signing certificate."""
    words = tuple(word for word in subject if word.root not in _READERS)
    said = {fact: covered(words, roots_of(fact.source)) for fact in known} if words else {}
    most = max(said.values(), default=0.0)
    return {fact: known[fact] for fact, share in said.items() if share == most >= _LEAST_OF_NAME}


def _settings_in(points: Sequence[str], noun: str, target: Searchable) -> dict[GraphFact, str]:
    """Each setting once, in the order of paths and lines, with the point that reads it; of the product first."""
    payloads = target.parts.shard().retrieve(points[:_MOST_SET], target.scope())

    def place(point: str) -> tuple[bool, str, int]:
        path = payloads[point].get("Path", "")
        return non_product_code(path) is not None, path, payloads[point].get("StartLine", 0)

    found: dict[str, tuple[GraphFact, str]] = {}
    for point in sorted(payloads, key=place):
        for key, line in _settings_at(payloads[point], noun, target):
            fact = GraphFact(
                key, "", "", payloads[point].get("Path", ""), line, True, is_comment=True
            )  # or an attribute
            found.setdefault(key, (fact, point))
    return dict(found.values())


def _options_in(points: Sequence[str], target: Searchable) -> dict[GraphFact, str]:
    """The properties of the types that .NET binds to configuration, where they are declared, with their points."""
    shard, scope = target.parts.shard(), target.scope()
    read = [code_of(payload, target) for payload in shard.retrieve(points, scope).values()]
    found: dict[GraphFact, str] = {}
    for name in sorted({bound[1] for text in read for bound in _BOUND.finditer(text)}):
        declared = replace(scope, names=(name,))
        for point, payload in shard.retrieve(sorted(shard.ids(declared)), declared).items():
            of_type = str(payload.get("Symbol", "")).partition("~")[0].rpartition(".")[2] == name
            for member in section_members(payload) if of_type else ():
                if _SETTABLE.search(member.signature):
                    called = f"{name}.{member.name}"
                    found[GraphFact(called, "", "", payload.get("Path", ""), member.start_line, True)] = point
    return found


def _settings_at(payload: Mapping[str, Any], noun: str, target: Searchable) -> list[tuple[str, int]]:
    """(setting, line) of a section of code, in the order of its lines."""
    path, variables = payload.get("Path", ""), noun != "setting"
    if non_product_code(path) is BesideProduct.WRAPPER:
        return []
    is_spring = variables and _OF_SPRING.search(path) is not None
    text = code_of(payload, target, PROSE) if is_spring else code_of(payload, target)
    found = [*(variables_named(text) if is_spring else settings_read(text, variables=variables))]
    found += variables_declared(path, text) if variables else ()
    read = sorted(found, key=itemgetter(1))
    begins = {at: text[text.rfind("\n", 0, at) + 1 : at].lstrip() for _, at in read}
    read = [(key, at) for key, at in read if not begins[at].startswith(("//", "#"))]  # what is commented out
    return [(key, payload.get("StartLine", 1) + text.count("\n", 0, at)) for key, at in read]


def code_of(payload: Mapping[str, Any], target: Searchable, skipped: Container[str] = PROSE | CONFIGURATION) -> str:
    """The source of a section of code; '' of texts, of settings, and of what is damaged, as is told of the evidence."""
    if payload.get("CodeLanguage", "") in skipped:
        return ""
    try:
        return section_source(payload, target.parts.document)
    except BlobError:
        return ""


def mentions_of(
    target: Searchable, names: Sequence[str], intent: Intent, declaring: Sequence[str], heading: str = ""
) -> Facts:
    """Where code writes some names, or constants that are declared as the text of one, but not in the types that are
    called so, in the files of the points `declaring` them: of most languages the graph does not know all who use
    something. For tests those alone, else the product first. With the points that show it."""
    shard, scope = target.parts.shard(), target.scope()
    own = {place.path for place in shard.places(declaring, scope).values()}
    found: dict[GraphFact, str] = {}
    waiting, among = list(names), False
    for name in waiting:
        points = points_naming(name, target)
        among |= bool(points.cut)
        last = name.rpartition(".")[2]
        payloads = shard.retrieve(sorted(points.ids), scope)
        said = ("names", last, last == name)
        of_library = {} if declaring or last == name else _of_library(name, payloads, target)
        if of_library:
            found |= of_library
            continue
        named = facts_naming(_written(name), payloads, target, said, declares=False)
        pages = {point: one for point, one in payloads.items() if one.get("CodeLanguage", "") in _PAGES}
        named |= facts_naming(re.compile(_IN_PAGE + _written(name).pattern), pages, target, said, (), declares=False)
        found |= {
            fact: point
            for fact, point in named.items()
            if (
                intent is not Intent.TESTS or is_test_path(fact.path) or payloads[point].get("Kind") == SubtypeKind.TEST
            )
            and not (fact.source == last and _SCRIPT.search(fact.path))  # what a script defines again is no use
        }
        if name in names:
            waiting += _constants_of(name, payloads, target)
    if not found and intent is Intent.USAGE:
        found, heading = _named_by_settings(target, names), _NAMED_BY_SETTINGS
        if not found:
            found, heading = _named_by_ending(target, names), _NAMED_BY_ENDING
    lasts = {name.rpartition(".")[2] for name in names}
    beside = [fact for fact in found if fact.path not in own or fact.source.partition(".")[0] not in lasts]
    others = beside or list(found)
    of_files = _TESTS_CALLED.format("|".join(map(re.escape, lasts))) if intent is Intent.TESTS else r"(?!)"
    called = re.compile(of_files, re.IGNORECASE)
    so_called = {fact.path for fact in others if called.search(fact.path)}
    others.sort(key=lambda fact: (non_product_code(fact.path) is not None, fact.path, fact.line))
    kept = sorted(others, key=lambda fact: fact.path not in so_called)
    if heading:  # what something is for is said by the product
        kept = _of_product({(fact.path, fact.line): fact for fact in reversed(kept)}.values())[::-1]
    by_tests = _TESTS_NAME_IT if so_called else _NAMED_BY_TESTS
    heading = heading or (_NAMED_AMONG if among else by_tests if intent is Intent.TESTS else _NAMED)
    return _shown(kept, found, heading)


def _of_library(name: str, payloads: Mapping[str, Mapping[str, Any]], target: Searchable) -> dict[GraphFact, str]:
    """Where code names a member with its type, which nothing declares: `DateTime.Now`."""
    if not name[:1].isupper():
        return {}
    written = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    return facts_naming(written, payloads, target, ("names", name, True), declares=False, each_line=True)


def _named_by_settings(target: Searchable, names: Iterable[str]) -> dict[GraphFact, str]:
    """Where configuration names a type, as `type="Shop.Mailer, Shop"` does, and no file: `Mailer.cs`."""
    found: dict[GraphFact, str] = {}
    for name in names:
        payloads = target.parts.shard().retrieve(sorted(points_naming(name, target).ids), target.scope())
        settings = {point: one for point, one in payloads.items() if one.get("CodeLanguage", "") in CONFIGURATION}
        written = re.compile(rf"(?<!\w){re.escape(name)}(?!\w|\.\w)")
        for fact, point in facts_naming(written, settings, target, ("names", name, True), ()).items():
            found[replace(fact, source=fact.path.rpartition("/")[2])] = point
    return found


def _named_by_ending(target: Searchable, names: Iterable[str]) -> dict[GraphFact, str]:
    """Where code makes the name of a procedure of the name of a table: `$"[{Schema}].[{Table}_DeleteById]"`."""
    found: dict[GraphFact, str] = {}
    for name in names:
        start, mark, ending = name.rpartition(".")[2].partition("_")
        points = points_naming(ending, target).ids if start and mark else ()
        written = re.compile(rf"[}})]_{re.escape(ending)}(?!\w)")
        code = product_of(points, target) if points else {}
        found |= facts_naming(written, code, target, ("names", f"_{ending}", False))
    return found


def without_resolver(graphs: Iterable[tuple[LabelIndex, Graph]], names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Of some names those of one declaration, or its overloads, in a language without a resolver: what code calls so
    is this one; and those of several there."""
    found, others, known = list[str](), list[str](), list(graphs)
    for name in names:
        keys = [key for _, graph in known for key in named_nodes(graph, (name.rpartition(".")[2],))]
        if keys and all(map(language_without_resolver, keys)):
            (found if len({key.partition("(")[0].partition("|")[0] for key in keys}) == 1 else others).append(name)
    return found, others


def writes_of(target: Searchable, name: str) -> Facts:
    """Where code of the product, if it does, assigns a field, a property or a variable: of its owner, if one is named,
    before others of that name. With the points that show it."""
    owner, _, last = name.rpartition(".")
    owner = owner.rpartition(".")[2]
    points = points_naming(last, target)
    payloads = target.parts.shard().retrieve(sorted(points.ids), target.scope())
    value = re.compile(_ASSIGNED_VALUE.format(re.escape(owner), re.escape(last)), re.IGNORECASE)
    found = facts_naming(value, payloads, target, ("sets", f"{owner}.{last}", True)) if owner else {}
    found = found or facts_naming(re.compile(_ASSIGNED.format(re.escape(last))), payloads, target, ("sets", last, True))

    def order(fact: GraphFact) -> tuple[bool, bool, str, int]:
        source, of = fact.source.casefold(), owner.casefold()
        return of not in source.split("."), of not in f"{source} {fact.path}".casefold(), fact.path, fact.line

    kept = _of_product(found)
    kept = [fact for fact in kept if not MIGRATION.search(fact.path)] or kept  # they set every column
    return _shown(sorted(kept, key=order), found, f"**Code that sets {name}:**")


def _of_product(facts: Iterable[GraphFact]) -> list[GraphFact]:
    """The facts of the product alone, if it has any."""
    known = list(facts)
    return [fact for fact in known if non_product_code(fact.path) is None] or known


def _shown(facts: Sequence[GraphFact], points: Mapping[GraphFact, str], heading: str) -> Facts:
    if not facts:
        return GraphFacts(), {}
    shown = tuple(facts[:MOST_FACTS])
    command = f"search '\"{facts[0].target}\"' --limit {2 * len(facts)}"  # documents and tests have it too
    return GraphFacts(shown, len(facts), heading, command), {fact: points[fact] for fact in shown}


def points_naming(name: str, target: Searchable, most: int | None = None) -> PhraseMatches:
    """The points that have the words of a name; `facts_naming` reads which of them write it."""
    last = name.rpartition(".")[2]
    if len(last) < _SHORTEST_NAME:
        return PhraseMatches(frozenset())
    try:
        return points_saying(last, target.parts, target.scope(), most)
    except (KeywordIndexError, BlobError):  # what is damaged is told of the evidence
        return PhraseMatches(frozenset())


def points_with(words: str, target: Searchable, most: int) -> list[str]:
    """The points that have some words, the likeliest first; none of a damaged keyword index, of which the search has
    told."""
    try:
        asked = target.parts.vocabulary().query_vector(words)
    except KeywordIndexError:
        return []
    return [one.id for one in target.parts.shard().sparse(asked.indices, asked.values, target.scope(), most)]


def product_of(points: Iterable[str], target: Searchable) -> dict[str, Mapping[str, Any]]:
    """The payloads of those points that are of the product, else of samples."""
    payloads = target.parts.shard().retrieve(sorted(points), target.scope())
    kept = product_or_samples(one.get("Path", "") for one in payloads.values())
    return {point: one for point, one in payloads.items() if one.get("Path", "") in kept}


def _constants_of(name: str, payloads: Mapping[str, Mapping[str, Any]], target: Searchable) -> list[str]:
    """The constants and variables that are declared as the text of a name, and called a little like it, which no
    `name="Flip"` is: code that reads a setting says these. Of a code, as `MA0011` is one, whatever they are called."""
    declared, wanted = re.compile(_CONSTANT.format(re.escape(name))), roots_of(name)
    found = (one[1] for payload in payloads.values() for one in declared.finditer(code_of(payload, target)))
    is_code = _CODE.fullmatch(name) is not None
    return [one for one in dict.fromkeys(found) if one != name and (is_code or wanted & roots_of(one))]


def _written(name: str) -> re.Pattern[str]:
    """A name as a whole word; a member of something, as `Order.cancel` is, behind a dot or as a call."""
    owner, _, last = name.rpartition(".")
    word = rf"(?<!\w){re.escape(last)}(?!\w)"
    return re.compile(rf"(?:\.|->|::){word}|{word}\s*[(<]" if owner else word)


def facts_naming(
    written: re.Pattern[str],
    payloads: Mapping[str, Mapping[str, Any]],
    target: Searchable,
    said: tuple[str, str, bool],
    skipped: Container[str] = PROSE | CONFIGURATION,
    *,
    declares: bool = True,
    each_line: bool = False,
) -> dict[GraphFact, str]:
    """Each member of code that has a pattern, where it does first, or `each_line`, with the smallest section that has
    it; `said` is what it does with which name, and whether that is certain: of a member alone other types may have one
    too. Where code only `declares` what is called so counts or not."""
    made: dict[tuple[str, str, int], tuple[GraphFact, str]] = {}
    told: set[tuple[str, int]] = set()

    def place(point: str) -> tuple[bool, int, str]:
        payload = payloads[point]
        return not payload.get("Members"), int(payload.get("EndLine", 0)) - int(payload.get("StartLine", 0)), point

    for point in sorted(payloads, key=place):
        payload = payloads[point]
        path = payload.get("Path", "")
        members = section_members(payload)
        for line, text in _lines_with(written, said[1].casefold(), payload, target, skipped):
            around = member_at(line, members)
            if not declares and _declares(text, around, said[1]):
                continue
            source = qualified_name(around, payload) or path.rpartition("/")[2]
            if (path, line) not in told:
                once = line if each_line else 0
                made.setdefault((path, source, once), (GraphFact(source, said[0], said[1], path, line, said[2]), point))
            told.add((path, line))
    return dict(made.values())


def _declares(line: str, member: SectionMember | None, name: str) -> bool:
    """Whether a line is where a member, or a type, of a name is declared."""
    if re.search(_DECLARES.format(re.escape(name)), line):
        return True
    if member is None or member.name.rpartition(".")[2] != name or "(" not in member.signature:
        return False
    return member.signature.partition("(")[0].strip() in line


def _lines_with(
    written: re.Pattern[str], name: str, payload: Mapping[str, Any], target: Searchable, skipped: Container[str]
) -> Iterator[tuple[int, str]]:
    """The lines of the code of a section that have a pattern with a name and do more than import or tell of it; of one
    for several lines where it begins, be it a comment."""
    code, first = code_of(payload, target, skipped), int(payload.get("StartLine", 1))
    if name not in code.casefold():
        return
    if not written.flags & re.MULTILINE:
        lines = enumerate(code.split("\n"))
        found = [(at, text) for at, text in lines if name in text.casefold() and written.search(text)]
    else:
        found = [_first_line(one) for one in written.finditer(code)]
    if not found:
        return
    if payload.get("PartTotal", 1) > 1 and ('"""' in code or "'''" in code):  # it may begin or end within a docstring
        told = {line + 1 - first for line in _told_in(target.parts.document(payload["BlobVersionId"]))}
    else:
        told = {*_told_in(code)}
    yield from ((at + first, text) for at, text in found if not SAYS_NO_USE.match(text) and at not in told)


def _first_line(found: re.Match[str]) -> tuple[int, str]:
    """(the number of the line where the words of a match begin, what stands before the match there)."""
    text, start = found.string, found.start()
    word = re.search(r"\w", found[0])
    line = text.count("\n", 0, start + (word.start() if word is not None else 0))
    return line, text[text.rfind("\n", 0, start) + 1 : start]


@lru_cache(maxsize=64)  # the sections of a file ask for the same text
def _told_in(code: str) -> frozenset[int]:
    """The lines, from 0, of docstrings and block comments, also where a section begins within such a comment."""
    closed = _COMMENT_END.search(code)
    spans = [(0, closed.start())] if closed and "/*" not in code[: closed.start()] else []
    is_whole = code.count('"""') % 2 == code.count("'''") % 2 == 0  # else who knows what is within
    spans += [found.span() for found in _TOLD.finditer(code) if found["block"] or (found["doc"] and is_whole)]
    ends = [found.start() for found in re.finditer("\n", code)]
    return frozenset(
        line for start, stop in spans for line in range(bisect_left(ends, start), bisect_left(ends, stop) + 1)
    )


def lines_of(index: LabelIndex, paths: Iterable[str]) -> Mapping[str, Mapping[int, str]]:
    """The lines of some files by their numbers, as far as sections that the reader may see have them."""
    found: dict[str, dict[int, str]] = {}
    payloads = sections_of(paths, index.parts.shard(), index.scope()).values()
    for payload in sorted(payloads, key=lambda one: (one.get("Path", ""), one.get("StartLine", 0))):
        text = code_of(payload, index, ())
        if not text:
            continue
        known = found.setdefault(payload["Path"], {})
        for at, line in enumerate(text.split("\n"), payload.get("StartLine", 1)):
            known[at] = known.get(at) or line  # a section that ends with its last line has an empty one of the next
    return found


def from_the_root(path: str) -> tuple[int, str]:
    """For paths in an order with those nearest to the root first."""
    return path.count("/"), path


def by_place(at: Mapping[GraphFact, str], most: int | None = None) -> dict[GraphFact, str]:
    """Some facts, or the first of them, in the order of files and lines, with their points."""
    return {one: at[one] for one in sorted(at, key=lambda one: (one.path, one.line))[:most]}


def lines_listed(found: Mapping[GraphFact, str], heading: str) -> Facts:
    """Lines, those of the product first, by their places, as many as one answer has of them, each quoted, with the
    points that show them."""
    order = sorted(found, key=lambda one: (non_product_code(one.path) is not None, one.path, one.line))[:MOST_LISTED]
    shown = {replace(fact, is_comment=True): found[fact] for fact in order}
    return GraphFacts(tuple(shown), len(found), heading), shown
