"""Writing for people and for programs: results on stdout, everything else on stderr, colour only on a terminal; and
the exit codes.

Colours are written by hand, because importing a library for it would cost a search a tenth of its time.
"""

from __future__ import annotations

import codecs
import errno
import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal, TextIO

from rag_assets.errors import RagAssetsError
from rag_assets.index.freshness import Freshness, uncommitted
from rag_assets.printable import printable

PROGRAM = "rag-assets"
FAILURE = 1
USAGE = 2
GATE_FAILED = 3
NOTHING_FOUND = 4
INTERRUPTED = 130  # 128 + SIGINT, as shells report it
_DISK_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_NOT_ALLOWED = frozenset({errno.EACCES, errno.EPERM})

Style = Literal["plain", "bold", "dim", "path", "good", "warn", "bad"]
Part = str | tuple[str, Style]

_CODES: dict[Style, str] = {
    "plain": "",
    "bold": "1",
    "dim": "2",
    "path": "1;36",
    "good": "32",
    "warn": "33",
    "bad": "1;31",
}


# A command that a message tells to run; in `backticks`, and behind it in a path, the name is no beginning of one.
_TOLD_COMMAND = re.compile(rf"(?<![`\w/.-]){PROGRAM} (?=[a-z])")


class CommandError(RagAssetsError):
    """A command that cannot do what was asked, for a reason the user can act on."""


@dataclass(frozen=True, slots=True)
class Output:
    """`color` False keeps every line plain, even on a terminal (`--no-color`, `NO_COLOR`); `quiet` writes
    results only, for a caller who says the rest in its own words. `command` is `rag-assets` with the global options
    that the user typed: the beginning of a command to run next. Work goes on where nobody reads stderr any more."""

    color: bool = True
    quiet: bool = False
    command: str = PROGRAM

    def line(self, *parts: Part) -> None:
        """One line of the result, on stdout; a line feed in a part is shown, not made: names may have one."""
        self._write(sys.stdout, [_on_one_line(part) for part in parts])

    def note(self, *parts: Part) -> None:
        """One line about the work, on stderr."""
        self._say(parts)

    def error(self, text: str) -> None:
        self._say((("error: ", "bad"), text))

    def warning(self, text: str) -> None:
        self._say((("warning: ", "warn"), text))

    def told(self, text: str) -> str:
        """A message with its commands as they are typed here: with the same home, configuration and role."""
        return _TOLD_COMMAND.sub(lambda _: f"{self.command} ", text)

    def text(self, text: str) -> None:
        """Text of the repository on stdout: its lines as they are, control characters made visible."""
        for line in text.splitlines() or [""]:
            self.line(line)

    def json(self, value: Any, *, compact: bool = False) -> None:
        """One JSON object on stdout, `compact` on one line; ASCII only where the stream could not carry the rest."""
        encoding = (getattr(sys.stdout, "encoding", None) or "ascii").lower().replace("-", "")
        sys.stdout.write(
            json.dumps(value, indent=None if compact else 2, ensure_ascii=not encoding.startswith("utf")) + "\n"
        )

    def _say(self, parts: Sequence[Part]) -> None:
        if not self.quiet:
            told = [self.told(part) if isinstance(part, str) else (self.told(part[0]), part[1]) for part in parts]
            with suppress(BrokenPipeError):
                self._write(sys.stderr, told)

    def _write(self, stream: TextIO, parts: Sequence[Part]) -> None:
        colored = self.color and stream.isatty()
        stream.write("".join(_rendered(part, colored) for part in parts) + "\n")


def prepare_streams() -> None:
    """Lets any character be written to any console: one that its encoding lacks becomes a plain one, or `?`."""
    codecs.register_error(_PLAIN_CHARACTERS, _plain_characters)
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors=_PLAIN_CHARACTERS)
    if sys.platform == "win32":
        os.system("")  # makes an old Windows console understand colour codes


_PLAIN_CHARACTERS = "rag_assets.plain_characters"
_PLAIN = {"…": "...", "→": "->", "←": "<-", "›": ">", "‹": "<", "–": "-", "—": "-", "−": "-", "·": "-"}
_PLAIN |= {"“": '"', "”": '"', "„": '"', "’": "'", "‘": "'", "✓": "+", "✗": "x"}


def _plain_characters(error: UnicodeError) -> tuple[str, int]:
    """What stands for characters that the console of an old Windows has not."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(_PLAIN.get(character, "?") for character in error.object[error.start : error.end]), error.end


def wants_color() -> bool:
    """False where NO_COLOR is set (https://no-color.org) or the terminal says it is dumb."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def describe(error: BaseException) -> str:
    """One line for people: what failed, why, and what helps where we know it."""
    if isinstance(error, RagAssetsError):
        return str(error)
    if isinstance(error, OSError):
        return describe_os_error(error)
    return f"unexpected {type(error).__name__}: {error}; to see where, run it again as: rag-assets --debug …"


def describe_os_error(error: OSError) -> str:
    """The path, what the system says, and what helps where we know it."""
    said = error.strerror or str(error)
    where = f"{error.filename}: " if error.filename else ""
    if error.errno in _DISK_FULL:
        return f"{where}{said}; free some space, or choose another place with --home"
    if error.errno in _NOT_ALLOWED:
        return f"{where}{said}; let this user read and write it, or name another place (--home for indexes)"
    if error.errno == errno.EROFS:
        return f"{where}{said}; make it writable, or choose another place with --home"
    return f"{where}{said}"


def short(commit: str) -> str:
    """The first digits of a commit id, as git shows them."""
    return commit[:10]


def staleness(freshness: Freshness, label: str, overlaid: int = 0) -> list[Part]:
    """`indexed commit vs head` as one line; what a reader must act on is coloured. `overlaid` files of the work tree
    were searched as they are now."""
    indexed, changed = short(freshness.indexed), uncommitted(freshness.changed_files)
    if overlaid:
        now = "it is" if overlaid == 1 else "they are"
        changed = f"; {counted(overlaid, 'file')} of the work tree searched as {now}"
    if freshness.stale is None:
        return [(f"indexed {indexed}, head unknown ({freshness.reason}){changed}", "dim")]
    if freshness.stale:
        told = f"stale: indexed {indexed}, head {short(freshness.head)}{changed}; run: rag-assets index {label}"
        return [(told, "warn")]
    return [(f"fresh: indexed {indexed} is the head", "dim"), (changed, "warn")]


def size(byte_count: int) -> str:
    """`12.3 MB`."""
    amount = float(byte_count)
    for unit in ("B", "kB", "MB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} GB"


def seconds(amount: float) -> str:
    """`0.42 s`, `12 s`, `3:05 min`."""
    if amount < 10:
        return f"{amount:.2f} s"
    if amount < 120:
        return f"{amount:.0f} s"
    return f"{int(amount) // 60}:{int(amount) % 60:02d} min"


def counted(count: int, one: str, several: str = "") -> str:
    """`1 turn`, `1,200 turns`, `2 entries`."""
    return f"{count:,} {one if count == 1 else several or f'{one}s'}"


def named_counts(counts: Mapping[str, Any]) -> str:
    """`ok 12, partial 1`; zero and empty counts are left out."""
    return ", ".join(f"{name} {count}" for name, count in counts.items() if count)


def aligned(rows: Sequence[Sequence[str]], right: Sequence[str] = ()) -> list[list[str]]:
    """The cells of a table, each as wide as its column; the columns whose title is in `right` are right-aligned. The
    first row has the titles."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        [
            cell.rjust(width) if title in right else cell.ljust(width)
            for title, cell, width in zip(rows[0], row, widths, strict=True)
        ]
        for row in rows
    ]


def said_graph(nodes: int, edges: int) -> str:
    """`1,768 nodes, 4,134 edges`; '' without a graph."""
    return f"{counted(nodes, 'node')}, {counted(edges, 'edge')}" if nodes else ""


def _on_one_line(part: Part) -> Part:
    if isinstance(part, str):
        return part.replace("\n", "\\x0a")
    return part[0].replace("\n", "\\x0a"), part[1]


def _rendered(part: Part, colored: bool) -> str:
    if isinstance(part, str):
        return printable(part)
    text, style = part
    code = _CODES[style] if colored else ""
    return f"\x1b[{code}m{printable(text)}\x1b[0m" if code else printable(text)
