"""SCIP symbol strings taken apart, and written in the form of our keys.

    scip-dotnet nuget . . Orders/OrderService#Find(+1).
    scheme      manager name version  descriptors

A descriptor says what it is by its last character: namespace `/`, type `#`, term `.`, method `().`, meta `:`, macro
`!`, type parameter `[…]`, parameter `(…)`. Names with other characters stand in backticks.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from rag_assets.contracts.graph import NodeType, symbol_key

LOCAL_PREFIX = "local "
_SIMPLE = re.compile(r"[\w$+-]+")
_ESCAPED = re.compile(r"`((?:[^`]|``)*)`")
_FIELDS_BEFORE_DESCRIPTORS = 4
_CONSTRUCTORS = frozenset({".ctor", ".cctor", "<constructor>", "<init>", "__init__"})
"""What scip-dotnet, scip-typescript, scip-java and scip-python call a constructor."""
_FINALIZER = "Finalize"
"""What a destructor `~Cart` of C# is called by the compiler."""
_NAMED_AS_TYPE = frozenset({"csharp", "java"})
"""Languages whose keys name a constructor as its type."""
_OVERLOADING = frozenset({"csharp", "java"})
"""Languages whose keys have a parameter list."""
_SCRIPTS = frozenset({"typescript", "tsx", "javascript", "jsx"})
_SOURCE_FILE = re.compile(r"\.(?:[cm]?[jt]sx?|vue)$")
_LONGEST_SYMBOL = 10_000  # characters; names are written by people


class Suffix(StrEnum):
    NAMESPACE = "/"
    TYPE = "#"
    TERM = "."
    METHOD = "()"
    META = ":"
    MACRO = "!"
    TYPE_PARAMETER = "[]"
    PARAMETER = "(x)"


@dataclass(frozen=True, slots=True)
class Descriptor:
    name: str
    suffix: Suffix
    disambiguator: str = ""


@dataclass(frozen=True, slots=True)
class ScipSymbol:
    scheme: str
    package: str
    descriptors: tuple[Descriptor, ...]

    @property
    def last(self) -> Descriptor:
        return self.descriptors[-1]

    @property
    def node_kind(self) -> NodeType | None:
        """None for namespaces, parameters and other things that are no nodes. scip-dotnet calls an event a type."""
        return _KINDS.get(self.last.suffix)

    @property
    def is_constructor(self) -> bool:
        return self.last.suffix is Suffix.METHOD and self.last.name in _CONSTRUCTORS

    @property
    def owner(self) -> ScipSymbol | None:
        """The type around, None outside of types."""
        if len(self.descriptors) < 2 or self.descriptors[-2].suffix is not Suffix.TYPE:
            return None
        return ScipSymbol(self.scheme, self.package, self.descriptors[:-1])

    def name(self, language: str) -> str:
        """The simple name as our keys have it: a constructor is called like its type in C# and Java, an explicit
        implementation `Ns.IShape.Draw` like the member."""
        owner = self.owner
        if self.is_constructor and language in _NAMED_AS_TYPE and owner is not None:
            return owner.last.name
        name = self.last.name
        if language == "csharp" and name == _FINALIZER and self.last.suffix is Suffix.METHOD and owner is not None:
            return f"~{owner.last.name}"
        if language == "csharp" and self.last.suffix in (Suffix.METHOD, Suffix.TERM) and not name.startswith("."):
            return name.rpartition(".")[2] or name
        return name

    def type_path(self) -> str:
        """Namespaces and types around, joined with dots: `Orders.OrderService`."""
        return ".".join(each.name for each in self.descriptors[:-1] if each.name and each.suffix is not Suffix.META)


_KINDS = {Suffix.TYPE: NodeType.TYPE, Suffix.METHOD: NodeType.METHOD, Suffix.TERM: NodeType.PROPERTY}


def parse_symbol(text: str) -> ScipSymbol | None:
    """None for local symbols and for what is no symbol."""
    if text.startswith(LOCAL_PREFIX) or len(text) > _LONGEST_SYMBOL:
        return None
    fields, at = [], 0
    for _ in range(_FIELDS_BEFORE_DESCRIPTORS):
        field, at = _field(text, at)
        if at < 0:
            return None
        fields.append(field)
    found = []
    while at < len(text):
        descriptor, at = _descriptor(text, at)
        if descriptor is None:
            return None
        found.append(descriptor)
    return ScipSymbol(fields[0], fields[2], tuple(found)) if found else None


def documented_key(symbol: ScipSymbol, language: str, parameters: tuple[str, ...] | None = None) -> str | None:
    """The key of a symbol that the label does not declare: `csharp:Ns.Type.Member(Types)|METHOD`.

    Where nothing tells the parameter types the list holds the disambiguator of SCIP (`(+1)`, empty for the first
    overload), which is as stable as the index. None for what is no node.
    """
    kind = symbol.node_kind
    if kind is None:
        return None
    around = [each for each in symbol.descriptors[:-1] if each.name and each.suffix is not Suffix.META]
    spaces = [each.name for each in around if each.suffix is Suffix.NAMESPACE]
    types = [each.name for each in around if each.suffix is not Suffix.NAMESPACE]
    # A module of these is its file, without extension.
    module = _SOURCE_FILE.sub("", "/".join(spaces)) if language in _SCRIPTS else ".".join(spaces)
    joined = ".".join(filter(None, (module, *types, symbol.name(language))))
    if kind is NodeType.METHOD and language in _OVERLOADING:
        inside = symbol.last.disambiguator if parameters is None else ",".join(parameters)
        joined = f"{joined}({inside})"
    return symbol_key(language, joined, kind)


def _field(text: str, at: int) -> tuple[str, int]:
    """A field up to a single blank; a double one stands for a blank in it. Offset -1 without an end."""
    pieces = []
    while True:
        end = text.find(" ", at)
        if end < 0:
            return "", -1
        pieces.append(text[at:end])
        if text[end + 1 : end + 2] != " ":
            return " ".join(pieces), end + 1
        at = end + 2


def _descriptor(text: str, at: int) -> tuple[Descriptor | None, int]:
    if text[at] in "[(":
        closing, suffix = ("]", Suffix.TYPE_PARAMETER) if text[at] == "[" else (")", Suffix.PARAMETER)
        name, at = _name(text, at + 1)
        is_whole = name is not None and text[at : at + 1] == closing
        return (Descriptor(name or "", suffix), at + 1) if is_whole else (None, at)
    name, at = _name(text, at)
    ending = text[at : at + 1]
    if name is None or not ending:
        return None, at
    if ending == "(":
        end = text.find(").", at)
        disambiguator = text[at + 1 : end]
        if end < 0 or (disambiguator and not _SIMPLE.fullmatch(disambiguator)):
            return None, at
        return Descriptor(name, Suffix.METHOD, disambiguator), end + 2
    if ending not in "/#.:!":
        return None, at
    return Descriptor(name, Suffix(ending)), at + 1


def _name(text: str, at: int) -> tuple[str | None, int]:
    found = _ESCAPED.match(text, at)
    if found:
        return found.group(1).replace("``", "`"), found.end()
    simple = _SIMPLE.match(text, at)
    return (simple.group(), simple.end()) if simple else (None, at)
