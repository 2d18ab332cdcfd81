"""What every vector store does alike: what goes in comes out, nothing leaks between tenants or generations."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rag_assets.contracts.confidentiality import Confidentiality
from rag_assets.index.vectors.filters import SearchScope
from rag_assets.index.vectors.vector_api import FileRef, PointTarget, StoredPoint, VectorReader, VectorStoreError
from rag_assets_tests.index.sample_points import (
    COUNT,
    NO_TERMS,
    PAYLOAD,
    SCOPES,
    allowed,
    payload,
    point_id,
    points,
    random_scope,
    scope,
    terms,
    unit_rows,
    with_digest,
)
from rag_assets_tests.index.store_kinds import KINDS, Store, bring, opened_store


@pytest.fixture(scope="module", params=KINDS)
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with opened_store(request.param, tmp_path_factory.mktemp(request.param)) as made:
        yield made


@pytest.fixture(scope="module")
def reader(store: Store) -> VectorReader:
    """A generation beside another one, with the same ids and other contents."""
    other = [StoredPoint(p.id, p.dense, p.sparse, p.payload | {"ContentHash": "other"}) for p in points(90)]
    store.written("before", other)
    return store.written("main", points(COUNT))


@pytest.mark.rule("B02", "R17")
@pytest.mark.parametrize("condition", SCOPES.values(), ids=SCOPES.keys())
def test_filters_are_applied_before_the_top_k(reader: VectorReader, condition: SearchScope) -> None:
    """B02, R17: the pushed-down filter gives what a post-filter over everything gives, and k stays k."""
    numbers = allowed(condition)
    rows = unit_rows(COUNT)
    query = unit_rows(1, seed=9)[0]
    best = sorted(numbers, key=lambda n: -float(rows[n] @ query))[:5]
    assert [found.id for found in reader.dense(query, condition, 5)] == [point_id(n) for n in best]
    assert {found.id for found in reader.sparse([5], [1.0], condition, 1000)} == {point_id(n) for n in numbers}
    assert len(reader.sparse([5], [1.0], condition, 5)) == min(5, len(numbers))
    assert reader.count(condition) == len(numbers)
    assert set(reader.ids(condition)) == {point_id(n) for n in numbers}
    everyone = [point_id(n) for n in range(COUNT)]
    assert set(reader.retrieve(everyone, condition)) == {point_id(n) for n in numbers}


@pytest.mark.rule("R17")
@pytest.mark.parametrize("seed", range(6))
def test_any_filter_gives_what_a_filter_after_a_full_scan_gives(reader: VectorReader, seed: int) -> None:
    """R17: the same points in the same order, however conditions are combined."""
    rows, chance = unit_rows(COUNT), random.Random(seed)
    for _ in range(10):
        condition = random_scope(chance)
        numbers = allowed(condition)
        query, limit = unit_rows(1, seed=chance.randrange(1000))[0], chance.choice([1, 7, 40])
        best = sorted(numbers, key=lambda n: -float(rows[n] @ query))[:limit]
        assert [found.id for found in reader.dense(query, condition, limit)] == [point_id(n) for n in best], condition
        assert set(reader.ids(condition)) == {point_id(n) for n in numbers}, condition


def test_sparse_scores_are_dot_products(reader: VectorReader) -> None:
    query = {5: 1.0, 12: 0.5, 4_000_000_001: 2.0}
    expected = {}
    for number in allowed(scope()):
        indices, values = terms(number)
        expected[point_id(number)] = sum(
            query.get(int(i), 0.0) * float(v) for i, v in zip(indices, values, strict=True)
        )
    found = reader.sparse(list(query), list(query.values()), scope(), 1000)
    assert {hit.id: hit.score for hit in found} == pytest.approx(expected, rel=1e-6)
    assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)


def test_dense_scores_are_cosines(reader: VectorReader) -> None:
    rows = unit_rows(COUNT)
    found = reader.dense(rows[0], scope(), 3)
    assert found[0].id == point_id(0)
    assert [hit.score for hit in found] == pytest.approx(
        sorted((float(rows[n] @ rows[0]) for n in allowed(scope())), reverse=True)[:3], abs=1e-6
    )


def test_no_terms_find_nothing(reader: VectorReader) -> None:
    assert reader.sparse([], [], scope(), 10) == []
    assert reader.sparse([77], [1.0], scope(), 10) == []


def test_values_of_a_field_are_those_of_the_tenant(reader: VectorReader) -> None:
    numbers = allowed(scope())
    expected = {kind: sum(payload(n)["Kind"] == kind for n in numbers) for kind in ("Model", "Service", "Test")}
    assert reader.values("Kind", scope()) == expected
    assert reader.values("Path", scope("nobody")) == {}


def test_ids_come_with_content_hashes(reader: VectorReader) -> None:
    assert reader.ids() == {point_id(n): f"hash{n}" for n in range(COUNT)}


def test_places_are_the_files_of_points(reader: VectorReader) -> None:
    numbers = sorted(allowed(scope()))[:9]
    unknown = "00000000-0000-0000-0000-000000000000"
    found = reader.places([*map(point_id, numbers), unknown], scope())
    assert found == {point_id(n): FileRef.of(payload(n)) for n in numbers}


def test_a_vector_is_the_one_that_was_written(reader: VectorReader) -> None:
    found = reader.vector(point_id(8))
    assert found is not None and found.tolist() == pytest.approx(unit_rows(COUNT)[8].tolist(), abs=1e-6)
    assert reader.vector("00000000-0000-0000-0000-000000000000") is None


@pytest.fixture(scope="module")
def odd(store: Store) -> VectorReader:
    """A point with every type of payload, one without a dense vector, one without terms."""
    made = [
        StoredPoint(point_id(0), unit_rows(1)[0], terms(0), payload(0) | PAYLOAD),
        StoredPoint(point_id(4), None, terms(4), payload(4)),
        StoredPoint(point_id(8), unit_rows(1)[0], NO_TERMS, payload(8)),
    ]
    return store.written("odd", made)


@pytest.mark.rule("B17")
def test_payloads_round_trip(odd: VectorReader) -> None:
    """B17: every type the contract writes, and odd text, comes back equal."""
    stored = payload(0) | PAYLOAD
    found = odd.retrieve([point_id(0)], scope())[point_id(0)]
    assert found == stored
    assert {key: type(value) for key, value in found.items()} == {key: type(value) for key, value in stored.items()}


def test_a_point_may_lack_a_vector_or_terms(odd: VectorReader) -> None:
    everything = scope(clearance=Confidentiality.RESTRICTED)
    assert {hit.id for hit in odd.dense(unit_rows(1)[0], everything, 9)} == {point_id(0), point_id(8)}
    assert {hit.id for hit in odd.sparse([5], [1.0], everything, 9)} == {point_id(0), point_id(4)}
    assert odd.count() == 3
    assert odd.vector(point_id(4)) is None and odd.vector(point_id(8)) is not None


def test_a_lexical_generation_has_no_dense_vectors(store: Store) -> None:
    opened = store.written("lexical", points(20), dimension=0)
    assert len(opened.sparse([5], [1.0], scope(clearance=Confidentiality.RESTRICTED), 100)) == 5
    with pytest.raises(VectorStoreError, match="cannot be searched"):
        opened.dense(unit_rows(1)[0], scope(), 5)
    assert opened.vector(point_id(0)) is None


def test_an_empty_generation_answers_nothing(store: Store) -> None:
    opened = store.written("empty", [])
    assert opened.count() == 0
    assert opened.ids() == {}
    assert opened.dense(unit_rows(1)[0], scope(paths=("*.cs",)), 5) == []
    assert opened.values("Kind", scope()) == {}
    assert opened.retrieve([point_id(0)], scope()) == {}


def test_a_point_that_comes_twice_is_the_later_one(store: Store) -> None:
    writer = store.writer("twice")
    writer.upsert(points(3))
    writer.upsert([StoredPoint(point_id(0), unit_rows(1)[0], terms(0), payload(0, ContentHash="later"))])
    writer.finish()
    opened = store.reader("twice")
    assert opened.ids() == {point_id(0): "later", point_id(1): "hash1", point_id(2): "hash2"}


def test_what_an_unfinished_build_left_is_replaced(store: Store) -> None:
    store.writer("killed").upsert(points(50))
    assert set(store.written("killed", points(3)).ids()) == {point_id(n) for n in range(3)}


def test_equal_scores_come_in_order_of_their_ids(store: Store) -> None:
    row = unit_rows(1)[0]
    made = [StoredPoint(point_id(n), row, terms(0), payload(0, SemanticId=f"acme:{n}")) for n in range(60)]
    opened = store.written("ties", made[::-1])
    wanted = sorted(point.id for point in made)[:10]
    assert [hit.id for hit in opened.dense(row, scope(), 10)] == wanted
    assert [hit.id for hit in opened.sparse([5], [1.0], scope(), 10)] == wanted


@pytest.mark.parametrize(
    ("point", "says"),
    [
        (StoredPoint(point_id(0), unit_rows(1)[0][:-1], NO_TERMS, payload(0)), r"shape \(15,\)"),
        (StoredPoint("not-a-uuid", unit_rows(1)[0], NO_TERMS, payload(0)), "not-a-uuid"),
        (StoredPoint(point_id(0), unit_rows(1)[0], NO_TERMS, payload(0, Title="\ud800")), "src/Api/File0.cs"),
        (StoredPoint(point_id(0), unit_rows(1)[0], NO_TERMS, payload(0, Title=object())), "src/Api/File0.cs"),
    ],
    ids=["dimension", "id", "lone surrogate", "not json"],
)
def test_a_bad_point_is_named(writer: PointTarget, point: StoredPoint, says: str) -> None:
    with pytest.raises(VectorStoreError, match=says):
        writer.upsert([point])


@pytest.fixture(scope="module")
def writer(store: Store) -> PointTarget:
    return store.writer("bad points")


# generations that begin with another one


@pytest.fixture(params=KINDS)
def incremental(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """An empty store whose generations cost what changed; skips one that does not have that yet."""
    with opened_store(request.param, tmp_path) as made:
        yield made


def changed(number: int, content: str) -> StoredPoint:
    return StoredPoint(point_id(number), unit_rows(9)[number % 9], terms(number), payload(0, ContentHash=content))


def hashes(reader: VectorReader) -> dict[str, str]:
    return dict(sorted(reader.ids().items()))


def test_a_generation_begins_with_what_the_one_before_has(incremental: Store) -> None:
    made = [with_digest(point) for point in points(20)]
    bring(incremental.writer("begins 1"), made)
    assert incremental.writer("begins 2").stored() == {point.id: point.digest for point in made}


def test_only_what_changed_is_written(incremental: Store) -> None:
    incremental.written("changes 1", points(40))
    wanted = [*points(37)[1:], changed(0, "another"), changed(90, "new")]
    found = incremental.brought_to("changes 2", wanted)
    assert found.upserts == {point_id(0), point_id(90)}
    assert found.deletes == tuple(sorted(point_id(n) for n in (37, 38, 39)))
    assert incremental.brought_to("changes 3", wanted).is_empty


def test_each_generation_is_exactly_what_it_declared(incremental: Store) -> None:
    """Added, changed, deleted, brought back, unchanged: whatever came later, every earlier one reads as before."""
    declared: list[dict[int, str]] = [
        {0: "a", 1: "a", 2: "a"},
        {0: "b", 1: "a", 3: "a"},
        {},
        {0: "a", 2: "a"},
        {0: "a", 2: "a"},
        {0: "b", 1: "a", 3: "a"},
    ]
    readers = []
    for number, wanted in enumerate(declared):
        readers.append(incremental.written(f"exact {number}", [changed(n, content) for n, content in wanted.items()]))
        for reader, expected in zip(readers, declared, strict=False):
            assert hashes(reader) == dict(sorted((point_id(n), content) for n, content in expected.items()))
            ids = {point_id(n) for n in expected}
            assert reader.count() == len(ids)
            assert {hit.id for hit in reader.sparse([5], [1.0], scope(), 99)} == ids
            assert {hit.id for hit in reader.dense(unit_rows(1)[0], scope(), 99)} == ids
            assert set(reader.retrieve([point_id(n) for n in range(5)], scope())) == ids
            assert sum(reader.values("Path", scope()).values()) == len(ids)


def test_a_reader_notices_nothing_while_the_next_generation_is_written(incremental: Store) -> None:
    reader = incremental.written("quiet 1", [changed(n, "a") for n in range(9)])
    before = hashes(reader)
    target = incremental.writer("quiet 2")
    steps: list[Callable[[], None]] = [
        lambda: target.upsert([with_digest(changed(n, "b")) for n in range(5)]),
        lambda: target.delete([point_id(n) for n in (6, 7)]),
        target.finish,
    ]
    for step in steps:
        step()
        assert hashes(reader) == before and reader.count(scope()) == 9
    wanted = {n: "b" if n < 5 else "a" for n in (0, 1, 2, 3, 4, 5, 8)}
    assert hashes(incremental.reader("quiet 2")) == dict(sorted((point_id(n), text) for n, text in wanted.items()))


def test_deleting_and_writing_in_any_order_leaves_the_last_word(incremental: Store) -> None:
    incremental.written("order 1", [changed(n, "a") for n in range(4)])
    target = incremental.writer("order 2")
    target.delete([point_id(0), point_id(1), point_id(77)])
    target.upsert([changed(0, "b"), changed(2, "b"), changed(8, "b"), changed(9, "b"), changed(9, "c")])
    target.delete([point_id(2), point_id(8)])
    target.upsert([changed(8, "d")])
    target.finish()
    wanted = {0: "b", 3: "a", 8: "d", 9: "c"}
    assert hashes(incremental.reader("order 2")) == dict(sorted((point_id(n), text) for n, text in wanted.items()))
