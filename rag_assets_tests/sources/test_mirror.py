"""URLs: mirrors that are cloned whole, fetched when needed, shared by processes, and never tell a credential."""

from __future__ import annotations

import base64
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from rag_assets.contracts.source_file import GitRepoInfo
from rag_assets.errors import EmptyRepository, MissingCommit, MissingRef, SourceUnreachable
from rag_assets.sources.git import git_executable
from rag_assets.sources.git.git_refs import default_ref, remote_head
from rag_assets.sources.git.mirror import mirror_path
from rag_assets.sources.open import open_snapshot
from rag_assets.sources.snapshot import Snapshot
from rag_assets_tests.sources.conftest import Repository, discover_all

Make = Callable[..., Repository]
SECRET = "hunter22-very-secret"


@pytest.fixture
def mirrors(tmp_path: Path) -> Path:
    return tmp_path / "mirrors"


def texts(snapshot: Snapshot) -> dict[str, str]:
    return {path: found.text for path, found in discover_all(snapshot).texts.items()}


def test_a_url_is_mirrored_then_fetched(make_repository: Make, mirrors: Path) -> None:
    origin = make_repository({"a.cs": "one\n"})
    url = origin.path.as_uri()
    first = open_snapshot(url, mirrors=mirrors)
    assert (texts(first), first.ref, first.info.remote_url) == ({"a.cs": "one\n"}, "main", url)
    newer = origin.commit({"a.cs": "two\n"})
    second = open_snapshot(url, mirrors=mirrors)
    assert (second.info.commit_sha, texts(second)) == (newer, {"a.cs": "two\n"})
    assert texts(first) == {"a.cs": "one\n"}, "the earlier snapshot still reads its own commit"
    assert [path.name for path in mirrors.glob("*.git")] == [mirror_path(mirrors, url).name]


def test_branches_that_are_gone_are_pruned_and_a_renamed_default_is_followed(
    make_repository: Make, mirrors: Path
) -> None:
    origin = make_repository({"a.cs": "one\n"})
    origin.git("branch", "old")
    url = origin.path.as_uri()
    open_snapshot(url, ref="old", mirrors=mirrors)
    origin.git("branch", "-D", "old")
    origin.git("branch", "-m", "main", "trunk")
    assert open_snapshot(url, mirrors=mirrors).ref == "trunk"
    with pytest.raises(MissingRef, match="no branch or tag 'old'"):
        open_snapshot(url, ref="old", mirrors=mirrors)


def test_force_pushed_history_and_moved_tags_are_taken_over(make_repository: Make, mirrors: Path) -> None:
    origin = make_repository({"a.cs": "one\n"})
    origin.git("tag", "latest")
    url = origin.path.as_uri()
    open_snapshot(url, mirrors=mirrors)
    origin.git("commit", "--quiet", "--amend", "-m", "rewritten")
    origin.git("tag", "--force", "latest")
    head = origin.git("rev-parse", "HEAD")
    assert open_snapshot(url, mirrors=mirrors).info.commit_sha == head
    assert open_snapshot(url, ref="latest", mirrors=mirrors).info.commit_sha == head


def test_a_known_commit_needs_no_network(make_repository: Make, mirrors: Path) -> None:
    origin = make_repository({"a.cs": "one\n"})
    url = origin.path.as_uri()
    commit = open_snapshot(url, mirrors=mirrors).info.commit_sha
    origin.path.rename(origin.path.with_name("gone"))
    assert texts(open_snapshot(url, commit=commit, mirrors=mirrors)) == {"a.cs": "one\n"}
    with pytest.raises(SourceUnreachable):
        open_snapshot(url, mirrors=mirrors)


def test_refs_outside_branches_and_tags_are_fetched_when_named(make_repository: Make, mirrors: Path) -> None:
    origin = make_repository({"a.cs": "one\n"})
    main = origin.git("rev-parse", "HEAD")
    proposed = origin.commit({"a.cs": "proposed\n"})
    origin.git("update-ref", "refs/pull/7/head", proposed)
    origin.git("reset", "--quiet", "--hard", main)
    url = origin.path.as_uri()
    open_snapshot(url, mirrors=mirrors)
    listed = subprocess.run(
        [git_executable(), "-C", str(mirror_path(mirrors, url)), "for-each-ref"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "refs/pull" not in listed, "pull requests are not mirrored unasked"
    assert texts(open_snapshot(url, ref="refs/pull/7/head", mirrors=mirrors)) == {"a.cs": "proposed\n"}
    with pytest.raises(MissingRef, match="refs/pull/8/head"):
        open_snapshot(url, ref="refs/pull/8/head", mirrors=mirrors)


def test_missing_refs_and_commits_of_a_url_are_named(make_repository: Make, mirrors: Path) -> None:
    url = make_repository({"a.cs": "one\n"}).path.as_uri()
    with pytest.raises(MissingRef, match="no branch or tag 'mian'; near names: main"):
        open_snapshot(url, ref="mian", mirrors=mirrors)
    with pytest.raises(MissingCommit, match="f" * 40):
        open_snapshot(url, commit="f" * 40, mirrors=mirrors)


def test_a_server_that_fails_on_the_way_is_not_called_a_missing_commit(make_repository: Make, mirrors: Path) -> None:
    origin = make_repository({"a.cs": "one\n"})
    url = origin.path.as_uri()
    open_snapshot(url, mirrors=mirrors)
    origin.path.rename(origin.path.with_name("gone"))
    with pytest.raises(SourceUnreachable, match="check the address"):
        open_snapshot(url, commit="f" * 40, mirrors=mirrors)


def test_an_empty_remote_says_so(make_repository: Make, mirrors: Path) -> None:
    url = make_repository().path.as_uri()
    with pytest.raises(EmptyRepository, match="no commit yet"):
        open_snapshot(url, mirrors=mirrors)
    with pytest.raises(EmptyRepository, match="no commit yet"):
        default_ref(url, mirrors=mirrors)


def test_a_shallow_remote_can_be_mirrored_and_fetched(make_repository: Make, clone: Make, mirrors: Path) -> None:
    origin = make_repository({"a.cs": "one\n"})
    origin.commit({"a.cs": "two\n"})
    shallow = clone(origin, "--depth=1")
    url = shallow.path.as_uri()
    assert texts(open_snapshot(url, mirrors=mirrors)) == {"a.cs": "two\n"}
    origin.commit({"a.cs": "three\n"})
    shallow.git("fetch", "--quiet", "--depth=1")
    shallow.git("reset", "--quiet", "--hard", "origin/main")
    assert texts(open_snapshot(url, mirrors=mirrors)) == {"a.cs": "three\n"}


def test_an_interrupted_clone_does_not_poison(make_repository: Make, mirrors: Path) -> None:
    url = make_repository({"a.cs": "one\n"}).path.as_uri()
    mirror = mirror_path(mirrors, url)
    leftover = mirror.with_name(f"{mirror.name}.0123.tmp")
    (leftover / "objects").mkdir(parents=True)
    mirror.mkdir()  # what an older crash left in its place
    (mirror / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
    assert texts(open_snapshot(url, mirrors=mirrors)) == {"a.cs": "one\n"}
    assert not leftover.exists()


def test_a_failed_clone_leaves_nothing(tmp_path: Path, mirrors: Path) -> None:
    with pytest.raises(SourceUnreachable, match="check the address"):
        open_snapshot((tmp_path / "nowhere").as_uri(), mirrors=mirrors)
    assert [path.name for path in mirrors.iterdir() if path.suffix != ".lock"] == []


def test_processes_that_open_one_url_at_once_share_one_mirror(make_repository: Make, mirrors: Path) -> None:
    url = make_repository({f"{n}.cs": f"{n}\n" for n in range(50)}).path.as_uri()
    code = (
        "import sys; from pathlib import Path; from rag_assets.sources.open import open_snapshot; "
        "print(len(list(open_snapshot(sys.argv[1], mirrors=Path(sys.argv[2])).entries())))"
    )
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", code, url, str(mirrors)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for _ in range(3)
    ]
    outcomes = [process.communicate() for process in processes]
    assert [out.strip() for out, _ in outcomes] == [b"50"] * 3, outcomes
    assert len(list(mirrors.glob("*.git"))) == 1
    assert list(mirrors.glob("*.tmp")) == []


def test_waiting_for_another_fetch_ends_at_the_time_limit(make_repository: Make, mirrors: Path) -> None:
    from filelock import FileLock

    url = make_repository({"a.cs": "one\n"}).path.as_uri()
    mirrors.mkdir()
    mirror = mirror_path(mirrors, url)
    with (
        FileLock(mirror.with_name(f"{mirror.name}.lock")),
        pytest.raises(SourceUnreachable, match="another process has been fetching it"),
    ):
        open_snapshot(url, mirrors=mirrors, timeout=0.2)


@pytest.mark.parametrize(
    ("ref", "expected"),
    [(None, "head"), ("main", "head"), ("v1", "first"), ("refs/heads/main", "head"), ("tagged", "first")],
)
def test_remote_head_asks_the_server(make_repository: Make, ref: str | None, expected: str) -> None:
    origin = make_repository({"a.cs": "one\n"})
    commits = {"first": origin.git("rev-parse", "HEAD")}
    origin.git("tag", "v1")
    origin.git("tag", "-a", "tagged", "-m", "annotated")
    commits["head"] = origin.commit({"a.cs": "two\n"})
    assert remote_head(origin.path.as_uri(), ref) == commits[expected]
    assert remote_head(str(origin.path), ref) == commits[expected]


def test_remote_head_of_a_missing_ref_names_near_ones(make_repository: Make) -> None:
    with pytest.raises(MissingRef, match="'mian'; near names: main"):
        remote_head(make_repository({"a.cs": "one\n"}).path.as_uri(), "mian")


def test_default_ref_of_a_url_is_the_branch_of_its_head(make_repository: Make, mirrors: Path) -> None:
    origin = make_repository({"a.cs": "one\n"})
    origin.git("checkout", "--quiet", "-b", "develop")
    assert default_ref(origin.path.as_uri()) == "develop"
    assert not mirrors.exists()


@dataclass
class Server:
    """A loopback HTTP server in front of a bare repository (dumb protocol), with faults."""

    root: Path
    mode: str = "open"
    authorizations: list[str] = field(default_factory=list)
    url: str = ""


@pytest.fixture
def server(make_repository: Make, clone: Make) -> Iterator[Server]:
    bare = clone(make_repository({"a.cs": "served\n"}), "--bare", name="served.git")
    bare.git("update-server-info")
    state = Server(bare.path)
    expected = "Basic " + base64.b64encode(f"jane:{SECRET}".encode()).decode()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            given = self.headers.get("Authorization")
            if given is not None:
                state.authorizations.append(given)
            if state.mode == "stall":
                time.sleep(5)
                return
            path = bare.path / self.path.split("?")[0].removeprefix("/served.git/")
            if state.mode == "401" or (state.mode == "auth" and given != expected):
                self.send_response(401)
                self.send_header("WWW-Authenticate", 'Basic realm="test"')
                self.send_header("Content-Length", "0")
                self.end_headers()
            elif state.mode == "404" or not path.is_file():
                self.send_error(404)
            else:
                data = path.read_bytes()
                self.send_response(200)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Silent."""

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    thread = threading.Thread(target=http.serve_forever, daemon=True)
    thread.start()
    state.url = f"127.0.0.1:{http.server_address[1]}/served.git"
    yield state
    http.shutdown()
    http.server_close()
    thread.join()


def assert_no_secret(error: BaseException, mirrors: Path) -> None:
    """Not in the message, not in the chain, not in any file."""
    told = "".join(traceback.format_exception(error))
    lines = [line for line in told.splitlines() if "open_snapshot(" not in line]
    assert SECRET not in str(error)
    assert SECRET not in "\n".join(lines)
    assert error.__cause__ is None
    assert not any(SECRET.encode() in path.read_bytes() for path in mirrors.rglob("*") if path.is_file())


def test_credentials_of_a_url_reach_the_server_and_nothing_else(server: Server, mirrors: Path) -> None:
    server.mode = "auth"
    snapshot = open_snapshot(f"http://jane:{SECRET}@{server.url}", mirrors=mirrors)
    assert texts(snapshot) == {"a.cs": "served\n"}
    assert server.authorizations
    assert snapshot.info == GitRepoInfo(
        f"http://{server.url}", "main", snapshot.info.commit_sha, snapshot.info.commit_date
    )
    for path in mirrors.rglob("*"):
        assert not path.is_file() or SECRET.encode() not in path.read_bytes(), path
    assert remote_head(f"http://jane:{SECRET}@{server.url}") == snapshot.info.commit_sha


@pytest.mark.parametrize(
    ("mode", "says"),
    [
        ("401", "credentials"),
        ("404", "not found"),
        ("auth", "credentials"),
    ],
)
def test_a_url_that_refuses_is_explained_without_credentials(
    server: Server, mirrors: Path, mode: str, says: str
) -> None:
    server.mode = mode
    url = f"http://joe:{SECRET}@{server.url}"
    with pytest.raises(SourceUnreachable, match=says) as raised:
        open_snapshot(url, mirrors=mirrors)
    assert f"http://{server.url}" in str(raised.value)
    assert_no_secret(raised.value, mirrors)
    with pytest.raises(SourceUnreachable, match=says) as raised:
        remote_head(url)
    assert SECRET not in str(raised.value)


def test_a_url_that_nobody_answers_is_explained_without_credentials(mirrors: Path) -> None:
    with pytest.raises(SourceUnreachable, match="check the address and the network") as raised:
        open_snapshot(f"http://user:{SECRET}@127.0.0.1:9/repo.git", mirrors=mirrors)
    assert "http://127.0.0.1:9/repo.git" in str(raised.value)
    assert_no_secret(raised.value, mirrors)


def test_a_url_that_hangs_is_given_up_at_the_time_limit(server: Server, mirrors: Path) -> None:
    server.mode = "stall"
    with pytest.raises(SourceUnreachable, match=r"no answer within 0\.5 s") as raised:
        open_snapshot(f"http://user:{SECRET}@{server.url}", mirrors=mirrors, timeout=0.5)
    assert_no_secret(raised.value, mirrors)
    assert list(mirrors.glob("*.git")) == []


def test_no_password_means_no_prompt(server: Server, mirrors: Path) -> None:
    server.mode = "401"
    with pytest.raises(SourceUnreachable, match="credentials"):
        open_snapshot(f"http://{server.url}", mirrors=mirrors)
