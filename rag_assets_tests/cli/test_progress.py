"""Progress as a person sees it: fixed totals, the file at hand, what came of each stage."""

from __future__ import annotations

import io
import os
from contextlib import suppress

import pytest
from rich.console import Console
from rich.progress import Progress as RichProgress

from rag_assets.cli.console import Output
from rag_assets.cli.index import progress
from rag_assets.cli.index.progress import BarProgress, LineProgress, bar_columns, shown_progress


class Clock:
    """A clock that a test winds forward."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(progress.time, "monotonic", made)
    return made


def test_one_line_per_stage_without_a_terminal(clock: Clock) -> None:
    stream = io.StringIO()
    shown = LineProgress(stream)
    shown.begin("segments", 3, "files")
    for path in ("a.cs", "b.cs", "c.cs"):
        shown.advance(1, path)
    clock.now += 2.5
    shown.end("3 segments")
    assert stream.getvalue() == "segments          3 segments (2.50 s)\n"


def test_a_long_stage_says_how_far_it_is_and_how_long_it_will_take(clock: Clock) -> None:
    stream = io.StringIO()
    shown = LineProgress(stream)
    shown.begin("embeddings", 4000, "sections")
    clock.now += 9
    shown.advance(900)
    clock.now += 1
    shown.advance(100, "src/\x1b[2JOrder.cs")
    assert stream.getvalue() == (
        "embeddings        1,000 of 4,000 sections, 100/s, about 30 s left: src/\\x1b[2JOrder.cs\n"
    )


@pytest.mark.parametrize("done", [65, 4000], ids=["the first of many", "all"])
def test_no_time_is_guessed_from_the_first_files_or_when_all_are_done(clock: Clock, done: int) -> None:
    """The first ones wait for processes to start, and a bucket of them is told at once."""
    stream = io.StringIO()
    shown = LineProgress(stream)
    shown.begin("code_graph", 4000, "files")
    clock.now += 20
    shown.advance(done)
    assert stream.getvalue() == f"code_graph        {done:,} of 4,000 files, {done / 20:,.0f}/s\n"


def test_no_line_fails_where_nobody_reads_it() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    stream = open(writing, "w", encoding="utf-8", buffering=1)  # noqa: PTH123, SIM115 - a handle
    try:
        shown = LineProgress(stream)
        shown.begin("embeddings", 2, "sections")
        shown.waiting("connection refused", 10)
        shown.end("2 sections")
    finally:
        with suppress(BrokenPipeError):
            stream.close()


def test_bars_show_total_file_and_summary() -> None:
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=100, color_system=None)
    with RichProgress(*bar_columns(), console=console, expand=True) as display:
        shown = BarProgress(display)
        shown.begin("segments", 2, "files")
        shown.advance(1, "src/[bold]Order.cs")
        display.refresh()
        shown.advance(1, "src/Line.cs")
        shown.end("2 segments")
    said = screen.getvalue()
    assert "src/[bold]Order.cs" in said  # markup in a file name is a file name
    assert "2/2" in said
    assert "2 segments" in said


def test_the_display_follows_the_stream(capfd: pytest.CaptureFixture[str]) -> None:
    with shown_progress(Output()) as shown:
        shown.begin("segments", 1, "files")
        shown.end("1 segment")
    captured = capfd.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("segments          1 segment (")
