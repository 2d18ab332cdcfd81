"""Conversations in SQLite and Postgres: order, summaries, requests, users, deletion, many writers at once."""

from __future__ import annotations

import json
import stat
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from rag_assets.contracts.confidentiality import Confidentiality
from rag_assets.history.conversations import (
    PROFILE,
    ConversationError,
    Conversations,
    NewTurn,
    open_conversations,
)
from rag_assets.history.schema import FILE_NAME, HISTORY_SCHEMA
from rag_assets.index.database import URL_VARIABLE, SqlDatabase, sqlite_location
from rag_assets.index.layout import IndexHome

USER, SESSION = "ann", "s1"
NOON = datetime(2026, 1, 2, 12, 30, tzinfo=UTC)


def turn(text: str = "question", **changes: Any) -> NewTurn:
    values = {"question": text, "question_en": text, "answer": f"to {text}", "answer_en": f"to {text}"}
    return NewTurn(**{**values, "status": "answered", "label": "shop@main", **changes})


@pytest.fixture(params=["sqlite", "postgres"])
def conversations(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    if request.param == "postgres":
        from rag_assets_tests.postgres_server import running_server

        server = running_server()
        monkeypatch.setenv(URL_VARIABLE, server.url(server.new_database()))
    with open_conversations(IndexHome(tmp_path / "home"), request.param) as opened:
        yield opened


@pytest.mark.rule("D05")
def test_turns_come_back_in_their_order(conversations: Conversations) -> None:
    for text in ("b", "a", "c"):
        conversations.append(USER, SESSION, turn(text))
    past = conversations.load(USER, SESSION)
    assert past.count == 3 and past.summary is None
    assert [(known.position, known.question, known.answer_en) for known in past.turns] == [
        (1, "b", "to b"),
        (2, "a", "to a"),
        (3, "c", "to c"),
    ]


@pytest.mark.rule("D05", "E12")
@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_what_a_role_was_told_is_no_part_of_the_conversation_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: Any
) -> None:
    """One user, one name of a session: answers may quote what the other role must not see."""
    if kind == "postgres":
        from rag_assets_tests.postgres_server import running_server

        server = running_server()
        monkeypatch.setenv(URL_VARIABLE, server.url(server.new_database()))
    home = IndexHome(tmp_path / "home")
    with (
        open_conversations(home, kind, clearance=Confidentiality.RESTRICTED) as high,
        open_conversations(home, kind, clearance=Confidentiality.PUBLIC) as low,
    ):
        high.append(USER, SESSION, turn("what does she earn", request_id="r1"))
        high.append(USER, SESSION, turn("and he"))
        high.save_summary(USER, SESSION, "they earn a lot", through=2, after_version=0)
        assert low.load(USER, SESSION).count == 0 and low.sessions(USER) == ()
        assert low.find_request(USER, SESSION, "r1") is None
        low.append(USER, SESSION, turn("where is the office", request_id="r1"))
        assert [known.question for known in low.load(USER, SESSION).turns] == ["where is the office"]
        assert low.delete_session(USER, SESSION).turns == 1
        assert high.load(USER, SESSION).count == 2
        assert low.delete_user(USER).turns == 2, "a user who goes is forgotten whatever they were told"
        assert high.sessions(USER) == ()


@pytest.mark.rule("D07")
def test_only_turns_after_the_summary_are_loaded(conversations: Conversations) -> None:
    for text in ("a", "b", "c"):
        conversations.append(USER, SESSION, turn(text))
    made = conversations.save_summary(USER, SESSION, "a and b", through=2, after_version=0)
    assert (made.version, made.through) == (1, 2)
    past = conversations.load(USER, SESSION)
    assert past.count == 3 and past.summary == made
    assert [known.question for known in past.turns] == ["c"]
    assert conversations.save_summary(USER, SESSION, "all", through=3, after_version=1).version == 2


@pytest.mark.rule("D07")
@pytest.mark.parametrize(
    ("count", "version", "questions"),
    [(0, 0, ""), (2, 0, "ab"), (3, 1, "c"), (4, 1, "cd"), (5, 2, "e")],
    ids=["before-all", "when-it-was-made", "after-it", "when-the-next-was-made", "after-that"],
)
def test_a_session_as_it_was_after_so_many_turns(
    conversations: Conversations, count: int, version: int, questions: str
) -> None:
    """The first summary was made for the third turn, the second for the fifth."""
    for number, text in enumerate("abcdef", 1):
        if number in (3, 5):
            before = number // 2 - 1
            conversations.save_summary(USER, SESSION, "so far", through=number - 1, after_version=before)
        conversations.append(USER, SESSION, turn(text))
    past = conversations.load(USER, SESSION, count=count)
    assert past.count == count
    assert (past.summary.version if past.summary else 0) == version
    assert "".join(known.question for known in past.turns) == questions


@pytest.mark.rule("D07")
def test_of_two_summaries_at_once_the_first_stays(conversations: Conversations) -> None:
    conversations.append(USER, SESSION, turn())
    first = conversations.save_summary(USER, SESSION, "mine", through=1, after_version=0)
    assert conversations.save_summary(USER, SESSION, "yours", through=1, after_version=0) == first


@pytest.mark.parametrize("through", [1, 9])
def test_a_summary_of_turns_that_are_not_there_is_refused(conversations: Conversations, through: int) -> None:
    if through == 9:
        conversations.append(USER, SESSION, turn())
    with pytest.raises(ConversationError, match="no turn"):
        conversations.save_summary(USER, SESSION, "x", through=through, after_version=0)


@pytest.mark.rule("D26")
def test_a_turn_is_kept_whole(conversations: Conversations) -> None:
    new = turn(
        "Wie?",
        question_en="How?",
        answer="So \x00 \ud800",
        lock='{"a": 1}',
        trace="[1]",
        summary_version=3,
        request_id="r",
    )
    stored = conversations.append(USER, SESSION, new)
    assert conversations.find_request(USER, SESSION, "r") == stored
    assert (stored.question, stored.question_en, stored.answer) == ("Wie?", "How?", "So  ?")
    assert (stored.lock, stored.trace, stored.summary_version, stored.position) == ('{"a": 1}', "[1]", 3, 1)


def test_the_same_request_is_kept_once(conversations: Conversations) -> None:
    first = conversations.append(USER, SESSION, turn("a", request_id="r"))
    assert conversations.append(USER, SESSION, turn("b", request_id="r")) == first
    assert conversations.find_request(USER, SESSION, "r") == first
    assert conversations.load(USER, SESSION).count == 1
    assert conversations.append(USER, "other", turn("b", request_id="r")).question == "b"
    assert [conversations.append(USER, SESSION, turn()).position for _ in range(2)] == [2, 3], "without one: each"


def test_users_do_not_see_each_other(conversations: Conversations) -> None:
    conversations.append(USER, SESSION, turn("mine", request_id="r"))
    conversations.append("bob", SESSION, turn("his"))
    assert [known.question for known in conversations.load("bob", SESSION).turns] == ["his"]
    assert conversations.find_request("bob", SESSION, "r") is None
    assert conversations.delete_session("bob", SESSION).turns == 1
    assert conversations.load(USER, SESSION).count == 1
    assert [known.name for known in conversations.sessions(USER)] == [SESSION]
    assert conversations.sessions("bob") == ()


def test_deleting_a_user_deletes_all_sessions(conversations: Conversations) -> None:
    for name in ("x", "y"):
        conversations.append(USER, name, turn())
        conversations.save_summary(USER, name, "z", through=1, after_version=0)
    deleted = conversations.delete_user(USER)
    assert (deleted.sessions, deleted.turns) == (2, 2)
    assert conversations.load(USER, "x").summary is None
    assert conversations.delete_user(USER).turns == 0
    assert conversations.append(USER, "x", turn()).position == 1


def test_nothing_is_lost_or_mixed_by_many_at_once(conversations: Conversations) -> None:
    def talk(number: int) -> None:
        for at in range(5):
            conversations.append(USER, f"s{number % 4}", turn(f"{number}-{at}", request_id=f"{number}-{at}"))
            conversations.append(USER, f"s{number % 4}", turn("again", request_id=f"{number}-{at}"))

    threads = [threading.Thread(target=talk, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for session in range(4):
        past = conversations.load(USER, f"s{session}")
        assert [known.position for known in past.turns] == list(range(1, 16))
        assert {known.question for known in past.turns} == {
            f"{number}-{at}" for number in range(session, 12, 4) for at in range(5)
        }


@pytest.mark.parametrize("name", ["", "  ", "x" * 201])
def test_names_are_checked(conversations: Conversations, name: str) -> None:
    for user, session in ((name, SESSION), (USER, name)):
        with pytest.raises(ConversationError, match="1 to 200 characters"):
            conversations.append(user, session, turn())


def test_the_clock_stamps_turns(tmp_path: Path) -> None:
    database = SqlDatabase(sqlite_location(tmp_path / "c.sqlite"), PROFILE, HISTORY_SCHEMA)
    with Conversations(database, now=lambda: NOON) as opened:
        assert opened.append(USER, SESSION, turn()).created_utc == "2026-01-02T12:30:00.000Z"


def test_deleted_text_is_in_no_file(tmp_path: Path) -> None:
    home = IndexHome(tmp_path)
    secret = "the-secret-of-this-conversation"
    with open_conversations(home) as opened:
        opened.append(USER, "kept", turn("what stays"))
        for _ in range(30):
            opened.append(USER, SESSION, turn(secret * 50))
        opened.save_summary(USER, SESSION, secret, through=30, after_version=0)
        assert any(secret.encode() in file.read_bytes() for file in files(tmp_path)), "it was written"
        assert opened.delete_session(USER, SESSION).erased
        assert [file.name for file in files(tmp_path) if secret.encode() in file.read_bytes()] == []
        assert opened.load(USER, "kept").count == 1


def test_a_reader_puts_erasing_off_which_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sqlite3

    monkeypatch.setattr("rag_assets.index.database.ERASE_SECONDS", 0.05)
    with open_conversations(IndexHome(tmp_path)) as opened:
        for session in (SESSION, "later"):
            opened.append(USER, session, turn("a secret text"))
        reader = sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM rag_turns").fetchall()
        assert not opened.delete_session(USER, SESSION).erased
        reader.close()
        assert opened.delete_session(USER, "later").erased
        assert [file.name for file in files(tmp_path) if b"a secret text" in file.read_bytes()] == []


def files(folder: Path) -> list[Path]:
    return [file for file in folder.iterdir() if file.name.startswith(FILE_NAME)]


def test_the_file_is_for_its_owner_and_not_for_git(tmp_path: Path) -> None:
    with open_conversations(IndexHome(tmp_path)) as opened:
        opened.append(USER, SESSION, turn())
        assert {stat.S_IMODE(file.stat().st_mode) for file in files(tmp_path)} == {0o600}
    assert (tmp_path / ".gitignore").read_text(encoding="utf-8") == "*\n"


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(b"no database at all" * 100)
    with pytest.raises(ConversationError, match=rf"{FILE_NAME}.*move that file away"):
        open_conversations(IndexHome(tmp_path))


def test_tables_of_another_version_are_refused(tmp_path: Path) -> None:
    import sqlite3

    open_conversations(IndexHome(tmp_path)).close()
    with sqlite3.connect(tmp_path / FILE_NAME) as connection:
        connection.execute("UPDATE rag_conversations SET value = '99'")
    with pytest.raises(
        ConversationError, match=r"has format 99, .* reads 4; move that file away, then run: rag-assets ask"
    ):
        open_conversations(IndexHome(tmp_path))


def test_postgres_without_its_url_says_what_to_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(URL_VARIABLE, raising=False)
    with pytest.raises(ConversationError, match=URL_VARIABLE):
        open_conversations(IndexHome(tmp_path), "postgres")


def test_a_server_that_is_gone_is_said_without_its_password(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("psycopg2")
    monkeypatch.setenv(URL_VARIABLE, "postgresql://u:s3cr3t@127.0.0.1:1/x")
    with pytest.raises(ConversationError, match="is the server of") as said:
        open_conversations(IndexHome(tmp_path), "postgres")
    assert "s3cr3t" not in str(said.value)


def test_what_is_kept_of_a_turn_has_no_credential(tmp_path: Path) -> None:
    token = "gh" + "p_" + "aB3dE5gH7j" * 4
    home = IndexHome(tmp_path / "home")
    with open_conversations(home) as conversations:
        trace = json.dumps([{"notes": [f"asked\n{token}"]}])
        turn = NewTurn(
            question=f"what is {token}?",
            question_en=token,
            answer=token,
            answer_en=token,
            status="ok",
            label="a",
            trace=trace,
        )
        conversations.append("jo", "s", turn)
        conversations.save_summary("jo", "s", f"They said {token}", through=1, after_version=0)
        assert conversations.load("jo", "s").count == 1
    assert not any(token.encode() in file.read_bytes() for file in home.root.rglob("*") if file.is_file())
