"""Keys and signatures of other tools taken apart, and matched by place and by name against what the label declares."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import unquote

from rag_assets.contracts.graph import GraphNode, NodeType

_LANGUAGE = re.compile(r"[a-z][a-z0-9_+#-]*")
_NO_PROGRAM = frozenset(
    {
        *("", "file", "doc", "http", "nuget", "npm", "pypi", "golang", "maven", "cargo", "gem", "composer", "hex"),
        *("swift", "pub", "vcpkg", "hackage"),
    }
)
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


def split_top_level(text: str, separator: str = ",") -> tuple[str, ...]:
    """The trimmed pieces between separators outside of brackets; none for a blank text."""
    pieces, depth, start = [], 0, 0
    for at, char in enumerate(text):
        if char in _OPENING:
            depth += 1
        elif char in _CLOSING:
            depth -= 1
        elif char == separator and depth <= 0:
            pieces.append(text[start:at].strip())
            start = at + 1
    return (*pieces, text[start:].strip()) if text.strip() else ()


@lru_cache(maxsize=_CACHED_TYPES)
def type_shape(written: str) -> str:
    """A type reduced to what both writers say the same: no namespaces, modifiers, nullability or blanks, C#'s words.

    `ref System.Collections.Generic.List<Int32?>` → `List<int>`.
    """
    bare = _QUALIFIER.sub("", _MODIFIERS.sub("", written.strip()))
    words = _WORD.sub(lambda found: _ALIASES.get(found.group(), found.group()), bare)
    return "".join(words.replace("?", "").split())


def displayed_member(display: str) -> tuple[str, tuple[str, ...] | None]:
    """(type around, parameter types) of a member as Roslyn displays it, without namespaces:
    `Task<T> Cart<T>.Line.Find(int id, [string name = ","])` → ``Cart`1.Line``, (int, string).

    '' without a type around, None without a parameter list.
    """
    head, parameters = display.strip().partition(" where ")[0].rstrip(), None
    opening = _opening_of_last(head)
    if opening >= 0:
        parameters = tuple(map(_declared_type, split_top_level(head[opening + 1 : -1])))
        head = head[:opening]
    head, operator, _ = head.partition(".operator ")
    names = split_top_level((split_top_level(head, " ") or ("",))[-1], ".")
    return ".".join(map(_with_arity, names if operator else names[:-1])), parameters


def _opening_of_last(text: str) -> int:
    """The offset of the parenthesis that the last character closes, -1 where it closes none."""
    depth = 0
    for at in range(len(text) - 1, -1, -1) if text.endswith(")") else ():
        depth += (text[at] == ")") - (text[at] == "(")
        if depth == 0:
            return at
    return -1


def _with_arity(name: str) -> str:
    bare, bracket, arguments = name.partition("<")
    return f"{bare}`{len(split_top_level(arguments.removesuffix('>')))}" if bracket else bare


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
    """The nodes, files and commit of the label. A lookup that finds nothing gives None or nothing."""

    def __init__(self, nodes: Iterable[GraphNode] = (), paths: Iterable[str] = (), commit: str = "") -> None:
        """`paths` are repository paths (`/`-separated); those of the nodes are known without being named."""
        self.commit = commit
        self._places: dict[str, list[GraphNode]] = defaultdict(list)
        self._by_path: dict[str, list[KnownSymbol]] = defaultdict(list)
        self._by_place: dict[tuple[str, NodeType, str], list[KnownSymbol]] = defaultdict(list)
        self._by_name: dict[tuple[NodeType, str], list[KnownSymbol]] = defaultdict(list)
        self._database: dict[str, list[KnownSymbol]] = defaultdict(list)
        self.paths = set(paths)
        for node in sorted(nodes):
            self._places[node.key].append(node)
            self.paths |= {node.path} - {""}
            parts = key_parts(node.key)
            if parts is None:
                continue
            symbol = KnownSymbol(node, parts)
            if parts.language == "":
                self._database[parts.name.lower()].append(symbol)
            elif parts.language not in _NO_PROGRAM:
                self._by_name[parts.kind, parts.name].append(symbol)
                self._by_path[node.path].append(symbol)
                self._by_place[node.path, parts.kind, parts.name].append(symbol)
        self._by_file_name: dict[str, list[str]] = defaultdict(list)
        for path in sorted(self.paths):
            self._by_file_name[path.rpartition("/")[2].lower()].append(path)

    def places(self, key: str) -> tuple[GraphNode, ...]:
        """The nodes with that key, one per part; none for an unknown key."""
        return tuple(self._places.get(key, ()))

    def in_file(self, path: str) -> list[KnownSymbol]:
        """What a file declares under a symbol of its own, by key."""
        return self._by_path.get(path, [])

    def named_in_file(self, path: str, kind: NodeType, name: str) -> list[KnownSymbol]:
        """Those of that kind and simple name (without arity)."""
        return self._by_place.get((path, kind, name), [])

    def symbols(self, kind: NodeType, name: str) -> list[KnownSymbol]:
        """Symbols of programs of that kind and simple name (without arity), ordered by key and place."""
        return self._by_name.get((kind, name), [])

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
            each
            for each in self._database.get(name.lower(), ())
            if kind is None or each.parts.kind is kind or {each.parts.kind, kind} <= _TABLES
        ]
        exact = [each for each in found if each.parts.owner.lower() == schema.lower()]
        if not exact and schema.lower() in _IMPLIED_SCHEMAS and len(found) == 1:
            exact = found
        best = min(
            exact,
            key=lambda each: (each.parts.kind is not kind, each.parts.kind is NodeType.TABLE_OR_VIEW, each.node.key),
            default=None,
        )
        return best.node.key if best is not None else None

    def path_of(self, written: str, root: str = "") -> str | None:
        """The repository path that another tool wrote in its own way; None when it is none of ours.

        Understands backslashes, `file:` URLs, absolute paths below `root` or below any other checkout, and paths
        relative to a folder of the repository, as long as only one file can be meant. Where no path is known (a test,
        a foreign index) a clean relative path is taken as it is.
        """
        path, base = _normal(written), _normal(root).rstrip("/") + "/"
        if path.lower().startswith(base.lower()) and base != "/":
            path = path[len(base) :]
        is_elsewhere = path.startswith("/") or bool(_DRIVE.match(path))
        if path in self.paths or path in ("", "."):
            return path if path in self.paths else None
        if not self.paths:
            return None if is_elsewhere or path.startswith("../") else path
        folded = _DRIVE.sub("/", path).lower()
        while folded.startswith("../"):
            folded = folded[3:]
        candidates = self._by_file_name.get(folded.rpartition("/")[2], ())
        if is_elsewhere:
            return max((known for known in candidates if folded.endswith(f"/{known.lower()}")), key=len, default=None)
        inside = [known for known in candidates if f"/{known.lower()}".endswith(f"/{folded}")]
        inside = [known for known in inside if known.lower() == folded] or inside
        return inside[0] if len(inside) == 1 else None


def overload(
    candidates: Iterable[KnownSymbol], parameters: tuple[str, ...] | None, owner: str = ""
) -> tuple[str, bool] | None:
    """(key, is it sure) of the declaration that a name with parameter types means.

    `owner` is what is known of the qualified name of the type around: its end, with arity (``Cart`1``) if that is
    known. Where no parameter list fits, a single candidate is taken as not sure, and several give no answer.
    """
    found = _owned(list(candidates), owner)
    if parameters is not None:
        shape = _shapes(parameters)
        same = [each for each in found if each.parts.parameters is not None and _shapes(each.parts.parameters) == shape]
        if same:
            return same[0].node.key, len({each.node.key for each in same}) == 1
    if len({each.node.key for each in found}) == 1:
        return found[0].node.key, parameters is None and found[0].parts.parameters is None
    return None


def _owned(candidates: list[KnownSymbol], owner: str) -> list[KnownSymbol]:
    """The candidates of that owner, else those whose owner differs only in its arity."""
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
        text = "/" + unquote(text[len("file:") :]).lstrip("/")
        text = text[1:] if _DRIVE.match(text) else text
    return posixpath.normpath(text) if text else ""
