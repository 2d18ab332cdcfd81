"""Commands run in repositories of strangers: what they start takes no Python module from the working folder. For the
processes of Dagster `deploy/test_runs.py` proves it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import anyio
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from rag_assets.errors import GitNotFound
from rag_assets.index.layout import IndexHome
from rag_assets.serving.index_runs import IndexFailed, IndexRuns
from rag_assets.sources import git
from rag_assets.sources.git import git_executable
from rag_assets_tests.serving.agents import ask, said

SHADOWS = (
    "selectors",
    "signal",
    "socket",
    "typing",
    "dagster",
    "msgspec",
    "numpy",
    "rag_assets",
    "sqlalchemy",
    "typer",
)

WORKERS = """
import sys
import threading
from pathlib import Path
from rag_assets.pipeline.workers import process_pool
from rag_assets.pipeline.workers.worker_pool import map_buckets
from rag_assets_tests.pipeline.bucket_work import bucket_and_process, build_of_buckets
threading.Thread(target=threading.Event().wait, daemon=True).start()  # it cannot be copied as it is
process_pool._COPYING = sys.argv[2]
changed = []
sys.addaudithook(lambda event, given: changed.append(given[0]) if event in ("os.putenv", "os.unsetenv") else None)
found = map_buckets(bucket_and_process, build_of_buckets(Path(sys.argv[1]), 6), "")
print(len({process for _, process, _ in found}), [name for name in changed if name.startswith(b"PYTHON")])
"""


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A folder with modules that leave a trace where they are imported."""
    folder = tmp_path / "hostile"
    folder.mkdir()
    write_shadows(folder, tmp_path)
    return folder


def write_shadows(folder: Path, traces: Path) -> None:
    for name in SHADOWS:
        trace = traces / f"{name}.imported"
        (folder / f"{name}.py").write_text(f"open({str(trace)!r}, 'w').close()\nraise SystemExit('imported')\n")


def imported(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.parent.glob("*.imported"))


def test_git(hostile: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = hostile / "git"
    own.write_text("#!/bin/sh\n")
    own.chmod(0o755)
    monkeypatch.chdir(hostile)
    known = git_executable()
    for path in (f".{os.pathsep}", f"{os.pathsep}"):
        monkeypatch.setenv("PATH", f"{path}{Path(known).parent}")
        assert git_executable() == known
    (hostile / "git.exe").write_text("")
    (hostile / "git.exe").chmod(0o755)
    monkeypatch.setattr(git, "_GIT", ("git.exe", "git"))  # as on Windows
    monkeypatch.setenv("PATH", str(hostile))
    assert git_executable() == str(hostile / "git.exe")
    monkeypatch.setenv("PATH", ".")
    with pytest.raises(GitNotFound, match="not on PATH"):
        git_executable()


@pytest.mark.parametrize("method", ["forkserver", "none: spawn"])
def test_worker_processes(hostile: Path, tmp_path: Path, method: str) -> None:
    script = tmp_path / "script.py"
    script.write_text(WORKERS, encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    environment["PYTHONPATH"] = str(Path(__file__).parents[2])
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path / "home"), method],
        cwd=hostile,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, imported(hostile)) == (0, []), done.stderr
    # Nor does the environment change meanwhile: a thread that copies it, as for git, would meet a name that is gone.
    assert (done.stdout, done.stderr) == ("2 []\n", "")


def test_the_server_of_agents(hostile: Path) -> None:
    async def talk(client: Client) -> None:
        answer = await client.call_tool("search", {"query": "orders"})
        assert "rag-assets index" in said(answer)

    home = hostile.parent / "home"
    command = ["-P", "-m", "rag_assets", "--home", str(home), "mcp"]
    ask(stdio_client(StdioServerParameters(command=sys.executable, args=command, cwd=hostile)), talk)
    assert imported(hostile) == []
    for line in subprocess.run(["pgrep", "-f", "--", f"--home {home} "], capture_output=True, text=True).stdout.split():
        os.kill(int(line), signal.SIGTERM)


def test_a_run_of_the_server(hostile: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(hostile)
    home = IndexHome(hostile.parent / "home")

    async def tell(_: int, __: str) -> None: ...

    with pytest.raises(IndexFailed, match="shop"):
        anyio.run(IndexRuns(home, None).run, "shop@main", tell)
    assert imported(hostile) == []
