"""What `ask` answered to the questions of a set, as runs keep it, and the thresholds that were calibrated by it.

generations/{id}/eval/{set}.json    the answers, beside the ranks of the same questions (`index.eval_records`)
generations/{id}/threshold.json     the newest calibration: how sure `ask` must be of this generation
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from enum import StrEnum
from pathlib import Path

from rag_assets.contracts.llm import Profile
from rag_assets.errors import RagAssetsError
from rag_assets.index.layout import RecordDamaged, read_record, write_record

_CALIBRATION = "threshold.json"


class CalibrationDamaged(RagAssetsError):
    """Nobody knows how sure `ask` must be of a generation."""


BEST_MARK = 5
"""Of the marks that a judge gives; the least is 1."""


class Outcome(StrEnum):
    """What became of a question that was asked."""

    ANSWERED = "answered"
    UNSURE = "not sure"  # what is closest was quoted, and nothing was promised
    REFUSED = "refused"
    FAILED = "failed"  # neither: it could not be asked, or nothing usable came back


class Grade(StrEnum):
    """What an answer is worth beside what was expected of it."""

    RIGHT = "right"  # quotes a line or a fact that answers
    PARTLY = "partly"  # cites what was expected, and quotes nothing of it that answers
    WRONG = "wrong"  # cites nothing of what was expected, or answers what has no answer
    UNSURE = "not sure"
    REFUSED = "refused"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What a judge made of an answer (E25): its `marks` by criterion, from 1 to BEST_MARK, and its `reason`; none, and
    the `error`, where it gave no verdict that can be read. `cost` is in the currency of the configured prices."""

    marks: dict[str, int] = field(default_factory=dict)
    reason: str = ""
    error: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None

    @property
    def score(self) -> float | None:
        """The mean of the marks between 0 and 1; None without any."""
        if not self.marks:
            return None
        return (sum(self.marks.values()) / len(self.marks) - 1) / (BEST_MARK - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judging:
    """Who judged, and by what: the profile, its model as it is configured, and the digest of the rubric. The marks of
    two judges are not compared."""

    profile: Profile
    model: str
    rubric: str

    def __str__(self) -> str:
        return f"{self.model or self.profile}, rubric {self.rubric}"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerResult:
    """One question and its answer, without its text.

    `grade` compares it with what was expected, `cites_expected` is whether a target is among what it cites, also where
    it is not sure. `confidence` is that of the evidence. `checks` counts sentences by what the post-check says of them
    (`answer.citations.Support`), `cited` are the distinct files that they cite, `unknown_citations` the ids among
    the cited ones that were never retrieved. `precision` is the share of what is cited that is expected, each unknown
    id counting as a file that is not; None where nothing is cited. `recall` is the share of the targets that are cited;
    both are None for a question without an answer. `error` is what a model or the search failed with; the question may
    have been answered all the same, with quotes. `cost` is in the currency of the configured prices.
    `judged` is None where no judge was asked: in refusals and failures there is nothing to judge.
    """

    id: str
    question: str
    answerable: bool
    outcome: Outcome
    grade: Grade
    confidence: float
    seconds: float
    cites_expected: bool = False
    checks: dict[str, int] = field(default_factory=dict)
    cited: tuple[str, ...] = ()
    unknown_citations: int = 0
    precision: float | None = None
    recall: float | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None
    error: str = ""
    tags: tuple[str, ...] = ()
    judged: Judged | None = None

    @property
    def is_answered(self) -> bool:
        return self.outcome is Outcome.ANSWERED

    @property
    def is_wrong(self) -> bool:
        """Answered, and it should not have been, or it cites nothing of what was expected."""
        return self.grade is Grade.WRONG


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerConditions:
    """How the questions were asked: the pipeline by name and content, what answered (`extractive`, or the models), in
    which mode of search, below which confidence it refuses (`threshold`) and below which it is not `sure`, and a digest
    of the other settings of `answer`."""

    pipeline: str
    pipeline_hash: str
    model: str
    mode: str
    threshold: float
    sure: float
    settings: str = ""

    def differences(self, other: AnswerConditions) -> dict[str, tuple[str, str]]:
        """Name → (here, in the other), of what differs."""
        pairs = ((known.name, getattr(self, known.name), getattr(other, known.name)) for known in fields(self))
        return {name: (str(here), str(there)) for name, here, there in pairs if here != there}


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Two confidences: below `threshold` a question is refused, from `sure` on it is answered, and what is closest is
    shown between them. What that does to the questions that they were made from: the shares of the answerable that are
    not refused (`shown`) and `answered`, and of the others those that are `refused` and answered (`admitted`). They
    hold for searches in `mode`, and for confidences on `scale`: those of another version of this program mean something
    else."""

    threshold: float
    sure: float
    shown: float
    answered: float
    refused: float
    admitted: float
    answerable: int
    unanswerable: int
    set: str
    mode: str
    scale: str


def write_calibration(directory: Path, calibration: Calibration) -> None:
    """Keeps a calibration with its generation, in place of the former one. Raises OSError."""
    write_record(directory / _CALIBRATION, calibration)


def read_calibration(directory: Path) -> Calibration | None:
    """None where nothing was calibrated: the shipped thresholds hold. Raises CalibrationDamaged."""
    path = directory / _CALIBRATION
    try:
        return read_record(path, Calibration)
    except FileNotFoundError:
        return None
    except RecordDamaged as error:
        raise CalibrationDamaged(
            f"{path} is damaged or of another version: {error}; calibrate again with: rag-assets eval run --answers, "
            "or delete it to use the shipped thresholds"
        ) from error
