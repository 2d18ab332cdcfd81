"""The training itself: a table that learns, the same every time, and its file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("scipy", reason="only training needs it")

from rag_assets.models.static_code.table import open_table
from rag_assets.training.model import Recipe, Table, contrast, train
from rag_assets.training.pairs import COLUMNS, Pairs, TextsOfIds
from rag_assets.training.table_file import as_stored, read_table, write_table
from training.negatives import mine
from training.repositories import LIST, read_list
from training.teacher import Teacher

ENTRIES, DIMENSION, COUNT = 60, 16, 40
TINY = Recipe(steps=150, batch=64, rate=0.1, dimensions=(16, 8), dropout=0.05)


def tiny_pairs() -> Pairs:
    """Question i speaks of entry i, its text of entry i + 20 among noise: only training can bring them together."""
    random = np.random.default_rng(1)
    texts, rows = [], []
    for number in range(COUNT):
        word = number % 20
        texts.append([word, int(random.integers(40, ENTRIES))])
        texts.append([word + 20, *random.integers(40, ENTRIES, 6).tolist()])
        rows.append([2 * number, 2 * number + 1, -1, -1, number % 3, number % 2, word, 100 + word, number])
    ids = TextsOfIds(
        np.concatenate([np.array(text, np.uint16) for text in texts]), np.cumsum([0, *(len(t) for t in texts)])
    )
    assert len(rows[0]) == len(COLUMNS)
    return Pairs(ids, np.array(rows, np.int64))


def start() -> Table:
    rows = np.random.default_rng(2).standard_normal((ENTRIES, DIMENSION)).astype(np.float32)
    return Table(rows, np.zeros(ENTRIES, np.float32), np.zeros(ENTRIES, np.float32))


def found(table: Table, pairs: Pairs) -> float:
    """Share of the questions whose nearest text is one of theirs."""
    asked = table.embed(pairs.texts, pairs.column("question"), questions=True)
    told = table.embed(pairs.texts, pairs.column("code"), questions=False)
    nearest = (asked @ told.T).argmax(axis=1)
    return float((pairs.column("same_text")[nearest] == pairs.column("same_text")).mean())


def test_training_brings_questions_to_their_texts() -> None:
    pairs = tiny_pairs()
    assert found(start(), pairs) < 0.3
    assert found(train(start(), pairs, TINY), pairs) > 0.8


@pytest.mark.parametrize("hard", [0.0, 0.5], ids=["random negatives", "hard negatives"])
def test_the_same_inputs_give_the_same_bytes(hard: float, tmp_path: Path) -> None:
    pairs = tiny_pairs()
    recipe = Recipe(steps=8, batch=32, hard=hard, dimensions=(16, 8))
    words = [f"w{number}" for number in range(ENTRIES)]
    made = [
        write_table(train(start(), pairs, recipe, mine(pairs, ENTRIES, None)), words, tmp_path / "table.bin")
        for _ in range(2)
    ]
    assert made[0] == made[1]


def test_a_teacher_moves_what_it_scores_and_nothing_where_it_is_wrong() -> None:
    pairs = tiny_pairs()
    rows = np.arange(20)
    vectors = np.eye(20, dtype=np.float32)
    recipe = Recipe(steps=4, batch=32, teacher=1.0, dimensions=(16, 8))
    without = train(start(), pairs, recipe)
    right = Teacher(rows, pairs.column("repository")[rows], vectors, vectors)
    wrong = Teacher(rows, pairs.column("repository")[rows], vectors, np.roll(vectors, 1, axis=0))
    assert not np.array_equal(train(start(), pairs, recipe, teacher=right).rows, without.rows)
    assert np.array_equal(train(start(), pairs, recipe, teacher=wrong).rows, without.rows)


@pytest.mark.parametrize("taught", [False, True], ids=["answers", "scores of a teacher"])
def test_gradients_are_those_of_the_loss(*, taught: bool) -> None:
    random = np.random.default_rng(3)
    asked, told = random.standard_normal((2, 6, 16)).astype(np.float64)
    masked = np.zeros((6, 6), bool)
    masked[0, 3] = True
    recipe = Recipe(dimensions=(16, 8))
    targets = random.dirichlet(np.ones(6), 6) * ~masked if taught else None
    if targets is not None:
        targets /= targets.sum(axis=1, keepdims=True)
    _, by_asked, by_told, by_scale = contrast(asked, told, masked, 1.5, recipe, targets)
    step = 1e-5
    for values, gradient in ((asked, by_asked), (told, by_told)):
        values[2, 5] += step
        above = contrast(asked, told, masked, 1.5, recipe, targets)[0]
        values[2, 5] -= 2 * step
        below = contrast(asked, told, masked, 1.5, recipe, targets)[0]
        values[2, 5] += step
        assert gradient[2, 5] == pytest.approx((above - below) / (2 * step), rel=1e-3, abs=1e-6)
    above, below = (contrast(asked, told, masked, 1.5 + by, recipe, targets)[0] for by in (step, -step))
    assert by_scale == pytest.approx((above - below) / (2 * step), rel=1e-3)


def test_hard_negatives_are_of_other_files_of_the_repository() -> None:
    pairs = tiny_pairs()
    table = mine(pairs, ENTRIES, None)
    of_text = {int(text): row for text, row in zip(pairs.column("code"), pairs.table, strict=True)}
    for row, texts in zip(pairs.table, table, strict=True):
        for text in texts[texts >= 0]:
            other = of_text[int(text)]
            assert other[COLUMNS.index("repository")] == row[COLUMNS.index("repository")]
            assert other[COLUMNS.index("path")] != row[COLUMNS.index("path")]


def test_the_package_reads_what_is_written(tmp_path: Path) -> None:
    path, table, words = tmp_path / "table.bin", start(), [f"w{number}" for number in range(ENTRIES)]
    write_table(table, words, path)
    read = open_table(path, repair="pip")
    assert read.vocabulary == words
    assert np.array_equal(read.rows * read.scales[:, None], as_stored(table).rows)
    assert np.array_equal(read_table(path)[0].rows, as_stored(table).rows)
    np.testing.assert_allclose(read.query_weights, np.exp(table.question_weights), rtol=1e-6)


def test_the_list_has_a_revision_and_a_permissive_licence_for_each() -> None:
    listed = read_list(LIST)
    assert {row.licence for row in listed} <= {"MIT", "Apache-2.0", "BSD", "ISC", "PostgreSQL", "Unlicense"}
    assert all(len(row.revision) == 40 for row in listed)
    assert {row.role for row in listed} == {"train", "held-out", "judged"}
