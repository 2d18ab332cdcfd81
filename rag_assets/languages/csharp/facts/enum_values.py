"""The values of enums with their numbers: explicit, implied, flags and expressions of other values."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass

from rag_assets.contracts.segment import Member, MemberKind, Segment, SymbolText, first_paragraph
from rag_assets.languages.csharp.binder.type_syntax import attribute_name, simple_name
from rag_assets.languages.csharp.facts.expressions import LocalizedAttributes, arguments_of, literal, type_argument
from rag_assets.languages.csharp.facts.properties import same_words

MAX_EXPRESSION = 300
"""Longest expression that is computed: a union of some twenty flags. The grammar nests as deep as it is long."""


@dataclass(frozen=True, slots=True)
class EnumValue:
    """One value. `expression` is what is written, `number` what it comes to: None where that needs other files or
    where the language gives no numbers. `explicit` tells a written number from an implied one; `label` is the text
    that people see."""

    name: str
    expression: str = ""
    number: int | None = None
    explicit: bool = False
    doc: str = ""
    label: str = ""

    def line(self) -> str:
        """One line of a snippet: `Any = 7 (Weekdays | Saturday | Sunday) — Any day.`"""
        text = self.name
        if self.number is not None:
            text += f" = {self.number}"
        if self.expression and self.expression != str(self.number):
            text += f" ({self.expression})" if self.number is not None else f" = {self.expression}"
        if self.label and not same_words(self.label, self.name):
            text += f" “{self.label}”"
        said = first_paragraph(self.doc)
        return f"{text} — {said}" if said else text


def enum_values(symbol_text: SymbolText, texts: LocalizedAttributes) -> tuple[EnumValue, ...]:
    """The values of an enum in text order."""
    segment = symbol_text.segment
    found: list[EnumValue] = []
    known: dict[str, int] = {}
    wrap = _BITS.get(simple_name(segment.base_list[0]) if segment.base_list else "int", _BITS["int"])
    following: int | None = 0 if segment.language in _NUMBERED else None
    for member in segment.members:
        if not _is_value(member, segment):
            continue
        written = member.value.strip() or _long_expression(member, symbol_text)
        number = _number(written, known, segment, wrap) if written else following
        if number is not None:
            known[member.name] = number
        if segment.language in _NUMBERED:
            following = None if number is None else number + 1
        found.append(EnumValue(member.name, written, number, bool(written), member.doc, _label(member, texts)))
    return tuple(found)


def _is_value(member: Member, segment: Segment) -> bool:
    if member.kind is MemberKind.ENUM_VALUE:
        return True
    is_constant = segment.language == "python" and member.kind is MemberKind.FIELD and bool(member.value)
    return is_constant and not member.name.startswith("_")


def _label(member: Member, texts: LocalizedAttributes) -> str:
    """What attributes let people see instead of the name."""
    for attribute in member.attributes:
        name = attribute_name(attribute)
        if name not in _LABELS:
            continue
        arguments = arguments_of(attribute)
        if name == "EnumLabel":  # key, text of a resource, resource class [L]
            types = [argument for argument in arguments.positional if type_argument(argument)]
            expression = (*arguments.positional, "", "")[1] or arguments.named.get("LabelResource", "")
            return texts.text(expression, types[0] if types else "", member.name)
        wanted = arguments.named.get(_LABELS[name]) or (*arguments.positional, "")[0]
        return texts.text(wanted, arguments.named.get("ResourceType", ""), member.name)
    return ""


def _long_expression(member: Member, symbol_text: SymbolText) -> str:
    """The expression of a value that segmentation found too long to keep; '' for a value without one."""
    head, equals, expression = symbol_text.part(member.span).rpartition("=")
    name = head.rstrip()
    return expression.rstrip(", \r\n\t").lstrip() if equals and name.endswith(member.name) else ""


def _number(expression: str, known: dict[str, int], segment: Segment, wrap: tuple[int, bool]) -> int | None:
    """What an expression comes to; None where it is no arithmetic of numbers and earlier values."""
    is_character = segment.language == "csharp" and expression.startswith("'")
    is_text = not is_character and literal(expression) is not None
    if is_text or len(expression) > MAX_EXPRESSION:
        return None
    text = _CAST.sub("", expression)
    text = _UNCHECKED.sub("(", text)
    text = _CHARACTER.sub(lambda found: str(ord(found[1])), text)
    text = _LITERAL.sub(_plain_number, _NAME.sub(rf"{_PREFIX}\1", text))
    try:
        tree = ast.parse(text.strip(), mode="eval")
        value = _computed(tree.body, known, segment.name)
    except (SyntaxError, ValueError, ZeroDivisionError, RecursionError, MemoryError):
        return None
    return None if value is None else _wrapped(value, wrap)


def _computed(node: ast.expr, known: dict[str, int], enum: str) -> int | None:
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) is int else None
    if isinstance(node, ast.Name):
        return known.get(node.id.removeprefix(_PREFIX))
    if isinstance(node, ast.Attribute):
        owner = ast.unparse(node.value).rpartition(".")[2].removeprefix(_PREFIX)
        return known.get(node.attr.removeprefix(_PREFIX)) if owner == enum else None
    if isinstance(node, ast.UnaryOp):
        inner = _computed(node.operand, known, enum)
        unary = _UNARY.get(type(node.op))
        return None if inner is None or unary is None else unary(inner)
    if isinstance(node, ast.BinOp):
        left, right = _computed(node.left, known, enum), _computed(node.right, known, enum)
        binary = _BINARY.get(type(node.op))
        return None if left is None or right is None or binary is None else _wrapped(binary(left, right), _BITS["long"])
    return None


def _wrapped(value: int, wrap: tuple[int, bool]) -> int:
    """A number as its type holds it: `~0` of a byte is 255. Literals beyond a signed long stay as they are."""
    bits, signed = wrap
    if signed and bits == 64 and 0 <= value < 1 << 64:
        return value
    value &= (1 << bits) - 1
    return value - (1 << bits) if signed and value >> (bits - 1) else value


def _plain_number(found: re.Match[str]) -> str:
    digits = found[0].replace("_", "").lower()
    if digits.startswith("0x"):
        return str(int(digits.rstrip("ul"), 16))
    if digits.startswith("0b"):
        return str(int(digits.rstrip("ul"), 2))
    return str(int(digits.rstrip("ul")))


def _shifted(value: int, by: int) -> int:
    return value << (by & 63)


def _divided(left: int, right: int) -> int:
    """Towards zero, as C# divides."""
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


_NUMBERED = frozenset({"csharp", "typescript", "tsx"})
"""Languages that number the values that have no number."""

_BITS = {
    "byte": (8, False), "sbyte": (8, True), "short": (16, True), "ushort": (16, False), "int": (32, True),
    "uint": (32, False), "long": (64, True), "ulong": (64, False), "Byte": (8, False), "SByte": (8, True),
    "Int16": (16, True), "UInt16": (16, False), "Int32": (32, True), "UInt32": (32, False), "Int64": (64, True),
    "UInt64": (64, False),
}  # fmt: skip
"""Underlying type → (bits, signed)."""

_LABELS = {"Description": "", "Display": "Name", "DisplayName": "", "EnumMember": "Value", "EnumLabel": ""}
"""Attributes with a text for people, and the named argument that holds it."""

_UNARY: dict[type[ast.unaryop], Callable[[int], int]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
}
_BINARY: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.BitOr: operator.or_,
    ast.BitAnd: operator.and_,
    ast.BitXor: operator.xor,
    ast.LShift: _shifted,
    ast.RShift: lambda value, by: value >> (by & 63),
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: _divided,
    ast.Mod: lambda left, right: left - right * _divided(left, right),
}
_CAST = re.compile(r"\(\s*(?:System\s*\.\s*)?(?:s?byte|u?short|u?int|u?long|char|U?Int(?:16|32|64)|S?Byte)\s*\)")
_UNCHECKED = re.compile(r"\b(?:un)?checked\s*\(")
_NAME = re.compile(r"@?\b([^\W\d]\w*)")
_PREFIX = "v_"
"""Set before names, so that `None`, `is` or `class` are names in the expressions of Python too."""
_CHARACTER = re.compile(r"'([^'\\])'")
_LITERAL = re.compile(r"\b(?:0[xX][0-9a-fA-F_]+|0[bB][01_]+|[0-9][0-9_]*)[uUlL]*\b")
