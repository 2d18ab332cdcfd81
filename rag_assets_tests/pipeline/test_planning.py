"""A plan says what the build that follows does, asks nobody, and changes nothing of the label."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from rag_assets.index.generations import active_generation
from rag_assets.index.layout import IndexHome, index_label
from rag_assets.index.locks import scratch_folder
from rag_assets.index.promotion import GenerationStatus, roll_back
from rag_assets.pipeline.build import IndexBuild, StageReport
from rag_assets.pipeline.build_plan import ANSWER_TOKENS, BuildPlan, plan_build
from rag_assets.pipeline.collect_garbage import collect_garbage
from rag_assets.pipeline.progress import Silent
from rag_assets.pipeline.run_stages import run_stages
from rag_assets.settings import EmbedderSettings, LlmSettings, RepositorySettings, Settings
from rag_assets.sources.git.git_diff import Rename
from rag_assets_tests.generation_history import copy_sparse
from rag_assets_tests.git_repository import Repository
from rag_assets_tests.models.embedding_server import DIMENSION, embedding
from rag_assets_tests.models.endpoint_tools import endpoint_settings
from rag_assets_tests.models.llm.model_server import ModelServer, answering
from rag_assets_tests.pipeline.conftest import lexical
from rag_assets_tests.pipeline.test_collection import held

FILES = 24
FILES_PER_BUCKET = 16  # so that these are two
ITEM = (
    "namespace Shop.Models;\n/// <summary>Item number {0}.</summary>\n"
    "public class Item{0} : Base {{ public int Id {{ get; set; }} }}\n"
)
BASE = "namespace Shop.Models;\npublic abstract class Base { }\n"
LONG = "namespace Shop;\npublic class Long\n{\n" + "".join(f"    public int Part{n};\n" for n in range(40)) + "}\n"
FIRST = {f"src/Item{number:03d}.cs": ITEM.format(number) for number in range(FILES)} | {
    "src/Base.cs": BASE,
    "src/Long.cs": LONG,
    "web/site.min.js": "var a=1;",
}
LATER = 2 * 3600.0


@dataclass(frozen=True)
class Shop:
    """A repository, and a home that has an index of its first commit."""

    source: Repository
    settings: Settings
    repository: RepositorySettings

    @property
    def home(self) -> IndexHome:
        return IndexHome(self.settings.home)

    @property
    def label(self) -> str:
        return index_label(self.repository.id, self.repository.ref or "main")

    def plan(self, **options: Any) -> BuildPlan:
        return plan_build(self.home, self.settings, self.label, self.repository, Silent(), **options)

    def index(self, **options: Any) -> tuple[IndexBuild, dict[str, StageReport]]:
        build, reports = run_stages(self.settings, self.label, self.repository, **options)
        return build, {report.stage: report for report in reports}

    def elsewhere(self, name: str) -> Shop:
        """The same repository with a home as it is now."""
        home = self.settings.home.with_name(name)
        if self.settings.home.exists():
            shutil.copytree(self.settings.home, home, copy_function=copy_sparse)
        return replace(self, settings=self.settings.model_copy(update={"home": home}))

    def configured(self, **repository: Any) -> Shop:
        return replace(self, repository=self.repository.model_copy(update=repository))

    def label_files(self) -> dict[str, bytes]:
        folder = self.home.labels
        return {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in sorted(folder.rglob("*"))
            if path.is_file() and "shard" not in path.parts
        }


def new_source(folder: Path, files: dict[str, str]) -> Repository:
    return Repository.new(folder / "source", files)


def new_shop(folder: Path, files: dict[str, str], settings: Settings) -> Shop:
    source = new_source(folder, files)
    return Shop(
        source,
        settings.model_copy(update={"workers": 1}),
        RepositorySettings(id="shop", location=str(source.path), ref="main"),
    )


@pytest.fixture(scope="module", autouse=True)
def small_buckets() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rag_assets.index.parquet_parts.FILES_PER_BUCKET", FILES_PER_BUCKET)
        yield


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    folder = tmp_path_factory.mktemp("planned")
    shop = new_shop(folder, FIRST, lexical(folder / "home"))
    build, _ = shop.index()
    assert len(build.buckets) == 2
    return shop


@pytest.fixture
def shop(original: Shop, tmp_path: Path) -> Shop:
    shutil.copytree(original.settings.home, tmp_path / "home", copy_function=copy_sparse)
    shutil.copytree(original.source.path, tmp_path / "source")
    source = Repository(tmp_path / "source")
    settings = original.settings.model_copy(update={"home": tmp_path / "home"})
    return Shop(source, settings, original.repository.model_copy(update={"location": str(source.path)}))


def planned_work(plan: BuildPlan) -> dict[str, float]:
    return {
        "read": plan.files.read,
        "parsed": plan.parsed,
        "described": plan.described,
        "built": plan.sections_built,
        "embedded": plan.texts_to_embed,
        "upserted": plan.points.upserted,
        "deleted": plan.points.deleted,
    }


def done_work(reports: dict[str, StageReport]) -> dict[str, float]:
    of_stage = {
        "read": "discovered_files",
        "parsed": "segments",
        "described": "descriptions",
        "built": "summary_sections",
        "embedded": "embeddings",
        "upserted": "qdrant_points",
        "deleted": "qdrant_points",
    }
    return {name: reports[stage].work[name] for name, stage in of_stage.items()}


def assert_build_does_as_planned(shop: Shop) -> BuildPlan:
    """The build without a plan does what a plan says; after the plan it has only to embed and to store."""
    planned = shop.elsewhere("planned")
    before = planned.label_files()
    plan = planned.plan()
    assert planned.label_files() == before
    assert not list(planned.home.scratch.iterdir())
    build, reports = shop.index()
    assert planned_work(plan) == done_work(reports)
    assert plan.generation == build.spec.generation_id
    assert plan.sections == reports["summary_sections"].counts["sections"]
    assert plan.points.total == reports["qdrant_points"].counts["points"]
    assert (plan.files.total, plan.files.skipped) == tuple(
        reports["discovered_files"].counts[name] for name in ("indexed", "skipped")
    )
    _, after = planned.index()
    left = done_work(after)
    assert [left.pop(name) for name in ("read", "parsed", "described", "built")] == [0] * 4, "kept for the build"
    assert left == {name: planned_work(plan)[name] for name in left}
    assert {stage: report.output for stage, report in after.items()} == {
        stage: report.output for stage, report in reports.items()
    }
    return plan


def delete(shop: Shop) -> None:
    shop.source.git("rm", "--quiet", "src/Item001.cs", "src/Item002.cs")
    shop.source.commit({})


def move(shop: Shop) -> None:
    shop.source.git("mv", "src/Long.cs", "src/Longer.cs")
    shop.source.commit({})


def move_and_edit(shop: Shop) -> None:
    shop.source.git("mv", "src/Long.cs", "src/Longer.cs")
    shop.source.commit({"src/Longer.cs": LONG.replace("Part7;", "Part700;")})


CHANGES: dict[str, Callable[[Shop], object]] = {
    "an empty commit": lambda shop: shop.source.commit({}),
    "one file": lambda shop: shop.source.commit({"src/Item007.cs": ITEM.format(7).replace("number", "no.")}),
    "lines that move": lambda shop: shop.source.commit({"src/Item008.cs": "\n\n" + ITEM.format(8)}),
    "what others derive from": lambda shop: shop.source.commit({"src/Base.cs": BASE.replace("{ }", "{ int V; }")}),
    "new files": lambda shop: shop.source.commit({"src/New.cs": ITEM.format(900), "b.min.js": "var b=1;"}),
    "deleted files": delete,
    "a moved file": move,
    "a moved and edited file": move_and_edit,
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_the_build_does_what_the_plan_says(shop: Shop, change: Callable[[Shop], object]) -> None:
    base = active_generation(shop.home, shop.label).manifest
    change(shop)
    plan = assert_build_does_as_planned(shop)
    assert (plan.standing, plan.nothing_to_do) == (GenerationStatus.TO_BUILD, False)
    assert (plan.base_generation, plan.base_commit) == (base.generation_id, base.commit_sha)
    assert plan.new_space is False


def test_the_first_build(tmp_path: Path) -> None:
    shop = new_shop(
        tmp_path, {"src/A.cs": ITEM.format(1), "src/B.cs": BASE, "a.min.js": "x"}, lexical(tmp_path / "home")
    )
    plan = assert_build_does_as_planned(shop)
    assert plan.files.added == ("src/A.cs", "src/B.cs")
    assert plan.files.newly_skipped == {"minified": 1}
    assert plan.base_generation == "" and plan.new_space is False
    assert plan.points.added == plan.points.total == plan.sections > 0


def test_a_plan_of_a_new_label_leaves_no_label(tmp_path: Path) -> None:
    shop = new_shop(tmp_path, {"src/A.cs": BASE}, lexical(tmp_path / "home"))
    shop.plan()
    assert shop.home.known_labels() == []


def test_another_branch_shares_all_but_its_points(shop: Shop) -> None:
    shop.source.git("checkout", "--quiet", "-b", "dev")
    shop.source.commit({"src/Item009.cs": ITEM.format(9).replace("number", "no.")})
    plan = assert_build_does_as_planned(shop.configured(ref="dev"))
    assert plan.parsed == 1
    assert plan.texts_to_embed < plan.points.upserted == plan.points.total


def test_files_that_a_setting_leaves_out(shop: Shop) -> None:
    plan = assert_build_does_as_planned(shop.configured(exclude=("src/Item00*.cs",)))
    assert len(plan.files.deleted) == 10
    assert plan.files.newly_skipped == {"ignored": 10}
    assert plan.points.deleted > 0 == plan.points.changed


def test_the_files_that_changed(shop: Shop) -> None:
    shop.source.git("rm", "--quiet", "src/Item001.cs")
    move_and_edit(shop)
    shop.source.commit({"src/New.cs": BASE.replace("Base", "New"), "src/Item002.cs": BASE.replace("Base", "Item2")})
    files = shop.plan().files
    assert (files.added, files.changed, files.deleted) == (("src/New.cs",), ("src/Item002.cs",), ("src/Item001.cs",))
    (renamed,) = files.renamed
    assert (renamed.old, renamed.new) == ("src/Long.cs", "src/Longer.cs")
    assert 50 <= renamed.similarity < 100


def test_renames_where_the_old_commit_is_gone(shop: Shop) -> None:
    """A force-pushed and collected history: equal contents are all that is left to see a rename by."""
    shop.source.git("mv", "src/Long.cs", "src/Longer.cs")
    tree = shop.source.git("write-tree")
    shop.source.git("reset", "--hard", "--quiet", shop.source.git("commit-tree", tree, "-m", "rewritten"))
    shop.source.git("reflog", "expire", "--expire=now", "--all")
    shop.source.git("gc", "--quiet", "--prune=now")
    assert shop.plan().files.renamed == (Rename("src/Long.cs", "src/Longer.cs", 100),)


def test_a_directory_has_no_history(tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    (folder / "A.cs").write_text(ITEM.format(1), encoding="utf-8")
    repository = RepositorySettings(id="plain", location=str(folder), ref="current")
    shop = Shop(Repository(folder), lexical(tmp_path / "home").model_copy(update={"workers": 1}), repository)
    shop.index()
    (folder / "A.cs").rename(folder / "B.cs")
    assert assert_build_does_as_planned(shop).files.renamed == (Rename("A.cs", "B.cs", 100),)


def test_there_is_nothing_to_do(shop: Shop) -> None:
    assert (shop.plan().standing, shop.plan().nothing_to_do) == (GenerationStatus.UP_TO_DATE, True)
    shop.source.commit({"src/Item007.cs": BASE.replace("Base", "Other")})
    shop.index()
    roll_back(shop.home, shop.label)
    assert (shop.plan().standing, shop.plan().nothing_to_do) == (GenerationStatus.SET_ASIDE, True)


def test_a_commit_that_was_built_before_is_only_served_again(shop: Shop) -> None:
    first = shop.source.git("rev-parse", "HEAD")
    shop.source.commit({"src/New.cs": ITEM.format(900)})
    shop.index()
    plan = shop.plan(commit=first)
    assert plan.standing is GenerationStatus.FINISHED and not plan.nothing_to_do
    assert plan.files.deleted == ("src/New.cs",)
    assert plan.points.deleted > 0
    _, reports = shop.index(commit=first)
    assert planned_work(plan) | {"deleted": 0} == done_work(reports), "nothing is stored or deleted"


def test_a_damaged_generation_is_planned_as_it_is_built_again(shop: Shop) -> None:
    shutil.rmtree(active_generation(shop.home, shop.label).vectors)
    plan = shop.plan()
    assert plan.standing is GenerationStatus.DAMAGED and plan.lost
    build, reports = shop.elsewhere("built").index()
    assert plan.generation == build.spec.generation_id
    assert planned_work(plan) == done_work(reports)


def test_a_plan_needs_no_lock_of_the_label(shop: Shop) -> None:
    shop.source.commit({"src/New.cs": ITEM.format(900)})
    with held(shop.home, shop.label):
        assert shop.plan().files.added == ("src/New.cs",)


# models


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running


SMALL = {"src/A.cs": ITEM.format(1), "src/B.cs": BASE, "docs/guide.md": "# Guide\n\nHow to order an item.\n"}


def test_another_model_is_a_new_space(tmp_path: Path) -> None:
    local = Settings(home=tmp_path / "home", embedder=EmbedderSettings(provider="minilm", precision="int8", threads=1))
    shop = new_shop(tmp_path, SMALL, local)
    shop.index()
    exact = local.model_copy(
        update={"embedder": EmbedderSettings(provider="minilm", precision="fp32", threads=1), "workers": 1}
    )
    shop = replace(shop, settings=exact)
    plan = shop.elsewhere("planned").plan()
    _, reports = shop.index()
    assert plan.new_space is True
    assert planned_work(plan) == done_work(reports)
    assert plan.texts_to_embed == plan.points.upserted == plan.points.total > 0
    assert plan.points.added == plan.points.changed == plan.points.deleted == 0
    assert plan.parsed == plan.described == 0


@pytest.mark.parametrize("dimension", [DIMENSION, None], ids=["dimension configured", "only the server knows"])
def test_a_server_is_not_asked_and_its_price_is_known(
    server: ModelServer, tmp_path: Path, dimension: int | None
) -> None:
    server.respond = embedding
    embedder = endpoint_settings(server, dimension=dimension, price=2.0)
    shop = new_shop(tmp_path, SMALL, Settings(home=tmp_path / "home", embedder=embedder))
    first = shop.plan()
    assert server.asked == []
    assert first.texts_to_embed == first.sections > 0
    assert first.embedding_cost == first.cost == pytest.approx(first.tokens_to_embed * 2.0 / 1_000_000)
    assert first.tokens_to_embed > first.texts_to_embed
    shop.index()
    shop.source.commit({"src/A.cs": ITEM.format(1).replace("number", "no.")})
    server.asked.clear()
    plan = shop.elsewhere("planned").plan()
    assert server.asked == []
    _, reports = shop.index()
    assert planned_work(plan) == done_work(reports)
    assert 0 < plan.texts_to_embed < plan.sections


def test_how_long_embedding_takes_is_known_from_the_last_build(server: ModelServer, tmp_path: Path) -> None:
    server.respond = embedding
    files = {f"src/Item{number}.cs": ITEM.format(number) for number in range(20)}
    embedder = endpoint_settings(server, dimension=DIMENSION)
    shop = new_shop(tmp_path, files, Settings(home=tmp_path / "home", embedder=embedder))
    assert shop.plan().embedding_seconds is None
    _, reports = shop.index()
    work = reports["embeddings"].work
    shop.source.commit({"src/New.cs": ITEM.format(900)})
    plan = shop.plan()
    assert plan.embedding_seconds == pytest.approx(
        plan.texts_to_embed * work["milliseconds"] / work["embedded"] / 1_000
    )
    assert plan.cost is None, "no price is configured"


UNDOCUMENTED = "namespace Shop;\npublic class Invoice{0} {{ public void Cancel(int id) {{ }} }}\n"


def test_a_language_model_is_not_asked(server: ModelServer, tmp_path: Path) -> None:
    server.script(answering({"summary": "Lets a clerk withdraw a bill that was sent in error.", "details": ""}))
    llm = LlmSettings(
        provider="openai-compatible", base_url=server.url, model="small", price_in=1.0, price_out=3.0, max_calls=2
    )
    settings = lexical(tmp_path / "home").model_copy(update={"llm": llm})
    files = {f"src/I{n}.cs": UNDOCUMENTED.format(n) for n in range(3)} | {"src/A.cs": ITEM.format(1)}
    shop = new_shop(tmp_path, files, settings)
    plan = shop.plan()
    assert server.asked == []
    assert plan.llm is not None
    assert (plan.llm.calls, plan.llm.completion_tokens) == (2, 2 * ANSWER_TOKENS)
    assert plan.llm.failures == (("LLM.budget", 1),)
    assert plan.cost == pytest.approx((plan.llm.prompt_tokens + 3.0 * 2 * ANSWER_TOKENS) / 1_000_000)
    _, reports = shop.index()
    assert reports["descriptions"].work["llm_calls"] == len(server.asked) == 2
    shop.source.commit({"src/A.cs": ITEM.format(1).replace("number", "no.")})
    again = shop.plan()
    assert len(server.asked) == 2
    assert again.llm is not None and (again.llm.calls, again.llm.cached) == (1, 2), "what the first build left over"
    assert again.files.changed == ("src/A.cs",)
    assert again.points.upserted >= 2, "the point of the changed file, and of the symbol that gets its summary"
    _, reports = shop.index()
    assert reports["descriptions"].work["llm_calls"] == 1
    assert reports["embeddings"].work["embedded"] <= again.texts_to_embed


# what a plan leaves behind

KILLED = """
import os, sys
from pathlib import Path
from rag_assets.settings import EmbedderSettings, RepositorySettings, Settings
from rag_assets.pipeline.build_plan import plan_build
from rag_assets.pipeline.progress import Silent
from rag_assets.index.layout import IndexHome as Home

class Deadly(Silent):
    def begin(self, stage, total, unit):
        if stage == "descriptions":
            os._exit(9)

home = Path(sys.argv[1])
settings = Settings(home=home, embedder=EmbedderSettings(provider="lexical-only"), workers=1)
repository = RepositorySettings(id="shop", location=sys.argv[2], ref="main")
plan_build(Home(home), settings, "shop@main", repository, Deadly())
"""


def test_what_a_killed_plan_leaves_goes_with_the_next_collection(shop: Shop) -> None:
    shop.source.commit({"src/New.cs": ITEM.format(900)})
    command = [sys.executable, "-c", KILLED, str(shop.home.root), str(shop.source.path)]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], env=os.environ.copy(), check=False)
    assert done.returncode == 9
    (left,) = shop.home.scratch.iterdir()
    before = shop.label_files()
    collect_garbage(shop.home, shop.settings)
    assert left.exists(), "somebody may look at it"
    found = collect_garbage(shop.home, shop.settings, now=time.time() + LATER)
    assert any(left.name in name for swept in found.swept for name in swept.names)
    assert not left.exists()
    assert shop.label_files() == before
    assert_build_does_as_planned(shop)


def test_a_collection_spares_what_a_running_plan_needs(shop: Shop) -> None:
    unneeded = shop.home.blobs / "ab" / ("ab" * 32)
    unneeded.parent.mkdir(exist_ok=True)
    unneeded.write_bytes(b"of no generation")
    with scratch_folder(shop.home) as folder:
        found = collect_garbage(shop.home, shop.settings, now=time.time() + LATER)
        assert folder.exists() and unneeded.exists()
        assert any("a plan is being made" in reason for reason in found.kept)
    assert not folder.exists()
    collect_garbage(shop.home, shop.settings)
    assert not unneeded.exists()
