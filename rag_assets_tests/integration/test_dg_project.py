"""The component as its user meets it: in a project that `dg` has made, with the commands of `dg`."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest
from dagster import AssetKey, DagsterInstance, DagsterRunStatus, EventLogEntry, RunsFilter

import rag_assets
from rag_assets.pipeline.versions import STAGES
from rag_assets_tests.git_repository import Repository

ROOT = Path(rag_assets.__file__).parents[1]

REFUNDS = """\
namespace Shop;

/// <summary>Limits how much a customer gets back.</summary>
public class RefundPolicy
{
    public decimal Limit(decimal paid) => paid / 2;
}
"""
ANSWERS = """\
import dagster as dg
from rag_assets import RagIndexResource


@dg.asset(deps=[dg.AssetKey(["rag", "my_index", "active_index"])])
def refund_rules(my_index: RagIndexResource) -> dg.MaterializeResult:
    found = my_index.search("how are refunds limited", limit=3)
    answer = my_index.ask("what limits how much a customer gets back?")
    hit = found.hits[0]
    return dg.MaterializeResult(
        metadata={
            "place": f"{hit.path}:{hit.start_line}-{hit.end_line}",
            "label": found.label,
            "commit": found.commit_sha,
            "run": found.run_id,
            "answer": answer.text,
        }
    )
"""
PROGRAM = """
import os, sys
words = []
for word in sys.argv[1:]:
    if word != ";":
        words.append(word)
        continue
    sys.argv[1:], words = words, []
    if sys.argv[1] == "project":
        from create_dagster.cli import main
    else:
        os.chdir(f"{os.environ['HOME']}/demo")
        from dagster_dg_cli.cli import main
    try:
        main()
    except SystemExit as end:
        if end.code:
            raise
"""


@dataclass(frozen=True)
class Project:
    """A project and its own folder for everything that Dagster writes."""

    root: Path
    folder: Path

    @property
    def defs(self) -> Path:
        return self.root / "src" / "demo" / "defs"

    @property
    def environment(self) -> dict[str, str]:
        """That of the tests, in which the package is installed as its pyproject.toml says, without anything of ours."""
        places = (self.folder / "site", ROOT, self.root / "src")
        ours = {name for name in os.environ if name.startswith(("RAG_ASSETS", "DAGSTER"))}
        return {name: value for name, value in os.environ.items() if name not in ours} | {
            "PYTHONPATH": os.pathsep.join(map(str, places)),
            "DAGSTER_HOME": str(self.folder / "dagster"),
            "DAGSTER_DG_UPDATE_CHECK_ENABLED": "0",
            "HOME": str(self.folder),
            "COLUMNS": "200",
        }

    def dg(self, *commands: tuple[str, ...]) -> str:
        """The output of commands of one process, both streams: it takes longer to start than most of them."""
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, *(word for command in commands for word in (*command, ";"))],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stdout
        return done.stdout

    def instance(self) -> DagsterInstance:
        return DagsterInstance.from_config(str(self.folder / "dagster"))


def repository(path: Path, files: dict[str, str]) -> Repository:
    return Repository.new(path, files)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("dg")


@pytest.fixture(scope="module")
def shop(folder: Path) -> Repository:
    return repository(folder / "shop", {"src/RefundPolicy.cs": REFUNDS, "README.md": "# Shop\n"})


@pytest.fixture(scope="module")
def project(folder: Path, shop: Repository) -> Project:
    """With one component, made by the commands of `dg`, and an asset that asks its index."""
    entry_points = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["entry-points"]
    installed = folder / "site" / "rag_assets-0.0.0.dist-info"
    installed.mkdir(parents=True)
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: rag-assets\nVersion: 0.0.0\n", "utf-8")
    lines = [
        f"[{group}]\n" + "\n".join(f"{name} = {at}" for name, at in of.items()) for group, of in entry_points.items()
    ]
    (installed / "entry_points.txt").write_text("\n".join(lines) + "\n", "utf-8")
    (folder / "dagster").mkdir()
    (folder / "dagster" / "dagster.yaml").write_text("telemetry: {enabled: false}\n", "utf-8")
    made = Project(folder / "demo", folder)
    made.dg(("project", "demo", "--no-uv-sync"))
    (made.defs / "answers.py").write_text(ANSWERS, "utf-8")
    return made


def test_dg_finds_the_component_and_accepts_what_it_scaffolds(project: Project, shop: Repository) -> None:
    scaffold = ("scaffold", "defs", "rag_assets.RepositoryIndex", "my_index", "--repository", str(shop.path))
    said = project.dg(scaffold, ("check", "defs"))
    assert "All component YAML validated successfully" in said
    assert "All definitions loaded successfully" in said


def test_an_asset_of_the_project_gets_hits_with_their_evidence(project: Project, shop: Repository) -> None:
    project.dg(("launch", "--job", "index_my_index"))
    project.dg(("launch", "--assets", "refund_rules"))
    with project.instance() as instance:
        (indexing,) = instance.get_runs(RunsFilter(job_name="index_my_index"))
        event = instance.get_latest_materialization_event(AssetKey("refund_rules"))
        stages = {stage for stage in STAGES if materialization(instance, "rag", "my_index", stage)}
    assert indexing.status is DagsterRunStatus.SUCCESS
    assert stages == set(STAGES)
    assert event is not None and event.asset_materialization is not None
    told = {name: value.value for name, value in event.asset_materialization.metadata.items()}
    assert told["place"] == "src/RefundPolicy.cs:3-7"
    assert told["label"] == "shop@main"
    assert told["commit"] == shop.git("rev-parse", "HEAD")
    assert told["run"] == indexing.run_id
    assert "Limits how much a customer gets back" in str(told["answer"])


def materialization(instance: DagsterInstance, *key: str) -> EventLogEntry | None:
    return instance.get_latest_materialization_event(AssetKey(list(key)))
