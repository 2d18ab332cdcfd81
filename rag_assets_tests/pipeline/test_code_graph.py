"""The graph of a commit is the same, byte for byte, whatever a home knows from the commits before; nothing is left of
what was removed."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest

from rag_assets.graph.artifact import GRAPH_FOLDER, check
from rag_assets.index import parquet_parts
from rag_assets.index.cache import Cache, PartCache
from rag_assets.index.layout import IndexHome, index_label
from rag_assets.index.parquet_parts import read_all
from rag_assets.pipeline.build import IndexBuild, StageReport, label_lock
from rag_assets.pipeline.code_graph import GRAPH_EDGES, GRAPH_FILES, GRAPH_NODES, STAGE, SYMBOLS, build_graph
from rag_assets.pipeline.collect_garbage import collect_garbage
from rag_assets.pipeline.discovered_files import discover_files
from rag_assets.pipeline.memo import TRACES
from rag_assets.pipeline.progress import Silent
from rag_assets.pipeline.segments import indexed_files, segment_files
from rag_assets.settings import EmbedderSettings, RepositorySettings, Settings
from rag_assets_tests.git_repository import Repository
from rag_assets_tests.graph.changing_label import LABEL, Texts, edited

FILES_PER_BUCKET = 8  # so that there are four: some are taken from before while files of others change
NOTES = 10  # files beside the label, so that no edit makes it two or eight
RANDOM_EDITS = 8


@dataclass(frozen=True)
class Built:
    build: IndexBuild
    report: StageReport

    @property
    def files(self) -> dict[str, bytes]:
        """Everything of the graph in the generation."""
        folders = (self.build.directory / name for name in (GRAPH_NODES, GRAPH_EDGES, GRAPH_FOLDER))
        return {
            path.relative_to(self.build.directory).as_posix(): path.read_bytes()
            for folder in folders
            for path in sorted(folder.iterdir())
        }

    @property
    def keys(self) -> set[str]:
        """All nodes, and all ends of edges."""
        nodes = read_all(self.build.directory, GRAPH_NODES, self.build.spec.bucket_count, ["key"])
        edges = read_all(self.build.directory, GRAPH_EDGES, self.build.spec.bucket_count, ["source", "target"])
        columns = [column for part in (*nodes, *edges) for column in part.columns]
        return {key for column in columns for key in column.to_pylist()}

    @property
    def paths(self) -> set[str]:
        """The files that nodes and edges are of."""
        tables = (read_all(self.build.directory, name, self.build.spec.bucket_count, ["path"])
                  for name in (GRAPH_NODES, GRAPH_EDGES))  # fmt: skip
        return {path for table in tables for part in table for path in part.column("path").to_pylist()} - {""}


@dataclass(frozen=True)
class Source:
    """A repository that the tests write, and what builds its graph in any home."""

    repository: Repository

    def commit(self, texts: Texts) -> str:
        """A commit of exactly these files."""
        for path in self.repository.path.rglob("*"):
            if path.is_file() and ".git" not in path.relative_to(self.repository.path).parts:
                path.unlink()
        return self.repository.commit(texts)

    def graph(self, home: Path, commit: str) -> Built:
        settings = Settings(home=home, embedder=EmbedderSettings(provider="lexical-only"), workers=1)
        known = RepositorySettings(id="shop", location=str(self.repository.path), ref="main")
        label = index_label("shop", "main")
        with label_lock(IndexHome(home), label):
            build, _ = discover_files(IndexHome(home), settings, label, known, Silent(), commit=commit)
            segment_files(build, Silent())
            return Built(build, build_graph(build, Silent()))


@pytest.fixture
def several_buckets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_parts, "FILES_PER_BUCKET", FILES_PER_BUCKET)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Source:
    repository = Repository.new(tmp_path_factory.mktemp("source") / "shop")
    return Source(repository)


@pytest.fixture(scope="module")
def living(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home that goes through all edits, in the order of the tests."""
    return tmp_path_factory.mktemp("living")


@pytest.fixture(scope="module")
def forgetful(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Path]:
    """A home that has segments of all commits, but forgets all graphs: each is made as in a new home, only faster."""
    home = IndexHome(tmp_path_factory.mktemp("forgetful"))

    def forgotten() -> Path:
        for kind in (STAGE, SYMBOLS):
            shutil.rmtree(home.parts / kind, ignore_errors=True)
        for name in (GRAPH_FILES, TRACES.name):
            for path in home.cache.glob(f"{name}*"):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        return home.root

    return forgotten


def replaced(path: str, old: str, new: str) -> Callable[[Texts], Texts]:
    def edit(texts: Texts) -> Texts:
        assert old in texts[path]
        return texts | {path: texts[path].replace(old, new)}

    return edit


def moved(path: str, target: str) -> Callable[[Texts], Texts]:
    return lambda texts: {target if known == path else known: text for known, text in texts.items()}


def without(path: str) -> Callable[[Texts], Texts]:
    return lambda texts: {known: text for known, text in texts.items() if known != path}


def added(path: str, text: str) -> Callable[[Texts], Texts]:
    return lambda texts: texts | {path: text}


EDITS: dict[str, Callable[[Texts], Texts]] = {
    "nothing": lambda texts: texts,
    "lines above": replaced("src/Core/Order.cs", "namespace Core;", "// one\n\n// two\nnamespace Core;"),
    "a body": replaced("src/Shop/Tools/Texts.cs", "=> text;", "=> text + text;"),
    "a member more": replaced(
        "src/Core/Clock.cs", "    public static int Now", "    public static int Old() => 0;\n    public static int Now"
    ),
    "a member less": replaced("src/Core/Money.cs", "    public Money Plus(int cents) => Plus(new Money(cents));\n", ""),
    "a member is renamed": replaced("src/Shop/OrderService.cs", "Order Place(", "Order Put("),
    "a parameter of a constructor": replaced(
        "src/Core/Order.cs", "Order(Customer customer, Money total)", "Order(Customer customer, Money? total)"
    ),
    "a type is renamed": replaced("src/Core/Order.cs", "class Customer", "class Buyer"),
    "a type more": added("src/Core/Customer.cs", "namespace Core;\npublic class Customer : Entity<int> { }\n"),
    "a base less": replaced("src/Shop/OrderService.cs", "OrderRepository : Repository<Order>", "OrderRepository"),
    "a using less": replaced("src/Shop/OrderService.cs", "using Shop.Tools;\n", ""),
    "a global using more": replaced(
        "src/Shop/Globals.cs", "global using Core;", "global using Core;\nglobal using Shop.Tools;"
    ),
    "an alias of the project means another type": replaced("src/Core/Core.csproj", "Core.Money", "Core.Order"),
    "a namespace": replaced("src/Shop/Tools/Texts.cs", "namespace Shop.Tools;", "namespace Core;"),
    "a project reference less": replaced(
        "src/Shop/Shop.csproj", '<ProjectReference Include="../Core/Core.csproj" />', ""
    ),
    "a project less": without("src/Other/Other.csproj"),
    "a table of an entity": replaced("src/Shop/Data/ShopContext.cs", '"Buyers"', '"People"'),
    "an entity less": replaced(
        "src/Shop/Data/ShopContext.cs", "    public DbSet<OrderLine> Lines => Set<OrderLine>();\n", ""
    ),
    "an inherited action more": replaced(
        "src/Shop/Web/BaseController.cs",
        "    [HttpGet",
        '    [HttpGet("ready")]\n    public string Ready() => "";\n    [HttpGet',
    ),
    "a key of resources": replaced("src/Shop/Resources/Texts.resx", '"Cancelled"', '"Gone"'),
    "a table is renamed": replaced("db/orders.sql", "sales.OrderLines", "sales.Lines"),
    "a file of code moves": moved("src/Core/Money.More.cs", "src/Shop/Money.More.cs"),
    "a table moves to another file": moved("db/procedures.sql", "db/old/procedures.sql"),
    "a partial type loses a part": without("src/Shop/OrderService.Part.cs"),
    "a delegate": replaced("src/Core/Money.cs", "Money Rounding()", "Money Rounding(int digits)"),
}
"""Each on top of the ones before."""


@pytest.fixture(scope="module")
def commits(source: Source) -> dict[str, str]:
    """The commits of all edits, then of random ones."""
    texts = LABEL | {f"notes/{number:03d}.md": f"# Note {number}\n" for number in range(NOTES)}
    made = {"first": source.commit(texts)}
    for name, edit in EDITS.items():
        texts = edit(texts)
        made[name] = source.commit(texts)
    random = Random(11)
    for number in range(RANDOM_EDITS):
        for _ in range(3):
            _, texts = edited(texts, random)
        made[f"random {number}"] = source.commit(texts)
    return made


@pytest.mark.rule("R2")
@pytest.mark.usefixtures("several_buckets")
@pytest.mark.parametrize("name", ["first", *EDITS, *(f"random {number}" for number in range(RANDOM_EDITS))])
def test_an_edit_gives_the_graph_of_a_home_that_knows_nothing(
    source: Source, commits: dict[str, str], living: Path, forgetful: Callable[[], Path], name: str
) -> None:
    found, wanted = source.graph(living, commits[name]), source.graph(forgetful(), commits[name])
    assert found.build.spec.bucket_count == 4
    assert wanted.report.work["from_cache"] == 0
    assert found.files == wanted.files
    assert (found.report.counts, found.report.output) == (wanted.report.counts, wanted.report.output)
    check(found.build.directory / GRAPH_FOLDER)


@pytest.mark.usefixtures("several_buckets")
def test_the_last_of_many_edits_gives_the_graph_of_a_new_home(
    source: Source, commits: dict[str, str], living: Path, tmp_path: Path
) -> None:
    last = list(commits)[-1]
    assert source.graph(living, commits[last]).files == source.graph(tmp_path, commits[last]).files


@pytest.mark.parametrize(
    ("name", "extracted"), [("nothing", 0), ("a body", 1), ("lines above", 1), ("a key of resources", 3)]
)
def test_an_edit_costs_the_files_that_it_concerns(source: Source, tmp_path: Path, name: str, extracted: int) -> None:
    """Of a key of resources these are the file itself, the one of another culture and the code that uses the key."""
    first = source.graph(tmp_path, source.commit(LABEL))
    second = source.graph(tmp_path, source.commit(EDITS[name](LABEL)))
    assert first.report.work == {"extracted": len(LABEL), "from_cache": 0}
    assert second.report.work == {"extracted": extracted, "from_cache": len(LABEL) - extracted}


@pytest.mark.rule("R3")
def test_a_deleted_file_leaves_no_node(source: Source, tmp_path: Path) -> None:
    """Neither its own nodes, nor edges to them from files that were not touched."""
    gone = "src/Shop/OrderService.Part.cs"
    cancel = "csharp:Shop.Services.OrderService.Cancel(int)|METHOD"
    before = source.graph(tmp_path, source.commit(LABEL))
    after = source.graph(tmp_path, source.commit(without(gone)(LABEL)))
    assert gone in before.paths and gone not in after.paths
    assert after.paths <= {row["path"] for bucket in after.build.buckets for row in indexed_files(after.build, bucket)}
    assert {cancel} & before.keys and not {cancel, f"file:{gone}"} & after.keys
    assert "csharp:Shop.Services.OrderService|TYPE" in after.keys, "the other part is still there"


@pytest.mark.rule("R3")
def test_garbage_collection_takes_what_no_generation_has_of_the_graph(source: Source, tmp_path: Path) -> None:
    """First what two of three generations had, then, when their branch is removed, the rest."""
    home, edits = IndexHome(tmp_path), ("a body", "a parameter of a constructor")
    texts = dict(LABEL)
    build = source.graph(tmp_path, source.commit(texts)).build
    for name in edits:
        before, texts = build.directory, EDITS[name](texts)
        build = source.graph(tmp_path, source.commit(texts)).build
        shutil.rmtree(before)
    known = cached(home)
    assert known[GRAPH_FILES] == len(LABEL) + len(edits) and known[STAGE] == known[SYMBOLS] == 1 + len(edits)
    collect_garbage(home, build.settings)
    assert cached(home) == {STAGE: 1, SYMBOLS: 1, GRAPH_FILES: len(LABEL), TRACES.name: 1}
    shutil.rmtree(build.directory)
    collect_garbage(home, build.settings)
    assert cached(home) == dict.fromkeys((STAGE, SYMBOLS, GRAPH_FILES, TRACES.name), 0)


def cached(home: IndexHome) -> dict[str, int]:
    """How many entries the caches of the graph have."""
    kinds = [kind for kind, _, _ in PartCache(home.cache).entries()]
    found = {kind: kinds.count(kind) for kind in (STAGE, SYMBOLS)}
    for name in (GRAPH_FILES, TRACES.name):
        with Cache(home.cache, name) as cache:
            found[name] = cache.count()
    return found
