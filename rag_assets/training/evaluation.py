"""How well a table ranks the files of repositories that it has not learnt from: nDCG@10, dense alone and blended.

A repository is what it was at its snapshot. Its texts are the outlines of its declarations, as an index has them, or
their code below a header. Questions: subjects of later commits that spell no name of an answer, documentation (taken
out of all texts), names split into words. A file is where its best text is.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.sparse import csr_matrix

from rag_assets.evaluation.metrics import CUT, NDCG, measure, metric_name
from rag_assets.evaluation.mining import spells_an_answer
from rag_assets.models.static_code.word_pieces import WORD, WordPieces
from rag_assets.training.extraction import ChangedCode
from rag_assets.training.git_objects import digest
from rag_assets.training.model import Table
from rag_assets.training.pairs import TextsOfIds
from rag_assets.training.units import CodeUnit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Ints = NDArray[np.int64]

Form = Literal["outline", "code"]
MOST_QUESTIONS = 120  # of a kind and a repository, chosen by hash
_MOST_UNITS = 1_500
_MOST_ANSWERS = 5
_K1, _B = 1.2, 0.75  # of BM25
_DENSE_SHARE = 0.5  # of the blend, both scaled to 0..1 for each question


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Texts with the number of their file, and the questions of each kind with the files that answer them."""

    name: str
    texts: tuple[str, ...]
    files: NDArray[np.int64]
    questions: dict[str, tuple[tuple[str, frozenset[int]], ...]]


def held_out(
    name: str, found: Iterable[CodeUnit], changes: Iterable[ChangedCode], form: Form,
    asks: Callable[[str], bool] = lambda _: True, most_questions: int = MOST_QUESTIONS,
) -> HeldOut:  # fmt: skip
    """The texts of a repository, and those of its questions for which `asks` holds, at most so many of a kind."""
    units = sorted(sorted(found, key=lambda u: digest(u.path + u.code))[:_MOST_UNITS], key=lambda u: u.path)
    units = [u for u in units if u.language != "markdown"]
    numbers = {path: number for number, path in enumerate(sorted({u.path for u in units}))}
    asked: dict[str, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
    for unit in units:
        if unit.doc and asks(unit.doc):
            asked["documentation"][unit.doc].add(numbers[unit.path])
        if len(WORD.findall(unit.name)) >= 2 and asks(unit.name):
            asked["name"][" ".join(WORD.findall(unit.name)).lower()].add(numbers[unit.path])
    changed: dict[str, set[str]] = defaultdict(set)
    for change in changes:
        if asks(change.question):
            changed[change.question].add(change.path)
    for question, paths in changed.items():
        known = sorted(paths & numbers.keys())
        if known and len(paths) <= _MOST_ANSWERS and not spells_an_answer(question, known):
            asked["commit"][question] = {numbers[path] for path in known}
    questions = {}
    for kind, rows in asked.items():
        chosen = sorted(rows, key=digest)
        good = [q for q in chosen if len(rows[q]) <= _MOST_ANSWERS][:most_questions]
        questions[kind] = tuple((q, frozenset(rows[q])) for q in good)
    docs = sorted({u.doc for u in units if u.doc}, key=len, reverse=True)
    spoken = re.compile("|".join(map(re.escape, docs))) if docs else None
    texts = [
        u.outline if form == "outline" else f"{u.path.rpartition('.')[0]} {u.scope} {u.name}\n{u.code}" for u in units
    ]
    if spoken:
        texts = [spoken.sub(" ", text) for text in texts]
    return HeldOut(name, tuple(texts), np.array([numbers[u.path] for u in units]), questions)


Embed = Callable[[Sequence[str], bool], "Floats"]
"""Texts (False) or questions (True) → unit vectors."""


def table_embed(table: Table, vocabulary: list[str]) -> Embed:
    tokenizer = WordPieces(vocabulary)

    def embed(texts: Sequence[str], questions: bool) -> Floats:
        return table.embed(_texts(tokenizer, texts), np.arange(len(texts)), questions=questions)

    return embed


def _texts(tokenizer: WordPieces, texts: Sequence[str]) -> TextsOfIds:
    ids = [np.array(tokenizer.ids(text), np.uint16) for text in texts]
    return TextsOfIds(np.concatenate([*ids, np.zeros(0, np.uint16)]), np.cumsum([0, *map(len, ids)]))


def scores(repository: HeldOut, embed: Embed, vocabulary: list[str]) -> dict[tuple[str, str], float]:
    """(system, kind of question) → mean nDCG@10; systems: dense, bm25, blend."""
    vectors = embed(repository.texts, False)
    tokenizer = WordPieces(vocabulary)
    made: dict[tuple[str, str], float] = {}
    for kind, questions in repository.questions.items():
        asked = [question for question, _ in questions]
        if not asked:
            continue
        both = _texts(tokenizer, [*repository.texts, *asked])
        count = len(repository.texts)
        keyword = bm25(both, np.arange(count, count + len(asked)), np.arange(count), len(vocabulary))
        ranked = {"dense": _by_file(embed(asked, True) @ vectors.T, repository), "bm25": _by_file(keyword, repository)}
        ranked["blend"] = _DENSE_SHARE * _even(ranked["dense"]) + (1 - _DENSE_SHARE) * _even(ranked["bm25"])
        for system, files in ranked.items():
            each = [_ndcg(row, relevant) for row, (_, relevant) in zip(files, questions, strict=True)]
            made[system, kind] = float(np.mean(each))
    return made


def _by_file(found: Floats, repository: HeldOut) -> Floats:
    best = np.full((len(found), int(repository.files.max()) + 1), -np.inf, np.float32)
    for text, file in enumerate(repository.files):
        np.maximum(best[:, file], found[:, text], out=best[:, file])
    return best


def _even(files: Floats) -> Floats:
    low, high = files.min(axis=1, keepdims=True), files.max(axis=1, keepdims=True)
    made: Floats = (files - low) / np.maximum(high - low, 1e-9)
    return made


def _ndcg(files: Floats, relevant: frozenset[int]) -> float:
    first = np.argsort(-files, kind="stable")[:CUT]
    ranking = [frozenset((str(file),)) for file in first]
    return measure(ranking, frozenset(map(str, relevant)), CUT)[metric_name(NDCG, CUT)]


def bm25(texts: TextsOfIds, questions: Ints, candidates: Ints, entries: int) -> Floats:
    """Scores [questions, candidates] of Okapi BM25 over entries."""
    row, entry = texts.rows(candidates)
    counts = csr_matrix((np.ones(len(row), np.float32), (row, entry)), shape=(len(candidates), entries))
    length = np.asarray(counts.sum(axis=1)).ravel()
    holding = np.bincount(counts.indices, minlength=entries)
    idf = np.log1p((len(candidates) - holding + 0.5) / (holding + 0.5)).astype(np.float32)
    norm = _K1 * (1 - _B + _B * length / max(length.mean(), 1e-9))
    of_row = np.repeat(norm, np.diff(counts.indptr))
    counts.data = (counts.data * (_K1 + 1) / (counts.data + of_row) * idf[counts.indices]).astype(np.float32)
    row, entry = texts.rows(questions)
    asked = csr_matrix((np.ones(len(row), np.float32), (row, entry)), shape=(len(questions), entries))
    return np.asarray((asked @ counts.T).todense(), np.float32)
