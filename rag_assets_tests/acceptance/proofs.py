"""Which tests prove which rules: read from the `rule` markers of collected tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from rag_assets_tests.acceptance.rules import Rule, RuleTable

MARKER = "rule"
_NOT_RUN = ("skip", "skipif", "xfail")
"""A test under one of these may never run or may fail, so it proves nothing for certain."""


@dataclass(frozen=True, slots=True)
class Proofs:
    """Rule number → (test → number of its cases), both in order of collection. Cases of one test are collapsed."""

    tests: Mapping[str, Mapping[str, int]]

    def of(self, rule: Rule) -> Mapping[str, int]:
        return self.tests.get(rule.number, {})


def rules_of(item: pytest.Item) -> list[str]:
    """The numbers an item is marked with, on itself, its class or its module."""
    return [str(number) for marker in item.iter_markers(MARKER) for number in marker.args]


def check_markers(items: Iterable[pytest.Item], table: RuleTable) -> None:
    """Raises UsageError listing every marker that names no row of the table, or nothing at all."""
    known = table.numbers
    wrong: dict[str, None] = {}
    for item in items:
        for marker in item.iter_markers(MARKER):
            unknown = [str(number) for number in marker.args if number not in known]
            if unknown or not marker.args or marker.kwargs:
                said = f"no rule of docs/acceptance.md: {', '.join(unknown)}" if unknown else "needs rule numbers only"
                wrong[f"{_test_of(item.nodeid)}: {said}"] = None
    if wrong:
        raise pytest.UsageError("\n".join(wrong))


def collected_proofs(items: Iterable[pytest.Item]) -> Proofs:
    """What the tests would prove if they pass. A test that is marked to be skipped or to fail does not count."""
    return _proofs((item.nodeid, rules_of(item)) for item in items if not _may_not_run(item))


def proofs_of(passed: Iterable[tuple[str, Sequence[str]]]) -> Proofs:
    """What the cases that ran and passed, (test, rules), did prove. One that failed makes the run red by itself."""
    return _proofs(passed)


def missing(table: RuleTable, proofs: Proofs) -> list[Rule]:
    """The rules declared done that no test proves, in order of the table."""
    return [rule for rule in table.rules if rule.number in table.done and not proofs.of(rule)]


def as_data(table: RuleTable, proofs: Proofs) -> list[dict[str, Any]]:
    """One entry per rule: number, kind, text, done, and its tests with their number of cases."""
    return [
        {
            "number": rule.number,
            "kind": rule.kind,
            "text": rule.text,
            "done": rule.number in table.done,
            "tests": [{"test": test, "cases": cases} for test, cases in proofs.of(rule).items()],
        }
        for rule in table.rules
    ]


def _proofs(pairs: Iterable[tuple[str, Sequence[str]]]) -> Proofs:
    found: dict[str, dict[str, int]] = {}
    for node_id, numbers in pairs:
        test = _test_of(node_id)
        for number in dict.fromkeys(numbers):
            cases = found.setdefault(number, {})
            cases[test] = cases.get(test, 0) + 1
    return Proofs(found)


def _test_of(node_id: str) -> str:
    return node_id.partition("[")[0]


def _may_not_run(item: pytest.Item) -> bool:
    return any(item.get_closest_marker(name) is not None for name in _NOT_RUN)
