"""Token ids and counts: the fast path against the tokenizer, windows, and texts nobody should write."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.identifiers import split_identifiers
from rag_assets.models.minilm import tokenizer
from rag_assets.models.minilm.tokenizer import MAX_TOKENS, WordPieceTokenizer
from rag_assets.models.minilm.weights import ModelFiles
from rag_assets_tests.effort import ends_within

WORDS = st.sampled_from(
    [
        "GetHTTPResponse2",
        "order_id",
        "_",
        "__x",
        "[SEP]",
        "[CLS]",
        "http://x.y/z?a=b",
        "naïve",
        "Größe",
        "注文",
        "İ",
        "ﬀ",
        "…",
        "Foo…Bar_x",
        "a—b",
        "“it’s”",
        "•",
        "‘–’",
    ]
)
TEXTS = st.lists(
    st.one_of(
        st.text(string.printable, max_size=12), st.text(max_size=6), WORDS, st.sampled_from("\x00\x0b\x1c\x7f\x85\r\n")
    ),
    max_size=12,
).map("".join)


@given(TEXTS)
def test_the_fast_path_is_the_tokenizer(encoder: WordPieceTokenizer, text: str) -> None:
    assert encoder.token_ids(text) == encoder._tokenize(text)


@pytest.mark.parametrize(
    ("text", "same_as"),
    [
        pytest.param("GetHTTPResponse", "get http response", id="identifiers are split"),
        pytest.param("max_retry", "max retry", id="underscores have no token"),
        pytest.param("a\rb\tc\nd", "a b c d", id="blanks"),
        pytest.param("a\x00b\ufffdc", "abc", id="dropped characters join"),
        pytest.param("x\ud83d\ude80", "x🚀", id="surrogate pair"),
        pytest.param("\udc00total\ud800", "total", id="lone surrogates"),
        pytest.param("", "", id="empty"),
        pytest.param(" \t\n", "", id="blank"),
    ],
)
def test_equal_to_the_model(encoder: WordPieceTokenizer, text: str, same_as: str) -> None:
    assert encoder.token_ids(text) == encoder.token_ids(same_as)


@pytest.mark.parametrize("text", ["[SEP]", "[CLS] [PAD]", "x [MASK] y", "é [SEP]"])
def test_special_tokens_in_a_text_are_text(encoder: WordPieceTokenizer, text: str) -> None:
    assert min(encoder.token_ids(text)) > 999  # the vocabulary's special tokens come before


def test_counts_are_of_the_whole_text_without_special_tokens(encoder: WordPieceTokenizer) -> None:
    assert encoder.count(["", "order", "one two three", "order " * 1000]) == [0, 1, 3, 1000]
    assert encoder.count([]) == []


@pytest.mark.parametrize(("words", "length"), [(0, 2), (1, 3), (254, 256), (255, 256), (5000, 256)])
def test_model_input_fits_the_window(encoder: WordPieceTokenizer, words: int, length: int) -> None:
    ids = encoder.model_input("order " * words)
    assert (len(ids), ids[0], ids[-1]) == (length, 101, 102)
    assert length <= MAX_TOKENS
    assert set(ids[1:-1]) <= set(encoder.token_ids("order"))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("x" * 2_000_000, id="one word"),
        pytest.param("var a = 1; " * 200_000, id="code"),
        pytest.param(" " * 2_000_000, id="blanks"),
        pytest.param("{" * 2_000_000, id="punctuation"),
        pytest.param("é" * 500_000, id="accents"),
        pytest.param("\x00" * 2_000_000, id="NUL"),
        pytest.param("\ud800" * 500_000, id="lone surrogates"),
    ],
)
def test_a_line_of_2_mb(encoder: WordPieceTokenizer, text: str) -> None:
    """Bad input: one 2 MB line. The model sees its beginning at once; counting it is linear."""
    with ends_within(10):
        assert 2 <= len(encoder.model_input(text)) <= MAX_TOKENS
    with ends_within(120):
        (count,) = encoder.count([text])
    assert count >= 0


def test_forgetting_words_changes_nothing(model_files: ModelFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokenizer, "_CACHED_WORDS", 3)
    encoder = WordPieceTokenizer.load(model_files.tokenizer)
    text = "one two three four five one two three four five"
    assert encoder.token_ids(text) == encoder._tokenize(text)
    assert len(encoder._ids_of_word) <= 3


def test_long_words_are_not_kept(model_files: ModelFiles) -> None:
    encoder = WordPieceTokenizer.load(model_files.tokenizer)
    encoder.token_ids("a" * 65 + " order")
    assert list(encoder._ids_of_word) == ["order"]


def test_splitting_is_part_of_a_word(encoder: WordPieceTokenizer) -> None:
    text = "IOrderRepository.GetByIdAsync(order_id)"
    assert encoder.token_ids(text) == encoder.token_ids(split_identifiers(text))
