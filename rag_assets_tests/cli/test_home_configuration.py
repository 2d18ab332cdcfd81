"""A home that is opened from anywhere has the settings of the configuration file that it belongs to."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rag_assets.index.layout import IndexHome
from rag_assets_tests.cli.conftest import CommandLine, new_repository
from rag_assets_tests.git_repository import Repository

AGENT = "agent: {name: brief, persona: You are brief.}\n"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """A repository with a home beside it, indexed from its folder."""
    base = tmp_path_factory.mktemp("project")
    repository = new_repository(base / "shop", {"README.md": "# Shop\n\nOrders.\n", "pay/all.md": "# Salaries\n"})
    settings = {
        "repositories": [
            {"id": "shop", "location": "shop", "ref": "main", "confidential_paths": {"pay": "restricted"}}
        ],
        "embedder": {"provider": "lexical-only"},
        "roles": {"boss": "restricted"},
    }
    (base / "rag_assets.yaml").write_text(json.dumps(settings), encoding="utf-8")
    (base / "agents").mkdir()
    (base / "agents" / "brief.yaml").write_text(AGENT, encoding="utf-8")
    CommandLine(IndexHome(base / ".rag_assets"), base).build(options=())
    return repository


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (("--role", "boss", "search", "salaries", "--json"), "pay/all.md"),
        (("index", "shop"), "up to date"),
        (("agent", "list"), "brief"),
        (("config", "check"), "shop@main"),
    ],
    ids=lambda words: words[0] if isinstance(words, tuple) else "",
)
def test_its_configuration_holds_from_elsewhere(
    project: Repository, tmp_path: Path, words: tuple[str, ...], shown: str
) -> None:
    cli = CommandLine(IndexHome(project.path.parent / ".rag_assets"), tmp_path)
    done = cli.run(*words)
    assert done.code == 0, done.err
    assert shown in done.out + done.err


def test_the_configuration_of_the_current_folder_comes_first(project: Repository, tmp_path: Path) -> None:
    (tmp_path / "rag_assets.yaml").write_text("roles: {clerk: internal}\n", encoding="utf-8")
    cli = CommandLine(IndexHome(project.path.parent / ".rag_assets"), tmp_path)
    assert cli.run("--role", "boss", "search", "salaries").code == 1


@pytest.mark.rule("D15")
@pytest.mark.parametrize(("on_missing", "code"), [("fall_back", 0), ("fail", 1)])
def test_what_an_index_lacks_is_replaced_or_refused_as_configured(
    project: Repository, tmp_path: Path, on_missing: str, code: int
) -> None:
    (tmp_path / "rag_assets.yaml").write_text(f"search: {{on_missing: {on_missing}}}\n", encoding="utf-8")
    cli = CommandLine(IndexHome(project.path.parent / ".rag_assets"), tmp_path)
    assert cli.run("search", "orders", "--mode", "semantic").code == code
