"""The commands of a user, with a standard library that has what Windows has, and files that Windows would refuse."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import rag_assets
from rag_assets_tests.cli.conftest import new_repository
from rag_assets_tests.cli.test_private_home import COMMANDS, END_OF_COMMAND
from rag_assets_tests.git_repository import Repository
from rag_assets_tests.processes import PATIENCE_SECONDS
from rag_assets_tests.windows.platform_names import is_not_on_windows, names, windows_lacks
from rag_assets_tests.windows.view.sitecustomize import is_windows_name

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks for open files in /proc")

_SEEN = ("os", "sys", "signal", "socket", "time", "platform", "multiprocessing", "select", "mmap", "locale", "asyncio")
_MISSING = ("fcntl", "grp", "pwd", "resource", "readline", "termios", "tty", "pty", "syslog", "crypt", "curses")


class SeenAsWindows:
    """A command line of its own process, and what Windows would have refused in it."""

    def __init__(self, folder: Path, repository: Repository) -> None:
        self.home = folder / "home"
        self._log = folder / "refused.txt"
        plan = folder / "windows.json"
        lacking = {
            module: sorted(name for name in names(module, "linux") if windows_lacks(module, name)) for module in _SEEN
        }
        assert "fork" in lacking["os"] and "SIGKILL" in lacking["signal"]
        missing = [module for module in _MISSING if is_not_on_windows(module)]
        plan.write_text(json.dumps({"lacking": lacking, "missing": missing, "log": str(self._log)}), "utf-8")
        paths = [str(Path(__file__).parent / "view"), str(Path(rag_assets.__file__).parents[1])]
        self._folder = repository.path
        self._environment = os.environ | {
            "RAG_TESTS_WINDOWS": str(plan),
            "PYTHONPATH": os.pathsep.join(paths),
            "PYTHONIOENCODING": "cp437",
        }

    def done(self, *commands: tuple[str, ...]) -> list[str]:
        """What each command says. They share a process: to start one takes longer than most of them."""
        typed = [word for command in commands for word in ("--home", str(self.home), *command, ";")]
        done = self.python("-c", COMMANDS, *typed[:-1])
        assert done.returncode == 0, done.stderr
        said = done.stdout.split(END_OF_COMMAND)
        assert said.pop() == "" and len(said) == len(commands)
        return said

    def python(self, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *map(str, arguments)],
            cwd=self._folder,
            env=self._environment,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            encoding="cp437",
            timeout=PATIENCE_SECONDS,
            check=False,
        )

    def take_refused(self) -> list[str]:
        """What was refused since this was asked last."""
        found = self._log.read_text("utf-8").splitlines() if self._log.exists() else []
        self._log.unlink(missing_ok=True)
        return found


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return new_repository(tmp_path / "shop")


@pytest.fixture
def seen(tmp_path: Path, repository: Repository) -> Iterator[SeenAsWindows]:
    made = SeenAsWindows(tmp_path, repository)
    yield made
    assert made.take_refused() == []


_TRIES = """
import os, sys
from pathlib import Path
def refused(act):
    try: act()
    except (AttributeError, PermissionError): return True
    return False
here = Path(sys.argv[1])
with (here / "held.txt").open("w", encoding="utf-8"):
    found = [refused(lambda: os.fork), refused(lambda: os.getuid), os.name == "nt"]
    found += [refused((here / "held.txt").unlink), refused(lambda: here.replace(here.with_name("moved")))]
(here / "aux.cs").touch()
(here / "held.txt").unlink()
print(found)
"""


def test_the_view_refuses_what_windows_refuses(seen: SeenAsWindows, tmp_path: Path) -> None:
    program = tmp_path / "tries"
    (program / "rag_assets_tries").mkdir(parents=True)
    (program / "rag_assets_tries" / "__init__.py").write_text(_TRIES, "utf-8")
    (tmp_path / "here").mkdir()
    done = seen.python(
        "-c", f"import sys; sys.path.insert(0, {str(program)!r}); import rag_assets_tries", tmp_path / "here"
    )
    assert done.stdout.strip() == "[True, True, True, True, True]", done.stderr
    assert [line.split(" of ")[0] for line in seen.take_refused()] == ["os.remove", "os.rename", "no file"]


def test_a_repository_is_indexed_searched_asked_and_forgotten(seen: SeenAsWindows, repository: Repository) -> None:
    asked = (("search", "cancel an order", "--json"), ("ask", "who cancels orders?"))
    _, checked, found, answer = seen.done(("index",), ("doctor",), *asked)
    assert "on Windows " in checked and "OrderService.cs" in answer
    assert json.loads(found)["hits"][0]["path"] == "src/Orders/OrderService.cs"
    repository.commit({"src/Orders/Order.cs": "namespace Shop.Orders;\r\n\r\npublic class Parcel { }\r\n"})
    asked = (("search", "parcel", "--json"), ("read", "src/Orders/Order.cs"))
    _, found, shown, _ = seen.done(("index",), *asked, ("gc",))
    assert json.loads(found)["hits"][0]["path"] == "src/Orders/Order.cs" and "class Parcel" in shown
    assert unsafe_names(seen.home) == []
    _, left = seen.done(("reset", "--all", "--yes"), ("status", "--json"))
    assert json.loads(left)["labels"] == []


def unsafe_names(home: Path) -> list[str]:
    """Files of a home whose name is none on Windows, or is that of another one there; engines write them too."""
    found = [path.relative_to(home) for path in home.rglob("*")]
    folded = Counter(path.as_posix().casefold() for path in found)
    return [str(path) for path in found if not is_windows_name(path.name)] + [
        name for name, count in folded.items() if count > 1
    ]
