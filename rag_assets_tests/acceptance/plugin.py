"""Hooks of the test suite: markers must name real rules, and `--acceptance` wants every done rule proven by a pass.

Collection alone cannot know that a test skips itself while it runs; a run with `--acceptance` can. It is meant for
the whole suite: with a part of it, most rules have no test. Tests may run in several processes (pytest-xdist): what
passed comes with the reports.
"""

from __future__ import annotations

import pytest

from rag_assets_tests.acceptance.proofs import check_markers, missing, proofs_of, rules_of
from rag_assets_tests.acceptance.rules import Rule, read_rules

OPTION = "--acceptance"
_PROPERTY = "rules"
_PASSED = pytest.StashKey[list[tuple[str, list[str]]]]()
_OPEN = pytest.StashKey[list[Rule]]()


class _Passed:
    """Collects (test, rules) of what passed, wherever it ran."""

    def __init__(self, passed: list[tuple[str, list[str]]]) -> None:
        self._passed = passed

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._passed += [(report.nodeid, value) for name, value in report.user_properties if name == _PROPERTY]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        OPTION,
        action="store_true",
        default=False,
        help="fail when a rule that docs/acceptance.md declares done has no test that passed",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_PASSED] = []
    config.pluginmanager.register(_Passed(config.stash[_PASSED]))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    check_markers(items, read_rules())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):  # type: ignore[no-untyped-def]
    report = yield
    if report.when == "call" and report.outcome == "passed" and not hasattr(report, "wasxfail"):
        report.user_properties = [*report.user_properties, (_PROPERTY, rules_of(item))]
    return report


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Turns a green run into a red one where a done rule has no test that passed."""
    config = session.config
    if not config.getoption("acceptance", default=False) or config.getoption("collectonly"):
        return
    if hasattr(config, "workerinput"):  # one of several processes: the one that started them judges
        return
    config.stash[_OPEN] = missing(read_rules(), proofs_of(config.stash[_PASSED]))
    if exitstatus == pytest.ExitCode.OK and config.stash[_OPEN]:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Comes after `pytest_sessionfinish`."""
    for rule in config.stash.get(_OPEN, []):
        line = f"{rule.number} is declared done, but no test of it passed: {rule.text}"
        terminalreporter.write_line(line, red=True)
