"""One view of a file to its segments: namespaces, using directives, types, top-level statements as `Program` (R14)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from rag_assets.contracts.segment import Member, MemberKind, ParseHealth, Segment, type_segment
from rag_assets.languages.csharp.syntax.declaration_heads import MEMBERS, TYPES, Item, NodeText, items, read_attributes
from rag_assets.languages.csharp.syntax.members import MAX_NESTING, read_member, read_type
from rag_assets.languages.sliding_window import first_line

if TYPE_CHECKING:
    from tree_sitter import Node

    from rag_assets.languages.csharp.syntax.error_recovery import SourceView


PROGRAM = "Program"  # the class that the compiler makes of top-level statements
MAX_RUN_LINES = 60  # a longer run of statements is cut between two of them: about a screen, as windows of text


def statements_of(item: Item) -> Item:
    """`item` with the statement that a `global_statement` wraps in its place."""
    if item.kind == "global_statement":
        statement = next((child for child in item.node.children if child.is_named and child.type != "comment"), None)
        if statement is not None:
            item.node, item.kind = statement, statement.type
    return item


def program_members(reader: NodeText, statements: list[Item]) -> tuple[Member, ...]:
    """Local functions one by one, what stands between them as runs of statements."""
    found: list[Member] = []
    run: list[Item] = []
    for item in statements:
        if item.kind == "local_function_statement":
            found += _run(reader, run)
            run = []
            found += read_member(reader, item)
        else:
            if run and reader.span(run[0].start, item.end).line_end - reader.line_of(run[0].start) >= MAX_RUN_LINES:
                found += _run(reader, run)
                run = []
            run.append(item)
    found += _run(reader, run)
    return tuple(found)


def says_something(statements: list[Item]) -> bool:
    """Whether there is more than stray `;`."""
    return any(item.kind != "empty_statement" for item in statements)


def _run(reader: NodeText, run: list[Item]) -> list[Member]:
    if not says_something(run):
        return []
    span = reader.span(run[0].start, run[-1].end)
    text = first_line(reader.text[reader.char(run[0].node.start_byte) : run[-1].end].strip())
    return [Member("statements", MemberKind.STATEMENTS, text, span, doc=run[0].doc())]


MAX_USINGS = 300
"""Using directives a segment carries; real files stay below 200. Bounds what a hostile file can multiply."""

_USINGS = frozenset({"using_directive", "extern_alias_directive"})


@dataclass(slots=True)
class FileDeclarations:
    """What one view declares.

    `remains`: character ranges of file-level text that no segment holds by design (using directives, assembly
    attributes, namespace headers). `strays`: members outside of any type, as error recovery leaves them.
    `text_left`: something was passed over (strays, statements among errors, namespaces nested too deep).
    """

    segments: list[Segment] = field(default_factory=list)
    usings: list[str] = field(default_factory=list)
    attributes: list[str] = field(default_factory=list)
    remains: list[tuple[int, int]] = field(default_factory=list)
    strays: list[Member] = field(default_factory=list)
    text_left: bool = False


def read_declarations(view: SourceView, length: int, health: ParseHealth) -> FileDeclarations:
    """Segments (in text order, not numbered yet) and file-level facts of `view`. `length`: of the original text."""
    walk = _Walk(NodeText(view, length), health)
    walk.scope(view.tree.root_node, "", (), 0)
    return walk.found


class _Walk:
    """Reads one scope (file or namespace block) after the other."""

    def __init__(self, reader: NodeText, health: ParseHealth) -> None:
        self._reader = reader
        self._health = health
        self.found = FileDeclarations()

    def scope(self, node: Node, namespace: str, outer_usings: tuple[str, ...], depth: int) -> None:
        """Reads the declarations directly in `node`. Recursion is bounded by MAX_NESTING namespace blocks."""
        inside = items(self._reader, node)
        usings = self._usings(inside, outer_usings)
        statements: list[Item] = []
        has_file_namespace = False
        for item in inside:
            kind = item.kind
            if kind == "global_statement" or item.is_statement:
                if depth == 0 and self._is_program(item):
                    statements.append(statements_of(item))
                else:
                    self.found.text_left = True
                continue
            if statements:
                self._program(statements, usings)
                statements = []
            if kind in TYPES:
                self._type(item, _joined(namespace, item.lost_namespace), usings)
            elif kind in MEMBERS:
                self.found.strays += read_member(self._reader, item)
                self.found.text_left = True
            elif kind == "namespace_declaration":
                self._namespace(item, namespace, usings, depth)
            else:
                if not item.node.has_error:  # else something else is in it
                    self.found.remains.append((item.start, item.end))
                if kind == "file_scoped_namespace_declaration" and not has_file_namespace:
                    namespace = _joined(namespace, self._name_of(item.node))
                    has_file_namespace = True  # a second one is another `#if` branch
                elif kind == "global_attribute":
                    self.found.attributes += read_attributes(self._reader, item.node)
        if statements:
            self._program(statements, usings)

    def _usings(self, inside: list[Item], outer: tuple[str, ...]) -> tuple[str, ...]:
        """What a scope uses: `System`, `static System.Math`, `Json = A.B`, `global System`, `extern alias A`."""
        own: list[str] = []
        for item in inside:
            if item.kind in _USINGS:
                words = self._reader.one_line(item.node).removesuffix(";").strip()
                is_global = words.startswith("global ")
                words = words.removeprefix("global ").removeprefix("using ")
                own.append(f"global {words}" if is_global else words)
        self.found.usings += own
        return (*outer, *own)[:MAX_USINGS] if own else outer

    def _is_program(self, item: Item) -> bool:
        """Whether a statement is one of a program. After a type in a broken file it is a member that lost its type."""
        if self._health is not ParseHealth.PARTIAL:
            return True
        return not item.in_error and all(segment.kind == "program" for segment in self.found.segments)

    def _type(self, item: Item, namespace: str, usings: tuple[str, ...]) -> None:
        declared = read_type(self._reader, item, namespace)
        if not declared.name:  # the parser made the name up
            self.found.text_left = True
            return
        segment = type_segment(declared, declared.symbol, namespace, "csharp")
        ordinal = len(self.found.segments)
        self.found.segments.append(replace(segment, ordinal=ordinal, usings=usings, health=self._health))

    def _program(self, statements: list[Item], usings: tuple[str, ...]) -> None:
        if not says_something(statements):
            return
        first, last = statements[0], statements[-1]
        self.found.segments.append(
            Segment(
                name=PROGRAM,
                symbol=PROGRAM,
                kind="program",
                span=self._reader.span(first.start, last.end),
                language="csharp",
                ordinal=len(self.found.segments),
                doc=first.doc(),
                members=program_members(self._reader, statements),
                usings=usings,
                health=self._health,
            )
        )

    def _namespace(self, item: Item, namespace: str, usings: tuple[str, ...], depth: int) -> None:
        body = item.node.child_by_field_name("body")
        if body is None or depth >= MAX_NESTING:
            self.found.text_left = True
            return
        name = item.node.child_by_field_name("name")
        end = item.node.start_byte if name is None else name.end_byte  # text between name and body is an error
        self.found.remains.append((item.start, self._reader.char(end)))
        self.scope(body, _joined(namespace, self._name_of(item.node)), usings, depth + 1)

    def _name_of(self, node: Node) -> str:
        name = node.child_by_field_name("name")
        return self._reader.one_line(name).replace(" ", "") if name is not None else ""


def _joined(scope: str, name: str) -> str:
    return f"{scope}.{name}" if scope and name else scope or name
