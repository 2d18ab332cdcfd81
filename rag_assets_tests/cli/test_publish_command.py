"""`rag-assets publish` and `rag-assets pull` on real homes."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from rag_assets.index.layout import IndexHome
from rag_assets.pipeline.run_stages import run_stages
from rag_assets.settings import RepositorySettings
from rag_assets_tests.cli.conftest import CommandLine, Outcome
from rag_assets_tests.git_repository import Repository
from rag_assets_tests.pipeline.conftest import lexical

LABEL = "shop@main"


@pytest.fixture
def builder(tmp_path: Path) -> Path:
    source = Repository.new(tmp_path / "source", {"src/Order.cs": "public class Order { public int Id; }\n"})
    home = tmp_path / "builder"
    run_stages(lexical(home), LABEL, RepositorySettings(id="shop", location=str(source.path), ref="main"))
    return home


def run(home: Path, remote: str, *words: str, folder: Path | None = None, keep: int = 3) -> Outcome:
    environment = {
        "RAG_ASSETS__STORES__REMOTE": remote,
        "RAG_ASSETS__EMBEDDER__PROVIDER": "lexical-only",
        "RAG_ASSETS__RETENTION__KEEP": str(keep),
    }
    return CommandLine(IndexHome(home), folder or home.parent, environment).run(*words)


def answer(done: Outcome) -> dict[str, Any]:
    assert done.code == 0, done.err
    found: dict[str, Any] = done.json
    return found


def test_one_home_publishes_and_another_serves(tmp_path: Path, builder: Path) -> None:
    remote, here = (tmp_path / "remote").as_uri(), tmp_path / "here"
    planned = answer(run(builder, remote, "publish", "--dry-run", "--json"))
    assert planned["sent"] > 0 and not (tmp_path / "remote").exists(), "a dry run sends nothing"
    done = answer(run(builder, remote, "publish", LABEL, "--json"))
    assert done["sent"] == planned["sent"] and done["label"] == LABEL
    assert answer(run(builder, remote, "publish", "--json"))["sent"] == 0
    assert answer(run(builder, remote, "publish", "--force", "--json"))["sent"] == done["sent"]
    pulled = run(here, remote, "pull", LABEL)
    assert pulled.code == 0 and "fetched" in pulled.out, pulled.err
    assert "is here already" in run(here, remote, "pull", LABEL).out
    assert "src/Order.cs" in run(here, remote, "search", "order").out


@pytest.mark.parametrize(
    ("remote", "words", "message"),
    [
        ("", ["pull", LABEL], "set stores.remote to s3://bucket/prefix"),
        ("", ["publish"], "set stores.remote to s3://bucket/prefix"),
        ("REMOTE", ["pull", "shop@mian"], "nothing of label 'shop@mian' is published"),
        ("REMOTE", ["pull", "a/b"], "nothing of label 'a/b' is published"),
        ("s3://k:geheim@b", ["publish"], "must not hold a key"),
    ],
    ids=["pull-without", "publish-without", "unknown", "no-label", "key"],
)
def test_what_cannot_be_done_says_why(
    tmp_path: Path, builder: Path, remote: str, words: list[str], message: str
) -> None:
    done = run(builder, remote.replace("REMOTE", (tmp_path / "remote").as_uri()), *words)
    assert done.code == 1 and message in done.err and "geheim" not in done.err


def test_a_label_that_nobody_published_leaves_no_trace(published: Published) -> None:
    """`status` would list it as an index that somebody began."""
    assert published.pull("shop@mian").code == 1
    assert published.pull(LABEL).code == 0
    assert IndexHome(published.base / "empty" / "here").known_labels() == [LABEL]


# --- of a commit ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Published:
    """Three commits, of which the first and the third were published; the fourth was not indexed."""

    base: Path
    source: Repository
    commits: tuple[str, ...]

    @property
    def remote(self) -> str:
        return (self.base / "remote").as_uri()

    def pull(self, *words: str, folder: Path | None = None) -> Outcome:
        """Into a home that has nothing yet, from a folder in no repository."""
        return run(self.base / "empty" / "here", self.remote, "pull", *words, folder=folder)


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Published:
    base = tmp_path_factory.mktemp("published")
    (base / "source").mkdir()
    (base / "empty").mkdir()
    source = Repository.new(base / "source")
    settings = lexical(base / "builder")
    commits = []
    for number in range(4):
        at = f"2024-05-0{number + 1}T10:00:00+00:00"
        commits.append(source.commit({f"src/Order{number}.cs": f"public class Order{number} {{ }}\n"}, at=at))
        if number in (0, 2):
            run_stages(settings, LABEL, RepositorySettings(id="shop", location=str(source.path), ref="main"))
            done = run(base / "builder", (base / "remote").as_uri(), "publish", keep=5)
            assert done.code == 0, done.err
    return Published(base, source, tuple(commits))


@pytest.fixture(autouse=True)
def empty_home(request: pytest.FixtureRequest) -> None:
    if "published" in request.fixturenames:
        home = request.getfixturevalue("published").base / "empty" / "here"
        shutil.rmtree(home, ignore_errors=True)


def test_a_published_commit_is_served_where_there_is_no_checkout(published: Published) -> None:
    first = published.commits[0]
    done = answer(published.pull("--commit", first[:10], "--json"))
    assert (done["commit"], done["wanted"], done["distance"]) == (first, first, 0)
    here = published.base / "empty" / "here"
    found = run(here, published.remote, "search", "class", "--json", "--mode", "bm25")
    assert [hit["path"] for hit in answer(found)["hits"]] == ["src/Order0.cs"]
    read = run(here, published.remote, "read", "src/Order0.cs", "--json")
    assert answer(read)["text"] == "public class Order0 { }" and answer(read)["commit"] == first
    told = published.pull(LABEL, "--commit", published.commits[2])
    assert f"{LABEL} commit {published.commits[2][:10]}\n" in told.out


def test_the_nearest_ancestor_stands_for_a_commit(published: Published) -> None:
    second, third, fourth = published.commits[1:]
    told = published.pull("--commit", "HEAD", folder=published.source.path)
    assert f"commit {third[:10]}, 1 commit before {fourth[:10]}" in told.out, told.err
    older = answer(published.pull("--commit", second, "--json", folder=published.source.path / "src"))
    assert (older["commit"], older["distance"]) == (published.commits[0], 1)
    home = published.base / "empty" / "here"
    found = run(home, published.remote, "search", "Order1", "--json", folder=published.source.path)
    assert answer(found)["hits"][0]["work_tree"], "what the checkout has since then lies over it"
    assert answer(published.pull("--commit", fourth, "--json"))["distance"] == 1, "by the history of what was pulled"


@pytest.mark.parametrize(
    ("commit", "code", "message"),
    [
        ("SECOND", 1, "no repository here has it"),
        ("0123456789", 1, "published: THIRD of 2024-05-03 (shop@main); FIRST of 2024-05-01 (shop@main)"),
        ("nonsense", 1, "no repository here has it"),
        ("abc", 1, "no repository here has it"),
    ],
)
def test_a_commit_that_nobody_can_place_names_what_is_published(
    published: Published, commit: str, code: int, message: str
) -> None:
    first, second, third, _ = published.commits
    done = published.pull("--commit", commit.replace("SECOND", second))
    wanted = message.replace("FIRST", first[:10]).replace("THIRD", third[:10])
    assert (done.code, wanted in done.err) == (code, True), done.err
    assert not (published.base / "empty" / "here" / "indexes" / LABEL).exists()


def test_an_unrelated_history_has_no_ancestor_there(published: Published, tmp_path: Path) -> None:
    other = Repository.new(tmp_path)
    commit = other.commit({"a.txt": "a\n"})
    done = published.pull("--commit", commit, folder=tmp_path)
    assert done.code == 1 and "no published commit is it or an ancestor of it" in done.err


def test_a_prefix_of_several_published_commits_is_ambiguous(published: Published) -> None:
    from rag_assets.errors import WrongUsage
    from rag_assets.index.remote.pulling import PublishedCommit
    from rag_assets.pipeline.publish import _named

    known = [PublishedCommit(LABEL, "g", f"abcd{digit}" + "0" * 35, "2024-01-01") for digit in "12"]
    assert _named("abcd1", known) == known[0].commit_sha
    with pytest.raises(WrongUsage, match="abcd is ambiguous, it abbreviates abcd1"):
        _named("abcd", known)


def test_a_damaged_or_empty_remote_says_so(published: Published, tmp_path: Path) -> None:
    nothing = run(tmp_path / "home", (tmp_path / "none").as_uri(), "pull", "--commit", "HEAD")
    assert nothing.code == 1 and "nothing is published; published labels: none" in nothing.err
    damaged = tmp_path / "remote"
    shutil.copytree(published.base / "remote", damaged)
    lists = sorted((damaged / "labels" / LABEL / "generations").iterdir())
    lists[0].write_bytes(b"{")
    third = run(tmp_path / "home", damaged.as_uri(), "pull", "--commit", published.commits[2])
    assert third.code == 0 and "is damaged" in third.err, "the others can be pulled"
    first = run(tmp_path / "home2", damaged.as_uri(), "pull", "--commit", published.commits[0])
    assert first.code == 1 and "is damaged" in first.err
