"""Which questions an index is asked: its own repository, marked and left out leaks."""

from __future__ import annotations

import pytest

from rag_assets.evaluation.questions import EvalQuestion, QuestionSet, QuestionSetError
from rag_assets.evaluation.selection import KNOWN, about, marked, name_of_address, without_leaky, written_for_another
from rag_assets_tests.evaluation.made_runs import manifest

pytestmark = pytest.mark.rule("E24")
COMMIT = "c" * 40  # that of the manifest


def question(repository: str = "", **changes: object) -> EvalQuestion:
    values = {"id": repository or "any", "question": "q", "relevant": ("a.cs",), "repository": repository}
    return EvalQuestion(**(values | changes))  # type: ignore[arg-type]


def names(found: QuestionSet) -> list[str]:
    return [one.id for one in found.questions]


@pytest.mark.parametrize(
    ("remote", "name", "kept"),
    [
        pytest.param("https://example.org/acme/shop.git", "", ["acme/shop", "any"], id="address"),
        pytest.param("git@example.org:Acme/Shop.git", "", ["acme/shop", "any"], id="ssh, other case"),
        pytest.param("https://example.org/fork/shop", "", ["acme/shop", "any"], id="fork"),
        pytest.param("", "", ["acme/shop", "any"], id="id of the repository"),
        pytest.param("", "acme/web", ["acme/web", "any"], id="named"),
        pytest.param("", "web", ["acme/web", "any"], id="named in short"),
    ],
)
def test_questions_about_the_repository_and_about_any(remote: str, name: str, kept: list[str]) -> None:
    asked = QuestionSet("set", (question("acme/shop"), question("acme/web"), question()))
    assert names(about(asked, manifest(remote_url=remote), name)) == kept


def test_a_set_for_another_repository_is_an_error_that_names_those_it_is_for() -> None:
    asked = QuestionSet("set", (question("acme/web"), question("acme/mail")))
    with pytest.raises(QuestionSetError, match=r"no question is about shop; .* acme/web, acme/mail; .*--repository"):
        about(asked, manifest())
    with pytest.raises(QuestionSetError, match="no question is about x"):
        about(asked, manifest(), "x")


def test_two_that_may_be_meant_are_not_guessed() -> None:
    asked = QuestionSet("set", (question("acme/shop"), question("other/shop")))
    with pytest.raises(QuestionSetError, match="acme/shop and other/shop may be meant"):
        about(asked, manifest())
    assert names(about(asked, manifest(remote_url="https://example.org/other/shop"))) == ["other/shop"]


@pytest.mark.parametrize("of", ["revision", "commit"])
def test_a_commit_says_more_than_a_name(of: str) -> None:
    asked = QuestionSet("set", (question("local-name", **{of: COMMIT}), question("acme/web")))
    assert names(about(asked, manifest())) == ["local-name"]
    older = QuestionSet("set", (question("local-name", **{of: "e" * 40}),))
    assert names(about(older, manifest(), knows=lambda commit: commit == "e" * 40)) == ["local-name"]
    with pytest.raises(QuestionSetError):
        about(older, manifest())


def test_questions_of_known_commits_are_marked_and_can_be_left_out() -> None:
    known, fair = question(id="known", commit="1" * 40, tags=("commit",)), question(id="fair", commit="2" * 40)
    leaky = question(id="leaky", tags=("leaky",))
    before = QuestionSet("set", (known, fair, leaky))
    found = marked(before, lambda commit: commit == "1" * 40)
    assert found.fingerprint == before.fingerprint
    assert [one.tags for one in found.questions] == [("commit", KNOWN), (), ("leaky",)]
    assert marked(found, lambda commit: commit == "1" * 40) == found
    kept = without_leaky(found)
    assert (names(kept), kept.name) == (["fair"], "set-without-leaky")
    with pytest.raises(QuestionSetError, match="every question is leaky"):
        without_leaky(QuestionSet("set", (leaky,)))


def test_the_commit_that_a_set_was_written_for() -> None:
    assert written_for_another(QuestionSet("set", (question(), question(revision=COMMIT[:10]))), COMMIT) == ""
    assert written_for_another(QuestionSet("set", (question(revision="e" * 40),)), COMMIT) == "e" * 40


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("https://example.org/a/b.git", "a/b"),
        ("git@example.org:a/b", "a/b"),
        ("C:\\x\\y\\", "x/y"),
        ("", ""),
        ("b", ""),
    ],
)
def test_names_of_addresses(address: str, name: str) -> None:
    assert name_of_address(address) == name
