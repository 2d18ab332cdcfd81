"""What is stored is the contract: read as whoever knows IDX-025 and none of our readers would read it."""

from __future__ import annotations

import json
import sqlite3
import struct
import uuid
import zlib
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import pytest

from rag_assets.contracts.confidentiality import Confidentiality
from rag_assets.index.database import URL_VARIABLE
from rag_assets.index.generation_files import list_files
from rag_assets.index.generations import active_generation
from rag_assets.pipeline.checks.generation_checks import CHECKS
from rag_assets.pipeline.duplicates import duplicates
from rag_assets.pipeline.embeddings import read_vectors, write_vectors
from rag_assets.pipeline.qdrant_points import _points
from rag_assets.pipeline.validate import validate
from rag_assets.settings import EmbedderSettings, Settings, StoreSettings
from rag_assets_tests.git_repository import Repository
from rag_assets_tests.pipeline.conftest import Built, built, lexical
from rag_assets_tests.postgres_server import running_server
from rag_assets_tests.stored_points import payloads_in, starts_of_payloads

REQUIRED = {
    *("OrgId", "ProjectId", "DocId", "ContentTypeId", "SectionKey", "PartIndex", "PartTotal", "IndexVersion"),
    *("EmbeddingModel", "IndexedUtc", "SemanticId", "Repo", "RepoBranch", "CommitSha", "Path", "StartLine", "EndLine"),
}
FILES = {f"src/Type{n}.cs": f"namespace Shop;\n\npublic class Type{n} {{ int id{n}; }}\n" for n in range(4)}


@pytest.fixture
def source(tmp_path: Path) -> Repository:
    made = Repository.new(tmp_path / "source")
    made.commit(FILES, at="2025-01-01T00:00:00Z")
    return made


def in_the_shard(made: Built) -> list[dict[str, Any]]:
    return payloads_in(made.build.directory)


def in_sqlite(made: Built) -> list[dict[str, Any]]:
    (path,) = made.settings.home.rglob("catalog.sqlite")
    with sqlite3.connect(path) as database:
        rows = database.execute("SELECT payload FROM rag_chunks WHERE died = 2147483647").fetchall()
    return [json.loads(payload) for (payload,) in rows]


@pytest.mark.rule("F04", "R29", "B13", "B22")
@pytest.mark.parametrize("read", [in_the_shard, in_sqlite], ids=["shard", "sqlite"])
def test_every_stored_point_has_the_commit_and_the_date_of_its_text(
    source: Repository, tmp_path: Path, read: Any
) -> None:
    settings = lexical(tmp_path / "home").model_copy(update={"stores": StoreSettings(catalog="sqlite")})
    first = source.git("rev-parse", "HEAD")
    built(source, settings)
    second = source.commit({"src/Type0.cs": FILES["src/Type0.cs"].replace("id0", "no0")}, at="2025-02-02T00:00:00Z")
    made = built(source, settings)
    assert made.reports["qdrant_points"].work["upserted"] == 1, "the point of one file"
    stored = read(made)
    assert len(stored) == made.reports["qdrant_points"].counts["points"]
    for payload in stored:
        assert payload.keys() >= REQUIRED
        commit, day = (second, "02-02") if payload["Path"] == "src/Type0.cs" else (first, "01-01")
        assert payload["CommitSha"] == commit
        assert payload["IndexedUtc"] == payload["UpdatedUtc"] == f"2025-{day}T00:00:00.0000000Z"


@pytest.mark.rule("F04", "R29")
def test_every_stored_point_in_postgres_has_them_too(
    source: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = running_server()
    database = server.new_database()
    monkeypatch.setenv(URL_VARIABLE, server.url(database))
    settings = Settings(
        home=tmp_path / "home",
        embedder=EmbedderSettings(provider="lexical-only"),
        stores=StoreSettings(catalog="postgres"),
    )
    made = built(source, settings)
    checked = validate(made.build.home, settings, made.label)
    assert [store.points for store in checked.stores] == [made.reports["qdrant_points"].counts["points"]] * 2
    assert checked.violations == 0
    rows = server.execute("SELECT payload FROM rag_chunks WHERE died = 2147483647", database)
    stored = [json.loads(payload) for (payload,) in rows]
    assert len(stored) == made.reports["qdrant_points"].counts["points"]
    assert all(payload.keys() >= REQUIRED for payload in stored)
    assert {payload["CommitSha"] for payload in stored} == {source.git("rev-parse", "HEAD")}
    assert {payload["IndexedUtc"] for payload in stored} == {"2025-01-01T00:00:00.0000000Z"}


@pytest.mark.rule("R29")
def test_without_git_a_point_has_the_digest_and_the_time_of_its_file(source: Repository, tmp_path: Path) -> None:
    """What changes in one file changes nothing in the points of others."""
    (source.path / ".git").rename(tmp_path / "git")
    first = built(source, lexical(tmp_path / "home"), ref=None)
    before = {payload["SemanticId"]: payload for payload in in_the_shard(first)}
    (source.path / "src" / "Type0.cs").write_text("namespace Shop;\n\npublic class Type0 { }\n", encoding="utf-8")
    made = built(source, lexical(tmp_path / "home"), ref=None)
    after = {payload["SemanticId"]: payload for payload in in_the_shard(made)}
    assert made.build.spec.git.commit_sha != first.build.spec.git.commit_sha
    for semantic_id, payload in after.items():
        assert len(payload["CommitSha"]) == 64 and payload["IndexedUtc"] and "UpdatedUtc" not in payload
        assert (payload == before.get(semantic_id)) is (payload["Path"] != "src/Type0.cs")


@pytest.mark.rule("F04", "R29", "R30", "B04", "B18", "R2")
def test_a_qdrant_server_is_read_with_its_client_alone(source: Repository, tmp_path: Path) -> None:
    """By the name of the label: each SemanticId once, under its PointId, whatever was built before."""
    client = pytest.importorskip("qdrant_client")
    from rag_assets_tests.index.qdrant_wire import QdrantWire

    with QdrantWire() as wire:
        settings = Settings(
            home=tmp_path / "home",
            embedder=EmbedderSettings(provider="lexical-only"),
            stores=StoreSettings(vectors="qdrant", qdrant_url=wire.url),
        )
        first = source.git("rev-parse", "HEAD")
        built(source, settings)
        second = source.commit({"src/Type0.cs": FILES["src/Type0.cs"].replace("id0", "no0")})
        made = built(source, settings)
        assert validate(made.build.home, settings, made.label).violations == 0
        reader = client.QdrantClient(url=wire.url, check_compatibility=False)
        records, more = reader.scroll("local~shop~shop@main", limit=1_000, with_payload=True, with_vectors=True)
    assert more is None and len(records) == made.reports["qdrant_points"].counts["points"]
    assert len({record.payload["SemanticId"] for record in records}) == len(records)
    namespace = uuid.uuid5(uuid.NAMESPACE_URL, "https://rag-assets.dev/point")
    for record in records:
        payload = record.payload
        assert payload.keys() >= REQUIRED and record.vector
        owner = (payload["OrgId"], payload["ProjectId"], payload["RepoId"], "shop@main", payload["SemanticId"])
        assert record.id == str(uuid.uuid5(namespace, "|".join(owner)))
        assert payload["CommitSha"] == (second if payload["Path"] == "src/Type0.cs" else first)


@pytest.mark.rule("F04")
@pytest.mark.parametrize("store", ["embedded", "faiss", "qdrant"])
def test_damage_in_a_vector_store_is_found_and_is_a_warning_of_a_check(
    source: Repository, tmp_path: Path, store: str
) -> None:
    pytest.importorskip({"embedded": "qdrant_edge", "faiss": "faiss", "qdrant": "qdrant_client"}[store])
    from rag_assets_tests.index.qdrant_wire import QdrantWire

    with QdrantWire() as wire:
        settings = Settings(
            home=tmp_path / "home",
            embedder=EmbedderSettings(provider="lexical-only"),
            stores=StoreSettings(vectors=store, qdrant_url=wire.url),  # type: ignore[arg-type]
        )
        made = built(source, settings)
        asset, blocking, check = CHECKS["stored_points_follow_the_contract"]
        assert (asset, blocking) == ("active_index", False)
        assert check(made.build).passed
        if store == "qdrant":
            records, _ = wire.store.scroll("local~shop~shop@main", limit=1)
            wire.store.set_payload("local~shop~shop@main", {"CommitSha": "of nobody"}, points=[records[0].id])
        else:
            name = {"embedded": "rag_assets.points", "faiss": "payloads.json"}[store]
            change_payload(made.build.directory / "shard" / name)
            list_files(made.build.directory, again=("shard/",))
        found = check(made.build)
    assert not found.passed and found.numbers["violations"]
    assert any("CommitSha 'of nobody'" in example for example in found.examples)


@pytest.mark.rule("F04")
def test_a_build_reads_back_what_it_changed_and_copies_of_the_rest_count_as_read(
    source: Repository, tmp_path: Path
) -> None:
    settings = Settings(home=tmp_path / "home", embedder=EmbedderSettings(provider="lexical-only"))
    check = CHECKS["stored_points_follow_the_contract"][2]
    source.commit({f"notes/{number}.md": f"# Note {number}\n\nOf {number} things.\n" for number in range(200)})
    first = check(built(source, settings).build)
    assert first.passed and first.numbers["read"] == first.numbers["points"] > 0
    assert check(built(source, settings).build).numbers == first.numbers | {"read": 0}
    source.commit({"notes/7.md": "# Note 7\n\nOf eight things.\n"})
    made = built(source, settings)
    second = check(made.build)
    changed = [payload for payload in in_the_shard(made) if payload["Path"] == "notes/7.md"]
    assert second.passed and second.numbers["read"] == len(changed) > 0  # and nothing else of its bucket


def change_payload(path: Path) -> None:
    """The commit of the first payload, in a file of as many bytes for each payload as before."""
    data = path.read_bytes()
    if path.name == "payloads.json":
        at = data.index(b'"CommitSha":"') + len(b'"CommitSha":"')
        path.write_bytes(data[:at] + b'of nobody","Audience":"' + data[at + 23 :])
        return
    starts, first = starts_of_payloads(data)
    bodies = [data[first + a : first + b] for a, b in pairwise(starts)]
    bodies[0] = zlib.compress(json.dumps(json.loads(zlib.decompress(bodies[0])) | {"CommitSha": "of nobody"}).encode())
    changed = [0, *accumulate(map(len, bodies))]
    count, files, names, _ = struct.unpack_from("=4Q", data, 8)
    head = struct.pack("=4Q", count, files, names, changed[-1])
    offsets = struct.pack(f"={count + 1}Q", *changed)
    table = data[40 : 40 + 16 * count] + offsets + data[40 + 16 * count + len(offsets) : first]
    path.write_bytes(data[:8] + head + table + b"".join(bodies))


@pytest.mark.rule("F08", "A28", "A29")
def test_a_vector_that_the_model_spoiled_blocks_its_points_and_no_others(source: Repository, tmp_path: Path) -> None:
    """Points take the vectors of the stage before through `create_embeddings`, and become points of the stores through
    `to_qdrant_point`: what these refuse is listed and left out."""
    made = built(source, lexical(tmp_path / "home"))
    bucket = 0
    spoiled = read_vectors(made.build, bucket).copy()
    spoiled[0] = float("nan")
    write_vectors(made.build, bucket, spoiled)
    list_files(made.build.directory, again=("embeddings/",))
    found = list(_points(made.build, bucket))
    assert [result.value is None for _, result in found] == [True] + [False] * (len(found) - 1)
    assert [message.code for message in found[0][1].errors] == ["EMBEDDER.finite", "VECTOR.missing"]


@pytest.mark.rule("F08", "B18")
def test_a_stored_point_is_what_to_qdrant_point_gives(source: Repository, tmp_path: Path) -> None:
    made = built(source, lexical(tmp_path / "home"))
    points = {result.value.point_id: result.value for _, result in _points(made.build, 0) if result.value}
    stored = {payload["SemanticId"]: payload for payload in in_the_shard(made)}
    for point in points.values():
        assert point.payload.to_qdrant_point(point.point_id, point.vector).payload == stored[point.payload.semantic_id]


@pytest.mark.rule("F11", "B12", "B23")
def test_equal_texts_have_equal_hashes_wherever_they_are(source: Repository, tmp_path: Path) -> None:
    text = "namespace Shop;\n\npublic class Copied\n{{\n    public void Pay(int cents) {{ }}{end}\n}}\n"
    source.commit({"src/One.cs": text.format(end=""), "lib/Two.cs": text.format(end="  ").replace("\n", "\r\n")})
    made = built(source, lexical(tmp_path / "home"))
    hashes: dict[str, set[str]] = {}
    for payload in in_the_shard(made):
        hashes.setdefault(payload["ContentHash"], set()).add(payload["Path"])
    assert {"src/One.cs", "lib/Two.cs"} in hashes.values()
    generation = active_generation(made.build.home, made.label)
    (found,) = duplicates(generation, Confidentiality.INTERNAL)
    assert [place.path for place in found.places] == ["lib/Two.cs", "src/One.cs"]
    assert len(in_the_shard(made)) > len(found.places), "sections of one class are no copies of each other"


def test_an_index_without_a_model_reports_no_vectors(source: Repository, tmp_path: Path) -> None:
    made = built(source, lexical(tmp_path / "home"))
    assert made.reports["embeddings"].counts == {"vectors": 0, "dimension": 0}
    assert active_generation(made.build.home, made.label).manifest.dimension == 0
    assert CHECKS["vectors_are_sound"][2](made.build).numbers == {"vectors": 0, "dimension": 0}
