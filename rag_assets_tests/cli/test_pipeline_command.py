"""`rag-assets pipeline`: validate, show, graph; for people and as JSON."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_assets_tests.cli.conftest import CommandLine

OWN = "pipeline:\n  name: own\n  extends: code_question_answering\n  settings: {max_turn_loops: 2}\n"
BROKEN = OWN.replace("max_turn_loops", "max_turn_loop")


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    folder = tmp_path / "pack"
    folder.mkdir()
    (folder / "own.yaml").write_text(OWN, encoding="utf-8")
    return folder


@pytest.mark.rule("D33")
def test_all_pipelines_are_sound(cli: CommandLine) -> None:
    done = cli.run("pipeline", "validate")
    assert done.code == 0
    assert done.out.splitlines() == [
        "✓ artifact_generation",
        "✓ artifact_generation_offline",
        "✓ code_question_answering",
        "✓ code_question_answering_assessed",
        "✓ code_question_answering_offline",
        "✓ document_question_answering",
        "✓ snapshot_comparison",
    ]


@pytest.mark.rule("D33")
def test_what_is_wrong_is_said_with_file_and_line(cli: CommandLine, pack: Path) -> None:
    file = pack / "own.yaml"
    file.write_text(BROKEN, encoding="utf-8")
    done = cli.run("pipeline", "validate", file)
    assert done.code == 1
    assert f"{file}:4: settings: unknown key 'max_turn_loop'; did you mean 'max_turn_loops'?" in done.out
    as_json = cli.run("pipeline", "validate", "own", "--pack", pack, "--json")
    assert as_json.code == 1
    (one,) = as_json.json["pipelines"]
    assert one["pipeline"] == "own" and one["problems"][0].startswith(f"{file}:4: ")


def test_warnings_do_not_fail(cli: CommandLine, pack: Path) -> None:
    file = pack / "own.yaml"
    file.write_text(OWN + "  steps:\n    - {id: lost, action: finalize}\n", encoding="utf-8")
    done = cli.run("pipeline", "validate", file)
    assert done.code == 0 and f"warning: {file}:6: step 'lost' is never reached" in done.out


def test_an_unknown_name_names_near_ones(cli: CommandLine) -> None:
    assert "did you mean 'snapshot_comparison'?" in cli.run("pipeline", "validate", "snapshot_comparisn").out
    shown = cli.run("pipeline", "show", "snapshot_comparisn")
    assert shown.code == 1 and "did you mean 'snapshot_comparison'?" in shown.err


@pytest.mark.rule("D30", "D31")
def test_show_tells_what_is_left_after_the_merge(cli: CommandLine, pack: Path) -> None:
    done = cli.run("pipeline", "show", "own", "--pack", pack)
    assert "max_turn_loops: 2" in done.out and "direct_policy: abstain" in done.out
    assert "guard  loop_guard" in done.out and "on_allow fetch, on_deny no_answer" in done.out
    told = cli.run("pipeline", "show", pack / "own.yaml", "--json").json
    assert told["lineage"] == ["code_question_answering", "own"]
    assert told["settings"]["max_turn_loops"] == 2
    assert {step["id"]: step.get("next") for step in told["steps"]}["finalize"] == "persist"
    assert set(told["prompts"]) >= {"router", "answer", "history_summary", "context_summary"}


def test_pipelines_beside_the_configuration_need_no_option(cli: CommandLine, pack: Path) -> None:
    (cli.folder / "rag_assets.yaml").write_text("", encoding="utf-8")
    pack.rename(cli.folder / "pipelines")
    assert cli.run("pipeline", "show", "own").code == 0


def test_the_graph_is_mermaid(cli: CommandLine) -> None:
    done = cli.run("pipeline", "graph", "code_question_answering")
    lines = done.out.splitlines()
    assert lines[0] == "flowchart TD"
    assert lines[1] == '  s0(["translate_in<br/><small>translate_in_if_needed</small>"])'
    assert any(line.endswith("-->|on_followup| " + line.split()[-1]) for line in lines)
    told = cli.run("pipeline", "graph", "code_question_answering", "--json").json
    assert {"from": "guard", "on": "on_allow", "to": "fetch"} in told["edges"]
    assert told["mermaid"] == done.out.rstrip("\n")


def test_a_pack_that_is_no_folder_is_wrong_usage(cli: CommandLine) -> None:
    assert cli.run("pipeline", "validate", "--pack", "nowhere").code == 2
