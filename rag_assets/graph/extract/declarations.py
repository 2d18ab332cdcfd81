"""Declarations of the languages that have no resolver here: nodes, so that what search finds leads into the graph."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rag_assets.contracts.graph import GraphEdge, GraphNode, NodeType, Relation, file_key, key_kind
from rag_assets.languages.csharp.declaration_ranges import LANGUAGE as CSHARP
from rag_assets.languages.detection import SourceType, source_type
from rag_assets.languages.members import leaves_of
from rag_assets.languages.node_keys import declaration_key, member_keys

if TYPE_CHECKING:
    from rag_assets.languages.label_declarations import LabelDeclarations
    from rag_assets.languages.parsed_file import ParsedFile


def declarations(file: ParsedFile, symbols: LabelDeclarations) -> Iterable[GraphNode | GraphEdge]:
    """TYPE, METHOD and PROPERTY nodes with the keys that points carry (D18), each contained in the one around it."""
    if file.language == CSHARP or source_type(file.language) is not SourceType.CODE:
        return
    for segment in file.segments:
        own = declaration_key(file.language, segment.symbol, segment.kind, file.path)
        around = file_key(file.path)
        if own != around:
            span = segment.span
            yield GraphNode(
                own, NodeType.TYPE, segment.name, file.path, span.line_start, span.line_end, file.language,
                segment.signature,
            )  # fmt: skip
            yield GraphEdge(around, Relation.CONTAINS, own, path=file.path, line=span.line_start)
        holders = {"": own}
        for leaf in leaves_of(segment.members):
            member, span = leaf.member, leaf.member.span
            owner = f"{segment.symbol}.{leaf.owner}" if leaf.owner else segment.symbol
            for key in member_keys(file.language, owner, member):
                yield GraphNode(
                    key, key_kind(key), member.name, file.path, span.line_start, span.line_end, file.language,
                    member.signature,
                )  # fmt: skip
                holder = holders.get(leaf.owner, own)
                yield GraphEdge(holder, Relation.CONTAINS, key, path=file.path, line=span.line_start)
                holders[f"{leaf.owner}.{member.name}" if leaf.owner else member.name] = key
