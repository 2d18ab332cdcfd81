"""Which of the files that a question set expects an index has, and what the others may be called."""

from __future__ import annotations

import pytest

from rag_assets.evaluation.questions import EvalQuestion, QuestionSet
from rag_assets.evaluation.selection import FileCoverage, file_coverage
from rag_assets.suggestions import near_paths

PRESENT = {"src/Order.cs", "src/OrderService.cs", "docs/guide.md", "tests/Order.cs"}


def expected(*relevant: tuple[str, ...]) -> FileCoverage:
    questions = (EvalQuestion(id=str(n), question="?", relevant=own) for n, own in enumerate(relevant))
    return file_coverage(QuestionSet("set", tuple(questions)), PRESENT)


@pytest.mark.parametrize(
    ("relevant", "hopeless"),
    [
        ([("src/Order.cs",)], False),
        ([("a.cs",), ("b.cs",)], True),
        ([("a.cs",), ("b.cs", "path:docs/guide.md")], False),
        ([("a.cs",), ("symbol:Shop.Order",)], False),
        ([], False),
    ],
    ids=["there", "none there", "one of several", "a symbol may be", "no question"],
)
def test_only_a_set_without_any_answer_is_hopeless(relevant: list[tuple[str, ...]], hopeless: bool) -> None:
    assert expected(*relevant).hopeless is hopeless


def test_each_file_counts_once_and_some_are_likened() -> None:
    found = expected(("x/orderservice.cs", "src/Order.cs"), ("x/orderservice.cs", "docs/guides.md", "z"))
    assert (found.expected, found.missing) == (4, ("docs/guides.md", "x/orderservice.cs", "z"))
    assert found.near == {"docs/guides.md": "docs/guide.md", "x/orderservice.cs": "src/OrderService.cs"}


@pytest.mark.parametrize(
    ("wanted", "near"),
    [
        ("lib/order.CS", ["src/Order.cs", "tests/Order.cs"]),
        ("src/OrderServices.cs", ["src/OrderService.cs"]),
        ("OrderServise.cs", ["src/OrderService.cs"]),
        ("lib/deep/down/guides.md", ["docs/guide.md"]),
        ("zebra", []),
        ("", []),
    ],
)
def test_near_paths_are_namesakes_else_slips_in_the_path_or_in_the_name(wanted: str, near: list[str]) -> None:
    assert near_paths(wanted, sorted(PRESENT), 3) == near
