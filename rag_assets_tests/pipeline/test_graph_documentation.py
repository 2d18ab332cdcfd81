"""What docs/graph.md shows works as it is written, on the example repository."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from rag_assets_tests.cli.conftest import CommandLine
from rag_assets_tests.pipeline.conftest import Built

TEXT = (Path(__file__).parents[2] / "docs" / "graph.md").read_text(encoding="utf-8")
COMMANDS = [command.strip() for command in dict.fromkeys(re.findall(r"rag-assets (graph [^`#\n]+)", TEXT))]
PROGRAMS = re.findall(r"^```python\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_finds_something(shop: Built, tmp_path: Path, command: str) -> None:
    done = CommandLine(shop.build.home, tmp_path).run(*shlex.split(command))
    assert (done.code, done.err) == (0, "")
    assert done.out


def test_a_program_finds_something(shop: Built, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rag_assets.yaml").write_text(f"home: {shop.build.home.root}\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    (program,) = PROGRAMS
    names: dict[str, tuple[object, ...]] = {}
    exec(compile(program, "docs/graph.md", "exec"), names)
    assert names["hits"]
    assert names["texts"]


def test_there_are_commands() -> None:
    assert len(COMMANDS) > 6
