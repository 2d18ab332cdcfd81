"""How the product of a repository is made up, by its graph: where programs start, which projects or folders use which,
what it exposes, and the types that most of it uses."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from rag_assets.answer.artifact.graph_columns import NO_USE, GraphColumns
from rag_assets.contracts.graph import Confidence, NodeType, Relation
from rag_assets.graph.csr_graph import KINDS, RELATIONS, NodeLocation

_ENTRY_FILE = re.compile(
    r"(?:.*/)?(?:Program\.cs|(?:__main__|manage|wsgi|asgi)\.py)"
    r"|(?:[^/]+/){0,3}(?:(?:app|main)\.py|(?:app|bin|cli|index|main|server|www)\.[cm]?[jt]sx?)"  # deeper: of any module
)
_SAYS_ENTRY = re.compile(
    r"Create(?:Default|Empty|Slim)?Builder|\b[Mm]ain\s*\(|__name__\s*==|new \w*HostBuilder|execute_from_command_line"
    r"|\b(?:app|host)\.Run|get_[aw]sgi_application|=\s*create_app\(|\b(?:FastAPI|Flask|uvicorn\.run)\("
    r"|^#!.*\bnode\b|NestFactory\.create|\.listen\s*\(|\bcreate(?:App|Root)\s*\("
)
_TELLING = (
    *(Relation.CALLS, Relation.INJECTS, Relation.CONSTRUCTS, Relation.EXECUTES, Relation.WRITES_TO),
    *(Relation.READS_FROM, Relation.INHERITS, Relation.IMPLEMENTS, Relation.USES_TYPE),
)
"""Which use is shown for all of one folder, the most telling first."""
_SELDOM_MEANT = ("Attribute", "Exception")
"""Ends of the names of types that many files use, and none is about."""
_MOST_USES = 20


def entry_points(columns: GraphColumns) -> list[tuple[str, int]]:
    """(path, line) of where programs start, those nearest to the root first; none in `.github` and the like."""
    found = {path: 0 for path in columns.files if _ENTRY_FILE.fullmatch(path)}
    for node in columns.nodes(NodeType.METHOD).tolist():
        if columns.graph.names[node] in ("Main", "main") and (place := columns.place(node)) is not None:
            found[place.path] = place.line_start
    own = sorted((path for path in found if not path.startswith(".")), key=lambda path: (path.count("/"), path))
    return [(path, line) for path in own if (line := found[path] or columns.line_of(path, _SAYS_ENTRY))]


@dataclass(frozen=True, slots=True)
class AreaUse:
    """That a project or folder uses another one, by their numbers, in so many places; the most telling of these uses
    `node`, at `path:line`."""

    source: int
    target: int
    count: int
    node: int
    confidence: Confidence
    path: str
    line: int


def area_uses(columns: GraphColumns) -> tuple[list[str], list[AreaUse]]:
    """(the names of the projects, or of the folders where there are none; the most frequent uses of one by another)."""
    areas, area_of = columns.areas
    source, target = area_of[columns.source], area_of[columns.target]
    counted = (source >= 0) & (target >= 0) & (source != target) & columns.is_seen & ~columns.of(*NO_USE)
    counted &= columns.graph.kinds[columns.target] != KINDS.index(NodeType.DBSET.value)  # used through its contract
    if not counted.any():
        return areas, []
    pairs, counts = np.unique(source[counted] * len(areas) + target[counted], return_counts=True)
    ranked = sorted(zip(counts.tolist(), pairs.tolist(), strict=True), key=lambda one: (-one[0], one[1]))[:_MOST_USES]
    worth = np.full(len(RELATIONS), len(_TELLING))
    for at, relation in enumerate(_TELLING):
        worth[RELATIONS.index(relation.value)] = at
    uses = []
    for count, pair in ranked:
        one, other = divmod(pair, len(areas))
        rows = np.flatnonzero(counted & (source == one) & (target == other))
        order_of = np.lexsort((rows, worth[columns.relation[rows]], columns.graph.confidence[rows]))
        best = np.zeros(len(counted), bool)
        best[rows[order_of[0]]] = True
        ((_, used, confidence, path, line),) = columns.edges(best)
        uses.append(AreaUse(one, other, count, used, confidence, path, line))
    return areas, uses


def exposed_endpoints(columns: GraphColumns) -> list[tuple[int, int, str, int]]:
    """(endpoint, what exposes it, path, line), by place; each endpoint once."""
    wanted = columns.of(Relation.EXPOSES) & columns.is_seen & columns.product[columns.source]
    touched = columns.touched[columns.target]
    wanted &= touched if columns.about is not None else touched | columns.touched[columns.source]
    found: dict[int, tuple[int, int, str, int]] = {}
    for source, target, _, path, line in columns.edges(wanted):
        found.setdefault(target, (target, source, path, line))
    return list(found.values())


def central_types(columns: GraphColumns, most: int, fewest: int) -> list[tuple[int, NodeLocation]]:
    """The types that most other files use; where no language says who uses what, those that declare most,
    the `fewest` members at least."""
    found: list[tuple[int, NodeLocation]] = []
    for node in columns.by_weight(columns.nodes(NodeType.TYPE).tolist()):
        if len(found) == most or (not columns.users[node] and columns.members[node] < fewest):
            break
        place = columns.place(node)
        if place is not None and not columns.graph.names[node].endswith(_SELDOM_MEANT):
            found.append((node, place))
    return found
