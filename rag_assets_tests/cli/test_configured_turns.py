"""Conversations, routes and loops as a user sets them: a pipeline file beside a configuration file that has models.

What was asked is read from the requests that arrive at the model, what is kept from the tables of the home.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import pytest

from rag_assets.answer.abstention import SENTENCE
from rag_assets.history.schema import FILE_NAME
from rag_assets.index.layout import IndexHome
from rag_assets.models.openai_compat.token_counting import estimate_tokens
from rag_assets.qa.actions.finish import GENERAL_LABEL
from rag_assets_tests.cli.conftest import CommandLine, new_repository
from rag_assets_tests.models.llm.model_server import Asked, ModelServer, failing
from rag_assets_tests.qa.conftest import FILES, REFUND
from rag_assets_tests.qa.http_model import Script, prompt_text

SESSION = ("--session", "s1", "--user", "ann")
LONG = "Refunds are discussed at length. " * 20
INVENTED = "Elephants carry quantum hamburgers to Neptune."


@dataclass
class Desk:
    """`ask` by the command line, with one pipeline file. `script` says what the model replies."""

    cli: CommandLine
    server: ModelServer
    label: tuple[str, ...] = ("--label", "shop@main")

    def configure(self, base: str = "code_question_answering", **settings: Any) -> None:
        answer = {"base_url": self.server.url, "balanced": {"model": "m"}, "retries": 0, "pipeline": "own"}
        configured = {
            "home": "home",
            "embedder": {"provider": "lexical-only"},
            "repositories": [{"id": one, "location": "shop"} for one in ("shop", "other")],
            "answer": answer,
        }
        (self.cli.folder / "rag_assets.yaml").write_text(json.dumps(configured), encoding="utf-8")
        (self.cli.folder / "pipelines").mkdir(exist_ok=True)
        pipeline = {"name": "own", "extends": base, "settings": settings}
        (self.cli.folder / "pipelines" / "own.yaml").write_text(json.dumps({"pipeline": pipeline}), encoding="utf-8")

    def script(self, **said: Any) -> Script:
        self.server.asked.clear()
        return Script(self.server, **({"router": "[BM25:] refund order", "answer": cited} | said))

    def ask(self, question: str = REFUND, *options: str) -> Any:
        done = self.cli.run("ask", question, *self.label, *options, "--json", options=())
        assert done.code in (0, 4), done.err
        return done.json

    def way(self, found: Any) -> list[tuple[str, str]]:
        """(step, outcome) of each step of a turn."""
        return [(step["step"], step["outcome"]) for step in self.steps(found)]

    def steps(self, found: Any) -> list[dict[str, Any]]:
        steps: list[dict[str, Any]] = self.cli.run("trace", found["turn"], "--json", options=()).json["steps"]
        return steps

    def rows(self, table: str) -> list[dict[str, Any]]:
        with closing(sqlite3.connect(self.cli.home.root / FILE_NAME)) as database:
            database.row_factory = sqlite3.Row
            return [dict(row) for row in database.execute(f"SELECT * FROM {table} ORDER BY 1, 2")]


def cited(asked: Asked, text: str = "`RefundOrder` calls `WriteCreditNote` of the invoices") -> str:
    """An answer that cites the piece of the prompt that shows it."""
    shown = next(block for block in asked.user.split('<evidence id="')[1:] if "RefundOrder" in block)
    return f"[Answer:] {text} [chunk: {shown.partition(chr(34))[0]}]."


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    base = tmp_path_factory.mktemp("desk")
    new_repository(base / "shop", FILES)
    with ModelServer() as server:
        made = Desk(CommandLine(IndexHome(base / "home"), base), server)
        made.configure()
        made.cli.build(options=())
        yield made


@pytest.fixture
def desk(indexed: Desk) -> Iterator[Desk]:
    indexed.configure()
    yield indexed
    (indexed.cli.home.root / FILE_NAME).unlink(missing_ok=True)


@pytest.mark.rule("D05", "D08", "D26")
def test_the_turns_of_a_session_are_read_in_their_order_and_kept(desk: Desk) -> None:
    script = desk.script()
    for question in ("How are refunds paid back?", "Who writes credit notes of an order?", "Who cancels an order?"):
        desk.ask(question, *SESSION)
    for purpose in ("router", "answer"):
        first, _, third = map(prompt_text, script.asked(purpose))
        assert "User: " not in first
        assert third.index("User: How are refunds") < third.index("Assistant∶ `RefundOrder`")
        assert third.index("Assistant∶ ") < third.index("User: Who writes credit") < third.index("Who cancels an")
    assert [(row["position"], row["question"]) for row in desk.rows("rag_turns")][1:] == [
        (2, "Who writes credit notes of an order?"),
        (3, "Who cancels an order?"),
    ]
    desk.ask("Who cancels an order?", "--session", "s1", "--user", "bob")
    assert "User: " not in prompt_text(script.asked("answer")[-1]), "a session is that of its user"


QUESTIONS = ("How are refunds paid back?", "Who writes credit notes?", "Who cancels an order?", REFUND, "RefundOrder?")


@pytest.mark.rule("D06", "D07", "D26", "F01")
def test_over_the_budget_of_the_pipeline_file_the_summary_rolls(desk: Desk) -> None:
    desk.configure(max_history_tokens=120, citation_policy="keep")
    script = desk.script(
        history_summary=["They spoke of `Parcel`.", "And of `Invoices`.", LONG * 9],
        answer=lambda asked: f"{cited(asked)} {LONG}",
    )
    found = [desk.ask(question, *SESSION) for question in QUESTIONS]
    assert {one["status"] for one in found} == {"answered"}
    first, second, third, _ = map(prompt_text, script.asked("history_summary"))
    assert QUESTIONS[1] in first and f"User: {QUESTIONS[0]}" in first, "for this question"
    assert "They spoke of `Parcel`." in second and QUESTIONS[0] not in second and f"User: {QUESTIONS[1]}" in second
    assert "And of `Invoices`." in third and "They spoke of" not in third
    read = prompt_text(script.asked("answer")[1]).partition("The evidence:")[0]
    assert "They spoke of `Parcel`." in read and "discussed at length" not in read
    summaries = desk.rows("rag_summaries")
    assert [(row["version"], row["through"]) for row in summaries] == [(1, 1), (2, 2), (3, 3), (4, 4)]
    assert all(estimate_tokens([row["text"]])[0] <= 120 for row in summaries), "cut where the model writes more"
    turns = [(row["summary_version"], row["new_turns"]) for row in desk.rows("rag_turns")]
    assert turns == [(0, 1), (1, 1), (2, 1), (3, 1), (4, 1)]


@pytest.mark.rule("D02", "D03", "D06")
def test_the_newest_turns_can_take_the_place_of_a_summary(desk: Desk) -> None:
    desk.configure(max_history_tokens=64, history_summarization_policy="newest_turns")
    script = desk.script()
    for question in QUESTIONS[:3]:
        desk.ask(question, *SESSION)
    read = prompt_text(script.asked("answer")[-1])
    assert f"User: {QUESTIONS[1]}" in read and QUESTIONS[0] not in read
    assert script.asked("history_summary") == [] and desk.rows("rag_summaries") == []


@pytest.mark.rule("D04", "D26")
def test_a_turn_is_kept_in_both_languages(desk: Desk) -> None:
    desk.script(
        translate_in="How are refunds of an order paid back?",
        translate_out=lambda asked: f"Deutsch: {translatable(asked)}",
    )
    found = desk.ask("Wie wird erstattet?", *SESSION, "--language", "de")
    (row,) = desk.rows("rag_turns")
    assert (row["question"], row["question_en"]) == ("Wie wird erstattet?", REFUND)
    assert row["answer"] == found["answer"] == f"Deutsch: {row['answer_en']}" and "RefundOrder" in row["answer_en"]
    assert (row["status"], row["label"], row["turn_id"]) == ("answered", "shop@main", found["turn"])
    assert json.loads(row["lock"])["name"] == "own" and json.loads(row["trace"])[0]["step"] == "translate_in"


def translatable(asked: Asked) -> str:
    return prompt_text(asked).rpartition("The answer to translate:")[2].split("\n")[2]


@pytest.mark.rule("D10", "R11")
@pytest.mark.parametrize(
    "wrong",
    ["refund order", "[BM25:] a\n[BM25:] b", "[bm25:] refund", failing(500)],
    ids=["no prefix", "two lines", "letter case", "error"],
)
def test_a_router_that_says_nothing_usable_means_the_default_mode_of_the_pipeline_file(desk: Desk, wrong: Any) -> None:
    desk.configure(default_mode="bm25")
    script = desk.script(router=wrong)
    found = desk.ask()
    assert (found["mode"], found["status"]) == ("bm25", "answered")
    assert len(script.asked("router")) == (2 if isinstance(wrong, str) else 1)
    assert ("route", "on_bm25") in (way := desk.way(found)) and ("fetch", "on_ok") in way


@pytest.mark.rule("D12", "R12")
def test_direct_is_what_the_pipeline_file_says(desk: Desk) -> None:
    said = {"router": "[DIRECT:]", "direct_answer": "[Answer:] A monoid, they say [chunk: 1a2b3c4d]."}
    script = desk.script(**said)
    denied = desk.ask("What is a monad?")
    assert (denied["status"], denied["answer"].startswith(SENTENCE)) == ("abstained", True)
    assert script.asked("direct_answer") == []
    desk.configure(direct_policy="allow_labelled")
    allowed = desk.ask("What is a monad?")
    assert (allowed["status"], allowed["citations"], allowed["evidence"]) == ("general", [], [])
    assert allowed["answer"] == f"{GENERAL_LABEL} A monoid, they say."
    assert "fetch" not in dict(desk.way(allowed))
    vetoed = desk.ask("What does RefundOrder do?")
    assert ("fetch", "on_ok") in desk.way(vetoed) and vetoed["status"] == "answered"


@pytest.mark.rule("R13", "D24")
@pytest.mark.parametrize(("strict", "provider"), [(True, "extractive"), (False, "m")])
def test_letter_case_of_answers_is_a_setting_of_the_pipeline_file(desk: Desk, strict: bool, provider: str) -> None:
    desk.configure(answer_prefix_strict=strict)
    desk.script(answer=lambda asked: cited(asked).replace("[Answer:]", "[ANSWER:]"))
    done = desk.cli.run("ask", REFUND, *desk.label, options=())
    assert "[ANSWER" not in done.out + done.err
    found = desk.ask()
    assert (found["provider"], found["status"]) == (provider, "answered")


@pytest.mark.rule("D25", "R21")
@pytest.mark.parametrize("most", [0, 2])
def test_exactly_as_many_requests_for_more_as_the_pipeline_file_allows(desk: Desk, most: int) -> None:
    desk.configure(max_turn_loops=most, max_weak_attempts=10)
    script = desk.script(answer=[f"[Requesting data on:] topic number {number}" for number in range(9)])
    found = desk.ask()
    assert [outcome for step, outcome in desk.way(found) if step == "guard"] == ["on_allow"] * most + ["on_deny"]
    assert len(script.asked("answer")) == most + 1
    assert (found["status"], found["abstained"]) == ("gave_up", True) and found["answer"].startswith(SENTENCE)


@pytest.mark.rule("D25")
def test_a_request_for_more_is_searched_for_and_answered(desk: Desk) -> None:
    desk.configure(retrieval_top_k=1, node_text_fetch_top_n=0, weak_below=0)
    script = desk.script(answer=["[Requesting data on:] src/Shipping/Parcel.cs", cited])
    found = desk.ask()
    again = [step for step, _ in desk.way(found)]
    assert again[again.index("guard") :][:6] == ["guard", "fetch", "expand", "node_texts", "budget", "answer"]
    first, second = map(prompt_text, script.asked("answer"))
    assert "class Parcel" not in first and "class Parcel" in second and found["status"] == "answered"


@pytest.mark.rule("D34")
@pytest.mark.parametrize("most", [1, 2])
def test_weak_searches_end_the_turn_as_often_as_the_pipeline_file_says(desk: Desk, most: int) -> None:
    desk.configure(max_weak_attempts=most)
    desk.script(router="[BM25:] xyzzyq", answer=[f"[Requesting data on:] qqzzx{number}" for number in range(9)])
    found = desk.ask()
    assert [step for step, _ in desk.way(found)].count("fetch") == most
    assert found["status"] == "gave_up" and f"{most} searches found nothing that helps" in found["reason"]


class Observed:
    """What of a turn shows that a setting of the pipeline file is read."""

    def __init__(self, desk: Desk) -> None:
        self.script = desk.script(router="[SEMANTIC:] refund order", context_summary="Refunds.")
        self.found = desk.ask()
        self.way = desk.way(self.found)
        self.notes = "; ".join(note for step in desk.steps(self.found) for note in step["notes"])
        (self.read,) = map(prompt_text, self.script.asked("answer"))
        self.routed = prompt_text(self.script.asked("router")[0]) if self.script.asked("router") else ""

    def pieces(self, origin: str) -> int:
        return sum(piece["origin"] == origin for piece in self.found["evidence"])

    @property
    def nodes(self) -> list[str]:
        """The keys of the graph that the model reads."""
        return re.findall(r"^\d+ (\S+\|[A-Z]+)", self.read, re.MULTILINE)

    @property
    def relations(self) -> set[str]:
        return set(re.findall(r"^\d+ ([A-Z]\w+) [\d ]*\d", self.read, re.MULTILINE))


@pytest.mark.rule("D02", "D03", "F01")
@pytest.mark.parametrize(
    ("settings", "seen"),
    [
        ({"entry_step_id": "fetch"}, lambda one: one.way[0][0] == "fetch"),
        ({"repository": "nopCommerce"}, lambda one: '"nopCommerce"' in one.read),
        ({"model_language": "pl"}, lambda one: '"pl"' in one.read),
        ({"persona": "You are a pirate."}, lambda one: "You are a pirate." in one.read),
        ({"max_context_tokens": 200}, lambda one: one.found["context_tokens"] <= 200),
        ({"retrieval_top_k": 1, "weak_below": 0}, lambda one: one.pieces("hit") <= 2),
        ({"graph_max_nodes": 2}, lambda one: ", 2 nodes," in one.notes),
        (
            {"graph_max_depth": 0, "retrieval_top_k": 1, "weak_below": 0},
            lambda one: not any("WriteCredit" in key for key in one.nodes),
        ),
        ({"graph_edge_allowlist": ["CalledBy"]}, lambda one: one.relations == {"Calls"}),
        ({"node_text_fetch_top_n": 0, "retrieval_top_k": 1, "weak_below": 0}, lambda one: one.pieces("graph") == 0),
        (
            {"retrieval_modes": ["bm25"], "default_mode": "bm25"},
            lambda one: ("route", "on_bm25") in one.way and "[HYBRID:]" not in one.routed,
        ),
    ],
    ids=lambda one: ",".join(one) if isinstance(one, dict) else "",
)
def test_a_setting_of_the_pipeline_file_changes_the_turn(
    desk: Desk, settings: dict[str, Any], seen: Callable[[Observed], bool]
) -> None:
    first = {name: value for name, value in settings.items() if name in ("retrieval_top_k", "weak_below")}
    desk.configure(**(first if len(settings) > len(first) else {}))
    assert not seen(Observed(desk)), "without it"
    desk.configure(**settings)
    assert seen(Observed(desk))


@pytest.mark.rule("D02", "D03", "E21", "F01")
@pytest.mark.parametrize(
    ("policy", "marked", "said"), [("flag", True, True), ("drop", False, False), ("keep", False, True)]
)
def test_the_policy_of_citations_is_that_of_the_pipeline_file(
    desk: Desk, policy: str, marked: bool, said: bool
) -> None:
    desk.configure(citation_policy=policy)
    desk.script(answer=lambda asked: f"{cited(asked)} {INVENTED}")
    answer = desk.ask()["answer"]
    assert ("[unverified]" in answer, INVENTED.rstrip(".") in answer) == (marked, said)


@pytest.mark.rule("D02", "D03", "D34", "E22")
def test_what_is_weak_is_what_the_pipeline_file_says(desk: Desk) -> None:
    question = "order of quantum teleportation in elliptic spaces"
    for settings, status in (({}, "abstained"), ({"weak_below": 0}, "answered")):
        desk.configure(**settings)
        desk.script()
        assert desk.ask(question)["status"] == status


@pytest.mark.rule("D02", "D03")
@pytest.mark.parametrize(
    "named", [{"active_index": "other@main"}, {"repository": "other", "active_index": "main"}], ids=["label", "ref"]
)
def test_the_pipeline_file_names_the_index_that_is_asked(desk: Desk, named: dict[str, str]) -> None:
    desk.script()
    undecided = desk.cli.run("ask", REFUND, options=())
    assert undecided.code != 0 and "other@main" in undecided.err
    desk.configure(**named)
    found = desk.cli.run("ask", REFUND, "--json", options=()).json
    assert [source["label"] for source in found["sources"]] == ["other@main"]
    assert desk.cli.run("pipeline", "show", "own", "--effective", options=()).code == 0
    assert desk.ask()["sources"][0]["label"] == "shop@main", "a call says otherwise"


@pytest.mark.rule("D02", "D03", "E15")
@pytest.mark.parametrize(
    ("pipeline", "words"),
    [("agents_own", ("--agent", "brief")), ("code_question_answering_offline", ("--offline",))],
    ids=["of the agent", "in place of the shipped one"],
)
def test_a_pipeline_that_nobody_names_in_the_call_names_the_index_too(
    desk: Desk, pipeline: str, words: tuple[str, ...]
) -> None:
    extended = {"name": pipeline, "extends": "document_question_answering", "settings": {"active_index": "other@main"}}
    agent = {"name": "brief", "persona": "You are brief.", "pipeline": "agents_own"}
    desk.script(router="[BM25:] refunds", document_router="[BM25:] refunds", document_answer=cited)
    made = {f"pipelines/{pipeline}.yaml": {"pipeline": extended}, "agents/brief.yaml": {"agent": agent}}
    try:
        for name, file in made.items():
            (desk.cli.folder / name).parent.mkdir(exist_ok=True)
            (desk.cli.folder / name).write_text(json.dumps(file), encoding="utf-8")
        done = desk.cli.run("ask", REFUND, *words, "--json", options=())
        assert done.code in (0, 4), done.err
        assert [source["label"] for source in done.json["sources"]] == ["other@main"]
    finally:
        for name in made:
            (desk.cli.folder / name).unlink()


@pytest.mark.rule("D17", "F01")
@pytest.mark.parametrize("mode", ["hybrid", "semantic"])
def test_a_configured_mode_is_not_used_where_the_pipeline_file_does_not_have_it(desk: Desk, mode: str) -> None:
    desk.configure(retrieval_modes=["bm25"], default_mode="bm25")
    configuration = desk.cli.folder / "rag_assets.yaml"
    settings = json.loads(configuration.read_text(encoding="utf-8")) | {"search": {"mode": mode}}
    configuration.write_text(json.dumps(settings), encoding="utf-8")
    desk.script(router="nothing usable")
    found = desk.ask()
    assert ("route", "on_bm25") in desk.way(found) and found["warnings"] == []
    shown = desk.cli.run("pipeline", "show", "own", "--effective", *desk.label, "--json", options=()).json
    assert (shown["settings"]["default_mode"], shown["origins"]["default_mode"]["layer"]) == ("bm25", "pipeline")
