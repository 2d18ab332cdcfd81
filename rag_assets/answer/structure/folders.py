"""What a folder, a project or a namespace holds: its parts, its types by how much uses them, what it needs from
elsewhere and who uses it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from rag_assets.answer.artifact.graph_columns import NO_USE, GraphColumns, Mask
from rag_assets.answer.graph_facts import Facts, GraphFact, GraphFacts, facts_at
from rag_assets.answer.plans.code_lines import MOST_LISTED, from_the_root, part_counted
from rag_assets.contracts.graph import NodeType
from rag_assets.graph.csr_graph import KINDS
from rag_assets.search.line_references import sections_of
from rag_assets.search.ranking.penalties import is_readme

if TYPE_CHECKING:
    from rag_assets.answer.structure.questions import FolderAsked
    from rag_assets.graph.csr_graph import Graph
    from rag_assets.search.index import LabelIndex

_NOT_LETTERS = re.compile(r"[\W_]+")
_MOST_PARTS, _MOST_TYPES, _MOST_USES = 8, 12, 4


def folder_facts(index: LabelIndex, graph: Graph, wanted: FolderAsked) -> Facts:
    """What is in a folder; nothing where no folder, or more than one, is called so."""
    paths = list(index.parts.shard().values("Path", index.scope()))
    columns = GraphColumns(index, graph, None)
    folder = "" if wanted.is_code else _folder(paths, wanted.name)
    folder = folder or _folder_of_code(columns, wanted.name)
    if not folder:
        return GraphFacts(), {}
    inside = sorted((path for path in paths if path.startswith(folder + "/")), key=from_the_root)
    within = np.array([*(path.startswith(folder + "/") for path in graph.paths), False])
    own = (within & columns.visible)[columns.path_of]
    types = [] if wanted.files else _types(columns, own)
    facts = [*file_facts(index, [path for path in inside if is_readme(path)][: not wanted.files], "Told by")]
    facts += [] if wanted.files else _parts(columns, own, folder)
    facts += types or file_facts(index, inside[:MOST_LISTED], part_counted("Its files", len(inside), MOST_LISTED))
    if types:
        facts += _uses(columns, own, "Needs from elsewhere", out=True)
        facts += _uses(columns, own, "Used from elsewhere", out=False)
    at = facts_at(list(dict.fromkeys(facts)), index)
    counted = "one file" if len(inside) == 1 else f"{len(inside):,} files"
    return GraphFacts(tuple(at), len(at), f"**`{folder}` has {counted}:**\n"), at


def _folder_of_code(columns: GraphColumns, name: str) -> str:
    """The folder with declarations, of the product if it has one, that is called as a module or a project."""
    for own in (columns.product, columns.path_of >= 0):
        declaring = _nodes(columns, own, NodeType.TYPE, NodeType.METHOD)
        paths = [columns.graph.paths[at] for at in {*columns.path_of[declaring].tolist()}]
        if folder := _folder(paths, name, is_code=True):
            return folder
    return ""


def _folder(paths: Sequence[str], name: str, *, is_code: bool = False) -> str:
    """The folder that a name means: by its whole path, its last names, a namespace, or its words."""
    folders = {path[:at] for path in paths for at, letter in enumerate(path) if letter == "/"}
    wanted = name.replace("\\", "/").strip("/").casefold()
    letters = _NOT_LETTERS.sub("", wanted)
    tests: tuple[Callable[[str], bool], ...] = (
        lambda folder: folder == wanted,
        lambda folder: not is_code and folder.endswith("/" + wanted),
        lambda folder: (
            folder.replace("/", ".") == wanted or ("." in wanted and folder.endswith("/" + wanted.replace(".", "/")))
        ),
        lambda folder: folder.replace("/", ".").endswith("." + wanted),  # and `Shop.Orders` of the orders project
        lambda folder: _NOT_LETTERS.sub("", folder.rpartition("/")[2]) == letters,
    )
    for fits in tests:
        found = sorted((one for one in folders if fits(one.casefold())), key=from_the_root)
        outer = [one for one in found if one.count("/") == found[0].count("/")]
        if outer:
            return outer[0] if len(outer) == 1 else ""
    return ""


def file_facts(index: LabelIndex, paths: Sequence[str], group: str = "") -> list[GraphFact]:
    """Each file by its name, at the line where its first section begins."""
    first: dict[str, int] = {}
    for payload in sections_of(paths, index.parts.shard(), index.scope()).values():
        path, line = payload["Path"], int(payload.get("StartLine", 1))
        first[path] = min(first.get(path, line), line)
    named = ((path, path.rpartition("/")[2]) for path in paths if path in first)
    return [GraphFact(name, "", "", path, first[path], True, group) for path, name in named]


def _nodes(columns: GraphColumns, own: Mask, *kinds: NodeType) -> list[int]:
    of_kind = np.isin(columns.graph.kinds, [KINDS.index(kind.value) for kind in kinds])
    found: list[int] = np.flatnonzero(own & of_kind).tolist()
    return found


def _parts(columns: GraphColumns, own: Mask, folder: str) -> Iterator[GraphFact]:
    """The folders in it, the largest first, each with what is used the most of it."""
    nodes = _nodes(columns, own, NodeType.TYPE, NodeType.METHOD)
    best, counts = dict[str, int](), Counter[str]()
    for node in columns.by_weight(nodes):
        part, slash, _ = columns.graph.paths[int(columns.path_of[node])][len(folder) + 1 :].partition("/")
        if slash:
            best.setdefault(part, node)
            counts[part] += 1
    shown = [part for part, _ in counts.most_common(_MOST_PARTS)]
    group = part_counted("Its parts", len(counts), _MOST_PARTS)
    for part in shown:
        if (place := columns.place(best[part])) is not None:
            yield GraphFact(part, "has", columns.called(best[part]), place.path, place.line_start, True, group)


def _types(columns: GraphColumns, own: Mask) -> list[GraphFact]:
    """Its types, those first that most other files use; its functions where it has none."""
    for kind, called in ((NodeType.TYPE, "Its types"), (NodeType.METHOD, "Its functions")):
        nodes = _nodes(columns, own, kind)
        ranked = [node for node in columns.by_weight(nodes) if columns.place(node) is not None]
        places = ((node, columns.place(node)) for node in ranked[:_MOST_TYPES])
        group = part_counted(f"{called}, the most used first", len(ranked), _MOST_TYPES)
        facts = [
            GraphFact(columns.called(node), "", "", at.path, at.line_start, True, group)
            for node, at in places
            if at is not None
        ]
        if facts:
            return facts
    return []


def _uses(columns: GraphColumns, own: Mask, group: str, *, out: bool) -> Iterator[GraphFact]:
    """The types elsewhere that it uses, or that use it, each with its first use."""
    source, target = columns.type_of[columns.source], columns.type_of[columns.target]
    begins, ends = own[columns.source], own[columns.target]
    wanted = (begins & ~ends) if out else (ends & ~begins)
    wanted &= (source >= 0) & (target >= 0) & columns.is_seen & ~columns.of(*NO_USE)
    elsewhere = target if out else source
    for node, _ in Counter(elsewhere[wanted].tolist()).most_common(_MOST_USES):
        for one, other, _, path, line in columns.edges(wanted & (elsewhere == node))[:1]:
            yield GraphFact(columns.called(one), "uses", columns.called(other), path, line, True, group)
