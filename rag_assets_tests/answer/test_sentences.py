"""The claims of an answer."""

from __future__ import annotations

import pytest

from rag_assets.answer.citations import sentences

CODE = "It is so:\n\n```csharp\nvar a = 1;\n\nvar b = 2;\n```"
QUOTED = "It says [chunk: a]\n\n> Hello there.\n> Bye."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("One is. [chunk: a] Two is. [chunk: b]", ["One is. [chunk: a]", "Two is. [chunk: b]"], id="two"),
        pytest.param("Uses a.b.C, e.g. for d. Then stops.", ["Uses a.b.C, e.g. for d.", "Then stops."], id="dots"),
        pytest.param("- One [chunk: a]\n- Two [chunk: b]\n", ["- One [chunk: a]", "- Two [chunk: b]"], id="list"),
        pytest.param(f"{CODE}\n", [CODE], id="code"),
        pytest.param(f"{QUOTED}\n\nNext.", [QUOTED, "Next."], id="block quote"),
        pytest.param("It is so.\n[chunk: a]\n\nNext.", ["It is so.\n[chunk: a]", "Next."], id="a line of citations"),
        pytest.param("“One. Two.” [chunk: a] Three.", ["“One. Two.” [chunk: a]", "Three."], id="inside a quote"),
        pytest.param("", [], id="nothing"),
        pytest.param("```\nnever closed\n", ["```\nnever closed"], id="open fence"),
    ],
)
def test_splitting(text: str, expected: list[str]) -> None:
    assert [sentence.text for sentence in sentences(text)] == expected


def test_headings_claim_nothing() -> None:
    found = sentences("## Refunds\n\nThey take a week. [chunk: a]\n")
    assert [(one.text, one.is_heading) for one in found] == [
        ("## Refunds", True),
        ("They take a week. [chunk: a]", False),
    ]


def test_ranges_are_those_of_the_text() -> None:
    text = "# T\n\nOne is. Two is.\n\n- three\n\n```\nx\n```\n"
    for one in sentences(text):
        assert text[one.start : one.end].strip() == one.text
