"""A file whose calls are looked for: the declarations around them, and what it tells of the names that they use."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from rag_assets.contracts.graph import NodeType, declaration_key, file_key, key_kind, member_keys
from rag_assets.contracts.segment import leaves_of
from rag_assets.languages.call_syntax import CallSyntax, GivenType, code_of, types_of_names
from rag_assets.languages.callables import simple_name, written_outside
from rag_assets.languages.code_imports import CodeImport, imports_of
from rag_assets.languages.parsed_file import ParsedFile

_NAMES = re.compile(r"\w+")
_ASSIGNED = re.compile(r"(?<![\w$.])([\w$]++)\s{0,8}(?::[^\n=;]{0,80})?(?::?=(?![={])|\b(?:in|of)\b|=>)")
_TUPLE = re.compile(
    r"^[ \t]*(?:(?:const|let|var|for)[ \t]+)?[(\[{]?(\w+(?:,[ \t]*\w+)+)[)\]}]?[ \t]*(?::?=(?!=)|in\b)", re.MULTILINE
)
_RECEIVER = re.compile(r"func\s*\(\s*(\w+)\s+\*?(\w+)")
_COLON = re.compile(r"(?<!:):(?!:)")
_PROMOTED = re.compile(r"[(,]\s*(?:@\w+\([^()\n]*\)\s*)?(?:private|protected|public|readonly)\b[^,;()=]*\Z")
"""What stands before a parameter that is a field too, in TypeScript, PHP and Kotlin."""
_LONGEST_PARAMETER = 80  # what stands before its name
_STORED = re.compile(r"\b(?:self|this)\.(?P<field>\w+)[ \t]*=[ \t]*(?P<name>\w+)[ \t]*;?[ \t]*$", re.MULTILINE)
_MOST_GIVEN = 20
"""Types that one name is told to have in one declaration: more are a name of everything."""


@dataclass(frozen=True, slots=True)
class CallHolder:
    """A declaration that calls stand in: its key, its own name, the names of the types around it and of their bases."""

    start: int
    end: int
    key: str
    name: str
    types: tuple[str, ...]
    bases: tuple[str, ...]
    receiver: str = ""
    signature: str = ""


class CallingFile:
    """A file whose calls are looked for."""

    def __init__(self, file: ParsedFile, syntax: CallSyntax) -> None:
        self._text = file.text
        self.path, self.syntax, self.code = file.path, syntax, code_of(file.text, file.language)
        self.holders = _holders(file)
        self._starts = [one.start for one in self.holders]
        self._around = _enclosing(self.holders)
        self._locals: dict[int, frozenset[str]] = {}
        self.folder = file.path.rpartition("/")[0]
        self.module = next((one.namespace for one in file.segments if one.namespace), "")

    def holder(self, at: int) -> CallHolder | None:
        """The innermost declaration around an offset."""
        number = bisect_right(self._starts, at) - 1
        while number >= 0 and at >= self.holders[number].end:
            number = self._around[number]
        return self.holders[number] if number >= 0 else None

    @cached_property
    def imports(self) -> Mapping[str, list[CodeImport]]:
        return imports_of(self.code, self._text, self.syntax.family)

    def locals(self, holder: CallHolder) -> frozenset[str]:
        """The names that a declaration gives to its parameters and variables."""
        if holder.start not in self._locals:
            body = self.code[holder.start : holder.end] if holder.name else ""
            tuples = " ".join(_TUPLE.findall(body))
            found = {
                *parameter_names(holder.signature, self.syntax.family),
                *_NAMES.findall(tuples),
                *_ASSIGNED.findall(body),
            }
            self._locals[holder.start] = frozenset(found - {holder.name})
        return self._locals[holder.start]

    def given(self, name: str, holder: CallHolder) -> list[GivenType]:
        """What is told of the type of a name: in the declaration that calls, else outside of all."""
        return self._given.get((name, holder.start)) or self._given.get((name, -1), [])

    @cached_property
    def _given(self) -> Mapping[tuple[str, int], list[GivenType]]:
        """By name and the start of the declaration that tells it, -1 outside of all, and of fields."""
        known: dict[tuple[str, int], dict[tuple[str, str | None, bool], GivenType]] = {}
        for name, told in types_of_names(self.code, self.syntax).items():
            for one in told:
                around = self.holder(one.at)
                is_local = (
                    around is not None
                    and key_kind(around.key) is NodeType.METHOD
                    and self.code[one.at - 1 : one.at] != "."  # `self.runner = Runner()`
                    and _PROMOTED.search(self.code, max(one.at - _LONGEST_PARAMETER, 0), one.at) is None
                )
                start = around.start if around is not None and is_local else -1
                known.setdefault((name, start), {}).setdefault((one.name, one.of, one.is_made), one)
        for stored in _STORED.finditer(self.code):
            around = self.holder(stored.start())
            if around is not None and (given := known.get((stored["name"], around.start))):
                known.setdefault((stored["field"], -1), {}).update(given)
        return {key: list(told.values())[:_MOST_GIVEN] for key, told in known.items()}


def parameter_names(signature: str, family: str) -> Iterator[str]:
    """The names of the parameters of a declaration: in Go the first word of each, else the last one before its type or
    default, which stands behind a colon."""
    start = signature.find("(", signature.find(")") if signature.startswith("func (") else 0)
    if start < 0:
        return
    depth, parts = 0, [""]
    for char in signature[start + 1 :]:
        if char in "([{<":
            depth += 1
        elif char in ")]}>":
            if depth == 0 and char == ")":
                break
            depth -= depth > 0
        elif char == "," and depth == 0:
            parts.append("")
        elif depth == 0:
            parts[-1] += char
    for part in parts:
        words = _NAMES.findall(_COLON.split(part.partition("=")[0], maxsplit=1)[0])
        yield from words[:1] if family == "go" else words[-1:]


def _holders(file: ParsedFile) -> list[CallHolder]:
    found: list[CallHolder] = []
    for segment in file.segments:
        own = declaration_key(file.language, segment.symbol, segment.kind, file.path)
        is_type = own != file_key(file.path)
        types = (simple_name(segment.symbol),) if is_type else ()
        bases = tuple(map(simple_name, segment.base_list))
        found.append(CallHolder(segment.span.char_start, segment.span.char_end, own, segment.name, types, bases))
        of_types = {"": (own, types, bases)}
        for leaf in leaves_of(segment.members):
            member, span = leaf.member, leaf.member.span
            owner = leaf.owner_in(segment.symbol)
            keys = member_keys(file.language, owner, member)
            holder, around, above = of_types.get(leaf.owner, of_types[""])
            outside, name = written_outside(member.name)
            if keys and key_kind(keys[0]) is NodeType.TYPE:
                around, above = (*around, member.name), tuple(map(simple_name, member.base_list))
                of_types[leaf.path] = keys[0], around, above
            elif outside:
                around = (outside,)
            receiver = _RECEIVER.match(member.signature)
            key = keys[0] if keys else holder
            name = name if keys and key_kind(keys[0]) is NodeType.METHOD else ""
            of = receiver[1] if receiver else ""
            found.append(CallHolder(span.char_start, span.char_end, key, name, around, above, of, member.signature))
    return sorted(found, key=lambda one: (one.start, -one.end))


def _enclosing(holders: Sequence[CallHolder]) -> list[int]:
    """Of each declaration the number of the one around it, -1 for none."""
    around: list[int] = []
    open_ones: list[int] = []
    for number, one in enumerate(holders):
        while open_ones and holders[open_ones[-1]].end <= one.start:
            open_ones.pop()
        around.append(open_ones[-1] if open_ones else -1)
        open_ones.append(number)
    return around
