"""BM25F weights against slow, obvious references: a dot product is the exact score."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from rag_assets.index.keyword import FIELDS, K1, Field
from rag_assets.index.keyword.bm25f import (
    KeywordStatistics,
    SparseRows,
    assigned_indices,
    count_terms,
    hashes_of,
    merge_statistics,
    statistics_of,
    weights,
)
from rag_assets.index.keyword.terms import name_terms, runs, word_terms
from rag_assets.index.keyword.vocabulary import inverse_document_frequency
from rag_assets_tests.index.keyword.corpus import WORDS, sections

FLOAT32 = 1e-6  # relative error of weights kept as float32


def terms_of(section: dict[str, str], field: Field) -> list[str]:
    split = name_terms if field.declares else word_terms
    return [term for run in runs(section.get(field.name, "")) for term in split(run)]


def reference_scores(corpus: list[dict[str, str]], term: str, fields: tuple[Field, ...]) -> list[float]:
    """BM25F of one term as the paper writes it, section by section."""
    bags = [{field.name: terms_of(section, field) for field in fields} for section in corpus]
    containing = sum(any(term in bag for bag in section.values()) for section in bags)
    idf = math.log(1 + (len(bags) - containing + 0.5) / (containing + 0.5))
    scores = []
    for section in bags:
        pseudo = 0.0
        for field in fields:
            average = rounded(sum(len(other[field.name]) for other in bags) / len(bags))
            if section[field.name]:
                length = 1 - field.b + field.b * len(section[field.name]) / average
                pseudo += field.weight * section[field.name].count(term) / length
        scores.append(idf * pseudo / (K1 + pseudo))
    return scores


def rounded(average: float) -> float:
    """The nearest of eight steps an octave, found by trying."""
    steps = [2 ** (step / 8) for step in range(-80, 160)]
    return min(steps, key=lambda step: abs(math.log2(step) - math.log2(average)))


def scores_of(rows: SparseRows, statistics: KeywordStatistics, indices: dict[str, int], term: str) -> list[float]:
    """Query weight (the idf) times section weight, section by section."""
    idf = inverse_document_frequency(statistics.sections, statistics.document_frequencies[term])
    found = []
    for row in range(len(rows)):
        own, values = rows[row]
        found.append(idf * float(values[own == indices[term]].sum()))
    return found


def built(
    corpus: list[dict[str, str]], fields: tuple[Field, ...] = FIELDS
) -> tuple[SparseRows, KeywordStatistics, dict[str, int]]:
    counts = count_terms(corpus, fields)
    statistics = statistics_of(counts)
    indices = assigned_indices(hashes_of(statistics.document_frequencies))[0]
    return weights(counts, statistics.average_lengths(fields), indices, fields), statistics, indices


@pytest.mark.parametrize(
    "fields",
    [FIELDS, (Field("body", 1.0, 0.75),), (Field("names", 3.0, 0.0, declares=True), Field("body", 0.5, 1.0))],
    ids=["all fields", "one field", "b of 0 and 1"],
)
def test_weights_are_the_bm25f_scores(fields: tuple[Field, ...]) -> None:
    corpus = sections(60, fields=fields)
    rows, statistics, indices = built(corpus, fields)
    assert len(rows) == len(corpus)
    for term in statistics.document_frequencies:
        assert scores_of(rows, statistics, indices, term) == pytest.approx(
            reference_scores(corpus, term, fields), rel=FLOAT32
        )


def test_one_field_is_bm25_as_rank_bm25_computes_it() -> None:
    rank_bm25 = pytest.importorskip("rank_bm25", reason="the reference implementation is a development extra")
    field = Field("body", 1.0, 0.75)
    corpus = [section for section in sections(60, fields=(field,)) if section.get("body")]
    corpus = [{"body": section["body"]} for section in corpus]
    rows, statistics, indices = built(corpus, (field,))
    oracle = rank_bm25.BM25Okapi([terms_of(section, field) for section in corpus], k1=K1, b=field.b)
    oracle.avgdl = statistics.average_length("body")  # rounded
    for term, containing in statistics.document_frequencies.items():
        oracle.idf = {term: math.log(1 + (len(corpus) - containing + 0.5) / (containing + 0.5))}  # Lucene's
        expected = oracle.get_scores([term]) / (K1 + 1)  # the constant factor Lucene left out, too
        assert scores_of(rows, statistics, indices, term) == pytest.approx(expected.tolist(), rel=FLOAT32)


def test_weights_are_positive_and_indices_ascend() -> None:
    rows, _, _ = built(sections(40))
    for row in range(len(rows)):
        indices, values = rows[row]
        assert (values > 0).all()
        assert (np.diff(indices.astype(np.int64)) > 0).all()
        assert indices.dtype == np.uint32
        assert values.dtype == np.float32


def test_counts_are_those_of_a_counter() -> None:
    corpus = sections(25)
    counts = count_terms(corpus)
    assert counts.vocabulary == tuple(sorted(set(counts.vocabulary)))
    for number, section in enumerate(corpus):
        entries = slice(counts.offsets[number], counts.offsets[number + 1])
        for column, field in enumerate(FIELDS):
            expected = Counter(terms_of(section, field))
            assert counts.lengths[number, column] == expected.total()
            for term, frequency in zip(counts.terms[entries], counts.frequencies[entries, column], strict=True):
                assert expected[counts.vocabulary[term]] == frequency


@pytest.mark.parametrize("corpus", [[], [{}], [{}, {"body": ""}, {"body": "..."}]], ids=["none", "no field", "no term"])
def test_sections_without_terms_have_no_weights(corpus: list[dict[str, str]]) -> None:
    rows, statistics, indices = built(corpus)
    assert len(rows) == len(corpus)
    assert statistics.sections == len(corpus)
    assert not indices
    assert not len(rows.values)


def test_an_unknown_field_is_refused_by_name() -> None:
    with pytest.raises(KeyError, match="bodi"):
        count_terms([{"bodi": "x"}])


@pytest.mark.parametrize("size", [1, 7, 60], ids=["one by one", "sevens", "at once"])
def test_buckets_do_not_change_a_weight(size: int) -> None:
    corpus = sections(60)
    whole, statistics, indices = built(corpus)
    parts = [count_terms(corpus[start : start + size]) for start in range(0, len(corpus), size)]
    merged = merge_statistics(statistics_of(part) for part in parts)
    assert merged == statistics
    assert merge_statistics(statistics_of(part) for part in reversed(parts)) == statistics
    made = [weights(part, merged.average_lengths(), indices) for part in parts]
    assert np.concatenate([rows.values for rows in made]).tobytes() == whole.values.tobytes()
    assert np.concatenate([rows.indices for rows in made]).tobytes() == whole.indices.tobytes()


def test_term_indices_depend_on_the_set_of_terms_only() -> None:
    assert assigned_indices(hashes_of(WORDS))[0] == assigned_indices(hashes_of(reversed(WORDS)))[0]
    assert assigned_indices({})[0] == {}


def test_equal_hashes_get_different_indices() -> None:
    """Found by search: these two terms have one 32-bit hash. The smaller keeps it, also in other company."""
    first, second = "t15385", "t210367"
    both = assigned_indices(hashes_of([second, first]))[0]
    assert len(set(both.values())) == 2
    assert both[first] == hashes_of([first])[first] == hashes_of([second])[second]
    assert assigned_indices(hashes_of([*WORDS, second, first]))[0][second] == both[second]


def test_a_term_everywhere_still_scores() -> None:
    rows, statistics, indices = built([{"body": "public"}] * 5)
    assert min(scores_of(rows, statistics, indices, "public")) > 0


def test_a_section_more_changes_no_weight_of_the_others() -> None:
    """What makes a commit cost its own files only: idf belongs to the query, average lengths are rounded."""
    corpus = sections(400)  # no average length lies at a step
    before, *_ = built(corpus)
    after, *_ = built([*corpus, {"body": "a new section about orders"}])
    assert [before[row][1].tobytes() for row in range(400)] == [after[row][1].tobytes() for row in range(400)]


@pytest.mark.parametrize("average", [0.3, 1.0, 7.9, 8.1, 63.0, 1500.0])
def test_average_lengths_are_rounded_a_little(average: float) -> None:
    found = KeywordStatistics(1000, {"body": round(average * 1000)}, {}).average_length("body")
    assert found == pytest.approx(rounded(average))
    assert found == pytest.approx(average, rel=0.045)


def test_a_section_of_several_pieces_counts_as_often_as_its_terms_do() -> None:
    """A term is in at most as many pieces as it occurs; lengths are those of whole sections."""
    counts = count_terms([{"body": "refund refund refund order"}, {"body": "refund"}])
    known = statistics_of(counts, pieces=np.array([2, 1]))
    assert (known.sections, known.total_lengths["body"]) == (3, 5)
    assert known.document_frequencies == {"refund": 3, "order": 1}
