"""The post-check: what an answer says, compared with what it cites (E19–E21)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rag_assets.answer.citations import FLAG, Policy, Support, check, prose_of, quotes_of, sentences
from rag_assets.contracts.outline import SectionMember
from rag_assets.contracts.protocol_markers import defused
from rag_assets_tests.answer.pieces import SERVICE, piece
from rag_assets_tests.effort import ends_within

MAIL = """\
/// <summary>Sends letters to customers who asked for them.</summary>
public class MailService
{
    public void SendLetter(string address) => _smtp.Send(address);
}
"""
DOC = "# Refunds\n\nMoney goes back within a week. The bank of the customer decides the rest.\n"
EVIDENCE = (
    piece(SERVICE, "aaaa1111"),
    piece(MAIL, "bbbb2222", path="src/Mail/MailService.cs", symbol="Shop.Mail.MailService"),
    piece(DOC, "cccc3333", path="docs/refunds.md", symbol="Refunds", language="markdown"),
)


def support(sentence: str) -> Support:
    (found,) = check(sentence, EVIDENCE).sentences
    return found.support


PAYS = "It pays back:\n```csharp\nvar order = _orders.Find(orderId);\n{}return order.Total;\n```\n[chunk: aaaa1111]"

CASES = {
    "quoted comment": ("It “Cancels and refunds orders.” [chunk: aaaa1111]", "supported"),
    "quoted prose": ('The docs say "Money goes back within a week." [chunk: cccc3333]', "supported"),
    "code with an ellipsis": (PAYS.format("…\n"), "supported"),
    "block quote": ("It pays back [chunk: aaaa1111]\n\n> Pays back what a customer returned", "supported"),
    "names": ("`RefundOrder` throws `RefundException` above the `Limit`. [chunk: aaaa1111]", "supported"),
    "paraphrase": ("Customers get money back for an order up to a limit. [chunk: aaaa1111]", "supported"),
    "two citations": ("`SendLetter` and `RefundOrder` exist. [chunk: aaaa1111] [chunk: bbbb2222]", "supported"),
    "quote of another slice": ("It “Cancels and refunds orders.” [chunk: bbbb2222]", "misattributed"),
    "name of another slice": ("`SendLetter` sends mail. [chunk: aaaa1111]", "misattributed"),
    "words of another slice": ("Letters go to customers who asked. [chunk: cccc3333]", "misattributed"),
    "one word changed": ("It “Cancels and repairs orders.” [chunk: aaaa1111]", "altered quote"),
    "lines left out in silence": (PAYS.format(""), "altered quote"),
    "invented quote": ("It “Backs up the database every night.” [chunk: aaaa1111]", "fabricated"),
    "invented name": ("`BackupService` saves everything. [chunk: aaaa1111]", "fabricated"),
    "id that was not retrieved": ("It refunds orders. [chunk: dddd4444]", "fabricated"),
    "one id of two": ("It refunds orders. [chunk: aaaa1111] [chunk: dddd4444]", "fabricated"),
    "no citation": ("It refunds orders.", "uncited"),
    "another subject": ("Weather forecasts need satellites and patience. [chunk: aaaa1111]", "fabricated"),
}


@pytest.mark.rule("E19", "E21")
@pytest.mark.parametrize(("sentence", "expected"), CASES.values(), ids=list(CASES))
def test_classes(sentence: str, expected: str) -> None:
    assert support(sentence) == expected


@pytest.mark.rule("E21")
def test_a_section_has_the_names_that_it_lies_inside_of() -> None:
    text = "    steps:\n      - run: make all\n"
    job = SectionMember("jobs.build-all", "build-all:", 1, 9)
    part = piece(text, "eeee5555", path=".github/workflows/ci.yml", symbol="ci", language="yaml", members=(job,))
    told = "`jobs.build-all` in .github/workflows/ci.yml:3-4 [chunk: eeee5555]\n\n```yaml\n- run: make all\n```"
    assert [one.support for one in check(told, (part,)).sentences] == [Support.SUPPORTED]


def test_evidence_that_is_not_what_was_indexed_supports_nothing() -> None:
    tampered = replace(EVIDENCE[0], text=SERVICE.replace("Cancels", "Burns"))
    (found,) = check("It “Burns and refunds orders.” [chunk: aaaa1111]", [tampered]).sentences
    assert found.support is Support.FABRICATED


ANSWER = "It “Cancels and refunds orders.” [chunk: aaaa1111] It also brews coffee. [chunk: aaaa1111]\n\n- It sings.\n"


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        (Policy.KEEP, ANSWER),
        (
            Policy.FLAG,
            "It “Cancels and refunds orders.” [chunk: aaaa1111] It also brews coffee. [chunk: aaaa1111] "
            f"{FLAG}\n\n- It sings. {FLAG}",
        ),
        (Policy.DROP, "It “Cancels and refunds orders.” [chunk: aaaa1111]"),
    ],
)
def test_the_policy_decides_what_becomes_of_the_rest(policy: Policy, expected: str) -> None:
    report = check(ANSWER, EVIDENCE, policy)
    assert report.text == expected
    assert [one.support for one in report.sentences] == [Support.SUPPORTED, Support.FABRICATED, Support.UNCITED]


def test_a_flag_does_not_break_a_code_block() -> None:
    text = "It is:\n```csharp\nvar coffee = Brew();\n```\n[chunk: aaaa1111]"
    report = check(text, EVIDENCE)
    assert report.text.startswith(f"{FLAG} It is:") and report.text.count("```") == 2


def test_headings_are_not_claims() -> None:
    assert check("## Refunds\n", EVIDENCE).sentences == ()


@pytest.mark.parametrize("answer", ["", "   \n", "[chunk: aaaa1111]", "```", "> ", "[chunk: " * 50], ids=repr)
def test_nothing_breaks_it(answer: str) -> None:
    check(answer, EVIDENCE)
    check(answer, ())


def test_a_quote_of_neutralised_evidence_is_found() -> None:
    """The model sees the look-alike, the source has the mark."""
    known = piece("// see [chunk: 1] and [Answer:] for the rest of it\nint x;\n", "eeee5555")
    (found,) = check("It says “see ⟦chunk: 1] and ⟦Answer:] for the rest of it”. [chunk: eeee5555]", [known]).sentences
    assert found.support is Support.SUPPORTED


@pytest.mark.parametrize("fence", ["```", "~~~", "````"])
def test_a_quote_of_code_ends_where_its_own_fence_does(fence: str) -> None:
    code = '"""\nshop.orders\n~~~~~~~~~~~\n"""\n' if fence[0] == "`" else "/// ```\n/// order();\n/// ```\n"
    text = f"`orders` in orders.py:1-4 [chunk: aaaa1111]\n\n{fence}python\n{code}{fence}\n"
    assert quotes_of(text) == [code]
    assert [one.text for one in sentences(text)] == [text.strip()]


def test_a_comparison_before_a_comment_is_no_tag() -> None:
    code = "for i := 0; i <len(parts); i++ {\n}\n\n// Cancels an order\n// and tells the warehouse.\n"
    code += "func cancel() {\n\tif a > b {\n\t}\n}\n"
    evidence = (piece(code, "dddd4444", path="cancel.go", symbol="shop.cancel", language="go"),)
    (found,) = check("`cancel`: “Cancels an order and tells the warehouse.” [chunk: dddd4444]", evidence).sentences
    assert found.support is Support.SUPPORTED


@pytest.mark.parametrize("text", [" " * 300_000, "<a" + " " * 300_000, "<a b=" * 60_000, "\n" * 300_000])
def test_blanks_and_open_tags_are_read_in_linear_time(text: str) -> None:
    with ends_within(10):
        prose_of(text)


def test_a_comment_is_the_same_text_on_one_line_and_on_two() -> None:
    code = "# Weighs the order above the\n# response: what was asked tells more.\nRANK = 1\n"
    evidence = (piece(code, "dddd4444", path="rank.py", symbol="shop.rank", language="python"),)
    said = defused("Weighs the order above the response: what was asked tells more.")
    (found,) = check(f"`RANK`: “{said}” [chunk: dddd4444]", evidence).sentences
    assert found.support is Support.SUPPORTED
