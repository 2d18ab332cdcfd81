"""How much of the SQL of a repository the graph has: objects, faults, edges by relation, speed; and hand-checked edges.

    python benchmarks/graph_sql.py path/to/repository [--gold benchmarks/gold/sql_edges.csv]

Reads HEAD of a checkout, a bare git directory or a URL. CREATE statements are counted by a plain regular expression
over the text without comments and strings; each must have a node of that name and kind from the same file. The gold
file gives precision and recall of the edges from procedures to tables and views (see benchmarks/gold/README.md). Exit
code 1 when a floor is not reached.
"""

from __future__ import annotations

import argparse
import csv
import re
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from graph_in_memory import file_of, texts_at

from rag_assets.contracts.graph import GraphEdge, GraphNode, NodeType, Relation, key_kind
from rag_assets.contracts.segment import ParseHealth
from rag_assets.graph.extract.embedded_sql import inline_sql_of, may_hold_sql
from rag_assets.graph.extract.sql_objects import objects_of
from rag_assets.languages.detection import detect_language
from rag_assets.languages.parsed_file import ParsedFile
from rag_assets.languages.sql.label_objects import SqlSymbols, declared_in
from rag_assets.segmentation import segment_file

CREATED_FLOOR = 0.99
FAULTS_CEILING = 0.01
GOLD_FLOOR = 0.97
SHOWN = 10

_HIDDEN = re.compile(r"--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'", re.DOTALL)
_CREATE = re.compile(
    r"\bCREATE\s+(?:OR\s+(?:ALTER|REPLACE)\s+)?(?P<kind>TABLE|VIEW|PROCEDURE|PROC|FUNCTION|TRIGGER|TYPE|SEQUENCE|SYNONYM)"
    r"\s+(?:IF\s+NOT\s+EXISTS\s+)?(?P<name>[^\s(;]+)",
    re.IGNORECASE,
)
_KINDS = {"PROCEDURE": "PROC", "FUNCTION": "FUNC"}


@dataclass(frozen=True, slots=True)
class Found:
    """What the extractor gave for one file."""

    path: str
    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repository", metavar="REPO", help="path or URL")
    parser.add_argument("--gold", type=Path, default=None, help="hand-checked edges of this repository")
    arguments = parser.parse_args()
    texts = texts_at(arguments.repository, lambda path: path.lower().endswith((".sql", ".cs")))
    print(f"{arguments.repository} at {texts.commit}")
    failed = report(texts.of, arguments.gold)
    raise SystemExit(1 if failed else 0)


def report(texts: dict[str, str], gold: Path | None) -> bool:
    """Prints what was found; whether a floor was missed."""
    scripts = {path: text for path, text in texts.items() if path.lower().endswith(".sql")}
    files, faults = segmented(scripts)
    started = time.process_time()
    symbols = SqlSymbols([declared_in(files)])
    declared = time.process_time() - started
    started = time.process_time()
    found = [extracted(file, symbols) for file in files]
    seconds = time.process_time() - started
    size = sum(len(text.encode()) for text in scripts.values()) / 1e6
    nodes = Counter(key_kind(node.key).value for one in found for node in one.nodes)
    print(f"\n.sql files {len(scripts):,} ({size:.1f} MB), declarations {declared:.2f} s, ", end="")
    print(f"extraction {seconds:.2f} s = {size / max(seconds, 1e-9):.1f} MB/s")
    print("nodes", dict(sorted(nodes.items())))
    failed = share("files with a scanner fault", len(faults), len(scripts), faults) > FAULTS_CEILING
    created, missing = missing_objects(scripts, found)
    failed |= share("CREATE statements without a node", len(missing), created, missing) > 1 - CREATED_FLOOR
    by_relation("edges of .sql files", [edge for one in found for edge in one.edges])
    if gold is not None:
        failed |= not reaches_gold(gold, found)
    inline([(path, text) for path, text in texts.items() if path.endswith(".cs")], symbols)
    return failed


def segmented(scripts: dict[str, str]) -> tuple[list[ParsedFile], list[str]]:
    """The files as the extractor gets them, and those whose scan was not clean."""
    files, faults = [], []
    for path, text in scripts.items():
        language = detect_language(path)
        parsed = segment_file(text, path, language)
        if parsed.health is not ParseHealth.OK:
            faults.append(f"{path}: {parsed.detail}")
        files.append(ParsedFile(path, language, text, parsed.segments))
    return files, faults


def extracted(file: ParsedFile, symbols: SqlSymbols) -> Found:
    given = list(objects_of(file, symbols))
    return Found(
        file.path,
        tuple(one for one in given if isinstance(one, GraphNode)),
        tuple(one for one in given if isinstance(one, GraphEdge)),
    )


def missing_objects(scripts: dict[str, str], found: Sequence[Found]) -> tuple[int, list[str]]:
    """(CREATE statements, those without a node of their kind and name from the same file)."""
    count, missing = 0, []
    for one in found:
        known = {(key_kind(node.key).value, node.name.lower()) for node in one.nodes}
        for statement in _CREATE.finditer(_HIDDEN.sub(" ", scripts[one.path])):
            name = re.split(r"\.", statement["name"])[-1].strip('[]"`').lower()
            kind = statement["kind"].upper()
            if name.startswith("#"):
                continue
            count += 1
            if (_KINDS.get(kind, kind), name) not in known:
                missing.append(f"{one.path}: {statement[0]}")
    return count, missing


def reaches_gold(path: Path, found: Sequence[Found]) -> bool:
    """Compares the edges of the sampled procedures; prints every difference."""
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    wanted = {(row["path"], row["object"], row["relation"], row["table"]) for row in rows if row["relation"]}
    sample = {(row["path"], f"{row['object']}|{NodeType.PROC.value}") for row in rows}
    measured = (Relation.READS_FROM, Relation.WRITES_TO)
    given = {
        (one.path, edge.source.rpartition("|")[0], edge.relation.value, edge.target.rpartition("|")[0])
        for one in found
        for edge in one.edges
        if (one.path, edge.source) in sample and edge.relation in measured
    }
    right = len(wanted & given)
    precision, recall = right / max(1, len(given)), right / max(1, len(wanted))
    print(f"\ngold: {len(sample)} procedures, {len(wanted)} edges; found {len(given)}, right {right}")
    print(f"precision {precision:.3f}  recall {recall:.3f}  (floor {GOLD_FLOOR} each)")
    for edge in sorted(given - wanted):
        print("  too many:", *edge)
    for edge in sorted(wanted - given):
        print("  missing: ", *edge)
    return precision >= GOLD_FLOOR and recall >= GOLD_FLOOR


def inline(sources: Sequence[tuple[str, str]], symbols: SqlSymbols) -> None:
    """SQL in C#: edges, and what looking for it in every file costs."""
    size = sum(len(text.encode()) for _, text in sources) / 1e6
    started = time.process_time()
    likely = [(path, text) for path, text in sources if may_hold_sql(text)]
    looking = time.process_time() - started
    files = [file_of(path, text) for path, text in likely]
    started = time.process_time()
    edges = [edge for file in files for edge in inline_sql_of(file, symbols)]
    reading = time.process_time() - started
    rate = size / max(looking + reading, 1e-9)
    print(
        f"\n.cs files {len(sources):,} ({size:.1f} MB), {len(likely):,} may hold SQL: {looking:.2f} s to tell, ", end=""
    )
    print(f"{reading:.2f} s to read it = {rate:.0f} MB/s of all C#")
    by_relation("edges of SQL in C#", edges)
    print("files with SQL", len({edge.path for edge in edges}))


def by_relation(title: str, edges: Sequence[GraphEdge]) -> None:
    counts = Counter((edge.relation.value, edge.confidence.value) for edge in edges)
    print(f"{title}: {len(edges):,}")
    for (relation, confidence), count in sorted(counts.items()):
        print(f"  {relation:14} {confidence:10} {count:8,}")


def share(title: str, part: int, whole: int, shown: Sequence[str]) -> float:
    rate = part / max(1, whole)
    print(f"{title}: {part:,} of {whole:,} ({rate:.2%})")
    for line in shown[:SHOWN]:
        print("   ", line)
    return rate


if __name__ == "__main__":
    main()
