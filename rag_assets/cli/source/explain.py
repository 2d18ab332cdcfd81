"""`rag-assets explain`: why a file is indexed as it is: kind with evidence, builders, facts, sections, points."""

from __future__ import annotations

import re
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rag_assets.cli.console import CommandError, Output, short
from rag_assets.cli.options import CliSession, LabelOption, chosen_label, session_of
from rag_assets.cli.source.show import repository_paths
from rag_assets.index.generations import Generation, active_generation
from rag_assets.suggestions import near_paths, nearest

if TYPE_CHECKING:
    from rag_assets.contracts.confidentiality import Confidentiality
    from rag_assets.pipeline.explain import BuilderExplanation, FileExplanation, SectionExplanation, SegmentExplanation


# A symbol has no path separator, so the colon of `C:\repo\A.cs` is none of ours.
_PATH_AND_SYMBOL = re.compile(r"(?P<path>.{2,}?):(?P<symbol>[^:/\\]+)")
_LINES = re.compile(r"(\d{1,9})(?:-\d+)?")
_NEAR_PATHS = 3
_SHOWN_NAMES = 8
_FACT_CHARS = 300  # of one fact; --json has it whole


def explain(
    context: typer.Context,
    place: Annotated[
        str,
        typer.Argument(
            metavar="PATH[:SYMBOL]", help="A file, and one of its symbols by simple or full name, or a line."
        ),
    ],
    label: LabelOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout, facts in full.")] = False,
) -> None:
    """Explain why a file is indexed as it is: kinds with evidence, builders, facts, sections, snippets, points.

    Example: rag-assets explain src/Orders/RefundManager.cs:RefundAsync
    """
    if not place.strip():
        raise typer.BadParameter("it is empty; name a file or a symbol", param_hint="PATH[:SYMBOL]")
    session = session_of(context)
    found = _explanation(session, chosen_label(session.home(), label), place)
    if as_json:
        session.output.json(asdict(found))
    else:
        _show(session.output, found)


def _explanation(session: CliSession, label: str, place: str) -> FileExplanation:
    """Raises CommandError for a place that is neither a file nor a symbol of the index, with similar names."""
    from rag_assets.pipeline.explain import explain_file, places_of  # start-up budget: loaded when it runs

    home, clearance = session.home(), session.clearance()
    generation = active_generation(home, label)
    for path, symbol in _readings(place):
        for candidate in repository_paths(home, label, path):
            found = explain_file(generation, candidate, clearance)
            if found is not None:
                return _only(_complete(session, generation, found), symbol)
    named = places_of(generation, place, clearance)
    if len({path for path, _ in named}) == 1:
        found = explain_file(generation, named[0][0], clearance)
        assert found is not None
        return _only(found, place)
    if named:
        listed = "\n".join(f"  {path}:{symbol}" for path, symbol in named)
        raise CommandError(f"{place} is declared in several files; explain one of\n{listed}")
    raise CommandError(_unknown(generation, _readings(place)[-1][0], clearance))


def _readings(place: str) -> list[tuple[str, str]]:
    """The (path, symbol) pairs that the argument can mean: a path may contain a colon."""
    found = _PATH_AND_SYMBOL.fullmatch(place)
    return [(place, "")] if found is None else [(place, ""), (found["path"], found["symbol"])]


def _complete(session: CliSession, generation: Generation, found: FileExplanation) -> FileExplanation:
    if found.outcome != "skipped":
        return found
    from rag_assets.pipeline.explain import describe_now

    return describe_now(session.home(), session.settings(), generation, found)


def _only(found: FileExplanation, symbol: str) -> FileExplanation:
    """The explanation of one symbol or line of a file. Raises CommandError naming the known symbols."""
    if not symbol or not found.segments:
        return found
    matching = tuple(segment for segment in found.segments if _is_meant(segment, symbol))
    if not matching:
        if _LINES.fullmatch(symbol):
            spans = ", ".join(f"{one.line_start}-{one.line_end}" for one in found.segments[:_SHOWN_NAMES])
            raise CommandError(f"line {symbol} of {found.path} is in no segment; there are segments at lines {spans}")
        names = list(dict.fromkeys(segment.fqn for segment in found.segments))
        there = nearest(symbol, names[:_SHOWN_NAMES], "there are")
        raise CommandError(f"{found.path} has no symbol or member {symbol!r}{there}")
    return replace(found, segments=matching)


def _is_meant(segment: SegmentExplanation, symbol: str) -> bool:
    """True for a line of the segment, its name in any form, or the name of a member or nested type."""
    from rag_assets.pipeline.explain import names_of  # start-up budget: loaded when it runs

    lines = _LINES.fullmatch(symbol)
    if lines is not None:
        return segment.line_start <= int(lines[1]) <= segment.line_end
    wanted = symbol.lower()
    if wanted in (segment.symbol.lower(), *names_of(segment.fqn)):
        return True
    last = names_of(symbol)[2]
    return any(last in names_of(name) for builder in segment.builders for name in builder.member_names)


def _unknown(generation: Generation, path: str, clearance: Confidentiality) -> str:
    from rag_assets.pipeline.explain import paths_of  # start-up budget: loaded when it runs

    wanted = path.replace("\\", "/")
    known = list(paths_of(generation, clearance))
    inside = [path for path in known if path.startswith(f"{wanted.rstrip('/')}/")]
    if inside:
        raise CommandError(f"{wanted} is a folder; explain one of its files, such as: rag-assets explain {inside[0]}")
    near = near_paths(wanted, known, _NEAR_PATHS)
    hint = f"did you mean {' or '.join(near)}?" if near else "see: rag-assets status"
    return f"{wanted} is neither a file nor a symbol of {generation.manifest.index_label}; {hint}"


def _show(output: Output, found: FileExplanation) -> None:
    output.line((found.path, "path"), (f"  {found.label}  commit {short(found.commit)}", "dim"))
    detail = f": {found.detail}" if found.detail else ""
    if found.outcome == "skipped":
        output.line(("skipped", "warn"), f" {found.reason}{detail}")
        output.line(("what follows is as if it were indexed", "dim") if found.described_now else found.note)
    facts = [found.language, f"{found.lines} lines", f"parse {found.health}"] if found.language else []
    if found.redacted_secrets:
        facts.append(f"{found.redacted_secrets} secrets masked")
    if facts:
        output.line((", ".join(facts), "dim"))
    for text in (found.health_detail, *found.masked):
        if text:
            output.line((f"  {text}", "dim"))
    if found.outcome == "indexed" and not found.segments:
        output.line("no segment: nothing in it is declared")
    for segment in found.segments:
        _show_segment(output, segment)
    for problem in found.problems:
        output.line(("problem  ", "warn"), problem)


def _show_segment(output: Output, segment: SegmentExplanation) -> None:
    output.line()
    output.line(
        (segment.symbol, "bold"), (f"  {segment.declaration}, lines {segment.line_start}-{segment.line_end}", "dim")
    )
    rule = f" (rule {segment.rule} of {segment.pack})" if segment.rule else ""
    output.line("kind     ", (segment.kind, "bold"), f"  {segment.reason}{rule}")
    for evidence in segment.evidence:
        output.line(f"           {evidence}")
    for builder in segment.builders:
        _show_builder(output, builder)


def _show_builder(output: Output, builder: BuilderExplanation) -> None:
    made = f" → {builder.description_type}" if builder.description_type else ""
    flavor = f" ({builder.flavor})" if builder.flavor else ""
    output.line("builder  ", (builder.builder or "(none)", "bold"), f"  {builder.outcome}{made}{flavor}")
    for message in builder.messages:
        output.line(("           ", "plain"), (message, "warn"))
    for name, value in builder.facts.items():
        text = _inline(value)
        output.line((f"  {name}: ", "dim"), text if len(text) <= _FACT_CHARS else f"{text[:_FACT_CHARS]} …")
    for section in builder.sections:
        _show_section(output, section)


def _show_section(output: Output, section: SectionExplanation) -> None:
    part = f" part {section.part_index} of {section.part_total}" if section.part_total > 1 else ""
    tokens = f", {section.tokens} tokens" if section.tokens is not None else ""
    output.line(
        "section  ", (section.section_key, "bold"), f"{part}, lines {section.line_start}-{section.line_end}{tokens}"
    )
    output.line(("  point ", "dim"), section.point_id or "none")
    for name, value in (
        ("semantic id", section.semantic_id),
        ("slice", section.slice_uri),
        ("description", section.description_uri),
        ("graph", ", ".join(section.graph_node_keys)),
    ):
        if value:
            output.line((f"  {name} ", "dim"), value)
    for line in section.snippet.splitlines():
        output.line((f"    {line}", "plain"))


def _inline(value: Any) -> str:
    """A fact on one line: lists with commas, objects as `name: value`, empty values left out."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_inline(inner)}" for key, inner in value.items() if inner) + "}"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_inline, value))
    return " ".join(str(value).split())
