"""Which declarations others may use, and whether a comment says what they are."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag_assets.answer.artifact.graph_columns import GraphColumns
from rag_assets.answer.structure.traits import has_access

_MARK = re.compile(r"\s*(?:\[[^\]]*\]|@\w[\w.]*(?:\(.*\))?|#!?\[.*\]|#[ \t]*(?:if|else|endif|region)\b.*)\s*$")
"""An attribute, an annotation, a decorator or a condition of a compiler that has its line."""
_COMMENT = re.compile(
    r"\s*+(?:///?|/\*|\*|#(?!\[|include|define|if|end|pragma|region)|--|;;|%%?|'''|<!--|\"\"\")|.*\*/\s*$"
)
_DOCSTRING = re.compile(r"\s*(?:[rRuU]?(?:\"\"\"|'''|\"|'))")
_WITH_DOCSTRINGS = frozenset({"python"})
_HAS_NO_ACCESS = frozenset({"bash", "shell", "powershell", "batch", "sql", "tsql", "plpgsql", "hcl", "bicep", "css"})
_FOUND_BY_BASE = re.compile(r"\boverride\b")
_ENDS_HEAD = re.compile(r":\s*(?:#.*)?$")


def is_public(columns: GraphColumns, node: int) -> bool:
    """Whether others may use a declaration: it is public, and so is the type that has it. What overrides another has
    the comment of that."""
    graph, owner = columns.graph, int(columns.type_of[node])
    if graph.language(node) in _HAS_NO_ACCESS:
        return False
    if _FOUND_BY_BASE.search(graph.signature(node)) or not has_access(columns, node, "public"):
        return False
    is_constructor = owner not in (-1, node) and graph.names[node] in (graph.names[owner], "__init__", "constructor")
    return not is_constructor and (owner in (-1, node) or is_public(columns, owner))


def is_documented(columns: GraphColumns, node: int) -> bool:
    """Whether one of the declarations of a node begins with a comment, stands right below one or has a docstring."""
    has_docstrings = columns.graph.language(node) in _WITH_DOCSTRINGS
    for place in columns.places(node):
        lines, at = columns.lines(place.path), place.line_start - 1
        if _COMMENT.match(lines[at]) or (has_docstrings and _has_docstring(lines[at : place.line_end])):
            return True
        while at > 0 and _MARK.match(lines[at - 1]):
            at -= 1
        if at > 0 and _COMMENT.match(lines[at - 1]):
            return True
    return False


def _has_docstring(lines: Sequence[str]) -> bool:
    """Whether a text is what follows the line that ends the head of a declaration."""
    head = next((at for at, line in enumerate(lines) if _ENDS_HEAD.search(line)), len(lines))
    after = next((line for line in lines[head + 1 :] if line.strip()), "")
    return _DOCSTRING.match(after) is not None
