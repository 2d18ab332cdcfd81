"""Building again: nothing to do, the same bytes, after a kill, and beside another build."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from rag_assets.index.generations import active_pointer, promote
from rag_assets.index.layout import IndexHome
from rag_assets.pipeline.active_index import activate
from rag_assets.pipeline.build import BuildError, LabelBusy, candidate_build, label_lock
from rag_assets.pipeline.checks.generation_checks import CHECKS
from rag_assets.pipeline.versions import STAGES
from rag_assets_tests.git_repository import Repository
from rag_assets_tests.pipeline.conftest import Built, built, lexical
from rag_assets_tests.pipeline.killed_build import in_a_process
from rag_assets_tests.records import edit_record

BuildOf = Callable[[Mapping[str, str | bytes]], Built]
ORDER = "namespace Shop;\n/// <summary>An order.</summary>\npublic class Order\n{\n    public int Id { get; set; }\n}\n"
FILES = {
    "src/Order.cs": ORDER,
    "docs/guide.md": "# Guide\n\nHow to order.\n",
    "db/order.sql": "CREATE TABLE dbo.Orders (Id int);\n",
}
KILLED_IN = (
    "discover_files",
    "segment_files",
    "refine_and_describe",
    "build_sections",
    "embed_sections",
    "build_keyword_weights",
    "build_points",
)

DRIVER = """
import sys
from pathlib import Path
from rag_assets_tests.pipeline.killed_build import build
build(Path(sys.argv[1]), Path(sys.argv[2]), "")
"""


def driver(home: Path, source: Path, seed: str = "0") -> int:
    environment = os.environ | {"PYTHONHASHSEED": seed}
    return subprocess.run([sys.executable, "-c", DRIVER, str(home), str(source)], env=environment).returncode


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory, shop_source: Repository) -> Path:
    """The generation of an undisturbed build in a process of its own."""
    home = tmp_path_factory.mktemp("clean")
    assert driver(home, shop_source.path) == 0
    return generation(home)


def generation(home: Path) -> Path:
    return next((home / "labels/shop@main/generations").iterdir())


def tables(directory: Path) -> dict[str, str]:
    """Digest of every table and manifest-like file; stage records say what was done, and those of checks which files
    of the engine they saw, so they may differ."""
    found = {}
    for path in sorted(directory.rglob("*")):
        name = path.relative_to(directory).as_posix()
        if path.is_file() and not name.startswith(("shard/", "stages/", "checks/", "files.json", "manifest.json")):
            found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def test_the_same_commit_again_has_nothing_to_do(build_of: BuildOf) -> None:
    first = build_of(FILES)
    before = tables(first.build.directory)
    again = first.again()
    assert again.build.spec == first.build.spec
    assert [stage for stage in STAGES if not again.reports[stage].unchanged] == []
    assert again.reports["segments"].work == {"parsed": 0, "from_cache": 0}
    assert again.reports["embeddings"].work == {"embedded": 0, "from_cache": 0, "milliseconds": 0}
    assert tables(again.build.directory) == before


def test_force_builds_a_new_generation_from_the_cache(build_of: BuildOf) -> None:
    first = build_of(FILES)
    before = tables(first.build.directory)
    forced = first.again(force=True)
    assert forced.reports["segments"].work == {"parsed": 0, "from_cache": 3}
    assert forced.build.spec.generation_id == f"{first.build.spec.generation_id}~2"
    assert tables(first.build.directory) == before, "the generation that was served meanwhile is untouched"
    after = tables(forced.build.directory)
    assert {name: after[name] for name in after if name != "build.json"} == {
        name: before[name] for name in before if name != "build.json"
    }
    assert first.again().build.spec.generation_id == forced.build.spec.generation_id, "it is the one to stay with"
    assert first.again().reports["active_index"].unchanged


@pytest.mark.rule("R20")
def test_two_processes_with_different_hash_seeds_write_the_same_bytes(
    tmp_path: Path, shop_source: Repository, clean: Path
) -> None:
    assert driver(tmp_path, shop_source.path, seed="4711") == 0
    assert generation(tmp_path).name == clean.name
    assert len(tables(clean)) >= 9
    assert tables(generation(tmp_path)) == tables(clean)


@pytest.mark.skipif(sys.platform == "win32", reason="kill -9")
@pytest.mark.parametrize("stage", KILLED_IN)
def test_after_a_kill_a_second_run_converges(tmp_path: Path, shop_source: Repository, clean: Path, stage: str) -> None:
    home = tmp_path / "home"
    assert in_a_process(home, shop_source.path, die_in=stage) == -9
    assert active_pointer(IndexHome(home), "shop@main") is None, "nothing half-made is served"
    for table in [path for path in generation(home).iterdir() if path.is_dir()]:
        (table / "part-000.parquet.0123abcd.tmp").write_bytes(b"half a par")
        if table.name in ("keyword", "graph", "stages"):
            (table / "past_terms.tsv.0123abcd.tmp").write_bytes(b"half a fi")
    built(shop_source, lexical(home))
    assert tables(generation(home)) == tables(clean)
    assert list(generation(home).rglob("*.tmp")) == []


@pytest.mark.skipif(sys.platform == "win32", reason="kill -9")
@pytest.mark.parametrize("delay", [0.6, 1.4])
def test_a_kill_at_any_moment_heals(tmp_path: Path, shop_source: Repository, clean: Path, delay: float) -> None:
    process = subprocess.Popen([sys.executable, "-c", DRIVER, str(tmp_path), str(shop_source.path)])
    time.sleep(delay)
    process.kill()
    process.wait()
    built(shop_source, lexical(tmp_path))
    assert tables(generation(tmp_path)) == tables(clean)
    build = candidate_build(IndexHome(tmp_path), lexical(tmp_path), "shop@main")
    assert all(check(build).passed for _, _, check in CHECKS.values())


def test_a_second_build_of_a_label_says_who_has_it(build_of: BuildOf) -> None:
    first = build_of(FILES)
    holder = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from rag_assets.pipeline.build import label_lock\n"
        "from rag_assets.index.layout import IndexHome as Home\n"
        "with label_lock(Home(Path(sys.argv[1])), 'shop@main'):\n"
        "    print('held', flush=True)\n"
        "    time.sleep(60)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", holder, str(first.build.home.root)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None and process.stdout.readline() == "held\n"
        with pytest.raises(LabelBusy, match=f"process {process.pid}"):
            first.again()
    finally:
        process.kill()
        process.wait()
    assert first.again().reports["active_index"].unchanged, "the lock died with its holder, nothing was lost"


def test_the_lock_passes_its_own_holder(build_of: BuildOf) -> None:
    first = build_of(FILES)
    with label_lock(first.build.home, first.label):
        first.again()


def test_a_run_does_not_work_on_another_runs_candidate(build_of: BuildOf) -> None:
    first = build_of(FILES)
    with pytest.raises(BuildError, match="taken this label over"):
        candidate_build(first.build.home, first.settings, first.label, of_run="another-run")


def test_a_failed_check_leaves_the_old_generation_serving(build_of: BuildOf) -> None:
    """A blocking check stands before the pointer, whoever calls."""
    first = build_of(FILES)
    first.source.commit({"src/Order.cs": ORDER.replace("Id", "Number")})
    second = first.again()
    (second.build.directory / "manifest.json").unlink()
    edit_record(second.build.record_path("qdrant_points"), '"blocked": 0', '"blocked": 1')
    promote(first.build.home, first.label, first.build.spec.generation_id, "rollback")
    with pytest.raises(BuildError, match="payloads_are_valid"):
        activate(second.build)
    pointer = active_pointer(first.build.home, first.label)
    assert pointer is not None and pointer.generation_id == first.build.spec.generation_id


def test_an_empty_commit_gives_an_empty_index(build_of: BuildOf) -> None:
    made = build_of({})
    assert made.reports["qdrant_points"].counts["points"] == 0
    assert made.reports["active_index"].counts["points"] == 0
