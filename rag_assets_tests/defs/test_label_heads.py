"""Which labels are looked after, and at which commit they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_assets.defs.automation.git_heads import remember, survey_heads
from rag_assets.index.labels import repository_of
from rag_assets_tests.defs.conftest import Automated
from rag_assets_tests.git_repository import Repository

SECRET = "s3cr3t-token"


def heads(automated: Automated) -> dict[str, str]:
    return {head.label: head.commit for head in survey_heads(automated.settings, automated.home).heads}


def as_url(repository: Repository) -> str:
    return f"file://{repository.path.as_posix()}"


@pytest.mark.parametrize("remote", [False, True], ids=["path", "URL"])
class TestOneRepository:
    def made(self, automated: Automated, remote: bool, **entry: str) -> Repository:
        repository = automated.repository("shop", **entry)
        if remote:
            automated.entries[0]["location"] = as_url(repository)
        return repository

    def test_without_a_ref_it_is_the_default_branch(self, automated: Automated, remote: bool) -> None:
        repository = self.made(automated, remote)
        assert heads(automated) == {"shop@main": repository.git("rev-parse", "HEAD")}

    def test_with_a_ref_it_is_that(self, automated: Automated, remote: bool) -> None:
        repository = self.made(automated, remote, ref="dev")
        repository.git("branch", "dev")
        old = repository.git("rev-parse", "HEAD")
        repository.commit({"a.md": "# New\n"})
        assert heads(automated) == {"shop@dev": old}

    def test_a_ref_that_was_indexed_once_is_looked_after(self, automated: Automated, remote: bool) -> None:
        repository = self.made(automated, remote)
        repository.git("branch", "dev")
        automated.register("shop", "dev")
        assert set(heads(automated)) == {"shop@dev", "shop@main"}
        repository.git("branch", "-D", "dev")
        survey = survey_heads(automated.settings, automated.home)
        assert [gone.label for gone in survey.gone] == ["shop@dev"]
        assert [head.label for head in survey.heads] == ["shop@main"]

    def test_an_annotated_tag_is_its_commit(self, automated: Automated, remote: bool) -> None:
        repository = self.made(automated, remote, ref="v1")
        repository.git("tag", "-a", "v1", "-m", "one")
        assert heads(automated) == {"shop@v1": repository.git("rev-parse", "HEAD")}

    def test_an_empty_repository_has_lost_nothing(self, automated: Automated, remote: bool) -> None:
        """A failed or empty answer is not a list of deleted branches."""
        repository = self.made(automated, remote)
        automated.register("shop", "main")
        repository.git("update-ref", "-d", "refs/heads/main")
        survey = survey_heads(automated.settings, automated.home)
        assert (survey.heads, survey.gone) == ((), ())
        assert "no commit yet" in survey.problems()[0]

    def test_what_looks_like_a_commit_is_no_deleted_branch(self, automated: Automated, remote: bool) -> None:
        self.made(automated, remote)
        automated.register("shop", "0123abcd")
        survey = survey_heads(automated.settings, automated.home)
        assert survey.gone == ()
        assert survey.unanswered[0].labels == ("shop@0123abcd",)


def test_one_that_cannot_be_reached_does_not_stop_the_others_and_shows_no_credentials(automated: Automated) -> None:
    automated.configure("away", f"http://user:{SECRET}@127.0.0.1:9/team/away.git", ref="main")
    automated.configure("nowhere", str(automated.folder / "nowhere"))
    repository = automated.repository("shop")
    survey = survey_heads(automated.settings, automated.home)
    assert [(head.label, head.commit) for head in survey.heads] == [("shop@main", repository.git("rev-parse", "HEAD"))]
    assert {silent.repository_id: silent.labels for silent in survey.unanswered} == {
        "away": ("away@main",),
        "nowhere": (),
    }
    assert SECRET not in "\n".join(survey.problems())
    assert "127.0.0.1:9/team/away.git" in survey.problems()[0]


def test_the_time_for_all_is_bounded_and_silent_ones_are_asked_last(automated: Automated) -> None:
    for name in ("ant", "bee"):
        automated.repository(name)
    survey = survey_heads(automated.settings, automated.home, seconds=0.0)
    assert [silent.repository_id for silent in survey.unanswered] == ["ant", "bee"]
    assert "asked next time" in survey.problems()[0]


def test_directories_have_a_label_and_no_commit(automated: Automated, tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    automated.configure("plain", str(tmp_path / "plain"))
    assert heads(automated) == {"plain@directory": ""}


def test_a_label_of_nothing_configured_is_left_alone(automated: Automated) -> None:
    automated.repository("shop")
    automated.register("shop")
    automated.entries[0]["id"] = "store"
    assert set(heads(automated)) == {"store@main"}


def test_a_run_finds_the_repository_of_a_remembered_label(automated: Automated) -> None:
    repository = automated.repository("shop")
    remember(automated.home, survey_heads(automated.settings, automated.home).heads)
    found = repository_of(automated.home, automated.settings, "shop@main")
    assert (found.location, found.ref) == (str(repository.path), "main")
