"""What `search` prints: places with the lines and members that answer, as much of each hit as the reader wants."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Sequence
from functools import cache
from shutil import get_terminal_size
from typing import TYPE_CHECKING

from rag_assets.cli.console import Part, counted, short, staleness
from rag_assets.cli.options import CliSession
from rag_assets.contracts.retrieval import Mode
from rag_assets.index.freshness import FreshnessOf
from rag_assets.search import Hit, SearchResult
from rag_assets.search.outline import (
    NARROW,
    Detail,
    Page,
    asked_stems,
    counts_by_folder,
    done_by,
    kind_of,
    lines_under,
    named_part,
    place_of,
    stems_in,
    within,
)

if TYPE_CHECKING:
    from rag_assets.search.compare_labels import ComparedSearch

Line = list[Part]

_CHANGE_WIDTH = 8
_RUN = re.compile(r"\w+")
_MOST_FOLDERS = 20
_INDENT = 14  # and the numbers before a line
_WIDEST = 120


def show(session: CliSession, result: SearchResult, freshness: FreshnessOf, page: Page) -> None:
    """Hits with what answers, then how new the index is and what to do next."""
    output = session.output
    if not result.hits:
        output.note(f"nothing found; {what_helps(result)}")
    head = _understood(result) if page.explain else []
    if result.similar_to:
        head.append(_hit_line("similar to ", result.similar_to, label=not result.label))
    foot = _footer(session, result, freshness, page)
    for line in fitted(result, page, head, foot):
        output.line(*line)


def fitted(result: SearchResult, page: Page, head: Sequence[Line], foot: Sequence[Line]) -> list[Line]:
    """The lines of a page that cost no more than the reader wants."""
    asked, hits = asked_stems(result.question), result.hits
    label = not result.label
    wanted = page.detail or Detail.SNIPPET

    @cache  # a budget asks for the same ones again
    def lines_of(at: int, detail: Detail) -> list[Line]:
        return _hit_lines(at + 1, hits[at], detail, asked, label=label, explain=page.explain)

    if page.max_tokens is None:
        return [*head, *(line for at in range(len(hits)) for line in lines_of(at, wanted)), *foot]
    room = page.max_tokens - _tokens([*head, *foot])
    details = within(room, len(hits), wanted, lambda at, detail: _tokens(lines_of(at, detail)))
    if details is not None:
        return [*head, *(line for at, detail in enumerate(details) for line in lines_of(at, detail)), *foot]
    places = sum(_tokens(lines_of(at, Detail.PLACES)) for at in range(len(hits)))
    needed = page.max_tokens - room + places
    return _counted_by_folder(hits, page.max_tokens, needed)


def _counted_by_folder(hits: Sequence[Hit], budget: int, needed: int) -> list[Line]:
    """How many hits are in which folder, and what their places would cost; without the folders where these cost too
    much."""
    folders = counts_by_folder(hits)
    rows: list[Line] = [[(f"{folder}/", "path"), f"  {counted(count, 'hit')}"] for folder, count in folders]
    more: Line = [(f"{counted(len(hits), 'hit')}; their places: --max-tokens {needed}", "dim")]
    for kept in (rows, rows[:_MOST_FOLDERS] if len(rows) > _MOST_FOLDERS else []):
        if kept and _tokens([*kept, more]) <= budget:
            return [*kept, more]
    return [more]


def _tokens(lines: Sequence[Line]) -> int:
    if not lines:
        return 0
    from rag_assets.models.openai_compat.token_counting import estimate_tokens  # only for a budget

    written = ("".join(part if isinstance(part, str) else part[0] for part in line) for line in lines)
    return sum(estimate_tokens(list(written))) + len(lines)


def _hit_lines(rank: int, hit: Hit, detail: Detail, asked: frozenset[str], *, label: bool, explain: bool) -> list[Line]:
    lines: list[Line] = [_hit_line(f"{rank:>2}  ", hit, label=label)]
    if explain:
        scores = ", ".join(f"{name} {value:.3f}" for name, value in hit.scores.items())
        text = "in the work tree" if hit.work_tree else f"as of commit {short(hit.file_commit_sha)}"
        since = f"{text}, {hit.file_date[:10]}"
        found = f"{hit.score:.3f}  {scores or 'no score'}  point {hit.point_id}"
        lines.append([(f"    {found}  section of lines {hit.start_line}-{hit.end_line}  {since}", "dim")])
    return [*lines, *_under(hit, rank, detail, asked)]


def _under(hit: Hit, rank: int, detail: Detail, asked: frozenset[str]) -> list[Line]:
    found = list(lines_under(hit, rank, detail, asked, _width()))
    width = max((len(line.place) for line in found if line.is_source), default=0)
    made: list[Line] = []
    for line in found:
        place = line.place.rjust(width) if line.is_source else line.place
        text = _marked(line.text, asked, plain="plain" if line.is_source else "dim")
        made.append([(f"    {place}  " if place else "    ", "dim"), *text])
    return made


def _width() -> int:
    """Of a line under a hit: that of a terminal, else as narrow as it pays."""
    if not sys.stdout.isatty():
        return NARROW
    return max(NARROW, min(get_terminal_size().columns - _INDENT, _WIDEST))


def _marked(text: str, asked: frozenset[str], *, plain: str) -> Line:
    """A text with the words of the question set off."""
    parts: Line = []
    done = 0
    for run in _RUN.finditer(text):
        if stems_in(run[0], asked):
            parts += [_styled(text[done : run.start()], plain), (run[0], "good")]
            done = run.end()
    return [part for part in (*parts, _styled(text[done:], plain)) if part and part[0]]


def _styled(text: str, style: str) -> Part:
    return (text, "dim") if style == "dim" else text


def show_compared(session: CliSession, found: ComparedSearch, freshness: FreshnessOf, page: Page) -> None:
    """Sections that either label found, with what became of each and its rank in both."""
    output, asked = session.output, asked_stems(found.new.question)
    for line in _understood(found.new) if page.explain else []:
        output.line(*line)
    for row in found.hits:
        hit = row.new or row.old
        assert hit is not None
        ranks = f"{_rank(row.old, row.old_rank)} → {_rank(row.new, row.new_rank)}"
        output.line(*_hit_line(f"{row.change:<{_CHANGE_WIDTH}} {ranks:<10}  ", hit, label=False))
        if row.old and row.new and row.old.path != row.new.path:
            output.line((f"    was {row.old.path}", "dim"))
        for line in _under(hit, row.new_rank or row.old_rank or 1, page.detail or Detail.SNIPPET, asked):
            output.line(*line)
    if not found.hits:
        output.note(f"nothing found; {what_helps(found.new)}")
    for side in (found.old, found.new):
        for line in _sources(side, freshness, page):
            output.line(*line)


_ALWAYS = ("org_id", "project_id", "label", "confidentiality")
"""Filters that every search has."""


def what_helps(result: SearchResult) -> str:
    """The next command. It follows from the question alone: what the index holds beyond the reader's clearance must not
    show in it."""
    filters = [name for name in result.filters if name not in _ALWAYS]
    if filters:
        return f"search without {' or '.join(filters)}, or see what is indexed of a file with: rag-assets explain PATH"
    if result.requested_mode == Mode.BM25:
        return "use other words, or search by meaning too with: --mode hybrid"
    return "use other words, or see what is indexed and what was skipped with: rag-assets status --skipped"


def _understood(result: SearchResult) -> list[Line]:
    question = result.question
    said = [f"{question.kind.value} question", f"looks for: {question.text}" if question.text else "lists what fits"]
    if question.symbols:
        said.append(f"names: {', '.join(question.symbols)}")
    if question.places:
        said.append(f"places: {', '.join(map(str, question.places))}")
    filters = "  ".join(f"{name}: {' | '.join(values)}" for name, values in result.filters.items())
    return [[(f"understood as {'; '.join(said)}", "dim")], [(f"filters  {filters}", "dim")]]


def _hit_line(before: str, hit: Hit, *, label: bool) -> Line:
    name = named_part(hit.symbol, hit.part_index, hit.part_total)
    kind = kind_of(hit)
    return [
        (before, "dim"),
        (f"{hit.label}  " if label else "", "dim"),
        (place_of(hit), "path"),
        "  ",
        (name, "bold"),
        (f"  {kind}" if kind else "", "dim"),
        ("  work tree" if hit.work_tree else "", "warn"),
    ]


def _rank(hit: Hit | None, rank: int) -> str:
    """`-` where the label does not have the section, `·` where it has it and did not find it."""
    if hit is None:
        return "-"
    return str(rank) if rank else "·"


def _sources(result: SearchResult, freshness: FreshnessOf, page: Page) -> list[Line]:
    lines: list[Line] = []
    for source in result.sources:
        if page.explain:
            run = f"  run {source.run_id}" if source.run_id else ""
            at = f"{source.label}  commit {short(source.commit_sha)}  generation {source.generation_id}{run}"
            lines.append([(at, "dim")])
        overlaid = result.overlaid.get(source.label, 0)
        lines.append([(f"{source.label}  ", "dim"), *staleness(freshness[source.label], source.label, overlaid)])
    if page.explain:
        spent = ", ".join(f"{step} {1000 * took:.1f} ms" for step, took in result.timings.items())
        found = ", ".join(f"{count} {side}" for side, count in result.candidates.items())
        terms = ", ".join(f"{term.term} in {term.sections}" for term in result.terms)
        lines += [
            [(f"{done_by(result)}: {spent}; candidates {found or 'none'}", "dim")],
            [(f"words: {terms}", "dim")],
        ]
    return lines


def _footer(session: CliSession, result: SearchResult, freshness: FreshnessOf, page: Page) -> list[Line]:
    """How new the indexes are; last what to do next."""
    lines = _sources(result, freshness, page)
    if not result.hits:
        return lines
    told: Line = []
    if not result.known_words and result.question.text:
        told.append(("no word of the question is in what was searched: these are near in meaning only; ", "warn"))
    hit = result.hits[0]
    label = session.option_of(hit.label)
    place = place_of(hit)
    written = shlex.quote(f"./{place}" if place.startswith("-") else place)  # no option of the command
    overlay = " --overlay" if hit.work_tree and page.overlay else ""
    told.append((f"next: {session.command()} read {written}{label}{overlay}", "dim"))
    return [*lines, told]
