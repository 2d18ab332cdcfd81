"""Progress of an index run on stderr: bars on a terminal, one line per stage elsewhere.

Every stage has a fixed total, names the file it is at, and says how fast it goes and how long it will take.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, ProgressColumn, Task, TaskID, TextColumn, TimeRemainingColumn
from rich.progress import Progress as RichProgress
from rich.table import Column
from rich.text import Text

from rag_assets.cli.console import Output, seconds
from rag_assets.pipeline.progress import Progress, Silent
from rag_assets.printable import printable

_REFRESH_SECONDS = 0.05  # a hundred thousand files must not cost a hundred thousand redraws
_LINE_SECONDS = 10.0  # how often a stage without a terminal says that it is alive
_FEWEST_KNOWN = 0.2  # of the total: the first files wait for processes to start, which said hours for three minutes
_BAR_WIDTH = 12  # leaves a third of 80 columns for the file name
_NAME_WIDTH = 16  # the longest stage name, summary_sections


@contextmanager
def shown_progress(output: Output) -> Iterator[Progress]:
    """The progress display for stderr, removed at the end; none where the output is quiet."""
    if output.quiet:
        yield Silent()
        return
    with _own_stderr() as stream:
        console = Console(file=stream, no_color=not output.color, highlight=False)
        if not console.is_terminal:
            yield LineProgress(stream)
            return
        # Drawn by this thread: a process with a second one cannot be copied for the work on files.
        with RichProgress(*bar_columns(), console=console, expand=True, auto_refresh=False) as display:
            yield BarProgress(display)


def bar_columns() -> tuple[ProgressColumn, ...]:
    """Stage, bar, count of total, speed, time left, and the file at hand or what came of the stage."""
    return (
        TextColumn(f"{{task.description:<{_NAME_WIDTH}}}"),
        BarColumn(bar_width=_BAR_WIDTH),
        MofNCompleteColumn(),
        _Speed(),
        TimeRemainingColumn(compact=True, elapsed_when_finished=True),
        _Note(table_column=Column(no_wrap=True, overflow="ellipsis", ratio=1)),
    )


@contextmanager
def _own_stderr() -> Iterator[TextIO]:
    """A second handle on stderr: Dagster redirects the first one to a file of the run."""
    try:
        copy = os.dup(sys.stderr.fileno())
    except OSError:  # a stream without a file behind it
        yield sys.stderr
        return
    stream = open(copy, "w", encoding=sys.stderr.encoding, errors="replace", buffering=1)  # noqa: PTH123, SIM115 - a handle
    try:
        yield stream
    finally:
        with suppress(BrokenPipeError):
            stream.close()


class BarProgress:
    """One bar per stage; finished ones stay with their summary."""

    def __init__(self, display: RichProgress) -> None:
        self._display = display
        self._task: TaskID | None = None
        self._waiting = 0
        self._drawn = 0.0

    def begin(self, stage: str, total: int, unit: str) -> None:
        self._waiting = 0
        self._task = self._display.add_task(stage, total=total, note=unit)
        self._display.refresh()

    def advance(self, amount: int, current: str = "") -> None:
        self._waiting += amount
        now = time.monotonic()
        if self._task is None or now - self._drawn < _REFRESH_SECONDS:
            return
        self._draw(current)
        self._drawn = now

    def end(self, summary: str = "") -> None:
        if self._task is None:
            return
        self._display.stop_task(self._task)
        self._draw(summary)
        self._task = None

    def waiting(self, reason: str, wait: float) -> None:
        self.end()
        self._display.console.print(_again_in(wait, reason), markup=False)

    def _draw(self, note: str) -> None:
        assert self._task is not None
        self._display.update(self._task, advance=self._waiting, note=note, refresh=True)
        self._waiting = 0


class LineProgress:
    """One line when a stage ends, and one every ten seconds while it lasts."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._stage = ""
        self._unit = ""
        self._total = self._done = 0
        self._started = self._said = 0.0

    def begin(self, stage: str, total: int, unit: str) -> None:
        self._stage, self._unit, self._total, self._done = stage, unit, total, 0
        self._started = self._said = time.monotonic()

    def advance(self, amount: int, current: str = "") -> None:
        self._done += amount
        now = time.monotonic()
        if now - self._said < _LINE_SECONDS or not self._done:
            return
        self._said = now
        rate = self._done / (now - self._started)
        is_known = _FEWEST_KNOWN * self._total <= self._done < self._total
        left = f", about {seconds((self._total - self._done) / rate)} left" if is_known else ""
        at = f": {current}" if current else ""
        self._line(f"{self._done:,} of {self._total:,} {self._unit}, {rate:,.0f}/s{left}{at}")

    def end(self, summary: str = "") -> None:
        self._line(f"{summary} ({seconds(time.monotonic() - self._started)})")

    def waiting(self, reason: str, wait: float) -> None:
        self._write(_again_in(wait, reason))

    def _line(self, text: str) -> None:
        self._write(f"{self._stage:<{_NAME_WIDTH}}  {printable(text)}")

    def _write(self, line: str) -> None:
        with suppress(BrokenPipeError):  # nobody reads it any more; a stage that fails for that is tried again in vain
            self._stream.write(f"{line}\n")


def _again_in(wait: float, reason: str) -> str:
    return f"tried again in {wait:.0f} s: {printable(reason)}"


class _Speed(ProgressColumn):
    """`312/s`, over the last seconds."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text(f"{speed:,.0f}/s" if speed else "", style="dim")


class _Note(ProgressColumn):
    """The file being worked on, or what came of the stage. A `Text`, so that brackets in names stay brackets."""

    def render(self, task: Task) -> Text:
        return Text(printable(task.fields["note"]), style="dim")
