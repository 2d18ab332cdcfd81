"""Razor pages and components use C#: the types that directives and code name, and the members of what is injected, of
the model, of fields and properties of `@code`, and of types themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from rag_assets.contracts.graph import Confidence, GraphEdge, GraphNode, NodeType, Relation, file_key
from rag_assets.contracts.segment import MemberKind, leaves_of
from rag_assets.graph.extract.sql_objects import once
from rag_assets.languages.csharp.binder.declarations import component_name
from rag_assets.languages.csharp.binder.symbols import TypeSymbol
from rag_assets.languages.csharp.syntax.lexer import scan
from rag_assets.languages.label_declarations import LabelDeclarations
from rag_assets.languages.parsed_file import ParsedFile

_COMMENT = re.compile(r"@\*.*?(?:\*@|\Z)|<!--.*?(?:-->|\Z)|(?<![:\w])//[^\r\n]*", re.DOTALL)
_USING = re.compile(r"^[ \t]*@using[ \t]+(?!static\b)([\w.= ]*\w)", re.MULTILINE)
_DIRECTIVE = re.compile(
    r"^[ \t]*@(?:inject[ \t]+(?P<type>[^\s;<]+(?:<[^\r\n;]*>)?\??)[ \t]+(?P<name>\w+)"
    r"|(?P<model>model|inherits|implements)[ \t]+(?P<of>[^\s;<]+(?:<[^\r\n;]*>)?))",
    re.MULTILINE,
)
_OPTIONS = re.compile(r"\s*(?:[\w.]+\.)?IOptions(?:Snapshot|Monitor)?<(?P<of>.+)>\??\s*")
"""What a setting is injected as: its own members stand behind `Value`."""
_NAME = re.compile(r"(?<![\w.\[])[A-Z]\w*")
_WHOLE_NAME = re.compile(r"(?<![\w.])[A-Z][\w.]*")
_MEMBER = re.compile(
    r"(?<![\w.])(?P<of>[A-Za-z_]\w*)[?!]?\.(?:(?:Current)?Value\.)?(?P<name>[A-Z]\w*)"
    r"(?=(?P<call>\s*(?:<[\w<>,. ]{0,80}>\s*)?\()?)"
)
_SHOWN = re.compile(
    r"(?:(?<![\w>])<|\bShow(?:Async)?<|\btypeof\(|^[ \t]*@(?:layout|inherits)[ \t]+)(?:\w+\.)*(?P<name>[A-Z]\w*)"
    r"(?=[\s/>)]|\Z)",
    re.MULTILINE,
)
"""A tag, a dialog that is opened, or the layout of a page."""
_LONGEST_ARGUMENTS = 80
_VARIABLES = (MemberKind.FIELD, MemberKind.PROPERTY)
_CODE = (*_VARIABLES, MemberKind.METHOD)


def razor_in(file: ParsedFile, symbols: LabelDeclarations) -> Iterator[GraphNode | GraphEdge]:
    """The TYPE that a component is; `FILE UsesType` each type of the label that code names, and each component that a
    tag shows, `FILE Calls` its methods and `FILE References` its properties. Never raises for any text."""
    text = _COMMENT.sub(lambda found: re.sub(r"[^\r\n]", " ", found.group()), file.text)
    name = component_name(file.path)
    own = symbols.csharp.component(name, file.path) if name else None
    if own is not None:
        last = file.lines.line_of(len(file.text))
        signature = f"class {own.name}"
        yield GraphNode(own.key, NodeType.TYPE, own.name, file.path, 1, last, file.language, signature)
        yield GraphEdge(file_key(file.path), Relation.CONTAINS, own.key, path=file.path, line=1)
    page = _Page(symbols, tuple(_USING.findall(text)))
    yield from once(
        GraphEdge(file_key(file.path), relation, key, confidence, file.path, file.lines.line_of(at))
        for relation, key, confidence, at in _used(file, text, page)
    )


@dataclass(slots=True)
class _Page:
    """What the names of a page mean; a name that the label declares once needs no `@using` here."""

    symbols: LabelDeclarations
    usings: tuple[str, ...]
    types: dict[str, TypeSymbol | None] = field(default_factory=dict)

    def type_of(self, written: str) -> TypeSymbol | None:
        if written not in self.types:
            found = self.symbols.declared_types.resolve(written, "", self.usings)
            self.types[written] = self.symbols.csharp.declared(found.symbol) if found is not None else None
        return self.types[written]


def _used(file: ParsedFile, text: str, page: _Page) -> Iterator[tuple[Relation, str, Confidence, int]]:
    """(how the text uses a node, the node, how sure that is, where it names it)."""
    variables: dict[str, str] = {}
    code: list[tuple[re.Pattern[str], int, int]] = []
    for found in _DIRECTIVE.finditer(text):
        variables[found["name"] or {"model": "Model"}.get(found["model"], "")] = found["type"] or found["of"]
        code.append((_WHOLE_NAME, *found.span("type" if found["type"] else "of")))
    for leaf in (leaf for segment in file.segments for leaf in leaves_of(segment.members)):
        member = leaf.member
        if member.kind in _CODE:
            code.append((_NAME, member.span.char_start, member.span.char_end))
        if member.kind in _VARIABLES:
            variables.setdefault(member.name, member.type)
    for names, start, end in code:
        masked = scan(text[start:end]).code
        for found in names.finditer(masked):
            if found.group() in variables and masked[found.end() : found.end() + 1] == ".":
                continue  # `@inject IMailer Mailer`, and `Mailer` may be a type too
            if (named := page.type_of(_with_arity(found.group(), masked, found.end()))) is not None:
                yield Relation.USES_TYPE, named.key, Confidence.RESOLVED, start + found.start()
    for found in _SHOWN.finditer(text) if file.path.endswith(".razor") else ():
        shown = page.symbols.csharp.component(found["name"], file.path)
        if shown is not None and found["name"] != component_name(file.path):
            yield Relation.USES_TYPE, shown.key, Confidence.RESOLVED, found.start("name")
    for found in _MEMBER.finditer(text):
        written = variables.get(found["of"], found["of"])
        options = _OPTIONS.fullmatch(written)
        owner = page.type_of(options["of"] if options else written)
        members = page.symbols.csharp.find_members(owner.id, found["name"]) if owner is not None else ()
        kind, relation = (
            (MemberKind.METHOD, Relation.CALLS) if found["call"] else (MemberKind.PROPERTY, Relation.REFERENCES)
        )
        fitting = [one for one in members if one.kind is kind and one.key]
        sure = Confidence.RESOLVED if len(fitting) == 1 else Confidence.PROBABLE
        yield from ((relation, one.key, sure, found.start("name")) for one in fitting)


def _with_arity(name: str, text: str, end: int) -> str:
    """`IRepository<>` and `IPair<,>` where type arguments follow a name."""
    arguments = text[end : text.find(">", end, end + _LONGEST_ARGUMENTS) + 1]
    return f"{name}<{',' * arguments.count(',')}>" if arguments[:1] == "<" else name
