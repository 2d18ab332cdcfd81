"""Mining real repositories: which commit is the snapshot, and what came after it."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_assets.evaluation.mining import MiningError, chosen_snapshot, commit_at, later_commits, mine_after
from rag_assets.sources.git.git_history import GitHistory
from rag_assets.sources.open import open_snapshot
from rag_assets.sources.snapshot import Snapshot
from rag_assets_tests.git_repository import COMMIT_TIME, Repository

pytestmark = pytest.mark.rule("E24")
WORDS = ("refunds", "invoices", "vouchers", "parcels", "carts", "prices", "taxes", "returns", "coupons", "mails")


def opened(repository: Repository, ref: str | None = None) -> Snapshot:
    return open_snapshot(str(repository.path), ref=ref, mirrors=repository.path)


def past_of(repository: Repository) -> GitHistory:
    past = opened(repository).past()
    assert past is not None
    return past


@pytest.fixture
def shop(tmp_path: Path) -> tuple[Repository, list[str]]:
    """Ten commits, each about another file of those that the first one made; their ids, oldest first."""
    made = Repository.new(tmp_path / "shop")
    ids = [made.commit({f"src/{word}.cs": "class A { }\n" for word in WORDS}, "Begin with all files of the shop")]
    for number, word in enumerate(WORDS[1:]):
        ids.append(
            made.commit({f"src/{word}.cs": f"class A {{ int b{number}; }}\n"}, f"Count every one of them, no {word}x")
        )
    return made, ids


def test_only_commits_after_the_snapshot_are_asked(shop: tuple[Repository, list[str]]) -> None:
    repository, ids = shop
    found = mine_after(past_of(repository), opened(repository, ids[6]), 10)
    assert [question.commit for question in found.questions] == ids[7:], "the next one first"
    assert found.questions[0].relevant == ("src/returns.cs",)
    assert mine_after(past_of(repository), opened(repository, ids[6]), 2).questions == found.questions[:2]


def test_the_snapshot_is_as_new_as_the_wanted_number_allows(shop: tuple[Repository, list[str]]) -> None:
    repository, ids = shop
    assert chosen_snapshot(past_of(repository), 2) == ids[-4], "three commits that may give a question for two wanted"
    assert chosen_snapshot(past_of(repository), 1_000) == ids[4], "no further back than the middle"


def test_a_branch_that_was_merged_later_came_later(shop: tuple[Repository, list[str]]) -> None:
    repository, ids = shop
    repository.git("checkout", "--quiet", "-b", "side", ids[3])
    side = repository.commit({"src/mails.cs": "class B { }\n"}, "Send every mail once a day")
    repository.git("checkout", "--quiet", "main")
    repository.git("merge", "--quiet", "--no-ff", "-m", "Merge the side", "-X", "ours", "side")
    later = [commit.id for commit in later_commits(past_of(repository), ids[-1])]
    assert later == [side], "not reachable from the snapshot, though it is older than its head; the merge is none"


def test_secrets_in_subjects_do_not_get_into_the_set(shop: tuple[Repository, list[str]]) -> None:
    repository, ids = shop
    token = "ghp_" + "a1B2x9Qz7Lm4Kp0Rt6Vw3Yc8Jd5Hf2Gn1Sb9"
    repository.commit({"src/mails.cs": "class C { }\n"}, f"Send mails with {token} from now on")
    (question,) = mine_after(past_of(repository), opened(repository, ids[-1]), 10).questions
    assert token not in question.question and question.question.startswith("Send mails with")


def test_authors_that_are_programs(shop: tuple[Repository, list[str]]) -> None:
    repository, ids = shop
    (repository.path / "src/mails.cs").write_text("class D { }\n", encoding="utf-8")
    repository.git("commit", "-qam", "Send all mails in one go", "--author", "renovate[bot] <r@example.invalid>")
    with pytest.raises(MiningError, match=r"no commit after .* gives a question \(1 written by a program\)"):
        mine_after(past_of(repository), opened(repository, ids[-1]), 10)


def test_a_history_that_gives_nothing(tmp_path: Path) -> None:
    made = Repository.new(tmp_path / "one")
    head = made.commit({"a.cs": "class A { }\n"}, "Begin with the only file")
    with pytest.raises(MiningError, match="one commit only"):
        chosen_snapshot(past_of(made), 10)
    with pytest.raises(MiningError, match=r"gives a question \(none came\); choose an earlier --since"):
        mine_after(past_of(made), opened(made, head), 10)
    with pytest.raises(MiningError, match="no commit until 2001-01-01"):
        commit_at(past_of(made), "2001-01-01")


def test_a_date_is_the_last_commit_until_then(shop: tuple[Repository, list[str]]) -> None:
    repository, ids = shop
    assert COMMIT_TIME.startswith("2024-05-06")
    assert commit_at(past_of(repository), "2024-06-01") == ids[-1]
