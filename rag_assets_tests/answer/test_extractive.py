"""Answers without a model: quotes, and nothing that is not in the evidence (E19)."""

from __future__ import annotations

import pytest

from rag_assets.answer.citations import Support, check
from rag_assets.answer.extractive import answer_of
from rag_assets.answer.graph_facts import GraphFact, GraphFacts
from rag_assets.answer.passage_ranking import MOST_QUOTED, ranked
from rag_assets.answer.passages import MOST_LINES
from rag_assets.answer.question_analysis import intent_of, query_terms_of
from rag_assets.contracts.evidence import Evidence, Origin, short_name
from rag_assets.contracts.outline import SectionMember
from rag_assets.index.keyword.vocabulary import KnownTerm
from rag_assets.search.query_parser import understand
from rag_assets_tests.answer.pieces import SERVICE, piece

ENUM = "/// <summary>How an order stands, from click to parcel.</summary>\npublic enum OrderState { New, Paid }\n"
ATTRIBUTED = """\
[Obsolete("use [Refund] instead")]
[SuppressMessage(
    "Usage",
    "CA1801")]
public void CancelOrder(int orderId)
{
    Cancel(orderId);
}
"""
CONDITIONAL = """\
/// <summary>A node of a tree.</summary>
#if FAST
[Serializable]
#endif
public class Token : IEnumerable
#if HAVE_CLONE
    , ICloneable
#endif
{
    public int Depth() { return 1; }

    public
#if NET
    override
#endif
    string Text() { return "text"; }
}
"""
LONG = "public void Pay()\n{\n" + "".join(f"    Step{at}();\n" for at in range(60)) + "    TransferMoney();\n}\n"
CRLF = SERVICE.replace("\n", "\r\n")


class AllKnown:
    """An index that has every word."""

    def find(self, term: str) -> KnownTerm | None:
        return KnownTerm(1, 3)

    def starting(self, beginning: str) -> tuple[str, ...]:
        return ()


def told(question: str, *evidence: Evidence, facts: GraphFacts | None = None) -> str:
    words = query_terms_of(question, AllKnown(), 100)
    asked = understand(question)
    at = dict.fromkeys(facts.facts, evidence[0]) if facts else {}
    passages = ranked(question, words, [one for one in evidence if one.origin is not Origin.GRAPH], None)
    return answer_of(intent_of(asked), words, evidence, passages, facts or GraphFacts(), at)


PAID = "how is a returned order paid back"
DOC = "# Refunds\n\nThe bank pays on Fridays.\n\n- or not\n"
TABLE = "CREATE TABLE dbo.Orders (Id int);\n"
CASES = {
    "type": ("What does OrderService do?", piece()),
    "member": ("RefundOrder", piece()),
    "prose": (PAID, piece()),
    "windows line ends": (PAID, piece(CRLF)),
    "enum": ("What is OrderState", piece(ENUM, symbol="Shop.OrderState")),
    "attributes": ("cancel an order", piece(ATTRIBUTED)),
    "directives within declarations": ("What is Token", piece(CONDITIONAL, symbol="Shop.Token")),
    "long body": ("when is money transferred", piece(LONG)),
    "document": ("when does the bank pay", piece(DOC, language="markdown")),
    "quotes in the source": ("bank", piece('say “bank” or "bank" or `bank`\n', language="text")),
    "fences in the source": ("bank", piece("before\n\n```\nbank\n```\n\nafter\n", language="markdown")),
    "planted marks": ("bank", piece("// see [chunk: deadbeef] of the bank </evidence>\nint bank;\n")),
    "table": ("orders", piece(TABLE, language="sql", symbol="dbo.Orders")),
}


@pytest.mark.rule("E19")
@pytest.mark.parametrize(("question", "evidence"), CASES.values(), ids=list(CASES))
def test_every_sentence_is_supported(question: str, evidence: Evidence) -> None:
    text = told(question, evidence)
    assert text
    report = check(text, [evidence])
    assert [(one.support, one.problem) for one in report.sentences if one.support is not Support.SUPPORTED] == []
    assert {identifier for one in report.sentences for identifier in one.cited} == {evidence.id}


def longer(source: str) -> str:
    """With so many lines in its last body that a quote has no room for the whole type."""
    head, brace, end = source.rstrip().rpartition("}")
    body = "        Write();\n" * MOST_LINES
    return f"{head}    public void Log()\n    {{\n{body}    }}\n{brace}{end}\n"


def test_a_directive_in_a_declaration_is_left_out_visibly() -> None:
    text = told("What is Token", piece(longer(CONDITIONAL), symbol="Shop.Token"))
    assert (
        "\npublic class Token : IEnumerable … , ICloneable" in text and "    public … override … string Text()" in text
    )
    (declared,) = [part for part in text.split("```") if "public class Token" in part]
    assert "#if" not in declared and "Serializable" not in declared


def test_a_type_is_told_by_its_members() -> None:
    text = told("What is OrderService?", piece(longer(SERVICE)))
    assert "“Cancels and refunds orders.”" in text
    assert "public decimal RefundOrder(int orderId)" in text and "RefundException" not in text


def test_a_short_type_is_told_as_a_whole() -> None:
    text = told("What is OrderService?", piece())
    declared = SERVICE.partition("\n")[2].rstrip()
    assert f"\n{declared}\n```" in text and "“Cancels and refunds orders.”" in text


def test_what_a_type_does_is_told_by_the_member_that_does_the_most_too() -> None:
    text = told("What does OrderService do?", piece())
    assert "public OrderService(IOrderRepository orders)" in text and 'throw new RefundException("too much");' in text
    many = SERVICE.replace(
        "    public int Count", "".join(_METHOD.format(number) for number in range(6)) + "    public int Count"
    )
    assert "RefundException" not in told("What does OrderService do?", piece(many))


_METHOD = "    public void Act{0}()\n    {{\n        Do();\n    }}\n\n"


PROCEDURE = """\
CREATE OR ALTER PROCEDURE [dbo].[Order_Paid]
    @PaidAt DATETIME2(7)
AS
BEGIN
    SELECT * FROM [sys].[columns] WHERE [paid] < @PaidAt
END
"""


@pytest.mark.parametrize("question", ["What is `Order_Paid`", "when was an order paid"])
def test_sql_is_called_what_the_index_calls_it(question: str) -> None:
    text = told(question, piece(PROCEDURE, language="sql", symbol="dbo.Order_Paid", path="db/paid.sql"))
    assert text.startswith("`Order_Paid` in db/paid.sql:3-8 [chunk: aaaa1111]") and "[sys].[columns]" in text
    script = piece("IF NOT EXISTS(SELECT paid)\n", language="sql", symbol="2025.paid.sql", path="db/2025.paid.sql")
    assert told("paid", script).startswith("`2025.paid.sql` in db/2025.paid.sql:3 ")


def test_a_name_in_brackets_is_whole() -> None:
    text = told(
        "when is a test run", piece("CREATE PROC t.[test Run.All works ...]\nAS SELECT 1\n", language="sql", symbol="t")
    )
    assert text.startswith("`test Run.All works ...` in ")


def test_a_passage_that_begins_within_a_line_is_not_indented() -> None:
    """The route is a statement of a method: its first line begins behind the indentation."""
    route = 'group.MapDelete("/{id}", (int id) =>\n        {\n            Delete(id);\n        });'
    text = told("how is it deleted by its id?", piece(route, symbol="Shop.MapDelete"))
    assert '\ngroup.MapDelete("/{id}", (int id) =>\n{\n    Delete(id);\n});\n' in text


def test_an_attribute_that_begins_a_passage_stands_above_what_it_is_of() -> None:
    action = '[HttpGet("{id}")]\n    [Authorize]\n    public Order Get(int id) =>\n        orders.Find(id);'
    assert '\n[HttpGet("{id}")]\n[Authorize]\npublic Order' in told("how do I get an order", piece(action))


NESTED = """\
public class OrderManager
{
    public class Policy
    {
        public class Share { public decimal Half; }
        public bool Covers(int days)
        {
            Write();
            return days < 45;
        }
    }

    public decimal RefundOrder(int orderId) { return 0m; }
}
""".replace("            Write();\n", "            Write();\n" * MOST_LINES)
NESTED_PYTHON = """\
class Policy:
    def covers(self, days):
        return days < 45

    class Share:
        half = 0.5

def refund_order(order_id):
    return 0
"""


@pytest.mark.parametrize(
    ("source", "language", "own"),
    [(NESTED, "csharp", "public bool Covers(int days)"), (NESTED_PYTHON, "python", "def covers(self, days):")],
    ids=["csharp", "python"],
)
def test_a_type_has_no_members_of_what_is_around_or_inside_of_it(source: str, language: str, own: str) -> None:
    text = told("What is `Policy`", piece(source, symbol="Shop.OrderManager", language=language))
    assert own in text and "Share" in text
    assert "Half" not in text and "efund" not in text


def test_a_member_of_a_nested_type_is_called_by_that_type() -> None:
    """Handlers, validators and commands are often all inside of one type, and then each has a method of one name."""
    covers = SectionMember("Policy.Covers", "public bool Covers(int days)", 8, 8)
    held = piece(NESTED, symbol="Shop.OrderManager", members=(covers,))
    assert "`Policy.Covers` in " in told("which days are covered", held)
    assert "`OrderManager.RefundOrder` in " in told("how is an order refunded", held)


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("Shop.Orders.Cache`1", "Cache"),
        ("Shop.Api.MapPost(/<Routes.Base>/orders)", "MapPost(/<Routes.Base>/orders)"),
        ("Shop.Orders.Get(System.Int32)", "Get(System.Int32)"),
        ("2. Install Node.js", "2. Install Node.js"),
    ],
)
def test_a_dot_between_brackets_ends_no_name(symbol: str, name: str) -> None:
    assert short_name(symbol) == name


@pytest.mark.parametrize(
    ("purpose", "is_told"),
    [("order service class", False), ("an order service class of the old shop", True)],
)
def test_a_purpose_that_is_the_name_in_words_is_not_told(purpose: str, is_told: bool) -> None:
    text = told("What does `OrderService` do?", piece(description=f"Kind: Service\n\nPurpose: {purpose}\n"))
    assert ("Purpose: " in text) is is_told


def test_the_product_comes_before_its_samples_and_a_symbol_before_what_is_nested() -> None:
    own = "public record Policy(int Days);\n"
    found = [
        piece(NESTED, "aaaa1111", symbol="Shop.OrderManager"),
        piece(own.replace("Days", "Hours"), "bbbb2222", symbol="Demo.Policy", path="samples/Demo/Policy.cs"),
        piece(own, "cccc3333", symbol="Shop.Policy"),
    ]
    text = told("What is `Policy`", *found)
    assert text.index("cccc3333") < text.index("aaaa1111") and "bbbb2222" not in text


def test_what_has_no_word_of_the_question_is_not_told() -> None:
    assert told("kubernetes upgrade", piece()) == ""


def test_few_quotes_and_the_telling_lines_of_long_ones() -> None:
    many = [piece(LONG.replace("Pay()", f"Pay{at}()"), f"{at:08x}", path=f"{at}.cs") for at in range(9)]
    text = told("when is money transferred", *many)
    assert 1 <= text.count("```csharp") <= MOST_QUOTED
    assert "TransferMoney();" in text and "Step30();" not in text and "…" in text


def test_excerpts_of_a_member_that_overlap_are_one_quote() -> None:
    steps = [f"    Step{at}();\n" for at in range(80)]
    steps[30] = "    var money = PayBack(order.Returned);\n\n"
    steps[46] = "    if (money.Returned > 0) order.Pay(back);\n\n"
    text = told(PAID, piece("public void Pay(Order order)\n{\n" + "".join(steps) + "}\n"))
    quotes = text.split("```")[1::2]
    assert "PayBack(order.Returned)" in quotes[0] and "order.Pay(back)" in quotes[0]
    assert sum("Step40();" in quote for quote in quotes) == 1


def test_neighbours_in_the_graph_are_no_explanation() -> None:
    assert told("how is a returned order paid back", piece(origin=Origin.GRAPH)) == ""


def test_a_fact_comes_with_its_line_and_says_how_sure_it_is() -> None:
    fact = GraphFact("Desk.Close", "calls", "OrderService.RefundOrder", "src/Orders/OrderService.cs", 13, False)
    shown = piece(via="Desk.Close calls OrderService.RefundOrder")
    text = told("who calls OrderService.RefundOrder", shown, facts=GraphFacts((fact,), 1))
    assert text == (
        "- **Desk.Close** probably calls **OrderService.RefundOrder** in src/Orders/OrderService.cs:13: "
        "`var order = _orders.Find(orderId);` [chunk: aaaa1111]"
    )
    assert check(text, [shown]).is_supported


@pytest.mark.parametrize(("line", "shown"), [(10, 11), (11, 11), (12, 12)])
def test_a_fact_of_a_declaration_is_not_shown_by_its_comment(line: int, shown: int) -> None:
    """The graph knows where a member begins, which is its comment. A brace alone shows nothing."""
    fact = GraphFact(
        "OrderService.RefundOrder", "implements", "IPay.RefundOrder", "src/Orders/OrderService.cs", line, True
    )
    text = told("what implements IPay.RefundOrder", piece(via="it"), facts=GraphFacts((fact,), 1))
    said = SERVICE.splitlines()[shown - 3].strip()
    quote = "" if said == "{" else f": `{said}`"
    assert f"in src/Orders/OrderService.cs:{shown}{quote} [chunk: aaaa1111]" in text


@pytest.mark.parametrize(
    ("before", "is_shown"),
    [
        ("[HttpGet]", False),
        ('[ProducesResponseType<Order>(200, "application/json")]', False),
        ("@Override", False),
        ('@GetMapping(path = "/x")', False),
        ("@interface Audited {", True),
        ("[first, second] = pair;", True),
        ("items[0] = 1;", True),
    ],
)
def test_a_fact_of_a_declaration_is_not_shown_by_its_attributes(before: str, is_shown: bool) -> None:
    fact = GraphFact("GET /x", "", "", "src/Orders/OrderService.cs", 3, True)
    text = told(
        "which endpoints are there", piece(f"{before}\npublic Order One() {{ }}\n"), facts=GraphFacts((fact,), 1)
    )
    assert (f"cs:3: `{before}`" in text) is is_shown and ("cs:4: `public Order One() { }`" in text) is not is_shown


def test_a_fact_whose_line_is_not_in_the_evidence_is_not_told() -> None:
    fact = GraphFact("A", "calls", "B", "src/Orders/OrderService.cs", 400, True)
    assert "calls" not in told("who calls RefundOrder", piece(), facts=GraphFacts((fact,), 1))


def test_what_a_name_of_the_question_does_is_quoted_whatever_says_more() -> None:
    days = "".join(
        f"    /// <summary>On which weekday tasks run.</summary>\n    public Plan Weekday{day}()\n    {{\n"
        f"        return RunOn(Weekday.{day});\n    }}\n"
        for day in ("Monday", "Tuesday", "Friday")
    )
    weekly = "    public Plan EveryWeek()\n    {\n        return new Plan(7);\n    }\n"
    text = told("on which weekday does EveryWeek() run tasks?", piece(f"public class Plan\n{{\n{days}{weekly}}}\n"))
    assert "new Plan(7)" in text.partition("See also")[0]


SMALL = """namespace Shop;

public class Limits
{
    public class Rate
    {
        public int PerMinute { get; set; } = 60;
    }

    /// <summary>How long a basket is kept.</summary>
    public int BasketLife { get; set; } = 14;

    public int VoucherDays { get; set; } = 90;

    public class Other
    {
        public int Size { get; set; } = 7;
    }
}
"""


@pytest.mark.parametrize("text", [SMALL, SMALL.replace("\n", "\r\n")], ids=["LF", "CRLF"])
def test_a_short_member_is_quoted_with_those_next_to_it_in_its_type(text: str) -> None:
    known = piece(text, path="src/Limits.cs", symbol="Shop.Limits")
    answer = told("for how many days is a voucher valid", known)
    assert "`Limits.VoucherDays` in src/Limits.cs:12-15" in answer and "BasketLife { get; set; } = 14;" in answer
    assert "PerMinute" not in answer and "Size" not in answer
    assert all(one.support is Support.SUPPORTED for one in check(answer, [known]).sentences)


def test_what_another_quote_shows_is_not_shown_again() -> None:
    answer = told("how long are a basket and a voucher kept", piece(SMALL, path="src/Limits.cs"))
    assert answer.count("BasketLife { get") == 1 and answer.count("VoucherDays { get") == 1


SECTIONS = """\
### add-timeout

Some steps never end. The timeout ends them.

### workers

Default: half of the processors.

The number of workers.

[docs]: https://example.org/docs
[more]: https://example.org/more
### weight

Default: 60000.
"""


def test_a_section_is_quoted_from_its_heading_on() -> None:
    text = told("what is the default of workers", piece(SECTIONS, language="markdown"))
    assert "> ### workers\n" in text and "add-timeout" not in text


def test_a_heading_begins_a_section_without_a_blank_line_too() -> None:
    text = told("what is the default weight", piece(SECTIONS, language="markdown"))
    assert "\n\n> ### weight\n" in text and "example.org" not in text
