"""Writes git histories that are the same on every machine: commits in, a bare repository out.

Everything goes through one `git fast-import`, without a working tree: 100,000 files take seconds, and what no file
system would hold side by side (names that differ in case) is as easy as anything else.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

FIRST_COMMIT_TIME = 1_700_000_000
"""Of the first commit; every later one is a minute younger: generations are in the order of their commit dates."""

_SECONDS_BETWEEN_COMMITS = 60
_ENVIRONMENT = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}

FILE = "100644"
EXECUTABLE = "100755"
SYMLINK = "120000"
SUBMODULE = "160000"


@dataclass(frozen=True, slots=True)
class Entry:
    """What a path holds. The content of a submodule is the id of its commit."""

    content: bytes
    mode: str = FILE


Content = str | bytes | Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """One commit as the difference to its parent: first `move` (old → new), then `delete`, then `put`.

    `parent` is the name of an earlier commit or anything that git knows as one; empty: the last commit written to the
    branch, or none. `merge` is a second parent.
    """

    name: str
    branch: str = "main"
    parent: str = ""
    merge: str = ""
    move: Mapping[str, str] = field(default_factory=dict)
    delete: Iterable[str] = ()
    put: Iterable[tuple[str, Content]] = ()  # may be a generator: contents are written as they come


def write_history(path: Path, commits: Iterable[Commit], *, first_time: int = FIRST_COMMIT_TIME) -> dict[str, str]:
    """Adds commits to the repository at `path`, which is made (bare, HEAD at main) where there is none.
    `first_time`: seconds since 1970 of the first of them.

    Returns name → commit id. Raises RuntimeError with what git said.
    """
    path = path.resolve()  # git runs inside of it
    if not path.exists():
        _git(path.parent, "init", "--quiet", "--bare", "--initial-branch=main", str(path))
    marks = path.with_name(f"{path.name}.marks")
    command = ["git", "-C", str(path), "fast-import", "--quiet", "--force", f"--export-marks={marks}"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ | _ENVIRONMENT
    ) as process:
        assert process.stdin is not None and process.stderr is not None
        try:
            numbers = _write(process.stdin, commits, first_time)
            process.stdin.close()
        except BrokenPipeError:  # git has ended, and says why
            numbers = {}
        said = process.stderr.read().decode(errors="replace")
    if process.returncode:
        raise RuntimeError(f"git fast-import into {path}: {said}")
    ids = dict(line.split() for line in marks.read_text(encoding="ascii").splitlines())
    marks.unlink()
    return {name: ids[f":{number}"] for name, number in numbers.items()}


def _write(out: IO[bytes], commits: Iterable[Commit], first_time: int) -> dict[str, int]:
    numbers: dict[str, int] = {}
    for number, commit in enumerate(commits, start=1):
        when = first_time + (number - 1) * _SECONDS_BETWEEN_COMMITS
        lines = [
            f"commit refs/heads/{commit.branch}",
            f"mark :{number}",
            f"committer Generator <generator@example.invalid> {when} +0000",
            f"data {len(commit.name.encode())}",
            commit.name,
        ]
        lines += [
            f"{verb} {f':{numbers[name]}' if name in numbers else name}"
            for verb, name in (("from", commit.parent), ("merge", commit.merge))
            if name
        ]
        lines += [f"R {_quoted(old)} {_quoted(new)}" for old, new in commit.move.items()]
        lines += [f"D {_quoted(path)}" for path in commit.delete]
        out.write("\n".join(lines).encode() + b"\n")
        for path, content in commit.put:
            _put(out, path, content)
        numbers[commit.name] = number
    return numbers


def _put(out: IO[bytes], path: str, content: Content) -> None:
    entry = content if isinstance(content, Entry) else Entry(content.encode() if isinstance(content, str) else content)
    if entry.mode == SUBMODULE:
        out.write(f"M {SUBMODULE} {entry.content.decode()} {_quoted(path)}\n".encode())
        return
    out.write(f"M {entry.mode} inline {_quoted(path)}\ndata {len(entry.content)}\n".encode())
    out.write(entry.content + b"\n")


def _quoted(path: str) -> str:
    escaped = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def git(repository: Path, *arguments: str) -> str:
    """What git prints about a repository. Raises RuntimeError with what it said."""
    return _git(repository, *arguments)


def _git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments], env=os.environ | _ENVIRONMENT, capture_output=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"git {' '.join(arguments)} in {folder}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout.decode(errors="surrogateescape").strip()
