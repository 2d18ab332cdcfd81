"""A stranger's way: the sdist of this checkout, the wheel of that sdist, and the README's lines in a folder that has
neither the checkout nor its repository."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tomllib
import urllib.request
import venv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from rag_assets.version import own_commit
from rag_assets_tests.git_repository import Repository
from rag_assets_tests.processes import free_port, running, until

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
LINES = dict.fromkeys(line.strip() for line in re.findall(r"^(rag-assets [^#\n]+)", README, re.MULTILINE))
SHOWN = re.search(r"^\$ (rag-assets .+)\n((?:.*\n)+?)```", README, re.MULTILINE)
PROGRAM = re.search(r"^```python\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
TIME_LIMIT = 300.0

_COMMIT = re.compile(r"\b[0-9a-f]{10}\b")


@dataclass(frozen=True)
class Stranger:
    """Somebody with the wheel in an environment of its own, in a repository like theirs."""

    environment: Path
    folder: Path
    sdist: Path

    @property
    def variables(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("RAG_ASSETS", "PYTHON"))}
        programs = self.environment / ("Scripts" if os.name == "nt" else "bin")
        return kept | {"PATH": f"{programs}{os.pathsep}{kept['PATH']}", "HOME": str(self.folder.parent)}

    def command(self, line: str) -> list[str]:
        program, *words = shlex.split(line)
        return [shutil.which(program, path=self.variables["PATH"]) or program, *words]

    def say(self, line: str) -> str:
        """What a command prints; it must not fail."""
        options: dict[str, Any] = {"cwd": self.folder, "env": self.variables, "timeout": TIME_LIMIT}
        done = subprocess.run(self.command(line), capture_output=True, check=False, **options)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode()


@pytest.fixture(scope="module")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Stranger:
    pytest.importorskip("hatchling", reason="hatchling is not installed")
    base = tmp_path_factory.mktemp("stranger")
    built(ROOT, "sdist", base / "dist")
    (sdist,) = (base / "dist").glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(base / "sources", filter="data")
    (sources,) = (base / "sources").iterdir()
    built(sources, "wheel", base / "dist")
    (wheel,) = (base / "dist").glob("*.whl")
    environment = base / "environment"
    venv.create(environment, with_pip=False)
    pip(environment, "install", "--no-index", "--no-deps", wheel)
    (site,) = (
        environment.glob("lib/python*/site-packages") if os.name != "nt" else environment.glob("Lib/site-packages")
    )
    # What the package requires is here already. Lines of a .pth are not read for further .pth files, so the editable
    # install of the checkout is not found through them.
    present = [path for path in sys.path if path.endswith(("site-packages", "dist-packages"))]
    (site / "present.pth").write_text("\n".join(present), encoding="utf-8")
    shutil.copytree(ROOT / "examples" / "shop", base / "shop")
    shop = Repository(base / "shop")
    shop.git("init", "--quiet", "--initial-branch=master")
    controller = "src/Fernhill.Shop.Api/Controllers/OrdersController.cs"
    now = (shop.path / controller).read_text(encoding="utf-8")
    shop.commit({controller: now.replace("{number}/delivery-days", "{number}/delivery")})
    shop.commit({controller: now})  # the README shows what the last commit touches
    return Stranger(environment, shop.path, sdist)


def built(sources: Path, target: str, folder: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", str(folder)]
    subprocess.run(command, cwd=sources, check=True, capture_output=True, timeout=TIME_LIMIT)


def pip(environment: Path, *words: str | Path) -> None:
    command = [sys.executable, "-m", "pip", "--python", str(environment), *map(str, words)]
    subprocess.run(command, check=True, capture_output=True, timeout=TIME_LIMIT)


def test_the_wheel_says_its_version_and_the_commit_it_was_built_of(stranger: Stranger) -> None:
    said = stranger.say("rag-assets --version").strip()
    assert said == f"rag-assets {VERSION}" + (f" (commit {own_commit()})" if own_commit() else "")


def test_nothing_is_loaded_from_the_checkout(stranger: Stranger) -> None:
    said = stranger.say('python -c "import rag_assets, sys; print(rag_assets.__file__, *sys.path)"')
    assert said.startswith(str(stranger.environment))
    assert str(ROOT) not in said.replace(str(ROOT / ".venv"), "")


def test_the_sdist_has_what_is_in_git_and_no_more(stranger: Stranger) -> None:
    with tarfile.open(stranger.sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"LICENSE", "README.md", "pyproject.toml", "hatch_build.py", "rag_assets/py.typed"} <= names
    top = {name.partition("/")[0] for name in names}
    assert not top & {".venv", ".git", ".rag_assets", "dist", "build"}


def test_the_lines_of_the_readme_work(stranger: Stranger) -> None:
    """In their order; the first makes the index, and the one that is shown with its answer gives that answer."""
    assert SHOWN is not None and PROGRAM is not None
    assert len(LINES) > 8
    for line in LINES:
        if line != "rag-assets serve":
            stranger.say(line)
    answer = stranger.say(SHOWN[1])
    assert _COMMIT.sub("COMMIT", answer) == _COMMIT.sub("COMMIT", SHOWN[2])
    (stranger.folder.parent / "program.py").write_text(PROGRAM[1], encoding="utf-8")
    assert "OrderManager" in stranger.say(f"python {shlex.quote(str(stranger.folder.parent / 'program.py'))}")


def test_the_page_is_served(stranger: Stranger) -> None:
    stranger.say("rag-assets index")
    port = free_port()
    command = stranger.command(f"rag-assets serve --port {port}")
    with running(command, cwd=stranger.folder, env=stranger.variables, stderr=subprocess.DEVNULL):
        until(lambda: read(f"http://127.0.0.1:{port}/"), "the server answers")
        assert "OrdersController" in read(f"http://127.0.0.1:{port}/?q=endpoints+for+orders")


def read(address: str) -> str:
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(address, timeout=30) as reply:
        return str(reply.read(), "utf-8")
