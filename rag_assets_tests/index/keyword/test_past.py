"""The index of what past commits say of each file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rag_assets.index.keyword.commit_subjects import CommitSubjects, write_past
from rag_assets.index.keyword.vocabulary import KeywordIndexError

SUBJECTS = {
    "src/Invoice.cs": ["Round invoices up", "Add invoice numbers"],
    "src/Basket.cs": ["Empty the basket after checkout"],
    "src/Ünï.cs": ["Round prices"],
    "src/Silent.cs": [],
}


@pytest.fixture
def past(tmp_path: Path) -> CommitSubjects:
    write_past(tmp_path, SUBJECTS)
    return CommitSubjects(tmp_path)


def test_files_are_scored_by_the_words_of_their_commits(past: CommitSubjects) -> None:
    found = past.scores({"round": 1.0, "invoice": 1.0}, SUBJECTS)
    assert found["src/Invoice.cs"] > found["src/Ünï.cs"] > 0
    assert set(found) == {"src/Invoice.cs", "src/Ünï.cs"}


def test_only_files_that_are_asked_for_are_scored(past: CommitSubjects) -> None:
    assert set(past.scores({"round": 1.0}, ["src/Ünï.cs", "src/Unknown.cs"])) == {"src/Ünï.cs"}


def test_a_rare_word_counts_more_and_a_light_one_less(past: CommitSubjects) -> None:
    files = ["src/Invoice.cs"]
    rare, common = (past.scores({term: 1.0}, files)["src/Invoice.cs"] for term in ("number", "round"))
    assert rare > common
    assert past.scores({"number": 0.2}, files)["src/Invoice.cs"] == pytest.approx(0.2 * rare)


def test_equal_input_gives_equal_bytes(tmp_path: Path) -> None:
    for name, order in (("one", 1), ("two", -1)):
        (tmp_path / name).mkdir()
        write_past(tmp_path / name, dict(list(SUBJECTS.items())[::order]))
    one, two = ({path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in ("one", "two"))
    assert one == two
    assert len(one) == 2


@pytest.mark.parametrize("subjects", [{}, {"a.cs": []}], ids=["no files", "no subjects"])
def test_without_history_nothing_is_written_or_known(tmp_path: Path, subjects: dict[str, list[str]]) -> None:
    write_past(tmp_path, SUBJECTS)
    write_past(tmp_path, subjects)
    assert list(tmp_path.iterdir()) == []
    assert CommitSubjects(tmp_path).scores({"round": 1.0}, ["a.cs"]) == {}


@pytest.mark.parametrize("term", ["", "\t", "\n", "\ud800", "🦄", "round\t1"])
def test_odd_terms_are_unknown(past: CommitSubjects, term: str) -> None:
    assert past.scores({term: 1.0}, SUBJECTS) == {}


def test_subjects_without_words_are_harmless(tmp_path: Path) -> None:
    write_past(tmp_path, {"a.cs": ["…", ""], "b.cs": ["Fix"]})
    assert set(CommitSubjects(tmp_path).scores({"fix": 1.0}, ["a.cs", "b.cs"])) == {"b.cs"}


@pytest.mark.parametrize("name", ["past_files.tsv", "past_terms.tsv"])
def test_half_of_it_is_an_error_that_names_the_file(tmp_path: Path, name: str) -> None:
    write_past(tmp_path, SUBJECTS)
    (tmp_path / name).unlink()
    with pytest.raises(KeywordIndexError, match=rf"{name} is missing; run: rag-assets index --force"):
        CommitSubjects(tmp_path)


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda text: text.replace(b"\t", b" "), id="without tabs"),
        pytest.param(lambda text: text[: len(text) // 2].rstrip(b"\n"), id="cut"),
        pytest.param(lambda text: bytes(len(text)), id="zeros"),
        pytest.param(lambda text: text.replace(b":", b";"), id="no numbers"),
        pytest.param(lambda text: text.replace(b"\t1\t", b"\tx\t"), id="no counts"),
    ],
)
def test_damage_is_an_error_that_names_the_file(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    write_past(tmp_path, SUBJECTS)
    terms = tmp_path / "past_terms.tsv"
    terms.write_bytes(damage(terms.read_bytes()))
    with pytest.raises(KeywordIndexError, match=r"past_terms\.tsv .*is damaged; run: rag-assets index --force"):
        CommitSubjects(tmp_path).scores(dict.fromkeys(("round", "invoice", "number", "up", "price"), 1.0), SUBJECTS)
