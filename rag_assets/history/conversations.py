"""Conversations in SQL (D05–D08, D26): sessions of users, their turns, and the rolling summaries of them.

A session belongs to one user at one clearance: another user's session of the same name is another session, and what a
role was told is no part of the conversation of a lower one. A turn is kept once per request. Deleting removes the text
from the database files too, as far as a database can.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from rag_assets.closeable import Closeable
from rag_assets.contracts.confidentiality import DEFAULT_LEVEL, Confidentiality
from rag_assets.errors import RagAssetsError
from rag_assets.history.schema import (
    FILE_NAME,
    HISTORY_SCHEMA,
    QUERY_LOG,
    SCHEMA_VERSION,
    SESSIONS,
    SUMMARIES,
    TURN_COLUMNS,
    TURNS,
)
from rag_assets.index.database import (
    DatabaseFault,
    SqlDatabase,
    SqlTransaction,
    StoreProfile,
    postgres_location,
    sqlite_location,
    stamp,
    storable,
)
from rag_assets.index.layout import IndexHome
from rag_assets.sources.secrets import masked

_MAX_NAME = 200  # characters of a user or session name
_TURN_NAMES = tuple(name for name in TURN_COLUMNS if name != "session_key")
_TURN = ", ".join(f"{TURNS}.{name}" for name in _TURN_NAMES)


class ConversationError(RagAssetsError):
    """Conversations that cannot be read or kept; the text names the place, the cause and what helps."""


PROFILE = StoreProfile(
    title="conversations in",
    title_with_verb="conversations are",
    error=ConversationError,
    version=SCHEMA_VERSION,
    remake="rag-assets ask",
    hints={
        DatabaseFault.BUSY: "another process writes for very long; run it again",
        DatabaseFault.FILE_SYSTEM_FULL: "free some space, or choose another place with --home",
        DatabaseFault.NOT_WRITABLE: "make the home writable, or choose another place with --home",
        DatabaseFault.DAMAGED: "if it is damaged, move that file away: conversations are in nothing else",
    },
    server_hint="is the server of RAG_ASSETS_CATALOG_URL up, and may its user create and write tables?",
    busy_seconds=60.0,  # SQLite has one writer; a turn is written in milliseconds
    connect_seconds=10,
    synchronous="FULL",  # a turn that was answered is not lost with the power
)


@dataclass(frozen=True, slots=True)
class PastTurn:
    """`position` counts the turns of a session from 1."""

    position: int
    question: str
    question_en: str
    answer: str
    answer_en: str
    status: str
    label: str


@dataclass(frozen=True, slots=True)
class Summary:
    """The `version`-th summary of a session; it covers the turns up to position `through` (D07)."""

    version: int
    through: int
    text: str


@dataclass(frozen=True, slots=True)
class ConversationHistory:
    """What a session holds: the number of its turns, its last summary, and the turns since, oldest first (D05)."""

    count: int = 0
    summary: Summary | None = None
    turns: tuple[PastTurn, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTurn:
    """A completed turn (D26). `summary_version` is the summary that it was answered with, 0 for none; `new_turns` how
    many turns there are since, this one included. `lock` and `trace` are JSON."""

    question: str
    question_en: str
    answer: str
    answer_en: str
    status: str
    label: str
    request_id: str = ""
    summary_version: int = 0
    new_turns: int = 1
    lock: str = "{}"
    trace: str = "[]"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTurn(NewTurn):
    turn_id: str
    position: int
    created_utc: str


@dataclass(frozen=True, slots=True)
class DeletedConversation:
    """How much was deleted; `logged` are questions of the query log. `erased`: the text is in no file of the database
    any more."""

    sessions: int
    turns: int
    logged: int
    erased: bool


@dataclass(frozen=True, slots=True)
class ConversationSession:
    name: str
    turns: int
    created_utc: str


@dataclass(frozen=True, slots=True)
class _Owner:
    """The row of a session."""

    key: int
    last_position: int


def open_conversations(
    home: IndexHome,
    catalog: Literal["none", "sqlite", "postgres"] = "none",
    *,
    clearance: Confidentiality = DEFAULT_LEVEL,
) -> Conversations:
    """The conversations of a home that are led at that clearance: in the Postgres of the catalog where that is
    configured, else in a file. Raises ConversationError."""
    if catalog == "postgres":
        return Conversations(SqlDatabase(postgres_location(ConversationError), PROFILE, HISTORY_SCHEMA), clearance)
    location = sqlite_location(home.root / FILE_NAME)
    database = SqlDatabase(location, PROFILE, HISTORY_SCHEMA, beside_the_file=home.keep_out_of_git)
    return Conversations(database, clearance)


def check_conversations(home: IndexHome) -> None:
    """Reads the file of conversations and query log, where there is one. Raises ConversationError."""
    path = home.root / FILE_NAME
    if path.is_file():
        SqlDatabase(sqlite_location(path), PROFILE).check(HISTORY_SCHEMA.version_table)


class Conversations(Closeable):
    """Safe to use from several threads, and from several processes at once."""

    def __init__(
        self,
        database: SqlDatabase,
        clearance: Confidentiality = DEFAULT_LEVEL,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """`clearance` is what the answers may be made of: who asks with another one leads another conversation, even
        under the same name. `now` is the clock of `created_utc`. Raises ConversationError."""
        self._database = database
        self._clearance = clearance.value
        self._now = now
        with database.transaction():
            pass  # a database that cannot be used is told before a question is answered

    def load(self, user: str, session: str, *, count: int | None = None) -> ConversationHistory:
        """A session that nobody has begun is empty. With `count` it is as it was when it had so many turns: a summary
        is made after the last turn in it and before the next one. Raises ConversationError."""
        with self._database.transaction() as reading:
            found = self._session(reading, user, session)
            if found is None:
                return ConversationHistory()
            last = found.last_position if count is None else count
            summary = _last_summary(reading, found.key, before=count)
            rows = reading.rows(
                f"SELECT position, question, question_en, answer, answer_en, status, label FROM {TURNS} "
                "WHERE session_key = ? AND position > ? AND position <= ? ORDER BY position",
                [found.key, summary.through if summary else 0, last],
            )
        return ConversationHistory(last, summary, tuple(PastTurn(*row) for row in rows))

    def append(self, user: str, session: str, turn: NewTurn) -> StoredTurn:
        """Keeps a turn behind the others of its session, which is begun where there is none. A request that is kept
        already is not kept again: the stored turn is returned. Raises ConversationError."""
        with self._database.transaction(writes=True) as writing:
            owner = self._begun(writing, user, session)
            if turn.request_id:
                known = _by_request(writing, owner.key, turn.request_id)
                if known is not None:
                    return known
            kept = StoredTurn(
                **_kept(turn),
                position=owner.last_position + 1,
                turn_id=uuid.uuid4().hex[:16],
                created_utc=stamp(self._now()),
            )
            values = {name: getattr(kept, name) for name in _TURN_NAMES} | {"request_id": kept.request_id or None}
            _insert(writing, TURNS, {"session_key": owner.key} | values)
            writing.run(f"UPDATE {SESSIONS} SET last_position = ? WHERE session_key = ?", [kept.position, owner.key])
            return kept

    def find_request(self, user: str, session: str, request_id: str) -> StoredTurn | None:
        """The turn that a request was answered with. Raises ConversationError."""
        with self._database.transaction() as reading:
            owner = self._session(reading, user, session)
            return None if owner is None else _by_request(reading, owner.key, request_id)

    def save_summary(self, user: str, session: str, text: str, *, through: int, after_version: int) -> Summary:
        """Keeps the summary that follows version `after_version` and covers the turns up to `through` (D07). Where
        somebody else was faster, theirs is returned. Raises ConversationError."""
        with self._database.transaction(writes=True) as writing:
            owner = self._session(writing, user, session, lock=True)
            if owner is None or through > owner.last_position:
                raise ConversationError(f"session {session!r} has no turn {through} to summarise")
            last = _last_summary(writing, owner.key)
            if last is not None and last.version > after_version:
                return last
            made = Summary(after_version + 1, through, masked(storable(text)))
            row = {"version": made.version, "through": through, "text": made.text, "created_utc": stamp(self._now())}
            _insert(writing, SUMMARIES, {"session_key": owner.key} | row)
            return made

    def sessions(self, user: str) -> tuple[ConversationSession, ...]:
        """The sessions of a user, by name. Raises ConversationError."""
        with self._database.transaction() as reading:
            rows = reading.rows(
                f"SELECT name, last_position, created_utc FROM {SESSIONS} WHERE user_name = ? AND clearance = ? "
                "ORDER BY name",
                [storable(user), self._clearance],
            )
        return tuple(ConversationSession(*row) for row in rows)

    def delete_session(self, user: str, session: str) -> DeletedConversation:
        """Deletes a session with its turns, its summaries and what the query log has of it, for good. Raises
        ConversationError."""
        return self._delete({"user_name": user, "name": session, "clearance": self._clearance})

    def delete_user(self, user: str) -> DeletedConversation:
        """Deletes all sessions of a user at any clearance, and all that the query log has of them, for good. Raises
        ConversationError."""
        return self._delete({"user_name": user})

    def close(self) -> None:
        self._database.close()

    def _delete(self, which: dict[str, str]) -> DeletedConversation:
        values = [storable(value) for value in which.values()]
        condition = " AND ".join(f"{name} = ?" for name in which)
        with self._database.transaction(writes=True) as writing:
            keys = writing.rows(f"SELECT session_key FROM {SESSIONS} WHERE {condition}{_locking(writing)}", values)
            chosen = f"IN (SELECT session_key FROM {SESSIONS} WHERE {condition})"
            count = writing.rows(f"SELECT count(*) FROM {TURNS} WHERE session_key {chosen}", values)[0][0]
            writing.run(f"DELETE FROM {SUMMARIES} WHERE session_key {chosen}", values)
            writing.run(f"DELETE FROM {TURNS} WHERE session_key {chosen}", values)
            writing.run(f"DELETE FROM {SESSIONS} WHERE {condition}", values)
            # The log calls the name of a session `session`.
            logged = " AND ".join(f"{'session' if name == 'name' else name} = ?" for name in which)
            questions = writing.rows(f"SELECT count(*) FROM {QUERY_LOG} WHERE {logged}", values)[0][0]
            writing.run(f"DELETE FROM {QUERY_LOG} WHERE {logged}", values)
        return DeletedConversation(
            len(keys), count, questions, self._database.erase_deleted((TURNS, SUMMARIES, SESSIONS, QUERY_LOG))
        )

    def _begun(self, writing: SqlTransaction, user: str, name: str) -> _Owner:
        """The session, locked until the end of the transaction."""
        known = self._session(writing, user, name, lock=True)
        if known is not None:
            return known
        for what, value in (("user", user), ("session", name)):
            if not value.strip() or len(value) > _MAX_NAME:
                raise ConversationError(f"the name of a {what} has 1 to {_MAX_NAME} characters, got {value[:40]!r}")
        row = {"user_name": storable(user), "name": storable(name), "clearance": self._clearance}
        _insert(writing, SESSIONS, row | {"last_position": 0, "created_utc": stamp(self._now())})
        made = self._session(writing, user, name, lock=True)
        assert made is not None
        return made

    def _session(self, inside: SqlTransaction, user: str, name: str, *, lock: bool = False) -> _Owner | None:
        row = inside.row(
            f"SELECT session_key, last_position FROM {SESSIONS} WHERE user_name = ? AND name = ? AND clearance = ?"
            f"{_locking(inside) if lock else ''}",
            [storable(user), storable(name), self._clearance],
        )
        return None if row is None else _Owner(*row)


def _locking(inside: SqlTransaction) -> str:
    """SQLite locks the whole file where a transaction begins."""
    return " FOR UPDATE" if inside.kind == "postgres" else ""


def _insert(writing: SqlTransaction, table: str, row: dict[str, Any]) -> None:
    marks = ", ".join("?" * len(row))
    # Only a session may be there already: another process was faster. Whoever writes turns has locked theirs.
    conflict = " ON CONFLICT DO NOTHING" if table == SESSIONS else ""
    writing.run(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks}){conflict}", list(row.values()))


def _last_summary(reading: SqlTransaction, session_key: int, before: int | None = None) -> Summary | None:
    """The newest; of those that cover less than `before` turns where that is given."""
    bound: tuple[str, list[int]] = ("", []) if before is None else ("AND through < ?", [before])
    row = reading.row(
        f"SELECT version, through, text FROM {SUMMARIES} WHERE session_key = ? {bound[0]} "
        "ORDER BY version DESC LIMIT 1",
        [session_key, *bound[1]],
    )
    return None if row is None else Summary(*row)


def _by_request(reading: SqlTransaction, session_key: int, request_id: str) -> StoredTurn | None:
    row = reading.row(
        f"SELECT {_TURN} FROM {TURNS} WHERE session_key = ? AND request_id = ?", [session_key, storable(request_id)]
    )
    return None if row is None else _stored(row)


def _stored(row: tuple[Any, ...]) -> StoredTurn:
    values = dict(zip(_TURN_NAMES, row, strict=True))
    return StoredTurn(**(values | {"request_id": values["request_id"] or ""}))


_TEXTS = ("question", "question_en", "answer", "answer_en")
_RECORDS = ("lock", "trace")  # JSON, of which each text is masked by itself


def _kept(turn: NewTurn) -> dict[str, Any]:
    """The fields of a turn as they are stored, its texts without credentials."""
    fields = {name: _storable(getattr(turn, name)) for name in NewTurn.__dataclass_fields__}
    texts = {name: masked(fields[name]) for name in _TEXTS}
    records = {name: json.dumps(masked(json.loads(fields[name])), ensure_ascii=False) for name in _RECORDS}
    return fields | texts | records


def _storable(value: Any) -> Any:
    return storable(value) if isinstance(value, str) else value
