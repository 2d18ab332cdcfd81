"""The history plan: which commits changed the files of an index last, and which types no test names.

The index holds which commit gave each file its text, and when. Subjects of commits are read from git where the
repository is on this machine, and told to those alone who may see all of its files: a subject can be about a file that
a reader may not see.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

from rag_assets.answer.graph_facts import Facts, FactsOrAbsent, GraphFact, GraphFacts, facts_at, seen_of
from rag_assets.answer.plans.code_lines import MOST_LISTED, code_of, list_heading
from rag_assets.answer.plans.listing import ListedNode, places_of
from rag_assets.contracts.confidentiality import may_see
from rag_assets.contracts.evidence import short_name
from rag_assets.contracts.graph import NodeType, Relation
from rag_assets.contracts.kinds import SubtypeKind
from rag_assets.contracts.protocol_markers import defused
from rag_assets.graph.csr_graph import IN, KINDS, OUT, Graph, steps_over
from rag_assets.identifiers import singular
from rag_assets.index.keyword.terms import runs
from rag_assets.index.vectors.filters import SearchFilters
from rag_assets.printable import printable
from rag_assets.search.line_references import meant, sections_of
from rag_assets.search.ranking.penalties import is_test_path, non_product_code

if TYPE_CHECKING:
    from rag_assets.search.index import LabelIndex
    from rag_assets.sources.git.git_history import GitHistory

    Payload = Mapping[str, Any]

NO_COMMITS = "the index is of no repository of git; where there is one, this tells it: git log --stat -5"
ONE_COMMIT = (
    "the index knows one commit only; where the clone is shallow, this gets the others: git fetch --unshallow; "
    "this tells what is there: git log -5"
)
_MOST_TOGETHER, _FEWEST_TOGETHER = 12, 2  # one commit may have changed anything with it
_MOST_COMMITS, _MOST_CHANGES, _MOST_FILES = 5, 10, 3
_MOST_SUBJECT_CHARS = 120
_INERT = str.maketrans({"`": "'", "*": "∗"})  # an asterisk would end the heading that a subject is told in
_COMMENT = re.compile(
    r"(?P<text>\"(?:[^\"\\\n]|\\.)*+\"?|'(?:[^'\\\n]|\\.)*+'?)|/\*.*?(?:\*/|\Z)|//[^\n]*"
    r"|^[ \t]*\*(?=[\s*/])[^\n]*|(?:^|(?<=\s))(?:#+|--+)(?=\s)[^\n]*",
    re.DOTALL | re.MULTILINE,
)
"""A comment of most languages, or a `text`, in which none begins."""
_LOOKED_BACK = (7, 60, 400, 10_000)  # days: of a project that rests the last changes are years old
_DIGITS, _DAY = 10, 10  # of a commit, and of `2026-01-31T12:00:00Z`


def last_commits(index: LabelIndex, *, is_only: bool = True) -> Facts:
    """The newest of the commits that gave files the text that they have, each with the first of its files; with the
    label of an index that is not the only one."""
    files: dict[tuple[str, str], dict[str, int]] = {}
    for days in _LOOKED_BACK:
        files = _changed_within(index, days)
        if len(files) >= _MOST_COMMITS:
            break
    commits = sorted(files, reverse=True)[:_MOST_COMMITS]
    subjects = _subjects(index, [commit for _, commit in commits])
    facts = []
    for when, commit in commits:
        paths = sorted(files[when, commit], key=lambda path: (non_product_code(path) is not None, path))
        said = f"{when[:_DAY]}, commit {commit[:_DIGITS]}, {_counted(len(paths))}{subjects.get(commit, '')}"
        said = said if is_only else f"{index.label}: {said}"
        facts += [_file(path, files[when, commit][path], said) for path in paths[:_MOST_FILES]]
    at = facts_at(facts, index)
    manifest = index.manifest
    heading = f"**Indexed is commit {manifest.commit_sha[:_DIGITS]} of {manifest.commit_date[:_DAY]}:**\n"
    return GraphFacts(tuple(at), len(at), heading if is_only else ""), at


def _changed_within(index: LabelIndex, days: int) -> dict[tuple[str, str], dict[str, int]]:
    """(date, commit) → path → first line, of the files that were changed in the days before the indexed commit."""
    begin = datetime.fromisoformat(index.manifest.commit_date) - timedelta(days)
    shard, scope = index.parts.shard(), index.scope().narrowed(SearchFilters(since=begin))
    files: dict[tuple[str, str], dict[str, int]] = {}
    for payload in shard.retrieve(sorted(shard.ids(scope)), scope).values():
        known = files.setdefault((payload["UpdatedUtc"], payload["CommitSha"]), {})
        path, line = payload["Path"], payload.get("StartLine", 1)
        known[path] = min(known.get(path, line), line)
    return files


def _counted(files: int) -> str:
    return "one file" if files == 1 else f"{files:,} files"


def _file(path: str, line: int, group: str) -> GraphFact:
    return GraphFact(path.rpartition("/")[2], "", "", path, line, certain=True, group=group, is_comment=True)


def _history(index: LabelIndex) -> GitHistory | None:
    """What git knows, where the repository is here and the reader may see all of it."""
    if index.view or not all(may_see(index.clearance, level) for level in index.manifest.levels.all):
        return None
    from rag_assets.errors import SourceError
    from rag_assets.search.change_impact import history_of
    from rag_assets.sources.git.git_history import GitHistory

    try:
        return GitHistory(history_of(index).git_dir, index.manifest.commit_sha)
    except SourceError:  # the index says the rest
        return None


def _subjects(index: LabelIndex, commits: Sequence[str]) -> dict[str, str]:
    """Commit → its subject behind a colon."""
    from rag_assets.errors import RagAssetsError
    from rag_assets.sources.secrets import masked

    history = _history(index)
    try:
        read = {} if history is None else history.read(commits)
    except (RagAssetsError, OSError):
        return {}
    subjects = {commit: quoted_subject(masked(one.subject)) for commit, one in read.items()}
    return {commit: f": {subject}" for commit, subject in subjects.items() if subject}


def quoted_subject(subject: str) -> str:
    """A subject as code, not too long."""
    shown = printable(" ".join(subject.split()))
    shown = shown if len(shown) <= _MOST_SUBJECT_CHARS else f"{shown[: _MOST_SUBJECT_CHARS - 1].rstrip()}…"
    return _code(shown) if shown else ""


def _code(text: str) -> str:
    """A text as code: anybody may have written it, and a link or a tag in it must do nothing."""
    return f"`{defused(printable(text).translate(_INERT))}`"


def paths_of(index: LabelIndex, thing: str, declaring: Iterable[str]) -> list[str]:
    """The files that a path means, or that declare a name: a type of it, else a member."""
    shard, scope = index.parts.shard(), index.scope()
    declared = shard.retrieve(list(declaring), scope).values()
    types = [one for one in declared if short_name(str(one.get("Symbol", "")).partition("~")[0]) == thing]
    paths = (one.get("Path", "") for one in types or declared)
    return list(dict.fromkeys([*meant(thing, shard.values("Path", scope)), *paths]))


def last_change(index: LabelIndex, paths: Sequence[str]) -> Facts:
    """The commits that gave some files the text that they have."""
    first = _first_sections(index, paths)
    subjects = _subjects(index, [payload["CommitSha"] for payload in first.values()])
    facts = []
    for path, payload in first.items():
        when, commit = payload.get("UpdatedUtc", ""), payload["CommitSha"]
        said = "was last changed on" if when else "was not changed after"
        day = (when or payload.get("IndexedUtc", ""))[:_DAY]
        group = f"Commit {commit[:_DIGITS]} of {day}{subjects.get(commit, '')}"
        line = payload.get("StartLine", 1)
        facts.append(GraphFact(path.rpartition("/")[2], said, day, path, line, True, group, is_comment=True))
    at = facts_at(facts[:_MOST_COMMITS], index)
    return GraphFacts(tuple(at), len(at)), at


def changed_on(index: LabelIndex) -> dict[str, str]:
    """Path → the day of the commit that gave a file its text; '' where no commit that is known did."""
    shard, scope = index.parts.shard(), index.scope()
    payloads = shard.retrieve(sorted(shard.ids(scope)), scope).values()
    return {payload["Path"]: payload.get("UpdatedUtc", "")[:_DAY] for payload in payloads}


def _first_sections(index: LabelIndex, paths: Sequence[str]) -> dict[str, Payload]:
    """Path → its first section."""
    first: dict[str, Payload] = {}
    payloads = sections_of(paths, index.parts.shard(), index.scope()).values()
    for payload in sorted(payloads, key=lambda one: one.get("StartLine", 0)):
        first.setdefault(payload["Path"], payload)
    return first


def all_changes(index: LabelIndex, paths: Sequence[str]) -> Facts:
    """The newest commits that changed some files, and how many there are; the last one, where git cannot be asked."""
    from rag_assets.errors import RagAssetsError
    from rag_assets.sources.secrets import masked

    history, paths = _history(index), paths[:_MOST_FILES]
    try:
        ids = [] if history is None else history.ids_of(paths)
        read = {} if history is None else history.read(ids[:_MOST_CHANGES])
    except (RagAssetsError, OSError):
        read = {}
    if not read:
        return last_change(index, paths)
    first, facts = _first_sections(index, paths), []
    for commit in ids[:_MOST_CHANGES]:
        day = datetime.fromtimestamp(read[commit].committed, UTC).date().isoformat()
        group = f"{day}, commit {commit[:_DIGITS]} {quoted_subject(masked(read[commit].subject))}".rstrip()
        path = next((path for path in paths if path in read[commit].paths), paths[0])
        facts.append(_file(path, first[path].get("StartLine", 1) if path in first else 1, group))
    at = facts_at(facts, index)
    counted = "One commit" if len(ids) == 1 else f"{len(ids):,} commits"
    listing = _code("git log --follow -- " + shlex.join(paths[:1]))
    more = f"; the newest are below, and all in {listing}" if len(ids) > len(facts) else ""
    return GraphFacts(tuple(at), len(at), f"**{counted} changed {', '.join(map(_code, paths))}{more}:**\n"), at


def changes_by_file(index: LabelIndex) -> tuple[Counter[str], int]:
    """How many of the newest commits changed each file, and how many commits these are; none where git cannot be
    asked."""
    from rag_assets.errors import RagAssetsError

    history = _history(index)
    try:
        read = {} if history is None else history.read(history.ids())
    except (RagAssetsError, OSError):
        read = {}
    return Counter(path for commit in read.values() for path in commit.paths), len(read)


def changed_together(index: LabelIndex, paths: Sequence[str]) -> Facts:
    """The files that the newest commits of some files changed too, those first that most did; none where git cannot be
    asked."""
    from rag_assets.errors import RagAssetsError

    history, paths = _history(index), paths[:_MOST_FILES]
    try:
        ids = [] if history is None else history.ids_of(paths)
        read = {} if history is None else history.read(ids)
    except (RagAssetsError, OSError):
        return GraphFacts(), {}
    known = index.parts.shard().values("Path", index.scope())
    counts = Counter(path for commit in read.values() for path in commit.paths if path in known and path not in paths)
    shared = [(path, count) for path, count in counts.most_common(_MOST_TOGETHER) if count >= _FEWEST_TOGETHER]
    first = _first_sections(index, [path for path, _ in shared])
    facts = [
        GraphFact(path.rpartition("/")[2], "changed in", f"{count:,} of them", path, line, True, is_comment=True)
        for path, count in shared
        if path in first and (line := first[path].get("StartLine", 1))
    ]
    at = facts_at(facts, index)
    return GraphFacts(tuple(at), len(at), f"**Of the {len(read):,} commits that changed {_code(paths[0])}:**\n"), at


def authors_absent(paths: Sequence[str]) -> str:
    """Who wrote some files, and when they were added, which a text that was changed since does not tell."""
    shown = shlex.join(paths[:_MOST_FILES])
    return (
        "an index does not hold who wrote a file, or when it was added; git does: "
        f"git shortlog -sn HEAD -- {shown} and git log --diff-filter=A -- {shown}"
    )


def tested_or_not(index: LabelIndex, graph: Graph, sort: str, *, tested: bool) -> FactsOrAbsent:
    """The types of the product with members that do something, if a `sort` is given those whose names end with it, to
    which an edge of a test leads or which a test names, or the others; and what to say where there are none, or no
    tests."""
    shard, scope = index.parts.shard(), index.tenant  # tests count wherever they are
    tests = [path for path in shard.values("Path", scope) if is_test_path(path)]
    inside = scope.narrowed(SearchFilters(kinds=(SubtypeKind.TEST,)))  # as Rust has them beside the code
    sections = {**sections_of(tests, shard, scope), **shard.retrieve(sorted(shard.ids(inside)), inside)}
    if not sections:
        return GraphFacts(), {}, "no file of tests was found"
    texts = (code_of(payload, index) for payload in sections.values())
    said = {word for text in texts for word in runs(_without_comments(text))}
    types = np.flatnonzero(graph.kinds == KINDS.index(NodeType.TYPE.value))
    reached = set(types[np.unique(graph.reach(types, steps_over(IN, Relation.TESTS))[0].origin)].tolist())
    reach, _ = graph.reach(types, steps_over(OUT, Relation.CONTAINS))
    methods = graph.kinds[reach.node] == KINDS.index(NodeType.METHOD.value)
    doing = set(types[np.unique(reach.origin[methods])].tolist())
    classes = [node for node in types.tolist() if node in doing and _is_class(graph.signature(node))]
    noun = singular(sort or "classes")
    if sort:
        classes = [node for node in classes if graph.names[node].lower().endswith(noun)]
    has_test = {node for node in classes if node in reached or graph.names[node] in said}
    places = _of_product(graph, [node for node in classes if (node in has_test) == tested])
    if not places and not _of_product(graph, classes):
        return GraphFacts(), {}, f"no {noun} with methods was found, of which a test could be known"
    facts = [one.fact for one in sorted(seen_of(places, index), key=lambda one: (one.path, one.line))]
    at = facts_at(facts[:MOST_LISTED], index)
    of, them = ("with" if tested else "without"), ("it" if len(facts) == 1 else "them")
    heading = list_heading(noun, len(facts)).replace(":**", f" {of} a test that names {them}:**")
    absent = f"{'no' if tested else 'each'} {noun} has a test that names it"
    return GraphFacts(tuple(at), len(at), heading), at, absent


def _without_comments(text: str) -> str:
    return _COMMENT.sub(lambda found: found["text"] or " ", text)


def _of_product(graph: Graph, nodes: Sequence[int]) -> list[ListedNode]:
    return [one for one in places_of(graph, np.array(nodes, np.int64)) if non_product_code(one.path) is None]


def _is_class(signature: str) -> bool:
    """Whether a declaration is one of a class, and of none that only others derive from."""
    words = signature.split("{")[0].split()
    return not {"interface", "enum", "trait", "protocol", "@protocol", "Protocol", "abstract"} & set(words)
