"""Keys taken apart, and types written in two ways compared."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from rag_assets.contracts.graph import NodeType

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
