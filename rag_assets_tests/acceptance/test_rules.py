"""The table of docs/acceptance.md, and the gate over it, held against real pytest runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rag_assets_tests.acceptance.rules import Rule, RuleTableError, parse_rules, read_rules

ROOT = Path(__file__).parents[2]

TABLE = """\
## A. First
Done: A01–A02, A04.
| # | K | Rule |
|---|---|---|
| A01 | M | one |
| A02 | P | `a\\|b` two |
| A03 | S | three |
| A04 | F | four |
## R. Resolved
| # | Conflict | Resolution |
|---|---|---|
| R1 | this or that | this |
"""


def test_rows_and_done_ranges_are_read() -> None:
    table = parse_rules(TABLE)
    assert table.rules[1] == Rule("A02", "P", "`a|b` two")
    assert table.rules[-1] == Rule("R1", "-", "this or that → this")
    assert table.done == {"A01", "A02", "A04"}


BAD = [
    ("row-twice", TABLE.replace("A02 |", "A01 |"), "A01 twice"),
    ("other-area", TABLE.replace("R1 |", "B1 |"), "outside the table of its area"),
    ("no-text", TABLE.replace(" | one", ""), "a number, a kind and a text"),
    ("done-unknown", TABLE.replace("A04.", "A05."), "no row of the table: A05"),
    ("done-unreadable", TABLE.replace("A04.", "the rest."), "expected a row or a range of rows"),
    ("range-over-areas", TABLE.replace("A01–A02", "A01–B02"), "expected a row or a range of rows"),
]


@pytest.mark.parametrize(("text", "message"), [row[1:] for row in BAD], ids=[row[0] for row in BAD])
def test_a_damaged_table_is_refused(text: str, message: str) -> None:
    with pytest.raises(RuleTableError, match=message):
        parse_rules(text)


def test_the_document_has_every_row() -> None:
    """A row that got lost would never be missed."""
    expected = [
        f"{area}{n:02}"
        for area, last in zip("ABCDEF", (45, 25, 13, 36, 25, 14), strict=True)
        for n in range(1, last + 1)
    ]
    assert [rule.number for rule in read_rules().rules] == [*expected, *(f"R{n}" for n in range(1, 34))]


CONFTEST = """\
from rag_assets_tests.acceptance.plugin import (
    pytest_addoption, pytest_collection_modifyitems, pytest_configure, pytest_runtest_makereport, pytest_sessionfinish,
    pytest_terminal_summary,
)
"""


def run_suite(folder: Path, tests: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Without the plugins that are installed but for those that the options name: they take seconds to load."""
    (folder / "conftest.py").write_text(CONFTEST, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = rule(*numbers): rules\n", encoding="utf-8")
    (folder / "test_it.py").write_text(f"import pytest\n{tests}", encoding="utf-8")
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--rootdir={folder}", *options, str(folder)],
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


WRONG_MARKERS = [
    ("unknown", '"A99", "A07"', "test_it.py::test_x: no rule of docs/acceptance.md: A99"),
    ("not-a-number", "7", "no rule of docs/acceptance.md: 7"),
    ("empty", "", "test_it.py::test_x: needs rule numbers only"),
]


@pytest.mark.parametrize(
    ("arguments", "message"), [row[1:] for row in WRONG_MARKERS], ids=[row[0] for row in WRONG_MARKERS]
)
def test_a_marker_without_a_real_rule_fails_collection(tmp_path: Path, arguments: str, message: str) -> None:
    done = run_suite(tmp_path, f"@pytest.mark.rule({arguments})\ndef test_x(): pass\n", "--collect-only")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert message in done.stderr


DONE = sorted(read_rules().done - {"A07"})
OTHERS = f"@pytest.mark.rule(*{DONE})\ndef test_others(): pass\n"
PROOFS = [
    ("passes", "@pytest.mark.rule('A07')\ndef test_x(): pass\n", True),
    ("no-test", "", False),
    ("skips-itself", "@pytest.mark.rule('A07')\ndef test_x(): pytest.skip('no such thing here')\n", False),
    ("expected-to-fail", "@pytest.mark.rule('A07')\n@pytest.mark.xfail(strict=False)\ndef test_x(): pass\n", False),
    (
        "one-case-passes",
        "@pytest.mark.rule('A07')\n@pytest.mark.parametrize('n', [1, 2])\ndef test_x(n): n > 1 or pytest.skip()\n",
        True,
    ),
]


@pytest.mark.parametrize(("test", "proven"), [row[1:] for row in PROOFS], ids=[row[0] for row in PROOFS])
def test_a_done_rule_needs_a_test_that_passed(tmp_path: Path, test: str, proven: bool) -> None:
    """A skipped or absent test turns a green run red, and says which rule is open."""
    assert_proven(run_suite(tmp_path, OTHERS + test, "--acceptance"), proven)


@pytest.mark.parametrize(("_", "test", "proven"), PROOFS[:2], ids=[row[0] for row in PROOFS[:2]])
def test_rules_are_proven_by_the_tests_of_all_processes(tmp_path: Path, _: str, test: str, proven: bool) -> None:
    assert_proven(run_suite(tmp_path, OTHERS + test, "--acceptance", "-p", "xdist", "-n", "2"), proven)


def assert_proven(done: subprocess.CompletedProcess[str], proven: bool) -> None:
    assert done.returncode == (pytest.ExitCode.OK if proven else pytest.ExitCode.TESTS_FAILED), done.stdout
    assert ("A07 is declared done, but no test of it passed" in done.stdout) is not proven


def test_without_the_option_parts_of_the_suite_run_alone(tmp_path: Path) -> None:
    assert run_suite(tmp_path, "def test_x(): pass\n").returncode == pytest.ExitCode.OK
