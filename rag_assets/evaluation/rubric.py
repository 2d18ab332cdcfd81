"""The rubric of a judge: the shipped prompt, or a file of one's own in its place (E25)."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from rag_assets.contracts.llm import ChatMessage
from rag_assets.qa.errors import PipelineError
from rag_assets.qa.prompts import Prompt, parse_prompt
from rag_assets.settings.yaml_loader import Mark, Problem

_SHIPPED = files("rag_assets.evaluation") / "prompts" / "judge.md"
_NEEDED = ("question", "evidence", "draft")


@dataclass(frozen=True, slots=True)
class Rubric:
    """What a judge is told. `digest` is of its text: marks by two rubrics are not compared."""

    prompt: Prompt

    @property
    def digest(self) -> str:
        return self.prompt.digest

    def messages(self, question: str, evidence: str, answer: str) -> tuple[ChatMessage, ChatMessage]:
        """The system message, which nothing of the three is in, and the user message, which has them as data."""
        system, user = self.prompt.messages({"question": question, "evidence": evidence, "draft": answer})
        return system, user


def read_rubric(file: Path | None = None) -> Rubric:
    """The rubric of a file; without one the shipped. Raises PipelineError naming file and line for one that cannot be
    used: it has to show question, evidence and answer (`{draft}`), and to show them as the user."""
    named = "judge.md" if file is None else str(file)
    try:
        text = (_SHIPPED if file is None else file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PipelineError([Problem(Mark(named, 1), f"the rubric cannot be read: {error}")]) from error
    prompt = parse_prompt("judge", text, named)
    lines = text.replace("\r\n", "\n").split("\n")
    shown, told = (Prompt("", system, user, "").names for system, user in (("", prompt.user), (prompt.system, "")))
    at_system, at_user = (Mark(named, lines.index(part) + 1) for part in ("# system", "# user"))
    problems = [Problem(at_user, f"the user part has to show {{{name}}}") for name in _NEEDED if name not in shown]
    problems += [Problem(at_user, f"nothing fills {{{name}}} in a rubric") for name in sorted(shown - {*_NEEDED})]
    problems += [Problem(at_system, f"the system part of a rubric is filled with nothing: {{{name}}}") for name in told]
    if problems:
        raise PipelineError(problems)
    return Rubric(prompt)
