"""The failure webhook against a real HTTP server: what is posted, and what never is."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from dagster import SkipReason, build_run_status_sensor_context

from rag_assets.defs.automation.failure_webhook import WEBHOOK_VARIABLE, WebhookError, deliver, failure_webhook
from rag_assets_tests.defs.conftest import Automated
from rag_assets_tests.evaluation.graded import BAD, good, write_questions

TOKEN = "T0KEN-of-the-channel"


class Receiver:
    """A webhook endpoint; answers with `statuses` in turn, then 200."""

    def __init__(self) -> None:
        self.received: list[dict[str, Any]] = []
        self.statuses: list[int] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.received.append({"path": self.path, "body": json.loads(body), "headers": dict(self.headers)})
                self.send_response(receiver.statuses.pop(0) if receiver.statuses else 200)
                self.end_headers()

            def log_message(self, *arguments: Any) -> None:
                """Nothing on the console of the tests."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/hooks/{TOKEN}?x=1"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    thread = threading.Thread(target=made.server.serve_forever, daemon=True)
    thread.start()
    yield made
    made.server.shutdown()
    made.server.server_close()


def report(automated: Automated, *labels: str) -> object:
    """Lets a run fail and evaluates the sensor for it."""
    result = automated.run(*labels, tags={"rag/label": labels[0], "rag/commit": "c" * 40})
    assert not result.success
    failed = next(event for event in result.all_events if event.is_job_failure)
    with build_run_status_sensor_context(
        sensor_name="failure_webhook",
        dagster_instance=automated.instance,
        dagster_run=automated.instance.get_runs(limit=1)[0],
        dagster_event=failed,
        resources={"workspace": automated.workspace},
    ).for_run_failure() as context:
        return failure_webhook(context)


@pytest.fixture
def broken(automated: Automated) -> Automated:
    automated.configure("shop", str(automated.folder / "gone"))
    automated.register("shop")
    automated.automation = {"ui_url": "https://dagster.example.org/"}
    return automated


def test_a_failed_run_is_posted(broken: Automated, receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(WEBHOOK_VARIABLE, receiver.url)
    report(broken, "shop@main")
    (posted,) = receiver.received
    assert posted["path"] == f"/hooks/{TOKEN}?x=1"
    body = posted["body"]
    run = broken.instance.get_runs(limit=1)[0]
    assert body == {
        "label": "shop@main",
        "commit": "c" * 40,
        "stage": "discovered_files",
        "error": body["error"],
        "run_id": run.run_id,
        "run_url": f"https://dagster.example.org/runs/{run.run_id}",
    }
    assert "no such directory" in body["error"] and "shop@main" in body["error"]


def test_a_refused_build_is_posted_with_its_numbers_and_what_to_do(
    automated: Automated, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not with the words of Dagster, which say only that a check failed."""
    monkeypatch.setenv(WEBHOOK_VARIABLE, receiver.url)
    write_questions(automated.folder / "questions.jsonl")
    source = automated.repository("shop", ref="main", eval_set=str(automated.folder / "questions.jsonl"))
    source.commit(good())
    automated.register("shop")
    automated.build("shop@main")
    source.commit(BAD)
    report(automated, "shop@main")
    ((stage, error),) = [(one["body"]["stage"], one["body"]["error"]) for one in receiver.received]
    assert stage == "eval_runs" and "AssetCheckFailed" not in error
    assert error.startswith("check quality_holds on eval_runs failed: recall@10 is 0.700")
    assert "rag-assets generations activate " in error


def test_without_an_address_it_does_nothing(broken: Automated, receiver: Receiver) -> None:
    assert isinstance(report(broken, "shop@main"), SkipReason)
    assert receiver.received == []


MESSAGE = {"run_id": "r1", "label": "a@main"}


@pytest.mark.parametrize("statuses", [[503], [429, 500]], ids=str)
def test_a_receiver_that_is_busy_is_asked_again(receiver: Receiver, statuses: list[int]) -> None:
    receiver.statuses = list(statuses)
    waits: list[float] = []
    deliver(receiver.url, MESSAGE, sleep=waits.append)
    assert len(receiver.received) == len(statuses) + 1
    assert waits == [1.0, 4.0][: len(statuses)]


@pytest.mark.parametrize(
    ("statuses", "attempts", "said"),
    [([404], 1, "status 404"), ([302], 1, "status 302"), ([500, 502, 503], 3, "status 503")],
    ids=["not found", "redirect", "down"],
)
def test_what_is_not_delivered_is_said_without_the_address(
    receiver: Receiver, statuses: list[int], attempts: int, said: str
) -> None:
    receiver.statuses = list(statuses)
    with pytest.raises(WebhookError) as caught:
        deliver(receiver.url, MESSAGE, sleep=lambda _: None)
    assert len(receiver.received) == attempts
    assert said in str(caught.value) and "run r1" in str(caught.value)
    assert TOKEN not in str(caught.value) and "127.0.0.1" not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    "url",
    [f"http://127.0.0.1:9/{TOKEN}", f"ftp://host/{TOKEN}", f"{TOKEN}", f"https://[{TOKEN}/x", f"http://host:{TOKEN}/"],
    ids=["refused", "scheme", "no URL", "bad host", "bad port"],
)
def test_an_address_that_does_not_work_is_not_repeated(url: str) -> None:
    with pytest.raises(WebhookError) as caught:
        deliver(url, MESSAGE, sleep=lambda _: None)
    assert TOKEN not in str(caught.value) and WEBHOOK_VARIABLE in str(caught.value)


def test_credentials_in_an_error_are_removed_and_it_is_bounded(automated: Automated) -> None:
    from rag_assets.defs.automation.failure_webhook import failure_message

    automated.configure("shop", str(automated.folder / "gone"))
    automated.register("shop")
    automated.run("shop@main")
    (run,) = automated.instance.get_runs()
    error = "cannot reach https://user:s3cr3t-token@host/x " + "y" * 5_000
    message = failure_message(run, [("segments", error), ("segments", "again")], "http://127.0.0.1:3000")
    assert "s3cr3t" not in message["error"] and len(message["error"]) == 2_000
    assert message["stage"] == "segments"
    assert message["label"] == "shop@main", "a run of the UI has at least its partition"
