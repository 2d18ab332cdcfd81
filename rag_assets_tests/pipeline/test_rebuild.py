"""The vector index again from the catalog alone: the same questions give the same hits (E05, E07, R8)."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from rag_assets import Mode, open_index
from rag_assets.index.catalog import open_catalog
from rag_assets.index.catalog.errors import CatalogError
from rag_assets.index.catalog.history import Tenant
from rag_assets.index.catalog.reader import open_generation
from rag_assets.index.database import URL_VARIABLE
from rag_assets.index.generations import active_pointer, generation_directory, read_generation
from rag_assets.index.integrity import damage
from rag_assets.index.layout import IndexHome
from rag_assets.pipeline.progress import Silent
from rag_assets.pipeline.rebuild import NOT_KEPT, RebuildError, Rebuilt, rebuild
from rag_assets.settings import EmbedderSettings, RetentionSettings, Settings, StoreSettings
from rag_assets_tests.cli.conftest import CommandLine
from rag_assets_tests.generation_history import copy_sparse
from rag_assets_tests.git_repository import Repository
from rag_assets_tests.models.embedding_server import DIMENSION, embedding
from rag_assets_tests.models.endpoint_tools import endpoint_settings
from rag_assets_tests.models.llm.model_server import ModelServer
from rag_assets_tests.pipeline.conftest import built
from rag_assets_tests.postgres_server import running_server

FILES = {
    f"src/Type{n}.cs": f"namespace Shop;\n\n/// <summary>Number {n}.</summary>\npublic class Type{n} {{ int id{n}; }}\n"
    for n in range(8)
}
QUESTIONS = ("Type3", "number", "class id5")


@dataclass
class Indexed:
    """A label that was indexed at two commits, with a model."""

    settings: Settings
    label: str
    tenant: Tenant
    generations: list[str]
    points: int

    @property
    def home(self) -> IndexHome:
        return IndexHome(self.settings.home)

    @property
    def directory(self) -> Path:
        """Of the generation that is served."""
        return generation_directory(self.home, self.label, self.generations[-1])

    def again(self, generation_id: str | None = None) -> Rebuilt:
        return rebuild(self.settings, self.tenant, Silent(), generation_id)

    def hits(self) -> list[list[tuple[Any, ...]]]:
        """The engine adds in an order that depends on memory: scores are equal up to rounding."""
        with open_index(self.label, home=self.settings.home) as index:
            return [
                [
                    (hit.point_id, pytest.approx(hit.score, rel=1e-5), hit.text, hit.commit_sha, hit.run_id)
                    for hit in index.search(question, mode=mode)
                ]
                for question in QUESTIONS
                for mode in Mode
            ]


@pytest.fixture(scope="module")
def model() -> Iterator[EmbedderSettings]:
    with ModelServer() as server:
        server.respond = embedding
        yield endpoint_settings(server, dimension=DIMENSION)


def index(folder: Path, model: EmbedderSettings, stores: StoreSettings) -> Indexed:
    """Two commits of a repository that nobody has any more."""
    source = Repository.new(folder / "source")
    settings = Settings(home=folder / "home", embedder=model, stores=stores, retention=RetentionSettings(keep=5))
    made = []
    for files in (FILES, {"src/Type0.cs": "namespace Shop;\n\npublic class Renamed { int id; }\n"}):
        source.commit(files)
        made.append(built(source, settings))
    shutil.rmtree(source.path)
    last = made[-1]
    tenant = Tenant(last.repository.org, last.repository.project_id, last.label)
    points = last.reports["qdrant_points"].counts["points"]
    return Indexed(settings, last.label, tenant, [one.build.spec.generation_id for one in made], points)


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def built_once(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, model: EmbedderSettings
) -> Iterator[Indexed]:
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "postgres":
            server = running_server()
            patch.setenv(URL_VARIABLE, server.url(server.new_database()))
        folder = tmp_path_factory.mktemp(request.param)
        yield index(folder, model, StoreSettings(catalog=request.param))


def copy_of(made: Indexed, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Indexed:
    shutil.copytree(made.home.root, folder / "home", copy_function=copy_sparse)
    settings = made.settings.model_copy(update={"home": folder / "home"})
    embedder = settings.embedder.model_dump(exclude_none=True)
    stores = f"stores: {{catalog: {settings.stores.catalog}}}\n" if settings.stores.vectors != "qdrant" else ""
    (folder / "rag_assets.yaml").write_text(f"embedder: {embedder}\n{stores}", encoding="utf-8")
    monkeypatch.chdir(folder)
    return replace(made, settings=settings)


@pytest.fixture
def indexed(built_once: Indexed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Indexed:
    """A home of its own. The catalog in Postgres is the same for all, and only read."""
    return copy_of(built_once, tmp_path, monkeypatch)


LOSSES: dict[str, Callable[[Indexed], object]] = {
    "nothing": lambda made: None,
    "the shard": lambda made: shutil.rmtree(made.directory / "shard"),
    "the keyword files": lambda made: shutil.rmtree(made.directory / "keyword"),
    "the documents": lambda made: shutil.rmtree(made.home.blobs),
    "the generation": lambda made: shutil.rmtree(made.directory),
    "the label": lambda made: shutil.rmtree(made.home.labels),
}


def seen(made: Indexed) -> dict[str, Any]:
    """All that a reader can see beside hits: descriptions, sources, payloads, lookups by line, and the graph."""
    cli = CommandLine(made.home, made.home.root.parent)
    found: dict[str, Any] = {}
    for words in (
        "show src/Type3.cs:4",
        "explain src/Type3.cs",
        "graph around Type3",
        "graph overview",
        "status --skipped --duplicates",
        "validate",
    ):
        done = cli.run(*words.split(), "--json")
        assert done.code == 0, (words, done.err)
        found[words] = done.json
    for label in found["status --skipped --duplicates"]["labels"]:
        del label["bytes"]
    return found


@pytest.mark.rule("E07", "R8", "R9")
@pytest.mark.parametrize("lost", ["nothing", "the label"])
def test_the_same_questions_give_the_same_hits(indexed: Indexed, lost: str) -> None:
    assert_hits_come_back(indexed, lost)


@pytest.mark.rule("E07", "R8", "R9")
@pytest.mark.parametrize("lost", sorted(LOSSES.keys() - {"nothing", "the label"}))
@pytest.mark.parametrize("built_once", ["sqlite"], indirect=True)
def test_whatever_of_a_home_is_lost_gives_the_same_hits(indexed: Indexed, lost: str) -> None:
    assert_hits_come_back(indexed, lost)


def assert_hits_come_back(indexed: Indexed, lost: str) -> None:
    before = indexed.hits()
    assert any(before)
    LOSSES[lost](indexed)
    found = indexed.again()
    assert indexed.hits() == before
    assert found.served and found.points == indexed.points
    assert found.still_missing == ()
    assert [entry.name for entry in indexed.directory.glob("shard*")] == ["shard"]


@pytest.mark.rule("F09")
def test_everything_that_a_reader_sees_comes_back(indexed: Indexed) -> None:
    assert_all_comes_back(indexed, "the label")


@pytest.mark.rule("F09")
@pytest.mark.parametrize("lost", ["the generation", "the graph", "a table"])
@pytest.mark.parametrize("built_once", ["sqlite"], indirect=True)
def test_everything_comes_back_whatever_of_a_home_is_lost(indexed: Indexed, lost: str) -> None:
    assert_all_comes_back(indexed, lost)


def assert_all_comes_back(indexed: Indexed, lost: str) -> None:
    """Descriptions, lines and the graph; what does not is listed."""
    before = seen(indexed)
    losses = LOSSES | {
        "the graph": lambda made: shutil.rmtree(made.directory / "graph"),
        "a table": lambda made: shutil.rmtree(made.directory / "qdrant_points"),
    }
    losses[lost](indexed)
    if lost == "a table":
        done = CommandLine(indexed.home, indexed.home.root.parent).run("show", "src/Type3.cs:4")
        assert done.code == 1 and "Errno" not in done.err
        assert "table qdrant_points is gone" in done.err and f"rag-assets rebuild {indexed.label}" in done.err
    done = CommandLine(indexed.home, indexed.home.root.parent).run("rebuild", indexed.label)
    assert done.code == 0, done.err
    for kept in NOT_KEPT:
        assert f"not in the catalog: {kept}" in done.err
    after = seen(indexed)
    if lost == "the label":  # where the repository is, is a note of the home
        for found in (before, after):
            for label in found["status --skipped --duplicates"]["labels"]:
                for name in ("location", "head", "head_unknown", "stale"):
                    label.pop(name, None)
    assert after == before
    assert damage(indexed.home, read_generation(indexed.home, indexed.label, indexed.generations[-1])) == []


def test_the_catalog_is_filled_before_the_vectors(indexed: Indexed) -> None:
    """E05: a shard that cannot be written leaves a complete generation in the catalog."""
    with open_catalog(indexed.settings) as database:
        reader = open_generation(database, indexed.tenant)
        assert reader.known.manifest == indexed.again().manifest
        assert len(reader.declared()) == reader.known.points
        assert all(digest for digest, _ in reader.declared().values())


def test_an_earlier_generation_can_be_rebuilt(indexed: Indexed) -> None:
    earlier = read_generation(indexed.home, indexed.label, indexed.generations[0])
    shutil.rmtree(earlier.vectors)
    found = indexed.again(indexed.generations[0])
    assert not found.served and found.manifest == earlier.manifest
    assert damage(indexed.home, earlier) == []
    pointer = active_pointer(indexed.home, indexed.label)
    assert pointer is not None and pointer.generation_id == indexed.generations[-1]


def test_an_unknown_generation_names_the_known_ones(indexed: Indexed) -> None:
    with pytest.raises(CatalogError, match=f"no complete generation 'g7'.*{indexed.generations[-1]}"):
        indexed.again("g7")


def test_readers_of_the_old_shard_go_on(indexed: Indexed) -> None:
    before = indexed.hits()
    with open_index(indexed.label, home=indexed.settings.home) as opened:
        indexed.again()
        assert [hit.point_id for hit in opened.search(QUESTIONS[0])] == [hit[0] for hit in before[0]]


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ("UPDATE rag_chunks SET content_hash = 'another' WHERE path = 'src/Type3.cs'", "1 differ"),
        ("UPDATE rag_documents SET content = (SELECT content FROM rag_documents LIMIT 1)", "damaged"),
        ("DELETE FROM rag_documents", "is missing"),
    ],
    ids=["text", "document", "lost document"],
)
@pytest.mark.parametrize("built_once", ["sqlite"], indirect=True)  # its copy of the home has a catalog of its own
def test_a_damaged_catalog_leaves_the_index_as_it_is(indexed: Indexed, damage: str, message: str) -> None:
    before = indexed.hits()
    with open_catalog(indexed.settings, writable=True) as database, database.transaction("written") as connection:
        connection.exec_driver_sql(damage)
    if "documents" in damage:
        shutil.rmtree(indexed.home.blobs)
    with pytest.raises((RebuildError, CatalogError), match=message):
        indexed.again()
    assert indexed.hits() == before
    assert [entry.name for entry in indexed.directory.glob("shard*")] == ["shard"]


def test_a_server_is_filled_again(tmp_path: Path, model: EmbedderSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("qdrant_client")
    from rag_assets_tests.index.qdrant_wire import QdrantWire

    (tmp_path / "first").mkdir()
    with QdrantWire() as wire:
        stores = StoreSettings(catalog="sqlite", vectors="qdrant", qdrant_url=wire.url)
        made = copy_of(index(tmp_path / "first", model, stores), tmp_path, monkeypatch)
        before = made.hits()
        for collection in wire.store.get_collections().collections:
            wire.store.delete_collection(collection.name)
        made.again()
        assert made.hits() == before
