"""The binding of one C# file: its edges, and the accesses and calls in it. Each file is bound once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING

from rag_assets.contracts.graph import GraphEdge, file_key
from rag_assets.languages.csharp.binder import (
    constructions,
    expressions,
    invocations,
    lambdas,
    literals,
    members,
    statements,
)
from rag_assets.languages.csharp.binder.binder import (
    Access,
    Binder,
    Counts,
    Edges,
    EnclosingMembers,
    Handler,
    Ranges,
    is_within,
    left_out,
    other_view,
)
from rag_assets.languages.csharp.binder.declarations import LANGUAGE, placed_types
from rag_assets.languages.csharp.binder.label_symbols import CSharpSymbols, Names
from rag_assets.languages.csharp.binder.type_syntax import TypeRef
from rag_assets.languages.csharp.syntax.declaration_heads import NodeText
from rag_assets.languages.treesitter.parsing import UnparseableError, parser

if TYPE_CHECKING:
    from tree_sitter import Node

    from rag_assets.languages.csharp.syntax.error_recovery import SourceView
    from rag_assets.languages.parsed_file import ParsedFile


@dataclass(frozen=True)
class BoundCode:
    """The code of a file in one choice of its `#if` branches: what the binder met in it.

    `accesses` are in the order of their dots. `calls` are (function, name) of the calls without a receiver;
    `first_arguments` the types of the first arguments of calls, by the offset of their bracket. `within`: only these
    ranges count, all where it is None. Offsets are in characters.
    """

    reader: NodeText
    accesses: tuple[Access, ...]
    calls: tuple[tuple[Node, Node], ...]
    first_arguments: Mapping[int, TypeRef]
    within: Ranges | None = None

    def holds(self, char: int) -> bool:
        return self.within is None or is_within(self.within, char)

    @cached_property
    def links(self) -> Mapping[int, list[Node]]:
        """The names behind dots, by the byte where their expression begins: chains begin where their first receiver
        does."""
        found: dict[int, list[Node]] = {}
        for receiver, name, _ in self.accesses:
            found.setdefault(receiver.start_byte, []).append(name)
        return found


@dataclass(frozen=True, slots=True)
class FileBinding:
    """What the code of a file uses, and the code that says so."""

    edges: tuple[GraphEdge, ...] = ()
    codes: tuple[BoundCode, ...] = ()


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
    edges, code = _walked(file, view, Binder(reader, names, Edges(), _handlers(), file_key(file.path), owners), counts)
    ranges = left_out(view)
    other = other_view(file.text, view) if ranges else None
    if other is None:
        return FileBinding(edges, (code,))
    reader = NodeText(other, len(file.text))
    binder = Binder(reader, names, Edges(), _handlers(), file_key(file.path), owners)
    more, other_code = _walked(file, other, binder, None, ranges)
    return FileBinding((*edges, *more), (code, other_code))


def _walked(
    file: ParsedFile, view: SourceView, walk: Binder, counts: Counts | None, within: Ranges | None = None
) -> tuple[tuple[GraphEdge, ...], BoundCode]:
    if counts is not None:
        walk.counts = counts
    walk.ev(view.tree.root_node)
    edges = tuple(walk.edges.of(file.path, walk.reader, within))
    accesses = tuple(access for _, access in sorted(walk.accesses.items(), key=itemgetter(0)))
    first_arguments = {walk.reader.char(at): found for at, found in walk.arguments.items()}
    return edges, BoundCode(walk.reader, accesses, tuple(walk.calls), first_arguments, within)


_ERROR_KIND = 0xFFFF
"""The number of ERROR nodes in tree-sitter: a table that reaches up to it needs no test for each node."""


@lru_cache(maxsize=1)
def _handlers() -> list[Handler]:
    """The handler of each kind of node, by its number in the grammar; errors have the highest number of all."""
    language = parser(LANGUAGE).language
    if language is None:
        raise RuntimeError("the parser for C# has no language")
    by_name: dict[str, Handler] = {}
    for module in (expressions, invocations, constructions, lambdas, statements, literals, members):
        by_name.update(module.HANDLERS)
    kinds = (language.node_kind_for_id(number) or "" for number in range(language.node_kind_count))
    found = [by_name.get(kind, literals.everything) for kind in kinds]
    return found + [literals.everything] * (_ERROR_KIND + 1 - len(found))
