"""The words that a table relates to each other: by the list of synonyms, and by near vectors."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from rag_assets.models.model_files import write_whole
from rag_assets.models.static_code.embedder import table_path
from rag_assets.models.static_code.table import OWN_MODEL_ID, open_own_table, open_table
from rag_assets.training.errors import TrainingError
from rag_assets.training.model import Table
from rag_assets.training.related_words import package_synonyms, related_words, synonyms_of
from rag_assets.training.table_file import encoded, relate

WORDS = ["expire", "ttl", "expires", "cookie", "state", "statement", "2", "##ing", "o", "db", "database"]
WHOLE = ["expire", "ttl", "cookie", "state", "statement", "database"]
ROWS = np.diag(np.full(len(WORDS), 127)).astype(np.int8)  # no two alike, but
ROWS[2, 0] = 127  # `expires` and `expire`


def related(lines: list[str], rows: np.ndarray = ROWS) -> dict[str, list[tuple[str, float]]]:
    words, nearness = related_words(WORDS, rows, synonyms_of(lines))
    return {
        word: [(WORDS[other], near / 255) for other, near in zip(words[at], nearness[at].tolist(), strict=True) if near]
        for at, word in enumerate(WORDS)
    }


def about(*pairs: tuple[str, float]) -> list[tuple[str, object]]:
    return [(word, pytest.approx(near, abs=0.003)) for word, near in pairs]


def test_synonyms_hold_in_both_directions_and_for_every_form() -> None:
    found = related(["expire: ttl | cookie", "db: database"])
    assert found["expire"] == found["expires"] == about(("ttl", 0.6), ("cookie", 0.45))
    assert found["ttl"] == about(("expire", 0.54)) and found["cookie"] == about(("expire", 0.405))
    assert found["db"] == about(("database", 0.6)) and found["database"] == about(("db", 0.54))
    assert not found["2"] and not found["##ing"]


def test_words_that_only_begin_alike_have_no_synonyms_in_common() -> None:
    found = related(["state: cookie"])
    assert found["state"] == about(("cookie", 0.6)) and not found["statement"]


def test_words_with_near_vectors_are_related_and_other_forms_are_not() -> None:
    """By the formula, in float64; pieces, numbers and short words have none."""
    rows = np.random.default_rng(1).integers(-127, 128, (len(WORDS), 4)).astype(np.int8)
    rows[2], rows[5] = rows[0], -rows[4]  # a form, and none
    unit = rows / np.linalg.norm(rows.astype(np.float64), axis=1, keepdims=True)
    cosines = unit @ unit.T
    found = related([], rows)
    for at, word in enumerate(WORDS):
        form = word.removesuffix("s")
        others = [other for other in WHOLE if other != form] if form in WHOLE else []
        near = {other: float(cosines[at, WORDS.index(other)]) for other in others}
        expected = sorted((other for other in near if near[other] >= 0.4), key=lambda other: -near[other])
        assert found[word] == about(*((other, near[other]) for other in expected))
    assert any(found.values())


@pytest.mark.parametrize("line", ["Expire: ttl", "expire ttl", "expire: time-out", "expire:  ttl", "expire: ttl |", ""])
def test_another_line_is_refused_with_its_number(line: str) -> None:
    with pytest.raises(TrainingError, match=r"synonyms, line 2: .* is no `word: said instead"):
        synonyms_of(["expire: ttl", line])


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match=r"no\.bin: No such file"):
        relate(tmp_path / "no.bin")


def test_a_table_of_ones_own_stays_one(tmp_path: Path) -> None:
    path, table = tmp_path / "own.bin", Table(np.eye(3, 256, dtype=np.float32), np.zeros(3), np.zeros(3))
    write_whole(path, [encoded(table, ["expire", "ttl", "o"], OWN_MODEL_ID)])
    content = path.read_bytes()
    relate(path)
    assert path.read_bytes() == content
    damaged = content.replace(b"ttl", b"tls")  # another word: the digest is another too
    path.write_bytes(damaged)
    relate(path)
    assert open_own_table(path).header.model_id != OWN_MODEL_ID and list(open_own_table(path).vocabulary)[1] == "tls"


def test_the_table_of_the_package_has_the_synonyms_of_the_package(tmp_path: Path) -> None:
    shutil.copy(table_path(), tmp_path / "table.bin")
    relate(tmp_path / "table.bin")
    assert (tmp_path / "table.bin").read_bytes() == table_path().read_bytes()


def test_each_word_of_the_list_is_one_of_the_table() -> None:
    """So that none is there in vain."""
    from importlib import resources

    known = set(open_table(table_path(), repair="pip").vocabulary)
    text = resources.files("rag_assets.training").joinpath("synonyms.txt").read_text("ascii")
    said = set(text.replace(":", " ").replace("|", " ").split())
    assert said <= known
    words = [line.partition(":")[0] for line in text.splitlines()]
    assert words == sorted(set(words)) and len(package_synonyms()) > 4000
