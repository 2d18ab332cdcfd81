"""The real command line over a real repository: in this process for speed, in its own where the process matters."""

from __future__ import annotations

import atexit
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from typer import testing
from typer.testing import CliRunner

import rag_assets
from rag_assets import Index, open_index
from rag_assets.cli import app
from rag_assets.cli.console import Output
from rag_assets.cli.index.runs import Failed, IndexRequest, for_each_repository
from rag_assets.cli.options import CliSession
from rag_assets.index.labels import register_label, repository_of
from rag_assets.index.layout import IndexHome, index_label
from rag_assets.pipeline.eval_runs import QualityRefused
from rag_assets.pipeline.progress import Progress
from rag_assets.pipeline.run_stages import run_stages
from rag_assets.settings import EmbedderSettings, RepositorySettings, Settings, load_settings
from rag_assets_tests.generation_history import copy_sparse
from rag_assets_tests.git_repository import Repository
from rag_assets_tests.kept_shards import kept

# The tree of commands is the same each time, and to build it takes a third of what a search takes.
testing._get_command = cache(testing._get_command)

FILES: dict[str, str | bytes] = {
    "src/Orders/OrderService.cs": """\
namespace Shop.Orders;

/// <summary>Cancels and refunds orders.</summary>
public class OrderService
{
    /// <summary>Pays back what a customer returned.</summary>
    public decimal RefundOrder(int orderId) => 0m;
}
""",
    "src/Orders/Order.cs": "namespace Shop.Orders;\n\npublic class Order { public int Id { get; set; } }\n",
    "db/tables.sql": "CREATE TABLE dbo.Invoices (Id int NOT NULL, Total money NOT NULL);\nGO\n",
    "README.md": "# Shop\n\nOrders, invoices and more.\n",
    "web/site.min.js": "var a=1;",
}

TIME_LIMIT = 120.0  # a process that takes longer hangs; the machine may be busy


@dataclass(frozen=True)
class Outcome:
    """What a command said and how it ended. `err` is without the home that commands to run next have in `raw`."""

    code: int
    out: str
    err: str
    raw: str = ""

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass(frozen=True)
class CommandLine:
    """`rag-assets --home … ` in a folder. `run` stays in this process, `spawn` and `start` make a new one."""

    home: IndexHome
    folder: Path
    environment: dict[str, str] = field(default_factory=dict)
    program: tuple[str, ...] = ("-m", "rag_assets")

    def run(self, *arguments: str | Path, options: tuple[str, ...] | None = None, spoken: str | None = None) -> Outcome:
        """`spoken` comes from stdin."""
        before = Path.cwd()
        os.chdir(self.folder)
        try:
            words = [*self._globals(options), *map(str, arguments)]
            done = CliRunner().invoke(app, words, env=self.environment, input=spoken)
        finally:
            os.chdir(before)
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        return self._ended(done.exit_code, done.stdout, done.stderr)

    def build(self, *named: str | Path, options: tuple[str, ...] | None = None, **request: Any) -> None:
        """Indexes what `run("index", …)` would, by the stages alone and in one process: a run of Dagster takes five
        times as long."""

        def build(settings: Settings, home: IndexHome, label: str, repository: RepositorySettings) -> None:
            one_process = settings.model_copy(update={"workers": settings.workers or 1})
            run_stages(one_process, label, repository, force=wanted.force, run_id="made-by-a-test")

        typed = self._globals(options)
        chosen = {name: Path(value) for name, value in zip(typed[::2], typed[1::2], strict=True)}
        session = CliSession(chosen.get("--home"), chosen.get("--config"), False, Output(color=False))
        wanted = IndexRequest(**request)
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(self.folder)
            for name, value in self.environment.items():
                patch.setenv(name, value)
            for done in for_each_repository(session, [str(one) for one in named], wanted, build):
                assert not isinstance(done, Failed), done

    def start(self, *arguments: str | Path, **popen: Any) -> subprocess.Popen[str]:
        command = [sys.executable, *self.program, *self._globals(None), *map(str, arguments)]
        environment = os.environ | {"PYTHONPATH": str(Path(rag_assets.__file__).parents[1])} | self.environment
        pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL}
        return subprocess.Popen(command, cwd=self.folder, env=environment, **({"encoding": "utf-8"} | pipes | popen))

    def spawn(self, *arguments: str | Path) -> Outcome:
        process = self.start(*arguments)
        out, err = process.communicate(timeout=TIME_LIMIT)
        return self._ended(process.returncode, out, err)

    def _ended(self, code: int, out: str, err: str) -> Outcome:
        return Outcome(code, out, err.replace(f"rag-assets --home {self.home.root} ", "rag-assets "), err)

    def _globals(self, options: tuple[str, ...] | None) -> list[str]:
        return list(options) if options is not None else ["--home", str(self.home.root)]


@pytest.fixture(autouse=True, scope="module")
def closed_shards_are_kept() -> Iterator[None]:
    with kept():
        yield


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the machine's own configuration reaches a command."""
    for name in list(os.environ):
        if name.startswith("RAG_ASSETS") or name in ("DAGSTER_HOME", "NO_COLOR", "FORCE_COLOR"):
            monkeypatch.delenv(name)


@pytest.fixture
def without_dagster(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands that index do so by the stages alone, in one process: a run of Dagster takes several times as long. For
    tests of when a command indexes, and of what it finds then."""
    from rag_assets.defs import in_process  # Dagster: only where it is replaced

    def run(home: IndexHome, label: str, progress: Progress, **asked: Any) -> in_process.RunOutcome:
        settings = load_settings(asked["config_file"])
        if asked["lexical_only"]:
            settings = settings.without_vectors()
        settings = settings.model_copy(update={"home": home.root, "workers": settings.workers or 1})
        commit = asked["commit"] if asked["pinned"] else None
        options: dict[str, Any] = {"commit": commit, "force": asked["force"], "progress": progress}
        try:
            run_stages(settings, label, repository_of(home, settings, label), run_id="made-by-a-test", **options)
        except QualityRefused as refused:
            return in_process.RunOutcome("made-by-a-test", failure=str(refused), refused=True)
        return in_process.RunOutcome("made-by-a-test")

    monkeypatch.setattr(in_process, "run_index_job", run)


def new_repository(path: Path, files: dict[str, str | bytes] | None = None) -> Repository:
    return Repository.new(path, FILES if files is None else files)


def claimed_bytes(folder: Path) -> int:
    """What the sizes of the files below a folder add up to, holes of sparse files included."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def index_without_dagster(home: IndexHome, repository: Repository, identifier: str, *, force: bool = False) -> str:
    """The label of a lexical index, made by the stages alone, and by one process: to start others takes longer. The
    first one of a home is a copy of an equal one, if there is one: to build it takes four times as long."""
    settings = Settings(home=home.root, embedder=EmbedderSettings(provider="lexical-only"), workers=1)
    configured = RepositorySettings(id=identifier, location=str(repository.path.resolve()), ref="main")
    label = index_label(identifier, "main")
    is_first, key = not home.root.exists(), (identifier, _commit_of_main(repository))
    if is_first and key in _copies:
        shutil.copytree(_copies[key], home.root, copy_function=copy_sparse)
        register_label(home, label, configured, "main")
        return label
    run_stages(settings, label, configured, run_id="made-by-a-test", force=force)
    if is_first and key in _built:
        _copies[key] = _folder_of_copies() / str(len(_copies))
        shutil.copytree(home.root, _copies[key], copy_function=copy_sparse)
    elif is_first and key[1]:
        _built.add(key)
    return label


@contextmanager
def opened_index(base: Path, files: Mapping[str, str | bytes], identifier: str) -> Iterator[Index]:
    """The opened lexical index of a repository of these files; both are made below ``base``."""
    home = IndexHome(base / "home")
    label = index_without_dagster(home, new_repository(base / identifier, {**files}), identifier)
    with open_index(label, home=home.root) as index:
        yield index


_built: set[tuple[str, str]] = set()
"""Id and commit of what was the first index of a home."""
_copies: dict[tuple[str, str], Path] = {}
"""Of homes whose only index was built twice."""


@cache
def _folder_of_copies() -> Path:
    made = Path(tempfile.mkdtemp(prefix="rag-assets-homes-", dir=os.environ.get("PYTEST_DEBUG_TEMPROOT")))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


def _commit_of_main(repository: Repository) -> str:
    """Empty where it is not in a file of its own."""
    try:
        return (repository.path / ".git/refs/heads/main").read_text(encoding="ascii").strip()
    except OSError:
        return ""


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return new_repository(tmp_path / "shop")


@pytest.fixture
def cli(tmp_path: Path) -> CommandLine:
    """A command line with a home of its own where nothing is indexed."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    return CommandLine(IndexHome(tmp_path / "home"), folder)


@dataclass(frozen=True)
class Indexed:
    """A command line whose home has one index. Shared by tests: they read it only."""

    cli: CommandLine
    repository: Repository
    label: str


@pytest.fixture(scope="session")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indexed]:
    base = tmp_path_factory.mktemp("indexed")
    repository = new_repository(base / "shop")
    cli = CommandLine(IndexHome(base / "home"), base)
    yield Indexed(cli, repository, index_without_dagster(cli.home, repository, "shop"))
