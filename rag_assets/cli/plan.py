"""`rag-assets plan`: what `index` would do and cost, before it does."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rag_assets.cli.console import FAILURE, Output, Style, named_counts, seconds, short
from rag_assets.cli.options import AsJson, CliSession, LexicalOnly, NewId, OneCommit, OneRef, one_repository, session_of
from rag_assets.models.lexical_only import MODEL_ID as LEXICAL_ONLY
from rag_assets.sources.git.git_diff import EXACT

if TYPE_CHECKING:
    from rag_assets.cli.index.runs import Failed, IndexRequest
    from rag_assets.index.layout import IndexHome
    from rag_assets.pipeline.build_plan import BuildPlan, PlannedFiles
    from rag_assets.settings import RepositorySettings, Settings

DEFAULT_LISTED = 10
"""Changed files under each plan; with the numbers above them they fit on half a screen."""

_KEY_WIDTH = 14


def plan(
    context: typer.Context,
    repositories: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="REPO",
            help="Configured ids, labels, paths, git URLs or source archives. Default: as for `rag-assets index`.",
        ),
    ] = None,
    ref: OneRef = None,
    commit: OneCommit = None,
    identifier: NewId = None,
    lexical_only: LexicalOnly = False,
    files: Annotated[
        int, typer.Option("--files", min=0, help="How many changed files to list; 0 for all.")
    ] = DEFAULT_LISTED,
    as_json: AsJson = False,
) -> None:
    """Show what `index` would do and cost: files, sections, tokens to embed, points to add and delete, the price of the
    models. Asks no model and changes no index; the build reuses what the plan reads and parses.

    Example: rag-assets plan ../shop --files 0
    """
    named = repositories or []
    one_repository(named, commit, identifier)
    from rag_assets.cli.index.runs import Failed, IndexRequest

    session = session_of(context)
    results = []
    for result in plan_all(session, named, IndexRequest(ref, commit, identifier, lexical_only=lexical_only)):
        results.append(result)
        if not as_json and not isinstance(result, Failed):
            show_plan(session.output, result, files or None)
    if as_json:
        session.output.json({"plans": [plan_object(result) for result in results]})
    if any(isinstance(result, Failed) for result in results):
        raise typer.Exit(FAILURE)


def plan_all(session: CliSession, named: Sequence[str], request: IndexRequest) -> Iterator[BuildPlan | Failed]:
    """Plans one repository after the other; one that fails does not stop the next.

    Raises the errors that concern all of them (configuration, home).
    """
    # Start-up budget: --help and completion load nothing that indexes.
    from rag_assets.cli.index.progress import shown_progress
    from rag_assets.cli.index.runs import for_each_repository
    from rag_assets.pipeline.build_plan import plan_build

    def planned(settings: Settings, home: IndexHome, label: str, repository: RepositorySettings) -> BuildPlan:
        with shown_progress(session.output) as progress:
            return plan_build(home, settings, label, repository, progress, commit=request.commit)

    return for_each_repository(session, named, request, planned)


def show_plan(output: Output, plan: BuildPlan, limit: int | None) -> None:
    """Shows the numbers, then `limit` changed files (None: all), then the next command."""
    output.line((plan.label, "path"), f" {_verdict(plan)}")
    if not plan.nothing_to_do:
        for name, value, style in _rows(plan):
            output.line((f"  {name:<{_KEY_WIDTH}}", "dim"), (value, style))
        for sign, text in islice(_changed(plan.files), limit):
            output.line(f"  {sign} {text}")
        listed = sum(1 for _ in _changed(plan.files))
        if limit is not None and listed > limit:
            output.note(f"{listed - limit:,} more files; list them with --files 0")
    output.note(_next(plan))


def plan_object(plan: BuildPlan | Failed) -> dict[str, Any]:
    """An entry of `plans` in `plan --json`."""
    from rag_assets.cli.index.runs import Failed

    if isinstance(plan, Failed):
        return {"status": "failed", **dataclasses.asdict(plan)}
    fields = dataclasses.asdict(plan)
    status = fields.pop("standing").value
    return {"status": status, "nothing_to_do": plan.nothing_to_do, **fields, "cost": plan.cost}


def _verdict(plan: BuildPlan) -> str:
    from rag_assets.index.promotion import GenerationStatus

    at = short(plan.commit)
    if plan.standing is GenerationStatus.UP_TO_DATE:
        return f"is up to date: commit {at} is indexed, there is nothing to do"
    if plan.standing is GenerationStatus.SET_ASIDE:
        return f"stays at {plan.base_generation}: somebody moved it away from commit {at}, there is nothing to do"
    if plan.standing is GenerationStatus.FINISHED:
        return f"serves commit {at} again, which was indexed before; instead of {short(plan.base_commit)}"
    if plan.standing is GenerationStatus.DAMAGED:
        return f"is damaged at commit {at} ({'; '.join(plan.lost)}): it is built again"
    since = f"since {short(plan.base_commit)}" if plan.base_commit else "for the first time"
    return f"would be indexed at {at}, {since}"


def _rows(plan: BuildPlan) -> Iterator[tuple[str, str, Style]]:
    from rag_assets.index.promotion import GenerationStatus

    files, points = plan.files, plan.points
    counts = {
        "added": len(files.added),
        "changed": len(files.changed),
        "renamed": len(files.renamed),
        "deleted": len(files.deleted),
    }
    yield "files", f"{files.total:,} to index: {_or_none(counts)}", "plain"
    new = f"; new among them: {named_counts(files.newly_skipped)}" if files.newly_skipped else ""
    yield "left out", f"{files.skipped:,}{new}", "plain"
    yield "points", f"{points.total:,}: {_points(plan)}; {points.upserted:,} to store", "plain"
    if plan.standing is GenerationStatus.FINISHED:
        return
    made = f"read {files.read:,} files, parsed {plan.parsed:,}, described {plan.described:,}"
    yield "done already", f"{made}, built {plan.sections_built:,} of {plan.sections:,} sections", "plain"
    yield "to embed", _to_embed(plan), "plain"
    if plan.new_space:
        yield "", "another model or dimension than what is served: a new embedding space, all points anew", "warn"
    if plan.llm is not None:
        asked = f"{plan.llm.prompt_tokens:,} tokens in, at most {plan.llm.completion_tokens:,} out"
        yield "to summarise", f"{plan.llm.calls:,} symbols, about {asked}; {plan.llm.cached:,} answers known", "plain"
        left = sum(count for _, count in plan.llm.failures)
        if left:
            yield "", f"{left:,} more symbols are left for later builds (llm.max_calls)", "warn"
    if plan.cost is not None:
        yield "price", f"about {plan.cost:,.4f}", "bold"
    yield "generation", plan.generation, "plain"


def _points(plan: BuildPlan) -> str:
    points = plan.points
    return _or_none({"added": points.added, "changed": points.changed, "deleted": points.deleted})


def _to_embed(plan: BuildPlan) -> str:
    if plan.embedding_model == LEXICAL_ONLY:
        return "nothing: keyword search only"
    if not plan.texts_to_embed:
        return f"nothing new for {plan.embedding_model}"
    amount = f"{plan.texts_to_embed:,} texts, {plan.tokens_to_embed:,} tokens with {plan.embedding_model}"
    return amount if plan.embedding_seconds is None else f"{amount}, about {seconds(plan.embedding_seconds)}"


def _or_none(counts: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.items() if count) or "none changed"


def _changed(files: PlannedFiles) -> Iterator[tuple[str, str]]:
    """`+ path`, `~ path`, `> old → new`, `- path`."""
    yield from (("+", path) for path in files.added)
    yield from (("~", path) for path in files.changed)
    for found in files.renamed:
        edited = "" if found.similarity == EXACT else f" ({found.similarity}% the same)"
        yield ">", f"{found.old} → {found.new}{edited}"
    yield from (("-", path) for path in files.deleted)


def _next(plan: BuildPlan) -> str:
    # Start-up budget: --help and completion load nothing that indexes.
    from rag_assets.index.promotion import GenerationStatus
    from rag_assets.pipeline.active_index import how_to_serve

    if plan.standing is GenerationStatus.UP_TO_DATE:
        return f"to build it again anyway: rag-assets index {plan.label} --force"
    if plan.standing is GenerationStatus.SET_ASIDE:
        return how_to_serve(plan.generation)
    return "nothing was changed and no model was asked; to build it: rag-assets index with the same arguments"
