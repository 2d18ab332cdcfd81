"""Artifacts: evidence for every section, writing, the form and the citations of what was written (E16–E19)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import msgspec

from rag_assets.answer.abstention import is_refusal
from rag_assets.answer.artifact.templates import (
    ARTIFACTS,
    NOTHING_FOUND,
    TEMPLATES,
    Material,
    OutputType,
    Section,
    Template,
    is_whole,
    joined,
    left_out,
    normalised,
    problems_of,
    split,
)
from rag_assets.answer.citations import CheckedSentence, Policy, Support, by_id, check, is_cited
from rag_assets.answer.question_analysis import QueryTerm, covered, roots_of
from rag_assets.answer.results import EXTRACTIVE
from rag_assets.contracts.evidence import Evidence
from rag_assets.contracts.llm import Profile
from rag_assets.contracts.retrieval import Mode
from rag_assets.qa.actions.model import MaxTokens
from rag_assets.qa.actions.retrieval import Count, ensure_readable
from rag_assets.qa.definition.action_registry import Action, PromptName, StepOutcome
from rag_assets.qa.definition.steps import Transition
from rag_assets.qa.errors import TurnError
from rag_assets.qa.reply_parser import InvalidReply
from rag_assets.qa.turn import Turn, TurnContext
from rag_assets.search.query_parser import plain_question

if TYPE_CHECKING:
    from rag_assets.answer.artifact.findings import Surveyed
    from rag_assets.answer.context_pack import AnswerInputs

_WRAPPED = re.compile(r"\s*```(?:markdown|md)?[ \t]*\n(?P<inside>.*)\n```\s*", re.DOTALL)
_README = "README"
_UNCITED = "it cited nothing of the evidence that supports it"
_PICTURE = re.compile(r"^```mermaid\n.*?^```$\n?", re.DOTALL | re.MULTILINE)
_MARKS: Mapping[Material, str] = {
    Material.TASKS: "TODO FIXME HACK",
    Material.DEFECTS: "Obsolete NotImplementedException catch Exception",
}
_MARKED = 60
"""Pieces that are looked through for lines with such marks: each list shows eight lines."""
_BEST = 8
"""Pieces of evidence that stand for a subject: what follows is mostly about something near it."""
_LEAST_SHARED = 0.34
"""Of the subject's words, by rarity, that such a piece must have."""
_MOST_PROBLEMS = 8
"""Problems that a model is told at once: a text with more is no attempt at the artifact."""


class FetchForSections(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`per_section` pieces for each section, besides those of the subject."""

    per_section: Count = 6
    mode: Mode | None = None


class WriteArtifact(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`max_tokens` is used instead of that of the output type; `temperature` is low (E18)."""

    prompt: PromptName = "artifact"
    profile: Profile = "balanced"
    max_tokens: MaxTokens | None = None
    temperature: Annotated[float, msgspec.Meta(ge=0, le=0.4)] = 0.2


def fetch_for_sections(turn: Turn, parameters: FetchForSections, run: TurnContext) -> StepOutcome:
    """Searches for the subject, then for each section of the artifact, within the filters of the request. on_other
    where the subject is not what the index is about: its best evidence is weaker than `sure_from`, or there is none
    (E20, E22)."""
    template, subject = _template(run), turn.question_en
    mode = parameters.mode or run.settings.default_mode
    whole = is_whole(subject)
    repository = run.settings.repository or turn.label.partition("@")[0]
    turn, reading = _searched(turn, f"{_README} {repository}" if whole else subject, mode, None, run)
    turn = replace(turn, reading=reading)
    if not whole:
        ensure_readable(turn, turn.label, reading)
    if not whole and (not reading.evidence or reading.confidence < run.settings.sure_from):
        reason = f"what was found does not fit the subject ({reading.confidence:.2f} of {run.settings.sure_from:.2f})"
        return StepOutcome(replace(turn, reason=reason), Transition.OTHER, (reason,))
    sections: dict[str, tuple[str, ...]] = {}
    for heading, section in zip(template.headings, template.sections, strict=True):
        query = section.cues if whole else f"{subject} {section.cues}"
        turn, found = _searched(turn, query, mode, parameters.per_section, run)
        sections[heading] = tuple(piece.id for piece in found.evidence)
        reading = reading if reading.lost else found
    if not turn.evidence:
        ensure_readable(turn, turn.label, reading)
        return StepOutcome(turn, Transition.OTHER, ("nothing was found",))
    notes = (f"{len(turn.evidence)} pieces for {len(sections)} sections",)
    return StepOutcome(replace(turn, sections=sections), Transition.OK, notes)


def write_artifact(turn: Turn, parameters: WriteArtifact, run: TurnContext) -> StepOutcome:
    """Asks a model for the whole artifact at once: its sections must not contradict each other."""
    template = _template(run)
    values = {
        "question": turn.question_en,
        "original_question": turn.asked.typed,
        "history": turn.history.text,
        "evidence": turn.context,
        "artifact": template.name,
        "sections": _told_to_write(turn, template),
    }
    call, reply, fault = run.ask(
        turn,
        parameters.prompt,
        values,
        profile=parameters.profile,
        max_tokens=parameters.max_tokens or template.max_tokens,
        temperature=parameters.temperature,
        streamed=True,
    )
    notes = (f"the model gave nothing: {fault}",) if fault else ()
    return StepOutcome(replace(turn, call=call, reply=reply, fault=fault, endless=run.was_endless), notes=notes)


def check_artifact(turn: Turn, parameters: msgspec.Struct, run: TurnContext) -> StepOutcome:
    """The form of what was written, then its citations. A form that is wrong is asked about once, by what is wrong.

    on_answer: an artifact, every sentence checked as `citation_policy` says. on_deny: the model says that the evidence
    is not enough. on_other: nothing that can be used.
    """
    template, evidence = _template(run), turn.evidence
    if turn.call is None or (turn.fault and not turn.endless):
        return StepOutcome(turn, Transition.OTHER)
    written, turn, notes = _in_form(turn, template, run)
    if written is None:
        return StepOutcome(turn, Transition.OTHER, notes)
    text = turn.without_links(written)
    turn = replace(turn, provider=run.model)
    if is_refusal(text):
        said = f"{run.model} does not find enough about it in what was retrieved"
        return StepOutcome(replace(turn, reason=said), Transition.DENY, (*notes, said))
    policy = Policy(run.settings.citation_policy)
    with run.clock.step("check"):
        checked = [_checked(section, evidence, policy) for section in normalised(text, template)]
    checks = tuple(one for _, found in checked for one in found)
    bad = tuple(
        f"{one.support.value}: {one.problem or one.sentence.text}"
        for one in checks
        if one.support is not Support.SUPPORTED
    )
    made = joined([section for section, _ in checked])
    if not is_cited(made, evidence) or all(one.support is not Support.SUPPORTED for one in checks):
        return StepOutcome(replace(turn, fault=_UNCITED), Transition.OTHER, (*notes, *bad, _UNCITED))
    turn = turn.warned(*(f"a sentence is not supported: {problem}" for problem in bad))
    return StepOutcome(replace(turn, answer_en=made, checks=checks), Transition.ANSWER, (*notes, *bad))


def _in_form(turn: Turn, template: Template, run: TurnContext) -> tuple[str | None, Turn, tuple[str, ...]]:
    """(what the model wrote in the form of the template, or its refusal; None for what is neither, also when it was
    asked once more; the state; notes)."""
    assert turn.call is not None
    known = by_id(turn.evidence)
    text = _unwrapped(turn.reply)
    problems = (
        (InvalidReply.ENDLESS.value,)
        if turn.endless
        else ()
        if is_refusal(text)
        else problems_of(text, template, known)
    )
    if not problems:
        return text, turn, ()
    notes: tuple[str, ...] = (f"{_told(problems)}; asked once more",)
    _, reply, fault = run.ask_again(turn.call, turn.reply, _complaint(template, problems))
    text = _unwrapped(reply)
    problems = () if fault or is_refusal(text) else problems_of(text, template, known)
    if fault or problems:
        said = fault or f"what it wrote is no {template.name}: {_told(problems)}"
        return None, replace(turn, reply=reply, fault=said, endless=False), (*notes, f"again: {said}")
    return text, replace(turn, reply=reply, fault="", endless=False), notes


def artifact_from_evidence(turn: Turn, _: msgspec.Struct, run: TurnContext) -> StepOutcome:
    """An artifact without a model: what the index says as a whole and quotes, with citations, section by section. A
    section that nothing fills is left out, and a line at the top names it. on_other where nothing fills any."""
    template, label = _template(run), turn.label
    turn = _with_marked_lines(turn, template, run)
    found = turn.found_in(label)
    subject = () if is_whole(turn.question_en) else run.services.asked_words(label, turn.question_en)
    cues = {
        heading: run.services.asked_words(label, section.cues) for heading, section in template.without_model.items()
    }
    from rag_assets.answer.artifact.extractive import quoted, within  # start-up budget: of no other answer

    with run.clock.step("survey"):
        turn, surveyed = _surveyed(turn, subject, run)
    evidence = found.all if surveyed is None else surveyed.evidence
    with run.clock.step("answer"):
        made = quoted(template, evidence, turn.sections, found.neighbourhood, subject, cues, surveyed)
        sections = within(made.sections, run.settings.max_context_tokens, run.services.count_tokens)
    if not sections:
        return StepOutcome(turn, Transition.OTHER, ("no section has anything to quote",))
    if turn.fault:
        turn = turn.warned(f"quotes only, the model gave no artifact: {turn.fault}")
    checks = [one for section in sections for one in check(_PICTURE.sub("", section.body), made.evidence).sentences]
    told = replace(found, evidence=made.evidence, texts=())
    missing = left_out(template, sections)
    turn = replace(
        turn,
        answer_en=joined(sections, missing),
        found={**turn.found, label: told},
        checks=tuple(checks),
        provider=EXTRACTIVE,
        fault="",
    )
    return StepOutcome(turn, Transition.ANSWER, (f"quotes only: {len(sections)} sections, {len(missing)} left out",))


def _with_marked_lines(turn: Turn, template: Template, run: TurnContext) -> Turn:
    """The state with more pieces whose lines say what is wrong or left to do. Their marks are words like others, which
    the words of a section outweigh."""
    subject = "" if is_whole(turn.question_en) else f"{turn.question_en} "
    sections = dict(turn.sections)
    for material, marks in _MARKS.items():
        headings = [heading for heading, one in template.without_model.items() if material in one.materials]
        if headings:
            turn, found = _searched(turn, f"{subject}{marks}", run.settings.default_mode, _MARKED, run)
            ids = tuple(piece.id for piece in found.evidence)
            sections |= {heading: (*sections.get(heading, ()), *ids) for heading in headings}
    return replace(turn, sections=sections)


def _surveyed(turn: Turn, subject: tuple[QueryTerm, ...], run: TurnContext) -> tuple[Turn, Surveyed | None]:
    """(the state with a warning where an index has no graph, what the indexes say as a whole: about a subject of what
    its best evidence touches). None for a narrowed request, which is about its hits alone."""
    if turn.is_narrowed:
        return turn, None
    from rag_assets.answer.artifact.findings import surveyed  # start-up budget: no other answer reads a whole graph
    from rag_assets.answer.artifact.survey import survey

    about = None if not subject else _best_of(turn, subject)
    parts = []
    for index, graph in run.services.graphs(turn.label):
        if isinstance(graph, str):
            turn = turn.warned(graph)
        else:
            parts.append((index, survey(index, graph, about)))
    return turn, surveyed(parts, turn.found_in(turn.label).all) if parts else None


def _best_of(turn: Turn, subject: tuple[QueryTerm, ...]) -> tuple[Evidence, ...]:
    """The best evidence of the subject."""
    pieces = turn.reading.evidence if turn.reading is not None else ()
    texts = ((one, f"{one.symbol} {one.path}\n{one.text}") for one in pieces)
    return tuple(one for one, text in texts if covered(subject, roots_of(text)) >= _LEAST_SHARED)[:_BEST]


def _searched(turn: Turn, query: str, mode: Mode, limit: int | None, run: TurnContext) -> tuple[Turn, AnswerInputs]:
    """(the state with what a search brings, what it read). The filters of the person who asked hold for it."""
    asked = turn.asked
    question = replace(plain_question(query), wanted=asked.wanted, excluded=asked.excluded)
    started = perf_counter()
    reading = run.services.search(
        turn.label, question, mode, limit or run.settings.retrieval_top_k, turn.request.filters
    )
    run.clock.add("search", perf_counter() - started)
    found = turn.found_in(turn.label)
    known = {identifier for piece in found.all for identifier in piece.ids}
    new = tuple(piece for piece in reading.evidence if not known.issuperset(piece.ids))
    kept = replace(found, evidence=(*found.evidence, *new))
    return replace(turn, found={**turn.found, turn.label: kept}).warned(*reading.warnings), reading


def _checked(
    section: Section, evidence: Sequence[Evidence], policy: Policy
) -> tuple[Section, tuple[CheckedSentence, ...]]:
    """A section after the policy, and what the check says of its sentences; one that has no citation left says that
    nothing was found."""
    if section.says_nothing:
        return section, ()
    report = check(section.body, evidence, policy)
    if not is_cited(report.text, evidence):
        return Section(section.heading, NOTHING_FOUND), report.sentences
    return Section(section.heading, report.text), report.sentences


def _told(problems: Sequence[str]) -> str:
    return "; ".join(problems[:_MOST_PROBLEMS])


def _told_to_write(turn: Turn, template: Template) -> str:
    """The headings with what belongs below each, and which pieces were found for it."""
    lines = []
    for heading, section in zip(template.headings, template.sections, strict=True):
        ids = ", ".join(turn.sections.get(heading, ()))
        lines.append(f"{heading}\n  says {section.purpose}.{f' Searched for it: {ids}' if ids else ''}")
    return "\n".join(lines)


def _complaint(template: Template, problems: tuple[str, ...]) -> str:
    told = "\n".join(f"- {problem}" for problem in problems[:_MOST_PROBLEMS])
    return (
        f"Write the whole {template.name} again, from {template.headings[0]!r} to the end of "
        f"{template.headings[-1]!r}, and nothing else. What was wrong:\n{told}"
    )


def _unwrapped(reply: str) -> str:
    """Many models put a document into a code block, whatever they are told."""
    found = _WRAPPED.fullmatch(reply)
    return found["inside"] if found is not None and split(found["inside"])[1] else reply


def _template(run: TurnContext) -> Template:
    output = run.settings.output_type
    if output is OutputType.ANSWER:
        raise TurnError(f"output_type is {output}, which has no sections; set one of: {', '.join(ARTIFACTS)}")
    return TEMPLATES[output]


ACTIONS = (
    Action(
        "fetch_for_sections",
        fetch_for_sections,
        1,
        FetchForSections,
        outcomes=(Transition.OK, Transition.OTHER),
    ),
    Action("write_artifact", write_artifact, 1, WriteArtifact),
    Action("check_artifact", check_artifact, 3, outcomes=(Transition.ANSWER, Transition.DENY, Transition.OTHER)),
    Action("artifact_from_evidence", artifact_from_evidence, 2, outcomes=(Transition.ANSWER, Transition.OTHER)),
)
