"""`rag-assets trace`: the way of one question to its answer, down to commits, lines and runs."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rag_assets.interfaces.cli.session import session_of
from rag_assets.interfaces.cli.turns import TurnArgument

if TYPE_CHECKING:
    from rag_assets.query.pipeline.log_detail import TurnDetail
    from rag_assets.stores.query_log import LogRecord


def trace(
    context: typer.Context,
    turn: TurnArgument = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """Show how a question was answered: its steps and calls, what was retrieved and cited, and from which builds."""
    from rag_assets.interfaces.cli.log_output import show_trace
    from rag_assets.interfaces.cli.turns import query_log, turn_named
    from rag_assets.query.pipeline.log_detail import read_detail

    session = session_of(context)
    with query_log(session) as log:
        record = turn_named(session, log, turn)
    detail = read_detail(record.detail)
    if as_json:
        session.output.json(trace_object(record, detail))
    else:
        show_trace(session.output, record, detail)


def trace_object(record: LogRecord, detail: TurnDetail) -> dict[str, Any]:
    """The object of `trace --json`: the columns of the log, and below them what else is kept of the turn."""
    import msgspec

    from rag_assets.query.pipeline.log_detail import read_replies

    columns: dict[str, Any] = dataclasses.asdict(record)
    for name in ("detail", "replies"):
        del columns[name]
    lock = {"lock_digest": detail.lock.digest if detail.lock is not None else None}
    replies = msgspec.to_builtins(read_replies(record.replies)) if record.replies else None
    columns |= msgspec.to_builtins(detail)
    return columns | lock | {"replies": replies}
