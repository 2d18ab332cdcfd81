"""Words of questions and of texts on one footing."""

from __future__ import annotations

import pytest

from rag_assets.answer.question_analysis import covered, query_terms_of, root, roots_of
from rag_assets.index.keyword.vocabulary import KnownTerm


@pytest.mark.parametrize(
    "words",
    [
        ("transfer", "transferred", "transferring", "transfers"),
        ("validate", "validated", "validation", "validating"),
        ("retry", "retried", "retries"),
        ("configure", "configured", "configures"),
        ("log", "logged", "logs"),
        ("try", "tried", "tries"),
        ("write", "written", "writing", "writes"),
        ("save", "saved", "saving"),
        ("vote", "voted", "voting", "votes"),
    ],
    ids=lambda words: words[0],
)
def test_forms_of_a_word_have_one_root(words: tuple[str, ...]) -> None:
    assert len({root(word) for word in words} | set()) == 1 or len(roots_of(" ".join(words))) == 1


@pytest.mark.parametrize(("one", "other"), [("order", "ordinal"), ("cat", "catalog"), ("class", "clause")])
def test_other_words_have_another(one: str, other: str) -> None:
    assert root(one) != root(other)


class Known(dict[str, KnownTerm]):
    """The terms of an index."""

    def find(self, term: str) -> KnownTerm | None:
        return self.get(term)

    def starting(self, beginning: str) -> list[str]:
        return sorted(term for term in self if term.startswith(beginning))


def test_only_telling_words_are_asked_for() -> None:
    known = Known(refund=KnownTerm(1, 2), order=KnownTerm(2, 50))
    found = query_terms_of("How does the class handle refunds of orders by fax?", known, 100)
    assert [(word.word, word.known) for word in found] == [
        ("handle", False), ("refund", True), ("order", True), ("fax", False)
    ]  # fmt: skip
    weights = {word.word: word.weight for word in found}
    assert weights["fax"] >= weights["refund"] > weights["order"]


def test_a_word_that_is_only_told_beside_a_question_counts_half() -> None:
    known = Known(refund=KnownTerm(1, 2), voucher=KnownTerm(2, 2), order=KnownTerm(3, 2))
    told = "Customers send their orders back, v2.1 too. When is a voucher worth more than the refund? They asked."
    weights = {word.word: word.weight for word in query_terms_of(told, known, 100)}
    assert weights["order"] == weights["refund"] / 2 and weights["voucher"] == weights["refund"]
    (order,) = query_terms_of("The orders. Which? Orders.", known, 100)
    assert order.weight == weights["order"]
    wrapped = "When is a voucher, e.g. an old one,\nworth more\nthan the refund?"
    weights = {word.word: word.weight for word in query_terms_of(wrapped, known, 100)}
    assert weights["voucher"] == weights["refund"]
    weights = {word.word: word.weight for word in query_terms_of("A voucher came. Show the refund.", known, 100)}
    assert weights["voucher"] == weights["refund"], "no sentence asks"


def test_pros_and_cons_count_less_than_what_has_them() -> None:
    known = Known(pro=KnownTerm(1, 2), con=KnownTerm(2, 2), ferry=KnownTerm(3, 2))
    weights = {word.root: word.weight for word in query_terms_of("What are the pros and cons of a ferry?", known, 100)}
    assert max(weights["pro"], weights["con"]) < weights[root("ferry")]


def test_words_without_content_are_not_asked_for() -> None:
    found = query_terms_of("what must nobody do unless he couldn't, and who may?", Known(), 100)
    assert not found
    found = query_terms_of("what is the difference between an order and a refund?", Known(), 100)
    assert {word.word for word in found} == {"order", "refund"}


@pytest.mark.parametrize(
    ("asked", "held"),
    [
        ("kept", "keep"),
        ("translated", "translate"),
        ("providing", "provider"),
        ("limits", "limit"),
        ("retries", "retry"),
        ("paged", "page"),
    ],
)
def test_a_word_is_known_in_another_form(asked: str, held: str) -> None:
    (word,) = query_terms_of(asked, Known({held: KnownTerm(1, 2)}), 100)
    assert word.known


def test_a_word_that_only_begins_alike_is_not() -> None:
    (word,) = query_terms_of("transaction", Known(translate=KnownTerm(1, 2), transport=KnownTerm(2, 2)), 100)
    assert not word.known


def test_coverage_is_a_share_of_the_weight() -> None:
    words = query_terms_of("refund order", Known(refund=KnownTerm(1, 1), order=KnownTerm(2, 90)), 100)
    assert covered(words, roots_of("public class RefundPolicy")) > 0.8
    assert covered(words, roots_of("RefundOrder")) == 1.0
    assert covered(words, frozenset()) == 0.0
    assert covered((), roots_of("x")) == 0.0
