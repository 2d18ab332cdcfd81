"""How well generations answer: the runs of question sets, the decisions of the promotion gate, and the history of a
label.

generations/{id}/eval/{set}.json    the newest run of each question set
generations/{id}/gate.json          the newest decision about serving this generation
labels/{label}/eval_history.json    one record per generation and question set; it outlives pruned generations
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from rag_assets.errors import RagAssetsError
from rag_assets.index.answer_results import AnswerConditions, AnswerResult, Calibration, Judging
from rag_assets.index.layout import IndexHome, RecordDamaged, path_slug, read_record, write_record
from rag_assets.sources.secrets import masked

_log = logging.getLogger(__name__)

_FILE = "eval_history.json"
_KEPT = 500  # records: years of nightly builds of one question set, in a file of about a megabyte


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean, and between what it lies with 95 % (`evaluation.metrics`)."""

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
    `recall` are of the answered questions with something expected, `wrong` of all answered ones, `right`, `partly` and
    `unsure` of the answerable, `declined` (refused or not sure) of the others. Latencies are milliseconds of a whole
    turn. `cost` is None where no prices are configured, `judge` where nobody judged."""

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
    right: Estimate | None = None
    partly: Estimate | None = None
    unsure: Estimate | None = None
    declined: Estimate | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenCosts:
    """What one way of reading costs (`evaluation.tokens`): `expected` tokens until the first file that answers, those
    of a `page` of five, and the share of the files that each budget reaches; the median until the lines that answer,
    and the share of the questions whose lines each budget reaches, None and empty where no lines are known."""

    name: str
    expected: int
    page: int
    recall: dict[str, float]
    member_median: int | None = None
    member_recall: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalRecord:
    """One run in numbers (E24). `categories` begin with that of all questions; latencies are milliseconds of one.
    `answers` is None for one that only searched."""

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
    conditions: Conditions
    answers: AnswerSummary | None = None

    @property
    def total(self) -> CategorySummary:
        return self.categories[0]


class HistoryDamaged(RagAssetsError):
    """The numbers of former generations cannot be read."""


@dataclass(frozen=True, slots=True)
class _History:
    records: list[EvalRecord]


def read_history(home: IndexHome, label: str) -> list[EvalRecord]:
    """All records of a label, the oldest commit first. Raises HistoryDamaged."""
    path = _path(home, label)
    try:
        return read_record(path, _History).records
    except FileNotFoundError:
        return []
    except RecordDamaged as error:
        raise HistoryDamaged(
            f"{path} is damaged: {error}; delete it to lose the numbers of deleted generations"
        ) from error


def note_record(home: IndexHome, label: str, record: EvalRecord) -> None:
    """Adds a record, in the place of an earlier one of its generation and set. The caller holds `pointer_lock`."""
    records = merged([record], read_history(home, label))[-_KEPT:]
    write_record(_path(home, label), _History(records))


def merged(own: Sequence[EvalRecord], others: Sequence[EvalRecord]) -> list[EvalRecord]:
    """Both, the oldest commit first, those of one date in the order of their first runs; of a generation and set that
    both have, the one of `own`."""
    known = {(record.generation_id, record.set): record for record in (*others, *own)}
    return sorted(known.values(), key=lambda record: record.commit_date)


def _path(home: IndexHome, label: str) -> Path:
    return home.label(label) / _FILE


_RUNS = "eval"
_DECISION = "gate.json"
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class RankedFile:
    """One of the ranked distinct files of an answer, with its best section."""

    path: str
    symbol: str
    point_id: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionResult:
    """One question and what it found. `scores` are by metric, `first_rank` is that of the first relevant file, 0 where
    none was found. `absent` are the relevant files that the generation does not have at all. Each of its `tags` is a
    category that the question counts in."""

    id: str
    question: str
    scores: dict[str, float]
    first_rank: int
    files: tuple[RankedFile, ...]
    seconds: float
    absent: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


class RankChange(StrEnum):
    """What became of a question between two runs. `GAINED` and `LOST`: an answer among the first k files, or no more;
    `UP` and `DOWN`: within or beyond them at another rank, or at the same with more or less beside it."""

    LOST = "lost"
    DOWN = "down"
    GAINED = "gained"
    UP = "up"


@dataclass(frozen=True, slots=True)
class QuestionChange:
    """A question that two runs answer differently; ranks of the first relevant file, 0 for none."""

    id: str
    question: str
    move: RankChange
    before: int
    now: int


@dataclass(frozen=True, slots=True)
class RunDifference:
    """What a run answers differently than that of `generation_id`, the losses first; `same` questions did not move."""

    generation_id: str
    moved: tuple[QuestionChange, ...]
    same: int

    def count(self, move: RankChange) -> int:
        return sum(question.move is move for question in self.moved)


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalRun:
    """One question set asked of one generation (E24). `metrics` are means over the questions, `version` that of the
    metrics; `mode` is the one that answered, `conditions` is what was asked for. `subject` says which bytes were asked
    while the generation was being built; empty for a finished one. `against` is what it answers differently than the
    generation that was served then; None where there was none that had been asked the same.

    `answers` are what `ask` made of the questions, or of some of them, and of those that have no answer in the index,
    `answering` is how; none, and None, where only the search was asked. `calibration` is the threshold that follows
    from them, where they are enough for one. `judging` is who judged the answers; None where nobody did. `tokens` are
    what reading the results costs, where it was asked (`eval tokens`), `tokenizer` is what counted them."""

    set: str
    fingerprint: str
    generation_id: str
    k: int
    version: int
    mode: str
    embedding_model: str
    conditions: Conditions
    metrics: dict[str, float]
    results: tuple[QuestionResult, ...]
    subject: str = ""
    against: RunDifference | None = None
    answers: tuple[AnswerResult, ...] = ()
    answering: AnswerConditions | None = None
    calibration: Calibration | None = None
    judging: Judging | None = None
    tokens: tuple[TokenCosts, ...] = ()
    tokenizer: str = ""

    def measures(self, fingerprint: str, k: int, version: int) -> bool:
        """True where this run asked exactly these questions, and measured in this way."""
        return (self.fingerprint, self.k, self.version) == (fingerprint, k, version)

    def is_like(self, other: EvalRun, but: Collection[str] = ()) -> bool:
        """True where the numbers of both can only differ because of what was asked (R9): the same questions, measured
        in the same way, of indexes that were searched in the same way, `but` for conditions that do not count."""
        unlike = self.conditions.differences(other.conditions).keys() - but
        return self.measures(other.fingerprint, other.k, other.version) and not unlike


class Verdict(StrEnum):
    PASSED = "passed"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class MetricChange:
    """A metric of candidate and active generation. `floor` is what the candidate must reach; None: not gated."""

    metric: str
    candidate: float
    active: float | None = None
    floor: float | None = None
    holds: bool = True

    @property
    def delta(self) -> float | None:
        return None if self.active is None else self.candidate - self.active


@dataclass(frozen=True, slots=True)
class WorseQuestion:
    """A question that the candidate answers worse; ranks of the first relevant file, 0 for none."""

    id: str
    question: str
    active_rank: int
    candidate_rank: int
    drop: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What the gate decided about a generation, and the numbers it had. Without a run of an active generation on the
    same questions `active_generation_id` is empty and `reason` says why."""

    verdict: Verdict
    reason: str
    generation_id: str
    active_generation_id: str
    set: str
    fingerprint: str
    questions: int
    tolerance: float
    changes: tuple[MetricChange, ...]
    worse: tuple[WorseQuestion, ...] = ()
    better: int = 0
    absent: tuple[str, ...] = field(default=())

    @property
    def refused(self) -> bool:
        return self.verdict is Verdict.REFUSED


def write_run(directory: Path, run: EvalRun) -> Path:
    """Stores a run in the directory of its generation, over the former run of its set. Raises OSError."""
    return _write(run_path(directory, run.set), run)


def read_run(directory: Path, name: str) -> EvalRun | None:
    """The newest run of a question set; None where there is none, or none that this version can read."""
    return _read(run_path(directory, name), EvalRun)


def read_run_file(path: Path) -> EvalRun | None:
    """A run in a file of its own, as `eval run --out` writes it; None where it holds no run that can be read."""
    return _read(path, EvalRun)


def write_run_file(path: Path, run: EvalRun) -> Path:
    """Stores a run where a person wants it. Raises OSError."""
    return _write(path, run)


def read_runs(directory: Path) -> list[EvalRun]:
    """The newest run of every question set that was asked, by name."""
    found = (_read(path, EvalRun) for path in sorted((directory / _RUNS).glob("*.json")))
    return [run for run in found if run is not None]


def write_decision(directory: Path, decision: Decision) -> Path:
    return _write(directory / _DECISION, decision)


def read_decision(directory: Path) -> Decision | None:
    """The newest decision; None where the gate was never asked, or by a version that cannot be read."""
    return _read(directory / _DECISION, Decision)


def forget_decision(directory: Path) -> None:
    """A label without questions has no decision, whatever was decided when it had some."""
    (directory / _DECISION).unlink(missing_ok=True)


def format_metrics(metrics: Mapping[str, float]) -> str:
    """`recall@10 0.812, mrr@10 0.640`."""
    return ", ".join(f"{name} {value:.3f}" for name, value in metrics.items())


def run_path(directory: Path, name: str) -> Path:
    """Where the newest run of a question set is, in the directory of its generation."""
    return directory / _RUNS / f"{path_slug(name)}.json"


def _write(path: Path, record: Any) -> Path:
    """Questions, errors and verdicts in it are texts of people and models."""
    write_record(path, masked(msgspec.to_builtins(record)))
    return path


def _read(path: Path, kind: type[_T]) -> _T | None:
    try:
        return read_record(path, kind)
    except FileNotFoundError:
        return None
    except RecordDamaged as error:
        said = "%s is damaged or of another version: %s; ask its set again with: rag-assets eval run"
        _log.warning(said, path, error)
        return None
