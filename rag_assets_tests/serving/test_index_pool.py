"""Shared indexes: generations are followed, requests keep theirs, what is idle is closed."""

from __future__ import annotations

import gc
import re
import shutil
import threading
import time
import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_assets.index.generations import GenerationError
from rag_assets.index.layout import LabelError
from rag_assets.pipeline.workers import process_pool
from rag_assets.serving.access import Caller
from rag_assets.serving.index_pool import IndexPool
from rag_assets.serving.operations import Operations
from rag_assets.serving.requests import ReadRequest, SearchRequest, SymbolRequest
from rag_assets_tests.cli.conftest import index_without_dagster, new_repository
from rag_assets_tests.serving.conftest import Home, make_home

SHOP = "shop@main"
PARCEL: dict[str, str | bytes] = {"src/Orders/Parcel.cs": "namespace Shop.Orders;\n\npublic class Parcel { }\n"}


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return make_home(tmp_path)


@pytest.fixture
def pool(home: Home) -> Iterator[IndexPool]:
    with IndexPool(home.cli.home, None, idle_seconds=60) as made:
        yield made


def index_a_parcel(home: Home) -> None:
    home.shop.commit(PARCEL)
    index_without_dagster(home.cli.home, home.shop, "shop")


def test_an_index_is_opened_once_for_all_who_see_the_same(pool: IndexPool) -> None:
    with pool.index(SHOP, Caller()) as first, pool.index(SHOP, Caller(name="anna")) as second:
        assert first is second
    found: list[object] = []

    def use() -> None:
        with pool.index("site@main", Caller()) as index:
            found.append(index)
            time.sleep(0.05)

    threads = [threading.Thread(target=use) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8 and len({id(index) for index in found}) == 1 and pool.open_count() == 2


def test_a_request_keeps_its_generation_and_the_next_one_has_the_new_one(home: Home, pool: IndexPool) -> None:
    operations = Operations(pool)
    asked = SearchRequest(query="Parcel", label="shop")
    with pool.index(SHOP, Caller()) as before:
        index_a_parcel(home)
        assert pool.has_moved_on(before)
        assert not before.search("symbol:Parcel").hits
        assert operations.search(asked, Caller()).result.hits[0].path == "src/Orders/Parcel.cs"
        assert before.search("refund").hits  # it is still open
    with pool.index(SHOP, Caller()) as after:
        assert after.manifest.generation_id != before.manifest.generation_id
    assert pool.open_count() == 1
    operations.close()


def test_a_generation_that_is_pruned_while_it_is_read_is_read_again_as_the_next_one(
    home: Home, pool: IndexPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    operations = Operations(pool)
    with pool.index(SHOP, Caller()) as index:
        former = index.generation.directory
    taken = pool._take

    def pruned_after_it_was_taken(label: str, caller: Caller) -> object:
        opened = taken(label, caller)
        if former.exists():
            index_a_parcel(home)
            shutil.rmtree(former)
        return opened

    monkeypatch.setattr(pool, "_take", pruned_after_it_was_taken)
    found = operations.read(ReadRequest(place="src/Orders/Invoices.cs", label="shop"), Caller())
    assert found.lines.commit_sha == home.shop.git("rev-parse", "HEAD").strip()
    operations.close()


def test_what_nobody_asks_is_closed(pool: IndexPool) -> None:
    with pool.index(SHOP, Caller()):
        assert pool.close_idle(now=time.monotonic() + 3600) == 0  # it is in use
    assert pool.close_idle(now=time.monotonic() + 30) == 0
    assert pool.close_idle(now=time.monotonic() + 3600) == 1 and pool.open_count() == 0
    with pool.index(SHOP, Caller()) as index:
        assert index.search("refund").hits


def test_which_index_is_meant(home: Home, pool: IndexPool) -> None:
    assert pool.labels(Caller(folder=home.shop.path / "src"), None) == [SHOP]
    assert pool.labels(Caller(folder=home.shop.path, label="site"), None) == ["site@main"]
    inner = new_repository(home.shop.path / "vendor" / "other", {"README.md": "# Other\n"}).path
    with pytest.raises(LabelError, match="several indexes are here"):  # another repository, which is not indexed
        pool.labels(Caller(folder=inner), None)
    shutil.rmtree(inner.parent)
    assert pool.labels(Caller(folder=home.shop.path), "site") == ["site@main"]
    with pytest.raises(LabelError, match=r"name one as label: shop@main, site@main"):
        pool.labels(Caller(folder=home.cli.folder), None)
    with pytest.raises(LabelError, match="nothing is indexed here that you may see"):
        pool.labels(Caller(org_id="acme"), None)
    with pytest.raises(LabelError, match="that you may see; ask whoever gave you the token"):
        pool.labels(Caller(name="anna", org_id="acme"), None)
    with pytest.raises(LabelError, match=f"nothing is indexed in {re.escape(str(home.root))} that you may see"):
        pool.labels(Caller(org_id="acme", knows_paths=True), None)
    shutil.rmtree(home.cli.home.label("site@main"))
    assert pool.labels(Caller(), None) == [SHOP]


def test_an_index_that_cannot_be_read_is_no_choice(home: Home, pool: IndexPool) -> None:
    pointer = home.cli.home.label("site@main") / "active.json"
    pointer.write_bytes(pointer.read_bytes().replace(b"_", b"-", 1))
    assert list(pool.manifests(Caller())) == [SHOP]
    with pytest.raises(LabelError, match="no label 'site@main'"):
        pool.labels(Caller(name="anna"), "site@main")
    with pytest.raises(GenerationError, match=r"active\.json is damaged"):
        pool.labels(Caller(knows_paths=True), "site@main")
    operations = Operations(pool)
    assert operations.symbol(SymbolRequest(name="IOrders"), Caller()).label == SHOP
    operations.close()


def test_a_generation_that_was_replaced_is_given_back(
    home: Home, pool: IndexPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a server that nobody asks anything but questions, Python would look for cycles minutes later."""
    released: list[bool] = []
    monkeypatch.setattr(process_pool, "release_memory", lambda: released.append(True))
    gc.disable()
    try:
        with pool.index(SHOP, Caller()) as before:
            assert before.search("refund").hits
            parts = weakref.ref(before.parts)
            pool.give_back()
            assert not released
        del before
        index_a_parcel(home)
        with pool.index(SHOP, Caller()) as after:
            assert after.search("refund").hits
            pool.give_back()
            assert parts() is None and released == [True]
        pool.give_back()
        assert released == [True]
    finally:
        gc.enable()
