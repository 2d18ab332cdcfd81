"""Calling the git executable: never interactive, never running what the indexed repository configures.

Commands that read a repository get no transport at all, so a partial clone cannot fetch (and run the program
its own configuration names) behind our back. Nothing here touches a working tree or an index.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING

from rag_assets.errors import GitNotFound, SourceError

if TYPE_CHECKING:
    from rag_assets.sources.urls import Credentials

NETWORK_PROTOCOLS = "https:http:ssh:git:file"
"""GIT_ALLOW_PROTOCOL of commands that may use the network; `ext::` and other helpers are not among them."""

# Only these variables of the caller reach git: the rest (GIT_DIR, GIT_INDEX_FILE, GIT_TRACE…) would redirect it,
# as it does inside a hook, or make it print what it sends.
_KEPT_VARIABLES = frozenset(
    {
        "GIT_CONFIG_GLOBAL",
        "GIT_CONFIG_NOSYSTEM",
        "GIT_CONFIG_SYSTEM",
        "GIT_EXEC_PATH",
        "GIT_HTTP_USER_AGENT",
        "GIT_PROXY_COMMAND",
        "GIT_PROXY_SSL_CAINFO",
        "GIT_SSH",
        "GIT_SSH_COMMAND",
        "GIT_SSH_VARIANT",
        "GIT_SSL_CAINFO",
        "GIT_SSL_CAPATH",
        "GIT_SSL_CERT",
        "GIT_SSL_KEY",
        "GIT_SSL_NO_VERIFY",
        "GIT_SSL_VERSION",
        "GIT_TEMPLATE_DIR",
    }
)

_CONFIG = (
    # Reading a repository that another user owns is safe here, for nothing it configures is run.
    ("safe.directory", "*"),
    ("safe.bareRepository", "all"),
    ("core.fsmonitor", "false"),
    ("core.hooksPath", os.devnull),
    ("core.quotePath", "false"),
    ("log.showRoot", "true"),
    ("log.showSignature", "false"),
    ("protocol.ext.allow", "never"),
    # Housekeeping runs in the foreground: no process outlives the command that started it.
    ("gc.autoDetach", "false"),
    ("maintenance.autoDetach", "false"),
)

# git asks helpers only when a server wants credentials; this one answers from the environment, so that they are
# on no command line, in no file and in no message.
_HELPER = (
    '!f() { test "$1" = get || exit 0; echo "username=$RAG_ASSETS_GIT_USERNAME"; '
    'echo "password=$RAG_ASSETS_GIT_PASSWORD"; }; f'
)


class GitError(SourceError):
    """A git command that failed. `stderr` is what git said; callers give it a better name where they can."""

    def __init__(self, command: str, returncode: int, stderr: str) -> None:
        self.returncode = returncode
        self.stderr = stderr.strip()
        super().__init__(f"git {command} failed with exit code {returncode}: {self.stderr or 'no message'}")


class GitTimeout(SourceError):
    """A git command that took longer than its time limit and was stopped."""


def run_git(
    *arguments: str,
    git_dir: Path | None = None,
    timeout: float | None = None,
    network: bool = False,
    credentials: Credentials | None = None,
) -> bytes:
    """Standard output of one git command.

    `network` allows it the transports of NETWORK_PROTOCOLS. Raises GitError on a failure, GitTimeout after
    `timeout` seconds, GitNotFound. An interrupt stops git and what git started.
    """
    command = [git_executable(), *_location(git_dir), *arguments]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        # Files, not pipes: a grandchild that holds a pipe open would keep us waiting after git was stopped.
        environment = git_environment(network=network, credentials=credentials)
        process = _start(command, environment, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        try:
            returncode = process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise GitTimeout(f"git {arguments[0]} was stopped after {timeout:g} s without a result") from None
        finally:
            stop(process)
        err.seek(0)
        if returncode != 0:
            raise GitError(arguments[0], returncode, err.read().decode("utf-8", "replace"))
        out.seek(0)
        return out.read()


def open_git(*arguments: str, git_dir: Path) -> subprocess.Popen[bytes]:
    """A running git command to talk to through `stdin` and `stdout`; end it with `stop`. Local only."""
    command = [git_executable(), *_location(git_dir), *arguments]
    return _start(
        command,
        git_environment(network=False),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


def stop(process: subprocess.Popen[bytes]) -> None:
    """Ends a process that still runs, with its children, and closes its pipes."""
    if process.poll() is None:
        if sys.platform != "win32":
            try:
                os.killpg(process.pid, signal.SIGKILL)  # git-remote-https and ssh are children of git
            except ProcessLookupError:
                process.kill()
        else:
            process.kill()
        process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            try:
                pipe.close()
            except OSError:
                continue  # what was not yet sent cannot be sent any more, and need not be


_GIT = ("git.exe", "git") if sys.platform == "win32" else ("git",)  # before Python 3.12 nothing is added to a path


def git_executable() -> str:
    """The path of git. Windows would take one from the working folder first, which may be a repository of anybody: only
    whole paths on PATH count. Raises GitNotFound saying what to install."""
    for folder in filter(Path.is_absolute, map(Path, os.get_exec_path())):
        for name in _GIT:
            found = shutil.which(str(folder / name))
            if found is not None:
                return found
    raise GitNotFound(
        "git is not on PATH; install it (https://git-scm.com) to index git repositories. "
        "Plain directories and source archives work without it"
    )


def git_environment(*, network: bool, credentials: Credentials | None = None) -> dict[str, str]:
    """The environment of every git command: not interactive, English, nothing of the repository is run."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name in _KEPT_VARIABLES
    }
    environment |= {
        "LC_ALL": "C",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "",
        "SSH_ASKPASS": "",
        "SSH_ASKPASS_REQUIRE": "never",
        "GCM_INTERACTIVE": "never",
        "GIT_NO_REPLACE_OBJECTS": "1",  # a commit means its own content, whatever the clone would replace
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_LAZY_FETCH": "1",  # git older than 2.45 does not know it: the empty protocol list does the same
        "GIT_ALLOW_PROTOCOL": NETWORK_PROTOCOLS if network else "none",
    }
    config = list(_CONFIG)
    if credentials is not None:
        environment["RAG_ASSETS_GIT_USERNAME"] = credentials.username
        environment["RAG_ASSETS_GIT_PASSWORD"] = credentials.password or ""
        # With a password our answer is the only one; a mere user name leaves the password to the user's helpers.
        reset = [("credential.helper", "")] if credentials.password is not None else []
        config += [*reset, ("credential.username", credentials.username), ("credential.helper", _HELPER)]
    return environment | _as_variables(config)


def _as_variables(config: Sequence[tuple[str, str]]) -> dict[str, str]:
    made = {"GIT_CONFIG_COUNT": str(len(config))}
    for number, (key, value) in enumerate(config):
        made[f"GIT_CONFIG_KEY_{number}"] = key
        made[f"GIT_CONFIG_VALUE_{number}"] = value
    return made


def _location(git_dir: Path | None) -> list[str]:
    return [] if git_dir is None else [f"--git-dir={git_dir}"]


def _start(
    command: list[str], environment: dict[str, str], *, stdin: int, stdout: int | IO[bytes], stderr: int | IO[bytes]
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command,
        env=environment,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        # Without a terminal of its own ssh cannot ask for a passphrase, and the group can be ended as one.
        start_new_session=True,
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )
