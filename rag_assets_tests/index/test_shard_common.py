"""Fields that all points of a shard share: kept once, and filtered as if each point had them (B02, R17)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rag_assets.contracts.confidentiality import Confidentiality, levels_up_to
from rag_assets.index.vectors.filters import SearchFilters, SearchScope
from rag_assets.index.vectors.qdrant_edge import COMMON, ShardReader, common_of
from rag_assets.index.vectors.qdrant_edge.writer import LEVEL, ShardWriter
from rag_assets.index.vectors.vector_api import StoredPoint, VectorStoreError
from rag_assets_tests.index.sample_points import DIMENSION, payload, point_id, scope, terms, unit_rows, with_digest

OWNER = {"OrgId": "acme", "ProjectId": "shop", "IndexLabel": "shop@main"}

SCOPES = {
    "own": scope(),
    "own label": scope(label="shop@main"),
    "other label": scope(label="site@main"),
    "other organisation": scope(org="acme2"),
    "other project": scope(project="site"),
    "narrowed": scope(kinds=("Model",), paths=("src/**",)),
    "excluded": scope(excluded=SearchFilters(kinds=("Model",))),
    "only public": scope(clearance=Confidentiality.PUBLIC),
    "everything": scope(clearance=Confidentiality.RESTRICTED),
}


def made() -> list[StoredPoint]:
    """Those of the sample that are of OWNER."""
    rows = unit_rows(200)
    found = [StoredPoint(point_id(n), rows[n], terms(n), payload(n) | OWNER) for n in range(200)]
    return [with_digest(point) for point in found]


def write(folder: Path, points: list[StoredPoint], **options: Any) -> Path:
    writer = ShardWriter(folder, DIMENSION, **options)
    writer.upsert(points)
    writer.finish()
    return folder


@pytest.fixture(scope="module")
def readers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ShardReader, ShardReader]]:
    """The same points: with the fields in each, and with the fields once."""
    folder = tmp_path_factory.mktemp("common")
    with (
        ShardReader(write(folder / "each", made())) as each,
        ShardReader(write(folder / "once", made(), common=OWNER)) as once,
    ):
        yield each, once


@pytest.mark.parametrize("asked", SCOPES.values(), ids=SCOPES)
def test_every_answer_is_the_same(readers: tuple[ShardReader, ShardReader], asked: SearchScope) -> None:
    each, once = readers
    vector = unit_rows(1, seed=9)[0]
    ids = [point_id(number) for number in range(0, 200, 3)]
    assert once.count(asked) == each.count(asked)
    assert once.dense(vector, asked, 20) == each.dense(vector, asked, 20)
    assert once.sparse([5], [1.0], asked, 20) == each.sparse([5], [1.0], asked, 20)
    assert once.retrieve(ids, asked) == each.retrieve(ids, asked)
    assert once.ids(asked) == each.ids(asked)
    for key in ("OrgId", "ProjectId", "IndexLabel", "Kind", "Path"):
        assert once.values(key, asked) == each.values(key, asked)


def test_some_of_these_scopes_find_and_some_do_not(readers: tuple[ShardReader, ShardReader]) -> None:
    found = {name: readers[1].count(asked) > 0 for name, asked in SCOPES.items()}
    assert [name for name, any_ in found.items() if not any_] == [
        "other label",
        "other organisation",
        "other project",
    ]


def test_a_point_of_somebody_else_is_refused(tmp_path: Path) -> None:
    foreign = StoredPoint(point_id(1), unit_rows(1)[0], terms(1), payload(1) | OWNER | {"OrgId": "globex"})
    writer = ShardWriter(tmp_path / "shard", DIMENSION, common=OWNER)
    with pytest.raises(VectorStoreError, match=r"is of OrgId 'globex', the shard of 'acme'"):
        writer.upsert([foreign])


def test_a_shard_of_another_owner_is_not_built_upon(tmp_path: Path) -> None:
    """The points that it begins with would all change hands."""
    base = write(tmp_path / "base", made(), common=OWNER)
    assert ShardWriter(tmp_path / "next", DIMENSION, base=base, common=OWNER).stored()
    assert not ShardWriter(tmp_path / "other", DIMENSION, base=base, common=OWNER | {"OrgId": "globex"}).stored()
    assert not ShardWriter(tmp_path / "each", DIMENSION, base=base).stored()


def test_without_its_note_a_shard_is_damaged_and_not_empty(tmp_path: Path) -> None:
    folder = write(tmp_path / "shard", made(), common=OWNER)
    (folder / COMMON).unlink()
    with pytest.raises(VectorStoreError, match=rf"{COMMON} is missing; run: rag-assets index --force"):
        ShardReader(folder)
    assert not ShardWriter(tmp_path / "next", DIMENSION, base=folder, common=OWNER).stored(), "nothing is built upon it"


@pytest.mark.parametrize("note", [b"{", b"[]"], ids=["half", "a list"])
def test_a_damaged_note_is_an_error(tmp_path: Path, note: bytes) -> None:
    folder = write(tmp_path / "shard", made(), common=OWNER)
    (folder / COMMON).write_bytes(note)
    with pytest.raises(VectorStoreError, match=rf"{COMMON} is damaged: .*; run: rag-assets index --force"):
        ShardReader(folder)


def of_level(points: list[StoredPoint], *levels: str) -> list[StoredPoint]:
    """The points with these levels in turn; '' for none."""
    made = []
    for number, point in enumerate(points):
        level = levels[number % len(levels)]
        without = {key: value for key, value in point.payload.items() if key != LEVEL}
        told = without | {LEVEL: level} if level else without
        made.append(with_digest(StoredPoint(point.id, point.dense, point.sparse, told)))
    return made


def _had_by_all(folder: Path) -> dict[str, str]:
    return {key: value for key, value in common_of(folder).items() if value}


@pytest.mark.parametrize(
    ("levels", "common"),
    [
        (("internal",), "internal"),
        (("restricted",), "restricted"),
        (("no such level",), "no such level"),
        (("internal", "public"), ""),
        (("internal", ""), ""),
        (("",), ""),
    ],
    ids=["one", "the highest", "unknown", "two", "of some", "none"],
)
def test_a_level_that_all_points_have_is_not_asked_of_each(
    tmp_path: Path, levels: tuple[str, ...], common: str
) -> None:
    points = of_level(made(), *levels)
    with ShardReader(write(tmp_path / "shard", points, common=OWNER)) as reader:
        assert _had_by_all(tmp_path / "shard") == OWNER | ({LEVEL: common} if common else {})
        for clearance in Confidentiality:
            seen = {level.value for level in levels_up_to(clearance)} | ({""} if clearance != "public" else set())
            wanted = {point.id for point in points if point.payload.get(LEVEL, "") in seen}
            asked = scope(clearance=clearance)
            found = {
                "ids": set(reader.ids(asked)),
                "payloads": set(reader.retrieve([point.id for point in points], asked)),
                "by words": {hit.id for hit in reader.sparse([5], [1.0], asked, 300)},
                "by meaning": {hit.id for hit in reader.dense(unit_rows(1)[0], asked, 300)},
            }
            assert found == dict.fromkeys(found, wanted), clearance
            told = Counter(point.payload[LEVEL] for point in points if point.id in wanted and LEVEL in point.payload)
            assert reader.values(LEVEL, asked) == told


def test_a_shard_that_is_changed_has_the_level_of_what_it_holds_then(tmp_path: Path) -> None:
    """A secret that comes to a shard of one level is not seen by those who saw all of it before."""
    plain = of_level(made(), "internal")
    first = write(tmp_path / "first", plain, common=OWNER)
    secret = of_level(made()[:1], "restricted")
    second = write(tmp_path / "second", secret, base=first, common=OWNER)
    third = write(tmp_path / "third", plain[:1], base=second, common=OWNER)
    assert [LEVEL in common_of(folder) for folder in (first, second, third)] == [True, False, True]
    with ShardReader(second) as reader:
        assert reader.count(scope()) == len(plain) - 1
        assert secret[0].id not in reader.retrieve([secret[0].id], scope())
        assert secret[0].id in reader.retrieve([secret[0].id], SCOPES["everything"])
    writer = ShardWriter(tmp_path / "without", DIMENSION, base=second, common=OWNER)
    assert writer.stored(), "the level of the base keeps nobody from building upon it"
    writer.delete([secret[0].id])
    writer.finish()
    assert common_of(tmp_path / "without")[LEVEL] == "internal"
