"""Artifacts without a model: what is quoted where, and that nothing is in them that the evidence does not say."""

from __future__ import annotations

from typing import Any

import pytest

from rag_assets.answer.artifact.extractive import (
    MOST_ITEMS,
    Quoted,
    StatementSources,
    marked_lines,
    quoted,
    statements,
    within,
)
from rag_assets.answer.artifact.templates import ARTIFACTS, TEMPLATES, Material, OutputType, Section
from rag_assets.answer.citations import check
from rag_assets.answer.question_analysis import QueryTerm, root
from rag_assets.contracts.evidence import Evidence
from rag_assets.contracts.graph import Confidence, GraphEdge, NodeType, Relation
from rag_assets.graph.neighbourhood import Neighbour, Neighbourhood
from rag_assets_tests.answer.pieces import SERVICE, piece

README = """\
# Shop

The shop takes orders, pays refunds and sends parcels to customers.

## Goals

The goal of the order part is that a refund is never paid twice.

## Links

- [orders](a.md)

## Roadmap

We plan to move the orders to another database next year.
"""
FRAGILE = """\
public class OrderExport
{
    // TODO: write orders in batches
    public void Export()
    {
        try { Run(); } catch (Exception) { }
        throw new NotImplementedException();
    }

    [Obsolete("use Export")]
    public void Old() { }  // FIXME: orders are lost
}
"""
TESTS = (
    "public class OrderTests\n{\n    [Fact]\n    public void An_order_is_refunded_once() { Assert.True(true); }\n}\n"
)
PROJECT = '<Project>\n  <TargetFramework>net8.0</TargetFramework>\n  <PackageReference Include="Polly" />\n</Project>\n'

PIECES = (
    piece(),
    piece(README, "bbbb2222", path="README.md", symbol="README.md", kind="Markdown", language="markdown", line_start=1),
    piece(FRAGILE, "cccc3333", path="src/Orders/OrderExport.cs", symbol="Shop.OrderExport", kind="Service"),
    piece(TESTS, "dddd4444", path="tests/OrderTests.cs", symbol="Shop.Tests.OrderTests", kind="Test"),
    piece(PROJECT, "eeee5555", path="src/Orders.csproj", symbol="src/Orders.csproj", language="msbuild", line_start=1),
)

SERVICE_KEY, FIND_KEY = "csharp:Shop.Orders.OrderService|TYPE", "csharp:Shop.Orders.IOrderRepository.Find(int)|METHOD"
REFUND_KEY = "csharp:Shop.Orders.OrderService.RefundOrder(int)|METHOD"
REPOSITORY_KEY = "csharp:Shop.Orders.IOrderRepository|TYPE"
AROUND = Neighbourhood(
    tuple(
        Neighbour(key, kind, key, 0, 1.0)
        for key, kind in (
            (SERVICE_KEY, NodeType.TYPE),
            (REFUND_KEY, NodeType.METHOD),
            (FIND_KEY, NodeType.METHOD),
            (REPOSITORY_KEY, NodeType.TYPE),
        )
    ),
    (
        GraphEdge(SERVICE_KEY, Relation.INJECTS, REPOSITORY_KEY, Confidence.RESOLVED, "src/Orders/OrderService.cs", 8),
        GraphEdge(REFUND_KEY, Relation.CALLS, FIND_KEY, Confidence.PROBABLE, "src/Orders/OrderService.cs", 13),
        GraphEdge(REFUND_KEY, Relation.CALLS, SERVICE_KEY, Confidence.RESOLVED, "src/Elsewhere.cs", 1),
    ),
)


def words(*said: str) -> tuple[QueryTerm, ...]:
    return tuple(QueryTerm(word, root(word), 1.0, True) for word in said)


def made(output: OutputType = OutputType.BLUEPRINT, *, subject: tuple[str, ...] = ("order",), **changes: Any) -> Quoted:
    template = TEMPLATES[output]
    cues = {
        heading: words(*section.cues.lower().split())
        for heading, section in zip(template.headings, template.sections, strict=True)
    }
    values: dict[str, Any] = {"evidence": PIECES, "found_for": {}, "around": AROUND} | changes
    return quoted(template, subject=words(*subject), cues=cues, **values)


def body(found: Quoted, title: str) -> str:
    return next(section.body for section in found.sections if section.heading.lstrip("# ") == title)


@pytest.mark.rule("E17", "E19")
@pytest.mark.parametrize("subject", [("order",), (), ("refund", "paid")], ids=["order", "everything", "refund"])
@pytest.mark.parametrize("output", ARTIFACTS)
def test_every_sentence_is_cited_and_verified(output: OutputType, subject: tuple[str, ...]) -> None:
    found = made(output, subject=subject)
    told = [section.heading for section in found.sections]
    assert told == [heading for heading in TEMPLATES[output].without_model if heading in told] != []
    for section in found.sections:
        report = check(section.body, found.evidence)
        assert report.sentences and report.is_supported, [one for one in report.sentences if one.problem]
    assert found == made(output, subject=subject), "same input, same artifact"


@pytest.mark.parametrize(
    ("output", "title", "said"),
    [
        (OutputType.BLUEPRINT, "Overview", "> The shop takes orders, pays refunds and sends parcels to customers."),
        (OutputType.BLUEPRINT, "Overview", "`OrderService` in src/Orders/OrderService.cs:3-4: “Cancels and refunds"),
        (OutputType.BLUEPRINT, "Goals", "> The goal of the order part is that a refund is never paid twice."),
        (
            OutputType.BLUEPRINT,
            "Architecture",
            "**OrderService** is given **IOrderRepository** in src/Orders/OrderServi",
        ),
        (OutputType.BLUEPRINT, "Features", "`OrderService.RefundOrder` in src/Orders/OrderService.cs:10-19: “Pays"),
        (
            OutputType.BLUEPRINT,
            "Risks",
            "- Catches everything in src/Orders/OrderExport.cs:8: `try { Run(); } catch (Ex",
        ),
        (OutputType.BLUEPRINT, "Risks", "- Not implemented in src/Orders/OrderExport.cs:9: `throw new NotImpl"),
        (OutputType.BLUEPRINT, "Next Steps", "> We plan to move the orders to another database next year."),
        (
            OutputType.BLUEPRINT,
            "Next Steps",
            "- To do in src/Orders/OrderExport.cs:5: `// TODO: write orders in batches`",
        ),
        (OutputType.WORKFLOW, "Steps", "**OrderService.RefundOrder** probably calls **IOrderRepository.Find**"),
        (
            OutputType.WORKFLOW,
            "Failure Handling",
            "- Throws in src/Orders/OrderService.cs:16: `throw new RefundException",
        ),
        (OutputType.BUILD_PLAN, "Tests", "- `An_order_is_refunded_once` in tests/OrderTests.cs:"),
        (
            OutputType.BUILD_PLAN,
            "Prerequisites",
            '- Package in src/Orders.csproj:3: `<PackageReference Include="Polly" />`',
        ),
        (
            OutputType.PDR,
            "Constraints",
            "- Framework in src/Orders.csproj:2: `<TargetFramework>net8.0</TargetFramework>`",
        ),
    ],
)
def test_what_is_quoted_where(output: OutputType, title: str, said: str) -> None:
    assert said in body(made(output), title)


def test_a_line_that_nobody_can_see_is_not_told() -> None:
    assert "Elsewhere" not in "".join(section.body for section in made(OutputType.WORKFLOW).sections)


def test_nothing_is_said_twice() -> None:
    found = made()
    lines = [line for section in found.sections for line in section.body.splitlines() if line.startswith("- ")]
    assert len(lines) == len(set(lines))


def test_what_is_about_something_else_is_left_out() -> None:
    found = made(subject=("zeppelin",), around=None)
    assert found.sections == ()


def test_a_list_of_links_and_a_heading_say_nothing() -> None:
    assert "orders](a.md)" not in "".join(section.body for section in made(OutputType.PDR, subject=()).sections)


def test_lists_are_bounded() -> None:
    many = tuple(
        piece(FRAGILE.replace("OrderExport", f"OrderExport{at}"), f"{at:08x}", path=f"src/E{at}.cs", symbol=f"E{at}")
        for at in range(30)
    )
    risks = body(made(evidence=many, around=None), "Risks")
    assert sum(line.startswith("- ") for line in risks.splitlines()) == MOST_ITEMS
    assert max(risks.count(f"src/E{at}.cs") for at in range(30)) <= 3


def test_pieces_of_the_section_come_first() -> None:
    late = piece(FRAGILE, "ffff6666", path="src/Zebra.cs", symbol="Shop.OrderZebra")
    found = made(evidence=(*PIECES, late), found_for={"## Risks": ("ffff6666",)}, around=None)
    assert "src/Zebra.cs" in body(found, "Risks").splitlines()[0]


def test_evidence_that_is_not_what_was_indexed_is_not_quoted() -> None:
    tampered = tuple(piece(SERVICE, "abcd0000", sha256="0" * 64) for _ in range(1))
    assert made(evidence=tampered, around=None).sections == ()


@pytest.mark.parametrize(
    ("material", "line", "says"),
    [
        (Material.TASKS, "// TODO write more", "To do"),
        (Material.TASKS, "- [ ] write more", "To do"),
        (Material.TASKS, "var todoList = 1;", ""),
        (Material.TASKS, "class TodoItem", ""),
        (Material.TASKS, "// HACK: until then", "Marked as wrong"),
        (Material.DEFECTS, "var debugger = BUGS;", ""),
        (Material.DEFECTS, "    except Exception:", "Catches everything"),
        (Material.DEFECTS, "catch (OrderException e)", ""),
        (Material.DEFECTS, "catch", "Catches everything"),
        (Material.DEFECTS, "    [Obsolete]", "Obsolete"),
        (Material.FAILURES, "    raise ValueError('x')", "Throws"),
        (Material.FAILURES, ".AddRetry(new())", "Retries"),
        (Material.SETTINGS, "FROM python:3.12", "Image"),
        (Material.SETTINGS, "from x import y", ""),
        (Material.TASKS, "- [ ] write tests", "To do"),
    ],
)
def test_what_a_line_says(material: Material, line: str, says: str) -> None:
    language = "dockerfile" if says == "Image" else "csharp"
    found = [one.says for one in marked_lines(piece(f"x\n{line}\n", language=language), material)]
    assert found == ([says] if says else [])


def test_a_table_that_code_reads_is_no_image() -> None:
    query = piece('x\n    $"""\n    FROM [shop].[Orders]\n    """\n')
    assert not [*marked_lines(query, Material.SETTINGS)]


def test_types_are_named_for_a_section_and_members_for_their_own_names() -> None:
    code = 'namespace Shop.Users;\n\npublic class OrderMustHaveLinesRule\n{\n    public string Message => "no";\n}\n'
    known = piece(code, path="src/Rules.cs", symbol="Shop.Users.OrderMustHaveLinesRule")
    ground = StatementSources((known,), (), words("rule", "user"), frozenset(), {})
    assert [one.text.split("`")[1] for one in statements(Material.MEMBERS, ground)] == ["OrderMustHaveLinesRule"]


def test_an_artifact_begins_with_what_the_readme_says_that_the_project_is() -> None:
    text = (
        "# Shop\n\n## News\n\nPlease read the upgrade guide before anything else happens to you.\n\n## About\n\n"
        "The shop is a web application that sells parcels to people who need some.\n"
    )
    readme = piece(text, path="README.md", symbol="README.md", kind="Markdown", language="markdown", line_start=1)
    page = piece("minified " + "x(1);" * 90 + " a b c d e f\n", "bbbb1111", path="docs/report.html", language="html")
    ground = StatementSources((page, readme), (), (), frozenset(), {})
    told = [one.text for one in statements(Material.OPENING, ground)]
    assert len(told) == 1 and "The shop is a web application" in told[0]
    assert not [*statements(Material.PROSE, StatementSources((page,), (), words("minified"), frozenset(), {}))]


@pytest.mark.parametrize(
    "path", ["LICENSE", "docs/NOTICE.md", "CHANGELOG.md", "changes.rst", ".github/ISSUE_TEMPLATE/a.md"]
)
def test_licences_changes_and_forms_say_nothing_of_the_code(path: str) -> None:
    text = "# Architecture\n\nThe order part depends on the component for invoices. - [ ] TODO\n"
    only = piece(text, "aaaa9999", path=path, symbol=path, kind="Markdown", language="markdown", line_start=1)
    assert made(evidence=(only,), around=None).sections == ()


def test_about_everything_a_heading_must_say_what_a_paragraph_is_for() -> None:
    beside = "# Orders\n\nThe goal of this paragraph is a purpose that no heading has, with a motivation.\n"
    known = piece(beside, "aaaa8888", path="docs/a.md", symbol="a", kind="Markdown", language="markdown", line_start=1)
    found = made(subject=(), evidence=(*PIECES, known))
    assert body(found, "Goals") == body(made(subject=()), "Goals")


def test_an_artifact_keeps_to_its_tokens_and_drops_the_end_of_the_longest_section() -> None:
    sections = made().sections
    sizes = [len(section.body) for section in sections]
    kept = within(sections, sum(sizes) - 10, lambda texts: [len(text) for text in texts])
    assert sum(len(section.body) for section in kept) <= sum(sizes) - 10
    assert [one.heading for one in kept] == [one.heading for one in sections]
    longest = max(range(len(sections)), key=lambda at: sizes[at])
    assert sections[longest].body.startswith(kept[longest].body)
    assert [one for one in kept if one not in sections] == [kept[longest]]
    assert within(sections, 0, lambda texts: [len(text) for text in texts]) == ()
    picture = Section("## A", "```mermaid\nflowchart LR\n  n0 --> n1\n```\n\n**Who**\n\n- a")
    assert within((picture,), len(picture.body) - 1, lambda texts: [len(text) for text in texts]) == ()


def test_a_telling_line_knows_its_place() -> None:
    known: Evidence = piece("a\n  // TODO  wide   blanks\n", line_start=10)
    (found,) = marked_lines(known, Material.TASKS)
    assert (found.line, found.text) == (11, "// TODO wide blanks")
