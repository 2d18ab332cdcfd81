"""What a transformer says of whole questions and texts, so that a table can learn its scores where they are right."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rag_assets.training.evaluation import Embed
from rag_assets.training.model import Batch, Recipe, dropped
from rag_assets.training.pairs import PairKind, Pairs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Ints = NDArray[np.int64]

_OF_A_REPOSITORY = 64  # pairs: some 10,000 of all, a few minutes of a processor
_KINDS = (PairKind.DOC, PairKind.CHANGE, PairKind.REQUEST)  # a name is found by its words
_MOST_ENTRIES = 128  # of a text: what it is about comes first


@dataclass(slots=True)
class Teacher:
    """Unit vectors of the questions and texts of some pairs, and the repository of each."""

    pairs: Ints
    repository: Ints
    questions: Floats
    texts: Floats

    def batch(self, pairs: Pairs, recipe: Recipe, random: np.random.Generator) -> Batch | None:
        """Pairs of a few repositories, with the questions that it answers rightly among their texts, if any."""
        groups = np.unique(self.repository)
        of = random.choice(groups, min(recipe.teacher_repositories, len(groups)), replace=False)
        rows = np.flatnonzero(np.isin(self.repository, of))
        said = (self.questions[rows] @ self.texts[rows].T).astype(np.float32)
        right = np.flatnonzero(said.argmax(axis=1) == np.arange(len(rows)))
        if not len(right):
            return None
        above = said[right] - said[right].max(axis=1, keepdims=True)
        targets = np.exp(np.float32(recipe.teacher_temperature) * above)
        targets /= targets.sum(axis=1, keepdims=True)
        asked = pairs.texts.rows(pairs.column("question")[self.pairs[rows[right]]])
        told = pairs.texts.rows(text_of(pairs, self.pairs[rows]))
        masked = np.zeros(targets.shape, bool)
        asked, told = dropped(asked, recipe, random), dropped(told, recipe, random)
        return Batch(asked, told, len(right), len(rows), masked, targets)

    def save(self, path: Path) -> None:
        np.savez(path, pairs=self.pairs, repository=self.repository, questions=self.questions, texts=self.texts)

    @staticmethod
    def load(path: Path) -> Teacher:
        with np.load(path) as stored:
            return Teacher(*(stored[name] for name in ("pairs", "repository", "questions", "texts")))


def minilm_embed(cache: Path) -> Embed:
    from rag_assets.models.minilm.embedder import MiniLmEmbedder
    from rag_assets.models.minilm.weights import Precision

    embedder = MiniLmEmbedder.load(cache, Precision.INT8, threads=1)
    return lambda texts, _: np.asarray(embedder.embed(list(texts)), np.float32)


def text_of(pairs: Pairs, rows: Ints) -> Ints:
    """The outline of each, as an index embeds it, or its code where there is none."""
    outline = pairs.column("outline")[rows]
    return np.where(outline >= 0, outline, pairs.column("code")[rows])


def ask(pairs: Pairs, vocabulary: list[str], cache: Path) -> Teacher:
    """One pair of a text at most, for a teacher cannot tell two pairs of one text apart."""
    from rag_assets.models.minilm.embedder import MiniLmEmbedder
    from rag_assets.models.minilm.weights import Precision

    random = np.random.default_rng(0)
    repositories, asked = pairs.column("repository"), pairs.column("same_question")
    texts = text_of(pairs, np.arange(len(pairs.table)))
    chosen: list[int] = []
    for repository in np.unique(repositories):
        of = np.flatnonzero((repositories == repository) & np.isin(pairs.column("kind"), np.array(_KINDS)))
        seen: set[tuple[str, int]] = set()
        taken = len(chosen)
        for row in random.permutation(of).tolist():
            marks = {("text", int(texts[row])), ("question", int(asked[row]))}
            if len(chosen) - taken < _OF_A_REPOSITORY and not marks & seen:
                seen |= marks
                chosen.append(row)
    found = np.array(sorted(chosen), np.int64)
    embedder = MiniLmEmbedder.load(cache, Precision.INT8, threads=1)

    def vectors(texts: Ints) -> Floats:
        return np.asarray(embedder.embed([_words(pairs, int(text), vocabulary) for text in texts]), np.float32)

    return Teacher(found, repositories[found], vectors(pairs.column("question")[found]), vectors(texts[found]))


def _words(pairs: Pairs, text: int, vocabulary: list[str]) -> str:
    start, end = pairs.texts.offsets[text], pairs.texts.offsets[text + 1]
    entries = pairs.texts.ids[start : min(end, start + _MOST_ENTRIES)]
    return " ".join(vocabulary[entry] for entry in entries).replace(" ##", "")
