"""A reranking model over HTTP: both forms, and every way to get it wrong (E11, E18)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pydantic import ValidationError

from rag_assets.contracts.retrieval import RerankError
from rag_assets.models.openai_compat import reranker
from rag_assets.models.openai_compat.reranker import KEY_VARIABLE, HttpReranker
from rag_assets.settings import RerankerSettings
from rag_assets.settings.config_file import ConfigError
from rag_assets_tests.models.llm.model_server import Asked, ModelServer, Reply, failing, timed
from rag_assets_tests.models.rerank_server import cohere, results, settings_of, tei

TEXTS = ["the weather", "a refund of an order", "refund"]
KEY = "sk-0123456789abcdef"


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        running.respond = cohere
        yield running


def opened(server: ModelServer, key: str = "", **changes: Any) -> HttpReranker:
    found = HttpReranker.of(RerankerSettings(**settings_of(server, **changes)), {KEY_VARIABLE: key})
    assert found is not None
    return found


@pytest.mark.rule("E11", "E18")
def test_scores_come_in_the_order_of_the_texts(server: ModelServer) -> None:
    assert opened(server, KEY).rerank("refund order", TEXTS) == [0.0, 1.0, 0.5]
    (asked,) = server.asked
    assert (asked.path, asked.headers["Authorization"]) == ("/v1/rerank", f"Bearer {KEY}")
    assert asked.body == {"model": "rerank-m", "query": "refund order", "documents": TEXTS, "top_n": 3}


@pytest.mark.rule("E11")
def test_text_embeddings_inference_is_asked_in_its_own_words(server: ModelServer) -> None:
    server.respond = tei
    assert opened(server, provider="tei", model="").rerank("refund order", TEXTS) == [0.0, 1.0, 0.5]
    (asked,) = server.asked
    assert asked.body == {"query": "refund order", "texts": TEXTS, "truncate": True}
    assert "Authorization" not in asked.headers


def test_texts_that_no_utf_8_carries_are_sent_all_the_same(server: ModelServer) -> None:
    assert opened(server).rerank("\ud800 a", ["\udfff", "b"]) == [0.5, 0.0]


def said(*items: dict[str, Any], **headers: str) -> Callable[[Asked], Reply]:
    return lambda asked: Reply(json.dumps({"results": list(items)}).encode(), headers=headers)


@pytest.mark.parametrize(
    ("respond", "says"),
    [
        (lambda asked: failing(500, "broken"), "the server answers 500: broken"),
        (lambda asked: failing(429), r"answers 429: no; lower search\.reranker"),
        (lambda asked: failing(401), f"set {KEY_VARIABLE} in the environment"),
        (lambda asked: failing(404), r"check search\.reranker\.base_url and search\.reranker\.model"),
        (lambda asked: failing(302, Location="https://other.example/x"), "redirects to other.example"),
        (lambda asked: Reply(b"<html>", headers={"Content-Type": "text/html"}), "text/html, not JSON"),
        (lambda asked: Reply(b"{"), "no list of scores"),
        (lambda asked: Reply(b"[1, 2]"), "no list of scores"),
        (lambda asked: Reply(b"\xff\xfe"), "no list of scores"),
        (lambda asked: Reply(b"[" * 60_000), "no list of scores"),
        (lambda asked: Reply(b'{"results": 1e999}'), "no list of scores"),
        (said(), "0 of 3 documents came back"),
        (said(*results([0.1, 0.2])), "2 of 3 documents came back"),
        (said(*results([0.1, 0.2, 0.3, 0.4])), "document 3 of 3 came back twice, or was never sent"),
        (said(*results([0.1, 0.2, 0.3]), {"index": 1, "score": 0.5}), "document 1 of 3 came back twice"),
        (said({"index": -1, "score": 0.5}), "document -1 of 3"),
        (said({"index": 0}), "document 0 has no score"),
        (lambda asked: Reply(b'{"results": [{"index": 0, "score": 1e400}]}'), "no list of scores|no score"),
        (lambda asked: Reply(b'{"results": [{"index": 0, "score": NaN}]}'), "no list of scores"),
    ],
)
def test_a_wrong_reply_is_an_error_with_its_reason(
    server: ModelServer, respond: Callable[[Asked], Reply], says: str
) -> None:
    server.respond = respond
    with pytest.raises(RerankError, match=says):
        opened(server, KEY).rerank("refund", TEXTS)
    assert len(server.asked) == 1, "somebody waits"


def test_the_key_is_in_no_message(server: ModelServer) -> None:
    server.respond = lambda asked: failing(400, f"bad key {KEY}")
    with pytest.raises(RerankError) as caught:
        opened(server, KEY).rerank("refund", TEXTS)
    assert KEY not in str(caught.value) and "***" in str(caught.value)


@pytest.mark.parametrize(
    "fault", [{"delay": 30.0}, {"pause": 0.2}, {"drip_headers": 0.05}], ids=["late", "slow", "drip"]
)
def test_a_server_has_its_time_and_no_more(server: ModelServer, fault: dict[str, float]) -> None:
    server.respond = lambda asked: Reply(b'{"results": []}' * 9, **fault)  # type: ignore[arg-type]

    def ask() -> None:
        with pytest.raises(
            RerankError, match=r"no answer from http://127.* in 0\.3 s \(search\.reranker\.timeout_seconds"
        ):
            opened(server, timeout_seconds=0.3).rerank("refund", TEXTS)

    _, seconds = timed(ask)
    assert seconds < 5


def test_a_server_that_is_not_there_is_named() -> None:
    with ModelServer() as gone:
        settings = settings_of(gone)
    found = HttpReranker.of(RerankerSettings(**settings), {})
    assert found is not None
    with pytest.raises(RerankError, match=r"no reply from http://127.*search\.reranker\.base_url up\?"):
        found.rerank("refund", TEXTS)


def test_after_a_failure_it_rests(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server.script(failing(500, "broken"), cohere(Asked("", {}, {"query": "refund", "documents": TEXTS}, 0)))
    found = opened(server)
    for _ in range(3):
        with pytest.raises(RerankError, match="broken"):
            found.rerank("refund", TEXTS)
    assert len(server.asked) == 1
    monkeypatch.setattr(reranker, "REST_SECONDS", 0.0)
    assert found.rerank("refund", TEXTS) == [0.0, 1.0, 1.0]


@pytest.mark.rule("E11")
def test_there_is_none_by_default() -> None:
    assert HttpReranker.of(RerankerSettings(), {KEY_VARIABLE: KEY}) is None


def test_a_key_that_no_header_carries_is_refused(server: ModelServer) -> None:
    with pytest.raises(ConfigError, match=KEY_VARIABLE):
        opened(server, "two words")


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"provider": "cohere-compatible"}, "needs base_url and model"),
        ({"provider": "tei"}, "needs base_url"),
        ({"provider": "tei", "base_url": "http://reranker.example"}, "unencrypted"),
        ({"provider": "tei", "base_url": "http://user:secret@127.0.0.1"}, KEY_VARIABLE),
        ({"provider": "jina"}, "provider"),
        ({"candidates": 0}, "candidates"),
        ({"timeout_seconds": 0}, "timeout_seconds"),
    ],
)
def test_settings_that_cannot_be_used_are_refused(settings: dict[str, Any], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        RerankerSettings(**settings)
    allowed: dict[str, Any] = {"provider": "tei", "base_url": "http://reranker.example", "allow_plain_http": True}
    assert RerankerSettings(**allowed).base_url


@pytest.mark.rule("A17")
def test_a_reply_that_does_not_end_is_not_read_on(server: ModelServer) -> None:
    """More than the texts that were sent, with a score each, cannot be meant."""
    server.script(Reply(b'{"results": [', forever=b" " * 100_000))
    with pytest.raises(RerankError, match="the reply is larger than the 68,830 bytes that it could need"):
        opened(server).rerank("refund order", TEXTS)
    assert server.sent < 20 << 20


def test_texts_that_are_sent_back_are_no_flood(server: ModelServer) -> None:
    texts = ["é\x01\u4e2d" * 20_000, "refund"]

    def echoing(asked: Asked) -> Reply:
        found = [item | {"document": {"text": texts[item["index"]]}} for item in results([0.2, 0.9])]
        return Reply(json.dumps({"results": found}, indent=8).encode())

    server.respond = echoing
    assert opened(server).rerank("refund order", texts) == [0.2, 0.9]
