"""What several indexes know is told as one list."""

import pytest

from rag_assets.answer.asked import together
from rag_assets.answer.graph_facts import GraphFact, GraphFacts
from rag_assets.answer.plans.code_lines import list_heading


@pytest.mark.parametrize(
    ("counts", "heading"),
    [
        ((1, 1), "**2 entities:**"),
        ((3, 2), "**5 entities:**"),
        ((0, 1), "**1 entity:**"),
        ((2, 0, 1), "**3 entities:**"),
    ],
)
def test_the_heading_of_a_list_counts_what_all_indexes_know(counts: tuple[int, ...], heading: str) -> None:
    known = []
    for index, count in enumerate(counts):
        facts = tuple(GraphFact(f"E{at}", "", "", f"{index}.cs", at, certain=True) for at in range(count))
        known.append((GraphFacts(facts, count, list_heading("entity", count)), dict.fromkeys(facts, "point")))
    told, _ = together(known)
    assert (told.heading, told.total) == (heading, sum(counts))
