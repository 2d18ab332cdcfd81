"""The words that a table relates to each other: by the list of synonyms, and by near vectors."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from rag_assets.models.static_code.embedder import table_path
from rag_assets.models.static_code.table import open_table
from rag_assets.training.errors import TrainingError
from rag_assets.training.related_words import package_synonyms, related_words, synonyms_of
from rag_assets.training.table_file import relate

WORDS = ["expire", "ttl", "expires", "cookie", "http", "httpx", "2", "##ing", "o", "db", "database"]


def related(lines: list[str], rows: np.ndarray | None = None) -> dict[str, list[tuple[str, float]]]:
    if rows is None:
        rows = np.diag(np.full(len(WORDS), 127)).astype(np.int8)  # no two alike
    words, nearness = related_words(WORDS, rows, synonyms_of(lines))
    return {
        word: [(WORDS[other], near / 255) for other, near in zip(words[at], nearness[at].tolist(), strict=True) if near]
        for at, word in enumerate(WORDS)
    }


def test_synonyms_hold_in_both_directions_and_for_every_form() -> None:
    found = related(["expire: ttl | cookie", "db: database"])
    assert (
        found["expires"]
        == found["expire"]
        == [("ttl", pytest.approx(0.6, abs=0.002)), ("cookie", pytest.approx(0.45, abs=0.002))]
    )
    assert found["ttl"] == [("expire", pytest.approx(0.54, abs=0.002))]
    assert [word for word, _ in found["db"]] == ["database"] and [word for word, _ in found["database"]] == ["db"]
    assert not found["http"] and not found["2"] and not found["##ing"]


def test_words_with_near_vectors_are_related_and_other_forms_are_not() -> None:
    """By the formula, in float64; pieces, numbers and short words have none."""
    rows = np.random.default_rng(1).integers(-127, 128, (len(WORDS), 4)).astype(np.int8)
    unit = rows / np.linalg.norm(rows.astype(np.float64), axis=1, keepdims=True)
    found = related([], rows)
    whole = ["expire", "ttl", "expires", "cookie", "http", "httpx", "database"]
    for word in WORDS:
        cosines: dict[str, float] = {}
        for other in whole if word in whole else ():
            most_used, cosine = (
                other.replace("expires", "expire"),
                float(unit[WORDS.index(word)] @ unit[WORDS.index(other)]),
            )
            if cosine >= 0.4 and most_used != word.replace("expires", "expire"):
                cosines[most_used] = max(cosine, cosines.get(most_used, 0.0))
        assert [other for other, _ in found[word]] == sorted(cosines, key=lambda other: -cosines[other])
        assert [near for _, near in found[word]] == pytest.approx(sorted(cosines.values(), reverse=True), abs=0.003)
    assert any(found.values())


@pytest.mark.parametrize("line", ["Expire: ttl", "expire ttl", "expire: time-out", "expire:  ttl", "expire: ttl |", ""])
def test_another_line_is_refused_with_its_number(line: str) -> None:
    with pytest.raises(TrainingError, match=r"synonyms, line 2: .* is no `word: said instead"):
        synonyms_of(["expire: ttl", line])


def test_the_table_of_the_package_has_the_synonyms_of_the_package(tmp_path: Path) -> None:
    shutil.copy(table_path(), tmp_path / "table.bin")
    relate(tmp_path / "table.bin")
    assert (tmp_path / "table.bin").read_bytes() == table_path().read_bytes()


def test_each_word_of_the_list_is_one_of_the_table() -> None:
    """So that none is there in vain; those are few whose root has another word."""
    from importlib import resources

    known = set(open_table(table_path(), repair="pip").vocabulary)
    text = resources.files("rag_assets.training").joinpath("synonyms.txt").read_text("ascii")
    said = set(text.replace(":", " ").replace("|", " ").split())
    assert said <= known
    words = [line.partition(":")[0] for line in text.splitlines()]
    assert words == sorted(set(words)) and len(package_synonyms()) > 4000
