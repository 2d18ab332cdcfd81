"""Real git repositories with a fixed identity and no configuration of the machine."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

COMMIT_TIME = "2024-05-06T10:00:00+02:00"
COMMIT_TIME_UTC = "2024-05-06T08:00:00Z"
_ENVIRONMENT = {
    "GIT_AUTHOR_NAME": "Test",
    "GIT_AUTHOR_EMAIL": "test@example.invalid",
    "GIT_AUTHOR_DATE": COMMIT_TIME,
    "GIT_COMMITTER_NAME": "Test",
    "GIT_COMMITTER_EMAIL": "test@example.invalid",
    "GIT_COMMITTER_DATE": COMMIT_TIME,
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_ALLOW_PROTOCOL": "file",
    # No process after each commit that asks whether there is something to clean up, and no samples of hooks.
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "maintenance.auto",
    "GIT_CONFIG_VALUE_0": "false",
    "GIT_TEMPLATE_DIR": "",
}


@dataclass(frozen=True)
class Repository:
    """A repository on disk and the git commands a test needs."""

    path: Path

    @classmethod
    def new(cls, path: Path, files: Mapping[str, str | bytes] | None = None) -> Repository:
        """One on `main`, of a folder that may have files; without a commit where no `files` are named."""
        path.mkdir(parents=True, exist_ok=True)
        made = cls(path)
        made.git("init", "--quiet", "--initial-branch=main")
        if files is not None:
            made.commit(files)
        return made

    def git(self, *arguments: str, input_bytes: bytes | None = None, at: str = COMMIT_TIME) -> str:
        done = subprocess.run(
            ["git", "-C", str(self.path), *arguments],
            env=os.environ | _ENVIRONMENT | {"GIT_COMMITTER_DATE": at},
            input=input_bytes,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode(errors="replace")
        return done.stdout.decode().strip()

    def commit(self, files: Mapping[str, str | bytes], message: str = "change", *, at: str = COMMIT_TIME) -> str:
        for name, content in files.items():
            path = self.path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        self.git("add", "--all", "--force")
        self.git("commit", "--quiet", "--allow-empty", "-m", message, at=at)
        return self._head()

    def _head(self) -> str:
        """Of a commit that was just made: a file has it, and to read it needs no process."""
        folder = self.path / ".git"
        try:
            head = (folder / "HEAD").read_text(encoding="utf-8").strip()
            at = head.removeprefix("ref: ")
            return head if at == head else (folder / at).read_text(encoding="utf-8").strip()
        except OSError:  # a linked work tree, or a submodule
            return self.git("rev-parse", "HEAD")

    def commit_tree(self, entries: list[tuple[str, bytes, bytes]]) -> str:
        """A commit with (mode, name, content) at the root, of names that no file system would take."""
        records = b""
        for mode, name, content in entries:
            oid = self.git("hash-object", "-w", "--stdin", input_bytes=content) if mode != "160000" else "1" * 40
            kind = "commit" if mode == "160000" else "blob"
            records += f"{mode} {kind} {oid}\t".encode() + name + b"\0"
        tree = self.git("mktree", "-z", "--missing", input_bytes=records)
        commit = self.git("commit-tree", tree, "-m", "tree")
        self.git("update-ref", "HEAD", commit)
        return commit
