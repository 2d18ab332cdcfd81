"""Artifacts: evidence for every section, writing, the form and the citations of what was written (E16–E19)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

import msgspec

from rag_assets.contracts.llm import Profile
from rag_assets.contracts.retrieval import Mode
from rag_assets.query.answer.checking import Policy, Support, check
from rag_assets.query.answer.citations import by_id, citations_of
from rag_assets.query.answer.evidence import Evidence
from rag_assets.query.answer.prompting import is_refusal
from rag_assets.query.artifact.output import ARTIFACTS, OutputType
from rag_assets.query.artifact.quoting import quoted
from rag_assets.query.artifact.structure import Section, joined, normalised, problems_of, split
from rag_assets.query.artifact.templates import NOTHING_FOUND, TEMPLATES, Template, is_whole
from rag_assets.query.pipeline.actions.model import MaxTokens
from rag_assets.query.pipeline.actions.retrieval import Count
from rag_assets.query.pipeline.errors import TurnError
from rag_assets.query.pipeline.registry import Action, Outcome, PromptName
from rag_assets.query.pipeline.run import Run
from rag_assets.query.pipeline.state import Turn
from rag_assets.query.pipeline.steps import On

_WRAPPED = re.compile(r"\s*```(?:markdown|md)?[ \t]*\n(?P<inside>.*)\n```\s*", re.DOTALL)
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


def fetch_for_sections(turn: Turn, parameters: FetchForSections, run: Run) -> Outcome:
    """Searches for the subject, then for each section of the artifact. on_other where the subject is not what the index
    is about: its best evidence is weaker than `weak_below`, or there is none (E20, E22)."""
    template = _template(run)
    subject = turn.question_en
    mode = parameters.mode or run.settings.default_mode
    queries = [(heading, section.cues) for heading, section in zip(template.headings, template.sections, strict=True)]
    notes: list[str] = []
    found = turn.found_in(turn.label)
    pieces = list(found.evidence)
    seen = {identifier for piece in pieces for identifier in piece.ids}

    def search(query: str, limit: int) -> tuple[tuple[str, ...], float | None]:
        retrieved = run.services.search(turn.label, query, mode, limit)
        notes.extend(warning for warning in retrieved.warnings if warning not in notes)
        for piece in retrieved.evidence:
            if not seen.issuperset(piece.ids):
                pieces.append(piece)
                seen.update(piece.ids)
        return tuple(piece.id for piece in retrieved.evidence), retrieved.strength

    if is_whole(subject):
        search(f"README {run.settings.repository or turn.label.partition('@')[0]}", run.settings.retrieval_top_k)
    else:
        ids, strength = search(subject, run.settings.retrieval_top_k)
        if not ids or (strength is not None and strength < run.settings.weak_below):
            fit = f" ({strength:.2f} of {run.settings.weak_below:.2f})" if strength is not None else ""
            said = f"What was found does not fit the subject well enough{fit}." if ids else "Nothing was found."
            kept = replace(turn, found={**turn.found, turn.label: replace(found, evidence=tuple(pieces))})
            return Outcome(replace(kept, refusal=said), On.OTHER, tuple(notes))
    sections = {
        heading: search(cues if is_whole(subject) else f"{subject} {cues}", parameters.per_section)[0]
        for heading, cues in queries
    }
    turn = replace(turn, sections=sections, found={**turn.found, turn.label: replace(found, evidence=tuple(pieces))})
    if not pieces:
        return Outcome(replace(turn, refusal="Nothing was found."), On.OTHER, tuple(notes))
    return Outcome(turn, On.OK, (*notes, f"{len(pieces)} pieces for {len(sections)} sections"))


def write_artifact(turn: Turn, parameters: WriteArtifact, run: Run) -> Outcome:
    """Asks a model for the whole artifact at once: its sections must not contradict each other."""
    template = _template(run)
    values = {
        "question": turn.question_en,
        "original_question": turn.request.question,
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
    )
    notes = (f"the model gave nothing: {fault}",) if fault else ()
    return Outcome(replace(turn, call=call, reply=reply, fault=fault), notes=notes)


def check_artifact(turn: Turn, parameters: msgspec.Struct, run: Run) -> Outcome:
    """The form of what was written, then its citations. A form that is wrong is asked about once, by what is wrong.

    on_answer: an artifact, every sentence checked as `citation_policy` says. on_deny: the model says that the evidence
    is not enough. on_other: nothing that can be used.
    """
    template = _template(run)
    evidence = [piece for found in turn.found.values() for piece in found.all]
    known = by_id(evidence)
    if turn.fault or turn.call is None:
        return Outcome(turn, On.OTHER)
    text = _unwrapped(turn.reply)
    notes: tuple[str, ...] = ()
    problems = () if is_refusal(text) else problems_of(text, template, known)
    if problems:
        notes = (f"{'; '.join(problems[:_MOST_PROBLEMS])}; asked once more",)
        _call, reply, fault = run.ask_again(turn.call, turn.reply, _complaint(template, problems))
        text = _unwrapped(reply)
        turn = replace(turn, reply=reply, fault=fault)
        problems = () if fault or is_refusal(text) else problems_of(text, template, known)
        if fault or problems:
            said = f"the model gave nothing: {fault}" if fault else f"again: {'; '.join(problems[:_MOST_PROBLEMS])}"
            return Outcome(turn, On.OTHER, (*notes, said))
    if is_refusal(text):
        said = "The model found the evidence insufficient."
        return Outcome(replace(turn, refusal=said), On.DENY, notes)
    policy = Policy(run.settings.citation_policy)
    checked = [_checked(section, evidence, policy) for section in normalised(text, template)]
    bad = tuple(problem for _, found in checked for problem in found)
    made = joined([section for section, _ in checked])
    if not citations_of(made, evidence):
        return Outcome(replace(turn, uncited=True), On.OTHER, (*notes, *bad, "no citation of the evidence"))
    return Outcome(replace(turn, answer_en=made), On.ANSWER, (*notes, *bad))


def artifact_from_evidence(turn: Turn, _: msgspec.Struct, run: Run) -> Outcome:
    """An artifact without a model: quotes with citations, section by section. on_other where no section has any."""
    template, label = _template(run), turn.label
    found = turn.found_in(label)
    subject = () if is_whole(turn.question_en) else run.services.asked_words(label, turn.question_en)
    cues = {
        heading: run.services.asked_words(label, section.cues)
        for heading, section in zip(template.headings, template.sections, strict=True)
    }
    made = quoted(template, found.all, turn.sections, found.neighbourhood, subject, cues)
    if made.is_empty:
        return Outcome(replace(turn, refusal="No section has anything to quote."), On.OTHER)
    told = replace(found, evidence=made.evidence, texts=())
    filled = sum(not section.says_nothing for section in made.sections)
    return Outcome(
        replace(turn, answer_en=joined(made.sections), found={**turn.found, label: told}, fault=""),
        On.ANSWER,
        (f"quotes only: {filled} of {len(made.sections)} sections",),
    )


def _checked(section: Section, evidence: Sequence[Evidence], policy: Policy) -> tuple[Section, tuple[str, ...]]:
    """A section after the policy; one that has no citation left says that nothing was found."""
    if section.says_nothing:
        return section, ()
    report = check(section.body, evidence, policy)
    bad = tuple(
        f"{section.heading}: {one.support.value}: {one.problem or one.sentence.text}"
        for one in report.sentences
        if one.support is not Support.SUPPORTED
    )
    if not citations_of(report.text, evidence):
        return Section(section.heading, NOTHING_FOUND), bad
    return Section(section.heading, report.text), bad


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


def _template(run: Run) -> Template:
    output = run.settings.output_type
    if output is OutputType.ANSWER:
        raise TurnError(f"output_type is {output}, which has no sections; set one of: {', '.join(ARTIFACTS)}")
    return TEMPLATES[output]


ACTIONS = (
    Action("fetch_for_sections", fetch_for_sections, 1, FetchForSections, outcomes=lambda _: (On.OK, On.OTHER)),
    Action("write_artifact", write_artifact, 1, WriteArtifact),
    Action("check_artifact", check_artifact, 1, outcomes=lambda _: (On.ANSWER, On.DENY, On.OTHER)),
    Action("artifact_from_evidence", artifact_from_evidence, 1, outcomes=lambda _: (On.ANSWER, On.OTHER)),
)
