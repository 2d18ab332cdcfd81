"""An embedding model behind a server: what is asked, what comes back, what it costs."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rag_assets.models import embedding_window, model_id, open_embedder, window_fingerprint
from rag_assets.models.openai_compat.embeddings import EndpointEmbedder, TextsRefused, batches_of
from rag_assets.models.openai_compat.token_counting import TokenizerMissing, token_counter
from rag_assets.settings import EmbedderSettings
from rag_assets_tests.models.embedding_server import (
    DIMENSION,
    embedding,
    inputs,
    items,
    reply,
    unit,
    unless,
)
from rag_assets_tests.models.endpoint_tools import endpoint_settings, opened
from rag_assets_tests.models.llm.model_server import Asked, ModelServer, Reply

TEXTS = [f"text {number}" for number in range(11)]


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        running.respond = embedding
        yield running


def test_vectors_are_unit_length_and_in_the_order_of_the_texts(server: ModelServer) -> None:
    vectors = opened(server).embed(TEXTS)
    assert vectors.dtype == np.float32 and vectors.shape == (len(TEXTS), DIMENSION)
    assert np.allclose(vectors, [unit(text) for text in TEXTS], atol=1e-6)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-6)


@pytest.mark.rule("R32")
def test_a_text_above_the_window_of_the_server_has_the_mean_of_the_vectors_of_its_parts(
    server: ModelServer, tmp_path: Path
) -> None:
    """Parts of one text may be in several requests; others have their own vectors."""
    long = " ".join(f"word{number}" for number in range(200))
    embedder = opened(server, max_tokens=64, batch_texts=2)
    vectors = embedder.embed(["first", long, "last"])
    sent = [text for asked in server.asked for text in inputs(asked) if text.startswith("word") and " " in text]
    assert len(sent) > 3 and max(embedding_window(endpoint_settings(server), tmp_path).count(sent)) <= 62
    mean = sum(unit(text) for text in sent)
    np.testing.assert_allclose(vectors, [unit("first"), mean / np.linalg.norm(mean), unit("last")], atol=1e-5)


@pytest.mark.rule("R32")
def test_a_refused_part_names_its_text(server: ModelServer) -> None:
    long = " ".join(f"word{number}" for number in range(200))

    def has_the_last_word(asked: Asked) -> bool:
        return any("word199" in text for text in inputs(asked))

    server.respond = unless(has_the_last_word, lambda _: Reply(b'{"error": {"message": "no"}}', 400))
    with pytest.raises(TextsRefused) as caught:
        opened(server, max_tokens=64, dimension=DIMENSION).embed(["first", long])
    assert [item.row for item in caught.value.refused] == [1]


def test_replies_are_sorted_by_index(server: ModelServer) -> None:
    def shuffled(asked: Asked) -> Reply:
        return reply(items(inputs(asked))[::-1])

    server.respond = shuffled
    assert np.allclose(opened(server).embed(TEXTS), [unit(text) for text in TEXTS], atol=1e-6)


@pytest.mark.parametrize(
    ("tokens", "texts", "limit", "expected"),
    [
        ([], 3, 10, []),
        ([1, 1, 1, 1], 3, 10, [(0, 1, 2), (3,)]),
        ([6, 4, 1], 3, 10, [(0, 1), (2,)]),
        ([50, 1, 50], 3, 10, [(0,), (1,), (2,)]),
        ([0, 0], 1, 10, [(0,), (1,)]),
    ],
    ids=["nothing", "by number", "by tokens", "longer than a batch", "one at a time"],
)
def test_batches_respect_both_limits(
    tokens: list[int], texts: int, limit: int, expected: list[tuple[int, ...]]
) -> None:
    assert [batch.rows for batch in batches_of(tokens, texts, limit)] == expected


def test_requests_are_batched_by_number_and_by_tokens(server: ModelServer) -> None:
    opened(server, dimension=DIMENSION, batch_texts=3).embed(TEXTS)
    assert sorted(len(inputs(asked)) for asked in server.asked) == [2, 3, 3, 3]
    server.asked.clear()
    opened(server, dimension=DIMENSION, batch_texts=100, batch_tokens=4).embed(["one two three four"] * 3)
    assert [len(inputs(asked)) for asked in server.asked] == [1, 1, 1]


def test_a_request_is_what_the_protocol_says(server: ModelServer) -> None:
    opened(server, key="sk-secret-123", dimension=4).embed(["a \ud800 b"])
    asked = server.asked[0]
    assert asked.path == "/v1/embeddings"
    assert asked.body == {"model": "m", "dimensions": 4, "encoding_format": "float", "input": ["a ? b"]}
    assert asked.headers["Authorization"] == "Bearer sk-secret-123"
    opened(server).embed(["a"])
    assert "dimensions" not in server.asked[-1].body and "Authorization" not in server.asked[-1].headers


def test_an_unknown_dimension_is_asked_for_once(server: ModelServer) -> None:
    embedder = opened(server)
    assert server.asked == []
    assert (embedder.dimension, embedder.dimension) == (DIMENSION, DIMENSION)
    assert len(server.asked) == 1
    assert opened(server, dimension=5).dimension == 5
    assert len(server.asked) == 1


def test_nothing_is_asked_for_no_texts(server: ModelServer) -> None:
    assert list(opened(server).embed_batches([])) == []
    assert server.asked == []


@pytest.mark.parametrize("most", [1, 3])
def test_no_more_requests_at_a_time_than_configured(server: ModelServer, most: int) -> None:
    together = threading.Barrier(most, timeout=5)

    def met(asked: Asked) -> Reply:
        if asked.number < most * 2:
            together.wait()  # breaks unless that many are in flight
        return embedding(asked)

    server.respond = met
    opened(server, dimension=DIMENSION, batch_texts=1, max_concurrency=most).embed([f"t{n}" for n in range(most * 4)])
    assert server.peak == most


def test_closing_early_stops_asking(server: ModelServer) -> None:
    batches = opened(server, dimension=DIMENSION, batch_texts=1, max_concurrency=2).embed_batches(["t"] * 1_000)
    next(batches)
    batches.close()  # type: ignore[attr-defined]
    asked = len(server.asked)
    assert asked < 20


def test_what_it_cost_is_counted(server: ModelServer) -> None:
    embedder = opened(server, dimension=DIMENSION, price=0.5)
    embedder.embed(TEXTS)
    used = embedder.usage()
    assert (used.requests, used.retries, used.texts, used.tokens) == (3, 0, 11, 110)
    assert used.cost == pytest.approx(110 * 0.5 / 1e6)
    assert used.seconds > 0
    assert opened(server).usage().cost is None


def test_tokens_are_estimated_where_the_server_does_not_count(server: ModelServer) -> None:
    server.respond = lambda asked: reply(items(inputs(asked)))
    embedder = opened(server, dimension=DIMENSION)
    embedder.embed(["one two three"])
    assert embedder.usage().tokens == 3


@pytest.mark.rule("R22")
@pytest.mark.parametrize(
    ("change", "same"),
    [
        ({"model": "n"}, False),
        ({"dimension": 512}, False),
        ({"base_url": "https://elsewhere.example/v1"}, True),
        ({"price": 3, "batch_texts": 7, "max_concurrency": 1}, True),
    ],
    ids=["model", "dimension", "place", "speed and price"],
)
def test_the_model_id_is_what_decides_vectors(server: ModelServer, change: dict[str, Any], same: bool) -> None:
    """R22: the model of an index is the one that made its vectors; a change builds another space."""
    before, after = endpoint_settings(server), endpoint_settings(server, **change)
    assert (model_id(before) == model_id(after)) is same
    assert model_id(after) == EndpointEmbedder.open(after, {}).model_id


def test_the_id_reads_as_provider_model_dimension(server: ModelServer) -> None:
    assert model_id(endpoint_settings(server)) == "openai-compatible/m"
    assert model_id(endpoint_settings(server, dimension=1536)) == "openai-compatible/m@1536"


def test_settings_open_it_without_a_request(server: ModelServer, tmp_path: Any) -> None:
    settings = endpoint_settings(server, max_tokens=100)
    embedder, window = open_embedder(settings, tmp_path), embedding_window(settings, tmp_path)
    assert embedder.model_id == window.model_id
    assert window.max_tokens == 100 and window.count(["a bc, defgh"]) == [4]
    assert server.asked == []


def test_the_window_is_part_of_the_configuration_not_of_the_space(server: ModelServer) -> None:
    base = endpoint_settings(server)
    changed = [endpoint_settings(server, max_tokens=100), endpoint_settings(server, tokenizer="cl100k_base")]
    assert {model_id(settings) for settings in [base, *changed]} == {model_id(base)}
    assert len({window_fingerprint(settings) for settings in [base, *changed]}) == 3
    assert window_fingerprint(EmbedderSettings()) == ""


def test_openai_tokens_are_exact() -> None:
    pytest.importorskip("bpe_openai")
    count = token_counter("cl100k_base")
    assert count(["hello world", "<|endoftext|>", "", "a\ud800"]) == [2, 7, 0, 2]


def test_a_missing_tokenizer_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "bpe_openai", None)
    with pytest.raises(TokenizerMissing, match=r"pip install 'rag-assets\[tokenizers-openai\]'"):
        token_counter("o200k_base")


def test_estimates_are_a_function_of_the_text() -> None:
    """Words of identifiers, numbers, signs by two, other scripts by the character."""
    texts = ["", "word", "extraordinary", "OrderService", "HTTPClient", "a.b", "));\n", "12345", "snake_case", "注文 ü"]
    assert token_counter("estimate")(texts) == [0, 1, 2, 2, 2, 3, 2, 2, 3, 3]


def test_estimates_are_near_the_tokens_of_openai() -> None:
    pytest.importorskip("bpe_openai")
    text = Path(__file__).read_text(encoding="utf-8")
    (estimated,), (exact,) = token_counter("estimate")([text]), token_counter("cl100k_base")([text])
    assert 0.95 * exact < estimated < 1.3 * exact


def test_a_text_beyond_the_limit_of_the_tokenizer_is_counted() -> None:
    pytest.importorskip("bpe_openai")
    assert token_counter("cl100k_base")(["a b " * 150_000])[0] == pytest.approx(300_000, rel=0.01)


def test_large_replies_are_read(server: ModelServer) -> None:
    """Above the bound of the text model's replies."""
    vectors = opened(server, dimension=3_072, batch_texts=64).embed([f"text {number}" for number in range(30)])
    assert vectors.shape == (30, 3_072)
    assert len(json.dumps(items(TEXTS[:1], 3_072))) * 30 > 1 << 20
