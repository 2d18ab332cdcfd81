"""Citations: short ids that stay, one form in the answer, another for people (E19, R26)."""

from __future__ import annotations

import pytest

from rag_assets.answer.citations import (
    citations_of,
    cited_ids,
    marker,
    numbered,
    rendered,
    with_known_only,
    without_citations,
)
from rag_assets.contracts.evidence import citation_ids
from rag_assets_tests.answer.pieces import piece


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("It refunds. [chunk: aaaa1111]", ("aaaa1111",), id="one"),
        pytest.param(
            "A [chunk:aaaa1111] b [chunk: bbbb2222] [chunk: aaaa1111]", ("aaaa1111", "bbbb2222"), id="repeated"
        ),
        pytest.param("A [chunk: aaaa1111, bbbb2222; chunk: cccc3333]", ("aaaa1111", "bbbb2222", "cccc3333"), id="list"),
        pytest.param("A [chunk: ] [chunk] [source: x] [1]", (), id="none"),
        pytest.param("chunk: aaaa1111", (), id="without brackets"),
    ],
)
@pytest.mark.rule("E19")
def test_reading(text: str, expected: tuple[str, ...]) -> None:
    assert cited_ids(text) == expected


@pytest.mark.rule("R26")
def test_an_id_is_the_beginning_of_a_point_id_that_no_other_has() -> None:
    ids = [f"12345678-0000-5000-8000-00000000000{at}" for at in range(3)] + ["99999999-0000-5000-8000-000000000000"]
    made = citation_ids(ids)
    assert made[ids[3]] == "99999999"
    assert len(set(made.values())) == 4
    assert all(point.startswith(short) for point, short in made.items())
    assert citation_ids(reversed(ids)) == made


@pytest.mark.rule("R26")
def test_a_citation_is_rendered_as_path_lines_commit() -> None:
    (found,) = citations_of("It refunds. [chunk: aaaa1111]", [piece()])
    assert found.rendered == "src/Orders/OrderService.cs:3-22@cccccccccc"


def test_an_id_of_nothing_is_no_citation() -> None:
    assert citations_of("It refunds. [chunk: dddd4444]", [piece()]) == ()


def test_numbers_for_people() -> None:
    text = f"A. {marker('aaaa1111')} B. {marker('bbbb2222')}"
    evidence = [piece(), piece(identifier="bbbb2222", path="b.cs")]
    known = numbered(citations_of(text, evidence))
    assert rendered(text, lambda one: str(known[one])) == "A. [1] B. [2]"
    assert rendered(text, lambda one: None) == text


def test_merged_sections_are_one_source() -> None:
    merged = piece(ids=("aaaa1111", "bbbb2222"))
    found = citations_of("A. [chunk: aaaa1111] B. [chunk: bbbb2222]", [merged])
    assert numbered(found) == {"aaaa1111": 1, "bbbb2222": 1}


@pytest.mark.rule("E19")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("It pays [chunk: dead0000].", "It pays.", id="unknown"),
        pytest.param("It pays [chunk: aaaa1111, dead0000].", "It pays [chunk: aaaa1111].", id="one of two"),
        pytest.param("It pays [chunk:aaaa1111].", "It pays [chunk:aaaa1111].", id="known, as it is written"),
        pytest.param("It pays [Chunk: aaaa1111].", "It pays.", id="in capitals"),
        pytest.param("It pays 【chunk: aaaa1111】.", "It pays.", id="other brackets"),
        pytest.param("It pays [chunk: the secret one!].", "It pays.", id="no id"),
        pytest.param("It pays [chunk] and xs[chunk: ", "It pays [chunk] and xs[chunk: ", id="no mark"),
    ],
)
def test_what_only_looks_like_a_citation_is_taken_out(text: str, expected: str) -> None:
    assert with_known_only(text, {"aaaa1111"}) == expected


def test_text_without_its_citations() -> None:
    assert without_citations("It refunds [chunk: aaaa1111], always [chunk: b].") == "It refunds, always."
