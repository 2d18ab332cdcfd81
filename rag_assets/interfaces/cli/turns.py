"""The query log of a home, and the turns in it that people name."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING, Annotated

import typer

from rag_assets.interfaces.cli.failures import CommandError
from rag_assets.interfaces.cli.session import Session

if TYPE_CHECKING:
    from rag_assets.settings import Settings
    from rag_assets.stores.query_log import LogRecord, QueryLog

SHORT_ID = 8
"""Digits that tables show: among a million turns two begin alike in 1 of 4,000 cases each, which is told."""

_SHOWN = 5
_LOOKED_AT = 1_000  # newest ids that a mistyped one is compared with
_HEX = re.compile(r"[0-9a-f]+")

TurnArgument = Annotated[
    str | None,
    typer.Argument(metavar="TURN", help="Its id, or the beginning of it; see: rag-assets log. Default: the last one."),
]


def asking_settings(session: Session) -> Settings:
    """The settings that questions are asked with: of the configuration in use, else of the one of the home. Raises
    ConfigError."""
    from rag_assets.config_file import config_of
    from rag_assets.settings import load_settings

    return load_settings(config_of(session.home().root, session.config_option))


def query_log(session: Session) -> QueryLog:
    """The log that questions are kept in. Raises ConfigError and CatalogError."""
    from rag_assets.stores.query_log import open_query_log

    return open_query_log(session.home(), asking_settings(session).stores.catalog, clearance=session.clearance())


def nothing_logged(session: Session, log: QueryLog) -> str:
    """Why a log is empty, and what fills it."""
    if not asking_settings(session).answer.log:
        return f"no question is in {log.name}, because answer.log is false"
    return f"no question is in {log.name}; ask one: rag-assets ask"


def turn_named(session: Session, log: QueryLog, word: str | None) -> LogRecord:
    """The one turn whose id begins so; the last one without a word. Raises CommandError naming what there is."""
    newest = log.ids(limit=1)
    if not newest:
        raise CommandError(nothing_logged(session, log))
    if word is None:
        found = newest
    else:
        wanted = word.strip().lower()
        found = log.ids(wanted, limit=_SHOWN + 1) if _HEX.fullmatch(wanted) else ()
        if len(found) > 1:
            more = " and more" if len(found) > _SHOWN else ""
            raise CommandError(f"several turns begin with {word!r}: {', '.join(found[:_SHOWN])}{more}; type more of it")
        if not found:
            raise CommandError(_unknown(log, wanted))
    record = log.find(found[0])
    if record is None:
        raise CommandError(f"turn {found[0]} was deleted just now; see: rag-assets log")
    return record


def _unknown(log: QueryLog, wanted: str) -> str:
    known = log.ids(limit=_LOOKED_AT)
    beginnings = {one[: len(wanted)]: one for one in reversed(known)}
    near = difflib.get_close_matches(wanted, beginnings, n=_SHOWN)
    hint = f"did you mean {' or '.join(beginnings[one] for one in near)}?" if near else f"the last one is {known[0]}."
    return f"no turn {wanted!r}; {hint} All of them: rag-assets log"
