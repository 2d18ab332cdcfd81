"""`rag-assets search`: the command that must feel instant, so it imports what a search needs and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rag_assets.cli.console import NOTHING_FOUND, Output, Part, short
from rag_assets.cli.options import AsJson, CliSession, chosen_label, chosen_labels, complete_label, session_of
from rag_assets.contracts.retrieval import DEFAULT_POLICY, Mode
from rag_assets.index.freshness import Freshness, freshness_of, uncommitted
from rag_assets.index.layout import IndexHome
from rag_assets.index.vectors.filters import SearchFilters
from rag_assets.search import Hit, Question, SearchResult, Source
from rag_assets.search.index import LabelIndex, Searchable
from rag_assets.search.query_parser import plain_question, understand

if TYPE_CHECKING:
    from rag_assets.search.compare_labels import ComparedHit, ComparedSearch

_MAX_LIMIT = 1000
_COMPARED = 2  # labels
_SHOWN_LINES = 4  # of a snippet; `show` has the rest
_SHOWN_WIDTH = 160
_SAID_ABOVE = ("Domain:", "DomainSummary:", "Kind:", "Artifact:", "PrimaryEntity:")  # or said by every hit alike
_CHANGE_WIDTH = 8
_LISTING = "listing"

FreshnessOf = Mapping[str, Freshness]
"""By label."""


def _complete_kind(incomplete: str) -> list[str]:
    from rag_assets.contracts.kinds import SubtypeKind  # start-up budget: only the shell asks for it

    return [kind.value for kind in SubtypeKind if kind.startswith(incomplete)]


Several = list[str] | None


def _only(option: str, what: str) -> Any:
    return typer.Option(option, help=f"Only {what}; repeatable.")


def search(
    context: typer.Context,
    query: Annotated[
        str,
        typer.Argument(
            metavar="QUERY",
            help="What to look for: words, a question, an identifier, a stack trace; with filters "
            '(kind: path: lang: symbol: source_type: since: before:, -path: to exclude) and "exact phrases". '
            "One file and line (src/Orders.cs:42) finds similar code.",
        ),
    ],
    labels: Annotated[
        list[str] | None,
        typer.Option(
            "--label",
            "-l",
            help="Which index; repeatable. Default: the only one, or that of the current folder.",
            autocompletion=complete_label,
        ),
    ] = None,
    everywhere: Annotated[bool, typer.Option("--all", help="Search all labels as one.")] = False,
    org: Annotated[str | None, typer.Option(help="With --all: the labels of this organisation only.")] = None,
    compare: Annotated[
        bool, typer.Option("--compare", help="Ask two labels the same question: what was added, removed, changed.")
    ] = False,
    paths: Annotated[Several, _only("--path", "files of this path, folder or glob (src/**/*Service.cs)")] = None,
    kinds: Annotated[
        list[str] | None,
        typer.Option(
            "--kind",
            help="Only this kind, such as Service or Test; repeatable.",
            autocompletion=_complete_kind,
        ),
    ] = None,
    languages: Annotated[
        list[str] | None,
        typer.Option("--language", "--lang", help="Only this language, such as csharp or sql; repeatable."),
    ] = None,
    source_types: Annotated[Several, _only("--source-type", "code, sql, document, config, resource, markup …")] = None,
    symbols: Annotated[Several, _only("--symbol", "what declares this name (Refund, Order.Refund, *Service)")] = None,
    content_types: Annotated[Several, _only("--content-type", "Policy, Procedure, ApiContract, Schema …")] = None,
    domains: Annotated[Several, _only("--domain", "this business domain, by its key")] = None,
    areas: Annotated[Several, _only("--area", "this area of a business domain")] = None,
    audiences: Annotated[Several, _only("--audience", "what is for this audience")] = None,
    personas: Annotated[Several, _only("--persona", "what is for this persona")] = None,
    stages: Annotated[Several, _only("--stage", "this stage")] = None,
    tags: Annotated[Several, _only("--tag", "what has this tag, by slug or id")] = None,
    written_in: Annotated[Several, _only("--written-in", "this human language: de, en-US")] = None,
    systems: Annotated[Several, _only("--source-system", "from GitHub, AzureDevOps …")] = None,
    since: Annotated[
        str | None, typer.Option(metavar="DATE", help="Only files changed on this day (2026-01-31) or later.")
    ] = None,
    before: Annotated[
        str | None, typer.Option(metavar="DATE", help="Only files changed last before this day (2026-01-31, UTC).")
    ] = None,
    literal: Annotated[
        bool, typer.Option("--literal", help="The query is words only: no filters or phrases in it.")
    ] = False,
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit",
            "-n",
            min=1,
            max=_MAX_LIMIT,
            help=f"How many hits. Default: search.limit, {DEFAULT_POLICY.limit}.",
        ),
    ] = None,
    mode: Annotated[
        Mode | None,
        typer.Option(
            help="By meaning, by meaning with the words as well, by words, or by both. "
            f"Default: search.mode, {DEFAULT_POLICY.mode}."
        ),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show how the query was understood, the scores and where time went.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Search one index or several. Exit code 4 when nothing is found.

    Example: rag-assets search "how are refunds limited" --kind Manager --path src/
    """
    if not query.strip():
        raise typer.BadParameter("the query is empty")
    session = session_of(context)
    home = session.home()
    names = _labels(session, home, labels or [], everywhere, org)
    if compare and len(names) != _COMPARED:
        raise typer.BadParameter(f"--compare needs two labels, got {len(names)}: --label OLD --label NEW")
    options: dict[str, Any] = {
        "limit": limit,
        "mode": mode,
        "filters": SearchFilters(
            paths=tuple(paths or ()),
            kinds=tuple(kinds or ()),
            languages=tuple(languages or ()),
            source_types=tuple(source_types or ()),
            symbols=tuple(symbols or ()),
            content_types=tuple(content_types or ()),
            domains=tuple(domains or ()),
            areas=tuple(areas or ()),
            audiences=tuple(audiences or ()),
            personas=tuple(personas or ()),
            stages=tuple(stages or ()),
            tags=tuple(tags or ()),
            written_in=tuple(written_in or ()),
            systems=tuple(systems or ()),
            since=since,
            before=before,
        ),
        "explain": explain,
    }
    with ExitStack() as stack:
        beside = stack.enter_context(ThreadPoolExecutor(max_workers=1))
        target = stack.enter_context(_opened(session, home, names, org))
        heads = {
            name: beside.submit(freshness_of, home, index.manifest, index.clearance)
            for name, index in target.members.items()
        }
        found: SearchResult | ComparedSearch
        if compare:
            # Start-up budget: two labels are rarely compared.
            from rag_assets.search.compare_labels import compare_search

            found = compare_search(query, *target.members.values(), **options, literal=literal)
        else:
            question = plain_question(query) if literal else understand(query)
            if question.only_place is None or mode is Mode.BM25:
                found = target.search(question, **options)
            else:
                del options["mode"]
                found = target.similar(question, **options)
        freshness = {label: head.result() for label, head in heads.items()}
    _tell(session, found, freshness, explain, as_json)
    if not found.hits:
        raise typer.Exit(NOTHING_FOUND)


def _tell(
    session: CliSession,
    found: SearchResult | ComparedSearch,
    freshness: Mapping[str, Freshness],
    explain: bool,
    as_json: bool,
) -> None:
    for warning in found.warnings:
        session.output.warning(warning)
    if isinstance(found, SearchResult):
        if as_json:
            session.output.json(as_object(found, freshness, explain))
        else:
            show(session.output, found, freshness, explain)
    elif as_json:
        session.output.json(compared_object(found, freshness, explain))
    else:
        show_compared(session.output, found, freshness, explain)


def _opened(session: CliSession, home: IndexHome, names: list[str], org: str | None) -> Searchable:
    known: dict[str, Any] = {
        "home": home.root,
        "config": session.config_option,
        "clearance": session.clearance(),
        "org_id": org,
    }
    if len(names) == 1:
        return LabelIndex.open(names[0], **known)
    from rag_assets.search.federated import FederatedIndex  # start-up budget: most searches ask one label

    return FederatedIndex.open(names, **known)


def _labels(session: CliSession, home: IndexHome, wanted: list[str], everywhere: bool, org: str | None) -> list[str]:
    """Raises typer.BadParameter for options that contradict each other, CommandError where there is no such label."""
    if everywhere and wanted:
        raise typer.BadParameter("--all and --label contradict each other; use one of them")
    if org is not None and not everywhere:
        raise typer.BadParameter("--org goes with --all")
    if everywhere:
        return chosen_labels(home, org)
    chosen = [chosen_label(home, label) for label in wanted] or [chosen_label(home, None)]
    return list(dict.fromkeys(chosen))


def as_object(result: SearchResult, freshness: FreshnessOf, explain: bool) -> dict[str, Any]:
    """The object of `search --json`. `label` and what depends on it are null where several were searched; `sources` has
    them one by one. `stale` is null where the head of the ref is unknown."""
    made: dict[str, Any] = {
        "query": result.query,
        "label": result.label or None,
        "mode": _done(result),
        "generation": result.generation_id or None,
        "commit": result.commit_sha or None,
        "run_id": result.run_id if result.label else None,
        "head": freshness[result.label].head or None if result.label else None,
        "stale": freshness[result.label].stale if result.label else None,
        "sources": [_source_object(source, freshness[source.label]) for source in result.sources],
        "understood": _question_object(result.question),
        "filters": {name: list(values) for name, values in result.filters.items()},
        "warnings": list(result.warnings),
        "similar_to": hit_object(0, result.similar_to, explain) if result.similar_to else None,
        "hits": [hit_object(rank, hit, explain) for rank, hit in enumerate(result.hits, 1)],
    }
    if explain:
        made["timings"] = {step: round(spent, 5) for step, spent in result.timings.items()}
        made["candidates"] = dict(result.candidates)
        made["terms"] = [asdict(term) for term in result.terms]
    return made


def compared_object(found: ComparedSearch, freshness: FreshnessOf, explain: bool) -> dict[str, Any]:
    """The object of `search --compare --json`."""
    return {
        "query": found.old.query,
        "old": as_object(found.old, freshness, explain),
        "new": as_object(found.new, freshness, explain),
        "hits": [
            {
                "change": row.change,
                "old": hit_object(row.old_rank, row.old, explain) if row.old else None,
                "new": hit_object(row.new_rank, row.new, explain) if row.new else None,
            }
            for row in found.hits
        ],
    }


def hit_object(rank: int, hit: Hit, explain: bool) -> dict[str, Any]:
    """One hit; rank 0 for a section that was looked up and is none."""
    made: dict[str, Any] = {
        "rank": rank,
        "label": hit.label,
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
        "commit": hit.file_commit_sha,
        "date": hit.file_date,
        "text": hit.text,
    }
    if explain:
        made["scores"] = {name: round(value, 6) for name, value in hit.scores.items()}
    return made


def show(output: Output, result: SearchResult, freshness: FreshnessOf, explain: bool) -> None:
    """Hits with their telling lines, then what they are from."""
    if explain:
        _show_understood(output, result)
    if result.similar_to:
        output.line(*_hit_line("similar to ", result.similar_to, label=not result.label))
    for rank, hit in enumerate(result.hits, 1):
        output.line(*_hit_line(f"{rank:>2}  ", hit, label=not result.label))
        if explain:
            scores = ", ".join(f"{name} {value:.3f}" for name, value in hit.scores.items())
            since = f"as of commit {short(hit.file_commit_sha)}, {hit.file_date[:10]}"
            output.line((f"    {scores or 'no score'}  point {hit.point_id}  {since}", "dim"))
        for line in snippet_lines(hit):
            output.line((f"    {line}", "dim"))
    if not result.hits:
        output.note(f"nothing found; {_what_helps(result)}")
    for parts in _footer(result, freshness, explain):
        output.line(*parts)


def show_compared(output: Output, found: ComparedSearch, freshness: FreshnessOf, explain: bool) -> None:
    """Sections that either label found, with what became of each and its rank in both."""
    if explain:
        _show_understood(output, found.new)
    for row in found.hits:
        hit = row.new or row.old
        assert hit is not None
        ranks = f"{_rank(row, row.old, row.old_rank)} → {_rank(row, row.new, row.new_rank)}"
        output.line(*_hit_line(f"{row.change:<{_CHANGE_WIDTH}} {ranks:<10}  ", hit, label=False))
        if row.old and row.new and row.old.path != row.new.path:
            output.line((f"    was {row.old.path}", "dim"))
        for line in snippet_lines(hit):
            output.line((f"    {line}", "dim"))
    if not found.hits:
        output.note(f"nothing found; {_what_helps(found.new)}")
    for side in (found.old, found.new):
        for parts in _footer(side, freshness, explain):
            output.line(*parts)


_ALWAYS = ("org_id", "project_id", "label", "confidentiality")
"""Filters that every search has."""


def _what_helps(result: SearchResult) -> str:
    """The next command. It follows from the question alone: what the index holds beyond the reader's clearance must not
    show in it."""
    filters = [name for name in result.filters if name not in _ALWAYS]
    if filters:
        return f"search without {' or '.join(filters)}, or see what is indexed of a file with: rag-assets explain PATH"
    if result.mode == Mode.BM25:
        return "use other words, or search by meaning too with: --mode hybrid"
    return "use other words, or see what is indexed and what was skipped with: rag-assets status --skipped"


def snippet_lines(hit: Hit) -> list[str]:
    """The lines of a snippet that tell more than the line above them, cut to the width of a screen."""
    said = (*_SAID_ABOVE, f"{hit.kind}: {hit.symbol}")
    telling = [line.strip() for line in hit.text.splitlines() if line.strip() and not line.startswith(said)]
    telling.sort(key=lambda line: not line.startswith("Purpose:"))
    return [line if len(line) <= _SHOWN_WIDTH else f"{line[: _SHOWN_WIDTH - 1]}…" for line in telling[:_SHOWN_LINES]]


def staleness(freshness: Freshness, label: str) -> list[Part]:
    """`indexed commit vs head` as one line; what a reader must act on is coloured."""
    indexed, changed = short(freshness.indexed), uncommitted(freshness.changed_files)
    if freshness.stale is None:
        return [(f"indexed {indexed}, head unknown ({freshness.reason})", "dim")]
    if freshness.stale:
        told = f"stale: indexed {indexed}, head {short(freshness.head)}{changed}; run: rag-assets index {label}"
        return [(told, "warn")]
    return [(f"fresh: indexed {indexed} is the head", "dim"), (changed, "warn")]


def _show_understood(output: Output, result: SearchResult) -> None:
    question = result.question
    said = [f"{question.kind.value} question", f"looks for: {question.text}" if question.text else "lists what fits"]
    if question.symbols:
        said.append(f"names: {', '.join(question.symbols)}")
    if question.places:
        said.append(f"places: {', '.join(map(str, question.places))}")
    filters = "  ".join(f"{name}: {' | '.join(values)}" for name, values in result.filters.items())
    output.line((f"understood as {'; '.join(said)}", "dim"))
    output.line((f"filters  {filters}", "dim"))


def _hit_line(before: str, hit: Hit, *, label: bool) -> list[Part]:
    part = f" part {hit.part_index}/{hit.part_total}" if hit.part_total > 1 else ""
    return [
        (before, "dim"),
        (f"{hit.label}  " if label else "", "dim"),
        (f"{hit.path}:{hit.start_line}-{hit.end_line}", "path"),
        "  ",
        (hit.symbol, "bold"),
        (f"  {hit.kind}{part}  {hit.score:.3f}", "dim"),
    ]


def _done(result: SearchResult) -> str:
    """The mode; `listing` where there were filters and no words, which every index can answer in the same way."""
    return result.mode if result.question.text else _LISTING


def _rank(row: ComparedHit, hit: Hit | None, rank: int) -> str:
    """`-` where the label does not have the section, `·` where it has it and did not find it."""
    if hit is None:
        return "-"
    return str(rank) if rank else "·"


def _footer(result: SearchResult, freshness: FreshnessOf, explain: bool) -> list[list[Part]]:
    lines: list[list[Part]] = []
    for source in result.sources:
        run = f"  run {source.run_id}" if source.run_id else ""
        at = f"{source.label}  commit {short(source.commit_sha)}  generation {source.generation_id}{run}"
        lines += [[(at, "dim")], staleness(freshness[source.label], source.label)]
    if explain:
        spent = ", ".join(f"{step} {1000 * took:.1f} ms" for step, took in result.timings.items())
        found = ", ".join(f"{count} {side}" for side, count in result.candidates.items())
        terms = ", ".join(f"{term.term} in {term.sections}" for term in result.terms)
        lines += [[(f"{_done(result)}: {spent}; candidates {found or 'none'}", "dim")], [(f"words: {terms}", "dim")]]
    return lines


def _source_object(source: Source, freshness: Freshness) -> dict[str, Any]:
    return {
        "label": source.label,
        "generation": source.generation_id,
        "commit": source.commit_sha,
        "run_id": source.run_id,
        "head": freshness.head or None,
        "stale": freshness.stale,
        "changed_files": freshness.changed_files,
    }


def _question_object(question: Question) -> dict[str, Any]:
    return {
        "kind": question.kind,
        "text": question.text,
        "phrases": list(question.phrases),
        "symbols": list(question.symbols),
        "places": [asdict(place) for place in question.places],
    }
