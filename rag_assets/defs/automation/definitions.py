"""The schedules, sensors and checks of a configuration, together."""

from __future__ import annotations

from dagster import Definitions

from rag_assets.defs.automation.automation_conditions import changed_inputs
from rag_assets.defs.automation.failure_webhook import failure_webhook
from rag_assets.defs.automation.freshness import freshness_definitions
from rag_assets.defs.automation.nightly import nightly_schedule
from rag_assets.defs.automation.sensors import commit_sensor, head_sensor, label_sensor
from rag_assets.defs.scope import scope_of
from rag_assets.settings import Settings


def automation(settings: Settings) -> Definitions:
    """With the times and the prefix of `settings`; what is indexed is read from the configuration each time."""
    times, scope = settings.automation, scope_of(settings)
    return Definitions.merge(
        Definitions(
            schedules=[nightly_schedule(times.cron, times.timezone, scope)],
            sensors=[
                label_sensor(times.poll_seconds),
                commit_sensor(times.poll_seconds, scope),
                head_sensor(times.poll_seconds, scope),
                changed_inputs,
                failure_webhook,
            ],
        ),
        freshness_definitions(scope),
    )
