"""Questions that name a file and a line, in a path or in words: they are about what is there."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rag_assets import Index
from rag_assets_tests.cli.conftest import opened_index

FILES = {
    "src/Till.cs": """\
namespace Shop;

public sealed class Till
{
    public decimal Open(decimal float_)
    {
        return float_;
    }

    public decimal Close(decimal counted)
    {
        if (counted < 0)
        {
            return 0;
        }
        return counted;
    }
}
""",
    "src/Evening.cs": """\
namespace Shop;

public sealed class Evening
{
    public void End(Till till)
    {
        till.Close(12);
    }
}
""",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("lines"), FILES, "lines") as index:
        yield index


@pytest.mark.parametrize(
    "question",
    [
        "what does src/Till.cs:14 do?",
        "what happens at Till.cs:14?",
        "explain line 14 of src/Till.cs",
        "what is in lines 12-15 of Till.cs?",
        "why does Till.cs line 14 return zero?",
        "is the check in Till.cs, lines 12 to 15 right?",
    ],
)
def test_what_stands_at_a_line_is_shown(shop: Index, question: str) -> None:
    answer = shop.ask(question)

    assert not answer.abstained and not answer.unsure
    assert answer.text.startswith("`Till.Close`") and "if (counted < 0)" in answer.text
    assert "return float_" not in answer.text


def test_what_uses_the_member_at_a_line_is_told(shop: Index) -> None:
    for question in ("who calls the method at Till.cs:14?", "what breaks if I change line 14 of src/Till.cs?"):
        assert "**Evening.End** calls **Till.Close**" in shop.ask(question).text


def test_a_line_that_no_section_has_is_named(shop: Index) -> None:
    for question in ("what does Till.cs:99 do?", "src/Till.cs:99"):
        answer = shop.ask(question)
        assert answer.abstained or answer.unsure
        assert "no section of src/Till.cs has line 99" in " ".join((*answer.notes, answer.reason or ""))
    assert "Nowhere.cs" in (shop.ask("explain line 3 of Nowhere.cs").reason or "")
