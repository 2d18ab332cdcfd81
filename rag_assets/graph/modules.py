"""A whole graph from far away: the folders that make it up, and how much each uses the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag_assets.contracts.graph import Relation
from rag_assets.graph.csr_graph import RELATIONS, Graph

MOST_AREAS = 14
"""As many as can be taken in at a glance."""

REST = "…"
"""The last part of the path of an area that is made of several small folders."""

_LEAST_SLOTS = 3  # a folder split into fewer says nothing about it
_SPLIT_SHARE = 0.04  # of all nodes: smaller folders are not worth being split
_SHOWN_SHARE = 0.01  # of all nodes: smaller folders are not worth a row
_NO_USE = frozenset({Relation.CONTAINS, Relation.MENTIONS})
"""Relations that say where something is, or who writes about it."""


@dataclass(frozen=True, slots=True)
class Area:
    """A folder with all below it but what is an area of its own. `path` ends with `REST` for several small ones and
    is '.' for the files of the root."""

    path: str
    nodes: int


@dataclass(frozen=True, slots=True)
class AreaMap:
    """Areas, users before what they use as far as there is such an order, and the edges from one to another, the most
    first: (path, path, edges)."""

    areas: tuple[Area, ...]
    uses: tuple[tuple[str, str, int], ...]


def area_map(graph: Graph, most: int = MOST_AREAS) -> AreaMap:
    """The folders of a graph, the largest split into theirs until there are `most`. Nodes count where they are declared
    first; what is declared nowhere is in no area."""
    path_of = first_paths(graph)
    sizes = np.bincount(path_of[path_of >= 0], minlength=len(graph.paths))
    weights = {graph.paths[number]: int(size) for number, size in enumerate(sizes) if size}
    found = split_folders(weights, most)
    number_of = {path: number for number, (_, paths) in enumerate(found) for path in paths}
    area_of_path = np.array([number_of.get(graph.paths[number], -1) for number in range(len(sizes))], np.int64)
    area_of = np.where(path_of >= 0, area_of_path[path_of], -1) if len(sizes) else path_of
    uses = _uses(graph, area_of, len(found))
    areas = [Area(name, sum(weights[path] for path in paths)) for name, paths in found]
    return AreaMap(
        areas=tuple(areas[number] for number in _in_order(len(areas), uses)),
        uses=tuple((areas[source].path, areas[target].path, edges) for source, target, edges in uses),
    )


def first_paths(graph: Graph) -> NDArray[np.int64]:
    """The number of the path where each node is declared first, -1 for none."""
    starts, ends = graph.arrays["node_places"][:-1], graph.arrays["node_places"][1:]
    places = np.append(graph.arrays["place_path"].astype(np.int64), -1)
    return np.where(starts < ends, places[np.minimum(starts, len(places) - 1)], -1)


def split_folders(weights: Mapping[str, int], most: int) -> list[tuple[str, list[str]]]:
    """(path of the area, its files), the largest first; `weights` are the nodes of each file."""
    total = sum(weights.values())
    areas = {"": sorted(weights)} if weights else {}
    settled: set[str] = set()

    def size(paths: Iterable[str]) -> int:
        return sum(weights[path] for path in paths)

    while waiting := [folder for folder in areas if folder not in settled]:
        folder = max(waiting, key=lambda name: (size(areas[name]), name))
        settled.add(folder)
        parts = _children(folder, areas[folder])
        slots = most - len(areas) + 1
        if len(parts) > 1 and (slots < _LEAST_SLOTS or size(areas[folder]) < _SPLIT_SHARE * total):
            continue
        ranked = sorted(parts, key=lambda name: (-size(parts[name]), name))
        kept = [name for name in ranked if size(parts[name]) >= _SHOWN_SHARE * total]
        if len(kept) < len(ranked) or len(kept) > slots:
            kept = kept[: slots - 1]
        rest = [path for name in ranked[len(kept) :] for path in parts[name]]
        if folder and size(rest) > size(areas[folder]) / 2:
            continue  # most of it would be no area of its own
        del areas[folder]
        areas |= {name: parts[name] for name in kept}
        if rest:
            together = f"{folder}/{REST}" if folder else REST
            areas[together] = rest
            settled.add(together)
    return [(name or ".", areas[name]) for name in sorted(areas, key=lambda name: (-size(areas[name]), name))]


def _children(folder: str, paths: Iterable[str]) -> dict[str, list[str]]:
    """The files of a folder by the folders in it; its own files under its own path."""
    found: dict[str, list[str]] = {}
    begin = len(folder) + 1 if folder else 0
    for path in paths:
        name, slash, _ = path[begin:].partition("/")
        found.setdefault(path[:begin] + name if slash else folder, []).append(path)
    return found


def _uses(graph: Graph, area_of: NDArray[np.int64], areas: int) -> list[tuple[int, int, int]]:
    arrays = graph.arrays
    per_run = np.diff(arrays["out_edges"])
    owners = np.repeat(np.arange(len(graph)), np.diff(arrays["out_runs"]))
    source = area_of[np.repeat(owners, per_run)]
    target = area_of[arrays["edge_target"]]
    relation = np.repeat(arrays["out_relation"], per_run)
    counted = (source >= 0) & (target >= 0) & (source != target)
    for name in sorted(_NO_USE):
        counted &= relation != RELATIONS.index(name)
    pairs = Counter((source[counted] * areas + target[counted]).tolist())
    ranked = sorted(pairs.items(), key=lambda pair: (-pair[1], pair[0]))
    return [(*divmod(pair, areas), edges) for pair, edges in ranked]


def _in_order(count: int, uses: Sequence[tuple[int, int, int]]) -> list[int]:
    """Users before what they use: every area moves to where the fewest edges lead from below to above, until none does
    better elsewhere. Without a reason to move they stay in their order."""
    weight = [[0] * count for _ in range(count)]
    for source, target, edges in uses:
        weight[source][target] = edges
    order = list(range(count))
    for _ in range(count):
        before = list(order)
        for moved in range(count):
            at = order.index(moved)
            others = [*order[:at], *order[at + 1 :]]
            against = [0]  # edges against the order, less those with `moved` at the top
            for other in others:
                against.append(against[-1] + weight[moved][other] - weight[other][moved])
            best = min(against)
            if best < against[at]:
                order = [*others[: against.index(best)], moved, *others[against.index(best) :]]
        if order == before:
            break
    return order
