"""How often code runs something: what is given an interval or a cron expression, made with one, or waits in a loop."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from rag_assets.answer.plans.code_lines import MOST_READ, code_of, points_with, product_of
from rag_assets.search.index import LabelIndex

_WORDS = (
    "TimeSpan Interval Cron AddScheduledTask Scheduled ScheduledTask Recurring RecurringJob Periodic PeriodicTimer"
    " Every Schedule typeof Task Delay while BackgroundService"
)
_GIVEN = re.compile(
    r"\b\w*(?:Scheduled|Recurring|Periodic|Schedule|Every|Cron|AddOrUpdate)\w*<(?:\w+\.)*(?P<name>(?!T\b|T[A-Z])[A-Z]\w*)>\s*\([^;\n]*"
    r"(?:\bTimeSpan\b|\bCron|Every|Hourly|Daily|Weekly|Monthly|\"[\d*/,-]+(?: [\w*/,?#-]+){4,}\")"
)
_MADE = re.compile(r"\bnew\s+[\w.]+\s*(?:\(\s*\))?\s*\{(?P<body>[^{}]*)\}")
_INTERVAL = re.compile(r"\b\w*(?:Interval|Period|Frequency|Schedule|Cron|CronExpression|Every)\s*=(?![=>])\s*\S")
_OF_TYPE = re.compile(r"\b(?:typeof|nameof)\(\s*(?:\w+\.)*(?P<name>[A-Z]\w*)\s*\)")
_WAITS = re.compile(
    r"\bnew PeriodicTimer\(\s*TimeSpan\.From|\b(?:Task\.Delay|Thread\.Sleep)\(\s*TimeSpan\.From\w+\(\s*[\d._]+\s*\)"
)
_LOOP = re.compile(r"\bwhile\s*\(")


@dataclass(frozen=True, slots=True)
class Scheduled:
    """What is run, and the line that says how often, which it may only wait on."""

    name: str
    path: str
    line: int
    text: str
    waits: bool = False


_known: WeakKeyDictionary[LabelIndex, list[Scheduled]] = WeakKeyDictionary()


def scheduled(index: LabelIndex) -> list[Scheduled]:
    """What code of the product runs by an interval or a schedule, by path and line."""
    if index not in _known:
        likely = product_of(points_with(_WORDS, index, MOST_READ), index).values()
        code = [one for one in likely if one.get("CodeLanguage") == "csharp"]
        found = {one for payload in code for one in _scheduled_in(code_of(payload, index), payload)}
        _known[index] = sorted(found, key=lambda one: (one.path, one.line, one.name))
    return _known[index]


def _scheduled_in(code: str, payload: Mapping[str, Any]) -> Iterator[Scheduled]:
    lines, first = code.split("\n"), payload["StartLine"]

    def at(start: int, name: str, *, waits: bool = False) -> Scheduled:
        line = code.count("\n", 0, start)
        return Scheduled(name, payload["Path"], first + line, lines[line].strip(), waits)

    for given in _GIVEN.finditer(code):
        yield at(given.start(), given["name"])
    for made in _MADE.finditer(code):
        every, of_type = _INTERVAL.search(made["body"]), _OF_TYPE.search(made["body"])
        if every and of_type:
            yield at(made.start("body") + every.start(), of_type["name"])
    owner = str(payload.get("Symbol", "")).partition("~")[0].partition("(")[0].rpartition(".")[2]
    if owner and _LOOP.search(code):
        yield from (at(wait.start(), owner, waits=True) for wait in _WAITS.finditer(code))
