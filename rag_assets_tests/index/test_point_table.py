"""Which file each point is of and what its payload is, beside the shard: what rankings and pages of hits read."""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from rag_assets.contracts.confidentiality import Confidentiality
from rag_assets.index.vectors.filters import SearchFilters, SearchScope
from rag_assets.index.vectors.point_table import POINTS, PointTable, PointTableChange, read_point_table
from rag_assets.index.vectors.qdrant_edge import ShardReader
from rag_assets.index.vectors.qdrant_edge.writer import ShardWriter
from rag_assets.index.vectors.vector_api import FileRef, StoredPoint, VectorStoreError
from rag_assets_tests.index.sample_points import DIMENSION, payload, point_id, points, scope, write
from rag_assets_tests.stored_points import starts_of_payloads

UNKNOWN = "ffffffff-ffff-5fff-bfff-ffffffffffff"

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


def test_no_payload_is_read_for_a_file(shard: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ShardReader(shard) as reader:
        monkeypatch.setattr(reader, "retrieve", None)
        ids = [point_id(number) for number in (3, 1, 40)]
        assert reader.places([*ids, UNKNOWN], scope()) == {
            point_id(number): FileRef.of(payload(number)) for number in (3, 1, 40)
        }


def test_a_change_of_a_shard_gives_the_bytes_of_a_new_one(shard: Path, tmp_path: Path) -> None:
    told = [StoredPoint(p.id, p.dense, p.sparse, p.payload | {"Title": "Ä" * 900}) for p in points(60)[7:9]]
    moved = [StoredPoint(p.id, p.dense, p.sparse, p.payload | {"Path": "src/Moved.cs"}) for p in points(60)[9:11]]
    wanted = [*points(60)[:7], *told, *moved, *points(COUNT + 10)[14:]]
    assert ShardWriter(tmp_path / "used", DIMENSION, base=shard).stored()
    changed = write(tmp_path / "changed", wanted, base=shard)
    assert (changed / POINTS).read_bytes() == (write(tmp_path / "new", wanted) / POINTS).read_bytes()
    with ShardReader(changed) as reader:
        found = reader.retrieve([point.id for point in wanted], scope(clearance=Confidentiality.RESTRICTED))
    assert found == {point.id: point.payload for point in wanted if point.id in found}
    assert len(found) > 10


def random_ids(chance: random.Random) -> list[str]:
    """Ids of which many have the same first half, as those of counted points."""
    firsts = [0, 1, (1 << 64) - 1, *(chance.getrandbits(64) for _ in range(20))]
    return [str(uuid.UUID(int=chance.choice(firsts) << 64 | chance.getrandbits(3))) for _ in range(60)]


@pytest.mark.parametrize("seed", range(20))
def test_whatever_changes_the_same_points_give_the_same_bytes(seed: int, tmp_path: Path) -> None:
    """The slow, obvious reference: what there is at the end."""
    chance = random.Random(seed)
    ids = random_ids(chance)
    places = [
        FileRef(label, f"src/{name}") for label in ("shop@main", "site@main") for name in ("Ä.cs", "a b.cs", "c", "")
    ]
    expected: dict[str, tuple[FileRef, bytes]] = {}
    table = PointTable()
    for step in range(12):
        change = PointTableChange(tmp_path, table)
        for _ in range(chance.randrange(12)):
            identifier = chance.choice(ids)
            if chance.random() < 0.4:
                change.drop([identifier])
                expected.pop(identifier, None)
            else:
                expected[identifier] = chance.choice(places), chance.randbytes(chance.randrange(1, 90))
                change.put(identifier, *expected[identifier])
        folder = tmp_path / f"{step}"
        folder.mkdir()
        change.write(folder / POINTS)
        anew = PointTableChange(tmp_path)
        for identifier in chance.sample(sorted(expected), len(expected)):
            anew.put(identifier, *expected[identifier])
        anew.write(tmp_path / "anew")
        assert (folder / POINTS).read_bytes() == (tmp_path / "anew").read_bytes()
        table = read_point_table(folder)
        assert [table.payload(row) for row in range(table.size)] == [expected[known][1] for known in sorted(expected)]
        assert {known: table.place(known) for known in ids} == {
            known: expected[known][0] if known in expected else None for known in ids
        }
    table.close()


def test_without_points_nothing_is_of_a_file() -> None:
    assert PointTable().place(UNKNOWN) is None


def test_a_shard_without_it_is_not_built_upon(tmp_path: Path) -> None:
    base = write(tmp_path / "base", points(20))
    (base / POINTS).unlink()
    assert not ShardWriter(tmp_path / "next", DIMENSION, base=base).stored()


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def of_another(path: Path) -> None:
    change = PointTableChange(path.parent)
    change.put(point_id(1), FileRef("", ""), b"{}")
    change.write(path)


def folder_of_that_name(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda path: path.write_bytes(b""), "cannot be read"),
        (lambda path: path.write_bytes(b"{}" * 40), "not a file of that format"),
        (cut, r"should have [\d,]+ bytes and has [\d,]+"),
        (lambda path: path.write_bytes(path.read_bytes()[:60]), r"should have [\d,]+ bytes and has 60"),
        (of_another, f"has {COUNT} points, {POINTS} 1"),
        (Path.unlink, f"{POINTS} is missing"),
        (folder_of_that_name, rf"{POINTS} cannot be read"),
    ],
    ids=["empty", "something else", "cut short", "cut in the table", "of another shard", "gone", "a folder"],
)
def test_damage_is_an_error_with_the_next_command(tmp_path: Path, damage: Callable[[Path], object], said: str) -> None:
    folder = write(tmp_path / "shard", points(COUNT))
    damage(folder / POINTS)
    with pytest.raises(VectorStoreError, match=said) as raised:
        ShardReader(folder)
    assert "rag-assets index --force" in str(raised.value)


@pytest.mark.parametrize("bodies", [b"\0", msgspec.json.encode("a text")[:1]], ids=["zeros", "no JSON"])
def test_a_damaged_payload_is_an_error_when_it_is_read(tmp_path: Path, bodies: bytes) -> None:
    folder = write(tmp_path / "shard", points(COUNT))
    whole = bytearray((folder / POINTS).read_bytes())
    _, start = starts_of_payloads(bytes(whole))
    whole[start:] = bodies * (len(whole) - start)
    (folder / POINTS).write_bytes(whole)
    with ShardReader(folder) as reader, pytest.raises(VectorStoreError, match="run: rag-assets index --force"):
        reader.retrieve(IDS[:1], scope())
