"""The query side of the keyword index: files, look-up, query vectors, and what damage says."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from rag_assets.index.keyword import KEYWORD_VERSION
from rag_assets.index.keyword.bm25f import assigned_indices, count_terms, hashes_of, statistics_of, weights
from rag_assets.index.keyword.terms import FORM_WEIGHT, FUNCTION_WORD_WEIGHT
from rag_assets.index.keyword.vocabulary import KeywordIndexError, KnownTerm, Vocabulary, write_vocabulary
from rag_assets_tests.index.keyword.corpus import sections


def written(directory: Path, corpus: list[dict[str, str]]) -> tuple[Vocabulary, dict[str, int], dict[str, int]]:
    statistics = statistics_of(count_terms(corpus))
    indices = assigned_indices(hashes_of(statistics.document_frequencies))[0]
    write_vocabulary(directory, statistics, indices)
    return Vocabulary(directory), indices, dict(statistics.document_frequencies)


def test_every_term_is_found_with_its_index_and_frequency(tmp_path: Path) -> None:
    vocabulary, indices, frequencies = written(tmp_path, sections(50))
    assert vocabulary.size == len(indices) > 20
    assert vocabulary.sections == 50
    for term, index in indices.items():
        assert vocabulary.find(term) == KnownTerm(index, frequencies[term])
        assert term in vocabulary


@pytest.mark.parametrize("term", ["", "a", "zzzz", "orde", "orderx", "注", "\ud800", "order\t1", "\n"])
def test_other_terms_are_not_found(tmp_path: Path, term: str) -> None:
    vocabulary, _, _ = written(tmp_path, sections(50))
    assert vocabulary.find(term) is None


def test_terms_are_found_by_their_beginning_in_order(tmp_path: Path) -> None:
    vocabulary, indices, _ = written(tmp_path, sections(50))
    for beginning in ("", *sorted({term[:3] for term in indices}), "orderx", "zzzz"):
        assert list(vocabulary.starting(beginning)) == [term for term in sorted(indices) if term.startswith(beginning)]


def test_other_forms_are_part_of_the_vector_and_worth_less(tmp_path: Path) -> None:
    vocabulary, indices, _ = written(tmp_path, [{"body": "a provider"}, {"body": "they provide"}, {"body": "other"}])
    found = vocabulary.query_vector("what does provide parcels")
    values = dict(zip(found.indices, found.values, strict=True))
    assert found.forms == {"provider": "provide"}
    assert values[indices["provider"]] == pytest.approx(FORM_WEIGHT * values[indices["provide"]])


def test_the_rarity_of_a_term_is_its_idf(tmp_path: Path) -> None:
    vocabulary, _, _ = written(tmp_path, [{"body": "rare common"}, {"body": "common"}])
    assert vocabulary.rarity("rare") == pytest.approx(math.log(1 + 1.5 / 1.5))
    assert vocabulary.rarity("unknown") > vocabulary.rarity("rare") > vocabulary.rarity("common")


def test_an_empty_index_knows_nothing(tmp_path: Path) -> None:
    vocabulary, _, _ = written(tmp_path, [])
    assert vocabulary.query_vector("order").indices == ()


def test_a_query_vector_has_known_terms_ascending_and_names_the_unknown(tmp_path: Path) -> None:
    vocabulary, indices, _ = written(tmp_path, [{"body": "the order service"}, {"names": "GetOrder"}])
    found = vocabulary.query_vector("the GetOrder flux, GetFlux")
    rare, common = math.log(1 + 1.5 / 1.5), math.log(1 + 0.5 / 2.5)  # in one of two sections, in both
    expected = {
        indices["the"]: FUNCTION_WORD_WEIGHT * rare,
        indices["get"]: rare,
        indices["order"]: common,
        indices["getorder"]: rare,
    }
    assert dict(zip(found.indices, found.values, strict=True)) == expected
    assert list(found.indices) == sorted(found.indices)
    assert found.unknown == ("flux", "getflux")


def test_the_dot_product_ranks_the_declaring_section_first(tmp_path: Path) -> None:
    corpus = [{"body": "get the order. get order order"}, {"names": "GetOrder"}, {"body": "nothing alike"}]
    vocabulary, indices, _ = written(tmp_path, corpus)
    counts = count_terms(corpus)
    rows = weights(counts, statistics_of(counts).average_lengths(), indices)
    query = vocabulary.query_vector("GetOrder")
    wanted = dict(zip(query.indices, query.values, strict=True))
    scores = [sum(wanted.get(int(i), 0.0) * float(v) for i, v in zip(*rows[row], strict=True)) for row in range(3)]
    assert np.argsort(scores)[::-1].tolist()[:2] == [1, 0]
    assert scores[2] == 0


def test_equal_input_gives_equal_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        written(tmp_path / name, sections(30))
    for file in ("statistics.json", "vocabulary.tsv"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


def _delete(name: str, directory: Path) -> None:
    (directory / name).unlink()


def _cut(directory: Path) -> None:
    path = directory / "vocabulary.tsv"
    path.write_bytes(path.read_bytes()[:-20])


def _other_version(directory: Path) -> None:
    path = directory / "statistics.json"
    about = json.loads(path.read_bytes())
    assert about["version"] == KEYWORD_VERSION
    path.write_text(json.dumps({**about, "version": "0"}), encoding="utf-8")


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda d: _delete("statistics.json", d), "statistics.json is missing"),
        (lambda d: _delete("vocabulary.tsv", d), "vocabulary.tsv is missing"),
        (lambda d: (d / "statistics.json").write_bytes(b"{"), "cannot be read"),
        (lambda d: (d / "statistics.json").write_bytes(b"[]"), "cannot be read"),
        (_cut, "cut short"),
        (_other_version, "has format 0"),
    ],
    ids=["no statistics", "no vocabulary", "half a file", "other json", "cut vocabulary", "other version"],
)
def test_damage_is_an_error_with_the_next_command(tmp_path: Path, damage: Callable[[Path], object], says: str) -> None:
    written(tmp_path, sections(5))
    damage(tmp_path)
    with pytest.raises(KeywordIndexError, match=says) as raised:
        Vocabulary(tmp_path)
    assert "rag-assets index --force" in str(raised.value)
