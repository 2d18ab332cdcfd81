"""Hooks of the test suite: markers must name real rules, and `--acceptance` wants every done rule proven by a pass.

Collection alone cannot know that a test skips itself while it runs; a run with `--acceptance` can. It is meant for
the whole suite: with a part of it, most rules have no test.
"""

from __future__ import annotations

import pytest

from rag_assets_tests.acceptance.proofs import check_markers, missing, passed_proofs
from rag_assets_tests.acceptance.rules import Rule, RuleTable, read_rules

OPTION = "--acceptance"
_TABLE = pytest.StashKey[RuleTable]()
_PASSED = pytest.StashKey[set[str]]()
_OPEN = pytest.StashKey[list[Rule]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        OPTION,
        action="store_true",
        default=False,
        help="fail when a rule that docs/acceptance.md declares done has no test that passed",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    config.stash[_TABLE] = read_rules()
    check_markers(items, config.stash[_TABLE])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):  # type: ignore[no-untyped-def]
    report = yield
    if report.when == "call" and report.outcome == "passed" and not hasattr(report, "wasxfail"):
        item.config.stash.setdefault(_PASSED, set()).add(item.nodeid)
    return report


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Turns a green run into a red one where a done rule has no test that passed."""
    config = session.config
    if not config.getoption("acceptance", default=False) or config.getoption("collectonly"):
        return
    table = config.stash.get(_TABLE, None)
    if table is None:
        return  # nothing was collected, which pytest reports itself
    config.stash[_OPEN] = missing(table, passed_proofs(session.items, config.stash.get(_PASSED, set())))
    if exitstatus == pytest.ExitCode.OK and config.stash[_OPEN]:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Comes after `pytest_sessionfinish`."""
    for rule in config.stash.get(_OPEN, []):
        line = f"{rule.number} is declared done, but no test of it passed: {rule.text}"
        terminalreporter.write_line(line, red=True)
