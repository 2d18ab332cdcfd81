"""What a deployment shows of the assets, asked as its UI asks: through GraphQL, of a code location of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

import rag_assets
from rag_assets.defs.scope import REPOSITORY
from rag_assets.pipeline.versions import STAGES

QUERY = """{ assetNodes {
  assetKey { path } kinds isObservable isPartitioned dependencyKeys { path }
  owners { ... on UserAssetOwner { email } ... on TeamAssetOwner { team } }
  tags { key value }
  automationCondition { label }
  internalFreshnessPolicy { ... on TimeWindowFreshnessPolicy { failWindowSeconds } }
  metadataEntries { label ... on CodeReferencesMetadataEntry { codeReferences {
    ... on UrlCodeReference { url label } ... on LocalFileCodeReference { filePath lineNumber label } } } }
} }"""

ONE = {
    "repositories": [{"id": "shop", "location": "https://example.org/team/shop.git"}],
    "automation": {"stale_after_hours": 10},
    "dagster": {
        "owners": ["team:search", "anna@example.org"],
        "code_url": "https://github.com/acme/rag-assets",
        "code_ref": "v0.2.0",
    },
    "embedder": {"provider": "lexical-only"},
    "stores": {"vectors": "faiss"},
}
TWO = {
    "repositories": [{"id": name, "location": f"https://example.org/team/{name}.git"} for name in ("shop", "zoo")],
    "embedder": {"provider": "openai-compatible", "base_url": "https://models.example.org", "model": "m"},
    "llm": {"provider": "openai-compatible", "base_url": "https://models.example.org", "model": "m"},
    "stores": {"catalog": "sqlite", "remote": "s3://bucket/indexes"},
}


def shown(folder: Path, settings: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Name → what the UI is told of the asset."""
    (folder / "rag_assets.yaml").write_text(yaml.safe_dump(settings), encoding="utf-8")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RAG_ASSETS")}
    package = str(Path(rag_assets.__file__).parents[1])
    done = subprocess.run(
        [str(Path(sys.executable).with_name("dagster-graphql")), "-m", "rag_assets.definitions", "-t", QUERY],
        cwd=folder,
        env=kept | {"DAGSTER_HOME": str(folder), "PYTHONPATH": package},
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (answer,) = (line for line in done.stdout.splitlines() if line.startswith("{"))  # logs are there too
    nodes = json.loads(answer)["data"]["assetNodes"]
    return {node["assetKey"]["path"][-1]: node for node in nodes}


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    return shown(tmp_path_factory.mktemp("one"), ONE)


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    return shown(tmp_path_factory.mktemp("two"), TWO)


def test_the_lineage_begins_with_an_asset_that_is_observed(one: dict[str, dict[str, Any]]) -> None:
    assert set(one) == {REPOSITORY, *STAGES}
    assert {name for name, node in one.items() if node["isObservable"]} == {REPOSITORY}
    assert all(node["isPartitioned"] for node in one.values())
    assert one["discovered_files"]["dependencyKeys"] == [{"path": ["rag", REPOSITORY]}]


def test_every_asset_has_the_owners_of_the_configuration_and_names_its_stage(
    one: dict[str, dict[str, Any]], two: dict[str, dict[str, Any]]
) -> None:
    for name, node in one.items():
        assert node["owners"] == [{"team": "search"}, {"email": "anna@example.org"}]
        assert {"key": "rag_assets/stage", "value": name} in node["tags"]
    assert not any(node["owners"] for node in two.values())


def test_conditions_say_what_an_asset_waits_for(one: dict[str, dict[str, Any]]) -> None:
    found = {name: (node["automationCondition"] or {}).get("label") for name, node in one.items()}
    later = dict.fromkeys(STAGES[1:], "input has other content")
    assert found == {REPOSITORY: None, "discovered_files": "new commit"} | later


def test_kinds_say_what_really_runs(one: dict[str, dict[str, Any]], two: dict[str, dict[str, Any]]) -> None:
    plain, full = ({name: set(node["kinds"]) for name, node in nodes.items()} for nodes in (one, two))
    assert (plain["embeddings"], full["embeddings"]) == ({"parquet"}, {"parquet", "openai"})
    assert (plain["descriptions"], full["descriptions"]) == ({"parquet", "python"}, {"parquet", "python", "openai"})
    assert (plain["qdrant_points"], full["qdrant_points"]) == ({"faiss"}, {"qdrant", "sqlite"})
    assert (plain["active_index"], full["active_index"]) == ({"python"}, {"python", "s3"})


def test_one_label_has_a_freshness_policy_and_several_have_the_check(
    one: dict[str, dict[str, Any]], two: dict[str, dict[str, Any]]
) -> None:
    found = {name: node["internalFreshnessPolicy"] for name, node in one.items() if node["internalFreshnessPolicy"]}
    assert found == {"active_index": {"failWindowSeconds": 36_000}}
    assert not any(node["internalFreshnessPolicy"] for node in two.values())


def references(node: dict[str, Any]) -> dict[str, dict[str, Any]]:
    (entry,) = (entry for entry in node["metadataEntries"] if entry["label"] == "dagster/code_references")
    return {place["label"]: place for place in entry["codeReferences"]}


def test_assets_lead_to_their_code(one: dict[str, dict[str, Any]], two: dict[str, dict[str, Any]]) -> None:
    for name in STAGES:
        stage, asset = references(two[name])["stage"], references(two[name])["asset"]
        assert Path(stage["filePath"]).name == f"{name}.py" and Path(stage["filePath"]).is_file()
        lines = Path(asset["filePath"]).read_text(encoding="utf-8").splitlines()
        near = "\n".join(lines[int(asset["lineNumber"]) - 1 :][:2])
        assert f"def {name}(" in near
    linked = references(one["segments"])
    assert linked["stage"]["url"] == (
        "https://github.com/acme/rag-assets/tree/v0.2.0/rag_assets/pipeline/segments.py#L1"
    )
