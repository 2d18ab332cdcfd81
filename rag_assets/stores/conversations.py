"""Conversations in SQL (D05–D08, D26): sessions of users, their turns, and the rolling summaries of them.

A session belongs to one user at one clearance: another user's session of the same name is another session, and what a
role was told is no part of the conversation of a lower one. A turn is kept once per request. Deleting removes the text
from the database files too, as far as a database can.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

from sqlalchemy import and_, column, delete, func, select, table, update

from rag_assets.closing import Closing
from rag_assets.contracts.confidentiality import DEFAULT_LEVEL, Confidentiality
from rag_assets.stores.catalog.place import place_of
from rag_assets.stores.conversations_tables import (
    ConversationDatabase,
    ConversationError,
    cannot_write,
    sessions,
    summaries,
    turns,
)
from rag_assets.stores.query_log_database import FILE_NAME
from rag_assets.stores.query_log_tables import TABLE
from rag_assets.stores.sql_text import stamp, storable, storable_row

__all__ = [
    "ConversationError",
    "Conversations",
    "Deleted",
    "NewTurn",
    "Past",
    "PastTurn",
    "Session",
    "StoredTurn",
    "Summary",
    "open_conversations",
]

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection

    from rag_assets.stores.catalog.place import Place
    from rag_assets.stores.home import Home

_logged = table(TABLE, column("user_name"), column("session"), column("clearance"))
_MAX_NAME = 200  # characters of a user or session name


@dataclass(frozen=True, slots=True)
class PastTurn:
    """`position` counts the turns of a session from 1."""

    position: int
    question: str
    question_en: str
    answer: str
    answer_en: str


@dataclass(frozen=True, slots=True)
class Summary:
    """The `version`-th summary of a session; it covers the turns up to position `through` (D07)."""

    version: int
    through: int
    text: str


@dataclass(frozen=True, slots=True)
class Past:
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
class Deleted:
    """How much was deleted. `erased`: the text is in no file of the database any more."""

    sessions: int
    turns: int
    erased: bool


@dataclass(frozen=True, slots=True)
class Session:
    name: str
    turns: int
    created_utc: str


def open_conversations(
    home: Home,
    catalog: Literal["none", "sqlite", "postgres"] = "none",
    *,
    clearance: Confidentiality = DEFAULT_LEVEL,
) -> Conversations:
    """The conversations of a home that are led at that clearance: in the Postgres of the catalog where that is
    configured, else in a file. Raises ConversationError or CatalogError."""
    from sqlalchemy import URL

    from rag_assets.stores.catalog.place import Place

    if catalog == "postgres":
        return Conversations(place_of("postgres", home), clearance)
    path = home.root / FILE_NAME
    place = Place("sqlite", str(path), URL.create("sqlite+pysqlite", database=str(path)))
    made = Conversations(place, clearance)
    try:
        home.keep_out_of_git()
    except OSError as error:  # of a disk that is full to the last byte
        made.close()
        raise cannot_write(path, error) from error
    return made


class Conversations(Closing):
    """Safe to use from several threads, and from several processes at once."""

    def __init__(
        self,
        place: Place,
        clearance: Confidentiality = DEFAULT_LEVEL,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """`clearance` is what the answers may be made of: who asks with another one leads another conversation, even
        under the same name. `now` is the clock of `created_utc`. Raises ConversationError."""
        self._database = ConversationDatabase(place)
        self._clearance = clearance.value
        self._is_ours = sessions.c.clearance == clearance.value
        self._now = now

    def load(self, user: str, session: str, *, count: int | None = None) -> Past:
        """A session that nobody has begun is empty. With `count` it is as it was when it had so many turns: a summary
        is made after the last turn in it and before the next one. Raises ConversationError."""
        with self._database.transaction() as connection:
            found = self._session(connection, user, session)
            if found is None:
                return Past()
            last = found.last_position if count is None else count
            summary = _last_summary(connection, found.session_key, before=count)
            after = summary.through if summary else 0
            query = (
                select(turns)
                .where(turns.c.session_key == found.session_key, turns.c.position > after, turns.c.position <= last)
                .order_by(turns.c.position)
            )
            rows = connection.execute(query).all()
        newer = tuple(PastTurn(row.position, row.question, row.question_en, row.answer, row.answer_en) for row in rows)
        return Past(last, summary, newer)

    def append(self, user: str, session: str, turn: NewTurn) -> StoredTurn:
        """Keeps a turn behind the others of its session, which is begun where there is none. A request that is kept
        already is not kept again: the stored turn is returned. Raises ConversationError."""
        with self._database.transaction(writes=True) as connection:
            owner = self._begun(connection, user, session)
            if turn.request_id:
                known = _by_request(connection, owner.session_key, turn.request_id)
                if known is not None:
                    return known
            position = owner.last_position + 1
            row = {
                "session_key": owner.session_key,
                "position": position,
                "turn_id": uuid.uuid4().hex[:16],
                "request_id": turn.request_id or None,
                "question": turn.question,
                "question_en": turn.question_en,
                "answer": turn.answer,
                "answer_en": turn.answer_en,
                "status": turn.status,
                "label": turn.label,
                "summary_version": turn.summary_version,
                "new_turns": turn.new_turns,
                "lock": turn.lock,
                "trace": turn.trace,
                "created_utc": stamp(self._now()),
            }
            kept = storable_row(row)
            connection.execute(turns.insert(), kept)
            is_owner = sessions.c.session_key == owner.session_key
            connection.execute(update(sessions).where(is_owner).values(last_position=position))
            return _stored(kept)

    def find_request(self, user: str, session: str, request_id: str) -> StoredTurn | None:
        """The turn that a request was answered with. Raises ConversationError."""
        with self._database.transaction() as connection:
            owner = self._session(connection, user, session)
            return None if owner is None else _by_request(connection, owner.session_key, request_id)

    def find_turn(self, user: str, turn_id: str) -> StoredTurn | None:
        """A turn of one of the user's sessions. Raises ConversationError."""
        of_user = and_(turns.c.turn_id == turn_id, sessions.c.user_name == user, self._is_ours)
        query = select(turns).join(sessions, turns.c.session_key == sessions.c.session_key).where(of_user)
        with self._database.transaction() as connection:
            row = connection.execute(query).one_or_none()
        return None if row is None else _stored(row._mapping)

    def save_summary(self, user: str, session: str, text: str, *, through: int, after_version: int) -> Summary:
        """Keeps the summary that follows version `after_version` and covers the turns up to `through` (D07). Where
        somebody else was faster, theirs is returned. Raises ConversationError."""
        with self._database.transaction(writes=True) as connection:
            owner = self._session(connection, user, session, lock=True)
            if owner is None or through > owner.last_position:
                raise ConversationError(f"session {session!r} has no turn {through} to summarise")
            last = _last_summary(connection, owner.session_key)
            if last is not None and last.version > after_version:
                return last
            row = {
                "session_key": owner.session_key,
                "version": after_version + 1,
                "through": through,
                "text": text,
                "created_utc": stamp(self._now()),
            }
            connection.execute(summaries.insert(), storable_row(row))
            return Summary(after_version + 1, through, storable(text))

    def sessions(self, user: str) -> tuple[Session, ...]:
        """The sessions of a user, by name. Raises ConversationError."""
        query = select(sessions).where(sessions.c.user_name == user, self._is_ours).order_by(sessions.c.name)
        with self._database.transaction() as connection:
            return tuple(Session(row.name, row.last_position, row.created_utc) for row in connection.execute(query))

    def delete_session(self, user: str, session: str) -> Deleted:
        """Deletes a session with its turns, its summaries and what the query log has of it, for good. Raises
        ConversationError."""
        return self._delete(
            and_(sessions.c.user_name == user, sessions.c.name == session, self._is_ours),
            and_(_logged.c.user_name == user, _logged.c.session == session, _logged.c.clearance == self._clearance),
        )

    def delete_user(self, user: str) -> Deleted:
        """Deletes all sessions of a user at any clearance, and all that the query log has of them, for good. Raises
        ConversationError."""
        return self._delete(sessions.c.user_name == user, _logged.c.user_name == user)

    def close(self) -> None:
        self._database.close()

    def _delete(self, which: ColumnElement[bool], records: ColumnElement[bool]) -> Deleted:
        with self._database.transaction(writes=True) as connection:
            keys = list(connection.execute(select(sessions.c.session_key).where(which).with_for_update()).scalars())
            of_them = turns.c.session_key.in_(keys)
            count = int(connection.execute(select(func.count()).select_from(turns).where(of_them)).scalar_one())
            connection.execute(delete(summaries).where(summaries.c.session_key.in_(keys)))
            connection.execute(delete(turns).where(of_them))
            connection.execute(delete(sessions).where(sessions.c.session_key.in_(keys)))
            connection.execute(delete(_logged).where(records))
        return Deleted(len(keys), count, self._database.erase_deleted())

    def _begun(self, connection: Connection, user: str, name: str) -> Any:
        """The session, locked until the end of the transaction."""
        known = self._session(connection, user, name, lock=True)
        if known is not None:
            return known
        for what, value in (("user", user), ("session", name)):
            if not value.strip() or len(value) > _MAX_NAME:
                raise ConversationError(f"the name of a {what} has 1 to {_MAX_NAME} characters, got {value[:40]!r}")
        if connection.dialect.name == "postgresql":
            from sqlalchemy.dialects.postgresql import insert
        else:
            from sqlalchemy.dialects.sqlite import insert  # type: ignore[assignment]
        row = {
            "user_name": user,
            "name": name,
            "clearance": self._clearance,
            "last_position": 0,
            "created_utc": stamp(self._now()),
        }
        connection.execute(insert(sessions).values(storable_row(row)).on_conflict_do_nothing())
        return self._session(connection, user, name, lock=True)

    def _session(self, connection: Connection, user: str, name: str, *, lock: bool = False) -> Any:
        is_named = and_(sessions.c.user_name == storable(user), sessions.c.name == storable(name), self._is_ours)
        query = select(sessions).where(is_named)
        return connection.execute(query.with_for_update() if lock else query).one_or_none()


def _last_summary(connection: Connection, session_key: int, before: int | None = None) -> Summary | None:
    """The newest; of those that cover less than `before` turns where that is given."""
    of_session = summaries.c.session_key == session_key
    if before is not None:
        of_session = and_(of_session, summaries.c.through < before)
    query = select(summaries).where(of_session).order_by(summaries.c.version.desc()).limit(1)
    row = connection.execute(query).one_or_none()
    return None if row is None else Summary(row.version, row.through, row.text)


def _by_request(connection: Connection, session_key: int, request_id: str) -> StoredTurn | None:
    is_request = and_(turns.c.session_key == session_key, turns.c.request_id == storable(request_id))
    row = connection.execute(select(turns).where(is_request)).one_or_none()
    return None if row is None else _stored(row._mapping)


def _stored(row: Any) -> StoredTurn:
    values = {name: value for name, value in row.items() if name != "session_key"}
    return StoredTurn(**(values | {"request_id": row["request_id"] or ""}))
