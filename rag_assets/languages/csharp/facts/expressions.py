"""Small C# expressions in attributes and initializers: arguments, string literals, `new X { … }`, keys of resources.

Not a parser: it knows strings, comments and brackets, which is enough to cut a text at its commas, and it leaves
what it does not know as written. One possessive pattern; the cost is linear in the text and its nesting.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from rag_assets.contracts.description import ResourceDictionary
from rag_assets.contracts.result import Message

_TOKEN = re.compile(
    r"""
      (?P<blank>\s++|//[^\r\n]*+|/\*(?s:.*?)(?:\*/|\Z))
    | (?P<raw>\$*+(?<!")(?P<quotes>"{3,}+)(?s:.*?)(?P=quotes)"*+)
    | (?P<verbatim>(?:@\$?|\$@)"(?:[^"]++|"")*+"?)
    | (?P<interpolated>\$"(?:[^"\\\r\n]++|\\.)*+"?)
    | (?P<string>"(?:[^"\\\r\n]++|\\.)*+"?)
    | (?P<char>'(?:[^'\\\r\n]++|\\.)*+'?)
    | (?P<generic><[\w\s.,<>?\[\]:]{0,200}>(?=\s*[(){}\[\],.;>]|\s*\Z))
    | (?P<word>@?\w++)
    | (?P<sign>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_OPENERS, _CLOSERS = "([{", ")]}"
_NAMED = re.compile(r"\s*@?(\w+)\s*(?:=(?![=>])|:(?!:))\s*")
_NAME = re.compile(r"(?:global\s*::\s*)?@?\w+(?:\s*<[^()]*>)?(?:\s*\.\s*@?\w+(?:\s*<[^()]*>)?)*")
_OPERATOR_OF_NAMES = re.compile(r"\s*(?:nameof|typeof)\s*\((.*)\)\s*\Z", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{1,4})|(.))", re.DOTALL)
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "0": "\0", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "e": "\x1b"}
_NEW = re.compile(r"\s*(?:new\b\s*(?P<type>[\w.]+(?:\s*<[^(){}]*>)?)?\s*(?:\[[^\[\]]*\]\s*)?)?")


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of an attribute or call as written; `named` holds both `Name = x` and `name: x`."""

    positional: tuple[str, ...] = ()
    named: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Initializer:
    """`new X(…) { A = 1, B = { … } }`: what is assigned, as written, and the elements that are not assignments."""

    type: str = ""
    assigned: Mapping[str, str] = field(default_factory=dict)
    items: tuple[str, ...] = ()


@lru_cache(maxsize=4_096)
def arguments_of(attribute: str) -> Arguments:
    """The arguments of `Name(…)`, comments removed. Text without parentheses has none; an unclosed list is read to
    its end. Never raises."""
    content = _bracketed(attribute, "(")
    positional: list[str] = []
    named: dict[str, str] = {}
    for text in split_list(content or ""):
        name = _NAMED.match(text)
        if name:
            named.setdefault(name[1], text[name.end() :].strip())
        else:
            positional.append(text)
    return Arguments(tuple(positional), named)


def split_list(content: str, separator: str = ",") -> list[str]:
    """The trimmed entries of a list, cut at separators outside of strings and brackets; empty entries left out."""
    entries: list[str] = []
    entry: list[str] = []
    depth = 0
    for kind, text in _tokens(content):
        if kind == "sign":
            depth += (text in _OPENERS) - (text in _CLOSERS)
            if text == separator and depth <= 0:
                entries.append("".join(entry))
                entry = []
                continue
        entry.append(" " if kind == "blank" else text)
    entries.append("".join(entry))
    return [trimmed for found in entries if (trimmed := found.strip())]


def literal(text: str) -> str | None:
    """The string that literals joined by `+` make; None for anything that is not known without running it."""
    value: list[str] = []
    expects_value = True
    for kind, token in _tokens(text):
        if kind == "blank" or token in ("(", ")"):
            continue
        if expects_value and kind in ("string", "verbatim", "raw", "char") and not _has_holes(token):
            value.append(_decoded(kind, token))
            expects_value = False
        elif not expects_value and token == "+":
            expects_value = True
        else:
            return None
    return None if expects_value else "".join(value)


def last_name(expression: str) -> str:
    """The last name of a dotted one, `nameof(…)` and `typeof(…)` opened: `nameof(Texts.Title)` → `Title`.

    '' for what is no name: a literal, a call, an operator.
    """
    parts = dotted_name(expression)
    return parts[-1] if parts else ""


def dotted_name(expression: str) -> tuple[str, ...]:
    """The parts of a dotted name without type arguments, `nameof(…)` and `typeof(…)` opened; () for anything else."""
    opened = _OPERATOR_OF_NAMES.match(expression)
    text = (opened[1] if opened else expression).strip()
    if not _NAME.fullmatch(text):
        return ()
    plain = re.sub(r"<[^()]*>", "", text).rsplit("::", 1)[-1]
    return tuple(part.strip().lstrip("@") for part in plain.split("."))


def initializer(text: str) -> Initializer | None:
    """The object or collection initializer that `text` is: `new X { … }`, `new() { … }`, `{ … }` or `[ … ]`."""
    head = _NEW.match(text)
    rest = text[head.end() :] if head else text
    called = bool(head and head[0].strip()) and rest.startswith("(")
    if called:
        rest = rest[_end_of_brackets(rest) :].lstrip()
    if rest[:1] not in ("{", "["):
        return Initializer(head["type"] or "") if called and head else None
    assigned: dict[str, str] = {}
    items: list[str] = []
    for entry in split_list(_bracketed(rest, rest[0]) or ""):
        name = _NAMED.match(entry)
        if name and "=" in name[0]:
            assigned.setdefault(name[1], entry[name.end() :].strip())
        else:
            items.append(entry)
    return Initializer(((head["type"] if head else None) or "").strip(), assigned, tuple(items))


def first_initializer(text: str, type_name: str) -> Initializer | None:
    """The first `new TypeName … { … }` or target-typed `new() { … }` in a text of code, such as a property body."""
    code = "".join(" " * len(t) if k in ("blank",) and t.startswith("/") else t for k, t in _tokens(text))
    found = re.search(rf"\bnew\s*(?:(?:[\w.]+\.)?{re.escape(type_name)}\b|(?=\(\s*\)\s*\{{))", code)
    return initializer(code[found.start() :]) if found else None


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    """(kind, text) of each token; together they are the text."""
    for found in _TOKEN.finditer(text):
        yield found.lastgroup or "", found[0]


def _bracketed(text: str, opener: str) -> str | None:
    """What stands between the first `opener` outside of strings and its closing bracket; None without one."""
    inside: list[str] | None = None
    depth = 0
    for kind, token in _tokens(text):
        if kind == "sign":
            if inside is None:
                if token == opener:
                    inside, depth = [], 1
                continue
            depth += (token in _OPENERS) - (token in _CLOSERS)
            if depth == 0:
                break
        if inside is not None:
            inside.append(token)
    return None if inside is None else "".join(inside)


def _end_of_brackets(text: str) -> int:
    """The offset after the bracket that closes the one `text` begins with; its length where none does."""
    depth = position = 0
    for kind, token in _tokens(text):
        position += len(token)
        if kind == "sign":
            depth += (token in _OPENERS) - (token in _CLOSERS)
            if depth == 0:
                break
    return position


def _has_holes(token: str) -> bool:
    head = token.partition('"')[0]
    return "$" in head and "{" in token


def _decoded(kind: str, token: str) -> str:
    """The characters that a literal stands for."""
    token = token.lstrip("$")
    if kind == "raw":
        return _raw(token)
    if kind == "verbatim":
        return token.lstrip("@$")[1:].removesuffix('"').replace('""', '"')
    quote = token[0]
    return _ESCAPE.sub(_escaped, token[1:].removesuffix(quote))


def _raw(token: str) -> str:
    """A raw literal: between its quotes, the indentation of the closing line taken off."""
    fence = len(token) - len(token.lstrip('"'))
    content = token[fence : len(token) - fence]
    if not content[:1].isspace() or "\n" not in content:
        return content
    *lines, last = content.split("\n")[1:]
    return "\n".join(line.removesuffix("\r").removeprefix(last) for line in lines)


def _escaped(found: re.Match[str]) -> str:
    code = found[1] or found[2] or found[3]
    if code is None:
        return _ESCAPES.get(found[4], found[4])
    value = int(code, 16)
    return chr(value) if value <= 0x10FFFF and not 0xD800 <= value <= 0xDFFF else found[0]


NO_TEXT = frozenset({"RESX.unknown-class", "RESX.missing-key", "RESX.not-text"})
"""Warnings of the resource dictionary that say it has no text."""

_KEYS_CLASS = "Names"
"""The nested class of key constants that generated resource classes have: `Texts.Names.Title`. [L]"""


@dataclass(slots=True)
class LocalizedAttributes:
    """Resolves the texts of one segment and keeps what it had to warn of; `unresolved` are the keys that stand for
    themselves. `near` is the path of the file."""

    resources: ResourceDictionary
    near: str
    warnings: list[Message] = field(default_factory=list)
    unresolved: set[str] = field(default_factory=set)

    def text(self, expression: str, resource_type: str = "", place: str = "") -> str:
        """The text that an attribute argument stands for.

        A literal is itself, or a key when a `resource_type` (`typeof(Texts)`) is given. `Texts.Names.Title`,
        `Texts.Title` and `nameof(Texts.Title)` name their class. An unresolved key stands for itself, with a warning
        that names the `place`; so does what is only known by running the code, as written. A key whose own class has
        it, where the given one has not, is a mistake of the code: resolved, and reported.
        """
        if not expression or expression == "null":
            return ""
        written = literal(expression)
        resource_class = type_argument(resource_type)
        if written is not None:
            return self._resolved(resource_class, written, place) if resource_class and written else written
        parts = dotted_name(expression)
        if not parts:
            return expression
        key, *owner = reversed(parts)
        owner = [part for part in owner if part != _KEYS_CLASS]
        own = ".".join(reversed(owner))
        if resource_class and own and not self._has(resource_class, key) and self._has(own, key):
            self._warn("RESX.wrong-class", f"{resource_class} has no key {key}, {own} has; the key names {own}", place)
            resource_class = own
        return self._resolved(resource_class or own, key, place) if resource_class or own else key

    def _has(self, resource_class: str, key: str) -> bool:
        found = self.resources.resolve(resource_class, key, near=self.near)
        return not any(warning.code in NO_TEXT for warning in found.warnings)

    def _warn(self, code: str, text: str, place: str) -> None:
        self.warnings.append(Message(code, f"{place}: {text}" if place else text))

    def _resolved(self, resource_class: str, key: str, place: str) -> str:
        found = self.resources.resolve(resource_class, key, near=self.near)
        for warning in found.warnings:
            self._warn(warning.code, warning.text, place)
        if any(warning.code in NO_TEXT for warning in found.warnings):
            self.unresolved.add(key)
        return found.value or key

    def first_known(self, *candidates: str) -> str:
        """The first text that is one, no key that was not found; '' without any."""
        return next((text for text in candidates if text and text not in self.unresolved), "")


def type_argument(expression: str) -> str:
    """The type that `typeof(Texts)` or `(typeof(Ns.Texts))` names, dotted as written; '' for anything else."""
    text = expression.strip()
    while text.startswith("(") and text.endswith(")"):
        text = text[1:-1].strip()
    return ".".join(dotted_name(text)) if text.startswith("typeof") else ""
