"""Is a dirty work tree over an index found as an index of the edited tree would find it, and how fast is it laid over?

    python benchmarks/overlay.py PATH … [--edits 100] [--per-round 10] [--seed 1] [--local]

Each PATH is a git repository (bare or not); it is cloned, and never changed. In each round some files of the clone are
edited at random: statements and methods come and go, names change, files are added, moved, deleted, emptied, get a
secret or a byte that makes them binary. Questions of words from the old and the new text are asked by keywords, within
the edited files: of the index of the first commit with the work tree over it, and of an index that is built from the
edited tree as a commit. Sections are compared field by field, answers by the sections of their hits, the first of them
and the order of all. At last 50 files are edited at once, and the processor time is taken until they can be searched,
in a process that has loaded its modules. Exit code 1 where a section differs or it takes more than a second.
"""

from __future__ import annotations

import argparse
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from history import git
from report import table

from rag_assets import open_index
from rag_assets.index.vectors.filters import SearchFilters
from rag_assets.search import Hit
from rag_assets.search.index import LabelIndex
from rag_assets_tests.section_payloads import section_payloads

NAME, BRANCH, EDITED = "measured", "before", "edited"
AT_ONCE = 50
SECONDS = 1.0
QUESTIONS_PER_FILE = 5
NEAR_TIE = 0.97
"""Average lengths of fields, which are rounded to 9 %, may be others in an index of the edited tree."""
HITS = 500
"""More than the sections of a round: what is found is compared as a whole, in its order."""
_WORD = re.compile(r"[A-Za-z_]{4,}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repositories", type=Path, nargs="+")
    parser.add_argument("--edits", type=int, default=100, help="of each repository")
    parser.add_argument("--per-round", type=int, default=10, help="edits between two builds")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--local", action="store_true", help="with the embedding model")
    arguments = parser.parse_args()
    found = []
    for path in arguments.repositories:
        with tempfile.TemporaryDirectory(prefix="rag-assets-overlay-") as folder:
            found.append(Measured(path, Path(folder), arguments).run())
    columns = (
        "repository",
        "files",
        "edits",
        "sections",
        "equal",
        "answers",
        "same hits",
        "same first",
        "same order",
        f"{AT_ONCE} files",
    )
    table(columns, [one.row() for one in found])
    for one in found:
        for difference in one.differences[:10]:
            print(f"{one.name}: {difference}")
    raise SystemExit(any(one.sections != one.equal_sections or one.seconds > SECONDS for one in found))


@dataclass
class Result:
    """What was compared of one repository."""

    name: str
    files: int = 0
    edits: int = 0
    sections: int = 0
    equal_sections: int = 0
    answers: int = 0
    equal_answers: int = 0
    equal_tops: int = 0
    equal_orders: int = 0
    seconds: float = 0.0
    differences: list[str] = field(default_factory=list)

    def row(self) -> tuple[str, ...]:
        return (
            self.name,
            str(self.files),
            str(self.edits),
            str(self.sections),
            str(self.equal_sections),
            str(self.answers),
            str(self.equal_answers),
            str(self.equal_tops),
            str(self.equal_orders),
            f"{self.seconds:.2f} s",
        )


class Measured:
    def __init__(self, repository: Path, folder: Path, arguments: argparse.Namespace) -> None:
        self.random = random.Random(arguments.seed)
        self.arguments = arguments
        self.home, self.clone = folder / "home", folder / NAME
        self.result = Result(repository.parent.name if repository.name == "repo" else repository.name)
        subprocess.run(["git", "clone", "--quiet", str(repository), str(self.clone)], check=True)
        for key, value in (("user.name", "Measured"), ("user.email", "m@example.invalid"), ("gc.auto", "0")):
            git(self.clone, "config", key, value)
        (self.clone / ".git" / "info" / "attributes").write_text("* -text\n")  # no line end changes when it is added
        git(self.clone, "checkout", "--quiet", "-b", BRANCH)

    def run(self) -> Result:
        self.index(BRANCH)
        with open_index(f"{NAME}@{BRANCH}", home=self.home) as index:
            paths = sorted(index.parts.shard().values("Path", index.scope()))
            self.result.files = len(paths)
            while self.result.edits < self.arguments.edits:
                self.round(index, paths)
            self.at_once(index, paths)
        return self.result

    def index(self, ref: str) -> None:
        command = [sys.executable, "-m", "rag_assets", "--home", str(self.home), "index", str(self.clone), "--ref", ref]
        model = [] if self.arguments.local else ["--lexical-only"]
        done = subprocess.run([*command, "--id", NAME, *model], capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(done.stdout + done.stderr)

    def round(self, index: LabelIndex, paths: list[str]) -> None:
        before, edited, kinds = {}, [], Counter[str]()
        for path in self.random.sample(paths, min(self.arguments.per_round, len(paths))):
            kind, touched = self.edit(path)
            kinds[kind] += 1
            before[path] = touched.pop("", "")
            edited += touched if kind == "add" else [path, *touched]
            self.result.edits += 1
        over = index.with_work_tree(self.clone)
        git(self.clone, "checkout", "--quiet", "-B", EDITED)
        git(self.clone, "add", "--all")
        git(self.clone, "commit", "--quiet", "--allow-empty", "-m", ".")
        self.index(EDITED)
        with open_index(f"{NAME}@{EDITED}", home=self.home) as built:
            self.compare_sections(over, built, edited)
            self.compare_answers(over, built, edited, before)
        git(self.clone, "checkout", "--quiet", "--force", BRANCH)
        git(self.clone, "clean", "--quiet", "-fd")

    def compare_sections(self, over: LabelIndex, built: LabelIndex, edited: list[str]) -> None:
        mine, theirs = (section_payloads(index, edited, without=("EmbeddingModel",)) for index in (over, built))
        for key in sorted(mine.keys() | theirs.keys()):
            self.result.sections += 1
            one, other = mine.get(key), theirs.get(key)
            if one == other:
                self.result.equal_sections += 1
            elif one is None or other is None:
                self.result.differences.append(f"{key}: only in the {'index' if one is None else 'work tree'}")
            else:
                fields = {
                    name: (one.get(name), other.get(name)) for name in one | other if one.get(name) != other.get(name)
                }
                self.result.differences.append(f"{key}: {fields}")

    def compare_answers(self, over: LabelIndex, built: LabelIndex, edited: list[str], before: dict[str, str]) -> None:
        filters = SearchFilters(paths=tuple(dict.fromkeys(edited)))
        for path, text in before.items():
            now = self.clone / path
            words = _WORD.findall(text + (now.read_text(errors="replace") if now.is_file() else ""))
            for _ in range(QUESTIONS_PER_FILE if words else 0):
                asked = " ".join(self.random.choices(words, k=self.random.randint(1, 5)))
                found = [
                    index.search(asked, mode="bm25", filters=filters, limit=HITS, literal=True).hits
                    for index in (over, built)
                ]
                mine, theirs = ({told(hit): hit.score for hit in hits} for hits in found)
                self.result.answers += 1
                self.result.equal_answers += mine.keys() == theirs.keys()
                self.result.equal_tops += list(mine)[:1] == list(theirs)[:1] or is_same_order(mine, list(theirs)[:1])
                same_order = mine.keys() == theirs.keys() and is_same_order(mine, list(theirs))
                self.result.equal_orders += same_order
                if not same_order:
                    said = difference_of(list(mine), list(theirs))
                    self.result.differences.append(f"{asked!r}: {said}")

    def at_once(self, index: LabelIndex, paths: list[str]) -> None:
        index.with_work_tree(self.clone)
        for path in self.random.sample(paths, min(AT_ONCE, len(paths))):
            file = self.clone / path
            file.write_bytes(file.read_bytes() + b"\n// one more line\n")
        started = time.process_time()  # others work on the machine
        with open_index(index.label, home=self.home) as fresh:
            fresh.with_work_tree(self.clone).search("one more line", mode="bm25")
        self.result.seconds = time.process_time() - started

    def edit(self, path: str) -> tuple[str, dict[str, str]]:
        """One random edit: its kind, and what it touches beside the file, with the text before under ''."""
        file = self.clone / path
        text = file.read_bytes().decode("utf-8", "surrogateescape")
        lines = text.splitlines(keepends=True) or ["\n"]
        kind = self.random.choice(
            ("insert", "insert", "insert", "remove", "rename", "rename", "swap", "append", "delete", "add", "move")
            + (("binary", "secret", "empty") if self.random.random() < 0.3 else ())
        )
        at = self.random.randrange(len(lines))
        touched = {"": text}
        match kind:
            case "insert":
                other = self.random.choice(lines)
                lines[at:at] = [other, f"{self._name()} {self._name()}\n"]
            case "remove":
                del lines[at : at + self.random.randint(1, 20)]
            case "rename":
                names = _WORD.findall(text) or ["none"]
                old, new = self.random.choice(names), self._name()
                lines = [text.replace(old, new)]
            case "swap":
                lines = lines[at:] + lines[:at]
            case "append":
                lines += [f"\n{self._name()} {self._name()} {self._name()}\n"]
            case "binary":
                lines = ["\0\1\2", *lines]
            case "secret":
                lines[at:at] = [f'password = "{self._name()}9x!Kq{self._name()}"\n']
            case "empty":
                lines = ["\n"]
            case "add" | "move":
                other_path = f"{Path(path).parent}/{self._name()}{Path(path).suffix}".removeprefix("./")
                touched[other_path] = ""
                shutil.copy(file, self.clone / other_path)
        if kind in ("delete", "move"):
            file.unlink()
        elif kind != "add":
            file.write_bytes("".join(lines).encode("utf-8", "surrogateescape"))
        return kind, touched

    def _name(self) -> str:
        syllables = ("ba", "ke", "li", "mo", "nu", "ra", "se", "ti", "vo", "zu")
        return "".join(self.random.choices(syllables, k=3)).capitalize()


def told(hit: Hit) -> tuple[Any, ...]:
    """The section of a hit."""
    return (
        hit.path,
        hit.start_line,
        hit.end_line,
        hit.symbol,
        hit.kind,
        hit.section_key,
    )


def is_same_order(scores: dict[tuple[Any, ...], float], order: list[tuple[Any, ...]]) -> bool:
    """Whether hits that have these scores come in an order, near ties aside. Of equal scores ids decide, which are
    others in another label."""
    best = max(scores.values(), default=0.0)
    most = best * NEAR_TIE if len(order) == 1 else float("inf")
    lowest = float("inf")
    for hit in order:
        if hit not in scores or (len(order) == 1 and scores[hit] < most) or scores[hit] * NEAR_TIE > lowest:
            return False
        lowest = min(lowest, scores[hit])
    return True


def difference_of(mine: Sequence[tuple[Any, ...]], theirs: Sequence[tuple[Any, ...]]) -> str:
    """The first one, in short."""
    if sorted(map(repr, mine)) == sorted(map(repr, theirs)):
        return "another order"
    for at, (one, other) in enumerate(zip(mine, theirs, strict=False), 1):
        parts = [(a, b) for a, b in zip(one, other, strict=True) if a != b]
        if parts:
            return f"hit {at} of {one[0]}: {parts[-1]}"
    return f"{len(mine)} hits, {len(theirs)} of the index"


if __name__ == "__main__":
    main()
