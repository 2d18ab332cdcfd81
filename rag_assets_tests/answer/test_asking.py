"""`Index.ask`: real questions to a real index, without a model."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from rag_assets import Index, open_index, open_indexes
from rag_assets.answer.abstention import SENTENCE
from rag_assets.answer.citations import Support
from rag_assets.answer.results import EXTRACTIVE
from rag_assets.history.query_log import LogFilter, open_query_log
from rag_assets.index.layout import IndexHome
from rag_assets.index.vectors.filters import SearchFilters
from rag_assets.qa.ask_options import AskOptions
from rag_assets_tests.cli.conftest import opened_index

ANSWERED = [
    ("What does RefundPolicy do?", "src/Refunds/RefundPolicy.cs", "Limits how much money a customer gets back"),
    ("how much money is paid back for a returned parcel", "src/Refunds/RefundPolicy.cs", "MostFor"),
    ("who calls RefundPolicy.MostFor", "src/Orders/OrderService.cs", "_policy.MostFor(paid, days)"),
    ("what implements IRefundPolicy", "src/Refunds/RefundPolicy.cs", "implements"),
    ("who checks the seal of a parcel", "docs/parcels.md", "A clerk checks the seal"),
    ("MostFor", "src/Refunds/RefundPolicy.cs", "rounded down to whole cents"),
]


@pytest.mark.rule("E19", "E21", "R26")
@pytest.mark.parametrize(("question", "path", "said"), ANSWERED, ids=[case[0] for case in ANSWERED])
def test_answers_quote_and_every_sentence_is_checked(shop: Index, question: str, path: str, said: str) -> None:
    found = shop.ask(question, options=AskOptions())
    assert not found.abstained, found.reason
    assert found.provider == EXTRACTIVE
    assert said in found.text
    assert path in [citation.path for citation in found.citations]
    assert [one for one in found.checks if one.support is not Support.SUPPORTED] == []
    for citation in found.citations:
        assert shop.get(citation.id)["Path"] == citation.path
        assert citation.rendered.endswith(f"@{shop.manifest.commit_sha[:10]}")


@pytest.mark.rule("E20", "E22")
@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ("What does OrderDispatcher do?", "nothing here is called OrderDispatcher"),
        ("How long should pasta boil?", "no section has the words"),
        ("how does the neural network train overnight", "does not fit the question well enough"),
        ("zzzz qqqq", "nothing was found"),
    ],
)
def test_what_is_not_there_is_refused(shop: Index, question: str, reason: str) -> None:
    found = shop.ask(question, options=AskOptions())
    assert found.abstained
    assert found.text == SENTENCE == "I don’t see enough information in this brain to answer that yet."
    assert reason in found.reason
    assert found.citations == () and found.checks == ()
    assert "ingest" in found.suggestions[-1] and "shop@main" in found.suggestions[-1]


@pytest.mark.rule("E22")
def test_between_an_answer_and_a_refusal_is_what_is_closest(shop: Index) -> None:
    found = shop.ask("How does RefundPolicy train its neural network overnight?", options=AskOptions(threshold=0.01))
    assert found.unsure and not found.abstained and found.text.startswith("**Not sure. The closest is:**\n\n")
    assert found.citations and {one.support for one in found.checks} <= {Support.SUPPORTED, Support.UNCITED}
    sure = shop.ask(
        "How does RefundPolicy train its neural network overnight?", options=AskOptions(threshold=0.01, sure=0.01)
    )
    assert not sure.unsure and "Not sure" not in sure.text


def test_a_refusal_names_what_is_nearly_called_so(shop: Index) -> None:
    found = shop.ask("What does RefundPolise do?", options=AskOptions())
    assert "RefundPolicy" in found.suggestions[0]


def test_a_refusal_says_where_to_look(shop: Index) -> None:
    question = "how much money is paid back for a returned parcel"
    refused = shop.ask(question, options=AskOptions(threshold=1.0))
    best = refused.read.passages.passages[refused.read.passages.chosen(1)[0]]
    place = f"{best.evidence.path}:{best.line_start}-{best.line_end}"
    assert refused.suggestions[0].startswith(f"the closest are {place} (`{best.name or best.evidence.name}` “")
    assert refused.suggestions[0].partition("“")[2].partition("”")[0] in best.code
    nothing_alike = shop.ask("How long should pasta boil?", options=AskOptions())
    assert not any("closest" in said for said in nothing_alike.suggestions)


@pytest.mark.rule("E22")
def test_the_threshold_decides(shop: Index) -> None:
    question = "how much money is paid back for a returned parcel"
    assert shop.ask(question, options=AskOptions(threshold=1.0)).abstained
    assert not shop.ask("seal of the neural network", options=AskOptions(threshold=0.0)).abstained


@pytest.mark.rule("E12", "R17")
def test_nobody_reads_in_an_answer_what_is_not_for_them(shop_home: IndexHome) -> None:
    question = "What does SalaryTable do?"
    with open_index("shop@main", home=shop_home.root) as index:
        refused = index.ask(question, options=AskOptions())
        assert refused.abstained and "Payroll" not in str(refused.evidence)
        assert "SalaryTable" not in str(refused.suggestions[:-1])
    with open_index("shop@main", home=shop_home.root, clearance="restricted") as index:
        assert "What each employee earns" in index.ask(question, options=AskOptions()).text


def test_filters_hold_for_all_evidence(shop: Index) -> None:
    """Also for what the graph and the definitions would add."""
    for found in (
        shop.ask(
            "What does RefundPolicy do?", filters=SearchFilters(paths=("docs/",)), options=AskOptions(threshold=0.0)
        ),
        shop.ask("RefundPolicy path:docs/", options=AskOptions(threshold=0.0)),
    ):
        assert {piece.path for piece in found.evidence} <= {"docs/parcels.md"}


@pytest.mark.rule("E13", "R24")
@pytest.mark.parametrize("budget", [40, 120, 400])
def test_the_budget_holds(shop: Index, budget: int) -> None:
    found = shop.ask("how is a refund of a parcel limited", options=AskOptions(budget=budget, threshold=0.0))
    assert found.context_tokens <= budget


def test_planted_marks_are_no_citations(shop: Index) -> None:
    found = shop.ask("what happens with parcels that come back in the warehouse", options=AskOptions())
    assert "deadbeef" not in [citation.id for citation in found.citations]
    assert all(one.support is Support.SUPPORTED for one in found.checks)


def test_equal_questions_have_equal_answers(shop: Index) -> None:
    first, second = (shop.ask("how is a refund limited", options=AskOptions()) for _ in range(2))
    assert (first.text, first.citations, first.confidence) == (second.text, second.citations, second.confidence)


def test_several_labels_answer_as_one(shop_home: IndexHome) -> None:
    with open_indexes(["shop@main"], home=shop_home.root) as group:
        assert not group.ask("What does RefundPolicy do?", options=AskOptions()).abstained


@pytest.mark.parametrize(
    "typed",
    [
        "[Answer:] how much money is paid back for a returned parcel [chunk: deadbeef]?",
        "how much money is paid back [source: docs/zebra.md:1-2@abcdef0123] for a returned parcel [HYBRID:]",
        "\x1b[38;5;208mhow much money\x1b[0m is \x1b[4;58;5;9mpaid back\x1b[59;24m for a returned parcel",
        "[38;5;208mhow much money[0m is ^[[1mpaid back^[[0m for a returned parcel",
    ],
)
def test_what_is_pasted_is_neither_searched_for_nor_missed(shop: Index, typed: str) -> None:
    plain = shop.ask("how much money is paid back for a returned parcel", options=AskOptions())
    found = shop.ask(typed, options=AskOptions())
    assert (found.text, found.confidence, found.signals) == (plain.text, plain.confidence, plain.signals)
    assert found.question == typed
    assert shop.search(typed).hits == shop.search(plain.question).hits


def test_questions_to_one_index_are_logged_through_one_connection(
    shop_home: IndexHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    connected: list[sqlite3.Connection] = []
    connect = sqlite3.connect

    def counted(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connected.append(connect(*arguments, **options))
        return connected[-1]

    monkeypatch.setattr(sqlite3, "connect", counted)
    asked = [f"how is the seal of parcel {number} checked?" for number in range(2)]
    with open_index("shop@main", home=shop_home.root) as index:
        for question in asked:
            index.ask(question, options=AskOptions())
        (log,) = connected
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        log.execute("SELECT 1")
    with open_query_log(shop_home) as logged:
        assert {one.question for one in logged.asked(LogFilter())} >= set(asked)


def test_a_style_sheet_is_a_sure_answer_to_questions_of_looks_alone(tmp_path: Path) -> None:
    styles = ".parcel:hover {\n  transform: scale(1.2);\n  background: red; /* scaled parcels are red */\n}\n"
    drafter = "name-template: $NEXT\ncategories:\n  - title: Translated parcels\n    labels: [translated-parcels]\n"
    files = {"web/parcels.css": styles, ".github/drafter.yml": drafter, "src/Parcel.cs": "public class Parcel;\n"}
    with opened_index(tmp_path, files, "css") as index:
        scaled, coloured = index.ask("how are parcels scaled?"), index.ask("which background colour do parcels have?")
        translated = index.ask("how are parcels translated?")
    assert translated.abstained or translated.unsure, translated.text
    assert scaled.abstained or scaled.unsure, scaled.text
    assert not coloured.abstained and not coloured.unsure, coloured.text


def test_who_logs_in_writes_no_log(tmp_path: Path) -> None:
    page = "@page\n<h1>Log in</h1>\n<p>Log in with your account to log in here, or log out.</p>\n"
    journal = """\
public class Logger
{
    /// <summary>Logs a line.</summary>
    public void Log(string line) => file.Append(line);
}
"""
    with opened_index(tmp_path, {"Pages/Login.cshtml": page, "src/Logger.cs": journal}, "logs") as index:
        assert index.ask("where are lines logged?").text.startswith("`Logger.Log`")
        assert "Pages/Login.cshtml" not in index.ask("how is logging done?").text.partition("See also")[0]
        assert "Pages/Login.cshtml" in index.ask("how do I log in?").text.partition("See also")[0]


def test_records_of_data_are_no_sure_answer_and_come_after_code(tmp_path: Path) -> None:
    told = "How long are my parcels kept before they are burned? The clerk has kept a parcel for long days."
    records = [{"ParcelId": at, "Text": told} for at in range(9)]
    code = "namespace Shop;\n\npublic class ParcelStore\n{\n    public void Keep(int parcel) { }\n}\n"
    files = {"db/seeds/parcels.json": json.dumps(records, indent=2), "src/ParcelStore.cs": code}
    with opened_index(tmp_path, files, "shop") as index:
        assert index.ask("how long are parcels kept before they are burned?", options=AskOptions()).unsure
        quoted = index.ask('where is "parcels kept before"?', options=AskOptions())
        assert not quoted.unsure and not quoted.abstained
