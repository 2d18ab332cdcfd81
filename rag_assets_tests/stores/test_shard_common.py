"""Fields that all points of a shard share: kept once, and filtered as if each point had them (B02, R17)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rag_assets.contracts.confidentiality import Confidentiality
from rag_assets.stores.filters import Narrowing, SearchFilter
from rag_assets.stores.point_files import POINT_FILES
from rag_assets.stores.points import StoredPoint, VectorStoreError
from rag_assets.stores.shard_reader import ShardReader
from rag_assets.stores.shard_schema import COMMON
from rag_assets.stores.shard_writer import ShardWriter
from rag_assets_tests.stores.sample_points import DIMENSION, payload, point_id, scope, terms, unit_rows, with_digest

OWNER = {"OrgId": "acme", "ProjectId": "shop", "IndexLabel": "shop@main"}

SCOPES = {
    "own": scope(),
    "own label": scope(label="shop@main"),
    "other label": scope(label="site@main"),
    "other organisation": scope(org="acme2"),
    "other project": scope(project="site"),
    "narrowed": scope(kinds=("Model",), paths=("src/**",)),
    "excluded": scope(excluded=Narrowing(kinds=("Model",))),
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
def test_every_answer_is_the_same(readers: tuple[ShardReader, ShardReader], asked: SearchFilter) -> None:
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


def test_a_shard_from_before_there_were_notes_needs_none(tmp_path: Path) -> None:
    folder = write(tmp_path / "shard", made())
    (folder / COMMON).unlink()
    (folder / POINT_FILES).unlink()
    with ShardReader(folder) as reader:
        assert reader.count(SCOPES["own"])


@pytest.mark.parametrize("note", [b"{", b"[]"], ids=["half", "a list"])
def test_a_damaged_note_is_an_error(tmp_path: Path, note: bytes) -> None:
    folder = write(tmp_path / "shard", made(), common=OWNER)
    (folder / COMMON).write_bytes(note)
    with pytest.raises(VectorStoreError, match=rf"{COMMON} is damaged: .*; run: rag-assets index --force"):
        ShardReader(folder)
