"""Metrics against hand-worked values and a slow, obvious reference."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.evaluation.metrics import mean, measure, metric_name

pytestmark = pytest.mark.rule("E24")


def ranking(text: str) -> list[frozenset[str]]:
    """`a - bc`: the first file answers a, the second nothing, the third b and c."""
    return [frozenset(word.replace("-", "")) for word in text.split()]


HAND_WORKED = [
    # ranking, relevant, k → recall, hit, mrr, ndcg
    ("a", "a", 5, (1.0, 1.0, 1.0, 1.0)),
    ("- a", "a", 5, (1.0, 1.0, 1 / 2, 1 / math.log2(3))),
    ("- a", "a", 1, (0.0, 0.0, 1 / 2, 1 / math.log2(3))),
    ("- - -", "a", 5, (0.0, 0.0, 0.0, 0.0)),
    ("", "a", 5, (0.0, 0.0, 0.0, 0.0)),
    ("a - b", "ab", 5, (1.0, 1.0, 1.0, (1 + 1 / 2) / (1 + 1 / math.log2(3)))),
    ("a - b", "ab", 2, (1 / 2, 1.0, 1.0, (1 + 1 / 2) / (1 + 1 / math.log2(3)))),
    ("a a b", "ab", 3, (1.0, 1.0, 1.0, (1 + 1 / 2) / (1 + 1 / math.log2(3)))),  # a second answer gains nothing
    ("- ab", "ab", 2, (1.0, 1.0, 1 / 2, 1 / math.log2(3))),  # one file with both is the ideal, one rank too late
    ("- - - - - - - - - - a", "a", 20, (1.0, 1.0, 0.0, 0.0)),  # MRR and nDCG end at 10
]


@pytest.mark.parametrize(
    ("text", "relevant", "k", "expected"), HAND_WORKED, ids=[row[0] or "none" for row in HAND_WORKED]
)
def test_hand_worked(text: str, relevant: str, k: int, expected: tuple[float, ...]) -> None:
    found = measure(ranking(text), frozenset(relevant), k)
    assert list(found) == [f"recall@{k}", f"hit@{k}", "mrr@10", "ndcg@10"]
    assert tuple(found.values()) == pytest.approx(expected)


def test_a_question_without_answers_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one relevant"):
        measure([], frozenset(), 5)


def reference(files: list[frozenset[str]], relevant: frozenset[str], k: int) -> tuple[float, ...]:
    """By definition: the ideal is the best of all orders of these files and of one file per target not found."""

    def gained(order: list[frozenset[str]]) -> list[int]:
        return [len((f & relevant) - frozenset().union(*order[:at])) for at, f in enumerate(order)]

    def discounted(order: list[frozenset[str]]) -> float:
        return sum(gain / math.log2(at + 2) for at, gain in enumerate(gained(order)[:10]))

    first = [
        frozenset({t for t in f & relevant if t not in frozenset().union(*files[:i])}) for i, f in enumerate(files)
    ]
    missing = relevant - frozenset().union(*files)
    everything = [f for f in first if f] + [frozenset({target}) for target in sorted(missing)]
    best = max(discounted(list(order)) for order in itertools.permutations(everything))
    recall = len(frozenset().union(*files[:k]) & relevant) / len(relevant)
    ranks = [at for at, f in enumerate(files[:10], 1) if f & relevant]
    return recall, float(recall > 0), 1 / ranks[0] if ranks else 0.0, discounted(files) / best


TARGETS = st.frozensets(st.sampled_from("abcde"), max_size=3)


@given(st.lists(TARGETS, max_size=14), st.frozensets(st.sampled_from("abcde"), min_size=1), st.integers(1, 12))
def test_as_the_reference(files: list[frozenset[str]], relevant: frozenset[str], k: int) -> None:
    assert tuple(measure(files, relevant, k).values()) == pytest.approx(reference(files, relevant, k))


@given(st.lists(TARGETS, max_size=12), st.frozensets(st.sampled_from("abcde"), min_size=1), st.integers(1, 12))
def test_between_nothing_and_everything(files: list[frozenset[str]], relevant: frozenset[str], k: int) -> None:
    assert all(0.0 <= value <= 1.0 + 1e-12 for value in measure(files, relevant, k).values())


def test_means_are_over_questions() -> None:
    assert mean([{"recall@5": 1.0}, {"recall@5": 0.5}]) == {"recall@5": 0.75}
    assert mean([]) == {}


def test_recall_is_named_by_its_k_and_the_others_by_ten() -> None:
    assert [metric_name(name, 3) for name in ("recall", "hit", "mrr", "ndcg")] == [
        "recall@3",
        "hit@3",
        "mrr@10",
        "ndcg@10",
    ]
