"""What the changes between two commits touch: routes, tables, documents, and the tests worth running.

The graph is that of the indexed commit. Lines that came are looked up in it, lines that went in the declarations of
the old text. A declaration that is gone has no node any more: who calls its name today is affected by name only.
"""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from rag_assets.contracts.graph import Confidence, GraphEdge, Relation
from rag_assets.contracts.source_file import SkippedFile
from rag_assets.errors import MissingCommit, SourceError, WrongQuestion
from rag_assets.graph.changed_nodes import (
    DeclaredSpan,
    declared_spans,
    is_called_by_name,
    keys_at,
    matters,
    spans_of,
    successors,
)
from rag_assets.graph.csr_graph import Graph
from rag_assets.graph.impact import DEFAULT_DEPTH, Effect, ImpactGroup, Reached, groups_of, impact
from rag_assets.graph.lookup import simple_name
from rag_assets.index.parquet_parts import by_bucket, read_part
from rag_assets.languages.detection import SourceType, detect_language, source_type
from rag_assets.search.affected_tests import AffectedTests
from rag_assets.search.graph_context import graph_of
from rag_assets.search.index import LabelIndex
from rag_assets.search.overlay import Overlay
from rag_assets.search.source_lines import configured_repository
from rag_assets.search.tests_by_name import tests_by_name
from rag_assets.search.touched_nodes import (
    DEFAULT_LISTED,
    TOUCHED,
    ChangeImpact,
    EffectStep,
    Touched,
    TouchedNode,
    TouchingFile,
    touched_kinds,
)
from rag_assets.segmentation import segment_file
from rag_assets.sources.file_version import files_of_snapshot
from rag_assets.sources.git.git_diff import ChangedFile, ChangedLine, FileChange, changed_files
from rag_assets.sources.git.git_history import merge_base
from rag_assets.sources.git.git_refs import commit_named
from rag_assets.sources.ignore import ignore_policy
from rag_assets.sources.open import LocalHistory, local_history
from rag_assets.sources.secrets import masked_paths

_DIGITS = 10


@dataclass
class ChangedNodes:
    """The nodes that changes begin at, each with its first changed line, and which of them are new; the keys that are
    gone; the files."""

    nodes: dict[int, int] = field(default_factory=dict)
    new: set[int] = field(default_factory=set)
    gone: list[str] = field(default_factory=list)
    files: list[TouchingFile] = field(default_factory=list)


def change_impact(
    index: LabelIndex,
    since: str,
    *,
    until: str = "",
    only: Collection[Touched | str] = (),
    depth: int = DEFAULT_DEPTH,
    limit: int = DEFAULT_LISTED,
) -> ChangeImpact:
    """What the changes after `since` touch (a branch, a tag, a commit, `main~3`), up to `until`, by default the indexed
    commit, or the work tree that lies over the index.

    `only` names what is wanted (`Touched`), by default all but code; `limit` bounds the list of each. Where `since` has
    commits that `until` does not, the changes are those since both were one. Never uses the network. Raises
    WrongQuestion for an unknown kind or bound; GraphError; SourceError, MissingRef or MissingCommit where the commits
    cannot be compared.
    """
    wanted = touched_kinds(only)
    if limit < 1 or depth < 1:
        raise WrongQuestion("limit and depth are 1 or more")
    graph, history = graph_of(index), history_of(index)
    indexed = index.manifest.commit_sha
    end = _commit(history, index, until) if until else _indexed(history, index)
    start = _commit(history, index, since)
    base, notes = _base(history, index, start, end, since, until)
    diff = changed_files(history.git_dir, base, end, history.subdirectory)
    overlay = None if until else index.overlay
    if overlay is not None:
        diff = _with_work_tree(diff, overlay, _texts(index, history, base, overlay.masked))
        notes.append(f"{overlay.counted} as in the work tree now")
    elif start == end:
        notes.append(
            f"{since} is commit {end[:_DIGITS]} itself; name an earlier one, such as {since}~1; "
            "what is not committed is no change yet"
        )
    changes = changed_nodes(index, graph, history, base, end, diff, overlay)
    touched, totals = touched_by(index, graph, changes, wanted, depth=depth, limit=limit)
    if end != indexed:
        notes.append(f"the graph is that of commit {indexed[:_DIGITS]}; what {end[:_DIGITS]} adds is not in it")
    return ChangeImpact(
        index.label,
        index.manifest.generation_id,
        since,
        base,
        end,
        indexed,
        tuple(changes.files),
        tuple(touched),
        totals,
        tuple(notes),
    )


def history_of(index: LabelIndex) -> LocalHistory:
    """The repository of an index on this machine. Raises SourceError."""
    home, _, repository = configured_repository(index)
    try:
        return local_history(repository.location, home.mirrors)
    except SourceError as error:
        raise SourceError(
            f"{index.label}: changes are those between two commits of its repository, which is not at hand: {error}; "
            f"clone it, and index it from there: rag-assets index PATH --id {repository.id}"
        ) from error


def _commit(history: LocalHistory, index: LabelIndex, name: str) -> str:
    try:
        return commit_named(history.git_dir, history.where, name)
    except MissingCommit as error:
        fetch = f"; fetch it, or index again: rag-assets index {shlex.quote(index.label)}"
        raise MissingCommit(f"{error}{fetch}") from error


def _indexed(history: LocalHistory, index: LabelIndex) -> str:
    commit = index.manifest.commit_sha
    try:
        return commit_named(history.git_dir, history.where, commit)
    except SourceError as error:
        raise MissingCommit(
            f"{history.where} does not have the indexed commit {commit[:_DIGITS]} any more; "
            f"run: rag-assets index {shlex.quote(index.label)}"
        ) from error


def _base(
    history: LocalHistory, index: LabelIndex, start: str, end: str, since: str, until: str
) -> tuple[str, list[str]]:
    """The commit to compare with, and what to say of it."""
    base = merge_base(history.git_dir, start, end)
    if base == end and start != end:
        if until:
            raise SourceError(f"{until} is older than {since}, so nothing has changed since; exchange the two")
        raise SourceError(
            f"the index of {index.label} is older than {since}: it has commit {end[:_DIGITS]}, which is part of "
            f"{since} ({start[:_DIGITS]}); run: rag-assets index {shlex.quote(index.label)}"
        )
    if not base:
        return start, [f"{since} and {end[:_DIGITS]} have no common commit; compared as they are"]
    if base != start:
        return base, [f"{since} has gone on since {base[:_DIGITS]}; the changes are those after that commit"]
    return base, []


def _with_work_tree(diff: Sequence[ChangedFile], overlay: Overlay, before: Mapping[str, str]) -> list[ChangedFile]:
    """The changes up to what a work tree has now, of files whose text was the one `before`."""
    found = [file for file in diff if file.path not in overlay.files and file.path not in overlay.gone]
    for path, now in overlay.files.items():
        removed, added = _changed_lines(before.get(path, ""), now.text)
        if removed or added:
            is_new = path not in before
            change = FileChange.ADDED if is_new else FileChange.MODIFIED
            found.append(ChangedFile(change, path, "" if is_new else path, removed=removed, added=added))
    for path in overlay.gone & before.keys():
        removed, _ = _changed_lines(before[path], "")
        found.append(ChangedFile(FileChange.DELETED, path, path, removed=removed))
    return sorted(found, key=lambda file: file.path)


def _changed_lines(before: str, now: str) -> tuple[tuple[ChangedLine, ...], tuple[ChangedLine, ...]]:
    """The lines that went, and those that came."""
    old, new = before.splitlines(), now.splitlines()
    went, came = [], []
    for tag, start, end, begin, stop in difflib.SequenceMatcher(None, old, new).get_opcodes():
        if tag != "equal":
            went += [ChangedLine(number + 1, old[number].encode()) for number in range(start, end)]
            came += [ChangedLine(number + 1, new[number].encode()) for number in range(begin, stop)]
    return tuple(went), tuple(came)


def changed_nodes(
    index: LabelIndex,
    graph: Graph,
    history: LocalHistory,
    base: str,
    end: str,
    diff: Iterable[ChangedFile],
    overlay: Overlay | None = None,
) -> ChangedNodes:
    """The nodes that the changed lines belong to, as far as the reader may see the files."""
    readable = [seen for file in diff if (seen := _as_seen(index, file)) is not None]
    rows = _rows(index, {file.path for file in readable})
    is_indexed = {
        file.path: (row := rows.get(file.path)) is not None and row["blob_id"] == file.blob_id for file in readable
    }
    touched = [file for file in readable if file.removed or file.added or file.is_binary]
    old = _declared(index, history, base, {file.old_path for file in touched if _has_declarations(file.old_path)})
    known = {span.key for spans in old.values() for span in spans}
    newer = {f.path for f in readable if f.added and not is_indexed[f.path] and _has_declarations(f.path)}
    now = {path: overlay.files[path].segments for path in newer & overlay.files.keys()} if overlay else {}
    declared = spans_of(graph, [path for path, same in is_indexed.items() if same])
    declared |= _declared(index, history, end, newer - now.keys())
    declared |= {path: list(declared_spans(segments, path)) for path, segments in now.items()}
    found = ChangedNodes()
    for file, shown in zip(readable, masked_paths([file.path for file in readable]), strict=True):
        row = rows.get(file.path)
        language = detect_language(file.path)
        if file.change is FileChange.DELETED:
            outside = ""
        elif row is None:
            outside = "not in the indexed commit" if shown == file.path else "its name holds a credential"
        else:
            outside = "" if row["outcome"] == "indexed" else f"skipped as {row['reason']}"
        keys: dict[str, int] = {}
        if file.is_binary and file.path in declared:
            keys = {span.key: span.line_start for span in declared[file.path]}
        elif not outside or file.path in declared:
            came = [line.number for line in file.added if matters(line.content, language)]
            keys = keys_at(declared.get(file.path, ()), came, file.path)
        before = old.get(file.old_path, [])
        went = [line.number for line in file.removed if matters(line.content, language)]
        lost = keys_at(before, went, file.old_path) if before or not keys else {}
        if file.is_binary:
            lost = {span.key: span.line_start for span in before}
        gone = []
        for key, line in lost.items():
            if graph.find(key) is not None:
                keys.setdefault(key, line)
            elif file.old_path in old:
                gone.append(key)
        numbers = {node: line for key, line in keys.items() if (node := graph.find(key)) is not None}
        for node, line in numbers.items():
            found.nodes.setdefault(node, line)
        found.new |= {node for node in numbers if graph.keys[node] not in known and is_called_by_name(graph, node)}
        found.gone += gone
        shown_old = masked_paths([file.old_path])[0] if file.old_path else ""
        declarations = tuple(graph.keys[node] for node in numbers)
        found.files.append(TouchingFile(shown, shown_old, file.change.value, declarations, tuple(gone), outside))
    return found


def _as_seen(index: LabelIndex, file: ChangedFile) -> ChangedFile | None:
    """A changed file as a reader sees it: one that came from a hidden place is new as a whole, one that went to such a
    place is deleted as a whole."""
    sees_new, sees_old = index.may_read(file.path), not file.old_path or index.may_read(file.old_path)
    if sees_new and sees_old:
        return file
    if file.change is not FileChange.RENAMED or not (sees_new or sees_old):
        return None
    if sees_new:
        return ChangedFile(FileChange.ADDED, file.path, "", file.blob_id, is_binary=True)
    return ChangedFile(FileChange.DELETED, file.old_path, file.old_path, is_binary=True)


def _has_declarations(path: str) -> bool:
    """Whether the declarations of any version of a file have the keys of the graph."""
    return source_type(detect_language(path)) in (SourceType.CODE, SourceType.SQL, SourceType.DOCUMENT)


def _rows(index: LabelIndex, paths: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Path → what the index noted of a file."""
    found: dict[str, dict[str, Any]] = {}
    columns = ["path", "outcome", "reason", "blob_id"]
    for bucket, wanted in by_bucket(paths, index.manifest.bucket_count).items():
        table = read_part(index.generation.directory, "discovered_files", bucket, columns)
        found |= {row["path"]: row for row in table.to_pylist() if row["path"] in wanted}
    return found


def _declared(
    index: LabelIndex, history: LocalHistory, commit: str, paths: Collection[str]
) -> dict[str, list[DeclaredSpan]]:
    """Path → what the text of a commit declares, of files that an index would have."""
    texts = _texts(index, history, commit, paths)
    return {
        path: list(declared_spans(segment_file(text, path, detect_language(path)).segments, path))
        for path, text in texts.items()
    }


def _texts(index: LabelIndex, history: LocalHistory, commit: str, paths: Collection[str]) -> dict[str, str]:
    """Path → the text of a commit, of files that an index would have."""
    if not paths:
        return {}
    _, settings, repository = configured_repository(index)
    policy = ignore_policy(settings, repository)
    with history.at(commit) as snapshot:
        found = files_of_snapshot(snapshot, paths, policy, detect_language)
    return {path: file.text for path, file in found.items() if not isinstance(file, SkippedFile)}


def touched_by(
    index: LabelIndex,
    graph: Graph,
    changes: ChangedNodes,
    wanted: Collection[Touched],
    *,
    depth: int = DEFAULT_DEPTH,
    limit: int = DEFAULT_LISTED,
) -> tuple[list[TouchedNode], dict[str, int]]:
    """What changes touch, the nearest and surest first in each kind, and how much there is of it."""
    seeds = list(changes.nodes)
    found = [_changed(graph, node, what) for node, what in zip(seeds, groups_of(graph, seeds), strict=True)]
    if seeds:
        reached = impact(
            graph, seeds, effect=Effect.EXERCISED, depth=depth, limit=len(graph), called_by_name=changes.new
        )
        found += _reached(reached.reached, wanted)
    for gone in changes.gone:
        heirs = [node for node in successors(graph, gone) if node not in changes.nodes]
        if heirs:
            by_name = _reached(impact(graph, heirs, depth=depth, limit=len(graph)).reached, wanted)
            found += [replace(node, because=gone, confidence=Confidence.NAME_ONLY.value) for node in by_name]
    if Touched.TEST in wanted:
        found += _by_name(index, graph, [*(graph.keys[node] for node in seeds), *changes.gone])
    nearest: dict[str, TouchedNode] = {}
    for node in sorted(found, key=_order):
        nearest.setdefault(node.key, node)
    listed = [node for node in nearest.values() if node.what is not Touched.TEST]
    if Touched.TEST in wanted:
        listed += _tests(index, graph, [node for node in nearest.values() if node.what is Touched.TEST])
    totals = {what.value: sum(node.what is what for node in listed) for what in wanted}
    return [node for what in wanted for node in [n for n in listed if n.what is what][:limit]], totals


def _order(node: TouchedNode) -> tuple[int, int, str]:
    return node.distance, _DOUBT[node.confidence], node.key


_DOUBT = {confidence.value: number for number, confidence in enumerate(Confidence)}


def _changed(graph: Graph, node: int, group: ImpactGroup) -> TouchedNode:
    """A node that changed itself."""
    place = next(iter(graph.places(node)), None)
    return TouchedNode(
        graph.keys[node],
        graph.kind(node).value,
        graph.names[node],
        TOUCHED[group],
        0,
        Confidence.RESOLVED.value,
        place.path if place else "",
        place.line_start if place else 0,
        graph.keys[node],
    )


def _reached(reached: Sequence[Reached], wanted: Collection[Touched]) -> list[TouchedNode]:
    by_key = {node.key: node for node in reached}
    return [_touched(node, by_key) for node in reached if TOUCHED[node.group] in wanted]


def _touched(node: Reached, by_key: Mapping[str, Reached]) -> TouchedNode:
    steps: list[EffectStep] = []
    at, via = node.key, node.via
    while True:
        steps.append(_step(via, at))
        at = via.source if via.target == at else via.target
        before = by_key.get(at)
        if before is None:
            break
        via = before.via
    place = node.places[0] if node.places else None
    return TouchedNode(
        node.key,
        node.kind.value,
        node.name,
        TOUCHED[node.group],
        node.distance,
        node.confidence.value,
        place.path if place else "",
        place.line_start if place else 0,
        at,
        tuple(reversed(steps)),
    )


def _step(edge: GraphEdge, end: str) -> EffectStep:
    relation, confidence = edge.relation.value, edge.confidence.value
    return EffectStep(edge.source, relation, edge.target, edge.path, edge.line, confidence, edge.target == end)


def _by_name(index: LabelIndex, graph: Graph, keys: Sequence[str]) -> Iterator[TouchedNode]:
    """Tests that name what changed, in languages whose calls are not in the graph."""
    doubt, relation = Confidence.NAME_ONLY.value, Relation.REFERENCES.value
    for named in tests_by_name(index, graph, keys):
        key = graph.keys[named.node]
        step = EffectStep(key, relation, named.key, named.path, named.line, doubt, forward=False)
        yield TouchedNode(
            key,
            graph.kind(named.node).value,
            graph.names[named.node],
            Touched.TEST,
            1,
            doubt,
            named.path,
            named.line,
            named.key,
            (step,),
        )


def _tests(index: LabelIndex, graph: Graph, nodes: Sequence[TouchedNode]) -> list[TouchedNode]:
    """The cases and suites behind nodes of tests, each by the nearest of them."""
    suites = AffectedTests(index, graph)
    suites.read({node.path for node in nodes if node.path})
    found: dict[str, TouchedNode] = {}
    within: dict[str, str] = {}
    for node in nodes:
        number = graph.find(node.key)
        assert number is not None  # it is of this graph
        for unit in suites.units(number):
            if unit.key in found:
                continue
            within[unit.key] = unit.suite
            at = graph.find(unit.key)
            place = next(iter(graph.places(at)), None) if at is not None else None
            found[unit.key] = replace(
                node,
                key=unit.key,
                kind=graph.kind(at).value if at is not None else node.kind,
                name=simple_name(unit.key),
                path=place.path if place else node.path,
                line=place.line_start if place else node.line,
                tests=unit.runners,
                is_suite=unit.key == unit.suite,
            )
    return [node for node in found.values() if not _is_covered(node, found.get(within[node.key]))]


def _is_covered(case: TouchedNode, suite: TouchedNode | None) -> bool:
    """Whether a case is run with its suite, for a reason that is as near and as sure."""
    return suite is not None and suite is not case and _order(suite)[:2] <= _order(case)[:2]
