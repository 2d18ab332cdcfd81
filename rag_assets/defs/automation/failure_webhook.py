"""A POST for every run that fails, where `RAG_ASSETS_WEBHOOK_URL` says to whom.

The address is a secret (chat systems put a token into it): it comes from the environment, and neither it nor any
part of it is stored, logged or repeated in an error.
"""

import json
import os
import time
from collections.abc import Callable
from urllib.parse import urlsplit

from dagster import (
    DagsterEventType,
    DagsterRun,
    DefaultSensorStatus,
    RunFailureSensorContext,
    SkipReason,
    run_failure_sensor,
)

from rag_assets.defs.partitions import COMMIT_TAG, LABEL_TAG
from rag_assets.defs.resources import Workspace
from rag_assets.defs.scope import stage_of
from rag_assets.errors import RagAssetsError
from rag_assets.models.openai_compat.endpoint import ApiKey, ServerEndpoint
from rag_assets.sources.urls import scrubbed

WEBHOOK_VARIABLE = "RAG_ASSETS_WEBHOOK_URL"
TIMEOUT_SECONDS = 10.0
"""For one attempt; three of them stay below the minute that Dagster gives a tick."""

ATTEMPT_DELAYS = (1.0, 4.0)
_JSON = {"Content-Type": "application/json"}
_MOST_ERROR_CHARACTERS = 2_000  # chat systems cut longer messages, or refuse them
_WORTH_ANOTHER_ATTEMPT = frozenset({408, 425, 429, 500, 502, 503, 504})


class WebhookError(RagAssetsError):
    """Nobody was told of a failed run. Says why, without the address."""


@run_failure_sensor(
    name="failure_webhook",
    default_status=DefaultSensorStatus.RUNNING,
    description=f"Posts every failed run to the address in {WEBHOOK_VARIABLE}; without one it does nothing.",
)
def failure_webhook(context: RunFailureSensorContext, workspace: Workspace) -> SkipReason | None:
    url = os.environ.get(WEBHOOK_VARIABLE, "").strip()
    if not url:
        return SkipReason(f"{WEBHOOK_VARIABLE} is not set")
    from rag_assets.defs.in_process import explained  # only a run that failed loads it

    run_id = context.dagster_run.run_id
    checks = [
        entry.dagster_event
        for entry in context.instance.all_logs(run_id, of_type=DagsterEventType.ASSET_CHECK_EVALUATION)
        if entry.dagster_event is not None
    ]
    failures = [(stage_of(event.step_key), explained(event, checks)) for event in context.get_step_failure_events()]
    message = failure_message(
        context.dagster_run,
        failures or [("", context.failure_event.message or "the run failed before its first step")],
        workspace.settings().automation.ui_url,
    )
    deliver(url, message)
    return None


def failure_message(run: DagsterRun, failures: list[tuple[str, str]], ui_url: str) -> dict[str, str]:
    """What is posted. `failures` are (stage, error); `label` and `commit` are empty where a run has several."""
    error = scrubbed("\n".join(text for _, text in failures), "")
    return {
        "label": run.tags.get(LABEL_TAG) or run.tags.get("dagster/partition", ""),
        "commit": run.tags.get(COMMIT_TAG, ""),
        "stage": ", ".join(dict.fromkeys(stage for stage, _ in failures if stage)),
        "error": error if len(error) <= _MOST_ERROR_CHARACTERS else error[: _MOST_ERROR_CHARACTERS - 1] + "…",
        "run_id": run.run_id,
        "run_url": f"{ui_url}/runs/{run.run_id}",
    }


def deliver(url: str, message: dict[str, str], *, sleep: Callable[[float], None] = time.sleep) -> None:
    """Posts `message` as JSON. Raises WebhookError, after three attempts where another one could help."""
    import httpx2  # only a run that failed loads it

    from rag_assets.models.openai_compat.transport import bounded_client

    receiver = ServerEndpoint(_checked(url), ApiKey(), TIMEOUT_SECONDS, section=WEBHOOK_VARIABLE)
    body = json.dumps(message)
    for wait in (*ATTEMPT_DELAYS, None):
        try:
            with (
                bounded_client(receiver) as client,
                client.stream("POST", url, content=body, headers=_JSON) as response,
            ):
                status, said = response.status_code, f"status {response.status_code}"
        except (httpx2.RequestError, httpx2.InvalidURL) as error:
            status, said = 0, "timeout" if isinstance(error, httpx2.TimeoutException) else "unreachable"
        if 200 <= status < 300:
            return
        if status and status not in _WORTH_ANOTHER_ATTEMPT:
            break
        if wait is not None:
            sleep(wait)
    raise WebhookError(f"the webhook of {WEBHOOK_VARIABLE} was not delivered for run {message['run_id']}: {said}")


def _checked(url: str) -> str:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0 and url.isascii()
    except ValueError:
        usable = False
    if not usable:
        raise WebhookError(f"{WEBHOOK_VARIABLE} is not an http or https URL (its value is not shown)")
    return url
