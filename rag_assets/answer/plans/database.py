"""What SQL scripts declare line by line: schemas, roles, types, indexes and the like, which are no nodes of the graph;
the types, defaults and keys of columns; the tables without a primary key; and who is granted what."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from rag_assets.answer.graph_facts import Facts, GraphFact, GraphFacts, facts_at
from rag_assets.answer.plans.code_lines import (
    MIGRATION,
    MOST_LISTED,
    code_of,
    lines_of,
    list_heading,
    points_with,
    product_of,
)
from rag_assets.answer.plans.data import UNDOES, in_order
from rag_assets.answer.question_analysis import is_relation_or_manner, name_roots, roots_of
from rag_assets.contracts.graph import NodeType, Relation
from rag_assets.graph.csr_graph import IN
from rag_assets.graph.declared_types import of_kind
from rag_assets.graph.lookup import short_name
from rag_assets.identifiers import identifier_words, word_set
from rag_assets.languages.sql.columns import column_definitions
from rag_assets.languages.sql.statements import read_script
from rag_assets.search.ranking.penalties import non_product_code

if TYPE_CHECKING:
    from rag_assets.graph.csr_graph import Graph
    from rag_assets.search.index import LabelIndex

    Known = Facts

_NAMED = r"(?:IF\s+NOT\s+EXISTS\s+)?(?P<name>(?:[\[\"`]?[\w$@]+[\]\"`]?\s*\.\s*)*[\[\"`]?[\w$]+[\]\"`]?)"
_INDEX = (
    r"CREATE\s+(?:(?:UNIQUE|CLUSTERED|NONCLUSTERED|COLUMNSTORE|SPATIAL|FULLTEXT|XML|PRIMARY)\s+)*"
    r"INDEX\s+(?:CONCURRENTLY\s+)?"
)
_TRIGGER = r"CREATE\s+(?:OR\s+(?:ALTER|REPLACE)\s+)?(?:CONSTRAINT\s+)?TRIGGER\s+"
_OBJECTS: Mapping[str, tuple[str, str]] = {  # what a question calls them, and how a script declares one
    "schema": (r"schemas|schemata", rf"CREATE\s+SCHEMA\s+{_NAMED}"),
    "role": (r"roles", rf"CREATE\s+ROLE\s+{_NAMED}"),
    "extension": (r"extensions", rf"CREATE\s+EXTENSION\s+{_NAMED}"),
    "domain": (r"domains", rf"CREATE\s+DOMAIN\s+{_NAMED}"),
    "enum type": (r"enum(?:eration)?s|enum types", rf"CREATE\s+TYPE\s+{_NAMED}\s+AS\s+ENUM\b"),
    "table type": (r"table types?|table-valued types?", rf"CREATE\s+TYPE\s+{_NAMED}\s+AS\s+TABLE\b"),
    "type": (r"(?:user[- ]defined|custom|composite|sql|database) types?", rf"CREATE\s+TYPE\s+{_NAMED}"),
    "partition function": (r"partition functions?", rf"CREATE\s+PARTITION\s+FUNCTION\s+{_NAMED}"),
    "partition scheme": (r"partition schemes?", rf"CREATE\s+PARTITION\s+SCHEME\s+{_NAMED}"),
    "materialized view": (r"materiali[sz]ed views?", rf"CREATE\s+MATERIALIZED\s+VIEW\s+{_NAMED}"),
    "index": (r"index(?:es)?|indices", rf"{_INDEX}{_NAMED}"),
    "trigger": (r"triggers?", rf"{_TRIGGER}{_NAMED}"),
}
_ASKS_LIST = (
    r"^\W*(?:(?:which|what|list|show|name|give|are there|is there(?: an?)?"
    r"|(?:does|do) .*?\b(?:have|need|use|define)s?)\s+)"
    r"(?:(?:all|any|are|clustered|custom|database|db|different|me|of|other|postgres(?:ql)?|server|sql|the|unique"
    r"|user[- ]defined)\s+)*(?:{0})\b"
)
"""A noun right behind the words that ask for a list: `what does the trigger Audit do` asks for none."""
_ON_TABLE = frozenset({"index", "trigger"})
_WITHOUT_KEY = re.compile(
    r"\btables?\b.*\b(?:no|without(?: an?| any)?|lack(?:s|ing)?(?: an?)?|miss(?:es|ing)?(?: an?)?|(?:not|n't)"
    r" have an?y?) (?:primary keys?|pks?)\b",
    re.IGNORECASE,
)
_KEY = re.compile(r"\bprimary keys?\b|\bkey columns?\b|\bpk\b", re.IGNORECASE)
_COLUMN = re.compile(r"\bcolumns?\b", re.IGNORECASE)
_NAMED_COLUMN = re.compile(
    r"\bcolumns? (?:called |named )?[\"'`]?(?P<behind>\w+)"
    r"|\b(?P<before>(?!(?:an?|the|what|which)\b)\w+)[\"'`]? columns?\b",
    re.IGNORECASE,
)
_TYPED = re.compile(r"\b(?:data ?)?types?\b|\blength\b|\bprecision\b|\bdefaults?\b|\bnull(?:able|s)?\b", re.IGNORECASE)
_REQUIRED = re.compile(r"\brequired\b|\bmandatory\b|\b(?:not|never|n't|cannot)\b.*\b(?:null|empty)\b", re.IGNORECASE)
_OPTIONAL = re.compile(r"\boptional\b|\bnullable\b|\b(?:can|may) be (?:null|empty)\b", re.IGNORECASE)
_OF_SORTS = tuple(
    (re.compile(rf"\b(?:{asked})\b", re.IGNORECASE), re.compile(written, re.IGNORECASE))
    for asked, written in (
        (r"computed|calculated|generated|persisted", r"^\W*\w+\W*\s+AS\b|\bAS\s*\("),
        (r"identity|auto[- ]?increment\w*", r"\bIDENTITY\b|\bAUTO_?INCREMENT\b|\b(?:BIG|SMALL)?SERIAL\b"),
        (r"masked|encrypted", r"\bMASKED\b|\bENCRYPTED\b"),
        (r"defaults?", r"\bDEFAULT\b"),
    )
)
"""What a question calls columns of a sort, and how their lines say it."""
_WHICH_COLUMNS = re.compile(
    r"^\W*(?:in |into )?(?:which|what)(?: are)?(?: the| all)* columns?\b(?!.*\b(?:index\w*|foreign|unique)\b)",
    re.IGNORECASE,
)
_HAVE_COLUMN = re.compile(
    r"\btables? (?:that |which )?(?:ha(?:ve|s)|contains?|with)\b"
    r"(?:.*?\bcolumns?(?: (?:called|named))?\W+(?P<after>\w+)| (?:an? |the )?(?P<before>\w+) columns?)\W*$",
    re.IGNORECASE,
)
_GRANTED = re.compile(
    r"^\W*who (?:may|can|is allowed to|has (?:the )?(?:right|permission)s? (?:to|on|for))\b"
    r"|\b(?:granted|grants|permissions?|rights|privileges)\b"
    r"|^\W*what (?:may|can)\b.*\b(?:role|user|login)s?\b"
    r"|\b(?:which|what) (?:database |db )?(?:roles?|users?|logins?) (?:may|can|are allowed)\b",
    re.IGNORECASE,
)
_PRIVILEGES = {
    "EXECUTE": r"exec|execut\w*|run|call|invoke",
    "SELECT": r"read|select|see|query|view",
    "INSERT": r"insert|add|write",
    "UPDATE": r"update|change|modify|write",
    "DELETE": r"delete|remove|write",
}
_VALUES = re.compile(r"\b(?:which|what)\b.*\b(?:values?|states?|status(?:es)?)\b", re.IGNORECASE)
_TYPE = re.compile(rf"\s*{_OBJECTS['enum type'][1]}", re.IGNORECASE)
_ALTERED = re.compile(rf"\s*ALTER\s+TABLE\s+(?:ONLY\s+)?{_NAMED}", re.IGNORECASE)
_LISTS_VALUES = re.compile(
    r"[\[\"`]?(?P<name>\w+)[\]\"`]?\s+ENUM\s*\(|"
    r"\bCHECK\s*\(+\s*[\[\"`]?(?P<checked>\w+)[\]\"`]?\s*\)?(?:::\w+)?\s*(?:IN\b|=\s*ANY|=\s*N?')",
    re.IGNORECASE,
)
_GRANT = re.compile(
    r"\bGRANT\s+(?P<what>[\w\s,()\[\]]+?)\s+ON\s+(?P<object>.+?)\s+TO\s+"
    r"(?P<whom>[\w \t,\[\]\"`.@\\-]+?)[ \t]*(?:\b(?:AS|WITH)\b|[;\n/']|$)",
    re.IGNORECASE | re.DOTALL,
)
_BEGINS = re.compile(r"\s*(?:CREATE|ALTER|DENY|GRANT|REVOKE|INSERT|DROP|COMMENT)\b|\s*GO\s*$", re.IGNORECASE)
_CREATES_TABLE = rf"\s*CREATE\s+(?:(?:EXTERNAL|FOREIGN|UNLOGGED)\s+)*TABLE\s+{_NAMED}"
_TABLE = re.compile(_CREATES_TABLE, re.IGNORECASE)
_IS_PART = re.compile(r"\bPARTITION\s+OF\b|\bLIKE\b|\bAS\s+SELECT\b|\bINHERITS\b|\bAS\s+(?:NODE|EDGE)\b", re.IGNORECASE)
_PRIMARY_KEY = re.compile(r"\bPRIMARY\s+KEY\b", re.IGNORECASE)
_KEY_ADDED = re.compile(rf"\s*ALTER\s+TABLE\s+(?:ONLY\s+)?{_NAMED}\b.*\bPRIMARY\s+KEY\b", re.IGNORECASE | re.DOTALL)
_ATTACHED = re.compile(rf"\s*ALTER\s+TABLE\b.*\bATTACH\s+PARTITION\s+{_NAMED}", re.IGNORECASE | re.DOTALL)
"""It has the key of what it is a part of."""
_ADDED = re.compile(
    r"\bADD\s+(?!(?:CHECK|CONSTRAINT|FOREIGN|INDEX|KEY|PARTITION|PRIMARY|UNIQUE)\b)(?:COLUMN\s+)?(?:IF\s+NOT\s+EXISTS\s+)?"
    r"[\[\"`]?(?P<name>\w+)[\]\"`]?\s+[\[\"`]?[A-Za-z]",
    re.IGNORECASE,
)
_DROPPED = re.compile(
    r"\bDROP\s+(?:COLUMN|DOMAIN|EXTENSION|INDEX|ROLE|SCHEMA|SEQUENCE|TRIGGER|TYPE)\s+(?:CONCURRENTLY\s+)?(?:IF\s+EXISTS\s+)?"
    r"(?P<name>(?:[\[\"`]?[\w$]+[\]\"`]?\s*\.\s*)*[\[\"`]?[\w$]+[\]\"`]?)",
    re.IGNORECASE,
)
_DEFAULTS = re.compile(
    r"\bDEFAULT\b[^;\n]*?\bFOR\s+[\[\"`]?(?P<name>\w+)|\bALTER\s+(?:COLUMN\s+)?[\[\"`]?(?P<set>\w+)[\]\"`]?\s+SET\s+DEFAULT\b",
    re.IGNORECASE,
)
"""Where a statement of its own gives a column its default, as scripts that a server writes do."""
_MARKED = re.compile(r"(?i:tbl)(?=[A-Z_])")
"""How many call a table, `tblOrders`, and no question does."""
_SAYS_DEFAULT = re.compile(r"\bDEFAULT\b", re.IGNORECASE)
_OF_DEFAULT = re.compile(r"\bdefaults?\b|\bby default\b", re.IGNORECASE)
_TRIGGER_ASKED = re.compile(
    r"^\W*(?:which|what) (?:(?:database|db|sql) )?triggers?\b"
    r"(?!.*\b(?:actions?|alarms?|builds?|deploy\w*|events?|functions?|jobs?|pipelines?|releases?|runs?|starts?|workflows?)\b)",
    re.IGNORECASE,
)
_MAKES_TRIGGER = re.compile(r"\bTRIGGER\s+[\w\[\"`@%]|\b(?i:Has_?Trigger|create_?trigger)")
_OF_QUESTIONS = word_set("column columns field fields type types table tables key keys index indexes default")
_OF_COLUMNS = roots_of(" ".join(_OF_QUESTIONS)) | roots_of(
    "database which what does record it is are the all of in there"
)
_OF_TYPE = re.compile(
    r"^\W*(?:of )?(?:which|what)(?: is the)? (?:data |sql )?type (?:are|does|has|have|is|of)\b"
    r"|^\W*(?:are|can|is)\b.*\bnull(?:able)?\W*$",
    re.IGNORECASE,
)
"""Of what may be a column, where a table that is named has one that is called so."""
_HAVE = roots_of("have has contain")
_NAMES = re.compile(r"\w+")
_IDENTIFIER = re.compile(r"\b(?=\w*(?:[a-z][A-Z]|[A-Z]{2}[a-z]|\w_\w))[A-Za-z]\w*")
_SCRIPT = re.compile(r"\.(?:sql|ddl|pgsql|psql|tsql|plsql)$", re.IGNORECASE)
_MOST_SECTIONS, _MOST_STATEMENT, _MOST_PLACES = 1000, 400, 8


@dataclass(frozen=True, slots=True)
class _Statement:
    path: str
    lines: tuple[tuple[int, str], ...]  # with their numbers

    @property
    def text(self) -> str:
        return "\n".join(line for _, line in self.lines)

    def line_with(self, said: re.Pattern[str]) -> int:
        return next((number for number, line in self.lines if said.search(line)), self.lines[0][0])


def database_facts(index: LabelIndex, graph: Graph, question: str) -> Known:
    """What scripts say line by line of that which a question asks for, with the points that show it."""
    for plan in (_allowed, _keyless, _having_column, _of_columns, _granted, _declared):
        facts, heading = plan(index, graph, question)
        if facts:
            at = facts_at(facts[:MOST_LISTED], index)
            if at:
                return GraphFacts(tuple(at), len(facts), heading), at
    return GraphFacts(), {}


def tables_with_keys(graph: Graph, question: str) -> int:
    """How many tables scripts create, of a question for those without a primary key."""
    if not _WITHOUT_KEY.search(question):
        return 0
    paths = _paths_of_tables(graph)
    return sum(any(one.path in paths for one in graph.places(node)) for node in of_kind(graph, NodeType.TABLE))


def none_on_table(graph: Graph, question: str) -> str:
    """That no script creates what a question wants a list of on a table that it names, `a trigger on dbo.Orders`; '' of
    other questions, and of indexes of what code maps to the table, which code may create."""
    noun = next((one for one in _ON_TABLE if re.match(_ASKS_LIST.format(_OBJECTS[one][0]), question, re.I)), "")
    tables = _tables_named(graph, question) if noun else []
    scripts = _paths_of_tables(graph) if tables else set[str]()
    made = [node for node in tables if any(one.path in scripts for one in graph.places(node))]
    if not made or (noun == "index" and any(graph.edges_of(node, IN, Relation.MAPS_TO) for node in made)):
        return ""
    names = sorted({short_name(graph.keys[node]) for node in made})
    column = _NAMED_COLUMN.search(question) if noun == "index" else None
    of = f"the column {column['behind'] or column['before']} of " if column is not None else ""
    return f"no script creates {'an' if noun == 'index' else 'a'} {noun} on {of}{' or '.join(names)}"


def no_trigger(index: LabelIndex, graph: Graph, question: str) -> bool:
    """Whether a question wants a trigger of a database, and neither scripts nor code create one."""
    if not _TRIGGER_ASKED.match(question) or not any(graph.language(node) == "sql" for node in _of_sql(graph)):
        return False
    likely = points_with("TRIGGER", index, _MOST_SECTIONS)
    payloads = index.parts.shard().retrieve(sorted(likely), index.scope()).values()
    return not any(_MAKES_TRIGGER.search(code_of(one, index)) for one in payloads)


def _of_sql(graph: Graph) -> Iterator[int]:
    for kind in (NodeType.TABLE, NodeType.PROC, NodeType.FUNC, NodeType.VIEW):
        yield from of_kind(graph, kind)


def _keyless(index: LabelIndex, graph: Graph, question: str) -> tuple[list[GraphFact], str]:
    """The tables that no script gives a primary key."""
    if not _WITHOUT_KEY.search(question):
        return [], ""
    made, keyed = dict[str, GraphFact](), set[str]()
    for one in _statements(index, _paths_of_tables(graph)):
        text = one.text
        if (created := _TABLE.match(text)) and not created["name"].startswith("#"):
            name = _bare(created["name"])
            if _PRIMARY_KEY.search(_uncommented(text)) or _IS_PART.search(text):
                keyed.add(name)
            made.setdefault(name, _said(created["name"], one.path, one.lines[0][0]))
        elif added := _KEY_ADDED.match(text) or _ATTACHED.match(text):
            keyed.add(_bare(added["name"]))
    found = sorted((made[name] for name in made if name not in keyed), key=lambda one: (one.path, one.line))
    noun = "table" if len(found) == 1 else "tables"
    return found, f"**{len(found)} {noun} without a primary key:**"


def _allowed(index: LabelIndex, graph: Graph, question: str) -> tuple[list[GraphFact], str]:
    """The lines that say which values a column, of the table that is named where one is, or a type may have."""
    if not _VALUES.search(question):
        return [], ""
    names = {_bare(short_name(graph.keys[node])) for node in _tables_named(graph, question)}
    found = dict[GraphFact, None]()
    for one in chain(_statements(index, _paths_of_tables(graph)), _statements_with(index, "ENUM")):
        of_type = _TYPE.match(one.text)
        made = of_type or _TABLE.match(one.text) or _ALTERED.match(one.text)
        if made is None or (names and _bare(made["name"]) not in names):
            continue
        lists = [(of_type["name"], one.lines[0][0])] if of_type else _listing_values(one)
        found |= {_said(made["name"], one.path, line): None for name, line in lists if _says(question, _bare(name))}
    return _nearest([*found]), ""


def _listing_values(table: _Statement) -> Iterator[tuple[str, int]]:
    """(column, line) where a table says which values one may have."""
    for number, line in table.lines:
        if says := _LISTS_VALUES.search(line):
            yield says["name"] or says["checked"], number


def _having_column(index: LabelIndex, graph: Graph, question: str) -> tuple[list[GraphFact], str]:
    """The tables that have a column of a name."""
    asked = _HAVE_COLUMN.search(question)
    if asked is None:
        return [], ""
    wanted = (asked["after"] or asked["before"]).casefold()
    found, dropped = dict[str, GraphFact](), list[tuple[str, str, int]]()
    for one in _statements(index, _paths_of_tables(graph) | _paths_changing(graph, of_kind(graph, NodeType.TABLE))):
        table, columns = _declares(one)
        dropped += _drops_columns(one)
        if line := {name.casefold(): at for name, at in columns.items()}.get(wanted):
            found.setdefault(
                f"{one.path if _TABLE.match(one.text) else ''}{_bare(table)}", _said(table, one.path, line)
            )
    kept = [one for one in found.values() if not _is_dropped(one, f"{_bare(one.source)}.{wanted}", dropped)]
    return kept, list_heading("table", len(kept))


def _of_columns(index: LabelIndex, graph: Graph, question: str) -> tuple[list[GraphFact], str]:
    """The lines of a table that declare a column that is named, those of a sort, or its primary key."""
    of_key = _KEY.search(question) is not None
    is_of_sort = any(one.search(question) for one in (_TYPED, _REQUIRED, _OPTIONAL, *dict(_OF_SORTS)))
    is_of_columns = _WHICH_COLUMNS.search(question) or (is_of_sort and _COLUMN.search(question))
    is_maybe = not is_of_columns and _OF_TYPE.search(question) is not None and _IDENTIFIER.search(question) is None
    of_default = _OF_DEFAULT.search(question) is not None
    if not (of_key or is_of_columns or of_default or is_maybe):
        return [], ""
    if of_default:
        given = _with_default(index, graph, question)
        if given or not (of_key or is_of_columns):
            return given, ""
    tables = _tables_named(graph, question)
    names = {_bare(short_name(graph.keys[node])): short_name(graph.keys[node]) for node in tables}
    named = " ".join(filter(None, chain.from_iterable(one.groups() for one in _NAMED_COLUMN.finditer(question))))
    if (of_key or not named) and not tables:
        return [], ""
    made_in = {path for node in tables for path in _paths_of(graph, node)}
    if made_in and all(map(MIGRATION.search, made_in)):  # what later ones change is part of it
        made_in |= _paths_changing(graph, tables)
    paths = made_in if tables else _paths_of_tables(graph)
    found: list[GraphFact] = []
    dropped: list[tuple[str, str, int]] = []
    for one in _statements(index, paths):
        if of_key:
            keyed = _TABLE.match(one.text) or _KEY_ADDED.match(one.text)
            if keyed and _bare(keyed["name"]) in names and _PRIMARY_KEY.search(_uncommented(one.text)):
                line = one.line_with(_PRIMARY_KEY)
                found.append(_said(keyed["name"], one.path, line))
            continue
        called, columns = _declares(one)
        dropped += _drops_columns(one)
        if not columns or (names and _bare(called) not in names):
            continue
        text = _without_tables(question, names.values()) if tables else named
        meant = [name for name in columns if name.casefold() not in _OF_QUESTIONS and _says(text, name)]
        is_open = not (meant or is_maybe) and bool(tables)
        if is_open and is_of_sort:
            meant = [name for name, line in columns.items() if _is_of_sort(question, dict(one.lines)[line])]
        elif is_open:  # `ErrorNumber` and `ErrorMessage` record errors
            said = {root for root in roots_of(text) if not is_relation_or_manner(root)} - _OF_COLUMNS
            meant = [name for name in columns if said & roots_of(name)] if said - _HAVE else [*columns]
        found += [_said(f"{_unquoted(called)}.{name}", one.path, columns[name]) for name in meant]
    found = [one for one in found if not _is_dropped(one, ".".join(one.source.casefold().split(".")[-2:]), dropped)]
    if len({one.path for one in found}) > 1:
        found = _nearest(found)
    return found, "**Declared without a default:**" if of_default and found else ""


def _with_default(index: LabelIndex, graph: Graph, question: str) -> list[GraphFact]:
    """The lines that give a column of a table its default, of the columns that a question names, else, where it asks
    which columns have one, of all."""
    tables = _tables_named(graph, question, only_longest=False)
    rest = {_bare(name): _without_tables(question, [name]) for name in (short_name(graph.keys[one]) for one in tables)}
    called = frozenset(one.casefold() for one in _IDENTIFIER.findall(question)) if not rest else frozenset()
    if not (rest or called):
        return []
    said, wants_all = roots_of(question), _WHICH_COLUMNS.search(question) is not None
    paths = _paths_of_tables(graph) | {one.path for one in _statements_with(index, "DEFAULT")}
    found: dict[GraphFact, tuple[bool, int]] = {}
    for one in _statements(index, paths):
        made = _TABLE.match(one.text) or _ALTERED.match(one.text)
        text = rest.get(_bare(made["name"])) if made is not None else None
        if made is None or (text is None and not called):
            continue
        lines = dict(one.lines)
        given = {name: at for name, at in _columns(one).items() if _SAYS_DEFAULT.search(lines[at])}
        given |= {each["name"] or each["set"]: at for at, line in one.lines for each in _DEFAULTS.finditer(line)}
        for name, at in given.items():
            words = frozenset(name_roots(name))
            is_said = name.casefold() in called if text is None else _says(text, name)
            if is_said or (text is not None and (wants_all or (len(words) > 1 and words <= said))):
                fact = _said(f"{_unquoted(made['name'])}.{name}", one.path, at)
                found[fact] = (False, 0) if wants_all else (is_said, len(words))
    most = max(found.values(), default=(False, 0))
    return _nearest([one for one, count in found.items() if count == most])


def _granted(index: LabelIndex, graph: Graph, question: str) -> tuple[list[GraphFact], str]:
    """The grants to a role, or of an object, that is named, of the right that is asked for."""
    if not _GRANTED.search(question):
        return [], ""
    said = {word.casefold() for word in _NAMES.findall(question)}
    rights = [right for right, verbs in _PRIVILEGES.items() if re.search(rf"\b(?:{verbs})\b", question, re.IGNORECASE)]
    found: dict[GraphFact, int] = {}
    for one in _statements_with(index, "GRANT"):
        granted = _GRANT.match(one.text.strip())
        if granted is None:
            continue
        given = {word.upper() for word in _NAMES.findall(granted["what"])}
        if rights and not given & {*rights, *(right[:4] for right in rights), "ALL", "CONTROL"}:
            continue
        of = granted["object"].replace("[", "").replace("]", "").replace('"', "")
        named = {_NAMES.findall(of)[-1].casefold()} if _NAMES.findall(of) else set()
        whom = {word.casefold() for word in _NAMES.findall(granted["whom"])}
        if said & (named | whom):
            name = ", ".join(re.split(r"\s*,\s*", _unquoted(granted["whom"]).strip()))
            line = one.line_with(re.compile(r"\bON\b", re.IGNORECASE))
            found[_said(name, one.path, line)] = len(said & named) + len(said & whom)
    most = max(found.values(), default=0)
    best = sorted((one for one, count in found.items() if count == most), key=lambda one: (one.path, one.line))
    return best, list_heading("grant", len(best))


def _declared(index: LabelIndex, graph: Graph, question: str) -> tuple[list[GraphFact], str]:
    """The objects of a kind that scripts declare, those on a table where one is named."""
    asked = (noun for noun, (called, _) in _OBJECTS.items() if re.match(_ASKS_LIST.format(called), question, re.I))
    noun = next(asked, "")
    if not noun or (noun == "index" and re.search(r"\bunique\b", question, re.I)):  # code has these too
        return [], ""
    tables = _tables_named(graph, question) if noun in _ON_TABLE else []
    names = {_bare(short_name(graph.keys[node])) for node in tables}
    named = _NAMED_COLUMN.search(question) if noun == "index" else None
    of_column = (named["behind"] or named["before"]) if named is not None else ""
    declares = re.compile(rf"\s*{_OBJECTS[noun][1]}", re.IGNORECASE)
    on = re.compile(r"\bON\s+(?:ONLY\s+)?(?P<table>(?:[\[\"`]?\w+[\]\"`]?\s*\.\s*)*[\[\"`]?\w+[\]\"`]?)", re.IGNORECASE)
    found: dict[tuple[str, str], GraphFact] = {}
    for one in _statements_with(index, noun.rpartition(" ")[2]):
        made = declares.match(one.text)
        if made is None:
            continue
        over = on.search(one.text, made.end()) if noun in _ON_TABLE else None
        if names and (over is None or _bare(over["table"]) not in names):
            continue
        if of_column and not (over and _says(one.text[over.end() :], of_column)):
            continue
        key = _bare(made["name"]), over["table"].casefold() if over else ""
        fact = _said(made["name"], one.path, one.lines[0][0])
        is_migration = MIGRATION.search(one.path) is not None  # of what is made again the last counts
        if key not in found or (
            is_migration and in_order((one.path, fact.line)) > in_order((found[key].path, found[key].line))
        ):
            found[key] = fact
    dropped = _drops(index) if any(MIGRATION.search(one.path) for one in found.values()) else []
    facts = [one for one in found.values() if not _is_dropped(one, _bare(one.source), dropped)]
    return sorted(facts, key=lambda one: (one.path, one.line)), list_heading(noun, len(facts))


def _declares(one: _Statement) -> tuple[str, dict[str, int]]:
    """(the table that a statement creates, or a migration adds columns to; these, with their lines)."""
    if created := _TABLE.match(one.text):
        return created["name"], _columns(one)
    altered = _ALTERED.match(one.text) if MIGRATION.search(one.path) else None
    added = {column["name"]: at for at, line in one.lines for column in _ADDED.finditer(line)}
    return (altered["name"], added) if altered is not None else ("", {})


def _drops_columns(one: _Statement) -> Iterator[tuple[str, str, int]]:
    """(`table.column`, path, line) of what a migration drops."""
    altered = _ALTERED.match(one.text) if MIGRATION.search(one.path) else None
    if altered is None:
        return
    for at, line in one.lines:
        for column in _DROPPED.finditer(line):
            yield f"{_bare(altered['name'])}.{_bare(column['name'])}", one.path, at


def _drops(index: LabelIndex) -> list[tuple[str, str, int]]:
    """(name, path, line) of what migrations drop."""
    payloads = product_of(points_with("DROP", index, _MOST_SECTIONS), index).values()
    scripts = {one["Path"] for one in payloads if _SCRIPT.search(one["Path"]) and MIGRATION.search(one["Path"])}
    return [
        (_bare(dropped["name"]), path, at)
        for path, lines in lines_of(index, sorted(scripts)).items()
        for at, line in lines.items()
        if not line.lstrip().startswith("--")
        for dropped in _DROPPED.finditer(line)
    ]


def _is_dropped(made: GraphFact, name: str, dropped: Iterable[tuple[str, str, int]]) -> bool:
    """Whether a later migration drops what one makes; in its own file that is how to undo it."""
    return MIGRATION.search(made.path) is not None and any(
        called == name
        and path != made.path
        and not UNDOES.search(path)
        and in_order((path, at)) > in_order((made.path, made.line))
        for called, path, at in dropped
    )


def _paths_of_tables(graph: Graph) -> set[str]:
    return {
        place.path
        for node in of_kind(graph, NodeType.TABLE)
        for place in graph.places(node)
        if _SCRIPT.search(place.path) and non_product_code(place.path) is None
    }


def _paths_changing(graph: Graph, tables: Sequence[int]) -> set[str]:
    """The files that change some tables."""
    return {edge.path for edge in graph.edges_of(np.array(tables, np.int64), IN, Relation.SCHEMA_CHANGE)}


def _paths_of(graph: Graph, node: int) -> set[str]:
    """The files that create a table; of one that none does as a statement of its own those that write to it: a
    procedure may create it where it is not there."""
    own = {place.path for place in graph.places(node)}
    return own or {edge.path for edge in graph.edges_of(node, IN, Relation.WRITES_TO)}


def _statements_with(index: LabelIndex, word: str) -> Iterator[_Statement]:
    """The statements of the scripts that have a word, the likeliest."""
    payloads = product_of(points_with(word, index, _MOST_SECTIONS), index).values()
    yield from _statements(index, {one["Path"] for one in payloads if _SCRIPT.search(one["Path"])})


def _statements(index: LabelIndex, paths: Iterable[str]) -> Iterator[_Statement]:
    """The statements of some scripts that declare, change or grant something, in the order of paths and lines."""
    scripts = [path for path in paths if _SCRIPT.search(path) and non_product_code(path) is None]
    for path, lines in sorted(lines_of(index, scripts).items()):
        run: list[tuple[int, str]] = []
        is_within = False
        for number in sorted(lines):
            line, is_within = _outside_of_comments(lines[number].lstrip("\ufeff"), is_within)
            if _BEGINS.match(line):
                if run:
                    yield _Statement(path, tuple(run))
                run = []
                if not re.match(r"\s*(?:CREATE|ALTER|GRANT)\b", line, re.IGNORECASE):
                    continue
            elif not run:
                continue
            if not line.lstrip().startswith("--"):
                run.append((number, line))
            if line.rstrip().endswith(";") or len(run) >= _MOST_STATEMENT:
                yield _Statement(path, tuple(run))
                run = []
        if run:
            yield _Statement(path, tuple(run))


def _outside_of_comments(line: str, is_within: bool) -> tuple[str, bool]:
    """A line without block comments, and whether one is open behind it; `is_within` one at its beginning."""
    if not is_within and "/*" not in line:
        return line, False
    if is_within and "*/" not in line:
        return "", True
    line = line.partition("*/")[2] if is_within else line
    line = re.sub(r"/\*.*?\*/", " ", line)
    return line.partition("/*")[0], "/*" in line


def _tables_named(graph: Graph, question: str, *, only_longest: bool = True) -> list[int]:
    """The tables that a question names, of several the one with the longest name alone, and of its schema if it says
    one."""
    text = question.replace("[", "").replace("]", "").replace('"', "")
    found: list[tuple[int, int, bool, int]] = []
    for node in (*of_kind(graph, NodeType.TABLE), *of_kind(graph, NodeType.TABLE_OR_VIEW)):
        key = short_name(graph.keys[node])
        name = key.rpartition(".")[2]
        if name.casefold() in _OF_QUESTIONS or not name:
            continue
        schema = key.rpartition(".")[0]
        if said := re.search(rf"(?<![\w@])(?:(?P<schema>\w+)\.)?{_written(name)}(?!\w)", text, re.IGNORECASE):
            if said["schema"] and schema and said["schema"].casefold() != schema.casefold():
                continue
            found.append((said.end() - said.start(), said.start(), name.casefold() in text.casefold(), node))
    if any(one[2] and _MARKED.match(graph.names[one[-1]]) for one in found):
        found = [one for one in found if one[2]]  # `Kind` in "the column Kind of tblParcel" is no table tblKind
    if not only_longest:
        return [one[-1] for one in found]
    longest = max((one[0] for one in found), default=0)
    exact = any(one[2] for one in found if one[0] == longest)
    return [node for length, _, is_exact, node in found if length == longest and is_exact is exact]


def _written(name: str) -> str:
    """A name as a question may write it: its words apart, in the singular or plural, without the mark of tables
    (`tblX`)."""
    words = identifier_words(name)
    *before, last = map(re.escape, words)
    ending = f"{last}(?:e?s)?"
    if last[-1] in "yY":
        ending = rf"(?:{last}s?|{last[:-1]}ies)"
    elif last[-3:].lower() == "ies":
        ending = rf"(?:{last}|{last[:-3]}y)"
    elif last[-1] in "sS" and last[-2:].lower() not in ("ss", "us", "is"):
        ending = f"{last}?"
    marked = bool(before) and _MARKED.match(name) is not None
    said = r"[\s_]?".join([*before[marked:], ending])
    return rf"(?:tbl[\s_]?)?{said}" if marked else said


def _says(text: str, name: str) -> bool:
    return (
        re.search(rf"(?<![\w@]){re.escape(name)}(?!\w)|(?<![\w@]){_written(name)}(?!\w)", text, re.IGNORECASE)
        is not None
    )


def _without_tables(question: str, names: Iterable[str]) -> str:
    for name in names:
        question = re.sub(
            rf"(?<!\w)(?:\w+\.)?{_written(name.rpartition('.')[2])}(?!\w)\.?", " ", question, flags=re.IGNORECASE
        )
    return question


def _is_of_sort(question: str, line: str) -> bool:
    is_required = re.search(r"\bNOT\s+NULL\b|\bPRIMARY\s+KEY\b", line, re.IGNORECASE) is not None
    if _REQUIRED.search(question):
        return is_required
    if _OPTIONAL.search(question):
        return not is_required
    return any(asked.search(question) and written.search(line) for asked, written in _OF_SORTS)


def _columns(table: _Statement) -> dict[str, int]:
    """The columns that a statement declares, with their lines."""
    text = table.text
    return {
        column.name: table.lines[text.count("\n", 0, column.start)][0]
        for created in read_script(text).objects[:1]
        for column in column_definitions(text, created)
    }


def _nearest(facts: Sequence[GraphFact]) -> list[GraphFact]:
    """The first of each name, and no more than some places of it: scripts for several products say the same."""
    seen: dict[str, int] = {}
    kept = []
    for one in facts:
        seen[one.source.casefold()] = count = seen.get(one.source.casefold(), 0) + 1
        if count <= _MOST_PLACES:
            kept.append(one)
    return kept


def _uncommented(text: str) -> str:
    return re.sub(r"--.*", "", text)


def _said(name: str, path: str, line: int) -> GraphFact:
    return GraphFact(_unquoted(name), "", "", path, line, certain=True, is_comment=True)


def _unquoted(name: str) -> str:
    return re.sub(r"[\[\]\"`]|\s(?=\.)|(?<=\.)\s", "", name)


def _bare(name: str) -> str:
    """The last part of a name, in small letters."""
    return _unquoted(name).rpartition(".")[2].casefold()
