"""A language model as the judge of answers: marks by a rubric, each time with a reason (E25).

It is an opinion beside the numbers: nothing is promoted or refused because of it. Question, evidence and answer are
data between marks that they cannot contain, and what comes back is marks within their bounds or nothing. The rubric is
the shipped prompt, or a file in its place.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec

from rag_assets.answer.citations import cited_ids
from rag_assets.answer.token_budget import TokenCounter, pack
from rag_assets.contracts.llm import PROFILES, ChatMessage, Profile
from rag_assets.contracts.result import Message
from rag_assets.errors import RagAssetsError
from rag_assets.index.answer_results import BEST_MARK, Judged, Judging
from rag_assets.index.database import storable
from rag_assets.models.openai_compat.dry_run import answer_schema
from rag_assets.models.openai_compat.endpoint import ApiKey
from rag_assets.models.openai_compat.faults import FINAL, UNUSABLE, Fault, result_code
from rag_assets.models.openai_compat.responses import decode_answer
from rag_assets.models.openai_compat.token_counting import token_counter
from rag_assets.qa.errors import PipelineError
from rag_assets.qa.prompts import Prompt, parse_prompt
from rag_assets.qa.services import Generated, ModelCall
from rag_assets.settings.config_file import ConfigError
from rag_assets.settings.yaml_loader import Mark, Problem
from rag_assets.sources.secrets import masked

if TYPE_CHECKING:
    from rag_assets.answer.results import Answer
    from rag_assets.contracts.evidence import Evidence
    from rag_assets.qa.chat_model import AskModel
    from rag_assets.settings import Settings
    from rag_assets.settings.root import EvaluationSettings


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


PURPOSE = "judge"

_AGAIN = "\nYour last reply was not one JSON object of this form, with whole marks from 1 to 5. Reply with that only."

_MOST_TOKENS = 3_000
"""Of one reply. A verdict takes 150; models that think before they answer take ten times as many."""

_MOST_REASON = 600
"""Characters of a reason that are kept: it was asked for in one or two sentences."""

_FAILURES_BEFORE_STOP = 5
"""Answers in a row for which the server gave nothing: a dead one would otherwise cost its time limit for each."""

_SERVER = frozenset(result_code(code) for code in UNUSABLE | FINAL)
_HOPELESS = frozenset(result_code(code) for code in FINAL)

_Mark = Annotated[int, msgspec.Meta(ge=1, le=BEST_MARK)]


_UNUSABLE_RUBRIC = "unusable"


class _Verdict(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The reason comes first: marks that are written after it follow from it (Liu and others 2023, G-Eval)."""

    reason: Annotated[str, msgspec.Meta(min_length=1)]
    faithful: _Mark
    relevant: _Mark
    complete: _Mark


_SCHEMA = json.dumps(answer_schema(_Verdict))


class Judge:
    """Judges one answer after the other, at temperature 0."""

    def __init__(self, ask: AskModel, rubric: Rubric, how: Judging, *, budget: int, count: TokenCounter) -> None:
        """`how` is what runs keep of it; `budget` is that of the evidence that it is shown, in tokens of `count`."""
        self.how = how
        self._ask = ask
        self._rubric = rubric
        self._budget = budget
        self._count = count
        self._failed_in_a_row = 0
        self._stopped = ""

    def judge(self, answer: Answer) -> Judged:
        """The marks of an answer, or why there are none. A model whose reply is no verdict is asked once more; a server
        that fails is not, its calls were retried, and after some failures in a row it is not asked at all. Never raises
        for what a server or model can do (A17)."""
        if self._stopped:
            return Judged(error=f"not asked after {self._stopped}")
        shown = _shown(answer.evidence, cited_ids(answer.text), self._budget, self._count)
        system, user = self._rubric.messages(answer.question, shown, answer.text)
        call = ModelCall(
            purpose=PURPOSE,
            messages=(system, user),
            profile=self.how.profile,
            max_tokens=_MOST_TOKENS,
            temperature=0.0,
            schema=_SCHEMA,
        )
        first = self._asked(call)
        if first.marks or self._failed_in_a_row:
            return first
        again = replace(call, messages=(replace(system, content=system.content + _AGAIN), user))
        second = self._asked(again)
        costs = [cost for cost in (first.cost, second.cost) if cost is not None]
        return replace(
            second,
            prompt_tokens=first.prompt_tokens + second.prompt_tokens,
            completion_tokens=first.completion_tokens + second.completion_tokens,
            cost=sum(costs) if costs else None,
        )

    def _asked(self, call: ModelCall) -> Judged:
        try:
            result = self._ask(call)
        except RagAssetsError as error:  # of recorded replies: this question was not recorded
            return Judged(error=str(error))
        if result.value is None:
            self._note(result.errors[0])
            return Judged(error=str(result.errors[0]))
        self._failed_in_a_row = 0
        return _verdict(result.value)

    def _note(self, error: Message) -> None:
        if error.code not in _SERVER:
            self._failed_in_a_row = 0
            return
        self._failed_in_a_row += 1
        if error.code in _HOPELESS or self._failed_in_a_row >= _FAILURES_BEFORE_STOP:
            self._stopped = str(error)


def _verdict(written: Generated) -> Judged:
    """Strictly one object with all marks; anything else is no verdict."""
    found = decode_answer(written.text, _Verdict, ApiKey())
    took = Judged(
        prompt_tokens=written.prompt_tokens,
        completion_tokens=written.completion_tokens,
        cost=written.cost,
    )
    if isinstance(found, Fault):
        return replace(took, error=f"{result_code(found.code)}: {found.text}")
    marks = {"faithful": found.faithful, "relevant": found.relevant, "complete": found.complete}
    reason = ApiKey().masked(storable(masked(found.reason)))
    return replace(took, marks=marks, reason=" ".join(reason.split())[:_MOST_REASON])


def _shown(evidence: Sequence[Evidence], cited: Sequence[str], budget: int, count: TokenCounter) -> str:
    """What is cited, then what is left of the budget from the rest: a statement is judged by what it cites first."""
    wanted = set(cited)
    own = [piece for piece in evidence if wanted & set(piece.ids)]
    first = pack(own, budget, count)
    others = [piece for piece in evidence if not wanted & set(piece.ids)]
    left = budget - first.tokens
    rest = pack(others, left, count).text if others and left > 0 else ""
    return "\n".join(filter(None, (first.text, rest)))


def configured_judge(settings: Settings, profile: str | None = None) -> Judge | None:
    """The judge of `evaluation.judge`, or the model of `profile` in its place; None where neither says one. Makes no
    request. Raises ConfigError for a profile that there is not, or that has no model, and PipelineError for a rubric
    that cannot be used."""
    rules, answer = settings.evaluation, settings.answer
    chosen = rules.judge if profile is None else _profile(profile)
    if chosen is None:
        return None
    named = answer.model_of(chosen).model
    if answer.replies != "replay" and not (answer.base_url and named):
        raise ConfigError(f"no model judges as {chosen!r}: set answer.base_url and answer.{chosen}.model")
    from rag_assets.qa.ask_options import configured_model

    rubric, ask = read_rubric(rules.judge_rubric), configured_model(answer, chosen)
    assert ask is not None  # there is a server, or a recording
    return Judge(
        ask,
        rubric,
        Judging(profile=chosen, model=named, rubric=rubric.digest),
        budget=answer.max_context_tokens,
        count=token_counter(answer.tokenizer),
    )


def _profile(named: str) -> Profile:
    for known in PROFILES:
        if known == named:
            return known
    raise ConfigError(f"unknown profile {named!r} for the judge; valid: {', '.join(PROFILES)}")


def rubric_stamp(rules: EvaluationSettings) -> str:
    """What the rubric of the judge says, where there is a judge: answers are marked again by another one."""
    if rules.judge is None:
        return ""
    try:
        return read_rubric(rules.judge_rubric).digest
    except PipelineError:
        return _UNUSABLE_RUBRIC  # who opens the judge says why
