"""Templates of dbt (docs.getdbt.com): a model is called as its file, and `{{ ref('orders') }}` names another one.

A tag is what stands in `{{ }}`, `{% %}` or `{# #}`; all else is SQL.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_assets.languages.detection import file_stem
from rag_assets.languages.sql.lexer import DEFAULT_SCHEMA, ObjectName
from rag_assets.languages.sql.reference_reader import ObjectReference, SqlUse
from rag_assets.languages.sql.statements import Header, ObjectStatement

_OF_DBT = re.compile(r"\{\{-?\s*(?:ref|source|config)\s*\(|\{%-?\s*(?:macro|snapshot)\s")
_TAG = re.compile(r"\{[{%#]")
_ENDS = {"{{": "}}", "{%": "%}", "{#": "#}"}
_BLOCK = re.compile(r"\{%-?\s*(?P<end>end)?(?P<kind>macro|snapshot|test|materialization)\b\s*(?P<name>\w*)")
_KINDS = {"macro": "function", "snapshot": "view"}
_NO_MODEL = re.compile(r"(?:^|/)(?:analys[ei]s|(?:data-)?tests|snapshots|macros)/", re.IGNORECASE)
"""Folders of templates that make nothing in the database by themselves."""
_TEXTS = r"\s*['\"](?P<first>[\w$ .-]+)['\"]\s*(?:,\s*['\"](?P<second>[\w$ .-]+)['\"]\s*)?[,)]"
_TABLE = re.compile(rf"(?<![\w.])(?P<kind>ref|source)\s*\({_TEXTS}")
_CALLED = re.compile(r"(?<![\w.'\"])([^\W\d]\w*)\s*\(")
_NO_LINE_END = re.compile(r"[^\r\n]")


def is_of_dbt(text: str) -> bool:
    """Whether a file of SQL is a template of dbt, which templates of other tools do not look like."""
    return _OF_DBT.search(text) is not None


def _tags(text: str) -> Iterator[tuple[int, int]]:
    """Where each tag begins and ends. Linear: what never ends is looked for once."""
    at, unclosed = 0, set[str]()
    while (found := _TAG.search(text, at)) is not None:
        begin = found.group()
        end = -1 if begin in unclosed else text.find(_ENDS[begin], found.end())
        if end < 0:
            unclosed.add(begin)
            at = found.end()
            continue
        at = end + 2
        yield found.start(), at


def without_tags(text: str) -> str:
    """The SQL of a template, as long as before and on the same lines."""
    made, last = list[str](), 0
    for start, end in _tags(text):
        made += (text[last:start], _NO_LINE_END.sub(" ", text[start:end]))
        last = end
    return "".join([*made, text[last:]])


def objects_of_template(text: str, path: str) -> list[ObjectStatement]:
    """The macros and snapshots of a template, else the model that is called as the file; nothing of a test, which
    makes nothing in the database."""
    made, opened = list[ObjectStatement](), None
    for start, end in _tags(text):
        block = _BLOCK.match(text, start, end)
        if block is None:
            continue
        if block["end"] is None and block["name"] and block["kind"] in _KINDS:
            opened = block, end
        elif block["end"] is not None and opened is not None and opened[0]["kind"] == block["kind"]:
            begun, head_end = opened
            header = Header(_KINDS[block["kind"]], DEFAULT_SCHEMA, begun["name"], False, begun.end("name"))
            head = begun.start("kind")
            declared = text[head:head_end].rstrip("%}- \t\r\n")
            made.append(ObjectStatement(header, begun.start(), head, end, head + len(declared)))
            opened = None
    if not made and _NO_MODEL.search(path) is None:
        made.append(ObjectStatement(Header("view", DEFAULT_SCHEMA, file_stem(path), False, 0), 0, 0, len(text), 0))
    return made


def references_of_template(text: str) -> Iterator[ObjectReference]:
    """The models and sources that the tags of a template name, and what they call; comments of it too, as dbt wants
    some of them there (`-- depends_on: {{ ref('orders') }}`)."""
    for start, end in _tags(text):
        if text.startswith("{#", start):
            continue
        for found in _TABLE.finditer(text, start, end):
            of_source = found["kind"] == "source"
            parts = (found["first"], found["second"]) if found["second"] else (found["first"],)
            if of_source == (len(parts) == 2) or not of_source:
                name = parts if of_source else parts[-1:]
                yield ObjectReference(SqlUse.READS, ObjectName(name, 0), found.start("first"))
        if _BLOCK.match(text, start, end) is None:
            for called in _CALLED.finditer(text, start, end):
                yield ObjectReference(SqlUse.EXECUTES, ObjectName((called[1],), 0), called.start(1))
