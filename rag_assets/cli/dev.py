"""`rag-assets dev`: the Dagster UI and daemon on the indexes of the home, until Ctrl-C."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from rag_assets.cli.console import CommandError
from rag_assets.cli.options import CliSession, session_of
from rag_assets.cli.watch import only_one
from rag_assets.index.layout import IndexHome, dagster_instance_file
from rag_assets.settings.config_file import CONFIG_VARIABLE, ENV_PREFIX, HOME_VARIABLE

DEFAULT_PORT = 3000
"""That of Dagster."""

_HOST = "127.0.0.1"
_OWN_FOLDER = Path(__file__).parents[2]  # where the package is
_MODULE = "rag_assets.definitions"
_LOOK_SECONDS = 0.3
_ANSWER_SECONDS = 2.0
_SHOWN_LINES = 20
_END_SECONDS = 20.0  # a run that is interrupted notes it and ends its workers in two or three


def dev(
    context: typer.Context,
    port: Annotated[int, typer.Option("--port", "-p", min=1, max=65535, help="Port of the UI.")] = DEFAULT_PORT,
) -> None:
    """Open the Dagster UI on the indexes of this home, with the daemon that runs schedules, sensors and queued runs.
    Ctrl-C ends both and the runs that they started; the next run of a label continues where it stopped.

    Example: rag-assets dev --port 3001
    """
    session = session_of(context)
    home, output = session.home(), session.output
    session.settings()  # what is wrong with them is said here, and not by a code location that fails to load
    with only_one(home, "dev"):
        _require_free(port, session)
        _make_instance(home)
        instance, address = dagster_instance_file(home).parent.resolve(), f"http://{_HOST}:{port}"
        log = instance / "dev.log"
        with _interruptible(), _services(_environment(session, instance, address), port, log) as process:
            try:
                while process.poll() is None and not _answers(address):
                    time.sleep(_LOOK_SECONDS)
                if process.poll() is None:
                    output.line("Dagster is at ", (address, "path"), "; Ctrl-C ends it. What it says is in ", str(log))
                process.wait()
            except KeyboardInterrupt:
                output.note("stopping Dagster and its runs")
            else:
                said = "\n".join(log.read_text("utf-8", "replace").splitlines()[-_SHOWN_LINES:])
                raise CommandError(f"Dagster ended with exit code {process.returncode}; the end of {log}:\n{said}")
    output.note("stopped")


def _require_free(port: int, session: CliSession) -> None:
    """Raises CommandError with another port where this one is taken."""
    try:
        socket.create_server((_HOST, port)).close()
    except OSError as error:
        with socket.create_server((_HOST, 0)) as other:
            free = other.getsockname()[1]
        raise CommandError(
            f"port {port} cannot be used ({os.strerror(error.errno or 0)}); end the program that has it, or "
            f"choose another one: {session.command()} dev --port {free}"
        ) from None


def _make_instance(home: IndexHome) -> None:
    from rag_assets.defs.in_process import open_instance  # start-up budget: Dagster is 0.5 s

    with open_instance(home):
        pass


def _environment(session: CliSession, instance: Path, address: str) -> dict[str, str]:
    config = session.config()
    # Python would take modules from the working folder, which may be a repository of anybody; so would Dagster, below.
    found = {"DAGSTER_HOME": str(instance), HOME_VARIABLE: str(session.home().root), "PYTHONSAFEPATH": "1"}
    if "ui_url" not in session.settings().automation.model_fields_set:
        found[f"{ENV_PREFIX}AUTOMATION__UI_URL"] = address  # what notifications link to
    return os.environ | found | ({CONFIG_VARIABLE: str(config.resolve())} if config is not None else {})


def _answers(address: str) -> bool:
    try:
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with direct.open(f"{address}/server_info", timeout=_ANSWER_SECONDS):
            return True
    except OSError:
        return False


@contextmanager
def _interruptible() -> Iterator[None]:
    """SIGTERM does what Ctrl-C does. A shell without job control lets what it starts in the background ignore Ctrl-C,
    and Dagster's processes then ignore both."""
    before = {number: signal.signal(number, signal.default_int_handler) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _services(environment: dict[str, str], port: int, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """`dagster dev` in a process group of its own. At the end it stops its servers, then the runs are interrupted, and
    what takes too long is killed."""
    command = [sys.executable, "-m", "dagster", "dev", "--module-name", _MODULE, "--host", _HOST, "--port", str(port)]
    command += ["--working-directory", str(_OWN_FOLDER), "--log-level", "warning", "--code-server-log-level", "warning"]
    with log.open("wb") as said:
        process = subprocess.Popen(command, env=environment, stdout=said, stderr=said, start_new_session=True)
    try:
        yield process
    finally:
        try:
            if process.poll() is None and sys.platform != "win32":  # Ctrl-C has reached it there
                process.send_signal(signal.SIGINT)
            _wait_while(lambda: process.poll() is None)
            if _signal_group(process, signal.SIGINT):
                _wait_while(lambda: _signal_group(process, 0))
        finally:
            process.kill()
            process.wait()
            if sys.platform != "win32":
                _signal_group(process, signal.SIGKILL)


def _wait_while(busy: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _END_SECONDS
    while busy() and time.monotonic() < deadline:
        time.sleep(_LOOK_SECONDS)


def _signal_group(process: subprocess.Popen[bytes], number: int) -> bool:
    """Sends a signal to all processes of the group; False where none is left, and on Windows, which has no groups."""
    if sys.platform == "win32":
        return False
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        return False
    return True
