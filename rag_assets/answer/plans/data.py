"""The data plan: in which table an entity is kept, who writes it and who reads it, as far as the graph knows; how long
something may be, by the lines of mappings, validators, attributes and tables; and the parameters of stored procedures.

An entity is a class, a set of a context and a table; statements write and read any of them. So all that maps to each
other is one thing here.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from rag_assets.answer.graph_facts import Facts, FactsOrAbsent, GraphFact, GraphFacts, fact_of, facts_at, seen_of
from rag_assets.answer.plans.code_lines import (
    MIGRATION,
    MOST_LISTED,
    code_of,
    facts_listed,
    lines_of,
    points_naming,
    points_with,
    product_of,
)
from rag_assets.answer.plans.listing import (
    REMADE,
    ListedNode,
    database_models,
    nodes_listed,
    places_of,
    undeclared_tables,
)
from rag_assets.answer.question_analysis import QueryTerm, covered, name_roots, root, root_set, roots_of
from rag_assets.answer.question_kinds import READ, STORED, WRITTEN, DataAsked
from rag_assets.contracts.graph import GraphEdge, NodeType, Relation, key_kind
from rag_assets.graph.csr_graph import IN, KINDS, OUT, Graph, Numbers, ResultReader, steps_over
from rag_assets.graph.declared_types import bases_above, bases_of, held_by, of_kind
from rag_assets.graph.lookup import short_name
from rag_assets.identifiers import identifier_words
from rag_assets.search import CodePlace
from rag_assets.search.ranking.penalties import UPGRADE, non_product_code

if TYPE_CHECKING:
    from rag_assets.graph.csr_graph import NodeLocation
    from rag_assets.search.index import LabelIndex, Searchable

_KINDS = [
    KINDS.index(kind.value)
    for kind in (NodeType.ENTITY, NodeType.DBSET, NodeType.TABLE, NodeType.TABLE_OR_VIEW, NodeType.VIEW)
]
_ENTITY = KINDS.index(NodeType.ENTITY.value)
_KEEPS = root_set("repo repository storage store")
_IS_CONTRACT = re.compile(r"\b(?:interface|abstract|trait|Protocol|ABC)\b")
_MOST_KEEPERS = 3
_HOPS = 2  # from a set over its entity to the table
_MOST_EACH, _MOST_ASKED = 4, 8
_LIMITING = (
    "HasMaxLength MaxLength MinLength StringLength MaximumLength MinimumLength Length max_length varchar nvarchar"
    " string String max min Size validate binding"
)
_LIMITS = re.compile(
    r"\b(?:(?:Has)?M(?:ax|in)(?:imum)?Length|StringLength|Length|max_?length|n?varchar)\b[\"'\]]?\s*(?:[(:](?!max\b)|=(?!=))"
    r"|\bstring\(.*\)\.(?:length|max|min)\(\s*\d"  # zod, yup, joi
    r"|\bColumn\(.*\b(?:String|Unicode)\(\s*(?:length=)?\d|@Size\("  # SQLAlchemy; Java
    r"|\b(?:binding|validate):\"[^\"]*\b(?:len|max|min)=\d|[\"'|](?:max|min|size):\d",  # Go; Laravel
    re.IGNORECASE,
)
_LEAST = re.compile(r"min\w*\s*[(=:]\s*\d+", re.IGNORECASE)
_ENDS = {
    "min": re.compile(rf"{_LEAST.pattern}|\blen=|\bLength\(\s*\d+\s*,|\.length\(", re.IGNORECASE),
    "max": re.compile(r"max|\blen(?:gth)?\b|[({]\s*(?:length=)?\d|size:", re.IGNORECASE),
}
"""What a line that limits a length has of either end, that of the most without what it says of the least."""
_HOLDS = re.compile(r"^(?:\w+ )*[A-Z]\w*\b[^=]*=\s*(?:[\w.]*[\[({]|.*[\[({]$)")
"""How a constant is declared that holds several."""
_SHARED = re.compile(r"export\b|pub\b")
_MOST_COLLECTIONS = 2
_OPEN = root_set("anonymous open public unauthenticated unprotected")
_ROUTES = root_set("endpoint method page path procedure route url")
_ATTRIBUTES = ("[", "@", "#[")
_SELECTED = re.compile(r"=>\s*\w+\.(\w+)")
_NAME = re.compile(r"(\w+)[?!]?\s*(?:[:{=;]|$)")
_COLUMN = re.compile(r"[\s,(]*[\[\"`]?(@?\w+)[\]\"`]?\s+[\[\"]?n?varchar\b", re.IGNORECASE)
UNDOES = re.compile(r"(?:[._/-]down|/U\d[^/]*)\.sql$", re.IGNORECASE)
_MOST_READ, _MOST_AROUND, _MOST_TOLD = 300, 3, 4
_ARGUMENT = re.compile(r"\b(?:ErrorMessage\w*|Name|Prompt|ShortName)\s*[=:](?!=)")
"""What an attribute calls an argument, as `[Display(Name = "Password")]`, which is no name of what it limits."""
_FEWEST_SAID = 0.75
"""Of the question, by the line, what it stands before and the type around it."""
_TOLD_BEHIND = re.compile(r"--.*|/\*.*?(?:\*/|$)")
_MOST_HEAD, _MOST_PARAMETERS = 300, 100
"""Lines in which a procedure declares its parameters, and how many are told."""
_BY = {
    "view": NodeType.VIEW,
    "procedure": NodeType.PROC,
    "proc": NodeType.PROC,
    "function": NodeType.FUNC,
    "trigger": NodeType.TRIGGER,
}
_RELATION = {Relation.MAPS_TO: STORED, Relation.WRITES_TO: WRITTEN, Relation.READS_FROM: READ}


def sets_of(index: LabelIndex, graph: Graph, context: str) -> Facts:
    """The sets of the context that is called so, whatever the case, each where it is declared."""
    of_it = f".{context.casefold()}"
    nodes = [
        node
        for node in of_kind(graph, NodeType.DBSET)
        if f".{graph.keys[node].partition(':')[2].rpartition('.')[0]}".casefold().endswith(of_it)
    ]
    found = sorted(seen_of(places_of(graph, np.array(nodes, np.int64)), index), key=lambda one: (one.path, one.line))
    return facts_listed([one.fact for one in found], "entity set", index)


def keepers_in(index: LabelIndex, graph: Graph, noun: str, where: frozenset[str]) -> Facts:
    """The types of the product that a noun lists whose bases say all words of a store."""
    listed = [one for one in nodes_listed(graph, noun) if non_product_code(one.path) is None]
    found = [
        one for one in listed if (node := graph.find(one.key)) is not None and where <= roots_of(bases_of(graph, node))
    ]
    found = seen_of(found, index)
    return facts_listed([one.fact for one in found], noun, index)


def data_facts(index: LabelIndex, graph: Graph, asked: DataAsked) -> Facts:
    """Where the thing is kept, who writes and who reads it, with the points that show it; nothing where the graph does
    not know what is asked first."""
    nodes = _meant(graph, asked.words, asked.said)
    if not len(nodes) and asked.first == STORED:
        return _model_facts(index, graph, asked)
    edges = seen_of(_edges(graph, nodes), index)
    others = () if asked.by else (group for group in _RELATION.values() if group != asked.first)
    made: list[GraphFact] = []
    for group in (asked.first, *others):
        told: dict[str, GraphEdge] = {}
        for edge in edges:
            if _RELATION[edge.relation] == group:
                told.setdefault(edge.target if group == STORED else edge.source, edge)
        if group == asked.first and (of := [key for key in told if key_kind(key) is _BY.get(asked.by)]):
            told = {key: told[key] for key in of}
        if asked.deletes and group == WRITTEN:
            told = {key: edge for key, edge in told.items() if _deletes(index, edge)}
        most = MOST_LISTED if asked.by else _MOST_ASKED if group == asked.first else _MOST_EACH
        shown = list(told.values())[:most]
        title = group if len(shown) == len(told) else f"{group} ({len(shown)} of {len(told)})"
        if group == asked.first and asked.by in _BY and not any(key_kind(key) is _BY[asked.by] for key in told):
            title = f"{title}, none of it a {asked.by}"
        names = {edge.source: short_name(edge.source) for edge in shown}  # of files and routes
        made += [replace(fact_of(edge, names), group=title) for edge in shown]
        if group == STORED and not shown:
            made += [replace(table.fact, group=group) for table in seen_of(_tables(graph, nodes), index)[:most]]
        if not made:
            return _model_facts(index, graph, asked) if asked.first == STORED else (GraphFacts(), {})
    at = facts_at(made, index)
    return GraphFacts(tuple(at), len(at)), at


def _deletes(index: LabelIndex, edge: GraphEdge) -> bool:
    """Whether what writes is called as what deletes, or its line says it, or one near: a statement has several."""
    lines = lines_of(index, [edge.path]).get(edge.path, {})
    near = (lines.get(at, "") for at in range(edge.line - 2, edge.line + 3))
    return _DELETES.search(" ".join((*identifier_words(short_name(edge.source)), *near))) is not None


_DELETES = re.compile(r"delet|remov|destroy|purg|truncat|clear|erase|archiv", re.IGNORECASE)


def _model_facts(index: LabelIndex, graph: Graph, asked: DataAsked) -> Facts:
    """The model of a library of Python, Ruby or Node that is called so: what maps it to a table is no edge."""
    models = places_of(graph, _called(graph, database_models(graph).tolist(), asked.words))
    found = [one for one in seen_of(list(models), index) if non_product_code(one.path) is None]
    at = facts_at([replace(one.fact, group=STORED) for one in found], index)
    return GraphFacts(tuple(at), len(at)), at


def _called(graph: Graph, nodes: Iterable[int], words: Sequence[str]) -> Numbers:
    """Those of some nodes whose names are some words."""
    wanted = set(words)
    found = [node for node in nodes if wanted and {*name_roots(graph.names[node].rpartition(".")[2])} == wanted]
    return np.array(found, np.int64)


def _meant(graph: Graph, words: Sequence[str], said: str = "") -> Numbers:
    """The entities, sets, tables and views that are called so, and all that these map to. Where some are called as it
    is `said`, in the singular or the plural, others of these words are not meant: `Drives` are no `Drivers`."""
    named = _called(graph, np.flatnonzero(np.isin(graph.kinds, _KINDS)).tolist(), words)
    exact = [node for node in named.tolist() if said and _spellings(graph.names[node]) & _spellings(said)]
    named = np.array(exact, np.int64) if exact else named
    to, of = steps_over(OUT, Relation.MAPS_TO), steps_over(IN, Relation.MAPS_TO)
    known = named
    for _ in range(_HOPS if len(named) else 0):
        entities = known[graph.kinds[known] == _ENTITY]  # where there are some: a table has those of owned types too
        of_these = entities if len(entities) else known
        reached = np.concatenate([graph.reach(known, to)[0].node, graph.reach(of_these, of)[0].node])
        known = np.union1d(known, reached[np.isin(graph.kinds[reached], _KINDS)])
    return known


def _spellings(name: str) -> frozenset[str]:
    """The letters of the last part of a name, and what they may be the plural of."""
    letters = "".join(identifier_words(name.rpartition(".")[2])).casefold()
    return frozenset({letters, letters.removesuffix("s"), letters.removesuffix("es"), re.sub(r"ies$", "y", letters)})


def entity_called(graph: Graph, words: Sequence[str]) -> str:
    """The type behind the table, or the set of a context, that is called so; '' where several are, or none."""
    names = {graph.names[node] for node in _meant(graph, words).tolist() if graph.kinds[node] == _ENTITY}
    return names.pop() if len(names) == 1 else ""


def types_of_property(graph: Graph, called: str) -> Iterator[str]:
    """The names in the types of the properties that are called so with their owners: `Order.Status`, `OrderStatus`."""
    wanted = called.replace(".", "").casefold()
    for node in of_kind(graph, NodeType.PROPERTY):
        name = graph.names[node].rpartition(".")[2].casefold()
        if wanted.endswith(name) and "".join(short_name(graph.keys[node]).split(".")[-2:]).casefold() == wanted:
            yield from re.findall(r"\w+", graph.signature(node).partition("{")[0])


def properties_of(graph: Graph, owner: Sequence[str], called: str) -> Iterator[str]:
    """The signatures of the properties whose names end with a root, of the types whose names end with some roots, and
    of what these derive from."""
    types = [node for node in of_kind(graph, NodeType.TYPE) if name_roots(graph.names[node])[-len(owner) :] == owner]
    for node in held_by(graph, bases_above(graph, types)):
        if key_kind(graph.keys[node]) is NodeType.PROPERTY and name_roots(graph.names[node])[-1:] == [called]:
            yield graph.signature(node)


def constants_at(graph: Graph, names: Sequence[str]) -> list[CodePlace]:
    """Where the product declares constants and variables outside of types that are called by some names, letter by
    letter; nothing where something else is called so."""
    called = [node for node, name in enumerate(graph.names) if name.rpartition(".")[2] in names]
    nodes = [node for node in called if _is_outside_of_types(graph, node)]
    is_other = any(key_kind(graph.keys[node]) in (NodeType.TYPE, NodeType.METHOD) for node in called)
    return [] if is_other else _places_of_product(graph, nodes)


def collection_at(graph: Graph, noun: str) -> list[CodePlace]:
    """Where the product declares the constant outside of types that holds what a noun means, `ROLES = {`, and with it
    what each may do, `ROLE_PERMISSIONS`; else that of its types, `EVENT_TYPE`. A front end may have one beside its
    server."""
    words = tuple(root(word) for word in noun.split())
    held = defaultdict[tuple[str, ...], list[int]](list)
    for node, called in _collections(graph):
        held[called].append(node)
    nodes = held[words] or held[*words, root("type")]
    shared = [node for node in nodes if _SHARED.match(graph.signature(node))]
    places = _places_of_product(graph, shared or nodes)
    granted = _places_of_product(graph, held[*words, root("permission")])
    return [*places, *granted] if len(places) <= _MOST_COLLECTIONS >= len(granted) else []


def open_routes_at(graph: Graph) -> list[CodePlace]:
    """Where the product declares the constants outside of types that hold what anybody may call: `PUBLIC_ROUTES`."""
    nodes = (node for node, called in _collections(graph) if _OPEN.intersection(called) and called[-1] in _ROUTES)
    return _places_of_product(graph, [*nodes])[:_MOST_COLLECTIONS]


def _collections(graph: Graph) -> Iterator[tuple[int, tuple[str, ...]]]:
    """The constants outside of types that hold several, with the roots of the words of their names."""
    for node in of_kind(graph, NodeType.PROPERTY):
        if _HOLDS.search(graph.signature(node)) and _is_outside_of_types(graph, node):
            called = identifier_words(graph.names[node].rpartition(".")[2])
            yield node, tuple(root(word.lower()) for word in called)


def _is_outside_of_types(graph: Graph, node: int) -> bool:
    key = graph.keys[node]
    around = f"{key.rpartition('|')[0].rpartition('.')[0]}|{NodeType.TYPE.value}"
    return key_kind(key) is NodeType.PROPERTY and graph.find(around) is None


def _places_of_product(graph: Graph, nodes: Sequence[int]) -> list[CodePlace]:
    found = [CodePlace(one.path, one.line) for one in places_of(graph, np.array(nodes, np.int64))]
    return sorted({one for one in found if non_product_code(one.path) is None}, key=lambda one: (one.path, one.line))


def columns_at(graph: Graph, words: Sequence[str]) -> list[CodePlace]:
    """Where scripts, or calls of code, create the table that is called so, and change it after that, in the order of
    their names; SQLite makes a `new_Orders`, which becomes `Orders`. Nothing of a table that a type is mapped to, or
    nothing creates; models of Python say their columns, and names of Alembic's scripts no order."""
    if entity_called(graph, words):
        return []
    created, changed = set[tuple[str, int]](), set[tuple[str, int]]()
    has_model = any(graph.language(one) == "python" for one in _called(graph, database_models(graph).tolist(), words))
    of_code = undeclared_tables(graph, Relation.SCHEMA_CHANGE).tolist()  # whose creation is a change like any other
    of_code = [] if has_model else of_code
    for node in (*of_kind(graph, NodeType.TABLE), *of_code):
        name = graph.names[node].rpartition(".")[2]
        if name_roots(REMADE.sub("", name)) != list(words):
            continue
        for found, relation in ((created, Relation.CONTAINS), (changed, Relation.SCHEMA_CHANGE)):
            edges = graph.edges_of(node, IN, Relation.SCHEMA_CHANGE if node in of_code else relation)
            places = ((edge.path, edge.line) for edge in edges if not UNDOES.search(edge.path))
            found.update(place for place in places if non_product_code(place[0]) is None)
    if not created:
        return []
    is_by_migrations = all(MIGRATION.search(path) for path, _ in created)
    whole = created if is_by_migrations else {place for place in created if not MIGRATION.search(place[0])}
    if whole and whole <= changed:
        in_time = sorted(whole, key=in_order)
        return [CodePlace(*place) for place in (in_time if is_by_migrations else in_time[:1])]
    last = (max if is_by_migrations else min)(whole, key=in_order)
    is_of_version = "--" in last[0]  # of an extension, which the scripts of later ones change
    after = (place for place in sorted(changed, key=in_order) if place[0] != last[0])
    after = (place for place in after if is_of_version or not UPGRADE.search(place[0]))
    after = (place for place in after if not is_by_migrations or in_order(place) > in_order(last))
    return [CodePlace(*place) for place in (last, *after)]


def in_order(place: tuple[str, int]) -> list[tuple[int, str]]:
    """For scripts in the order of the numbers in their names: `2_orders.sql` before `10_refunds.sql`."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", f"{place[0]}:{place[1]}")]


def _tables(graph: Graph, nodes: Numbers) -> list[ListedNode]:
    """The tables among some nodes, where they are created."""
    return list(places_of(graph, nodes[graph.kinds[nodes] == KINDS.index(NodeType.TABLE.value)]))


def _edges(graph: Graph, nodes: Numbers) -> list[GraphEdge]:
    """What writes and reads the nodes, and what they map to: the product first, and its code before its scripts."""
    of_data = steps_over(IN, Relation.WRITES_TO, Relation.READS_FROM) | steps_over(OUT, Relation.MAPS_TO)
    reach, _ = graph.reach(nodes, of_data)
    kept = (reach.side == IN) | np.isin(graph.kinds[reach.node], _KINDS)
    edges = [edge for edge in ResultReader(graph).edges(np.unique(reach.edge[kept])) if edge.path]

    def order(edge: GraphEdge) -> tuple[object, ...]:
        is_script = key_kind(edge.source) is NodeType.FILE
        return non_product_code(edge.path) is not None, is_script, edge.path, edge.line, edge

    return sorted(edges, key=order)


def foreign_key_facts(index: LabelIndex, graph: Graph, words: Sequence[str], *, leads_to: bool) -> FactsOrAbsent:
    """The foreign keys that lead to the table that is called so, or from it; of entities alone, by which properties
    they and others refer to each other: a collection tells the key of the other one. That none of a table is known,
    where the graph knows any: frameworks may declare them in code."""
    nodes = _meant(graph, words)
    keys = steps_over(IN if leads_to else OUT, Relation.FOREIGN_KEY)
    edges = ResultReader(graph).edges(np.unique(graph.reach(nodes, keys)[0].edge))
    if not edges:
        entities = nodes[graph.kinds[nodes] == _ENTITY]
        edges = [
            one
            for direction in (IN, OUT)
            for one in graph.edges_of(entities, direction, Relation.REFERENCES)
            if key_kind(one.source) is key_kind(one.target)
            and ((direction is IN) == leads_to) != _is_of_many(index, one)  # a key is on the side of the many
        ]
    edges = sorted(edges, key=lambda one: (non_product_code(one.path) is not None, one.path, one.line))
    at = facts_at([fact_of(edge, {}) for edge in edges], index)
    named = sorted({short_name(graph.keys[node]) for node in nodes.tolist()}, key=len)[:1]
    is_absent = bool(named) and not edges and _has_foreign_keys(graph)
    absent = f"no foreign key {'to' if leads_to else 'of'} {named[0]} is known" if is_absent else ""
    return GraphFacts(tuple(at), len(edges)), at, absent


def _has_foreign_keys(graph: Graph) -> bool:
    tables = np.array(of_kind(graph, NodeType.TABLE), np.int64)
    return len(graph.reach(tables, steps_over(OUT, Relation.FOREIGN_KEY))[0].edge) > 0


def _is_of_many(index: LabelIndex, edge: GraphEdge) -> bool:
    """Whether a property that refers to an entity holds many of it."""
    line = lines_of(index, [edge.path]).get(edge.path, {}).get(edge.line, "")
    of = re.escape(short_name(edge.target))
    return re.search(rf"<(?:\w+\.)*{of}\??>|\b{of}\[\]", line) is not None


def keepers(graph: Graph, words: Sequence[str]) -> list[CodePlace]:
    """Where the types of the product are, if there are few, that keep a thing without a table by what they are called:
    of baskets `RedisBasketRepository`."""
    known = [(node, name_roots(graph.names[node])) for node in of_kind(graph, NodeType.TYPE)]
    called = [node for node, own in known if own[-1:] and own[-1] in _KEEPS and own[-1 - len(words) : -1] == [*words]]
    classes = [node for node in called if not _IS_CONTRACT.search(graph.signature(node))]
    places = [graph.places(node)[0] for node in classes if graph.places(node)]
    found = [CodePlace(one.path, one.line_start) for one in places if non_product_code(one.path) is None]
    return found if len(found) <= _MOST_KEEPERS else []


def length_facts(target: Searchable, words: Sequence[QueryTerm], end: str = "") -> FactsOrAbsent:
    """The lines of the product that limit what the words say, of the type that says the least beside, with their
    points; of one `end` alone, or all and that none says it."""
    wanted = frozenset(word.root for word in words)
    found: dict[GraphFact, tuple[float, int, str]] = {}
    texts: dict[GraphFact, str] = {}
    points = points_with(" ".join((_LIMITING, *(word.word for word in words))), target, _MOST_READ)
    for point, payload in target.parts.shard().retrieve(points, target.scope()).items():
        path, owner = payload.get("Path", ""), str(payload.get("Symbol", "")).partition("~")[0].rpartition(".")[2]
        if non_product_code(path) is not None or MIGRATION.search(path):
            continue
        is_sql = payload.get("CodeLanguage", "") == "sql"
        lines = code_of(payload, target).split("\n")
        for at, said, member in _limited(lines, is_sql=is_sql):
            share = covered(tuple(words), roots_of(f"{said} {owner}"))
            source = f"{owner}.{member}" if member else owner
            fact = GraphFact(source, "", "", path, payload.get("StartLine", 1) + at, True, is_comment=True)
            texts[fact] = lines[at]
            if share >= _FEWEST_SAID and wanted & roots_of(said):
                found.setdefault(fact, (-share, len(roots_of(owner) - wanted), point))
    best = min((rank[:2] for rank in found.values()), default=())
    told = sorted((one for one, rank in found.items() if rank[:2] == best), key=lambda one: (one.path, one.line))
    ending = [one for one in told if not end or says_end(end, texts[one])]
    absent = (
        ""
        if ending or not told
        else f"what limits the length of {' '.join(one.word for one in words)} says no {end}imum"
    )
    at_points = {fact: found[fact][2] for fact in (ending or told)[:_MOST_TOLD]}
    return GraphFacts(tuple(at_points), len(ending or told), leads=bool(absent)), at_points, absent


def says_end(end: str, line: str) -> bool:
    """Whether a line that limits a length says the `min` or the `max` of it."""
    return _ENDS[end].search(_LEAST.sub("", line) if end == "max" else line) is not None


def _limited(lines: Sequence[str], *, is_sql: bool) -> Iterator[tuple[int, str, str]]:
    """(line from 0, its text with what it limits, the name of that where C# or SQL says it): an attribute stands before
    that, a call of a chain behind it, a column or `@parameter` of SQL in its line."""
    for at, line in enumerate(lines):
        if not _LIMITS.search(line):
            continue
        if is_sql:
            column = _COLUMN.match(line)
            yield at, line, column[1] if column else ""
            continue
        if line.lstrip().startswith(_ATTRIBUTES):
            below = lines[at + 1 : at + 1 + _MOST_AROUND]
            number = next(
                (number for number, one in enumerate(below, 1) if not one.lstrip().startswith(_ATTRIBUTES)), 0
            )
            name = _NAME.search(lines[at + number]) if number else None
            yield at, _ARGUMENT.sub("", " ".join(lines[at : at + number + 1])), name[1] if name else ""
            continue
        begin = at
        while begin and at - begin < _MOST_AROUND and lines[begin].lstrip()[:1] == ".":
            begin -= 1
        chain = " ".join(lines[begin : at + 1])
        selected = _SELECTED.search(chain)
        yield at, chain, selected[1] if selected else ""


def parameter_facts(
    index: LabelIndex, graph: Graph, names: Sequence[str], *, wants_all: bool, said: frozenset[str] = frozenset()
) -> Facts:
    """Where stored procedures and functions declare a parameter that is named, with its type and default: those that
    are named too, else all that have an `@Days`. Those of a routine that is named alone if a question `wants_all`, else
    those of it all of whose words are `said`."""
    wanted = {name.casefold() for name in names}
    routines = [*of_kind(graph, NodeType.PROC), *of_kind(graph, NodeType.FUNC)]
    routines = [node for node in routines if graph.language(node) == "sql"]
    named = [node for node in routines if graph.names[node].casefold() in wanted]
    variables = [] if named else [name for name in names if name.startswith("@")]
    saying = {point for name in variables for point in points_naming(name[1:], index).ids}
    paths = {payload["Path"] for payload in product_of(saying, index).values()}
    told = dict[str, list[GraphFact]]()
    for node in named or routines:
        own, stem = graph.names[node].casefold(), f"/{graph.names[node]}.sql".casefold()
        places = [one for one in graph.places(node) if named or one.path in paths]
        for place in sorted(places, key=lambda one: not f"/{one.path}".casefold().endswith(stem)):
            declared, name = _parameters_at(index, place), short_name(graph.keys[node])
            meant = [one for one in declared if {one.casefold(), one.lstrip("@").casefold()} & (wanted - {own})]
            if named and not meant:
                in_words = {one: frozenset(name_roots(one.lstrip("@"))) for one in declared}
                most = max((len(roots) for roots in in_words.values() if roots <= said), default=0)
                meant = [one for one, roots in in_words.items() if roots and roots <= said and len(roots) == most]
            if meant or (named and wants_all and declared):
                made = (GraphFact(one, "of", name, place.path, declared[one], True) for one in meant or declared)
                told[name] = [*made]
                break
    facts, heading = [one for known in told.values() for one in known], ""
    if len(told) == 1 and len(facts) > 1:
        heading = f"**{len(facts)} parameters of {facts[0].target}:**"
        facts = [replace(one, verb="", target="") for one in facts]
    at = facts_at(facts[:_MOST_PARAMETERS], index)
    return GraphFacts(tuple(at), len(facts), heading), at


def _parameters_at(index: LabelIndex, place: NodeLocation) -> dict[str, int]:
    """The parameters that a routine declares, each with its line."""
    from rag_assets.answer.plans.code_lines import lines_of
    from rag_assets.languages.sql.segments import segment_sql

    known = lines_of(index, [place.path]).get(place.path, {})
    head = [known.get(at, "") for at in range(place.line_start, min(place.line_end, place.line_start + _MOST_HEAD) + 1)]
    declared = segment_sql("\n".join(head), place.path, "sql").segments[:1]
    found, at = dict[str, int](), 0
    for one in (parameter for segment in declared for parameter in segment.parameters):
        written = re.compile(rf"(?<![\w@]){re.escape(one.name)}(?!\w)")
        at = next((line for line in range(at, len(head)) if written.search(_TOLD_BEHIND.sub("", head[line]))), at)
        found[one.name] = place.line_start + at
    return found
