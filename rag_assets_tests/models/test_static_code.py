"""The table of word vectors: its file, how texts become entries, and what a text's vector is."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.models.model_files import ModelCorrupted
from rag_assets.models.static_code import embedder as static_code
from rag_assets.models.static_code.embedder import StaticEmbedder
from rag_assets.models.static_code.table import RELATED, encoded, open_table, quantised
from rag_assets.models.static_code.word_pieces import LONGEST_WORD, WORD, WordPieces

WORDS = ["parse", "url", "urls", "http", "server", "2", "re", "##try", "##ing", "o"]
NONE_RELATED = np.zeros((len(WORDS), RELATED), "<u2"), np.zeros((len(WORDS), RELATED), "|u1")


@pytest.fixture
def pieces() -> WordPieces:
    return WordPieces(WORDS)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ParseURLs2", ["parse", "urls", "2"]),
        ("parse_url", ["parse", "url"]),
        ("HTTPServer", ["http", "server"]),
        ("retrying", ["re", "##try", "##ing"]),
        ("reXtry", ["re", "##try"]),  # no piece begins with x
        ("zzz ,;{} \x00", []),
        ("server" * 10, []),  # longer than 40 characters: data
        ("", []),
    ],
)
def test_words_of_identifiers_are_entries_whole_or_in_pieces(pieces: WordPieces, text: str, words: list[str]) -> None:
    assert [WORDS[entry] for entry in pieces.ids(text)] == words


def slowly(text: str) -> list[int]:
    """The obvious way: the words of the whole text one by one, each by itself or by its longest pieces."""
    entries = {word: number for number, word in enumerate(WORDS)}
    found = []
    for word in map(str.lower, WORD.findall(text)):
        if word in entries:
            found.append(entries[word])
        elif len(word) <= LONGEST_WORD:
            begin = 0
            while begin < len(word):
                pieces = (f"{'##' if begin else ''}{word[begin:end]}" for end in range(len(word), begin, -1))
                piece = next((piece for piece in pieces if piece in entries), None)
                found += [] if piece is None else [entries[piece]]
                begin += 1 if piece is None else len(piece.removeprefix("##"))
    return found


PARTS = [
    "ParseURLs2",
    "HTTPServers",
    "retry",
    "URLs",
    "é",
    "注文",
    "\ud800",
    "_",
    ".",
    " ",
    "\n",
    "\x00",
    "x" * 41,
    "2",
    "I",
    "s",
]


@given(st.one_of(st.text(max_size=200), st.lists(st.sampled_from(PARTS)).map("".join)))
def test_the_fast_way_to_entries_is_the_obvious_one(text: str) -> None:
    assert WordPieces(WORDS).ids(text) == slowly(text)


def test_forgetting_changes_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag_assets.models.static_code.word_pieces._CACHED_IDENTIFIERS", 2)
    pieces = WordPieces(WORDS)
    for text in ["parse url", "http server 2", "parse url re"] * 2:
        assert pieces.ids(text) == slowly(text)


def test_a_table_has_no_word_twice() -> None:
    vectors, ones = np.ones((2, 4), np.float32), np.ones(2, np.float32)
    with pytest.raises(ValueError, match="1 different words for 2 vectors"):
        encoded(
            ["a", "a"], *quantised(vectors), ones, ones, NONE_RELATED, model_id="tiny", dimensions=[4], tf_exponent=0.6
        )


def written(path: Path, *, exponent: float = 0.6, seed: int = 1) -> Path:
    random = np.random.default_rng(seed)
    vectors = random.standard_normal((len(WORDS), 4)).astype(np.float32)
    document, query = (random.random(len(WORDS)).astype(np.float32) + 0.1 for _ in range(2))
    about = {"model_id": "tiny", "dimensions": [4, 2], "tf_exponent": exponent}
    path.write_bytes(encoded(WORDS, *quantised(vectors), document, query, NONE_RELATED, **about))
    return path


def sha256_of(path: Path) -> tuple[str, str]:
    """(what the header says, what it is), of all that follows the header."""
    content = path.read_bytes()
    end = 12 + int.from_bytes(content[8:12], "little")
    return json.loads(content[12:end])["sha256"], hashlib.sha256(content[end:]).hexdigest()


def test_a_table_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = written(tmp_path / "table.bin")
    table = open_table(path, repair="pip")
    assert (list(table.vocabulary), table.header.model_id, table.header.dimensions) == (WORDS, "tiny", (4, 2))
    assert table.rows.shape == (len(WORDS), 4) and table.scales.shape == (len(WORDS),)
    expected = np.random.default_rng(1).standard_normal((len(WORDS), 4)).astype(np.float32)
    assert float(np.abs(table.rows * table.scales[:, None] - expected).max()) < 0.02
    told, found = sha256_of(path)
    assert told == found
    assert written(tmp_path / "again.bin").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("kept", [0, 5, 11, 40, 300, -20])
def test_a_table_that_ends_early_is_refused_with_the_command(tmp_path: Path, kept: int) -> None:
    path = written(tmp_path / "table.bin")
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(ModelCorrupted, match=r"is no table of vectors: .*Install it again:\n  pip"):
        open_table(path, repair="pip")


def test_a_file_of_another_format_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "table.bin")
    path.write_bytes(path.read_bytes().replace(b'"version":2', b'"version":9'))
    with pytest.raises(ModelCorrupted, match="format 9, this version reads 2"):
        open_table(path, repair="pip")


def test_texts_by_their_runs_read_as_they_do_whole(tmp_path: Path) -> None:
    """Vectors to the bit; and the nearest word of a text is that of the nearest of its runs."""
    embedder = StaticEmbedder(open_table(written(tmp_path / "table.bin"), repair="pip"))
    texts = ["ParseURLs2 retrying, parse_url", "", "zzz", "HTTPServer http HTTPServer zzz"]
    runs = [re.findall(r"\w+", text) for text in texts]
    different = sorted({run for text in runs for run in text})
    numbers = np.array([different.index(run) for text in runs for run in text], np.int64)
    read = embedder.read_runs(different, numbers, np.array(list(map(len, runs)), np.int64))
    assert np.array_equal(read.vectors(), embedder.embed(texts))
    asked = embedder.embed(["server", "url"])
    near = {run: read.closest(asked)[:, at] for at, run in enumerate(different)}
    for text, said in zip(texts, runs, strict=True):
        if said:
            nearest = np.max([near[run] for run in said], axis=0)
            assert np.array_equal(nearest, embedder.read([text]).closest(asked)[:, 0])


def test_a_vector_is_the_weighted_mean_of_the_words(tmp_path: Path) -> None:
    """By the formula, in float64: how often ** exponent × weight × row, of unit length."""
    table = open_table(written(tmp_path / "table.bin"), repair="pip")
    for for_questions, weights in ((False, table.document_weights), (True, table.query_weights)):
        embedder = StaticEmbedder(table, for_questions=for_questions)
        rows = table.rows.astype(np.float64) * table.scales[:, None]
        expected = 3**0.6 * weights[0] * rows[0] + weights[3] * rows[3]
        (vector,) = embedder.embed(["parse Parse, http PARSE"])
        np.testing.assert_allclose(vector, expected / np.linalg.norm(expected), atol=1e-6)


@pytest.fixture(scope="module")
def embedder(tmp_path_factory: pytest.TempPathFactory) -> StaticEmbedder:
    return StaticEmbedder.load(tmp_path_factory.mktemp("cache"))


def test_a_vector_depends_on_its_text_alone(embedder: StaticEmbedder) -> None:
    texts = [f"text {n} of class Order{n} " * n for n in range(600)] + ["parse order", "order parse"]
    together = embedder.embed(texts)
    np.testing.assert_array_equal(together, np.concatenate([embedder.embed([text]) for text in texts]))
    np.testing.assert_array_equal(together[-1], together[-2])


@pytest.mark.parametrize("text", ["", " \n", "\x00", "\ud800", "🚀" * 300, "x" * 2_000_000, "注文を解析する"])
def test_a_text_without_a_known_word_has_a_vector_of_zeros(embedder: StaticEmbedder, text: str) -> None:
    (vector,) = embedder.embed([text])
    assert vector.shape == (static_code.DIMENSION,) and not vector.any()


def test_ten_megabytes_are_one_text(embedder: StaticEmbedder) -> None:
    (long, short) = embedder.embed(["parse the order\n" * 640_000, "parse the order"])
    np.testing.assert_allclose(long, short, atol=1e-5)


def test_what_means_the_same_is_near(embedder: StaticEmbedder) -> None:
    query, same, other = embedder.embed(
        ["reads a JSON document", "JsonTextReader: parses JSON text", "draws the border of a window"]
    )
    assert float(query @ same) > float(query @ other) + 0.2


def test_a_word_is_related_to_what_means_about_the_same(embedder: StaticEmbedder) -> None:
    related = {word: [other for other, _ in embedder.related(word)] for word in ("voucher", "basket", "throttling")}
    assert "coupon" in related["voucher"] and "cart" in related["basket"] and "limit" in related["throttling"]
    assert embedder.related("zorkblatt") == embedder.related("") == embedder.related("two words") == []


def test_the_table_is_the_one_of_this_version() -> None:
    told, found = sha256_of(static_code.table_path())
    table = open_table(static_code.table_path(), repair="pip")
    assert told == found
    assert (table.header.model_id, table.header.dimension) == (static_code.MODEL_ID, static_code.DIMENSION)
    assert static_code.table_path().stat().st_size < 11_000_000


def test_a_damaged_table_is_refused_with_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = tmp_path / "table.bin"
    shutil.copyfile(static_code.table_path(), copy)
    monkeypatch.setattr(static_code, "table_path", lambda: copy)
    StaticEmbedder.load(tmp_path / "cache")
    with copy.open("r+b") as file:
        file.seek(5_000)
        file.write(b"\xff\xff")
    with pytest.raises(
        ModelCorrupted, match=r"not the expected model file(.|\n)*--force-reinstall --no-deps rag-assets"
    ):
        StaticEmbedder.load(tmp_path / "cache")


def test_words_are_compared_with_many_runs_as_with_each_alone(
    embedder: StaticEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one product of all rows OpenBLAS wakes threads, so there are several; they come to the same."""
    runs = ["refund", "order", "qqq", "customer"] * 5
    asked = embedder.embed(["refunds", "client", ""])
    read = embedder.read_runs(runs, np.arange(len(runs)), np.ones(len(runs), np.int64))
    whole = read.closest(asked)
    monkeypatch.setattr(static_code, "_PRODUCT", 1)
    np.testing.assert_allclose(read.closest(asked), whole, atol=1e-6)
    assert (whole[0] > 0.5).tolist() == [run == "refund" for run in runs], "its own form is nearest"
    assert not whole[2].any()
