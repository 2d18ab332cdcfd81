"""The table and its training: a question must be nearer to its own text than to all other texts of the batch.

Loss: InfoNCE (van den Oord et al. 2018) of question → text and, weaker, text → question; summed over prefixes of the
vectors (Kusupati et al. 2022, "Matryoshka representation learning"), so that a prefix can be cut. A text is the
normalised sum of its rows, weighted by tf ** TF_EXPONENT * exp(weight), so its gradient is that of two sparse matrices.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
from scipy.sparse import csr_matrix

from rag_assets.training.pairs import PairKind, Pairs, TextsOfIds

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Ints = NDArray[np.int64]

TF_EXPONENT = 0.6
DIMENSIONS = (256, 128, 64)


@dataclass(slots=True)
class Table:
    """Rows of entries and the logarithms of their weights in texts and in questions."""

    rows: Floats
    text_weights: Floats
    question_weights: Floats

    def save(self, path: Path) -> None:
        np.savez(path, rows=self.rows, text_weights=self.text_weights, question_weights=self.question_weights)

    @staticmethod
    def load(path: Path) -> Table:
        with np.load(path) as stored:
            return Table(stored["rows"], stored["text_weights"], stored["question_weights"])

    def embed(self, texts: TextsOfIds, which: Ints, *, questions: bool) -> Floats:
        """Unit vectors of the texts; zero for one without entries."""
        weights = np.exp(self.question_weights if questions else self.text_weights)
        row, entry = texts.rows(which)
        sums: Floats = _weighted(row, entry, len(which), weights) @ self.rows
        return unit(sums)


def mean(tables: list[Table]) -> Table:
    """Runs from one start are near each other: their mean ranks better than any of them."""

    def of(name: str) -> Floats:
        total: Floats = np.stack([getattr(table, name) for table in tables]).mean(axis=0).astype(np.float32)
        return total

    return Table(of("rows"), of("text_weights"), of("question_weights"))


@dataclass(frozen=True, slots=True)
class Recipe:
    """Rates are of Adam and fall with a cosine; `kinds` are the shares of PairKind in a batch; `teacher` is the weight
    of the loss against the scores of a teacher, over pairs of a few repositories a step."""

    steps: int = 400
    batch: int = 1_024
    rate: float = 1e-3
    weight_rate: float = 1e-2
    temperature: float = 20.0
    text_to_question: float = 0.3
    dropout: float = 0.1
    header: float = 0.4
    outline: float = 0.5
    kinds: tuple[float, ...] = (0.42, 0.25, 0.18, 0.1, 0.05)
    hard: float = 0.0
    teacher: float = 0.0
    teacher_repositories: int = 8
    teacher_temperature: float = 20.0
    dimensions: tuple[int, ...] = DIMENSIONS
    question_weights: bool = True
    seed: int = 0


class Teaches(Protocol):
    """What knows scores of whole questions and texts."""

    def batch(self, pairs: Pairs, recipe: Recipe, random: np.random.Generator) -> Batch | None:
        """Some pairs with `targets`; None where it has nothing to teach of those that were drawn."""
        ...


_REPOSITORY_DAMPING = 0.6  # so that large repositories do not decide
_WARM_UP = 40
_LAST_RATE = 0.05
_BETAS, _EPSILON = (0.9, 0.99), 1e-8
_SCALE_RATE, _GREATEST_SCALE = 1e-3, 60.0
_IMPOSSIBLE = np.float32(-1e4)


def train(
    start: Table, pairs: Pairs, recipe: Recipe, negatives: Ints | None = None, teacher: Teaches | None = None,
    on_step: Callable[[int, float, float], None] | None = None,
) -> Table:  # fmt: skip
    """`negatives` has a row a pair: texts that are not its answer, -1 for none. `on_step` hears how many steps are
    done, the mean loss of the last ones, and the scale."""
    random, of_teacher = np.random.default_rng(recipe.seed), np.random.default_rng((recipe.seed, 1))
    chances = np.cumsum(_chances(pairs, recipe))
    rows = Adam(start.rows.copy(), recipe.rate)
    text_weights = Adam(start.text_weights[:, None].copy(), recipe.weight_rate)
    question_weights = Adam(start.question_weights[:, None].copy(), recipe.weight_rate)
    scale = Adam(np.array([[math.log(recipe.temperature)]], np.float32), _SCALE_RATE)
    losses: list[float] = []
    for step in range(recipe.steps):
        chosen = np.unique(np.searchsorted(chances, random.random(recipe.batch) * chances[-1]))
        batches = [(1.0, Batch.of(pairs, chosen, recipe, negatives, random))]
        if teacher is not None and recipe.teacher and (batch := teacher.batch(pairs, recipe, of_teacher)):
            batches.append((recipe.teacher, batch))
        both_weights = text_weights if not recipe.question_weights else question_weights
        local = np.unique(np.concatenate([entries for _, b in batches for entries in (b.asked[1], b.told[1])]))
        table = rows.values[local]
        q_weight, t_weight = np.exp(both_weights.values[local, 0]), np.exp(text_weights.values[local, 0])
        of_asked, of_told, d_scale = np.zeros_like(table), np.zeros_like(table), 0.0
        for weight, batch in batches:
            asked = _weighted(batch.asked[0], np.searchsorted(local, batch.asked[1]), batch.questions, q_weight)
            told = _weighted(batch.told[0], np.searchsorted(local, batch.told[1]), batch.texts, t_weight)
            loss, d_asked, d_told, of_scale = contrast(
                asked @ table, told @ table, batch.masked, float(scale.values[0, 0]), recipe, batch.targets
            )
            if batch.targets is None:
                losses.append(loss)
            d_scale += weight * of_scale
            of_asked += np.float32(weight) * (asked.T @ d_asked)
            of_told += np.float32(weight) * (told.T @ d_told)
        rate = min(1.0, (step + 1) / _WARM_UP) * _cosine(step / recipe.steps)
        d_question, d_text = (table * of_asked).sum(axis=1), (table * of_told).sum(axis=1)
        rows.step(local, of_asked + of_told, rate)
        if recipe.question_weights:
            question_weights.step(local, d_question[:, None], rate)
            text_weights.step(local, d_text[:, None], rate)
        else:
            text_weights.step(local, (d_question + d_text)[:, None], rate)
        scale.step(np.array([0]), np.array([[d_scale]], np.float32), rate)
        np.minimum(scale.values, math.log(_GREATEST_SCALE), out=scale.values)
        if on_step is not None:
            on_step(step + 1, float(np.mean(losses[-50:])), math.exp(scale.values[0, 0]))
    last = question_weights if recipe.question_weights else text_weights
    return Table(rows.values, text_weights.values[:, 0], last.values[:, 0].copy())


def _chances(pairs: Pairs, recipe: Recipe) -> NDArray[np.float64]:
    group = pairs.column("repository") * len(PairKind) + pairs.column("kind")
    _, at, count = np.unique(group, return_inverse=True, return_counts=True)
    chance: NDArray[np.float64] = count[at].astype(np.float64) ** (_REPOSITORY_DAMPING - 1)
    for kind in PairKind:
        of_kind = pairs.column("kind") == kind
        if of_kind.any():
            chance[of_kind] *= recipe.kinds[kind] / chance[of_kind].sum()
    return chance


@dataclass(slots=True)
class Batch:
    """(row, entry) of the tokens of questions and of texts; text i answers question i, those after them are hard
    negatives. `masked`: neither answer nor negative. `targets`: the shares that a teacher gives the texts."""

    asked: tuple[Ints, Ints]
    told: tuple[Ints, Ints]
    questions: int
    texts: int
    masked: NDArray[np.bool_]
    targets: Floats | None = None

    @staticmethod
    def of(pairs: Pairs, chosen: Ints, recipe: Recipe, negatives: Ints | None, random: np.random.Generator) -> Batch:
        row = {name: pairs.column(name)[chosen] for name in ("question", "code", "outline", "header", "same_text")}
        count = len(chosen)
        outlined = (row["outline"] >= 0) & (random.random(count) < recipe.outline)
        texts = np.where(outlined, row["outline"], row["code"])
        headed = np.flatnonzero(~outlined & (row["header"] >= 0) & (random.random(count) < recipe.header))
        same_question = pairs.column("same_question")[chosen]
        masked = (row["same_text"][:, None] == row["same_text"]) | (same_question[:, None] == same_question)
        np.fill_diagonal(masked, False)
        if negatives is not None and recipe.hard:
            hard = negatives[chosen, random.integers(0, negatives.shape[1], count)]
            of = np.flatnonzero((hard >= 0) & (random.random(count) < recipe.hard))
            texts = np.concatenate([texts, hard[of]])
            extra = (row["same_text"][:, None] == row["same_text"][of]) | (same_question[:, None] == same_question[of])
            extra[of, np.arange(len(of))] = False
            masked = np.concatenate([masked, extra], axis=1)
        at, entry = pairs.texts.rows(texts)
        header_at, header_entry = pairs.texts.rows(row["header"][headed])
        told = np.concatenate([at, headed[header_at]]), np.concatenate([entry, header_entry])
        asked = pairs.texts.rows(row["question"])
        return Batch(dropped(asked, recipe, random), dropped(told, recipe, random), count, len(texts), masked)


def dropped(tokens: tuple[Ints, Ints], recipe: Recipe, random: np.random.Generator) -> tuple[Ints, Ints]:
    if not recipe.dropout:
        return tokens
    kept = random.random(len(tokens[0])) >= recipe.dropout
    return tokens[0][kept], tokens[1][kept]


def _weighted(row: Ints, entry: Ints, rows: int, weights: Floats) -> csr_matrix:
    """tf ** TF_EXPONENT * weight of each entry of each text."""
    counts = csr_matrix((np.ones(len(row), np.float32), (row, entry)), shape=(rows, len(weights)))  # adds up repeats
    counts.data = counts.data**TF_EXPONENT * weights[counts.indices]
    return counts


def unit(vectors: Floats) -> Floats:
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    made: Floats = np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 0)
    return made


def contrast(
    asked: Floats, told: Floats, masked: NDArray[np.bool_], log_scale: float, recipe: Recipe,
    targets: Floats | None = None,
) -> tuple[float, Floats, Floats, float]:  # fmt: skip
    """The loss and its gradients by the sums of the questions, of the texts, and by the logarithm of the scale. Without
    `targets`, text i answers question i."""
    scale = math.exp(log_scale)
    d_asked, d_told = np.zeros_like(asked), np.zeros_like(told)
    loss = d_scale = 0.0
    prefixes = [d for d in recipe.dimensions if d <= asked.shape[1]] or [asked.shape[1]]
    for prefix in prefixes:
        q, t = unit(asked[:, :prefix]), unit(told[:, :prefix])
        scores = q @ t.T * np.float32(scale)
        scores[masked] = _IMPOSSIBLE
        found, gradient = _softmax_loss(scores, targets)
        if recipe.text_to_question and targets is None:
            count = len(q)
            back, back_gradient = _softmax_loss(np.ascontiguousarray(scores[:, :count].T))
            found += recipe.text_to_question * back
            gradient[:, :count] += np.float32(recipe.text_to_question) * back_gradient.T
        gradient /= np.float32(len(prefixes))
        loss += found / len(prefixes)
        d_scale += float((gradient * scores)[~masked].sum())
        gradient *= np.float32(scale)
        d_asked[:, :prefix] += _through_unit(gradient @ t, q, asked[:, :prefix])
        d_told[:, :prefix] += _through_unit(gradient.T @ q, t, told[:, :prefix])
    return loss, d_asked, d_told, d_scale


def _softmax_loss(scores: Floats, targets: Floats | None = None) -> tuple[float, Floats]:
    """Mean of -log softmax of the diagonal, or of the targets, and its gradient by the scores."""
    count = len(scores)
    at = np.arange(count)
    shifted = np.exp(scores - scores.max(axis=1, keepdims=True))
    shifted /= shifted.sum(axis=1, keepdims=True)
    if targets is not None:
        return float(-(targets * np.log(np.maximum(shifted, 1e-12))).sum(axis=1).mean()), (shifted - targets) / count
    loss = float(-np.log(np.maximum(shifted[at, at], 1e-12)).mean())
    shifted[at, at] -= 1
    return loss, shifted / np.float32(count)


def _through_unit(gradient: Floats, directions: Floats, vectors: Floats) -> Floats:
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    bent = gradient - directions * (gradient * directions).sum(axis=1, keepdims=True)
    made: Floats = np.divide(bent, length, out=np.zeros_like(bent), where=length > 0)
    return made


def _cosine(done: float) -> float:
    return 0.5 * (1 + math.cos(math.pi * done)) * (1 - _LAST_RATE) + _LAST_RATE


class Adam:
    """Adam (Kingma & Ba 2015) for rows of which a step touches a few; the others keep their moments."""

    def __init__(self, values: Floats, rate: float) -> None:
        self.values = values
        self._rate = rate
        self._first = np.zeros_like(values)
        self._second = np.zeros_like(values)
        self._steps = np.zeros(len(values), np.int64)

    def step(self, touched: Ints, gradient: Floats, factor: float) -> None:
        one, two = _BETAS
        self._steps[touched] += 1
        first = self._first[touched] * np.float32(one) + gradient * np.float32(1 - one)
        second = self._second[touched] * np.float32(two) + gradient**2 * np.float32(1 - two)
        self._first[touched], self._second[touched] = first, second
        steps = self._steps[touched][:, None]
        rate = (self._rate * factor / (1 - one**steps)).astype(np.float32)
        root = np.sqrt(second / (1 - two**steps).astype(np.float32)) + np.float32(_EPSILON)
        self.values[touched] -= rate * first / root
