"""What a search costs at several index sizes: cold process, opening, each side, hybrid, conditions, memory.

    python benchmarks/query.py                                      1,000 and 10,000 points
    python benchmarks/query.py --points 1000,10000,100000,300000    minutes: the graph of many points takes most of it

Points are synthetic: words drawn as in real text (Zipf), clustered random unit vectors, ten sections a file. The
question is embedded by the real model (`--embedder`: static-code, minilm, or lexical-only for none). "Another question
each time" meets words and files that no search before it has met. Each size is built by one process of its own and
read by another. The last column is what the largest size costs of the smallest: beside the growth of the points, which
is in its head.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from memory import peak_mb
from report import EMBEDDERS, with_bytecode

LABEL = "benchmark@main"
GENERATION = "2026-01-01_main_00000000_000000"
MEMORY = "memory of searching (RSS, peak), MB"
VOCABULARY = 50_000
WORDS_PER_SECTION = 100
SECTIONS_PER_FILE = 10
CLUSTERS = 200
BUCKET = 2_000  # sections counted, weighed and written at a time
REPEATS = 60
COLD_STARTS = 5
SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprtv" for vowel in "aeiou"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", default="1000,10000", help="comma-separated sizes")
    parser.add_argument("--embedder", default="static-code", choices=EMBEDDERS)
    parser.add_argument("--child", nargs=2, metavar=("STEP", "HOME"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    sizes = sorted(int(size) for size in arguments.points.split(","))
    if arguments.child:
        step, home = arguments.child[0], Path(arguments.child[1])
        print(json.dumps(build(home, sizes[0], arguments.embedder) if step == "build" else measure(home)))
        return
    with_bytecode()
    columns = []
    for size in sizes:
        with tempfile.TemporaryDirectory(prefix="rag-assets-query-", ignore_cleanup_errors=True) as folder:
            home = Path(folder)
            built, read = (child(home, step, size, arguments.embedder) for step in ("build", "measure"))
            columns.append({"points": f"{size:,}"} | built | cold(home) | read)
    show(columns)


def show(columns: list[dict[str, str]]) -> None:
    """A table with a column for each size, and the growth where there are several."""
    if len(columns) > 1:
        columns = [*columns, grown(columns[0], columns[-1])]
    names = list(dict.fromkeys(name for column in columns for name in column))
    print("| measure | " + " | ".join(column["points"] for column in columns) + " |")
    print("| --- |" + " --- |" * len(columns))
    for name in names[1:]:
        print(f"| {name} | " + " | ".join(column.get(name, "-") for column in columns) + " |")


def grown(smallest: dict[str, str], largest: dict[str, str]) -> dict[str, str]:
    """Factors between two sizes, of the first number of each cell (the p50 of two)."""
    pairs = {name: (first(smallest[name]), first(largest[name])) for name in smallest.keys() & largest.keys()}
    return {name: f"× {after / before:,.1f}" for name, (before, after) in pairs.items() if before}


def first(cell: str) -> float:
    return float(cell.partition(" ")[0].replace(",", ""))


def build(home: Path, size: int, provider: Any) -> dict[str, str]:
    """Writes a generation of `size` points as the stages do."""
    from rag_assets.index.blobs import BlobStore
    from rag_assets.index.generations import Manifest, generation_directory, promote, write_manifest
    from rag_assets.index.keyword.bm25f import (
        assigned_indices,
        count_terms,
        hashes_of,
        merge_statistics,
        statistics_of,
        weights,
    )
    from rag_assets.index.keyword.vocabulary import write_vocabulary
    from rag_assets.index.layout import IndexHome
    from rag_assets.index.vectors import open_writer
    from rag_assets.index.vectors.vector_api import StoredPoint
    from rag_assets.models import known_dimension, model_id, require_model, told_dimension
    from rag_assets.settings import EmbedderSettings, StoreSettings

    store, embedder = IndexHome(home), EmbedderSettings(provider=provider)
    require_model(embedder, store.cache)
    model = model_id(embedder)
    dimension = told_dimension(model, known_dimension(embedder) or 0)
    directory = generation_directory(store, LABEL, GENERATION)
    counts = []
    outlines: list[list[dict[str, Any]]] = []
    blobs = BlobStore(store.blobs)
    keyword_seconds = 0.0
    for sections in buckets(size):
        outlines.append(outlined(sections, blobs))
        started = time.process_time()
        counts.append(count_terms(sections))
        keyword_seconds += time.process_time() - started
    started = time.process_time()
    statistics_ = merge_statistics(statistics_of(part) for part in counts)
    indices = assigned_indices(hashes_of(statistics_.document_frequencies))[0]
    write_vocabulary(directory / "keyword", statistics_, indices)
    keyword_seconds += time.process_time() - started
    writer = open_writer(
        StoreSettings(),
        directory / "shard",
        dimension,
        embedding_model=model,
        org_id="local",
        project_id="benchmark",
        index_label=LABEL,
        generation_id=GENERATION,
    )
    upserting = 0.0
    for number, part in enumerate(counts):
        sparse = weights(part, statistics_.average_lengths(), indices)
        dense = vectors(number, len(part), dimension)
        made = [
            StoredPoint(
                str(uuid.UUID(int=number * BUCKET + row)), dense[row], sparse[row], payload(number, row) | where
            )
            for row, where in enumerate(outlines[number])
        ]
        started = time.process_time()
        writer.upsert(made)
        upserting += time.process_time() - started
    started = time.process_time()
    writer.finish()
    finishing = time.process_time() - started
    manifest = Manifest(
        generation_id=GENERATION,
        index_label=LABEL,
        repository_id="benchmark",
        org_id="local",
        project_id="benchmark",
        remote_url="",
        ref="main",
        commit_sha="0" * 40,
        commit_date="2026-01-01T00:00:00Z",
        is_git=True,
        config_hash="0" * 6,
        embedding_model=model,
        dimension=dimension,
        lexical_only=not dimension,
        stage_versions={},
        counts={"points": size},
        capabilities=("dense", "keyword") if dimension else ("keyword",),
    )
    write_manifest(directory, manifest)
    promote(store, LABEL, GENERATION, "")
    used = sum(allocated(file) for file in (directory / "shard").rglob("*") if file.is_file())
    return {
        "keyword counting and vocabulary, CPU s": f"{keyword_seconds:.1f}",
        "upsert, points per CPU s": f"{size / upserting:,.0f}",
        "finish (graph from 20,000 points), CPU s": f"{finishing:.1f}",
        "shard, MB": f"{used / 1e6:.0f}",
        "memory of building it, MB": f"{peak_mb():.0f}",
    }


def allocated(file: Path) -> int:
    """Bytes on disk: the engine's files have holes."""
    found = file.stat()
    return getattr(found, "st_blocks", -(-found.st_size // 512)) * 512


def buckets(size: int) -> Iterator[list[dict[str, str]]]:
    import numpy as np

    dice = np.random.default_rng(0)
    for first in range(0, size, BUCKET):
        count = min(BUCKET, size - first)
        words = dice.zipf(1.2, size=(count, WORDS_PER_SECTION)) % VOCABULARY
        names = dice.integers(0, VOCABULARY, size=(count, 2))
        yield [
            {
                "names": word(names[row, 0]).title() + word(names[row, 1]).title(),
                "path": path((first + row) // SECTIONS_PER_FILE),
                "body": " ".join(word(number) for number in words[row]),
            }
            for row in range(count)
        ]


def word(number: int) -> str:
    """`babeda` …: letters only, so that one number is one term."""
    first, rest = divmod(int(number), len(SYLLABLES) ** 2)
    return SYLLABLES[first] + SYLLABLES[rest // len(SYLLABLES)] + SYLLABLES[rest % len(SYLLABLES)]


def question(number: int) -> str:
    """A common word, two rarer ones and an identifier; no two numbers ask the same."""
    rarer = f"{word(230 + 7 * number)} {word(4711 + 97 * number)}"
    return f"{word(3 + number % 20)} {rarer} {word(17 + number).title()}{word(1024 + 13 * number).title()}"


QUESTION = question(0)
COMMAND = ("-m", "rag_assets", "search", QUESTION, "--label", LABEL)


def vectors(bucket: int, count: int, dimension: int) -> Any:
    import numpy as np

    centres = np.random.default_rng(1).standard_normal((CLUSTERS, dimension))
    dice = np.random.default_rng(2 + bucket)
    rows = centres[dice.integers(0, CLUSTERS, count)] + dice.standard_normal((count, dimension))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def path(file: int) -> str:
    return f"src/Area{file % 23}/Part{file % 7}/File{file}.cs"


def point_id(bucket: int, row: int) -> str:
    return str(uuid.UUID(int=bucket * BUCKET + row))


def outlined(sections: list[dict[str, str]], blobs: Any) -> list[dict[str, Any]]:
    """Where the text of each section is, of a document that has those of a file, and its members: every four lines."""
    made = []
    for first in range(0, len(sections), SECTIONS_PER_FILE):
        texts = [lines_of(section["body"]) for section in sections[first : first + SECTIONS_PER_FILE]]
        address = blobs.put("".join(texts))
        start, line = 0, 1
        for text in texts:
            lines = text.splitlines()
            members = [
                f"{line + at}-{line + at + 3} {name.title()}\tpublic Task {name.title()}({kind.title()} argument)"
                for at in range(0, len(lines), 4)
                for name, *_, kind in [lines[at].removesuffix(";").split()]
            ]
            made.append(
                {
                    "BlobVersionId": address,
                    "CharStart": start,
                    "CharEnd": start + len(text),
                    "StartLine": line,
                    "EndLine": line + len(lines) - 1,
                    "Members": members,
                }
            )
            start, line = start + len(text), line + len(lines)
    return made


def lines_of(body: str) -> str:
    words = body.split()
    return "".join(f"    {' '.join(words[at : at + 5])};\n" for at in range(0, len(words), 5))


def payload(bucket: int, row: int) -> dict[str, Any]:
    number = bucket * BUCKET + row
    return {
        "OrgId": "local",
        "ProjectId": "benchmark",
        "IndexLabel": LABEL,
        "DocId": path(number // SECTIONS_PER_FILE),
        "SemanticId": f"local:benchmark:{number}",
        "Path": path(number // SECTIONS_PER_FILE),
        "Symbol": f"Benchmark.Type{number // 4}",
        "Kind": ("Service", "Model", "Test", "Other")[number % 4],
        "CodeLanguage": "csharp",
        "SourceType": "code",
        "ContentTypeId": 2,
        "FinderSnippet": "Purpose: " + "words of a finder snippet " * 25,
        "ContentHash": f"{number:064x}",
        "Confidentiality": "internal",
    }


def cold(home: Path) -> dict[str, str]:
    """Wall time of whole processes that do one search; the middle of several."""
    code = f"import rag_assets; rag_assets.open_index({LABEL!r}).search({QUESTION!r}, mode=%r)"
    runs: dict[str, Callable[[], str]] = {
        "import rag_assets.search": lambda: run(home, "-c", "import rag_assets.search"),
        "cold bm25 search from Python": lambda: run(home, "-c", code % "bm25"),
        "cold hybrid search from Python": lambda: run(home, "-c", code % "hybrid"),
        "cold `rag-assets search`": lambda: run(home, *COMMAND),
        "  with a `search` setting": lambda: run(home, *COMMAND, RAG_ASSETS__SEARCH__LIMIT="10"),
    }
    return {f"{name}, s": f"{middle(action):.2f}" for name, action in runs.items()}


def cold_command(home: Path) -> float:
    return middle(lambda: run(home, *COMMAND))


def middle(action: Callable[[], object]) -> float:
    found = []
    for _ in range(COLD_STARTS):
        started = time.perf_counter()
        action()
        found.append(time.perf_counter() - started)
    return statistics.median(found)


def run(home: Path, *arguments: str, **settings: str) -> str:
    environment = os.environ | {"RAG_ASSETS__HOME": str(home)} | settings
    done = subprocess.run([sys.executable, *arguments], check=True, capture_output=True, text=True, env=environment)
    return done.stdout


def child(home: Path, step: str, size: int, provider: str) -> dict[str, str]:
    """What one step found in a process of its own: memory is that of the step."""
    said = run(home, __file__, "--points", str(size), "--embedder", provider, "--child", step, str(home))
    found: dict[str, str] = json.loads(said.splitlines()[-1])
    return found


def measure(home: Path) -> dict[str, str]:
    """Warm searches in this process, as a caller sees them, and where their time goes."""
    from rag_assets import SearchFilters, open_index

    started = time.perf_counter()
    index = open_index(LABEL, home=home)
    first = index.search(QUESTION, mode="bm25")
    made = {
        "open and first bm25 search, ms": f"{(time.perf_counter() - started) * 1000:.0f}",
        "open the shard, ms": f"{first.timings['open'] * 1000:.0f}",
    }
    searches: dict[str, dict[str, Any]] = {
        "bm25": {"mode": "bm25"},
        "semantic": {"mode": "semantic"},
        "hybrid": {},
        "hybrid, one kind": {"filters": SearchFilters(kinds=("Model",))},
        "hybrid, a folder": {"filters": SearchFilters(paths=("src/Area3/",))},
        "hybrid, a glob": {"filters": SearchFilters(paths=("src/**/File*1.cs",))},
    }
    if index.manifest.lexical_only:
        searches = {name: found for name, found in searches.items() if name == "bm25"}
    for name, conditions in searches.items():
        results = [index.search(QUESTION, **conditions) for _ in range(REPEATS + 1)][1:]
        made[f"{name}, p50 / p95 ms"] = spread([result.timings["total"] for result in results])
        if name in ("bm25", "hybrid"):
            others = [index.search(question(number), **conditions) for number in range(1, REPEATS + 1)]
            said = f"{name}, another question each time, p50 / p95 ms"
            made[said] = spread([result.timings["total"] for result in others])
        if name == "hybrid":
            for step in ("embed", "dense", "bm25", "rank", "fetch", "members"):
                made[f"  of it {step}"] = spread([result.timings[step] for result in results])
    made[MEMORY] = f"{peak_mb():.0f}"
    return made


def spread(seconds: list[float]) -> str:
    return f"{statistics.median(seconds) * 1000:.1f} / {statistics.quantiles(seconds, n=20)[-1] * 1000:.1f}"


if __name__ == "__main__":
    main()
