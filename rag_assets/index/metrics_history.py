"""How well each generation of a label answered, also those that have been pruned since: numbers, no texts.

labels/{label}/eval_history.json    one record per generation and question set, the newest run of each
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import msgspec

from rag_assets.index.layout import IndexHome, write_atomically
from rag_assets.serialization import from_json

_FILE = "eval_history.json"
_KEPT = 500  # records: years of nightly builds of one question set, in a file of about a megabyte


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean, and between what it lies with 95 % (`evaluation.intervals`)."""

    value: float
    low: float
    high: float

    @property
    def is_clear(self) -> bool:
        """True for a difference that is hardly chance: zero is not between the bounds."""
        return self.low > 0 or self.high < 0


@dataclass(frozen=True, slots=True)
class CategorySummary:
    """The metrics of the questions of one category."""

    name: str
    questions: int
    metrics: dict[str, Estimate]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """How an index was searched for a run: all that decides the numbers besides the questions and the index itself.

    `ranking` is the version of the ranking (`search.ranking`), `reranker` the name of its model, empty for none,
    `clearance` the highest level of the label that was reached; the others are those of `SearchPolicy`.
    """

    ranking: int
    mode: str
    fusion: str
    dense_candidates: int
    keyword_candidates: int
    alpha: float
    beta: float
    reranker: str
    clearance: str

    def differences(self, other: Conditions) -> dict[str, tuple[str, str]]:
        """Name → (here, in the other), of what differs."""
        pairs = ((field.name, getattr(self, field.name), getattr(other, field.name)) for field in fields(self))
        return {name: (str(here), str(there)) for name, here, there in pairs if here != there}


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeSummary:
    """What a judge made of the answers of a run (E25): who it is, the mean `score` between 0 and 1, the mean mark of
    each criterion, how many answers have a verdict, and how many were to have one and have none."""

    by: str
    score: Estimate | None
    marks: dict[str, float]
    judged: int
    not_judged: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerSummary:
    """The answers of a run in numbers. Shares are None where there was no question of that sort; `precision` and
    `recall` are of the answered questions with something expected, `wrong` of all answered ones. Latencies are
    milliseconds of a whole turn. `cost` is None where no prices are configured, `judge` where nobody judged."""

    answerable: int
    unanswerable: int
    failed: int
    errors: int
    answered: Estimate | None
    refused: Estimate | None
    wrong: Estimate | None
    precision: Estimate | None
    recall: Estimate | None
    checks: dict[str, int]
    unknown_citations: int
    p50_ms: float
    p95_ms: float
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    judge: JudgeSummary | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalRecord:
    """One run in numbers (E24). `categories` begin with that of all questions; latencies are milliseconds of one.
    `conditions` is None for a run from before they were kept, `answers` for one that only searched."""

    generation_id: str
    commit_sha: str
    commit_date: str
    set: str
    fingerprint: str
    k: int
    version: int
    mode: str
    embedding_model: str
    categories: tuple[CategorySummary, ...]
    p50_ms: float
    p95_ms: float
    conditions: Conditions | None = None
    answers: AnswerSummary | None = None

    @property
    def total(self) -> CategorySummary:
        return self.categories[0]


def read_history(home: IndexHome, label: str) -> list[EvalRecord]:
    """All records of a label, the oldest commit first; none where none was kept, or none that can be read."""
    try:
        return from_json(_path(home, label).read_bytes(), list[EvalRecord])
    except (FileNotFoundError, msgspec.DecodeError):
        return []  # the runs that its generations keep are complete without it


def note_record(home: IndexHome, label: str, record: EvalRecord) -> None:
    """Adds a record, in the place of an earlier one of its generation and set. The caller holds `pointer_lock`."""
    records = merged([record], read_history(home, label))[-_KEPT:]
    write_atomically(_path(home, label), msgspec.json.format(msgspec.json.encode(records)))


def merged(own: Sequence[EvalRecord], others: Sequence[EvalRecord]) -> list[EvalRecord]:
    """Both, the oldest commit first, those of one date in the order of their first runs; of a generation and set that
    both have, the one of `own`."""
    known = {_key(record): record for record in (*others, *own)}
    return sorted(known.values(), key=lambda record: record.commit_date)


def _path(home: IndexHome, label: str) -> Path:
    return home.label(label) / _FILE


def _key(record: EvalRecord) -> tuple[str, str]:
    return record.generation_id, record.set
