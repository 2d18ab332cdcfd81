"""One machine publishes, another pulls: whole generations or nothing, and only what changed goes over the network."""

from __future__ import annotations

import shutil
import socket
import socketserver
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest

from rag_assets import open_index
from rag_assets.index.generation_files import files_of
from rag_assets.index.generations import active_pointer, finished_generations, generation_directory
from rag_assets.index.layout import IndexHome
from rag_assets.index.remote.manifests import manifest_path, pointer_path, published_ids, read_published
from rag_assets.index.remote.objects import (
    BLOCK_BYTES,
    ContentBlock,
    ObjectStore,
    PackedFile,
    RemoteError,
    blocks_of,
    object_path,
    open_remote,
)
from rag_assets.index.remote.publishing import GRACE_SECONDS, publish, sweep
from rag_assets.index.remote.pulling import pull
from rag_assets.pipeline.build import BuildError
from rag_assets.pipeline.publish import begin_from_remote, publish_label, pull_label
from rag_assets.pipeline.run_stages import run_stages
from rag_assets.settings import EmbedderSettings, RepositorySettings, Settings, StoreSettings
from rag_assets_tests.generation_history import copy_sparse
from rag_assets_tests.git_repository import Repository
from rag_assets_tests.index.remote_stores import CutOff, remote_url, s3_server, store
from rag_assets_tests.pipeline.conftest import lexical

__all__ = ["remote_url", "s3_server", "store"]  # fixtures are found by their names

LABEL = "shop@main"
FILES = {f"src/Order{number}.cs": f"public class Order{number} {{ public int Id; }}\n" for number in range(12)}
NOW = 1_800_000_000.0


@dataclass(frozen=True)
class Builder:
    """A machine that builds: a repository and a home."""

    source: Repository
    home: IndexHome
    settings: Settings

    def build(self, files: dict[str, str] | None = None) -> str:
        """Commits, indexes, and returns what is served then."""
        if files:
            self.source.commit(files)
        repository = RepositorySettings(id="shop", location=str(self.source.path), ref="main")
        build, _ = run_stages(self.settings, LABEL, repository)
        return build.spec.generation_id


@pytest.fixture
def builder(tmp_path: Path) -> Builder:
    return new_builder(tmp_path)


def new_builder(tmp_path: Path) -> Builder:
    source = Repository.new(tmp_path / "source", FILES)
    settings = lexical(tmp_path / "builder")
    return Builder(source, IndexHome(settings.home), settings)


@dataclass(frozen=True)
class Twice:
    """A home with two generations: of a commit, and of the next one, which changes one file."""

    home: IndexHome
    old: str
    new: str


@pytest.fixture(scope="module")
def twice(tmp_path_factory: pytest.TempPathFactory) -> Twice:
    folder = tmp_path_factory.mktemp("twice")
    made = new_builder(folder)
    return Twice(made.home, made.build(), made.build({"src/Order3.cs": "public class Changed { }\n"}))


@pytest.fixture(scope="module")
def behind(twice: Twice, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a remote store of both generations, and another home that has pulled the first."""
    folder = tmp_path_factory.mktemp("behind")
    store = open_remote((folder / "remote").as_uri())
    publish(twice.home, LABEL, twice.old, store)
    pull(other(folder), LABEL, store)
    publish(twice.home, LABEL, twice.new, store, keep=2)
    return folder


def contents(home: IndexHome, generation: str) -> dict[str, bytes]:
    directory = generation_directory(home, LABEL, generation)
    return {path.relative_to(directory).as_posix(): path.read_bytes() for path in files_of(directory)}


def hits(home: IndexHome) -> list[tuple[str, float, str]]:
    with open_index(LABEL, home=home.root) as index:
        return [(hit.path, hit.score, index.source_slice(hit)) for hit in index.search("order id", limit=100)]


def other(tmp_path: Path) -> IndexHome:
    return IndexHome(tmp_path / "other")


@pytest.fixture
def folder_store(tmp_path: Path) -> ObjectStore:
    return open_remote((tmp_path / "remote").as_uri())


# the way there and back


def test_what_is_pulled_is_what_was_published(tmp_path: Path, twice: Twice, store: ObjectStore) -> None:
    done = publish(twice.home, LABEL, twice.new, store)
    assert done.sent > 0 and done.withdrawn == ()
    here = other(tmp_path)
    fetched = pull(here, LABEL, store)
    assert (fetched.generation_id, fetched.serving, fetched.unchanged) == (twice.new, twice.new, False)
    assert contents(here, twice.new) == contents(twice.home, twice.new)
    assert hits(here) == hits(twice.home) and {path for path, *_ in hits(here)} == set(FILES)
    assert pull(here, LABEL, store).unchanged


def test_only_what_changed_goes_over_the_network(tmp_path: Path, twice: Twice, folder_store: ObjectStore) -> None:
    store = folder_store
    first = publish(twice.home, LABEL, twice.old, store)
    again = publish(twice.home, LABEL, twice.old, store)
    assert (again.sent, again.sent_bytes) == (0, 0) and again.reused == first.sent
    here = other(tmp_path)
    pull(here, LABEL, store)
    before = set(all_references(store, twice.old))
    second = publish(twice.home, LABEL, twice.new, store, keep=2)
    after = set(all_references(store, twice.new))
    assert second.sent == len(after - before) < first.sent
    assert len(set(texts_of(store, twice.new)) - set(texts_of(store, twice.old))) == 1, "one text of all documents"
    fetched = pull(here, LABEL, store)
    assert fetched.fetched <= second.sent, "each once, whatever has it twice"
    assert contents(here, twice.new) == contents(twice.home, twice.new)


@pytest.mark.parametrize("is_sent_again", [False, True])
def test_content_that_a_generation_has_twice_counts_once(
    twice: Twice, folder_store: ObjectStore, is_sent_again: bool
) -> None:
    if is_sent_again:
        publish(twice.home, LABEL, twice.new, folder_store)
    planned = publish(twice.home, LABEL, twice.new, folder_store, force=is_sent_again, dry_run=True)
    done = publish(twice.home, LABEL, twice.new, folder_store, force=is_sent_again)
    assert len(list(all_references(folder_store, twice.new))) > done.sent, "the generation has something twice"
    assert done.sent == len(list(folder_store.names()))
    assert done.reused == 0, "an empty target had nothing, and nothing is asked for that is sent again"
    assert (planned.sent, planned.sent_bytes, planned.reused) == (done.sent, done.sent_bytes, 0)
    grown = publish(twice.home, LABEL, twice.old, folder_store, keep=2)
    assert grown.sent + grown.reused == len(set(all_references(folder_store, twice.old)))
    assert grown.sent == len(list(folder_store.names())) - done.sent


def test_a_home_that_has_nothing_but_a_pull_embeds_only_the_difference(tmp_path: Path, builder: Builder) -> None:
    remote = StoreSettings(remote=(tmp_path / "remote").as_uri())
    slow = EmbedderSettings(provider="minilm")  # vectors of the table are not kept: they cost less than to look them up
    settings = Settings(home=tmp_path / "one", stores=remote, embedder=slow)
    repository = RepositorySettings(id="shop", location=str(builder.source.path), ref="main")
    run_stages(settings, LABEL, repository)
    fresh = Settings(home=tmp_path / "two", stores=remote, embedder=slow)
    assert begin_from_remote(IndexHome(fresh.home), fresh, LABEL) == []
    builder.source.commit({"src/New.cs": "public class Newcomer { }\n"})
    _, reports = run_stages(fresh, LABEL, repository)
    work = {report.stage: report.work for report in reports}["embeddings"]
    assert work["from_cache"] > 0 and 0 < work["embedded"] <= 3


def test_sparse_files_stay_sparse(tmp_path: Path) -> None:
    path = tmp_path / "sparse"
    with path.open("wb") as file:
        file.truncate(10 * BLOCK_BYTES)
        file.seek(7 * BLOCK_BYTES + 5)
        file.write(b"x")
    assert [offset for offset, _ in blocks_of(path)] == [7 * BLOCK_BYTES]


# what can go wrong


@pytest.mark.parametrize("writes", ["first", "half", "manifest", "pointer"])
def test_half_a_publish_is_invisible_and_the_next_one_goes_on(
    tmp_path: Path, twice: Twice, folder_store: ObjectStore, writes: str
) -> None:
    store = folder_store
    publish(twice.home, LABEL, twice.old, store, keep=2)
    sent = publish(twice.home, LABEL, twice.new, store, dry_run=True).sent
    cut = {"first": 0, "half": sent // 2, "manifest": sent, "pointer": sent + 1}[writes]
    with pytest.raises(RemoteError, match="the machine died"):
        publish(twice.home, LABEL, twice.new, CutOff.before(store, cut), keep=2)
    here = other(tmp_path)
    assert pull(here, LABEL, store).serving == twice.old
    assert publish(twice.home, LABEL, twice.new, store, keep=2).sent == sent - min(cut, sent)
    assert pull(here, LABEL, store).serving == twice.new
    assert contents(here, twice.new) == contents(twice.home, twice.new)


@pytest.mark.parametrize("what", ["block", "document", "list", "manifest"])
@pytest.mark.parametrize("damage", ["missing", "cut", "other", "empty"])
def test_what_is_missing_or_damaged_is_named_and_changes_nothing(
    tmp_path: Path, twice: Twice, behind: Path, what: str, damage: str
) -> None:
    shutil.copytree(behind, tmp_path, dirs_exist_ok=True, copy_function=copy_sparse)
    here, store = other(tmp_path), open_remote((tmp_path / "remote").as_uri())
    path = path_of(store, what, twice)
    data = {"cut": store.read(path)[:-3], "other": b"\0" * 8 + b"nonsense", "empty": b""}.get(damage)
    if data is None:
        store.delete(path)
    else:
        store.write(path, data)
    with pytest.raises(RemoteError, match=r"(is not there|is damaged).*rag-assets publish"):
        pull(here, LABEL, store)
    assert hits(here) and active_pointer(here, LABEL).generation_id == twice.old  # type: ignore[union-attr]
    assert not (list(here.trash(LABEL).iterdir()) if here.trash(LABEL).exists() else [])
    publish(twice.home, LABEL, twice.new, store, keep=2, force=True)
    assert pull(here, LABEL, store).serving == twice.new


def path_of(store: ObjectStore, what: str, twice: Twice) -> str:
    """Of an object that only the new generation has."""
    if what == "manifest":
        return manifest_path(LABEL, twice.new)
    before, after = read_published(store, LABEL, twice.old), read_published(store, LABEL, twice.new)
    if what == "list":
        (name,) = set(after.documents) - set(before.documents)
    elif what == "document":
        (name,) = set(texts_of(store, twice.new)) - set(texts_of(store, twice.old))
    else:
        known = {block.name for file in before.files for block in file.blocks}
        name = next(block.name for file in after.files for block in file.blocks if block.name not in known)
    return object_path(name)


def texts_of(store: ObjectStore, generation: str) -> Iterator[str]:
    for listing in read_published(store, LABEL, generation).documents:
        yield from msgspec.json.decode(store.get(listing), type=list[str])


def test_two_publishers_at_once_leave_one_whole_generation(
    tmp_path: Path, twice: Twice, folder_store: ObjectStore
) -> None:
    store = folder_store
    ids = [twice.old, twice.new]
    failed: list[BaseException] = []

    def work(generation: str) -> None:
        try:
            publish(twice.home, LABEL, generation, store, keep=2)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=[generation]) for generation in ids]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert set(published_ids(store, LABEL)) == set(ids)
    here = other(tmp_path)
    serving = pull(here, LABEL, store).serving
    assert contents(here, serving) == contents(twice.home, serving)


def test_a_label_that_nobody_published_is_named(tmp_path: Path, store: ObjectStore) -> None:
    store.write(pointer_path(LABEL), b"{}")
    with pytest.raises(RemoteError, match=r"nothing of label 'shop@mian' is published; published labels: shop@main"):
        pull(other(tmp_path), "shop@mian", store)


@pytest.mark.parametrize("path", ["../../../evil", "/etc/evil", "a/../../b", "C:evil", "a\\..\\b", ""])
def test_a_store_cannot_write_outside_a_generation(
    tmp_path: Path, twice: Twice, folder_store: ObjectStore, path: str
) -> None:
    store, generation = folder_store, twice.new
    publish(twice.home, LABEL, generation, store)
    found = read_published(store, LABEL, generation)
    name = store.put(b"evil")
    evil = PackedFile(path, 4, (ContentBlock(0, name),))
    store.write(manifest_path(LABEL, generation), msgspec.json.encode(msgspec.structs.replace(found, files=(evil,))))
    with pytest.raises(RemoteError, match="no place inside"):
        pull(other(tmp_path), LABEL, store)
    assert not list(tmp_path.rglob("*evil*"))


def test_a_server_that_is_not_there_is_named_soon_and_without_credentials(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("s3fs", reason="s3fs is not installed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}"
    monkeypatch.setenv("AWS_ENDPOINT_URL", address)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "somebody")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "geheim-geheim")
    monkeypatch.setattr("rag_assets.index.remote.objects._FIRST_WAIT_SECONDS", 0.01)
    with pytest.raises(RemoteError, match=r"s3://nowhere/x: .*run the command again") as caught:
        pull(other(tmp_path), LABEL, open_remote("s3://nowhere/x"))
    assert "geheim" not in str(caught.value)


@pytest.mark.parametrize(
    ("reply", "requests"),
    [
        pytest.param(b"HTTP/1.1 503 Slow Down\r\nContent-Length: 0\r\n\r\n", 4, id="busy"),
        pytest.param(b"", 8, id="hangs up"),  # aiohttp repeats once what it may
    ],
)
def test_a_server_that_fails_is_asked_four_times(reply: bytes, requests: int, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("s3fs", reason="s3fs is not installed")
    asked = []

    class Failing(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            while line := self.rfile.readline():
                if line.startswith((b"GET ", b"HEAD ")):
                    asked.append(line)
                if line == b"\r\n":
                    self.wfile.write(reply)
                    return

    monkeypatch.setattr("rag_assets.index.remote.objects._FIRST_WAIT_SECONDS", 0.01)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "somebody")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "geheim-geheim")
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Failing) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.server_address[1]}")
        with pytest.raises(RemoteError):
            open_remote("s3://busy/x").read("labels/a")
        server.shutdown()
    assert len(asked) == requests


def test_the_words_of_a_client_never_carry_a_credential(
    store: ObjectStore, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "geheim-geheim")

    def fails(*_: object) -> None:
        raise PermissionError("signature of geheim-geheim refused")

    broken = ObjectStore(store.url, type("Files", (), {"cat_file": fails})(), store._root)
    with pytest.raises(RemoteError, match="check the credentials") as caught:
        broken.read("x")
    assert "geheim" not in str(caught.value) + caplog.text
    assert caught.value.__cause__ is None and caught.value.__suppress_context__


# what nobody needs any more


def test_objects_go_when_nothing_has_needed_them_for_long(
    tmp_path: Path, twice: Twice, folder_store: ObjectStore
) -> None:
    store, old, new = folder_store, twice.old, twice.new
    publish(twice.home, LABEL, old, store, now=NOW)
    names = {name for name, _ in store.names()}
    done = publish(twice.home, LABEL, new, store, now=NOW + 10, keep=1)
    assert done.withdrawn == (old,) and published_ids(store, LABEL) == [new]
    assert names <= {name for name, _ in store.names()}, "another machine may be pulling it"
    day = NOW + GRACE_SECONDS
    assert sweep(store, day) == (0, 0), "now it is known since when"
    assert sweep(store, day + GRACE_SECONDS, dry_run=True)[0] > 0
    assert names <= {name for name, _ in store.names()}, "a dry run deletes nothing"
    count, freed = sweep(store, day + GRACE_SECONDS)
    assert count > 0 and freed > 0
    here = other(tmp_path)
    assert pull(here, LABEL, store).serving == new
    assert contents(here, new) == contents(twice.home, new)
    left = {name for name, _ in store.names()}
    assert left == set(all_references(store, new)), "exactly what is published"


def test_every_kind_of_store_says_how_old_objects_are_and_deletes_them(store: ObjectStore) -> None:
    """Few, as an S3 server of Python's takes its time for each."""
    for number in range(3):
        store.put(b"%d" % number * 100)
    day = NOW + GRACE_SECONDS
    assert sweep(store, day) == (0, 0), "now it is known since when"
    assert sweep(store, day + GRACE_SECONDS, dry_run=True) == (3, sum(size for _, size in store.names()))
    assert len(list(store.names())) == 3
    count, freed = sweep(store, day + GRACE_SECONDS)
    assert count == 3 and freed > 0 and list(store.names()) == []


def all_references(store: ObjectStore, generation: str) -> Iterator[str]:
    found = read_published(store, LABEL, generation)
    yield from (block.name for file in found.files for block in file.blocks)
    yield from found.documents
    yield from texts_of(store, generation)


@pytest.mark.parametrize(("keep", "published"), [(1, 1), (2, 2), (5, 2)])
def test_keep_is_how_many_generations_stay_published(
    twice: Twice, folder_store: ObjectStore, keep: int, published: int
) -> None:
    for generation in (twice.old, twice.new):
        publish(twice.home, LABEL, generation, folder_store, keep=keep)
    assert len(published_ids(folder_store, LABEL)) == published
    assert twice.new in published_ids(folder_store, LABEL)


def test_nothing_is_deleted_while_a_generation_cannot_be_read(twice: Twice, folder_store: ObjectStore) -> None:
    store = folder_store
    publish(twice.home, LABEL, twice.new, store, now=NOW)
    store.write(manifest_path("other@main", "x"), b"damaged")
    for day in (1, 2, 3):
        with pytest.raises(RemoteError, match=r"other@main/generations/x.json is damaged"):
            sweep(store, NOW + day * GRACE_SECONDS)
    assert set(all_references(store, twice.new)) <= {name for name, _ in store.names()}


# the settings, and what a build does on its own


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("s3://key:geheim@bucket/x", "must not hold a key"),
        ("https://bucket.example.org/x", "must be s3://bucket/prefix, file:///folder or the path"),
        ("s3://", "must be s3"),
        ("file://host/share", "must be s3"),
        ("s3://bucket/x?versionId=1", "must be s3"),
    ],
    ids=["key", "https", "no-bucket", "host", "query"],
)
def test_an_address_that_cannot_be_one_is_refused(value: str, message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        StoreSettings(remote=value)
    assert "geheim" not in caught.value.errors()[0]["msg"]  # type: ignore[attr-defined]


def test_a_build_publishes_what_it_serves(tmp_path: Path, builder: Builder) -> None:
    """To an address, whatever store it names."""
    address = (tmp_path / "remote").as_uri()
    settings = builder.settings.model_copy(update={"stores": StoreSettings(remote=address)})
    generation = Builder(builder.source, builder.home, settings).build()
    here = lexical(tmp_path / "other").model_copy(update={"stores": StoreSettings(remote=address)})
    assert pull_label(IndexHome(here.home), here, LABEL).serving == generation


def test_a_publish_that_fails_is_a_problem_of_the_report_and_tried_again(
    tmp_path: Path, builder: Builder, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocker = tmp_path / "blocker"
    blocker.write_text("a file where a folder should be")
    monkeypatch.setattr("rag_assets.index.remote.objects._FIRST_WAIT_SECONDS", 0.01)
    settings = builder.settings.model_copy(update={"stores": StoreSettings(remote=(blocker / "remote").as_uri())})
    repository = RepositorySettings(id="shop", location=str(builder.source.path), ref="main")
    build, reports = run_stages(settings, LABEL, repository)
    assert finished_generations(builder.home, LABEL) == [build.spec.generation_id]
    (problem,) = reports[-1].problems
    assert "not published" in problem and "rag-assets publish shop@main" in problem
    blocker.unlink()
    _, reports = run_stages(settings, LABEL, repository)
    assert reports[-1].unchanged and not reports[-1].problems
    assert published_ids(open_remote(settings.stores.remote), LABEL) == [build.spec.generation_id]
    before = (blocker / "remote" / pointer_path(LABEL)).stat().st_mtime_ns
    run_stages(settings, LABEL, repository)
    assert (blocker / "remote" / pointer_path(LABEL)).stat().st_mtime_ns == before, "it is there already"


def test_a_home_without_the_label_begins_from_what_is_published_if_it_can(
    tmp_path: Path, twice: Twice, folder_store: ObjectStore
) -> None:
    store = folder_store
    here = lexical(tmp_path / "other").model_copy(update={"stores": StoreSettings(remote=store.url)})
    assert begin_from_remote(IndexHome(here.home), here, LABEL) == [], "the first build of a label has nothing to pull"
    publish(twice.home, LABEL, twice.new, store)
    store.write(manifest_path(LABEL, twice.new), b"damaged")
    (problem,) = begin_from_remote(IndexHome(here.home), here, LABEL)
    assert "built from nothing" in problem and "is damaged" in problem
    publish(twice.home, LABEL, twice.new, store)
    assert begin_from_remote(IndexHome(here.home), here, LABEL) == []
    assert active_pointer(IndexHome(here.home), LABEL).generation_id == twice.new  # type: ignore[union-attr]
    before = list(IndexHome(here.home).label(LABEL).rglob("*"))
    assert begin_from_remote(IndexHome(here.home), here, LABEL) == []
    assert list(IndexHome(here.home).label(LABEL).rglob("*")) == before, "what is served here is not replaced"


def test_without_a_remote_store_the_command_says_what_to_set(twice: Twice) -> None:
    with pytest.raises(BuildError, match=r"set stores\.remote to s3://bucket/prefix"):
        publish_label(twice.home, lexical(twice.home.root), LABEL)


def test_the_package_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    registry = pytest.importorskip("fsspec.registry", reason="fsspec is not installed")
    monkeypatch.delitem(registry._registry, "s3", raising=False)  # where it is known after its first use
    monkeypatch.setitem(sys.modules, "s3fs", None)
    with pytest.raises(RemoteError, match=r"needs a package \(.*s3fs.*\); run: pip install 'rag-assets\[s3\]'"):
        open_remote("s3://indexes/x")
