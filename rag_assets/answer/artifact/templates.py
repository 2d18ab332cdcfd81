"""The sections of each artifact (E17): their headings, what a model is told, what is searched and quoted for them, and
the check of the form of a written artifact. `docs/decisions/0021` says why these. Pure.

The first heading is of the first level, the others of the second, as the design document has them for the Blueprint.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, StrEnum, auto

from rag_assets.answer.citations import cited_ids


class OutputType(StrEnum):
    """`answer` has no fixed form; the others are artifacts with the sections of their template."""

    ANSWER = "answer"
    BLUEPRINT = "blueprint"
    PDR = "pdr"
    WORKFLOW = "workflow"
    BUILD_PLAN = "build_plan"


ARTIFACTS = tuple(output for output in OutputType if output is not OutputType.ANSWER)


NOTHING_FOUND = "Nothing in the index was found for this section."
"""All that a section says for which there is no evidence. It is the one sentence that needs no citation."""

WHOLE = "this brain"
"""The subject of an artifact about everything that is indexed (E16)."""


class Material(Enum):
    """What an artifact without a model may quote."""

    PROSE = auto()  # paragraphs of documents with the cues of the section
    OPENING = auto()  # paragraphs that introduce the subject: no cue is needed
    SUMMARIES = auto()  # types with what their doc comments say
    TYPES = auto()  # all types, those with doc comments first
    OPERATIONS = auto()  # public members with what their doc comments say
    MEMBERS = auto()  # those of them that have a cue of the section
    STRUCTURE = auto()  # what implements, is given, derives from, uses what
    CALLS = auto()  # what calls and creates what
    ROUTES = auto()  # endpoints and what handles them
    DATA = auto()  # what reads, writes, maps to which table
    DEFECTS = auto()  # lines that say that something is wrong: obsolete, not implemented, catches of everything
    TASKS = auto()  # lines that say that something is left to do: TODO, FIXME, HACK
    FAILURES = auto()  # lines that throw, catch or retry
    TESTS = auto()  # tests by name, and what the graph knows that they test
    PARTICIPANTS = auto()  # what the graph knows to be given to, or to handle, what
    SETTINGS = auto()  # frameworks, packages and settings
    INVENTORY = auto()  # projects, entry points, how many types of which kind
    FOLDERS = auto()  # which project or folder uses which, with a picture
    CENTRAL = auto()  # the types that most others use
    IMPACT = auto()  # members that much depends on and no known test reaches
    UNTESTED = auto()  # endpoints without a known test


@dataclass(frozen=True, slots=True)
class SectionTemplate:
    """`purpose` completes "This section says …". `cues` are added to the subject for the search of the section, and
    what the paragraphs of documents must be about to be quoted in it."""

    title: str
    purpose: str
    cues: str
    materials: tuple[Material, ...]


@dataclass(frozen=True, slots=True)
class Template:
    """`name` as people write it; `max_tokens` is what a model may write, all sections together (E18). `added` are
    sections that an artifact without a model has besides, each before the section of a title."""

    output: OutputType
    name: str
    max_tokens: int
    sections: tuple[SectionTemplate, ...]
    added: Mapping[str, SectionTemplate] = field(default_factory=dict)

    @property
    def headings(self) -> tuple[str, ...]:
        """`# Overview`, `## Goals` …"""
        return _headings(self.sections)

    @property
    def without_model(self) -> Mapping[str, SectionTemplate]:
        """The sections of an artifact that no model writes, by heading."""
        sections = [
            one
            for section in self.sections
            for one in (*([self.added[section.title]] if section.title in self.added else []), section)
        ]
        return dict(zip(_headings(sections), sections, strict=True))


def _headings(sections: Sequence[SectionTemplate]) -> tuple[str, ...]:
    return tuple(f"{'#' if at == 0 else '##'} {section.title}" for at, section in enumerate(sections))


_BLUEPRINT = Template(
    OutputType.BLUEPRINT,
    "Blueprint",
    3_000,  # six sections of a screen each
    (
        SectionTemplate(
            "Overview",
            "what it is and what it is for, in a few sentences",
            "overview introduction about purpose summary",
            (Material.OPENING, Material.INVENTORY, Material.SUMMARIES),
        ),
        SectionTemplate(
            "Goals",
            "what it is meant to achieve, as documents and comments say it",
            "goal aim purpose motivation why should requirement",
            (Material.PROSE,),
        ),
        SectionTemplate(
            "Architecture",
            "its main parts, what each is responsible for, and how they depend on each other",
            "architecture design component layer module service dependency structure",
            (Material.PROSE, Material.FOLDERS, Material.CENTRAL, Material.STRUCTURE),
        ),
        SectionTemplate(
            "Features",
            "what users and callers can do with it: endpoints, commands, public operations",
            "feature endpoint command operation usage support",
            (Material.ROUTES, Material.OPERATIONS),
        ),
        SectionTemplate(
            "Risks",
            "what is known to be wrong, unfinished or fragile",
            "risk limitation known issue warning caution breaking FIXME HACK obsolete deprecated",
            (Material.PROSE, Material.IMPACT, Material.DEFECTS),
        ),
        SectionTemplate(
            "Next Steps",
            "what is left to do, as tasks, each with the evidence that it follows from",
            "roadmap plan next TODO future planned",
            (Material.PROSE, Material.TASKS, Material.UNTESTED),
        ),
    ),
    {
        "Risks": SectionTemplate(
            "Data",
            "which entities and tables there are, and who writes and reads them",
            "data table entity model store database schema",
            (Material.DATA,),
        )
    },
)

_PDR = Template(
    OutputType.PDR,
    "PDR",
    3_000,
    (
        SectionTemplate(
            "Summary",
            "the product or the part of it in a few sentences",
            "overview introduction about purpose summary",
            (Material.OPENING, Material.INVENTORY, Material.SUMMARIES),
        ),
        SectionTemplate(
            "Problem",
            "the problem that it solves and for whom that is one",
            "problem motivation why need background context",
            (Material.PROSE,),
        ),
        SectionTemplate(
            "Users",
            "who uses it, in which roles and with which permissions",
            "user role customer permission authorize audience administrator",
            (Material.PROSE, Material.MEMBERS),
        ),
        SectionTemplate(
            "Requirements",
            "what it must do, one requirement a line, as the evidence shows it",
            "requirement must shall should rule validate",
            (Material.PROSE, Material.MEMBERS),
        ),
        SectionTemplate(
            "Interfaces",
            "endpoints, public types and contracts to other systems",
            "interface endpoint API contract integration",
            (Material.ROUTES, Material.TYPES),
        ),
        SectionTemplate(
            "Constraints",
            "limits, platforms, packages and settings that bind it",
            "constraint limit maximum supported version compatibility configuration setting",
            (Material.PROSE, Material.SETTINGS),
        ),
        SectionTemplate(
            "Acceptance Criteria",
            "how one sees that it works: what tests check and documents promise",
            "acceptance criteria test verify expected should",
            (Material.PROSE, Material.TESTS),
        ),
        SectionTemplate(
            "Open Questions",
            "what the evidence leaves open, contradicts or marks as undecided",
            "open question undecided TODO FIXME proposed draft",
            (Material.PROSE, Material.TASKS, Material.UNTESTED, Material.DEFECTS),
        ),
    ),
)

_WORKFLOW = Template(
    OutputType.WORKFLOW,
    "Workflow",
    2_000,  # one way through the system: shorter than a plan of all of it
    (
        SectionTemplate(
            "Purpose",
            "what the workflow achieves",
            "overview purpose process flow",
            (Material.OPENING, Material.INVENTORY, Material.SUMMARIES),
        ),
        SectionTemplate(
            "Trigger",
            "what starts it: a request, a message, a schedule, a user",
            "trigger start begin when event request receive schedule handler",
            (Material.ROUTES, Material.PROSE),
        ),
        SectionTemplate(
            "Participants",
            "the people, services, types and stores that take part, and the role of each",
            "participant actor service client handler user",
            (Material.PROSE, Material.PARTICIPANTS, Material.TYPES),
        ),
        SectionTemplate(
            "Steps",
            "the steps in their order, numbered, each with who does it",
            "step then process execute call handle next",
            (Material.PROSE, Material.CALLS),
        ),
        SectionTemplate(
            "Data",
            "what is read, changed and passed on",
            "data table entity model message store read write",
            (Material.DATA, Material.PROSE),
        ),
        SectionTemplate(
            "Failure Handling",
            "what happens when a step fails: exceptions, retries, compensation",
            "failure error exception retry timeout rollback fallback",
            (Material.PROSE, Material.FAILURES),
        ),
        SectionTemplate(
            "Outcome",
            "what is different when it is done, and how one sees it",
            "outcome result return response completed",
            (Material.PROSE, Material.TESTS),
        ),
    ),
)

_BUILD_PLAN = Template(
    OutputType.BUILD_PLAN,
    "Build Plan",
    2_500,
    (
        SectionTemplate(
            "Scope",
            "what is to be built or changed, and what is there already",
            "overview scope purpose introduction",
            (Material.OPENING, Material.INVENTORY, Material.SUMMARIES),
        ),
        SectionTemplate(
            "Prerequisites",
            "what must be there first: frameworks, packages, tools, settings",
            "prerequisite install require package framework SDK version dependency",
            (Material.PROSE, Material.SETTINGS),
        ),
        SectionTemplate(
            "Components",
            "the parts to build or to change, and what each depends on",
            "component module service class dependency structure",
            (Material.FOLDERS, Material.CENTRAL, Material.STRUCTURE, Material.TYPES),
        ),
        SectionTemplate(
            "Tasks",
            "the work in its order, numbered, each task with the part of the code that it touches",
            "task TODO implement add change plan",
            (Material.PROSE, Material.TASKS),
        ),
        SectionTemplate(
            "Tests",
            "what tests there are for it and what they leave out",
            "test verify unit integration coverage",
            (Material.PROSE, Material.TESTS, Material.UNTESTED),
        ),
        SectionTemplate(
            "Rollout",
            "how it is built, released, deployed and migrated",
            "deploy release publish build migration docker pipeline upgrade",
            (Material.PROSE,),
        ),
        SectionTemplate(
            "Risks",
            "what can go wrong while it is built, as the evidence shows it",
            "risk limitation known issue breaking FIXME HACK obsolete deprecated",
            (Material.PROSE, Material.IMPACT, Material.DEFECTS),
        ),
    ),
)

TEMPLATES: Mapping[OutputType, Template] = {
    template.output: template for template in (_BLUEPRINT, _PDR, _WORKFLOW, _BUILD_PLAN)
}


def is_whole(subject: str) -> bool:
    return " ".join(subject.split()).casefold() == WHOLE


_HEADING = re.compile(r"#{1,6}[ \t]+(?P<title>.*?)[ \t]*#*$")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_NUMBER = re.compile(r"^\d+[.)]\s*")
_MARKUP = "*_` :"
_MOST_NAMED = 5  # unknown ids in a complaint: enough to see what was meant


@dataclass(frozen=True, slots=True)
class Section:
    """One section as it was written: its heading line, without the blanks around the rest."""

    heading: str
    body: str

    @property
    def says_nothing(self) -> bool:
        """Whether it is the honest sentence and nothing else."""
        return " ".join(self.body.split()).casefold().rstrip(".") == NOTHING_FOUND.casefold().rstrip(".")


def split(text: str) -> tuple[str, tuple[Section, ...]]:
    """(what stands before the first heading, the sections). A `#` in a code block or a quote is no heading."""
    lines: list[list[str]] = [[]]
    headings: list[str] = []
    fence = ""
    for line in text.replace("\r\n", "\n").strip().split("\n"):
        mark = _FENCE.match(line)
        if fence:
            closes = mark is not None and mark[1].startswith(fence) and not line[mark.end() :].strip()
            fence = "" if closes else fence
        elif mark is not None:
            fence = mark[1]
        elif _HEADING.match(line):
            headings.append(line.strip())
            lines.append([])
            continue
        lines[-1].append(line)
    before, *bodies = ("\n".join(part).strip() for part in lines)
    return before, tuple(Section(heading, body) for heading, body in zip(headings, bodies, strict=True))


def problems_of(text: str, template: Template, known: Collection[str]) -> tuple[str, ...]:
    """What keeps a text from being the artifact of a template: exactly its headings, in order, none empty, each with a
    citation of `known` evidence or the honest sentence. Nothing for an artifact as it should be.

    A heading with the right words and other marks (`**Goals**:` behind the hashes, a number, another level) is taken
    for what it means; `normalised` writes it as it should be.
    """
    before, sections = split(text)
    found = [_meant(section.heading, template) for section in sections]
    made = [f"there is text before the first heading: {_beginning(before)!r}"] if before else []
    made += [
        f"{section.heading!r} is no heading of a {template.name}"
        for section, meant in zip(sections, found, strict=True)
        if meant is None
    ]
    wanted = template.headings
    made += [f"the heading {heading!r} is missing" for heading in wanted if heading not in found]
    made += [f"the heading {heading!r} is there twice" for heading in wanted if found.count(heading) > 1]
    order = [meant for meant in dict.fromkeys(found) if meant is not None]
    if order != [heading for heading in wanted if heading in order]:
        made.append(f"the headings are not in their order: {', '.join(wanted)}")
    for section, meant in zip(sections, found, strict=True):
        if meant is not None:
            made += _problems_of_section(section, meant, known)
    return tuple(made)


def normalised(text: str, template: Template) -> tuple[Section, ...]:
    """The sections of an artifact without `problems_of`, their headings written as the template has them."""
    _, sections = split(text)
    return tuple(
        Section(heading, NOTHING_FOUND if section.says_nothing else section.body)
        for heading, section in zip(template.headings, sections, strict=True)
    )


def left_out(template: Template, sections: Sequence[Section]) -> tuple[str, ...]:
    """The titles of the sections that an artifact without a model does not have, as nothing fills them."""
    there = {section.heading for section in sections}
    return tuple(section.title for heading, section in template.without_model.items() if heading not in there)


def joined(sections: Sequence[Section], missing: Sequence[str] = ()) -> str:
    """The whole document. What is `missing` is said once, in a bold line at its top: it claims nothing of the index
    that could be cited."""
    if missing:
        return f"**Left out, as nothing in the index fills them: {', '.join(missing)}.**\n\n{joined(sections)}"
    return "\n\n".join(f"{section.heading}\n\n{section.body}" for section in sections)


def _problems_of_section(section: Section, heading: str, known: Collection[str]) -> list[str]:
    if not section.body:
        return [f"the section {heading!r} is empty; where there is no evidence for it, write: {NOTHING_FOUND}"]
    if section.says_nothing:
        return []
    cited = cited_ids(section.body)
    if not cited:
        return [f"the section {heading!r} cites nothing; end every sentence with [chunk: id]"]
    unknown = [identifier for identifier in cited if identifier not in known]
    if len(unknown) == len(cited):
        return [f"the section {heading!r} cites what is not in the evidence: {', '.join(unknown[:_MOST_NAMED])}"]
    return []


def _meant(heading: str, template: Template) -> str | None:
    """The heading of the template that a line means."""
    found = _HEADING.match(heading)
    title = _NUMBER.sub("", found["title"].strip(_MARKUP)).strip(_MARKUP).casefold() if found else ""
    known = {section.title.casefold(): at for at, section in enumerate(template.sections)}
    return template.headings[known[title]] if title in known else None


def _beginning(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 60 else f"{flat[:59]}…"
