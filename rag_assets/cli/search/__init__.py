"""`rag-assets search`: the command that must feel instant, so it imports what a search needs and nothing else."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rag_assets.cli.console import NOTHING_FOUND
from rag_assets.cli.options import (
    AsJson,
    CliSession,
    WithOverlay,
    chosen_label,
    chosen_labels,
    complete_label,
    session_of,
    with_overlay,
)
from rag_assets.cli.search.page import show, show_compared
from rag_assets.contracts.retrieval import DEFAULT_POLICY, Mode
from rag_assets.index.freshness import freshness_of
from rag_assets.index.layout import IndexHome
from rag_assets.index.vectors.filters import SearchFilters
from rag_assets.search import SearchResult
from rag_assets.search.index import LabelIndex, Searchable
from rag_assets.search.outline import Detail, Page
from rag_assets.search.query_parser import plain_question, understand

if TYPE_CHECKING:
    from rag_assets.search.compare_labels import ComparedSearch

_MAX_LIMIT = 1000
_COMPARED = 2  # labels
_FEWEST_TOKENS = 16  # of a budget: the number of hits and how to see them


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
    detail: Annotated[
        Detail | None,
        typer.Option(
            help="How much of each hit: the lines to read first, those of them that say the most, members with their "
            "lines, or places alone. Default: snippet; outline with --json."
        ),
    ] = None,
    max_tokens: Annotated[
        int | None,
        typer.Option(
            "--max-tokens",
            min=_FEWEST_TOKENS,
            help="Say less of each hit until all of them cost no more than that; at last how many are in which folder.",
        ),
    ] = None,
    overlay: WithOverlay = None,
    full: Annotated[
        bool, typer.Option("--full", help="With --json: also ids, addresses, snippets and how it was understood.")
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
    names = _labels(home, labels or [], everywhere, org)
    if compare and len(names) != _COMPARED:
        raise typer.BadParameter(f"--compare needs two labels, got {len(names)}: --label OLD --label NEW")
    if compare and overlay:
        raise typer.BadParameter("--compare is about what two labels have; leave --overlay out")
    if full and not as_json:
        raise typer.BadParameter("--full says more in --json only; see more of a hit with: rag-assets show PATH:LINE")
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
        opened = stack.enter_context(_opened(session, home, names, org))
        heads = {
            name: beside.submit(freshness_of, home, index.manifest, index.clearance)
            for name, index in opened.members.items()
        }
        named = bool(labels) or len(names) > 1
        target = opened if compare else _under_work_tree(opened, overlay, named, session)
        found: SearchResult | ComparedSearch
        if compare:
            # Start-up budget: two labels are rarely compared.
            from rag_assets.search.compare_labels import compare_search

            found = compare_search(query, *target.members.values(), **options, literal=literal)
        else:
            question = plain_question(query) if literal else understand(query)
            options["by_symbol"] = True
            if question.only_place is None or mode is Mode.BM25:
                found = target.search(question, **options)
            else:
                del options["mode"]
                found = target.similar(question, **options)
        freshness = {label: head.result() for label, head in heads.items()}
    page = Page(detail, max_tokens, explain=explain, full=full, overlay=bool(overlay))
    for warning in found.warnings:
        session.output.warning(warning)
    if as_json:
        from rag_assets.search.result_objects import compared_object, search_object  # start-up budget: text needs none

        if isinstance(found, SearchResult):
            made = search_object(found, freshness, page)
        else:
            made = compared_object(found, freshness, page)
        session.output.json(made, compact=not full)
    elif isinstance(found, SearchResult):
        show(session, found, freshness, page)
    else:
        show_compared(session, found, freshness, page)
    if not found.hits:
        raise typer.Exit(NOTHING_FOUND)


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


def _under_work_tree(opened: Searchable, wanted: bool | None, is_named: bool, session: CliSession) -> Searchable:
    """What is searched, with the work tree over the labels that it is one of."""
    members = opened.members
    made = [with_overlay(index, wanted, is_named=is_named, output=session.output) for index in members.values()]
    if len(made) == 1:
        return made[0]
    if not any(index.overlay for index in made):
        return opened
    from rag_assets.search.federated import FederatedIndex

    return FederatedIndex(made)


def _labels(home: IndexHome, wanted: list[str], everywhere: bool, org: str | None) -> list[str]:
    """Raises typer.BadParameter for options that contradict each other, CommandError where there is no such label."""
    if everywhere and wanted:
        raise typer.BadParameter("--all and --label contradict each other; use one of them")
    if org is not None and not everywhere:
        raise typer.BadParameter("--org goes with --all")
    if everywhere:
        return chosen_labels(home, org)
    chosen = [chosen_label(home, label) for label in wanted] or [chosen_label(home, None)]
    return list(dict.fromkeys(chosen))
