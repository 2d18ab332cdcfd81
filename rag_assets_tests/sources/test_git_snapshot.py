"""Commits read from real repositories: every kind of clone, every kind of ref, and nothing from the working tree."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from rag_assets.contracts.source_file import SkipReason
from rag_assets.errors import EmptyRepository, GitNotFound, LocationError, MissingCommit, MissingRef
from rag_assets.sources.git import GitError, GitTimeout, git_environment, run_git
from rag_assets.sources.open import open_snapshot
from rag_assets.sources.snapshot import EntryKind, Snapshot
from rag_assets_tests.sources.conftest import COMMIT_TIME_UTC, Repository, discover_all

Make = Callable[..., Repository]


def opened(where: Path | str, ref: str | None = None, commit: str | None = None) -> Snapshot:
    return open_snapshot(str(where), ref=ref, commit=commit, mirrors=Path("unused-mirrors"))


def texts(snapshot: Snapshot) -> dict[str, str]:
    return {path: found.text for path, found in discover_all(snapshot).texts.items()}


def test_a_commit_is_read_with_its_identity(make_repository: Make) -> None:
    """A01, A02: ordered files, commit, branch, date in UTC."""
    repository = make_repository({"b/B.cs": "class B {}\r\n", "a.md": "# A\n"})
    with opened(repository.path) as snapshot:
        assert [entry.path for entry in snapshot.entries()] == ["a.md", "b/B.cs"]
        assert snapshot.info.commit_sha == repository.git("rev-parse", "HEAD")
        assert snapshot.info.commit_date == COMMIT_TIME_UTC
        assert (snapshot.ref, snapshot.info.branch, snapshot.info.is_git) == ("main", "main", True)
        found = discover_all(snapshot).texts["b/B.cs"]
    assert found.text == "class B {}\r\n"
    assert found.file.blob_id == repository.git("rev-parse", "HEAD:b/B.cs")
    assert (found.file.size_bytes, found.file.line_count) == (12, 1)


def test_the_working_tree_and_the_index_are_never_read(make_repository: Make) -> None:
    repository = make_repository({"a.cs": "committed\n", "gone.cs": "still there\n"})
    (repository.path / "a.cs").write_text("dirty\n", encoding="utf-8")
    (repository.path / "new.cs").write_text("untracked\n", encoding="utf-8")
    (repository.path / "staged.cs").write_text("staged\n", encoding="utf-8")
    repository.git("add", "staged.cs")
    (repository.path / "gone.cs").unlink()
    assert texts(opened(repository.path)) == {"a.cs": "committed\n", "gone.cs": "still there\n"}


@pytest.mark.parametrize("kind", ["normal", "bare", "worktree", "shallow", "inside-git-dir"])
def test_every_kind_of_repository(make_repository: Make, clone: Make, tmp_path: Path, kind: str) -> None:
    origin = make_repository({"a.cs": "one\n"})
    head = origin.commit({"a.cs": "two\n"})
    where = origin.path
    if kind == "bare":
        where = clone(origin, "--bare").path
    elif kind == "worktree":
        where = tmp_path / "linked"
        origin.git("worktree", "add", "--quiet", "--detach", str(where), "HEAD")
    elif kind == "shallow":
        where = clone(origin, "--depth=1").path
    elif kind == "inside-git-dir":
        where = origin.path / ".git"
    snapshot = opened(where)
    assert snapshot.info.commit_sha == head
    assert texts(snapshot) == {"a.cs": "two\n"}


def test_a_worktree_has_a_head_of_its_own(make_repository: Make, tmp_path: Path) -> None:
    origin = make_repository({"a.cs": "one\n"})
    origin.git("worktree", "add", "--quiet", "-b", "feature", str(tmp_path / "linked"))
    Repository(tmp_path / "linked").commit({"a.cs": "feature\n"})
    assert opened(tmp_path / "linked").ref == "feature"
    assert texts(opened(tmp_path / "linked")) == {"a.cs": "feature\n"}
    assert texts(opened(origin.path)) == {"a.cs": "one\n"}


def test_a_directory_inside_a_repository_limits_the_snapshot_to_it(make_repository: Make) -> None:
    repository = make_repository({"a.cs": "a\n", "sub/[x]/b.cs": "b\n", "sub/c.cs": "c\n"})
    assert texts(opened(repository.path / "sub")) == {"sub/[x]/b.cs": "b\n", "sub/c.cs": "c\n"}
    assert texts(opened(repository.path / "sub" / "[x]")) == {"sub/[x]/b.cs": "b\n"}


def test_a_directory_that_the_commit_does_not_have_is_an_error(make_repository: Make) -> None:
    repository = make_repository({"a.cs": "a\n"})
    repository.git("branch", "before")
    repository.commit({"sub/b.cs": "b\n"})
    with pytest.raises(LocationError, match=r"before .* has no directory sub"):
        list(opened(repository.path / "sub", "before").entries())


def test_an_untracked_directory_inside_a_repository_is_a_plain_directory(make_repository: Make) -> None:
    repository = make_repository({"a.cs": "a\n"})
    (repository.path / "examples").mkdir()
    (repository.path / "examples" / "e.cs").write_text("e\n", encoding="utf-8")
    snapshot = opened(repository.path / "examples")
    assert not snapshot.info.is_git
    assert texts(snapshot) == {"e.cs": "e\n"}


@pytest.fixture
def history(make_repository: Make) -> tuple[Repository, dict[str, str]]:
    """Commits one → two → three with a branch, a light tag and an annotated tag, main on three."""
    repository = make_repository()
    commits = {"one": repository.commit({"a.cs": "one\n"})}
    repository.git("tag", "v1.0")
    repository.git("branch", "feature/orders")
    commits["two"] = repository.commit({"a.cs": "two\n"})
    repository.git("tag", "-a", "v2.0", "-m", "second")
    repository.git("tag", "-a", "nested", "v2.0", "-m", "a tag of a tag")
    commits["three"] = repository.commit({"a.cs": "three\n"})
    return repository, commits


@pytest.mark.parametrize(
    ("ref", "commit", "name"),
    [
        ("main", "three", "main"),
        ("HEAD", "three", "main"),
        ("refs/heads/main", "three", "main"),
        ("feature/orders", "one", "feature/orders"),
        ("v1.0", "one", "v1.0"),
        ("v2.0", "two", "v2.0"),
        ("refs/tags/v2.0", "two", "v2.0"),
        ("nested", "two", "nested"),
    ],
)
def test_refs(history: tuple[Repository, dict[str, str]], ref: str, commit: str, name: str) -> None:
    repository, commits = history
    snapshot = opened(repository.path, ref)
    assert (snapshot.info.commit_sha, snapshot.ref) == (commits[commit], name)
    assert texts(snapshot) == {"a.cs": f"{commit}\n"}


@pytest.mark.parametrize("digits", [40, 12, 7])
def test_commits_by_full_and_abbreviated_id(history: tuple[Repository, dict[str, str]], digits: int) -> None:
    repository, commits = history
    abbreviated = commits["two"][:digits]
    assert opened(repository.path, commit=abbreviated).info.commit_sha == commits["two"]
    assert opened(repository.path, commit=abbreviated.upper()).info.commit_sha == commits["two"]
    assert opened(repository.path, abbreviated).info.commit_sha == commits["two"]
    assert opened(repository.path, "main", abbreviated).ref == "main"


def test_remote_branches_of_a_clone(history: tuple[Repository, dict[str, str]], clone: Make) -> None:
    origin, commits = history
    cloned = clone(origin)
    assert opened(cloned.path, "origin/feature/orders").info.commit_sha == commits["one"]
    assert opened(cloned.path, "origin/feature/orders").ref == "origin/feature/orders"
    assert opened(cloned.path, "feature/orders").info.commit_sha == commits["one"], "the branch exists on origin only"


def test_a_detached_head_is_named_by_its_commit(history: tuple[Repository, dict[str, str]]) -> None:
    repository, commits = history
    repository.git("checkout", "--quiet", "--detach", commits["two"])
    snapshot = opened(repository.path)
    assert (snapshot.info.commit_sha, snapshot.ref) == (commits["two"], commits["two"][:12])


def test_a_branch_may_look_like_a_commit_id(history: tuple[Repository, dict[str, str]]) -> None:
    repository, commits = history
    repository.git("branch", "deadbeef", commits["one"])
    assert opened(repository.path, "deadbeef").info.commit_sha == commits["one"]


@pytest.mark.parametrize(
    ("ref", "says"),
    [
        ("mian", "near names: main"),
        ("Feature/order", "near names: feature/orders"),
        ("v3.0", "near names: v"),
        ("zzzzzz", "it has: feature/orders, main"),
        ("main:a.cs", "no branch or tag"),
        ("main^{tree}", "no branch or tag"),
        ("--help", "no branch or tag"),
        ("main..v1.0", "no branch or tag"),
        ("main\n", "no branch or tag"),
    ],
)
def test_a_missing_ref_is_named_with_near_ones(history: tuple[Repository, dict[str, str]], ref: str, says: str) -> None:
    with pytest.raises(MissingRef) as raised:
        opened(history[0].path, ref)
    assert repr(ref) in str(raised.value)
    assert says in str(raised.value)
    assert str(history[0].path) in str(raised.value)


@pytest.mark.parametrize(
    ("commit", "says"),
    [
        ("f" * 40, "no commit " + "f" * 40),
        ("ffffff", "no commit ffffff"),
        ("main", "not a commit id"),
        ("--help", "not a commit id"),
        ("abc", "not a commit id"),
    ],
)
def test_a_missing_commit_is_named(history: tuple[Repository, dict[str, str]], commit: str, says: str) -> None:
    with pytest.raises(MissingCommit, match=says):
        opened(history[0].path, commit=commit)


def test_an_object_that_is_no_commit_is_called_what_it_is(history: tuple[Repository, dict[str, str]]) -> None:
    repository, _ = history
    tree = repository.git("rev-parse", "HEAD^{tree}")
    with pytest.raises(MissingCommit, match="is a tree, not a commit"):
        opened(repository.path, commit=tree)


def test_an_ambiguous_abbreviation_lists_what_it_abbreviates(make_repository: Make) -> None:
    repository = make_repository()
    found: dict[str, list[str]] = {}
    # 400 commit ids of 16 bits' worth of first digits: by the birthday bound two of them share these.
    script = b"".join(
        b"commit refs/heads/main\ncommitter T <t@example.invalid> %d +0000\ndata 0\n\n" % (1_700_000_000 + n)
        for n in range(900)
    )
    repository.git("fast-import", "--quiet", input_bytes=script)
    for commit in repository.git("rev-list", "main").split():
        found.setdefault(commit[:4], []).append(commit)
    prefix, commits = next((prefix, ids) for prefix, ids in found.items() if len(ids) > 1)
    with pytest.raises(MissingCommit, match="ambiguous") as raised:
        opened(repository.path, commit=prefix)
    assert all(commit in str(raised.value) for commit in commits)


def test_an_empty_repository_says_so(make_repository: Make) -> None:
    repository = make_repository()
    with pytest.raises(EmptyRepository, match="no commit yet"):
        opened(repository.path)
    with pytest.raises(MissingRef, match="no commit yet"):
        opened(repository.path, "main")
    with pytest.raises(EmptyRepository, match="no commit yet"):
        opened(repository.path, commit="f" * 40)


def test_an_unborn_branch_names_the_branches_there_are(make_repository: Make) -> None:
    repository = make_repository({"a.cs": "a\n"})
    repository.git("symbolic-ref", "HEAD", "refs/heads/master")
    with pytest.raises(MissingRef, match=r"HEAD points to 'master', which has no commit yet.*main"):
        opened(repository.path)
    assert texts(opened(repository.path, "main")) == {"a.cs": "a\n"}


def test_an_empty_commit_has_no_files(make_repository: Make) -> None:
    assert texts(opened(make_repository({}).path)) == {}


def test_a_commit_missing_from_a_shallow_clone_names_the_command(
    history: tuple[Repository, dict[str, str]], clone: Make
) -> None:
    origin, commits = history
    shallow = clone(origin, "--depth=1")
    assert texts(opened(shallow.path)) == {"a.cs": "three\n"}
    with pytest.raises(MissingCommit, match="git fetch --unshallow"):
        opened(shallow.path, commit=commits["one"])


def test_blobs_that_a_partial_clone_does_not_have_are_listed_and_not_fetched(
    make_repository: Make, clone: Make
) -> None:
    origin = make_repository({"a.cs": "old\n"})
    origin.git("config", "uploadpack.allowFilter", "true")
    origin.git("config", "uploadpack.allowAnySHA1InWant", "true")
    partial = clone(origin, "--filter=blob:none", "--no-checkout")
    found = discover_all(opened(partial.path))
    assert found.reasons() == {"a.cs": "missing-blob"}
    partial.git("checkout", "--quiet")  # fetches what HEAD needs
    origin.commit({"b.cs": "new\n"})
    partial.git("fetch", "--quiet")
    found = discover_all(opened(partial.path, "origin/main"))
    assert (found.reasons(), list(found.texts)) == ({"b.cs": "missing-blob"}, ["a.cs"])


def test_a_blob_lost_from_the_object_store_is_listed(make_repository: Make) -> None:
    repository = make_repository({"a.cs": "here\n", "b.cs": "lost\n"})
    oid = repository.git("rev-parse", "HEAD:b.cs")
    lost = repository.path / ".git" / "objects" / oid[:2] / oid[2:]
    lost.chmod(0o600)
    lost.unlink()
    found = discover_all(opened(repository.path))
    assert (found.reasons(), list(found.texts)) == ({"b.cs": "missing-blob"}, ["a.cs"])


def test_links_and_submodules_are_listed_and_not_followed(make_repository: Make) -> None:
    repository = make_repository()
    repository.commit_tree(
        [
            ("100644", b"a.cs", b"class A {}\n"),
            ("100755", b"run.sh", b"echo\n"),
            ("120000", b"inside", b"a.cs"),
            ("120000", b"outside", b"../../../etc/passwd"),
            ("160000", b"library", b""),
        ]
    )
    snapshot = opened(repository.path)
    kinds = {entry.path: entry.kind for entry in snapshot.entries()}
    assert kinds["outside"] is EntryKind.SYMLINK
    assert kinds["library"] is EntryKind.SUBMODULE
    found = discover_all(snapshot)
    assert found.reasons() == {"inside": "symlink", "outside": "symlink", "library": "submodule"}
    assert sorted(found.texts) == ["a.cs", "run.sh"]


def test_hostile_names_are_read_or_refused_and_never_confused(make_repository: Make) -> None:
    repository = make_repository()
    names = {
        b"plain.cs": "plain.cs",
        b"A.cs": "A.cs",
        b"a.cs": "a.cs",
        "größe.cs".encode(): "größe.cs",
        "日本.cs".encode(): "日本.cs",
        b"caf\xe9.cs": "caf\\xe9.cs",
        b" lead and trail .cs ": " lead and trail .cs ",
        b"-rf.cs": "-rf.cs",
        b":(glob)*.cs": ":(glob)*.cs",
        b'quote".cs': 'quote".cs',
        b"[x]*.cs": "[x]*.cs",
        b"tab\t.cs": "tab\\x09.cs",
        b"line\n.cs": "line\\x0a.cs",
        b"\x1b[31mred.cs": "\\x1b[31mred.cs",
        b"dir\\file.cs": "dir\\file.cs",
        b"C:evil.cs": "C:evil.cs",
    }
    repository.commit_tree([("100644", name, name.hex().encode() + b"\n") for name in names])
    found = discover_all(opened(repository.path))
    refused = {"tab\\x09.cs", "line\\x0a.cs", "\\x1b[31mred.cs", "dir\\file.cs", "C:evil.cs"}
    assert set(found.skipped) == refused
    assert {skipped.reason for skipped in found.skipped.values()} == {SkipReason.UNSAFE_PATH}
    expected = {text: name.hex() + "\n" for name, text in names.items() if text not in refused}
    assert {path: text.text for path, text in found.texts.items()} == expected


def test_many_files_stream_in_the_order_asked_for(make_repository: Make) -> None:
    """More requests than a pipe holds, sizes around the pipe's, each answer the right one."""
    sizes = [0, 1, 4095, 4096, 65_535, 65_536, 200_000]
    files = {f"d{n % 7}/f{n:04}.txt": f"{n}:" + "x" * sizes[n % len(sizes)] for n in range(400)}
    snapshot = opened(make_repository(files).path)
    entries = sorted(snapshot.entries(), key=lambda entry: entry.path[::-1]) * 6
    read = [(entry.path, content) for entry, content in snapshot.read(entries)]
    assert [path for path, _ in read] == [entry.path for entry in entries]
    assert all(content == files[path].encode() for path, content in read)


def test_a_command_that_reads_a_repository_gets_no_transport(make_repository: Make) -> None:
    """A lazy fetch of a partial clone would run what the clone's own configuration names."""
    url = make_repository({"a.cs": "a\n"}).path.as_uri()
    with pytest.raises(GitError, match="not allowed"):
        run_git("ls-remote", url)
    assert b"refs/heads/main" in run_git("ls-remote", url, network=True)
    with pytest.raises(GitError, match="not allowed"):
        run_git("ls-remote", "ext::touch owned", network=True)


def test_reading_may_be_given_up_half_way(make_repository: Make) -> None:
    snapshot = opened(make_repository({f"{n}.txt": "x" * 100_000 for n in range(200)}).path)
    reader = snapshot.read(snapshot.entries())
    next(reader)
    reader.close()  # type: ignore[attr-defined]
    assert len(list(snapshot.read(snapshot.entries()))) == 200


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script as the program that must not run")
@pytest.mark.parametrize("kind", ["normal", "partial"])
def test_nothing_that_the_repository_configures_is_run(
    make_repository: Make, clone: Make, tmp_path: Path, kind: str
) -> None:
    repository = make_repository({"a.cs": "a\n", ".gitattributes": "*.cs filter=evil diff=evil\n"})
    if kind == "partial":
        repository.git("config", "uploadpack.allowFilter", "true")
        repository = clone(repository, "--filter=blob:none", "--no-checkout")
    proof = tmp_path / "owned"
    evil = tmp_path / "evil.sh"
    evil.write_text(f"#!/bin/sh\ntouch {proof}\n", encoding="utf-8")
    evil.chmod(0o755)
    for key in ("core.fsmonitor", "core.sshCommand", "core.pager", "core.askPass", "diff.evil.textconv", "gpg.program",
                "filter.evil.smudge", "remote.origin.uploadpack", "credential.helper", "core.gitProxy"):  # fmt: skip
        repository.git("config", key, str(evil))
    repository.git("config", "core.hooksPath", str(tmp_path))
    repository.git("config", "log.showSignature", "true")
    discover_all(opened(repository.path))
    assert not proof.exists()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_a_repository_of_another_user_can_be_read(make_repository: Make) -> None:
    repository = make_repository({"a.cs": "a\n"})
    for path in [repository.path, *repository.path.rglob("*")]:
        shutil.chown(path, user=12345)
    assert texts(opened(repository.path)) == {"a.cs": "a\n"}


def test_variables_of_a_calling_git_do_not_redirect(make_repository: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """Inside a hook git sets GIT_DIR and GIT_INDEX_FILE; they must not reach ours."""
    other = make_repository({"other.cs": "other\n"}, name="other")
    repository = make_repository({"a.cs": "a\n"})
    monkeypatch.setenv("GIT_DIR", str(other.path / ".git"))
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(other.path / ".git" / "objects"))
    monkeypatch.setenv("GIT_TRACE", "2")
    assert texts(opened(repository.path)) == {"a.cs": "a\n"}
    assert "GIT_TRACE" not in git_environment(network=False)


def test_replaced_objects_do_not_change_a_commit(make_repository: Make) -> None:
    repository = make_repository({"a.cs": "original\n"})
    original = repository.git("rev-parse", "HEAD:a.cs")
    other = repository.git("hash-object", "-w", "--stdin", input_bytes=b"replaced\n")
    repository.git("replace", original, other)
    assert texts(opened(repository.path)) == {"a.cs": "original\n"}


def test_without_git_a_repository_cannot_be_read_and_the_error_says_so(
    make_repository: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    repository = make_repository({"a.cs": "a\n"})
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    with pytest.raises(GitNotFound, match="git is not on PATH; install it"):
        opened(repository.path)


def test_an_unchanged_clone_has_the_url_it_came_from_without_credentials(make_repository: Make) -> None:
    repository = make_repository({"a.cs": "a\n"})
    repository.git("remote", "add", "origin", "https://jane:hunter22@host.example/org/shop.git")
    assert opened(repository.path).info.remote_url == "https://host.example/org/shop.git"
    repository.git("remote", "set-url", "origin", "/srv/private/shop.git")
    assert opened(repository.path).info.remote_url == "", "no path of this machine in what is stored"


def test_a_sha256_repository(tmp_path: Path) -> None:
    path = tmp_path / "sha256"
    path.mkdir()
    repository = Repository(path)
    repository.git("init", "--quiet", "--object-format=sha256", "--initial-branch=main")
    head = repository.commit({f"{n}.cs": f"{n}\n" for n in range(150)})
    snapshot = opened(path)
    assert (len(snapshot.info.commit_sha), snapshot.info.commit_sha) == (64, head)
    assert len(texts(snapshot)) == 150


@pytest.mark.parametrize(
    ("seconds", "date"), [("0", "1970-01-01T00:00:00Z"), ("99999999999999", "9999-12-31T23:59:59Z")]
)
def test_impossible_commit_dates_are_moved_to_the_ends_of_the_calendar(
    make_repository: Make, seconds: str, date: str
) -> None:
    repository = make_repository()
    tree = repository.git("mktree", input_bytes=b"")
    body = f"tree {tree}\nauthor a <a> 0 +0000\ncommitter c <c> {seconds} +0000\n\nx\n".encode()
    commit = repository.git("hash-object", "-t", "commit", "-w", "--stdin", "--literally", input_bytes=body)
    repository.git("update-ref", "refs/heads/main", commit)
    assert opened(repository.path).info.commit_date == date


@pytest.mark.skipif(sys.platform == "win32", reason="looks for the child with ps")
def test_a_git_command_is_stopped_at_its_time_limit_with_its_children(tmp_path: Path) -> None:
    started = time.monotonic()
    sleep = f"sleep 31.{os.getpid()}"
    with pytest.raises(GitTimeout, match=r"stopped after 0\.3 s"):
        run_git("-c", f"alias.wait=!{sleep}", "wait", timeout=0.3)
    assert time.monotonic() - started < 30  # before the child would have ended by itself
    assert sleep not in subprocess.run(["ps", "-ef"], capture_output=True, text=True, check=False).stdout
