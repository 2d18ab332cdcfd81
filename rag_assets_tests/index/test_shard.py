"""The embedded vector shard beyond what all stores do alike: files, builds that rank alike, damage."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import rag_assets
from rag_assets.index.vectors import qdrant_edge
from rag_assets.index.vectors.filters import SearchFilters
from rag_assets.index.vectors.qdrant_edge import ShardReader, engine_call, writer
from rag_assets.index.vectors.qdrant_edge import writer as shard_writer
from rag_assets.index.vectors.qdrant_edge.writer import ShardWriter
from rag_assets.index.vectors.vector_api import ScoredPoint, StoredPoint, VectorStoreError
from rag_assets_tests.index.sample_points import (
    DIMENSION,
    payload,
    point_id,
    points,
    scope,
    terms,
    unit_rows,
    with_digest,
)


def write(directory: Path, made: list[StoredPoint], dimension: int = DIMENSION, **options: Any) -> Path:
    writer = ShardWriter(directory, dimension, **options)
    writer.upsert(made)
    writer.finish()
    return directory


@pytest.fixture(scope="module")
def builds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two builds of equal points without a graph, two with one. Every fifth text occurs several times."""
    folder = tmp_path_factory.mktemp("builds")
    rows = unit_rows(400)
    made = [StoredPoint(point_id(n), rows[n if n % 5 else n % 40], terms(n), payload(n)) for n in range(400)]
    for name in ("flat", "flat again"):
        write(folder / name, made, hnsw_from_points=401)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(writer, "_HNSW_FULL_SCAN_KB", 1)  # else the engine scans a shard this small all the same
        for name in ("graph", "graph again"):
            write(folder / name, made, hnsw_from_points=400)
    return {path.name: path for path in folder.iterdir()}


def ranking(directory: Path) -> list[list[ScoredPoint]]:
    with ShardReader(directory) as opened:
        found = [opened.dense(query, scope(), 20) for query in unit_rows(30, seed=5)]
        return [*found, *(opened.sparse([5, term], [1.0, 1.0], scope(), 17) for term in range(10, 17))]


@pytest.mark.parametrize("kind", ["flat", "graph"])
def test_two_builds_rank_alike(builds: dict[str, Path], kind: str) -> None:
    """Ties too: the engine orders and cuts them differently in every build."""
    first, again = ranking(builds[kind]), ranking(builds[f"{kind} again"])
    assert first == again
    assert any(a.score == b.score for hits in first for a, b in itertools.pairwise(hits))


def test_the_graph_finds_what_the_scan_finds(builds: dict[str, Path]) -> None:
    pairs = list(zip(ranking(builds["flat"]), ranking(builds["graph"]), strict=True))
    total = sum(len(flat) for flat, _ in pairs)
    same = sum(len({hit.id for hit in flat} & {hit.id for hit in graph}) for flat, graph in pairs)
    assert same >= 0.95 * total


def test_a_shard_that_is_opened_again_while_it_is_written_is_the_same(
    builds: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shard_writer, "_UPSERT_BATCH", 30)
    monkeypatch.setattr(shard_writer, "_REOPEN_AFTER", 60)
    opened: list[int] = []
    reopen = ShardWriter._reopen
    monkeypatch.setattr(ShardWriter, "_reopen", lambda self: (opened.append(len(self._stored)), reopen(self)))
    rows = unit_rows(400)
    made = [StoredPoint(point_id(n), rows[n if n % 5 else n % 40], terms(n), payload(n)) for n in range(400)]
    again = write(tmp_path / "opened again", made, hnsw_from_points=401)
    assert opened == [60, 120, 180, 240, 330]  # then a quarter of what is there
    assert ranking(again) == ranking(builds["flat"])
    with ShardReader(again) as one, ShardReader(builds["flat"]) as other:
        assert one.digests() == other.digests() and len(one.digests()) == 400


def panicking(directory: Path) -> None:
    """Damage that the engine does not expect: it panics, which is no Exception in Python."""
    os.truncate(next(directory.glob("segments/*/payload_index/*-null/is_null/status.dat")), 2)


@pytest.mark.parametrize(
    "damage",
    [
        lambda d: shutil.rmtree(d),
        lambda d: (d / "edge_config.json").unlink(),
        lambda d: (d / "edge_config.json").write_text("{", encoding="utf-8"),
        lambda d: next(d.glob("segments/*/segment.json")).write_bytes(b""),
        lambda d: next(d.glob("segments/*/payload_storage/page_0.dat")).unlink(),
        panicking,
        lambda d: (d / "rag_assets.common.json").write_bytes(b'{"OrgId": "\xff"}'),
    ],
    ids=["no folder", "no configuration", "half a configuration", "empty segment", "no payloads", "panic", "no UTF-8"],
)
def test_damage_is_an_error_with_the_next_command(
    builds: dict[str, Path], tmp_path: Path, damage: Callable[[Path], object]
) -> None:
    shutil.copytree(builds["flat"], tmp_path / "s")
    damage(tmp_path / "s")
    with pytest.raises(VectorStoreError, match="rag-assets index --force"), ShardReader(tmp_path / "s") as opened:
        opened.retrieve(list(opened.ids()), scope())


def test_a_new_shard_is_made_where_the_base_makes_the_engine_panic(
    builds: dict[str, Path], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    shutil.copytree(builds["flat"], tmp_path / "base")
    panicking(tmp_path / "base")

    assert ShardWriter(tmp_path / "s", DIMENSION, base=tmp_path / "base").stored() == {}
    assert "cannot be built upon" in caplog.text


@pytest.mark.parametrize("ending", [KeyboardInterrupt, SystemExit])
def test_what_ends_the_program_passes(ending: type[BaseException]) -> None:
    with pytest.raises(ending), engine_call("the shard cannot be searched"):
        raise ending


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    with pytest.raises(VectorStoreError, match="cannot be made"):
        ShardWriter(tmp_path / "file" / "s", DIMENSION)


def test_a_shard_on_a_full_disk_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full = tmp_path / "full"
    shard = write(full / "shard", points(4))
    load = qdrant_edge.edge.EdgeShard.load

    def load_without_space(path: str) -> Any:
        if Path(path).is_relative_to(full):
            raise ValueError("Service runtime error: IO Error: No space left on device (os error 28)")
        return load(path)

    monkeypatch.setattr(
        qdrant_edge.edge, "EdgeShard", type("EdgeShard", (), {"load": staticmethod(load_without_space)})
    )
    qdrant_edge._left_open.clear()
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    with ShardReader(shard) as opened:
        assert opened.count() == 4
    (full / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(full / "temporary"))
    message = rf"cannot be opened: .*, and no copy .* in {full / 'temporary'} \(Service .*\); set TMPDIR to a folder"
    with pytest.raises(VectorStoreError, match=message):
        ShardReader(shard)
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(tempfile, "_candidate_tempdir_list", list)
    with pytest.raises(VectorStoreError, match=r"no copy .* in a temporary folder \(.*No usable temporary directory"):
        ShardReader(shard)


def test_a_copy_of_a_killed_process_goes_with_the_next_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shard = write(tmp_path / "shard", points(4))
    load = qdrant_edge.edge.EdgeShard.load

    def load_read_only(path: str) -> Any:
        if path == str(shard):
            raise ValueError("Service runtime error: IO Error: Read-only file system (os error 30)")
        return load(path)

    monkeypatch.setattr(qdrant_edge.edge, "EdgeShard", type("EdgeShard", (), {"load": staticmethod(load_read_only)}))
    qdrant_edge._left_open.clear()
    temporary, elsewhere = tmp_path / "temporary", tmp_path / "elsewhere"
    for folder in (temporary / "rag-assets-shard-old", temporary / "rag-assets-shard-new", temporary / "rag-assets-0"):
        (folder / "shard").mkdir(parents=True)
        (folder / "shard" / "vectors").write_text("…", encoding="utf-8")
    (elsewhere / "shard").mkdir(parents=True)
    (temporary / "rag-assets-shard-link").symlink_to(elsewhere)
    two_days_ago = time.time() - 2 * 24 * 60 * 60
    for name in ("rag-assets-shard-old", "rag-assets-0", "rag-assets-shard-link"):
        os.utime(temporary / name, (two_days_ago, two_days_ago), follow_symlinks=False)
    os.utime(elsewhere, (two_days_ago, two_days_ago))
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    with ShardReader(shard) as opened:
        assert opened.count() == 4
    left = {path.name for path in temporary.iterdir()}
    assert left == {"rag-assets-shard-new", "rag-assets-0", "rag-assets-shard-link"}
    assert (elsewhere / "shard").is_dir()


@pytest.mark.parametrize(
    ("name", "value"),
    [("_MEMORY_NEEDED", 1 << 62), ("_MEMORY_FOLDER", Path("no") / "such" / "folder")],
    ids=["memory folder too small", "no memory folder"],
)
def test_a_shard_is_made_without_a_memory_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: object
) -> None:
    """A mapped write into a full folder would kill the process (Docker gives it 64 MB)."""
    monkeypatch.setattr(writer, name, value)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    writer._empty_shard_files.cache_clear()
    with ShardReader(write(tmp_path / "s", points(4))) as opened:
        assert opened.count() == 4
    assert [path.name for path in tmp_path.iterdir()] == ["s"]


@pytest.mark.skipif(not hasattr(os.stat_result, "st_blocks"), reason="the platform does not tell what a file takes")
def test_a_small_shard_takes_little_disk() -> None:
    """A shard has 120 MB of zeros for its first points; they must not become blocks when the empty shard is copied. On
    a disk: in memory every page that is looked at counts."""
    with tempfile.TemporaryDirectory() as folder:
        shard = Path(folder) / "shard"
        ShardWriter(shard, 4).finish()
        taken = sum(path.stat().st_blocks * 512 for path in shard.rglob("*") if path.is_file())
    assert taken < 20 * 1024 * 1024


def test_a_small_shard_maps_little_for_its_payload_indexes(tmp_path: Path) -> None:
    """The engine reads these files whole whenever it opens them, and would set aside 5 MB for each index."""
    folder = write(tmp_path / "s", points(4))
    sizes = {path: path.stat().st_size for path in folder.rglob("payload_index/*-map/*")}
    assert len(sizes) > 40
    assert max(sizes.values()) <= 256 << 10, sizes


def test_payload_indexes_outgrow_their_first_files(tmp_path: Path) -> None:
    """Their values more than a page, the places of these the first file; a copy that is changed goes on from there."""
    made = []
    for n in range(4_600):
        long = payload(n, Symbol=f"Shop.{'Long' * 20}.Type{n}.End", Confidentiality="public")
        made.append(with_digest(StoredPoint(point_id(n), None, terms(n), long)))
    first = write(tmp_path / "first", made[:4_500], 0)
    grown = {path.parent.name for path in first.rglob("payload_index/*/page_1.dat")}
    assert any("symbol" in name for name in grown), grown
    changed = ShardWriter(tmp_path / "changed", 0, base=first)
    changed.delete([made[4].id])
    changed.upsert(made[4_500:])
    changed.finish()
    for folder, held in ((first, made[:4_500]), (tmp_path / "changed", [*made[:4], *made[5:]])):
        owned = [point.payload for point in held if point.payload["OrgId"] == "acme"]
        symbols = {payload["Symbol"]: 1 for payload in owned if payload["ProjectId"] == "shop"}
        with ShardReader(folder) as opened:
            assert opened.values("Symbol", scope()) == symbols
            assert {symbol: opened.count(scope(symbol_prefix=symbol)) for symbol in symbols} == symbols


def test_a_changed_copy_stays_open_for_who_reads_it_next(tmp_path: Path) -> None:
    """Once, and only as long as it is the same folder."""
    base, changed = write(tmp_path / "base", points(3)), tmp_path / "changed"
    for _ in range(2):
        shutil.rmtree(changed, ignore_errors=True)
        write(changed, points(5), base=base)
        assert list(qdrant_edge._left_open) == [qdrant_edge._identity(changed)]
    for _ in range(2):
        with ShardReader(changed) as opened:
            assert opened.count() == 5
        assert not qdrant_edge._left_open
    write(tmp_path / "other", points(5), base=base)
    shutil.rmtree(tmp_path / "other")
    with ShardReader(write(tmp_path / "other", points(2))) as opened:
        assert opened.count() == 2


@pytest.mark.parametrize(
    ("written", "deleted"), [((0, 1), ()), ((0, 398, 401, 402), ()), ((), ()), ((5,), (7, 8)), ((), (1,))], ids=str
)
def test_opening_a_changed_copy_changes_none_of_its_files(
    builds: dict[str, Path], tmp_path: Path, written: tuple[int, ...], deleted: tuple[int, ...]
) -> None:
    """Their digests are listed, and a reader may have no permission to write."""
    copy = ShardWriter(tmp_path / "copy", DIMENSION, base=builds["flat"])
    made = [StoredPoint(point_id(n), unit_rows(1, n)[0], terms(n + 1), payload(n, Symbol=f"New{n}")) for n in written]
    copy.upsert([with_digest(point) for point in made])
    copy.delete([point_id(n) for n in deleted])
    copy.finish()
    with ShardReader(tmp_path / "copy") as opened:  # what was left open
        assert opened.count() == 400 + sum(n >= 400 for n in written) - len(deleted)
        ranked = [opened.dense(unit_rows(1, n)[0], scope(), 5) for n in written]
        digests = opened.digests()
    before = {path: path.read_bytes() for path in sorted((tmp_path / "copy").rglob("*")) if path.is_file()}
    with ShardReader(tmp_path / "copy") as opened:
        assert opened.digests() == digests == shard_writer.held_digests(tmp_path / "copy")
        assert [opened.dense(unit_rows(1, n)[0], scope(), 5) for n in written] == ranked
    assert {path: path.read_bytes() for path in sorted((tmp_path / "copy").rglob("*")) if path.is_file()} == before


@pytest.mark.parametrize("graph_from", [1, 1_000], ids=["with a graph", "without"])
def test_a_field_that_no_point_had_is_found_by_when_it_comes(tmp_path: Path, graph_from: int) -> None:
    """In the same build, and in a later one; and one that goes is gone."""
    plain = points(30)
    told = [with_digest(StoredPoint(p.id, p.dense, p.sparse, p.payload | {"Stage": "draft"})) for p in plain]
    first = write(tmp_path / "first", plain, hnsw_from_points=graph_from)
    together = tmp_path / "together"
    writer = ShardWriter(together, DIMENSION, hnsw_from_points=graph_from)
    for batch in (plain[:20], told[20:]):
        writer.upsert(batch)
    writer.finish()
    later = write(tmp_path / "later", told[20:], base=first, hnsw_from_points=graph_from)
    last = write(tmp_path / "last", plain[20:], base=later, hnsw_from_points=graph_from)
    drafts = scope(stages=("Draft",))
    others = scope(excluded=SearchFilters(stages=("draft",)))
    owned = {p.id for p in plain if (p.payload["OrgId"], p.payload["ProjectId"]) == ("acme", "shop")}
    late = owned & {p.id for p in told[20:]}
    for folder, wanted in ((first, set()), (together, late), (later, late), (last, set())):
        with ShardReader(folder) as opened:
            everything = scope()
            seen = {known for known in owned if known in opened.ids(everything)}
            assert opened.values("Stage", everything) == ({"draft": len(seen & wanted)} if seen & wanted else {})
            assert set(opened.ids(drafts)) == seen & wanted == set(opened.retrieve(sorted(owned), drafts))
            assert set(opened.ids(others)) == seen - wanted
            assert {hit.id for hit in opened.dense(unit_rows(1)[0], drafts, 40)} == seen & wanted


READ = """\
import sys, tempfile
from pathlib import Path
from rag_assets.index.vectors.filters import SearchFilters
from rag_assets.index.vectors.qdrant_edge import ShardReader
from rag_assets_tests.index.sample_points import scope

with ShardReader(Path(sys.argv[1])) as opened:
    print(opened.count(), sorted(opened.ids(scope())) != [], list(Path(tempfile.gettempdir()).glob("rag-assets-*")))
"""


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="Windows has no such permissions")
@pytest.mark.parametrize("graph_from", [1, 1_000], ids=["with a graph", "without"])
def test_a_shard_is_read_where_nothing_may_be_written(graph_from: int) -> None:
    """As a user who may only read; a copy in a temporary folder is opened, and nothing of it stays."""
    command = [sys.executable, "-c", READ]
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("root may write everywhere, and there is no setpriv to be somebody else")
        somebody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        if subprocess.run([*somebody, sys.executable, "-c", ""], capture_output=True).returncode != 0:
            pytest.skip("only root can start this Python")
        command = [*somebody, *command]
    with tempfile.TemporaryDirectory() as folder:
        shard, temporary = Path(folder) / "shard", Path(folder) / "tmp"
        temporary.mkdir()
        write(shard, points(40), hnsw_from_points=graph_from)
        for path in (Path(folder), *Path(folder).rglob("*")):
            path.chmod(0o555 if path.is_dir() else 0o444)
        temporary.chmod(0o777)
        before = {path: path.stat().st_mtime_ns for path in shard.rglob("*")}
        try:
            packages = os.pathsep.join([str(Path(rag_assets.__file__).parents[1]), *sys.path])
            environment = os.environ | {"PYTHONPATH": packages, "TMPDIR": str(temporary), "HOME": str(temporary)}
            done = subprocess.run(
                [*command, str(shard)], env=environment, capture_output=True, text=True, timeout=120, check=False
            )
        finally:
            for path in (Path(folder), *Path(folder).rglob("*")):
                path.chmod(0o755)
        assert done.stdout == "40 True []\n", done.stderr
        assert {path: path.stat().st_mtime_ns for path in shard.rglob("*")} == before


def test_the_values_of_a_field_are_read_once_for_a_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And whoever gets them may change what he got; another scope has its own."""
    folder = write(tmp_path / "s", points(4))
    with ShardReader(folder) as opened:
        first = opened.values("Symbol", scope())
        assert first
        kept = dict(first)
        first.clear()
        calls: list[object] = []
        engine = opened._call
        monkeypatch.setattr(opened, "_call", lambda *asked: calls.append(asked) or engine(*asked))
        assert opened.values("Symbol", scope()) == kept and not calls
        assert opened.values("Symbol", replace(scope(), org_id="nobody")) == {} and calls
