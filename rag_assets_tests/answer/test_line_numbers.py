"""Which line of its file each line of quoted code is."""

from __future__ import annotations

import pytest

from rag_assets.answer.cited_lines import citations_of, line_numbers
from rag_assets.contracts.evidence import Evidence
from rag_assets_tests.answer.pieces import piece

TWICE = """\
public class Prices
{
    public decimal Net(decimal price)
    {
        if (price < 0)
        {
            throw new PriceException();
        }

        return price;
    }

    public decimal Gross(
        decimal price,
        decimal rate)
    {
        if (price < 0)
        {
            throw new PriceException();
        }
        return price * rate;
    }
}
"""
PRICES = piece(TWICE, line_start=11, line_end=33)


def numbers(text: str, *evidence: Evidence) -> dict[str, int]:
    """The quoted lines with a number → that number."""
    known = evidence or (PRICES,)
    lines = text.split("\n")
    found = line_numbers(text, citations_of(text, known), known)
    return {lines[at]: number for at, number in found.items()}


def test_lines_go_on_behind_what_was_left_out() -> None:
    answer = (
        "`Gross` in src/Orders/OrderService.cs:23-32 [chunk: aaaa1111]\n\n"
        "```csharp\npublic decimal Gross(\n    decimal price,\n…\n        throw new PriceException();\n…\n"
        "    return price * rate;\n}\n```"
    )
    assert numbers(answer) == {
        "public decimal Gross(": 23,
        "    decimal price,": 24,
        "        throw new PriceException();": 29,
        "    return price * rate;": 31,
        "}": 32,
    }


def test_a_blank_line_has_its_number_and_a_signature_that_was_joined_that_of_its_first_line() -> None:
    answer = (
        "It throws [chunk: aaaa1111].\n\n```\n    throw new PriceException();\n}\n\nreturn price;\n```\n\n"
        "Its signature: [chunk: aaaa1111]\n\n```\npublic decimal Gross( decimal price, decimal rate) …\n```"
    )
    assert numbers(answer) == {
        "    throw new PriceException();": 17,
        "}": 18,
        "": 19,
        "return price;": 20,
        "public decimal Gross( decimal price, decimal rate) …": 23,
    }


@pytest.mark.parametrize(
    "code",
    [
        pytest.param("public decimal Net(decimal cost)", id="not what the source says"),
        pytest.param("public decimal Net(decimal price)\n{\n…\nreturn price * tax;", id="one line is not"),
    ],
)
def test_a_quote_that_is_none_has_no_numbers(code: str) -> None:
    assert numbers(f"It says [chunk: aaaa1111].\n\n```\n{code}\n```") == {}


def test_what_could_be_several_lines_has_no_number() -> None:
    answer = "In src/Orders/OrderService.cs:11-33 [chunk: aaaa1111]:\n\n```\npublic class Prices\n…\n    }\n…\n```"
    assert numbers(answer) == {"public class Prices": 11}


def test_each_block_is_numbered_by_the_citation_beside_it() -> None:
    other = piece("class Rate\n{\n    decimal Value;\n}\n", "bbbb2222", path="src/Rate.cs", line_start=70, line_end=73)
    answer = (
        "First [chunk: aaaa1111].\n\n```\npublic class Prices\n```\n\nThen:\n\n"
        "~~~csharp\ndecimal Value;\n~~~\n[chunk: bbbb2222]\n"
    )
    assert numbers(answer, PRICES, other) == {"public class Prices": 11, "decimal Value;": 72}


def test_pages_have_no_lines() -> None:
    page = piece("one line\nanother line of it\n", path="guide.pdf", language="pdf", title="Guide", pages=(3,))
    assert numbers("As the guide says [chunk: aaaa1111]:\n\n```\nanother line of it\n```", page) == {}
