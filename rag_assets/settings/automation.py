"""Settings of Dagster's schedule and sensors."""

from __future__ import annotations

from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import Field, field_validator

from rag_assets.settings.base import Strict

_CRON_FIELDS = 5
DEFAULT_CRON = "0 2 * * *"
DEFAULT_TIMEZONE = "UTC"


class AutomationSettings(Strict):
    """When Dagster indexes on its own. The address of the failure webhook is a secret: RAG_ASSETS_WEBHOOK_URL only."""

    cron: str = Field(default=DEFAULT_CRON, description="when every label is indexed, as five cron fields")
    timezone: str = Field(default=DEFAULT_TIMEZONE, description="of the cron fields, for example Europe/Berlin")
    poll_seconds: int = Field(default=60, ge=30, description="how often the commit sensor asks the repositories")
    poll_timeout_seconds: float = Field(default=10.0, gt=0, le=30, description="for one answer to the commit sensor")
    stale_after_hours: float = Field(
        default=26.0,
        gt=0,
        description="a label without a successful run for longer is reported",
    )
    ui_url: str = Field(default="http://127.0.0.1:3000", description="of the Dagster UI, for links in notifications")

    @field_validator("cron")
    @classmethod
    def _is_a_schedule(cls, value: str) -> str:
        if value != DEFAULT_CRON:
            from croniter import (  # 20 ms that the default saves; Dagster carries the same parser
                CroniterError,
                croniter,
            )

            try:
                if len(value.split()) != _CRON_FIELDS:
                    raise CroniterError
                croniter(value).get_next()  # a day that never comes is no schedule
            except CroniterError:
                raise ValueError(
                    f"{value!r} is not a cron schedule of five fields, for example '30 2 * * 1-5'"
                ) from None
        return value

    @field_validator("timezone")
    @classmethod
    def _is_a_time_zone(cls, value: str) -> str:
        if value != DEFAULT_TIMEZONE:
            try:
                ZoneInfo(value)
            except (ZoneInfoNotFoundError, ValueError, OSError) as error:  # OSError: the name of a folder
                raise ValueError(f"{value!r} is not a time zone, for example Europe/Berlin") from error
        return value

    @field_validator("ui_url")
    @classmethod
    def _is_a_web_address(cls, value: str) -> str:
        parts = urlsplit(value.strip())
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.password:
            raise ValueError("must be an http or https URL without credentials")
        return value.strip().rstrip("/")
