"""Semantic search looks at its candidates again: by their outlines and by the nearest passage of their source."""

from __future__ import annotations

from typing import Any

import pytest

from rag_assets.index.vectors.vector_api import ScoredPoint
from rag_assets.models.static_code.embedder import StaticEmbedder
from rag_assets.search.passage_scores import PASSAGE, by_passages, passages_of
from rag_assets.search.ranking.penalties import DEMOTION, BesideProduct

_FILLER = "    total = total + line.Amount * line.Quantity;\n" * 20


@pytest.fixture(scope="module")
def questions(tmp_path_factory: pytest.TempPathFactory) -> StaticEmbedder:
    return StaticEmbedder.load(tmp_path_factory.mktemp("cache"), for_questions=True)


def test_passages_are_whole_lines_and_all_of_the_source() -> None:
    source = _FILLER + "}"
    made = passages_of(source)
    assert "".join(made) == source
    assert all(PASSAGE <= len(passage) < PASSAGE + 60 and passage.endswith("\n") for passage in made[:-1])
    assert passages_of("") == []
    assert passages_of("x" * 1000) == ["x" * 1000]  # one line


def payload(path: str, snippet: str) -> dict[str, Any]:
    return {"Path": path, "Symbol": "Shop.Orders", "FinderSnippet": snippet}


def test_what_only_the_source_says_decides(questions: StaticEmbedder) -> None:
    """Two sections with the same outline: one does what is asked for, in the middle of a long method."""
    dense = [ScoredPoint("a", 0.5), ScoredPoint("b", 0.5)]
    payloads = {one: payload("src/Orders.cs", "class Orders: Submit(Order order)") for one in ("a", "b")}
    retries = "    while (attempts < 3) { try { smtp.Send(mail); break; } catch { attempts++; Wait(); } }\n" * 3
    sources = {"a": _FILLER + _FILLER, "b": _FILLER + retries + _FILLER}
    question = questions.embed(["send the mail again when smtp fails, retry three attempts"])[0]
    found = by_passages(question, dense, payloads, sources, questions.for_texts, frozenset())
    assert [one.id for one in found] == ["b", "a"]
    best = found[0].scores
    assert best["passage"] > best["outline"] == pytest.approx(found[1].scores["outline"])
    assert found[0].score == pytest.approx((best["outline"] + best["passage"]) / 2)
    assert best["dense"] == 0.5


def test_a_candidate_without_payload_or_source_keeps_what_is_known(questions: StaticEmbedder) -> None:
    dense = [ScoredPoint("gone", 0.4), ScoredPoint("a", 0.3)]
    question = questions.embed(["orders"])[0]
    found = {
        one.id: one
        for one in by_passages(
            question, dense, {"a": payload("src/A.cs", "class Orders")}, {}, questions.for_texts, frozenset()
        )
    }
    assert (found["gone"].score, found["gone"].scores) == (0.4, {"dense": 0.4})
    assert found["a"].scores["passage"] == found["a"].scores["outline"]


@pytest.mark.parametrize(("sides", "factor"), [((), DEMOTION), ((BesideProduct.TEST,), 1.0)])
def test_tests_come_later_unless_they_are_asked_for(
    questions: StaticEmbedder, sides: tuple[BesideProduct, ...], factor: float
) -> None:
    question = questions.embed(["orders"])[0]
    payloads = {"a": payload("tests/OrdersTests.cs", "class Orders")}
    found = by_passages(question, [ScoredPoint("a", 0.5)], payloads, {}, questions.for_texts, sides)[0]
    assert found.score == pytest.approx(factor * found.scores["outline"])
