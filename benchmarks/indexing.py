"""What indexing a repository costs, stage by stage, beside the floor that no pipeline can go below.

    python benchmarks/indexing.py https://github.com/JamesNK/Newtonsoft.Json
    python benchmarks/indexing.py PATH --embedder lexical-only

The graph is measured and left out of the ratio: binding names to declarations has nothing in the floor to be compared
with, and benchmarks/graph_extraction.py has a floor of its own for it.

Floor: reading the files of the commit, the bare tree-sitter parse of its C# files, and splitting all its texts into
keyword terms; one core, in the same run. Two builds, each in a process of its own with a home of its own and a hash
seed of its own: the first with as many workers as the settings give, the second in one process, whose CPU time is the
work itself. Both must give the same bytes. Elapsed times mean something on an idle machine only, and shared machines
change their speed: the floor is measured three times, around the builds.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

from memory import Together
from report import EMBEDDERS, child, table, with_bytecode

GRAPH = "code_graph"
NOT_IN_THE_FLOOR = frozenset({"embeddings", GRAPH})

QUERIES = (
    "how are dates without a time zone read",
    "convert a dictionary whose keys are enums",
    "JsonSerializer error handling",
    "where is the maximum depth checked",
    "custom converter for a property",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repository", help="git URL or path")
    parser.add_argument("--ref", default=None)
    parser.add_argument("--embedder", choices=EMBEDDERS, default="static-code")
    parser.add_argument("--workers", type=int, default=0, help="of the first build; 0: what the settings give")
    parser.add_argument("--child", default="", help=argparse.SUPPRESS)
    parser.add_argument("--home", default="", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        found = {"floor": floor, "build": build, "dagster": dagster_run, "search": search}[arguments.child](arguments)
        print(json.dumps(found))
        return
    with_bytecode()
    with tempfile.TemporaryDirectory(prefix="rag-assets-benchmark-") as folder:
        report(arguments, Path(folder))


def report(arguments: argparse.Namespace, folder: Path) -> None:
    home = folder / "home"
    floors = [part(arguments, "floor", home)]
    first = part(arguments, "build", home)
    floors.append(part(arguments, "floor", home))
    alone = part(arguments, "build", folder / "other", "--workers", "1", seed="4711")
    floors.append(part(arguments, "floor", home))
    base = {name: statistics.median(found[name] for found in floors) for name in floors[0]}
    files, csharp = int(base["files"]), int(base["csharp_files"])
    print(
        f"\n{arguments.repository} @ {first['commit'][:8]}: {files:,} files, {csharp:,} of them C#, "
        f"{base['text_mb']:.1f} MB of text, {first['points']:,} points"
    )
    table(
        ("floor", "s, median", "before, between and after the builds"),
        [
            (name, f"{base[name]:.2f}", ", ".join(f"{found[name]:.2f}" for found in floors))
            for name in ("read", "parse", "tokenise")
        ],
    )
    rows = [
        (stage, f"{wall:.2f}", f"{alone['stages'][stage][1]:.2f}", f"{alone['stages'][stage][0]:.2f}")
        for stage, (_, wall) in first["stages"].items()
    ]
    table(("stage", f"elapsed s, {first['workers']} workers", "elapsed s, one process", "CPU s, one process"), rows)
    limit = base["parse"] + base["tokenise"]
    elapsed = sum(wall for stage, (_, wall) in first["stages"].items() if stage not in NOT_IN_THE_FLOOR)
    work = sum(cpu for stage, (cpu, _) in alone["stages"].items() if stage not in NOT_IN_THE_FLOOR)
    different = [name for name, digest in first["digests"].items() if alone["digests"].get(name) != digest]
    again = part(arguments, "dagster", home)
    found = part(arguments, "search", home)
    results = [
        ("everything except embedding and graph / (parse + tokenise), elapsed", f"{elapsed / limit:.2f}", "<= 4"),
        ("  the same in CPU time of one process", f"{work / limit:.2f}", ""),
        ("  with the graph, elapsed", f"{(elapsed + first['stages'][GRAPH][1]) / limit:.2f}", ""),
        ("peak memory of the build with its workers, MB", f"{first['peak_mb']:.0f}", "<= 1500"),
        ("same commit again through Dagster, s", f"{again['wall']:.2f}", "<= 6"),
        ("  of it in the stages (the rest is Dagster), s", f"{again['stages_wall']:.2f}", ""),
        ("  files parsed / texts embedded", f"{again['parsed']} / {again['embedded']}", "0 / 0"),
        ("same commit again, `rag-assets index`, s", f"{up_to_date(arguments, home):.2f}", "<= 6"),
        ("search, cold process, s (median of 5)", f"{cold_search(home, first['label']):.2f}", "<= 1.2"),
        ("search, warm, p50 ms", f"{found['p50']:.1f}", "<= 20"),
        ("search, warm, p95 ms", f"{found['p95']:.1f}", ""),
    ]
    results.append(("two builds, two hash seeds: tables byte-identical", "NO" if different else "yes", "yes"))
    if different:
        print("different:", ", ".join(different[:10]))
    table(("measure", "found", "target"), results)


def part(arguments: argparse.Namespace, name: str, home: Path, *options: str, seed: str = "0") -> dict[str, Any]:
    """Runs one part in a process of its own."""
    same = ["--ref", arguments.ref] if arguments.ref else []
    same += ["--embedder", arguments.embedder, "--workers", str(arguments.workers)]
    return child(__file__, arguments.repository, "--child", name, "--home", home, *same, *options, seed=seed)


def _repository(arguments: argparse.Namespace) -> Any:
    from rag_assets.settings import RepositorySettings

    return RepositorySettings(id="benchmark", location=arguments.repository, ref=arguments.ref)


def _settings(arguments: argparse.Namespace) -> Any:
    from rag_assets.settings import EmbedderSettings, Settings

    embedder = EmbedderSettings(provider=arguments.embedder)
    return Settings(home=Path(arguments.home), embedder=embedder, workers=arguments.workers)


def floor(arguments: argparse.Namespace) -> dict[str, Any]:
    """The work nobody can avoid, on the files that discovery accepts."""
    import tree_sitter_c_sharp
    from tree_sitter import Language, Parser

    from rag_assets.index.keyword.terms import runs, word_terms
    from rag_assets.index.layout import IndexHome
    from rag_assets.languages.detection import detect_language
    from rag_assets.sources.discovery import DiscoveredText, discover
    from rag_assets.sources.ignore import IgnorePolicy
    from rag_assets.sources.open import open_snapshot

    mirrors = IndexHome(Path(arguments.home)).mirrors
    with open_snapshot(arguments.repository, ref=arguments.ref, commit=None, mirrors=mirrors) as snapshot:
        started = time.process_time()
        entries = list(snapshot.entries())
        for _ in snapshot.read(entries):
            pass
        read = time.process_time() - started
        found = discover(snapshot, IgnorePolicy(), language_of=detect_language)
        texts = [(file.file.language, file.text) for file in found if isinstance(file, DiscoveredText)]
    parser = Parser(Language(tree_sitter_c_sharp.language()))
    sources = [text.encode() for language, text in texts if language == "csharp"]
    started = time.process_time()
    for source in sources:
        parser.parse(source)
    parse = time.process_time() - started
    started = time.process_time()
    for _, text in texts:
        for run in runs(text):
            word_terms(run)
    tokenise = time.process_time() - started
    return {
        "read": read,
        "parse": parse,
        "tokenise": tokenise,
        "text_mb": sum(len(text.encode()) for _, text in texts) / 1e6,
        "files": len(texts),
        "csharp_files": len(sources),
    }


class Timer:
    """A `Progress` that keeps CPU and wall seconds of each stage."""

    def __init__(self) -> None:
        self.stages: dict[str, tuple[float, float]] = {}

    def begin(self, stage: str, total: int, unit: str) -> None:
        self._stage = stage

    def advance(self, amount: int, current: str = "") -> None: ...

    def end(self, summary: str = "") -> None: ...


def build(arguments: argparse.Namespace) -> dict[str, Any]:
    """One full build without an orchestrator."""
    from rag_assets.index.labels import label_of
    from rag_assets.index.parquet_parts import digest_files
    from rag_assets.pipeline import run_stages as stages
    from rag_assets.pipeline.workers.worker_pool import workers_for

    timer = Timer()
    for name, function in list(vars(stages).items()):
        if name in STAGE_FUNCTIONS:
            setattr(stages, name, timed(timer, STAGE_FUNCTIONS[name], function))
    settings, repository = _settings(arguments), _repository(arguments)
    label, ref = label_of(settings, repository)
    with Together() as together:
        made, reports = stages.run_stages(settings, label, repository.model_copy(update={"ref": ref}), progress=timer)
    tables = [path for path in made.directory.rglob("*") if path.suffix in {".parquet", ".json"}]
    tables = [path for path in tables if "shard" not in path.parts and path.parent.name not in {"stages", "checks"}]
    digests = {
        path.relative_to(made.directory).as_posix(): digest_files([path], made.directory)
        for path in tables
        if path.name != "manifest.json"
    }
    return {
        "label": label,
        "commit": made.spec.git.commit_sha,
        "points": next(found.counts["points"] for found in reports if found.stage == "qdrant_points"),
        "stages": timer.stages,
        "workers": workers_for(made),
        "peak_mb": together.peak_mb,
        "digests": digests | {"directory": hashlib.sha256(made.spec.generation_id.encode()).hexdigest()},
    }


STAGE_FUNCTIONS = {
    "discover_files": "discovered_files",
    "segment_files": "segments",
    "refine_and_describe": "descriptions",
    "build_sections": "summary_sections",
    "embed_sections": "embeddings",
    "build_keyword_weights": "bm25_artifacts",
    "build_points": "qdrant_points",
    "build_graph": GRAPH,
    "activate": "active_index",
}


def timed(timer: Timer, stage: str, function: Any) -> Any:
    def call(*positional: Any, **named: Any) -> Any:
        cpu, wall = time.process_time(), time.perf_counter()
        result = function(*positional, **named)
        timer.stages[stage] = (time.process_time() - cpu, time.perf_counter() - wall)
        return result

    return call


def dagster_run(arguments: argparse.Namespace) -> dict[str, Any]:
    """The index job on a finished generation, on a Dagster instance with SQLite storage."""
    from dagster import DagsterInstance

    from rag_assets.defs.pipeline import pipeline_for
    from rag_assets.defs.resources import Workspace
    from rag_assets.index.labels import label_of
    from rag_assets.index.layout import IndexHome
    from rag_assets.pipeline.progress import Silent

    settings = _settings(arguments)
    label, _ = label_of(settings, _repository(arguments))
    home = IndexHome(settings.home)
    home.dagster.mkdir(parents=True, exist_ok=True)
    os.environ["RAG_ASSETS__EMBEDDER__PROVIDER"] = settings.embedder.provider
    with DagsterInstance.local_temp(str(home.dagster), overrides={"telemetry": {"enabled": False}}) as instance:
        instance.add_dynamic_partitions("index_label", [label])
        started = time.perf_counter()
        result = (
            pipeline_for(settings)
            .resolve_job_def("index")
            .execute_in_process(
                instance=instance,
                partition_key=label,
                resources={"workspace": Workspace(home=str(settings.home)), "progress": Silent()},
                run_config={"loggers": {"console": {"config": {"log_level": "ERROR"}}}},
            )
        )
        wall = time.perf_counter() - started
        steps = [event for event in result.all_events if event.event_type_value == "STEP_SUCCESS"]
        stages_wall = sum(event.step_success_data.duration_ms for event in steps) / 1000
    materializations = [event.materialization for event in result.all_events if event.is_step_materialization]
    metadata = {made.asset_key.path[-1]: made.metadata for made in materializations}
    return {
        "wall": wall,
        "stages_wall": stages_wall,
        "parsed": metadata["segments"]["parsed"].value,
        "embedded": metadata["embeddings"]["embedded"].value,
    }


def search(arguments: argparse.Namespace) -> dict[str, Any]:
    from rag_assets import open_index
    from rag_assets.index.labels import label_of

    label, _ = label_of(_settings(arguments), _repository(arguments))
    index = open_index(label, home=arguments.home)
    for query in QUERIES:
        index.search(query, limit=10)
    times = []
    for _ in range(20):
        for query in QUERIES:
            started = time.perf_counter()
            index.search(query, limit=10)
            times.append((time.perf_counter() - started) * 1000)
    return {"p50": statistics.median(times), "p95": statistics.quantiles(times, n=20)[-1]}


def up_to_date(arguments: argparse.Namespace, home: Path) -> float:
    command = [sys.executable, "-m", "rag_assets", "--home", str(home), "index", arguments.repository]
    command += ["--ref", arguments.ref] if arguments.ref else []
    environment = os.environ | {"RAG_ASSETS__EMBEDDER__PROVIDER": arguments.embedder}
    run = partial(subprocess.run, command, check=True, capture_output=True, env=environment)
    run()  # the ad hoc repository gets a label of its own
    started = time.perf_counter()
    run()
    return time.perf_counter() - started


def cold_search(home: Path, label: str) -> float:
    command = [sys.executable, "-m", "rag_assets", "--home", str(home), "search", QUERIES[0], "--label", label]
    times = []
    for _ in range(6):
        started = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        times.append(time.perf_counter() - started)
    return statistics.median(times[1:])


if __name__ == "__main__":
    main()
