"""A context never exceeds its budget, and names what it could not hold (D22, D23, E13, R24)."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from rag_assets.answer.token_budget import BudgetError, named_within, pack
from rag_assets.contracts.evidence import Evidence, EvidenceForm
from rag_assets_tests.answer.pieces import SERVICE, piece


def characters(texts: Sequence[str]) -> list[int]:
    return [len(text) for text in texts]


def many(count: int) -> list[Evidence]:
    return [
        piece(
            SERVICE.replace("OrderService", f"Service{at}") * (1 + at % 3),
            f"{at:08x}",
            symbol=f"Shop.Service{at}",
            path=f"src/Service{at}.cs",
            node_keys=(f"csharp:Shop.Service{at}|TYPE",),
            score=1 / (1 + at),
        )
        for at in range(count)
    ]


def test_everything_is_whole_where_there_is_room() -> None:
    made = pack(many(3), 100_000, characters)
    assert [packed.form for packed in made.pieces] == [EvidenceForm.WHOLE] * 3
    assert made.left_out == ()
    assert made.tokens == len(made.text)


@pytest.mark.rule("D22", "D23", "R24")
@pytest.mark.parametrize("budget", [1, 150, 400, 1_000, 2_500, 6_000, 20_000])
def test_the_budget_holds_and_what_fits_is_named(budget: int) -> None:
    evidence = many(12)
    made = pack(evidence, budget, characters)
    assert len(made.text) <= budget
    assert len(made.pieces) + len(made.left_out) == 12
    for packed in made.pieces:
        assert f'id="{packed.evidence.id}"' in made.text
        if packed.form is EvidenceForm.NAME:
            assert packed.evidence.node_keys[0] in made.text
        else:
            assert packed.evidence.name in packed.block


@pytest.mark.rule("D23")
def test_signatures_come_before_anything_is_left_out() -> None:
    evidence = many(6)
    whole = len(pack(evidence, 100_000, characters).text)
    made = pack(evidence, whole * 2 // 3, characters)
    assert made.left_out == ()
    assert {packed.form for packed in made.pieces} > {EvidenceForm.WHOLE}


def test_the_best_piece_is_the_last_to_shrink() -> None:
    evidence = [piece(identifier="bbbb2222", path="b.cs", score=0.2), piece(score=1.0)]
    whole = len(pack(evidence[1:], 100_000, characters).text)
    made = pack(evidence, whole + 150, characters)
    assert {packed.evidence.id: packed.form for packed in made.pieces}["aaaa1111"] is EvidenceForm.WHOLE


def test_the_order_of_the_evidence_decides_nothing() -> None:
    evidence = many(10)
    shuffled = list(evidence)
    random.Random(7).shuffle(shuffled)
    assert pack(evidence, 2_000, characters) == pack(shuffled, 2_000, characters)


def test_a_tokenizer_that_finds_more_in_the_whole_than_in_the_parts() -> None:
    def greedy(texts: Sequence[str]) -> list[int]:
        return [len(text) + 30 * text.count("</evidence>\n<evidence") for text in texts]

    made = pack(many(8), 3_000, greedy)
    assert greedy([made.text])[0] <= 3_000


def test_no_evidence_is_an_empty_context() -> None:
    made = pack([], 100, characters)
    assert (made.text, made.tokens, made.pieces) == ("", 0, ())


@pytest.mark.parametrize("budget", [0, -1])
def test_a_budget_that_is_none(budget: int) -> None:
    with pytest.raises(BudgetError, match="at least 1 token"):
        pack(many(1), budget, characters)


@pytest.mark.rule("D23")
@pytest.mark.parametrize("budget", [1, 100, 150, 400, 1_000, 2_500, 6_000, 100_000])
@pytest.mark.parametrize("keys", [1, 40])
def test_what_quotes_are_made_from_is_what_a_context_would_name(budget: int, keys: int) -> None:
    """Without the context: nobody reads one where no model answers."""
    nodes = tuple(f"csharp:Shop.Service.Method{at}|METHOD" for at in range(keys))
    evidence = [replace(one, node_keys=nodes * (at % 3)) for at, one in enumerate(many(12))]
    kept = pack(evidence, budget, characters)
    assert named_within(evidence, budget, characters) == kept.evidence
    assert budget > 1 or not kept.evidence


def test_what_shows_a_fact_is_quoted_where_the_names_of_better_pieces_take_the_room() -> None:
    evidence = [replace(one, via="Service declares") if at >= 6 else one for at, one in enumerate(many(12))]
    kept = named_within(evidence, 500, characters)
    assert {one.id for one in kept if one.via} == {one.id for one in evidence if one.via} and len(kept) > 6
