"""The sections of each artifact (E17): their headings, what a model is told of them, what is searched for them, and
what an artifact without a model quotes in them. `docs/decisions/0021` says why these. Pure.

The first heading is of the first level, the others of the second, as the design document has them for the Blueprint.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto

from rag_assets.answer.artifact.output import OutputType

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
    DEFECTS = auto()  # lines that say that something is wrong: FIXME, obsolete, not implemented, catches of everything
    TASKS = auto()  # lines that say that something is left to do: TODO
    FAILURES = auto()  # lines that throw, catch or retry
    TESTS = auto()  # tests by name
    SETTINGS = auto()  # frameworks, packages and settings


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
    """`name` as people write it; `max_tokens` is what a model may write, all sections together (E18)."""

    output: OutputType
    name: str
    max_tokens: int
    sections: tuple[SectionTemplate, ...]

    @property
    def headings(self) -> tuple[str, ...]:
        """`# Overview`, `## Goals` …"""
        return tuple(f"{'#' if at == 0 else '##'} {section.title}" for at, section in enumerate(self.sections))


_BLUEPRINT = Template(
    OutputType.BLUEPRINT,
    "Blueprint",
    3_000,  # six sections of a screen each
    (
        SectionTemplate(
            "Overview",
            "what it is and what it is for, in a few sentences",
            "overview introduction about purpose summary",
            (Material.OPENING, Material.SUMMARIES),
        ),
        SectionTemplate(
            "Goals",
            "what it is meant to achieve, as documents and comments say it",
            "goal aim purpose motivation why should requirement",
            (Material.PROSE, Material.MEMBERS),
        ),
        SectionTemplate(
            "Architecture",
            "its main parts, what each is responsible for, and how they depend on each other",
            "architecture design component layer module service dependency structure",
            (Material.PROSE, Material.STRUCTURE),
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
            (Material.PROSE, Material.DEFECTS),
        ),
        SectionTemplate(
            "Next Steps",
            "what is left to do, as tasks, each with the evidence that it follows from",
            "roadmap plan next TODO future planned",
            (Material.PROSE, Material.TASKS),
        ),
    ),
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
            (Material.OPENING, Material.SUMMARIES),
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
            (Material.PROSE, Material.TASKS, Material.DEFECTS),
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
            (Material.OPENING, Material.SUMMARIES),
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
            (Material.PROSE, Material.TYPES),
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
            (Material.OPENING, Material.SUMMARIES),
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
            (Material.STRUCTURE, Material.TYPES),
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
            (Material.PROSE, Material.TESTS),
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
            (Material.PROSE, Material.DEFECTS),
        ),
    ),
)

TEMPLATES: Mapping[OutputType, Template] = {
    template.output: template for template in (_BLUEPRINT, _PDR, _WORKFLOW, _BUILD_PLAN)
}


def is_whole(subject: str) -> bool:
    return " ".join(subject.split()).casefold() == WHOLE
