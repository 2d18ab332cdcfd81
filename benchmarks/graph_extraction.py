"""How much of a C# repository the graph sees, and how fast: definitions, edges, call sites, throughput.

    python benchmarks/graph_extraction.py path/to/checkout https://github.com/App-vNext/Polly …

A repository is a checkout, a bare git directory or a URL. The files are those of its HEAD; segmentation makes their
segments, no index is needed. Definitions are counted a second time, independently: as declaration nodes of the raw
tree of the grammar. Files whose raw tree has errors are compared as well, but the nodes inside of error nodes count
for neither side. The throughput is told of the bare parse, which is the floor, of the C# extractor with it, and of the
whole stage: the pass over all declarations, every extractor on every file, the questions that they ask recorded and
digested, what is found sorted and packed; all but reading and writing files. Its MB are those of C# alone.
Prints three markdown tables; exit code 1 when fewer definitions than `LEAST_FOUND` are found or the C# extractor is
slower than `LEAST_SPEED`.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
from graph_in_memory import files_at, known_of
from report import table

from rag_assets.contracts.graph import GraphEdge, GraphNode, NodeType
from rag_assets.graph.extract.csharp import extract_csharp
from rag_assets.languages.csharp.binder.binder import Counts
from rag_assets.languages.csharp.binder.declarations import declared_in
from rag_assets.languages.csharp.binder.label_symbols import CSharpSymbols
from rag_assets.languages.csharp.project_files import is_project_file
from rag_assets.languages.parsed_file import ParsedFile
from rag_assets.languages.treesitter.parsing import SourceText, UnparseableError, parse
from rag_assets.pipeline.code_graph import extracted
from rag_assets.pipeline.workers.process_pool import collecting_seldom

LEAST_FOUND = 0.999
"""Share of the types and methods of the raw trees that must be nodes of the graph."""
LEAST_SPEED = 1.5
"""MB of C# per second and core, parsing included. Asked of repositories from `LARGE` on: in small ones the first
look at each type, which is done once a label, weighs most."""
LARGE = 10e6

TYPES = frozenset(
    {
        "class_declaration", "struct_declaration", "interface_declaration", "record_declaration", "enum_declaration",
        "delegate_declaration",
    }
)  # fmt: skip
METHODS = frozenset(
    {
        "method_declaration", "constructor_declaration", "destructor_declaration", "operator_declaration",
        "conversion_operator_declaration",
    }
)  # fmt: skip


@dataclass(slots=True)
class Measured:
    """What was found in one repository; sizes in characters, times in seconds of this process. `foreign`: call sites on
    a receiver of unknown type whose name no member of the repository has: calls of libraries."""

    files: int = 0
    size: int = 0
    declared: Counter[str] = field(default_factory=Counter)
    found: Counter[str] = field(default_factory=Counter)
    nodes: int = 0
    edges: Counter[tuple[str, str]] = field(default_factory=Counter)
    counts: Counts = field(default_factory=Counts)
    parse: float = 0.0
    extraction: float = 0.0
    symbols: float = 0.0
    stage: float = 0.0
    foreign: int = 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repositories", nargs="+", metavar="REPO", help="path or URL")
    arguments = parser.parse_args()
    found = []
    for repository in arguments.repositories:
        print(f"{repository} …", file=sys.stderr)
        found.append((name_of(repository), measured(files_at(repository, is_measured))))
    raise SystemExit(report(found))


def report(found: list[tuple[str, Measured]]) -> int:
    """Prints the tables; 1 when a promise is broken."""
    table(
        ("repository", "files", "MB", "types", "in trees", "methods", "in trees", "found"),
        [
            (
                name, one.files, f"{one.size / 1e6:.1f}", one.found["type"], one.declared["type"], one.found["method"],
                one.declared["method"], f"{100 * found_share(one):.2f} %",
            )
            for name, one in found
        ],
    )  # fmt: skip
    kinds = sorted({kind for _, one in found for kind in one.edges})
    table(
        ("relation", "confidence", *(name for name, _ in found)),
        [(*kind, *(one.edges[kind] for _, one in found)) for kind in kinds],
    )
    rows = []
    for name, one in found:
        counts = one.counts
        sites = max(1, counts.resolved + counts.probable + counts.external + counts.unresolved)
        shares = (counts.resolved, counts.probable, counts.external + one.foreign, counts.unresolved - one.foreign)
        speed = one.size / 1e6 / max(one.parse + one.extraction, 1e-9)
        floor = one.size / 1e6 / max(one.parse, 1e-9)
        stage = one.size / 1e6 / max(one.stage, 1e-9)
        speeds = (floor, speed, floor / speed, stage)
        rows.append((name, sites, *(f"{100 * share / sites:.1f} %" for share in shares), f"{one.symbols:.2f}",
                     *(f"{value:.2f}" for value in speeds)))  # fmt: skip
    table(
        (
            "repository",
            "call sites",
            "resolved",
            "probable",
            "library",
            "unresolved",
            "symbols s",
            "parse MB/s",
            "C# extractor MB/s",
            "bare parses",
            "whole stage MB/s",
        ),
        rows,
    )
    large = [(name, one) for name, one in found if one.size >= LARGE]
    slow = [name for name, one in large if one.size / 1e6 < LEAST_SPEED * (one.parse + one.extraction)]
    few = [name for name, one in found if found_share(one) < LEAST_FOUND]
    for what, names in (("too slow", slow), ("too few definitions", few)):
        if names:
            print(f"{what}: {', '.join(names)}", file=sys.stderr)
    return 1 if slow or few else 0


def found_share(one: Measured) -> float:
    """The share of the declarations in the trees that are nodes; what the graph has beyond does not make up for it."""
    total = sum(one.declared.values())
    return sum(min(one.found[kind], count) for kind, count in one.declared.items()) / total if total else 1.0


def measured(files: list[ParsedFile]) -> Measured:
    """Extraction file by file, as the asset does it; parsing is timed apart."""
    one = Measured()
    for file in files:
        if file.language == "csharp":
            one.declared.update(declared_by(file.text))
    started = time.process_time()
    declared = declared_in(files)
    symbols = CSharpSymbols([declared])
    one.symbols = time.process_time() - started
    names = {member.name for found in declared.types for member in found.members} | {"new"}
    one.counts.missed = []
    gc.collect()
    gc.freeze()  # all files of the repository are in memory here only; the collector need not look at them
    for file in files:
        if file.language != "csharp":
            continue
        one.files += 1
        one.size += len(file.text)
        alone = ParsedFile(file.path, file.language, file.text, file.segments)
        started = time.process_time()
        with suppress(UnparseableError):
            alone.csharp  # noqa: B018 - parses
        parsed = time.process_time()
        made = list(extract_csharp(alone, symbols, one.counts))
        one.extraction += time.process_time() - parsed
        one.parse += parsed - started
        count(made, one)
    gc.unfreeze()
    unknown = (name for _, name, why in one.counts.missed if why == "receiver")
    one.foreign = sum(name not in names for name in unknown)
    one.stage = stage_seconds(files)
    return one


def stage_seconds(files: list[ParsedFile]) -> float:
    """Seconds that the stage takes for all files, but for what it reads and writes."""
    gc.collect()
    with collecting_seldom():
        started = time.process_time()
        symbols, facets = known_of(files)
        for file in files:
            alone = ParsedFile(file.path, file.language, file.text, file.segments)
            msgspec.msgpack.encode(extracted(alone, symbols, facets))
        return time.process_time() - started


def count(made: list[GraphNode | GraphEdge], one: Measured) -> None:
    for entry in made:
        if isinstance(entry, GraphEdge):
            one.edges[entry.relation.value, entry.confidence.value] += 1
            continue
        one.nodes += 1
        if entry.kind is NodeType.TYPE:
            one.found["type"] += 1
        elif entry.kind is NodeType.METHOD and not entry.key.startswith("csharp:Program."):
            one.found["method"] += 1  # functions of a program are no method declarations


def declared_by(text: str) -> Counter[str]:
    """Types and methods of the raw tree, without those inside of errors."""
    found: Counter[str] = Counter()
    try:
        tree = parse("csharp", SourceText(text))
    except UnparseableError:
        return found
    waiting = [tree.root_node]
    while waiting:
        node = waiting.pop()
        kind = node.type
        if node.is_error:
            continue
        if kind in TYPES or kind in METHODS:
            name = node.child_by_field_name("name") or node.child_by_field_name("type")
            if node.has_error and (name is None or name.is_missing):
                continue
            found["type" if kind in TYPES else "method"] += 1
        if kind not in _LEAVES:
            waiting.extend(node.named_children)
    return found


_LEAVES = frozenset({"block", "arrow_expression_clause", "attribute_list", "parameter_list", "field_declaration"})
"""Nodes without declarations of types and members in them."""


def is_measured(path: str) -> bool:
    """C#, and the projects that say which of it belongs together."""
    return path.endswith(".cs") or is_project_file(path)


def name_of(repository: str) -> str:
    parts = [part for part in Path(repository).parts if part not in ("repo", ".git")]
    return parts[-1].removesuffix(".git")


if __name__ == "__main__":
    main()
