"""What an agent writes (E15). One closed set, shared by agents, pipelines, templates and the command line."""

from __future__ import annotations

from enum import StrEnum


class OutputType(StrEnum):
    """`answer` has no fixed form; the others are artifacts with the sections of their template."""

    ANSWER = "answer"
    BLUEPRINT = "blueprint"
    PDR = "pdr"
    WORKFLOW = "workflow"
    BUILD_PLAN = "build_plan"


ARTIFACTS = tuple(output for output in OutputType if output is not OutputType.ANSWER)
