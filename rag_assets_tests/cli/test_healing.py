"""What a user does after something under the home directory was lost or damaged: index again."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from dagster import DagsterInstance, DagsterRunStatus

from rag_assets.defs.in_process import end_dead_runs
from rag_assets.index.generations import active_generation, active_pointer, finished_generations
from rag_assets.index.integrity import damage
from rag_assets.index.layout import IndexHome
from rag_assets.settings import Settings
from rag_assets_tests.cli.conftest import CommandLine, index_without_dagster
from rag_assets_tests.git_repository import Repository

LEXICAL = "--lexical-only"
LABEL = "shop@main"


def generation(home: IndexHome) -> Path:
    return active_generation(home, LABEL).directory


def generation_ids(home: IndexHome) -> list[str]:
    return finished_generations(home, LABEL)


LOSSES: dict[str, Callable[[IndexHome], object]] = {
    "shard/edge_config.json": lambda home: shutil.rmtree(generation(home) / "shard"),
    "keyword/": lambda home: shutil.rmtree(generation(home) / "keyword"),
    "summary_sections/part-000": lambda home: shutil.rmtree(generation(home) / "summary_sections"),
    "documents of the blob store": lambda home: shutil.rmtree(home.blobs),
}


@pytest.mark.usefixtures("without_dagster")
@pytest.mark.parametrize("what", LOSSES)
def test_a_lost_part_is_noticed_and_built_again(cli: CommandLine, repository: Repository, what: str) -> None:
    index_without_dagster(cli.home, repository, "shop")
    whole = active_generation(cli.home, LABEL)
    assert damage(cli.home, whole) == []
    LOSSES[what](cli.home)
    assert any(what in part for part in damage(cli.home, whole))
    doctor = json.loads(cli.run("doctor", "--json").out)
    (label,) = [check for check in doctor["checks"] if check["name"] == LABEL]
    assert label["verdict"] == "fail"
    done = cli.run("index", repository.path, LEXICAL)
    assert done.code == 0, done.err
    assert "; building it again" in done.err
    assert damage(cli.home, active_generation(cli.home, LABEL)) == []
    assert "up to date" in cli.run("index", repository.path, LEXICAL).err


@pytest.mark.usefixtures("without_dagster")
def test_a_damaged_pointer_is_replaced(cli: CommandLine, repository: Repository) -> None:
    index_without_dagster(cli.home, repository, "shop")
    (cli.home.label(LABEL) / "active.json").write_text("{", encoding="utf-8")
    newest = generation_ids(cli.home)[-1]
    said = cli.run("search", "order")
    assert said.code == 1 and f"rag-assets generations activate {newest}, or run: rag-assets index {LABEL}" in said.err
    assert cli.run("status").code == 0
    assert cli.run("index", repository.path, LEXICAL).code == 0
    assert active_pointer(cli.home, LABEL) is not None


def test_a_label_with_a_damaged_pointer_is_served_again_by_choice(cli: CommandLine, repository: Repository) -> None:
    index_without_dagster(cli.home, repository, "shop")
    (cli.home.label(LABEL) / "active.json").write_bytes(b"\x00\xff")
    assert cli.run("generations", "activate", generation_ids(cli.home)[-1]).code == 0
    assert cli.run("search", "order").code == 0


@pytest.mark.usefixtures("without_dagster")
def test_a_damaged_manifest_says_what_to_do(cli: CommandLine, repository: Repository) -> None:
    index_without_dagster(cli.home, repository, "shop")
    (generation(cli.home) / "manifest.json").write_bytes(b'{"ref": "\xff"}')
    for command in (("search", "order"), ("ask", "What is an order?"), ("graph", "Order")):
        done = cli.run(*command)
        assert done.code == 1 and done.err.endswith(f"run: rag-assets index {LABEL}\n"), command
    assert cli.run("index", repository.path, LEXICAL).code == 0
    assert cli.run("search", "order").code == 0


@pytest.mark.usefixtures("without_dagster")
@pytest.mark.parametrize("damage", [lambda path: path.write_bytes(b"{"), Path.unlink], ids=["cut short", "gone"])
def test_a_lost_record_of_a_stage_is_noticed_and_built_again(
    cli: CommandLine, repository: Repository, damage: Callable[[Path], object]
) -> None:
    index_without_dagster(cli.home, repository, "shop")
    damage(generation(cli.home) / "stages" / "discovered_files.json")
    done = cli.run("index", repository.path, LEXICAL)
    assert done.code == 0, done.err
    assert "; building it again" in done.err
    assert "problem" not in cli.run("status", "--json").json["labels"][0]


def test_runs_of_killed_commands_end(tmp_path: Path) -> None:
    with DagsterInstance.ephemeral() as instance:
        from rag_assets.defs.pipeline import pipeline_for

        job = pipeline_for(Settings()).resolve_job_def("index")
        tags = {"rag/label": LABEL, "rag/command": "true"}
        dead = instance.create_run_for_job(job, tags=tags, status=DagsterRunStatus.STARTED)
        other = instance.create_run_for_job(job, tags=tags | {"rag/label": "zoo@main"}, status=DagsterRunStatus.STARTED)
        of_the_ui = instance.create_run_for_job(job, tags={"rag/label": LABEL}, status=DagsterRunStatus.STARTED)
        end_dead_runs(instance, LABEL)
        found = {run.run_id: run.status for run in instance.get_runs()}
    assert found[dead.run_id] is DagsterRunStatus.FAILURE
    assert found[other.run_id] is DagsterRunStatus.STARTED
    assert found[of_the_ui.run_id] is DagsterRunStatus.STARTED


def test_the_home_is_kept_out_of_git(cli: CommandLine, repository: Repository) -> None:
    home = IndexHome(repository.path / ".rag_assets")
    index_without_dagster(home, repository, "shop")
    assert repository.git("status", "--short") == ""


def test_the_branch_that_is_checked_out_is_the_one_searched(repository: Repository, cli: CommandLine) -> None:
    repository.git("checkout", "--quiet", "-b", "dev")
    repository.commit({"src/Dev.cs": "namespace Shop;\n\npublic class OnlyOnDev { }\n"})
    for ref in ("main", "dev"):
        cli.build(repository.path, ref=ref, lexical_only=True)
    found = json.loads(CommandLine(cli.home, repository.path).run("search", "OnlyOnDev", "--json").out)
    assert (found["label"], found["hits"][0]["path"]) == ("shop@dev", "src/Dev.cs")


def test_a_commit_of_the_current_repository_can_be_indexed(repository: Repository, cli: CommandLine) -> None:
    old = repository.git("rev-parse", "HEAD")
    repository.commit({"src/New.cs": "namespace Shop;\n\npublic class New { }\n"})
    assert CommandLine(cli.home, repository.path).run("index", "--commit", old, LEXICAL).code == 0
    assert active_generation(cli.home, LABEL).manifest.commit_sha == old


def test_a_literal_path_with_brackets_is_no_pattern(repository: Repository, cli: CommandLine) -> None:
    repository.commit({"app/[id]/page.ts": "export function pageThing() { return 1; }\n"})
    index_without_dagster(cli.home, repository, "shop")
    for path in ("app/[id]/page.ts", "app/[id]", "app/[id]/**", "app/**"):
        found = json.loads(cli.run("search", "pageThing", "--path", path, "--json").out)
        assert [hit["path"] for hit in found["hits"]] == ["app/[id]/page.ts"], path


UNUSABLE = {"pack": ("rule_packs: [genric]", "genric"), "glob": ('include: ["["]', "include")}


@pytest.mark.parametrize(("repository_keys", "message"), UNUSABLE.values(), ids=UNUSABLE)
def test_config_check_reads_rules_and_patterns(
    cli: CommandLine, repository: Repository, repository_keys: str, message: str
) -> None:
    config = cli.folder / "rag_assets.yaml"
    config.write_text(
        f"repositories:\n  - id: shop\n    location: {json.dumps(str(repository.path))}\n    {repository_keys}\n",
        encoding="utf-8",
    )
    done = cli.run("config", "check", options=("--config", str(config)))
    assert done.code == 1
    assert message in done.out


def test_config_check_reads_the_graph_to_import(cli: CommandLine, repository: Repository) -> None:
    """The other files would be used, but nobody would have meant that."""
    with zipfile.ZipFile(cli.folder / "graph.zip", "w") as made:
        made.writestr("nodes.csv", "key,kind,name,schema,file")
        made.writestr("edges.csv", "from,to,relation")
    data = (cli.folder / "graph.zip").read_bytes()
    config = cli.folder / "rag_assets.yaml"
    config.write_text(
        f"repositories:\n  - id: shop\n    location: {json.dumps(str(repository.path))}\n"
        "    graph_import: {path: graph.zip}\n",
        encoding="utf-8",
    )
    assert cli.run("config", "check", options=("--config", str(config))).code == 0
    (cli.folder / "graph.zip").write_bytes(data.replace(b"key,kind", b"damaged!"))
    done = cli.run("config", "check", options=("--config", str(config)))
    assert done.code == 1
    assert "graph.zip: nodes.csv: not read, damaged member" in done.out


def test_giving_up_vectors_is_said(cli: CommandLine, repository: Repository) -> None:
    cli.build(repository.path)
    done = cli.run("index", repository.path, LEXICAL)
    assert done.code == 0
    assert "searches find by keyword only from now on" in done.err
    assert "from now on" not in cli.run("index", repository.path, LEXICAL, "--force").err
