"""Catalogs of both kinds, empty, in a home that has the tables and documents of one small generation."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rag_assets.index.blobs import BlobStore
from rag_assets.index.catalog import open_catalog, open_catalog_target, publish
from rag_assets.index.catalog.database import Database
from rag_assets.index.catalog.history import Tenant
from rag_assets.index.catalog.reader import open_generation
from rag_assets.index.database import URL_VARIABLE
from rag_assets.index.generations import Manifest, generation_directory
from rag_assets.index.layout import IndexHome
from rag_assets.index.vectors.filters import SearchScope
from rag_assets.index.vectors.vector_api import DeclaredPoints, PointTarget, StateDiff, StoredPoint, bring_to
from rag_assets.settings import Settings, StoreSettings
from rag_assets_tests.index.sample_points import scope
from rag_assets_tests.postgres_server import running_server

LABEL = "shop@main"
DIMENSION = 4
KINDS = ("sqlite", "postgres")


def point(number: int, text: str = "", **payload: Any) -> StoredPoint:
    """A point whose digest follows its text."""
    made = {
        "OrgId": "acme",
        "ProjectId": "shop",
        "SemanticId": f"acme:shop:{number}",
        "IndexLabel": LABEL,
        "Path": f"src/File{number % 3}.cs",
        "Kind": "Model",
        "CodeLanguage": "csharp",
        "SourceType": "code",
        "SectionKey": "model-overview",
        "PartIndex": 1,
        "PartTotal": 1,
        "Symbol": f"Shop.Type{number}",
        "LineStart": 1,
        "LineEnd": 2,
        "CharStart": 0,
        "CharEnd": 12,
        "FinderSnippet": text or f"Artifact: Shop.Type{number}",
        "ContentHash": f"hash of {text or number}",
    } | payload
    dense = np.eye(DIMENSION, dtype=np.float32)[number % DIMENSION]
    sparse = np.array([number, 4_000_000_000], np.uint32), np.array([0.5, 1.5], np.float32)
    identifier = str(uuid.uuid5(uuid.NAMESPACE_OID, str(number)))
    return StoredPoint(
        identifier, dense, sparse, made, uuid.uuid5(uuid.NAMESPACE_OID, f"{number} {text} {payload}").hex
    )


@dataclass
class Catalog:
    """A home with a catalog of one kind, and builds of a label in it."""

    settings: Settings
    tenant: Tenant = field(default_factory=lambda: Tenant("acme", "shop", LABEL))
    paths: list[str] = field(default_factory=lambda: [f"src/File{number}.cs" for number in range(3)])

    @property
    def home(self) -> IndexHome:
        return IndexHome(self.settings.home)

    def target(self, generation_id: str) -> PointTarget:
        """What the build of a generation opens, once its first stages are done."""
        directory = generation_directory(self.home, self.tenant.index_label, generation_id)
        blobs = BlobStore(self.home.blobs)
        table = directory / "discovered_files"
        table.mkdir(parents=True, exist_ok=True)
        texts = [blobs.put(f"class {path[4:9]} of {generation_id} {{}}") for path in self.paths]
        pq.write_table(pa.table({"path": self.paths, "text_sha256": texts}), table / "part-000.parquet")
        (directory / "keyword").mkdir(exist_ok=True)
        (directory / "keyword" / "statistics.json").write_text(f'{{"of": "{generation_id}"}}', encoding="utf-8")
        owner = {"org_id": self.tenant.org_id, "project_id": self.tenant.project_id}
        made = open_catalog_target(
            self.settings, **owner, index_label=self.tenant.index_label, generation_id=generation_id
        )
        assert made is not None
        return made

    def build(self, generation_id: str, points: list[StoredPoint]) -> StateDiff:
        """A whole build: the points are brought there, the generation is served, the earlier ones are kept."""
        done = self.bring(generation_id, points)
        assert self.publish(generation_id) == []
        return done

    def bring(self, generation_id: str, points: list[StoredPoint]) -> StateDiff:
        made = [replace(one, payload=one.payload | self.owner) for one in points]
        digests = {one.id: one.digest for one in made}
        declared = DeclaredPoints(digests, lambda wanted: [[one for one in made if one.id in wanted]])
        return bring_to([self.target(generation_id)], [declared])

    @property
    def owner(self) -> dict[str, str]:
        return {"OrgId": self.tenant.org_id, "ProjectId": self.tenant.project_id}

    def publish(self, generation_id: str, keep: list[str] | None = None) -> list[str]:
        return publish(self.settings, self.manifest(generation_id), generation_id, keep or self.generations())

    def manifest(self, generation_id: str) -> Manifest:
        return Manifest(
            generation_id=generation_id,
            index_label=self.tenant.index_label,
            repository_id="shop",
            org_id=self.tenant.org_id,
            project_id=self.tenant.project_id,
            remote_url="",
            ref="main",
            commit_sha="c" * 40,
            commit_date="2026-01-01T00:00:00Z",
            is_git=True,
            config_hash="123456",
            embedding_model="m",
            dimension=DIMENSION,
            lexical_only=False,
            stage_versions={},
            counts={"points": 1},
            capabilities=("dense", "keyword"),
            run_id=f"run of {generation_id}",
        )

    def generations(self) -> list[str]:
        folder = self.home.label(self.tenant.index_label) / "generations"
        return sorted(entry.name for entry in folder.iterdir())

    def opened(self) -> Database:
        return open_catalog(self.settings)

    def read(self, generation_id: str) -> dict[str, StoredPoint]:
        """The points of a generation as the catalog has them."""
        with self.opened() as database:
            reader = open_generation(database, self.tenant, generation_id)
            found = {one.id: one for batch in reader.points(set(reader.declared())) for one in batch}
            assert set(found) == set(reader.declared())
            return found

    def rows(self) -> int:
        with self.opened() as database, database.transaction("read") as connection:
            return int(connection.exec_driver_sql("SELECT count(*) FROM rag_chunks").scalar_one())

    def documents(self) -> int:
        with self.opened() as database, database.transaction("read") as connection:
            return int(connection.exec_driver_sql("SELECT count(*) FROM rag_documents").scalar_one())

    def scope(self, **conditions: Any) -> SearchScope:
        return scope(self.tenant.org_id, self.tenant.project_id, **conditions)


def catalog_of(kind: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Catalog:
    if kind == "postgres":
        server = running_server()
        monkeypatch.setenv(URL_VARIABLE, server.url(server.new_database()))
    return Catalog(Settings(home=folder / "home", stores=StoreSettings(catalog=kind)))  # type: ignore[arg-type]


@pytest.fixture(params=KINDS)
def catalog(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Catalog:
    return catalog_of(request.param, tmp_path, monkeypatch)


@pytest.fixture
def on_postgres(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Catalog]:
    yield catalog_of("postgres", tmp_path, monkeypatch)
