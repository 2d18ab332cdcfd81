"""How many of the tests that matter `impact` selects, and how few it selects in all.

    python benchmarks/change_impact.py PATH… [--commits 40] [--until SHA] [--home FOLDER] [--misses 5]

PATH is a git repository (bare or not) with C# tests. The commits are the last ones of the first-parent history that
change both code and tests, and at most 40 C# files. Each is indexed, without the embedding model; one home serves all,
so a commit costs seconds. `impact` is asked about the changes of its code alone: what its tests changed is hidden from
it, and is what it should find.

- "changed": cases that the commit added or edited, and that were not only moved.
- "naming": cases that name a declaration which the commit changed, where at most three have that name.

Of both the share that is selected, over all commits and as the mean of the commits; of all cases of the repository the
share that is selected; and how far one gets with the nearest part of the selection. A suite counts as all its cases.
Commits whose code changes nothing but comments are left out and counted.
"""

from __future__ import annotations

import argparse
import re
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from history import git
from report import table

from rag_assets import Index, open_index
from rag_assets.contracts.graph import NodeType
from rag_assets.graph.csr_graph import Graph
from rag_assets.graph.impact import in_test_file
from rag_assets.graph.lookup import simple_name
from rag_assets.index.layout import index_label
from rag_assets.pipeline.run_stages import run_stages
from rag_assets.search.affected_tests import AffectedTests
from rag_assets.search.change_impact import changed_nodes, history_of, touched_by
from rag_assets.search.touched_nodes import Touched, TouchedNode
from rag_assets.settings import EmbedderSettings, RepositorySettings, Settings
from rag_assets.sources.git.git_diff import changed_files

MOST_FILES = 40
RARE = 3
_LOOKED_AT = 3_000
_WORD = re.compile(r"[A-Za-z_]\w*")
PARTS = (0.05, 0.1, 0.2)
"""Of all cases: how much of the selection one runs."""


@dataclass
class Commit:
    """One commit: all cases, those that it changed, those that name what it changed, and the selection in order, each
    with its certainty and its distance."""

    sha: str
    subject: str
    cases: int
    changed: set[str]
    naming: set[str]
    selected: dict[str, tuple[str, int]]
    seconds: float
    code: list[str] = field(default_factory=list)

    def share(self, wanted: set[str], certainty: tuple[str, ...] = ("resolved", "probable", "name-only")) -> float:
        found = {case for case, (known, _) in self.selected.items() if known in certainty}
        return len(wanted & found) / len(wanted)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repositories", nargs="+", type=Path)
    parser.add_argument("--commits", type=int, default=40, help="how many of each repository")
    parser.add_argument("--until", default="HEAD", help="the last of them")
    parser.add_argument("--home", type=Path, help="keep the index here, so that a second run is fast")
    parser.add_argument("--misses", type=int, default=0, help="commits to show with what was missed")
    arguments = parser.parse_args()
    rows, nearest, kinds = [], [], []
    for repository in arguments.repositories:
        name = repository.resolve().parent.name if repository.name in ("repo", ".git") else repository.name
        with nullcontext(arguments.home) if arguments.home else tempfile.TemporaryDirectory() as home:
            commits, silent = measured(repository, name, Path(home), arguments)
        if not commits:
            print(f"{name}: no commit changes both code and tests", file=sys.stderr)
            continue
        rows.append(summary(name, commits, silent))
        nearest.append(by_part(name, commits))
        kinds += by_certainty(name, commits)
        misses(commits, arguments.misses)
    table(
        (
            *("repository", "commits", "silent", "cases", "changed", "selected of these", "mean of commits", "naming"),
            *("selected of these", "mean of commits", "selection", "median", "slowest, s"),
        ),
        rows,
    )
    heads = [f"{wanted} in the nearest {part:.0%}" for wanted in ("changed", "naming") for part in PARTS]
    table(("repository", *heads), nearest)
    table(("repository", "certainty at least", "changed", "naming", "selection"), kinds)


def measured(repository: Path, name: str, home: Path, arguments: argparse.Namespace) -> tuple[list[Commit], int]:
    """The commits, oldest first, and how many were left out."""
    settings = Settings(home=home, embedder=EmbedderSettings(provider="lexical-only"), workers=1)
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    configured = RepositorySettings(id=slug, location=str(repository.resolve()), ref="HEAD")
    label, found, silent = index_label(slug, "HEAD"), list[Commit](), 0
    for sha, subject in reversed(chosen(repository, arguments.until, arguments.commits)):
        build, _ = run_stages(settings, label, configured, commit=sha)
        generation = build.spec.generation_id
        with open_index(label, home=home) as index:
            if index.manifest.commit_sha != sha:
                raise RuntimeError(f"{label} serves {index.manifest.generation_id}, not {generation}")
            one = asked(index, sha, subject)
        silent += one is None
        if one is not None and one.changed:
            found.append(one)
            print(
                f"{name} {sha[:10]} {one.share(one.changed):.2f} of {len(one.changed)} changed, "
                f"{len(one.selected) / one.cases:.2f} of {one.cases} selected  {subject}",
                file=sys.stderr,
            )
    return found, silent


def chosen(repository: Path, until: str, most: int) -> list[tuple[str, str]]:
    """(id, subject) of commits, newest first."""
    listed = git(
        repository, "log", "--first-parent", "-m", f"--max-count={_LOOKED_AT}", "--name-only",
        "--format=%x00%H%x01%s", until,
    )  # fmt: skip
    found = []
    for entry in listed.split("\0")[1:]:
        head, *paths = entry.splitlines()
        sha, _, subject = head.partition("\1")
        sources = [path for path in paths if path.endswith(".cs")]
        tests = [path for path in sources if in_test_file(path)]
        if tests and len(tests) < len(sources) <= MOST_FILES:
            found.append((sha, subject))
        if len(found) == most:
            break
    return found


def asked(index: Index, sha: str, subject: str) -> Commit | None:
    """What is selected for the changes of the code of one commit; None where they are silent."""
    graph, history = index.graph(), history_of(index)
    suites = AffectedTests(index, graph)
    suites.read([path for number in range(len(graph.paths)) if in_test_file(path := graph.paths[number])])
    cases = {case for suite in suites.suites.values() for case in suite.cases}
    base = git(history.git_dir, "rev-parse", f"{sha}^").strip()
    diff = changed_files(history.git_dir, base, sha)
    tests = [file for file in diff if in_test_file(file.path)]
    code = [file for file in diff if not in_test_file(file.path)]
    changes = changed_nodes(index, graph, history, base, sha, code)
    if not changes.nodes and not changes.gone:
        return None
    started = time.perf_counter()
    touched, _ = touched_by(index, graph, changes, (Touched.TEST,), limit=len(graph))
    seconds = time.perf_counter() - started
    edited = changed_nodes(index, graph, history, base, sha, tests).nodes
    names = [*(graph.keys[node] for node in changes.nodes), *changes.gone]
    return Commit(
        sha,
        subject,
        len(cases),
        {graph.keys[node] for node in edited} & cases,
        naming(index, graph, cases, names),
        expanded(touched, suites),
        seconds,
        names,
    )


def expanded(touched: Iterable[TouchedNode], suites: AffectedTests) -> dict[str, tuple[str, int]]:
    """Case → certainty and distance, in the order of the selection."""
    found: dict[str, tuple[str, int]] = {}
    for node in touched:
        for case in suites.suites[node.key].cases if node.is_suite else (node.key,):
            found.setdefault(case, (node.confidence, node.distance))
    return found


def naming(index: Index, graph: Graph, cases: set[str], keys: Iterable[str]) -> set[str]:
    """The cases whose text has the name of one of the declarations, where it is rare."""
    kinds = (NodeType.METHOD, NodeType.PROPERTY, NodeType.TYPE)
    declared = Counter(simple_name(graph.keys[node]) for node in range(len(graph)) if graph.kind(node) in kinds)
    wanted = {simple_name(key) for key in keys if key.endswith(("|METHOD", "|PROPERTY", "|TYPE"))}
    wanted = {name for name in wanted if declared[name] <= RARE}
    found, texts = set[str](), dict[str, list[str]]()
    for case in cases:
        node = graph.find(case)
        for place in graph.places(node) if node is not None else ():
            if place.path not in texts:
                texts[place.path] = index.resolve(f"rag://{index.label}/{place.path}").split("\n")
            text = "\n".join(texts[place.path][place.line_start - 1 : place.line_end])
            if wanted & set(_WORD.findall(text)):
                found.add(case)
    return found


def pooled(commits: Iterable[Commit], wanted: str, certainty: tuple[str, ...]) -> float:
    sets = [(one, getattr(one, wanted)) for one in commits if getattr(one, wanted)]
    total = sum(len(cases) for _, cases in sets)
    return sum(one.share(cases, certainty) * len(cases) for one, cases in sets) / total if total else 0.0


ALL = ("resolved", "probable", "name-only")


def summary(name: str, commits: list[Commit], silent: int) -> tuple[object, ...]:
    cells: list[object] = [name, len(commits), silent, round(statistics.median(one.cases for one in commits))]
    for wanted in ("changed", "naming"):
        having = [one for one in commits if getattr(one, wanted)]
        cells += [
            sum(len(getattr(one, wanted)) for one in having),
            f"{pooled(commits, wanted, ALL):.3f}",
            f"{statistics.mean(one.share(getattr(one, wanted)) for one in having):.3f}" if having else "",
        ]
    sizes = [len(one.selected) / one.cases for one in commits]
    slowest = max(one.seconds for one in commits)
    return (*cells, f"{np.mean(sizes):.3f}", f"{np.median(sizes):.3f}", f"{slowest:.2f}")


def by_part(name: str, commits: list[Commit]) -> tuple[object, ...]:
    cells = []
    for wanted in ("changed", "naming"):
        for part in PARTS:
            having = [one for one in commits if getattr(one, wanted)]
            first = [set([*one.selected][: max(1, int(one.cases * part))]) for one in having]
            shares = [
                len(getattr(one, wanted) & found) / len(getattr(one, wanted))
                for one, found in zip(having, first, strict=True)
            ]
            cells.append(f"{statistics.mean(shares):.3f}" if shares else "")
    return (name, *cells)


def by_certainty(name: str, commits: list[Commit]) -> Iterable[tuple[object, ...]]:
    """What each certainty adds, beside what a search for the names of the changed declarations selects."""
    named = sum(len(one.changed & one.naming) for one in commits) / sum(len(one.changed) for one in commits)
    size = statistics.mean(len(one.naming) / one.cases for one in commits)
    yield (name, "its name alone", f"{named:.3f}", "1", f"{size:.3f}")
    for count in range(1, len(ALL) + 1):
        known = ALL[:count]
        sizes = [sum(found in known for found, _ in one.selected.values()) / one.cases for one in commits]
        shares = (f"{pooled(commits, wanted, known):.3f}" for wanted in ("changed", "naming"))
        yield (name, known[-1], *shares, f"{statistics.mean(sizes):.3f}")


def misses(commits: list[Commit], most: int) -> None:
    """What was missed by the worst commits, on stderr."""
    for one in sorted(commits, key=lambda one: -len(one.changed - one.selected.keys()))[:most]:
        lost = sorted(one.changed - one.selected.keys())
        if lost:
            print(f"\n{one.sha[:10]} {one.subject}: {len(lost)} of {len(one.changed)} missed", file=sys.stderr)
            print("  changed " + "\n          ".join(one.code[:8]), file=sys.stderr)
            print("  missed  " + "\n          ".join(lost[:8]), file=sys.stderr)


if __name__ == "__main__":
    main()
