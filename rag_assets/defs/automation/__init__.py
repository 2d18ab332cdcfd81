"""What runs on its own: the nightly schedule, the commit sensor, the freshness check, the failure webhook.

Modules with schedules, sensors and checks have no `from __future__ import annotations`: Dagster finds their
resources by the annotations.
"""

from __future__ import annotations

from dagster import Definitions

from rag_assets.defs.automation.automation_conditions import changed_inputs
from rag_assets.defs.automation.failure_webhook import failure_webhook
from rag_assets.defs.automation.freshness import freshness_job, freshness_schedule, index_is_fresh
from rag_assets.defs.automation.nightly import nightly_schedule
from rag_assets.defs.automation.sensors import commit_sensor, label_sensor
from rag_assets.settings import AutomationSettings

__all__ = ["automation"]


def automation(settings: AutomationSettings) -> Definitions:
    """Schedules and sensors with the times of `settings`; what they index is read from the configuration each time."""
    return Definitions(
        schedules=[nightly_schedule(settings.cron, settings.timezone), freshness_schedule],
        sensors=[
            label_sensor(settings.poll_seconds),
            commit_sensor(settings.poll_seconds),
            changed_inputs,
            failure_webhook,
        ],
        asset_checks=[index_is_fresh],
        jobs=[freshness_job],
    )
