"""A SCIP index (scip-dotnet, scip-typescript, scip-python, scip-java …) as a graph in our keys.

SCIP (github.com/sourcegraph/scip, scip.proto) says where each symbol is defined and where it is used. A definition gets
its key by place, then by name, else a new one. What uses a symbol is the innermost definition around the place: by the
enclosing ranges of the index, or, of tools that write none (scip-dotnet), by the declarations of the label.

    scip-dotnet nuget . . Orders/OrderService#Find(+1).
    scheme      manager name version  descriptors

A descriptor says what it is by its last character: namespace `/`, type `#`, term `.`, method `().`, meta `:`, macro
`!`, type parameter `[…]`, parameter `(…)`. Names with other characters stand in backticks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory  # type: ignore[import-untyped]
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

from rag_assets.contracts.graph import (
    Confidence,
    GraphEdge,
    GraphNode,
    NodeType,
    Relation,
    file_key,
    key_kind,
    symbol_key,
)
from rag_assets.graph.imports.artifact_files import Artifacts
from rag_assets.graph.imports.imported_graph import Coverage, ImportBuilder, ImportedGraph, Problems
from rag_assets.graph.imports.key_parser import LabelSymbols, displayed_member, overload
from rag_assets.languages.detection import detect_language

# --- messages ---------------------------------------------------------------------------------------------------------

DEFINITION, IMPORT, FORWARD_DEFINITION = 0x1, 0x2, 0x40
"""Bits of `Occurrence.symbol_roles`."""

_INTERFACE_KINDS = frozenset({21, 42, 53})
"""`SymbolInformation.Kind`: Interface, Protocol, Trait."""

_Field = descriptor_pb2.FieldDescriptorProto
_TYPES = {"string": _Field.TYPE_STRING, "int32": _Field.TYPE_INT32, "bool": _Field.TYPE_BOOL}
_FIELDS = {  # message → name, number and type of the fields that we read; `*` for repeated
    "Index": "metadata 1 Metadata, documents 2 *Document",
    "Metadata": "project_root 3 string",
    "Document": "relative_path 1 string, occurrences 2 *Occurrence, symbols 3 *SymbolInformation, text 5 string",
    "Occurrence": "range 1 *int32, symbol 2 string, symbol_roles 3 int32, enclosing_range 7 *int32",
    # `kind` is an enum in the schema, an int32 on the wire
    "SymbolInformation": "symbol 1 string, documentation 3 *string, relationships 4 *Relationship, kind 5 int32, "
    "signature_documentation 7 Document",
    "Relationship": "symbol 1 string, is_implementation 3 bool",
}


def _classes() -> dict[str, Any]:
    """The protobuf runtime skips the fields that are missing here. Generated code would have to match its version."""
    file = descriptor_pb2.FileDescriptorProto(name="scip.proto", package="scip", syntax="proto3")
    for message, fields in _FIELDS.items():
        described = file.message_type.add(name=message)
        for name, number, written in map(str.split, fields.split(",")):
            plain = written.removeprefix("*")
            field = described.field.add(name=name, number=int(number))
            field.label = _Field.LABEL_OPTIONAL if plain == written else _Field.LABEL_REPEATED
            field.type = _TYPES.get(plain, _Field.TYPE_MESSAGE)
            if plain not in _TYPES:
                field.type_name = f".scip.{plain}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"scip.{name}")) for name in _FIELDS}


MESSAGES = _classes()
"""Classes by name: `MESSAGES["Document"]()`. They can write what they read, which tests use."""

# --- symbols ----------------------------------------------------------------------------------------------------------

_NAME = r"(?:`((?:[^`]|``)*+)`|([\w$+-]++))"
_BEFORE_DESCRIPTORS = re.compile(r"(?:(?:[^ ]|  )*+ ){4}")
"""Scheme, manager, name and version. A double blank stands for a blank in one of them."""
_DESCRIPTOR = re.compile(rf"{_NAME}(?:([/#.:!])|\(([\w$+-]*+)\)\.)|\[{_NAME}\]|\({_NAME}\)")
_KINDS = {"#": NodeType.TYPE, "()": NodeType.METHOD, ".": NodeType.PROPERTY}
_CONSTRUCTORS = frozenset({".ctor", ".cctor", "<constructor>", "<init>", "__init__"})
"""What scip-dotnet, scip-typescript, scip-java and scip-python call a constructor."""
_OVERLOADING = frozenset({"csharp", "java"})
"""Languages whose keys have a parameter list, and name a constructor as its type."""
_SCRIPTS = frozenset({"typescript", "tsx", "javascript", "jsx"})
_SOURCE_FILE = re.compile(r"\.(?:[cm]?[jt]sx?|vue)$")


@dataclass(frozen=True, slots=True)
class ScipSymbol:
    """`suffix` is the kind of its last descriptor: `/`, `#`, `.`, `:`, `!`, `()`, or '' for parameters."""

    name: str
    suffix: str
    disambiguator: str = ""
    around: ScipSymbol | None = None

    @property
    def node_kind(self) -> NodeType | None:
        """None for namespaces, parameters and other things that are no nodes. scip-dotnet calls an event a type."""
        return _KINDS.get(self.suffix)

    @property
    def is_constructor(self) -> bool:
        return self.suffix == "()" and self.name in _CONSTRUCTORS

    @property
    def owner(self) -> str:
        """The name of the type around, '' outside of types."""
        return self.around.name if self.around is not None and self.around.suffix == "#" else ""

    @property
    def enclosing(self) -> list[ScipSymbol]:
        """The namespaces and types around, the outermost first."""
        found, each = [], self.around
        while each is not None:
            found.append(each)
            each = each.around
        return [each for each in reversed(found) if each.name and each.suffix != ":"]

    def name_in(self, language: str) -> str:
        """The simple name as our keys have it: a constructor is called like its type in C# and Java, an explicit
        implementation `Ns.IShape.Draw` like the member."""
        if self.is_constructor and language in _OVERLOADING:
            return self.owner or self.name
        is_member = language == "csharp" and self.suffix in ("()", ".") and not self.is_constructor
        return self.name.rpartition(".")[2] or self.name if is_member else self.name


def parse_symbol(text: str) -> ScipSymbol | None:
    """None for local symbols and for what is no symbol."""
    before = _BEFORE_DESCRIPTORS.match(text)
    if before is None:
        return None
    at, symbol = before.end(), None
    while at < len(text):
        found = _DESCRIPTOR.match(text, at)
        if found is None:
            return None
        quoted, plain, suffix, disambiguator = found.group(1, 2, 3, 4)
        name = quoted.replace("``", "`") if quoted is not None else plain or ""
        symbol = ScipSymbol(name, suffix or ("()" if disambiguator is not None else ""), disambiguator or "", symbol)
        at = found.end()
    return symbol


def documented_key(symbol: ScipSymbol, language: str, parameters: tuple[str, ...] | None = None) -> str | None:
    """The key of a symbol that the label does not declare: `csharp:Ns.Type.Member(Types)|METHOD`.

    Where nothing tells the parameter types the list holds the disambiguator of SCIP (`(+1)`, empty for the first
    overload), which is as stable as the index. None for what is no node.
    """
    kind = symbol.node_kind
    if kind is None:
        return None
    spaces = [each.name for each in symbol.enclosing if each.suffix == "/"]
    types = [each.name for each in symbol.enclosing if each.suffix != "/"]
    # A module of these is its file, without extension.
    module = _SOURCE_FILE.sub("", "/".join(spaces)) if language in _SCRIPTS else ".".join(spaces)
    joined = ".".join(filter(None, (module, *types, symbol.name_in(language))))
    if kind is NodeType.METHOD and language in _OVERLOADING:
        inside = symbol.disambiguator if parameters is None else ",".join(parameters)
        joined = f"{joined}({inside})"
    return symbol_key(language, joined, kind)


# --- definitions ------------------------------------------------------------------------------------------------------

Position = tuple[int, int]
"""(line, character), both from 0 as SCIP counts them."""

_FENCE = re.compile(r"\A```\w*\n(.*?)(?:\n```|\Z)", re.DOTALL)
_INTERFACE = re.compile(r"\b(?:interface|trait|protocol)\b")
_ENUM = re.compile(r"\benum\b")


@dataclass(frozen=True, slots=True)
class _Definition:
    """`is_sure`: found by its place or by name and parameters, not picked among several."""

    key: str
    symbol: ScipSymbol
    path: str
    line: int
    is_sure: bool
    is_interface: bool


class _Definitions:
    """Symbol string → definition, and which symbols each implements."""

    def __init__(self, found: ImportBuilder) -> None:
        self._found = found
        self.known = found.known
        self.of: dict[str, _Definition] = {}
        self._implemented: dict[str, dict[str, None]] = {}

    def add_document(self, document: Any, path: str) -> None:
        """The definitions of one document at a repository path. A symbol of several places counts at the first."""
        language = detect_language(path)
        about = {info.symbol: info for info in document.symbols}
        for occurrence in document.occurrences:
            if _is_definition(occurrence) and occurrence.symbol not in self.of:
                self._add(occurrence, path, language, about.get(occurrence.symbol))
        for text, info in about.items():
            targets = (each.symbol for each in info.relationships if each.is_implementation and each.symbol != text)
            self._implemented.setdefault(text, {}).update(dict.fromkeys(targets))

    def _add(self, occurrence: Any, path: str, language: str, info: Any | None) -> None:
        symbol, place = parse_symbol(occurrence.symbol), _span(occurrence.range)
        if symbol is None or place is None:
            return
        signature, line = _signature(info), place[0][0] + 1
        parameters = displayed_member(signature)[1] if language in _OVERLOADING else None
        key, is_sure = self._key(symbol, path, language, line, parameters)
        if not key:
            return
        (first, _), (last, character) = _span(occurrence.enclosing_range) or place
        stop = max(last + (character > 0), first + 1)
        name = symbol.name_in(language)
        self._found.add_node(GraphNode(key, key_kind(key), name, path, first + 1, stop, language, signature))
        declared = " ".join(each.signature for each in self.known.places(key)) or signature
        is_interface = (info is not None and info.kind in _INTERFACE_KINDS) or bool(_INTERFACE.search(declared))
        self.of[occurrence.symbol] = _Definition(key, symbol, path, line, is_sure, is_interface)

    def _key(
        self, symbol: ScipSymbol, path: str, language: str, line: int, parameters: tuple[str, ...] | None
    ) -> tuple[str, bool]:
        """(key, is it sure): by place, by name and parameters, by the number of the overload, else a new one; '' for
        what is no node."""
        kind, name = symbol.node_kind, symbol.name_in(language)
        if kind is None:
            return "", False
        # scip-dotnet calls an event a type; other tools call a function that is a constant's value a term.
        placed = (self.known.at(path, line, name, each) for each in (kind, NodeType.PROPERTY, NodeType.METHOD))
        key = next(filter(None, placed), None) or self._enum_around(symbol, path, line)
        if key:
            return key, True
        candidates = [each for each in self.known.symbols(kind, name) if each.parts.language == language]
        owner = ".".join(each.name for each in symbol.enclosing)
        named = overload(candidates, parameters if kind is NodeType.METHOD else None, owner)
        if named is not None:
            return named
        here = {each.node.key: each.node.line_start for each in reversed(candidates) if each.node.path == path}
        in_order = sorted(here, key=lambda key: (here[key], key))
        by_number = {f"+{number}" if number else "": key for number, key in enumerate(in_order)}
        if kind is NodeType.METHOD and symbol.disambiguator in by_number:
            return by_number[symbol.disambiguator], False
        return documented_key(symbol, language, parameters) or "", True

    def _enum_around(self, symbol: ScipSymbol, path: str, line: int) -> str | None:
        """The enum whose value a term is: values are no nodes, using one uses the enum."""
        key = self.known.at(path, line, symbol.owner, NodeType.TYPE) if symbol.node_kind is NodeType.PROPERTY else None
        return key if key and any(_ENUM.search(place.signature) for place in self.known.places(key)) else None

    def implementations(self) -> Iterator[GraphEdge]:
        for text, own in self.of.items():
            for base_text in self._direct_bases(text):
                base = self.of.get(base_text)
                if base is not None and base.key != own.key and key_kind(base.key) is key_kind(own.key):
                    confidence = Confidence.RESOLVED if own.is_sure and base.is_sure else Confidence.PROBABLE
                    relation = self._derivation(own, base, base_text)
                    yield GraphEdge(own.key, relation, base.key, confidence, own.path, own.line)

    def _direct_bases(self, text: str) -> Iterator[str]:
        """The symbols that it implements, without those that another of them implements: scip-dotnet lists all."""
        all_ = self._implemented.get(text, {})
        inherited = {base for each in all_ for base in self._implemented.get(each, ())}
        return (each for each in all_ if each not in inherited)

    def _derivation(self, own: _Definition, base: _Definition, base_text: str) -> Relation:
        """Types inherit, or implement an interface; members override, or implement that of an interface."""
        if key_kind(base.key) is NodeType.TYPE:
            return Relation.IMPLEMENTS if base.is_interface and not own.is_interface else Relation.INHERITS
        owner = self.of.get(_owner_text(base_text))
        return Relation.IMPLEMENTS if owner is not None and owner.is_interface else Relation.OVERRIDES


def _owner_text(text: str) -> str:
    """The symbol of the type around a member."""
    return text[: text.rfind("#") + 1]


def _is_definition(occurrence: Any) -> bool:
    return bool(occurrence.symbol_roles & DEFINITION) and not occurrence.symbol_roles & FORWARD_DEFINITION


def _span(numbers: Sequence[int]) -> tuple[Position, Position] | None:
    """Start and end of a range of three or four numbers; None for one that is missing or impossible."""
    if len(numbers) not in (3, 4):
        return None
    start, end = (numbers[0], numbers[1]), (numbers[0] if len(numbers) == 3 else numbers[2], numbers[-1])
    return (start, end) if min(*start, *end) >= 0 and start <= end else None


def _signature(info: Any | None) -> str:
    """The displayed declaration on one line: the signature, or the code block that the documentation begins with."""
    text = info.signature_documentation.text if info is not None else ""
    if not text and info is not None and info.documentation:
        fenced = _FENCE.match(info.documentation[0])
        text = fenced.group(1) if fenced else ""
    return " ".join(text.split())


# --- the graph --------------------------------------------------------------------------------------------------------

_COVERED = frozenset({Relation.CALLS, Relation.USES_TYPE, Relation.INHERITS, Relation.IMPLEMENTS, Relation.OVERRIDES})
"""What an index states completely. Not References, which are messages and resource keys in our graph too."""

_NO_USE = DEFINITION | FORWARD_DEFINITION | IMPORT
"""Roles of occurrences that name a symbol without doing anything with it."""

_Interval = tuple[Position, Position, str]


def scip_graph(artifacts: Artifacts, known: LabelSymbols | None = None) -> ImportedGraph:
    """The graph of one or several indexes, matched against what the label declares.

    A symbol gets the key of the declaration at its place; else of that name and parameters; else the documented form
    (`documented_key`). Uses of methods are Calls (of constructors Constructs, of the type too), of types UsesType, of
    fields and properties References; implementations are Implements, Inherits or Overrides. Imports, local symbols and
    symbols of other projects give no edges. *Resolved*, or *probable* where an overload had to be guessed.
    Raises UnusableImport when nothing is left.
    """
    problems = Problems(artifacts.problems)
    found = ImportBuilder(known or LabelSymbols(), problems)
    documents = _documents(artifacts, found.known, problems)
    found.counts["documents"] = len(documents)
    definitions = _Definitions(found)
    for path, document in documents.items():
        definitions.add_document(document, path)
    for path, document in documents.items():
        for edge in _uses(document, path, definitions, found):
            found.add_edge(edge)
    for edge in definitions.implementations():
        found.add_edge(edge)
    covered = Coverage(found.relations() & _COVERED, frozenset(documents))
    return found.graph(artifacts.location, (covered,) if covered.relations else ())


def _documents(artifacts: Artifacts, known: LabelSymbols, problems: Problems) -> dict[str, Any]:
    """Repository path → document; a file that several projects compile counts once."""
    documents: dict[str, Any] = {}
    for file in artifacts.files:
        index = MESSAGES["Index"]()
        try:
            index.ParseFromString(file.data)
        except DecodeError as error:
            problems.add(file.name, "not used, it is cut or damaged", detail=str(error))
            continue
        root = index.metadata.project_root
        for document in index.documents:
            written = document.relative_path
            path = known.path_of(written, root) or (known.path_of(f"{root}/{written}", root) if root else None)
            if path is None:
                problems.add(file.name, "a file that the label does not have", detail=written)
            else:
                documents.setdefault(path, document)
    return documents


def _uses(document: Any, path: str, definitions: _Definitions, found: ImportBuilder) -> Iterator[GraphEdge]:
    references = []
    for occurrence in document.occurrences:
        target, place = definitions.of.get(occurrence.symbol), _span(occurrence.range)
        if target is not None and place is not None and not occurrence.symbol_roles & _NO_USE:
            references.append((place[0], occurrence.symbol, target))
    references.sort(key=lambda each: each[:2])
    found.counts["references"] += len(references)
    around = _enclosing((start for start, _, _ in references), _intervals(document, path, definitions))
    for (start, text, target), source in zip(references, around, strict=True):
        if not source:
            source = file_key(path)
            found.add_new(source, path.rpartition("/")[2], path)
        for relation, key in _meant(text, target, definitions):
            if key != source or relation is Relation.CALLS:  # a method that calls itself
                confidence = Confidence.RESOLVED if target.is_sure else Confidence.PROBABLE
                yield GraphEdge(source, relation, key, confidence, path, start[0] + 1)


def _meant(text: str, target: _Definition, definitions: _Definitions) -> Iterator[tuple[Relation, str]]:
    kind = key_kind(target.key)
    if target.symbol.is_constructor:
        yield Relation.CONSTRUCTS, target.key
        owner = definitions.of.get(_owner_text(text))
        if owner is not None:
            yield Relation.CONSTRUCTS, owner.key
    elif kind is NodeType.METHOD:
        yield Relation.CALLS, target.key
    else:
        yield Relation.USES_TYPE if kind is NodeType.TYPE else Relation.REFERENCES, target.key


def _intervals(document: Any, path: str, definitions: _Definitions) -> list[_Interval]:
    """(start, end, key) of the definitions of a document, as the index says or else as the label does."""
    said: list[_Interval] = []
    for occurrence in filter(_is_definition, document.occurrences):
        definition, around = definitions.of.get(occurrence.symbol), _span(occurrence.enclosing_range)
        if definition is not None and around is not None:
            said.append((*around, definition.key))
    declared = [each.node for each in definitions.known.in_file(path)]
    ours = [((node.line_start - 1, 0), (node.line_end, 0), node.key) for node in declared]
    return sorted(said or ours, key=_outer_first)


def _outer_first(interval: _Interval) -> tuple[Position, Position, str]:
    start, (line, character), key = interval
    return start, (-line, -character), key


def _enclosing(positions: Iterable[Position], intervals: list[_Interval]) -> Iterator[str]:
    """For each of the ascending positions the key of the innermost interval around it, '' outside of all."""
    stack: list[_Interval] = []
    waiting = list(reversed(intervals))
    for position in positions:
        while waiting and waiting[-1][0] <= position:
            stack.append(waiting.pop())
        while stack and stack[-1][1] <= position:
            stack.pop()
        yield stack[-1][2] if stack else ""
