"""What training reads of git, and the hash by which it chooses among texts."""

from __future__ import annotations

import hashlib
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

from rag_assets.sources.git import git_environment, git_executable
from rag_assets.training.errors import TrainingError


def git(mirror: Path, *arguments: str, sent: bytes | None = None, partly: bool = False) -> bytes:
    """What git prints; `partly`: also what it printed before it failed. Raises TrainingError with its last line."""
    command = [git_executable(), "-C", str(mirror), *arguments]
    done = subprocess.run(command, input=sent, capture_output=True, env=git_environment(network=False), check=False)
    if done.returncode and not (partly and done.stdout):
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise TrainingError(f"git {arguments[0]} in {mirror.parent.name}: {said[-1] if said else 'failed'}")
    return done.stdout


def blobs(
    mirror: Path, revision: str, wanted: Callable[[str, int], bool], most: int = 1_000_000
) -> Iterator[tuple[str, str]]:
    """(path, text) of the files for which `wanted(path, size)` holds; at most `most`, chosen by the hash of the path.
    Files that a partial mirror lacks are left out."""
    rows = git(mirror, "ls-tree", "-r", "-l", "-z", revision).decode("utf-8", "replace").split("\0")
    found: list[tuple[str, str]] = []
    for row in filter(None, rows):
        meta, path = row.split("\t", 1)
        mode, kind, name, size = meta.split()
        absent = not size.isdecimal()  # a partial mirror says BAD
        if kind == "blob" and mode != "120000" and not absent and wanted(path, int(size)):
            found.append((path, name))
    found = sorted(sorted(found, key=lambda row: digest(row[0]))[:most])
    out = git(mirror, "cat-file", "--batch", sent="".join(f"{name}\n" for _, name in found).encode())
    at = 0
    for path, _ in found:
        end = out.index(b"\n", at)
        length = int(out[at:end].split()[2])
        yield path, out[end + 1 : end + 1 + length].decode("utf-8", "replace")
        at = end + 2 + length


def folded(text: str) -> str:
    """A text without case and punctuation: what makes two texts the same question or the same code."""
    return " ".join(re.findall(r"\w+", text.lower()))


def digest(text: str) -> int:
    """48 bits of the folded text."""
    return int.from_bytes(hashlib.blake2b(folded(text).encode(), digest_size=6).digest(), "big")
