"""How right the call edges of the graph are: file → file by calls and constructions, against edges decided by reading.

    python benchmarks/graph_calls.py [--polly PATH] [--eshoponweb PATH] [--core PATH] [--list]

A repository is a checkout, a bare git directory or a URL (the public one by default); it is read at the revision that
its gold data was made from. The graph of all its files is extracted in memory, as the asset does it. File A has an edge
to file B when a node of A calls or constructs one that B declares; what counts is defined in benchmarks/gold/README.md.
Only edges that leave a sampled file are compared. Intervals are those of Wilson for 95 %. The last rows say what is
left without types: a call goes to the one file that declares a method, or for `new` a type, of its name.

`--list` prints every edge that is false or missed, with the place in the source. Exit code 1 when all repositories
together stay below the floors.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING

from graph_in_memory import extracted, files_at, is_in_chains
from report import table

from rag_assets.contracts.graph import Confidence, GraphEdge, GraphNode, NodeType, Relation, key_kind
from rag_assets.graph.lookup import split_parameters
from rag_assets.languages.parsed_file import ParsedFile
from rag_assets.languages.treesitter.parsing import UnparseableError

if TYPE_CHECKING:
    from tree_sitter import Node

PRECISION_FLOOR = 0.97
RECALL_FLOOR = 0.87
"""What the edges of the graph with a proof or a likely target must reach together."""

GOLD = Path(__file__).parent / "gold"
Z = 1.96
"""Standard deviations of a 95 % interval."""

Pair = tuple[str, str]
"""(file that calls, file that declares)"""
Found = dict[Pair, str]
"""File edges with the place of one call: `src/a.cs:12 Ns.Type.Method(int)`."""


@dataclass(frozen=True, slots=True)
class Repository:
    option: str
    gold: str
    url: str
    revision: str


REPOSITORIES = (
    Repository("polly", "polly", "https://github.com/App-vNext/Polly", "173d6d1d2e28a4697f1ac1d22da68f77ff19a0c9"),
    Repository(
        "eshoponweb",
        "eshoponweb",
        "https://github.com/dotnet-architecture/eShopOnWeb",
        "2414014bfa0f4d2021b5bc9061429a98d232f440",
    ),
    Repository(
        "core", "lagovista_core", "https://github.com/LagoVista/Core", "a0dd6a1c3d4f5675e441a5c4cbf51415f6d59951"
    ),
)

TYPED = {
    "resolved": frozenset({Confidence.RESOLVED}),
    "resolved + probable": frozenset({Confidence.RESOLVED, Confidence.PROBABLE}),
}
JUDGED = "resolved + probable"
"""The edges that the floors are for."""
BY_NAME = "by simple name"


@dataclass(frozen=True, slots=True)
class Score:
    """Edges found and right, found and wrong, not found."""

    right: int
    false: int
    missed: int

    @property
    def precision(self) -> float:
        return self.right / max(self.right + self.false, 1)

    @property
    def recall(self) -> float:
        return self.right / max(self.right + self.missed, 1)

    @property
    def f1(self) -> float:
        return 2 * self.right / max(2 * self.right + self.false + self.missed, 1)

    def __add__(self, other: Score) -> Score:
        return Score(self.right + other.right, self.false + other.false, self.missed + other.missed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for repository in REPOSITORIES:
        parser.add_argument(f"--{repository.option}", default=repository.url, metavar="PATH", help="path or URL")
    parser.add_argument("--list", action="store_true", help="prints every false and every missed edge")
    arguments = parser.parse_args()
    scores: dict[str, list[tuple[str, Score]]] = defaultdict(list)
    for repository in REPOSITORIES:
        location = getattr(arguments, repository.option)
        print(f"{location} …", file=sys.stderr)
        files = files_at(location, is_in_chains, repository.revision)
        for ways, found in measured(files):
            scores[ways].append((repository.gold, compared(repository.gold, found, arguments.list and ways == JUDGED)))
    raise SystemExit(report(scores))


def report(scores: dict[str, list[tuple[str, Score]]]) -> int:
    """Prints one table; 1 when a floor is not reached."""
    rows = []
    totals = {}
    for ways, found in scores.items():
        totals[ways] = total = sum((score for _, score in found), Score(0, 0, 0))
        for name, score in (*found, ("all", total)):
            rows.append(
                (
                    name, ways, score.right + score.missed, score.right, score.false, score.missed,
                    shown(score.precision, score.right + score.false), shown(score.recall, score.right + score.missed),
                    f"{score.f1:.3f}",
                )
            )  # fmt: skip
    table(("repository", "edges", "by hand", "right", "false", "missed", "precision", "recall", "F1"), rows)
    judged = totals[JUDGED]
    short = [
        f"{what} {value:.3f} is below {floor}"
        for what, value, floor in (
            ("precision", judged.precision, PRECISION_FLOOR),
            ("recall", judged.recall, RECALL_FLOOR),
        )
        if value < floor
    ]
    for line in short:
        print(line, file=sys.stderr)
    return 1 if short else 0


def shown(share: float, count: int) -> str:
    low, high = wilson(share, count)
    return f"{share:.3f} ({low:.3f}-{high:.3f})"


def wilson(share: float, count: int) -> tuple[float, float]:
    """The 95 % interval of a share seen in `count` trials (Wilson 1927): it holds for shares near 1, too."""
    if not count:
        return 0.0, 1.0
    middle = share + Z * Z / (2 * count)
    spread = Z * sqrt(share * (1 - share) / count + Z * Z / (4 * count * count))
    scale = 1 + Z * Z / count
    return max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale)


def measured(files: list[ParsedFile]) -> Iterator[tuple[str, Found]]:
    """The file edges of a repository by each way to find them."""
    nodes, edges = [], []
    for part in extracted(files):
        if isinstance(part, GraphNode):
            nodes.append(part)
        else:
            edges.append(part)
    files_of = declaring_files(nodes)
    for ways, confidences in TYPED.items():
        yield ways, file_edges((edge for edge in edges if edge.confidence in confidences), files_of)
    yield BY_NAME, edges_by_name(files, nodes)


def declaring_files(nodes: Iterable[GraphNode]) -> Callable[[str], tuple[str, ...]]:
    """Key → the files that declare it: of a partial type the part with the base list, else the first."""
    parts: dict[str, list[GraphNode]] = defaultdict(list)
    for node in nodes:
        if node.path.endswith(".cs"):
            parts[node.key].append(node)

    def files_of(key: str) -> tuple[str, ...]:
        declared = sorted(parts[key], key=lambda node: (node.path, node.line_start)) if key in parts else []
        if key_kind(key) is NodeType.TYPE and all(" partial " in f" {node.signature}" for node in declared):
            declared = [node for node in declared if ":" in node.signature][:1] or declared[:1]
        return tuple(dict.fromkeys(node.path for node in declared))

    return files_of


def file_edges(edges: Iterable[GraphEdge], files_of: Callable[[str], tuple[str, ...]]) -> Found:
    """The edges by calls and constructions between files. A type counts only where none of its constructors is known
    to be meant: these may stand in another part of it."""
    found: Found = {}
    kept = [edge for edge in edges if edge.relation in (Relation.CALLS, Relation.CONSTRUCTS)]
    built = {(edge.source, built_by(edge.target)) for edge in kept if key_kind(edge.target) is NodeType.METHOD}
    for edge in kept:
        if key_kind(edge.target) is NodeType.TYPE and (edge.source, edge.target) in built:
            continue
        for path in files_of(edge.target):
            if path != edge.path:
                place = f"{edge.path}:{edge.line} {edge.target} ({edge.confidence.value})"
                found.setdefault((edge.path, path), place)
    return found


def built_by(key: str) -> str:
    """The key of the type whose constructor this is; no key for another method."""
    symbol, _ = split_parameters(key.rpartition("|")[0])
    return f"{symbol.rpartition('.')[0]}|{NodeType.TYPE.value}"


def edges_by_name(files: Iterable[ParsedFile], nodes: Iterable[GraphNode]) -> Found:
    """What is found without types: every call goes to the one file that declares a method of its name."""
    declaring: dict[tuple[NodeType, str], set[str]] = defaultdict(set)
    for node in nodes:
        if node.kind in (NodeType.METHOD, NodeType.TYPE) and node.path.endswith(".cs"):
            declaring[node.kind, node.name].add(node.path)
    found: Found = {}
    for file in files:
        for kind, name, line in named_calls(file) if file.language == "csharp" else ():
            paths = declaring.get((kind, name), set())
            if len(paths) == 1 and file.path not in paths:
                found.setdefault((file.path, min(paths)), f"{file.path}:{line} {name}")
    return found


def named_calls(file: ParsedFile) -> Iterator[tuple[NodeType, str, int]]:
    """(METHOD or TYPE, name, line) of all calls and constructions that are written with a name."""
    try:
        reader = file.csharp
    except UnparseableError:
        return
    waiting = [file.csharp_parsed.view.tree.root_node]
    while waiting:
        node = waiting.pop()
        waiting.extend(node.named_children)
        kind = {"invocation_expression": NodeType.METHOD, "object_creation_expression": NodeType.TYPE}.get(node.type)
        name = last_name(node.named_children[0]) if kind is not None and node.named_child_count else None
        if kind is not None and name is not None:
            yield kind, reader.text_of(name), node.start_point.row + 1


def last_name(node: Node | None) -> Node | None:
    """`a.B<C>` → `B`."""
    while node is not None and node.type != "identifier":
        inside = [child for child in node.named_children if child.type != "type_argument_list"]
        node = inside[-1] if inside else None
    return node


def compared(gold: str, found: Found, is_listed: bool) -> Score:
    """The edges of the sampled files against those decided by reading."""
    sampled = {row["file"] for row in rows_of(f"call_files_{gold}.csv")}
    wanted = {
        (row["source"], row["target"]): f"{row['source']}:{row['line']} {row['member']}"
        for row in rows_of(f"call_edges_{gold}.csv")
    }
    told = {pair: place for pair, place in found.items() if pair[0] in sampled}
    if is_listed:
        for mark, rows in (("false", told.keys() - wanted.keys()), ("missed", wanted.keys() - told.keys())):
            for pair in sorted(rows):
                print(f"{mark}: {(told if mark == 'false' else wanted)[pair]} → {pair[1]}")
    right = len(told.keys() & wanted.keys())
    return Score(right, len(told) - right, len(wanted) - right)


def rows_of(name: str) -> list[dict[str, str]]:
    with (GOLD / name).open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


if __name__ == "__main__":
    main()
