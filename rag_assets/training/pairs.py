"""Pairs of a question and a text that answers it, as arrays of entries."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rag_assets.models.static_code.word_pieces import WORD, WordPieces
from rag_assets.training.extraction import ChangedCode
from rag_assets.training.git_objects import digest
from rag_assets.training.units import CodeUnit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

_MOST_TOKENS = {"question": 64, "text": 320, "header": 40}
_LEAST_TOKENS = 10
_REPEATS = 2  # of one documentation or name within a repository: "Disposes the object" says nothing of the object
_FILE_PAIRS = 4  # of one file
_UNTOLD_STEMS = frozenset({"index", "__init__", "mod", "main", "utils"})


class PairKind(IntEnum):
    DOC = 0
    NAME = 1
    CHANGE = 2
    FILE = 3
    REQUEST = 4


@dataclass(slots=True)
class TextsOfIds:
    """Many texts in one array; text i is `ids[offsets[i]:offsets[i + 1]]`."""

    ids: NDArray[np.uint16]
    offsets: Ints

    def rows(self, texts: Ints) -> tuple[Ints, Ints]:
        """(place in `texts`, entry) of every token of the texts."""
        starts, lengths = self.offsets[texts], self.offsets[texts + 1] - self.offsets[texts]
        before = np.concatenate([[0], np.cumsum(lengths)[:-1]])
        at = np.repeat(starts - before, lengths) + np.arange(int(lengths.sum()))
        return np.repeat(np.arange(len(texts)), lengths), self.ids[at].astype(np.int64)


@dataclass(slots=True)
class _Gathered:
    parts: list[NDArray[np.uint16]] = field(default_factory=list)
    ends: list[int] = field(default_factory=lambda: [0])

    def add(self, ids: list[int]) -> int:
        self.parts.append(np.array(ids, np.uint16))
        self.ends.append(self.ends[-1] + len(ids))
        return len(self.parts) - 1

    def done(self) -> TextsOfIds:
        ids = np.concatenate(self.parts) if self.parts else np.zeros(0, np.uint16)
        return TextsOfIds(ids, np.array(self.ends, np.int64))


COLUMNS = ("question", "code", "outline", "header", "kind", "repository", "same_question", "same_text", "path")


@dataclass(slots=True)
class Pairs:
    """`table` has a row a pair and COLUMNS; texts are numbers of `texts`, -1 for none. Pairs of one `same_question` or
    `same_text` are no negatives of each other."""

    texts: TextsOfIds
    table: Ints

    def column(self, name: str) -> Ints:
        column: Ints = self.table[:, COLUMNS.index(name)]
        return column

    def save(self, path: Path) -> None:
        np.savez(path, ids=self.texts.ids, offsets=self.texts.offsets, table=self.table)

    @staticmethod
    def load(path: Path) -> Pairs:
        with np.load(path) as stored:
            return Pairs(TextsOfIds(stored["ids"], stored["offsets"]), stored["table"])


def build(
    repositories: Iterable[tuple[Iterable[CodeUnit], Iterable[ChangedCode]]], vocabulary: list[str],
    held_out: Callable[[str], bool] = lambda _: False,
) -> Pairs:  # fmt: skip
    """The pairs of repositories; a code that several of them have is taken of the first. A question that is `held_out`
    makes no pair."""
    gathering = _Gathering(WordPieces(vocabulary), held_out)
    for number, (found, changed) in enumerate(repositories):
        gathering.add_repository(number, found, changed)
    return Pairs(gathering.texts.done(), np.array(gathering.rows, np.int64).reshape(-1, len(COLUMNS)))


class _Gathering:
    def __init__(self, tokenizer: WordPieces, held_out: Callable[[str], bool]) -> None:
        self.texts = _Gathered()
        self.rows: list[tuple[int, ...]] = []
        self._tokenizer = tokenizer
        self._held_out = held_out
        self._seen: set[int] = set()
        self._random = random.Random(0)

    def add_repository(self, number: int, found: Iterable[CodeUnit], changed: Iterable[ChangedCode]) -> None:
        said: Counter[int] = Counter()
        of_file: Counter[str] = Counter()
        outlines: dict[str, int] = {}
        for unit in found:
            same = digest(unit.code)
            if same in self._seen:
                continue
            self._seen.add(same)
            ids = self._ids(unit.code, "text")
            if len(ids) >= _LEAST_TOKENS:
                self._add_unit(unit, ids, number, same, said, of_file, outlines)
        for change in changed:
            self._add_change(change, number, outlines)

    def _add_unit(
        self, unit: CodeUnit, ids: list[int], repository: int, same: int, said: Counter[int],
        of_file: Counter[str], outlines: dict[str, int],
    ) -> None:  # fmt: skip
        code, path = self.texts.add(ids), digest(unit.path)
        outline = self.texts.add(self._ids(unit.outline, "text"))
        if unit.is_type:
            outlines.setdefault(unit.path, outline)
        stem = re.sub(r"\.\w+$", "", unit.path).split("/")
        header = self.texts.add(self._ids(" ".join([*stem[-4:], unit.scope, unit.name]), "header"))
        if unit.doc:
            question = digest(unit.doc)
            said[question] += 1
            if said[question] <= _REPEATS and not self._held_out(unit.doc):
                self._pair(unit.doc, (code, outline, header), PairKind.DOC, (repository, question, same, path))
        words = WORD.findall(unit.name)
        name = digest(" ".join(words))
        said[name] += 1
        if len(words) >= 2 and said[name] <= _REPEATS and not self._held_out(unit.name):
            asked = " ".join(words)
            if unit.scope and self._random.random() < 0.35:
                asked += " " + unit.scope.rpartition(".")[2]
            if self._random.random() < 0.5:  # a name that is found in the code teaches only itself
                code = self.texts.add(self._ids(re.sub(rf"\b{re.escape(unit.name)}\b", " ", unit.code), "text"))
            folders = self.texts.add(self._ids(" ".join(stem[-4:-1]), "header"))
            self._pair(asked, (code, outline, folders), PairKind.NAME, (repository, name, same, path))
        of_file[unit.path] += 1
        if of_file[unit.path] <= _FILE_PAIRS and self._random.random() < 0.5:
            told = stem[-1] if stem[-1] not in _UNTOLD_STEMS else "/".join(stem[-2:-1])
            if len(stem) > 1 and self._random.random() < 0.3:
                told = f"{stem[-2]} {told}"
            if len(WORD.findall(told)) >= 2 and not self._held_out(told):
                self._pair(told, (code, -1, -1), PairKind.FILE, (repository, digest(told), same, path))

    def _add_change(self, change: ChangedCode, repository: int, outlines: dict[str, int]) -> None:
        ids = self._ids(change.code, "text")
        question = digest(change.question)
        same = digest(change.question + change.code)
        if len(ids) < _LEAST_TOKENS or same in self._seen or self._held_out(change.question):
            return
        self._seen.add(same)
        header = self.texts.add(self._ids(" ".join(re.sub(r"\.\w+$", "", change.path).split("/")[-4:]), "header"))
        texts = (self.texts.add(ids), outlines.get(change.path, -1), header)
        kind = PairKind.REQUEST if change.merged else PairKind.CHANGE
        self._pair(change.question, texts, kind, (repository, question, question, digest(change.path)))

    def _pair(self, asked: str, texts: tuple[int, ...], kind: PairKind, of: tuple[int, int, int, int]) -> None:
        ids = self._ids(asked, "question")
        if ids:
            repository, question, same, path = of
            self.rows.append((self.texts.add(ids), *texts, int(kind), repository, question, same, path))

    def _ids(self, text: str, what: str) -> list[int]:
        return self._tokenizer.ids(text)[: _MOST_TOKENS[what]]
