"""C# type expressions: as written (`Outer.Repo<Order?>[]` → names, arguments, brackets), and after resolution.

Names of types and attributes without qualification, arguments and generics.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import msgspec

_CUT = re.compile(r"[<(\[\s]")
_INTERFACE_NAME = re.compile(r"I[A-Z]")  # the .NET naming rule; base lists do not say which entry is an interface
_ATTRIBUTE_SUFFIX = "Attribute"


@lru_cache(maxsize=16_384)
def simple_name(type_text: str) -> str:
    """`Acme.Repo<Order>` → `Repo`; `Base(x)` → `Base`; `global::System.Exception` → `Exception`."""
    head = _CUT.split(type_text.strip(), maxsplit=1)[0]
    return head.rsplit(".", 1)[-1].rsplit(":", 1)[-1]


@lru_cache(maxsize=16_384)
def attribute_name(attribute: str) -> str:
    """`Xunit.FactAttribute(Skip = "x")` → `Fact`; `return: NotNull` → `NotNull`."""
    name = simple_name(attribute.split(":", 1)[1] if _has_target(attribute) else attribute)
    return name.removesuffix(_ATTRIBUTE_SUFFIX) or name


def _has_target(attribute: str) -> bool:
    head, colon, rest = attribute.partition(":")
    return bool(colon) and not rest.startswith(":") and head.strip().isidentifier()


def is_interface_name(name: str) -> bool:
    return _INTERFACE_NAME.match(name) is not None


ARRAY = "[]"
TUPLE = "()"

MAX_DEPTH = 24
"""Deepest nesting of type arguments that is read: real code stays below six, and no text overflows the stack."""

MAX_CHARS = 2_000
"""Longest expression that is parsed; what is longer is no type."""


@dataclass(frozen=True, slots=True)
class TypeSyntax:
    """`name` is dotted without arguments (`Outer.Repo`), `[]` for an array of its only argument, `()` for a tuple.

    `arity` counts the arguments of the last name, also of the open `Repo<,>`; `labels` are the names of the elements
    of a tuple. Nullability, pointers and `ref` say nothing about members and are left out.
    """

    name: str
    arguments: tuple[TypeSyntax, ...] = ()
    arity: int = 0
    labels: tuple[str, ...] = ()


NOTHING = TypeSyntax("")

_TOKEN = re.compile(r"[@\w]+|::|[^\s\w]")
_WORDS_BEFORE = frozenset({"ref", "readonly", "scoped", "out", "in", "params", "this", "const"})


@lru_cache(maxsize=32_768)  # the distinct types of a large repository
def read_type_syntax(text: str) -> TypeSyntax:
    """The type that `text` spells; `NOTHING` where it spells none. Never raises."""
    if text.isidentifier():  # most are
        return TypeSyntax(text)
    if not text or len(text) > MAX_CHARS:
        return NOTHING
    return _Cursor(_TOKEN.findall(text)).type(0)


class _Cursor:
    """A cursor over the tokens of one expression. Every step moves forward or ends, so any input ends."""

    __slots__ = ("_at", "_tokens")

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = [*tokens, "", ""]
        self._at = 0

    def type(self, depth: int) -> TypeSyntax:
        tokens = self._tokens
        while tokens[self._at] in _WORDS_BEFORE:
            self._at += 1
        found = self._tuple(depth) if tokens[self._at] == "(" else self._named(depth)
        while True:
            token = tokens[self._at]
            if token == "[":
                if tokens[self._at + 1] not in ("]", ","):
                    return found
                while tokens[self._at] not in ("]", ""):
                    self._at += 1
                self._at += 1
                found = TypeSyntax(ARRAY, (found,), 1)
            elif token in ("?", "*", "&"):
                self._at += 1
            else:
                return found

    def _named(self, depth: int) -> TypeSyntax:
        parts: list[str] = []
        arguments: tuple[TypeSyntax, ...] = ()
        arity = 0
        while True:
            token = self._tokens[self._at]
            if not token or not (token[0].isalnum() or token[0] in "_@"):
                break
            parts.append(token.lstrip("@"))
            arguments, arity = (), 0
            self._at += 1
            if self._tokens[self._at] == "<":
                self._at += 1
                arguments, arity = self._arguments(depth)
            token = self._tokens[self._at]
            if token == "::":
                if parts[-1] == "global":
                    parts.pop()
            elif token != ".":
                break
            self._at += 1
        return TypeSyntax(".".join(parts), arguments, arity) if parts else NOTHING

    def _arguments(self, depth: int) -> tuple[tuple[TypeSyntax, ...], int]:
        """The types up to `>`, which is taken, and how many there are or, in `<,>`, would be."""
        found, arity = self._list(">", depth)
        return tuple(entry for entry, _ in found if entry.name), arity

    def _tuple(self, depth: int) -> TypeSyntax:
        self._at += 1
        found, _ = self._list(")", depth)
        if len(found) == 1:
            return found[0][0]
        labels = tuple(label for _, label in found)
        return TypeSyntax(TUPLE, tuple(entry for entry, _ in found), len(found), labels if any(labels) else ())

    def _list(self, closer: str, depth: int) -> tuple[list[tuple[TypeSyntax, str]], int]:
        found: list[tuple[TypeSyntax, str]] = []
        count = 1
        while (token := self._tokens[self._at]) and token != closer:
            if token == ",":
                count += 1
                self._at += 1
                continue
            before = self._at
            part = self.type(depth + 1) if depth < MAX_DEPTH else NOTHING
            label = self._tokens[self._at]
            if label and (label[0].isalpha() or label[0] == "_"):
                self._at += 1
            else:
                label = ""
            found.append((part, label))
            if self._at == before:
                self._at += 1
        self._at += bool(self._tokens[self._at])
        return found, count


MAX_SUBSTITUTED_DEPTH = 16
"""How deep arguments are replaced: a type that contains itself in its own arguments would grow without end."""


class TypeRef(msgspec.Struct, frozen=True, gc=False, cache_hash=True):
    """A type with its arguments; a struct, because nothing is made, compared and hashed as often.

    `declared`: `name` is the id of a type of the label (see `TypeSymbol.id`). Otherwise it is the simple name of a
    type of a library (`Task`), of a type parameter in scope (`parameter`), `[]` (array) or `()` (tuple, whose element
    names are `labels`).
    """

    name: str
    arguments: tuple[TypeRef, ...] = ()
    declared: bool = False
    parameter: bool = False
    labels: tuple[str, ...] = ()

    @property
    def is_array(self) -> bool:
        return self.name == ARRAY

    @property
    def is_tuple(self) -> bool:
        return self.name == TUPLE


def substituted(found: TypeRef, arguments: Mapping[str, TypeRef], depth: int = 0) -> TypeRef:
    """`found` with type parameters replaced by `arguments`; parameters without one stay."""
    if found.parameter:
        return arguments.get(found.name, found)
    if not found.arguments or depth > MAX_SUBSTITUTED_DEPTH:
        return found
    inner = tuple(substituted(argument, arguments, depth + 1) for argument in found.arguments)
    return found if inner == found.arguments else TypeRef(found.name, inner, found.declared, False, found.labels)
