"""The binding of one C# file: its edges, and the types of receivers and arguments. Each file is bound once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from rag_assets.contracts.graph import GraphEdge, file_key
from rag_assets.languages.csharp.binder import (
    constructions,
    expressions,
    invocations,
    lambdas,
    literals,
    members,
    operators,
    statements,
)
from rag_assets.languages.csharp.binder.binder import (
    Binder,
    Counts,
    Edges,
    EnclosingMembers,
    Handler,
    left_out,
    other_view,
)
from rag_assets.languages.csharp.binder.declarations import LANGUAGE, placed_types
from rag_assets.languages.csharp.binder.label_symbols import Names
from rag_assets.languages.csharp.binder.type_syntax import TypeRef
from rag_assets.languages.csharp.syntax.declaration_heads import NodeText
from rag_assets.languages.treesitter.parsing import UnparseableError, parser

if TYPE_CHECKING:
    from rag_assets.languages.csharp.binder.label_symbols import CSharpSymbols
    from rag_assets.languages.csharp.syntax.error_recovery import SourceView
    from rag_assets.languages.parsed_file import ParsedFile


@dataclass(frozen=True, slots=True)
class FileBinding:
    """What the code of a file uses. `receivers` are the types of values before dots by the character offset where they
    end, `arguments` those of first arguments by the offset of the bracket before them."""

    edges: tuple[GraphEdge, ...] = ()
    receivers: Mapping[int, TypeRef] = field(default_factory=dict)
    arguments: Mapping[int, TypeRef] = field(default_factory=dict)


def binding_of(file: ParsedFile, symbols: CSharpSymbols, counts: Counts | None = None) -> FileBinding:
    """The binding of a file, made once; empty for one that the parser refuses. `counts` asks for a new one, and gets
    what became of the call sites."""
    known = file.bindings.get(symbols)
    if isinstance(known, FileBinding) and counts is None:
        return known
    made = file.bindings[symbols] = _bound(file, symbols, counts)
    return made


def _bound(file: ParsedFile, symbols: CSharpSymbols, counts: Counts | None) -> FileBinding:
    try:
        reader = file.csharp
    except UnparseableError:
        return FileBinding()
    names = Names(symbols, file.path)
    owners = EnclosingMembers(list(placed_types(file.path, file.segments)))
    view = file.csharp_parsed.view
    walk = _walked(file, reader, view, names, owners, counts)
    edges = [*walk.edges.of(file.path, reader)]
    receivers = {reader.char(at): found for at, found in walk.receivers.items()}
    arguments = {reader.char(at): found for at, found in walk.arguments.items()}
    ranges = left_out(view)
    other = other_view(file.text, view) if ranges else None
    if other is not None:
        reader = NodeText(other, len(file.text))
        walk = _walked(file, reader, other, names, owners, None)
        edges += walk.edges.of(file.path, reader, ranges)
        receivers = {reader.char(at): found for at, found in walk.receivers.items()} | receivers
        arguments = {reader.char(at): found for at, found in walk.arguments.items()} | arguments
    return FileBinding(tuple(edges), receivers, arguments)


def _walked(
    file: ParsedFile, reader: NodeText, view: SourceView, names: Names, owners: EnclosingMembers, counts: Counts | None
) -> Binder:
    walk = Binder(reader, names, Edges(), _handlers(), file_key(file.path), owners)
    if counts is not None:
        walk.counts = counts
    walk.ev(view.tree.root_node)
    return walk


_ERROR_KIND = 0xFFFF
"""The number of ERROR nodes in tree-sitter: a table that reaches up to it needs no test for each node."""


@lru_cache(maxsize=1)
def _handlers() -> list[Handler]:
    """The handler of each kind of node, by its number in the grammar; errors have the highest number of all."""
    language = parser(LANGUAGE).language
    if language is None:
        raise RuntimeError("the parser for C# has no language")
    by_name: dict[str, Handler] = {}
    for module in (expressions, operators, invocations, constructions, lambdas, statements, literals, members):
        by_name.update(module.HANDLERS)
    kinds = (language.node_kind_for_id(number) or "" for number in range(language.node_kind_count))
    found = [by_name.get(kind, literals.everything) for kind in kinds]
    return found + [literals.everything] * (_ERROR_KIND + 1 - len(found))
