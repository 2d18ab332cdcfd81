"""Which nodes of a graph are code of tests: test classes with all they contain, and what lies in folders of tests."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from rag_assets.contracts.graph import Relation
from rag_assets.graph.csr_graph import RELATIONS, Graph, Numbers, spans
from rag_assets.graph.edge_weights import permitted
from rag_assets.graph.relations import Direction, WalkStep

_FOLDER = re.compile(
    r"(?:^|/)(?: (?:[^/]*[._-])?[tT]ests? | [^/]*[a-z\d]Tests? | [^/]+\.Specs | __tests__ )(?:[._-][^/]*)?/", re.VERBOSE
)
"""`tests/`, `src/test/`, `Shop.UnitTests/`, `Shop.Tests.Data/`, `Polly.Specs/`; not `latest/`, `Contest/` or `Specs/`,
which is where Ardalis' specifications are kept."""

_NESTED = 8
"""How deep a case stands in classes of a test class."""

_AROUND = permitted((WalkStep(Relation.CONTAINS, Direction.IN),))


def of_tests(graph: Graph, nodes: Numbers) -> NDArray[np.bool_]:
    """Of each node whether it is code of tests: it has an edge Tests, a type around it has, or all its places lie in
    folders of tests. So builders and fixtures are, and a case whose subject is not known."""
    found = _in_folders(graph, nodes)
    testing = _testing(graph)
    around, member = nodes, np.arange(len(nodes))
    for _ in range(_NESTED):
        found[member[np.isin(around, testing)]] = True
        reach, _ = graph.reach(around, _AROUND)
        around, member = reach.node, member[reach.origin]
        if not len(around):
            break
    return found


def _testing(graph: Graph) -> Numbers:
    """The nodes with an edge Tests."""
    runs = np.flatnonzero(graph.arrays["out_relation"] == RELATIONS.index(Relation.TESTS))
    owners: Numbers = np.searchsorted(graph.arrays["out_runs"], runs, side="right") - 1
    return owners


def _in_folders(graph: Graph, nodes: Numbers) -> NDArray[np.bool_]:
    starts, ends = graph.arrays["node_places"][nodes], graph.arrays["node_places"][nodes + 1]
    at, which = spans(starts, ends)
    paths, path = np.unique(graph.arrays["place_path"][at], return_inverse=True)
    elsewhere = np.array([_FOLDER.search(graph.paths[number]) is None for number in paths.tolist()], bool)
    found: NDArray[np.bool_] = ends > starts
    found[which[elsewhere[path]]] = False
    return found
