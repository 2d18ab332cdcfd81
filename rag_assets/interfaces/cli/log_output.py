"""The query log and its turns, as tables for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rag_assets.interfaces.cli.output import Output, Part, Style, counted, seconds, short
from rag_assets.interfaces.cli.turns import SHORT_ID

if TYPE_CHECKING:
    from rag_assets.query.pipeline.log_detail import TurnDetail
    from rag_assets.query.pipeline.log_totals import Spread, Totals
    from rag_assets.query.pipeline.replaying import Replay
    from rag_assets.query.pipeline.state import CallRecord, StepRecord
    from rag_assets.stores.query_log import Asked, LogRecord

_QUESTION_CHARS = 60  # the rest of a wide line
_MINUTE_CHARS = 16  # of `2026-01-31T12:00`
_DIFF_STYLES: dict[str, Style] = {"+": "good", "-": "bad", "@": "dim"}


def show_log(output: Output, asked: Sequence[Asked], totals: Totals) -> None:
    titles = ("TURN", "ASKED (UTC)", "STATUS", "LABEL", "TOOK", "TOKENS", "QUESTION")
    rows = [
        (
            one.turn_id[:SHORT_ID],
            _minute(one.asked_utc),
            one.status,
            one.label,
            seconds(one.seconds),
            _tokens(one.prompt_tokens + one.completion_tokens),
            _cut(one.question),
        )
        for one in asked
    ]
    widths = [max(len(row[at]) for row in (titles, *rows)) for at in range(len(titles))]
    for number, row in enumerate((titles, *rows)):
        cells = [
            cell.rjust(width) if titles[at] in ("TOOK", "TOKENS") else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
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
    """The way of one turn: what was asked of what, every step and call, the evidence, the answer."""
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
    """Whether the same came of it, what decides turns and has changed, and the difference."""
    turn = record.turn_id[:SHORT_ID]
    for change in replay.lock:
        output.line(("changed since  ", "warn"), change)
    if replay.threshold is not None:
        then, now = replay.threshold
        output.line(("changed since  ", "warn"), f"threshold: {then:.3f}, as in this replay → {now:.3f}")
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


def _spent(record: Asked) -> str:
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


def _minute(stamp: str) -> str:
    return stamp[:_MINUTE_CHARS].replace("T", " ")


def _cut(question: str) -> str:
    line = " ".join(question.split())
    return line if len(line) <= _QUESTION_CHARS else f"{line[: _QUESTION_CHARS - 1]}…"
