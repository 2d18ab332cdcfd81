"""Top-level statements as `Program` segments (R14)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rag_assets.contracts.segment import Member, MemberKind
from rag_assets.languages.csharp.syntax.child_nodes import Item
from rag_assets.languages.csharp.syntax.members import read_member
from rag_assets.languages.sliding_window import first_line

if TYPE_CHECKING:
    from rag_assets.languages.csharp.syntax.node_text import NodeText

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
