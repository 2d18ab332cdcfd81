"""`rag-assets log` lists the questions that were asked, `trace` shows how one was answered, `replay` runs one again."""

from __future__ import annotations

import dataclasses
import difflib
import re
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer

from rag_assets.cli.agent import agent_library
from rag_assets.cli.ask import AskedPacks, known_profile
from rag_assets.cli.console import FAILURE, CommandError, Output, Part, Style, aligned, counted, seconds, short
from rag_assets.cli.options import AgentFolders, AsJson, CliSession, existing_folders, session_of
from rag_assets.contracts.confidentiality import Confidentiality
from rag_assets.history.query_log import ERROR, LogFilter, LoggedQuestion, LogRecord, QueryLog, open_query_log
from rag_assets.index.database import stamp
from rag_assets.index.layout import label_named
from rag_assets.index.vectors.filters import PeriodError, moment
from rag_assets.qa.definition.loader import library_of
from rag_assets.qa.log.query_log_record import Spread, Totals, TurnDetail, read_detail, read_replies, totals_of
from rag_assets.qa.turn import CallRecord, Status, StepRecord

if TYPE_CHECKING:
    from rag_assets.qa.chat_model import AskModel
    from rag_assets.qa.log.replay import Replay
    from rag_assets.settings import AnswerSettings

SHORT_ID = 8
"""Digits that tables show: among a million turns, a short id is ambiguous in 1 of 4,000 cases, and is reported then."""

_SHOWN_TURNS = 5
_LOOKED_AT = 1_000  # newest ids that a mistyped one is compared with
_HEX = re.compile(r"[0-9a-f]+")
TurnArgument = Annotated[
    str | None,
    typer.Argument(metavar="TURN", help="Its id, or the beginning of it; see: rag-assets log. Default: the last one."),
]
DEFAULT_LISTED = 20
"""One screen. The totals are of all."""

_AGO = re.compile(r"(?P<count>\d{1,6})\s*(?P<unit>[mhdw])")
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_QUESTION_CHARS = 60  # the rest of a wide line
_MINUTE_CHARS = 16  # of `2026-01-31T12:00`
_DIFF_STYLES: dict[str, Style] = {"+": "good", "-": "bad", "@": "dim"}


def log(
    context: typer.Context,
    label: Annotated[str | None, typer.Option("--label", "-l", help="Only questions to this index.")] = None,
    session_name: Annotated[str, typer.Option("--session", help="Only those of this session.")] = "",
    user: Annotated[str, typer.Option("--user", help="Only those of this user.")] = "",
    agent: Annotated[str, typer.Option("--agent", help="Only those that this agent answered.")] = "",
    since: Annotated[
        str | None, typer.Option(metavar="TIME", help="Only newer ones: 30m, 24h, 7d, 2w, 2026-01-31 or a time (UTC).")
    ] = None,
    status: Annotated[
        str, typer.Option(help="Only those with this status: answered, unsure, abstained, failed, error …")
    ] = "",
    limit: Annotated[int, typer.Option("--limit", "-n", min=0, help="How many to list; 0 for all.")] = DEFAULT_LISTED,
    as_json: AsJson = False,
) -> None:
    """List the questions that were asked, newest first, and their totals. Show one with: rag-assets trace

    Example: rag-assets log --since 7d --status abstained
    """
    session = session_of(context)
    with query_log(session) as opened:
        wanted = LogFilter(
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
        elif wanted == LogFilter():
            session.output.line(nothing_logged(session, opened))
        else:
            session.output.line("no question matches these options; list all with: rag-assets log")


def trace(
    context: typer.Context,
    turn: TurnArgument = None,
    as_json: AsJson = False,
) -> None:
    """Show how a question was answered: its steps and calls, what was retrieved and cited, and from which builds.

    Example: rag-assets trace 1f3a9c42
    """
    session = session_of(context)
    with query_log(session) as log:
        record = turn_named(session, log, turn)
    detail = read_detail(record.detail)
    if as_json:
        session.output.json(trace_object(record, detail))
    else:
        show_trace(session.output, record, detail)


def replay(
    context: typer.Context,
    turn: TurnArgument = None,
    live: Annotated[bool, typer.Option("--live", help="Ask the configured model again.")] = False,
    profile: Annotated[
        str | None,
        typer.Option(callback=known_profile, help="With --live, which model answers: cheap, balanced or premium."),
    ] = None,
    packs: AskedPacks = None,
    agents: AgentFolders = None,
    as_json: AsJson = False,
) -> None:
    """Run a logged question again, on the same builds and with the recorded replies of the model. Keeps nothing.

    Exit code 0 when the answer is the same, 1 when it is different.

    Example: rag-assets replay 1f3a9c42
    """
    # Start-up budget: `log` and `trace` load nothing that answers.
    from rag_assets.models.openai_compat.token_counting import token_counter
    from rag_assets.qa.answering import history_of
    from rag_assets.qa.log.replay import Replayer

    if profile is not None and not live:
        raise typer.BadParameter("only a --live replay asks a model", param_hint="--profile")
    session = session_of(context)
    home, answer = session.home(), session.settings().answer
    with query_log(session) as log:
        record = turn_named(session, log, turn)
    model = _live_model(answer, profile) if live else None
    with ExitStack() as stack:
        conversations = partial(history_of, home, session.config_option, Confidentiality(record.clearance))
        history = stack.enter_context(conversations()) if record.session else None
        replayer = Replayer(
            home,
            library_of(session.config(), existing_folders(packs, "--pack")),
            agents=agent_library(session, agents) if record.agent else None,
            config=session.config_option,
            clearance=session.clearance(),
            history=history,
            count_tokens=token_counter(answer.tokenizer),
            threshold=answer.threshold,
            sure=answer.sure,
        )
        replayed = replayer.replay(record, model)
    for warning in replayed.warnings:
        session.output.warning(warning)
    if as_json:
        session.output.json(replay_object(record, replayed, live))
    else:
        show_replay(session.output, record, replayed)
    if not replayed.same:
        raise typer.Exit(FAILURE)


def _label(session: CliSession, opened: QueryLog, wanted: str) -> str:
    """The label that `wanted` names, among the logged and the known ones. Raises CommandError."""
    return label_named(sorted({*opened.labels(), *session.home().known_labels()} - {""}), wanted)


def _status(wanted: str) -> str:
    valid = [*(status.value for status in Status), ERROR]
    if wanted and wanted not in valid:
        raise typer.BadParameter(f"{wanted!r} is none of: {', '.join(valid)}", param_hint="--status")
    return wanted


def _since(written: str | None, now: datetime) -> str:
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


def query_log(session: CliSession) -> QueryLog:
    """The open query log. Raises ConfigError and CatalogError."""
    return open_query_log(session.home(), session.settings().stores.catalog, clearance=session.clearance())


def nothing_logged(session: CliSession, log: QueryLog) -> str:
    """Why the log is empty, and the command that fills it."""
    if not session.settings().answer.log:
        return f"no question is in {log.name}, because answer.log is false"
    return f"no question is in {log.name}; ask one: rag-assets ask"


def turn_named(session: CliSession, log: QueryLog, word: str | None) -> LogRecord:
    """The turn whose id begins with `word`, without a word the last one. Raises CommandError with similar ids."""
    newest = log.ids(limit=1)
    if not newest:
        raise CommandError(nothing_logged(session, log))
    if word is None:
        found = newest
    else:
        wanted = word.strip().lower()
        found = log.ids(wanted, limit=_SHOWN_TURNS + 1) if _HEX.fullmatch(wanted) else ()
        if len(found) > 1:
            more = " and more" if len(found) > _SHOWN_TURNS else ""
            raise CommandError(
                f"several turns begin with {word!r}: {', '.join(found[:_SHOWN_TURNS])}{more}; type more of it"
            )
        if not found:
            raise CommandError(_unknown_turn(log, wanted))
    record = log.find(found[0])
    if record is None:
        raise CommandError(f"turn {found[0]} was deleted just now; see: rag-assets log")
    return record


def _unknown_turn(log: QueryLog, wanted: str) -> str:
    known = log.ids(limit=_LOOKED_AT)
    beginnings = {one[: len(wanted)]: one for one in reversed(known)}
    near = difflib.get_close_matches(wanted, beginnings, n=_SHOWN_TURNS)
    hint = f"did you mean {' or '.join(beginnings[one] for one in near)}?" if near else f"the last one is {known[0]}."
    return f"no turn {wanted!r}; {hint} All of them: rag-assets log"


def _live_model(answer: AnswerSettings, profile: str | None) -> AskModel:
    from rag_assets.qa.ask_options import configured_model

    model = configured_model(answer, profile)
    if model is None:
        raise CommandError("no model is configured for --live: set answer.base_url and a model, or replay without it")
    return model


def trace_object(record: LogRecord, detail: TurnDetail) -> dict[str, Any]:
    """The object of `trace --json`: the columns of the log, then the details of the turn."""
    columns: dict[str, Any] = dataclasses.asdict(record)
    for name in ("detail", "replies"):
        del columns[name]
    lock = {"lock_digest": detail.lock.digest if detail.lock is not None else None}
    replies = msgspec.to_builtins(read_replies(record.replies)) if record.replies else None
    columns |= msgspec.to_builtins(detail)
    return columns | lock | {"replies": replies}


def replay_object(record: LogRecord, replayed: Replay, live: bool) -> dict[str, Any]:
    return {
        "turn_id": record.turn_id,
        "live": live,
        "same": replayed.same,
        "lock_differences": list(replayed.lock),
        "threshold": _then_and_now(replayed.threshold),
        "sure": _then_and_now(replayed.sure),
        "then": dataclasses.asdict(replayed.then),
        "now": dataclasses.asdict(replayed.now),
        "diff": list(replayed.diff),
        "warnings": list(replayed.warnings),
    }


def _then_and_now(pair: tuple[float, float] | None) -> dict[str, float] | None:
    return None if pair is None else dict(zip(("then", "now"), pair, strict=True))


def show_log(output: Output, asked: Sequence[LoggedQuestion], totals: Totals) -> None:
    titles = ("TURN", "ASKED (UTC)", "STATUS", "LABEL", "TOOK", "TOKENS", "QUESTION")
    rows = [
        (
            one.turn_id[:SHORT_ID],
            one.asked_utc[:_MINUTE_CHARS].replace("T", " "),
            one.status,
            one.label,
            seconds(one.seconds),
            _tokens(one.prompt_tokens + one.completion_tokens),
            _cut(one.question),
        )
        for one in asked
    ]
    for number, cells in enumerate(aligned((titles, *rows), right=("TOOK", "TOKENS"))):
        output.line(("  ".join(cells).rstrip(), "plain" if number else "dim"))
    output.line()
    for line in _totals(totals, len(asked)):
        output.line((line, "dim"))


def _totals(totals: Totals, listed: int) -> list[str]:
    shown = "" if listed == totals.questions else f" ({listed} listed)"
    cost = "" if totals.cost is None else f", cost {totals.cost:.4f}"
    return [
        f"{counted(totals.questions, 'question')}{shown}, {totals.refused:,} refused, {totals.failed:,} failed, "
        f"{totals.prompt_tokens:,} prompt and {totals.completion_tokens:,} answer tokens{cost}",
        f"retrieval {_spread(totals.retrieval)}; generation {_spread(totals.generation)}",
    ]


def show_trace(output: Output, record: LogRecord, detail: TurnDetail) -> None:
    """Shows one turn: the question, every step and call, the evidence, the answer."""
    output.line(("turn ", "dim"), (record.turn_id, "bold"), f"  {record.asked_utc}  ", _styled(record.status))
    _show_facts(output, record, detail)
    output.line(("steps", "bold"))
    for step in detail.steps:
        _show_step(output, step)
    output.line((f"evidence ({len(record.cited_ids)} of {len(detail.pieces)} cited)", "bold"))
    several = len(detail.indexes) > 1
    for piece in sorted(detail.pieces, key=lambda piece: not piece.cites):
        mark: Part = ("  cited ", "good") if piece.cites else "        "
        label = f"{piece.label}  " if several else ""
        output.line(
            mark,
            (f"{piece.id}  ", "dim"),
            label,
            (piece.rendered, "path"),
            f"  {piece.section}",
            (f"  {piece.origin} {piece.score:.3f}", "dim"),
        )
    if record.error:
        output.line(("error", "bad"))
        output.text(record.error)
    if detail.answer:
        output.line(("answer", "bold"))
        output.text(detail.answer)
    output.note(f"run it again with: rag-assets replay {record.turn_id[:SHORT_ID]}")


def show_replay(output: Output, record: LogRecord, replay: Replay) -> None:
    """Shows whether the answer is the same, what has changed since, and the difference."""
    turn = record.turn_id[:SHORT_ID]
    for change in replay.lock:
        output.line(("changed since  ", "warn"), change)
    for name, pair in (("threshold", replay.threshold), ("sure from", replay.sure)):
        if pair is not None:
            then, now = pair
            output.line(("changed since  ", "warn"), f"{name}: {then:.3f}, as in this replay → {now:.3f}")
    if replay.then.models != replay.now.models:
        output.line(("models  ", "warn"), f"{_listed(replay.then.models)} → {_listed(replay.now.models)}")
    if replay.same:
        output.line(("the same ", "good"), f"came of turn {turn}: {replay.now.status}, character by character")
        return
    output.line(("different: ", "bad"), f"turn {turn} was {replay.then.status}, now it is {replay.now.status}")
    if replay.now.error:
        output.line(("now: ", "bad"), replay.now.error)
    for line in replay.diff:
        output.line((line, _DIFF_STYLES.get(line[:1], "plain")))


def _show_facts(output: Output, record: LogRecord, detail: TurnDetail) -> None:
    who = f"{record.user_name}, session {record.session}" if record.session else record.user_name
    agent = f", agent {record.agent}" if record.agent else ""
    facts = {
        "question": record.question,
        "read as": detail.question_en if detail.question_en != record.question else "",
        "asked by": f"{who}{agent}",
        "pipeline": f"{record.pipeline}  {detail.pipeline_file}".rstrip(),
        "lock": detail.lock.digest if detail.lock is not None else "none: it ended before it had one",
        "took": f"{seconds(record.seconds)}: retrieval {seconds(record.retrieval_seconds)}, "
        f"generation {seconds(record.generation_seconds)}",
        "confidence": "" if detail.confidence is None else f"{detail.confidence:.2f}",
        "because": detail.reason,
        "models": f"{_listed(record.models)}; {_spent(record)}" if record.calls else "",
    }
    for name, value in facts.items():
        if value:
            output.line((f"  {name:10}  ", "dim"), value)
    for warning in detail.warnings:
        output.line(("  warning     ", "warn"), warning)
    for index in detail.indexes:
        owner = "/".join(filter(None, (index.org, index.project)))
        output.line(
            ("  index       ", "dim"),
            (index.label, "path"),
            f"  commit {short(index.commit)}  generation {index.generation}  run {index.run_id or 'unknown'}  {owner}",
        )


def _show_step(output: Output, step: StepRecord) -> None:
    follows = f" → {step.target}" if step.target else ""
    output.line(
        (f"  {step.number:2}  ", "dim"),
        f"{step.step}  ",
        (f"{step.action}  ", "dim"),
        f"{step.outcome}{follows}",
        (f"  {step.seconds * 1_000:.1f} ms", "dim"),
    )
    for call in step.calls:
        output.line(("        asked ", "dim"), _called(call))
    for note in step.notes:
        output.line((f"        {note}", "dim"))


def _called(call: CallRecord) -> str:
    cost = "" if call.cost is None else f", cost {call.cost:.4f}"
    if call.error:
        return f"{call.profile} for {call.purpose}, {seconds(call.seconds)}: {call.error}"
    return (
        f"{call.profile} for {call.purpose}: {call.model}, {call.prompt_tokens:,} + {call.completion_tokens:,} tokens"
        f"{cost}, {seconds(call.seconds)}"
    )


def _spent(record: LoggedQuestion) -> str:
    cost = "" if record.cost is None else f", cost {record.cost:.4f}"
    return f"{record.prompt_tokens:,} prompt and {record.completion_tokens:,} answer tokens{cost}"


def _spread(spread: Spread) -> str:
    if spread.p50 is None or spread.p95 is None:
        return "none"
    return f"p50 {seconds(spread.p50)}, p95 {seconds(spread.p95)}"


def _styled(status: str) -> tuple[str, Style]:
    good = status in ("answered", "general")
    return status, "good" if good else "bad" if status in ("failed", "error") else "warn"


def _listed(models: Sequence[str]) -> str:
    return ", ".join(models) or "none"


def _tokens(count: int) -> str:
    return f"{count:,}" if count else ""


def _cut(question: str) -> str:
    line = " ".join(question.split())
    return line if len(line) <= _QUESTION_CHARS else f"{line[: _QUESTION_CHARS - 1]}…"
