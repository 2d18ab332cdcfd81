"""`rag-assets agent`: list, show, validate; for people and as JSON."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_assets_tests.cli.conftest import CommandLine

OWN = "agent:\n  name: own\n  persona: You are me.\n  output_type: pdr\n  filters: {paths: [src/]}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "mine"
    made.mkdir()
    (made / "own.yaml").write_text(OWN, encoding="utf-8")
    return made


@pytest.mark.rule("E15")
def test_the_list_has_shipped_and_own_agents(cli: CommandLine, folder: Path) -> None:
    done = cli.run("agent", "list", "--agents", folder)
    assert done.code == 0
    assert [line.split()[0] for line in done.out.splitlines()] == [
        "analyst", "architect", "developer", "own", "product_owner", "reviewer", "tech_lead"
    ]  # fmt: skip
    found = cli.run("agent", "list", "--agents", folder, "--json").json
    (own,) = [agent for agent in found["agents"] if agent["name"] == "own"]
    assert own["filters"] == {"paths": ["src/"]} and own["limits"] == {} and own["pipeline"] == "artifact_generation"
    assert found["problems"] == []


def test_a_folder_beside_the_configuration_needs_no_option(cli: CommandLine) -> None:
    (cli.folder / "rag_assets.yaml").write_text("{}", encoding="utf-8")
    (cli.folder / "agents").mkdir()
    (cli.folder / "agents" / "own.yaml").write_text(OWN, encoding="utf-8")
    assert "own  pdr, balanced" in cli.run("agent", "list").out


def test_show_has_every_setting_and_the_persona(cli: CommandLine, folder: Path) -> None:
    done = cli.run("agent", "show", "own", "--agents", folder)
    assert done.code == 0
    for line in ("output_type: pdr", "model_profile: balanced", "filters: paths src/", "limits: none", "actions: all"):
        assert line in done.out.splitlines()
    assert "  You are me." in done.out and str(folder / "own.yaml") in done.out
    assert len(cli.run("agent", "show", folder / "own.yaml", "--json").json["digest"]) == 16


@pytest.mark.parametrize("as_json", [False, True], ids=["people", "programs"])
def test_validate_names_file_and_line(cli: CommandLine, folder: Path, as_json: bool) -> None:
    assert cli.run("agent", "validate", "--agents", folder).code == 0
    (folder / "bad.yaml").write_text(OWN.replace("persona", "personna").replace("own", "bad"), encoding="utf-8")
    (folder / "mixed.yaml").write_text(
        OWN.replace("own", "mixed").replace("pdr", "answer") + "  pipeline: artifact_generation\n", encoding="utf-8"
    )
    done = cli.run("agent", "validate", "--agents", folder, *(["--json"] if as_json else []))
    assert done.code == 1
    assert f"{folder / 'bad.yaml'}:3: agent: unknown key 'personna'; did you mean 'persona'?" in done.out
    assert "writes output_type answer, and the pipeline 'artifact_generation' makes artifacts" in done.out
    if as_json:
        checked = {one["agent"]: one["problems"] for one in done.json["agents"]}
        assert checked["own"] == [] and len(checked["mixed"]) == 1


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["show", "architekt"], 1, "no agent 'architekt'; did you mean 'architect'?; see: rag-assets agent list"),
        (["show", "nothing.yaml"], 1, "nothing.yaml: cannot be read: there is no such file"),
        (["list", "--agents", "nowhere"], 2, "there is no folder nowhere"),
    ],
)
def test_what_it_refuses_to_do(cli: CommandLine, arguments: list[str], code: int, said: str) -> None:
    done = cli.run("agent", *arguments)
    assert done.code == code and said in done.err


def test_a_file_that_cannot_be_used_is_said_in_the_list(cli: CommandLine, folder: Path) -> None:
    (folder / "bad.yaml").write_text("agent: {name: bad}", encoding="utf-8")
    done = cli.run("agent", "list", "--agents", folder)
    assert done.code == 0 and "bad.yaml:1: agent: 'persona' is missing" in done.err
