"""The payloads of the points of a shard, in a file beside it: what is read for hits."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from rag_assets.contracts.confidentiality import Confidentiality
from rag_assets.index.vectors.filters import SearchFilters, SearchScope
from rag_assets.index.vectors.payloads_and_paths import (
    PAYLOADS,
    POINT_FILES,
    PayloadStore,
    PayloadStoreChange,
    PointPaths,
    PointPathsChange,
)
from rag_assets.index.vectors.qdrant_edge import ShardReader
from rag_assets.index.vectors.vector_api import FileRef, StoredPoint, VectorStoreError
from rag_assets_tests.index.sample_points import (
    payload,
    point_id,
    points,
    scope,
    write,
)

COUNT = 120
IDS = [point_id(number) for number in range(COUNT)]

SCOPES = {
    "own": scope(),
    "other organisation": scope(org="globex"),
    "label": scope(label="shop@main"),
    "only public": scope(clearance=Confidentiality.PUBLIC),
    "everything": scope(clearance=Confidentiality.RESTRICTED),
    "kinds and a glob": scope(kinds=("Model", "Test"), paths=("src/**/*1.cs",)),
    "all but a few files": scope(paths=("*.cs",)),
    "excluded": scope(excluded=SearchFilters(kinds=("Model",), paths=("src/Api/",))),
    "names": scope(symbols=("member1", "Orders.Type*")),
    "beginning of a name": scope(symbols=("typ*",)),
    "namespace": scope(symbol_prefix="Shop.Orders"),
    "a period": scope(since="2024-02-01", before="2026-01-01"),
    "ids": scope(ids=frozenset(IDS[:9])),
}


@pytest.fixture(scope="module")
def shard(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("shard") / "shard", points(COUNT))


@pytest.mark.parametrize("asked", SCOPES.values(), ids=SCOPES)
def test_what_is_given_out_is_what_the_engine_finds(shard: Path, asked: SearchScope) -> None:
    """Whoever may not find a point does not get its payload by its id either (B02)."""
    with ShardReader(shard) as reader:
        within = reader.ids(asked)
        assert reader.retrieve(IDS, asked) == {known: payload(IDS.index(known)) for known in sorted(within)}
        assert reader.count(asked) == len(within) < COUNT


def test_each_of_these_scopes_finds_some(shard: Path) -> None:
    with ShardReader(shard) as reader:
        assert [name for name, asked in SCOPES.items() if not reader.retrieve(IDS, asked)] == []


def test_a_change_of_a_shard_gives_the_bytes_of_a_new_one(shard: Path, tmp_path: Path) -> None:
    told = [StoredPoint(p.id, p.dense, p.sparse, p.payload | {"Title": "Ä" * 900}) for p in points(60)[7:9]]
    wanted = [*points(60)[:7], *told, *points(COUNT + 10)[12:]]
    changed = write(tmp_path / "changed", wanted, base=shard)
    assert (changed / PAYLOADS).read_bytes() == (write(tmp_path / "new", wanted) / PAYLOADS).read_bytes()
    with ShardReader(changed) as reader:
        found = reader.retrieve([point.id for point in wanted], scope(clearance=Confidentiality.RESTRICTED))
    assert found == {point.id: point.payload for point in wanted if point.id in found}
    assert len(found) > 10


@pytest.mark.parametrize("seed", range(10))
def test_whatever_changes_the_same_payloads_give_the_same_bytes(seed: int, tmp_path: Path) -> None:
    """The slow, obvious reference: a table of what there is at the end."""
    chance = random.Random(seed)
    expected: dict[str, bytes] = {}
    files, payloads = PointPaths(), None
    for step in range(8):
        rows, change = PointPathsChange(files), PayloadStoreChange(tmp_path, payloads)
        for _ in range(chance.randrange(15)):
            identifier = point_id(chance.randrange(30))
            if chance.random() < 0.4:
                rows.drop([identifier])
                expected.pop(identifier, None)
            else:
                rows.put([(identifier, FileRef("shop@main", "a.cs"))])
                expected[identifier] = chance.randbytes(chance.randrange(1, 90))
                change.put(identifier, expected[identifier])
        change.finish(tmp_path / f"{step}", rows.runs())
        anew, order = PayloadStoreChange(tmp_path), PointPathsChange(PointPaths())
        for identifier in chance.sample(sorted(expected), len(expected)):
            anew.put(identifier, expected[identifier])
            order.put([(identifier, FileRef("shop@main", "a.cs"))])
        anew.finish(tmp_path / "anew", order.runs())
        assert (tmp_path / f"{step}").read_bytes() == (tmp_path / "anew").read_bytes()
        files, payloads = PointPaths(rows.content()), PayloadStore(tmp_path / f"{step}")
        assert [payloads.at(row) for row in range(payloads.size)] == [expected[known] for known in sorted(expected)]
    assert payloads is not None
    payloads.close()


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def of_another(path: Path) -> None:
    change, rows = PayloadStoreChange(path.parent), PointPathsChange(PointPaths())
    change.put(point_id(1), b"{}")
    rows.put([(point_id(1), FileRef("", ""))])
    change.finish(path, rows.runs())


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda path: path.write_bytes(b""), "cannot be read"),
        (lambda path: path.write_bytes(b"{}" * 40), "not a file of that format"),
        (cut, r"should have [\d,]+ bytes and has [\d,]+"),
        (of_another, f"has {COUNT} points, {PAYLOADS} 1"),
        (Path.unlink, f"{PAYLOADS} is missing"),
        (lambda path: (path.parent / POINT_FILES).unlink(), f"{POINT_FILES} is missing"),
    ],
    ids=["empty", "something else", "cut short", "of another shard", "gone", "without its ids"],
)
def test_damage_is_an_error_with_the_next_command(
    shard: Path, tmp_path: Path, damage: Callable[[Path], object], said: str
) -> None:
    folder = write(tmp_path / "shard", points(COUNT))
    damage(folder / PAYLOADS)
    with pytest.raises(VectorStoreError, match=said) as raised:
        ShardReader(folder)
    assert "rag-assets index --force" in str(raised.value)


@pytest.mark.parametrize("bodies", [b"\0", msgspec.json.encode("a text")[:1]], ids=["zeros", "no JSON"])
def test_a_damaged_payload_is_an_error_when_it_is_read(tmp_path: Path, bodies: bytes) -> None:
    folder = write(tmp_path / "shard", points(COUNT))
    whole = bytearray((folder / PAYLOADS).read_bytes())
    start = 16 + 8 * (COUNT + 1)
    whole[start:] = bodies * (len(whole) - start)
    (folder / PAYLOADS).write_bytes(whole)
    with ShardReader(folder) as reader, pytest.raises(VectorStoreError, match="run: rag-assets index --force"):
        reader.retrieve(IDS[:1], scope())
