"""The query log in SQLite and Postgres: records, filters, retention, deletion, several processes, damage."""

from __future__ import annotations

import os
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from rag_assets.contracts.confidentiality import DEFAULT_LEVEL, Confidentiality
from rag_assets.history.conversations import NewTurn, open_conversations
from rag_assets.history.query_log import PROFILE, LogFilter, LogRecord, QueryLog, QueryLogError, open_query_log
from rag_assets.history.schema import FILE_NAME, HISTORY_SCHEMA
from rag_assets.index.database import URL_VARIABLE, SqlDatabase, sqlite_location, stamp
from rag_assets.index.layout import IndexHome

ROOT = Path(__file__).parents[2]
RECORD = LogRecord(
    turn_id="00000000000000aa",
    asked_utc="2026-01-02T12:00:00.000Z",
    org="acme",
    project="shop",
    label="shop@main",
    user_name="ann",
    clearance="internal",
    session="",
    agent="",
    pipeline="code_question_answering",
    status="answered",
    question="What is \x00 it? \ud800 — ünï",
    models=("cheap: small", "balanced: large"),
    chunk_ids=("1a2b3c4d", "5e6f7a8b"),
    cited_ids=("1a2b3c4d",),
    seconds=1.5,
    retrieval_seconds=0.25,
    generation_seconds=1.0,
    calls=2,
    prompt_tokens=1_000,
    completion_tokens=50,
    cost=0.5,
    error="",
    detail='{"a": 1}',
    replies="[]",
)
WRITER = """
import sys
from dataclasses import replace
from pathlib import Path
from rag_assets.index.layout import IndexHome as Home
from rag_assets.history.query_log import open_query_log
from rag_assets_tests.history.test_query_log import RECORD
name, count = sys.argv[2], int(sys.argv[3])
with open_query_log(Home(Path(sys.argv[1])), sys.argv[4]) as log:
    for number in range(count):
        log.write(replace(RECORD, turn_id=f"{name}{number:015x}", detail="x" * 20_000), days=90)
        print(number, flush=True)
"""


def record(number: int = 0, **changes: Any) -> LogRecord:
    return replace(RECORD, **({"turn_id": f"{number:016x}"} | changes))


@pytest.fixture(params=["sqlite", "postgres"])
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    if request.param == "postgres":
        from rag_assets_tests.postgres_server import running_server

        server = running_server()
        monkeypatch.setenv(URL_VARIABLE, server.url(server.new_database()))
    return request.param


@pytest.fixture
def log(kind: Any, tmp_path: Path) -> Iterator[QueryLog]:
    with open_query_log(IndexHome(tmp_path / "home"), kind) as opened:
        yield opened


def write(log: QueryLog, *records: LogRecord, days: int = 90) -> None:
    for one in records:
        log.write(one, days=days)


def ids(log: QueryLog, limit: int | None = None, **wanted: str) -> list[int]:
    return [int(one.turn_id, 16) for one in log.asked(LogFilter(**wanted), limit)]


@pytest.mark.rule("E23")
def test_a_record_comes_back_whole(log: QueryLog) -> None:
    write(log, RECORD, record(1, cost=None))
    assert log.find(RECORD.turn_id) == replace(RECORD, question="What is  it? ? — ünï")
    other = log.find(record(1).turn_id)
    assert other is not None and other.cost is None
    (asked,) = log.asked(LogFilter(), limit=1)
    assert asked.models == RECORD.models and asked.cited_ids == RECORD.cited_ids
    assert log.find("00") is None, "whole ids only"


def test_an_empty_log_is_empty(log: QueryLog) -> None:
    assert log.asked(LogFilter()) == () and log.ids() == () and log.figures(LogFilter()) == () and log.labels() == ()


def test_the_newest_come_first_and_are_filtered(log: QueryLog) -> None:
    write(
        log,
        record(1, asked_utc="2026-01-01T00:00:00.000Z", user_name="bob"),
        record(2, asked_utc="2026-01-03T00:00:00.000Z", label="other@main", session="s1"),
        record(3, asked_utc="2026-01-02T00:00:00.000Z", status="failed", agent="reviewer"),
    )
    assert ids(log) == [2, 3, 1]
    assert ids(log, limit=2) == [2, 3]
    assert ids(log, since="2026-01-02T00:00:00.000Z") == [2, 3]
    assert (ids(log, user="bob"), ids(log, label="other@main"), ids(log, session="s1")) == ([1], [2], [2])
    assert (ids(log, status="failed"), ids(log, agent="reviewer", user="ann")) == ([3], [3])
    assert ids(log, user="bob", label="other@main") == []
    assert [one.status for one in log.figures(LogFilter(user="ann"))] == ["answered", "failed"]
    assert log.labels() == ("other@main", "shop@main")


@pytest.mark.parametrize("value", ["x' OR '1'='1", "%", "?"])
def test_values_are_values(log: QueryLog, value: str) -> None:
    write(log, record(1), record(2, user_name=value))
    assert ids(log, user=value) == [2]


def test_ids_are_found_by_their_beginning(log: QueryLog) -> None:
    write(log, record(0xAB), record(0xAC, asked_utc="2026-02-01T00:00:00.000Z"), record(0xF << 60))
    assert [int(one, 16) for one in log.ids("00000000000000a")] == [0xAC, 0xAB]
    assert [int(one, 16) for one in log.ids("f")] == [0xF << 60]
    assert len(log.ids()) == 3 and log.ids(limit=1) == log.ids()[:1] and log.ids("b") == ()


def test_a_turn_is_kept_once(log: QueryLog) -> None:
    write(log, record(1), record(1, question="another"))
    (only,) = log.asked(LogFilter())
    assert only.question.startswith("What is")


def test_old_records_go_with_the_next(log: QueryLog) -> None:
    write(log, record(1, asked_utc="2026-01-01T12:00:00.000Z"), record(2, asked_utc="2026-01-02T12:00:00.000Z"))
    write(log, record(3, asked_utc="2026-01-08T12:00:00.001Z"), days=7)
    assert ids(log) == [3, 2]


def test_times_sort_as_text() -> None:
    assert stamp(datetime(2026, 1, 2, 3, tzinfo=UTC)) == "2026-01-02T03:00:00.000Z"


def test_a_session_is_deleted_with_its_records(kind: Any, tmp_path: Path) -> None:
    home = IndexHome(tmp_path / "home")
    with open_query_log(home, kind) as log, open_conversations(home, kind) as conversations:
        turn = NewTurn(question="q", question_en="q", answer="a", answer_en="a", status="answered", label="l")
        conversations.append("ann", "s1", turn)
        write(log, record(1, session="s1"), record(2, session="s2"), record(3, session="s1", user_name="bob"))
        assert conversations.delete_session("ann", "s1").erased
        assert sorted(ids(log)) == [2, 3]
        conversations.delete_user("ann")
        assert ids(log) == [3]


def test_many_threads_write_at_once(log: QueryLog) -> None:
    def keep(number: int) -> None:
        for at in range(10):
            write(log, record(number * 100 + at))

    threads = [threading.Thread(target=keep, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(ids(log)) == [number * 100 + at for number in range(8) for at in range(10)]


def started(home: Path, kind: str, name: str, count: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, str(home), name, str(count), kind]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)


def test_several_processes_write_at_once_also_for_the_first_time(kind: Any, tmp_path: Path) -> None:
    processes = [started(tmp_path / "home", kind, name, 20) for name in "abc"]
    assert [process.wait(60) for process in processes] == [0, 0, 0]
    with open_query_log(IndexHome(tmp_path / "home"), kind) as log:
        assert len(log.asked(LogFilter())) == 60


def test_a_process_that_is_killed_while_it_writes_leaves_whole_records(tmp_path: Path) -> None:
    process = started(tmp_path / "home", "none", "a", 100_000)
    assert process.stdout is not None
    written = [process.stdout.readline() for _ in range(25)]
    process.send_signal(signal.SIGKILL)
    process.wait()
    with open_query_log(IndexHome(tmp_path / "home")) as log:
        found = log.asked(LogFilter())
        assert len(found) >= len(written), "what was written stays"
        assert all(len(log.find(one.turn_id).detail) == 20_000 for one in found)  # type: ignore[union-attr]
        write(log, record(1))
        assert len(log.asked(LogFilter())) == len(found) + 1


def test_reading_makes_no_file(tmp_path: Path) -> None:
    with open_query_log(IndexHome(tmp_path / "home")) as log:
        assert log.asked(LogFilter()) == () and log.find("00") is None
    assert list(tmp_path.iterdir()) == []


def test_the_file_is_for_its_owner_and_not_for_git(tmp_path: Path) -> None:
    with open_query_log(IndexHome(tmp_path)) as log:
        write(log, RECORD)
        found = [file for file in tmp_path.iterdir() if file.name.startswith(FILE_NAME)]
        assert {stat.S_IMODE(file.stat().st_mode) for file in found} == {0o600}
    assert (tmp_path / ".gitignore").read_text(encoding="utf-8") == "*\n"


def test_deleted_questions_are_in_no_file(tmp_path: Path) -> None:
    home = IndexHome(tmp_path)
    secret = "the-secret-of-this-question"
    with open_query_log(home) as log:
        write(log, *(record(number, session="s1", question=secret * 50) for number in range(30)))
    with open_conversations(home) as conversations:
        assert conversations.delete_session("ann", "s1").erased
        files = [file for file in tmp_path.iterdir() if file.name.startswith(FILE_NAME)]
        assert [file.name for file in files if secret.encode() in file.read_bytes()] == []


def test_a_home_that_is_no_folder_is_said(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("")
    with (
        pytest.raises(QueryLogError, match=r"home.*--home.*answer\.log"),
        open_query_log(IndexHome(tmp_path / "home")) as log,
    ):
        write(log, RECORD)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="needs a user who may not write everywhere")
def test_a_home_that_is_read_only_is_said(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(QueryLogError, match=r"writable"), open_query_log(IndexHome(tmp_path)) as log:
            write(log, RECORD)
    finally:
        tmp_path.chmod(0o700)


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(b"no database at all" * 100)
    with open_query_log(IndexHome(tmp_path)) as log:
        for _ in range(2):
            with pytest.raises(QueryLogError, match=rf"{FILE_NAME}.*move that file away"):
                write(log, RECORD)
        with pytest.raises(QueryLogError, match=FILE_NAME):
            log.asked(LogFilter())


def test_a_table_of_another_version_is_refused(tmp_path: Path) -> None:
    with open_query_log(IndexHome(tmp_path)) as log:
        write(log, RECORD)
    with sqlite3.connect(tmp_path / FILE_NAME) as connection:
        connection.execute("UPDATE rag_conversations SET value = '99' WHERE name = 'version'")
    refused = r"has format 99, .* reads 4; move that file away, then run: rag-assets ask"
    with open_query_log(IndexHome(tmp_path)) as log, pytest.raises(QueryLogError, match=refused):
        write(log, RECORD)


@pytest.mark.parametrize(
    ("clearance", "seen"), [("public", ["a1"]), ("internal", ["a1", "a2"]), ("restricted", ["a1", "a2", "a3", "a4"])]
)
def test_a_reader_learns_nothing_of_those_who_see_more(tmp_path: Path, clearance: str, seen: list[str]) -> None:
    """A question may quote what its asker was shown, and a trace names files."""
    levels = dict(zip(("a1", "a2", "a3", "a4"), Confidentiality, strict=True))
    with open_query_log(IndexHome(tmp_path)) as log:
        for turn_id, level in levels.items():
            log.write(replace(RECORD, turn_id=turn_id, label=f"{level}@main", clearance=level.value), days=90)
    with open_query_log(IndexHome(tmp_path), clearance=Confidentiality(clearance)) as log:
        assert sorted(log.ids()) == sorted(asked.turn_id for asked in log.asked(LogFilter())) == seen
        assert len(log.figures(LogFilter())) == len(log.labels()) == len(seen)
        assert [turn_id for turn_id in levels if log.find(turn_id) is not None] == seen
        assert len(log.asked(LogFilter(status="answered", since="2000"))) == len(seen)


def test_a_full_disk_is_said_and_what_was_written_stays(tmp_path: Path) -> None:
    """A database that may not grow is one on a disk that is full."""

    class SmallDisk(SqlDatabase):
        def connect(self, *, autocommit: bool = True) -> Any:
            connection = super().connect(autocommit=autocommit)
            connection.execute("PRAGMA max_page_count = 40")
            return connection

    with QueryLog(SmallDisk(sqlite_location(tmp_path / FILE_NAME), PROFILE, HISTORY_SCHEMA), DEFAULT_LEVEL) as log:
        write(log, record(1))
        with pytest.raises(QueryLogError, match=rf"{FILE_NAME}: .*is full; free some space"):
            write(log, record(2, detail="x" * 200_000))
        assert ids(log) == [1]


def test_somebody_who_writes_for_long_is_waited_for_and_then_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rag_assets.history.query_log.PROFILE", replace(PROFILE, busy_seconds=0.05))
    with open_query_log(IndexHome(tmp_path)) as log:
        write(log, RECORD)
        other = sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(QueryLogError, match="locked"):
            write(log, record(1))
        other.execute("COMMIT")
        other.close()
        write(log, record(1))
        assert len(log.asked(LogFilter())) == 2


def test_a_server_that_was_away_is_found_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from rag_assets_tests.postgres_server import running_server

    server = running_server()
    monkeypatch.setenv(URL_VARIABLE, server.url(server.new_database()))
    with open_query_log(IndexHome(tmp_path), "postgres") as log:
        write(log, RECORD)
        server.stop()
        try:
            with pytest.raises(QueryLogError, match=r"is the server of RAG_ASSETS_CATALOG_URL up"):
                write(log, record(1))
        finally:
            server.start()
        write(log, record(1))
        assert len(log.asked(LogFilter())) == 2
        server.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'rag-assets'")
        write(log, record(2))
        assert len(log.asked(LogFilter())) == 3, "a connection that was closed behind its back"


def test_a_server_that_is_gone_is_said_without_its_password(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("psycopg2")
    monkeypatch.setenv(URL_VARIABLE, "postgresql://u:s3cr3t@127.0.0.1:1/x")
    with open_query_log(IndexHome(tmp_path), "postgres") as log, pytest.raises(QueryLogError) as said:
        write(log, RECORD)
    assert "is the server of" in str(said.value) and "s3cr3t" not in str(said.value)


def test_records_that_are_too_old_are_in_no_file(tmp_path: Path) -> None:
    secret = "the-secret-of-an-old-question"
    with open_query_log(IndexHome(tmp_path)) as log:
        write(log, *(record(number, question=secret * 50) for number in range(30)))
        write(log, record(99, asked_utc="2027-01-02T12:00:00.000Z"))
        assert ids(log) == [99]
    files = [file for file in tmp_path.iterdir() if file.name.startswith(FILE_NAME)]
    assert [file.name for file in files if secret.encode() in file.read_bytes()] == []
