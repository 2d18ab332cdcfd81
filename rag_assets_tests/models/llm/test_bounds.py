"""Calls are bounded per question, per run and in number at a time; equal questions are asked once (A17)."""

from __future__ import annotations

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from rag_assets.contracts.llm import DisabledLlmService, LlmUsage, StructuredPrompt
from rag_assets.descriptions.refinement import RefinedText
from rag_assets.models import open_llm
from rag_assets.models.openai_compat.structured import FAILURES_BEFORE_STOP
from rag_assets.pipeline.memo import AnswerCache
from rag_assets.settings import LlmSettings
from rag_assets_tests.models.llm.conftest import Opener
from rag_assets_tests.models.llm.model_server import (
    GOOD,
    Asked,
    ModelServer,
    Reply,
    answering,
    completion,
    failing,
    timed,
)

pytestmark = pytest.mark.rule("A17")

ROOT = Path(__file__).parents[3]
EXPECTED = RefinedText(**GOOD)


def prompt(number: int = 0) -> StructuredPrompt:
    return StructuredPrompt("Describe it as JSON.", f"class Order{number}")


# per question


@pytest.mark.parametrize(
    "first",
    [
        pytest.param(failing(500), id="500"),
        pytest.param(failing(429, Retry_After="0"), id="429"),
        pytest.param(failing(503), id="503"),
        pytest.param(Reply(b"{}", headers={"Content-Length": "9"}), id="lost connection"),
        pytest.param(Reply(b"{}", delay=30), id="timeout"),
    ],
)
def test_a_transient_fault_is_retried_once(server: ModelServer, opened: Opener, first: Reply) -> None:
    server.script(first, answering())
    llm = opened(timeout_seconds=0.5)
    assert llm.complete(prompt(), RefinedText).value == EXPECTED
    assert (llm.usage().calls, llm.usage().failures) == (2, ())


@pytest.mark.parametrize(
    ("reply", "calls"),
    [
        pytest.param(failing(500), 2, id="transient: one retry, no more"),
        pytest.param(failing(429, Retry_After="3600"), 1, id="a longer wait than a build can stand"),
        pytest.param(failing(401), 1, id="not transient"),
        pytest.param(completion("no JSON"), 1, id="a bad answer would come again"),
    ],
)
def test_no_question_is_asked_more_than_twice(server: ModelServer, opened: Opener, reply: Reply, calls: int) -> None:
    server.script(reply)
    assert not opened().complete(prompt(), RefinedText).successful
    assert len(server.asked) == calls


def test_retry_after_is_waited_for(server: ModelServer, opened: Opener) -> None:
    server.script(failing(429, Retry_After="1"), answering())
    result, seconds = timed(lambda: opened().complete(prompt(), RefinedText))
    assert result.value == EXPECTED
    assert 1.0 <= seconds < 4


# per run


def test_the_budget_ends_all_calls(server: ModelServer, opened: Opener) -> None:
    llm = opened(max_calls=3)
    results = [llm.complete(prompt(i), RefinedText) for i in range(5)]
    assert [result.successful for result in results] == [True, True, True, False, False]
    assert results[3].errors[0].code == "LLM.budget"
    assert len(server.asked) == 3
    assert llm.usage().failures == (("LLM.budget", 2),)


def test_retries_count_against_the_budget(server: ModelServer, opened: Opener) -> None:
    server.script(failing(500))
    assert opened(max_calls=1).complete(prompt(), RefinedText).errors[0].code == "LLM.budget"
    assert len(server.asked) == 1


def test_the_budget_holds_across_threads(server: ModelServer, opened: Opener) -> None:
    llm = opened(max_calls=7, max_concurrency=8)
    with ThreadPoolExecutor(16) as pool:
        results = list(pool.map(lambda i: llm.complete(prompt(i), RefinedText), range(40)))
    assert len(server.asked) == 7 == sum(result.successful for result in results)


@pytest.mark.parametrize(
    ("reply", "asked"),
    [
        pytest.param(failing(401), 1, id="wrong key"),
        pytest.param(failing(404), 1, id="no such model"),
        pytest.param(failing(302, Location="/x"), 1, id="redirect"),
        pytest.param(failing(500), FAILURES_BEFORE_STOP * 2, id="down"),
        pytest.param(Reply(b"<p>", headers={"Content-Type": "text/html"}), FAILURES_BEFORE_STOP, id="no API"),
    ],
)
def test_a_server_that_cannot_help_is_left_alone(server: ModelServer, opened: Opener, reply: Reply, asked: int) -> None:
    """Thousands of symbols must not wait for a dead server each."""
    server.script(reply)
    llm = opened()
    results = [llm.complete(prompt(i), RefinedText) for i in range(FAILURES_BEFORE_STOP + 3)]
    assert len(server.asked) == asked
    assert results[-1].errors[0].code == "LLM.stopped"
    assert results[0].errors[0].code in results[-1].errors[0].text, "it says what it stopped for"


def test_bad_answers_do_not_stop_a_server_that_works(server: ModelServer, opened: Opener) -> None:
    server.script(*[completion("no JSON")] * (FAILURES_BEFORE_STOP + 3), answering())
    llm = opened()
    results = [llm.complete(prompt(i), RefinedText) for i in range(FAILURES_BEFORE_STOP + 4)]
    assert results[-1].value == EXPECTED


# at a time


@pytest.mark.parametrize("limit", [1, 3])
def test_never_more_in_flight_than_allowed(server: ModelServer, opened: Opener, limit: int) -> None:
    def slowly(asked: Asked) -> Reply:
        server.closing.wait(0.03)
        return answering()

    server.respond = slowly
    llm = opened(max_concurrency=limit)
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda i: llm.complete(prompt(i), RefinedText), range(12)))
    assert all(result.successful for result in results)
    assert server.peak == limit, "as many as allowed, and no more"


def test_the_same_question_at_the_same_time_is_asked_once(server: ModelServer, opened: Opener) -> None:
    everyone = threading.Event()

    def late(asked: Asked) -> Reply:
        everyone.wait(0.3)
        return answering()

    server.respond = late
    llm = opened(max_concurrency=8)
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda _: llm.complete(prompt(), RefinedText), range(8)))
    assert [result.value for result in results] == [EXPECTED] * 8
    assert (len(server.asked), llm.usage().cached) == (1, 7)


# across runs


def test_a_second_run_asks_nothing(server: ModelServer, opened: Opener) -> None:
    first = [opened().complete(prompt(i), RefinedText) for i in range(3)]
    llm = opened()
    assert [llm.complete(prompt(i), RefinedText) for i in range(3)] == first
    assert llm.usage() == LlmUsage(cached=3)
    assert len(server.asked) == 3


def test_another_server_for_the_same_model_has_nothing_to_add(server: ModelServer, opened: Opener) -> None:
    opened().complete(prompt(), RefinedText)
    with ModelServer() as other:
        assert opened(base_url=other.url).complete(prompt(), RefinedText).value == EXPECTED
        assert other.asked == []


@pytest.mark.parametrize(
    ("settings", "other"),
    [
        pytest.param({"model": "n"}, prompt(), id="model"),
        pytest.param({}, StructuredPrompt("Otherwise.", prompt().data), id="instructions"),
        pytest.param({}, prompt(1), id="data"),
    ],
)
def test_what_decides_an_answer_is_asked_again(
    server: ModelServer, opened: Opener, settings: dict[str, Any], other: StructuredPrompt
) -> None:
    opened().complete(prompt(), RefinedText)
    opened(**settings).complete(other, RefinedText)
    assert len(server.asked) == 2


def test_another_schema_is_asked_again(server: ModelServer, opened: Opener) -> None:
    opened().complete(prompt(), RefinedText)
    opened().complete(prompt(), dict[str, str])
    assert len(server.asked) == 2


def test_failures_are_not_remembered(server: ModelServer, opened: Opener) -> None:
    server.script(completion("no JSON"), answering())
    llm = opened()
    assert not llm.complete(prompt(), RefinedText).successful
    assert llm.complete(prompt(), RefinedText).value == EXPECTED


# what it took


def test_usage_is_counted_and_priced(server: ModelServer, opened: Opener) -> None:
    server.script(answering(), completion("no JSON"))
    llm = opened(price_in=2.0, price_out=10.0)
    for number in range(2):
        llm.complete(prompt(number), RefinedText)
    usage = llm.usage()
    assert (usage.prompt_tokens, usage.completion_tokens) == (200, 40), "bad answers cost as much"
    assert usage.cost == pytest.approx(200 * 2 / 1e6 + 40 * 10 / 1e6)
    assert usage.seconds > 0
    assert opened().usage().cost is None


def test_usages_add_up() -> None:
    one = LlmUsage(1, 2, (("LLM.budget", 1), ("LLM.tls", 1)), 10, 5, 0.5, 0.25)
    two = LlmUsage(3, 0, (("LLM.schema", 2), ("LLM.tls", 4)), 1, 1, 0.5)
    failures = (("LLM.budget", 1), ("LLM.schema", 2), ("LLM.tls", 5))
    assert one + two == LlmUsage(4, 2, failures, 11, 6, 1.0, 0.25)
    assert (two + two).cost is None
    shown = (one + two).numbers()
    assert (shown["llm_calls"], shown["llm_failures"], shown["LLM.tls"], shown["llm_cost"]) == (4, 8, 5, 0.25)
    assert "llm_cost" not in two.numbers()


# none at all


def test_without_a_provider_no_http_client_is_loaded(tmp_path: Path) -> None:
    script = (
        "import sys\nfrom pathlib import Path\nfrom rag_assets.models import open_llm\n"
        "from rag_assets.pipeline.memo import AnswerCache\n"
        "from rag_assets.settings import LlmSettings\n"
        "from rag_assets.pipeline.versions import llm_fingerprint\n"
        "with open_llm(LlmSettings(), lambda: AnswerCache(Path(sys.argv[1]))): llm_fingerprint(LlmSettings())\n"
        "print({'openai', 'httpx', 'httpx2'} & set(sys.modules))"
    )
    ran = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, cwd=ROOT)
    assert ran.stdout.strip() == "set()", ran.stderr


def test_without_a_provider_nothing_is_called(server: ModelServer, tmp_path: Path) -> None:
    """The default; also with a server and a key at hand."""
    for settings in (LlmSettings(), LlmSettings(base_url=server.url, model="m")):
        with open_llm(settings, lambda: AnswerCache(tmp_path), {"RAG_ASSETS_LLM_API_KEY": "sk-secret-123"}) as llm:
            assert isinstance(llm, DisabledLlmService) and not llm.enabled
            assert llm.complete(prompt(), RefinedText).errors[0].code == "LLM.disabled"
            assert llm.usage() == LlmUsage()
    assert server.asked == []
    assert list(tmp_path.iterdir()) == []
