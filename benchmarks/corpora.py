"""What becomes of public C# repositories: files, kinds, points, warnings, and what the descriptions cost.

    python benchmarks/corpora.py                       # the repositories of docs/corpora.md, at their heads
    python benchmarks/corpora.py https://github.com/org/repo:generic,lagovista path/to/checkout

A location may name its rule packs after a colon. Everything is indexed without the embedding model, in one process,
into a temporary home, twice with different hash seeds ("same bytes": all tables are equal). The parse time is the bare
tree-sitter parse of the C# files that discovery accepts. Prints the tables of docs/corpora.md; exit code 1 when
something that must hold does not.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import psutil
from report import child, table

CORPORA = (
    "https://github.com/LagoVista/Core:generic,lagovista",
    "https://github.com/LagoVista/ai:generic,lagovista",
    "https://github.com/dotnet-architecture/eShopOnWeb",
    "https://github.com/jellyfin/jellyfin",
    "https://github.com/bitwarden/server",
)
SHOWN_KINDS = 8


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repositories", nargs="*", default=CORPORA, help="URL or path, with :packs where needed")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        print(json.dumps(measured(*arguments.repositories)))
        return
    found = []
    for repository in arguments.repositories:
        print(f"{repository} …", file=sys.stderr)
        first, second = (child(__file__, "--child", repository, seed=seed) for seed in ("0", "4711"))
        found.append(first | {"identical": first["digest"] == second["digest"]})
    raise SystemExit(report(found))


def report(found: list[dict[str, Any]]) -> int:
    """Prints the tables; 1 when a promise is broken."""
    table(
        (
            "repository",
            "commit",
            "files",
            "skipped",
            "C#",
            "C# without a point",
            "points",
            "ids twice",
            "Other",
            "same bytes",
        ),
        [
            (
                row["name"],
                row["commit"][:8],
                row["files"],
                row["skipped"],
                row["csharp"],
                len(row["pointless"]),
                row["points"],
                row["repeated_ids"],
                f"{row['other']:.1%}",
                "yes" if row["identical"] else "NO",
            )
            for row in found
        ],
    )
    table(
        ("repository", "kinds"),
        [(row["name"], ", ".join(f"{kind} {count}" for kind, count in row["kinds"][:SHOWN_KINDS])) for row in found],
    )
    table(
        ("repository", "warnings and errors by rule"),
        [(row["name"], ", ".join(f"{rule} {count}" for rule, count in row["messages"]) or "none") for row in found],
    )
    table(
        ("repository", "parse, s", "descriptions, s", "descriptions / parse"),
        [
            (row["name"], f"{row['parse']:.2f}", f"{row['describe']:.2f}", f"{row['describe'] / row['parse']:.2f}")
            for row in found
        ],
    )
    broken = [row["name"] for row in found if row["pointless"] or row["repeated_ids"] or not row["identical"]]
    for row in found:
        for path in row["pointless"]:
            print(f"{row['name']}: no point and no reason for {path}", file=sys.stderr)
    return 1 if broken else 0


def measured(repository: str) -> dict[str, Any]:
    """Indexes one repository and reads back what was written."""
    from rag_assets.index.blobs import BlobStore
    from rag_assets.index.labels import label_of
    from rag_assets.index.parquet_parts import digest_files, read_all
    from rag_assets.pipeline import run_stages as stages
    from rag_assets.settings import EmbedderSettings, RepositorySettings, Settings

    location, packs = located(repository)
    seconds: dict[str, float] = {}
    describe = stages.refine_and_describe

    def timed(*positional: Any, **named: Any) -> Any:
        started = spent()
        try:
            return describe(*positional, **named)
        finally:
            seconds["describe"] = spent() - started

    stages.refine_and_describe = timed
    with tempfile.TemporaryDirectory(prefix="rag-assets-corpora-") as folder:
        settings = Settings(home=Path(folder), embedder=EmbedderSettings(provider="lexical-only"), workers=1)
        configured = RepositorySettings(id="corpus", location=location, rule_packs=packs)
        label, ref = label_of(settings, configured)
        build, reports = stages.run_stages(settings, label, configured.model_copy(update={"ref": ref}))
        counts = {report.stage: report.counts for report in reports}
        tables = {report.stage: report.tables for report in reports}

        def rows(table: str, *columns: str) -> list[dict[str, Any]]:
            parts = read_all(build.directory, table, build.spec.bucket_count, columns)
            return [row for part in parts for row in part.to_pylist()]

        files = rows("discovered_files", "path", "outcome", "language", "text_sha256")
        csharp = [row for row in files if row["outcome"] == "indexed" and row["language"] == "csharp"]
        points = rows("qdrant_points", "path", "point_id", "semantic_id")
        reached = {row["path"] for row in points}
        blobs = BlobStore(build.home.blobs)
        messages = Counter(
            message.partition(":")[0] for row in rows("descriptions", "messages") for message in row["messages"]
        )
        blocked = {row["rule"]: row["points"] for row in tables["qdrant_points"]["warnings by rule"]}
        kinds = tables["descriptions"]["kinds"]
        written = sorted(path for path in build.directory.rglob("*.parquet"))
        return {
            "digest": digest_files(written, build.directory),
            "name": "/".join(location.removesuffix(".git").replace("+", "/").split("/")[-2:]),
            "commit": build.spec.git.commit_sha,
            "files": counts["discovered_files"]["indexed"],
            "skipped": counts["discovered_files"]["skipped"],
            "csharp": len(csharp),
            "pointless": [row["path"] for row in csharp if row["path"] not in reached],
            "points": len(points),
            "repeated_ids": sum(
                count - 1
                for column in ("point_id", "semantic_id")
                for count in Counter(row[column] for row in points).values()
            ),
            "other": counts["descriptions"]["kind_other"] / counts["segments"]["segments"],
            "kinds": [(row["kind"], row["segments"]) for row in kinds],
            "messages": sorted((Counter(blocked) + messages).items()),
            "parse": parse_seconds([blobs.get(row["text_sha256"]) for row in csharp]),
            "describe": seconds["describe"],
        }


def located(repository: str) -> tuple[str, tuple[str, ...]]:
    """`URL:generic,lagovista` → (URL, packs)."""
    location, colon, packs = repository.rpartition(":")
    if not colon or "/" in packs or "\\" in packs:
        return repository, ("generic",)
    return location, tuple(packs.split(","))


def spent() -> float:
    """CPU seconds of this process and of its workers, which do the work of a stage."""
    own = psutil.Process()
    return sum(sum(process.cpu_times()[:4]) for process in (own, *own.children(recursive=True)))


def parse_seconds(texts: list[str]) -> float:
    import tree_sitter_c_sharp
    from tree_sitter import Language, Parser

    parser = Parser(Language(tree_sitter_c_sharp.language()))
    sources = [text.encode() for text in texts]
    started = time.process_time()
    for source in sources:
        parser.parse(source)
    return time.process_time() - started


if __name__ == "__main__":
    main()
