"""`python -m rag_assets_tests.acceptance [--json]`: every rule with the tests that prove it; exit 1 where one is open.

Based on collecting the real suite: a test that was renamed, moved or deleted is gone from the table at once.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import sys
import textwrap

import pytest

from rag_assets_tests.acceptance.proofs import Proofs, as_data, collected_proofs, missing
from rag_assets_tests.acceptance.rules import RuleTable, read_rules

TEXT_WIDTH = 110
"""Of a rule in the table; the whole text is in docs/acceptance.md and in the JSON form."""


_ERRORS = "= ERRORS ="


class _Collector:
    items: list[pytest.Item]

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.items = session.items


def collect() -> Proofs:
    """The proofs of the whole suite. Raises SystemExit with pytest's own words when it cannot be collected."""
    collector = _Collector()
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        status = pytest.main(["--collect-only", "-p", "no:cacheprovider"], plugins=[collector])
    if status != pytest.ExitCode.OK:
        said = output.getvalue()
        raise SystemExit(said[max(0, said.find(_ERRORS)) :])  # the list of what could be collected comes before
    return collected_proofs(collector.items)


def report(table: RuleTable, proofs: Proofs) -> list[str]:
    """The lines of the table and its summary."""
    lines: list[str] = []
    for rule in table.rules:
        tests = proofs.of(rule)
        state = "proven" if tests else "MISSING" if rule.number in table.done else "open"
        text = textwrap.shorten(rule.text, TEXT_WIDTH, placeholder=" …")
        lines.append(f"{rule.number:4} {rule.kind} {state:8} {text}")
        lines += [f"       {test}" + (f" ({cases} cases)" if cases > 1 else "") for test, cases in tests.items()]
    proven = sum(1 for rule in table.rules if proofs.of(rule))
    unproven = missing(table, proofs)
    lines.append(f"{len(table.rules)} rules: {proven} with a test, {len(table.done)} declared done")
    if unproven:
        lines.append(f"done without a test: {', '.join(rule.number for rule in unproven)}")
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m rag_assets_tests.acceptance", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON list instead of the table")
    arguments = parser.parse_args()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")  # rules quote arrows, which not every console code page has
    table, proofs = read_rules(), collect()
    if arguments.json:
        print(json.dumps(as_data(table, proofs), indent=2, ensure_ascii=False))
    else:
        print("\n".join(report(table, proofs)))
    return 1 if missing(table, proofs) else 0


if __name__ == "__main__":
    raise SystemExit(main())
