"""Conversations and the log where processes are killed, the disk is full, or nobody may write: real processes."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rag_assets.history.conversations import open_conversations
from rag_assets.history.query_log import LogFilter, open_query_log
from rag_assets.index.layout import IndexHome
from rag_assets_tests.qa.conftest import Shop

TURNS = 12
KILLS = 8
ASKING = """
import sys
from rag_assets import open_index
from rag_assets.qa.ask_options import AskOptions
from rag_assets.qa.answering import QuestionAnswerer as Asker

home, label, turns, limit = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
with open_index(label, home=home) as index, Asker(index, AskOptions()) as asker:
    index.ask("InvoiceWriter", options=AskOptions())  # everything is imported and open
    if limit >= 0:
        import resource
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    for number in range(turns):
        print("asking", number, flush=True)
        asked = "What does InvoiceWriter do?" if number % 2 else "How are refunds of an order paid back?"
        request = f"r{number}" if limit < 0 else ""
        result = asker.ask(asked, session="s", user="ann", request_id=request)
        warned = " ".join(result.response.warnings) if result.response else ""
        print("said", number, result.turn_id, result.status.value, warned.replace("\\n", " "), flush=True)
"""


@pytest.fixture
def home(shop_indexes: Shop, tmp_path: Path) -> IndexHome:
    """The indexes of the shop with conversations of their own."""
    made = IndexHome(tmp_path / "home")
    made.root.mkdir()
    for part in shop_indexes.home.root.iterdir():
        if part.is_dir():
            (made.root / part.name).symlink_to(part, target_is_directory=True)
    return made


@contextmanager
def asking(home: IndexHome, label: str, turns: int = TURNS, limit: int = -1) -> Iterator[subprocess.Popen[str]]:
    """A process that asks; with a `limit` no file may become larger, in bytes."""
    command = [sys.executable, "-c", ASKING, str(home.root), label, str(turns), str(limit)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def said(process: subprocess.Popen[str]) -> Iterator[list[str]]:
    assert process.stdout is not None
    return (line.split(maxsplit=4) for line in process.stdout)


def kept(home: IndexHome) -> list[tuple[int, str, str]]:
    """(position, request id, turn id) of the session, from the file itself."""
    with sqlite3.connect(home.root / "conversations.sqlite") as connection:
        (sound,) = connection.execute("PRAGMA integrity_check").fetchone()
        assert sound == "ok"
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
        if "rag_turns" not in tables:
            return []
        return list(connection.execute("SELECT position, request_id, turn_id FROM rag_turns ORDER BY position"))


@pytest.mark.rule("D26")
def test_a_process_that_is_killed_at_any_moment_loses_and_doubles_nothing(home: IndexHome, shop_indexes: Shop) -> None:
    told: dict[str, str] = {}
    for kill in range(KILLS):
        with asking(home, shop_indexes.label) as process:
            seen = 0
            for word, number, *rest in said(process):
                if word == "said":
                    assert told.setdefault(number, rest[0]) == rest[0], "asked again, it is the same turn"
                    continue
                if int(number) not in map(int, told):
                    seen += 1
                if seen > kill % 3:
                    break
            time.sleep(kill * 0.004)  # another moment of a turn each time
            process.kill()
        turns = kept(home)
        assert [position for position, _, _ in turns] == list(range(1, len(turns) + 1))
        by_request = {request: turn for _, request, turn in turns}
        assert len(by_request) == len(turns), "a request is kept once"
        assert told.items() <= {request.removeprefix("r"): turn for request, turn in by_request.items()}.items()
    with asking(home, shop_indexes.label) as process:
        last = {number: rest[0] for word, number, *rest in said(process) if word == "said"}
        assert process.wait() == 0
    assert told.items() <= last.items()
    assert [(request, turn) for _, request, turn in kept(home)] == [(f"r{n}", last[str(n)]) for n in range(TURNS)]
    with open_query_log(home) as log:
        logged = [one.turn_id for one in log.asked(LogFilter(session="s"))]
    assert len(logged) == len(set(logged)) and set(logged) <= set(last.values())
    assert len(logged) >= TURNS - KILLS, "a record may go with the process that had not written it yet"
    with open_conversations(home) as history:
        assert history.load("ann", "s").count == TURNS


@pytest.mark.skipif(sys.platform == "win32", reason="the limit on files is one of POSIX")
@pytest.mark.parametrize(
    ("limit", "some_are_kept"),
    [
        pytest.param(20_000, False, id="no room for the tables"),
        pytest.param(200_000, True, id="room for some turns"),
    ],
)
def test_a_disk_that_fills_up_keeps_what_it_has_and_answers(
    home: IndexHome, shop_indexes: Shop, limit: int, some_are_kept: bool
) -> None:
    with asking(home, shop_indexes.label, turns=30, limit=limit) as process:
        answers = [rest for word, _, *rest in said(process) if word == "said"]
        assert process.wait() == 0
    assert len(answers) == 30
    lost = [rest for rest in answers if "kept: conversations in" in rest[-1]]
    assert lost and all("; free some space, or choose another place with --home" in rest[-1] for rest in lost)
    turns = kept(home)
    assert len(turns) == len(answers) - len(lost), "what was not called lost is there"
    assert bool(turns) is some_are_kept
    with asking(home, shop_indexes.label, turns=1) as process:
        assert [rest for word, _, *rest in said(process) if word == "said"]
    assert len(kept(home)) == len(turns) + 1, "with space again it goes on"
