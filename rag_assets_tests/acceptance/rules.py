"""The rule table of docs/acceptance.md as data: its rows, and which of them are declared done."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ACCEPTANCE = Path(__file__).parents[2] / "docs" / "acceptance.md"

RESOLUTION = "-"
"""Stands for the missing kind (M, S, P, F) of a row of table R."""

_AREA = re.compile(r"^## ([A-Z])\. ")
_ROW = re.compile(r"^\| ([A-Z]\d+) \| (.+) \|$")
_CELL = re.compile(r"(?<!\\) \| ")
_DONE = "Done: "
_RANGE = re.compile(r"^([A-Z])(\d+)(?:–([A-Z])(\d+))?$")
_KINDS = frozenset("MSPF")


class RuleTableError(ValueError):
    """The document is not the table it claims to be; the text quotes the line."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One row: `A07`, its kind (M must, S should, P protocol or format, F fields; `-` in table R), its text."""

    number: str
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class RuleTable:
    """All rows in order of the document, and the numbers that need a proof."""

    rules: tuple[Rule, ...]
    done: frozenset[str]

    @property
    def numbers(self) -> frozenset[str]:
        return frozenset(rule.number for rule in self.rules)


def read_rules(path: Path = ACCEPTANCE) -> RuleTable:
    """The table in the file. Raises RuleTableError."""
    return parse_rules(path.read_text(encoding="utf-8"))


def parse_rules(text: str) -> RuleTable:
    """The rows of every `## A. …` section, and its `Done: A01–A45, A47` line, where it has one.

    Raises RuleTableError for a row twice or in another area's table, and for a done row that is not in the table.
    """
    rules: dict[str, Rule] = {}
    done: set[str] = set()
    area = ""
    for line in text.splitlines():
        if heading := _AREA.match(line):
            area = heading[1]
        elif line.startswith(_DONE):
            done.update(_expanded(line.removeprefix(_DONE)))
        elif row := _ROW.match(line):
            number, cells = row[1], _CELL.split(row[2])
            if number in rules or not number.startswith(area):
                raise RuleTableError(f"row {number} twice or outside the table of its area: {line!r}")
            if len(cells) != 2:
                raise RuleTableError(f"a row has a number, a kind and a text: {line!r}")
            kind, said = (cells[0], cells[1]) if cells[0] in _KINDS else (RESOLUTION, " → ".join(cells))
            rules[number] = Rule(number, kind, said.replace("\\|", "|"))
    unknown = sorted(done - rules.keys())
    if unknown:
        raise RuleTableError(f"done, but no row of the table: {', '.join(unknown)}")
    return RuleTable(tuple(rules.values()), frozenset(done))


def _expanded(ranges: str) -> list[str]:
    """`A01–A03, A05` → A01, A02, A03, A05."""
    numbers: list[str] = []
    for part in ranges.rstrip(". ").split(", "):
        found = _RANGE.match(part)
        if found is None or found[3] not in (None, found[1]):
            raise RuleTableError(f"expected a row or a range of rows, found {part!r} in {_DONE}{ranges}")
        width = len(found[2])
        last = int(found[4] or found[2])
        numbers += [f"{found[1]}{number:0{width}}" for number in range(int(found[2]), last + 1)]
    return numbers
