"""The nightly schedule: one run per label, once a night."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime

import pytest
from dagster import DefaultScheduleStatus, RunRequest, ScheduleDefinition, SkipReason, build_schedule_context

from rag_assets.definitions import defs
from rag_assets.defs.automation.nightly import nightly_schedule
from rag_assets.defs.scope import AssetScope
from rag_assets.settings import AutomationSettings, load_settings
from rag_assets.settings.config_file import ConfigError
from rag_assets.settings.root import DEFAULT_CRON, DEFAULT_TIMEZONE
from rag_assets_tests.defs.conftest import Automated, failure_text

NIGHT = datetime(2026, 3, 29, 2, 30, tzinfo=UTC)


def tick(stored: Automated, at: datetime = NIGHT) -> list[RunRequest]:
    with build_schedule_context(
        instance=stored.instance, scheduled_execution_time=at, resources={"workspace": stored.workspace}
    ) as context:
        found = nightly_schedule(DEFAULT_CRON, DEFAULT_TIMEZONE, AssetScope(("rag",)))(context)
    assert isinstance(found, (list, SkipReason))
    return found if isinstance(found, list) else []


def test_every_label_has_a_run_with_its_tags_and_a_partition(stored: Automated) -> None:
    shop, zoo = stored.repository("shop"), stored.repository("zoo", ref="dev")
    zoo.git("branch", "dev")
    requests = tick(stored)
    assert [(made.partition_key, dict(made.tags)) for made in requests] == [
        (
            "shop@main",
            {"rag/label": "shop@main", "rag/commit": shop.git("rev-parse", "HEAD"), "rag/trigger": "nightly"},
        ),
        ("zoo@dev", {"rag/label": "zoo@dev", "rag/commit": zoo.git("rev-parse", "HEAD"), "rag/trigger": "nightly"}),
    ]
    assert set(stored.instance.get_dynamic_partitions("index_label")) == {"shop@main", "zoo@dev"}
    assert stored.observed("shop@main") == shop.git("rev-parse", "HEAD"), "the lineage knows it before the run"


def test_a_night_is_not_run_twice_and_the_next_one_is(stored: Automated) -> None:
    stored.repository("shop")
    keys = Counter(made.run_key for at in (NIGHT, NIGHT, NIGHT.replace(day=30)) for made in tick(stored, at))
    assert sorted(keys.values()) == [1, 2]


def test_a_request_runs_as_it_is(stored: Automated) -> None:
    stored.repository("shop")
    (request,) = tick(stored)
    result = stored.run("shop@main", run_config=request.run_config, tags=dict(request.tags))
    assert result.success, failure_text(result)


def test_one_that_does_not_answer_is_tried_by_its_run(stored: Automated) -> None:
    stored.configure("away", "http://127.0.0.1:9/team/away.git", ref="main")
    stored.repository("shop")
    away, shop = tick(stored)
    assert (away.partition_key, "rag/commit" in away.tags, away.run_config) == ("away@main", False, {})
    assert shop.partition_key == "shop@main" and "rag/commit" in shop.tags


def test_a_run_without_a_known_commit_says_afterwards_which_it_was(stored: Automated) -> None:
    repository = stored.repository("shop")
    stored.register("shop")
    stored.run("shop@main")
    (run,) = stored.instance.get_runs()
    assert (run.tags["rag/label"], run.tags["rag/commit"]) == ("shop@main", repository.git("rev-parse", "HEAD"))


def test_nothing_configured_is_a_reason_not_a_failure(stored: Automated) -> None:
    assert tick(stored) == []


def test_times_are_those_of_the_configuration(stored: Automated, monkeypatch: pytest.MonkeyPatch) -> None:
    stored.automation = {"cron": "30 1 * * 1-5", "timezone": "Europe/Berlin", "poll_seconds": 45}
    monkeypatch.setenv("RAG_ASSETS_CONFIG", str(stored.write()))
    found = {made.name: made for made in defs().schedules or []}
    nightly = found["nightly"]
    assert (nightly.cron_schedule, nightly.execution_timezone) == ("30 1 * * 1-5", "Europe/Berlin")
    assert nightly.default_status is DefaultScheduleStatus.STOPPED
    (commits,) = [made for made in defs().sensors or [] if made.name == "commits"]
    assert commits.minimum_interval_seconds == 45


@pytest.mark.parametrize(
    ("automation", "message"),
    [
        ({"cron": "nightly"}, "automation.cron: 'nightly' is not a cron schedule of five fields"),
        ({"cron": "0 25 * * *"}, "automation.cron"),
        ({"cron": "0 0 2 * * *"}, "automation.cron"),
        ({"cron": "0 0 30 2 *"}, "automation.cron"),
        ({"timezone": "Europe/Berln"}, "automation.timezone: 'Europe/Berln' is not a time zone"),
        ({"timezone": "../etc/passwd"}, "automation.timezone"),
        ({"poll_seconds": 1}, "automation.poll_seconds"),
        ({"stale_after_hours": 0}, "automation.stale_after_hours"),
        ({"ui_url": "ftp://x"}, "automation.ui_url"),
        ({"ui_url": "https://user:secret@host"}, "automation.ui_url"),
        ({"webhook_url": "https://x"}, "unknown key 'automation.webhook_url'"),
    ],
    ids=str,
)
def test_a_time_that_dagster_could_not_use_is_refused(
    stored: Automated, automation: dict[str, object], message: str
) -> None:
    stored.automation = automation
    with pytest.raises(ConfigError) as caught:
        load_settings(stored.write())
    assert message in str(caught.value)


def test_the_defaults_are_not_checked_at_load_and_are_valid() -> None:
    assert ScheduleDefinition(job_name="index", cron_schedule=AutomationSettings().cron)
    assert AutomationSettings().timezone == "UTC"
