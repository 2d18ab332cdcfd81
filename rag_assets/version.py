"""Which build of the package this is. `hatch_build.py` runs this file too, so it imports nothing of the package."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

COMMIT_FILE = Path(__file__).with_name("commit.txt")
"""In a checkout git's placeholder. `git archive` fills it in (.gitattributes), and so do wheel and sdist."""

_DIGITS = 10  # as the commits of an index are shown
_GIT_SECONDS = 10.0


def own_version() -> str:
    """Of the installed package; '' where it runs from its source."""
    from importlib.metadata import PackageNotFoundError, version  # takes longer than the rest of an agent's process

    try:
        return version("rag-assets")
    except PackageNotFoundError:
        return ""


def own_commit() -> str:
    """The commit of the files of the package, with `-dirty` behind it where they differ; '' if nobody knows."""
    try:
        noted = COMMIT_FILE.read_text(encoding="ascii").strip()
    except OSError:
        return ""
    if not noted.startswith("$Format:"):
        return noted if noted.endswith("-dirty") else noted[:_DIGITS]
    root, git = COMMIT_FILE.parents[1], shutil.which("git")
    if git is None or not (root / ".git").exists():  # a copy in another repository is not of its commit
        return ""
    command = [git, "-C", str(root), "describe", "--always", "--dirty", "--exclude=*", f"--abbrev={_DIGITS}"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment["GIT_OPTIONAL_LOCKS"] = "0"
    try:
        done = subprocess.run(command, env=environment, capture_output=True, timeout=_GIT_SECONDS, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.decode("ascii", "replace").strip()
