"""Questions from commits: what gives one, what does not and why, and what names its own answer."""

from __future__ import annotations

from typing import Any

import pytest

from rag_assets.evaluation.mining import LaterCommit, LeftOut, mined, spells_an_answer
from rag_assets.sources.git.git_history import Commit

pytestmark = pytest.mark.rule("E24")
SNAPSHOT = ["src/Refund.cs", "src/Money.cs", "src/OrderService.cs", "tests/RefundTests.cs", "README.md"]
SUBJECT = "Round what customers get back"


def commit(subject: str = SUBJECT, *paths: str, number: int = 1, author: str = "A <a@b.c>", **past: Any) -> LaterCommit:
    return LaterCommit(id=f"{number:040x}", author=author, past=Commit(subject, paths or ("src/Refund.cs",), **past))


def test_the_row_is_of_the_history_form() -> None:
    (question,) = mined([commit(SUBJECT, "src/Refund.cs", "src/Money.cs", "tests/RefundTests.cs")], SNAPSHOT).questions
    assert question.row("acme/shop", "b" * 40) == {
        "id": "acme/shop#c-0000000000",
        "repo": "acme/shop",
        "snapshot_rev": "b" * 40,
        "type": "commit",
        "query": SUBJECT,
        "relevant": ["src/Money.cs", "src/Refund.cs"],
        "leaky": False,
        "commit": f"{1:040x}",
    }


LEFT_OUT = [
    pytest.param(commit("Merge branch main into feature"), LeftOut.MERGE, id="merge"),
    pytest.param(commit("Merged PR 12: rounds refunds up"), LeftOut.MERGE, id="merged"),
    pytest.param(commit('Revert "Round what customers get back"'), LeftOut.REVERT, id="revert"),
    pytest.param(commit(author="dependabot[bot] <x@y.z>"), LeftOut.BOT, id="bot"),
    pytest.param(commit(author="Renovate <renovate@whitesource.com>"), LeftOut.BOT, id="bot without brackets"),
    pytest.param(commit("Bump Serilog from 2.1 to 2.2"), LeftOut.VERSION, id="bump"),
    pytest.param(commit("chore(deps): update all the things"), LeftOut.VERSION, id="dependencies"),
    pytest.param(commit("Update dependency xunit to v3"), LeftOut.VERSION, id="update of a dependency"),
    pytest.param(commit("v2.3.1 is out at last"), LeftOut.VERSION, id="release"),
    pytest.param(commit("Prepare for release of the shop"), LeftOut.VERSION, id="preparation"),
    pytest.param(commit("Fix build"), LeftOut.SHORT, id="two words"),
    pytest.param(commit("fix(refunds): it 12 34"), LeftOut.SHORT, id="two words behind a prefix"),
    pytest.param(commit(SUBJECT, *(f"src/{n}.cs" for n in range(6))), LeftOut.MASS, id="six source files"),
    pytest.param(commit(SUBJECT, "src/Refund.cs", *(f"d/{n}.md" for n in range(30))), LeftOut.MASS, id="many files"),
    pytest.param(commit(SUBJECT, "README.md"), LeftOut.NO_SOURCE, id="documents"),
    pytest.param(commit(SUBJECT, "tests/RefundTests.cs"), LeftOut.NO_SOURCE, id="tests"),
    pytest.param(commit(SUBJECT, "src/New.cs"), LeftOut.NEW, id="a newer file"),
    pytest.param(commit("Round up in refund.cs again"), LeftOut.NAMED, id="the file is named"),
]


@pytest.mark.parametrize(("given", "reason"), LEFT_OUT)
def test_what_gives_no_question(given: LaterCommit, reason: LeftOut) -> None:
    found = mined([given], SNAPSHOT)
    assert (found.questions, dict(found.left_out)) == ((), {reason: 1})


@pytest.mark.parametrize(
    "subject",
    [
        "Remerge of the carts of a customer",
        "Allow versions of a price list",
        "Robots may not order anything",
        "Use releases of the pool of connections",
    ],
)
def test_words_that_only_look_like_those_of_tools(subject: str) -> None:
    assert len(mined([commit(subject)], SNAPSHOT).questions) == 1


@pytest.mark.parametrize(
    ("subject", "question"),
    [
        ("fix(refund)!: round what is paid back (#123)", "round what is paid back"),
        ("[web] round what is paid back", "round what is paid back"),
        ("GH-12: round what is paid back", "round what is paid back"),
        ("OrderPolicy: round what is paid back", "OrderPolicy: round what is paid back"),
    ],
)
def test_what_is_written_for_tools_is_no_part_of_the_question(subject: str, question: str) -> None:
    assert [one.question for one in mined([commit(subject)], SNAPSHOT).questions] == [question]


def test_files_are_named_as_the_snapshot_names_them() -> None:
    """Newest first: moved twice, then changed."""
    moved = commit(SUBJECT, "lib/Back.cs", number=1, moved=(("src/Refund.cs", "lib/Back.cs"),))
    again = commit("Pay at once from now on", "lib/Payback.cs", number=2, moved=(("lib/Back.cs", "lib/Payback.cs"),))
    last = commit("Ask twice before it is paid", "lib/Payback.cs", number=3)
    found = mined([last, again, moved], SNAPSHOT).questions
    assert [one.commit[-1] for one in found] == ["1", "2", "3"], "oldest first"
    assert {one.relevant for one in found} == {("src/Refund.cs",)}


def test_a_subject_of_several_commits_asks_for_none_of_them() -> None:
    found = mined([commit(number=1), commit(f"{SUBJECT.upper()} (#3)", "src/Money.cs", number=2)], SNAPSHOT)
    assert (found.questions, dict(found.left_out)) == ((), {LeftOut.REPEATED: 2})


@pytest.mark.parametrize(
    ("question", "path", "spelled"),
    [
        ("OrderService forgets customers", "src/OrderService.cs", True),
        ("the order service forgets customers", "src/OrderService.cs", True),
        ("order_service forgets", "src/OrderService.cs", True),
        ("OrderServiceTests are slow", "src/OrderService.cs", True),
        ("the order of a service call", "src/OrderService.cs", False),
        ("have llm client stream", "src/ILLMClient.cs", True),
        ("refunds are rounded", "src/Refund.cs", True),
        ("catalog is slow", "src/Log.cs", False),
        ("checkout of baskets", "src/Basket.cshtml.cs", True),
        ("anything at all", "src/__init__.py", False),
    ],
)
def test_questions_that_spell_the_name_of_their_answer(question: str, path: str, spelled: bool) -> None:
    assert spells_an_answer(question, ["src/Other.cs", path]) is spelled


def test_the_same_history_gives_the_same_questions() -> None:
    commits = [commit(f"{SUBJECT} {word}", number=n) for n, word in enumerate(("twice", "again", "never"))]
    assert mined(commits, SNAPSHOT) == mined(commits, reversed(SNAPSHOT))  # type: ignore[arg-type]
