"""`rag-assets log`, `trace` and `replay`: what was asked, the way of a turn, and whether the same comes of it again."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest

from rag_assets import open_index
from rag_assets.answer.abstention import SCALE, SURE
from rag_assets.history.conversations import open_conversations
from rag_assets.history.query_log import open_query_log
from rag_assets.index.answer_results import Calibration, write_calibration
from rag_assets.index.generations import active_generation
from rag_assets.index.layout import IndexHome
from rag_assets.index.vectors.filters import SearchFilters
from rag_assets_tests.cli.conftest import TIME_LIMIT, CommandLine, index_without_dagster, new_repository
from rag_assets_tests.generation_history import copy_sparse
from rag_assets_tests.models.llm.model_server import ModelServer, completion, failing
from rag_assets_tests.qa.http_model import Script

QUESTION = "What does RefundOrder do?"
UNKNOWN = "Which kubernetes ingress is used?"


@dataclass(frozen=True)
class Asked:
    """A command line whose home has an index, and questions to it."""

    cli: CommandLine
    label: str
    server: ModelServer

    def configure(self, **answer: Any) -> None:
        (self.cli.folder / "rag_assets.yaml").write_text(json.dumps({"answer": answer}), encoding="utf-8")

    def ask(self, question: str = QUESTION, *options: str) -> dict[str, Any]:
        """What `ask --json` says; `turn` is the id."""
        done = self.cli.run("ask", question, *options, "--json")
        assert done.code in (0, 4), done.err
        found: dict[str, Any] = done.json
        return found

    def with_model(self, *options: str) -> dict[str, Any]:
        """By models that the configuration has only for this question."""
        with open_index(self.label, home=self.cli.home.root) as index:
            cited = index.search("RefundOrder", mode="bm25").hits[0].point_id[:8]
        answer = f"[Answer:] `RefundOrder` is in the order service [chunk: {cited}]."
        Script(self.server, router="[BM25:] RefundOrder", answer=answer)
        self.configure(base_url=self.server.url, retries=0, cheap={"model": "small"}, balanced={"model": "large"})
        told = self.ask(QUESTION, *options)
        self.configure()
        return told


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[IndexHome, str]:
    base = tmp_path_factory.mktemp("logged")
    home = IndexHome(base / "home")
    return home, index_without_dagster(home, new_repository(base / "shop"), "shop")


@pytest.fixture
def asked(built: tuple[IndexHome, str], cli: CommandLine) -> Iterator[Asked]:
    shutil.copytree(built[0].root, cli.home.root, copy_function=copy_sparse)
    (cli.folder / "rag_assets.yaml").write_text("", encoding="utf-8")
    with ModelServer() as server:
        yield Asked(cli, built[1], server)


def test_an_empty_log_says_what_fills_it(cli: CommandLine) -> None:
    done = cli.run("log")
    assert done.code == 0 and "rag-assets ask" in done.out
    assert not cli.home.root.exists(), "reading makes nothing"
    for command in ("trace", "replay"):
        missing = cli.run(command)
        assert missing.code == 1 and "rag-assets ask" in missing.err
    (cli.folder / "rag_assets.yaml").write_text("answer: {log: false}", encoding="utf-8")
    assert "answer.log is false" in cli.run("log").out


@pytest.mark.rule("E23")
def test_the_log_lists_the_newest_first_with_totals(asked: Asked) -> None:
    first, refused, third = asked.ask(), asked.ask(UNKNOWN), asked.with_model()
    done = asked.cli.run("log")
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[0].split() == ["TURN", "ASKED", "(UTC)", "STATUS", "LABEL", "TOOK", "TOKENS", "QUESTION"]
    assert [line.split()[0] for line in lines[1:4]] == [turn["turn"][:8] for turn in (third, refused, first)]
    assert "abstained" in lines[2] and UNKNOWN in lines[2] and asked.label in lines[2]
    assert "240" in lines[1].split()
    assert "3 questions, 1 refused, 0 failed, 200 prompt and 40 answer tokens" in done.out
    assert re.search(r"retrieval p50 0\.\d\d s, p95 \d\.\d\d s; generation p50 \d\.\d\d s, p95", done.out)


def test_what_people_ask_cannot_turn_the_log_around(asked: Asked) -> None:
    turn = asked.ask("What does \u202eRefundOrder\u200b do?")["turn"]
    for done in (asked.cli.run("log"), asked.cli.run("trace", turn), asked.cli.run("replay", turn)):
        assert not re.search("[\u202e\u200b]", done.out + done.err)
    assert "What does \\u202eRefundOrder\\u200b do?" in asked.cli.run("log").out


@pytest.mark.rule("E23")
def test_the_log_as_json(asked: Asked) -> None:
    asked.ask(UNKNOWN)
    turn = asked.with_model("--session", "s1", "--user", "ann")
    told = asked.cli.run("log", "--limit", "1", "--json").json
    assert told["totals"]["questions"] == 2 and told["totals"]["refused"] == 1 and told["totals"]["cost"] is None
    (one,) = told["turns"]
    assert (one["turn_id"], one["user_name"], one["session"], one["agent"]) == (turn["turn"], "ann", "s1", "")
    assert one["cited_ids"] and one["models"] == ["cheap: small", "balanced: large"]
    assert one["org"] == "local" and one["project"] == "shop" and one["generation_seconds"] > 0


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (("--session", "s1"), 1),
        (("--user", "ann"), 1),
        (("--user", "bob"), 2),
        (("--agent", "reviewer"), 0),
        (("--status", "abstained"), 1),
        (("--label", "shop"), 3),
        (("--since", "1h"), 3),
        (("--since", "2w"), 3),
        (("--since", "2099"), 0),
        (("--since", "2020-01-31", "--status", "failed"), 0),
        (("--limit", "2"), 2),
        (("--limit", "0"), 3),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_the_log_is_filtered(asked: Asked, options: tuple[str, ...], found: int) -> None:
    asked.ask(QUESTION, "--user", "bob")
    asked.ask(QUESTION, "--session", "s1", "--user", "ann")
    asked.ask(UNKNOWN, "--user", "bob")
    assert len(asked.cli.run("log", *options, "--json").json["turns"]) == found
    if not found:
        assert "rag-assets log" in asked.cli.run("log", *options).out


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (("--since", "yesterday"), 2, "7d"),
        (("--since", "999999w"), 2, "before all time"),
        (("--status", "fine"), 2, "answered, unsure, general"),
        (("--label", "shpo@main"), 1, "did you mean 'shop@main'?"),
        (("--limit", "-1"), 2, "limit"),
    ],
    ids=["since", "long-ago", "status", "label", "limit"],
)
def test_wrong_filters_are_explained(asked: Asked, options: tuple[str, ...], code: int, said: str) -> None:
    asked.ask()
    done = asked.cli.run("log", *options)
    assert done.code == code and said in done.err


def test_a_long_question_takes_one_line(asked: Asked) -> None:
    asked.ask("What does\nRefundOrder do? " + "and why " * 30)
    (line,) = [line for line in asked.cli.run("log").out.splitlines() if "RefundOrder" in line]
    assert line.endswith("…") and "What does RefundOrder" in line


@pytest.mark.rule("E23")
def test_a_trace_leads_from_the_answer_to_commit_lines_and_run(asked: Asked) -> None:
    turn = asked.with_model("--session", "s1", "--user", "ann")
    manifest = active_generation(asked.cli.home, asked.label).manifest
    done = asked.cli.run("trace", turn["turn"][:6])
    assert done.code == 0
    out = done.out
    assert out.startswith(f"turn {turn['turn']}  ")
    assert f"generation {manifest.generation_id}  run made-by-a-test  local/shop" in out
    assert f"commit {manifest.commit_sha[:10]}" in out and "ann, session s1" in out
    assert re.search(rf"cited \w{{8}}  src/Orders/OrderService\.cs:3-8@{manifest.commit_sha[:10]}  Shop\.Orders", out)
    assert re.search(r"\d  router  call_model  on_ok → route  \d", out)
    assert "asked cheap for router: small, 100 + 20 tokens" in out
    assert "bm25 on shop@main: " in out, "notes"
    assert turn["answer"] in out and f"confidence  {turn['confidence']:.2f}" in out
    assert f"rag-assets replay {turn['turn'][:8]}" in done.err


@pytest.mark.rule("E23")
def test_a_trace_as_json_has_everything(asked: Asked) -> None:
    turn = asked.with_model()
    told = asked.cli.run("trace", "--json").json
    assert told["turn_id"] == turn["turn"] and told["answer"] == turn["answer"]
    assert len(told["lock_digest"]) == 16 and told["lock"]["generations"].keys() == {asked.label}
    assert told["steps"][0]["step"] == "translate_in" and told["steps"][-1]["step"] == "persist"
    assert [reply["purpose"] for reply in told["replies"]] == ["router", "answer"]
    assert [piece["cites"] for piece in told["pieces"]].count(True) == 1
    assert told["indexes"][0]["run_id"] == "made-by-a-test"


def test_a_failed_turn_is_traced_to_its_error(asked: Asked) -> None:
    file = asked.cli.folder / "own.yaml"
    file.write_text("pipeline: {name: own, extends: snapshot_comparison}", encoding="utf-8")
    failed = asked.cli.run("ask", QUESTION, "--pipeline", file)
    assert failed.code == 1 and "compare_index" in failed.err
    done = asked.cli.run("trace")
    assert done.code == 0 and "compare_index" in done.out and f"own  {file}" in done.out
    assert re.search(r"fetch_compared  fetch_more_context  error  ", done.out)
    assert asked.cli.run("replay").code == 0, "the same error"


def test_turns_are_named_by_the_beginning_of_their_id(asked: Asked) -> None:
    turn = asked.ask()
    mistyped = turn["turn"][:-1] + ("0" if turn["turn"][-1] != "0" else "1")
    for command in ("trace", "replay"):
        assert asked.cli.run(command, turn["turn"][:1]).code == 0
        assert asked.cli.run(command, turn["turn"].upper()).code == 0
        unknown = asked.cli.run(command, mistyped)
        assert unknown.code == 1 and f"did you mean {turn['turn']}?" in unknown.err and "rag-assets log" in unknown.err
        strange = asked.cli.run(command, "not-an-id")
        assert strange.code == 1 and f"the last one is {turn['turn']}" in strange.err
    others = [asked.ask()["turn"] for _ in range(17)]
    shared = next(d for d in "0123456789abcdef" if sum(one.startswith(d) for one in (turn["turn"], *others)) > 1)
    for command in ("trace", "replay"):
        assert asked.cli.run(command, "").code == 1
        several = asked.cli.run(command, shared)
        assert several.code == 1 and "several turns begin with" in several.err


@pytest.mark.rule("E23")
def test_a_replay_says_that_the_same_came_of_it(asked: Asked) -> None:
    turn = asked.with_model("--session", "s1", "--user", "ann")
    asked.server.respond = lambda _: failing(500)
    done = asked.cli.run("replay", turn["turn"])
    assert done.code == 0, done.err
    assert f"the same came of turn {turn['turn'][:8]}: answered" in done.out
    told = asked.cli.run("replay", "--json").json
    assert told["same"] and told["lock_differences"] == [] and told["diff"] == []
    assert told["now"]["answer"] == turn["answer"]
    assert len(asked.cli.run("log", "--json").json["turns"]) == 1, "a replay is not logged"
    with open_conversations(asked.cli.home) as history:
        assert history.load("ann", "s1").count == 1


def test_a_live_replay_asks_the_configured_model_and_shows_the_difference(asked: Asked) -> None:
    asked.with_model()
    without = asked.cli.run("replay", "--live")
    assert without.code == 1 and "answer.base_url" in without.err
    asked.configure(base_url=asked.server.url, retries=0, balanced={"model": "other"}, premium={"model": "best"})
    assert asked.cli.run("replay", "--live").code == 0
    asked.server.respond = lambda _: completion("[Answer:] Nothing is known.")
    done = asked.cli.run("replay", "--live")
    assert done.code == 1
    assert "different: turn" in done.out and "-`RefundOrder` is in the order service" in done.out
    assert "models  cheap: small, balanced: large → cheap: other, balanced: other" in done.out
    assert "balanced: best" in asked.cli.run("replay", "--live", "--profile", "premium").out
    assert asked.cli.run("replay", "--profile", "premium").code == 2


def test_a_replay_of_a_build_that_is_gone_names_the_setting(asked: Asked) -> None:
    asked.ask()
    shutil.rmtree(active_generation(asked.cli.home, asked.label).directory)
    done = asked.cli.run("replay")
    assert done.code == 1 and "retention.keep" in done.err and "generations tag" in done.err


def test_a_log_that_is_switched_off_keeps_nothing(asked: Asked) -> None:
    asked.configure(log=False)
    assert asked.ask()["turn"] is None
    assert "answer.log is false" in asked.cli.run("log").out
    assert not (asked.cli.home.root / "conversations.sqlite").exists()


def test_a_log_that_cannot_be_written_costs_no_answer(asked: Asked) -> None:
    (asked.cli.home.root / "conversations.sqlite").write_bytes(b"no database" * 100)
    done = asked.cli.run("ask", QUESTION)
    assert done.code == 0 and "RefundOrder" in done.out
    assert "warning: this question is not in the log" in done.err and "move that file away" in done.err


def test_replies_that_were_recorded_answer_without_a_server(asked: Asked) -> None:
    server = {"base_url": asked.server.url, "retries": 0, "balanced": {"model": "large"}}
    Script(asked.server, router="[BM25:] RefundOrder", answer="[Answer:] Nothing.")
    asked.configure(**server, replies="record", replies_file="replies.jsonl")
    recorded = asked.ask()
    assert len((asked.cli.folder / "replies.jsonl").read_text(encoding="utf-8").splitlines()) == 2
    asked.server.respond = lambda _: failing(500)
    asked.configure(replies="replay", replies_file="replies.jsonl")
    replayed = asked.ask()
    assert replayed["answer"] == recorded["answer"] and replayed["usage"]["llm_prompt_tokens"] == 200
    other = asked.cli.run("ask", "What is an Order?")
    assert other.code == 1 and "replies.jsonl has no reply to this question of the prompt 'router'" in other.err
    (asked.cli.folder / "replies.jsonl").write_text("{}", encoding="utf-8")
    broken = asked.cli.run("ask", QUESTION)
    assert broken.code == 1 and "replies.jsonl:1: not a recorded reply" in broken.err


def test_a_damaged_log_is_said(asked: Asked) -> None:
    (asked.cli.home.root / "conversations.sqlite").write_bytes(b"no database" * 100)
    for command in ("log", "trace", "replay"):
        done = asked.cli.run(command)
        assert done.code == 1 and "move that file away" in done.err


def test_a_chat_that_is_forgotten_is_not_in_the_log_either(asked: Asked) -> None:
    for name, kept in (("--session=s1", 2), ("--offline", 0)):
        process = asked.cli.start("chat", name, stdin=subprocess.PIPE)
        _, err = process.communicate(f"{QUESTION}\n{UNKNOWN}\n", timeout=TIME_LIMIT)
        assert process.returncode == 0, err
        assert len(asked.cli.run("log", "--json").json["turns"]) == kept
        asked.cli.run("session", "delete", "--all")
        assert asked.cli.run("log", "--json").json["turns"] == [], "and goes with its session"


def test_a_question_from_python_is_logged(asked: Asked) -> None:
    with open_index(asked.label, home=asked.cli.home.root) as index:
        for _ in range(2):
            index.ask(QUESTION, user="ann", filters=SearchFilters(paths=("src",)))
    turns = asked.cli.run("log", "--json").json["turns"]
    assert [one["user_name"] for one in turns] == ["ann", "ann"]
    assert asked.cli.run("replay", "--json").json["same"], "within the same path"


def test_a_session_is_another_one_for_another_role(asked: Asked) -> None:
    (asked.cli.folder / "rag_assets.yaml").write_text("roles: {payroll: restricted, support: public}", encoding="utf-8")
    first = asked.cli.run("--role", "payroll", "ask", QUESTION, "--session", "s", "--json")
    assert first.code == 0, first.err
    follow = asked.cli.run("--role", "support", "ask", "what is it", "--session", "s")
    assert "RefundOrder" not in follow.out + follow.err
    turns = {
        role: asked.cli.run("--role", role, "session", "list", "--json").json["sessions"]
        for role in ("payroll", "support")
    }
    assert [[one["turns"] for one in found] for found in turns.values()] == [[1], [1]]
    again = asked.cli.run("--role", "payroll", "replay", first.json["turn"])
    assert again.code == 0, again.err


@pytest.mark.parametrize("command", [("ask", QUESTION), ("chat",)], ids=["ask", "chat"])
def test_an_empty_name_of_a_session_is_refused(asked: Asked, command: tuple[str, ...]) -> None:
    done = asked.cli.run(*command, "--session", "")
    assert done.code == 2 and "a session has a name" in done.err


AGENT = """agent:
  name: own
  persona: You know the orders.
  output_type: answer
  filters: {paths: [src/]}
"""


@pytest.mark.parametrize(
    "command", [("ask", QUESTION), ("artifact", "blueprint", "RefundOrder")], ids=["ask", "artifact"]
)
def test_what_an_agent_said_is_replayed_as_the_agent(asked: Asked, command: tuple[str, ...]) -> None:
    folder = asked.cli.folder / "agents"
    folder.mkdir()
    (folder / "own.yaml").write_text(
        AGENT if command[0] == "ask" else AGENT.replace("answer", "blueprint"), encoding="utf-8"
    )
    done = asked.cli.run(*command, "--agent", "own", "--json")
    assert done.code == 0, done.err
    replayed = asked.cli.run("replay", "--json")
    assert (replayed.code, replayed.json["same"], replayed.json["lock_differences"]) == (0, True, []), replayed.err
    assert asked.cli.run("log", "--agent", "own", "--json").json["turns"][0]["agent"] == "own"
    (folder / "own.yaml").unlink()
    gone = asked.cli.run("replay")
    assert gone.code == 1 and "no agent 'own'" in gone.err


def test_a_reader_who_sees_less_is_told_of_no_turn(asked: Asked) -> None:
    (asked.cli.folder / "rag_assets.yaml").write_text("roles: {payroll: restricted}", encoding="utf-8")
    turn = asked.cli.run("--role", "payroll", "ask", QUESTION, "--json").json["turn"]
    assert asked.cli.run("--role", "payroll", "trace", turn).code == 0
    for command in ("trace", "replay"):
        done = asked.cli.run(command, turn[:8])
        assert done.code == 1 and turn not in done.out + done.err
    assert asked.cli.run("log", "--json").json["turns"] == []


def test_several_labels_are_one_turn_that_is_replayed(asked: Asked) -> None:
    other = index_without_dagster(asked.cli.home, new_repository(asked.cli.folder / "other"), "other")
    asked.ask(QUESTION, "-l", asked.label, "-l", other)
    told = asked.cli.run("trace", "--json").json
    assert [index["label"] for index in told["indexes"]] == [asked.label, other]
    assert asked.cli.run("replay").code == 0


def test_the_log_is_where_the_configuration_of_the_home_says(asked: Asked) -> None:
    """Questions are asked with the configuration beside the home, also from elsewhere; the log is looked for there."""
    (asked.cli.folder / "rag_assets.yaml").unlink()
    (asked.cli.home.root / "rag_assets.yaml").write_text("answer: {log: false}", encoding="utf-8")
    asked.ask()
    assert "answer.log is false" in asked.cli.run("log").out


# a threshold that was calibrated since

SPOKEN = "How are orders cancelled?"


def calibrate(asked: Asked, threshold: float, sure: float = SURE) -> None:
    """As an evaluation does."""
    generation = active_generation(asked.cli.home, asked.label)
    made = Calibration(
        threshold=threshold,
        sure=sure,
        shown=1.0,
        answered=1.0,
        refused=1.0,
        admitted=0.0,
        answerable=50,
        unanswerable=50,
        set="mined",
        mode="hybrid",
        scale=SCALE,
    )
    write_calibration(generation.directory, made)


@pytest.mark.rule("E23")
@pytest.mark.parametrize("question", [SPOKEN, "Why are orders refunded?", "which orders does a customer cancel"])
def test_a_turn_without_a_model_is_replayed_without_one(asked: Asked, question: str) -> None:
    """For a model evidence begins with descriptions, which passages then say too: the refusal tells the confidence."""
    calibrate(asked, 1.0)
    first = asked.ask(question)
    assert first["abstained"] and " of 1.00" in first["reason"]
    done = asked.cli.run("replay", first["turn"])
    assert done.code == 0 and "the same" in done.out, done.out


@pytest.mark.rule("E22", "E23")
@pytest.mark.parametrize(
    ("then", "since"), [(0.0, 1.0), (1.0, 0.0)], ids=["answered and refused today", "refused and answered today"]
)
def test_a_turn_is_replayed_with_the_threshold_that_it_was_made_with(asked: Asked, then: float, since: float) -> None:
    calibrate(asked, then)
    first = asked.ask(SPOKEN)
    calibrate(asked, since)
    assert asked.ask(SPOKEN)["abstained"] is not first["abstained"], "the question is one that the threshold decides"
    done = asked.cli.run("replay", first["turn"])
    assert done.code == 0 and "the same" in done.out, done.out
    assert f"changed since  threshold: {then:.3f}, as in this replay → {since:.3f}" in done.out
    found = asked.cli.run("replay", first["turn"], "--json").json
    assert found["same"] and found["threshold"] == {"then": then, "now": since} and found["lock_differences"] == []
    live = asked.cli.run("replay", asked.ask(SPOKEN)["turn"], "--json").json
    assert live["threshold"] is None


@pytest.mark.rule("E22", "E23")
def test_a_turn_is_replayed_as_sure_as_it_was_then(asked: Asked) -> None:
    calibrate(asked, 0.0, sure=0.0)
    first = asked.ask(SPOKEN)
    calibrate(asked, 0.0, sure=1.0)
    assert (first["unsure"], asked.ask(SPOKEN)["unsure"]) == (False, True), "what was calibrated is what ask goes by"
    done = asked.cli.run("replay", first["turn"])
    assert done.code == 0 and "changed since  sure from: 0.000, as in this replay → 1.000" in done.out, done.out
    found = asked.cli.run("replay", first["turn"], "--json").json
    assert found["same"] and found["sure"] == {"then": 0.0, "now": 1.0} and found["threshold"] is None
    asked.configure(sure=0.25)
    assert asked.cli.run("replay", first["turn"], "--json").json["sure"]["now"] == 0.25


@pytest.mark.rule("E22")
def test_a_threshold_of_the_configuration_is_what_a_replay_compares_with(asked: Asked) -> None:
    turn = asked.ask(SPOKEN)["turn"]
    assert asked.cli.run("replay", turn, "--json").json["threshold"] is None
    asked.configure(threshold=0.9)
    calibrate(asked, 0.2)
    assert asked.cli.run("replay", turn, "--json").json["threshold"]["now"] == 0.9, (
        "a calibrated one does not count then"
    )


@pytest.mark.rule("E22")
def test_several_labels_have_the_shipped_threshold_whatever_was_calibrated(asked: Asked) -> None:
    other = index_without_dagster(asked.cli.home, new_repository(asked.cli.folder / "second"), "second")
    turn = asked.ask(SPOKEN, "--label", asked.label, "--label", other)["turn"]
    calibrate(asked, 1.0)
    found = asked.cli.run("replay", turn, "--json").json
    assert found["same"] and found["threshold"] is None


@pytest.mark.rule("E22")
def test_a_turn_of_another_scale_of_confidence_is_said(asked: Asked) -> None:
    """Weights of another version of this program: the same threshold means something else."""
    turn = asked.ask(SPOKEN)["turn"]
    with open_query_log(asked.cli.home) as log:
        record = log.find(turn)
        assert record is not None
        older = replace(record, turn_id=f"{turn[:-4]}0000", detail=record.detail.replace(SCALE, "older"))
        log.write(older, days=90)
    found = asked.cli.run("replay", older.turn_id, "--json").json
    assert found["lock_differences"] == [f"confidence: older → {SCALE}"]
