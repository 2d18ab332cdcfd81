"""What walks over a graph cost, beside the plainest way to do the same.

    python benchmarks/graph_walks.py                                  100,000 nodes, 500,000 edges
    python benchmarks/graph_walks.py --nodes 1000000 --edges 5000000
    python benchmarks/graph_walks.py --home .rag_assets --label shop@main    also the graph of an index
    python benchmarks/graph_walks.py --graph DIRECTORY                also the graph in a directory

The synthetic graph is scale-free: most nodes have few edges, some have ten thousands, as in code. Each graph is
measured in a process of its own. Times are of the process (CPU), so that other work on the machine counts less. The
floor is a breadth-first search over dictionaries of strings with the same bounds, which knows neither relevance nor
hubs.
Exit code 1 when a limit is not met.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import report

from rag_assets import open_index
from rag_assets.contracts.graph import Confidence, Relation
from rag_assets.graph.artifact import GRAPH_FOLDER, check, open_graph, read_counts, write_graph
from rag_assets.graph.build import EDGES, NODES, assemble_tables
from rag_assets.graph.csr_graph import OUT, Graph
from rag_assets.graph.impact import impact
from rag_assets.graph.lookup import find
from rag_assets.graph.neighbourhood import neighbourhood
from rag_assets.graph.paths import paths

SEED = 20261122
REPEATS = 300
SLOW_REPEATS = 30
ENTRIES = 8  # of a search: as many hits as a prompt is made of
NODES_PER_FILE = 20
LIMITS = {"neighbourhood p50": 5.0, "neighbourhood p95": 20.0, "load": 1000.0}  # ms, of graphs of 100,000 nodes or more
TAIL = 1.1  # of the Pareto distribution of how often a node is used: hubs with a tenth of all edges
SHARES = {  # about those of the edges of jellyfin, the rarer relations left out
    Relation.CONTAINS: 0.21,
    Relation.CALLS: 0.13,
    Relation.USES_TYPE: 0.21,
    Relation.REFERENCES: 0.35,
    Relation.CONSTRUCTS: 0.05,
    Relation.INJECTS: 0.02,
    Relation.IMPLEMENTS: 0.03,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--edges", type=int, default=500_000)
    parser.add_argument("--home", type=Path, default=None)
    parser.add_argument("--label", default="")
    parser.add_argument("--graph", type=Path, action="append", default=[])
    parser.add_argument("--child", type=Path, default=None, help=argparse.SUPPRESS)
    parser.add_argument("--floor", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child is not None:
        print(json.dumps((floor if arguments.floor else measured)(arguments.child)))
        return
    with tempfile.TemporaryDirectory(prefix="rag-assets-graph-") as folder:
        made = assembled(Path(folder), arguments.nodes, arguments.edges)
        named = {f"synthetic, {arguments.nodes:,}": Path(folder)} | {path.name: path for path in arguments.graph}
        if arguments.home is not None:
            with open_index(arguments.label, home=arguments.home) as index:
                named[index.label] = index.generation.directory / GRAPH_FOLDER
        columns = {
            name: report.child(__file__, "--child", path) | report.child(__file__, "--child", path, "--floor")
            for name, path in named.items()
        }
    columns[next(iter(columns))] = made | columns[next(iter(columns))]
    rows = list(dict.fromkeys(row for column in columns.values() for row in column))
    report.table(("measure", *columns), [(row, *(column.get(row, "-") for column in columns.values())) for row in rows])
    raise SystemExit(not all(met(column) for column in columns.values()))


def met(column: dict[str, Any]) -> bool:
    """True where a large graph keeps the limits."""
    if int(str(column["nodes"]).replace(",", "")) < 100_000:
        return True
    return all(float(str(column[f"{name}, ms"])) <= limit for name, limit in LIMITS.items())


def assembled(folder: Path, nodes: int, edges: int) -> dict[str, str]:
    """Writes a scale-free graph, and what making it cost."""
    tables = [[part] for part in synthetic(nodes, edges)]
    before = resident()
    started = time.process_time()
    made = assemble_tables(*tables)
    spent = time.process_time() - started
    grown = resident() - before
    started = time.process_time()
    write_graph(folder, made.arrays, made.counts)
    written = time.process_time() - started
    return {"assemble, s": f"{spent:.1f}", "assemble, MB": f"{grown:.0f}", "write, s": f"{written:.2f}"}


def synthetic(nodes: int, edges: int) -> tuple[pa.Table, pa.Table]:
    random = np.random.default_rng(SEED)
    numbers = np.arange(nodes)
    keys = pa.array([f"csharp:Shop.Area{n % 97}.Type{n // 20}.Member{n}(int,string)|METHOD" for n in range(nodes)])
    paths = pa.array([f"src/Area{n % 97}/Type{n // NODES_PER_FILE}.cs" for n in range(nodes)])
    lines = pa.array((numbers % 400 + 1).astype(np.int32))
    constant = {"kind": "METHOD", "language": "csharp", "signature": "public void Member(int number, string text)"}
    made = {name: pa.array([value] * nodes) for name, value in constant.items()}
    names = pa.array([f"Member{n}" for n in range(nodes)])
    places = {"path": paths, "line_start": lines, "line_end": lines}
    columns = {"key": keys, "name": names, "words": pa.array([[f"member{n}"] for n in range(nodes)]), **places, **made}
    source = random.integers(0, nodes, edges)
    target = random.permutation(nodes)[np.minimum((random.pareto(TAIL, edges) * 20).astype(np.int64), nodes - 1)]
    relations, shares = zip(*SHARES.items(), strict=True)
    relation = np.array([each.value for each in relations])[random.choice(len(relations), edges, p=shares)]
    confidence = np.array([each.value for each in Confidence])[random.choice(3, edges, p=[0.85, 0.12, 0.03])]
    edge_columns = {
        "source": keys.take(pa.array(source)),
        "relation": pa.array(relation),
        "target": keys.take(pa.array(target)),
        "confidence": pa.array(confidence),
        "path": paths.take(pa.array(source)),
        "line": lines.take(pa.array(source)),
    }
    return (
        pa.table([columns[name] for name in NODES.names], schema=NODES),
        pa.table([edge_columns[name] for name in EDGES.names], schema=EDGES),
    )


def measured(directory: Path) -> dict[str, str]:
    """All walks over one graph."""
    before = resident()
    started = time.perf_counter()
    graph = open_graph(directory)
    loaded = time.perf_counter() - started
    counts = read_counts(directory)
    random = np.random.default_rng(SEED)
    some = random.integers(0, len(graph), REPEATS).tolist()
    keys, hubs = chosen(graph, directory)
    groups = [[graph.keys[node] for node in random.integers(0, len(graph), ENTRIES).tolist()] for _ in range(REPEATS)]
    rows = {
        "nodes": f"{counts.nodes:,}",
        "edges": f"{counts.edges:,}",
        "largest hub": f"{counts.hubs[0].degree:,}" if counts.hubs else "0",
        "load, ms": f"{1000 * loaded:.1f}",
        **timed("neighbourhood", lambda key: neighbourhood(graph, [key]), keys),
        **timed(f"of {ENTRIES} entries", lambda group: neighbourhood(graph, group), groups),
        **timed("of the 20 largest hubs", lambda key: neighbourhood(graph, [key]), hubs),
        **timed("lookup by name", lambda node: find(graph, graph.names[node]), some[:SLOW_REPEATS]),
        **timed("3 paths", lambda ends: paths(graph, *ends), [([a], [b]) for a, b in pairs(some[:SLOW_REPEATS])]),
        **timed("impact", lambda node: impact(graph, [node]), some[:SLOW_REPEATS]),
    }
    rows["memory of all walks, MB"] = f"{resident() - before:.0f}"
    started = time.perf_counter()
    check(directory)
    rows["check of all hashes, ms"] = f"{1000 * (time.perf_counter() - started):.0f}"
    return rows


def chosen(graph: Graph, directory: Path) -> tuple[list[str], list[str]]:
    """Random nodes, and the largest hubs."""
    some = np.random.default_rng(SEED).integers(0, len(graph), REPEATS).tolist()
    return [graph.keys[node] for node in some], [hub.key for hub in read_counts(directory).hubs]


def floor(directory: Path) -> dict[str, str]:
    """Breadth first over dictionaries of strings: load, time and memory."""
    graph = open_graph(directory)
    keys, hubs = chosen(graph, directory)
    before = resident()
    started = time.perf_counter()
    around: dict[str, list[str]] = {graph.keys[node]: [] for node in range(len(graph))}
    reach, _ = graph.reach(np.arange(len(graph)), np.array([[True], [False]]).repeat(len(Relation), axis=1))
    assert (reach.side == OUT).all()
    names = list(around)
    for source, target in zip(reach.origin.tolist(), reach.node.tolist(), strict=True):
        around[names[source]].append(names[target])
        around[names[target]].append(names[source])
    loaded = time.perf_counter() - started
    grown = resident() - before

    def breadth_first(key: str) -> int:
        distances = {key: 0}
        waiting = deque([key])
        while waiting and len(distances) < 120:
            at = waiting.popleft()
            if distances[at] == 2:
                break
            for other in around[at]:
                if other not in distances:
                    distances[other] = distances[at] + 1
                    waiting.append(other)
        return len(distances)

    return {
        "floor: load, ms": f"{1000 * loaded:.0f}",
        "floor: memory, MB": f"{grown:.0f}",
        **timed("floor: breadth first", breadth_first, keys),
        **timed("floor: of hubs", breadth_first, hubs),
    }


def timed(name: str, work: Callable[[Any], object], inputs: Iterable[Any]) -> dict[str, str]:
    """p50 and p95 in ms of CPU, after one warm-up."""
    inputs = list(inputs)
    if not inputs:
        return {}
    work(inputs[0])
    spent = []
    for each in inputs:
        started = time.process_time()
        work(each)
        spent.append(1000 * (time.process_time() - started))
    tail = statistics.quantiles(spent, n=20)[18] if len(spent) > 1 else spent[0]
    return {f"{name} p50, ms": f"{statistics.median(spent):.2f}", f"{name} p95, ms": f"{tail:.2f}"}


def resident() -> float:
    """The most memory that this process had so far, in MB, mapped files included; 0 where the system does not say."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM")), 0.0)


def pairs(numbers: list[int]) -> list[tuple[int, int]]:
    return list(zip(numbers, reversed(numbers), strict=True))


if __name__ == "__main__":
    main()
