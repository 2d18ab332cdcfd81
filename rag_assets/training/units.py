"""Declarations of a source file: the code of each, what its documentation says, and how an index outlines it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from rag_assets.contracts.identity import GENERAL_DOMAIN
from rag_assets.languages.treesitter.parsing import SourceText, UnparseableError, parse

LANGUAGES = {
    ".cs": "csharp",
    ".go": "go",
    ".java": "java",
    ".js": "javascript",
    ".mjs": "javascript",
    ".jsx": "javascript",
    ".py": "python",
    ".ts": "typescript",
    ".tsx": "tsx",
    ".sql": "sql",
    ".md": "markdown",
}
MOST_CODE = 2_500  # characters: some 400 tokens, beyond which a text of training says little more
_MOST_SIGNATURE = 320  # as in `rag_assets.sections.snippet`
_MOST_OUTLINE = 1_600
_MOST_DOC_WORDS, _LEAST_DOC_WORDS = 80, 4
_NEIGHBOURS = 3  # members on each side in the outline of a member: a section of an index has four to eight

_TYPES = frozenset(
    {
        *("class_declaration", "struct_declaration", "interface_declaration", "record_declaration", "enum_declaration"),
        *("record_struct_declaration", "delegate_declaration", "class_definition", "type_alias_declaration"),
        *("abstract_class_declaration", "type_declaration"),
    }
)
_MEMBERS = frozenset(
    {
        *("method_declaration", "constructor_declaration", "property_declaration", "indexer_declaration"),
        *("function_definition", "function_declaration", "method_definition", "generator_function_declaration"),
        *("lexical_declaration", "variable_declaration"),
    }
)
_VARIABLES = frozenset({"lexical_declaration", "variable_declaration"})
_VALUES = frozenset({"arrow_function", "function_expression", "function", "call_expression", "object", "class"})
_NOT_ENTERED = frozenset(
    {
        *("comment", "parameter_list", "argument_list", "attribute_list"),
        *("expression_statement", "if_statement", "for_statement"),
    }
)
_COMMENTS = frozenset({"comment", "block_comment", "line_comment"})
_BRACED_DOC = frozenset({"java", "javascript", "typescript", "tsx"})  # documentation is `/** … */` only

_MARKS = re.compile(r"^\s*(?:/\*\*?|\*/|\*|//[/!]?|#+)\s?", re.MULTILINE)
_TAGS = re.compile(r"\n\s*(?:@\w+|:param|:return|Parameters\n|Args:|Returns:|Raises:|>>>|\.\. |Example)")
_SUMMARY = re.compile(r"<summary>(.*?)</summary>", re.DOTALL)
_REFERENCE = re.compile(r"<(?:see|paramref|typeparamref|seealso)\s+\w+=\"(?:\w:)?([^\"]*)\"\s*/?>")
_CSHARP_DOC = re.compile(r"^[ \t]*///.*\n?", re.MULTILINE)
_BLOCK_DOC = re.compile(r"/\*\*.*?\*/", re.DOTALL)
_KIND = re.compile(
    r"(Controller|Service|Manager|Repository|Handler|Factory|Provider|Options|Exception|Attribute|Model)s?$"
)


@dataclass(frozen=True, slots=True)
class CodeUnit:
    """A type or a member. `scope` are the names around it; `code` has no documentation; `outline` is what a section of
    an index says of it, with the documentation of its neighbours and not its own."""

    path: str
    language: str
    name: str
    scope: str
    is_type: bool
    doc: str
    code: str
    outline: str


@dataclass(slots=True)
class _Declaration:
    name: str
    scope: tuple[str, ...]
    is_type: bool
    doc: str
    code: str
    signature: str
    parent: int


def units(path: str, language: str, text: str) -> list[CodeUnit]:
    """The declarations in text order; none for a text that cannot be parsed within bounds."""
    if language == "sql":
        return list(_sql(path, text))
    if language == "markdown":
        return list(_markdown(path, text))
    try:
        found = list(_declarations(language, text))
    except (UnparseableError, RecursionError):
        return []
    space = re.search(r"^\s*namespace\s+([\w.]+)", text, re.MULTILINE) if language == "csharp" else None
    module = space[1] if space else path.rpartition(".")[0].replace("/", ".")
    children: dict[int, list[int]] = {}
    for number, each in enumerate(found):
        children.setdefault(each.parent, []).append(number)
    made: list[CodeUnit] = []
    for number, each in enumerate(found):
        if each.is_type:
            shown, owner = children.get(number, []), each
        else:
            around = children[each.parent]
            place = around.index(number)
            shown = around[max(0, place - _NEIGHBOURS) : place + _NEIGHBOURS + 1]
            owner = found[each.parent] if each.parent >= 0 else each
        lines = [_line(found[i], with_doc=i != number) for i in shown]
        purpose = owner.doc if owner is not each else ""
        artifact = ".".join((module, *owner.scope, owner.name))
        outline = "\n".join([*_header(owner, artifact, path, purpose), *lines])[:_MOST_OUTLINE]
        code = _without_docs(language, each.code) if each.is_type else each.code
        made.append(
            CodeUnit(path, language, each.name, ".".join(each.scope), each.is_type, each.doc, code[:MOST_CODE], outline)
        )
    return made


def _header(owner: _Declaration, artifact: str, path: str, purpose: str) -> list[str]:
    """As `rag_assets.sections.snippet.finder_header` writes it."""
    named = _KIND.search(owner.name)
    kind = named[1] if named else "Class" if owner.is_type else "Function"
    folders = path.rpartition("/")[0].split("/")[-3:]
    lines = [f"Domain: {folders[-1] or GENERAL_DOMAIN}", f"Kind: {kind}", f"Artifact: {artifact}"]
    return [*lines, f"Path: {'/'.join(folders)}", *([f"Purpose: {purpose}"] if purpose else [])]


def _line(member: _Declaration, *, with_doc: bool) -> str:
    return f"{member.signature} — {member.doc}" if with_doc and member.doc else member.signature


def _declarations(language: str, text: str) -> Iterator[_Declaration]:
    source = SourceText(text)
    body = source.utf8
    stack: list[tuple[Node, tuple[str, ...], int]] = [(parse(language, source).root_node, (), -1)]
    count = 0
    while stack:
        node, scope, parent = stack.pop()
        is_type, is_member = node.type in _TYPES, node.type in _MEMBERS
        name = _name(node) if is_type or is_member else ""
        if name:
            start, end = node.start_byte, node.end_byte
            code = body[start:end]
            if language == "python":
                doc, code = _python_doc(node, body)
            else:
                doc = _comment_before(node, language)
            inner = node.child_by_field_name("body")
            signature = body[start : inner.start_byte] if inner is not None else body[start:end]
            yield _Declaration(
                name, scope, is_type, cleaned_doc(language, doc), code.decode("utf-8", "replace"),
                _signature(signature.decode("utf-8", "replace"), cut=inner is None), parent,
            )  # fmt: skip
            scope, parent = (*scope, name), count
            count += 1
        if is_member:
            continue
        stack += [(child, scope, parent) for child in reversed(node.named_children) if child.type not in _NOT_ENTERED]


def _name(node: Node) -> str:
    found = node.child_by_field_name("name")
    if found is None and (node.type in _VARIABLES or node.type == "type_declaration") and node.named_children:
        first = node.named_children[0]
        found = first.child_by_field_name("name")
        value = first.child_by_field_name("value")
        if node.type in _VARIABLES and (value is None or value.type not in _VALUES):
            return ""
    return found.text.decode("utf-8", "replace") if found is not None and found.text else ""


def _signature(text: str, *, cut: bool) -> str:
    if cut:
        text = re.split(r"\{|=>|;|\n", text, maxsplit=1)[0]
    return " ".join(text.split()).rstrip(" {:=>")[:_MOST_SIGNATURE]


def _python_doc(node: Node, body: bytes) -> tuple[str, bytes]:
    inner = node.child_by_field_name("body")
    first = inner.named_children[0] if inner is not None and inner.named_children else None
    if first is not None and first.type == "expression_statement" and first.named_children:
        first = first.named_children[0]
    if first is None or first.type != "string" or not first.text:
        return "", body[node.start_byte : node.end_byte]
    doc = first.text.decode("utf-8", "replace").strip("rRbuU\"' \n\t")
    return doc, body[node.start_byte : first.start_byte] + body[first.end_byte : node.end_byte]


def _comment_before(node: Node, language: str) -> str:
    top = node.parent if node.parent is not None and node.parent.type == "export_statement" else node
    before, line, found = top.prev_sibling, top.start_point[0], list[str]()
    while before is not None and before.type in _COMMENTS and before.end_point[0] >= line - 1 and before.text:
        text = before.text.decode("utf-8", "replace")
        if language == "csharp" and not text.startswith("///"):
            break
        found.append(text)
        line = before.start_point[0]
        if text.startswith("/*"):
            break
        before = before.prev_sibling
    whole = "\n".join(reversed(found))
    return "" if language in _BRACED_DOC and not whole.startswith("/**") else whole


def cleaned_doc(language: str, raw: str) -> str:
    """The first paragraph of a documentation comment as prose; "" if it is too short or long, or not ASCII."""
    text = _MARKS.sub("", raw).replace("*/", "")
    if language == "csharp":
        found = _SUMMARY.search(text)
        text = _REFERENCE.sub(lambda said: said[1].rpartition(".")[2], found[1]) if found else ""
    else:
        text = _TAGS.split("\n" + re.sub(r"\{@\w+\s+([^}]*)\}", r"\1", text))[0]
        text = re.split(r"\n\s*\n", text.strip())[0]
    text = " ".join(re.sub(r"<[^>]+>|`|\*\*", " ", text).split())
    return text if text.isascii() and _LEAST_DOC_WORDS <= len(text.split()) <= _MOST_DOC_WORDS else ""


def _without_docs(language: str, code: str) -> str:
    if language == "csharp":
        return _CSHARP_DOC.sub("", code)
    return _BLOCK_DOC.sub("", code) if language in _BRACED_DOC else code


_CREATE = re.compile(
    r"^[ \t]*create\s+(?:or\s+\w+\s+)?(?:\w+\s+)?(table|view|procedure|proc|function|trigger|type)\s+"
    r"(?:if\s+not\s+exists\s+)?([\w.\[\]\"`]+)",
    re.IGNORECASE | re.MULTILINE,
)


def _sql(path: str, text: str) -> Iterator[CodeUnit]:
    starts = list(_CREATE.finditer(text))
    for number, found in enumerate(starts):
        end = starts[number + 1].start() if number + 1 < len(starts) else len(text)
        before = re.search(r"((?:^[ \t]*--.*\n)+)\Z", text[: found.start()], re.MULTILINE)
        doc = " ".join(re.sub(r"^[ \t]*--+", "", before[1], flags=re.MULTILINE).split()) if before else ""
        doc = doc if doc.isascii() and _LEAST_DOC_WORDS <= len(doc.split()) <= _MOST_DOC_WORDS else ""
        name = re.sub(r"[\[\]\"`]", "", found[2])
        code = text[found.start() : end][:MOST_CODE]
        outline = f"SqlObject: {name} ({found[1].lower()})\n\n{code}"[:_MOST_OUTLINE]
        yield CodeUnit(path, "sql", name.rpartition(".")[2], name.rpartition(".")[0], True, doc, code, outline)


_HEADING = re.compile(r"^(#{1,4})\s+(.+?)\s*#*$", re.MULTILINE)
_LEAST_PROSE = 120


def _markdown(path: str, text: str) -> Iterator[CodeUnit]:
    """Sections below a heading; what they say comes first, as documentation of the heading would."""
    starts = list(_HEADING.finditer(text))
    for number, found in enumerate(starts):
        end = starts[number + 1].start() if number + 1 < len(starts) else len(text)
        body = text[found.end() : end].strip()
        title = " ".join(re.sub(r"[`*\[\]]|\(.*?\)", " ", found[2]).split())
        if len(body) >= _LEAST_PROSE and title.isascii() and 2 <= len(title.split()) <= 12:
            yield CodeUnit(
                path, "markdown", title, "", True, "", body[:MOST_CODE], f"Document: {path}\n\n{body}"[:_MOST_OUTLINE]
            )
