"""The form of artifacts: templates, what is wrong with a text, what is taken for what it means."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path

import pytest

from rag_assets.answer import abstention
from rag_assets.answer.artifact.templates import (
    ARTIFACTS,
    NOTHING_FOUND,
    TEMPLATES,
    OutputType,
    Section,
    is_whole,
    joined,
    left_out,
    normalised,
    problems_of,
    split,
)
from rag_assets.answer.citations import sentences

BLUEPRINT = TEMPLATES[OutputType.BLUEPRINT]
KNOWN = {"aaaa1111"}
DECISION = Path(__file__).parents[3] / "docs" / "decisions" / "0021-artifact-templates.md"


def written(*, without: str = "", **bodies: str) -> str:
    """A Blueprint with these bodies by title."""
    parts = []
    for heading, section in zip(BLUEPRINT.headings, BLUEPRINT.sections, strict=True):
        if section.title != without:
            body = bodies.get(section.title.replace(" ", "_"), "It “is a shop for parcels”. [chunk: aaaa1111]")
            parts.append(f"{heading}\n\n{body}".rstrip())
    return "\n\n".join(parts)


@pytest.mark.rule("E17")
def test_the_blueprint_has_the_headings_of_the_design() -> None:
    assert BLUEPRINT.headings == (
        "# Overview", "## Goals", "## Architecture", "## Features", "## Risks", "## Next Steps"
    )  # fmt: skip


@pytest.mark.rule("E17", "E18")
@pytest.mark.parametrize("output", ARTIFACTS)
def test_every_artifact_has_a_template_of_the_same_form(output: OutputType) -> None:
    template = TEMPLATES[output]
    assert [heading.partition(" ")[0] for heading in template.headings] == ["#"] + ["##"] * (len(template.sections) - 1)
    assert len(set(template.headings)) == len(template.headings) >= 6
    assert all(section.materials and section.cues and section.purpose for section in template.sections)
    assert 1_000 <= template.max_tokens <= 4_000
    assert f"| {template.name} |" in DECISION.read_text(encoding="utf-8")
    row = next(line for line in DECISION.read_text(encoding="utf-8").splitlines() if f"| {template.name} |" in line)
    assert all(section.title in row for section in template.sections)


@pytest.mark.rule("E17")
def test_without_a_model_a_blueprint_has_data_and_no_empty_section() -> None:
    headings = [*BLUEPRINT.headings[:4], "## Data", *BLUEPRINT.headings[4:]]
    assert list(BLUEPRINT.without_model) == headings
    sections = [Section(heading, "x") for heading in headings if heading not in ("## Goals", "## Data")]
    assert left_out(BLUEPRINT, sections) == ("Goals", "Data")
    text = joined(sections, left_out(BLUEPRINT, sections))
    assert text.startswith("**Left out, as nothing in the index fills them: Goals, Data.**\n\n# Overview\n")
    assert split(text)[1] == tuple(sections)
    assert sentences(text)[0].is_heading, "it claims nothing"


def test_the_prompt_has_the_sentences_as_they_are() -> None:
    prompt = (resources.files("rag_assets.qa") / "pipelines" / "prompts" / "artifact.md").read_text("utf-8")
    assert f"\n{NOTHING_FOUND}\n" in prompt and f"\n{abstention.SENTENCE}\n" in prompt


def test_a_good_artifact() -> None:
    assert problems_of(written(Risks=NOTHING_FOUND), BLUEPRINT, KNOWN) == ()
    sections = normalised(written(Risks=NOTHING_FOUND), BLUEPRINT)
    assert [section.says_nothing for section in sections] == [False, False, False, False, True, False]
    assert joined(sections) == written(Risks=NOTHING_FOUND)


@pytest.mark.rule("E17", "E19")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param(written(without="Goals"), "the heading '## Goals' is missing", id="missing"),
        pytest.param(written() + "\n\n## Costs\n\nx [chunk: aaaa1111]", "'## Costs' is no heading of a", id="other"),
        pytest.param(written() + "\n\n## Risks\n\nx [chunk: aaaa1111]", "'## Risks' is there twice", id="twice"),
        pytest.param(written(Goals=""), "the section '## Goals' is empty; where there is", id="empty"),
        pytest.param(written(Goals="To sell parcels."), "the section '## Goals' cites nothing", id="uncited"),
        pytest.param(
            written(Goals="To sell. [chunk: bbbb2222]"), "cites what is not in the evidence: bbbb2222", id="made up"
        ),
        pytest.param("Sure! Here it is:\n\n" + written(), "text before the first heading: 'Sure! Here", id="preamble"),
        pytest.param("", "the heading '# Overview' is missing", id="nothing"),
        pytest.param("[Answer:] hello", "text before the first heading", id="prose"),
        pytest.param(
            written(without="Overview") + "\n\n# Overview\n\nx [chunk: aaaa1111]", "are not in their order", id="order"
        ),
    ],
)
def test_what_is_wrong_is_said(text: str, said: str) -> None:
    assert any(said in problem for problem in problems_of(text, BLUEPRINT, KNOWN))


@pytest.mark.parametrize(
    "heading",
    ["## **Goals**", "### Goals", "# goals", "## Goals:", "## 2. Goals", "## Goals ##", "## `Goals`"],
)
def test_a_heading_with_other_marks_is_taken_for_what_it_means(heading: str) -> None:
    text = written().replace("## Goals", heading)
    assert problems_of(text, BLUEPRINT, KNOWN) == ()
    assert joined(normalised(text, BLUEPRINT)) == written()


@pytest.mark.parametrize(
    "block", ["```md\n# Overview\n## Risks\n```", "~~~\n## Goals\n~~~", "> # Overview", "````\n```\n# x\n````"]
)
def test_a_heading_in_a_quote_or_code_is_none(block: str) -> None:
    text = written(Features=f"It says so: [chunk: aaaa1111]\n\n{block}")
    assert problems_of(text, BLUEPRINT, KNOWN) == ()
    assert block in normalised(text, BLUEPRINT)[3].body


def test_line_ends_of_windows_are_line_ends() -> None:
    assert problems_of(written().replace("\n", "\r\n"), BLUEPRINT, KNOWN) == ()


@pytest.mark.parametrize("text", ["#", "#Overview", "# \n", "```", "# a\n```\n# b", "\x00", "#" * 9 + " x"])
def test_any_text_can_be_split(text: str) -> None:
    before, sections = split(text)
    assert isinstance(before, str) and all(section.heading.startswith("#") for section in sections)


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [(NOTHING_FOUND, True), (NOTHING_FOUND.rstrip("."), True), (f"{NOTHING_FOUND} But still.", False), ("", False)],
)
def test_the_honest_sentence_alone_says_nothing(sentence: str, expected: bool) -> None:
    (section,) = split(f"# A\n{sentence}")[1]
    assert section.says_nothing is expected


def test_everything_is_a_subject_of_its_own() -> None:
    assert is_whole("this brain") and is_whole(" This  Brain ") and not is_whole("this brain of mine")
    assert not re.search(r"\bthis brain\b", NOTHING_FOUND)
