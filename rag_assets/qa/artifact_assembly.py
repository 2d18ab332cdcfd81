"""An artifact from its turn: what was made, by whom, with which sources, and what is wrong with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag_assets.answer.artifact.output import OutputType
from rag_assets.answer.artifact.structure import Section, split
from rag_assets.answer.artifact.templates import WHOLE

if TYPE_CHECKING:
    from collections.abc import Callable

    from rag_assets.answer.results import Answer
    from rag_assets.qa.answering import QuestionAnswerer
    from rag_assets.qa.engine import TurnResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """`answer` has the text with `[chunk: id]` marks, its citations and checks, who wrote it and what that took;
    `sections` are the parts of the text, none of a refusal. `turn` has the trace and the lock."""

    output: OutputType
    subject: str
    agent: str
    label: str
    sections: tuple[Section, ...]
    answer: Answer
    turn: TurnResult

    @property
    def refused(self) -> bool:
        return self.answer.abstained


def make_artifact(
    asker: QuestionAnswerer, subject: str = WHOLE, *, on_text: Callable[[str], None] = lambda text: None
) -> Artifact:
    """The artifact that the agent of `asker` writes (`AskOptions.agent`). Raises what `Asker.ask` raises."""
    pipeline = asker.pipeline()
    result = asker.ask(subject, on_text=on_text)
    assert result.response is not None  # only a request that was answered before has none
    return Artifact(
        output=pipeline.settings.output_type,
        subject=subject,
        agent=pipeline.agent,
        label=asker.label,
        sections=() if result.response.abstained else split(result.response.text)[1],
        answer=result.response,
        turn=result,
    )
