"""Citations: short ids that stay, one form in the answer, another for people (E19, R26)."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rag_assets.answer.citations import cited_ids, lines_quoted, marker, sentences, with_known_only, without_citations
from rag_assets.answer.cited_lines import citations_of, numbered, rendered
from rag_assets.answer.passages import passages_of
from rag_assets.contracts.evidence import citation_ids
from rag_assets.contracts.outline import SectionMember
from rag_assets_tests.answer.pieces import piece


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("It refunds. [chunk: aaaa1111]", ("aaaa1111",), id="one"),
        pytest.param(
            "A [chunk:aaaa1111] b [chunk: bbbb2222] [chunk: aaaa1111]", ("aaaa1111", "bbbb2222"), id="repeated"
        ),
        pytest.param("A [chunk: aaaa1111, bbbb2222; chunk: cccc3333]", ("aaaa1111", "bbbb2222", "cccc3333"), id="list"),
        pytest.param("A [chunk: ] [chunk] [source: x] [1]", (), id="none"),
        pytest.param("chunk: aaaa1111", (), id="without brackets"),
    ],
)
@pytest.mark.rule("E19")
def test_reading(text: str, expected: tuple[str, ...]) -> None:
    assert cited_ids(text) == expected


@pytest.mark.rule("R26")
def test_an_id_is_the_beginning_of_a_point_id_that_no_other_has() -> None:
    ids = [f"12345678-0000-5000-8000-00000000000{at}" for at in range(3)] + ["99999999-0000-5000-8000-000000000000"]
    made = citation_ids(ids)
    assert made[ids[3]] == "99999999"
    assert len(set(made.values())) == 4
    assert all(point.startswith(short) for point, short in made.items())
    assert citation_ids(reversed(ids)) == made


@pytest.mark.rule("R26")
def test_a_citation_is_rendered_as_path_lines_commit() -> None:
    (found,) = citations_of("“up to the limit. public decimal RefundOrder(int orderId)” [chunk: aaaa1111]", [piece()])
    assert found.rendered == "src/Orders/OrderService.cs:10-19@cccccccccc"


def test_an_id_of_nothing_is_no_citation() -> None:
    assert citations_of("It refunds. [chunk: dddd4444]", [piece()]) == ()


def test_numbers_for_people() -> None:
    text = f"A. {marker('aaaa1111')} B. {marker('bbbb2222')}"
    evidence = [piece(), piece(identifier="bbbb2222", path="b.cs")]
    found = citations_of(text, evidence)
    assert rendered(text, found, lambda one: str(numbered(found)[one.rendered])) == "A. [1] B. [2]"
    assert rendered(text, (), lambda one: "x") == text


@pytest.mark.rule("R26")
@pytest.mark.parametrize(
    ("sentence", "lines", "symbol"),
    [
        pytest.param("“Cancels and refunds orders.”", (3, 4), "Shop.Orders.OrderService", id="the head of the type"),
        pytest.param(
            'It has "throw new RefundException" in it.', (10, 19), "Shop.Orders.OrderService.RefundOrder", id="a quote"
        ),
        pytest.param(
            "It says:\n\n```csharp\nreturn order.Total;\n```\n",
            (10, 19),
            "Shop.Orders.OrderService.RefundOrder",
            id="code",
        ),
        pytest.param("See `Count` for that.", (21, 21), "Shop.Orders.OrderService.Count", id="a name"),
        pytest.param(
            "What a customer returned is paid back.", (10, 19), "Shop.Orders.OrderService.RefundOrder", id="words"
        ),
        pytest.param("Nothing of it.", (6, 12), "Shop.Orders.OrderService", id="else what the search says"),
    ],
)
def test_a_citation_names_the_lines_that_say_it(sentence: str, lines: tuple[int, int], symbol: str) -> None:
    members = (
        SectionMember("RefundOrder", "public decimal RefundOrder(int orderId)", 10, 19),
        SectionMember("Count", "public int Count { get; set; }", 21, 21),
    )
    known = piece(members=members, best_lines=(6, 12))
    (found,) = citations_of(f"{sentence} [chunk: aaaa1111]", [known])
    assert ((found.line_start, found.line_end), found.symbol) == (lines, symbol)


def test_a_quote_keeps_its_blanks_beside_citations() -> None:
    said = "It returns “a list ? extends T” [chunk: aaaa1111] [chunk: bbbb2222]. And more [chunk: aaaa1111]"
    assert without_citations(said) == "It returns “a list ? extends T”. And more"


@pytest.mark.parametrize("language", ["java", "typescript", "csharp"])
def test_a_block_comment_is_the_doc_of_what_follows(language: str) -> None:
    text = "/**\n * Interface representing what is paid.\n * @param <T> money\n */\npublic interface Paid<T> {\n}\n"
    (found, *_) = passages_of(piece(text, language=language))
    assert (found.name, found.doc, found.is_type) == ("Paid", "Interface representing what is paid.", True)


def test_the_number_of_a_file_ends_no_sentence() -> None:
    said = "- Orders is altered in schema/10. Add it.sql:3 [chunk: aaaa1111]\nSee a/a.sql. It has 10. Then it ends."
    assert [one.text for one in sentences(said)] == [
        "- Orders is altered in schema/10. Add it.sql:3 [chunk: aaaa1111]\nSee a/a.sql.",
        "It has 10.",
        "Then it ends.",
    ]


def test_one_id_is_cited_at_several_members() -> None:
    text = "“Cancels and refunds orders.” [chunk: aaaa1111] And `Count` counts. [chunk: aaaa1111]"
    found = citations_of(text, [piece()])
    assert [(one.line_start, one.line_end, one.mentions) for one in found] == [(3, 4, (0,)), (21, 21, (1,))]
    numbers = numbered(found)
    assert rendered(text, found, lambda one: str(numbers[one.rendered])) == (
        "“Cancels and refunds orders.” [1] And `Count` counts. [2]"
    )


def test_of_a_long_member_the_quoted_lines_are_cited() -> None:
    body = "".join(f"        Step{at}();\n" for at in range(90))
    text = f"public class Long\n{{\n    public void Run()\n    {{\n{body}    }}\n}}\n"
    (found,) = citations_of('It calls "Step50();\nStep51();" [chunk: aaaa1111]'.replace("\n", " "), [piece(text)])
    assert found.line_end - found.line_start == 4
    assert "Step50();" in text.split("\n")[found.line_start - 3 : found.line_end - 2][1]
    assert found.symbol == ""


def test_pages_and_times_are_cited_as_they_were() -> None:
    (found,) = citations_of("“Cancels and refunds orders.” [chunk: aaaa1111]", [piece(pages=(3,), title="Guide")])
    assert found.rendered.endswith("[source: Guide, page 3]")


def test_merged_sections_are_one_source() -> None:
    merged = piece(ids=("aaaa1111", "bbbb2222"))
    found = citations_of("A. [chunk: aaaa1111] B. [chunk: bbbb2222]", [merged])
    assert {numbered(found)[one.rendered] for one in found} == {1}


@pytest.mark.rule("E19")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("It pays [chunk: dead0000].", "It pays.", id="unknown"),
        pytest.param("It pays [chunk: aaaa1111, dead0000].", "It pays [chunk: aaaa1111].", id="one of two"),
        pytest.param("It pays [chunk:aaaa1111].", "It pays [chunk:aaaa1111].", id="known, as it is written"),
        pytest.param("It pays [Chunk: aaaa1111].", "It pays.", id="in capitals"),
        pytest.param("It pays 【chunk: aaaa1111】.", "It pays.", id="other brackets"),
        pytest.param("It pays [chunk: the secret one!].", "It pays.", id="no id"),
        pytest.param("It pays [chunk] and xs[chunk: ", "It pays [chunk] and xs[chunk: ", id="no mark"),
    ],
)
def test_what_only_looks_like_a_citation_is_taken_out(text: str, expected: str) -> None:
    assert with_known_only(text, {"aaaa1111"}) == expected


def test_text_without_its_citations() -> None:
    assert without_citations("It refunds [chunk: aaaa1111], always [chunk: b].") == "It refunds, always."


def lines_by_reading_again(quote: str, text: str) -> tuple[int, int] | None:
    """The obvious way: the fewest first lines that hold the quote, then as few of them as hold it still."""
    lines = text.split("\n")

    def holds(start: int, end: int) -> bool:
        at, read = 0, "".join("\n".join(lines[start:end]).split())
        for wanted in ("".join(part.split()) for part in quote.split("…")):
            at = read.find(wanted, at)
            if at < 0:
                return False
            at += len(wanted)
        return True

    end = next((end for end in range(1, len(lines) + 1) if holds(0, end)), 0)
    return (max(start for start in range(end) if holds(start, end)) + 1, end) if end else None


@given(st.lists(st.text("ab ", max_size=4), min_size=1, max_size=12), st.text("ab …", min_size=1, max_size=6))
def test_the_lines_of_quoted_code_are_found_as_by_reading_them_again(lines: list[str], quote: str) -> None:
    assume(all(part.strip() for part in quote.split("…")))
    text = "\n".join(lines)
    assert lines_quoted(quote, text) == lines_by_reading_again(quote, text)
