"""The embedded vector shard: what goes in comes out, nothing leaks between tenants, damage is said."""

from __future__ import annotations

import itertools
import os
import shutil
import tempfile
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rag_assets.stores import shard_schema
from rag_assets.stores.filters import SearchFilter, glob_matcher
from rag_assets.stores.vectors import Scored, ShardReader, ShardWriter, StoredPoint, VectorStoreError

DIMENSION = 16
TENANTS = [("acme", "shop"), ("acme", "site"), ("acme2", "shop"), ("globex", "shop")]
FOLDERS = ("src/Api", "src/Api/V1", "src/Core", "srcs", "docs")
NO_TERMS = (np.zeros(0, np.uint32), np.zeros(0, np.float32))


def point_id(number: int) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_OID, str(number)))


def unit_rows(count: int, seed: int = 1) -> np.ndarray:
    rows = np.random.default_rng(seed).standard_normal((count, DIMENSION)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def terms(number: int) -> tuple[np.ndarray, np.ndarray]:
    """Indices over the whole range of uint32; every section has term 5."""
    indices = np.array(sorted({5, number % 7 + 10, 4_000_000_000 + number % 3}), np.uint32)
    return indices, np.linspace(0.5, 1.0 + number % 11, len(indices)).astype(np.float32)


def payload(number: int, **changes: Any) -> dict[str, Any]:
    org, project = TENANTS[number % len(TENANTS)]
    made = {
        "OrgId": org,
        "ProjectId": project,
        "DocId": f"doc{number}",
        "SemanticId": f"{org}:{number}",
        "IndexLabel": f"{project}@main",
        "Path": f"{FOLDERS[number % len(FOLDERS)]}/File{number % 23}.cs",
        "Kind": ("Service", "Model", "Test")[number % 3],
        "CodeLanguage": ("csharp", "sql")[number % 2],
        "SourceType": "code",
        "Symbol": f"Shop.{('Orders', 'Carts')[number % 2]}.Type{number}",
        "ContentHash": f"hash{number}",
    }
    return {key: value for key, value in {**made, **changes}.items() if value is not None}


def points(count: int) -> list[StoredPoint]:
    rows = unit_rows(count)
    return [StoredPoint(point_id(n), rows[n], terms(n), payload(n)) for n in range(count)]


def write(directory: Path, made: list[StoredPoint], dimension: int = DIMENSION, **options: Any) -> Path:
    writer = ShardWriter(directory, dimension, **options)
    writer.upsert(made)
    writer.finish()
    return directory


def scope(org: str = "acme", project: str = "shop", **conditions: Any) -> SearchFilter:
    return SearchFilter(org_id=org, project_id=project, **conditions)


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ShardReader]:
    with ShardReader(write(tmp_path_factory.mktemp("shard") / "s", points(600))) as opened:
        yield opened


def allowed(condition: SearchFilter) -> list[int]:
    """The slow, obvious post-filter over everything there is."""

    def holds(found: dict[str, Any]) -> bool:
        tenant = (found["OrgId"], found["ProjectId"]) == (condition.org_id, condition.project_id)
        return tenant and (
            (not condition.label or found["IndexLabel"] == condition.label)
            and (not condition.kinds or found["Kind"] in condition.kinds)
            and (not condition.languages or found["CodeLanguage"] in condition.languages)
            and (not condition.source_types or found["SourceType"] in condition.source_types)
            and found["Symbol"].startswith(condition.symbol_prefix)
            and (not condition.paths or any(_path_matches(path, found["Path"]) for path in condition.paths))
        )

    return [number for number in range(600) if holds(payload(number))]


def _path_matches(pattern: str, path: str) -> bool:
    return path == pattern or path.startswith(f"{pattern.rstrip('/')}/") or glob_matcher(pattern)(path)


SCOPES = {
    **{f"{org} {project}": scope(org, project) for org, project in TENANTS},
    "label": scope(label="shop@main"),
    "other label": scope(label="site@main"),
    "kind": scope(kinds=("Model",)),
    "two kinds": scope(kinds=("Model", "Test")),
    "language": scope(languages=("sql",)),
    "source type": scope(source_types=("code", "document")),
    "no such source type": scope(source_types=("document",)),
    "symbol prefix": scope(symbol_prefix="Shop.Orders."),
    "exact path": scope(paths=("src/Api/File0.cs",)),
    "folder": scope(paths=("src/Api",)),
    "folder with slash": scope(paths=("src/",)),
    "folder with stars": scope(paths=("src/**",)),
    "folder at the root": scope(paths=("docs",)),
    "file name": scope(paths=("File7.cs",)),
    "glob": scope(paths=("src/*/File1*.cs",)),
    "deep glob": scope(paths=("**/V1/*.cs",)),
    "two paths": scope(paths=("docs/", "src/Core/*2.cs")),
    "no such path": scope(paths=("lib/**/*.cs",)),
    "all together": scope(paths=("src/**/*.cs",), kinds=("Service",), languages=("csharp",), label="shop@main"),
    "unknown tenant": scope("nobody", "shop"),
    "prefix of a tenant": scope("acm", "shop"),
}


@pytest.mark.parametrize("condition", SCOPES.values(), ids=SCOPES.keys())
def test_filters_are_applied_before_the_top_k(reader: ShardReader, condition: SearchFilter) -> None:
    """B02, R17: the pushed-down filter gives what a post-filter over everything gives, and k stays k."""
    numbers = allowed(condition)
    rows = unit_rows(600)
    query = unit_rows(1, seed=9)[0]
    best = sorted(numbers, key=lambda n: -float(rows[n] @ query))[:5]
    assert [found.id for found in reader.dense(query, condition, 5)] == [point_id(n) for n in best]
    assert {found.id for found in reader.sparse([5], [1.0], condition, 1000)} == {point_id(n) for n in numbers}
    assert len(reader.sparse([5], [1.0], condition, 5)) == min(5, len(numbers))
    assert reader.count(condition) == len(numbers)
    assert set(reader.ids(condition)) == {point_id(n) for n in numbers}
    everyone = [point_id(n) for n in range(600)]
    assert set(reader.retrieve(everyone, condition)) == {point_id(n) for n in numbers}


def test_sparse_scores_are_dot_products(reader: ShardReader) -> None:
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


def test_dense_scores_are_cosines(reader: ShardReader) -> None:
    rows = unit_rows(600)
    found = reader.dense(rows[0], scope(), 3)
    assert found[0].id == point_id(0)
    assert [hit.score for hit in found] == pytest.approx(
        sorted((float(rows[n] @ rows[0]) for n in allowed(scope())), reverse=True)[:3], abs=1e-6
    )


def test_no_terms_find_nothing(reader: ShardReader) -> None:
    assert reader.sparse([], [], scope(), 10) == []
    assert reader.sparse([77], [1.0], scope(), 10) == []


def test_values_of_a_field_are_those_of_the_tenant(reader: ShardReader) -> None:
    numbers = allowed(scope())
    expected = {kind: sum(payload(n)["Kind"] == kind for n in numbers) for kind in ("Model", "Service", "Test")}
    assert reader.values("Kind", scope()) == expected
    assert reader.values("Path", scope("nobody")) == {}


def test_find_stays_within_the_tenant(reader: ShardReader) -> None:
    assert list(reader.find("SemanticId", "acme:0", scope(), 5)) == [point_id(0)]
    assert reader.find("SemanticId", "acme:0", scope("globex"), 5) == {}
    assert len(reader.find("Kind", "Model", scope(), 5)) == 5


def test_ids_come_with_content_hashes(reader: ShardReader) -> None:
    assert reader.ids() == {point_id(n): f"hash{n}" for n in range(600)}


PAYLOAD = {
    "Title": "größer 注文 😀 \u200b",
    "FinderSnippet": 'a: b\r\n\tc\0d\\"',
    "PartIndex": 3,
    "CharEnd": 2**40,
    "Negative": -1,
    "Half": 0.5,
    "Flag": True,
    "LabelSlugs": ["a", "b", ""],
    "PdfPages": [1, 2],
    "GraphNodeKeys": ["csharp:Ns.Repository`1|TYPE", "csharp:Ns.Ü|TYPE"],
    "Empty": "",
    "NoList": [],
    "Nothing": None,
    "IndexedUtc": "2026-01-02T03:04:05.1234560Z",
    "ContentTypeId": 2,
}


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ShardReader]:
    """A point with every type of payload, one without a dense vector, one without terms."""
    made = [
        StoredPoint(point_id(0), unit_rows(1)[0], terms(0), payload(0) | PAYLOAD),
        StoredPoint(point_id(4), None, terms(4), payload(4)),
        StoredPoint(point_id(8), unit_rows(1)[0], NO_TERMS, payload(8)),
    ]
    with ShardReader(write(tmp_path_factory.mktemp("odd") / "s", made)) as opened:
        yield opened


def test_payloads_round_trip(odd: ShardReader) -> None:
    """B17: every type the contract writes, and odd text, comes back equal."""
    stored = payload(0) | PAYLOAD
    found = odd.retrieve([point_id(0)], scope())[point_id(0)]
    assert found == stored
    assert {key: type(value) for key, value in found.items()} == {key: type(value) for key, value in stored.items()}


def test_a_point_may_lack_a_vector_or_terms(odd: ShardReader) -> None:
    assert {hit.id for hit in odd.dense(unit_rows(1)[0], scope(), 9)} == {point_id(0), point_id(8)}
    assert {hit.id for hit in odd.sparse([5], [1.0], scope(), 9)} == {point_id(0), point_id(4)}
    assert odd.count() == 3


def test_a_lexical_shard_has_no_dense_vectors(tmp_path: Path) -> None:
    write(tmp_path / "s", points(20), dimension=0)
    with ShardReader(tmp_path / "s") as opened:
        assert len(opened.sparse([5], [1.0], scope(), 100)) == 5
        with pytest.raises(VectorStoreError, match="cannot be searched"):
            opened.dense(unit_rows(1)[0], scope(), 5)


def test_an_empty_shard_answers_nothing(tmp_path: Path) -> None:
    with ShardReader(write(tmp_path / "s", [])) as opened:
        assert opened.count() == 0
        assert opened.ids() == {}
        assert opened.dense(unit_rows(1)[0], scope(paths=("*.cs",)), 5) == []


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
def test_a_bad_point_is_named(writer: ShardWriter, point: StoredPoint, says: str) -> None:
    with pytest.raises(VectorStoreError, match=says):
        writer.upsert([point])


@pytest.fixture(scope="module")
def writer(tmp_path_factory: pytest.TempPathFactory) -> ShardWriter:
    return ShardWriter(tmp_path_factory.mktemp("writer") / "s", DIMENSION)


def test_what_a_killed_build_left_is_replaced(tmp_path: Path) -> None:
    writer = ShardWriter(tmp_path / "s", DIMENSION)
    writer.upsert(points(50))  # and never finished
    write(tmp_path / "s", points(3))
    with ShardReader(tmp_path / "s") as opened:
        assert set(opened.ids()) == {point_id(n) for n in range(3)}


@pytest.fixture(scope="module")
def builds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two builds of equal points without a graph, two with one. Every fifth text occurs several times."""
    folder = tmp_path_factory.mktemp("builds")
    rows = unit_rows(400)
    made = [StoredPoint(point_id(n), rows[n if n % 5 else n % 40], terms(n), payload(n)) for n in range(400)]
    for name in ("flat", "flat again"):
        write(folder / name, made, hnsw_from_points=401)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shard_schema, "_HNSW_FULL_SCAN_KB", 1)  # else the engine scans a shard this small all the same
        for name in ("graph", "graph again"):
            write(folder / name, made, hnsw_from_points=400)
    return {path.name: path for path in folder.iterdir()}


def ranking(directory: Path) -> list[list[Scored]]:
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


@pytest.mark.parametrize(
    "damage",
    [
        lambda d: shutil.rmtree(d),
        lambda d: (d / "edge_config.json").unlink(),
        lambda d: (d / "edge_config.json").write_text("{", encoding="utf-8"),
        lambda d: next(d.glob("segments/*/segment.json")).write_bytes(b""),
        lambda d: next(d.glob("segments/*/payload_storage/page_0.dat")).unlink(),
    ],
    ids=["no folder", "no configuration", "half a configuration", "empty segment", "no payloads"],
)
def test_damage_is_an_error_with_the_next_command(
    builds: dict[str, Path], tmp_path: Path, damage: Callable[[Path], object]
) -> None:
    shutil.copytree(builds["flat"], tmp_path / "s")
    damage(tmp_path / "s")
    with pytest.raises(VectorStoreError, match="rag-assets index --force"), ShardReader(tmp_path / "s") as opened:
        opened.retrieve(list(opened.ids()), scope())


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    with pytest.raises(VectorStoreError, match="cannot be made"):
        ShardWriter(tmp_path / "file" / "s", DIMENSION)


@pytest.mark.parametrize(
    ("name", "value"),
    [("_MEMORY_NEEDED", 1 << 62), ("_MEMORY_FOLDER", Path("no") / "such" / "folder")],
    ids=["memory folder too small", "no memory folder"],
)
def test_a_shard_is_made_without_a_memory_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: object
) -> None:
    """A mapped write into a full folder would kill the process (Docker gives it 64 MB)."""
    monkeypatch.setattr(shard_schema, name, value)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with ShardReader(write(tmp_path / "s", points(4))) as opened:
        assert opened.count() == 4
    assert [path.name for path in tmp_path.iterdir()] == ["s"]


@pytest.mark.skipif(not hasattr(os.stat_result, "st_blocks"), reason="the platform does not tell what a file takes")
def test_a_small_shard_takes_little_disk(tmp_path: Path) -> None:
    """The engine sets aside 190 MB of zeros; they must not become blocks when the empty shard is copied."""
    writer = ShardWriter(tmp_path / "shard", 4)
    writer.finish()
    taken = sum(path.stat().st_blocks * 512 for path in (tmp_path / "shard").rglob("*") if path.is_file())
    assert taken < 20 * 1024 * 1024
