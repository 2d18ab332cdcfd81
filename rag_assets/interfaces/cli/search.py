"""`rag-assets search`: the command that must feel instant, so it imports what a search needs and nothing else."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from typing import Annotated, Any

import typer

from rag_assets.contracts.kinds import SubtypeKind
from rag_assets.interfaces.cli.failures import NOTHING_FOUND
from rag_assets.interfaces.cli.labels import chosen_label, complete_label
from rag_assets.interfaces.cli.output import Output, Part, short
from rag_assets.interfaces.cli.session import session_of
from rag_assets.interfaces.freshness import Freshness, freshness_of
from rag_assets.query import open_index
from rag_assets.query.results import Hit, Mode, SearchResult

_SHOWN_LINES = 4  # of a snippet; `show` has the rest
_SHOWN_WIDTH = 160
_SAID_ABOVE = ("Domain:", "DomainSummary:", "Kind:", "Artifact:", "PrimaryEntity:")  # or said by every hit alike
_MAX_LIMIT = 1000


def _complete_kind(incomplete: str) -> list[str]:
    return [kind.value for kind in SubtypeKind if kind.startswith(incomplete)]


def search(
    context: typer.Context,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What to look for: words, a question, an identifier.")],
    label: Annotated[
        str | None,
        typer.Option(
            "--label",
            "-l",
            help="Which index. Default: the only one, or that of the current folder.",
            autocompletion=complete_label,
        ),
    ] = None,
    path: Annotated[
        str | None, typer.Option(help="Only files of this path, folder or glob (src/**/*Service.cs).")
    ] = None,
    kinds: Annotated[
        list[str] | None,
        typer.Option(
            "--kind",
            help="Only this kind, such as Service or Test; repeatable.",
            autocompletion=_complete_kind,
        ),
    ] = None,
    languages: Annotated[
        list[str] | None, typer.Option("--language", help="Only this language, such as csharp or sql; repeatable.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=_MAX_LIMIT, help="How many hits.")] = 10,
    mode: Annotated[Mode, typer.Option(help="By meaning, by words, or by both.")] = Mode.HYBRID,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show the scores of each hit and where time went.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """Search an index. Exit code 4 when nothing is found."""
    if not query.strip():
        raise typer.BadParameter("the query is empty")
    session = session_of(context)
    home = session.home()
    name = chosen_label(session, home, label)
    with ThreadPoolExecutor(max_workers=1) as beside:
        with open_index(name, home=home.root, config=session.config_option) as index:
            head = beside.submit(freshness_of, home, index.manifest)
            result = index.search(
                query,
                limit=limit,
                mode=mode,
                path=path,
                kinds=tuple(kinds or ()),
                languages=tuple(languages or ()),
                explain=explain,
            )
        freshness = head.result()
    for warning in result.warnings:
        session.output.warning(warning)
    if as_json:
        session.output.json(as_object(query, result, freshness, explain))
    else:
        _show(session.output, result, freshness, explain)
    if not result.hits:
        raise typer.Exit(NOTHING_FOUND)


def as_object(query: str, result: SearchResult, freshness: Freshness, explain: bool) -> dict[str, Any]:
    """The object of `search --json`. `stale` is null where the head of the ref is unknown."""
    made: dict[str, Any] = {
        "query": query,
        "label": result.label,
        "mode": result.mode,
        "generation": result.generation_id,
        "commit": result.commit_sha,
        "run_id": result.run_id,
        "head": freshness.head or None,
        "stale": freshness.stale,
        "warnings": list(result.warnings),
        "hits": [_hit_object(rank, hit, explain) for rank, hit in enumerate(result.hits, 1)],
    }
    if explain:
        made["timings"] = {step: round(spent, 5) for step, spent in result.timings.items()}
        made["candidates"] = dict(result.candidates)
        made["terms"] = [asdict(term) for term in result.terms]
    return made


def _hit_object(rank: int, hit: Hit, explain: bool) -> dict[str, Any]:
    made: dict[str, Any] = {
        "rank": rank,
        "path": hit.path,
        "start_line": hit.start_line,
        "end_line": hit.end_line,
        "symbol": hit.symbol,
        "kind": hit.kind,
        "score": round(hit.score, 6),
        "point_id": hit.point_id,
        "semantic_id": hit.semantic_id,
        "section": hit.section_key,
        "part": [hit.part_index, hit.part_total],
        "text": hit.text,
    }
    if explain:
        made["scores"] = {name: round(value, 6) for name, value in hit.scores.items()}
    return made


def _show(output: Output, result: SearchResult, freshness: Freshness, explain: bool) -> None:
    for rank, hit in enumerate(result.hits, 1):
        part = f" part {hit.part_index}/{hit.part_total}" if hit.part_total > 1 else ""
        output.line(
            (f"{rank:>2}  ", "dim"),
            (f"{hit.path}:{hit.start_line}-{hit.end_line}", "path"),
            "  ",
            (hit.symbol, "bold"),
            (f"  {hit.kind}{part}  {hit.score:.3f}", "dim"),
        )
        if explain:
            scores = ", ".join(f"{name} {value:.3f}" for name, value in hit.scores.items())
            output.line((f"    {scores}  point {hit.point_id}", "dim"))
        for line in snippet_lines(hit):
            output.line((f"    {line}", "dim"))
    if not result.hits:
        output.note("nothing found")
    for parts in _footer(result, freshness, explain):
        output.line(*parts)


def snippet_lines(hit: Hit) -> list[str]:
    """The lines of a snippet that tell more than the line above them, cut to the width of a screen."""
    said = (*_SAID_ABOVE, f"{hit.kind}: {hit.symbol}")
    telling = [line.strip() for line in hit.text.splitlines() if line.strip() and not line.startswith(said)]
    telling.sort(key=lambda line: not line.startswith("Purpose:"))
    return [line if len(line) <= _SHOWN_WIDTH else f"{line[: _SHOWN_WIDTH - 1]}…" for line in telling[:_SHOWN_LINES]]


def _footer(result: SearchResult, freshness: Freshness, explain: bool) -> list[list[Part]]:
    run = f"  run {result.run_id}" if result.run_id else ""
    lines: list[list[Part]] = [
        [(f"{result.label}  commit {short(result.commit_sha)}  generation {result.generation_id}{run}", "dim")],
        staleness(freshness, result.label),
    ]
    if explain:
        spent = ", ".join(f"{step} {1000 * took:.1f} ms" for step, took in result.timings.items())
        found = ", ".join(f"{count} {side}" for side, count in result.candidates.items())
        terms = ", ".join(f"{term.term} in {term.sections}" for term in result.terms)
        lines += [[(f"{result.mode}: {spent}; candidates {found}", "dim")], [(f"words: {terms}", "dim")]]
    return lines


def staleness(freshness: Freshness, label: str) -> list[Part]:
    """`indexed commit vs head` as one line; what a reader must act on is coloured."""
    indexed = short(freshness.indexed)
    if freshness.stale is None:
        return [(f"indexed {indexed}, head unknown ({freshness.reason})", "dim")]
    if freshness.stale:
        return [(f"stale: indexed {indexed}, head {short(freshness.head)}; run: rag-assets index {label}", "warn")]
    return [(f"fresh: indexed {indexed} is the head", "dim")]
