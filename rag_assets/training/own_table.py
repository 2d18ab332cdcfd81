"""A table of one's own: the one that is used goes on learning from one's own repositories, if that makes it better.

Every fifth question by hash, documentation and names, and the newest fifth of the changes are held out of the training;
their texts stay, without that documentation, as they are in an index that is asked something new. Both tables are
judged by the same held-out questions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rag_assets.models.static_code.word_pieces import WORD
from rag_assets.pipeline.progress import Progress
from rag_assets.training.errors import TrainingError
from rag_assets.training.evaluation import HeldOut, held_out, scores, table_embed
from rag_assets.training.extraction import ChangedCode, changes, file_units, source_files, wanted
from rag_assets.training.git_objects import digest
from rag_assets.training.model import Recipe, Table, mean, train
from rag_assets.training.pairs import Pairs, build
from rag_assets.training.table_file import as_stored
from rag_assets.training.units import CodeUnit

MOST_FILES, MOST_COMMITS, MOST_MERGES = 2_500, 3_500, 1_500  # of a repository: a minute or two
LEAST_PAIRS, LEAST_QUESTIONS = 500, 30
_LEAST_OF_A_KIND = 10  # fewer questions say nothing of a kind
_HELD_OUT = 5  # every so manieth question
_MOST_QUESTIONS = 400  # of a kind and a repository
GREATEST_FALL = 0.01  # of nDCG@10 of one kind: about what two seeds differ
_PASSES = 8  # over the pairs; 3 gave half as much on jellyfin
_MOST_STEPS = 400
_LARGEST_BATCH = 1_024  # or an eighth of the pairs
_RATE = 2e-3
_RUNS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelHistory:
    """Where the files and the history of a label are; `below` is the beginning of the paths that it indexes. Without
    it, `may_learn` says of a path whether the index may have it, and its reader may see it."""

    label: str
    git_dir: Path
    commit: str
    may_learn: Callable[[str], bool]
    below: str = ""

    def is_wanted(self, path: str) -> bool:
        return wanted(path) and self.may_learn(path.removeprefix(self.below))


@dataclass(frozen=True, slots=True, kw_only=True)
class KindScore:
    """nDCG@10 of the questions of a kind, by the vectors alone and blended in equal parts with BM25."""

    kind: str
    questions: int
    dense_before: float
    dense_after: float
    blend_before: float
    blend_after: float

    @property
    def fell(self) -> bool:
        return self.questions >= _LEAST_OF_A_KIND and self.dense_after < self.dense_before - GREATEST_FALL


@dataclass(frozen=True, slots=True, kw_only=True)
class Trained:
    """The new table, rounded as its file has it, and how it compares."""

    table: Table
    pairs: int
    kinds: tuple[KindScore, ...]

    @property
    def is_better(self) -> bool:
        judged = [kind for kind in self.kinds if kind.questions >= _LEAST_OF_A_KIND]
        gained = sum(kind.dense_after - kind.dense_before for kind in judged)
        return gained > 0 and not any(kind.fell for kind in judged)


@dataclass(frozen=True, slots=True)
class _Material:
    name: str
    units: list[CodeUnit]
    changes: list[ChangedCode]


def train_own(
    labels: Sequence[LabelHistory], start: Table, entries: list[str], seed: int, progress: Progress
) -> Trained:
    """The same commits, start and seed give the same table. Raises TrainingError where there is too little to learn
    from or to judge by."""
    read = [_read(label, progress) for label in labels]
    later = {key for each in read for key in _newest(each.changes)}

    def is_held_out(question: str) -> bool:
        key = _key(question)
        return key % _HELD_OUT == 0 or key in later

    asked = []
    for each in read:
        newest = [change for change in each.changes if _key(change.question) in later]
        asked.append(held_out(each.name, each.units, newest, "outline", is_held_out, _MOST_QUESTIONS))
    pairs = build((_silenced(each, is_held_out) for each in read), entries, is_held_out)
    questions = sum(len(rows) for each in asked for rows in each.questions.values())
    if len(pairs.table) < LEAST_PAIRS or questions < LEAST_QUESTIONS:
        raise TrainingError(
            f"{', '.join(label.label for label in labels)}: {len(pairs.table):,} pairs to learn from and {questions:,} "
            f"questions to judge by, and training needs {LEAST_PAIRS} and {LEAST_QUESTIONS}. Documented members and "
            "commits make pairs: add labels with --from, or index a clone with more history"
        )
    table = as_stored(_trained(start, pairs, seed, progress))
    return Trained(table=table, pairs=len(pairs.table), kinds=_compared(asked, start, table, entries, progress))


def _key(question: str) -> int:
    """`OrderCleaner` and "order cleaner" are one question."""
    return digest(" ".join(WORD.findall(question)))


def _newest(changed: Sequence[ChangedCode]) -> list[int]:
    keys = list(dict.fromkeys(_key(change.question) for change in changed))
    return keys[: len(keys) // _HELD_OUT]


def _read(label: LabelHistory, progress: Progress) -> _Material:
    files = list(source_files(label.git_dir, label.commit, label.below, MOST_FILES, label.is_wanted))
    progress.begin("declarations", len(files), "files")
    found: list[CodeUnit] = []
    for path, text in files:
        found += file_units(path, text)
        progress.advance(1, path)
    progress.end(label.label)
    progress.begin("history", 1, "label")
    changed = list(changes(label.git_dir, label.commit, label.below, MOST_COMMITS, MOST_MERGES, label.is_wanted))
    progress.end(label.label)
    return _Material(label.label, found, changed)


def _silenced(read: _Material, is_held_out: Callable[[str], bool]) -> tuple[Iterator[CodeUnit], Iterator[ChangedCode]]:
    """Its texts without the documentation that is held out."""
    docs: dict[str, list[str]] = {}
    for unit in read.units:
        if unit.doc and is_held_out(unit.doc):
            docs.setdefault(unit.path, []).append(unit.doc)

    def silenced(path: str, text: str) -> str:
        for doc in docs.get(path, ()):
            text = text.replace(doc, " ")
        return text

    units = (replace(u, code=silenced(u.path, u.code), outline=silenced(u.path, u.outline)) for u in read.units)
    return units, (replace(c, code=silenced(c.path, c.code)) for c in read.changes)


def _trained(start: Table, pairs: Pairs, seed: int, progress: Progress) -> Table:
    """The mean of the start and of some runs: it keeps what the start knows of words that the pairs lack."""
    batch = min(_LARGEST_BATCH, len(pairs.table) // 8)
    steps = min(_MOST_STEPS, _PASSES * len(pairs.table) // batch)
    progress.begin("train", _RUNS * steps, "steps")
    runs = [
        train(
            start, pairs, Recipe(steps=steps, batch=batch, rate=_RATE, seed=_RUNS * seed + run),
            on_step=lambda _, loss, __: progress.advance(1, f"loss {loss:.3f}"),
        )
        for run in range(_RUNS)
    ]  # fmt: skip
    progress.end()
    return mean([start, *runs])


def _compared(
    asked: Sequence[HeldOut], start: Table, table: Table, entries: list[str], progress: Progress
) -> tuple[KindScore, ...]:
    progress.begin("evaluate", 2 * len(asked), "labels")
    total: Counter[tuple[str, str, str]] = Counter()
    for when, judged in (("before", start), ("after", table)):
        embed = table_embed(judged, entries)
        for each in asked:
            for (system, kind), value in scores(each, embed, entries).items():
                total[kind, system, when] += value * len(each.questions[kind])  # type: ignore[assignment]
            progress.advance(1, each.name)
    progress.end()
    counts = Counter({kind: sum(len(each.questions.get(kind, ())) for each in asked) for kind, _, _ in total})
    return tuple(
        KindScore(
            kind=kind,
            questions=count,
            dense_before=total[kind, "dense", "before"] / count,
            dense_after=total[kind, "dense", "after"] / count,
            blend_before=total[kind, "blend", "before"] / count,
            blend_after=total[kind, "blend", "after"] / count,
        )
        for kind, count in sorted(counts.items())
    )
