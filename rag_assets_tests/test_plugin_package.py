"""A package of a third party adds a kind and builders, without a change in rag_assets (A18, A44).

It is installed as an installer would leave it, so that no network and no build tool is needed, and used by processes
that know nothing of it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

import rag_assets
from rag_assets.index.generations import active_generation
from rag_assets.index.layout import IndexHome
from rag_assets.index.parquet_parts import read_rows
from rag_assets_tests.cli.conftest import TIME_LIMIT, CommandLine, new_repository

PACKAGE = Path(__file__).parent / "plugin_package"

WORKFLOW = """\
namespace Acme.Billing;

/// <summary>Pays an invoice.</summary>
public class PayInvoice : WorkflowBase
{
    [Step] public void Reserve() { }
    [Step] public void Transfer() { }
    public void Undo() { }
}
"""
ENUMS = "namespace Acme;\n[Flags] public enum Rights { Read = 1, Write = 2 }\npublic enum State { Open, Closed }\n"


def install(package: Path, target: Path, version: str = "") -> None:
    """What `pip install --target` leaves of a pure package: its modules, and its metadata with the entry points."""
    project: dict[str, Any] = tomllib.loads((package / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module = project["name"].replace("-", "_")
    shutil.copytree(package / module, target / module)
    version = version or project["version"]
    metadata = target / f"{module}-{version}.dist-info"
    metadata.mkdir()
    head = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {version}\n"
    (metadata / "METADATA").write_text(head, encoding="utf-8")
    lines: list[str] = []
    for group, points in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {value}" for name, value in points.items())]
    (metadata / "entry_points.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


@dataclass(frozen=True)
class Acme:
    """A command line that sees the installed package, and a repository that is indexed with its rule pack."""

    cli: CommandLine

    def python(self, code: str) -> str:
        """What the code prints in a process of its own."""
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=self.cli.folder,
            env=os.environ | self.cli.environment,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=TIME_LIMIT,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


SETTINGS = """\
home: home
embedder: {provider: lexical-only}
repositories:
  - {id: acme, location: acme, rule_packs: [acme], kinds: {"legacy/**": Workflow}}
"""

BUILD = """
from pathlib import Path
from rag_assets.settings import load_settings
from rag_assets.pipeline.run_stages import run_stages
settings = load_settings(Path("rag_assets.yaml"))
run_stages(settings, "acme@main", settings.repositories[0])
"""


@pytest.fixture(scope="module")
def acme(tmp_path_factory: pytest.TempPathFactory) -> Acme:
    folder = tmp_path_factory.mktemp("acme-rag")
    install(PACKAGE, folder / "site")
    paths = os.pathsep.join([str(folder / "site"), str(Path(rag_assets.__file__).parents[1])])
    new_repository(
        folder / "acme",
        {"src/PayInvoice.cs": WORKFLOW, "src/Enums.cs": ENUMS, "legacy/Old.cs": "public class Old { void M() { } }\n"},
    )
    (folder / "rag_assets.yaml").write_text(SETTINGS, encoding="utf-8")
    made = Acme(CommandLine(IndexHome(folder / "home"), folder, {"PYTHONPATH": paths}))
    made.python(BUILD)
    return made


@pytest.fixture(scope="module")
def payloads(acme: Acme) -> list[dict[str, Any]]:
    """The payloads of all points, read by a process that has never heard of the package."""
    generation = active_generation(acme.cli.home, "acme@main")
    rows = [
        row
        for bucket in range(generation.manifest.bucket_count)
        for row in read_rows(generation.directory, "qdrant_points", bucket)
    ]
    return [msgspec.json.decode(row["payload"]) for row in rows]


def points_of(payloads: list[dict[str, Any]], path: str) -> set[tuple[str, str, str, str]]:
    found = [payload for payload in payloads if payload["Path"] == path]
    return {(p["Symbol"], p["Kind"], p.get("SubtypeFlavor", ""), p["SectionKey"]) for p in found}


@pytest.mark.rule("A18", "A44")
def test_a_new_kind_is_described_by_its_builder(payloads: list[dict[str, Any]]) -> None:
    """The rule pack decides for the kind, the builder adds a fact; ids and section keys follow the kind."""
    assert points_of(payloads, "src/PayInvoice.cs") == {
        ("Acme.Billing.PayInvoice", "Workflow", "", "workflow-overview")
    }
    (point,) = [payload for payload in payloads if payload["Path"] == "src/PayInvoice.cs"]
    assert "Steps: Reserve → Transfer" in point["FinderSnippet"]
    assert point["Subtype"] == "Workflow"
    assert point["SemanticId"] == "local:acme:acme:class:acme.billing.payinvoice:workflow-overview:1"


@pytest.mark.rule("A18")
def test_a_second_builder_of_a_built_in_kind_decides_for_itself(payloads: list[dict[str, Any]]) -> None:
    """It stands beside the built-in builders: a flags enum has both descriptions, another enum only theirs."""
    found = points_of(payloads, "src/Enums.cs")
    assert {(symbol, flavor) for symbol, _, flavor, key in found if key.startswith("acme-flags-")} == {
        ("Acme.Rights", "Flags")
    }
    built_in = {symbol for symbol, _, _, key in found if not key.startswith("acme-flags-")}
    assert "Acme.State" in built_in
    assert {kind for _, kind, _, _ in found} == {"Enum"}


@pytest.mark.rule("A44")
def test_configured_paths_may_name_the_new_kind(payloads: list[dict[str, Any]]) -> None:
    assert {kind for _, kind, _, _ in points_of(payloads, "legacy/Old.cs")} == {"Workflow"}


def test_the_new_kind_can_be_searched_for(acme: Acme) -> None:
    """Also where the package is not installed: the index knows its kinds."""
    done = acme.cli.run("search", "invoice", "--kind", "workflow", "--json")
    assert done.code == 0, done.err
    assert (done.json["hits"][0]["path"], done.json["hits"][0]["kind"]) == ("src/PayInvoice.cs", "Workflow")


LATER_STAGE = """
from pathlib import Path
from rag_assets.settings import load_settings
from rag_assets.pipeline.build import candidate_build
from rag_assets.pipeline.descriptions import read_descriptions
from rag_assets.index.layout import IndexHome as Home
settings = load_settings(Path("rag_assets.yaml"))
build = candidate_build(Home(settings.home), settings, "acme@main")
types = {type(found).__name__ for bucket in build.buckets for _, _, found in read_descriptions(build, bucket)}
print(sorted(types & {"WorkflowDescription", "FlagsDescription"}))
"""


def test_a_later_stage_in_a_process_of_its_own_finds_the_description_types(acme: Acme) -> None:
    """Stages may run in different processes; each knows the types of installed packages."""
    assert acme.python(LATER_STAGE).strip() == "['FlagsDescription', 'WorkflowDescription']"


CHECK = """
from rag_assets.errors import RagAssetsError
from rag_assets.classification.classifier import Classifier
try:
    Classifier(("acme",), {"legacy/**": "Workflo"})
except RagAssetsError as error:
    print(error)
try:
    Classifier(("acmee",))
except RagAssetsError as error:
    print(error)
"""


def test_misspelled_names_of_the_package_are_hinted_at(acme: Acme) -> None:
    kind, pack = acme.python(CHECK).splitlines()
    assert "unknown kind 'Workflo'; did you mean Workflow?" in kind
    assert "no rule pack 'acmee'; did you mean 'acme'?" in pack


FINGERPRINT = "from rag_assets.descriptions.kinds import default_registry; print(default_registry().fingerprint)"


def test_another_version_of_the_package_is_another_configuration(acme: Acme, tmp_path: Path) -> None:
    """What its builders say may differ, so nothing of the old version is taken for the new one."""
    install(PACKAGE, tmp_path / "site", version="1.0.1")
    paths = acme.cli.environment["PYTHONPATH"].split(os.pathsep)
    newer = replace(acme.cli, environment={"PYTHONPATH": os.pathsep.join([str(tmp_path / "site"), *paths[1:]])})
    without = replace(acme.cli, environment={"PYTHONPATH": paths[1]})
    assert len({Acme(cli).python(FINGERPRINT) for cli in (acme.cli, newer, without)}) == 3
