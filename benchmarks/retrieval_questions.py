"""The question sets of benchmarks/retrieval.py: what is asked, what answers it, and of which snapshot.

A folder of question sets holds `history/{commit,doc,ident}.jsonl` with `history/repos.json`, and `annotated/*.json`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

ANNOTATED = "annotated"
ANNOTATED_OTHERS = "annotated, other languages"
HISTORY_SETS = ("commit", "doc", "ident")


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """One revision of a repository. `root` is the folder that is indexed, empty for all of it; `blanked` are the line
    spans (1-based, inclusive) per path that give a question away and are emptied before."""

    repository: str
    revision: str
    root: str = ""
    blanked: Mapping[str, tuple[tuple[int, int], ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """`relevant` are paths. `group` divides a set: leaky or not, the category of an annotated question, the form of an
    identifier."""

    id: str
    set: str
    repository: str
    text: str
    relevant: frozenset[str]
    group: str


ANNOTATED_SNAPSHOTS = {
    "dapper": Snapshot(
        repository="DapperLib/Dapper", revision="288730e69b05c32cac898d9b55ebea219ea8a2d1", root="Dapper"
    ),
    "newtonsoft-json": Snapshot(
        repository="JamesNK/Newtonsoft.Json",
        revision="4f73e74372445108d2c1bda37b36e6f5e43402e0",
        root="Src/Newtonsoft.Json",
    ),
    "cobra": Snapshot(repository="spf13/cobra", revision="61968e893eee2f27696c2fbc8e34fa5c4afaf7c4"),
    "fastapi": Snapshot(
        repository="fastapi/fastapi", revision="c3c9dd6b1a08bcda766e7b43eafe72c4c5e9e193", root="fastapi"
    ),
    "redux": Snapshot(repository="reduxjs/redux", revision="aaa04ae8402ba2caba55a9c75bfa8d3df6c78f8c", root="src"),
    "gson": Snapshot(repository="google/gson", revision="f4d371d29c04066dbe7fdb31f642831f9c7f40cd", root="gson"),
    "zod": Snapshot(
        repository="colinhacks/zod", revision="c7805073fef5b6b8857307c3d4b3597a70613bc2", root="packages/zod/src"
    ),
}
"""The files of the annotated sets do not say what they were written for. Sets that are not here are not asked."""
_CSHARP_SETS = ("dapper", "newtonsoft-json")


def load_snapshots(folder: Path) -> list[Snapshot]:
    """The snapshots that questions are about, by name of the repository."""
    found = [
        Snapshot(
            repository=row["repo"],
            revision=row["snapshot_rev"],
            blanked={path: tuple((first, last) for first, last in spans) for path, spans in row["stripped"].items()},
        )
        for row in json.loads((folder / "history" / "repos.json").read_text("utf-8"))
    ]
    found += [ANNOTATED_SNAPSHOTS[path.stem] for path in _annotated_sets(folder)]
    return sorted(found, key=lambda snapshot: snapshot.repository)


def load_questions(folder: Path) -> list[Question]:
    """All questions of a folder, in the order of its files."""
    made = [question for name in HISTORY_SETS for question in _history(folder / "history" / f"{name}.jsonl", name)]
    for path in _annotated_sets(folder):
        made += _annotated(path)
    return made


def _annotated_sets(folder: Path) -> list[Path]:
    return [path for path in sorted((folder / ANNOTATED).glob("*.json")) if path.stem in ANNOTATED_SNAPSHOTS]


def _history(path: Path, name: str) -> Iterator[Question]:
    for line in path.read_text("utf-8").splitlines():
        if not line.strip():
            continue
        row = json.loads(line)
        yield Question(
            id=row["id"],
            set=name,
            repository=row["repo"],
            text=row["query"],
            relevant=frozenset(row["relevant"]),
            group=_form(row["id"]) if name == "ident" else ("leaky" if row["leaky"] else "non-leaky"),
        )


def _form(identifier: str) -> str:
    """`…#i-type-as-is-EfRepository` → `type, as is`."""
    what, form = identifier.partition("#i-")[2].split("-", 2)[:2]
    return f"{what}, {'as is' if form == 'as' else form}"


def _annotated(path: Path) -> Iterator[Question]:
    """Judged answers: `secondary` ones count as much as the others, as in the published numbers."""
    snapshot = ANNOTATED_SNAPSHOTS[path.stem]
    for number, row in enumerate(json.loads(path.read_text("utf-8")), 1):
        yield Question(
            id=f"{snapshot.repository}#{number}",
            set=ANNOTATED if path.stem in _CSHARP_SETS else ANNOTATED_OTHERS,
            repository=snapshot.repository,
            text=row["query"],
            relevant=frozenset(map(_path, (*row["relevant"], *row["secondary"]))),
            group=row["category"],
        )


def _path(answer: str | Mapping[str, str]) -> str:
    """An answer is a path, or the lines of one."""
    return answer if isinstance(answer, str) else answer["path"]
