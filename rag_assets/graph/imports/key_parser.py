"""Keys of other tools taken apart, and matched by place and by name against what the label declares."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from urllib.parse import unquote

from rag_assets.contracts.graph import GraphNode, NodeType

_LANGUAGE = re.compile(r"[a-z][a-z0-9_+#-]*")
_ARITY = re.compile(r"`\d+")
_QUALIFIER = re.compile(r"\b(?:\w+\s*(?:\.|::)\s*)+")
_MODIFIERS = re.compile(r"^(?:(?:this|ref|out|in|params|scoped|readonly)\s+)+")
_ATTRIBUTES = re.compile(r"^(?:\[[^\[\]]*\]\s*)+(?=\S)")
_WORD = re.compile(r"\w+")
_OPENING, _CLOSING = frozenset("<([{"), frozenset(">)]}")
_ALIASES = {
    "Boolean": "bool", "Byte": "byte", "SByte": "sbyte", "Char": "char", "Decimal": "decimal", "Double": "double",
    "Single": "float", "Int16": "short", "UInt16": "ushort", "Int32": "int", "UInt32": "uint", "Int64": "long",
    "UInt64": "ulong", "Object": "object", "String": "string", "IntPtr": "nint", "UIntPtr": "nuint",
}  # fmt: skip
_LONGEST_SIGNATURE = 10_000
"""Characters; a longer parameter list is damage or a machine's, and comparing it proves nothing."""
_CACHED_TYPES = 1 << 14  # the distinct types of a large solution


@dataclass(frozen=True, slots=True)
class KeyParts:
    """`csharp:Ns.Cart`1.Total(int)|METHOD` → csharp, ``Ns.Cart`1``, Total, (int,), METHOD. `language` is '' for SQL,
    `parameters` None where the key has no list of them."""

    language: str
    owner: str
    name: str
    parameters: tuple[str, ...] | None
    kind: NodeType

    @property
    def owner_name(self) -> str:
        """The simple name of the type around, without arity."""
        return without_arity(self.owner.rpartition(".")[2])


def key_parts(key: str) -> KeyParts | None:
    """None for a text that is no key of a symbol or a database object."""
    body, bar, suffix = key.rpartition("|")
    if not bar or suffix not in NodeType._value2member_map_:
        return None
    kind = NodeType(suffix)
    language, colon, symbol = body.partition(":")
    if not colon or not _LANGUAGE.fullmatch(language):
        language, symbol = "", body
    parameters: tuple[str, ...] | None = None
    if kind is NodeType.METHOD and symbol.endswith(")") and "(" in symbol:
        symbol, _, inside = symbol[:-1].partition("(")
        parameters = split_top_level(inside)
    owner, _, name = symbol.rpartition(".")
    return KeyParts(language, owner, name if language == "" else without_arity(name), parameters, kind)


def without_arity(name: str) -> str:
    return _ARITY.sub("", name)


def split_top_level(text: str) -> tuple[str, ...]:
    """At commas outside of brackets; nothing for a blank text."""
    if not text.strip():
        return ()
    return tuple(_split_at(text, ","))


@lru_cache(maxsize=_CACHED_TYPES)
def type_shape(written: str) -> str:
    """A type reduced to what both writers say the same: no namespaces, modifiers, nullability or blanks, C#'s words.

    `ref System.Collections.Generic.List<Int32?>` → `List<int>`.
    """
    bare = _QUALIFIER.sub("", _MODIFIERS.sub("", written.strip()))
    words = _WORD.sub(lambda found: _ALIASES.get(found.group(), found.group()), bare)
    return "".join(words.replace("?", "").split())


def displayed_parameters(display: str) -> tuple[str, ...] | None:
    """The types of a displayed signature: `Task<Order> Shop.Find(int id, [string name = ","])` → `("int", "string")`.

    The list is the last pair of parentheses that closes the text (constraints may follow); None without one.
    """
    inside = _parameter_list(display)
    return None if inside is None else tuple(_declared_type(piece) for piece in split_top_level(inside))


def displayed_owner(display: str) -> str:
    """The type that a displayed member names before itself: `Task<T> Cart<T>.Line.Find(int id)` → ``Cart`1.Line``.

    '' where there is none. Namespaces are not displayed.
    """
    inside = _parameter_list(display)
    text = display.strip() if inside is None else display.strip().partition(" where ")[0].rstrip()[: -len(inside) - 2]
    if len(text) > _LONGEST_SIGNATURE:
        return ""
    head, operator, _ = text.partition(".operator ")
    parts = _split_at(head, ".", _after_last_blank(head))
    return ".".join(map(_with_arity, parts if operator else parts[:-1]))


def _after_last_blank(text: str) -> int:
    depth, start = 0, 0
    for at, char in enumerate(text):
        depth += (char in _OPENING) - (char in _CLOSING)
        if char == " " and depth == 0:
            start = at + 1
    return start


def _split_at(text: str, separator: str, start: int = 0) -> list[str]:
    """`text` from `start` in pieces, at the separators outside of brackets."""
    pieces, depth = [], 0
    for at in range(start, len(text)):
        char = text[at]
        if char in _OPENING:
            depth += 1
        elif char in _CLOSING:
            depth -= 1
        elif char == separator and depth <= 0:
            pieces.append(text[start:at].strip())
            start = at + 1
    return [*pieces, text[start:].strip()]


def _with_arity(name: str) -> str:
    bare, bracket, arguments = name.partition("<")
    return f"{bare}`{len(split_top_level(arguments.removesuffix('>')))}" if bracket else bare


def _parameter_list(display: str) -> str | None:
    text = display.strip().partition(" where ")[0].rstrip()
    if len(text) > _LONGEST_SIGNATURE or not text.endswith(")"):
        return None
    depth = 0
    for at in range(len(text) - 1, -1, -1):
        depth += (text[at] == ")") - (text[at] == "(")
        if depth == 0:
            return text[at + 1 : -1]
    return None


def _declared_type(parameter: str) -> str:
    """`[int a = 5]` and `ref int a = 5` → `int`; a type alone stays."""
    text = parameter.strip()
    if text.startswith("[") and text.endswith("]"):
        text = text[1:-1].strip()  # how Roslyn displays an optional parameter
    text = _MODIFIERS.sub("", _ATTRIBUTES.sub("", text).partition("=")[0].strip())
    head, blank, last = text.rpartition(" ")
    return head.strip() if blank and last.lstrip("@").isidentifier() else text


_DRIVE = re.compile(r"/?[A-Za-z]:/")
_TABLES = frozenset({NodeType.TABLE, NodeType.VIEW, NodeType.TABLE_OR_VIEW})
_IMPLIED_SCHEMAS = frozenset({"", "dbo"})
"""What tools write where the script names no schema."""


@dataclass(frozen=True, slots=True)
class KnownSymbol:
    """One place of a known node, with its key taken apart."""

    node: GraphNode
    parts: KeyParts


class LabelSymbols:
    """The nodes, files and commit of the label. All lookups are exact about what they do not know: None or nothing."""

    def __init__(self, nodes: Iterable[GraphNode] = (), paths: Iterable[str] = (), commit: str = "") -> None:
        """`paths` are repository paths (`/`-separated); those of the nodes are known without being named."""
        self.commit = commit
        places: dict[str, list[GraphNode]] = defaultdict(list)
        for node in nodes:
            places[node.key].append(node)
        self._places: Mapping[str, tuple[GraphNode, ...]] = {key: tuple(sorted(all_)) for key, all_ in places.items()}
        self.paths = frozenset(paths) | {node.path for all_ in places.values() for node in all_ if node.path}
        self._written_paths: dict[tuple[str, str], str | None] = {}

    def places(self, key: str) -> tuple[GraphNode, ...]:
        """The nodes with that key, one per part; none for an unknown key."""
        return self._places.get(key, ())

    def in_file(self, path: str) -> tuple[KnownSymbol, ...]:
        """What a file declares under a symbol of its own, in text order."""
        return self._by_path.get(path, ())

    def named_in_file(self, path: str, kind: NodeType, name: str) -> tuple[KnownSymbol, ...]:
        """Those of that kind and simple name (without arity)."""
        return self._by_place.get((path, kind, name), ())

    def symbols(self, kind: NodeType, name: str) -> tuple[KnownSymbol, ...]:
        """Symbols of programs of that kind and simple name (without arity), ordered by key and place."""
        return self._by_name.get((kind, name), ())

    def at(self, path: str, line: int, name: str, kind: NodeType) -> str | None:
        """The key of the smallest declaration of that simple name and kind around a line of a file."""
        named = self.named_in_file(path, kind, name)
        around = [each.node for each in named if each.node.line_start <= line <= each.node.line_end]
        return min(around, key=lambda node: (node.line_end - node.line_start, node)).key if around else None

    def database_object(self, schema: str, name: str, kind: NodeType | None) -> str | None:
        """The key of a database object whatever the case of its name; tables and views are one kind in references.

        Of `dbo` or no schema an object of the same name counts too when it is the only one.
        """
        found = [
            (parts, key)
            for parts, key in self._database.get(name.lower(), ())
            if kind is None or parts.kind is kind or {parts.kind, kind} <= _TABLES
        ]
        exact = [pair for pair in found if pair[0].owner.lower() == schema.lower()]
        if not exact and schema.lower() in _IMPLIED_SCHEMAS and len(found) == 1:
            exact = found
        if not exact:
            return None
        return min(exact, key=lambda pair: (pair[0].kind is not kind, pair[0].kind is NodeType.TABLE_OR_VIEW, pair[1]))[
            1
        ]

    def path_of(self, written: str, root: str = "") -> str | None:
        """The repository path that another tool wrote in its own way; None when it is none of ours.

        Understands backslashes, `file:` URLs, percent escapes in them, absolute paths below `root` or below any other
        checkout, and paths relative to a folder of the repository, as long as only one file can be meant. Where no
        path is known (a test, a foreign index) a clean relative path is taken as it is.
        """
        if (written, root) not in self._written_paths:
            self._written_paths[(written, root)] = self._find_path(written, root)
        return self._written_paths[(written, root)]

    def _find_path(self, written: str, root: str) -> str | None:
        path, base = _normal(written), _normal(root)
        if not path or path == ".":
            return None
        if base and path.lower().startswith(base.lower().rstrip("/") + "/"):
            path = path[len(base.rstrip("/")) + 1 :]
        if path in self.paths:
            return path
        is_elsewhere = path.startswith("/") or bool(_DRIVE.match(path))
        if not self.paths:
            return None if is_elsewhere or path.startswith("../") else path
        folded = _DRIVE.sub("/", path).lower()
        while folded.startswith("../"):
            folded = folded[3:]
        candidates = self._by_file_name.get(folded.rpartition("/")[2], ())
        same = [known for known in candidates if known.lower() == folded]
        if same:
            inside = same
        elif is_elsewhere:  # the longest of our paths that it ends with
            inside = [known for known in candidates if f"/{folded.lstrip('/')}".endswith(f"/{known.lower()}")]
            longest = max(map(len, inside), default=0)
            inside = [known for known in inside if len(known) == longest]
        else:
            inside = [known for known in candidates if f"/{known.lower()}".endswith(f"/{folded}")]
        return inside[0] if len(inside) == 1 else None

    @cached_property
    def _by_file_name(self) -> Mapping[str, tuple[str, ...]]:
        names: dict[str, list[str]] = defaultdict(list)
        for path in sorted(self.paths):
            names[path.rpartition("/")[2].lower()].append(path)
        return {name: tuple(all_) for name, all_ in names.items()}

    @cached_property
    def _declared(self) -> tuple[KnownSymbol, ...]:
        found = []
        for key in sorted(self._places):
            parts = key_parts(key)
            if parts is not None and parts.language not in ("", "file", "doc", "nuget", "http"):
                found += [KnownSymbol(node, parts) for node in self._places[key]]
        return tuple(found)

    @cached_property
    def _by_path(self) -> Mapping[str, tuple[KnownSymbol, ...]]:
        files: dict[str, list[KnownSymbol]] = defaultdict(list)
        for declared in self._declared:
            if declared.node.path:
                files[declared.node.path].append(declared)
        return {
            path: tuple(sorted(all_, key=lambda each: (each.node.line_start, -each.node.line_end, each.node.key)))
            for path, all_ in files.items()
        }

    @cached_property
    def _by_place(self) -> Mapping[tuple[str, NodeType, str], tuple[KnownSymbol, ...]]:
        names: dict[tuple[str, NodeType, str], list[KnownSymbol]] = defaultdict(list)
        for path, declared in self._by_path.items():
            for each in declared:
                names[(path, each.parts.kind, each.parts.name)].append(each)
        return {place: tuple(all_) for place, all_ in names.items()}

    @cached_property
    def _by_name(self) -> Mapping[tuple[NodeType, str], tuple[KnownSymbol, ...]]:
        names: dict[tuple[NodeType, str], list[KnownSymbol]] = defaultdict(list)
        for declared in self._declared:
            names[(declared.parts.kind, declared.parts.name)].append(declared)
        return {name: tuple(all_) for name, all_ in names.items()}

    @cached_property
    def _database(self) -> Mapping[str, tuple[tuple[KeyParts, str], ...]]:
        names: dict[str, list[tuple[KeyParts, str]]] = defaultdict(list)
        for key in sorted(self._places):
            parts = key_parts(key)
            if parts is not None and parts.language == "":
                names[parts.name.lower()].append((parts, key))
        return {name: tuple(all_) for name, all_ in names.items()}


def overload(
    candidates: Iterable[KnownSymbol], parameters: tuple[str, ...] | None, owner: str = ""
) -> tuple[KnownSymbol, bool] | None:
    """The declaration that a name with parameter types means, and whether that is sure.

    `owner` is the end of the qualified name of the type around, as far as it is told; with arity (``Cart`1``) where
    that is told. Without a fitting parameter list only a single candidate is taken, as not sure; of several there is
    no answer.
    """
    found = _owned(list(candidates), owner)
    if parameters is not None:
        shape = _shapes(parameters)
        same = [each for each in found if each.parts.parameters is not None and _shapes(each.parts.parameters) == shape]
        if same:
            return same[0], len({each.node.key for each in same}) == 1
    keys = {each.node.key for each in found}
    if len(keys) == 1:
        return found[0], parameters is None and found[0].parts.parameters is None
    return None


def _owned(candidates: list[KnownSymbol], owner: str) -> list[KnownSymbol]:
    """Those of that owner; when there are none, those whose owner differs in its arity only."""
    if not owner:
        return candidates
    exact = [each for each in candidates if f".{each.parts.owner}".endswith(f".{owner}")]
    bare = without_arity(owner)
    return exact or [each for each in candidates if f".{without_arity(each.parts.owner)}".endswith(f".{bare}")]


def _shapes(parameters: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(map(type_shape, parameters))


def _normal(written: str) -> str:
    """`/`-separated, without `.` and inner `..`, a `file:` URL as its path."""
    text = written.strip().replace("\\", "/")
    if text.lower().startswith("file:"):
        text = unquote(text[len("file:") :])
        text = "/" + text.lstrip("/")
        if _DRIVE.match(text):
            text = text[1:]
    return posixpath.normpath(text) if text else ""
