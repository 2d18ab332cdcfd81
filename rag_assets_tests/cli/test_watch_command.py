"""`rag-assets watch`: new commits are indexed, one line per event, whatever the network does."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rag_assets.cli import watch
from rag_assets.cli.console import Output
from rag_assets.cli.options import CliSession
from rag_assets.cli.watch import LONGEST_REST_SECONDS, Watch, only_one
from rag_assets.index.generations import active_generation
from rag_assets.pipeline.workers.process_pool import ProcessPool
from rag_assets_tests.cli.conftest import TIME_LIMIT, CommandLine, new_repository
from rag_assets_tests.git_repository import Repository

LEXICAL = "--lexical-only"


def once(cli: CommandLine, *repositories: str | Path) -> list[str]:
    """The events of one look, without their times."""
    done = cli.run("watch", *repositories, "--once", LEXICAL)
    assert done.err == "", "events are the only output"
    return [re.sub(r"^\d\d:\d\d:\d\d ", "", line) for line in done.out.splitlines()]


def test_once_indexes_what_is_new_and_ends(cli: CommandLine, repository: Repository) -> None:
    (first,) = once(cli, repository.path)
    assert re.fullmatch(r"shop@main indexed [0-9a-f]{10} in [\d.]+ s, \d+ points", first)
    assert once(cli, repository.path)[0].startswith("shop@main up to date at")
    new = repository.commit({"docs/new.md": "# New\n\nWords.\n"})
    (second,) = once(cli, repository.path)
    assert new[:10] in second
    assert active_generation(cli.home, "shop@main").manifest.commit_sha == new


@pytest.mark.usefixtures("without_dagster")
def test_without_a_name_it_is_the_repository_here(cli: CommandLine, repository: Repository) -> None:
    (line,) = once(CommandLine(cli.home, repository.path))
    assert line.startswith("shop@main indexed")


@pytest.mark.usefixtures("without_dagster")
def test_one_that_fails_does_not_stop_the_others(cli: CommandLine, repository: Repository) -> None:
    url = "http://user:s3cr3t-token@127.0.0.1:9/team/away.git"
    done = cli.run("watch", url, repository.path, "--once", LEXICAL)
    failed, indexed = done.out.splitlines()
    assert done.code == 1, "cron reports it"
    assert "away" in failed and "git cannot read it" in failed and "asking again in" in failed
    assert "s3cr3t" not in done.out + done.err
    assert "shop@main indexed" in indexed


def test_a_name_that_means_nothing_is_an_error(cli: CommandLine) -> None:
    done = cli.run("watch", "nothing-of-that-name", "--once")
    assert done.code == 1
    assert "neither a configured repository nor a label" in done.err


@pytest.mark.usefixtures("without_dagster")
def test_a_second_watch_of_one_home_says_so(cli: CommandLine, repository: Repository) -> None:
    with only_one(cli.home, "watch"):
        done = cli.run("watch", repository.path, "--once")
    assert done.code == 1
    assert re.search(r"process \d+ already runs `rag-assets watch` for ", done.err)
    assert cli.run("watch", repository.path, "--once", LEXICAL).code == 0


class Clock:
    """Time that passes only in `sleep`; after the last of its events the user presses Ctrl-C."""

    def __init__(self, events: list[Callable[[], object]]) -> None:
        self.now = 1000.0
        self.rests: list[float] = []
        self._events = iter(events)

    def monotonic(self) -> float:
        return self.now

    def sleep(self, amount: float) -> None:
        self.rests.append(round(amount))
        self.now += amount
        event = next(self._events, None)
        if event is None:
            raise KeyboardInterrupt
        event()


@pytest.fixture
def watched(
    cli: CommandLine,
    repository: Repository,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    without_dagster: None,
) -> Iterator[Callable[..., tuple[list[str], list[float]]]]:
    """Runs a watch of `repository` through a list of events; its lines, and how long it rested."""
    monkeypatch.chdir(cli.folder)

    def run(*events: Callable[[], object]) -> tuple[list[str], list[float]]:
        clock = Clock(list(events))
        monkeypatch.setattr(watch, "time", clock)
        session = CliSession(cli.home.root, None, False, Output(color=False))
        Watch(session, [str(repository.path)], 60.0, lexical_only=True).until_interrupted()
        return capsys.readouterr().out.splitlines(), clock.rests

    yield run


def nothing() -> None:
    """An interval in which nothing happens."""


def test_every_new_commit_is_one_line(watched: Any, repository: Repository) -> None:
    lines, rests = watched(nothing, lambda: repository.commit({"a.md": "# A\n\nWords.\n"}), nothing)
    assert len(lines) == 2
    assert repository.git("rev-parse", "HEAD")[:10] in lines[1]
    assert rests == [60, 60, 60, 60]


def test_another_branch_of_the_working_copy_is_another_label(watched: Any, repository: Repository) -> None:
    lines, _ = watched(lambda: repository.git("checkout", "--quiet", "-b", "dev"))
    assert [line.split()[1] for line in lines] == ["shop@main", "shop@dev"]


def test_a_source_that_is_away_is_asked_less_and_less(watched: Any, repository: Repository) -> None:
    away = repository.path.with_name("away")
    lines, rests = watched(
        lambda: repository.path.rename(away), *[nothing] * 6, lambda: away.rename(repository.path), nothing
    )
    assert rests == [60, 60, 120, 240, 480, LONGEST_REST_SECONDS, LONGEST_REST_SECONDS, LONGEST_REST_SECONDS, 60, 60]
    assert [line.split(" ", 2)[2][:10] for line in lines[1:-1]] == [lines[1].split(" ", 2)[2][:10]] * 7
    assert lines[-1].endswith("shop@main can be reached again")


def test_worker_processes_end_while_it_waits(watched: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ProcessPool, "given_up", "")
    waiting: list[tuple[bool, str]] = []

    def look() -> None:
        waiting.append((ProcessPool._executor is not None, ProcessPool.given_up))

    def as_after_a_build_whose_workers_died() -> None:
        ProcessPool(2).start()
        ProcessPool.given_up = "they died"

    watched(as_after_a_build_whose_workers_died, look)
    assert waiting == [(False, "")], "the next build begins as the first one did"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends Ctrl-C to all processes of a console")
def test_ctrl_c_ends_it_cleanly(cli: CommandLine, repository: Repository) -> None:
    process = cli.start("watch", repository.path, LEXICAL, "--interval", "1", stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert "indexed" in process.stdout.readline()
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=TIME_LIMIT)
    assert process.returncode == 0
    assert err == "stopped\n"


def test_an_output_that_is_quiet_says_results_only(capsys: pytest.CaptureFixture[str]) -> None:
    output = replace(Output(color=False), quiet=True)
    output.note("a")
    output.warning("b")
    output.error("c")
    output.line("d")
    assert capsys.readouterr() == ("d\n", "")


@pytest.mark.usefixtures("without_dagster")
def test_watch_repeats_a_label_of_a_repository(cli: CommandLine, tmp_path: Path) -> None:
    other = new_repository(tmp_path / "zoo")
    other.git("branch", "dev")
    assert cli.run("index", other.path, "--ref", "dev", LEXICAL).code == 0
    other.git("checkout", "--quiet", "dev")
    new = other.commit({"a.md": "# A\n\nWords.\n"})
    (line,) = once(cli, "zoo@dev")
    assert line.startswith("zoo@dev indexed") and new[:10] in line
