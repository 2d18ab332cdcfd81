"""Questions to documents: decisions by their status, folders of pages, and quotes that tell something."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rag_assets import Index
from rag_assets_tests.cli.conftest import opened_index

LINKS = "".join(
    f"- [Large pull requests, the {one} part](https://example.org/pull-request/{one})\n"
    for one in ("first", "second", "third", "fourth")
)
FILES: dict[str, str | bytes] = {
    "README.md": "# Handbook\n\nHow the ferry company works.\n",
    "docs/adr/0001-tides.md": '---\nadr: "0001"\nstatus: Accepted\n---\n\n# 0001 - Read the tides\n\nWe read them.\n',
    "docs/adr/0002-sails.md": '---\nadr: "0002"\nstatus: "Deprecated"\n---\n\n# 0002 - Sails\n\nWe had sails.\n',
    "docs/adr/0003-steam.md": "# 3. Steam\n\n## Status\n\nSuperseded by 0004\n\n## Context\n\nCoal is heavy.\n",
    "docs/adr/0004-diesel.md": "# 4. Diesel, never deprecated\n\nDate: 2020-01-01\n\nStatus: Accepted\n",
    "docs/book.md": "# Examples of the book\n\n"
    + "".join(f"### Chapter {at}\n\n- [`knot-{at}`](knots/{at}): an example of a knot.\n\n" for at in range(1, 20)),
    "course.md": "# The course\n\n## Lesson 2\n\nKnots that hold.\n",
    "lesson-02-hitches/Hitch.cs": "public class Hitch\n{\n    public bool Holds() => true;\n}\n",
    "proposals/README.md": "# Proposals\n\nWhat somebody wants.\n",
    "proposals/night-ferry.md": "# A ferry by night\n\nIt would sail.\n",
    "proposals/rejected/README.md": "# Rejected\n\nWhat nobody wants.\n",
    "proposals/rejected/rope-bridge.md": "# A bridge of ropes\n\nIt would swing.\n",
    "proposals/inactive/tunnel.md": "# A tunnel\n\nIt would be dark.\n",
    "docs/safety/principles/index.md": "# Principles\n\nWhat we hold to.\n",
    "docs/safety/principles/01-vests.md": "# P01 - Vests are worn\n\nBy all.\n",
    "docs/safety/principles/02-calm.md": "---\ntitle: P02 - Stay calm\n---\n\nAlways.\n",
    "docs/safety/principles/03-count.md": "---\ntitle: ''\n---\n\n# P03 - Count the guests\n\nTwice.\n",
    **{f"docs/crew-management/{one}.md": f"# The {one} of a crew\n\nIs ours.\n" for one in ("plan", "pay", "rest")},
    "docs/reviews.md": "# Reviews\n\n## Size\n\nKeep pull requests small, below two hundred lines.\n"
    f"\n## Resources\n\n{LINKS}",
    "docs/replicas.md": "# Spare crew of a ferry\n\n## Context\n\nThe crew that is spare waits at the quay and takes "
    "over when a ferry is late.\n",
    "docs/devcontainers.md": "# In the editor\n\nYour dev container is set up by the editor: open the folder in it.\n",
}


@pytest.fixture(scope="module")
def handbook(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("handbook"), FILES, "handbook") as index:
        yield index


@pytest.mark.parametrize("question", ["which ADRs are there?", "which architecture decisions are documented?"])
def test_decisions_are_listed_with_their_titles(handbook: Index, question: str) -> None:
    answer = handbook.ask(question).text
    assert "docs/adr/0001-tides.md:6: `# 0001 - Read the tides`" in answer and answer.count("\n- **") == 4


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("which architecture decisions are superseded or deprecated?", ["0002-sails.md:3", "0003-steam.md:5"]),
        ("list all accepted ADRs", ["0001-tides.md:3", "0004-diesel.md:5"]),
        ("which proposals were rejected?", ["rope-bridge.md:1"]),
        ("which proposals are inactive?", ["tunnel.md:1"]),
    ],
)
def test_decisions_of_a_status_are_told_by_the_line_that_says_it(
    handbook: Index, question: str, told: list[str]
) -> None:
    answer = handbook.ask(question).text
    assert all(one in answer for one in told) and answer.count("\n- **") == len(told)


def test_what_stands_below_a_heading_is_told_by_its_number(handbook: Index) -> None:
    told = handbook.ask("which example belongs to chapter 14?").text
    assert "knot-14" in told and "knot-4`" not in told and "knot-15" not in told
    assert "knot" not in handbook.ask("what does stage 77 of the crew do?").text
    assert not handbook.ask("does the hitch of lesson 2 hold?").text.startswith("course.md")  # a folder is called so


def test_a_status_that_no_decision_has_is_told(handbook: Index) -> None:
    answer = handbook.ask("which ADRs were rejected?")
    assert answer.unsure or answer.abstained
    assert "no ADR says that its status is rejected" in f"{answer.notes} {answer.reason}"


@pytest.mark.parametrize(
    "question", ["what are the safety principles?", "which principles of safety are written down?"]
)
def test_the_pages_of_a_folder_that_is_called_so_are_listed(handbook: Index, question: str) -> None:
    answer = handbook.ask(question).text
    assert answer.startswith(("**3 safety principles:**", "**3 principles:**")) and "index.md" not in answer
    assert "02-calm.md:2: `title: P02 - Stay calm`" in answer and "03-count.md:5: `# P03" in answer


def test_a_folder_is_called_as_its_last_word(handbook: Index) -> None:
    assert "crews:**" not in handbook.ask("which crews are there?").text


def test_pages_of_a_folder_have_no_status(handbook: Index) -> None:
    assert "safety principles:**" not in handbook.ask("which deprecated safety principles are written down?").text


def test_a_list_of_links_is_quoted_after_what_tells_something(handbook: Index) -> None:
    answer = handbook.ask("how large should a pull request be?").text
    assert 0 < answer.find("below two hundred lines") < (answer.find("](https://example.org") + 1 or len(answer))


def test_links_are_an_answer_to_where_something_is_told(handbook: Index) -> None:
    answer = handbook.ask("where are the resources about how large a pull request should be?").text
    assert answer.index("](https://example.org") < (answer.find("below two hundred lines") + 1 or len(answer))


def test_a_heading_with_nothing_below_it_is_not_quoted_alone(handbook: Index) -> None:
    answer = handbook.ask("how is the spare crew of a ferry used?").text
    assert (
        "> ## Context\n>\n> The crew that is spare waits at the quay" in answer
        and "“Spare crew of a ferry”" not in answer
    )


def test_a_container_of_an_editor_is_not_what_the_project_is_run_in(handbook: Index) -> None:
    answer = handbook.ask("how do I set up a dev container?")
    assert "open the folder in it" in answer.text and not (answer.unsure or answer.reason)
