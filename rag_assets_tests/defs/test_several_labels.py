"""Runs of several labels, which a backfill of the UI starts: what one label meets stays its own."""

from __future__ import annotations

import shutil
from typing import Any

import pytest

from rag_assets.defs import assets as segments_asset
from rag_assets.defs.scope import REPOSITORY
from rag_assets.index.generations import active_pointer
from rag_assets.pipeline.build import BuildError, IndexBuild, StageReport
from rag_assets.pipeline.progress import Progress
from rag_assets.pipeline.segments import segment_files
from rag_assets.pipeline.versions import STAGES
from rag_assets_tests.defs.conftest import Automated, failure_text
from rag_assets_tests.git_repository import Repository


def three(automated: Automated) -> list[str]:
    names = ["ant", "bee", "cat"]
    for number, name in enumerate(names):
        automated.repository(name).commit({"src/Extra.cs": f"public class Extra{number} {{ }}\n"})
    return [automated.register(name) for name in names]


def served(automated: Automated, labels: list[str]) -> list[bool]:
    return [active_pointer(automated.home, label) is not None for label in labels]


def failures(result: Any) -> list[str]:
    """The end of the run in the words of the people who read it."""
    (failed,) = [event for event in result.all_events if event.is_step_failure]
    return str(failed.step_failure_data.user_failure_data.description).splitlines()


def test_each_label_has_its_own_events_and_data_versions(automated: Automated) -> None:
    labels = three(automated)
    result = automated.run(*labels)
    assert result.success, failure_text(result)
    together = {label: [automated.data_version(stage, label) for stage in STAGES] for label in labels}
    made = [event for event in result.all_events if event.is_step_materialization]
    assert len(made) == len(labels) * len(STAGES), "one event per asset and label, and no second one of Dagster's own"
    assert together["ant@main"] != together["bee@main"]
    automated.run("bee@main")
    alone = [automated.data_version(stage, "bee@main") for stage in STAGES]
    assert alone == together["bee@main"], "the version of a label does not depend on the company it was built in"


def heads(automated: Automated, labels: list[str]) -> list[str]:
    return [Repository(automated.folder / label.partition("@")[0]).git("rev-parse", "HEAD") for label in labels]


def test_each_label_notes_the_commit_that_it_was_made_of(automated: Automated) -> None:
    labels = three(automated)
    assert automated.run(*labels).success
    commits = heads(automated, labels)
    made_of = [automated.tags("discovered_files", label) for label in labels]
    assert [tags["dagster/input_data_version/rag/repository"] for tags in made_of] == commits
    assert [automated.observed(label) for label in labels] == commits


def test_all_labels_can_be_observed_at_once_and_one_that_is_away_is_named(automated: Automated) -> None:
    labels = three(automated)
    commits = heads(automated, labels)
    assert automated.run_alone(None, REPOSITORY).success
    assert [automated.observed(label) for label in labels] == commits
    automated.repository("dog").commit({"a.md": "# A\n"})
    labels.append(automated.register("dog"))
    shutil.rmtree(automated.folder / "bee")
    result = automated.run_alone(None, REPOSITORY)
    assert not result.success and "bee" in failure_text(result)
    assert automated.observed("dog@main") is not None, "the others are observed"


def test_a_folder_is_observed_by_its_content(automated: Automated) -> None:
    folder = automated.folder / "plain"
    folder.mkdir()
    (folder / "a.md").write_text("# A\n", encoding="utf-8")
    automated.configure("plain", str(folder))
    label = automated.register("plain", "directory")
    assert automated.run_alone(label, REPOSITORY).success
    before = automated.observed(label)
    (folder / "a.md").write_text("# B\n", encoding="utf-8")
    assert automated.run_alone(label, REPOSITORY).success
    assert before and automated.observed(label) not in (None, before)


def test_a_label_that_fails_early_does_not_stop_the_others(automated: Automated) -> None:
    labels = three(automated)
    shutil.rmtree(automated.folder / "bee")
    result = automated.run(*labels)
    assert not result.success
    assert served(automated, labels) == [True, False, True]
    (said,) = failures(result)
    assert "bee" in said and "no such directory" in said and "(stage discovered_files)" in said
    assert automated.materialized("bee@main") == set()
    assert automated.materialized("cat@main") == set(STAGES)


def test_a_label_that_fails_half_way_has_what_it_got_to(automated: Automated, monkeypatch: pytest.MonkeyPatch) -> None:
    labels = three(automated)

    def breaks_at_ant(build: IndexBuild, progress: Progress) -> StageReport:
        if build.spec.index_label == "ant@main":
            raise BuildError("a part is damaged")
        if build.spec.index_label == "cat@main":
            raise KeyError("a defect")
        return segment_files(build, progress)

    monkeypatch.setattr(segments_asset, "segment_files", breaks_at_ant)
    result = automated.run(*labels)
    assert served(automated, labels) == [False, True, False]
    assert automated.materialized("ant@main") == {"discovered_files"}
    assert failures(result) == [
        "ant@main: a part is damaged (stage segments)",
        "cat@main: KeyError: 'a defect' (stage segments)",
    ]
    (event,) = [event for event in result.all_events if event.is_step_failure]
    assert event.step_key == "active_index", "the run fails at its end"
    noted = [
        event.asset_observation_data.asset_observation for event in result.all_events if event.is_asset_observation
    ]
    failed = {(note.asset_key.path[-1], note.partition) for note in noted if "failed" in note.metadata}
    assert failed == {
        ("segments", "ant@main"),
        ("segments", "cat@main"),
    }


def test_the_next_run_takes_up_the_label_that_failed(automated: Automated) -> None:
    labels = three(automated)
    moved = automated.folder / "elsewhere"
    (automated.folder / "bee").rename(moved)
    assert not automated.run(*labels).success
    moved.rename(automated.folder / "bee")
    result = automated.run(*labels)
    assert result.success, failure_text(result)
    assert served(automated, labels) == [True, True, True]


def test_a_run_in_which_every_label_fails_ends_at_once(automated: Automated) -> None:
    labels = three(automated)
    for name in ("ant", "bee", "cat"):
        shutil.rmtree(automated.folder / name)
    result = automated.run(*labels)
    (event,) = [event for event in result.all_events if event.is_step_failure]
    assert event.step_key == "discovered_files"
    assert [line.split("/")[-1].partition(":")[0] for line in failures(result)] == ["ant", "bee", "cat"]


def test_a_blocking_check_stops_its_label_only(automated: Automated, monkeypatch: pytest.MonkeyPatch) -> None:
    from rag_assets.pipeline.checks import generation_checks
    from rag_assets.pipeline.checks.memoized_checks import CheckResult

    labels = three(automated)

    def fails_for_cat(build: IndexBuild) -> CheckResult:
        """Fails."""
        fine = build.spec.index_label != "cat@main"
        return CheckResult(fine, "fails", {}, [] if fine else ["a ghost"])

    owner, blocking, _ = generation_checks.CHECKS["store_matches_declaration"]
    monkeypatch.setitem(generation_checks.CHECKS, "store_matches_declaration", (owner, blocking, fails_for_cat))
    result = automated.run(*labels)
    assert served(automated, labels) == [True, True, False]
    assert failures(result) == ["cat@main: check store_matches_declaration failed: a ghost (stage qdrant_points)"]
    said = [c for c in result.get_asset_check_evaluations() if c.check_name == "store_matches_declaration"]
    assert {check.partition: check.passed for check in said} == dict(zip(labels, (True, True, False), strict=True))
    assert [check.description for check in said if not check.passed] == ["a ghost"]
