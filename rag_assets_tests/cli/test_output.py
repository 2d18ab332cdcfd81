"""What is written, where, and that nothing a repository contains can steer a terminal."""

from __future__ import annotations

import io
import json
import sys

import pytest

from rag_assets.cli.console import Output, seconds, size, wants_color
from rag_assets.printable import printable


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def on_terminal(monkeypatch: pytest.MonkeyPatch, output: Output) -> str:
    stream = Terminal()
    monkeypatch.setattr(sys, "stdout", stream)
    output.line(("\x1b[2Jpath", "path"), " plain")
    return stream.getvalue()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m", id="escape sequence"),
        pytest.param("a\rb", "a\\x0db", id="carriage return"),
        pytest.param("\x9b2J", "\\x9b2J", id="8-bit control sequence"),
        pytest.param("pay\u202eelif\u2066", "pay\\u202eelif\\u2066", id="turned around"),
        pytest.param("pay\u200bment\ufeff\xad", "pay\\u200bment\\ufeff\\xad", id="without width"),
        pytest.param("pay\u200dment\u200c", "pay\\u200dment\\u200c", id="joiners in ASCII"),
        pytest.param("می\u200cخواهم 👩\u200d💻", "می\u200cخواهم 👩\u200d💻", id="joiners where they belong"),
        pytest.param("a\U000e0041\u2028b", "a\\U000e0041\\u2028b", id="tags and line separators"),
        pytest.param("tab\tline\nüñ漢😀", "tab\tline\nüñ漢😀", id="text stays"),
    ],
)
def test_control_characters_become_visible(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_a_line_stays_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    monkeypatch.setattr(sys, "stdout", stream)
    Output(color=False).line("a\nb", ("c\n", "path"))
    assert stream.getvalue() == "a\\x0abc\\x0a\n"


def test_colour_is_ours_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    assert on_terminal(monkeypatch, Output()) == "\x1b[1;36m\\x1b[2Jpath\x1b[0m plain\n"


def test_no_colour_when_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert on_terminal(monkeypatch, Output(color=False)) == "\\x1b[2Jpath plain\n"


def test_no_colour_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    Output().line(("path", "path"))
    assert capsys.readouterr().out == "path\n"


@pytest.mark.parametrize(
    ("variables", "colored"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True), ({"TERM": "dumb"}, False)],
    ids=["nothing set", "NO_COLOR", "empty NO_COLOR", "dumb terminal"],
)
def test_who_wants_colour(monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], colored: bool) -> None:
    monkeypatch.setenv("TERM", "xterm")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert wants_color() is colored


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "ascii"])
def test_json_survives_every_console(monkeypatch: pytest.MonkeyPatch, encoding: str) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding=encoding, errors="strict"))
    Output().json({"name": "größe 漢 😀"})
    sys.stdout.flush()
    assert json.loads(raw.getvalue().decode(encoding)) == {"name": "größe 漢 😀"}


def test_notes_go_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    output = Output()
    output.note("a note")
    output.warning("careful")
    output.error("broken")
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "a note\nwarning: careful\nerror: broken\n"


@pytest.mark.parametrize(
    ("count", "said"), [(0, "0 B"), (999, "999 B"), (1500, "1.5 kB"), (2_000_000, "2.0 MB"), (3_100_000_000, "3.1 GB")]
)
def test_sizes(count: int, said: str) -> None:
    assert size(count) == said


@pytest.mark.parametrize(("amount", "said"), [(0.123, "0.12 s"), (12.3, "12 s"), (119.0, "119 s"), (185.0, "3:05 min")])
def test_durations(amount: float, said: str) -> None:
    assert seconds(amount) == said
