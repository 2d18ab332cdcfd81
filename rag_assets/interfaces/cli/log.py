"""`rag-assets log`: what was asked, newest first, and what that took."""

from __future__ import annotations

import dataclasses
import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from rag_assets.interfaces.cli.labels import label_named
from rag_assets.interfaces.cli.session import session_of

if TYPE_CHECKING:
    from rag_assets.interfaces.cli.session import Session
    from rag_assets.stores.query_log import QueryLog

DEFAULT_LISTED = 20
"""One screen. The totals are of all."""

_AGO = re.compile(r"(?P<count>\d{1,6})\s*(?P<unit>[mhdw])")
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def log(
    context: typer.Context,
    label: Annotated[str | None, typer.Option("--label", "-l", help="Only questions to this index.")] = None,
    session_name: Annotated[str, typer.Option("--session", help="Only those of this session.")] = "",
    user: Annotated[str, typer.Option("--user", help="Only those of this user.")] = "",
    agent: Annotated[str, typer.Option("--agent", help="Only those that this agent was asked.")] = "",
    since: Annotated[
        str | None, typer.Option(metavar="TIME", help="Only newer ones: 30m, 24h, 7d, 2w, 2026-01-31 or a time (UTC).")
    ] = None,
    status: Annotated[str, typer.Option(help="Only those that ended so: answered, abstained, failed, error …")] = "",
    limit: Annotated[int, typer.Option("--limit", "-n", min=0, help="How many to list; 0 for all.")] = DEFAULT_LISTED,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """List the questions that were asked, newest first, and their totals. See one with: rag-assets trace"""
    from rag_assets.interfaces.cli.log_output import show_log
    from rag_assets.interfaces.cli.turns import nothing_logged, query_log
    from rag_assets.query.pipeline.log_totals import totals_of
    from rag_assets.stores.query_log import Wanted

    session = session_of(context)
    with query_log(session) as opened:
        wanted = Wanted(
            label=_label(session, opened, label) if label else "",
            session=session_name,
            user=user,
            agent=agent,
            status=_status(status),
            since=_since(since, datetime.now(UTC)),
        )
        asked = opened.asked(wanted, limit or None)
        totals = totals_of(opened.figures(wanted))
        if as_json:
            session.output.json(
                {
                    "log": opened.name,
                    "totals": dataclasses.asdict(totals),
                    "turns": list(map(dataclasses.asdict, asked)),
                }
            )
        elif asked:
            show_log(session.output, asked, totals)
        elif wanted == Wanted():
            session.output.line(nothing_logged(session, opened))
        else:
            session.output.line("no question is like this; see all with: rag-assets log")


def _label(session: Session, opened: QueryLog, wanted: str) -> str:
    """Of the labels that were asked, which may be gone, and of those that are there. Raises CommandError."""
    return label_named(sorted({*opened.labels(), *session.home().known_labels()} - {""}), wanted)


def _status(wanted: str) -> str:
    from rag_assets.query.pipeline.state import Status
    from rag_assets.stores.query_log import ERROR

    valid = [*(status.value for status in Status), ERROR]
    if wanted and wanted not in valid:
        raise typer.BadParameter(f"{wanted!r} is none of: {', '.join(valid)}", param_hint="--status")
    return wanted


def _since(written: str | None, now: datetime) -> str:
    from rag_assets.stores.periods import PeriodError, moment
    from rag_assets.stores.sql_text import stamp

    if written is None:
        return ""
    ago = _AGO.fullmatch(written.strip().lower())
    try:
        if ago:
            return stamp(now - timedelta(**{_UNITS[ago["unit"]]: int(ago["count"])}))
        return stamp(moment(written))
    except PeriodError as error:
        raise typer.BadParameter(f"{error}; or how long ago: 30m, 24h, 7d, 2w", param_hint="--since") from None
    except OverflowError:
        raise typer.BadParameter(f"{written!r} is before all time", param_hint="--since") from None
