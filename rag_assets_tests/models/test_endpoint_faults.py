"""Whatever an embedding server does: nothing paid for is lost, nothing wrong is kept, and the error says what to do."""

from __future__ import annotations

import json
import socket
from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from rag_assets.models.openai_compat.embeddings import EndpointEmbedder, EndpointError, TextsRefused
from rag_assets.settings.config_file import ConfigError
from rag_assets_tests.models.embedding_server import DIMENSION, embedding, inputs, items, reply, unit, unless, with_text
from rag_assets_tests.models.endpoint_tools import endpoint_settings, opened
from rag_assets_tests.models.llm.model_server import Asked, ModelServer, Reply, failing, timed

TEXTS = [f"text {number}" for number in range(8)]
BAD = "text 5"
KEY = "sk-very-secret-0123456789"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    monkeypatch.setattr("rag_assets.models.openai_compat.faults.FIRST_WAIT_SECONDS", 0.005)
    with ModelServer() as running:
        running.respond = embedding
        yield running


def gathered(embedder: EndpointEmbedder, texts: list[str]) -> tuple[dict[int, np.ndarray], EndpointError | None]:
    """(row → vector of what was yielded, the error in the end)."""
    found: dict[int, np.ndarray] = {}
    try:
        for rows, vectors in embedder.embed_batches(texts):
            assert not found.keys() & set(rows), "a row was yielded twice"
            found |= dict(zip(rows, vectors, strict=True))
    except EndpointError as error:
        return found, error
    return found, None


def are_right(found: dict[int, np.ndarray]) -> bool:
    return all(np.allclose(vector, unit(TEXTS[row]), atol=1e-6) for row, vector in found.items())


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(failing(429, Retry_After="0"), id="429"),
        pytest.param(failing(429), id="429 without a time"),
        pytest.param(failing(500), id="500"),
        pytest.param(failing(503, Retry_After="0"), id="503"),
        pytest.param(Reply(b"{}", headers={"Content-Length": "1000"}), id="cut off"),
    ],
)
def test_transient_faults_are_outlasted(server: ModelServer, fault: Reply) -> None:
    tries = Counter[tuple[str, ...]]()  # of the same texts: what the third request is depends on the threads

    def respond(asked: Asked) -> Reply:
        tries[tuple(inputs(asked))] += 1
        return fault if tries[tuple(inputs(asked))] % 3 else embedding(asked)

    server.respond = respond
    embedder = opened(server, dimension=DIMENSION, batch_texts=2)
    found, error = gathered(embedder, TEXTS)
    assert error is None and len(found) == len(TEXTS) and are_right(found)
    assert embedder.usage().retries > 0
    assert embedder.usage().texts == len(TEXTS)


def test_retry_after_is_waited_for_by_all(server: ModelServer) -> None:
    server.respond = lambda asked: failing(429, Retry_After="1") if asked.number == 0 else embedding(asked)
    (found, error), seconds = timed(lambda: gathered(opened(server, dimension=DIMENSION, max_concurrency=1), TEXTS))
    assert error is None and len(found) == len(TEXTS)
    assert 1.0 <= seconds < 3.0


def test_a_server_that_asks_for_hours_is_not_waited_for(server: ModelServer) -> None:
    server.script(failing(429, "quota", Retry_After="3600"))
    (found, error), seconds = timed(lambda: gathered(opened(server, dimension=DIMENSION), TEXTS))
    assert found == {} and error is not None and "quota" in str(error) and "max_concurrency" in str(error)
    assert seconds < 3 and len(server.asked) <= 4


@pytest.mark.parametrize(
    ("refusal", "reason"),
    [
        pytest.param(lambda asked: failing(400, "too long for me"), "too long for me", id="400"),
        pytest.param(lambda asked: failing(413, "too large"), "too large", id="413"),
        pytest.param(lambda asked: failing(500, "NaN in there"), "NaN in there", id="500 for a text"),
        pytest.param(lambda asked: reply(items(inputs(asked))[:-1]), "embeddings for", id="missing item"),
        pytest.param(
            lambda asked: reply([item | {"index": item["index"] + 1} for item in items(inputs(asked))]),
            "indexes are not",
            id="wrong index",
        ),
        pytest.param(
            lambda asked: reply([{"index": n, "embedding": [float("nan")] * DIMENSION} for n in range(9)]),
            "no list of embeddings",
            id="NaN",
        ),
        pytest.param(
            lambda asked: Reply(b'{"data": [{"index": 0, "embedding": [1e999]}]}'), "the reply has", id="infinity"
        ),
        pytest.param(
            lambda asked: reply([{"index": n, "embedding": [0.0] * DIMENSION} for n in range(len(inputs(asked)))]),
            "of zeros",
            id="zero",
        ),
        pytest.param(
            lambda asked: reply(
                [{"index": n, "embedding": [1.0] * (DIMENSION + n)} for n in range(len(inputs(asked)) + 1)][1:]
            ),
            "embeddings",
            id="several dimensions",
        ),
        pytest.param(lambda asked: Reply(b'{"data": [{"ind'), "no list of embeddings", id="half a reply"),
        pytest.param(lambda asked: Reply(b'{"error": {"message": "no"}}'), "an error: no", id="error with 200"),
    ],
)
def test_one_bad_text_costs_only_itself(server: ModelServer, refusal: Callable[[Asked], Reply], reason: str) -> None:
    """Its batch is halved; all others are yielded; the error names it and what the server said."""
    server.respond = unless(with_text(BAD), refusal)
    found, error = gathered(opened(server, dimension=DIMENSION), TEXTS)
    assert set(found) == set(range(8)) - {5} and are_right(found)
    assert isinstance(error, TextsRefused)
    assert [item.row for item in error.refused] == [5]
    assert reason in str(error) and BAD in str(error) and "embedder.max_tokens" in str(error)
    assert len(server.asked) < 30


def test_slow_batches_are_halved(server: ModelServer) -> None:
    server.respond = unless(lambda asked: len(inputs(asked)) > 1, lambda asked: Reply(b"{}", delay=30))
    found, error = gathered(
        opened(server, dimension=DIMENSION, timeout_seconds=0.3, batch_texts=2, max_concurrency=8), TEXTS[:4]
    )
    assert error is None and len(found) == 4 and are_right(found)


@pytest.mark.parametrize(
    ("fault", "hint"),
    [
        pytest.param(failing(401, "who?"), "RAG_ASSETS_EMBEDDINGS_API_KEY", id="wrong key"),
        pytest.param(failing(404, "no such model"), "embedder.base_url and embedder.model", id="no such model"),
        pytest.param(failing(302, Location="https://elsewhere.example/x"), "embedder.base_url", id="redirect"),
        pytest.param(Reply(b"<html>", headers={"Content-Type": "text/html"}), "not JSON", id="no API"),
        pytest.param(failing(400, "no dimensions here"), "no dimensions here", id="wrong request"),
        pytest.param(failing(500, "out of memory"), "out of memory", id="500 for ever"),
        pytest.param(failing(429, "slow down"), "embedder.max_concurrency", id="429 for ever"),
        pytest.param(Reply(b"[]"), "no list of embeddings", id="another protocol"),
    ],
)
def test_a_server_at_fault_ends_the_work_and_keeps_what_it_gave(server: ModelServer, fault: Reply, hint: str) -> None:
    """Requests stay bounded: a server that refuses everything is not asked for every text."""
    server.respond = lambda asked: embedding(asked) if asked.number < 2 else fault
    texts = [f"text {number}" for number in range(400)]
    found, error = gathered(opened(server, dimension=DIMENSION, max_concurrency=1), texts)
    assert set(found) == set(range(8))
    assert error is not None and not isinstance(error, TextsRefused)
    assert hint in str(error)
    assert len(server.asked) <= 12


def test_replies_on_their_way_are_kept_when_another_request_fails(server: ModelServer) -> None:
    def one_wrong(asked: Asked) -> Reply:
        good = embedding(asked)
        return failing(401) if BAD in inputs(asked) else Reply(good.body, delay=0.3)

    server.respond = one_wrong
    found, error = gathered(opened(server, dimension=DIMENSION, batch_texts=2, max_concurrency=4), TEXTS)
    assert set(found) == set(range(8)) - {4, 5} and error is not None


def test_a_server_that_is_not_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with ModelServer() as server, pytest.MonkeyPatch.context() as patch:
        patch.setattr("rag_assets.models.openai_compat.faults.FIRST_WAIT_SECONDS", 0.005)
        url = f"http://127.0.0.1:{port}/v1"
        with pytest.raises(EndpointError, match=f"{port}.*embedder.base_url"):
            _ = opened(server, base_url=url).dimension


@pytest.mark.rule("R22")
@pytest.mark.parametrize("configured", [DIMENSION, None], ids=["configured", "of the first reply"])
def test_another_dimension_is_refused(server: ModelServer, configured: int | None) -> None:
    """R22: a server that begins to answer with another model must not get into the index."""
    server.respond = lambda asked: reply(items(inputs(asked), DIMENSION if asked.number == 0 else 6))
    found, error = gathered(opened(server, dimension=configured, max_concurrency=1), TEXTS)
    assert all(len(vector) == DIMENSION for vector in found.values())
    assert error is not None and f"returned 6 dimensions instead of {DIMENSION}" in str(error)
    assert "embedder.dimension" in str(error)


def test_questions_get_one_attempt_in_their_own_time(server: ModelServer) -> None:
    settings = endpoint_settings(server, timeout_seconds=60, query_timeout_seconds=0.2)
    embedder = EndpointEmbedder.for_questions(settings, DIMENSION, {})
    assert np.allclose(embedder.embed_question("a"), unit("a"), atol=1e-6)
    server.script(Reply(b"{}", delay=30))
    asked = len(server.asked)
    with pytest.raises(EndpointError, match=r"0\.2 s \(embedder\.query_timeout_seconds\)"):
        embedder.embed_question("b")
    assert len(server.asked) == asked + 1


def bearer(asked: Asked) -> str:
    return asked.headers["Authorization"]


@pytest.mark.parametrize(
    "echo",
    [
        pytest.param(lambda asked: failing(401, f"bad key {bearer(asked)}"), id="refusal"),
        pytest.param(lambda asked: failing(400, f"{'x' * 190}{bearer(asked)}"), id="refusal cut in the key"),
        pytest.param(lambda asked: Reply(json.dumps({"error": bearer(asked)}).encode()), id="error with 200"),
        pytest.param(lambda asked: Reply(b"", headers={"Content-Type": bearer(asked)}), id="content type"),
        pytest.param(lambda asked: failing(302, Location=f"https://a.example/?k={bearer(asked)}"), id="location"),
        pytest.param(lambda asked: Reply(f'{{"data": "{bearer(asked)}"}}'.encode()), id="data"),
    ],
)
def test_a_server_that_repeats_the_key_leaks_nothing(server: ModelServer, echo: Callable[[Asked], Reply]) -> None:
    server.respond = echo
    embedder = opened(server, key=KEY, dimension=DIMENSION)
    found, error = gathered(embedder, TEXTS)
    assert found == {} and error is not None
    shown = repr(error) + str(error) + repr(embedder) + repr(vars(embedder)) + repr(embedder.usage())
    assert KEY not in shown and KEY[:12] not in shown


def test_a_key_that_no_header_can_carry_is_refused(server: ModelServer) -> None:
    with pytest.raises(ConfigError, match="RAG_ASSETS_EMBEDDINGS_API_KEY") as caught:
        opened(server, key="two words-of-it")
    assert "words-of" not in str(caught.value)


@pytest.mark.rule("A17")
def test_a_reply_that_does_not_end_is_not_read_on(server: ModelServer) -> None:
    """A text has as many numbers as any model gives, and no more."""
    server.script(Reply(b'{"data": [', forever=b" " * 100_000))
    embedder = EndpointEmbedder.for_questions(endpoint_settings(server), DIMENSION, {})
    with pytest.raises(EndpointError, match="the reply is larger than the 393,216 bytes that it could need"):
        embedder.embed_question("why")
    assert server.sent < 20 << 20


@pytest.mark.parametrize("dimension", [4_096, 20_000])
def test_large_vectors_are_no_flood(server: ModelServer, dimension: int) -> None:
    """As indented as JSON can be."""

    def indented(asked: Asked) -> Reply:
        return Reply(json.dumps({"data": items(inputs(asked), dimension)}, indent=4).encode())

    server.respond = indented
    found, error = gathered(opened(server, dimension=dimension), TEXTS[:2])
    assert error is None and len(found) == 2
