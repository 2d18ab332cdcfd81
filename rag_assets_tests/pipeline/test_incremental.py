"""A build costs what changed, and is byte for byte what a build from nothing gives."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from rag_assets.index import parquet_parts
from rag_assets.index.generations import active_generation, generations_directory
from rag_assets.index.layout import IndexHome, index_label
from rag_assets.index.vectors import open_vectors
from rag_assets.pipeline.build import IndexBuild, StageReport
from rag_assets.pipeline.run_stages import run_stages
from rag_assets.pipeline.versions import STAGES
from rag_assets.settings import DomainSettings, RepositorySettings, Settings
from rag_assets_tests.generation_history import copy_sparse
from rag_assets_tests.git_repository import Repository
from rag_assets_tests.pipeline.conftest import lexical

FILES = 12
FILES_PER_BUCKET = 8  # two buckets and a good deal of slack
ENTITY = (
    "namespace Shop.Models;\n/// <summary>Item number {0}.</summary>\n"
    "public class Item{0} : {1} {{ public int Id {{ get; set; }} }}\n"
)
STORE = "namespace Shop.Stores;\npublic class {0} : IStore {{ public void Save(int id) {{ }} }}\n"
PARTIAL = "namespace Shop.Models;\npublic partial class Item7 {{ {0} }}\n"
FIRST = {f"src/Item{number:03d}.cs": ENTITY.format(number, "Base") for number in range(FILES)} | {
    "src/Base.cs": "namespace Shop.Models;\npublic abstract class Base { }\n",
    "src/IStore.cs": "namespace Shop.Stores;\npublic interface IStore { void Save(int id); }\n",
    "src/ItemStore.cs": STORE.format("ItemStore"),
    "docs/guide.md": "# Guide\n\nHow to order an item.\n",
}
MADE = [stage for stage in STAGES if stage not in ("eval_runs", "active_index")]


@dataclass(frozen=True)
class Built:
    build: IndexBuild
    reports: dict[str, StageReport]

    def work(self, stage: str, name: str) -> float:
        return self.reports[stage].work[name]

    @property
    def outputs(self) -> dict[str, str]:
        return {stage: self.reports[stage].output for stage in MADE}


@dataclass(frozen=True)
class Shop:
    source: Repository
    settings: Settings
    repository: RepositorySettings

    def index(self, **options: Any) -> Built:
        label = index_label(self.repository.id, self.repository.ref or "main")
        build, reports = run_stages(self.settings, label, self.repository, **options)
        return Built(build, {report.stage: report for report in reports})

    def change(self, files: Mapping[str, str]) -> Built:
        self.source.commit(files)
        return self.index()

    def clean(self) -> Built:
        """The same commit in a home of its own."""
        home = self.settings.home.with_name("clean")
        shutil.rmtree(home, ignore_errors=True)
        return replace(self, settings=self.settings.model_copy(update={"home": home})).index()

    def stored(self, built: Built) -> dict[str, str]:
        with open_vectors(active_generation(built.build.home, built.build.spec.index_label).vectors) as reader:
            return reader.digests()

    def assert_equals_clean(self, built: Built) -> None:
        clean = self.clean()
        assert built.outputs == clean.outputs
        assert self.stored(built) == self.stored(clean)


@pytest.fixture(scope="module", autouse=True)
def small_buckets() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parquet_parts, "FILES_PER_BUCKET", FILES_PER_BUCKET)
        yield


@pytest.fixture(scope="module")
def original(small_buckets: None, tmp_path_factory: pytest.TempPathFactory) -> Shop:
    folder = tmp_path_factory.mktemp("incremental")
    source = Repository.new(folder / "source", FIRST)
    settings = lexical(folder / "home").model_copy(update={"workers": 1})
    shop = Shop(source, settings, RepositorySettings(id="shop", location=str(source.path), ref="main"))
    first = shop.index()
    assert len(first.build.buckets) == 2
    assert first.work("segments", "parsed") == first.work("descriptions", "described") == len(FIRST)
    return shop


@pytest.fixture
def shop(original: Shop, tmp_path: Path) -> Iterator[Shop]:
    shutil.copytree(original.settings.home, tmp_path / "home", copy_function=copy_sparse)
    shutil.copytree(original.source.path, tmp_path / "source")
    source = Repository(tmp_path / "source")
    yield Shop(
        source,
        original.settings.model_copy(update={"home": tmp_path / "home"}),
        original.repository.model_copy(update={"location": str(source.path)}),
    )


def test_one_changed_file_costs_one_file(shop: Shop) -> None:
    made = shop.change({"src/Item007.cs": ENTITY.format(7, "Base").replace("number", "no.")})
    assert made.work("discovered_files", "read") == 1
    assert made.work("segments", "parsed") == made.work("descriptions", "described") == 1
    assert made.work("summary_sections", "built") == made.work("embeddings", "embedded") > 0
    assert 0 < made.work("qdrant_points", "upserted") <= 3, "the points of that file"
    assert made.work("qdrant_points", "deleted") == 0
    for stage in ("descriptions", "summary_sections", "bm25_artifacts"):
        assert made.work(stage, "from_cache") > 0, f"{stage}: the other bucket is the same"
    shop.assert_equals_clean(made)


def test_a_commit_that_changes_nothing_costs_nothing(shop: Shop) -> None:
    made = shop.change({})
    assert [made.work(*name) for name in (
        ("discovered_files", "read"), ("segments", "parsed"), ("descriptions", "described"),
        ("summary_sections", "built"), ("embeddings", "embedded"), ("bm25_artifacts", "counted"),
        ("qdrant_points", "upserted"), ("qdrant_points", "deleted"),
    )] == [0] * 8  # fmt: skip
    assert made.build.spec.git.commit_sha != shop.source.git("rev-parse", "HEAD~1")
    shop.assert_equals_clean(made)


@pytest.mark.parametrize(
    "change",
    [
        {"src/Base.cs": "namespace Shop.Models;\npublic abstract class Base { public int Version { get; set; } }\n"},
        {"src/IStore.cs": "namespace Shop.Stores;\npublic interface IStore2 { void Save(int id); }\n"},
        {"src/OtherStore.cs": STORE.format("OtherStore")},
        {"src/Again.cs": ENTITY.format(7, "Base")},
        {"src/Item007.cs": PARTIAL.format(""), "src/Item007.Part.cs": PARTIAL.format("public int More { get; set; }")},
        {"src/Texts.resx": '<root><data name="Saved"><value>Saved.</value></data></root>',
         "src/Use.cs": "namespace Shop;\npublic class Use { public string A => Texts.Saved; }\n"},
    ],
    ids=["base class", "interface renamed", "another implementer", "a symbol twice", "partial", "resource used"],
)  # fmt: skip
def test_what_other_files_say_of_it_makes_a_description_again(shop: Shop, change: dict[str, str]) -> None:
    shop.assert_equals_clean(shop.change(change))


def test_the_value_of_a_route_in_another_file_makes_a_controller_again(shop: Shop) -> None:
    controller = (
        "namespace Shop;\n\n[ApiController]\n[Route(Routes.Prefix)]\npublic class ItemsController : ControllerBase\n{\n"
        "    [HttpGet]\n    public int All() => 1;\n}\n"
    )
    routes = 'namespace Shop;\n\npublic static class Routes\n{{\n    public const string Prefix = "{0}";\n}}\n'
    shop.change({"src/ItemsController.cs": controller, "src/Routes.cs": routes.format("/api/items")})
    made = shop.change({"src/Routes.cs": routes.format("/api/things")})
    assert made.work("descriptions", "described") == 2
    shop.assert_equals_clean(made)


def test_of_a_changed_bucket_what_nothing_is_said_anew_of_stays(shop: Shop) -> None:
    """A second part of a type is described anew with the first, and both again without it; nothing else is."""
    shop.change({"src/Item007.cs": PARTIAL.format("")})
    part = {"src/Item007.Part.cs": PARTIAL.format("public int More { get; set; }")}
    more = shop.change(part)
    assert more.work("descriptions", "described") == 2
    shop.assert_equals_clean(more)
    shop.source.git("rm", "--quiet", *part)
    fewer = shop.change({"src/Other.cs": "namespace Shop.Others;\npublic class Other { }\n"})
    assert fewer.work("descriptions", "described") == 2
    shop.assert_equals_clean(fewer)


def test_deleted_moved_and_restored_files(shop: Shop) -> None:
    shop.source.git("rm", "--quiet", "src/Item001.cs", "src/ItemStore.cs")
    shop.source.git("mv", "src/Item002.cs", "src/Moved.cs")
    gone = shop.change({})
    assert gone.work("qdrant_points", "deleted") > 0
    shop.assert_equals_clean(gone)
    shop.source.git("revert", "--no-edit", "HEAD")
    back = shop.index()
    assert back.work("segments", "parsed") == 0 and back.work("embeddings", "embedded") == 0
    shop.assert_equals_clean(back)


def test_another_branch_shares_everything_but_its_points(shop: Shop) -> None:
    shop.source.git("branch", "dev")
    dev = replace(shop, repository=shop.repository.model_copy(update={"ref": "dev"}))
    made = dev.index()
    assert made.work("discovered_files", "read") == made.work("descriptions", "described") == 0
    assert made.work("summary_sections", "built") == made.work("bm25_artifacts", "counted") == 0
    assert made.work("qdrant_points", "upserted") == made.reports["qdrant_points"].counts["points"]
    dev.assert_equals_clean(made)


def test_a_setting_makes_again_what_it_touches_and_no_more(shop: Shop) -> None:
    domain = DomainSettings(key="items", title="Items", namespaces=("Shop.Models",))
    made = replace(shop, repository=shop.repository.model_copy(update={"domains": (domain,)})).index()
    assert made.work("segments", "parsed") == 0
    assert made.work("descriptions", "described") == len(FIRST)


def test_what_is_excluded_goes_and_nothing_is_made_again(shop: Shop) -> None:
    excluded = replace(shop, repository=shop.repository.model_copy(update={"exclude": ("docs/**",)})).index()
    assert excluded.work("discovered_files", "read") == excluded.work("segments", "parsed") == 0
    assert excluded.work("qdrant_points", "deleted") > 0


def test_forced_builds_take_nothing_from_earlier_ones(shop: Shop) -> None:
    before = shop.index()
    made = shop.index(force=True)
    assert made.work("discovered_files", "read") == made.work("descriptions", "described") == len(FIRST)
    assert made.work("qdrant_points", "upserted") == made.reports["qdrant_points"].counts["points"]
    assert made.outputs == before.outputs


def test_lost_or_damaged_leftovers_of_earlier_builds_cost_time_only(shop: Shop) -> None:
    home = IndexHome(shop.settings.home)
    for path in home.parts.rglob("*"):
        if path.name == "descriptions" and path.is_file():
            path.write_bytes(b"damaged")
    shutil.rmtree(home.parts / "segments")
    (active,) = [path for path in generations_directory(home, "shop@main").iterdir() if path.is_dir()]
    (active / "shard" / "rag_assets.json").unlink()
    (home.cache / "described_files.sqlite").write_bytes(b"damaged")
    made = shop.change({"src/New.cs": ENTITY.format(900, "Base")})
    assert made.work("descriptions", "described") == len(FIRST) + 1
    assert made.work("qdrant_points", "upserted") == made.reports["qdrant_points"].counts["points"]
    shop.assert_equals_clean(made)


@pytest.mark.parametrize("stage", ["graph_symbols", "qdrant_points"])
def test_a_part_of_which_the_cache_says_nonsense_is_made_again(shop: Shop, stage: str) -> None:
    first = shop.index()
    abouts = list((first.build.home.parts / stage).rglob("part.json"))
    for about in abouts:
        content = json.loads(about.read_bytes())
        about.write_text(json.dumps(content | {"result": {"of": "another program"}}), encoding="utf-8")
    assert abouts
    again = shop.change({"src/Base.cs": "namespace Shop.Models;\npublic abstract class Base { int added; }\n"})
    shop.assert_equals_clean(again)
