"""`rag-assets chat` and `session`: conversations on the command line, kept and forgotten."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.main import get_command

from rag_assets.cli import app
from rag_assets.index.layout import IndexHome
from rag_assets_tests.cli.conftest import TIME_LIMIT, CommandLine, Outcome, index_without_dagster, new_repository
from rag_assets_tests.models.llm.model_server import Asked, ModelServer, Reply, completion

SERVICE = "src/Orders/OrderService.cs"
ABOUT = "What does OrderService do?"


@pytest.fixture(scope="module")
def cli(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    """A home of its own: conversations are written into it."""
    base = tmp_path_factory.mktemp("talking")
    made = CommandLine(IndexHome(base / "home"), base)
    index_without_dagster(made.home, new_repository(base / "shop"), "shop")
    return made


def talk(cli: CommandLine, *lines: str, options: tuple[str, ...] = ()) -> Outcome:
    """A chat with these lines piped into it."""
    return cli.run("chat", *options, spoken="".join(f"{line}\n" for line in lines))


def kept(cli: CommandLine) -> dict[str, int]:
    found = cli.run("session", "list", "--user", "ann", "--json").json
    return {one["session"]: one["turns"] for one in found["sessions"]}


def test_a_conversation_with_follow_ups_and_commands(cli: CommandLine) -> None:
    done = talk(
        cli,
        "/why",
        ABOUT,
        "where is it defined",
        "/sources",
        "/why",
        "/graph",
        "/nope",
        "/Sorces",
        "/help",
        "/QUIT",
        "x",
    )
    assert done.code == 0, done.err
    assert "there is no answer yet" in done.err
    assert done.out.count("“Cancels and refunds orders.” [1]") == 2
    assert "read as: where is OrderService defined" in done.err
    assert re.search(rf"^\[1\] {re.escape(SERVICE)}:3-8@\w+  Shop\.Orders\.OrderService  shop@main$", done.out, re.M)
    assert (
        re.search(r"^confidence  0\.\d\d; refused below 0\.\d\d, not sure below 0\.\d\d$", done.out, re.M)
        and "sentences: 2 supported" in done.out
        and "fetch" in done.out
    )
    assert "OrderService  Contains  " in done.out
    assert "no command /nope; type /help" in done.err
    assert "no command /sorces; did you mean /sources? All of them: /help" in done.err
    assert "/sources  what the last answer cites" in done.out
    assert "forgotten at the end" in done.err and kept(cli) == {}


def test_a_question_that_cannot_be_asked_does_not_end_it(cli: CommandLine) -> None:
    done = talk(cli, "knd:Service orders", "", "how long should pasta boil", ABOUT)
    assert done.code == 0
    assert "did you mean kind:" in done.err
    assert done.out.startswith("I don’t see enough information in this brain to answer that yet.")
    assert "Cancels and refunds orders." in done.out


def test_a_named_session_goes_on_and_is_deleted_for_good(cli: CommandLine) -> None:
    ann = ("--session", "orders", "--user", "ann")
    assert talk(cli, ABOUT, options=ann).code == 0
    assert "read as: where is OrderService defined" in talk(cli, "where is it defined", options=ann).err
    assert "read as: " in cli.run("ask", "where is it defined", *ann).err, "ask is in the same conversation"
    assert kept(cli) == {"orders": 3}
    assert "orders" not in cli.run("session", "list", "--user", "bob").out
    refused = cli.run("session", "delete", "ordres", "--user", "ann")
    assert refused.code == 1 and "ann has no session 'ordres'; did you mean 'orders'?" in refused.err
    done = cli.run("session", "delete", "orders", "--user", "ann")
    assert done.out == "deleted 1 session with 3 turns, and 3 logged questions\n"
    assert kept(cli) == {}
    stored = b"".join(file.read_bytes() for file in cli.home.root.glob("conversations.sqlite*"))
    assert stored and b"OrderService" not in stored


def test_all_sessions_of_a_user(cli: CommandLine) -> None:
    for name in ("one", "two"):
        assert cli.run("ask", ABOUT, "--session", name, "--user", "ann", "--json").json["turn"]
    assert cli.run("ask", ABOUT, "--user", "ann").code == 0, "without a session"
    assert cli.run("session", "delete", "--all", "--user", "ann", "--json").json == {
        "user": "ann", "sessions": 2, "turns": 2, "logged": 3, "erased": True
    }  # fmt: skip
    assert "ann has no sessions" in cli.run("session", "list", "--user", "ann").err


@pytest.mark.parametrize("arguments", [(), ("one", "--all")], ids=["nothing", "both"])
def test_what_to_delete_is_said(cli: CommandLine, arguments: tuple[str, ...]) -> None:
    done = cli.run("session", "delete", *arguments)
    assert done.code == 2 and "name the sessions to delete, or --all" in done.err


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (("--label", "nope"), 1, "no label 'nope'"),
        (("--pipeline", "code_question_anwsering"), 1, "did you mean 'code_question_answering'?"),
        (("--pack", "nowhere"), 2, "there is no folder nowhere"),
        (("--profile", "premium"), 1, "set answer.base_url"),
        (("--limit", "0"), 2, "limit"),
    ],
    ids=["label", "pipeline", "pack", "profile", "limit"],
)
def test_what_a_chat_does_not_begin_with(cli: CommandLine, options: tuple[str, ...], code: int, said: str) -> None:
    done = talk(cli, ABOUT, options=options)
    assert done.code == code and said in done.err and done.out == ""


def test_a_language_that_is_none(cli: CommandLine) -> None:
    done = cli.run("ask", ABOUT, "--language", "deutsch")
    assert done.code == 2 and "'deutsch' is no code of a language; write one such as de" in done.err


def test_the_label_is_that_of_the_pipeline_unless_one_is_named(cli: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(
        "pipeline: {name: mine, extends: code_question_answering_offline, settings: {active_index: gone@main}}",
        encoding="utf-8",
    )
    mine = ("--pipeline", str(tmp_path / "mine.yaml"))
    assert "no label 'gone@main'" in cli.run("ask", ABOUT, *mine).err
    found = cli.run("ask", ABOUT, *mine, "--label", "shop", "--json").json
    assert (found["pipeline"], found["sources"][0]["label"]) == ("mine", "shop@main")
    assert cli.run("ask", ABOUT, "--pipeline", "mine", "--pack", tmp_path, "--label", "shop").code == 0


@pytest.mark.parametrize("word", ["quit", "exit", "/q", "EXIT"])
def test_words_that_end_it(cli: CommandLine, word: str) -> None:
    done = talk(cli, word, ABOUT)
    assert (done.code, done.out) == (0, "")


def until_it_waits(pid: int) -> None:
    """Until a process sleeps. Python looks for signals where one interrupts its waiting for a key; one that comes while
    readline still echoes the key before is not noticed until the line ends."""
    stat = Path(f"/proc/{pid}/stat")
    deadline = time.monotonic() + TIME_LIMIT
    if not stat.exists():  # another system than Linux
        time.sleep(1.0)
        return
    while stat.read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "S":
        assert time.monotonic() < deadline, "it never waits for a key"
        time.sleep(0.01)


@pytest.mark.skipif(sys.platform == "win32", reason="a terminal of POSIX")
def test_what_is_pasted_is_one_question(cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal, driven as a person does: several lines pasted, a line that is dropped, and the end."""
    import pty

    monkeypatch.setenv("TERM", "xterm")
    ours, theirs = pty.openpty()
    process = cli.start("chat", stdin=theirs, stderr=theirs, stdout=theirs)
    os.close(theirs)
    seen = ""

    def until(text: str) -> None:
        nonlocal seen
        while text not in seen:
            assert select.select([ours], [], [], TIME_LIMIT)[0], f"no {text!r} in {seen!r}"
            seen += os.read(ours, 4096).decode("utf-8", "replace")
        seen = seen.partition(text)[2]

    prompt = "\x1b[?2004h> "  # with which a terminal is told to mark what is pasted
    try:
        until(prompt)
        os.write(ours, b"\x1b[200~What does\nOrderService\ndo?\x1b[201~\r")
        until("Cancels and refunds orders.")
        until(prompt)
        os.write(ours, b"half a line")
        until("half a line")
        until_it_waits(process.pid)
        process.send_signal(signal.SIGINT)
        until("Ctrl-D ends")
        until(prompt)
        os.write(ours, b"/why\r")
        until("sentences: 2 supported")
        until(prompt)
        os.write(ours, b"\x04")
        assert process.wait(TIME_LIMIT) == 0
    finally:
        process.kill()
        process.wait()
        os.close(ours)


@pytest.mark.skipif(sys.platform == "win32", reason="signals of a terminal")
def test_ctrl_c_stops_the_answer_and_not_the_chat(cli: CommandLine, tmp_path: Path) -> None:
    with ModelServer() as model:

        def respond(asked: Asked) -> Reply:
            return Reply(completion("[HYBRID:] x").body, delay=TIME_LIMIT) if asked.number == 0 else completion("no")

        model.respond = respond
        settings = {"answer": {"base_url": model.url, "balanced": {"model": "m"}, "retries": 0}}
        (tmp_path / "rag_assets.yaml").write_text(json.dumps(settings), encoding="utf-8")
        process = CommandLine(cli.home, tmp_path).start("chat", stdin=subprocess.PIPE)
        assert process.stdin is not None
        process.stdin.write(f"{ABOUT}\n")
        process.stdin.flush()
        limit = time.monotonic() + TIME_LIMIT
        while not model.asked and time.monotonic() < limit and process.poll() is None:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(f"{ABOUT}\n", timeout=TIME_LIMIT)
    assert process.returncode == 0, err
    assert "stopped; this question is not kept" in err
    assert "Cancels and refunds orders." in out and "quotes only, the model did not answer" in err


# the options that it shares with `ask`

BRIEF = "agent:\n  name: brief\n  persona: You are brief.\n  filters: {paths: [src/]}\n"


def test_what_ask_takes_chat_takes(cli: CommandLine) -> None:
    """Under the same names, and said in the same words; what `--explain` shows, `/why` does."""
    of_ask_alone = ("--json", "--explain")
    shown = {name: get_command(app).commands[name].params for name in ("ask", "chat")}  # type: ignore[attr-defined]
    ask, chat = (
        {one.opts[0]: one for one in shown[name] if one.opts[0][0] == "-" and one.opts[0] not in of_ask_alone}
        for name in ("ask", "chat")
    )
    assert set(ask) == set(chat) >= {"--label", "--path", "--agent", "--agents", "--profile", "--limit"}
    assert {name for name in ask if ask[name].help != chat[name].help} == {"--session"}


def test_a_path_narrows_every_question_of_a_chat(cli: CommandLine) -> None:
    done = cli.run("chat", "--path", "README.md", spoken="orders invoices\n/sources\nWhat does OrderService do?\n")
    assert done.code == 0
    assert "README.md" in done.out and SERVICE not in done.out


def test_an_agent_answers_in_a_chat(cli: CommandLine) -> None:
    (cli.folder / "team").mkdir(exist_ok=True)
    (cli.folder / "team" / "brief.yaml").write_text(BRIEF, encoding="utf-8")
    done = cli.run("chat", "--agent", "brief", "--agents", "team", spoken=f"{ABOUT}\norders invoices\n")
    assert done.code == 0 and SERVICE in done.out and "README.md" not in done.out
    with ModelServer() as server:
        server.script(completion("[Answer:] It cancels."))
        configuration = {"answer": {"base_url": server.url, "balanced": {"model": "m"}}}
        file = cli.folder / "model.json"
        file.write_text(json.dumps(configuration), encoding="utf-8")
        options = ("--home", str(cli.home.root), "--config", str(file))
        cli.run("chat", "--agent", "brief", "--agents", "team", options=options, spoken=f"{ABOUT}\n")
        answering = [asked for asked in server.asked if "You are brief." in str(asked.body["messages"][0]["content"])]
        assert answering


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (("--agent", "architect"), 1, "rag-assets artifact"),
        (("--agent", "nope"), 1, "no agent 'nope'"),
        (("--profile", "gold"), 2, "no profile 'gold'; valid: cheap, balanced, premium"),
    ],
    ids=["an author", "unknown agent", "unknown profile"],
)
def test_what_a_chat_cannot_begin_with(cli: CommandLine, options: tuple[str, ...], code: int, said: str) -> None:
    done = cli.run("chat", *options, spoken=f"{ABOUT}\n")
    assert done.code == code and said in " ".join(done.err.replace("│", " ").split())
