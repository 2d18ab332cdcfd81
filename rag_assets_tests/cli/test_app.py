"""The application as a whole: help, completion, unknown words, errors and exit codes."""

from __future__ import annotations

import inspect
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import qdrant_edge
import typer
import typer.main
from typer.testing import CliRunner

from rag_assets.cli import ReportedGroup, app
from rag_assets.cli.console import describe, describe_os_error
from rag_assets.errors import RagAssetsError, SourceError
from rag_assets.index.generations import GenerationError, active_generation
from rag_assets.index.layout import IndexHome
from rag_assets.index.vectors.vector_api import VectorStoreError
from rag_assets.models.model_files import ModelMissing
from rag_assets.pipeline.build import LabelBusy
from rag_assets.settings.config_file import ConfigError
from rag_assets_tests.cli.conftest import CommandLine, Indexed, new_repository

COMMANDS = [
    "init",
    "index",
    "plan",
    "search",
    "show",
    "graph",
    "status",
    "doctor",
    "generations",
    "gc",
    "reset",
    "config",
]

# What a search may not load: each costs a noticeable part of the second that a cold search may take.
HEAVY = {"dagster", "pydantic_settings", "pyarrow", "rich", "yaml", "sqlalchemy", "tree_sitter"}


def commands() -> Iterator[tuple[str, Any]]:
    """Every command with its words, those of groups included."""
    waiting: list[tuple[str, Any]] = list(typer.main.get_group(app).commands.items())
    while waiting:
        words, command = waiting.pop()
        below = getattr(command, "commands", None)
        if below is None:
            yield words, command
        else:
            waiting += [(f"{words} {name}", inner) for name, inner in below.items()]


def test_the_help_of_every_command_ends_with_an_example_that_can_be_typed() -> None:
    found = dict(commands())
    assert len(found) > 40
    for words, command in found.items():
        told = inspect.cleandoc(command.help)
        (example,) = re.findall(
            r"^Example: (?:claude .* -- )?rag-assets (?:--\w+ \S+ )?(.*)$", told, flags=re.MULTILINE
        )
        assert example.startswith(words), words
        typed = shlex.split(example)[len(words.split()) :]
        command.make_context(words, typed)  # raises for an option or argument that there is not


def test_help_names_every_command_and_the_exit_codes(cli: CommandLine) -> None:
    said = cli.run("--help", options=()).out
    assert [name for name in COMMANDS if name not in said] == []
    assert "4 nothing found" in " ".join(said.replace("│", " ").split())


@pytest.mark.parametrize(
    "command",
    [*COMMANDS, "config check", "generations compare", "graph path", "graph impact", "graph overview", "eval mine"],
)
def test_every_command_has_help(cli: CommandLine, command: str) -> None:
    done = cli.run(*command.split(), "--help", options=())
    assert done.code == 0
    assert "Usage: " in done.out


def test_without_a_command_there_is_help(cli: CommandLine) -> None:
    done = cli.run(options=())
    assert "Usage: " in done.out + done.err


@pytest.mark.parametrize("option", ["--version", "-h"])
def test_short_answers(cli: CommandLine, option: str) -> None:
    assert cli.run(option, options=()).code == 0


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        pytest.param(["serch", "x"], "Did you mean 'search'", id="near command"),
        pytest.param(["frobnicate"], "No such command", id="unknown command"),
        pytest.param(["search", "x", "--lable", "y"], "--label", id="near option"),
        pytest.param(["search"], "QUERY", id="missing argument"),
        pytest.param(["search", "x", "--limit", "0"], "--limit", id="limit out of range"),
        pytest.param(["search", "x", "--limit", "many"], "--limit", id="limit not a number"),
        pytest.param(["search", "x", "--mode", "fuzzy"], "semantic", id="unknown mode"),
        pytest.param(["search", "  "], "the query is empty", id="empty query"),
        pytest.param(
            ["index", "a", "b", "--commit", "abc123"], "name exactly one", id="one commit of two repositories"
        ),
        pytest.param(["reset"], "name the labels to remove", id="reset of nothing"),
    ],
)
def test_wrong_usage_is_exit_code_2_on_stderr(cli: CommandLine, words: list[str], expected: str) -> None:
    done = cli.run(*words)
    assert (done.code, done.out) == (2, "")
    assert expected in " ".join(done.err.replace("│", " ").split())


def test_an_error_is_one_line_on_stderr_with_the_next_command(cli: CommandLine) -> None:
    done = cli.run("search", "anything")
    assert (done.code, done.out) == (1, "")
    said = f"error: nothing is indexed in {cli.home.root}; run: rag-assets --home {cli.home.root} index\n"
    assert done.raw == said


def test_debug_shows_where_an_error_comes_from(cli: CommandLine) -> None:
    done = cli.run("search", "anything", options=("--debug", "--home", str(cli.home.root)))
    assert "Traceback" in done.err
    assert done.err.endswith("run: rag-assets index\n")


@pytest.mark.parametrize("kind", [ConfigError, GenerationError, VectorStoreError, ModelMissing, LabelBusy, SourceError])
def test_an_expected_error_is_its_text_alone(kind: type[RagAssetsError]) -> None:
    assert issubclass(kind, RagAssetsError)
    assert describe(kind("what, why and what to do")) == "what, why and what to do"


def test_an_unexpected_error_says_how_to_see_more() -> None:
    assert "unexpected ZeroDivisionError: by zero" in describe(ZeroDivisionError("by zero"))
    assert "--debug" in describe(ZeroDivisionError("by zero"))


def test_a_panic_of_a_library_is_an_unexpected_error(tmp_path: Path, indexed: Indexed) -> None:
    """It is no Exception in Python: an `except Exception` would let it through, with a trace."""
    program = typer.Typer(cls=ReportedGroup)
    shard = tmp_path / "shard"
    shutil.copytree(active_generation(indexed.cli.home, "shop@main").vectors, shard)
    os.truncate(next(shard.glob("segments/*/payload_index/*-null/is_null/status.dat")), 2)

    @program.callback()
    def group() -> None: ...

    @program.command()
    def load() -> None:
        qdrant_edge.EdgeShard.load(str(shard))

    done = CliRunner().invoke(program, ["load"])
    assert done.exit_code == 1
    assert done.stderr.splitlines()[-1].startswith("error: unexpected PanicException: ")


@pytest.mark.parametrize(
    ("number", "hint"),
    [(28, "free some space"), (13, "let this user read and write it"), (30, "make it writable"), (20, "")],
)
def test_system_errors_name_the_path(number: int, hint: str) -> None:
    said = describe_os_error(OSError(number, "the reason", "/some/path"))
    assert said.startswith("/some/path: the reason")
    assert hint in said


def test_a_home_below_a_file_is_an_error_that_names_it(cli: CommandLine, tmp_path: Path) -> None:
    """Bad input: a home that cannot be written."""
    blocked = tmp_path / "file"
    blocked.write_text("", encoding="utf-8")
    done = cli.run("index", str(tmp_path), options=("--home", str(blocked / "home")))
    assert done.code == 1
    assert str(blocked) in done.err
    assert "Traceback" not in done.err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
def test_a_full_disk_behind_stdout_is_an_error(indexed: Indexed) -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        process = indexed.cli.start("search", "refund", stdout=full)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "No space left on device" in err
    assert "Traceback" not in err


@pytest.mark.skipif(sys.platform == "win32", reason="Windows reports a closed pipe in another way")
def test_a_build_goes_on_where_nobody_reads_its_progress(tmp_path: Path) -> None:
    """A stage that fails is tried again, half a minute later."""
    cli = CommandLine(IndexHome(tmp_path / "home"), tmp_path)
    process = cli.start("index", str(new_repository(tmp_path / "shop").path))
    assert process.stdout is not None and process.stderr is not None
    process.stderr.close()
    assert "shop@main indexed at" in process.stdout.read()
    process.stdout.close()
    assert process.wait(timeout=60) == 0


@pytest.mark.skipif(sys.platform == "win32", reason="Windows reports a closed pipe in another way")
def test_a_closed_pipe_is_no_error(indexed: Indexed) -> None:
    process = indexed.cli.start("search", "refund", "--json")
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    said = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=60) == 141
    assert "Traceback" not in said and "Exception ignored" not in said


def test_a_search_loads_nothing_heavy(indexed: Indexed) -> None:
    """A cold search is a second at most: no orchestrator, no settings model, no table library."""
    program = (
        "import sys\n"
        "from rag_assets.cli import app\n"
        f"sys.argv = ['rag-assets', '--home', {str(indexed.cli.home.root)!r}, 'search', 'refund', '--json']\n"
        "try:\n    app()\nfinally:\n"
        "    print(*{name.partition('.')[0] for name in sys.modules}, file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert set(done.stderr.splitlines()[-1].split()) & HEAVY == set()


def test_the_list_of_commands_imports_no_command() -> None:
    program = (
        "import sys\n"
        "from rag_assets.cli import app\n"
        "try:\n    app(['--help'])\nfinally:\n"
        "    print(*(name for name in sys.modules if name.startswith('rag_assets.cli.')), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert set(done.stderr.split()) == {"rag_assets.cli.options", "rag_assets.cli.console"}


def test_help_and_completion_of_every_command_load_nothing_heavy() -> None:
    """They import the module of the command, which imports what indexes, stores or orchestrates when it runs."""
    program = (
        "import sys, typer.main\n"
        "from rag_assets.cli import app\n"
        "print(len(dict(typer.main.get_command(app).commands.items())), *sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    count, *modules = done.stdout.split()
    assert int(count) >= len(COMMANDS)
    assert set(modules) & {"dagster", "openai", "pandas", "pyarrow", "pydantic", "sqlalchemy", "tree_sitter"} == set()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "powershell"])
def test_completion_scripts_can_be_made(cli: CommandLine, shell: str) -> None:
    with_variable = CommandLine(cli.home, cli.folder, {"_RAG_ASSETS_COMPLETE": f"source_{shell}"})
    done = with_variable.spawn()
    assert done.code == 0
    assert "rag-assets" in done.out or "rag_assets" in done.out


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        pytest.param("sea", ["search"], id="a command"),
        pytest.param("search --label sh", ["shop@main"], id="a label"),
        pytest.param("search --kind Serv", ["Service"], id="a kind"),
        pytest.param("reset ", ["shop@main"], id="a label to remove"),
    ],
)
def test_words_are_completed(indexed: Indexed, typed: str, completed: list[str]) -> None:
    words = f"rag-assets --home {indexed.cli.home.root} {typed}"
    variables = {
        "_RAG_ASSETS_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split(" ")) - 1),
    }
    done = CommandLine(indexed.cli.home, indexed.cli.folder, variables).spawn()
    assert done.out.split() == completed


def test_the_module_is_the_same_program(cli: CommandLine) -> None:
    assert cli.spawn("status").out == (
        f"nothing is indexed in {cli.home.root}; run: rag-assets --home {cli.home.root} index\n"
    )
