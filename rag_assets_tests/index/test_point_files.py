"""Which file each point is of, beside the shard: what a ranking reads instead of payloads."""

from __future__ import annotations

import random
import uuid
from pathlib import Path

import pytest

from rag_assets.index.vectors.payloads_and_paths import POINT_FILES, PointPaths, PointPathsChange, read_point_files
from rag_assets.index.vectors.qdrant_edge import ShardReader
from rag_assets.index.vectors.qdrant_edge.writer import ShardWriter
from rag_assets.index.vectors.vector_api import FileRef, StoredPoint, VectorStoreError
from rag_assets_tests.index.sample_points import DIMENSION, payload, point_id, points, scope, write

UNKNOWN = "ffffffff-ffff-5fff-bfff-ffffffffffff"


def content(files: dict[str, FileRef], base: PointPaths | None = None) -> bytes:
    change = PointPathsChange(base or PointPaths())
    change.put(files.items())
    return change.content()


def random_ids(chance: random.Random) -> list[str]:
    """Ids of which many have the same first half, as those of counted points."""
    firsts = [0, 1, (1 << 64) - 1, *(chance.getrandbits(64) for _ in range(20))]
    return [str(uuid.UUID(int=chance.choice(firsts) << 64 | chance.getrandbits(3))) for _ in range(60)]


@pytest.mark.parametrize("seed", range(20))
def test_whatever_changes_the_same_points_give_the_same_bytes(seed: int) -> None:
    """The slow, obvious reference: a table of what there is at the end."""
    chance = random.Random(seed)
    ids = random_ids(chance)
    places = [
        FileRef(label, f"src/{name}") for label in ("shop@main", "site@main") for name in ("Ä.cs", "a b.cs", "c", "")
    ]
    expected: dict[str, FileRef] = {}
    files = PointPaths()
    for _ in range(12):
        change = PointPathsChange(files)
        for _ in range(chance.randrange(12)):
            identifier, place = chance.choice(ids), chance.choice(places)
            if chance.random() < 0.4:
                change.drop([identifier])
                expected.pop(identifier, None)
            else:
                change.put([(identifier, place)])
                expected[identifier] = place
        made = change.content()
        assert made == content(dict(chance.sample(sorted(expected.items()), len(expected))))
        files = PointPaths(made)
        assert files.size == len(expected)
        assert {known: files.place(known) for known in ids} == {known: expected.get(known) for known in ids}


def test_without_points_nothing_is_of_a_file() -> None:
    assert PointPaths().place(UNKNOWN) is None
    assert PointPaths(content({})).place(UNKNOWN) is None


@pytest.fixture(scope="module")
def shard(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("shard") / "shard", points(60))


def test_no_payload_is_read(shard: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ShardReader(shard) as reader:
        monkeypatch.setattr(reader, "retrieve", None)
        ids = [point_id(number) for number in (3, 1, 40)]
        assert reader.places([*ids, UNKNOWN], scope()) == {
            point_id(number): FileRef.of(payload(number)) for number in (3, 1, 40)
        }


def test_a_change_of_a_shard_gives_the_bytes_of_a_new_one(shard: Path, tmp_path: Path) -> None:
    moved = [StoredPoint(p.id, p.dense, p.sparse, p.payload | {"Path": "src/Moved.cs"}) for p in points(60)[7:9]]
    wanted = [*points(60)[:7], *moved, *points(70)[12:]]
    writer = ShardWriter(tmp_path / "used", DIMENSION, base=shard)
    assert writer.stored()
    changed = write(tmp_path / "changed", wanted, base=shard)
    assert (changed / POINT_FILES).read_bytes() == (write(tmp_path / "new", wanted) / POINT_FILES).read_bytes()


def test_a_shard_that_does_not_say_it_is_not_built_upon(tmp_path: Path) -> None:
    base = write(tmp_path / "base", points(20))
    (base / POINT_FILES).unlink()
    assert not ShardWriter(tmp_path / "next", DIMENSION, base=base).stored()


@pytest.mark.parametrize(
    ("damaged", "said"),
    [
        (b"", "not a file of that format"),
        (b"{}" * 40, "not a file of that format"),
        (content({UNKNOWN: FileRef("shop@main", "a.cs")})[:-1], "should have 70 bytes and has 69"),
        (content({UNKNOWN: FileRef("shop@main", "a.cs")}), "has 60 points, rag_assets.files 1"),
    ],
    ids=["empty", "something else", "cut short", "of another shard"],
)
def test_damage_is_an_error_with_the_next_command(tmp_path: Path, damaged: bytes, said: str) -> None:
    folder = write(tmp_path / "shard", points(60))
    (folder / POINT_FILES).write_bytes(damaged)
    with pytest.raises(VectorStoreError, match=said) as raised:
        ShardReader(folder)
    assert "rag-assets index --force" in str(raised.value)


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / POINT_FILES).mkdir()
    with pytest.raises(VectorStoreError, match=r"rag_assets\.files cannot be read"):
        read_point_files(tmp_path)
