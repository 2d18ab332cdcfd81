"""What is wrong with a pipeline or with running one, in words for people."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rag_assets.contracts.errors import ExpectedError


@dataclass(frozen=True, slots=True, order=True)
class Mark:
    """A place in a pipeline file; lines are 1-based."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong, and where."""

    mark: Mark
    text: str

    def __str__(self) -> str:
        return f"{self.mark}: {self.text}"


class PipelineError(ExpectedError, ValueError):
    """A pipeline that cannot be used. `problems` are all that were found, in the order of files and lines; the text
    has one line for each."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(sorted(problems, key=lambda problem: (problem.mark, problem.text)))
        super().__init__("\n".join(map(str, self.problems)))


class UnknownPipeline(ExpectedError, LookupError):
    """No pipeline of this name; the text names near ones."""


class TurnError(ExpectedError):
    """A turn that could not be brought to an end; the text names the step and the cause."""
