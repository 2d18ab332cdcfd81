"""Types of languages without a resolver that an object-relational mapper keeps in tables, where attributes say so: JPA
and Room (`@Entity`), TypeORM and MikroORM (`@Entity('users')`), Doctrine (`#[ORM\\Entity]`)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from rag_assets.contracts.graph import Confidence, GraphEdge, GraphNode, NodeType, Relation, symbol_key
from rag_assets.contracts.segment import MemberKind, leaves_of
from rag_assets.graph.extract.ef_model import table_node
from rag_assets.identifiers import identifier_words

if TYPE_CHECKING:
    from rag_assets.languages.label_declarations import LabelDeclarations
    from rag_assets.languages.parsed_file import ParsedFile

_ENTITY = re.compile(r"(?:\w+[.\\])*Entity\b(?!\.)")
_TABLE = re.compile(r"(?:\w+[.\\])*(?:Entity|Table|CollectionTable)\b(?!\.)\s*(?:\((?P<said>.*)\))?", re.DOTALL)
_QUOTED = r"[\"'`]+(?P<{0}>[\w.$ -]{{1,128}})[\"'`]+"
_NAMED = re.compile(rf"\b(?:tableName|name)\s*[=:]\s*{_QUOTED.format('name')}|^\s*{_QUOTED.format('first')}")
_PARTS = re.compile(r"\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+'|`[^`]*+`|[^\"'`()\[\]{}]++|.", re.DOTALL)
"""Of what an attribute is given: strings, brackets, and what is between them."""
_SCHEMA = re.compile(rf"\bschema\s*[=:]\s*{_QUOTED.format('schema')}")


def mapped_types(file: ParsedFile, symbols: LabelDeclarations) -> Iterable[GraphNode | GraphEdge]:
    """ENTITY nodes; entity → type, and → the table that its attributes name. What none names is the table that a script
    declares by the name of the type, else one that is called as the type: the default of JPA (11.1.49) and Room."""
    for segment in file.segments:
        declared = [(segment.symbol, segment.name, segment.attributes, segment.span, segment.signature)]
        for leaf in leaves_of(segment.members):
            one = leaf.member
            if one.kind is MemberKind.TYPE:
                declared.append((one.symbol, one.name, one.attributes, one.span, one.signature))
        for symbol, name, attributes, span, signature in declared:
            if any(map(_ENTITY.match, attributes)):
                key, line = symbol_key(file.language, symbol, NodeType.ENTITY), span.line_start
                yield GraphNode(key, NodeType.ENTITY, name, file.path, line, span.line_end, file.language, signature)
                of_type, of_table = symbol_key(file.language, symbol, NodeType.TYPE), _table(name, attributes, symbols)
                for target, sure in ((of_type, Confidence.RESOLVED), of_table):
                    yield GraphEdge(key, Relation.MAPS_TO, target, sure, file.path, line)


def _table(type_name: str, attributes: Sequence[str], symbols: LabelDeclarations) -> tuple[str, Confidence]:
    """The key of the table of a type, and how sure it is."""
    for name in _names(attributes):
        return table_node(name, symbols), Confidence.RESOLVED
    for name in (type_name, "_".join(identifier_words(type_name))):
        if symbols.sql.named(name, ""):
            return table_node(name, symbols), Confidence.PROBABLE
    return table_node(type_name, symbols), Confidence.PROBABLE


def _names(attributes: Sequence[str]) -> Iterator[str]:
    """What attributes say the table is called, `@Table` before `@Entity`."""
    said = sorted(filter(None, map(_TABLE.match, attributes)), key=lambda one: "Table" not in one[0].partition("(")[0])
    for one in said:
        if (found := _NAMED.search(_outermost(one["said"] or ""))) and (name := found["name"] or found["first"]):
            schema = _SCHEMA.search(one["said"])
            yield f"{schema['schema']}.{name}" if schema else name


def _outermost(said: str) -> str:
    """What an attribute is given, or the object that it is given, without what is in brackets: indexes have names."""
    kept, depth = list[str](), -1 if said.lstrip().startswith("{") else 0
    for part in _PARTS.findall(said):
        depth += part in _OPENING
        if depth <= 0:
            kept.append(part.replace('\\"', ""))
        depth -= part in _CLOSING
    return "".join(kept)


_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")
