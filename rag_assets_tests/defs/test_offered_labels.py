"""The sensor `labels`: what is configured can be chosen in the UI before anybody has indexed it."""

from __future__ import annotations

from pathlib import Path

import pytest
from dagster import DefaultSensorStatus, SensorResult, SkipReason, build_sensor_context

from rag_assets.defs.automation.sensors import NOTHING_CONFIGURED, label_sensor
from rag_assets.index.labels import repository_of
from rag_assets.index.layout import IndexHome, index_label
from rag_assets.settings import RepositorySettings, Settings
from rag_assets.settings.config_file import ConfigError
from rag_assets_tests.defs.conftest import Automated, failure_text


def tick(automated: Automated) -> tuple[list[str], str]:
    """(labels that were added, what the tick said)."""
    with build_sensor_context(instance=automated.instance, resources={"workspace": automated.workspace}) as context:
        found = label_sensor(60)(context)
    if isinstance(found, SkipReason):
        return [], str(found.skip_message)
    assert isinstance(found, SensorResult) and not found.run_requests
    added = [key for change in found.dynamic_partitions_requests or [] for key in change.partition_keys]
    if added:
        automated.instance.add_dynamic_partitions("index_label", added)
    return added, str(found.skip_reason.skip_message) if found.skip_reason else ""


def test_it_runs_without_being_started() -> None:
    assert label_sensor(60).default_status is DefaultSensorStatus.RUNNING


def test_a_configured_repository_can_be_indexed_from_the_ui(automated: Automated) -> None:
    automated.repository("shop")
    assert tick(automated) == (["shop@main"], "shop@main can be materialized now")
    result = automated.run("shop@main")
    assert result.success, failure_text(result)
    assert tick(automated) == ([], "every configured repository has its label")


def test_another_ref_of_a_repository_that_has_a_label(automated: Automated) -> None:
    made = automated.repository("shop")
    tick(automated)
    made.git("branch", "dev")
    automated.entries[0]["ref"] = "dev"
    assert tick(automated)[0] == ["shop@dev"]


def test_a_ref_that_is_not_there_is_said_and_not_offered(automated: Automated) -> None:
    automated.repository("shop", ref="release-7")
    automated.repository("zoo")
    added, said = tick(automated)
    assert added == ["zoo@main"] and "no branch or tag 'release-7'" in said


def test_one_that_does_not_answer_is_offered_at_its_ref(automated: Automated) -> None:
    automated.configure("away", "http://127.0.0.1:9/team/away.git", ref="main")
    assert tick(automated)[0] == ["away@main"]


def test_without_repositories_it_says_what_to_do(automated: Automated) -> None:
    assert tick(automated) == ([], NOTHING_CONFIGURED)


@pytest.mark.parametrize(
    ("repository", "ref"), [("shop", "release-2"), ("Shop.Web", "v1.0")], ids=["plain", "id with capitals"]
)
def test_a_partition_that_a_person_adds_is_read_as_its_name_says(tmp_path: Path, repository: str, ref: str) -> None:
    settings = Settings(repositories=(RepositorySettings(id=repository, location="/srv/shop", project="retail"),))
    found = repository_of(IndexHome(tmp_path), settings, index_label(repository, ref))
    assert (found.id, found.ref, found.project) == (repository, ref, "retail")


@pytest.mark.parametrize("label", ["zoo@main", "shop", "shop@", "shop@feature-x~1a2b3c"])
def test_a_label_that_names_no_configured_repository_and_ref_is_unknown(tmp_path: Path, label: str) -> None:
    settings = Settings(repositories=(RepositorySettings(id="shop", location="/srv/shop"),))
    with pytest.raises(ConfigError, match="unknown index label"):
        repository_of(IndexHome(tmp_path), settings, label)


def test_a_run_of_the_ui_has_its_label_also_where_discovery_fails(automated: Automated) -> None:
    automated.repository("shop")
    automated.instance.add_dynamic_partitions("index_label", ["shop@mian"])
    result = automated.run("shop@mian")
    assert not result.success and "shop@mian: " in failure_text(result)
    assert "correct `ref` in rag_assets.yaml" in failure_text(result)
    (run,) = automated.instance.get_runs()
    assert run.tags["rag/label"] == "shop@mian" and "rag/commit" not in run.tags
