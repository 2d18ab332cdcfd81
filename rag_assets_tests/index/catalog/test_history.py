"""Generations in the catalog: exact, cheap, undone or resumed after a kill, and gone when they are deleted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rag_assets.index.catalog import forget_label, forget_stale, tell_served
from rag_assets.index.catalog.errors import CatalogError
from rag_assets.index.catalog.history import Tenant
from rag_assets.index.catalog.reader import entries, open_generation
from rag_assets.index.vectors.vector_api import StoredPoint
from rag_assets_tests.index.catalog.conftest import LABEL, Catalog, point
from rag_assets_tests.index.sample_points import PAYLOAD

FIRST = [point(number) for number in range(10)]
SECOND = [point(0, "other text"), *FIRST[1:8], point(20)]


def equal(found: StoredPoint, wanted: StoredPoint) -> bool:
    assert found.dense is not None and wanted.dense is not None
    return (
        (found.id, found.digest, found.payload) == (wanted.id, wanted.digest, wanted.payload)
        and np.array_equal(found.dense, wanted.dense)
        and all(np.array_equal(a, b) and a.dtype == b.dtype for a, b in zip(found.sparse, wanted.sparse, strict=True))
    )


def holds(catalog: Catalog, generation_id: str, wanted: list[StoredPoint]) -> bool:
    found = catalog.read(generation_id)
    return len(found) == len(wanted) and all(equal(found[one.id], one) for one in wanted)


@pytest.mark.rule("E07", "R8")
def test_every_generation_is_read_back_bit_by_bit(catalog: Catalog) -> None:
    catalog.build("g1", FIRST)
    catalog.build("g2", SECOND)
    catalog.build("g3", FIRST)
    assert [holds(catalog, *known) for known in (("g1", FIRST), ("g2", SECOND), ("g3", FIRST))] == [True] * 3


def test_any_payload_and_any_text_survive(catalog: Catalog) -> None:
    strange = point(1, **PAYLOAD | {"CharEnd": 2**31 - 1})
    lexical = replace(point(2), dense=None)
    catalog.build("g1", [strange, lexical, point(3, Symbol="\0", Path="src/File0.cs")])
    found = catalog.read("g1")
    assert found[strange.id].payload == strange.payload
    assert found[lexical.id].dense is None


def test_a_build_writes_what_changed(catalog: Catalog) -> None:
    catalog.build("g1", FIRST)
    before = catalog.rows()
    done = catalog.build("g2", SECOND)
    assert (len(done.upserts), len(done.deletes)) == (2, 2)
    assert catalog.rows() == before + 2
    assert catalog.build("g3", SECOND).is_empty
    assert catalog.rows() == before + 2


def test_a_deleted_generation_takes_its_rows_and_documents_with_it(catalog: Catalog) -> None:
    catalog.build("g1", FIRST)
    catalog.build("g2", SECOND)
    catalog.build("g3", [point(30)])
    assert forget_stale(catalog.home, LABEL, ["g1", "g3"]) == ["g2"]
    assert holds(catalog, "g1", FIRST) and holds(catalog, "g3", [point(30)])
    assert catalog.rows() == 11
    assert catalog.publish("g3", keep=["g3"]) == []
    assert (catalog.rows(), catalog.documents()) == (1, 3)  # a text, a keyword file, a table


@pytest.mark.parametrize("how", ["prune", "retention", "reset"])
def test_deleted_words_are_overwritten(catalog: Catalog, how: str) -> None:
    """Also those in the full-text index, where a deletion by itself only marks them."""
    if catalog.settings.stores.catalog != "sqlite":
        pytest.skip("Postgres keeps words in the row")
    catalog.build("g1", [*FIRST, point(20, "zanzibarquux formula")])
    catalog.build("g2", FIRST)
    file = catalog.home.root / "catalog.sqlite"
    assert b"zanzibarquux" in b"".join(path.read_bytes() for path in file.parent.glob("catalog.sqlite*"))
    if how == "retention":
        assert catalog.publish("g2", keep=["g2"]) == []
    if how == "reset":
        assert forget_label(catalog.home, LABEL)
    else:
        forget_stale(catalog.home, LABEL, ["g2"])
    assert b"zanzibarquux" not in b"".join(path.read_bytes() for path in file.parent.glob("catalog.sqlite*"))


def test_the_newest_can_be_deleted_and_the_next_build_is_right(catalog: Catalog) -> None:
    """As after a rollback and a pruning: what the deleted one had replaced is still that of the one before."""
    catalog.build("g1", FIRST)
    catalog.build("g2", SECOND)
    assert catalog.publish("g1", keep=["g1"]) == []
    assert holds(catalog, "g1", FIRST)
    catalog.build("g1b", FIRST)
    catalog.build("g1", SECOND)  # the id once more, for another content
    assert holds(catalog, "g1b", FIRST) and holds(catalog, "g1", SECOND)


def interrupted(catalog: Catalog, generation_id: str) -> None:
    """A build that has written a part of SECOND and then its process was killed."""
    target = catalog.target(generation_id)
    target.stored()
    target.upsert([SECOND[0]])
    target.upsert([point(20)])
    target.delete([FIRST[9].id])


def test_a_killed_build_is_resumed(catalog: Catalog) -> None:
    catalog.build("g1", FIRST)
    interrupted(catalog, "g2")
    assert holds(catalog, "g1", FIRST)
    done = catalog.build("g2", SECOND)
    assert (len(done.upserts), len(done.deletes)) == (0, 1)
    assert holds(catalog, "g1", FIRST) and holds(catalog, "g2", SECOND)


def test_a_killed_build_of_another_generation_is_undone(catalog: Catalog) -> None:
    catalog.build("g1", FIRST)
    interrupted(catalog, "g2")
    assert catalog.build("g3", FIRST).is_empty
    assert catalog.rows() == len(FIRST)
    with catalog.opened() as database:
        assert [entry.generation_id for entry in entries(database)] == ["g1", "g3"]
        with pytest.raises(CatalogError, match="no complete generation 'g2' of shop@main; there are: g1, g3"):
            open_generation(database, catalog.tenant, "g2")


def test_an_unfinished_build_is_not_readable_and_is_forgotten_with_its_folder(catalog: Catalog) -> None:
    catalog.build("g1", FIRST)
    interrupted(catalog, "g2")
    assert "not in the catalog" in catalog.publish("g2")[0]
    assert forget_stale(catalog.home, LABEL, ["g1"]) == ["g2"]
    assert catalog.rows() == len(FIRST) and holds(catalog, "g1", FIRST)


def test_a_finished_generation_that_is_written_again_costs_nothing(catalog: Catalog) -> None:
    """Killed between the catalog and the vector store: the stage runs again."""
    catalog.build("g1", FIRST)
    assert catalog.bring("g1", FIRST).is_empty
    assert holds(catalog, "g1", FIRST)


def test_the_later_of_two_builds_wins_and_the_other_says_so(catalog: Catalog) -> None:
    late = catalog.target("g1")
    catalog.build("g2", FIRST)
    late.upsert([point(50)])
    with pytest.raises(CatalogError, match="another build has begun to write this label"):
        late.finish()
    assert holds(catalog, "g2", FIRST) and catalog.rows() == len(FIRST)


@pytest.mark.rule("B02")
def test_tenants_do_not_see_each_other(catalog: Catalog) -> None:
    other = Catalog(catalog.settings, Tenant("globex", "shop", LABEL))
    catalog.build("g1", FIRST)
    foreign = [replace(one, payload=one.payload | other.owner) for one in SECOND]
    other.build("g1", foreign)
    assert holds(catalog, "g1", FIRST) and holds(other, "g1", foreign)
    with catalog.opened() as database, pytest.raises(CatalogError, match="nothing of shop@main"):
        open_generation(database, Tenant("nobody", "shop", LABEL))
    for blank in (("", "shop", LABEL), ("acme", " ", LABEL), ("acme", "shop", "")):
        with pytest.raises(CatalogError, match="is empty"):
            Tenant(*blank)


def test_a_point_of_another_tenant_is_refused(catalog: Catalog) -> None:
    with pytest.raises(CatalogError, match="belongs to"):
        catalog.target("g1").upsert([point(1, OrgId="globex")])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (replace(point(1), id="not a uuid"), "not a uuid of src/File1.cs"),
        (point(1, Path="src/Unknown.cs"), "src/Unknown.cs has points, but table discovered_files"),
        (point(1, Odd=object()), "of src/File1.cs"),
    ],
    ids=["id", "path", "payload"],
)
def test_a_point_that_cannot_be_kept_is_named(catalog: Catalog, wrong: StoredPoint, message: str) -> None:
    with pytest.raises(CatalogError, match=message):
        catalog.target("g1").upsert([wrong])


def test_reset_removes_a_label_from_every_catalog_that_has_it(catalog: Catalog) -> None:
    catalog.build("g1", FIRST)
    other = Catalog(catalog.settings, Tenant("globex", "shop", LABEL))
    other.build("g1", [replace(one, payload=one.payload | other.owner) for one in FIRST])
    assert forget_label(catalog.home, LABEL)
    assert (catalog.rows(), catalog.documents()) == (0, 0)
    assert not forget_label(catalog.home, "never@indexed")
    catalog.build("g1", FIRST)
    assert holds(catalog, "g1", FIRST)


def test_what_a_person_chooses_is_told(catalog: Catalog) -> None:
    catalog.build("g1", FIRST)
    catalog.build("g2", SECOND)
    assert tell_served(catalog.home, catalog.manifest("g1")) == []
    with catalog.opened() as database:
        assert open_generation(database, catalog.tenant).known.generation_id == "g1"
        assert [(entry.generation_id, entry.active, entry.points) for entry in entries(database)] == [
            ("g1", True, 10),
            ("g2", False, 9),
        ]


def test_documents_are_kept_with_the_slices_of_every_generation(catalog: Catalog) -> None:
    """The text behind a chunk is that of its own generation, though the path is the same."""
    catalog.build("g1", [point(1)])
    catalog.build("g2", [point(1, "new", CharEnd=20)])
    with catalog.opened() as database:
        readers = [open_generation(database, catalog.tenant, known) for known in ("g1", "g2")]
        texts = [reader.content(address) for reader in readers for address in reader.addresses()]
        assert texts == [b"class File1 of g1 {}", b"class File1 of g2 {}"]
        files = open_generation(database, catalog.tenant, "g1").known.files
        content = open_generation(database, catalog.tenant, "g1").content(files["keyword/statistics.json"])
    assert content == b'{"of": "g1"}'
