"""What a parser may do to its process ends no build: each file is listed with its reason, the others are indexed."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

import rag_assets
from rag_assets.index.layout import IndexHome
from rag_assets_tests.cli.conftest import CommandLine, new_repository
from rag_assets_tests.git_repository import Repository
from rag_assets_tests.processes import until
from rag_assets_tests.test_plugin_package import install

PACKAGE = Path(__file__).parents[1] / "hostile_package"
LIMITS = "{file_time_limit_seconds: 0.4, file_memory_limit_bytes: 100000000}"
PATIENT = LIMITS.replace("0.4", "60")
SETTINGS = """\
home: home
embedder: {{provider: lexical-only}}
sources: {limits}
repositories: [{{id: hostile, location: hostile}}]
"""
ENDINGS = {
    "a.aborts": ("crashed", "it crashes its parser: Aborted"),
    "a.exits": ("crashed", "it ended 2 processes"),
    "a.faults": ("crashed", "it crashes its parser: Segmentation fault"),
    "a.sleeps": ("timed-out", "it takes over 0.4 s (sources.file_time_limit_seconds)"),
    "a.spins": ("timed-out", "it takes over 0.4 s (sources.file_time_limit_seconds)"),
    "a.grows": ("out-of-memory", "it takes over 100,000,000 bytes of memory (sources.file_memory_limit_bytes)"),
    "a.recurs": ("unreadable", "it is nested too deep"),
    "a.raises": ("unreadable", "FileNotFoundError: a font"),
    "Aborts.cs": ("crashed", "descriptions: it crashes its parser: Aborted"),
    "Exits.cs": ("crashed", "descriptions: it ended 2 processes"),
    "Spins.cs": ("timed-out", "descriptions: it takes over 0.4 s (sources.file_time_limit_seconds)"),
}
HOSTILE: dict[str, str | bytes] = {
    name: f"public enum {name[:-3]} {{ One }}\n" if name.endswith(".cs") else "x\n" for name in ENDINGS
}
GOOD: dict[str, str | bytes] = {
    "b.fine": "The text of a plugin.\n",
    "Order.cs": "public class Order { public int Id { get; set; } }\n",
    "z.md": "# Orders\n\nThey are paid.\n",
}
PROGRAM = """
from rag_assets_tests import faster_dagster
from rag_assets.cli import main

faster_dagster.remember()
main()
"""
"""The command; what Dagster does again and again is half of a small build, and nothing here is about it."""

STAGES = """
import json
from rag_assets.cli.console import Output
from rag_assets.cli.index.runs import IndexRequest, for_each_repository
from rag_assets.cli.index.summary import summarize
from rag_assets.cli.options import CliSession
from rag_assets.pipeline.run_stages import run_stages

def indexed(settings, home, label, repository):
    build, _ = run_stages(settings, label, repository)
    return summarize(home, label, build.spec.generation_id, "indexed")

session = CliSession(None, None, False, Output(color=False))
print(json.dumps({"results": [*for_each_repository(session, ["hostile"], IndexRequest(), indexed)]}))
"""
"""The same without Dagster, in half the time: for what only the work on files decides."""

MANY = 100
"""Files of two buckets, on which worker processes work."""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits are those of the Linux kernel")


@dataclass(frozen=True)
class Hostile:
    """A command line that sees the hostile package, and a repository with one file of each kind."""

    cli: CommandLine
    repository: Repository
    temporary: TemporaryDirectory[str]

    def configure(self, limits: str = LIMITS) -> None:
        (self.cli.folder / "rag_assets.yaml").write_text(SETTINGS.format(limits=limits), encoding="utf-8")

    def index(self, program: str = STAGES) -> Any:
        done = replace(self.cli, program=("-c", program)).spawn("index", "hostile", "--json")
        assert done.code == 0, done.err
        return done.json["results"][0]

    def skipped(self) -> dict[str, tuple[str, str]]:
        done = self.cli.run("status", "--skipped", "--json", options=())
        return {row["path"]: (row["reason"], row["detail"]) for row in done.json["labels"][0]["skipped"]}


def hostile(folder: Path, files: dict[str, str | bytes]) -> Hostile:
    install(PACKAGE, folder / "site")
    temporary = TemporaryDirectory(prefix="rag")  # short, as the addresses of sockets in it have to be
    paths = os.pathsep.join([str(folder / "site"), str(Path(rag_assets.__file__).parents[1])])
    environment = {"PYTHONPATH": paths, "TMPDIR": temporary.name}
    made = Hostile(
        CommandLine(IndexHome(folder / "home"), folder, environment, ("-c", PROGRAM)),
        new_repository(folder / "hostile", files),
        temporary,
    )
    made.configure()
    return made


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Hostile:
    made = hostile(tmp_path_factory.mktemp("small"), HOSTILE | GOOD)
    made.index(PROGRAM)
    return made


def test_every_file_of_a_small_build_is_listed_or_indexed(small: Hostile) -> None:
    assert small.skipped() == ENDINGS
    found = small.cli.run("search", "Order", "--json").json
    assert {hit["path"] for hit in found["hits"]} >= {"Order.cs", "z.md"}


def test_what_a_format_of_another_package_says_is_found(small: Hostile) -> None:
    found = small.cli.run("search", "text of a plugin", "--json").json
    assert found["hits"][0]["path"] == "b.fine"


@pytest.mark.parametrize("path", ["a.faults", "Spins.cs"])
def test_explain_says_why_there_is_nothing(small: Hostile, path: str) -> None:
    said = small.cli.run("explain", path).out
    assert ENDINGS[path][1] in said.replace("\n", " ")


def test_nothing_of_the_work_is_left(small: Hostile) -> None:
    assert not any(Path(small.temporary.name).iterdir())
    assert [path for path in small.cli.home.root.rglob("*") if path.match("attempt-*")] == []


def test_the_next_commit_finds_the_same(small: Hostile) -> None:
    """The last test of this home, for it changes it."""
    small.repository.commit({"New.cs": "public class New { }\n"})
    small.configure(LIMITS.replace("0.4", "0.40"))  # the same limit
    assert small.index()["status"] == "indexed"
    assert small.skipped() == ENDINGS


def test_a_build_with_worker_processes_lists_the_same(tmp_path: Path) -> None:
    """Also where the temporary folder is too long for the addresses of sockets."""
    many: dict[str, str | bytes] = {f"t/{number}.txt": f"Text {number}.\n" for number in range(MANY)}
    made = hostile(tmp_path, HOSTILE | GOOD | many)
    long = tmp_path / ("long" * 30)
    long.mkdir()
    made.cli.environment["TMPDIR"] = str(long)
    result = made.index(PROGRAM)
    assert result["files"]["indexed"] == len(many) + len(GOOD) + 3, "descriptions of three are missing"
    assert made.skipped() == ENDINGS
    assert not any(long.iterdir())


def test_a_higher_limit_is_another_chance(tmp_path: Path) -> None:
    made = hostile(tmp_path, {"a.grows": "x", **GOOD})
    made.configure(PATIENT)  # a busy machine takes its time to give memory
    assert made.index()["problems"] == [f"a.grows: {ENDINGS['a.grows'][1]}"]
    made.configure(PATIENT.replace("100000000", "200000000"))
    made.index()
    assert "200,000,000" in made.skipped()["a.grows"][1]


@pytest.mark.parametrize(
    ("many", "how"),
    [(0, "SIGTERM"), (0, "SIGKILL"), (MANY, "SIGINT"), (MANY, "SIGKILL")],
    ids=["copy-SIGTERM", "copy-SIGKILL", "pool-SIGINT", "pool-SIGKILL"],
)
def test_an_ended_build_leaves_no_process_and_no_folder(tmp_path: Path, how: str, many: int) -> None:
    """Ctrl-C goes to all processes of a terminal, the others to the one of the command."""
    texts: dict[str, str | bytes] = {f"t/{number}.txt": f"Text {number}.\n" for number in range(many)}
    made = hostile(tmp_path, {"a.spins": "x"} | texts)
    made.configure("{file_time_limit_seconds: 600}")
    spinning = tmp_path / "spinning"
    made.cli.environment["HOSTILE_SPINNING"] = str(spinning)
    cli = replace(made.cli, program=("-c", STAGES if (how, many) == ("SIGKILL", 0) else PROGRAM))
    process = cli.start("index", "hostile", start_new_session=True)
    try:
        until(spinning.exists, "a worker is in the endless loop")
        number = signal.Signals[how]
        os.killpg(process.pid, number) if how == "SIGINT" else process.send_signal(number)
        _, said = process.communicate(timeout=60)
        until(lambda: not in_session(process.pid), "all processes ended", 10)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    assert not any(Path(made.temporary.name).iterdir())
    if how == "SIGKILL":
        return
    assert process.returncode == 130
    assert "interrupted; run the same command again and hostile@main continues where it stopped" in said
    if how == "SIGTERM":
        return  # to this process Ctrl-C and SIGTERM are the same
    made.configure()
    assert made.index()["status"] == "indexed"
    assert made.skipped() == {"a.spins": ENDINGS["a.spins"]}


def in_session(leader: int) -> set[int]:
    """The processes of a session but its leader."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(fields[3]) == leader and int(folder.name) != leader and fields[0] != "Z":
            found.add(int(folder.name))
    return found
