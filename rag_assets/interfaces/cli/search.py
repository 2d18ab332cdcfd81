"""`rag-assets search`: the command that must feel instant, so it imports what a search needs and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Annotated, Any

import typer

from rag_assets.contracts.kinds import SubtypeKind
from rag_assets.contracts.retrieval import DEFAULT_POLICY, Mode
from rag_assets.interfaces.cli import search_output
from rag_assets.interfaces.cli.failures import NOTHING_FOUND
from rag_assets.interfaces.cli.labels import chosen_label, chosen_labels, complete_label
from rag_assets.interfaces.cli.session import Session, session_of
from rag_assets.interfaces.freshness import Freshness, freshness_of
from rag_assets.query import ComparedSearch, SearchResult, compare_search, open_indexes
from rag_assets.stores.home import Home

_MAX_LIMIT = 1000
_COMPARED = 2  # labels


def _complete_kind(incomplete: str) -> list[str]:
    return [kind.value for kind in SubtypeKind if kind.startswith(incomplete)]


def search(
    context: typer.Context,
    query: Annotated[
        str,
        typer.Argument(
            metavar="QUERY",
            help="What to look for: words, a question, an identifier, a stack trace; with filters "
            '(kind: path: lang: symbol: source_type: since: before:, -path: to exclude) and "exact phrases".',
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
    paths: Annotated[
        list[str] | None,
        typer.Option("--path", help="Only files of this path, folder or glob (src/**/*Service.cs); repeatable."),
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
        list[str] | None,
        typer.Option("--language", "--lang", help="Only this language, such as csharp or sql; repeatable."),
    ] = None,
    source_types: Annotated[
        list[str] | None,
        typer.Option("--source-type", help="Only code, sql, document, config, resource, markup …; repeatable."),
    ] = None,
    symbols: Annotated[
        list[str] | None,
        typer.Option("--symbol", help="Only what declares this name (Refund, Order.Refund, *Service); repeatable."),
    ] = None,
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
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """Search one index or several. Exit code 4 when nothing is found."""
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
        "path": tuple(paths or ()),
        "kinds": tuple(kinds or ()),
        "languages": tuple(languages or ()),
        "source_types": tuple(source_types or ()),
        "symbols": tuple(symbols or ()),
        "since": since,
        "before": before,
        "explain": explain,
        "literal": literal,
    }
    with ExitStack() as stack:
        beside = stack.enter_context(ThreadPoolExecutor(max_workers=1))
        group = stack.enter_context(
            open_indexes(names, home=home.root, config=session.config_option, clearance=session.clearance(), org_id=org)
        )
        heads = {name: beside.submit(freshness_of, home, index.manifest) for name, index in group.indexes.items()}
        indexes = tuple(group.indexes.values())
        target = indexes[0] if len(indexes) == 1 else group
        found = compare_search(query, *indexes, **options) if compare else target.search(query, **options)
        freshness = {label: head.result() for label, head in heads.items()}
    _tell(session, found, freshness, explain, as_json)
    if not found.hits:
        raise typer.Exit(NOTHING_FOUND)


def _tell(
    session: Session,
    found: SearchResult | ComparedSearch,
    freshness: Mapping[str, Freshness],
    explain: bool,
    as_json: bool,
) -> None:
    for warning in found.warnings:
        session.output.warning(warning)
    if isinstance(found, ComparedSearch):
        if as_json:
            session.output.json(search_output.compared_object(found, freshness, explain))
        else:
            search_output.show_compared(session.output, found, freshness, explain)
    elif as_json:
        session.output.json(search_output.as_object(found, freshness, explain))
    else:
        search_output.show(session.output, found, freshness, explain)


def _labels(session: Session, home: Home, wanted: list[str], everywhere: bool, org: str | None) -> list[str]:
    """Raises typer.BadParameter for options that contradict each other, CommandError where there is no such label."""
    if everywhere and wanted:
        raise typer.BadParameter("--all and --label contradict each other; use one of them")
    if org is not None and not everywhere:
        raise typer.BadParameter("--org goes with --all")
    if everywhere:
        return chosen_labels(home, org)
    chosen = [chosen_label(session, home, label) for label in wanted] or [chosen_label(session, home, None)]
    return list(dict.fromkeys(chosen))
